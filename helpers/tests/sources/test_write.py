"""Each reader on a small source written here; each flaw of a source works or is named."""

import gzip
import json
import os
import sys
import types
from typing import NamedTuple

import pyarrow
import pyarrow.parquet
import pytest
from conftest import write_rows

from helpers import __main__, evalset
from helpers.labels import audit
from helpers.sources import collections as sources
from helpers.sources import export
from helpers.sources import write as importers


def bring(kind, path, to, **options):
    """Import and return what was printed and the folder, loaded."""
    lines = importers.run(sources.Asked(kind, str(path), **options), to)
    return lines, evalset.load(to)


def problems(kind, path, to, **options):
    """Return the problems of an import that must fail and leave nothing behind."""
    before = sorted(to.parent.iterdir())
    with pytest.raises(evalset.EvalSetError) as caught:
        importers.run(sources.Asked(kind, str(path), **options), to)
    assert sorted(to.parent.iterdir()) == before
    return [p.replace(f"{path}{os.sep}", "").replace(os.sep, "/") for p in caught.value.problems]


def put(path, text):
    """Write a file below a folder that may be missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture
def beir(tmp_path):
    """Return a BEIR folder: four documents, three queries, labels of dev and test."""
    path = tmp_path / "small"
    path.mkdir()
    write_rows(
        path / "corpus.jsonl",
        {"_id": "d1", "title": "Disk", "text": "Delete logs."},
        {"_id": "d2", "title": "", "text": "Add a consumer."},
        {"_id": 3, "title": "Only a title", "text": ""},
        {"_id": "a/b #4", "title": "Odd id", "text": "Spaces and signs."},
    )
    write_rows(
        path / "queries.jsonl",
        {"_id": "1", "text": "disk is full", "metadata": {}},
        {"_id": 2, "text": "queue"},
        {"_id": "3", "text": "never judged"},
    )
    head = "query-id\tcorpus-id\tscore\n"
    put(path / "qrels" / "test.tsv", head + "1\td1\t2\n1\td2\t0\n1\ta/b #4\t1\n")
    put(path / "qrels" / "dev.tsv", head + "2\t3\t1\n")
    return path


def test_beir_with_both_halves(beir, tmp_path):
    lines, evals = bring("beir", beir, tmp_path / "to")
    assert evals.qrels() == {"1": {"d1": 2, "d2": 0, "a%2Fb%20%234": 1}, "2": {"3": 1}}
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "test", "2": "dev"}
    assert evals.documents["d1"].retrieval_text == "Disk\n\nDelete logs."
    assert evals.documents["d2"].retrieval_text == "Add a consumer."
    assert evals.documents["3"].retrieval_text == "Only a title"
    assert lines == [
        "documents: 4",
        "queries: 2 (1 dev, 1 test)",
        "judgments: 4 (1 of grade 0, 2 of grade 1, 1 of grade 2)",
        "query ids in the qrels: 2, of them in the queries: 2",
        "document ids in the qrels: 4, of them in the corpus: 4",
        "left out: queries without judgments: 1, first query 3",
        "changed: documents with a title only, which became their text: 1",
        "halves: the source's own (dev, test)",
    ]
    card = (tmp_path / "to" / "README.md").read_text()
    assert all(line in card for line in lines) and str(tmp_path) not in card
    assert evals.name == "small (beir)"


def test_gzip_windows_line_ends_and_byte_order_marks_change_nothing(beir, tmp_path):
    plain = bring("beir", beir, tmp_path / "plain")
    for path in [p for p in beir.rglob("*") if p.is_file()]:
        data = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(data))
        path.unlink()
    assert bring("beir", beir, tmp_path / "zipped")[0] == [
        line.replace("dev.tsv", "dev.tsv.gz") for line in plain[0]
    ]
    for name in ("corpus.jsonl", "retrieval_queries.jsonl", "judgments.jsonl"):
        sides = [(tmp_path / side / name).read_bytes() for side in ("plain", "zipped")]
        assert sides[0] == sides[1]


def test_export_reads_back_through_the_importer(folder, tmp_path):
    export.write(evalset.load(folder), tmp_path / "out")
    _, evals = bring("beir", tmp_path / "out" / "beir", tmp_path / "to")
    assert evals.qrels() == evalset.load(folder).qrels()


def test_one_split_is_cut_in_halves_by_query_id(beir, tmp_path):
    write_rows(beir / "queries.jsonl", *({"_id": f"q{n}", "text": f"disk {n}"} for n in range(9)))
    rows = [f"q{n}\td1\t1\n" for n in range(9)]
    (beir / "qrels" / "dev.tsv").unlink()
    halves = []
    for name, order in (("one", rows), ("two", rows[::-1])):
        put(beir / "qrels" / "test.tsv", "".join(order))
        lines, evals = bring("beir", beir, tmp_path / name)
        halves.append({q.query_id: q.split for q in evals.queries.values()})
    drawn = "halves: drawn by a hash of the query id, the source tells none apart (test)"
    assert drawn in lines and "queries: 9 (5 dev, 4 test)" in lines and halves[0] == halves[1]
    put(beir / "qrels" / "test.tsv", rows[0])
    assert bring("beir", beir, tmp_path / "three")[1].queries["q0"].split == "dev"


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


GRADES = {"binary": "1\td1\t1\n", "graded": "1\td1\t4\n1\td2\t3\n", "float": "1\td1\t1.0\n"}


@pytest.mark.parametrize(("name", "highest"), {"binary": 1, "graded": 4, "float": 1}.items())
def test_grades(beir, tmp_path, name, highest):
    put(beir / "qrels" / "test.tsv", GRADES[name])
    lines, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert max(evals.qrels()["1"].values()) == highest
    assert evals.grades == tuple(range(max(2, highest) + 1))
    assert ("highest_grade: 4, in settings.json" in lines) == (highest == 4)
    if highest == 4:
        manifest = json.loads(audit.write_manifest(evalset.load(tmp_path / "to"), {}).read_text())
        assert manifest["counts"]["judgments"]["4"] == 1 and "settings.json" in manifest["files"]


def test_grades_below_zero_become_zero_and_are_counted(beir, tmp_path):
    put(beir / "qrels" / "test.tsv", "1\td1\t1\n1\td2\t-1\n")
    lines, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert evals.qrels() == {"1": {"d1": 1, "d2": 0}}
    assert "changed: grades below 0, which became 0: 1" in lines


BAD = {
    "duplicate document": (
        "corpus.jsonl",
        '{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "b"}\n',
        "corpus.jsonl:2: doc_id d1 stands already at corpus.jsonl:1, wanted each once",
    ),
    "duplicate query": (
        "queries.jsonl",
        '{"_id": "1", "text": "a"}\n\n{"_id": 1, "text": "b"}\n',
        "queries.jsonl:3: query_id 1 stands already at queries.jsonl:1, wanted each once",
    ),
    "two grades": (
        "qrels/test.tsv",
        "1\td1\t1\n1\td1\t2\n",
        "qrels/test.tsv:2: 1 d1 has grade 2 and at qrels/test.tsv:1 grade 1, wanted one",
    ),
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
    "columns": (
        "qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n1\td1\n",
        "qrels/test.tsv:2: found '1\\td1', wanted 3 columns (query, document, grade) or 4",
    ),
    "half a grade": (
        "qrels/test.tsv",
        "1\td1\t0.5\n",
        "qrels/test.tsv:1: grade '0.5' is not a grade, wanted a whole number",
    ),
    "a count of clicks": ("qrels/test.tsv", "1\td1\t1200\n", "grade '1200' is not a grade"),
    "ids of another split": (
        "qrels/test.tsv",
        "91\td1\t1\n92\td1\t1\n",
        "query ids in the qrels: 2, of them in the queries: 0; the qrels have 91 and the like, "
        "the queries 1, wanted qrels of the same split and ids written the same way; "
        "splits found: dev, test",
    ),
    "other documents": (
        "qrels/test.tsv",
        "1\tx1\t1\n",
        "document ids in the qrels: 1, of them in the corpus: 0; the qrels have x1 and the like",
    ),
    "nothing relevant": ("qrels/test.tsv", "1\td1\t0\n", "no query has a relevant document"),
    "no documents": ("corpus.jsonl", "", "no documents with a text found"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_source_is_named_with_file_and_line(beir, tmp_path, name):
    file, content, wanted = BAD[name]
    put(beir / file, content)
    found = problems("beir", beir, tmp_path / "to", split="test")
    assert wanted in found[0].replace(f"{beir}{os.sep}", ""), found


def test_broken_gzip_and_missing_files_are_named(beir, tmp_path):
    (beir / "corpus.jsonl").unlink()
    put(beir / "corpus.jsonl.gz", b"no gzip")
    assert "corpus.jsonl.gz:1: cannot be read (Not a gzipped file" in str(
        problems("beir", beir, tmp_path / "to")
    )
    (beir / "corpus.jsonl.gz").unlink()
    for path in (beir / "qrels").iterdir():
        path.unlink()
    found = problems("beir", beir, tmp_path / "to")
    assert "no corpus.jsonl here, wanted corpus.jsonl or corpus.jsonl.gz" in found[0]
    assert found[1] == "qrels:1: no labels found, wanted qrels/test.tsv or the like"


def test_a_query_in_two_splits_is_a_leak(beir, tmp_path):
    put(beir / "qrels" / "dev.tsv", "1\t3\t2\n")
    assert "query 1 is in test and at" in problems("beir", beir, tmp_path / "to")[0]


def test_too_many_problems_stop_the_import(beir, tmp_path):
    put(beir / "corpus.jsonl", "[]\n" * 200)
    found = problems("beir", beir, tmp_path / "to")
    assert len(found) == 51 and found[-1] == "stopped after 50 problems"


def test_what_has_no_use_is_left_out_and_counted(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d5", "title": "", "text": " "}\n')
    with (beir / "queries.jsonl").open("a") as file:
        file.write('{"_id": "4", "text": ""}\n{"_id": "5", "text": "only a zero"}\n')
    with (beir / "qrels" / "test.tsv").open("a") as file:
        file.write("1\td1\t2\n1\td5\t1\n1\tgone\t1\n1\tgone0\t0\n4\td1\t1\n5\td1\t0\n")
    lines, evals = bring("beir", beir, tmp_path / "to")
    assert evals.qrels()["1"] == {"d1": 2, "d2": 0, "a%2Fb%20%234": 1} and len(evals.queries) == 2
    test = f"{beir / 'qrels' / 'test.tsv'}"
    assert [line for line in lines if line.startswith("left")] == [
        f"left out: queries without text: 1, first {beir / 'queries.jsonl'}:4",
        f"left out: pairs judged twice with one grade: 1, first {test}:5",
        f"left out: documents without text: 1, first {beir / 'corpus.jsonl'}:5",
        f"left out: relevant labels of documents that are not there: 2, first {test}:6",
        f"left out: grade-0 labels of documents that are not there: 1, first {test}:8",
        f"left out: judged queries without a text: 1, first {test}:9",
        f"left out: judged queries without a relevant document: 1, first {test}:10",
        "left out: queries without judgments: 1, first query 3",
    ]
    assert "document ids in the qrels: 7, of them in the corpus: 5" in lines


@pytest.mark.parametrize(("start", "warned"), {0: True, 1: False}.items())
def test_numbers_that_start_at_0_here_and_at_1_there(beir, tmp_path, start, warned):
    write_rows(beir / "queries.jsonl", *({"_id": n, "text": f"disk {n}"} for n in range(1, 5)))
    put(beir / "qrels" / "test.tsv", "".join(f"{n}\td1\t1\n" for n in range(start, start + 4)))
    lines, _ = bring("beir", beir, tmp_path / "to", split="test")
    found = [line for line in lines if line.startswith("warning")]
    assert bool(found) == warned
    if warned:
        assert "query ids run from 0 to 3 in the qrels and from 1 to 4 in the file" in found[0]
        assert "query ids in the qrels: 4, of them in the queries: 3" in lines


def test_enormous_line_and_half_a_surrogate_pair(beir, tmp_path):
    put(beir / "corpus.jsonl", json.dumps({"_id": "d1", "text": "\ud800 " + "word " * 400_000}))
    _, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert len(evals.documents["d1"].text) > 1_900_000 and evals.documents["d1"].text[0] == "?"


@pytest.mark.parametrize(
    ("most", "ids"),
    {
        1: ["a%2Fb%20%234", "d1"],  # both relevant ones stay
        3: ["a%2Fb%20%234", "d1", "d2"],  # then the one judged 0
        4: ["3", "a%2Fb%20%234", "d1", "d2"],
    }.items(),
)
def test_limited_documents_keep_every_relevant_one(beir, tmp_path, most, ids):
    lines, evals = bring("beir", beir, tmp_path / "to", split="test", max_docs=most)
    assert list(evals.documents) == ids
    assert (importers.TRUNCATED in lines) == (most < 4)
    assert (importers.TRUNCATED in (tmp_path / "to" / "README.md").read_text()) == (most < 4)


def test_a_limited_import_stops_reading(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write("broken, but beyond what is needed\n" * 3)
    put(beir / "qrels" / "test.tsv", "1\td1\t1\n")
    lines, evals = bring("beir", beir, tmp_path / "to", split="test", max_docs=2)
    assert list(evals.documents) == ["d1", "d2"] and importers.TRUNCATED in lines


def test_folder_that_is_not_empty_is_refused_and_kept(beir, tmp_path):
    to = tmp_path / "to"
    put(to / "mine.txt", "mine")
    found = problems("beir", beir, to)
    assert found == [f"{to}: is not empty, wanted a new or an empty folder".replace(os.sep, "/")]
    assert (to / "mine.txt").read_text() == "mine"
    (to / "mine.txt").unlink()
    bring("beir", beir, to)


# TREC.

TOPICS = """<top>
<num> Number: 301
<title> International crime

<desc> Description:
Who fights it?
</top>
<top><num>302</num><title></title>
<desc>Polio in
the world</desc></top>
"""


@pytest.fixture
def trec(tmp_path):
    """Return a TREC folder with SGML topics."""
    path = tmp_path / "trec"
    put(path / "topics.txt", TOPICS)
    put(path / "qrels.txt", "301 0 A-1 1\n301 0 B 0\n302 Q0 B 2\n")
    put(path / "docs.jsonl", '{"docid": "A-1", "contents": "crime"}\n{"docno": "B", "body": "b"}')
    return path


def test_trec(trec, tmp_path):
    _, evals = bring("trec", trec, tmp_path / "to")
    texts = {q.query_id: q.query for q in evals.queries.values()}
    assert texts == {"301": "International crime", "302": "Polio in the world"}
    assert evals.qrels() == {"301": {"A-1": 1, "B": 0}, "302": {"B": 2}}
    put(trec / "topics.txt", "301\tcrime\n302\tpolio\n")
    put(trec / "qrels.txt", "301\tA-1\t1\n301\tB\t0\n302\tB\t2\n")
    _, again = bring("trec", trec, tmp_path / "tsv")
    assert again.qrels() == evals.qrels() and again.queries["301"].query == "crime"


def test_trec_topics_go_with_the_split(trec, tmp_path):
    for name, number in (("dev", 1), ("test", 2)):
        put(trec / f"topics.{name}.tsv", f"{number}\tcrime\n")
        put(trec / f"qrels.{name}.txt", f"{number} 0 B 1\n")
    lines, evals = bring("trec", trec, tmp_path / "to")
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "dev", "2": "test"}
    assert not [line for line in lines if line.startswith("left out")]


@pytest.mark.parametrize(
    ("file", "content", "wanted"),
    [
        ("topics.txt", "<top>\n<title> a\n</top>\n", "topics.txt:1: topic without a number"),
        ("topics.txt", "<top>\n<num> 301\n", "topics.txt:1: topic without an end, wanted </top>"),
        ("topics.txt", "301 crime\n", "topics.txt:1: found '301 crime', wanted an id, a tab"),
        ("qrels.txt", "301 0 A-1 1 x\n", "qrels.txt:1: found '301 0 A-1 1 x', wanted 3 columns"),
    ],
)
def test_bad_trec(trec, tmp_path, file, content, wanted):
    put(trec / file, content)
    assert problems("trec", trec, tmp_path / "to")[0].startswith(wanted)


def test_trec_says_what_is_missing(trec, tmp_path):
    (trec / "docs.jsonl").unlink()
    (trec / "topics.txt").unlink()
    found = problems("trec", trec, tmp_path / "to")
    assert len(found) == 2
    assert "no topics, found qrels.txt, wanted topics*.txt or topics*.tsv" in found[0]
    assert "no documents, found qrels.txt, wanted a JSONL file with docid and contents" in found[1]


# HotpotQA.

ORIGINAL = {
    "_id": "5a8",
    "question": "Were A and B born in one town?",
    "answer": "yes",
    "type": "comparison",
    "supporting_facts": [["A (film)", 1], ["A (film)", 0], ["B/C", 7]],
    "context": [
        ["A (film)", ["One.", " Two."]],
        ["B/C", ["Three."]],
        ["Empty", []],
    ],
}
COLUMNS = {
    "id": "5a8",
    **{key: ORIGINAL[key] for key in ("question", "answer", "type")},
    "supporting_facts": {"title": ["A (film)", "A (film)", "B/C"], "sent_id": [1, 0, 7]},
    "context": {"title": ["A (film)", "B/C"], "sentences": [["One.", " Two."], ["Three."]]},
}


def hotpot_file(path, form):
    """Write one question in one of the published forms."""
    path.mkdir()
    if form == "parquet":
        table = pyarrow.Table.from_pylist([COLUMNS])
        pyarrow.parquet.write_table(table, path / "validation-00000-of-00001.parquet")
    elif form == "jsonl":
        write_rows(path / "validation.jsonl", COLUMNS)
    else:
        put(path / "hotpot_dev_v1.json", json.dumps([ORIGINAL], indent=2))
    return path


@pytest.mark.parametrize("form", ["json", "jsonl", "parquet"])
def test_hotpotqa(tmp_path, form):
    lines, evals = bring("hotpotqa", hotpot_file(tmp_path / form, form), tmp_path / "to")
    assert list(evals.documents) == ["A_(film)", "B%2FC"]
    assert evals.documents["A_(film)"].retrieval_text == "A (film)\n\nOne. Two."
    query = evals.queries["5a8"]
    assert (query.kind, query.answers, query.split) == ("comparison", ("yes",), "dev")
    assert [(j.doc_id, j.relevance, j.evidence) for j in evals.judgments] == [
        ("A_(film)", 1, "Two."),
        ("B%2FC", 1, ""),  # HotpotQA has sentence numbers beyond the paragraph
    ]
    assert bool([line for line in lines if "documents without text: 1" in line]) == (form == "json")


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ('[\n{"question": "a"}]', ":2: question, context or supporting_facts is missing"),
        ('[\n{"question": "a", "context": [["A"]]}\n]', ":2: question, context or supporting"),
        ("[1]", ":1: found 1, wanted an object"),
        ("[\n\n{]", ":3: broken JSON"),
        ('{"question": "a"}', ":1: question, context"),
    ],
)
def test_bad_hotpotqa(tmp_path, rows, wanted):
    path = put(tmp_path / "q" / "dev.json", rows)
    found = problems("hotpotqa", path.parent, tmp_path / "to")
    assert found[0].startswith(f"dev.json{wanted}")


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("dev.parquet", b"no table", "dev.parquet:1: cannot be read"),
        ("dev.json", b"[\n{}\xff]", "dev.json:2: byte 0xff is not UTF-8"),
        ("dev.json.gz", b"no gzip", "dev.json.gz:1: cannot be read"),
    ],
)
def test_damaged_hotpotqa(tmp_path, name, content, wanted):
    path = put(tmp_path / "q" / name, content)
    assert problems("hotpotqa", path.parent, tmp_path / "to")[0].startswith(wanted)


def test_hotpotqa_without_files(tmp_path):
    found = problems("hotpotqa", tmp_path / "no", tmp_path / "to")
    assert "no questions, wanted a .json, .jsonl or .parquet" in found[0]


# Trees of files.

PAGE = "---\nkind: runbook\nupdated: soon\nweight: 3\n---\n\n# Disk full #\n\nDelete logs.\n"


def test_markdown(tmp_path):
    tree = tmp_path / "tree"
    put(tree / "node" / "disk full.md", PAGE.replace("\n", "\r\n"))
    put(tree / "front.md", "---\ntitle: From the front\n---\n# Heading\n\nBody.\n")
    put(tree / "fence.md", "```\n# no heading\n```\n\nReal one\n========\n\nBody.\n")
    put(tree / "none.markdown", b"\xef\xbb\xbfBody only.\n")
    put(tree / "broken.md", "---\n[a: b\n---\nBody.\n")
    put(tree / "empty.md", "---\ntitle: x\n---\n")
    put(tree / "latin.md", b"ok\ncaf\xe9\n")
    put(tree / "bin.md", b"\0\1")
    put(tree / "pic.png", b"\0")
    put(tree / "node_modules" / "x.md", "vendored\n")
    put(tree / ".git" / "x.md", "hidden\n")
    lines, evals = bring("markdown", tree, tmp_path / "to")
    found = {d.doc_id: (d.title, d.text) for d in evals.documents.values()}
    assert found == {
        "node:disk%20full": ("Disk full", "Delete logs."),
        "front": ("From the front", "# Heading\n\nBody."),
        "fence": ("Real one", "```\n# no heading\n```\n\nReal one\n========\n\nBody."),
        "none.markdown": ("none", "Body only."),
        "broken": ("broken", "---\n[a: b\n---\nBody."),
    }
    assert evals.documents["node:disk%20full"].kind == "runbook"
    assert not evals.queries and not (tmp_path / "to" / "retrieval_queries.jsonl").exists()
    assert lines[:3] == ["documents: 5", "queries: 0", "judgments: 0"]
    assert {line.rpartition(",")[0].replace("left out: ", "") for line in lines[3:]} >= {
        "hidden, vendored or built folders: 2",
        "binary files: 1",
        "files of another type: 1",
        "documents without text: 1",
        "front matters that are not YAML fields, kept as text: 1",
        "front-matter field updated (a date such as 2026-04-08): 1",
        "front-matter field weight (no such field): 1",
    }
    assert f"first {tree / 'latin.md'}:2 (byte 0xe9), save it as UTF-8" in str(lines)
    assert evals.next_step() == evalset.NO_QUERIES
    assert (tmp_path / "to" / "labeling_guide.md").exists()


def test_markdown_reads_our_own_form_back(folder, tmp_path):
    _, evals = bring("markdown", folder / "corpus", tmp_path / "to")
    assert evals.documents == evalset.load(folder).documents


def test_text(tmp_path):
    put(tmp_path / "tree" / "a" / "b.txt", "A short first line\n\nThe rest.\n")
    put(tmp_path / "tree" / "c.txt", "x " * 60 + "\nmore\n")
    lines, evals = bring("text", tmp_path / "tree", tmp_path / "to", max_docs=1)
    assert [(d.doc_id, d.title, d.text) for d in evals.documents.values()] == [
        ("c", "c", ("x " * 60).rstrip() + " \nmore")
    ]
    assert importers.TRUNCATED in lines


MODULE = '''"""Queue tools.

More."""
import os

LIMIT = 10


def drain(queue):
    """Empty the queue."""
    def inner(): pass
    return queue


class Queue:
    """A queue."""

    size = 0

    @property
    def age(self):
        return 1

    @age.setter
    def age(self, value):
        """Set it."""
'''


def test_code(tmp_path):
    tree = tmp_path / "tree"
    put(tree / "lib" / "queue.py", MODULE)
    put(tree / "only_imports.py", "import os\n\n\ndef f():\n    pass\n")
    put(tree / "old.py", "print 'python 2'\n")
    put(tree / "main.go", "package main\n")
    put(tree / "made.go", "// Code generated by protoc. DO NOT EDIT.\npackage main\n")
    put(tree / "small.min.js", "x\n")
    put(tree / "flat.js", "x" * 6000)
    put(tree / "data.bin", b"\0")
    put(tree / "really.c", b"\0binary")
    put(tree / "vendor" / "v.py", "x = 1\n")
    put(tree / "env" / "pyvenv.cfg", "")
    put(tree / "build" / "b.py", "x = 1\n")
    lines, evals = bring("code", tree, tmp_path / "to")
    titles = {d.doc_id: d.title for d in evals.documents.values()}
    assert titles == {
        "lib:queue.py": "Queue tools.",
        "lib:queue.py:drain": "Empty the queue.",
        "lib:queue.py:Queue": "A queue.",
        "lib:queue.py:Queue.age": "Queue.age",
        "lib:queue.py:Queue.age~2": "Set it.",
        "only_imports.py:f": "f",
        "old.py": "old.py",
        "main.go": "main.go",
    }
    texts = {doc_id: document.text for doc_id, document in evals.documents.items()}
    assert texts["lib:queue.py:Queue.age"] == "@property\ndef age(self):\n    return 1"
    assert "def inner" in texts["lib:queue.py:drain"] and "size = 0" in texts["lib:queue.py:Queue"]
    units = [text for doc_id, text in texts.items() if doc_id.startswith("lib:")]
    said = sorted(line.strip() for text in units for line in text.split("\n") if line.strip())
    assert said == sorted(line.strip() for line in MODULE.split("\n") if line.strip())
    counts = " ".join(lines)
    assert "generated files: 3" in counts and "binary files: 1" in counts
    assert "hidden, vendored or built folders: 3" in counts and "another type: 1" in counts
    assert "Python files that do not parse, taken whole: 1" in counts
    assert "module bodies of imports alone: 1" in counts


@pytest.mark.parametrize("kind", ["markdown", "text", "code", "beir", "trec"])
def test_a_path_that_is_no_folder(tmp_path, kind):
    assert f":1: is no folder, wanted a folder for {kind}:" in str(
        problems(kind, tmp_path / "no", tmp_path / "to")
    )


# Languages.


@pytest.fixture
def miracl(tmp_path):
    """Return a local copy of MIRACL's layout in two languages."""
    path = tmp_path / "miracl"
    for language, text in (("th", "กรุงเทพ"), ("yo", "ilu")):
        name = f"miracl-v1.0-{language}"
        put(path / name / "topics" / f"topics.{name}-dev.tsv", f"7#0\t{text}\n")
        put(path / name / "topics" / f"topics.{name}-test-a.tsv", f"8\t{text}\n")
        put(path / name / "qrels" / f"qrels.{name}-dev.tsv", "7#0\tQ0\t7#1\t1\n7#0\tQ0\t9#0\t0\n")
        rows = [
            {"docid": d, "title": "t", "text": f"{text} {n}"}
            for n, d in enumerate(("7#1", "9#0", "5#5"))
        ]
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        put(path / f"miracl-corpus-v1.0-{language}" / "docs-0.jsonl.gz", gzip.compress(data))
    return path


def test_miracl_local(miracl, tmp_path):
    lines, evals = bring("miracl", f"{miracl}@th", tmp_path / "to")
    assert evals.qrels() == {"7%230": {"7%231": 1, "9%230": 0}} and len(evals.documents) == 3
    assert evals.tokenizer == "bigrams" and "words: bigrams, in settings.json" in lines
    assert bring("miracl", f"{miracl}@yo", tmp_path / "yo")[1].tokenizer == "unicode-words"
    found = problems("miracl", miracl, tmp_path / "no")
    assert "topics by language: found th, yo, wanted one:" in found[0]


def test_miracl_says_what_is_hidden_and_missing(miracl, tmp_path):
    found = problems("miracl", f"{miracl}@th", tmp_path / "to", split="test-a")
    assert found == [
        "miracl: the labels of test-a are hidden by its makers, wanted --split dev, train"
    ]
    (miracl / "miracl-corpus-v1.0-th" / "docs-0.jsonl.gz").unlink()
    found = problems("miracl", f"{miracl}@th", tmp_path / "to")
    assert (
        "no passages, found topics of dev, test-a, wanted miracl-corpus-v1.0-th/docs-" in found[0]
    )
    found = problems("miracl", "xx", tmp_path / "to")
    assert "xx:1: is neither a folder nor a language, wanted one of: ar, bn" in found[0]


@pytest.fixture
def mmarco(tmp_path):
    """Return a local copy of mMARCO's layout: documents in two languages, queries in two."""
    path = tmp_path / "mmarco"
    for name, text in (("english", "wind"), ("japanese", "風の音")):
        rows = "".join(f"{n}\t{text} {n}\n" for n in range(6))
        put(path / "google" / "collections" / f"{name}_collection.tsv", rows)
        put(path / "google" / "queries" / "dev" / f"{name}_queries.dev.small.tsv", f"1\t{text}\n")
    put(path / "qrels.dev.small.tsv", "1\t0\t4\t1\n")
    return path


def test_mmarco_across_languages(mmarco, tmp_path):
    lines, evals = bring(
        "mmarco", f"{mmarco}@en", tmp_path / "to", queries_language="ja", max_docs=3
    )
    assert list(evals.documents) == ["0", "1", "4"] and evals.documents["4"].text == "wind 4"
    assert evals.queries["1"].query == "風の音" and evals.tokenizer == "bigrams"
    assert importers.TRUNCATED in lines
    assert "Documents in english, queries in japanese; the labels are MS MARCO's." in lines
    same = bring("mmarco", f"{mmarco}@english", tmp_path / "en")[1]
    assert same.queries["1"].query == "wind" and same.tokenizer == "words"


def test_card_holds_no_path_of_this_machine(mmarco, tmp_path):
    with (mmarco / "google" / "collections" / "english_collection.tsv").open("a") as file:
        file.write("9\t\n")
    bring("mmarco", f"{mmarco}@en", tmp_path / "to")
    card = (tmp_path / "to" / "README.md").read_text()
    assert "# mmarco@en (mmarco)" in card and "first mmarco/google" in card
    assert str(tmp_path) not in card


def test_mmarco_says_what_is_missing(mmarco, tmp_path):
    (mmarco / "qrels.dev.small.tsv").unlink()
    found = problems("mmarco", f"{mmarco}@en", tmp_path / "to", queries_language="german")
    assert "no queries, wanted german_queries.dev.small.tsv" in found[0]
    assert "no labels, wanted qrels.dev.small.tsv" in found[1]
    found = problems("mmarco", mmarco, tmp_path / "to")
    assert "document languages: found english, japanese, wanted one:" in found[0]


def fake_datasets(files, asked):
    """Return a module that answers as `datasets` does for text files of the hub."""

    def load_dataset(form, data_files, split, streaming):
        asked.append(data_files)
        assert (form, split, streaming) == ("text", "train", True)
        for name, text in files.items():
            if name in data_files:
                return iter([{"text": line} for line in text.split("\n")])
        raise FileNotFoundError(f"no {data_files}")

    return types.SimpleNamespace(load_dataset=load_dataset)


def test_miracl_and_mmarco_through_the_datasets_library(tmp_path, monkeypatch):
    asked = []
    files = {
        "miracl-v1.0-ja/topics/topics.miracl-v1.0-ja-dev.tsv": "\ufeff1\t東京\n",
        "miracl-v1.0-ja/qrels/qrels.miracl-v1.0-ja-dev.tsv": "1 Q0 2#0 1",
        "miracl-corpus-v1.0-ja/docs-*.jsonl.gz": '{"docid": "2#0", "title": "t", "text": "東京都"}',
        "collections/german_collection.tsv": "5\tWind",
        "queries/dev/english_queries.dev.small.tsv": "1\twind",
        "data/qrels.dev.small.tsv": "1\t0\t5\t1",
    }
    monkeypatch.setitem(sys.modules, "datasets", fake_datasets(files, asked))
    _, evals = bring("miracl", "ja", tmp_path / "ja")
    assert evals.qrels() == {"1": {"2%230": 1}} and evals.tokenizer == "bigrams"
    _, evals = bring("mmarco", "de", tmp_path / "de", queries_language="en")
    assert evals.documents["5"].text == "Wind" and evals.queries["1"].query == "wind"
    assert asked[0].startswith("hf://datasets/miracl/miracl/miracl-v1.0-ja/")
    assert any(name.startswith("hf://datasets/unicamp-dl/mmarco/data/") for name in asked)
    found = problems("miracl", "th", tmp_path / "th")
    assert "topics.miracl-v1.0-th-dev.tsv:1: cannot be read (FileNotFoundError" in found[0]
    assert "wanted a network connection" in found[0] and "hf auth login" in found[0]


@pytest.mark.parametrize(
    ("kind", "path", "package"),
    [
        ("miracl", "sw", "datasets"),
        ("mmarco", "german", "datasets"),
        ("ir_datasets", "vaswani", "ir_datasets"),
    ],
)
def test_missing_package_is_named(tmp_path, monkeypatch, kind, path, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert problems(kind, path, tmp_path / "to") == [
        f"the package {package} is missing, wanted: python -m pip install {package}"
    ]


class Doc(NamedTuple):
    doc_id: str
    text: str


class Page(NamedTuple):
    doc_id: str
    title: str
    url: str

    def default_text(self):
        return f"{self.title} {self.url}"


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


def fake_catalogue(docs, qrels=True):
    """Return a module that answers as `ir_datasets` does, for one name."""
    data = types.SimpleNamespace(
        has_docs=lambda: True,
        has_queries=lambda: True,
        has_qrels=lambda: qrels,
        docs_iter=lambda: iter(docs),
        queries_iter=lambda: iter([Topic("1", "wind", "long"), Topic("2", "", "rain")]),
        qrels_iter=lambda: iter([Qrel("1", "a b", 1), Qrel("2", "c", -2), Qrel("2", "a b", 1)]),
    )
    return types.SimpleNamespace(load={"small/test": data}.__getitem__)


def test_ir_datasets(tmp_path, monkeypatch):
    docs = [Doc("a b", "wind"), Page("c", "Rain", "x")]
    monkeypatch.setitem(sys.modules, "ir_datasets", fake_catalogue(docs))
    lines, evals = bring("ir_datasets", "small/test", tmp_path / "to")
    assert evals.qrels() == {"1": {"a%20b": 1}, "2": {"c": 0, "a%20b": 1}}
    assert {q.query for q in evals.queries.values()} == {"wind", "rain"}
    assert evals.documents["c"].title == "Rain" and evals.documents["c"].text == "Rain x"
    assert "changed: grades below 0, which became 0: 1" in lines
    assert "wanted a name of its catalogue" in problems("ir_datasets", "no", tmp_path / "no")[0]
    monkeypatch.setitem(sys.modules, "ir_datasets", fake_catalogue(docs, qrels=False))
    assert problems("ir_datasets", "small/test", tmp_path / "no") == [
        "ir_datasets:small/test: no qrels, wanted a name with docs, queries, qrels"
    ]
    monkeypatch.setitem(sys.modules, "ir_datasets", fake_catalogue([docs[0], docs[0]]))
    assert problems("ir_datasets", "small/test", tmp_path / "no")[0].startswith(
        "ir_datasets:small/test:2: doc_id a%20b stands already at ir_datasets:small/test:1"
    )
    catalogue = fake_catalogue(docs)
    catalogue.load("small/test").docs_iter = lambda: (_ for _ in [1 / 0])
    monkeypatch.setitem(sys.modules, "ir_datasets", catalogue)
    found = problems("ir_datasets", "small/test", tmp_path / "no")
    assert "cannot be read (ZeroDivisionError: division by zero), wanted a network" in found[0]


# The commands.


def test_wrong_options_are_named(beir, tmp_path):
    assert "--from pdf: is unknown, wanted KIND:PATH of markdown, text" in str(
        problems("pdf", beir, tmp_path / "to")
    )
    assert "--queries-language belongs to mmarco" in str(
        problems("beir", beir, tmp_path / "to", queries_language="de")
    )
    assert "--split: markdown has no splits to choose from" in str(
        problems("markdown", beir, tmp_path / "to", split="dev")
    )
    assert "--max-docs is 0, wanted a number from 1" in str(
        problems("beir", beir, tmp_path / "to", max_docs=0)
    )


def test_import_command_needs_no_evaluation_set(beir, tmp_path, monkeypatch, capsys):
    words = ["helpers", "import", "--from", f"beir:{beir}", "--to", str(tmp_path / "to")]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setenv("EVALS", str(tmp_path / "nowhere"))
    assert __main__.main() == 0
    shown = capsys.readouterr()
    assert "queries: 2 (1 dev, 1 test)" in shown.out and "next: make report" in shown.out
    assert __main__.main() == 1
    shown = capsys.readouterr()
    assert "is not empty" in shown.err and f"1 problem(s) in beir:{beir}" in shown.err
    monkeypatch.setattr(sys, "argv", ["helpers", "new", "--to", str(tmp_path / "new")])
    assert __main__.main() == 0 and "next steps" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["helpers", "audit"])
    assert __main__.main() == 1 and "no documents found" in capsys.readouterr().err


def test_import_says_what_it_needs(tmp_path):
    with pytest.raises(evalset.EvalSetError, match="--from is beir, wanted KIND:PATH"):
        importers.import_command("beir", tmp_path / "to")


def test_progress_goes_to_stderr(monkeypatch):
    asked = {}

    def tqdm(items, **options):
        asked.update(options)
        return items

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=tqdm))
    assert list(sources.progress([1, 2], "documents")) == [1, 2]
    assert asked["file"] is sys.stderr and asked["disable"] is None  # None: no bar into a file
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(sources.progress([1, 2], "documents")) == [1, 2]


def test_new_set_loads_and_names_the_next_steps(tmp_path, capsys):
    assert importers.new_command(tmp_path / "mine") == 0
    assert "next steps" in capsys.readouterr().out
    evals = evalset.load(tmp_path / "mine")
    assert len(evals.documents) == 2 and len(evals.queries) == 3
    assert all(j.evidence for j in evals.judgments if j.relevance)
    assert {q.split for q in evals.queries.values()} == {"dev", "test"}
    assert "session A" in (tmp_path / "mine" / "README.md").read_text()
    with pytest.raises(evalset.EvalSetError, match="is not empty"):
        importers.new_command(tmp_path / "mine")
