"""A job in a fork of this process, in a folder, with a limit of time; what it prints is lost.

A fork has what this process has imported: pandas, SciPy and IPython take longer than most tests.
Needs os.fork (Linux, macOS).
"""

import contextlib
import importlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

LIBRARIES = "pandas scipy.stats matplotlib.pyplot sklearn.decomposition IPython.display ipywidgets "
LIBRARIES += "nbclient nbconvert nbformat yaml tiktoken ir_measures rank_bm25 duckdb nh3 jinja2"
FAILED = 70  # the status of a job that raised


def warm() -> None:
    """Import what takes the helpers and their tests long."""
    for name in LIBRARIES.split():
        importlib.import_module(name)


def run(job: Callable[[], int], folder: Path, seconds: float) -> int | None:
    """Run `job` in a fork whose folder is `folder`, and end what it has started.

    Returns its status, None if it was out of time.
    """
    process = multiprocessing.get_context("fork").Process(target=_inside, args=(job, folder))
    process.start()
    process.join(seconds)
    in_time = not process.is_alive()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return process.exitcode if in_time else None


def _inside(job: Callable[[], int], folder: Path) -> None:
    status = FAILED
    try:
        os.setsid()
        os.chdir(folder)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(nowhere, number)
        status = int(job())
    finally:
        os._exit(status)
