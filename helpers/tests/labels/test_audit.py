"""The audit finds what is wrong with a set, says nothing where nothing is, and names the place."""

import json
import random
import shutil
import warnings

import pytest
from conftest import write_rows

from helpers import evalset, text
from helpers.labels import audit, pooling

BAD_SET = evalset.DEFAULT.parent / "notebooks" / "bad_set"

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
        ["of the first 10 of okapi-titles are judged"],
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


def by_check(folder):
    return {finding.check: finding for finding in audit.audit(evalset.load(folder))}


def statuses(folder):
    return {check: finding.status for check, finding in by_check(folder).items()}


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def change(path, edit):
    """Rewrite a JSONL file: `edit` takes a row and returns it, changed, or None to drop it."""
    write_rows(path, *(row for row in map(edit, rows(path)) if row))


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
    files = [*audit._inputs(BAD_SET).values(), BAD_SET / "manifest.json"]
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
    "manifest": lambda f: audit.write_manifest(evalset.load(f), {}),
}


@pytest.mark.parametrize("check", MENDS)
def test_mending_one_flaw_silences_its_check_and_no_other(tmp_path, check):
    copy = shutil.copytree(BAD_SET, tmp_path / "set")
    MENDS[check](copy)
    found = statuses(copy)
    assert found[check] != "fail"
    assert {c for c, s in found.items() if s == "fail"} == {c for _, c, _ in FLAWS} - {check}


# Every check fails on a copy that is broken for it, and not before.

GUIDE = "Grade 0 is no help, 1 is a part, 2 is a whole answer. " + "Read it all first. " * 30


@pytest.fixture
def small(folder):
    """Return the two documents of conftest with everything that two documents can have."""
    first = {"query_id": "q1", "query": "server refuses to write logs", "kind": "symptom"}
    second = {"query_id": "q2", "query": "worker wanted", "kind": "keyword"}
    first |= {"relevant_doc_ids": ["disk-full"], "split": "dev", "popularity": "head"}
    second |= {"relevant_doc_ids": ["queue-full"], "split": "test", "popularity": "tail"}
    write_rows(folder / "retrieval_queries.jsonl", first, second)
    zero = {"query_id": "q2", "doc_id": "disk-full", "relevance": 0}
    write_rows(folder / "judgments.jsonl", *rows(folder / "judgments.jsonl"), zero)
    (folder / "labeling_guide.md").write_text(GUIDE)
    pairs = [("q1", "disk-full", 2), ("q1", "queue-full", 0), ("q2", "queue-full", 1)]
    names = ("first", "second", "final")
    again = [
        {"query_id": q, "doc_id": d, "round": 1, **dict.fromkeys(names, grade), "reason": ""}
        for q, d, grade in pairs
    ]
    write_rows(folder / "second_pass.jsonl", *again)
    near = [("q1", "queue-full"), ("q2", "disk-full")]
    write_rows(
        folder / "negatives.jsonl", *({"query_id": q, "easy": [], "hard": [d]} for q, d in near)
    )
    audit.write_manifest(evalset.load(folder), {"pool": 1})
    return folder


def test_small_set_is_only_small(small):
    found = statuses(small)
    assert {c: s for c, s in found.items() if s != "pass"} == {"size": "warn", "negatives": "warn"}


def queries(**fields):
    return lambda f: change(f / "retrieval_queries.jsonl", lambda row: {**row, **fields})


def query(query_id, wording):
    return lambda f: change(
        f / "retrieval_queries.jsonl",
        lambda row: {**row, "query": wording} if row["query_id"] == query_id else row,
    )


def document(folder, doc_id, body, service="disk"):
    page = f"---\ntitle: about {doc_id}\nkind: runbook\nservice: {service}\n---\n{body}\n"
    (folder / "corpus" / f"{doc_id}.md").write_text(page)


def relabel(f):
    change(f / "retrieval_queries.jsonl", lambda row: {**row, "relevant_doc_ids": ["disk-full"]})
    (f / "judgments.jsonl").unlink()


def reach_little(f):
    relabel(f)
    document(f, "mail", "Restart the relay.", service="mail")


def bury(f):
    for n in range(3):
        document(f, f"page{n}", f"server refuses worker wanted logs {'x' * n}")


def disagree(f):
    change(
        f / "second_pass.jsonl",
        lambda row: {**row, "second": 2 - row["first"] if row["first"] != 1 else 0},
    )


def negative(**fields):
    return lambda f: change(
        f / "negatives.jsonl", lambda row: {**row, **fields} if row["query_id"] == "q1" else row
    )


def both_copied(f):
    query("q1", "delete logs")(f)
    query("q2", "consumer")(f)


def add_pool(f):
    write_rows(f / "pool.jsonl", {"query_id": "q1", "doc_id": "disk-full", "rankers": []})


BREAKS = {
    "kinds": ("kinds", queries(kind="keyword"), "keyword 2"),
    "only head": ("head and tail", queries(popularity="head"), "rare needs"),
    "only tail": ("head and tail", queries(popularity="tail"), "frequent needs"),
    "no test": ("halves", queries(split="dev"), "to test"),
    "no dev": ("halves", queries(split="test"), "to dev"),
    "title": ("overlap", query("q1", "Disk: FULL"), "equal to a title: 1"),
    "words of the answer": ("overlap", both_copied, "answers 1.00"),
    "twice": ("same query", query("q2", "LOGS, write to refuses server!"), "q1 = q2"),
    "coverage": ("coverage", reach_little, "1 of 3 documents reached (33%), none of service mail"),
    "depth": ("judged depth", bury, "of 4 rankers"),
    "no quote": (
        "evidence",
        lambda f: change(f / "judgments.jsonl", lambda row: {**row, "evidence": ""}),
        "0 of 2 relevant labels",
    ),
    "short guide": (
        "labelling guide",
        lambda f: (f / "labeling_guide.md").write_text("Give 0, 1 or 2."),
        "5 words",
    ),
    "guide forgets a grade": (
        "labelling guide",
        lambda f: (f / "labeling_guide.md").write_text(GUIDE.replace("1", "one")),
        "grade 1",
    ),
    "no guide": ("labelling guide", lambda f: (f / "labeling_guide.md").unlink(), "no labeling"),
    "readers disagree": ("second pass", disagree, "0% agree, kappa -0.50"),
    "other final grade": (
        "second pass",
        lambda f: change(f / "second_pass.jsonl", lambda row: {**row, "final": 2}),
        "q1 queue-full, q2 queue-full",
    ),
    "relevant negative": ("negatives", negative(hard=["disk-full"]), "disk-full (judged relevant)"),
    "easy and hard": ("negatives", negative(easy=["queue-full"]), "queue-full (easy and hard)"),
    "one answer on both sides": ("leakage", relabel, "q1 and q2 through disk-full"),
    "near-duplicate on both sides": (
        "leakage",
        lambda f: [
            document(f, "copy", "Delete <old> logs. Then <|endoftext|> call Storage, now."),
            (f / "judgments.jsonl").unlink(),
            change(
                f / "retrieval_queries.jsonl",
                lambda r: {**r, "relevant_doc_ids": ["copy"]} if r["query_id"] == "q2" else r,
            ),
        ],
        "q1 and q2 through disk-full ~ copy",
    ),
    "near-duplicate": (
        "near-duplicates",
        lambda f: document(f, "copy", "Delete <old> logs. Then <|endoftext|> call Storage, now."),
        "copy ~ disk-full (0.75)",
    ),
    "changed": (
        "manifest",
        lambda f: document(f, "disk-full", "Delete <old> logs."),
        "corpus/disk-full.md differs",
    ),
    "added": ("manifest", add_pool, "pool.jsonl is not in the manifest"),
    "missing": (
        "manifest",
        lambda f: (f / "second_pass.jsonl").unlink(),
        "second_pass.jsonl is missing",
    ),
    "broken manifest": (
        "manifest",
        lambda f: (f / "manifest.json").write_text("[]"),
        "cannot be read",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_each_check_fails_on_a_broken_copy(small, name):
    check, damage, shown = BREAKS[name]
    damage(small)
    finding = by_check(small)[check]
    assert finding.status == "fail" and finding.remedy, finding
    assert shown in f"{finding.found} {finding.remedy}"


WARNINGS = {
    "no kinds": ("kinds", queries(kind="unspecified"), "Give each query a kind"),
    "few queries": ("size", lambda f: None, "2 queries can show no difference below 1.00 nDCG"),
    "few documents": ("size", lambda f: None, "Ten results out of 2"),
    "close to the answers": (
        "overlap",
        lambda f: [
            query("q1", "delete old logs storage call pigs")(f),
            query("q2", "add queue consumer")(f),
        ],
        "answers 0.92",
    ),
    "popularity not marked": (
        "head and tail",
        lambda f: change(
            f / "retrieval_queries.jsonl",
            lambda r: {k: v for k, v in r.items() if k != "popularity"},
        ),
        "Mark the popularity",
    ),
    "no manifest": ("manifest", lambda f: (f / "manifest.json").unlink(), "no manifest"),
    "one reading": ("second pass", lambda f: (f / "second_pass.jsonl").unlink(), "no second"),
    "only zeros read again": (
        "second pass",
        lambda f: change(f / "second_pass.jsonl", lambda row: None if row["first"] else row),
        "kappa undefined",
    ),
    "no negatives": ("negatives", lambda f: (f / "negatives.jsonl").unlink(), "no negatives"),
    "no graded labels": ("evidence", lambda f: (f / "judgments.jsonl").unlink(), "judgments.jsonl"),
    "one grade": (
        "labels per query",
        lambda f: change(
            f / "judgments.jsonl", lambda r: {**r, "relevance": 2 * bool(r["relevance"])}
        ),
        "partial ones",
    ),
    "some unjudged": (
        "judged depth",
        lambda f: [
            query("q1", "add delete")(f),
            change(f / "judgments.jsonl", lambda r: r if r["relevance"] else None),
        ],
        "of the first 10",
    ),
    "twins that answer nothing": (
        "near-duplicates",
        lambda f: [document(f, name, "Mop the floor of the hall at noon.") for name in "ab"],
        "a ~ b (1.00)",
    ),
    "service nobody asks about": (
        "coverage",
        lambda f: document(f, "mail", "Restart the relay.", service="mail"),
        "service mail",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_weak_sets_are_warned_of(small, name):
    check, damage, shown = WARNINGS[name]
    damage(small)
    finding = by_check(small)[check]
    assert finding.status == "warn" and finding.remedy, finding
    assert shown in f"{finding.found} {finding.remedy}"


def test_query_without_or_with_many_labels(small):
    evals = evalset.load(small)
    case = audit.Case(evals._replace(judgments=[]), None, None, {}, set())
    assert audit.labels_per_query(case).remedy.startswith("Label q1, q2")
    many = [evalset.Judgment("q1", f"d{n}", 1 + n % 2) for n in range(21)]
    case = case._replace(evals=evals._replace(judgments=[*many, evalset.Judgment("q2", "d", 1)]))
    assert audit.labels_per_query(case)[1:] == (
        "warn",
        "1 to 21 relevant documents a query; grade 0 0, 1 12, 2 10",
        "Narrow q1: over 20 answers.",
    )


def test_halves_that_differ_by_kind_and_second_pass_that_is_short():
    def case(*splits):
        found = {
            str(n): evalset.Query(str(n), "?", (), kind, "", split)
            for n, (kind, split) in enumerate(splits)
        }
        return audit.Case(evalset.EvalSet(BAD_SET, {}, found, []), None, None, {}, set())

    even = [("a", "dev"), ("a", "test"), ("b", "dev"), ("b", "test"), ("c", "dev")]
    assert audit.halves(case(*even)).status == "pass"
    uneven = audit.halves(case(*even, ("c", "dev")))
    assert uneven.status == "warn" and uneven.remedy.endswith("dev and test: c.")
    three_to_one = audit.halves(case(*[("a", "dev")] * 3, ("a", "test")))
    assert three_to_one.status == "warn"
    assert audit.halves(case(*[("a", "dev")] * 4, *[("a", "test")] * 2)).status == "pass"
    assert audit.kinds(case(*[("a", "dev")] * 4, ("b", "dev"))).status == "warn"
    assert audit.kinds(case(*[("a", "dev")] * 3, ("b", "dev"))).status == "pass"

    qrels = [evalset.Judgment("q", str(n), n % 3) for n in range(700)]
    again = [
        {"query_id": "q", "doc_id": str(n), **dict.fromkeys(("first", "second", "final"), n % 3)}
        for n in range(119)
    ]
    evals = evalset.EvalSet(BAD_SET, {}, {"q": evalset.Query("q", "?", ())}, qrels)
    short = audit.second_pass(audit.Case(evals, None, again, {}, set()))
    assert (short.status, short.remedy) == ("warn", "Judge at least 120 pairs twice.")
    few = evals._replace(judgments=qrels[:500])
    assert audit.second_pass(audit.Case(few, None, again, {}, set())).status == "pass"
    fair = [
        {**row, "second": (row["first"] + (n // 3 % 3 == 0)) % 3, "reason": "an edge case"}
        for n, row in enumerate(again)
    ]
    middling = audit.second_pass(audit.Case(few, None, fair, {}, set()))
    assert middling.status == "warn" and "kappa 0.48" in middling.found


def test_kappa_agrees_with_the_formula_and_stays_quiet():
    pairs = [(0, 0)] * 17 + [(0, 1), (1, 0), (2, 1)]
    chance = (18 * 18 + 1 * 2 + 1 * 0) / 20**2
    readings = [{"first": a, "second": b} for a, b in pairs]
    assert audit._kappa(readings, (0, 1, 2)) == pytest.approx((17 / 20 - chance) / (1 - chance))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert audit._kappa([{"first": 0, "second": 0}], (0, 1, 2)) is None


@pytest.mark.parametrize("tail, status", ((1, "warn"), (2, "pass"), (18, "pass"), (19, "warn")))
def test_head_and_tail_may_differ_threefold(tail, status):
    marks = ["head"] * 6 + ["tail"] * tail
    found = {str(n): evalset.Query(str(n), "?", (), "", mark) for n, mark in enumerate(marks)}
    case = audit.Case(evalset.EvalSet(BAD_SET, {}, found, []), None, None, {}, set())
    assert audit.head_and_tail(case).status == status


def test_ten_easy_and_ten_hard_negatives_are_wanted():
    evals = evalset.load(BAD_SET)
    row = {"query_id": "q01", "easy": list("abcdefghij"), "hard": list("klmnopqrs")}
    found = audit.negatives(audit.Case(evals, [row], None, {}, set()))
    assert found.found.startswith("10 easy and 10 hard for 0 of 12 queries")
    row["hard"].append("t")
    assert "for 1 of 12" in audit.negatives(audit.Case(evals, [row], None, {}, set())).found


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
    for pair in pooling.pool(pooling.rankings(evals)):
        if pair["doc_id"] not in evals.queries[pair["query_id"]].relevant_doc_ids:
            zeros.setdefault(pair["query_id"], []).append(pair["doc_id"])
    for q in evals.queries.values():
        for grade, doc_id in zip((2, 1), q.relevant_doc_ids, strict=True):
            row = {"query_id": q.query_id, "doc_id": doc_id, "relevance": grade}
            labels.append(row | {"evidence": texts[doc_id][9]})
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


def test_clean_set_passes_every_check(tmp_path):
    texts = clean_documents(tmp_path, random.Random(4))
    write_rows(tmp_path / "retrieval_queries.jsonl", *clean_queries(texts))
    write_rows(tmp_path / "negatives.jsonl", *clean_labels(tmp_path, texts))
    (tmp_path / "labeling_guide.md").write_text(GUIDE)
    audit.write_manifest(evalset.load(tmp_path), {})
    findings = audit.audit(evalset.load(tmp_path))
    assert [f for f in findings if f.status != "pass" or f.remedy] == []
    assert audit.table(findings).endswith("\n16 passed, 0 warnings, 0 failed")


# Folders that cannot be read.


def test_folder_that_cannot_be_read(tmp_path, small):
    with pytest.raises(evalset.EvalSetError, match="no documents found"):
        audit.audit(evalset.load(tmp_path / "nowhere"))
    with (small / "negatives.jsonl").open("a") as file:
        file.write('{"query_id": "q1", "easy": [], "hard": []}\n{"query_id": "q3", "easy": 1}\n')
    change(small / "second_pass.jsonl", lambda row: {**row, "second": 3})
    with pytest.raises(evalset.EvalSetError) as caught:
        audit.audit(evalset.load(small))
    found = [line.rpartition("/")[2] for line in caught.value.problems]
    assert found[0] == "negatives.jsonl:3: query_id q1 stands already at line 1, wanted each once"
    assert found[1].startswith("negatives.jsonl:4: field hard is missing")
    assert "field second is 3, wanted 0, 1 or 2" in found[-1] and len(found) == 6


# Components and leaks.


def asked(**queries):
    """Return a set without files: name_of_query=(split, "documents")."""
    found = {q: evalset.Query(q, q, tuple(d.split()), "", "", s) for q, (s, d) in queries.items()}
    ids = sorted({*"abcdef", *(d for q in found.values() for d in q.relevant_doc_ids)})
    documents = {d: evalset.Document(d, d, d) for d in ids}
    return evalset.EvalSet(BAD_SET, documents, found, [])


def test_components_join_through_shared_and_alike_documents():
    evals = asked(q1=("dev", "a"), q2=("dev", "a b"), q3=("test", "c"), q4=("test", "d"))
    assert audit.components(evals, set()) == [{"q1", "q2"}, {"q3"}, {"q4"}]
    assert audit.components(evals, {("b", "c")}) == [{"q1", "q2", "q3"}, {"q4"}]
    # b and d are alike through e, which answers nothing
    assert audit.components(evals, {("b", "e"), ("d", "e")}) == [{"q1", "q2", "q4"}, {"q3"}]


def test_leaks_name_queries_and_documents():
    evals = asked(q1=("test", "a"), q2=("dev", "a b"), q3=("test", "c"), q4=("dev", "d"))
    assert audit.leaks(evals, set()) == [("q2", "q1", "a", "a")]
    assert audit.leaks(evals, {("b", "c")}) == [("q2", "q1", "a", "a"), ("q2", "q3", "b", "c")]
    assert audit.leaks(evals, {("c", "e"), ("d", "e")})[1:] == [("q4", "q3", "d", "c")]


def test_query_and_document_of_one_name_are_two_things():
    evals = asked(a=("dev", "b"), b=("test", "a"))
    assert audit.components(evals, set()) == [{"a"}, {"b"}] and audit.leaks(evals, set()) == []


def test_versions_and_near_duplicates_are_links(small):
    relabelled = {"q1": ["old-v1"], "q2": ["old-v2"]}
    for name in ("old-v1", "old-v2"):
        document(small, name, f"Call the two people on duty and wait for both. Ask for {name}.")
        path = small / "corpus" / f"{name}.md"
        path.write_text(path.read_text().replace("kind:", f"version: '{name[-1]}'\nkind:"))
    change(
        small / "retrieval_queries.jsonl",
        lambda row: {**row, "relevant_doc_ids": relabelled[row["query_id"]]},
    )
    (small / "judgments.jsonl").unlink()
    evals = evalset.load(small)
    assert audit.leaks(evals) == [("q1", "q2", "old-v1", "old-v2")]
    assert audit.components(evals) == [{"q1", "q2"}]
    assert by_check(small)["near-duplicates"].status == "pass"


def test_there_are_leaks_exactly_where_a_component_is_in_both_halves():
    rng = random.Random(0)
    for _ in range(200):
        evals = asked(
            **{
                f"q{n}": (rng.choice(evalset.SPLITS), " ".join(rng.sample("abcdef", 2)))
                for n in range(rng.randint(1, 4))
            }
        )
        links = {tuple(sorted(rng.sample("abcdef", 2))) for _ in range(rng.randint(0, 2))}
        mixed = {
            q
            for group in audit.components(evals, links)
            if len({evals.queries[q].split for q in group}) > 1
            for q in group
        }
        leaking = {q for leak in audit.leaks(evals, links) for q in leak[:2]}
        assert leaking <= mixed and bool(leaking) == bool(mixed)


# Manifest and table.


def test_manifest_is_the_same_twice_and_survives_windows_line_ends(small):
    path = audit.write_manifest(evalset.load(small), {"b": 2, "a": 1})
    before = path.read_bytes()
    held = json.loads(before)
    assert held["counts"] == {
        "documents": 2,
        "queries": 2,
        "judgments": {"0": 2, "1": 1, "2": 1},
    }
    assert list(held) == sorted(held) and list(held["seeds"]) == ["a", "b"]
    assert sorted(held["versions"]) == sorted(audit.PACKAGES) and len(held["files"]) == 7
    for name in held["files"]:
        file = small / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert audit.manifest_problems(small) == []
    assert audit.write_manifest(evalset.load(small), {"a": 1, "b": 2}).read_bytes() == before


def test_manifest_names_changed_missing_and_added_files(small):
    document(small, "disk-full", "Other words.")
    (small / "corpus" / "queue-full.md").unlink()
    (small / "negatives.jsonl").unlink()
    document(small, "new", "New words.")
    add_pool(small)
    assert audit.manifest_problems(small) == [
        "corpus/disk-full.md differs",
        "corpus/new.md is not in the manifest",
        "corpus/queue-full.md is missing",
        "negatives.jsonl is missing",
        "pool.jsonl is not in the manifest",
    ]


def test_table_is_narrow_and_loses_no_word():
    findings = [
        audit.Finding("size", "pass", "many words " * 20, ""),
        audit.Finding("kinds", "warn", "x", "a-remedy-with-hyphens " * 9 + "z" * 90),
        audit.Finding("labels per query", "fail", "y", "end"),
    ]
    shown = audit.table(findings)
    assert max(map(len, shown.splitlines())) <= 100
    assert shown.splitlines()[-1] == "1 passed, 1 warning, 1 failed"
    assert shown.count("many") == 20 and shown.count("a-remedy-with-hyphens") == 9
    assert shown.count("z") >= 90 and "fail    labels per query  y" in shown
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_two_versions_of_a_text_count_as_one_document(folder):
    pages = {"rollback-v1": "Ask the release manager.", "rollback-v2": "Type slipway revert."}
    for doc_id, body in pages.items():
        page = f'---\ntitle: {doc_id}\nversion: "{doc_id[-1]}"\n---\n{body}\n'
        (folder / "corpus" / f"{doc_id}.md").write_text(page, encoding="utf-8")
    (folder / "judgments.jsonl").unlink()
    write_rows(
        folder / "retrieval_queries.jsonl",
        {"query_id": "q1", "query": "undo", "relevant_doc_ids": ["rollback-v1"], "split": "dev"},
        {"query_id": "q2", "query": "back", "relevant_doc_ids": ["rollback-v2"], "split": "test"},
    )
    evals = evalset.load(folder)
    assert audit.leaks(evals) == [("q1", "q2", "rollback-v1", "rollback-v2")]
    assert audit.components(evals) == [{"q1", "q2"}]


def test_the_second_pass_has_one_schema_and_the_grades_of_the_set(small):
    path = small / "second_pass.jsonl"
    change(path, lambda row: {k: v for k, v in row.items() if k not in ("round", "reason")})
    with pytest.raises(evalset.EvalSetError, match=r"second_pass.jsonl:1: field round is missing"):
        audit.audit(evalset.load(small))
    change(path, lambda row: {**row, "round": 1, "reason": "", "second": min(row["first"] + 1, 3)})
    (small / "settings.json").write_text('{"highest_grade": 3}')
    evals = evalset.load(small)
    kappa = audit._kappa(evalset.read_extra(evals, path.name), evals.grades)
    assert kappa == pytest.approx((0 - 2 / 9) / (1 - 2 / 9))
    assert f"kappa {kappa:.2f}" in next(
        finding.found for finding in audit.audit(evals) if finding.check == "second pass"
    )
