"""Checks of intervals and tests."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...measure import stats
from ...measure.stats import SEED
from .cases import Example
from .mistakes import known_mistakes
from .passed import tell_passed
from .recorded import random_check, recorded
from .values import TOLERANCE, Raised, as_code, is_sequence, short_code, type_fault
from .verdict import Wrong, call_safely, error_lines

# The bootstrap is random, so its ends are compared within a share of the standard error.

NEAR_ENDS = 0.2  # standard errors; five times what two runs of 10,000 draws differ by
UNEVEN = [
    [0.0, 0.0, 0.1, 0.2, 1.0],
    [0.1, 0.35, 0.4, 1.0, 0.95, 0.62, 0.0, 0.55],
    [3.0, 1.0, 1.0, 8.0, 2.0, 1.0],
]
Ends = tuple[float, float]  # low, high


class Call(NamedTuple):
    """A call of the learner's bootstrap, what it gave, and its ends, None where it's no pair."""

    written: str
    got: object
    ends: Ends | None


def _call(function: Callable, values: list[float], seed: int, *draws: int) -> Call:
    """Call the learner's bootstrap. Raises Wrong where it stops with an error."""
    more = "".join(f", {n}" for n in draws)
    written = f"bootstrap({as_code(np.array(values))}, np.random.default_rng({seed}){more})"
    args = np.array(values), np.random.default_rng(seed), *draws
    got, _ = call_safely("bootstrap", function, args)
    if isinstance(got, Raised):
        lines = [*error_lines("bootstrap", function, got.error), f"  {written}"]
        raise Wrong("\n".join(lines)) from None
    if not is_sequence(got) or len(got) != 2 or type_fault((0.0, 1.0), got):
        return Call(written, got, None)
    low, high = got
    return Call(written, got, (float(low), float(high)))


def _near(wanted: Ends, ends: Ends, values: list[float]) -> bool:
    reach = NEAR_ENDS * float(np.std(values)) / len(values) ** 0.5 + TOLERANCE
    return all(abs(a - b) <= reach for a, b in zip(wanted, ends, strict=True))


def _is_flat(ends: Ends) -> bool:
    low, high = ends
    return abs(high - low) < TOLERANCE


@recorded
def bootstrap(function: Callable) -> None:
    """Check bootstrap(values, rng, draws) against scipy.stats.bootstrap, and its use of rng."""
    calls = []
    for values in UNEVEN:
        call = _call(function, values, 1)
        if call.ends is None:
            raise Wrong(
                f"bootstrap is not right yet\n  {call.written}\n"
                f"    expected  a pair (low, high)\n    got       {short_code(call.got)}\n"
                f"{type_fault((0.0, 1.0), call.got)}".rstrip()
            )
        calls.append(call)
    for values, call in zip(UNEVEN, calls, strict=True):
        wanted = stats.bootstrap_interval(values)
        if not _near(wanted, call.ends, values):
            why = _known_mistake(calls) or _too_wide_or_narrow(call.ends, wanted)
            raise Wrong(
                f"bootstrap is not right yet\n  {call.written}\n"
                f"    expected  about {_rounded(wanted)}, from scipy.stats\n"
                f"    got       {_rounded(call.ends)}\n{why}"
            )
    _check_draws(function)
    _check_number(function, calls[1].ends)
    tell_passed("bootstrap", "bootstrap: right on 3 lists of values, repeats with its seed")


def _rounded(ends: Ends) -> Ends:
    return tuple(round(end, 3) for end in ends)


def _known_mistake(calls: list[Call]) -> str:
    """Return the sentence of the mistake that gives all answers, or an empty one."""
    for sentence, wrong in known_mistakes("bootstrap"):
        rng = np.random.default_rng(SEED)
        made = [wrong(values, rng) for values in UNEVEN]
        if all(map(_is_alike, made, calls, UNEVEN)):
            return sentence
    return ""


def _is_alike(made: Ends, call: Call, values: list[float]) -> bool:
    """Return whether the ends that a mistake gives are those of an answer."""
    return _near(made, call.ends, values) and _is_flat(made) == _is_flat(call.ends)


def _too_wide_or_narrow(ends: Ends, wanted: Ends) -> str:
    wide = ends[1] - ends[0] > wanted[1] - wanted[0]
    return (
        f"The interval is too {'wide' if wide else 'narrow'}, or stands in the wrong place: it "
        "lies between the 2.5 % and the 97.5 % point of the drawn means."
    )


def _check_draws(function: Callable) -> None:
    """Raise Wrong unless the seed decides the draws and one draw gives one mean."""
    single = _call(function, UNEVEN[1], 1, 1)
    if single.ends is None or not _is_flat(single.ends):
        raise Wrong(
            f"bootstrap: the values are right, but draws is ignored\n  {single.written}\n"
            f"    got       {as_code(single.got)}\nA single draw has one mean: both ends are it."
        )
    first, again, other = (_call(function, UNEVEN[1], seed, 50).ends for seed in (1, 1, 2))
    problem = ""
    if first != again:
        problem = "The same seed gives two intervals: draw from rng, and from nothing else."
    elif first == other:
        problem = "Another seed gives the same interval: draw from the rng that is passed in."
    if problem:
        raise Wrong(f"bootstrap: the values are right, but not its use of rng\n{problem}")


def _check_number(function: Callable, usual: Ends) -> None:
    """Raise Wrong unless there are as many draws as asked for, by default 10,000.

    `usual` is what the function gave for UNEVEN[1] with seed 1 where it was not told how many:
    the same seed and number give it again to the last digit, another number does not.
    """
    many, few = stats.DRAWS, stats.DRAWS // 10
    told, fewer = (_call(function, UNEVEN[1], 1, n).ends for n in (many, few))
    problem = ""
    if told != usual:
        problem = f"Without the argument draws there are not {many:,} of them: leave its default."
    elif told == fewer:
        problem = f"{many:,} draws give what {few:,} give: draw as many as draws says."
    if problem:
        raise Wrong(f"bootstrap: nearly right, but not the number of draws\n{problem}")


@random_check(100)
def holm(rng: np.random.Generator) -> Example:
    """Check holm(ps) against statsmodels."""
    ps = (rng.random(rng.integers(3, 13)).round(3) ** 2).tolist()
    return Example((ps,), stats.holm(ps))


@random_check(60)
def next_doubling(rng: np.random.Generator) -> Example:
    """Check next_doubling(smaller, larger) against SciPy's t interval of the changes."""
    larger = rng.integers(0, 11, rng.integers(3, 9)) / 10
    changes = rng.integers(-4, 2, len(larger)) / 10
    reach = stats.t_interval(changes)
    ends = (float(larger.mean() + end) for end in reach)
    return Example(((larger - changes).round(1).tolist(), larger.tolist()), tuple(ends))
