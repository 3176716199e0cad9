"""How far a learner is: runs the copies, each in a Jupyter kernel, and reports per exercise.

A kernel runs imports, definitions and constants of a copy, its setup cells, its exercises, and the
checks of the committed session. It goes on after errors; a cell that does not end is stopped. Of
all other cells the saved output says whether they stopped with an error.
"""

import ast
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook

from . import LearnError, copies, exercises, unsaved
from .exercises import Exercise, is_code

LIMIT = 10  # seconds for a learner's cell or its check
SLOW = 60  # seconds for a cell with imports
PART, WHOLE, ANSWER, CHECK = "part", "whole", "answer", "check"
PURE = set("set frozenset dict list tuple range sorted float int str len min max sum".split())
DEFINES = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
OPTIONS = [
    "--log-level=50",
    "--HistoryManager.enabled=False",
    "--InteractiveShell.xmode=Plain",
    "--InteractiveShell.colors=nocolor",
    # Jupyter's own exit() ends the kernel a moment later, while another cell runs
    "--IPKernelApp.exec_lines=from sys import exit, exit as quit",
]
SUMMARY = "getattr(__import__('sys').last_value, 'summary', None)"  # of a check's many lines
CELL_LINE = re.compile(r"Cell In\[\d+\], line (\d+)")
FILE_LINE = re.compile(r" \([^()]*, line \d+\)$")  # after the words of a SyntaxError
ENDLESS = "Endless"
NO_FAULT = {"NotStarted", "NotImplementedError", "KeyboardInterrupt"}


class KernelStep(NamedTuple):
    """One cell to run: all of it, or only its imports, definitions and constants."""

    kind: str
    name: str  # cell id, or grade_id of the exercise
    source: str


class Failure(NamedTuple):
    """Why a step failed: the exception's class and words, and the line of the cell."""

    kind: str
    text: str
    line: int = 0


GONE = Failure("Ended", "the cell ended Python")


class Row(NamedTuple):
    """What is reported of one exercise."""

    exercise: Exercise
    status: str  # done, wrong, not started, broken, missing
    words: str


# What to run.


def whole_cells(notebook) -> set[str]:
    """Return the ids of cells that run in full: the first with code, and those tagged setup."""
    code = [cell for cell in notebook.cells if is_code(cell)]
    tagged = {cell.id for cell in code if "setup" in cell.metadata.get("tags", [])}
    return tagged | {cell.id for cell in code[:1]}


def steps_of(source, copied, found: list[Exercise]) -> list[KernelStep]:
    """Return what to run: the copy's cells in their order, with the checks of the source."""
    checks = {e.grade_id: source.cells[e.check].source for e in found}
    whole, steps = whole_cells(source) | whole_cells(copied), []
    for cell in filter(is_code, copied.cells):
        grade_id = exercises.grading(cell).get("grade_id")
        if grade_id in checks:
            steps.append(KernelStep(ANSWER, grade_id, cell.source))
            steps.append(KernelStep(CHECK, grade_id, checks[grade_id]))
        elif not exercises.is_check(cell):
            steps.append(KernelStep(WHOLE if cell.id in whole else PART, cell.id, cell.source))
    last = max((n for n, step in enumerate(steps, 1) if step.kind == CHECK), default=0)
    return steps[:last]


def part_of(source: str) -> str:
    """Return a cell with the imports, definitions and constants of a cell, each on its line.

    A definition may fail because the cell that it needs has not run: that is no failure.
    """
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:
        return source  # and the kernel says what is wrong
    kept = [node for node in tree.body if _is_definition(node)]
    lines = ["pass;"] * max((node.lineno for node in kept), default=0)
    for node in kept:
        attempt = f"try: exec({ast.unparse(node)!r})\n"
        attempt += "except ImportError: raise\nexcept Exception: pass"
        lines[node.lineno - 1] += f"exec({attempt!r});"
    return "\n".join(lines)


def _is_definition(node: ast.stmt) -> bool:
    """Return whether a statement imports, defines, or assigns what depends on nothing else."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return isinstance(node, DEFINES)
    names = [found for found in ast.walk(node.value) if isinstance(found, ast.Name)]
    own = {found.id for found in names if isinstance(found.ctx, ast.Store)}
    return {found.id for found in names} <= own | PURE


# Running it.


def run_steps(
    steps: list[KernelStep], folder: Path, evals: Path, limit: float
) -> list[Failure | None]:
    """Run the steps in a kernel, in `folder`, and return how each failed, None if it did not.

    A step that ends the kernel, or that goes on when interrupted, is left out of another run.
    """
    cells = [
        new_code_cell(
            part_of(step.source) if step.kind == PART else step.source,
            metadata={"limit": limit if step.kind in (ANSWER, CHECK) else SLOW},
        )
        for step in steps
    ]
    found: dict[int, Failure] = {}
    while not _run_cells(cells, found, folder, evals):
        found = {n: failed for n, failed in found.items() if failed.kind in (ENDLESS, GONE.kind)}
    return [found.get(n) for n in range(len(cells))]


def _run_cells(cells: list, found: dict[int, Failure], folder: Path, evals: Path) -> bool:
    """Run the cells that are not in `found` in a new kernel and add to it how they failed.

    Return whether the kernel was there to the end.
    """
    left = [n for n in range(len(cells)) if n not in found]
    environment = {**os.environ, "EVALS": str(evals), "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with TemporaryDirectory() as scratch:
        client = _client(cells, found, Path(scratch))
        with client.setup_kernel(cwd=str(folder), env=environment, cleanup_kc=True, **silent):
            return all(_run_cell(client, cells, n, found) for n in left)


def _run_cell(client: NotebookClient, cells: list, n: int, found: dict[int, Failure]) -> bool:
    """Run a cell, add to `found` how it failed, and return whether the kernel is still there."""
    try:
        client.execute_cell(cells[n], n)
        if n in found and found[n].kind == "Wrong":
            found[n] = found[n]._replace(text=_summary(client) or found[n].text)
    except (DeadKernelError, CellTimeoutError) as error:
        endless = isinstance(error, CellTimeoutError)
        found[n] = _failure({"ename": ENDLESS}, cells[n]) if endless else GONE
        return False
    return True


def _client(cells: list, found: dict[int, Failure], scratch: Path) -> NotebookClient:
    """Return what runs cells in a kernel of this Python and adds their failures to `found`.

    Kernel and client meet at sockets in `scratch`: of two kernels that start at once, one may
    take a port that the other was given. Windows has ports only.
    """

    def note(cell, cell_index: int, execute_reply: dict) -> None:
        found[cell_index] = _failure(execute_reply["content"], cell)

    own_python = KernelSpecManager(kernel_dirs=[])  # whatever kernels are installed
    return NotebookClient(
        new_notebook(cells=[*cells]),
        km=AsyncKernelManager(
            kernel_spec_manager=own_python,
            transport="tcp" if os.name == "nt" else "ipc",
            connection_file=str(scratch / "kernel.json"),
        ),
        allow_errors=True,
        on_cell_error=note,
        timeout_func=lambda cell: cell.metadata.get("limit", SLOW),
        interrupt_on_timeout=True,
        error_on_timeout={"ename": ENDLESS},
        raise_on_iopub_timeout=True,  # where an interrupt does not end the cell
        record_timing=False,
        shutdown_kernel="immediate",
        extra_arguments=OPTIONS,
    )


def _failure(content: dict, cell) -> Failure:
    """Return a kernel's report of an error in a cell as a Failure in one line."""
    if content["ename"] == ENDLESS:
        return Failure(ENDLESS, f"still running after {cell.metadata.limit:g} s")
    if content["ename"] == "SystemExit":
        return GONE
    line = CELL_LINE.search("\n".join(content["traceback"]))
    words = FILE_LINE.sub("", " ".join(content["evalue"].split()))
    return Failure(content["ename"], words, int(line[1]) if line else 0)


def _summary(client: NotebookClient) -> str | None:
    """Return the line that says most of the last exception, None where it has no such line."""
    outputs = client.execute_cell(new_code_cell(SUMMARY), -1).outputs
    return ast.literal_eval(outputs[0].data["text/plain"]) if outputs else None


# Reporting it.


def rows_of(name: str, source, folder: Path, evals: Path, limit: float = LIMIT) -> list[Row]:
    """Return a row for each exercise of one lesson, from the copy in `folder`."""
    found = exercises.exercises_of(name, source)
    path = _copy_with(found, folder / name, folder)
    if path is None:
        return [Row(e, "missing", "no copy yet; make learn writes it") for e in found]
    try:
        steps = steps_of(source, exercises.read_notebook(path), found)
    except LearnError as error:
        return [Row(e, "broken", str(error)) for e in found]
    ended = run_steps(steps, path.parent, evals, limit)  # as JupyterLab does
    broken, judged = "", {}
    for n, (step, failed) in enumerate(zip(steps, ended, strict=True)):
        if step.kind in (PART, WHOLE) and failed:
            broken = broken or f"cell {step.name}, {at_line(failed)}"
        if step.kind == ANSWER:  # its check comes next
            judged[step.name] = _status(failed or ended[n + 1], step.source, broken)
    missing = ("missing", "its cell is gone; make learn FRESH=1 writes new copies")
    return [Row(e, *judged.get(e.grade_id, missing)) for e in found]


def _copy_with(found: list[Exercise], path: Path, folder: Path) -> Path | None:
    """Return the copy of a lesson, else an older copy of a session that holds its exercises."""
    if path.exists():
        return path
    older = (p for p in sorted(folder.glob("session_*.ipynb")) if path.parent != folder)
    ids = [f'"{e.grade_id}"' for e in found]
    texts = ((p, p.read_text(encoding="utf-8", errors="replace")) for p in older)
    return next((p for p, text in texts if any(name in text for name in ids)), None)


def _status(found: Failure | None, source: str, broken: str) -> tuple[str, str]:
    """Return status and words of an exercise from how its cell or else its check failed."""
    if found is None:
        return "done", ""
    if found.kind in ("NotStarted", "NotImplementedError"):
        if "raise NotImplementedError" in source:
            return "not started", ""
        return "wrong", "it uses an exercise that is not started"
    if found.kind in (ENDLESS, GONE.kind):
        return "wrong", found.text
    if broken:
        return "broken", broken
    return "wrong", found.text if found.kind == "Wrong" else at_line(found)


def stopped_cells(notebook) -> list[str]:
    """Return a line for each cell beside the exercises whose saved output ends in an error."""
    cells = [c for c in notebook.cells if is_code(c) and not exercises.grading(c)]
    errors = {c.id: o for c in cells for o in c.outputs if o.output_type == "error"}
    faults = {name: o for name, o in errors.items() if o.ename not in NO_FAULT}
    told = {name: f"{o.ename}: {o.evalue}".removesuffix(": ") for name, o in faults.items()}
    where = "      cell {} stopped with an error when it last ran: {}"
    return [where.format(name, _shortened(words)) for name, words in told.items()]


def _shortened(words: str) -> str:
    return shorten(words, 100, placeholder=" …")


def at_line(found: Failure) -> str:
    """Return a failure in one line."""
    at = f"line {found.line}: " if found.line else ""  # an error that shows no frames has none
    return f"{at}{found.kind}: {found.text}"


def report_on(lessons: dict[str, tuple[str, list[Row]]], stopped: dict[str, list[str]]) -> str:
    """Return the report: sessions by name, each with its title, rows and `stopped` cells.

    What goes beyond the week follows, under one heading.
    """
    lines, beyond, following = [], [], {}
    for name, (title, found) in lessons.items():
        rows = [*_row_lines(found), *stopped.get(name, [])]
        if exercises.is_further(name):
            beyond += rows
        else:
            lines += [_headline(title, found), *rows, ""]
        for e in (row.exercise for row in found if row.status != "done"):
            label = f"{e.number} {e.title}".strip()
            following.setdefault(e.further, f"{label} ({e.minutes} minutes) in {name}")
    lines += ["Going further, not in the minutes of the week", *beyond, ""] if beyond else []
    come = following.get(False) or following.get(True)
    done = "every exercise is done" if any(stopped.values()) else "everything is done"
    return "\n".join([*lines, f"next: {come}" if come else done])


def _headline(title: str, found: list[Row]) -> str:
    """Return how much of a session's core path is done, in exercises and minutes."""
    core = [row for row in found if not row.exercise.further]
    done = [row.exercise.minutes for row in core if row.status == "done"]
    planned = sum(row.exercise.minutes for row in core)
    return f"{title}: {len(done)} of {len(core)} done, {sum(done)} of {planned} minutes"


def _row_lines(found: list[Row]) -> list[str]:
    """Return a line for each exercise."""
    width, lines = max((len(row.exercise.title) for row in found), default=0), []
    for e, status, words in found:
        state = f"{status:<11}  {_shortened(words)}".rstrip()
        further = "+" if e.further else " "
        lines.append(f" {further}{e.number:<3} {e.title:<{width}}  {e.minutes:>3} min  {state}")
    return lines


def progress_report(evals: Path, notebooks=exercises.LESSONS, folder=copies.LEARN, limit=LIMIT):
    """Return the report on the copies in `folder`. Raises LearnError where there are none."""
    found = exercises.lessons(notebooks)
    if not any((folder / name).exists() for name in found):
        raise LearnError(f"no copies in {folder.name}/ yet; make learn writes them")
    with ThreadPoolExecutor() as pool:
        jobs = {
            name: pool.submit(rows_of, name, source, folder, evals, limit)
            for name, source in found.items()
        }
        done = {name: (_title(found[name]), job.result()) for name, job in jobs.items()}
    saved = [path for name in found if (path := folder / name).exists()]
    stopped = {path.relative_to(folder).as_posix(): _stopped_in(path) for path in saved}
    newest = datetime.fromtimestamp(max(path.stat().st_mtime for path in saved))
    head = f"read from the files in {folder.name}/, last saved {newest:%d %b %H:%M}\n"
    return "\n".join([head, report_on(done, stopped), *_save_first(unsaved.unsaved(folder))])


def _stopped_in(path: Path) -> list[str]:
    """Return the lines on the stopped cells of a copy, none of one that cannot be read."""
    try:
        return stopped_cells(exercises.read_notebook(path))
    except LearnError:
        return []


def _save_first(names: list[str]) -> list[str]:
    """Return a line for each copy whose newest cells are not in its file."""
    words = "ran cells that its file does not hold yet, then make progress again"
    return [f"save first (Ctrl-S in JupyterLab): {name} {words}" for name in names]


def _title(notebook) -> str:
    """Return the first heading of a notebook."""
    return notebook.cells[0].source.splitlines()[0].lstrip("# ")
