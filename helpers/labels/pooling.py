"""Choose what to judge: pool different rankers, pick negatives."""

import functools

import numpy as np
import snowballstemmer
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from .. import evalset, runs, sparse

STEMMER = snowballstemmer.stemmer("english")


# Rankers. They must differ in what they see, or the pool inherits one system's blind spot.


def by_ranker(evals: evalset.EvalSet, depth: int = 10) -> dict[str, dict[str, runs.Ranking]]:
    """Return {ranker: {query_id: ranking}} of the pooled rankers, each cut at `depth`.

    Saved runs of session B are pooled where they exist; the other rankers are built here.
    """
    if not evals.asked:
        return {}
    titles = [d.title for d in evals.documents.values()]
    bodies = [d.retrieval_text for d in evals.documents.values()]
    found = {"okapi-documents": okapi(evals, bodies, depth)}
    if any(map(evals.words, titles)):  # public passages may have none
        found["okapi-titles"] = okapi(evals, titles, depth)
    found["lucene-stemmed"] = lucene_stemmed(evals, bodies, depth)
    found["character-ngrams"] = character_ngrams(evals, bodies, depth)
    for path in sorted((evals.folder / "runs").glob("*.trec")):
        saved = runs.read_trec(path)
        found[path.stem] = {q: saved.get(q, [])[:depth] for q in evals.asked}
    return found


def asked(evals: evalset.EvalSet) -> dict[str, str]:
    """Return {query_id: text}, also of the queries that are said to have no answer."""
    return {query_id: query.query for query_id, query in evals.asked.items()}


def okapi(evals: evalset.EvalSet, texts: list[str], depth: int) -> dict[str, runs.Ranking]:
    """Return the run of BM25 as in the baseline, over a text a document: the whole or its title."""
    model, index = sparse.bm25(list(evals.documents), texts, words=evals.words)
    return dict(sparse.rankings(model, index, asked(evals), depth))


@functools.cache
def stem(word: str) -> str:
    """Return the English stem of a word (Snowball, Porter 2001)."""
    return STEMMER.stemWord(word)


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word."""
    return [stem(word) for word in words]


def lucene_stemmed(evals: evalset.EvalSet, texts: list[str], depth: int) -> dict[str, runs.Ranking]:
    """Return the run of BM25 with Lucene's IDF over English stems."""

    def words(text: str) -> list[str]:
        return stems(evals.words(text))

    model, index = sparse.bm25(list(evals.documents), texts, "lucene", words=words)
    return dict(sparse.rankings(model, index, asked(evals), depth))


def character_ngrams(
    evals: evalset.EvalSet, texts: list[str], depth: int
) -> dict[str, runs.Ranking]:
    """Return the run of the cosine between TF-IDF vectors of character 3- to 5-grams.

    As scikit-learn's TfidfVectorizer has them; no n-gram crosses a space, so each distinct word is
    cut once and not wherever it stands.
    """
    cut = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5))
    vocabulary, counts, _ = sparse.count((body.lower() for body in texts), str.split)
    grams, inside, _ = sparse.count(vocabulary, cut.build_analyzer())
    documents = csr_array(counts.T) @ csr_array(inside.T.astype(float))
    weights = TfidfTransformer(sublinear_tf=True).fit(documents)
    documents = weights.transform(documents, copy=False)
    index = sparse.index(list(evals.documents), csr_array(documents.T))
    queries = cut.set_params(vocabulary=grams).transform(asked(evals).values())
    found = sparse.search(index, csr_array(weights.transform(queries)), depth)
    return dict(zip(evals.asked, found, strict=True))


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

    Easy ones are drawn at random among documents that no ranker brought. Hard ones are judged 0:
    those first that most rankers brought, then those that stood highest, then whatever else was
    judged and is no easy one.
    """
    rng, qrels = np.random.default_rng(seed), evals.qrels()
    places: dict[str, dict[str, list[int]]] = {query_id: {} for query_id in qrels}
    for run in found.values():
        for query_id in places:
            for rank, (doc_id, _) in enumerate(run.get(query_id, [])):
                places[query_id].setdefault(doc_id, []).append(rank)
    rows = []
    for query_id, ranks in places.items():
        outside = [d for d in evals.documents if d not in ranks and not qrels[query_id].get(d)]
        easy = rng.choice(outside, size=min(n, len(outside)), replace=False).tolist()
        zeros = [d for d in ranks if qrels[query_id].get(d) == 0]
        hard = sorted(zeros, key=lambda d: (-len(ranks[d]), min(ranks[d]), d))
        known = {*ranks, *easy}
        hard += sorted(d for d, grade in qrels[query_id].items() if grade == 0 and d not in known)
        rows.append({"query_id": query_id, "easy": sorted(easy), "hard": hard[:n]})
    return rows
