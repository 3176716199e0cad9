"""Running notebooks: what a report leaves out, what it tells meanwhile, what a refresh reports."""

import re

import nbformat
import pytest

from helpers import evalset, results, workbook


@pytest.mark.parametrize("path", workbook.SESSIONS, ids=lambda path: path.stem)
def test_what_is_below_going_further_is_marked(path):
    cells = nbformat.read(path, as_version=4).cells
    heads = [n for n, cell in enumerate(cells) if cell.source.startswith("# Going further")]
    marked = [n for n, cell in enumerate(cells) if "further" in cell.metadata.get("tags", [])]
    assert marked == list(range(heads[0], len(cells)))


def notebook(tmp_path, *cells):
    new = nbformat.v4
    made = [
        new.new_code_cell(text) if kind == "code" else new.new_markdown_cell(text)
        for kind, text in cells
    ]
    made[-1].metadata["tags"] = ["further"]
    path = tmp_path / "made.ipynb"
    nbformat.write(new.new_notebook(cells=made), path)
    return path


@pytest.mark.parametrize(("full", "last"), [(False, "2"), (True, "2 again")])
def test_a_report_ends_where_going_further_begins(tmp_path, capsys, full, last):
    path = notebook(
        tmp_path,
        ("text", "# Title"),
        ("code", "import os\nn = 1"),
        ("text", "## 1. First part (30 minutes)\n\n### Below it"),
        ("code", "assert os.environ['EVALS'] and os.environ['PYTHONHASHSEED'] == '0'"),
        ("text", "## Only words"),
        ("text", "## 2. Second part"),
        ("code", "n += 1; print(n)"),
        ("code", "print(n, 'again')"),
    )
    before = path.read_bytes()
    executed = workbook.execute(path, tmp_path, full)
    assert path.read_bytes() == before
    assert executed.cells[-1].outputs[0].text == last + "\n"
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ... ")[0].strip() for line in lines] == [
        "set up",
        "1. First part",
        "2. Second part",
    ]
    assert all(re.search(r" \.\.\. \d+\.\d s$", line) for line in lines)


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
    pages = {name: tmp_path / name for name in ("README.md", "coverage.md")}
    for page in pages.values():
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
