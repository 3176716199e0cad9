# ruff: noqa: E501 -- tables: a wrong solution a line
"""Exercises on BM25 and its search, right and wrong."""

from notebooks.check import bm25

from .exercises import Exercises

SOLUTIONS = r"""
import numpy as np
from helpers import text

def okapi_idf(docs, epsilon=0.25):
    words = sorted({word for doc in docs for word in doc})
    df = np.array([sum(word in doc for doc in docs) for word in words])
    weights = np.log((len(docs) - df + 0.5) / (df + 0.5))
    floor = epsilon * weights.mean()
    return dict(zip(words, np.where(weights < 0, floor, weights)))

def bm25_score(query, doc, weights, average_length, k1=1.5, b=0.75):
    total = 0
    norm = 1 - b + b * len(doc) / average_length
    for word in query:
        count = sum(1 for other in doc if other == word)
        if count:
            total += weights.get(word, 0) * count * (k1 + 1) / (count + k1 * norm)
    return total

def search(query, index, ids, vocabularies, k=None):
    words = text.words(query)
    hits = []
    for found, score, known in zip(ids, index.get_scores(words), vocabularies):
        if known & set(words):
            hits.append((found, round(score, 10)))
    hits.sort(key=lambda hit: hit[0])
    hits.sort(key=lambda hit: hit[1], reverse=True)
    return hits[:k]

def to_documents(hits):
    scores = {}
    for chunk_id, score in hits:
        doc_id = chunk_id.rsplit("#", 1)[0]
        scores[doc_id] = max(score, scores.get(doc_id, score))
    pairs = [[doc_id, scores[doc_id]] for doc_id in sorted(scores)]
    pairs.sort(key=lambda pair: pair[1], reverse=True)
    return pairs
"""

WRONG = [
    ("okapi_idf", "np.where(weights < 0, floor, weights)", "weights", "Negative weights stay"),
    ("okapi_idf", "floor = epsilon * weights.mean()", "floor = 0.0", "Negative weights become 0"),
    ("okapi_idf", "floor = epsilon * weights.mean()", "floor = epsilon", "become epsilon itself"),
    ("okapi_idf", "np.log((len", "np.log(1 + (len", "Lucene"),
    ("okapi_idf", "np.log((len", "np.log10((len", "base 10"),
    ("okapi_idf", "np.log((len", "np.log2((len", "base 2"),
    ("okapi_idf", "sum(word in doc for", "sum(doc.count(word) for", "Occurrences are counted"),
    ("okapi_idf", "floor = epsilon * weights.mean()", "floor = 0.25 * weights.mean()", "epsilon is ignored"),
    ("bm25_score", "* (k1 + 1) /", "/", "k1 + 1 in the numerator is missing"),
    ("bm25_score", "norm = 1 - b + b * len(doc) / average_length", "norm = 1", "length of the document is ignored"),
    ("bm25_score", "for word in query:", "for word in set(query):", "counts once"),
    ("bm25_score", "    norm = 1 - b", "    k1, b = b, k1\n    norm = 1 - b", "k1 and b are exchanged"),
    ("bm25_score", "len(doc) / average_length", "average_length / len(doc)", "the wrong way round"),
    ("bm25_score", "norm = 1 - b + b", "norm = b", "1 - b is missing"),
    ("bm25_score", "count + k1 * norm", "count + norm", "k1 is missing in the denominator"),
    ("bm25_score", "count * (k1 + 1) / (count + k1 * norm)", "count", "Weight times count"),
    ("bm25_score", "        count = sum", "        weights[word]\n        count = sum", "has no weight: weights.get(word, 0)"),
    ("search", "if known & set(words):", "if score > 0:", "Only scores above 0 are kept"),
    ("search", "if known & set(words):", "if True:", "Documents without a word of the query"),
    ("search", "    hits.sort(key=lambda hit: hit[0])\n", "", "Equal scores stand in the order of the index"),
    ("search", "    hits.sort(key=lambda hit: hit[0])\n", "    hits.sort(key=lambda hit: hit[0], reverse=True)\n", "from z to a"),
    ("search", "key=lambda hit: hit[1], reverse=True", "key=lambda hit: hit[1]", "The worst comes first"),
    ("search", "index.get_scores(words)", "index.get_scores(query)", "letter by letter"),
    ("search", "words = text.words(query)", "words = query.split()", "keeps its capitals, and the documents are in lower case: use evals.words"),
    ("search", "hits[:k]", "hits[:10][:k]", "Only ten results"),
    ("search", "hits[:k]", "hits", "The argument k is ignored"),
    ("search", "round(score, 10)", "float(score)", "round to ten decimals"),
    ("search", "return hits[:k]", "return [found for found, _ in hits[:k]]", "Only ids come back"),
    ("to_documents", "max(score, scores.get(doc_id, score))", "score", "The last chunk of a document decides"),
    ("to_documents", "max(score, scores.get(doc_id, score))", "score + scores.get(doc_id, 0)", "added up"),
    ("to_documents", 'chunk_id.rsplit("#", 1)[0]', 'chunk_id.split("#")[0]', "cut at the last one"),
    ("to_documents", 'chunk_id.rsplit("#", 1)[0]', "chunk_id", "still those of chunks"),
    ("to_documents", "for doc_id in sorted(scores)]", "for doc_id in scores]", "in the order of their chunks"),
    ("to_documents", "    pairs.sort(key=lambda pair: pair[1], reverse=True)\n", "", "sort by score first"),
    ("to_documents", "    scores = {}", "    return [(c.rsplit('#', 1)[0], s) for c, s in hits]\n    scores = {}", "counted once for each of its chunks"),
]  # fmt: skip


class TestBM25(Exercises):
    modules, solutions, wrong = (bm25,), SOLUTIONS, WRONG
