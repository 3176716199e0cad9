"""The company of the corpus is one: what several documents state, they state alike.

facts.jsonl holds a line a fact: its `value`, a `pattern` with one group that finds the statement
wherever it stands, and documents that say otherwise on purpose, each with its reason (`except`).
"""

import json
import re
from pathlib import Path

import pytest

from helpers.measure import evalset

LINES = (Path(__file__).parents[1] / "facts.jsonl").read_text(encoding="utf-8").splitlines()
FACTS = [json.loads(line) for line in LINES]


@pytest.fixture(scope="module")
def bodies():
    return {d.doc_id: d.text for d in evalset.load(evalset.DEFAULT).documents.values()}


def statements(fact: dict, bodies: dict[str, str]) -> list[tuple[str, str]]:
    """Return (document, value) of every statement of a fact, without those excused."""
    return [
        (doc_id, found[1].lower())
        for doc_id, body in bodies.items()
        for found in re.finditer(fact["pattern"], body, re.IGNORECASE)
        if doc_id not in fact.get("except", {})
    ]


def test_documents_agree_and_most_facts_stand_in_several(bodies):
    stated = {fact["fact"]: statements(fact, bodies) for fact in FACTS}
    wanted = {fact["fact"]: {fact["value"].lower()} for fact in FACTS}
    wrong = {name: rows for name, rows in stated.items() if {v for _, v in rows} != wanted[name]}
    assert not wrong, wrong
    several = [rows for rows in stated.values() if len({doc_id for doc_id, _ in rows}) > 1]
    assert len(stated) == len(FACTS) and len(several) > len(FACTS) / 2 > 100
