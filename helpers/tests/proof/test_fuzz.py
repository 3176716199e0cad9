"""Broken sets, runs and sources, each refused in words; and a short run of the fuzzer."""

import os
import shutil
import sys
from pathlib import Path

import corruptions
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


def puts(text):
    """Return what replaces a file by a text or by bytes."""
    return lambda path: path.write_bytes(text if isinstance(text, bytes) else text.encode())


def swaps(old, new):
    """Return what replaces the first occurrence of a text in a file."""

    def swap(path):
        text = path.read_text(encoding="utf-8")
        assert old in text, path
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return swap


def adds(text):
    """Return what writes more behind a file."""
    return lambda path: path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def becomes(make):
    """Return what puts something else in place of a file."""

    def replace(path):
        path.unlink()
        make(path)

    return replace


def linked(path):
    path.symlink_to("gone")


DEEP = "[" * 100_000
QUERIES, RUN = "graded/retrieval_queries.jsonl", "compare two"
TABLE = [  # (case of fuzz_sets, file, what breaks it, words of the message)
    ("audit", "graded/judgments.jsonl", becomes(linked), "judgments.jsonl"),
    ("audit", f"graded/{FULL}", swaps("---\n", "---\nkind: " + DEEP + "\n"), "disk-full.md"),
    ("audit", f"graded/{FULL}", swaps("---\n", "---\ntitle: B\n"), "disk-full.md:2: "),
    ("audit", f"graded/{FULL}", puts(b"---\ntitle: \xe9\n---\nx"), ":2: byte 0xe9 is not UTF-8"),
    ("audit", "graded/corpus/LATE.MD", puts("---\ntitle: x\n---\nx"), "LATE.MD"),
    ("audit", "graded/corpus/a\u202eb.md", puts("---\ntitle: x\n---\nx"), r"a\u202eb.md:1: "),
    ("audit", "graded/README.md", puts(b"# Caf\xe9\n"), "README.md:1: byte 0xe9 is not UTF-8"),
    ("audit", "graded/pool.jsonl", adds("{"), "pool.jsonl:9: broken JSON"),
    ("audit", QUERIES, swaps('"q0",', '"q0", "query_id": "q0",'), "retrieval_queries.jsonl:1: "),
    ("audit", QUERIES, swaps('"symptom"', '"<img src=x onerror=alert(1)>"'), "field kind is "),
    ("freeze", QUERIES, swaps('"q0"', '".."'), "retrieval_queries.jsonl:1: field query_id is "),
    ("freeze", "graded/second_pass.jsonl", swaps("deploy-full", "gone"), "document gone is not in"),
    ("freeze", "graded/settings.json", puts(DEEP), "settings.json:1: "),
    ("export", QUERIES, swaps("disk halts", "\\ud800"), "retrieval_queries.jsonl:1: "),
    ("export", "graded/judgments.jsonl", swaps("disk-full", "disk\\u200b-full"), "judgments.jsonl"),
    ("drop", "graded/labelling.jsonl", puts(b"\xff\n"), "labelling.jsonl:1: byte 0xff is not"),
    ("compare", "graded/results.json", puts("{"), "results.json:1: "),
    ("compare", "graded/results.json", puts("[]"), "results.json:1: "),
    ("compare", "graded/runs/fixed.trec", swaps("9.5", "1.5"), "fixed.trec"),
    ("compare", "run.json", becomes(os.mkdir), "run.json"),
    ("compare", "run.trec", swaps("9.5000000000", "nan"), "run.trec:1: score 'nan'"),
    (RUN, "run.jsonl", swaps('"q0"', '["q0"]'), "run.jsonl:1: "),
    (RUN, "run.jsonl", swaps("9.5", "9" * 400), "run.jsonl:1: "),
    (RUN, "run.jsonl", puts(DEEP), "run.jsonl:1: "),
    ("import hotpotqa", "hotpot_dev_v1.json", adds("[]"), "hotpot_dev_v1.json, row 1: found ["),
    ("import hotpotqa", "hotpot_dev_v1.json", swaps('"One."', "7"), "hotpot_dev_v1.json, row 1: "),
    ("import beir", "beir/corpus.jsonl", adds(DEEP), "corpus.jsonl:5: "),
    ("new", "out/mine.txt", puts("mine"), "out: is not empty, wanted a new or an empty folder"),
]


def outcome(stock, folder, monkeypatch, capsys, case, file, change):
    """Return status and both outputs of a case with one broken file, and what it left over."""
    words, needs = fuzz_sets.CASES[case]
    for name in needs:
        copy = shutil.copytree if (stock / name).is_dir() else shutil.copyfile
        copy(stock / name, folder / name)
    (folder / file).parent.mkdir(exist_ok=True)
    change(folder / file)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["helpers", *words])
    before = fuzz.state(folder)
    status = commands.main()
    said = capsys.readouterr()
    assert fuzz.state(folder) == before, "a command that fails leaves everything as it was"
    return status, said.out, said.err


@pytest.mark.parametrize(("case", "file", "change", "words"), TABLE)
def test_what_is_broken_is_refused_in_words(
    stock, tmp_path, monkeypatch, capsys, case, file, change, words
):
    status, out, err = outcome(stock, tmp_path, monkeypatch, capsys, case, file, change)
    assert status == (2 if case.startswith("compare") else 1) and not out
    assert words in err and "Traceback" not in err and len(err.splitlines()) < 25


# The fuzzer itself.


def test_an_outcome_is_sorted(tmp_path):
    (tmp_path / "out.json").write_text('{"a": ')
    sound = fuzz.Outcome(0, "fine\n", "", [], False, {"a.jsonl": "1"}, {"a.jsonl": "1"})
    torn = {"after": {"a.jsonl": "1", "out.json": "2"}}
    for case, change, kind in [
        ("export", {}, "harmless"),
        ("export", {"status": 1, "err": "a.jsonl:1: broken"}, "clear error"),
        ("audit", {"status": 1, "out": "fail a.jsonl differs\n"}, "harmless"),
        ("compare", {"status": 2, "err": "a.jsonl:1: broken"}, "clear error"),
        ("compare", {"status": 1, "err": "a.jsonl:1: broken"}, "unclear"),
        ("export", {"status": 1, "err": "something is wrong"}, "unclear"),
        ("export", {"status": 1, "err": "a.jsonl:1: \x1b[31mbroken"}, "unclear"),
        ("export", {"status": 3, "out": ""}, "unclear"),
        ("export", {"status": 70, "err": "Traceback (most recent call last):\n"}, "crash"),
        ("export", {"status": None}, "crash"),
        ("export", torn, "left over"),
        ("export", {"status": 1, "err": "a.jsonl:1: broken", "after": {}}, "left over"),
    ]:
        trial = fuzz.Trial(1, case, "cut: after byte 7", "a.jsonl")
        assert fuzz.sort(trial, sound, sound._replace(**change), tmp_path) == kind, change
    assert fuzz.sort(trial, sound, None, tmp_path) == "hang"
    typed, usage = trial._replace(words=("export",)), "usage: x\nx: error: no such option"
    refused = sound._replace(status=2, err=usage)
    assert fuzz.sort(typed, sound, refused, tmp_path) == "clear error"
    assert fuzz.sort(trial, sound, refused, tmp_path) == "unclear"


def test_every_operator_breaks_some_file(stock, tmp_path):
    files = ["graded/judgments.jsonl", "graded/manifest.json", "run.trec", f"graded/{FULL}"]
    for name, operator in corruptions.OPERATORS.items():
        rng, broken = fuzz.Random(name), 0
        for number, file in enumerate([*files, "docs.parquet"] * 5):
            folder = tmp_path / name / str(number)
            folder.mkdir(parents=True)
            path = Path(shutil.copy(stock / file, folder))
            before = fuzz.state(folder)
            broken += operator(rng, path) is not None and fuzz.state(folder) != before
        assert broken, name


def test_every_command_is_among_the_cases():
    assert {words[0] for words, _ in fuzz_sets.CASES.values()} == {*commands.COMMANDS, "pieces"}


def test_a_short_run_finds_nothing_and_a_worker_that_hangs_is_replaced(tmp_path, capsys):
    assert fuzz.main(10, 0, []) == 0
    assert "seed 0: 10 trials in " in capsys.readouterr().out
    worker = fuzz.Worker()
    try:
        fuzz.TIMEOUT = 0
        assert worker.ask(tmp_path, ["new", "--to", "x"]) is None and worker.process is None
        fuzz.TIMEOUT = 20
        assert worker.ask(tmp_path, ["new", "--to", "out"], ("kill", 2)) == {}
        assert worker.ask(tmp_path, ["new", "--to", "more"])["status"] == 0
    finally:
        worker.stop()
