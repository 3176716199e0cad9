"""python -m helpers: what a command imports, reads and passes on, and its exit status."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import WITH_MAKE

from helpers import __main__, compare, evalset, report, results, workbook
from helpers.labels import audit, checks, merge
from helpers.learn import LearnError, copies, progress
from helpers.sources import export, site, write
from helpers.sql import bm25
from helpers.sql import command as sql_command

ROOT = evalset.DEFAULT.parent
REPORT_IT = "run again with --debug for the traceback, and report it"


def run(*words, python=(sys.executable,), **options):
    """Run a command in a process of its own."""
    options = {"cwd": ROOT, "capture_output": True, "text": True} | options
    return subprocess.run([*python, "-m", "helpers", *words], **options)


@pytest.fixture
def called(monkeypatch):
    """Return a function that runs a command in this process and returns its exit status."""

    def run_here(*words):
        monkeypatch.setattr(sys, "argv", ["helpers", *map(str, words)])
        return __main__.main()

    return run_here


def stub(monkeypatch, module, name, returned=7):
    """Put a function in place that notes how it is called; return its notes."""
    notes = []

    def noted(*args, **more):
        notes.append((*args, more) if more else args)
        return returned

    monkeypatch.setattr(module, name, noted)
    return notes


def test_help_imports_nothing_that_takes_time():
    code = (
        "import sys; from helpers import __main__; __main__.parser(None).format_help(); "
        "print(*sorted({m.partition('.')[0] for m in sys.modules} & set(sys.argv[1].split())))"
    )
    slow = "numpy scipy pandas matplotlib sklearn nbformat tiktoken yaml ir_measures IPython"
    command = [sys.executable, "-c", code, slow]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split() == [], done


def test_a_command_reads_its_folder_once(folder, monkeypatch, called):
    read = []

    def counted(path=None, load=evalset.load):
        read.append(path)
        return load(path)

    monkeypatch.setattr(evalset, "load", counted)
    for words in (["audit"], ["freeze"], ["export", "--to", folder / "out"]):
        assert called(*words, "--evals", folder) in (0, 1)
        assert read == [folder], words
        read.clear()


@WITH_MAKE
def test_a_target_that_needs_a_variable_asks_for_it():
    for name in ("export", "import", "new", "drop", "compare", "sql"):
        ready = ["make", name, "--assume-old=.venv/ready"]
        done = subprocess.run(ready, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode, name
        assert re.search(rf"^{name} needs .*: make {name} ", done.stdout, re.M), name


def test_one_of_a_thing_is_told_in_the_singular(folder):
    assert "| documents | 2 of 1 kind about 1 service |" in report.facts(evalset.load(folder))
    found = results.read_results(evalset.DEFAULT)
    found["corpus"] |= {"name": "X", "documents": 1, "tokens": 1200}
    found["queries"] |= {"n": 1, "unanswered": 0, "judgments": 1, "grades": [1]}
    assert report.summary(found).startswith(
        "Corpus: X, 1 document, 1,200 tokens. Queries: 1, labelled with 1 judgment (grade 1).\n"
    )
    found["queries"] |= {"judgments": 2, "grades": [0, 1]}
    assert "labelled with 2 judgments (grades 0, 1).\n" in report.summary(found)


# What a command passes on, as (words, room, function, what it is called with).

FOLDER, TO, RUNS = Path("/here"), Path("y"), [Path("a.trec")]
LOADED = SimpleNamespace(folder=FOLDER, next_step=str)
SET, IMPORTED = {"evals": LOADED}, {"source": "beir:x", "to": TO}
PASSED_ON = [
    (["report"], workbook, "report_command", SET),
    (["report", "--full"], workbook, "report_command", SET | {"full": True}),
    (["check"], workbook, "check_command", SET),
    (["refresh"], workbook, "refresh_command", SET),
    (["freeze"], workbook, "freeze_command", SET),
    (["new", "--to", "y"], write, "new_command", {"to": TO}),
    (["learn"], copies, "make", ()),
    (["learn", "--fresh"], copies, "make", {"fresh": True}),
    (["drop", "q7"], merge, "drop_query", {"folder": FOLDER, "query_id": "q7"}),
    (["site"], site, "write_site", ()),
    *(
        (["compare", "a.trec", *words], compare, "command", SET | {"paths": RUNS} | more)
        for words, more in [
            ([], {}),
            (["b.jsonl"], {"paths": [*RUNS, Path("b.jsonl")]}),
            (["--base", "b.trec"], {"base": Path("b.trec")}),
            (["--split", "test"], {"split": "test"}),
            (["--split", "all"], {"split": "all"}),
            (["--matters", "1"], {"matters": 1.0}),
            (["--strict"], {"strict": True}),
            (["--to", "out"], {"to": Path("out")}),
        ]
    ),
    *(
        (
            ["import", "--from", "beir:x", "--to", "y", *words],
            write,
            "import_command",
            IMPORTED | more,
        )
        for words, more in [
            ([], {}),
            (["--split", "dev,test"], {"split": "dev,test"}),
            (["--max-docs", "20"], {"max_docs": 20}),
            (["--columns", "doc_id=pid"], {"columns": "doc_id=pid"}),
            (["--queries", "q", "--labels", "l"], {"queries": "q", "labels": "l"}),
            (["--language", "ja"], {"language": "ja"}),
            (["--title", "name"], {"title": "name"}),
            (["--text", "question,body"], {"text": "question,body"}),
            (["--halve"], {"halve": True}),
        ]
    ),
    (
        ["sql", "--to", "y", "--docs", "d", "--queries", "q", "--k1", "2", "--idf", "lucene"],
        *(sql_command, "sql_command"),
        (None, "duckdb", TO, "d", "q", None, bm25.Settings(k1=2.0, idf="lucene")),
    ),
]


def test_a_command_passes_on_what_was_typed_and_ends_as_it_is_told(monkeypatch, called):
    monkeypatch.setenv("EVALS", "/here")
    monkeypatch.setattr(evalset, "load", lambda folder: LOADED if folder == FOLDER else None)
    for words, room, name, wanted in PASSED_ON:
        notes = stub(monkeypatch, room, name)
        assert called(*words) == 7, words
        assert notes == [wanted if isinstance(wanted, tuple) else (wanted,)], words


def test_a_command_prints_what_was_done(folder, monkeypatch, called, capsys):
    for words, room, name, returned, shown in [
        (["learn"], copies, "make", ["one", "two"], "one\ntwo\n"),
        (["drop", "q7", "--evals", folder], merge, "drop_query", ["a: 1 row"], "a: 1 row\n"),
        (["progress", "--evals", folder], progress, "progress_report", "done", "done\n"),
        (["site"], site, "write_site", Path("site"), "site\n"),
    ]:
        stub(monkeypatch, room, name, returned)
        assert called(*words) == 0 and capsys.readouterr().out == shown, words
    assert called("export", "--evals", folder, "--to", folder / "out") == 0
    assert str(folder / "out" / "labels.csv") in capsys.readouterr().out.splitlines()
    for status, code in [("pass", 0), ("warn", 0), ("fail", 1)]:
        findings = [checks.Finding("depth", state, "", "") for state in ("pass", status)]
        stub(monkeypatch, audit, "of_folder", findings)
        assert called("audit", "--evals", folder) == code
        assert capsys.readouterr().out == audit.as_table(findings) + "\n"


def test_a_folder_is_that_of_the_option_then_of_the_variable_then_our_own(
    tmp_path, monkeypatch, called
):
    read = []
    monkeypatch.setattr(evalset, "load", lambda folder: read.append(folder) or LOADED)
    stub(monkeypatch, workbook, "check_command", 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALS", "else")
    assert called("check", "--evals", "x") == called("check") == 0
    monkeypatch.delenv("EVALS")
    assert called("check") == 0
    assert read == [tmp_path / "x", tmp_path / "else", evalset.DEFAULT]


def test_progress_prefers_the_learners_own_set(tmp_path, monkeypatch, called):
    notes = stub(monkeypatch, progress, "progress_report", "")
    monkeypatch.setattr(copies, "LEARN", tmp_path)
    monkeypatch.delenv("EVALS", raising=False)
    assert called("progress") == 0
    (tmp_path / "evals").mkdir()
    assert called("progress") == called("progress", "--run", "--evals", tmp_path / "gone") == 0
    read = [(evalset.DEFAULT, False), (tmp_path / "evals", False), (tmp_path / "gone", True)]
    assert notes == [(folder, {"run": run}) for folder, run in read]


def test_what_a_command_lacks_or_does_not_know_ends_with_2(called, capsys):
    for words, said in [
        ([], "the following arguments are required: COMMAND"),
        (["report", "--half"], "unrecognized arguments: --half"),
        (["unknown"], "invalid choice: 'unknown'"),
        (["drop"], "required: query"),
        (["export"], "required: --to"),
        (["new", "--to", "x", "--evals", "y"], "unrecognized arguments: --evals y"),
        (["import", "--to", "x"], "required: --from"),
        (["import", "--from", "x", "--to", "y", "--max-docs", "few"], "invalid int value: 'few'"),
        (["compare"], "required: runs"),
        (["compare", "a", "--split", "train"], "choose from 'dev', 'test', 'all'"),
        (["compare", "a", "--matters", "0"], "--matters: 0, wanted a number above 0, up to 1"),
        (["compare", "a", "--matters", "1.01"], "1.01, wanted a number above 0, up to 1"),
        (["compare", "a", "--matters", "much"], "invalid difference value: 'much'"),
    ]:
        with pytest.raises(SystemExit) as ended:
            called(*words)
        assert ended.value.code == 2 and said in capsys.readouterr().err, words


def test_help_names_every_command_its_options_and_the_kinds_of_sources(called, capsys):
    page = " ".join(__main__.parser(None).format_help().split())
    for name, (_, _, words) in __main__.COMMANDS.items():
        assert f"{name} {words}" in page
        with pytest.raises(SystemExit) as ended:
            called(name, "--help")
        assert ended.value.code == 0, name
        listed = re.findall(r"^  (--\S+)", capsys.readouterr().out, re.M)
        own = [option for names, option, *_ in __main__.OPTIONS if name in names.split()]
        assert {*listed} - {"--evals", "--debug"} == {o for o in own if o.startswith("-")}, name
    assert sorted(__main__.KINDS.split(", ")) == sorted(write.READERS)


# What a command says of bad input, and what else ends it. Tests run as root too, which may write
# anywhere: errors of the system are raised here where no real one is at hand.


def failing(monkeypatch, error):
    """Let every set that is read end in `error`."""

    def fail(path):
        raise error

    monkeypatch.setattr(evalset, "load", fail)


def test_a_set_whose_labels_are_not_done_is_told_what_comes_next(
    folder, monkeypatch, called, capsys
):
    queries, judgments = folder / "retrieval_queries.jsonl", folder / "judgments.jsonl"
    queries.write_text(queries.read_text().replace('["disk-full"]', "[]"))
    judgments.write_text("".join(judgments.read_text().splitlines(keepends=True)[2:]))
    notes = stub(monkeypatch, workbook, "report_command")
    assert called("report", "--evals", folder) == 1 and not notes
    said = capsys.readouterr().err
    assert said.startswith("1 query waits for a relevant document: q1; ")
    assert said.endswith(f"\n1 problem in {folder}\n")


def test_problems_are_counted_with_the_place_they_are_in(folder, monkeypatch, called, capsys):
    def fail(*args, **more):
        raise evalset.EvalSetError(["one", "two"])

    for room, name, words, where in [
        (write, "import_command", ["import", "--from", "beir:x", "--to", "y"], "beir:x"),
        (write, "new_command", ["new", "--to", "y"], "y"),
        (merge, "drop_query", ["drop", "q1", "--evals", "/z"], "/z"),
        (export, "write_exports", ["export", "--evals", folder, "--to", "y"], folder),
    ]:
        monkeypatch.setattr(room, name, fail)
        assert called(*words) == 1
        assert capsys.readouterr().err == f"one\ntwo\n2 problems in {where}\n"


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


PYTHON = Path(".venv", "Scripts" if os.name == "nt" else "bin", "python")


def test_a_python_without_the_packages_is_told_in_one_sentence(tmp_path):
    to = ["--to", str(tmp_path / "x")]
    more = {"compare": ["x.trec"], "drop": ["q1"], "import": ["--from", "text:x", *to]}
    more |= dict.fromkeys(("export", "new", "sql"), to)
    for name in __main__.COMMANDS:
        words = [name, *more.get(name, [])]
        done = run(*words, python=(sys.executable, "-S"))  # without site-packages
        assert done.returncode == (2 if name == "compare" else 1) and done.stdout == ""
        (line,) = done.stderr.removeprefix("cannot compare: ").splitlines()
        assert line.startswith("the package ") and f" is missing in {sys.executable}: " in line
        assert line.endswith(f"run make report once, then {PYTHON} -m helpers {' '.join(words)}")


def test_a_module_of_ours_that_is_missing_is_our_mistake(monkeypatch, called, capsys):
    monkeypatch.setitem(sys.modules, "helpers.learn.copies", None)
    assert called("learn") == 1
    assert capsys.readouterr().err.endswith(f", run_command): {REPORT_IT}\n")


@pytest.mark.parametrize(("words", "status"), [(["audit"], 1), (["compare", "a"], 2)])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (evalset.EvalSetError(["a:1: wrong"]), "a:1: wrong\n1 problem in "),
        (LearnError("no notebooks here"), "no notebooks here"),
        (OSError(errno.ENOSPC, "No space left on device", "x/a"), "x/a: No space left on device"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (TimeoutError("a cell took too long"), "a cell took too long"),
        (FileExistsError(errno.EEXIST, "File exists", "a"), "a: is a file, wanted a folder"),
        (IsADirectoryError(errno.EISDIR, "no", "a"), "a: is a folder, wanted a file"),
        (NotADirectoryError(errno.ENOTDIR, "no", "a/b"), "a/b: stands below a file, wanted a "),
        (RecursionError("deep"), "JSON or YAML of the input is nested too deeply, wanted "),
        (MemoryError(), "out of memory: take a smaller set or a machine with more"),
        (ModuleNotFoundError(name="scipy.sparse"), "the package scipy.sparse is missing in "),
    ],
)
def test_what_ends_a_command_is_told(monkeypatch, called, capsys, words, status, error, said):
    failing(monkeypatch, error)
    assert called(*words) == status
    shown = capsys.readouterr().err
    assert shown.startswith("cannot compare: " * (status - 1) + said)
    assert len(shown.splitlines()) == len(said.splitlines())


def test_a_mistake_of_ours_is_named_with_its_place_and_only_debug_shows_more(
    monkeypatch, called, capsys
):
    failing(monkeypatch, KeyError("a\nb"))
    assert called("audit") == 1
    (line,) = capsys.readouterr().err.splitlines()
    wanted = r"KeyError: 'a\\nb' \(helpers/tests/test_commands.py:\d+, fail\): "
    assert re.search(f"^{wanted}{REPORT_IT}$", line)
    assert called("audit", "--debug") == 1
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n") and shown.endswith(f"{line}\n")


def test_an_interrupted_command_says_so_in_one_word(monkeypatch, called, capsys):
    failing(monkeypatch, KeyboardInterrupt())
    for words in (["audit"], ["compare", "a"]):
        assert called(*words) == 130
        assert capsys.readouterr() == ("", "interrupted\n")


def learn_prints(code, output, **environment):
    """Return what `learn` ended with in a process of its own, if it prints what `code` makes."""
    page = "import sys; from helpers.learn import copies; from helpers import __main__; "
    page += f"copies.make = lambda: [{code}]; sys.exit(__main__.main())"
    command = [sys.executable, "-c", page, "learn"]
    environment = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=-1)


@pytest.mark.parametrize("code", ["'a'", "'a' * 100_000"])
def test_a_reader_that_went_away_or_a_full_disk_ends_a_command_without_a_traceback(code):
    read, write = os.pipe()
    os.close(read)
    done = learn_prints(code, write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = learn_prints(code, full)
        assert (done.returncode, done.stderr) == (1, b"standard output: No space left on device\n")


def test_an_output_of_few_characters_shows_the_others_as_codes():
    for name in ("ascii", "cp1252"):
        done = learn_prints(r"'\u6771 \ud800'", subprocess.PIPE, PYTHONIOENCODING=name)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.split() == [rb"\u6771", rb"\ud800"]


def test_a_file_that_grows_too_large_for_the_disk_is_not_left_behind(folder, called, capsys):
    """A real limit on the size of files stands in for a full disk."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, soft[1]))
    try:
        assert called("export", "--evals", folder, "--to", folder / "out") == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    assert capsys.readouterr().err.endswith("File too large\n")
    assert not [path for path in folder.rglob("*") if ".part" in path.name]


def test_sql_reads_the_set_for_what_is_not_given(monkeypatch, tmp_path):
    monkeypatch.setattr(evalset, "load", lambda folder: "set")
    monkeypatch.setattr(sql_command, "sql_command", lambda evals, *more: evals)
    for docs, queries, evals in ((None, None, "set"), ("d", None, "set"), ("d", "q", None)):
        assert __main__.sql(tmp_path, tmp_path, docs=docs, queries=queries) == evals
