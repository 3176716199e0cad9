"""What a learner sees when a check passes: a green line, why it matters, a model solution."""

import json
import re
from html import escape
from pathlib import Path

from IPython import get_ipython
from IPython.display import display

COMMITTED = Path(__file__).parents[1]
PASSED: set[str] = set()  # names of the functions that passed in this session
REGION = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)
PASSED_STYLE = "color:#1a7f37;font-weight:600"
WHY = json.loads(Path(__file__).with_name("why.json").read_text(encoding="utf-8"))


def tell_passed(name: str, said: str) -> None:
    """Say that `name` is right and why that matters; in a learner's copy show a model solution.

    The solution is read from the committed session, so no copy holds it.
    """
    PASSED.add(name)
    why = WHY.get(name, "")
    if get_ipython() is None:
        print(said)
        return
    own = Path.cwd().resolve() == COMMITTED.resolve()  # the session itself, where it stands in view
    code = "" if own else solution_of(name)
    folded = (
        f"<details><summary>A model solution</summary><pre>{escape(code)}</pre></details>"
        if code
        else ""
    )
    page = f'<div style="{PASSED_STYLE}">{escape(said)}</div><div>{escape(why)}</div>{folded}'
    display({"text/plain": "\n".join(filter(None, (said, why))), "text/html": page}, raw=True)


def solution_of(name: str, lessons: Path = COMMITTED) -> str:
    """Return the function `name` as the committed session solves it, "" where it cannot be read."""
    for path in sorted(lessons.glob("session_*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if "### BEGIN SOLUTION" in source and f"def {name}(" in source:
                return REGION.sub("", source)
    return ""
