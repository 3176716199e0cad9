"""Checks of exercises beyond the week, drawn at random and held against NumPy and pandas."""

import numpy as np
import pandas as pd

from .cases import Example
from .recorded import random_check

TIMES = 60  # cases of each
TENTHS = np.arange(-10, 11) / 10


@random_check(TIMES)
def grown(rng: np.random.Generator) -> Example:
    """Check grown(differences, stake) against products of NumPy."""
    differences = rng.choice(TENTHS, rng.integers(1, 6))
    stake = float(rng.choice(TENTHS[1:-1]))
    return Example((differences.tolist(), stake), np.cumprod(1 + stake * differences).tolist())


@random_check(TIMES)
def stops_after(rng: np.random.Generator) -> Example:
    """Check stops_after(wealth, enough) against the first place that NumPy finds."""
    wealth = rng.integers(0, 8, rng.integers(1, 7)).astype(float)
    places = np.flatnonzero(wealth >= 5)
    return Example((wealth.tolist(), 5), int(places[0]) + 1 if len(places) else len(wealth))


@random_check(TIMES)
def mended(rng: np.random.Generator) -> Example:
    """Check mended(people, judge_read, judge_rest) against three means."""
    n, rest = rng.integers(1, 6, 2)
    people, read, unread = (rng.integers(0, 11, size) / 10 for size in (n, n, rest))
    wanted = np.mean(people) - np.mean(read) + np.mean(unread)
    return Example((people.tolist(), read.tolist(), unread.tolist()), float(wanted))


@random_check(TIMES)
def true_share(rng: np.random.Generator) -> Example | None:
    """Check true_share(said, sensitivity, specificity) against counts by construction.

    There is no case of a judge that tells hardly more than a coin.
    """
    relevant, others = (int(n) for n in rng.integers(1, 20, 2))
    found, false = int(rng.integers(0, relevant + 1)), int(rng.integers(0, others + 1))
    rates = found / relevant, 1 - false / others
    if abs(sum(rates) - 1) <= 0.01:
        return None
    said = (found + false) / (relevant + others)
    return Example((said, *rates), relevant / (relevant + others))


@random_check(TIMES)
def perfect(rng: np.random.Generator) -> Example:
    """Check perfect(ranking, labels, n) against a stable sort of pandas."""
    ids = rng.permutation([*"abcdefg"])[: rng.integers(1, 8)].tolist()
    labels = {d: int(rng.integers(0, 3)) for d in "acegz"}
    n = int(rng.integers(0, 9))
    first = pd.Series(ids[:n], dtype=object)
    grades = first.map(labels).fillna(0).astype(int)
    order = grades.sort_values(ascending=False, kind="stable").index
    return Example((ids, labels, n), [*first[order], *ids[n:]])


@random_check(TIMES)
def fused(rng: np.random.Generator) -> Example:
    """Check fused(first, second, k) against sums of pandas."""
    first, second = (rng.permutation([*"abcdef"])[: rng.integers(0, 7)].tolist() for _ in range(2))
    k = int(rng.choice([1, 10, 60]))
    parts = [pd.Series(1 / (k + np.arange(1, len(of) + 1)), of) for of in (first, second)]
    sums = parts[0].add(parts[1], fill_value=0).round(10).sort_index()
    return Example((first, second, k), [*sums.sort_values(ascending=False, kind="stable").index])


@random_check(TIMES, top=1.0)
def capped_recall(rng: np.random.Generator) -> Example:
    """Check capped_recall(ranking, grades, k) against sets."""
    ids = rng.permutation([*"abcdef"])[: rng.integers(0, 7)].tolist()
    grades = {d: int(rng.integers(0, 3)) for d in "abdfz"}
    k, relevant = int(rng.integers(1, 6)), {d for d, grade in grades.items() if grade}
    possible = min(k, len(relevant))
    wanted = len(relevant.intersection(ids[:k])) / possible if possible else 0.0
    return Example((ids, grades, k), wanted)


@random_check(TIMES)
def tool_order(rng: np.random.Generator) -> Example:
    """Check tool_order(scores) against a table that pandas sorts."""
    ids = rng.permutation([f"d{n}" for n in range(12)])[: rng.integers(1, 8)].tolist()
    scores = (rng.integers(0, 4, len(ids)) / 2).tolist()
    table = pd.DataFrame({"id": ids, "score": scores})
    table = table.sort_values(["score", "id"], ascending=False)
    return Example((dict(zip(ids, scores, strict=True)),), table["id"].tolist())


@random_check(TIMES)
def best_of_equals(rng: np.random.Generator) -> Example:
    """Check best_of_equals(gaps, signs) against a product of matrices."""
    gaps = rng.choice(TENTHS, rng.integers(1, 5, 2))
    signs = rng.choice([-1, 1], gaps.shape[1])
    wanted = float((gaps @ signs / len(signs)).max())
    return Example((gaps.tolist(), signs.tolist()), wanted)
