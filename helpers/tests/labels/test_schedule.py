"""The order is blind and repeatable, repeats come late, and agreement is computed as by hand."""

import numpy as np
import pytest
from judging import do, two_by_twelve

from helpers.labels import log, markup, merge, panel, schedule


@pytest.fixture
def many(tmp_path):
    return two_by_twelve(tmp_path)


def test_order_is_seeded_and_query_by_query(many):
    pairs = merge.pairs_to_judge(many)
    turns = schedule.schedule(pairs, seed=1, repeats=0)
    assert turns == schedule.schedule(pairs[::-1], seed=1, repeats=0)
    assert turns != schedule.schedule(pairs, seed=2, repeats=0)
    assert sorted(s[:2] for s in turns) == pairs and [s[:2] for s in turns] != pairs
    assert len({s.query_id for s in turns[:12]}) == len({s.query_id for s in turns[12:]}) == 1


def test_queries_are_shuffled_too():
    pairs = [(q, "d") for q in "abcdef"]
    assert len({schedule.schedule(pairs, seed)[0] for seed in range(9)}) > 2


@pytest.mark.parametrize("seed", range(3))
def test_repeats_come_later_unannounced_and_are_compared(many, seed):
    shown = panel.Panel(many, merge.pairs_to_judge(many), seed, repeats=0.25)
    turns = []
    while shown.turn:
        assert "again" not in shown.message.value + shown.count.value + shown.document.value
        turns.append(do(shown, int(shown.turn.repeat)))
    pairs = [turn[:2] for turn in turns]
    assert len(turns) == 30 and len(set(pairs)) == 24
    for i, turn in enumerate(turns):
        assert not turn.repeat or i - pairs.index(turn[:2]) > 5
    assert len(log.judgments(many.folder)) == 24
    assert all(j.relevance == 0 for j in log.judgments(many.folder))
    assert "n = 6, 0% equal" in shown.document.value


def test_repeats_survive_skips_undo_and_a_restart(many):
    pairs = merge.pairs_to_judge(many)
    shown = panel.Panel(many, pairs, repeats=0.5)
    for turn in range(200):
        if shown.turn is None:
            break
        name = ("Skip", "0", "0", "Undo", "0")[turn % 5]
        shown.buttons[name].click()
        if turn % 7 == 0:
            shown = panel.Panel(many, pairs, repeats=0.5)
    found = schedule.agreement(log.entries(many))
    assert shown.turn is None and found.n == 12 and len(log.judgments(many.folder)) == 24


def test_a_repeat_waits_for_other_documents_while_there_are_any():
    again, other = schedule.Turn("q", "0", True), schedule.Turn("q", "9")
    given = [log.Entry("q", str(i), 0) for i in range(6)]
    assert schedule.following([again, other], given) == again
    assert schedule.following([again, other], given[:-1]) == other
    assert schedule.following([again], given[:-1]) == again


@pytest.mark.parametrize("seed", range(8))
def test_a_repeat_stands_five_documents_later_in_its_own_query_where_there_is_room(seed):
    turns = schedule.schedule([(q, str(d)) for q in "abc" for d in range(9)], seed, repeats=0.5)
    firsts = [turn for turn in turns if not turn.repeat]
    for i, turn in enumerate(turns):
        first = turn._replace(repeat=False)
        after = [t for t in firsts[firsts.index(first) + 1 :] if t.query_id == turn.query_id]
        if turn.repeat and len(after) >= 5:
            assert i - turns.index(first) > 5 and turns[i - 1].query_id == turn.query_id


def test_repeats_without_room_come_in_the_order_of_the_first_ones():
    turns = schedule.schedule([(q, d) for q in "abcd" for d in "xyz"], repeats=1.0)
    assert [t.pair for t in turns[12:]] == [t.pair for t in turns[:12]]


def test_few_documents_are_repeated_as_late_as_possible():
    turns = schedule.schedule([("q", d) for d in "abc"], repeats=1.0)
    assert [s.repeat for s in turns] == [False] * 3 + [True] * 3
    assert [s.doc_id for s in turns[3:]] == [s.doc_id for s in turns[:3]]


def entries_of(first, second):
    once = [log.Entry("q", str(i), grade) for i, grade in enumerate(first)]
    again = [log.Entry("q", str(i), g, repeat=True) for i, g in enumerate(second)]
    return once + again


def test_agreement_by_hand():
    found = schedule.agreement(entries_of([0, 0, 2, 2, 1], [0, 2, 2, 1]))
    # Linear weights, four pairs: observed distance 2 + 1 = 3; expected from the margins
    # (0: 2 of 4, 2: 2 of 4) and (0: 1, 1: 1, 2: 2 of 4): (2*(1+2*2) + 2*(2*1+1)) / 4 = 4.
    assert (found.n, found.equal, found.kappa) == (4, 0.5, pytest.approx(1 - 3 / 4))
    assert found.differ == [("q", "1", 0, 2), ("q", "3", 2, 1)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("grade", [0, 2])
def test_kappa_of_one_grade_is_not_defined(grade):
    found = schedule.agreement(entries_of([grade] * 3, [grade] * 3))
    assert found == (3, 1.0, None, []) and "not defined" in markup.agreement_html(found)
    assert "<table" not in markup.agreement_html(found)
    assert schedule.agreement([]) == (0, None, None, [])
    alone = log.Entry("q", "d", 1, repeat=True)  # its first judgment was taken back
    assert schedule.agreement([alone]) == (0, None, None, [])


def test_agreement_weighs_by_the_grades_of_the_set():
    given = [log.Entry("q", d, g) for d, g in (("a", 3), ("b", 0), ("c", 1))]
    given += [log.Entry("q", d, g, repeat=True) for d, g in (("a", 2), ("b", 0), ("c", 1))]
    assert schedule.agreement(given, (0, 1, 2, 3)).kappa == pytest.approx(1 - (1 / 3) / (11 / 9))


def test_whether_no_document_answers_is_asked_once_and_last():
    pairs = [("a", ""), ("b", "x"), ("a", "x"), ("c", "")]
    turns = schedule.schedule(pairs, repeats=1.0)
    assert turns[-2:] == [schedule.Turn("a", ""), schedule.Turn("c", "")] and len(turns) == 6


def test_a_question_waits_for_all_documents_and_falls_away_with_an_answer():
    document, again = schedule.Turn("a", "x"), schedule.Turn("a", "x", True)
    question, other = schedule.Turn("a", ""), schedule.Turn("b", "")
    queue, zero = [question, other, document, again], log.Entry("a", "x", 0)
    assert schedule.following(queue, []) == document
    assert schedule.following(queue, [zero]) == again
    assert schedule.following(queue, [zero, zero._replace(repeat=True)]) == question
    helps = zero._replace(relevance=1)
    assert schedule.following(queue, [helps, zero._replace(repeat=True)]) == other
    asked = [helps, zero._replace(repeat=True), log.Entry("b", "", 0)]
    assert schedule.following(queue, asked) is None
    once_more = [zero, zero._replace(repeat=True, relevance=2)]
    assert schedule.following(queue, once_more) == question  # repeats are no labels


def test_turns_and_entries_name_their_pair():
    assert schedule.Turn("q", "d") == ("q", "d", False) and schedule.Turn("q", "d").pair == (
        "q",
        "d",
    )
    assert schedule.turn_of(log.Entry("q", "d", 2)) == ("q", "d", False)
    assert schedule.turn_of(log.Entry("q", "d", 2, repeat=True)) == ("q", "d", True)


def test_the_order_of_a_seed_stays():
    """A panel that is opened again goes on where it was, also after an update."""
    pairs = [(q, d) for q in "ab" for d in "wxyz"] + [("a", "w"), ("c", "")]
    shown = [f"{t.query_id}{t.doc_id}{'*' * t.repeat}" for t in schedule.schedule(pairs, 3, 0.25)]
    assert " ".join(shown) == "bw by bx bz az ax aw ay bw* by* c"
    assert schedule.schedule(pairs) == schedule.schedule(pairs, 0, 0.1)


@pytest.mark.parametrize(
    ("documents", "repeats", "shown"), [(10, 0.1, 11), (14, 0.1, 15), (16, 0.1, 18), (4, 1.0, 8)]
)
def test_a_share_of_the_documents_is_shown_twice(documents, repeats, shown):
    turns = schedule.schedule([("q", str(n)) for n in range(documents)], 1, repeats)
    assert len(turns) == shown and len({turn.pair for turn in turns}) == documents
    assert len(schedule.schedule([("q", "d"), ("q", "d")], repeats=0)) == 1


@pytest.mark.parametrize("seed", range(6))
def test_documents_near_the_end_are_repeated_last(seed):
    turns = schedule.schedule([("q", str(n)) for n in range(8)], seed, 3 / 8)
    firsts = [turn for turn in turns if not turn.repeat]
    again = {turn._replace(repeat=False) for turn in turns if turn.repeat}
    assert again == {*firsts[:3]}


def test_a_repeat_stands_within_its_query():
    """Six documents later is the first place, behind the last document of the query the last."""
    places = set()
    for seed in range(60):
        pairs = [("a", str(n)) for n in range(9)] + [("b", "x")]
        turns = [schedule.Turn(*pair) for pair in pairs]
        places.add(schedule._repeat_at(turns, turns[1], np.random.default_rng(seed)))
        assert schedule._repeat_at(turns, turns[4], np.random.default_rng(seed)) == 10
        assert schedule._repeat_at(turns, turns[3], np.random.default_rng(seed)) == 9
    assert places == {7, 8, 9}


def test_a_repeat_is_due_five_judgments_after_the_first():
    first, again, other = log.Entry("q", "0", 0), schedule.Turn("q", "0", True), ("q", "9")
    queue = [again, schedule.Turn(*other)]
    for others, due in ((4, queue[1]), (5, again), (6, again)):
        given = [first, *(log.Entry("q", str(n + 1), 0) for n in range(others))]
        assert schedule.following(queue, given) == due
    assert schedule.following([again], []) is None  # its first turn was taken back


def test_agreement_is_by_pair_in_order():
    given = [log.Entry("q", d, g) for d, g in (("b", 0), ("a", 2), ("c", 1))]
    given += [log.Entry("q", d, g, repeat=True) for d, g in (("b", 2), ("a", 0), ("d", 1))]
    found = schedule.agreement(given)
    assert (found.n, found.equal) == (2, 0.0)
    assert found.differ == [("q", "a", 2, 0), ("q", "b", 0, 2)]
