"""Checks of IDF, the BM25 score, the search with its fixed order, and chunks to documents."""

import math
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from rank_bm25 import BM25Okapi

from ...measure import runs, text
from . import verdict
from .verdict import Example, drawn, mean, pick


def _documents(rng: np.random.Generator, low: int = 2, high: int = 7) -> list[list[str]]:
    words = "disk full queue on the log log deploy failed"
    return [pick(rng, words, 1, 6) for _ in range(rng.integers(low, high))]


def _raw_idf(docs: list, log: Callable = math.log, held: Callable = set) -> dict:
    """Return unreplaced weights; `held` says which words of a document are counted."""
    found = Counter(word for doc in docs for word in held(doc))
    return {w: log((len(docs) - df + 0.5) / (df + 0.5)) for w, df in found.items()}


def _okapi(docs: list, epsilon: float, over: Callable = lambda w: True, **how) -> dict:
    """Return weights of which negative ones are replaced by the mean of those that `over` takes."""
    weights = _raw_idf(docs, **how)
    return _floored(weights, epsilon * mean(w for w in weights.values() if over(w)))


def _floored(weights: dict, floor: float) -> dict:
    return {word: floor if weight < 0 else weight for word, weight in weights.items()}


def _draw_idf(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(200):
        docs, epsilon = _documents(rng), float(rng.choice([0.25, 0.5]))
        index = BM25Okapi(docs, epsilon=epsilon)
        yield Example((docs, epsilon), dict(index.idf))


WRONG_IDF = [
    ("Negative weights stay: rank_bm25 replaces them by epsilon times the mean weight.",
     lambda docs, e=0.25: _raw_idf(docs)),
    ("Negative weights become 0: rank_bm25 takes epsilon times the mean weight.",
     lambda docs, e=0.25: _floored(_raw_idf(docs), 0.0)),
    ("Negative weights become epsilon itself: it is epsilon times the mean weight.",
     lambda docs, e=0.25: _floored(_raw_idf(docs), e)),
    ("This is Lucene's weight, with 1 added inside the logarithm.",
     lambda docs, e=0.25: _raw_idf(docs, log=lambda odds: math.log(1 + odds))),
    ("Occurrences are counted. df is the number of documents that hold the word: one that "
     "repeats it counts once.",
     lambda docs, e=0.25: _okapi(docs, e, held=list),
     lambda docs, e=0.25: _okapi(docs, e, held=list, log=np.log),
     lambda docs, e=0.25: _okapi(docs, e, held=list, over=lambda weight: weight >= 0)),
    ("The mean is taken over the positive weights. It is taken over all of them, before any "
     "is replaced.",
     lambda docs, e=0.25: _okapi(docs, e, over=lambda weight: weight >= 0),
     lambda docs, e=0.25: _okapi(docs, e, over=lambda weight: weight > 0),
     lambda docs, e=0.25: _floored(
         _raw_idf(docs),
         e * mean([w for w in _raw_idf(docs).values() if w > 0] or [math.nan]))),
    ("A small weight of 0 or more is raised, too: replace only those below 0.",
     lambda docs, e=0.25: {
         word: max(weight, e * mean(_raw_idf(docs).values()))
         for word, weight in _raw_idf(docs).items()}),
    ("A weight of exactly 0 is replaced, too. Only weights below 0 are.",
     lambda docs, e=0.25: {
         word: weight or e * mean(_raw_idf(docs).values())
         for word, weight in _okapi(docs, e).items()}),
    ("Negative weights count as 0 in the mean. It is taken over all weights, before any is "
     "replaced.",
     lambda docs, e=0.25: _floored(
         _raw_idf(docs), e * mean(max(0, weight) for weight in _raw_idf(docs).values()))),
    ("This logarithm has base 10. The natural one is wanted, math.log or np.log.",
     lambda docs, e=0.25: _okapi(docs, e, log=math.log10)),
    ("This logarithm has base 2. The natural one is wanted, math.log or np.log.",
     lambda docs, e=0.25: _okapi(docs, e, log=math.log2)),
    ("The argument epsilon is ignored.", lambda docs, e=0.25: _okapi(docs, 0.25)),
    ("This is ln(N / df). Robertson and Spärck Jones set the documents without the word "
     "against those with it, and add 0.5 to both.",
     lambda docs, e=0.25: {
         word: math.log(len(docs) / sum(word in doc for doc in docs)) for word in sum(docs, [])}),
]  # fmt: skip


def check_okapi_idf(function: Callable) -> None:
    """Check okapi_idf(docs, epsilon) against rank_bm25.

    Why: Two libraries that both say BM25 weigh the same word differently. When a migration changes
    your results, look here before you blame the data.
    """
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
    verdict.run_check("okapi_idf", function, hand, drawn(_draw_idf), WRONG_IDF)


def _draw_bm25(rng: np.random.Generator) -> Iterator[Example]:
    for n in range(200):
        docs, given = _documents(rng, 3), {}
        if n % 2:
            given = {"k1": float(rng.choice([0.9, 1.2, 2])), "b": float(rng.choice([0, 0.4, 1]))}
        index, query = BM25Okapi(docs, **given), pick(rng, "disk full log queue nothing", 1, 3)
        which = int(rng.integers(len(docs)))
        args = query, docs[which], dict(index.idf), float(index.avgdl), *given.values()
        yield Example(args, float(index.get_scores(query)[which]))


def _bm25(
    query, doc, weights, average, k1=1.5, b=0.75, *, up=None, norm=None, once=False, most=math.inf
) -> float:
    """Return a BM25 score with one part changed: the factor above, the norm, repeated words."""
    words = dict.fromkeys(query) if once else query
    up = k1 + 1 if up is None else up
    norm = k1 * (1 - b + b * len(doc) / average) if norm is None else norm
    counts = [(weights.get(word, 0), min(doc.count(word), most)) for word in words if word in doc]
    return sum(weight * count * up / (count + norm) for weight, count in counts)


WRONG_BM25 = [
    ("The factor k1 + 1 in the numerator is missing.", lambda *args: _bm25(*args, up=1)),
    ("The length of the document is ignored: b says how much it counts.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1)),
    ("A word that stands twice in the query counts once. The sum runs over its places.",
     lambda *args: _bm25(*args, once=True)),
    ("k1 and b are exchanged.", lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, b, k1)),
    ("The length is taken the wrong way round: divide it by the average length.",
     lambda q, d, w, a, k1=1.5, b=0.75:
         _bm25(q, d, w, a, k1, b, norm=k1 * (1 - b + b * a / len(d)))),
    ("1 - b is missing, so a document of average length has a norm of k1 times b.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1 * b * len(d) / a)),
    ("1 stands where 1 - b belongs, so every document counts as longer than it is.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1 * (1 + b * len(d) / a))),
    ("The length counts in full. b says how much of it counts, and 1 - b stands for the rest.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1 * len(d) / a)),
    ("The length is the number of different words. A word that the document repeats makes it "
     "longer each time.",
     lambda q, d, w, a, k1=1.5, b=0.75:
         _bm25(q, d, w, a, k1, b, norm=k1 * (1 - b + b * len({*d}) / a))),
    ("Parentheses are missing: k1 multiplies all of 1 - b + b * length / average.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1 - b + b * len(d) / a)),
    ("Only f is divided by: put brackets round the whole denominator.",
     lambda q, d, w, a, k1=1.5, b=0.75: sum(
         w.get(x, 0) * (k1 + 1) + k1 * (1 - b + b * len(d) / a) for x in q if x in d)),
    ("Only the first word of the query counts: the sum runs over all of them.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q[:1], d, w, a, k1, b)),
    ("The sum runs over the words of the document. Take those of the query: the document only says "
     "how often it has each.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25([x for x in d if x in q], d, w, a, k1, b),
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(d, d, w, a, k1, b),
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25({*d}, d, w, a, k1, b)),
    ("This divides by the length of the query. Leave the sum as it is: each word adds its part.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b) / max(1, len(q)),
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b) / len(q)),
    ("k1 is missing in the denominator.",
     lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=1 - b + b * len(d) / a)),
    ("Weight times count: BM25 lets further occurrences count less and less.",
     lambda q, d, w, a, k1=1.5, b=0.75: sum(w.get(x, 0) * d.count(x) for x in q)),
    ("Whether the word occurs is all that counts here. How often it occurs counts, too.",
     lambda *args: _bm25(*args, most=1)),
    ("The arguments k1 and b are ignored.", lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a)),
    ("A word of the query that no document holds has no weight: weights.get(word, 0).",
     lambda q, d, w, a, k1=1.5, b=0.75: sum(w[x] for x in q) and _bm25(q, d, w, a, k1, b)),
]  # fmt: skip


def check_bm25_score(function: Callable) -> None:
    """Check bm25_score(query, doc, weights, average_length, k1, b) against rank_bm25.

    Why: When somebody asks why this document is first, you can now answer with numbers, word by
    word.
    """
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
    verdict.run_check("bm25_score", function, hand, drawn(_draw_bm25), WRONG_BM25)


def _searchable(docs: list[list[str]], ids: list[str]) -> tuple:
    """Return index, ids and vocabularies, as session B makes them."""
    index = BM25Okapi(docs)
    index.made_from = docs
    return index, np.array(ids), [set(doc) for doc in docs]


def _matches(
    query: str, index, ids, vocabularies, keep: Callable | None = None, cut: Callable = text.words
) -> list[tuple[str, float]]:
    """Return (id, score) in the order of `ids` for the documents that `keep` accepts."""
    words = cut(query)
    keep = keep or (lambda score, vocabulary: not vocabulary.isdisjoint(words))
    hits = zip(ids, index.get_scores(words), vocabularies, strict=True)
    return [(str(i), round(float(s), runs.DECIMALS)) for i, s, known in hits if keep(s, known)]


def _search_case(query: str, docs: list[list[str]], ids: list[str], *k: int) -> Example:
    args = (query, *_searchable(docs, ids))
    return Example((*args, *k), runs.in_order(_matches(*args))[slice(*k) if k else slice(None)])


def _first_k(wrong: Callable) -> Callable:
    """Return a search without `k` as one that keeps the first `k`."""
    return lambda query, index, ids, known, k=None: wrong(query, index, ids, known)[:k]


def _draw_search(rng: np.random.Generator) -> Iterator[Example]:
    for turn in range(100):
        docs = _documents(rng, 2, 9)
        docs += [docs[0]] * int(rng.integers(0, 3))
        chunks = "a#0 a#1 a#2 a#10 a#11 b-1#0 b-1#3 b-10#0 B#0 ü#0 v2#0 v2#9".split()
        ids = [str(found) for found in rng.permutation(chunks[: len(docs)])]
        query = str(rng.choice([" ", "-", ", "])).join(pick(rng, "Disk full log queue none", 1, 3))
        k = [int(rng.integers(1, 5))] if turn % 3 == 0 else []
        yield _search_case(query, docs, ids, *k)


def _unrounded(query: str, index, ids, vocabularies) -> list:
    words = text.words(query)
    hits = zip(ids, index.get_scores(words), vocabularies, strict=True)
    found = [(str(i), float(s)) for i, s, known in hits if not known.isdisjoint(words)]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))


def _cut_too_early(query: str, index, ids, vocabularies, k=None) -> list:
    found = runs.in_order(_matches(query, index, ids, vocabularies, keep=lambda *_: True))[:k]
    words = text.words(query)
    known = dict(zip(map(str, ids), vocabularies, strict=True))
    return [hit for hit in found if not known[hit[0]].isdisjoint(words)]


def _numpy_order(query: str, index, ids, vocabularies) -> list:
    found = _matches(query, index, ids, vocabularies)
    return [found[n] for n in np.argsort([score for _, score in found])[::-1]]


def _letters(query: str, index, ids, vocabularies) -> list:
    shared = [not vocabulary.isdisjoint(text.words(query)) for vocabulary in vocabularies]
    scores = zip(ids, index.get_scores(query), shared, strict=True)
    return runs.in_order([(str(i), float(s)) for i, s, kept in scores if kept])


WITHOUT_K = [
    ("Only scores above 0 are kept. Where most documents hold the word, its weight is 0 or "
     "below, and true matches are lost: ask for a shared word.",
     lambda *args: runs.in_order(_matches(*args, keep=lambda score, _: score > 0)),
     lambda *args: [hit for hit in _unrounded(*args) if hit[1] > 0],
     lambda *args: sorted(
         _matches(*args, keep=lambda score, _: score > 0), key=lambda hit: -hit[1])),
    ("Only scores other than 0 are kept. A match can score 0: ask for a shared word.",
     lambda *args: runs.in_order(_matches(*args, keep=lambda score, _: score != 0))),
    ("Documents without a word of the query are returned.",
     lambda *args: runs.in_order(_matches(*args, keep=lambda *_: True))),
    ("Equal scores stand in the order of the index. Ties go by id, ascending.",
     lambda *args: sorted(_matches(*args), key=lambda hit: -hit[1])),
    ("Equal scores stand in the order that argsort()[::-1] leaves. Ties go by id, ascending.",
     _numpy_order),
    ("Equal scores go by id from z to a. Ties go by id, ascending.",
     lambda *args: sorted(_matches(*args), key=lambda hit: hit[::-1], reverse=True)),
    ("The worst comes first: the order is by score, descending.",
     lambda *args: sorted(_matches(*args), key=lambda hit: (hit[1], hit[0])),
     lambda *args: sorted(_matches(*args), key=lambda hit: hit[1])),
    ("The results are in the order of their ids. The score decides first.",
     lambda *args: sorted(_matches(*args)),
     lambda *args: sorted(_matches(*args), reverse=True)),
    ("The results are in the order of the index: sort them by score.", _matches),
    ("The index is asked with a text, which it reads letter by letter: pass the words.", _letters),
    ("The query keeps its capitals, and the documents are in lower case: use evals.words.",
     lambda *args: runs.in_order(_matches(*args, cut=str.split))),
    ("Only ten results come back, whatever k is.",
     lambda *args: runs.in_order(_matches(*args))[:10]),
    ("Only ids come back. Pairs of id and score are wanted.",
     lambda *args: [found for found, _ in runs.in_order(_matches(*args))]),
    ("Scores are compared to the last digit, where equal ones differ: round to ten decimals "
     "before you sort.",
     _unrounded),
]  # fmt: skip
WRONG_SEARCH = [
    ("The argument k is ignored: it keeps the first ones.",
     lambda *args: runs.in_order(_matches(*args[:4]))),
    ("Cut to k before documents without a shared word are left out: leave them out first.",
     _cut_too_early),
    ("Cut to k before the results are in order: sort them first.",
     lambda query, index, ids, known, k=None: runs.in_order(
         _matches(query, index, ids, known)[:k])),
    *((sentence, *map(_first_k, wrong)) for sentence, *wrong in WITHOUT_K),
]  # fmt: skip


def check_search(function: Callable) -> None:
    """Check search(query, index, ids, vocabularies) against rank_bm25 and the fixed order.

    Why: Without a fixed order of ties, two runs of the same code can differ, and a change that did
    nothing looks like progress.
    """
    two, tied = [["disk"], ["full"]], [["disk"], ["queue"], ["disk"], ["disk"], ["x"]]
    many = [["disk", f"w{n}"] for n in range(12)]
    uneven = [  # the same sum in another order, so that the last digit differs
        ["disk"] * n + ["full"] * 3 + ["queue"] * (5 - n) for n in (4, 1)
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
        _search_case("disk full queue", [*uneven, *[[x] * 3 for x in "xyzuv"]], list("bacdefg")),
    ]
    verdict.run_check("search", function, hand, drawn(_draw_search), WRONG_SEARCH)


def _doc_of(chunk_id: str) -> str:
    return chunk_id.rpartition("#")[0]


def _collapsed(hits: list, merge: Callable, doc_of: Callable = _doc_of) -> dict:
    grouped = {}
    for chunk_id, score in hits:
        grouped.setdefault(doc_of(chunk_id), []).append(score)
    return {doc_id: merge(scores) for doc_id, scores in grouped.items()}


def _draw_documents(rng: np.random.Generator) -> Iterator[Example]:
    import pandas as pd

    for _ in range(100):
        names, numbers = pick(rng, "a b2 b10 v-1 e#x e#1 1 ü", 12, 12), rng.integers(0, 15, 12)
        ids = {f"{d}#{n}" for d, n in zip(names, numbers, strict=True)}
        hits = [(found, float(rng.integers(-6, 7)) / 2) for found in sorted(ids)]
        hits = runs.in_order(hits)[: rng.integers(1, 13)]
        frame = pd.DataFrame(hits, columns=["chunk", "score"])
        best = frame.groupby(frame.chunk.str.rsplit("#", n=1).str[0]).score.max()
        yield Example((hits,), runs.in_order(list(best.items())))


WRONG_DOCS = [
    ("A score below 0 became 0: the best of a document's chunks may be below 0.",
     lambda hits: runs.in_order([*_collapsed(hits, lambda scores: max(0.0, *scores)).items()])),
    ("The last chunk of a document decides its score. The best one does.",
     lambda hits: runs.in_order([*_collapsed(hits, lambda scores: scores[-1]).items()]),
     lambda hits: runs.in_order(
         [*_collapsed(hits, lambda s: s[-1], lambda c: c.split("#")[0]).items()])),
    ("The same document is counted once for each of its chunks: keep the best one only.",
     lambda hits: [(_doc_of(found), score) for found, score in hits]),
    ("The scores of a document's chunks are added up, so long documents win. Keep the best one.",
     lambda hits: runs.in_order([*_collapsed(hits, sum).items()])),
    ("This is the mean over a document's chunks. Keep the best one.",
     lambda hits: runs.in_order([*_collapsed(hits, mean).items()])),
    ("A document id may hold a # itself: cut at the last one.",
     lambda hits: runs.in_order([*_collapsed(hits, max, lambda c: c.split("#")[0]).items()])),
    ("Documents with equal scores stand in the order of their chunks. Ties go by doc_id, "
     "ascending.",
     lambda hits: [*_collapsed(hits, max).items()]),
    ("The documents are in the order of their ids: sort by score first.",
     lambda hits: sorted(_collapsed(hits, max).items())),
    ("The ids are still those of chunks: cut off the # and the number.",
     lambda hits: [*{_doc_of(hit[0]): hit for hit in hits[::-1]}.values()][::-1],
     runs.in_order,
     lambda hits: hits),
]  # fmt: skip


def check_to_documents(function: Callable) -> None:
    """Check to_documents(hits) against pandas.

    Why: A top 10 of chunks may hold three documents. Whoever measures it as ten answers reports a
    search that nobody has.
    """
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
    verdict.run_check("to_documents", function, hand, drawn(_draw_documents), WRONG_DOCS)
