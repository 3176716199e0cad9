"""The rules of the write-up's first page, on results that were made for them."""

import pytest

from helpers import stats
from helpers.evalset import EvalSet, Judgment, Query
from notebooks import appendix, decision


def rows(*parts):
    """Return queries of the test half: (kind, how many find something, how many there are)."""
    return [
        {"query_id": f"{kind}{n}", "split": "test", "kind": kind, "measures": {"hit@5": n < found}}
        for kind, found, of in parts
        for n in range(of)
    ]


def run(name, verdict, difference=0.1, detectable=0.2, n=30, p=0.5):
    at = {"difference": difference, "detectable": detectable, "n": n, "low": 0.01, "high": 0.2}
    made = {"name": name, "primary": "nDCG@10", "measures": {"nDCG@10": at}, "p_holm": p}
    return made | {"verdict": verdict}


def results(*parts, runs=(), cards=(), test=True):
    compared = {"runs": [*runs], "matters": 0.05, "n": 30}
    halves = {"dev": {}, "test": {}} if test else {"dev": {}}
    return {"summary": halves, "per_query": rows(*parts), "compared_dev": compared, "cards": cards}


SET = EvalSet(None, {}, {"q": Query("q", "a", ())}, [Judgment("q", f"d{n}", 0) for n in range(8)])


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([("a", 30, 30), ("b", 0, 30), ("c", 7, 10)],
         "**BM25 is good enough to put a useful document among the first five for *a* questions, "
         "but not for *b* questions; for *c* questions there are too few to tell.**"),
        ([("a", 30, 30), ("b", 30, 30)],
         "**BM25 is good enough to put a useful document among the first five for *a* and *b* "
         "questions.**"),
        ([("a", 0, 30), ("c", 7, 10)],
         "**BM25 isn't good enough to put a useful document among the first five for *a* "
         "questions; for *c* questions there are too few to tell.**"),
        ([("a", 1, 1), ("b", 0, 1)],
         "**2 questions can't tell whether BM25 is good enough to put a useful document among the "
         "first five: it does so for 1.**"),
        ([("a", 30, 30)],
         "**BM25 is good enough to put a useful document among the first five: it does so for 30 "
         "of 30 questions.**"),
        ([("a", 1, 30)],
         "**BM25 isn't good enough to put a useful document among the first five: it does so for "
         "1 of 30 questions.**"),
    ],
)  # fmt: skip
def test_what_the_baseline_is_good_enough_for(parts, said):
    assert decision.two_sentences(results(*parts)) == f"{said} No other system was measured."


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([run("x", stats.BETTER), run("y", stats.BETTER, 0.2), run("z", stats.WORSE)],
         "Of 3 other runs, with other systems or other chunks and on the dev half, *y* and *x* "
         "rank better and *z* ranks worse."),
        ([run("x", stats.SAME), run("y", stats.TOO_FEW)],
         "Of 2 other runs, with other systems or other chunks and on the dev half, none is shown "
         "to rank better or worse; 1 makes no difference that matters; for 1 there are too few "
         "questions to tell."),
    ],
)  # fmt: skip
def test_what_was_shown_of_others(runs, said):
    found = decision.two_sentences(results(("a", 30, 30), runs=runs))
    assert found.partition(".** ")[2] == said


def test_a_share_on_the_bar_is_undecided():
    bar = decision.ENOUGH
    for low, high, side in ((bar, 1, "open"), (0, bar, "open"), (bar + 0.01, 1, "good")):
        assert decision.Share("a", 1, 2, low, high).side == side
    low, high = decision.shares(results(("a", 9, 10)))[0][3:]
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)  # Wilson's interval of 9 of 10


def card(cause, unjudged=False):
    return {"cause": cause, "unjudged": unjudged}


def actions(**more):
    return decision.actions(results(("a", 1, 1), **more), SET).split("\n")


def test_the_largest_repair_is_named_and_judging_comes_before_it():
    words, weights = card("missing word"), card("tie", True)
    lines = actions(cards=[words, weights, words, card("version confusion")])
    assert [line.partition("**")[2].partition("**")[0] for line in lines] == [
        "Stay with BM25 for now.",
        "Judge first.",
        "Bridge the words.",
        "More labels aren't needed for these comparisons.",
    ]
    assert "In 1 of 4 failure cards nobody" in lines[1] and "In 2 of 4 dev questions" in lines[2]
    assert len(actions()) == 2  # no failure, no repair
    assert decision.repairs([weights, words, weights]) == {"weights": 2, "words": 1}


@pytest.mark.parametrize("test", [True, False])
def test_the_best_of_the_better_runs_is_tried_and_confirmed(test):
    better = [run("x", stats.BETTER), run("baseline + y", stats.BETTER, 0.2, p=0.0001)]
    first, second, *_ = actions(runs=[*better, run("w", stats.WORSE, -0.1)], test=test)
    assert first.startswith("- **Try *baseline + y*.** On 30 dev questions it gains +0.200")
    assert "p = &#60;.001, adjusted for 3 comparisons" in first and "merges two rankings" in first
    assert ("measure it once on test" in first) is test
    assert second.startswith("- **Don't switch to *w*.**")


@pytest.mark.parametrize(
    ("difference", "detectable", "said"),
    [
        (0.1, 0.2, "To know more, label more.** Of what is undecided, *x* gains most, +0.100. "),
        (0.1, 0.05, "Compare once more, alone.** *x* gains +0.100 and is undecided only because"),
        (0.05, 0.2, "To know more, label more.** Nothing undecided gains more than 0.05"),
        (-0.3, 0.04, "More labels aren't needed to find a large gain.** These 30 questions"),
        (0.1, None, "More labels aren't needed for these comparisons.**"),
    ],
)
def test_what_it_would_cost_to_know_more(difference, detectable, said):
    runs = [run("x", stats.TOO_FEW, difference, detectable), run("y", stats.TOO_FEW, -0.4, None)]
    assert actions(runs=runs)[-1].startswith(f"- **{said}")


def test_the_cost_counts_questions_and_pairs():
    at = run("x", stats.TOO_FEW)["measures"]["nDCG@10"]
    spread = at["detectable"] / stats.detectable(30, 1.0)
    needed = decision.needed(at, 0.1)
    assert stats.detectable(needed, spread) <= 0.1 < stats.detectable(needed - 1, spread)
    assert decision.needed(at, 0.3) == 30  # never fewer than there are
    line = actions(runs=[run("x", stats.TOO_FEW)])[-1]
    assert f"{needed:,} questions would show" in line and f"about {needed - 30} more" in line
    assert f"At 8 judged pairs a question, {needed - 30} questions are about" in line
    assert f"{8 * (needed - 30):,} pairs" in line


@pytest.mark.parametrize(
    ("documents", "depth"), [(1, 10), (219, 10), (220, 11), (441, 22), (2000, 100), (9999, 100)]
)
def test_a_reranker_sees_a_small_share_of_the_corpus(documents, depth):
    assert appendix.deep(SET._replace(documents=dict.fromkeys(range(documents)))) == depth


def test_only_a_small_corpus_is_called_small():
    assert appendix.limits(9_999).startswith("- 9999 documents are a small corpus.")
    assert "small corpus" not in appendix.limits(10_000)
