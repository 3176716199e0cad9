# ruff: noqa: E501 -- tables: a wrong solution a line
"""Checks teach: right code in any style passes, each known mistake fails with its own sentence."""

import ast
import inspect
import math
import re
import sys

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from rank_bm25 import BM25Okapi
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score, ndcg_score
from traitlets.config import Config

from helpers import text
from helpers.learn import copies as learn
from notebooks import check
from notebooks.check import quick_test as quiz
from notebooks.check import session_a, session_b, session_c, verdict

# Right, and in another style than the notebooks: numpy, generators, early returns, recursion.
SOLUTIONS = r"""
import math, re, string
from collections import Counter
from itertools import combinations
import numpy as np
from helpers import runs, text

STOP = set("how do i a the of is".split())

def content_words(query):
    return [word for word in text.words(query) if word not in STOP]

def coverage(doc_ids, reached):
    known = set(reached)
    return np.mean([doc_id in known for doc_id in doc_ids])

def word_overlap(query, answers):
    asked = content_words(query)
    if not asked:
        return 0
    flags = [any(word in text.words(answer) for answer in answers) for word in asked]
    return np.array(flags).mean()

def jaccard(a, b, size):
    def shingles(body):
        words = text.words(body)
        return {" ".join(words[i : i + size]) for i in range(max(1, len(words) - size + 1))}
    one, two = shingles(a), shingles(b)
    both = len(one & two)
    return both / (len(one) + len(two) - both)

def query_groups(relevant):
    parent = {q: q for q in relevant}
    def root(q):
        return q if parent[q] == q else root(parent[q])
    for p, q in combinations(relevant, 2):
        if relevant[p] & relevant[q]:
            parent[root(p)] = root(q)
    found = {}
    for q in relevant:
        found.setdefault(root(q), set()).add(q)
    return list(found.values())

def cohen_kappa(first, second):
    a, b = np.array(first), np.array(second)
    observed = (a == b).mean()
    chance = sum((a == g).mean() * (b == g).mean() for g in np.union1d(a, b))
    if chance == 1:
        return np.nan
    return (observed - chance) / (1 - chance)

def gwet_ac1(first, second, grades=(0, 1, 2)):
    a, b = np.array(first), np.array(second)
    share = np.array([((a == g).mean() + (b == g).mean()) / 2 for g in grades])
    chance = (share * (1 - share)).sum() / (len(grades) - 1)
    return ((a == b).mean() - chance) / (1 - chance)

def windows(n, size, overlap):
    if overlap < 0 or overlap >= size:
        raise ValueError("wanted 0 <= overlap < size")
    def cut(start):
        if start + size >= n:
            return [[start, n]]
        return [[start, start + size]] + cut(start + size - overlap)
    return cut(0)

def chunk_fixed(doc_text, size=512, overlap=50):
    ids = text.token_ids(doc_text)
    starts = np.append(text.encoding().decode_with_offsets(ids)[1], len(doc_text))
    return [(starts[a], starts[b], b - a) for a, b in windows(len(ids), size, overlap)]

def chunk_paragraphs(doc_text):
    found, heads, at = [], None, 0
    for block in re.split(r"\n\s*\n", doc_text):
        start = doc_text.index(block, at)
        at = start + len(block)
        body = block.strip()
        if not body:
            continue
        begin = start + block.index(body) if heads is None else heads
        end = start + block.index(body) + len(body)
        heading = body.startswith("#") and "\n" not in body
        if heading and doc_text[at:].strip():
            heads = begin
            continue
        heads = None
        found.append((begin, end, len(text.token_ids(doc_text[begin:end]))))
    return found

SEPARATORS = ("\n\n", "\n", " ", "")

def packed(parts, size, length):
    rows = []
    for part in parts:
        if rows and sum(map(length, rows[-1])) + length(part) <= size:
            rows[-1].append(part)
        else:
            rows.append([part])
    return ["".join(row) for row in rows]

def split_recursive(piece, size, length, separators=SEPARATORS):
    separator, rest = separators[0], separators[1:]
    parts = [p for p in re.split(f"(?={re.escape(separator)})", piece) if p] if separator else list(piece)
    if len(parts) == 1 and rest:
        return split_recursive(piece, size, length, rest)
    done, waiting = [], []
    for part in parts:
        if rest and length(part) >= size:
            done += packed(waiting, size, length)
            waiting = []
            done += split_recursive(part, size, length, rest)
        else:
            waiting.append(part)
    done += packed(waiting, size, length)
    return done

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

def reciprocal_rank(ranking, grades, k=None):
    top = ranking if k is None else ranking[:k]
    return next((1 / (place + 1) for place, d in enumerate(top) if grades.get(d, 0) > 0), 0)

def hit(ranking, grades, k):
    return any(grades.get(d, 0) > 0 for d in ranking[:k])

def recall(ranking, grades, k):
    relevant = {d for d, grade in grades.items() if grade > 0}
    if not relevant:
        return 0
    return len(relevant & set(ranking[:k])) / len(relevant)

def average_precision(ranking, grades):
    flags = np.array([grades.get(d, 0) > 0 for d in ranking], dtype=float)
    relevant = sum(grade > 0 for grade in grades.values())
    if not relevant:
        return 0
    precision = np.cumsum(flags) / np.arange(1, len(flags) + 1)
    return (precision * flags).sum() / relevant

def dcg(gains):
    gains = np.array(gains, dtype=float)
    return (gains / np.log2(np.arange(len(gains)) + 2)).sum()

def ndcg(ranking, grades, k, gain=lambda grade: grade):
    ideal = sorted(grades.values(), reverse=True)
    best = dcg([gain(g) for g in ideal[:k]])
    if best == 0:
        return 0
    return dcg([gain(grades.get(d, 0)) for d in ranking[:k]]) / best

def bootstrap(values, rng, draws=10_000):
    values = np.asarray(values)
    picks = rng.integers(0, len(values), (draws, len(values)))
    means = sorted(values[picks].mean(axis=1))
    return means[int(0.025 * draws)], means[int(0.975 * draws)]

def sign_flip(differences):
    def sums(rest):
        if not rest:
            return [0.0]
        return [sign * rest[0] + total for sign in (1, -1) for total in sums(rest[1:])]
    seen = abs(sum(differences))
    flips = np.abs(sums(list(differences)))
    return (flips >= seen - 1e-9).mean()

def holm(ps):
    adjusted, last = {}, 0
    for place, n in enumerate(np.argsort(ps, kind="stable")):
        last = max(last, min(1, ps[n] * (len(ps) - place)))
        adjusted[n] = last
    return [adjusted[n] for n in range(len(ps))]

def normalise(answer):
    bare = re.sub(r"[^\w\s]", "", answer.lower())
    return [word for word in bare.split() if word not in ("a", "an", "the")]

def f1(found, gold):
    a, b = normalise(found), normalise(gold)
    common = sum(min(a.count(word), b.count(word)) for word in set(a))
    if not common:
        return 0
    precision, recall = common / len(a), common / len(b)
    return 2 * precision * recall / (precision + recall)
"""

# Each wrong solution is an edit of a right one: exercise, old, new, part of its own sentence.
WRONG = [
    ("coverage", "np.mean([doc_id in known for doc_id in doc_ids])", "len(reached) / len(doc_ids)", "1.5 where 1.0 is the maximum: a document that several queries reach is counted each time"),
    ("coverage", "np.mean([doc_id in known for doc_id in doc_ids])", "len(known) / len(doc_ids)", "no document of the corpus is counted"),
    ("coverage", "np.mean([", "np.sum([", "a number of documents, not a share"),
    ("coverage", "np.mean([doc_id in known for doc_id in doc_ids])", "len(known & set(doc_ids)) / len(known)", "divides by what is reached"),
    ("coverage", "doc_id in known", "doc_id not in known", "the share that is not reached"),
    ("coverage", "np.mean([doc_id", "100 * np.mean([doc_id", "a percentage"),
    ("coverage", "for doc_id in doc_ids])", "for doc_id in doc_ids]).round(2)", "The value is rounded"),
    ("word_overlap", "asked = content_words(query)", "asked = text.words(query)", "Function words such as"),
    ("word_overlap", "any(word in text.words(answer) for", "all(word in text.words(answer) for", "only if all answers have it"),
    ("word_overlap", "any(word in text.words(answer)", "any(word in answer.lower()", "inside longer ones, as roll in rollback"),
    ("word_overlap", "asked = content_words(query)", "asked = list(set(content_words(query)))", "Repeated words of the query"),
    ("word_overlap", "any(word in text.words(answer)", "any(word in answer.split()", "cut at spaces"),
    ("word_overlap", "return np.array(flags).mean()", "return max(np.mean([w in text.words(x) for w in asked]) for x in answers)", "Each answer is looked at alone"),
    ("word_overlap", "    if not asked:\n        return 0\n    flags = [any(word in text.words(answer) for answer in answers) for word in asked]\n    return np.array(flags).mean()",
     "    return sum(any(w in text.words(x) for x in answers) for w in asked) / len(asked)", "function words alone leaves nothing to divide by"),
    ("jaccard", "both / (len(one) + len(two) - both)", "both / (len(one) + len(two))", "in the denominator twice"),
    ("jaccard", "both / (len(one) + len(two) - both)", "2 * both / (len(one) + len(two))", "Dice"),
    ("jaccard", "both / (len(one) + len(two) - both)", "both / min(len(one), len(two)) if one and two else 0", "divides by the smaller text"),
    ("jaccard", 'return {" ".join(words[i : i + size]) for i in range(max(1, len(words) - size + 1))}', "return set(words)", "Single words are compared"),
    ("jaccard", "words = text.words(body)", "words = text.words(body)[:-1]", "the last run of each text"),
    ("jaccard", "max(1, len(words) - size + 1)", "max(1, len(words) - size)", "The last run of each text is lost"),
    ("jaccard", "words = text.words(body)", "words = body.split()", "Upper and lower case"),
    ("jaccard", "max(1, len(words) - size + 1)", "len(words) - size + 1", "there is nothing to divide by"),
    ("jaccard", "both / (len(one) + len(two) - both)", "both / (len(one) + len(two) - both) if len(text.words(a)) >= size else 0.0", "is left without a run"),
    ("query_groups", "return list(found.values())", "return [g for g in found.values() if len(g) > 1]", "share nothing are missing"),
    ("query_groups", "return list(found.values())", "return [{p for p in relevant if p == q or relevant[p] & relevant[q]} for q in relevant]", "a query stands in several groups"),
    ("query_groups", "    parent = {q: q for q in relevant}\n", """
    groups = []
    for q in relevant:
        for group in groups:
            if any(relevant[q] & relevant[p] for p in group):
                group.add(q)
                break
        else:
            groups.append({q})
    return groups
""", "joins the first of them and leaves the second alone"),
    ("query_groups", "if relevant[p] & relevant[q]:", "if relevant[p] == relevant[q]:", "exactly the same documents"),
    ("query_groups", "return list(found.values())", "return [{p for p in relevant if d in relevant[p]} for d in sorted(set().union(*relevant.values()))]", "a group for each document"),
    ("query_groups", "found.setdefault(root(q), set()).add(q)", "found.setdefault(root(q), set()).update(relevant[q])", "groups of documents"),
    ("cohen_kappa", "return (observed - chance) / (1 - chance)", "return observed", "observed agreement"),
    ("cohen_kappa", "return (observed - chance) / (1 - chance)", "return observed - chance", "not divided by 1 - chance"),
    ("cohen_kappa", "        return np.nan", "        return 1", "not 1."),
    ("cohen_kappa", "        return np.nan", "        return 0", "not 0."),
    ("cohen_kappa", "(a == g).mean() * (b == g).mean() for", "(((a == g).mean() + (b == g).mean()) / 2) ** 2 for", "Scott's pi"),
    ("cohen_kappa", "(a == g).mean() * (b == g).mean() for", "(a == g).mean() ** 2 for", "first reading alone"),
    ("cohen_kappa", "chance = sum((a == g).mean() * (b == g).mean() for g in np.union1d(a, b))", "chance = 1 / len(np.union1d(a, b))", "one over the number of grades"),
    ("gwet_ac1", " / (len(grades) - 1)", "", "not divided by the number of grades less one"),
    ("gwet_ac1", " / (len(grades) - 1)", " / len(grades)", "not by one less"),
    ("gwet_ac1", "share * (1 - share)", "share * share", "Chance adds up share times share. AC1"),
    ("gwet_ac1", "    a, b = np", "    grades = {*first, *second}\n    a, b = np", "The grades that occur are counted"),
    ("gwet_ac1", "((a == g).mean() + (b == g).mean()) / 2 for", "(a == g).mean() for", "first reading alone"),
    ("gwet_ac1", "return ((a == b).mean() - chance) / (1 - chance)", "return (a == b).mean()", "observed agreement"),
    ("gwet_ac1", "return ((a == b).mean() - chance) / (1 - chance)", "return cohen_kappa(first, second)", "Cohen's kappa"),
    ("windows", "    return cut(0)", "    return [(s, min(s + size, n)) for s in range(0, n, size - overlap)]", "wholly inside the one before"),
    ("windows", "cut(start + size - overlap)", "cut(start + size)", "The overlap is ignored"),
    ("windows", "return [[start, n]]", "return [[start, start + size]]", "past the end of the text"),
    ("windows", "return [[start, n]]", "return [[start, n]] if start + size == n else []", "The last tokens are lost"),
    ("windows", "overlap < 0 or overlap >= size", "overlap >= size", "A negative overlap leaves gaps"),
    ("windows", "    return cut(0)", "    return [(s, e - 1) for s, e in cut(0)]", "the end is one after it"),
    ("windows", 'raise ValueError("wanted 0 <= overlap < size")', "return []", "raise ValueError"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(a, b, b - a)", "The spans count tokens"),
    ("chunk_fixed", "windows(len(ids), size, overlap)]", "windows(len(ids), size, 0 * overlap)]", "The overlap is ignored"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(starts[a], starts[b], size)", "Every chunk says size tokens"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(starts[a], starts[b], starts[b] - starts[a])", "counts characters. It counts tokens"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(len(text.encoding().decode(ids[:a])), len(text.encoding().decode(ids[:b])), b - a)", "replacement marks"),
    ("chunk_fixed", "starts = np.append(text.encoding().decode_with_offsets(ids)[1], len(doc_text))", "starts = text.encoding().decode_with_offsets(ids)[1]\n    starts.append(starts[-1])", "the end of the text is missing"),
    ("chunk_fixed", "windows(len(ids), size, overlap)]", "[(s, min(s + size, len(ids))) for s in range(0, len(ids), size - overlap)]]", "wholly inside the one before"),
    ("chunk_fixed", "ids = text.token_ids(doc_text)", "ids = text.encoding().encode(doc_text)", "looks like a special token"),
    ("chunk_paragraphs", "if heading and doc_text[at:].strip():", "if False:", "A heading stands alone"),
    ("chunk_paragraphs", "if heading and doc_text[at:].strip():", "if heading:", "very end is lost"),
    ("chunk_paragraphs", 'heading = body.startswith("#") and "\\n" not in body', 'heading = body.startswith("#")', "one line alone"),
    ("chunk_paragraphs", r'r"\n\s*\n"', r'r"\n\n+"', "line of spaces"),
    ("chunk_paragraphs", r'r"\n\s*\n"', r'r"\n"', "Every line is a paragraph"),
    ("chunk_paragraphs", "len(text.token_ids(doc_text[begin:end]))", "len(doc_text[begin:end].split())", "counts words"),
    ("chunk_paragraphs", "len(text.token_ids(doc_text[begin:end]))", "end - begin", "counts characters"),
    ("chunk_paragraphs", "            heads = begin\n            continue", "            continue", "Headings are dropped"),
    ("chunk_paragraphs", "start = doc_text.index(block, at)", "start = doc_text.find(block)", "first place twice"),
    ("split_recursive", "<= size:\n            rows[-1]", "<= 0:\n            rows[-1]", "Neighbours that fit together stay apart"),
    ("split_recursive", "    return done", "    return [part.strip() for part in done if part.strip()]", "thrown away"),
    ("split_recursive", "done += split_recursive(part, size, length, rest)", "done.append(part)", "A piece is still too long"),
    ("split_recursive", "    separator, rest = separators[0]", "    length = len\n    separator, rest = separators[0]", "counted in characters"),
    ("split_recursive", "length(part) >= size", "length(part) > size", "exactly size waits"),
    ("split_recursive", '\nSEPARATORS = ("\\n\\n", "\\n", " ", "")', '\nSEPARATORS = ("",)', "cut at every size-th character"),
    ("split_recursive", '\nSEPARATORS = ("\\n\\n", "\\n", " ", "")', '\nSEPARATORS = (" ", "")', "cut at spaces at once"),
    ("split_recursive", '\nSEPARATORS = ("\\n\\n", "\\n", " ", "")', '\nSEPARATORS = ("\\n\\n", "\\n", " ")', "stays whole"),
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
    ("search", "words = text.words(query)", "words = query.split()", "keeps its capitals"),
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
    ("reciprocal_rank", "1 / (place + 1)", "1 / (place + 2)", "counts as rank 2"),
    ("reciprocal_rank", "1 / (place + 1)", "1 / place", "Ranks are counted from 0"),
    ("reciprocal_rank", "ranking if k is None else ranking[:k]", "ranking", "The cutoff is ignored"),
    ("reciprocal_rank", "if grades.get(d, 0) > 0)", "if d in grades)", "labelled 0 counts as relevant"),
    ("reciprocal_rank", "1 / (place + 1)", "place + 1", "This is the rank"),
    ("reciprocal_rank", "next((1 / (place + 1) for place, d in enumerate(top) if grades.get(d, 0) > 0), 0)", "sum(1 / (n + 1) for n, d in enumerate(top) if grades.get(d, 0) > 0)", "are added up"),
    ("reciprocal_rank", "1 / (place + 1)", "grades[d] / (place + 1)", "knows no grades"),
    ("hit", "any(grades.get(d, 0) > 0 for d in ranking[:k])", "sum(grades.get(d, 0) > 0 for d in ranking[:k])", "relevant documents are counted"),
    ("hit", "any(grades.get(d, 0) > 0 for d in ranking[:k])", "recall(ranking, grades, k)", "This is recall"),
    ("hit", "ranking[:k]", "ranking", "The cutoff is ignored"),
    ("hit", "grades.get(d, 0) > 0", "d in grades", "labelled 0 counts"),
    ("hit", "any(grades.get(d, 0) > 0 for d in ranking[:k])", "sum(grades.get(d, 0) > 0 for d in ranking[:k]) / k", "This is precision"),
    ("recall", "/ len(relevant)", "/ k", "This divides by k"),
    ("recall", "/ len(relevant)", "/ min(k, len(relevant))", "the smaller of k"),
    ("recall", "/ len(relevant)", "/ len(grades)", "stand in the denominator"),
    ("recall", "ranking[:k]", "ranking", "The cutoff is ignored"),
    ("recall", "for d, grade in grades.items() if grade > 0}", "for d in grades}", "count as relevant"),
    ("recall", "return len(relevant & set(ranking[:k])) / len(relevant)", "return hit(ranking, grades, k)", "This is hit@k"),
    ("recall", "    if not relevant:\n        return 0\n    return len", "    return len", "nothing to divide by"),
    ("average_precision", ".sum() / relevant", ".sum() / max(1, flags.sum())", "that were found"),
    ("average_precision", "(precision * flags).sum()", "precision.sum()", "precision at every rank"),
    ("average_precision", "(precision * flags).sum() / relevant", "precision.mean() if len(flags) else 0", "over all ranks"),
    ("average_precision", "np.cumsum(flags) / ", "1 / ", "1 / rank is added up"),
    ("average_precision", ".sum() / relevant", ".sum() / max(1, len(flags))", "length of the list"),
    ("average_precision", "relevant = sum(grade > 0 for grade in grades.values())", "relevant = len(grades)", "stand in the denominator"),
    ("average_precision", ".sum() / relevant", ".sum()", "not divided by the number of relevant"),
    ("dcg", "np.log2(np.arange(len(gains)) + 2)", "np.log(np.arange(len(gains)) + 2)", "natural one"),
    ("dcg", "np.log2(np.arange(len(gains)) + 2)", "np.log2(np.arange(len(gains)) + 3)", "first gain is discounted"),
    ("dcg", "np.log2(np.arange(len(gains)) + 2)", "(np.arange(len(gains)) + 2)", "The logarithm is missing"),
    ("dcg", "np.log2(np.arange(len(gains)) + 2)", "(np.arange(len(gains)) + 1)", "divides by the rank"),
    ("dcg", "np.array(gains, dtype=float)", "2 ** np.array(gains, dtype=float) - 1", "2^gain - 1"),
    ("dcg", "np.log2(np.arange(len(gains)) + 2)", "np.maximum(1, np.log2(np.arange(len(gains)) + 1))", "form of 2002"),
    ("dcg", "np.array(gains, dtype=float)", "np.sort(gains)[::-1]", "sorted first"),
    ("dcg", "    gains = np", "    return sum(g / math.log2(n) for n, g in enumerate(gains, 1))\n    gains = np", "is 0 at rank 1"),
    ("ndcg", "ideal = sorted(grades.values(), reverse=True)", "ideal = sorted((grades.get(d, 0) for d in ranking[:k]), reverse=True)", "made from what was retrieved"),
    ("ndcg", "gain=lambda grade: grade", "gain=lambda grade: 2**grade - 1", "exponential form"),
    ("ndcg", "for g in ideal[:k]]", "for g in ideal]", "not cut at k"),
    ("ndcg", "for d in ranking[:k]]) / best", "for d in ranking[:k]])", "1.63 where 1.0 is the maximum: the DCG is not divided"),
    ("ndcg", "for d in ranking[:k]]) / best", "for d in ranking]) / best", "cut the ranking, too"),
    ("ndcg", "gain=lambda grade: grade", "gain=lambda grade: int(grade > 0)", "Every relevant document gains 1"),
    ("ndcg", "sorted(grades.values(), reverse=True)", "list(grades.values())", "labels are not sorted"),
    ("ndcg", "    if best == 0:\n        return 0\n", "", "nan is what 0 divided by 0 gives"),
    ("ndcg", "    if best == 0:\n        return 0\n    return dcg([gain(grades.get(d, 0)) for d in ranking[:k]]) / best", "    return float(dcg([gain(grades.get(d, 0)) for d in ranking[:k]])) / float(best)", "the ideal is 0 and cannot divide"),
    ("bootstrap", "means[int(0.025 * draws)], means[int(0.975 * draws)]", "means[int(0.05 * draws)], means[int(0.95 * draws)]", "90 % interval"),
    ("bootstrap", "picks = rng.integers(0, len(values), (draws, len(values)))", "picks = rng.permuted(np.tile(np.arange(len(values)), (draws, 1)), axis=1)", "with replacement"),
    ("bootstrap", "sorted(values[picks].mean(axis=1))", "sorted(np.median(values[picks], axis=1))", "median of each draw"),
    ("bootstrap", "means[int(0.025 * draws)], means[int(0.975 * draws)]", "means[int(0.975 * draws)], means[int(0.025 * draws)]", "lower end stands above"),
    ("bootstrap", "sorted(values[picks].mean(axis=1))", "sorted(values[picks[:, 0]])", "percentiles of the drawn values"),
    ("bootstrap", "rng.integers(0", "np.random.default_rng().integers(0", "two intervals"),
    ("bootstrap", "rng.integers(0", "np.random.default_rng(0).integers(0", "Another seed gives the same"),
    ("bootstrap", "    values = np", "    draws = 10_000\n    values = np", "draws is ignored"),
    ("bootstrap", "means[int(0.025 * draws)], means[int(0.975 * draws)]", "means[0], means[-1]", "The interval is too wide"),
    ("bootstrap", "(draws, len(values)))", "(draws, len(values) - 1))", "one value less"),
    ("sign_flip", "flips = np.abs(sums(list(differences)))", "flips = np.array(sums(list(differences)))", "absolute size"),
    ("sign_flip", "seen = abs(sum(differences))\n    flips = np.abs(sums(list(differences)))", "seen = sum(differences)\n    flips = np.array(sums(list(differences)))", "Only one side"),
    ("sign_flip", "flips >= seen - 1e-9", "flips > seen + 1e-9", "are left out"),
    ("sign_flip", "(flips >= seen - 1e-9).mean()", "(flips >= seen - 1e-9).sum()", "a number of patterns"),
    ("sign_flip", "flips >= seen - 1e-9", "flips <= seen + 1e-9", "nearer to 0"),
    ("sign_flip", "(flips >= seen - 1e-9).mean()", "((flips >= seen - 1e-9).sum() + 1) / (len(flips) + 1)", "random patterns"),
    ("sign_flip", "    def sums", "    differences = [float(np.sign(d)) for d in differences]\n    def sums", "sign test"),
    ("sign_flip", "seen - 1e-9", "seen", "rounding error"),
    ("holm", "(len(ps) - place)", "len(ps)", "Bonferroni"),
    ("holm", "max(last, min(1, ps[n] * (len(ps) - place)))", "min(1, ps[n] * (len(ps) - place))", "larger p can come out below"),
    ("holm", "min(1, ps[n] * (len(ps) - place))", "ps[n] * (len(ps) - place)", "above 1: cut it"),
    ("holm", "[adjusted[n] for n in range(len(ps))]", "list(adjusted.values())", "The results are sorted"),
    ("holm", 'np.argsort(ps, kind="stable")', "range(len(ps))", "start with the smallest p"),
    ("holm", "(len(ps) - place)", "(len(ps) - place - 1)", "one too low"),
    ("f1", "sum(min(a.count(word), b.count(word)) for word in set(a))", "len(set(a) & set(b))", "counts once in the numerator"),
    ("f1", "    common = ", "    a, b = list(set(a)), list(set(b))\n    common = ", "count them with Counter"),
    ("f1", "return 2 * precision * recall / (precision + recall)", "return precision", "This is precision"),
    ("f1", "return 2 * precision * recall / (precision + recall)", "return recall", "This is recall"),
    ("f1", "return 2 * precision * recall / (precision + recall)", "return (precision + recall) / 2", "plain mean"),
    ("f1", "a, b = normalise(found), normalise(gold)", "a, b = found.split(), gold.split()", "as they stand"),
    ("f1", "2 * precision * recall", "precision * recall", "factor 2 is missing"),
    ("f1", 'if word not in ("a", "an", "the")', "if word", "Articles count"),
    ("f1", "    common = ", "    return float(a == b)\n    common = ", "exact match"),
]  # fmt: skip


def learnt(source: str) -> dict:
    """Return what a notebook's cells define."""
    space = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), space)
    return space


def edited(name: str, old: str, new: str) -> str:
    """Return the solutions with one edit, in the named function or, if not there, beside it."""
    start = SOLUTIONS.index(f"\ndef {name}(") + 1
    end = SOLUTIONS.find("\ndef ", start)
    own = SOLUTIONS[start:] if end < 0 else SOLUTIONS[start:end]
    if old in own:
        return SOLUTIONS.replace(own, own.replace(old, new, 1))
    assert old in SOLUTIONS, f"{name}: {old!r} is in no solution"
    return SOLUTIONS.replace(old, new, 1)


def refused(name: str, function) -> str:
    """Return what a check says about a function that must not pass."""
    with pytest.raises(check.Wrong) as caught:
        getattr(check, name)(function)
    assert not isinstance(caught.value, check.NotStarted)
    return str(caught.value)


NAMES = [
    name
    for module in (session_a, session_b, session_c)
    for name, found in vars(module).items()
    if name[0] != "_" and inspect.isfunction(found)
    if list(inspect.signature(found).parameters) == ["function"]
]


def test_every_check_stands_in_a_notebook_and_every_notebook_check_exists():
    cells = [c.source for nb in learn.sources().values() for c in nb.cells if learn.is_check(c)]
    called = re.findall(r"check\.(\w+)\(", "\n".join(cells))
    assert sorted(called) == sorted([*NAMES, "causes", "quiz", "quiz", "quiz"])


@pytest.fixture(scope="module")
def solutions():
    return learnt(SOLUTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_right_solutions_in_another_style_pass_with_one_line(name, solutions, capsys):
    getattr(check, name)(solutions[name])
    assert re.fullmatch(rf"{name}: right on [^\n]+\n", capsys.readouterr().out)


@pytest.mark.parametrize(("name", "old", "new", "sentence"), WRONG)
def test_wrong_solutions_fail_with_their_own_sentence(name, old, new, sentence):
    said = refused(name, learnt(edited(name, old, new))[name])
    assert sentence.lower() in said.lower()


def known_mistakes(name: str, monkeypatch) -> list:
    """Return the (sentence, wrong function) pairs of a check."""
    if name == "bootstrap":
        return session_c._bootstrap_mistakes()
    kept = []
    with monkeypatch.context() as patch:
        patch.setattr(verdict, "compare", lambda *args, **options: kept.extend(args[4]))
        getattr(check, name)(len)
    return kept


@pytest.mark.parametrize("name", NAMES)
def test_every_known_mistake_is_wrong_and_none_hides_another(name, monkeypatch):
    known = known_mistakes(name, monkeypatch)
    assert len({sentence for sentence, _ in known}) >= 4
    assert len([row for row in WRONG if row[0] == name]) >= 4
    for sentence, wrong in known:
        said = refused(name, wrong)
        assert sentence[1:] in said, f"{sentence}\n{said}"


# Stubs, errors, and what is no function.

STUBS = [
    'raise NotImplementedError("your code")',
    "...",
    "pass",
    '"""Only a docstring."""',
    "return None",
    "result = ...\n    return result",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", STUBS[:2])
def test_a_stub_of_any_exercise_is_not_started(name, body):
    stub = learnt(f"def {name}(*args):\n    {body}\n")[name]
    with pytest.raises(check.NotStarted, match=f"^{name} is not started yet"):
        getattr(check, name)(stub)


@pytest.mark.parametrize("body", STUBS)
def test_each_form_of_a_stub_is_not_started(body):
    with pytest.raises(check.NotStarted) as caught:
        check.dcg(learnt(f"def dcg(gains):\n    {body}\n")["dcg"])
    assert caught.value._render_traceback_() == [
        "dcg is not started yet: fill in the cell above, then run on from here"
    ]


def test_a_stub_beside_the_exercise_is_named():
    source = edited(
        "windows", "    if overlap < 0", "    raise NotImplementedError\n    if overlap < 0"
    )
    with pytest.raises(check.NotStarted, match="it calls windows, which is not started yet"):
        check.chunk_fixed(learnt(source)["chunk_fixed"])


def test_a_forgotten_return_is_no_stub():
    said = refused("dcg", learnt("def dcg(gains):\n    total = sum(gains)\n")["dcg"])
    assert "does the function end with return" in said


@pytest.mark.parametrize("given", [0.5, "dcg", [1, 2]])
def test_what_is_no_function_gets_a_clear_line(given):
    assert "wants the function itself: check.dcg(dcg)" in refused("dcg", given)


def test_none_and_ellipsis_in_place_of_a_function_are_not_started():
    for given in (None, ...):
        with pytest.raises(check.NotStarted):
            check.dcg(given)


def test_a_notebook_shows_the_learners_line_and_no_frames(tmp_path, capsys):
    shell = InteractiveShell(
        ipython_dir=str(tmp_path), config=Config({"HistoryManager": {"enabled": False}})
    )
    shell.run_cell(
        "from notebooks import check\ndef gain(total):\n    return total / 0", silent=True
    )
    shell.run_cell("def dcg(gains):\n    total = 1\n    return gain(total)", silent=True)
    capsys.readouterr()
    assert not shell.run_cell("check.dcg(dcg)", silent=True).success
    said = capsys.readouterr().out.strip().split("\n")
    assert said[:4] == [
        "dcg stops with an error, line 3 of a cell, in gain",
        "  return total / 0",
        "  ZeroDivisionError: division by zero",
        "  dcg([])",
    ]
    assert not any("Traceback" in line or "check.py" in line for line in said)
    shell.run_cell("def dcg(gains):\n    ...", silent=True)
    assert not shell.run_cell("check.dcg(dcg)", silent=True).success
    assert capsys.readouterr().out.strip() == (
        "dcg is not started yet: fill in the cell above, then run on from here"
    )


def test_a_wrong_number_of_arguments_is_shown():
    said = refused("dcg", learnt("def dcg(gains, k):\n    return 0.0\n")["dcg"])
    assert said.startswith("dcg cannot be called as below\n  TypeError: dcg() missing 1")


# What is compared, and how it is shown.


def test_the_smallest_failing_case_is_shown_with_both_values():
    said = refused("dcg", lambda gains: sum(gains))
    assert said.split("\n")[:4] == [
        "dcg is not right yet",
        "  dcg([0.0, 1.0])",
        "    expected  0.6309297536",
        "    got       1.0",
    ]


@pytest.mark.parametrize(
    ("wanted", "got"),
    [(1.0, 1), (1.0, np.float64(1)), (0.5, np.array(0.5)), (0.5, 0.5 + 1e-12), (1.0, True),
     (math.nan, np.nan), ([(0, 4)], np.array([[0, 4]])), ([1, 2], (1, np.int64(2))),
     ({"a": 0.5}, {"a": np.float64(0.5)}), ("a", np.str_("a"))],
)  # fmt: skip
def test_the_same_in_another_form(wanted, got):
    assert verdict.same(wanted, got)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [(1.0, 1 + 1e-6), (1, 1.0), (1.0, "1.0"), (1.0, None), (1.0, math.nan), (math.nan, 1.0),
     ([1, 2], [2, 1]), ([1, 2], {1, 2}), ([1], [1, 2]), ([], np.array(0)), ([], None),
     ({"a": 1}, {"a": 1, "b": 2}), (ValueError, []), (1.0, verdict.Raised(ValueError()))],
)  # fmt: skip
def test_not_the_same(wanted, got):
    assert not verdict.same(wanted, got)


def test_general_sentences():
    solved = learnt(SOLUTIONS)
    assert "put list(...) around it" in refused("holm", lambda ps: (p for p in solved["holm"](ps)))
    assert "A set came back" in refused(
        "windows", lambda *args: set(map(tuple, solved["windows"](*args)))
    )
    halves = lambda *args: [(a / 1, b / 1) for a, b in solved["windows"](*args)]  # noqa: E731
    assert "whole numbers are wanted" in refused("windows", halves)
    assert "Text came back" in refused("dcg", lambda gains: str(solved["dcg"](gains)))


def test_a_function_that_changes_its_arguments_is_refused():
    def sorting(ranking, grades, k):
        ranking.sort()
        return grades and 0.0

    solved = learnt(SOLUTIONS)["holm"]

    def emptying(ps):
        found = solved(ps)
        ps.clear()
        return found

    assert "changes what it is given" in refused("holm", emptying)
    assert "expected" in refused("ndcg", sorting)  # a wrong value comes first


def test_wrong_arrays_are_compared_and_long_answers_cut():
    said = refused("windows", lambda n, size, overlap: np.array([[0, n]] * 999))
    assert "got       np.array([[0, 4], [0, 4]" in said and " …\n" in said and len(said) < 900


def test_windows_without_an_end_are_stopped_and_tracing_is_as_before():
    before = sys.gettrace()
    said = refused("windows", session_b._unguarded)
    assert "never moves on" in said and "windows(10, 4, 4)" in said
    assert sys.gettrace() is before


def test_a_loop_without_an_end_is_stopped_at_its_line():
    code = "def dcg(gains):\n    total, rank = 0, 1\n    while gains:\n        total += 1\n"
    said = refused("dcg", learnt(code)["dcg"])
    assert said.startswith("dcg runs on and on, line ") and "in dcg\n" in said
    assert "nearer to its end" in said


def test_prints_of_the_learner_are_dropped(capsys):
    check.dcg(lambda gains: print("here") or sum(g / math.log2(n) for n, g in enumerate(gains, 2)))
    assert capsys.readouterr().out == "dcg: right on 6 hand-made and 100 random cases\n"


# Failure cards.

CARDS = {"q1": "tie", "q2": "missing word"}


def test_causes(capsys):
    check.causes({"q1": "tie", "q2": "missing word"}, CARDS)
    check.causes({"q1": "tie", "q2": ("length penalty", "it is the longest")}, CARDS)
    check.causes({}, {})
    assert capsys.readouterr().out.split("\n")[:3] == [
        "causes: 2 of 2 as by rule",
        "causes: 1 of 2 as by rule, kept against it: q2",
        "causes: 0 of 0 as by rule",
    ]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"q1": "tie", "q2": "tie"}, "q2: the rule of 'tie' does not hold, and a later one does"),
        ({"q1": "length penalty"}, "q1: a rule above 'length penalty' applies already"),
        ({"q1": "tie", "q2": "tie"}, "with your reason: 'q2': ('tie', 'because ...')"),
        ({"q1": "a tie"}, "not a cause\n  q1: 'a tie'\nThe causes are\n  unjudged"),
        ({"q9": "tie"}, "no card for q9; cards: q1, q2"),
        ({"q1": "tie"}, "1 of 2 named"),
        ({"q1": ("tie",)}, "not a cause\n  q1: ('tie',)"),
        ({"q1": ["tie"]}, "not a cause\n  q1: ['tie']"),
        ([], "wants a dict"),
    ],
)
def test_causes_that_differ(named, said):
    with pytest.raises(check.Wrong) as caught:
        check.causes(named, CARDS)
    assert said in str(caught.value)


@pytest.mark.parametrize("named", [{}, {"q1": None, "q2": ...}])
def test_no_cause_named_is_not_started(named):
    with pytest.raises(check.NotStarted):
        check.causes(named, CARDS)


# Quick tests: every right answer is computed here from its question.


def discounted(gains) -> float:
    return sum(gain / math.log2(rank) for rank, gain in enumerate(gains, 2))


def answers_a() -> dict:
    kappa = cohen_kappa_score([1] * 6 + [0] * 14, [1] * 4 + [0] * 2 + [1] * 2 + [0] * 12)
    runs_of = [{tuple(p.split()[i : i + 2]) for i in range(3)} for p in
               ("restart the old node", "restart the new node")]  # fmt: skip
    pool = {d for top in ("abc", "bda", "eab") for d in top[:2]}
    relevant = {"q1": "a", "q2": "bc", "q3": "ab", "q4": "d", "q5": "e", "q6": "d"}
    splits = {"a": "q1 q2 q4", "b": "q1 q3 q5", "c": "q2 q3 q4", "d": "q4 q5 q6"}
    whole = [
        letter
        for letter, half in splits.items()
        if not {d for q in relevant if q in half for d in relevant[q]}
        & {d for q in relevant if q not in half for d in relevant[q]}
    ]
    readings = [0] * 95 + [1] * 2 + [0] * 3, [0] * 97 + [1] * 3
    assert round(cohen_kappa_score(*readings), 2) == -0.02
    assert round(session_a._ac1_table(*readings, (0, 1)), 2) == 0.95
    return {
        1: len({"d1", "d2", "d5"}) / 8,
        2: len({"disk", "full", "alert"} & set(text.words("Alert: the disk is. The disk was"))) / 3,
        3: kappa,
        4: "c",
        5: "".join(whole),
        6: len(runs_of[0] & runs_of[1]) / len(runs_of[0] | runs_of[1]),
        7: "a",
        8: sum(d in pool for d in "afdg") / 4,
    }


def answers_b() -> dict:
    ends = {"a": 80, "b": 150, "c": 240, "d": 90}
    doubled = [
        letter
        for letter, n in ends.items()
        if len(range(0, n, 80)) > len(session_b._reference_windows(n, 100, 20))
    ]
    assert math.log(4.5 / 6.5) < 0
    hits = ["a#2", "a#0", "b#1"]
    found = {"d": 2.0, "a": 1.5, "c": 2.0, "b": 1.5}
    scores = BM25Okapi([["disk"], ["disk"], ["disk", "full"], ["disk", "full"]]).get_scores(
        ["disk"]
    )
    ordered = " ".join(sorted(found, key=lambda d: (-found[d], d)))
    return {
        1: len(session_b._reference_windows(1000, 400, 100)),
        2: "".join(doubled),
        3: 0.25 * 1.2,
        4: 2 * 3 * 2.5 / (3 + 1.5 * (1 - 0.75 + 0.75)),
        5: "c",
        6: {"c d a b": "a", "d c a b": "b", "d c b a": "c", "b a d c": "d"}[ordered],
        7: len({chunk_id.rpartition("#")[0] for chunk_id in hits}),
        8: "b" if (scores < 0).all() else "?",
    }


def answers_c() -> dict:
    weights = {"refund": (2.0, 3, 2), "the": (0.6, 1, 4), "on": (0.5, 1, 2)}
    gave = {w: [idf * n * 2.5 / (n + 1.5) for n in counts] for w, (idf, *counts) in weights.items()}
    assert [[round(v, 2) for v in row] for row in gave.values()] == [
        [3.33, 2.86],
        [0.6, 1.09],
        [0.5, 0.71],
    ]
    behind = sum(row[0] for row in gave.values()) < sum(row[1] for row in gave.values())
    assert round(1 / discounted([1, 1, 1]), 2) == 0.47
    flips = scipy_stats.permutation_test(([0.2, 0.1, 0.1],), np.sum, permutation_type="samples")
    return {
        1: (1 + 1 / 5) / 4,
        2: ndcg_score([[0, 2, 1, 1]], [[4, 3, 2, 1]], k=3),
        3: (1 / 1 + 2 / 3) / 4,
        4: "d",
        5: float(flips.pvalue),
        6: "c",
        7: max({"a": 0.80, "b": 0.93, "c": 0.84, "d": 0.77}.items(), key=lambda pair: pair[1])[0],
        8: "a" if behind and gave["refund"][0] >= gave["refund"][1] else "?",
    }


RIGHT = {"A": answers_a, "B": answers_b, "C": answers_c}


@pytest.mark.parametrize("session", RIGHT)
def test_the_right_answers_pass(session, capsys):
    check.quiz(session, RIGHT[session]())
    said = capsys.readouterr().out
    assert said.endswith("8 of 8: passed\n") and said.count("  right  ") == 8


@pytest.mark.parametrize("session", RIGHT)
def test_six_of_eight_pass_and_five_do_not(session, capsys):
    answers = RIGHT[session]() | {1: 99, 2: None}
    if quiz.QUESTIONS[session][0].decimals is None:
        answers[1] = "a" if answers[1] != "a" else "b"
    check.quiz(session, answers)
    assert "6 of 8: passed" in capsys.readouterr().out
    with pytest.raises(check.Wrong) as caught:
        check.quiz(session, answers | {8: None})
    said = str(caught.value)
    assert "1  wrong  " in said and "8  not answered\n5 of 8: not passed yet. Read again: " in said
    assert quiz.QUESTIONS[session][7].reason[:30] not in said
    assert quiz.QUESTIONS[session][7].again in said


def test_quiz_forms():
    answers = answers_b()
    assert quiz.score("B", {3: "0.3", 4: np.float64(10 / 3), 5: " C "})[0].count("right") == 3
    assert quiz.score("B", {**answers, 3: 0.3049})[0].count("  right  ") == 8
    assert quiz.score("B", {**answers, 3: 0.31})[0].count("  right  ") == 7
    with pytest.raises(check.NotStarted, match="quick test B is not started yet"):
        check.quiz("B", dict.fromkeys(range(1, 9)))
    for wrong in ({1: "x"}, {2: "e"}, {2: 3}, {9: 1}, [1, 2], {1: True}):
        with pytest.raises(check.Wrong):
            check.quiz("B", wrong)
    with pytest.raises(check.Wrong, match="no session"):
        check.quiz("D", {})


def test_answers_do_not_stand_in_the_module():
    tree = ast.parse(inspect.getsource(quiz))
    kept = [q.answer for questions in quiz.QUESTIONS.values() for q in questions]
    assert all(re.fullmatch("[0-9a-f]{16}", answer) for answer in kept) and len(set(kept)) == 24
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not texts & {"a", "b", "c", "d"}
