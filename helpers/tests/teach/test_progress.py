"""The report on a learner's copies: what checks wrote down beside what the copies hold."""

import copy
import json
import os
import re
import time

import pytest
from nbformat import v4

from helpers.measure import evalset
from helpers.teach import LearnError, copies, progress, record
from helpers.tests.teach.small_session import (
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


@pytest.fixture
def small(house):
    make(house)
    return house


def report(house):
    return progress.progress_report(house / "notebooks", house / "learn")


def status(house, name="longest"):
    """Return what the report says of an exercise, and after the status its words."""
    line = next(s for s in report(house).split("\n") if f" {name} " in s and " min" in s)
    return line.partition(" min")[2].strip()


def put(house, *entries):
    """Write entries of (check, source of the cell, result, words) into the record."""
    rows = [
        {"check": name, "cell": record.cell_hash(source), "result": result, "words": "".join(words)}
        for name, source, result, *words in entries
    ]
    (house / "learn" / record.RECORD).write_text("".join(json.dumps(row) + "\n" for row in rows))


RUN_IT, OTHER_CODE = "not checked  run its check", f"changed      {progress.OTHER_CODE}"
RESULTS = [  # (code of the file or None for the stub, (code, result, words) of checks, status)
    (None, [], "not started"),
    (None, [(None, "not started", "fill in")], "not started"),
    (ONE, [], RUN_IT),
    (ONE, [(ONE, "passed")], "done"),
    (ONE + "\n\n", [(ONE, "passed")], "done"),
    (TWO, [(TWO, "wrong", "It is the first.")], "wrong        It is the first."),
    (TWO, [(TWO, "wrong", "x " * 90)], "wrong        " + "x " * 49 + "…"),
    (ONE, [(ONE, "not started", "it calls other")], "not started  it calls other"),
    (ONE, [(TWO, "wrong", "no"), (ONE, "passed")], "done"),
    (ONE, [(ONE, "passed"), (ONE, "wrong", "no more")], "wrong        no more"),
    (TWO, [(ONE, "passed")], OTHER_CODE),  # edited since
    (TWO, [(TWO, "wrong", "no"), (ONE, "passed")], OTHER_CODE),  # not saved yet
    (None, [(None, "not started", ""), (ONE, "passed")], OTHER_CODE),  # nor here
    (ONE, [(ONE, "passed"), (TWO, "wrong", "no")], "done"),  # edited and undone
    (ONE, ["taken", (ONE, "passed")], "done         with the solution"),
    (TWO, ["taken", (TWO, "wrong", "no")], "wrong        no"),
    (None, ["taken"], "not started"),
]


def test_the_newest_result_of_the_saved_code_counts(small):
    stub = next(cell.source for cell in copied(small).cells if cell.id == "longest-code")
    for source, results, wanted in RESULTS:
        solve(small, longest_code=source or stub)
        marks = [(f"{record.TAKEN}longest", "", "taken")] * results.count("taken")
        runs = [("longest", run[0] or stub, *run[1:]) for run in results if run != "taken"]
        put(small, *marks, *runs)
        assert status(small) == wanted, results
        assert status(small, "shout") == "not started"
    solve(small, longest_code=stub)
    write(small, [*copied(small).cells, code("mine", ONE)], folder="learn")
    put(small, ("longest", ONE, "passed"))
    assert status(small) == "done", "code counts wherever it stands in the copy"


def test_a_cell_with_two_checks_is_done_when_both_passed(small):
    cells = session()
    check = next(cell for cell in cells if cell.id == "longest-check")
    check.source = 'check.one(longest)\ncheck.quiz("A", longest)'
    write(small, cells)
    solve(small, longest_code=ONE)
    one, quiz = ("one", ONE, "passed"), ("quiz A", ONE, "passed")
    taken = (f"{record.TAKEN}one", "", "taken")
    for entries, wanted in (
        ([one, quiz], "done"),
        ([taken, one, quiz], "done         with the solution"),
        ([one], RUN_IT),
        ([quiz], RUN_IT),
        ([one, ("quiz A", ONE, "wrong", "3 of 8")], "wrong        3 of 8"),
    ):
        put(small, *entries)
        assert status(small) == wanted


ERRORS = [  # (cell, error, its words, what is said)
    ("longest-code", "SyntaxError", "no\nway", "SyntaxError: no way"),
    ("longest-check", "NameError", "longest", "NameError: longest"),
    ("longest-check", "AssertionError", "", "AssertionError"),
    ("longest-check", "NotStarted", "open", None),
    ("longest-check", "KeyboardInterrupt", "", None),
]


def test_without_a_result_the_saved_error_is_told(small):
    solve(small, longest_code=ONE)
    solved = copied(small).cells
    for cell_id, name, value, words in ERRORS:
        cells = copy.deepcopy(solved)
        cell = next(cell for cell in cells if cell.id == cell_id)
        cell.outputs = [v4.new_output("error", ename=name, evalue=value)]
        write(small, cells, folder="learn")
        assert status(small) == (f"wrong        when it last ran: {words}" if words else RUN_IT)
    write(small, [cell for cell in solved if cell.id != "longest-check"], folder="learn")
    assert status(small) == RUN_IT, "a check that was deleted has no error"


def test_copies_that_are_gone(small):
    cells = copied(small).cells
    unmarked = next(cell for cell in cells if cell.id == "scaled-code")
    unmarked.metadata["nbgrader"] = "no object"
    for left in (cells, [cell for cell in cells if cell is not unmarked]):
        write(small, left, folder="learn")
        assert status(small, "scaled").startswith("missing      make learn writes")
        assert status(small, "shout") == "not started"
    (small / "learn" / NAME).unlink()
    with pytest.raises(LearnError, match="^no copies in learn/ yet; make learn writes them$"):
        report(small)


def test_copies_that_cannot_be_read_are_all_refused_before_anything_is_written(small):
    write(small, session(), "further/x.ipynb")
    make(small)
    (small / "learn" / record.RECORD).unlink()
    (small / "learn" / NAME).write_text("{")
    (small / "learn" / "further" / "x.ipynb").write_text("[]")
    with pytest.raises(LearnError, match=rf"^{NAME}: cannot be read .*\nx\.ipynb: cannot be read"):
        report(small)
    assert not (small / "learn" / record.RECORD).exists()


def two_sessions(small):
    """Copy a session of three exercises and one that goes further; return what passes the week."""
    cells = session()
    cells[2].source = "### Quick test\n\n120 minutes."
    cells[13].source = "### Exercise A3: a long title\n\nDifficulty 1 of 3 · 5 minutes"
    write(small, cells)
    more = [markdown("title", "# More"), *session()[2:6]]
    more[1].source = more[1].source.replace("A1", "A12")
    more[2].metadata.nbgrader |= {"grade_id": "m"}
    more[3].source = 'check.extra(longest, ["a"], "a")'
    write(small, more, "further/more.ipynb")
    make(small)
    return [(name, solution(name), "passed") for name in ("longest", "scaled", "shout")]


def pass_all(small, entries):
    """Save the solutions in the copy, and write that their checks passed."""
    solve(small, **{f"{name}_code": source for name, source, _ in entries})
    put(small, *entries)


def test_a_report_counts_the_core_path_and_names_what_comes_next(small):
    _, scaled, _ = two_sessions(small)
    pass_all(small, [scaled])
    for path in sorted((small / "learn").rglob("*.ipynb")):
        os.utime(path, (time.mktime((2026, 11, 21, 14, 42, 0, 0, 0, -1)),) * 2)
    assert [" ".join(line.split()) for line in report(small).split("\n")] == [
        "read from the files in learn/, last saved 21 Nov 14:42",
        "",
        "Session A: words: 1 of 3 done, 10 of 135 minutes",
        "Quick test 120 min not started",
        "A2 scaled 10 min done",
        "A3 a long title 5 min not started",
        "",
        "Session B: more: 0 of 0 done, 0 of 0 minutes",
        "",
        "Going further, not in the minutes of the week",
        "+A12 longest 10 min not started",
        "",
        f"next: Quick test A (120 minutes) in {NAME}",
    ]


def test_a_report_says_that_the_week_is_done_and_what_is_open_beyond_it(small):
    week = two_sessions(small)
    pass_all(small, week)
    _, done, end = report(small).partition("\n\nThat was the week: every exercise is done.")
    rest = "README.md: 1 open; next there: A12 longest (10 minutes) in further/more.ipynb"
    assert done and "Well done." in end and end.endswith(rest)
    pages = re.findall(r"notebooks/[\w/]+\.md", end)
    assert len(pages) == 3 and all((evalset.DEFAULT.parent / page).exists() for page in pages)
    put(small, *week, ("extra", solution("longest"), "passed"))
    assert report(small).endswith("README.md: every exercise there is done, too")
    solve(small, shout_code=solution("shout", body="return 1"))
    assert "That was the week" not in report(small)


CLASS = """\
learner done wrong stuck longest, by wrong answers
ana 1 of 3 A1 A2 scaled, 2 wrong answers
bo 0 of 3 - -

most wrong answers of all: A2 scaled (2 wrong answers), A1 longest (1 wrong answer)
not read: cy: no copies in cy/ yet; make learn writes them
not read: di: session_a_words.ipynb: cannot be read"""


def test_a_class_is_told_who_is_done_wrong_and_stuck_and_no_code_of_theirs_runs(small):
    """A folder that cannot be read is named, and the others are told all the same."""
    solve(small, longest_code=TWO, scaled_code=f"{solution('scaled')}\nopen('ran', 'w')")
    done = next(cell.source for cell in copied(small).cells if cell.id == "scaled-code")
    wrong = [("scaled", n, "wrong", "") for n in ("x", "y", "x")]
    put(small, ("longest", TWO, "wrong", ""), *wrong, ("scaled", done, "passed"))
    room = small / "class"
    (room / "ana").mkdir(parents=True)
    (small / "learn").rename(room / "ana" / "learn")  # a whole checkout, or its learn/ alone
    copies.learn_command(notebooks=small / "notebooks", folder=room / "bo")
    for name in ("cy", "di", ".git"):
        (room / name).mkdir()
    (room / "di" / NAME).write_text("{")
    (room / "list.csv").write_text("ana")
    told = progress.progress_report(small / "notebooks", of_class=room)
    lines = "\n".join(" ".join(line.split()) for line in told.split("\n"))
    assert lines.startswith(CLASS) and len(lines.split("\n")) == 7
    assert not [*small.rglob("ran")]
    with pytest.raises(LearnError, match="none: no folders of learners in it$"):
        progress.progress_report(small / "notebooks", of_class=small / "none")


def test_an_optional_exercise_of_a_session_is_not_in_its_minutes_and_comes_last(small):
    cells = session()
    cells[2].source = "### Exercise A1: longest\n\ndifficulty 1 of 3 · 15 minutes · optional"
    write(small, cells)
    make(small)
    put(small)
    told = [" ".join(line.split()) for line in report(small).split("\n")]
    assert told[2] == "Session A: words: 0 of 2 done, 0 of 20 minutes"
    assert told[-4:] == [
        "Going further, not in the minutes of the week",
        "+A1 longest 15 min not started",
        "",
        f"next: A2 scaled (10 minutes) in {NAME}",
    ]


def test_the_eight_questions_and_solutions_taken_are_told(small):
    solve(small, longest_code=ONE)
    told = "1 of 8 before the week, 2 of 8 now"
    rows = [("before", "a" * 8, ""), ("after", "b" * 8, told), ("after", "c" * 8, "8 now")]
    eight = ((f"{record.EIGHT}{when}", "", *row) for when, *row in rows)
    put(small, (f"{record.TAKEN}longest", "", "taken"), ("longest", ONE, "passed"), *eight)
    assert f"\n\nEight questions: {told}\n\nSession A: words" in report(small)
    assert status(small) == "done         with the solution"
