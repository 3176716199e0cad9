"""Checks of exercises beyond the week, drawn at random and held against NumPy and pandas."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from .cases import Example, drawn
from .recorded import recorded
from .verdict import run_check

TENTHS = np.arange(-10, 11) / 10


def _draw_bets(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        differences, stake = rng.choice(TENTHS, rng.integers(1, 6)), float(rng.choice(TENTHS[1:-1]))
        yield Example((differences.tolist(), stake), np.cumprod(1 + stake * differences).tolist())


@recorded
def grown(function: Callable) -> None:
    """Check grown(differences, stake) against products of NumPy."""
    run_check("grown", function, drawn(_draw_bets))


def _draw_stops(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        wealth = rng.integers(0, 8, rng.integers(1, 7)).astype(float)
        places = np.flatnonzero(wealth >= 5)
        yield Example((wealth.tolist(), 5), int(places[0]) + 1 if len(places) else len(wealth))


@recorded
def stops_after(function: Callable) -> None:
    """Check stops_after(wealth, enough) against the first place that NumPy finds."""
    run_check("stops_after", function, drawn(_draw_stops))


def _draw_judges(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        n, rest = rng.integers(1, 6, 2)
        people, read, unread = (rng.integers(0, 11, size) / 10 for size in (n, n, rest))
        wanted = np.mean(people) - np.mean(read) + np.mean(unread)
        yield Example((people.tolist(), read.tolist(), unread.tolist()), float(wanted))


@recorded
def mended(function: Callable) -> None:
    """Check mended(people, judge_read, judge_rest) against three means."""
    run_check("mended", function, drawn(_draw_judges))


def _draw_rates(rng: np.random.Generator) -> Iterator[Example]:
    """Yield what a judge says of documents that it reads, by counts, and their true share."""
    for _ in range(60):
        relevant, others = (int(n) for n in rng.integers(1, 20, 2))
        found, false = int(rng.integers(0, relevant + 1)), int(rng.integers(0, others + 1))
        rates = found / relevant, 1 - false / others
        if abs(sum(rates) - 1) > 0.01:
            said = (found + false) / (relevant + others)
            yield Example((said, *rates), relevant / (relevant + others))


@recorded
def true_share(function: Callable) -> None:
    """Check true_share(said, sensitivity, specificity) against counts by construction."""
    run_check("true_share", function, drawn(_draw_rates))


def _draw_orders(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        ids = rng.permutation([*"abcdefg"])[: rng.integers(1, 8)].tolist()
        labels = {d: int(rng.integers(0, 3)) for d in "acegz"}
        n = int(rng.integers(0, 9))
        first = pd.Series(ids[:n], dtype=object)
        grades = first.map(labels).fillna(0).astype(int)
        order = grades.sort_values(ascending=False, kind="stable").index
        yield Example((ids, labels, n), [*first[order], *ids[n:]])


@recorded
def perfect(function: Callable) -> None:
    """Check perfect(ranking, labels, n) against a stable sort of pandas."""
    run_check("perfect", function, drawn(_draw_orders))


def _draw_lists(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        first, second = (
            rng.permutation([*"abcdef"])[: rng.integers(0, 7)].tolist() for _ in range(2)
        )
        k = int(rng.choice([1, 10, 60]))
        parts = [pd.Series(1 / (k + np.arange(1, len(of) + 1)), of) for of in (first, second)]
        sums = parts[0].add(parts[1], fill_value=0).round(10).sort_index()
        yield Example((first, second, k), [*sums.sort_values(ascending=False, kind="stable").index])


@recorded
def fused(function: Callable) -> None:
    """Check fused(first, second, k) against sums of pandas."""
    run_check("fused", function, drawn(_draw_lists))


def _draw_recalls(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        ids = rng.permutation([*"abcdef"])[: rng.integers(0, 7)].tolist()
        grades = {d: int(rng.integers(0, 3)) for d in "abdfz"}
        k, relevant = int(rng.integers(1, 6)), {d for d, grade in grades.items() if grade}
        possible = min(k, len(relevant))
        wanted = len(relevant.intersection(ids[:k])) / possible if possible else 0.0
        yield Example((ids, grades, k), wanted)


@recorded
def capped_recall(function: Callable) -> None:
    """Check capped_recall(ranking, grades, k) against sets."""
    run_check("capped_recall", function, drawn(_draw_recalls), top=1.0)


def _draw_scores(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        ids = rng.permutation([f"d{n}" for n in range(12)])[: rng.integers(1, 8)].tolist()
        scores = (rng.integers(0, 4, len(ids)) / 2).tolist()
        table = pd.DataFrame({"id": ids, "score": scores})
        table = table.sort_values(["score", "id"], ascending=False)
        yield Example((dict(zip(ids, scores, strict=True)),), table["id"].tolist())


@recorded
def tool_order(function: Callable) -> None:
    """Check tool_order(scores) against a table that pandas sorts."""
    run_check("tool_order", function, drawn(_draw_scores))


def _draw_gaps(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        gaps = rng.choice(TENTHS, rng.integers(1, 5, 2))
        signs = rng.choice([-1, 1], gaps.shape[1])
        wanted = float((gaps @ signs / len(signs)).max())
        yield Example((gaps.tolist(), signs.tolist()), wanted)


@recorded
def best_of_equals(function: Callable) -> None:
    """Check best_of_equals(gaps, signs) against a product of matrices."""
    run_check("best_of_equals", function, drawn(_draw_gaps))
