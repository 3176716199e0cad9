"""Every exported form reads back, by the tools that others would use."""

import json
import shutil

import ir_measures
import pandas as pd
import pytest
from conftest import write_rows
from importing import bring, put

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


def test_labels_are_sorted_and_name_the_query(folder):
    evals = evalset.load(folder)
    table = export.labels(evals._replace(judgments=evals.judgments[::-1]))
    assert list(table.columns) == ["query_id", "query_text", "doc_id", "relevance", "split"]
    assert table.to_numpy().tolist() == [
        ["q1", "disk is full", "disk-full", 2, "dev"],
        ["q1", "disk is full", "queue-full", 0, "dev"],
        ["q2", "queue", "queue-full", 1, "test"],
    ]
    triples = {("q1", "disk-full", 2), ("q1", "queue-full", 0), ("q2", "queue-full", 1)}
    assert export.expected(table) == triples


def test_the_files_word_for_word(folder, tmp_path):
    to = tmp_path / "a" / "out"
    export.write_exports(evalset.load(folder), to)
    found = export.write_exports(evalset.load(folder), to)  # over the former ones
    assert found == sorted(path for path in to.rglob("*") if path.is_file())
    assert (to / "labels.csv").read_bytes().decode() == (
        "query_id,query_text,doc_id,relevance,split\nq1,disk is full,disk-full,2,dev\n"
        "q1,disk is full,queue-full,0,dev\nq2,queue,queue-full,1,test\n"
    )
    assert (to / "qrels.trec").read_bytes().decode() == (
        "q1 0 disk-full 2\nq1 0 queue-full 0\nq2 0 queue-full 1\n"
    )
    head = "query-id\tcorpus-id\tscore\n"
    dev = (to / "beir" / "qrels" / "dev.tsv").read_bytes().decode()
    assert dev == f"{head}q1\tdisk-full\t2\nq1\tqueue-full\t0\n"
    test = (to / "beir" / "qrels" / "test.tsv").read_bytes().decode()
    assert test == f"{head}q2\tqueue-full\t1\n"
    lines = (to / "beir" / "corpus.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines][1] == {
        "_id": "queue-full",
        "title": "queue-full",
        "text": "Add a consumer.",
        "metadata": {},
    }
    lines = (to / "beir" / "queries.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"_id": "q1", "text": "disk is full"},
        {"_id": "q2", "text": "queue"},
    ]


def test_the_table_holds_the_labels_and_is_written_alike_twice(folder, tmp_path):
    table = export.labels(evalset.load(folder))
    for to in ("one", "two"):
        export.write_exports(evalset.load(folder), tmp_path / to)
    one, two = (tmp_path / to / "labels.parquet" for to in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    with export.database() as tables:
        found = tables.read_parquet(str(one))
        assert found.columns == export.COLUMNS
        assert found.types == ["VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "VARCHAR"]
        assert found.fetchall() == [*table.itertuples(index=False, name=None)]


@pytest.mark.parametrize("name", ["labels.csv", "labels.parquet", "beir", "qrels.trec"])
def test_a_form_that_does_not_read_back_is_named(folder, tmp_path, monkeypatch, name):
    read_back = export.read_back

    def lossy(to):
        found = read_back(to)
        assert [*found] == ["labels.csv", "labels.parquet", "beir", "qrels.trec"]
        found[name] = set()
        return found

    monkeypatch.setattr(export, "read_back", lossy)
    with pytest.raises(ValueError) as caught:
        export.write_exports(evalset.load(folder), tmp_path / "out")
    assert str(caught.value) == f"{tmp_path / 'out' / name}: does not read back as it was written"


def test_words_that_look_like_nothing_stay_words(folder, tmp_path):
    rows = [json.loads(line) for line in (folder / "retrieval_queries.jsonl").open()]
    write_rows(
        folder / "retrieval_queries.jsonl",
        {**rows[0], "query_id": "NA", "query": "null"},
        {**rows[1], "query_id": "1.0"},
    )
    labels = (folder / "judgments.jsonl").read_text()
    (folder / "judgments.jsonl").write_text(labels.replace('"q1"', '"NA"').replace('"q2"', '"1.0"'))
    export.write_exports(evalset.load(folder), tmp_path / "out")
    assert {q for q, _, _ in export.read_back(tmp_path / "out")["labels.csv"]} == {"NA", "1.0"}


def renamed(folder, query_id, doc_id):
    """Give the first query and its document other ids in a set with corpus.jsonl."""
    document = {"doc_id": doc_id, "title": "", "text": "x"}
    shutil.rmtree(folder / "corpus")
    write_rows(folder / "corpus.jsonl", document)
    row = {"query_id": query_id, "query": "a\rb", "relevant_doc_ids": [doc_id], "split": "dev"}
    write_rows(folder / "retrieval_queries.jsonl", row)
    write_rows(folder / "judgments.jsonl", {"query_id": query_id, "doc_id": doc_id, "relevance": 2})
    return folder


@pytest.mark.parametrize("doc_id", ['"', '""', '"a"', 'a"b', '"Weird_Al"_Yankovic', "'", "a,b;c"])
def test_quotes_come_back_as_they_went_out(folder, tmp_path, doc_id):
    evals = evalset.load(renamed(folder, f"q{doc_id}", doc_id))
    to = tmp_path / "out"
    export.write_exports(evals, to)
    assert all(found == {(f"q{doc_id}", doc_id, 2)} for found in export.read_back(to).values())
    assert pd.read_csv(to / "labels.csv")["query_text"].tolist() == ["a\rb"]
    _, again = bring("beir", to / "beir", tmp_path / "to", split="dev")
    assert again.qrels() == evals.qrels()


@pytest.mark.parametrize("doc_id", ["a\tb", "a\rb", "a\nb", "a\0b"])
def test_ids_that_no_table_can_hold_are_refused(folder, doc_id):
    with pytest.raises(evalset.EvalSetError, match="field doc_id is .*, wanted text of up to"):
        evalset.load(renamed(folder, "q1", doc_id))


def files_below(to):
    return sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())


def test_an_export_replaces_the_whole_of_the_former(folder, tmp_path):
    to = tmp_path / "out"
    export.write_exports(evalset.load(folder), to)
    export.write_exports(evalset.load(renamed(folder, "q1", "d")), to)
    assert "beir/qrels/test.tsv" not in files_below(to) and len(files_below(to)) == 6
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == ["out"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("notes.md", "found notes.md"),
        ("x/labels.csv", "found x/labels.csv"),
        ("labels.csv", "found no labels.parquet"),
        (".", "is a file"),
    ],
)
def test_a_folder_that_is_no_export_is_never_replaced(folder, tmp_path, name, told):
    mine = put(tmp_path / "out" / name, "mine")
    with pytest.raises(evalset.EvalSetError) as caught:
        export.write_exports(evalset.load(folder), tmp_path / "out")
    assert str(caught.value) == f"{tmp_path / 'out'}: {told}, {export.REPLACES}"
    assert mine.read_text() == "mine"


def test_an_export_that_does_not_read_back_leaves_the_former(folder, tmp_path, monkeypatch):
    to = tmp_path / "out"
    export.write_exports(evalset.load(folder), to)
    before = {path: path.read_bytes() for path in to.rglob("*") if path.is_file()}
    monkeypatch.setattr(export, "read_back", lambda to: {"beir": set()})
    with pytest.raises(ValueError, match="does not read back"):
        export.write_exports(evalset.load(renamed(folder, "q1", "d")), to)
    assert {path: path.read_bytes() for path in to.rglob("*") if path.is_file()} == before
