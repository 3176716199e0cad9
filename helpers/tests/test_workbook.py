"""Running notebooks, refreshing what is generated, and checking that all of it is as stored."""

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import nbval_alt
import pytest
from conftest import write_rows
from nbformat import v4
from nbval.plugin import IPyNbFile

from helpers.label import manifest, pooling
from helpers.measure import evalset, files, report, results
from helpers.teach import data_card, workbook

ROOT = workbook.ROOT


def notebook(tmp_path, *sources):
    """Write a notebook of code cells; return its path."""
    path = tmp_path / "made.ipynb"
    nbformat.write(v4.new_notebook(cells=[v4.new_code_cell(code) for code in sources]), path)
    return path


@pytest.mark.proof
def test_a_notebook_is_executed_in_its_place_on_its_folder(tmp_path, capsys, monkeypatch):
    for name in ("EVALS", "MPLBACKEND", "WORKBOOK_LIVE", "KEPT"):
        monkeypatch.setenv(name, "set outside")
    path = notebook(
        tmp_path,
        "import os, sys",
        "print(1, flush=True); print(2, flush=True)",
        "print(os.environ['EVALS'], os.environ['PYTHONHASHSEED'], os.environ['KEPT'])",
        "print('WORKBOOK_LIVE' in os.environ, 'set outside' == os.environ.get('MPLBACKEND'))",
        "print(sys.executable, os.getcwd())",
    )
    before = path.read_bytes()
    ((_, executed),) = workbook.run_each(tmp_path / "set", [path])
    assert path.read_bytes() == before
    code = executed.cells
    assert [[output.text for output in cell.outputs] for cell in code] == [
        [],
        ["1\n2\n"],
        [f"{tmp_path / 'set'} 0 set outside\n"],
        ["False False\n"],
        [f"{sys.executable} {tmp_path}\n"],
    ]
    assert not any("execution" in cell.metadata for cell in code)
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    assert executed.metadata.language_info == {"name": "python"}
    assert re.fullmatch(r"\[1/1\] made\n      \d+ s\n", capsys.readouterr().out)


@pytest.mark.proof
def test_problems_of_a_set_are_told_and_other_failures_with_their_traceback(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    problems = "from helpers.measure import files; raise files.EvalSetError(['a:1: x', 'b:2: y'])"
    for code, error, words in (
        ("raise ValueError('no')", RuntimeError, "made: (?s:.)*\nValueError: no\n"),
        (problems, evalset.EvalSetError, "a:1: x\nb:2: y$"),
    ):
        with pytest.raises(error, match=f"^{words}") as caught:
            workbook.execute(notebook(tmp_path, code), tmp_path)
        assert "\x1b" not in str(caught.value)


def test_a_report_runs_the_notebooks_in_their_order_and_tells_the_summary(
    folder, monkeypatch, capsys
):
    ran, evals = [], evalset.load(folder)
    monkeypatch.setattr(workbook, "execute", lambda path, on: ran.append((path, on)) or path.stem)
    monkeypatch.setattr(report, "html", lambda executed: f"<p>{executed}</p>")
    monkeypatch.setattr(results, "read_results", lambda on: f"summary of {on.name}")
    monkeypatch.setattr(report, "summary", str)
    page = folder / "retrieval_eval.html"
    write_rows(folder / "to_read.jsonl", {"query_id": "q2", "doc_id": "disk-full"})
    for more, paths in (([], workbook.NOTEBOOKS), ([True], workbook.NOTEBOOKS + workbook.FURTHER)):
        ran.clear()
        assert workbook.report_command(evals, *more) == 0
        assert ran == [(path, folder) for path in paths]
        assert page.read_text() == "<p>retrieval_eval</p>"
        shown = capsys.readouterr().out
        assert shown.startswith(f"[1/{len(paths)}] {workbook.SESSIONS[0].stem}\n      0 s\n[2/")
        assert f"\nsummary of {folder.name}\n\nwrite-up: {page}\nnext: " in shown
        assert shown.endswith(f"to_read.jsonl: 1 pair to be read: make lab EVALS={folder}\n")


def test_freeze_writes_the_negatives_then_the_manifest(folder, capsys):
    evals = evalset.load(folder)
    assert manifest.freeze_command(evals) == 0
    path = folder / "manifest.json"
    assert capsys.readouterr().out == f"{path} describes the folder as it is now\n"
    content = json.loads(path.read_text())
    assert content["seeds"] == {"negatives": 2026} and "negatives.jsonl" in content["files"]
    rows = [json.loads(line) for line in (folder / "negatives.jsonl").read_text().splitlines()]
    assert rows == pooling.negatives(evals, pooling.by_ranker(evals), 2026)
    assert manifest.freeze_command(evals) == 0 and json.loads(path.read_text()) == content


PAGE = "a\n<!-- generated: make refresh -->\nold\nlines\n<!-- end -->\nb\n"


@pytest.fixture
def pages(monkeypatch, tmp_path):
    """Put a README and a data card in the workbook's place, with blocks of their own."""
    for name in ("README.md", "evals/README.md"):
        files.write(tmp_path / name, PAGE)
    monkeypatch.setattr(workbook, "ROOT", tmp_path)
    monkeypatch.setattr(evalset, "load", lambda folder: folder)
    monkeypatch.setattr(results, "read_results", lambda folder: folder)
    for room, name, block in (
        (report, "summary", "new \\1"),
        (data_card, "counts_table", "old\nlines"),
    ):
        monkeypatch.setattr(room, name, lambda of, block=block: block if of == tmp_path else "")


def test_a_block_is_made_anew_where_it_stands_once(pages, tmp_path):
    made = PAGE.replace("old\nlines", "new \\1")
    pages_now = {tmp_path / "README.md": made, tmp_path / "evals" / "README.md": PAGE}
    assert workbook.fresh_pages(tmp_path) == pages_now
    (tmp_path / "README.md").write_bytes(b"# Caf\xe9\n")
    with pytest.raises(evalset.EvalSetError, match="README.md:1: byte 0xe9 is not UTF-8"):
        workbook.fresh_pages(tmp_path)


@pytest.fixture
def books(pages, tmp_path, monkeypatch):
    """Put five notebooks in the workbook's place, of which one fails; return their stems."""

    def execute(path, folder):
        if path.stem == "leaks":
            raise RuntimeError
        return v4.new_notebook(cells=[v4.new_markdown_cell(f"of {folder.name}", id="a")])

    stems = ["session_a", "session_bm", "retrieval_eval", "session_b", "leaks"]
    paths = [tmp_path / f"{stem}.ipynb" for stem in stems]
    for path in paths:
        path.write_text("former")
    monkeypatch.setattr(workbook, "NOTEBOOKS", paths[:4])
    monkeypatch.setattr(workbook, "FURTHER", paths[4:])
    monkeypatch.setattr(workbook, "execute", execute)
    monkeypatch.setattr(evalset, "DEFAULT", tmp_path)
    return stems


def test_a_refresh_keeps_each_notebook_that_succeeds_and_then_makes_the_blocks(books, tmp_path):
    own = SimpleNamespace(folder=tmp_path)
    with pytest.raises(RuntimeError):
        workbook.refresh_command(own)
    kept = [f"of {tmp_path.name}" in (tmp_path / f"{stem}.ipynb").read_text() for stem in books]
    assert kept == [True] * 4 + [False] and "old" in (tmp_path / "README.md").read_text()
    (tmp_path / "session_bm.ipynb").write_text("former")
    assert workbook.refresh_command(own, "retrieval_eval") == 0
    assert (tmp_path / "session_bm.ipynb").read_text() == "former"
    assert "new \\1" in (tmp_path / "README.md").read_text()


def test_notebooks_are_named_by_their_stems_or_clear_beginnings(books):
    for only, chosen in (
        ("", books),
        ("retrieval_eval session_a", ["session_a", "retrieval_eval"]),
        ("session_b l leaks", ["session_b", "leaks"]),
    ):
        assert [path.stem for path in workbook.named_notebooks(only)] == chosen, only
    with pytest.raises(evalset.EvalSetError) as caught:
        workbook.named_notebooks("session leaks rank")
    unclear, unknown = caught.value.problems
    wanted = f"wanted one of {', '.join(books)}, or how it begins"
    assert unclear == f"--only: session names 3 notebooks, {wanted}"
    assert unknown == f"--only: rank names 0 notebooks, {wanted}"


@pytest.mark.parametrize("command", ["refresh", "check"])
def test_what_is_about_the_workbook_takes_its_own_set_only(command, tmp_path):
    with pytest.raises(evalset.EvalSetError, match=f"^{command} is about the workbook itself"):
        getattr(workbook, f"{command}_command")(SimpleNamespace(folder=tmp_path / "other"))


DERIVED = ("coverage.md", "chunks/fixed.jsonl", "runs/fixed.trec", "runs/f.json", "results.json")


def test_a_check_ends_with_1_where_a_linter_or_a_test_fails(monkeypatch, capsys):
    own, commands, statuses = SimpleNamespace(folder=evalset.DEFAULT), [], []

    def run(command, **_):
        commands.append(command)
        return SimpleNamespace(returncode=statuses[len(commands) - 1])

    monkeypatch.setattr(workbook.subprocess, "run", run)
    for statuses, status, said in (
        ([0, 0, 0, 0], 0, "everything agrees"),
        ([2, 0, 0, 0], 1, "something differs, see above"),
        ([0, 0, 2, 0], 1, "something differs, see above"),
    ):
        commands.clear()
        assert workbook.check_command(own) == status, statuses
        assert capsys.readouterr().out.endswith(f"\ncheck: {said}\n")
    assert [" ".join(command[2:4]) for command in commands[:2]] == ["ruff check", "ruff format"]
    assert commands[2][-5:] == [*map(str, workbook.NOTEBOOKS), "helpers/tests"]
    commands.clear()
    workbook.check_command(own, "session_b")
    tried = [Path(word).stem for word in commands[2] if word.endswith((".ipynb", ".py"))]
    assert tried[0].startswith("session_b_") and {"test_chunks", "test_sparse"} < {*tried}
    assert {"test_panel", "test_carry", "test_commands"}.isdisjoint(tried)


def test_a_session_finds_what_is_committed_but_not_what_it_writes(monkeypatch, tmp_path):
    for name in (*DERIVED, "x.md", "n.ipynb"):
        files.write(tmp_path / name, "x\n")
    monkeypatch.setattr(evalset, "DEFAULT", tmp_path)
    monkeypatch.setenv("EVALS", str(tmp_path))
    for globs in [*workbook.WRITES.values()]:
        monkeypatch.setitem(workbook.WRITES, Path(__file__), globs)
        for writes in (True, False):
            book = IPyNbFile.__new__(IPyNbFile)  # nbval's options may be missing
            book.path, book.skip_compare = Path(__file__), ()
            book.setup = book.teardown = list  # no kernel
            nbval_alt.pytest_collectstart(book)
            book.setup()
            copy, derived = Path(os.environ["EVALS"]), nbval_alt.derived_files(tmp_path, globs)
            held = {path.relative_to(copy).as_posix() for path in copy.rglob("*.*")}
            assert copy != tmp_path and held == {*DERIVED, "x.md"} - derived
            for name in derived if writes else ():
                files.write(copy / name, "x\n")
            if writes or not derived:
                book.teardown()
            else:
                with pytest.raises(AssertionError, match=f"^evals/{min(derived)} is not what a se"):
                    book.teardown()
            assert evalset.folder() == tmp_path and not copy.exists()


MACHINE_PATH = re.compile(  # in JSON, which writes a backslash twice
    r"(?:/(?:home|Users|root|tmp|private|var/folders)/|\b[A-Za-z]:\\\\)[\w.-]+"
)


def output_problems(path):
    """Return what is wrong with the stored outputs of a notebook.

    nbval compares nothing where a count is missing, so counts come first.
    """
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    problems = []
    for number, cell in enumerate(cells, 1):
        if cell.execution_count != number:
            problems.append(f"cell [{number}] counts {cell.execution_count}, run: make refresh")
        kinds = {output.get("name", output.output_type) for output in cell.outputs}
        for unwanted in kinds & {"stderr", "error"}:
            problems.append(f"cell [{number}] stores {unwanted}")
        if machine_path := MACHINE_PATH.search(json.dumps(cell.outputs)):
            problems.append(f"cell [{number}] stores a path of one machine: {machine_path[0]}")
    return problems


@pytest.mark.parametrize("path", [*workbook.NOTEBOOKS, *workbook.FURTHER], ids=lambda p: p.stem)
def test_our_notebooks_store_their_whole_outputs_and_nothing_of_a_machine(path):
    assert output_problems(path) == []


def test_the_generated_blocks_are_as_the_results_say():
    for path, page in workbook.fresh_pages(evalset.DEFAULT).items():
        assert page == path.read_text("utf-8"), f"{path}: its block differs, run: make refresh"
        assert len(workbook.BLOCK.findall(page)) == 1, f"{path}: no block between two markers"
