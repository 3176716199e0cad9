"""The sessions as exercises: a heading, a cell with the solution, a cell that checks it.

A session holds its solutions between `### BEGIN SOLUTION` and `### END SOLUTION`, in cells with
nbgrader's metadata. That ours are sound is proved by helpers/tests/teach, not on every run.
"""

import re
from itertools import cycle
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from ..measure import evalset, files
from . import LearnError

LESSONS = evalset.DEFAULT.parent / "notebooks"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HEADING = re.compile(
    r"^#{2,4} (?:Exercise (?P<number>[A-Z]\d+): (?P<title>.+)|(?P<quick>Quick test))$",
    re.MULTILINE,
)
PLAN = re.compile(r"difficulty [123] of 3 · (\d+) minutes", re.IGNORECASE)
OPTIONAL = re.compile(r"^difficulty .+ · optional$", re.MULTILINE | re.IGNORECASE)
MINUTES = re.compile(r"(\d+) minutes")  # of a quick test, which has no difficulty
BESIDE = (
    "before it the heading '### Exercise A3: name' with 'difficulty 1 of 3 · 10 minutes', "
    "after it a check with nbgrader's grade"
)
GLOBS = ("session_*.ipynb", "further/*.ipynb")
CHECKED = re.compile(r'^check\.(\w+)\((?:"(\w+)")?', re.MULTILINE)


class Exercise(NamedTuple):
    """One solution cell with the heading before it and the check after it."""

    grade_id: str
    heading: int  # index of the Markdown cell
    code: int  # index of the solution cell
    check: int  # index of the check cell
    number: str  # "C2", as its heading says; empty for a quick test
    title: str
    minutes: int
    further: bool  # beyond the week: in a further notebook, or optional


def read_lessons(notebooks: Path = LESSONS) -> dict[str, dict]:
    """Return the sessions and the further notebooks of a folder by name, in order.

    Raises LearnError: what is wrong with a notebook.
    """
    return {name: read_notebook(path) for name, path in lesson_paths(notebooks).items()}


def lesson_paths(notebooks: Path = LESSONS) -> dict[str, Path]:
    """Return {name: path} of the sessions, then of the further notebooks: further/x.ipynb."""
    paths = [path for glob in GLOBS for path in sorted(notebooks.glob(glob))]
    return {path.relative_to(notebooks).as_posix(): path for path in paths}


def read_notebook(path: Path) -> dict:
    """Return a notebook as nbformat's NotebookNode. Raises LearnError: which cell is not valid."""
    from nbformat import v4, validator  # takes a second to import, and kernels can do without

    try:
        text = path.read_text(encoding="utf-8")
        content = files.json_object(text, "a notebook")
        error = next(validator.iter_validate(content, version=4, version_minor=5), None)
    except (ValueError, TypeError) as broken:  # TypeError: nbformat meets a number for a name
        raise LearnError(f"{path.name}: cannot be read as a notebook ({broken})") from broken
    if error:  # its path is such as $.cells[3].metadata.tags
        why = f"{error.json_path}: {shorten(error.message, 100, placeholder=' …')}"
        raise LearnError(f"{path.name}: {why}, wanted nbformat 4.5, as JupyterLab saves it")
    return v4.reads(text)


def exercises_of(name: str, notebook) -> list[Exercise]:
    """Return the exercises of a lesson, in order. Raises LearnError: which cell, what it lacks."""
    exercises, heading = [], None
    for index, cell in enumerate(notebook["cells"]):
        if not is_code(cell) and HEADING.search(cell["source"]):
            heading = index
        if is_code(cell) and is_solution(cell):
            try:
                exercises.append(_exercise(notebook["cells"], heading, index, name))
                regions(cell)
            except LearnError as error:
                raise LearnError(f"{name}: cell {cell['id']}, {error}") from None
            heading = None
    return exercises


def _exercise(cells: list, heading: int | None, code: int, name: str) -> Exercise:
    head = None if heading is None else HEADING.search(cells[heading]["source"])
    plan = head and (MINUTES if head["quick"] else PLAN).search(head.string)
    check = next((n for n in range(code + 1, len(cells)) if is_code(cells[n])), None)
    if not plan or check is None or not is_check(cells[check]):
        raise LearnError(f"line 1: an answer stands between two cells, wanted {BESIDE}")
    number, title = head["number"] or "", head["title"] or head["quick"]
    grade_id = grading(cells[code]).get("grade_id")
    further = is_further(name) or bool(OPTIONAL.search(head.string))
    return Exercise(grade_id, heading, code, check, number, title, int(plan[1]), further)


def regions(cell) -> list[tuple[int, int]]:
    """Return the (first, last) line of each solution region.

    Raises LearnError where the markers do not take turns.
    """
    lines = [*map(str.strip, cell["source"].splitlines()), "the end"]
    numbers = [n for n, line in enumerate(lines, 1) if line in (BEGIN, END)]
    marks = [*numbers, len(lines)] if len(numbers) % 2 else numbers
    for number, wanted in zip(marks, cycle((BEGIN, END))):
        if lines[number - 1] != wanted:
            raise LearnError(f"line {number}: found {lines[number - 1]}, wanted {wanted} before it")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def checks_called(cell) -> list[str]:
    """Return the checks that a cell calls, by what they check: "dcg", "quiz A"."""
    return [" ".join(filter(None, words)) for words in CHECKED.findall(cell["source"])]


def session_letter(name: str) -> str:
    """Return the letter of a session's file: session_a_corpus.ipynb gives A; F beyond the week."""
    return "F" if is_further(name) else Path(name).stem.split("_")[1].upper()


def is_further(name: str) -> bool:
    """Return whether a lesson goes beyond the week."""
    return name.startswith("further/")


def grading(cell) -> dict:
    """Return nbgrader's metadata of a cell, {} where it has none."""
    found = cell["metadata"].get("nbgrader")
    return found if isinstance(found, dict) else {}


def is_check(cell) -> bool:
    """Return whether a cell checks the cell above it."""
    return bool(is_code(cell) and grading(cell).get("grade")) and not is_solution(cell)


def is_solution(cell) -> bool:
    """Return whether a cell is marked to hold solutions."""
    return bool(grading(cell).get("solution"))


def is_code(cell) -> bool:
    """Return whether a cell holds code."""
    return cell["cell_type"] == "code"
