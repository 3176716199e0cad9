"""How far a learner is: what the checks wrote down, held against the saved copies.

A check that ran on other code than the file holds says nothing of the file: that is told.
"""

from datetime import datetime
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import nbformat

from . import LearnError, copies, exercises, record
from .exercises import Exercise, checks_called, exercises_of, grading, is_code
from .record import CheckRun

WIDTH = 26  # of a title
NO_FAULT = {"NotStarted", "NotImplementedError", "KeyboardInterrupt"}
OTHER_CODE = "checked with other code than the file holds: save it, then run its check"


def progress_report(notebooks: Path = exercises.LESSONS, learn: Path = copies.LEARN) -> str:
    """Return the report on the copies in `learn`.

    Raises LearnError where there are no copies, or names all that cannot be read.
    """
    sources = exercises.read_lessons(notebooks)
    saved = [n for n, s in sources.items() if exercises_of(n, s) and (learn / n).exists()]
    if not saved:
        raise LearnError(f"no copies in {learn.name}/ yet; make learn writes them")
    done = read_copies(learn, saved)
    newest = datetime.fromtimestamp(max((learn / name).stat().st_mtime for name in saved))
    head = f"read from the files in {learn.name}/, last saved {newest:%d %b %H:%M}\n"
    return "\n".join([head, *eight_questions(done.runs), *report_on(sources, done)])


class Copies(NamedTuple):
    """The cells of a folder's copies, and what their checks wrote down."""

    graded: dict[str, nbformat.NotebookNode]  # cells of solutions and checks, by grade_id
    hashes: set[str]  # of all code cells
    runs: dict[str, list[CheckRun]]  # by check


def read_copies(folder: Path, names: list[str]) -> Copies:
    """Return what the copies with these names hold. Raises LearnError: all that cannot be read."""
    cells, problems = [], []
    for name in names:
        try:
            cells += filter(is_code, exercises.read_notebook(folder / name).cells)
        except LearnError as error:
            problems.append(str(error))
    if problems:
        raise LearnError("\n".join(problems))
    graded = {str(grading(cell).get("grade_id")): cell for cell in cells}
    hashes = {record.cell_hash(cell.source) for cell in cells}
    return Copies(graded, hashes, record.check_runs(folder))


def report_on(sources: dict[str, nbformat.NotebookNode], saved: Copies) -> list[str]:
    """Return a line for each exercise of the lessons, and which one comes next.

    What goes beyond the week follows, under one heading.
    """
    lines, beyond, remaining = [], [], []
    for name, source in sources.items():
        own = exercises_of(name, source)
        told = [status_of(exercise, source.cells[exercise.check], saved) for exercise in own]
        every = [(exercise, *status) for exercise, status in zip(own, told, strict=True)]
        beyond += [_line(*row) for row in every if row[0].further]
        if not exercises.is_further(name):
            rows = [row for row in every if not row[0].further]
            title = source.cells[0].source.splitlines()[0].lstrip("# ")
            done = [exercise.minutes for exercise, status, _ in rows if status == "done"]
            minutes = f"{sum(done)} of {sum(row[0].minutes for row in rows)} minutes"
            lines.append(f"{title}: {len(done)} of {len(rows)} done, {minutes}")
            lines += [*(_line(*row) for row in rows), ""]
        remaining += [(name, exercise) for exercise, status, _ in every if status != "done"]
    if beyond:
        lines += ["Going further, not in the minutes of the week", *beyond, ""]
    if remaining:
        name, exercise = min(remaining, key=lambda pair: pair[1].further)
        label = f"{exercise.number} {exercise.title}".strip()
        return [*lines, f"next: {label} ({exercise.minutes} minutes) in {name}"]
    return [*lines, "every exercise is done"]


def eight_questions(runs: dict[str, list[CheckRun]]) -> list[str]:
    """Return a line on the questions of before and after the week, none where none is answered."""
    before, after = (runs.get(f"{record.EIGHT}{when}") for when in ("before", "after"))
    words = after[0].words if after else "answered before the week, not yet after it"
    return [f"Eight questions: {words}\n"] if before or after else []


def _line(exercise: Exercise, status: str, words: str) -> str:
    mark = "+" if exercise.further else " "
    what = f" {mark}{exercise.number:<3} {exercise.title:<{WIDTH}}  {exercise.minutes:>3} min"
    return f"{what}  {status:<11}  {shorten(words, 100, placeholder=' …')}".rstrip()


def status_of(exercise: Exercise, check, saved: Copies) -> tuple[str, str]:
    """Return (status, words) of an exercise; `check` is the lesson's cell.

    The status is done, wrong, not started, changed, not checked or missing.
    """
    cell = saved.graded.get(exercise.grade_id)
    if cell is None:
        return "missing", "make learn writes copies that are missing, FRESH=1 new ones"
    for name in checks_called(check):
        runs = saved.runs.get(name, [])
        of_file = [run for run in runs if run.cell in saved.hashes]
        result = of_file[-1].result if of_file else "not checked"
        if result == "passed":
            continue  # other code was perhaps tried later, and not kept
        if runs and runs[-1] not in of_file:
            return "changed", OTHER_CODE
        if result.startswith("not ") and "raise NotImplementedError" in cell.source:
            return "not started", ""
        if of_file:
            return result, of_file[-1].words
        error = saved_error(cell) or saved_error(saved.graded.get(grading(check)["grade_id"], {}))
        return ("wrong", f"when it last ran: {error}") if error else (result, "run its check")
    taken = any(f"{record.TAKEN}{name}" in saved.runs for name in checks_called(check))
    return "done", "with the solution" if taken else ""


def saved_error(cell) -> str:
    """Return the error in the saved outputs of a cell, "" for none that stands for a fault."""
    for output in cell.get("outputs", []):
        if output.output_type == "error" and output.ename not in NO_FAULT:
            return f"{output.ename}: {output.evalue}".removesuffix(": ")
    return ""
