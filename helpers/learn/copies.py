"""Learner copies of the sessions, with stubs where solutions stand.

A session holds its solutions between `### BEGIN SOLUTION` and `### END SOLUTION`, in cells with
nbgrader's metadata. The copies are derived from it, never edited; `progress` runs them.
"""

import copy
import datetime
import html
import os
import re
import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

import nbformat

from .. import evalset, records

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = re.compile(r"\w[\w+.-]*:|/")  # https:, attachment:, a path from the root
NOTEBOOKS, LEARN = ROOT / "notebooks", ROOT / "learn"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KEYS = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}
STUB = ("# YOUR CODE HERE", 'raise NotImplementedError("not started yet")')
OWN_SET = """import os

os.environ.setdefault("EVALS", "evals")  # your copy in learn/evals, unless EVALS names another
"""
HEADING = re.compile(r"^(#{2,4}) (?:Exercise: (.+)|(Quick test))$", re.MULTILINE)
PLAN = re.compile(r"difficulty [123] of 3 · (\d+) minutes", re.IGNORECASE)
MINUTES = re.compile(r"(\d+) minutes")  # of a quick test, which has no difficulty
FURTHER = re.compile(r"^#+ Going further", re.MULTILINE)
LINK = re.compile(r"""(\]\(|(?:src|href)=["'])([^)"'#\s]+)""")


class LearnError(ValueError):
    """Everything that is wrong with the sources, a line for each problem."""


class Exercise(NamedTuple):
    """One solution cell with the heading before it and the check after it."""

    grade_id: str
    heading: int  # index of the Markdown cell
    code: int  # index of the solution cell
    check: int  # index of the check cell
    number: str  # "C2"; empty for a quick test
    title: str
    minutes: int
    further: bool  # stands in "Going further"


Problem = tuple[str, int, str]  # cell id, line, what is wrong


# Reading the sources.


def sources(notebooks: Path = NOTEBOOKS) -> dict[str, nbformat.NotebookNode]:
    """Return the sessions of a folder by file name, in order."""
    return {p.name: read(p) for p in sorted(notebooks.glob("session_*.ipynb"))}


def read(path: Path) -> nbformat.NotebookNode:
    """Return a notebook. Raises LearnError where it cannot be read."""
    try:
        return nbformat.read(path, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        raise LearnError(f"{path.name}: cannot be read as a notebook") from error


def grading(cell) -> dict:
    """Return nbgrader's metadata of a cell, {} where it has none."""
    return cell.metadata.get("nbgrader", {})


def is_check(cell) -> bool:
    """Return whether a cell checks the cell above it."""
    return bool(cell.cell_type == "code" and grading(cell).get("grade")) and not is_solution(cell)


def is_solution(cell) -> bool:
    """Return whether a cell is marked to hold solutions."""
    return bool(grading(cell).get("solution"))


def regions(cell) -> tuple[list[tuple[int, int]], list[tuple[int, str]]]:
    """Return the (first, last) line of each solution region, and (line, what is wrong)."""
    found, wrong, start = [], [], None
    for number, line in enumerate(cell.source.splitlines(), 1):
        word = line.strip()
        if word not in (BEGIN, END):
            if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
                wrong.append((number, f"{word!r} is no marker: wanted {BEGIN!r} or {END!r} alone"))
        elif word == BEGIN and start:
            wrong.append((number, f"a region begins inside the one of line {start}"))
        elif word == BEGIN:
            start = number
            if line == word:
                wrong.append((number, "a solution must stand in a function body, indented"))
        elif start is None:
            wrong.append((number, "a region ends that never began"))
        else:
            found.append((start, number))
            start = None
    if start:
        wrong.append((start, "a region begins that never ends"))
    return found, wrong


def exercises(name: str, notebook) -> list[Exercise]:
    """Return the exercises of a session, numbered. Raises LearnError with all problems."""
    found, problems = survey(name, notebook)
    if problems:
        raise LearnError("\n".join(problems))
    return found


def survey(name: str, notebook) -> tuple[list[Exercise], list[str]]:
    """Return the exercises of a session and what is wrong with its markers and metadata."""
    wrong = cell_problems(notebook.cells)
    found, misplaced = in_order(session_letter(name), notebook.cells)
    return found, [
        f"{name}: cell {i}, line {line}: {words}" for i, line, words in wrong + misplaced
    ]


def cell_problems(cells) -> list[Problem]:
    """Return the problems that each cell has by itself, and grade_ids given twice."""
    problems, taken = [], {}
    for cell in cells:
        areas, wrong = regions(cell)
        problems += [(cell.id, *found) for found in wrong]
        grade_id = grading(cell).get("grade_id")
        wanted = KEYS | ({"points"} if is_check(cell) else set())
        lacking = sorted(wanted - {*grading(cell)}) if grading(cell) else []
        complaints = {
            "markers in a cell that is not code": areas and not is_code(cell),
            "markers in a cell without nbgrader's solution metadata": (
                areas and not is_solution(cell)
            ),
            "nbgrader's solution metadata in a cell without markers": (
                is_solution(cell) and not (areas or wrong)
            ),
            f"nbgrader's metadata lacks {', '.join(lacking)}": lacking,
            f"grade_id {grade_id!r} is taken by cell {taken.get(grade_id)}": grade_id in taken,
        }
        line = areas[0][0] if areas else 1
        problems += [(cell.id, line, words) for words, holds in complaints.items() if holds]
        if grade_id:
            taken[grade_id] = cell.id
    return problems


def in_order(letter: str, cells) -> tuple[list[Exercise], list[Problem]]:
    """Return the exercises, and each whose heading, solution and check do not follow in order."""
    found, problems, heading, further = [], [], None, False
    for index, cell in enumerate(cells):
        if not is_code(cell):
            further = further or bool(FURTHER.search(cell.source))
            titles = HEADING.findall(cell.source)
            if titles and (heading is not None or len(titles) > 1):
                problems.append((cell.id, 1, "a second heading before the cell of the first one"))
            heading = index if titles else heading
        elif is_solution(cell):
            number = f"{letter}{1 + sum(bool(exercise.number) for exercise in found)}"
            try:
                found.append(exercise_at(index, heading, cells, number, further))
            except LearnError as error:
                problems.append((cell.id, 1, str(error)))
            heading = None
    if heading is not None:
        problems.append((cells[heading].id, 1, "an exercise's heading without a solution cell"))
    return found, problems


def exercise_at(code: int, heading: int | None, cells, number: str, further: bool) -> Exercise:
    """Return the exercise of the solution cell `code`. Raises LearnError: what it lacks."""
    if heading is None:
        raise LearnError("no heading '### Exercise: name' in a cell before it")
    _, name, test = HEADING.search(cells[heading].source).groups()
    plan = (PLAN if name else MINUTES).search(cells[heading].source)
    if plan is None:
        raise LearnError("its heading lacks the line 'difficulty 1 of 3 · 10 minutes · what for'")
    after = [index for index in range(code + 1, len(cells)) if is_code(cells[index])]
    if not after or not is_check(cells[after[0]]):
        raise LearnError("the next code cell is no check: wanted nbgrader's metadata with grade")
    place = (grading(cells[code]).get("grade_id"), heading, code, after[0])
    return Exercise(*place, number if name else "", name or test, int(plan[1]), further)


def is_code(cell) -> bool:
    """Return whether a cell holds code."""
    return cell.cell_type == "code"


def session_letter(name: str) -> str:
    """Return the letter of a session's file: session_a_corpus.ipynb gives A."""
    return Path(name).stem.split("_")[1].upper()


# Writing the copies.


def stubbed(cell) -> str:
    """Return the source of a cell with a stub in place of each region, at its indentation."""
    lines = cell.source.splitlines()
    for first, last in reversed(regions(cell)[0]):
        indent = lines[first - 1][: lines[first - 1].index("#")]
        lines[first - 1 : last] = [indent + line for line in STUB]
    return "\n".join(lines)


def learner_copy(name: str, notebook, names: set[str], notebooks: Path, folder: Path):
    """Return what a learner gets: stubs, numbers, no outputs, links that work from `folder`."""
    made = copy.deepcopy(notebook)
    for exercise in exercises(name, notebook):
        made.cells[exercise.code].source = stubbed(notebook.cells[exercise.code])
        made.cells[exercise.code].metadata["deletable"] = False
        made.cells[exercise.check].metadata |= {"deletable": False, "editable": False}
        if exercise.number:
            head = made.cells[exercise.heading]
            head.source = HEADING.sub(rf"\1 Exercise {exercise.number}: \2", head.source)
    first = next((cell for cell in made.cells if is_code(cell)), None)
    if first:
        first.source = f"{OWN_SET}\n{first.source}"
    for cell in made.cells:
        if is_code(cell):
            cell.update(outputs=[], execution_count=None)
        else:
            link = partial(moved_link, names=names, notebooks=notebooks, folder=folder)
            cell.source = LINK.sub(link, cell.source)
    return made


def moved_link(link: re.Match, names: set[str], notebooks: Path, folder: Path) -> str:
    """Return a link of a session as it must read in `folder`."""
    before, target = link.groups()
    if ELSEWHERE.match(target) or target in names:
        return link[0]
    return before + Path(os.path.relpath(notebooks / target, folder)).as_posix()


def make(fresh: bool = False, notebooks: Path = NOTEBOOKS, folder: Path = LEARN) -> list[str]:
    """Write the copies that are missing, or all of them afresh, and say what was done.

    Raises LearnError before anything is written. With `fresh` the old folder moves aside.
    """
    problems, made = static_problems(notebooks, folder)
    if problems:
        raise LearnError("\n".join(problems))
    if fresh and folder.exists():
        old, part = aside(folder), folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        write_all(made, part)
        copy_set(part / "evals")
        folder.rename(old)
        part.rename(folder)
        return [f"{folder.name}/ has new copies; the old ones stand in {old.name}/"]
    kept = [name for name in made if (folder / name).exists()]
    missing = {name: text for name, text in made.items() if name not in kept}
    write_all(missing, folder)
    copy_set(folder / "evals")
    said = [f"{folder.name}/{name} written" for name in missing]
    if kept:
        again = "make learn FRESH=1 moves them aside"
        said.append(f"left as they are in {folder.name}/: {', '.join(kept)} ({again})")
    return said


def write_all(texts: dict[str, str], folder: Path) -> None:
    """Write files by name; those written are removed again where one cannot be."""
    done = []
    try:
        for name, text in texts.items():
            records.write(folder / name, text)
            done.append(folder / name)
    except OSError:
        for path in done:
            path.unlink()
        raise


def copy_set(to: Path) -> None:
    """Copy the workbook's evaluation set, so that a learner's runs never overwrite it.

    The notes on failures are left out: writing them is the learner's part.
    """
    if not to.exists():
        leave = shutil.ignore_patterns("notes.md", "*.ipynb", "*.html", "comparisons", "*.part")
        part = to.with_name(to.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(evalset.DEFAULT, part, ignore=leave)
        part.rename(to)


def aside(folder: Path) -> Path:
    """Return the first free name with today's date: learn-2026-04-08, then learn-2026-04-08-2."""
    day = folder.with_name(f"{folder.name}-{datetime.date.today().isoformat()}")
    names = [day, *(day.with_name(f"{day.name}-{n}") for n in range(2, 1000))]
    return next(path for path in names if not path.exists())


# Checking.


def static_problems(notebooks: Path, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return what is wrong with the sessions as texts, and the copies of the sound ones."""
    problems, texts = [], {}
    found = sources(notebooks)
    if not found:
        problems.append(f"{notebooks}: no session_*.ipynb")
    for name, notebook in found.items():
        wrong = survey(name, notebook)[1]
        if not wrong:
            made = learner_copy(name, notebook, {*found}, notebooks, folder)
            wrong = leaks(name, notebook, made) + dead_links(name, made, {*found}, folder)
            texts[name] = nbformat.writes(made) + "\n"
        problems += wrong
    return problems, texts


def bare(text: str) -> str:
    """Return a text without white space and HTML entities, so that layouts compare equal."""
    return re.sub(r"\s+", "", html.unescape(text))


def solution_lines(cell) -> dict[str, str]:
    """Return the lines of a cell's solutions without comments: {bare line: line}."""
    lines = cell.source.splitlines()
    inside = [line.strip() for a, b in regions(cell)[0] for line in lines[a : b - 1]]
    return {bare(line): line for line in inside if line and line[0] != "#"}


def leaks(name: str, notebook, made) -> list[str]:
    """Return a line for each cell of a copy that tells a solution.

    It tells one with a line of 40 characters, or with lines of 12 that make half of it.
    """
    problems, texts = [], [(cell.id, bare(cell.source)) for cell in made.cells]
    for exercise in exercises(name, notebook):
        lines = solution_lines(notebook.cells[exercise.code])
        for cell_id, text in texts:
            told = [line for line in lines if len(line) >= 12 and line in text]
            share = sum(map(len, told)) / max(1, sum(map(len, lines)))
            longest = max(told, key=len, default="")
            if told and (share >= 0.5 or len(longest) >= 40):
                at = f"{name}: cell {cell_id}"
                problems.append(f"{at}: tells {exercise.grade_id}'s solution: {lines[longest]}")
    return problems


def dead_links(name: str, made, names: set[str], folder: Path) -> list[str]:
    """Return a line for each link of a copy that leads nowhere."""
    targets = [
        (cell.id, match[2])
        for cell in made.cells
        if not is_code(cell)
        for match in LINK.finditer(cell.source)
        if not ELSEWHERE.match(match[2])
    ]
    return [
        f"{name}: cell {cell_id}: link to {target}: no such file"
        for cell_id, target in targets
        if target not in names and not Path(os.path.normpath(folder / target)).exists()
    ]
