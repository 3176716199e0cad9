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
def test_a_notebook_is_executed_in_its_place_and_its_parts_are_shown(tmp_path, capsys):
    path = notebook(
        tmp_path,
        ("text", "# Title"),
        ("code", "import os, sys\nn = 1"),
        ("text", "## 1. First part (30 minutes)\n\n### Below it"),
        ("code", f"assert os.environ['EVALS'] == {str(tmp_path / 'set')!r} and n == 1"),
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
    parts = "      Title\n      1. First part (30 minutes)\n"
    assert capsys.readouterr() == (parts, "")


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


def test_notebooks_run_in_their_order_and_are_timed(monkeypatch, capsys):
    clock = iter([0, 1, 5, 7])
    monkeypatch.setattr(workbook, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(workbook, "execute", lambda path, folder: (path.stem, folder))
    a, b = workbook.NOTEBOOKS[:2]
    folder = Path("x")
    assert workbook.run_all(folder, [a, b]) == {a: (a.stem, folder), b: (b.stem, folder)}
    assert capsys.readouterr().out == (
        f"[1/2] {a.stem}\n[2/2] {b.stem}\n\n[1] 1 s, [2] 2 s, together 3 s\n"
    )


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
    paths = [*workbook.NOTEBOOKS, *(workbook.FURTHER if full else [])]
    assert asked == [(tmp_path, paths)] and page.read_text() == "<p>executed</p>"
    assert capsys.readouterr().out == f"\nsummary {said}\n\nwrite-up: {page}\nnext {tmp_path}\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ("ValueError", "\x1b[31mno\x1b[0m\nmore"),
            "made: a cell failed with ValueError: no more: ",
        ),
        (("EvalSetError", "a:1: one\nb:2: two"), "a:1: one\nb:2: two"),
        (("CannotCompare", "x.json: made on another corpus"), "x.json: made on another corpus"),
    ],
)
def test_a_cell_that_fails_is_told_without_its_traceback(monkeypatch, tmp_path, error, said):
    class Client(SimpleNamespace):
        create_kernel_manager = SimpleNamespace

        def execute(self, env):
            raise CellExecutionError("a\nlong\ntraceback", *error)

    monkeypatch.setattr(workbook, "NotebookClient", lambda made, **options: Client(**options))
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


def test_every_published_number_has_a_name():
    names = results.published(evalset.DEFAULT)
    saved = results.read_results(evalset.DEFAULT)
    assert names["summary dev measures nDCG@10"] == saved["summary"]["dev"]["measures"]["nDCG@10"]
    first, card = saved["per_query"][0], saved["cards"][0]
    assert names[f"per_query {first['query_id']} measures AP"] == first["measures"]["AP"]
    assert names[f"cards {card['query_id']}"] == card["cause"]


def test_a_refresh_stores_what_it_executed_and_says_what_it_changed(monkeypatch, tmp_path, capsys):
    (tmp_path / "evals").mkdir()
    for page in ("README.md", "evals/README.md"):
        (tmp_path / page).write_text("<!-- generated: make refresh -->\nold\n<!-- end -->\n")
    (tmp_path / "coverage.md").write_text("as it was\n")
    made = v4.new_notebook(cells=[v4.new_code_cell("1", id="one")])
    values = iter([{"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}])

    def run_all(folder, paths):
        assert paths == [*workbook.NOTEBOOKS, *workbook.FURTHER]
        (tmp_path / "coverage.md").write_text("as it is\n")
        return {tmp_path / "n.ipynb": made}

    monkeypatch.setattr(workbook, "ROOT", tmp_path)
    monkeypatch.setattr(workbook, "run_all", run_all)
    monkeypatch.setattr(workbook, "blocks", lambda folder: {tmp_path / "README.md": "new"})
    monkeypatch.setattr(results, "published", lambda folder: next(values))
    assert workbook.refresh_command(tmp_path) == 0
    assert (tmp_path / "n.ipynb").read_text() == nbformat.writes(made) + "\n"
    assert capsys.readouterr().out == (
        "\npublished values that changed; each needs a reason before it is committed:\n"
        "  a: 1 -> 2\n  README.md: - old\n  README.md: + new\n"
        "  coverage.md: - as it was\n  coverage.md: + as it is\n"
    )
    assert workbook.refresh_command(tmp_path) == 0
    assert capsys.readouterr().out == "\nno published value changed\n"


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
    monkeypatch.setattr(workbook.subprocess, "run", lambda *words, **more: None)  # the weight
    return asked


def test_a_check_gives_each_notebook_what_is_committed_but_not_what_it_writes(checking, capsys):
    assert workbook.check_command(checking.own) == 0
    everything = {"coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "results.json", "x.md"}
    missing = [{"coverage.md"}, {"chunks/fixed.jsonl", "runs/fixed.trec"}, {"results.json"}, set()]
    folders = set()
    for path, gone in zip(workbook.NOTEBOOKS, missing, strict=True):
        folder, words, held = checking.calls.pop(str(path))
        assert held == everything - gone and words == (*workbook.NBVAL_STRICT, str(path))
        assert folder != checking.own and not folder.exists()
        folders.add(folder)
    assert len(folders) == 4 and len(checking.calls) == len(workbook.TESTS)
    for words in workbook.TESTS.values():  # two at a time, in whatever order they start
        assert checking.calls[words[-1]][:2] == (checking.own, words)
    said = capsys.readouterr().out
    assert said.startswith("check: runs each of the four notebooks on a copy of evals/ without ")
    assert "\ntests of the helpers:\n0 failed, 12" in said
    assert said.endswith("check: everything agrees\n72 passed, 0 failed\n")


def test_a_session_that_stops_writing_a_file_is_noticed(checking, capsys):
    checking.writes = False
    assert workbook.check_command(checking.own) == 1
    said = capsys.readouterr().out.splitlines()
    names = ("coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "results.json")
    assert said[-5:-1] == [f"evals/{name} is stale: no session writes it" for name in names]


def test_a_check_ends_with_1_where_something_differs_or_pytest_fails(checking, capsys):
    checking.linted, checking.guarded, checking.blocks = ["lint"], ["stored"], ["block"]
    assert workbook.check_command(checking.own) == 1
    said = capsys.readouterr().out
    assert said.endswith("\nlint\nstored\nblock\n72 passed, 0 failed\n") and "agrees" not in said
    checking.linted = checking.guarded = checking.blocks = []
    for which in [*map(str, workbook.NOTEBOOKS), "helpers/tests"]:
        checking.status = {which: 2}
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
    monkeypatch.setattr(workbook, "run_all", lambda *words: ran.append(words))
    assert workbook.check_command(other) == 0 and checking.calls == {}
    ((copy, paths),) = ran
    assert copy != other and not copy.exists() and paths == workbook.NOTEBOOKS
    assert capsys.readouterr().out == (
        "check: runs the four notebooks in their order on a copy of the folder\n"
        "check: every cell ran\n"
    )

    def fails(folder, paths):
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


@pytest.mark.parametrize("complaining", [[], ["check"], ["format"], ["check", "format"]])
def test_both_commands_of_ruff_see_the_whole_project(monkeypatch, complaining):
    asked = []

    def run(words, cwd):
        asked.append(words[3:])
        return SimpleNamespace(returncode=int(words[3] in complaining))

    monkeypatch.setattr(subprocess, "run", run)
    assert workbook.lint() == [f"ruff {name} complains" for name in complaining]
    root = str(ROOT)
    assert asked == [["check", "--quiet", root], ["format", "--check", "--quiet", root]]


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


def test_stale_files_are_named_with_the_first_line_that_differs(tmp_path):
    sides = {"committed": {}, "fresh": {}}
    for name in ("coverage.md", "chunks/a.jsonl", "runs/b.json", "runs/b.trec"):
        sides["committed"][name] = sides["fresh"][name] = "same\n"
    sides["committed"] |= {"runs/fixed.trec": "a\nold\n", "notes.md": "1", "runs/gone.jsonl": "2"}
    sides["fresh"] |= {"runs/fixed.trec": "a\nnew\n", "notes.md": "2", "results.json": "{}"}
    sides["committed"] |= {"runs/end.trec": "a\r\n", "runs/less.trec": "a\n" + "é" * 200}
    sides["fresh"] |= {"runs/end.trec": "a\n", "runs/less.trec": "a\n"}
    for side, texts in sides.items():
        for name, words in texts.items():
            files.write(tmp_path / side / name, words)
    (tmp_path / "committed" / "runs" / "end.trec").write_bytes(b"a\r\n")
    globs = sum(workbook.WRITES.values(), ())
    problems = workbook.stale_files(tmp_path / "committed", tmp_path / "fresh", globs)
    assert [problem.removesuffix(", run: make refresh") for problem in problems] == [
        "evals/results.json is stale: it is not committed",
        r"evals/runs/end.trec:1 is stale: found 'a\r\n', a session writes 'a\n'",
        r"evals/runs/fixed.trec:2 is stale: found 'old\n', a session writes 'new\n'",
        "evals/runs/gone.jsonl is stale: no session writes it",
        f"evals/runs/less.trec:2 is stale: found {'é' * 100!r}, a session writes ''",
    ]


def test_what_a_check_prints_last_says_how_heavy_the_workbook_is():
    done = subprocess.run(
        [sys.executable, "helpers/tests/weight.py"],
        **{"cwd": workbook.ROOT, "capture_output": True, "encoding": "utf-8"},
    )
    flat = sum(len(p.read_text("utf-8").splitlines()) for p in (ROOT / "helpers").glob("*.py"))
    assert re.search(rf"flat rooms of helpers/ +{flat:,} in \d+$", done.stdout, re.MULTILINE)
    assert re.search(r"session_c: .*import [\d,]+ of helpers/ and load [\d,]+, ", done.stdout)
