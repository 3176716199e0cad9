"""What to show next: a blind order, query by query, with repeats to agree with oneself."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .. import files
from .log import Entry, latest

GAP = 5  # other documents between a document and its repeat


class Turn(NamedTuple):
    """One document to show for one query, for the first time or as a blind repeat.

    Without a document it asks whether none answers the query.
    """

    query_id: str
    doc_id: str
    repeat: bool = False

    @property
    def pair(self) -> tuple[str, str]:
        """The pair to judge: query_id, doc_id."""
        return self.query_id, self.doc_id


def turn_of(entry: Entry) -> Turn:
    """Return the turn of the schedule that a judgment did."""
    return Turn(*entry.pair, entry.repeat)


def schedule(pairs: Iterable[tuple[str, str]], seed: int = 0, repeats: float = 0.1) -> list[Turn]:
    """Return the turns: queries shuffled, documents shuffled in each, a share `repeats` twice.

    The questions without a document come last.
    """
    rng, pairs = np.random.default_rng(seed), sorted(set(pairs))
    by_query: dict[str, list[Turn]] = {}
    for pair in (pair for pair in pairs if pair[1]):
        by_query.setdefault(pair[0], []).append(Turn(*pair))
    queries = list(by_query.values())
    turns = []
    for q in rng.permutation(len(queries)):
        turns += [queries[q][d] for d in rng.permutation(len(queries[q]))]
    early = max(0, len(turns) - GAP)  # those too near the end are shown again only if need be
    order = [*rng.permutation(early), *range(early, len(turns))]
    for turn in [turns[i] for i in sorted(order[: round(repeats * len(turns))])]:
        turns.insert(_repeat_place(turns, turn, rng), turn._replace(repeat=True))
    return [*turns, *(Turn(*pair) for pair in pairs if not pair[1])]


def _repeat_place(turns: list[Turn], turn: Turn, rng: np.random.Generator) -> int:
    """Return where the repeat of `turn` goes: later in the same query if there is room."""
    end = first = turns.index(turn)
    while end < len(turns) and turns[end].query_id == turn.query_id:
        end += 1
    earliest = first + 1 + GAP
    return rng.integers(earliest, end + 1) if earliest <= end else len(turns)


def following(queue: list[Turn], given: list[Entry]) -> Turn | None:
    """Return the first turn of `queue` that is due, None when all are done.

    A repeat is due GAP judgments after the first one, or when nothing else is left. Whether no
    document answers is asked in the end, of queries without one of grade 1 or more.
    """
    done = set(map(turn_of, given))
    answered = {query_id for (query_id, _), entry in latest(given).items() if entry.relevance}
    since = {entry.pair: len(given) - i - 1 for i, entry in enumerate(given)}
    left = [turn for turn in queue if turn not in done and (not turn.repeat or turn.pair in since)]
    documents = [turn for turn in left if turn.doc_id]
    due = [turn for turn in documents if not turn.repeat or since[turn.pair] >= GAP]
    questions = [turn for turn in left if not turn.doc_id and turn.query_id not in answered]
    return next(iter(due or documents or questions), None)


def agreement(
    given: list[Entry], grades: tuple[int, ...] = files.GRADES
) -> tuple[int, float | None, list[tuple[str, str, int, int]]]:
    """Compare each repeat with the standing grade of its pair; the set allows `grades`.

    Returns how many repeats there are, linearly weighted kappa (None without repeats or where
    every grade is the same) and what differs: (query_id, doc_id, first grade, second grade).
    """
    from .. import stats  # SciPy takes a second to import

    standing = latest(given)
    again = {entry.pair: entry.relevance for entry in given if entry.repeat}
    pairs = [pair for pair in sorted(again) if pair in standing]
    first, second = [standing[pair].relevance for pair in pairs], [again[pair] for pair in pairs]
    kappa = stats.kappa(first, second, grades, weights="linear")
    rows = zip(pairs, first, second, strict=True)
    return len(pairs), kappa, [(*pair, a, b) for pair, a, b in rows if a != b]
