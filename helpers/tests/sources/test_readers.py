"""The log, ids, fields and splits, which all readers share."""

import sys
import types

import pytest
from importing import options

from helpers import files
from helpers.files import EvalSetError
from helpers.sources import readers


def refused(call, *arguments):
    """Return the problems of a call that must fail."""
    with pytest.raises(EvalSetError) as caught:
        call(*arguments)
    return caught.value.problems


def test_each_side_has_its_names():
    sides = {"Dev": "dev", "dev.small": "dev", "test-a": "test", "train_1": "dev", "TEST": "test"}
    sides |= dict.fromkeys(("valid", "val", "validation"), "dev")
    sides |= dict.fromkeys(("devel", "my-test", ""))
    assert {name: readers.side(name) for name in sides} == sides


SPLITS = [  # found, wanted, those that are read or the problem
    ("train dev test", None, "dev test"),
    ("test-b test-a train", None, "train test-a"),
    ("val validation train", None, "validation"),
    ("test", None, "test"),
    ("all", None, "all"),
    ("Train DEV.small", None, "DEV.small"),
    ("all test", None, "test"),
    ("train dev test", "test,train", "test train"),
    ("b a", None, ["w: found a, b, wanted one of them named by --split"]),
    ("", None, ["w: found none, wanted one of them named by --split"]),
    ("test dev", "test,x,y", ["w: no split x, found dev, test"]),
    ("", "x", ["w: no split x, found none"]),
]


def test_the_splits_that_are_read():
    for found, wanted, chosen in SPLITS:
        numbered = {name: n for n, name in enumerate(found.split())}
        if isinstance(chosen, list):
            assert refused(readers.choose, numbered, wanted, "w") == chosen, found
        else:
            picked = readers.choose(numbered, wanted, "w")
            assert [*picked] == chosen.split() and picked.items() <= numbered.items(), found


def test_files_by_the_split_in_their_name(tmp_path):
    names = "hotpot_train_v1.1.json Dev-1.json dev-2.json interval.json test.jsonl.gz".split()
    found = readers.by_split(tmp_path / name for name in names)
    assert {split: [p.name for p in paths] for split, paths in found.items()} == {
        "train": names[:1],
        "dev": names[1:3],
        "all": names[3:4],
        "test": names[4:],
    }


def test_the_log_counts_and_keeps_the_first_place():
    log = readers.Log()
    log.stop()
    for reason, place in (("links", "a"), ("links", "b"), ("pages", "c")):
        log.leave(reason, place)
    log.changed["grades"] += 2
    assert log.lines() == [
        "left out: links: 2, first a",
        "left out: pages: 1, first c",
        "changed: grades: 2",
    ]
    for row in ({"x": 1}, {"b": 1}, {"x": 2}):
        log.expect("text", ("a", "b"), "f:1", row, "--text")
        log.expect("query", ("a",), "f:1", row, "--columns")
    log.problems.append("first")
    assert refused(log.stop) == [
        "first",
        "f:1: no query, found x, wanted one of: a; --columns names another",
    ]


IDS = {
    "a b/c\\d#e%f\tg": "a%20b%2Fc%5Cd%23e%25f%09g",
    7: "7",
    "é-_.:": "é-_.:",
    "a\0b": "a%00b",
    "a\u200bb": "a%E2%80%8Bb",
    ".": "%2E",
    "..": "%2E%2E",
    "..a": "..a",
    "é\u202e": "é%E2%80%AE",
}


def test_an_id_keeps_no_space_slash_sign_or_what_nobody_sees():
    for name, encoded in IDS.items():
        assert readers.encoded(name) == encoded and files.is_id(encoded), name


ROWS = [  # row, its id, the problem
    ({"id": " a b "}, "a%20b", ""),
    ({"_id": None, "id": 0}, "0", ""),
    ({"_id": 1, "id": 2}, "1", ""),
    ({}, None, "no id, found nothing, wanted one of: _id, id; --columns names another"),
    ({"b": 1, "a": 2}, None, "no id, found a, b, wanted one of: _id, id; --columns names another"),
    ({"id": False}, None, "field id is false, wanted an id: text or whole number"),
    ({"id": " "}, None, 'field id is " ", wanted an id: text or whole number'),
    ({"_id": 1.5}, None, "field _id is 1.5, wanted an id: text or whole number"),
    ({"_id": ["é" * 99]}, None, f'field _id is ["{"é" * 58}, wanted an id: text or whole number'),
]


def test_an_id_is_text_or_a_whole_number():
    for row, wanted, problem in ROWS:
        log = readers.Log()
        assert readers.id_of("f:1", row, ("_id", "id"), log) == wanted, row
        assert log.problems == ([f"f:1: {problem}"] if problem else []), row


def test_the_first_field_with_a_text_counts():
    row = {"a": 1, "b": " \n", "c": " x ", "d": "y"}
    for names, text in (("abcd", "x"), ("dc", "y"), ("abz", ""), ("", "")):
        assert readers.text_of(row, *names) == text, names


def test_a_title_without_a_text_is_the_text():
    log = readers.Log()
    for given, row in ((("t", ""), ("", "t")), (("t", "x"), ("t", "x")), (("", ""), ("", ""))):
        document = readers.document_of("d", *given, log)
        assert document == {"doc_id": "d", "title": row[0], "text": row[1]}
    assert log.changed == {"documents with a title only, which became their text": 1}


CHOSEN = [  # --title, --text, title and text; without them T and X
    (None, None, ("T", "X")),
    ("b", "b,a", ("B", "B\n\nA")),
    (None, "c,a", ("T", "A")),
    ("c,a,b", None, ("A", "X")),
    ("c", "n,c", ("T", "X")),
]


def test_fields_are_chosen_in_the_order_asked_for():
    log, fields = readers.Log(), {"a": " A ", "b": "B", "c": "", "n": 1}
    for title, text, wanted in CHOSEN:
        asked = options("beir", "p", title=title, text=text)
        found = readers.title_and_text("f:1", fields, "T", "X", asked, log)
        assert found == wanted, (title, text)
    assert log.left == {
        "--title where a document has no c": (1, "f:1"),
        "--text where a document has no n or c": (1, "f:1"),
    }
    log.stop()
    readers.title_and_text("f:2", fields, "T", "X", options("beir", "p", title="z"), log)
    assert refused(log.stop) == [
        "f:2: no --title z in any document, found a, b, c, n, wanted one of: z; --title names "
        "another"
    ]
    readers.title_and_text("f:3", {"z": ""}, "T", "X", options("beir", "p", title="z"), log)
    log.stop()


def test_the_bar_goes_to_stderr_where_somebody_looks(monkeypatch):
    asked = {}
    bar = types.SimpleNamespace(tqdm=lambda items, **more: asked.update(more) or items)
    monkeypatch.setitem(sys.modules, "tqdm", bar)
    assert list(readers.with_bar([1, 2], "documents")) == [1, 2]
    wanted = {"desc": "documents", "unit": "", "leave": False, "disable": None}
    assert asked == {**wanted, "file": sys.stderr}  # None: no bar into a file


def test_a_path_that_is_no_folder_is_named(tmp_path):
    missing = tmp_path / "no"
    wanted = [f"{missing}:1: is no folder, wanted a folder for trec:"]
    assert refused(readers.folder_of, options("trec", missing)) == wanted
    assert readers.folder_of(options("trec", tmp_path)) == tmp_path
