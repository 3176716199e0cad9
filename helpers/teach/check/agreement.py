"""Checks of agreement between two readers."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from .cases import Example, drawn
from .recorded import recorded
from .verdict import run_check


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


@recorded
def cohen_kappa(function: Callable) -> None:
    """Check cohen_kappa(first, second) against scikit-learn; nan where chance is 1."""
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
    run_check("cohen_kappa", function, drawn(_draw_kappa), hand, top=1.0)


def _ac1_table(first: list, second: list, grades: tuple) -> float:
    """Return AC1 from the table of both readings (Gwet 2008)."""
    from sklearn.metrics import confusion_matrix

    table = confusion_matrix(first, second, labels=list(grades)) / len(first)
    mean_share = (table.sum(0) + table.sum(1)) / 2
    chance = mean_share @ (1 - mean_share) / (len(grades) - 1)
    return float((np.trace(table) - chance) / (1 - chance))


def _draw_ac1(rng: np.random.Generator) -> Iterator[Example]:
    for turn, (first, second) in enumerate(_readings(rng)):
        grades = (0, 1, 2, 3) if turn % 2 else (0, 1, 2)
        yield Example((first, second, grades), _ac1_table(first, second, grades))


@recorded
def gwet_ac1(function: Callable) -> None:
    """Check gwet_ac1(first, second, grades) against the table of Gwet 2008."""
    hand = [
        Example(([0, 0], [0, 0], (0, 1)), 1.0),
        Example(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1)), 9 / 17),
        Example(([0, 1], [1, 0], (0, 1)), -1.0),
        Example(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1, 2)), 33 / 49),
        Example(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1, 2, 3)), 19 / 27),
        Example(([0] * 123 + [1, 1], [0] * 118 + [1] * 5 + [0, 0], (0, 1)), 55598 / 59098),
    ]
    run_check("gwet_ac1", function, drawn(_draw_ac1), hand, top=1.0)
