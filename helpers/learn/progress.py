"""How far a learner is: runs the copies, each in a child process, and reports per exercise.

A child runs imports, definitions and constants of a copy, its setup cells, its exercises, and the
checks of the committed session. It goes on after errors; a cell that does not end is stopped.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

import nbformat

from . import copies
from .cells import CHECK, CODE, PART, START, STUB, WHOLE, Failure, Step, run

LIMIT = 10  # seconds for a learner's cell or its check


class Row(NamedTuple):
    """What is reported of one exercise."""

    exercise: copies.Exercise
    status: str  # done, wrong, not started, broken, missing
    words: str


def whole_cells(notebook) -> set[str]:
    """Return the ids of cells that run in full: the first with code, and those tagged setup."""
    code = [cell for cell in notebook.cells if copies.is_code(cell)]
    tagged = {cell.id for cell in code if "setup" in cell.metadata.get("tags", [])}
    return tagged | {cell.id for cell in code[:1]}


def steps_of(source, copied, found: list[copies.Exercise]) -> list[Step]:
    """Return what to run: the copy's cells in their order, with the checks of the source."""
    checks = {e.grade_id: source.cells[e.check].source for e in found}
    whole = whole_cells(source)
    steps = []
    for cell in filter(copies.is_code, copied.cells):
        grade_id = copies.grading(cell).get("grade_id")
        if grade_id in checks:
            steps.append(Step(CODE, grade_id, cell.source))
            steps.append(Step(CHECK, grade_id, checks[grade_id]))
        elif not copies.is_check(cell):
            steps.append(Step(WHOLE if cell.id in whole else PART, cell.id, cell.source))
    last = max((n for n, step in enumerate(steps, 1) if step.kind == CHECK), default=0)
    return steps[:last]


def rows(name: str, source, folder: Path, evals: Path, limit: float = LIMIT) -> list[Row]:
    """Return a row for each exercise of one session, from the copy in `folder`."""
    found = copies.exercises(name, source)
    if not (folder / name).exists():
        return [Row(e, "missing", "no copy yet; make learn writes it") for e in found]
    try:
        steps = steps_of(source, copies.read(folder / name), found)
    except copies.LearnError as error:
        return [Row(e, "broken", str(error)) for e in found]
    ended = run(steps, folder, evals, limit)
    broken, judged = "", {}
    for n, (step, failed) in enumerate(zip(steps, ended, strict=True)):
        if step.kind in (PART, WHOLE) and failed:
            broken = broken or f"cell {step.name}, {at_line(failed)}"
        if step.kind == CODE:  # its check comes next
            judged[step.name] = verdict(failed or ended[n + 1], step.source, broken)
    missing = ("missing", "its cell is gone; make learn FRESH=1 writes new copies")
    return [Row(e, *judged.get(e.grade_id, missing)) for e in found]


def verdict(found: Failure | None, source: str, broken: str) -> tuple[str, str]:
    """Return status and words of an exercise from how its cell or else its check failed."""
    if found is None:
        return "done", ""
    if found.kind in ("NotStarted", "NotImplementedError"):
        if "raise NotImplementedError" in source:
            return "not started", ""
        return "wrong", "it uses an exercise that is not started"
    if found.kind in ("Endless", "Ended"):
        return "wrong", found.text
    if broken:
        return "broken", broken
    return "wrong", found.text if found.kind == "Wrong" else at_line(found)


def at_line(found: Failure) -> str:
    """Return a failure in one line."""
    return f"line {found.line}: {found.kind}: {found.text}"


def table(sessions: dict[str, tuple[str, list[Row]]]) -> str:
    """Return the report: sessions by file name, each with its title and rows."""
    lines, following = [], {}
    for name, (title, found) in sessions.items():
        core = [row for row in found if not row.exercise.further]
        minutes = sum(row.exercise.minutes for row in core if row.status == "done")
        planned = sum(row.exercise.minutes for row in core)
        n = sum(row.status == "done" for row in core)
        lines.append(f"{title}: {n} of {len(core)} done, {minutes} of {planned} minutes")
        width = max((len(row.exercise.title) for row in found), default=0)
        for row in found:
            e = row.exercise
            words = shorten(row.words, 100, placeholder=" …")
            state = f"{row.status:<11}  {words}".rstrip()
            further = "+" if e.further else " "
            lines.append(f" {further}{e.number:<3} {e.title:<{width}}  {e.minutes:>3} min  {state}")
            if row.status != "done":
                following.setdefault(e.further, f"{label(e)} ({e.minutes} minutes) in {name}")
        lines.append("")
    if any(row.exercise.further for _, found in sessions.values() for row in found):
        lines.append("+ going further, not in the minutes of the week")
    come = following.get(False) or following.get(True)
    return "\n".join([*lines, f"next: {come}" if come else "everything is done"])


def label(exercise: copies.Exercise) -> str:
    """Return number and title of an exercise."""
    return f"{exercise.number} {exercise.title}".strip()


def title_of(notebook) -> str:
    """Return the first heading of a notebook."""
    return notebook.cells[0].source.splitlines()[0].lstrip("# ")


def progress(evals: Path, notebooks=copies.NOTEBOOKS, folder=copies.LEARN, limit=LIMIT) -> str:
    """Return the report on the copies in `folder`. Raises LearnError where there are none."""
    found = copies.sources(notebooks)
    if not any((folder / name).exists() for name in found):
        raise copies.LearnError(f"no copies in {folder.name}/ yet; make learn writes them")
    with ThreadPoolExecutor() as pool:
        jobs = {
            name: pool.submit(rows, name, source, folder, evals, limit)
            for name, source in found.items()
        }
        return table({name: (title_of(found[name]), job.result()) for name, job in jobs.items()})


# Checking the sessions.


def problems(notebooks: Path, evals: Path) -> list[str]:
    """Return what is wrong with the sessions as learners will get them.

    Each copy must run up to its first exercise; each check must tell a stub from the solution.
    """
    # beside the sessions, where the copies will stand, so that relative paths mean the same
    with (
        tempfile.TemporaryDirectory(dir=notebooks.parent, prefix="learn-check-") as scratch,
        ThreadPoolExecutor() as pool,
    ):
        found, texts = copies.static_problems(notebooks, Path(scratch))
        read = {name: nbformat.reads(text, as_version=4) for name, text in texts.items()}
        sources = copies.sources(notebooks)
        jobs = [
            pool.submit(rehearse, name, sources[name], copied, Path(scratch), evals)
            for name, copied in read.items()
        ]
        return found + [line for job in jobs for line in job.result()]


def rehearse(name: str, source, copied, folder: Path, evals: Path) -> list[str]:
    """Return what goes wrong where a learner leaves each stub, then puts the solution there."""
    steps = rehearsal(source, copied, copies.exercises(name, source))
    lines, ended = [], run(steps, folder, evals, START)
    for n, (step, found) in enumerate(zip(steps, ended, strict=True)):
        at = f"{name}: cell {step.name}, {at_line(found)}" if found else f"{name}: {step.name}"
        stub = step.kind == CHECK and steps[n - 1].kind == STUB
        if stub and (found is None or found.kind != "NotStarted"):
            lines.append(f"{at}: the check does not say of the stub that it is not started")
        elif step.kind == STUB and found:
            lines.append(f"{at}: the copy's cell fails before its check; calls go after the check")
        elif step.kind in (CODE, CHECK) and found and not stub:
            lines.append(f"{at}: the solution fails where only setup cells and definitions ran")
        elif step.kind in (WHOLE, PART) and found:
            lines.append(f"{at}: the copy stops before its exercises")
    return lines


def rehearsal(source, copied, found: list[copies.Exercise]) -> list[Step]:
    """Return all cells up to the first exercise, then for each its stub and its solution."""
    by_cell = {e.code: e for e in found}
    whole, steps = whole_cells(source), []
    for index, cell in enumerate(source.cells[: max(by_cell, default=-1) + 1]):
        if index in by_cell:
            e = by_cell[index]
            check = Step(CHECK, e.grade_id, source.cells[e.check].source)
            steps += [Step(STUB, e.grade_id, copied.cells[index].source), check]
            steps += [Step(CODE, e.grade_id, cell.source), check]
        elif copies.is_code(cell) and not copies.is_check(cell):
            full = cell.id in whole or index < min(by_cell)
            steps.append(Step(WHOLE if full else PART, cell.id, cell.source))
    return steps
