"""Causes named from failure cards with their evidence, beside those by rule."""

import pytest

from helpers.teach import check
from helpers.teach import exercises as learn
from helpers.teach.check import failures
from helpers.tests.teach.check.exercises import learnt

LESSON = learn.read_lessons()["session_c_metrics_and_writeup.ipynb"]
SESSION = {cell.id: cell.source for cell in LESSON.cells}
CARD = {
    "wanted": "refund-policy",
    "rival": "refund-v1",
    "words": [
        ["the", 0.6, 0.6, 1.09],
        ["refund", 2.0, 3.33, 2.86],
        ["late", 1.5, 0.0, 1.21],
        ["chargeback", None, 0.0, 0.0],
        ["fee", 1.0, 0.0, 0.0],
    ],
    "common": ["the"],
    "lacks": ["late", "chargeback"],
    "score": [4.43, 4.95],
    "best of all chunks": [5.125, 4.95],
    "without length": [7.0, 6.2],
}
CARDS = {"q1": CARD, "q2": CARD}
BY_RULE = {"q1": "tie", "q2": "missing word"}
RIGHT = {"q1": ("tie", "both 4.43"), "q2": ("missing word", "late")}
SHOWN = {
    "version confusion": ["refund-v1", "it is Refund-V1, the old one"],
    "no shared word": ["late", "it lacks 'chargeback'."],
    "tie": ["4.43", "both have 4.4", ["4.95"]],
    "evidence split across chunks": ["5.13 in all chunks", "5.12", "fee is in another chunk"],
    "length penalty": ["7.00 without length", "6.2"],
    "common word dominates": ["the", "The rival has more of 'THE'", "the, late"],
    "missing word": ["late", "The rival has late, the wanted document does not"],
    "stronger match elsewhere": ["late", "the"],
}
NOT_SHOWN = {
    "version confusion": ["refund", "refund-policy", "refund-v10"],
    "no shared word": ["refund", "words", "chargebacks"],
    "tie": ["4.44", "4", "14.43", "the same score"],
    "evidence split across chunks": ["4.43", "late", "chargeback", "refund", "5"],
    "length penalty": ["7", "4.43", "17.00", "it is long"],
    "common word dominates": ["late", "refund", "then", "the card shows it"],
    "missing word": ["chargeback", "refund", "fee", "lately", "the refund late chargeback fee"],
    "stronger match elsewhere": ["refund", "fee", "because", "the refund late chargeback fee"],
}


def said_of(named, by_rule=BY_RULE, cards=CARDS) -> str:
    """Return what is said of causes that must not pass."""
    with pytest.raises(check.Wrong) as caught:
        check.causes(named, by_rule, cards)
    return str(caught.value)


def test_causes(capsys):
    check.causes(RIGHT, BY_RULE, CARDS)
    kept = RIGHT | {"q2": ("length penalty", "refund", "by its length")}
    check.causes(kept, BY_RULE, CARDS)
    check.causes({q: [*pair] for q, pair in RIGHT.items()}, BY_RULE, CARDS)
    check.causes({}, {}, {})
    assert capsys.readouterr().out.split("\n")[:4] == [
        "causes: 2 of 2 as by rule",
        "causes: 1 of 2 as by rule, kept against it: q2",
        "causes: 2 of 2 as by rule",
        "causes: 0 of 0 as by rule",
    ]


RULE = "the rule of 'tie' does not hold, and a later one does"
BY = "is shown by the score of both"
DIFFER = [  # (named, what is said, the line that says most)
    ({"q2": ("tie", "4.43")}, f"q2: {RULE}", f"q2: {RULE}"),
    ({"q2": ("tie", "4.43", "I think")}, "Look at these cards again", ""),
    ({"q2": ("tie", "nothing", "I have looked twice")}, "q2: 'nothing' does not show it; ", ""),
    ({"q1": ("length penalty", "7.0")}, "q1: a rule above 'length penalty' applies already", ""),
    ({"q1": "a tie"}, "a tie'\nThe causes are\n  version", "not a cause: q1: 'a tie'"),
    ({"q1": ("tie", "a", "b", "c")}, "not a cause\n  q1: ('tie', 'a', 'b', 'c')", ""),
    ({"q1": ["late"]}, "not a cause\n  q1: 'late'", ""),
    ({"q9": ("tie", "4.43")}, "no card for q9; cards: q1, q2", ""),
    ({"q1": ("tie", "4.43")}, "1 of 2 named", "causes: 1 of 1 as by rule, 1 of 2 named: read on"),
    ({"q1": "tie"}, "q1: no evidence yet", f"q1: no evidence yet; 'tie' {BY}"),
    ({"q1": ("tie", " ")}, "For example 'q1': ('tie', '...')", ""),
    ([], "wants a dict", ""),
]


def test_causes_that_differ():
    for named, words, summary in DIFFER:
        with pytest.raises(check.Wrong) as caught:
            check.causes(named, BY_RULE, CARDS)
        assert words in str(caught.value) and summary in ("", caught.value.summary)
    for named in ({}, {"q1": None, "q2": ...}):
        with pytest.raises(check.NotStarted):
            check.causes(named, BY_RULE, CARDS)
    assert "rule of" not in said_of({"q2": "tie"})  # before there is evidence


def test_three_cards_are_enough():
    for cards, least in ((2, 2), (3, 3), (5, 3)):
        rule = {f"q{n}": "tie" for n in range(cards)}
        known = dict.fromkeys(rule, CARD)
        read = dict.fromkeys([*rule][:least], ("tie", SHOWN["tie"][0]))
        check.causes(read, rule, known)
        read.popitem()
        assert f"{least - 1} of {least} named: read on" in said_of(read, rule, known)


def test_other_causes_and_weak_evidence_are_told_at_once():
    rule = {f"q{n}": "tie" for n in range(7)}
    read = {"q0": ("length penalty", "zebra"), "q1": ("tie", "zebra"), "q2": ("tie", "4.43")}
    lines = said_of(read, rule, dict.fromkeys(rule, CARD | {"score": [4.43, 4.43]})).split("\n")
    assert lines[0] == "causes: 1 of 3 as by rule"
    assert lines[1] == "  q0: a rule above 'length penalty' applies already"
    assert lines[3:] == [
        "causes: beside each cause stands what shows it, from the card",
        "  q1: 'zebra' does not show it; wanted is the score of both",
    ]
    assert said_of({"q9": ("tie", "4.43")}, rule).endswith("cards: q0, q1, q2, q3, q4, ...")


def test_evidence_that_shows_its_cause_and_some_that_does_not(capsys):
    for cause in failures.CAUSES:
        for evidence in SHOWN[cause]:
            check.causes({"q": (cause, evidence)}, {"q": cause}, {"q": CARD})
        for evidence in (*NOT_SHOWN[cause], cause, " "):
            said = said_of({"q": (cause, evidence)}, {"q": cause}, {"q": CARD})
            assert failures.CAUSES[cause].told in said, f"{cause}: {evidence}"
    words = "the refund late chargeback fee"  # all may stand there where each is a proof
    for evidence, card in (
        ("the", dict(CARD, lacks=[], common=["the", "refund"])),
        (words, dict(CARD, lacks=words.split())),
    ):
        named = {"q": ("no shared word", evidence)}
        check.causes(named, {"q": "no shared word"}, {"q": card})


def test_the_sessions_solution_finds_evidence_on_every_card(capsys):
    by_rule = {f"q{n}": cause for n, cause in enumerate(failures.CAUSES)}
    space = {"cards": dict.fromkeys(by_rule, CARD), "by_rule": by_rule, "worst": [*by_rule]}
    exec(SESSION["c-cause-level"] + "\n" + SESSION["c-named"], space)
    check.causes(space["my_causes"], by_rule, space["cards"])
    assert capsys.readouterr().out.startswith("causes: 8 of 8 as by rule")


def test_the_table_of_the_exercise_says_what_the_check_wants():
    for name in ("c-named-exercise", "c-cause"):
        rows = [line.split("|") for line in SESSION[name].split("\n") if line.startswith("| ")][1:]
        assert [row[1].strip() for row in rows] == [*failures.CAUSES]
        for row, cause in zip(rows, failures.CAUSES.values(), strict=True):
            if name == "c-named-exercise":
                assert cause.told.startswith(row[2].strip().replace("*", "'"))


def test_rules_in_another_order_are_told(capsys):
    right = learnt(SESSION["c-cause-level"] + "\n" + SESSION["c-cause-rules"])["cause"]
    check.cause(right)
    assert "right on 16 made cards" in capsys.readouterr().out
    for first in range(7):
        order = list(failures.CAUSES)
        order[first], order[first + 1] = order[first + 1], order[first]

        def swapped(card, order=order):
            holding = [name for name in failures.CAUSES if right(alone(card, name)) == name]
            return min(holding, key=order.index)

        with pytest.raises(check.Wrong):
            check.cause(swapped)


def alone(card, name):
    """Return the card with only what the rule `name` looks at."""
    return failures.NO_RULE | {key: card[key] for key in failures.HOLDS[name]}
