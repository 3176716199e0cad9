"""Fresh answers: none of the wrong passes, none of the right fails, no other mistake is named."""

import pytest
from check.exercises import checks, learnt
from fresh import PRELUDE, RIGHT, WRONG

from notebooks import check


def rows(table) -> list[tuple]:
    """Return (exercise, answer, ...) for each answer of a table."""
    return [
        (name, *(found if isinstance(found, tuple) else (found,)))
        for name, all_ in table.items()
        for found in all_
    ]


@pytest.fixture(scope="module")
def answer():
    """Return what gives an answer's function under the exercise's name."""
    space = learnt(PRELUDE)

    def made(name, code):
        found = eval(code, space)
        found.__name__ = name
        return found

    return made


def sentences(said: str) -> str:
    """Return what is said beside the case and the count."""
    lines = said.split("\n")
    kept = [line for line in lines[1:-1] if not line.startswith("  ")]
    return " ".join(kept if "is not right yet" in lines[0] else [*kept, lines[-1]])


@pytest.mark.parametrize(("name", "code", "wanted"), rows(WRONG))
def test_no_wrong_answer_passes_and_no_other_mistake_is_named(name, code, wanted, answer):
    with pytest.raises(check.Wrong) as caught:
        getattr(check, name)(answer(name, code))
    said = str(caught.value) if name == "bootstrap" else sentences(str(caught.value))
    assert wanted in said
    assert wanted or "Perhaps" in said or not said or name == "bootstrap", said


@pytest.mark.parametrize(("name", "code"), rows(RIGHT))
def test_right_answers_in_other_forms_pass(name, code, answer, capsys):
    getattr(check, name)(answer(name, code))
    assert capsys.readouterr().out.startswith(f"{name}: right on ")


def test_every_exercise_has_right_and_wrong_answers():
    assert {*WRONG} == {*RIGHT} == {*checks()}
    assert len(rows(WRONG)) >= 150 and len(rows(RIGHT)) >= 60
