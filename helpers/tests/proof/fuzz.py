"""Break small sets, runs and sources at random under every command: make proof ONLY=fuzz N=5000.

A trial is a command of fuzz_sets.CASES and one thing that goes wrong: a file of what it is given,
broken by an operator of corruptions.OPERATORS, an odd word on the command line, or a fault of the
machine. The command must neither crash nor hang, and where it refuses, its message names the file
and everything is left as it was. Each runs in a fork with 2 GB of memory and 20 s. The number after
a finding repeats it: make proof ONLY=fuzz SEED=7 TRIAL=133,98.
"""

import errno
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
FAULTS, KILLED = ("full", "denied", "interrupt", "kill"), 137
ODD_WORDS = ["", " ", "-1", "0", "nan", "1e999", "no-such", "a\nb", "x" * 5_000, "--", "a:b"]
ROOMS = "__main__ workbook report labels.audit labels.pooling labels.merge learn.progress "
ROOMS += "sources.export sql.command"  # imported once, so that no trial pays
IN_STEPS = ("report", "baseline", "refresh", "freeze", "sql")  # steps before the one that failed
RAW = re.compile("[\0-\b\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CRASH = re.compile(r"Traceback \(most recent|Warning: .*\n? *warnings\.warn")


class Trial(NamedTuple):
    """What goes wrong under which case: a broken file, a fault or the words that were typed."""

    number: int
    case: str
    what: str
    path: str = ""
    fault: tuple[str, int] = ("", 0)
    words: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """How a command ended, what it opened, and the states of all files before and after."""

    status: int | None
    out: str
    err: str
    opened: list[str]
    fired: bool
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
                text = outcome.err.strip() or outcome.out
                print(f"{kind} at {number}: {trial.case} | {trial.what} | {trial.path}")
                print(f"    status {outcome.status}, changed: {', '.join(changes(outcome))[:300]}")
                print(*(f"    {line[:200]}" for line in text.splitlines()[-4:]), sep="\n")
                sys.stdout.flush()
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in FINE + FAILS)
    print(f"seed {seed}: {kinds.total()} trials in {time.monotonic() - began:.0f} s: {counts}")
    return int(any(kinds[kind] for kind in FAILS))


class Fuzzer:
    """Stock, trial's folder and what every command does on files that nobody broke."""

    def __init__(self, folder: Path, seed: int):
        from helpers import evalset

        self.stock, self.folder, self.seed = folder / "stock", folder / "trial", seed
        # a command that works on the workbook itself finds a small one in the trial's folder
        evalset.DEFAULT = self.folder / "evals"
        for name in ROOMS.split():
            importlib.import_module(f"helpers.{name}")
        self.sets = importlib.import_module("fuzz_sets")
        self.sets.make(self.stock)
        self.sound: dict[str, Outcome] = {}

    def trial(self, number: int) -> tuple[Trial, str, Outcome]:
        """Make one trial; return it, its kind and its outcome."""
        rng = Random(f"{self.seed}:{number}")
        slow = self.sets.SLOW if number % NOTEBOOKS == 0 else ()
        case = rng.choice(slow or [name for name in self.sets.CASES if name not in self.sets.SLOW])
        words = self.sets.CASES[case][0]
        if case not in self.sound:
            self.sets.lay_out(case, self.stock, self.folder)
            self.sound[case] = self.run(words)
            assert self.sound[case].status in (0, 1, 3), (case, self.sound[case])
        self.sets.lay_out(case, self.stock, self.folder)
        chance = 1 if slow else rng.random()
        if chance < 0.06 and len(words) > 1 and words[0] != "pieces":
            typed = odd_words(words, rng)
            trial = Trial(number, case, " ".join(typed)[:100], words=typed)
        elif chance < 0.16 or case == "new":
            fault = rng.choice(FAULTS), rng.choice((1, 2, 3, 4, 6, 9, 14))
            trial = Trial(number, case, "fault: {} {}".format(*fault), fault=fault)
        else:
            trial = self.break_file(number, case, rng)
        outcome = self.run(trial.words or words, trial.fault)
        if outcome.status == KILLED:
            outcome = self.run(words)  # the same command again mends what a kill left
        names = {Path(path).name for path in (*outcome.before, *outcome.after, trial.path) if path}
        names |= {*self.sets.CASES[case][1]}
        return trial, verdict(trial, self.sound[case], outcome, self.folder, names), outcome

    def break_file(self, number: int, case: str, rng: Random) -> Trial:
        """Break one file, mostly one that the command opens."""
        sound = self.sound[case]
        files = sorted(path for path in sound.before if (self.folder / path).is_file())
        # DuckDB's own code opens what no audit hook sees
        opened = [p for p in files if p in sound.opened or p.endswith((".parquet", ".duckdb"))]
        while True:
            path = rng.choice(opened if opened and rng.random() < 0.8 else files)
            name = rng.choice(list(corruptions.OPERATORS))
            if (self.folder / path).stat().st_size:
                what = corruptions.OPERATORS[name](rng, self.folder / path)
                if what:
                    return Trial(number, case, f"{name}: {what}", path)

    def run(self, words: list[str], fault: tuple[str, int] = ("", 0)) -> Outcome:
        """Run a command in the folder; what reads the real notebooks by the real command line."""
        before, notes = state(self.folder), self.folder.parent / "notes.json"
        notes.write_text("[[], false]")
        if words[0] in ("report", "check"):
            command = [sys.executable, "-m", "helpers", *words]
            more = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
            job = lambda: subprocess.call(command, env=os.environ | more)  # noqa: E731
            ended = forks.run(job, self.folder, 15 * TIMEOUT)
        else:
            ended = forks.run(lambda: run_here(words, fault, notes), self.folder, TIMEOUT)
        opened, fired = json.loads(notes.read_text())
        return Outcome(*ended, opened, fired, before, state(self.folder))


def odd_words(words: list[str], rng: Random) -> tuple[str, ...]:
    """Replace, leave out or double a word after the command's name."""
    place, odd = rng.randrange(1, len(words)), rng.choice(ODD_WORDS)
    middle = rng.choice(([odd], [odd], [], [words[place]] * 2))
    return (*words[:place], *middle, *words[place + 1 :])


# In the fork.


def run_here(words: list[str], fault: tuple[str, int], notes: Path) -> int:
    """Run a command in this process, watched; return its status."""
    from helpers import __main__

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    sys.dont_write_bytecode = True
    watch = Watch(Path.cwd(), *fault)
    sys.argv = ["helpers", *words]
    sys.addaudithook(watch)
    try:
        return read_pieces(Path(words[1])) if words[0] == "pieces" else __main__.main()
    finally:
        watch.folder = "\0"
        notes.write_text(json.dumps([[*watch.opened], watch.fired]))


class Watch:
    """An audit hook: notes what a command opens below its folder, and plays a fault of the machine.

    A full disk, a read-only folder, an interrupt or a kill come at a chosen change of files.
    """

    CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"}
    WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def __init__(self, folder: Path, kind: str, at: int):
        self.folder, self.kind, self.left = f"{folder}{os.sep}", kind, at
        self.opened, self.fired, self.first = {}, False, at == 1

    def __call__(self, event: str, args: tuple) -> None:
        if event != "open" and event not in self.CHANGES:
            return
        path = os.fsdecode(args[0]) if isinstance(args[0], str | bytes) else ""
        path = os.path.abspath(path)
        if not path.startswith(self.folder):
            return
        if event == "open" and not (args[2] or 0) & self.WRITES:
            self.opened[path.removeprefix(self.folder)] = None
        elif not path.endswith(".lock"):
            self.left -= 1
            if self.kind and self.left <= 0:
                self.fail(path, event in ("open", "os.mkdir") and not os.path.isdir(path))

    def fail(self, path: str, takes_room: bool) -> None:
        """Do what the kind of fault is at a change of files."""
        if self.kind == "kill":
            os._exit(KILLED)
        if self.kind == "interrupt" and not self.fired:
            self.fired = True
            raise KeyboardInterrupt
        if self.kind == "full" and takes_room:
            self.fired = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        if self.kind == "denied" and self.first:
            self.fired = True
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def read_pieces(folder: Path) -> int:
    """Read what sessions and panel read in a set; 1 where one of them says what is wrong."""
    from helpers import evalset, report, results, text
    from helpers.labels import log, merge

    try:
        evals = evalset.load(folder)
        print(
            report.data_card_table(evals), evals.name, evals.next_step(), results.read_notes(folder)
        )
        for table in ("pool.jsonl", "second_pass.jsonl", "negatives.jsonl"):
            print(len(evalset.read_extra(evals, table)))
        print(log.entries(evals), merge.pairs_to_judge(evals))
        if os.path.lexists(folder / "results.json"):
            print(report.summary(results.read_results(folder)))
            print(results.published_values(folder).keys())
        print(merge.merge(evals))
    except (evalset.EvalSetError, ValueError, OSError, KeyboardInterrupt) as error:
        if type(error) in (UnicodeDecodeError, json.JSONDecodeError):
            raise
        print(text.visible(str(error)) or "interrupted", file=sys.stderr)
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


def verdict(trial: Trial, sound: Outcome, outcome: Outcome, folder: Path, names: set[str]) -> str:
    """Return which of FINE and FAILS an outcome is; a message must hold one of the names."""
    printed, command = outcome.out + outcome.err, trial.case.split()[0]
    if outcome.status is None:
        return "hang"
    if outcome.status < 0 or outcome.status == forks.FAILED or CRASH.search(printed):
        return "crash"
    if any(
        is_torn(folder / p) and outcome.after[p] not in outcome.before.values()  # no copy of it
        for p in changes(outcome)
    ):
        return "left over"
    refused = bool(outcome.err.strip()) and outcome.status == (2 if command == "compare" else 1)
    usage = bool(trial.words) and outcome.status == 2 and " error: " in outcome.err
    stopped = outcome.fired and outcome.status in (1, 2, 130)
    fine = {"audit": (0, 1), "check": (0, 1), "compare": (0, 1, 3)}.get(command, (0,))
    warned = "MissingIDFieldWarning" in outcome.err  # nbformat's, of a notebook that was cut
    done = outcome.status in fine and (warned or not outcome.err.strip())
    if RAW.search(printed) or not (refused or usage or stopped or done):
        return "unclear"
    if done:
        return "harmless"
    complete = outcome.after.keys() == sound.after.keys()  # an interrupt when all was done
    may_change = command in IN_STEPS or trial.fault[0] and (trial.fault[0] == "kill" or complete)
    if not may_change and [p for p in changes(outcome) if outcome.after.get(p) != "folder"]:
        return "left over"
    names = names | {"nested too deeply"}  # in whatever file: it happens to nobody
    named = any(name in outcome.err for name in names)
    return "clear error" if usage or stopped or trial.words or named else "unclear"


def is_torn(path: Path) -> bool:
    """Return whether a file of JSON or JSON lines cannot be read as that."""
    if path.suffix not in (".json", ".jsonl") or not path.is_file():
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        for row in text.split("\n") if path.suffix == ".jsonl" else [text]:
            if row.strip():
                json.loads(row)
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
