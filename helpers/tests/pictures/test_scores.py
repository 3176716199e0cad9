"""Pictures of session C: what their titles and their words for who cannot see them say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from helpers import figures
from notebooks.pictures import frame, scores


@pytest.fixture
def words(monkeypatch):
    """Return the words of each picture that was shown."""
    plt.switch_backend("agg")
    found = []
    keep = lambda data, metadata, raw: found.append(metadata["image/png"]["alt"])  # noqa: E731
    monkeypatch.setattr(figures, "display", keep)
    yield found
    assert plt.get_fignums() == []


@pytest.fixture
def shown(monkeypatch):
    """Return the axes of each picture that was shown."""
    plt.switch_backend("agg")
    found = []

    def put(figure, words):
        found.extend(figure.axes)
        plt.close(figure)

    monkeypatch.setattr(scores, "put", put)
    return found


def upright(ax) -> list[float]:
    """Return where the lines stand that mark a value on the x axis."""
    found = (line.get_xdata() for line in ax.lines if [*line.get_ydata()] == [0, 1])
    return [float(x[0]) for x in found if x[0] == x[1]]


def curves(ax) -> list[tuple[list, list]]:
    """Return the x and the y of each other line and point."""
    found = ([[*map(float, of)] for of in line.get_data()] for line in ax.lines)
    return [(x, y) for x, y in found if y != [0, 1] or x[0] != x[1]]


def texts(ax) -> list[tuple]:
    """Return (words, x, y) of what is written into a picture."""
    return [
        (t.get_text().strip(), *map(float, getattr(t, "xy", t.get_position()))) for t in ax.texts
    ]


BY_K = {"document": [0.5, 0.75], "evidence": [0.25, 0.5]}
LINES = pd.DataFrame({500: [0.4, 0.1], 2000: [0.5, 0.6]}, index=["fixed", "small"])
DEV = pd.DataFrame({"kind": [*"ab"], "overlap": [0.5, 0.75], "nDCG@10": [0.0, 1.0]})
ENDS = {"difference": 0.1, "low": 0.05, "high": 0.15}
FOREST = {"runs": [{"name": "s", "primary": "p", "measures": {"p": ENDS}, "verdict": "better"}]}
CARD = {"query_id": "q1", "words": [["the", 0.1, 0.5, 0.25]], "common": [], "lacks": []}
CARD["score"] = [0.5, 0.25]
DRAWN = {  # name: (how it is drawn, words of x, words of y, where upright lines stand)
    "discount_by_rank": ((["a"], {"a": 2}), "", "discount, contribution", []),
    "measures_by_place": (({"RR": [1.0, 0.5]}, "b", 2), "rank of b", "", [2]),
    "bootstrap_means": (
        (np.array([0.2, 0.6]), 0.25, 0.75, "AP"),
        "mean of 2 values drawn anew",
        "draws",
        [0.4, 0.25, 0.75],
    ),
    "flipped_means": (
        (np.array([0.1, -0.2, 0.4]), 0.5, "new"),
        "mean difference with signs tossed",
        "tosses",
        [0.1, -0.1],
    ),
    "overlap_and_score": ((DEV,), "share of the query's words in an answer", "nDCG@10", []),
    "forest_of_systems": ((FOREST, 0.05), "difference in nDCG@10; grey: within ±0.05", "", [0]),
    "document_and_evidence": ((BY_K, 7), "first k chunks", "share of 7 queries", []),
    "recall_within_budgets": (
        (LINES, "fixed", 2000),
        "tokens of context",
        "evidence recall",
        [2000],
    ),
    "two_documents": ((CARD,), "what each word gave", "", []),
}


@pytest.mark.parametrize("name", DRAWN)
def test_axes_are_named_and_lines_mark_their_values(shown, name):
    drawn_with, x, y, lines = DRAWN[name]
    getattr(scores, name)(*drawn_with)
    (ax,) = shown
    assert (ax.get_xlabel(), ax.get_ylabel()) == (x, y)
    assert upright(ax) == pytest.approx(lines)


def test_values_stand_where_the_axes_say(shown):
    scores.discount_by_rank(["a", "b"], {"b": 2})
    scores.measures_by_place({"RR": [1.0, 0.5]}, "b", 2)
    scores.document_and_evidence(BY_K, 7)
    scores.recall_within_budgets(LINES, "fixed", 2000)
    scores.forest_of_systems(FOREST, 0.05)
    discount, place, by_k, budgets, forest = shown
    second = 1 / np.log2(3)
    assert curves(discount) == [([1, 2], [1, second])]
    assert [bar.get_height() for bar in discount.patches] == [0, 2 * second]
    ticks = [tick.get_text() for tick in discount.get_xticklabels()]
    assert ticks == ["rank 1\na: grade 0", "rank 2\nb: grade 2"]
    assert texts(discount)[1] == ("adds 1.26", 2, 2 * second + 0.03)
    assert curves(place) == [([1, 2], [1, 0.5]), ([2], [0.5])]
    assert texts(place) == [("RR", 2, 0.5)]
    assert curves(by_k) == [([1, 2], of) for of in BY_K.values()]
    assert texts(by_k) == [("document", 2, 0.75), ("evidence", 2, 0.5)]
    assert by_k.collections[0].get_datalim(by_k.transData).intervaly.tolist() == [0.25, 0.75]
    assert curves(budgets) == [([500, 2000], [*row]) for row in LINES.to_numpy()]
    assert texts(budgets) == [("small", 2000, 0.6), ("fixed (baseline)", 2000, 0.5)]
    assert curves(forest) == [([0.05, 0.15], [0, 0]), ([0.1], [0])]
    assert texts(forest) == [("s", 0.1, 0.22)]
    band = forest.patches[0]
    assert (band.get_x(), band.get_width()) == (-0.05, 0.1)


def test_samples_points_and_words_stand_beside_what_they_name(shown):
    scores.bootstrap_means(np.array([0.2, 0.6]), 0.25, 0.75, "AP")
    scores.flipped_means(np.array([0.1, -0.2, 0.4]), 0.5, "new")
    scores.overlap_and_score(DEV)
    scores.two_documents(CARD)
    means, flips, points, card = shown
    assert [told[:2] for told in texts(means)] == [("0.25", 0.25), ("0.75", 0.75)]
    assert texts(flips)[0][:2] == ("seen +0.100", pytest.approx(0.1))
    told = {line.get_label(): line.get_data() for line in points.lines}
    assert {n: [float(y[0])] for n, (_, y) in told.items()} == {
        "other kinds": [1],
        "a: lowest mean": [0],
    }
    assert [float(x[0]) for x, _ in told.values()] == pytest.approx([0.75, 0.5], abs=0.013)
    bars = [(bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in card.patches]
    assert bars == [(0.5, pytest.approx(0.2)), (0.25, pytest.approx(-0.2))]
    assert [tick.get_text() for tick in card.get_yticklabels()] == ["the"]


def test_each_rank_says_its_discount_and_what_it_adds(words):
    scores.discount_by_rank(["a", "b"], {"b": 2, "x": 1})
    scores.discount_by_rank(["a"], {})
    assert words[0] == (
        "DCG 1.26, 1.26 of it from rank 2. "
        "rank 1: discount 1.00, adds 0.00; rank 2: discount 0.63, adds 1.26"
    )
    assert words[1] == "DCG 0.00. rank 1: discount 1.00, adds 0.00"


def test_the_measures_at_the_chosen_place_stand_in_the_title(words):
    scores.measures_by_place({"RR": [1.0, 0.5], "AP": [0.5, 0.25]}, "b", 2)
    assert words == ["b at rank 2: RR .50, AP .25. By rank from 1: RR 1.00 .50; AP .50 .25"]


def test_a_picture_of_places_moves_with_its_slider(words, monkeypatch):
    monkeypatch.setenv(figures.LIVE, "1")
    shown = []
    keep = lambda *found, metadata=None, raw=False: shown.append(metadata or found[0])  # noqa: E731
    monkeypatch.setattr(frame, "display", keep)
    monkeypatch.setattr(figures, "display", keep)
    draw = lambda rank: scores.measures_by_place({"RR": [1.0, 0.5]}, "b", rank)  # noqa: E731
    frame.moved(draw, rank=(2, 1, 2, 1))
    (slider,) = next(found for found in shown if not isinstance(found, dict)).children
    slider.value = 1
    alts = [found["image/png"]["alt"] for found in shown if isinstance(found, dict)]
    assert [alt.split(":")[0] for alt in alts] == ["b at rank 2", "b at rank 1"]


@pytest.mark.parametrize("values", [[0.2], [0.5, 0.5], [0.0, 1.0, 0.5]])
def test_the_bootstrap_says_both_ends(words, values):
    scores.bootstrap_means(np.array(values), 0.2, 0.8, "dev nDCG@10")
    mean = f"{np.mean(values):.2f}"
    assert words[0].startswith(
        f"dev nDCG@10 {mean}: other queries could have given 0.20 to 0.80. Histogram of 10,000"
    )
    assert words[0].endswith("between 0.200 and 0.800")


@pytest.mark.parametrize(
    ("p", "told"), [(0.0746, ".07"), (0.0004, "Fewer than .001"), (1.0, "1.00")]
)
def test_the_tosses_say_what_was_seen(words, p, told):
    scores.flipped_means(np.array([0.1, -0.2, 0.4]), p, "new minus baseline")
    assert words[0].startswith(f"{told} of the coin tosses lie at least as far out as +0.100. new")
    assert words[0].endswith(f"p {p:.4f}")


def test_overlap_marks_the_lowest_kind_and_returns_the_rank_correlation(words):
    rows = {"kind": [*"aabb"], "overlap": [0.1, 0.2, 0.3, 0.4], "nDCG@10": [0.0, 0.1, 0.3, 0.9]}
    assert scores.overlap_and_score(pd.DataFrame(rows)) == pytest.approx(1)
    rows["nDCG@10"] = [0.5] * 4
    assert scores.overlap_and_score(pd.DataFrame(rows)) == 0
    assert words[0] == (
        "More shared words, higher nDCG (rank correlation 1.00). "
        "a: overlap 0.15, nDCG@10 0.05; b: overlap 0.35, nDCG@10 0.60"
    )
    assert words[1].startswith("Shared words explain little (rank correlation 0.00)")


def compared(*verdicts):
    at = {"difference": 0.1, "low": 0.05, "high": 0.15}
    rows = [(f"s{n}", verdict) for n, verdict in enumerate(verdicts)]
    rows = [
        {"name": n, "primary": "nDCG@10", "measures": {"nDCG@10": at}, "verdict": v}
        for n, v in rows
    ]
    return {"runs": rows}


def test_the_forest_counts_what_is_shown_and_lists_all(words):
    made = compared("better", "too few queries to tell", "worse")
    made["runs"][1]["measures"] = {"nDCG@10": {"difference": -0.2, "low": None, "high": None}}
    scores.forest_of_systems(made, 0.05)
    assert words == [
        "2 of 3 systems are shown to differ from the baseline. "
        "s0 +0.100 (+0.050 to +0.150), better; s1 -0.200, too few queries to tell; "
        "s2 +0.100 (+0.050 to +0.150), worse"
    ]


@pytest.mark.parametrize(("n", "five"), [(20, 5), (2, 2)])
def test_document_and_evidence_in_the_first_five_chunks(words, n, five):
    rows = {"document": [0.5] * (n - 1) + [1.0], "evidence": [0.25] * n}
    scores.document_and_evidence(rows, 7)
    first = "50%" if n > 5 else "100%"
    title = f"In {five} chunks: right document {first}, its evidence 25%. k = 1: 0.50 and 0.25; "
    assert words[0].startswith(title) and words[0].endswith(f"k = {n}: 1.00 and 0.25")


@pytest.mark.parametrize("base", ["fixed", "small"])
def test_the_best_chunk_set_at_the_budget_is_named(words, base):
    table = pd.DataFrame({500: [0.4, 0.1], 2000: [0.5, 0.6]}, index=["fixed", "small"])
    scores.recall_within_budgets(table, base, 2000)
    assert words == [
        "Within 2,000 tokens small delivers the most evidence, 60%. "
        "By tokens 500, 2,000: fixed: .40 .50; small: .10 .60"
    ]


def test_a_card_shows_the_words_that_gave_something(words):
    found = {
        "query_id": "q1",
        "words": [["the", 0.1, 0.5, 0.25], ["his", 4.0, 0, 3.0], ["zzz", None, 0, 0]],
        "common": ["the"],
        "lacks": ["his", "the", "zzz"],
        "score": [0.5, 3.25],
    }
    scores.two_documents(found)
    scores.two_documents(found | {"words": [["zzz", None, 0, 0]], "score": [0, 0]})
    assert words == [
        'q1: wanted 0.50, rival 3.25; "his" decides most. Wanted and rival by word: '
        "the (common, lacked) 0.50 and 0.25; his (lacked) 0.00 and 3.00",
        "q1: wanted 0.00, rival 0.00. Wanted and rival by word: ",
    ]
