"""Twenty pairs for everybody to judge, and how a learner's labels compare with the stored ones.

What is judged here stays in a log of its own and never becomes a label.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import display

from .. import evalset, figures, sparse, stats, text
from ..evalset import EvalSet, Judgment
from ..text import Pair, how_many, inert
from . import log

PAIRS, ZEROS, OF_A_QUERY = 20, 8, 3  # pairs: in all, of grade 0, of one query
NEAR_TOP = 10  # ranks among which a wrong document is worth a look
RESAMPLES = 1000  # of the bootstrap: kappa is scikit-learn's, half a millisecond each
LEAST_PAIRS = 10  # pairs from which an interval is shown; of two equal ones it would have no width
DIFFERING = 5  # pairs that are shown
NO_EVIDENCE = "<p>No evidence is stored with this grade.</p>"
COMPARE_NEXT = (
    "<p><b>Finish</b> ends here. Then run the next cell: it compares your labels with the stored "
    "ones.</p>"
)


def judge_twenty(evals: EvalSet) -> None:
    """Show twenty pairs in the panel where widgets live; else say that stored labels are used.

    The workbook's own set is never written to.
    """
    n = _how_many_pairs(_of_dev(evals))
    if not n:
        print("no judgments of dev queries are stored, so there is nothing to practise on")
    elif figures.is_live() and evals.folder.resolve() != evalset.DEFAULT:
        from . import panel  # its widgets take time to import

        task = panel.Task(log.PRACTICE, _finished, COMPARE_NEXT)
        panel.Panel(evals, pairs_to_practise(evals), stats.SEED, repeats=0, task=task).show()
    else:
        wait = f"{how_many(n, 'pair')} wait{'s' * (n == 1)} for you"
        print(f"{wait} in `make lab`; everything below uses the stored labels")


def _finished(evals: EvalSet) -> str:
    """Say how much is judged; it stays in its log."""
    done = f"{len(_both(evals)):d} of {_how_many_pairs(_of_dev(evals)):d} judged."
    return f"{done} Run the next cell to compare them with the stored labels."


# Which pairs.


def _of_dev(evals: EvalSet) -> list[Judgment]:
    """Return the stored labels of dev queries."""
    dev = {q.query_id for q in evals.queries.values() if q.split == "dev"}
    return [label for label in evals.judgments if label.query_id in dev]


def _how_many_pairs(stored: list[Judgment]) -> int:
    """Return how many of them are asked for, without a look at which."""
    by_query = Counter(label.query_id for label in stored)
    return min(PAIRS, sum(min(n, OF_A_QUERY) for n in by_query.values()))


def pairs_to_practise(evals: EvalSet) -> list[Pair]:
    """Return the pairs to judge: what the log holds already, then others by rule and seed.

    Queries of dev, kind after kind, give one label of each grade, then a second: eight zeros in
    all, and as many of each other grade. A zero is one of the first ten by BM25, and documents are
    among the shorter ones. What a set lacks is made up for by other labels.
    """
    stored = _of_dev(evals)
    chosen = [label for label in stored if (label.query_id, label.doc_id) in _own(evals)]
    near, short = _near_the_top(evals), _shorter(evals)
    worth = [label for label in _in_turns(evals, stored) if label.relevance or label[:2] in near]
    quota = _quota(evals.grades)
    _fill(chosen, [label for label in worth if label.doc_id in short], quota)
    _fill(chosen, worth, quota)
    _fill(chosen, _in_turns(evals, stored), dict.fromkeys(evals.grades, PAIRS))
    return sorted((label.query_id, label.doc_id) for label in chosen)


def _quota(grades: tuple[int, ...]) -> dict[int, int]:
    """Return {grade: how many pairs of it}."""
    rest, more = divmod(PAIRS - ZEROS, len(grades) - 1)
    return {grade: rest + (grade <= more) if grade else ZEROS for grade in grades}


def _fill(chosen: list[Judgment], labels: list[Judgment], quota: dict[int, int]) -> None:
    """Add labels until their grades, their queries, or all together have enough."""
    for label in labels:
        same_query = sum(label.query_id == other.query_id for other in chosen)
        same_grade = sum(label.relevance == other.relevance for other in chosen)
        room = len(chosen) < PAIRS and same_query < OF_A_QUERY
        if room and same_grade < quota[label.relevance] and label not in chosen:
            chosen.append(label)


def _in_turns(evals: EvalSet, stored: list[Judgment]) -> list[Judgment]:
    """Return the labels in turns: in each turn every query gives one label of each grade."""
    rng = np.random.default_rng(stats.SEED)
    place = {query_id: n for n, query_id in enumerate(_queries_by_kind(evals, stored, rng))}
    taken, turns = Counter(), []
    for n in rng.permutation(len(stored)):
        label = stored[n]
        taken[label.query_id, label.relevance] += 1
        turn = taken[label.query_id, label.relevance]
        turns.append((turn, place[label.query_id], label.relevance, label.doc_id, label))
    return [label for *_, label in sorted(turns)]


def _queries_by_kind(evals: EvalSet, stored: list[Judgment], rng: np.random.Generator) -> list[str]:
    """Return the queries that have labels in random order, the kinds taking turns."""
    names = sorted({label.query_id for label in stored})
    seen, turns = Counter(), []
    for n in rng.permutation(len(names)):
        kind = evals.queries[names[n]].kind
        seen[kind] += 1
        turns.append((seen[kind], kind, names[n]))
    return [name for *_, name in sorted(turns)]


def _near_the_top(evals: EvalSet) -> set[Pair]:
    """Return the pairs of dev queries with their first documents by BM25."""
    texts = [document.retrieval_text for document in evals.documents.values()]
    asked = {q.query_id: q.query for q in evals.queries.values() if q.split == "dev"}
    if not any(map(evals.words, texts)):
        return set()
    model, index = sparse.bm25([*evals.documents], texts, words=evals.words)
    found = sparse.rankings(model, index, asked, NEAR_TOP)
    return {(query_id, doc_id) for query_id, ranking in found for doc_id, _ in ranking}


def _shorter(evals: EvalSet) -> set[str]:
    """Return the shortest third of the documents: twenty are read in a quarter of an hour."""
    lengths = {doc_id: len(document.text) for doc_id, document in evals.documents.items()}
    most = sorted(lengths.values())[(len(lengths) - 1) // 3]
    return {doc_id for doc_id, length in lengths.items() if length <= most}


# What was judged.


def _own(evals: EvalSet) -> dict[Pair, int]:
    """Return {pair: grade} of the learner's log."""
    return {pair: e.relevance for pair, e in log.latest(log.entries(evals, log.PRACTICE)).items()}


def _both(evals: EvalSet) -> list[tuple[Judgment, int]]:
    """Return (stored label, learner's grade) of what has both, by query and document."""
    own = _own(evals)
    return [(label, own[label[:2]]) for label in sorted(_of_dev(evals)) if label[:2] in own]


class Agreed(NamedTuple):
    """Agreement of two readings: value and 95 % interval.

    The value is None where chance is all there is, the interval there and for too few pairs.
    """

    value: float | None
    low: float | None
    high: float | None


def agree_with_stored(evals: EvalSet) -> None:
    """Show kappa, AC1, the confusion table, and five pairs that differ with the stored evidence."""
    both = _both(evals)
    if not both:
        print("no labels of yours yet, so there is nothing to compare")
        return
    stored, own = [label.relevance for label, _ in both], [grade for _, grade in both]
    wanted = max(len(both), _how_many_pairs(_of_dev(evals)))
    print(f"{len(both)} of {wanted} judged, {_percent_equal(stored, own)}")
    for name, measure in _measures(evals.grades).items():
        print(f"{name}: {value_text(with_interval(measure, stored, own))}")
    display(figures.table(grade_table(stored, own, evals.grades)))
    display(text.html(text.Markup(differing_html(evals, both))))
    display(text.html(text.Markup(conclusion_html(len(both)))))


def conclusion_html(n: int) -> str:
    """Return what so few pairs tell, and what they do not."""
    return (
        f"<p>From {how_many(n, 'pair')} you can't tell how good a reader you are"
        f"{': see how wide the intervals are' if n >= LEAST_PAIRS else ''}. "
        "The pairs that differ tell more. Read each with the stored evidence and decide: did you "
        "miss it, is the stored label wrong, or does the guide leave the case open?</p>"
        "<p>Your labels stay in your log. All figures below use the stored ones.</p>"
    )


def _percent_equal(stored: list[int], own: list[int]) -> str:
    """Return how many grades are equal, in words."""
    same = sum(map(int.__eq__, stored, own))
    return f"{same} equal ({same / len(own):.0%})"


def _measures(grades: tuple[int, ...]) -> dict[str, Callable[[list, list], float | None]]:
    """Return {name: measure of agreement beyond chance}."""
    return {
        "Cohen's kappa": lambda a, b: stats.kappa(a, b, grades),
        "Gwet's AC1": lambda a, b: beyond_chance(a, b, grades),
    }


def beyond_chance(first: list[int], second: list[int], grades: tuple[int, ...]) -> float:
    """Return AC1 of two readings over all `grades` that a label may have (Gwet 2008).

    None of our libraries has it.
    """
    equal = np.mean(np.equal(first, second))
    shares = np.array([np.mean([*np.equal(first, g), *np.equal(second, g)]) for g in grades])
    chance = (shares * (1 - shares)).sum() / (len(grades) - 1)
    return float((equal - chance) / (1 - chance))


def with_interval(measure: Callable, first: list[int], second: list[int]) -> Agreed:
    """Return a measure of agreement with its percentile bootstrap interval over pairs.

    Draws for which it is not defined are left out.
    """
    if len(first) < LEAST_PAIRS:
        return Agreed(measure(first, second), None, None)
    rng, pairs = np.random.default_rng(stats.SEED), np.array([first, second])
    drawn = (pairs[:, rng.integers(0, len(first), len(first))] for _ in range(RESAMPLES))
    values = [value for a, b in drawn if (value := measure(a, b)) is not None]
    low, high = np.percentile(values, [2.5, 97.5]) if values else (None, None)
    return Agreed(measure(first, second), low, high)


def value_text(found: Agreed) -> str:
    """Return a value with its interval."""
    if found.value is None:
        return "not defined, because one grade only was given"
    if found.low is None or found.high is None:
        return f"{found.value:.2f} (too few pairs for an interval)"
    low, high = (round(end, 2) + 0.0 for end in (found.low, found.high))  # no -0.00
    return f"{found.value:.2f} (95 % interval {low:.2f} to {high:.2f})"


def grade_table(stored: list[int], own: list[int], grades: tuple[int, ...]) -> pd.DataFrame:
    """Return how often each stored grade (row) met each grade of the learner (column)."""
    counts = Counter(zip(stored, own, strict=True))
    rows = {f"stored {a}": [counts[a, b] for b in grades] for a in grades}
    return pd.DataFrame.from_dict(rows, "index", columns=[f"yours {b}" for b in grades])


def differing_html(evals: EvalSet, both: list[tuple[Judgment, int]]) -> str:
    """Return the pairs that differ most, with query, title, both grades and stored evidence."""
    apart = [(abs(label.relevance - own), label, own) for label, own in both]
    differ = sorted((row for row in apart if row[0]), key=lambda row: -row[0])
    if not differ:
        return "<p>No pair differs.</p>"
    shown = "".join(_pair_html(evals, label, own) for _, label, own in differ[:DIFFERING])
    many = how_many(len(differ), "pair")
    return f"<p><b>{many} with different grades, furthest first</b></p><ol>{shown}</ol>"


def _pair_html(evals: EvalSet, label: Judgment, own: int) -> str:
    """Return one pair that differs."""
    document = evals.documents[label.doc_id]
    quotes = "".join(f"<blockquote>{inert(quote)}</blockquote>" for quote in label.evidence)
    proof = f"<p>Stored evidence:</p>{quotes}" if quotes else NO_EVIDENCE
    return (
        f"<li><b>{inert(evals.queries[label.query_id].query)}</b><br>"
        f"{inert(document.title or label.doc_id)}: stored {label.relevance:d}, yours {own:d}"
        f"{proof}</li>"
    )
