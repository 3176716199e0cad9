"""What to show next: a blind order, query by query, with repeats to agree with oneself."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..measure import stats
from .log import Entry, latest

GAP = 5  # other documents between a document and its repeat


class Turn(NamedTuple):
    """One document to show for one query, for the first time or as a blind repeat.

    Without a document it asks whether none answers the query.
    """

    query_id: str
    doc_id: str
    repeat: bool = False


def turn_of(entry: Entry) -> Turn:
    """Return the turn of the schedule that a judgment did."""
    return Turn(*entry.pair, entry.repeat)


def schedule(pairs: Iterable[tuple[str, str]], seed: int = 0, repeats: float = 0.1) -> list[Turn]:
    """Return the turns: queries shuffled, documents shuffled in each, a share `repeats` twice.

    A repeat comes later in the same query if there is room, else at the end. The questions
    without a document come last.
    """
    rng, all_turns = np.random.default_rng(seed), [Turn(*pair) for pair in sorted(set(pairs))]
    documents = [turn for turn in all_turns if turn.doc_id]
    queries = [list(group) for _, group in groupby(documents, key=lambda turn: turn.query_id)]
    turns: list[Turn] = []
    for q in rng.permutation(len(queries)):
        turns += [queries[q][d] for d in rng.permutation(len(queries[q]))]
    early = max(0, len(turns) - GAP)  # those too near the end are shown again only if need be
    order = [*rng.permutation(early), *range(early, len(turns))]
    for turn in [turns[i] for i in sorted(order[: round(repeats * len(turns))])]:
        first = turns.index(turn)
        end = first + [other.query_id for other in turns[first:]].count(turn.query_id)
        earliest = first + 1 + GAP
        place = rng.integers(earliest, end + 1) if earliest <= end else len(turns)
        turns.insert(place, turn._replace(repeat=True))
    return turns + [turn for turn in all_turns if not turn.doc_id]


def next_turn(queue: list[Turn], judgments: list[Entry]) -> Turn | None:
    """Return the first turn of `queue` that is due, None when all are done.

    A repeat is due GAP judgments after the first one, or when nothing else is left. Whether no
    document answers is asked in the end, of queries without one of grade 1 or more.
    """
    done = set(map(turn_of, judgments))
    answered = {entry.query_id for entry in latest(judgments).values() if entry.relevance}
    since = {entry.pair: len(judgments) - n for n, entry in enumerate(judgments, 1)}
    left = [turn for turn in queue if turn not in done and (not turn.repeat or turn[:2] in since)]
    documents = [turn for turn in left if turn.doc_id]
    due = [turn for turn in documents if not turn.repeat or since[turn[:2]] >= GAP]
    questions = [turn for turn in left if not turn.doc_id and turn.query_id not in answered]
    return next(iter(due or documents or questions), None)


def agreement(
    judgments: list[Entry], grades: tuple[int, ...]
) -> tuple[int, float | None, list[tuple[str, str, int, int]]]:
    """Compare each repeat with the standing grade of its pair; the set allows `grades`.

    Returns how many repeats there are, linearly weighted kappa (None without repeats or where
    every grade is the same) and what differs: (query_id, doc_id, first grade, second grade).
    """
    standing = latest(judgments)
    again = {e.pair: e.relevance for e in judgments if e.repeat and e.pair in standing}
    readings = [(*pair, standing[pair].relevance, again[pair]) for pair in sorted(again)]
    first, second = [row[2] for row in readings], [row[3] for row in readings]
    kappa = stats.kappa(first, second, grades, weights="linear")
    return len(readings), kappa, [row for row in readings if row[2] != row[3]]
