"""Published numbers: every measure is computed by ir_measures (MacAvaney et al. 2022)."""

import math
from itertools import islice
from statistics import mean, median

import ir_measures
from ir_measures import AP, RR, P, R, Success, nDCG

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
    scored = {
        q: dict(strictly_decreasing(ranking))
        for q, ranking in run.items()
        if q in qrels and ranking
    }
    _fill(values, {NAMED[name]: name for name in names if name != "RR@10"}, qrels, scored)
    if "RR@10" in names:  # trec_eval's reciprocal rank knows no cutoff, so it sees ten documents
        first = {q: dict(islice(documents.items(), 10)) for q, documents in scored.items()}
        _fill(values, {RR: "RR@10"}, qrels, first)
    return values


def _fill(values: dict, by_measure: dict, qrels: Qrels, scored: dict) -> None:
    """Put {measure: name} into `values` by the evaluators that ir_measures builds on trec_eval.

    Its own loop gives the same numbers, but takes most of the time to wrap and count each one.
    """
    for invoker in ir_measures.pytrec_eval.evaluator(list(by_measure), qrels).invokers:
        names = {key: by_measure[measure] for key, (measure, _) in invoker.measure_map.items()}
        for query_id, found in invoker.evaluator.evaluate(scored).items():
            values[query_id].update((names[key], value) for key, value in found.items())


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
