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
from .exercises import Exercise, checks_called, exercises_of, grading, is_code
from .record import RECORD, CheckRun

LIMIT = 60  # seconds for a cell
NO_FAULT = {"NotStarted", "NotImplementedError", "KeyboardInterrupt"}
OTHER_CODE = "checked with other code than the file holds: save it, then run its check"
NO_RECORD = "no check is in {} yet: run the checks of your copies again, or make progress RUN=1"


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
    graded = {str(grading(cell).get("grade_id")): cell for cell in cells}
    hashes = {record.cell_hash(cell.source) for cell in cells}
    return Copies(notebooks, unreadable, graded, hashes, record.check_runs(folder))


def report_on(sources: dict[str, nbformat.NotebookNode], saved: Copies) -> str:
    """Return a line for each exercise of the lessons, and which one comes next.

    What goes beyond the week follows, under one heading.
    """
    lines, beyond, open_exercises, statuses = [], [], [], set()
    for name, source in sources.items():
        rows = [
            (exercise, *status_of(name, exercise, source.cells[exercise.check], saved))
            for exercise in exercises_of(name, source)
        ]
        width = max((len(exercise.title) for exercise, *_ in rows), default=0)
        exercise_lines = [_line(*row, width) for row in rows]
        exercise_lines += stopped_cells(saved.notebooks.get(name))
        if exercises.is_further(name):
            beyond += exercise_lines
        else:
            lines += [_headline(source, rows), *exercise_lines, ""]
        open_exercises += [(name, exercise) for exercise, status, _ in rows if status != "done"]
        statuses |= {status for _, status, _ in rows}
    if beyond:
        lines += ["Going further, not in the minutes of the week", *beyond, ""]
    if open_exercises:
        name, exercise = min(open_exercises, key=lambda pair: pair[1].further)
        label = f"{exercise.number} {exercise.title}".strip()
        lines.append(f"next: {label} ({exercise.minutes} minutes) in {name}")
    else:
        lines.append("every exercise is done")
    if "not checked" in statuses and not saved.runs:
        lines.append(NO_RECORD.format(RECORD))
    return "\n".join(lines)


def _headline(source, rows: list[tuple]) -> str:
    title = source.cells[0].source.splitlines()[0].lstrip("# ")
    done = [exercise.minutes for exercise, status, _ in rows if status == "done"]
    planned = sum(exercise.minutes for exercise, *_ in rows)
    return f"{title}: {len(done)} of {len(rows)} done, {sum(done)} of {planned} minutes"


def _line(exercise: Exercise, status: str, words: str, width: int) -> str:
    mark = "+" if exercise.further else " "
    what = f" {mark}{exercise.number:<3} {exercise.title:<{width}}  {exercise.minutes:>3} min"
    return f"{what}  {status:<11}  {_shortened(words)}".rstrip()


def status_of(name: str, exercise: Exercise, check, saved: Copies) -> tuple[str, str]:
    """Return (status, words) of an exercise of the lesson `name`; `check` is the lesson's cell.

    The status is done, wrong, not started, changed, not checked, broken or missing.
    """
    cell = saved.graded.get(exercise.grade_id)
    if cell is None and name in saved.unreadable:
        return "broken", saved.unreadable[name]
    if cell is None and name in saved.notebooks:
        return "missing", "its cell is gone; make learn FRESH=1 writes new copies"
    if cell is None:
        return "missing", "no copy yet; make learn writes it"
    for called in checks_called(check):
        runs = saved.runs.get(called, [])
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
        check_cell = saved.graded.get(grading(check)["grade_id"])
        errors = saved_errors(cell) + (saved_errors(check_cell) if check_cell else [])
        return ("wrong", f"when it last ran: {errors[0]}") if errors else (result, "run its check")
    return "done", ""


def stopped_cells(notebook) -> list[str]:
    """Return a line for each cell beside the exercises whose saved output ends in an error."""
    cells = [cell for cell in notebook.cells if is_code(cell)] if notebook else []
    line = "      cell {} stopped with an error when it last ran: {}"
    beside = [cell for cell in cells if not grading(cell)]
    return [line.format(cell.id, error) for cell in beside for error in saved_errors(cell)]


def saved_errors(cell) -> list[str]:
    """Return the errors in the saved outputs of a cell, without those that stand for no fault."""
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    faults = [error for error in errors if error.ename not in NO_FAULT]
    return [_shortened(f"{e.ename}: {e.evalue}".removesuffix(": ")) for e in faults]


def _shortened(words: str) -> str:
    return shorten(words, 100, placeholder=" …")
