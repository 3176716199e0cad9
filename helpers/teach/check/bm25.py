"""Checks of IDF, the BM25 score, the search with its fixed order, and chunks to documents."""

import math
from collections.abc import Callable

import numpy as np
from rank_bm25 import BM25Okapi

from ...measure import runs, text
from .cases import Example, drawn, pick
from .recorded import random_check, recorded
from .verdict import run_check


def _documents(rng: np.random.Generator, low: int = 2, high: int = 7) -> list[list[str]]:
    words = "disk full queue on the log log deploy failed"
    return [pick(rng, words, 1, 6) for _ in range(rng.integers(low, high))]


RARE, COMMON = math.log(2.5 / 1.5), math.log(0.5 / 4.5)
TINY = [["disk", "full", "disk"], ["queue", "full"], ["log"]]
WEIGHTS = {"disk": RARE, "full": RARE * 2 / 4 / 4, "queue": RARE, "log": RARE}
IDF = [
    Example(([["a"], ["b"], ["c"]],), {"a": RARE, "b": RARE, "c": RARE}),
    Example(([["a", "a"], ["b"], ["c"]],), {"a": RARE, "b": RARE, "c": RARE}),
    Example((TINY,), WEIGHTS),
    Example((TINY, 0.5), {**WEIGHTS, "full": RARE * 2 / 4 / 2}),
    Example(([["a"], ["a"], ["a", "b"], ["a", "b"]],), {"a": COMMON / 2 / 4, "b": 0.0}),
    Example(([["a"], ["b"], []],), {"a": RARE, "b": RARE}),
]


@random_check(200, IDF)
def okapi_idf(rng: np.random.Generator) -> Example:
    """Check okapi_idf(docs, epsilon) against rank_bm25."""
    docs, epsilon = _documents(rng), float(rng.choice([0.25, 0.5]))
    return Example((docs, epsilon), dict(BM25Okapi(docs, epsilon=epsilon).idf))


ONE = {"disk": 1.0}
SCORES = [
    Example((["disk"], ["disk", "full"], ONE, 2.0), 1.0),
    Example((["disk"], ["disk", "disk"], ONE, 2.0), 10 / 7),
    Example((["disk"], ["disk", "a", "b", "c"], ONE, 2.0), 20 / 29),
    Example((["disk", "disk"], ["disk", "full"], ONE, 2.0), 2.0),
    Example((["new"], ["disk", "full"], ONE, 2.0), 0.0),
    Example(([], ["disk", "full"], ONE, 2.0), 0.0),
    Example((["disk", "full"], ["disk", "full"], {"disk": 1.0, "full": -0.5}, 2.0), 0.5),
    Example((["disk"], ["disk", "disk", "a", "b"], ONE, 2.0, 1.2, 0.0), 11 / 8),
    Example((["full"], ["disk"], ONE, 2.0, 1.2, 0.0), 0.0),
]


@random_check(200, SCORES)
def bm25_score(rng: np.random.Generator) -> Example:
    """Check bm25_score(query, doc, weights, average_length, k1, b) against rank_bm25."""
    docs, parameters = _documents(rng, 3), ()  # k1 and b
    if rng.random() < 0.5:
        parameters = float(rng.choice([0.9, 1.2, 2])), float(rng.choice([0, 0.4, 1]))
    index = BM25Okapi(docs, None, *parameters)
    query = pick(rng, "disk full log queue nothing", 1, 3)
    which = int(rng.integers(len(docs)))
    args = query, docs[which], dict(index.idf), float(index.avgdl), *parameters
    return Example(args, float(index.get_scores(query)[which]))


def _search_case(query: str, docs: list[list[str]], ids: list[str], *k: int) -> Example:
    """Return a search with index, ids and vocabularies as session B makes them."""
    words, vocabularies = text.words(query), [set(doc) for doc in docs]
    index = BM25Okapi(docs)
    index.made_from = docs
    found = []
    for chunk_id, score, known in zip(ids, index.get_scores(words), vocabularies, strict=True):
        if not known.isdisjoint(words):
            found.append((chunk_id, round(float(score), runs.DECIMALS)))
    most = k[0] if k else None
    return Example((query, index, np.array(ids), vocabularies, *k), runs.in_order(found)[:most])


def _draw_search(rng: np.random.Generator) -> Example:
    docs = _documents(rng, 2, 9)
    docs += [docs[0]] * int(rng.integers(0, 3))
    chunks = "a#0 a#1 a#2 a#10 a#11 b-1#0 b-1#3 b-10#0 B#0 ü#0 v2#0 v2#9".split()
    ids = [str(found) for found in rng.permutation(chunks[: len(docs)])]
    query = str(rng.choice([" ", "-", ", "])).join(pick(rng, "Disk full log queue none", 1, 3))
    k = [int(rng.integers(1, 5))] if rng.random() < 1 / 3 else []
    return _search_case(query, docs, ids, *k)


@recorded
def search(function: Callable) -> None:
    """Check search(query, index, ids, vocabularies) against rank_bm25 and the fixed order."""
    two, tied = [["disk"], ["full"]], [["disk"], ["queue"], ["disk"], ["disk"], ["x"]]
    many = [["disk", f"w{n}"] for n in range(12)]
    fill = [[letter] * 3 for letter in "xyzuv"]
    uneven = [  # the same sum in another order, so that the last digit differs
        "disk disk disk disk full full full queue".split(),
        "disk full full full queue queue queue queue".split(),
    ]
    hand = [
        _search_case("disk", [["disk"], ["queue"], ["x"]], ["a", "b", "c"]),
        _search_case("Disk", [["disk"], ["queue"], ["x"]], ["a", "b", "c"]),
        _search_case("nothing", two, ["a", "b"]),
        _search_case("disk", tied, ["c", "x", "a", "b", "d"]),
        _search_case("a", [["a"], ["a"], ["a", "b"]], ["p", "q", "r"]),
        _search_case("disk", many, list("mbcdefghijkl")),
        _search_case("disk", many, list("mbcdefghijkl"), 11),
        _search_case("disk-full?", [["disk"], ["full"], ["x"], ["y"]], ["a#10", "a#9", "b#0", "c"]),
        _search_case("disk", tied, ["c", "x", "a", "b", "d"], 2),
        _search_case("a", [["a"], ["a"], ["a", "b"], ["b"]], ["p", "q", "r", "s"], 1),
        _search_case("disk full queue", [*uneven, *fill], list("bacdefg")),
    ]
    run_check("search", function, drawn(_draw_search, 100), hand)


HITS = [
    Example(([],), []),
    Example(([("a#0", 2.0), ("b#0", 1.0)],), [("a", 2.0), ("b", 1.0)]),
    Example(([("a#3", 9.0), ("b#0", 8.0), ("a#1", 7.0)],), [("a", 9.0), ("b", 8.0)]),
    Example(([("b#0", 1.0), ("b#1", 1.0), ("a#5", 1.0)],), [("a", 1.0), ("b", 1.0)]),
    Example(([("c#x#1", 2.0), ("c#0", 1.0)],), [("c#x", 2.0), ("c", 1.0)]),
    Example(([("a#12", 2.0), ("b#0", 1.5), ("a#9", 1.0)],), [("a", 2.0), ("b", 1.5)]),
    Example(([("v2#10", 2.0), ("v#1", 1.5), ("v2#0", 1.0)],), [("v2", 2.0), ("v", 1.5)]),
    Example(([(f"{d}#0", 1.0) for d in "abcdefghijkl"],), [(d, 1.0) for d in "abcdefghijkl"]),
    Example(([("d9#0", 1.0), ("d10#0", 1.0)],), [("d10", 1.0), ("d9", 1.0)]),
    Example(([("a#0", -1.0), ("b#1", -2.0), ("a#2", -3.0)],), [("a", -1.0), ("b", -2.0)]),
]


@random_check(100, HITS)
def to_documents(rng: np.random.Generator) -> Example:
    """Check to_documents(hits) against pandas."""
    import pandas as pd

    names, numbers = pick(rng, "a b2 b10 v-1 e#x e#1 1 ü", 12, 12), rng.integers(0, 15, 12)
    ids = {f"{d}#{n}" for d, n in zip(names, numbers, strict=True)}
    scored = [(chunk_id, float(rng.integers(-6, 7)) / 2) for chunk_id in sorted(ids)]
    hits = runs.in_order(scored)[: rng.integers(1, 13)]
    frame = pd.DataFrame(hits, columns=["chunk", "score"])
    doc_ids = frame.chunk.str.rsplit("#", n=1).str[0]
    best = frame.groupby(doc_ids).score.max()
    return Example((hits,), runs.in_order(list(best.items())))
