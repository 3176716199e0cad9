"""What the pictures of session A draw and claim, on sets small enough to count on paper."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from helpers.figures import DARK
from notebooks.pictures import corpus


def title(ax) -> str:
    return ax.get_title(loc="left")


def labels(ax) -> list[str]:
    return [tick.get_text() for tick in ax.get_yticklabels()]


LENGTHS = pd.DataFrame({"tokens": [10, 20, 30, 512, 513, 900], "kind": [*"bbbaaa"]})


def test_lengths_stand_above_the_kinds_that_make_them(drawn):
    corpus.lengths(LENGTHS)
    ((top, words),) = drawn
    below = top.figure.axes[1]
    assert title(top) == (
        "33% of the documents are longer than 512 tokens;\nb is the shortest kind, a the longest"
    )
    assert words == title(top).replace("\n", " ") + ". Median tokens by kind: b 20, a 513."
    heights = [bar.get_height() for bar in top.patches]
    cells = below.collections[0].get_array()
    assert cells.sum(axis=0).tolist() == heights and cells.sum(axis=1).tolist() == [3, 3]
    assert labels(below) == ["b", "a"] and below.lines[0].get_xdata().tolist() == [20, 513]
    assert below.lines[0].get_ydata().tolist() == [0.5, 1.5]
    assert [list(ax.lines[-1].get_xdata()) for ax in (top, below)] == [[512, 512]] * 2
    assert top.get_ylabel() == "documents"
    said = "tokens (darker: more documents of the kind; circle: its median)"
    assert below.get_xlabel() == said


def test_the_line_moves_and_one_kind_alone_is_not_compared(drawn):
    corpus.lengths(LENGTHS.assign(kind="unspecified"), 20)
    assert title(drawn[0][0]) == "67% of the documents are longer than 20 tokens"


def test_rare_kinds_are_one_row():
    column = pd.Series(
        [f"k{n:02}" for n in range(corpus.ROWS + 1) for _ in range(corpus.ROWS + 1 - n)]
    )
    found = corpus.frequent(column).value_counts()
    assert len(found) == corpus.ROWS and found[corpus.REST] == 2 + 1
    few = column[column != f"k{corpus.ROWS:02}"]
    assert corpus.frequent(few).tolist() == few.tolist()


def squares(ax) -> list[list[tuple[int, str]]]:
    """Return for each row, from below, how many squares it has of which colour inside."""
    parts = [(len(p.get_xdata()), to_hex(p.get_markerfacecolor())) for p in ax.lines]
    return [parts[n : n + 2] for n in range(0, len(parts), 2)]


def test_a_square_for_each_document_and_the_least_reached_service_on_top(drawn):
    frame = pd.DataFrame({"service": [*"aaabb"], "reached": [True, False, False, True, True]})
    corpus.coverage(frame)
    ((ax, words),) = drawn
    assert squares(ax) == [[(2, DARK), (0, "#ffffff")], [(1, DARK), (2, "#ffffff")]]
    assert [[*line.get_ydata()] for line in ax.lines] == [[0, 0], [], [1], [1, 1]]
    assert labels(ax) == ["b  2 of 2", "a  1 of 3"]
    assert title(ax) == "Queries ask for 3 of 5 documents, least for a"
    assert words == f"{title(ax)}. a 1 of 3, b 2 of 2."
    assert ax.get_xlabel() == "a square is a document: filled where a query asks for it"


def test_a_square_stands_for_several_documents_of_a_large_service(drawn):
    n = 2 * corpus.SQUARES
    corpus.coverage(pd.DataFrame({"service": "x", "reached": [True] * 10 + [False] * (n - 10)}))
    ax = drawn[0][0]
    assert squares(ax) == [[(5, DARK), (corpus.SQUARES - 5, "#ffffff")]]
    assert title(ax) == f"Queries ask for 10 of {n} documents"
    assert ax.get_xlabel().startswith("a square is 2 documents")


def test_overlap_by_kind(drawn):
    frame = pd.DataFrame({"kind": [*"aabbb"], "overlap": [1.0, 0.5, 0.25, 0.25, 0.0]})
    corpus.overlap(frame)
    ((ax, words),) = drawn
    assert labels(ax) == ["a  0.75", "b  0.17"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.75, 0.5 / 3])
    points = {*zip(*ax.lines[0].get_data(), strict=True)}
    assert len(points) == 5  # equal points lie apart
    assert ax.get_xlabel() == "share of content words found in a relevant document"
    assert all(round(y) == (x < 0.5) for x, y in points)
    assert title(ax) == "Fewest shared words: b, 0.17 on average"
    assert words.startswith(f"{title(ax)}. Mean share by kind: a 0.75, b 0.17.")


def test_equal_kinds_are_named_together_and_one_alone_is_not_compared(drawn):
    for kinds, title_of in (
        ("aab", "Fewest shared words: a and b, 0.50 on average"),
        ("aaa", "Queries share 0.50 of their content words with an answer, on average"),
    ):
        corpus.overlap(pd.DataFrame({"kind": [*kinds], "overlap": [0.25, 0.75, 0.5]}))
        assert title(drawn[-1][0]) == title_of
