"""Causes named from failure cards, beside those by rule."""

import pytest

from notebooks import check

CARDS = {"q1": "tie", "q2": "missing word"}


def test_causes(capsys):
    check.causes({"q1": "tie", "q2": "missing word"}, CARDS)
    check.causes({"q1": "tie", "q2": ("length penalty", "it is the longest")}, CARDS)
    check.causes({}, {})
    assert capsys.readouterr().out.split("\n")[:3] == [
        "causes: 2 of 2 as by rule",
        "causes: 1 of 2 as by rule, kept against it: q2",
        "causes: 0 of 0 as by rule",
    ]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"q1": "tie", "q2": "tie"}, "q2: the rule of 'tie' does not hold, and a later one does"),
        ({"q1": "length penalty"}, "q1: a rule above 'length penalty' applies already"),
        ({"q1": "tie", "q2": "tie"}, "with your reason: 'q2': ('tie', 'because ...')"),
        ({"q1": "a tie"}, "not a cause\n  q1: 'a tie'\nThe causes are\n  unjudged"),
        ({"q9": "tie"}, "no card for q9; cards: q1, q2"),
        ({"q1": "tie"}, "1 of 2 named"),
        ({"q1": ("tie",)}, "not a cause\n  q1: ('tie',)"),
        ({"q1": ["tie"]}, "not a cause\n  q1: ['tie']"),
        ([], "wants a dict"),
    ],
)
def test_causes_that_differ(named, said):
    with pytest.raises(check.Wrong) as caught:
        check.causes(named, CARDS)
    assert said in str(caught.value)


@pytest.mark.parametrize("named", [{}, {"q1": None, "q2": ...}])
def test_no_cause_named_is_not_started(named):
    with pytest.raises(check.NotStarted):
        check.causes(named, CARDS)
