"""What every exercise is held to: right code passes, each mistake fails with its own sentence."""

import inspect
import re
from types import ModuleType

import pytest

from notebooks import check
from notebooks.check import committed, statistics, verdict

BODIES = [  # of stubs
    'raise NotImplementedError("your code")',
    "...",
    "pass",
    '"""Only a docstring."""',
    "return None",
    "result = ...\n    return result",
]


def checks_of(*modules: ModuleType) -> list[str]:
    """Return the names of the checks of a learner's function that stand in these modules."""
    homes = {module.__name__ for module in modules}
    return [
        name
        for name, found in vars(check).items()
        if inspect.isfunction(found) and found.__module__ in homes
        if list(inspect.signature(found).parameters) == ["function"]
    ]


def learnt(source: str) -> dict:
    """Return what a notebook's cells define."""
    space = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), space)
    return space


def edited(solutions: str, name: str, old: str, new: str) -> str:
    """Return the solutions with one edit, in the named function or, if not there, beside it."""
    start = solutions.index(f"\ndef {name}(") + 1
    end = solutions.find("\ndef ", start)
    own = solutions[start:] if end < 0 else solutions[start:end]
    if old in own:
        return solutions.replace(own, own.replace(old, new, 1))
    assert old in solutions, f"{name}: {old!r} is in no solution"
    return solutions.replace(old, new, 1)


def refused(name: str, function) -> str:
    """Return what a check says about a function that must not pass."""
    with pytest.raises(check.Wrong) as caught:
        getattr(check, name)(function)
    assert not isinstance(caught.value, check.NotStarted)
    return str(caught.value)


def holm_of(ps: list[float]) -> list[float]:
    """Return the right values: statsmodels takes long where pytest has filled the memory."""
    return statistics._steps(ps, lambda rank, n: n - rank)


def known_mistakes(name: str, monkeypatch) -> list[tuple]:
    """Return the (sentence, wrong function) pairs of a check."""
    kept = statistics._bootstrap_mistakes() if name == "bootstrap" else []
    with monkeypatch.context() as patch:
        patch.setattr(verdict, "give", lambda *args, **options: kept.extend(args[4]))
        if name != "bootstrap":
            getattr(check, name)(len)
    return [(sentence, wrong) for sentence, *known in kept for wrong in known]


class Exercises:
    """The tests of the exercises of a module. A right solution is in another style than ours.

    Solutions use numpy, generators, early returns, recursion; a wrong one is an edit of a right
    one: exercise, old, new, part of its own sentence. Parametrized in conftest.py.
    """

    modules: tuple[ModuleType, ...]
    solutions: str
    wrong: list[tuple[str, str, str, str]]

    def test_right_solutions_in_another_style_pass_with_one_line(self, name, capsys):
        getattr(check, name)(learnt(self.solutions)[name])
        assert re.fullmatch(rf"{name}: right on [^\n]+\n", capsys.readouterr().out)

    def test_wrong_solutions_fail_with_their_own_sentence(self, name, old, new, sentence):
        said = refused(name, learnt(edited(self.solutions, name, old, new))[name])
        assert sentence.lower() in said.lower()

    def test_every_known_mistake_is_wrong_and_none_hides_another(self, name, monkeypatch):
        monkeypatch.setattr(verdict, "REFUSAL", 1_000)  # the number itself is not the point
        known = known_mistakes(name, monkeypatch)
        assert len({sentence for sentence, _ in known}) >= 4
        assert len([row for row in self.wrong if row[0] == name]) >= 4
        for sentence, wrong in known:
            said = refused(name, wrong)
            assert sentence[1:] in said, f"{sentence}\n{said}"

    def test_a_stub_of_any_exercise_is_not_started(self, name, body):
        stub = learnt(f"def {name}(*args):\n    {body}\n")[name]
        named = re.escape(committed.exercise_named(name))
        with pytest.raises(check.NotStarted, match=f"^{named} is not started yet"):
            getattr(check, name)(stub)
