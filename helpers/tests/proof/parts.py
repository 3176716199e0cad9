"""make proof: what is too slow for `make check`, in parts; ONLY="witness mutants" runs these alone.

Each part says what it protects and how long it took. Some read further variables: EDIT (mutants),
SEED, N, TRIAL (fuzz), SESSIONS (browser), MILLION (bench).
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PYTEST = (sys.executable, "-m", "pytest", "-rs")


class Part(NamedTuple):
    """What a part protects, the command that tries it, and what that needs beside our packages."""

    protects: str
    command: tuple[str, ...]
    packages: str = ""  # a folder that make fills


NBVAL = (
    "--nbval --nbval-current-env --nbval-cell-timeout=600 -p helpers.tests.nbval_alt "
    "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg"
).split()
FURTHER = (*PYTEST, *NBVAL, "notebooks/further")


def tests(*names: str) -> tuple[str, ...]:
    """Return the command that runs files of tests beside this one."""
    return (*PYTEST, *(str(HERE / f"test_{name}.py") for name in names))


def script(name: str) -> tuple[str, ...]:
    """Return the command that runs a script, by its path from here."""
    return (sys.executable, str(HERE / name))


PARTS = {
    "chain": Part(
        "the four notebooks, in their order, write from the inputs what is committed",
        script("chain.py"),
    ),
    "further": Part("what goes beyond the week, each notebook alone", FURTHER),
    "witness": Part(
        "each published number, by code that shares nothing",
        tests("witness", "witness_sessions"),
    ),
    "tests": Part(
        "what tests of the helpers need seconds for",
        (*PYTEST, "--numprocesses=2", "-m", "proof", f"--ignore={HERE}", str(HERE.parent)),
    ),
    "set": Part("corpus, labels and data card of evals/", tests("set", "card", "facts")),
    "words": Part("the glossary, and headings of quick tests", tests("words", "quiz_questions")),
    "sessions": Part("the sessions on other people's sets", tests("sessions")),
    "learners": Part("learners' copies, with and without solutions", tests("rehearsal")),
    "setup": Part("set-up, and the workflow of the repository", tests("setup", "workflow")),
    "wheel": Part("the gate, installed outside the repository", tests("wheel")),
    "site": Part("the course as pages, in a real browser", tests("site"), ".cache/tools"),
    "paper": Part("the write-up on paper, the picture of the page", tests("browser")),
    "mutants": Part("that wrong edits turn a check red", script("mutants.py")),
    "fuzz": Part("each command against broken input", script("fuzz.py")),
    "browser": Part(
        "panel, exercises and page in a real browser", script("browser.py"), ".cache/tools"
    ),
    "sail": Part(
        "BM25 in SQL on Sail against rank_bm25", script("../sql/equality.py"), ".cache/sail"
    ),
    "langchain": Part(
        "that the example with LangChain runs as it stands", script("example.py"), ".cache/tools"
    ),
    "bench": Part("nothing: shows speed and memory as ratios of one run", script("bench.py")),
}
WHEN_NAMED = {
    "picture": Part("nothing: makes the README's picture", script("picture.py"), ".cache/tools")
}


def main(only: str) -> int:
    """Run the parts that `only` names, or all; return 1 if one failed."""
    known = PARTS | WHEN_NAMED
    names = only.split() or [*PARTS]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"found ONLY={unknown[0]!r}, wanted of: {' '.join(known)}", file=sys.stderr)
        return 1
    failed = 0
    ended = {name: run(name, known[name]) for name in names}
    print("\npart      result  seconds")
    for name, (status, seconds) in ended.items():
        failed += status != 0
        print(f"{name:<9} {'failed' if status else 'passed'} {seconds:8.0f}")
    print(f"{len(ended) - failed} passed, {failed} failed")
    return int(failed > 0)


def run(name: str, part: Part) -> tuple[int, float]:
    """Run a part, what it says on the screen; return its exit status and seconds."""
    print(f"\n== {name}: {part.protects}", flush=True)
    began = time.monotonic()
    paths = os.pathsep.join([str(ROOT), str(ROOT / part.packages)])
    env = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": paths}
    status = subprocess.run(part.command, cwd=ROOT, env=env).returncode
    return status, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main(os.environ.get("ONLY", "")))
