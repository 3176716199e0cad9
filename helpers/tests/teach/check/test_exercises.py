"""What every exercise is held to: its solution passes, each known mistake gets its sentence."""

import re

import pytest

from helpers.teach import check
from helpers.teach import exercises as learn
from helpers.teach.check import mistakes, passages, verdict
from helpers.teach.check.passed import place_of_exercise
from helpers.tests.teach.check.exercises import checks, learnt, refused, space_of


def test_every_check_stands_in_a_notebook_and_every_notebook_check_exists():
    cells = [c for nb in learn.read_lessons().values() for c in nb.cells if learn.is_check(c)]
    called = [name for cell in cells for name in learn.checks_called(cell)]
    assert sorted(called) == sorted([*checks(), "causes", "quiz A", "quiz B", "quiz C"])


@pytest.mark.parametrize("lesson", [name for name in learn.read_lessons() if "/" in name])
def test_the_solution_of_every_exercise_of_a_further_notebook_passes(lesson):
    """Those of the sessions run with the sessions."""
    notebook = learn.read_lessons()[lesson]
    cells = filter(learn.is_check, notebook.cells)
    called = {name for cell in cells for name in learn.checks_called(cell)} & {*checks()}
    space = space_of(notebook, len(notebook.cells)) if called else {}
    for name in called:
        getattr(check, name)(space[name])


@pytest.mark.parametrize("name", checks())
def test_every_known_mistake_is_wrong_and_none_hides_another(name, monkeypatch):
    monkeypatch.setattr(verdict, "STEPS", 20_000)  # the number itself is not the point
    known = mistakes.known_mistakes(name)
    assert known
    for sentence, wrong in known:
        said = refused(name, wrong)
        assert sentence[1:] in said, f"{sentence}\n{said}"


def test_random_passages_have_documents_with_one_quote_and_with_two():
    seen = []
    refused("evidence_recall", lambda quotes, *rest: seen.append(quotes))
    assert {len(own) for quotes in seen[len(passages.RECALL) :] for own in quotes.values()} == {
        1,
        2,
    }


@pytest.mark.parametrize("name", checks())
def test_a_stub_of_any_exercise_is_not_started_and_an_optional_one_stops_nothing(name, capsys):
    stub = learnt(f"def {name}(*args):\n    raise NotImplementedError\n")[name]
    named = re.escape(place_of_exercise(name).called)
    if place_of_exercise(name).optional:
        getattr(check, name)(stub)
        said = capsys.readouterr().out
        assert re.match(f"{named} is not started yet: .+ \\(it's optional\\)\n$", said)
        return
    with pytest.raises(check.NotStarted, match=f"^{named} is not started yet"):
        getattr(check, name)(stub)
