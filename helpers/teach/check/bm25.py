"""Checks of IDF, the BM25 score, the search with its fixed order, and chunks to documents."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from rank_bm25 import BM25Okapi

from ...measure import runs, text
from .cases import Example, drawn, pick
from .recorded import recorded
from .verdict import run_check


def _documents(rng: np.random.Generator, low: int = 2, high: int = 7) -> list[list[str]]:
    words = "disk full queue on the log log deploy failed"
    return [pick(rng, words, 1, 6) for _ in range(rng.integers(low, high))]


def _draw_idf(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(200):
        docs, epsilon = _documents(rng), float(rng.choice([0.25, 0.5]))
        index = BM25Okapi(docs, epsilon=epsilon)
        yield Example((docs, epsilon), dict(index.idf))


@recorded
def okapi_idf(function: Callable) -> None:
    """Check okapi_idf(docs, epsilon) against rank_bm25."""
    rare, common = math.log(2.5 / 1.5), math.log(0.5 / 4.5)
    tiny = [["disk", "full", "disk"], ["queue", "full"], ["log"]]
    weights = {"disk": rare, "full": rare * 2 / 4 / 4, "queue": rare, "log": rare}
    all_common = [["a"], ["a"], ["a", "b"], ["a", "b"]]
    hand = [
        Example(([["a"], ["b"], ["c"]],), {"a": rare, "b": rare, "c": rare}),
        Example(([["a", "a"], ["b"], ["c"]],), {"a": rare, "b": rare, "c": rare}),
        Example((tiny,), weights),
        Example((tiny, 0.5), {**weights, "full": rare * 2 / 4 / 2}),
        Example((all_common,), {"a": common / 2 / 4, "b": 0.0}),
        Example(([["a"], ["b"], []],), {"a": rare, "b": rare}),
    ]
    run_check("okapi_idf", function, drawn(_draw_idf), hand)


def _draw_bm25(rng: np.random.Generator) -> Iterator[Example]:
    for n in range(200):
        docs, parameters = _documents(rng, 3), ()  # k1 and b
        if n % 2:
            parameters = float(rng.choice([0.9, 1.2, 2])), float(rng.choice([0, 0.4, 1]))
        index = BM25Okapi(docs, None, *parameters)
        query = pick(rng, "disk full log queue nothing", 1, 3)
        which = int(rng.integers(len(docs)))
        args = query, docs[which], dict(index.idf), float(index.avgdl), *parameters
        yield Example(args, float(index.get_scores(query)[which]))


@recorded
def bm25_score(function: Callable) -> None:
    """Check bm25_score(query, doc, weights, average_length, k1, b) against rank_bm25."""
    one = {"disk": 1.0}
    hand = [
        Example((["disk"], ["disk", "full"], one, 2.0), 1.0),
        Example((["disk"], ["disk", "disk"], one, 2.0), 10 / 7),
        Example((["disk"], ["disk", "a", "b", "c"], one, 2.0), 20 / 29),
        Example((["disk", "disk"], ["disk", "full"], one, 2.0), 2.0),
        Example((["new"], ["disk", "full"], one, 2.0), 0.0),
        Example(([], ["disk", "full"], one, 2.0), 0.0),
        Example((["disk", "full"], ["disk", "full"], {"disk": 1.0, "full": -0.5}, 2.0), 0.5),
        Example((["disk"], ["disk", "disk", "a", "b"], one, 2.0, 1.2, 0.0), 11 / 8),
        Example((["full"], ["disk"], one, 2.0, 1.2, 0.0), 0.0),
    ]
    run_check("bm25_score", function, drawn(_draw_bm25), hand)


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


def _draw_search(rng: np.random.Generator) -> Iterator[Example]:
    for turn in range(100):
        docs = _documents(rng, 2, 9)
        docs += [docs[0]] * int(rng.integers(0, 3))
        chunks = "a#0 a#1 a#2 a#10 a#11 b-1#0 b-1#3 b-10#0 B#0 ü#0 v2#0 v2#9".split()
        ids = [str(found) for found in rng.permutation(chunks[: len(docs)])]
        query = str(rng.choice([" ", "-", ", "])).join(pick(rng, "Disk full log queue none", 1, 3))
        k = [int(rng.integers(1, 5))] if turn % 3 == 0 else []
        yield _search_case(query, docs, ids, *k)


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
    run_check("search", function, drawn(_draw_search), hand)


def _draw_documents(rng: np.random.Generator) -> Iterator[Example]:
    import pandas as pd

    for _ in range(100):
        names, numbers = pick(rng, "a b2 b10 v-1 e#x e#1 1 ü", 12, 12), rng.integers(0, 15, 12)
        ids = {f"{d}#{n}" for d, n in zip(names, numbers, strict=True)}
        scored = [(chunk_id, float(rng.integers(-6, 7)) / 2) for chunk_id in sorted(ids)]
        hits = runs.in_order(scored)[: rng.integers(1, 13)]
        frame = pd.DataFrame(hits, columns=["chunk", "score"])
        doc_ids = frame.chunk.str.rsplit("#", n=1).str[0]
        best = frame.groupby(doc_ids).score.max()
        yield Example((hits,), runs.in_order(list(best.items())))


@recorded
def to_documents(function: Callable) -> None:
    """Check to_documents(hits) against pandas."""
    hand = [
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
    run_check("to_documents", function, drawn(_draw_documents), hand)
