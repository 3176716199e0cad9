# ruff: noqa: F401 -- the names are for the notebooks
"""Checks of a learner's functions: a line when right, the smallest failing case when wrong.

`check.NAME(function)` compares with a library or with values worked on paper, never with the
lesson's own code. Beside each exercise stand wrong functions that people often write: where a
learner's answers equal one of theirs, its sentence is shown. Lists and tuples count as the same.
"""

from .quick_test import quiz
from .session_a import cohen_kappa, coverage, gwet_ac1, jaccard, query_groups, word_overlap
from .session_b import (
    bm25_score,
    chunk_fixed,
    chunk_paragraphs,
    okapi_idf,
    search,
    split_recursive,
    to_documents,
    windows,
)
from .session_c import (
    CAUSES,
    average_precision,
    bootstrap,
    causes,
    dcg,
    f1,
    hit,
    holm,
    ndcg,
    recall,
    reciprocal_rank,
    sign_flip,
)
from .verdict import PASSED, NotStarted, Wrong
