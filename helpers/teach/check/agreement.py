"""Checks of agreement between two readers."""

import numpy as np

from .cases import Example
from .recorded import random_check


def _readings(rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Return two readings with grades 0 to 2, of which the second follows the first."""
    first = rng.choice(3, rng.integers(4, 20), p=[0.6, 0.2, 0.2])
    second = np.where(rng.random(len(first)) < 0.6, first, rng.choice(3, len(first)))
    return first.tolist(), second.tolist()


@random_check(100, top=1.0)
def cohen_kappa(rng: np.random.Generator) -> Example:
    """Check cohen_kappa(first, second) against scikit-learn; nan where chance is 1."""
    from sklearn.metrics import cohen_kappa_score

    pair = _readings(rng)
    return Example(pair, float(cohen_kappa_score(*pair, labels=range(3))))


@random_check(100, top=1.0)
def gwet_ac1(rng: np.random.Generator) -> Example:
    """Check gwet_ac1(first, second, grades) against the table of Gwet 2008."""
    from sklearn.metrics import confusion_matrix

    first, second = _readings(rng)
    grades = (0, 1, 2, 3)[: rng.integers(3, 5)]
    table = confusion_matrix(first, second, labels=list(grades)) / len(first)
    mean_share = (table.sum(0) + table.sum(1)) / 2
    chance = mean_share @ (1 - mean_share) / (len(grades) - 1)
    return Example((first, second, grades), float((np.trace(table) - chance) / (1 - chance)))
