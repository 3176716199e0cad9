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


MARKERS = [  # (source of a solution's cell, line, what is said)
    (solution("scaled", after=""), 3, "never ends"),
    (solution("scaled", before=""), 4, "never began"),
    (solution("scaled", body=f"{BEGIN}\n    return 1"), 4, "inside the one of line 3"),
    (solution("scaled", before="# BEGIN SOLUTION"), 3, "is no marker"),
    (f"{BEGIN}\nscaled = 1\n{END}", 1, "function body"),
    ("def scaled(words):\n    return 1", 1, "without markers"),
]


def test_markers_metadata_and_order_are_refused_with_notebook_cell_and_line():
    for source, line, words in MARKERS:
        said = refused(changed("scaled-code", source=source))
        assert f"{NAME}: cell scaled-code, line {line}: " in said and words in said
    grading = code("scaled-code", "", solution=True, grade_id="longest-code").metadata
    lacking = code("scaled-code", "", solution=True).metadata
    del lacking["nbgrader"]["task"]
    no_points = code("scaled-check", "", grade=True).metadata
    two = session()[2].source + "\n\n### Exercise: another"
    without = {lost: [cell for cell in session() if cell.id != lost] for lost in LOST}
    for cells, words in (
        (changed("scaled-use", source=solution("scaled")), "without nbgrader's solution metadata"),
        (changed("further", source=solution("scaled")), "not code"),
        (
            changed("scaled-code", metadata=grading),
            "cell scaled-code, line 3: grade_id 'longest-code' is taken by cell longest-code",
        ),
        (changed("scaled-code", metadata=lacking), "lacks task"),
        (changed("scaled-check", metadata=no_points), "lacks points"),
        (changed("longest-head", source=two), "cell longest-head: an exercise's heading w"),
        *((without[lost], words) for lost, words in LOST.items()),
    ):
        assert words in refused(cells), words


LOST = {
    "scaled-check": "cell scaled-code, line 1: the next code cell is no check",
    "scaled-head": "no heading",
    "shout-code": "cell shout-head: an exercise's heading without a solution cell",
}


def test_solutions_told_elsewhere_and_dead_links_are_refused(house):
    (house / "learn").mkdir()
    assert found(house) == []

    def said(cell_id, source):
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
