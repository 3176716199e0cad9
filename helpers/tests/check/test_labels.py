# ruff: noqa: E501 -- tables: a wrong solution a line
"""Exercises on labels: right code in any style passes, each mistake meets its sentence."""

from notebooks.check import labels

from .exercises import Exercises

SOLUTIONS = r"""
from itertools import combinations
import numpy as np
from helpers import text

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
"""

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
    ("word_overlap", "any(word in text.words(answer)", "any(word in answer.split()", "full stop and 'Roll' with a capital are then other words. evals.words removes both"),
    ("word_overlap", "any(word in text.words(answer)", "any(word.rstrip('s') in [w.rstrip('s') for w in text.words(answer)]", "so deploys finds deploy"),
    ("word_overlap", "return np.array(flags).mean()", "return max(np.mean([w in text.words(x) for w in asked]) for x in answers)", "Each answer is looked at alone"),
    ("word_overlap", "    if not asked:\n        return 0\n    flags = [any(word in text.words(answer) for answer in answers) for word in asked]\n    return np.array(flags).mean()",
     "    return sum(any(w in text.words(x) for x in answers) for w in asked) / len(asked)", "function words alone leaves nothing to divide by"),
    ("jaccard", "both / (len(one) + len(two) - both)", "both / (len(one) + len(two))", "in the denominator twice"),
    ("jaccard", "both / (len(one) + len(two) - both)", "2 * both / (len(one) + len(two))", "Dice"),
    ("jaccard", "both / (len(one) + len(two) - both)", "both / min(len(one), len(two)) if one and two else 0", "divides by the smaller text"),
    ("jaccard", 'return {" ".join(words[i : i + size]) for i in range(max(1, len(words) - size + 1))}', "return set(words)", "Single words are compared"),
    ("jaccard", "words = text.words(body)", "words = text.words(body)[:-1]", "the last run of each text"),
    ("jaccard", "max(1, len(words) - size + 1)", "max(1, len(words) - size)", "The last run of each text is lost"),
    ("jaccard", "words = text.words(body)", "words = body.split()", "Upper and lower case, or punctuation, make words differ: use evals.words"),
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
]  # fmt: skip


class TestLabels(Exercises):
    modules, solutions, wrong = (labels,), SOLUTIONS, WRONG
