"""The labelling panel: it shows no more than it should, and loses and invents no judgment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import write_rows
from judging import PROOF, do, grades, logged, opened, two_by_twelve

from helpers import evalset
from helpers.labels import log, merge, panel

HERE = Path(__file__).resolve().parents[1]
BODY = "Delete <old> logs.\n\nThen <|endoftext|> call Storage."


@pytest.fixture
def many(tmp_path):
    return two_by_twelve(tmp_path)


# What is shown.


def test_unknown_ids_are_named(folder):
    with pytest.raises(ValueError, match="(?s)query q9 is not.*document nil is not"):
        panel.Panel(evalset.load(folder), [("q9", "disk-full"), ("q1", "nil")])


def test_document_is_escaped_marked_and_without_its_origin(folder):
    shown = opened(folder)
    while shown.turn[:2] != ("q1", "disk-full"):
        shown.buttons["Skip"].click()
    assert "disk is full" in shown.query.value
    page = shown.document.value
    assert "Delete &lt;old&gt; logs.\n\nThen &lt;|endoftext|&gt;" in page and "pre-wrap" in page
    assert "<mark>disk</mark>-<mark>full</mark>" in page and "2026-04-08" in page
    assert [value for _, value in shown.choice.options] == ["disk-full", *BODY.split("\n\n")]


def test_words_of_most_documents_are_not_marked(many):
    rows = [{"doc_id": f"e{i}", "title": "x", "text": "fact b" if i < 2 else "y"} for i in range(8)]
    corpus = many.folder / "corpus.jsonl"
    former = [json.loads(line) for line in corpus.read_text().splitlines()]
    write_rows(corpus, *former, *rows)
    assert panel.telling_words(evalset.load(many.folder)) == {"a": {"a"}, "b": {"b"}}


def test_guide_is_rendered_escaped_and_its_absence_is_a_hint(folder):
    assert "labeling_guide.md" in panel.guide_html(folder)
    (folder / "labeling_guide.md").write_text("# Ours\n\n|g|m|\n|-|-|\n|2|<script>|\n")
    page = opened(folder).guide.children[0].value
    assert "<h1>Ours</h1>" in page and "<td>2</td>" in page and "&lt;script&gt;" in page
    assert opened(folder).guide.selected_index is None


def test_progress_counts_documents_and_queries(many):
    shown = panel.Panel(many, merge.pairs_to_judge(many), repeats=0)
    assert shown.count.value == "1 of 24, query 1 of 2" and shown.bar.value == 0
    for _ in range(12):
        shown.buttons["0"].click()
    assert shown.count.value == "13 of 24, query 2 of 2" and shown.bar.value == 12


# Judging.


def test_a_judgment_is_on_disk_before_the_next_document(folder, monkeypatch):
    shown, seen = opened(folder), []
    show = panel.document_html
    monkeypatch.setattr(
        panel, "document_html", lambda *a: seen.append(len(logged(folder))) or show(*a)
    )
    first, second = do(shown, 2), do(shown, 0)
    assert seen == [1, 2]
    rows = logged(folder)
    assert [(r["query_id"], r["doc_id"], r["relevance"]) for r in rows] == [
        (*first[:2], 2),
        (*second[:2], 0),
    ]
    names = ["query_id", "doc_id", "relevance", "evidence", "repeat", "time"]
    assert list(rows[0]) == names and rows[0]["repeat"] is False and rows[1]["evidence"] == ""
    assert rows[0]["evidence"] == PROOF[first.doc_id] and rows[0]["time"].endswith("+00:00")


@pytest.mark.parametrize("grade", "12")
@pytest.mark.parametrize("words", ["", "  \n", "delete the logs", "Add a consumer. Delete"])
def test_grades_need_evidence_that_stands_in_the_document(folder, grade, words):
    shown = opened(folder)
    before, shown.evidence.value = shown.turn, words
    shown.buttons[grade].click()
    assert "evidence" in shown.message.value and shown.turn == before
    assert not (folder / log.LOG).exists() and shown.evidence.value == words


def test_every_document_starts_without_evidence(folder):
    shown = opened(folder)
    for _ in range(4):
        assert shown.evidence.value == "" and shown.choice.index is None
        shown.buttons["2"].click()
        assert "needs evidence" in shown.message.value
        do(shown, 1)
    assert shown.turn is None and len(logged(folder)) == 4


def test_pasted_evidence_and_message_are_safe(folder):
    shown = opened(folder)
    shown.evidence.value = "<img src=x>"
    shown.buttons["1"].click()
    assert "<img" not in shown.message.value and "&lt;img" in shown.message.value
    shown.evidence.value = f"\n{PROOF[shown.turn.doc_id][:7]} "
    shown.buttons["1"].click()
    assert logged(folder)[0]["evidence"] in ("Delete", "Add a c")


def test_keys_act_at_once_and_empty_the_box(folder):
    shown = opened(folder)
    shown.key.value = "0"
    assert shown.key.value == "" and len(logged(folder)) == 1
    second = shown.turn
    shown.key.value = "S"
    assert shown.turn != second and len(logged(folder)) == 1
    shown.key.value = "x"
    assert "Key x does nothing" in shown.message.value and shown.key.value == ""
    shown.choice.index = 1
    shown.key.value = "2"
    assert logged(folder)[1]["relevance"] == 2
    shown.key.value = "u"
    assert "undo" in logged(folder)[2]


def test_skip_moves_to_the_end_and_writes_nothing(folder):
    shown = opened(folder)
    skipped = shown.turn
    shown.buttons["Skip"].click()
    assert not (folder / log.LOG).exists()
    others = [do(shown, 0) for _ in range(3)]
    assert skipped not in others and shown.turn == skipped
    shown.buttons["Skip"].click()
    assert shown.turn == skipped and "last document left" in shown.message.value
    do(shown, 0)
    assert shown.turn is None and shown.buttons["Skip"].disabled


def test_undo_shows_the_document_again_and_reaches_back(folder):
    shown = opened(folder)
    first, second = do(shown, 2), do(shown, 0)
    shown.buttons["Undo"].click()
    assert shown.turn == second and grades(folder) == {first[:2]: 2}
    shown.buttons["Undo"].click()
    assert shown.turn == first and grades(folder) == {} and len(logged(folder)) == 4
    shown.buttons["Undo"].click()
    assert "nothing to undo" in shown.message.value and len(logged(folder)) == 4
    do(shown, 1)
    assert grades(folder) == {first[:2]: 1} and shown.turn == second


def test_undo_of_two_judgments_at_the_same_instant(folder, monkeypatch):
    monkeypatch.setattr(panel, "_now", lambda: "2026-11-21T12:00:00+00:00")
    shown = opened(folder)
    turn = do(shown, 0)
    shown.buttons["Undo"].click()
    do(shown, 1)
    assert grades(folder) == {turn[:2]: 1}


def test_resume_continues_where_the_log_stops(folder):
    shown = opened(folder, seed=3)
    done = [do(shown, 0), do(shown, 2)]
    again = opened(folder, seed=3)
    assert again.turn == shown.turn and again.bar.value == 2
    again.buttons["Undo"].click()
    assert again.turn == done[1] and grades(folder) == {done[0][:2]: 0}


# Panels and logs that change meanwhile.


def test_two_panels_see_each_other(folder):
    one, two = opened(folder), opened(folder)
    shared = do(one, 0)
    assert two.turn == shared
    two.buttons["Skip"].click()
    assert two.turn == one.turn  # not the shared one, which is judged
    seen = {do(two, 0)[:2], shared[:2]}
    one.buttons["Skip"].click()
    while one.turn:
        assert one.turn[:2] not in seen
        seen.add(do(one, 0)[:2])
    assert len(grades(folder)) == len(logged(folder)) == 4


def test_undo_leaves_what_another_panel_judged(folder):
    one, two = opened(folder), opened(folder, seed=5)
    mine, other = do(one, 0), do(two, 0)
    one.buttons["Undo"].click()
    one.buttons["Undo"].click()
    assert "nothing to undo" in one.message.value
    assert grades(folder) == ({other[:2]: 0} if mine != other else {})


def test_the_same_pair_in_two_panels_keeps_both_lines_and_says_so(folder):
    one, two = opened(folder), opened(folder)
    turn = do(one, 2)
    do(two, 1)
    assert "Another panel gave 2" in two.message.value
    assert grades(folder) == {turn[:2]: 1} and len(logged(folder)) == 2
    two.buttons["Undo"].click()
    assert grades(folder) == {turn[:2]: 2}


def test_a_log_that_breaks_meanwhile_is_a_message(folder):
    shown = opened(folder)
    (folder / log.LOG).write_text("{\n")
    before = shown.turn
    shown.buttons["0"].click()
    assert "labelling.jsonl:1: broken JSON" in shown.message.value and shown.turn == before


# The set.


def test_panel_in_a_browser(tmp_path):
    script = [sys.executable, str(HERE / "browser_labelling.py")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(script, capture_output=True, text=True, timeout=180, env=environment)
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr


def test_queries_without_labels_open_the_panel_and_end_the_run(folder, capsys):
    panel.require_labels(evalset.load(folder))
    assert "2 queries, each with a relevant document" in capsys.readouterr().out
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    queries.write_text(queries.read_text().replace('["disk-full"]', "[]"))
    with pytest.raises(panel.Unlabelled, match="Judge in the panel above") as stop:
        panel.require_labels(evalset.load(folder))
    assert stop.value._render_traceback_() == [str(stop.value)]
    shown = panel.Panel(evalset.load(folder), [("q1", "disk-full")], repeats=0)
    shown.evidence.value = "Delete <old> logs."
    shown.judge(2)
    assert merge.merge(evalset.load(folder)) == 1
    panel.require_labels(evalset.load(folder))
    queries.unlink()
    (folder / "judgments.jsonl").unlink()
    with pytest.raises(panel.Unlabelled, match="no queries yet"):
        panel.require_labels(evalset.load(folder))


def test_the_call_that_comes_next_works_with_what_session_a_imports(folder):
    session = HERE.parents[1] / "notebooks" / "session_a_corpus_and_labels.ipynb"
    cells = nbformat.read(session, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    before = code.partition("panel.require_labels(")[0].splitlines()
    names = {"evals": evalset.load(folder)}
    exec("\n".join(line for line in before if "from helpers.labels import" in line), names)
    assert eval(panel.NEXT_CALL, names) == 0
    assert panel.NEXT_CALL in panel.end_html([], 1)


def test_the_panel_offers_the_grades_of_the_set(folder):
    (folder / "settings.json").write_text('{"highest_grade": 3}')
    shown = opened(folder)
    assert [*shown.buttons] == ["0", "1", "2", "3", "Skip", "Undo"]
    assert shown.buttons["3"].tooltip == "3: answers, with evidence"
    turn = do(shown, 3)
    shown.key.value = "0"
    assert [row["relevance"] for row in logged(folder)] == [3, 0]
    assert grades(folder)[turn[:2]] == 3
    (folder / "settings.json").unlink()
    with pytest.raises(evalset.EvalSetError, match="field relevance is 3, wanted 0, 1 or 2"):
        log.judgments(folder)
