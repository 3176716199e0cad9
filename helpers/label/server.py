"""Open the labelling panel of a set in a notebook server of this machine."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..measure import evalset, installation

GUARDS = (  # those of make lab, and no request to the network
    "--ip=127.0.0.1",
    "--ServerApp.answer_yes=True",
    "--ServerApp.terminals_enabled=False",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
AS_ROOT = "You are root, so all that a notebook runs may read and change everything here."
CELL = """\
# Ctrl+Enter opens the panel, Tab goes to its keys.
# Afterwards panel.reopen(evals, "q1") changes grades of q1.
import sys

sys.path.insert(0, {home!r})
from {package}.label import panel
from {package}.measure import evalset

evals = evalset.load()
panel.require_labels(evals)"""


def label_command(folder: Path) -> int:
    """Serve a notebook with the panel of a set until it's ended; return the server's status."""
    import jupyterlab  # noqa: F401 -- missing, it is told before anything opens

    evalset.load(folder)
    guards = [*GUARDS]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        print(AS_ROOT, file=sys.stderr)
        guards.append("--allow-root")
    environment = {**os.environ, "EVALS": str(folder), installation.LIVE: "1"}
    with tempfile.TemporaryDirectory() as home:
        path = Path(home, "label.ipynb")
        path.write_text(json.dumps(notebook()), encoding="utf-8")
        words = [sys.executable, "-m", "jupyterlab", *guards, f"--notebook-dir={home}", str(path)]
        return subprocess.call(words, env=environment)


def notebook() -> dict:
    """Return a notebook whose cell shows the panel of the set in EVALS."""
    package = __package__.removesuffix(".label")
    source = CELL.format(home=str(installation.HERE.parent), package=package)
    cell = {"cell_type": "code", "id": "panel", "source": source}
    cell |= {"execution_count": None, "metadata": {}, "outputs": []}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
