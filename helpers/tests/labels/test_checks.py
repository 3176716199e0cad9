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


# What each check says, word for word.


def made(queries=(), documents=(), judgments=(), **more):
    """Return the case of a set without files."""
    evals = evalset.EvalSet(
        BAD_SET,
        {d.doc_id: d for d in documents},
        {q.query_id: q for q in queries},
        [evalset.Judgment(*j) for j in judgments],
    )
    rest = {"negatives": [], "second_pass": [], "twins": {}, "linked": set()} | more
    return checks.AuditCase(evals, **rest)


def asks(query_id, answers="", wording="?", **fields):
    return evalset.Query(query_id, wording, tuple(answers.split()), **fields)


def pages(names, **fields):
    return [evalset.Document(name, "", name, **fields) for name in names.split()]


def test_the_checks_are_asked_in_one_order():
    assert [check.__name__.removeprefix("check_") for check in checks.AUDIT_CHECKS] == (
        "size kinds head_and_tail halves overlap duplicate_queries reach labels_per_query "
        "judged_depth evidence quotes guide second_pass negatives leakage near_duplicates manifest"
    ).split()


def test_a_finding_has_the_gravest_status_and_every_remedy_in_turn():
    assert checks._finding("c", "f") == ("c", "pass", "f", "")
    assert checks._finding("c", "f", warns=["w", "x"]) == ("c", "warn", "f", "w x")
    assert checks._finding("c", "f", ["a", "b"], ["w"]) == ("c", "fail", "f", "a b w")


def test_the_first_four_names_stand_for_many():
    assert checks._some("abcd") == "a, b, c, d"
    assert checks._some("abcdef") == "a, b, c, d and 2 more"
    assert checks._counted({"b": 1, "a": 2}) == "a 2, b 1"


def test_size_says_what_few_queries_can_show():
    found = checks.check_size(made([asks(n) for n in "abcdefgh"], pages("d e")))
    assert found == (
        "size",
        "warn",
        "8 queries, 2 documents",
        "8 queries can show no difference below 0.29 nDCG (sd 0.25, paired t, 80 % power), "
        "30 none below 0.13: write more. Ten results out of 2 hit an answer by chance: add "
        "documents until there are 100 or more.",
    )


@pytest.mark.parametrize(
    ("kinds", "status", "told"),
    [
        ("unspecified", "warn", "Give each query a kind (keyword, symptom, question, ...)."),
        ("a a", "fail", "Write queries of other kinds: one kind shows one side of a system."),
        ("unspecified a", "pass", ""),
        ("a a a a c b", "warn", "Write more of the kind b."),
        ("a a a a b b c", "warn", "Write more of the kind c."),
    ],
)
def test_kinds(kinds, status, told):
    found = checks.check_kinds(made([asks(str(n), kind=k) for n, k in enumerate(kinds.split())]))
    assert (found.check, found.status, found.remedy) == ("kinds", status, told)


@pytest.mark.parametrize(
    ("marks", "shown", "status", "told"),
    [
        ("hh", "head 2", "fail", "Add queries for rare needs (tail): the average hides how they "),
        ("t", "tail 1", "fail", "Add queries for frequent needs (head): the average hides how "),
        ("ht", "head 1, tail 1", "pass", ""),
        ("hhhht", "head 4, tail 1", "warn", "Bring head and tail nearer to half each."),
        ("-", "not marked 1", "warn", "Mark the popularity of each query: head or tail."),
        ("ht-", "head 1, not marked 1, tail 1", "warn", "Mark the popularity"),
        ("h-", "head 1, not marked 1", "fail", "Add queries for rare needs (tail): the average "),
    ],
)
def test_head_and_tail(marks, shown, status, told):
    names = {"h": "head", "t": "tail", "-": ""}
    queries = [asks(str(n), popularity=names[mark]) for n, mark in enumerate(marks)]
    found = checks.check_head_and_tail(made(queries))
    assert (found.check, found.found, found.status) == ("head and tail", shown, status)
    assert found.remedy.startswith(told) and bool(found.remedy) == bool(told)
    assert found.remedy.count("Mark the") == ("-" in marks)


@pytest.mark.parametrize(
    ("dev", "test", "shown", "status", "told"),
    [
        ("aaa", "", "dev 3, test 0", "fail", "Set the split of about half of the queries to test."),
        ("", "a", "dev 0, test 1", "fail", "Set the split of about half of the queries to dev."),
        ("aab", "a", "dev 3, test 1", "pass", ""),
        ("abbb", "ba", "dev 4, test 2", "pass", ""),  # two thirds of all are dev
        ("abbb", "aa", "dev 4, test 2", "warn", "Spread evenly over dev and test: a, b."),
        ("abbbb", "aaab", "dev 5, test 4", "warn", "Spread evenly over dev and test: a, b."),
        ("ab" * 3, "ab" * 6, "dev 6, test 12", "pass", ""),
        ("aa" + "b" * 4, "ab" * 6, "dev 6, test 12", "pass", ""),  # a third of all are dev
        ("aa" + "b" * 4, "a" * 4 + "bb", "dev 6, test 6", "pass", ""),  # just twice as frequent
        ("bb", "aa", "dev 2, test 2", "warn", "Spread evenly over dev and test: a, b."),
    ],
)
def test_halves(dev, test, shown, status, told):
    queries = [asks(f"d{n}", kind=kind, split="dev") for n, kind in enumerate(dev)]
    queries += [asks(f"t{n}", kind=kind, split="test") for n, kind in enumerate(test)]
    assert checks.check_halves(made(queries)) == ("halves", status, shown, told)


def test_overlap_names_copies_and_says_how_near_the_words_are():
    documents = [evalset.Document("d", "Disk full", "delete logs now")]
    copy, far = asks("q1", "d", "disk: FULL"), asks("q2", "d", "storage gone")
    assert checks.check_overlap(made([copy, far], documents)) == (
        "overlap",
        "fail",
        "mean share of words found in the answers 0.50; equal to a title: 1",
        "Ask q1 in the words of somebody who has not seen the title.",
    )
    assert checks.check_overlap(made([asks("q1", "d", "logs delete")], documents)) == (
        "overlap",
        "fail",
        "mean share of words found in the answers 1.00; equal to a title: 0",
        "Write queries from needs, before reading the answers.",
    )
    near = checks.check_overlap(
        made([asks("q1", "d", "delete logs now disk full pigs")], documents)
    )
    assert near.remedy == "Add paraphrases: most words are those of the answer."


def test_queries_asked_twice_are_grouped():
    wordings = {"q1": "a b", "q2": "c", "q3": "A, b", "q4": "C!", "q5": "a-b", "q6": "b a"}
    queries = [asks(q, wording=wording) for q, wording in wordings.items()]
    remedy = "Keep one of each: a query asked twice counts twice."
    found = checks.check_duplicate_queries(made(queries))
    assert found == ("same query", "fail", "q1 = q3 = q5, q2 = q4", remedy)
    found = checks.check_duplicate_queries(made(queries[:2]))
    assert found == ("same query", "pass", "every query asked once", "")


def test_coverage_names_services_before_kinds():
    documents = [
        *pages("a", service="disk", kind="runbook"),
        *pages("b", service="mail", kind="note"),
        *pages("c", service="fax", kind="runbook"),
        *pages("d"),
    ]
    assert checks.check_reach(made([asks("q1", "a"), asks("q2", "d a")], documents)) == (
        "coverage",
        "warn",
        "2 of 4 documents reached (50%), none of service fax, service mail, kind note",
        "Nobody asks about service fax, service mail, kind note: add a query or leave it out.",
    )
    found = checks.check_reach(made([asks("q1", "a"), asks("q2", "a")], documents))
    assert found.status == "fail" and found.remedy.startswith(
        "Write queries for documents that none reaches. Nobody asks about service fax"
    )
    everything = checks.check_reach(made([asks("q1", "a b c d")], documents))
    assert everything[1:] == ("pass", "4 of 4 documents reached (100%)", "")


def test_labels_per_query_count_from_grade_1():
    judged = [("q1", "a", 1), ("q1", "b", 2), ("q2", "a", 1), ("q2", "b", 0)]
    found = checks.check_labels_per_query(made([asks("q1"), asks("q2")], judgments=judged))
    shown = "1 to 2 relevant documents a query; grade 0 1, 1 2, 2 1"
    assert found == ("labels per query", "pass", shown, "")
    zero = made([asks("q1"), asks("q2")], judgments=[*judged[:2], ("q2", "a", 0)])
    found = checks.check_labels_per_query(zero)
    assert found[1:] == (
        "fail",
        "0 to 2 relevant documents a query; grade 0 1, 1 1, 2 1",
        "Label q2, or drop them.",
    )


@pytest.mark.parametrize(("highest", "given", "told"), [(2, 1, 2), (3, 3, 3), (1, 1, 0)])
def test_one_grade_of_several_is_worth_a_word(highest, given, told):
    case = made([asks("q1")], judgments=[("q1", "a", given), ("q1", "b", 0)])
    case = case._replace(evals=case.evals._replace(grades=tuple(range(highest + 1))))
    words = f"Tell whole answers ({told}) from partial ones (1)." if told else ""
    assert checks.check_labels_per_query(case).remedy == words


@pytest.mark.parametrize(
    ("judged", "status", "share"),
    [("", "fail", "0.0"), ("a", "warn", "50.0"), ("ab", "pass", "100.0")],
)
def test_judged_depth_names_the_worst_ranker_and_the_best_share(monkeypatch, judged, status, share):
    asked = []
    rankers = {
        "two": {"q1": [("a", 2.0), ("b", 1.0)]},
        "one": {"q1": [("c", 1.0)]},
        "none": {"q1": []},
    }
    monkeypatch.setattr(
        checks.pooling, "by_ranker", lambda evals, depth: asked.append(depth) or rankers
    )
    labels = [("q1", name, 0) for name in f"c{judged}"]
    found = checks.check_judged_depth(made([asks("q1")], judgments=labels))
    name = "none" if judged == "ab" else "two"
    shown = f"{share}% of the first 10 of {name} are judged, the least of 3 rankers (most 100.0%)"
    remedy = "Judge the first 10 of each ranker: an unjudged answer counts as wrong."
    assert found == ("judged depth", status, shown, remedy if status != "pass" else "")
    assert asked == [10]


def test_labels_without_a_quote_are_named():
    judged = [("q1", "a", 1, ()), ("q1", "b", 2, ("b",)), ("q1", "c", 0, ()), ("q2", "a", 1, ())]
    assert checks.check_evidence(made(judgments=judged)) == (
        "evidence",
        "fail",
        "1 of 3 relevant labels quoted",
        "Quote the passage that proves q1 a, q2 a.",
    )


@pytest.mark.parametrize(("easy", "hard", "full"), [(9, 10, 0), (10, 9, 0), (10, 10, 1)])
def test_negatives_that_are_too_few_are_asked_for(easy, hard, full):
    row = {"query_id": "q1", "easy": [*"abcdefghij"][:easy], "hard": [*"klmnopqrst"][:hard]}
    found = checks.check_negatives(made([asks("q1"), asks("q2")], negatives=[row]))
    short = "q2" if full else "q1, q2"
    assert found == (
        "negatives",
        "warn",
        f"10 easy and 10 hard for {full} of 2 queries; 0 wrong",
        f"Choose 10 easy and 10 hard ones for {short}.",
    )


def test_wrong_negatives_are_named_one_by_one():
    row = {"query_id": "q1", "easy": ["a", "c", "b"], "hard": ["d", "b", "c"]}
    found = checks.check_negatives(made([asks("q1", "a d")], negatives=[row]))
    assert found.found.endswith("; 4 wrong") and found.remedy == (
        "Replace q1 a (judged relevant), q1 d (judged relevant), q1 b (easy and hard), "
        "q1 c (easy and hard). Choose 10 easy and 10 hard ones for q1."
    )
    assert checks.check_negatives(made([asks("q1")])) == (
        "negatives",
        "warn",
        "no negatives",
        "Write negatives.jsonl: 10 easy and 10 hard ones a query.",
    )


def reread(query_id, doc_id, first, second, final, reason=""):
    names = ("query_id", "doc_id", "first", "second", "final", "reason")
    return dict(zip(names, (query_id, doc_id, first, second, final, reason), strict=True))


def test_the_second_pass_names_final_grades_and_reasons_that_lack():
    rows = [
        reread("q1", "a", 0, 2, 2, "an edge case"),
        reread("q1", "b", 1, 0, 1, " "),
        reread("q2", "a", 0, 0, 1),
        reread("q2", "c", 2, 2, 2),
    ]
    judged = [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 0)]
    case = made([asks("q1"), asks("q2")], judgments=judged, second_pass=rows)
    assert checks.check_second_pass(case) == (
        "second pass",
        "fail",
        "4 pairs, 2 of grade 0; 50% agree, kappa 0.20",
        "The final grade is not the one in judgments.jsonl: q2 a, q2 c. Sharpen the guide, then "
        "judge again. Give a reason for q1 b.",
    )
    case = made([asks("q2")], judgments=judged[2:], second_pass=[reread("q2", "a", 0, 0, 0)])
    assert checks.check_second_pass(case)[1:] == (
        "warn",
        "1 pair, 1 of grade 0; 100% agree, kappa undefined (one grade only)",
        "Clear up the guide where the readings differ; include hard pairs.",
    )


def test_a_guide_that_is_silent_and_short_fails(small):
    (small / "labeling_guide.md").write_text("A grade 0\n")
    assert by_check(small)["labelling guide"][1:] == (
        "fail",
        "3 words",
        "Say when to give grade 1, grade 2. Add a test for each grade, edge cases and worked "
        "examples.",
    )


def test_leaks_name_one_document_or_two():
    queries = [asks("q1", "a b", split="dev"), asks("q2", "a", split="test")]
    queries.append(asks("q3", "c", split="test"))
    case = made(queries, pages("a b c"), linked={("b", "c")})
    assert checks.check_leakage(case) == (
        "leakage",
        "fail",
        "q1 and q2 through a, q1 and q3 through b ~ c",
        "Put the queries of each group into one half.",
    )
    assert checks.check_leakage(case._replace(linked=set(), evals=made(queries[::2]).evals)) == (
        "leakage",
        "pass",
        "no answer is shared by dev and test",
        "",
    )


def test_near_duplicates_come_the_most_alike_first():
    queries = [asks("q1", "a b"), asks("q2", "c")]
    twins = {("a", "b"): 0.3, ("e", "f"): 0.5, ("c", "d"): 0.5, ("a", "c"): 0.2}
    shown = "c ~ d (0.50), e ~ f (0.50), a ~ b (0.30), a ~ c (0.20)"
    case = made(queries, twins=twins, linked={("a", "b"), ("e", "f"), ("a", "x")})
    remedy = "Drop one of each pair, or mark them as versions."
    assert checks.check_near_duplicates(case) == ("near-duplicates", "warn", shown, remedy)
    case = case._replace(linked={("c", "d"), ("a", "c"), ("e", "f")})
    assert checks.check_near_duplicates(case) == (
        "near-duplicates",
        "fail",
        shown,
        "Drop one, or label both alike: a and c, c and d.",
    )
    assert checks.check_near_duplicates(made(queries))[1:] == ("pass", "none", "")


@pytest.mark.parametrize(
    ("problems", "status", "found", "remedy"),
    [
        (
            ["manifest.json is missing"],
            "warn",
            "no manifest.json",
            "Write one (make freeze), so that a later change of an input is seen.",
        ),
        (
            ["a differs", "b is missing"],
            "fail",
            "a differs, b is missing",
            "Look at what changed, then restore the file or write the manifest anew.",
        ),
        ([], "pass", "2 files as listed", ""),
    ],
)
def test_manifest(monkeypatch, problems, status, found, remedy):
    monkeypatch.setattr(checks.manifest, "differences", lambda folder: problems)
    monkeypatch.setattr(checks.manifest, "inputs", lambda folder: {"a": 1, "b": 2})
    assert checks.check_manifest(made()) == ("manifest", status, found, remedy)


REMEDIES = {
    "no guide": ("labelling guide", "Write down how each grade is decided, with edge cases."),
    "no readings": (
        "second pass",
        "Judge a share of the pairs again, blind, into second_pass.jsonl.",
    ),
    "no labels": (
        "evidence",
        "Write judgments.jsonl: a grade and a verbatim quote for each answer.",
    ),
}


@pytest.mark.parametrize("name", REMEDIES)
def test_what_is_not_there_is_asked_for(small, name):
    for file in ("labeling_guide.md", "second_pass.jsonl", "judgments.jsonl"):
        (small / file).unlink()
    check, remedy = REMEDIES[name]
    assert by_check(small)[check].remedy == remedy
