"""Prompts ask for queries on pages that answer none yet; a person decides what the set takes."""

import json

from conftest import write_rows
from importing import refused
from labelled_sets import complete, document, rows

from helpers.label import prompts
from helpers.measure import evalset

PAGES = {"a$doc": "Say $document, $doc_id.", "b": "Rotate the certificate."}


def test_prompts_are_of_pages_that_answer_nothing_and_hold_the_whole_page(folder):
    for doc_id, body in PAGES.items():
        document(folder, doc_id, body)
    (line,) = prompts.prompts_command(folder)
    assert line == f"{folder / 'prompts.jsonl'}: 2 prompts; answers go to proposed.jsonl"
    written = {row["doc_id"]: row["prompt"] for row in rows(folder / "prompts.jsonl")}
    assert written.keys() == PAGES.keys()
    for doc_id, prompt in written.items():
        assert prompt.endswith(f"\n\nabout {doc_id}\n\n{PAGES[doc_id]}\n")
        assert json.dumps({"doc_id": doc_id, "query": "QUERY"}) in prompt
        assert "Use words that the page doesn't use." in prompt
    for n in range(20):
        document(folder, f"p{n:02}", "Text.")
    prompts.prompts_command(folder, sample=5)
    drawn = [row["doc_id"] for row in rows(folder / "prompts.jsonl")]
    prompts.prompts_command(folder, sample=5)
    assert drawn == [row["doc_id"] for row in rows(folder / "prompts.jsonl")]
    assert len(drawn) == 5 and drawn != sorted(drawn)


def test_what_a_person_accepts_is_taken_once_and_waits_with_its_overlap_told(folder):
    small = complete(folder)
    queries, proposed = small / "retrieval_queries.jsonl", small / "proposed.jsonl"
    before, drafted = queries.read_bytes(), {"doc_id": "disk-full", "model": "m 1"}
    own = evalset.load(small).all_queries["q1"].query
    texts = ["delete the logs", "no room left", own, "dropped"]
    write_rows(proposed, *(drafted | {"query": query} for query in texts))
    lines = prompts.prompts_command(small, take=True)
    assert queries.read_bytes() == before and lines[1] == f"{queries}: 0 more"
    overlaps = [row.pop("word_overlap") for row in rows(proposed)]
    assert overlaps[:2] == [1.0, 0.0] and len(overlaps) == 4
    assert f"4 queries, word_overlap with their pages {sum(overlaps) / 4:.2f}" in lines[0]
    accepted = [True, True, True, False]
    decided = [row | {"accepted": a} for row, a in zip(rows(proposed), accepted, strict=True)]
    write_rows(proposed, *decided)
    assert prompts.prompts_command(small, take=True)[1] == f"{queries}: 2 more"
    waiting = evalset.load(small).waiting.values()
    assert sorted(query.query for query in waiting) == ["delete the logs", "no room left"]
    assert {(query.kind, query.split) for query in waiting} == {("drafted", "dev")}
    assert rows(proposed) == decided and queries.read_bytes().startswith(before)
    after = queries.read_bytes()
    assert prompts.prompts_command(small, take=True)[1] == f"{queries}: 0 more"
    assert queries.read_bytes() == after


WRONG = [  # a row, what is told
    ({"doc_id": "disk-ful", "query": "a"}, "proposed.jsonl:2: document disk-ful is not in the"),
    ({"doc_id": "disk-full"}, "proposed.jsonl:2: field query is missing, wanted text"),
    ({"doc_id": "disk-full", "query": "a", "accepted": "yes"}, 'field accepted is "yes", wanted'),
    ({"doc_id": "disk-full", "query": "x"}, "proposed.jsonl:2: doc_id and query disk-full x stan"),
]


def test_a_row_that_cannot_be_used_is_told_and_nothing_is_written(folder):
    small, first = complete(folder), {"doc_id": "disk-full", "query": "x", "accepted": True}
    (missing,) = refused(prompts.prompts_command, small, take=True)
    assert "proposed.jsonl: found no queries, wanted lines" in missing
    assert not (small / "proposed.jsonl").exists()
    before = (small / "retrieval_queries.jsonl").read_bytes()
    for row, words in WRONG:
        write_rows(small / "proposed.jsonl", first, row)
        (problem,) = refused(prompts.prompts_command, small, take=True)
        assert words in problem
        assert (small / "retrieval_queries.jsonl").read_bytes() == before
        assert rows(small / "proposed.jsonl") == [first, row]
