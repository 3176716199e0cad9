"""Values that count as the same, how they are written, and what is said of their type."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from helpers.teach.check import values
from helpers.tests.teach.check.exercises import refused

SAME = [(1.0, 1), (1.0, np.float64(1)), (0.5, np.array(0.5)), (0.5, 0.5 + 1e-12), (1.0, True),
     (math.nan, np.nan), ([(0, 4)], np.array([[0, 4]])), ([1, 2], (1, np.int64(2))),
     ({"a": 0.5}, {"a": np.float64(0.5)}), ("a", np.str_("a")), (1.0, 1 + 9e-10), ({1}, {1}),
     (1.0, np.float32(1 + 5e-7)), (1000.0, np.float32(1000.0005)), (math.inf, math.inf),
     (1, np.int64(1)), ({"a": 0.5}, pd.Series({"a": 0.5})), ([1.5], pd.Index([1.5]))]  # fmt: skip
DIFFERENT = [(1.0, 1 + 2e-9), (1, 1.0), (1.0, "1.0"), (1.0, None), (1.0, math.nan), (math.nan, 1.0),
     ([1, 2], [2, 1]), ([1, 2], {1, 2}), ([1], [1, 2]), ([], np.array(0)), ([], None),
     ({"a": 1}, {"a": 1, "b": 2}), (ValueError, []), (1.0, values.Raised(ValueError())),
     (1.0, np.float32(1 + 2e-6)), ("a", "b"), ([], ""), ([0, 1], range(2)),
     ("ab", ["a", "b"]), ({1}, {2}), ([(0, 4)], [(0.0, 4.0)])]  # fmt: skip


def test_which_values_count_as_the_same():
    for wanted, got in SAME:
        assert values.is_same(wanted, got), (wanted, got)
    for wanted, got in DIFFERENT:
        assert not values.is_same(wanted, got), (wanted, got)
    assert values.is_same([(0, 4)], [(0.0, 4.0)], strict=False)
    assert values.is_same({"a": 4}, {"a": 4.0}, strict=False)
    for wanted, decimals, got in (
        ([2 / 3, 1], 1, [0.7, 1]),
        ({"a": 1 / 3}, 3, {"a": 0.333}),
        ("a", 1, "a"),
    ):
        assert values.is_same(wanted, got, decimals=decimals)
        assert not values.is_same(wanted, 0.3, decimals=decimals)


def test_a_long_answer_is_cut():
    said = refused("windows", lambda n, size, overlap: np.array([[0, n]] * 999))
    assert "got       np.array([[0, 4], [0, 4]" in said and " …\n" in said and len(said) < 900


class HalfWritten:
    """A class of a learner's that cannot be shown."""

    def __repr__(self):
        raise ValueError("not written yet")


ODD = [pd.NA, pd.NaT, HalfWritten(), len, b"ab", Decimal("nan"), 1j, [[[]]], [None],
     itertools.count(), pd.DataFrame(), pd.Series([1, 2], index=["a", "a"]),
     pd.Series([1, None], dtype="Int64")]  # fmt: skip


@pytest.mark.parametrize("name", ["coverage", "bootstrap", "query_groups"])
def test_odd_answers_are_refused_and_never_stop_the_check(name):
    for odd in ODD:
        assert " not right yet" in refused(name, lambda *args, odd=odd: odd)


TEXTS = [(0.1 + 0.2, "0.3"), (1 / 3, "0.3333333333"), (2, "2"), ("a", "'a'"), (None, "None"),
     (np.float64(0.5), "0.5"), (np.array([[1, 2]]), "np.array([[1, 2]])"),
     (pd.Series([1, 2]), "pd.Series([1, 2])"), (pd.DataFrame({"a": [1]}), "pd.DataFrame([[1]])"),
     ({"b": 1.0, "a": [2]}, "{'b': 1.0, 'a': [2]}"), ({*"dbaec"}, "{'a', 'b', 'c', 'd', 'e'}"),
     (set(), "set()"), ([], "[]"), ((), "()"), ((1,), "(1,)"), ((1, 2), "(1, 2)"),
     (ValueError, "ValueError"), (len, "len"), (HalfWritten(), "a HalfWritten")]  # fmt: skip


def test_a_value_is_written_as_a_learner_would_type_it():
    for value, text in TEXTS:
        assert values.as_code(value) == text


def test_long_values_are_cut_and_long_calls_have_an_argument_a_line():
    assert values.short_code([1, 2], most=6) == "[1, 2]"
    assert values.short_code([1, 2], most=5) == "[1, 2 …"
    assert values.as_call("f", (1, "a")) == "f(1, 'a')"
    assert len(values.as_call("f", ("x" * 84,))) == 89
    assert values.as_call("f", ("x" * 85, 2)) == "f(\n      '" + "x" * 85 + "',\n      2)"


def test_a_view_leaves_what_it_cannot_read():
    assert values.apply_view(sorted, [2, 1]) == [1, 2]
    for value in ("ba", {"b": 1, "a": 2}, 3):
        assert values.apply_view(sorted, value) is value


FORMS = [  # (wanted, got, what is said)
    (1.0, 2.0, ""),
    (ValueError, None, ""),
    ({"a": 1}, {"b": 1}, ""),
    ([(0, 4)], [], ""),
    (math.nan, None, "None came back: here the result is not a number, so return nan."),
    (1.0, None, "Nothing came back: does the function end with return?"),
    ([1], iter([1]), "The answer is of type list_iterator: put list(...) around it."),
    (1.0, "1.0", "The answer is of type str, wanted is a number."),
    ("a", 1.5, "The answer is of type float, wanted is a text."),
    ({"a": 1}, {"a"}, "The answer is of type set, wanted is a dict."),
    ([1, 2], {1, 2}, "The answer is of type set, wanted is a list."),
    ((1, 2), 3, "The answer is of type int, wanted is a tuple such as (1, 2)."),
    ((1, [2]), 3, "The answer is of type int, wanted is a list."),
    ((), 3, "The answer is of type int, wanted is a list."),
    ([(0, 4)], [slice(0, 4)], "A member of the answer is of type slice, wanted is a tuple "
     "such as (0, 4)."),
    ([[1]], np.array([1]), "A member of the answer is of type int64, wanted is a list."),
    ({1}, [1], "The answer is of type list, wanted is a set."),
]  # fmt: skip


def test_what_is_said_of_a_type():
    for wanted, got, said in FORMS:
        assert values.type_fault(wanted, got) == said
    assert values.type_fault([(0, 4)], [3], members=False) == ""
