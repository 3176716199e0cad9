"""How far a learner is: what the checks wrote down, held against the saved copies.

A check that ran on other code than the file holds says nothing of the file: that is told. `run`
runs the copies first, for whoever collects them, in a folder of its own.
"""

import shutil
from datetime import datetime
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import NamedTuple

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from ..measure import evalset
from . import LearnError, copies, exercises, record
from .exercises import Exercise, checks_called, exercises_of, grading, is_code
from .record import RECORD, CheckRun

LIMIT = 60  # seconds for a cell
WIDTH = 26  # of a title
NO_FAULT = {"NotStarted", "NotImplementedError", "KeyboardInterrupt"}
OTHER_CODE = "checked with other code than the file holds: save it, then run its check"


def progress_report(
    folder: Path,
    run: bool = False,
    limit: float = LIMIT,
    notebooks: Path = exercises.LESSONS,
    learn: Path = copies.LEARN,
) -> str:
    """Return the report on the copies in `learn`; `run` runs them first, on the set in `folder`.

    In place of the workbook's set stands the learner's own. Raises LearnError where there are no
    copies, or names all that cannot be read.
    """
    evals = learn / "evals" if folder == evalset.DEFAULT else folder
    sources = exercises.read_lessons(notebooks)
    saved = [n for n, s in sources.items() if exercises_of(n, s) and (learn / n).exists()]
    if not saved:
        raise LearnError(f"no copies in {learn.name}/ yet; make learn writes them")
    done, stopped = read_copies(learn, saved), []
    if run:
        kept = record.TAKEN, record.EIGHT
        marks = {name: own for name, own in done.runs.items() if name.startswith(kept)}
        done, stopped = run_copies(learn, saved, evals, limit)
        done.runs.update(marks)  # which a run does not set again
    newest = datetime.fromtimestamp(max((learn / name).stat().st_mtime for name in saved))
    head = f"read from the files in {learn.name}/, last saved {newest:%d %b %H:%M}\n"
    return "\n".join([head, *eight_questions(done.runs), *report_on(sources, done), *stopped])


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


def run_copies(
    folder: Path, names: list[str], evals: Path, limit: float
) -> tuple[Copies, list[str]]:
    """Run the copies on a set; return what they hold then, and a line for each that ended early.

    They run in a folder beside theirs, where relative paths mean the same: of the learner's files
    only the record grows.
    """
    place = {"dir": folder.parent, "prefix": f"{folder.name}-", "suffix": ".part"}
    with TemporaryDirectory(**place) as scratch:
        ran, evals = Path(scratch), evals.resolve()
        shutil.copytree(folder, ran, dirs_exist_ok=True)
        (ran / RECORD).write_text("")
        if evals.is_relative_to(folder.resolve()):  # a learner's own set is copied along
            evals = ran / evals.relative_to(folder.resolve())
        stopped = [run_copy(ran / name, evals, limit) for name in names]
        with (folder / RECORD).open("ab", buffering=0) as file:
            file.write((ran / RECORD).read_bytes())
        return read_copies(ran, names), [*filter(None, stopped)]


def run_copy(path: Path, evals: Path, limit: float = LIMIT) -> str:
    """Run all cells of a copy and save it with what they show; errors do not end the run.

    Return why it ended early: a cell that goes on when interrupted, or that ends Python.
    """
    from . import workbook  # takes a second to import

    notebook = exercises.read_notebook(path)
    client = workbook.notebook_client(
        notebook,
        allow_errors=True,
        timeout=limit,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "KeyboardInterrupt"},
        raise_on_iopub_timeout=True,  # where the interrupt is not heard
    )
    places = {"cwd": str(path.parent), "env": workbook.environment(evals)}
    silent = {"stdout": DEVNULL, "stderr": DEVNULL}  # of the kernel itself
    try:
        client.execute(cleanup_kc=True, **places, **silent)
    except (CellTimeoutError, DeadKernelError) as error:
        return f"{path.name}: {str(error).splitlines()[0]}"
    finally:
        nbformat.write(notebook, path)
    return ""


def report_on(sources: dict[str, nbformat.NotebookNode], saved: Copies) -> list[str]:
    """Return a line for each exercise of the lessons, and which one comes next.

    What goes beyond the week follows, under one heading.
    """
    lines, beyond, remaining = [], [], []
    for name, source in sources.items():
        own = exercises_of(name, source)
        told = [status_of(exercise, source.cells[exercise.check], saved) for exercise in own]
        rows = [(exercise, *status) for exercise, status in zip(own, told, strict=True)]
        if exercises.is_further(name):
            beyond += [_line(*row) for row in rows]
        else:
            title = source.cells[0].source.splitlines()[0].lstrip("# ")
            done = [exercise.minutes for exercise, status, _ in rows if status == "done"]
            minutes = f"{sum(done)} of {sum(row[0].minutes for row in rows)} minutes"
            lines.append(f"{title}: {len(done)} of {len(rows)} done, {minutes}")
            lines += [*(_line(*row) for row in rows), ""]
        remaining += [(name, exercise) for exercise, status, _ in rows if status != "done"]
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
