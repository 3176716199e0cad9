# ruff: noqa: F401 -- the names are for the notebooks
"""Checks of a learner's functions: a line when right, the smallest failing case when wrong.

`check.NAME(function)` compares with a library or with values worked on paper, never with the
lesson's own code. The page of each exercise has mistakes that people often make: where a learner's
answers equal those of one, its sentence is shown. Lists and tuples count as the same.
"""

from .agreement import cohen_kappa, gwet_ac1
from .answers import f1
from .beyond import (
    best_of_equals,
    capped_recall,
    fused,
    grown,
    mended,
    perfect,
    stops_after,
    tool_order,
    true_share,
)
from .bm25 import bm25_score, okapi_idf, search, to_documents
from .chunking import chunk_fixed, chunk_paragraphs, stretches, windows
from .failures import CAUSES, cause, causes
from .labels import coverage, jaccard, query_groups, word_overlap
from .measures import dcg, hit, ndcg, recall, reciprocal_rank
from .passages import evidence_recall
from .passed import passed_checks, solution
from .quick_test import quiz
from .recorded import check_of_page
from .recursive import first_cut, split_recursive
from .statistics import bootstrap, holm, next_doubling
from .verdict import NotStarted, Wrong


def __getattr__(name: str):
    """Return the check of an exercise that has none above: all its cases stand in its page."""
    return check_of_page(name)
