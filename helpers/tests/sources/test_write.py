"""The checks on what a reader yields, the folder that is written, and the commands."""

import json
import os
import sys

import pytest
from conftest import write_rows
from importing import beir_folder, bring, mmarco_folder, problems, put, refusal

from helpers import __main__, evalset
from helpers.labels import manifest
from helpers.sources import write


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


@pytest.fixture
def mmarco(tmp_path):
    return mmarco_folder(tmp_path / "mmarco")


def test_one_split_is_cut_in_halves_by_query_id(beir, tmp_path):
    write_rows(beir / "queries.jsonl", *({"_id": f"q{n}", "text": f"disk {n}"} for n in range(9)))
    rows = [f"q{n}\td1\t1\n" for n in range(9)]
    (beir / "qrels" / "dev.tsv").unlink()
    halves = []
    for name, order in (("one", rows), ("two", rows[::-1])):
        put(beir / "qrels" / "test.tsv", "".join(order))
        lines, evals = bring("beir", beir, tmp_path / name)
        halves.append({q.query_id: q.split for q in evals.queries.values()})
    drawn = "halves: drawn by a hash (test); shared answers connect 9 of 9 queries, so the halves "
    drawn += "share some"
    assert drawn in lines and "queries: 9 (5 dev, 4 test)" in lines and halves[0] == halves[1]
    put(beir / "qrels" / "test.tsv", rows[0])
    assert bring("beir", beir, tmp_path / "three")[1].queries["q0"].split == "dev"


GRADES = {"binary": "1\td1\t1\n", "graded": "1\td1\t4\n1\td2\t3\n", "float": "1\td1\t1.0\n"}


@pytest.mark.parametrize(("name", "highest"), {"binary": 1, "graded": 4, "float": 1}.items())
def test_grades(beir, tmp_path, name, highest):
    put(beir / "qrels" / "test.tsv", GRADES[name])
    lines, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert max(evals.qrels()["1"].values()) == highest
    assert evals.grades == tuple(range(max(2, highest) + 1))
    assert ("highest_grade: 4, in settings.json" in lines) == (highest == 4)
    if highest == 4:
        told = json.loads(manifest.write_manifest(evalset.load(tmp_path / "to"), {}).read_text())
        assert told["counts"]["judgments"]["4"] == 1 and "settings.json" in told["files"]


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
    assert wanted in refusal(beir, file, content, tmp_path / "to")


def test_a_query_in_two_splits_is_a_leak(beir, tmp_path):
    put(beir / "qrels" / "dev.tsv", "1\t3\t2\n")
    assert "query 1 is in test and at" in problems("beir", beir, tmp_path / "to")[0]


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


@pytest.mark.parametrize(("start", "warned"), {0: True, 1: False, 2: True}.items())
def test_numbers_that_start_at_0_here_and_at_1_there(beir, tmp_path, start, warned):
    write_rows(beir / "queries.jsonl", *({"_id": n, "text": f"disk {n}"} for n in range(1, 5)))
    put(beir / "qrels" / "test.tsv", "".join(f"{n}\td1\t1\n" for n in range(start, start + 4)))
    lines, _ = bring("beir", beir, tmp_path / "to", split="test")
    found = [line for line in lines if line.startswith("warning")]
    assert bool(found) == warned
    if warned:
        ends = f"query ids run from {start} to {start + 3} in the qrels and from 1 to 4 in the file"
        assert ends in found[0]
        assert "query ids in the qrels: 4, of them in the queries: 3" in lines


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
    assert (write.TRUNCATED in lines) == (most < 4)
    assert (write.TRUNCATED in (tmp_path / "to" / "README.md").read_text()) == (most < 4)


def test_a_limited_import_stops_reading(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write("broken, but beyond what is needed\n" * 3)
    put(beir / "qrels" / "test.tsv", "1\td1\t1\n")
    lines, evals = bring("beir", beir, tmp_path / "to", split="test", max_docs=2)
    assert list(evals.documents) == ["d1", "d2"] and write.TRUNCATED in lines


def test_folder_that_is_not_empty_is_refused_and_kept(beir, tmp_path):
    to = tmp_path / "to"
    put(to / "mine.txt", "mine")
    found = problems("beir", beir, to)
    assert found == [f"{to}: is not empty, wanted a new or an empty folder".replace(os.sep, "/")]
    assert (to / "mine.txt").read_text() == "mine"
    (to / "mine.txt").unlink()
    bring("beir", beir, to)


def test_card_holds_no_path_of_this_machine(mmarco, tmp_path):
    with (mmarco / "google" / "collections" / "english_collection.tsv").open("a") as file:
        file.write("9\t\n")
    bring("mmarco", f"{mmarco}@en", tmp_path / "to")
    card = (tmp_path / "to" / "README.md").read_text()
    assert "# mmarco@en (mmarco)" in card and "first mmarco/google" in card
    assert str(tmp_path) not in card


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
    assert "is not empty" in shown.err and f"1 problem in beir:{beir}" in shown.err
    monkeypatch.setattr(sys, "argv", ["helpers", "new", "--to", str(tmp_path / "new")])
    assert __main__.main() == 0 and "next steps" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["helpers", "audit"])
    assert __main__.main() == 1 and "no documents found" in capsys.readouterr().err


def test_import_says_what_it_needs(tmp_path):
    with pytest.raises(evalset.EvalSetError, match="--from is beir, wanted KIND:PATH"):
        write.import_command("beir", tmp_path / "to")


def test_new_set_loads_and_names_the_next_steps(tmp_path, capsys):
    assert write.new_command(tmp_path / "mine") == 0
    assert "next steps" in capsys.readouterr().out
    evals = evalset.load(tmp_path / "mine")
    assert len(evals.documents) == 2 and len(evals.queries) == 3
    assert all(j.evidence for j in evals.judgments if j.relevance)
    assert {q.split for q in evals.queries.values()} == {"dev", "test"}
    assert "session A" in (tmp_path / "mine" / "README.md").read_text()
    plain = [path.relative_to(write.NEW) for path in write.NEW.rglob("*") if path.is_file()]
    assert len(plain) == 6
    for name in plain:
        assert (tmp_path / "mine" / name).read_bytes() == (write.NEW / name).read_bytes()
    with pytest.raises(evalset.EvalSetError, match="is not empty"):
        write.new_command(tmp_path / "mine")


def command(monkeypatch, *words):
    """Run the import command as typed and return its status."""
    monkeypatch.setattr(sys, "argv", ["helpers", "import", *map(str, words)])
    return __main__.main()


def test_each_option_of_import_has_an_effect(beir, mmarco, tmp_path, monkeypatch):
    def imported(name, *words):
        assert command(monkeypatch, "--to", tmp_path / name, *words) == 0
        return evalset.load(tmp_path / name)

    source = ["--from", f"beir:{beir}"]
    assert list(imported("plain", *source).queries) == ["1", "2"]
    assert list(imported("split", *source, "--split", "dev").queries) == ["2"]
    assert len(imported("few", *source, "--max-docs", "3").documents) == 3
    assert imported("title", *source, "--title", "text").documents["d1"].title == "Delete logs."
    swapped = imported("text", *source, "--text", "title,text").documents["d1"]
    assert swapped.text == "Disk\n\nDelete logs."
    halved = imported("halve", *source, "--split", "test", "--halve")
    assert {q.split for q in halved.queries.values()} == {"dev"}  # of the one query of test
    language = ["--from", f"mmarco:{mmarco}@en", "--queries-language", "ja"]
    assert imported("language", *language).queries["1"].query == "風の音"
    card = (tmp_path / "text" / "README.md").read_text()
    assert (
        "--text title,text`" in card
        and "--title text`" in (tmp_path / "title/README.md").read_text()
    )


def test_a_field_that_no_document_has_is_named(beir, tmp_path):
    assert problems("beir", beir, tmp_path / "to", title="question") == [
        "corpus.jsonl:1: --title question: no such field here or in any other document, found _id, "
        "text, title"
    ]
    found = problems("beir", beir, tmp_path / "to", text="title,question,answer", max_docs=1)
    assert [problem.split(":")[2] for problem in found] == [" --text question", " --text answer"]
    assert "--title and --text belong to markdown, beir, trec, miracl, not to text" in str(
        problems("text", beir, tmp_path / "to", title="x")
    )
    assert "not to code" in str(problems("code", beir, tmp_path / "to", text="x"))


def test_documents_without_the_field_keep_what_they_have(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d5", "question": "Why?", "title": "Old", "text": "Because."}\n')
    lines, evals = bring("beir", beir, tmp_path / "to", title="question")
    assert evals.documents["d5"].title == "Why?" and evals.documents["d1"].title == "Disk"
    where = f"{beir / 'corpus.jsonl'}:1"
    assert f"left out: --title where a document has no question: 4, first {where}" in lines


@pytest.mark.parametrize(("size", "warned"), {99: False, 100: False, 101: True}.items())
def test_a_document_with_most_of_the_text_is_warned_of(tmp_path, size, warned):
    for name, length in (("big", size), ("one", 50), ("two", 50)):
        put(tmp_path / "tree" / f"{name}.txt", "x" * (length - 3))  # and the name as title
    lines, _ = bring("text", tmp_path / "tree", tmp_path / "to")
    found = [line for line in lines if line.startswith("warning")]
    assert bool(found) == warned
    if warned:
        assert found[0].startswith("warning: big holds 50% of all characters; documents are what")
        assert "split it by chapter or heading into files of their own" in found[0]
        assert found[0] in (tmp_path / "to" / "README.md").read_text()
