"""Every exported form reads back, by the tools that others would use."""

import csv
import json
import shutil

import ir_measures
import pandas as pd
from conftest import write_rows
from importing import bring, put, refused

from helpers.label import export
from helpers.measure import evalset, files


def both_tables(folder):
    """Return labels.csv and labels.parquet, ids as text."""
    text = {"query_id": str, "doc_id": str}
    with files.database() as database:
        parquet = database.read_parquet(str(folder / "labels.parquet")).df()
    return pd.read_csv(folder / "labels.csv", dtype=text, keep_default_na=False), parquet


def read_back(folder):
    """Return the (query, document, grade) triples that each form holds."""
    columns = ["query_id", "doc_id", "relevance"]
    sheet, parquet = both_tables(folder)
    beir = [
        (row["query-id"], row["corpus-id"], int(row["score"]))
        for path in (folder / "beir" / "qrels").glob("*.tsv")
        for row in csv.DictReader(path.open(encoding="utf-8"), delimiter="\t")
    ]
    trec = ir_measures.read_trec_qrels(str(folder / "qrels.trec"))
    return {
        "labels.csv": {*sheet[columns].itertuples(index=False, name=None)},
        "labels.parquet": {*parquet[columns].itertuples(index=False, name=None)},
        "beir": {*beir},
        "qrels.trec": {(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in trec},
    }


def test_the_files_word_for_word_and_read_back(folder, tmp_path):
    evals, to = evalset.load(folder), tmp_path / "a" / "out"
    found = export.write_exports(evals, to)
    assert found == sorted(path for path in to.rglob("*") if path.is_file())
    head = "query-id\tcorpus-id\tscore\n"
    columns = "query_id,query_text,doc_id,relevance,split,evidence\n"
    documents = [
        {"_id": d.doc_id, "title": d.title, "text": d.text, "metadata": {}}
        for d in evals.documents.values()
    ]
    queries = [{"_id": q.query_id, "text": q.query} for q in evals.queries.values()]
    texts = {
        "labels.csv": f'{columns}q1,disk is full,disk-full,2,dev,"[[""Delete <old> logs.""]]"\n'
        "q1,disk is full,queue-full,0,dev,[]\n"
        'q2,queue,queue-full,1,test,"[[""Add a consumer.""]]"\n',
        "qrels.trec": "q1 0 disk-full 2\nq1 0 queue-full 0\nq2 0 queue-full 1\n",
        "beir/qrels/dev.tsv": f"{head}q1\tdisk-full\t2\nq1\tqueue-full\t0\n",
        "beir/qrels/test.tsv": f"{head}q2\tqueue-full\t1\n",
        "beir/corpus.jsonl": files.as_lines(documents),
        "beir/queries.jsonl": files.as_lines(queries),
    }
    assert {path.relative_to(to).as_posix() for path in found} == {*texts, "labels.parquet"}
    for name, text in texts.items():
        assert (to / name).read_bytes().decode() == text, name
    wanted = {(j.query_id, j.doc_id, j.relevance) for j in evals.judgments}
    assert all(triples == wanted for triples in read_back(to).values())
    assert bring("beir", to / "beir", tmp_path / "to")[1].qrels() == evals.qrels()


def test_evidence_goes_out_and_comes_back_with_what_is_needed_together(folder, tmp_path):
    label = {"query_id": "q1", "doc_id": "disk-full", "relevance": 2}
    other = {"query_id": "q2", "doc_id": "queue-full", "relevance": 1}
    write_rows(
        folder / "judgments.jsonl", label | {"evidence": ["logs", ["Delete", "call"]]}, other
    )
    evals = evalset.load(folder)
    export.write_exports(evals, tmp_path / "out")
    for table in both_tables(tmp_path / "out"):
        quotes = json.loads(table.evidence[0])
        write_rows(folder / "judgments.jsonl", label | {"evidence": quotes}, other)
        assert evalset.load(folder) == evals


def test_queries_go_out_and_come_back_with_and_without_answers(folder, tmp_path):
    aside = {"query_id": "z", "query": "niets", "relevant_doc_ids": [], "kind": "none"}
    aside |= {"language": "nl", "round": 2}
    with (folder / "retrieval_queries.jsonl").open("a") as file:
        file.write(json.dumps(aside) + "\n")
    with (folder / "judgments.jsonl").open("a") as file:
        file.write('{"query_id": "z", "doc_id": "disk-full", "relevance": 0}\n')
    evals, to = evalset.load(folder), tmp_path / "out"
    export.write_exports(evals, to)
    rows = [row for _, row in files.rows(to / "beir" / "queries.jsonl")]
    asked = {query_id: query.query for query_id, query in evals.all_queries.items()}
    assert {row["_id"]: row["text"] for row in rows} == asked and len(rows) == len(asked) == 3
    assert [row.get("metadata") for row in rows] == [None, None, {"language": "nl", "round": 2}]
    assert all({q for q, *_ in triples} == {"q1", "q2"} for triples in read_back(to).values())
    lines, again = bring("beir", to / "beir", tmp_path / "to")
    assert again.qrels() == evals.qrels() and [*again.all_queries] == ["q1", "q2"]
    assert "left out: queries without judgments: 1, first query z" in lines


def renamed(folder, query_id, doc_id):
    """Give the only query and document of a set with corpus.jsonl other ids."""
    shutil.rmtree(folder / "corpus", ignore_errors=True)
    write_rows(folder / "corpus.jsonl", {"doc_id": doc_id, "title": "", "text": "x"})
    row = {"query_id": query_id, "query": "a, b", "relevant_doc_ids": [doc_id], "split": "dev"}
    write_rows(folder / "retrieval_queries.jsonl", row)
    write_rows(folder / "judgments.jsonl", {"query_id": query_id, "doc_id": doc_id, "relevance": 2})
    return evalset.load(folder)


ODD = ['"', '""', '"a"', 'a"b', '"Weird_Al"_Yankovic', "'", "a,b;c", "007", "NA", "1.0", "null"]


def test_odd_ids_come_back_as_they_went_out(folder, tmp_path):
    for number, name in enumerate(ODD):
        evals, to = renamed(folder, name, name), tmp_path / f"out{number}"
        export.write_exports(evals, to)
        for form, triples in read_back(to).items():
            assert triples == {(name, name, 2)}, (form, name)
        assert pd.read_csv(to / "labels.csv")["query_text"].tolist() == ["a, b"]
        _, again = bring("beir", to / "beir", tmp_path / f"to{number}", split="dev")
        assert again.qrels() == evals.qrels(), name


def test_a_folder_with_anything_in_it_is_never_replaced(folder, tmp_path):
    mine = put(tmp_path / "out" / "labels.csv", "mine")
    (problem,) = refused(export.write_exports, evalset.load(folder), tmp_path / "out")
    assert problem.endswith("out: is not empty, wanted a new or an empty folder")
    assert mine.read_text() == "mine"


def test_labels_are_sorted_and_those_of_queries_without_an_answer_left_out(folder):
    evals = evalset.load(folder)
    evals = evals._replace(judgments=evals.judgments[::-1])
    assert export.labels(evals).doc_id.tolist() == ["disk-full", "queue-full", "queue-full"]
    queries = {"q1": evals.queries["q1"]}
    assert {*export.labels(evals._replace(queries=queries))["query_id"]} == {"q1"}
