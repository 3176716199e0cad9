"""Pictures of the sessions: what they draw and claim, on examples small enough to count on paper.

What is told without eyes is compared by the notebooks that show them: `nbval_alt`.
"""

import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from drawing import bars, named, points, rows, texts, title, upright, words
from matplotlib.colors import to_hex

from helpers.measure import installation, text
from helpers.measure.evalset import Query
from helpers.teach import figures
from helpers.teach.figures import DARK
from helpers.teach.pictures import corpus, ranking, scores, week
from helpers.teach.write_up import Share


def test_a_session_lights_its_steps_and_the_first_names_what_flows(drawn):
    flows = ["documents", "queries", "evaluation\nset", "chunks", "ranked lists", "scores"]
    between = [(flow, n + 0.5) for n, flow in enumerate(flows)]
    for session, steps, named_flows in (
        ("A", ["collect", "ask", "label"], between),
        ("B", ["cut", "search"], []),
        ("C", ["measure", "decide"], []),
    ):
        week.map_of_week(session)
        ax, told = drawn[-1]
        assert told.startswith("The week in 7 steps: collect → documents → ask → queries → label →")
        assert told.endswith(f"→ scores → decide. Session {session}: {', '.join(steps)}.")
        written = [(t.get_text(), t.get_position()) for t in ax.texts if t.get_text()]
        assert [(words, x) for words, (x, y) in written if y > 0.6] == named_flows
        boxes = zip(ax.patches, [words for words, (_, y) in written if y < 0.6], strict=True)
        lit = [words for box, words in boxes if to_hex(box.get_facecolor()) == DARK]
        assert lit == [f"{step}\n{session}" for step in steps]


def test_a_picture_moves_with_its_sliders(drawn, monkeypatch):
    monkeypatch.setenv(installation.LIVE, "1")
    shown = []
    monkeypatch.setattr(figures, "display", shown.append)
    draw = lambda rank: scores.measures_by_place({"RR": [1.0, 0.5]}, "b", rank)  # noqa: E731
    figures.with_sliders(draw, rank=(2, 1, 2, 1))
    (slider,) = shown[0].children
    slider.value = 1
    assert [told.split(":")[0] for _, told in drawn] == ["b at rank 2", "b at rank 1"]


NONE = "They share 0 of 1 content word: none."
QUESTIONS = [  # question, page, its word pairs in the notes, what is told, words on both sides
    ("who refunds a lost parcel", "A parcel went missing. We pay.",
     "lost = missing, refunds = we pay",
     "The question says lost, refunds; the page says missing, we pay. They share 1 of 3 content "
     "words: parcel.", "parcel lost refunds", "parcel missing we pay"),
    ("gone en route", "Lost in transit.", "en route = in transit",  # a phrase stands for two words
     "The question says en route; the page says in transit. They share 0 of 3 content words: none.",
     "en route gone", "in transit"),
    ("lost parcel", "Lost or missing.", "lost = missing, parcel = box, x = missing",  # none holds
     "They share 1 of 2 content words: lost.", "lost parcel", "lost"),
    ("parcel parcel", "Box.", "", NONE, "parcel", ""),
]  # fmt: skip


@pytest.mark.parametrize(("question", "page", "noted", "wanted", "left", "right"), QUESTIONS)
def test_a_question_beside_its_page(
    drawn, tmp_path, capsys, question, page, noted, wanted, left, right
):
    (tmp_path / "notes.md").write_text(f"## q\nWords: {noted}\n" if noted else "")
    evals = SimpleNamespace(folder=tmp_path, words=text.words)
    corpus.words_of_both(evals, Query("q", question, ("d",)), SimpleNamespace(retrieval_text=page))
    assert capsys.readouterr().out == f"{wanted}\n"
    ((ax, told),) = drawn
    assert told.endswith(wanted)
    *shown, (on_left, *_), (on_right, *_), _ = texts(ax)
    assert (on_left, on_right) == ("the question", "the page")
    assert " ".join(word for word, x, _ in shown if x < 0.5) == left
    assert " ".join(word for word, x, _ in shown if x > 0.5 and word) == right
    pairs = [(own, other) for (own, *_), (other, *_) in zip(shown[::2], shown[1::2], strict=True)]
    styles = ["-" if own == other else ":" for own, other in pairs if other]
    assert [line.get_linestyle() for line in ax.lines] == styles


def test_lengths_have_a_row_for_each_kind_and_a_key(drawn):
    frame = pd.DataFrame({"tokens": [10, 20, 30, 512, 513, 900], "kind": [*"bbbaaa"]})
    corpus.lengths(frame)
    corpus.lengths(frame.assign(kind="unspecified"), 20)
    (ax, told), (alone, _) = drawn
    cells = ax.collections[0].get_array()
    assert cells.sum(axis=1).tolist() == [3, 3] and cells[0, :2].tolist() == [2, 1]
    assert rows(ax) == ["b", "a"] and points(ax)["o"] == [(20, 0), (513, 1)]
    key = words(ax.figure.legends[0].get_texts())
    assert key == ["darker: more", "median", "512 tokens"]
    assert named(ax) == ("tokens of a document", "") and upright(ax) == [512]
    assert title(ax) == "33% of documents have over 512 tokens"
    assert told == f"{title(ax)}. Median tokens by kind: b 20, a 513."
    assert title(alone) == "67% of documents have over 20 tokens"


def test_groups_lie_end_to_end_in_the_row_of_their_half(drawn):
    corpus.halves(pd.Series([1, 3, 2, 1]), pd.Series(["dev", "test", "dev", "dev and test"]))
    ax, told = drawn[0]
    assert bars(ax) == [(0, 2), (2, 1), (0, 1), (0, 3)]
    assert [bar.get_linewidth() > 0 for bar in ax.patches] == [True, False, False, True]
    assert rows(ax) == ["dev: 2 groups", "dev and test: 1 group", "test: 1 group"]
    assert texts(ax) == [("2", 1, 0), ("1", 0.5, 1), ("3", 1.5, 2)]
    assert title(ax) == "1 group in both halves: a leak"
    claims = {"test": "No full answer is in both halves", "dev": "All queries are in dev"}
    for half, claim in claims.items():
        corpus.halves(pd.Series([2, 1]), pd.Series(["dev", half]))
        assert title(drawn[-1][0]) == claim
    largest = "dev: 2, the largest 2; dev and test: 1, the largest 1; test: 1, the largest 3."
    assert told == f"{title(ax)}. Groups of {largest}"


def test_rare_kinds_are_one_row_and_most_fit_on_a_page_with_slider_and_key(drawn):
    n_kinds = corpus.ROWS + 1
    column = pd.Series([f"k{n:02}" for n in range(n_kinds) for _ in range(n_kinds - n)])
    counts = corpus.frequent(column).value_counts()
    assert len(counts) == corpus.ROWS and counts[corpus.REST] == 2 + 1
    few = column[column != f"k{corpus.ROWS:02}"]
    assert corpus.frequent(few).tolist() == few.tolist()
    corpus.lengths(pd.DataFrame({"tokens": range(len(few)), "kind": few.tolist()}))
    ax, _ = drawn[0]
    assert len(rows(ax)) == corpus.ROWS
    assert ax.figure.get_figheight() * ax.figure.dpi + 40 < 570  # pixels, with a slider


def squares(ax) -> list[tuple[int, str]]:
    """Return for each row how many squares there are of each colour."""
    return [(len(line.get_ydata()), to_hex(line.get_markerfacecolor())) for line in ax.lines]


def test_a_square_for_each_document_and_the_least_reached_service_on_top(drawn):
    reached = [True, False, False, True, True]
    corpus.coverage(pd.DataFrame({"service": [*"aaabb"], "reached": reached}))
    n = 2 * corpus.SQUARES
    corpus.coverage(pd.DataFrame({"service": "x", "reached": [True] * 10 + [False] * (n - 10)}))
    (ax, _), (large, _) = drawn
    assert squares(ax) == [(2, DARK), (0, "#ffffff"), (1, DARK), (2, "#ffffff")]
    assert points(ax)["s"] == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]
    assert rows(ax) == ["b  2 of 2", "a  1 of 3"]
    assert title(ax) == "Queries ask for 3 of 5 documents, least for a"
    assert squares(large) == [(5, DARK), (corpus.SQUARES - 5, "#ffffff")]
    assert title(large) == f"Queries ask for 10 of {n} documents"
    assert named(ax)[0].startswith("a square is a do")
    assert named(large)[0].startswith("a square is 2 do")


def test_overlap_by_kind(drawn):
    overlaps = [1.0, 0.5, 0.25, 0.25, 0.0]
    for kinds, values, claim in (
        ("aabbb", overlaps, "Fewest shared words: b, 0.17 on average"),
        ("aab", [0.25, 0.75, 0.5], "Fewest shared words: a and b, 0.50 on average"),
        ("aa", [0.25, 0.75], "Queries share 0.50 of their content words with an answer, on aver"),
    ):
        corpus.overlap(pd.DataFrame({"kind": [*kinds], "overlap": values}))
        assert title(drawn[-1][0]).startswith(claim), kinds
    ax, _ = drawn[0]
    assert rows(ax) == ["b  0.17", "a  0.75"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.5 / 3, 0.75])
    places = {*points(ax)["o"]}
    assert len(places) == 5 and all(round(y) == (x >= 0.5) for x, y in places)  # equal ones apart


def test_a_page_of_chunks_marks_where_each_begins_and_ends_and_what_two_share():
    page = ranking.chunk_page("one <b>.", [(0, 5), (3, 7), (7, 20)])
    parts = [re.sub("<.+?>|^.+?>", "", part) for part in page.split("<span ")[1:]]
    assert parts == ["▸1one", "▸2 &#60;1◂", "b&#62;2◂", "▸3&#46;"]  # the end of 3 lies beyond
    one, shared, two, three = re.findall('<span style="background:(.+?)">', page)
    assert one == three and len({one, shared, two}) == 3
    assert 'aria-label="chunk 2 begins"' in page and 'aria-label="chunk 1 ends"' in page
    apart = ranking.chunk_page("a  b", [(0, 1), (3, 4)])
    assert re.findall("background:(#f{6})", apart) == ["#ffffff"] * 2  # the page, and the gap


def test_weights_name_the_rise_past_half_of_the_documents(drawn):
    curves = {"one": [3.0, 1.0, 0.2, 1.4, 1.3, 1.2], "two": [3.0, 2.0, 1.5, 1.0, 0.5, 0.4]}
    ranking.weights(curves, 6)
    ((ax, told),) = drawn
    assert title(ax) == "one: one more document, and the weight jumps from 0.20 to 1.40"
    for mark, curve in zip("o^", curves.values(), strict=True):
        assert points(ax)[mark] == [*enumerate(curve, 1)]
    assert texts(ax) == [("one", 5, 1.3), ("two", 5, 0.5), ("", 4, 1.4)]
    assert ax.texts[2].xyann == (3, 0.2)
    assert "one 3.00 at 1, 0.20 at 3, 1.40 at 4, 1.20 at 6; two 3.00 at 1" in told


def test_saturation_draws_the_moved_curve_beside_the_defaults(drawn):
    def worth(times, k1, b, length):
        """Return BM25's score of one word, as the field writes it."""
        return times * (k1 + 1) / (times + k1 * (1 - b + b * length / 100))

    ranking.saturation(worth, 1.2, 0.5, 200)
    ranking.saturation(worth, 1.5, 0.75, 100)  # at the defaults there is one curve
    (ax, _), (defaults, _) = drawn
    for mark, values in (("s", (1.5, 0.75, 100)), ("o", (1.2, 0.5, 200))):
        assert points(ax)[mark] == [(n, pytest.approx(worth(n, *values))) for n in range(13)]
    assert [y for _, y in points(ax)["None"]] == [2.2, 2.2]  # nothing earns more than k1 + 1
    assert title(ax) == "The first occurrence earns 0.79, the twelfth adds 0.02"
    assert words(defaults.get_legend().get_texts()) == ["k1 1.5, b 0.75, length 100"]


BARS = {
    "rival#0": {"the": 1.0, "disk": 5.0, "a": -0.5, "b": 0.3, "c": 0.2, "d": 0.15, "e": 0.1},
    "wanted#2": {"the": 1.5, "disk": 0, "a": 0, "b": 0, "c": 0.4, "d": 0.1, "e": 0.1},
}  # fmt: skip


def test_score_parts_add_up_from_the_heaviest_word_on(drawn):
    ranking.score_parts(BARS)
    ranking.score_parts({name: {"one": np.float64(part)} for name, part in (("x", 2), ("y", -1))})
    ranking.score_parts(BARS, "my question")
    (ax, _), (few, _), (own, _) = drawn
    assert bars(ax) == [  # disk, the, a, c, b, others
        (0, 5.0), (0, 0), (5, 1.0), (0, 1.5), (0, -0.5), (1.5, 0),
        (6, 0.2), (1.5, 0.4), (6.2, 0.3), (1.9, 0), (6.5, 0.25), (1.9, 0.2),
    ]  # fmt: skip
    labels = ["disk", "the", "a", "c", "b", "2 other words"]
    assert words(ax.figure.legends[0].get_texts()) == labels
    assert len({bar.get_facecolor() for bar in ax.patches}) == len(labels)
    assert texts(ax)[:-4] == [  # of the parts that have room for it
        ("5.0", 2.5, 0), ("1.0", 5.5, 0), ("1.5", 0.75, 1),
    ]  # fmt: skip
    assert texts(ax)[-4:-2] == [("6.2", 6.75, 0), ("2.1", 2.1, 1)]  # where bars end
    assert texts(ax)[-2:] == [("rival#0", 0, -0.3), ("wanted#2", 0, 0.7)]
    assert title(ax) == "The first leads by 4.1 points; “disk” alone gives it 5.0"
    assert words(few.figure.legends[0].get_texts()) == ["one"]  # few words stand for themselves
    assert words(own.figure.legends[0].get_texts()) == labels
    assert title(own) == "“disk” brings the first page 5.0 of its 6.2 points"
    assert own.get_xlabel() == "score for “my question”"
    ranking.score_parts({"long name " * 9: {"disk": 1}}, "long question " * 4)
    assert max(len(words) for words, *_ in texts(drawn[-1][0])) <= figures.LINE
    assert "question long\nquestion" in drawn[-1][0].get_xlabel()


def test_a_learners_own_ranking_is_written_beside_their_copy(drawn, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ranking.own_ranking("", {})
    assert "no document shares a word" in capsys.readouterr().out and not drawn
    ranking.own_ranking("where\nis $x$ \x1b", {"1. a": {"disk": 2.0}})
    assert capsys.readouterr().out == "your copy writes session_b.png here\n"
    (tmp_path / "progress.jsonl").touch()
    ranking.own_ranking("where", {"1. a": {"disk": 2.0}})
    assert (tmp_path / "session_b.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == "session_b.png is written\n"
    ax = drawn[0][0]
    assert ax.get_xlabel() == "score for “where is $x$ \\x1b”" and texts(ax)[-1][0] == "1. a"


def test_your_search_grows_by_a_bar_and_its_title_is_about_the_newest(drawn):
    ranking.useful_in_five({"whole documents": 3, "paragraphs": 0}, 4)
    ((ax, told),) = drawn
    assert bars(ax) == [(0, 3), (0, 0)] and ax.get_xlim() == (0, 4)
    assert title(ax) == "paragraphs: a useful page for 0 of 4 questions"
    assert [words for words, *_ in texts(ax)] == ["whole documents", "3", "paragraphs", "0"]
    assert told.endswith("whole documents 3, paragraphs 0.")


HITS = {"a": ("A", "the queue"), "b": ("B", "## disk\n\n<b>full</b> **x**"), "c": ("C", "disk")}


def test_a_card_holds_the_first_results_and_the_best_relevant_one():
    for relevant, top, marks in (
        (("c", "b"), 1, ["· 1. A", "✓ 2. B"]),
        (("a",), 2, ["✓ 1. A", "· 2. B"]),
        (("z",), 2, ["· 1. A", "· 2. B"]),
    ):
        page = ranking.result_card(Query("q1", "disk", relevant), HITS, {"disk"}, [], top)
        lines = [line.partition("<br>")[0] for line in page.split("<p>")[1:]]
        plain = [line.replace("<b>", "").replace("</b>", "") for line in lines]
        assert plain == [*marks, "Words in no relevant document: none</p>"], relevant
        assert page.startswith("<h4>q1: disk</h4>")
    query = Query("q1", "<i>disk", ("b",), kind="entity")
    page = ranking.result_card(query, HITS, {"disk"}, ["<i>", "x"], 3)
    assert page.startswith("<h4>q1 (entity): &#60;i&#62;disk</h4>")
    assert "<br><mark>disk</mark> &#60;b&#62;full&#60;/b&#62; x</p>" in page  # no Markdown
    assert page.endswith("Words in no relevant document: &#60;i&#62;, x</p>")


def test_ten_cells_fill_what_is_relevant_and_frame_the_first_k(drawn):
    scores.first_k([*"abcd"], {"b": 2, "c": 0, "d": 1, "x": 1}, 3)
    scores.first_k(["a"], {}, 1)
    (ax, told), (_, nothing) = drawn
    *cells, frame = ax.patches
    assert [to_hex(cell.get_facecolor()) == DARK for cell in cells] == [0, 1, 0, 1]
    assert (frame.get_x(), frame.get_width(), frame.get_fill()) == (0.5, 3, False)
    assert [text[:2] for text in texts(ax)[:4]] == [*zip("abcd", (1, 2, 3, 4), strict=True)]
    assert texts(ax)[4][0] == "hit@3 = 1\nrecall@3 = 1/3\nP@3 = 1/3"
    assert named(ax)[0] == "rank; filled: relevant; not found: x"
    assert told.startswith("1 of the first 3 are relevant, of 3 in all. hit@3 = 1, recall@3 = 1/3")
    assert nothing.endswith("hit@1 = 0, recall@1 = 0/0, P@1 = 0/1")


def test_the_gains_of_a_ranking_lie_above_those_of_the_ideal_order(drawn):
    for k in (5, 2):
        scores.gains_against_ideal([*"abcde"], {"x": 1, "b": 2, "d": 1, "c": 0}, k)
    scores.gains_against_ideal(["a"], {"a": 0}, 5)
    (ax, told), (cut, _), (none, _) = drawn
    second, third, fourth = (1 / math.log2(rank + 1) for rank in (2, 3, 4))
    wanted = [(0, 2 * second), (2 * second, fourth), (0, 2), (2, second), (2 + second, third)]
    assert bars(ax) == [pytest.approx(pair) for pair in wanted]
    places = ["b\nrank 2", "d\nrank 4", "1.69", "b\nrank 1", "x\nrank 2", "d\nrank 3", "3.13"]
    assert words(ax.texts) == places and rows(ax) == ["yours", "ideal"]
    assert [to_hex(bar.get_facecolor()) == DARK for bar in ax.patches] == [1, 0, 1, 0, 0]
    assert title(ax) == "nDCG@5 is 1.69 of 3.13: .54" and "yours: d at rank 4 adds 0.43" in told
    assert title(cut) == "nDCG@2 is 1.26 of 2.63: .48"
    assert title(none) == "nDCG@5 is 0.00 of 0.00: .00"


def test_one_draw_shows_what_it_left_out_and_its_mean(drawn):
    values = np.array([0.0, 0.25, 0.5, 1.0])
    scores.one_draw(values, 3)
    ((ax, _),) = drawn
    places = np.random.default_rng(3).choice(4, 4)
    left_out = {*range(4)} - {*places.tolist()}
    both, hollow, means = ax.lines
    assert [*both.get_xdata()[:4]] == [*values] and rows(ax) == ["our values", "one draw"]
    assert {*hollow.get_xdata()} == {values[n] for n in left_out}
    assert hollow.get_markerfacecolor() == "white"
    assert {*map(round, hollow.get_ydata())} == {0}
    assert [*both.get_xdata()[4:]] == [*values[places]]
    assert [*map(round, both.get_ydata())] == [0] * 4 + [1] * 4
    shown = values.mean(), values[places].mean()
    assert [*means.get_xdata()] == [*shown] and [*means.get_ydata()] == [0, 1]
    told = (
        f"One draw leaves out {len(left_out)} of 4 queries: its mean is {shown[1]:.3f}, not 0.438"
    )
    assert title(ax) == told and 0 < len(left_out) < 3


def test_hits_by_k_have_a_line_for_each_kind(drawn):
    ranks = pd.array([1, None, 2, 5, 7], dtype="Int64")
    scores.hit_by_k(pd.DataFrame({"kind": [*"aabbb"], "first rank": ranks}))
    scores.hit_by_k(pd.DataFrame({"kind": "", "first rank": ranks}))
    (ax, told), (whole, _) = drawn
    low, high, _ = ax.lines
    assert [*low.get_ydata()] == [0.5] * 10
    assert [*high.get_ydata()] == pytest.approx([0, *[1 / 3] * 3, *[2 / 3] * 2, *[1] * 4])
    assert {text[0]: text[2] for text in texts(ax)} == {"a": 0.5, "b": 1}
    assert title(ax) == "Five results help 67% of b queries, 50% of a queries"
    assert title(whole) == "Five results help 60% of all queries" and "a: .50 .50" in told


def test_needs_are_held_against_documents(drawn):
    met = {"document recall@5": [0.5, 0.5, 1.0, 0.25], "need recall@5": [1.0, 1.0, 0.5, 0.25]}
    scores.needs_and_documents(pd.DataFrame(met), "@5")
    ((ax, told),) = drawn
    dots = {tuple(line.get_xydata()[0]): line.get_color() for line in ax.lines[1:]}
    colors = {(0.5, 1.0): DARK, (1.0, 0.5): figures.LIGHT, (0.25, 0.25): figures.GREY}
    assert dots == colors and ("2", 0.5, 1.0) in texts(ax)
    wanted = "Of 4 queries, needs are met better than documents are found for 2, worse for 1"
    assert title(ax) == wanted and told.endswith("means: needs 0.69, documents 0.56")


def test_the_measures_at_the_chosen_place_stand_in_the_title(drawn):
    scores.measures_by_place({"RR": [1.0, 0.5], "AP": [0.5, 0.25]}, "b", 2)
    ((ax, _),) = drawn
    assert points(ax)["o"] == [(1, 1), (2, 0.5), (2, 0.5)]
    assert texts(ax) == [("RR", 2, 0.5), ("AP", 2, 0.25)]
    assert upright(ax) == [2] and title(ax) == "b at rank 2: RR .50, AP .25"


def test_a_histogram_marks_its_ends_and_what_was_seen(drawn):
    scores.bootstrap_means(np.array([0.0, 1.0, 0.5]), 0.25, 0.75, "dev nDCG@10")
    ax = drawn[-1][0]
    assert upright(ax) == pytest.approx([0.5, 0.25, 0.75])
    assert [text[:2] for text in texts(ax)] == [("0.25", 0.25), ("0.75", 0.75)]
    assert named(ax) == ("mean of 3 values drawn anew", "draws")
    for p, share in ((0.0746, ".07"), (0.0004, "Fewer than .001"), (1.0, "1.00")):
        scores.flipped_means(np.array([0.1, -0.2, 0.4]), p, "new minus baseline")
        ax = drawn[-1][0]
        assert title(ax) == f"{share} of the means with random signs are as far from 0 as +0.100"
        assert upright(ax) == [0.1, -0.1] and texts(ax)[0][:2] == ("seen +0.100", 0.1)


def test_overlap_marks_the_lowest_kind_and_returns_the_rank_correlation(drawn):
    table = {"kind": [*"aabb"], "overlap": [0.1, 0.2, 0.3, 0.4], "nDCG@10": [0.0, 0.1, 0.3, 0.9]}
    assert scores.overlap_and_score(pd.DataFrame(table)) == pytest.approx(1)
    assert scores.overlap_and_score(pd.DataFrame(table | {"nDCG@10": [0.5] * 4})) == 0
    (ax, _), (_, equal) = drawn
    assert words(ax.figure.legends[0].get_texts()) == ["other kinds", "a: lowest mean"]
    near = {"o": [(0.3, 0.3), (0.4, 0.9)], "^": [(0.1, 0.0), (0.2, 0.1)]}
    for mark, pairs in near.items():
        assert points(ax)[mark] == [(pytest.approx(x, abs=0.013), y) for x, y in pairs]
    assert title(ax) == "More shared words, higher nDCG (rank correlation 1.00)"
    assert equal.startswith("Shared words explain little (rank correlation 0.00)")


QUERIES = {"kind": [*"ab"], "overlap": [0.1, 0.2], "value": [0.0, 1.0], "nDCG@10": [0.2, 0.3]}
FRAME = pd.DataFrame(QUERIES | {"tokens": 9, "service": "x", "reached": True})
MEASURED = {"AP": {"difference": 0.1, "low": 0.0, "high": 0.2}}
RUN = {"name": "r", "primary": "AP", "verdict": "", "measures": MEASURED}
RECALL = pd.DataFrame([[0.2, 0.3], [0.1, 0.2]], ["fixed", "small"], [500, 1000])
THREE = np.array([0.0, 1.0, 0.5])
RANKED = pd.DataFrame({"kind": "a", "first rank": pd.array([1], dtype="Int64")})
MET = pd.DataFrame({"document recall@5": [0.5], "need recall@5": [1.0]})
NAMED = [  # (picture, what it shows, names of x and y, where each text lies from its place)
    (corpus.lengths, [FRAME], "tokens of a document", "", ""),
    (corpus.halves, [pd.Series([2]), pd.Series(["dev"])], "queries; a block: those", "", "c"),
    (corpus.coverage, [FRAME], "a square is a document: filled where a query asks", "", ""),
    (corpus.overlap, [FRAME], "share of content words found in a relevant document", "", ""),
    (ranking.weights, [{"one": [3.0, 1.0]}, 2], "documents that hold", "weight (IDF)", "l"),
    (ranking.saturation, [lambda n, *_: n, 1, 0, 9], "how often the word", "score, for", "l"),
    (ranking.score_parts, [BARS], "score", "", "cccllll"),
    (ranking.score_parts, [BARS, "?"], "score for “?”", "", "cccllll"),
    (scores.first_k, [["a"], {"a": 1}, 1], "rank; filled: relevant; not found: none", "", "cl"),
    (scores.measures_by_place, [{"RR": [1.0, 0.5]}, "b", 2], "rank of b", "", "l"),
    (scores.gains_against_ideal, [["a"], {"a": 1}, 1], "grade × discount", "", "clcl"),
    (scores.one_draw, [THREE, 1], "nDCG@10 of a query; hollow: not drawn", "", "cc"),
    (scores.hit_by_k, [RANKED], "first k results", "queries with a useful one (hit@k)", "l"),
    (scores.needs_and_documents, [MET, "@5"], "document recall@5", "need recall", "clr"),
    (scores.bootstrap_means, [THREE, 0.2, 0.8, ""], "mean of 3 values drawn", "draws", "rl"),
    (scores.flipped_means, [THREE, 0.1, ""], "mean difference with signs", "tosses", "l"),
    (scores.flipped_means, [-THREE, 0.1, ""], "mean difference with signs", "tosses", "r"),
    (scores.overlap_and_score, [FRAME], "share of the query's words", "nDCG@10", ""),
    (figures.shares_in_five, [[Share("all", 8, 10, 0.5, 0.9)], 0.7], "share of questions", "", "l"),
    (figures.values_by_kind, [FRAME, "AP", "dev"], "AP of each query", "", ""),
    (figures.first_ranks, [pd.Series([1]), ""], "rank of the first relevant", "queries", "ccccccc"),
    (figures.forest, [{"runs": [RUN], "matters": 0.05}], "difference in AP", "", "c"),
    (figures.evidence_by_k, [dict.fromkeys(("document", "evidence"), [0.5, 0.9]), 10],
     "first k chunks", "share of 10 queries", "ll"),
    (figures.evidence_by_budget, [RECALL, {"small": ""}, 500],
     "evidence recall within", "", "ll"),
]  # fmt: skip


@pytest.mark.parametrize(("picture", "shown", "x", "y", "sides"), NAMED)
def test_axes_have_their_names_and_texts_stand_beside_their_places(
    drawn, picture, shown, x, y, sides
):
    picture(*shown)
    ax = drawn[0][0]
    assert ax.figure.get_figwidth() == 5  # inches: a telephone shows its letters
    (x_name, y_name), written = named(ax), [text for text in ax.texts if text.get_text()]
    assert x_name.startswith(x) and (y_name.startswith(y) if y else y_name == "")
    assert "".join(text.get_ha()[0] for text in written) == sides
    assert [text.get_text() for text in written if text.get_fontsize() < figures.LETTERS - 1] == []
