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
