"""Our sessions before learners get copies of them, and small ones with what must be found."""

import tempfile
from pathlib import Path

import nbformat
import pytest
import rehearsal
from teach.small_session import NAME, changed, code, session, solution, write

from helpers.teach.copies import copy_set
from helpers.teach.exercises import BEGIN, END, LESSONS, exercises_of, read_lessons


@pytest.fixture(autouse=True)
def path_of_helpers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(LESSONS.parent))


def problems_of(house):
    """Return what is wrong with the small session."""
    return rehearsal.session_problems(NAME, house / "notebooks", house / "learn", house / "evals")


def refused(cells):
    """Return what is said of the cells of a session."""
    return "\n".join(rehearsal.source_problems(NAME, nbformat.v4.new_notebook(cells=cells)))


MARKERS = [  # (source of a solution's cell, line, what is said)
    (solution("scaled", after=""), 5, "found the end, wanted"),
    (solution("scaled", before="# BEGIN SOLUTION"), 3, "is no marker"),
    (f"{BEGIN}\nscaled = 1\n{END}", 1, "function body"),
    ("def scaled(words):\n    return 1", 1, "without markers"),
]


def test_markers_metadata_and_order_are_refused_with_notebook_cell_and_line():
    for source, line, words in MARKERS:
        said = refused(changed("scaled-code", source=source))
        assert f"{NAME}: cell scaled-code, line {line}: " in said and words in said
    taken = code("scaled-code", "", solution=True, grade_id="longest-code").metadata
    no_task = code("scaled-code", "", solution=True).metadata
    del no_task["nbgrader"]["task"]
    no_points = code("scaled-check", "", grade=True).metadata
    two = session()[2].source + "\n\n### Exercise A9: another"
    for cell_id, change, words in (
        ("scaled-use", {"source": solution("scaled")}, "without nbgrader's solution metadata"),
        ("further", {"source": solution("scaled")}, "not code"),
        ("scaled-code", {"metadata": taken}, "line 3: grade_id 'longest-code' is taken by cell l"),
        ("scaled-code", {"metadata": no_task}, "lacks task"),
        ("scaled-check", {"metadata": no_points}, "lacks points"),
        ("longest-head", {"source": two}, "cell longest-head: an exercise's heading w"),
    ):
        assert words in refused(changed(cell_id, **change)), words
    for lost, words in {
        "scaled-check": "cell scaled-code, line 1: an answer stands between two",
        "shout-code": "cell shout-head: an exercise's heading without a solution cell",
    }.items():
        assert words in refused([cell for cell in session() if cell.id != lost]), lost


def test_solutions_told_elsewhere_and_dead_links_are_refused(house):
    (house / "learn").mkdir()
    assert problems_of(house) == []
    hint = "<details>`return scale  * len(longest(words))`</details>"
    for cell_id, source, words in (
        ("further", hint, ": tells scaled-code's solution: return scale * len(longest(words))"),
        ("loud", "LOUD = '!'\nfound=sorted(words, key = len)", ": tells longest-code's"),
        ("loud", "LOUD = found = '!'\nprint(found[-1])", ""),
        ("further", "[gone](gone.md)", ": link to ../notebooks/gone.md: no such file"),
    ):
        write(house, changed(cell_id, source=source))
        problems = problems_of(house)
        assert bool(problems) == bool(words), problems
        assert "".join(problems).startswith(f"{NAME}: cell {cell_id}{words}" if words else "")


def test_rehearsal_finds_what_learners_would_stumble_over(house):
    cells = {cell.id: cell for cell in session()}
    cells["setup"].source += "\nprint(longest(['a']))"  # stops before the first exercise
    cells["scaled-code"].source = solution("scaled", "return 5")
    cells["shout-check"].source = "print('all is well')"
    write(house, [*cells.values()])
    (house / "learn").mkdir()
    assert problems_of(house) == [
        f"{NAME}: cell setup: cell: NameError: name 'longest' is not defined",
        f"{NAME}: cell scaled-check: solution: Wrong: expected 6",
        f"{NAME}: cell shout-check: does not say of the stub that it is not started",
    ]


@pytest.mark.parametrize(
    "name", [name for name, made in read_lessons().items() if exercises_of(name, made)]
)
def test_our_lessons_work_for_learners(name, tmp_path):
    copy_set(tmp_path / "evals")
    # beside the sessions, where the copies will stand, so that relative paths mean the same
    with tempfile.TemporaryDirectory(dir=LESSONS.parent, prefix="learn-check-") as scratch:
        (Path(scratch) / name).parent.mkdir(exist_ok=True)
        said = rehearsal.session_problems(name, LESSONS, Path(scratch), tmp_path / "evals")
    assert said == []
