# ruff: noqa: F401 -- the names are for the notebooks
"""Checks of a learner's functions: a line when right, the smallest failing case when wrong.

`check.NAME(function)` compares with a library or with values worked on paper, never with the
lesson's own code. Beside each exercise stand wrong functions that people often write: where a
learner's answers equal one of theirs, its sentence is shown. Lists and tuples count as the same.
"""

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
    stored,
)
from .failures import CAUSES
from .passed import PASSED
from .verdict import NotStarted, Wrong

ROOMS = agreement, answers, bm25, chunking, failures, labels, measures, passages, quick_test
for room in (*ROOMS, recursive, statistics):  # check_dcg is check.dcg
    found = {n: f for n, f in vars(room).items() if n.startswith("check_")}
    globals().update({name.removeprefix("check_"): function for name, function in found.items()})
