"""Pool, near-duplicates and negatives on hand-sized cases; exports read back."""

import json

import ir_measures
import pytest
from conftest import write_rows

from helpers import evalset, measures
from helpers.labels import pooling
from helpers.sources import export


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
    found = pooling.rankings(evalset.load(folder))
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


def test_exports_read_back_and_ir_measures_reads_the_qrels(folder, tmp_path):
    evals, to = evalset.load(folder), tmp_path / "out"
    names = {path.relative_to(to).as_posix() for path in export.write(evals, to)}
    assert names == {
        "labels.csv",
        "labels.parquet",
        "qrels.trec",
        "beir/corpus.jsonl",
        "beir/queries.jsonl",
        "beir/qrels/dev.tsv",
        "beir/qrels/test.tsv",
    }
    assert (to / "labels.csv").read_text().splitlines()[:2] == [
        "query_id,query_text,doc_id,relevance,split",
        "q1,disk is full,disk-full,2,dev",
    ]
    assert (to / "beir/qrels/dev.tsv").read_text().startswith("query-id\tcorpus-id\tscore\nq1\t")
    wanted = {(j.query_id, j.doc_id, j.relevance) for j in evals.judgments}
    assert all(found == wanted for found in export.read_back(to).values())
    assert export.documents_read_back(to) == {
        d.doc_id: (d.title, d.text) for d in evals.documents.values()
    }
    qrels = list(ir_measures.read_trec_qrels(str(to / "qrels.trec")))
    perfect = [ir_measures.ScoredDoc(q.query_id, q.doc_id, q.relevance) for q in qrels]
    assert ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, perfect) == {
        ir_measures.nDCG @ 10: 1.0
    }


def test_ids_stay_text_in_every_export(folder, tmp_path):
    rows = [json.loads(line) for line in (folder / "retrieval_queries.jsonl").open()]
    write_rows(
        folder / "retrieval_queries.jsonl", *({**row, "query_id": "007"} for row in rows[:1])
    )
    write_rows(
        folder / "judgments.jsonl", {"query_id": "007", "doc_id": "disk-full", "relevance": 1}
    )
    export.write(evalset.load(folder), tmp_path / "out")
    assert all(
        found == {("007", "disk-full", 1)} for found in export.read_back(tmp_path / "out").values()
    )


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
