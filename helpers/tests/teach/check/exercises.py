"""What the tests of the checks share."""

import ast
import contextlib
import functools
import io
from collections.abc import Callable
from unittest import mock

import pytest

from helpers.measure import evalset
from helpers.teach import check
from helpers.teach import exercises as learn
from helpers.teach.check import mistakes, passed
from helpers.teach.check.passed import page_of, place_of_exercise

WITHOUT_TABLE = {"quiz", "causes", "cause"}  # have tests of their own
LOADED = functools.cache(evalset.load)


def checks() -> list[str]:
    """Return the names of the checks of a learner's function, those of a page alone, too."""
    written = {name for name, f in vars(check).items() if hasattr(f, "__wrapped__")}
    paged = {path.stem for path in passed.EXERCISES.glob("*.yaml") if "cases" in page_of(path.stem)}
    return sorted((written | paged) - WITHOUT_TABLE)


def learnt(source: str) -> dict:
    """Return what a notebook's cells define."""
    space = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), space)
    return space


def space_of(notebook, last):
    """Return the names that definitions, constants and setup cells leave behind up to a cell."""
    space = {"__name__": "__main__", "evals": LOADED(evalset.DEFAULT)}
    for n, cell in enumerate(filter(learn.is_code, notebook.cells[: last + 1])):
        setup = n == 0 or "setup" in cell.metadata.get("tags", [])
        with contextlib.suppress(SyntaxError):  # a magic
            for node in ast.parse(cell.source).body:
                if setup or is_definition(node):
                    with (
                        contextlib.suppress(Exception),
                        contextlib.redirect_stdout(io.StringIO()),
                        mock.patch.object(evalset, "load", LOADED),
                    ):
                        exec(compile(ast.Module([node], []), cell.id, "exec"), space)
    return space


def is_definition(node):
    """Return whether a statement imports, defines, or assigns what calls nothing."""
    if isinstance(node, ast.Assign):
        return not any(isinstance(part, ast.Call) for part in ast.walk(node.value))
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def refused(name: str, function) -> str:
    """Return what a check says about a function that must not pass."""
    with pytest.raises(check.Wrong) as caught:
        getattr(check, name)(function)
    assert not isinstance(caught.value, check.NotStarted)
    return str(caught.value)


def solved(name: str) -> Callable:
    """Return the lesson's own solution of an exercise."""
    place = place_of_exercise(name)
    return mistakes.definitions_before(place.lesson, place.cell + 1)[name]
