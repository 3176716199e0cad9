"""Values: when two are the same, how one is written, and what is wrong with its form."""

import inspect
import math
import numbers
from collections.abc import Callable
from types import GeneratorType
from typing import NamedTuple

import numpy as np
from rank_bm25 import BM25Okapi

TOLERANCE = 1e-9
SEQUENCE, SOME_SET = (list, tuple, np.ndarray), (set, frozenset)
REAL = (float, int, numbers.Real, np.bool)  # what is met most often first: the abstract are slow


class Endless(Exception):
    """Raised into code that goes on and on."""


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


def is_same(wanted: object, got: object, strict: bool = True) -> bool:
    """Return whether `got` is as wanted: numbers within TOLERANCE, sequences in order.

    `strict` asks for whole numbers where whole numbers are wanted.
    """
    if isinstance(wanted, type):
        return isinstance(got, Raised) and isinstance(got.error, wanted)
    if wanted is None or isinstance(wanted, str):
        return (got is None or isinstance(got, str)) and wanted == got
    if isinstance(got, np.ndarray) and got.ndim == 0:
        got = got.item() if isinstance(wanted, REAL) else None
    if isinstance(wanted, SEQUENCE):
        return (
            isinstance(got, SEQUENCE)
            and not isinstance(got, Raised)
            and len(wanted) == len(got)
            and all(is_same(a, b, strict) for a, b in zip(wanted, got, strict=True))
        )
    if isinstance(wanted, REAL):
        return isinstance(got, REAL) and _is_same_number(wanted, got, strict)
    if isinstance(wanted, dict):
        return (
            isinstance(got, dict)
            and wanted.keys() == got.keys()
            and all(is_same(value, got[key], strict) for key, value in wanted.items())
        )
    return isinstance(wanted, SOME_SET) and isinstance(got, SOME_SET) and wanted == got


def _is_same_number(wanted: float, got: float, strict: bool) -> bool:
    if strict and isinstance(wanted, int) and not isinstance(got, numbers.Integral):
        return False
    wanted, got = float(wanted), float(got)
    both_nan = math.isnan(wanted) and math.isnan(got)
    return abs(wanted - got) <= TOLERANCE or wanted == got or both_nan


def viewed(view: Callable, value: object) -> object:
    """Return the value as an exercise compares it; one that cannot be read so stays."""
    if isinstance(value, Raised):
        return value
    try:
        return view(value)
    except Exception:
        return value


def as_it_is(value: object) -> object:
    return value


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
    if isinstance(value, SOME_SET):
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


def as_call(name: str, args: tuple) -> str:
    """Return the call as code, an argument a line where it is long."""
    parts = [shown(arg) for arg in args]
    line = f"{name}({', '.join(parts)})"
    return line if len(line) < 90 else f"{name}(\n      " + ",\n      ".join(parts) + ")"


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
    if _begins_with(wanted, list | tuple) and _begins_with(got, str):
        return f"A list of texts came back where {type(wanted[0]).__name__}s are wanted."
    if isinstance(wanted, list) and isinstance(got, str | numbers.Real):
        return f"{shown(got)[:40]} came back where a list is wanted."
    if isinstance(wanted, numbers.Real) and isinstance(got, str):
        return "Text came back where a number is wanted."
    if isinstance(got, float) and math.isnan(got) and wanted == 0:
        return "nan is what 0 divided by 0 gives: return 0 where there is nothing to divide by."
    return _on_rounding(wanted, got)


def _begins_with(value: object, kind) -> bool:
    """Return whether a value is a list that begins with one of this kind."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], kind)


def _on_rounding(wanted: object, got: object) -> str:
    """Return a sentence where a value was rounded too early."""
    numbers_differ = isinstance(wanted, float) and isinstance(got, float) and got != wanted
    if numbers_differ and any(got == round(wanted, decimals) for decimals in range(1, 7)):
        return "The value is rounded: return it as it is, and round when you print."
    return ""
