"""Checks of the measures of a ranking."""

import functools
import math
from collections.abc import Callable

import numpy as np

from ...measure.stats import SEED
from .cases import Example
from .recorded import random_check, recorded
from .verdict import run_check

RANKED, GRADED = ["a", "b", "c", "d", "e"], {"b": 2, "d": 1, "x": 1}
TWELVE = [f"d{n}" for n in range(1, 13)]  # a ranking past the usual cutoff of ten


@functools.cache
def made_rankings() -> list[tuple[list[str], dict[str, int]]]:
    """Return 200 random rankings with graded labels, zeros and documents that were not found.

    Every other one is longer than ten.
    """
    rng, found = np.random.default_rng(SEED), []
    for turn in range(200):
        names = [f"d{n}" for n in range(30 if turn // 2 % 2 else 10)]
        labelled = rng.choice(names, rng.integers(1, len(names) // 2 + 1), replace=False)
        grades = {str(doc_id): int(rng.integers(0, 4)) for doc_id in labelled}
        n_found = rng.integers(0, len(names) - 1)
        found.append(([str(d) for d in rng.permutation(names)[:n_found]], grades))
    return found


@functools.cache
def _measured(name: str, *cutoffs: int | None) -> list[Example]:
    """Return what ir_measures gives for the rankings, with one cutoff after the other in turn."""
    import ir_measures

    whole = getattr(ir_measures, name)
    measures = {k: whole @ k if k else whole for k in cutoffs}
    rankings = made_rankings()
    qrels = {str(n): grades for n, (_, grades) in enumerate(rankings)}
    run = {}
    for n, (ranking, _) in enumerate(rankings):
        if ranking:
            run[str(n)] = {doc_id: -float(rank) for rank, doc_id in enumerate(ranking)}
    values = {}  # none of a query without results
    for metric in ir_measures.iter_calc([*measures.values()], qrels, run):
        values[metric.query_id, metric.measure] = float(metric.value)
    cases = []
    for n, (ranking, grades) in enumerate(rankings):
        k = cutoffs[n % len(cutoffs)]
        args = (ranking, grades, k) if k else (ranking, grades)
        cases.append(Example(args, values.get((str(n), measures[k]), 0.0)))
    return cases


@recorded
def reciprocal_rank(function: Callable) -> None:
    """Check reciprocal_rank(ranking, grades, k) against ir_measures."""
    hand = [
        Example((["a"], {"a": 1}), 1.0),
        Example(([], {"a": 1}), 0.0),
        Example((["x", "a"], {"a": 1}), 1 / 2),
        Example((["x", "a"], {"a": 1}, 1), 0.0),
        Example((["x", "a"], {"x": 0, "a": 1}), 1 / 2),
        Example((["a", "b"], {"a": 1, "b": 2}), 1.0),
        Example((RANKED, GRADED), 1 / 2),
        Example((TWELVE, {"d12": 1}), 1 / 12),
        Example((TWELVE, {"d12": 3}, 20), 1 / 12),
    ]
    run_check("reciprocal_rank", function, _measured("RR", None, 3, None, 20), hand, top=1.0)


@recorded
def hit(function: Callable) -> None:
    """Check hit(ranking, grades, k) against ir_measures."""
    hand = [
        Example((["a"], {"a": 1}, 1), 1.0),
        Example(([], {"a": 1}, 5), 0.0),
        Example((["x", "a"], {"a": 1}, 1), 0.0),
        Example((["x"], {"x": 0, "a": 1}, 5), 0.0),
        Example((["a", "b"], {"a": 1, "b": 1, "c": 1}, 5), 1.0),
        Example((RANKED, GRADED, 5), 1.0),
        Example((TWELVE, {"d12": 1}, 20), 1.0),
        Example((TWELVE, {"d12": 1}, 11), 0.0),
    ]
    run_check("hit", function, _measured("Success", 1, 3, 5, 20), hand, top=1.0)


@recorded
def recall(function: Callable) -> None:
    """Check recall(ranking, grades, k) against ir_measures."""
    hand = [
        Example((["a"], {"a": 1}, 1), 1.0),
        Example(([], {"a": 1}, 5), 0.0),
        Example((["a"], {"a": 0}, 5), 0.0),
        Example((["a", "b"], {"a": 1, "b": 1}, 1), 1 / 2),
        Example((["a", "b"], {"a": 2, "b": 0, "c": 1}, 5), 1 / 2),
        Example((RANKED, GRADED, 5), 2 / 3),
        Example((TWELVE, {"d1": 1, "d12": 3, "x": 2, "y": 1}, 20), 1 / 2),
    ]
    run_check("recall", function, _measured("R", 1, 3, 5, 20), hand, top=1.0)


@random_check(100)
def dcg(rng: np.random.Generator) -> Example:
    """Check dcg(gains) against scikit-learn."""
    from sklearn.metrics import dcg_score

    gains = [float(gain) for gain in rng.choice([0, 0.5, 1, 2, 3, 7], rng.integers(2, 16))]
    return Example((gains,), float(dcg_score([gains], [range(len(gains), 0, -1)])))


def exponential(grade: int) -> int:
    """Return the gain 2^grade - 1 (Burges et al. 2005)."""
    return 2**grade - 1


def one_more(grade: int) -> int:
    """Return a gain that grade 0 would have, too, if it were asked for."""
    return grade + 1


@recorded
def ndcg(function: Callable) -> None:
    """Check ndcg(ranking, grades, k, gain) against ir_measures and values worked on paper."""
    three, third = {"a": 1, "b": 1, "c": 1}, 1 / math.log2(3)
    all_three = 1 + third + 1 / 2
    hand = [
        Example((["a"], {"a": 1}, 10), 1.0),
        Example(([], {"a": 1}, 10), 0.0),
        Example((["a"], {"a": 0}, 10), 0.0),
        Example((["x", "a"], {"a": 1}, 10), third),
        Example((["a", "b", "c"], three, 1), 1.0),
        Example((["a", "b"], {"a": 1, "b": 1}, 10), 1.0),
        Example((["a", "x", "y"], three, 10), 1 / all_three),
        Example((["b", "a"], {"b": 1, "a": 2}, 10), (1 + 2 * third) / (2 + third)),
        Example((RANKED, GRADED, 5), (2 * third + 1 / math.log2(5)) / (2 + third + 1 / 2)),
        Example((TWELVE, {"d12": 3}, 20), 1 / math.log2(13)),
        Example((["b", "a"], {"b": 1, "a": 2}, 10, exponential), (1 + 3 * third) / (3 + third)),
        Example((["z", "a"], {"a": 1, "z": 0}, 10, one_more), third),
    ]
    run_check("ndcg", function, _measured("nDCG", 3, 5, 10, 20), hand, top=1.0)
