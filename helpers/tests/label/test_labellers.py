"""Several people label one set: each has a log, and Finish takes what they agree on."""

import html

import pytest
from conftest import write_rows
from judging import do, entry, opened
from labelled_sets import rows
from test_merge import JUDGED, TABLE, contents, helps, mark, stop, unlabelled
from test_panel import message

from helpers.label import audit, drop, labellers, labelling, panel
from helpers.label.labelling import SKIPPED
from helpers.measure import evalset, installation

ANA, BEN = "labelling.ana.jsonl", "labelling.ben.jsonl"
PAIR = ("q1", "disk-full")


def merged(folder, **logs):
    """Write logs, merge twice and return ({pair: label}, pairs to settle)."""
    for name, lines in logs.items():
        write_rows(folder / labelling.log_of(name), *lines)
    labelling.merge(evalset.load(folder))
    before = contents(folder)
    assert labelling.merge(evalset.load(folder)) == 0 and contents(folder) == before
    evals = evalset.load(folder)
    labels = {j[:2]: j[2:] for j in evals.judgments if j.query_id == "q1"}
    return labels, labelling.to_settle(evals)


def said(relevance, quote="Delete", time="1", **more):
    return {**entry(*PAIR, relevance), "evidence": quote * bool(relevance), "time": time, **more}


SETTLED = said(1, "logs", "3", settles=True)
TWO_LOGS = [  # lines of ana, of ben; the label of the pair, whether it waits to be settled
    ([said(2)], [], (2, (("Delete",),)), False),
    ([said(2)], [said(2)], (2, (("Delete",),)), False),
    ([said(2)], [said(2, "logs")], (2, (("Delete",), ("logs",))), False),
    ([said(0), said(2)], [said(2)], (2, (("Delete",),)), False),  # the last word
    ([said(2)], [said(2), said(0, repeat=True)], (2, (("Delete",),)), False),
    ([said(2)], [said(0)], None, True),
    ([said(0)], [said(2, time="0")], None, True),
    ([said(2), SETTLED], [said(0, time="9")], (1, (("logs",),)), False),
    ([said(2), SETTLED], [said(0), said(0, time="4", settles=True)], (0, ()), False),
    ([said(2), said(0, time="4", settles=True)], [said(0), SETTLED], (0, ()), False),
    ([SETTLED], [said(2, time="4", was=1)], (2, (("Delete",),)), False),  # changed later
]


def test_finish_takes_what_labellers_agree_on_and_lists_the_rest(folder):
    for first, second, label, waits in TWO_LOGS:
        unlabelled(folder)
        labels, differing = merged(folder, ana=first, ben=second)
        assert (labels.get(PAIR), differing) == (label, [PAIR] * waits), (first, second)


def test_a_label_stands_until_what_contradicts_it_is_settled(folder):
    unlabelled(folder)
    assert merged(folder, ana=[said(2)]) == ({PAIR: (2, (("Delete",),))}, [])
    assert merged(folder, ben=[said(0)]) == ({PAIR: (2, (("Delete",),))}, [PAIR])
    blind = said(1, "logs", "3", settles=True)  # of somebody who didn't know the label
    assert merged(folder, ben=[said(0), blind])[1] == [PAIR]
    labels, differing = merged(folder, ben=[said(0), blind | {"was": 2}])
    assert labels == {PAIR: (1, (("logs",),))} and not differing
    changed = said(2, "logs", "5", was=1)  # after Finish
    labels, differing = merged(folder, ana=[said(2), changed])
    assert labels == {PAIR: (2, (("logs",),))} and not differing
    with pytest.raises(evalset.EvalSetError, match="says 2, wanted one grade"):
        (folder / ANA).unlink()
        merged(folder, ben=[said(0)])


def test_a_query_is_set_aside_until_a_pair_of_it_is_settled_as_relevant(folder):
    unlabelled(folder, kind="list")
    merged(folder, ana=[said(2)], ben=[said(0), mark()])
    assert rows(folder / TABLE)[0]["kind"] == "none"
    merged(folder, ana=[said(2)], ben=[said(0), mark(), said(1, time="5", settles=True)])
    assert rows(folder / TABLE)[0]["kind"] == "list"


def test_what_either_skipped_is_written_and_a_loss_is_refused(folder):
    unlabelled(folder)
    drawn = stop("disk-full") | {"drawn": ["disk-full"]}
    merged(folder, ana=[stop("queue-full")], ben=[drawn, said(2)])
    assert {row["doc_id"] for row in rows(folder / SKIPPED)} == {"queue-full", "disk-full"}
    evals = evalset.load(folder)
    assert "relevant of those judged: 1 of 1" in labellers.stop_cost(evals)
    labelling.refuse_losses(evals)
    write_rows(folder / ANA, said(0), helps("q2", "disk-full", 1))
    with pytest.raises(evalset.EvalSetError, match="1 label not in") as caught:
        labelling.refuse_losses(evals)
    assert "1 pair to settle" in caught.value.problems[1]
    told = drop.drop_query(folder, "q1")
    assert f"{ANA}: 1 row moved to dropped.jsonl" in told and len(rows(folder / BEN)) == 0
    assert not labelling.to_settle(evalset.load(folder))


def test_a_name_is_a_file_name(monkeypatch):
    monkeypatch.setenv("LABELLER", "ben")
    assert labelling.log_of() == BEN and labelling.log_of("ana") == ANA
    for name in ("a b", "../x", "a.b"):
        with pytest.raises(evalset.EvalSetError, match="LABELLER is .* wanted a name of"):
            labelling.log_of(name)


def test_a_disagreement_is_settled_blind_and_both_grades_are_told_afterwards(folder):
    unlabelled(folder)
    for name, grade in (("ana", 2), ("ben", 0)):
        do(opened(folder, [PAIR], labeller=name), grade)
    assert len(rows(folder / ANA)) == 1 and not (folder / "labelling.jsonl").exists()
    labelling.merge(evalset.load(folder))
    shown = opened(folder, [PAIR], labeller="ana")  # who has judged it, too
    assert shown.turn[:2] == PAIR and message(shown) == ""
    assert "before" not in html.unescape(shown.query.value)
    shown.buttons["Skip"].click()
    assert shown.turn is None
    shown = opened(folder, [PAIR], labeller="ana")
    do(shown, 1)
    assert message(shown) == "Saved: 1. It settles what was given: ana 2, ben 0."
    shown.buttons["Undo"].click()
    assert shown.turn[:2] == PAIR and message(shown) == "Taken back."
    do(shown, 1)
    shown.buttons["Finish"].click()
    assert "graded differently" not in message(shown)
    assert merged(folder) == ({PAIR: (1, (("Delete <old> logs.",),))}, [])
    shown = opened(folder, labeller="ben")
    shown.search.value = "disk-full"
    while shown.turn.pair != PAIR:
        shown.buttons["Skip"].click()
        shown.search.value = "disk-full"
    assert "so far: 1" in message(shown)
    do(shown, 2)
    assert message(shown) == "Saved: 2." and merged(folder)[0][PAIR][0] == 2


def test_who_has_a_name_also_judges_what_others_judged(folder, monkeypatch, capsys):
    panels = []
    monkeypatch.setattr(panel.Panel, "show", lambda self: panels.append(self))
    monkeypatch.setenv(installation.LIVE, "1")
    labels, pair = rows(folder / JUDGED), ("q2", "disk-full")
    write_rows(folder / ANA, helps(*pair), entry("q1", "queue-full"))
    for name, found in (("", None), ("ana", None), ("ben", {pair, ("q1", "queue-full")})):
        monkeypatch.setenv("LABELLER", name)
        panel.require_labels(evalset.load(folder))
        assert ("2 pairs that others judged" in capsys.readouterr().out) == bool(found), name
        turns = {turn.pair for turn in panels.pop().queue if turn.doc_id} if found else None
        assert turns == found and not panels
    write_rows(folder / BEN, entry(*pair))
    monkeypatch.setenv("LABELLER", "")
    panel.require_labels(evalset.load(folder))
    assert "1 pair graded differently, to settle" in capsys.readouterr().out
    assert [turn.pair for turn in panels.pop().ahead] == [pair]
    assert rows(folder / JUDGED) == labels


PAGE = """\
ana: 3 of 4 pairs judged, 2 relevant (keyword 1, list 2)
ben: 4 of 4 pairs judged, 2 relevant (keyword 2, list 2)
ana and ben: n = 3, 67% equal, weighted kappa (linear) 0.67
ana and ben, keyword: n = 1, 0% equal, weighted kappa (linear) 0.00
ana and ben, list: n = 2, 100% equal, weighted kappa (linear) 1.00
1 pair graded differently: the panel opens them first, without the grades."""


def test_progress_and_agreement_by_labeller_and_kind_stand_on_one_page(folder, capsys):
    unlabelled(folder)
    kinds = zip(rows(folder / TABLE), ("list", "keyword"), strict=True)
    write_rows(folder / TABLE, *(row | {"kind": kind} for row, kind in kinds))
    evals = evalset.load(folder)
    assert labellers.labellers_page(evals) == ""
    write_rows(folder / ANA, said(2), entry("q1", "queue-full"), helps("q2", "disk-full", 1))
    assert labellers.labellers_page(evals) == ""
    again = [said(2), entry("q1", "queue-full"), entry("q2"), helps("q2", "queue-full", 1)]
    write_rows(folder / BEN, *again)
    assert labellers.labellers_page(evals) == PAGE
    audit.audit_command(evals)
    assert capsys.readouterr().out.endswith(f"\n\n{PAGE}\n")
    write_rows(folder / BEN, *again, helps("q2", "disk-full", 1) | {"settles": True})
    page = labellers.labellers_page(evals)
    assert (
        "ben: 4 of 4" in page
        and "ana and ben: n = 3, 67% equal" in page
        and "differently" not in page
    )
    write_rows(folder / BEN, entry("q2", "queue-full"))
    assert "ana and ben: no pair was judged by both" in labellers.labellers_page(evals)
