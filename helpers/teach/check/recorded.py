"""What a check finds is written down in a learner's copy."""

import functools
import inspect
from collections.abc import Callable, Sequence

from .. import record
from .cases import Example, drawn
from .passed import page_of, place_of_exercise, way_on
from .verdict import NotStarted, Wrong, run_check


def recorded(check: Callable) -> Callable:
    """Return the check, which in a learner's copy also writes down what it found.

    There a wrong answer is told the way on, too. An optional stub that is still empty is told, and
    the session goes on.
    """

    @functools.wraps(check)
    def run(*args) -> None:
        texts = (arg for arg in args if isinstance(arg, str))
        called = " ".join([check.__name__, *texts])  # "quiz A"
        function = next((inspect.unwrap(arg) for arg in args if callable(arg)), None)
        try:
            check(*args)
        except NotStarted as error:
            record.write_check_run(called, function, "not started", error.summary)
            if not place_of_exercise(called).optional:
                raise
            print(f"{error.summary} (it's optional)")
            return
        except Wrong as error:
            record.write_check_run(called, function, "wrong", error.summary)
            error.args = (f"{error}{way_on(called)}",)
            raise
        record.write_check_run(called, function, "passed")

    return run


def random_check(times: int, hand: Sequence[Example] = (), **how) -> Callable:
    """Return a decorator: a function that draws a case becomes the check of the same name.

    It is called `times` times and gives an Example, or None for no case. `hand` follows the cases
    of the exercise's page; `how` are keywords of run_check.
    """

    def check_of(draw: Callable) -> Callable:
        def check(function: Callable) -> None:
            run_check(draw.__name__, function, drawn(draw, times), hand, **how)

        check.__name__, check.__doc__ = draw.__name__, draw.__doc__
        return recorded(check)

    return check_of


def check_of_page(name: str) -> Callable:
    """Return a check that knows only the cases in the page of its exercise.

    Raises AttributeError where there are none.
    """
    if "cases" not in page_of(name):
        raise AttributeError(f"there is no check of {name!r}")

    def check(function: Callable) -> None:
        run_check(name, function)

    check.__name__ = name
    return recorded(check)
