"""The set-up says in a line which Python it wants, and which package a system has no wheel for."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import WITH_MAKE

from helpers import install
from helpers.teach import workbook

pytestmark = WITH_MAKE
INSTALLER = """
[ "$1" = venv ] && { mkdir -p .venv/bin; echo "$@" > .venv/made.txt; exit 0; }
[ -n "$SAID" ] && { echo "$SAID"; exit 1; }
for name in $NO_WHEEL; do
  grep -q "^$name==" .venv/wanted.txt && { echo "cannot build $name"; exit 1; }
done
cat .venv/wanted.txt >> .venv/installed.txt
"""


def write_script(path, page):
    path.write_text(f"#!/bin/sh\n{page}")
    path.chmod(0o755)


def make(folder, bin_, *words, **more):
    """Return what make says in a folder, whose programs are first those of `bin_`."""
    outside = ("MAKE", "MFLAGS", "EVALS")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(outside)}
    environment |= more | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    command = ["make", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def set_up(tmp_path):
    """Return a function that sets up `tmp_path` with an installer that lacks wheels, or a Python.

    It returns the exit status and the lines that were printed.
    """
    (tmp_path / "helpers").mkdir()
    for name in ("Makefile", "requirements.txt", "helpers/install.py"):
        shutil.copy(workbook.ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()

    def run(*missing, version=(3, 11), said=""):
        code = f"import sys; sys.version_info = {version}; del sys.argv[0]; "
        code += "exec(open(sys.argv[0]).read())"
        write_script(tmp_path / "bin/python-x", f"""exec '{sys.executable}' -c '{code}' "$@"\n""")
        write_script(tmp_path / "bin/uv", INSTALLER)
        more = {"NO_WHEEL": " ".join(missing), "SAID": said}
        words = ("-B", ".venv/ready", "PYTHON=python-x")
        done = make(tmp_path, tmp_path / "bin", *words, **more)
        return done.returncode, done.stdout.splitlines()

    return run


def packages(path):
    return [line.split("==")[0] for line in path.read_text().splitlines() if "==" in line[:40]]


def test_all_packages_are_installed(set_up, tmp_path):
    status, said = set_up()
    lock = packages(tmp_path / "requirements.txt")
    assert (status, len(said)) == (0, 1) and f"txt: up to {len(lock)} packages, 0.9 GB, " in said[0]
    assert said[0].startswith("setting up .venv, once ") and said[0].endswith("minute with uv")
    assert (tmp_path / ".venv" / "ready").exists()
    lab = tmp_path / ".venv/share/jupyter/lab/settings/overrides.json"
    assert '"autosaveInterval": 10' in lab.read_text() and '"fetchNews": "false"' in lab.read_text()
    wanted, found = (tmp_path / n for n in ("requirements.txt", ".venv/installed.txt"))
    assert found.read_bytes() == wanted.read_bytes()
    made = (tmp_path / ".venv" / "made.txt").read_text()
    assert made == f"venv --quiet --clear --python {sys.executable} .venv\n"


def test_what_cannot_be_installed_is_named_and_the_others_are_there(set_up, tmp_path):
    status, said = set_up("tiktoken", "pytrec-eval-terrier")
    assert status and len(said) == 3 and not (tmp_path / ".venv" / "ready").exists()
    assert said[1].startswith("missing: pytrec-eval-terrier tiktoken; no wheel for Python 3.11")
    assert "installing.md, Without a wheel" in said[2]
    wanted = packages(tmp_path / "requirements.txt")
    lost = {"tiktoken", "pytrec-eval-terrier"}
    assert packages(tmp_path / ".venv/installed.txt") == [n for n in wanted if n not in lost]
    assert "build tiktoken" in (tmp_path / ".venv" / "tiktoken.log").read_text()


def test_without_a_network_nothing_is_tried_a_hundred_times(set_up, tmp_path):
    status, said = set_up(said="error: Failed to fetch: `https://x`")
    assert status and len(said) == 1 and not (tmp_path / ".venv/installed.txt").exists()
    assert "Failed to fetch" in (tmp_path / ".venv" / "all.log").read_text()


def test_versions_of_python_that_are_not_tried_are_told(set_up):
    status, said = set_up(version=(3, 10))
    assert status and len(said) == 1
    assert said[0].startswith("Python 3.11 to 3.14 is needed, found 3.10: install it and name it")
    status, said = set_up("pyyaml", version=(3, 15))
    assert status and said[0].startswith("Python 3.15 is newer than 3.11 to 3.14: what has no ")
    assert said[2].startswith("missing: pyyaml; no wheel for Python ")
    for minor in (11, 14):
        assert set_up(version=(3, minor)) == (0, said[1:2])


def test_without_uv_the_new_environments_pip_installs(tmp_path, monkeypatch):
    folder, called = tmp_path / ".venv", []
    folder.mkdir()

    def run(words, **_):
        called.append(words)
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install.subprocess, "run", run)
    assert install.set_up(folder, workbook.ROOT / "requirements.txt") == 0
    made, filled = called
    assert made == [sys.executable, "-m", "venv", "--clear", str(folder)]
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install"]
    assert filled[:4] == pip and "--require-hashes" in filled


@pytest.mark.parametrize(("user", "options"), [(0, ["--allow-root"]), (1000, [])])
@pytest.mark.parametrize("solutions", ["", "1"])
def test_lab_stays_on_this_machine_ends_at_once_and_lets_root_in_with_a_word(
    tmp_path, user, options, solutions
):
    shutil.copy(workbook.ROOT / "Makefile", tmp_path)
    bin_ = tmp_path / ".venv" / "bin"
    bin_.mkdir(parents=True)
    for name in ("requirements.txt", ".venv/ready"):
        (tmp_path / name).touch()
    said = 'echo "$WORKBOOK_LIVE $EVALS"; echo "$@"'
    for name, page in (("python", "exit"), ("id", f"echo {user}"), ("jupyter", said)):
        write_script(bin_ / name, page)
    done = make(tmp_path, bin_, "lab", SOLUTIONS=solutions)
    (live, words), word = done.stdout.splitlines(), done.stderr.splitlines()
    folder, own = ("notebooks", "evals") if solutions else ("learn", "learn/evals")
    assert live == f"1 {tmp_path}/{own}"
    wanted = ["lab", "--ip=127.0.0.1", "--notebook-dir=.", "--ServerApp.answer_yes=True"]
    wanted += ["--ServerApp.terminals_enabled=False", *options]
    assert words.split() == [*wanted, f"{folder}/session_a_corpus_and_labels.ipynb"]
    assert "token" not in words and len(word) == len(options)
    assert all(line.startswith("You are root, so all that a notebook runs may") for line in word)
