"""Fresh answers: none of the wrong passes, none of the right fails, no other mistake is named."""

import pytest
from fresh import PRELUDE, answers
from teach.check.exercises import checks, learnt

from helpers.teach import check

RIGHT, WRONG = answers()


@pytest.fixture(scope="module")
def answer():
    """Return what gives an answer's function under the exercise's name."""
    space = learnt(PRELUDE)

    def function_of(name, code):
        function = eval(code, space)
        function.__name__ = name
        return function

    return function_of


def sentences(message: str) -> str:
    """Return what is said beside the case and the count."""
    lines = message.split("\n")
    kept = [line for line in lines[1:-1] if not line.startswith("  ")]
    return " ".join(kept if "is not right yet" in lines[0] else [*kept, lines[-1]])


@pytest.mark.parametrize(("name", "code", "wanted"), WRONG)
def test_no_wrong_answer_passes_and_no_other_mistake_is_named(name, code, wanted, answer):
    with pytest.raises(check.Wrong) as caught:
        getattr(check, name)(answer(name, code))
    message = str(caught.value) if name == "bootstrap" else sentences(str(caught.value))
    assert wanted in message
    assert wanted or "Perhaps" in message or not message or name == "bootstrap", message


@pytest.mark.parametrize(("name", "code"), RIGHT)
def test_right_answers_in_other_forms_pass(name, code, answer, capsys):
    getattr(check, name)(answer(name, code))
    assert capsys.readouterr().out.startswith(f"{name}: right on ")


def test_every_exercise_has_right_and_wrong_answers():
    assert {row[0] for row in WRONG} == {row[0] for row in RIGHT} == {*checks()}
    assert len(WRONG) >= 150 and len(RIGHT) >= 60
