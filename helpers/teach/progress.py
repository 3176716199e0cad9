"""How far a learner is: what the checks wrote down, held against the saved copies.

A check that ran on other code than the file holds says nothing of the file: that is told.
"""

from collections import Counter
from datetime import datetime
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import nbformat

from ..measure.text import how_many
from . import LearnError, copies, exercises, record
from .exercises import Exercise, checks_called, exercises_of, grading, is_code
from .record import CheckRun

WIDTH = 26  # of a title
NO_FAULT = {"NotStarted", "NotImplementedError", "KeyboardInterrupt"}
OTHER_CODE = "checked with other code than the file holds: save it, then run its check"
WEEK_DONE = """\
That was the week: every exercise is done. You have a baseline, you know how sure it is, and you
know where it fails. Well done.

What's beyond:
  your own documents  notebooks/your_own_documents.md: half an hour to a first number
  another system      make compare RUN=path/to/run.trec, explained in notebooks/comparing.md
  further notebooks   notebooks/further/README.md: """
CLASS_ROW = "{:<20}  {:<9}  {:<22}  {}"
CLASS_HEAD = CLASS_ROW.format("learner", "done", "wrong", "stuck longest, by wrong answers")


def progress_report(
    notebooks: Path = exercises.LESSONS, learn: Path = copies.LEARN, of_class: Path | None = None
) -> str:
    """Return the report on the copies in `learn`, or on those of a class.

    Raises LearnError where there are no copies, or names all that cannot be read.
    """
    sources = exercises.read_lessons(notebooks)
    if of_class:
        return class_report(sources, of_class)
    saved = saved_copies(sources, learn)
    done = read_copies(learn, saved)
    newest = datetime.fromtimestamp(max((learn / name).stat().st_mtime for name in saved))
    head = f"read from the files in {learn.name}/, last saved {newest:%d %b %H:%M}\n"
    return "\n".join([head, *eight_questions(done.runs), *report_on(sources, done)])


def saved_copies(sources: dict, folder: Path) -> list[str]:
    """Return the lessons with exercises that have a copy in a folder. Raises LearnError: none."""
    saved = [n for n, s in sources.items() if exercises_of(n, s) and (folder / n).exists()]
    if not saved:
        raise LearnError(f"no copies in {folder.name}/ yet; make learn writes them")
    return saved


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


class Row(NamedTuple):
    """What is known of one exercise in a copy."""

    lesson: str  # its file
    exercise: Exercise
    status: str
    words: str  # after the status
    wrong: int  # different wrong answers so far

    @property
    def name(self) -> str:
        """Return number and title, such as B3 fixed-size chunks; of a quick test its session."""
        letter, title = exercises.session_letter(self.lesson), self.exercise.title
        return f"{self.exercise.number} {title}" if self.exercise.number else f"{title} {letter}"


def rows_of(name: str, source: nbformat.NotebookNode, saved: Copies) -> list[Row]:
    """Return a row for each exercise of a lesson."""
    rows = []
    for exercise in exercises_of(name, source):
        check = source.cells[exercise.check]
        runs = [run for called in checks_called(check) for run in saved.runs.get(called, [])]
        wrong = len({run.cell for run in runs if run.result == "wrong"})
        rows.append(Row(name, exercise, *status_of(exercise, check, saved), wrong))
    return rows


def report_on(sources: dict[str, nbformat.NotebookNode], saved: Copies) -> list[str]:
    """Return a line for each exercise of the lessons, and which one comes next.

    What goes beyond the week follows, under one heading.
    """
    lines, beyond, remaining = [], [], []
    for name, source in sources.items():
        every = rows_of(name, source, saved)
        beyond += [_line(row) for row in every if row.exercise.further]
        if not exercises.is_further(name):
            rows = [row for row in every if not row.exercise.further]
            title = source.cells[0].source.splitlines()[0].lstrip("# ")
            done = [row.exercise.minutes for row in rows if row.status == "done"]
            minutes = f"{sum(done)} of {sum(row.exercise.minutes for row in rows)} minutes"
            lines.append(f"{title}: {len(done)} of {len(rows)} done, {minutes}")
            lines += [*map(_line, rows), ""]
        remaining += [row for row in every if row.status != "done"]
    if beyond:
        lines += ["Going further, not in the minutes of the week", *beyond, ""]
    remaining.sort(key=lambda row: row.exercise.further)
    if not remaining:
        return [*lines, f"{WEEK_DONE}every exercise there is done, too"]
    row = remaining[0]
    place = f"{row.name} ({row.exercise.minutes} minutes) in {row.lesson}"
    if row.exercise.further:
        return [*lines, f"{WEEK_DONE}{len(remaining)} open; next there: {place}"]
    return [*lines, f"next: {place}"]


def class_report(sources: dict[str, nbformat.NotebookNode], folder: Path) -> str:
    """Return a table of the copies in the folders of learners; no code of theirs runs.

    A learner's folder is a `learn/` or has one. Stuck longest is the exercise with the most
    different wrong answers. Raises LearnError where there is no folder.
    """
    week = {name: source for name, source in sources.items() if not exercises.is_further(name)}
    lines, problems, stuck = [CLASS_HEAD], [], Counter()
    learners = [path for path in sorted(folder.glob("[!.]*")) if path.is_dir()]
    if not learners:
        raise LearnError(f"{folder}: no folders of learners in it")
    for own in learners:
        learn = own / "learn" if (own / "learn").is_dir() else own
        try:
            copied = read_copies(learn, saved_copies(week, learn))
        except (ValueError, OSError) as error:
            problems.append(f"{own.name}: {error}")
            continue
        every = [row for name, source in week.items() for row in rows_of(name, source, copied)]
        rows = [row for row in every if not row.exercise.further]
        lines.append(_of_learner(own.name, rows))
        stuck.update({row.name: row.wrong for row in rows})
    most = [f"{name} ({how_many(n, 'wrong answer')})" for name, n in stuck.most_common(3) if n]
    lines += ["", f"most wrong answers of all: {', '.join(most) or 'none'}"]
    return "\n".join([*lines, *(f"not read: {problem}" for problem in problems)])


def _of_learner(name: str, rows: list[Row]) -> str:
    done = f"{sum(row.status == 'done' for row in rows)} of {len(rows)}"
    wrong = ", ".join(row.exercise.number or row.name for row in rows if row.status == "wrong")
    most = max(rows, key=lambda row: row.wrong)
    stuck = f"{most.name}, {how_many(most.wrong, 'wrong answer')}" if most.wrong else "-"
    return CLASS_ROW.format(name, done, wrong or "-", stuck)


def eight_questions(runs: dict[str, list[CheckRun]]) -> list[str]:
    """Return a line on the questions of before and after the week, none where none is answered."""
    before, after = (runs.get(f"{record.EIGHT}{when}") for when in ("before", "after"))
    words = after[0].words if after else "answered before the week, not yet after it"
    return [f"Eight questions: {words}\n"] if before or after else []


def _line(row: Row) -> str:
    exercise, status, words = row.exercise, row.status, row.words
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
