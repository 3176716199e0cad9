"""Known mistakes: sentences of `notebooks/exercises/NAME.yaml`, each with an edit of a solution.

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
from importlib import import_module
from types import SimpleNamespace

import yaml

from ...measure import text
from .. import LearnError
from ..exercises import LESSONS, is_code
from .passed import EXERCISES, Place, place_of_exercise

DEFINITIONS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
Mistakes = list[tuple[str, Callable]]  # (sentence, a wrong function that deserves it)


@functools.cache
def known_mistakes(name: str) -> Mistakes:
    """Return the known mistakes of an exercise, none where no lesson can be read.

    Raises LearnError for an edit that doesn't fit the solution.
    """
    path, place = EXERCISES / f"{name}.yaml", place_of_exercise(name)
    if not place.lesson:
        return []
    known = []
    for mistake in yaml.safe_load(path.read_text(encoding="utf-8"))["mistakes"]:
        for form in (mistake, *mistake.get("also", [])):
            known.append((mistake["says"], _wrong_function(name, place, form)))
    return known


def _wrong_function(name: str, place: Place, form: dict) -> Callable:
    """Return the solution with `old` replaced by `new`, or the `function` of a room here."""
    if "function" in form:
        room, _, function = form["function"].partition(":")
        return getattr(import_module(f".{room}", __package__), function)
    old, new = (str(form[name]).strip("\n") for name in ("old", "new"))
    edited = _edits(place.code, old, new)
    if len(edited) != 1:
        found = f"{name}.yaml: the solution has {old!r} in {len(edited)} places"
        raise LearnError(f"{found}, wanted one")
    space = dict(_definitions(place.lesson, place.cell))
    define(edited[0], space)
    return space[name]


def _edits(code: str, old: str, new: str) -> list[str]:
    """Return the code with `old` replaced, for each place that has it.

    Lines after the first are indented as the line is in which `old` begins.
    """
    edited = []
    for match in re.finditer(re.escape(old.partition("\n")[0]), code):
        start = match.start()
        line = code[:start].rpartition("\n")[2]
        margin = "\n" + " " * (len(line) - len(line.lstrip()))
        whole = old.replace("\n", margin)
        if code.startswith(whole, start):
            edited.append(code[:start] + new.replace("\n", margin) + code[start + len(whole) :])
    return edited


@functools.cache
def _definitions(lesson: str, last: int) -> dict:
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
