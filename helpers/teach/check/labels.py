"""Checks of coverage, shared words, near-duplicates and groups of queries."""

from collections.abc import Callable, Iterator

import numpy as np

from . import verdict
from .recorded import recorded
from .values import as_code
from .verdict import Example, drawn, pick


def _draw_coverage(rng: np.random.Generator) -> Iterator[Example]:
    import pandas as pd

    for _ in range(200):
        doc_ids = [f"d{n}" for n in range(rng.integers(1, 9))]
        reached = pick(rng, "d0 d1 d2 d3 d4 d5 d6 d7 d8 d9", 0, 9)
        yield Example((doc_ids, reached), float(pd.Series(doc_ids).isin(reached).mean()))


@recorded
def coverage(function: Callable) -> None:
    """Check coverage(doc_ids, reached) against pandas."""
    hand = [
        Example((["a", "b", "c"], ["a", "b"]), 2 / 3),
        Example((["a", "b", "c"], []), 0.0),
        Example((["a", "b"], ["a", "b", "a"]), 1.0),
        Example((["a", "b", "c"], ["a", "b", "a"]), 2 / 3),
        Example((["a", "b", "c"], ["a", "not-in-the-corpus"]), 1 / 3),
        Example((["d1", "d10", "D10"], ["d10"]), 1 / 3),
    ]
    verdict.run_check("coverage", function, hand, drawn(_draw_coverage), top=1.0)


def _joined(rng: np.random.Generator, words: list[str]) -> str:
    """Return words as a text, mostly with spaces between them."""
    gaps = rng.choice([" ", " ", " ", "-", ", ", "\n", "/"], len(words))
    return "".join(word + str(gap) for word, gap in zip(words, gaps, strict=True)).rstrip(" ,-/\n")


def _draw_overlap(rng: np.random.Generator) -> Iterator[Example]:
    content = "disk full queue deploy deploys roll back error 502 50 café snake_case"
    for _ in range(200):
        asked, small = pick(rng, content, 1, 5), pick(rng, "how do the a", 0, 3)
        given = [pick(rng, content + " is the", 1, 4) for _ in range(rng.integers(1, 4))]
        query = _joined(rng, [str(word) for word in rng.permutation(asked + small)])
        answers = [_joined(rng, words).capitalize() + "." for words in given]
        yield Example((query, answers), float(np.isin(asked, sum(given, [])).mean()))


@recorded
def word_overlap(function: Callable) -> None:
    """Check word_overlap(query, answers); content_words must stand beside the function."""
    long = "how do I roll back a bad deploy"
    hand = [
        Example(("disk full", ["The disk is full."]), 1.0),
        Example(("disk full", ["disk", "full"]), 1.0),
        Example(("roll back", ["The rollback failed."]), 0.0),
        Example(("disk disk full", ["disk"]), 2 / 3),
        Example(("the of", ["the of"]), 0.0),
        Example(("Error 50?", ["An ERROR (502)."]), 1 / 2),
        Example(("checkout-api timeout", ["Restart the API of checkout."]), 2 / 3),
        Example(("Café, offline", ["café/offline\nagain"]), 1.0),
        Example(("deploys fail", ["A deploy fails."]), 0.0),
        Example((long, ["Roll back with slipway.", "A deploy takes 20 minutes."]), 3 / 4),
    ]
    verdict.run_check("word_overlap", function, hand, drawn(_draw_overlap), top=1.0)


def _draw_jaccard(rng: np.random.Generator) -> Iterator[Example]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score

    for _ in range(100):
        size = int(rng.integers(1, 4))
        words = "stop the old new job v2 10"
        a, b = (_joined(rng, pick(rng, words, size, 12)) for _ in range(2))
        counter = CountVectorizer(ngram_range=(size, size), token_pattern=r"\w+", binary=True)
        found = counter.fit_transform([a, b]).toarray()
        yield Example((a, b, size), float(jaccard_score(*found)))


@recorded
def jaccard(function: Callable) -> None:
    """Check jaccard(a, b, size) against scikit-learn; a shorter text is one run."""
    hand = [
        Example(("a b c", "a b c", 2), 1.0),
        Example(("a b c", "x y z", 2), 0.0),
        Example(("stop the old job", "stop the new job", 2), 1 / 5),
        Example(("a b a b a b", "a b a", 2), 1.0),
        Example(("Stop the job", "stop the JOB.", 3), 1.0),
        Example(("a b c", "a", 2), 0.0),
        Example(("check-out job", "Check out, job", 2), 1.0),
        Example(("ab c d", "a bc d", 2), 0.0),
        Example(("Café 10", "café 1", 1), 1 / 3),
        Example(("a b", "a b", 3), 1.0),
        Example(("a b", "a c", 3), 0.0),
    ]
    verdict.run_check("jaccard", function, hand, drawn(_draw_jaccard), top=1.0)


def _groups(found) -> list[list[str]]:
    return sorted(sorted(group) for group in found)


def _linked(relevant: dict) -> list[set]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    links = [[bool(a & b) for b in relevant.values()] for a in relevant.values()]
    _, labels = connected_components(csr_array(np.array(links)), directed=False)
    return [
        {q for q, label in zip(relevant, labels, strict=True) if label == n}
        for n in dict.fromkeys(labels)
    ]


def _draw_groups(rng: np.random.Generator) -> Iterator[Example]:
    documents = " ".join(f"d{n}" for n in range(1, 13))
    for _ in range(200):
        order = rng.permutation(rng.integers(1, 13))
        relevant = {f"q{n}": set(pick(rng, documents, 1, 3 - n % 2)) for n in order}
        yield Example((relevant,), _groups(_linked(relevant)))


@recorded
def query_groups(function: Callable) -> None:
    """Check query_groups(relevant) against scipy; the order of the groups is free."""
    bridge = {"q1": {"a"}, "q2": {"b"}, "q3": {"a", "b"}}
    awkward = {"q1": {"a", "b"}, "q2": {"c", "d"}, "q3": {"a", "e"}, "q4": {"d", "e"}}
    hand = [
        Example(({"q1": {"a"}, "q2": {"b"}},), [["q1"], ["q2"]]),
        Example(({"q1": {"a"}, "q2": {"a"}},), [["q1", "q2"]]),
        Example(({"q1": {"a"}, "q2": {"a", "b"}, "q3": {"b"}},), [["q1", "q2", "q3"]]),
        Example((bridge,), [["q1", "q2", "q3"]]),
        Example((awkward,), [["q1", "q2", "q3", "q4"]]),
        Example(({"q1": {"a"}, "q2": {"b"}, "q3": {"a"}},), [["q1", "q3"], ["q2"]]),
        Example(({"q1": set(), "q2": {"a"}},), [["q1"], ["q2"]]),
        Example(({"q1": {"d1"}, "q2": {"d10"}, "q12": {"1"}},), [["q1"], ["q12"], ["q2"]]),
    ]
    how = {"view": _groups, "say": lambda groups: as_code([*map(set, groups)])}
    verdict.run_check("query_groups", function, hand, drawn(_draw_groups), **how)
