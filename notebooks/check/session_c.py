"""Checks of the exercises of session C: measures, statistics, and the causes of failures."""

import functools
import gc
import math
from collections.abc import Callable

import numpy as np

from helpers import stats

from . import verdict
from .verdict import (
    SEED,
    TOLERANCE,
    Case,
    Mistakes,
    Raised,
    Wrong,
    called,
    common,
    error_lines,
    mean,
    not_started,
    on_form,
    random_cases,
    refuse_unfinished,
    refuse_unfit,
    returned,
    shortened,
    shown,
)

RANKING, GRADES = ["a", "b", "c", "d", "e"], {"b": 2, "d": 1, "x": 1}


@functools.cache
def _ranked() -> list[tuple[list[str], dict[str, int]]]:
    """Return 200 rankings with graded labels, zeros and documents that were not found."""
    rng, names, found = np.random.default_rng(SEED), [f"d{n}" for n in range(10)], []
    for _ in range(200):
        labelled = rng.choice(names, rng.integers(1, 6), replace=False)
        grades = {str(doc_id): int(rng.integers(0, 3)) for doc_id in labelled}
        found.append(([str(d) for d in rng.permutation(names)[: rng.integers(0, 9)]], grades))
    return found


def _measured(measure, cutoffs: tuple = ()) -> list[Case]:
    """Return the values that ir_measures gives, at each cutoff in turn where there are any."""
    import ir_measures

    ranked, cases = _ranked(), {}
    for turn, k in enumerate(cutoffs or (None,)):
        chosen = range(turn, len(ranked), len(cutoffs) or 1)
        qrels = {str(n): ranked[n][1] for n in chosen}
        run = {str(n): {d: -float(r) for r, d in enumerate(ranked[n][0])} for n in chosen}
        values = dict.fromkeys(qrels, 0.0)  # a query without results
        scored = {n: scores for n, scores in run.items() if scores}
        for metric in ir_measures.iter_calc([measure @ k if k else measure], qrels, scored):
            values[metric.query_id] = float(metric.value)
        cases |= {n: Case((*ranked[n], *([k] if k else [])), values[str(n)]) for n in chosen}
    return [cases[n] for n in range(len(ranked))]


@functools.cache
def _draw_measure(name: str) -> list[Case]:
    import ir_measures

    cutoffs = {"nDCG": (3, 5, 10), "R": (1, 3, 5), "Success": (1, 3, 5)}.get(name, ())
    if name == "RR":  # every other case has no cutoff
        whole, cut = _measured(ir_measures.RR), _measured(ir_measures.RR, (1, 3, 5, 10))
        return [pair[n % 2] for n, pair in enumerate(zip(whole, cut, strict=True))]
    return _measured(getattr(ir_measures, name), cutoffs)


def _ranks(ranking: list, grades: dict, k: int | None = None, least: int = 1) -> list[int]:
    """Return the ranks of documents with a grade of at least `least`."""
    return [n for n, d in enumerate(ranking[:k], 1) if grades.get(d, least - 1) >= least]


def _relevant(grades: dict) -> int:
    return sum(grade > 0 for grade in grades.values())


def reciprocal_rank(function: Callable) -> None:
    """Check reciprocal_rank(ranking, grades, k) against ir_measures."""
    hand = [
        Case((["a"], {"a": 1}), 1.0),
        Case(([], {"a": 1}), 0.0),
        Case((["x", "a"], {"a": 1}), 1 / 2),
        Case((["x", "a"], {"a": 1}, 1), 0.0),
        Case((["x", "a"], {"x": 0, "a": 1}), 1 / 2),
        Case((["a", "b"], {"a": 1, "b": 2}), 1.0),
        Case((RANKING, GRADES), 1 / 2),
    ]
    mistakes = [
        ("Ranks are counted from 0. The first place is rank 1.",
         lambda r, g, k=None: next((1 / (n - 1) for n in _ranks(r, g, k)), 0)),
        ("The first place counts as rank 2. It is rank 1.",
         lambda r, g, k=None: next((1 / (n + 1) for n in _ranks(r, g, k)), 0)),
        ("The cutoff is ignored: what stands after rank k counts as not found.",
         lambda r, g, k=None: next((1 / n for n in _ranks(r, g)), 0)),
        ("The cutoff is one short: ranking[:k] holds the first k documents.",
         lambda r, g, k=None: next((1 / n for n in _ranks(r, g, k and k - 1)), 0)),
        ("A document labelled 0 counts as relevant. Only grades above 0 do.",
         lambda r, g, k=None: next((1 / n for n in _ranks(r, g, k, least=0) if r[n - 1] in g), 0)),
        ("The last relevant document decides. The first one does: return when it is found.",
         lambda r, g, k=None: next((1 / n for n in _ranks(r, g, k)[::-1]), 0)),
        ("The reciprocal ranks of all relevant documents are added up. Only the first counts.",
         lambda r, g, k=None: sum(1 / n for n in _ranks(r, g, k))),
        ("The document with the highest grade decides. The first relevant one does.",
         lambda r, g, k=None:
             max(((g[r[n - 1]], 1 / n) for n in _ranks(r, g, k)), default=(0, 0))[1]),
        ("This is the rank. The reciprocal rank is 1 / rank.",
         lambda r, g, k=None: next(iter(_ranks(r, g, k)), 0)),
        ("The grade stands in the numerator. The reciprocal rank knows no grades.",
         lambda r, g, k=None: next((g[r[n - 1]] / n for n in _ranks(r, g, k)), 0)),
        ("Only the first place is looked at.", lambda r, g, k=None: float(bool(_ranks(r, g, 1)))),
    ]  # fmt: skip
    verdict.compare("reciprocal_rank", function, hand, _draw_measure("RR"), mistakes, top=1.0)


def hit(function: Callable) -> None:
    """Check hit(ranking, grades, k) against ir_measures."""
    hand = [
        Case((["a"], {"a": 1}, 1), 1.0),
        Case(([], {"a": 1}, 5), 0.0),
        Case((["x", "a"], {"a": 1}, 1), 0.0),
        Case((["x"], {"x": 0, "a": 1}, 5), 0.0),
        Case((["a", "b"], {"a": 1, "b": 1, "c": 1}, 5), 1.0),
        Case((RANKING, GRADES, 5), 1.0),
    ]
    mistakes = [
        ("This is recall, the fraction of the relevant documents. hit@k is 1 or 0.",
         lambda r, g, k: len(_ranks(r, g, k)) / max(1, _relevant(g))),
        ("The relevant documents are counted. hit@k is 1 or 0.",
         lambda r, g, k: len(_ranks(r, g, k))),
        ("This is precision. hit@k is 1 or 0.", lambda r, g, k: len(_ranks(r, g, k)) / k),
        ("The cutoff is ignored: only the first k places count.",
         lambda r, g, k: float(bool(_ranks(r, g)))),
        ("A document labelled 0 counts as relevant. Only grades above 0 do.",
         lambda r, g, k: float(any(d in g for d in r[:k]))),
        ("The cutoff is one short: ranking[:k] holds the first k documents.",
         lambda r, g, k: float(bool(_ranks(r, g, k - 1)))),
        ("Only place k itself is looked at.", lambda r, g, k: float(k in _ranks(r, g))),
    ]  # fmt: skip
    verdict.compare("hit", function, hand, _draw_measure("Success"), mistakes, top=1.0)


def recall(function: Callable) -> None:
    """Check recall(ranking, grades, k) against ir_measures."""
    hand = [
        Case((["a"], {"a": 1}, 1), 1.0),
        Case(([], {"a": 1}, 5), 0.0),
        Case((["a"], {"a": 0}, 5), 0.0),
        Case((["a", "b"], {"a": 1, "b": 1}, 1), 1 / 2),
        Case((["a", "b"], {"a": 2, "b": 0, "c": 1}, 5), 1 / 2),
        Case((RANKING, GRADES, 5), 2 / 3),
    ]
    mistakes = [
        ("This divides by k: that is precision. Recall divides by the relevant documents.",
         lambda r, g, k: len(_ranks(r, g, k)) / k),
        ("This is hit@k, 1 as soon as anything is found. Recall is the fraction found.",
         lambda r, g, k: float(bool(_ranks(r, g, k)))),
        ("This divides by the smaller of k and the relevant documents. Recall divides by all that"
         " are relevant.",
         lambda r, g, k: len(_ranks(r, g, k)) / max(1, min(k, _relevant(g)))),
        ("Documents labelled 0 stand in the denominator. Only grades above 0 are relevant.",
         lambda r, g, k: len(_ranks(r, g, k)) / len(g)),
        ("Documents labelled 0 count as relevant. Only grades above 0 are.",
         lambda r, g, k: len({*r[:k]} & {*g}) / len(g)),
        ("The cutoff is ignored: only the first k places count.",
         lambda r, g, k: len(_ranks(r, g)) / max(1, _relevant(g))),
        ("The cutoff is one short: ranking[:k] holds the first k documents.",
         lambda r, g, k: len(_ranks(r, g, k - 1)) / max(1, _relevant(g))),
        ("Grades are added up in the denominator. Recall counts documents.",
         lambda r, g, k: len(_ranks(r, g, k)) / max(1, sum(g.values()))),
        ("Grades are added up. Recall counts documents.",
         lambda r, g, k: sum(g[r[n - 1]] for n in _ranks(r, g, k)) / max(1, sum(g.values()))),
        ("Nothing is relevant there, so there is nothing to divide by: return 0.",
         lambda r, g, k: len(_ranks(r, g, k)) / _relevant(g)),
    ]  # fmt: skip
    verdict.compare("recall", function, hand, _draw_measure("R"), mistakes, top=1.0)


def _precisions(ranking: list, grades: dict, least: int = 1) -> list[float]:
    """Return the precision at the rank of each relevant document."""
    return [(n + 1) / rank for n, rank in enumerate(_ranks(ranking, grades, least=least))]


def average_precision(function: Callable) -> None:
    """Check average_precision(ranking, grades) against ir_measures."""
    hand = [
        Case((["a"], {"a": 1}), 1.0),
        Case(([], {"a": 1}), 0.0),
        Case((["a"], {"a": 0}), 0.0),
        Case((["x", "a"], {"a": 1}), 1 / 2),
        Case((["a"], {"a": 1, "b": 1}), 1 / 2),
        Case((["x", "b", "a"], {"a": 2, "b": 1, "c": 1}), (1 / 2 + 2 / 3) / 3),
        Case((RANKING, GRADES), (1 / 2 + 2 / 4) / 3),
    ]
    mistakes = [
        ("This divides by the relevant documents that were found. One that was not found adds "
         "nothing, but counts in the denominator.",
         lambda r, g: mean(_precisions(r, g))),
        ("The precision at every rank is added up. Only ranks of relevant documents count.",
         lambda r, g:
             sum(len(_ranks(r, g, n)) / n for n in range(1, len(r) + 1)) / max(1, _relevant(g))),
        ("This is the mean precision over all ranks. Only ranks of relevant documents count.",
         lambda r, g: mean(len(_ranks(r, g, n)) / n for n in range(1, len(r) + 1))),
        ("1 / rank is added up. The precision at that rank counts the relevant ones so far.",
         lambda r, g: sum(1 / n for n in _ranks(r, g)) / max(1, _relevant(g))),
        ("This divides by the length of the list. Divide by the number of relevant documents.",
         lambda r, g: sum(_precisions(r, g)) / max(1, len(r))),
        ("Documents labelled 0 stand in the denominator. Only grades above 0 are relevant.",
         lambda r, g: sum(_precisions(r, g)) / len(g)),
        ("Documents labelled 0 count as relevant. Only grades above 0 are.",
         lambda r, g: sum(_precisions(r, dict.fromkeys(g, 1))) / len(g)),
        ("The precisions are weighted by grade. Average precision knows no grades.",
         lambda r, g:
             sum(p * g[r[n - 1]] for p, n in zip(_precisions(r, g), _ranks(r, g), strict=True))
             / max(1, _relevant(g))),
        ("The sum is not divided by the number of relevant documents.",
         lambda r, g: sum(_precisions(r, g))),
        ("Nothing is relevant there, so there is nothing to divide by: return 0.",
         lambda r, g: sum(_precisions(r, g)) / _relevant(g)),
    ]  # fmt: skip
    verdict.compare("average_precision", function, hand, _draw_measure("AP"), mistakes, top=1.0)


def _draw_dcg(rng: np.random.Generator) -> list[Case]:
    from sklearn.metrics import dcg_score

    cases = []
    for _ in range(100):
        gains = [float(gain) for gain in rng.integers(0, 4, rng.integers(2, 9))]
        cases.append(Case((gains,), float(dcg_score([gains], [range(len(gains), 0, -1)]))))
    return cases


def _discounted(gains, by: Callable) -> float:
    return sum(gain / by(rank) for rank, gain in enumerate(gains, 1))


def _log2(rank: int) -> float:
    return math.log2(rank + 1)


def dcg(function: Callable) -> None:
    """Check dcg(gains) against scikit-learn."""
    hand = [
        Case(([],), 0.0),
        Case(([1.0],), 1.0),
        Case(([0.0, 1.0],), 1 / math.log2(3)),
        Case(([2.0],), 2.0),
        Case(([1.0, 1.0],), 1 + 1 / math.log2(3)),
        Case(([0.0, 1.0, 0.0, 1.0, 0.0],), 1 / math.log2(3) + 1 / math.log2(5)),
    ]
    mistakes = [
        ("The logarithm is the natural one: math.log2 is wanted.",
         lambda gains: _discounted(gains, lambda rank: math.log(rank + 1))),
        ("The logarithm has base 10: math.log2 is wanted.",
         lambda gains: _discounted(gains, lambda rank: math.log10(rank + 1))),
        ("The logarithm of the rank itself is 0 at rank 1: take log2(rank + 1).",
         lambda gains: _discounted(gains, math.log2)),
        ("Ranks 1 and 2 both count in full: that is the form of 2002. Take log2(rank + 1).",
         lambda gains: _discounted(gains, lambda rank: max(1, math.log2(rank)))),
        ("The first gain is discounted: ranks begin at 1, and log2(1 + 1) is 1.",
         lambda gains: _discounted(gains, lambda rank: math.log2(rank + 2))),
        ("The logarithm is missing: divide by log2(rank + 1), not by rank + 1.",
         lambda gains: _discounted(gains, lambda rank: rank + 1)),
        ("This divides by the rank. Divide by log2(rank + 1).",
         lambda gains: _discounted(gains, lambda rank: rank)),
        ("The gains are turned into 2^gain - 1. This function takes gains as they are.",
         lambda gains: _discounted([2**gain - 1 for gain in gains], _log2)),
        ("The gains are sorted first: that is the ideal order. Take the order that is given.",
         lambda gains: _discounted(sorted(gains, reverse=True), _log2)),
        ("Every gain above 0 counts as 1. The gains count as they are.",
         lambda gains: _discounted([float(gain > 0) for gain in gains], _log2)),
        ("The gains are added up without a discount.", sum),
    ]  # fmt: skip
    verdict.compare("dcg", function, hand, random_cases(_draw_dcg), mistakes)


def _gains(ranking: list, grades: dict, k: int, gain: Callable = float) -> list[float]:
    return [gain(max(0, grades.get(doc_id, 0))) for doc_id in ranking[:k]]


def _ideal(grades: dict, k: int | None, gain: Callable = float) -> list[float]:
    return sorted((gain(grade) for grade in grades.values() if grade > 0), reverse=True)[:k]


def _normed(gains: list, ideal: list, by: Callable = _log2) -> float:
    best = _discounted(ideal, by)
    return _discounted(gains, by) / best if best else 0.0


def exponential(grade: int) -> int:
    """Return the gain 2^grade - 1 (Burges et al. 2005)."""
    return 2**grade - 1


def _with_gain(wrong: Callable) -> Callable:
    """Return a wrong nDCG of linear gain as one that takes the gain as an argument."""

    def measured(ranking, grades, k, gain=float):
        gained = {d: gain(grade) if grade > 0 else grade for d, grade in grades.items()}
        return wrong(ranking, gained, k)

    return measured


def _ndcg_mistakes() -> Mistakes:
    """Return wrong nDCGs, those of linear gain first."""
    linear = [
        ("The labels are cut at k before they are sorted, so the best may be lost: sort first.",
         lambda r, g, k: _normed(_gains(r, g, k), _ideal(dict([*g.items()][:k]), None))),
        ("The ideal order is made from what was retrieved, so a miss costs nothing. It is made "
         "from the labels.",
         lambda r, g, k: _normed(_gains(r, g, k), sorted(_gains(r, g, k), reverse=True))),
        ("The ideal order is made from the whole ranking that was retrieved, so a miss costs "
         "nothing. It is made from the labels.",
         lambda r, g, k: _normed(_gains(r, g, k), sorted(_gains(r, g, len(r)), reverse=True)[:k])),
        ("The gain is 2^grade - 1, the exponential form. The linear one is the grade itself.",
         lambda r, g, k: _normed(_gains(r, g, k, exponential), _ideal(g, k, exponential))),
        ("The ideal order is not cut at k: a list of k places can hold no more.",
         lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, None))),
        ("The DCG is not divided by that of the ideal order.",
         lambda r, g, k: _discounted(_gains(r, g, k), _log2)),
        ("The cutoff is ignored.", lambda r, g, k: _normed(_gains(r, g, len(r)), _ideal(g, None))),
        ("The cutoff holds for the ideal order only: cut the ranking, too.",
         lambda r, g, k: _normed(_gains(r, g, len(r)), _ideal(g, k))),
        ("Every relevant document gains 1. The gain is its grade.",
         lambda r, g, k: _normed(_gains(r, g, k, bool), _ideal(g, k, bool))),
        ("The labels are not sorted: the ideal order begins with the highest grade.",
         lambda r, g, k: _normed(_gains(r, g, k), [max(0, grade) for grade in g.values()][:k])),
        ("The ideal order begins with the lowest grade: sort from high to low.",
         lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, None)[::-1][:k])),
        ("Documents without a label are left out before ranks are given: each keeps its place.",
         lambda r, g, k: _normed(_gains([d for d in r[:k] if d in g], g, k), _ideal(g, k))),
        ("Ranks 1 and 2 both count in full. Divide each gain by log2(rank + 1).",
         lambda r, g, k:
             _normed(_gains(r, g, k), _ideal(g, k), lambda rank: max(1, math.log2(rank)))),
        ("The logarithm is missing: divide each gain by log2(rank + 1).",
         lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, k), lambda rank: rank + 1)),
        ("The gains are divided without a discount: each is divided by log2(rank + 1) first.",
         lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, k), lambda rank: 1)),
        ("Nothing is relevant there, so the ideal is 0 and cannot divide: return 0.",
         lambda r, g, k: _discounted(_gains(r, g, k), _log2) / _discounted(_ideal(g, k), _log2)),
    ]  # fmt: skip
    return [
        ("The argument gain is ignored: it turns a grade above 0 into its gain.",
         lambda r, g, k, gain=float: _normed(_gains(r, g, k), _ideal(g, k))),
        ("The argument gain is used for what was retrieved only: the ideal order gains by it, too.",
         lambda r, g, k, gain=float: _normed(_gains(r, g, k, gain), _ideal(g, k))),
        ("The argument gain is used for the ideal order only: what was retrieved gains by it, too.",
         lambda r, g, k, gain=float: _normed(_gains(r, g, k), _ideal(g, k, gain))),
        *((sentence, _with_gain(wrong)) for sentence, wrong in linear),
    ]  # fmt: skip


def ndcg(function: Callable) -> None:
    """Check ndcg(ranking, grades, k, gain) against ir_measures and values worked on paper."""
    three, third = {"a": 1, "b": 1, "c": 1}, 1 / math.log2(3)
    all_three = 1 + third + 1 / 2
    hand = [
        Case((["a"], {"a": 1}, 10), 1.0),
        Case(([], {"a": 1}, 10), 0.0),
        Case((["a"], {"a": 0}, 10), 0.0),
        Case((["x", "a"], {"a": 1}, 10), third),
        Case((["x", "a"], {"a": 1}, 1), 0.0),
        Case((["a", "b", "c"], three, 1), 1.0),
        Case((["a", "b"], {"a": 1, "b": 1}, 10), 1.0),
        Case((["a", "x", "y"], three, 10), 1 / all_three),
        Case((["b", "a"], {"b": 1, "a": 2}, 10), (1 + 2 * third) / (2 + third)),
        Case((RANKING, GRADES, 5), (2 * third + 1 / math.log2(5)) / (2 + third + 1 / 2)),
        Case((["b", "a"], {"b": 1, "a": 2}, 10, exponential), (1 + 3 * third) / (3 + third)),
    ]
    verdict.compare("ndcg", function, hand, _draw_measure("nDCG"), _ndcg_mistakes(), top=1.0)


# The bootstrap is random, so its ends are compared within a share of the standard error.

NEAR = 0.2  # standard errors; five times what two runs of 10,000 draws differ by
UNEVEN = [
    [0.0, 0.0, 0.1, 0.2, 1.0],
    [0.1, 0.35, 0.4, 1.0, 0.95, 0.62, 0.0, 0.55],
    [3.0, 1.0, 1.0, 8.0, 2.0, 1.0],
]


def _resampled(values, rng, draws: int, size: int | None = None) -> np.ndarray:
    return rng.choice(values, (draws, size or len(values)))


def _ends(found, low: float = 2.5, high: float = 97.5) -> tuple[float, float]:
    return tuple(float(end) for end in np.percentile(found, [low, high]))


def _about(values: list[float], reach: float) -> tuple[float, float]:
    return float(np.mean(values)) - reach, float(np.mean(values)) + reach


def _bootstrap_mistakes() -> Mistakes:
    """Return wrong intervals."""
    return [
        ("Each draw takes every value once, so all means are the same: draw with replacement.",
         lambda v, rng, n=10_000: _about(v, 0)),
        ("The mean is taken over the draws, which leaves one for each value: take it over the "
         "values of each draw.",
         lambda v, rng, n=10_000: _ends(_resampled(v, rng, n).mean(0))),
        ("These are percentiles of the drawn values. Take the mean of each draw first.",
         lambda v, rng, n=10_000: _ends(np.tile(v, 100))),
        ("This is the 90 % interval: the middle 95 % lie between 2.5 % and 97.5 %.",
         lambda v, rng, n=10_000: _ends(_resampled(v, rng, n).mean(1), 5, 95)),
        ("This is the t interval. Draw values again and take the middle 95 % of their means.",
         lambda v, rng, n=10_000: stats.t_interval(v)),
        ("This is the mean and 1.96 standard errors to each side. The percentiles of the drawn "
         "means need not lie evenly.",
         lambda v, rng, n=10_000: _about(v, 1.96 * np.std(v, ddof=1) / len(v) ** 0.5)),
        ("This is the median of each draw. The interval is one of the mean.",
         lambda v, rng, n=10_000: _ends(np.median(_resampled(v, rng, n), axis=1))),
        ("The lower end stands above the upper one.",
         lambda v, rng, n=10_000: _ends(_resampled(v, rng, n).mean(1), 97.5, 2.5)),
        ("Each draw has one value less than there are: draw as many as you have.",
         lambda v, rng, n=10_000: _ends(_resampled(v, rng, n, len(v) - 1).mean(1))),
        ("The interval is turned round the mean (the basic bootstrap). The percentile interval "
         "takes the percentiles as they are.",
         lambda v, rng, n=10_000:
             tuple(2 * np.mean(v) - e for e in _ends(_resampled(v, rng, n).mean(1))[::-1])),
    ]  # fmt: skip


def _pair(value: object) -> tuple[float, float] | None:
    """Return (low, high), None where the value is no pair of numbers."""
    try:
        low, high = value
        return float(low), float(high)
    except (TypeError, ValueError):
        return None


def _close(wanted: tuple, got: tuple, values: list[float]) -> bool:
    reach = NEAR * float(np.std(values)) / len(values) ** 0.5 + TOLERANCE
    return all(abs(a - b) <= reach for a, b in zip(wanted, got, strict=True))


def bootstrap(function: Callable) -> None:
    """Check bootstrap(values, rng, draws) against scipy.stats.bootstrap, and its use of rng."""
    refuse_unfit("bootstrap", function)
    answers = []
    for values in UNEVEN:
        got, written = _drawn_by(function, values, 1)
        if _pair(got) is None:
            raise Wrong(
                f"bootstrap is not right yet\n  {written}\n    expected  a pair (low, high)\n"
                f"    got       {shortened(got)}\n{on_form((0.0, 1.0), got)}".rstrip()
            )
        answers.append((values, _pair(got), stats.bootstrap_interval(values), written))
    failing = [answer for answer in answers if not _close(answer[2], answer[1], answer[0])]
    if not failing:
        _check_draws(function)
        verdict.PASSED.add("bootstrap")
        print(f"bootstrap: right on {len(answers)} lists of values, repeats with its seed")
        return
    values, got, wanted, written = failing[0]
    wide = got[1] - got[0] > wanted[1] - wanted[0]
    sentence = (
        f"The interval is too {'wide' if wide else 'narrow'}, or stands in the wrong place: it "
        "lies between the 2.5 % and the 97.5 % point of the drawn means."
    )
    for known, wrong in _bootstrap_mistakes():
        rng = np.random.default_rng(SEED)
        tried = [(wrong(values, rng), found, values) for values, found, _, _ in answers]
        if all(_close(*both) and _flat(both[0]) == _flat(both[1]) for both in tried):
            sentence = known
            break
    near = tuple(round(end, 3) for end in wanted)
    raise Wrong(
        f"bootstrap is not right yet\n  {written}\n    expected  about {near}, from scipy.stats\n"
        f"    got       {tuple(round(end, 3) for end in got)}\n{sentence}".rstrip()
    )


def _flat(ends: tuple) -> bool:
    """Return whether an interval has no width."""
    return abs(ends[1] - ends[0]) < TOLERANCE


def _drawn_by(function: Callable, values: list, seed: int, *draws: int) -> tuple[object, str]:
    """Return what the learner's bootstrap gives, and the call as text. Its errors become Wrong."""
    more = "".join(f", {n}" for n in draws)
    written = f"bootstrap({shown(np.array(values))}, np.random.default_rng({seed}){more})"
    case = Case((np.array(values), np.random.default_rng(seed), *draws), None)
    got = called(function, case)[0]
    refuse_unfinished("bootstrap", function, got)
    if isinstance(got, Raised):
        lines = [*error_lines("bootstrap", function, got.error), f"  {written}"]
        raise Wrong("\n".join(lines)) from None
    return got, written


def _check_draws(function: Callable) -> None:
    """Raise Wrong unless the seed decides the draws and `draws` says how many there are."""
    single, written = _drawn_by(function, UNEVEN[1], 1, 1)
    low, high = _pair(single)
    if abs(high - low) > TOLERANCE:
        raise Wrong(
            f"bootstrap: the values are right, but draws is ignored\n  {written}\n"
            f"    got       {shown(_pair(single))}\nA single draw has one mean: both ends are it."
        )
    first, again, other = (_pair(_drawn_by(function, UNEVEN[1], n, 50)[0]) for n in (1, 1, 2))
    problem = ""
    if first != again:
        problem = "The same seed gives two intervals: draw from rng, and from nothing else."
    elif first == other:
        problem = "Another seed gives the same interval: draw from the rng that is passed in."
    if problem:
        raise Wrong(f"bootstrap: the values are right, but not its use of rng\n{problem}")


def _signs(differences: list) -> list[float]:
    """Return the sum for each pattern of signs."""
    sums = [0.0]
    for d in differences:
        sums = [total + sign * d for total in sums for sign in (1, -1)]
    return sums


def _draw_signs(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(60):
        drawn = rng.integers(-5, 6, rng.integers(1, 8)) / 10
        differences = [float(d) for d in drawn]
        cases.append(Case((differences,), stats.sign_flip_p(differences)))
    return cases


def sign_flip(function: Callable) -> None:
    """Check sign_flip(differences) against scipy.stats.permutation_test."""
    hand = [
        Case(([0.5],), 1.0),
        Case(([1.0, 1.0],), 0.5),
        Case(([0.4] * 5,), 2 / 32),
        Case(([-0.4] * 5,), 2 / 32),
        Case(([0.4, 0.3, 0.2, -0.1],), 4 / 16),
        Case(([0.0, 0.0],), 1.0),
        Case(([0.3, 0.0, 0.1, 0.2, -0.1],), stats.sign_flip_p([0.3, 0.0, 0.1, 0.2, -0.1])),
        Case(([0.2, -0.1, 0.3, -0.3],), stats.sign_flip_p([0.2, -0.1, 0.3, -0.3])),
    ]
    small = 1e-12
    mistakes = [
        ("Only one side is counted: a mean as far below 0 is as surprising, so compare without "
         "the sign.",
         lambda d: mean(total >= sum(d) - small for total in _signs(d))),
        ("One side is counted, by its absolute size: sums as far below 0 are missing.",
         lambda d: mean(total >= abs(sum(d)) - small for total in _signs(d))),
        ("Sums equal to the one seen are left out: at least as far counts, too.",
         lambda d: mean(abs(total) > abs(sum(d)) + small for total in _signs(d))),
        ("Each difference loses its sign before it is added up: take the absolute value of the "
         "sum.",
         lambda d: mean(abs(t) >= sum(map(abs, d)) - small for t in _signs(d))),
        ("This is the share of the patterns that are nearer to 0: p is the share at least as far.",
         lambda d: mean(abs(total) <= abs(sum(d)) + small for total in _signs(d))),
        ("One is added to the count and to the number of patterns. That is for random patterns; "
         "here all of them are counted.",
         lambda d: (sum(abs(t) >= abs(sum(d)) - small for t in _signs(d)) + 1) / (2 ** len(d) + 1)),
        ("This is a number of patterns. p is the share of them.",
         lambda d: sum(abs(total) >= abs(sum(d)) - small for total in _signs(d))),
        ("This is the sign test, which counts wins and forgets how large they are.",
         lambda d:
             mean(abs(t) >= abs(sum(np.sign(d))) for t in _signs([float(np.sign(x)) for x in d]))),
        ("Equal sums are missed by a rounding error in the last digit: compare with a small "
         "tolerance such as 1e-12.",
         lambda d: mean(abs(total) >= abs(sum(d)) for total in _signs(d))),
        ("Equal sums are missed by a rounding error in the last digit: compare with a small "
         "tolerance such as 1e-12.",
         lambda d: mean(abs(total) >= abs(sum(d)) for total in _signs(d[::-1]))),
    ]  # fmt: skip
    verdict.compare("sign_flip", function, hand, random_cases(_draw_signs), mistakes, top=1.0)


def _draw_holm(rng: np.random.Generator) -> list[Case]:
    tried = [[float(p) for p in rng.random(rng.integers(3, 9)).round(3) ** 2] for _ in range(100)]
    gc.freeze()  # statsmodels collects garbage in each call, which takes long in a full notebook
    try:
        return [Case((ps,), stats.holm(ps)) for ps in tried]
    finally:
        gc.unfreeze()


def _steps(ps: list, factor: Callable, monotone: bool = True, top: float = 1.0) -> list[float]:
    """Return p times a factor of its rank, in the given order."""
    found, running = [0.0] * len(ps), 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda n: ps[n])):
        value = min(top, factor(rank, len(ps)) * ps[at])
        running = max(running, value) if monotone else value
        found[at] = running
    return found


def _step_up(ps: list, factor: Callable) -> list[float]:
    found, running = [0.0] * len(ps), 1.0
    for rank, at in reversed([*enumerate(sorted(range(len(ps)), key=lambda n: ps[n]))]):
        running = min(running, factor(rank, len(ps)) * ps[at])
        found[at] = running
    return found


def holm(function: Callable) -> None:
    """Check holm(ps) against statsmodels."""
    hand = [
        Case(([0.04],), [0.04]),
        Case(([],), []),
        Case(([0.01, 0.02],), [0.02, 0.02]),
        Case(([0.02, 0.01],), [0.02, 0.02]),
        Case(([0.6, 0.9],), [1.0, 1.0]),
        Case(([0.01, 0.04, 0.03],), [0.03, 0.06, 0.06]),
        Case(([0.03, 0.001, 0.2],), [0.06, 0.003, 0.2]),
    ]
    mistakes = [
        ("Every p is multiplied by the number of comparisons: that is Bonferroni. Holm's factor "
         "falls by one from each p to the next.",
         lambda ps: [min(1.0, p * len(ps)) for p in ps]),
        ("A larger p can come out below a smaller one: none may fall below the one before it.",
         lambda ps: _steps(ps, lambda rank, n: n - rank, monotone=False)),
        ("A p is above 1: cut it there.",
         lambda ps: _steps(ps, lambda rank, n: n - rank, top=math.inf)),
        ("The results are sorted. Return each in the place of its p.",
         lambda ps: sorted(_steps(ps, lambda rank, n: n - rank))),
        ("The factors follow the given order. The smallest p gets the largest factor.",
         lambda ps: [min(1.0, p * (len(ps) - n)) for n, p in enumerate(ps)]),
        ("The given order is kept and the factors follow it: start with the smallest p.",
         lambda ps:
             [max(min(1.0, ps[m] * (len(ps) - m)) for m in range(n + 1)) for n in range(len(ps))]),
        ("This goes from the largest p downwards and takes minima: that is Hochberg's method. "
         "Holm starts with the smallest and takes maxima.",
         lambda ps: _step_up(ps, lambda rank, n: n - rank)),
        ("This is Benjamini and Hochberg's adjustment, for false discoveries.",
         lambda ps: _step_up(ps, lambda rank, n: n / (rank + 1))),
        ("The factors begin one too low: the smallest of n p values is multiplied by n.",
         lambda ps: _steps(ps, lambda rank, n: n - rank - 1)),
    ]  # fmt: skip
    verdict.compare("holm", function, hand, random_cases(_draw_holm), mistakes, top=None)


def _squad(answer: str, articles: bool = True) -> list[str]:
    words = "".join(c for c in answer.lower() if c.isalnum() or c.isspace()).split()
    return [word for word in words if not articles or word not in ("a", "an", "the")]


def _shared(found: str, gold: str) -> int:
    return common(_squad(found), _squad(gold))


def _harmonic(found: list, gold: list, common: Callable = common) -> float:
    same = common(found, gold)
    return 2 * same / (len(found) + len(gold)) if same else 0.0


def _draw_f1(rng: np.random.Generator) -> list[Case]:
    cases, words = [], "ten minutes wait slipway twice".split()
    for _ in range(200):
        counts = rng.integers(0, 3, (2, len(words)))
        counts[:, 0] += 1
        found, gold = (
            " ".join(str(w) for w in rng.permutation(np.repeat([*words, "the"], [*row, 1])))
            for row in counts
        )
        wanted = 2 * counts.min(axis=0).sum() / counts.sum()
        cases.append(Case((found.capitalize() + ".", gold), float(wanted)))
    return cases


def f1(function: Callable) -> None:
    """Check f1(found, gold) against counts by construction; normalise must stand beside it."""
    hand = [
        Case(("ten minutes", "ten minutes"), 1.0),
        Case(("ten", "twenty"), 0.0),
        Case(("wait ten minutes", "ten minutes"), 4 / 5),
        Case(("The Slipway, v2.", "slipway v2"), 1.0),
        Case(("10 or 10", "the 10 10"), 4 / 5),
        Case(("10 10 10", "10"), 1 / 2),
        Case(("", "ten"), 0.0),
    ]
    mistakes = [
        ("Each word counts once, however often it occurs: count them with Counter.",
         lambda a, b: _harmonic([*{*_squad(a)}], [*{*_squad(b)}])),
        ("Each common word counts once in the numerator: count how often both have it.",
         lambda a, b: _harmonic(_squad(a), _squad(b), lambda a, b: len({*a} & {*b}))),
        ("Every word of the found text that occurs in the gold answer counts, as often as it is "
         "repeated: it counts at most as often as the gold answer has it.",
         lambda a, b: _harmonic(_squad(a), _squad(b), lambda a, b: sum(w in b for w in a))),
        ("This is precision, over the words that were found. F1 joins it with recall.",
         lambda a, b: _shared(a, b) / max(1, len(_squad(a)))),
        ("This is recall, over the words of the gold answer. F1 joins it with precision.",
         lambda a, b: _shared(a, b) / len(_squad(b))),
        ("This is the exact match, 1 or 0. F1 counts the words in common.",
         lambda a, b: float(_squad(a) == _squad(b))),
        ("The texts are compared as they stand: normalise both, for case and punctuation.",
         lambda a, b: _harmonic(a.split(), b.split())),
        ("Articles count as words: normalise drops a, an and the.",
         lambda a, b: _harmonic(_squad(a, False), _squad(b, False))),
        ("Precision and recall are joined by their plain mean. F1 is the harmonic one, 2 x common"
         " / (found + gold).",
         lambda a, b:
             _shared(a, b) * (1 / max(1, len(_squad(a))) + 1 / len(_squad(b))) / 2),
        ("The factor 2 is missing: 2 x common / (found + gold).",
         lambda a, b: _harmonic(_squad(a), _squad(b)) / 2),
        ("An empty text has no words to divide by: return 0 where nothing is in common.",
         lambda a, b: _harmonic(_squad(a), _squad(b)) if a.strip() else 1 / 0),
    ]  # fmt: skip
    verdict.compare("f1", function, hand, random_cases(_draw_f1), mistakes, top=1.0)


CAUSES = (  # in the order of their rules
    "unjudged",
    "version confusion",
    "no shared word",
    "tie",
    "evidence split across chunks",
    "length penalty",
    "common word dominates",
    "missing word",
    "stronger match elsewhere",
)


# Failure cards.


def causes(named: dict | Callable, by_rule: dict[str, str]) -> None:
    """Compare the causes that a learner named with those by rule, both {query_id: cause}.

    `named` needs five queries, or as many as there are. A pair (cause, reason) is kept against
    the rule, by a reader who has looked twice.
    """
    named = returned("causes", named)
    if not isinstance(named, dict):
        raise Wrong(f"check.causes wants a dict {{query_id: cause}}, got {shown(named)[:60]}")
    read = {q: cause for q, cause in named.items() if cause is not None and cause is not ...}
    wanted = min(5, len(by_rule))
    if not read and wanted:
        raise not_started("causes")
    kept = {q for q, cause in read.items() if isinstance(cause, tuple) and len(cause) == 2}
    given = {q: cause[0] if q in kept else cause for q, cause in read.items()}
    _refuse_unknown(given, by_rule)
    differ = [q for q in given if given[q] != by_rule[q]]
    again = [q for q in differ if q not in kept]
    alike = f"causes: {len(given) - len(differ)} of {len(given)} as by rule"
    if again:
        advice = (
            "Look at these cards again. If you still see one otherwise, keep it with your reason: "
            f"{again[0]!r}: ({given[again[0]]!r}, 'because ...')"
        )
        lines = [f"  {q}: {_other_rule(given[q], by_rule[q])}" for q in again]
        raise Wrong("\n".join([alike, *lines, advice]))
    if len(given) < wanted:
        raise Wrong(f"{alike}, {len(given)} of {wanted} named: read on")
    against = [q for q in differ if q in kept]
    print(alike + (f", kept against it: {', '.join(against)}" if against else ""))


def _other_rule(given: str, by_rule: str) -> str:
    """Return in which direction the rule that applies stands, without its name."""
    if CAUSES.index(by_rule) < CAUSES.index(given):
        return f"a rule above {given!r} applies already"
    return f"the rule of {given!r} does not hold, and a later one does"


def _refuse_unknown(given: dict, by_rule: dict[str, str]) -> None:
    """Raise Wrong for what is no cause, and for queries without a card."""
    unknown = [f"  {q}: {shown(cause)}" for q, cause in given.items() if cause not in CAUSES]
    if unknown:
        known = "\n".join(f"  {name}" for name in CAUSES)
        raise Wrong("\n".join(["causes: not a cause", *unknown, f"The causes are\n{known}"]))
    strangers = sorted(q for q in given if q not in by_rule)
    if strangers:
        raise Wrong(f"causes: no card for {', '.join(strangers)}; cards: {', '.join(by_rule)}")
