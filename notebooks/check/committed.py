"""Exercises where the committed sessions stand beside the checks: number, title, model solution.

A copy that runs elsewhere, as nbgrader's do, has no sessions beside it and goes without.
"""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from helpers.learn import LearnError
from helpers.learn.exercises import BEGIN, END, exercises_of, lesson_paths

COMMITTED = Path(__file__).parents[1]
CHECKED = re.compile(r"^check\.(\w+)\(", re.MULTILINE)


class Place(NamedTuple):
    """An exercise as learners know it, and how the session solves it."""

    called: str  # "B3 fixed-size chunks"
    solution: str  # of a cell with several checks it comes with the last


@functools.cache
def places_of_exercises(lessons: Path = COMMITTED) -> dict[str, Place]:
    """Return the exercises by the names of their checks, none where sessions cannot be read."""
    found = {}
    try:
        for session, notebook in _sessions(lessons):
            cells = notebook["cells"]
            for e in exercises_of(session, notebook):
                names = _checked(cells[e.check])
                solved = dict.fromkeys(names, "")
                solved |= {name: _solved(cells[e.code]["source"]) for name in names[-1:]}
                place = f"{e.number} {e.title}".strip()
                found |= {name: Place(place, solved[name]) for name in names}
    except (LearnError, OSError, ValueError, LookupError, TypeError):
        return {}
    return found


def _sessions(lessons: Path) -> Iterator[tuple[str, dict]]:
    """Yield name and JSON of each lesson: nbformat would take a second to import."""
    for name, path in lesson_paths(lessons).items():
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
        yield name, notebook


def _checked(cell: dict) -> list[str]:
    """Return the names of the checks that a cell calls."""
    return [name for name in CHECKED.findall(cell["source"]) if name != "quiz"]


def _solved(source: str) -> str:
    """Return a solution cell without its markers, "" where it holds a stub."""
    lines = source.splitlines()
    kept = [line for line in lines if line.strip() not in (BEGIN, END)]
    return "\n".join(kept) if len(kept) < len(lines) else ""


def exercise_named(name: str) -> str:
    """Return number and title of the exercise that check `name` checks, else the name."""
    found = places_of_exercises().get(name)
    return found.called if found else name


def solution_of(name: str, lessons: Path = COMMITTED) -> str:
    """Return how the committed session solves what check `name` checks, "" if it cannot be read."""
    found = places_of_exercises(lessons).get(name)
    return found.solution if found else ""
