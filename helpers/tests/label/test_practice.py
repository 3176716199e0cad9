"""Twenty pairs to practise on, and the comparison with the stored labels, worked by hand."""

import html

import pytest
from conftest import write_rows
from judging import entry

from helpers.label import labelling, panel
from helpers.label.labelling import PRACTICE
from helpers.measure import evalset
from helpers.teach import figures, practice

GRADES = (0, 1, 2)
FIRST, SECOND = [0, 0, 0, 0, 1, 1, 2, 2, 2, 2], [0, 0, 0, 1, 1, 2, 2, 2, 2, 0]


def made(folder, queries, **settings):
    """Write a set of twelve documents: {query_id: {doc number: grade}}; document 0 is long."""
    texts = [f"fact {n}." + " more" * 50 * (n == 0) for n in range(12)]
    pages = [{"doc_id": f"d{n:02}", "title": f"T{n}", "text": body} for n, body in enumerate(texts)]
    write_rows(folder / "corpus.jsonl", *pages)
    rows = [{"query_id": q, "query": f"fact {q}", "split": "dev"} for q in queries]
    write_rows(folder / "retrieval_queries.jsonl", *rows)
    rows = [
        entry(q, f"d{n:02}", grade, evidence=f"fact {n}." * (grade > 0))
        for q, grades in queries.items()
        for n, grade in grades.items()
    ]
    write_rows(folder / "judgments.jsonl", *rows)
    write_rows(folder / "settings.json", settings)
    return evalset.load(folder)


def many(folder, grades=GRADES):
    """Write ten queries, each with two labels of each grade."""
    labels = {n: n % len(grades) for n in range(2 * len(grades))}
    return made(folder, {f"q{n:02}": labels for n in range(10)}, highest_grade=grades[-1])


def grades_of(evals, pairs):
    known = {(j.query_id, j.doc_id): j.relevance for j in evals.judgments}
    return [known[pair] for pair in pairs]


def test_twenty_pairs_of_all_grades_and_three_of_a_query_at_most(tmp_path):
    sixths = (0, 1, 2, 3, 4, 5), [8, 3, 3, 2, 2, 2]
    for grades, counts in ((GRADES, [8, 6, 6]), ((0, 1), [8, 12]), sixths):
        evals = many(tmp_path, grades)
        pairs = practice.pairs_to_practise(evals)
        assert len({*pairs}) == 20 and pairs == practice.pairs_to_practise(evals)
        given = grades_of(evals, pairs)
        assert [given.count(grade) for grade in grades] == counts
        of_query = [query_id for query_id, _ in pairs]
        assert max(map(of_query.count, of_query)) <= 3
        first = practice.first_three(evals)
        assert grades_of(evals, first) == sorted({0, 1, grades[-1]})
        assert {*first}.isdisjoint(pairs)
        assert len({id_ for pair in first for id_ in pair}) == 2 * len(first)
        assert "d00" not in dict(first).values()  # the long one


def test_the_first_three_have_everyday_words_and_zeros_that_look_right(tmp_path):
    evals = many(tmp_path)
    plain = evals.queries["q04"]._replace(kind="mismatch")
    assert "q04" not in dict(practice.first_three(evals))
    everyday = evals._replace(queries=evals.queries | {"q04": plain})
    assert "q04" in dict(practice.first_three(everyday))
    write_rows(tmp_path / "negatives.jsonl", {"query_id": "q07", "easy": [], "hard": ["d03"]})
    assert practice.first_three(evals)[0] == ("q07", "d03")


def test_hard_negatives_and_short_documents_come_first(tmp_path):
    evals = many(tmp_path)  # the zeros are d00, which is long, and d03
    for hard, zeros in (([], {"d03"}), (["d03"], {"d03"}), (["d00"], {"d00"})):
        rows = ({"query_id": query_id, "easy": [], "hard": hard} for query_id in evals.queries)
        write_rows(tmp_path / "negatives.jsonl", *rows)
        pairs = practice.pairs_to_practise(evals)
        grades = zip(pairs, grades_of(evals, pairs), strict=True)
        chosen = [doc_id for (_, doc_id), grade in grades if not grade]
        assert len(chosen) == 8 and {*chosen} == zeros


def test_queries_of_the_sets_language_and_documents_come_once_before_any_comes_again(tmp_path):
    evals = made(tmp_path, {f"q{n}": {m: m % 2 + 1 for m in range(1, 10)} for n in range(10)})
    queries = evals.queries | {"q3": evals.queries["q3"]._replace(language="nl")}
    pairs = practice.pairs_to_practise(evals._replace(queries=queries))
    assert {q for q, _ in pairs} == {*queries} - {"q3"}
    assert {d for _, d in pairs} == {f"d{n:02}" for n in range(1, 10)}


@pytest.fixture
def panels(monkeypatch):
    """Turn widgets on and note the panels that are shown."""
    shown = []
    monkeypatch.setenv("WORKBOOK_LIVE", "1")
    monkeypatch.setattr(panel.Panel, "show", lambda self: shown.append(self))
    return shown


def test_the_panel_opens_only_where_widgets_live_and_never_in_the_workbooks_set(
    tmp_path, panels, monkeypatch, capsys
):
    evals = many(tmp_path)
    pairs = practice.pairs_to_practise(evals)
    practice.judge(evals, pairs)
    assert len(panels) == 1 and capsys.readouterr().out == ""
    assert not panels[0].is_finding and panels[0].search not in panels[0].box.children
    monkeypatch.setenv("WORKBOOK_LIVE", "0")
    practice.judge(evals, pairs)
    monkeypatch.setenv("WORKBOOK_LIVE", "1")
    monkeypatch.setattr(evalset, "DEFAULT", tmp_path.resolve())
    practice.judge(evals, pairs)
    assert len(panels) == 1 and capsys.readouterr().out.count("uses the stored labels") == 2


def test_what_is_judged_goes_to_a_log_of_its_own_and_changes_no_label(tmp_path, panels):
    evals = many(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    practice.judge(evals, practice.pairs_to_practise(evals))
    for _ in range(3):
        panels[0].buttons["0"].click()
    practice.judge(evals, practice.pairs_to_practise(evals))
    shown, again = panels
    assert again.bar.value == 3 and again.turn == shown.turn
    shown.buttons["Finish"].click()
    message = html.unescape(shown.message.value)
    assert "3 of 20 judged" in message and "17 documents left" in message
    assert labelling.merge(evals) == 0 and {path: path.read_bytes() for path in before} == before
    assert (tmp_path / "practice.jsonl").exists() and not (tmp_path / "labelling.jsonl").exists()
    while again.turn:
        again.buttons["0"].click()
    assert "compares your labels with the stored ones" in again.document.value


def test_kappa_is_told_with_its_interval_or_why_it_has_none():
    for first, second, told in (
        ([0] * 20, [0, 1] * 10, "tells nothing, because all pairs have the same grade"),
        ([0, 1] * 10, [0] * 20, "tells nothing"),
        ([0, 1] * 4, [0, 1, 1, 1] * 2, "0.50 (no interval: too few pairs)"),
        ([0, 1] * 5, [0, 1] * 5, "1.00 (no interval: no pair differs)"),
        (FIRST, SECOND, "0.53 (95 % interval 0.10 to 0.96)"),
    ):
        assert practice.kappa_text(first, second, GRADES).startswith(told), told


def test_part_of_the_twenty_is_compared_with_the_pairs_that_differ_most(
    tmp_path, capsys, monkeypatch
):
    evals, seen, drawn = many(tmp_path), [], []
    monkeypatch.setattr(practice, "display", seen.append)
    monkeypatch.setattr(figures, "display_figure", lambda *figure: drawn.append(figure))
    practice.show_agreement(evals)
    assert capsys.readouterr().out == "no labels of yours yet, so there is nothing to compare\n"
    own = {("q00", "d02"): 0, ("q04", "d03"): 0, ("q01", "d00"): 1, ("q02", "d05"): 1}
    own |= dict.fromkeys(practice.first_three(evals), 2)  # they stay apart
    rows = [entry(*pair, grade, evidence="fact" * (grade > 0)) for pair, grade in own.items()]
    taken_back = {"undo": {"query_id": "q03", "doc_id": "d03", "time": "1"}}
    rows += [entry("q03", "d03", 0, time="1"), taken_back, entry("q00", "d11")]  # no stored label
    write_rows(tmp_path / PRACTICE, *rows, entry("q00", "d04", 1, evidence="fact 4."))
    practice.show_agreement(evals)
    lines = capsys.readouterr().out.splitlines()
    kappa = "Cohen's kappa: 0.17 (no interval: too few pairs)"
    assert lines == ["5 of 20 judged", kappa, "Gwet's AC1: 0.12"]
    ((figure, words),) = drawn
    grid = "yours 0 yours 1 yours 2 stored 0 1 1 0 stored 1 0 1 0 stored 2 1 1 0"
    kappa = "kappa 0.17 (no interval: too few pairs)"
    assert words.startswith(f"You and the stored labels: 2 of 5 equal; {kappa}. ") and grid in words
    cells = {}  # (stored, yours): marks, whose places round to their cell
    for line in figure.axes[0].lines:
        for x, y in zip(*line.get_data(), strict=True):
            cells.setdefault((round(y), round(x)), []).append(line.get_marker())
    differ = dict.fromkeys([(0, 1), (1, 0), (2, 0), (2, 1)], ["s"])
    assert sum(map(len, cells.values())) == 5 and cells.pop((1, 1), ["o"]) == ["o"]
    cells.pop((0, 0), cells.pop((2, 2), []))
    assert cells.items() <= differ.items()
    items = seen[0].data.split("<li>")[1:]
    told = (
        ("fact q00", "T2", "stored 2, yours 0", "evidence:</p><blockquote>fact 2.</blockquote>"),
        ("stored 0, yours 1", "No evidence is stored"),
        ("stored 2, yours 1",),
    )
    for item, words in zip(items, told, strict=True):
        assert all(part in item for part in words), item
    practice.show_three(evals)
    assert "2 pairs with different grades" in seen[1].data and seen[1].data.count("yours 2") == 2


def test_a_learners_copy_writes_a_picture_to_send(tmp_path, capsys, monkeypatch):
    evals = many(tmp_path)
    monkeypatch.chdir(tmp_path)
    practice.save_picture(evals, "where $x$", 9)
    assert "once you have labelled" in capsys.readouterr().out
    write_rows(tmp_path / PRACTICE, entry("q04", "d03", 0))
    practice.save_picture(evals, "where $x$", 9)
    assert "your copy writes session_a.png here" in capsys.readouterr().out
    (tmp_path / "progress.jsonl").touch()
    shown = []
    monkeypatch.setattr(practice.figures, "display_figure", lambda *told: shown.append(told[1]))
    practice.save_picture(evals, "where $x$", 9)
    assert len(shown) == 1 and shown[0].startswith("You and the stored labels: ")
    assert (tmp_path / "session_a.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == "session_a.png is written\n"
    saved = []
    monkeypatch.setattr(practice.record, "save_figure", lambda figure, _: saved.append(figure))
    for rank in (9, 0):
        practice.save_picture(evals, "where", rank)
    found, none = (" ".join(figure.axes[0].get_xlabel().split()) for figure in saved)
    assert found.endswith(" The search put the best answer to “where” at rank 9.")
    assert none.endswith(" The search found no answer to “where”.")
    figure, _ = practice.agreement_picture(evals, "\nbelow")
    assert figure.axes[0].get_xlabel().endswith("\nbelow")
