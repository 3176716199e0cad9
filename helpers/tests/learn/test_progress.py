"""Progress: what the checks wrote down beside what the copies hold, and copies that are run."""

import copy
import json
import os
import time

import pytest
from nbformat import v4

from helpers import evalset
from helpers.learn import LearnError, copies, exercises, progress, record

from .small_session import (
    BODIES,
    NAME,
    code,
    copied,
    make,
    markdown,
    session,
    solution,
    solve,
    write,
)

ONE, TWO = solution("longest"), solution("longest", body="return words[0]")
OTHER_CODE = ("changed", progress.OTHER_CODE)


def report(house, **options):
    return progress.progress_report(
        house / "evals", house / "notebooks", house / "learn", **options
    )


def statuses(house):
    sources = exercises.lessons(house / "notebooks")
    saved, source = progress.read_copies(house / "learn", sources), sources[NAME]
    return {
        exercise.title: progress.status_of(NAME, exercise, source.cells[exercise.check], saved)
        for exercise in exercises.exercises_of(NAME, source)
    }


def put(house, *entries):
    """Write entries of (check, source of the cell, result, words) into the record."""
    rows = [
        {"check": name, "cell": record.cell_hash(source), "result": result, "words": "".join(words)}
        for name, source, result, *words in entries
    ]
    (house / "learn" / record.RECORD).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def small(house, monkeypatch):
    """Return the small project with its copies made."""
    monkeypatch.setattr(evalset, "DEFAULT", house / "evals")
    make(house)
    return house


RESULTS = [  # (code of the file or None for the stub, (code, result, words) of checks, status)
    (None, [], ("not started", "")),
    (None, [(None, "not started", "fill in")], ("not started", "")),
    (ONE, [], ("not checked", "run its check")),
    (ONE, [(ONE, "passed")], ("done", "")),
    (ONE + "\n\n", [(ONE, "passed")], ("done", "")),
    (TWO, [(TWO, "wrong", "It is the first.")], ("wrong", "It is the first.")),
    (ONE, [(ONE, "not started", "it calls other")], ("not started", "it calls other")),
    (ONE, [(TWO, "wrong", "no"), (ONE, "passed")], ("done", "")),
    (ONE, [(ONE, "passed"), (ONE, "wrong", "no more")], ("wrong", "no more")),
    (TWO, [(ONE, "passed")], OTHER_CODE),  # edited since
    (TWO, [(TWO, "wrong", "no"), (ONE, "passed")], OTHER_CODE),  # not saved yet
    (None, [(None, "not started", ""), (ONE, "passed")], OTHER_CODE),  # nor here
    (ONE, [(ONE, "passed"), (TWO, "wrong", "no")], ("done", "")),  # edited and undone
]


def test_the_newest_result_of_the_saved_code_counts(small):
    stub = next(cell.source for cell in copied(small).cells if cell.id == "longest-code")
    for source, results, status in RESULTS:
        solve(small, longest_code=source or stub)
        put(small, *(("longest", cell or stub, *more) for cell, *more in results))
        assert statuses(small)["longest"] == status, results
        assert statuses(small)["shout"] == ("not started", "")


def test_code_counts_wherever_it_stands_in_the_copy(small):
    write(small, [*copied(small).cells, code("mine", ONE)], folder="learn")
    put(small, ("longest", ONE, "passed"))
    assert statuses(small)["longest"] == ("done", "")


def test_a_cell_with_two_checks_is_done_when_both_passed(small):
    cells = session()
    check = next(cell for cell in cells if cell.id == "longest-check")
    check.source = 'check.one(longest)\ncheck.quiz("A", longest)'
    write(small, cells)
    solve(small, longest_code=ONE)
    both = ("one", ONE, "passed"), ("quiz A", ONE, "passed")
    for entries, status in ((both, "done"), (both[:1], "not checked"), (both[1:], "not checked")):
        put(small, *entries)
        assert statuses(small)["longest"][0] == status
    put(small, both[0], ("quiz A", ONE, "wrong", "3 of 8"))
    assert statuses(small)["longest"] == ("wrong", "3 of 8")


def with_error(cell_id, name, value, source=None):
    """Return what changes a copy's cell into one that stopped with an error."""

    def change(cell):
        if cell.id == cell_id:
            cell.source = source or cell.source
            cell.outputs = [v4.new_output("error", ename=name, evalue=value)]
        return cell

    return change


def test_without_a_result_the_saved_error_is_told(small):
    solve(small, longest_code=ONE)
    solved = copied(small).cells
    for cell_id, name, value, said in (
        ("longest-code", "SyntaxError", "no\nway", "SyntaxError: no way"),
        ("longest-check", "NameError", "longest", "NameError: longest"),
        ("longest-check", "Wrong", "x " * 90, "Wrong: " + "x " * 46 + "…"),
        ("longest-check", "AssertionError", "", "AssertionError"),
        ("longest-check", "NotStarted", "open", None),
        ("longest-check", "KeyboardInterrupt", "", None),
    ):
        cells = [with_error(cell_id, name, value)(cell) for cell in copy.deepcopy(solved)]
        write(small, cells, folder="learn")
        told = ("wrong", f"when it last ran: {said}") if said else ("not checked", "run its check")
        assert statuses(small)["longest"] == told
    cells = [with_error("scale", "NameError", "os")(cell) for cell in solved]
    write(small, cells, folder="learn")
    line = "      cell scale stopped with an error when it last ran: NameError: os\n"
    assert line in report(small)


def test_copies_that_are_gone_or_cannot_be_read(small):
    path = small / "learn" / NAME
    cells = [cell for cell in copied(small).cells if cell.id != "scaled-code"]
    write(small, cells, folder="learn")
    gone = ("missing", "its cell is gone; make learn FRESH=1 writes new copies")
    assert statuses(small)["scaled"] == gone and statuses(small)["shout"][0] == "not started"
    path.write_text("{")
    words = "session_a_words.ipynb: cannot be read as a notebook (broken JSON"
    for status, said in statuses(small).values():
        assert (status, said[: len(words)]) == ("broken", words)
    without_ids = v4.new_notebook(cells=session())  # as Colab saves it
    for cell in without_ids.cells:
        del cell["id"]
    path.write_text(json.dumps(without_ids | {"nbformat_minor": 4}))
    assert "wanted nbformat 4.5" in statuses(small)["longest"][1]
    path.unlink()
    assert statuses(small)["longest"] == ("missing", "no copy yet; make learn writes it")
    (small / "learn" / "session_b_more.ipynb").unlink()
    with pytest.raises(LearnError, match="^no copies in learn/ yet; make learn writes them$"):
        report(small)


def test_copies_made_earlier_are_named_and_get_a_record(small):
    (small / "learn" / record.RECORD).unlink()
    assert "run the checks" not in report(small)  # nothing is answered yet
    solve(small, longest_code=ONE)
    assert report(small).endswith(
        "no check is in progress.jsonl yet: run the checks of your copies again, "
        "or make progress RUN=1"
    )
    assert (small / "learn" / record.RECORD).read_bytes() == b""
    put(small, ("longest", ONE, "passed"))
    assert "run the checks" not in report(small)


def test_a_report_counts_the_core_path_and_names_what_comes_next(small):
    heads = {
        "longest-head": "### Quick test\n\n120 minutes.",
        "shout-head": "### Exercise: a long title\n\nDifficulty 1 of 3 · 5 minutes",
    }
    cells = session()
    for cell in cells:
        cell.source = heads.get(cell.id, cell.source)
    write(small, cells)
    more = [markdown("title", "# More"), *session()[2:6]]
    more[2].metadata.update(exercise="A12", nbgrader={**more[2].metadata.nbgrader, "grade_id": "m"})
    write(small, more, "further/more.ipynb")
    make(small)
    solve(small, scaled_code=solution("scaled"))
    put(small, ("scaled", solution("scaled"), "passed"))
    for path in sorted((small / "learn").rglob("*.ipynb")):
        os.utime(path, (time.mktime((2026, 11, 21, 14, 42, 0, 0, 0, -1)),) * 2)
    lines = report(small).split("\n")
    assert lines == [
        "read from the files in learn/, last saved 21 Nov 14:42",
        "",
        "Session A: words: 1 of 3 done, 10 of 135 minutes",
        "      Quick test    120 min  not started",
        "  A1  scaled         10 min  done",
        "  A2  a long title    5 min  not started",
        "",
        "Session B: more: 0 of 0 done, 0 of 0 minutes",
        "",
        "Going further, not in the minutes of the week",
        " +A12 longest   10 min  not started",
        "",
        f"next: Quick test (120 minutes) in {NAME}",
    ]
    done = [(name, solution(name), "passed") for name in BODIES]
    solve(small, **{f"{name}_code": solution(name) for name in BODIES})
    put(small, *done)
    assert report(small).endswith("\nevery exercise is done")


# Run first.


@pytest.fixture
def run(small, monkeypatch):
    """Return what runs the small copies; kernels find the helpers."""
    monkeypatch.setenv("PYTHONPATH", str(copies.LEARN.parent))
    return lambda limit=30: report(small, run=True, limit=limit)


def test_copies_that_are_run_write_their_own_record_and_stay_as_they_are(small, run):
    solve(small, longest_code=TWO, scaled_code=solution("scaled"))
    write(small, [*copied(small).cells, code("home", "print(open('a', 'w').name)")], folder="learn")
    before = (small / "learn" / NAME).read_bytes()
    said = run()
    assert "A1  longest   10 min  wrong        expected ccc, got a\n" in said
    assert "A2  scaled    10 min  wrong        expected 6, got 2\n" in said
    assert "A3  shout     10 min  not started\n" in said
    assert (small / "learn" / NAME).read_bytes() == before
    assert not (small / "learn" / "a").exists() and not list(small.glob("*.part"))
    assert {*record.check_runs(small / "learn")} == {"longest", "scaled", "shout"}
    assert "A1  longest   10 min  wrong        expected ccc, got a\n" in report(small)


@pytest.mark.proof
def test_cells_that_never_end_or_end_python_stop_no_other(small, run):
    endless = solution("longest", body="while True: pass")
    solve(small, longest_code=endless, scaled_code=f"{solution('scaled')}\nwhile True: pass")
    said = run(limit=2)
    assert "A1  longest   10 min  not checked  run its check\n" in said
    assert "A3  shout     10 min  not started\n" in said
    # hears no interrupt; ends in a minute or so, so that no failed test leaves it running
    solve(small, scaled_code="import itertools\nsum(itertools.repeat(0, 15 * 10**9))")
    assert f"\n{NAME}: A cell timed out while it was being executed" in run(limit=2)
    solve(small, longest_code=ONE, scaled_code="import os\n\nos._exit(3)")
    said = run()
    assert "A1  longest   10 min  done\n" in said
    assert "A2  scaled    10 min  not checked  run its check\n" in said
    assert said.endswith(f"\n{NAME}: Kernel died")


def test_a_copy_that_cannot_be_read_is_told_when_it_is_run(small, run):
    (small / "learn" / NAME).write_text("{")
    assert "A1  longest   10 min  broken       session_a_words.ipynb: cannot be read" in run()
