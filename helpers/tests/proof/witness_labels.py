"""The second witness of the labels: who pooled, how queries were halved, and what halves hold."""

import functools
import math

import numpy as np
import pandas as pd
import snowballstemmer
import witness
from scipy import stats
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize
from witness import Files, Okapi, answers, words

SEED = 2026  # of latent semantic analysis


# Halves.


def content(text: str) -> set[str]:
    return {*words(text)} - witness.STOP_WORDS


def jaccard(a: set, b: set) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


def groups(files: Files) -> dict[str, int]:
    """Return the number of the group of each query, also of those without an answer.

    Tied are queries with a family that answers both in full, with half of their content words in
    common, or with three quarters of the families that are relevant to either.
    """
    asked = files.asked.items()
    asked = [(content(row["query"]), answers(files, q), answers(files, q, 2)) for q, row in asked]
    ties = [
        [bool(c & z) or jaccard(a, x) >= 0.5 or jaccard(b, y) >= 0.75 for x, y, z in asked]
        for a, b, c in asked
    ]
    return dict(zip(files.asked, map(int, connected_components(np.array(ties))[1]), strict=True))


NUMBERS = {0: [], 1: ["1"], 2: ["2"], 3: ["3-4"], 4: ["3-4"]}  # of relevant documents


def traits(files: Files) -> dict[str, dict[str, list[str]]]:
    """Return by trait what each query counts for: one of several values in part."""
    found = {name: {} for name in ("kind", "head and tail", "number", "service")}
    for query_id, row in files.asked.items():
        right = [d for d, grade in files.grades[query_id].items() if grade]
        found["kind"][query_id] = [row["kind"]]
        found["head and tail"][query_id] = [row["popularity"]]
        found["number"][query_id] = NUMBERS.get(len(right), ["5+"])
        found["service"][query_id] = [files.documents[d]["service"] for d in right]
    return found


def shares(values: dict[str, list[str]], halves: dict[str, str]) -> pd.DataFrame:
    """Return the share of each value (row) in each half (column); a query is shared by its own."""
    rows = [(halves[q], value, 1 / len(own)) for q, own in values.items() for value in own]
    table = pd.DataFrame(rows, columns=["half", "value", "weight"])
    table = table.pivot_table("weight", "value", "half", aggfunc="sum", fill_value=0)
    return table / table.sum()


# The pool.


stem = functools.cache(snowballstemmer.stemmer("english").stemWord)


def stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def lucene_idf(df: dict[str, int], n: int) -> dict[str, float]:
    """Return the weight of each word, from the number of `n` texts that hold it."""
    return {word: math.log(1 + (n - k + 0.5) / (k + 0.5)) for word, k in df.items()}


def rankers(files: Files) -> dict[str, dict[str, list[str]]]:
    """Return the first ten documents of every pooled ranker for every query."""
    texts = {d: document["text"] for d, document in files.documents.items()}
    asked = {q: row["query"] for q, row in files.asked.items()}
    lucene, found = Okapi(texts, stems, idf=lucene_idf), {}
    found["lucene-stemmed"] = {
        q: [doc_id for doc_id, _ in lucene.search(text)[:10]] for q, text in asked.items()
    }
    for name, score in SCORES.items():
        table = score([*texts.values()], [*asked.values()])
        found[name] = {q: first_ten([*texts], row) for q, row in zip(asked, table, strict=True)}
    for folder in ("runs", "systems"):
        for path in (files.folder / folder).glob("*.trec"):
            run = witness.trec(path)
            found[path.stem] = {q: witness.order(run, q)[:10] for q in run}
    return found


def first_ten(doc_ids: list[str], scores: np.ndarray) -> list[str]:
    """Return the ids of the ten best, equal ones by id; what isn't found has -inf."""
    order = np.argsort(-scores.round(10), kind="stable")[:10]
    return [doc_ids[place] for place in order if scores[place] > -np.inf]


def ngrams(texts: list[str], asked: list[str]) -> np.ndarray:
    """Return cosines of runs of letters, a row for each query, a column for each text."""
    return cosines(*weighted(texts, asked, analyzer="char_wb", ngram_range=(3, 5)))


def latent_semantics(texts: list[str], asked: list[str]) -> np.ndarray:
    """Return cosines in the space of the hundred largest singular values (Deerwester 1990).

    It's that which a random start finds: the exact one orders a tenth of the documents otherwise.
    """
    sides = weighted(texts, asked, analyzer=stems)
    space = TruncatedSVD(100, random_state=SEED).fit(sides[0])
    return cosines(*(csr_matrix(normalize(space.transform(side))) for side in sides))


def weighted(texts: list[str], asked: list[str], **how) -> list[csr_matrix]:
    """Return texts and queries as unit vectors of (1 + ln tf)(1 + ln((n + 1) / (df + 1)))."""
    model = TfidfVectorizer(sublinear_tf=True, **how)
    return [model.fit_transform(texts), model.transform(asked)]


def cosines(texts: csr_matrix, asked: csr_matrix) -> np.ndarray:
    table = (asked @ texts.T).toarray()
    return np.where(table > 1e-9, table, -np.inf)


def grown(texts: list[str], asked: list[str]) -> np.ndarray:
    """RM3 (Abdul-Jaleel et al. 2004): half the query, half twenty words of its first ten texts.

    Texts rank by the likelihood of the query, smoothed by Dirichlet's prior of a thousand words.
    """
    counter = CountVectorizer(analyzer=stems)
    counts = counter.fit_transform(texts).toarray()
    lengths = counts.sum(axis=1)
    gains = np.log1p(counts / (1000 * counts.sum(axis=0) / counts.sum()))

    def score(model: np.ndarray) -> np.ndarray:
        found = gains @ model
        return np.where(found > 0, found - np.log1p(lengths / 1000), -np.inf)

    rows = []
    for query in counter.transform(asked).toarray():
        n = query.sum()
        model = query / max(n, 1)
        if n:
            scores = score(model)
            first = np.argsort(-scores.round(10), kind="stable")[:10]
            likely = np.exp(n * (scores[first] - scores.max()))
            words_of = likely @ (counts[first] / lengths[first, None])
            words_of[words_of < np.sort(words_of)[-20]] = 0
            model = model / 2 + words_of / words_of.sum() / 2
        rows.append(score(model))
    return np.array(rows)


SCORES = {
    "character-ngrams": ngrams,
    "latent-semantics": latent_semantics,
    "relevance-model": grown,
}


def tau(values: np.ndarray, is_dev: np.ndarray) -> float:
    """Return how alike the halves order systems (Kendall 1938); a row of values for each."""
    return stats.kendalltau(values[:, is_dev].mean(1), values[:, ~is_dev].mean(1)).statistic


def mix(files: Files, values: np.ndarray, is_dev: np.ndarray) -> float:
    """Return what the halves' mix of kinds alone makes of test minus dev."""
    kinds = np.array([row["kind"] for row in files.queries.values()])
    shares = {k: [np.mean(kinds[half] == k) for half in (is_dev, ~is_dev)] for k in {*kinds}}
    return sum(values[kinds == k].mean() * (test - dev) for k, (dev, test) in shares.items())
