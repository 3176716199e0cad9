"""Lines, ids, splits and the log, which all readers share."""

import json
import os
import sys
import types
from pathlib import Path

import pytest
from importing import beir_folder, bring, problems, put, refusal

from helpers import files
from helpers.files import EvalSetError
from helpers.sources import readers


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


BAD_LINES = {
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
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_line_is_named(beir, tmp_path, name):
    file, content, wanted = BAD_LINES[name]
    assert wanted in refusal(beir, file, content, tmp_path / "to")


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


def test_too_many_problems_stop_the_import(beir, tmp_path):
    put(beir / "corpus.jsonl", "[]\n" * 200)
    found = problems("beir", beir, tmp_path / "to")
    assert len(found) == 51 and found[-1] == "stopped after 50 problems"


def test_enormous_line_and_half_a_surrogate_pair(beir, tmp_path):
    put(beir / "corpus.jsonl", json.dumps({"_id": "d1", "text": "\ud800 " + "word " * 400_000}))
    _, evals = bring("beir", beir, tmp_path / "to", split="test")
    assert len(evals.documents["d1"].text) > 1_900_000 and evals.documents["d1"].text[0] == "?"


def test_progress_goes_to_stderr(monkeypatch):
    asked = {}

    def tqdm(items, **options):
        asked.update(options)
        return items

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=tqdm))
    assert list(readers.with_bar([1, 2], "documents")) == [1, 2]
    assert asked["file"] is sys.stderr and asked["disable"] is None  # None: no bar into a file
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(readers.with_bar([1, 2], "documents")) == [1, 2]


# Word for word.


def test_each_side_has_its_names_in_the_order_in_which_one_is_chosen():
    assert [*readers.SIDES] == ["dev", "validation", "valid", "val", "train", "test"]
    sides = {"Dev": "dev", "dev.small": "dev", "test-a": "test", "train_1": "dev", "TEST": "test"}
    sides |= {"valid": "dev", "val": "dev", "validation": "dev"}
    assert {name: readers.side(name) for name in sides} == sides
    assert [*map(readers.side, ("devel", "my-test", ""))] == [None] * 3


@pytest.mark.parametrize(
    ("found", "asked", "chosen"),
    [
        ("train dev test", None, "dev test"),
        ("test-b test-a train", None, "train test-a"),
        ("val validation train", None, "validation"),
        ("test", None, "test"),
        ("all", None, "all"),
        ("Train DEV.small", None, "DEV.small"),
        ("all test", None, "test"),
        ("train dev test", "test,train", "test train"),
    ],
)
def test_the_splits_that_are_read(found, asked, chosen):
    numbered = {name: n for n, name in enumerate(found.split())}
    picked = readers.choose(numbered, asked, "w")
    assert [*picked] == chosen.split() and picked.items() <= numbered.items()


@pytest.mark.parametrize(
    ("found", "asked", "problem"),
    [
        ("b a", None, "w: found a, b, wanted one of them named by --split"),
        ("", None, "w: found none, wanted one of them named by --split"),
        ("test dev", "test,x,y", "w: no split x, found dev, test"),
        ("", "x", "w: no split x, found none"),
    ],
)
def test_splits_that_are_not_there_are_named(found, asked, problem):
    with pytest.raises(EvalSetError) as caught:
        readers.choose(dict.fromkeys(found.split()), asked, "w")
    assert caught.value.problems == [problem]


def test_the_log_counts_and_keeps_the_first_place():
    log = readers.Log()
    log.stop()
    log.leave("links", "a")
    log.leave("links", "b")
    log.leave("pages", "c")
    log.changed["grades"] += 2
    log.said.append("warning: x")
    assert log.lines() == [
        "left out: links: 2, first a",
        "left out: pages: 1, first c",
        "changed: grades: 2",
        "warning: x",
    ]
    log.unseen |= {"--title a": "no a", "--title b": ""}
    log.wrong("first")
    with pytest.raises(EvalSetError) as caught:
        log.stop()
    assert caught.value.problems == ["first", "no a"]


def test_the_fiftieth_problem_is_the_last():
    log = readers.Log()
    for n in range(49):
        log.wrong(str(n))
    with pytest.raises(EvalSetError) as caught:
        log.wrong("49")
    assert caught.value.problems == [*map(str, range(50)), "stopped after 50 problems"]


def test_what_is_asked_and_found_has_empty_fields():
    assert readers.Asked("beir", "p") == ("beir", "p", None, None, None, None, None, False)
    assert readers.Source([]) == ([], (), None, (), "words", ())
    assert readers.Label("f:1", "dev", "q", "d", 1).evidence == ()


def test_an_id_keeps_no_space_slash_or_sign():
    assert readers.safe("a b/c\\d#e%f\tg") == "a%20b%2Fc%5Cd%23e%25f%09g"
    assert readers.safe(7) == "7" and readers.safe("é-_.:") == "é-_.:"


@pytest.mark.parametrize(
    ("row", "found", "problem"),
    [
        ({"id": " a b "}, "a%20b", ""),
        ({"_id": None, "id": 0}, "0", ""),
        ({"_id": 1, "id": 2}, "1", ""),
        ({}, None, "field _id is missing"),
        ({"id": False}, None, "field id is false"),
        ({"id": " "}, None, 'field id is " "'),
        ({"_id": ["é" * 99]}, None, f'field _id is ["{"é" * 58}'),
        (
            {
                "_id": {
                    1,
                }
            },
            None,
            'field _id is "{1}"',
        ),
        ({"_id": 1.5}, None, "field _id is 1.5"),
    ],
)
def test_an_id_is_text_or_a_whole_number(row, found, problem):
    log = readers.Log()
    assert readers.id_of("f:1", row, ("_id", "id"), log) == found
    wanted = f"f:1: {problem}, wanted an id: text or whole number"
    assert log.problems == ([wanted] if problem else [])


def test_the_first_field_with_a_text_counts():
    row = {"a": 1, "b": " \n", "c": " x ", "d": "y"}
    assert readers.text_of(row, "a", "b", "c", "d") == "x" and readers.text_of(row, "d", "c") == "y"
    assert readers.text_of(row, "a", "b", "z") == "" == readers.text_of(row)
    assert readers.text_of({"a": "\ud800é"}, "a") == "?é"


def test_a_title_without_a_text_is_the_text():
    log = readers.Log()
    assert readers.document_of("d", "t", "", log) == {"doc_id": "d", "title": "", "text": "t"}
    assert readers.document_of("d", "t", "x", log) == {"doc_id": "d", "title": "t", "text": "x"}
    assert readers.document_of("d", "", "", log) == {"doc_id": "d", "title": "", "text": ""}
    assert log.changed == {"documents with a title only, which became their text": 1}


def test_fields_are_chosen_in_the_order_asked_for():
    log, fields = readers.Log(), {"a": " A ", "b": "B", "c": "", "n": 1}

    def chosen(title=None, text=None, fields=fields):
        asked = readers.Asked("beir", "p", title=title, text=text)
        return readers.chosen("f:1", fields, "T", "X", asked, log)

    assert chosen() == ("T", "X") and not log.left and not log.unseen
    assert chosen("b", "b,a") == ("B", "B\n\nA") and chosen(text="c,a") == ("T", "A")
    assert chosen("c,a,b") == ("A", "X")
    assert chosen("c", "n,c") == ("T", "X")
    assert log.left == {
        "--title where a document has no c": (1, "f:1"),
        "--text where a document has no n or c": (1, "f:1"),
    }
    chosen("z")
    assert set(filter(None, log.unseen.values())) == {
        "f:1: --title z: no such field here or in any other document, found a, b, c, n"
    }
    chosen("z", fields={"z": ""})
    chosen("z", fields={})
    log.stop()
    chosen(text="y", fields={})
    with pytest.raises(EvalSetError, match="--text y: no such field .*, found none"):
        log.stop()


def arrays(tmp_path, name, content):
    path, log = put(tmp_path / name, content), readers.Log()
    return [(p.rpartition(":")[2], row) for p, row in readers.array(path, log)], [
        problem.removeprefix(f"{path}:") for problem in log.problems
    ]


def test_arrays_are_read_with_their_lines(tmp_path):
    page = '\n [{"a": 1},\n\n {"a": "\\n"}, 7,\n["x"]\n, {"a": 3}\n]\n'
    assert arrays(tmp_path, "a.json", page) == (
        [("2", {"a": 1}), ("4", {"a": "\n"}), ("6", {"a": 3})],
        ["4: found 7, wanted an object", "5: found ['x'], wanted an object"],
    )
    assert arrays(tmp_path, "b.json", '{"a": 1}\n{"a": 2}\n')[0] == [
        ("1", {"a": 1}),
        ("2", {"a": 2}),
    ]
    assert arrays(tmp_path, "empty.json", "") == ([], []) == arrays(tmp_path, "none.json", "[]")
    rows, (problem,) = arrays(tmp_path, "broken.json", '[{"a": 1},\n{"a"')
    assert rows == [("1", {"a": 1})] and problem.startswith("2: broken JSON (")
    assert problem.endswith("), wanted an array of objects")
    long = json.dumps(["x" * 60])
    assert arrays(tmp_path, "long.json", f"[{long}]")[1] == [
        f"1: found {str(json.loads(long))[:40]}, wanted an object"
    ]


@pytest.mark.parametrize("size", [2, 3, 7, 1000])
def test_an_array_is_read_in_pieces_of_any_size(tmp_path, monkeypatch, size):
    monkeypatch.setattr(files, "PIECE", size)
    rows = [{"a": "[\n]"}, {"b": {"c": [1, 2.5]}}, {}]
    page = ",\n".join(json.dumps(row) for row in rows)
    found = arrays(tmp_path, "a.json", f"\ufeff [\n{page}]\n \n")
    assert found == ([(str(n), row) for n, row in enumerate(rows, 2)], [])
    assert arrays(tmp_path, "b.json", "[12345, 1]")[1] == [
        "1: found 12345, wanted an object",
        "1: found 1, wanted an object",
    ]
    (after,) = arrays(tmp_path, "c.json", "[{}]\n\n x")[1]
    assert after.startswith("1: found 'x") and after.endswith("wanted one array and no more")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('[{"a": 1, "a": 2}]', "1: broken JSON (key a stands twice), wanted an array of objects"),
        ("[" * 100_000, "1: broken JSON (nested too deeply), wanted an array of objects"),
        ('[{"a": 1}\n', "2: broken JSON ("),
        ('[{"a": "' + "x" * 99, "1: broken JSON (Unterminated string"),
        ("[{}\n\n\xff]", "3: byte 0xff is not UTF-8, save the file as UTF-8"),
    ],
)
def test_an_array_that_cannot_be_read_is_one_problem(tmp_path, monkeypatch, content, told):
    monkeypatch.setattr(files, "LONGEST", 50)
    (found,) = arrays(tmp_path, "a.json", content.encode("latin-1"))[1]
    assert found.startswith(told)


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("a\0b", "a%00b"),
        ("a\u200bb", "a%E2%80%8Bb"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("..a", "..a"),
        ("é\u202e", "é%E2%80%AE"),
        ("a\ud800", "a%3F"),
    ],
)
def test_what_nobody_sees_is_encoded_in_ids(name, encoded):
    assert readers.safe(name) == encoded and files.is_id(encoded)


def test_a_table_is_read_row_by_row(tmp_path):
    path = Path(__file__).with_name("table.parquet")  # written by pyarrow 26.0.1
    log = readers.Log()
    values = [
        (1, "é", ["a", None], {"title": ["A"], "sent_id": [0]}, 0.5, True),
        (None, "", [], {"title": [], "sent_id": None}, None, False),
        (3, None, None, None, -1.0, None),
    ]
    names = ("id", "text", "list", "pair", "real", "yes")
    wanted = [
        (f"{path}:{n}", dict(zip(names, row, strict=True))) for n, row in enumerate(values, 1)
    ]
    assert repr(list(readers.array(path, log))) == repr(wanted)


def test_the_name_of_a_table_is_no_pattern_and_names_no_column(tmp_path):
    folder = tmp_path / "year=2020 it's"
    folder.mkdir()
    names = ("a*.parquet", "a[1].parquet", "a1.parquet")
    for number, name in enumerate(names):
        with files.database() as tables:
            tables.sql(f"SELECT {number} AS n FROM range(2500)").write_parquet(str(folder / name))
    for number, name in enumerate(names):
        found = [row for _, row in readers.array(folder / name, readers.Log())]
        assert found == [{"n": number}] * 2500


@pytest.mark.parametrize("content", [b"", b"no table", b"PAR1" * 5])
def test_a_file_that_is_no_table_is_told_in_one_line(tmp_path, content):
    path, log = put(tmp_path / "t.parquet", content), readers.Log()
    assert list(readers.array(path, log)) == []
    (problem,) = log.problems
    assert problem.startswith(f"{path}:1: cannot be read (") and "\n" not in problem
    assert problem.endswith("), wanted a Parquet file")


def test_the_database_loads_nothing_from_the_network():
    with files.database() as tables:
        for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
            assert tables.sql(f"SELECT current_setting('{name}')").fetchall() == [(False,)]


def test_the_bar_is_named_and_goes_when_it_is_done(monkeypatch):
    asked = {}
    bar = types.SimpleNamespace(tqdm=lambda items, **options: asked.update(options) or items)
    monkeypatch.setitem(sys.modules, "tqdm", bar)
    readers.with_bar([], "documents")
    wanted = {"desc": "documents", "unit": "", "leave": False, "disable": None}
    assert asked == {**wanted, "file": sys.stderr}


def test_a_module_that_is_missing_is_told(tmp_path):
    assert readers.optional("json") is json
    with pytest.raises(EvalSetError) as caught:
        readers.optional("no_such_package")
    assert caught.value.problems == [
        "the package no_such_package is missing, wanted: python -m pip install no_such_package"
    ]
    with pytest.raises(EvalSetError) as caught:
        readers.folder_of(readers.Asked("trec", str(tmp_path / "no")))
    assert caught.value.problems == [
        f"{tmp_path / 'no'}:1: is no folder, wanted a folder for trec:"
    ]
    assert readers.folder_of(readers.Asked("trec", str(tmp_path))) == tmp_path
