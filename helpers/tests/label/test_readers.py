"""The log, ids, fields and splits, which all readers share."""

import pytest
from importing import refused, task

from helpers.label import readers
from helpers.measure import files

SPLITS = [  # found, wanted, those that are read or words of the problem
    ("train dev test", None, "dev test"),
    ("test-b test-a train", None, "train test-a"),
    ("val validation train", None, "validation"),
    ("all", None, "all"),
    ("Train DEV.small", None, "DEV.small"),
    ("all TEST", None, "TEST"),
    ("train dev test", "test,train", "test train"),
    ("b a", None, ["found a, b, wanted one of them named by --split"]),
    ("", None, ["found none, wanted one"]),
    ("test dev", "test,x,y", ["no split x, found dev, test"]),
]


@pytest.mark.parametrize(("found", "wanted", "chosen"), SPLITS)
def test_the_splits_that_are_read(found, wanted, chosen):
    splits, own = {name: name.upper() for name in found.split()}, task(split=wanted)
    if isinstance(chosen, list):
        (problem,) = refused(readers.choose_splits, splits, own)
        assert problem.startswith("table:p: ") and chosen[0] in problem
    else:
        picked = readers.choose_splits(splits, own)
        assert [*picked.items()] == [(name, name.upper()) for name in chosen.split()]


def test_each_side_has_its_names():
    sides = {"Dev": "dev", "dev.small": "dev", "test-a": "test", "train_1": "dev", "TEST": "test"}
    sides |= dict.fromkeys(("devel", "my-test", ""))
    assert {name: readers.half_of(name) for name in sides} == sides


def test_the_log_counts_and_keeps_the_first_place():
    log = task()
    log.stop()
    for reason, place in (("links", "a"), ("links", "b"), ("pages", "c")):
        log.leave_out(reason, place)
    log.changed["grades"] += 2
    left = ["left out: links: 2, first a", "left out: pages: 1, first c"]
    assert log.lines() == [*left, "changed: grades: 2"]
    for place, row in (("f:1", {"x": 1}), ("f:2", {"b": 1}), ("f:3", {"y": 2})):
        log.expect("text", ("a", "b"), place, row, "--text")
        log.expect("query", ("a",), place, row, "--columns")
    log.problems.append("first")
    first, missing = refused(log.stop)
    assert first == "first" and missing.startswith("f:1: no query, found x, wanted one of: a;")


IDS = {
    "a b/c\\d#e%f\tg": "a%20b%2Fc%5Cd%23e%25f%09g",
    7: "7",
    "é-_.:": "é-_.:",
    "a\u200bb\0": "a%E2%80%8Bb%00",
    "..a": "..a",
}


def test_an_id_keeps_no_space_slash_sign_or_what_nobody_sees():
    for name, encoded in IDS.items():
        assert readers.encode_id(name) == encoded and files.is_id(encoded), name


ROWS = [  # row, its id, words of the problem
    ({"id": " a b "}, "a%20b", ""),
    ({"_id": None, "id": 0}, "0", ""),
    ({"_id": 1, "id": 2}, "1", ""),
    ({"b": 1, "a": 2}, None, "no id, found a, b, wanted one of: _id, id; --columns"),
    ({"id": False}, None, "field id is false, wanted an id"),
    ({"id": " "}, None, 'field id is " ", wanted an id'),
    ({"_id": 1.5}, None, "field _id is 1.5, wanted an id"),
    ({"_id": ["é" * 99]}, None, f'field _id is ["{"é" * 58}, wanted an id'),
]


def test_an_id_is_text_or_a_whole_number():
    for row, wanted, problem in ROWS:
        log = task()
        assert readers.id_of("f:1", row, ("_id", "id"), log) == wanted, row
        assert len(log.problems) == bool(problem)
        assert all(line.startswith(f"f:1: {problem}") for line in log.problems), row
    assert readers.id_of("f:1", {}, ("id",), task(), "other") == "other"
