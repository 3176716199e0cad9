"""The checks on what a reader yields, the folder that is written, and the commands."""

import json
import os
import sys

import killed
import pytest
from importing import beir_folder, bring, options, problems, put, task

from helpers import __main__, evalset
from helpers.labels import manifest
from helpers.sources import readers, write


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


GRADES = {  # labels: (grades, those that the set allows)
    "1\td1\t1\n": ({"d1": 1}, 3),
    "1\td1\t1.0\n": ({"d1": 1}, 3),
    "1\td1\t1\n1\td2\t-1\n": ({"d1": 1, "d2": 0}, 3),
    "1\td1\t4\n1\td2\t3\n": ({"d1": 4, "d2": 3}, 5),
}


def test_grades(beir, tmp_path):
    for number, (labels, (grades, allowed)) in enumerate(GRADES.items()):
        put(beir / "qrels" / "test.tsv", labels)
        lines, evals = bring("beir", beir, tmp_path / str(number), split="test")
        assert evals.qrels() == {"1": grades} and evals.grades == tuple(range(allowed))
        assert ("highest_grade: 4, in settings.json" in lines) == (allowed == 5)
        settings = json.loads((tmp_path / str(number) / "settings.json").read_text())
        wanted = {"highest_grade": 4} if allowed == 5 else {}
        assert settings == {**wanted, "imported": "beir"}
        assert ("changed: grades below 0, which became 0: 1" in lines) == ("-1" in labels)
    told = json.loads(manifest.write_manifest(evals, {}).read_text())
    assert told["counts"]["judgments"]["4"] == 1 and "settings.json" in told["files"]


NOTHING_FITS = [  # file, its content, start of the problem
    (
        "qrels/test.tsv",
        "91\td1\t1\n92\td1\t1\n",
        "query ids in the qrels: 2, of them in the queries: 0; the qrels have 91 and the like, the "
        "queries 1, wanted qrels of the same split and ids written the same way, with the same "
        "leading zeros; splits found: dev, test",
    ),
    ("qrels/test.tsv", "1\tx1\t1\n", "document ids in the qrels: 1, of them in the corpus: 0; the"),
    (
        "qrels/test.tsv",
        "1\td1\t0\n",
        "beir:{}: no query has a relevant document in the corpus: query ids in the qrels: 1, of "
        "them in the queries: 1; document ids in the qrels: 1, of them in the corpus: 1; left out: "
        "judged queries without a relevant document: 1, first qrels/test.tsv:1; left out: ",
    ),
    ("corpus.jsonl", "", "beir:{}: no documents with a text found"),
]


def test_a_source_of_which_nothing_fits_is_told(beir, tmp_path):
    for file, content, wanted in NOTHING_FITS:
        former = (beir / file).read_bytes()
        put(beir / file, content)
        (told,) = problems("beir", beir, tmp_path / "to", split="test")
        assert told.startswith(wanted.format(beir)), told
        put(beir / file, former)


def test_what_has_no_use_is_left_out_and_counted(beir, tmp_path):
    for file, more in (
        ("corpus.jsonl", '{"_id": "d5", "title": "", "text": " "}\n'),
        ("queries.jsonl", '{"_id": "4", "text": ""}\n{"_id": "5", "text": "only a zero"}\n'),
        ("qrels/test.tsv", "1\td1\t2\n1\td5\t1\n1\tgone\t1\n1\tgone0\t0\n4\td1\t1\n5\td1\t0\n"),
    ):
        with (beir / file).open("a") as opened:
            opened.write(more)
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


WRONG = [  # kind, options, the problems
    (
        "pdf",
        {},
        "--from pdf: is unknown, wanted KIND:PATH of markdown, text, code, hotpotqa, beir, trec, "
        "table, ir_datasets",
    ),
    ("trec", {"queries": "x"}, "--queries belongs to table, ir_datasets, not to trec"),
    ("beir", {"labels": "x"}, "--labels belongs to table, not to beir"),
    (
        "text",
        {"split": "dev", "max_docs": -1, "language": "japanese"},
        "--split belongs to hotpotqa, beir, trec, table, ir_datasets, not to text",
        "--max-docs is -1, wanted a number from 1",
        "--language is japanese, wanted a code of ISO 639, such as ja",
    ),
    ("code", {"title": "a"}, "--title belongs to markdown, beir, trec, table, not to code"),
    ("markdown", {"columns": "a=b"}, "--columns belongs to beir, trec, table, not to markdown"),
]


def test_options_that_do_not_fit_are_told(tmp_path):
    for kind, more, *wanted in WRONG:
        assert problems(kind, tmp_path / "no", tmp_path / "to", **more) == wanted, kind
    for more in ({"title": "a", "text": "a", "columns": "a=b"}, {"max_docs": 1, "split": "dev"}):
        (told,) = problems("beir", tmp_path / "no", tmp_path / "to", **more)
        assert "is not there, wanted a file or a folder of tables" in told, more


# What is written.


def source(documents=(), **more):
    return readers.Source([(f"f:{n}", row) for n, row in enumerate(documents, 1)], **more)


def row(doc_id, text="text", title=""):
    return {"doc_id": doc_id, "title": title, "text": text}


def label(doc_id, grade=1, evidence=()):
    return readers.Label("f:1", "test", "q", doc_id, grade, evidence)


LIMITS = [  # most, the documents that stay, how many are read, whether some are left out
    (None, "abzyrc", 6, False),
    (6, "abzyrc", 6, False),
    (5, "azyrb", 5, True),
    (4, "azyr", 5, True),
    (3, "zyr", 5, True),
    (2, "zr", 5, True),
    (1, "r", 5, True),
]


def test_a_limit_keeps_relevant_ones_then_zeros_then_the_first(tmp_path):
    qrels = {"q": {"r": label("r"), "z": label("z", 0), "y": label("y", 0)}}
    for most, stay, read, cut in LIMITS:
        documents = source([*map(row, "abzyrc")])
        held, seen, truncated = write.write_corpus(tmp_path, documents, qrels, task(max_docs=most))
        assert (held, len(seen), truncated) == ({*stay}, read, cut), most
        lines = (tmp_path / "corpus.jsonl").read_text().splitlines()
        assert [json.loads(line)["doc_id"] for line in lines] == [d for d in "abzyrc" if d in held]


def test_a_limited_import_says_so_and_stops_reading(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write("broken, but beyond what is needed\n" * 3)
    put(beir / "qrels" / "test.tsv", "1\td1\t1\n")
    lines, evals = bring("beir", beir, tmp_path / "to", split="test", max_docs=2)
    assert list(evals.documents) == ["d1", "d2"] and write.TRUNCATED in lines
    assert write.TRUNCATED in (tmp_path / "to" / "README.md").read_text()


CARD = """# {0} ({1})

Imported with `--from {1}:{0}{2}`. The heading is the name under which results are shown: change \
it to your own. Where documents, queries and labels are other people's, see the source for authors \
and licence before you pass them on.

{3}

## What was found

- documents: 2
- left out: links: 1, first {4}
"""
PATHS = "An id is the path in the source, with : for each / and without the ending."
ENCODED = "Ids are the source's, with spaces, slashes, # and % percent-encoded."


def test_the_card_word_for_word_and_without_paths_of_this_machine(tmp_path, monkeypatch):
    folder = tmp_path / "faq"
    folder.mkdir()
    monkeypatch.chdir(folder)
    more = {"split": "dev", "max_docs": 3, "title": "t", "text": "a,b", "halve": True}
    said = " --split dev --max-docs 3 --title t --text a,b --queries q --language ja --halve"
    more |= {"queries": str(folder / "q"), "language": "ja"}
    far, place = options("ir_datasets", "a/test", queries="b/c"), f"{folder}/a.md"
    for asked, wanted in (
        (options("markdown", folder), ("faq", "markdown", "", PATHS, "faq/a.md")),
        (options("table", folder, **more), ("faq", "table", said, ENCODED, "faq/a.md")),
        (options("beir", "."), ("faq", "beir", "", ENCODED, place)),
        (far, ("a/test", "ir_datasets", " --queries b/c", ENCODED, place)),
    ):
        lines = ["documents: 2", f"left out: links: 1, first {place}"]
        assert write.data_card(asked, lines) == CARD.format(*wanted)


# The folder.


def test_a_folder_that_is_not_empty_is_refused_and_kept(beir, tmp_path):
    to = tmp_path / "a" / "b" / "to"
    put(to / "mine.txt", "mine")
    told = [f"{to}: is not empty, wanted a new or an empty folder".replace(os.sep, "/")]
    assert problems("beir", beir, to) == told and (to / "mine.txt").read_text() == "mine"
    (to / "mine.txt").unlink()
    bring("beir", beir, to)
    assert [path.name for path in to.parent.iterdir()] == ["to"]
    file = put(tmp_path / "file", "mine")
    assert problems("beir", beir, file)[0].endswith("is not empty, wanted a new or an empty folder")


def test_a_folder_that_is_filled_is_loaded_before_it_gets_its_name(tmp_path):
    to = tmp_path / "a" / "to"
    with (
        pytest.raises(evalset.EvalSetError, match=r"corpus.jsonl:1: broken JSON"),
        write.new_set(to) as folder,
    ):
        put(folder / "corpus.jsonl", "{\n")
        assert not to.exists()
    assert not list(tmp_path.iterdir())  # nor a folder above it


def test_the_folder_one_stands_in_can_be_filled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with write.new_set(tmp_path.relative_to(tmp_path)) as folder:
        put(folder / "corpus.jsonl", json.dumps(row("a")))
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_an_import_that_is_killed_leaves_all_or_nothing(beir, tmp_path):
    code = (
        "from helpers.sources import readers, write\n"
        "write.import_into(readers.Options('beir', sys.argv[2]), Path(sys.argv[3]))"
    )
    whole = 0
    for step in range(0, 40, 2):
        to = tmp_path / str(step) / "to"
        died = killed.at(step, code, beir, to)
        if to.exists():
            assert len(evalset.load(to).queries) == 2
            whole += 1
        if not died:
            break
    assert step > 2 and whole and not died


# The commands.


def command(monkeypatch, *words):
    """Run a command as typed and return its status."""
    monkeypatch.setattr(sys, "argv", ["helpers", *map(str, words)])
    return __main__.main()


def test_import_needs_no_evaluation_set_and_says_what_comes_next(
    beir, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("EVALS", str(tmp_path / "nowhere"))
    to = tmp_path / "to"
    words = ["import", "--from", f"beir:{beir}", "--to", to]
    assert command(monkeypatch, *words) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == f"{to} is an evaluation set; next: make report EVALS={to}"
    found = (to / "README.md").read_text().partition("## What was found\n\n")[2].splitlines()
    assert [f"- {line}".replace(str(beir), "small") for line in printed[:-1]] == found
    assert command(monkeypatch, *words) == 1
    shown = capsys.readouterr().err
    assert "is not empty" in shown and f"1 problem in beir:{beir}" in shown
    put(tmp_path / "tree" / "a.md", "Text.\n")
    own = tmp_path / "own"
    assert command(monkeypatch, "import", "--from", f"markdown:{tmp_path}/tree", "--to", own) == 0
    following = evalset.load(own).next_step()
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{own} is an evaluation set; next: {following}" and following
    assert not (own / "settings.json").exists()
    for source in ("beir", "beir:"):
        assert command(monkeypatch, "import", "--from", source, "--to", to) == 1
        kinds = ", ".join(write.READERS)
        wanted = f"--from is {source}, wanted KIND:PATH with a kind of: {kinds}\n"
        assert wanted in capsys.readouterr().err


def test_documents_without_the_field_keep_what_they_have(beir, tmp_path):
    more = {"_id": "d5", "question": "Why?", "title": "Old", "text": "Because."}
    with (beir / "corpus.jsonl").open("a") as file:
        file.write(json.dumps(more) + "\n")
    _, evals = bring("beir", beir, tmp_path / "text", text="title,text")
    assert evals.documents["d1"].text == "Disk\n\nDelete logs."
    _, evals = bring("beir", beir, tmp_path / "both", title="question,title")
    assert evals.documents["d5"].title == "Why?" and evals.documents["3"].text == "Only a title"
    lines, evals = bring("beir", beir, tmp_path / "to", title="question")
    assert evals.documents["d5"].title == "Why?" and evals.documents["d1"].title == "Disk"
    where = f"{beir / 'corpus.jsonl'}:1"
    assert f"left out: --title where a document has no question: 4, first {where}" in lines
    told = problems("beir", beir, tmp_path / "no", text="title,hint,answer", max_docs=1)
    assert [problem.split(" in ")[0] for problem in told] == [
        "corpus.jsonl:1: no --text hint",
        "corpus.jsonl:1: no --text answer",
    ]


def test_a_new_set_loads_and_names_the_next_steps(tmp_path, capsys):
    to = tmp_path / "mine"
    assert write.new_command(to) == 0
    plain = sorted(path.relative_to(write.NEW) for path in write.NEW.rglob("*") if path.is_file())
    names = ", ".join(path.as_posix() for path in plain)
    assert capsys.readouterr().out == f"{to} holds {names}\nnext steps: {to / 'README.md'}\n"
    evals = evalset.load(to)
    assert len(evals.documents) == 2 and len(evals.queries) == 3 and len(plain) == 6
    assert all(j.evidence for j in evals.judgments if j.relevance)
    assert {q.split for q in evals.queries.values()} == {"dev", "test"}
    assert "session A" in (to / "README.md").read_text()
    for name in plain:
        assert (to / name).read_bytes() == (write.NEW / name).read_bytes()
    with pytest.raises(evalset.EvalSetError, match="is not empty"):
        write.new_command(to)
