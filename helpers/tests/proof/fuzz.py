"""Break small sets, runs and sources at random under every command: make proof ONLY=fuzz N=5000.

A trial is a command of fuzz_sets.CASES and a file of what it is given, broken by an operator of
corruptions.OPERATORS. The command must neither crash nor hang, and where it refuses, its message
names the file and everything is left as it was. Each runs in a fork with 2 GB of memory and 20 s.
The number after a finding repeats it: make proof ONLY=fuzz SEED=7 TRIAL=133,98.
"""

import hashlib
import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "helpers" / "tests")]

import corruptions  # noqa: E402
import forks  # noqa: E402

TIMEOUT, MEMORY = 20, 2 * 1024**3  # seconds and bytes of one trial
NOTEBOOKS = 250  # one trial in so many runs notebooks: a command of fuzz_sets.SLOW
FINE, FAILS = ("clear error", "harmless"), ("crash", "hang", "unclear", "left over")
ROOMS = "__main__ workbook report labels.audit labels.pooling labels.merge learn.progress "
ROOMS += "sources.export sources.site sql.command"  # imported once, so that no trial pays
IN_STEPS = ("report", "refresh", "freeze", "sql")  # what came before the step that failed is whole
READS = ("pool.jsonl", "second_pass.jsonl", "negatives.jsonl")
GOOD_ENDS = {"audit": (0, 1), "check": (0, 1), "compare": (0, 1, 3)}
RAW = re.compile("[\0-\b\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CRASH = re.compile(r"Traceback \(most recent|again with --debug|Warning: .*\n? *warnings\.warn")


class Trial(NamedTuple):
    """A case, the file that is broken, and how."""

    number: int
    case: str
    path: str
    what: str


class Outcome(NamedTuple):
    """How a command ended, and the states of all files before and after."""

    status: int | None
    out: str
    err: str
    before: dict[str, str]
    after: dict[str, str]


def main(count: int, seed: int, only: list[int]) -> int:
    """Make the trials, print findings, counts and rate; return 1 where one fails."""
    kinds, began = Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        fuzzer = Fuzzer(Path(folder).resolve(), seed)
        for number in only or range(1, count + 1):
            trial, kind, outcome = fuzzer.trial(number)
            kinds[kind] += 1
            if only or kind in FAILS:
                last = (outcome.err.strip() or outcome.out).splitlines()[-4:]
                print(f"{kind} at {number}: {trial.case} | {trial.what} | {trial.path}")
                print(f"    status {outcome.status}, changed: {', '.join(changes(outcome))[:300]}")
                print(*(f"    {line[:200]}" for line in last), sep="\n", flush=True)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in FINE + FAILS)
    print(f"seed {seed}: {kinds.total()} trials in {time.monotonic() - began:.0f} s: {counts}")
    return int(any(kinds[kind] for kind in FAILS))


class Fuzzer:
    """A stock of sets, runs and sources, and the folder of a trial."""

    def __init__(self, folder: Path, seed: int):
        from helpers import evalset

        self.stock, self.folder, self.seed = folder / "stock", folder / "trial", seed
        # a command that works on the workbook itself finds a small one in the trial's folder
        evalset.DEFAULT = self.folder / "evals"
        for name in ROOMS.split():
            importlib.import_module(f"helpers.{name}")
        self.sets = importlib.import_module("fuzz_sets")
        self.sets.make(self.stock)
        self.tried: set[str] = set()

    def trial(self, number: int) -> tuple[Trial, str, Outcome]:
        """Make one trial; return it, its kind and its outcome."""
        rng, cases, slow = Random(f"{self.seed}:{number}"), self.sets.CASES, self.sets.SLOW
        case = rng.choice([name for name in cases if (name in slow) == (number % NOTEBOOKS == 0)])
        if case not in self.tried:
            self.sets.lay_out(case, self.stock, self.folder)
            assert self.run(case).status in (0, 1, 3), case
            self.tried.add(case)
        self.sets.lay_out(case, self.stock, self.folder)
        trial = self.break_file(number, case, rng)
        outcome = self.run(case)
        names = {Path(path).name for path in (*outcome.before, *outcome.after, trial.path)}
        return trial, verdict(case, outcome, self.folder, names | {*cases[case][1]}), outcome

    def break_file(self, number: int, case: str, rng: Random) -> Trial:
        """Break one file that is not empty."""
        paths = sorted(p for p in self.folder.rglob("*") if p.is_file() and p.stat().st_size)
        large = [p for p in paths if p.parent.name != "corpus"]  # most are pages of the corpus
        what = None
        while not what:
            name = rng.choice(list(corruptions.OPERATORS))
            path = rng.choice(large if rng.random() < 0.8 else paths)
            what = corruptions.OPERATORS[name](rng, path)
        return Trial(number, case, path.relative_to(self.folder).as_posix(), f"{name}: {what}")

    def run(self, case: str) -> Outcome:
        """Run a command in the folder; what reads the real notebooks by the real command line."""
        words, before = self.sets.CASES[case][0], state(self.folder)
        job, seconds = partial(run_here, words), TIMEOUT
        if words[0] in ("report", "check"):
            command = [sys.executable, "-m", "helpers", *words]
            more = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
            job, seconds = partial(subprocess.call, command, env=os.environ | more), 15 * TIMEOUT
        return Outcome(*forks.run(job, self.folder, seconds), before, state(self.folder))


# In the fork.


def run_here(words: list[str]) -> int:
    """Run a command in this process; return its status."""
    from helpers import __main__

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    sys.dont_write_bytecode = True
    sys.argv = ["helpers", *words]
    return read_pieces(Path(words[1])) if words[0] == "pieces" else __main__.main()


def read_pieces(folder: Path) -> int:
    """Read what sessions and panel read in a set; 1 where one of them says what is wrong."""
    from helpers import evalset, report, results, text
    from helpers.labels import log, merge

    try:
        evals = evalset.load(folder)
        print(report.facts(evals), evals.name, evals.next_step(), results.notes(folder))
        print([len(evalset.read_extra(evals, table)) for table in READS])
        print(log.entries(evals), merge.pairs_to_judge(evals))
        if os.path.lexists(folder / "results.json"):
            print(report.summary(results.read_results(folder)))
            print(results.published(folder).keys())
        print(merge.merge(evals))
    except (evalset.EvalSetError, ValueError, OSError) as error:
        if type(error) in (UnicodeDecodeError, json.JSONDecodeError):
            raise
        print(text.visible(str(error)), file=sys.stderr)
        return 1
    return 0


# The verdict.


def state(folder: Path) -> dict[str, str]:
    """Return {path: hash, or what it is} of everything below a folder, locks left out."""
    states = {}
    for path in folder.rglob("*"):
        if path.suffix != ".lock":
            kind = "link" if path.is_symlink() else "folder"
            if path.is_file() and not path.is_symlink():
                kind = hashlib.sha256(path.read_bytes()).hexdigest()
            states[path.relative_to(folder).as_posix()] = kind
    return states


def changes(outcome: Outcome) -> list[str]:
    """Return the paths that a command made, changed or removed."""
    paths = {**outcome.before, **outcome.after}
    return [path for path in paths if outcome.before.get(path) != outcome.after.get(path)]


def verdict(case: str, outcome: Outcome, folder: Path, names: set[str]) -> str:
    """Return which of FINE and FAILS an outcome is; a message must hold one of the names."""
    printed, command = outcome.out + outcome.err, case.split()[0]
    if outcome.status is None:
        return "hang"
    if outcome.status < 0 or outcome.status == forks.FAILED or CRASH.search(printed):
        return "crash"
    changed = changes(outcome)
    new = [path for path in changed if outcome.after.get(path) not in outcome.before.values()]
    if any(is_torn(folder / path) for path in new):
        return "left over"
    refused = bool(outcome.err.strip()) and outcome.status == (2 if command == "compare" else 1)
    warned = "MissingIDFieldWarning" in outcome.err  # nbformat's, of a notebook that was cut
    silent = warned or not outcome.err.strip()
    done = outcome.status in GOOD_ENDS.get(command, (0,)) and silent
    if RAW.search(printed) or not (refused or done):
        return "unclear"
    if done:
        return "harmless"
    if command not in IN_STEPS and any(outcome.after.get(path) != "folder" for path in changed):
        return "left over"
    names = names | {"nested too deeply"}  # in whatever file: it happens to nobody
    return "clear error" if any(name in outcome.err for name in names) else "unclear"


def is_torn(path: Path) -> bool:
    """Return whether a file of JSON or JSON lines cannot be read as that."""
    if path.suffix not in (".json", ".jsonl") or not path.is_file():
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        for row in text.split("\n") if path.suffix == ".jsonl" else [text]:
            json.loads(row.strip() or "0")
    except (ValueError, RecursionError):
        return True
    return False


if __name__ == "__main__":
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    if not fixed.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | fixed)
    asked = {name: os.environ.get(name) or "" for name in ("N", "SEED", "TRIAL")}
    numbers = [int(number) for number in asked["TRIAL"].split(",") if number]
    sys.exit(main(int(asked["N"] or 1000), int(asked["SEED"] or 0), numbers))
