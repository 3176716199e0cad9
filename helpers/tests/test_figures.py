"""What the figures draw and claim: bars, points and titles.

What is told without eyes is compared by the notebooks that show them: `nbval_alt`.
"""

import html
import io
import platform
import re
from base64 import b64decode
from importlib import metadata

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawing import named, points, rows, texts, title, upright, words
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image

from helpers.measure import evidence, inert, stats, text
from helpers.teach import figures
from helpers.teach.write_up import Share

SHARES = [Share("all questions", 8, 10, 0.49, 0.94), Share("easy", 9, 9, 0.71, 1.0)]
SHARES += [Share("hard", 0, 5, 0.0, 0.43), Share("edge", 7, 8, 0.7, 0.9)]


def test_shares_stand_against_the_bar_each_panel_with_its_finding(drawn):
    full = [Share("all questions", 5, 10, 0.2, 0.8), Share("hard", 0, 5, 0.0, 0.43)]
    figures.shares_in_five(SHARES, 0.7, full)
    figures.shares_in_five(SHARES[1:2], 0.7)  # a set without kinds
    (ax, told), (single, _) = drawn
    useful, in_full = ax.figure.axes
    assert useful is ax and rows(ax) == ["all questions", "easy", "hard", "edge"]
    assert points(ax)["o"] == [(0.8, 0), (1, 1), (7 / 8, 3)] and points(ax)["s"] == [(0, 2)]
    faces = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() in "os"]
    assert faces == ["white", figures.DARK, figures.LIGHT, "white"]  # undecided ones are hollow
    assert words(ax.texts) == ["80% unclear", "100% above", "0% below", "88% unclear"]
    ends = [(end, y) for y, share in enumerate(SHARES) for end in (share.low, share.high)]
    assert points(ax)["None"] == [*ends, (0.7, 0), (0.7, 1)]  # and the bar
    assert title(ax) == "A useful page in the first five: 1 of 3 kinds clears 70%, hard fails"
    assert ax.get_ylim() == (3.5, -0.5) and "dashed: 70%" in named(in_full)[0]
    assert rows(in_full) == ["all questions", "hard"] and points(in_full)["s"] == [(0, 1)]
    assert (
        title(in_full) == "A full answer in the first five: none of 1 kinds clears 70%, hard fails"
    )
    assert title(single) == "A useful page in the first five: 100% of 9 questions"
    assert "hard fails. all questions 8 of 10 (0.49 to 0.94), unclear; easy 9 of 9" in told
    assert told.endswith(
        "hard fails. all questions 5 of 10 (0.20 to 0.80), unclear; "
        "hard 0 of 5 (0.00 to 0.43), below."
    )


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        (["good", "good", "open"], "2 of 3 kinds clear 70%, none fails"),
        (["good", "poor", "poor", "poor"], "1 of 4 kinds clears 70%, k1, k2, k3 fail"),
    ],
)
def test_the_finding_names_every_kind_that_fails(sides, told):
    ends = {"good": (0.8, 1), "poor": (0, 0.6), "open": (0, 1)}
    kinds = [Share(f"k{n}", 1, 2, *ends[side]) for n, side in enumerate(sides)]
    assert figures._clears([SHARES[0], *kinds], 0.7) == told


def test_each_interval_has_a_row_with_its_value(drawn):
    figures.intervals({"a": (0.5, 0.25, 0.75), "b": (-0.1, -0.2, 0.0)}, "Found", "what", at=0.0)
    ax, words = drawn[0]
    assert title(ax) == "Found" and named(ax) == ("what", "") and rows(ax) == ["a", "b"]
    marks = points(ax)
    assert marks["o"] == [(0.5, 0), (-0.1, 1)] and upright(ax) == [0.0]
    assert marks["None"][2:] == [(0.25, 0), (0.75, 0), (-0.2, 1), (0.0, 1)]
    assert [text for text, *_ in texts(ax)] == ["0.50", "-0.10"]
    assert words == "Found. a 0.50 (0.25 to 0.75), b -0.10 (-0.20 to 0.00)"
    figures.intervals({"round 7\n0% disputed": (0.5, 0.25, 0.75)}, "Found", "what")
    assert drawn[1][1] == "Found. round 7 0% disputed 0.50 (0.25 to 0.75)"


def test_each_query_is_a_point_in_the_row_of_its_kind(drawn):
    frame = pd.DataFrame({"kind": [*"aaabbb"], "value": [0.0, 0.0, 0.4, 0.5, 0.5, 1.0]})
    figures.values_by_kind(frame, "AP", "dev")
    figures.values_by_kind(pd.DataFrame({"kind": "a", "value": [1.0] * 40}), "AP", "dev")
    (ax, _), (many, _) = drawn
    assert rows(ax) == ["a (3)", "b (3)"]  # the lowest mean first
    assert ax.get_xlim() == (-0.03, 1.03)
    low, high = points(ax)["s"], points(ax)["o"]
    assert sorted(x for x, _ in low) == [0, 0, 0.4] and sorted(x for x, _ in high) == [0.5, 0.5, 1]
    assert len({*low, *high}) == 6  # equal points lie apart, in the row of their kind
    assert all(abs(y) < 0.45 for _, y in low) and all(abs(y - 1) < 0.45 for _, y in high)
    assert points(ax)["|"] == [(pytest.approx(0.4 / 3), 0), (pytest.approx(2 / 3), 1)]
    assert title(ax) == "AP on dev is lowest for a: 0.13"
    assert title(many) == "0 of 40 dev queries score below 0.5"  # of one kind
    figures.values_by_kind(pd.DataFrame({"kind": [*"ab"], "value": 1.0}), "AP", "dev")
    assert title(drawn[-1][0]) == "0 of 2 dev queries score below 0.5"  # no kind is lowest
    places = [y for _, y in points(many)["o"]]  # many equal ones stay in their row
    assert len({*places}) == 40 and max(map(abs, places)) < 0.41
    assert sum(places) == pytest.approx(0)


def test_first_ranks_are_counted_by_places(drawn):
    figures.first_ranks(pd.Series([1, 1, 2, 3, 4, 5, 6, 10, 11, 100, None, None, 101]), "test")
    ((ax, _),) = drawn
    assert [bar.get_height() for bar in ax.patches] == [2, 1, 1, 2, 2, 2, 3]
    assert words(ax.get_xticklabels()) == ["1", "2", "3", "4-5", "6-10", "11-100", "none"]
    assert words(ax.texts) == [*"2112223"]
    assert all(tick == int(tick) for tick in ax.get_yticks())
    assert title(ax) == "First result relevant: 2 of 13 test queries"


FOREST = [  # (name, difference, low, high, verdict)
    ("up", 0.2, 0.1, 0.3, stats.BETTER),
    ("open", 0.05, -0.1, 0.2, stats.TOO_FEW),
    ("one", -0.2, None, None, stats.TOO_FEW),
    ("down", -0.2, -0.3, -0.1, stats.WORSE),
]


def test_the_forest_shows_each_run_with_its_interval_and_verdict(drawn):
    runs = [
        {"name": name, "primary": "p", "verdict": verdict,
         "measures": {"p": {"difference": difference, "low": low, "high": high}}}
        for name, difference, low, high, verdict in FOREST
    ]  # fmt: skip
    figures.forest({"runs": runs, "matters": 0.05})
    ((ax, told),) = drawn
    assert words(ax.texts) == ["up", "open", "one", "down"]  # from the top
    assert points(ax) == {
        "None": [(0, 0), (0, 1), (0.1, 0), (0.3, 0), (-0.1, 1), (0.2, 1), (-0.3, 3), (-0.1, 3)],
        ">": [(0.2, 0)],
        "o": [(0.05, 1), (-0.2, 2)],
        "<": [(-0.2, 3)],
    }
    assert (ax.patches[0].get_x(), ax.patches[0].get_width()) == (-0.05, 0.1)
    assert title(ax) == "Better than the baseline: 1 of 4 systems; worse: 1"
    assert "open +0.050 (-0.100 to +0.200), too few queries to tell; one -0.200, too few" in told
    assert named(ax)[0].endswith("grey: within ±0.05")


def test_document_and_evidence_by_k(drawn):
    by_k = {"document": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], "evidence": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    figures.evidence_by_k(by_k, 10)
    ((ax, _),) = drawn
    lines = {"o": by_k["document"], "s": by_k["evidence"]}
    assert points(ax) == {mark: [*enumerate(shares, 1)] for mark, shares in lines.items()}
    assert texts(ax) == [("evidence", 6, 0.6), ("document", 6, 1.0)]
    assert named(ax)[1] == "share of 10 queries"
    assert ax.collections[0].get_datalim(ax.transData).intervaly.tolist() == [0.1, 1.0]
    assert title(ax) == "In 5 chunks: right document 90%, its evidence 50%"


def test_evidence_by_budget(drawn):
    means = [[0.2, 0.3, 0.4, 0.5, 0.6], [0.1, 0.2, 0.5, 0.6, 0.62], [0, 0, 0, 0, 0]]
    recall = pd.DataFrame(means, ["fixed", "small", "x"], evidence.BUDGETS)
    verdicts = {"small": stats.TOO_FEW, "x": stats.WORSE}
    figures.evidence_by_budget(recall, verdicts, 2000)
    figures.evidence_by_budget(recall, {"fixed": stats.WORSE, "x": stats.BETTER}, 2000)
    figures.evidence_by_budget(recall * 0, verdicts, 2000)  # nothing found
    (ax, told), (other, _), (none, _) = drawn
    assert rows(ax) == ["small", "fixed", "x"]  # the highest at the budget comes first
    marks = points(ax)
    large = [line.get_xydata()[0] for line in ax.lines if line.get_markersize() == 9]
    assert [*map(tuple, large)] == [(0.5, 0), (0.4, 1), (0, 2)]
    small = [(value, y) for y, row in enumerate((1, 0, 2)) for value in means[row]]
    assert sorted(marks["o"]) == sorted([*small, (0.5, 0), (0.4, 1)]) and marks["<"] == [(0, 2)]
    assert upright(ax) == [0.4] and upright(other) == [0.5]  # the baseline's
    assert texts(ax) == [(".50", 1.02, 0), (".40", 1.02, 1), (".00", 1.02, 2)]
    assert ax.get_xlim() == (0, pytest.approx(0.651)) and none.get_xlim() == (0, 1)
    legend = words(ax.figure.legends[0].get_texts())
    assert legend == ["the baseline", stats.WORSE, stats.TOO_FEW]
    assert named(ax)[0].startswith("evidence recall within 500, 1,000, 2,000, 4,000, 8,000")
    assert title(ax) == "Within 2,000 tokens none of 2 ways to cut is better than fixed, 1 worse"
    assert title(other) == "Within 2,000 tokens 1 of 2 ways to cut is better than small, 1 worse"
    assert told.endswith(f"At 2,000: small {stats.TOO_FEW}, x {stats.WORSE}")
    figures.evidence_by_budget(recall, dict.fromkeys(["small", "x"], stats.BETTER), 2000)
    assert title(drawn[-1][0]).endswith("2 of 2 ways to cut are better than fixed, none worse")


GREY = 0.2126, 0.7152, 0.0722  # of red, green and blue, as eyes weigh them


def test_verdicts_differ_in_grey_and_in_their_marks():
    looks = [figures.VERDICTS[of] for of in figures.VERDICTS if of != stats.SAME_RUN]
    greys = sorted(np.dot(GREY, matplotlib.colors.to_rgb(look["color"])) for look in looks)
    assert np.diff(greys).min() > 0.05
    assert len(
        {(look["marker"], look.get("markerfacecolor", look["color"])) for look in looks}
    ) == len(looks)


def test_a_figure_is_displayed_once_with_its_words_and_closed(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda data, **more: shown.append((data, more)))
    plt.close("all")
    with matplotlib.rc_context():
        figures.open_page(versions=False)
        ax = figures.axes(3)
        ax.plot(range(50), [0] * 50, "o", color=figures.DARK)
        ax.plot([25], [1], "o", color=figures.LIGHT)  # a colour of a single point stays
        figures.show(ax, "Title", "Words.")
    ((data, more),) = shown
    assert more["metadata"] == {"image/png": {"alt": "Title. Words."}}
    assert data["text/plain"] == repr(ax.figure) and len(data["image/png"]) < 19_000
    picture = Image.open(io.BytesIO(b64decode(data["image/png"])))
    assert picture.format == "PNG" and len(picture.getcolors()) <= figures.COLOURS
    kept = np.array([color for _, color in picture.convert("RGB").getcolors()])
    rgb = 255 * np.array(matplotlib.colors.to_rgb(figures.LIGHT))
    assert abs(kept - rgb).max(axis=1).min() < 8
    assert plt.get_fignums() == []


def test_a_session_begins_with_style_whole_texts_and_versions(capsys):
    with matplotlib.rc_context({"figure.dpi": 50}), pd.option_context("display.max_colwidth", 50):
        figures.open_page(versions=False)
        assert (matplotlib.rcParams["figure.dpi"], capsys.readouterr().out) == (130, "")
        assert pd.get_option("display.max_colwidth") is None
        assert pd.get_option("display.html.use_mathjax") is False  # a text is no formula
        figures.open_page()
    names = "pandas", "rank_bm25", "tiktoken", "ir_measures"
    versions = [f"· {name} {metadata.version(name)}" for name in names]
    wanted = " ".join(["Python", platform.python_version(), *versions])
    assert capsys.readouterr().out == wanted + "\n"


def test_the_texts_of_a_table_stand_left_and_its_numbers_as_they_did(monkeypatch):
    frame = pd.DataFrame({"x": [1 / 3, np.nan], "word": ["<b>", "#1\u202e a"]}, ["row", "2"])
    frame["small"] = [-1e-9, -np.inf]
    shell = InteractiveShell()
    monkeypatch.setattr(figures, "get_ipython", lambda: shell)
    with matplotlib.rc_context(), pd.option_context("display.max_colwidth", 50):
        figures.open_page(versions=False)
        page = shell.display_formatter.format(frame)[0]["text/html"]
    left = re.findall(r'<t[hd] style="text-align: left">(.*?)</', page)
    assert left == ["word", "row", "&lt;b&gt;", r"#1\u202e a"]  # the others stand above numbers
    assert all(cell in page for cell in ("<td>0.333333</td>", "<td>NaN</td>", "<th>2</th>"))


def test_a_captioned_table_names_its_columns_for_every_reader_and_screen():
    frame = pd.DataFrame({"x": [1 / 3, 2.0], 'a "b"': ["<b>", ""]}, ["row", "$r"])
    page = figures.captioned_table(frame, "Means & <ends>", "cards").data
    assert html.unescape(page) == html.unescape(inert.clean(page))
    assert page.startswith('<table class="cards" role="table"><caption>Means &#38; &#60;ends&#62;')
    assert '<th scope="col" role="columnheader">x</th>' in page
    assert '<td role="cell" data-label="x">0.333</td>' in page
    assert '<td role="cell" data-label="a &#34;b&#34;">&#60;b&#62;</td>' in page
    assert 'class="narrow"' in figures.captioned_table(frame, "").data


def test_words_are_marked_and_code_is_set_and_markup_stays_text():
    assert inert.mark_words("Disk & disks, <i>", {"disk", "i"}) == (
        "<mark>Disk</mark> &#38; disks, &#60;<mark>i</mark>&#62;"
    )
    assert figures.with_code("say `a<b` or `c") == "say <code>a&#60;b</code> or &#96;c"


SNIPPETS = [  # (body, words, width, snippet)
    ("one two  three\nfour", {"none"}, 240, "one two three four"),
    ("one two three", set(), 13, "one two three"),
    ("one two three", set(), 12, "one two …"),
    ("one two three", {"two"}, 8, "… two …"),
    ("Two one two TWO", {"two"}, 3, "Two …"),  # the first of equals
    ("a a a a a b c", {"a", "b"}, 4, "… a b …"),  # different words count
    ("é on-call b", {"call", "b"}, 240, "… on-call b"),  # never from the middle of on-call
    ("a " + "b/" * 200 + "disk-full", {"disk"}, 240, "… disk-full"),  # an address may be long
    ("in canary.yaml", {"yaml"}, 240, "… canary.yaml"),
    ("前提、障害", {"障害"}, 240, "… 障害"),
]


def test_a_snippet_is_the_stretch_with_the_most_different_words():
    for body, wanted, width, snippet in SNIPPETS:
        assert text.snippet(body, wanted, width) == snippet, body
