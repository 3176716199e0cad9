"""Checks of coverage, shared words, near-duplicates and groups of queries."""

from itertools import combinations

import numpy as np

from .cases import Example, pick
from .recorded import random_check
from .values import as_code


@random_check(200, top=1.0)
def coverage(rng: np.random.Generator) -> Example:
    """Check coverage(doc_ids, reached) against pandas."""
    import pandas as pd

    doc_ids = [f"d{n}" for n in range(rng.integers(1, 9))]
    reached = pick(rng, "d0 d1 d2 d3 d4 d5 d6 d7 d8 d9", 0, 9)
    return Example((doc_ids, reached), float(pd.Series(doc_ids).isin(reached).mean()))


def _joined(rng: np.random.Generator, words: list[str]) -> str:
    """Return words as a text, mostly with spaces between them."""
    gaps = rng.choice([" ", " ", " ", "-", ", ", "\n", "/"], len(words))
    return "".join(word + str(gap) for word, gap in zip(words, gaps, strict=True)).rstrip(" ,-/\n")


@random_check(200, top=1.0)
def word_overlap(rng: np.random.Generator) -> Example:
    """Check word_overlap(query, answers); content_words must stand beside the function."""
    content = "disk full queue deploy deploys roll back error 502 50 café snake_case"
    asked, small = pick(rng, content, 1, 5), pick(rng, "how do the a", 0, 3)
    given = [pick(rng, content + " is the", 1, 4) for _ in range(rng.integers(1, 4))]
    query = _joined(rng, [str(word) for word in rng.permutation(asked + small)])
    answers = [_joined(rng, words).capitalize() + "." for words in given]
    return Example((query, answers), float(np.isin(asked, sum(given, [])).mean()))


@random_check(100, top=1.0)
def jaccard(rng: np.random.Generator) -> Example:
    """Check jaccard(a, b, size) against scikit-learn; a shorter text is one run."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score

    size = int(rng.integers(1, 4))
    words = "stop the old new job v2 10"
    a, b = (_joined(rng, pick(rng, words, size, 12)) for _ in range(2))
    counter = CountVectorizer(ngram_range=(size, size), token_pattern=r"\w+", binary=True)
    found = counter.fit_transform([a, b]).toarray()
    return Example((a, b, size), float(jaccard_score(*found)))


def _in_order(groups) -> list[list[str]]:
    return sorted(sorted(group) for group in groups)


def _as_sets(groups: list[list[str]]) -> str:
    return as_code([set(group) for group in groups])


@random_check(200, view=_in_order, say=_as_sets)
def query_groups(rng: np.random.Generator) -> Example:
    """Check query_groups(relevant) against scipy; the order of the groups is free."""
    from scipy.cluster.hierarchy import DisjointSet

    documents = " ".join(f"d{n}" for n in range(1, 13))
    order = rng.permutation(rng.integers(1, 13))
    relevant = {f"q{n}": set(pick(rng, documents, 1, 3 - n % 2)) for n in order}
    linked = DisjointSet(relevant)
    for one, other in combinations(relevant, 2):
        if relevant[one] & relevant[other]:
            linked.merge(one, other)
    return Example((relevant,), _in_order(linked.subsets()))
