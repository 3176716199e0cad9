"""BEIR's and TREC's layouts and named columns on small folders; what is wrong is named."""

import gzip

import pytest
from conftest import write_rows
from importing import beir_folder, bring, problems, put

from helpers.label import write
from helpers.measure import baseline, runs


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


def test_beir_with_both_halves(beir, tmp_path):
    put(beir / "old_corpus.jsonl", "of no layout, so not read")
    lines, evals = bring("beir", beir, tmp_path / "to")
    assert evals.qrels() == {"1": {"d1": 2, "d2": 0, "a%2Fb%20%234": 1}, "2": {"3": 1}}
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "test", "2": "dev"}
    assert {d.doc_id: d.retrieval_text for d in evals.documents.values()} == {
        "d1": "Disk\n\nDelete logs.",
        "d2": "Add a consumer.",
        "3": "Only a title",
        "a%2Fb%20%234": "Odd id\n\nSpaces and signs.",
    }
    assert lines == [
        "documents: 4",
        "queries: 2 (1 dev, 1 test)",
        "judgments: 4 (1 of grade 0, 2 of grade 1, 1 of grade 2)",
        "left out: queries without judgments: 1, first query 3",
        "changed: documents with a title only, which became their text: 1",
        "halves: the source's own (dev, test)",
    ]
    card = (tmp_path / "to" / "README.md").read_text()
    assert all(line in card for line in lines) and str(tmp_path) not in card
    assert evals.name == "small (beir)"


CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"
BAD = [  # file, its content, words of the problem
    (CORPUS, '{"id_": "d1", "text": "a"}\n', ":1: no id, found id_, text, wanted one of: doc_id, "),
    (CORPUS, '{"_id": "d1", "body_": "a"}\n', ":1: no text, found _id, body_, wanted one of: tex"),
    (CORPUS, '{"_id": 1, "text": "a"}\n' * 2, ":2: doc_id 1 stands already at corpus.jsonl:1,"),
    (CORPUS, "", "small: found no documents, wanted some with a text"),
    (QUERIES, '{"_id": 1, "t": "a"}\n', ":1: no query, found _id, t, wanted one of: query, text"),
    (QUERIES, '{"_id": 1, "text": "a"}\n\n{"_id": "1", "text": "b"}\n', ":3: query_id 1 stands al"),
    (
        QUERIES,
        "",
        "no query has a relevant document in the corpus, wanted the same split and ids wr",
    ),
    (QRELS, "query-id\tcorpus-id\tscore\n1\td1\n", ":2: found '1\\td1', wanted 3 cells as in the"),
    (QRELS, "1\td1\n", ":1: found '1\\td1', wanted query_id doc_id rel"),
    (QRELS, "91\td1\t1\n92\td1\t1\n", "left out: judged queries without a text: 2, first qrels/te")
    + ("splits found: dev, test",),
    (
        QRELS,
        "1\tx1\t1",
        "left out: labels of documents that are not there: 1, first qrels/test.tsv:1",
    ),
    (QRELS, "1\td1\t0\n", "no query has a relevant document in the corpus")
    + ("judged queries without a relevant document: 1, first qrels/test.tsv:1; left out: ",),
]


@pytest.mark.parametrize(("file", "content", "wanted"), [(f, c, w) for f, c, *w in BAD])
def test_a_bad_line_and_a_source_of_which_nothing_fits_are_told(
    beir, tmp_path, file, content, wanted
):
    put(beir / file, content)
    told = problems("beir", beir, tmp_path / "to", split="test")
    assert told[0].startswith(file) or wanted[0][0] != ":"
    assert all(words in told[0] for words in wanted), told


def test_a_zip_is_to_be_unpacked(tmp_path):
    path = put(tmp_path / "packed.zip", "")
    (told,) = problems("beir", path, tmp_path / "to")
    assert told == f"{path}:1: is a .zip, wanted the folder that unpacking it gives"


OWN = [  # what document 1 holds, and whether query 1, which asks for wind, is that document
    ({"title": "", "text": "Wind, and rain"}, True),
    ({"title": "Wind", "text": "and rain"}, True),
    ({"title": "weather", "text": "wind  and\nrain."}, True),
    ({"title": "", "text": "wind and rain and snow"}, False),
    ({"title": "", "text": "lift and drag"}, False),  # as Cranfield's
]


@pytest.mark.parametrize(("document", "itself"), OWN)
def test_a_query_that_is_a_document_does_not_find_itself(document, itself, tmp_path):
    write_rows(tmp_path / CORPUS, {"_id": "1", **document}, {"_id": 2, "text": "no wind"})
    asked = {"_id": "1", "text": "wind and rain"}, {"_id": "8", "text": "wind"}
    write_rows(tmp_path / QUERIES, *asked)
    put(tmp_path / QRELS, "1\t2\t1\n8\t2\t1\n")
    _, evals = bring("beir", tmp_path, tmp_path / "to")
    assert [*evals.own_documents] == ["1"] * itself and "1" in evals.documents
    baseline.baseline_command(evals)
    put(evals.folder / "r.trec", "1 Q0 1 1 3 x\n1 Q0 2 2 2 x\n8 Q0 1 1 1 x\n")
    put(evals.folder / "r.jsonl", '{"query_id": 1, "results": [["1#0", 3], ["2#0", 2]]}')
    for name in ("r.trec", "r.jsonl", "runs/fixed.trec"):
        run = runs.read_run(evals.folder / name, evals)
        assert dict(run.rankings["1"]).keys() == ({"2"} if itself else {"1", "2"}), name
        assert (runs.OWN in run.warnings) == (itself and "fixed" not in name)
        assert not run.parts or [name for name, _ in run.parts["1"]][-1] == "2#0"
    assert runs.without_own(evals, {"8": [("1", 1.0)]}) == {"8": [("1", 1.0)]}


def test_trec_finds_its_files_by_name(tmp_path):
    trec = tmp_path / "t"
    put(trec / "a" / "queries.test.tsv", "1\tcrime\n")
    put(trec / "topics.train.jsonl", '{"id": 2, "text": "rain"}\n')
    put(trec / "topicsx.tsv", "9\tnone\n")
    put(trec / "qrels.test.txt", "1 0 A 1\n")
    put(trec / "qrels-train.qrels", "2 B 2\n2 A -1\n")
    put(trec / "docs" / "1.jsonl.gz", gzip.compress(b'{"id": "A", "contents": "crime"}\n'))
    put(trec / "docs" / "2.jsonl", '{"docno": "B", "body": "rain"}\n')
    lines, evals = bring("trec", trec, tmp_path / "to")
    queries = {q.query_id: (q.query, q.split) for q in evals.queries.values()}
    assert queries == {"1": ("crime", "test"), "2": ("rain", "dev")}
    assert evals.qrels() == {"1": {"A": 1}, "2": {"B": 2, "A": 0}}
    assert "halves: the source's own (test, train)" in lines
    lines, evals = bring("trec", trec, tmp_path / "one", split="test")
    assert [*evals.queries] == ["1"] and not any("without judgments" in line for line in lines)


FILES = {
    "docs.csv": "pid,headline,body_text\nd1,Wind,It blows.\nd2,,Rain falls.\n",
    "queries.csv": "qid,ask\nq1,wind?\nq2,rain?\n",
    "labels.dev.csv": "qid,pid,rel\nq1,d1,2\nq1,d2,0\nq2,d2,1\n",
}
NAMED = {"title": "headline", "text": "body_text", "columns": "query=ask"}


def test_tables_with_columns_of_any_name(tmp_path):
    for name, content in FILES.items():
        put(tmp_path / "t" / name, content)
    lines, evals = bring("table", tmp_path / "t", tmp_path / "to", **NAMED, language="ja")
    assert evals.qrels() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d2": 1}}
    assert evals.documents["d1"].retrieval_text == "Wind\n\nIt blows."
    assert evals.queries["q2"].query == "rain?" and evals.tokenizer == "bigrams"
    assert "words: bigrams, in settings.json" in lines
    said = "--from table:t --title headline --text body_text --columns query=ask --language ja`"
    assert said in (tmp_path / "to" / "README.md").read_text()


MISSING = [  # file, its content, options, the problem
    ("docs.csv", None, {"text": None}, "2: no text, found body_text, headline, pid, wanted"),
    ("docs.csv", None, {"text": "x"}, "2: no --text x in any document, found body_text, "),
    ("docs.csv", "key,body_text\n1,a\n", {"title": None}, "2: no id, found body_text, key"),
    ("queries.csv", None, {"columns": None}, "2: no query, found ask, qid, wanted one"),
    ("labels.dev.csv", "qid,pid\nq1,d1\n", {}, "2: no grade, found pid, qid, wanted one of: rel"),
]


@pytest.mark.parametrize(("file", "content", "more", "wanted"), MISSING)
def test_a_column_that_lacks_is_named_with_those_that_are_there(
    tmp_path, file, content, more, wanted
):
    for name, former in FILES.items():
        put(tmp_path / "t" / name, former)
    if content:
        put(tmp_path / "t" / file, content)
    told = problems("table", tmp_path / "t", tmp_path / "to", **{**NAMED, **more})
    assert told[0].startswith(f"{file}:{wanted}"), told


def test_files_of_a_table_are_named(tmp_path):
    tables = tmp_path / "mmarco"
    docs = put(tables / "english.tsv", "".join(f"{n}\twind {n}\n" for n in range(6)))
    asked = put(tables / "japanese.tsv", "1\t風の音\n")
    labels = put(tables / "qrels.dev.tsv", "1\t0\t4\t1\n")
    named = {"queries": str(asked), "labels": str(labels), "max_docs": 3}
    lines, evals = bring("table", docs, tmp_path / "to", **named)
    assert list(evals.documents) == ["0", "1", "4"] and evals.documents["4"].text == "wind 4"
    assert evals.queries["1"].query == "風の音" and evals.qrels() == {"1": {"4": 1}}
    assert write.TRUNCATED in lines
    card = (tmp_path / "to" / "README.md").read_text()
    assert "--queries japanese.tsv --labels qrels.dev.tsv" in card and str(tmp_path) not in card
    for path, more in ((tables / "no", {}), (tables, {"labels": str(tables / "no")})):
        (problem,) = problems("table", path, tmp_path / "no", **more)
        assert problem.endswith("no:1: is not there, wanted a file or a folder of tables")


def test_a_table_of_documents_alone_has_no_labels(tmp_path):
    _, evals = bring("table", put(tmp_path / "d.jsonl", '{"id": 1, "text": "a"}'), tmp_path / "to")
    assert list(evals.documents) == ["1"] and not evals.queries
    assert (tmp_path / "to" / "labeling_guide.md").exists()
