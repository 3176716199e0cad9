"""The sessions as exercises: a heading, a cell with the solution, a cell that checks it.

A session holds its solutions between `### BEGIN SOLUTION` and `### END SOLUTION`, in cells with
nbgrader's metadata. That ours are sound is proved by helpers/tests/learn, not on every run.
"""

import re
from pathlib import Path
from typing import NamedTuple

from .. import evalset, files
from . import LearnError

LESSONS = evalset.DEFAULT.parent / "notebooks"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HEADING = re.compile(r"^(#{2,4}) (?:Exercise: (.+)|(Quick test))$", re.MULTILINE)
PLAN = re.compile(r"difficulty [123] of 3 · (\d+) minutes", re.IGNORECASE)
MINUTES = re.compile(r"(\d+) minutes")  # of a quick test, which has no difficulty
GLOBS = ("session_*.ipynb", "further/*.ipynb")
CHECKED = re.compile(r'^check\.(\w+)\((?:"(\w+)")?', re.MULTILINE)


class Exercise(NamedTuple):
    """One solution cell with the heading before it and the check after it."""

    grade_id: str
    heading: int  # index of the Markdown cell
    code: int  # index of the solution cell
    check: int  # index of the check cell
    number: str  # "C2", in further notebooks as their cell says; empty for a quick test
    title: str
    minutes: int
    further: bool  # stands in a further notebook


def lesson_paths(notebooks: Path = LESSONS) -> dict[str, Path]:
    """Return {name: path} of the sessions, then of the further notebooks: further/x.ipynb."""
    paths = [path for glob in GLOBS for path in sorted(notebooks.glob(glob))]
    return {path.relative_to(notebooks).as_posix(): path for path in paths}


def lessons(notebooks: Path = LESSONS) -> dict[str, dict]:
    """Return the sessions and the further notebooks of a folder by name, in order.

    Raises LearnError: there is no session, or what is wrong with a notebook.
    """
    read = {name: read_notebook(path) for name, path in lesson_paths(notebooks).items()}
    if not any(name.startswith("session_") for name in read):
        raise LearnError(f"{notebooks}: no session_*.ipynb")
    return read


def is_further(name: str) -> bool:
    """Return whether a lesson goes beyond the week."""
    return name.startswith("further/")


def read_notebook(path: Path) -> dict:
    """Return a notebook as nbformat's NotebookNode. Raises LearnError: which cell is not valid."""
    from nbformat import v4, validator  # takes a second to import, and kernels can do without

    try:
        text = path.read_text(encoding="utf-8")
        content = files.json_object(text, "a notebook")
    except ValueError as error:
        raise LearnError(f"{path.name}: cannot be read as a notebook ({error})") from error
    cells = content["cells"] if isinstance(content.get("cells"), list) else []
    for cell in cells:
        if isinstance(cell, dict):  # where this is a number, nbformat cannot tell what is wrong
            cell["cell_type"] = str(cell.get("cell_type"))
    for error in validator.iter_validate(content, version=4, version_minor=5):
        place = [*error.relative_path]  # such as ["cells", 3, "metadata", "tags"]
        if place[:1] == ["cells"] and len(place) > 1:
            name = cells[place[1]].get("id") if isinstance(cells[place[1]], dict) else None
            place[:2] = [f"cell {name or place[1] + 1}"]
        where = ", ".join(map(str, place)) or "the notebook"
        why = error.message if len(error.message) < 100 else "does not fit the format"
        wanted = "wanted nbformat 4.5, as JupyterLab saves it"
        raise LearnError(f"{path.name}: {where}: {why}, {wanted}") from None
    return v4.reads(text)


def grading(cell) -> dict:
    """Return nbgrader's metadata of a cell, {} where it has none."""
    metadata = cell["metadata"].get("nbgrader")
    return metadata if isinstance(metadata, dict) else {}


def is_check(cell) -> bool:
    """Return whether a cell checks the cell above it."""
    return bool(is_code(cell) and grading(cell).get("grade")) and not is_solution(cell)


def is_solution(cell) -> bool:
    """Return whether a cell is marked to hold solutions."""
    return bool(grading(cell).get("solution"))


def is_code(cell) -> bool:
    """Return whether a cell holds code."""
    return cell["cell_type"] == "code"


def checks_called(cell) -> list[str]:
    """Return the checks that a cell calls, by what they check: "dcg", "quiz A"."""
    return [" ".join(filter(None, words)) for words in CHECKED.findall(cell["source"])]


def session_letter(name: str) -> str:
    """Return the letter of a session's file: session_a_corpus.ipynb gives A; F beyond the week."""
    return "F" if is_further(name) else Path(name).stem.split("_")[1].upper()


def regions(cell) -> list[tuple[int, int]]:
    """Return the (first, last) line of each solution region.

    Raises LearnError where the markers do not take turns.
    """
    spans, start = [], 0
    for number, line in enumerate(cell["source"].splitlines(), 1):
        mark, place = line.strip(), f"cell {cell['id']}, line {number}"
        if mark == BEGIN and start:
            raise LearnError(f"{place}: a region begins inside the one of line {start}")
        if mark == END and not start:
            raise LearnError(f"{place}: a region ends that never began")
        if mark == BEGIN:
            start = number
        elif mark == END:
            spans.append((start, number))
            start = 0
    if start:
        raise LearnError(f"cell {cell['id']}, line {start}: a region begins that never ends")
    return spans


def exercises_of(name: str, notebook) -> list[Exercise]:
    """Return the exercises of a session, numbered. Raises LearnError: which cell, what it lacks."""
    exercises, heading, cells = [], None, notebook["cells"]
    for index, cell in enumerate(cells):
        if not is_code(cell) and HEADING.search(cell["source"]):
            heading = index
        if not is_code(cell) or not is_solution(cell):
            continue
        place = f"{name}: cell {cell['id']}, line 1"
        if heading is None:
            raise LearnError(f"{place}: no heading '### Exercise: name' in a cell before it")
        _, title, quick_test = HEADING.search(cells[heading]["source"]).groups()
        plan = (PLAN if title else MINUTES).search(cells[heading]["source"])
        if plan is None:
            wanted = "the line 'difficulty 1 of 3 · 10 minutes · what for'"
            raise LearnError(f"{place}: its heading lacks {wanted}")
        check = next((n for n in range(index + 1, len(cells)) if is_code(cells[n])), None)
        if check is None or not is_check(cells[check]):
            wanted = "wanted nbgrader's metadata with grade"
            raise LearnError(f"{place}: the next code cell is no check: {wanted}")
        number = f"{session_letter(name)}{1 + sum(bool(e.number) for e in exercises)}"
        number = cell["metadata"].get("exercise", number)  # it may have moved out of a session
        ids = (grading(cell).get("grade_id"), heading, index, check)
        numbered = (number, title) if title else ("", quick_test)
        exercises.append(Exercise(*ids, *numbered, int(plan[1]), is_further(name)))
        heading = None
    return exercises
