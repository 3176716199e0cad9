# ruff: noqa: E501 -- tables: a wrong solution a line
"""Exercises on ranking measures, right and wrong."""

from notebooks.check import measures

from .exercises import Exercises

SOLUTIONS = r"""
import math
import numpy as np

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
    gained = lambda g: gain(g) if g > 0 else 0
    ideal = sorted(grades.values(), reverse=True)
    best = dcg([gained(g) for g in ideal[:k]])
    if best == 0:
        return 0
    return dcg([gained(grades.get(d, 0)) for d in ranking[:k]]) / best
"""

WRONG = [
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
    ("ndcg", "gain(g) if g > 0 else 0", "gain(g)", "graded 0 or not labelled"),
    ("ndcg", "gain=lambda grade: grade", "gain=lambda grade: 2**grade - 1", "exponential form"),
    ("ndcg", "for g in ideal[:k]]", "for g in ideal]", "not cut at k"),
    ("ndcg", "for d in ranking[:k]]) / best", "for d in ranking[:k]])", "1.63 where 1.0 is the maximum: the DCG is not divided"),
    ("ndcg", "for d in ranking[:k]]) / best", "for d in ranking]) / best", "cut the ranking, too"),
    ("ndcg", "gain=lambda grade: grade", "gain=lambda grade: int(grade > 0)", "Every relevant document gains 1"),
    ("ndcg", "sorted(grades.values(), reverse=True)", "list(grades.values())", "labels are not sorted"),
    ("ndcg", "    if best == 0:\n        return 0\n", "", "nan is what 0 divided by 0 gives"),
    ("ndcg", "    if best == 0:\n        return 0\n    return dcg([gained(grades.get(d, 0)) for d in ranking[:k]]) / best", "    return float(dcg([gained(grades.get(d, 0)) for d in ranking[:k]])) / float(best)", "the ideal is 0 and cannot divide"),
]  # fmt: skip


class TestMeasures(Exercises):
    modules, solutions, wrong = (measures,), SOLUTIONS, WRONG
