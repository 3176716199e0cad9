"""What the figures draw and claim: bars, points, titles and the text for those who cannot see."""

import matplotlib
import pandas as pd
import pytest

from helpers import figures


@pytest.fixture
def drawn(monkeypatch):
    """Return the list of (axes, text) that figures show."""
    shown = []
    monkeypatch.setattr(figures, "_show", lambda ax, text: shown.append((ax, text)))
    with matplotlib.rc_context(), pd.option_context("display.max_colwidth", 50):
        figures.begin(versions=False)
        yield shown


def bars(ax) -> list[float]:
    """Return the lengths of bars that lie."""
    return [round(float(bar.get_width()), 9) for bar in ax.patches]


def words(ticks) -> list[str]:
    return [tick.get_text() for tick in ticks]


def test_the_text_stands_in_the_image(monkeypatch):
    shown = []
    monkeypatch.setitem(matplotlib.rcParams, "axes.titlelocation", "left")
    monkeypatch.setattr(figures, "display", lambda figure, metadata: shown.append(metadata))
    figures.token_lengths(pd.Series([100, 600]))
    alt = shown[0]["image/png"]["alt"]
    assert alt == (
        "50% of the documents are longer than 512 tokens. Histogram of document lengths in tokens."
    )


def test_token_lengths(drawn):
    figures.token_lengths(pd.Series([10, 10, 512, 513, 900]))
    ((ax, _),) = drawn
    assert sum(bar.get_height() for bar in ax.patches) == 5
    assert ax.lines[0].get_xdata()[0] == 512
    assert ax.get_title(loc="left") == "40% of the documents are longer than 512 tokens"


def test_overlap_by_kind(drawn):
    frame = pd.DataFrame(
        {"kind": ["a", "a", "b", "b", "b"], "overlap": [1.0, 0.5, 0.25, 0.25, 0.0]}
    )
    figures.overlap_by_kind(frame)
    ((ax, _),) = drawn
    assert words(ax.get_yticklabels()) == ["b", "a"]
    assert bars(ax) == [round(0.5 / 3, 9), 0.75]
    points = dict.fromkeys(zip(*ax.lines[0].get_data(), strict=True))
    assert len(points) == 5  # equal points lie apart
    assert sorted(x for x, _ in points) == [0, 0.25, 0.25, 0.5, 1]
    assert all(round(y) == (x >= 0.5) for x, y in points)
    assert ax.get_title(loc="left") == "Fewest shared words: b queries"


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
