"""Processes of their own, and such that end as if killed at a chosen step."""

import os
import subprocess
import sys

from helpers import evalset

DYING = """
import os, sys
from pathlib import Path
from helpers import files
step = [int(sys.argv[1])]
def dying(do):
    def one(*args, **more):
        step[0] -= 1
        if step[0] < 0:
            os._exit(9)
        return do(*args, **more)
    return one
for name in ("replace", "fsync", "unlink", "rmdir"):
    setattr(os, name, dying(getattr(os, name)))
"""


def python(code, *arguments, **more):
    """Start Python on `code` with the project on its path."""
    environment = {**os.environ, "PYTHONPATH": str(evalset.DEFAULT.parent)}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, **more)


def at(step, code, *arguments):
    """Run `code` in a process that ends, as if killed, before file operation number `step`."""
    done = python(DYING + code, step, *arguments)
    return done.wait() == 9
