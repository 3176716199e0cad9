"""Checks of intervals and tests."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ...measure import stats
from . import verdict
from .mistakes import known_mistakes
from .passed import tell_passed
from .recorded import recorded
from .values import TOLERANCE, Raised, as_code, is_sequence, short_code, type_fault
from .verdict import SEED, Example, Wrong, drawn

# The bootstrap is random, so its ends are compared within a share of the standard error.

NEAR_ENDS = 0.2  # standard errors; five times what two runs of 10,000 draws differ by
UNEVEN = [
    [0.0, 0.0, 0.1, 0.2, 1.0],
    [0.1, 0.35, 0.4, 1.0, 0.95, 0.62, 0.0, 0.55],
    [3.0, 1.0, 1.0, 8.0, 2.0, 1.0],
]


class Ends(NamedTuple):
    """What the learner's bootstrap gave for `values`, what is wanted, and the call as text."""

    values: list[float]
    got: tuple[float, float]
    wanted: tuple[float, float]
    written: str


def _ends_of(value: object) -> tuple[float, float] | None:
    """Return (low, high), None where the value is no pair of numbers."""
    if not is_sequence(value) or len(value) != 2 or type_fault((0.0, 1.0), value):
        return None
    low, high = value
    return float(low), float(high)


def _close(wanted: tuple, got: tuple, values: list[float]) -> bool:
    reach = NEAR_ENDS * float(np.std(values)) / len(values) ** 0.5 + TOLERANCE
    return all(abs(a - b) <= reach for a, b in zip(wanted, got, strict=True))


@recorded
def bootstrap(function: Callable) -> None:
    """Check bootstrap(values, rng, draws) against scipy.stats.bootstrap, and its use of rng."""
    answers: list[Ends] = []
    for values in UNEVEN:
        got, written = _drawn_by(function, values, 1)
        if _ends_of(got) is None:
            raise Wrong(
                f"bootstrap is not right yet\n  {written}\n    expected  a pair (low, high)\n"
                f"    got       {short_code(got)}\n{type_fault((0.0, 1.0), got)}".rstrip()
            )
        answers.append(Ends(values, _ends_of(got), stats.bootstrap_interval(values), written))
    failing = [a for a in answers if not _close(a.wanted, a.got, a.values)]
    if not failing:
        _check_draws(function)
        _check_number(function, answers[1].got)
        said = f"bootstrap: right on {len(answers)} lists of values, repeats with its seed"
        tell_passed("bootstrap", said)
        return
    _, got, wanted, written = failing[0]
    near = tuple(round(end, 3) for end in wanted)
    raise Wrong(
        f"bootstrap is not right yet\n  {written}\n    expected  about {near}, from scipy.stats\n"
        f"    got       {tuple(round(end, 3) for end in got)}\n{_why(answers, got, wanted)}"
    )


def _why(answers: list[Ends], got: tuple, wanted: tuple) -> str:
    """Return the sentence of the mistake that gives all answers, or which way the ends lie."""
    for sentence, wrong in known_mistakes("bootstrap"):
        rng = np.random.default_rng(SEED)
        if all(_is_alike(wrong(answer.values, rng), answer) for answer in answers):
            return sentence
    wide = got[1] - got[0] > wanted[1] - wanted[0]
    return (
        f"The interval is too {'wide' if wide else 'narrow'}, or stands in the wrong place: it "
        "lies between the 2.5 % and the 97.5 % point of the drawn means."
    )


def _is_alike(made: tuple, answer: Ends) -> bool:
    """Return whether the ends that a mistake gives are those of an answer."""
    return _close(made, answer.got, answer.values) and _flat(made) == _flat(answer.got)


def _flat(ends: tuple) -> bool:
    return abs(ends[1] - ends[0]) < TOLERANCE


def _drawn_by(function: Callable, values: list, seed: int, *draws: int) -> tuple[object, str]:
    """Return what the learner's bootstrap gives, and the call as text. Its errors become Wrong."""
    more = "".join(f", {n}" for n in draws)
    written = f"bootstrap({as_code(np.array(values))}, np.random.default_rng({seed}){more})"
    args = np.array(values), np.random.default_rng(seed), *draws
    got, _ = verdict.call_safely("bootstrap", function, args)
    if isinstance(got, Raised):
        lines = [*verdict.error_lines("bootstrap", function, got.error), f"  {written}"]
        raise Wrong("\n".join(lines)) from None
    return got, written


def _check_draws(function: Callable) -> None:
    """Raise Wrong unless the seed decides the draws and one draw gives one mean."""
    single, written = _drawn_by(function, UNEVEN[1], 1, 1)
    both = _ends_of(single)
    if both is None or not _flat(both):
        raise Wrong(
            f"bootstrap: the values are right, but draws is ignored\n  {written}\n"
            f"    got       {as_code(single)}\nA single draw has one mean: both ends are it."
        )
    first, again, other = (_ends_of(_drawn_by(function, UNEVEN[1], n, 50)[0]) for n in (1, 1, 2))
    problem = ""
    if first != again:
        problem = "The same seed gives two intervals: draw from rng, and from nothing else."
    elif first == other:
        problem = "Another seed gives the same interval: draw from the rng that is passed in."
    if problem:
        raise Wrong(f"bootstrap: the values are right, but not its use of rng\n{problem}")


def _check_number(function: Callable, usual: tuple[float, float]) -> None:
    """Raise Wrong unless there are as many draws as asked for, by default 10,000.

    `usual` is what the function gave for UNEVEN[1] with seed 1 where it was not told how many:
    the same seed and number give it again to the last digit, another number does not.
    """
    many, few = stats.DRAWS, stats.DRAWS // 10
    told, fewer = (_ends_of(_drawn_by(function, UNEVEN[1], 1, n)[0]) for n in (many, few))
    problem = ""
    if told != usual:
        problem = f"Without the argument draws there are not {many:,} of them: leave its default."
    elif told == fewer:
        problem = f"{many:,} draws give what {few:,} give: draw as many as draws says."
    if problem:
        raise Wrong(f"bootstrap: nearly right, but not the number of draws\n{problem}")


def _draw_signs(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        drawn = rng.integers(-5, 6, rng.integers(1, 8)) / 10
        differences = [float(d) for d in drawn]
        yield Example((differences,), stats.sign_flip_p(differences))


@recorded
def sign_flip(function: Callable) -> None:
    """Check sign_flip(differences) against scipy.stats.permutation_test."""
    hand = [
        Example(([0.5],), 1.0),
        Example(([1.0, 1.0],), 0.5),
        Example(([0.4] * 5,), 2 / 32),
        Example(([-0.4] * 5,), 2 / 32),
        Example(([0.4, 0.3, 0.2, -0.1],), 4 / 16),
        Example(([0.0, 0.0],), 1.0),
        Example(([0.5, 0.001],), 0.5),
        Example(([0.3, 0.0, 0.1, 0.2, -0.1],), stats.sign_flip_p([0.3, 0.0, 0.1, 0.2, -0.1])),
        Example(([0.2, -0.1, 0.3, -0.3],), stats.sign_flip_p([0.2, -0.1, 0.3, -0.3])),
    ]
    verdict.run_check("sign_flip", function, hand, drawn(_draw_signs), top=1.0)


def _draw_holm(rng: np.random.Generator) -> list[Example]:
    tried = [[float(p) for p in rng.random(rng.integers(3, 13)).round(3) ** 2] for _ in range(100)]
    return [Example((ps,), stats.holm(ps)) for ps in tried]


@recorded
def holm(function: Callable) -> None:
    """Check holm(ps) against statsmodels."""
    hand = [
        Example(([0.04],), [0.04]),
        Example(([],), []),
        Example(([0.01, 0.02],), [0.02, 0.02]),
        Example(([0.02, 0.01],), [0.02, 0.02]),
        Example(([0.6, 0.9],), [1.0, 1.0]),
        Example(([0.01, 0.04, 0.03],), [0.03, 0.06, 0.06]),
        Example(([0.03, 0.001, 0.2],), [0.06, 0.003, 0.2]),
        Example(([0.5, 0.02, 0.02, 0.0],), [0.5, 0.06, 0.06, 0.0]),
    ]
    verdict.run_check("holm", function, hand, drawn(_draw_holm))
