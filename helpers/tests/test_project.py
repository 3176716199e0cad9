"""What must hold for the committed project: its labels, its packages, its page."""

import ast
import os
import re
import subprocess
import sys

import nbformat
import pytest
import yaml

from helpers import install
from helpers.measure import evalset, report, results
from helpers.teach import workbook
from helpers.tests import weight

ROOT = workbook.ROOT


def test_results_hold_what_a_comparison_needs_and_the_worst_queries_were_read():
    evals = evalset.load(evalset.DEFAULT)
    content = results.read_results(evals.folder)
    assert content["corpus"]["sha256"] == evals.corpus_hash()
    assert content["queries"]["sha256"] == evals.queries_hash()
    assert [row["query_id"] for row in content["per_query"]] == list(evals.queries)
    dev = [row for row in content["per_query"] if row["split"] == "dev"]
    worst = sorted(dev, key=lambda row: row["measures"]["nDCG@10"])[:5]
    notes = {*results.read_notes(evals.folder)}
    assert {row["query_id"] for row in worst} <= notes <= {row["query_id"] for row in dev}


def test_packages_are_listed_once_and_locked():
    lines = (ROOT / "requirements.in").read_text().splitlines()
    direct = {re.split(r"[\s#\[]", line)[0] for line in lines if line and line[0] != "#"}
    lock = (ROOT / "requirements.txt").read_text()
    locked = re.findall(r"^([\w.-]+)==(?:.|\n)*?# via((?:\n    #   .*)+| .*)", lock, re.MULTILINE)
    wanted = {name for name, via in locked if "-r requirements.in" in via}
    assert {name.replace("_", "-") for name in direct} == wanted
    assert all("--hash=sha256:" in pin for pin in re.split(r"\n(?=[\w.-]+==)", lock))
    assert "://" not in lock and "--index" not in lock
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert environment == ["python>=3.11,<3.15", "pip", {"pip": ["-r requirements.txt"]}]


@pytest.mark.skipif(os.name == "nt", reason="wants links")
def test_the_set_up_clears_nothing_that_a_link_leads_to(tmp_path, monkeypatch, capsys):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.txt").touch()
    (link := tmp_path / ".venv").symlink_to("own")
    monkeypatch.setattr(install.subprocess, "run", lambda words, **_: pytest.fail(str(words)))
    assert install.set_up(link, evalset.DEFAULT.parent / install.LOCK) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{link} is a link to {tmp_path / 'own'}, ") and link.is_symlink()


def test_page_needs_no_network_and_shows_no_code():
    cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("secret = 1")]
    page = report.html(nbformat.v4.new_notebook(cells=cells))
    assert "<title>Title</title>" in page and "secret" not in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|@import|<script""", page)


def test_what_a_check_prints_last_says_how_heavy_the_workbook_is(capsys):
    weight.main()
    shown = capsys.readouterr().out
    assert re.search(r"product +[\d,]+ tokens of Python in \d+ files$", shown, re.MULTILINE)
    assert re.search(r"session_c: [\d,]+ tokens in cells, which load [\d,]+$", shown, re.MULTILINE)
    assert weight.tokens('x = f"{a + 1} b" + "c"  # d') == 5


def test_each_door_imports_only_those_before_it():
    """Measure is what an engineer installs, label makes a set, teach is the course."""
    doors = ["measure", "label", "teach"]
    for number, door in enumerate(doors):
        for path in (ROOT / "helpers" / door).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            named = [(node.module or node.names[0].name).split(".") for node in froms if node.level]
            assert not {room for room, *_ in named} & {*doors[number + 1 :]}, path
            assert not [node for node in froms if (node.module or "").startswith("helpers")], path


@pytest.mark.proof
def test_checks_and_helpers_are_found_with_only_the_project_on_the_path(tmp_path):
    """As in copies for learners and nbgrader's, which run in folders of their own."""
    code = "from helpers.teach import check; print(check.ndcg.__name__)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, cwd=tmp_path, env=environment).returncode == 0
