"""Broken sets, runs and sources, each refused in words; and a short run of the fuzzer."""

import os
import re
import subprocess
import sys
from pathlib import Path

import fuzz
import fuzz_sets
import pytest

from helpers import __main__ as commands

FULL = "corpus/disk-full.md"


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stock")
    fuzz_sets.make(folder)
    return folder


def whole(text):
    """Return what makes a file of a text or of bytes."""
    return lambda before: text if isinstance(text, bytes) else text.encode()


def swap(old, new):
    """Return what replaces the first occurrence of a text in a file."""
    return lambda before: re.sub(re.escape(old.encode()), lambda _: new.encode(), before, count=1)


def more(text):
    """Return what writes more behind a file."""
    return lambda before: before + text.encode()


DEEP = "[" * 100_000
QUERIES, RUN = "graded/retrieval_queries.jsonl", "compare two"
TABLE = [  # (case of fuzz_sets, file, what breaks it, words of the message)
    ("audit", f"graded/{FULL}", swap("---\n", "---\nkind: " + DEEP + "\n"), "disk-full.md"),
    ("audit", f"graded/{FULL}", swap("---\n", "---\ntitle: B\n"), "disk-full.md:2: "),
    ("audit", f"graded/{FULL}", whole(b"---\ntitle: \xe9\n---\nx"), ":2: byte 0xe9 is not UTF-8"),
    ("audit", "graded/corpus/LATE.MD", whole("---\ntitle: x\n---\nx"), "LATE.MD"),
    ("audit", "graded/corpus/a\u202eb.md", whole("---\ntitle: x\n---\nx"), r"a\u202eb.md:1: "),
    ("audit", "graded/README.md", whole(b"# Caf\xe9\n"), "README.md:1: byte 0xe9 is not UTF-8"),
    ("audit", "graded/pool.jsonl", more("{"), "pool.jsonl:9: broken JSON"),
    ("audit", QUERIES, swap('"q0",', '"q0", "query_id": "q0",'), "retrieval_queries.jsonl:1: "),
    ("audit", QUERIES, swap('"symptom"', '"<img src=x onerror=alert(1)>"'), "field kind is "),
    ("freeze", QUERIES, swap('"q0"', '".."'), "retrieval_queries.jsonl:1: field query_id is "),
    ("freeze", "graded/second_pass.jsonl", swap("deploy-full", "gone"), "document gone is not in"),
    ("freeze", "graded/settings.json", whole(DEEP), "settings.json:1: "),
    ("export", QUERIES, swap("disk halts", "\\ud800"), "retrieval_queries.jsonl:1: "),
    ("export", "graded/judgments.jsonl", swap("disk-full", "disk\\u200b-full"), "judgments.jsonl"),
    ("drop", "graded/labelling.jsonl", whole(b"\xff\n"), "labelling.jsonl:1: byte 0xff is not"),
    ("compare", "graded/results.json", whole("{"), "results.json:1: "),
    ("compare", "graded/results.json", whole("[]"), "results.json:1: "),
    ("compare", "graded/runs/fixed.trec", swap("9.5", "1.5"), "fixed.trec"),
    ("compare", "run.trec", swap("9.5000000000", "nan"), "run.trec:1: score 'nan'"),
    (RUN, "run.jsonl", swap('"q0"', '["q0"]'), "run.jsonl:1: "),
    (RUN, "run.jsonl", swap("9.5", "9" * 400), "run.jsonl:1: "),
    (RUN, "run.jsonl", whole(DEEP), "run.jsonl:1: "),
    ("import hotpotqa", "hotpot_dev_v1.json", more("[]"), "hotpot_dev_v1.json, row 1: found ["),
    ("import hotpotqa", "hotpot_dev_v1.json", swap('"One."', "7"), "hotpot_dev_v1.json, row 1: "),
    ("import beir", "beir/corpus.jsonl", more(DEEP), "corpus.jsonl:5: "),
    ("new", "out/mine.txt", whole("mine"), "out: is not empty, wanted a new or an empty folder"),
]


def test_what_is_broken_is_refused_in_words(stock, tmp_path, monkeypatch, capsys):
    for number, (case, file, change, wanted) in enumerate(TABLE):
        folder, broken = tmp_path / str(number), tmp_path / str(number) / file
        fuzz_sets.lay_out(case, stock, folder)
        broken.parent.mkdir(exist_ok=True)
        text = broken.read_bytes() if broken.exists() else b""
        broken.write_bytes(change(text))
        assert broken.read_bytes() != text, file
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["helpers", *fuzz_sets.CASES[case][0]])
        before, at = fuzz.state(folder), (case, file, wanted)
        status = commands.main()
        out, err = capsys.readouterr()
        assert status == (2 if case.startswith("compare") else 1) and not out, at
        assert wanted in err and "Traceback" not in err and len(err.splitlines()) < 25, (at, err)
        assert fuzz.state(folder) == before, at


# The fuzzer itself.


def test_an_outcome_is_sorted(tmp_path):
    (tmp_path / "out.json").write_text('{"a": ')
    sound = fuzz.Outcome(0, "fine\n", "", [], False, {"a.jsonl": "1"}, {"a.jsonl": "1"})
    trial, usage = fuzz.Trial(1, "export", "cut", "a.jsonl"), "usage: x\nx: error: no such option"
    for words, case, change, kind in [
        ((), "export", {}, "harmless"),
        ((), "export", {"status": 1, "err": "a.jsonl:1: broken"}, "clear error"),
        ((), "audit", {"status": 1, "out": "fail a.jsonl differs\n"}, "harmless"),
        ((), "compare", {"status": 2, "err": "a.jsonl:1: bad"}, "clear error"),
        ((), "compare", {"status": 1, "err": "a.jsonl:1: bad"}, "unclear"),
        ((), "export", {"status": 1, "err": "something is wrong"}, "unclear"),
        ((), "export", {"status": 1, "err": "a.jsonl:1: \x1b[31mbroken"}, "unclear"),
        ((), "export", {"status": 3, "out": ""}, "unclear"),
        ((), "export", {"status": 1, "err": "Traceback (most recent call last):\n"}, "crash"),
        ((), "export", {"status": 70}, "crash"),
        ((), "export", {"status": -9}, "crash"),
        ((), "export", {"status": None}, "hang"),
        ((), "export", {"after": {"a.jsonl": "1", "out.json": "2"}}, "left over"),
        ((), "export", {"status": 1, "err": "a.jsonl:1: broken", "after": {}}, "left over"),
        ((), "export", {"status": 2, "err": usage}, "unclear"),
        (("export",), "export", {"status": 2, "err": usage}, "clear error"),
    ]:
        outcome, tried = sound._replace(**change), trial._replace(case=case, words=words)
        assert fuzz.verdict(tried, sound, outcome, tmp_path, {"a.jsonl"}) == kind, change


def test_every_command_is_among_the_cases():
    tried = {words[0] for words, _ in fuzz_sets.CASES.values()}
    assert tried | {"site"} == {*commands.COMMANDS, "pieces"}  # site reads nothing of a user's


def test_a_short_run_finds_nothing():
    done = subprocess.run(
        [sys.executable, fuzz.__file__],
        env=os.environ | {"N": "10", "SEED": "0", "TRIAL": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "seed 0: 10 trials in " in done.stdout, done


def test_a_fault_of_the_machine_is_played(tmp_path):
    code = "import fuzz, pathlib, sys; w = fuzz.Watch(pathlib.Path.cwd(), sys.argv[1], 2); "
    code += "sys.addaudithook(w); open('a', 'w').close(); open('b', 'w').close(); print('whole')"
    for kind, said in [
        ("", "whole"),
        ("full", "OSError: [Errno 28]"),
        ("interrupt", "KeyboardInterrupt"),
        ("kill", ""),
    ]:
        command = [sys.executable, "-c", code, kind]
        environment = os.environ | {"PYTHONPATH": str(Path(fuzz.__file__).parent)}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert said in done.stdout + done.stderr and (kind == "") == (done.returncode == 0), done
        assert (done.returncode == fuzz.KILLED) == (kind == "kill")
