"""What an installation has in place of make, its baseline, and the calls of helpers/__init__.py."""

import html
import json
import re
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import helpers
from helpers import __main__
from helpers.measure import (
    api,
    baseline,
    chunks,
    evalset,
    evidence,
    files,
    installation,
    runs,
    stats,
    text,
    tokens,
)
from helpers.measure.pages import as_junit
from helpers.measure.verdicts import STRICT

TYPED = [  # (target, variables, in a checkout, installed)
    ("audit", {}, "make audit", "retrieval-baseline audit"),
    ("report", {"EVALS": "a b"}, "make report EVALS=a b",
     "retrieval-baseline baseline --evals a b"),
    ("compare", {"RUN": "x.trec"}, "make compare RUN=x.trec", "retrieval-baseline compare x.trec"),
    ("drop", {"QUERY": "q", "EVALS": "e"}, "make drop QUERY=q EVALS=e",
     "retrieval-baseline drop q --evals e"),
    ("lab", {"EVALS": "e"}, "make lab EVALS=e", "retrieval-baseline label --evals e"),
    ("site", {}, "make site", "make site in a checkout of the workbook"),
]  # fmt: skip


def test_a_command_is_worded_as_it_is_typed_in_a_checkout(monkeypatch):
    for name, variables, wanted, _ in TYPED:
        assert installation.command(name, **variables) == wanted
    monkeypatch.setattr(sys, "argv", ["helpers", "audit"])
    said = "run make report once, then .venv/bin/python -m helpers audit"
    assert installation.remedy("nh3") == said
    assert evalset.DEFAULT.is_absolute() and files.FORMS == evalset.DEFAULT / "schema"


REMEDIES = {
    "duckdb": "retrieval-baseline[sql]",
    "docutils": "retrieval-baseline[pages]",
    "ir_datasets": "ir_datasets",
}


def test_a_command_is_worded_as_it_is_typed_where_the_gate_is_installed(monkeypatch):
    monkeypatch.setattr(installation, "IN_CHECKOUT", False)
    monkeypatch.setattr(installation, "PROGRAM", "retrieval-baseline")
    for name, variables, _, wanted in TYPED:
        assert installation.command(name, **variables) == wanted
    for package, wanted in REMEDIES.items():
        said = __main__.in_words(ModuleNotFoundError(name=package))
        assert said.startswith(f"the package {package} is missing in {sys.executable}: ")
        assert said.endswith(f": pip install '{wanted}'")
    assert "a mistake of retrieval-baseline: report it" in __main__.in_words(KeyError("x"))


def test_windows_end_with_the_text_and_none_lies_inside_another():
    for n, wanted in [
        (0, [(0, 0)]),
        (512, [(0, 512)]),
        (513, [(0, 512), (462, 513)]),
        (974, [(0, 512), (462, 974)]),
        (975, [(0, 512), (462, 974), (924, 975)]),
    ]:
        body = " a" * n
        assert len(tokens.token_ids(body)) == n
        spans = [(2 * first, 2 * end, end - first) for first, end in wanted]
        assert baseline.windows(body) == spans, n


def test_the_baseline_without_notebooks_is_that_of_session_b():
    evals, rank, units = baseline.open_box(evalset.DEFAULT)
    assert [*units.values()] == chunks.read_chunks(evals.folder / "chunks" / "fixed.jsonl")
    path = evals.folder / "runs" / "fixed.jsonl"
    found = {q: baseline.search(rank, query.query) for q, query in evals.all_queries.items()}
    assert {q: of_chunks for q, (of_chunks, _) in found.items()} == runs.read_rankings(path)
    saved = runs.read_rankings(path.with_suffix(".trec"))  # which has no line for an empty one
    for query_id, (_, of_documents) in found.items():
        assert [d for d, _ in of_documents] == [d for d, _ in saved.get(query_id, [])], query_id


def test_the_search_box_finds_what_the_baseline_does_and_marks_the_words(monkeypatch):
    evals, rank, _ = baseline.open_box(evalset.DEFAULT)
    monkeypatch.setenv("EVALS", str(evalset.DEFAULT))
    query = next(iter(evals.queries.values())).query
    first, best = baseline.search(rank, query)
    found = baseline.find(query)
    assert [*found][:100] == [doc_id for doc_id, _ in best] and len(found) > 100
    assert next(iter(found.values())).chunk_id == first[0][0]
    page = baseline.ask(query, top=3).data
    titles = re.findall("<li><b>(.*?)</b><br>", re.sub("</?mark>", "", page))
    assert [*map(html.unescape, titles)] == [evals.documents[d].title for d in [*found][:3]]
    marked = {word.lower() for word in re.findall(r"<br>.*?<mark>(.*?)</mark>", page)}
    assert marked and marked <= {*text.content_words(evals.words(query))}


def test_the_search_box_opens_on_a_new_set_and_says_where_nothing_matches(tmp_path, monkeypatch):
    (tmp_path / "retrieval_queries.jsonl").write_text("")
    pages = [{"doc_id": f"d{n}", "title": "", "text": f"disk {n}"} for n in range(3)]
    pages.append({"doc_id": "t", "title": "Bread 7", "text": "rye"})
    files.write_jsonl(tmp_path / "corpus.jsonl", pages)
    monkeypatch.setenv("EVALS", str(tmp_path))
    assert baseline.ask("the 2").data == "<ol><li><b>d2</b><br>… <mark>2</mark></li></ol>"
    assert baseline.ask("7").data == "<ol><li><b>Bread <mark>7</mark></b><br>rye</li></ol>"
    assert baseline.ask("zzz").data == "<p>No document shares a word with this question.</p>"


@pytest.fixture
def measured(folder, capsys):
    evals = evalset.load(folder)
    assert baseline.baseline_command(evals) == 0
    shown = capsys.readouterr().out
    assert "Method: helpers.sparse.bm25" in shown
    assert "\nThe first number comes with 10 labelled dev queries: 1 so far.\n" in shown
    return evals


def test_the_baseline_is_measured_once_and_anew_where_it_is_broken_or_of_other_labels(measured):
    path = measured.folder / "results.json"
    path.write_text("{")
    baseline.baseline_command(measured)
    path.write_text(path.read_text().replace('"cards": []', '"cards": [], "more": 1'))
    baseline.baseline_command(measured)
    assert '"more": 1' in path.read_text()
    labels = measured.folder / "judgments.jsonl"
    labels.write_text(labels.read_text().replace('"relevance": 2', '"relevance": 1'))
    baseline.baseline_command(evalset.load(measured.folder))
    assert '"more": 1' not in path.read_text()


def test_files_of_the_sessions_stay_where_the_baseline_has_nothing_new_to_measure(measured):
    card = measured.folder / "runs" / "fixed.json"
    card.write_text(card.read_text().replace(runs.LARGE_ENGINE, runs.BASELINE["engine"]))
    before = {path: path.read_bytes() for path in measured.folder.rglob("*") if path.is_file()}
    baseline.baseline_command(measured)
    assert {p: p.read_bytes() for p in measured.folder.rglob("*") if p.is_file()} == before
    baseline.baseline_command(measured._replace(tokenizer="bigrams"))  # of settings.json
    assert json.loads(card.read_text())["tokenizer"] == "bigrams"


def test_the_largest_budget_is_filled_by_as_many_chunks_as_it_takes(tmp_path):
    short = [{"doc_id": f"d{n:03}", "title": "", "text": "disk"} for n in range(120)]
    files.write_jsonl(tmp_path / "corpus.jsonl", short)
    asked = {"query_id": "q1", "query": "disk", "relevant_doc_ids": ["d110"]}  # ranked by id
    files.write_jsonl(tmp_path / "retrieval_queries.jsonl", [asked])
    label = {"query_id": "q1", "doc_id": "d110", "relevance": 1, "evidence": "disk"}
    files.write_jsonl(tmp_path / "judgments.jsonl", [label])
    baseline.baseline_command(evalset.load(tmp_path))
    dev = json.loads((tmp_path / "results.json").read_text())["evidence"]["dev"]
    assert dev["sets"]["fixed"]["means"][evidence.recall_name(8000)] == 1


def test_a_set_without_a_word_is_told_and_gets_no_file(folder):
    evals = evalset.load(folder)
    pages = {name: page._replace(title="!", text="...") for name, page in evals.documents.items()}
    with pytest.raises(evalset.EvalSetError, match="^no word in 2 documents, wanted at least one"):
        baseline.baseline_command(evals._replace(documents=pages))
    assert not (folder / "chunks").exists()


def test_the_package_has_the_five_calls_and_no_others(measured):
    page = (evalset.DEFAULT.parent / "notebooks" / "comparing.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)\(", page, re.MULTILINE) == [*helpers.CALLS]
    assert helpers.load(measured.folder) == measured
    assert {finding.check for finding in helpers.audit_set(measured)} > {"baseline"}
    assert helpers.compare_runs is api.compare_runs and helpers.read_run is api.read_run
    with pytest.raises(AttributeError, match="module 'helpers' has no attribute 'run'"):
        _ = helpers.run


@pytest.mark.parametrize("first", ["evalset, figures", "chunks, evalset", "compare, evalset"])
def test_a_notebook_of_an_older_version_is_told_so_in_a_sentence(first):
    with pytest.raises(evalset.EvalSetError, match="^this notebook is of an older version of the"):
        exec(f"from helpers import {first}")


FOUND = {"disk is full": ["disk-full", "queue-full"], "queue": ["disk-full"]}
SEARCHES = [  # what a function returns for a query, in the forms that are taken
    lambda query: FOUND[query],
    lambda query: iter([(doc_id, 9 - n) for n, doc_id in enumerate(FOUND[query])]),
]


def test_a_function_that_searches_stands_in_place_of_a_run(measured, tmp_path):
    path = tmp_path / "lambda.trec"
    rankings = {"q1": [("disk-full", 0.0), ("queue-full", -1.0)], "q2": [("disk-full", 0.0)]}
    runs.write_trec(path, rankings, "t")
    wanted = api.compare_runs(measured, path)
    assert wanted["runs"][0]["decision"]["verdict"] == stats.TOO_FEW
    for search in SEARCHES:
        assert api.compare_runs(measured, search) == wanted
        found = api.compare_runs(measured, path, search, base=search)
        assert found["base"]["name"] == "lambda 0"
        assert [row["name"] for row in found["runs"]] == [str(path), "lambda 2"]
    ruled = api.compare_runs(measured, path, matters=0.3, decides="recall@10")
    assert (ruled["matters"], ruled["decides"]) == (0.3, "recall@10")


def test_a_function_is_asked_each_query_and_its_seconds_are_told(measured, monkeypatch):
    unanswered = {"z": evalset.Query("z", "Nobody knows", (), "none")}
    clock = iter([0, 1, 10, 12, 20, 25])  # before and after each query
    monkeypatch.setattr(api, "time", SimpleNamespace(perf_counter=clock.__next__))
    heard = []

    def search(query):
        heard.append(query)
        return FOUND.get(query, ["queue-full"])

    run = api.read_run(measured._replace(unanswered=unanswered), search)
    assert heard == ["disk is full", "queue", "Nobody knows"]
    assert [*run.rankings] == ["q1", "q2", "z"]  # a threshold is told by what nothing answers
    card = json.loads((measured.folder / "comparisons" / "asked" / "search.json").read_text())
    seconds = {"median": 2.0, "p95": pytest.approx(2 + 0.9 * 3)}  # of 1, 2 and 5
    assert (card["engine"], card["seconds"]) == ("search", seconds)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (lambda query: ["nowhere"], r"comparisons/asked/lambda.jsonl:1: .*nowhere"),
        (lambda query: 1 / 0, "<lambda> for query q1: ZeroDivisionError: division by zero"),
        (lambda query: [("disk-full", "high")], "query q1: ValueError: .*'high', wanted ids"),
        (lambda query: [7], "query q1: .*int object, wanted ids, best first, or pairs of id"),
        (lambda query: None, "query q1: .*NoneType, wanted ids"),
    ],
)
def test_what_a_function_finds_is_checked_like_a_run(measured, found, words):
    with pytest.raises(evalset.EvalSetError, match=words):
        api.read_run(measured, found)


def test_a_function_is_no_way_round_the_choice_on_dev(measured):
    for more in ({"split": "test"}, {"split": "all"}):
        with pytest.raises(evalset.EvalSetError, match="field confirmed lacks lambda"):
            api.compare_runs(measured, SEARCHES[0], **more)


def test_evidence_is_told_by_query_for_passages_alone(measured):
    ends = {"disk is full": ["disk-full#0:40"], "queue": ["queue-full#0:4"]}
    found = api.evidence_by_query(measured, lambda query: ends[query])
    assert [row["evidence hit@1"] for row in found.values()] == [1.0, 0.0]
    assert api.evidence_by_query(measured, SEARCHES[0]) == {}


def test_junit_has_a_case_for_each_run_that_ends_as_its_gate_did():
    pair = {"alone": "worse", "verdict": "too few queries to tell", "base": 0.5, "run": 0.25}
    comparison = {"evaluation_set": "A <set>", "decides": "nDCG@10", "base": {"name": "b"}}
    names, statuses = ("mine\x1b", "yours", "theirs"), [0, 1, STRICT]
    rows = [{"name": name, "decision": pair, "new_failures": []} for name in names]
    rows[1]["new_failures"] = ["q1", "q2"]
    suite = ElementTree.fromstring(as_junit(comparison | {"runs": rows}, statuses))
    counts = [suite.attrib[n] for n in ("tests", "failures", "errors", "skipped")]
    assert counts == ["3", "1", "0", "1"]
    assert [case.attrib["name"] for case in suite][0] == r"mine\x1b against b, A <set>"
    assert [(case[0].tag, case[0].text) for case in suite] == [
        ("system-out", r"mine\x1b: worse, nDCG@10 0.500 to 0.250"),
        ("failure", "yours: worse, nDCG@10 0.500 to 0.250; newly without results: q1, q2"),
        ("skipped", "theirs: worse, nDCG@10 0.500 to 0.250"),
    ]
