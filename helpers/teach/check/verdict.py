"""Call a learner's function on cases, compare, and say what is wrong in words a learner can use."""

import contextlib
import functools
import inspect
import io
import itertools
import linecache
import math
import numbers
import pickle
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from .cases import Example, cases_of_page
from .mistakes import Mistakes, known_mistakes
from .open_exercise import go_to_cell
from .passed import place_of_exercise, tell_passed
from .values import TOLERANCE, Raised, apply_view, as_call, as_code, is_same, short_code, type_fault


class Endless(Exception):
    """Raised into code that goes on and on."""


STEPS = 100_000  # lines of the learner's code after which a call is stopped; right ones take 2,000
NEARLY_ALL = 0.8  # of the answers that are right, for a "Perhaps"
TELLING = 5  # cases that must show each of two mistakes, or all that can
WIDTH = 66  # columns that a narrow notebook shows without breaking words
ERRORS = {
    ZeroDivisionError: "Here is nothing to divide by: what is the result then?",
    IndexError: "A place past the last one is asked for.",
    RecursionError: "It calls itself on and on: each call must come nearer to the end.",
    KeyError: "A key that is not there is asked for: .get(key, default) gives one.",
    Endless: "Does each turn of the loop come nearer to its end? Nothing is to be drawn at random.",
}
DRAWN = "The same call gives another value each time: draw nothing at random here."
WITHOUT_LESSONS = "Which mistake it may be isn't said here: the workbook's lessons can't be read."
NAN = "nan is what 0 divided by 0 gives: return 0 where there is nothing to divide by."


class Wrong(Exception):
    """An answer that is not right. A notebook shows its text and no frames.

    `summary` is the line that says most, for a report; the last one unless it is given.
    """

    def __init__(self, words: str, summary: str = "") -> None:
        super().__init__(words)
        self.summary = summary or words.split("\n")[-1].strip()

    def _render_traceback_(self) -> list[str]:
        """Return what IPython prints in place of a traceback: a page breaks long lines in words."""
        return [part for line in str(self).split("\n") for part in wrap_line(line)]


def wrap_line(line: str) -> list[str]:
    """Return lines of at most WIDTH: prose is broken between words, code and cases after commas."""
    if not line.startswith(" "):
        return textwrap.wrap(line, WIDTH) or [line]
    firm = re.sub(r"(?<!,) ", "\0", line)
    how = {"subsequent_indent": "\0" * 14, "break_long_words": False, "break_on_hyphens": False}
    return [part.replace("\0", " ") for part in textwrap.wrap(firm, WIDTH, **how)] or [line]


class NotStarted(Wrong):
    """A stub that is still empty. A notebook shows its text and goes to the stub."""

    gone_to, above = False, True

    def _render_traceback_(self) -> list[str]:
        if not self.gone_to:  # IPython asks twice
            self.gone_to = True
            go_to_cell(self.above)
        return super()._render_traceback_()


class Answer(NamedTuple):
    """What a learner's function gave on a case."""

    case: Example
    got: object  # or Raised
    seen: object  # what of it is compared
    right: bool


def run_check(
    name: str,
    function: Callable,
    drawn: Iterable[Example] = (),
    hand: Iterable[Example] = (),
    *,
    view: Callable | None = None,
    say: Callable = as_code,
    top: float | None = None,
) -> None:
    """Print that all cases are right, or raise Wrong with the simplest that fails.

    Hand-made cases stand from simple to hard, those of the exercise's page before `hand`. `view`
    turns a value into what is compared, `say` writes the wanted one, `top` is the largest value
    that can be.
    """
    hand, drawn = [*cases_of_page(name), *hand], [*drawn]
    cases = [*hand, *sorted(drawn, key=lambda case: len(as_code(case.args)))]
    answers, changed = _answers(name, function, cases, view)
    if not all(answer.right for answer in answers):
        raise _wrong(name, function, answers, view, say, top) from None
    if changed:
        raise Wrong(
            f"{name}: the values are right, but the function changes what it is given\n  "
            f"{as_call(name, changed[0].args)}\nOther cells use the same lists: work on a copy."
        )
    random = f" and {len(drawn)} random" if drawn else ""
    tell_passed(name, f"{name}: right on {len(hand)} hand-made{random} cases")


def _wrong(
    name: str,
    function: Callable,
    answers: list[Answer],
    view: Callable | None,
    say: Callable,
    top: float | None,
) -> Wrong:
    """Return what is said of answers: a crash second, since it hides what is wrong elsewhere."""
    mistakes = known_mistakes(name)
    lines, sentences, summary = [], [], ""
    for raised in (False, True):
        rest = [a for a in answers if a.right or isinstance(a.got, Raised) == raised]
        wrong = next((answer for answer in rest if not answer.right), None)
        if wrong is None:
            continue
        shown = case_lines(name, function, wrong.case, wrong.got, say(wrong.case.wanted))
        if lines:
            shown[0] = f"And {shown[0]}"
        lines += shown
        if top is not None and isinstance(wrong.got, numbers.Real) and wrong.got > top + TOLERANCE:
            lines.append(f"Here {top} is the maximum.")
        sentence = reason(rest, mistakes, view) or drawn_at_random(name, function, wrong)
        if sentence and sentence not in lines:
            lines.append(sentence)
        sentences.append(sentence)
        summary = summary or sentence or f"{shown[0]}: {shown[-1].strip()}"
    if not mistakes and not any(sentences):
        lines.append(WITHOUT_LESSONS)
    failing = sum(not answer.right for answer in answers)
    lines.append(f"{failing} of {len(answers)} cases differ; the simplest is shown.")
    return Wrong("\n".join(lines), summary)


def _answers(
    name: str, function: Callable, cases: list[Example], view: Callable
) -> tuple[list[Answer], list[Example]]:
    """Return the answers, none after an endless one, and the cases whose arguments it changed."""
    answers, changed = [], []
    for case in cases:
        got, args = call_safely(name, function, case.args)
        pairs = zip(case.args, args, strict=True)
        if any(before != after for before, after in pairs if isinstance(before, list | dict)):
            changed.append(case)
        seen = apply_view(view, got)
        answers.append(Answer(case, got, seen, is_same(case.wanted, seen)))
        if isinstance(got, Raised) and isinstance(got.error, Endless):
            break  # each would take a second
    return answers, changed


# Calling it.


def call_safely(name: str, function: object, args: tuple) -> tuple[object, tuple]:
    """Return what `function` gave, or Raised, and the copied arguments; its prints are dropped.

    Raises NotStarted where it is a stub or calls one, Wrong where it is no function.
    """
    if function is None or function is ...:
        raise not_started(name)
    if not callable(function):
        wants = f"check.{name} wants the function itself: check.{name}({name}), without brackets"
        raise Wrong(f"{wants} after the name. It was given {as_code(function)[:60]}")
    args = pickle.loads(pickle.dumps(args))  # a deep copy, in a third of the time
    quiet = contextlib.redirect_stdout(io.StringIO())
    try:
        with quiet, np.errstate(all="ignore"), step_limit(function):
            return function(*args), args
    except NotImplementedError as error:
        stub = getattr(inspect.unwrap(function), "__name__", name)
        place = learners_line(function, error)
        inner = place[0].f_code.co_name if place else stub
        raise not_started(name, "" if inner == stub else inner) from None
    except Exception as error:
        return Raised(error), args


def not_started(name: str, inner: str = "") -> NotStarted:
    """Return the friendly line; `inner` is another stub that this function calls."""
    if inner:
        return NotStarted(f"{name}: it calls {inner}, which is not started yet: fill in that first")
    title = place_of_exercise(name).called
    return NotStarted(f"{title} is not started yet: fill in the cell above, then run on from here")


def value_of(name: str, given: object) -> object:
    """Return what a function without arguments gives, or `given` itself; a stub is not started."""
    if not callable(given):
        return given
    value, _ = call_safely(name, given, ())
    if isinstance(value, Raised):
        raise Wrong("\n".join(error_lines(given.__name__, given, value.error)))
    return value


@contextlib.contextmanager
def step_limit(function: Callable) -> Iterator[None]:
    """Raise Endless in the learner's code after STEPS of its lines; libraries run untraced."""
    home, before, steps = home_of(function), sys.gettrace(), itertools.count()

    def trace(frame, event, arg):
        if frame.f_globals is not home:
            return None
        if next(steps) > STEPS:
            raise Endless(f"stopped after {STEPS:,} lines, a right answer needs some 2,000")
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def home_of(function: Callable) -> dict | None:
    """Return the globals of a function: all cells of a notebook share them, no library has them."""
    return getattr(inspect.unwrap(function), "__globals__", None)


def learners_line(function: Callable, error: Exception) -> tuple | None:
    """Return (frame, line number) of the learner's innermost line, None where it has none."""
    home = home_of(function)
    frames = [step for step in traceback.walk_tb(error.__traceback__) if step[0].f_globals is home]
    return frames[-1] if frames else None


# What is wrong.


def case_lines(name: str, function: Callable, case: Example, got: object, wanted: str) -> list[str]:
    call = [f"  {as_call(name, case.args)}", f"    expected  {wanted}"]
    if isinstance(got, Raised):
        return [*error_lines(name, function, got.error), *call]
    return [f"{name} is not right yet", *call, f"    got       {short_code(got)}"]


def error_lines(name: str, function: Callable, error: Exception) -> list[str]:
    """Return the learner's own line and what went wrong there."""
    what, place = f"  {type(error).__name__}: {error}", learners_line(function, error)
    if place is None:
        return [f"{name} cannot be called as below", what]
    frame, line = place
    code = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    inside = frame.f_code.co_name
    how = "runs on and on" if isinstance(error, Endless) else "stops with an error"
    where = f"line {line} of {'its' if inside == name else 'a'} cell, in {inside}"
    return [f"{name} {how}, {where}", f"  {code}", what]


def reason(answers: list[Answer], mistakes: Mistakes, view: Callable) -> str:
    """Return what to say of answers of which some are wrong, empty where nothing is known.

    That is their form, a known mistake, or an error; what is said of values holds for all.
    """
    pairs = [(answer.case.wanted, answer.seen) for answer in answers]
    if all(is_same(*pair, strict=False) for pair in pairs):
        return "The values are right, but whole numbers are wanted, to cut with: 3, not 3.0."
    if any(all(is_same(*pair, decimals=n) for pair in pairs) for n in range(1, 10)):
        return "The value is rounded: return it as it is, and round when you print."
    if sentence := known_mistake(answers, mistakes, view):
        return sentence
    case, got, seen, _ = next(answer for answer in answers if not answer.right)
    if isinstance(got, Raised):
        return next((words for kind, words in ERRORS.items() if isinstance(got.error, kind)), "")
    is_nan = isinstance(got, float) and math.isnan(got) and case.wanted == 0
    return NAN if is_nan else type_fault(case.wanted, seen, members=view is None)


def drawn_at_random(name: str, function: Callable, answer: Answer) -> str:
    """Return a sentence where the same call gives another number each time, else an empty one."""
    if not isinstance(answer.got, numbers.Real):
        return ""
    again, _ = call_safely(name, function, answer.case.args)
    return "" if is_same(answer.got, again, strict=False) else DRAWN


class Made(NamedTuple):
    """What a known mistake gives, case by case."""

    sentence: str
    differs: np.ndarray  # from what is wanted
    agrees: np.ndarray  # with the learner's function
    values: np.ndarray


def known_mistake(answers: list[Answer], mistakes: Mistakes, view: Callable) -> str:
    """Return the sentence of the known mistake that the learner made, or an empty one.

    It gives what the learner's function gave in every case, also in those that are right. "Perhaps"
    stands before one that agrees in all cases that differ and in nearly all of the others.
    """
    right = np.array([answer.right for answer in answers])
    first = [answer for answer in answers if not answer.right][:TELLING]
    best, nearest = NEARLY_ALL, ""
    for sentence, wrong in mistakes:
        if not _made(sentence, wrong, first, view).agrees.all():
            continue  # most do at once, and need no more cases
        made = _made(sentence, wrong, answers, view)
        if made.agrees.all():
            return sentence
        share = made.agrees[right].sum() / max(1, right.sum())
        if share > best and made.agrees[~right].all():
            best, nearest = share, f"Perhaps: {sentence}"
    if nearest:
        return nearest
    return _known_pair([_made(*mistake, answers, view) for mistake in mistakes], answers)


def _made(sentence: str, wrong: Callable, answers: list[Answer], view: Callable) -> Made:
    differs, agrees, values = [], [], []
    for case, got, seen, _ in answers:
        value = apply_view(view, _given(wrong, pickle.dumps(case.args)))
        if isinstance(value, Raised):
            agrees.append(is_same(type(value.error), got))
        else:
            agrees.append(is_same(value, seen, strict=False))
        differs.append(not is_same(case.wanted, value, strict=False))
        values.append(value)
    return Made(sentence, np.array(differs), np.array(agrees), _numbers(values))


@functools.cache
def _given(mistake: Callable, args: bytes) -> object:
    """Return what a known mistake gives for pickled arguments; it's asked once for all answers."""
    return call_safely("", mistake, pickle.loads(args))[0]


def _numbers(values: list) -> np.ndarray:
    """Return numbers, nan for what is none."""
    return np.array([float(v) if isinstance(v, numbers.Real) else math.nan for v in values])


def _known_pair(made: list[Made], answers: list[Answer]) -> str:
    """Return the sentences of two known mistakes that together give the answers, or an empty one.

    Where only one of them changes the result, it is that one's. Where both do, it is wrong in some
    way, and shows both where a number changed by the product of their factors.
    """
    right = np.array([answer.right for answer in answers])
    wanted = _numbers([answer.case.wanted for answer in answers])
    got = _numbers([answer.seen for answer in answers])
    best, nearest = NEARLY_ALL, ""
    for pair in itertools.combinations(made, 2):
        one, two = pair
        both, either = one.differs & two.differs, one.differs | two.differs
        unsure = both | (either & (wanted == 0))  # 0 times a factor is 0
        alone = np.where(one.differs, one.agrees, two.agrees)
        fits = np.where(unsure, ~right, np.where(either, alone, right))
        product = np.isclose(one.values * two.values, wanted * got, rtol=TOLERANCE, atol=0)
        scaled = both & (wanted != 0)
        factors = scaled & product
        if factors.sum() < NEARLY_ALL * scaled.sum():
            factors = np.zeros_like(factors)
        if one.sentence == two.sentence or not all(_is_shown(m, both, factors) for m in pair):
            continue
        share = fits[either | ~right].mean()
        if share > best:
            best, said = share, "Two" if share == 1 else "Perhaps two"
            nearest = f"{said} mistakes at once:\n- {one.sentence}\n- {two.sentence}"
    return nearest


def _is_shown(mistake: Made, both: np.ndarray, factors: np.ndarray) -> bool:
    """Return whether enough cases show a mistake: alone, or as a factor where `both` differ."""
    shown = (mistake.differs & mistake.agrees & ~both) | factors
    return shown.sum() >= min(TELLING, max(1, mistake.differs.sum()))
