"""The labelling panel: it shows no more than it should, and loses and invents no judgment."""

import datetime
import html
import json
from pathlib import Path

import pytest
from conftest import write_rows
from judging import PROOF, do, entry, grades, logged, opened, two_by_twelve

from helpers import evalset
from helpers.labels import log, markup, merge, panel, schedule

HERE = Path(__file__).resolve().parents[1]
BODY = "Delete <old> logs.\n\nThen <|endoftext|> call Storage."


@pytest.fixture
def many(tmp_path):
    return two_by_twelve(tmp_path)


# What is shown.


def test_unknown_ids_are_named(folder):
    with pytest.raises(ValueError, match="(?s)query q9 is not.*document nil is not"):
        panel.Panel(evalset.load(folder), [("q9", "disk-full"), ("q1", "nil")])


def test_document_is_escaped_marked_and_without_its_origin(folder):
    shown = opened(folder)
    while shown.turn[:2] != ("q1", "disk-full"):
        shown.buttons["Skip"].click()
    assert "disk is full" in shown.query.value
    page = shown.document.value
    assert "<p>Delete &lt;old&gt; logs.</p>\n<p>Then &lt;|endoftext|&gt; call" in page
    assert "<mark>disk</mark>&#45;<mark>full</mark>" in page and "2026-04-08" in page
    assert [value for _, value in shown.choice.options] == ["disk-full", *BODY.split("\n\n")]


def test_words_of_most_documents_are_not_marked(many):
    rows = [{"doc_id": f"e{i}", "title": "x", "text": "fact b" if i < 2 else "y"} for i in range(8)]
    corpus = many.folder / "corpus.jsonl"
    former = [json.loads(line) for line in corpus.read_text().splitlines()]
    write_rows(corpus, *former, *rows)
    assert markup.telling_words(evalset.load(many.folder)) == {"a": {"a"}, "b": {"b"}}
    queries = [{"query_id": "a", "query": "the fact", "relevant_doc_ids": []}]
    write_rows(many.folder / "retrieval_queries.jsonl", *queries)
    (many.folder / "pool.jsonl").unlink()
    rows = [{"doc_id": f"f{i}", "title": "x", "text": "the fact"} for i in range(12)]
    write_rows(corpus, *rows)
    assert markup.telling_words(evalset.load(many.folder)) == {"a": {"the", "fact"}}


def test_guide_is_rendered_escaped_and_its_absence_is_a_hint(folder):
    assert "labeling_guide.md" in markup.guide_html(folder)
    (folder / "labeling_guide.md").write_text("\ufeff# Ours\n\n|g|m|\n|-|-|\n|2|<script>|\n")
    page = opened(folder).guide.children[0].value
    assert "<h1>Ours</h1>" in page and "<td>2</td>" in page and "&lt;script&gt;" in page
    assert opened(folder).guide.selected_index is None


def test_progress_counts_documents_and_queries(many):
    shown = panel.Panel(many, merge.pairs_to_judge(many), repeats=0)
    assert shown.count.value == "1 of 24, query 1 of 2" and shown.bar.value == 0
    for _ in range(12):
        shown.buttons["0"].click()
    assert shown.count.value == "13 of 24, query 2 of 2" and shown.bar.value == 12


def test_long_lines_are_cut_where_they_are_chosen_and_whole_as_evidence():
    lines = ["x" * 120, "", "  y" + "z" * 120]
    shown = markup.passages(evalset.Document("d", "", "\n".join(lines)))
    whole = "y" + "z" * 120
    assert shown == [("x" * 120, "x" * 120), (whole[:117] + "...", whole)]
    assert markup.help_of((0, 1)) == {
        "0": "0: does not help",
        "1": "1: answers it, with evidence",
        **markup.ACTIONS,
    }


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_of_repeats_that_is_none_is_refused(folder, share):
    with pytest.raises(ValueError, match=f"repeats is {share}, wanted a share from 0 to 1"):
        opened(folder, repeats=share)


# Judging.


def test_a_judgment_is_on_disk_before_the_next_document(folder, monkeypatch):
    shown, seen = opened(folder), []
    show = markup.document_html
    monkeypatch.setattr(
        markup, "document_html", lambda *a: seen.append(len(logged(folder))) or show(*a)
    )
    first, second = do(shown, 2), do(shown, 0)
    assert seen == [1, 2]
    rows = logged(folder)
    assert [(r["query_id"], r["doc_id"], r["relevance"]) for r in rows] == [
        (*first[:2], 2),
        (*second[:2], 0),
    ]
    names = ["query_id", "doc_id", "relevance", "evidence", "repeat", "time"]
    assert list(rows[0]) == names and rows[0]["repeat"] is False and rows[1]["evidence"] == ""
    assert rows[0]["evidence"] == PROOF[first.doc_id] and rows[0]["time"].endswith("+00:00")


@pytest.mark.parametrize("grade", "12")
@pytest.mark.parametrize("words", ["", "  \n", "delete the logs", "Add a consumer. Delete"])
def test_grades_need_evidence_that_stands_in_the_document(folder, grade, words):
    shown = opened(folder)
    before, shown.evidence.value = shown.turn, words
    shown.buttons[grade].click()
    assert "evidence" in shown.message.value and shown.turn == before
    assert not (folder / log.LOG).exists() and shown.evidence.value == words


def test_every_document_starts_without_evidence(folder):
    shown = opened(folder)
    for _ in range(4):
        assert shown.evidence.value == "" and shown.choice.index is None
        shown.buttons["2"].click()
        assert "needs evidence" in shown.message.value
        do(shown, 1)
    assert shown.turn is None and len(logged(folder)) == 4


def test_pasted_evidence_and_message_are_safe(folder):
    shown = opened(folder)
    shown.evidence.value = "<img src=x>"
    shown.buttons["1"].click()
    assert "<img" not in shown.message.value and "&#60;img" in shown.message.value
    shown.evidence.value = f"\n{PROOF[shown.turn.doc_id][:7]} "
    shown.buttons["1"].click()
    assert logged(folder)[0]["evidence"] in ("Delete", "Add a c")


def test_keys_act_at_once_and_empty_the_box(folder):
    shown = opened(folder)
    shown.key.value = "0"
    assert shown.key.value == "" and len(logged(folder)) == 1
    second = shown.turn
    shown.key.value = "S"
    assert shown.turn != second and len(logged(folder)) == 1
    shown.key.value = "x"
    assert (
        "Key x does nothing. Keys: 0, 1, 2, n for No answer, s for Skip, u for Undo, j for the next"
        in (shown.message.value)
    )
    assert shown.key.value == ""
    shown.choice.index = 1
    shown.key.value = "2"
    assert logged(folder)[1]["relevance"] == 2
    shown.key.value = "u"
    assert "undo" in logged(folder)[2]


def test_skip_moves_to_the_end_and_writes_nothing(folder):
    shown = opened(folder)
    skipped = shown.turn
    shown.buttons["Skip"].click()
    assert not (folder / log.LOG).exists()
    others = [do(shown, 0) for _ in range(3)]
    assert skipped not in others and shown.turn == skipped
    shown.buttons["Skip"].click()
    assert shown.turn == skipped and "last document left" in shown.message.value
    do(shown, 0)
    assert shown.turn is None and shown.buttons["Skip"].disabled


def test_undo_shows_the_document_again_and_reaches_back(folder):
    shown = opened(folder)
    first, second = do(shown, 2), do(shown, 0)
    shown.buttons["Undo"].click()
    assert shown.turn == second and grades(folder) == {first[:2]: 2}
    shown.buttons["Undo"].click()
    assert shown.turn == first and grades(folder) == {} and len(logged(folder)) == 4
    shown.buttons["Undo"].click()
    assert "nothing to undo" in shown.message.value and len(logged(folder)) == 4
    do(shown, 1)
    assert grades(folder) == {first[:2]: 1} and shown.turn == second


def test_undo_of_two_judgments_at_the_same_instant(folder, monkeypatch):
    monkeypatch.setattr(panel, "_now", lambda: "2026-11-21T12:00:00+00:00")
    shown = opened(folder)
    turn = do(shown, 0)
    shown.buttons["Undo"].click()
    do(shown, 1)
    assert grades(folder) == {turn[:2]: 1}


def test_resume_continues_where_the_log_stops(folder):
    shown = opened(folder, seed=3)
    done = [do(shown, 0), do(shown, 2)]
    again = opened(folder, seed=3)
    assert again.turn == shown.turn and again.bar.value == 2
    again.buttons["Undo"].click()
    assert again.turn == done[1] and grades(folder) == {done[0][:2]: 0}


# Panels and logs that change meanwhile.


def test_two_panels_see_each_other(folder):
    one, two = opened(folder), opened(folder)
    shared = do(one, 0)
    assert two.turn == shared
    two.buttons["Skip"].click()
    assert two.turn == one.turn  # not the shared one, which is judged
    seen = {do(two, 0)[:2], shared[:2]}
    one.buttons["Skip"].click()
    while one.turn:
        assert one.turn[:2] not in seen
        seen.add(do(one, 0)[:2])
    assert len(grades(folder)) == len(logged(folder)) == 4


def test_undo_leaves_what_another_panel_judged(folder):
    one, two = opened(folder), opened(folder, seed=5)
    mine, other = do(one, 0), do(two, 0)
    one.buttons["Undo"].click()
    one.buttons["Undo"].click()
    assert "nothing to undo" in one.message.value
    assert grades(folder) == ({other[:2]: 0} if mine != other else {})


def test_undo_leaves_what_is_gone_and_what_belongs_to_other_pairs(folder):
    log.append(folder / log.LOG, {**entry("q2"), "time": "1"})
    evals = evalset.load(folder)
    one = panel.Panel(evals, [("q1", "disk-full")], repeats=0)
    do(one, 0)
    two = panel.Panel(evals, [("q1", "disk-full")], repeats=0)
    two.buttons["Undo"].click()
    one.buttons["Undo"].click()
    assert "nothing to undo" in one.message.value
    assert grades(folder) == {("q2", "disk-full"): 0} and len(logged(folder)) == 3


def test_the_same_pair_in_two_panels_keeps_both_lines_and_says_so(folder):
    one, two = opened(folder), opened(folder)
    turn = do(one, 2)
    do(two, 1)
    assert "Another panel gave 2" in two.message.value
    assert grades(folder) == {turn[:2]: 1} and len(logged(folder)) == 2
    two.buttons["Undo"].click()
    assert grades(folder) == {turn[:2]: 2}


def test_a_log_that_breaks_meanwhile_is_a_message(folder):
    shown = opened(folder)
    (folder / log.LOG).write_text("{\n")
    before = shown.turn
    shown.buttons["0"].click()
    assert "labelling.jsonl:1: broken JSON" in shown.message.value and shown.turn == before


# The set.


def test_queries_without_labels_open_the_panel_and_end_the_run(folder, capsys):
    panel.require_labels(evalset.load(folder))
    assert capsys.readouterr().out == "2 queries, each with a relevant document\n"
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    queries.write_text(queries.read_text().replace('["disk-full"]', "[]"))
    with pytest.raises(panel.Unlabelled, match="Judge in the panel above") as stop:
        panel.require_labels(evalset.load(folder))
    assert stop.value._render_traceback_() == [str(stop.value)]
    shown = panel.Panel(evalset.load(folder), [("q1", "disk-full")], repeats=0)
    shown.evidence.value = "Delete <old> logs."
    shown.judge(2)
    assert merge.merge(evalset.load(folder)) == 1
    panel.require_labels(evalset.load(folder))
    queries.unlink()
    (folder / "judgments.jsonl").unlink()
    with pytest.raises(panel.Unlabelled, match="no queries yet"):
        panel.require_labels(evalset.load(folder))


def test_the_panel_offers_the_grades_of_the_set(folder):
    (folder / "settings.json").write_text('{"highest_grade": 3}')
    shown = opened(folder)
    assert [*shown.buttons] == ["0", "1", "2", "3", markup.ASIDE, "Skip", "Undo", "Finish"]
    assert shown.buttons["3"].tooltip == "3: answers it, with evidence"
    turn = do(shown, 3)
    shown.key.value = "0"
    assert [row["relevance"] for row in logged(folder)] == [3, 0]
    assert grades(folder)[turn[:2]] == 3
    (folder / "settings.json").unlink()
    with pytest.raises(evalset.EvalSetError, match="field relevance is 3, wanted 0, 1 or 2"):
        log.judgments(folder)


# Queries that no document answers.


def waiting(folder):
    """Write a pool of q1's two documents, which nobody has judged; q2 is in no pool."""
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    rows = [json.loads(line) for line in queries.read_text().splitlines()]
    write_rows(queries, *({**row, "kind": "symptom", "relevant_doc_ids": []} for row in rows))
    write_rows(
        folder / "pool.jsonl",
        *({"query_id": "q1", "doc_id": d, "rankers": ["hand"]} for d in PROOF),
    )
    return evalset.load(folder)


def panel_of(folder):
    evals = evalset.load(folder)
    return panel.Panel(evals, merge.pairs_to_judge(evals), repeats=0)


def live(shown):
    return {name for name, button in shown.buttons.items() if not button.disabled}


def test_a_query_without_an_answer_is_set_aside_with_one_click(folder, capsys):
    waiting(folder)
    shown = panel_of(folder)
    assert live(shown) == {"0", "1", "2", "Skip", "Undo", "Finish"}
    assert shown.count.value == "1 of 2, query 1 of 1" and shown.bar.max == 2
    shown.key.value = "n"
    assert "judge the documents of the query first" in shown.message.value
    do(shown, 0), do(shown, 0)
    assert "No document judged for this query answers it" in shown.document.value
    assert "panel.Panel(evals, [('q1', 'ID')]).show()" in html.unescape(shown.document.value)
    assert "disk is full" in shown.query.value and live(shown) == {
        markup.ASIDE,
        "Skip",
        "Undo",
        "Finish",
    }
    assert shown.count.value == "2 of 2 judged" and shown.evidence.layout.display == "none"
    shown.key.value = "2"
    assert "There is no document to grade: No answer, Skip or Undo" in shown.message.value
    shown.buttons[markup.ASIDE].click()
    assert "Set aside: no document answers q1" in shown.message.value
    assert logged(folder)[-1]["kind"] == "symptom" and shown.turn == ("q2", "", False)
    shown.buttons["Skip"].click()
    assert "This is the last question left" in shown.message.value
    shown.buttons[markup.ASIDE].click()
    page = shown.document.value
    assert "2 documents shown, all are judged" in page and "no document answers: q1, q2." in page
    assert "<b>Finish</b>" in page and "make report EVALS=folder" in page
    assert live(shown) == {"Undo", "Finish"}
    shown.key.value = "n"
    assert "No answer is for the end" in shown.message.value
    shown.key.value = "0"
    assert "no document left to judge" in shown.message.value
    shown.key.value = "s"
    assert "no document left to skip" in shown.message.value
    assert merge.merge(evalset.load(folder)) == 4
    after = evalset.load(folder)
    assert [*after.unanswered] == ["q1", "q2"] and not after.queries
    assert "every query is of kind none" in after.next_step()


def test_no_answer_is_taken_back_in_the_panel_before_and_after_the_merge(folder):
    waiting(folder)
    shown = panel_of(folder)
    do(shown, 0), do(shown, 0)
    for _ in range(2):
        shown.buttons[markup.ASIDE].click()
        assert shown.turn == ("q2", "", False)
        shown.buttons["Undo"].click()
        assert "Taken back: No answer." in shown.message.value
        assert shown.turn == ("q1", "", False) and log.verdicts(shown.evals)["q1"][0] is False
    shown.buttons[markup.ASIDE].click()
    shown.buttons[markup.ASIDE].click()
    merge.merge(evalset.load(folder))
    again = panel_of(folder)
    assert "There is nothing to judge" in again.document.value and "q1, q2" in again.document.value
    again.buttons["Undo"].click()
    assert again.turn == ("q2", "", False) and "queue" in again.query.value
    again.buttons[markup.ASIDE].click()
    again.buttons["Undo"].click()
    merge.merge(evalset.load(folder))
    after = evalset.load(folder)
    assert after.waiting == ["q2"] and after.queries["q2"].kind == "symptom"
    assert merge.pairs_to_judge(after) == [("q2", "")]


def test_a_document_can_be_judged_for_a_query_that_was_set_aside(folder, capsys):
    waiting(folder)
    shown = panel_of(folder)
    do(shown, 0), do(shown, 0)
    shown.buttons[markup.ASIDE].click()
    shown.buttons[markup.ASIDE].click()
    merge.merge(evalset.load(folder))
    found = panel.Panel(evalset.load(folder), [("q2", "queue-full")], repeats=0)
    do(found, 2)
    merge.merge(evalset.load(folder))
    after = evalset.load(folder)
    assert [*after.queries] == ["q2"] and after.next_step() != ""  # q2 is of the half test
    assert after.queries["q2"].kind == "symptom" and [*after.unanswered] == ["q1"]


def test_session_a_goes_on_with_the_queries_that_have_an_answer(folder, capsys):
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    page = queries.read_text().replace('["queue-full"]', '[], "kind": "none"')
    queries.write_text(page)
    panel.require_labels(evalset.load(folder))
    assert capsys.readouterr().out == (
        "1 query, each with a relevant document\nset aside, because no document answers: q2\n"
    )


def test_only_queries_that_wait_are_opened_before_the_session(folder, monkeypatch):
    waiting(folder)
    path = folder / "retrieval_queries.jsonl"
    path.write_text(
        path.read_text().replace(
            '"queue", "relevant_doc_ids": []', '"queue", "relevant_doc_ids": ["queue-full"]'
        )
    )
    row = {"query_id": "q2", "doc_id": "disk-full", "rankers": ["hand"]}
    write_rows(folder / "pool.jsonl", row)
    opens, opened_panel = [], panel.Panel
    monkeypatch.setattr(panel, "Panel", lambda *a: opens.append(a[1]) or opened_panel(*a))
    with pytest.raises(panel.Unlabelled):
        panel.require_labels(evalset.load(folder))
    assert opens == [[("q1", "")]]


def test_a_query_judged_0_everywhere_is_no_dead_end(folder):
    """Also when the zeros are in judgments.jsonl already, from an explicit list of pairs."""
    evals = waiting(folder)
    shown = panel.Panel(evals, [("q1", d) for d in PROOF], repeats=0)
    do(shown, 0), do(shown, 0)
    assert shown.turn is None
    merge.merge(evals)
    with pytest.raises(panel.Unlabelled, match="Judge in the panel above"):
        panel.require_labels(evalset.load(folder))
    asked = panel_of(folder)
    assert asked.turn == ("q1", "", False) and asked.count.value == "0 of 0 judged"


def test_names_in_the_panel_are_escaped(folder):
    query = evalset.Query("<b>", "<i>", ())
    assert "<b>'" not in markup.question_html(query) and "&#60;b&#62;" in markup.question_html(
        query
    )
    assert "<i>" not in markup.query_html(query)
    document = evalset.Document("d", "<s>", "x <p>", "<b>", "<i>", version="<v>")
    page = markup.document_html(document, set())
    assert not [mark for mark in ("<s>", "x <p>", "<b><", "<i>", "<v>") if mark in page]
    assert "unspecified" not in markup.document_html(evalset.Document("d", "t", "x"), set())
    assert markup.message_html("a\nb<c>").count("<br>") == 1 and "<c>" not in markup.message_html(
        "<c>"
    )
    given = [log.Entry("<q>", "<d>", 1), log.Entry("<q>", "<d>", 0, repeat=True)]
    page = markup.end_html(given, 1)
    assert "<q>" not in page and "<td>&#60;d&#62;</td>" in page
    assert "n = 1, 0% equal, weighted kappa (linear) 0.00." in page
    page = markup.end_html([log.Entry("<u>", "", 0)], 1)
    assert "<u>" not in page and "&#60;u&#62;" in page and "1 document shown" in page


# Word for word.


def made(query_id="q1", doc_id="d", **fields):
    """Return a set without files: one query and one document."""
    document = evalset.Document(doc_id, "Title", "Full disk.\n\nx", **fields)
    query = evalset.Query(query_id, "disk is full", (doc_id,))
    return evalset.EvalSet(evalset.DEFAULT, {doc_id: document}, {query_id: query}, [])


@pytest.mark.parametrize(
    ("documents", "having", "marked"),
    [(12, 10, True), (12, 11, False), (30, 15, True), (30, 16, False)],
)
def test_a_word_is_marked_in_up_to_ten_documents_or_half(documents, having, marked):
    rows = [evalset.Document(f"d{n}", "", "rare" * (n < having) or "x") for n in range(documents)]
    rows[0] = rows[0]._replace(text="rare own rare")
    query = evalset.Query("q", "own rare rare", ())
    evals = evalset.EvalSet(evalset.DEFAULT, {d.doc_id: d for d in rows}, {"q": query}, [])
    assert markup.telling_words(evals) == {"q": {"own", "rare"} if marked else {"own"}}


def test_the_document_word_for_word():
    fields = {"kind": "runbook", "service": "disk", "updated": "2026-04-08", "version": "2"}
    document = made(**fields).documents["d"]
    page = markup.document_html(document, {"disk"}).removeprefix(markup.PANEL_STYLE)
    assert page == (
        '<div class="labelling" role="region" tabindex="0" aria-label="Document" style="overflow:'
        'auto;padding:0.4em 0.9em;line-height:1.5;border:1px solid #999;max-height:26em">'
        '<b>Title</b><div class="facts" style="opacity:0.75;user-select:none">'
        "runbook · disk · 2026-04-08 · 2</div>"
        '<div style="overflow-wrap:anywhere;margin-top:0.5em">'
        "<p>Full <mark>disk</mark>.</p>\n<p>x</p>\n</div></div>"
    )
    assert markup.PANEL_STYLE.startswith("<style>") and markup.PANEL_STYLE.endswith("</style>")


def test_query_message_and_question_word_for_word():
    query = made("q's").queries["q's"]
    heading = '<div style="font-size:1.25em;font-weight:600">disk is full</div>'
    assert markup.query_html(query) == heading
    line = '<div role="status" style="min-height:1.5em;line-height:1.5;'
    assert markup.message_html("a\nb") == f'{line}opacity:0.8">a<br>b</div>'
    wrong = f'{line}color:var(--jp-error-color1,#b00020);font-weight:600">a</div>'
    assert markup.message_html("a", True) == wrong
    assert html.unescape(markup.question_html(query)).endswith(
        """<code>panel.Panel(evals, [("q's", 'ID')]).show()</code></p>"""
    )


def test_the_end_word_for_word():
    given = [log.Entry(q, "", 0) for q in ("q2", "q1", "q1")]
    aside = "<p>Set aside, because no document answers: q1, q2.</p>"
    assert markup.end_html([], 0) == f"<p>There is nothing to judge.</p>{markup.MERGED_THEN}"
    assert (
        markup.end_html(given, 0) == f"<p>There is nothing to judge.</p>{aside}{markup.MERGED_THEN}"
    )
    told = "<p>No document was shown twice, so your agreement with yourself is unknown.</p>"
    shown = "<p><b>3 documents shown, all are judged.</b></p>"
    assert markup.end_html(given, 3) == f"{shown}{told}{aside}{markup.MERGED_THEN}"
    again = [log.Entry("q", d, g) for d, g in (("a", 3), ("b", 0), ("c", 1))]
    again += [entry._replace(repeat=True, relevance=min(2, entry.relevance)) for entry in again]
    page = markup.end_html(again, 3, (0, 1, 2, 3))
    assert "n = 3, 67% equal, weighted kappa (linear) 0.73.</p>" in page
    assert page.count("<tr>") == 2 and "<tr><td>q</td><td>a</td><td>3</td><td>2</td></tr>" in page
    heads = "<th>query</th><th>document</th><th>first</th><th>second</th>"
    assert f"<table class='labelling'><tr>{heads}</tr>" in page
    assert markup.agreement_html(schedule.Agreement(0, None, None, [])) == told


def test_a_guide_brings_in_no_drawing_and_no_code(folder):
    (folder / "labeling_guide.md").write_text(
        "![a](https://x/y.png) [b](javascript:x) <img src=x>\n"
    )
    page = markup.guide_html(folder)
    assert '<img alt="a">' in page and "#harmful" in page and page.count("<img") == 1


def test_the_guide_word_for_word(folder):
    assert markup.guide_html(folder) == f"<p>No guide yet. {markup.NO_GUIDE}</p>"
    (folder / "labeling_guide.md").write_text("Grade <b>2</b>.\n")
    assert markup.guide_html(folder) == (
        f'{markup.PANEL_STYLE}<div class="labelling" style="{markup.FRAME};max-height:24em">'
        "<p>Grade &lt;b&gt;2&lt;/b&gt;.</p>\n</div>"
    )


def test_unknown_ids_are_named_in_order(folder):
    pairs = [("q9", "y"), ("q8", "disk-full"), ("q1", "x"), ("q1", "")]
    with pytest.raises(ValueError) as caught:
        panel.Panel(evalset.load(folder), pairs)
    assert str(caught.value).splitlines() == [
        "query q8 is not in retrieval_queries.jsonl, wanted one of the folder's ids",
        "query q9 is not in retrieval_queries.jsonl, wanted one of the folder's ids",
        "document x is not in the corpus, wanted one of the folder's ids",
        "document y is not in the corpus, wanted one of the folder's ids",
    ]


def test_a_tenth_of_the_documents_comes_twice_where_nothing_is_asked(many):
    pairs = merge.pairs_to_judge(many)
    shown = panel.Panel(many, pairs)
    assert shown.queue == schedule.schedule(pairs, 0, 0.1) and len(shown.queue) == 26
    assert shown.bar.max == 26 and shown.count.value == "1 of 26, query 1 of 2"
    assert len(panel.Panel(many, pairs, 0, 1).queue) == 48
    nothing = panel.Panel(many, [])
    assert (nothing.bar.max, nothing.bar.value, nothing.count.value) == (1, 0, "0 of 0 judged")
    assert nothing.query.value == "" and nothing.turn is None and not nothing.choice.options


def test_the_panel_from_top_to_bottom(folder):
    shown = opened(folder)
    progress, query, document, lines, choice, evidence, *rest = shown.box.children
    assert progress.children == (shown.bar, shown.count) and query is shown.query
    assert (document, evidence) == (shown.document, shown.evidence)
    assert (lines, choice) == (shown.lines, shown.choice)
    actions, message, guide = rest
    assert (message, guide) == (shown.message, shown.guide)
    assert actions.children == (*shown.buttons.values(), shown.key)
    assert [button.description for button in shown.buttons.values()] == [
        "0 does not help",
        "1 helps in part",
        "2 answers it",
        *("No answer", "Skip", "Undo", "Finish"),
    ]
    assert [button.tooltip for button in shown.buttons.values()] == [
        "0: does not help",
        "1: helps in part, with evidence",
        "2: answers it, with evidence",
        "n: no document answers this query, set it aside",
        "s: decide later",
        "u: take the last judgment back",
        "end here: what is judged goes into the folder",
    ]
    assert shown.key.placeholder == "0 1 2 n s u j k" and shown.choice.rows == 8
    assert guide.titles == ("Labelling guide",)
    assert (
        shown.key.tooltip.startswith("Keys: 0, 1, 2, n for No answer")
        and "j and k" in lines.tooltip
    )
    assert lines.description == "List of lines" and lines.layout.width == "max-content"


def test_the_panel_fits_a_notebook(folder):
    shown = opened(folder)
    button = shown.buttons["Skip"].layout
    assert (button.width, button.min_width, shown.bar.layout.width) == ("auto", "5em", "16em")
    assert (shown.key.layout.width, shown.choice.layout.width) == ("8em", "99%")
    assert (shown.evidence.layout.width, shown.evidence.layout.height) == ("99%", "4.5em")
    assert shown.box.layout.max_width == "60em"
    assert shown.box.children[0].layout.align_items == "center"


def test_a_grade_of_two_digits_has_a_button_and_no_key(folder):
    (folder / "settings.json").write_text('{"highest_grade": 10}')
    shown = opened(folder)
    assert [*shown.keys] == [*"0123456789nsujk"] and "10" in shown.buttons
    turn = do(shown, 10)
    assert grades(folder) == {turn[:2]: 10}
    shown.key.value = "x"
    assert "Key x does nothing. Keys: 0, 1, 2" in shown.message.value


def said(words, wrong=False):
    return markup.message_html(words, wrong)


def test_messages_word_for_word_and_red_where_something_is_wrong(folder):
    shown = opened(folder)
    assert shown.message.value == said("")
    shown.buttons["Undo"].click()
    assert shown.message.value == said("There is nothing to undo.", True)
    shown.buttons["2"].click()
    fault = f"Not saved: grade 2 needs evidence, wanted a passage of {shown.turn.doc_id}."
    fault += panel.SELECT
    assert shown.message.value == said(fault, True)
    shown.buttons["Skip"].click()
    assert shown.message.value == said("Skipped: it comes again at the end.")
    do(shown, 1)
    assert shown.message.value == said("Saved: 1.")
    shown.buttons["Undo"].click()
    assert shown.message.value == said("Taken back: 1.")
    shown.set_aside()
    aside = "No answer is for the end: judge the documents of the query first."
    assert shown.message.value == said(aside, True)
    for _ in range(3):
        do(shown, 0)
    shown.skip()
    assert shown.message.value == said("This is the last document left.", True)
    do(shown, 0)
    shown.skip()
    assert shown.message.value == said("There is no document left to skip.", True)
    shown.judge(0)
    left = "There is no document left to judge. Undo takes the last one back."
    assert shown.message.value == said(left, True)
    assert shown.count.value == "4 of 4 judged" and shown.bar.value == 4


def test_another_panels_grade_is_told(folder):
    one, two = opened(folder), opened(folder)
    do(one, 2)
    do(two, 1)
    other = "Saved: 1. Another panel gave 2: yours, the later, counts."
    assert two.message.value == said(other)


def test_a_document_is_shown_with_its_lines_and_the_end_without(folder):
    shown = opened(folder)
    parts = (shown.lines, shown.choice, shown.evidence)
    assert [part.layout.display for part in parts] == [None, "none", None]
    shown.lines.value = True
    assert [part.layout.display for part in parts] == [None, None, None]
    document = shown.evals.documents[shown.turn.doc_id]
    assert [*shown.choice.options] == markup.passages(document)
    assert shown.document.value == markup.document_html(document, shown.words[shown.turn.query_id])
    shown.choice.index = 1
    assert shown.evidence.value == shown.choice.options[1][1]
    shown.choice.index = None
    assert shown.evidence.value == PROOF[document.doc_id]  # what was pasted or chosen stays
    while shown.turn:
        do(shown, 0)
    assert [part.layout.display for part in parts] == ["none", "none", "none"]
    assert shown.query.value == "" and shown.choice.options == ()
    assert shown.document.value == markup.end_html(log.entries(shown.evals), 4)


def test_the_last_key_typed_counts(folder):
    shown = opened(folder)
    shown.key.value = "x0"
    assert [row["relevance"] for row in logged(folder)] == [0]
    shown.key.value = "U "
    assert "undo" in logged(folder)[1]
    before = shown.message.value
    shown.key.value = " "
    assert shown.message.value == before and shown.key.value == ""


def test_a_judgment_in_the_log_has_its_time_in_utc(folder, monkeypatch):
    monkeypatch.setattr(panel, "_now", lambda: "now")
    shown = opened(folder)
    turn = do(shown, 2)
    shown.buttons["Undo"].click()
    fields = {"query_id": turn.query_id, "doc_id": turn.doc_id}
    proof = {"relevance": 2, "evidence": PROOF[turn.doc_id]}
    undone = {"undo": {**fields, "repeat": False, "time": "now"}, "time": "now"}
    assert logged(folder) == [{**fields, **proof, "repeat": False, "time": "now"}, undone]
    monkeypatch.undo()
    assert datetime.datetime.fromisoformat(panel._now()).utcoffset() == datetime.timedelta(0)


def test_the_run_ends_with_what_comes_next(folder, monkeypatch):
    evals = evalset.load(folder)
    waits = evals._replace(
        judgments=[],
        queries={q: row._replace(relevant_doc_ids=()) for q, row in evals.queries.items()},
    )
    monkeypatch.setattr(panel.Panel, "show", lambda self: None)
    with pytest.raises(panel.Unlabelled) as stop:
        panel.require_labels(waits)
    words = "Judge in the panel above and click Finish, then run this notebook again."
    assert str(stop.value) == words and stop.value._render_traceback_() == [words]


def test_the_panel_is_displayed_where_it_is_asked_for(folder, monkeypatch):
    seen, shown = [], opened(folder)
    monkeypatch.setattr(panel, "display", seen.append)
    shown.show()
    assert seen == [shown.box]


# Evidence by selecting.


def test_what_is_selected_becomes_evidence_word_for_word(folder):
    shown = opened(folder)
    while shown.turn.doc_id != "disk-full":
        shown.buttons["Skip"].click()
    shown.document.selected = "logs.\nThen"
    assert shown.evidence.value == "logs.\n\nThen"
    assert shown.message.value == said("Evidence taken: 2 words. Choose a grade, or select anew.")
    shown.document.selected = ""  # a click
    assert shown.evidence.value == "logs.\n\nThen"
    shown.document.selected = "runbook"
    assert shown.evidence.value == "logs.\n\nThen" and "#b00020" in shown.message.value
    assert "No passage of the document reads like this" in shown.message.value
    shown.buttons["2"].click()
    assert logged(folder)[0]["evidence"] == "logs.\n\nThen"
    assert (shown.document.selected, shown.evidence.value) == ("", "")


def test_evidence_that_was_copied_as_it_is_shown_is_stored_word_for_word(folder):
    shown = opened(folder)
    while shown.turn.doc_id != "disk-full":
        shown.buttons["Skip"].click()
    shown.evidence.value = " logs. Then "
    shown.buttons["1"].click()
    assert logged(folder)[0]["evidence"] == "logs.\n\nThen"


def test_evidence_that_stands_in_the_text_as_it_was_typed_stays_so(folder):
    page = folder / "corpus" / "queue-full.md"
    page.write_text(
        page.read_text().replace("Add a consumer.", "Add a consumer. Add one. Add **one**.")
    )
    shown = opened(folder)
    while shown.turn.doc_id != "queue-full":
        shown.buttons["Skip"].click()
    shown.evidence.value = "Add **one**"
    shown.buttons["1"].click()
    assert logged(folder)[0]["evidence"] == "Add **one**"


def test_two_keys_go_through_the_lines(folder):
    shown = opened(folder)
    lines = markup.passages(shown.evals.documents[shown.turn.doc_id])
    for key, n in (("j", 0), ("J", 1), ("k", 0), ("k", 0), *(("j", 1),) * (len(lines) == 2)):
        shown.key.value = key
        assert shown.evidence.value == lines[n][1]
        assert shown.message.value == said(f"Line {n + 1} of {len(lines)}: {lines[n][0]}")
    assert shown.lines.value and shown.choice.layout.display is None
    for _ in lines:
        shown.key.value = "j"
    assert shown.evidence.value == lines[-1][1]
    shown.key.value = "2"
    assert logged(folder)[0]["evidence"] == lines[-1][1]
    while shown.turn:
        do(shown, 0)
    shown.key.value = "j"
    assert shown.message.value == said("There is no line to choose.", True)


def test_nothing_is_taken_where_no_document_is_shown(folder):
    shown = opened(folder)
    while shown.turn:
        do(shown, 0)
    shown.document.selected = "4 documents"
    assert shown.evidence.value == "" and shown.message.value == said("Saved: 0.")


# The end.


def test_finish_takes_the_log_into_the_folder_and_ends_the_panel(folder):
    (folder / "judgments.jsonl").unlink()
    shown = opened(folder)
    shown.buttons["Skip"].click()
    turn = do(shown, 2)
    shown.buttons["Finish"].click()
    done = "1 new judgment went from the log into the folder."
    left = "Run this notebook again to go on with them. 3 documents left: run this cell again to"
    assert shown.message.value == said(f"{done} {left} judge on.")
    stored = {(j.query_id, j.doc_id): j.relevance for j in evalset.load(folder).judgments}
    assert stored[turn.pair] == 2
    assert live(shown) == set() and shown.key.disabled and shown.turn is None
    assert shown.document.value == shown.query.value == "" and not shown.choice.options
    assert opened(folder).bar.value == 1


def test_finish_counts_one_document_left_or_none(folder):
    shown = opened(folder)
    for n in (3, 4):
        while shown.bar.value < n:
            do(shown, 0)
        again = opened(folder)
        again.task = panel.Task(log.LOG, lambda evals: "Done.", "")
        again.buttons["Finish"].click()
        rest = " 1 document left: run this cell again to judge on." if n == 3 else ""
        assert again.message.value == said(f"Done.{rest}")


def test_what_cannot_be_merged_is_told_and_the_panel_goes_on(folder):
    shown = opened(folder)
    while shown.turn.pair != ("q1", "disk-full"):
        shown.buttons["Skip"].click()
    do(shown, 1)
    shown.buttons["Finish"].click()
    assert "labelling.jsonl:1 says 1" in html.unescape(shown.message.value)
    assert "wanted one grade for the pair" in html.unescape(shown.message.value)
    assert shown.turn and "Undo" in live(shown)


def test_a_task_has_a_log_of_its_own(folder):
    task = panel.Task("mine.jsonl", lambda evals: f"Done in {evals.folder.name}.", "<p>Next</p>")
    shown = opened(folder, task=task)
    while shown.turn:
        do(shown, 0)
    assert shown.document.value.endswith("<p>Next</p>")
    shown.buttons["Undo"].click()
    assert not (folder / log.LOG).exists() and len((folder / "mine.jsonl").open().readlines()) == 5
    assert opened(folder, task=task).bar.value == 3 and opened(folder).bar.value == 0
    shown.buttons["Finish"].click()
    assert f"Done in {folder.name}. 1 document left" in html.unescape(shown.message.value)
