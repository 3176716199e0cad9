"""A job in a fork of this process, in a folder, with a limit of time and outputs of its own.

A fork has what this process has imported: pandas, SciPy and IPython take longer than most tests.
Needs os.fork (Linux, macOS).
"""

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LIBRARIES = "pandas scipy.stats matplotlib.pyplot sklearn.decomposition IPython.display ipywidgets "
LIBRARIES += "nbclient nbconvert nbformat yaml tiktoken ir_measures rank_bm25 duckdb nh3 jinja2"
FAILED = 70  # the status of a job that raised


class Ended(NamedTuple):
    """How a job ended: its status, None if it was out of time, and both outputs."""

    status: int | None
    out: str
    err: str


def warm() -> None:
    """Import what takes the helpers and their tests long."""
    for name in LIBRARIES.split():
        importlib.import_module(name)


def run(job: Callable[[], int], folder: Path, seconds: float) -> Ended:
    """Run `job` in a fork whose folder is `folder`, and end what it has started."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams = (out.fileno(), err.fileno())
        process = multiprocessing.get_context("fork").Process(
            target=_inside, args=(job, folder, streams)
        )
        process.start()
        process.join(seconds)
        in_time = not process.is_alive()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return Ended(process.exitcode if in_time else None, *texts)


def _inside(job: Callable[[], int], folder: Path, streams: tuple[int, int]) -> None:
    status = FAILED
    try:
        os.setsid()
        os.chdir(folder)
        for number, stream in enumerate(streams, 1):
            os.dup2(stream, number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        status = int(job())
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
