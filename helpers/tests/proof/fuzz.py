"""Break small sets, runs and sources at random under every command: make proof ONLY=fuzz N=5000.

A trial is a command of fuzz_sets.CASES and one thing that goes wrong: a file of what it is given,
broken by an operator of corruptions.OPERATORS, an odd word on the command line, or a fault of the
machine below. The command must neither crash nor hang, and where it refuses, its message names the
file and everything is left as it was. One worker process runs all trials, with 2 GB of memory and
20 s each. The number after a finding repeats it: make proof ONLY=fuzz SEED=7 TRIAL=133,98.
"""

import hashlib
import json
import os
import re
import select
import shutil
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
import fuzz_sets  # noqa: E402

TIMEOUT = 20  # seconds of one trial
NOTEBOOKS = 250  # one trial in so many runs notebooks: a command of fuzz_sets.SLOW
FINE, FAILS = ("clear error", "harmless"), ("crash", "hang", "unclear", "left over")
FAULTS = ("full", "denied", "interrupt", "kill")
ODD_WORDS = ["", " ", "-1", "0", "nan", "1e999", "no-such", "a\nb", "x" * 5_000, "--", "a:b"]
ROOMS = "workbook report labels.audit labels.pooling labels.merge learn.progress sources.export "
ROOMS += "sources.site sql.command"  # imported before the first trial, so that no trial pays
IN_STEPS = ("report", "refresh", "freeze", "sql")  # what came before the step that failed is whole
RAW = re.compile("[\0-\b\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CRASH = re.compile(r"Traceback \(most recent|again with --debug|Warning: .*\n? *warnings\.warn")


class Trial(NamedTuple):
    """What goes wrong under which case: a broken file, a fault or the words that were typed."""

    number: int
    case: str
    what: str
    path: str = ""
    fault: tuple[str, int] | None = None
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
    sorts, began = Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        fuzzer = Fuzzer(Path(folder).resolve(), seed)
        try:
            for number in only or range(1, count + 1):
                trial, kind, outcome = fuzzer.trial(number)
                sorts[kind] += 1
                if only or kind in FAILS:
                    print(shown(trial, kind, outcome), flush=True)
        finally:
            fuzzer.worker.stop()
    seconds, counts = time.monotonic() - began, (f"{sorts[kind]} {kind}" for kind in FINE + FAILS)
    print(f"seed {seed}: {sorts.total()} trials in {seconds:.0f} s: {', '.join(counts)}")
    return int(any(sorts[kind] for kind in FAILS))


def shown(trial: Trial, kind: str, outcome: Outcome | None) -> str:
    """Return a finding: its number, what was broken, how the command ended."""
    line = f"{kind} at {trial.number}: {trial.case} | {trial.what} | {trial.path}"
    if outcome is None:
        return line
    text = outcome.err.strip() or outcome.out
    tail = "\n".join(f"    {line[:200]}" for line in text.splitlines()[-4:])
    changed = ", ".join(changes(outcome))[:300]
    return f"{line}\n    status {outcome.status}, changed: {changed}\n{tail}"


class Fuzzer:
    """Stock, worker and what every command does on files that nobody broke."""

    def __init__(self, folder: Path, seed: int):
        self.stock, self.folder, self.seed = folder / "stock", folder / "trial", seed
        fuzz_sets.make(self.stock)
        self.worker, self.sound = Worker(ROOMS), {}

    def trial(self, number: int) -> tuple[Trial, str, Outcome | None]:
        """Make one trial; return it, its sort and its outcome."""
        rng = Random(f"{self.seed}:{number}")
        quick = [case for case in fuzz_sets.CASES if case not in fuzz_sets.SLOW]
        case = rng.choice(quick if number % NOTEBOOKS else fuzz_sets.SLOW)
        words, sound = fuzz_sets.CASES[case][0], self.sound_one(case)
        self.fresh(case)
        chance = rng.random() if case in quick else 1
        if chance < 0.06 and len(words) > 1 and words[0] != "pieces":
            typed = odd_words(words, rng)
            trial = Trial(number, case, " ".join(typed)[:100], words=typed)
        elif chance < 0.16 or case == "new":
            fault = rng.choice(FAULTS), rng.choice((1, 2, 3, 4, 6, 9, 14))
            trial = Trial(number, case, f"fault: {fault[0]} {fault[1]}", fault=fault)
        else:
            trial = self.broken(number, case, rng)
        outcome = self.run([*(trial.words or words)], trial.fault)
        if outcome and outcome.status is None and trial.fault and trial.fault[0] == "kill":
            outcome = self.run(words)  # the same command again mends what a kill left
        return trial, sort(trial, sound, outcome, self.folder), outcome

    def sound_one(self, case: str) -> Outcome:
        """Return how a case ends on files that nobody broke; it is tried once."""
        if case not in self.sound:
            self.fresh(case)
            outcome = self.run(fuzz_sets.CASES[case][0])
            assert outcome.status in (0, 1, 3) and not outcome.err, (case, outcome)
            self.sound[case] = outcome
        return self.sound[case]

    def fresh(self, case: str) -> None:
        """Lay out what a case needs in an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in fuzz_sets.CASES[case][1]:
            copy = shutil.copytree if (self.stock / name).is_dir() else shutil.copyfile
            copy(self.stock / name, self.folder / name)

    def broken(self, number: int, case: str, rng: Random) -> Trial:
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

    def run(self, words: list[str], fault: tuple[str, int] | None = None) -> Outcome | None:
        """Run a command in the folder; None where it hung."""
        before = state(self.folder)
        notebooks = words[0] in fuzz_sets.SLOW and words[0] not in fuzz_sets.IN_WORKER
        if notebooks:
            ended = by_command_line(self.folder, words)
        else:
            ended = self.worker.ask(self.folder, words, fault)
        if ended is None:
            return None
        silent = {"status": None, "out": "", "err": "", "opened": [], "fired": False}
        return Outcome(**(silent | ended), before=before, after=state(self.folder))


def odd_words(words: list[str], rng: Random) -> tuple[str, ...]:
    """Replace, leave out or double a word after the command's name."""
    place, odd = rng.randrange(1, len(words)), rng.choice(ODD_WORDS)
    middle = rng.choice(([odd], [odd], [], [words[place]] * 2))
    return (*words[:place], *middle, *words[place + 1 :])


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


def sort(trial: Trial, sound: Outcome, outcome: Outcome | None, folder: Path) -> str:
    """Return which of FINE and FAILS an outcome is."""
    if outcome is None:
        return "hang"
    printed, command = outcome.out + outcome.err, trial.case.split()[0]
    if outcome.status is None or CRASH.search(printed):
        return "crash"
    if half_written(outcome, folder):
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
    may_change = command in IN_STEPS or trial.fault and (trial.fault[0] == "kill" or complete)
    if not may_change and [p for p in changes(outcome) if outcome.after.get(p) != "folder"]:
        return "left over"
    return "clear error" if usage or stopped or trial.words or named(trial, outcome) else "unclear"


def named(trial: Trial, outcome: Outcome) -> bool:
    """Return whether a message names a file or folder of the trial."""
    paths = {**outcome.before, **outcome.after, trial.path: ""}
    names = {Path(path).name for path in paths if path} | {*fuzz_sets.CASES[trial.case][1]}
    names |= {"nested too deeply"}  # in whatever file: it happens to nobody
    return any(name in outcome.err for name in names)


def half_written(outcome: Outcome, folder: Path) -> list[str]:
    """Return the files that a command wrote and that no reader of JSON can take."""
    torn, known = [], {*outcome.before.values()}  # a copy of a broken file is as broken as that
    for name in changes(outcome):
        path = folder / name
        if path.suffix not in (".json", ".jsonl") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        rows = text.split("\n") if path.suffix == ".jsonl" else [text]
        try:
            for row in filter(str.strip, rows):
                json.loads(row)
        except (ValueError, RecursionError):
            torn += [] if outcome.after[name] in known else [name]
    return torn


class Worker:
    """The process that runs the commands; a new one comes where it hung or died."""

    def __init__(self, rooms: str = ""):
        self.process, self.rooms = None, rooms.split()

    def ask(self, folder: Path, words: list[str], fault=None) -> dict | None:
        """Return what the worker says of one command, {} where it died, None where it hung."""
        if self.process is None:
            code = [sys.executable, str(Path(__file__).with_name("fuzz_worker.py"))]
            more = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            more["PYTHONDONTWRITEBYTECODE"] = "1"  # a kernel would, beside stand_in.py
            self.process = subprocess.Popen(
                [*code, str(folder), *self.rooms],
                **{"cwd": ROOT, "env": os.environ | more, "text": True, "bufsize": 1},
                **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE},
            )
            self.process.stdout.readline()  # it has imported what it needs
        job = {"folder": str(folder), "words": words, "fault": fault}
        self.process.stdin.write(json.dumps(job) + "\n")
        if not select.select([self.process.stdout], [], [], TIMEOUT)[0]:
            self.stop()
            return None
        line = self.process.stdout.readline()
        if not line:
            self.stop()
        return json.loads(line or "{}")

    def stop(self) -> None:
        """End the process."""
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None


def by_command_line(folder: Path, words: list[str]) -> dict | None:
    """Return what the real command says, None where it hung."""
    command, places = [sys.executable, "-m", "helpers", *words], [str(ROOT), *sys.path[2:]]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=15 * TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return None
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return {"status": done.returncode, "out": out, "err": err}


if __name__ == "__main__":
    asked = {name: os.environ.get(name) or "" for name in ("N", "SEED", "TRIAL")}
    numbers = [int(number) for number in asked["TRIAL"].split(",") if number]
    sys.exit(main(int(asked["N"] or 1000), int(asked["SEED"] or 0), numbers))
