"""The four notebooks on a copy of evals/ that holds nothing derived: is all as committed?

`make check` runs each on the committed files of those before it.
"""

import sys
import tempfile
from itertools import chain
from pathlib import Path

from helpers import evalset, workbook

DERIVED = [*chain.from_iterable(workbook.WRITES.values())]


def main() -> int:
    """Run the notebooks in one process, compare outputs and files; return 1 if any differs."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = workbook.copy_of_set(evalset.DEFAULT, Path(scratch) / "evals")
        for name in workbook.derived_files(copy, DERIVED):
            (copy / name).unlink()
        books = map(str, workbook.NOTEBOOKS)
        done = workbook.run_pytest(copy, *workbook.NBVAL_STRICT, *books)
        stale = workbook.stale_files(evalset.DEFAULT, copy, DERIVED)
    print(done.stdout, *stale, sep="\n")
    return int(bool(done.returncode or stale))


if __name__ == "__main__":
    sys.exit(main())
