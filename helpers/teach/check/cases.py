"""Cases: arguments and what is due, those of an exercise's page and those that are drawn."""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...measure.stats import SEED
from .passed import page_of


class Example(NamedTuple):
    """Arguments, and the value or the exception class that is due."""

    args: tuple
    wanted: object


def cases_of_page(name: str) -> list[Example]:
    """Return the hand-made cases that stand in the page of an exercise, none without them.

    A case is a line with a call and its value: `coverage(["a", "b"], ["a"]) == 1 / 2`.
    """
    known = {name: lambda *args: args, "log2": math.log2, "nan": math.nan}
    cases = []
    for line in page_of(name).get("cases", "").splitlines():
        call, wanted = line.split(" == ")
        cases.append(Example(eval(call, known), eval(wanted, known)))
    return cases


@functools.cache
def drawn(draw: Callable, times: int) -> list[Example]:
    """Return the cases of a function that draws one at each call, or None: always the same."""
    rng = np.random.default_rng(SEED)
    cases = [draw(rng) for _ in range(times)]
    return [case for case in cases if case]


def pick(rng: np.random.Generator, words: str, low: int, high: int) -> list[str]:
    """Return `low` to `high` of the words, with repeats."""
    return [str(word) for word in rng.choice(words.split(), rng.integers(low, high + 1))]
