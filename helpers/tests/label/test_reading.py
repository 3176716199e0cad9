"""What waits to be read is listed once, shown blind unless it has an old label, and judged."""

import html
import json
import re
from pathlib import Path

import pytest
from conftest import write_rows
from judging import do, live, logged, opened
from labelled_sets import rows

from helpers.label import labelling, panel, server
from helpers.measure import evalset, installation, reading
from helpers.measure.reading import TO_READ

ONE, TWO = ({"query_id": q, "doc_id": d} for q, d in (("q2", "disk-full"), ("q1", "queue-full")))
OLD = ONE | {"relevance": 1, "evidence": "Delete old logs.", "why": "its document changed"}
PASSAGE = [11, 29]  # of disk-full: Delete <old> logs.


@pytest.fixture
def unread(folder):
    """Take two of the four pairs out of the labels."""
    first, zero, second = rows(folder / "judgments.jsonl")
    write_rows(folder / "judgments.jsonl", first, second)
    return folder


def test_a_list_holds_a_pair_once_and_no_judged_one(unread):
    evals, judged = evalset.load(unread), {"query_id": "q1", "doc_id": "disk-full"}
    assert reading.waiting(evals) == {}
    assert reading.write_list(evals, [TWO, judged, TWO | {"why": "again"}]) == 1
    assert rows(unread / TO_READ) == [TWO]
    assert reading.write_list(evals, [OLD, TWO | {"relevance": 0}]) == 2
    assert [*reading.waiting(evals).values()] == rows(unread / TO_READ) == [TWO, OLD]
    assert labelling.pairs_to_judge(evals, []) == [("q1", "queue-full"), ("q2", "disk-full")]
    write_rows(unread / TO_READ, judged, OLD)  # judged after it was listed
    assert reading.waiting(evals) == {("q2", "disk-full"): OLD}
    assert reading.write_list(evals, []) == 1 and rows(unread / TO_READ) == [OLD]


@pytest.mark.parametrize(
    ("grade", "higher", "told"),
    [
        (0, None, ["new text: 1", "zeros before: 1"]),
        (None, 2, ["full answers before: 1", "new text: 1"]),
        (1, 2, ["full answers before: 1", "parts of one before: 1"]),
        (0, 1, ["parts of one before: 1", "zeros before: 1"]),
    ],
)
def test_what_can_change_most_comes_first_and_is_counted(unread, grade, higher, told):
    pairs = [TWO | {"relevance": grade}, ONE | {"relevance": higher}]
    listed = [{name: row[name] for name in row if row[name] is not None} for row in pairs]
    write_rows(unread / TO_READ, *listed)
    evals = evalset.load(unread)
    assert opened(unread, [*reading.waiting(evals)]).turn[:2] == (*ONE.values(),)
    line, *sorts = reading.in_words(evals)
    assert [sort.strip() for sort in sorts] == told
    assert line == "pairs to read: 2, 1 minute at most for whole pages"


@pytest.mark.parametrize(("passages", "minutes"), [([], 2), ([[0, 9]], 1)])
def test_minutes_are_of_marked_passages_or_else_of_whole_pages(unread, passages, minutes):
    write_rows(unread / TO_READ, ONE | {"passages": passages, "relevance": 0})
    evals = evalset.load(unread)
    long = evals.documents["disk-full"]._replace(text="full " * 300)
    evals.documents["disk-full"] = long
    assert f"1, {minutes} minute" in reading.in_words(evals)[0]


MARKED = [  # old grade, old quotes, passages of disk-full, which of them are evidence now
    (1, "old", [[0, 4]], "disk"),
    (2, [["old", "other"], "third"], [[0, 4], [5, 9], [0, 9]], [["disk", "full"], "disk-full"]),
    (2, ["old", "other"], [[0, 4]], ""),  # which of the two?
    (0, [], [[0, 4]], ""),
    (0, "old", [[0, 4]], ""),
    (2, [{"quotes": ["old"], "needs": ["n1"]}], [[0, 4]], [{"quotes": ["disk"], "needs": ["n1"]}]),
]


@pytest.mark.parametrize(("relevance", "evidence", "passages", "marked"), MARKED)
def test_marked_passages_take_the_places_of_the_old_quotes(
    folder, relevance, evidence, passages, marked
):
    row = ONE | {"relevance": relevance, "evidence": evidence, "passages": passages}
    assert reading.marked_evidence(evalset.load(folder), row) == marked


def test_one_key_takes_an_old_grade_with_the_marked_passage_and_others_are_blind(unread):
    row = OLD | {"passages": [PASSAGE]}
    write_rows(unread / TO_READ, row, TWO | {"why": "for comparison"})
    shown = opened(unread, [*reading.waiting(evalset.load(unread))], repeats=1)
    assert shown.bar.max == 2  # nothing comes twice
    while shown.turn.doc_id != "queue-full":
        shown.buttons["Skip"].click()
    assert "before" not in shown.query.value and "comparison" not in shown.query.value
    assert "now:" not in shown.query.value and "Accept" not in live(shown)
    shown.key.value = "a"
    assert "Accept does nothing now" in shown.message.value
    do(shown, 0)
    page = html.unescape(shown.query.value)
    assert "before (its document changed): grade 1 <q>Delete old logs.</q>" in page
    assert "<p>now: grade 1 <q>Delete <old> logs.</q></p>" in page
    assert shown.buttons["Accept"].description == "Accept: grade 1"
    shown.key.value = "a"
    entry = logged(unread)[-1]
    assert (entry["relevance"], entry["evidence"]) == (1, "Delete <old> logs.")
    assert labelling.merge(evalset.load(unread)) == 2
    assert reading.waiting(evalset.load(unread)) == {}


def test_the_session_opens_what_waits_to_be_read_and_goes_on(unread, capsys, monkeypatch):
    queues = []
    monkeypatch.setattr(panel.Panel, "show", lambda self: queues.append(self.queue))
    write_rows(unread / TO_READ, ONE, TWO)
    for live_cell, shown in (("", 0), ("1", 1)):
        monkeypatch.setenv(installation.LIVE, live_cell)
        panel.require_labels(evalset.load(unread))
        assert len(queues) == shown
        told = "2 queries, each with a relevant document\n2 pairs of to_read.jsonl to judge\n"
        assert capsys.readouterr().out == told
    turns = {turn[:2] for turn in queues[0]}
    assert turns == {("q1", "queue-full"), ("q2", "disk-full")}


def test_the_session_opens_what_was_drawn_of_the_skipped_pages(unread, capsys, monkeypatch):
    queues = []
    monkeypatch.setattr(panel.Panel, "show", lambda self: queues.append(self.queue))
    monkeypatch.setenv(installation.LIVE, "1")
    write_rows(unread / labelling.SKIPPED, ONE | {"drawn": False}, TWO | {"drawn": True})
    panel.require_labels(evalset.load(unread))
    told = "2 queries, each with a relevant document\n1 pair skipped and drawn to be read blind\n"
    assert capsys.readouterr().out == told
    assert [turn[:2] for turn in queues[0]] == [("q1", "queue-full")]
    judged = {**TWO, "relevance": 0}
    write_rows(unread / "judgments.jsonl", *rows(unread / "judgments.jsonl"), judged)
    panel.require_labels(evalset.load(unread))
    assert len(queues) == 1


def test_a_command_serves_the_panel_on_this_machine_only(unread, monkeypatch, capsys):
    served, queues = [], []

    def serve(words, env):
        cell = json.loads(Path(words[-1]).read_text())["cells"][0]["source"]
        served.append((words, env, cell))
        return 3

    monkeypatch.setattr(server.subprocess, "call", serve)
    for user in (0, 1000):
        monkeypatch.setattr(server.os, "geteuid", lambda user=user: user)
        assert server.label_command(unread) == 3
    (as_root, _, _), (words, env, cell) = served
    assert "--allow-root" in as_root and "--allow-root" not in words
    assert "You are root" in capsys.readouterr().err and not Path(words[-1]).exists()
    makefile = (evalset.DEFAULT.parent / "Makefile").read_text()
    guards = re.findall(r"--ip=\S+|--ServerApp\S+", makefile)
    assert len(guards) == 3 and {*guards} < {*words}
    write_rows(unread / TO_READ, ONE)
    monkeypatch.setattr(panel.Panel, "show", lambda self: queues.append(self.queue))
    for name in ("EVALS", installation.LIVE):
        monkeypatch.setenv(name, env[name])
    exec(cell, {})
    assert [turn[:2] for turn in queues[0]] == [("q2", "disk-full")]
    (unread / "judgments.jsonl").write_text("{")
    with pytest.raises(evalset.EvalSetError, match="broken JSON"):
        server.label_command(unread)
    assert len(served) == 2
