"""What the checks found in a learner's copies: a line in `progress.jsonl` each time one runs.

`make learn` lays the file beside the copies, and a check writes only where it finds it: in its own
folder or in the one above. So the lessons themselves and an autograder elsewhere leave no line.
"""

import contextlib
import hashlib
import json
import linecache
from pathlib import Path
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

from ..measure import files

RECORD, FOLDERS = "progress.jsonl", (Path(), Path(".."))
TAKEN, EIGHT = "solution of ", "eight questions "


class CheckRun(NamedTuple):
    """What a check found once."""

    cell: str  # hash of the cell that defines the learner's function
    result: str  # passed, wrong, not started
    words: str  # of the check, in one line


def cell_hash(source: str) -> str:
    """Return 16 digits that stand for the code of a cell, as it is in a notebook or as it ran."""
    with contextlib.suppress(SyntaxError):
        source = TransformerManager().transform_cell(source)  # IPython keeps what it ran so
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


def write_check_run(check: str, function: object, result: str, words: str = "") -> None:
    """Add what `check` found of a learner's function to the record, where there is one.

    One write of a whole line at the end of the file, so notebooks that run at once lose none.
    """
    code = getattr(function, "__code__", None)
    source = "".join(linecache.getlines(code.co_filename)) if code else ""
    if source:
        _add({"check": check, "cell": cell_hash(source), "result": result, "words": words})


def write_solution_taken(check: str) -> None:
    """Mark in the record that the solution of what `check` checks was shown before it passed."""
    if all(run.result != "passed" for run in _own_runs(check)):
        _add({"check": f"{TAKEN}{check}", "cell": "", "result": "taken", "words": ""})


def save_figure(figure, name: str) -> None:
    """Write a matplotlib figure beside a learner's copy; elsewhere say that a copy does."""
    if is_copy := Path(RECORD).exists():
        figure.savefig(name, bbox_inches="tight", dpi=200)  # sharp where it is posted
    print(f"{name} is written" if is_copy else f"your copy writes {name} here")


def write_answers(when: str, letters: str, words: str = "") -> None:
    """Note answers to the eight questions, before or after the week, and what came of them."""
    _add({"check": f"{EIGHT}{when}", "cell": "", "result": letters, "words": words})


def answers(when: str) -> list[str]:
    """Return the answers to the eight questions of before or after the week, oldest first."""
    return [run.result for run in _own_runs(f"{EIGHT}{when}")]


def _add(row: dict[str, str]) -> None:
    path = next((folder / RECORD for folder in FOLDERS if (folder / RECORD).exists()), None)
    if path:
        with contextlib.suppress(OSError), path.open("ab", buffering=0) as file:
            file.write((json.dumps(row) + "\n").encode())  # a full disk fails no exercise


def wrong_answers(check: str) -> int:
    """Return how many different wrong answers the record holds, 0 where there is no record."""
    return len({run.cell for run in _own_runs(check) if run.result == "wrong"})


def _own_runs(check: str) -> list[CheckRun]:
    return [run for folder in FOLDERS for run in check_runs(folder).get(check, [])]


def check_runs(folder: Path) -> dict[str, list[CheckRun]]:
    """Return what a folder's record holds, by check, oldest first; broken lines are left out."""
    runs: dict[str, list[CheckRun]] = {}
    for _, row in files.rows(folder / RECORD, []):
        if {"check", *CheckRun._fields} <= {*row}:
            run = CheckRun(*(str(row[field]) for field in CheckRun._fields))
            runs.setdefault(str(row["check"]), []).append(run)
    return runs
