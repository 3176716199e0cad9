"""Running notebooks, refreshing what is generated, and checking that all of it is as stored."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat import v4

from helpers import evalset, files, report, results, workbook
from helpers.labels import pooling

ROOT = workbook.ROOT


def test_a_notebook_runs_on_its_folder_with_a_fixed_hash_seed(monkeypatch):
    monkeypatch.setenv("EVALS", "another")
    monkeypatch.setenv("KEPT", "as it is")
    monkeypatch.setenv("MPLBACKEND", "agg")  # shows no figure in a notebook
    environment = workbook.environment(Path("x"))
    changed = {"EVALS": "x", "PYTHONHASHSEED": "0", "JUPYTER_PREFER_ENV_PATH": "1"}
    kept = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    assert environment == {**kept, **changed} and environment["KEPT"] == "as it is"


def notebook(tmp_path, *sources):
    """Write a notebook, a text that begins with # as Markdown; return its path."""
    make = {True: v4.new_markdown_cell, False: v4.new_code_cell}
    path = tmp_path / "made.ipynb"
    nbformat.write(v4.new_notebook(cells=[make[t.startswith("#")](t) for t in sources]), path)
    return path


@pytest.mark.proof
def test_a_notebook_is_executed_in_its_place_and_its_parts_are_shown(tmp_path, capsys):
    path = notebook(
        tmp_path,
        "# Title",
        "import os, sys\nn = 1",
        "## 1. First part (30 minutes)\n\n### Below it",
        f"assert os.environ['EVALS'] == {str(tmp_path / 'set')!r} and n == 1",
        "print(1, flush=True); print(2, flush=True)",
        f"assert sys.executable == {sys.executable!r}; print(os.getcwd())",
        "n += 1; print(n)",
        "print(n, 'again')",
    )
    before = path.read_bytes()
    executed = workbook.execute(path, tmp_path / "set")
    assert path.read_bytes() == before
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    assert code[-1].outputs[0].text == "2 again\n"
    assert [output.text for output in code[2].outputs] == ["1\n2\n"]
    assert code[3].outputs[0].text == f"{tmp_path}\n"
    assert not any("execution" in cell.metadata for cell in code)
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    assert executed.metadata.language_info == {"name": "python"}
    parts = "      Title\n      1. First part (30 minutes)\n"
    assert capsys.readouterr() == (parts, "")


@pytest.mark.proof
@pytest.mark.skipif(os.name == "nt", reason="asks for a process by its id")
def test_ctrl_c_ends_a_notebook_and_its_kernel_at_once(tmp_path, capfd):
    """nbclient takes SIGINT for itself, and then waits for a kernel that it has ended."""
    pid = tmp_path / "pid"
    code = f"open({str(pid)!r}, 'w').write(str(os.getpid())); os.kill(os.getppid(), 2)"
    path = notebook(tmp_path, f"import os, time; {code}; time.sleep(60)")
    with pytest.raises(KeyboardInterrupt):
        workbook.execute(path, tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_report_runs_the_notebooks_in_their_order_and_tells_the_summary(
    folder, monkeypatch, capsys
):
    ran, evals = [], evalset.load(folder)
    monkeypatch.setattr(workbook, "execute", lambda path, on: ran.append((path, on)) or path.stem)
    monkeypatch.setattr(report, "html", lambda executed: f"<p>{executed}</p>")
    monkeypatch.setattr(results, "read_results", lambda on: f"summary of {on.name}")
    monkeypatch.setattr(report, "summary", lambda found, show: show(found))
    monkeypatch.setattr(results, "what_next", lambda on: f"next {on.name}")
    page = folder / "retrieval_eval.html"
    for more, paths in (([], workbook.NOTEBOOKS), ([True], workbook.NOTEBOOKS + workbook.FURTHER)):
        ran.clear()
        assert workbook.report_command(evals, *more) == 0
        assert ran == [(path, folder) for path in paths]
        assert page.read_text() == "<p>retrieval_eval</p>"
        said = capsys.readouterr().out
        many, first = len(paths), workbook.SESSIONS[0].stem
        assert said.startswith(f"[1/{many}] {first}\n      0 s\n[2/{many}] ")
        told = f"\nsummary of {folder.name}\n\nwrite-up: {page}\nnext {folder.name}\n"
        assert said.endswith(told)


def test_a_cell_that_fails_is_told_without_its_traceback(monkeypatch, tmp_path):
    class Client(SimpleNamespace):
        create_kernel_manager = SimpleNamespace

        def execute(self, env):
            raise CellExecutionError("a\nlong\ntraceback", *self.error)

    monkeypatch.setattr(workbook, "NotebookClient", lambda made, **options: Client())
    for error, said in [
        (
            ("ValueError", "\x1b[31mno\x1b[0m\nmore"),
            "made: a cell failed with ValueError: no more: ",
        ),
        (("EvalSetError", "a:1: one\nb:2: two"), "a:1: one\nb:2: two"),
        (("CannotCompare", "x.json: made on another corpus"), "x.json: made on another corpus"),
    ]:
        Client.error = error
        with pytest.raises(evalset.EvalSetError) as caught:
            workbook.execute(notebook(tmp_path, "1"), tmp_path)
        assert str(caught.value).startswith(said) and "long" not in str(caught.value)


def test_freeze_writes_the_negatives_then_the_manifest(folder, capsys):
    evals = evalset.load(folder)
    assert workbook.freeze_command(evals) == 0
    manifest = folder / "manifest.json"
    assert capsys.readouterr().out == f"{manifest} describes the folder as it is now\n"
    found = json.loads(manifest.read_text())
    assert found["seeds"] == {"negatives": 2026} and "negatives.jsonl" in found["files"]
    rows = [json.loads(line) for line in (folder / "negatives.jsonl").read_text().splitlines()]
    assert rows == pooling.negatives(evals, pooling.by_ranker(evals), 2026)
    assert workbook.freeze_command(evals) == 0 and json.loads(manifest.read_text()) == found


# Generated blocks.

PAGE = "a\n<!-- generated: make refresh -->\nold\nlines\n<!-- end -->\nb\n"


@pytest.fixture
def pages(monkeypatch, tmp_path):
    """Put a README and a data card in the workbook's place; their blocks are what is told here."""
    made = {"summary": "new \\1", "facts": "old\nlines"}
    for name in ("README.md", "evals/README.md"):
        files.write(tmp_path / name, PAGE)
    monkeypatch.setattr(workbook, "ROOT", tmp_path)
    monkeypatch.setattr(evalset, "load", lambda folder: folder)
    monkeypatch.setattr(results, "read_results", lambda folder: folder)
    monkeypatch.setattr(report, "summary", lambda of: made["summary"] if of == tmp_path else "")
    monkeypatch.setattr(report, "facts", lambda of: made["facts"] if of == tmp_path else "")
    return made


def test_a_block_that_is_not_as_the_results_say_is_named(pages, tmp_path):
    fresh = workbook.fresh_pages(tmp_path)
    block = "a\n<!-- generated: make refresh -->\nnew \\1\n<!-- end -->\nb\n"
    assert fresh == {tmp_path / "README.md": block, tmp_path / "evals" / "README.md": PAGE}
    said = ": its generated block differs from the results, run: make refresh"
    assert workbook.stale_blocks(tmp_path) == ["README.md" + said]
    pages["facts"] = "other"
    assert workbook.stale_blocks(tmp_path)[1:] == ["evals/README.md" + said]
    for page in ("", "no markers", PAGE * 2, PAGE.replace("<!-- end -->", "")):
        files.write(tmp_path / "README.md", page)
        with pytest.raises(ValueError, match="README.md: wanted one generated block between its"):
            workbook.stale_blocks(tmp_path)


def test_a_refresh_stores_what_it_executed_and_says_what_it_changed(
    pages, folder, monkeypatch, capsys
):
    files.write(folder / "coverage.md", "as it was\n")
    made = v4.new_notebook(cells=[v4.new_code_cell("1", id="one")])
    values = iter([{"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}])

    def run_all(on, paths):
        assert paths == [*workbook.NOTEBOOKS, *workbook.FURTHER]
        files.write(on / "coverage.md", "as it is\n")
        return {on / "n.ipynb": made}

    monkeypatch.setattr(workbook, "run_all", run_all)
    monkeypatch.setattr(evalset, "DEFAULT", folder)
    monkeypatch.setattr(results, "published", lambda on: next(values))
    own = SimpleNamespace(folder=folder)
    assert workbook.refresh_command(own) == 0
    assert (folder / "n.ipynb").read_text() == nbformat.writes(made) + "\n"
    assert capsys.readouterr().out == (
        "\npublished values that changed; each needs a reason before it is committed:\n"
        "  a: 1 -> 2\n  README.md: + new \\1\n  README.md: - old\n  README.md: - lines\n"
        "  coverage.md: - as it was\n  coverage.md: + as it is\n"
    )
    assert workbook.refresh_command(own) == 0
    assert capsys.readouterr().out == "\nno published value changed\n"
    with pytest.raises(evalset.EvalSetError, match="^refresh writes into the workbook itself"):
        workbook.refresh_command(SimpleNamespace(folder=folder / "other"))


# Checking.


DERIVED = ("coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "results.json")


@pytest.fixture
def checking(monkeypatch, tmp_path):
    """Put stand-ins in place of pytest and ruff; return what they were asked and say.

    A notebook's pytest writes its files anew, as they are committed.
    """
    own = tmp_path / "own"
    for name in (*DERIVED, "x.md"):
        files.write(own / name, "x\n")
    asked = SimpleNamespace(own=own, calls={}, status={}, writes=True, ruff=[], guard=[], blocks=[])

    def run_pytest(folder, *words):
        held = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
        asked.calls[words[-1]] = (folder, words, held)
        for glob in workbook.WRITES.get(Path(words[-1]), ()) if asked.writes else ():
            for path in own.glob(glob):
                files.write(folder / path.relative_to(own), path.read_text())
        status = asked.status.get(words[-1], 0)
        return subprocess.CompletedProcess(words, status, f"{status} failed, 12 passed in 1 s")

    def run(words, **more):
        return SimpleNamespace(returncode=int(words[3:4] == asked.ruff))

    last = workbook.WRITE_UP
    monkeypatch.setattr(evalset, "DEFAULT", own)
    monkeypatch.setattr(workbook, "guard", lambda path: asked.guard if path == last else [])
    monkeypatch.setattr(workbook, "run_pytest", run_pytest)
    monkeypatch.setattr(workbook, "stale_blocks", lambda folder: asked.blocks)
    monkeypatch.setattr(workbook.subprocess, "run", run)
    asked.check = lambda folder=own: workbook.check_command(SimpleNamespace(folder=folder))
    return asked


def test_a_check_gives_each_notebook_what_is_committed_but_not_what_it_writes(checking, capsys):
    assert checking.check() == 0
    folders = set()
    for path, globs in workbook.WRITES.items():
        folder, words, held = checking.calls.pop(str(path))
        gone = workbook.derived(checking.own, globs)
        assert held == {*DERIVED, "x.md"} - gone and words == (*workbook.NBVAL_STRICT, str(path))
        folders.add(folder)
    assert len(folders) == 4 and not any(folder.exists() for folder in folders)
    for words in workbook.TESTS.values():  # two at a time, in whatever order they start
        assert checking.calls.pop(words[-1])[:2] == (checking.own, words)
    assert not checking.calls
    said = capsys.readouterr().out
    assert said.startswith("check: runs each of the four notebooks on a copy of evals/ without ")
    assert "\ntests of the helpers:\n0 failed, 12" in said
    assert said.endswith("check: everything agrees\n72 passed, 0 failed\n")


def test_a_check_ends_with_1_where_something_differs_or_pytest_fails(checking, capsys):
    checking.ruff, checking.guard, checking.blocks = ["format"], ["stored"], ["block"]
    assert checking.check() == 1
    said = capsys.readouterr().out
    assert said.endswith("\nruff format complains\nstored\nblock\n72 passed, 0 failed\n")
    checking.ruff = checking.guard = checking.blocks = []
    for which in [*map(str, workbook.NOTEBOOKS), "helpers/tests"]:
        checking.status = {which: 2}
        assert checking.check() == 1
        name = "tests of the helpers" if which == "helpers/tests" else Path(which).stem
        said = f"\n{name}: pytest ended with 2, see above\n72 passed, 2 failed\n"
        assert capsys.readouterr().out.endswith(said)
    checking.status, checking.writes = {}, False
    assert checking.check() == 1
    gone = [line.split(" is stale")[0] for line in capsys.readouterr().out.splitlines()[-5:-1]]
    assert gone == [f"evals/{name}:1" for name in DERIVED], "a session that stops writing a file"


def test_a_check_of_another_set_runs_its_notebooks_on_a_copy_and_no_more(
    checking, tmp_path, monkeypatch, capsys
):
    other, ran = tmp_path / "other", []
    for name in ("coverage.md", "corpus/a.md", "n.ipynb", "corpus/page.html"):
        files.write(other / name, "x\n")

    def run_all(folder, paths):
        ran.append((folder, paths, {path.name for path in folder.rglob("*.*")}))

    monkeypatch.setattr(workbook, "run_all", run_all)
    assert checking.check(other) == 0 and checking.calls == {}
    ((copy, paths, held),) = ran
    assert not copy.exists() and paths == workbook.NOTEBOOKS and held == {"coverage.md", "a.md"}
    assert capsys.readouterr().out == (
        "check: runs the four notebooks in their order on a copy of the folder\n"
        "check: every cell ran\n"
    )

    def fails(folder, paths):
        raise evalset.EvalSetError([f"{folder}/second_pass.jsonl:1: broken"])

    monkeypatch.setattr(workbook, "run_all", fails)
    with pytest.raises(evalset.EvalSetError, match=f"^{other}/second_pass.jsonl:1: broken$"):
        checking.check(other)


# What is stored.


def guarded(tmp_path, *cells):
    """Return what is said of a notebook with the cells, each (execution count, *outputs)."""
    made = [v4.new_markdown_cell("words")]
    for count, *outputs in cells:
        made.append(v4.new_code_cell("1", execution_count=count, outputs=outputs))
    nbformat.write(v4.new_notebook(cells=made), tmp_path / "n.ipynb")
    return workbook.guard(tmp_path / "n.ipynb")


def stream(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def test_what_a_stored_notebook_may_not_hold_is_named_with_its_cell(tmp_path):
    error = v4.new_output("error", ename="E", evalue="", traceback=[])
    shown = v4.new_output("display_data", {"text/plain": "1"})
    anywhere = stream("/usr/lib evals/home home/ https://a.b/c a:\nb")
    assert guarded(tmp_path) == []
    assert guarded(tmp_path, (1, stream("1"), shown), (2, anywhere)) == []
    assert guarded(tmp_path, (1,), (2, stream("1", "stderr"), error, error), (3, error)) == [
        "n.ipynb: cell [2] stores error",
        "n.ipynb: cell [2] stores stderr",
        "n.ipynb: cell [3] stores error",
    ]
    for counts in ((None,), (2,), (1, 1), (1, None), (2, 1), (0, 1)):
        assert guarded(tmp_path, *((count, stream("1\n")) for count in counts)) == [
            f"n.ipynb: execution counts are not 1..{len(counts)}, run: make refresh"
        ]
    for start in "/home/ /Users/ /root/ /tmp/ /private/ /var/folders/ C:\\".split():
        path = (start + "somebody").replace("\\", "\\\\")
        said = guarded(tmp_path, (1, stream("1")), (2, stream(f"in {start}somebody/evals")))
        assert said == [f"n.ipynb: cell [2] stores a path of one machine: {path}"]


def test_stale_files_are_named_with_the_first_line_that_differs(tmp_path):
    sides = {"committed": {}, "fresh": {}}
    for name in ("coverage.md", "chunks/a.jsonl", "runs/b.json", "runs/b.trec"):
        sides["committed"][name] = sides["fresh"][name] = b"same\n"
    sides["committed"] |= {"notes.md": b"1", "runs/gone.jsonl": b"2", "runs/end.trec": b"a\r\n"}
    sides["fresh"] |= {"notes.md": b"2", "results.json": b"{}", "runs/end.trec": b"a\n"}
    sides["committed"]["runs/less.trec"] = b"a\n" + "é".encode() * 200
    sides["fresh"]["runs/less.trec"] = b"a\n"
    for side, texts in sides.items():
        for name, data in texts.items():
            (tmp_path / side / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / name).write_bytes(data)
    globs = sum(workbook.WRITES.values(), ())
    problems = workbook.stale_files(tmp_path / "committed", tmp_path / "fresh", globs)
    assert [problem.removesuffix(", run: make refresh") for problem in problems] == [
        "evals/results.json:1 is stale: found '', a session writes '{}'",
        r"evals/runs/end.trec:1 is stale: found 'a\r\n', a session writes 'a\n'",
        "evals/runs/gone.jsonl:1 is stale: found '2', a session writes ''",
        f"evals/runs/less.trec:2 is stale: found {'é' * 100!r}, a session writes ''",
    ]


def test_what_a_check_prints_last_says_how_heavy_the_workbook_is():
    command = [sys.executable, "helpers/tests/weight.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    flat = sum(len(p.read_text("utf-8").splitlines()) for p in (ROOT / "helpers").glob("*.py"))
    assert re.search(rf"flat rooms of helpers/ +{flat:,} in \d+$", done.stdout, re.MULTILINE)
    assert re.search(r"session_c: .*import [\d,]+ of helpers/ and load [\d,]+, ", done.stdout)
