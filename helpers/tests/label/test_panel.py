"""The labelling panel: it shows no more than it should, and loses and invents no judgment."""

import html
import json
import re

import pytest
from conftest import write_rows
from judging import PROOF, do, grades, live, logged, opened
from labelled_sets import change, rows
from test_inert import RAW

from helpers.label import labelling, markup, panel
from helpers.label.labelling import LOG, Entry
from helpers.measure import evalset, installation
from helpers.measure.inert import Markup


def message(shown):
    """Return the words of the message, with ! before them where it is shown as wrong."""
    page = html.unescape(shown.message.value)
    return "!" * ("#b00020" in page) + re.sub(r"^<div[^>]*>|</div>$", "", page)


PAGES = {
    "# A b\n": "<h1>A <mark>b</mark></h1>\n",
    "a\nb": "<p>a<br>\n<mark>b</mark></p>\n",
    "- a\n- `b`": "<ul>\n<li>a</li>\n<li><code><mark>b</mark></code></li>\n</ul>\n",
    "1986. A year": '<ol start="1986">\n<li>A year</li>\n</ol>\n',
    "```sh\na b\n```": "<pre><code>a <mark>b</mark>&#10;</code></pre>\n",
    "<b>b</b>": "<p>&#60;<mark>b</mark>&#62;<mark>b</mark>&#60;/<mark>b</mark>&#62;</p>\n",
    "<div>\na\n</div>": "<p>&#60;div&#62;&#10;a&#10;&#60;/div&#62;</p>\n",
    "[a](https://x/b)": "<p>a (https&#58;//x/<mark>b</mark>)</p>\n",
    "<https://x>": "<p>&#60;https&#58;//x&#62;</p>\n",
    "![a](https://x/y.png)": "<p>a (https&#58;//x/y&#46;png)</p>\n",
    "[a][c]\n\n[c]: https://x": "<p>[a][c]</p>\n<p>[c]: https://x</p>\n",
    "~~a~~ **B**": "<p><del>a</del> <strong><mark>B</mark></strong></p>\n",
}


def test_markdown_is_rendered_with_the_words_of_the_query_marked():
    for text, page in PAGES.items():
        assert html.unescape(markup.markdown_html(text, {"b"})) == html.unescape(page), text
    page = html.unescape(markup.markdown_html("| a | b |\n|---|--:|\n| 1 | 2 \\| 3 |\n", {"b"}))
    assert re.findall(r"<t[hd][^>]*>(.*?)</t", page) == ["a", "<mark>b</mark>", "1", "2 | 3"]


def test_a_hostile_text_has_no_tags_but_those_of_a_text():
    tags = "p br mark strong em del code pre h1 ul ol li blockquote table thead tbody tr th td"
    for text in (*RAW.split("\n"), f"| {RAW} |", f"- {RAW}", f"```\n{RAW}"):
        seen = set(re.findall(r"<(\w+)([^>]*)>", markup.markdown_html(text, {"a"})))
        assert {tag for tag, _ in seen} <= {*tags.split(), "h2", "hr", "span"}, text
        assert {facts for _, facts in seen} <= {"", ' start="1"'}, text


def test_a_document_is_shown_with_its_facts_and_the_words_of_the_query_marked(folder):
    shown = opened(folder, [("q1", "disk-full")])
    page = html.unescape(shown.document.value)
    assert 'role="group" tabindex="0" aria-label="Document"' in page
    assert "<p>Delete <old> logs.</p>\n<p>Then <|endoftext|> call" in page
    assert "<old>" not in shown.document.value and "runbook · disk · 2026-04-08</div>" in page
    assert "<b><mark>disk</mark>-<mark>full</mark></b>" in page
    bare = markup.document_html(evalset.Document("d", "t", "x"), set())
    assert '<div class="facts">d</div>' in bare


def test_a_word_is_marked_in_up_to_ten_documents_or_half():
    query, common = evalset.Query("q", "own rare rare", ()), evalset.Query("r", "rare", ())
    for documents, having, marked in ((12, 10, 1), (12, 11, 0), (30, 15, 1), (30, 16, 0)):
        texts = ["rare own rare", *("rare" * (n < having) or "x" for n in range(1, documents))]
        corpus = {f"d{n}": evalset.Document(f"d{n}", "", text) for n, text in enumerate(texts)}
        evals = evalset.EvalSet(evalset.DEFAULT, corpus, {"q": query, "r": common}, [])
        words = {"own", "rare"} if marked else {"own"}
        assert markup.telling_words(evals) == {"q": words, "r": {"rare"}}  # else none would be


def test_the_guide_is_rendered_and_its_absence_is_a_hint(folder):
    assert "No guide yet" in markup.guide_html(folder)
    text = "\ufeff# Ours\n\n|g|\n|-|\n|<script>|\n\n[b](javascript:x)\n\n## Cases\n\nc\n"
    (folder / "labeling_guide.md").write_text(text)
    page = opened(folder).guide.value
    assert page.endswith("<h2>Cases</h2>\n<p>c</p>\n</div></details>")
    assert "<h1>Ours</h1>" in page and "<td>&#60;script&#62;</td>" in page
    assert "<p>b (javascript&#58;x)</p>" in page


def test_the_end_tells_agreement_and_what_was_set_aside():
    def end(entries, n, highest=2):
        return html.unescape(markup.end_html(entries, n, range(highest + 1), Markup("then")))

    aside = [Entry(q, "", 0) for q in ("q2", "q1", "q1")]
    assert end([], 0) == "<p>There is nothing to judge.</p>then"
    page = end(aside, 3)
    assert "3 documents shown, all are judged" in page and "No document was shown twice" in page
    assert page.endswith("<p>Set aside, because no document answers: q1, q2.</p>then")
    again = [Entry("q", d, g) for d, g in (("a", 3), ("b", 0), ("c", 1))]
    again += [e._replace(repeat=True, relevance=min(2, e.relevance)) for e in again]
    page = end(again, 3, highest=3)
    assert "n = 3, 67% equal, weighted kappa (linear) 0.73.</p>" in page
    page = end([Entry("q", "a", 2), Entry("q", "a", 2, repeat=True)], 1)
    assert "not defined (one grade only)" in page


def test_the_panel_offers_the_grades_of_the_set(folder):
    labels = ["0 does not help", "1 helps in part", "2 answers it"]
    labels += ["And this too", "Or this", "Skip", "Undo", "Finish", "No answer"]
    labels += ["Next query", "Accept", "One by one", "Blind"]
    shown = opened(folder)
    assert [button.description for button in shown.buttons.values()] == labels
    assert "<kbd>2</kbd> answers it · <kbd>s</kbd> Skip · <kbd>" in shown.key_line.value
    line = shown.box.children[0]
    assert line.children[0] is shown.key  # Tab goes there first
    named = {shown.key: "Keys", shown.evidence: "Evidence", shown.search: "Another page"}
    assert [box.description for box in named] == [*named.values()]
    (folder / "judgments.jsonl").unlink()
    for highest, keys in ((1, "01s+ojkf"), (10, "0123456789su+ojkf")):
        (folder / "settings.json").write_text(json.dumps({"highest_grade": highest}))
        shown = opened(folder)
        assert shown.buttons[str(highest)].description == f"{highest} answers it"
        assert re.findall("<kbd>(.*?)</kbd>", html.unescape(shown.key_line.value)) == [*keys]
        turn = do(shown, highest)
        assert grades(folder)[turn[:2]] == highest


def test_ids_that_the_folder_does_not_know_are_all_told(folder):
    with pytest.raises(evalset.EvalSetError) as caught:
        opened(folder, [("q9", "disk-full"), ("q8", ""), ("q1", "x"), ("q1", "")])
    named = [problem.partition(" is not in ")[0] for problem in caught.value.problems]
    assert named == ["document x", "query q8", "query q9"]


def test_a_judgment_is_on_disk_before_the_next_document(folder, monkeypatch):
    shown, lengths, show = opened(folder), [], markup.document_html
    noting = lambda *parts: lengths.append(len(logged(folder))) or show(*parts)  # noqa: E731
    monkeypatch.setattr(markup, "document_html", noting)
    first, second = do(shown, 2), do(shown, 0)
    assert lengths == [1, 2]
    shown.buttons["Undo"].click()
    times = [row["time"] for row in logged(folder)]
    assert all(time.endswith("+00:00") for time in times)
    proof = {"relevance": 2, "evidence": PROOF[first.doc_id], "time": times[0]}
    later = {"relevance": 0, "evidence": "", "time": times[1]}
    undo = {"undo": {**second._asdict(), "time": times[1]}, "time": times[2]}
    assert logged(folder) == [first._asdict() | proof, second._asdict() | later, undo]


def test_grades_need_evidence_that_stands_in_the_document(folder):
    shown = opened(folder)
    before = shown.turn
    for words in ("", "  \n", "delete the logs", "Add a consumer. Delete"):
        shown.evidence.value = words
        shown.buttons["1"].click()
        assert "evidence" in message(shown) and shown.turn == before, words
        assert not (folder / LOG).exists() and shown.evidence.value == words
    do(shown, 1)
    assert shown.evidence.value == ""  # a document starts without


def test_evidence_is_stored_word_for_word(folder):
    page = folder / "corpus" / "disk-full.md"
    page.write_text(f"{page.read_text()}call it. call **it**\n")
    for typed, evidence in (
        (" logs. Then ", "logs.\n\nThen"),  # copied as it is shown
        ("call **it**", "call **it**"),  # as it stands there, though the words stand there before
    ):
        (folder / LOG).unlink(missing_ok=True)
        shown = opened(folder, [("q1", "disk-full")])
        shown.evidence.value = typed
        shown.buttons["1"].click()
        assert logged(folder)[0]["evidence"] == evidence


def test_what_is_selected_becomes_evidence(folder):
    shown = opened(folder, [("q1", "disk-full")])
    for selected, evidence, told in (
        ("logs.\nThen", "logs.\n\nThen", "Evidence taken: 2 words."),
        ("", "logs.\n\nThen", "Evidence taken: 2 words."),  # a click
        ("runbook", "logs.\n\nThen", "!No passage reads like this"),
        ("elet", "Delete", "Evidence taken: 1 word."),
    ):
        shown.document.selected = selected
        assert shown.evidence.value == evidence and message(shown).startswith(told)
    shown.buttons["2"].click()
    assert (shown.turn, shown.document.selected, shown.evidence.value) == (None, "", "")
    shown.document.selected = "1 document"
    assert shown.evidence.value == "" and message(shown) == "Saved: 2."


def test_passages_that_prove_a_grade_only_together_are_taken_one_after_the_other(folder):
    (folder / "judgments.jsonl").unlink()
    shown = opened(folder, [("q1", "disk-full")])
    shown.key.value = "+"
    assert message(shown).startswith("!Take a passage first") and shown.evidence.value == ""
    shown.document.selected = "logs"
    shown.document.selected = "Delete"  # another one in its place
    shown.buttons["And this too"].click()
    assert "needed, too" in message(shown)
    for key in "jjk+":  # the first line in place of the second
        shown.key.value = key
    shown.document.selected = "runbook"  # is no passage of it
    shown.document.selected = "call\nStorage"
    assert shown.evidence.value == "Delete\n+\nDelete <old> logs.\n+\ncall Storage"
    shown.key.value = "2"
    together = ["Delete", "Delete <old> logs.", "call Storage"]
    assert logged(folder)[-1]["evidence"] == [together]
    shown.buttons["Undo"].click()
    for typed, told in (
        ("\n+\n", "grade 1 needs evidence"),
        ("Delete\n+\nadd a consumer", "evidence 'add a consumer' is not in disk-full"),
        ("\n+\nDelete", "Saved: 1."),
    ):
        shown.evidence.value = typed
        shown.buttons["1"].click()
        assert told in message(shown), typed
    assert logged(folder)[-1]["evidence"] == "Delete"
    shown.buttons["Undo"].click()
    shown.evidence.value = "Delete\n+\nStorage"
    shown.buttons["2"].click()
    assert labelling.merge(evalset.load(folder)) == 1
    labels = {label[:2]: label.evidence for label in evalset.load(folder).judgments}
    assert labels["q1", "disk-full"] == (("Delete", "Storage"),)


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
    assert message(shown).startswith("!Key x does nothing") and shown.key.value == ""
    shown.key.value = "u"
    assert "undo" in logged(folder)[1]


def test_two_keys_go_through_the_lines(folder):
    shown = opened(folder, [("q1", "disk-full")])
    lines = ["Delete <old> logs.", "Then <|endoftext|> call Storage."]  # the title is no evidence
    for key, n in (("j", 0), ("J", 1), ("k", 0), ("k", 0), ("j", 1), ("j", 1)):
        shown.key.value = key
        assert shown.evidence.value == lines[n]
        assert message(shown) == f"Line {n + 1} of 2: {lines[n]}"
    shown.key.value = "2"
    assert logged(folder)[0]["evidence"] == lines[1]
    shown.key.value = "j"
    assert message(shown) == "!next line does nothing now."


def test_a_document_without_lines_offers_none(folder):
    evals = evalset.load(folder)
    evals.documents["disk-full"] = evalset.Document("disk-full", "Disk full", " \n")
    shown = panel.Panel(evals, [("q1", "disk-full")])
    for key in "jk":
        shown.key.value = key
        assert (message(shown), shown.evidence.value) == (f"!{panel.NO_LINES}", "")


def test_undo_shows_the_document_again_and_reaches_back_also_after_a_restart(folder):
    shown = opened(folder)
    first, second = do(shown, 2), do(shown, 0)
    shown.buttons["Undo"].click()
    assert shown.turn == second and grades(folder) == {first[:2]: 2}
    again = opened(folder)
    assert again.turn == second and again.bar.value == 1
    again.buttons["Undo"].click()
    assert again.turn == first and grades(folder) == {} and len(logged(folder)) == 4
    assert "Undo" not in live(again)
    do(again, 1)
    assert grades(folder) == {first[:2]: 1} and again.turn == second
    other = opened(folder, [("q1", "queue-full"), ("q2", "queue-full")])
    other.buttons["Undo"].click()
    assert other.turn == first and grades(folder) == {}  # whatever else the panel holds


def pairs_waiting(folder):
    """Write a pool of q1's two documents, which nobody has judged; q2 is in no pool."""
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    change(queries, lambda row: {**row, "kind": "symptom", "relevant_doc_ids": []})
    pairs = [{"query_id": "q1", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *pairs)
    return labelling.pairs_to_judge(evalset.load(folder))


def test_a_query_without_an_answer_is_set_aside_with_one_click(folder):
    shown = opened(folder, pairs_waiting(folder))
    assert live(shown) == {"0", "1", "2", "And this too", "Or this", "Skip", "Finish"}
    assert (shown.bar.max, shown.count.value) == (2, "0 of 1 query, 0 relevant found")
    do(shown, 0), do(shown, 0)
    page = html.unescape(shown.document.value)
    assert "No document judged for this query answers it" in page and "disk" in shown.query.value
    assert "Look for it under <b>Another page</b>" in page
    assert live(shown) == {"No answer", "Skip", "Undo", "Finish"}
    assert shown.bar.value == 2 and shown.evidence.layout.display == "none"
    shown.key.value = "n"
    assert message(shown) == "Set aside: no document answers q1."
    assert logged(folder)[-1]["kind"] == "symptom" and shown.turn == ("q2", "", False)
    shown.buttons["Skip"].click()
    shown.buttons["No answer"].click()
    page = html.unescape(shown.document.value)
    assert "2 documents shown, all are judged" in page and "no document answers: q1, q2." in page
    assert "make report EVALS=folder" in page and live(shown) == {"Undo", "Finish"}


def test_the_session_stops_until_a_query_has_an_answer(folder, capsys, monkeypatch):
    def stops(words):
        with pytest.raises(evalset.EvalSetError, match=words):
            panel.require_labels(evalset.load(folder))

    queues, queries = [], folder / "retrieval_queries.jsonl"
    monkeypatch.setattr(panel.Panel, "show", lambda self: queues.append(self.queue))
    panel.require_labels(evalset.load(folder))
    assert capsys.readouterr().out == "2 queries, each with a relevant document\n"
    pairs_waiting(folder)
    first, second = rows(queries)
    write_rows(folder / "pool.jsonl", {"query_id": "q2", "doc_id": "disk-full", "rankers": []})
    stops("Judge in the panel above and click Finish")
    assert {turn[:2] for turn in queues.pop()} == {("q2", "disk-full"), ("q1", ""), ("q2", "")}
    former = {"query_id": "q2", "doc_id": "queue-full", "relevance": 1}
    write_rows(folder / "to_read.jsonl", former, former | {"query_id": "q1"})
    write_rows(folder / "pool.jsonl")
    stops("Judge in the panel above")
    turns = {turn[:2] for turn in queues.pop() if turn.doc_id}
    assert turns == {("q2", "queue-full"), ("q1", "queue-full")}
    answered = {**second, "relevant_doc_ids": ["disk-full"], "split": "dev"}
    write_rows(queries, first, answered)
    told = "1 query, each with a relevant document\n1 query left out: 1 waits for a label: q1\n"
    told += "2 pairs of to_read.jsonl to judge\n"
    for live_cell, shown in (("", 0), ("1", 1)):
        monkeypatch.setenv(installation.LIVE, live_cell)
        panel.require_labels(evalset.load(folder))
        assert (len(queues), capsys.readouterr().out) == (shown, told)
    assert {turn[:2] for turn in queues.pop()} == turns  # q1 is asked of the rest after these
    (folder / "to_read.jsonl").unlink()
    write_rows(queries, {**first, "kind": "none"}, answered)
    panel.require_labels(evalset.load(folder))
    told = "1 query, each with a relevant document\nset aside, because no document answers: q1\n"
    assert capsys.readouterr().out == told
    queries.write_text("")
    (folder / "pool.jsonl").unlink()
    stops("no queries yet")


def test_finish_takes_the_log_into_the_folder_and_ends_the_panel(folder):
    (folder / "judgments.jsonl").unlink()
    shown = opened(folder)
    shown.buttons["Skip"].click()
    turn = do(shown, 2)
    shown.buttons["Finish"].click()
    assert message(shown).startswith("1 new judgment went from the log into the folder.")
    assert message(shown).endswith("3 documents left: run this cell again to judge on.")
    assert {j[:2]: j.relevance for j in evalset.load(folder).judgments}[turn[:2]] == 2
    assert shown.box.children == (shown.message,)  # nothing is left to press
    shown.buttons["0"].click()  # a click that was on its way
    assert len(logged(folder)) == 1
    assert opened(folder).bar.value == 1


def test_each_passage_may_prove_a_grade_and_some_only_together(folder):
    shown = opened(folder, [("q1", "disk-full")])
    shown.document.selected = "Delete"
    shown.key.value = "o"
    assert "proves it by itself, too" in message(shown)
    shown.document.selected = "logs"
    shown.document.selected = "Storage"  # in its place
    shown.buttons["And this too"].click()
    shown.document.selected = "call"
    assert shown.evidence.value == "Delete\nor\nStorage\n+\ncall"
    shown.key.value = "2"
    assert logged(folder)[-1]["evidence"] == ["Delete", ["Storage", "call"]]
    shown.buttons["Undo"].click()


def test_a_page_that_nobody_proposed_is_looked_up_and_judged_for_the_query(folder):
    (folder / "judgments.jsonl").unlink()
    shown = opened(folder, [("q1", "disk-full")])
    shown.search.value = "consumer"
    page = html.unescape(shown.results.value)
    assert page == "<ol><li><b>queue-full</b><br>… <mark>consumer</mark>.</li></ol>"
    assert shown.search.value == "" and "number of a page" in message(shown)
    shown.search.value = "1"
    assert shown.turn[:2] == ("q1", "queue-full") and shown.results.value == ""
    assert "Add a consumer" in shown.document.value and message(shown) == ""
    shown.buttons["Skip"].click()
    assert shown.turn[:2] == ("q1", "disk-full") and message(shown) == "Left as it was."
    shown.search.value = "queue-full"  # its id
    do(shown, 1)
    assert shown.turn[:2] == ("q1", "disk-full")
    assert grades(folder) == {("q1", "queue-full"): 1}
    shown.search.value = "queue-full"
    assert (
        message(shown) == " Its grade so far: 1." and "before: grade 1 <q>Add" in shown.query.value
    )
    do(shown, 2)
    shown.buttons["Undo"].click()
    assert grades(folder) == {("q1", "queue-full"): 1}
    shown.buttons["Skip"].click()
    do(shown, 2)
    assert shown.turn is None and shown.search.disabled
    assert labelling.merge(evalset.load(folder)) == 2


def test_a_grade_is_changed_after_finish(folder, monkeypatch):
    panels = []
    monkeypatch.setattr(panel.Panel, "show", lambda self: panels.append(self))
    panel.reopen(evalset.load(folder), "q1")
    shown = panels.pop()
    assert len(shown.ahead) == 2 and "Its grade so far: " in message(shown)
    while shown.turn.doc_id != "disk-full":
        shown.buttons["Skip"].click()
    assert "before: grade 2 <q>Delete <old> logs.</q>" in html.unescape(shown.query.value)
    do(shown, 0)
    shown.buttons["Undo"].click()
    assert shown.turn[:2] == ("q1", "disk-full") and "so far: 2" in message(shown)
    do(shown, 1)
    assert logged(folder)[-1]["was"] == 2
    shown.buttons["Finish"].click()
    labels = {label[:2]: label.relevance for label in evalset.load(folder).judgments}
    assert labels["q1", "disk-full"] == 1 and labels["q1", "queue-full"] == 0
    with pytest.raises(evalset.EvalSetError, match="no label of query q9"):
        panel.reopen(evalset.load(folder), "q9")


def test_a_judgment_that_was_written_by_half_is_asked_again(folder):
    do(opened(folder), 0)
    path = folder / LOG
    path.write_bytes(path.read_bytes()[:-9])
    shown = opened(folder)
    assert message(shown) == "" and shown.bar.value == 0
    do(shown, 0)
    assert len(logged(folder)) == 1 and message(opened(folder)) == ""


BLOCKS = "One disk here\n\n| disk | full |\n|--|--|\n\nNothing\n\nfull disk now\nand then\n\nA disk"


def test_the_best_passages_stand_above_the_page_and_their_lines_come_first(folder):
    best = markup.best_passages(BLOCKS, {"disk", "full", "now"}, str.split)
    assert best == ["full disk now\nand then", "| disk | full |\n|--|--|", "One disk here"]
    assert markup.best_passages(BLOCKS, {"zebra"}, str.split) == []
    document = evalset.Document("d", "t", BLOCKS)
    page = html.unescape(markup.document_html(document, {"disk"}, best=best[:1]))
    assert "<blockquote>full <mark>disk</mark> now and then</blockquote>" in page
    assert page.index("<blockquote>") < page.index("One ")
    evals = evalset.load(folder)
    evals.documents["disk-full"] = document
    shown = panel.Panel(evals, [("q1", "disk-full")])
    first = ["| disk | full |", "full disk now", "and then", "One disk here"]
    for line in (*first, "Nothing", "A disk", "A disk"):
        shown.key.value = "j"
        assert shown.evidence.value == line
