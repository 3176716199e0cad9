"""What is called, what stops a call, and what the learner reads of it."""

import functools
import math
import re
import sys

import numpy as np
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
    passages,
    passed,
    recursive,
    statistics,
    verdict,
)
from notebooks.check.committed import exercise_named

from .exercises import BODIES, checks_of, holm_of, learnt, refused


def test_every_check_stands_in_a_notebook_and_every_notebook_check_exists():
    cells = [c.source for nb in learn.lessons().values() for c in nb.cells if learn.is_check(c)]
    called = re.findall(r"check\.(\w+)\(", "\n".join(cells))
    rooms = (agreement, answers, bm25, chunking, labels, measures, passages, recursive, statistics)
    names = checks_of(*rooms)
    assert sorted(called) == sorted([*names, "causes", *["quiz"] * 3])


# Stubs, errors, and what is no function.


@pytest.mark.parametrize("body", BODIES)
def test_each_form_of_a_stub_is_not_started(body):
    with pytest.raises(check.NotStarted) as caught:
        check.dcg(learnt(f"def dcg(gains):\n    {body}\n")["dcg"])
    assert " ".join(caught.value._render_traceback_()) == (
        f"{exercise_named('dcg')} is not started yet: fill in the cell above, then run on from here"
    )


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
    assert " ".join(capsys.readouterr().out.split()) == (
        f"{exercise_named('dcg')} is not started yet: fill in the cell above, then run on from here"
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


def test_cases_break_after_commas_and_keep_their_spaces():
    hits = [(f"a  long name {n}", 0.1464371965) for n in range(5)]
    line = f"    expected  {hits}"
    shown = check.Wrong(line)._render_traceback_()
    assert len(shown) == 4 and max(map(len, shown)) <= 66
    assert {len(part) - len(part.lstrip()) for part in shown[1:]} == {14}
    assert all(part.endswith(",") for part in shown[:-1])
    assert eval("".join(shown).replace("    expected  ", "")) == hits


def test_long_lines_break_between_words_and_code_stays_as_it_is():
    long, code = "word " * 30, "  " + "x" * 200
    shown = check.Wrong(f"{long}\n{code}\n\nshort")._render_traceback_()
    assert shown[3:] == [code, "", "short"] and shown[0].split() == ["word"] * 13
    assert max(map(len, shown[:3])) <= 66 and " ".join(shown[:3]) == long.strip()
    assert check.Wrong("a\nb", "short").summary == "short"


def test_windows_without_an_end_are_stopped_and_tracing_is_as_before():
    before = sys.gettrace()
    said = refused("windows", chunking._unguarded)
    assert "never moves on" in said and "windows(10, 4, 4)" in said
    assert sys.gettrace() is before


@pytest.mark.proof
def test_a_function_that_calls_itself_on_and_on_is_named_with_its_own_line():
    code = "def one():\n    return next(1 for _ in range(1))\n\n"
    code += "def dcg(gains):\n    return one() + dcg(gains)\n"
    said = refused("dcg", learnt(code)["dcg"])
    assert said.startswith("dcg stops with an error, line 5 of its cell, in dcg\n")
    assert "calls itself on and on" in said


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


# The parts, one by one.


def test_means_shared_members_and_picks():
    assert verdict.mean([]) == 0 and verdict.mean([True, False, True, True]) == 0.75
    assert verdict.mean(n for n in (1, 2)) == 1.5
    assert verdict.common(["a", "a", "b"], ["a", "a", "a", "c"]) == 2
    rng = np.random.default_rng(1)
    lengths = {len(verdict.pick(rng, "a b c", 1, 3)) for _ in range(50)}
    assert lengths == {1, 2, 3}
    assert {type(word) for word in verdict.pick(rng, "a b c", 3, 3)} == {str}


@pytest.mark.parametrize(
    ("sentence", "got", "top", "said"),
    [
        ("Divide.", 1.5, 1.0, "1.5 where 1.0 is the maximum: divide."),
        ("", 1.5, 1.0, "1.5 where 1.0 is the maximum."),
        ("Divide.", 1 + 1e-10, 1.0, "Divide."),
        ("Divide.", 1.0, 1.0, "Divide."),
        ("Divide.", 9.0, None, "Divide."),
        ("Divide.", "x", 1.0, "Divide."),
        ("Divide.", 1.23456, 1.0, "1.23 where 1.0 is the maximum: divide."),
        ("Divide.", math.inf, 1.0, "1.8e+308 where 1.0 is the maximum: divide."),
    ],
)
def test_a_value_that_cannot_be_is_named_before_the_sentence(sentence, got, top, said):
    assert verdict.lesson(sentence, got, top) == said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("f is wrong\n    expected  1\n    got       2", "f is wrong: got       2"),
        ("f is wrong\n    got       2\nDivide.\n2 differ; " + verdict.SIMPLEST, "Divide."),
        ("f stops\n  f(1)\n    expected  1", "f stops: expected  1"),
        ("f wants a function", "f wants a function"),
    ],
)  # fmt: skip
def test_the_line_that_says_most(text, line):
    assert check.Wrong(text).summary == line


def test_a_stub_inside_another_function_is_named():
    assert str(verdict.not_started("f", "f")) == str(verdict.not_started("f"))
    assert str(verdict.not_started("f", "g")) == (
        "f: not started yet, because it calls g, which is not started yet: fill in g first"
    )
    code = 'def inner():\n    raise NotImplementedError("your code")\ndef dcg(gains):\n'
    with pytest.raises(check.NotStarted, match="because it calls inner"):
        check.dcg(learnt(f"{code}    return inner()\n")["dcg"])


def test_wrappers_and_partials_are_looked_through():
    def own(a):
        return a

    wrapped = functools.wraps(own)(lambda a: own(a))
    assert verdict.unwrapped(functools.partial(functools.partial(wrapped), 1)) is own
    assert verdict.is_empty(functools.partial(lambda a: None, 1))
    assert not verdict.is_empty(len) and not verdict.is_empty(lambda: 0)


def test_arguments_are_sent_as_a_copy_and_a_change_is_seen():
    case = verdict.Example(([2, 1], {"a": 1}, "b"), None)
    assert verdict.called(lambda *args: args[0].sort(), case) == (None, True)
    assert verdict.called(lambda *args: args[1].clear(), case) == (None, True)
    assert verdict.called(lambda *args: args[0][0], case) == (2, False)
    assert case.args == ([2, 1], {"a": 1}, "b")
    got, changed = verdict.called(lambda *args: 1 / 0, case)
    assert isinstance(got.error, ZeroDivisionError) and not changed


@pytest.mark.parametrize(("wrong_at", "place"), [({2, 1}, 1), ({3, 4}, 4), ({0, 3}, 0)])
def test_the_first_hand_made_case_is_shown_else_the_shortest(wrong_at, place):
    cases = [verdict.Example((n,), 0) for n in (1, 1, 1, 12345, 9)]
    assert verdict.simplest([(case, 0) for case in cases], wrong_at, 3) == place


def test_what_is_given_may_be_a_value_or_a_function_of_nothing():
    assert verdict.returned("f", 3) == 3 and verdict.returned("f", lambda: 3) == 3
    with pytest.raises(check.NotStarted, match="^f is not started"):
        verdict.returned("f", learnt("def f():\n    raise NotImplementedError\n")["f"])
    with pytest.raises(check.Wrong, match="f stops with an error, line 2 of its cell, in f"):
        verdict.returned("f", learnt("def f():\n    return 1 / 0\n")["f"])


def give(function, hand, drawn=(), **options):
    """Give the function to a check of made cases."""
    verdict.give("it", function, [verdict.Example((n,), w) for n, w in hand], drawn, [], **options)


def test_what_passes_is_said_and_kept(capsys):
    passed.PASSED.discard("it")
    give(lambda n: n, [(1, 1), (2, 2)])
    assert capsys.readouterr().out == "it: right on 2 hand-made cases\n"
    give(lambda n: n, [(1, 1)], [verdict.Example((3,), 3)])
    assert capsys.readouterr().out == "it: right on 1 hand-made and 1 random cases\n"
    assert "it" in passed.PASSED
    passed.PASSED.discard("it")


@pytest.mark.parametrize(
    ("function", "wanted", "said"),
    [
        (lambda n: float(n), 1, "The values are right, but whole numbers are wanted"),
        (lambda n: round(n / 3, 4), 1 / 3, "The value is rounded: return it as it is"),
        (lambda n: math.nan, 0.0, verdict.NAN),
        (lambda n: 1 / 0, 1.0, "Here is nothing to divide by"),
        (lambda n: print(), 1.0, "Nothing came back"),
        (lambda n: 2 * n, 3.5, "1 of 1 cases differ; the simplest is shown."),
    ],
)
def test_the_reason_of_a_wrong_answer(function, wanted, said):
    with pytest.raises(check.Wrong) as caught:
        give(function, [(1, wanted)])
    lines = str(caught.value).split("\n")
    assert any(line.startswith(said) for line in lines)
    assert lines[-1] == "1 of 1 cases differ; the simplest is shown."
    assert "it" not in passed.PASSED
