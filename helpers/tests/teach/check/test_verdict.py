"""What is called, what stops a call, and what the learner reads of it."""

import functools
import math
import random
import re
import sys
from unittest import mock

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from helpers.teach import LearnError, check
from helpers.teach.check import cases, mistakes, passed, verdict
from helpers.teach.check.cases import Example
from helpers.teach.check.passed import place_of_exercise
from helpers.tests.teach.check.exercises import learnt, refused

OPEN = "is not started yet: fill in the cell above, then run on from here"


def give(function, hand, drawn=(), known=(), **options):
    """Give a function of one argument to a check of made cases, pairs of it and what is due."""
    hand, drawn = ([Example((n,), wanted) for n, wanted in pairs] for pairs in (hand, drawn))
    with mock.patch.object(verdict, "known_mistakes", lambda name: known):
        verdict.run_check("it", function, drawn, hand, **options)


def said_of(function, hand, *more, **options):
    with pytest.raises(check.Wrong) as caught:
        give(function, hand, *more, **options)
    return str(caught.value).split("\n")


STUB = "def inner(n):\n    raise NotImplementedError\n"


def test_stubs_and_what_is_no_function():
    forgotten = learnt("def dcg(gains):\n    sum(gains)\n")["dcg"]  # a return, so no stub
    assert "does the function end with return" in refused("dcg", forgotten)
    assert "wants the function itself: check.dcg(dcg)" in refused("dcg", 0.5)
    calling = learnt(STUB + "def it(n):\n    return inner(n)\n")["it"]
    wrapped = functools.cache(learnt(STUB)["inner"])
    for function, said in (
        (None, f"^it {OPEN}"),
        (..., f"^it {OPEN}"),
        (wrapped, f"^it {OPEN}"),
        (calling, "^it: it calls inner, which is not started yet"),
    ):
        with pytest.raises(check.NotStarted, match=said):
            give(function, [(1, 1)])


def test_a_notebook_shows_the_learners_line_and_no_frames(tmp_path, capsys):
    config = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(ipython_dir=str(tmp_path), config=config)
    first = "from helpers.teach import check\ndef gain(total):\n    return total / 0"
    shell.run_cell(first, silent=True)
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
    shell.run_cell("def dcg(gains):\n    raise NotImplementedError", silent=True)
    assert not shell.run_cell("check.dcg(dcg)", silent=True).success
    said = " ".join(capsys.readouterr().out.split())
    assert said == f"{place_of_exercise('dcg').called} {OPEN}"


def test_how_a_call_that_fails_is_told(monkeypatch):
    monkeypatch.setattr(verdict, "STEPS", 50_000)  # the number itself is not the point
    before = sys.gettrace()
    for body, beginnings in (
        ("(a, b): return 0", ["it cannot be called as below", "  TypeError: it() "]),
        ("(n): return it(n)", ["it stops with an error, line 1 of its", "", "  RecursionError: "]),
        ("(n):\n    while n:\n        n += 1", ["it runs on and on, line ", "", "  Endless: "]),
        ("(n): return n / 0", ["it stops with an error, line 1 of its cell, in it", "", "  Zero"]),
    ):
        function = functools.cache(learnt(f"def it{body}\n")["it"])  # wrappers are looked through
        lines = said_of(function, [(1, 1.0), (2, 2.0)])
        assert all(map(str.startswith, lines, beginnings)), lines
        assert sys.gettrace() is before


def test_the_first_hand_made_case_is_shown_else_the_shortest():
    for wrong, shown in (({2, 3}, 2), ({12345, 9}, 9), ({2, 12345}, 2)):
        hand, drawn = [(1, 0), (2, 0), (3, 0)], [(12345, 0), (9, 0)]
        said = said_of(lambda n, wrong=wrong: int(n in wrong), hand, drawn)
        call = f"  it({shown})"
        assert said[:4] == ["it is not right yet", call, "    expected  0", "    got       1"]


def test_where_no_lesson_can_be_read_a_check_judges_and_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(mistakes, "place_of_exercise", lambda name: passed.Place(name, ""))
    monkeypatch.setattr(verdict, "known_mistakes", mistakes.known_mistakes.__wrapped__)
    check.dcg(lambda gains: sum(gain / math.log2(n + 2) for n, gain in enumerate(gains)))
    said = refused("dcg", sum).split("\n")
    assert said[0] == "dcg is not right yet" and said[-2] == verdict.WITHOUT_LESSONS


@pytest.mark.parametrize(("old", "places"), [("rank + 2", 0), ("rank", 4), ("gain\n/", 0)])
def test_an_edit_must_fit_one_place_of_the_solution(old, places):
    with pytest.raises(LearnError, match=f"^dcg.yaml: the solution has '.+' in {places} place"):
        mistakes.edited_solution("dcg", old, "1")


PAGE = """
why: It is the part that is left.
cases: |
  rest([1, 2], 1) == [2]
  rest([]) == nan
"""


def test_the_cases_of_an_exercise_may_all_stand_in_its_page(monkeypatch, tmp_path, capsys):
    (tmp_path / "rest.yaml").write_text(PAGE)
    monkeypatch.setattr(passed, "EXERCISES", tmp_path)
    assert cases.cases_of_page("rest")[0] == (([1, 2], 1), [2])
    check.rest(lambda values, k=0: values[k:] or math.nan)
    said = capsys.readouterr().out
    assert said == "rest: right on 2 hand-made cases\n"
    assert "rest([])" in refused("rest", lambda values, k=0: values[k:])
    with pytest.raises(AttributeError, match="no check of 'unrest'"):
        check.unrest(len)


def test_a_function_that_changes_its_arguments_is_refused():
    hand = [({"a": 1}, ("a", 1))]
    assert "changes what it is given" in said_of(lambda n: n.popitem(), hand)[0]
    assert hand == [({"a": 1}, ("a", 1))]


def test_what_passes_is_said_and_kept_and_prints_are_dropped(memory, capsys):
    give(lambda n: print("here") or n, [(1, 1), (2, 2)])
    assert capsys.readouterr().out == "it: right on 2 hand-made cases\n"
    give(lambda n: n, [(1, 1)], [(3, 3)])
    assert capsys.readouterr().out == "it: right on 1 hand-made and 1 random cases\n"
    assert passed.passed_checks() == {"it"}
    memory.clear()  # as a restart does
    assert passed.passed_checks() == set()


def test_the_reason_of_a_wrong_answer(memory):
    for function, wanted, reason in (
        (lambda n: float(n), 1, "The values are right, but whole numbers are wanted"),
        (lambda n: round(n / 3, 4), 1 / 3, "The value is rounded: return it as it is"),
        (lambda n: math.nan, 0.0, verdict.NAN),
        (lambda n: math.nan, 1.0, "1 of 1 cases differ; the simplest is shown."),
        (lambda n: print(), 1.0, "Nothing came back"),
        (lambda n: 1 / 0, 1.0, "Here is nothing to divide by"),
        (lambda n: [][n], 1.0, "A place past the last one"),
        (lambda n: {}["a"], 1.0, "A key that is not there is asked for"),
        (lambda n: random.random(), 3.5, verdict.DRAWN),
    ):
        *_, before, last = lines = said_of(function, [(1, wanted)])
        assert (last if reason[0] == "1" else before).startswith(reason), lines
        assert (verdict.NAN in lines) == (reason == verdict.NAN) and not memory


def test_a_value_that_cannot_be_is_told_before_the_sentence():
    beyond = "Here 1.0 is the maximum."
    for got, top, said in (
        (1.5, 1.0, [beyond, "Divide."]),
        (2.5, 1.0, [beyond]),
        (1 + 1e-10, 1.0, ["Divide."]),
        (9.0, None, ["Divide."]),
        ("x", 1.0, ["Divide."]),
    ):
        mistakes = [("Divide.", lambda n, got=got: got if got != 2.5 else 0)]
        lines = said_of(lambda n, got=got: got, [(1, 0.25)], (), mistakes, top=top)
        assert lines[4:-1] == said


def test_a_mistake_is_named_only_where_it_explains_every_answer():
    mistakes = [("Added.", lambda n: n + 1), ("Added past 29.", lambda n: n + (n > 29))]
    for right, sentences in (
        ([], ["Added past 29."]),  # the learner's function does so, too
        ([39], ["Perhaps: Added past 29."]),  # 30 of 31 right ones agree
        (range(32, 40), []),  # 30 of 38
    ):
        hand = [(n, n) for n in range(40)]
        lines = said_of(lambda n, right=right: n + (n > 29 and n not in right), hand, (), mistakes)
        assert lines[4:-1] == sentences


def test_a_crash_is_told_second_and_hides_no_mistake():
    def crashing(n):
        return n + 1 if n > 2 else 1 / 0 if n else 0

    hand, mistakes = [(n, n) for n in range(9)], [("Added.", lambda n: n + 1 if n else 0)]
    lines = said_of(crashing, hand, (), mistakes)
    assert lines[:2] == ["it is not right yet", "  it(3)"] and lines[4] == "Added."
    assert lines[5].startswith("And it stops with an error, line ") and "  it(1)" in lines
    assert lines[-2] == verdict.ERRORS[ZeroDivisionError]
    assert lines[-1].startswith("8 of 9 cases")
    known = [("At 1.", lambda n: 1 / 0 if n in (1, 2) else n), *mistakes]
    assert said_of(crashing, hand, (), known)[-2] == "At 1."


SMALL, LARGE, DOUBLE = (lambda n: n + (n < 9)), (lambda n: n + 2 * (n > 20)), (lambda n: 2 * n)
LATE = lambda n: n + n * (n > 30)  # noqa: E731
FACTORS = [  # (two mistakes, what the learner's function gives, how it is said)
    (SMALL, LARGE, lambda n: n + (n < 9) + 2 * (n > 20), "Two"),
    (DOUBLE, LATE, lambda n: 2 * n + 2 * n * (n > 30), "Two"),
    (SMALL, LARGE, lambda n: n + (n < 9) + 2 * (n > 22), "Perhaps two"),
    (SMALL, LARGE, lambda n: n + (n < 9) + 2 * (n > 30), ""),
    (SMALL, lambda n: n + (n < 12), lambda n: n + (n < 9) + (n < 5), ""),
    (DOUBLE, LATE, lambda n: 2 * n + 3 * n * (n > 30), ""),
    (DOUBLE, LATE, lambda n: 2 * n + 2 * n * (n > 33), ""),  # the product in 6 of 9 cases
    (lambda n: n + 1, lambda n: n + 2, lambda n: n + 3, ""),
    (lambda n: n + (n < 9 or n > 30), lambda n: n + 2 * (n < 20),
     lambda n: n + 2 * (8 < n < 20) + (n > 30), ""),
]  # fmt: skip


def test_two_mistakes_are_named_where_they_explain_the_answers_together():
    hand = [(n, n) for n in range(1, 40)]
    for one, two, both, said in FACTORS:
        mistakes = [("One.", one), ("Two.", two), ("Else.", lambda n: n + 50)]
        lines = said_of(both, hand, (), mistakes)[4:-1]
        assert lines == ([f"{said} mistakes at once:", "- One.", "- Two."] if said else []), lines


def test_of_two_mistakes_the_nearer_one_is_named():
    def plus(*differ):
        return lambda n: n + (n in (3, *differ))

    mistakes = [("Far.", plus(5, 6)), ("Near.", plus(7)), ("As far.", plus(5, 8))]
    assert "Perhaps: Near." in said_of(plus(), [(n, n) for n in range(20)], (), mistakes)


def test_long_lines_break_between_words_and_cases_after_commas():
    hits = [(f"a  long-name {n}", 0.1464371965) for n in range(5)]
    shown = check.Wrong(f"    expected  {hits}")._render_traceback_()
    assert len(shown) == 4 and max(map(len, shown)) <= 66
    assert all(part.startswith(" " * 14) for part in shown[1:])
    assert eval("".join(shown).replace("    expected  ", "")) == hits
    long, code = "word " * 30, "  " + "x" * 200
    shown = check.Wrong(f"{long}\n{code}\n\nshort")._render_traceback_()
    assert shown[3:] == [code, "", "short"] and " ".join(shown[:3]) == long.strip()
    assert max(map(len, shown[:3])) <= 66


def test_the_line_that_says_most():
    def summary(function, *more, hand=((1, 1.5),)):
        with pytest.raises(check.Wrong) as caught:
            give(function, hand, (), *more)
        return caught.value.summary

    assert summary(lambda n: 2) == "it is not right yet: got       2"
    assert summary(lambda n: 2, [("Divide.", lambda n: 2)]) == "Divide."
    crash_second = [(1, 1.5), (0, 1.0)]
    assert summary(lambda n: 2 / n, [("Divide.", lambda n: 2)], hand=crash_second) == "Divide."
    assert re.fullmatch("it stops with an error, line .*: expected  1.5", summary(lambda n: {}.x))
    assert check.Wrong("f wants\n  a function").summary == "a function"
    assert check.Wrong("f wants a function", "short").summary == "short"


def test_what_is_given_may_be_a_value_or_a_function_of_nothing():
    assert verdict.value_of("f", 3) == 3 and verdict.value_of("f", lambda: 3) == 3
    with pytest.raises(check.Wrong, match="f stops with an error, line 2 of its cell, in f"):
        verdict.value_of("f", learnt("def f():\n    return 1 / 0\n")["f"])


def test_a_known_mistake_runs_once_for_each_case_whatever_the_answers():
    asked = []

    def doubled(n):
        asked.append(n)
        return 2 * n

    for _ in range(3):
        said_of(lambda n: 2 * n + 1, [(1, 1), (3, 3)], [], [("Doubled.", doubled)])
    assert sorted(asked) == [1, 3]
