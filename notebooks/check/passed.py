"""What a learner sees when a check passes: a green line, why it matters, a model solution."""

import inspect
import re
import sys
from html import escape
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

from .committed import COMMITTED, solution_of

PASSED: set[str] = set()  # names of the functions that passed in this session
PASSED_STYLE = "color:#1a7f37;font-weight:600"
FOLDED = "<details><summary>A model solution</summary><pre>{}</pre></details>"


def why_it_matters(name: str) -> str:
    """Return what the docstring of check `name` says after "Why:", "" if nothing."""
    check = getattr(sys.modules[__package__], name, None)
    said = re.search(r"^Why: (.+?)(?=\n\n|\Z)", inspect.getdoc(check) or "", re.M | re.S)
    return " ".join(said[1].split()) if said else ""


def tell_passed(name: str, said: str) -> None:
    """Say that `name` is right and why that matters; in a learner's copy show a model solution.

    The solution is read from the committed session, so no copy holds it.
    """
    PASSED.add(name)
    if get_ipython() is None:
        print(said)
        return
    display(passed_page(name, said, Path.cwd()), raw=True)


def passed_page(name: str, said: str, where: Path) -> dict[str, str]:
    """Return what a notebook in the folder `where` shows, as text and as HTML.

    The session itself, where the solution stands in view, does not show it again.
    """
    why = why_it_matters(name)
    code = "" if where.resolve().is_relative_to(COMMITTED.resolve()) else solution_of(name)
    folded = FOLDED.format(escape(code)) if code else ""
    return {
        "text/plain": "\n".join(filter(None, (said, why))),
        "text/html": f'<div style="{PASSED_STYLE}">{escape(said)}</div>'
        f"<div>{escape(why)}</div>{folded}",
    }
