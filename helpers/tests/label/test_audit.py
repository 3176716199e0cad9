"""The audit finds what is wrong with a set, says nothing where nothing is, and names the place."""

import json

import pytest
from conftest import results_of, write_rows
from labelled_sets import BAD_SET, by_check, change, complete, document, rows

from helpers.label import audit, manifest
from helpers.label.checks import Finding
from helpers.measure import evalset, results, runs

TABLE, JUDGED = "retrieval_queries.jsonl", "judgments.jsonl"


@pytest.fixture
def small(folder):
    return complete(folder)


def failing(folder):
    return {check for check, finding in by_check(folder).items() if finding.status == "fail"}


FLAWS = {  # check: what it says of the flaw
    "overlap": ["equal to a title: 4", "q01, q04, q08, q10", "answer: 3", "Put q01, q08, q10 in"],
    "same query": ["q03 = q06"],
    "coverage": ["11 of 24 documents", "service backups"],
    "judged depth": ["of the first 10 of lucene-stemmed are judged"],
    "evidence": ["12 of 14", "q07 billing-refund-policy, q11 site-500-error"],
    "second pass": ["85% agree, kappa 0.19", "Give a reason for q01 domain-dns-records"],
    "negatives": ["1 wrong", "q05 site-php-version (judged relevant)"],
    "leakage": ["q05 and q11 through site-500-error"],
    "near-duplicates": ["email-quota-full ~ email-storage-exceeded"],
    "manifest": ["corpus/billing-refund-policy.md differs"],
}


def test_bad_set_shows_its_ten_flaws_and_nothing_else():
    found = by_check(BAD_SET)
    assert failing(BAD_SET) == {*FLAWS} and len(FLAWS) == 10
    assert {c for c, f in found.items() if f.status == "warn"} == {"size", "easy queries", "halves"}
    for check, words in FLAWS.items():
        assert all(part in " ".join(found[check]) for part in words), found[check]


def imported(small):
    write_rows(small / "settings.json", {"imported": "beir"})
    for name in ("labeling_guide.md", "second_pass.jsonl", "negatives.jsonl", "manifest.json"):
        (small / name).unlink()
    change(small / JUDGED, lambda r: {**r, "evidence": "", "relevance": min(r["relevance"], 1)})
    plain = ("query_id", "query", "relevant_doc_ids", "split")
    change(small / TABLE, lambda r: {name: r[name] for name in plain})
    document(small, "mail", "Restart the relay.", service="mail")
    return small


def test_what_an_import_cannot_have_is_not_applicable(small):
    found = by_check(imported(small))
    assert found["overlap"].status == "pass" and found["size"].status == "warn"
    assert audit.NOT_YOURS not in found["size"].remedy
    lacking = {check: finding.remedy for check, finding in found.items() if finding.status == "n/a"}
    assert lacking == audit.LEFT_OUT
    assert not failing(small)
    (small / "labeling_guide.md").write_text("Short.")
    (small / "negatives.jsonl").write_text("")
    own = ("labelling guide", "negatives")  # brought all the same, so they are asked
    assert {by_check(small)[check].status for check in own} == {"fail", "warn"}
    (small / "labeling_guide.md").unlink(), (small / "negatives.jsonl").unlink()
    (small / "settings.json").unlink()
    assert failing(small) == {"evidence", "labelling guide"}
    assert "not applicable" not in audit.as_table([*by_check(small).values()])


def test_what_an_import_got_wrong_is_a_warning(small):
    one = {"query": "Disk full", "relevant_doc_ids": ["disk-full"]}
    change(imported(small) / TABLE, lambda r: {**r, **one})
    (small / JUDGED).unlink()
    document(small, "copy", evalset.load(small).documents["disk-full"].text)
    found = by_check(small)
    for check in {*audit.THEIRS} - {"quotes"}:
        assert found[check].status == "warn", check
        assert found[check].remedy.endswith(f". {audit.NOT_YOURS}"), check
    manifest.write_manifest(evalset.load(small), {})
    document(small, "copy", "Other words.")
    assert by_check(small)["manifest"].status == "fail"


def test_pairs_that_wait_are_a_warning_where_the_folder_has_a_list(small):
    *judged, zero = rows(small / JUDGED)
    pairs = [{name: row[name] for name in ("query_id", "doc_id")} for row in (judged[0], zero)]
    write_rows(small / "to_read.jsonl", *pairs)
    assert "to read" not in {f.check for f in audit.folder_findings(evalset.load(small))}
    write_rows(small / JUDGED, *judged)
    *_, found, _ = audit.folder_findings(evalset.load(small))
    assert found == ("to read", "warn", "1 pair in to_read.jsonl", "make lab opens them.")


def test_the_table_is_wrapped_and_loses_no_word():
    findings = [
        Finding("a check with a long name", "n/a", "found " * 8, "The source has none."),
        Finding("kinds", "warn", "x", "a-remedy-with-hyphens " * 9 + "z" * 90),
        Finding("size", "pass", "2 queries", ""),
    ]
    lines = audit.as_table(findings).split("\n")
    first = "n/a     a check with a    found found found found found found     The source has none."
    assert lines[2:4] == [first, "        long name         found found"]
    assert lines[-1] == "1 passed, 1 warning, 0 failed, 1 not applicable"
    assert sum(line.count("a-remedy-with-hyphens") for line in lines) == 9
    assert all(len(line) <= 100 for line in lines)


RUN = {"q1": [("disk-full", 2.0)], "q2": [("queue-full", 1.0)]}


@pytest.fixture
def reported(small):
    """Return a set with a run, its card and results.json."""
    evals = evalset.load(small)
    runs.save(evals, "fixed", {}, RUN, {})
    (small / "results.json").write_text(json.dumps(results_of(evals)))
    return evals


def test_a_set_that_cannot_be_read_is_told_with_every_problem(small):
    with (small / "negatives.jsonl").open("a") as file:
        file.write('{"query_id": "q1", "easy": [], "hard": []}\n{"query_id": "q3", "easy": 1}\n')
    change(small / "second_pass.jsonl", lambda row: {**row, "second": 3})
    with pytest.raises(evalset.EvalSetError) as caught:
        audit.findings(evalset.load(small))
    found = [line.rpartition("/")[2] for line in caught.value.problems]
    assert "negatives.jsonl:3: query_id q1 stands already at line 1, wanted each once" in found
    assert "field second is 3, wanted at most 2, unless" in found[0] and len(found) == 6


WRONG = [
    ("pool.jsonl", "{", "pool.jsonl:1: broken JSON"),
    ("second_pass.jsonl", "[]", "second_pass.jsonl:1: found [], wanted a JSON object"),
    ("runs/other.trec", "q1 Q0 disk-full", "runs/other.trec:1: found 3 fields, wanted 6"),
    ("chunks/fixed.jsonl", '{"doc_id": 1}', "chunks/fixed.jsonl:1: "),
    ("results.json", "{}", "results.json:1: data must contain ['by_kind', "),
]


@pytest.mark.parametrize(("name", "page", "words"), WRONG)
def test_what_is_wrong_is_told_with_its_place_before_anything_is_written(
    reported, name, page, words
):
    (reported.folder / name).parent.mkdir(exist_ok=True)
    (reported.folder / name).write_text(page + "\n")
    before = {path: path.read_bytes() for path in reported.folder.rglob("*.*")}
    frozen = [manifest.freeze_command] * (name in manifest.LABEL_FILES)
    for command in (audit.folder_findings, *frozen):
        with pytest.raises(evalset.EvalSetError) as caught:
            command(reported)
        assert caught.value.problems[0].startswith(f"{reported.folder}/{words}")
    assert before == {path: path.read_bytes() for path in reported.folder.rglob("*.*")}


def test_the_baseline_is_the_saved_run(reported):
    assert manifest.unreadable(reported, audit.EXTRAS) == []
    assert audit.folder_findings(reported)[-1][:2] == ("baseline", "pass")
    run = reported.folder / results.RUN
    run.write_text(run.read_text().replace("2.0", "3.0"))
    last = audit.folder_findings(reported)[-1]
    assert last[:3] == ("baseline", "fail", "measured on another runs/fixed.trec")
    (reported.folder / "results.json").unlink()
    assert audit.folder_findings(reported)[-1][:3] == ("baseline", "n/a", "no results.json")
