"""Values: when two count as the same, how one is written, and what is said of its form."""

import inspect
import math
import numbers
from collections.abc import Callable, Iterator, MappingView, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
from rank_bm25 import BM25Okapi

TOLERANCE = 1e-9
SOME_SET, COLUMN = (set, frozenset), (np.ndarray, pd.Series, pd.Index)
REAL = (float, int, numbers.Real, np.bool, Decimal)  # the usual first: the abstract one is slow


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


# When two are the same.


def is_sequence(value: object) -> bool:
    """Return whether a value has places from 0 on: a list, a tuple, an array, a Series."""
    if isinstance(value, COLUMN):
        return value.ndim > 0
    if isinstance(value, list | tuple):  # the usual first: the abstract one is slow
        return True
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | range)


def is_same(wanted: object, got: object, strict: bool = True) -> bool:
    """Return whether `got` is as wanted: numbers within TOLERANCE, sequences in order.

    Lists, tuples, arrays and Series count as the same. `strict` asks for whole numbers where whole
    numbers are wanted.
    """
    if isinstance(wanted, type):
        return isinstance(got, Raised) and isinstance(got.error, wanted)
    if isinstance(got, np.ndarray) and got.ndim == 0:
        got = got[()]
    if isinstance(got, pd.Series | pd.Index):  # its members lose their type where it is read
        values = got.to_numpy()
        got = dict(zip(got.index, values, strict=True)) if isinstance(wanted, dict) else values
    if isinstance(wanted, REAL):
        return isinstance(got, REAL) and _is_near(wanted, got, strict)
    if isinstance(wanted, dict):
        same_keys = isinstance(got, dict) and wanted.keys() == got.keys()
        return same_keys and all(is_same(v, got[k], strict) for k, v in wanted.items())
    if is_sequence(wanted):
        same_length = is_sequence(got) and len(wanted) == len(got)
        return same_length and all(map(is_same, wanted, got, [strict] * len(wanted)))
    kinds = next((kind for kind in (SOME_SET, str) if isinstance(wanted, kind)), type(wanted))
    return isinstance(got, kinds) and wanted == got


def _is_near(wanted: float, got: float, strict: bool) -> bool:
    """Compare two numbers, as closely as the type of `got` can tell."""
    if strict and isinstance(wanted, int) and not isinstance(got, numbers.Integral):
        return False
    grain = 8 * float(np.finfo(got).eps) if isinstance(got, np.floating) else 0.0
    try:
        both_nan = math.isnan(wanted) and math.isnan(got)
        near = math.isclose(wanted, got, rel_tol=grain, abs_tol=max(TOLERANCE, grain))
    except OverflowError:  # past the largest float
        return wanted == got
    return near or both_nan


def is_rounded(wanted: object, got: object, decimals: int) -> bool:
    """Return whether `got` is as wanted, rounded to so many decimals."""
    return is_same(_to_decimals(wanted, decimals), got)


def _to_decimals(value: object, decimals: int) -> object:
    if isinstance(value, float):
        return round(value, decimals)
    if isinstance(value, dict):
        return {key: _to_decimals(part, decimals) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_decimals(part, decimals) for part in value]
    return value


def viewed(view: Callable, value: object) -> object:
    """Return the value as an exercise compares it; one that cannot be read so stays.

    So does one that is read only once, and one whose members are letters or keys.
    """
    if isinstance(value, Raised | Iterator | MappingView | dict | str | pd.DataFrame):
        return value
    try:
        return view(value)
    except Exception:
        return value


def as_it_is(value: object) -> object:
    return value


# How one is written.


def shown(value: object) -> str:
    """Return a value as a learner would type it: sets in order, ten decimals, no np.float64."""
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, BM25Okapi):
        return f"BM25Okapi({shown(value.made_from)})"
    if isinstance(value, np.ndarray):
        return f"np.array({shown(value.tolist())})"
    if isinstance(value, pd.Series | pd.Index | pd.DataFrame):
        return f"pd.{type(value).__name__}({shown(value.to_numpy().tolist())})"
    if isinstance(value, np.generic):
        return shown(value.item()) if not isinstance(value, np.longdouble) else str(value)
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
    try:
        return value.__name__ if inspect.isroutine(value) else repr(value)
    except Exception:  # a class of the learner's, half written
        return f"a {type(value).__name__}"


def shortened(value: object, most: int = 500) -> str:
    """Return a value as text, cut where it is very long."""
    whole = shown(value)
    return whole if len(whole) <= most else whole[:most] + " …"


def as_call(name: str, args: tuple) -> str:
    """Return the call as code, an argument a line where it is long."""
    parts = [shown(arg) for arg in args]
    line = f"{name}({', '.join(parts)})"
    return line if len(line) < 90 else f"{name}(\n      " + ",\n      ".join(parts) + ")"


# What is said of it.


def on_error(error: Exception) -> str:
    """Return a sentence on an error, empty where there is nothing to say."""
    return next((words for kind, words in ERRORS.items() if isinstance(error, kind)), "")


def on_form(wanted: object, got: object, nested: bool = True) -> str:
    """Return a sentence on the type of an answer, empty where it can stand for the wanted one.

    It says nothing of the values. `nested` looks at members, too.
    """
    if isinstance(wanted, type):
        return ""
    if got is None and isinstance(wanted, float) and math.isnan(wanted):
        return "None came back: here the result is not a number, so return nan."
    if got is None:
        return "Nothing came back: does the function end with return?"
    if isinstance(got, Iterator | MappingView) and not isinstance(wanted, REAL):
        return f"The answer is of type {type(got).__name__}: put list(...) around it."
    if (misfit := _misfit(wanted, got, nested)) is None:
        return ""
    part, given = misfit
    kinds = {REAL: "a number", str: "a text", dict: "a dict", SOME_SET: "a set"}
    kind = next((words for kind, words in kinds.items() if isinstance(part, kind)), "a list")
    if isinstance(part, tuple) and part and not is_sequence(part[-1]):
        kind = f"a tuple such as {shown(part)}"
    where = "The answer" if given is got else "A member of the answer"
    return f"{where} is of type {type(given).__name__}, wanted is {kind}."


def _misfit(wanted: object, got: object, nested: bool) -> tuple[object, object] | None:
    """Return the first pair, outside or inside, of which one cannot stand for the other."""
    if isinstance(wanted, REAL):
        bare = isinstance(got, np.ndarray) and got.ndim == 0
        return None if isinstance(got, REAL) or bare else (wanted, got)
    if isinstance(wanted, dict):
        return None if isinstance(got, dict | pd.Series) else (wanted, got)
    if not is_sequence(wanted):
        return None if isinstance(got, type(wanted)) else (wanted, got)
    if not is_sequence(got):
        return wanted, got
    parts = zip(wanted, got, strict=False) if nested else ()
    return next((found for pair in parts if (found := _misfit(*pair, nested))), None)
