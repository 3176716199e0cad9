"""The four notebooks on a copy of evals/ that holds nothing derived: is all as committed?

`make check` runs each on the committed files of those before it.
"""

import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path

from helpers.measure import evalset
from helpers.teach import workbook
from helpers.tests.nbval_alt import copy_of_set, derived_files, stale_files

DERIVED = [*chain.from_iterable(workbook.WRITES.values())]


def main() -> int:
    """Run the notebooks in one process, compare outputs and files; return 1 if any differs."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = copy_of_set(evalset.DEFAULT, Path(scratch) / "evals")
        for name in derived_files(copy, DERIVED):
            (copy / name).unlink()
        words = "-m", "pytest", *workbook.NBVAL_STRICT, *map(str, workbook.NOTEBOOKS)
        environment = workbook.environment(copy)
        done = subprocess.run([sys.executable, *words], cwd=workbook.ROOT, env=environment)
        stale = stale_files(evalset.DEFAULT, copy, DERIVED)
    print(*stale, sep="\n")
    return int(bool(done.returncode or stale))


if __name__ == "__main__":
    sys.exit(main())
