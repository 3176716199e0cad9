"""Which test files and notebooks reach a line, and a run of these in a copy of the workbook.

All runs are forks of one process that has imported the libraries, never our own modules: most of
a test's time is the import of pandas, SciPy and IPython. Needs os.fork (Linux, macOS).
"""

import ast
import contextlib
import hashlib
import importlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import coverage
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]
CACHE = ROOT / ".cache" / "reach"
TESTS, SESSIONS_TEST = ROOT / "helpers" / "tests", "helpers/tests/proof/test_sessions.py"
NOTEBOOKS = [
    *sorted((ROOT / "notebooks").glob("session_*.ipynb")),
    *sorted((ROOT / "notebooks" / "further").glob("*.ipynb")),
    ROOT / "evals" / "retrieval_eval.ipynb",
]
LEFT_OUT = (".git", ".venv", ".cache", "learn", "learn-*")
HASHED = {".py", ".ipynb", ".md", ".jsonl", ".json", ".trec", ".cfg", ".css"}
RUNNER = {"mutants.py", "mutation.py", "equivalent.py", "bench.py"}
MOST = 60.0  # seconds of unbroken tests that a mutant may cost, beside the file named after it
NBVAL = "--nbval --nbval-current-env --nbval-cell-timeout=300 -p helpers.tests.nbval_alt".split()
NBVAL.append("--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg")
SETTINGS = """[run]
data_file = {data}/part
parallel = true
sigterm = true
source = {tree}/helpers,{tree}/notebooks/check
omit = */tests/*
"""


# Copies and forks.


LIBRARIES = "pandas scipy.stats matplotlib.pyplot sklearn.decomposition IPython.display ipywidgets "
LIBRARIES += "nbclient nbconvert nbformat yaml tiktoken ir_measures rank_bm25 duckdb nh3 jinja2"


def warm() -> None:
    """Import what takes the helpers and their tests long, and pytest's plugins."""
    for name in LIBRARIES.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with open(os.devnull, "w") as silent, contextlib.redirect_stdout(silent):
        pytest.main(["--help"])


@contextlib.contextmanager
def copied():
    """Give a copy of the workbook in a temporary folder of its own."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        tree = Path(scratch) / "workbook"
        shutil.copytree(ROOT, tree, ignore=left_out)
        yield tree


def left_out(folder: str, names: list[str]) -> set[str]:
    """Return what a copy of the workbook does not need; byte code may come along."""
    of_root = LEFT_OUT if Path(folder) == ROOT else ()
    return shutil.ignore_patterns("*.html", *of_root)(folder, names)


class Done(NamedTuple):
    """How a fork ended: 0 is success, -1 out of time; and what it said."""

    status: int
    said: str


def forked(tree: Path, job: Callable[[], int], cpu: float) -> Done:
    """Run `job` in a fork whose folder is `tree`, for at most `cpu` seconds of its own CPU time."""
    log = tree.parent / "said"
    process = os.fork()
    if not process:
        inside(tree, job, cpu, log)
    end = time.monotonic() + 4 * cpu + 60  # other programs may want the processors, too
    while not (ended := os.waitpid(process, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(ended[1]) if ended[0] else -1
    if not ended[0]:
        os.waitpid(process, 0)
    return Done(status, log.read_text(errors="replace"))


def inside(tree: Path, job: Callable[[], int], cpu: float, log: Path) -> None:
    """Be the fork: a fresh session, folder, path and environment; ends the process."""
    status = 3
    try:
        os.setsid()
        with contextlib.suppress(ValueError):  # a lower limit of the machine stays
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 5))
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(out, stream)
        os.chdir(tree)
        os.environ.update(EVALS=str(tree / "evals"), PYTHONDONTWRITEBYTECODE="1")
        os.environ.pop("CI", None)  # under CI pytest writes out whole differences, for minutes
        sys.dont_write_bytecode = True
        forget()
        sys.path.insert(0, str(tree))
        status = int(job())
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(status)


def forget() -> None:
    """Leave none of the workbook's modules and folders where an import would find them."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name != "__main__" and file.startswith((f"{ROOT}/helpers", f"{ROOT}/notebooks")):
            del sys.modules[name]
    mine = {str(ROOT), str(TESTS), str(TESTS / "proof"), ""}
    sys.path[:] = [place for place in sys.path if place not in mine]


# What reaches a line.


def record(name: str) -> Path:
    """Run a test file or notebook unbroken; keep and return the file that tells what it reached.

    Raises RuntimeError where it fails.
    """
    kept = CACHE / f"{key(name)}.json"
    if kept.exists():
        return kept
    with copied() as tree:
        data = tree.parent / "data"
        data.mkdir()
        if name.endswith(".ipynb"):
            save_at_the_end(tree / name)
        before = os.times()
        done = forked(tree, lambda: measured_run(name, tree, data), 1200)
        seconds = sum(os.times()[2:4]) - sum(before[2:4])
        if done.status:
            raise RuntimeError(f"unbroken, and yet it fails: {name}\n{done.said[-3000:]}")
        reached = {"name": name, "seconds": seconds, "lines": lines_of(data, tree)}
    CACHE.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(reached))
    part.replace(kept)
    return kept


def save_at_the_end(path: Path) -> None:
    """Let a notebook's last cell save what was measured: nbval kills its kernel."""
    notebook = nbformat.read(path, as_version=4)
    code = "import coverage\ncoverage.Coverage.current().save()"
    notebook.cells.append(nbformat.v4.new_code_cell(code))
    nbformat.write(notebook, path)


def measured_run(name: str, tree: Path, data: Path) -> int:
    """Run `name` under coverage, and what it starts in processes of their own."""
    settings = tree.parent / "coveragerc"
    settings.write_text(SETTINGS.format(data=data, tree=tree))
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    measured = coverage.Coverage(config_file=str(settings))
    measured.start()
    status = pytest.main([*options(name), name])
    measured.stop()
    measured.save()
    return status


def lines_of(data: Path, tree: Path) -> dict[str, list[int]]:
    """Return {file: lines} from coverage's parts."""
    reached = defaultdict(set)
    for part in data.glob("part*"):
        measured = coverage.CoverageData(basename=str(part))
        with contextlib.suppress(coverage.CoverageException):  # of a process that was killed
            measured.read()
            for file in measured.measured_files():
                reached[Path(file).relative_to(tree).as_posix()] |= {*(measured.lines(file) or ())}
    return {file: sorted(lines) for file, lines in reached.items()}


def key(name: str) -> str:
    """Return a hash of what the reach of `name` depends on: sources, test modules, itself."""
    hashed = hashlib.sha256(name.encode())
    for folder in ("helpers", "notebooks", "evals"):
        for path in sorted((ROOT / folder).rglob("*")):
            other = path.name.startswith("test_") and path.relative_to(ROOT).as_posix() != name
            skipped = other or path.name in RUNNER or ".ipynb_checkpoints" in path.parts
            if path.suffix in HASHED and not skipped:
                hashed.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return hashed.hexdigest()[:24]


def test_files() -> list[str]:
    """Return the test files and the notebooks, longest first."""
    paths = [path.relative_to(ROOT).as_posix() for path in TESTS.rglob("test_*.py")]
    slow = ("copies", "rehearsal", "sessions", "panel", "progress", "project")
    order = sorted(paths, key=lambda p: (not any(s in p for s in slow), p))
    return [*(path.relative_to(ROOT).as_posix() for path in NOTEBOOKS), *order]


def files_for(stems: set[str]) -> list[str]:
    """Return the test files and notebooks that import one of the modules, or what imports these.

    workbook and __main__ import everything and say nothing here; nor do the slow tests of learn.
    """
    near = stems | {path.stem for path in modules() if stems & imported(path)}
    near -= {"workbook", "__main__", "__init__"} - stems
    names = [name for name in test_files() if "/learn/" not in name]
    return [name for name in names if near & imported(ROOT / name) or name == SESSIONS_TEST]


def modules() -> list[Path]:
    """Return the modules of helpers and checks."""
    paths = [*(ROOT / "helpers").rglob("*.py"), *(ROOT / "notebooks" / "check").glob("*.py")]
    return [path for path in paths if TESTS not in path.parents]


def imported(path: Path) -> set[str]:
    """Return the last parts of all names that a module or a notebook imports."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    else:
        text = path.read_text(encoding="utf-8")
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            words = [getattr(node, "module", None) or "", *(a.name for a in node.names)]
            found |= {word.rpartition(".")[2] for word in words}
    return found


def options(name: str) -> list[str]:
    """Return pytest's options for a notebook or a test file."""
    return ["-p", "no:xdist", *(NBVAL if name.endswith(".ipynb") else ("-p", "no:nbval"))]


def as_check_runs(name: str) -> list[str]:
    """Return the options by which make check leaves to the proof what is slow."""
    return [] if name.endswith(".ipynb") else ["-m", "not proof"]


class Reach:
    """What every recorded test file or notebook reaches, and the CPU seconds that it takes."""

    def __init__(self, recorded: Iterable[Path]) -> None:
        self.lines, self.seconds = defaultdict(set), {}
        for path in recorded:
            reached = json.loads(path.read_text())
            self.seconds[reached["name"]] = reached["seconds"]
            for file, numbers in reached["lines"].items():
                for number in numbers:
                    self.lines[file, number].add(reached["name"])

    def of(self, file: str, numbers: Iterable[int]) -> set[str]:
        """Return the names of what reaches one of the lines."""
        return set().union(*(self.lines.get((file, number), ()) for number in numbers))

    def order(self, names: Iterable[str], first: list[str]) -> list[str]:
        """Return those in `first`, then the quickest, as many as take MOST seconds together."""
        chosen, total = [], 0.0
        for name in sorted(names, key=lambda name: (name not in first, self.cost(name), name)):
            total += self.cost(name)
            if total > MOST and chosen:
                break
            chosen.append(name)
        return chosen

    def cost(self, name: str) -> float:
        """Return the seconds of a test file; what was not recorded is taken for a slow one."""
        return self.seconds.get(name, MOST)


def lines_around(text: str, line: int) -> range:
    """Return the lines of the statement that `line` belongs to, of a compound one its header."""
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    around = [node for node in statements if first_line(node) <= line <= node.end_lineno]
    node = max(around, key=first_line)
    body = getattr(node, "body", None)
    return range(first_line(node), (body[0].lineno if body else node.end_lineno + 1))


def first_line(node: ast.stmt) -> int:
    """Return where a statement begins, with its decorators."""
    return min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])


def mirrors(file: str) -> list[str]:
    """Return the test files named after a module, or those that import it where none is."""
    stem = Path(file).stem.strip("_")
    wing = Path(file).parts[1] if len(Path(file).parts) > 2 else ""
    paths = [path for path in TESTS.rglob("test_*.py") if not wing or wing in path.parts]
    named = [p for p in paths if set(stem.split("_")) <= set(p.stem.split("_"))]
    word = re.compile(rf"^\s*(from|import)\b.*\b{stem}\b", re.MULTILINE)
    found = named or [p for p in TESTS.rglob("test_*.py") if word.search(p.read_text("utf-8"))]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


# Running them.


def run_tests(tree: Path, reach: Reach, order: list[str]) -> Done:
    """Run test files in one process, until a test fails."""
    words = ["-x", "--tb=line", *options(""), *order]
    limit = 20 + 4 * sum(map(reach.cost, order))
    return forked(tree, lambda: pytest.main(words), limit)


def run_notebook(tree: Path, name: str, seconds: float = 60) -> Done:
    """Run a notebook against its stored outputs, then compare the files it has written."""
    done = forked(tree, lambda: pytest.main(["-x", *options(name), name]), 20 + 4 * seconds)
    return done if done.status else done._replace(status=int(any(changed(tree))))


def changed(tree: Path) -> Iterable[str]:
    """Yield the names of the set's files that are not as committed."""
    for path in (ROOT / "evals").rglob("*"):
        name = path.relative_to(ROOT)
        if path.suffix in (".md", ".json", ".jsonl", ".trec") and path.is_file():
            there = tree / name
            if not there.exists() or there.read_bytes() != path.read_bytes():
                yield name.as_posix()


def write_cell(path: Path, change: Callable[[str, str], str | None]) -> None:
    """Replace the text of each cell for which `change(id, text)` returns one."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        text = change(cell.id, cell.source) if cell.cell_type == "code" else None
        cell.source = cell.source if text is None else text
    nbformat.write(notebook, path)
