"""What the figures draw and claim: bars, points, titles and the text for those who cannot see."""

import html
import io
import platform
from base64 import b64decode
from importlib import metadata
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbval_alt
import pandas as pd
import pytest
from nbformat.v4 import new_output
from nbval.plugin import IPyNbCell, IPyNbFile
from PIL import Image

from helpers import evidence, figures, text


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
    monkeypatch.setattr(figures, "display", lambda data, metadata, raw: shown.append(metadata))
    figures.first_ranks(pd.Series([1, None]), "dev")
    alt = shown[0]["image/png"]["alt"]
    told = "Queries by rank: 1 1, 2 0, 3 0, 4-5 0, 6-10 0, 11-100 0, none 1."
    assert alt == f"1 of 2 dev queries finds one at rank 1. {told}"


def test_nbval_compares_the_text_of_a_picture_too(request):
    """By itself it compares neither a picture nor what is said of it."""
    if not hasattr(request.config.option, "nbval_lax"):
        pytest.skip("the plugin nbval is not loaded")
    file = IPyNbFile.from_parent(request.session, path=Path(__file__))
    options = {"name": "Cell 0", "cell_num": 0, "cell": None, "options": {}}
    cell = IPyNbCell.from_parent(file, **options)
    stored, fresh = (
        [new_output("display_data", {"image/png": "x"}, metadata={"image/png": {"alt": alt}})]
        for alt in ("Mean 0.5.", "Median 0.5.")
    )
    assert cell.compare_outputs(fresh, stored)
    nbval_alt.pytest_collectstart(file)
    assert cell.compare_outputs(stored, stored) and not cell.compare_outputs(fresh, stored)


# The figures of the write-up.


def points(ax) -> dict[str, list[tuple]]:
    """Return the (x, y) of the points with each mark; a line has the mark "None"."""
    found: dict[str, list[tuple]] = {}
    for line in ax.lines:
        pairs = zip(*(map(float, of) for of in line.get_data()), strict=True)
        found.setdefault(line.get_marker(), []).extend(pairs)
    return found


SHARES = [
    ("all questions", 8, 10, 0.49, 0.94),
    ("easy", 9, 9, 0.71, 1.0),
    ("hard", 0, 5, 0.0, 0.43),
    ("edge", 7, 8, 0.7, 0.9),
]


def test_shares_stand_against_the_bar(drawn):
    figures.found_in_five(SHARES, 0.7)
    ((ax, text),) = drawn
    assert words(ax.get_yticklabels()) == ["all questions", "easy", "hard", "edge"]
    marks = {line.get_ydata()[0]: line for line in ax.lines if line.get_marker() in "os"}
    assert {y: line.get_xdata()[0] for y, line in marks.items()} == {0: 0.8, 1: 1, 2: 0, 3: 7 / 8}
    assert [line.get_marker() for line in marks.values()] == ["o", "o", "s", "o"]
    faces = [line.get_markerfacecolor() for line in marks.values()]
    assert faces == ["white", figures.DARK, figures.LIGHT, "white"]  # undecided ones are hollow
    assert [t.get_text().strip() for t in ax.texts] == ["8 of 10", "9 of 9", "0 of 5", "7 of 8"]
    ends = [[*line.get_xdata()] for line in ax.lines if line.get_marker() == "None"]
    assert ends == [*([low, high] for *_, low, high in SHARES), [0.7, 0.7]]
    assert ax.get_title(loc="left") == "Clearly above the bar: 1 of 3 kinds; below: 1"
    assert "easy 9 of 9 (0.71 to 1.00), hard 0 of 5 (0.00 to 0.43)" in text
    assert ax.get_ylim() == (3.5, -0.5) and ax.get_xlim() == (0, 1.02)
    assert ax.get_xlabel() == "share, with 95 % interval (dashed: the bar, 70%)"


def test_a_set_without_kinds_has_one_share(drawn):
    figures.found_in_five(SHARES[:1], 0.3)
    ax = drawn[0][0]
    assert ax.get_title(loc="left") == "Clearly above the bar: 1 of 1 shares; below: 0"


def test_each_query_is_a_point_in_the_row_of_its_kind(drawn):
    values = [0.0, 0.0, 0.4, 0.5, 0.5, 1.0]
    frame = pd.DataFrame({"kind": [*"aaabbb"], "value": values})
    figures.values_by_kind(frame, "AP", "dev")
    ((ax, text),) = drawn
    assert words(ax.get_yticklabels()) == ["a (3)", "b (3)"]  # the lowest mean first
    found = points(ax)
    assert sorted(x for x, _ in found["s"]) == [0, 0, 0.4]
    assert sorted(x for x, _ in found["o"]) == [0.5, 0.5, 1]
    assert len({*found["s"], *found["o"]}) == 6  # equal points lie apart
    assert all(abs(y - round(y)) < 0.45 and round(y) == (x >= 0.5) for x, y in found["s"])
    assert found["|"] == [(pytest.approx(0.4 / 3), 0), (pytest.approx(2 / 3), 1)]
    assert ax.get_title(loc="left") == "3 of 6 dev queries score below 0.5"
    assert text == "Means of AP: a 0.133, b 0.667."
    assert ax.get_xlabel() == "AP, a point a query (line: mean)"


def test_many_equal_points_stay_in_their_row(drawn):
    frame = pd.DataFrame({"kind": "a", "value": [1.0] * 40})
    figures.values_by_kind(frame, "AP", "dev")
    at = [y for _, y in points(drawn[0][0])["o"]]
    assert len({*at}) == 40 and max(map(abs, at)) < 0.41 and sum(at) == pytest.approx(0)


def test_first_ranks(drawn):
    ranks = pd.Series([1, 1, 2, 3, 4, 5, 6, 10, 11, 100, None, None, None])
    figures.first_ranks(ranks, "test")
    ((ax, text),) = drawn
    assert [bar.get_height() for bar in ax.patches] == [2, 1, 1, 2, 2, 2, 3]
    assert words(ax.get_xticklabels()) == ["1", "2", "3", "4-5", "6-10", "11-100", "none"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rank of the first relevant document", "queries")
    assert [t.get_text() for t in ax.texts] == ["2", "1", "1", "2", "2", "2", "3"]
    assert ax.get_title(loc="left") == "2 of 13 test queries find one at rank 1"
    assert text == "Queries by rank: 1 2, 2 1, 3 1, 4-5 2, 6-10 2, 11-100 2, none 3."


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
    order = ["one", "up", "edge", "none", "down"]  # by the difference
    assert [t.get_text() for t in ax.texts] == order
    at = dict(rows)
    lines = [line for line in ax.lines[:-1] if line.get_marker() == "None"]
    reach = {order[line.get_ydata()[0]]: [*line.get_xdata()] for line in lines}
    assert reach == {name: [at[name]["low"], at[name]["high"]] for name in order if name != "one"}
    marks = {order[m.get_ydata()[0]]: m for m in ax.lines if m.get_marker() in ("o", "s")}
    assert {n: m.get_xdata()[0] for n, m in marks.items()} == {
        name: at[name]["difference"] for name in order
    }
    assert {n for n, m in marks.items() if m.get_marker() == "s"} == {"up", "down"}
    assert {n for n, m in marks.items() if m.get_color() == figures.LIGHT} == {"up", "down"}
    assert [*ax.lines[-1].get_xdata()] == [0, 0]
    assert ax.get_title(loc="left") == "2 of 4 intervals include 0, the baseline"
    assert ax.get_xlabel() == "difference in nDCG@10, 95 % interval (n = 30)"
    assert text == "Differences: one +0.300, up +0.200, edge +0.100, none +0.050, down -0.200."


ENDS = pd.DataFrame(
    {
        "n": ["3", "4"],
        "baseline": [0.2, 0.9],
        "lowest": [0.2, 0.7],
        "highest": [0.6, 0.9],
    },
    ["typo", "keyword"],
)


def test_systems_by_kind(drawn):
    figures.systems_by_kind(ENDS, "nDCG@10")
    ((ax, text),) = drawn
    spans = [[*segment[:, 0]] for segment in ax.collections[0].get_segments()]
    assert spans == [[0.2, 0.6], [0.7, 0.9]]
    assert [*ax.lines[0].get_xdata()] == [0.2, 0.9] and [*ax.lines[0].get_ydata()] == [0, 1]
    assert [ax.collections[0].get_label(), ax.lines[0].get_label()] == [
        "all systems",
        "the baseline",
    ]
    assert ax.get_xlabel() == "mean nDCG@10 (in brackets: queries)"
    assert words(ax.get_yticklabels()) == ["typo (3)", "keyword (4)"]
    assert ax.get_title(loc="left") == "Another system leads on 1 of 2 kinds"
    assert words(ax.figure.legends[0].get_texts()) == ["all systems", "the baseline"]
    assert text.endswith("typo 0.200 in 0.200 to 0.600, keyword 0.900 in 0.700 to 0.900.")


def test_a_long_title_takes_two_lines_and_letters_are_large(drawn):
    figures.forest([("x" * 90, {"difference": 0.1, "low": 0.0, "high": 0.2})], 3)
    figures.evidence_by_k({"document": [1.0] * 6, "evidence": [0.5] * 6}, 6, "dev")
    ax = drawn[1][0]
    assert "\n" in ax.get_title(loc="left")
    assert all(tick.get_fontsize() == figures.LETTER_SIZE for tick in ax.get_yticklabels())
    assert {t.get_fontsize() for t in ax.texts} == {figures.LETTER_SIZE}
    assert all(shown.figure.get_figwidth() == 5 for shown, _ in drawn)


def test_snippet_holds_the_most_words():
    body = "alpha " * 60 + "disk and queue are full now " + "omega " * 60
    found = figures.snippet(body, {"disk", "queue", "full"}, width=40)
    assert found.startswith("… disk and queue are full") and found.endswith(" …")
    assert len(found) <= 40 + 4
    assert figures.snippet("queue full", {"full"}) == "… full"
    assert figures.snippet("queue full", {"nothing"}) == "queue full"


# How a figure looks.

DARK, GREY = figures.DARK, "#dfe6ee"


def test_counts_have_whole_ticks(drawn):
    figures.first_ranks(pd.Series([1, 2]), "dev")
    for ax, _ in drawn:
        assert all(tick == int(tick) for tick in ax.get_yticks())


def test_one_query_finds_and_others_find(drawn):
    for ranks in ([1, 2], [2, 3], [1, 1]):
        figures.first_ranks(pd.Series(ranks), "dev")
    assert [ax.get_title(loc="left") for ax, _ in drawn] == [
        f"{words} one at rank 1"
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
    assert [m.get_marker() for m in ax.lines if m.get_marker() != "None"] == ["o", "o", "s"]
    assert ax.get_title(loc="left") == "2 of 3 intervals include 0, the baseline"


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
    monkeypatch.setattr(figures, "display", lambda data, **more: shown.append((data, more)))
    plt.close("all")
    _, ax = plt.subplots()
    ax.set_title("Title", loc="left")
    figures._show(ax, "Words.")
    ((data, more),) = shown
    assert more == {"metadata": {"image/png": {"alt": "Title. Words."}}, "raw": True}
    assert data["text/plain"] == repr(ax.figure) and len(data["image/png"]) < 9_000
    picture = Image.open(io.BytesIO(b64decode(data["image/png"])))
    assert picture.format == "PNG" and len(picture.getcolors()) <= figures.COLOURS
    assert plt.get_fignums() == []


def test_a_table_has_three_decimals_and_wide_ones_are_set_left():
    frame = pd.DataFrame({"x": [1 / 3], "word": ["<b>"]}, ["row"])
    page = figures.table(frame).data
    assert "<td>0.333</td>" in page and "&lt;b&gt;" in page
    assert 'mathjax_ignore">' in page and 'mathjax_ignore text">' in figures.table(frame, True).data


def test_a_captioned_table_names_its_columns_for_every_reader_and_screen():
    frame = pd.DataFrame({"x": [1 / 3, 2.0], 'a "b"': ["<b>", ""]}, ["row", "$r"])
    page = figures.captioned(frame, "Means & <ends>", "cards").data
    assert html.unescape(page) == html.unescape(text.clean(page))
    assert page.startswith('<table class="cards" role="table"><caption>Means &#38; &#60;ends&#62;')
    assert '<th scope="col" role="columnheader">x</th>' in page
    assert '<th scope="row" role="rowheader">row</th>' in page
    assert '<td role="cell" data-label="x">0.333</td>' in page
    assert '<td role="cell" data-label="a &#34;b&#34;">&#60;b&#62;</td>' in page
    assert 'class="narrow"' in figures.captioned(frame, "").data


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
    ((ax, told),) = drawn
    assert [*heights(ax).values()] == [shares["document"], shares["evidence"]]
    assert "1: 0.50 and 0.10, 2: 0.60 and 0.20" in told
    assert titled(ax).replace("\n", " ") == (
        "In five chunks: the right document 90%, its evidence 50%"
    )
    assert [text.get_text().strip() for text in ax.texts] == ["the document", "the evidence"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("first k chunks", "share of 10 dev queries")
    assert all([*line.get_xdata()] == [1, 2, 3, 4, 5, 6] for line in ax.lines)
    assert [t.xy for t in ax.texts] == [(6, 1.0), (6, 0.6)]
    assert ax.collections[0].get_datalim(ax.transData).intervaly.tolist() == [0.1, 1.0]
    figures.evidence_by_k({"document": [1.0], "evidence": [0.0]}, 1, "test")
    assert "right document 100%, its evidence 0%" in titled(drawn[1][0]).replace("\n", " ")


def titled(ax) -> str:
    return ax.get_title(loc="left") + ax.get_title()


def budgets(*values):
    names = [evidence.recall_name(budget) for budget in evidence.BUDGETS]
    means = dict(zip(names, values, strict=True))
    return {"means": means, "intervals": {n: (v - 0.1, v + 0.1) for n, v in means.items()}}


def test_evidence_by_budget(drawn):
    sets = {
        "fixed": budgets(0.2, 0.3, 0.4, 0.5, 0.6),
        "small": budgets(0.1, 0.2, 0.5, 0.6, 0.7),
        "x": budgets(0, 0, 0, 0, 0),
    }
    figures.evidence_by_budget(sets, "fixed", "dev")
    ((ax, told),) = drawn
    named = {"fixed": "fixed, the baseline", "small": "small, the best", "x": "other chunks"}
    wanted = {named[name]: [*found["means"].values()] for name, found in sets.items()}
    assert heights(ax) == wanted
    assert titled(ax).replace("\n", " ") == "Within 2,000 tokens small delivers the most evidence"
    assert told == "Evidence recall within 2,000 tokens: fixed 0.400, small 0.500, x 0.000."
    low, high = ax.collections[0].get_datalim(ax.transData).intervaly
    assert (round(low, 9), round(high, 9)) == (0.1, 0.7)
    assert words(ax.get_xticklabels()) == ["500", "1,000", "2,000", "4,000", "8,000"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("tokens of context", "evidence recall, dev")
    assert all([*line.get_xdata()] == [*evidence.BUDGETS] for line in ax.lines)
    assert ax.get_xscale() == "log"
    sets = {"fixed": budgets(0.2, 0.3, 0.4, 0.5, 0.6)}
    figures.evidence_by_budget(sets, "fixed", "dev")  # the baseline may be the best
    assert [*heights(drawn[1][0])] == ["fixed, the baseline"]


def test_a_colour_of_a_single_point_stays_as_it_is(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda data, **more: shown.append(data["image/png"]))
    with matplotlib.rc_context():
        figures.begin(versions=False)
        figure, ax = plt.subplots()
        ax.plot(range(50), [0] * 50, "o", color=figures.DARK)
        ax.plot([25], [1], "o", color=figures.LIGHT)
        ax.set_title("Many letters, and greys of their edges, in a title " * 2)
        figures.put(figure, "")
    kept = Image.open(io.BytesIO(b64decode(shown[0]))).convert("RGB").getcolors()
    for wanted in (figures.DARK, figures.LIGHT):
        wanted = matplotlib.colors.to_rgb(wanted)
        nearest = min(
            max(abs(a - 255 * b) for a, b in zip(c, wanted, strict=True)) for _, c in kept
        )
        assert nearest < 8, wanted
