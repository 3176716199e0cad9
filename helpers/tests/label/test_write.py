"""The checks on what a reader yields, the folder that is written, and the commands."""

import json
import sys

import pytest
from importing import beir_folder, bring, options, problems, put, task

from helpers import __main__
from helpers.label import readers, write
from helpers.measure import evalset


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


@pytest.mark.parametrize(
    ("labels", "grades", "settings"),
    [
        ("1\td1\t1.0\n1\td2\t-1\n", {"d1": 1, "d2": 0}, {}),
        ("1\td1\t4\n1\td2\t3\n", {"d1": 4, "d2": 3}, {"highest_grade": 4}),
    ],
)
def test_grades(beir, tmp_path, labels, grades, settings):
    put(beir / "qrels" / "test.tsv", labels)
    lines, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert evals.qrels() == {"1": grades}
    assert ("highest_grade: 4, in settings.json" in lines) == bool(settings)
    written = json.loads((tmp_path / "to" / "settings.json").read_text())
    assert written == settings | {"imported": "beir"}


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
    left = [line.replace(f"{beir}/", "") for line in lines if line.startswith("left out: ")]
    assert left == [
        "left out: queries without text: 1, first queries.jsonl:4",
        "left out: pairs judged twice with one grade: 1, first qrels/test.tsv:5",
        "left out: documents without text: 1, first corpus.jsonl:5",
        "left out: labels of documents that are not there: 3, first qrels/test.tsv:6",
        "left out: judged queries without a text: 1, first qrels/test.tsv:9",
        "left out: judged queries without a relevant document: 1, first qrels/test.tsv:10",
        "left out: queries without judgments: 1, first query 3",
    ]


WRONG = [  # kind, options, words of each problem
    (
        "pdf",
        {},
        "found pdf:p, wanted KIND:PATH with a kind of: markdown, html, rst, text",
    ),
    ("trec", {"queries": "x"}, "--queries is not for trec"),
    ("beir", {"labels": "x"}, "--labels is not for beir"),
    ("code", {"split": "dev", "language": "japanese"}, "--split is not for code")
    + ("--language is japanese, wanted a code",),
    ("text", {"language": "x"}, "--language is x"),
    ("code", {"title": "a", "text": "b"}, "--title is not for code", "--text is not for code"),
    ("markdown", {"queries": "a", "sample": 1}),
    ("table", {"sample": 1, "queries": "a"}, "--sample is not for table"),
    ("beir", {"title": "a", "text": "a", "columns": "a=b", "split": "x"}),
    ("table", {"max_docs": 1, "queries": "a", "labels": "b", "language": "ja"}),
    ("ir_datasets", {"queries": "a", "split": "b", "halve": True}),
]


def test_options_that_do_not_fit_are_told():
    for kind, more, *wanted in WRONG:
        found = write.wrong_options(options(kind, "p", **more))
        assert len(found) == len(wanted), (kind, found)
        assert all(words in line for words, line in zip(wanted, found, strict=True)), found


JUDGED = {"r": 1, "z": 0, "y": 0}
LIMITS = [  # most, the documents that stay, those that nobody looked at, whether some are left out
    (None, "abzyrcd", 0, False),
    (7, "abzyrcd", 0, False),
    (6, "abzyrc", 0, True),
    (5, "abzyr", 1, True),
    (4, "azyr", 1, True),
    (3, "zyr", 1, True),
    (1, "zyr", 1, True),
]


def test_a_limit_keeps_the_judged_ones_then_the_first(tmp_path):
    labels = {
        name: readers.Label("f:1", "test", "q", name, grade) for name, grade in JUDGED.items()
    }
    for most, stay, unread, cut in LIMITS:
        rows = [{"doc_id": name, "title": "", "text": "text"} for name in "abzyrcd"]
        left = iter([(f"f:{n}", row) for n, row in enumerate(rows)])
        own = task(max_docs=most)
        found = write.write_corpus(tmp_path, readers.Source(left), {"q": labels}, own)
        assert found == ({*stay}, cut) and len([*left]) == unread, most
        lines = (tmp_path / "corpus.jsonl").read_text().splitlines()
        assert "".join(json.loads(line)["doc_id"] for line in lines) == stay


def test_a_limited_import_says_so_and_stops_reading(beir, tmp_path):
    with (beir / "corpus.jsonl").open("a") as file:
        file.write("broken, but beyond what is needed\n")
    put(beir / "qrels" / "test.tsv", "1\td1\t1\n")
    lines, evals = bring("beir", beir, tmp_path / "to", split="test", max_docs=2)
    assert list(evals.documents) == ["d1", "d2"] and write.TRUNCATED in lines


def test_the_card_names_the_source_without_paths_of_this_machine(tmp_path, monkeypatch):
    folder = tmp_path / "faq"
    folder.mkdir()
    monkeypatch.chdir(folder)
    more = {"split": "dev", "max_docs": 3, "title": "t", "text": "a,b", "halve": True}
    more |= {"queries": str(folder / "q"), "language": "ja"}
    words = " --split dev --max-docs 3 --title t --text a,b --queries q --language ja --halve"
    far, place = options("ir_datasets", "a/test", queries="b/c"), f"{folder}/a.md"
    for given, named, first in (
        (options("markdown", folder), "markdown:faq", "faq/a.md"),
        (options("table", folder, **more), f"table:faq{words}", "faq/a.md"),
        (options("beir", "."), "beir:faq", place),
        (far, "ir_datasets:a/test --queries b/c", place),
    ):
        card = write.data_card(given, ["documents: 2", f"left out: links: 1, first {place}"])
        name = named.partition(":")[2].partition(" ")[0]
        assert card.startswith(f"# {name} ({given.kind})\n\nImported with `--from {named}`.")
        assert card.endswith(f"\n\n- documents: 2\n- left out: links: 1, first {first}\n")


def test_a_folder_that_is_not_empty_is_refused_and_kept(beir, tmp_path):
    to = tmp_path / "a" / "b" / "to"
    mine, file = put(to / "mine.txt", "mine"), put(tmp_path / "file", "mine")
    for folder in (to, file):
        (problem,) = problems("beir", beir, folder)
        assert problem.endswith("is not empty, wanted a new or an empty folder")
    mine.unlink()
    bring("beir", beir, to)
    assert [path.name for path in to.parent.iterdir()] == ["to"]


def test_a_folder_that_is_filled_is_loaded_before_it_gets_its_name(tmp_path, monkeypatch):
    to = tmp_path / "a" / "to"
    with pytest.raises(evalset.EvalSetError, match="broken JSON"), write.new_set(to) as folder:
        put(folder / "corpus.jsonl", "{\n")
        assert not to.exists()
    assert not list(tmp_path.iterdir())  # nor a folder above it
    monkeypatch.chdir(tmp_path)  # which can be filled, too
    with write.new_set(tmp_path.relative_to(tmp_path)) as folder:
        put(folder / "corpus.jsonl", '{"doc_id": "a", "title": "", "text": "b"}')
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def command(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["helpers", *map(str, words)])
    return __main__.main()


def test_import_needs_no_set_and_says_what_comes_next(beir, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EVALS", str(tmp_path / "nowhere"))
    to, own = tmp_path / "to", tmp_path / "own"
    words = ["import", "--from", f"beir:{beir}", "--to", to]
    assert command(monkeypatch, *words) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == f"{to} is an evaluation set; next: make report EVALS={to}"
    found = (to / "README.md").read_text().partition("## What was found\n\n")[2].splitlines()
    assert [f"- {line}".replace(str(beir), "small") for line in printed[:-1]] == found
    assert command(monkeypatch, *words) == 1
    assert "\n1 problem\n" in capsys.readouterr().err
    put(tmp_path / "tree" / "a.md", "Text.\n")
    assert command(monkeypatch, "import", "--from", f"markdown:{tmp_path}/tree", "--to", own) == 0
    following = evalset.load(own).next_step()
    assert following and capsys.readouterr().out.endswith(f"evaluation set; next: {following}\n")
    assert not (own / "settings.json").exists()
    for source in ("beir", "beir:"):
        assert command(monkeypatch, "import", "--from", source, "--to", to) == 1
        assert "found beir:, wanted KIND:PATH with a kind of: mark" in capsys.readouterr().err


def test_a_new_set_loads_and_names_the_next_steps(tmp_path):
    to = tmp_path / "mine"
    told = write.new_command(to)
    pages = sorted(path for path in write.NEW.rglob("*") if path.is_file())
    names = [path.relative_to(write.NEW).as_posix() for path in pages]
    assert told == f"{to} holds {', '.join(names)}\nnext steps: {to / 'README.md'}"
    assert [(to / name).read_bytes() for name in names] == [path.read_bytes() for path in pages]
    evals = evalset.load(to)
    assert (len(evals.documents), len(evals.queries), len(names)) == (2, 3, 6)
    assert all(j.evidence for j in evals.judgments if j.relevance)
    assert {q.split for q in evals.queries.values()} == {"dev"}
