"""Thirty broken sets, runs and sources, each refused in words; and the fuzzer that finds more."""

import gzip
import os
import shutil
import sys

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


def grown(path):
    """Make a gzip file of 1 GB of blanks, a thousandth of that on disk."""
    path.write_bytes(gzip.compress(b" " * 1_000_000, mtime=0) * 1_000)


BOMB, DEEP = corruptions.FRONTS["alias bomb"], "[" * 100_000
QUERIES, RUN = "graded/retrieval_queries.jsonl", "compare two"
TABLE = [  # (case of fuzz_sets, file, what breaks it, words of the message)
    ("audit", "graded/judgments.jsonl", becomes(linked), "judgments.jsonl"),
    ("audit", f"graded/{FULL}", swaps("---\n", "---\n" + BOMB), "disk-full.md"),
    ("audit", f"graded/{FULL}", swaps("---\n", "---\nkind: " + DEEP + "\n"), "disk-full.md"),
    ("audit", f"graded/{FULL}", swaps("---\n", "---\ntitle: B\n"), "disk-full.md:3: "),
    ("audit", f"graded/{FULL}", becomes(os.mkfifo), "disk-full.md"),
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
    ("import hotpotqa", "hotpot_dev_v1.json", adds("[]"), "hotpot_dev_v1.json:"),
    ("import hotpotqa", "hotpot_dev_v1.json", swaps('"One."', "7"), "hotpot_dev_v1.json:2: "),
    ("import beir", "beir/corpus.jsonl", adds(DEEP), "corpus.jsonl:5: "),
    ("import beir gz", "beirgz/corpus.jsonl.gz", grown, "corpus.jsonl.gz"),
    (
        "import trec",
        "trec/topics.txt",
        swaps(" Number: 301", " " * 200_000 + "<"),
        "topics.txt:1: ",
    ),
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


# The fuzzer itself: a sort for each way in which a command can end.

SOUND = fuzz.Outcome(0, "fine\n", "", ["graded/a.jsonl"], {"graded/a.jsonl": "1"},
                     {"graded/a.jsonl": "1", "out": "2"})  # fmt: skip
TRIAL = fuzz.Trial(1, "export", "cut", "after byte 7", "graded/a.jsonl", True)


@pytest.mark.parametrize(
    ("case", "change", "kind"),
    [
        ("export", {"status": 1, "err": "a.jsonl:1: broken"}, "clear error"),
        ("export", {"out": "fine\nwarning: a.jsonl has no end\n"}, "clear error"),
        ("audit", {"status": 1, "out": "fail a.jsonl differs\n"}, "clear error"),
        ("compare", {"status": 2, "err": "a.jsonl:1: broken"}, "clear error"),
        ("compare", {"status": 1, "err": "a.jsonl:1: broken"}, "unclear"),
        ("export", {"status": 1, "err": "something is wrong"}, "unclear"),
        ("export", {"status": 1, "err": "a.jsonl:1: \x1b[31mbroken"}, "unclear"),
        ("export", {"status": 3, "out": ""}, "unclear"),
        ("export", {"err": "a.jsonl: some noise"}, "unclear"),
        ("export", {}, "silent acceptance"),
        ("export", {"status": 70, "err": "Traceback (most recent call last):\n"}, "traceback"),
        ("export", {"status": None}, "traceback"),
        ("export", {"status": 1, "err": "a.jsonl:1: broken", "left": ("x.part",)}, "partial"),
        ("export", None, "hang"),
    ],
)
def test_an_outcome_is_sorted(case, change, kind):
    got = change if change is None else SOUND._replace(**change)
    assert fuzz.sort(TRIAL._replace(case=case), SOUND, got) == kind
    assert fuzz.sort(TRIAL._replace(refuse=False), SOUND, SOUND) == "harmless"


def test_odd_words_may_end_in_how_to_call_it():
    typed, usage = TRIAL._replace(words=("export",)), "usage: x [--debug]\nx: error: no such option"
    assert fuzz.sort(typed, SOUND, SOUND._replace(status=2, err=usage)) == "clear error"
    assert fuzz.sort(TRIAL, SOUND, SOUND._replace(status=2, err=usage)) == "unclear"


def test_what_is_left_over_is_seen(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.json").write_text('{"a": ')
    made = SOUND._replace(after=SOUND.after | {"out/b.json": "3"})
    assert fuzz.left_over(SOUND, SOUND, tmp_path) == ()
    assert fuzz.left_over(made, made, tmp_path) == ("out/b.json half-written",)
    assert fuzz.left_over(made, SOUND, tmp_path) == ("out/b.json", "out/b.json half-written")
    assert fuzz.left_over(SOUND._replace(status=1, err="no"), SOUND, tmp_path) == ("out",)
    copied = SOUND._replace(after=SOUND.after | {"out/b.json": "1"})  # of a file that was there
    assert fuzz.left_over(copied, copied, tmp_path) == ()
    touched = SOUND._replace(after=SOUND.after | {"graded/a.jsonl": "9"})
    assert fuzz.left_over(touched, SOUND, tmp_path) == ("graded/a.jsonl",)


@pytest.mark.parametrize(
    ("name", "data", "wrong"),
    [
        ("a.jsonl", b'{"a": 1}\n\n{"b": 2}', False),
        ("a.jsonl", b'{"a": 1}\n{"b": ', True),
        ("labelling.jsonl", b'{"a": 1}\n{"b": ', False),  # a torn end was never confirmed
        ("a.jsonl", b'{"a": 1, "a": 2}\n', True),
        ("a.jsonl", b"\xef\xbb\xbf[1]\n", True),
        ("a.json", b"[" * 100_000, True),
        ("a.md", b"\xe9", True),
        ("a.trec", b"q Q0 d 1 2.0 t\n", False),
        ("a.trec", b"q Q0 d 1 2.0\n", True),
        ("a.jsonl.gz", gzip.compress(b"{}\n", mtime=0)[:-3], True),
        ("a.jsonl.gz", gzip.compress(b"{}\n", mtime=0), False),
    ],
)
def test_a_file_that_no_reader_can_take_is_known(tmp_path, name, data, wrong):
    (tmp_path / name).write_bytes(data)
    assert corruptions.broken(tmp_path / name) is wrong


@pytest.mark.parametrize("name", corruptions.OPERATORS)
def test_an_operator_changes_its_file_or_says_that_it_does_not_fit(stock, tmp_path, name):
    rng, did = fuzz.Random(name), 0
    files = ["graded/judgments.jsonl", "graded/manifest.json", "run.trec", f"graded/{FULL}"]
    for file in [*files, "beirgz/corpus.jsonl.gz", "docs.parquet"] * 5:
        folder = tmp_path / "corpus"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copyfile(stock / file, folder / file.rpartition("/")[2])
        before = fuzz.state(tmp_path)
        done = corruptions.OPERATORS[name](rng, folder / file.rpartition("/")[2])
        did += bool(done)
        if done:
            assert isinstance(done[0], str) and isinstance(done[1], bool)
            assert fuzz.state(tmp_path) != before or "twin" in done[0], done
    assert did


def test_every_command_is_among_the_cases():
    assert {words[0] for words, _ in fuzz_sets.CASES.values()} == {*commands.COMMANDS, "pieces"}


def test_a_worker_that_hangs_is_replaced(stock, tmp_path, monkeypatch):
    worker = fuzz.Worker()
    for name in ("notebooks", "evals"):
        shutil.copytree(stock / name, tmp_path / name)
    try:
        monkeypatch.setattr(fuzz, "TIMEOUT", 0)
        assert worker.ask(tmp_path, ["new", "--to", "x"]) is None and worker.process is None
        monkeypatch.setattr(fuzz, "TIMEOUT", 20)
        found = worker.ask(tmp_path, ["new", "--to", "out"], ("kill", 2))
        assert found == {} and worker.process is None
        assert worker.ask(tmp_path, ["learn"])["status"] == 0
        assert (tmp_path / "learn").is_dir(), "the workbook's own folder is left alone"
    finally:
        worker.stop()
