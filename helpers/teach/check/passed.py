"""What a learner sees when a check passes: a green line, why it matters, a model solution.

Number, title and solution of an exercise are read from the lessons. A copy that runs where they
are not, as nbgrader's do, goes without.
"""

import contextlib
import functools
import json
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

import yaml
from IPython import get_ipython
from IPython.display import display

from .. import LearnError, record
from ..exercises import (
    BEGIN,
    END,
    LESSONS,
    Exercise,
    checks_called,
    exercises_of,
    is_further,
    lesson_paths,
)
from ..kernel import remembered

EXERCISES = LESSONS / "exercises"  # their pages: why each matters, and its known mistakes
PASSED_STYLE = "color:#1a7f37;font-weight:600"
WRONG = 2  # wrong answers after which there is a way on
HINT = re.compile(r"<summary>Hint \d</summary>(.+?)</details>", re.S)
FOLDED = "<details><summary>A model solution</summary><pre>{}</pre></details>"


class Place(NamedTuple):
    """An exercise as learners know it, and how its lesson solves it."""

    called: str  # "B3 fixed-size chunks"
    solution: str  # of a cell with several checks it comes with the last
    hints: tuple[str, ...] = ()
    lesson: str = ""  # the notebook that has it
    cell: int = 0  # its number there
    code: str = ""  # of that cell
    optional: bool = False  # a session goes on without it


def tell_passed(name: str, message: str) -> None:
    """Say that `name` is right and why that matters; in a learner's copy show a model solution."""
    passed_checks().add(name)
    if get_ipython() is None:
        print(message)
    else:
        display(passed_page(name, message, Path.cwd()), raw=True)


def passed_checks() -> set[str]:
    """Return the names of the functions that passed in this kernel."""
    return remembered("passed checks")


def passed_page(name: str, message: str, where: Path) -> dict[str, str]:
    """Return what a notebook in the folder `where` shows, as text and as HTML.

    The solution is read from the lesson, which itself does not show it again.
    """
    why = " ".join(page_of(name).get("why", "").split())
    in_lesson = where.resolve().is_relative_to(LESSONS.resolve())
    code = "" if in_lesson else place_of_exercise(name).solution
    page = f'<div style="{PASSED_STYLE}">{escape(message)}</div><div>{escape(why)}</div>'
    page += FOLDED.format(escape(code)) if code else ""
    return {"text/plain": f"{message}\n{why}".strip(), "text/html": page}


@functools.cache
def page_of(name: str) -> dict:
    """Return what `notebooks/exercises/NAME.yaml` holds, {} without such a file."""
    path = EXERCISES / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}


def way_on(name: str) -> str:
    """Return the next hint, if any is left, and how to take the solution; "" before two wrong."""
    hints, at = place_of_exercise(name).hints, record.wrong_answers(name) - WRONG
    if at < 0 or not hints:
        return ""
    hint = f"Hint {at + 1}: {hints[at]}" if at < len(hints) else "You've now had every hint."
    how = f'check.solution("{name}") shows a solution; make progress then says that you took it.'
    return f"\n{hint}\n{how}"


def solution(name: str) -> None:
    """Print the lesson's solution of what `check.NAME` checks, and mark it as taken."""
    called = place_of_exercise(name).called
    places = places_of_exercises().values()
    code = "".join(place.solution for place in places if place.called == called)
    if code:
        record.write_solution_taken(name)
    print(code or f"no solution of {name!r} can be read here")


def place_of_exercise(name: str) -> Place:
    """Return the exercise that check `name` checks; its name and "" where no lesson has it."""
    return places_of_exercises().get(name, Place(name, ""))


@functools.cache
def places_of_exercises(lessons: Path = LESSONS) -> dict[str, Place]:
    """Return the exercises by the names of their checks, none where lessons cannot be read."""
    places = {}
    with contextlib.suppress(LearnError, OSError, ValueError, LookupError):
        for lesson, path in lesson_paths(lessons).items():
            notebook = json.loads(path.read_text(encoding="utf-8"))  # nbformat takes a second
            cells = [cell | {"source": "".join(cell["source"])} for cell in notebook["cells"]]
            for exercise in exercises_of(lesson, {"cells": cells}):
                *others, last = checks_called(cells[exercise.check])
                place = _place(lesson, exercise, cells)
                places |= dict.fromkeys(others, place._replace(solution=""))
                places[last] = place
    return places


def _place(lesson: str, exercise: Exercise, cells: list[dict]) -> Place:
    """Return where an exercise stands; a stub, as in nbgrader's released files, solves nothing."""
    marked = cells[exercise.code]["source"]
    plain = re.sub(rf"^[ \t]*({BEGIN}|{END})(\n|$)", "", marked, flags=re.M)
    code = plain.strip()
    hints = HINT.findall(cells[exercise.heading]["source"])
    return Place(
        called=f"{exercise.number} {exercise.title}".strip(),
        solution="" if plain == marked else code,
        hints=tuple(" ".join(hint.split()) for hint in hints),
        lesson=lesson,
        cell=exercise.code,
        code=code,
        optional=exercise.further and not is_further(lesson),
    )
