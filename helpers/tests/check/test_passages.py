# ruff: noqa: E501 -- tables: a wrong solution a line
"""The exercise on evidence in ranked passages, right and wrong."""

from notebooks.check import passages

from .exercises import Exercises

SOLUTIONS = r"""
def evidence_recall(quotes, ranking, budget):
    delivered = set()
    for doc_id, start, end in ranking:
        if budget <= 0:
            break
        end = min(end, start + budget)
        budget -= end - start
        if any(start <= a and b <= end for a, b in quotes.get(doc_id, [])):
            delivered.add(doc_id)
    return len(delivered) / len(quotes)
"""


class TestPassages(Exercises):
    modules = (passages,)
    solutions = SOLUTIONS
    wrong = [
        ("evidence_recall", "any(start <= a and b <= end for a, b in quotes.get(doc_id, []))", "doc_id in quotes", "The document is counted"),
        ("evidence_recall", "start <= a and b <= end", "start < b and a < end", "Half a quote counts"),
        ("evidence_recall", "start <= a and b <= end", "start < a and b < end", "at the very edge"),
        ("evidence_recall", "delivered = set()", "delivered = type('L', (list,), {'add': list.append})()", "counts again in each passage"),
        ("evidence_recall", "        end = min(end, start + budget)\n", "", "overruns the budget"),
        ("evidence_recall", "end = min(end, start + budget)", "end = end if end - start <= budget else start", "left out whole"),
        ("evidence_recall", "if any(", "if doc_id in quotes and all(", "All quotes of a document"),
        ("evidence_recall", "        budget -= end - start\n", "", "cut at the whole budget"),
        ("evidence_recall", "return len(delivered) / len(quotes)", "return float(bool(delivered))", "This is a hit"),
    ]  # fmt: skip
