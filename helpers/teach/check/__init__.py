# ruff: noqa: F401 -- the names are for the notebooks
"""Checks of a learner's functions: a line when right, the smallest failing case when wrong.

`check.NAME(function)` compares with a library or with values worked on paper, never with the
lesson's own code. Beside each exercise stand wrong functions that people often write: where a
learner's answers equal one of theirs, its sentence is shown. Lists and tuples count as the same.
"""

import functools
import inspect
from collections.abc import Callable

from .. import record
from . import (
    agreement,
    answers,
    bm25,
    chunking,
    failures,
    labels,
    measures,
    passages,
    quick_test,
    recursive,
    statistics,
)
from .failures import CAUSES
from .passed import PASSED, solution, way_on
from .verdict import NotStarted, Wrong

EXERCISES = agreement, answers, bm25, chunking, labels, measures, passages, recursive, statistics


def with_record(name: str, check: Callable) -> Callable:
    """Return the check, which in a learner's copy also writes down what it found."""

    @functools.wraps(check)
    def run(*args) -> None:
        called = " ".join([name, *(arg for arg in args if isinstance(arg, str))])  # "quiz A"
        function = next((inspect.unwrap(arg) for arg in args if callable(arg)), None)
        try:
            check(*args)
        except Wrong as error:
            result = "not started" if isinstance(error, NotStarted) else "wrong"
            record.write_check_run(called, function, result, error.summary)
            if result == "wrong":
                error.args = (f"{error}{way_on(called)}",)
            raise
        record.write_check_run(called, function, "passed")

    return run


for room in (*EXERCISES, failures, quick_test):
    for name, check in [*vars(room).items()]:
        if name.startswith("check_"):  # check_dcg is check.dcg
            name = name.removeprefix("check_")
            globals()[name] = with_record(name, check)
