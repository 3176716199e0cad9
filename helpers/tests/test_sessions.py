"""The sessions on other sets than the workbook's own, in one process and without a kernel."""

import json
import shutil
import sys

import matplotlib.pyplot as plt
import nbformat
import pytest
from conftest import write_rows
from IPython.core.interactiveshell import InteractiveShell

from helpers import evalset, measures, runs, workbook


@pytest.fixture
def play(monkeypatch):
    """Return a function that runs the code cells of a notebook on a folder, up to cell `last`.

    `shorter` replaces {text: text} in them.
    """

    def run(path, folder, last=None, shorter=()):
        monkeypatch.setenv("EVALS", str(folder))
        monkeypatch.chdir(path.parent)
        monkeypatch.setattr(sys, "path", [*sys.path])
        plt.switch_backend("agg")
        shell = InteractiveShell()
        for cell in nbformat.read(path, as_version=4).cells:
            for old, new in dict(shorter).items():
                cell.source = cell.source.replace(old, new)
            if cell.cell_type == "code":
                result = shell.run_cell(cell.source)
                assert result.success, f"{path.stem}: cell {cell.id}"
            if cell.id == last:
                break
        return shell.user_ns

    return run


def test_session_b_ranks_a_large_corpus_as_rank_bm25_does(tmp_path, monkeypatch, play):
    """The other engine, forced, writes the committed runs byte by byte; the card names it."""
    copy = tmp_path / "evals"
    shutil.copytree(evalset.DEFAULT, copy, ignore=shutil.ignore_patterns("runs", "chunks"))
    monkeypatch.setattr(runs, "LARGE", 1)
    shorter = {"for size in (SIZE, SIZE // 8):": "for size in ():"}  # the proof against LangChain
    play(workbook.SESSIONS[1], copy, "b-run-all", shorter)
    for path in sorted((evalset.DEFAULT / "runs").iterdir()):
        made = (copy / "runs" / path.name).read_bytes()
        if path.suffix == ".json":
            own = json.loads(path.read_text(encoding="utf-8"))
            assert json.loads(made) == own | {"engine": "helpers.sparse.bm25"}
        else:
            same = made == path.read_bytes()  # a diff of these bytes would take minutes
            assert same, path.name


@pytest.fixture
def graded(folder):
    """Return a set in Japanese with grades up to 3 and a second pass, and nothing derived."""
    shutil.rmtree(folder / "corpus")
    texts = {
        "d1": "東京タワーの営業時間は九時から",
        "d2": "京都の寺は朝六時に開く",
        "d3": "大阪の地図と電車の時刻",
        "d4": "東京の電車は五分おきに来る",
    }
    write_rows(
        folder / "corpus.jsonl",
        *({"doc_id": d, "title": body[:3], "text": body} for d, body in texts.items()),
    )
    labels = {
        "q1": ("東京タワーは何時から", "dev", {"d1": 3, "d4": 0, "d2": 0}),
        "q2": ("京都の寺", "dev", {"d2": 3, "d1": 1, "d3": 0}),
        "q3": ("大阪の電車", "test", {"d3": 2, "d4": 1}),
        "q4": ("東京の電車は来るか", "test", {"d4": 3, "d3": 0, "d1": 0}),
    }
    queries, judgments = [], []
    for query_id, (query, split, grades) in labels.items():
        relevant = [d for d, grade in grades.items() if grade]
        row = {"query_id": query_id, "query": query, "split": split, "relevant_doc_ids": relevant}
        queries.append({**row, "answers": [texts[relevant[0]][:4]]})
        judgments += [
            {"query_id": query_id, "doc_id": d, "relevance": grade} for d, grade in grades.items()
        ]
    write_rows(folder / "retrieval_queries.jsonl", *queries)
    write_rows(folder / "judgments.jsonl", *judgments)
    names = ("first", "second", "final")
    again = [
        {
            **{name: row[name] for name in ("query_id", "doc_id")},
            "round": 1,
            **dict.fromkeys(names, row["relevance"]),
            "reason": "",
        }
        for row in judgments
    ]
    again[0]["second"] = 2
    write_rows(folder / "second_pass.jsonl", *again)
    (folder / "settings.json").write_text('{"words": "bigrams", "highest_grade": 3}')
    return folder


def test_the_sessions_in_their_order_need_nothing_derived(graded, play, capsys, monkeypatch):
    """One session leaves what the next needs; tokenizer and grades are those of the set."""
    monkeypatch.setattr(runs, "LARGE", 1)
    for path in workbook.NOTEBOOKS:
        space = play(path, graded)
    assert space["evals"].tokenizer == "bigrams"
    card = runs.read_card(graded / "runs" / "fixed.json")
    assert (card["tokenizer"], card["engine"], card["chunks"]) == ("bigrams", runs.LARGE_ENGINE, 4)
    results = json.loads((graded / "results.json").read_text(encoding="utf-8"))
    assert results["method"]["engine"] == runs.LARGE_ENGINE
    assert "pairs of characters" in results["method"]["words"]
    assert results["queries"]["grades"] == [0, 1, 2, 3]
    rows = {row["query_id"]: row for row in results["per_query"]}
    assert rows["q1"]["retrieved"][0][0] == "d1" and rows["q1"]["measures"]["nDCG@10"] == 1
    said = capsys.readouterr().out
    assert "share read as" in said and "{0: 5, 1: 2, 2: 1, 3: 3}" in said


def test_session_c_needs_session_b_first(graded, play):
    play(workbook.SESSIONS[0], graded, "a-load")
    with pytest.raises(AssertionError, match="session_c_.*: cell c-load"):
        play(workbook.SESSIONS[2], graded, "c-load")


def test_published_judged_at_counts_an_unanswered_query(folder):
    evals = evalset.load(folder)
    run = {"q1": [("disk-full", 2.0), ("queue-full", 1.0)]}
    assert measures.judged_at(evals.qrels(), run) == 1 / 2
