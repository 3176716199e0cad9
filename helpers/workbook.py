"""The commands behind the Makefile: report, check, refresh and the guards they share."""

import asyncio
import contextlib
import difflib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbclient.util import run_sync
from nbconvert.filters import strip_ansi

from . import evalset, files, report, results

ROOT = evalset.DEFAULT.parent
SESSIONS = [
    ROOT / "notebooks" / "session_a_corpus_and_labels.ipynb",
    ROOT / "notebooks" / "session_b_chunking_and_bm25.ipynb",
    ROOT / "notebooks" / "session_c_metrics_and_writeup.ipynb",
]
WRITE_UP = ROOT / "evals" / "retrieval_eval.ipynb"
NOTEBOOKS = [*SESSIONS, WRITE_UP]
FURTHER = sorted((ROOT / "notebooks" / "further").glob("*.ipynb"))  # each opens alone
CELL_TIMEOUT = 600  # seconds; a dead kernel would otherwise wait for half an hour
WRITES = {  # the files that each notebook derives
    SESSIONS[0]: ("coverage.md",),
    SESSIONS[1]: ("chunks/*.jsonl", "runs/*.json*", "runs/*.trec"),
    SESSIONS[2]: ("results.json",),
    WRITE_UP: (),
}
MACHINE_PATH = re.compile(  # in JSON, which writes a backslash twice
    r"(?:/(?:home|Users|root|tmp|private|var/folders)/|\b[A-Za-z]:\\\\)[\w.-]+"
)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment notebooks run in: the folder, a fixed hash seed, our own kernel.

    Without MPLBACKEND: any other backend than the kernel's own shows no figure. Pictures stand
    still, so that the same run stores the same outputs.
    """
    left_out = ("MPLBACKEND", "WORKBOOK_LIVE")
    return {
        **{name: value for name, value in os.environ.items() if name not in left_out},
        "EVALS": str(folder),
        "PYTHONHASHSEED": "0",
        "JUPYTER_PREFER_ENV_PATH": "1",
    }


class Client(NotebookClient):
    """A client that SIGINT ends: nbclient ends its kernel instead, and then misses it."""

    async def async_start_new_kernel(self, **kwargs) -> None:
        """Take back nbclient's own handler, then start the kernel."""
        with contextlib.suppress(NotImplementedError):  # Windows has none
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        await super().async_start_new_kernel(**kwargs)


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook executed on `folder`, a line for each part; the file stays as it is."""
    notebook = nbformat.read(path, as_version=4)
    client = Client(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        coalesce_streams=True,  # else the same output may be stored in one piece or in two
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=40"],
        shutdown_kernel="immediate",  # asked kindly, an interrupted kernel ends with noise
    )
    kernels = KernelSpecManager(kernel_dirs=[])  # this Python, whatever kernels are installed
    client.create_kernel_manager().kernel_spec_manager = kernels
    told = Parts(notebook.cells)
    client.on_cell_start, client.on_cell_executed = told.starts, told.ended
    try:
        client.execute(env=environment(folder))
    except CellExecutionError as error:
        raise evalset.EvalSetError(_told(path, error)) from error
    except KeyboardInterrupt:
        if client.km:  # a Ctrl-C may come before it
            run_sync(client.km.shutdown_kernel)(now=True)
        raise
    finally:
        told.close()
    # no versions: they differ between machines
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _told(path: Path, error: CellExecutionError) -> list[str]:
    """Return why a cell of a notebook failed: what is wrong with the set, else the error."""
    if error.ename == evalset.EvalSetError.__name__:
        return error.evalue.splitlines()
    said = " ".join(strip_ansi(f"{error.ename}: {error.evalue}").split())[:200]
    more = "run again with --debug for the traceback, and report it"
    return [f"{path.stem}: a cell failed with {said}: {more}"]


PART_HEADING = re.compile(r"^##? (\S.*?)(?: \(\d+ minutes\))?$", re.MULTILINE)


class Parts:
    """Tells on the screen which part of a notebook runs, and then how many seconds it took.

    A part is what stands below a heading of the first or second level.
    """

    def __init__(self, cells: list):
        self.part_of, part = [], "set up"
        for cell in cells:
            found = PART_HEADING.findall(cell.source) if cell.cell_type == "markdown" else []
            part = found[-1] if found and self.part_of else part
            self.part_of.append(part)
        self.running = ""

    def starts(self, cell: nbformat.NotebookNode, cell_index: int) -> None:
        """Close the part before and name this one, if the cell is its first that runs."""
        if cell.cell_type == "code" and self.part_of[cell_index] != self.running:
            self.close()
            self.running = self.part_of[cell_index]
            self.since = self.until = time.monotonic()
            print(f"      {self.running} ...", end="", flush=True)

    def ended(self, **_) -> None:
        """Note when the last cell was done; a kernel takes a while to end after it."""
        self.until = time.monotonic()

    def close(self) -> None:
        """Print how long the running part took."""
        if self.running:
            print(f" {self.until - self.since:.1f} s", flush=True)


def run_all(folder: Path, full: bool = True) -> dict[Path, nbformat.NotebookNode]:
    """Execute the notebooks on `folder`, telling parts and seconds, and return them.

    Without `full` that is the week and its write-up.
    """
    executed, took = {}, []
    paths = [*NOTEBOOKS, *FURTHER] if full else NOTEBOOKS
    for number, path in enumerate(paths, 1):
        print(f"[{number}/{len(paths)}] {path.stem}", flush=True)
        since = time.monotonic()
        executed[path] = execute(path, folder)
        took.append(time.monotonic() - since)
    each = ", ".join(f"[{n}] {seconds:.0f} s" for n, seconds in enumerate(took, 1))
    print(f"\n{each}, together {sum(took):.0f} s")
    return executed


def report_command(folder: Path, full: bool = False) -> int:
    """Run the sessions and the write-up on `folder`, render the page, print the summary."""
    executed = run_all(folder, full)
    page = folder / "retrieval_eval.html"
    files.write(page, report.html(executed[WRITE_UP]))
    print("\n" + report.summary(results.read_results(folder), str))
    print(f"\nwrite-up: {page}\n{results.what_next(folder)}")
    return 0


def refresh_command(folder: Path) -> int:
    """Execute the notebooks in place, update the generated blocks, print what was published anew.

    `folder` is the default folder. A wrong edit shows here first: stored outputs follow the code.
    """
    pages = [ROOT / "README.md", ROOT / "evals" / "README.md", folder / "coverage.md"]
    values, texts = results.published(folder), [page.read_text("utf-8") for page in pages]
    executed = run_all(folder)
    for path, notebook in executed.items():
        files.write(path, nbformat.writes(notebook) + "\n")
    for path, block in blocks(folder).items():
        files.write(path, with_block(path.read_text(encoding="utf-8"), block))
    changed = results.changes(values, results.published(folder))
    for page, text in zip(pages, texts, strict=True):
        lines = changed_lines(text, page.read_text("utf-8"))
        changed += [f"  {page.relative_to(ROOT).as_posix()}: {line}" for line in lines]
    said = "published values that changed; each needs a reason before it is committed:"
    print("\n".join(["", said, *changed]) if changed else "\nno published value changed")
    return 0


SEEDS = {"negatives": 2026}


def freeze_command(evals: evalset.EvalSet) -> int:
    """Write negatives.jsonl and, last, the manifest with the hash of every input file.

    Raises EvalSetError, and writes nothing, where a file that it vouches for cannot be read.
    """
    from .labels import manifest, pooling, vouched

    problems = vouched.unreadable(evals, vouched.EXTRAS[:2])  # it writes the negatives itself
    if problems:
        raise evalset.EvalSetError(problems)
    rows = pooling.negatives(evals, pooling.by_ranker(evals), SEEDS["negatives"])
    files.write_jsonl(evals.folder / "negatives.jsonl", rows)
    print(f"{manifest.write_manifest(evals, SEEDS)} describes the folder as it is now")
    return 0


# Numbers in prose: one generated block a page, compared by `check`.

BLOCK = re.compile(r"(<!-- generated: make refresh -->\n).*?(<!-- end -->)", re.DOTALL)


def with_block(page: str, block: str) -> str:
    """Return `page` with `block` between its two markers.

    Raises ValueError unless they stand there once.
    """
    if len(BLOCK.findall(page)) != 1:
        raise ValueError("wanted one generated block between its two markers")
    return BLOCK.sub(lambda match: f"{match[1]}{block}\n{match[2]}", page)


def blocks(folder: Path) -> dict[Path, str]:
    """Return the generated block of each page that has one."""
    evals = evalset.load(folder)
    return {
        ROOT / "README.md": report.summary(results.read_results(folder)),
        ROOT / "evals" / "README.md": report.facts(evals),
    }


# Checking.


def check_command(folder: Path) -> int:
    """Run every check on copies of `folder`; return 0 only if all passed.

    Another folder than the workbook's own has no stored numbers, and the tests of the helpers say
    nothing about it: its notebooks run in their order, no more.
    """
    if folder == evalset.DEFAULT:
        return check_own(folder)
    print("check: runs the four notebooks in their order on a copy of the folder", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        copy = copy_of_set(folder, Path(scratch) / "evals")
        try:
            run_all(copy, full=False)
        except evalset.EvalSetError as error:
            problems = [problem.replace(str(copy), str(folder)) for problem in error.problems]
            raise evalset.EvalSetError(problems) from error
    print("check: every cell ran")
    return 0


CHECKS_HERE = (
    "runs each of the four notebooks on a copy of evals/ without the files that it writes, "
    "compares every number and every derived file with the stored one, and tests the helpers "
    "(about a minute)"
)


def check_own(folder: Path) -> int:
    """Run linters, notebooks and tests, two at a time, and compare what was stored.

    A notebook finds the committed files of those before it, and not those that it writes itself:
    if each link makes what is committed from what is committed, the whole chain does.
    """
    print(f"check: {CHECKS_HERE}", flush=True)
    problems = [*lint(), *(problem for path in (*NOTEBOOKS, *FURTHER) for problem in guard(path))]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        copies = {path: copy_of_set(folder, Path(scratch) / path.stem) for path in NOTEBOOKS}
        for path, copy in copies.items():
            for name in derived(copy, WRITES[path]):
                (copy / name).unlink()
        longest_first = [SESSIONS[2], SESSIONS[1], SESSIONS[0], WRITE_UP]
        jobs = {name: (folder, *words) for name, words in TESTS.items()}
        jobs |= {path.stem: (copies[path], *NBVAL_STRICT, str(path)) for path in longest_first}
        running = {name: pool.submit(run_pytest, *job) for name, job in jobs.items()}
        done = {name: future.result() for name, future in running.items()}
        for path, copy in copies.items():
            problems += stale_files(folder, copy, WRITES[path])
    for name, process in done.items():
        print(f"{name}:\n{process.stdout}", flush=True)
        if process.returncode:
            problems.append(f"{name}: pytest ended with {process.returncode}, see above")
    return closing(problems + stale_blocks(folder), done.values())


def closing(problems: list[str], done: Iterable[subprocess.CompletedProcess]) -> int:
    """Print what is wrong, or that all is right, and how many tests passed; 1 where it is wrong."""
    print("\n".join(problems) or "check: everything agrees")
    said = "".join(process.stdout for process in done)
    counts = [sum(map(int, re.findall(rf"(\d+) {word}", said))) for word in ("passed", "failed")]
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if problems else 0


def copy_of_set(folder: Path, to: Path) -> Path:
    """Copy an evaluation set without notebooks and pages, and return where it stands."""
    leave = shutil.ignore_patterns("*.ipynb", "*.html", ".ipynb_checkpoints")
    return Path(shutil.copytree(folder, to, ignore=leave))


NBVAL = (
    "--nbval-current-env",
    f"--nbval-cell-timeout={CELL_TIMEOUT}",
    "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg",
)
NBVAL_STRICT = ("--nbval", *NBVAL, "-p", "helpers.tests.nbval_alt")
QUICK = ("-rs", "-m", "not proof", "--ignore=helpers/tests/proof")
TESTS = {  # two jobs of like length
    "tests of the helpers": (*QUICK, "--ignore=helpers/tests/check", "helpers/tests"),
    "tests of the exercises": (*QUICK, "helpers/tests/check"),
}


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run pytest on `folder` to its end; what it says is in one text."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def lint() -> list[str]:
    """Return a line for each linter that complains; its own words go to the screen."""
    commands = {"ruff check": ["check", "--quiet"], "ruff format": ["format", "--check", "--quiet"]}
    ruff = [sys.executable, "-m", "ruff"]
    runs = {
        name: subprocess.run([*ruff, *words, str(ROOT)], cwd=ROOT).returncode
        for name, words in commands.items()
    }
    return [f"{name} complains" for name, code in runs.items() if code]


def guard(path: Path) -> list[str]:
    """Return what is wrong with stored outputs.

    nbval compares nothing where a count is missing, so counts come first.
    """
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    problems = []
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        problems.append(f"{path.name}: execution counts are not 1..{len(cells)}, run: make refresh")
    for number, cell in enumerate(cells, 1):
        kinds = {output.get("name", output.output_type) for output in cell.outputs}
        problems += [
            f"{path.name}: cell [{number}] stores {kind}"
            for kind in sorted(kinds & {"stderr", "error"})
        ]
        found = MACHINE_PATH.search(json.dumps(cell.outputs))
        if found:
            problems.append(
                f"{path.name}: cell [{number}] stores a path of one machine: {found[0]}"
            )
    return problems


def stale_files(committed: Path, fresh: Path, globs: Iterable[str]) -> list[str]:
    """Return a line for each derived file that differs from what a session has just written."""
    return [
        f"evals/{name} is stale: {first_difference(committed / name, fresh / name)}"
        for name in sorted(derived(committed, globs) | derived(fresh, globs))
        if _bytes_of(committed / name) != _bytes_of(fresh / name)
    ]


def derived(folder: Path, globs: Iterable[str]) -> set[str]:
    """Return the paths below `folder` that the patterns of WRITES name."""
    return {path.relative_to(folder).as_posix() for glob in globs for path in folder.glob(glob)}


def _bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def first_difference(committed: Path, fresh: Path) -> str:
    """Return the first line that differs, or which of the two files is missing."""
    for path, what in ((committed, "it is not committed"), (fresh, "no session writes it")):
        if not path.exists():
            return what
    texts = (path.read_text(encoding="utf-8") for path in (committed, fresh))
    changed = changed_lines(*texts)
    return (
        f"first difference {changed[0][:100]!r}, run: make refresh"
        if changed
        else "line ends differ"
    )


def changed_lines(before: str, after: str) -> list[str]:
    """Return the lines that went, with a minus, and those that came, with a plus."""
    sides = before.splitlines(), after.splitlines()
    lines = list(difflib.unified_diff(*sides))[2:]  # without the names of the sides
    return [line for line in lines if line.startswith(("-", "+"))]


def stale_blocks(folder: Path) -> list[str]:
    """Return a line for each generated block that differs from the fresh results."""
    pages = {path: path.read_text(encoding="utf-8") for path in blocks(folder)}
    return [
        f"{path.relative_to(ROOT).as_posix()}: "
        "its generated block differs from the results, run: make refresh"
        for path, block in blocks(folder).items()
        if with_block(pages[path], block) != pages[path]
    ]
