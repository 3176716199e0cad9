"""The commands behind the Makefile: report, refresh, freeze and check."""

import asyncio
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.filters import strip_ansi

from . import evalset, files, report, results

ROOT = evalset.DEFAULT.parent
WRITE_UP = ROOT / "evals" / "retrieval_eval.ipynb"
WRITES = {  # the notebooks in their order, and the files that each derives
    ROOT / "notebooks" / "session_a_corpus_and_labels.ipynb": ("coverage.md",),
    ROOT / "notebooks" / "session_b_chunking_and_bm25.ipynb": (
        "chunks/*.jsonl",
        "runs/*.json*",
        "runs/*.trec",
    ),
    ROOT / "notebooks" / "session_c_metrics_and_writeup.ipynb": ("results.json",),
    WRITE_UP: (),
}
NOTEBOOKS = [*WRITES]
SESSIONS = NOTEBOOKS[:3]
FURTHER = sorted((ROOT / "notebooks" / "further").glob("*.ipynb"))  # each opens alone
CELL_TIMEOUT = 600  # seconds; a dead kernel would otherwise wait for half an hour
SEEDS = {"negatives": 2026}


def report_command(evals: evalset.EvalSet, full: bool = False) -> int:
    """Run the sessions and the write-up on a set, render the page, print the summary."""
    folder = evals.folder
    executed = run_all(folder, [*NOTEBOOKS, *FURTHER] if full else NOTEBOOKS)
    page = folder / "retrieval_eval.html"
    files.write(page, report.html(executed[WRITE_UP]))
    print("\n" + report.summary(results.read_results(folder), str))
    print(f"\nwrite-up: {page}\n{results.what_next(folder)}")
    return 0


def refresh_command(evals: evalset.EvalSet) -> int:
    """Execute the notebooks in place, update the generated blocks, print what was published anew.

    A wrong edit shows here first: stored outputs follow the code. Raises EvalSetError for another
    set than the workbook's own.
    """
    folder = evals.folder
    if folder != evalset.DEFAULT:
        words = "refresh writes into the workbook itself and takes its own evals/ only; "
        raise evalset.EvalSetError([words + "for another folder use report"])
    pages = [ROOT / "README.md", ROOT / "evals" / "README.md", folder / "coverage.md"]
    values, texts = results.published(folder), [page.read_text("utf-8") for page in pages]
    for path, notebook in run_all(folder, [*NOTEBOOKS, *FURTHER]).items():
        files.write(path, nbformat.writes(notebook) + "\n")
    for path, page in fresh_pages(folder).items():
        files.write(path, page)
    changed = results.changes(values, results.published(folder))
    for page, text in zip(pages, texts, strict=True):
        name = page.relative_to(ROOT).as_posix()
        lines = difflib.ndiff(text.splitlines(), page.read_text("utf-8").splitlines())
        changed += [f"  {name}: {line}" for line in lines if line.startswith(("- ", "+ "))]
    if changed:
        print("\npublished values that changed; each needs a reason before it is committed:")
    print("\n".join(changed) or "\nno published value changed")
    return 0


def freeze_command(evals: evalset.EvalSet) -> int:
    """Write negatives.jsonl and, last, the manifest with the hash of every input file.

    Raises EvalSetError, and writes nothing, where a file that it vouches for cannot be read.
    """
    from .labels import audit, manifest, pooling

    problems = audit.unreadable(evals, audit.EXTRAS[:2])  # it writes the negatives itself
    if problems:
        raise evalset.EvalSetError(problems)
    rows = pooling.negatives(evals, pooling.by_ranker(evals), SEEDS["negatives"])
    files.write_jsonl(evals.folder / "negatives.jsonl", rows)
    print(f"{manifest.write_manifest(evals, SEEDS)} describes the folder as it is now")
    return 0


# Executing.


def run_all(folder: Path, paths: list[Path]) -> dict[Path, nbformat.NotebookNode]:
    """Execute notebooks on `folder` and return them; the screen shows parts and seconds."""
    executed = {}
    for number, path in enumerate(paths, 1):
        print(f"[{number}/{len(paths)}] {path.stem}", flush=True)
        began = time.monotonic()
        executed[path] = execute(path, folder)
        print(f"      {time.monotonic() - began:.0f} s", flush=True)
    return executed


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook executed on `folder`; the file stays as it is.

    Raises EvalSetError where a cell fails, KeyboardInterrupt on Ctrl-C.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        coalesce_streams=True,  # else the same output may be stored in one piece or in two
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=40"],
        shutdown_kernel="immediate",  # asked kindly, an interrupted kernel ends with noise
        on_cell_start=show_part,
    )
    kernels = KernelSpecManager(kernel_dirs=[])  # this Python, whatever kernels are installed
    client.create_kernel_manager().kernel_spec_manager = kernels
    try:
        client.execute(env=environment(folder))
    except CellExecutionError as error:
        if error.ename in ("EvalSetError", "CannotCompare"):
            raise evalset.EvalSetError(error.evalue.splitlines()) from error
        message = " ".join(strip_ansi(f"{error.ename}: {error.evalue}").split())[:200]
        more = "run again with --debug for the traceback, and report it"
        problem = f"{path.stem}: a cell failed with {message}: {more}"
        raise evalset.EvalSetError([problem]) from error
    except (AssertionError, asyncio.CancelledError) as error:
        # on Ctrl-C nbclient ends its kernel, and then misses it
        raise KeyboardInterrupt from error
    notebook.metadata.language_info = {"name": "python"}  # no versions: they differ by machine
    return notebook


def show_part(cell: nbformat.NotebookNode, **_) -> None:
    """Print the headings of the first two levels in a cell that comes up."""
    if cell.cell_type == "markdown":
        for heading in re.findall(r"^##? (\S.*)$", cell.source, re.MULTILINE):
            print(f"      {heading}", flush=True)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment notebooks run in: the folder, a fixed hash seed, our own kernel.

    Without MPLBACKEND: any other backend than the kernel's own shows no figure. Pictures stand
    still, so that the same run stores the same outputs.
    """
    fixed = {"EVALS": str(folder), "PYTHONHASHSEED": "0", "JUPYTER_PREFER_ENV_PATH": "1"}
    left_out = ("MPLBACKEND", "WORKBOOK_LIVE")
    return {name: value for name, value in os.environ.items() if name not in left_out} | fixed


# Numbers in prose: one generated block a page, compared by `check`.

BLOCK = re.compile(r"(<!-- generated: make refresh -->\n).*?(<!-- end -->)", re.DOTALL)


def fresh_pages(folder: Path) -> dict[Path, str]:
    """Return each page that has a generated block with that block made anew.

    Raises ValueError unless it stands there once, between its two markers.
    """
    made = {
        ROOT / "README.md": report.summary(results.read_results(folder)),
        ROOT / "evals" / "README.md": report.facts(evalset.load(folder)),
    }
    pages = {}
    for path, block in made.items():
        before, *rest = BLOCK.split(path.read_text("utf-8"))
        if len(rest) != 3:
            raise ValueError(f"{path.name}: wanted one generated block between its two markers")
        pages[path] = f"{before}{rest[0]}{block}\n{rest[1]}{rest[2]}"
    return pages


# Checking.

NBVAL_STRICT = (
    "--nbval",
    "--nbval-current-env",
    f"--nbval-cell-timeout={CELL_TIMEOUT}",
    "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg",
    *("-p", "helpers.tests.nbval_alt"),
)
QUICK = ("-rs", "-m", "not proof", "--ignore=helpers/tests/proof")
TESTS = {  # two jobs of like length
    "tests of the helpers": (*QUICK, "--ignore=helpers/tests/check", "helpers/tests"),
    "tests of the exercises": (*QUICK, "helpers/tests/check"),
}


def check_command(evals: evalset.EvalSet) -> int:
    """Run every check on copies of a set; return 0 only if all passed.

    Another set than the workbook's own has no stored numbers, and the tests of the helpers say
    nothing about it: its notebooks run in their order, no more.
    """
    if evals.folder == evalset.DEFAULT:
        return check_own(evals.folder)
    print("check: runs the four notebooks in their order on a copy of the folder", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        copy = copy_of_set(evals.folder, Path(scratch) / "evals")
        try:
            run_all(copy, NOTEBOOKS)
        except evalset.EvalSetError as error:
            problems = [line.replace(str(copy), str(evals.folder)) for line in error.problems]
            raise evalset.EvalSetError(problems) from error
    print("check: every cell ran")
    return 0


def check_own(folder: Path) -> int:
    """Run linters, notebooks and tests, two at a time, and compare what was stored.

    A notebook finds the committed files of those before it, and not those that it writes itself:
    if each link makes what is committed from what is committed, the whole chain does.
    """
    print(
        "check: runs each of the four notebooks on a copy of evals/ without the files that it "
        "writes, compares every number and every derived file with the stored one, and tests the "
        "helpers (about a minute)",
        flush=True,
    )
    problems, ruff = [], [sys.executable, "-m", "ruff"]
    for words in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        if subprocess.run([*ruff, *words, str(ROOT)], cwd=ROOT).returncode:
            problems.append(f"ruff {words[0]} complains")
    for path in (*NOTEBOOKS, *FURTHER):
        problems += guard(path)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        jobs = {name: (folder, *words) for name, words in TESTS.items()}
        for path in (SESSIONS[2], SESSIONS[1], SESSIONS[0], WRITE_UP):  # longest first
            copy = copy_of_set(folder, Path(scratch) / path.stem)
            for name in derived(copy, WRITES[path]):
                (copy / name).unlink()
            jobs[path.stem] = (copy, *NBVAL_STRICT, str(path))
        processes = [*pool.map(lambda job: run_pytest(*job), jobs.values())]
        for path in NOTEBOOKS:
            problems += stale_files(folder, jobs[path.stem][0], WRITES[path])
    problems += stale_blocks(folder)
    for name, process in zip(jobs, processes, strict=True):
        print(f"{name}:\n{process.stdout}", flush=True)
        if process.returncode:
            problems.append(f"{name}: pytest ended with {process.returncode}, see above")
    subprocess.run([sys.executable, "helpers/tests/weight.py"], cwd=ROOT)
    print("\n".join(problems) or "check: everything agrees")
    shown = "".join(process.stdout for process in processes)
    counts = [sum(map(int, re.findall(rf"(\d+) {word}", shown))) for word in ("passed", "failed")]
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if problems else 0


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Run pytest on `folder` to its end; what it says is in one text."""
    outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    command = [sys.executable, "-m", "pytest", *words]
    return subprocess.run(command, cwd=ROOT, env=environment(folder), **outputs)


def copy_of_set(folder: Path, to: Path) -> Path:
    """Copy an evaluation set without notebooks and pages, and return where it stands."""
    leave = shutil.ignore_patterns("*.ipynb", "*.html", ".ipynb_checkpoints")
    return Path(shutil.copytree(folder, to, ignore=leave))


MACHINE_PATH = re.compile(  # in JSON, which writes a backslash twice
    r"(?:/(?:home|Users|root|tmp|private|var/folders)/|\b[A-Za-z]:\\\\)[\w.-]+"
)


def guard(path: Path) -> list[str]:
    """Return what is wrong with the stored outputs of a notebook.

    nbval compares nothing where a count is missing, so counts come first.
    """
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    problems = []
    if [cell.execution_count for cell in cells] != list(range(1, len(cells) + 1)):
        problems.append(f"{path.name}: execution counts are not 1..{len(cells)}, run: make refresh")
    for number, cell in enumerate(cells, 1):
        kinds = {output.get("name", output.output_type) for output in cell.outputs}
        unwanted = sorted(kinds & {"stderr", "error"})
        if machine_path := MACHINE_PATH.search(json.dumps(cell.outputs)):
            unwanted.append(f"a path of one machine: {machine_path[0]}")
        problems += [f"{path.name}: cell [{number}] stores {what}" for what in unwanted]
    return problems


def derived(folder: Path, globs: Iterable[str]) -> set[str]:
    """Return the paths below `folder` that the patterns of WRITES name."""
    return {path.relative_to(folder).as_posix() for glob in globs for path in folder.glob(glob)}


def stale_files(committed: Path, fresh: Path, globs: Iterable[str]) -> list[str]:
    """Return a line for each derived file that differs from what a session has just written."""
    problems = []
    for name in sorted(derived(committed, globs) | derived(fresh, globs)):
        paths = (committed / name, fresh / name)
        sides = [path.read_bytes().splitlines(True) if path.exists() else [] for path in paths]
        for number, lines in enumerate(zip_longest(*sides, fillvalue=b""), 1):
            if lines[0] != lines[1]:
                old, new = (line.decode("utf-8", "replace")[:100] for line in lines)
                problems.append(
                    f"evals/{name}:{number} is stale: found {old!r}, a session writes {new!r}, "
                    "run: make refresh"
                )
                break
    return problems


def stale_blocks(folder: Path) -> list[str]:
    """Return a line for each generated block that differs from the fresh results."""
    return [
        f"{path.relative_to(ROOT).as_posix()}: its generated block differs from the results, "
        "run: make refresh"
        for path, page in fresh_pages(folder).items()
        if page != path.read_text("utf-8")
    ]
