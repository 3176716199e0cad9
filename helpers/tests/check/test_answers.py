# ruff: noqa: E501 -- tables: a wrong solution a line
"""The exercise on answers, right and wrong."""

from notebooks.check import answers

from .exercises import Exercises

SOLUTIONS = r"""
import re

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

WRONG = [
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


class TestAnswers(Exercises):
    modules, solutions, wrong = (answers,), SOLUTIONS, WRONG
