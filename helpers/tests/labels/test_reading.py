"""What waits to be read is listed once, shown blind unless it has an old label, and judged."""

import html

import pytest
from conftest import write_rows
from judging import do, logged, opened
from labelled_sets import rows

from helpers import evalset, figures
from helpers.labels import merge, panel, reading
from helpers.labels.reading import TO_READ

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
    assert merge.pairs_to_judge(evals, []) == [("q1", "queue-full"), ("q2", "disk-full")]
    write_rows(unread / TO_READ, judged, OLD)  # judged after it was listed
    assert reading.waiting(evals) == {("q2", "disk-full"): OLD}
    assert reading.write_list(evals, []) == 1 and rows(unread / TO_READ) == [OLD]


TWICE = [[0, 9], PASSAGE]  # disk-full, its title, as well
TAKEN = [  # more of the row, what stands in the box of evidence
    ({"passages": [PASSAGE]}, "Delete <old> logs."),
    ({"passages": TWICE, "evidence": [["disk", "Delete old logs."]]},
     "disk-full\n+\nDelete <old> logs."),
    ({"passages": [PASSAGE], "relevance": 0}, ""),
    ({}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("more", "taken"), TAKEN)
def test_the_passages_of_an_old_grade_are_taken_as_evidence(unread, more, taken):
    write_rows(unread / TO_READ, OLD | more)
    shown = opened(unread, [("q2", "disk-full")])
    assert shown.evidence.value == taken


def test_the_key_of_an_old_grade_keeps_the_label_and_others_are_blind(unread):
    row = OLD | {"passages": TWICE, "evidence": [["disk", "Delete old logs."]]}
    write_rows(unread / TO_READ, row, TWO | {"why": "for comparison"})
    shown = opened(unread, [*reading.waiting(evalset.load(unread))], repeats=1)
    assert shown.bar.max == 3  # only the blind one comes twice
    while shown.turn.doc_id != "queue-full":
        shown.buttons["Skip"].click()
    assert "before" not in shown.query.value and "comparison" not in shown.query.value
    assert shown.evidence.value == ""
    do(shown, 0)
    page = html.unescape(shown.query.value)
    old = "before: <q>disk</q> and <q>Delete old logs.</q> (grade 1; its document changed)"
    assert old in page
    shown.key.value = "1"
    entry = logged(unread)[-1]
    assert (entry["relevance"], entry["evidence"]) == (1, [["disk-full", "Delete <old> logs."]])
    assert merge.merge(evalset.load(unread)) == 2
    assert reading.waiting(evalset.load(unread)) == {}


def test_the_session_opens_what_waits_to_be_read_and_goes_on(unread, capsys, monkeypatch):
    queues = []
    monkeypatch.setattr(panel.Panel, "show", lambda self: queues.append(self.queue))
    write_rows(unread / TO_READ, ONE, TWO)
    for live_cell, shown in (("", 0), ("1", 1)):
        monkeypatch.setenv(figures.LIVE, live_cell)
        panel.require_labels(evalset.load(unread))
        assert len(queues) == shown
        told = "2 queries, each with a relevant document\n2 pairs of to_read.jsonl to judge\n"
        assert capsys.readouterr().out == told
    assert sorted(turn[:2] for turn in queues[0] if not turn.repeat) == [
        ("q1", "queue-full"), ("q2", "disk-full"),
    ]  # fmt: skip
