"""Learner copies of the lessons, with stubs where solutions stand.

The copies are derived from the sessions and never written over; `progress` runs them.
"""

import copy
import datetime
import errno
import os
import re
import shutil
import tempfile
from fnmatch import fnmatch
from functools import partial
from itertools import chain, count
from pathlib import Path

import nbformat

from .. import evalset, files
from . import LearnError
from .exercises import HEADING, LESSONS, exercises_of, is_code, is_further, lessons, regions
from .record import RECORD

LEARN = evalset.DEFAULT.parent / "learn"
STUB = ("# YOUR CODE HERE", 'raise NotImplementedError("not started yet")')
OWN_SET = """import os

os.environ.setdefault("EVALS", "{evals}")  # your copy in learn/evals, unless EVALS names another
"""
NOT_COPIED = ("notes.md", "predictions.json", "*.ipynb", "*.html", "comparisons", "*.part")
PART = ".part"  # of what is being written
AGAIN = "make learn FRESH=1 moves them aside"
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
    """Return the copies of the lessons by name, as they are to stand in `folder`.

    Raises LearnError where a lesson's solutions or exercises cannot be told.
    """
    made = {}
    for name, notebook in (found := lessons(notebooks)).items():
        sides = (notebooks / name).parent, (folder / name).parent
        link = partial(_moved_link, copied={notebooks / n for n in found}, sides=sides)
        made[name] = _learner_copy(name, notebook, link)
    return made


def _learner_copy(name: str, notebook, link) -> nbformat.NotebookNode:
    """Return what a learner gets: stubs, numbers, no outputs, links that work where it stands."""
    made = copy.deepcopy(notebook)
    for exercise in exercises_of(name, notebook):
        try:
            made.cells[exercise.code].source = stubbed(notebook.cells[exercise.code])
        except LearnError as error:
            raise LearnError(f"{name}: {error}") from None
        made.cells[exercise.code].metadata["deletable"] = False
        made.cells[exercise.check].metadata |= {"deletable": False, "editable": False}
        if exercise.number:
            head = made.cells[exercise.heading]
            head.source = HEADING.sub(rf"\1 Exercise {exercise.number}: \2", head.source)
    first = next((cell for cell in made.cells if is_code(cell)), None)
    if first:
        own = OWN_SET.format(evals="../evals" if is_further(name) else "evals")
        first.source = f"{own}\n{first.source}"
    for cell in made.cells:
        if is_code(cell):
            cell.update(outputs=[], execution_count=None)
        else:
            cell.source = LINK.sub(link, cell.source)
    return made


def _moved_link(link: re.Match, copied: set[Path], sides: tuple[Path, Path]) -> str:
    """Return a link of a lesson, which stands in the first of `sides`, as it reads in the second.

    Lessons that are copied too stand to each other as they did.
    """
    before, target = link.groups()
    if ELSEWHERE.match(target) or Path(os.path.normpath(sides[0] / target)) in copied:
        return link[0]
    return before + Path(os.path.relpath(sides[0] / target, sides[1])).as_posix()


def make(fresh: bool = False, notebooks: Path = LESSONS, folder: Path = LEARN) -> list[str]:
    """Write the copies that are missing, or all of them afresh, and say what was done.

    With `fresh` the old folder moves aside. What is new is written whole beside the folder, then
    renamed where nothing has that name: two runs at once leave one whole set. Raises LearnError
    before anything is written, and OSError, which names the folder, with nothing left of what was.
    """
    texts = {n: nbformat.writes(c) + "\n" for n, c in learner_copies(notebooks, folder).items()}
    names = [*texts, RECORD, "evals"]
    wanted = [name for name in names if fresh or not (folder / name).exists()]
    place = {"prefix": f"{folder.name}.", "suffix": PART, "dir": folder.parent}
    try:
        with tempfile.TemporaryDirectory(**place) as scratch:
            new = Path(scratch, folder.name)
            new.mkdir()
            for name in wanted:
                if name == "evals":
                    copy_set(new / name)
                else:
                    files.write(new / name, texts.get(name, ""))
            old = _move_aside(folder) if fresh else None
            made = _move_in(new, folder, wanted, fresh)
    except OSError as error:
        if PART in f"{error.filename or PART} {error.filename2}":
            error.filename = str(folder)  # which was wanted, not what is written meanwhile
        raise
    if old:
        return [f"{folder.name}/ has new copies; the old ones stand in {old.name}/"]
    said = [f"{folder.name}/{name} written" for name in texts if name in made]
    if kept := ", ".join(name for name in texts if name not in made):
        said.append(f"left as they are in {folder.name}/: {kept} ({AGAIN})")
    return said


def _move_in(new: Path, folder: Path, names: list[str], whole: bool) -> list[str]:
    """Rename a folder to its place and return which of `names` it brought; another may have been.

    What the folder there lacks is then moved into it, unless only the `whole` will do.
    """
    if _renamed(new, folder):
        return names
    made = []
    for name in () if whole else names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        made += [name] if _renamed(new / name, folder / name) else []
    return made


def _renamed(path: Path, to: Path) -> bool:
    """Rename a file or folder, unless another has that name; return whether it was done."""
    try:
        if not to.exists():
            path.rename(to)
            return True
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOENT):
            raise  # it is not that another run was faster
    return False


def _move_aside(folder: Path) -> Path | None:
    """Give a folder the first free name with today's date, learn-2026-04-08 or learn-2026-04-08-2.

    Return None where it is not there, or no longer.
    """
    day = folder.with_name(f"{folder.name}-{datetime.date.today().isoformat()}")
    names = chain([day], (day.with_name(f"{day.name}-{n}") for n in count(2)))
    while folder.exists():
        old = next(names)
        if _renamed(folder, old):
            return old
    return None


def copy_set(to: Path) -> None:
    """Copy the workbook's evaluation set, so that a learner's runs never overwrite it.

    Notes on failures and predictions are left out: writing them is the learner's part.
    """
    for path in sorted(evalset.DEFAULT.rglob("*")):
        name = path.relative_to(evalset.DEFAULT)
        if path.is_file() and not any(fnmatch(n, left) for n in name.parts for left in NOT_COPIED):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to / name)
