"""Call a learner's function on cases, compare, and say what is wrong in words a learner can use."""

import contextlib
import copy
import dis
import functools
import inspect
import io
import linecache
import math
import numbers
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import NamedTuple

import numpy as np
from rank_bm25 import BM25Okapi

SIMPLEST = "the simplest is shown."
PASSED: set[str] = set()  # names of the functions that passed in this session
SEED, TOLERANCE = 2026, 1e-9
SAMPLE = 30  # random cases on which a known mistake must agree with the learner
STEPS = 5_000_000  # lines of the learner's code after which a call is stopped
REFUSAL = 20_000  # the same for a call that must be refused


class Wrong(Exception):
    """An answer that is not right. A notebook shows its text and no frames."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython prints in place of a traceback."""
        return str(self).split("\n")

    @property
    def summary(self) -> str:
        """The line that says most, for a report with a line for each exercise."""
        lines = [line.strip() for line in str(self).split("\n")]
        lines = [line for line in lines if not line.endswith(SIMPLEST)]
        bare = lines[-1].startswith(("expected", "got"))
        return f"{lines[0]}: {lines[-1]}" if bare else lines[-1]


class NotStarted(Wrong):
    """A stub that is still empty."""


class Endless(Exception):
    """Raised into code that goes on and on."""


class Case(NamedTuple):
    """Arguments, and the value or the exception class that is due."""

    args: tuple
    wanted: object


class Raised(NamedTuple):
    """What a call did instead of returning."""

    error: Exception


ERRORS = {
    ZeroDivisionError: "Here is nothing to divide by: what is the result then?",
    IndexError: "A place past the last one is asked for.",
    RecursionError: "It calls itself on and on: each call must come nearer to the end.",
    KeyError: "A key that is not there is asked for: .get(key, default) gives one.",
    Endless: "Refuse these arguments before the loop begins.",
}
Mistakes = list[tuple[str, Callable]]


# Calling and comparing.


def same(wanted: object, got: object, strict: bool = True) -> bool:
    """Return whether `got` is as wanted: numbers within TOLERANCE, sequences in order.

    `strict` asks for whole numbers where whole numbers are wanted.
    """
    if isinstance(wanted, type):
        return isinstance(got, Raised) and isinstance(got.error, wanted)
    if isinstance(wanted, str) or wanted is None:
        return type(got) is not Raised and isinstance(got, str | None) and wanted == got
    if isinstance(wanted, numbers.Real | np.bool):
        if isinstance(got, np.ndarray) and got.ndim == 0:
            got = got.item()
        if not isinstance(got, numbers.Real | np.bool):
            return False
        if strict and isinstance(wanted, int) and not isinstance(got, numbers.Integral):
            return False
        wanted, got = float(wanted), float(got)
        both_nan = math.isnan(wanted) and math.isnan(got)
        return abs(wanted - got) <= TOLERANCE or wanted == got or both_nan
    if isinstance(wanted, dict):
        return (
            isinstance(got, dict)
            and wanted.keys() == got.keys()
            and all(same(value, got[key], strict) for key, value in wanted.items())
        )
    if isinstance(wanted, set | frozenset):
        return isinstance(got, set | frozenset) and wanted == got
    if isinstance(got, np.ndarray) and got.ndim == 0:
        return False
    return (
        isinstance(wanted, list | tuple | np.ndarray)
        and isinstance(got, list | tuple | np.ndarray)
        and not isinstance(got, Raised)
        and len(wanted) == len(got)
        and all(same(a, b, strict) for a, b in zip(wanted, got, strict=True))
    )


@contextlib.contextmanager
def stopped(function: Callable, after: int) -> Iterator[None]:
    """Raise Endless in the learner's code after so many of its lines; libraries run untraced."""
    home, before = getattr(bare(function), "__globals__", None), sys.gettrace()
    left = after

    def count(frame, event, arg):
        nonlocal left
        if frame.f_globals is not home:
            return None
        left -= event == "line"
        if left < 0:
            raise Endless("it runs on and on")
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


def called(function: Callable, case: Case) -> tuple[object, bool]:
    """Return what `function` gave, and whether it changed its arguments; prints are dropped."""
    args = copy.deepcopy(case.args)
    watch = stopped(function, REFUSAL if isinstance(case.wanted, type) else STEPS)
    quiet = contextlib.redirect_stdout(io.StringIO())
    try:
        with quiet, np.errstate(all="ignore"), watch:
            value = function(*args)
    except Exception as error:
        return Raised(error), False
    pairs = zip(args, case.args, strict=True)
    return value, any(not same(b, a) for a, b in pairs if isinstance(b, list | dict))


def viewed(view: Callable, value: object) -> object:
    """Return the value as an exercise compares it; one that cannot be read so stays."""
    if isinstance(value, Raised):
        return value
    try:
        return view(value)
    except Exception:
        return value


def plain(value: object) -> object:
    return value


# What the learner reads.


def shown(value: object) -> str:
    """Return a value as a learner would type it: sets in order, ten decimals, no np.float64."""
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, BM25Okapi):
        return f"BM25Okapi({shown(value.made_from)})"
    if isinstance(value, np.ndarray):
        return f"np.array({shown(value.tolist())})"
    if isinstance(value, np.generic):
        return shown(value.item())
    if isinstance(value, float):
        return repr(round(value, 10))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(k)}: {shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(shown, value))) + "}" if value else "set()"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ("," if len(value) == 1 else "") + ")"
    return value.__name__ if inspect.isroutine(value) else repr(value)


def shortened(value: object, most: int = 500) -> str:
    """Return a value as text, cut where it is very long."""
    whole = shown(value)
    return whole if len(whole) <= most else whole[:most] + " …"


def written(name: str, args: tuple) -> str:
    """Return the call as code, an argument a line where it is long."""
    parts = [shown(arg) for arg in args]
    line = f"{name}({', '.join(parts)})"
    return line if len(line) < 90 else f"{name}(\n      " + ",\n      ".join(parts) + ")"


def bare(function: object) -> object:
    """Return the function inside wrappers and partials."""
    while isinstance(function, functools.partial):
        function = function.func
    return inspect.unwrap(function)


def place_of(function: Callable, error: Exception) -> tuple | None:
    """Return (frame, line number) of the learner's innermost line, None where it has none.

    All cells of a notebook share their globals, and no library has the same.
    """
    home = getattr(bare(function), "__globals__", None)
    frames = [step for step in traceback.walk_tb(error.__traceback__) if step[0].f_globals is home]
    return frames[-1] if frames else None


def error_lines(name: str, function: Callable, error: Exception) -> list[str]:
    """Return the learner's own line and what went wrong there."""
    what, place = f"  {type(error).__name__}: {error}", place_of(function, error)
    if place is None:
        return [f"{name} cannot be called as below", what]
    frame, line = place
    code = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    where = f"line {line} of its cell" if frame.f_code.co_name == name else f"line {line} of a cell"
    if isinstance(error, Endless):
        return [f"{name} runs on and on, {where}, in {frame.f_code.co_name}", f"  {code}"]
    return [f"{name} stops with an error, {where}, in {frame.f_code.co_name}", f"  {code}", what]


def is_empty(function: object) -> bool:
    """Return whether the body is nothing but a docstring, pass, ... or return None."""
    code = getattr(bare(function), "__code__", None)
    if code is None:
        return function is ... or function is None
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("RESUME", "NOP")]
    names = {"LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    loads = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    return all(s.opname in names for s in steps) and all(v is None or v is ... for v in loads)


def not_started(name: str, inner: str | None = None) -> NotStarted:
    """Return the friendly line; `inner` is another stub that this function calls."""
    if inner in (None, name):
        return NotStarted(
            f"{name} is not started yet: fill in the cell above, then run on from here"
        )
    return NotStarted(
        f"{name}: not started yet, because it calls {inner}, which is not started yet: "
        f"fill in {inner} first"
    )


def refuse_unfit(name: str, function: object) -> None:
    """Raise NotStarted for a stub, Wrong for what is no function."""
    if is_empty(function):
        raise not_started(name)
    if not callable(function):
        raise Wrong(
            f"check.{name} wants the function itself: check.{name}({name}), no brackets after "
            f"the name. It was given {shown(function)[:60]}"
        )


def refuse_unfinished(name: str, function: Callable, outcome: object) -> None:
    """Raise NotStarted where a call ended in a stub, its own or one that it calls."""
    if outcome is ...:
        raise not_started(name)
    if isinstance(outcome, Raised) and isinstance(outcome.error, NotImplementedError):
        place = place_of(function, outcome.error)
        own = getattr(bare(function), "__name__", name)
        inner = place[0].f_code.co_name if place else own
        raise not_started(name, None if inner == own else inner) from None


def is_endless(got: object) -> bool:
    """Return whether a call had to be stopped."""
    return isinstance(got, Raised) and isinstance(got.error, Endless)


def holds(value: object, kind) -> bool:
    """Return whether a value is a list that begins with one of this kind."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], kind)


def on_form(wanted: object, got: object) -> str:
    """Return a sentence on the form of an answer, empty where there is nothing to say."""
    if isinstance(got, Raised):
        return next((words for kind, words in ERRORS.items() if isinstance(got.error, kind)), "")
    if got is None and isinstance(wanted, float) and math.isnan(wanted):
        return "None came back: here the result is not a number, so return nan."
    if got is None:
        return "Nothing came back: does the function end with return?"
    if isinstance(got, GeneratorType | map | filter | zip):
        return "A generator came back, which can be read only once: put list(...) around it."
    if isinstance(wanted, list) and isinstance(got, set | dict):
        return f"A {type(got).__name__} came back where a list is wanted."
    if holds(wanted, list | tuple) and holds(got, str):
        return f"A list of texts came back where {type(wanted[0]).__name__}s are wanted."
    if isinstance(wanted, list) and isinstance(got, str | numbers.Real):
        return f"{shown(got)[:40]} came back where a list is wanted."
    if isinstance(wanted, numbers.Real) and isinstance(got, str):
        return "Text came back where a number is wanted."
    if isinstance(got, float) and math.isnan(got) and wanted == 0:
        return "nan is what 0 divided by 0 gives: return 0 where there is nothing to divide by."
    return _rounded(wanted, got)


def _rounded(wanted: object, got: object) -> str:
    """Return a sentence where a value was rounded too early."""
    numbers_differ = isinstance(wanted, float) and isinstance(got, float) and got != wanted
    if numbers_differ and any(got == round(wanted, decimals) for decimals in range(1, 7)):
        return "The value is rounded: return it as it is, and round when you print."
    return ""


def agrees(wrong: Callable, case: Case, got: object, view: Callable) -> bool:
    """Return whether a known mistake gives on `case` what the learner's function gave."""
    value = called(wrong, case)[0]
    if isinstance(value, Raised) or isinstance(got, Raised):
        return isinstance(got, Raised) and same(type(getattr(value, "error", None)), got)
    return same(viewed(view, value), viewed(view, got), strict=False)


def sentence_for(tried: list, differs: list[bool], mistakes: Mistakes, view: Callable) -> str:
    """Return the sentence of the known mistake that explains the answers best, or an empty one.

    The first of `tried` is shown, so the mistake must agree there, and on half of those that
    differ. "Perhaps" stands before it where it does not agree on all of them.
    """
    best, found = (0.5, 0.0), ""
    for sentence, wrong in mistakes:
        if not agrees(wrong, *tried[0], view):
            continue
        agreed = [agrees(wrong, case, got, view) for case, got in tried]
        there = mean(a for a, wanted in zip(agreed, differs, strict=True) if wanted)
        if (there, mean(agreed)) > best:
            best = there, mean(agreed)
            found = sentence if there == 1 else f"Perhaps: {sentence}"
    return found


def lesson(sentence: str, got: object, top: float | None) -> str:
    """Return the sentence, after the impossible value where there is one."""
    if top is None or not isinstance(got, numbers.Real) or not got > top + TOLERANCE:
        return sentence
    beyond = f"{got:.3g} where {top} is the maximum"
    return f"{beyond}: {sentence[0].lower()}{sentence[1:]}" if sentence else f"{beyond}."


def compare(
    name: str,
    function: Callable,
    hand: list[Case],
    drawn: list[Case],
    mistakes: Mistakes,
    view: Callable = plain,
    say: Callable = shown,
    top: float | None = None,
) -> None:
    """Print that all cases are right, or raise Wrong with the simplest that fails.

    `view` turns a value into what is compared, `say` writes the wanted one, `top` is the
    largest value that can be.
    """
    refuse_unfit(name, function)
    answers, changed = answered(name, function, [*hand, *drawn])
    refuse_endless(name, function, answers[-1], say)
    wrong_at = {n for n, (c, got) in enumerate(answers) if not same(c.wanted, viewed(view, got))}
    if not wrong_at and changed:
        raise Wrong(
            f"{name}: the values are right, but the function changes what it is given\n  "
            f"{written(name, changed[0].args)}\nOther cells use the same lists: work on a copy, "
            "for example with sorted(...) in place of .sort()."
        )
    if not wrong_at:
        PASSED.add(name)
        some = f" and {len(drawn)} random" if drawn else ""
        print(f"{name}: right on {len(hand)} hand-made{some} cases")
        return
    first = simplest(answers, wrong_at, len(hand))
    sample = range(min(len(answers), len(hand) + SAMPLE))
    order = [first, *(n for n in sample if n != first)]
    tried, differs = [answers[n] for n in order], [n in wrong_at for n in order]
    lines = [
        *case_lines(name, function, *answers[first], say(answers[first][0].wanted)),
        lesson(reason(tried, differs, mistakes, view), answers[first][1], top),
        f"{len(wrong_at)} of {len(answers)} cases differ; {SIMPLEST}",
    ]
    raise Wrong("\n".join(line for line in lines if line)) from None


def reason(tried: list, differs: list[bool], mistakes: Mistakes, view: Callable) -> str:
    """Return what to say of the first of `tried`: its form, a known mistake, or nothing."""
    case, got = tried[0]
    if same(case.wanted, viewed(view, got), strict=False):
        return "The values are right, but whole numbers are wanted, to cut with: 3, not 3.0."
    return sentence_for(tried, differs, mistakes, view) or on_form(case.wanted, got)


def simplest(answers: list, wrong_at: set[int], n_hand: int) -> int:
    """Return the place of the wrong answer to show: hand-made cases stand from simple to hard."""
    if min(wrong_at) < n_hand:
        return min(wrong_at)
    return min(wrong_at, key=lambda n: len(shown(answers[n][0].args)))


def answered(name: str, function: Callable, cases: list[Case]) -> tuple[list, list[Case]]:
    """Return (case, what came back) for all cases, and those whose arguments were changed.

    After a call that had to be stopped nothing more is asked: each would take seconds.
    """
    answers, changed = [], []
    for case in cases:
        got, touched = called(function, case)
        refuse_unfinished(name, function, got)
        answers.append((case, got))
        changed += [case] * touched
        if is_endless(got) and not isinstance(case.wanted, type):
            break
    return answers, changed


def refuse_endless(name: str, function: Callable, last: tuple, say: Callable) -> None:
    """Raise Wrong where the last call had to be stopped, though it was no call to refuse."""
    case, got = last
    if is_endless(got) and not isinstance(case.wanted, type):
        lines = case_lines(name, function, case, got, say(case.wanted))
        raise Wrong("\n".join([*lines, "Does each turn of the loop come nearer to its end?"]))


def case_lines(name: str, function: Callable, case: Case, got: object, wanted: str) -> list[str]:
    """Return the lines that show one case."""
    call = [f"  {written(name, case.args)}", f"    expected  {wanted}"]
    if isinstance(got, Raised):
        return [*error_lines(name, function, got.error), *call]
    return [f"{name} is not right yet", *call, f"    got       {shortened(got)}"]


@functools.cache
def random_cases(draw: Callable) -> list[Case]:
    """Return the random cases of an exercise, the same every time."""
    return draw(np.random.default_rng(SEED))


def pick(rng: np.random.Generator, words: str, low: int, high: int) -> list[str]:
    """Return `low` to `high` of the words, with repeats."""
    return [str(word) for word in rng.choice(words.split(), rng.integers(low, high + 1))]


def mean(flags) -> float:
    """Return the mean of numbers or flags, 0 if there are none."""
    flags = list(flags)
    return sum(flags) / len(flags) if flags else 0.0


def common(a: list, b: list) -> int:
    """Return how many members two lists share, each as often as both have it."""
    return (Counter(a) & Counter(b)).total()


def returned(name: str, given: object) -> object:
    """Return what a function without arguments gives, or `given` itself; a stub is not started."""
    if not callable(given):
        return given
    try:
        return given()
    except NotImplementedError:
        raise not_started(name) from None
    except Exception as error:
        raise Wrong("\n".join(error_lines(given.__name__, given, error))) from None
