"""Quick tests: how answers are scored, and what is told of them.

That the answers follow from their questions is tried in proof/test_quiz_questions.py.
"""

import ast
import inspect
import re

import numpy as np
import pytest

from helpers.teach import check
from helpers.teach import exercises as learn
from helpers.teach.check import quick_test as quiz

SOLUTIONS = {
    session: next(cell.source for cell in nb.cells if cell.id == f"{session.lower()}-quiz")
    for session, nb in zip("ABC", learn.read_lessons().values(), strict=False)
}
RIGHT = {
    session: eval(re.search(r"return (\{.+\})", source)[1]) for session, source in SOLUTIONS.items()
}


@pytest.mark.parametrize("session", RIGHT)
def test_the_right_answers_pass(session, capsys):
    check.quiz(session, RIGHT[session])
    said = capsys.readouterr().out
    assert said.endswith("8 of 8: passed\n") and said.count("  right  ") == 8


@pytest.mark.parametrize("session", RIGHT)
def test_reasons_are_for_right_answers_until_the_test_is_passed(session, capsys):
    right, questions = RIGHT[session], dict(enumerate(quiz.questions_of(session), 1))
    rubbish = {n: -99 if q.decimals is not None else "abcd"["abcd".find(right[n]) - 1]
               for n, q in questions.items()}  # fmt: skip
    for n in questions:
        with pytest.raises(check.Wrong) as caught:
            check.quiz(session, rubbish | {n: right[n]})
        told = [m for m, q in questions.items() if q.reason[:20] in str(caught.value)]
        assert told == [n], "only the right one has its reason"
        assert str(caught.value).count("  wrong") == 7
    check.quiz(session, right | {1: None, 2: rubbish[2]})
    said = capsys.readouterr().out
    assert "\n2  wrong  " in said and questions[2].reason[:20] in said, "passed: all reasons"
    assert "6 of 8: passed" in said
    with pytest.raises(check.Wrong) as caught:
        check.quiz(session, right | {1: rubbish[1], 2: None, 8: None})
    said = str(caught.value)
    assert "1  wrong\n" in said and "8  not answered\n5 of 8: not passed yet. Read again: " in said
    assert questions[8].reason[:30] not in said and questions[8].again in said


def test_answers_may_have_other_forms(capsys):
    for answers, right in (
        ({3: "0.3", 4: np.float64(10 / 3), 5: " C "}, 3),
        (RIGHT["B"] | {3: 0.3049}, 8),
        (RIGHT["B"] | {3: 0.31}, 7),
    ):
        with pytest.raises(check.Wrong) if right < 6 else np.errstate() as caught:
            check.quiz("B", answers)
        said = capsys.readouterr().out or str(caught.value)
        assert said.count("  right  ") == right


def test_what_is_no_answer_is_refused():
    with pytest.raises(check.NotStarted, match="quick test B is not started yet"):
        check.quiz("B", dict.fromkeys(range(1, 9)))
    for wrong in ({1: "x"}, {2: "e"}, {2: 3}, {9: 1}, [1, 2], {1: True}):
        with pytest.raises(check.Wrong):
            check.quiz("B", wrong)
    with pytest.raises(check.Wrong, match="no session"):
        check.quiz("D", {})


def test_answers_do_not_stand_in_the_module_or_its_pages():
    tree = ast.parse(inspect.getsource(quiz))
    kept = [q.answer for session in quiz.SESSIONS for q in quiz.questions_of(session)]
    assert all(re.fullmatch("[0-9a-f]{16}", answer) for answer in kept) and len(set(kept)) == 24
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not texts & {"a", "b", "c", "d"}
