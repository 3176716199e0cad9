"""Check of evidence in ranked passages, held against sets of tokens."""

import numpy as np

from .cases import Example
from .recorded import random_check

Passages = list[tuple[str, int, int]]  # document, first token, the token after the last
ONE, TWO = {"a": [(10, 15)]}, {"a": [(10, 15)], "b": [(0, 4), (30, 33)]}
RECALL = [
    Example((ONE, [("a", 0, 20)], 100), 1.0),
    Example((ONE, [], 100), 0.0),
    Example((ONE, [("a", 20, 40)], 100), 0.0),
    Example((ONE, [("x", 0, 20)], 100), 0.0),
    Example((ONE, [("a", 0, 13), ("a", 13, 20)], 100), 0.0),
    Example((ONE, [("a", 10, 15)], 100), 1.0),
    Example((ONE, [("a", 0, 20)], 15), 1.0),
    Example((ONE, [("a", 0, 20)], 14), 0.0),
    Example((ONE, [("a", 0, 20), ("a", 5, 25)], 100), 1.0),
    Example((ONE, [("x", 0, 90), ("a", 0, 20)], 100), 0.0),
    Example((ONE, [("x", 0, 80), ("a", 8, 18)], 87), 1.0),
    Example((ONE, [("a", 0, 12), ("a", 5, 25)], 22), 1.0),
    Example((ONE, [("a", 0, 12), ("a", 5, 25)], 20), 0.0),
    Example((TWO, [("b", 25, 35), ("a", 0, 20)], 100), 1.0),
    Example((TWO, [("b", 0, 40)], 100), 0.5),
]


def _by_sets(quotes: dict, ranking: Passages, budget: int) -> float:
    """Return evidence recall from sets of tokens, which share no code with the rest."""
    found, left = set(), budget
    for doc_id, start, end in ranking:
        tokens = set(list(range(start, end))[:left])
        left -= len(tokens)
        found |= {doc_id for a, b in quotes.get(doc_id, []) if set(range(a, b)) <= tokens}
    return len(found) / len(quotes)


def _stretch(rng: np.random.Generator, longest: int) -> tuple[int, int]:
    start = int(rng.integers(0, 40))
    return start, start + int(rng.integers(1, longest))


@random_check(200, RECALL, top=1.0)
def evidence_recall(rng: np.random.Generator) -> Example:
    """Check evidence_recall(quotes, ranking, budget) against sets of tokens."""
    names = "abcd"[: rng.integers(1, 5)]
    quotes = {d: [_stretch(rng, 8) for _ in range(rng.integers(1, 3))] for d in names}
    n_ranked = rng.integers(0, 9)
    ranked = [(str(rng.choice([*"abcdx"])), *_stretch(rng, 30)) for _ in range(n_ranked)]
    budget = int(rng.choice([5, 20, 50, 100]))
    return Example((quotes, ranked, budget), _by_sets(quotes, ranked, budget))
