"""The log, ids, fields and splits, which all readers share."""

import sys
import types

import pytest
from importing import task

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
    assert {name: readers.half_of(name) for name in sides} == sides


SPLITS = [  # found, wanted, those that are read or the problem
    ("train dev test", None, "dev test"),
    ("test-b test-a train", None, "train test-a"),
    ("val validation train", None, "validation"),
    ("test", None, "test"),
    ("all", None, "all"),
    ("Train DEV.small", None, "DEV.small"),
    ("all test", None, "test"),
    ("train dev test", "test,train", "test train"),
    ("b a", None, ["table:p: found a, b, wanted one of them named by --split"]),
    ("", None, ["table:p: found none, wanted one of them named by --split"]),
    ("test dev", "test,x,y", ["table:p: no split x, found dev, test"]),
    ("", "x", ["table:p: no split x, found none"]),
]


def test_the_splits_that_are_read():
    for found, wanted, chosen in SPLITS:
        numbered = {name: n for n, name in enumerate(found.split())}
        if isinstance(chosen, list):
            assert refused(readers.choose_splits, numbered, task(split=wanted)) == chosen, found
        else:
            picked = readers.choose_splits(numbered, task(split=wanted))
            assert [*picked] == chosen.split() and picked.items() <= numbered.items(), found


def test_the_log_counts_and_keeps_the_first_place():
    log = task()
    log.stop()
    for reason, place in (("links", "a"), ("links", "b"), ("pages", "c")):
        log.leave_out(reason, place)
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
        assert readers.encode_id(name) == encoded and files.is_id(encoded), name


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
        log = task()
        assert readers.id_of("f:1", row, ("_id", "id"), log) == wanted, row
        assert log.problems == ([f"f:1: {problem}"] if problem else []), row


def test_the_bar_goes_to_stderr_where_somebody_looks(monkeypatch):
    asked = {}
    bar = types.SimpleNamespace(tqdm=lambda items, **more: asked.update(more) or items)
    monkeypatch.setitem(sys.modules, "tqdm", bar)
    assert list(readers.with_bar([1, 2], "documents")) == [1, 2]
    wanted = {"desc": "documents", "unit": "", "leave": False, "disable": None}
    assert asked == {**wanted, "file": sys.stderr}  # None: no bar into a file
