"""Learner copies of the lessons, with stubs where solutions stand.

The copies are derived from the sessions and never written over; `progress` runs them.
"""

import copy
import datetime
import os
import re
from fnmatch import fnmatch
from itertools import chain, count
from pathlib import Path

import nbformat
import yaml
from nbformat import v4

from ..measure import evalset, files, results
from . import LearnError
from .check.passed import place_of_exercise
from .exercises import LESSONS, exercises_of, is_code, is_further, read_lessons, regions
from .record import RECORD

LEARN = evalset.DEFAULT.parent / "learn"
SHORT = LESSONS / "exercises" / "two_hours.yaml"
STUB = ("# YOUR CODE HERE", 'raise NotImplementedError("not started yet")')
OWN_SET = (
    'os.environ.setdefault("EVALS", "{}")  # your copy of the set, unless EVALS names another\n'
)
NOT_COPIED = ("notes.md", "predictions.json", "*.ipynb", "*.html", "comparisons", "*.part")
LINK = re.compile(r"""(\]\(|(?:src|href)=["'])([^)"'#\s]+)""")
ELSEWHERE = re.compile(r"\w[\w+.-]*:|/")  # https:, attachment:, a path from the root


def learn_command(
    fresh: bool = False, short: bool = False, notebooks: Path = LESSONS, folder: Path = LEARN
) -> list[str]:
    """Write the copies that are missing, or all of them afresh, and say what was done.

    With `fresh` the old folder moves aside; `short` is two hours, in a folder beside it. A new
    folder appears whole or not at all. Raises LearnError before anything is written, and OSError,
    which names the folder.
    """
    notebooks_by_name = copies_of_lessons(notebooks, folder, has_all=not short)
    if short:
        notebooks_by_name = {SHORT.with_suffix(".ipynb").name: in_two_hours(notebooks_by_name)}
        folder = folder.with_name(f"{folder.name}-short")
    texts = {name: nbformat.writes(made) + "\n" for name, made in notebooks_by_name.items()}
    former = None
    if fresh or not folder.exists():
        with files.new_folder(folder) as new:
            written = _write_missing(new, texts)
            former = _move_aside(folder)  # last, and again if another run was faster
    else:
        written = _write_missing(folder, texts)
    if former:
        return [f"{folder.name}/ has new copies; the old ones stand in {former.name}/"]
    lines = [f"{folder.name}/{name} written" for name in written]
    if kept := ", ".join(name for name in texts if name not in written):
        remedy = f"make learn {'SHORT=1 ' if short else ''}FRESH=1 moves them aside"
        lines.append(f"left as they are in {folder.name}/: {kept} ({remedy})")
    return lines


def in_two_hours(lessons: dict[str, nbformat.NotebookNode], plan: Path = SHORT):
    """Return the cells that a plan names, as one notebook below its title.

    Raises LearnError: which cell or exercise no lesson has.
    """
    content = yaml.safe_load(plan.read_text(encoding="utf-8"))
    cells = {cell.id: cell for lesson in lessons.values() for cell in lesson.cells}
    made = [v4.new_markdown_cell(content["title"].strip(), id="title")]
    for number, entry in enumerate(content["cells"]):
        try:
            if isinstance(entry, str):
                made += [cells[name] for name in entry.split()]
            else:
                ((kind, wanted),) = entry.items()
                made.append(_joint(kind, wanted, cells, f"joint-{number}"))
        except (LookupError, ValueError) as error:
            raise LearnError(f"{plan.name}: no lesson has {error}") from None
    return v4.new_notebook(cells=made)


def _joint(kind: str, wanted: str | dict[str, str], cells: dict, cell_id: str):
    """Return a cell that joins others: words or code of the plan, or part of a lesson.

    Raises LookupError or ValueError, which names what is not there.
    """
    if kind == "text":
        return v4.new_markdown_cell(wanted.strip(), id=cell_id)
    if kind == "code":
        return v4.new_code_cell(wanted.strip(), id=cell_id)
    if kind == "given":
        solution = place_of_exercise(wanted).solution
        if not solution:
            raise ValueError(f"the exercise {wanted}")
        return v4.new_code_cell(solution, id=cell_id)
    ((name, words),) = wanted.items()
    before, found, after = cells[name].source.partition(words)
    if not found:
        raise ValueError(f"{words!r} in the cell {name}")
    return v4.new_markdown_cell(found + after, id=name)


def _write_missing(folder: Path, texts: dict[str, str]) -> list[str]:
    """Write the copies, the record and the set that a folder lacks; return the copies' names."""
    missing = [name for name in texts if not (folder / name).exists()]
    for name in missing:
        files.write(folder / name, texts[name])
    if not (folder / RECORD).exists():
        files.write(folder / RECORD, "")
    if not (folder / "evals").exists():
        with files.new_folder(folder / "evals") as new:
            copy_set(new)
    return missing


def _move_aside(folder: Path) -> Path | None:
    """Give a folder that is there the first free name with today's date: learn-2026-04-08-2."""
    if not folder.exists():
        return None
    day = f"{folder.name}-{datetime.date.today().isoformat()}"
    names = chain([day], (f"{day}-{n}" for n in count(2)))
    former = next(path for path in map(folder.with_name, names) if not path.exists())
    return folder.rename(former)


def copy_set(to: Path) -> None:
    """Copy the workbook's evaluation set, so that a learner's runs never overwrite it.

    Notes on failures and predictions are left out, all but word pairs: writing them is the
    learner's part.
    """
    for path in sorted(evalset.DEFAULT.rglob("*")):
        name = path.relative_to(evalset.DEFAULT)
        if path.is_file() and not any(fnmatch(n, left) for n in name.parts for left in NOT_COPIED):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            (to / name).write_bytes(path.read_bytes())
    sections = []  # the pairs of words, which session A shows; a learner writes the notes
    for query_id in results.read_notes(evalset.DEFAULT):
        pairs = results.read_word_pairs(evalset.DEFAULT, query_id)
        if words := ", ".join(map(" = ".join, pairs)):
            sections.append(f"## {query_id}\nWords: {words}\n")
    if sections:
        files.write(to / "notes.md", "\n".join(["# Notes on dev results\n", *sections]))


def copies_of_lessons(
    notebooks: Path, folder: Path, has_all: bool = True
) -> dict[str, nbformat.NotebookNode]:
    """Return the copies of the lessons by name, as they are to stand in `folder`.

    Stubs, no outputs, links that lead where they led; unless `folder` `has_all` copies,
    those to lessons lead to the originals. Raises LearnError where a lesson's solutions or
    exercises cannot be told.
    """
    sources = read_lessons(notebooks)
    copied = {notebooks / name for name in sources if has_all}
    copies = {}
    for name, source in sources.items():
        made = copies[name] = copy.deepcopy(source)
        _open_exercises(name, made)
        first = next((cell for cell in made.cells if is_code(cell)), None)
        if first:
            evals = "../evals" if is_further(name) else "evals"
            first.source = with_own_set(first.source, evals)
        for cell in made.cells:
            if is_code(cell):
                cell.update(outputs=[], execution_count=None)
            else:
                place, home = (notebooks / name).parent, (folder / name).parent
                cell.source = with_new_links(cell.source, place, home, copied)
    return copies


def with_own_set(source: str, evals: str) -> str:
    """Return the first cell of a lesson, which then takes the set in the folder `evals`."""
    path_set = re.search(r"^sys\.path\.insert.*\n", source, re.MULTILINE)
    at = path_set.end() if path_set else 0
    return f"import os\n{source[:at]}{OWN_SET.format(evals)}{source[at:]}"


def _open_exercises(name: str, made: nbformat.NotebookNode) -> None:
    """Put stubs into a copy, and keep its answer and check cells from being deleted."""
    for exercise in exercises_of(name, made):
        code, check = made.cells[exercise.code], made.cells[exercise.check]
        code.source = with_stubs(code)
        code.metadata["deletable"] = False
        check.metadata |= {"deletable": False, "editable": False}


def with_stubs(cell) -> str:
    """Return the source of a cell with a stub in place of each region, at its indentation."""
    lines = cell.source.splitlines()
    for first, last in reversed(regions(cell)):
        indent = lines[first - 1][: lines[first - 1].index("#")]
        lines[first - 1 : last] = [indent + line for line in STUB]
    return "\n".join(lines)


def with_new_links(text: str, place: Path, home: Path, copied: set[Path]) -> str:
    """Return Markdown that stood in `place` with links for `home`; lessons are `copied` along."""

    def link(match: re.Match) -> str:
        before, target = match.groups()
        leads_to = Path(os.path.normpath(place / target))
        if ELSEWHERE.match(target) or leads_to in copied:
            return match[0]
        return before + Path(os.path.relpath(leads_to, home)).as_posix()

    return LINK.sub(link, text)
