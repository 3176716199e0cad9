"""The saved baseline is of this set, or whoever reads it is told what is wrong."""

import copy
import json
import os

import pytest
from conftest import results_of

from helpers import baseline, evalset, runs


@pytest.fixture
def measured(folder):
    """Return a set with a run and a results.json of it."""
    evals = evalset.load(folder)
    rankings = {"q1": [("disk-full", 2.0)], "q2": [("queue-full", 1.0)]}
    runs.write_trec(folder / baseline.FILE, rankings, "t")
    save(folder, results_of(evals))
    return evals


def save(folder, found):
    (folder / "results.json").write_text(json.dumps(found))


def test_a_baseline_of_this_set_is_read_also_where_git_or_an_editor_changed_the_form(measured):
    run, page = measured.folder / baseline.FILE, measured.folder / "results.json"
    found = json.loads(page.read_text())
    assert baseline.verified(measured) == found and baseline.faults(measured) == []
    run.write_bytes(run.read_bytes().replace(b"\n", b"\r\n"))
    page.write_bytes(b"\xef\xbb\xbf" + page.read_bytes().replace(b', "', b',\r\n"'))
    assert baseline.verified(measured) == found


def test_a_run_that_was_replaced_is_told_by_its_file_and_what_to_do(measured):
    run = measured.folder / baseline.FILE
    run.write_text(run.read_text().replace("2.0", "3.0"))
    (said,) = baseline.faults(measured)
    assert said.startswith(f"{measured.folder / 'results.json'}: made on another runs/fixed.trec (")
    assert f": make report EVALS={measured.folder} measures the baseline anew" in said
    with pytest.raises(evalset.EvalSetError, match="another runs/fixed.trec"):
        baseline.verified(measured)
    run.unlink()
    (said,) = baseline.faults(measured)
    assert "another runs/fixed.trec (" in said and ", the folder has nothing): make rep" in said


def test_another_corpus_and_other_labels_are_told_together(measured):
    queries = {**measured.queries, "q1": measured.queries["q1"]._replace(query="other")}
    documents = {"disk-full": measured.documents["disk-full"]}
    said = baseline.faults(measured._replace(queries=queries, documents=documents))
    assert [words.split(" (")[0].split(": ", 1)[1] for words in said] == [
        "made on another corpus",
        "made on other queries and labels",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "results.json:1: broken JSON ("),
        (b"[]", "results.json:1: found [], wanted a JSON object"),
        (b"{}", "results.json:1: field corpus is missing"),
        (b"\xe9", "results.json:1: byte 0xe9 is not UTF-8"),
        (b"", "results.json:1: broken JSON ("),
    ],
)
def test_a_file_that_is_no_result_is_told_with_its_place(measured, text, said):
    (measured.folder / "results.json").write_bytes(text)
    (found,) = baseline.faults(measured)
    assert said in found and "one object a line" not in found


@pytest.mark.parametrize("part", ["corpus", "queries", "run"])
def test_a_hash_that_is_not_there_is_told(measured, part):
    found = baseline.read_results(measured.folder)
    without = {name: value for name, value in found[part].items() if name != "sha256"}
    for value, told in (
        (None, ": found null, wanted object"),
        ([], ": found [], wanted object"),
        (without, ".sha256 is missing"),
        (without | {"sha256": 1}, ".sha256: found 1, wanted string"),
    ):
        save(measured.folder, found | {part: value})
        (said,) = baseline.faults(measured)
        assert f"results.json:1: field {part}{told}; make report EVALS=" in said


IMG = "<img src=x onerror=ran()>"
WRAPPED = {IMG: 1}
CARD = {"query_id": "q", "wanted": "d", "rival": "e", "cause": "c", "unjudged": True, "lacks": []}
ROW = {"query_id": "q", "query": "a", "kind": "k", "split": "dev", "relevant": {"d": 2}}
ROW |= {"retrieved": [["d", 1.5]], "first_rank": None, "measures": {"hit@5": 1}}


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("corpus name", WRAPPED, f'corpus.name: found {{"{IMG}": 1}}, wanted string'),
        ("corpus documents", IMG, f'corpus.documents: found "{IMG}", wanted integer'),
        ("queries n", 3.0, "queries.n: found 3.0, wanted integer"),
        ("queries grades", [0, True], "queries.grades[1]: found true, wanted integer"),
        ("method k1", IMG, f'method.k1: found "{IMG}", wanted number'),
        ("method engine", [[IMG]], f'method.engine: found [["{IMG}"]], wanted string'),
        ("method idf", None, "method.idf: found null, wanted string"),
        ("summary dev measures nDCG@10", IMG, f'measures.nDCG@10: found "{IMG}", wanted number'),
        ("summary dev intervals MAP", [1], "intervals.MAP: found [1], wanted at least 2 items"),
        ("summary dev median_first_rank", IMG, f'rank: found "{IMG}", wanted number or null'),
        ("by_kind dev", {IMG: {}}, f"by_kind.dev.{IMG}.n is missing"),
        ("told_apart dev AUROC", WRAPPED, f'AUROC: found {{"{IMG}": 1}}, wanted number'),
        ("compared_dev runs", {}, "compared_dev.runs: found {}, wanted array"),
        ("compared_dev base name", WRAPPED, f'.name: found {{"{IMG}": 1}}, wanted string'),
        ("evidence dev sets", {IMG: 1}, f"sets.{IMG}: found 1, wanted object"),
        ("evidence best reason", [IMG], f'best.reason: found ["{IMG}"], wanted string'),
        ("evidence lost", {"q": 1}, "evidence.lost.q: found 1, wanted string"),
        ("cards", [CARD | {"lacks": [[IMG]]}], f'cards[0].lacks[0]: found ["{IMG}"], wanted str'),
        ("cards", [CARD | {"unjudged": IMG}], f'unjudged: found "{IMG}", wanted boolean'),
        ("per_query", [ROW | {"retrieved": [[WRAPPED, 1]]}], "retrieved[0][0]: found {"),
        ("per_query", [ROW, ROW | {"query": WRAPPED}], "per_query[1].query: found {"),
    ],
)
def test_a_field_of_another_type_is_told_with_what_is_wanted(measured, place, value, said):
    whole = copy.deepcopy(baseline.read_results(measured.folder))
    part, (*path, last) = whole, place.split()
    for name in path:
        part = part[name]
    part[last] = value
    save(measured.folder, whole)
    (told,) = baseline.faults(measured)
    assert said in told and told.startswith(f"{measured.folder / 'results.json'}:1: field ")


def test_results_of_before_the_hash_say_what_to_do(measured):
    found = baseline.read_results(measured.folder)
    save(measured.folder, {name: part for name, part in found.items() if name != "run"})
    (said,) = baseline.faults(measured)
    assert ":1: field run is missing" in said and "make report EVALS=" in said


def test_a_folder_or_a_dangling_link_in_its_place_cannot_be_read(measured):
    page = measured.folder / "results.json"
    page.unlink()
    os.symlink("gone", page)
    assert "results.json:1: cannot be read (No such file" in baseline.faults(measured)[0]
    page.unlink()
    page.mkdir()
    assert "results.json:1: cannot be read (Is a directory)" in baseline.faults(measured)[0]
