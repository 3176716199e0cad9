"""Which tests reach a line, and a run of just these in a copy of the workbook.

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
QUICK, SLOW = 40.0, 30.0  # seconds of unbroken tests a mutant may cost, here and by subprocess
NBVAL = "--nbval --nbval-current-env --nbval-cell-timeout=300 -p helpers.tests.nbval_alt".split()
NBVAL.append("--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg")
SETTINGS = """[run]
data_file = {data}/part
parallel = true
sigterm = true
source = {tree}/helpers,{tree}/notebooks/check
omit = */tests/*
context = ${{REACHED_BY-}}
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


# Which tests reach a line.


class Recorder:
    """A pytest plugin that tells coverage, and subprocesses, which test is running."""

    def __init__(self, measured: coverage.Coverage, name: str) -> None:
        self.measured, self.name, self.now, self.seconds = measured, name, "", defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.now = self.name if self.name.endswith(".ipynb") else item.nodeid
        self.switch(self.now)
        os.environ["REACHED_BY"] = "sub " + self.now.partition("[")[0]
        begun = os.times()
        result = yield
        self.seconds[self.now] += sum(os.times()[:4]) - sum(begun[:4])
        self.switch("")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        """What a shared fixture reaches, all tests of the file reach."""
        if fixturedef.scope != "function":
            self.switch(self.name)
        result = yield
        if fixturedef.scope != "function":
            self.switch(self.now)
        return result

    def switch(self, context: str) -> None:
        if self.measured.get_option("run:source"):
            self.measured.switch_context(context)


def record(name: str) -> Path:
    """Run a test file or notebook unbroken; keep and return the file that tells what it reached.

    Raises RuntimeError where it fails.
    """
    kept = CACHE / f"{key(name)}.json"
    if kept.exists():
        return kept
    with copied() as tree:
        data, result = tree.parent / "data", tree.parent / "seconds.json"
        data.mkdir()
        if name.endswith(".ipynb"):
            save_at_the_end(tree / name)
        done = forked(tree, lambda: measured_run(name, tree, data, result), 1200)
        if done.status:
            raise RuntimeError(f"unbroken, and yet it fails: {name}\n{done.said[-3000:]}")
        found = {"seconds": json.loads(result.read_text()), "lines": lines_of(data, tree)}
    CACHE.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(found))
    part.replace(kept)
    return kept


def save_at_the_end(path: Path) -> None:
    """Let a notebook's last cell save what was measured: nbval kills its kernel."""
    notebook = nbformat.read(path, as_version=4)
    code = "import coverage\ncoverage.Coverage.current().save()"
    notebook.cells.append(nbformat.v4.new_code_cell(code))
    nbformat.write(notebook, path)


def measured_run(name: str, tree: Path, data: Path, result: Path) -> int:
    """Run `name` under coverage; write the seconds each of its tests took."""
    settings = tree.parent / "coveragerc"
    settings.write_text(SETTINGS.format(data=data, tree=tree))
    os.environ["REACHED_BY"] = ""
    measured = coverage.Coverage(config_file=str(settings))
    os.environ |= {"COVERAGE_PROCESS_START": str(settings), "REACHED_BY": f"sub {name}"}
    measured.start()
    recorder = Recorder(measured, name)
    status = pytest.main([*options(name), name], plugins=[recorder])
    measured.stop()
    measured.save()
    result.write_text(json.dumps(recorder.seconds))
    return status


def lines_of(data: Path, tree: Path) -> dict[str, dict[str, list[int]]]:
    """Return {file: {context: lines}} from coverage's parts."""
    found = defaultdict(lambda: defaultdict(set))
    for part in data.glob("part*"):
        one = coverage.CoverageData(basename=str(part))
        with contextlib.suppress(coverage.CoverageException):  # of a process that was killed
            one.read()
            for file in one.measured_files():
                name = Path(file).relative_to(tree).as_posix()
                for line, contexts in one.contexts_by_lineno(file).items():
                    for context in contexts:
                        found[name][context.strip("|")].add(line)
    return {file: {c: sorted(n) for c, n in rows.items()} for file, rows in found.items()}


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
    """What every recorded test reaches: {(file, line): contexts}, and what each test takes."""

    def __init__(self, recorded: Iterable[Path]) -> None:
        self.lines, self.seconds = defaultdict(set), {}
        for path in recorded:
            found = json.loads(path.read_text())
            self.seconds |= found["seconds"]
            for file, rows in found["lines"].items():
                for context, numbers in rows.items():
                    for number in numbers if context else ():
                        self.lines[file, number].add(context)

    def of(self, file: str, numbers: Iterable[int]) -> set[str]:
        """Return the contexts that reach one of the lines."""
        return set().union(*(self.lines.get((file, number), ()) for number in numbers))

    def cost(self, context: str) -> float:
        """Return the seconds of a test, of a function with all its cases, or of a whole file."""
        if context in self.seconds:
            return self.seconds[context]
        return sum(
            s for t, s in self.seconds.items() if t.startswith((context + "::", context + "["))
        )


def lines_around(text: str, line: int) -> tuple[list[int], set[str]]:
    """Return the lines that run when `line` does, and the names that a module's own line defines.

    A function's header runs when its body does; a line of the module, when its names are used.
    """
    tree, names = ast.parse(text), set()
    statements = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]
    around = [n for n in statements if n.lineno <= line <= n.end_lineno]
    best = max(around, key=lambda node: node.lineno, default=None)
    inside = innermost(tree, line)
    if inside is not None:
        header = line < inside.body[0].lineno
        span = (inside.body[0].lineno, inside.end_lineno) if header else extent(best, line)
        return list(range(span[0], span[1] + 1)), set()
    if best is not None:
        targets = getattr(best, "targets", [getattr(best, "target", None)])
        names = {
            n.id for t in filter(None, targets) for n in ast.walk(t) if isinstance(n, ast.Name)
        }
        names |= {best.name} if isinstance(best, ast.ClassDef) else set()
    return [], names


def innermost(tree: ast.Module, line: int) -> ast.FunctionDef | None:
    """Return the function that the line belongs to."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= node.end_lineno
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def extent(node: ast.stmt, line: int) -> tuple[int, int]:
    """Return the first and last line of a plain statement, or of a compound statement's header."""
    body = getattr(node, "body", None)
    return node.lineno, max(node.lineno, body[0].lineno - 1 if body else node.end_lineno)


def mirrors(file: str) -> list[str]:
    """Return the test files named after a module, or those that import it where none is."""
    stem = Path(file).stem.strip("_")
    wing = Path(file).parts[1] if len(Path(file).parts) > 2 else ""
    paths = [path for path in TESTS.rglob("test_*.py") if not wing or wing in path.parts]
    named = [p for p in paths if set(stem.split("_")) <= set(p.stem.split("_"))]
    word = re.compile(rf"^\s*(from|import)\b.*\b{stem}\b", re.MULTILINE)
    found = named or [p for p in TESTS.rglob("test_*.py") if word.search(p.read_text("utf-8"))]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def users(names: set[str]) -> list[tuple[str, int]]:
    """Return (file, line) wherever one of the names stands in the helpers or checks."""
    if not names:
        return []
    word, found = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b"), []
    for path in modules():
        lines = path.read_text(encoding="utf-8").splitlines()
        name = path.relative_to(ROOT).as_posix()
        found += [(name, n) for n, line in enumerate(lines, 1) if word.search(line)]
    return found


# Running them.


class Chosen:
    """A pytest plugin that keeps the chosen tests, in their order."""

    def __init__(self, order: list[str]) -> None:
        self.rank = {context: n for n, context in enumerate(order)}

    def pytest_collection_modifyitems(self, items):
        ranked = {item: self.place(item.nodeid) for item in items}
        items[:] = sorted((i for i in items if ranked[i] is not None), key=ranked.get)

    def place(self, test: str) -> int | None:
        names = (test, test.partition("[")[0], test.partition("::")[0])
        return min((self.rank[n] for n in names if n in self.rank), default=None)


def in_order(reach: Reach, contexts: Iterable[str], first: list[str], most: float) -> list[str]:
    """Return the contexts file by file, the files in `first` before others, then the quickest.

    Stops before `most` seconds are exceeded, but keeps at least one.
    """
    files, chosen, total = defaultdict(list), [], 0.0
    for context in contexts:
        files[context.partition("::")[0]].append(context)
    costs = {file: sum(map(reach.cost, found)) for file, found in files.items()}
    for file in sorted(files, key=lambda file: (file not in first, costs[file], file)):
        for context in sorted(files[file], key=lambda c: (reach.cost(c), c)):
            total += reach.cost(context)
            if total > most and chosen:
                return chosen
            chosen.append(context)
    return chosen


def run_tests(tree: Path, reach: Reach, order: list[str]) -> Done:
    """Run the chosen tests in one process, until one fails."""
    files = list(dict.fromkeys(context.partition("::")[0] for context in order))
    words = ["-x", "--tb=line", *options(""), *files]
    limit = 20 + 4 * sum(map(reach.cost, order))
    return forked(tree, lambda: pytest.main(words, plugins=[Chosen(order)]), limit)


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
