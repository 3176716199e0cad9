"""Values: when two count as the same, how one is written, and what is said of its form."""

import inspect
import math
import numbers
from collections.abc import Callable, Iterator, MappingView, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from rank_bm25 import BM25Okapi

TOLERANCE = 1e-9
SOME_SET, COLUMN = (set, frozenset), (np.ndarray, pd.Series, pd.Index)
REAL = (float, int, numbers.Real, np.bool, Decimal)  # the usual first: the abstract one is slow


class Raised(NamedTuple):
    """What a call did instead of returning."""

    error: Exception


def is_sequence(value: object) -> bool:
    """Return whether a value has places from 0 on: a list, a tuple, an array, a Series."""
    if isinstance(value, COLUMN):
        return value.ndim > 0
    is_other = isinstance(value, Sequence) and not isinstance(value, str | bytes | range)
    return isinstance(value, list | tuple) or is_other  # the abstract one is slow


def is_same(wanted: object, got: object, strict: bool = True, decimals: int | None = None) -> bool:
    """Return whether `got` is as wanted: numbers within TOLERANCE, sequences in order.

    Lists, tuples, arrays and Series count as the same. `strict` asks for whole numbers where whole
    numbers are wanted. With `decimals` the wanted numbers are rounded first.
    """
    same = partial(is_same, strict=strict, decimals=decimals)
    if isinstance(wanted, type):
        return isinstance(got, Raised) and isinstance(got.error, wanted)
    if isinstance(got, np.ndarray) and got.ndim == 0:
        got = got[()]
    if isinstance(got, pd.Series | pd.Index):  # its members lose their type where it is read
        values = got.to_numpy()
        got = dict(zip(got.index, values, strict=True)) if isinstance(wanted, dict) else values
    if isinstance(wanted, REAL):
        rounded = round(wanted, decimals) if decimals and isinstance(wanted, float) else wanted
        return isinstance(got, REAL) and _is_near(rounded, got, strict)
    if isinstance(wanted, dict):
        same_keys = isinstance(got, dict) and wanted.keys() == got.keys()
        return same_keys and all(same(value, got[key]) for key, value in wanted.items())
    if is_sequence(wanted):
        return is_sequence(got) and len(wanted) == len(got) and all(map(same, wanted, got))
    return isinstance(got, SOME_SET if isinstance(wanted, SOME_SET) else str) and wanted == got


def _is_near(wanted: float, got: float, strict: bool) -> bool:
    """Compare two numbers, as closely as the type of `got` can tell."""
    if strict and isinstance(wanted, int) and not isinstance(got, numbers.Integral):
        return False
    grain = 8 * float(np.finfo(got).eps) if isinstance(got, np.floating) else 0.0
    both_nan = math.isnan(wanted) and math.isnan(got)
    return both_nan or math.isclose(wanted, got, rel_tol=grain, abs_tol=max(TOLERANCE, grain))


def apply_view(view: Callable | None, value: object) -> object:
    """Return the value as an exercise compares it; one that cannot be read so stays.

    So does one that is read only once, and one whose members are letters or keys.
    """
    unread = Raised | Iterator | MappingView | dict | str | pd.DataFrame
    if view is None or isinstance(value, unread):
        return value
    try:
        return view(value)
    except Exception:
        return value


def as_code(value: object) -> str:
    """Return a value as a learner would type it: sets in order, ten decimals, no np.float64."""
    if isinstance(value, BM25Okapi):
        return f"BM25Okapi({as_code(value.made_from)})"
    if isinstance(value, (*COLUMN, pd.DataFrame)):
        maker = "np.array" if isinstance(value, np.ndarray) else f"pd.{type(value).__name__}"
        return f"{maker}({as_code(np.asarray(value).tolist())})"
    if isinstance(value, float | np.floating):
        return repr(round(float(value), 10))
    if isinstance(value, np.generic):
        return as_code(value.item())
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_code(k)}: {as_code(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple | set | frozenset):
        members = [*map(as_code, value)]
        if isinstance(value, SOME_SET):
            return "{" + ", ".join(sorted(members)) + "}" if members else "set()"
        if isinstance(value, list):
            return f"[{', '.join(members)}]"
        return f"({members[0]},)" if len(members) == 1 else f"({', '.join(members)})"
    try:
        is_named = isinstance(value, type) or inspect.isroutine(value)
        return value.__name__ if is_named else repr(value)
    except Exception:  # a class of the learner's, half written
        return f"a {type(value).__name__}"


def short_code(value: object, most: int = 500) -> str:
    """Return a value as text, cut where it is very long."""
    whole = as_code(value)
    return whole if len(whole) <= most else whole[:most] + " …"


def as_call(name: str, args: tuple) -> str:
    """Return the call as code, an argument a line where it is long."""
    parts = [as_code(arg) for arg in args]
    line = f"{name}({', '.join(parts)})"
    return line if len(line) < 90 else f"{name}(\n      " + ",\n      ".join(parts) + ")"


def type_fault(wanted: object, got: object, members: bool = True) -> str:
    """Return a sentence where an answer is of the wrong kind, else an empty one.

    It says nothing of the values. `members` of a list are looked at, too.
    """
    if isinstance(wanted, type):
        return ""
    if got is None and isinstance(wanted, float) and math.isnan(wanted):
        return "None came back: here the result is not a number, so return nan."
    if got is None:
        return "Nothing came back: does the function end with return?"
    if isinstance(got, Iterator | MappingView) and not isinstance(wanted, REAL):
        return f"The answer is of type {type(got).__name__}: put list(...) around it."
    for part, answer in _parts(wanted, got, members):
        kind = _kind(part)
        if _kind(answer) == kind or (kind == "a dict" and isinstance(answer, pd.Series)):
            continue
        if isinstance(part, tuple) and part and not is_sequence(part[-1]):
            kind = f"a tuple such as {as_code(part)}"
        where = "The answer" if answer is got else "A member of the answer"
        return f"{where} is of type {type(answer).__name__}, wanted is {kind}."
    return ""


def _parts(wanted: object, got: object, members: bool) -> Iterator[tuple[object, object]]:
    """Yield the pair, then those of its members, at any depth."""
    yield wanted, got
    if members and is_sequence(wanted) and is_sequence(got):
        for pair in zip(wanted, got, strict=False):
            yield from _parts(*pair, members)


def _kind(value: object) -> str:
    if is_sequence(value):
        return "a list"
    kinds = {"a number": (*REAL, np.ndarray), "a text": str, "a dict": dict, "a set": SOME_SET}
    return next((words for words, kind in kinds.items() if isinstance(value, kind)), "")
