# ruff: noqa: F401 -- the names are for the notebooks
"""Checks of a learner's functions: a line when right, the smallest failing case when wrong.

`check.NAME(function)` compares with a library or with values worked on paper, never with the
lesson's own code. Beside each exercise stand wrong functions that people often write: where a
learner's answers equal one of theirs, its sentence is shown. Lists and tuples count as the same.
"""

from . import stored
from .agreement import check_cohen_kappa as cohen_kappa
from .agreement import check_gwet_ac1 as gwet_ac1
from .answers import check_f1 as f1
from .bm25 import check_bm25_score as bm25_score
from .bm25 import check_okapi_idf as okapi_idf
from .bm25 import check_search as search
from .bm25 import check_to_documents as to_documents
from .chunking import check_chunk_fixed as chunk_fixed
from .chunking import check_chunk_paragraphs as chunk_paragraphs
from .chunking import check_stretches as stretches
from .chunking import check_windows as windows
from .failures import CAUSES
from .failures import check_cause as cause
from .failures import check_causes as causes
from .labels import check_coverage as coverage
from .labels import check_jaccard as jaccard
from .labels import check_query_groups as query_groups
from .labels import check_word_overlap as word_overlap
from .measures import check_average_precision as average_precision
from .measures import check_dcg as dcg
from .measures import check_hit as hit
from .measures import check_hit_and_recall as hit_and_recall
from .measures import check_ndcg as ndcg
from .measures import check_recall as recall
from .measures import check_reciprocal_rank as reciprocal_rank
from .passages import check_evidence_recall as evidence_recall
from .passed import PASSED
from .quick_test import check_quiz as quiz
from .recursive import check_first_cut as first_cut
from .recursive import check_split_recursive as split_recursive
from .statistics import check_bootstrap as bootstrap
from .statistics import check_holm as holm
from .statistics import check_sign_flip as sign_flip
from .verdict import NotStarted, Wrong
