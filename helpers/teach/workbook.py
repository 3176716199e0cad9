"""The commands that run notebooks: report, refresh and check."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.filters import strip_ansi

from ..measure import evalset, files, inert, reading, report, results, text
from . import data_card

ROOT = evalset.DEFAULT.parent
LESSONS = ROOT / "notebooks"
WRITE_UP = ROOT / "evals" / "retrieval_eval.ipynb"
WRITES = {  # the notebooks in their order, and the files that each derives
    LESSONS / "session_a_corpus_and_labels.ipynb": ("coverage.md",),
    LESSONS / "session_b_chunking_and_bm25.ipynb": ("chunks/*.jsonl", "runs/*.*"),
    LESSONS / "session_c_metrics_and_writeup.ipynb": ("results.json",),
    WRITE_UP: (),
}
NOTEBOOKS = [*WRITES]
SESSIONS = NOTEBOOKS[:3]
FURTHER = sorted(LESSONS.glob("further/*.ipynb"))  # each opens alone
CELL_TIMEOUT = 600  # seconds; a dead kernel would otherwise wait for half an hour


def report_command(evals: evalset.EvalSet, full: bool = False) -> int:
    """Run the sessions and the write-up on a set, render the page, print the summary."""
    executed = dict(run_each(evals.folder, [*NOTEBOOKS, *FURTHER] if full else NOTEBOOKS))
    page = evals.folder / "retrieval_eval.html"
    files.write(page, report.html(executed[WRITE_UP]))
    print("\n" + inert.plain(report.summary(results.read_results(evals.folder))))
    print(f"\nwrite-up: {page}\n{results.what_next(evals.folder)}")
    if n := len(reading.waiting(evals)):
        listed = f"{reading.TO_READ}: {text.how_many(n, 'pair')} to be read"
        print(f"{listed}: make lab EVALS={evals.folder}")
    return 0


def refresh_command(evals: evalset.EvalSet, only: str = "") -> int:
    """Execute the notebooks in place, then update the generated blocks; `only` names some.

    What succeeds is kept, whatever comes later. Raises EvalSetError for another set than the
    workbook's own and for an unknown name.
    """
    folder = own_folder(evals, "refresh")
    for path, notebook in run_each(folder, named_notebooks(only)):
        files.write(path, nbformat.writes(notebook) + "\n")
    for path, page in fresh_pages(folder).items():
        files.write(path, page)
    print("\ngit diff shows what changed; each value in evals/results.json needs a reason")
    return 0


def named_notebooks(only: str) -> list[Path]:
    """Return the notebooks whose stems, or clear beginnings of them, `only` names; all for "".

    Raises EvalSetError for what names none, or more than one.
    """
    paths = {path.stem: path for path in [*NOTEBOOKS, *FURTHER]}
    if not only.split():
        return [*paths.values()]
    chosen, problems = set(), []
    for name in only.split():
        fitting = [name] if name in paths else [stem for stem in paths if stem.startswith(name)]
        chosen.update(fitting)
        if len(fitting) != 1:
            named = text.how_many(len(fitting), "notebook")
            wanted = f"wanted one of {', '.join(paths)}, or how it begins"
            problems.append(f"--only: {name} names {named}, {wanted}")
    files.refuse(problems)
    return [path for stem, path in paths.items() if stem in chosen]


def own_folder(evals: evalset.EvalSet, command: str) -> Path:
    """Return the folder of the workbook's own set. Raises EvalSetError for any other."""
    if evals.folder != evalset.DEFAULT:
        words = f"{command} is about the workbook itself and takes its own evals/ only; "
        raise evalset.EvalSetError([words + "for another folder use report"])
    return evals.folder


# Executing.


def run_each(folder: Path, paths: list[Path]) -> Iterator[tuple[Path, nbformat.NotebookNode]]:
    """Yield (path, notebook executed on `folder`); the screen shows names and seconds."""
    for number, path in enumerate(paths, 1):
        print(f"[{number}/{len(paths)}] {path.stem}", flush=True)
        began = time.monotonic()
        notebook = execute(path, folder)
        print(f"      {time.monotonic() - began:.0f} s", flush=True)
        yield path, notebook


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook executed on `folder`; the file stays as it is.

    Raises EvalSetError where a cell does, RuntimeError where one fails otherwise, and
    KeyboardInterrupt on Ctrl-C.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(  # on this Python, whatever kernels are installed
        notebook,
        km=AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[])),
        timeout=CELL_TIMEOUT,
        record_timing=False,
        coalesce_streams=True,  # else the same output may be stored in one piece or in two
        extra_arguments=["--log-level=40", "--HistoryManager.enabled=False"],
        shutdown_kernel="immediate",  # asked kindly, an interrupted kernel ends with noise
    )
    try:
        client.execute(cwd=str(path.parent), env=environment(folder), cleanup_kc=True)
    except CellExecutionError as error:
        if error.ename != "EvalSetError":
            raise RuntimeError(f"{path.stem}: {strip_ansi(str(error))}") from None
        raise evalset.EvalSetError(error.evalue.splitlines()) from error
    except (AssertionError, asyncio.CancelledError) as error:
        # on Ctrl-C nbclient ends its kernel, and then misses it
        raise KeyboardInterrupt from error
    notebook.metadata.language_info = {"name": "python"}  # no versions: they differ by machine
    return notebook


def environment(folder: Path) -> dict[str, str]:
    """Return the environment notebooks run in: the folder, a fixed hash seed, our own kernel.

    Any MPLBACKEND but the kernel's own shows no figure. Pictures stand still (no WORKBOOK_LIVE).
    """
    ours = {"EVALS": str(folder), "PYTHONHASHSEED": "0", "JUPYTER_PREFER_ENV_PATH": "1"}
    variables = os.environ | ours
    for name in ("MPLBACKEND", "WORKBOOK_LIVE"):
        variables.pop(name, None)
    return variables


# Numbers in prose: one generated block a page, compared by `check`.

BLOCK = re.compile(r"(?<=<!-- generated: make refresh -->\n).*?(?=<!-- end -->)", re.DOTALL)


def fresh_pages(folder: Path) -> dict[Path, str]:
    """Return each page that has a generated block with that block made anew."""
    blocks = {
        ROOT / "README.md": report.summary(results.read_results(folder)),
        ROOT / "evals" / "README.md": data_card.counts_table(evalset.load(folder)),
    }
    return {
        path: BLOCK.sub(lambda _, block=block: f"{block}\n", files.page(path))
        for path, block in blocks.items()
    }


# Checking.

NBVAL_STRICT = (
    f"--nbval --nbval-current-env --nbval-cell-timeout={CELL_TIMEOUT} "
    "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg -p helpers.tests.nbval_alt"
).split()
TESTS = ("-n2", "--dist=loadfile", "-rs", "-m", "not proof", "--ignore=helpers/tests/proof")


def tests_of(notebooks: list[Path]) -> list[str]:
    """Return the tests of the rooms that notebooks load: test_stats.py for stats.py."""
    from ..tests import weight

    rooms = {room.stem for notebook in notebooks for room in weight.rooms_of(notebook)}
    tests = sorted((ROOT / "helpers" / "tests").rglob("test_*.py"))
    return [str(path) for path in tests if path.stem.removeprefix("test_") in rooms]


def check_command(evals: evalset.EvalSet, only: str = "") -> int:
    """Run linters, notebooks (each on a copy of the set: nbval_alt) and tests, two at a time.

    `only` names notebooks: these run, and the tests of what they load. Returns 0 only if all
    passed. Raises EvalSetError for another set than the workbook's own.
    """
    folder = own_folder(evals, "check")
    print("check: the four notebooks, what they write, and the tests, in a minute", flush=True)
    notebooks, of_rooms = NOTEBOOKS, ["helpers/tests"]
    if only:
        notebooks = named_notebooks(only)
        of_rooms = tests_of(notebooks)
    tests = ["pytest", *NBVAL_STRICT, *TESTS, *map(str, notebooks), *of_rooms]
    commands = ["ruff", "check", "--quiet"], ["ruff", "format", "--check", "--quiet"], tests
    statuses = []
    for words in commands:
        command = [sys.executable, "-m", *words]
        statuses.append(subprocess.run(command, cwd=ROOT, env=environment(folder)).returncode)
    subprocess.run([sys.executable, "helpers/tests/weight.py"], cwd=ROOT)
    print("check: something differs, see above" if any(statuses) else "check: everything agrees")
    return int(any(statuses))
