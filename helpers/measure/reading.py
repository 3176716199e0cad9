"""What waits to be read: the pairs of to_read.jsonl, which the labelling panel opens."""

import math
from collections import Counter
from collections.abc import Iterable

from . import evalset, files
from .evalset import EvalSet
from .text import Pair, how_many, pair_of

TO_READ = "to_read.jsonl"
ORDER = ("full answers before", "parts of one before", "new text", "zeros before")
SPEED = 180  # words a minute


def waiting(evals: EvalSet, more: Iterable[dict] = ()) -> dict[Pair, dict]:
    """Return {(query_id, doc_id): row} of the list's pairs that are not judged, in its order.

    A row has `query_id` and `doc_id`, and maybe an old label (`relevance`,
    `evidence`), `why` it is read again and the `passages` to mark: (start, end) in
    characters of the retrieval text. `more` rows come behind them. Raises
    EvalSetError with file and line for a row that cannot be used.
    """
    judged, pairs = evals.labels, {}
    for row in [*evalset.read_extra(evals, TO_READ), *more]:
        pair = pair_of(row)
        if pair not in judged:
            pairs.setdefault(pair, row)
    return pairs


def write_list(evals: EvalSet, rows: Iterable[dict]) -> int:
    """Add rows to to_read.jsonl and return how many pairs wait there.

    A pair that stands there already stays as it is; one that is judged is left out.
    """
    left = waiting(evals, rows)
    if left or (evals.folder / TO_READ).exists():
        files.write_jsonl(evals.folder / TO_READ, left.values())
    return len(left)


def place(evals: EvalSet, row: dict) -> int:
    """Return when a pair is read, by what it can change: its place in ORDER."""
    grade = row.get("relevance")
    if grade is None:
        return 2
    if grade == 0:
        return 3
    return 0 if grade >= evals.full_grade else 1


def in_words(evals: EvalSet) -> list[str]:
    """Return how many pairs wait, the minutes that they take at most, and how many of each sort."""
    waits, counts, n_words = waiting(evals), Counter(), Counter()
    for row in waits.values():
        counts[place(evals, row)] += 1
        body = evals.documents[row["doc_id"]].retrieval_text
        passages = [body[start:end] for start, end in row.get("passages", [])]
        unit = "marked passages" if passages else "whole pages"
        n_words[unit] += sum(len(text.split()) for text in passages or [body])
    line = f"pairs to read: {len(waits)}"
    for unit, words in sorted(n_words.items()):
        line += f", {how_many(math.ceil(words / SPEED), 'minute')} at most for {unit}"
    return [line, *(f"  {ORDER[n]}: {counts[n]}" for n in sorted(counts))]


def marked_evidence(evals: EvalSet, row: dict) -> str | list:
    """Return the marked passages of a row in the form of its old evidence.

    "" unless the row has a grade above 0 and a passage for each quote, in their
    order.
    """
    old, text = evalset.evidence_quotes(row), evals.documents[row["doc_id"]].retrieval_text
    marked = [text[start:end] for start, end in row.get("passages", [])]
    if not row.get("relevance") or sum(map(len, old)) != len(marked):
        return ""
    rest = iter(marked)
    alternatives = []
    for own in old:
        alternatives.append(evalset.Quotes.of([next(rest) for _ in own], own.needs))
    return evalset.evidence_field(alternatives)
