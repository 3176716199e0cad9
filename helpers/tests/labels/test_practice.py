"""Twenty pairs to practise on, and the comparison with the stored labels, worked by hand."""

import html
import json

import numpy as np
import pytest
from conftest import write_rows
from judging import entry

from helpers import evalset
from helpers.labels import log, merge, panel, practice

GRADES = (0, 1, 2)
FIRST, SECOND = [0, 0, 0, 0, 1, 1, 2, 2, 2, 2], [0, 0, 0, 1, 1, 2, 2, 2, 2, 0]


def made(folder, queries, documents=12, split="dev"):
    """Write a set: {query_id: (kind, {doc number: grade})}; document 0 is long."""
    rows = [
        {"doc_id": f"d{n:02}", "title": f"T{n}", "text": f"fact {n}."} for n in range(documents)
    ]
    rows[0]["text"] += " more" * 50
    write_rows(folder / "corpus.jsonl", *rows)
    asked, labels = [], []
    for query_id, (kind, grades) in queries.items():
        relevant = [f"d{n:02}" for n, grade in grades.items() if grade]
        row = {"query_id": query_id, "query": f"fact {query_id}", "relevant_doc_ids": relevant}
        asked.append(row | {"kind": kind, "split": split})
        for n, grade in grades.items():
            label = {"query_id": query_id, "doc_id": f"d{n:02}", "relevance": grade}
            labels.append(label | ({"evidence": f"fact {n}."} if grade else {}))
    write_rows(folder / "retrieval_queries.jsonl", *asked)
    write_rows(folder / "judgments.jsonl", *labels)
    return evalset.load(folder)


def many(folder):
    """Write ten queries of three kinds, each with two labels of each grade."""
    grades = {n: n % 3 for n in range(6)}
    return made(folder, {f"q{n:02}": ("abc"[n % 3], grades) for n in range(10)})


def labels_of(evals, pairs):
    known = {(j.query_id, j.doc_id): j.relevance for j in evals.judgments}
    return [known[pair] for pair in pairs]


@pytest.fixture
def live(monkeypatch):
    """Turn widgets on and note the panels that are shown."""
    shown = []
    monkeypatch.setenv("WORKBOOK_LIVE", "1")
    monkeypatch.setattr(panel.Panel, "show", lambda self: shown.append(self))
    return shown


# Which pairs.


def test_twenty_pairs_of_all_grades_and_kinds_and_never_more_than_three_of_a_query(tmp_path):
    evals = many(tmp_path)
    pairs = practice.pairs_to_practise(evals)
    assert len({*pairs}) == 20 and pairs == practice.pairs_to_practise(evals)
    given = labels_of(evals, pairs)
    assert [given.count(grade) for grade in GRADES] == [8, 6, 6]
    of_query = [query_id for query_id, _ in pairs]
    assert max(map(of_query.count, of_query)) <= 3
    kinds = [evals.queries[query_id].kind for query_id in of_query]
    assert min(map(kinds.count, "abc")) >= 4


@pytest.mark.parametrize(("near", "zeros"), [(("d00", "d03"), {"d03"}), (("d00",), {"d00"})])
def test_a_zero_is_ranked_high_and_a_document_is_short(tmp_path, monkeypatch, near, zeros):
    evals = many(tmp_path)  # the zeros are d00, which is long, and d03
    top = {(query_id, doc_id) for query_id in evals.queries for doc_id in near}
    monkeypatch.setattr(practice, "_near_the_top", lambda evals: top)
    pairs = practice.pairs_to_practise(evals)
    given = zip(pairs, labels_of(evals, pairs), strict=True)
    chosen = [doc_id for (_, doc_id), grade in given if not grade]
    assert len(chosen) == 8 and {*chosen} == zeros


@pytest.mark.parametrize(("documents", "kept"), [(12, 4), (13, 5), (1, 1)])
def test_the_shorter_documents_are_a_third_and_those_as_long(tmp_path, documents, kept):
    evals = made(tmp_path, {"0": ("a", {0: 2})}, documents=documents)
    names = sorted(evals.documents)
    texts = {name: "word " * (9 + n) for n, name in enumerate(names)}
    longer = {d: doc._replace(text=texts[d]) for d, doc in evals.documents.items()}
    assert practice._shorter(evals._replace(documents=longer)) == {*names[:kept]}
    same = {d: doc._replace(text="word") for d, doc in evals.documents.items()}
    assert practice._shorter(evals._replace(documents=same)) == {*names}


def test_the_first_ten_by_bm25_count_as_near_the_top(tmp_path):
    evals = made(tmp_path, {"7": ("a", {7: 2}), "8": ("a", {8: 2})}, documents=30)
    near = practice._near_the_top(evals)
    assert len(near) == 20 and {("7", "d07"), ("8", "d08")} <= near
    assert practice._near_the_top(many_test(tmp_path)) == set()


def many_test(folder):
    return made(folder, {"7": ("a", {7: 2})}, split="test")


def test_a_corpus_without_words_has_nothing_near_the_top(tmp_path):
    evals = made(tmp_path, {"7": ("a", {7: 2})})
    blank = {d: doc._replace(title="", text="--") for d, doc in evals.documents.items()}
    assert practice._near_the_top(evals._replace(documents=blank)) == set()


def test_what_was_judged_stays_among_the_pairs(tmp_path):
    evals = many(tmp_path)
    rows = [entry("q09", "d00"), entry("q09", "d03")]
    assert not {("q09", "d00"), ("q09", "d03")} <= {*practice.pairs_to_practise(evals)}
    write_rows(tmp_path / log.PRACTICE, *rows)
    pairs = practice.pairs_to_practise(evals)
    assert {("q09", "d00"), ("q09", "d03")} <= {*pairs} and len(pairs) == 20


def test_a_small_set_gives_what_it_has(tmp_path, capsys):
    evals = made(tmp_path, {"q1": ("a", dict.fromkeys(range(9), 1)), "q2": ("a", {1: 2})})
    assert [q for q, _ in practice.pairs_to_practise(evals)] == ["q1", "q1", "q1", "q2"]
    practice.judge_twenty(evals)
    assert capsys.readouterr().out.startswith("4 pairs wait for you in `make lab`; everything")
    practice.judge_twenty(made(tmp_path, {"q2": ("a", {1: 2})}))
    assert capsys.readouterr().out.startswith("1 pair waits for you")
    practice.judge_twenty(many_test(tmp_path))
    told = "no judgments of dev queries are stored, so there is nothing to practise on\n"
    assert capsys.readouterr().out == told and practice.pairs_to_practise(many_test(tmp_path)) == []


def test_grades_share_what_the_zeros_leave():
    assert practice._quota(GRADES) == {0: 8, 1: 6, 2: 6}
    assert practice._quota((0, 1)) == {0: 8, 1: 12}
    assert practice._quota((0, 1, 2, 3, 4, 5)) == {0: 8, 1: 3, 2: 3, 3: 2, 4: 2, 5: 2}


# The panel.


def test_the_panel_opens_only_where_widgets_live_and_never_in_the_workbooks_set(
    tmp_path, live, monkeypatch, capsys
):
    evals = many(tmp_path)
    practice.judge_twenty(evals)
    assert len(live) == 1 and capsys.readouterr().out == ""
    monkeypatch.setattr(evalset, "DEFAULT", tmp_path.resolve())
    practice.judge_twenty(evals)
    assert len(live) == 1 and "uses the stored labels" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setenv("WORKBOOK_LIVE", "0")
    practice.judge_twenty(evals)
    assert "uses the stored labels" in capsys.readouterr().out


def test_what_is_judged_goes_to_a_log_of_its_own_and_changes_no_label(tmp_path, live, capsys):
    evals = many(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    practice.judge_twenty(evals)
    (shown,) = live
    assert shown.count.value.startswith("1 of 20")
    for _ in range(3):
        shown.buttons["0"].click()
    practice.judge_twenty(evals)
    again = live[1]
    assert again.bar.value == 3 and again.turn == shown.turn
    shown.buttons["Finish"].click()
    said = html.unescape(shown.message.value)
    assert "3 of 20 judged. Run the next cell to compare" in said and "17 documents left" in said
    assert merge.merge(evals) == 0
    assert {path: path.read_bytes() for path in before} == before
    assert {path.name for path in tmp_path.iterdir()} - {path.name for path in before} <= {
        *("practice.jsonl", "practice.jsonl.lock", "labelling.jsonl.lock")
    }
    while again.turn:
        again.buttons["0"].click()
    assert "compares your labels with the stored ones" in again.document.value


# The comparison.


def test_the_measures_worked_by_hand():
    """7 of 10 equal. Shares: first .4 .2 .4, second .4 .2 .4 of grades 0, 1, 2.

    Kappa's chance is .16 + .04 + .16 = .36, AC1's (.24 + .16 + .24) / 2 = .32.
    """
    assert practice._percent_equal(FIRST, SECOND) == "7 equal (70%)"
    measures = practice._measures(GRADES)
    assert measures["Cohen's kappa"](FIRST, SECOND) == pytest.approx((0.7 - 0.36) / 0.64)
    assert measures["Gwet's AC1"](FIRST, SECOND) == pytest.approx((0.7 - 0.32) / 0.68)
    assert practice.beyond_chance([1, 1], [1, 1], (0, 1)) == 1
    assert practice.beyond_chance([0, 1], [1, 0], (0, 1)) == -1
    table = practice.grade_table(FIRST, SECOND, GRADES)
    assert table.to_numpy().tolist() == [[3, 1, 0], [0, 1, 1], [1, 0, 3]]
    assert [*table.index] == ["stored 0", "stored 1", "stored 2"]
    assert [*table.columns] == ["yours 0", "yours 1", "yours 2"]


@pytest.mark.proof
def test_the_interval_is_seeded_holds_the_value_and_draws_whole_pairs():
    for measure in practice._measures(GRADES).values():
        found = practice.with_interval(measure, FIRST, SECOND)
        assert found == practice.with_interval(measure, FIRST, SECOND)
        assert -1 <= found.low < found.value < found.high <= 1
    same = practice.with_interval(practice._measures(GRADES)["Gwet's AC1"], FIRST, FIRST)
    assert same == (1, 1, 1)
    half = [[0] * 40, [0, 1] * 20]
    share = practice.with_interval(lambda a, b: float(np.mean(np.equal(a, b))), *half)
    assert share == (0.5, 0.35, 0.65)  # of 40 throws 14 to 26: less than .025 lie below


@pytest.mark.proof
def test_a_measure_that_is_not_defined_says_so():
    kappa = practice._measures(GRADES)["Cohen's kappa"]
    assert practice.with_interval(kappa, [1, 1], [1, 1]) == (None, None, None)
    told = "not defined, because one grade only was given"
    assert practice.value_text(practice.Agreed(None, None, None)) == told
    shown = practice.value_text(practice.Agreed(0.5, -0.1, 1.0))
    assert shown == "0.50 (95 % interval -0.10 to 1.00)"
    few = practice.with_interval(kappa, [0, 1] * 4, [0, 1] * 4)
    assert practice.value_text(few) == "1.00 (too few pairs for an interval)"
    assert practice.with_interval(kappa, [0, 1] * 5, [0, 1] * 5).low == 1


def test_part_of_the_twenty_is_compared_with_the_pairs_that_differ_most(
    tmp_path, capsys, monkeypatch
):
    evals = many(tmp_path)
    own = {("q00", "d02"): 0, ("q00", "d03"): 0, ("q01", "d00"): 1, ("q02", "d05"): 1}
    rows = [entry(*pair, grade, evidence="fact" * (grade > 0)) for pair, grade in own.items()]
    write_rows(tmp_path / log.PRACTICE, *rows, entry("q00", "d04", 1, evidence="fact 4."))
    seen = []
    monkeypatch.setattr(practice, "display", seen.append)
    practice.agree_with_stored(evals)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "5 of 20 judged, 2 equal (40%)"
    assert lines[1].startswith("Cohen's kappa: ") and lines[2].startswith("Gwet's AC1: ")
    assert len(lines) == 3
    table, differing, conclusion = (shown.data for shown in seen)
    assert conclusion.startswith("<p>From 5 pairs you can't tell how good a reader you are. The")
    assert "a reader you are: see how wide" in practice.conclusion_html(10)
    assert "stored 2" in table and "<b>3 pairs with different grades" in differing
    items = differing.split("<li>")[1:]
    assert "stored 2, yours 0" in items[0]
    assert "<p>Stored evidence:</p><blockquote>fact 2.</blockquote>" in items[0]
    assert "T2" in items[0] and "fact q00" in items[0]
    assert "stored 0, yours 1" in items[1] and "No evidence is stored" in items[1]
    assert "stored 2, yours 1" in items[2]


def test_five_pairs_at_most_are_shown_and_none_where_all_agree(tmp_path):
    evals = many(tmp_path)
    both = [(label, 2) for label in evals.judgments if label.relevance == 0][:7]
    page = practice.differing_html(evals, both)
    assert "7 pairs with different grades" in page and page.count("<li>") == 5
    assert practice.differing_html(evals, [(both[0][0], 0)]) == "<p>No pair differs.</p>"


def test_nothing_judged_is_one_line(tmp_path, capsys):
    practice.agree_with_stored(many(tmp_path))
    assert capsys.readouterr().out == "no labels of yours yet, so there is nothing to compare\n"


def test_texts_of_the_set_are_inert_in_the_comparison(tmp_path):
    evals = many(tmp_path)
    label = evals.judgments[1]._replace(evidence=("<img src=x>",))
    page = practice._pair_html(evals, label, 0)
    assert "<img" not in page and "&#60;img" in page


def test_a_repeat_or_what_was_taken_back_does_not_count(tmp_path):
    evals = many(tmp_path)
    first = entry("q00", "d02", 0, time="1")
    undo = {"undo": {"query_id": "q00", "doc_id": "d02", "time": "1"}}
    (tmp_path / log.PRACTICE).write_text(json.dumps(first) + "\n" + json.dumps(undo) + "\n")
    assert practice._both(evals) == []
