"""Pictures of session B: what they draw, what their titles claim, what is told without eyes."""

import numpy as np
import pytest

from helpers.evalset import Query
from notebooks.pictures import ranking


def bars(ax) -> list[tuple]:
    """Return (left, width, color) of bars that lie."""
    return [
        (round(b.get_x(), 9), round(b.get_width(), 9), b.get_facecolor()[:3]) for b in ax.patches
    ]


def labels(ticks) -> list[str]:
    return [tick.get_text() for tick in ticks]


def named(ax) -> tuple[str, str]:
    return ax.get_xlabel(), ax.get_ylabel()


BODY = "A title\n\n# One\nwords words words\n#Two\n" + "x" * 62  # 100 characters


def test_spans_show_every_chunk_heading_and_quote_and_cross_what_a_seam_cuts(drawn):
    assert len(BODY) == 100
    chunkers = {"fixed": [(0, 50), (40, 90), (80, 100)], "paragraph": [(0, 80), (82, 100)]}
    ranking.spans("a-doc", chunkers, BODY, [(45, 60), (75, 85)])
    ((ax, words),) = drawn
    assert [bar[:2] for bar in bars(ax)] == [
        (0, 50), (40, 50), (80, 20), (0, 80), (82, 18), (45, 15), (75, 10)
    ]  # fmt: skip
    upper, lower = bars(ax)[0], bars(ax)[1]
    assert upper[2] != lower[2] and ax.patches[0].get_y() > ax.patches[1].get_y()
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    assert [(float(c.get_xdata()[0]), float(c.get_ydata()[0])) for c in crosses] == [(80, -1)]
    heads = [line for line in ax.lines if line.get_marker() == "|"]
    assert list(heads[0].get_xdata()) == [9, 33]
    names = ["fixed\n3 chunks", "paragraph\n2 chunks", "2 headings", "2 quotes"]
    assert labels(ax.get_yticklabels()) == names
    told = "The paragraph chunker keeps 80% of a-doc in one chunk"
    assert named(ax) == ("characters of the document", "")
    assert ax.get_title(loc="left") == told
    assert words == (
        f"{told}. Chunks by character: fixed: 0 to 50, 40 to 90, 80 to 100; paragraph: 0 to 80, "
        "82 to 100. Quotes that a seam cuts, of 2: fixed 0, paragraph 1."
    )


def test_a_document_without_heading_and_quote_is_drawn_and_a_short_quote_is_seen(drawn):
    ranking.spans("a" * 50, {"fixed": [(0, 1000)]}, "x" * 1000, [])
    ranking.spans("b", {"fixed": [(0, 1000)]}, "x" * 1000, [(5, 7)])
    (plain, plain_words), (quoted, _) = drawn
    assert labels(plain.get_yticklabels()) == ["fixed\n1 chunk", "0 headings", "0 quotes"]
    assert f"100% of {'a' * 29}… in one chunk" in plain_words
    assert bars(quoted)[1][:2] == (5, 12)


def test_weights_name_the_largest_rise(drawn):
    curves = {"one": [3.0, 1.0, 1.5, 0.2, 1.4], "two": [3.0, 2.0, 1.5, 1.0, 0.5]}
    ranking.weights(curves, 5)
    ((ax, words),) = drawn
    assert ax.get_title(loc="left") == (
        "one: one more document, and the weight jumps from 0.20 to 1.40"
    )
    assert [list(line.get_ydata()) for line in ax.lines[:2]] == list(curves.values())
    assert [line.get_marker() for line in ax.lines[:2]] == ["o", "^"]
    assert list(ax.lines[0].get_xdata()) == [1, 2, 3, 4, 5]
    assert list(ax.lines[2].get_ydata()) == [0, 0]
    one, two, arrow = ax.texts  # names stand at the fourth document
    assert (one.xy, two.xy) == ((4, 0.2), (4, 1.0))
    assert (arrow.xy, arrow.xyann) == ((5, 1.4), (4, 0.2))
    assert "one 3.00 at 1, 0.20 at 4, 1.40 at 5; two 3.00 at 1, 1.00 at 4, 0.50 at 5." in words
    assert named(ax) == ("documents that hold the word, of 5", "weight (IDF)")
    ranking.weights({"one": [3.0, 2.0, 1.0, 0.5]}, 4)  # weights that only fall make no jump
    ax = drawn[1][0]
    assert ax.get_title(loc="left") == "The more documents hold a word, the less it weighs"
    assert labels(ax.texts) == ["one"]


def worth(times, k1, b, length):
    """Return BM25's score of one word, as the field writes it."""
    norm = k1 * (1 - b + b * length / 100)
    return times * (k1 + 1) / (times + norm)


def test_saturation_draws_the_moved_curve_beside_the_defaults(drawn):
    ranking.saturation(worth, 1.2, 0.5, 200)
    ((ax, words),) = drawn
    plain, moved = (line.get_ydata() for line in ax.lines[:2])
    assert np.allclose(plain, [worth(n, 1.5, 0.75, 100) for n in range(13)])
    assert np.allclose(moved, [worth(n, 1.2, 0.5, 200) for n in range(13)])
    assert all(list(line.get_xdata()) == list(range(13)) for line in ax.lines[:2])
    assert list(ax.lines[2].get_ydata()) == [2.2, 2.2]  # nothing earns more than k1 + 1
    assert (ax.texts[0].get_text(), ax.texts[0].xy) == ("ceiling k1 + 1 = 2.2", (0.1, 2.2))
    told = "The first occurrence earns 0.79, the twelfth adds 0.02"
    assert ax.get_title(loc="left") == told
    values = "0.79 at 1, 1.16 at 2, 1.52 at 4, 1.80 at 8, 1.91 at 12; the ceiling is 2.2."
    assert words == f"{told}. k1 1.2, b 0.5, length 200: {values}"
    assert named(ax) == ("how often the word occurs", "score, for a weight of 1")
    ranking.saturation(worth, 1.5, 0.75, 100)  # at the defaults there is one curve
    assert labels(drawn[1][0].get_legend().get_texts()) == ["k1 1.5, b 0.75, length 100"]


BARS = {
    "rank 1, rival#0": {"the": 1.0, "disk": 5.0, "a": -0.5, "b": 0.3, "c": 0.2, "d": 0.1},
    "rank 7, wanted#2": {"the": 1.5, "disk": 0.0, "a": 0.0, "b": 0.0, "c": 0.4, "d": 0.1},
}


def test_score_parts_add_up_from_the_heaviest_word_on(drawn):
    ranking.score_parts(BARS, most=3)
    ((ax, words),) = drawn
    assert [bar[:2] for bar in bars(ax)] == [
        (0, 5.0), (0, 0), (5, 1.0), (0, 1.5), (0, -0.5), (0, 0), (6, 0.6), (1.5, 0.5)
    ]  # fmt: skip
    assert labels(ax.get_legend().get_texts()) == ["disk", "the", "a", "3 other words"]
    assert len({bar[2] for bar in bars(ax)}) == 4
    assert labels(ax.texts) == [" 6.1", " 2.0"]
    assert [t.xy for t in ax.texts] == [(pytest.approx(6.6), 0), (2, -1)]  # where bars end
    assert labels(ax.get_yticklabels()) == [*BARS]
    told = "“disk” alone puts the first 5.0 ahead, all words 4.1"
    assert ax.get_title(loc="left") == told
    assert words.startswith(f"{told}. rank 1, rival#0: the 1.00, disk 5.00, a -0.50,")
    assert words.endswith("rank 7, wanted#2: the 1.50, disk 0.00, a 0.00, b 0.00, c 0.40, d 0.10.")
    assert named(ax) == ("score", "")
    few = {name: {"one": np.float64(part)} for name, part in (("x", 2), ("y", -1))}
    ranking.score_parts(few)  # few words stand each for themselves; numbers may be numpy's
    assert labels(drawn[1][0].get_legend().get_texts()) == ["one"]


FOUND = {"a": ("a#1", "the queue"), "b": ("b#0", "disk <b>full</b>"), "c": ("c#0", "disk")}


SHOWN = [  # (relevant documents, how many results are shown, marks)
    (("c",), 1, ["· 1. a#1", "✓ 3. c#0"]),
    (("c", "b"), 1, ["· 1. a#1", "✓ 2. b#0"]),
    (("a",), 2, ["✓ 1. a#1", "· 2. b#0"]),
    (("z",), 2, ["· 1. a#1", "· 2. b#0"]),
]


def test_a_card_holds_the_first_results_and_the_best_relevant_one():
    for relevant, top, marks in SHOWN:
        page = ranking.result_card(Query("q1", "disk", relevant), FOUND, {"disk"}, [], top)
        parts = [part.partition("<br>")[0] for part in page.split("<p>")[1:]]
        plain = [part.replace("<b>", "").replace("</b>", "") for part in parts]
        assert plain == [*marks, "Words in no relevant document: none</p>"], relevant


def test_a_card_shows_texts_as_texts_and_marks_words():
    query = Query("q1", "<i>disk", ("b",), kind="entity")
    page = ranking.result_card(query, FOUND, {"disk"}, ["<i>", "x"], 3)
    assert page.startswith("<h4>q1 (entity): &#60;i&#62;disk</h4>")
    assert "<mark>disk</mark> &#60;b&#62;full" in page and "<b>full" not in page
    assert page.endswith("Words in no relevant document: &#60;i&#62;, x</p>")
    kindless = ranking.result_card(Query("q1", "disk", ()), FOUND, {"disk"}, [], 3)
    assert kindless.startswith("<h4>q1: disk</h4>")


def test_long_names_are_shortened():
    assert ranking.shortened_to("a  b\nc", 5) == "a b c"
    assert ranking.shortened_to("abcdef", 5) == "abcd…"
