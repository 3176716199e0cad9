"""How far a learner is: what the checks wrote down, held against the saved copies.

A check that ran on other code than the file holds says nothing of the file: that is told. `run`
runs the copies first, for whoever collects them, in a folder of its own.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import NamedTuple

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from . import LearnError, copies, exercises, record
from .exercises import Exercise, checks_called, exercises_of, is_code
from .record import RECORD, CheckRun

LIMIT = 60  # seconds for a cell
NO_FAULT = {"NotStarted", "NotImplementedError", "KeyboardInterrupt"}
OTHER_CODE = "checked with other code than the file holds: save it, then run its check"
NO_RECORD = "no check of {} is in {}: run its checks again, or make progress RUN=1"


class Row(NamedTuple):
    """What is reported of one exercise."""

    exercise: Exercise
    status: str  # done, wrong, not started, changed, not checked, broken, missing
    words: str


def progress_report(
    evals: Path,
    notebooks: Path = exercises.LESSONS,
    folder: Path = copies.LEARN,
    run: bool = False,
    limit: float = LIMIT,
) -> str:
    """Return the report on the copies in `folder`; `run` runs them first, on the set in `evals`.

    Raises LearnError where there are none.
    """
    sources = exercises.lessons(notebooks)
    saved = [folder / name for name in sources if (folder / name).exists()]
    if not saved:
        raise LearnError(f"no copies in {folder.name}/ yet; make learn writes them")
    with suppress(OSError):  # copies made earlier have none, and a check writes only where it is
        (folder / RECORD).touch()
    newest = datetime.fromtimestamp(max(path.stat().st_mtime for path in saved))
    head = f"read from the files in {folder.name}/, last saved {newest:%d %b %H:%M}\n\n"
    if not run:
        return head + report_on(sources, read_copies(folder, sources))
    # beside the copies, where relative paths mean the same: nothing of the learner's is touched
    place = {"dir": folder.parent, "prefix": f"{folder.name}-", "suffix": ".part"}
    with TemporaryDirectory(**place) as scratch:
        ran = Path(scratch)
        shutil.copytree(folder, ran, dirs_exist_ok=True)
        (ran / RECORD).write_text("")
        own = evals.resolve().is_relative_to(folder.resolve())
        used = ran / evals.resolve().relative_to(folder.resolve()) if own else evals
        held = [n for n, s in sources.items() if (ran / n).exists() and exercises_of(n, s)]
        ended = [run_copy(ran / name, used, limit) for name in held]
        with (folder / RECORD).open("ab", buffering=0) as file:
            file.write((ran / RECORD).read_bytes())
        report = report_on(sources, read_copies(ran, sources))
    return head + "\n".join([report, *filter(None, ended)])


def run_copy(path: Path, evals: Path, limit: float = LIMIT) -> str:
    """Run all cells of a copy and save it with what they show; errors do not end the run.

    Return why it ended early: a cell that goes on when interrupted, or that ends Python.
    """
    try:
        notebook = exercises.read_notebook(path)
    except LearnError:
        return ""  # which the report says
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[])),  # this Python
        allow_errors=True,
        timeout=limit,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": "KeyboardInterrupt"},
        raise_on_iopub_timeout=True,  # where the interrupt is not heard
        record_timing=False,
        shutdown_kernel="immediate",
        extra_arguments=["--HistoryManager.enabled=False"],
    )
    environment = {**os.environ, "EVALS": str(evals), "PYTHONHASHSEED": "0"}
    silent = {"stdout": DEVNULL, "stderr": DEVNULL}  # of the kernel itself
    try:
        client.execute(cwd=str(path.parent), env=environment, cleanup_kc=True, **silent)
    except (CellTimeoutError, DeadKernelError) as error:
        return f"{path.name}: {str(error).splitlines()[0]}"
    finally:
        nbformat.write(notebook, path)
    return ""


# Reading what is there.


class Copies(NamedTuple):
    """The copies of a folder and what their checks wrote down."""

    notebooks: dict[str, nbformat.NotebookNode]
    unreadable: dict[str, str]  # why a copy cannot be read, by its name
    graded: dict[str, nbformat.NotebookNode]  # cells of solutions and checks, by grade_id
    hashes: set[str]  # of all code cells
    runs: dict[str, list[CheckRun]]  # by check


def read_copies(folder: Path, names: Iterable[str]) -> Copies:
    """Return the copies of these lessons that are in a folder."""
    notebooks, unreadable = {}, {}
    for name in names:
        try:
            if (folder / name).exists():
                notebooks[name] = exercises.read_notebook(folder / name)
        except LearnError as error:
            unreadable[name] = str(error)
    cells = [cell for notebook in notebooks.values() for cell in notebook.cells if is_code(cell)]
    graded = {exercises.grading(cell).get("grade_id"): cell for cell in cells}
    hashes = {record.cell_hash(cell.source) for cell in cells}
    return Copies(notebooks, unreadable, graded, hashes, record.check_runs(folder))


def rows_of(name: str, source, saved: Copies) -> list[Row]:
    """Return a row for each exercise of one lesson, whose committed form is `source`."""
    rows = []
    for exercise in exercises_of(name, source):
        if exercise.grade_id in saved.graded:
            status, words = status_of(exercise, source.cells[exercise.check], saved)
        elif name in saved.unreadable:
            status, words = "broken", saved.unreadable[name]
        elif name in saved.notebooks:
            status, words = "missing", "its cell is gone; make learn FRESH=1 writes new copies"
        else:
            status, words = "missing", "no copy yet; make learn writes it"
        rows.append(Row(exercise, status, words))
    return rows


def status_of(exercise: Exercise, check, saved: Copies) -> tuple[str, str]:
    """Return status and words of an exercise whose cell is there; `check` is the lesson's cell."""
    cell = saved.graded[exercise.grade_id]
    for name in checks_called(check):
        status, words = result_of(saved.runs.get(name, []), saved.hashes)
        if status == "done":
            continue
        if status.startswith("not ") and "raise NotImplementedError" in cell.source:
            return "not started", ""
        if status == "not checked":
            both = cell, saved.graded.get(exercises.grading(check)["grade_id"], {})
            errors = [error for part in both for error in saved_errors(part)]
            return ("wrong", f"when it last ran: {errors[0]}") if errors else (status, words)
        return status, words
    return "done", ""


def result_of(runs: list[CheckRun], hashes: set[str]) -> tuple[str, str]:
    """Return status and words of a check from its runs and the code that is in the files."""
    of_file = [run for run in runs if run.cell in hashes]
    if of_file and of_file[-1].result == "passed":
        return "done", ""  # other code was perhaps tried later, and not kept
    if runs and runs[-1] not in of_file:
        return "changed", OTHER_CODE
    return of_file[-1][1:] if of_file else ("not checked", "run its check")


def saved_errors(cell) -> list[str]:
    """Return the errors in the saved outputs of a cell, without those that stand for no fault."""
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    faults = [error for error in errors if error.ename not in NO_FAULT]
    return [_shortened(f"{e.ename}: {e.evalue}".removesuffix(": ")) for e in faults]


# Reporting it.


def report_on(sources: dict[str, nbformat.NotebookNode], saved: Copies) -> str:
    """Return a line for each exercise of the lessons, and which one comes next.

    What goes beyond the week follows, under one heading.
    """
    lines, beyond, following, stopped, older = [], [], {}, False, []
    for name, source in sources.items():
        rows = rows_of(name, source, saved)
        cells = stopped_cells(saved.notebooks[name]) if name in saved.notebooks else []
        stopped = stopped or bool(cells)
        if exercises.is_further(name):
            beyond += [*_row_lines(rows), *cells]
        else:
            lines += [_headline(source, rows), *_row_lines(rows), *cells, ""]
        for exercise in (row.exercise for row in rows if row.status != "done"):
            label = f"{exercise.number} {exercise.title}".strip()
            words = f"{label} ({exercise.minutes} minutes) in {name}"
            following.setdefault(exercise.further, words)
        checks = {c for row in rows for c in checks_called(source.cells[row.exercise.check])}
        if "not checked" in {row.status for row in rows} and not checks & {*saved.runs}:
            older.append(NO_RECORD.format(name, RECORD))
    lines += ["Going further, not in the minutes of the week", *beyond, ""] if beyond else []
    come = following.get(False) or following.get(True)
    done = "every exercise is done" if stopped else "everything is done"
    return "\n".join([*lines, f"next: {come}" if come else done, *older])


def stopped_cells(notebook) -> list[str]:
    """Return a line for each cell beside the exercises whose saved output ends in an error."""
    cells = [cell for cell in notebook.cells if is_code(cell) and not exercises.grading(cell)]
    where = "      cell {} stopped with an error when it last ran: {}"
    return [where.format(cell.id, error) for cell in cells for error in saved_errors(cell)]


def _headline(source, rows: list[Row]) -> str:
    """Return the title of a session and how much of its core path is done."""
    title = source.cells[0].source.splitlines()[0].lstrip("# ")
    core = [row for row in rows if not row.exercise.further]
    done = [row.exercise.minutes for row in core if row.status == "done"]
    planned = sum(row.exercise.minutes for row in core)
    return f"{title}: {len(done)} of {len(core)} done, {sum(done)} of {planned} minutes"


def _row_lines(rows: list[Row]) -> list[str]:
    """Return a line for each exercise."""
    width, lines = max((len(row.exercise.title) for row in rows), default=0), []
    for e, status, words in rows:
        state = f"{status:<11}  {_shortened(words)}".rstrip()
        further = "+" if e.further else " "
        lines.append(f" {further}{e.number:<3} {e.title:<{width}}  {e.minutes:>3} min  {state}")
    return lines


def _shortened(words: str) -> str:
    return shorten(words, 100, placeholder=" …")
