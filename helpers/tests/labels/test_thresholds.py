"""Each threshold of the audit at its edge, its words for one and many, and what imports lack."""

import sys

import pytest
from labelled_sets import BAD_SET, GUIDE, by_check, change, complete, document

from helpers import __main__, evalset
from helpers.labels import audit, checks


@pytest.fixture
def small(folder):
    return complete(folder)


def case(evals, **more):
    fields = {"negatives": [], "second_pass": [], "twins": {}, "linked": set()} | more
    return checks.AuditCase(evals, **fields)


def made(queries=(), documents=(), judgments=()):
    """Return a set without files."""
    return evalset.EvalSet(
        BAD_SET,
        {d.doc_id: d for d in documents},
        {q.query_id: q for q in queries},
        [evalset.Judgment(*j) for j in judgments],
    )


def page(doc_id, words="", **fields):
    return evalset.Document(doc_id, "", words or doc_id, **fields)


def asks(n, wording="?", answers=(), **fields):
    return evalset.Query(f"q{n}", wording, tuple(answers), **fields)


@pytest.mark.parametrize(
    ("queries", "documents", "told"),
    [
        (29, 100, "29 queries can show no difference below 0.13 nDCG"),
        (30, 99, "Ten results out of 99 hit an answer by chance"),
        (30, 100, ""),
        (1, 100, "1 query can show no difference below 1.00 nDCG"),
    ],
)
def test_size(queries, documents, told):
    evals = made(map(asks, range(queries)), [page(f"d{n}") for n in range(documents)])
    found = checks.check_size(case(evals))
    assert found.status == ("warn" if told else "pass") and told in found.remedy
    assert ("Ten results" in found.remedy) == (documents < 100)
    assert ("difference" in found.remedy) == (queries < 30)


@pytest.mark.parametrize(
    ("share", "status"), {16: "pass", 17: "warn", 19: "warn", 20: "fail"}.items()
)
def test_overlap(share, status):
    """Of twenty content words so many stand in the answer: more than .8 warns, than .95 fails."""
    words = [f"w{n}" for n in range(20)]
    answer = page("d", " ".join(words[:share]))
    evals = made([asks(1, " ".join(words), ["d"])], [answer])
    assert checks.check_overlap(case(evals)).status == status


@pytest.mark.parametrize(
    ("reached", "documents", "queries", "status"),
    [(5, 10, 9, "pass"), (4, 10, 9, "fail"), (3, 100, 3, "pass"), (2, 100, 3, "fail")],
)
def test_coverage_wants_half_or_as_many_as_there_are_queries(reached, documents, queries, status):
    asked = [asks(n, answers=[f"d{n % reached}"]) for n in range(queries)]
    found = checks.check_reach(case(made(asked, [page(f"d{n}") for n in range(documents)])))
    assert found.status == status and found.found.startswith(f"{reached} of {documents} documents")


@pytest.mark.parametrize(("answers", "status"), {20: "pass", 21: "warn"}.items())
def test_many_answers(answers, status):
    labels = [("q1", f"d{n}", 1 + n % 2) for n in range(answers)]
    found = checks.check_labels_per_query(case(made([asks(1)], judgments=labels)))
    assert found.status == status and found.found.startswith(
        f"{answers} relevant documents a query"
    )


def test_grades_that_nobody_gave_are_not_listed_and_one_is_one():
    evals = made([asks(1)], judgments=[("q1", "d", 2)])
    assert (
        checks.check_labels_per_query(case(evals)).found == "1 relevant document a query; grade 2 1"
    )
    assert checks.check_labels_per_query(case(evals._replace(judgments=[]))).found == (
        "0 relevant documents a query"
    )


@pytest.mark.parametrize(
    ("judged", "status"), {9: "fail", 10: "warn", 19: "warn", 20: "pass"}.items()
)
def test_judged_depth(monkeypatch, judged, status):
    """Of twenty results of the worst ranker so many are judged; below half fails."""
    ranking = {q: [(f"d{n}", 10.0 - n) for n in range(10)] for q in ("q0", "q1")}
    rankers = {"whole": {"q0": [], "q1": []}, "worst": ranking}
    monkeypatch.setattr(checks.pooling, "by_ranker", lambda evals, depth: rankers)
    labels = [(f"q{n % 2}", f"d{n // 2}", 0) for n in range(judged)]
    found = checks.check_judged_depth(case(made([asks(0), asks(1)], judgments=labels)))
    assert found.status == status
    name = "whole" if judged == 20 else "worst"  # of equals the first by name
    assert found.found.startswith(f"{judged / 20:.1%} of the first 10 of {name} are judged")


def readings(n, differ, first=lambda n: n % 3):
    rows = []
    for number in range(n):
        one = first(number)
        two = (one + 1) % 3 if number < differ else one
        row = {"query_id": "q1", "doc_id": f"d{number}", "round": 1, "reason": "edge"}
        rows.append({**row, "first": one, "second": two, "final": one})
    return rows


@pytest.mark.parametrize(
    ("differ", "status", "kappa"),
    [(24, "pass", "0.60"), (27, "warn", "0.55"), (36, "warn", "0.40"), (39, "fail", "0.35")],
)
def test_kappa(differ, status, kappa):
    """Readings that differ in whole cycles of three grades: kappa is 1 - 1.5 x their share."""
    rows = readings(90, differ)
    labels = [(r["query_id"], r["doc_id"], r["final"]) for r in rows]
    found = checks.check_second_pass(case(made([asks(1)], judgments=labels), second_pass=rows))
    assert f"kappa {kappa}" in found.found and found.status == status


@pytest.mark.parametrize(
    ("rows", "labels", "told"),
    [
        (119, 700, "Judge at least 120 pairs twice."),
        (120, 700, ""),
        (20, 101, "Judge at least 21 pairs twice."),
        (20, 100, ""),
        (0, 0, "Judge a share"),
    ],
)
def test_size_of_the_second_pass(rows, labels, told):
    judged = [("q1", f"d{n}", n % 3) for n in range(labels)]
    evals = made([asks(1)], judgments=judged)
    found = checks.check_second_pass(case(evals, second_pass=readings(rows, 0)))
    assert found.status == ("warn" if told else "pass") and told in found.remedy


@pytest.mark.parametrize(("words", "status"), {99: "fail", 100: "pass"}.items())
def test_length_of_the_guide(small, words, status):
    (small / "labeling_guide.md").write_text(" ".join(["0 1 2", *["word"] * (words - 3)]))
    found = by_check(small)["labelling guide"]
    assert (found.status, found.found) == (status, f"{words} words")


@pytest.mark.parametrize(("of_b", "status"), {3: "pass", 2: "warn"}.items())
def test_kinds_may_differ_threefold(of_b, status):
    marks = ["a"] * 9 + ["b"] * of_b
    evals = made([asks(n, kind=kind) for n, kind in enumerate(marks)])
    found = checks.check_kinds(case(evals))
    assert found.status == status and ("kind b." in found.remedy) == (status == "warn")


def test_queries_without_kinds_are_not_spread_by_kind():
    evals = made([asks(n, split=evalset.SPLITS[n > 6]) for n in range(9)])
    assert checks.check_halves(case(evals)).status == "pass"


def test_the_order_of_words_makes_another_question():
    one, two = asks(1, "A lowers B, not C"), asks(2, "B lowers A, not C")
    assert checks.check_duplicate_queries(case(made([one, two]))).status == "pass"
    asked = case(made([one, asks(3, "a lowers b - not c")]))
    assert checks.check_duplicate_queries(asked).found == "q1 = q3"
    asked = case(made([one, asks(4, "A lowers B, C")]))
    assert checks.check_duplicate_queries(asked).status == "pass"  # "not" counts


@pytest.mark.parametrize(("common", "status"), {20: "warn", 28: "fail"}.items())
def test_near_duplicates_below_a_quarter_fail_nobody(small, common, status):
    """Texts of 54 words share runs: 16 of 84 (.19) or 24 of 76 (.32). One of them is an answer."""
    words = [f"w{n}" for n in range(108)]
    document(small, "twin", " ".join(words[:54]))
    document(small, "other", " ".join(words[54 - common : 108 - common]))
    change(
        small / "retrieval_queries.jsonl",
        lambda r: {**r, "relevant_doc_ids": ["twin"]} if r["query_id"] == "q1" else r,
    )
    (small / "judgments.jsonl").unlink()
    found = by_check(small)["near-duplicates"]
    assert (
        found.status == status and f"other ~ twin (0.{19 if common == 20 else 32})" in found.found
    )


# Imported sets.


def imported(small):
    (small / "settings.json").write_text('{"imported": "beir"}')
    for name in ("labeling_guide.md", "second_pass.jsonl", "negatives.jsonl", "manifest.json"):
        (small / name).unlink()
    change(
        small / "judgments.jsonl",
        lambda r: {**r, "evidence": "", "relevance": min(r["relevance"], 1)},
    )
    plain = ("query_id", "query", "relevant_doc_ids", "split")
    change(small / "retrieval_queries.jsonl", lambda r: {name: r[name] for name in plain})
    document(small, "mail", "Restart the relay.", service="mail")
    return small


def test_what_an_import_cannot_have_is_not_applicable(small):
    found = by_check(imported(small))
    lacking = {check for check, finding in found.items() if finding.status == "n/a"}
    assert lacking == {*audit.LEFT_OUT} and "fail" not in {f.status for f in found.values()}
    assert all(found[check].remedy == reason for check, (reason, _) in audit.LEFT_OUT.items())
    assert all(found[check].found for check in lacking)
    assert audit.as_table([*found.values()]).endswith(f"0 failed, {len(lacking)} not applicable")


def test_the_same_set_without_the_mark_of_an_import_fails(small):
    (imported(small) / "settings.json").unlink()
    found = by_check(small)
    assert {check for check, f in found.items() if f.status == "fail"} == {
        "evidence",
        "labelling guide",
    }
    assert "n/a" not in {f.status for f in found.values()}
    assert "not applicable" not in audit.as_table([*found.values()])


def test_what_an_import_got_wrong_is_a_warning(small):
    change(
        imported(small) / "retrieval_queries.jsonl",
        lambda r: {**r, "query": "Disk full", "relevant_doc_ids": ["disk-full"]},
    )
    (small / "judgments.jsonl").unlink()
    text = evalset.load(small).documents["disk-full"].text
    document(small, "copy", text)
    found = by_check(small)
    for check, more in audit.THEIRS.items():
        if check != "judged depth":
            assert found[check].status == "warn" and found[check].remedy.endswith(more), check
    assert found["judged depth"].status == "warn"


def test_what_somebody_added_to_an_import_is_checked(small):
    (imported(small) / "labeling_guide.md").write_text("Short.")
    document(small, "disk-full", "Delete <old> logs. Changed.")
    assert by_check(small)["labelling guide"].status == "fail"
    (small / "labeling_guide.md").write_text(GUIDE)
    assert by_check(small)["labelling guide"].status == "pass"


# The command.


def status_of(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["helpers", "audit", "--evals", str(folder)])
    return __main__.main(), capsys.readouterr().out.splitlines()[-1]


def test_exit_status_is_1_with_a_failure_and_0_with_warnings(small, monkeypatch, capsys):
    assert status_of(small, monkeypatch, capsys) == (
        0,
        "15 passed, 2 warnings, 0 failed, 1 not applicable",
    )
    (small / "labeling_guide.md").unlink()
    code, total = status_of(small, monkeypatch, capsys)
    assert code == 1 and "2 failed" in total  # the guide, and the manifest that lists it


def test_not_applicable_leaves_the_exit_status_at_0(small, monkeypatch, capsys):
    code, total = status_of(imported(small), monkeypatch, capsys)
    assert code == 0 and total.endswith("9 not applicable")


def test_manifest_of_one_file_says_file(small, monkeypatch):
    monkeypatch.setattr(checks.manifest, "differences", lambda folder: [])
    monkeypatch.setattr(checks.manifest, "inputs", lambda folder: {"a": 1})
    assert by_check(small)["manifest"].found == "1 file as listed"
    row = {"query_id": "q1", "easy": [], "hard": []}
    found = checks.check_negatives(case(made([asks(1)]), negatives=[row]))
    assert found.found == "10 easy and 10 hard for 0 of 1 query; 0 wrong"
