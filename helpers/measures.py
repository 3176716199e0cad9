"""Published numbers: every measure is computed by ir_measures (MacAvaney et al. 2022)."""

import math
from statistics import mean, median

import ir_measures
from ir_measures import AP, RR, Judged, P, R, Success, nDCG

from .runs import Ranking, strictly_decreasing

# Linear gain and log2(rank + 1), as trec_eval.
# RR without a cutoff goes down to the depth of the run.
NAMED = {
    "nDCG@10": nDCG @ 10,
    "RR@10": RR @ 10,
    "hit@1": Success @ 1,
    "hit@5": Success @ 5,
    "hit@10": Success @ 10,
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "recall@100": R @ 100,
    "P@10": P @ 10,
    "AP": AP,
    "RR": RR,
}
MEAN_NAMES = {"RR@10": "MRR@10", "RR": "MRR", "AP": "MAP"}

Qrels = dict[str, dict[str, int]]


def per_query(
    qrels: Qrels, run: dict[str, Ranking], names=tuple(NAMED)
) -> dict[str, dict[str, float]]:
    """Return {query_id: {measure: value}} for every query of `qrels`; one without results gets 0.

    `run` lists (doc_id, score) best first. The order of the list counts: ties are broken before
    ir_measures sees them, because its providers break ties by different rules.
    """
    values = {query_id: dict.fromkeys(names, 0.0) for query_id in qrels}
    named = {NAMED[name]: name for name in names}
    for found in ir_measures.iter_calc(list(named), qrels, _scored(qrels, run)):
        values[found.query_id][named[found.measure]] = found.value
    return values


def judged_at(qrels: Qrels, run: dict[str, Ranking], k: int = 10) -> float:
    """Return the mean share (0 to 1) of the first `k` results that somebody has judged.

    The mean is over the queries of `qrels`; one without results counts as 0.
    """
    return ir_measures.calc_aggregate([Judged @ k], qrels, _scored(qrels, run))[Judged @ k]


def _scored(qrels: Qrels, run: dict[str, Ranking]) -> dict[str, dict[str, float]]:
    """Return {query_id: {doc_id: score}} without ties, for the queries of `qrels` with results."""
    return {q: dict(strictly_decreasing(run[q])) for q in qrels if run.get(q)}


def means(values: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return the mean over queries for each measure, under the name of the mean (MRR@10, MAP)."""
    names = next(iter(values.values()))
    return {
        MEAN_NAMES.get(name, name): mean(row[name] for row in values.values()) for name in names
    }


def first_rank(row: dict[str, float]) -> int | None:
    """Return the rank of the first relevant document, None if none was found.

    The rank comes from RR, which `row` must hold.
    """
    return round(1 / row["RR"]) if row["RR"] else None


def median_first_rank(values: dict[str, dict[str, float]]) -> float:
    """Return the median rank of the first relevant document.

    A query that found none counts as infinite.
    """
    return median(first_rank(row) or math.inf for row in values.values())
