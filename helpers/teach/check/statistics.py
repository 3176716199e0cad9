"""Checks of intervals and tests."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from ...measure import stats
from . import verdict
from .passed import tell_passed
from .values import TOLERANCE, Raised, as_code, is_sequence, short_code, type_fault
from .verdict import SEED, Example, Wrong, drawn, mean

# The bootstrap is random, so its ends are compared within a share of the standard error.

NEAR_ENDS = 0.2  # standard errors; five times what two runs of 10,000 draws differ by
SMALL = 1e-12  # more than rounding adds to a sum
UNEVEN = [
    [0.0, 0.0, 0.1, 0.2, 1.0],
    [0.1, 0.35, 0.4, 1.0, 0.95, 0.62, 0.0, 0.55],
    [3.0, 1.0, 1.0, 8.0, 2.0, 1.0],
]


def _resampled(values, rng, draws: int, size: int | None = None) -> np.ndarray:
    return rng.choice(values, (draws, size or len(values)))


def _ends(found, low: float = 2.5, high: float = 97.5) -> tuple[float, float]:
    return tuple(float(end) for end in np.percentile(found, [low, high]))


def _about(values: list[float], reach: float) -> tuple[float, float]:
    return float(np.mean(values)) - reach, float(np.mean(values)) + reach


WRONG_BOOTSTRAP = [
    ("Each draw takes every value once, so all means are the same: draw with replacement.",
     lambda v, rng, n=10_000: _about(v, 0)),
    ("The mean is taken over the draws, which leaves one for each value: take it over the "
     "values of each draw.",
     lambda v, rng, n=10_000: _ends(_resampled(v, rng, n).mean(0))),
    ("These are percentiles of the drawn values. Take the mean of each draw first.",
     lambda v, rng, n=10_000: _ends(np.tile(v, 100))),
    ("This is the 90 % interval: the middle 95 % lie between 2.5 % and 97.5 %.",
     lambda v, rng, n=10_000: _ends(_resampled(v, rng, n).mean(1), 5, 95)),
    ("This is the t interval. Draw values again and take the middle 95 % of their means.",
     lambda v, rng, n=10_000: stats.t_interval(v)),
    ("This is the mean and 1.96 standard errors to each side. The percentiles of the drawn "
     "means need not lie evenly.",
     lambda v, rng, n=10_000: _about(v, 1.96 * np.std(v, ddof=1) / len(v) ** 0.5)),
    ("These are 1.96 standard deviations of the values, where single values lie. Their mean "
     "varies less: take the percentiles of the drawn means.",
     lambda v, rng, n=10_000: _about(v, 1.96 * np.std(v))),
    ("This is the median of each draw. The interval is one of the mean.",
     lambda v, rng, n=10_000: _ends(np.median(_resampled(v, rng, n), axis=1))),
    ("The lower end stands above the upper one.",
     lambda v, rng, n=10_000: _ends(_resampled(v, rng, n).mean(1), 97.5, 2.5)),
    ("Each draw has one value less than there are: draw as many as you have.",
     lambda v, rng, n=10_000: _ends(_resampled(v, rng, n, len(v) - 1).mean(1))),
    ("The interval is turned round the mean (the basic bootstrap). The percentile interval "
     "takes the percentiles as they are.",
     lambda v, rng, n=10_000:
         tuple(2 * np.mean(v) - e for e in _ends(_resampled(v, rng, n).mean(1))[::-1])),
]  # fmt: skip


def _ends_of(value: object) -> tuple[float, float] | None:
    """Return (low, high), None where the value is no pair of numbers."""
    if not is_sequence(value) or len(value) != 2 or type_fault((0.0, 1.0), value):
        return None
    low, high = value
    return float(low), float(high)


def _close(wanted: tuple, got: tuple, values: list[float]) -> bool:
    reach = NEAR_ENDS * float(np.std(values)) / len(values) ** 0.5 + TOLERANCE
    return all(abs(a - b) <= reach for a, b in zip(wanted, got, strict=True))


def check_bootstrap(function: Callable) -> None:
    """Check bootstrap(values, rng, draws) against scipy.stats.bootstrap, and its use of rng.

    Why: With it you can say in a meeting whether .62 and .65 are the same number on your queries.
    """
    answers = []
    for values in UNEVEN:
        got, written = _drawn_by(function, values, 1)
        if _ends_of(got) is None:
            raise Wrong(
                f"bootstrap is not right yet\n  {written}\n    expected  a pair (low, high)\n"
                f"    got       {short_code(got)}\n{type_fault((0.0, 1.0), got)}".rstrip()
            )
        answers.append((values, _ends_of(got), stats.bootstrap_interval(values), written))
    failing = [answer for answer in answers if not _close(answer[2], answer[1], answer[0])]
    if not failing:
        _check_draws(function)
        _check_number(function, answers[1][1])
        said = f"bootstrap: right on {len(answers)} lists of values, repeats with its seed"
        tell_passed("bootstrap", said)
        return
    _, got, wanted, written = failing[0]
    near = tuple(round(end, 3) for end in wanted)
    raise Wrong(
        f"bootstrap is not right yet\n  {written}\n    expected  about {near}, from scipy.stats\n"
        f"    got       {tuple(round(end, 3) for end in got)}\n{_why(answers, got, wanted)}"
    )


def _why(answers: list[tuple], got: tuple, wanted: tuple) -> str:
    """Return the sentence of the mistake that gives all answers, or which way the ends lie."""
    for sentence, wrong in WRONG_BOOTSTRAP:
        rng = np.random.default_rng(SEED)
        tried = [(wrong(values, rng), found, values) for values, found, _, _ in answers]
        if all(_close(*both) and _flat(both[0]) == _flat(both[1]) for both in tried):
            return sentence
    wide = got[1] - got[0] > wanted[1] - wanted[0]
    return (
        f"The interval is too {'wide' if wide else 'narrow'}, or stands in the wrong place: it "
        "lies between the 2.5 % and the 97.5 % point of the drawn means."
    )


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


def _signs(differences: list) -> list[float]:
    """Return the sum for each pattern of signs."""
    sums = [0.0]
    for d in differences:
        sums = [total + sign * d for total in sums for sign in (1, -1)]
    return sums


def _draw_signs(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        drawn = rng.integers(-5, 6, rng.integers(1, 8)) / 10
        differences = [float(d) for d in drawn]
        yield Example((differences,), stats.sign_flip_p(differences))


WRONG_SIGNS = [
    ("Only one side is counted: a mean as far below 0 is as surprising, so compare without "
     "the sign.",
     lambda d: mean(total >= sum(d) - SMALL for total in _signs(d)),
     lambda d: mean(total >= sum(d) for total in _signs(d)),
     lambda d: mean(total / len(d) >= sum(d) / len(d) for total in _signs(d))),
    ("One side is counted, by its absolute size: sums as far below 0 are missing.",
     lambda d: mean(total >= abs(sum(d)) - SMALL for total in _signs(d))),
    ("Both sides are counted, and p is doubled on top. Comparing absolute values is enough.",
     lambda d: 2 * mean(abs(total) >= abs(sum(d)) - SMALL for total in _signs(d)),
     lambda d: min(1.0, 2 * mean(abs(total) >= abs(sum(d)) - SMALL for total in _signs(d))),
     lambda d: min(1.0, 2 * mean(abs(total) >= abs(sum(d)) for total in _signs(d)))),
    ("One side is counted and doubled, which can give a p of 2. Compare absolute values: that "
     "counts both sides.",
     lambda d: 2 * mean(total >= sum(d) - SMALL for total in _signs(d)),
     lambda d: 2 * mean(total >= abs(sum(d)) - SMALL for total in _signs(d))),
    ("The sum that was seen keeps its sign: take the absolute value of both sides.",
     lambda d: mean(abs(total) >= sum(d) - SMALL for total in _signs(d))),
    ("Sums equal to the one seen are left out: at least as far counts, too.",
     lambda d: mean(abs(total) > abs(sum(d)) + SMALL for total in _signs(d)),
     lambda d: mean(abs(total) > abs(sum(d)) for total in _signs(d))),
    ("Each difference loses its sign before it is added up: take the absolute value of the sum.",
     lambda d: mean(abs(t) >= sum(map(abs, d)) - SMALL for t in _signs(d))),
    ("This is the share of the patterns that are nearer to 0: p is the share at least as far.",
     lambda d: mean(abs(total) <= abs(sum(d)) + SMALL for total in _signs(d))),
    ("One is added to the count and to the number of patterns. That is for random patterns; "
     "here all of them are counted.",
     lambda d: (sum(abs(t) >= abs(sum(d)) - SMALL for t in _signs(d)) + 1) / (2 ** len(d) + 1)),
    ("This is a number of patterns. p is the share of them.",
     lambda d: sum(abs(total) >= abs(sum(d)) - SMALL for total in _signs(d))),
    ("This is the sign test, which counts wins and forgets how large they are.",
     lambda d:
         mean(abs(t) >= abs(sum(np.sign(d))) for t in _signs([float(np.sign(x)) for x in d]))),
    ("Equal sums are missed by a rounding error in the last digit: compare with a small "
     "tolerance such as 1e-12.",
     lambda d: mean(abs(total) >= abs(sum(d)) for total in _signs(d)),
     lambda d: mean(abs(total) >= abs(sum(d)) for total in _signs(d[::-1]))),
]  # fmt: skip


def check_sign_flip(function: Callable) -> None:
    """Check sign_flip(differences) against scipy.stats.permutation_test.

    Why: It keeps you from shipping a new system because of luck. It assumes that the queries don't
    depend on each other.
    """
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
    verdict.run_check("sign_flip", function, hand, drawn(_draw_signs), WRONG_SIGNS, top=1.0)


def _draw_holm(rng: np.random.Generator) -> list[Example]:
    tried = [[float(p) for p in rng.random(rng.integers(3, 13)).round(3) ** 2] for _ in range(100)]
    return [Example((ps,), stats.holm(ps)) for ps in tried]


def _steps(ps: list, factor: Callable, monotone: bool = True, top: float = 1.0) -> list[float]:
    """Return p times a factor of its rank, in the given order."""
    found, running = [0.0] * len(ps), 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda n: ps[n])):
        value = min(top, factor(rank, len(ps)) * ps[at])
        running = max(running, value) if monotone else value
        found[at] = running
    return found


def _step_up(ps: list, factor: Callable) -> list[float]:
    found, running = [0.0] * len(ps), 1.0
    for rank, at in reversed([*enumerate(sorted(range(len(ps)), key=lambda n: ps[n]))]):
        running = min(running, factor(rank, len(ps)) * ps[at])
        found[at] = running
    return found


WRONG_HOLM = [
    ("Every p is multiplied by the number of comparisons: that is Bonferroni. Holm's factor "
     "falls by one from each p to the next.",
     lambda ps: [min(1.0, p * len(ps)) for p in ps]),
    ("A larger p can come out below a smaller one: none may fall below the one before it.",
     lambda ps: _steps(ps, lambda rank, n: n - rank, monotone=False)),
    ("A p is above 1: cut it there.",
     lambda ps: _steps(ps, lambda rank, n: n - rank, top=math.inf)),
    ("The results are sorted. Return each in the place of its p.",
     lambda ps: sorted(_steps(ps, lambda rank, n: n - rank))),
    ("The factors follow the given order. The smallest p gets the largest factor.",
     lambda ps: [min(1.0, p * (len(ps) - n)) for n, p in enumerate(ps)]),
    ("The given order is kept and the factors follow it: start with the smallest p.",
     lambda ps:
         [max(min(1.0, ps[m] * (len(ps) - m)) for m in range(n + 1)) for n in range(len(ps))]),
    ("This goes from the largest p downwards and takes minima: that is Hochberg's method. "
     "Holm starts with the smallest and takes maxima.",
     lambda ps: _step_up(ps, lambda rank, n: n - rank)),
    ("This is Benjamini and Hochberg's adjustment, for false discoveries.",
     lambda ps: _step_up(ps, lambda rank, n: n / (rank + 1))),
    ("The factors begin one too low: the smallest of n p values is multiplied by n.",
     lambda ps: _steps(ps, lambda rank, n: n - rank - 1)),
]  # fmt: skip


def check_holm(function: Callable) -> None:
    """Check holm(ps) against statsmodels.

    Why: Try twenty settings and one will look better by chance. This keeps the promise of 5 % for
    all of them together.
    """
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
    verdict.run_check("holm", function, hand, drawn(_draw_holm), WRONG_HOLM)
