"""Checks of coverage, shared words, near-duplicates and groups of queries."""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from .cases import Example, drawn, pick
from .recorded import recorded
from .values import as_code
from .verdict import run_check


def _draw_coverage(rng: np.random.Generator) -> Iterator[Example]:
    import pandas as pd

    for _ in range(200):
        doc_ids = [f"d{n}" for n in range(rng.integers(1, 9))]
        reached = pick(rng, "d0 d1 d2 d3 d4 d5 d6 d7 d8 d9", 0, 9)
        yield Example((doc_ids, reached), float(pd.Series(doc_ids).isin(reached).mean()))


@recorded
def coverage(function: Callable) -> None:
    """Check coverage(doc_ids, reached) against pandas."""
    run_check("coverage", function, drawn(_draw_coverage), top=1.0)


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
    run_check("word_overlap", function, drawn(_draw_overlap), top=1.0)


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
    run_check("jaccard", function, drawn(_draw_jaccard), top=1.0)


def _in_order(groups) -> list[list[str]]:
    return sorted(sorted(group) for group in groups)


def _draw_groups(rng: np.random.Generator) -> Iterator[Example]:
    from scipy.cluster.hierarchy import DisjointSet

    documents = " ".join(f"d{n}" for n in range(1, 13))
    for _ in range(200):
        order = rng.permutation(rng.integers(1, 13))
        relevant = {f"q{n}": set(pick(rng, documents, 1, 3 - n % 2)) for n in order}
        linked = DisjointSet(relevant)
        for one, other in combinations(relevant, 2):
            if relevant[one] & relevant[other]:
                linked.merge(one, other)
        yield Example((relevant,), _in_order(linked.subsets()))


@recorded
def query_groups(function: Callable) -> None:
    """Check query_groups(relevant) against scipy; the order of the groups is free."""

    def as_sets(groups: list[list[str]]) -> str:
        return as_code([set(group) for group in groups])

    run_check("query_groups", function, drawn(_draw_groups), view=_in_order, say=as_sets)
