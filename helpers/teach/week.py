"""The week as one page to keep and one picture to post, written beside a learner's copy."""

import base64
import textwrap
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from ..measure import files, inert, report, results, systems
from ..measure.evalset import EvalSet
from ..measure.inert import Markup
from ..measure.installation import TEMPLATES
from . import eight_questions, figures, practice, predictions, record
from .check.passed import passed_checks

PAGE, PICTURE = "your_week.html", "your_week.png"
LABEL = 36  # letters over a bar, beside its count


class Bar(NamedTuple):
    """`right` of `n`; a pale bar is how the next one was before."""

    words: str
    right: int
    n: int
    is_pale: bool = False
    told: str = ""  # of it on the page


def save_week(
    evals: EvalSet, found: dict, causes: Callable, cards: dict[str, Markup], next_step: str
) -> None:
    """Write the page and the picture beside a learner's copy, and show the picture.

    `found` is results.json, `causes` the learner's function of session C, `cards` its cards as
    HTML by query, `next_step` a line on what the learner would build next.
    """
    if not Path(record.RECORD).exists():
        print(f"your copy writes {PAGE} and {PICTURE} here")
        return
    failure = _explained(evals, causes, cards)  # runs the learner's code, so before any file
    ranges = predictions.ranges_met(evals.folder)
    run = next(iter(results.confirmed(found["compared_dev"])), None)
    half = "test" if "test" in found["summary"] else "dev"
    summary = found["summary"][half]
    bars = counts_of_week(evals, summary, run, [*ranges.values()])
    figure, alt = picture(bars, evals.name)
    record.save_figure(figure, PICTURE)
    figures.display_figure(figure, alt)
    body = inert.template(TEMPLATES / "week.jinja").render(
        n_documents=len(evals.documents),
        set_name=evals.name,
        day=date.today().isoformat(),
        alt=alt,
        image=base64.b64encode(Path(PICTURE).read_bytes()).decode(),
        bars=bars,
        run=run,
        half=half,
        summary=summary,
        ranges=ranges,
        failure=failure,
        next_step=next_step,
    )
    files.write(Path(PAGE), report.page_of("Your week", inert.clean(body).replace("h4>", "h3>")))
    print(f"{PAGE} is written")


def counts_of_week(
    evals: EvalSet, summary: dict, run: dict | None, ranges: list[dict]
) -> dict[str, Bar]:
    """Return what can be counted of the week, by name; what wasn't done is missing.

    `summary` is that of a half in results.json, `run` the one that test confirms, `ranges` met
    their truth.
    """
    n, bars = summary["n"], {}
    found = round(n * summary["measures"]["hit@5"])
    bars["base"] = Bar("BM25 alone", found, n, is_pale=bool(run))
    if run:
        name = _in_words(evals, run["name"])
        bars["best"] = Bar(name, round(n * run["halves"]["test"]["means"]["hit@5"]), n)
    if pairs := practice.readings(evals):
        equal = sum(stored == yours for stored, yours in pairs)
        kappa = practice.kappa_text(*zip(*pairs, strict=True), evals.grades)
        bars["labels"] = Bar("my labels equal to the stored ones", equal, len(pairs), told=kappa)
    if ranges:
        held, words = sum(entry["held"] for entry in ranges), predictions.count_in_words(ranges)
        bars["ranges"] = Bar("my 80 % ranges that held", held, len(ranges), told=words)
    for when, right in eight_questions.counts().items():
        bars[when] = Bar(f"eight questions, {when} the week", right, 8, is_pale=when == "before")
    return bars


def _in_words(evals: EvalSet, name: str) -> str:
    """Return a run's name; of a merged one, "BM25 with a small embedding model"."""
    if not name.startswith(systems.MERGED):
        return name
    system = name.removeprefix(systems.MERGED)
    card = systems.read_cards(evals).get(system, {})
    return f"BM25 with {card.get('in_short') or system}"


def _explained(evals: EvalSet, causes: Callable, cards: dict[str, Markup]) -> dict:
    """Return question, cause, evidence, card and note of the first failure named, {} for none."""
    given = causes() if "causes" in passed_checks() else {}
    for query_id, card in cards.items():
        if isinstance(given.get(query_id), tuple | list):  # the check passes over None and ...
            cause, why, *_ = given[query_id]
            note = figures.with_code(results.read_notes(evals.folder).get(query_id, ""))
            question = evals.queries[query_id].query
            told = {"question": question, "cause": cause, "evidence": why}
            return told | {"card": card, "note": note}
    return {}


def picture(bars: dict[str, Bar], name: str) -> tuple[Any, str]:
    """Return a figure with a bar for each count, and the same in words; `name` is the set's."""
    base, best = bars["base"], bars.get("best")
    title = f"A useful page in the first five for {base.right} of {base.n} questions"
    if best:
        title = f"A useful page in the first five for {best.right} of {base.n} questions; "
        title += f"BM25 alone: {base.right}"
    ax = figures.axes(1.3 + 0.5 * len(bars))
    for y, bar in enumerate(bars.values()):
        ax.barh(y, 1, 0.36, color=figures.BAND)
        colour = figures.PALE if bar.is_pale else figures.DARK
        ax.barh(y, bar.right / bar.n, 0.36, color=colour)
        ax.text(0, y - 0.25, textwrap.shorten(bar.words, LABEL, placeholder=" …"))
        ax.text(1, y - 0.25, f"{bar.right} of {bar.n}", ha="right", weight="bold")
    ax.set(xlim=(0, 1), ylim=(len(bars) - 0.7, -0.8), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_title(textwrap.fill(title, 44), weight="bold")
    ax.set_xlabel(f"My week of measuring retrieval, on {inert.visible(name)}", size=11)
    counts = "; ".join(f"{bar.words} {bar.right} of {bar.n}" for bar in bars.values())
    return ax.figure, f"{title}. {counts}."
