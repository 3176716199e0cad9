"""The order is blind and repeatable, repeats come late, and agreement is computed as by hand."""

from collections import Counter
from itertools import groupby

import pytest
from conftest import write_rows
from judging import do, grades, live, logged, opened
from labelled_sets import rows

from helpers.label import labellers, labelling, panel, pooling
from helpers.label.labelling import LOG, Entry, Turn
from helpers.measure import evalset


@pytest.fixture
def many(tmp_path):
    """Return a set with two queries and twelve documents."""
    documents = [{"doc_id": f"d{n:02}", "title": "Page", "text": f"Fact {n}."} for n in range(12)]
    write_rows(tmp_path / "corpus.jsonl", *documents)
    queries = [{"query_id": q, "query": "fact", "relevant_doc_ids": ["d00"]} for q in "ab"]
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    return tmp_path


def pairs_of(queries, documents):
    return [(q, str(d)) for q in queries for d in range(documents)]


def test_order_is_seeded_and_query_by_query():
    pairs = pairs_of("ab", 9)
    turns = labelling.schedule(pairs, 0, seed=1)
    assert turns == labelling.schedule(pairs[::-1] + pairs, 0, seed=1)
    assert turns != labelling.schedule(pairs, 0, seed=2)
    assert sorted(t[:2] for t in turns) == pairs and [t[:2] for t in turns] != pairs
    assert len({t.query_id for t in turns[:9]}) == len({t.query_id for t in turns[9:]}) == 1
    firsts = {labelling.schedule(pairs_of("abcdef", 1), 0, seed)[0] for seed in range(9)}
    assert len(firsts) > 2  # queries are shuffled too


def test_the_number_is_due_at_each_tenth_dev_query_with_an_answer(tmp_path, monkeypatch):
    write_rows(tmp_path / "corpus.jsonl", {"doc_id": "d", "title": "Page", "text": "Fact."})
    splits, rows = ["dev"] * 5 + ["test"] + ["dev"] * 16, []
    for n, split in enumerate(splits):
        row = {"query_id": f"q{n:02}", "query": "fact", "split": split}
        rows.append(row | {"relevant_doc_ids": ["d"] if n < 3 else []})
    write_rows(tmp_path / "retrieval_queries.jsonl", *rows)
    evals, told = evalset.load(tmp_path), {}
    for n in range(len(rows)):
        entries = [Entry(row["query_id"], "d", 1) for row in rows[: n + 1]]
        told[n + 1] = labelling.number_due(evals, entries)
    assert {n: words[:3] for n, words in told.items() if words} == {11: " 10", 21: " 20"}
    assert told[11].endswith(f"Finish, and make baseline EVALS={tmp_path} shows the number.")
    zeros = [entry._replace(relevance=0) for entry in entries[:11]]
    assert labelling.number_due(evals, zeros) == ""
    monkeypatch.setattr(evalset, "FIRST", 3)
    assert labelling.number_due(evals, entries[:3]) == ""  # they had one before


def test_the_panel_says_when_the_number_is_due(many, monkeypatch):
    monkeypatch.setattr(evalset, "FIRST", 1)
    rows = [{"query_id": "a", "query": "fact", "relevant_doc_ids": []}]
    write_rows(many / "retrieval_queries.jsonl", *rows)
    shown = opened(many, [("a", "d00")])
    do(shown, 1)
    said = "Saved: 1. 1 queries have an answer: click Finish, and make baseline"
    assert said in shown.message.value


def test_repeats_come_later_unannounced_and_are_compared(many):
    shown, turns = opened(many, repeats=0.25), []
    while shown.turn:
        assert "again" not in shown.message.value + shown.count.value + shown.document.value
        turns.append(do(shown, int(shown.turn.repeat)))
    pairs = [turn[:2] for turn in turns]
    assert len(turns) == 30 and len(set(pairs)) == 24
    for i, turn in enumerate(turns):
        assert not turn.repeat or i - pairs.index(turn[:2]) > 5
    assert [*grades(many).values()] == [0] * 24
    assert "n = 6, 0% equal" in shown.document.value


def test_repeats_survive_skips_undo_and_a_restart(many):
    shown = opened(many, repeats=0.5)
    for turn in range(200):
        if shown.turn is None:
            break
        shown.buttons[("Skip", "0", "0", "Undo", "0")[turn % 5]].click()
        if turn % 7 == 0:
            shown = opened(many, repeats=0.5)
    told = labellers.own_agreement(labelling.entries(evalset.load(many)), THREE)
    assert shown.turn is None and "n = 12, " in told and len(grades(many)) == 24


def test_repeats_stand_behind_all_documents_in_any_order():
    drawn = set()
    for seed in range(200):
        turns = labelling.schedule(pairs_of("pq", 9), 1 / 18, seed)
        assert [turn.repeat for turn in turns] == [False] * 18 + [True]
        drawn.add(turns.index(turns[18]._replace(repeat=False)))
    assert drawn == {*range(18)}
    turns = labelling.schedule(pairs_of("abcd", 3), repeats=1.0)
    assert {turn.pair for turn in turns[12:]} == {turn.pair for turn in turns[:12]}


def test_a_repeat_is_due_five_judgments_after_the_first():
    again, other = Turn("q", "0", True), Turn("q", "9")
    for others, due in ((4, other), (5, again), (6, again)):
        judged = [Entry("q", str(n), 0) for n in range(others + 1)]
        assert labelling.due([again, other], judged)[0] == due
        assert labelling.due([again], judged) == [again]  # nothing else is left
    assert labelling.due([again, other], []) == [other, again]  # its first turn was taken back


DOCUMENT, AGAIN, QUESTION = Turn("a", "x"), Turn("a", "x", True), Turn("a", "")
ZERO, ASIDE = Entry("a", "x", 0), Entry("b", "", 0)
REPEATED, HELPS = ZERO._replace(repeat=True), ZERO._replace(relevance=1)
DUE = [  # judgments, what is due
    ([], Turn("b", "")),  # nothing of b is left to read
    ([ASIDE], DOCUMENT),
    ([ASIDE, ZERO], AGAIN),
    ([ASIDE, ZERO, REPEATED], QUESTION),
    ([ASIDE, ZERO, REPEATED._replace(relevance=2)], QUESTION),  # repeats are no labels
    ([ASIDE, HELPS, REPEATED], None),
]


def test_a_question_waits_for_all_documents_and_falls_away_with_an_answer():
    turns = labelling.schedule([("a", ""), ("b", "x"), ("a", "x"), ("c", "")], repeats=1.0)
    assert turns[-2:] == [Turn("a", ""), Turn("c", "")] and len(turns) == 6
    for judged, due in DUE:
        queue = [QUESTION, Turn("b", ""), DOCUMENT, AGAIN]
        assert [*labelling.due(queue, judged), None][0] == due, judged


# Agreement with oneself. Linear weights, four pairs of the first row: observed distance 2 + 1 = 3;
# expected from the margins (0: 2 of 4, 2: 2 of 4) and (0: 1, 1: 1, 2: 2 of 4):
# (2*(1+2*2) + 2*(2*1+1)) / 4 = 4.

THREE, FOUR = (0, 1, 2), (0, 1, 2, 3)
READINGS = [  # first grades, repeats, grades of the set, what is told
    ("00221", "0221", THREE, "n = 4, 50% equal, weighted kappa (linear) 0.25."),  # 1 - 3 / 4
    ("301", "201", FOUR, "n = 3, 67% equal, weighted kappa (linear) 0.73."),  # (1 / 3) / (11 / 9)
    ("20", "021", THREE, "n = 2, 0% equal, weighted kappa (linear) -1.00."),  # one taken back
    ("222", "222", THREE, "n = 3, 100% equal, weighted kappa (linear) not defined"),
    ("", "", THREE, "No document was shown twice"),
]


@pytest.mark.filterwarnings("error")
def test_agreement_by_hand():
    for first, second, allowed, told in READINGS:
        judged = [Entry("q", str(d), int(grade)) for d, grade in enumerate(first)]
        again = [Entry("q", str(d), int(g), repeat=True) for d, g in enumerate(second)]
        assert told in labellers.own_agreement(judged + again[::-1], allowed), first


# The order that finds: fused ranks, a stop after five zeros, a tenth of the rest read blind.


def test_the_likeliest_documents_of_a_query_come_first_and_none_twice():
    pairs = [*pairs_of("abcd", 4), ("a", "")]
    fused = {q: ["3", "1", "9"] for q in "abc"} | {"z": ["0"]}
    turns = labelling.find_order(pairs, fused)
    queries = [*dict.fromkeys(turn.query_id for turn in turns)]
    blind = labelling.schedule(pairs, repeats=0)
    assert queries == [*dict.fromkeys(turn.query_id for turn in blind[:-1])] != [*"abcd"]
    assert [q for q, own in groupby(turns, lambda turn: turn.query_id)] == queries
    for q in queries:
        own = [turn.doc_id for turn in turns if turn.query_id == q]
        assert own[:2] == ["3", "1"] or q == "d"
        assert sorted(own[:4]) == [*"0123"]  # those that nothing ranks are mixed
        assert own[4:] == [""] * (q == "a")


def test_a_tenth_of_what_is_skipped_is_drawn_by_pair():
    drawn, doc_ids = Counter(), [str(n) for n in range(25)]
    for n in range(400):
        row = labelling.stop_row(f"q{n}", doc_ids)
        assert row == labelling.stop_row(f"q{n}", doc_ids) and row["skipped"] == doc_ids
        assert {*row["drawn"]} <= {*doc_ids}
        drawn.update(row["drawn"])
    assert sum(drawn.values()) == pytest.approx(1000, abs=100)
    assert min(drawn.values()) > 20 and max(drawn.values()) < 65  # 40 each, sd 6


@pytest.fixture
def finding(many, monkeypatch):
    """Return a set of two queries whose twelve documents one ranker has from d11 down to d00."""
    (many / "corpus.jsonl").unlink()
    bodies = {f"d{n:02}": f"Fact {n}." for n in range(12)}
    bodies["d11"] = "Nothing here.\n\nThe fact is told.\nIn two lines.\n\nEnd."
    rows = [{"doc_id": d, "title": "Page", "text": body} for d, body in bodies.items()]
    write_rows(many / "corpus.jsonl", *rows)
    queries = [{"query_id": q, "query": "fact", "relevant_doc_ids": []} for q in "ab"]
    write_rows(many / "retrieval_queries.jsonl", *queries)
    write_rows(many / "pool.jsonl", *({"query_id": q, "doc_id": d, "rankers": []}
                                      for q in "ab" for d in bodies))  # fmt: skip
    ranking = [(d, float(d[1:])) for d in sorted(bodies, reverse=True)]
    found = {"hand": {"a": ranking, "b": ranking}}
    monkeypatch.setattr(pooling, "by_ranker", lambda evals, keep: found)
    return many


def find(folder):
    evals = evalset.load(folder)
    return panel.Panel(evals, labelling.pairs_to_judge(evals))


def test_a_query_may_end_after_five_zeros_in_a_row_and_undo_takes_the_end_back(finding):
    shown = find(finding)
    first = shown.turn.query_id
    grades_given, ids = "0000200000", [f"d{n:02}" for n in range(11, -1, -1)]
    for n, grade in enumerate(grades_given):
        assert shown.turn == Turn(first, ids[n]) and "Next query" not in live(shown), n
        assert shown.count.value == f"0 of 2 queries, {int(n > 4)} relevant found"
        do(shown, grade)
    assert "Next query" in live(shown)
    assert "5 zeros in a row: Next query (q) leaves 2 documents unread" in shown.message.value
    shown.key.value = "q"
    last = logged(finding)[-1]
    assert last["skipped"] == ids[10:] and {*last["drawn"]} <= {*ids[10:]}
    assert shown.turn.query_id != first and "Next query" not in live(shown)
    assert shown.count.value == "1 of 2 queries, 1 relevant found"
    shown = find(finding)
    assert shown.turn.query_id != first and shown.bar.value == 12 - len(last["drawn"])
    shown.buttons["Undo"].click()
    assert shown.turn == Turn(first, "d01") and "Next query" in live(shown)
    assert "Taken back." in shown.message.value
    do(shown, 0)
    assert "5 zeros in a row: Next query (q) leaves 1 document unread" in shown.message.value


def test_what_was_drawn_comes_last_without_a_sign_and_finish_tells_what_the_stops_cost(finding):
    shown = find(finding)
    while not {"Next query"} <= live(shown):
        do(shown, 2 if shown.turn.doc_id == "d11" else 0)
    first, rest = shown.turn.query_id, [turn.doc_id for turn in shown._unread()]
    shown.buttons["Next query"].click()
    path = finding / LOG
    lines = logged(finding)
    lines[-1]["drawn"] = rest[2:4]
    write_rows(path, *lines)
    shown, order = find(finding), []
    while shown.turn:
        if not shown.turn.doc_id:
            assert shown.turn.query_id != first
            shown.buttons["No answer"].click()
            continue
        order.append(shown.turn)
        assert ("<blockquote>" in shown.document.value) == (shown.turn.query_id != first)
        do(shown, 0)
        assert "2 queries, 1 relevant" in shown.count.value
        if shown.turn and shown.turn.query_id == first:
            assert "Next query" not in live(shown) and "skip" not in shown.document.value
    assert {turn.doc_id for turn in order[-2:]} == {*rest[2:4]}
    shown = find(finding)
    shown.buttons["Finish"].click()
    told = "6 documents skipped (skipped.jsonl), 2 of them drawn to be read blind; "
    told += "relevant of those judged: 0 of 2, 0% (95 % interval 0% to 66%)"
    assert told in shown.message.value
    written = {row["doc_id"]: row["drawn"] for row in rows(finding / "skipped.jsonl")}
    assert written == {d: d in rest[2:4] for d in rest}
    path.unlink()  # the set alone tells it, too
    assert labellers.stop_cost(evalset.load(finding)) == told
    assert labelling.skipped(evalset.load(finding), []).keys() == {(first, d) for d in rest}
