"""The worker of the fuzzer: runs a command a line of stdin in this process, says how it ended.

An audit hook sees every file that a command opens, makes, renames or removes, so it can also play a
full disk, a read-only folder, an interrupt and a kill at any of these moments. A command that works
on the workbook itself finds a small one in the trial's folder.
"""

import errno
import importlib
import io
import json
import os
import resource
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MEMORY = 2 * 1024**3
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"}


class Fault:
    """What the hook notes and does while a command runs."""

    folder, kind, at = "", "", 0
    seen, fired, on = 0, False, False
    opened: dict[str, None] = {}


def limit() -> None:
    """Give this process so much memory and no core file; threads reserve more than they take."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def hook(event: str, args: tuple) -> None:
    """Note what a command opens below its folder; at a change of files, do what was asked for."""
    if not Fault.on or (event != "open" and event not in CHANGES):
        return
    path = os.fsdecode(args[0]) if isinstance(args[0], str | bytes) else ""
    path = os.path.abspath(path)
    if not path.startswith(Fault.folder + os.sep):
        return
    if event == "open" and not (args[2] or 0) & WRITES:
        Fault.opened[os.path.relpath(path, Fault.folder)] = None
    elif not path.endswith(".lock"):
        Fault.seen += 1
        if Fault.kind and Fault.seen >= Fault.at:
            fail(event, path)


def fail(event: str, path: str) -> None:
    """Do what the kind of fault is at a change of files."""
    if Fault.kind == "kill":
        os._exit(137)
    if Fault.kind == "interrupt" and not Fault.fired:
        Fault.fired = True
        raise KeyboardInterrupt
    if Fault.kind == "full" and event in ("open", "os.mkdir") and not os.path.isdir(path):
        Fault.fired = True
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    if Fault.kind == "denied" and Fault.at == 1:
        Fault.fired = True
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def pieces(name: str) -> int:
    """Read what sessions and panel read in a set; 1 where one of them says what is wrong."""
    from helpers import evalset, report, results, text
    from helpers.labels import log, merge

    folder = Path(name)
    try:
        evals = evalset.load(folder)
        print(report.facts(evals), evals.name, evals.next_step(), results.notes(folder))
        for table in ("pool.jsonl", "second_pass.jsonl", "negatives.jsonl"):
            print(len(evalset.read_extra(evals, table)))
        print(log.entries(evals), merge.pairs_to_judge(evals))
        if os.path.lexists(folder / "results.json"):
            print(report.summary(results.read_results(folder)))
            print(results.published(folder).keys())
        print(merge.merge(evals))
    except (evalset.EvalSetError, ValueError, OSError, KeyboardInterrupt) as error:
        if type(error) in (UnicodeDecodeError, json.JSONDecodeError):
            raise
        print(text.visible(str(error)) or "interrupted", file=sys.stderr)
        return 1
    return 0


def run(job: dict) -> dict:
    """Run one command in its folder; return status, both outputs and the files that it opened."""
    from helpers import __main__

    outputs = [
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors=e) for e in ("strict", "backslashreplace")
    ]
    kept, former = (sys.stdout, sys.stderr, sys.argv), os.getcwd()
    os.chdir(job["folder"])
    kind, at = job["fault"] or ("", 0)
    Fault.folder, Fault.kind, Fault.at, Fault.seen, Fault.fired = job["folder"], kind, at, 0, False
    Fault.opened = {}
    sys.stdout, sys.stderr = outputs
    sys.argv = ["helpers", *job["words"]]
    try:
        Fault.on = True
        status = pieces(job["words"][1]) if job["words"][0] == "pieces" else __main__.main()
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
        status = 70
    finally:
        Fault.on = False
        sys.stdout, sys.stderr, sys.argv = kept
        os.chdir(former)
    for output in outputs:
        output.flush()
    out, err = (output.buffer.getvalue().decode("utf-8", "replace") for output in outputs)
    ended = {"status": status, "out": out, "err": err}
    return {**ended, "fired": Fault.fired, "opened": [*Fault.opened]}


def main() -> None:
    """Answer jobs until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a kernel that a command starts may print
    limit()
    sys.path.insert(0, str(ROOT))
    from helpers import evalset

    evalset.DEFAULT = Path(sys.argv[1], "evals")  # before the rooms that derive theirs from it
    for name in sys.argv[2:]:
        importlib.import_module(f"helpers.{name}")  # no trial pays for it
    sys.addaudithook(hook)
    answers.write("ready\n")
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
