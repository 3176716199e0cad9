"""Checks of agreement between two readers."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from . import verdict
from .verdict import Example, drawn


def _equal(first: list, second: list) -> float:
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def _above(observed: float, chance: float, alone: float = math.nan) -> float:
    return (observed - chance) / (1 - chance) if chance < 1 else alone


def _by_habit(first: list, second: list) -> float:
    return sum(first.count(g) * second.count(g) for g in {*first}) / len(first) ** 2


def _folded(grades: list) -> list[int]:
    return [min(grade, 1) for grade in grades]


def _pooled(first: list, second: list) -> list[float]:
    both = first + second
    return [both.count(g) / len(both) for g in sorted({*both})]


def _readings(rng: np.random.Generator) -> Iterator[tuple[list, list]]:
    """Yield pairs of readings with grades 0 to 2, of which the second follows the first."""
    for _ in range(100):
        first = rng.choice(3, rng.integers(4, 20), p=[0.6, 0.2, 0.2])
        second = np.where(rng.random(len(first)) < 0.6, first, rng.choice(3, len(first)))
        if len({*first, *second}) > 1:
            yield first.tolist(), second.tolist()


def _draw_kappa(rng: np.random.Generator) -> list[Example]:
    from sklearn.metrics import cohen_kappa_score

    return [Example(pair, float(cohen_kappa_score(*pair))) for pair in _readings(rng)]


WRONG_KAPPA = [
    ("This is the observed agreement. Kappa takes chance away.",
     _equal,
     lambda a, b: _equal(a, b) if _by_habit(a, b) < 1 else math.nan),
    ("The difference from chance is not divided by 1 - chance, what could be won.",
     lambda a, b: _equal(a, b) - _by_habit(a, b),
     lambda a, b: _equal(a, b) - _by_habit(a, b) if _by_habit(a, b) < 1 else math.nan),
    ("Chance is taken as one over the number of grades. It is the sum over the grades of the "
     "share in one reading times the share in the other.",
     lambda a, b: _above(_equal(a, b), 1 / len({*a, *b})),
     lambda a, b: _above(_equal(a, b), 1 / len({*a})),
     lambda a, b: _above(_equal(a, b), 1 / 3)),
    ("Chance is taken from the mean shares of both readings: that is Scott's pi. Cohen "
     "multiplies the share in one reading by the share in the other.",
     lambda a, b: _above(_equal(a, b), sum(s * s for s in _pooled(a, b)))),
    ("Only the grades 0 and 1 are counted: take every grade that occurs.",
     lambda a, b: _above(_equal(a, b), sum(a.count(g) * b.count(g) for g in (0, 1)) / len(a) ** 2)),
    ("This is kappa for two classes. Every grade is a class of its own: a 1 and a 2 differ.",
     lambda a, b: _above(_equal(_folded(a), _folded(b)), _by_habit(_folded(a), _folded(b))),
     lambda a, b: _above(_equal(a, b), _by_habit(_folded(a), _folded(b))),
     lambda a, b: _above(_equal(a, b), _by_habit([g == 1 for g in a], [g == 1 for g in b]))),
    ("Chance is taken from the first reading alone. Multiply its share by the second's.",
     lambda a, b: _above(_equal(a, b), sum((a.count(g) / len(a)) ** 2 for g in {*a}))),
    ("Where both give one grade to everything, chance is 1 and kappa is not defined: return nan.",
     lambda a, b: (_equal(a, b) - _by_habit(a, b)) / (1 - _by_habit(a, b))),
    ("Where both give one grade to everything, chance is 1 and kappa is not defined: return "
     "nan, not 1.",
     lambda a, b: _above(_equal(a, b), _by_habit(a, b), 1.0)),
    ("Where both give one grade to everything, chance is 1 and kappa is not defined: return "
     "nan, not 0.",
     lambda a, b: _above(_equal(a, b), _by_habit(a, b), 0.0)),
]  # fmt: skip


def check_cohen_kappa(function: Callable) -> None:
    """Check cohen_kappa(first, second) against scikit-learn; nan where chance is 1.

    Why: Equal labels on 95 % of the pairs can mean a good guide or a pile of zeros. Kappa tells the
    two apart, so print it beside every score that rests on the labels.
    """
    hand = [
        Example(([0, 1], [0, 1]), 1.0),
        Example(([0, 1], [1, 0]), -1.0),
        Example(([1, 1], [1, 1]), math.nan),
        Example(([1, 1, 0], [1, 0, 0]), 2 / 5),
        Example(([1, 1, 0, 0], [1, 0, 0, 0]), 0.5),
        Example(([2, 1, 0, 0], [2, 1, 1, 0]), 7 / 11),
        Example(([2, 2, 2], [2, 2, 2]), math.nan),
        Example(([0] * 8 + [1, 0], [0] * 8 + [0, 1]), -1 / 9),
    ]
    verdict.run_check("cohen_kappa", function, hand, drawn(_draw_kappa), WRONG_KAPPA, top=1.0)


def _ac1_table(first: list, second: list, grades: tuple) -> float:
    """Return AC1 from the table of both readings (Gwet 2008)."""
    from sklearn.metrics import confusion_matrix

    table = confusion_matrix(first, second, labels=list(grades)) / len(first)
    mean_share = (table.sum(0) + table.sum(1)) / 2
    chance = mean_share @ (1 - mean_share) / (len(grades) - 1)
    return float((np.trace(table) - chance) / (1 - chance))


def _draw_ac1(rng: np.random.Generator) -> list[Example]:
    grades = [(0, 1, 2), (0, 1, 2, 3)]
    tried = [(*pair, grades[turn % 2]) for turn, pair in enumerate(_readings(rng))]
    return [Example(args, _ac1_table(*args)) for args in tried]


def _spread(shares: list[float]) -> float:
    return sum(share * (1 - share) for share in shares)


WRONG_AC1 = [
    ("This is the observed agreement. AC1 takes chance away.", lambda a, b, g: _equal(a, b)),
    ("This is Cohen's kappa. AC1 takes chance from the mean share of each grade.",
     lambda a, b, g: _above(_equal(a, b), _by_habit(a, b))),
    ("Chance adds up share times share: that is Scott's pi. AC1 takes share times (1 - share).",
     lambda a, b, g: _above(_equal(a, b), sum(s * s for s in _pooled(a, b)))),
    ("Chance is not divided by the number of grades less one.",
     lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, b)))),
    ("The grades that occur are counted. All grades that could have been given count.",
     lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, b)) / (len({*a, *b}) - 1)),
     lambda a, b, g: _above(_equal(a, b), np.divide(_spread(_pooled(a, b)), len({*a, *b}) - 1))),
    ("Chance adds up share times share. AC1 takes share times (1 - share).",
     lambda a, b, g: _above(_equal(a, b), sum(s * s for s in _pooled(a, b)) / (len(g) - 1))),
    ("Chance is divided by the number of grades, not by one less.",
     lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, b)) / len(g))),
    ("The shares come from the first reading alone. Take the mean of both.",
     lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, [])) / (len(g) - 1))),
]  # fmt: skip


def check_gwet_ac1(function: Callable) -> None:
    """Check gwet_ac1(first, second, grades) against the table of Gwet 2008.

    Why: Pools are mostly zeros, and there kappa can fall below 0 although two readers agree on 95
    of 100 pairs. With AC1 beside it you don't throw good labels away.
    """
    hand = [
        Example(([0, 0], [0, 0], (0, 1)), 1.0),
        Example(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1)), 9 / 17),
        Example(([0, 1], [1, 0], (0, 1)), -1.0),
        Example(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1, 2)), 33 / 49),
        Example(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1, 2, 3)), 19 / 27),
        Example(([0] * 123 + [1, 1], [0] * 118 + [1] * 5 + [0, 0], (0, 1)), 55598 / 59098),
    ]
    verdict.run_check("gwet_ac1", function, hand, drawn(_draw_ac1), WRONG_AC1, top=1.0)
