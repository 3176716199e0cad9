"""The labelling panel: no judgment is lost, none is invented, and the folder stays valid."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import write_rows

from helpers import evalset, records
from helpers.labels import panel as labelling

HERE = Path(__file__).resolve().parents[1]
BODY = "Delete <old> logs.\n\nThen <|endoftext|> call Storage."
PROOF = {"disk-full": "Delete <old> logs.", "queue-full": "Add a consumer."}


@pytest.fixture
def many(tmp_path):
    """Return a set with two queries, twelve documents and a pool of all pairs."""
    documents = [{"doc_id": f"d{i:02}", "title": f"T{i}", "text": f"Fact {i}."} for i in range(12)]
    write_rows(tmp_path / "corpus.jsonl", *documents)
    queries = [{"query_id": q, "query": f"fact {q}", "relevant_doc_ids": ["d00"]} for q in "ab"]
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    pairs = [{"query_id": q, "doc_id": d["doc_id"]} for q in "ab" for d in documents]
    write_rows(tmp_path / "pool.jsonl", *[{**pair, "rankers": ["hand"]} for pair in pairs])
    return evalset.load(tmp_path)


def panel(folder, **options):
    evals = evalset.load(folder)
    pairs = [(q, d) for q in evals.queries for d in evals.documents]
    return labelling.Panel(evals, pairs, **{"repeats": 0, **options})


def log(folder):
    return [json.loads(line) for line in (folder / labelling.LOG).read_text().splitlines()]


def grades(folder):
    return {(j.query_id, j.doc_id): j.relevance for j in labelling.judgments(folder)}


def do(shown, grade):
    """Give the shown document a grade with good evidence, and return the step it was."""
    step = shown.step
    shown.choice.index = 1
    shown.buttons[str(grade)].click()
    return step


def entry(query_id="q1", doc_id="disk-full", relevance=0, **more):
    return {"query_id": query_id, "doc_id": doc_id, "relevance": relevance, "evidence": "", **more}


# What is shown.


def test_unknown_ids_are_named(folder):
    with pytest.raises(ValueError, match="(?s)query q9 is not.*document nil is not"):
        labelling.Panel(evalset.load(folder), [("q9", "disk-full"), ("q1", "nil")])


def test_document_is_escaped_marked_and_without_its_origin(folder):
    shown = panel(folder)
    while shown.step[:2] != ("q1", "disk-full"):
        shown.buttons["Skip"].click()
    assert "disk is full" in shown.query.value
    page = shown.document.value
    assert "Delete &lt;old&gt; logs.\n\nThen &lt;|endoftext|&gt;" in page and "pre-wrap" in page
    assert "<mark>disk</mark>-<mark>full</mark>" in page and "2026-04-08" in page
    assert [value for _, value in shown.choice.options] == ["disk-full", *BODY.split("\n\n")]


def test_words_of_most_documents_are_not_marked(many):
    rows = [{"doc_id": f"e{i}", "title": "x", "text": "fact b" if i < 2 else "y"} for i in range(8)]
    corpus = many.folder / "corpus.jsonl"
    former = [json.loads(line) for line in corpus.read_text().splitlines()]
    write_rows(corpus, *former, *rows)
    assert labelling.telling_words(evalset.load(many.folder)) == {"a": {"a"}, "b": {"b"}}


def test_guide_is_rendered_escaped_and_its_absence_is_a_hint(folder):
    assert "labeling_guide.md" in labelling.guide_html(folder)
    (folder / "labeling_guide.md").write_text("# Ours\n\n|g|m|\n|-|-|\n|2|<script>|\n")
    page = panel(folder).guide.children[0].value
    assert "<h1>Ours</h1>" in page and "<td>2</td>" in page and "&lt;script&gt;" in page
    assert panel(folder).guide.selected_index is None


def test_order_is_seeded_and_query_by_query(many):
    pairs = labelling.pairs_to_judge(many)
    steps = labelling.schedule(pairs, seed=1, repeats=0)
    assert steps == labelling.schedule(pairs[::-1], seed=1, repeats=0)
    assert steps != labelling.schedule(pairs, seed=2, repeats=0)
    assert sorted(s[:2] for s in steps) == pairs and [s[:2] for s in steps] != pairs
    assert len({s.query_id for s in steps[:12]}) == len({s.query_id for s in steps[12:]}) == 1


def test_queries_are_shuffled_too():
    pairs = [(q, "d") for q in "abcdef"]
    assert len({labelling.schedule(pairs, seed)[0] for seed in range(9)}) > 2


def test_progress_counts_documents_and_queries(many):
    shown = labelling.Panel(many, labelling.pairs_to_judge(many), repeats=0)
    assert shown.count.value == "1 of 24, query 1 of 2" and shown.bar.value == 0
    for _ in range(12):
        shown.buttons["0"].click()
    assert shown.count.value == "13 of 24, query 2 of 2" and shown.bar.value == 12


# Judging.


def test_a_judgment_is_on_disk_before_the_next_document(folder, monkeypatch):
    shown, seen = panel(folder), []
    show = labelling.document_html
    monkeypatch.setattr(
        labelling, "document_html", lambda *a: seen.append(len(log(folder))) or show(*a)
    )
    first, second = do(shown, 2), do(shown, 0)
    assert seen == [1, 2]
    rows = log(folder)
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
    shown = panel(folder)
    before, shown.evidence.value = shown.step, words
    shown.buttons[grade].click()
    assert "evidence" in shown.message.value and shown.step == before
    assert not (folder / labelling.LOG).exists() and shown.evidence.value == words


def test_every_document_starts_without_evidence(folder):
    shown = panel(folder)
    for _ in range(4):
        assert shown.evidence.value == "" and shown.choice.index is None
        shown.buttons["2"].click()
        assert "needs evidence" in shown.message.value
        do(shown, 1)
    assert shown.step is None and len(log(folder)) == 4


def test_pasted_evidence_and_message_are_safe(folder):
    shown = panel(folder)
    shown.evidence.value = "<img src=x>"
    shown.buttons["1"].click()
    assert "<img" not in shown.message.value and "&lt;img" in shown.message.value
    shown.evidence.value = f"\n{PROOF[shown.step.doc_id][:7]} "
    shown.buttons["1"].click()
    assert log(folder)[0]["evidence"] in ("Delete", "Add a c")


def test_keys_act_at_once_and_empty_the_box(folder):
    shown = panel(folder)
    shown.key.value = "0"
    assert shown.key.value == "" and len(log(folder)) == 1
    second = shown.step
    shown.key.value = "S"
    assert shown.step != second and len(log(folder)) == 1
    shown.key.value = "x"
    assert "Key x does nothing" in shown.message.value and shown.key.value == ""
    shown.choice.index = 1
    shown.key.value = "2"
    assert log(folder)[1]["relevance"] == 2
    shown.key.value = "u"
    assert "undo" in log(folder)[2]


def test_skip_moves_to_the_end_and_writes_nothing(folder):
    shown = panel(folder)
    skipped = shown.step
    shown.buttons["Skip"].click()
    assert not (folder / labelling.LOG).exists()
    others = [do(shown, 0) for _ in range(3)]
    assert skipped not in others and shown.step == skipped
    shown.buttons["Skip"].click()
    assert shown.step == skipped and "last document left" in shown.message.value
    do(shown, 0)
    assert shown.step is None and shown.buttons["Skip"].disabled


def test_undo_shows_the_document_again_and_reaches_back(folder):
    shown = panel(folder)
    first, second = do(shown, 2), do(shown, 0)
    shown.buttons["Undo"].click()
    assert shown.step == second and grades(folder) == {first[:2]: 2}
    shown.buttons["Undo"].click()
    assert shown.step == first and grades(folder) == {} and len(log(folder)) == 4
    shown.buttons["Undo"].click()
    assert "nothing to undo" in shown.message.value and len(log(folder)) == 4
    do(shown, 1)
    assert grades(folder) == {first[:2]: 1} and shown.step == second


def test_undo_of_two_judgments_at_the_same_instant(folder, monkeypatch):
    monkeypatch.setattr(labelling, "_now", lambda: "2026-11-21T12:00:00+00:00")
    shown = panel(folder)
    step = do(shown, 0)
    shown.buttons["Undo"].click()
    do(shown, 1)
    assert grades(folder) == {step[:2]: 1}


# The log.


def test_resume_continues_where_the_log_stops(folder):
    shown = panel(folder, seed=3)
    done = [do(shown, 0), do(shown, 2)]
    again = panel(folder, seed=3)
    assert again.step == shown.step and again.bar.value == 2
    again.buttons["Undo"].click()
    assert again.step == done[1] and grades(folder) == {done[0][:2]: 0}


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_kill_in_the_middle_of_a_line_loses_only_that_line(folder, kept):
    shown = panel(folder)
    first, torn = do(shown, 0), do(shown, 2)
    path = folder / labelling.LOG
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    path.write_bytes(whole[:start] + whole[start:][:kept])
    complete = {torn[:2]: 2} if kept == -1 else {}  # only the line end is missing
    assert grades(folder) == {first[:2]: 0, **complete}
    again = panel(folder)
    third = do(again, 0)
    assert grades(folder) == {first[:2]: 0, **complete, third[:2]: 0}
    assert len(log(folder)) == len(grades(folder)) and path.read_bytes().endswith(b"}\n")


def test_torn_inside_a_letter(folder):
    labelling.append(folder / labelling.LOG, entry())
    with (folder / labelling.LOG).open("ab") as file:
        file.write('{"query_id": "é'.encode()[:-1])
    assert len(grades(folder)) == 1
    labelling.append(folder / labelling.LOG, entry("q2"))
    assert len(grades(folder)) == 2


def test_a_full_disk_is_a_message_and_leaves_the_log_whole(folder, monkeypatch):
    shown = panel(folder)
    do(shown, 0)
    before, step, write = (folder / labelling.LOG).read_bytes(), shown.step, os.write
    monkeypatch.setattr(labelling.os, "write", lambda file, line: write(file, line[:9]))
    shown.buttons["0"].click()
    assert "not written whole" in shown.message.value and shown.step == step
    assert (folder / labelling.LOG).read_bytes() == before


def test_two_panels_see_each_other(folder):
    one, two = panel(folder), panel(folder)
    shared = do(one, 0)
    assert two.step == shared
    two.buttons["Skip"].click()
    assert two.step == one.step  # not the shared one, which is judged
    seen = {do(two, 0)[:2], shared[:2]}
    one.buttons["Skip"].click()
    while one.step:
        assert one.step[:2] not in seen
        seen.add(do(one, 0)[:2])
    assert len(grades(folder)) == len(log(folder)) == 4


def test_undo_leaves_what_another_panel_judged(folder):
    one, two = panel(folder), panel(folder, seed=5)
    mine, other = do(one, 0), do(two, 0)
    one.buttons["Undo"].click()
    one.buttons["Undo"].click()
    assert "nothing to undo" in one.message.value
    assert grades(folder) == ({other[:2]: 0} if mine != other else {})


def test_the_same_pair_in_two_panels_keeps_both_lines_and_says_so(folder):
    one, two = panel(folder), panel(folder)
    step = do(one, 2)
    do(two, 1)
    assert "Another panel gave 2" in two.message.value
    assert grades(folder) == {step[:2]: 1} and len(log(folder)) == 2
    two.buttons["Undo"].click()
    assert grades(folder) == {step[:2]: 2}


WRITER = """
import sys
from pathlib import Path
from helpers.labels import panel as labelling
path, name = Path(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
for i in range(40):
    labelling.append(path, {"query_id": name, "doc_id": str(i), "evidence": "é" * 3000})
"""


def test_two_processes_lose_no_line(tmp_path):
    path = tmp_path / labelling.LOG
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, cwd=HERE.parents[1])
        for name in "ab"
    ]
    for writer in writers:
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    assert [writer.wait(30) for writer in writers] == [0, 0]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 80
    for name in "ab":
        assert [r["doc_id"] for r in rows if r["query_id"] == name] == [str(i) for i in range(40)]


BAD_LINES = {
    '{"query_id": "q1"': "broken JSON",
    "[1]": "found [1], wanted a JSON object",
    json.dumps(entry(relevance=7)): "field relevance is 7, wanted 0, 1 or 2",
    json.dumps(entry(repeat="no")): 'field repeat is "no", wanted true or false',
    json.dumps(entry(grade=1)): "field grade is unknown",
    json.dumps({"query_id": "q1", "relevance": 0}): "field doc_id is missing",
    json.dumps(entry("q9")): "query q9 is not in retrieval_queries.jsonl",
    json.dumps(entry("q1", "nil")): "document nil is not in the corpus",
    json.dumps(entry(relevance=1)): "disk-full: grade 1 needs evidence",
    json.dumps({**entry(relevance=2), "evidence": "Add"}): "evidence 'Add' is not in the document",
    json.dumps({"undo": "q1"}): 'field undo is "q1", wanted an object',
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_line_is_named_with_file_and_line(folder, line):
    good = json.dumps(entry("q2"))
    (folder / labelling.LOG).write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(evalset.EvalSetError) as caught:
        labelling.judgments(folder)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{folder / labelling.LOG}:2: ") and BAD_LINES[line] in problem


def test_a_log_that_breaks_meanwhile_is_a_message(folder):
    shown = panel(folder)
    (folder / labelling.LOG).write_text("{\n")
    before = shown.step
    shown.buttons["0"].click()
    assert "labelling.jsonl:1: broken JSON" in shown.message.value and shown.step == before


# Repeats.


@pytest.mark.parametrize("seed", range(3))
def test_repeats_come_later_unannounced_and_are_compared(many, seed):
    shown = labelling.Panel(many, labelling.pairs_to_judge(many), seed, repeats=0.25)
    steps = []
    while shown.step:
        assert "again" not in shown.message.value + shown.count.value + shown.document.value
        steps.append(do(shown, int(shown.step.repeat)))
    pairs = [step[:2] for step in steps]
    assert len(steps) == 30 and len(set(pairs)) == 24
    for i, step in enumerate(steps):
        assert not step.repeat or i - pairs.index(step[:2]) > labelling.GAP
    assert len(labelling.judgments(many.folder)) == 24
    assert all(j.relevance == 0 for j in labelling.judgments(many.folder))
    assert "n = 6, 0% equal" in shown.document.value


def test_repeats_survive_skips_undo_and_a_restart(many):
    pairs = labelling.pairs_to_judge(many)
    shown = labelling.Panel(many, pairs, repeats=0.5)
    for turn in range(200):
        if shown.step is None:
            break
        name = ("Skip", "0", "0", "Undo", "0")[turn % 5]
        shown.buttons[name].click()
        if turn % 7 == 0:
            shown = labelling.Panel(many, pairs, repeats=0.5)
    found = labelling.agreement(labelling.entries(many))
    assert shown.step is None and found.n == 12 and len(labelling.judgments(many.folder)) == 24


def test_a_repeat_waits_for_other_documents_while_there_are_any():
    again, other = labelling.Step("q", "0", True), labelling.Step("q", "9")
    log = [labelling.Entry("q", str(i), 0) for i in range(1 + labelling.GAP)]
    assert labelling.following([again, other], log) == again
    assert labelling.following([again, other], log[:-1]) == other
    assert labelling.following([again], log[:-1]) == again


def test_few_documents_are_repeated_as_late_as_possible():
    steps = labelling.schedule([("q", d) for d in "abc"], repeats=1.0)
    assert [s.repeat for s in steps] == [False] * 3 + [True] * 3
    assert [s.doc_id for s in steps[3:]] == [s.doc_id for s in steps[:3]]


def entries_of(first, second):
    once = [labelling.Entry("q", str(i), grade) for i, grade in enumerate(first)]
    again = [labelling.Entry("q", str(i), g, repeat=True) for i, g in enumerate(second)]
    return once + again


def test_agreement_by_hand():
    found = labelling.agreement(entries_of([0, 0, 2, 2, 1], [0, 2, 2, 1]))
    # Linear weights, four pairs: observed distance 2 + 1 = 3; expected from the margins
    # (0: 2 of 4, 2: 2 of 4) and (0: 1, 1: 1, 2: 2 of 4): (2*(1+2*2) + 2*(2*1+1)) / 4 = 4.
    assert (found.n, found.equal, found.kappa) == (4, 0.5, pytest.approx(1 - 3 / 4))
    assert found.differ == [("q", "1", 0, 2), ("q", "3", 2, 1)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("grade", [0, 2])
def test_kappa_of_one_grade_is_not_defined(grade):
    found = labelling.agreement(entries_of([grade] * 3, [grade] * 3))
    assert found == (3, 1.0, None, []) and "not defined" in labelling.agreement_html(found)
    assert labelling.agreement([]) == (0, None, None, [])


# In and out of the folder.


def test_pairs_come_from_the_pool_and_not_what_is_judged(folder):
    rows = [{"query_id": "q2", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *rows)
    assert labelling.pairs_to_judge(evalset.load(folder)) == [("q2", "disk-full")]


def test_pairs_without_a_pool_come_from_the_rankers(folder, monkeypatch):
    from helpers.labels import pooling

    found = {"hand": {"q1": [("disk-full", 1.0)], "q2": [("disk-full", 1.0)]}}
    monkeypatch.setattr(pooling, "rankings", lambda evals: found)
    assert labelling.pairs_to_judge(evalset.load(folder)) == [("q2", "disk-full")]


def test_merge_adds_and_the_folder_loads(folder):
    labelling.append(
        folder / labelling.LOG, {**entry("q2", relevance=2), "evidence": "call Storage."}
    )
    labelling.append(folder / labelling.LOG, entry("q1", "queue-full"))  # as judgments.jsonl says
    evals = evalset.load(folder)
    assert labelling.merge(evals) == 1
    after = evalset.load(folder)
    assert after.qrels()["q2"] == {"queue-full": 1, "disk-full": 2}
    assert after.queries["q2"].relevant_doc_ids == ("queue-full", "disk-full")
    assert after.judgments[:2] == evals.judgments[:2] and after.queries["q2"].split == "test"
    before = (folder / "judgments.jsonl").read_bytes()
    assert labelling.merge(evals) == 0 and (folder / "judgments.jsonl").read_bytes() == before


def test_merge_into_binary_labels(folder):
    (folder / "judgments.jsonl").unlink()
    rows = [{**entry(relevance=2), "evidence": "Delete"}, entry("q1", "queue-full")]
    write_rows(folder / labelling.LOG, *rows)
    assert labelling.merge(evalset.load(folder)) == 2
    assert evalset.load(folder).qrels() == {
        "q1": {"disk-full": 2, "queue-full": 0},
        "q2": {"queue-full": 1},
    }


@pytest.mark.parametrize("binary", [False, True])
def test_conflict_names_pair_grades_and_places_and_writes_nothing(folder, binary):
    write_rows(folder / labelling.LOG, entry("q2"), entry("q1", "disk-full"))
    if binary:
        (folder / "judgments.jsonl").unlink()
    before = {path: path.read_bytes() for path in folder.glob("*.jsonl")}
    with pytest.raises(ValueError) as caught:
        labelling.merge(evalset.load(folder))
    said = str(caught.value)
    other = "retrieval_queries.jsonl:1 lists it" if binary else "judgments.jsonl:1 says 2"
    assert "query q1, document disk-full: " in said and "labelling.jsonl:2 says 0" in said
    assert other in said and len(said.splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.glob("*.jsonl")} == before


def test_a_failed_second_write_puts_the_first_back(folder, monkeypatch):
    write_rows(folder / labelling.LOG, entry("q2"))
    before, write = (folder / "judgments.jsonl").read_bytes(), records.write_jsonl

    def fail(path, rows):
        if path.name == "retrieval_queries.jsonl":
            raise OSError("disk full")
        write(path, rows)

    monkeypatch.setattr(records, "write_jsonl", fail)
    with pytest.raises(OSError, match="disk full"):
        labelling.merge(evalset.load(folder))
    assert (folder / "judgments.jsonl").read_bytes() == before


def test_panel_in_a_browser(tmp_path):
    script = [sys.executable, str(HERE / "browser_labelling.py")]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(script, capture_output=True, text=True, timeout=180, env=environment)
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr


def test_queries_without_labels_open_the_panel_and_end_the_run(folder, capsys):
    labelling.require_labels(evalset.load(folder))
    assert "2 queries, each with a relevant document" in capsys.readouterr().out
    (folder / "judgments.jsonl").unlink()
    queries = folder / "retrieval_queries.jsonl"
    queries.write_text(queries.read_text().replace('["disk-full"]', "[]"))
    with pytest.raises(labelling.Unlabelled, match="Judge in the panel above") as stop:
        labelling.require_labels(evalset.load(folder))
    assert stop.value._render_traceback_() == [str(stop.value)]
    panel = labelling.Panel(evalset.load(folder), [("q1", "disk-full")], repeats=0)
    panel.evidence.value = "Delete <old> logs."
    panel.judge(2)
    assert labelling.merge(evalset.load(folder)) == 1
    labelling.require_labels(evalset.load(folder))
    queries.unlink()
    (folder / "judgments.jsonl").unlink()
    with pytest.raises(labelling.Unlabelled, match="no queries yet"):
        labelling.require_labels(evalset.load(folder))


def test_the_panel_offers_the_grades_of_the_set(folder):
    (folder / "settings.json").write_text('{"highest_grade": 3}')
    shown = panel(folder)
    assert [*shown.buttons] == ["0", "1", "2", "3", "Skip", "Undo"]
    assert shown.buttons["3"].tooltip == "3: answers, with evidence"
    step = do(shown, 3)
    shown.key.value = "0"
    assert [row["relevance"] for row in log(folder)] == [3, 0]
    assert grades(folder)[step[:2]] == 3
    (folder / "settings.json").unlink()
    with pytest.raises(evalset.EvalSetError, match="field relevance is 3, wanted 0, 1 or 2"):
        labelling.judgments(folder)


def test_agreement_weighs_by_the_grades_of_the_set():
    log = [labelling.Entry("q", d, g) for d, g in (("a", 3), ("b", 0), ("c", 1))]
    log += [labelling.Entry("q", d, g, repeat=True) for d, g in (("a", 2), ("b", 0), ("c", 1))]
    assert labelling.agreement(log, (0, 1, 2, 3)).kappa == pytest.approx(1 - (1 / 3) / (11 / 9))
