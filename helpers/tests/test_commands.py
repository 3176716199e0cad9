"""python -m helpers: what a command imports and reads, and its exit status."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import browser
import pytest

from helpers import __main__, evalset, report, results, workbook
from helpers.labels import audit, checks
from helpers.learn import LearnError, copies


def test_help_imports_nothing_that_takes_time():
    code = (
        "import sys; from helpers import __main__; __main__.parser(None).format_help(); "
        "print(*sorted({m.partition('.')[0] for m in sys.modules} & set(sys.argv[1].split())))"
    )
    slow = "numpy scipy pandas matplotlib sklearn nbformat tiktoken yaml ir_measures IPython"
    command = [sys.executable, "-c", code, slow]
    done = subprocess.run(command, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split() == [], done


def test_a_command_reads_its_folder_once(folder, monkeypatch, capsys):
    read = []

    def counted(path=None, load=evalset.load):
        read.append(path)
        return load(path)

    monkeypatch.setattr(evalset, "load", counted)
    for words in (["audit"], ["freeze"], ["export", "--to", str(folder / "out")]):
        monkeypatch.setattr(sys, "argv", ["helpers", *words, "--evals", str(folder)])
        assert __main__.main() in (0, 1)
        assert read == [folder], words
        read.clear()


# What a command prints, and its exit status.


def run(*words, python=(sys.executable,)):
    command = [*python, "-m", "helpers", *words]
    return subprocess.run(command, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)


@pytest.mark.parametrize("name", __main__.COMMANDS)
def test_a_python_without_the_packages_is_told_in_one_sentence(name, tmp_path):
    more = {"compare": ["x.trec"], "drop": ["q1"], "export": ["--to", "x"], "new": ["--to", "x"]}
    words = [name, *more.get(name, [])]
    words += ["--from", "text:x", "--to", str(tmp_path / "x")] if name == "import" else []
    done = run(*words, python=(sys.executable, "-S"))  # without site-packages, as a system's own
    assert done.returncode == (2 if name == "compare" else 1) and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("the package ") and f" is missing in {sys.executable}: " in line
    python = Path(".venv", "Scripts" if os.name == "nt" else "bin", "python")
    assert line.endswith(f"run make report once, then {python} -m helpers {' '.join(words)}")


def test_a_module_of_ours_that_is_missing_is_a_traceback(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["helpers", "learn"])
    monkeypatch.setitem(sys.modules, "helpers.learn", None)
    with pytest.raises(ModuleNotFoundError):
        __main__.main()


def test_drop_takes_a_query_out_also_where_the_set_no_longer_loads(folder):
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    broken = run("audit", "--evals", str(folder))
    assert broken.returncode == 1 and "make drop QUERY=q2" in broken.stderr
    assert broken.stderr.endswith(f"\n1 problem in {folder}\n")
    done = run("drop", "q2", "--evals", str(folder))
    assert (done.returncode, done.stdout) == (0, "judgments.jsonl: 1 row moved to dropped.jsonl\n")
    again = run("drop", "q2", "--evals", str(folder))
    assert again.returncode == 1 and "no file has a row of the query q2" in again.stderr


def test_bad_input_ends_with_1_and_of_compare_with_2(folder):
    (folder / "retrieval_queries.jsonl").write_text("{\n[]\n")
    (folder / "judgments.jsonl").unlink()
    for words, status in ((["audit"], 1), (["compare", "x.trec"], 2)):
        done = run(*words, "--evals", str(folder))
        assert done.returncode == status and f"2 problems in {folder}" in done.stderr


@pytest.mark.parametrize("name", __main__.COMMANDS)
def test_every_command_has_a_target_of_make(name):
    page = (evalset.DEFAULT.parent / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(rf"^{name}: \$\(READY\)  ## .+\n((?:\t.+\n)+)", page, re.MULTILINE)
    assert f"$(HELPERS) {name}" in recipe[1]
    assert re.search(rf"^\.PHONY:.* {name}\b", page, re.MULTILINE)


@pytest.mark.parametrize("name", ["export", "import", "new", "drop", "compare"])
def test_a_target_that_needs_a_variable_asks_for_it(name):
    ready = ["make", name, "--assume-old=.venv/ready"]
    done = subprocess.run(ready, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert done.returncode and re.search(rf"^{name} needs .*: make {name} ", done.stdout, re.M)


def test_one_of_a_thing_is_told_in_the_singular(folder):
    assert "| documents | 2 of 1 kind about 1 service |" in report.facts(evalset.load(folder))
    found = results.read_results(evalset.DEFAULT)
    found["corpus"] |= {"name": "X", "documents": 1, "tokens": 1200}
    found["queries"] |= {"n": 1, "judgments": 1, "grades": [1]}
    assert report.summary(found).startswith(
        "Corpus: X, 1 document, 1,200 tokens. Queries: 1, labelled with 1 judgment (grade 1).\n"
    )
    found["queries"] |= {"judgments": 2, "grades": [0, 1]}
    assert "labelled with 2 judgments (grades 0, 1).\n" in report.summary(found)


# Tests in a browser.


def test_browser_tests_that_cannot_run_are_counted_with_the_reason(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    browser.main()
    assert capsys.readouterr().out == (
        "browser tests skipped: 2, because the package playwright is not installed\n"
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(browser.browser_labelling.shutil, "which", lambda name: None)
    browser.main()
    assert (
        "skipped: 2, because no browser found, wanted one of: chromium" in capsys.readouterr().out
    )


def test_browser_tests_that_can_run_do(monkeypatch):
    ran = []
    monkeypatch.setattr(browser.browser_labelling, "missing", lambda: "")
    monkeypatch.setattr(browser.browser_labelling, "main", lambda: ran.append("labelling"))
    monkeypatch.setattr(browser.browser_learning, "main", ran.append)
    browser.main("ab")
    assert ran == ["labelling", "ab"]


# What a command passes on.


@pytest.mark.parametrize("status, code", [("fail", 1), ("warn", 0), ("pass", 0)])
def test_an_audit_ends_with_1_where_a_check_fails(folder, monkeypatch, status, code):
    finding = checks.Finding("depth", status, "x", "y")
    monkeypatch.setattr(audit, "findings", lambda evals: [finding])
    monkeypatch.setattr(sys, "argv", ["helpers", "audit", "--evals", str(folder)])
    assert __main__.main() == code


@pytest.mark.parametrize("words, fresh", [([], False), (["--fresh"], True)])
def test_learn_passes_fresh_on(monkeypatch, words, fresh):
    asked = []
    monkeypatch.setattr(copies, "make", lambda fresh: asked.append(fresh) or [])
    monkeypatch.setattr(sys, "argv", ["helpers", "learn", *words])
    assert __main__.main() == 0 and asked == [fresh]


def test_a_learner_error_and_refresh_of_another_folder_fail(folder, monkeypatch, capsys):
    def fail(fresh):
        raise LearnError("no notebooks here")

    monkeypatch.setattr(copies, "make", fail)
    monkeypatch.setattr(sys, "argv", ["helpers", "learn"])
    assert __main__.main() == 1 and capsys.readouterr().err == "no notebooks here\n"
    monkeypatch.setattr(workbook, "refresh_command", lambda folder: 0)
    monkeypatch.setattr(sys, "argv", ["helpers", "refresh", "--evals", str(folder)])
    assert __main__.main() == 2 and "its own evals/ only" in capsys.readouterr().err


def test_export_writes_where_it_is_told(folder, monkeypatch, capsys):
    to = folder / "out"
    monkeypatch.setattr(sys, "argv", ["helpers", "export", "--evals", str(folder), "--to", str(to)])
    assert __main__.main() == 0 and (to / "labels.csv").exists()
    assert str(to / "labels.csv") in capsys.readouterr().out.splitlines()
