"""python -m helpers: what a command imports, reads and passes on, and its exit status."""

import errno
import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import WITH_MAKE

from helpers import __main__
from helpers.label import audit, checks, write
from helpers.measure import evalset
from helpers.teach import LearnError, copies, progress, site, workbook

ROOT = evalset.DEFAULT.parent


def run(*words, python=(sys.executable,)):
    return subprocess.run(
        [*python, "-m", "helpers", *words], cwd=ROOT, capture_output=True, text=True
    )


@pytest.fixture
def called(monkeypatch):
    """Return a function that runs a command in this process and returns its exit status."""

    def run_here(*words):
        for name in ("stdout", "stderr"):  # main puts a Screen in their place
            monkeypatch.setattr(sys, name, getattr(sys, name))
        monkeypatch.setattr(sys, "argv", ["helpers", *map(str, words)])
        return __main__.main()

    return run_here


def stub(monkeypatch, module, name, returned=7):
    """Put a function in place that notes how it is called; return its notes."""
    notes = []

    def noted(*args, **more):
        notes.append((*args, more) if more else args)
        if isinstance(returned, BaseException):
            raise returned
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
    read, load = [], evalset.load
    monkeypatch.setattr(evalset, "load", lambda path=None: read.append(path) or load(path))
    for words in (["audit"], ["freeze"], ["export", "--to", folder / "out"]):
        assert called(*words, "--evals", folder) in (0, 1)
        assert read == [folder], words
        read.clear()


@WITH_MAKE
def test_a_target_that_needs_a_variable_asks_for_it(monkeypatch):
    monkeypatch.delenv("EVALS", raising=False)  # make check sets it
    for name in ("export", "import", "carry", "new", "drop", "compare", "card", "sql"):
        ready = ["make", name, "--assume-old=.venv/ready"]
        if name == "carry":  # it takes no set unasked
            ready += ["FROM=text:no/such", "TO=no/such"]
        done = subprocess.run(ready, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode, name
        assert re.search(rf"^{name} needs .*: make {name} ", done.stdout, re.M), name


FOLDER, RUN = Path("/here"), Path("a.trec")
LOADED = SimpleNamespace(folder=FOLDER, next_step=str, waiting={})
SQL = {"folder": FOLDER, "to": Path("y")}
SET, IMPORT = {"evals": LOADED}, ["import", "--from", "beir:x", "--to", "y"]
PASSED_ON = [  # (words, what the function is called with)
    *(([name], SET) for name in ("report", "check", "refresh", "freeze", "plan", "baseline")),
    (["report", "--full"], SET | {"full": True}),
    (["refresh", "--only", "a b"], SET | {"only": "a b"}),
    (["check", "--only", "a b"], SET | {"only": "a b"}),
    (["new", "--to", "y"], {"to": Path("y")}),
    (["learn"], ()),
    (["answers"], ()),
    (["learn", "--fresh"], {"fresh": True}),
    (["learn", "--short"], {"short": True}),
    (["drop", "q7"], {"folder": FOLDER, "query_id": "q7"}),
    (["card", "a.trec"], SET | {"path": RUN}),
    (["site"], ()),
    (["carry", "--from", "text:x", "--to", "y", "--title", "t"],
     {"folder": FOLDER, "source": "text:x", "to": Path("y"), "title": "t"}),
    (["carry", "--from", "text:x", "--in-place"],
     {"folder": FOLDER, "source": "text:x", "in_place": True}),
    *((["compare", "a.trec", *words.split()], SET | {"paths": [RUN]} | more) for words, more in [
        ("", {}),
        ("b.jsonl --base b.trec", {"paths": [RUN, Path("b.jsonl")], "base": Path("b.trec")}),
        ("--split test --matters 1 --strict", {"split": "test", "matters": 1.0, "strict": True}),
        ("--decides hit@5 --gate not-worse", {"decides": "hit@5", "gate": "not-worse"}),
        ("--to out --junit gate.xml", {"to": Path("out"), "junit": Path("gate.xml")}),
    ]),
    *(([*IMPORT, *words.split()], {"source": "beir:x", "to": Path("y")} | more) for words, more in [
        ("", {}),
        ("--split dev,test --max-docs 20", {"split": "dev,test", "max_docs": 20}),
        ("--columns doc_id=pid --halve", {"columns": "doc_id=pid", "halve": True}),
        ("--queries q --labels l --language ja", {"queries": "q", "labels": "l", "language": "ja"}),
        ("--title name --text question,body", {"title": "name", "text": "question,body"}),
    ]),
    *((["sql", "--to", "y", *words.split()], SQL | more) for words, more in [
        ("--docs d --queries q --k1 2", {"docs": "d", "queries": "q", "k1": 2.0}),
        ("--engine sail --chunks fixed", {"engine": "sail", "chunks": "fixed"}),
        ("--b 0.4 --idf lucene", {"b": 0.4, "idf": "lucene"}),
    ]),
    (["prompts", "--sample", "3"], {"folder": FOLDER, "sample": 3}),
    (["prompts", "--take"], {"folder": FOLDER, "take": True}),
    (["progress"], ()),
    (["progress", "--class", "x"], {"of_class": Path("x")}),
]  # fmt: skip


def test_a_command_passes_on_what_was_typed_and_ends_as_it_is_told(monkeypatch, called):
    monkeypatch.setenv("EVALS", "/here")
    monkeypatch.setattr(evalset, "load", lambda folder: LOADED if folder == FOLDER else None)
    for words, wanted in PASSED_ON:
        room, name = __main__.COMMANDS[words[0]][1].split(":")
        assert words[0] in f"{room}:{name}"
        notes = stub(monkeypatch, importlib.import_module(f"helpers.{room}"), name)
        assert called(*words) == 7, words
        assert notes == [wanted if isinstance(wanted, tuple) else (wanted,)], words


def test_a_command_prints_what_was_done(folder, monkeypatch, called, capsys):
    for word, room, name, returned, shown in [
        ("learn", copies, "learn_command", ["one", "two"], "one\ntwo\n"),
        ("progress", progress, "progress_report", "done", "done\n"),
        ("site", site, "write_site", Path("site"), "site\n"),
    ]:
        stub(monkeypatch, room, name, returned)
        assert called(word) == 0 and capsys.readouterr().out == shown, word
    assert called("export", "--evals", folder, "--to", folder / "out") == 0
    assert str(folder / "out" / "labels.csv") in capsys.readouterr().out.splitlines()
    for status, code in [("pass", 0), ("warn", 0), ("fail", 1)]:
        findings = [checks.Finding("depth", state, "", "") for state in ("pass", status)]
        stub(monkeypatch, audit, "folder_findings", findings)
        assert called("audit", "--evals", folder) == code
        assert capsys.readouterr().out == audit.as_table(findings) + "\n"


def test_a_folder_is_that_of_the_option_then_of_the_variable_then_our_own(
    tmp_path, monkeypatch, called
):
    notes = stub(monkeypatch, evalset, "load", LOADED)
    stub(monkeypatch, workbook, "check_command", 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALS", "else")
    assert called("check", "--evals", "x") == called("check") == 0
    monkeypatch.delenv("EVALS")
    assert called("check") == 0
    assert notes == [(tmp_path / "x",), (tmp_path / "else",), (evalset.DEFAULT,)]


LACKING = [  # (words, what is said)
    ([], "the following arguments are required: COMMAND"),
    (["unknown"], "invalid choice: 'unknown'"),
    (["sql", "--to", "x", "--idf", "bm25"], "choose from 'okapi', 'lucene'"),
    (["new", "--to", "x", "--evals", "y"], "unrecognized arguments: --evals y"),
    (["compare", "a", "--split", "train"], "choose from 'dev', 'test', 'all'"),
]


def test_what_a_command_lacks_or_does_not_know_ends_with_2(called, capsys):
    for words, message in LACKING:
        with pytest.raises(SystemExit) as ended:
            called(*words)
        assert ended.value.code == 2 and message in capsys.readouterr().err, words


def test_help_names_every_command_its_options_and_the_kinds_of_sources(called, capsys):
    page = " ".join(__main__.parser(None).format_help().split())
    for name, command in __main__.COMMANDS.items():
        assert f"{name} {command.words}" in page
        with pytest.raises(SystemExit) as ended:
            called(name, "--help")
        assert ended.value.code == 0, name
        listed = capsys.readouterr().out
        tried = {word for words, _ in PASSED_ON if words[0] == name for word in words}
        assert all(word in listed for word in tried if word.startswith("--")), name
    assert sorted(__main__.KINDS.split(", ")) == sorted(write.READERS)


# What ends a command. Errors of the system are raised here: root, too, may write anywhere.
def test_a_set_whose_labels_are_not_done_is_told_what_comes_next(
    folder, monkeypatch, called, capsys
):
    queries = folder / "retrieval_queries.jsonl"
    queries.write_text(queries.read_text().replace('["disk-full"]', "[]"))
    (folder / "judgments.jsonl").unlink()
    notes = stub(monkeypatch, workbook, "report_command")
    assert called("report", "--evals", folder) == 1 and not notes
    shown = capsys.readouterr().err
    assert shown.startswith(f"{folder}: 1 query waits for a relevant document: q1; ")
    assert shown.endswith("\n1 problem\n")


BROKEN = [  # (a file of the set, a text of it, what stands in its place, what is told)
    ("retrieval_queries.jsonl", '"q1"', '".."', "retrieval_queries.jsonl:1: field query_id is "),
    ("judgments.jsonl", '"disk-full"', '"disk\\u200b-full"', "judgments.jsonl:1: field doc_id is "),
    ("corpus/disk-full.md", "title: ", "title: [", "disk-full.md:3: bad front matter ("),
]
READING = "audit,plan,freeze,baseline,report,check,compare a.trec,card a.trec,"
READING += "export --to out,sql --to out"


def test_a_broken_set_is_refused_by_each_command_that_reads_it_and_stays(folder, called, capsys):
    for name, old, new, told in BROKEN:
        whole = (folder / name).read_text()
        (folder / name).write_text(whole.replace(old, new, 1))
        before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
        for command in READING.split(","):
            words = command.replace("out", str(folder / "out")).split()
            assert called(*words, "--evals", folder) in (1, 2), command
            out, err = capsys.readouterr()
            assert told in err and not out and "Traceback" not in err, (command, err)
            after = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
            assert after == before, command
        (folder / name).write_text(whole)


def test_drop_takes_a_query_out_also_where_the_set_no_longer_loads(folder):
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    broken = run("audit", "--evals", str(folder))
    assert broken.returncode == 1 and "make drop QUERY=q2" in broken.stderr
    done = run("drop", "q2", "--evals", str(folder))
    assert (done.returncode, done.stdout) == (0, "judgments.jsonl: 1 row moved to dropped.jsonl\n")
    again = run("drop", "q2", "--evals", str(folder))
    assert again.returncode == 1 and "no file has a row of the query q2" in again.stderr


@pytest.mark.proof
def test_a_python_without_the_packages_is_told_in_one_sentence(tmp_path):
    python = Path(".venv", "Scripts" if os.name == "nt" else "bin", "python")
    to = str(tmp_path / "x")
    for words in (["report"], ["learn"], ["compare", "x.trec"], ["sql", "--to", to]):
        done = run(*words, python=(sys.executable, "-S"))  # without site-packages
        assert done.returncode == (2 if "compare" in words else 1) and done.stdout == ""
        (line,) = done.stderr.removeprefix("cannot compare: ").splitlines()
        assert line.startswith("the package ") and f" is missing in {sys.executable}: " in line
        assert line.endswith(f"run make report once, then {python} -m helpers {' '.join(words)}")


ENDS = [  # (error, what is said)
    (evalset.EvalSetError(["one", "two"]), "one\ntwo\n2 problems"),
    (LearnError("no notebooks here"), "no notebooks here"),
    (OSError(errno.ENOSPC, "No space left on device", "x/a"), "x/a: No space left on device"),
    (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    (TimeoutError("a cell took too long"), "a cell took too long"),
    (ModuleNotFoundError(name="scipy.sparse"), "the package scipy.sparse is missing in "),
]


@pytest.mark.parametrize(("words", "status"), [(["audit"], 1), (["compare", "a"], 2)])
def test_what_ends_a_command_is_told(monkeypatch, called, capsys, words, status):
    for error, message in ENDS:
        stub(monkeypatch, evalset, "load", error)
        assert called(*words) == status
        shown = capsys.readouterr().err
        assert shown.startswith("cannot compare: " * (status - 1) + message)
        assert len(shown.splitlines()) == len(message.splitlines())
    stub(monkeypatch, evalset, "load", KeyboardInterrupt())
    assert called(*words) == 130 and capsys.readouterr() == ("", "interrupted\n")


def test_a_missing_package_is_an_error_of_junit_too(tmp_path):
    path = tmp_path / "gate.xml"
    done = run("compare", "x.trec", "--junit", str(path), python=(sys.executable, "-S"))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "<error>the package " in path.read_text() and " is missing in " in path.read_text()


@pytest.mark.skipif(os.name == "nt", reason="ends the process there")
def test_what_is_half_done_is_cleared_where_a_command_is_told_to_end(tmp_path, monkeypatch, called):
    former = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(evalset, "load", lambda path: os.kill(os.getpid(), signal.SIGTERM))
    assert called("new", "--to", tmp_path / "new") == 130 and not [*tmp_path.iterdir()]
    signal.signal(signal.SIGTERM, former)


def test_a_mistake_of_ours_comes_with_its_traceback(monkeypatch, called, capsys):
    for error in (KeyError("a\x1b"), ModuleNotFoundError("none", name="helpers.x")):
        stub(monkeypatch, evalset, "load", error)
        assert called("audit") == 1
        first, *_, what, last = capsys.readouterr().err.splitlines()
        assert first == "Traceback (most recent call last):"
        assert what == f"{type(error).__name__}: {error}"
        assert last == "This is a mistake of the workbook: report it with the lines above"


@pytest.mark.proof
@pytest.mark.parametrize("code", ["'a'", "'a' * 100_000"])
def test_a_reader_that_went_away_ends_a_command_without_a_traceback(code):
    page = "import sys; from helpers.teach import copies; from helpers import __main__; "
    page += f"copies.learn_command = lambda: [{code}]; sys.exit(__main__.main())"
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", page, "learn"]
    done = subprocess.run(command, cwd=ROOT, stdout=write, stderr=-1)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
