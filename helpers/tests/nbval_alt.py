"""A plugin of pytest (`-p helpers.tests.nbval_alt`): what nbval leaves out.

It compares neither images nor the metadata of an output, and there stands the text for those who
cannot see the picture: its title and its values. Nor does it compare what a notebook writes.
"""

import filecmp
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from nbval.plugin import IPyNbFile

from helpers.measure import evalset
from helpers.teach import workbook


def pytest_collectstart(collector) -> None:
    """Take the metadata of outputs off the list of what nbval skips; give a session its copy."""
    if isinstance(collector, IPyNbFile):
        collector.skip_compare = tuple(key for key in collector.skip_compare if key != "metadata")
        if collector.path in workbook.WRITES and evalset.folder() == evalset.DEFAULT:
            setup, teardown = collector.setup, collector.teardown
            on_a_copy = fresh_copy(evalset.DEFAULT, workbook.WRITES[collector.path])
            collector.setup = lambda: (on_a_copy.__enter__(), setup())
            collector.teardown = lambda: (teardown(), on_a_copy.__exit__(None, None, None))


@contextmanager
def fresh_copy(folder: Path, globs: Iterable[str]) -> Iterator[None]:
    """Let EVALS name a copy of a set without the files that a notebook writes; compare them after.

    It finds the committed files of those before it: if each link makes what is committed from what
    is committed, the whole chain does.
    """
    with TemporaryDirectory() as scratch:
        copy = copy_of_set(folder, Path(scratch) / "evals")
        for name in derived_files(copy, globs):
            (copy / name).unlink()
        with patch.dict(os.environ, EVALS=str(copy)):
            yield
        assert not (stale := stale_files(folder, copy, globs)), "\n".join(stale)


def copy_of_set(folder: Path, to: Path) -> Path:
    """Copy an evaluation set without notebooks and pages, and return where it stands."""
    leave = shutil.ignore_patterns("*.ipynb", "*.html", ".ipynb_checkpoints")
    return Path(shutil.copytree(folder, to, ignore=leave))


def derived_files(folder: Path, globs: Iterable[str]) -> set[str]:
    """Return the paths below `folder` that the patterns of workbook.WRITES name."""
    return {path.relative_to(folder).as_posix() for glob in globs for path in folder.glob(glob)}


def stale_files(committed: Path, fresh: Path, globs: Iterable[str]) -> list[str]:
    """Return a line for each derived file that differs from what a session has just written."""
    names = sorted(derived_files(committed, globs) | derived_files(fresh, globs))
    _, different, missing = filecmp.cmpfiles(committed, fresh, names, shallow=False)
    words = "is not what a session writes, run: make refresh, then git diff shows where"
    return [f"evals/{name} {words}" for name in sorted(different + missing)]
