"""What passed checks and open exercises show; what copies and stored outputs must not."""

import json
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest

from helpers.teach import copies, workbook
from helpers.teach import exercises as learn
from helpers.teach.check import open_exercise, passed, verdict
from helpers.teach.exercises import BEGIN, END
from helpers.teach.predictions import NoPrediction

PLACES = passed.places_of_exercises()


def test_every_exercise_says_why_it_matters(tmp_path):
    for name in PLACES:
        if not name.startswith("quiz"):
            said, why = passed.passed_page(name, "right", tmp_path)["text/plain"].split("\n")
            sentences = re.findall(r"[.?](?:\s|$)", why)
            assert why[0].isupper() and why.endswith(".") and 1 <= len(sentences) <= 2, name


def test_an_exercise_is_named_and_solved_as_in_its_lesson(tmp_path):
    made = copies.copies_of_lessons(learn.LESSONS, tmp_path)
    names = []
    for lesson, notebook in learn.read_lessons().items():
        for e in learn.exercises_of(lesson, notebook):
            *others, last = checks = learn.checks_called(notebook.cells[e.check])
            names += checks
            heading, place = made[lesson].cells[e.heading].source, PLACES[last]
            title = place.called.replace(" ", ": ", 1)
            assert not e.number or f"Exercise {title}\n" in heading + "\n"
            lines = notebook.cells[e.code].source.split("\n")
            assert place.solution.split("\n") == [x for x in lines if x.strip() not in (BEGIN, END)]
            assert all(hint in " ".join(heading.split()) for hint in place.hints)
            assert len(place.hints) == heading.count("<summary>Hint ")
            assert all(PLACES[name] == place._replace(solution="") for name in others)
    assert sorted(names) == sorted(PLACES)
    assert passed.place_of_exercise("it") == passed.Place("it", "")


def test_a_page_tells_a_learner_and_not_the_session_itself(tmp_path):
    page = passed.passed_page("dcg", "dcg: right on <7> cases", tmp_path)
    assert page["text/plain"].startswith("dcg: right on <7> cases\n")
    assert page["text/html"].startswith(
        '<div style="color:#1a7f37;font-weight:600">dcg: right on &lt;7&gt; cases</div>'
    )
    assert "<details><summary>A model solution</summary><pre>def dcg(" in page["text/html"]
    own = passed.passed_page("dcg", "right", learn.LESSONS)
    assert "<details>" not in own["text/html"]
    unknown = passed.passed_page("it", "right", tmp_path)
    assert unknown == {
        "text/plain": "right",
        "text/html": f'<div style="{passed.PASSED_STYLE}">right</div><div></div>',
    }


def test_elsewhere_there_is_no_solution_and_no_error(tmp_path):
    place = passed.places_of_exercises.__wrapped__  # which keeps nothing
    assert place(tmp_path) == {}
    path = tmp_path / "session_c_metrics_and_writeup.ipynb"
    path.write_text("{")
    assert place(tmp_path) == {}
    lesson = learn.read_lessons()[path.name]
    for cell in filter(learn.is_solution, lesson.cells):
        cell.source = copies.with_stubs(cell)  # as in nbgrader's release version
    path.write_text(nbformat.writes(lesson))
    assert {exercise.solution for exercise in place(tmp_path).values()} == {""}


@pytest.mark.proof
def test_a_check_without_the_sessions_passes_and_tells_of_an_open_exercise(tmp_path):
    """As nbgrader runs it: helpers/teach/check and helpers are there, the sessions are not."""
    leave = shutil.ignore_patterns("*.ipynb", "tests", "__pycache__")
    for name in ("notebooks", "helpers"):
        shutil.copytree(workbook.ROOT / name, tmp_path / name, ignore=leave)
    dcg = "lambda gains: sum(g / log2(n) for n, g in enumerate(gains, 2))"
    code = (
        f"from math import log2; from helpers.teach import check; check.dcg({dcg}); check.dcg(...)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "dcg: right on 7 hand-made and 100 random cases" in done.stdout
    assert "NotStarted: dcg is not started yet: fill in the cell above" in done.stderr


@pytest.mark.proof
def test_a_kernel_and_a_model_solution_come_without_nbformat():
    """It takes a second to import."""
    code = (
        "import sys; from helpers.teach import check, pictures\n"
        "from helpers.teach.check import passed\n"
        "assert 'def dcg(' in passed.place_of_exercise('dcg').solution\n"
        "assert not {'nbformat', 'jsonschema', 'rfc3987_syntax'} & {*sys.modules}\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=workbook.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def lines_of_solutions():
    """Return {line without white space: line} of all solutions, lines that say something."""
    return {
        "".join(line.split()): line
        for nb in learn.read_lessons().values()
        for cell in nb.cells
        for first, last in learn.regions(cell)
        for line in cell.source.splitlines()[first : last - 1]
        if len("".join(line.split())) >= 25 and not line.strip().startswith("#")
    }


def test_no_copy_and_no_stub_and_no_stored_output_holds_a_line_of_a_solution(tmp_path):
    lines, told = lines_of_solutions(), []
    assert len(lines) > 50
    copies.learn_command(folder=tmp_path)
    for path in sorted(tmp_path.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        outputs = [c for c in notebook.cells if learn.is_code(c) and c.outputs]
        assert not outputs, f"{path.name}: a new copy stores outputs"
        for cell in filter(learn.is_solution, notebook.cells):
            assert "NotImplementedError" in cell.source, f"{path.name}: cell {cell.id}: no stub"
        page = "".join("\n".join(cell.source for cell in notebook.cells).split())
        told += [f"{path.name}: {line}" for bare, line in lines.items() if bare in page]
    assert told == []


def test_no_stored_output_shows_a_model_solution():
    wrong = [
        f"{path.name}: cell {cell.id}"
        for path in workbook.NOTEBOOKS
        for cell in filter(learn.is_code, nbformat.read(path, as_version=4).cells)
        if "A model solution" in json.dumps(cell.outputs)
    ]
    assert wrong == [], "a model solution is stored: run it in notebooks/"


def test_in_a_kernel_an_open_exercise_is_gone_to_and_nowhere_else(monkeypatch):
    shown, shell = [], SimpleNamespace()
    monkeypatch.setattr(open_exercise, "get_ipython", lambda: shell)
    monkeypatch.setattr(open_exercise, "display", lambda data, raw: shown.append(data))
    stub = verdict.not_started("dcg")
    assert stub._render_traceback_() == verdict.wrap_line(str(stub)) and shown == []
    stub = verdict.not_started("dcg")
    shell.kernel = "there"
    verdict.Wrong("it is wrong")._render_traceback_()
    assert shown == [] and stub._render_traceback_() == verdict.wrap_line(str(stub))
    stub._render_traceback_()  # IPython asks twice
    assert shown[0]["text/plain"] == "" and len(shown) == 1
    assert re.search(r"Date\.now\(\) - \d{13} < 30000", shown[0]["application/javascript"])
    assert "let open = cell.previousElementSibling;" in shown[0]["application/javascript"]
    refused = NoPrediction("9, 3")
    assert [refused._render_traceback_() for _ in "ab"] == [["9, 3"]] * 2 and len(shown) == 2
    assert "let open = cell;" in shown[1]["application/javascript"]
