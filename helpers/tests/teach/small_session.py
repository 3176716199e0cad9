"""A small project: a session with three exercises and a stand-in for helpers.teach.check."""

import nbformat

from helpers.measure import files
from helpers.teach import copies, exercises

NAME = "session_a_words.ipynb"
STAND_IN = """import functools
from helpers.teach import record
class NotStarted(Exception): ...
class Wrong(Exception): ...
def same(name, function, argument, expected):
    try:
        got = function(argument)
    except NotImplementedError:
        record.write_check_run(name, function, 'not started')
        raise NotStarted("not started yet") from None
    if got != expected:
        record.write_check_run(name, function, 'wrong', f"expected {expected}, got {got}")
        raise Wrong(f"expected {expected}")
    record.write_check_run(name, function, 'passed')
def __getattr__(name):
    return functools.partial(same, name)
"""
SETUP = 'import sys\n\nsys.path.insert(0, "..")\nimport stand_in as check'
BODIES = {  # three exercises: a plain one, one that uses it and a setup cell, one further on
    "longest": "found = sorted(words, key=len)\n    return found[-1]",
    "scaled": "return scale * len(longest(words))",
    "shout": "return LOUD + longest(words).upper()",
}
NUMBERS = {"longest": "A1", "scaled": "A2", "shout": "A3"}
EXPECTED = {"longest": "ccc", "scaled": 6, "shout": "!CCC"}
WORDS = ["a", "ccc", "bb"]
USUAL = dict.fromkeys(("grade", "locked", "solution", "task"), False)


def markdown(cell_id, source):
    return nbformat.v4.new_markdown_cell(source, id=cell_id)


def code(cell_id, source, tags=(), **grading):
    cell = nbformat.v4.new_code_cell(source, id=cell_id, execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", text="stored\n")]
    if tags:
        cell.metadata["tags"] = list(tags)
    if grading:
        cell.metadata["nbgrader"] = {**USUAL, "grade_id": cell_id, "schema_version": 3, **grading}
    return cell


def solution(name, body=None, before=exercises.BEGIN, after=exercises.END):
    lines = (f"def {name}(words):", f'"""Return {name}."""', before, body or BODIES[name], after)
    return "\n    ".join(line for line in lines if line)


def exercise(name):
    call = f"check.{name}({name}, {WORDS}, {EXPECTED[name]!r})"
    plan = "Difficulty 1 of 3 · 10 minutes · to know it."
    return [
        markdown(f"{name}-head", f"### Exercise {NUMBERS[name]}: {name}\n\n{plan}"),
        code(f"{name}-code", solution(name), solution=True),
        code(f"{name}-check", call, grade=True, points=1),
        code(f"{name}-use", f"print({name}({WORDS}))"),
    ]


def session():
    links = "[next](session_b_more.ipynb) [set](../evals/a.md) [far](https://a.b/c) [part](#part)"
    return [
        markdown("title", f"# Session A: words\n\n{links} [page](extra/page.md)"),
        code("setup", SETUP),
        *exercise("longest"),
        code("scale", "import os\n\nscale = len(os.environ['EVALS'][:2])", tags=["setup"]),
        *exercise("scaled"),
        markdown("further", "Now louder."),
        code("loud", "LOUD = str('!')"),
        *exercise("shout"),
    ]


def write(house, cells, name=NAME, folder="notebooks"):
    notebook = nbformat.v4.new_notebook() | {"cells": cells}  # which may not be valid
    files.write(house / folder / name, nbformat.v4.writes(nbformat.from_dict(notebook)) + "\n")


def make(house, fresh=False):
    return copies.learn_command(fresh, notebooks=house / "notebooks", folder=house / "learn")


def copied(house):
    return exercises.read_notebook(house / "learn" / NAME)


def solve(house, **sources):
    """Write sources into the learner's cells, by cell id."""
    notebook = copied(house)
    for cell in notebook.cells:
        cell.source = sources.get(cell.id.replace("-", "_"), cell.source)
    write(house, notebook.cells, folder="learn")


def changed(cell_id, **changes):
    cells = session()
    next(cell for cell in cells if cell.id == cell_id).update(**changes)
    return cells
