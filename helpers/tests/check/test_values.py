"""Values that count as the same, and what is said of a form that does not fit."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from notebooks.check import chunking, values

from .exercises import holm_of, refused


def dcg_of(gains):
    return sum(gain / math.log2(n) for n, gain in enumerate(gains, 2))


@pytest.mark.parametrize(
    ("wanted", "got"),
    [(1.0, 1), (1.0, np.float64(1)), (0.5, np.array(0.5)), (0.5, 0.5 + 1e-12), (1.0, True),
     (math.nan, np.nan), ([(0, 4)], np.array([[0, 4]])), ([1, 2], (1, np.int64(2))),
     ({"a": 0.5}, {"a": np.float64(0.5)}), ("a", np.str_("a"))],
)  # fmt: skip
def test_the_same_in_another_form(wanted, got):
    assert values.is_same(wanted, got)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [(1.0, 1 + 1e-6), (1, 1.0), (1.0, "1.0"), (1.0, None), (1.0, math.nan), (math.nan, 1.0),
     ([1, 2], [2, 1]), ([1, 2], {1, 2}), ([1], [1, 2]), ([], np.array(0)), ([], None),
     ({"a": 1}, {"a": 1, "b": 2}), (ValueError, []), (1.0, values.Raised(ValueError()))],
)  # fmt: skip
def test_not_the_same(wanted, got):
    assert not values.is_same(wanted, got)


def test_general_sentences():
    windows = chunking._right
    assert "put list(...) around it" in refused("holm", lambda ps: (p for p in holm_of(ps)))
    assert "A set came back" in refused("windows", lambda *args: set(windows(*args)))
    halves = lambda *args: [(a / 1, b / 1) for a, b in windows(*args)]  # noqa: E731
    assert "whole numbers are wanted" in refused("windows", halves)
    assert "Text came back" in refused("dcg", lambda gains: str(dcg_of(gains)))


def test_wrong_arrays_are_compared_and_long_answers_cut():
    said = refused("windows", lambda n, size, overlap: np.array([[0, n]] * 999))
    assert "got       np.array([[0, 4], [0, 4]" in said and " …\n" in said and len(said) < 900


class HalfWritten:
    """A class of a learner's that cannot be shown."""

    def __repr__(self):
        raise ValueError("not written yet")


@pytest.mark.parametrize(
    "odd",
    [10**400, pd.NA, pd.NaT, HalfWritten(), int, len, b"ab", Decimal("nan"), 1j, [[[]]], [None],
     np.ma.masked, np.zeros(2, dtype=[("a", int)]), itertools.count(), slice(1, 2), [slice(0, 4)],
     pd.DataFrame(), pd.Series([1, 2], index=["a", "a"]), pd.Series([1, None], dtype="Int64")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["coverage", "query_groups", "okapi_idf", "search", "bootstrap"])
def test_odd_answers_are_refused_and_never_stop_the_check(name, odd):
    assert " not right yet" in refused(name, lambda *args: odd)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1 + 0.2, "0.3"), (1 / 3, "0.3333333333"), (2, "2"), ("a", "'a'"), (None, "None"),
     (np.float64(0.5), "0.5"), (np.longdouble(2), "2.0"),
     (np.array([[1, 2]]), "np.array([[1, 2]])"),
     (pd.Series([1, 2]), "pd.Series([1, 2])"), (pd.DataFrame({"a": [1]}), "pd.DataFrame([[1]])"),
     ({"b": 1.0, "a": [2]}, "{'b': 1.0, 'a': [2]}"), ({"b", "a"}, "{'a', 'b'}"), (set(), "set()"),
     (frozenset({2, 1}), "{1, 2}"), ([], "[]"), ((), "()"), ((1,), "(1,)"), ((1, 2), "(1, 2)"),
     (iter([1]), "a list_iterator"), (ValueError, "ValueError"), (len, "len"),
     (HalfWritten(), "a HalfWritten")],
)  # fmt: skip
def test_a_value_is_written_as_a_learner_would_type_it(value, text):
    assert values.shown(value) == text


def test_only_what_is_longer_than_the_most_is_cut():
    assert values.shortened([1, 2], most=6) == "[1, 2]"
    assert values.shortened([1, 2], most=5) == "[1, 2 …"
    assert values.shortened("x" * 498) == repr("x" * 498)
    assert values.shortened("x" * 499) == "'" + "x" * 499 + " …"


def test_a_long_call_has_an_argument_a_line():
    assert values.as_call("f", (1, "a")) == "f(1, 'a')"
    assert len(values.as_call("f", ("x" * 84,))) == 89
    assert values.as_call("f", ("x" * 85, 2)) == "f(\n      '" + "x" * 85 + "',\n      2)"


@pytest.mark.parametrize(
    ("value", "decimals", "rounded"),
    [(1 / 3, 2, 0.33), (1 / 3, 2, None), ([2 / 3, 1], 1, [0.7, 1]), ((2 / 3,), 1, [0.7]),
     ({"a": 1 / 3}, 3, {"a": 0.333}), ("a", 1, "a")],
)  # fmt: skip
def test_rounded_in_all_its_members(value, decimals, rounded):
    assert values.is_rounded(value, rounded, decimals) == (rounded is not None)
    assert not values.is_rounded(value, 0.3, 2)


@pytest.mark.parametrize(
    ("wanted", "got", "near"),
    [(1.0, 1 + 9e-10, True), (1.0, 1 + 2e-9, False), (1.0, np.float32(1 + 5e-7), True),
     (1000.0, np.float32(1000.0005), True), (1.0, np.float32(1 + 2e-6), False),
     (math.inf, math.inf, True), (10.0**300, 10**400, False), (1, np.int64(1), True)],
)  # fmt: skip
def test_numbers_are_compared_as_closely_as_their_type_can_tell(wanted, got, near):
    assert values.is_same(wanted, got) == near


def test_whole_numbers_may_be_floats_where_the_form_does_not_count():
    assert not values.is_same([(0, 4)], [(0.0, 4.0)])
    assert values.is_same([(0, 4)], [(0.0, 4.0)], strict=False)
    assert values.is_same({"a": 4}, {"a": 4.0}, strict=False)


@pytest.mark.parametrize(
    ("value", "places"),
    [([], True), ((), True), (np.array([1]), True), (np.array(1), False), (pd.Series([1]), True),
     ("ab", False), (b"ab", False), (range(2), False), ({1}, False), (iter([]), False)],
)  # fmt: skip
def test_what_has_places(value, places):
    assert values.is_sequence(value) == places


@pytest.mark.parametrize(
    ("view", "value", "seen"),
    [(sorted, [2, 1], [1, 2]), (sorted, "ba", "ba"), (sorted, {"b": 1, "a": 2}, {"b": 1, "a": 2}),
     (sorted, 3, 3)],
)  # fmt: skip
def test_a_view_leaves_what_it_cannot_read(view, value, seen):
    assert values.viewed(view, value) == seen


@pytest.mark.parametrize(
    ("wanted", "got", "said"),
    [
        (1.0, 2.0, ""),
        (1.0, np.array(2.0), ""),
        (ValueError, None, ""),
        (math.nan, None, "None came back: here the result is not a number, so return nan."),
        (1.0, None, "Nothing came back: does the function end with return?"),
        ([1], None, "Nothing came back: does the function end with return?"),
        ([1], iter([1]), "A generator came back, which can be read only once: "
         "put list(...) around it."),
        ([1], {}.keys(), "A dict_keys came back: put list(...) around it."),
        (1.0, "1.0", "Text came back where a number is wanted."),
        (1.0, [2.0], "A list came back where a number is wanted: take the number out of it."),
        (1.0, [2.0, 3.0], "A list came back where a number is wanted."),
        (1.0, ["a"], "A list came back where a number is wanted."),
        ("a", 1.5, "1.5 came back where a text is wanted."),
        ({"a": 1}, [("a", 1)], "A list came back where a dict is wanted: "
         "dict(...) makes one of pairs."),
        ({"a": 1}, {"b": 1}, ""),
        ({"a": 1}, {"a"}, "A set came back where a dict is wanted."),
        ([1, 2], {1, 2}, "A set came back where a list is wanted."),
        ((1, 2), 3, "3 came back where a tuple such as (1, 2) is wanted."),
        ((1, [2]), 3, "3 came back where a list is wanted."),
        ([(0, 4)], [slice(0, 4)], "A slice came back inside a list where a tuple such as (0, 4) "
         "is wanted: take its start and its stop."),
        ([(0, 4)], [range(0, 4)], "A range came back inside a list where a tuple such as (0, 4) "
         "is wanted: take its start and its stop."),
        ([[1]], np.array([1]), "1 came back inside an array where a list is wanted."),
        ([(0, 4)], pd.DataFrame([[0, 4]]), "A DataFrame came back where a list is wanted: "
         "list(frame.itertuples(index=False)) makes one of its rows."),
        ({1}, [1], "A list came back where a set is wanted."),
    ],
)  # fmt: skip
def test_what_is_said_of_a_form(wanted, got, said):
    assert values.on_form(wanted, got) == said


def test_members_are_not_looked_at_where_a_view_has_changed_them():
    assert values.on_form([(0, 4)], [3], nested=False) == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [(ZeroDivisionError(), "nothing to divide by"), (IndexError(), "past the last one"),
     (RecursionError(), "calls itself on and on"), (KeyError("a"), ".get(key, default)"),
     (values.Endless(), "before the loop begins")],
)  # fmt: skip
def test_common_errors_have_a_sentence_and_others_none(error, said):
    assert said in values.on_error(error)
    assert values.on_error(TypeError()) == ""
