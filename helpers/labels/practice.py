"""Twenty pairs for everybody to judge, and how a learner's labels compare with the stored ones.

What is judged here stays in a log of its own and never becomes a label.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from IPython.display import display

from .. import evalset, figures, sparse, stats
from .. import text as texts
from ..evalset import EvalSet, Judgment
from ..text import Markup, Pair, how_many
from . import log

PAIRS, ZEROS, OF_A_QUERY = 20, 8, 3  # pairs: in all, of grade 0, of one query
NEAR_TOP = 10  # ranks among which a wrong document is worth a look
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
    if not pairs:
        print("no judgments of dev queries are stored, so there is nothing to practise on")
    elif figures.is_live() and evals.folder.resolve() != evalset.DEFAULT:
        from . import panel  # its widgets take time to import

        task = panel.Task(log.PRACTICE, _finished, COMPARE_NEXT)
        panel.Panel(evals, pairs, stats.SEED, repeats=0, task=task).show()
    else:
        wait = f"{how_many(len(pairs), 'pair')} wait{'s' * (len(pairs) == 1)} for you"
        print(f"{wait} in `make lab`; everything below uses the stored labels")


def _finished(evals: EvalSet) -> str:
    done = f"{len(_own(evals))} of {len(pairs_to_practise(evals))} judged."
    return f"{done} Run the next cell to compare them with the stored labels."


# Which pairs.


def pairs_to_practise(evals: EvalSet) -> list[Pair]:
    """Return the pairs to judge: what the log holds already, then others by rule and seed.

    Labels of dev queries, up to three of each: eight zeros, and as many of each other grade. A zero
    is one of the first ten by BM25, and documents are among the shorter ones. What a set lacks is
    made up for by other labels.
    """
    stored = sorted(_stored(evals).values())
    order = np.random.default_rng(stats.SEED).permutation(len(stored))
    stored = [stored[n] for n in order]
    near, short, own = _near_the_top(evals), _shorter(evals), _own(evals)
    worth = [label for label in stored if label.relevance or label[:2] in near]
    rest, more = divmod(PAIRS - ZEROS, len(evals.grades) - 1)
    quota = {grade: rest + (grade <= more) if grade else ZEROS for grade in evals.grades}
    no_quota = dict.fromkeys(evals.grades, PAIRS)
    first = [label for label in worth if label.doc_id in short]
    chosen = [label for label in stored if label[:2] in own]
    for labels, limit in ((first, quota), (worth, quota), (stored, no_quota)):
        for label in labels:
            of_query = sum(label.query_id == other.query_id for other in chosen)
            of_grade = sum(label.relevance == other.relevance for other in chosen)
            room = len(chosen) < PAIRS and of_query < OF_A_QUERY
            if room and of_grade < limit[label.relevance] and label not in chosen:
                chosen.append(label)
    return sorted(label[:2] for label in chosen)


def _stored(evals: EvalSet) -> dict[Pair, Judgment]:
    """Return the stored labels of dev queries."""
    dev = {q.query_id for q in evals.queries.values() if q.split == "dev"}
    return {label[:2]: label for label in evals.judgments if label.query_id in dev}


def _near_the_top(evals: EvalSet) -> set[Pair]:
    """Return the pairs of dev queries with their first documents by BM25."""
    bodies = [document.retrieval_text for document in evals.documents.values()]
    if not any(map(evals.words, bodies)):
        return set()
    asked = {q.query_id: q.query for q in evals.queries.values() if q.split == "dev"}
    model, index = sparse.bm25([*evals.documents], bodies, words=evals.words)
    rankings = sparse.rankings(model, index, asked, NEAR_TOP)
    return {(query_id, doc_id) for query_id, ranking in rankings for doc_id, _ in ranking}


def _shorter(evals: EvalSet) -> set[str]:
    """Return the shortest third of the documents: twenty are read in a quarter of an hour."""
    lengths = {doc_id: len(document.text) for doc_id, document in evals.documents.items()}
    most = sorted(lengths.values())[(len(lengths) - 1) // 3]
    return {doc_id for doc_id, length in lengths.items() if length <= most}


def _own(evals: EvalSet) -> dict[Pair, int]:
    """Return {pair: grade} of the learner's log, of pairs with a stored label."""
    given, stored = log.latest(log.entries(evals, log.PRACTICE)), _stored(evals)
    return {pair: given[pair].relevance for pair in sorted(given) if pair in stored}


# What was judged.


def agree_with_stored(evals: EvalSet) -> None:
    """Show kappa, AC1, the confusion table, and five pairs that differ with the stored evidence."""
    given, labels, grades = _own(evals), _stored(evals), evals.grades
    if not given:
        print("no labels of yours yet, so there is nothing to compare")
        return
    stored, own = [labels[pair].relevance for pair in given], [*given.values()]
    wanted, same = len(pairs_to_practise(evals)), int(np.equal(stored, own).sum())
    print(f"{len(own)} of {wanted} judged, {same} equal ({same / len(own):.0%})")
    print(f"Cohen's kappa: {agreement_text(stats.kappa, stored, own, grades)}")
    print(f"Gwet's AC1: {agreement_text(beyond_chance, stored, own, grades)}")
    table = pd.crosstab(pd.Series(stored), pd.Series(own)).reindex(grades, fill_value=0)
    table = table.reindex(columns=grades, fill_value=0)
    names = [[f"{whose} {grade}" for grade in grades] for whose in ("stored", "yours")]
    display(figures.table(pd.DataFrame(table.to_numpy(), *names)))
    differing = [(labels[pair], grade) for pair, grade in given.items()]
    display(texts.html(differing_html(evals, differing)))
    intervals = ": see how wide the intervals are" if len(own) >= LEAST_PAIRS else ""
    conclusion = Markup(
        "<p>From {} you can't tell how good a reader you are{}. The pairs that differ tell more. "
        "Read each with the stored evidence and decide: did you miss it, is the stored label "
        "wrong, or does the guide leave the case open?</p>"
        "<p>Your labels stay in your log. All figures below use the stored ones.</p>"
    )
    display(texts.html(conclusion.format(how_many(len(own), "pair"), intervals)))


def beyond_chance(first: list[int], second: list[int], grades: tuple[int, ...]) -> float:
    """Return AC1 of two readings over all `grades` that a label may have (Gwet 2008).

    None of our libraries has it.
    """
    equal = np.mean(np.equal(first, second))
    shares = np.array([np.mean([*np.equal(first, g), *np.equal(second, g)]) for g in grades])
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
    if not differ:
        return Markup("<p>No pair differs.</p>")
    items = Markup("")
    for label, own in sorted(differ, key=lambda pair: -abs(pair[0].relevance - pair[1]))[
        :DIFFERING
    ]:
        quotes = [Markup("<blockquote>{}</blockquote>").format(quote) for quote in label.evidence]
        items += Markup("<li><b>{}</b><br>{}: stored {}, yours {}<p>{}</p>{}</li>").format(
            evals.queries[label.query_id].query,
            evals.documents[label.doc_id].title or label.doc_id,
            *(label.relevance, own),
            "Stored evidence:" if quotes else "No evidence is stored with this grade.",
            Markup("").join(quotes),
        )
    page = Markup("<p><b>{} with different grades, furthest first</b></p><ol>{}</ol>")
    return page.format(how_many(len(differ), "pair"), items)
