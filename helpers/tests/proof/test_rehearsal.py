"""Our sessions before learners get copies of them, and small ones with what must be found."""

import tempfile
from pathlib import Path

import nbformat
import pytest
import rehearsal
from learn.small_session import NAME, changed, code, session, solution, write

from helpers.learn.copies import copy_set
from helpers.learn.exercises import BEGIN, END, LESSONS, exercises_of, lessons


@pytest.fixture(autouse=True)
def path_of_helpers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(LESSONS.parent))


def found(house):
    """Return what is wrong with the small session."""
    return rehearsal.session_problems(NAME, house / "notebooks", house / "learn", house / "evals")


def refused(cells):
    """Return what is said of the cells of a session."""
    return "\n".join(rehearsal.source_problems(NAME, nbformat.v4.new_notebook(cells=cells)))


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (solution("scaled", after=""), 3, "never ends"),
        (solution("scaled", before=""), 4, "never began"),
        (solution("scaled", body=f"{BEGIN}\n    return 1"), 4, "inside the one of line 3"),
        (solution("scaled", before="# BEGIN SOLUTION"), 3, "is no marker"),
        (f"{BEGIN}\nscaled = 1\n{END}", 1, "function body"),
        ("def scaled(words):\n    return 1", 1, "without markers"),
    ],
)
def test_markers_are_refused_with_notebook_cell_and_line(source, line, words):
    said = refused(changed("scaled-code", source=source))
    assert f"session_a_words.ipynb: cell scaled-code, line {line}: " in said and words in said


def test_metadata_and_order_are_refused():
    cells = session()
    assert "without nbgrader's solution metadata" in refused(
        changed("scaled-use", source=solution("scaled"))
    )
    assert "not code" in refused(changed("further", source=solution("scaled")))
    twice = code("scaled-code", solution("scaled"), solution=True, grade_id="longest-code")
    assert "cell scaled-code, line 3: grade_id 'longest-code' is taken by cell longest-code" in (
        refused(changed("scaled-code", metadata=twice.metadata))
    )
    no_check = [cell for cell in cells if cell.id != "scaled-check"]
    assert "cell scaled-code, line 1: the next code cell is no check" in refused(no_check)
    no_head = [cell for cell in cells if cell.id != "scaled-head"]
    assert "no heading" in refused(no_head)
    no_code = [cell for cell in cells if cell.id != "shout-code"]
    assert "cell shout-head: an exercise's heading without a solution cell" in refused(no_code)
    two = cells[2].source + "\n\n### Exercise: another"
    assert "cell longest-head: an exercise's heading w" in refused(
        changed("longest-head", source=two)
    )
    assert "lacks the line 'difficulty" in refused(
        changed("scaled-head", source="### Exercise: scaled")
    )
    del twice.metadata["nbgrader"]["task"]
    points = code("scaled-check", "", grade=True)
    assert "lacks points" in refused(changed("scaled-check", metadata=points.metadata))
    assert "lacks task" in refused(changed("scaled-code", metadata=twice.metadata))


def test_solutions_told_elsewhere_and_dead_links_are_refused(house):
    def said(cell_id, source):
        (house / "learn").mkdir(exist_ok=True)
        write(house, changed(cell_id, source=source))
        return found(house)

    hint = "<details>`return scale  * len(longest(words))`</details>"
    assert said("further", hint) == [
        "session_a_words.ipynb: cell further: tells scaled-code's solution: "
        "return scale * len(longest(words))"
    ]
    assert "cell loud: tells" in said("loud", "LOUD = '!'\nfound=sorted(words, key = len)")[0]
    assert said("loud", "LOUD = found = '!'\nprint(found[-1])") == []
    assert said("further", "[gone](gone.md)") == [
        "session_a_words.ipynb: cell further: link to ../notebooks/gone.md: no such file"
    ]


def test_sound_sessions_have_no_problems(house):
    (house / "learn").mkdir()
    assert found(house) == []


def test_rehearsal_finds_what_learners_would_stumble_over(house):
    cells = session()
    cells[1].source += "\nprint(longest(['a']))"  # stops before the first exercise
    next(cell for cell in cells if cell.id == "scaled-code").source = solution("scaled", "return 5")
    check = next(cell for cell in cells if cell.id == "shout-check")
    check.source = "print('all is well')"
    write(house, cells)
    (house / "learn").mkdir()
    assert found(house) == [
        "session_a_words.ipynb: cell setup: cell: NameError: name 'longest' is not defined",
        "session_a_words.ipynb: cell scaled-check: solution: Wrong: expected 6",
        "session_a_words.ipynb: cell shout-check: does not say of the stub that it is not started",
    ]


@pytest.mark.parametrize(
    "name", [name for name, made in lessons().items() if exercises_of(name, made)]
)
def test_our_lessons_work_for_learners(name, tmp_path):
    copy_set(tmp_path / "evals")
    # beside the sessions, where the copies will stand, so that relative paths mean the same
    with tempfile.TemporaryDirectory(dir=LESSONS.parent, prefix="learn-check-") as scratch:
        (Path(scratch) / name).parent.mkdir(exist_ok=True)
        said = rehearsal.session_problems(name, LESSONS, Path(scratch), tmp_path / "evals")
    assert said == []
