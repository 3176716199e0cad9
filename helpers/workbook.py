"""The commands that run notebooks: report, refresh, freeze and check."""

import asyncio
import filecmp
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
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.filters import strip_ansi

from . import evalset, files, report, results

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
SEEDS = {"negatives": 2026}


def report_command(evals: evalset.EvalSet, full: bool = False) -> int:
    """Run the sessions and the write-up on a set, render the page, print the summary."""
    executed = run_all(evals.folder, [*NOTEBOOKS, *FURTHER] if full else NOTEBOOKS)
    page = evals.folder / "retrieval_eval.html"
    files.write(page, report.html(executed[WRITE_UP]))
    print("\n" + report.summary(results.read_results(evals.folder), str))
    print(f"\nwrite-up: {page}\n{results.what_next(evals.folder)}")
    return 0


def refresh_command(evals: evalset.EvalSet) -> int:
    """Execute the notebooks in place, update the generated blocks, print which numbers changed.

    Raises EvalSetError for another set than the workbook's own.
    """
    folder, before = evals.folder, results.published_values(evals.folder)
    if folder != evalset.DEFAULT:
        words = "refresh writes into the workbook itself and takes its own evals/ only; "
        raise evalset.EvalSetError([words + "for another folder use report"])
    for path, notebook in run_all(folder, [*NOTEBOOKS, *FURTHER]).items():
        files.write(path, nbformat.writes(notebook) + "\n")
    for path, page in fresh_pages(folder).items():
        files.write(path, page)
    changed = results.changed_values(before, results.published_values(folder))
    if changed:
        print("\npublished values that changed; each needs a reason before it is committed:")
    print(
        "\n".join(changed) or "\nno published value changed", "git diff shows the texts", sep="\n"
    )
    return 0


def freeze_command(evals: evalset.EvalSet) -> int:
    """Write negatives.jsonl and, last, the manifest with the hash of every input file.

    Raises EvalSetError, and writes nothing, where a file that it vouches for cannot be read.
    """
    from .labels import audit, manifest, pooling

    problems = audit.unreadable(evals, audit.EXTRAS[:3])  # it writes the negatives itself
    if problems:
        raise evalset.EvalSetError(problems)
    rows = pooling.negatives(evals, pooling.by_ranker(evals), SEEDS["negatives"])
    files.write_jsonl(evals.folder / "negatives.jsonl", rows)
    print(f"{manifest.write_manifest(evals, SEEDS)} describes the folder as it is now")
    return 0


# Executing.


def run_all(folder: Path, paths: list[Path]) -> dict[Path, nbformat.NotebookNode]:
    """Execute notebooks on `folder` and return them; the screen shows names and seconds."""
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
    client = notebook_client(notebook, timeout=CELL_TIMEOUT)
    try:
        client.execute(cwd=str(path.parent), env=environment(folder), cleanup_kc=True)
    except CellExecutionError as error:
        problems = error.evalue.splitlines()
        if error.ename != "EvalSetError":
            message = " ".join(strip_ansi(f"{error.ename}: {error.evalue}").split())[:200]
            more = "run again with --debug for the traceback, and report it"
            problems = [f"{path.stem}: a cell failed with {message}: {more}"]
        raise evalset.EvalSetError(problems) from error
    except (AssertionError, asyncio.CancelledError) as error:
        # on Ctrl-C nbclient ends its kernel, and then misses it
        raise KeyboardInterrupt from error
    notebook.metadata.language_info = {"name": "python"}  # no versions: they differ by machine
    return notebook


def notebook_client(notebook: nbformat.NotebookNode, **options: object) -> NotebookClient:
    """Return what runs a notebook on this Python, whatever kernels are installed."""
    return NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[])),
        record_timing=False,
        coalesce_streams=True,  # else the same output may be stored in one piece or in two
        extra_arguments=["--log-level=40", "--HistoryManager.enabled=False"],
        shutdown_kernel="immediate",  # asked kindly, an interrupted kernel ends with noise
        **options,
    )


def environment(folder: Path) -> dict[str, str]:
    """Return the environment notebooks run in: the folder, a fixed hash seed, our own kernel.

    Any MPLBACKEND but the kernel's own shows no figure. Pictures stand still (no WORKBOOK_LIVE).
    """
    left_out = ("MPLBACKEND", "WORKBOOK_LIVE")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"EVALS": str(folder), "PYTHONHASHSEED": "0", "JUPYTER_PREFER_ENV_PATH": "1"}


# Numbers in prose: one generated block a page, compared by `check`.

BLOCK = re.compile(r"(?<=<!-- generated: make refresh -->\n).*?(?=<!-- end -->)", re.DOTALL)


def fresh_pages(folder: Path) -> dict[Path, str]:
    """Return each page that has a generated block with that block made anew.

    Raises ValueError unless it stands there once, between its two markers, and EvalSetError.
    """
    blocks = {
        ROOT / "README.md": report.summary(results.read_results(folder)),
        ROOT / "evals" / "README.md": report.data_card_table(evalset.load(folder)),
    }
    pages = {path: BLOCK.split(files.page(path)) for path in blocks}
    for path, parts in pages.items():
        if len(parts) != 2:
            raise ValueError(f"{path.name}: wanted one generated block between its two markers")
    return {path: f"{blocks[path]}\n".join(parts) for path, parts in pages.items()}


# Checking.

NBVAL_STRICT = (
    f"--nbval --nbval-current-env --nbval-cell-timeout={CELL_TIMEOUT} "
    "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg -p helpers.tests.nbval_alt"
).split()
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
    folder = evals.folder
    if folder == evalset.DEFAULT:
        return check_own(folder)
    print("check: runs the four notebooks in their order on a copy of the folder", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        copy = copy_of_set(folder, Path(scratch) / "evals")
        try:
            run_all(copy, NOTEBOOKS)
        except evalset.EvalSetError as error:
            raise evalset.EvalSetError(
                str(error).replace(str(copy), str(folder)).splitlines()
            ) from error
    print("check: every cell ran")
    return 0


def check_own(folder: Path) -> int:
    """Run linters, notebooks and tests, and compare what was stored."""
    print("check: the four notebooks, what they write, and the tests, in a minute", flush=True)
    problems = [line for path in (*NOTEBOOKS, *FURTHER) for line in output_problems(path)]
    for words in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *words, str(ROOT)]
        if subprocess.run(command, cwd=ROOT).returncode:
            problems.append(f"ruff {words[0]} complains")
    shown, failures = run_tests(folder)
    problems += stale_blocks(folder) + failures
    subprocess.run([sys.executable, "helpers/tests/weight.py"], cwd=ROOT)
    print("\n".join(problems) or "check: everything agrees")
    counts = [sum(map(int, re.findall(rf"(\d+) {word}", shown))) for word in ("passed", "failed")]
    print(f"{counts[0]} passed, {counts[1]} failed")
    return 1 if problems else 0


def run_tests(folder: Path) -> tuple[str, list[str]]:
    """Run notebooks and tests, two at a time; return what pytest shows and what is wrong.

    A notebook finds the committed files of those before it, and not those that it writes itself:
    if each link makes what is committed from what is committed, the whole chain does.
    """
    problems, shown = [], ""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        jobs = {name: (folder, *words) for name, words in TESTS.items()}
        for path in (SESSIONS[2], SESSIONS[1], SESSIONS[0], WRITE_UP):  # longest first
            copy = copy_of_set(folder, Path(scratch) / path.stem)
            for name in derived_files(copy, WRITES[path]):
                (copy / name).unlink()
            jobs[path.stem] = (copy, *NBVAL_STRICT, str(path))
        processes = pool.map(lambda job: run_pytest(*job), jobs.values())
        for name, process in zip(jobs, processes, strict=True):
            print(f"{name}:\n{process.stdout}", flush=True)
            shown += process.stdout
            if process.returncode:
                problems.append(f"{name}: pytest ended with {process.returncode}, see above")
        for path in NOTEBOOKS:
            problems += stale_files(folder, jobs[path.stem][0], WRITES[path])
    return shown, problems


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


def output_problems(path: Path) -> list[str]:
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


def derived_files(folder: Path, globs: Iterable[str]) -> set[str]:
    """Return the paths below `folder` that the patterns of WRITES name."""
    return {path.relative_to(folder).as_posix() for glob in globs for path in folder.glob(glob)}


def stale_files(committed: Path, fresh: Path, globs: Iterable[str]) -> list[str]:
    """Return a line for each derived file that differs from what a session has just written."""
    names = sorted(derived_files(committed, globs) | derived_files(fresh, globs))
    _, different, missing = filecmp.cmpfiles(committed, fresh, names, shallow=False)
    words = "is not what a session writes, run: make refresh, then git diff shows where"
    return [f"evals/{name} {words}" for name in sorted(different + missing)]


def stale_blocks(folder: Path) -> list[str]:
    """Return a line for each generated block that differs from the fresh results."""
    words = "its generated block differs from the results, run: make refresh"
    fresh = fresh_pages(folder).items()
    stale = [path for path, page in fresh if page != path.read_text("utf-8")]
    return [f"{path.relative_to(ROOT).as_posix()}: {words}" for path in stale]
