"""What audit and freeze vouch for is read before they do anything."""

import json

import pytest
from conftest import results_of, write_rows
from labelled_sets import add_pool, complete

from helpers import baseline, chunks, evalset, runs, workbook
from helpers.labels import audit, vouched

RUN = {"q1": [("disk-full", 2.0)], "q2": [("queue-full", 1.0)]}


@pytest.fixture
def reported(folder):
    """Return a set with all its label files, chunks, a run with its card, and results.json."""
    evals = evalset.load(complete(folder))
    add_pool(folder)
    chunk_run = {q: [(f"{d}#0", s) for d, s in found] for q, found in RUN.items()}
    runs.save(evals, "fixed", chunk_run, RUN, {})
    spans = [chunks.Chunk(d, 0, 0, len(doc.text), 3) for d, doc in evals.documents.items()]
    chunks.write_chunks(folder / "chunks" / "fixed.jsonl", spans)
    (folder / "results.json").write_text(json.dumps(results_of(evals)))
    return evals


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_whole_set_has_nothing_to_say_and_the_audit_passes_its_baseline(reported):
    assert vouched.unreadable(reported) == []
    *_, last = audit.of_folder(reported)
    assert (last.check, last.status) == ("baseline", "pass")
    assert workbook.freeze_command(reported) == 0


AGAIN = "make report EVALS={} writes chunks, runs and results.json anew"
WRONG = [
    ("pool.jsonl", "{", "pool.jsonl:1: broken JSON"),
    ("second_pass.jsonl", "[]", "second_pass.jsonl:1: found [], wanted a JSON object"),
    ("runs/fixed.trec", "q1 Q0 disk-full", "runs/fixed.trec:1: found 3 fields, wanted 6"),
    ("runs/fixed.jsonl", "[]", "runs/fixed.jsonl:1: found [], wanted"),
    ("runs/fixed.json", "[]", "runs/fixed.json:1: found [], wanted a JSON object"),
    ("runs/other.trec", "q1 Q0 gone 1 2 t", "runs/other.trec:1: document gone is unknown"),
    ("chunks/fixed.jsonl", '{"doc_id": 1}', "chunks/fixed.jsonl:1: found {'doc_id': 1}, wanted"),
    ("results.json", "{}", "results.json:1: field corpus is missing"),
]


@pytest.mark.parametrize(("name", "text", "said"), WRONG)
def test_what_is_wrong_is_told_with_its_place_before_anything_is_written(
    reported, name, text, said
):
    folder = reported.folder
    (folder / name).write_text(text + "\n")
    before = bytes_of(folder)
    for command in (audit.of_folder, workbook.freeze_command):
        with pytest.raises(evalset.EvalSetError) as caught:
            command(reported)
        first, *more = caught.value.problems
        assert first.startswith(f"{folder}/{said}")
        assert more == ([AGAIN.format(folder)] if "/" in name or "results" in name else [])
    assert bytes_of(folder) == before


@pytest.mark.parametrize("name", [name for name, *_ in WRONG])
def test_a_folder_in_place_of_a_file_is_told(reported, name):
    path = reported.folder / name
    path.unlink(missing_ok=True)
    path.mkdir()
    said = vouched.unreadable(reported)
    assert said[0].startswith(str(path)) and "folder" in said[0] or "Is a directory" in said[0]


def test_freeze_draws_new_negatives_over_broken_ones_and_audit_refuses_them(reported):
    (reported.folder / "negatives.jsonl").write_text("{\n")
    with pytest.raises(evalset.EvalSetError, match="negatives.jsonl:1: broken JSON"):
        audit.of_folder(reported)
    assert workbook.freeze_command(reported) == 0
    assert vouched.unreadable(reported) == []


def test_what_was_made_of_another_corpus_waits_for_its_report(reported):
    """After a document went, its runs name it still: that is no reason to stop an audit."""
    folder = reported.folder
    (folder / "corpus" / "new.md").write_text("---\ntitle: new\n---\nA body.\n")
    (folder / "runs" / "fixed.trec").write_text("q1 Q0 gone 1 2 t\n")
    gone = {"doc_id": "gone", "chunk_idx": 0, "start": 0, "end": 1, "n_tokens": 1}
    write_rows(folder / "chunks" / "fixed.jsonl", gone)
    evals = evalset.load(folder)
    assert vouched.unreadable(evals) == []
    *_, last = audit.of_folder(evals)
    assert last[:3] == (
        "baseline",
        "fail",
        "measured on another corpus, another runs/fixed.trec",
    )


def test_a_replaced_run_fails_the_audit_and_a_set_without_a_report_does_not(reported):
    run = reported.folder / baseline.FILE
    run.write_text(run.read_text().replace("2.0", "3.0"))
    *_, last = audit.of_folder(reported)
    assert last[:3] == ("baseline", "fail", "measured on another runs/fixed.trec")
    assert "make report" in last.remedy
    (reported.folder / "results.json").unlink()
    *_, last = audit.of_folder(reported)
    assert last[:3] == ("baseline", "n/a", "no results.json")
