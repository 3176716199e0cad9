"""The sessions as exercises."""

import re

import nbformat
import pytest
from nbformat import v4

from helpers.teach import LearnError, exercises
from helpers.teach.exercises import BEGIN, END
from helpers.tests.teach.small_session import changed, code, markdown, session

NAME = "session_c_x.ipynb"


def told(cells, name=NAME):
    return exercises.exercises_of(name, v4.new_notebook(cells=cells))


def test_an_exercise_names_its_three_cells_its_number_and_minutes():
    assert told(session(), "session_b_y.ipynb") == [
        ("longest-code", 2, 3, 4, "A1", "longest", 10, False),
        ("scaled-code", 7, 8, 9, "A2", "scaled", 10, False),
        ("shout-code", 13, 14, 15, "A3", "shout", 10, False),
    ]
    quick_test, scaled, _ = told(changed("longest-head", source="### Quick test\n\n15 minutes."))
    assert quick_test[4:] == ("", "Quick test", 15, False) and scaled.number == "A2"
    cells = session()
    assert all(e.further for e in told(cells, "further/x.ipynb"))
    cells.insert(4, markdown("between", "Now check it."))
    assert told(cells)[0][1:4] == (2, 3, 5)
    for word, beyond in (
        ("optional", True),
        ("Optional", True),
        ("core", False),
        ("optional, or not", False),
    ):
        plan = f"### Exercise C1: x\n\ndifficulty 1 of 3 · 7 minutes · {word}\n\nMore."
        assert told(changed("longest-head", source=plan))[0].further == beyond, word
    for head in ("## Exercise C1: x\n\ndifficulty 1", "# A\n\n#### Exercise C1: x\n\nDifficulty 3"):
        cells = changed("longest-head", source=f"{head} of 3 · 7 minutes, then 9 minutes\n\n## B")
        assert told(cells)[0][3:] == (4, "C1", "x", 7, False), head


PLANNED = "{}\n\nDifficulty 1 of 3 · 10 minutes."
REFUSED = [  # (cell, what it says instead or None where it is gone)
    *(("scaled-head", PLANNED.format(head))
      for head in ("# Exercise A2: x", "##### Exercise A2: x", "### Exercise A2:",
                   "### Exercise: x", "a ### Exercise A2: x")),
    *(("scaled-head", f"### Exercise A2: x\n\n{plan}")
      for plan in ("", "Difficulty 4 of 3 · 10 minutes", "Difficulty 1 of 3 · ten minutes")),
    ("scaled-head", None),
    ("scaled-check", None),
]  # fmt: skip


def test_an_exercise_that_lacks_something_is_refused_with_its_cell():
    for cell_id, source in REFUSED:
        cells = changed(cell_id, source=source)
        cells = [cell for cell in cells if source is not None or cell.id != cell_id]
        with pytest.raises(LearnError, match=f"^{NAME}: cell scaled-code, line 1: an answer stand"):
            told(cells)
    with pytest.raises(LearnError, match="cell shout-code, line 1: an answer stands between"):
        told(session()[:15])  # nothing follows it


def test_what_nbgrader_says_of_a_cell():
    plain, check = code("a", "1"), code("b", "1", grade=True, points=1)
    solution, both = code("c", "1", solution=True), code("d", "1", solution=True, grade=True)
    words = markdown("e", "1")
    words.metadata["nbgrader"] = check.metadata["nbgrader"]
    cells = [plain, check, solution, both, words]
    assert exercises.grading(check)["grade_id"] == "b"
    assert exercises.grading(plain) == {}
    assert [cell.id for cell in cells if exercises.is_check(cell)] == ["b"]
    assert [cell.id for cell in cells if exercises.is_solution(cell)] == ["c", "d"]


REGIONS = [  # (lines, regions or what is wrong)
    (["a", "b"], []),
    (["a", f"    {BEGIN}  ", "b", f"\t{END}", "c", BEGIN, "d", END], [(2, 4), (6, 8)]),
    ([f"x = 1  {BEGIN}", f"{END} of it"], []),
    (["a", BEGIN, BEGIN, END], f"line 3: found {BEGIN}, wanted {END} before it"),
    ([BEGIN, END, END], f"line 3: found {END}, wanted {BEGIN} before it"),
    (["", BEGIN, "a"], f"line 4: found the end, wanted {END} before it"),
]


def test_regions_are_told_by_their_first_and_last_line():
    for lines, wanted in REGIONS:
        cell = code("x", "\n".join(lines))
        if isinstance(wanted, list):
            assert exercises.regions(cell) == wanted
        else:
            with pytest.raises(LearnError, match=f"^{wanted}$"):
                exercises.regions(cell)


def test_sessions_are_read_in_the_order_of_their_names(tmp_path):
    for name in ("session_b_x.ipynb", "session_a_y.ipynb", "other.ipynb", "session_c.md"):
        nbformat.write(v4.new_notebook(cells=[markdown("only", name)]), tmp_path / name)
    made = exercises.read_lessons(tmp_path)
    assert [*made] == ["session_a_y.ipynb", "session_b_x.ipynb"]
    assert [notebook.cells[0].source for notebook in made.values()] == [*made]
    assert list(map(exercises.session_letter, made)) == ["A", "B"]
    ours = [*exercises.read_lessons()]
    assert [exercises.is_further(name) for name in ours] == [False] * 3 + [True] * len(ours[3:])


BROKEN = [  # (text of a notebook, what stands in its place, what is said)
    ('"cells"', "<<<<<<<", r"cannot be read as a notebook \(broken JSON .* line 2 column 2 .*\)"),
    ("# Session A", "\udcff", "cannot be read as a notebook .'utf-8' codec can't decode .*"),
    ('"id": "setup"', '"id": "a b"', r"\$.cells\[1\].id: 'a b' does not match .*"),
    ('"tags": [', '"tags": "setup", "a": [', r"\$.cells\[6\].metadata.tags: 'setup' is not .*"),
    ('"cell_type": "code"', '"cell_type": "test"', r"\$.cells\[1\]: .*, wanted nbformat 4.5.*"),
    ('"cell_type": "code"', '"cell_type": 4', "cannot be read as a notebook .*"),
    ('"nbformat_minor": 5', '"nbformat_minor": 4', r"\$.nbformat_minor: 4 is less than .*"),
]


def test_a_notebook_that_is_not_valid_is_told_with_its_cell(tmp_path):
    text = nbformat.writes(v4.new_notebook(cells=session()))
    path = tmp_path / "session_a_x.ipynb"
    pages = [(text.replace(old, new, 1), words) for old, new, words in BROKEN if old in text]
    assert len(pages) == len(BROKEN)
    odd = ("", "null", "[]", "{}", '{"nbformat": 4, "cells": 1}', '{"cells": [3]}')
    for page, words in [*pages, *((page, ".+") for page in odd)]:
        path.write_bytes(page.encode("utf-8", "surrogateescape"))
        with pytest.raises(LearnError) as caught:
            exercises.read_lessons(tmp_path)
        assert re.fullmatch(f"session_a_x.ipynb: {words}", str(caught.value)), caught.value
