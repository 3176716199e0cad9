"""Choose what to judge: pool different rankers, pick negatives."""

import functools
import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import snowballstemmer
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from ..measure import baseline, files, runs, sparse, stats, text
from ..measure.evalset import EvalSet

STEM = functools.cache(snowballstemmer.stemmer("english").stemWord)
LATENT = 100  # dimensions of latent semantic analysis
NOISE = 1e-9  # a cosine of rounding alone
PRIOR, FEEDBACK, EXPANSION = 1000, 10, 20  # of RM3: Dirichlet's mu, its documents and its words
RANKS_DAMPED = 60  # the constant of reciprocal rank fusion
CACHE = ".cache"
RANKER_ROOMS = (__file__, baseline.__file__, sparse.__file__, text.__file__)
Run = dict[str, runs.Ranking]  # by query_id


class StemCounts(NamedTuple):
    """How often each stem (column) stands in each text and in each query (rows)."""

    documents: csr_array
    queries: csr_array


# Rankers. They must differ in what they see, or the pool inherits one system's blind spot.


def by_ranker(evals: EvalSet, depth: int = 10, keep: bool = False) -> dict[str, Run]:
    """Return {ranker: run} of the pooled rankers, each cut at `depth`.

    Four and the baseline are built here; the saved runs of session B and those of other systems
    are pooled with them. With `keep`, what is built is kept in the folder, and is built again only
    when documents, queries or rankers differ.
    """
    if not evals.all_queries:
        return {}
    pooled = kept_runs(evals, depth) if keep else built_runs(evals, depth)
    for folder in ("runs", "systems"):
        for path in sorted((evals.folder / folder).glob("*.trec")):
            if path.stem != baseline.NAME:
                run = runs.read_rankings(path)
                pooled[path.stem] = {q: run.get(q, [])[:depth] for q in evals.all_queries}
    return pooled


def built_runs(evals: EvalSet, depth: int) -> dict[str, Run]:
    """Return {ranker: run} of the rankers that need the documents alone."""
    texts = [*evals.texts.values()]
    counts = stem_counts(evals, texts)
    return {
        "lucene-stemmed": lucene_stemmed(evals, texts, depth),
        "character-ngrams": character_ngrams(evals, texts, depth),
        "latent-semantics": latent_semantics(evals, counts, depth),
        "relevance-model": relevance_model(evals, counts, depth),
        baseline.NAME: baseline_run(evals, depth),
    }


def kept_runs(evals: EvalSet, depth: int) -> dict[str, Run]:
    """Return what `built_runs` does, from the folder's cache where it has a query's words.

    The cache is of one corpus and one version of the rankers, the code of their rooms; it may be
    deleted, and Git leaves it out.
    """
    path = evals.folder / CACHE / "rankings.json"
    code = [files.file_hash(Path(room)) for room in RANKER_ROOMS]
    of = [evals.corpus_hash(), evals.tokenizer, depth, *code]
    content = files.json_page(path, problems=[]) if path.exists() else {}
    known = content["queries"] if content.get("of") == of else {}
    # The id counts, too: a query that is a document doesn't find itself.
    words = {q: f"{q} {query.query}" for q, query in evals.all_queries.items()}
    new = {q: query for q, query in evals.all_queries.items() if words[q] not in known}
    if new:
        asked = evals._replace(queries=new, unanswered={}, waiting={})
        built = built_runs(asked, depth)
        for q in new:
            known[words[q]] = {name: run[q] for name, run in built.items()}
        files.write(path.with_name(".gitignore"), "*\n")
        kept = {own: known[own] for own in words.values()}
        files.write(path, json.dumps({"of": of, "queries": kept}))
    pooled = defaultdict(dict)
    for q, own in words.items():
        for name, ranking in known[own].items():
            pooled[name][q] = [(doc_id, score) for doc_id, score in ranking]
    return dict(pooled)


def baseline_run(evals: EvalSet, depth: int) -> Run:
    """Return the run of the baseline: BM25 over windows, each document by its best one."""
    rank = baseline.ranker(evals, baseline.cut(evals))
    found = {}
    for query_id, query in evals.all_queries.items():
        _, found[query_id] = baseline.search(rank, query.query)
    whole = runs.without_own(evals, found)
    return {query_id: ranking[:depth] for query_id, ranking in whole.items()}


def stems(words: list[str]) -> list[str]:
    """Return the English stem of each word (Snowball, Porter 2001)."""
    return [STEM(word) for word in words]


def lucene_stemmed(evals: EvalSet, texts: list[str], depth: int) -> Run:
    """Return the run of BM25 with Lucene's IDF over English stems."""
    words = lambda body: stems(evals.words(body))  # noqa: E731
    model, index = sparse.bm25([*evals.documents], texts, "lucene", words=words)
    queries = {query_id: query.query for query_id, query in evals.all_queries.items()}
    return dict(sparse.rankings(model, index, queries, depth))


def character_ngrams(evals: EvalSet, texts: list[str], depth: int) -> Run:
    """Return the run of the cosine between TF-IDF vectors of character 3- to 5-grams.

    No n-gram reaches over a space, so they are cut from each distinct word once.
    """
    words = CountVectorizer(analyzer=lambda body: body.lower().split())
    grams = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5))
    weights = TfidfTransformer(sublinear_tf=True)
    of_texts = words.fit_transform(texts)
    of_words = grams.fit_transform(words.get_feature_names_out())
    documents = weights.fit_transform(of_texts @ of_words)
    asked = grams.transform(query.query for query in evals.all_queries.values())
    index = sparse.index([*evals.documents], csr_array(documents.T))
    rankings = sparse.search(index, csr_array(weights.transform(asked)), depth)
    return dict(zip(evals.all_queries, rankings, strict=True))


def stem_counts(evals: EvalSet, texts: list[str]) -> StemCounts:
    """Return how often each stem stands in each text and in each query."""
    counter = CountVectorizer(analyzer=lambda body: stems(evals.words(body)))
    documents = counter.fit_transform(texts).astype(float)
    queries = counter.transform(query.query for query in evals.all_queries.values()).astype(float)
    return StemCounts(csr_array(documents), csr_array(queries))


def _best(evals: EvalSet, scores: np.ndarray, above: float, depth: int) -> runs.Ranking:
    """Return the documents with the best scores, of those `above` a bound."""
    ids, most = [*evals.documents], min(depth, len(scores))
    places = np.flatnonzero((scores >= np.partition(scores, -most)[-most]) & (scores > above))
    return runs.in_order([(ids[n], float(scores[n])) for n in places])[:depth]


def latent_semantics(evals: EvalSet, counts: StemCounts, depth: int) -> Run:
    """Return the run of latent semantic analysis, by cosine (Deerwester et al. 1990)."""
    documents, queries = counts
    dimensions = min(LATENT, min(documents.shape) - 1)
    if dimensions < 1:  # one document, or one stem
        return {query_id: [] for query_id in evals.all_queries}
    weights = TfidfTransformer(sublinear_tf=True).fit(documents)
    reduce = TruncatedSVD(dimensions, random_state=stats.SEED)
    latent = normalize(reduce.fit_transform(weights.transform(documents)))
    places = normalize(reduce.transform(weights.transform(queries)))
    pairs = zip(evals.all_queries, places, strict=True)
    return {query_id: _best(evals, latent @ place, NOISE, depth) for query_id, place in pairs}


def relevance_model(evals: EvalSet, stemmed: StemCounts, depth: int) -> Run:
    """Return the run of RM3: the query grows by words of its first results, then asks again.

    Query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001) ranks; the words come from
    the relevance model of the first ten (Lavrenko and Croft 2001; Abdul-Jaleel et al. 2004).
    """
    counts, queries = stemmed
    lengths, often = counts.sum(axis=1), counts.sum(axis=0)
    gains = csr_array(counts / (PRIOR * often / often.sum()))
    gains.data = np.log1p(gains.data)

    def score(model: np.ndarray) -> np.ndarray:  # log likelihood, -inf where no word is shared
        shared = gains @ model
        return np.where(shared > 0, shared + np.log(PRIOR / (lengths + PRIOR)), -np.inf)

    def grown(model: np.ndarray, n_words: float) -> np.ndarray:
        """Return the query model and, with equal weight, the words of its first results."""
        first = score(model)
        best = np.argsort(-first, kind="stable")[:FEEDBACK]
        likely = np.exp(n_words * (first[best] - first[best[0]]))
        words = np.atleast_1d(likely @ (counts[best] / np.maximum(lengths[best, None], 1)))
        words[words < np.sort(words)[-min(EXPANSION, len(words))]] = 0
        return (model + words / words.sum()) / 2

    rankings = {}
    for query_id, counted in zip(evals.all_queries, queries, strict=True):
        row = counted.toarray().ravel()
        model = grown(row / row.sum(), row.sum()) if row.any() else row
        rankings[query_id] = _best(evals, score(model), -np.inf, depth)
    return rankings


# The pool.


def pool(by_ranker: dict[str, Run], depth: int = 10) -> list[dict]:
    """Return {"query_id", "doc_id", "rankers"} for every pair in some ranker's first `depth`."""
    brought = defaultdict(list)
    for name, run in by_ranker.items():
        for query_id, ranking in run.items():
            for doc_id, _ in ranking[:depth]:
                brought[query_id, doc_id].append(name)
    pairs = sorted(brought.items())
    return [{"query_id": q, "doc_id": d, "rankers": names} for (q, d), names in pairs]


def fused(by_ranker: dict[str, Run]) -> dict[str, list[str]]:
    """Return {query_id: document ids, best first} by the sum of 1 / (60 + rank) over the rankers.

    That is reciprocal rank fusion (Cormack, Clarke and Büttcher 2009); of equals the first id wins.
    """
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for run in by_ranker.values():
        for query_id, ranking in run.items():
            for rank, (doc_id, _) in enumerate(ranking, 1):
                sums[query_id][doc_id] += 1 / (RANKS_DAMPED + rank)
    best = {}
    for query_id, scores in sums.items():
        ranking = runs.in_order([*scores.items()])
        best[query_id] = [doc_id for doc_id, _ in ranking]
    return best


def negatives(evals: EvalSet, by_ranker: dict[str, Run], seed: int, n: int = 10) -> list[dict]:
    """Return {"query_id", "easy", "hard"}, `n` document ids each, none of them relevant.

    Easy ones are drawn at random among documents that no ranker brought. Hard ones are judged 0:
    those first that most rankers brought, then those that stood highest, then whatever else was
    judged and is no easy one.
    """
    rng, rows = np.random.default_rng(seed), []
    for query_id, grades in evals.qrels().items():
        ranks = defaultdict(list)
        for run in by_ranker.values():
            for rank, (doc_id, _) in enumerate(run.get(query_id, [])):
                ranks[doc_id].append(rank)
        outside = [d for d in evals.documents if d not in ranks and not grades.get(d)]
        easy = rng.choice(outside, size=min(n, len(outside)), replace=False).tolist()
        zeros = {d for d, grade in grades.items() if grade == 0}
        brought = sorted(zeros & ranks.keys())
        hard = sorted(brought, key=lambda d: (-len(ranks[d]), min(ranks[d])))
        hard += sorted(zeros - {*ranks, *easy})
        rows.append({"query_id": query_id, "easy": sorted(easy), "hard": hard[:n]})
    return rows
