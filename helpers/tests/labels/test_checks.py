"""Every check fails or warns on a copy that is broken for it, and not before."""

import warnings

import pytest
from labelled_sets import BAD_SET, GUIDE, add_pool, by_check, change, complete, document

from helpers import evalset, stats
from helpers.labels import audit, checks


@pytest.fixture
def small(folder):
    return complete(folder)


def queries(**fields):
    return lambda f: change(f / "retrieval_queries.jsonl", lambda row: {**row, **fields})


def query(query_id, wording):
    return lambda f: change(
        f / "retrieval_queries.jsonl",
        lambda row: {**row, "query": wording} if row["query_id"] == query_id else row,
    )


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


BREAKS = {
    "kinds": ("kinds", queries(kind="keyword"), "keyword 2"),
    "only head": ("head and tail", queries(popularity="head"), "rare needs"),
    "only tail": ("head and tail", queries(popularity="tail"), "frequent needs"),
    "no test": ("halves", queries(split="dev"), "to test"),
    "no dev": ("halves", queries(split="test"), "to dev"),
    "title": ("overlap", query("q1", "Disk: FULL"), "equal to a title: 1"),
    "words of the answer": ("overlap", both_copied, "answers 1.00"),
    "twice": ("same query", query("q2", "Server: refuses to write LOGS!"), "q1 = q2"),
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
    case = checks.AuditCase(evals._replace(judgments=[]), None, None, {}, set())
    assert checks.check_labels_per_query(case).remedy.startswith("Label q1, q2")
    many = [evalset.Judgment("q1", f"d{n}", 1 + n % 2) for n in range(21)]
    case = case._replace(evals=evals._replace(judgments=[*many, evalset.Judgment("q2", "d", 1)]))
    assert checks.check_labels_per_query(case)[1:] == (
        "warn",
        "1 to 21 relevant documents a query; grade 1 12, 2 10",
        "Narrow q1: over 20 answers.",
    )


def test_halves_that_differ_by_kind_and_second_pass_that_is_short():
    def case(*splits):
        found = {
            str(n): evalset.Query(str(n), "?", (), kind, "", split)
            for n, (kind, split) in enumerate(splits)
        }
        return checks.AuditCase(evalset.EvalSet(BAD_SET, {}, found, []), None, None, {}, set())

    even = [("a", "dev"), ("a", "test"), ("b", "dev"), ("b", "test"), ("c", "dev")]
    assert checks.check_halves(case(*even)).status == "pass"
    uneven = checks.check_halves(case(*even, ("c", "dev")))
    assert uneven.status == "warn" and uneven.remedy.endswith("dev and test: c.")
    three_to_one = checks.check_halves(case(*[("a", "dev")] * 3, ("a", "test")))
    assert three_to_one.status == "warn"
    assert checks.check_halves(case(*[("a", "dev")] * 4, *[("a", "test")] * 2)).status == "pass"
    assert checks.check_kinds(case(*[("a", "dev")] * 4, ("b", "dev"))).status == "warn"
    assert checks.check_kinds(case(*[("a", "dev")] * 3, ("b", "dev"))).status == "pass"

    qrels = [evalset.Judgment("q", str(n), n % 3) for n in range(700)]
    again = [
        {"query_id": "q", "doc_id": str(n), **dict.fromkeys(("first", "second", "final"), n % 3)}
        for n in range(119)
    ]
    evals = evalset.EvalSet(BAD_SET, {}, {"q": evalset.Query("q", "?", ())}, qrels)
    short = checks.check_second_pass(checks.AuditCase(evals, None, again, {}, set()))
    assert (short.status, short.remedy) == ("warn", "Judge at least 120 pairs twice.")
    few = evals._replace(judgments=qrels[:500])
    assert checks.check_second_pass(checks.AuditCase(few, None, again, {}, set())).status == "pass"
    fair = [
        {**row, "second": (row["first"] + (n // 3 % 3 == 0)) % 3, "reason": "an edge case"}
        for n, row in enumerate(again)
    ]
    middling = checks.check_second_pass(checks.AuditCase(few, None, fair, {}, set()))
    assert middling.status == "warn" and "kappa 0.48" in middling.found


def test_kappa_agrees_with_the_formula_and_stays_quiet():
    pairs = [(0, 0)] * 17 + [(0, 1), (1, 0), (2, 1)]
    chance = (18 * 18 + 1 * 2 + 1 * 0) / 20**2
    expected = pytest.approx((17 / 20 - chance) / (1 - chance))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stats.kappa(*zip(*pairs, strict=True), (0, 1, 2)) == expected
        assert stats.kappa([0], [0], (0, 1, 2)) is None
        # distance seen (0 + 1) / 2, expected from the margins (0 + 1 + 2 + 1) / 4
        assert stats.kappa([0, 2], [0, 1], (0, 1, 2), "linear") == pytest.approx(1 - 1 / 2)


@pytest.mark.parametrize("tail, status", ((1, "warn"), (2, "pass"), (18, "pass"), (19, "warn")))
def test_head_and_tail_may_differ_threefold(tail, status):
    marks = ["head"] * 6 + ["tail"] * tail
    found = {str(n): evalset.Query(str(n), "?", (), "", mark) for n, mark in enumerate(marks)}
    case = checks.AuditCase(evalset.EvalSet(BAD_SET, {}, found, []), None, None, {}, set())
    assert checks.check_head_and_tail(case).status == status


def test_ten_easy_and_ten_hard_negatives_are_wanted():
    evals = evalset.load(BAD_SET)
    row = {"query_id": "q01", "easy": list("abcdefghij"), "hard": list("klmnopqrs")}
    found = checks.check_negatives(checks.AuditCase(evals, [row], None, {}, set()))
    assert found.found.startswith("10 easy and 10 hard for 0 of 12 queries")
    row["hard"].append("t")
    assert (
        "for 1 of 12"
        in checks.check_negatives(checks.AuditCase(evals, [row], None, {}, set())).found
    )


def test_the_second_pass_has_one_schema_and_the_grades_of_the_set(small):
    path = small / "second_pass.jsonl"
    change(path, lambda row: {k: v for k, v in row.items() if k not in ("round", "reason")})
    with pytest.raises(evalset.EvalSetError, match=r"second_pass.jsonl:1: field round is missing"):
        audit.findings(evalset.load(small))
    change(path, lambda row: {**row, "round": 1, "reason": "", "second": min(row["first"] + 1, 3)})
    (small / "settings.json").write_text('{"highest_grade": 3}')
    evals = evalset.load(small)
    readings = [(row["first"], row["second"]) for row in evalset.read_extra(evals, path.name)]
    kappa = stats.kappa(*zip(*readings, strict=True), evals.grades)
    assert kappa == pytest.approx((0 - 2 / 9) / (1 - 2 / 9))
    assert f"kappa {kappa:.2f}" in by_check(small)["second pass"].found
