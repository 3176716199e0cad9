"""Lines, ids, splits and the log, which all readers share."""

import json
import os
import sys
import types

import pytest
from importing import beir_folder, bring, problems, put, refusal

from helpers.sources import files


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


BAD_LINES = {
    "no id": (
        "corpus.jsonl",
        '{"id_": "d1", "text": "a"}\n',
        "corpus.jsonl:1: field _id is missing, wanted an id: text or whole number",
    ),
    "an id that is no id": (
        "queries.jsonl",
        '{"_id": true, "text": "a"}\n',
        "queries.jsonl:1: field _id is true, wanted an id: text or whole number",
    ),
    "broken JSON": ("corpus.jsonl", "{\n", "corpus.jsonl:1: broken JSON"),
    "no object": ("corpus.jsonl", "\n7\n", "corpus.jsonl:2: found 7, wanted a JSON object"),
    "not UTF-8": (
        "corpus.jsonl",
        b'{"_id": "d1", "text": "a"}\n{"_id": "d2", "text": "\xe9"}\n',
        "corpus.jsonl:2: byte 0xe9 is not UTF-8, save the file as UTF-8",
    ),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_line_is_named(beir, tmp_path, name):
    file, content, wanted = BAD_LINES[name]
    assert wanted in refusal(beir, file, content, tmp_path / "to")


def test_splits_are_chosen_and_listed(beir, tmp_path):
    lines, _ = bring("beir", beir, tmp_path / "dev", split="dev")
    assert "queries: 1 (1 dev)" in lines
    assert problems("beir", beir, tmp_path / "to", split="validation") == [
        "qrels: no split validation, found dev, test"
    ]
    for name in ("dev", "test"):
        os.rename(beir / "qrels" / f"{name}.tsv", beir / "qrels" / f"{name[0]}.tsv")
    assert problems("beir", beir, tmp_path / "to") == [
        "qrels: found d, t, wanted one of them named by --split"
    ]


def test_too_many_problems_stop_the_import(beir, tmp_path):
    put(beir / "corpus.jsonl", "[]\n" * 200)
    found = problems("beir", beir, tmp_path / "to")
    assert len(found) == 51 and found[-1] == "stopped after 50 problems"


def test_enormous_line_and_half_a_surrogate_pair(beir, tmp_path):
    put(beir / "corpus.jsonl", json.dumps({"_id": "d1", "text": "\ud800 " + "word " * 400_000}))
    _, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert len(evals.documents["d1"].text) > 1_900_000 and evals.documents["d1"].text[0] == "?"


def test_progress_goes_to_stderr(monkeypatch):
    asked = {}

    def tqdm(items, **options):
        asked.update(options)
        return items

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=tqdm))
    assert list(files.with_bar([1, 2], "documents")) == [1, 2]
    assert asked["file"] is sys.stderr and asked["disable"] is None  # None: no bar into a file
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(files.with_bar([1, 2], "documents")) == [1, 2]
