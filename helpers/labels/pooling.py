"""Choose what to judge: pool different rankers, pick negatives."""

import functools
from collections.abc import Callable

import bm25s
import numpy as np
import snowballstemmer
from sklearn.feature_extraction.text import TfidfVectorizer

from .. import evalset, runs, sparse

STEMMER = snowballstemmer.stemmer("english")
Scores = Callable[[str], np.ndarray]
Words = Callable[[str], list[str]]


# Rankers. They must differ in what they see, or the pool inherits one system's blind spot.


def by_ranker(evals: evalset.EvalSet, depth: int = 10) -> dict[str, dict[str, runs.Ranking]]:
    """Return {ranker: {query_id: ranking}} of the pooled rankers, each cut at `depth`.

    Saved runs of session B are pooled where they exist; the other rankers are built here.
    """
    ids, titles = list(evals.documents), [d.title for d in evals.documents.values()]
    bodies = [d.retrieval_text for d in evals.documents.values()]
    built = {
        "lucene-stemmed": lucene_stemmed(bodies, evals.words),
        "character-ngrams": character_ngrams(bodies),
    }
    found = {"okapi-documents": okapi(evals, bodies, depth)}
    if any(map(evals.words, titles)):  # public passages may have none
        found["okapi-titles"] = okapi(evals, titles, depth)
    found |= {
        name: {q.query_id: top(scores(q.query), ids, depth) for q in evals.queries.values()}
        for name, scores in built.items()
    }
    for path in sorted((evals.folder / "runs").glob("*.trec")):
        saved = runs.read_trec(path)
        found[path.stem] = {q: saved.get(q, [])[:depth] for q in evals.queries}
    return found


def top(scores: np.ndarray, ids: list[str], depth: int) -> runs.Ranking:
    """Return the first `depth` (id, score) with a score above 0, ties by id."""
    order = np.lexsort((ids, -np.round(scores, runs.DECIMALS)))
    return [(ids[i], float(scores[i])) for i in order[:depth] if scores[i] > 0]


def okapi(evals: evalset.EvalSet, texts: list[str], depth: int) -> dict[str, runs.Ranking]:
    """Return the run of BM25 as in the baseline, over a text a document: the whole or its title."""
    model, index = sparse.bm25(list(evals.documents), texts, words=evals.words)
    asked = {query_id: query.query for query_id, query in evals.queries.items()}
    return dict(sparse.rankings(model, index, asked, depth))


@functools.cache
def stem(word: str) -> str:
    """Return the English stem of a word (Snowball, Porter 2001)."""
    return STEMMER.stemWord(word)


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word."""
    return [stem(word) for word in words]


def lucene_stemmed(documents: list[str], words: Words) -> Scores:
    """Return a scoring function: BM25 with Lucene's IDF over English stems (bm25s, Snowball)."""
    index = bm25s.BM25(method="lucene")
    index.index([stems(words(document)) for document in documents], show_progress=False)
    return lambda query: index.get_scores(stems(words(query)))


def character_ngrams(documents: list[str]) -> Scores:
    """Return a scoring function: cosine of TF-IDF vectors of character 3- to 5-grams."""
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    matrix = vectorizer.fit_transform(documents)
    return lambda query: (matrix @ vectorizer.transform([query]).T).toarray().ravel()


# The pool.


def pool(found: dict[str, dict[str, runs.Ranking]], depth: int = 10) -> list[dict]:
    """Return {"query_id", "doc_id", "rankers"} for every pair in some ranker's first `depth`."""
    pooled: dict[tuple[str, str], list[str]] = {}
    for name, run in found.items():
        for query_id, ranking in run.items():
            for doc_id, _ in ranking[:depth]:
                pooled.setdefault((query_id, doc_id), []).append(name)
    return [
        {"query_id": q, "doc_id": d, "rankers": names} for (q, d), names in sorted(pooled.items())
    ]


def negatives(
    evals: evalset.EvalSet, found: dict[str, dict[str, runs.Ranking]], seed: int, n: int = 10
) -> list[dict]:
    """Return {"query_id", "easy", "hard"}, `n` document ids each, none of them relevant.

    Easy ones are drawn at random from outside the pool. Hard ones are judged 0: those first that
    most rankers brought, then those that stood highest, then whatever else was judged.
    """
    rng, qrels = np.random.default_rng(seed), evals.qrels()
    places: dict[str, dict[str, list[int]]] = {query_id: {} for query_id in qrels}
    for run in found.values():
        for query_id, ranking in run.items():
            for rank, (doc_id, _) in enumerate(ranking, 1):
                places[query_id].setdefault(doc_id, []).append(rank)
    rows = []
    for query_id, ranks in places.items():
        outside = [d for d in evals.documents if d not in ranks and not qrels[query_id].get(d)]
        easy = rng.choice(outside, size=min(n, len(outside)), replace=False).tolist()
        zeros = [d for d in ranks if qrels[query_id].get(d) == 0]
        hard = sorted(zeros, key=lambda d: (-len(ranks[d]), min(ranks[d]), d))
        hard += sorted(d for d, grade in qrels[query_id].items() if grade == 0 and d not in ranks)
        rows.append({"query_id": query_id, "easy": sorted(easy), "hard": hard[:n]})
    return rows
