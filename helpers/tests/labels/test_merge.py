"""Pairs come out of the pool, judgments go into the folder, and the folder stays valid."""

import pytest
from conftest import write_rows
from judging import PROOF, entry

from helpers import evalset, records
from helpers.labels import log, merge, pooling


def test_pairs_come_from_the_pool_and_not_what_is_judged(folder):
    rows = [{"query_id": "q2", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *rows)
    assert merge.pairs_to_judge(evalset.load(folder)) == [("q2", "disk-full")]


def test_pairs_without_a_pool_come_from_the_rankers(folder, monkeypatch):
    found = {"hand": {"q1": [("disk-full", 1.0)], "q2": [("disk-full", 1.0)]}}
    monkeypatch.setattr(pooling, "by_ranker", lambda evals: found)
    assert merge.pairs_to_judge(evalset.load(folder)) == [("q2", "disk-full")]


def test_merge_adds_and_the_folder_loads(folder):
    log.append(folder / log.LOG, {**entry("q2", relevance=2), "evidence": "call Storage."})
    log.append(folder / log.LOG, entry("q1", "queue-full"))  # as judgments.jsonl says
    evals = evalset.load(folder)
    assert merge.merge(evals) == 1
    after = evalset.load(folder)
    assert after.qrels()["q2"] == {"queue-full": 1, "disk-full": 2}
    assert after.queries["q2"].relevant_doc_ids == ("queue-full", "disk-full")
    assert after.judgments[:2] == evals.judgments[:2] and after.queries["q2"].split == "test"
    before = (folder / "judgments.jsonl").read_bytes()
    assert merge.merge(evals) == 0 and (folder / "judgments.jsonl").read_bytes() == before


def test_merge_into_binary_labels(folder):
    (folder / "judgments.jsonl").unlink()
    rows = [{**entry(relevance=2), "evidence": "Delete"}, entry("q1", "queue-full")]
    write_rows(folder / log.LOG, *rows)
    assert merge.merge(evalset.load(folder)) == 2
    assert evalset.load(folder).qrels() == {
        "q1": {"disk-full": 2, "queue-full": 0},
        "q2": {"queue-full": 1},
    }


@pytest.mark.parametrize("binary", [False, True])
def test_conflict_names_pair_grades_and_places_and_writes_nothing(folder, binary):
    write_rows(folder / log.LOG, entry("q2"), entry("q1", "disk-full"))
    if binary:
        (folder / "judgments.jsonl").unlink()
    before = {path: path.read_bytes() for path in folder.glob("*.jsonl")}
    with pytest.raises(ValueError) as caught:
        merge.merge(evalset.load(folder))
    said = str(caught.value)
    other = "retrieval_queries.jsonl:1 lists it" if binary else "judgments.jsonl:1 says 2"
    assert "query q1, document disk-full: " in said and "labelling.jsonl:2 says 0" in said
    assert other in said and len(said.splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.glob("*.jsonl")} == before


def test_a_failed_second_write_puts_the_first_back(folder, monkeypatch):
    write_rows(folder / log.LOG, entry("q2"))
    before, write = (folder / "judgments.jsonl").read_bytes(), records.write_jsonl

    def fail(path, rows):
        if path.name == "retrieval_queries.jsonl":
            raise OSError("disk full")
        write(path, rows)

    monkeypatch.setattr(records, "write_jsonl", fail)
    with pytest.raises(OSError, match="disk full"):
        merge.merge(evalset.load(folder))
    assert (folder / "judgments.jsonl").read_bytes() == before
