"""The order is blind and repeatable, repeats come late, and agreement is computed as by hand."""

import pytest
from judging import do, grades, two_by_twelve

from helpers.labels import log, merge, panel, schedule
from helpers.labels.schedule import Turn


@pytest.fixture
def many(tmp_path):
    return two_by_twelve(tmp_path)


def of_one_query(documents, seed, repeats):
    return schedule.schedule([("q", str(n)) for n in range(documents)], seed, repeats)


def test_order_is_seeded_and_query_by_query():
    pairs = [(q, f"d{n:02}") for q in "ab" for n in range(12)]
    turns = schedule.schedule(pairs, seed=1, repeats=0)
    assert turns == schedule.schedule(pairs[::-1] + pairs, seed=1, repeats=0)
    assert turns != schedule.schedule(pairs, seed=2, repeats=0)
    assert sorted(s[:2] for s in turns) == pairs and [s[:2] for s in turns] != pairs
    assert len({s.query_id for s in turns[:12]}) == len({s.query_id for s in turns[12:]}) == 1
    firsts = {schedule.schedule([(q, "d") for q in "abcdef"], seed)[0] for seed in range(9)}
    assert len(firsts) > 2  # queries are shuffled too


def test_the_order_of_a_seed_stays():
    """A panel that is opened again goes on where it was, also after an update."""
    pairs = [(q, d) for q in "ab" for d in "wxyz"] + [("a", "w"), ("c", "")]
    shown = [f"{t.query_id}{t.doc_id}{'*' * t.repeat}" for t in schedule.schedule(pairs, 3, 0.25)]
    assert " ".join(shown) == "bw by bx bz az ax aw ay bw* by* c"
    assert schedule.schedule(pairs) == schedule.schedule(pairs, 0, 0.1)


# Repeats.


def test_repeats_come_later_unannounced_and_are_compared(many):
    shown = panel.Panel(many, merge.pairs_to_judge(many), 2, repeats=0.25)
    turns = []
    while shown.turn:
        assert "again" not in shown.message.value + shown.count.value + shown.document.value
        turns.append(do(shown, int(shown.turn.repeat)))
    pairs = [turn[:2] for turn in turns]
    assert len(turns) == 30 and len(set(pairs)) == 24
    for i, turn in enumerate(turns):
        assert not turn.repeat or i - pairs.index(turn[:2]) > 5
    assert [*grades(many.folder).values()] == [0] * 24
    assert "n = 6, 0% equal" in shown.document.value


def test_repeats_survive_skips_undo_and_a_restart(many):
    pairs = merge.pairs_to_judge(many)
    shown = panel.Panel(many, pairs, repeats=0.5)
    for turn in range(200):
        if shown.turn is None:
            break
        shown.buttons[("Skip", "0", "0", "Undo", "0")[turn % 5]].click()
        if turn % 7 == 0:
            shown = panel.Panel(many, pairs, repeats=0.5)
    n, _, _ = schedule.agreement(log.entries(many))
    assert shown.turn is None and n == 12 and len(grades(many.folder)) == 24


def test_a_repeat_stands_five_documents_later_in_its_own_query_where_there_is_room():
    for seed in range(8):
        turns = schedule.schedule([(q, str(d)) for q in "abc" for d in range(9)], seed, 0.5)
        firsts = [turn for turn in turns if not turn.repeat]
        for i, turn in enumerate(turns):
            first = turn._replace(repeat=False)
            after = [t for t in firsts[firsts.index(first) + 1 :] if t.query_id == turn.query_id]
            if turn.repeat and len(after) >= 5:
                assert i - turns.index(first) > 5 and turns[i - 1].query_id == turn.query_id


def test_repeats_without_room_come_in_the_order_of_the_first_ones():
    turns = schedule.schedule([(q, d) for q in "abcd" for d in "xyz"], repeats=1.0)
    assert [t.pair for t in turns[12:]] == [t.pair for t in turns[:12]]
    assert [t.repeat for t in turns] == [False] * 12 + [True] * 12


def test_a_share_of_the_documents_is_shown_twice_those_near_the_end_last():
    for documents, repeats, shown in ((10, 0.1, 11), (14, 0.1, 15), (16, 0.1, 18), (4, 1.0, 8)):
        turns = of_one_query(documents, 1, repeats)
        assert len(turns) == shown and len({turn.pair for turn in turns}) == documents
    for seed in range(6):
        turns = of_one_query(8, seed, 3 / 8)
        firsts = [turn for turn in turns if not turn.repeat]
        again = {turn._replace(repeat=False) for turn in turns if turn.repeat}
        assert again == {*firsts[:3]}


def test_repeats_take_every_place_that_is_left_in_their_query():
    """Of nine documents the third is repeated after the eighth at the earliest, or at the end."""
    places = set()
    for seed in range(200):
        turns = of_one_query(9, seed, 1 / 9)
        (again,) = (n for n, turn in enumerate(turns) if turn.repeat)
        first = turns.index(turns[again]._replace(repeat=False))
        assert again - first > schedule.GAP
        places |= {again} if first == 2 else set()
    assert places == {8, 9}


# What is due.

AGAIN, OTHER = Turn("q", "0", True), Turn("q", "9")


def test_a_repeat_is_due_five_judgments_after_the_first():
    for others, due in ((4, OTHER), (5, AGAIN), (6, AGAIN)):
        given = [log.Entry("q", str(n), 0) for n in range(others + 1)]
        assert schedule.following([AGAIN, OTHER], given) == due
        assert schedule.following([AGAIN], given) == AGAIN  # nothing else is left
    assert schedule.following([AGAIN], []) is None  # its first turn was taken back


def test_a_question_waits_for_all_documents_and_falls_away_with_an_answer():
    pairs = [("a", ""), ("b", "x"), ("a", "x"), ("c", "")]
    turns = schedule.schedule(pairs, repeats=1.0)
    assert turns[-2:] == [Turn("a", ""), Turn("c", "")] and len(turns) == 6
    document, again = Turn("a", "x"), Turn("a", "x", True)
    question, other = Turn("a", ""), Turn("b", "")
    queue, zero = [question, other, document, again], log.Entry("a", "x", 0)
    repeated, helps = zero._replace(repeat=True), zero._replace(relevance=1)
    for given, due in (
        ([], document),
        ([zero], again),
        ([zero, repeated], question),
        ([zero, repeated._replace(relevance=2)], question),  # repeats are no labels
        ([helps, repeated], other),
        ([helps, repeated, log.Entry("b", "", 0)], None),
    ):
        assert schedule.following(queue, given) == due


# Agreement with oneself.


def readings(first, second):
    """Return a log of first grades and repeats, each {document: grade}."""
    once = [log.Entry("q", d, grade) for d, grade in first.items()]
    return once + [log.Entry("q", d, grade, repeat=True) for d, grade in second.items()]


@pytest.mark.filterwarnings("error")
def test_agreement_by_hand():
    # Linear weights, four pairs: observed distance 2 + 1 = 3; expected from the margins
    # (0: 2 of 4, 2: 2 of 4) and (0: 1, 1: 1, 2: 2 of 4): (2*(1+2*2) + 2*(2*1+1)) / 4 = 4.
    given = readings({"a": 0, "b": 0, "c": 2, "d": 2, "e": 1}, {"a": 0, "b": 2, "c": 2, "d": 1})
    differ = [("q", "b", 0, 2), ("q", "d", 2, 1)]
    assert schedule.agreement(given) == (4, pytest.approx(1 - 3 / 4), differ)
    given = readings({"a": 3, "b": 0, "c": 1}, {"a": 2, "b": 0, "c": 1})
    assert schedule.agreement(given, (0, 1, 2, 3))[1] == pytest.approx(1 - (1 / 3) / (11 / 9))
    given = readings({"b": 0, "a": 2, "c": 1}, {"b": 2, "a": 0, "d": 1})  # d was taken back
    assert schedule.agreement(given)[::2] == (2, [("q", "a", 2, 0), ("q", "b", 0, 2)])
    for grade in (0, 2):
        same = dict.fromkeys("abc", grade)
        assert schedule.agreement(readings(same, same)) == (3, None, [])
    assert schedule.agreement([]) == (0, None, [])
