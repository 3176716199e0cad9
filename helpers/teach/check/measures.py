"""Checks of the measures of a ranking."""

import functools
import math
from collections.abc import Callable, Iterator

import numpy as np

from . import verdict
from .verdict import SEED, Example, drawn, mean

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


def _measured(measure, cutoffs: tuple = ()) -> list[Example]:
    """Return the values that ir_measures gives, at each cutoff in turn where there are any."""
    import ir_measures

    ranked, cases = made_rankings(), {}
    for turn, k in enumerate(cutoffs or (None,)):
        chosen = range(turn, len(ranked), len(cutoffs) or 1)
        qrels = {str(n): ranked[n][1] for n in chosen}
        run = {str(n): {d: -float(r) for r, d in enumerate(ranked[n][0])} for n in chosen}
        values = dict.fromkeys(qrels, 0.0)  # a query without results
        scored = {n: scores for n, scores in run.items() if scores}
        for metric in ir_measures.iter_calc([measure @ k if k else measure], qrels, scored):
            values[metric.query_id] = float(metric.value)
        cases |= {n: Example((*ranked[n], *([k] if k else [])), values[str(n)]) for n in chosen}
    return [cases[n] for n in range(len(ranked))]


@functools.cache
def _draw_measure(name: str) -> list[Example]:
    import ir_measures

    cutoffs = {"nDCG": (3, 5, 10, 20), "R": (1, 3, 5, 20), "Success": (1, 3, 5, 20)}.get(name, ())
    if name == "RR":  # every other case has no cutoff
        whole, cut = _measured(ir_measures.RR), _measured(ir_measures.RR, (1, 3, 5, 20))
        return [pair[n % 2] for n, pair in enumerate(zip(whole, cut, strict=True))]
    return _measured(getattr(ir_measures, name), cutoffs)


def _ranks(ranking: list, grades: dict, k: int | None = None, least: int = 1) -> list[int]:
    """Return the ranks of documents with a grade of at least `least`."""
    return [n for n, d in enumerate(ranking[:k], 1) if grades.get(d, least - 1) >= least]


def _relevant(grades: dict) -> int:
    return sum(grade > 0 for grade in grades.values())


def check_reciprocal_rank(function: Callable) -> None:
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
    verdict.run_check("reciprocal_rank", function, hand, _draw_measure("RR"), top=1.0)


WRONG_HIT = [
    ("This is recall, the fraction of the relevant documents. hit@k is 1 or 0.",
     lambda r, g, k: len(_ranks(r, g, k)) / max(1, _relevant(g))),
    ("The relevant documents are counted. hit@k is 1 or 0.", lambda r, g, k: len(_ranks(r, g, k))),
    ("This is precision. hit@k is 1 or 0.", lambda r, g, k: len(_ranks(r, g, k)) / k),
    ("The cutoff is ignored: only the first k places count.",
     lambda r, g, k: float(bool(_ranks(r, g)))),
    ("A document labelled 0 counts as relevant. Only grades above 0 do.",
     lambda r, g, k: float(any(d in g for d in r[:k]))),
    ("A document with grade 1 counts as a miss. Every grade above 0 is relevant.",
     lambda r, g, k: float(bool(_ranks(r, g, k, least=2))),
     lambda r, g, k: float(2 in [g.get(d) for d in r[:k]])),
    ("The cutoff is one short: ranking[:k] holds the first k documents.",
     lambda r, g, k: float(bool(_ranks(r, g, k - 1)))),
    ("Nothing past rank 10 is looked at, whatever k is.",
     lambda r, g, k: float(bool(_ranks(r[:10], g, k)))),
    ("Only place k itself is looked at.", lambda r, g, k: float(k in _ranks(r, g))),
    ("Only one place is looked at, and it is the one after place k: places count from 0.",
     lambda r, g, k: float(k + 1 in _ranks(r, g))),
]  # fmt: skip


def check_hit(function: Callable) -> None:
    """Check hit(ranking, grades, k) against ir_measures.

    Why: A language model that reads five chunks can only answer where hit@5 is 1.
    """
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
    verdict.run_check("hit", function, hand, _draw_measure("Success"), WRONG_HIT, top=1.0)


WRONG_RECALL = [
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
    ("Nothing past rank 10 is looked at, whatever k is.",
     lambda r, g, k: len(_ranks(r[:10], g, k)) / max(1, _relevant(g))),
    ("Grades are added up in the denominator. Recall counts documents.",
     lambda r, g, k: len(_ranks(r, g, k)) / max(1, sum(g.values()))),
    ("Grades are added up. Recall counts documents.",
     lambda r, g, k: sum(g[r[n - 1]] for n in _ranks(r, g, k)) / max(1, sum(g.values()))),
    ("Nothing is relevant there, so there is nothing to divide by: return 0.",
     lambda r, g, k: len(_ranks(r, g, k)) / _relevant(g)),
    ("Where nothing is relevant, this gives 1. Return 0: nothing was found.",
     lambda r, g, k: len(_ranks(r, g, k)) / _relevant(g) if _relevant(g) else 1.0),
]  # fmt: skip


def check_recall(function: Callable) -> None:
    """Check recall(ranking, grades, k) against ir_measures.

    Why: No reranker and no prompt brings back what wasn't fetched, so this is the ceiling of
    everything behind the search.
    """
    hand = [
        Example((["a"], {"a": 1}, 1), 1.0),
        Example(([], {"a": 1}, 5), 0.0),
        Example((["a"], {"a": 0}, 5), 0.0),
        Example((["a", "b"], {"a": 1, "b": 1}, 1), 1 / 2),
        Example((["a", "b"], {"a": 2, "b": 0, "c": 1}, 5), 1 / 2),
        Example((RANKED, GRADED, 5), 2 / 3),
        Example((TWELVE, {"d1": 1, "d12": 3, "x": 2, "y": 1}, 20), 1 / 2),
    ]
    verdict.run_check("recall", function, hand, _draw_measure("R"), WRONG_RECALL, top=1.0)


def _precisions(ranking: list, grades: dict, least: int = 1) -> list[float]:
    """Return the precision at the rank of each relevant document."""
    return [(n + 1) / rank for n, rank in enumerate(_ranks(ranking, grades, least=least))]


def _interpolated(ranking: list, grades: dict) -> list[float]:
    """Return for each relevant document the highest precision from its rank on."""
    found = _precisions(ranking, grades)
    return [max(found[n:]) for n in range(len(found))]


def _eleven_points(ranking: list, grades: dict) -> float:
    """Return the mean interpolated precision where recall reaches 0, .1, and so on to 1."""
    best = _interpolated(ranking, grades)
    needed = [max(1, math.ceil(tenth * _relevant(grades) / 10)) for tenth in range(11)]
    return mean(best[n - 1] if n <= len(best) else 0.0 for n in needed)


WRONG_AP = [
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
    ("This is interpolated: it takes the highest precision from each rank on. Take the precision "
     "at the rank itself.",
     lambda r, g: sum(_interpolated(r, g)) / max(1, _relevant(g)),
     _eleven_points),
    ("The sum is not divided by the number of relevant documents.",
     lambda r, g: sum(_precisions(r, g))),
    ("Nothing past rank 10 is looked at. Average precision has no cutoff.",
     lambda r, g: sum(_precisions(r[:10], g)) / max(1, _relevant(g))),
    ("Nothing is relevant there, so there is nothing to divide by: return 0.",
     lambda r, g: sum(_precisions(r, g)) / _relevant(g)),
]  # fmt: skip


def check_average_precision(function: Callable) -> None:
    """Check average_precision(ranking, grades) against ir_measures.

    Why: Where somebody must find every document, as in an audit, this is the number to put in the
    report. Its mean over queries is MAP.
    """
    hand = [
        Example((["a"], {"a": 1}), 1.0),
        Example(([], {"a": 1}), 0.0),
        Example((["a"], {"a": 0}), 0.0),
        Example((["x", "a"], {"a": 1}), 1 / 2),
        Example((["a"], {"a": 1, "b": 1}), 1 / 2),
        Example((["x", "b", "a"], {"a": 2, "b": 1, "c": 1}), (1 / 2 + 2 / 3) / 3),
        Example((RANKED, GRADED), (1 / 2 + 2 / 4) / 3),
        Example((TWELVE, {"d1": 1, "d12": 3}), (1 + 2 / 12) / 2),
    ]
    verdict.run_check("average_precision", function, hand, _draw_measure("AP"), WRONG_AP, top=1.0)


def _draw_dcg(rng: np.random.Generator) -> Iterator[Example]:
    from sklearn.metrics import dcg_score

    for _ in range(100):
        gains = [float(gain) for gain in rng.choice([0, 0.5, 1, 2, 3, 7], rng.integers(2, 16))]
        yield Example((gains,), float(dcg_score([gains], [range(len(gains), 0, -1)])))


def _discounted(gains, by: Callable) -> float:
    return sum(gain / by(rank) for rank, gain in enumerate(gains, 1))


def _log2(rank: int) -> float:
    return math.log2(rank + 1)


WRONG_DCG = [
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
    ("Only the first ten gains are added up. DCG takes all that are given.",
     lambda gains: _discounted(gains[:10], _log2)),
]  # fmt: skip


def check_dcg(function: Callable) -> None:
    """Check dcg(gains) against scikit-learn.

    Why: It's the one measure here that sees both how good a document is and where it stands. nDCG
    is this, divided by the best possible.
    """
    hand = [
        Example(([],), 0.0),
        Example(([1.0],), 1.0),
        Example(([0.0, 1.0],), 1 / math.log2(3)),
        Example(([2.0],), 2.0),
        Example(([1.0, 1.0],), 1 + 1 / math.log2(3)),
        Example(([0.0, 1.0, 0.0, 1.0, 0.0],), 1 / math.log2(3) + 1 / math.log2(5)),
        Example(([0.0] * 11 + [3.0],), 3 / math.log2(13)),
    ]
    verdict.run_check("dcg", function, hand, drawn(_draw_dcg), WRONG_DCG)


def _gains(ranking: list, grades: dict, k: int, gain: Callable = float, least: int = 1) -> list:
    found = [grades.get(doc_id, 0) for doc_id in ranking[:k]]
    return [gain(grade) if grade >= least else 0 for grade in found]


def _ideal(grades: dict, k: int | None, gain: Callable = float, least: int = 1) -> list[float]:
    return sorted((gain(g) for g in grades.values() if g >= least), reverse=True)[:k]


def _normed(gains: list, ideal: list, by: Callable = _log2) -> float:
    best = _discounted(ideal, by)
    return _discounted(gains, by) / best if best else 0.0


def exponential(grade: int) -> int:
    """Return the gain 2^grade - 1 (Burges et al. 2005)."""
    return 2**grade - 1


def one_more(grade: int) -> int:
    """Return a gain that grade 0 would have, too, if it were asked for."""
    return grade + 1


def _with_gain(wrong: Callable) -> Callable:
    """Return a wrong nDCG of linear gain as one that takes the gain as an argument."""

    def measured(ranking, grades, k, gain=float):
        gained = {d: gain(grade) if grade > 0 else grade for d, grade in grades.items()}
        return wrong(ranking, gained, k)

    return measured


def _without_gain(wrong: Callable) -> Callable:
    """Return a wrong nDCG as one that is given a gain, too, and does not use it."""
    return lambda ranking, grades, k, gain=float: wrong(ranking, grades, k)


LINEAR = [  # these know nothing of the argument gain
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
    ("Nothing past rank 10 is looked at, whatever k is.",
     lambda r, g, k: _normed(_gains(r[:10], g, k), _ideal(g, k)),
     lambda r, g, k: _normed(_gains(r, g, min(k, 10)), _ideal(g, min(k, 10)))),
    ("The DCG is not divided by that of the ideal order.",
     lambda r, g, k: _discounted(_gains(r, g, k), _log2)),
    ("The cutoff is ignored.", lambda r, g, k: _normed(_gains(r, g, len(r)), _ideal(g, None))),
    ("The cutoff holds for the ideal order only: cut the ranking, too.",
     lambda r, g, k: _normed(_gains(r, g, len(r)), _ideal(g, k))),
    ("Every relevant document gains 1. The gain is its grade.",
     lambda r, g, k: _normed(_gains(r, g, k, bool), _ideal(g, k, bool))),
    ("The labels are not sorted: the ideal order begins with the highest grade.",
     lambda r, g, k: _normed(_gains(r, g, k), [max(0, grade) for grade in g.values()][:k]),
     lambda r, g, k: _normed(_gains(r, g, k), [grade for grade in g.values() if grade > 0][:k]),
     lambda r, g, k: _normed(_gains(r, g, k), [grade for grade in g.values() if grade > 0])),
    ("The ideal order begins with the lowest grade: sort from high to low.",
     lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, None)[::-1][:k])),
    ("Documents without a label are left out before ranks are given: each keeps its place.",
     lambda r, g, k: _normed(_gains([d for d in r[:k] if d in g], g, k), _ideal(g, k))),
    ("Ranks 1 and 2 both count in full. Divide each gain by log2(rank + 1).",
     lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, k), lambda rank: max(1, math.log2(rank)))),
    ("The logarithm is missing: divide each gain by log2(rank + 1).",
     lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, k), lambda rank: rank + 1)),
    ("The gains are divided without a discount: each is divided by log2(rank + 1) first.",
     lambda r, g, k: _normed(_gains(r, g, k), _ideal(g, k), lambda rank: 1)),
    ("Nothing is relevant there, so the ideal is 0 and cannot divide: return 0.",
     lambda r, g, k: _discounted(_gains(r, g, k), _log2) / _discounted(_ideal(g, k), _log2)),
]  # fmt: skip
WRONG_NDCG = [
    ("The argument gain is ignored: it turns a grade above 0 into its gain.",
     lambda r, g, k, gain=float: _normed(_gains(r, g, k), _ideal(g, k))),
    ("The argument gain is used for what was retrieved only: the ideal order gains by it, too.",
     lambda r, g, k, gain=float: _normed(_gains(r, g, k, gain), _ideal(g, k))),
    ("The argument gain is used for the ideal order only: what was retrieved gains by it, too.",
     lambda r, g, k, gain=float: _normed(_gains(r, g, k), _ideal(g, k, gain))),
    ("The argument gain is used for documents graded 0 or not labelled, too. They gain 0: gain "
     "is for grades above 0.",
     lambda r, g, k, gain=float: _normed(_gains(r, g, k, gain, 0), _ideal(g, k, gain, 0)),
     lambda r, g, k, gain=float: _normed(_gains(r, g, k, gain, 0), _ideal(g, k, gain)),
     lambda r, g, k, gain=float: _normed(_gains(r, g, k, gain), _ideal(g, k, gain, 0))),
    ("The labels are not sorted: the ideal order begins with the highest grade.",
     lambda r, g, k, gain=float: _normed(_gains(r, g, k, gain), [*g.values()][:k])),
    *((s, *map(_with_gain, wrong), *map(_without_gain, wrong)) for s, *wrong in LINEAR),
]  # fmt: skip


def check_ndcg(function: Callable) -> None:
    """Check ndcg(ranking, grades, k, gain) against ir_measures and values worked on paper.

    Why: Most papers and vendors quote this number, and many tools compute it with the wrong ideal.
    Now you can tell which one you've been given.
    """
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
    verdict.run_check("ndcg", function, hand, _draw_measure("nDCG"), WRONG_NDCG, top=1.0)
