"""What is called, what stops a call, and what the learner reads of it."""

import math
import re
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from helpers.learn import exercises as learn
from notebooks import check
from notebooks.check import (
    agreement,
    answers,
    bm25,
    chunking,
    labels,
    measures,
    recursive,
    statistics,
    verdict,
)

from .exercises import BODIES, checks_of, holm_of, learnt, refused


def test_every_check_stands_in_a_notebook_and_every_notebook_check_exists():
    cells = [c.source for nb in learn.sessions().values() for c in nb.cells if learn.is_check(c)]
    called = re.findall(r"check\.(\w+)\(", "\n".join(cells))
    names = checks_of(agreement, answers, bm25, chunking, labels, measures, recursive, statistics)
    assert sorted(called) == sorted([*names, "causes", "quiz", "quiz", "quiz"])


# Stubs, errors, and what is no function.


@pytest.mark.parametrize("body", BODIES)
def test_each_form_of_a_stub_is_not_started(body):
    with pytest.raises(check.NotStarted) as caught:
        check.dcg(learnt(f"def dcg(gains):\n    {body}\n")["dcg"])
    assert caught.value._render_traceback_() == [
        "dcg is not started yet: fill in the cell above, then run on from here"
    ]


def test_a_forgotten_return_is_no_stub():
    said = refused("dcg", learnt("def dcg(gains):\n    total = sum(gains)\n")["dcg"])
    assert "does the function end with return" in said


@pytest.mark.parametrize("given", [0.5, "dcg", [1, 2]])
def test_what_is_no_function_gets_a_clear_line(given):
    assert "wants the function itself: check.dcg(dcg)" in refused("dcg", given)


def test_none_and_ellipsis_in_place_of_a_function_are_not_started():
    for given in (None, ...):
        with pytest.raises(check.NotStarted):
            check.dcg(given)


def test_a_notebook_shows_the_learners_line_and_no_frames(tmp_path, capsys):
    shell = InteractiveShell(
        ipython_dir=str(tmp_path), config=Config({"HistoryManager": {"enabled": False}})
    )
    shell.run_cell(
        "from notebooks import check\ndef gain(total):\n    return total / 0", silent=True
    )
    shell.run_cell("def dcg(gains):\n    total = 1\n    return gain(total)", silent=True)
    capsys.readouterr()
    assert not shell.run_cell("check.dcg(dcg)", silent=True).success
    said = capsys.readouterr().out.strip().split("\n")
    assert said[:4] == [
        "dcg stops with an error, line 3 of a cell, in gain",
        "  return total / 0",
        "  ZeroDivisionError: division by zero",
        "  dcg([])",
    ]
    assert not any("Traceback" in line or "check.py" in line for line in said)
    shell.run_cell("def dcg(gains):\n    ...", silent=True)
    assert not shell.run_cell("check.dcg(dcg)", silent=True).success
    assert capsys.readouterr().out.strip() == (
        "dcg is not started yet: fill in the cell above, then run on from here"
    )


def test_a_wrong_number_of_arguments_is_shown():
    said = refused("dcg", learnt("def dcg(gains, k):\n    return 0.0\n")["dcg"])
    assert said.startswith("dcg cannot be called as below\n  TypeError: dcg() missing 1")


# What is shown, and where a call ends.


def test_the_smallest_failing_case_is_shown_with_both_values():
    said = refused("dcg", lambda gains: sum(gains))
    assert said.split("\n")[:4] == [
        "dcg is not right yet",
        "  dcg([0.0, 1.0])",
        "    expected  0.6309297536",
        "    got       1.0",
    ]


def test_a_function_that_changes_its_arguments_is_refused():
    def sorting(ranking, grades, k):
        ranking.sort()
        return grades and 0.0

    def emptying(ps):
        found = holm_of(ps)
        ps.clear()
        return found

    assert "changes what it is given" in refused("holm", emptying)
    assert "expected" in refused("ndcg", sorting)  # a wrong value comes first


def test_windows_without_an_end_are_stopped_and_tracing_is_as_before():
    before = sys.gettrace()
    said = refused("windows", chunking._unguarded)
    assert "never moves on" in said and "windows(10, 4, 4)" in said
    assert sys.gettrace() is before


def test_a_loop_without_an_end_is_stopped_at_its_line(monkeypatch):
    monkeypatch.setattr(verdict, "STEPS", 50_000)  # the number itself is not the point
    code = "def dcg(gains):\n    total, rank = 0, 1\n    while gains:\n        total += 1\n"
    said = refused("dcg", learnt(code)["dcg"])
    assert said.startswith("dcg runs on and on, line ") and "in dcg\n" in said
    assert "nearer to its end" in said


def test_prints_of_the_learner_are_dropped(capsys):
    check.dcg(lambda gains: print("here") or sum(g / math.log2(n) for n, g in enumerate(gains, 2)))
    assert capsys.readouterr().out == "dcg: right on 7 hand-made and 100 random cases\n"


# When a known mistake is named.


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ([], ["One is added past nine."]),  # the learner's function does so, too
        ([19], ["Perhaps: One is added past nine."]),  # ten of eleven right ones agree
        ([15, 16, 17, 18, 19], []),  # ten of fifteen
    ],
)
def test_a_mistake_is_named_only_where_it_explains_every_answer(right, said):
    cases = [verdict.Example((n,), n) for n in range(20)]
    mistakes = [
        ("One is added.", lambda n: n + 1),
        ("One is added past nine.", lambda n: n + (n > 9)),
    ]
    with pytest.raises(check.Wrong) as caught:
        verdict.give("it", lambda n: n + (n > 9 and n not in right), cases, [], mistakes)
    assert str(caught.value).split("\n")[4:-1] == said


def test_of_two_mistakes_the_nearer_one_is_named():
    def plus(*differ):
        return lambda n: n + (n in (3, *differ))

    cases = [verdict.Example((n,), n) for n in range(20)]
    mistakes = [("Far.", plus(5, 6)), ("Near.", plus(7)), ("As far.", plus(5, 8))]
    with pytest.raises(check.Wrong, match="Perhaps: Near."):
        verdict.give("learner", plus(), cases, [], mistakes)
