"""Where the rooms stand, in a checkout or installed as `retrieval_baseline`, and what is there."""

import os
import sys
from pathlib import Path

HERE, IN_CHECKOUT = Path(__file__).resolve().parents[1], __package__ == "helpers.measure"
EVALS = HERE.parent / "evals" if IN_CHECKOUT else Path("evals")  # of the folder one works in
TEMPLATES = HERE / "templates"
SCHEMAS = EVALS / "schema" if IN_CHECKOUT else HERE / "schema"
PROGRAM = "python -m helpers" if IN_CHECKOUT else "retrieval-baseline"
COURSE = "report check refresh learn progress answers site lab".split()  # want the notebooks
LIVE = "WORKBOOK_LIVE"  # make lab sets it; every other run shows what stands still
BARE = ("RUN", "QUERY")  # variables of the Makefile that are no option of a command
INSTEAD = {"report": "baseline", "lab": "label"}  # where the notebooks are not
EXTRAS = {
    **dict.fromkeys(("anywidget", "filelock", "ipywidgets", "jupyterlab", "nh3"), "label"),
    **dict.fromkeys(("beautifulsoup4", "bs4", "docutils", "markdownify"), "pages"),
    "duckdb": "sql",
}


def is_live() -> bool:
    """Return whether pictures move and the panel opens."""
    return os.environ.get(LIVE, "") not in ("", "0")


def command(name: str, **variables: object) -> str:
    """Return how a command of the Makefile is typed here, such as `make export TO=x`.

    That is `retrieval-baseline export --to x` where it's installed; `report` is `baseline` there,
    and `lab` is `label`.
    """
    settings = [f"{key}={value}" for key, value in variables.items()]
    typed = " ".join(["make", name, *settings])
    if IN_CHECKOUT:
        return typed
    if name in COURSE and name not in INSTEAD:
        return f"{typed} in a checkout of the workbook"
    words = [PROGRAM, INSTEAD.get(name, name)]
    for key, value in variables.items():
        if key not in BARE:
            words.append(f"--{key.lower()}")
        words.append(str(value))
    return " ".join(words)


def remedy(package: str) -> str:
    """Return how a missing package gets here, for the command that runs."""
    if IN_CHECKOUT:
        python = Path(".venv", "Scripts" if os.name == "nt" else "bin", "python")
        return f"run {command('report')} once, then {python} -m helpers {' '.join(sys.argv[1:])}"
    if extra := EXTRAS.get(package):
        package = f"retrieval-baseline[{extra}]"
    return f"pip install '{package}'"
