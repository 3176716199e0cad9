"""Hold BM25 in SQL against rank_bm25, session B's run and ir_measures, on Sail too.

Run by `make proof ONLY=sail`: on Sail in one process, then on a cluster of four workers of it.
"""

import itertools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from rank_bm25 import BM25Okapi

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from helpers.measure import evalset, measures, runs  # noqa: E402
from helpers.measure.sql import bm25, engines  # noqa: E402

SCORE, MEASURE = 1e-9, 1e-12  # what a score and a measure may differ by
CLUSTER = {
    "SAIL_MODE": "local-cluster",
    "SAIL_CLUSTER__WORKER_INITIAL_COUNT": "4",
    "SAIL_CLUSTER__WORKER_MAX_COUNT": "4",
}


class Gaps(NamedTuple):
    queries: int  # with a result in the reference
    rankings: int  # of them that differ
    session_b: int  # rankings that differ from the run that session B saved
    score: float  # largest difference
    measure: float


def by_library(units, queries, words):
    """Return the ranking of each query by rank_bm25: units in, each document's best one out."""
    texts = [words(text) for _, _, text in units]
    library, sets, found = BM25Okapi(texts), [set(text) for text in texts], {}
    for query_id, query in queries.items():
        asked, best = words(query), {}
        for (_, doc_id, _), own, score in zip(units, sets, library.get_scores(asked), strict=True):
            if not own.isdisjoint(asked):
                best[doc_id] = max(float(score), best.get(doc_id, -np.inf))
        if best:
            found[query_id] = runs.in_order([*best.items()])[: runs.BASELINE["depth"]]
    return found


def order(run):
    """Return {query_id: its documents}, without the queries that found nothing."""
    return {q: [doc_id for doc_id, _ in ranking] for q, ranking in run.items() if ranking}


def differing(one, other):
    """Return how many queries have other documents, or an other order of them."""
    one, other = order(one), order(other)
    return sum(one.get(query_id) != other.get(query_id) for query_id in one.keys() | other.keys())


def gaps(opened, evals, chunker=None):
    """Index, search and evaluate a set, and return what differs from the references."""
    bm25.add_documents(opened, evals, chunker=chunker)
    bm25.index_documents(opened, bm25.Settings())
    bm25.add_queries(opened, evals)
    found, values = bm25.search_queries(opened), bm25.evaluate_run(opened, evals)
    asked = {query.query_id: query.query for query in evals.all_queries.values()}
    wanted = by_library(bm25.rows_to_rank(evals, chunker), asked, evals.words)
    scores = []
    for query_id, ranking in wanted.items():
        own = dict(found.get(query_id, ()))
        scores += [abs(score - own.get(doc_id, np.inf)) for doc_id, score in ranking]
    reference = measures.per_query(evals.qrels(), wanted, [*bm25.COLUMN_NAMES.values()])
    off = (pd.DataFrame(values) - pd.DataFrame(reference)).abs().fillna(np.inf)
    saved = evals.folder / "runs" / f"{chunker}.trec"
    session_b = differing(found, runs.read_rankings(saved)) if chunker else 0
    return Gaps(len(wanted), differing(found, wanted), session_b, max(scores), off.to_numpy().max())


def are_equal(found):
    """Return whether nothing differs by more than rounding."""
    if found.rankings or found.session_b:
        return False
    return found.score < SCORE and found.measure < MEASURE


def main(folders):
    """Print what differs on each engine, over documents and over chunks; return 1 if any does."""
    status = 0
    places = {"one process": {}, "four workers": CLUSTER}
    cases = itertools.product(places, folders, (None, runs.BASELINE["chunker"]))
    for place, folder, chunker in cases:
        os.environ.update(places[place])
        began = time.monotonic()
        with (
            tempfile.TemporaryDirectory() as scratch,
            engines.engine("sail", Path(scratch)) as opened,
        ):
            found = gaps(opened, evalset.load(folder), chunker)
        if not are_equal(found):
            status = 1
        print(
            f"Sail, {place}, {folder.name}, {chunker or 'documents'}: {found.rankings} of "
            f"{found.queries} rankings differ, {found.session_b} from session B's; scores "
            f"by {found.score:.1g}, measures by {found.measure:.1g} at most "
            f"({time.monotonic() - began:.0f} s)",
            flush=True,
        )
    return status


if __name__ == "__main__":
    sys.exit(main([Path(folder) for folder in sys.argv[1:]] or [evalset.DEFAULT]))
