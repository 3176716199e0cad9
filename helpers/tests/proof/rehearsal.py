"""What must hold for a session before learners get copies of it.

Markers, metadata and headings are sound; no cell tells a solution; links work; all cells run with
the solutions in; each check tells a stub from the solution.
"""

import html
import os
import re
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

from helpers.measure import files
from helpers.teach import LearnError, copies, exercises, workbook

KEYS = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}


def session_problems(name: str, notebooks: Path, folder: Path, evals: Path) -> list[str]:
    """Return what is wrong with a session as learners will get it in `folder`."""
    lessons = exercises.read_lessons(notebooks)
    source, problems = lessons[name], source_problems(name, lessons[name])
    if not problems:
        copied = copies.copies_of_lessons(notebooks, folder)[name]
        problems = leaks(name, source, copied) + dead_links(name, copied, {*lessons}, folder)
        problems += rehearse(name, source, copied, (folder / name).parent, evals)
    return problems


def source_problems(name: str, notebook) -> list[str]:
    """Return what is wrong with a session's markers, metadata, headings and checks."""
    taken, problems, awaited = {}, [], []
    for cell in notebook.cells:
        place = f"{name}: cell {cell.id}, line"
        cell_problems = marker_problems(cell) or metadata_problems(cell, taken)
        problems += [f"{place} {line}: {words}" for line, words in cell_problems]
        taken[exercises.grading(cell).get("grade_id")] = cell.id
        if exercises.is_solution(cell):
            awaited = awaited[:-1]
        if not exercises.is_code(cell):
            awaited += [cell.id] * len(exercises.HEADING.findall(cell.source))
        answerable = 0 if cell is notebook.cells[-1] else 1
        for heading in awaited[: len(awaited) - answerable]:
            problems.append(
                f"{name}: cell {heading}: an exercise's heading without a solution cell"
            )
        awaited = awaited[len(awaited) - answerable :] if answerable else []
    try:
        exercises.exercises_of(name, notebook)
    except LearnError as error:
        problems.append(str(error))
    return problems


def marker_problems(cell) -> list[tuple[int, str]]:
    marks, problems = (exercises.BEGIN, exercises.END), []
    for number, line in enumerate(cell.source.splitlines(), 1):
        if re.search("(BEGIN|END) SOLUTION", line) and line.strip() not in marks:
            problems.append((number, f"{line.strip()!r} is no marker: wanted {marks} alone"))
        if line == exercises.BEGIN:
            problems.append((number, "a solution must stand in a function body, indented"))
    try:
        exercises.regions(cell)
    except LearnError as error:
        line, words = re.fullmatch(r"line (\d+): (.+)", str(error)).groups()
        problems.append((int(line), words))
    return problems


def metadata_problems(cell, taken: dict[str, str]) -> list[tuple[int, str]]:
    """Return (line, what is wrong) with nbgrader's metadata of a cell; `taken` are those before."""
    areas, marked = exercises.regions(cell), exercises.is_solution(cell)
    grading = exercises.grading(cell)
    wanted = KEYS | ({"points"} if exercises.is_check(cell) else set())
    lacking, grade_id = wanted - {*grading} if grading else {}, grading.get("grade_id")
    complaints = {
        "markers in a cell without nbgrader's solution metadata": areas and not marked,
        "markers in a cell that is not code": areas and not exercises.is_code(cell),
        "nbgrader's solution metadata in a cell without markers": marked and not areas,
        f"nbgrader's metadata lacks {', '.join(sorted(lacking))}": lacking,
        f"grade_id {grade_id!r} is taken by cell {taken.get(grade_id)}": grading
        and grade_id in taken,
    }
    line = areas[0][0] if areas else 1
    return [(line, words) for words, holds in complaints.items() if holds]


def bare(text: str) -> str:
    """Return a text without white space and HTML entities, so that layouts compare equal."""
    return re.sub(r"\s+", "", html.unescape(text))


def solution_lines(cell) -> dict[str, str]:
    """Return the lines of a cell's solutions without comments: {bare line: line}."""
    lines = cell.source.splitlines()
    inside = [line.strip() for a, b in exercises.regions(cell) for line in lines[a : b - 1]]
    return {bare(line): line for line in inside if line and line[0] != "#"}


def leaks(name: str, notebook, copy) -> list[str]:
    """Return a line for each cell of a copy that tells a solution.

    It tells one with a line of 40 characters, or with lines of 12 that make half of it.
    """
    problems = []
    for exercise in exercises.exercises_of(name, notebook):
        lines = solution_lines(notebook.cells[exercise.code])
        for cell in copy.cells:
            told = [line for line in lines if len(line) >= 12 and line in bare(cell.source)]
            share = sum(map(len, told)) / max(1, sum(map(len, lines)))
            longest = max(told, key=len, default="")
            if told and (share >= 0.5 or len(longest) >= 40):
                words = f"tells {exercise.grade_id}'s solution: {lines[longest]}"
                problems.append(f"{name}: cell {cell.id}: {words}")
    return problems


def dead_links(name: str, copy, names: set[str], folder: Path) -> list[str]:
    """Return a line for each link of a copy that leads nowhere."""
    problems = []
    for cell in copy.cells:
        for _, target in copies.LINK.findall("" if exercises.is_code(cell) else cell.source):
            lesson = Path(os.path.normpath(Path(name).parent / target)).as_posix()
            is_there = Path(os.path.normpath((folder / name).parent / target)).exists()
            if not (copies.ELSEWHERE.match(target) or lesson in names or is_there):
                problems.append(f"{name}: cell {cell.id}: link to {target}: no such file")
    return problems


def rehearse(name: str, source, copied, folder: Path, evals: Path) -> list[str]:
    """Return what goes wrong where a learner leaves each stub, then puts the solution there."""
    path = folder / "rehearsal.ipynb"
    files.write(
        path, nbformat.writes(rehearsal(source, copied, exercises.exercises_of(name, source)))
    )
    run_copy(path, evals)
    problems = []
    for cell in filter(exercises.is_code, exercises.read_notebook(path).cells):
        errors = [output for output in cell.outputs if output.output_type == "error"]
        place = f"{name}: cell {cell.metadata.was}: "
        if cell.metadata.kind == "check of a stub":
            if not tells_not_started(cell.outputs):
                problems.append(f"{place}does not say of the stub that it is not started")
        else:
            problems += [f"{place}{cell.metadata.kind}: {e.ename}: {e.evalue}" for e in errors]
    return problems


def tells_not_started(outputs: list) -> bool:
    """Return whether a check says of a stub that it is not started; of an optional one in print."""
    errors = [output.ename for output in outputs if output.output_type == "error"]
    printed = "".join(output.get("text", "") for output in outputs)
    return errors == ["NotStarted"] or (not errors and "(it's optional)" in printed)


def rehearsal(source, copied, found: list[exercises.Exercise]):
    """Return the notebook with each stub and its check before the solution and its check."""
    check_of, order = {e.code: e.check for e in found}, []
    for index, cell in enumerate(source.cells):
        if index in check_of:
            order.append((copied.cells[index], "stub"))
            order.append((source.cells[check_of[index]], "check of a stub"))
        if exercises.is_code(cell):
            answers = index in check_of or exercises.is_check(cell)
            order.append((cell, "solution" if answers else "cell"))
    new = nbformat.v4.new_code_cell
    cells = [new(cell.source, metadata={"kind": kind, "was": cell.id}) for cell, kind in order]
    return nbformat.v4.new_notebook(cells=cells)


def run_copy(path: Path, evals: Path) -> None:
    """Run all cells of a copy and save it with what they show; an error ends no run."""
    notebook = exercises.read_notebook(path)
    kernels = AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    client = NotebookClient(notebook, km=kernels, allow_errors=True, timeout=60)
    client.execute(cwd=str(path.parent), env=workbook.environment(evals), cleanup_kc=True)
    nbformat.write(notebook, path)
