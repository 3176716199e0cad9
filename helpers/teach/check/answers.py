"""Check of the measure of an answer's text."""

import numpy as np

from .cases import Example
from .recorded import random_check


@random_check(200, top=1.0)
def f1(rng: np.random.Generator) -> Example:
    """Check f1(found, gold) against counts by construction; normalise must stand beside it."""
    words = "ten minutes wait slipway twice".split()
    counts = rng.integers(0, 3, (2, len(words)))
    counts[:, 0] += 1
    texts = []
    for row in counts:
        repeated = np.repeat([*words, "the"], [*row, 1])
        texts.append(" ".join(rng.permutation(repeated)))
    found, gold = texts
    wanted = 2 * counts.min(axis=0).sum() / counts.sum()
    return Example((found.capitalize() + ".", gold), float(wanted))
