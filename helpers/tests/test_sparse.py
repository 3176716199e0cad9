"""The engine for large corpora ranks as rank_bm25 does; any model runs through it."""

import itertools
import math
from collections import Counter

import bm25s
import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from helpers.measure import runs, sparse, text


def by_library(bodies, ids, query):
    """Return the ranking of session B: rank_bm25, only shared words, ties by id."""
    documents, asked = [text.words(body) for body in bodies], text.words(query)
    scores = BM25Okapi(documents).get_scores(asked).round(runs.DECIMALS).tolist()
    rows = [row for row in zip(ids, scores, documents, strict=True) if {*asked} & {*row[2]}]
    return sorted([row[:2] for row in rows], key=lambda hit: (-hit[1], hit[0]))


def random_corpus(seed, n_documents, n_words, spread):
    """Return texts and queries over `n_words` words; a large `spread` makes few words common."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, n_words + 1) ** spread
    shares /= shares.sum()

    def body(length):
        return " ".join(f"w{n}" for n in rng.choice(n_words, length, p=shares))

    bodies = [body(length) for length in rng.integers(0, 12, n_documents)]
    return [*bodies, "w0"], [f"{body(6)} unknown {body(1)}" for _ in range(8)]


def ranked(pair, queries, k=None):
    """Return the rankings of {query_id: text} by a model and its index."""
    return dict(sparse.rankings(*pair, queries, k))


@pytest.mark.parametrize(("n_documents", "n_words"), [(1, 2), (6, 3), (40, 8), (300, 60)])
def test_ranking_of_rank_bm25(n_documents, n_words):
    spreads = 0.0, 0.8, 2.0  # flat, natural, every query word common
    for seed, spread in itertools.product(range(5), spreads):
        bodies, queries = random_corpus(seed, n_documents, n_words, spread)
        ids = [f"d{n}" for n in np.random.default_rng(seed).permutation(len(bodies))]
        run = ranked(sparse.bm25(ids, bodies), dict(enumerate(queries)))
        for number, query in enumerate(queries):
            expected = by_library(bodies, ids, query)
            assert [doc_id for doc_id, _ in run[number]] == [doc_id for doc_id, _ in expected]
            for (_, score), (_, wanted) in zip(run[number], expected, strict=True):
                assert abs(score - wanted) < 2e-10  # a repeated word may move the last decimal
            runs.check_order(query, run[number])


def test_scores_of_rank_bm25_to_the_last_bit():
    bodies, queries = random_corpus(1, 200, 30, 0.8)
    model, index = sparse.bm25([f"d{n}" for n in range(len(bodies))], bodies)
    library = BM25Okapi([text.words(body) for body in bodies])
    for words in map(text.words, queries):
        for asked, error in ((dict.fromkeys(words), 0), (words, 1e-12)):
            (vector,) = model.encode_queries([" ".join(asked)])
            scores = index.postings[list(vector)].T @ np.array(list(vector.values()))
            assert np.abs(scores - library.get_scores(list(asked))).max() <= error


def test_scores_of_bm25s_for_the_lucene_variant():
    bodies, queries = random_corpus(3, 200, 40, 0.8)
    ids = [f"{n:03}" for n in range(len(bodies))]
    pair = sparse.bm25(ids, bodies, idf="lucene", k1=1.2, b=0.6)
    library = bm25s.BM25(method="lucene", k1=1.2, b=0.6, dtype="float64")
    library.index([text.words(body) for body in bodies], show_progress=False)
    for number, ranking in ranked(pair, dict(enumerate(queries))).items():
        scores = (1.2 + 1) * library.get_scores(text.words(queries[number]))
        assert len(ranking) == (scores > 0).sum() > 0
        assert all(abs(scores[int(doc_id)] - score) < 1e-9 for doc_id, score in ranking)


@pytest.mark.parametrize("idf", ["okapi", "lucene"])
def test_first_k_begin_the_whole_ranking(idf):
    bodies = ["disk full", "disk"] * 400 + [f"disk {n}" for n in range(300)]
    rng = np.random.default_rng(0)
    ids = [f"d{n}" for n in rng.permutation(len(bodies))]
    found = sparse.bm25(ids, bodies, idf=idf)
    whole = ranked(found, {"q": "disk full 7"})["q"]
    assert len(whole) == len(bodies) and len({score for _, score in whole}) < 10
    for k in (1, 2, 7, 34, 35, 399, 401, 1099, 1100, 5000):  # most cut through a tie
        assert ranked(found, {"q": "disk full 7"}, k)["q"] == whole[:k]


class Letters:
    """A model by hand: a dimension for each of three letters, and one for what they stand for."""

    sparse_dim = 4

    def encode_documents(self, texts):
        return [{"abc".index(c): float(n) for c, n in Counter(body).items()} for body in texts]

    def encode_queries(self, texts):
        return [{**vector, 3: 1.0} for vector in self.encode_documents(texts)]


def test_any_model_from_texts_to_measures():
    model = Letters()
    found = sparse.build(model, ["x", "y", "z"], ["aab", "b", ""])
    queries = {"q1": "ab", "q2": "b", "q3": "c", "q4": ""}
    rankings = {"q1": [("x", 3.0), ("y", 1.0)], "q2": [("x", 1.0), ("y", 1.0)]}
    assert ranked((model, found), queries) == {**rankings, "q3": [], "q4": []}
    qrels = {"q1": {"x": 1}, "q2": {"y": 1, "x": 0}, "q3": {"z": 1}}
    values = sparse.evaluate(model, found, queries, qrels)
    assert list(values) == ["nDCG@10", "recall@100", "MAP", "MRR"]
    assert math.isclose(values["nDCG@10"], (1 + 1 / math.log2(3)) / 3)
    assert math.isclose(values["MRR"], 0.5) and math.isclose(values["recall@100"], 2 / 3)


def test_terms_by_rarity_and_measures_at_other_depths():
    index = sparse.build(Letters(), ["x", "y", "z"], ["aaa", "ab", "a"])
    plain = dict(ranked((Letters(), index), {"q": "ab"})["q"])
    assert plain == {"x": 3.0, "y": 2.0, "z": 1.0}
    found = dict(sparse.rankings(Letters(), index, {"q": "ab"}, idf="lucene"))["q"]
    a, b = math.log(1 + 0.5 / 3.5), math.log(1 + 2.5 / 1.5)
    assert dict(found) == pytest.approx({"y": a + b, "x": 3 * a, "z": a})
    for idf, value in (("lucene", 1), ("", 0)):
        few = sparse.evaluate(Letters(), index, {"q": "ab"}, {"q": {"y": 1}}, [1], idf)
        assert few["nDCG@1"] == few["recall@1"] == value
    many = sparse.build(Letters(), [f"d{n:03}" for n in range(102)], ["a"] * 102)
    for doc_id, k_values, recall, rank in (
        ("d099", [], {"recall@100": 1}, 100),
        ("d100", [], {"recall@100": 0}, math.inf),
        ("d100", [200], {"recall@100": 0, "recall@200": 1}, 101),
    ):
        values = sparse.evaluate(Letters(), many, {"q": "a"}, {"q": {doc_id: 1}}, k_values)
        assert values["MRR"] == values["MAP"] == 1 / rank and values.items() > recall.items()


def test_bm25_through_the_pipeline_of_any_model():
    bodies, queries = random_corpus(2, 60, 12, 0.8)
    ids, asked = [f"d{n}" for n in range(len(bodies))], dict(enumerate(queries))
    model, found = sparse.bm25(ids, bodies)
    assert ranked((model, sparse.build(model, ids, bodies)), asked) == ranked((model, found), asked)


def test_wrong_ids_are_refused():
    with pytest.raises(ValueError, match="2 ids for 3 documents, wanted one for each"):
        sparse.bm25(["a", "b", "b"], ["disk", "full", "log"])


class Fixed:
    """A model that returns what it was given."""

    sparse_dim = 3

    def __init__(self, *vectors):
        self.vectors = list(vectors)

    def encode_documents(self, texts):
        return self.vectors

    encode_queries = encode_documents


BAD_VECTORS = [  # (vectors of two texts, what is said)
    ([{0: 1.0}, {1: 1.0, -1: 1.0}], "indices must be >= 0"),
    ([{2: 1.0, 3: 1.0}, {}], "indices must be < 3"),
    ([{0: 1.0}, {1: math.nan}], "a weight is inf or nan"),
    ([{0: 1.0}], "1 vectors for 2 texts, wanted one for each"),
]


def test_bad_vectors_are_refused(monkeypatch):
    index = sparse.build(Fixed({0: 1.0}), ["a"], [""])
    for vectors, message in BAD_VECTORS:
        with pytest.raises(ValueError, match=message):
            sparse.build(Fixed(*vectors), ["a", "b"], ["", ""])
        with pytest.raises(ValueError, match=message):
            ranked((Fixed(*vectors), index), {"q1": "", "q2": ""})
    monkeypatch.setattr(sparse, "BATCH", 2)
    with pytest.raises(ValueError, match="indices must be < 3"):  # over all batches
        sparse.encode(lambda texts: [{len(body): 1.0} for body in texts], ["", "a", "", "abc"], 3)


SHARED = [  # (vectors of a, b, c, of a query, its ranking)
    (({0: 0.0}, {1: -1.0}, {}), {0: 1.0, 1: 1.0}, [("a", 0.0), ("b", -1.0)]),
    (({0: 0.0}, {1: -1.0}, {}), {}, []),
    (({0: 2.0}, {1: 0.5}, {}), {0: 0.0}, [("a", 0.0)]),
    (({0: 2.0}, {1: 0.5}, {}), {0: -1.0, 1: -3.0}, [("b", -1.5), ("a", -2.0)]),
]


def test_a_dimension_is_shared_whatever_its_weight():
    for vectors, asked, ranking in SHARED:
        index = sparse.build(Fixed(*vectors), ["a", "b", "c"], [""] * 3)
        assert ranked((Fixed(asked), index), {"q": ""}) == {"q": ranking}, (vectors, asked)


def over_fetch(hits, depth):
    """Return what `over_fetch` gives, and how many chunks it asked for each time."""
    fetched = []

    def hits_of(k):
        fetched.append(k)
        return hits[:k]

    return sparse.over_fetch(hits_of, collapse, depth), fetched


def test_over_fetch_is_exact():
    rng = np.random.default_rng(2)
    names = ["d" + "!" * n for n in range(12)]  # d!#0 stands before d#0, but d before d!
    for _ in range(300):
        owners, scores = rng.choice(names, 60, p=[0.45, *[0.05] * 11]), rng.integers(0, 6, 60)
        hits = [(f"{owners[n]}#{n}", float(scores[n])) for n in range(60)]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        for depth in (1, 3, 8, 20):
            best, fetched = over_fetch(hits, depth)
            assert best == (hits[:depth], collapse(hits)[:depth])
            assert fetched[0] == 4 * depth and max(fetched) <= 4 * 80


def collapse(hits):
    """Return each document's best chunk, best first, ties by id."""
    best = {}
    for chunk_id, score in hits:
        best.setdefault(chunk_id.rpartition("#")[0], score)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
