"""What a learner sees when a check passes: a green line, why it matters, a model solution.

Number, title and solution of an exercise are read from the lessons. A copy that runs where they
are not, as nbgrader's do, goes without.
"""

import functools
import inspect
import json
import re
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from IPython import get_ipython
from IPython.display import display

from helpers.learn import LearnError
from helpers.learn.exercises import BEGIN, END, LESSONS, checks_called, exercises_of, lesson_paths

PASSED: set[str] = set()  # names of the functions that passed in this session
PASSED_STYLE = "color:#1a7f37;font-weight:600"
FOLDED = "<details><summary>A model solution</summary><pre>{}</pre></details>"


class Place(NamedTuple):
    """An exercise as learners know it, and how its lesson solves it."""

    called: str  # "B3 fixed-size chunks"
    solution: str  # of a cell with several checks it comes with the last


def tell_passed(name: str, message: str) -> None:
    """Say that `name` is right and why that matters; in a learner's copy show a model solution.

    The solution is read from the lesson, so no copy holds it.
    """
    PASSED.add(name)
    if get_ipython() is None:
        print(message)
    else:
        display(passed_page(name, message, Path.cwd()), raw=True)


def passed_page(name: str, message: str, where: Path) -> dict[str, str]:
    """Return what a notebook in the folder `where` shows, as text and as HTML.

    The lesson itself, where the solution stands in view, does not show it again.
    """
    check = getattr(sys.modules[__package__], name, None)
    reason = re.search(r"^Why: (.+?)(?=\n\n|\Z)", inspect.getdoc(check) or "", re.M | re.S)
    why = " ".join(reason[1].split()) if reason else ""
    in_lesson = where.resolve().is_relative_to(LESSONS.resolve())
    code = "" if in_lesson else place_of_exercise(name).solution
    folded = FOLDED.format(escape(code)) if code else ""
    return {
        "text/plain": f"{message}\n{why}".strip(),
        "text/html": f'<div style="{PASSED_STYLE}">{escape(message)}</div>'
        f"<div>{escape(why)}</div>{folded}",
    }


def place_of_exercise(name: str, lessons: Path = LESSONS) -> Place:
    """Return the exercise that check `name` checks; its name and "" where no lesson has it."""
    return places_of_exercises(lessons).get(name, Place(name, ""))


@functools.cache
def places_of_exercises(lessons: Path = LESSONS) -> dict[str, Place]:
    """Return the exercises by the names of their checks, none where lessons cannot be read."""
    places = {}
    try:
        for lesson, path in lesson_paths(lessons).items():
            notebook = json.loads(path.read_text(encoding="utf-8"))  # nbformat takes a second
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"])
            for e in exercises_of(lesson, notebook):
                code = notebook["cells"][e.code]["source"]
                solution = re.sub(rf"^[ \t]*({BEGIN}|{END})(\n|$)", "", code, flags=re.M)
                names = checks_called(notebook["cells"][e.check])
                places |= dict.fromkeys(names, Place(f"{e.number} {e.title}".strip(), ""))
                if solution != code:  # without markers it is a stub
                    places[names[-1]] = places[names[-1]]._replace(solution=solution.strip())
    except (LearnError, OSError, ValueError, LookupError, TypeError):
        return {}
    return places
