"""Break small sets, runs and sources at random under every command: make proof ONLY=fuzz N=5000.

One worker process runs the commands of all trials, with 2 GB of memory and 20 s a trial; every
twentieth trial calls the real command line. A trial is a command of fuzz_sets.CASES, one file of
what it is given and one operator of corruptions.OPERATORS, an odd word on the command line, or a
fault of the machine below. It ends as one of SORTS; what FAILS and no line of REASONS excuses makes
the exit status 1. The number after a finding repeats it: make proof ONLY=fuzz SEED=7 TRIAL=133,98.
"""

import hashlib
import json
import os
import re
import select
import shutil
import stat
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
import fuzz_worker  # noqa: E402

TIMEOUT = 20  # seconds of one trial; the real command line has to import first
REAL, NOTEBOOKS = 20, 250  # one trial in so many: the real command line, a command of SLOW
SORTS = ("clear error", "harmless", "unclear", "traceback", "silent acceptance", "hang", "partial")
FAILS = SORTS[2:]
ROOMS = "workbook report labels.audit labels.pooling labels.merge learn.progress sources.export "
ROOMS += "sources.site sql.command"
FAULTS = ("full", "denied", "small", "interrupt", "kill")
ODD_WORDS = [
    "",
    " ",
    "-1",
    "0",
    "nan",
    "1e999",
    "no-such",
    "a\nb",
    "\udcff",
    "x" * 5_000,
    "--",
    "a:b",
]
REASONS = {  # pattern over `sort | case | operator: what | file | left`: why it may stay
    r"silent acceptance \| drop.* \| (field|lines|retype|odd text|id changed|twin|number|many)": (
        "drop mends sets that no longer load: it moves rows and asks for no fields"
    ),
    r"silent acceptance \| pieces.* \| node: .*sha256 .*results.json": (
        "the write-up shows what session C wrote; compare and audit hold the hashes against it"
    ),
    r"partial \| .* fault: .*\| (\w+/comparisons|out|learn|site)$": (
        "an empty folder, which the next run fills"
    ),
    r"partial \| sql.* \| (fault: .*|.* \| asked.parquet) \| out(, out/bm25[\w.-]+)+$": (
        "what is there is whole: the next run takes the index and writes run and card"
    ),
    r"silent acceptance \| learn.* \| evals/": (
        "it copies the set as it stands; whoever reads the copy says what is wrong with it"
    ),
    r"unclear \| progress \| fault: small": (
        "Jupyter's own files in the system's temporary folder, of which the error names none"
    ),
    r"partial \| freeze.* fault: .*\| (bare|graded)/negatives.jsonl$": (
        "the negatives are whole; the next freeze draws them again and comes to the manifest"
    ),
    r"silent acceptance \| freeze.* \| graded/negatives.jsonl": (
        "freeze draws the negatives anew and reads nothing of the old ones"
    ),
    r"silent acceptance \| import hotpotqa .*line separator": (
        "blank space of any kind may stand before an array"
    ),
    r"unclear \| (audit|freeze|pieces).* \| many: ": (
        "60,000 copies of a text have two billion pairs of twins: it says that memory ended"
    ),
    r"partial \| (report|refresh) (?!.*(half-written|\.part))": (
        "what the sessions before the one that failed have written is whole"
    ),
    r"unclear \| pieces \| node: .* \| graded/results.json": (
        "report makes results.json anew before anything shows it; compare reads its hashes alone"
    ),
    r"silent acceptance \| report .* graded/(runs/|results)": "report makes runs and results anew",
    r"silent acceptance \| report .* graded/(negatives|pool|second_pass)": "the audit reads these",
    r"silent acceptance \| import .* (retype: _?id of .* None|field: _?id (renamed|missing))": (
        "null is no id, and a question without one is known by its number"
    ),
    r"(hang|unclear) \| (learn|progress|site).* \| whole: deep": (
        "no notebook or page of the workbook nests 100,000 brackets"
    ),
    r"partial \| learn.* \| fault: kill .*\| learn\.\w+\.part": (
        "the folder of a run that was killed: it is in nobody's way, and git ignores it"
    ),
    r"partial \| sql kept \| replaced: by dangling link": "DuckDB makes the file that it leads to",
    r"silent acceptance .*/settings.json": "an empty settings.json says nothing, as a missing one",
}
VOUCHED = r"(graded|bare|table)/(corpus/.+\.md|(?!labelling)[a-z_]+\.jsonl|settings\.json)$"
RAW = re.compile("[\0-\b\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CRASH = re.compile(r"Traceback \(most recent|again with --debug|Warning: .*\n? *warnings\.warn")
SAID = re.compile(
    r"left out|changed:|[Ww]arning|differs?\b|is missing|not in the manifest|skipped|cannot|wanted"
)


class Trial(NamedTuple):
    """One broken input: what did it, in which file, and whether it must be refused."""

    number: int
    case: str
    operator: str
    what: str
    path: str
    refuse: bool
    fault: tuple[str, int] | None = None
    words: tuple[str, ...] = ()  # what was typed in place of the case's own words

    @property
    def line(self) -> str:
        """The trial in words, over which REASONS are matched."""
        return f"{self.case} | {self.operator}: {self.what} | {self.path}"


class Outcome(NamedTuple):
    """How a command ended, the states of all files before and after, and what it opened."""

    status: int | None
    out: str
    err: str
    opened: list[str]
    before: dict[str, str]
    after: dict[str, str]
    fired: bool = False
    written: list[str] = []
    left: tuple[str, ...] = ()  # what it should not have made, changed or left half-written


def state(folder: Path) -> dict[str, str]:
    """Return {path: hash, or what it is} of everything below a folder, locks left out."""
    found = {}
    for here, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = Path(here, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                kind = hashlib.sha256(path.read_bytes()).hexdigest()
            else:
                kind = os.readlink(path) if stat.S_ISLNK(mode) else str(stat.S_IFMT(mode))
            if path.suffix != ".lock":
                found[path.relative_to(folder).as_posix()] = kind
    return found


class Worker:
    """The process that runs the commands; a new one comes where it hung or died.

    `rooms` are what it imports before its first trial, so that no trial pays for it.
    """

    def __init__(self, rooms: str = ""):
        self.process, self.rooms = None, rooms.split()

    def ask(self, folder: Path, words: list[str], fault=None) -> dict | None:
        """Return what the worker says of one command, {} where it died, None where it hung."""
        if self.process is None:
            code = [sys.executable, str(Path(__file__).with_name("fuzz_worker.py"))]
            code += [str(folder), *self.rooms]
            more = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            more["PYTHONDONTWRITEBYTECODE"] = "1"  # a kernel would, beside stand_in.py
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen(
                code, cwd=ROOT, env=os.environ | more, text=True, bufsize=1, **pipes
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
    command = [sys.executable, "-m", "helpers", *words]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[2:]])},
            capture_output=True,
            timeout=15 * TIMEOUT if words[0] in fuzz_sets.SLOW else 3 * TIMEOUT,
            preexec_fn=None if words[0] in fuzz_sets.SLOW else fuzz_worker.limit,
        )
    except subprocess.TimeoutExpired:
        return None
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return {"status": done.returncode, "out": out, "err": err}


class Fuzzer:
    """Stock, worker and what every command does on files that nobody broke."""

    def __init__(self, folder: Path, seed: int):
        self.stock, self.folder, self.seed = folder / "stock", folder / "trial", seed
        fuzz_sets.make(self.stock)
        self.worker, self.sound = Worker(ROOMS), {}

    def sound_one(self, case: str) -> Outcome:
        """Return how a case ends on files that nobody broke; it is tried once."""
        if case not in self.sound:
            self.fresh(case)
            got = self.run(fuzz_sets.CASES[case][0])
            assert got.status in (0, 1, 3) and not got.err, (case, got.status, got.err)
            self.sound[case] = got._replace(opened=got.opened or self.sound_one("audit").opened)
        return self.sound[case]

    def fresh(self, case: str) -> None:
        """Lay out what a case needs in an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in fuzz_sets.CASES[case][1]:
            there = self.stock / name
            copy = shutil.copytree if there.is_dir() else shutil.copyfile
            copy(there, self.folder / name)

    def run(self, words: list[str], fault=None, real: bool = False) -> Outcome | None:
        """Run a command in the folder; None where it hung."""
        before = state(self.folder)
        if words[0] not in fuzz_sets.IN_WORKER and (real or words[0] in fuzz_sets.SLOW):
            said = by_command_line(self.folder, words)
        else:
            said = self.worker.ask(self.folder, words, fault)
        if said is None:
            return None
        found = {"status": None, "out": "", "err": "", "opened": [], **said}
        return Outcome(**found, before=before, after=state(self.folder))

    def trial(self, number: int) -> tuple[Trial, str, Outcome | None]:
        """Make one trial; return it, its sort and its outcome."""
        rng = Random(f"{self.seed}:{number}")
        quick = [case for case in fuzz_sets.CASES if case not in fuzz_sets.SLOW]
        case = rng.choice(quick if number % NOTEBOOKS else fuzz_sets.SLOW)
        words, sound = fuzz_sets.CASES[case][0], self.sound_one(case)
        self.fresh(case)
        chance = rng.random() if case in quick else 1
        if chance < 0.06 and len(words) > 1:
            trial = odd_words(number, case, rng)
        elif chance < 0.16 or case == "new":
            trial = self.faulty(number, case, rng)
        else:
            trial = self.broken(number, case, rng)
        real = number % REAL == 0 and not trial.fault
        got = self.run([*(trial.words or words)], trial.fault, real)
        if got and got.status is None and trial.what.startswith("kill"):
            return trial, *self.after_kill(words, sound, got)
        expected = got if trial.words else sound  # other words may write elsewhere
        got = got and got._replace(left=left_over(got, expected, self.folder))
        return trial, sort(trial, sound, got), got

    def broken(self, number: int, case: str, rng: Random) -> Trial:
        """Break one file, mostly one that the command opens."""
        files = sorted(p for p, kind in self.sound[case].before.items() if len(kind) == 64)
        unseen = (".parquet", ".duckdb") if case.startswith("sql") else ()  # DuckDB opens them
        opened = [p for p in files if p in self.sound[case].opened or p.endswith(unseen)]
        while True:
            path = rng.choice(opened if opened and rng.random() < 0.8 else files)
            name = rng.choice(list(corruptions.OPERATORS))
            done = corruptions.OPERATORS[name](rng, self.folder / path)
            if done:
                vouched = case.split()[0] in ("audit", "freeze") and re.match(VOUCHED, path)
                read = path in opened or bool(vouched)
                return Trial(number, case, name, done[0], path, bool(done[1]) and read)

    def faulty(self, number: int, case: str, rng: Random) -> Trial:
        """Choose a fault of the machine: the disk, its permissions, a signal."""
        kind, at = rng.choice(FAULTS), rng.choice((1, 2, 3, 4, 6, 9, 14))
        at = rng.choice((0, 10, 300)) if kind == "small" else at
        return Trial(number, case, "fault", f"{kind} {at}", "", True, (kind, at))

    def after_kill(self, words: list[str], sound: Outcome, got: Outcome) -> tuple[str, Outcome]:
        """Sort a command that was killed, after running it again: all whole, nothing left over."""
        torn = [
            f"{p} half-written"
            for p, kind in got.before.items()
            if got.after.get(p) not in (kind, sound.after.get(p))
        ]
        again = self.run(words)
        if again is None:
            return "hang", got
        left = [p for p in again.after if p not in sound.after and p not in got.before]
        again = again._replace(left=(*torn, *left), before=got.before)
        if CRASH.search(again.out + again.err):
            return "traceback", again
        return "partial" if again.left else "harmless", again


def odd_words(number: int, case: str, rng: Random) -> Trial:
    """Replace, leave out or double a word after the command's name."""
    words = [*fuzz_sets.CASES[case][0]]
    at, odd = rng.randrange(1, len(words)), rng.choice(ODD_WORDS)
    words[at : at + 1] = rng.choice(([odd], [odd], [], [words[at]] * 2))
    return Trial(number, case, "words", " ".join(words)[:100], "", False, words=(*words,))


def sort(trial: Trial, sound: Outcome, got: Outcome | None) -> str:
    """Return which of SORTS an outcome is, beside that of the same command on sound files."""
    if got is None:
        return "hang"
    said = got.out + got.err
    if got.status is None or CRASH.search(said):
        return "traceback"
    words = fuzz_sets.CASES[trial.case][0]
    refused = bool(got.err.strip()) and got.status == (2 if words[0] == "compare" else 1)
    if trial.words and (refused or (got.status == 2 and " error: " in got.err)):  # of argparse
        return "partial" if got.left else "clear error"
    if got.left:
        return "partial"
    if trial.fault and not got.fired:
        return "harmless"
    if trial.fault and trial.fault[0] == "interrupt":
        return "clear error" if got.err.strip() and got.status in (1, 2, 130) else "unclear"
    fine = {"audit": (0, 1), "check": (0, 1), "compare": (0, 1, 3)}.get(words[0], (0,))
    if RAW.search(said) or not (refused or (got.status in fine and not got.err.strip())):
        return "unclear"
    if refused:
        return "clear error" if named(trial, got) else "unclear"
    if not trial.refuse:
        return "harmless"
    new = {*got.out.splitlines()} - {*sound.out.splitlines()}
    told = any(SAID.search(line) or Path(trial.path).name in line for line in new)
    return "clear error" if told else "silent acceptance"


def named(trial: Trial, got: Outcome) -> bool:
    """Return whether a message names a file of the trial, or what its path holds."""
    names = {Path(path).name for path in (*got.before, *got.after, trial.path) if path}
    names |= {"trial/"} if trial.fault else {"corpus"}  # a full disk may stop a nameless part
    names |= {*fuzz_sets.CASES[trial.case][1]} if trial.operator == "replaced" else set()
    return any(name in got.err for name in names)


def left_over(got: Outcome, sound: Outcome, folder: Path) -> tuple[str, ...]:
    """Return what a command made or changed and should not have, or left half-written."""
    made = [p for p in got.after if p not in got.before]
    changed = [p for p in got.before if got.after.get(p) != got.before[p]]
    if got.status and (got.fired or got.err.strip()):
        done = got.after.keys() == sound.after.keys()  # an interrupt may come when all is done
        return () if done and got.status == 130 else (*made, *changed)
    own = {*sound.written, *(p for p in sound.after if sound.before.get(p) != sound.after[p])}
    own |= sound.before.keys() - sound.after.keys()
    own |= {p for p in changed if p.endswith(".part")}  # left by a killed run, cleared by this one
    inside = tuple(f"{p}/" for p in sound.written)  # of a folder that is replaced as a whole
    strange = [p for p in made + changed if p not in own and not p.startswith(inside)]
    kinds = {*got.before.values()}  # a copy of a broken file is as broken as that
    files = [p for p in made if (folder / p).is_file() and got.after[p] not in kinds]
    files = [p for p in files if (folder / p).stat().st_size]
    return (*strange, *(f"{p} half-written" for p in files if corruptions.broken(folder / p)))


def excuse(kind: str, trial: Trial, got: Outcome | None) -> str:
    """Return the reason why an outcome may stay as it is, "" where there is none."""
    line = f"{kind} | {trial.line} | {', '.join(got.left) if got else ''}"
    return next((why for pattern, why in REASONS.items() if re.search(pattern, line)), "")


def shown(trial: Trial, kind: str, got: Outcome | None) -> str:
    """Return a finding: number, what was broken, how the command ended."""
    text = (got.err.strip() or got.out) if got else "no answer"
    tail = "\n".join(f"    {line[:200]}" for line in text.splitlines()[-4:])
    ended = f"status {got.status} {', '.join(got.left)[:300]}" if got else "-"
    return f"{kind} at {trial.number}: {trial.line}\n    {ended}\n{tail}"


def main(count: int, seed: int, only: list[int]) -> int:
    """Make the trials, print findings, counts and rate; return 1 where one has no reason."""
    sorts, excused, failed, start = Counter(), Counter(), 0, time.time()
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        fuzzer = Fuzzer(Path(folder).resolve(), seed)
        try:
            for done, number in enumerate(only or range(1, count + 1), 1):
                trial, kind, got = fuzzer.trial(number)
                sorts[kind] += 1
                why = excuse(kind, trial, got) if kind in FAILS else ""
                excused[why] += bool(why)
                if kind in FAILS and not why:
                    failed += 1
                if only or (kind in FAILS and not why):
                    print(shown(trial, kind, got), flush=True)
                if done % 500 == 0:
                    print(summary(done, time.time() - start, sorts, seed), flush=True)
        finally:
            fuzzer.worker.stop()
    print(summary(sum(sorts.values()), time.time() - start, sorts, seed))
    for why, many in excused.most_common():
        print(f"  excused {many}: {why}" if many else "", end="\n" if many else "")
    print(f"{failed} without a reason" if failed else "every finding has its reason")
    return bool(failed)


def summary(done: int, seconds: float, sorts: Counter, seed: int) -> str:
    """Return the counts of all sorts and the rate."""
    counts = ", ".join(f"{sorts[kind]} {kind}" for kind in SORTS)
    return (
        f"seed {seed}: {done} trials in {seconds:.0f} s ({done / seconds:.1f} a second): {counts}"
    )


if __name__ == "__main__":
    asked = {name: os.environ.get(name) or "" for name in ("N", "SEED", "TRIAL")}
    numbers = [int(number) for number in asked["TRIAL"].split(",") if number]
    sys.exit(main(int(asked["N"] or 1000), int(asked["SEED"] or 0), numbers))
