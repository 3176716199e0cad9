"""Known mistakes: sentences of `notebooks/exercises/NAME.yaml`, each with an edit of a solution.

An edit puts `new` in the place of `old`; without `old` it changes what the edit above it changes.
What an edit does is tried on the lesson's own solution, so that a learner's answer can be held
against it. The lesson's definitions are made anew for that: no cell runs, and nothing comes from
the learner's kernel.
"""

import ast
import contextlib
import functools
import json
import re
from collections.abc import Callable
from types import SimpleNamespace

from ...measure import text
from .. import LearnError
from ..exercises import LESSONS, is_code
from .passed import page_of, place_of_exercise

DEFINITIONS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
Mistakes = list[tuple[str, Callable]]  # (sentence, a wrong function that deserves it)


@functools.cache
def known_mistakes(name: str) -> Mistakes:
    """Return the known mistakes of an exercise, none where no lesson can be read.

    An edit without `old` changes what the edit above it changes, be that a mistake or an `also`.
    Raises LearnError for an edit that doesn't fit the solution.
    """
    if not place_of_exercise(name).lesson:
        return []
    known, old = [], ""
    for mistake in page_of(name)["mistakes"]:
        for edit in (mistake, *mistake.get("also", [])):
            old = edit.get("old", old)
            known.append((mistake["says"], edited_solution(name, old, edit["new"])))
    return known


def edited_solution(name: str, old: str, new: str) -> Callable:
    """Return the lesson's function `name` with `old`, which stands in it once, replaced by `new`.

    Raises LearnError where it stands there in no place or in several.
    """
    place, old, new = place_of_exercise(name), old.strip("\n"), new.strip("\n")
    edited = _edits(place.code, old, new)
    if len(edited) != 1:
        found = f"{name}.yaml: the solution has {old!r} in {len(edited)} places"
        raise LearnError(f"{found}, wanted one")
    space = dict(definitions_before(place.lesson, place.cell))
    define(edited[0], space)
    return space[name]


def _edits(code: str, old: str, new: str) -> list[str]:
    """Return the code with `old` replaced, for each place that has it.

    Lines after the first are indented as the line is in which `old` begins.
    """
    edited = []
    for match in re.finditer(re.escape(old.partition("\n")[0]), code):
        before = code[: match.start()]
        line = before.rpartition("\n")[2]
        margin = "\n" + " " * (len(line) - len(line.lstrip()))
        after = code[match.start() :].removeprefix(old.replace("\n", margin))
        if len(before) + len(after) < len(code):
            edited.append(before + new.replace("\n", margin) + after)
    return edited


@functools.cache
def definitions_before(lesson: str, last: int) -> dict:
    """Return what the code cells of a lesson before number `last` import, define and name."""
    space = {"__name__": "lesson", "evals": SimpleNamespace(words=text.words)}
    notebook = json.loads((LESSONS / lesson).read_text(encoding="utf-8"))
    for cell in filter(is_code, notebook["cells"][:last]):
        with contextlib.suppress(SyntaxError):  # a magic
            define("".join(cell["source"]), space)
    return space


def define(code: str, space: dict) -> None:
    """Run the imports and definitions of code, and assignments that call nothing."""
    for node in ast.parse(code).body:
        calls = any(isinstance(part, ast.Call) for part in ast.walk(node))
        if isinstance(node, DEFINITIONS) or (isinstance(node, ast.Assign) and not calls):
            with contextlib.suppress(NameError, AttributeError):  # what only a run computes
                exec(compile(ast.Module([node], []), "<lesson>", "exec"), space)
