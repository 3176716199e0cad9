"""What the figures draw and claim: bars, points, titles and the text for those who cannot see."""

import platform
from importlib import metadata

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgba

from helpers import evidence, figures


@pytest.fixture
def drawn(monkeypatch):
    """Return the list of (axes, text) that figures show."""
    shown = []
    monkeypatch.setattr(figures, "_show", lambda ax, text: shown.append((ax, text)))
    with matplotlib.rc_context(), pd.option_context("display.max_colwidth", 50):
        figures.begin(versions=False)
        yield shown
    plt.close("all")


def bars(ax) -> list[float]:
    """Return the lengths of bars that lie."""
    return [round(float(bar.get_width()), 9) for bar in ax.patches]


def words(ticks) -> list[str]:
    return [tick.get_text() for tick in ticks]


def test_the_text_stands_in_the_image(monkeypatch):
    shown = []
    monkeypatch.setitem(matplotlib.rcParams, "axes.titlelocation", "left")
    monkeypatch.setattr(figures, "display", lambda figure, metadata: shown.append(metadata))
    figures.by_kind(pd.DataFrame({"dev": [0.9], "test": [0.5]}, ["easy"]), "AP")
    alt = shown[0]["image/png"]["alt"]
    assert alt == "Lowest: easy queries. Mean for each kind of query."


def test_measure_per_query(drawn):
    figures.measure_per_query(pd.Series({"q1": 0.9, "q2": 0.5, "q3": 0.1}), "nDCG@10", "dev")
    ((ax, _),) = drawn
    assert bars(ax) == [0.1, 0.5, 0.9]
    assert words(ax.get_yticklabels()) == ["q3", "q2", "q1"]
    assert ax.lines[0].get_xdata()[0] == pytest.approx(0.5)
    assert ax.get_title(loc="left") == "1 of 3 dev queries scores below 0.5"
    assert ax.get_xlabel() == "nDCG@10 (dashed: mean)"


def test_first_ranks(drawn):
    ranks = pd.Series([1, 1, 2, 3, 4, 5, 6, 10, 11, 100, None, None, None])
    figures.first_ranks(ranks, "test")
    ((ax, _),) = drawn
    assert [bar.get_height() for bar in ax.patches] == [2, 1, 1, 2, 2, 2, 3]
    assert words(ax.get_xticklabels()) == ["1", "2", "3", "4-5", "6-10", "11-100", "none"]
    assert [t.get_text() for t in ax.texts] == ["2", "1", "1", "2", "2", "2", "3"]
    title = "2 of 13 test queries find a relevant document at rank 1"
    assert ax.get_title(loc="left") == title


def test_by_kind(drawn):
    means = pd.DataFrame({"dev": [0.9, 0.2], "test": [0.5, 0.4]}, ["easy", "hard"])
    figures.by_kind(means, "MRR@10")
    ((ax, _),) = drawn
    assert words(ax.get_yticklabels()) == ["hard", "easy"]
    assert bars(ax) == [0.2, 0.9, 0.4, 0.5]
    assert words(ax.get_legend().get_texts()) == ["dev", "test"]
    assert (ax.get_title(loc="left"), ax.get_xlabel()) == ("Lowest: hard queries", "mean MRR@10")


def test_forest(drawn):
    rows = [
        ("up", {"difference": 0.2, "low": 0.1, "high": 0.3}),
        ("none", {"difference": 0.05, "low": -0.1, "high": 0.2}),
        ("down", {"difference": -0.2, "low": -0.3, "high": -0.1}),
        ("edge", {"difference": 0.1, "low": 0.0, "high": 0.2}),
        ("one", {"difference": 0.3, "low": None, "high": None}),
    ]
    figures.forest(rows, 30)
    ((ax, text),) = drawn
    lines = [line for line in ax.lines if isinstance(line.get_ydata()[0], str)]
    reach = {n.get_ydata()[0]: list(n.get_xdata()) for n in lines if len(n.get_xdata()) == 2}
    assert reach == {name: [at["low"], at["high"]] for name, at in rows if name != "one"}
    points = {p.get_ydata()[0]: p for p in lines if p.get_marker() == "o"}
    assert list(points) == ["down", "none", "edge", "up", "one"]  # by the difference
    assert {n: p.get_xdata()[0] for n, p in points.items()} == {
        name: at["difference"] for name, at in rows
    }
    clear = {name for name, p in points.items() if p.get_color() == figures.LIGHT}
    assert clear == {"up", "down"}
    assert ax.get_title(loc="left") == "2 of 4 intervals include 0"
    assert ax.get_xlabel().endswith("95 % interval (n = 30)")


def test_systems_by_kind(drawn):
    means = pd.DataFrame({"bm25": [0.2, 0.9], "dense": [0.6, 0.8]}, ["typo", "keyword"])
    figures.systems_by_kind(means, "nDCG@10")
    ((ax, _),) = drawn
    spans, systems = ax.lines[:2], ax.lines[2:]
    assert [list(line.get_xdata()) for line in spans] == [[0.2, 0.6], [0.8, 0.9]]
    found = {line.get_label(): list(line.get_xdata()) for line in systems}
    assert found == {"bm25": [0.2, 0.9], "dense": [0.6, 0.8]}
    assert len({(line.get_marker(), line.get_color()) for line in systems}) == 2
    assert words(ax.get_yticklabels()) == ["typo", "keyword"]
    assert ax.get_title(loc="left") == "Systems differ most on typo queries"
    assert words(ax.get_legend().get_texts()) == ["bm25", "dense"]


def test_snippet_holds_the_most_words():
    body = "alpha " * 60 + "disk and queue are full now " + "omega " * 60
    found = figures.snippet(body, {"disk", "queue", "full"}, width=40)
    assert found.startswith("… disk and queue are full") and found.endswith(" …")
    assert len(found) <= 40 + 4
    assert figures.snippet("queue full", {"full"}) == "… full"
    assert figures.snippet("queue full", {"nothing"}) == "queue full"


# How a figure looks, and what it says to those who cannot see it.

MEANS = pd.DataFrame({f"s{n}": [0.2 + n / 100, 0.9 - n / 50] for n in range(9)}, ["typo", "exact"])
INTERVALS = [
    ("up", {"difference": 0.2, "low": 0.1, "high": 0.3}),
    ("one", {"difference": 0.3, "low": None, "high": None}),
]
DRAWN = {
    "measure_per_query": (pd.Series({"q1": 0.9, "q2": 0.5, "q3": 0.1}), "AP", "dev"),
    "first_ranks": (pd.Series([1, None]), "dev"),
    "by_kind": (pd.DataFrame({"dev": [0.9], "test": [0.5]}, ["easy"]), "AP"),
    "forest": (INTERVALS, 30),
    "systems_by_kind": (MEANS, "AP"),
}


def lines_of(ax):
    """Return colour, line, width, marker, size and alpha of each line."""
    return [
        (to_hex(line.get_color()), line.get_linestyle(), line.get_linewidth(), line.get_marker(),
         line.get_markersize(), line.get_alpha())
        for line in ax.lines
    ]  # fmt: skip


DARK, LIGHT, GREY = "#1f4e79", "#c96f1a", "#dfe6ee"
STANDARD = (7.0, 3.2)


@pytest.mark.parametrize(
    ("name", "lines", "fills", "thick"),
    [
        ("measure_per_query", [("#000000", "--", 1, "None", 6, None)], [LIGHT, DARK, DARK], 0.8),
        ("first_ranks", [], [DARK] * 5 + [LIGHT] * 2, None),
        ("by_kind", [], [DARK, LIGHT], 0.375),
        (
            "forest",
            [
                (DARK, "-", 2, "None", 6, None),
                (LIGHT, "None", 1.5, "o", 8, None),
                (DARK, "None", 1.5, "o", 8, None),
                ("#000000", "-", 1, "None", 6, None),
            ],
            [],
            None,
        ),
        (
            "systems_by_kind",
            [
                *[(GREY, "-", 6, "None", 6, None)] * 2,
                *(
                    (color, "None", 1.5, mark, 7, None)
                    for color, mark in zip(
                        [DARK, "#4a8577", "#8a8a8a", LIGHT, "#b05c7d", "#000000"] * 2,
                        "os^Dvpx*o",
                        strict=False,
                    )
                ),
            ],
            [],
            None,
        ),
    ],
)
def test_lines_and_bars_have_their_colours_and_sizes(drawn, name, lines, fills, thick):
    getattr(figures, name)(*DRAWN[name])
    ((ax, _),) = drawn
    assert lines_of(ax) == lines
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == fills
    if thick:
        assert {round(float(bar.get_height()), 6) for bar in ax.patches} == {thick}


@pytest.mark.parametrize(
    ("name", "x", "y", "size", "margin", "grid"),
    [
        ("measure_per_query", "AP (dashed: mean)", "", (7, 1.07), 0.01, (True, False)),
        (
            "first_ranks",
            "rank of the first relevant document",
            "queries",
            STANDARD,
            0.05,
            (False, True),
        ),
        ("by_kind", "mean AP", "", STANDARD, 0.05, (True, False)),
        (
            "forest",
            "difference from the baseline in nDCG@10, 95 % interval (n = 30)",
            "",
            (7, 2.1),
            0.2,
            (True, False),
        ),
        ("systems_by_kind", "mean AP", "", (7, 2.2), 0.12, (True, True)),
    ],
)
def test_axes_have_their_names_sizes_and_grids(drawn, name, x, y, size, margin, grid):
    getattr(figures, name)(*DRAWN[name])
    ((ax, _),) = drawn
    assert (ax.get_xlabel(), ax.get_ylabel()) == (x, y)
    assert tuple(ax.figure.get_size_inches()) == pytest.approx(size)
    assert ax.margins()[1] == margin
    shown = tuple(axis.get_gridlines()[0].get_visible() for axis in (ax.xaxis, ax.yaxis))
    assert shown == grid
    small = {tick.get_fontsize() for tick in ax.get_yticklabels()}
    assert small == {8.0 if name == "measure_per_query" else 10.0}


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("measure_per_query", (0, 1)),
        ("by_kind", (0, 1)),
        ("systems_by_kind", (0, 1.02)),
    ],
)
def test_shares_are_drawn_from_nothing_to_one(drawn, name, limits):
    getattr(figures, name)(*DRAWN[name])
    assert drawn[0][0].get_xlim() == limits


@pytest.mark.parametrize("name", ["by_kind", "systems_by_kind"])
def test_a_legend_stands_beside_the_figure(drawn, name):
    getattr(figures, name)(*DRAWN[name])
    ax = drawn[0][0]
    legend = ax.get_legend()
    corner = legend.get_bbox_to_anchor().transformed(ax.transAxes.inverted())
    assert (corner.x0, corner.y0) == pytest.approx((1, 1))
    beside = ax.legend(loc="upper left")
    assert (legend._loc, legend.get_title().get_text()) == (beside._loc, "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("measure_per_query", "A bar for each query, lowest first."),
        ("first_ranks", "Number of queries by rank of the first relevant document."),
        ("by_kind", "Mean for each kind of query."),
        ("forest", "A point and an interval for each run, the baseline at 0."),
        ("systems_by_kind", "A point for each system, a row for each kind of query."),
    ],
)
def test_each_figure_is_told_in_words(drawn, name, text):
    getattr(figures, name)(*DRAWN[name])
    assert drawn[0][1] == text


def test_counts_have_whole_ticks(drawn):
    figures.first_ranks(pd.Series([1, 2]), "dev")
    for ax, _ in drawn:
        assert all(tick == int(tick) for tick in ax.get_yticks())


@pytest.mark.parametrize(
    ("values", "title"),
    [
        ([0.4, 0.49], "2 of 2 dev queries score below 0.5"),
        ([0.4, 0.5], "1 of 2 dev queries scores below 0.5"),
        ([0.5, 0.6], "0 of 2 dev queries score below 0.5"),
    ],
)
def test_low_queries_are_counted(drawn, values, title):
    figures.measure_per_query(pd.Series(dict(zip("ab", values, strict=True))), "AP", "dev")
    assert drawn[0][0].get_title(loc="left") == title
    assert [bar.get_facecolor() for bar in drawn[0][0].patches] == [
        to_rgba(LIGHT if value < 0.5 else DARK) for value in values
    ]


def test_one_query_finds_and_others_find(drawn):
    for ranks in ([1, 2], [2, 3], [1, 1]):
        figures.first_ranks(pd.Series(ranks), "dev")
    assert [ax.get_title(loc="left") for ax, _ in drawn] == [
        f"{words} a relevant document at rank 1"
        for words in (
            "1 of 2 dev queries finds",
            "0 of 2 dev queries find",
            "2 of 2 dev queries find",
        )
    ]


def test_a_rank_below_the_depth_counts_as_not_found(drawn):
    figures.first_ranks(pd.Series([100, 101]), "dev")
    assert [bar.get_height() for bar in drawn[0][0].patches] == [0, 0, 0, 0, 0, 1, 1]


def test_an_interval_that_touches_zero_is_not_clear_of_it(drawn):
    ends = {"above": (0.0, 0.2), "below": (-0.2, 0.0), "clear": (-0.2, -0.1)}
    rows = [(n, {"difference": sum(e) / 2, "low": e[0], "high": e[1]}) for n, e in ends.items()]
    figures.forest(rows, 3)
    ax = drawn[0][0]
    points = {p.get_ydata()[0]: p.get_color() for p in ax.lines if p.get_marker() == "o"}
    assert points == {"above": DARK, "below": DARK, "clear": LIGHT}
    assert ax.get_title(loc="left") == "2 of 3 intervals include 0"
    assert list(ax.lines[-1].get_xdata()) == [0, 0]


def test_one_half_and_the_lowest_kind_first(drawn):
    means = pd.DataFrame({"dev": [0.9, 0.2, 0.5]}, ["easy", "hard", "middle"])
    figures.by_kind(means, "AP")
    ax = drawn[0][0]
    assert words(ax.get_yticklabels()) == ["hard", "middle", "easy"]
    assert {bar.get_facecolor() for bar in ax.patches} == {to_rgba(DARK)}


def test_a_ninth_system_is_drawn_too(drawn):
    figures.systems_by_kind(MEANS, "AP")
    ax = drawn[0][0]
    assert [line.get_label() for line in ax.lines[2:]] == list(MEANS.columns)
    assert all(list(line.get_ydata()) == [0, 1] for line in ax.lines[2:])
    assert [list(line.get_ydata()) for line in ax.lines[:2]] == [[0, 0], [1, 1]]
    assert len({(line.get_marker(), line.get_color()) for line in ax.lines[2:]}) == 9


# The page around the figures.


def test_a_session_begins_with_style_whole_texts_and_versions(capsys):
    with matplotlib.rc_context({"figure.dpi": 50}), pd.option_context("display.max_colwidth", 50):
        figures.begin(versions=False)
        assert (matplotlib.rcParams["figure.dpi"], capsys.readouterr().out) == (130, "")
        assert pd.get_option("display.max_colwidth") is None
        figures.begin()
    said = capsys.readouterr().out
    names = "pandas", "rank_bm25", "tiktoken", "ir_measures"
    versions = [f"· {name} {metadata.version(name)}" for name in names]
    assert said == " ".join(["Python", platform.python_version(), *versions]) + "\n"


def test_a_figure_is_displayed_once_and_closed(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda figure, **more: shown.append((figure, more)))
    plt.close("all")
    _, ax = plt.subplots()
    ax.set_title("Title", loc="left")
    figures._show(ax, "Words.")
    assert shown == [(ax.figure, {"metadata": {"image/png": {"alt": "Title. Words."}}})]
    assert plt.get_fignums() == []


def test_a_table_has_three_decimals_and_wide_ones_are_set_left():
    frame = pd.DataFrame({"x": [1 / 3], "word": ["<b>"]}, ["row"])
    page = figures.table(frame).data
    assert "<td>0.333</td>" in page and "&lt;b&gt;" in page
    assert 'mathjax_ignore">' in page and 'mathjax_ignore text">' in figures.table(frame, True).data


def test_words_are_marked_whatever_their_case_and_markup_stays_text():
    assert figures.marked("Disk & disks, <i>", {"disk", "i"}) == (
        "<mark>Disk</mark> &#38; disks, &#60;<mark>i</mark>&#62;"
    )
    assert figures.marked('"a"', set()) == "&#34;a&#34;"


@pytest.mark.parametrize(
    ("body", "words", "width", "found"),
    [
        ("one two  three\nfour", {"none"}, 240, "one two three four"),
        ("one two three", set(), 9, "one two …"),
        ("one two three", set(), 13, "one two three"),
        ("one two three", set(), 12, "one two …"),
        ("one two three", {"two"}, 9, "… two three"),
        ("one two three", {"two"}, 8, "… two …"),
        ("Two one two TWO", {"two"}, 3, "Two …"),  # the first of equals
        ("a x x x a b c", {"a", "b", "c"}, 5, "… a b c"),
        ("a a a a a b c", {"a", "b"}, 4, "… a b …"),  # different words count
        ("é A-one b", {"one", "b"}, 240, "… one b"),
    ],
)
def test_a_snippet_is_the_stretch_with_the_most_different_words(body, words, width, found):
    assert figures.snippet(body, words, width) == found


def test_a_snippet_is_about_240_characters_long():
    assert figures.snippet("abc" + " ab" * 200, set()) == "abc" + " ab" * 78 + " …"


# What the reader gets.


def heights(ax) -> dict[str, list[float]]:
    """Return the heights of each line by its label."""
    return {line.get_label(): [*map(float, line.get_ydata())] for line in ax.lines}


def test_document_and_evidence_by_k(drawn):
    shares = {
        "document": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        "evidence": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    }
    figures.evidence_by_k(shares, 10, "dev")
    ((ax, _),) = drawn
    assert [*heights(ax).values()] == [shares["document"], shares["evidence"]]
    assert titled(ax) == ("In five chunks: the right document 90%, its evidence 50%")
    assert [text.get_text().strip() for text in ax.texts] == ["the document", "the evidence"]
    assert ax.get_ylabel() == "share of 10 dev queries" and ax.lines[0].get_xdata()[0] == 1
    figures.evidence_by_k({"document": [1.0], "evidence": [0.0]}, 1, "test")
    assert "right document 100%, its evidence 0%" in titled(drawn[1][0])


def titled(ax) -> str:
    return ax.get_title(loc="left") + ax.get_title()


def budgets(*values):
    names = [evidence.recall_name(budget) for budget in evidence.BUDGETS]
    means = dict(zip(names, values, strict=True))
    return {"means": means, "intervals": {n: (v - 0.1, v + 0.1) for n, v in means.items()}}


def test_evidence_by_budget(drawn):
    sets = {"fixed": budgets(0.2, 0.3, 0.4, 0.5, 0.6), "small": budgets(0.1, 0.2, 0.5, 0.6, 0.7)}
    figures.evidence_by_budget(sets, "fixed", "dev")
    ((ax, text),) = drawn
    assert heights(ax) == {n: [*found["means"].values()] for n, found in sets.items()}
    assert titled(ax) == "Within 2,000 tokens small delivers the most evidence"
    assert text == "A line for each way to cut; a band around fixed, its 95 % interval."
    low, high = ax.collections[0].get_datalim(ax.transData).intervaly
    assert (round(low, 9), round(high, 9)) == (0.1, 0.7)
    assert words(ax.get_xticklabels()) == ["500", "1,000", "2,000", "4,000", "8,000"]


def test_evidence_by_size(drawn):
    sets = {"fixed-64": budgets(0.3, 0.3, 0.3, 0.3, 0.3), "fixed": budgets(0.2, 0.3, 0.4, 0.5, 0.6)}
    figures.evidence_by_size(sets, {"fixed-64": "64", "fixed": "512"}, "dev")
    ((ax, _),) = drawn
    assert heights(ax) == {
        "500": [0.3, 0.2], "1,000": [0.3, 0.3], "2,000": [0.3, 0.4], "4,000": [0.3, 0.5],
        "8,000": [0.3, 0.6],
    }  # fmt: skip
    assert titled(ax) == "Best size: 64 for a budget of 500, 512 for a budget of 8,000"
    assert words(ax.get_xticklabels()) == ["64", "512"]
