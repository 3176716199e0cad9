"""python -m helpers: what a command imports and reads, and its exit status."""

import errno
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from conftest import WITH_MAKE

from helpers import __main__, baseline, compare, evalset, report, stats, workbook
from helpers.labels import audit, checks, merge
from helpers.learn import LearnError, copies, progress
from helpers.sources import write


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
    more["sql"] = ["--to", "x"]
    words = [name, *more.get(name, [])]
    words += ["--from", "text:x", "--to", str(tmp_path / "x")] if name == "import" else []
    done = run(*words, python=(sys.executable, "-S"))  # without site-packages, as a system's own
    assert done.returncode == (2 if name == "compare" else 1) and done.stdout == ""
    (line,) = done.stderr.removeprefix("cannot compare: ").splitlines()
    assert line.startswith("the package ") and f" is missing in {sys.executable}: " in line
    python = Path(".venv", "Scripts" if os.name == "nt" else "bin", "python")
    assert line.endswith(f"run make report once, then {python} -m helpers {' '.join(words)}")


def test_a_module_of_ours_that_is_missing_is_our_mistake(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["helpers", "learn"])
    monkeypatch.setitem(sys.modules, "helpers.learn", None)
    assert __main__.main() == 1
    assert capsys.readouterr().err.endswith(
        ", _run): run again with --debug for the traceback, and report it\n"
    )


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


@pytest.mark.parametrize("name", __main__.COMMANDS)
def test_every_command_has_a_target_of_make(name):
    page = (evalset.DEFAULT.parent / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(rf"^{name}: \$\(READY\)  ## .+\n((?:\t.+\n)+)", page, re.MULTILINE)
    assert f"$(HELPERS) {name}" in recipe[1]
    assert re.search(rf"^\.PHONY:.* {name}\b", page, re.MULTILINE)


@WITH_MAKE
@pytest.mark.parametrize("name", ["export", "import", "new", "drop", "compare"])
def test_a_target_that_needs_a_variable_asks_for_it(name):
    ready = ["make", name, "--assume-old=.venv/ready"]
    done = subprocess.run(ready, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert done.returncode and re.search(rf"^{name} needs .*: make {name} ", done.stdout, re.M)


def test_one_of_a_thing_is_told_in_the_singular(folder):
    assert "| documents | 2 of 1 kind about 1 service |" in report.facts(evalset.load(folder))
    found = baseline.read_results(evalset.DEFAULT)
    found["corpus"] |= {"name": "X", "documents": 1, "tokens": 1200}
    found["queries"] |= {"n": 1, "unanswered": 0, "judgments": 1, "grades": [1]}
    assert report.summary(found).startswith(
        "Corpus: X, 1 document, 1,200 tokens. Queries: 1, labelled with 1 judgment (grade 1).\n"
    )
    found["queries"] |= {"judgments": 2, "grades": [0, 1]}
    assert "labelled with 2 judgments (grades 0, 1).\n" in report.summary(found)


# What a command passes on.


def called(monkeypatch, *words):
    """Return the exit status of a command that runs in this process."""
    monkeypatch.setattr(sys, "argv", ["helpers", *map(str, words)])
    return __main__.main()


def stub(monkeypatch, module, name, status=7):
    """Put a function in place that notes how it is called; return its notes."""
    notes = []

    def noted(*args, **more):
        notes.append((*args, more) if more else args)
        return status

    monkeypatch.setattr(module, name, noted)
    return notes


@pytest.mark.parametrize(
    ("words", "name", "more"),
    [
        (["report"], "report_command", (False,)),
        (["report", "--full"], "report_command", (True,)),
        (["check"], "check_command", ()),
    ],
)
def test_a_command_of_the_workbook_gets_its_folder(folder, monkeypatch, words, name, more):
    notes = stub(monkeypatch, workbook, name)
    assert called(monkeypatch, *words, "--evals", folder) == 7
    assert notes == [(folder, *more)]


def test_a_folder_is_that_of_the_option_then_of_the_variable_then_our_own(folder, monkeypatch):
    notes = stub(monkeypatch, workbook, "check_command", 0)
    monkeypatch.setattr(
        evalset, "load", lambda path, load=evalset.load: load(folder)._replace(folder=path)
    )
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("EVALS", "else")
    assert called(monkeypatch, "check", "--evals", folder.name) == 0
    assert called(monkeypatch, "check") == 0
    monkeypatch.delenv("EVALS")
    assert called(monkeypatch, "check") == 0
    assert notes == [(folder.resolve(),), (folder.parent.resolve() / "else",), (evalset.DEFAULT,)]


def test_refresh_takes_our_own_folder_only(folder, monkeypatch, capsys):
    notes = stub(monkeypatch, workbook, "refresh_command")
    assert called(monkeypatch, "refresh", "--evals", folder) == 2 and not notes
    assert capsys.readouterr().err == (
        "refresh writes into the workbook itself and takes its own evals/ only; "
        "for another folder use report\n"
    )
    monkeypatch.setattr(evalset, "DEFAULT", folder)
    assert called(monkeypatch, "refresh", "--evals", folder) == 7 and notes == [(folder,)]


def test_freeze_gets_the_set_that_was_read(folder, monkeypatch):
    notes = stub(monkeypatch, workbook, "freeze_command")
    assert called(monkeypatch, "freeze", "--evals", folder) == 7
    assert [evals.folder for (evals,) in notes] == [folder] and notes[0][0].queries


@pytest.mark.parametrize(
    ("statuses", "code"), [([], 0), (["pass", "warn"], 0), (["pass", "fail", "warn"], 1)]
)
def test_an_audit_ends_with_1_where_a_check_fails(folder, monkeypatch, capsys, statuses, code):
    found = [checks.Finding("depth", status, "found", "wanted") for status in statuses]
    monkeypatch.setattr(audit, "of_folder", lambda evals: found if evals.folder == folder else [])
    assert called(monkeypatch, "audit", "--evals", folder) == code
    assert capsys.readouterr().out == audit.as_table(found) + "\n"


@pytest.mark.parametrize("words, fresh", [([], False), (["--fresh"], True)])
def test_learn_passes_fresh_on(monkeypatch, capsys, words, fresh):
    notes = stub(monkeypatch, copies, "make", ["one written", "two written"])
    assert called(monkeypatch, "learn", *words) == 0 and notes == [(fresh,)]
    assert capsys.readouterr().out == "one written\ntwo written\n"


@pytest.mark.parametrize("name", ["learn", "progress"])
def test_copies_need_no_set_that_loads(tmp_path, monkeypatch, name):
    stub(monkeypatch, copies, "make", [])
    stub(monkeypatch, progress, "progress_report", "")
    assert called(monkeypatch, name, "--evals", tmp_path / "gone") == 0


def test_progress_is_of_the_folder_that_is_named_then_of_the_learners_own(
    monkeypatch, tmp_path, capsys
):
    notes = stub(monkeypatch, progress, "progress_report", "all is done")
    monkeypatch.setattr(copies, "LEARN", tmp_path)
    monkeypatch.delenv("EVALS", raising=False)
    assert called(monkeypatch, "progress") == 0
    (tmp_path / "evals").mkdir()
    assert called(monkeypatch, "progress") == 0
    assert called(monkeypatch, "progress", "--run", "--evals", tmp_path) == 0
    folders = [(evalset.DEFAULT, False), (tmp_path / "evals", False), (tmp_path, True)]
    assert notes == [(folder, {"run": run}) for folder, run in folders]
    assert capsys.readouterr().out == "all is done\n" * 3


def test_drop_tells_a_line_a_file(monkeypatch, tmp_path, capsys):
    notes = stub(monkeypatch, merge, "drop_query", ["a: 1 row", "b: 2 rows"])
    assert called(monkeypatch, "drop", "q7", "--evals", tmp_path) == 0
    assert notes == [(tmp_path, "q7")] and capsys.readouterr().out == "a: 1 row\nb: 2 rows\n"


COMPARED = (["a.trec"], None, "dev", stats.MATTERS, False, None)


@pytest.mark.parametrize(
    ("words", "place", "value"),
    [
        ([], 0, ["a.trec"]),
        (["b.jsonl", "c.trec"], 0, ["a.trec", "b.jsonl", "c.trec"]),
        (["--base", "b.trec"], 1, Path("b.trec")),
        (["--split", "test"], 2, "test"),
        (["--split", "all"], 2, "all"),
        (["--split", "dev"], 2, "dev"),
        (["--matters", "1"], 3, 1.0),
        (["--matters", "0.001"], 3, 0.001),
        (["--strict"], 4, True),
        (["--to", "out"], 5, Path("out")),
    ],
)
def test_compare_passes_its_options_on(folder, monkeypatch, words, place, value):
    notes = stub(monkeypatch, compare, "command", 3)
    assert called(monkeypatch, "compare", "a.trec", *words, "--evals", folder) == 3
    evals, *rest = notes[0]
    wanted = [*COMPARED[:place], value, *COMPARED[place + 1 :]]
    assert evals.folder == folder and rest == [[*map(Path, wanted[0])], *wanted[1:]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "required: runs"),
        (["a.trec", "--split", "train"], "choose from 'dev', 'test', 'all'"),
        (["a.trec", "--matters", "0"], "argument --matters: 0, wanted a number above 0, up to 1"),
        (["a.trec", "--matters", "1.01"], "1.01, wanted a number above 0, up to 1"),
        (["a.trec", "--matters", "much"], "invalid difference value: 'much'"),
    ],
)
def test_compare_refuses_other_options(monkeypatch, capsys, words, said):
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, "compare", *words)
    assert ended.value.code == 2 and said in capsys.readouterr().err


IMPORTED = {
    "split": None,
    "max_docs": None,
    "queries_language": None,
    "title": None,
    "text": None,
    "halve": False,
}


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (["--split", "dev,test"], {"split": "dev,test"}),
        (["--max-docs", "20"], {"max_docs": 20}),
        (["--queries-language", "german"], {"queries_language": "german"}),
        (["--title", "name"], {"title": "name"}),
        (["--text", "question,body"], {"text": "question,body"}),
        (["--halve"], {"halve": True}),
    ],
)
def test_import_passes_its_options_on(monkeypatch, words, changed):
    notes = stub(monkeypatch, write, "import_command")
    assert called(monkeypatch, "import", "--from", "beir:x", "--to", "y", *words) == 7
    assert notes == [("beir:x", Path("y"), IMPORTED | changed)]


def test_new_passes_its_folder_on(monkeypatch):
    notes = stub(monkeypatch, write, "new_command")
    assert called(monkeypatch, "new", "--to", "y") == 7 and notes == [(Path("y"),)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["report", "--half"], "unrecognized arguments: --half"),
        (["unknown"], "invalid choice: 'unknown'"),
        (["drop"], "required: query"),
        (["export"], "required: --to"),
        (["new"], "required: --to"),
        (["new", "--to", "x", "--evals", "y"], "unrecognized arguments: --evals y"),
        (["import", "--to", "x"], "required: --from"),
        (["import", "--from", "text:x"], "required: --to"),
        (["import", "--from", "x", "--to", "y", "--max-docs", "few"], "invalid int value: 'few'"),
    ],
)
def test_what_a_command_lacks_or_does_not_know_ends_with_2(monkeypatch, capsys, words, said):
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, *words)
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_help_names_every_command_and_its_options():
    page = " ".join(__main__.parser(None).format_help().split())
    for name, (_, _, words) in __main__.COMMANDS.items():
        assert f"{name} {words}" in page
    assert page.startswith("usage: python -m helpers ")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("report", "--full --evals --debug"),
        ("learn", "--fresh --evals --debug"),
        ("export", "--to --evals --debug"),
        ("compare", "--base --split --matters --strict --to --evals --debug"),
        (
            "import",
            "--to --from --split --max-docs --queries-language --title --text --halve --debug",
        ),
        ("new", "--to --debug"),
    ],
)
def test_help_of_a_command_names_its_options(monkeypatch, capsys, name, options):
    with pytest.raises(SystemExit) as ended:
        called(monkeypatch, name, "--help")
    page = capsys.readouterr().out
    assert ended.value.code == 0 and re.findall(r"^  (--\S+)", page, re.M) == options.split()
    assert ("ir_datasets" in page) == (name == "import")


# What a command says of bad input.


def test_a_set_whose_labels_are_not_done_is_told_what_comes_next(folder, monkeypatch, capsys):
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().replace('["disk-full"]', "[]"))
    notes = stub(monkeypatch, workbook, "report_command")
    judged = folder / "judgments.jsonl"
    judged.write_text("".join(judged.read_text().splitlines(keepends=True)[2:]))
    assert called(monkeypatch, "report", "--evals", folder) == 1 and not notes
    said = capsys.readouterr().err
    assert said.startswith("1 query waits for a relevant document: q1; ")
    assert said.endswith(f"\n1 problem in {folder}\n")


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["import", "--from", "beir:x", "--to", "y"], "beir:x"),
        (["new", "--to", "y"], "y"),
        (["drop", "q1", "--evals", "/z"], "/z"),
    ],
)
def test_problems_are_counted_with_the_place_they_are_in(monkeypatch, capsys, words, where):
    def fail(*args, **more):
        raise evalset.EvalSetError(["one", "two"])

    for module, name in ((write, "import_command"), (write, "new_command"), (merge, "drop_query")):
        monkeypatch.setattr(module, name, fail)
    assert called(monkeypatch, *words) == 1
    assert capsys.readouterr().err == f"one\ntwo\n2 problems in {where}\n"


@pytest.mark.parametrize(("words", "status"), [(["audit"], 1), (["compare", "audit"], 2)])
def test_bad_input_ends_with_1_and_of_compare_with_2(folder, monkeypatch, capsys, words, status):
    (folder / "retrieval_queries.jsonl").write_text("{\n[]\n")
    (folder / "judgments.jsonl").unlink()
    assert called(monkeypatch, *words, "--evals", folder) == status
    assert capsys.readouterr().err.endswith(f"\n2 problems in {folder}\n")


@pytest.mark.parametrize(("words", "status"), [(["audit"], 1), (["compare", "a.trec"], 2)])
@pytest.mark.parametrize(("system", "scripts"), [("posix", "bin"), ("nt", "Scripts")])
def test_a_missing_package_is_told_with_the_python_to_use(
    monkeypatch, capsys, words, status, system, scripts
):
    def fail(path):
        raise ModuleNotFoundError("No module named 'scipy.sparse'", name="scipy.sparse")

    monkeypatch.setattr(__main__, "os", types.SimpleNamespace(name=system))
    monkeypatch.setattr(evalset, "load", fail)
    assert called(monkeypatch, *words) == status
    python = Path(".venv", scripts, "python")
    cannot = "cannot compare: " if status == 2 else ""
    assert capsys.readouterr().err == (
        f"{cannot}the package scipy.sparse is missing in {sys.executable}: "
        f"run make report once, then {python} -m helpers {' '.join(words)}\n"
    )


def test_a_learner_error_ends_with_1(monkeypatch, capsys):
    def fail(fresh):
        raise LearnError("no notebooks here")

    monkeypatch.setattr(copies, "make", fail)
    assert called(monkeypatch, "learn") == 1
    assert capsys.readouterr().err == "no notebooks here\n"


def test_export_writes_where_it_is_told(folder, monkeypatch, capsys):
    to = folder / "out"
    monkeypatch.setattr(sys, "argv", ["helpers", "export", "--evals", str(folder), "--to", str(to)])
    assert __main__.main() == 0 and (to / "labels.csv").exists()
    assert str(to / "labels.csv") in capsys.readouterr().out.splitlines()


# What ends a command. Tests run as root too, which may write anywhere: errors of the system are
# raised here where no real one is at hand.


def failing(monkeypatch, error):
    """Let every set that is read end in `error`."""

    def fail(path):
        raise error

    monkeypatch.setattr(evalset, "load", fail)


ENCODING = UnicodeEncodeError("utf-8", "a\ud800", 1, 2, "surrogates not allowed")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x/a"), "x/a: No space left on device"),
        (OSError(errno.EROFS, "Read-only file system", "a"), "a: Read-only file system"),
        (PermissionError(errno.EACCES, "Permission denied", "a"), "a: Permission denied"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (TimeoutError("a cell took too long"), "a cell took too long"),
        (FileExistsError(errno.EEXIST, "File exists", "a"), "a: is a file, wanted a folder"),
        (IsADirectoryError(errno.EISDIR, "no", "a"), "a: is a folder, wanted a file"),
        (NotADirectoryError(errno.ENOTDIR, "no", "a/b"), "a/b: stands below a file, wanted a "),
        (MemoryError(), "out of memory: take a smaller set or a machine with more"),
        (RecursionError("deep"), "JSON or YAML of the input is nested too deeply, wanted "),
        (ENCODING, "the input holds '\\ud800', half of a character: utf-8 has no such"),
        (LearnError("no notebooks here"), "no notebooks here"),
    ],
)
@pytest.mark.parametrize(("words", "status"), [(["audit"], 1), (["compare", "a"], 2)])
def test_what_ends_a_command_is_told_in_one_line(monkeypatch, capsys, words, status, error, said):
    failing(monkeypatch, error)
    assert called(monkeypatch, *words) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("cannot compare: " * (status - 1) + said)


@pytest.mark.parametrize("words", [["audit"], ["compare", "a"]])
def test_a_mistake_of_ours_is_named_with_its_place_and_only_debug_shows_more(
    monkeypatch, capsys, words
):
    failing(monkeypatch, KeyError("a\nb"))
    assert called(monkeypatch, *words) == len(words)
    (line,) = capsys.readouterr().err.splitlines()
    wanted = r"KeyError: 'a\\nb' \(helpers/tests/test_commands.py:\d+, fail\): run again with "
    assert re.search(wanted + "--debug for the traceback, and report it$", line)
    assert called(monkeypatch, *words, "--debug") == len(words)
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n") and shown.endswith(f"{line}\n")


def test_debug_shows_where_bad_input_was_found(tmp_path, monkeypatch, capsys):
    assert called(monkeypatch, "audit", "--evals", tmp_path, "--debug") == 1
    said = capsys.readouterr().err
    assert "Traceback" in said and said.endswith(f"\n1 problem in {tmp_path}\n")


def test_an_interrupted_command_says_so_in_one_word(monkeypatch, capsys):
    failing(monkeypatch, KeyboardInterrupt())
    for words in (["audit"], ["compare", "a"]):
        assert called(monkeypatch, *words) == 130
        assert capsys.readouterr() == ("", "interrupted\n")


SAY = "import sys; from helpers import __main__; __main__.COMMANDS['learn'] = ({}, 'no folder', '')"


def said_by(code, output, **environment):
    """Return what a command ended with that runs `code` (of its options `o`) in its own process."""
    page = SAY.format(f"lambda sub: lambda o: ({code}) or 0") + "; sys.exit(__main__.main())"
    command = [sys.executable, "-c", page, "learn"]
    environment = {**os.environ, **environment}
    return subprocess.run(
        command, cwd=evalset.DEFAULT.parent, env=environment, stdout=output, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("code", ["print('a')", "print('a' * 100_000)"])
def test_a_reader_that_went_away_ends_a_command_in_silence(code):
    read, write = os.pipe()
    os.close(read)
    done = said_by(code, write)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("code", ["print('a')", "print('a' * 100_000)"])
def test_a_full_disk_under_the_output_is_told(code, buffered):
    with open("/dev/full", "w") as full:
        done = said_by(code, full, PYTHONUNBUFFERED=buffered)
    assert (done.returncode, done.stderr) == (1, b"standard output: No space left on device\n")


@pytest.mark.parametrize("name", ["ascii", "cp1252"])
def test_an_output_of_few_characters_shows_the_others_as_codes(name):
    done = said_by(r"print('\u6771 \ud800')", subprocess.PIPE, PYTHONIOENCODING=name)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.split() == [rb"\u6771", rb"\ud800"]


def test_a_file_that_grows_too_large_for_the_disk_is_not_left_behind(folder, monkeypatch, capsys):
    """A real limit on the size of files stands in for a full disk."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, soft[1]))
    try:
        assert called(monkeypatch, "export", "--evals", folder, "--to", folder / "out") == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    assert capsys.readouterr().err.endswith("File too large\n")
    assert not [path for path in folder.rglob("*") if ".part" in path.name]
