"""The sessions as exercises."""

import re

import nbformat
import pytest
from nbformat import v4

from helpers.learn import LearnError, exercises
from helpers.learn.exercises import BEGIN, END

from .small_session import changed, code, markdown, session

NAME = "session_c_x.ipynb"


def found(cells, name=NAME):
    return exercises.exercises_of(name, v4.new_notebook(cells=cells))


def without(cell_id):
    return [cell for cell in session() if cell.id != cell_id]


def test_an_exercise_names_its_three_cells_its_number_and_minutes():
    assert found(session(), "session_b_y.ipynb") == [
        ("longest-code", 2, 3, 4, "B1", "longest", 10, False),
        ("scaled-code", 7, 8, 9, "B2", "scaled", 10, False),
        ("shout-code", 13, 14, 15, "B3", "shout", 10, False),
    ]
    quick_test, scaled, _ = found(changed("longest-head", source="### Quick test\n\n15 minutes."))
    assert quick_test[4:] == ("", "Quick test", 15, False) and scaled.number == "C1"
    cells = changed("scaled-code")  # it stood in a session once
    next(cell for cell in cells if cell.id == "scaled-code").metadata["exercise"] = "A5"
    moved = found(cells, "further/x.ipynb")
    assert [(e.number, e.further) for e in moved] == [("F1", True), ("A5", True), ("F3", True)]
    cells.insert(4, markdown("between", "Now check it."))
    assert found(cells)[0][1:4] == (2, 3, 5)


def test_headings_have_three_levels_and_a_plan():
    for head in ("## Exercise: x\n\ndifficulty 1", "# A\n\n#### Exercise: x\n\nDifficulty 3"):
        cells = changed("longest-head", source=f"{head} of 3 · 7 minutes, then 9 minutes\n\n## B")
        assert found(cells)[0][3:] == (4, "C1", "x", 7, False), head
    plan = "Difficulty 1 of 3 · 10 minutes."
    for head in ("# Exercise: x", "##### Exercise: x", "### Exercise:", "a ### Exercise: x"):
        with pytest.raises(LearnError, match="cell longest-code, line 1: no heading '### Exercise"):
            found(changed("longest-head", source=f"{head}\n\n{plan}"))
    for plan in ("", "Difficulty 4 of 3 · 10 minutes", "Difficulty 1 of 3 · ten minutes"):
        with pytest.raises(LearnError, match="lacks the line 'difficulty 1 of 3 · 10 minutes ·"):
            found(changed("scaled-head", source=f"### Exercise: x\n\n{plan}"))


def test_an_exercise_that_lacks_something_is_refused_with_its_cell():
    check = "the next code cell is no check: wanted nbgrader's metadata with grade"
    for cells, place, words in (
        (without("scaled-head"), "scaled-code", "no heading '### Exercise: name' in a cell before"),
        (without("scaled-check"), "scaled-code", check),
        (session()[:15], "shout-code", check),  # nothing follows it
    ):
        with pytest.raises(LearnError, match=f"^{NAME}: cell {place}, line 1: {words}"):
            found(cells)


def test_what_nbgrader_says_of_a_cell():
    plain, check = code("a", "1"), code("b", "1", grade=True, points=1)
    solution, both = code("c", "1", solution=True), code("d", "1", solution=True, grade=True)
    words, odd = markdown("e", "1"), code("f", "1")
    words.metadata["nbgrader"], odd.metadata["nbgrader"] = check.metadata["nbgrader"], 3
    cells = [plain, check, solution, both, words, odd]
    assert exercises.grading(check)["grade_id"] == "b"
    assert exercises.grading(plain) == exercises.grading(odd) == {}
    assert [cell.id for cell in cells if exercises.is_check(cell)] == ["b"]
    assert [cell.id for cell in cells if exercises.is_solution(cell)] == ["c", "d"]


def test_regions_are_told_by_their_first_and_last_line():
    for lines, regions in (
        (["a", "b"], []),
        ([BEGIN, END], [(1, 2)]),
        (["a", f"    {BEGIN}  ", "b", f"\t{END}", "c", BEGIN, "d", END], [(2, 4), (6, 8)]),
        ([f"x = 1  {BEGIN}", f"{END} of it"], []),
    ):
        assert exercises.regions(code("x", "\n".join(lines))) == regions
    for lines, words in (
        (["a", BEGIN, BEGIN, END], "line 3: a region begins inside the one of line 2"),
        ([END], "line 1: a region ends that never began"),
        ([BEGIN, END, END], "line 3: a region ends that never began"),
        (["", BEGIN, "a"], "line 2: a region begins that never ends"),
        ([BEGIN, END, "", BEGIN], "line 4: a region begins that never ends"),
    ):
        with pytest.raises(LearnError, match=f"^cell x, {words}$"):
            exercises.regions(code("x", "\n".join(lines)))


def test_sessions_are_read_in_the_order_of_their_names(tmp_path):
    with pytest.raises(LearnError, match=f"^{tmp_path}: no session_\\*.ipynb$"):
        exercises.lessons(tmp_path)
    for name in ("session_b_x.ipynb", "session_a_y.ipynb", "other.ipynb", "session_c.md"):
        nbformat.write(v4.new_notebook(cells=[markdown("only", name)]), tmp_path / name)
    made = exercises.lessons(tmp_path)
    assert [notebook.cells[0].source for notebook in made.values()] == [*made]
    assert [*made] == ["session_a_y.ipynb", "session_b_x.ipynb"]
    assert list(map(exercises.session_letter, made)) == ["A", "B"]
    names = [path.name for path in sorted(exercises.LESSONS.glob("s*.ipynb"))]
    beyond = [f"further/{p.name}" for p in sorted(exercises.LESSONS.glob("further/*.ipynb"))]
    assert [*exercises.lessons()] == names + beyond and len(names) == 3 <= len(beyond) + 2


BROKEN = [  # (text of a notebook, what stands in its place, what is said)
    ('"cells"', "<<<<<<<", r"cannot be read as a notebook \(broken JSON .* line 2 column 2 .*\)"),
    ("# Session A", "\udcff", "cannot be read as a notebook .'utf-8' codec can't decode .*"),
    ('"id": "setup"', '"id": "a b"', r"cell a b, id: 'a b' does not match .*"),
    ('"id": "setup",', "", "cell 2: 'id' is a required property, wanted .*"),
    ('"tags": [', '"tags": "setup", "a": [', "cell scale, metadata, tags: 'setup' is not .*"),
    ('"cell_type": "code"', '"cell_type": "test"', "cell setup: does not fit the format, .*"),
    ('"cell_type": "code"', '"cell_type": 4', "cell setup: does not fit the format, .*"),
    ('"cell_type": "code"', '"cell_type": null', "cell setup: does not fit the format, .*"),
    ('"name": "stdout"', '"title": "stdout"', "cell setup, outputs, 0: .*"),
    ('"nbformat": 4', '"nbformat": 3', "nbformat: 3 is less than .*, wanted nbformat 4.5, as .*"),
    ('"nbformat_minor": 5', '"nbformat_minor": 4', "nbformat_minor: 4 is less than .*"),
]


def test_a_notebook_that_is_not_valid_is_told_with_its_cell(tmp_path):
    text = nbformat.writes(v4.new_notebook(cells=session()))
    path = tmp_path / "session_a_x.ipynb"
    for old, new, words in BROKEN:
        assert old in text
        path.write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogateescape"))
        with pytest.raises(LearnError) as caught:
            exercises.lessons(tmp_path)
        assert re.fullmatch(f"session_a_x.ipynb: {words}", str(caught.value)), caught.value
    nested = "[" * 100_000
    for text in ("", "null", "[]", "{}", '{"nbformat": 4, "cells": 1}', '{"cells": [3]}', nested):
        path.write_text(text)
        with pytest.raises(LearnError, match="^session_a_x.ipynb: "):
            exercises.lessons(tmp_path)
