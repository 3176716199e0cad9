"""The checks on what a reader yields, the folder that is written, and the commands."""

import json
import os
import sys
from pathlib import Path

import killed
import pytest
from conftest import write_rows
from importing import beir_folder, bring, mmarco_folder, problems, put, refusal

from helpers import __main__, evalset, files
from helpers.labels import manifest
from helpers.sources import readers, write


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


# Word for word.


def asked(kind="markdown", path="p", **options):
    return readers.Asked(kind, str(path), **options)


def label(doc_id, grade=1, split="test", evidence=()):
    return readers.Label("f:1", split, "q", doc_id, grade, evidence)


def test_the_kinds_of_a_source_in_their_order():
    assert [*write.READERS] == (
        "markdown text code hotpotqa beir trec miracl mmarco ir_datasets".split()
    )
    assert write.TREES == ("markdown", "text", "code")


@pytest.mark.parametrize(
    ("kind", "options", "problem"),
    [
        (
            "pdf",
            {},
            "--from pdf: is unknown, wanted KIND:PATH of markdown, text, code, hotpotqa, beir, "
            "trec, miracl, mmarco, ir_datasets",
        ),
        ("trec", {"queries_language": "de"}, "--queries-language belongs to mmarco, not to trec"),
        ("text", {"split": "dev"}, "--split: text has no splits to choose from"),
        ("code", {"split": "dev"}, "--split: code has no splits to choose from"),
        (
            "mmarco",
            {"title": "a"},
            "--title and --text belong to markdown, beir, trec, miracl, not to mmarco",
        ),
        ("trec", {"max_docs": -1}, "--max-docs is -1, wanted a number from 1"),
    ],
)
def test_options_that_do_not_fit_are_told(tmp_path, kind, options, problem):
    assert problems(kind, tmp_path / "no", tmp_path / "to", **options) == [problem]


@pytest.mark.parametrize(
    "options", [{"title": "a"}, {"text": "a"}, {"max_docs": 1}, {"split": "dev"}]
)
def test_options_that_fit_lead_to_the_reader(tmp_path, options):
    (found,) = problems("beir", tmp_path / "no", tmp_path / "to", **options)
    assert "is no folder, wanted a folder for beir:" in found


def test_a_folder_is_made_with_those_above_it_and_a_file_is_none(beir, tmp_path):
    bring("beir", beir, tmp_path / "a" / "b" / "to")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["to"]
    to = put(tmp_path / "file", "mine")
    assert problems("beir", beir, to)[0].endswith("is not empty, wanted a new or an empty folder")


def test_a_folder_that_is_filled_is_loaded_before_it_gets_its_name(tmp_path):
    seen = []

    def fill(folder):
        seen.append(folder)
        put(folder / "corpus.jsonl", "{\n")

    with pytest.raises(evalset.EvalSetError, match=r"corpus.jsonl:1: broken JSON"):
        write.publish(tmp_path / "to", fill)
    (part,) = seen
    assert part.parent == tmp_path and part.name.startswith("to.") and part.suffix == ".part"
    assert not list(tmp_path.iterdir())


def test_an_import_that_is_killed_leaves_nothing_after_the_next_start(beir, tmp_path):
    """Killed once while it writes and once when all is written."""
    code = (
        "from helpers.sources import readers, write\n"
        "write.import_into(readers.Asked('beir', sys.argv[2]), Path(sys.argv[3]))"
    )
    for step, done in ((2, []), (13, ["to"])):
        house = tmp_path / str(step)
        assert killed.at(step, code, beir, house / "to")
        assert [path.suffix for path in house.iterdir()].count(".part")
        files.settle(house)
        assert [path.name for path in house.iterdir()] == done


def test_an_import_that_fails_leaves_no_folder_above_it(tmp_path):
    put(tmp_path / "tree" / "a.txt", " \n")
    with pytest.raises(evalset.EvalSetError):
        write.import_into(
            readers.Asked("text", str(tmp_path / "tree")), tmp_path / "x" / "y" / "to"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]


def test_documents_without_text_are_no_corpus(tmp_path):
    tree = tmp_path / "tree"
    put(tree / "a.txt", " \n")
    assert problems("text", tree, tmp_path / "to") == [
        f"text:{tree}: no documents with a text found"
    ]


def test_no_relevant_document_is_told_with_what_was_found(beir, tmp_path):
    put(beir / "qrels" / "test.tsv", "1\td1\t0\n")
    assert problems("beir", beir, tmp_path / "to", split="test") == [
        f"beir:{beir}: no query has a relevant document in the corpus: query ids in the qrels: 1, "
        "of them in the queries: 1; document ids in the qrels: 1, of them in the corpus: 1; left "
        "out: judged queries without a relevant document: 1, first qrels/test.tsv:1; left out: "
        "queries without judgments: 2, first query 2; changed: documents with a title only, which "
        "became their text: 1"
    ]


@pytest.mark.parametrize(("most", "warned"), [(None, True), (9, True), (2, False)])
def test_numberings_are_compared_where_every_document_was_seen(beir, tmp_path, most, warned):
    write_rows(beir / "corpus.jsonl", *({"_id": n, "text": f"x{n} " * 9} for n in range(1, 5)))
    put(beir / "qrels" / "test.tsv", "".join(f"1\t{n}\t1\n" for n in (0, 1, 3)))
    lines, _ = bring("beir", beir, tmp_path / "to", split="test", max_docs=most)
    assert "document ids in the qrels: 3, of them in the corpus: 2" in lines
    warning = "warning: document ids run from 0 to 3 in the qrels and from 1 to 4 in the file"
    assert any(line.startswith(warning) for line in lines) == warned


def source(documents=(), **more):
    return readers.Source([(f"f:{n}", row) for n, row in enumerate(documents, 1)], **more)


def row(doc_id, text="text", title=""):
    return {"doc_id": doc_id, "title": title, "text": text}


def test_queries_are_read_once_and_with_a_text():
    rows = [{"query_id": q, "query": text} for q, text in (("1", "a"), ("2", ""), ("1", "b"))]
    log = readers.Log()
    found = write.read_queries(
        readers.Source([], [(f"f:{n}", q) for n, q in enumerate(rows, 1)]), log
    )
    assert found == {"1": rows[0]} and log.left == {"queries without text": (1, "f:2")}
    assert log.problems == ["f:3: query_id 1 stands already at f:1, wanted each once"]


QRELS = {"q": {"r": label("r"), "z": label("z", 0), "y": label("y", 0)}}


@pytest.mark.parametrize(
    ("most", "held", "seen", "cut"),
    [
        (None, "abzyrc", 6, False),
        (6, "abzyrc", 6, False),
        (5, "azyrb", 5, True),
        (4, "azyr", 5, True),
        (3, "zyr", 5, True),
        (2, "zr", 5, True),
        (1, "r", 5, True),
    ],
)
def test_a_limit_keeps_relevant_ones_then_zeros_then_the_first(tmp_path, most, held, seen, cut):
    found = write.write_corpus(tmp_path, source([*map(row, "abzyrc")]), QRELS, most, readers.Log())
    assert found[0] == {*held} and (len(found[1]), found[2]) == (seen, cut)
    lines = (tmp_path / "corpus.jsonl").read_text().splitlines()
    assert [json.loads(line)["doc_id"] for line in lines] == [d for d in "abzyrc" if d in held]


def test_a_corpus_is_written_as_it_is_read(tmp_path):
    log = readers.Log()
    rows = [row("a", "é\n"), row("b", " "), row("a", "again"), row("c", "x", "T")]
    held, seen, cut = write.write_corpus(tmp_path, source(rows), {}, None, log)
    assert (held, cut) == ({"a", "c"}, False) and seen == {"a": "f:1", "b": "f:2", "c": "f:4"}
    page = (tmp_path / "corpus.jsonl").read_text(encoding="utf-8")
    assert page.split("\n") == [
        '{"doc_id": "a", "title": "", "text": "é\\n"}',
        '{"doc_id": "c", "title": "T", "text": "x"}',
        "",
    ]
    assert log.left == {"documents without text": (1, "f:2")} and not log.said
    assert log.problems == ["f:3: doc_id a stands already at f:1, wanted each once"]


def test_the_largest_document_is_named_with_its_share(tmp_path):
    log = readers.Log()
    rows = [row("a", "x" * 10), row("b", "x" * 20, "T" * 40), row("c", "x" * 30)]
    write.write_corpus(tmp_path, source(rows), {}, None, log)
    assert log.said == [
        "warning: b holds 60% of all characters; documents are what is found and measured: split "
        "it by chapter or heading into files of their own and import again"
    ]


def test_labels_are_written_with_their_halves_and_evidence(tmp_path):
    kept = {
        "q": {"b": label("b", 2, evidence=("words",)), "z": label("z", 0), "a": label("a", 1)},
        "p": {"a": label("a", 1)},
    }
    queries = {q: {"query_id": q, "query": f"about {q}", "kind": "k"} for q in "pqx"}
    write.write_labels(tmp_path, queries, kept, {"q": "test", "p": "dev"})
    found = {path.name: path.read_text().splitlines() for path in tmp_path.iterdir()}
    assert {name: [*map(json.loads, lines)] for name, lines in found.items()} == {
        "retrieval_queries.jsonl": [
            {**queries["q"], "relevant_doc_ids": ["b", "a"], "split": "test"},
            {**queries["p"], "relevant_doc_ids": ["a"], "split": "dev"},
        ],
        "judgments.jsonl": [
            {"query_id": "q", "doc_id": "b", "relevance": 2, "evidence": ["words"]},
            {"query_id": "q", "doc_id": "z", "relevance": 0},
            {"query_id": "q", "doc_id": "a", "relevance": 1},
            {"query_id": "p", "doc_id": "a", "relevance": 1},
        ],
    }


@pytest.mark.parametrize(
    ("words", "highest", "settings", "told"),
    [
        ("words", 2, {"imported": "beir"}, []),
        ("words", 3, {"highest_grade": 3, "imported": "beir"}, ["highest_grade: 3"]),
        ("bigrams", 1, {"words": "bigrams", "imported": "beir"}, ["words: bigrams"]),
        ("bigrams", None, {"words": "bigrams"}, ["words: bigrams"]),
        ("words", None, None, []),
    ],
)
def test_settings_say_what_must_be_said(tmp_path, words, highest, settings, told):
    kept = {"q": {"a": label("a", 1), "d": label("d", highest)}} if highest else {}
    found = write.write_settings(tmp_path, asked("beir"), source(words=words), kept)
    assert found == [f"{line}, in settings.json" for line in told]
    path = tmp_path / "settings.json"
    assert (path.read_text() if path.exists() else None) == (
        json.dumps(settings) + "\n" if settings else None
    )


def test_counts_by_half_and_grade():
    kept = {"q": {"a": label("a", 2), "b": label("b", 0)}, "p": {"a": label("a", 2)}}
    assert write.counts({"a", "b", "c"}, kept, {"q": "test", "p": "dev"}) == [
        "documents: 3",
        "queries: 2 (1 dev, 1 test)",
        "judgments: 3 (1 of grade 0, 2 of grade 2)",
    ]
    assert write.counts(set(), {}, {}) == ["documents: 0", "queries: 0", "judgments: 0"]


def card(name, kind, said, ids, found):
    return (
        f"# {name} ({kind})\n\nImported with `--from {kind}:{name}{said}`. The heading is the name "
        "under which results are shown: change it to your own. Where documents, queries and labels "
        "are other people's, see the source for authors and licence before you pass them on.\n\n"
        f"{ids}\n\n## What was found\n\n{found}\n"
    )


PATHS = "An id is the path in the source, with : for each / and without the ending."
ENCODED = "Ids are the source's, with spaces, slashes, # and % percent-encoded."


def test_the_card_word_for_word(tmp_path):
    folder = tmp_path / "faq"
    folder.mkdir()
    lines = ["documents: 2", f"left out: links: 1, first {folder}/a.md"]
    found = "- documents: 2\n- left out: links: 1, first faq/a.md"
    assert write.data_card(asked("markdown", folder), lines) == card(
        "faq", "markdown", "", PATHS, found
    )
    options = {"split": "dev", "max_docs": 3, "queries_language": "ja", "halve": True}
    said = " --split dev --max-docs 3 --queries-language ja --title t --text a,b --halve"
    wanted = asked("mmarco", f"{folder}@en", title="t", text="a,b", **options)
    assert write.data_card(wanted, lines) == card("faq@en", "mmarco", said, ENCODED, found)
    named = asked("ir_datasets", "beir/scifact/test")
    assert write.data_card(named, ["a"]) == card(
        "beir/scifact/test", "ir_datasets", "", ENCODED, "- a"
    )


def test_a_card_from_a_relative_path_names_the_folder(tmp_path, monkeypatch):
    folder = tmp_path / "faq"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert write.data_card(asked("beir", "."), ["a.b"]) == card("faq", "beir", "", ENCODED, "- a.b")
    odd = tmp_path / "a@b"
    odd.mkdir()
    found = write.data_card(asked("beir", odd), [f"first {odd}/c"])
    assert found == card("a@b", "beir", "", ENCODED, "- first a@b/c")


def test_the_commands_print_what_was_found_and_what_comes_next(beir, tmp_path, capsys):
    to = tmp_path / "to"
    assert write.import_command(f"beir:{beir}", to, split="dev,test") == 0
    card = (to / "README.md").read_text()
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == f"{to} is an evaluation set; next: make report EVALS={to}"
    assert [f"- {line}".replace(str(beir), "small") for line in printed[:-1]] == (
        card.partition("## What was found\n\n")[2].splitlines()
    )
    put(tmp_path / "tree" / "a.md", "Text.\n")
    write.import_command(f"markdown:{tmp_path / 'tree'}", tmp_path / "own")
    last = capsys.readouterr().out.splitlines()[-1]
    following = evalset.load(tmp_path / "own").next_step()
    assert last == f"{tmp_path / 'own'} is an evaluation set; next: {following}" and following
    with pytest.raises(evalset.EvalSetError) as caught:
        write.import_command("beir:", to)
    kinds = ", ".join(write.READERS)
    assert caught.value.problems == [f"--from is beir:, wanted KIND:PATH with a kind of: {kinds}"]


def test_the_new_command_lists_its_files(tmp_path, capsys):
    to = tmp_path / "mine"
    write.new_command(to)
    held = sorted(p.relative_to(write.NEW).as_posix() for p in write.NEW.rglob("*") if p.is_file())
    assert capsys.readouterr().out == (
        f"{to} holds {', '.join(held)}\nnext steps: {to / 'README.md'}\n"
    )


def test_without_labels_there_is_a_guide_to_make_them(tmp_path):
    write.write_labels(tmp_path, {}, {}, {})
    (guide,) = tmp_path.iterdir()
    assert guide.name == "labeling_guide.md"
    assert guide.read_bytes() == (write.NEW / "labeling_guide.md").read_bytes()


def test_the_folder_one_stands_in_can_be_filled(tmp_path, monkeypatch):
    here = tmp_path / "set"
    here.mkdir()
    monkeypatch.chdir(here)
    write.publish(Path("."), lambda folder: put(folder / "corpus.jsonl", json.dumps(row("a"))))
    assert [path.name for path in here.iterdir()] == ["corpus.jsonl"]


def test_a_folder_that_is_refused_is_settled_first(tmp_path):
    stamp = f"{files._host()}-999999999-0badcafe"  # of a process that nobody can be
    (tmp_path / f"all.{stamp}.whole").write_text("")
    write.new_command(tmp_path / "out")
    (tmp_path / f"all.{stamp}.whole").write_text("")
    with pytest.raises(evalset.EvalSetError, match="out: is not empty"):
        write.new_command(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
