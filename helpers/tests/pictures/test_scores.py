"""Pictures of session C: what they draw, and what their words say for who cannot see them."""

import numpy as np
import pandas as pd
import pytest

from helpers import figures
from notebooks.pictures import frame, scores


def upright(ax) -> list[float]:
    """Return where the lines stand that mark a value on the x axis."""
    lines = (line.get_xdata() for line in ax.lines if [*line.get_ydata()] == [0, 1])
    return [float(x[0]) for x in lines if x[0] == x[1]]


def curves(ax) -> list[tuple[list, list]]:
    """Return the x and the y of each other line and point."""
    lines = ([[*map(float, of)] for of in line.get_data()] for line in ax.lines)
    return [(x, y) for x, y in lines if y != [0, 1] or x[0] != x[1]]


def texts(ax) -> list[tuple]:
    """Return (words, x, y) of what is written into a picture."""
    return [
        (t.get_text().strip(), *map(float, getattr(t, "xy", t.get_position()))) for t in ax.texts
    ]


def named(ax) -> tuple[str, str]:
    return ax.get_xlabel(), ax.get_ylabel()


def test_each_rank_says_its_discount_and_what_it_adds(drawn):
    scores.discount_by_rank(["a", "b"], {"b": 2, "x": 1})
    scores.discount_by_rank(["a"], {})
    (ax, words), (_, nothing) = drawn
    second = 1 / np.log2(3)
    assert curves(ax) == [([1, 2], [1, second])]
    assert [bar.get_height() for bar in ax.patches] == [0, 2 * second]
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["rank 1\na: grade 0", "rank 2\nb: grade 2"]
    assert texts(ax)[1] == ("adds 1.26", 2, 2 * second + 0.03)
    assert named(ax) == ("", "discount, contribution") and upright(ax) == []
    assert words == (
        "DCG 1.26, 1.26 of it from rank 2. "
        "rank 1: discount 1.00, adds 0.00; rank 2: discount 0.63, adds 1.26"
    )
    assert nothing == "DCG 0.00. rank 1: discount 1.00, adds 0.00"


def test_the_measures_at_the_chosen_place_stand_in_the_title(drawn):
    scores.measures_by_place({"RR": [1.0, 0.5], "AP": [0.5, 0.25]}, "b", 2)
    ((ax, words),) = drawn
    assert curves(ax)[:2] == [([1, 2], [1, 0.5]), ([2], [0.5])]
    assert texts(ax) == [("RR", 2, 0.5), ("AP", 2, 0.25)]
    assert named(ax) == ("rank of b", "") and upright(ax) == [2]
    assert words == "b at rank 2: RR .50, AP .25. By rank from 1: RR 1.00 .50; AP .50 .25"


def test_a_picture_of_places_moves_with_its_slider(drawn, monkeypatch):
    monkeypatch.setenv(figures.LIVE, "1")
    shown = []
    monkeypatch.setattr(frame, "display", shown.append)
    draw = lambda rank: scores.measures_by_place({"RR": [1.0, 0.5]}, "b", rank)  # noqa: E731
    frame.moved(draw, rank=(2, 1, 2, 1))
    (slider,) = shown[0].children
    slider.value = 1
    assert [words.split(":")[0] for _, words in drawn] == ["b at rank 2", "b at rank 1"]


def test_the_bootstrap_says_both_ends(drawn):
    for values in ([0.2], [0.5, 0.5], [0.0, 1.0, 0.5]):
        scores.bootstrap_means(np.array(values), 0.25, 0.75, "dev nDCG@10")
        ax, words = drawn[-1]
        mean = np.mean(values)
        assert words == (
            f"dev nDCG@10 {mean:.2f}: other queries could have given 0.25 to 0.75. Histogram of "
            "10,000 means; the middle 95 % lie between 0.250 and 0.750"
        )
        assert upright(ax) == pytest.approx([mean, 0.25, 0.75])
        assert [told[:2] for told in texts(ax)] == [("0.25", 0.25), ("0.75", 0.75)]
        assert named(ax) == (f"mean of {len(values)} values drawn anew", "draws")


def test_the_tosses_say_what_was_seen(drawn):
    for p, told in ((0.0746, ".07"), (0.0004, "Fewer than .001"), (1.0, "1.00")):
        scores.flipped_means(np.array([0.1, -0.2, 0.4]), p, "new minus baseline")
        ax, words = drawn[-1]
        title = f"{told} of the coin tosses lie at least as far out as +0.100"
        said = f"histogram of 10,000 means with random signs; p {p:.4f}"
        assert words == f"{title}. new minus baseline: {said}"
        assert upright(ax) == pytest.approx([0.1, -0.1])
        assert texts(ax)[0][:2] == ("seen +0.100", pytest.approx(0.1))
        assert named(ax) == ("mean difference with signs tossed", "tosses")


def test_overlap_marks_the_lowest_kind_and_returns_the_rank_correlation(drawn):
    rows = {"kind": [*"aabb"], "overlap": [0.1, 0.2, 0.3, 0.4], "nDCG@10": [0.0, 0.1, 0.3, 0.9]}
    assert scores.overlap_and_score(pd.DataFrame(rows)) == pytest.approx(1)
    rows["nDCG@10"] = [0.5] * 4
    assert scores.overlap_and_score(pd.DataFrame(rows)) == 0
    (ax, words), (_, equal) = drawn
    points = {line.get_label(): line.get_data() for line in ax.lines}
    assert {name: [*y] for name, (_, y) in points.items()} == {
        "other kinds": [0.3, 0.9],
        "a: lowest mean": [0.0, 0.1],
    }
    places = [float(x) for xs, _ in points.values() for x in xs]
    assert places == pytest.approx([0.3, 0.4, 0.1, 0.2], abs=0.013)
    assert named(ax) == ("share of the query's words in an answer", "nDCG@10")
    assert words == (
        "More shared words, higher nDCG (rank correlation 1.00). "
        "a: overlap 0.15, nDCG@10 0.05; b: overlap 0.35, nDCG@10 0.60"
    )
    assert equal.startswith("Shared words explain little (rank correlation 0.00)")


def test_a_card_shows_the_words_that_gave_something(drawn):
    card = {
        "query_id": "q1",
        "words": [["the", 0.1, 0.5, 0.25], ["his", 4.0, 0, 3.0], ["zzz", None, 0, 0]],
        "common": ["the"],
        "lacks": ["his", "the", "zzz"],
        "score": [0.5, 3.25],
    }
    scores.two_documents(card)
    scores.two_documents(card | {"words": [["zzz", None, 0, 0]], "score": [0, 0]})
    (ax, words), (_, nothing) = drawn
    bars = [(bar.get_width(), round(bar.get_y() + bar.get_height() / 2, 9)) for bar in ax.patches]
    assert bars == [(0.5, 0.2), (0, 1.2), (0.25, -0.2), (3.0, 0.8)]
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert ticks == ["the (common, lacked)", "his (lacked)"]
    assert named(ax) == ("what each word gave", "")
    assert words == (
        'q1: wanted 0.50, rival 3.25; "his" decides most. Wanted and rival by word: '
        "the (common, lacked) 0.50 and 0.25; his (lacked) 0.00 and 3.00"
    )
    assert nothing == "q1: wanted 0.00, rival 0.00. Wanted and rival by word: "
