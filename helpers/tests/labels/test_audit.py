"""The audit finds what is wrong with a set, says nothing where nothing is, and names the place."""

import random
import shutil

import pytest
from conftest import write_rows
from labelled_sets import BAD_SET, GUIDE, by_check, change, complete, rows

from helpers import evalset, text
from helpers.labels import audit, checks, manifest, pooling

# The solution to notebooks/bad_set: what is wrong, the check that finds it, what the check says.
FLAWS = [
    (
        "four queries are titles of documents: q01, q04, q08 and q10",
        "overlap",
        ["equal to a title: 4", "q01, q04, q08, q10"],
    ),
    ("one question is asked twice: q03 and q06", "same query", ["q03 = q06"]),
    (
        "11 of 24 documents are reached, and nobody asks about backups, though the card says so",
        "coverage",
        ["11 of 24 documents", "service backups"],
    ),
    (
        "the card says the pool was judged, but most of the first ten results are not",
        "judged depth",
        ["of the first 10 of lucene-stemmed are judged"],
    ),
    (
        "two relevant labels have no quote: q07 and q11",
        "evidence",
        ["12 of 14", "q07 billing-refund-policy, q11 site-500-error"],
    ),
    (
        "second reading of 18 easy zeros: 85 % agreement, kappa 0.19, disagreements unexplained",
        "second pass",
        ["18 of grade 0", "85% agree, kappa 0.19", "q01 domain-dns-records"],
    ),
    (
        "a hard negative of q05 is one of its answers: site-php-version",
        "negatives",
        ["1 wrong", "q05 site-php-version (judged relevant)"],
    ),
    (
        "site-500-error answers q05 in dev and q11 in test",
        "leakage",
        ["q05 and q11 through site-500-error"],
    ),
    (
        "email-quota-full and email-storage-exceeded say the same; each answers one query only",
        "near-duplicates",
        ["email-quota-full ~ email-storage-exceeded"],
    ),
    (
        "billing-refund-policy was edited after the manifest was written",
        "manifest",
        ["corpus/billing-refund-policy.md differs"],
    ),
]


def statuses(folder):
    return {check: finding.status for check, finding in by_check(folder).items()}


@pytest.fixture
def small(folder):
    return complete(folder)


# The bad set.


def test_bad_set_shows_its_ten_flaws_and_nothing_else():
    found = by_check(BAD_SET)
    assert len(FLAWS) == 10 == len({check for _, check, _ in FLAWS})
    assert {c for c, f in found.items() if f.status == "fail"} == {check for _, check, _ in FLAWS}
    assert {c for c, f in found.items() if f.status == "warn"} == {"size"}
    for flaw, check, shown in FLAWS:
        said = f"{found[check].found} {found[check].remedy}"
        assert all(part in said for part in shown), f"{flaw}: {said}"


def test_bad_set_does_not_tell():
    files = [*manifest.inputs(BAD_SET).values(), BAD_SET / "manifest.json"]
    assert len(files) == 24 + 7
    for path in files:
        words = set(text.words(path.read_text(encoding="utf-8")))
        assert not words & {"flaw", "flaws", "bad", "planted", "deliberate", "deliberately", "leak"}


def mend_titles(row):
    own = {"q01": "point my name to ns1", "q04": "mails stay in the queue"}
    own |= {"q08": "get 4 GB of SQL in", "q10": "bank said no"}
    return {**row, "query": own.get(row["query_id"], row["query"])}


def mend_coverage(row):
    if row["query_id"] != "q06":
        return row
    answers = ["site-certificate", "backup-schedule", "backup-own-copies", "site-redirects"]
    return {**row, "relevant_doc_ids": answers}


def judge_all(folder):
    evals = evalset.load(folder)
    known = evals.qrels()
    more = [
        {"query_id": q, "doc_id": d, "relevance": 0}
        for q in evals.queries
        for d in evals.documents
        if d not in known[q]
    ]
    write_rows(folder / "judgments.jsonl", *rows(folder / "judgments.jsonl"), *more)


def quote(row):
    quotes = {"q07": "within 30 days of the first order", "q11": "the script hit its ceiling"}
    return {"evidence": quotes.get(row["query_id"], ""), **row} if row["relevance"] else row


def mend_coverage_files(folder):
    change(folder / "retrieval_queries.jsonl", mend_coverage)
    new = [("q06", d) for d in ("backup-schedule", "backup-own-copies", "site-redirects")]
    change(
        folder / "judgments.jsonl",
        lambda r: None if (r["query_id"], r["doc_id"]) in new else r,
    )
    texts = evalset._read_corpus(folder, [])
    labels = [
        {"query_id": q, "doc_id": d, "relevance": 1, "evidence": texts[d].text[:20]} for q, d in new
    ]
    write_rows(folder / "judgments.jsonl", *rows(folder / "judgments.jsonl"), *labels)


MENDS = {
    "overlap": lambda f: change(f / "retrieval_queries.jsonl", mend_titles),
    "same query": lambda f: change(
        f / "retrieval_queries.jsonl",
        lambda r: {**r, "query": "padlock is gone"} if r["query_id"] == "q06" else r,
    ),
    "coverage": mend_coverage_files,
    "judged depth": judge_all,
    "evidence": lambda f: change(f / "judgments.jsonl", quote),
    "second pass": lambda f: change(f / "second_pass.jsonl", lambda r: {**r, "second": r["first"]}),
    "negatives": lambda f: change(
        f / "negatives.jsonl",
        lambda r: {**r, "hard": [d for d in r["hard"] if d != "site-php-version"]},
    ),
    "leakage": lambda f: change(
        f / "retrieval_queries.jsonl",
        lambda r: {**r, "split": "dev" if r["query_id"] in ("q09", "q11") else r["split"]},
    ),
    "near-duplicates": lambda f: (f / "corpus" / "email-quota-full.md").write_text(
        "---\ntitle: Mailbox full\nkind: faq\nservice: email\n---\nTo make room at once, sort the "
        "Sent folder by size in webmail and remove the largest attachments\n"
    ),
    "manifest": lambda f: manifest.write_manifest(evalset.load(f), {}),
}


@pytest.mark.parametrize("check", MENDS)
def test_mending_one_flaw_silences_its_check_and_no_other(tmp_path, check):
    copy = shutil.copytree(BAD_SET, tmp_path / "set")
    MENDS[check](copy)
    found = statuses(copy)
    assert found[check] != "fail"
    assert {c for c, s in found.items() if s == "fail"} == {c for _, c, _ in FLAWS} - {check}


def test_small_set_is_only_small(small):
    found = statuses(small)
    assert {c: s for c, s in found.items() if s != "pass"} == {"size": "warn", "negatives": "warn"}


# A set with nothing to complain about.


def clean_documents(folder, rng):
    vocabulary = ["".join(rng.choices("bdfgklmnprst", k=4)) + "a" for _ in range(3000)]
    texts = {f"d{n:03}": rng.sample(vocabulary, 40) for n in range(100)}
    rows = (
        {"doc_id": d, "title": " ".join(words[:3]), "text": " ".join(words[3:])}
        | {"kind": "runbook", "service": "disk"}
        for d, words in texts.items()
    )
    write_rows(folder / "corpus.jsonl", *rows)
    return texts


def clean_queries(texts):
    for n in range(30):
        answers = [f"d{3 * n:03}", f"d{3 * n + 1:03}"]
        wording = [*texts[answers[0]][5:8], "ofwhich"]
        yield {
            "query_id": f"q{n:02}",
            "query": " ".join(wording),
            "relevant_doc_ids": answers,
            "kind": ("keyword", "symptom", "multi")[n % 3],
            "popularity": ("head", "tail")[n // 3 % 2],
            "split": ("dev", "test")[n // 15],
        }


def clean_labels(folder, texts):
    evals, labels, zeros = evalset.load(folder), [], {}
    for pair in pooling.pool(pooling.by_ranker(evals)):
        if pair["doc_id"] not in evals.queries[pair["query_id"]].relevant_doc_ids:
            zeros.setdefault(pair["query_id"], []).append(pair["doc_id"])
    for q in evals.queries.values():
        for grade, doc_id in zip((2, 1), q.relevant_doc_ids, strict=True):
            row = {"query_id": q.query_id, "doc_id": doc_id, "relevance": grade}
            labels.append(row | {"evidence": " ".join(texts[doc_id][9:13])})
        for doc_id in zeros[q.query_id]:
            labels.append({"query_id": q.query_id, "doc_id": doc_id, "relevance": 0})
        others = [d for d in texts if d not in q.relevant_doc_ids]
        yield {"query_id": q.query_id, "easy": others[:10], "hard": others[-10:]}
    write_rows(folder / "judgments.jsonl", *labels)
    again = (
        {"query_id": r["query_id"], "doc_id": r["doc_id"], "round": 1, "reason": ""}
        | dict.fromkeys(("first", "second", "final"), r["relevance"])
        for r in labels[:130]
    )
    write_rows(folder / "second_pass.jsonl", *again)


@pytest.mark.proof
def test_clean_set_passes_every_check(tmp_path):
    texts = clean_documents(tmp_path, random.Random(4))
    write_rows(tmp_path / "retrieval_queries.jsonl", *clean_queries(texts))
    write_rows(tmp_path / "negatives.jsonl", *clean_labels(tmp_path, texts))
    (tmp_path / "labeling_guide.md").write_text(GUIDE)
    manifest.write_manifest(evalset.load(tmp_path), {})
    findings = audit.findings(evalset.load(tmp_path))
    assert [f for f in findings if f.status != "pass" or f.remedy] == []
    assert audit.as_table(findings).endswith("\n17 passed, 0 warnings, 0 failed")


# Folders that cannot be read, and the table.


def test_folder_that_cannot_be_read(tmp_path, small):
    with pytest.raises(evalset.EvalSetError, match="no documents found"):
        audit.findings(evalset.load(tmp_path / "nowhere"))
    with (small / "negatives.jsonl").open("a") as file:
        file.write('{"query_id": "q1", "easy": [], "hard": []}\n{"query_id": "q3", "easy": 1}\n')
    change(small / "second_pass.jsonl", lambda row: {**row, "second": 3})
    with pytest.raises(evalset.EvalSetError) as caught:
        audit.findings(evalset.load(small))
    found = [line.rpartition("/")[2] for line in caught.value.problems]
    assert found[0] == "negatives.jsonl:3: query_id q1 stands already at line 1, wanted each once"
    assert found[1].startswith("negatives.jsonl:4: field hard is missing")
    assert "field second is 3, wanted 0, 1 or 2" in found[-1] and len(found) == 6


def test_table_is_narrow_and_loses_no_word():
    findings = [
        checks.Finding("size", "pass", "many words " * 20, ""),
        checks.Finding("kinds", "warn", "x", "a-remedy-with-hyphens " * 9 + "z" * 90),
        checks.Finding("labels per query", "fail", "y", "end"),
    ]
    shown = audit.as_table(findings)
    assert max(map(len, shown.splitlines())) <= 100
    assert shown.splitlines()[-1] == "1 passed, 1 warning, 1 failed"
    assert shown.count("many") == 20 and shown.count("a-remedy-with-hyphens") == 9
    assert shown.count("z") >= 90 and "fail    labels per query  y" in shown
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_the_table_word_for_word():
    findings = [
        checks.Finding("size", "pass", "2 queries", ""),
        checks.Finding("a check with a long name", "n/a", "found " * 8, "The source has none."),
    ]
    assert audit.as_table(findings).split("\n") == [
        "status  check             found                                   remedy",
        f"{'-' * 6}  {'-' * 16}  {'-' * 38}  {'-' * 34}",
        "pass    size              2 queries",
        "n/a     a check with a    found found found found found found     The source has none.",
        "        long name         found found",
        "",
        "1 passed, 0 warnings, 0 failed, 1 not applicable",
    ]


EXTRA = {
    "second pass": ("second_pass.jsonl", {"first": 0, "second": 2, "final": 2, "reason": ""}),
    "negatives": ("negatives.jsonl", {"easy": [], "hard": ["disk-full"]}),
}


@pytest.mark.parametrize("check", EXTRA)
def test_files_that_somebody_added_to_an_import_are_checked(small, check):
    (small / "settings.json").write_text('{"imported": "beir"}')
    name, fields = EXTRA[check]
    (small / name).unlink()
    assert statuses(small)[check] == "n/a"
    pair = {"query_id": "q1", "doc_id": "disk-full", "round": 1} if "first" in fields else {}
    write_rows(small / name, {"query_id": "q1", **pair, **fields})
    found = by_check(small)[check]
    assert found.status in ("warn", "fail") and found.remedy


def test_a_finding_of_an_import_keeps_what_was_found(small):
    (small / "settings.json").write_text('{"imported": "beir"}')
    evals = evalset.load(small)
    kept = checks.Finding("size", "warn", "2 queries", "Write more.")
    assert audit._of_import(evals, kept) == kept
    kept = checks.Finding("overlap", "warn", "most", "Add paraphrases.")
    assert audit._of_import(evals, kept) == kept
    kept = checks.Finding("manifest", "fail", "a differs", "Look.")
    assert audit._of_import(evals, kept) == kept
    torn = checks.Finding("leakage", "fail", "q1 and q2", "Put them into one half.")
    assert audit._of_import(evals, torn) == (
        "leakage",
        "warn",
        "q1 and q2",
        "Put them into one half. Else the source's own halves leak, or no halves can part these "
        "queries.",
    )
    lacking = checks.Finding("kinds", "warn", "unspecified 2", "Give each query a kind.")
    reason = "The source sets the kinds of its queries."
    assert audit._of_import(evals, lacking) == ("kinds", "n/a", "unspecified 2", reason)
    whole = checks.Finding("kinds", "pass", "a 1, b 1", "")
    assert audit._of_import(evals, whole) == whole
