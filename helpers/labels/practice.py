"""Twenty pairs for everybody to judge, and how a learner's labels compare with the stored ones.

What is judged here stays in a log of its own and never becomes a label.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
from IPython.display import display

from .. import evalset, figures, stats
from .. import text as texts
from ..evalset import EvalSet, Judgment
from ..text import Markup, Pair, how_many
from . import log

PAIRS, ZEROS, OF_A_QUERY = 20, 8, 3  # pairs: in all, of grade 0, of one query
RESAMPLES = 1000  # of the bootstrap: kappa is scikit-learn's, half a millisecond each
LEAST_PAIRS = 10  # pairs from which an interval is shown; of two equal ones it would have no width
DIFFERING = 5  # pairs that are shown
COMPARE_NEXT = Markup(
    "<p><b>Finish</b> ends here. Then run the next cell: it compares your labels with the stored "
    "ones.</p>"
)


def judge_twenty(evals: EvalSet) -> None:
    """Show twenty pairs in the panel where widgets live; else say that stored labels are used.

    The workbook's own set is never written to.
    """
    pairs = pairs_to_practise(evals)
    if pairs and figures.is_live() and evals.folder.resolve() != evalset.DEFAULT:
        from . import panel  # its widgets take time to import

        task = panel.Task(log.PRACTICE, _finished, COMPARE_NEXT)
        panel.Panel(evals, pairs, stats.SEED, repeats=0, task=task).show()
    else:
        wait = f"{how_many(len(pairs), 'pair')} wait for you in `make lab`"
        print(f"{wait}; everything below uses the stored labels")


def _finished(evals: EvalSet) -> str:
    done = f"{len(_own_grades(evals))} of {len(pairs_to_practise(evals))} judged."
    return f"{done} Run the next cell to compare them with the stored labels."


def pairs_to_practise(evals: EvalSet) -> list[Pair]:
    """Return the pairs to judge: what the log holds already, then others by rule and seed.

    Labels of dev queries in the set's language: eight zeros, and as many of each other grade. First
    come hard negatives and shorter documents, each with a query and document of its own: twenty are
    read in a quarter of an hour. What a set lacks is made up for, by up to three of a query.
    """
    stored, own = sorted(_stored(evals).values()), _own_grades(evals)
    rows = evalset.read_extra(evals, "negatives.jsonl")
    hard = {(row["query_id"], doc_id) for row in rows for doc_id in row["hard"]}
    lengths = {doc_id: len(document.text) for doc_id, document in evals.documents.items()}
    third = sorted(lengths.values())[(len(lengths) - 1) // 3]

    def worth_reading(label: Judgment) -> tuple[bool, bool]:
        return label.relevance > 0 or label[:2] in hard, lengths[label.doc_id] <= third

    shuffled = [stored[n] for n in np.random.default_rng(stats.SEED).permutation(len(stored))]
    best_first = sorted(shuffled, key=worth_reading, reverse=True)
    rest, more = divmod(PAIRS - ZEROS, len(evals.grades) - 1)
    quota = {grade: rest + (grade <= more) if grade else ZEROS for grade in evals.grades}
    chosen = [label for label in stored if label[:2] in own]
    anything, best = dict.fromkeys(quota, PAIRS), [x for x in best_first if all(worth_reading(x))]
    passes = (best, quota, 1), (best_first, quota, OF_A_QUERY), (best_first, anything, OF_A_QUERY)
    for labels, limit, most in passes:
        for label in labels:
            ids = [id_ for other in chosen for id_ in other[:2]]
            grades = Counter(other.relevance for other in chosen)
            is_full = len(chosen) >= PAIRS or grades[label.relevance] >= limit[label.relevance]
            is_new = ids.count(label.query_id) < most and (most > 1 or label.doc_id not in ids)
            chosen += [label] * (is_new and not is_full and label not in chosen)
    return sorted(label[:2] for label in chosen)


def _stored(evals: EvalSet) -> dict[Pair, Judgment]:
    """Return the stored labels of dev queries in the set's own language."""
    dev = {q.query_id for q in evals.queries.values() if q.split == "dev" and not q.language}
    return {label[:2]: label for label in evals.judgments if label.query_id in dev}


def _own_grades(evals: EvalSet) -> dict[Pair, int]:
    """Return {pair: grade} of the learner's log, of pairs with a stored label."""
    latest, stored = log.latest(log.entries(evals, log.PRACTICE)), _stored(evals)
    return {pair: latest[pair].relevance for pair in sorted(latest) if pair in stored}


# What was judged.


def show_agreement(evals: EvalSet) -> None:
    """Show kappa, AC1, the confusion table, and five pairs that differ with the stored evidence."""
    own, labels, grades = _own_grades(evals), _stored(evals), evals.grades
    if not own:
        print("no labels of yours yet, so there is nothing to compare")
        return
    stored, yours = [labels[pair].relevance for pair in own], [*own.values()]
    pairs, same = pairs_to_practise(evals), int(np.equal(stored, yours).sum())
    print(f"{len(own)} of {len(pairs)} judged, {same} equal ({same / len(own):.0%})")
    print(f"Cohen's kappa: {agreement_text(stats.kappa, stored, yours, grades)}")
    print(f"Gwet's AC1: {agreement_text(gwet_ac1, stored, yours, grades)}")
    counts = [[[*zip(stored, yours, strict=True)].count((a, b)) for b in grades] for a in grades]
    names = [[f"{whose} {grade}" for grade in grades] for whose in ("stored", "yours")]
    display(figures.table(pd.DataFrame(counts, *names)))
    display(texts.html(differing_html(evals, [(labels[pair], own[pair]) for pair in own])))


def gwet_ac1(first: list[int], second: list[int], grades: tuple[int, ...]) -> float:
    """Return AC1 of two readings over all `grades` that a label may have (Gwet 2008).

    None of our libraries has it.
    """
    equal = np.mean(np.equal(first, second))
    shares = np.array([np.mean(np.equal([*first, *second], grade)) for grade in grades])
    chance = (shares * (1 - shares)).sum() / (len(grades) - 1)
    return float((equal - chance) / (1 - chance))


def agreement_text(
    measure: Callable, first: list[int], second: list[int], grades: tuple[int, ...]
) -> str:
    """Return a measure of agreement with its 95 % percentile bootstrap interval over pairs.

    The measure is None where chance is all there is; such draws are left out.
    """
    value = measure(first, second, grades)
    if value is None:
        return "not defined, because one grade only was given"
    if len(first) < LEAST_PAIRS:
        return f"{value:.2f} (too few pairs for an interval)"
    rng, pairs = np.random.default_rng(stats.SEED), np.array([first, second])
    drawn = (pairs[:, rng.integers(0, len(first), len(first))] for _ in range(RESAMPLES))
    values = np.array([measure(*draw, grades) for draw in drawn], dtype=float)  # None is NaN
    low, high = np.nanpercentile(values, [2.5, 97.5]).round(2) + 0.0  # no -0.00
    return f"{value:.2f} (95 % interval {low:.2f} to {high:.2f})"


def differing_html(evals: EvalSet, judged: list[tuple[Judgment, int]]) -> Markup:
    """Return the pairs that differ most, with query, title, both grades and stored evidence."""
    differ = [(label, own) for label, own in judged if label.relevance != own]
    differ.sort(key=lambda pair: -abs(pair[0].relevance - pair[1]))
    items = Markup("")
    for label, own in differ[:DIFFERING]:
        quotes = map(" + ".join, label.evidence)
        items += Markup("<li><b>{}</b><br>{}: stored {}, yours {}<p>{}</p>{}</li>").format(
            evals.queries[label.query_id].query,
            evals.documents[label.doc_id].title or label.doc_id,
            *(label.relevance, own),
            "Stored evidence:" if label.evidence else "No evidence is stored with this grade.",
            Markup("").join(map(Markup("<blockquote>{}</blockquote>").format, quotes)),
        )
    page = Markup("<p><b>{} with different grades, furthest first</b></p><ol>{}</ol>")
    return page.format(how_many(len(differ), "pair"), items)
