"""The sessions on other sets than the workbook's own, in one process and without a kernel."""

import json
import re
import shutil
import sys
from types import SimpleNamespace
from typing import NamedTuple

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
from conftest import write_rows
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from helpers.label import audit, manifest
from helpers.measure import evalset, runs, stats
from helpers.teach import cards, copies, exercises, workbook

OF_SESSION_C = (
    "abstaining answers best_of_many evidence_lost filters how_many_queries judge reranking "
    "stopping_early trap_lab wrong_labels"
).split()
FURTHER = {path.stem: path for path in workbook.FURTHER}


class Played(NamedTuple):
    """What cells left behind: their names, and by cell id what each printed and its last value."""

    space: dict
    said: dict[str, str]
    value: dict[str, object]


def play(path, folder, last=None, quick=False):
    """Run the code cells of a notebook on a folder, up to cell `last`.

    `quick` leaves out checks.
    """
    shell, said, value = InteractiveShell(), {}, {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALS", str(folder))
        patch.chdir(path.parent)
        patch.setattr(sys, "path", [*sys.path])
        plt.switch_backend("agg")
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and not (quick and cell.source.startswith("check.")):
                with capture_output() as out:
                    result = shell.run_cell(cell.source)
                said[cell.id], value[cell.id] = out.stdout, result.result
                assert result.success, f"{path.stem}: cell {cell.id}"
            if cell.id == last:
                break
    return Played(shell.user_ns, said, value)


def run_cells(lesson, *ids, **names):
    """Return the names that cells of a session or a further notebook define, run with `names`."""
    cells = {c.id: c.source for c in nbformat.read(lesson, as_version=4).cells}
    for name in ids:
        exec(cells[name], names)
    return names


def shows(played, wanted):
    """Assert that cells print the words; `...` at the front: not at their beginning."""
    for cell, words in wanted.items():
        text, words = " ".join(played.said[cell].split()), " ".join(words.split())
        anywhere = words.startswith("... ")
        assert words[4:] in text if anywhere else text.startswith(words), (cell, text)


def test_session_b_ranks_a_large_corpus_as_rank_bm25_does(tmp_path, monkeypatch):
    """The other engine, forced, writes the committed runs byte by byte; the card names it."""
    copy = tmp_path / "evals"
    shutil.copytree(evalset.DEFAULT, copy, ignore=shutil.ignore_patterns("runs", "chunks"))
    monkeypatch.setattr(runs, "LARGE", 1)
    play(workbook.SESSIONS[1], copy)
    for path in sorted((evalset.DEFAULT / "runs").iterdir()):
        made, committed = (copy / "runs" / path.name).read_bytes(), path.read_bytes()
        if path.suffix == ".json":
            made, committed = json.loads(made), json.loads(committed)
            committed["engine"] = "helpers.sparse.bm25"
        is_same = made == committed  # a diff of these bytes would take minutes
        assert is_same, path.name


def write_set(folder, documents, queries, quoted):
    """Write documents, and {query_id: (fields, {doc_id: grade})} as queries and judgments.

    If `quoted`, the evidence of a relevant document is its text.
    """
    bodies, asked, judgments = {d["doc_id"]: d["text"] for d in documents}, [], []
    for query_id, (fields, grades) in queries.items():
        relevant = [d for d, grade in grades.items() if grade]
        asked.append({"query_id": query_id, "relevant_doc_ids": relevant, **fields})
        for d, grade in grades.items():
            row = {"query_id": query_id, "doc_id": d, "relevance": grade}
            judgments.append(row | ({"evidence": bodies[d]} if grade and quoted else {}))
    write_rows(folder / "corpus.jsonl", *documents)
    write_rows(folder / "retrieval_queries.jsonl", *asked)
    write_rows(folder / "judgments.jsonl", *judgments)


@pytest.fixture
def graded(tmp_path):
    """Return a set in Japanese with grades up to 3 and a second pass, and nothing derived."""
    texts = {"d1": "東京タワーの営業時間は九時から", "d2": "京都の寺は朝六時に開く"}
    texts |= {"d3": "大阪の地図と電車の時刻", "d4": "東京の電車は五分おきに来る"}
    labels = {
        "q1": ("東京タワーは何時から", "dev", {"d1": 3, "d4": 0, "d2": 0}),
        "q2": ("京都の寺", "dev", {"d2": 3, "d1": 1, "d3": 0}),
        "q3": ("大阪の電車", "test", {"d3": 2, "d4": 1}),
        "q4": ("東京の電車は来るか", "test", {"d4": 3, "d3": 0, "d1": 0}),
    }
    queries, second = {}, []
    for query_id, (query, split, grades) in labels.items():
        answers = [texts[next(iter(grades))][:4]]
        queries[query_id] = {"query": query, "split": split, "answers": answers}, grades
        for doc_id, grade in grades.items():
            row = {"query_id": query_id, "doc_id": doc_id, "round": 1, "reason": ""}
            second.append(row | dict.fromkeys(("first", "second", "final"), grade))
    second[0]["second"] = 2
    documents = [{"doc_id": d, "title": body[:3], "text": body} for d, body in texts.items()]
    write_set(tmp_path, documents, queries, quoted=False)
    write_rows(tmp_path / "second_pass.jsonl", *second)
    (tmp_path / "settings.json").write_text('{"words": "bigrams", "highest_grade": 3}')
    return tmp_path


def test_the_sessions_in_their_order_need_nothing_derived(graded, monkeypatch):
    """One session leaves what the next needs; tokenizer and grades are those of the set."""
    monkeypatch.setattr(runs, "LARGE", 1)
    a, *_ = (play(path, graded) for path in workbook.NOTEBOOKS)
    assert a.space["evals"].tokenizer == "bigrams"
    assert "{0: 5, 1: 2, 2: 1, 3: 3}" in a.said["a-labels-table"]
    card = runs.read_card(graded / "runs" / "fixed.json")
    assert (card["tokenizer"], card["engine"], card["chunks"]) == ("bigrams", runs.LARGE_ENGINE, 4)
    results = json.loads((graded / "results.json").read_text(encoding="utf-8"))
    assert results["method"]["engine"] == runs.LARGE_ENGINE
    assert "pairs of characters" in results["method"]["words"]
    assert results["queries"]["grades"] == [0, 1, 2, 3]
    first = results["per_query"][0]
    assert first["retrieved"][0][0] == "d1" and first["measures"]["nDCG@10"] == 1
    played = {name: play(FURTHER[name], graded) for name in OF_SESSION_C}
    shows(played["wrong_labels"], {"a-pool": "7 rankers", "c-noise-rates": "share read as"})


def test_what_goes_further_than_session_a_counts_another_set(graded):
    """Partial answers make two groups of queries; 11 of 16 pairs are judged, and read twice."""
    shows(play(FURTHER["leaks"], graded), {
        "a-groups-run": "4 groups of queries; the largest has 1: q4",
        "a-audit-groups": "4 groups by full answers; 4 with",
        "f-leaks-strict-run": "2 groups by any relevant document; the largest",
        "f-leaks-chance": "On 152 queries chance moves a lead by 0.06 either way",  # our own set
    })  # fmt: skip
    shows(play(FURTHER["agreement"], graded), {
        "f-agreement-read": "11 pairs; readers: not said",
        "a-interval-run": "... AC1: 0.882 (",
        "f-agreement-handles": "no two readers have handles here",
    })  # fmt: skip
    second = graded / "second_pass.jsonl"
    rows = [json.loads(line) for line in second.read_text(encoding="utf-8").splitlines()]
    for number, reader in ((8, "person:ab"), (9, "person:cd")):
        rows += [row | {"round": number, "reader": reader} for row in rows[: 17 - number]]
    write_rows(second, *rows)
    handles = {"f-agreement-handles": "9 pairs; all of person:ab, person:cd read 8"}
    shows(play(FURTHER["agreement"], graded), handles)
    second.unlink()
    none = {"f-agreement-read": "no second_pass.jsonl here yet"}
    shows(play(FURTHER["agreement"], graded, "f-agreement-read"), none)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of kappa, where it is undefined
def test_the_sessions_and_the_write_up_report_zeros_on_the_least_set_there_is(folder):
    """One document without a title, a query without a word, a reading of one grade, first null."""
    shutil.rmtree(folder / "corpus")
    write_rows(folder / "corpus.jsonl", {"doc_id": "d", "title": "", "text": "disk full"})
    pair = {"query_id": "q1", "doc_id": "d"}
    query = {"query_id": "q1", "query": "??? \U0001f642", "relevant_doc_ids": ["d"]}
    write_rows(folder / "retrieval_queries.jsonl", query)
    write_rows(folder / "judgments.jsonl", {**pair, "relevance": 1})
    write_rows(folder / "pool.jsonl", {**pair, "rankers": ["a"], "first": None})
    grades = dict.fromkeys(("first", "second", "final"), 1)
    write_rows(folder / "second_pass.jsonl", {**pair, "round": 1, **grades, "reason": ""})
    a, _, c, page = (play(path, folder, quick=True) for path in workbook.NOTEBOOKS)
    evals = a.space["evals"]
    assert "Cohen's kappa nan on 1 pairs" in a.said["a-kappa-hand-then"]
    assert "\nno full answer found" in a.said["a-open-shown"]
    assert "results.json: 1 queries, 0 with results" in c.said["c-results-write"]
    found = page.space["results"]["summary"]["dev"]
    assert set(found["measures"].values()) == {0.0} and found["median_first_rank"] is None
    assert audit.folder_findings(evals)[-1].status == "pass" and manifest.freeze_command(evals) == 0


def test_the_notebooks_go_on_without_the_optional_chunker(tmp_path):
    """A learner left its stubs: no set, no run and no row of it, and nothing stops."""
    copy = tmp_path / "evals"
    shutil.copytree(evalset.DEFAULT, copy, ignore=shutil.ignore_patterns("runs", "chunks"))
    lesson, notebook = tmp_path / "session_b.ipynb", nbformat.read(workbook.SESSIONS[1], 4)
    for exercise in exercises.exercises_of(lesson.name, notebook):
        if exercise.further:
            cell = notebook.cells[exercise.code]
            cell.source = copies.with_stubs(cell)
    nbformat.write(notebook, lesson)
    b = play(lesson, copy)
    assert "B9 the first cut is not started yet" in b.said["b-first-cut-is-right"]
    assert sorted(path.stem for path in (copy / "runs").glob("*.trec")) == ["fixed", "paragraph"]
    assert not (copy / "chunks" / "recursive.jsonl").exists()
    play(workbook.SESSIONS[2], copy)
    results = json.loads((copy / "results.json").read_text(encoding="utf-8"))
    assert {*results["evidence"]["dev"]["sets"]} >= {"fixed", "paragraph"}
    assert "recursive" not in results["evidence"]["dev"]["sets"]
    for name, last in (("how_many_queries", "f-many-systems"), ("judge", "f-judge-systems")):
        saved = play(FURTHER[name], copy, last).space["saved"]
        assert [run.name for run in saved] == ["fixed", "paragraph"]


def test_kappa_is_told_by_round_with_the_share_of_pairs_that_were_disputed_before():
    fields = ["round", "query_id", "doc_id", "first", "second"]
    read = [(1, "q", n, n % 2, n % 2 ^ (n < 2)) for n in range(8)]  # the first two differ
    again = [(2, "q", n, n % 2, second) for n, second in ((0, 1), (1, 1), (2, 0), (3, 0))]
    shown = []
    ids = "f-agreement-disputed", "f-agreement-kappas", "f-agreement-picture"
    for rows in (read + again, read, read + [(2, *row[1:]) for row in read]):
        names = {"pd": pd, "stats": stats, "evals": SimpleNamespace(grades=(0, 1))}
        names |= {"figures": SimpleNamespace(intervals=lambda *told: shown.append(told))}
        run_cells(FURTHER["agreement"], *ids, rounds=pd.DataFrame(rows, columns=fields), **names)
    titles = [title for _, title, _ in shown]
    found = "Kappa is 0.00 or less where many pairs were disputed, elsewhere 0.50 or more"
    assert titles == [found, "Kappa from 0.50 to 0.50", "Kappa from 0.50 to 0.50"]
    assert [*shown[0][0]] == ["round 1, 8 pairs\n0% disputed", "round 2, 4 pairs\n50% disputed"]


def test_session_c_needs_session_b_first(graded):
    play(workbook.SESSIONS[0], graded, "a-load")
    with pytest.raises(AssertionError, match="session_c_.*: cell c-setup"):
        play(workbook.SESSIONS[2], graded, "c-setup")


# Each session on a set so small that its counts are known on paper.


BODIES = {d: "disk" + " disk" * n for d, n in zip("acdef", (2, 149, 150, 511, 1023), strict=True)}
BODIES |= {"b": "full full full", "h-v1": "old queue of jobs", "h-v2": "queue of jobs anew"}
BODIES |= {"g": "queue of jobs", "i": "first of jobs", "j": "no job here", "k": "no job there"}
QUERIES = {
    "q1": ("disk full", "dev", "entity", "head", {"a": 1}),
    "q2": ("jobs of the full queue", "test", "entity", None, {"h-v2": 2, "g": 1, "a": 0}),
    "q3": ("disk", "test", "keyword", "tail", {"a": 2}),
    "q4": ("the queue zzz", "dev", "keyword", None, {"g": 2, "h-v1": 0}),
    "q5": ("old", "dev", "entity", "tail", {"h-v1": 1}),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return what the sessions say of twelve documents and five queries.

    Queries of different halves share a partial answer, and none has a second reading.
    """
    folder, documents, queries = tmp_path_factory.mktemp("small"), [], {}
    for d, body in sorted(BODIES.items()):
        service, kind = ("disk", "runbook") if d in "abcdef" else ("queue", "faq")
        row = {"doc_id": d, "title": "", "text": body, "service": service, "kind": kind}
        if "-v" in d:
            row |= {"version": d[-1], "updated": f"2026-01-0{d[-1]}"}
        documents.append(row | ({"kind": "how-to"} if d == "h-v2" else {}))
    for query_id, (*fields, grades) in QUERIES.items():
        named = zip(("query", "split", "kind", "popularity"), fields, strict=True)
        queries[query_id] = {name: value for name, value in named if value}, grades
    write_set(folder, documents, queries, quoted=True)
    return [play(path, folder, quick=True) for path in workbook.SESSIONS]


def test_session_a_counts_a_small_set(small):
    shows(
        small[0],
        {
            "a-load": f"12 documents of {small[0].space['evals'].name}",
            "a-open-shown": "disk full\nno full answer found",
            "a-halves-run": "groups in one half: 5 of 5",
            "a-labels-table": "8 judgments; grades {0: 2, 1: 3, 2: 3}\na-relevant: 1.2",
            "a-agree-table": "no second_pass.jsonl here yet",
            "a-agree-equal": "... 50% equal where the first reading says 1",
            "a-kappa-hand-then": "Cohen's kappa 0.688 on 5 pairs\n"
            "weighted, so that 2 against 0 counts double: 0.762",
            "a-overlap-all": "a-overlap: 0.73\noverlap of the question that failed: 0.50",
            "a-open-words": "They share 1 of 2 content words: disk.",
            "a-coverage-kind": "a-least: runbook",
            "a-unreached-run": "disk: b, c, d, …\nqueue: i, j, k",
        },
    )
    value = small[0].value
    assert value["a-examples"].query_id.to_dict() == {"entity": "q1", "keyword": "q4"}
    of_keyword = value["a-balance"].loc["keyword"]
    assert of_keyword[of_keyword > 0].to_dict() == {("dev", "unmarked"): 1, ("test", "tail"): 1}
    grades = value["a-open-rows"]["grade"].to_dict()
    assert grades == {1: "not judged", 2: 1, 3: "not judged"}
    assert value["a-overlap-rare"].iloc[:, 0].to_dict() == {"entity": 3, "keyword": 4}
    assert value["a-agree-table"].to_numpy().tolist() == [[2, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_session_b_cuts_and_ranks_a_small_set(small):
    chosen = dict.fromkeys(row[:2] for row in small[1].value["b-compare-run"].index)
    assert list(chosen) == [("longest", "h-v2"), ("median", "h-v1"), ("shortest", "a")]
    shows(small[1], {
        "b-first-search-run": "b-shared: 29 q1: disk full 8 of 14 chunks share a word with it",
        "b-both": "... 100 documents are 100% of the corpus",
        "b-run-all": "... fixed: 14 chunks, 1 to 6 documents a query",
    })  # fmt: skip
    five = small[1].value["b-choose"]["rank of first relevant"]
    assert [*five.index, *five] == [*"q4 q4 q5 q1 q1".split(), *"11122"]


def test_the_pair_out_of_order_is_the_best_answer_and_the_first_worse_one():
    for order, grades, pair in [
        ("ab", {"b": 1}, ("b", "a")),
        ("ba", {"b": 1}, None),
        ("ab", {"a": 1, "b": 1}, None),
        ("xab", {"a": 1, "b": 2}, ("b", "x")),
        ("bxc", {"b": 2, "c": 1}, ("c", "x")),
        ("x", {"c": 1, "b": 1}, ("b", "x")),
        ("xy", {"y": 0}, None),
        ("", {"b": 1}, None),
    ]:
        assert cards.wanted_and_rival(list(order), grades) == pair, (order, grades)


def card_of(space, query_id):
    """Return the card of a query of a session."""
    order = [doc_id for doc_id, _ in space["run"].get(query_id, [])]
    return cards.failure_card(space["evals"], space["weights"], query_id, order)


def test_a_card_says_what_separates_wanted_from_rival(small, monkeypatch):
    """Each word's share, and what is common, is held by the second witness."""
    space, names = small[2].space, ("wanted", "rival", "unjudged", "versions", "common", "lacks")
    first, second, *others = (card_of(space, query_id) for query_id in QUERIES)
    assert [first[name] for name in names] == ["a", "b", True, False, ["disk"], ["full"]]
    assert first["without words it lacks"] == [0, 0] and others == [None] * 3
    common, lacks = ["jobs", "of"], ["the", "full"]
    assert [second[name] for name in names] == ["h-v2", "g", False, False, common, lacks]
    queue = next(pair for word, _, *pair in second["words"] if word == "queue")
    assert second["without common words"] == pytest.approx(queue)
    assert second["without words it lacks"] == second["score"] == second["best of all chunks"]
    assert second["without length"][0] == second["without length"][1]
    monkeypatch.setitem(space, "run", {"q5": [("h-v2", 2.0), ("h-v1", 1.0)]})
    third = card_of(space, "q5")
    assert [third[name] for name in names[:2]] == ["h-v1", "h-v2"] and third["versions"]
    assert card_of(space, "q1") is None


def test_a_card_shows_titles_ranks_and_what_each_word_gave(small):
    evals = small[2].space["evals"]
    card = card_of(small[2].space, "q1") | {"score": [1, 2.5], "unjudged": True}
    card |= {"words": [["disk", 1.0, 0.5, 0.25], ["full", 4.0, 0, 2.5], ["zzz", None, 0, 0]]}
    card |= {"lacks": ["full", "zzz"]}
    page = str(cards.card_html(card, evals, ["b"], 0.25))
    assert "<h4>disk full</h4><p>q1, entity, nDCG@10 0.250</p>" in page
    assert "<code>a</code> (not found)</li>" in page
    assert "<code>b</code> (rank 1, which nobody has judged)</li>" in page
    rows = re.findall(r'<th style="text-align:left">([^<]+)</th>(.*?)</tr>', page)
    gave = {name: re.findall(r"([\d.]+)<div .*?width:(\d+)%", row) for name, row in rows}
    assert gave["full (lacked)"] == [("0.00", "0"), ("2.50", "100")]
    assert gave["disk (common)"] == [("0.50", "20"), ("0.25", "10")]
    assert gave["as it is"] == [("1.00", "0"), ("2.50", "0")]
    assert "Neither scores with: zzz (lacked)." in page
    assert "unjudged" not in str(cards.card_html(card | {"unjudged": False}, evals, [], 0))


def test_session_c_measures_a_small_set(small):
    value = small[2].value
    assert list(value["c-summary"].index) == ["dev (n=3)", "test (n=2)", "all (n=5)"]
    assert value["c-per-query"]["first rank"].to_dict() == {"q1": 2}
    counts = {"entity": 2, "keyword": 1, "head": 1, "tail": 1, "not marked": 1}
    assert value["c-kinds-run"].n.to_dict() == counts
    shows(small[2], {
        "c-per-query": "... 2 of 3 are perfect",
        "c-other": "paragraph minus baseline: -0.092 (-0.486 to +0.302)\n"
        "queries: 0 better, 2 equal, 1 worse",
        "c-flip-real": "... p of the t test 0.4226",
        "c-detectable": "... 3 queries, spread 0.16: ",
        "c-card-run": "... not perfect: 1 query, 1 with a card",
        "c-causes": "... 1 of 1 rivals are unjudged",
        "c-results-write": "... results.json: 5 queries, 5 with results",
    })  # fmt: skip


def test_a_set_with_dev_queries_alone_has_one_row_of_means(small):
    alone = SimpleNamespace(qrels=lambda half: {"q1": {}} if half == "dev" else {}, unanswered={})
    found = run_cells(workbook.SESSIONS[2], "c-summary", **{**small[2].space, "evals": alone})
    assert list(found["means"]) == ["dev (n=1)"]
