"""Learner copies of the sessions, with stubs where solutions stand.

The copies are derived from the sessions and never written over; `progress` runs them.
"""

import copy
import datetime
import os
import re
import shutil
from functools import partial
from itertools import chain, count
from pathlib import Path

import nbformat

from .. import evalset, records
from .exercises import HEADING, LESSONS, exercises_of, is_code, regions, sessions

LEARN = evalset.DEFAULT.parent / "learn"
STUB = ("# YOUR CODE HERE", 'raise NotImplementedError("not started yet")')
OWN_SET = """import os

os.environ.setdefault("EVALS", "evals")  # your copy in learn/evals, unless EVALS names another
"""
OWN_WORK = ("notes.md", "predictions.json")
LINK = re.compile(r"""(\]\(|(?:src|href)=["'])([^)"'#\s]+)""")
ELSEWHERE = re.compile(r"\w[\w+.-]*:|/")  # https:, attachment:, a path from the root


def stubbed(cell) -> str:
    """Return the source of a cell with a stub in place of each region, at its indentation."""
    lines = cell.source.splitlines()
    for first, last in reversed(regions(cell)):
        indent = lines[first - 1][: lines[first - 1].index("#")]
        lines[first - 1 : last] = [indent + line for line in STUB]
    return "\n".join(lines)


def learner_copies(notebooks: Path, folder: Path) -> dict[str, nbformat.NotebookNode]:
    """Return the copies of the sessions by file name, as they are to stand in `folder`.

    Raises LearnError where a session's solutions or exercises cannot be told.
    """
    found = sessions(notebooks)
    link = partial(_moved_link, names={*found}, notebooks=notebooks, folder=folder)
    return {name: _learner_copy(name, notebook, link) for name, notebook in found.items()}


def _learner_copy(name: str, notebook, link) -> nbformat.NotebookNode:
    """Return what a learner gets: stubs, numbers, no outputs, links that work where it stands."""
    made = copy.deepcopy(notebook)
    for exercise in exercises_of(name, notebook):
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
            cell.source = LINK.sub(link, cell.source)
    return made


def _moved_link(link: re.Match, names: set[str], notebooks: Path, folder: Path) -> str:
    """Return a link of a session as it must read in `folder`."""
    before, target = link.groups()
    if ELSEWHERE.match(target) or target in names:
        return link[0]
    return before + Path(os.path.relpath(notebooks / target, folder)).as_posix()


def make(fresh: bool = False, notebooks: Path = LESSONS, folder: Path = LEARN) -> list[str]:
    """Write the copies that are missing, or all of them afresh, and say what was done.

    Raises LearnError before anything is written. With `fresh` the old folder moves aside.
    """
    copies = learner_copies(notebooks, folder)
    texts = {name: nbformat.writes(made) + "\n" for name, made in copies.items()}
    if fresh and folder.exists():
        return [_make_afresh(texts, folder)]
    kept = [name for name in texts if (folder / name).exists()]
    missing = {name: text for name, text in texts.items() if name not in kept}
    _write_all(missing, folder)
    copy_set(folder / "evals")
    said = [f"{folder.name}/{name} written" for name in missing]
    if kept:
        again = "make learn FRESH=1 moves them aside"
        said.append(f"left as they are in {folder.name}/: {', '.join(kept)} ({again})")
    return said


def _make_afresh(texts: dict[str, str], folder: Path) -> str:
    """Write all copies, move the old folder aside, and say where it is."""
    old, part = _aside(folder), folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    _write_all(texts, part)
    copy_set(part / "evals")
    folder.rename(old)
    part.rename(folder)
    return f"{folder.name}/ has new copies; the old ones stand in {old.name}/"


def _write_all(texts: dict[str, str], folder: Path) -> None:
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

    Notes on failures and predictions are left out: writing them is the learner's part.
    """
    if not to.exists():
        leave = shutil.ignore_patterns(*OWN_WORK, "*.ipynb", "*.html", "comparisons", "*.part")
        part = to.with_name(to.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(evalset.DEFAULT, part, ignore=leave)
        part.rename(to)


def _aside(folder: Path) -> Path:
    """Return the first free name with today's date: learn-2026-04-08, then learn-2026-04-08-2."""
    day = folder.with_name(f"{folder.name}-{datetime.date.today().isoformat()}")
    names = chain([day], (day.with_name(f"{day.name}-{n}") for n in count(2)))
    return next(path for path in names if not path.exists())
