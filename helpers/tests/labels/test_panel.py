"""The labelling panel: it shows no more than it should, and loses and invents no judgment."""

import datetime
import html
import json
import re

import pytest
from conftest import write_rows
from judging import PROOF, do, entry, grades, logged, opened, two_by_twelve
from test_inert import RAW

from helpers import evalset
from helpers.labels import log, markup, merge, panel, schedule

BODY = "Delete <old> logs.\n\nThen <|endoftext|> call Storage."
ALL = {"0", "1", "2", "Skip", "Finish"}


@pytest.fixture
def many(tmp_path):
    return two_by_twelve(tmp_path)


def live(shown):
    return {name for name, button in shown.buttons.items() if not button.disabled}


def said(words, wrong=False):
    return markup.message_html(words, wrong)


def skip_to(shown, doc_id):
    while shown.turn.doc_id != doc_id:
        shown.buttons["Skip"].click()


# Pages.


PAGES = {
    "# A b\n": "<h1>A <mark>b</mark></h1>\n",
    "a\nb": "<p>a<br>\n<mark>b</mark></p>\n",
    "- a\n- `b`": "<ul>\n<li>a</li>\n<li><code><mark>b</mark></code></li>\n</ul>\n",
    "1986. A year": '<ol start="1986">\n<li>A year</li>\n</ol>\n',
    "```sh\na b\n```": "<pre><code>a <mark>b</mark>&#10;</code></pre>\n",
    "<b>b</b>": "<p>&#60;<mark>b</mark>&#62;<mark>b</mark>&#60;/<mark>b</mark>&#62;</p>\n",
    "<div>\na\n</div>": "<p>&#60;div&#62;&#10;a&#10;&#60;/div&#62;</p>\n",
    "[a](https://x/b)": "<p>a (https&#58;//x/<mark>b</mark>)</p>\n",
    "<https://x>": "<p>https&#58;//x</p>\n",
    "![a](https://x/y.png)": "<p>a (https&#58;//x/y&#46;png)</p>\n",
    "~~a~~ **B**": "<p><del>a</del> <strong><mark>B</mark></strong></p>\n",
}


def test_markdown_is_rendered_with_the_words_of_the_query_marked():
    for text, page in PAGES.items():
        assert html.unescape(markup.rendered(text, {"b"})) == html.unescape(page), text
    page = html.unescape(markup.rendered("| a | b |\n|---|--:|\n| 1 | 2 \\| 3 |\n", {"b"}))
    assert re.findall(r"<t[hd][^>]*>(.*?)</t", page) == ["a", "<mark>b</mark>", "1", "2 | 3"]


def test_a_hostile_text_has_no_tags_but_those_of_a_text():
    tags = {"p", "br", "mark", "span", "strong", "em", "del", "code", "pre", "h1", "h2", "hr"}
    tags |= {"ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td"}
    for text in (RAW, *RAW.split("\n"), f"| {RAW} |", f"- {RAW}", f"```\n{RAW}"):
        seen = set(re.findall(r"<(\w+)([^>]*)>", markup.rendered(text, {"a"})))
        assert {tag for tag, _ in seen} <= tags, text
        assert {facts for _, facts in seen} <= {"", ' start="1"'}, text


def test_names_and_texts_in_the_panel_are_inert(folder):
    query = evalset.Query("<b>", "<i>", ())
    document = evalset.Document("d", "<b>", RAW, "<b>", "<b>", version="<b>")
    given = [log.Entry("<b>", "<b>", 1), log.Entry("<b>", "<b>", 0, repeat=True)]
    given.append(log.Entry("<i>", "", 0))
    pages = [markup.question_html(query), markup.query_html(query), markup.message_html("<b>")]
    pages += [markup.document_html(document, set()), markup.end_html(given, 1)]
    for page in pages:
        shown = page.replace("<b>No", "").replace("<b>1 doc", "").replace("<b>&#60;", "")
        assert not re.search("<b>(?!Finish)|<i>|<script|<img", shown), page
        assert "&#60;b&#62;" in page or "&#60;i&#62;" in page
    shown = opened(folder)
    for widget in (shown.query, shown.message, shown.count, shown.document):
        widget.value = "<b>x</b>"
        assert widget.value == "&#60;b&#62;x&#60;/b&#62;"


def test_the_document_has_its_facts_and_its_words_marked(folder):
    shown = opened(folder)
    skip_to(shown, "disk-full")
    page = shown.document.value
    assert 'role="region" tabindex="0" aria-label="Document"' in page
    shown_text = html.unescape(page)
    assert "<p>Delete <old> logs.</p>\n<p>Then <|endoftext|> call" in shown_text
    assert "<old>" not in page
    assert "runbook · disk · 2026-04-08</div>" in page
    assert ("<mark>disk</mark>&#45;<mark>full</mark>" in page) == (shown.turn.query_id == "q1")
    assert shown.lines == ["disk-full", *BODY.split("\n\n")]
    bare = markup.document_html(evalset.Document("d", "t", "x"), set())
    assert '<div class="facts"></div>' in bare


def test_a_word_is_marked_in_up_to_ten_documents_or_half():
    query, common = evalset.Query("q", "own rare rare", ()), evalset.Query("r", "rare", ())
    for documents, having, marked in ((12, 10, 1), (12, 11, 0), (30, 15, 1), (30, 16, 0)):
        texts = ["rare own rare", *("rare" * (n < having) or "x" for n in range(1, documents))]
        corpus = {f"d{n}": evalset.Document(f"d{n}", "", text) for n, text in enumerate(texts)}
        evals = evalset.EvalSet(evalset.DEFAULT, corpus, {"q": query, "r": common}, [])
        words = {"own", "rare"} if marked else {"own"}
        assert markup.telling_words(evals) == {"q": words, "r": {"rare"}}  # else none would be


def test_the_guide_is_rendered_and_its_absence_is_a_hint(folder):
    assert markup.guide_html(folder) == markup.NO_GUIDE
    text = "\ufeff# Ours\n\n|g|m|\n|-|-|\n|2|<script>|\n\n![a](https://x/y.png) [b](javascript:x)\n"
    (folder / "labeling_guide.md").write_text(text)
    shown = opened(folder).guide
    page = shown.children[0].value
    assert "<h1>Ours</h1>" in page and "<td>2</td>" in page and "&#60;script&#62;" in page
    assert "<p>a (https&#58;//x/y&#46;png) b (javascript&#58;x)</p>" in page
    assert shown.selected_index is None


def test_the_end_word_for_word():
    given = [log.Entry(q, "", 0) for q in ("q2", "q1", "q1")]
    aside = "<p>Set aside, because no document answers: q1, q2.</p>"
    nothing, then = "<p>There is nothing to judge.</p>", str(markup.MERGED_THEN)
    assert markup.end_html([], 0) == nothing + then
    assert markup.end_html(given, 0) == nothing + aside + then
    told = "<p>No document was shown twice, so your agreement with yourself is unknown.</p>"
    shown = "<p><b>3 documents shown, all are judged.</b></p>"
    assert markup.end_html(given, 3) == shown + told + aside + then
    again = [log.Entry("q", d, g) for d, g in (("a", 3), ("b", 0), ("c", 1))]
    again += [e._replace(repeat=True, relevance=min(2, e.relevance)) for e in again]
    page = markup.end_html(again, 3, (0, 1, 2, 3))
    assert "n = 3, 67% equal, weighted kappa (linear) 0.73.</p>" in page
    assert page.count("<tr>") == 2 and "<tr><td>q</td><td>a</td><td>3</td><td>2</td></tr>" in page
    alike = [log.Entry("q", "a", 2), log.Entry("q", "a", 2, repeat=True)]
    page = markup.end_html(alike, 1, then="<b>")
    assert "not defined (one grade only)" in page and "<table>" not in page
    assert page.endswith("&#60;b&#62;")


# The panel.


def test_the_panel_from_top_to_bottom(folder, monkeypatch):
    shown, seen = opened(folder), []
    rows = shown.box.children
    assert rows[0].children == (shown.bar, shown.count)
    assert rows[1:4] == (shown.query, shown.document, shown.evidence)
    assert rows[4].children == (*shown.buttons.values(), shown.key)
    assert rows[5:] == (shown.message, shown.guide) and shown.guide.titles == ("Labelling guide",)
    assert [(button.description, button.tooltip) for button in shown.buttons.values()] == [
        ("0 does not help", "0: does not help"),
        ("1 helps in part", "1: helps in part, with evidence"),
        ("2 answers it", "2: answers it, with evidence"),
        ("No answer", "n: no document answers this query, set it aside"),
        ("Skip", "s: decide later"),
        ("Undo", "u: take the last judgment back"),
        ("Finish", "end here: what is judged goes into the folder"),
    ]
    assert shown.key.placeholder == "0 1 2 n s u j k" and "j and k" in shown.evidence.tooltip
    monkeypatch.setattr(panel, "display", seen.append)
    shown.show()
    assert seen == [shown.box]


def test_the_panel_offers_the_grades_of_the_set(folder):
    (folder / "judgments.jsonl").unlink()
    for highest, means, keys in (
        (1, "0 does not help|1 answers it", "01nsujk"),
        (10, "10 answers it", "0123456789nsujk"),
    ):
        (folder / "settings.json").write_text(json.dumps({"highest_grade": highest}))
        shown = opened(folder)
        assert means in "|".join(button.description for button in shown.buttons.values())
        assert [*shown.keys] == [*keys]
        turn = do(shown, highest)
        assert grades(folder)[turn[:2]] == highest


def test_progress_counts_documents_and_queries(many):
    shown = panel.Panel(many, merge.pairs_to_judge(many), repeats=0)
    assert shown.count.value == "1 of 24, query 1 of 2" and shown.bar.value == 0
    for _ in range(12):
        shown.buttons["0"].click()
    assert shown.count.value == "13 of 24, query 2 of 2" and shown.bar.value == 12
    pairs = merge.pairs_to_judge(many)
    assert panel.Panel(many, pairs).queue == schedule.schedule(pairs, 0, 0.1)
    nothing = panel.Panel(many, [])
    assert (nothing.bar.max, nothing.bar.value, nothing.count.value) == (1, 0, "0 of 0 judged")
    assert nothing.query.value == "" and nothing.turn is None and not nothing.lines


def test_what_the_folder_does_not_know_is_refused(folder):
    pairs = [("q9", "y"), ("q8", "disk-full"), ("q1", "x"), ("q1", "")]
    with pytest.raises(ValueError) as caught:
        panel.Panel(evalset.load(folder), pairs)
    assert str(caught.value).splitlines() == [
        "document x is not in the corpus, wanted one of the folder's ids",
        "document y is not in the corpus, wanted one of the folder's ids",
        "query q8 is not in retrieval_queries.jsonl, wanted one of the folder's ids",
        "query q9 is not in retrieval_queries.jsonl, wanted one of the folder's ids",
    ]
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match=f"repeats is {share}, wanted a share from 0 to 1"):
            opened(folder, repeats=share)


# Judging.


def test_a_judgment_is_on_disk_before_the_next_document(folder, monkeypatch):
    shown, seen, show = opened(folder), [], markup.document_html
    noting = lambda *given: seen.append(len(logged(folder))) or show(*given)  # noqa: E731
    monkeypatch.setattr(markup, "document_html", noting)
    monkeypatch.setattr(panel, "_now", lambda: "now")
    first, second = do(shown, 2), do(shown, 0)
    assert seen == [1, 2]
    more = {"repeat": False, "time": "now"}
    proof = {"relevance": 2, "evidence": PROOF[first.doc_id]}
    pairs = [{"query_id": turn.query_id, "doc_id": turn.doc_id} for turn in (first, second)]
    assert logged(folder) == [pairs[0] | proof | more, entry(*second[:2], **more)]
    shown.buttons["Undo"].click()
    assert logged(folder)[2] == {"undo": pairs[1] | more, "time": "now"}
    monkeypatch.undo()
    assert datetime.datetime.fromisoformat(panel._now()).utcoffset() == datetime.timedelta(0)


def test_grades_need_evidence_that_stands_in_the_document(folder):
    shown = opened(folder)
    before = shown.turn
    for words in ("", "  \n", "delete the logs", "Add a consumer. Delete", "<img>"):
        for grade in "12":
            shown.evidence.value = words
            shown.buttons[grade].click()
            assert "evidence" in shown.message.value and shown.turn == before, words
            assert ("Select the words" in shown.message.value) == (not words.strip())
            assert not (folder / log.LOG).exists() and shown.evidence.value == words
    do(shown, 1)
    assert shown.evidence.value == ""  # a document starts without


def test_evidence_is_stored_word_for_word(folder):
    page = folder / "corpus" / "disk-full.md"
    page.write_text(f"{page.read_text()}call it. call **it**\n")
    for typed, evidence in (
        ("\nDelete ", "Delete"),
        (" logs. Then ", "logs.\n\nThen"),  # copied as it is shown
        ("call **it**", "call **it**"),  # as it stands there, though the words stand there before
    ):
        (folder / log.LOG).unlink(missing_ok=True)
        shown = opened(folder)
        skip_to(shown, "disk-full")
        shown.evidence.value = typed
        shown.buttons["1"].click()
        assert logged(folder)[0]["evidence"] == evidence


def test_what_is_selected_becomes_evidence(folder):
    shown = opened(folder)
    skip_to(shown, "disk-full")
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
    while shown.turn:
        do(shown, 0)
    shown.document.selected = "4 documents"
    assert shown.evidence.value == "" and shown.message.value == said("Saved: 0.")


def test_keys_act_at_once_and_empty_the_box(folder):
    shown = opened(folder)
    shown.key.value = "x0"  # the last one counts
    assert shown.key.value == "" and [row["relevance"] for row in logged(folder)] == [0]
    second = shown.turn
    shown.key.value = "S "
    assert shown.turn != second and len(logged(folder)) == 1
    before = shown.message.value
    shown.key.value = " "
    assert shown.message.value == before and shown.key.value == ""
    shown.key.value = "x"
    told = "Keys: 0, 1, 2, n for No answer, s for Skip, u for Undo, j for the next line, k for the"
    assert f"Key x does nothing. {told}" in shown.message.value and shown.key.value == ""
    shown.key.value = "u"
    assert "undo" in logged(folder)[1]


def test_two_keys_go_through_the_lines(folder):
    shown = opened(folder)
    skip_to(shown, "disk-full")
    lines = ["disk-full", *BODY.split("\n\n")]
    for key, n in (("j", 0), ("J", 1), ("k", 0), ("k", 0), ("j", 1), ("j", 2), ("j", 2)):
        shown.key.value = key
        assert shown.evidence.value == lines[n]
        assert shown.message.value == said(f"Line {n + 1} of 3: {lines[n]}")
    shown.key.value = "2"
    assert logged(folder)[0]["evidence"] == lines[2]
    while shown.turn:
        do(shown, 0)
    assert shown.evidence.layout.display == "none"
    shown.key.value = "j"
    assert "the next line does nothing now. Choose one of: Undo, Finish." in shown.message.value


def test_messages_word_for_word_and_red_where_something_is_wrong(folder):
    shown = opened(folder)
    assert shown.message.value == said("")
    first, seen = shown.turn, []
    document = "0, 1, 2, the next line, the line before, Skip"
    now = "does nothing now. Choose one of:"
    steps = [
        ("u", f"Undo {now} {document}, Finish.", True),
        ("Skip", "Skipped: it comes again at the end.", False),
        ("0", "Saved: 0.", False),
        ("Undo", "Taken back: 0.", False),
        ("0", "Saved: 0.", False),
        ("n", f"No answer {now} {document}, Undo, Finish.", True),
        *[("0", "Saved: 0.", False)] * 2,
        ("Skip", "Skipped: it comes again at the end.", False),
        ("0", "Saved: 0.", False),
        ("s", f"Skip {now} Undo, Finish.", True),
        ("0", f"0 {now} Undo, Finish.", True),
    ]
    for name, words, wrong in steps:
        if name in shown.buttons and not shown.buttons[name].disabled:
            shown.buttons[name].click()
        else:
            shown.key.value = name
        assert shown.message.value == said(words, wrong)
        seen.append((folder / log.LOG).exists())
        assert shown.turn == first or len(seen) != 9  # it is the only one left
    assert seen[:3] == [False, False, True]  # a skip writes nothing
    assert shown.count.value == "4 of 4 judged" and shown.bar.value == 4
    line = '<div role="status" style="min-height:1.5em;line-height:1.5;opacity:0.8">a<br>b</div>'
    assert said("a\nb") == line


def test_undo_shows_the_document_again_and_reaches_back_also_after_a_restart(folder, monkeypatch):
    monkeypatch.setattr(panel, "_now", lambda: "the same instant")
    shown = opened(folder, seed=3)
    first, second = do(shown, 2), do(shown, 0)
    shown.buttons["Undo"].click()
    assert shown.turn == second and grades(folder) == {first[:2]: 2}
    again = opened(folder, seed=3)
    assert again.turn == second and again.bar.value == 1
    again.buttons["Undo"].click()
    assert again.turn == first and grades(folder) == {} and len(logged(folder)) == 4
    assert "Undo" not in live(again)
    do(again, 1)
    assert grades(folder) == {first[:2]: 1} and again.turn == second
    (other,) = {"q1", "q2"} - {first.query_id}
    of_another_query = panel.Panel(evalset.load(folder), [(other, "disk-full")], repeats=0)
    assert "Undo" not in live(of_another_query)  # what belongs to other pairs is left


def test_a_second_panel_goes_on_with_the_log_and_a_broken_log_is_told(folder):
    one, two = opened(folder), opened(folder)
    skip_to(two, "queue-full") if one.turn.doc_id == "disk-full" else skip_to(two, "disk-full")
    first, second = do(one, 2), do(two, 1)
    assert grades(folder) == {first[:2]: 2, second[:2]: 1} and two.bar.value == 2
    turn = two.turn
    (folder / log.LOG).write_text("{\n")
    two.buttons["0"].click()
    assert "labelling.jsonl:1: broken JSON" in html.unescape(two.message.value)
    assert two.turn == turn


# Queries that no document answers.


def waiting(folder):
    """Write a pool of q1's two documents, which nobody has judged; q2 is in no pool."""
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    rows = [json.loads(line) for line in queries.read_text().splitlines()]
    write_rows(queries, *({**row, "kind": "symptom", "relevant_doc_ids": []} for row in rows))
    pairs = [{"query_id": "q1", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *pairs)
    return evalset.load(folder)


def panel_of(folder):
    evals = evalset.load(folder)
    return panel.Panel(evals, merge.pairs_to_judge(evals), repeats=0)


def test_a_query_without_an_answer_is_set_aside_with_one_click(folder):
    waiting(folder)
    shown = panel_of(folder)
    assert live(shown) == ALL and shown.bar.max == 2
    assert shown.count.value == "1 of 2, query 1 of 1"
    do(shown, 0), do(shown, 0)
    assert "No document judged for this query answers it" in shown.document.value
    assert "panel.Panel(evals, [('q1', 'ID')]).show()" in html.unescape(shown.document.value)
    assert "disk is full" in shown.query.value
    assert live(shown) == {markup.ASIDE, "Skip", "Undo", "Finish"}
    assert shown.count.value == "2 of 2 judged" and shown.evidence.layout.display == "none"
    shown.key.value = "2"
    assert "2 does nothing now. Choose one of: No answer, Skip, Undo, F" in shown.message.value
    shown.buttons[markup.ASIDE].click()
    assert "Set aside: no document answers q1" in shown.message.value
    assert logged(folder)[-1]["kind"] == "symptom" and shown.turn == ("q2", "", False)
    shown.buttons["Skip"].click()
    shown.buttons[markup.ASIDE].click()
    page = shown.document.value
    assert "2 documents shown, all are judged" in page and "no document answers: q1, q2." in page
    assert "make report EVALS=folder" in page and live(shown) == {"Undo", "Finish"}
    assert merge.merge(evalset.load(folder)) == 4
    after = evalset.load(folder)
    assert [*after.unanswered] == ["q1", "q2"] and not after.queries


def test_no_answer_is_taken_back_before_and_after_the_merge(folder):
    waiting(folder)
    shown = panel_of(folder)
    do(shown, 0), do(shown, 0)
    for _ in range(2):
        shown.buttons[markup.ASIDE].click()
        assert shown.turn == ("q2", "", False)
        shown.buttons["Undo"].click()
        assert "Taken back: No answer." in shown.message.value
        assert shown.turn == ("q1", "", False)
    shown.buttons[markup.ASIDE].click()
    shown.buttons[markup.ASIDE].click()
    merge.merge(evalset.load(folder))
    again = panel_of(folder)
    assert "There is nothing to judge" in again.document.value and "q1, q2" in again.document.value
    again.buttons["Undo"].click()
    assert again.turn == ("q2", "", False) and "queue" in again.query.value
    merge.merge(evalset.load(folder))
    after = evalset.load(folder)
    assert after.waiting == ["q2"] and after.queries["q2"].kind == "symptom"
    found = panel.Panel(after, [("q1", "disk-full")], repeats=0)  # after all, one answers
    assert found.turn is None and not found.queue[0].repeat
    found = panel.Panel(after, [("q2", "queue-full")], repeats=0)
    do(found, 2)
    merge.merge(after)
    assert [*evalset.load(folder).queries] == ["q2"]


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


# The session, and the end.


def test_the_session_stops_until_each_query_has_an_answer(folder, capsys, monkeypatch):
    opens = []
    monkeypatch.setattr(panel.Panel, "show", lambda self: opens.append(self.queue))
    panel.require_labels(evalset.load(folder))
    assert capsys.readouterr().out == "2 queries, each with a relevant document\n"
    waiting(folder)
    queries = folder / "retrieval_queries.jsonl"
    first, second = (json.loads(line) for line in queries.read_text().splitlines())
    write_rows(queries, first, {**second, "relevant_doc_ids": ["queue-full"]})
    write_rows(folder / "pool.jsonl", {"query_id": "q2", "doc_id": "disk-full", "rankers": []})
    words = "Judge in the panel above and click Finish, then run this notebook again."
    with pytest.raises(panel.Unlabelled) as stop:
        panel.require_labels(evalset.load(folder))
    assert str(stop.value) == words and stop.value._render_traceback_() == [words]
    assert opens == [[("q1", "", False)]]  # q2 has an answer
    write_rows(folder / log.LOG, entry("q1", "", kind="symptom"))
    merge.merge(evalset.load(folder))
    evals = evalset.load(folder)
    half = {"q2": evals.queries["q2"]._replace(split="dev")}
    panel.require_labels(evals._replace(queries=half))
    told = "1 query, each with a relevant document\nset aside, because no document answers: q1\n"
    assert capsys.readouterr().out == told
    queries.write_text("")
    (folder / "pool.jsonl").unlink()
    with pytest.raises(panel.Unlabelled, match="no queries yet"):
        panel.require_labels(evalset.load(folder))


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
    assert shown.document.value == shown.query.value == "" and not shown.lines
    assert opened(folder).bar.value == 1


def test_what_cannot_be_merged_is_told_and_the_panel_goes_on(folder):
    shown = opened(folder)
    while shown.turn.pair != ("q1", "disk-full"):
        shown.buttons["Skip"].click()
    do(shown, 1)
    shown.buttons["Finish"].click()
    assert "labelling.jsonl:1 says 1" in html.unescape(shown.message.value)
    assert "wanted one grade for the pair" in html.unescape(shown.message.value)
    assert shown.turn and "Undo" in live(shown)
