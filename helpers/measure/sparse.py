"""Search large corpora: BM25, and any model that gives texts weights on numbered dimensions.

notebooks/further/weighted_terms.ipynb builds this by hand; here is the tested version. The weights
lie in one sparse matrix, a row for each dimension and a column for each document, so a query reads
only the rows that it names. They are 64-bit floats: 32-bit ones would save a third of the memory
and move scores in the seventh digit, and then the ranking is no longer that of rank_bm25.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from . import measures, text
from .files import EvalSetError
from .runs import BASELINE, DECIMALS, Ranking

BATCH = 1_000  # texts that a model encodes at a time
MANY = 16  # postings read for each wanted document, above which blocks find the first ones
Vector = dict[int, float]  # {dimension: weight}


class Model(Protocol):
    """What is asked of a model. A score is the dot product of a query's and a document's vector.

    A dimension that a vector names is shared, whatever its weight.
    """

    sparse_dim: int
    encode_documents: Callable[[list[str]], list[Vector]]  # a vector for each text
    encode_queries: Callable[[list[str]], list[Vector]]


class Index(NamedTuple):
    """Documents to search: `postings` has a row for each dimension, a column for each document."""

    ids: list[str]
    places: np.ndarray  # of each document in the order of ids
    postings: sparse.csr_array


def build(model: Model, ids: list[str], texts: Iterable[str]) -> Index:
    """Return an index over the vectors that `model` gives to `texts`."""
    return index(ids, encode(model.encode_documents, texts, model.sparse_dim).T.tocsr())


def encode(encoder: Callable, texts: Iterable[str], dim: int) -> sparse.csr_array:
    """Return the vectors of `texts` as a matrix, a row for each text; `texts` may be a stream.

    Raises ValueError for a dimension outside 0 to `dim` - 1, from SciPy, a weight that is no finite
    number, or a vector too many or too few.
    """
    ends, columns, values = array("i", [0]), array("i"), array("d")
    stream = iter(texts)
    while batch := list(islice(stream, BATCH)):
        vectors = encoder(batch)
        if len(vectors) != len(batch):
            raise ValueError(f"{len(vectors)} vectors for {len(batch)} texts, wanted one for each")
        for vector in vectors:
            columns.extend(vector)
            values.extend(vector.values())
            ends.append(len(columns))
    if not np.isfinite(weights := np.asarray(values)).all():
        raise ValueError("a weight is inf or nan, wanted finite numbers")
    shape = len(ends) - 1, dim
    rows = sparse.csr_array((weights, np.asarray(columns), np.asarray(ends)), shape=shape)
    rows.check_format(full_check=True)
    return rows


def index(ids: list[str], postings: sparse.csr_array) -> Index:
    """Return an index over `postings`, whose columns `ids` names.

    Raises ValueError for no documents or another number of different ids.
    """
    if not len(ids) or len(set(ids)) != postings.shape[1]:
        raise ValueError(
            f"{len(set(ids))} ids for {postings.shape[1]} documents, wanted one for each"
        )
    places = np.empty(len(ids), np.int32)
    places[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return Index(list(ids), places, postings)


def rankings(
    model: Model, documents: Index, queries: dict[str, str], k: int | None = None, idf: str = ""
) -> Iterator[tuple[str, Ranking]]:
    """Yield (query_id, ranking) for {query_id: text}.

    `idf`, a name in IDF, weighs each dimension of a query by its rarity in the index, for models
    that give no more than how much of a term a text has.
    """
    encoded = encode(model.encode_queries, queries.values(), model.sparse_dim)
    if idf:
        rarity = IDF[idf](np.diff(documents.postings.indptr), len(documents.ids))
        encoded.data *= rarity[encoded.indices]
    yield from zip(queries, search(documents, encoded, k), strict=True)


def search(documents: Index, queries: sparse.csr_array, k: int | None = None) -> Iterator[Ranking]:
    """Yield the first `k` (id, score) for each row of `queries`; all of them without `k`.

    Only documents that share a dimension with the query are ranked, by score rounded to 10
    decimals, descending, then by id. Beyond the index a query takes two numbers a document.
    """
    for start, end in pairwise(queries.indptr):
        read, scores = _scores(documents, queries.indices[start:end], queries.data[start:end])
        leading = _leading(read, scores, k)
        rounded = np.round(scores[leading], DECIMALS)
        best = np.lexsort((documents.places[leading], -rounded))[:k]
        ids = map(documents.ids.__getitem__, leading[best].tolist())
        yield list(zip(ids, rounded[best].tolist(), strict=True))


def _scores(documents: Index, dims: np.ndarray, weights: np.ndarray) -> tuple:
    """Return the documents in the rows of `dims`, row after row, and the score of every document.

    The sum takes dimension after dimension in the query's order, as rank_bm25 adds words: scores
    are the same to the last bit, unless the query repeats a word.
    """
    postings = documents.postings
    starts, ends = postings.indptr[dims], postings.indptr[dims + 1]
    rows = [slice(0, 0), *map(slice, starts.tolist(), ends.tolist())]  # some, if `dims` is empty
    read = np.concatenate([postings.indices[row] for row in rows])
    products = np.concatenate([postings.data[row] for row in rows])
    products *= np.repeat(weights, ends - starts)
    return read, np.bincount(read, products, len(documents.ids))


def _leading(read: np.ndarray, scores: np.ndarray, k: int | None) -> np.ndarray:
    """Return the documents among `read` that can be among the first `k`, ties included."""
    if k and len(read) > MANY * k:
        floor = _floor(scores, k)
        if floor > 0:  # so high only documents that were read
            return np.flatnonzero(scores >= floor)
    matched = np.zeros(len(scores), bool)  # a match may score 0 or below
    matched[read] = True
    matches = np.flatnonzero(matched)
    if k and k < len(matches):
        own = scores[matches]
        matches = matches[own >= _lowered(np.partition(own, -k)[-k])]
    return matches


def _floor(scores: np.ndarray, k: int) -> float:
    """Return a score that at least `k` documents reach; a few more reach it, too.

    Cut the scores into many more than `k` blocks. In `k` of them the highest score reaches the
    k-th highest of these, so at least `k` documents do.
    """
    blocks = min(MANY * k, len(scores))
    highest = scores[: len(scores) // blocks * blocks].reshape(-1, blocks).max(axis=0)
    return _lowered(np.partition(highest, -min(k, blocks))[-min(k, blocks)])


def _lowered(score: float) -> float:
    """Return a score below `score`, by more than rounding can move it."""
    return score - 1e-9 * (1 + abs(score))


def evaluate(
    model: Model, documents: Index, queries: dict, qrels: measures.Qrels, k_values=(), idf=""
) -> dict[str, float]:
    """Return nDCG@10, recall@100, and nDCG and recall at each of `k_values`, MAP and MRR.

    Lists have 100 documents, or the largest of `k_values`; MAP and MRR go down to their end.
    """
    names = ["nDCG@10", "recall@100", *(f"{of}@{k}" for k in k_values for of in ("nDCG", "recall"))]
    run = dict(rankings(model, documents, queries, max([100, *k_values]), idf))
    return measures.means(measures.per_query(qrels, run, [*dict.fromkeys(names), "AP", "RR"]))


def over_fetch(
    hits_of: Callable[[int], Ranking], to_documents: Callable[[Ranking], Ranking], depth: int
) -> tuple[Ranking, Ranking]:
    """Return the first `depth` chunks and the first `depth` documents, exactly.

    `hits_of(k)` gives the first k chunks, `to_documents` their documents. Not every chunk is
    ranked: they suffice when the last document wanted stands above the last chunk; behind a tie
    another id may wait.
    """
    k = 4 * depth
    while True:
        hits = hits_of(k)
        best = to_documents(hits)
        if len(hits) < k or (len(best) >= depth and best[depth - 1][1] > hits[-1][1]):
            return hits[:depth], best[:depth]
        k *= 4


# BM25, the first model.


class BM25(NamedTuple):
    """BM25 as a model (Robertson et al. 1995): a document has the weights, a query the counts."""

    vocabulary: dict[str, int]
    idf: np.ndarray
    average_length: float
    k1: float
    b: float
    words: text.Tokenizer

    @property
    def sparse_dim(self) -> int:
        """A dimension for each word of the vocabulary."""
        return len(self.vocabulary)

    def norm(self, length):
        """Return k1 (1 - b + b length / average), for one document or an array of lengths."""
        return self.k1 * (1 - self.b + self.b * length / self.average_length)

    def encode_documents(self, texts: list[str]) -> list[Vector]:
        """Return {dimension: weight} of each text; words outside the vocabulary count as length."""
        vectors = []
        for words in map(self.words, texts):
            k, norm = self.k1 + 1, self.norm(len(words))
            counts = self._counts(words).items()
            vectors.append({n: float(self.idf[n] * (f * k / (f + norm))) for n, f in counts})
        return vectors

    def encode_queries(self, texts: list[str]) -> list[Vector]:
        """Return {dimension: count} of each text; words outside the vocabulary are dropped."""
        counts = (self._counts(self.words(body)).items() for body in texts)
        return [{n: float(times) for n, times in of_text} for of_text in counts]

    def _counts(self, words: list[str]) -> dict[int, int]:
        return Counter(self.vocabulary[word] for word in words if word in self.vocabulary)


def bm25(
    ids: list, texts: Iterable, idf="okapi", k1=BASELINE["k1"], b=BASELINE["b"], words=text.words
) -> tuple[BM25, Index]:
    """Return BM25 fitted to `texts`, which may be a stream, and the index over them.

    The same as `build` with the fitted model, without a dict for each document. `idf` is "okapi",
    as in rank_bm25, or "lucene". Raises EvalSetError for a corpus without a single word.
    """
    vocabulary, counts, lengths = count(texts, words)
    if not vocabulary:
        raise EvalSetError(f"no word in {len(lengths)} documents, wanted at least one to index")
    df = np.diff(counts.indptr)
    rarity = IDF[idf](df, len(lengths))
    model = BM25(vocabulary, rarity, float(lengths.mean()), k1, b, words)
    weights = counts.data * (k1 + 1) / (counts.data + model.norm(lengths)[counts.indices])
    counts.data = weights * np.repeat(rarity, df)
    return model, index(ids, counts)


def okapi_idf(df: np.ndarray, n_docs: int) -> np.ndarray:
    """Return ln((N - df + 0.5) / (df + 0.5)), negative values replaced by epsilon times the mean.

    Robertson and Spärck Jones 1976; the replacement is that of rank_bm25. Logarithms and sum are
    taken as there, so that the results agree to the last bit.
    """
    idf = np.array([math.log(n_docs - n + 0.5) - math.log(n + 0.5) for n in df.tolist()])
    mean = np.cumsum(idf)[-1] / len(idf)  # one by one, as there: sum() corrects itself since 3.12
    return np.where(idf < 0, BASELINE["epsilon"] * mean, idf)


def lucene_idf(df: np.ndarray, n_docs: int) -> np.ndarray:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)), always above 0, as Lucene does.

    Lucene 8 and later leave out the factor k1 + 1, which changes scores but no ranking.
    """
    return np.log(1 + (n_docs - df + 0.5) / (df + 0.5))


IDF = {"okapi": okapi_idf, "lucene": lucene_idf}


def count(
    texts: Iterable[str], words: text.Tokenizer
) -> tuple[dict[str, int], sparse.csr_array, np.ndarray]:
    """Return the vocabulary, the count of each word (row) in each text (column), the lengths.

    Words are numbered as they first occur, as in rank_bm25. Of each text only the numbers are
    kept: 4 bytes a word.
    """
    vocabulary: dict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__  # a new word gets the next number
    numbers, ends = array("i"), array("i", [0])
    for body in texts:
        numbers.extend(map(vocabulary.__getitem__, words(body)))
        ends.append(len(numbers))
    ones, shape = np.ones(len(numbers), np.int32), (len(ends) - 1, len(vocabulary))
    counts = sparse.csr_array((ones, np.asarray(numbers), np.asarray(ends)), shape=shape).T.tocsr()
    counts.sum_duplicates()
    return dict(vocabulary), counts, np.diff(np.asarray(ends))
