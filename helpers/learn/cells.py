"""Run cells of a notebook in a child process that goes on after errors and can be stopped.

Only the standard library and IPython are imported here, so that the child starts at once.
"""

import ast
import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
START = 60  # seconds for Python to start, and for a cell with imports
CHILD = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from helpers.learn import cells; cells.child()"
)
PURE = set("set frozenset dict list tuple range sorted float int str len min max sum".split())
PART, WHOLE, CODE, CHECK, STUB = "part", "whole", "exercise", "check", "stub"


class Step(NamedTuple):
    """One cell to run: all of it, or only its imports, definitions and constants."""

    kind: str
    name: str  # cell id, or grade_id of the exercise
    source: str


class Failure(NamedTuple):
    """Why a step failed: the exception's class and words, and the line of the cell."""

    kind: str
    text: str
    line: int


# In the child.


def child() -> None:
    """Run the steps that stand in stdin; tell in stdout which begins and how it ended."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    steps = json.loads(sys.stdin.buffer.readline())
    tell, parent = os.fdopen(os.dup(1), "w", encoding="utf-8"), os.dup(0)
    for number in (0, 1, 2):  # a cell asks nobody, and what it prints is not shown
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    threading.Thread(target=end_with, args=[parent], daemon=True).start()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    for number, step in enumerate(steps):
        print(json.dumps({"begin": number}), file=tell, flush=True)
        ended = {"end": number, "failure": attempt(shell, Step(*step))}
        print(json.dumps(ended), file=tell, flush=True)


def end_with(parent: int) -> None:
    """End this process when the pipe from the parent closes, whatever a cell is doing."""
    os.read(parent, 1)
    os._exit(1)


def attempt(shell, step: Step) -> Failure | None:
    """Run one step and return why it failed."""
    if step.kind == PART:
        return attempt_part(shell, step.source)
    result = shell.run_cell(step.source, silent=True)
    error = result.error_before_exec or result.error_in_exec
    return failure(error) if error else None


def attempt_part(shell, source: str) -> Failure | None:
    """Run imports, definitions and constants of a cell; only what breaks the cell is a failure.

    A definition may fail because the cell that it needs has not run: that is no failure.
    """
    try:
        tree = ast.parse(shell.transform_cell(source))
    except SyntaxError as error:
        return failure(error)
    for node in filter(is_definition, tree.body):
        try:
            exec(compile(ast.Module([node], []), "<part>", "exec"), shell.user_ns)
        except ImportError as error:
            return failure(error)._replace(line=node.lineno)
        except Exception:
            continue
    return None


def is_definition(node: ast.stmt) -> bool:
    """Return whether a statement imports, defines, or assigns what depends on nothing else."""
    defines = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return isinstance(node, defines)
    names = [found for found in ast.walk(node.value) if isinstance(found, ast.Name)]
    own = {found.id for found in names if isinstance(found.ctx, ast.Store)}
    return {found.id for found in names} <= own | PURE


def failure(error: BaseException) -> Failure:
    """Return an exception as a Failure in one line, with the line of the cell it came through."""
    line, frame = getattr(error, "lineno", None) or 0, error.__traceback__
    while frame and not line:
        name = frame.tb_frame.f_code.co_filename
        line = frame.tb_lineno if name.startswith("<ipython-input") else 0
        frame = frame.tb_next
    words = str(getattr(error, "summary", None) or getattr(error, "msg", None) or error).split()
    return Failure(type(error).__name__, " ".join(words), line)


# In the parent.


def run(steps: list[Step], folder: Path, evals: Path, limit: float) -> list[Failure | None]:
    """Run the steps in a child, in `folder`; one that does not end is left out of a second run."""
    stuck: dict[int, Failure] = {}
    while steps:
        left = [number for number in range(len(steps)) if number not in stuck]
        ended, last = run_once([steps[number] for number in left], folder, evals, limit)
        if last is None:
            found = dict(zip(left, ended, strict=True)) | stuck
            return [found[number] for number in range(len(steps))]
        stuck[left[len(ended)]] = last
    return []


def run_once(steps: list[Step], folder: Path, evals: Path, limit: float):
    """Return how each step ended, and why the one after them did not."""
    environment = {**os.environ, "EVALS": str(evals), "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    lines: queue.Queue = queue.Queue()

    def listen() -> None:
        with process.stdout:
            for line in process.stdout:
                lines.put(json.loads(line))
        lines.put(None)

    threading.Thread(target=listen, daemon=True).start()
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(steps).encode() + b"\n")
            process.stdin.flush()  # and left open: the child ends when it closes
        return follow(lines, steps, limit)
    finally:
        process.kill()
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()


def follow(lines: queue.Queue, steps: list[Step], limit: float):
    """Return the failures of the steps that ended, and why the next one did not (None: all did)."""
    ended, running = [], False
    while len(ended) < len(steps):
        seconds = limit if running and steps[len(ended)].kind in (CODE, CHECK) else START
        try:
            message = lines.get(timeout=seconds)
        except queue.Empty:
            return ended, Failure("Endless", f"still running after {seconds:g} s", 0)
        if message is None and not running:
            raise RuntimeError("Python did not start, or ended between two cells")
        if message is None:
            return ended, Failure("Ended", "the cell ended Python", 0)
        running = "begin" in message
        if not running:
            ended.append(message["failure"] and Failure(*message["failure"]))
    return ended, None
