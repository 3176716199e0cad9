"""Running notebooks, refreshing what is generated, and checking that all of it is as stored."""

import io
import json
import os
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


def test_a_notebook_runs_on_its_folder_with_a_fixed_hash_seed(monkeypatch):
    monkeypatch.setenv("EVALS", "another")
    monkeypatch.setenv("KEPT", "as it is")
    monkeypatch.setenv("MPLBACKEND", "agg")  # shows no figure in a notebook
    environment = workbook.environment(Path("x"))
    changed = {"EVALS": "x", "PYTHONHASHSEED": "0", "JUPYTER_PREFER_ENV_PATH": "1"}
    kept = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    assert environment == {**kept, **changed} and environment["KEPT"] == "as it is"


def notebook(tmp_path, *cells):
    new = nbformat.v4
    made = [
        new.new_code_cell(text) if kind == "code" else new.new_markdown_cell(text)
        for kind, text in cells
    ]
    path = tmp_path / "made.ipynb"
    nbformat.write(new.new_notebook(cells=made), path)
    return path


@pytest.mark.proof
def test_a_notebook_is_executed_part_by_part(tmp_path, capsys):
    path = notebook(
        tmp_path,
        ("text", "# Title"),
        ("code", "import os, sys\nn = 1"),
        ("text", "## 1. First part (30 minutes)\n\n### Below it"),
        ("code", f"assert os.environ['EVALS'] == {str(tmp_path / 'set')!r} and n == 1"),
        ("text", "## Only words"),
        ("text", "## 2. Second part"),
        ("code", "print(1, flush=True); print(2, flush=True)"),
        ("code", f"assert sys.executable == {sys.executable!r}; print(os.getcwd())"),
        ("code", "n += 1; print(n)"),
        ("code", "print(n, 'again')"),
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
    told = capsys.readouterr()
    assert [line.split(" ... ")[0] for line in told.out.splitlines()] == [
        "      set up",
        "      1. First part",
        "      2. Second part",
    ]
    assert told.err == ""


@pytest.mark.proof
@pytest.mark.skipif(os.name == "nt", reason="asks for a process by its id")
def test_ctrl_c_ends_a_notebook_and_its_kernel_at_once(tmp_path, capfd):
    """nbclient takes SIGINT for itself, and then waits for a kernel that it has ended."""
    pid = tmp_path / "pid"
    code = f"open({str(pid)!r}, 'w').write(str(os.getpid())); os.kill(os.getppid(), 2)"
    path = notebook(tmp_path, ("code", f"import os, time; {code}; time.sleep(60)"))
    with pytest.raises(KeyboardInterrupt):
        workbook.execute(path, tmp_path)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert capfd.readouterr().err == ""


def test_a_client_gets_ten_minutes_a_cell_and_says_only_errors(tmp_path, monkeypatch):
    """A kernel costs seconds: a stand-in shows what it is asked."""
    asked = {}

    class Client(SimpleNamespace):
        def __init__(self, made, **options):
            super().__init__(**options)
            asked.update(options, cells=len(made.cells))
            self.manager = SimpleNamespace()

        def create_kernel_manager(self):
            return self.manager

        def execute(self, env):
            asked.update(env=env, kernels=self.manager.kernel_spec_manager.kernel_dirs)

    monkeypatch.setattr(workbook, "Client", Client)
    path = notebook(tmp_path, ("text", "# Title"), ("code", "1"), ("code", "2"))
    workbook.execute(path, tmp_path)
    assert asked == {
        "timeout": 600,
        "record_timing": False,
        "coalesce_streams": True,
        "shutdown_kernel": "immediate",
        "resources": {"metadata": {"path": str(tmp_path)}},
        "extra_arguments": ["--log-level=40"],
        "env": workbook.environment(tmp_path),
        "kernels": [],
        "cells": 3,
    }


def cells_of(*made):
    """Return cells from (kind, text)."""
    return [v4.new_code_cell(t) if kind == "code" else v4.new_markdown_cell(t) for kind, t in made]


def test_parts_tell_their_names_and_seconds(monkeypatch, capsys):
    cells = cells_of(
        ("text", "## 0. The title is no part"),
        ("code", "1"),
        ("text", "words\n# First (20 minutes)\n### below\n## Second: its (own) name (5 minutes)"),
        ("code", "2"),
        ("text", "### Third level"),
        ("code", "3"),
        ("text", "## Without code"),
        ("text", "##No heading"),
        ("text", "## Last"),
        ("code", "# Not a heading"),
    )
    told, clock = workbook.Parts(cells), iter([10.0, 11.25, 20.0, 21.0, 22.5, 30.0, 30.04])
    second = "Second: its (own) name"
    assert told.part_of == [*["set up"] * 2, *[second] * 4, *["Without code"] * 2, *["Last"] * 2]
    monkeypatch.setattr(workbook.time, "monotonic", lambda: next(clock))
    for n, cell in enumerate(cells):
        told.starts(cell=cell, cell_index=n)
        if cell.cell_type == "code":
            told.ended(cell=cell, cell_index=n, execute_reply={})
    told.close()
    assert capsys.readouterr().out == (
        f"      set up ... 1.2 s\n      {second} ... 2.5 s\n      Last ... 0.0 s\n"
    )


def test_parts_of_a_notebook_that_runs_nothing_are_not_told(capsys):
    workbook.Parts([]).close()
    assert capsys.readouterr().out == ""
    told = workbook.Parts(cells_of(("code", "")))  # a client skips an empty cell, once started
    told.starts(cell=v4.new_code_cell(""), cell_index=0)
    told.close()
    assert capsys.readouterr().out == "      set up ... 0.0 s\n"


class Screen(io.StringIO):
    """A screen that shows what was flushed."""

    shown = ""

    def flush(self):
        self.shown = self.getvalue()


def test_what_runs_is_shown_at_once(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    told, cell = workbook.Parts(cells_of(("code", "1"))), v4.new_code_cell("1")
    told.starts(cell=cell, cell_index=0)
    assert screen.shown == "      set up ..."
    told.close()
    assert screen.shown == screen.getvalue() != "      set up ..."

    def execute(path, folder):
        assert screen.shown.endswith(f"] {path.stem}\n")

    monkeypatch.setattr(workbook, "execute", execute)
    workbook.run_all(Path("x"))


def test_the_four_notebooks_run_in_their_order(monkeypatch, capsys):
    ran = []
    assert all(path.is_file() for path in workbook.NOTEBOOKS)

    def execute(*asked):
        ran.append(asked)
        return len(ran)

    clock = iter([0, 1, 5, 7, 9, 12, 20, 24, *range(10)])
    monkeypatch.setattr(workbook, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(workbook, "execute", execute)
    assert workbook.run_all(Path("x"), False) == dict(
        zip(workbook.NOTEBOOKS, (1, 2, 3, 4), strict=True)
    )
    beyond = [Path("further.ipynb")]
    monkeypatch.setattr(workbook, "FURTHER", beyond)
    assert [*workbook.run_all(Path("y"))] == [*workbook.NOTEBOOKS, *beyond]
    week = [(path, Path(f)) for f in "xy" for path in workbook.NOTEBOOKS]
    assert ran == [*week, (beyond[0], Path("y"))]
    assert capsys.readouterr().out.splitlines()[:6] == [
        "[1/4] session_a_corpus_and_labels",
        "[2/4] session_b_chunking_and_bm25",
        "[3/4] session_c_metrics_and_writeup",
        "[4/4] retrieval_eval",
        "",
        "[1] 1 s, [2] 2 s, [3] 3 s, [4] 4 s, together 10 s",
    ]


@pytest.mark.parametrize("full", [False, True])
def test_a_report_writes_its_page_and_tells_the_summary(monkeypatch, tmp_path, capsys, full):
    asked, said = [], {"of": "it"}
    monkeypatch.setattr(
        workbook, "run_all", lambda *words: asked.append(words) or {workbook.WRITE_UP: "executed"}
    )
    monkeypatch.setattr(report, "html", lambda executed: f"<p>{executed}</p>")
    monkeypatch.setattr(results, "read_results", lambda folder: said if folder == tmp_path else {})
    monkeypatch.setattr(report, "summary", lambda found, show: show(f"summary {found}"))
    monkeypatch.setattr(results, "what_next", lambda folder: f"next {folder}")
    assert workbook.report_command(tmp_path, *([True] if full else [])) == 0
    page = tmp_path / "retrieval_eval.html"
    assert asked == [(tmp_path, full)] and page.read_text() == "<p>executed</p>"
    assert capsys.readouterr().out == f"\nsummary {said}\n\nwrite-up: {page}\nnext {tmp_path}\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ("ValueError", "\x1b[31mno\x1b[0m\nmore"),
            "made: a cell failed with ValueError: no more: ",
        ),
        (("EvalSetError", "a:1: one\nb:2: two"), "a:1: one\nb:2: two"),
    ],
)
def test_a_cell_that_fails_is_told_without_its_traceback(monkeypatch, tmp_path, error, said):
    class Client(SimpleNamespace):
        create_kernel_manager = SimpleNamespace

        def execute(self, env):
            raise CellExecutionError("a\nlong\ntraceback", *error)

    monkeypatch.setattr(workbook, "Client", lambda made, **options: Client(**options))
    path = notebook(tmp_path, ("code", "1"))
    with pytest.raises(evalset.EvalSetError) as caught:
        workbook.execute(path, tmp_path)
    assert str(caught.value).startswith(said) and "long" not in str(caught.value)
    assert isinstance(caught.value.__cause__, CellExecutionError)
    assert not (tmp_path / "retrieval_eval.html").exists()


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


def test_changes_of_published_values_are_named(capsys):
    before = {"dev nDCG@10": 0.755, "n": 30, "gone": 1, "interval": [0.1, 0.2]}
    after = {"dev nDCG@10": 0.756, "n": 30, "interval": [0.1, 0.3], "new": 2}
    assert results.changes(before, after) == [
        "  dev nDCG@10: 0.755 -> 0.756",
        "  gone: 1 -> nothing",
        "  interval: [0.1, 0.2] -> [0.1, 0.3]",
        "  new: nothing -> 2",
    ]
    assert results.changes(before, before) == []
    many = results.changes({}, {str(n): n for n in range(12)}, most=10)
    assert (len(many), many[-1]) == (11, "  ... and 2 more")


def test_every_published_number_has_a_name():
    names = results.published(evalset.DEFAULT)
    saved = results.read_results(evalset.DEFAULT)
    assert names["summary dev measures nDCG@10"] == saved["summary"]["dev"]["measures"]["nDCG@10"]
    first = saved["per_query"][0]
    assert names[f"per_query {first['query_id']} measures AP"] == first["measures"]["AP"]
    other = saved["compared_dev"]["runs"][0]
    assert names[f"compared_dev runs {other['name']} verdict"] == other["verdict"]
    card = saved["cards"][0]
    assert names[f"cards {card['query_id']}"] == card["cause"]
    assert results.published(evalset.DEFAULT / "corpus") == {}


def test_a_refresh_says_what_it_changed(monkeypatch, capsys, tmp_path):
    pages = {name: tmp_path / name for name in ("README.md", "evals/README.md", "coverage.md")}
    for page in pages.values():
        page.parent.mkdir(exist_ok=True)
        page.write_text("<!-- generated: make refresh -->\nold\n<!-- end -->\n")
    values = iter([{"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}])
    monkeypatch.setattr(workbook, "ROOT", tmp_path)
    monkeypatch.setattr(workbook, "run_all", lambda folder: {})
    monkeypatch.setattr(workbook, "blocks", lambda folder: {pages["README.md"]: "new"})
    monkeypatch.setattr(results, "published", lambda folder: next(values))
    assert workbook.refresh_command(tmp_path) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[2:] == ["  a: 1 -> 2", "  README.md: -old", "  README.md: +new"]
    assert workbook.refresh_command(tmp_path) == 0
    assert capsys.readouterr().out == "\nno published value changed\n"


def test_a_refresh_stores_what_it_executed(monkeypatch, tmp_path, capsys):
    (tmp_path / "evals").mkdir()
    for page in ("README.md", "evals/README.md"):
        (tmp_path / page).write_text("<!-- generated: make refresh -->\n<!-- end -->\n")
    (tmp_path / "coverage.md").write_text("as it was\n")
    made = v4.new_notebook(cells=[v4.new_code_cell("1", id="one")])

    def run_all(folder):
        (tmp_path / "coverage.md").write_text("as it is\n")
        return {tmp_path / "n.ipynb": made}

    monkeypatch.setattr(workbook, "ROOT", tmp_path)
    monkeypatch.setattr(workbook, "run_all", run_all)
    monkeypatch.setattr(workbook, "blocks", lambda folder: {tmp_path / "README.md": "new"})
    monkeypatch.setattr(results, "published", lambda folder: {})
    assert workbook.refresh_command(tmp_path) == 0
    assert (tmp_path / "n.ipynb").read_text() == nbformat.writes(made) + "\n"
    assert capsys.readouterr().out == (
        "\npublished values that changed; each needs a reason before it is committed:\n"
        "  README.md: +new\n  coverage.md: -as it was\n  coverage.md: +as it is\n"
    )


# Generated blocks.

PAGE = "a\n<!-- generated: make refresh -->\nold\nlines\n<!-- end -->\nb\n"


def test_a_generated_block_stands_between_its_markers():
    made = workbook.with_block(PAGE, "new \\1")
    assert made == "a\n<!-- generated: make refresh -->\nnew \\1\n<!-- end -->\nb\n"
    assert workbook.with_block(made, "old\nlines") == PAGE


@pytest.mark.parametrize("page", ["", "no markers", PAGE * 2, PAGE.replace("<!-- end -->", "")])
def test_a_page_without_just_one_block_is_refused(page):
    with pytest.raises(ValueError, match="^wanted one generated block between its two markers$"):
        workbook.with_block(page, "new")


def test_the_two_pages_hold_the_summary_and_the_facts(monkeypatch, tmp_path):
    monkeypatch.setattr(evalset, "load", lambda folder: ("set", folder))
    monkeypatch.setattr(results, "read_results", lambda folder: ("results", folder))
    monkeypatch.setattr(report, "summary", lambda found: found)
    monkeypatch.setattr(report, "facts", lambda evals: evals)
    assert workbook.blocks(tmp_path) == {
        workbook.ROOT / "README.md": ("results", tmp_path),
        workbook.ROOT / "evals" / "README.md": ("set", tmp_path),
    }


def test_a_block_that_is_not_as_the_results_say_is_named(monkeypatch, tmp_path):
    pages = {tmp_path / "README.md": "new", tmp_path / "evals" / "README.md": "old\nlines"}
    for page in pages:
        files.write(page, PAGE)
    monkeypatch.setattr(workbook, "ROOT", tmp_path)
    monkeypatch.setattr(workbook, "blocks", lambda folder: pages if folder == tmp_path else {})
    said = ": its generated block differs from the results, run: make refresh"
    assert workbook.stale_blocks(tmp_path) == ["README.md" + said]
    pages[tmp_path / "evals" / "README.md"] = "other"
    assert workbook.stale_blocks(tmp_path)[1:] == ["evals/README.md" + said]


# Checking.


@pytest.fixture
def checking(monkeypatch, tmp_path):
    """Put stand-ins in place of pytest and the linters; return what they were asked and say.

    A notebook's pytest writes its files anew, as they are committed.
    """
    own = tmp_path / "own"
    for name in ("coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "results.json", "x.md"):
        files.write(own / name, "x\n")
    asked = SimpleNamespace(own=own, calls={}, status={}, writes=True, linted=[], guarded=[])
    asked.blocks = []

    def run_pytest(folder, *words):
        held = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
        asked.calls[words[-1]] = (folder, words, held)
        for glob in workbook.WRITES.get(Path(words[-1]), ()) if asked.writes else ():
            for path in own.glob(glob):
                files.write(folder / path.relative_to(own), path.read_text())
        status = asked.status.get(words[-1], 0)
        return subprocess.CompletedProcess(words, status, f"{status} failed, 12 passed in 1 s")

    monkeypatch.setattr(evalset, "DEFAULT", own)
    monkeypatch.setattr(workbook, "lint", lambda: asked.linted)
    monkeypatch.setattr(
        workbook, "guard", lambda path: asked.guarded if path == workbook.WRITE_UP else []
    )
    monkeypatch.setattr(workbook, "run_pytest", run_pytest)
    monkeypatch.setattr(workbook, "stale_blocks", lambda folder: asked.blocks)
    return asked


def test_a_check_gives_each_notebook_what_is_committed_but_not_what_it_writes(checking, capsys):
    assert workbook.check_command(checking.own) == 0
    everything = {"coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "results.json", "x.md"}
    missing = [{"coverage.md"}, {"chunks/fixed.jsonl", "runs/fixed.trec"}, {"results.json"}, set()]
    folders = set()
    for path, gone in zip(workbook.NOTEBOOKS, missing, strict=True):
        folder, words, held = checking.calls.pop(str(path))
        assert held == everything - gone and words == (
            *workbook.NBVAL_STRICT,
            str(path),
        )
        assert folder != checking.own and not folder.exists()
        folders.add(folder)
    assert len(folders) == 4 and len(checking.calls) == len(workbook.TESTS)
    for words in workbook.TESTS.values():  # two at a time, in whatever order they start
        assert checking.calls[words[-1]][:2] == (checking.own, words)
    said = capsys.readouterr().out
    assert said.startswith(f"check: {workbook.CHECKS_HERE}\ntests of the helpers:\n0 failed, 12")
    assert said.endswith("check: everything agrees\n72 passed, 0 failed\n")


def test_a_session_that_stops_writing_a_file_is_noticed(checking, capsys):
    checking.writes = False
    assert workbook.check_command(checking.own) == 1
    said = capsys.readouterr().out.splitlines()
    names = ("coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "results.json")
    assert said[-5:-1] == [f"evals/{name} is stale: no session writes it" for name in names]


@pytest.mark.parametrize("what", ["linted", "guarded", "blocks"])
def test_a_check_ends_with_1_where_something_differs(checking, capsys, what):
    setattr(checking, what, [f"{what} differs", "twice"])
    assert workbook.check_command(checking.own) == 1
    said = capsys.readouterr().out
    assert said.endswith(f"\n{what} differs\ntwice\n72 passed, 0 failed\n")
    assert "agrees" not in said


@pytest.mark.parametrize("which", [*map(str, workbook.NOTEBOOKS), "helpers/tests"])
def test_a_check_ends_with_1_where_pytest_does(checking, capsys, which):
    checking.status[which] = 2
    assert workbook.check_command(checking.own) == 1
    name = "tests of the helpers" if which == "helpers/tests" else Path(which).stem
    said = f"\n{name}: pytest ended with 2, see above\n72 passed, 2 failed\n"
    assert capsys.readouterr().out.endswith(said)


def test_a_check_of_another_set_runs_its_notebooks_on_a_copy_and_no_more(
    checking, tmp_path, monkeypatch, capsys
):
    other, ran = tmp_path / "other", []
    files.write(other / "coverage.md", "x\n")
    checking.linted = checking.guarded = checking.blocks = ["never asked"]
    monkeypatch.setattr(workbook, "run_all", lambda folder, full: ran.append((folder, full)))
    assert workbook.check_command(other) == 0 and checking.calls == {}
    ((copy, full),) = ran
    assert copy != other and not copy.exists() and full is False
    assert capsys.readouterr().out == (
        "check: runs the four notebooks in their order on a copy of the folder\n"
        "check: every cell ran\n"
    )

    def fails(folder, full):
        raise evalset.EvalSetError([f"{folder}/second_pass.jsonl:1: broken"])

    monkeypatch.setattr(workbook, "run_all", fails)
    with pytest.raises(evalset.EvalSetError, match=f"^{other}/second_pass.jsonl:1: broken$"):
        workbook.check_command(other)


def test_the_copy_of_a_set_leaves_notebooks_and_pages_out(tmp_path):
    kept = ["coverage.md", "corpus/a.md", "runs/a.json"]
    left = ["n.ipynb", "page.html", ".ipynb_checkpoints/n.md", "corpus/page.html"]
    for name in kept + left:
        files.write(tmp_path / "set" / name, name)
    to = tmp_path / "new" / "copy"
    assert workbook.copy_of_set(tmp_path / "set", to) == to
    found = {p.relative_to(to).as_posix(): p.read_text() for p in to.rglob("*") if p.is_file()}
    assert found == {name: name for name in kept}


def test_pytest_runs_in_the_project_and_says_everything_in_one_text(monkeypatch):
    asked = []
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: asked.append((*words, more)))
    workbook.run_pytest(Path("x"), "-rs", "y")
    words, more = asked[0]
    assert words == [sys.executable, "-m", "pytest", "-rs", "y"]
    assert more == {
        "cwd": workbook.ROOT,
        "env": workbook.environment(Path("x")),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
        "encoding": "utf-8",
    }


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([0, 0], []),
        ([1, 0], ["ruff check complains"]),
        ([0, 1], ["ruff format complains"]),
        ([2, 2], ["ruff check complains", "ruff format complains"]),
    ],
)
def test_both_linters_see_the_whole_project(monkeypatch, codes, said):
    asked, ended = [], iter(codes)

    def run(words, cwd):
        asked.append((words, cwd))
        return SimpleNamespace(returncode=next(ended))

    monkeypatch.setattr(subprocess, "run", run)
    assert workbook.lint() == said
    ruff, root = [sys.executable, "-m", "ruff"], workbook.ROOT
    assert asked == [
        ([*ruff, "check", "--quiet", str(root)], root),
        ([*ruff, "format", "--check", "--quiet", str(root)], root),
    ]


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


@pytest.mark.parametrize("counts", [(None,), (2,), (1, 1), (1, None), (2, 1), (0, 1)])
def test_stored_cells_are_counted_from_1(tmp_path, counts):
    assert guarded(tmp_path, *((count, stream("1\n")) for count in counts)) == [
        f"n.ipynb: execution counts are not 1..{len(counts)}, run: make refresh"
    ]


def test_stored_errors_and_warnings_are_named_with_their_cell(tmp_path):
    error = v4.new_output("error", ename="E", evalue="", traceback=[])
    shown = v4.new_output("display_data", {"text/plain": "1"})
    assert guarded(tmp_path) == []
    assert guarded(tmp_path, (1, stream("1"), shown), (2,)) == []
    assert guarded(tmp_path, (1,), (2, stream("1", "stderr"), error, error), (3, error)) == [
        "n.ipynb: cell [2] stores error",
        "n.ipynb: cell [2] stores stderr",
        "n.ipynb: cell [3] stores error",
    ]


@pytest.mark.parametrize(
    "start", "/home/ /Users/ /root/ /tmp/ /private/ /var/folders/ C:\\".split()
)
def test_stored_paths_of_one_machine_are_named_with_their_cell(tmp_path, start):
    shown = (start + "somebody").replace("\\", "\\\\")
    said = guarded(tmp_path, (1, stream("1")), (2, stream(f"in {start}somebody/evals")))
    assert said == [f"n.ipynb: cell [2] stores a path of one machine: {shown}"]


def test_a_path_that_any_machine_may_have_is_stored(tmp_path):
    assert guarded(tmp_path, (1, stream("/usr/lib evals/home home/ https://a.b/c a:\nb"))) == []


def test_stale_files_are_named(tmp_path):
    sides = {"committed": {}, "fresh": {}}
    same = ("coverage.md", "chunks/a.jsonl", "runs/b.json", "runs/b.trec")
    for name in same:
        sides["committed"][name] = sides["fresh"][name] = "same\n"
    sides["committed"] |= {"runs/fixed.trec": "old\nend\n", "notes.md": "1", "runs/gone.jsonl": "2"}
    sides["fresh"] |= {"runs/fixed.trec": "new\nend\n", "notes.md": "2", "results.json": "{}"}
    for side, texts in sides.items():
        for name, words in texts.items():
            files.write(tmp_path / side / name, words)
    globs = sum(workbook.WRITES.values(), ())
    assert workbook.stale_files(tmp_path / "committed", tmp_path / "fresh", globs) == [
        "evals/results.json is stale: it is not committed",
        "evals/runs/fixed.trec is stale: first difference '-old', run: make refresh",
        "evals/runs/gone.jsonl is stale: no session writes it",
    ]
    written = {*same, "results.json", "runs/fixed.trec"}
    assert workbook.derived(tmp_path / "fresh", globs) == written
    assert workbook.stale_files(tmp_path / "committed", tmp_path / "fresh", ["*.md"]) == [
        "evals/notes.md is stale: first difference '-1', run: make refresh"
    ]


def test_a_difference_is_shown_in_100_characters(tmp_path):
    for name, words in (("a", "x" * 200), ("b", "y"), ("c", "y\r\n"), ("d", "y\n"), ("e", "é\n")):
        (tmp_path / name).write_bytes(words.encode())

    def said(one, other):
        return workbook.first_difference(tmp_path / one, tmp_path / other)

    assert said("a", "b") == f"first difference '-{'x' * 99}', run: make refresh"
    assert said("e", "d") == "first difference '-é', run: make refresh"
    assert said("c", "d") == "line ends differ"


def test_changed_lines_are_those_that_went_and_those_that_came():
    before, after = "a\n-b\nc\nd\n", "a\nc\nd\n+e\n++ f\n"
    assert workbook.changed_lines(before, after) == ["--b", "++e", "+++ f"]
    assert workbook.changed_lines(before, before) == []
    assert workbook.changed_lines("", "x") == ["+x"] and workbook.changed_lines("x", "") == ["-x"]
