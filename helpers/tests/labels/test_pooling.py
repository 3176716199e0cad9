"""Pool, near-duplicates and negatives on hand-sized cases."""

import ir_measures
import pytest
from conftest import write_rows

from helpers import evalset, measures
from helpers.labels import pooling


def test_pool_names_who_brought_a_pair():
    found = {
        "one": {"q1": [("a", 2.0), ("b", 1.0)]},
        "two": {"q1": [("b", 5.0), ("c", 4.0), ("a", 3.0)]},
    }
    assert pooling.pool(found, depth=2) == [
        {"query_id": "q1", "doc_id": "a", "rankers": ["one"]},
        {"query_id": "q1", "doc_id": "b", "rankers": ["one", "two"]},
        {"query_id": "q1", "doc_id": "c", "rankers": ["two"]},
    ]


def test_judged_at_is_the_librarys_and_counts_queries_without_results():
    run = {"q1": [("a", 2.0), ("b", 2.0), ("c", 0.5)], "q2": []}
    qrels = {"q1": {"a": 0, "c": 1}, "q2": {"a": 1}}
    assert measures.judged_at(qrels, run, k=2) == 1 / 4
    assert measures.judged_at(qrels, run, k=3) == 1 / 3  # of the three that there are
    assert measures.judged_at(qrels, {}) == 0
    scored = {q: {d: -rank for rank, (d, _) in enumerate(row)} for q, row in run.items() if row}
    reference = ir_measures.calc_aggregate([ir_measures.Judged @ 2], qrels, scored)
    assert list(reference.values()) == [1 / 4]


def test_rankings_leave_out_what_does_not_match(folder):
    found = pooling.by_ranker(evalset.load(folder))
    assert [doc_id for doc_id, _ in found["character-ngrams"]["q2"]] == ["queue-full"]
    assert len(found) == 4


def test_near_duplicates_and_versions(folder):
    body = " ".join(f"word{i}" for i in range(60))
    for doc_id, tail in (("copy-v1", "old"), ("copy-v2", "new")):
        page = f'---\ntitle: {doc_id}\nversion: "{doc_id[-1]}"\n---\n{body} {tail}\n'
        (folder / "corpus" / f"{doc_id}.md").write_text(page)
    evals = evalset.load(folder)
    # 57 shingles each, 56 of them common: 56 / 58
    assert evals.near_duplicates() == {("copy-v1", "copy-v2"): 56 / 58}
    assert evals.versions() == {("copy-v1", "copy-v2")}


def test_negatives_are_never_relevant_and_repeat_with_their_seed(folder):
    evals = evalset.load(folder)
    found = {"one": {"q1": [("queue-full", 2.0), ("disk-full", 1.0)], "q2": []}}
    rows = pooling.negatives(evals, found, seed=1)
    assert rows[0] == {"query_id": "q1", "easy": [], "hard": ["queue-full"]}
    assert rows[1] == {"query_id": "q2", "easy": ["disk-full"], "hard": []}
    assert rows == pooling.negatives(evals, found, seed=1)


@pytest.mark.parametrize(
    ("name", "row", "wanted"),
    [
        (
            "pool.jsonl",
            {"query_id": "q1", "doc_id": "x", "rankers": ["a"]},
            "document x is not in the corpus",
        ),
        ("pool.jsonl", {"query_id": "q1", "doc_id": "disk-full"}, "field rankers is missing"),
        (
            "negatives.jsonl",
            {"query_id": "q1", "easy": ["x"], "hard": []},
            "document x is not in the corpus",
        ),
        ("second_pass.jsonl", {"query_id": "q1", "doc_id": "disk-full"}, "field round is missing"),
    ],
)
def test_bad_rows_are_refused_with_their_line(folder, name, row, wanted):
    write_rows(folder / name, row)
    with pytest.raises(evalset.EvalSetError) as caught:
        evalset.read_extra(evalset.load(folder), name)
    assert f"{name}:1: {wanted}" in str(caught.value)
