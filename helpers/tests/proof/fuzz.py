"""Break one thing at random under a command that reads people's files: make proof ONLY=fuzz N=2000.

A trial breaks a file of a small set, a run, a source or a learner's copy, puts an odd word on the
command line, or a folder, link or device where it names a path. The command must neither crash nor
hang, and changes nothing but what it names; where it refuses, it names a file and changes none. The
number of a finding repeats it: make proof ONLY=fuzz SEED=7 TRIAL=133,98.
"""

import contextlib
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

sys.path[:0] = [str(path) for path in Path(__file__).resolve().parents[1:4:2]]  # tests, all

from conftest import write_rows  # noqa: E402
from label.importing import put  # noqa: E402
from teach import small_session  # noqa: E402

from helpers import __main__ as commands  # noqa: E402
from helpers.teach import progress, record  # noqa: E402

LIMIT = 20  # seconds of a trial
FINE, FAILS = ("harmless", "refused"), ("crash", "hang", "unclear", "left over", "strayed")
DONE, REFUSED = {"audit": (0, 1), "compare": (0, 1, 3)}, {"compare": 2}  # else 0, else 1
CASES = [  # (words of a command, what it reads: a file of this is broken)
    ("audit --evals set", "set"),
    ("freeze --evals set", "set"),
    ("baseline --evals set", "set"),
    ("plan --evals set", "set"),
    ("merge --evals set", "set"),
    ("export --evals set --to new", "set"),
    ("drop q3 --evals set", "set"),
    ("carry --evals set --from later --to new", "set later"),
    ("compare run.jsonl --evals set --junit gate.xml", "run.jsonl set"),
    ("compare set/systems/other.trec --base run.jsonl --evals set --to new", "set run.jsonl"),
    ("sql --evals set --to new", "set"),
    ("import --from beir:out/beir --to new", "out/beir"),
    ("import --from markdown:set/corpus --to new", "set/corpus"),
    ("import --from hotpotqa:hotpot.json --to new", "hotpot.json"),
    ("progress", "learn"),
    ("new --to new", ""),
    ("card run.jsonl --evals set", "run.jsonl set"),
]
INTO_SET = ("freeze", "baseline", "plan", "merge", "drop", "compare")  # they write into --evals
NAMES_PATH = ("--to", "--from", "--evals", "--junit", "--base", "compare", "card")  # then one
PLACES = dict.fromkeys((".", "set", "kept", "kept/page.txt"), "")  # that word may be one of these
PLACES |= {"to_set": "set", "to_kept": "kept", "to_nothing": "nothing"}  # a link: where it leads
PLACES |= {"to_page.txt": "kept/page.txt", "to_null": os.devnull}
commands.COMMANDS["merge"] = commands.Command(
    commands.SET, "label.panel:merge_log", "what the panel does"
)
PAIR = {"query_id": "q1", "doc_id": "mail-queue-review"}
TABLES = {  # of a set, beside those that the commands write
    "second_pass": {"round": 1, "first": 0, "second": 0, "final": 0, "reason": ""},
    "pool": {"rankers": ["bm25", "hand"], "first": 0},
    "judge": {"model": "m", "prompt_sha256": "0" * 64, "relevance": 0},
    "labelling": {"relevance": 0, "time": "2026-11-23T10:00:00+00:00"},
}
HOW = ("missing", "a folder", "empty", "cut", "bytes", "dropped", "doubled", "halved")
HOW += ("value", "word") * 4
ODD = [None, True, 5, -1, 1.5, 10**400, float("nan"), "", " ", "text", "..", "a/b", "a,b", [], {}]
ODD += [[1], [["a"]], {"a": 1}, "a\0b", "a\x1b[31mb", "a\u202eb", "a\u200bb", "a\ud800b", "1e999"]
ODD += ["x" * 5_000, "9" * 5_000, "[" * 100_000]
ODD_WORDS = ["", "-1", "0", "nan", "1e999", "no-such", "a\nb", "x" * 5_000, "--", "a:b", ".."]


def other_place(rng: Random, words: list[str]) -> str:
    """Put one of PLACES where the words name a path; return the name of what it leads to."""
    places = [n for n, option in enumerate(words[:-1], 1) if option in NAMES_PATH]
    n, place = rng.choice(places), rng.choice([*PLACES])
    kind, colon, _ = words[n].rpartition(":")
    words[n] = kind + colon + place
    return Path(PLACES[place] or place).name


def break_file(rng: Random, path: Path) -> str:
    """Break what a file holds, take it away or put a folder in its place; return how."""
    data, how, odd = path.read_bytes(), rng.choice(HOW), rng.choice(ODD)
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how != "missing":
        path.write_bytes(broken(rng, data, how, path.suffix, odd))
    return f"{how} ({str(odd)[:12]!r})" if how in ("value", "word") else how


def broken(rng: Random, data: bytes, how: str, suffix: str, odd: object) -> bytes:
    """Return what a file holds, broken somewhere: one of HOW."""
    if how in ("empty", "cut", "bytes"):
        at = rng.randrange(len(data)) if how != "empty" else 0
        return data[:at] + (b"\xe9" + data[at:] if how == "bytes" else b"")
    lines = [data] if suffix in (".json", ".ipynb") else data.splitlines(keepends=True)
    n = rng.randrange(len(lines))
    if how in ("dropped", "doubled", "halved"):
        half = lines[n][: len(lines[n]) // 2] + b"\n"
        middle = {"dropped": [], "doubled": [lines[n]] * 2, "halved": [half]}[how]
    else:
        is_value = how == "value" and suffix in (".json", ".ipynb", ".jsonl")
        line = (other_value if is_value else other_word)(rng, lines[n].decode(), odd)
        middle = [line.encode("utf-8", "surrogatepass")]
    return b"".join([*lines[:n], *middle, *lines[n + 1 :]])


def other_value(rng: Random, line: str, odd: object) -> str:
    """Return JSON in which a value, however deep, is another or is gone."""
    row = json.loads(line)
    tree, key = rng.choice(places(row))
    tree[key] = odd
    if rng.random() < 0.2:
        del tree[key]
    return json.dumps(row) + "\n"


def places(tree: object) -> list[tuple]:
    """Return every (object or list, key) of JSON."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return [(tree, key) for key in keys] + [found for key in keys for found in places(tree[key])]


def other_word(rng: Random, line: str, odd: object) -> str:
    word = rng.choice([*re.finditer(r"[^\s,:]+|$", line)])
    odd = odd if isinstance(odd, str) else json.dumps(odd)
    return line[: word.start()] + odd + line[word.end() :]


def make_stock(folder: Path) -> None:
    """Write a set with every kind of file, runs, sources and a learner's copies."""
    run("new --to set", folder)
    run("baseline --evals set", folder)
    evals = folder / "set"
    put(evals / "systems" / "other.trec", (evals / "runs" / "fixed.trec").read_bytes())
    rows = [{"query_id": f"q{n}", "results": [[PAIR["doc_id"], 1.5]]} for n in (1, 2, 3)]
    write_rows(folder / "run.jsonl", *rows)
    for name, row in TABLES.items():
        write_rows(evals / f"{name}.jsonl", PAIR | row)
    put(evals / "settings.json", '{"confirmed": {"other": "2026-11-23"}}\n')
    put(evals / "notes.md", "## q1\nThe word *queue* is everywhere.\n")
    run("freeze --evals set", folder)
    run("export --evals set --to out", folder)
    shutil.copytree(evals, folder / "later")
    page = folder / "later" / "corpus" / "mail-queue-stuck.md"
    page.write_text(page.read_text(encoding="utf-8").replace("senders", "workers"))
    film = {"_id": "5a", "question": "Which?", "answer": "yes", "type": "comparison"}
    film |= {"context": [["A (film)", ["One.", " Two."]]], "supporting_facts": [["A (film)", 1]]}
    put(folder / "hotpot.json", json.dumps([film], indent=1))
    put(folder / "kept" / "page.txt", "A page.\n")
    for name in filter(PLACES.get, PLACES):
        (folder / name).symlink_to(PLACES[name])
    for name in ("session_a.ipynb", "session_b.ipynb"):
        for room in ("notebooks", "learn"):
            small_session.write(folder, small_session.session()[:6], name, room)
    ran = {"check": "longest", "cell": "0" * 16, "result": "passed", "words": ""}
    write_rows(folder / "learn" / record.RECORD, ran)


def run(words: str, folder: Path) -> tuple[int, str, str]:
    """Run a command in a folder; return its status, 130 if it had no end, and what it printed."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    os.chdir(folder)
    sys.argv = ["helpers", *words.split(" ")]
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(LIMIT)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = commands.main()
    except SystemExit as ended:
        status = ended.code
    signal.alarm(0)
    return status, *(stream.buffer.getvalue().decode() for stream in (out, err))


def contents(folder: Path) -> dict[Path, object]:
    """Return {path: bytes, or where a link leads} of all below a folder, locks left out."""
    paths = (path for path in folder.rglob("*") if path.suffix != ".lock")
    return {p: os.readlink(p) if p.is_symlink() else p.is_file() and p.read_bytes() for p in paths}


def strayed(words: list[str], changed: set[Path], before: dict, folder: Path) -> set[Path]:
    """Return what a command changed and did not name; into --to it may only add."""
    named = dict(zip(words, words[1:], strict=False))
    to = (folder / named.get("--to", "none")).resolve()
    evals = (folder / named.get("--evals", "set")).resolve()
    card = (folder / named.get("card", "none")).with_suffix(".json")
    stray = changed - {folder / named.get("--junit", "none"), card}
    if words[0] in INTO_SET:
        stray = {path for path in stray if not path.is_relative_to(evals)}
    return {path for path in stray if path in before or not path.is_relative_to(to)}


def verdict(command: str, status: int, err: str, has_changed: bool, names: set[str]) -> str:
    """Return which of FINE and FAILS an end is; a refusal must hold one of the names, if any."""
    if status == 130:
        return "hang"
    if "Traceback (most recent" in err or "Warning: " in err:
        return "crash"
    if status in DONE.get(command, (0,)) and not err:
        return "harmless"
    by_argparse = status == 2 and " error: " in err and not names
    if not by_argparse and (not err or status != REFUSED.get(command, 1)):
        return "unclear"
    if has_changed:
        return "left over"
    return "unclear" if names and not any(name in err for name in names) else "refused"


def trial(number: int, seed: int, stock: Path, folder: Path) -> tuple[str, str]:
    """Make a trial, of a negative number a case as it is; return its verdict, and what was told."""
    rng, names, what = Random(f"{seed}:{number}"), set(), "as it is"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(stock, folder, symlinks=True)
    words, read = (text.split() for text in (rng.choice(CASES) if number > 0 else CASES[number]))
    n, odd, share = rng.randrange(len(words)), rng.choice(ODD_WORDS), rng.random()
    if number > 0 and n and share < 0.1:
        words[n : n + 1] = rng.choice(([odd], [odd], [], [words[n]] * 2))
    elif number > 0 and (share < 0.4 or not read) and {*NAMES_PATH} & {*words}:
        names = {other_place(rng, words)}
    elif number > 0:
        below = [path for name in read for path in (folder / name, *(folder / name).rglob("*"))]
        files = sorted(filter(Path.is_file, below))
        path, names = rng.choice(files), {path.name for path in files}
        called = [Path(name).stem for name in read]  # as a report names a run or a set
        names |= {f"{name}{told}" for name in called for told in (": ", " has no baseline yet")}
        what = f"{path.relative_to(folder)}: {break_file(rng, path)}"
    before = contents(folder)
    status, out, err = run(" ".join(words), folder)
    after = contents(folder)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    kind = verdict(words[0], status, err, any(p.suffix != ".xml" for p in changed), names)
    if kind in FINE and strayed(words, changed, before, folder):
        kind = "strayed"
    told = {str(path.relative_to(folder)) for path in changed} or "nothing"
    head = f"{kind} at {number}: {' '.join(words)[:150]} | {what}, changed: {told}"
    return kind, "\n    ".join([head, *(line[:300] for line in (err or out).splitlines()[-6:])])


def main(seed: int, numbers: Iterable[int]) -> int:
    """Make the trials, print findings and counts; return 1 where one fails."""
    kinds = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz") as made, contextlib.chdir(made):
        stock, folder = Path(made).resolve() / "stock", Path(made).resolve() / "trial"
        progress.progress_report.__defaults__ = (folder / "notebooks", folder / "learn")
        os.environ["EVALS"] = str(folder / "set")  # where --evals is lost
        stock.mkdir()
        make_stock(stock)
        sound = [trial(-n, seed, stock, folder) for n in range(1, len(CASES) + 1)]
        assert all(kind == "harmless" for kind, _ in sound), max(sound)
        for number in numbers:
            kind, told = trial(number, seed, stock, folder)
            kinds[kind] += 1
            if kind in FAILS:
                print(told, flush=True)
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in FINE + FAILS)
    print(f"seed {seed}: {kinds.total()} trials: {counts}")
    return int(any(kinds[kind] for kind in FAILS))


if __name__ == "__main__":
    count, seed, trials = (os.environ.get(name, "") for name in ("N", "SEED", "TRIAL"))
    numbers = map(int, trials.split(",")) if trials else range(1, int(count or 1000) + 1)
    sys.exit(main(int(seed or 0), numbers))
