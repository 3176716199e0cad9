"""The sessions as exercises."""

import nbformat
import pytest
from nbformat import v4

from helpers.learn import LearnError, exercises
from helpers.learn.exercises import BEGIN, END

from .small_session import code, markdown, session


def found(cells, name="session_c_x.ipynb"):
    return exercises.exercises_of(name, v4.new_notebook(cells=cells))


def without(cell_id):
    return [cell for cell in session() if cell.id != cell_id]


def test_quick_tests_have_minutes_and_no_number():
    cells = session()
    cells[2].source = "### Quick test\n\n15 minutes."
    assert [(e.number, e.title, e.minutes, e.further) for e in found(cells)] == [
        ("", "Quick test", 15, False),
        ("C1", "scaled", 10, False),
        ("C2", "shout", 10, False),
    ]


def test_an_exercise_names_its_three_cells():
    first, second, third = found(session(), "session_b_y.ipynb")
    assert first == ("longest-code", 2, 3, 4, "B1", "longest", 10, False)
    assert second == ("scaled-code", 7, 8, 9, "B2", "scaled", 10, False)
    assert third == ("shout-code", 13, 14, 15, "B3", "shout", 10, False)


@pytest.mark.parametrize("level", ["##", "###", "####"])
@pytest.mark.parametrize("difficulty", ["difficulty 1", "Difficulty 3"])
def test_headings_of_three_levels_and_difficulties(level, difficulty):
    cells = session()
    plan = f"{difficulty} of 3 · 7 minutes, then 9 minutes"
    cells[2].source = f"# Words\n\n{level} Exercise: a long name\n\n{plan}\n\n## More"
    assert found(cells)[0][3:] == (4, "C1", "a long name", 7, False)


@pytest.mark.parametrize(
    "head",
    ["# Exercise: x", "##### Exercise: x", "### Exercise:", "### Quick tests", "a ### Exercise: x"],
)
def test_other_headings_are_none_of_an_exercise(head):
    cells = session()
    cells[2].source = f"{head}\n\nDifficulty 1 of 3 · 10 minutes."
    words = "session_c_x.ipynb: cell longest-code, line 1: no heading '### Exercise: name'"
    with pytest.raises(LearnError, match=f"^{words} in a cell before it$"):
        found(cells)


@pytest.mark.parametrize(
    "plan", ["", "Difficulty 4 of 3 · 10 minutes", "Difficulty 1 of 3 · ten minutes", "10 minutes"]
)
def test_an_exercise_without_its_plan_is_refused(plan):
    cells = session()
    cells[7].source = f"### Exercise: scaled\n\n{plan}"
    words = "its heading lacks the line 'difficulty 1 of 3 · 10 minutes · what for'"
    with pytest.raises(LearnError, match=f"^session_c_x.ipynb: cell scaled-code, line 1: {words}$"):
        found(cells)


def test_a_heading_serves_one_exercise():
    with pytest.raises(LearnError, match="cell scaled-code, line 1: no heading"):
        found(without("scaled-head"))


def test_a_solution_without_its_check_is_refused():
    words = "the next code cell is no check: wanted nbgrader's metadata with grade"
    with pytest.raises(LearnError, match=f"cell scaled-code, line 1: {words}$"):
        found(without("scaled-check"))
    with pytest.raises(LearnError, match=f"cell shout-code, line 1: {words}$"):
        found(session()[:15])  # nothing follows it


def test_words_may_stand_between_a_solution_and_its_check():
    cells = session()
    cells.insert(4, markdown("between", "Now check it."))
    assert found(cells)[0][1:4] == (2, 3, 5)


def test_an_exercise_of_a_further_notebook_keeps_the_number_that_its_cell_says():
    cells = session()
    cells[next(n for n, c in enumerate(cells) if c.id == "scaled-code")].metadata["exercise"] = "A5"
    made = exercises.exercises_of("further/x.ipynb", v4.new_notebook(cells=cells))
    assert [(e.number, e.further) for e in made] == [("F1", True), ("A5", True), ("F3", True)]


def test_what_nbgrader_says_of_a_cell():
    plain, check = code("a", "1"), code("b", "1", grade=True, points=1)
    solution, both = code("c", "1", solution=True), code("d", "1", solution=True, grade=True)
    cells = [plain, check, solution, both, markdown("e", "1")]
    assert exercises.grading(plain) == {} and exercises.grading(check)["grade_id"] == "b"
    assert [exercises.is_check(cell) for cell in cells] == [False, True, False, False, False]
    assert [exercises.is_solution(cell) for cell in cells] == [False, False, True, True, False]
    assert [exercises.is_code(cell) for cell in cells] == [True, True, True, True, False]
    cells[4].metadata["nbgrader"] = dict(check.metadata["nbgrader"])
    assert exercises.is_check(cells[4]) is False


@pytest.mark.parametrize(
    ("lines", "regions"),
    [
        ([], []),
        (["a", "b"], []),
        ([BEGIN, END], [(1, 2)]),
        (["a", f"    {BEGIN}  ", "b", f"\t{END}", "c", BEGIN, "d", END], [(2, 4), (6, 8)]),
        ([f"x = 1  {BEGIN}", f"{END} of it"], []),
    ],
)
def test_regions_are_told_by_their_first_and_last_line(lines, regions):
    assert exercises.regions(code("x", "\n".join(lines))) == regions


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["a", BEGIN, BEGIN, END], "line 3: a region begins inside the one of line 2"),
        ([END], "line 1: a region ends that never began"),
        ([BEGIN, END, END], "line 3: a region ends that never began"),
        (["", BEGIN, "a"], "line 2: a region begins that never ends"),
        ([BEGIN, END, "", BEGIN], "line 4: a region begins that never ends"),
    ],
)
def test_markers_that_do_not_take_turns_are_refused(lines, words):
    with pytest.raises(LearnError, match=f"^cell x, {words}$"):
        exercises.regions(code("x", "\n".join(lines)))


def test_sessions_are_read_in_the_order_of_their_names(tmp_path):
    for name in ("session_b_x.ipynb", "session_a_y.ipynb", "other.ipynb", "session_c.md"):
        nbformat.write(v4.new_notebook(cells=[markdown("only", name)]), tmp_path / name)
    made = exercises.lessons(tmp_path)
    assert [(name, notebook.cells[0].source) for name, notebook in made.items()] == [
        (name, name) for name in ("session_a_y.ipynb", "session_b_x.ipynb")
    ]
    assert list(map(exercises.session_letter, made)) == ["A", "B"]
    names = [path.name for path in sorted(exercises.LESSONS.glob("s*.ipynb"))]
    beyond = [f"further/{p.name}" for p in sorted(exercises.LESSONS.glob("further/*.ipynb"))]
    assert [*exercises.lessons()] == names + beyond and len(names) == 3 <= len(beyond) + 2


def test_a_folder_without_sessions_is_refused(tmp_path):
    with pytest.raises(LearnError, match=f"^{tmp_path}: no session_\\*.ipynb$"):
        exercises.lessons(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"cells"',
            "<<<<<<<",
            r"cannot be read as a notebook \(broken JSON \(Expecting.* line 2 column 2 .*\)",
        ),
        ("# Session A", "\udcff", "cannot be read as a notebook .'utf-8' codec can't decode .*"),
        ('"id": "setup"', '"id": "a b"', r"cell a b, id: 'a b' does not match .*"),
        ('"id": "setup",', "", "cell 2: 'id' is a required property, wanted .*"),
        ('"tags": [', '"tags": "setup", "a": [', "cell scale, metadata, tags: 'setup' is not .*"),
        ('"cell_type": "code"', '"cell_type": "test"', "cell setup: does not fit the format, .*"),
        ('"cell_type": "code"', '"cell_type": 4', "cell setup: does not fit the format, .*"),
        ('"name": "stdout"', '"title": "stdout"', "cell setup, outputs, 0: .*"),
        (
            '"nbformat": 4',
            '"nbformat": 3',
            "nbformat: 3 is less than .*, wanted nbformat 4.5, as .*",
        ),
        ('"nbformat_minor": 5', '"nbformat_minor": 4', "nbformat_minor: 4 is less than .*"),
    ],
)
def test_a_notebook_that_is_not_valid_is_told_with_its_cell(tmp_path, old, new, words):
    text = nbformat.writes(v4.new_notebook(cells=session()))
    assert old in text
    path = tmp_path / "session_a_x.ipynb"
    path.write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogateescape"))
    with pytest.raises(LearnError, match=f"^session_a_x.ipynb: {words}$"):
        exercises.lessons(tmp_path)


@pytest.mark.parametrize("text", ["", "null", "[]", "3", '{"nbformat": 4, "cells": 1}'])
def test_what_is_no_notebook_is_refused(tmp_path, text):
    (tmp_path / "session_a_x.ipynb").write_text(text)
    with pytest.raises(LearnError, match="^session_a_x.ipynb: "):
        exercises.lessons(tmp_path)
