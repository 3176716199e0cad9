"""Every exported form reads back, by the tools that others would use."""

import json

import ir_measures
from conftest import write_rows
from importing import bring

from helpers import evalset
from helpers.sources import export


def test_exports_read_back_and_ir_measures_reads_the_qrels(folder, tmp_path):
    evals, to = evalset.load(folder), tmp_path / "out"
    names = {path.relative_to(to).as_posix() for path in export.write_exports(evals, to)}
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
    export.write_exports(evalset.load(folder), tmp_path / "out")
    assert all(
        found == {("007", "disk-full", 1)} for found in export.read_back(tmp_path / "out").values()
    )


def test_export_reads_back_through_the_importer(folder, tmp_path):
    export.write_exports(evalset.load(folder), tmp_path / "out")
    _, evals = bring("beir", tmp_path / "out" / "beir", tmp_path / "to")
    assert evals.qrels() == evalset.load(folder).qrels()
