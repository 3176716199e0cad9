"""Check of the measure of an answer's text."""

import numpy as np

from .cases import Example
from .recorded import random_check

F1 = [
    Example(("ten minutes", "ten minutes"), 1.0),
    Example(("ten", "twenty"), 0.0),
    Example(("ten minutes", "a minute"), 0.0),
    Example(("wait ten minutes", "ten minutes"), 4 / 5),
    Example(("The Slipway, v2.", "slipway v2"), 1.0),
    Example(("10 or 10", "the 10 10"), 4 / 5),
    Example(("10 10 10", "10"), 1 / 2),
    Example(("", "ten"), 0.0),
    Example(("ten", ""), 0.0),
    Example(("Check-out, café.", "checkout CAFÉ"), 1.0),
]


@random_check(200, F1, top=1.0)
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
