"""Twenty pairs for everybody to judge, and how a learner's labels compare with the stored ones.

What is judged here stays in a log of its own and never becomes a label.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.colors import ListedColormap

from ..label import labelling
from ..measure import evalset, inert, installation, stats
from ..measure.evalset import EvalSet, Judgment
from ..measure.inert import Markup
from ..measure.text import Pair, how_many
from . import figures, record

PAIRS, ZEROS, OF_A_QUERY = 20, 8, 3  # pairs: in all, of grade 0, of one query
LEAST_PAIRS = 10  # pairs from which an interval is shown; of two equal ones it would have no width
DIFFERING = 5  # pairs that are shown
PICTURE = "session_a.png"
NOTHING = "no labels of yours yet, so there is nothing to compare"
COMPARE_NEXT = Markup(
    "<p><b>Finish</b> ends here. Then run the next cell: it compares your labels with the stored "
    "ones.</p>"
)


def judge(evals: EvalSet, pairs: list[Pair]) -> None:
    """Show pairs in the panel where widgets live; else say that stored labels are used.

    The workbook's own set is never written to.
    """
    if pairs and installation.is_live() and evals.folder.resolve() != evalset.DEFAULT:
        from ..label import panel  # its widgets take time to import

        def finished(evals: EvalSet) -> str:
            done = f"{len(_own_grades(evals, pairs))} of {len(pairs)} judged."
            return f"{done} Run the next cell to compare them with the stored labels."

        task = panel.Task(labelling.PRACTICE, finished, COMPARE_NEXT)
        panel.Panel(evals, pairs, 0, task, "blind").show()
    else:
        wait = f"{how_many(len(pairs), 'pair')} wait for you in `make lab`"
        print(f"{wait}; everything below uses the stored labels")


def first_three(evals: EvalSet) -> list[Pair]:
    """Return a pair of grade 0, 1 and the highest, each with a short page and a plain question.

    Plain are questions of the kind mismatch, in everyday words; zeros are hard negatives first.
    """
    hard = _hard_negatives(evals)

    def place(label: Judgment) -> tuple[bool, bool, int]:
        is_plain = evals.queries[label.query_id].kind == "mismatch"
        is_near = label.relevance > 0 or label[:2] in hard
        return not is_plain, not is_near, len(evals.documents[label.doc_id].text)

    labels = sorted(_stored(evals).values(), key=place)
    chosen: list[Pair] = []
    for grade in sorted({0, 1, evals.grades[-1]}):
        taken = {id_ for pair in chosen for id_ in pair}
        of_grade = (label[:2] for label in labels if label.relevance == grade)
        chosen += [pair for pair in of_grade if taken.isdisjoint(pair)][:1]
    return chosen


def pairs_to_practise(evals: EvalSet) -> list[Pair]:
    """Return the pairs to judge: what the log holds already, then others by rule and seed.

    Labels of dev queries in the set's language: eight zeros, and as many of each other grade. First
    come hard negatives and shorter documents, each with a query and document of its own: twenty are
    read in a quarter of an hour. What a set lacks is made up for, by up to three of a query.
    """
    first, own = first_three(evals), _own_grades(evals)
    stored = sorted(label for pair, label in _stored(evals).items() if pair not in first)
    hard = _hard_negatives(evals)
    lengths = {doc_id: len(document.text) for doc_id, document in evals.documents.items()}
    third = sorted(lengths.values())[(len(lengths) - 1) // 3]

    def worth_reading(label: Judgment) -> tuple[bool, bool]:
        return label.relevance > 0 or label[:2] in hard, lengths[label.doc_id] <= third

    shuffled = [stored[n] for n in np.random.default_rng(stats.SEED).permutation(len(stored))]
    best_first = sorted(shuffled, key=worth_reading, reverse=True)
    best = [label for label in best_first if all(worth_reading(label))]
    rest, more = divmod(PAIRS - ZEROS, len(evals.grades) - 1)
    quota = {grade: rest + 1 if grade <= more else rest for grade in evals.grades}
    quota[0] = ZEROS
    chosen = [label for label in stored if label[:2] in own]
    chosen = _with_more(chosen, best, quota, 1)
    chosen = _with_more(chosen, best_first, quota, OF_A_QUERY)
    chosen = _with_more(chosen, best_first, dict.fromkeys(quota, PAIRS), OF_A_QUERY)
    return sorted(label[:2] for label in chosen)


def _hard_negatives(evals: EvalSet) -> set[Pair]:
    """Return the pairs that negatives.jsonl calls hard."""
    rows = evalset.read_extra(evals, "negatives.jsonl")
    return {(row["query_id"], doc_id) for row in rows for doc_id in row["hard"]}


def _with_more(
    chosen: list[Judgment], labels: list[Judgment], quota: dict[int, int], most: int
) -> list[Judgment]:
    """Return what is chosen with more of `labels`, `quota` of each grade and `most` of a query.

    Where one of a query is the most, a document comes once, too.
    """
    chosen = [*chosen]
    for label in labels:
        ids = [id_ for other in chosen for id_ in other[:2]]
        grades = Counter(other.relevance for other in chosen)
        if len(chosen) >= PAIRS or grades[label.relevance] >= quota[label.relevance]:
            continue
        if ids.count(label.query_id) >= most or (most == 1 and label.doc_id in ids):
            continue
        if label not in chosen:
            chosen.append(label)
    return chosen


def _stored(evals: EvalSet) -> dict[Pair, Judgment]:
    """Return the stored labels of dev queries in the set's own language."""
    dev = {q.query_id for q in evals.queries.values() if q.split == "dev" and not q.language}
    return {label[:2]: label for label in evals.judgments if label.query_id in dev}


def _own_grades(evals: EvalSet, pairs: Iterable[Pair] = ()) -> dict[Pair, int]:
    """Return {pair: grade} of the learner's log, of `pairs`, else of all but the first three."""
    latest = labelling.latest(labelling.entries(evals, labelling.PRACTICE))
    wanted = {*pairs} or _stored(evals).keys() - first_three(evals)
    return {pair: latest[pair].relevance for pair in sorted(latest.keys() & wanted)}


# What was judged.


def show_three(evals: EvalSet) -> None:
    """Show which of the first three labels differ from the stored ones, and why."""
    own = _own_grades(evals, first_three(evals))
    display(inert.html(differing_html(evals, own) if own else NOTHING))


def show_agreement(evals: EvalSet) -> None:
    """Show kappa, AC1, a picture of both readings, and five pairs that differ with the evidence."""
    pairs = readings(evals)
    if not pairs:
        print(NOTHING)
        return
    print(f"{len(pairs)} of {len(pairs_to_practise(evals))} judged")
    stored, yours = zip(*pairs, strict=True)
    print(f"Cohen's kappa: {kappa_text(stored, yours, evals.grades)}")
    print(f"Gwet's AC1: {gwet_ac1([*stored], [*yours], evals.grades):.2f}")
    figures.display_figure(*agreement_picture(evals))
    display(inert.html(differing_html(evals, _own_grades(evals))))


def readings(evals: EvalSet) -> list[tuple[int, int]]:
    """Return (stored, yours) of each pair that was judged, the first three left out."""
    stored = _stored(evals)
    return [(stored[pair].relevance, grade) for pair, grade in _own_grades(evals).items()]


def agreement_picture(evals: EvalSet, below: str = "") -> tuple[plt.Figure, str]:
    """Return a grid with a mark for each pair, by the stored grade and yours, and it in words.

    Equal ones are dots on the grey diagonal, the others squares.
    """
    pairs, grades = readings(evals), evals.grades
    counts = np.array([[pairs.count((a, b)) for b in grades] for a in grades])
    ax = figures.axes(4.6)
    ax.imshow(np.eye(len(grades)), cmap=ListedColormap(["white", figures.BAND]))
    for (y, x), n in np.ndenumerate(counts):
        side = max(3, ceil(n**0.5))  # marks in a row of a cell
        down, right = np.divmod(np.arange(n), side)
        look = figures.SIDES["good" if x == y else "poor"]
        places = x + (right + 0.5) / side - 0.5, y + (down + 0.5) / side - 0.5
        ax.plot(*places, markersize=30 / side, linestyle="none", **look)
    grid = pd.DataFrame(counts, *([f"{who} {n}" for n in grades] for who in ("stored", "yours")))
    ax.set_xticks(range(len(grades)), grid.columns)
    ax.set_yticks(range(len(grades)), grid.index)
    ax.grid(visible=False)
    title = f"You and the stored labels: {counts.trace()} of {len(pairs)} equal"
    told = f"kappa {kappa_text(*zip(*pairs, strict=True), grades)}"
    ax.set(title=title, xlabel=told + below)
    return ax.figure, " ".join(f"{title}; {told}. {grid.to_string()}".split())


def save_picture(evals: EvalSet, question: str, rank: int) -> None:
    """Write session_a.png beside a learner's copy: their labels, and a question that failed."""
    if not readings(evals):
        print(f"your copy writes {PICTURE} here, once you have labelled some of the twenty pairs")
        return
    asked = f"“{inert.visible(question)}”"
    line = f"The search found no answer to {asked}."
    if rank:
        line = f"The search put the best answer to {asked} at rank {rank}."
    figure, words = agreement_picture(evals, f"\n\n{textwrap.fill(line, figures.LINE)}")
    record.save_figure(figure, PICTURE)
    figures.display_figure(figure, words)


def gwet_ac1(first: list[int], second: list[int], grades: tuple[int, ...]) -> float:
    """Return AC1 of two readings over all `grades` that a label may have (Gwet 2008).

    None of our libraries has it.
    """
    equal = np.mean(np.equal(first, second))
    shares = np.array([np.mean(np.equal([*first, *second], grade)) for grade in grades])
    chance = (shares * (1 - shares)).sum() / (len(grades) - 1)
    return float((equal - chance) / (1 - chance))


def kappa_text(stored: Sequence[int], yours: Sequence[int], grades: tuple[int, ...]) -> str:
    """Return kappa with its 95 % interval over pairs, or why it has none."""
    if 1 in (len({*stored}), len({*yours})):
        return "tells nothing, because all pairs have the same grade in one of the readings"
    value, ends = stats.kappa(stored, yours, grades), stats.kappa_interval(stored, yours, grades)
    if len(yours) < LEAST_PAIRS or not ends:
        why = "too few pairs" if len(yours) < LEAST_PAIRS else "no pair differs"
        return f"{value:.2f} (no interval: {why})"
    return f"{value:.2f} (95 % interval {ends[0]:.2f} to {ends[1]:.2f})"


def differing_html(evals: EvalSet, own: dict[Pair, int]) -> Markup:
    """Return the pairs that differ most, with query, title, both grades and stored evidence."""
    stored = _stored(evals)
    differ = [(stored[p], grade) for p, grade in own.items() if stored[p].relevance != grade]
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
    if not differ:
        return Markup("<p><b>All as they are stored. Well read.</b></p>")
    page = Markup("<p><b>{} with different grades, furthest first</b></p><ol>{}</ol>")
    return page.format(how_many(len(differ), "pair"), items)
