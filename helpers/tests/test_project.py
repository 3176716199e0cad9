"""What must hold for the committed project: its corpus, its labels, its packages, its guards."""

import re

import nbformat
import pytest
import yaml

from helpers import evalset, report, results, workbook


@pytest.fixture(scope="module")
def evals():
    return evalset.load(evalset.DEFAULT)


def test_the_five_worst_dev_queries_have_been_read(evals):
    rows = [row for row in results.read_results(evals.folder)["per_query"] if row["split"] == "dev"]
    worst = sorted(rows, key=lambda row: row["measures"]["nDCG@10"])[:5]
    assert (
        {row["query_id"] for row in worst} <= set(results.notes(evals.folder)) <= set(evals.queries)
    )


def test_packages_are_listed_once_and_locked():
    direct = {
        re.split(r"[\s#\[]", line)[0]
        for line in (workbook.ROOT / "requirements.in").read_text().splitlines()
        if line.strip() and not line.startswith("#")
    }
    lock = (workbook.ROOT / "requirements.txt").read_text()
    locked = re.findall(r"^([\w.-]+)==(?:.|\n)*?# via((?:\n    #   .*)+| .*)", lock, re.MULTILINE)
    asked = {name for name, via in locked if "-r requirements.in" in via}
    assert {name.replace("_", "-") for name in direct} == asked
    pins = re.split(r"\n(?=[\w.-]+==)", lock)
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in lock and "--index" not in lock
    environment = yaml.safe_load((workbook.ROOT / "environment.yml").read_text())["dependencies"]
    assert environment == ["python>=3.11,<3.15", "pip", {"pip": ["-r requirements.txt"]}]


def test_page_needs_no_network_and_shows_no_code(tmp_path):
    cells = [
        nbformat.v4.new_markdown_cell("# Title"),
        nbformat.v4.new_code_cell(
            "secret = 1", outputs=[nbformat.v4.new_output("stream", text="shown\n")]
        ),
    ]
    page = report.html(nbformat.v4.new_notebook(cells=cells))
    assert "<title>Title</title>" in page and "shown" in page and "secret" not in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|@import|<script""", page)


def test_results_hold_what_a_comparison_needs(evals):
    found = results.read_results(evals.folder)
    assert found["corpus"]["sha256"] == evals.corpus_hash()
    assert found["queries"]["sha256"] == evals.queries_hash()
    assert [row["query_id"] for row in found["per_query"]] == list(evals.queries)
