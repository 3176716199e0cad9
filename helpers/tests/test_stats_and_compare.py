"""Certainty is computed as the textbooks say; a comparison is honest and refuses what it must."""

import itertools
import json
import subprocess
import sys

import ir_measures
import numpy as np
import pytest
from conftest import write_rows
from scipy import stats as scipy_stats

from helpers import compare, evalset, measures, runs, stats

# Statistics.


def test_sign_flip_is_exact_for_few_queries():
    differences = [0.3, -0.1, 0.25, 0.0, 0.4, 0.05, 0.0]
    nonzero = [d for d in differences if d]
    sums = [sum(s * d for s, d in zip(signs, nonzero, strict=True)) for signs in
            itertools.product((1, -1), repeat=len(nonzero))]  # fmt: skip
    exact = np.mean([abs(total) >= sum(nonzero) - 1e-12 for total in sums])
    assert stats.sign_flip_p(differences) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("differences", "p"),
    [([], 1), ([0, 0], 1), ([0.5], 1), ([0.5, 0], 1), ([1, 1], 0.5), ([1] * 5, 0.0625)],
)
def test_sign_flip_of_small_cases(differences, p):
    assert stats.sign_flip_p(differences) == pytest.approx(p)


def test_random_sign_flips_never_give_zero_and_repeat():
    differences = [0.5] * 40
    assert 0 < stats.sign_flip_p(differences) <= 2 / (stats.DRAWS + 1)
    noisy = np.random.default_rng(3).normal(0.05, 0.2, 40)
    assert stats.sign_flip_p(noisy) == stats.sign_flip_p(noisy)
    assert stats.sign_flip_p(noisy) == pytest.approx(stats.t_test_p(noisy), abs=0.03)


def test_t_test_of_no_spread_is_none_and_else_scipys():
    assert stats.t_test_p([0.1, 0.1, 0.1]) is None and stats.t_test_p([0.1]) is None
    a, b = [0.2, 0.5, 0.9, 0.4], [0.1, 0.7, 1.0, 0.9]
    wanted = scipy_stats.ttest_rel(b, a).pvalue
    assert stats.t_test_p(np.subtract(b, a)) == pytest.approx(wanted)


def test_intervals():
    values = np.random.default_rng(5).random(30)
    low, high = stats.t_interval(values)
    found = scipy_stats.ttest_1samp(values, 0).confidence_interval()
    assert (low, high) == pytest.approx((found.low, found.high))
    boot = stats.bootstrap_interval(values)
    assert boot == stats.bootstrap_interval(values)
    assert boot == pytest.approx((low, high), abs=0.02)
    assert stats.bootstrap_interval([0.5, 0.5]) == (0.5, 0.5)
    assert stats.t_interval([1.0]) is None


def test_holm_on_the_worked_example():
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([]) == []


@pytest.mark.parametrize(("n", "seen"), [(15, 0.195), (30, 0.132), (50, 0.101), (100, 0.071)])
def test_detectable_difference(n, seen):
    assert stats.detectable(n, 0.25) == pytest.approx(seen, abs=0.001)


@pytest.mark.parametrize("n", [8, 30])
def test_detectable_difference_is_found_in_four_of_five_samples(n):
    samples = np.random.default_rng(n).normal(stats.detectable(n, 0.25), 0.25, size=(4000, n))
    found = scipy_stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


def test_queries_needed_goes_with_detectable():
    needed = stats.queries_needed(0.05, 0.25)
    assert stats.detectable(needed, 0.25) <= 0.05 < stats.detectable(needed - 1, 0.25)


def verdict_of(differences, **more):
    found = stats.paired([0.5] * len(differences), np.add(0.5, differences))
    return stats.verdict(found, found.p, **more)


def test_verdicts():

    def noise(sd, n):
        drawn = np.random.default_rng(7).normal(0, sd, n)
        return drawn - drawn.mean() + sd / 100

    assert verdict_of([0.2] * 20 + [-0.05])[0] == stats.BETTER
    assert verdict_of([-0.2] * 20 + [0.05])[0] == stats.WORSE
    assert verdict_of(noise(0.3, 30))[0] == stats.TOO_FEW
    assert verdict_of(noise(0.02, 200))[0] == stats.SAME
    assert verdict_of([0.0] * 30) == (stats.SAME, "every query has the same value")
    word, reason = verdict_of([0.4] * 5)
    assert word == stats.TOO_FEW and "only 5 of 5 queries differ" in reason
    assert verdict_of([0.4])[0] == stats.TOO_FEW
    word, reason = verdict_of([0.0, 0.0])
    assert word == stats.TOO_FEW and "only 2 queries" in reason
    word, reason = verdict_of([0.01, 0.01] + [0.0] * 28)
    assert word == stats.SAME and "only 2 of 30 queries differ" in reason
    assert verdict_of(noise(0.1, 30), matters=0.2)[0] == stats.SAME


def test_paired_wants_the_same_queries():
    for bad in (([1.0], [1.0, 0.5]), ([], [])):
        with pytest.raises(ValueError, match="wanted one of each"):
            stats.paired(*bad)


# Runs of any engine.


def test_trec_and_jsonl_runs_of_chunks_and_documents(folder):
    evals = evalset.load(folder)
    (folder / "r.trec").write_text(
        "q1 Q0 disk-full#0 1 2.0 x\r\nq1 Q0 queue-full#3 2 1.5 x\nq1 Q0 disk-full#1 3 1.0 x\n"
    )
    write_rows(
        folder / "r.jsonl", {"query_id": "q1", "results": [["queue-full", 1], ["disk-full", 2]]}
    )
    for name, score in (("r.trec", 1.5), ("r.jsonl", 1.0)):
        run = runs.read_run(folder / name, evals)
        assert run.rankings == {"q1": [("disk-full", 2.0), ("queue-full", score)]}
        assert run.warnings == []


def test_run_without_line_end_or_with_mark_and_blank_lines(folder):
    (folder / "r.trec").write_bytes(
        b"\xef\xbb\xbfq1 Q0 disk-full 1 2.0 x\n\nq2 Q0 queue-full 1 1e-3 x"
    )
    run = runs.read_run(folder / "r.trec", evalset.load(folder))
    assert set(run.rankings) == {"q1", "q2"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1 Q0 disk-full 1 2.0", "r.trec:2: found 5 fields, wanted 6: query Q0 document rank"),
        ("q9 Q0 disk-full 1 2.0 x", "r.trec:2: query q9 is unknown, wanted one of the 2 ids"),
        ("q1 Q0 disk-ful 1 2.0 x", "r.trec:2: document disk-ful is unknown, wanted one of the 2"),
        ("q1 Q0 disk-ful#0 1 2.0 x", "r.trec:2: document disk-ful#0 is unknown"),
        ("q1 Q0 disk-full 1 nan x", "r.trec:2: score 'nan' of disk-full, wanted a finite number"),
        ("q1 Q0 disk-full 1 inf x", "r.trec:2: score 'inf' of disk-full"),
        ("q1 Q0 disk-full 1 high x", "r.trec:2: score 'high' of disk-full"),
        ("q1 Q0 queue-full 1 2.0 x", "r.trec:2: queue-full is ranked twice for query q1"),
    ],
)
def test_bad_trec_lines(folder, line, said):
    (folder / "r.trec").write_text(f"q1 Q0 queue-full 1 3.0 x\n{line}\n")
    with pytest.raises(evalset.EvalSetError) as error:
        runs.read_run(folder / "r.trec", evalset.load(folder))
    assert len(error.value.problems) == 1 and said in str(error.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "wanted {"),
        ('{"query_id": "q1"}', "wanted {"),
        ('{"query_id": "q1", "results": [["disk-full"]]}', "wanted {"),
        ("[1, 2]", "wanted {"),
        ('{"query_id": "q1", "results": [["disk-full", NaN]]}', "wanted a finite number"),
        ('{"query_id": "q1", "results": [["disk-full", true]]}', "wanted a finite number"),
        ('{"query_id": "q2", "results": []}', "query q2 stands already above"),
    ],
)
def test_bad_jsonl_lines(folder, line, said):
    first = '{"query_id": "q2", "results": [["queue-full", 1.0]]}'
    (folder / "r.jsonl").write_text(f"{first}\n{line}\n")
    with pytest.raises(evalset.EvalSetError, match="r.jsonl:2: ") as error:
        runs.read_run(folder / "r.jsonl", evalset.load(folder))
    assert said in str(error.value)


def test_no_run_at_all(folder):
    (folder / "empty.trec").write_text("\n")
    evals = evalset.load(folder)
    for name, said in (
        ("empty.trec", "holds no results"),
        ("missing.trec", "does not exist"),
        ("corpus", "is a folder"),
    ):
        with pytest.raises(evalset.EvalSetError, match=said):
            runs.read_run(folder / name, evals)


def test_distances_are_noticed(folder):
    (folder / "r.trec").write_text("q1 Q0 disk-full 1 0.1 x\nq1 Q0 queue-full 2 0.7 x\n")
    run = runs.read_run(folder / "r.trec", evalset.load(folder))
    assert "r.trec:2: the score rises although rank 2 comes later" in run.warnings[0]


def test_tools_read_the_same_order(folder):
    """ir_measures and pytrec_eval, which break ties by other rules, see the order we wrote."""
    import pytrec_eval

    ranking = [("disk-full", 1.0), ("queue-full", 1.0)]
    runs.write_trec(folder / "r.trec", {"q1": ranking}, "t")
    rows = list(ir_measures.read_trec_run(str(folder / "r.trec")))
    assert [row.doc_id for row in sorted(rows, key=lambda row: -row.score)] == [
        d for d, _ in ranking
    ]
    with (folder / "r.trec").open() as file:
        run = pytrec_eval.parse_run(file)
    for relevant, rank in (("disk-full", 1), ("queue-full", 2)):
        evaluator = pytrec_eval.RelevanceEvaluator({"q1": {relevant: 1}}, {"recip_rank"})
        assert evaluator.evaluate(run)["q1"]["recip_rank"] == 1 / rank


# The comparison.


@pytest.fixture
def many(tmp_path):
    """Return a folder with ten documents, forty dev queries, a baseline and a worse run."""
    documents = [{"doc_id": f"d{i}", "title": f"t{i}", "text": "x"} for i in range(10)]
    write_rows(tmp_path / "corpus.jsonl", *documents)
    queries = [
        {"query_id": f"q{i}", "query": f"ask {i}", "relevant_doc_ids": [f"d{i % 10}"],
         "kind": "odd" if i % 2 else "even"}
        for i in range(40)
    ]  # fmt: skip
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    evals = evalset.load(tmp_path)
    (tmp_path / "runs").mkdir()
    for name, place in (("runs/fixed.trec", 0), ("worse.trec", 1)):
        rankings = {}
        for i in range(len(evals.queries)):
            others = [f"d{j}" for j in range(10) if j != i % 10]
            order = [*others[:place], f"d{i % 10}", *others[place:]]
            order = order if i else order[::-1]
            rankings[f"q{i}"] = [(d, 10.0 - rank) for rank, d in enumerate(order)]
        runs.write_trec(tmp_path / name, rankings, "t")
    saved = {
        "corpus": {"sha256": evals.corpus_hash()},
        "queries": {"sha256": evals.queries_hash()},
    }
    (tmp_path / "results.json").write_text(json.dumps(saved))
    return tmp_path


def gate(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "helpers", "compare", "--evals", str(folder), *map(str, words)],
        capture_output=True,
        text=True,
        cwd=compare.Path(__file__).resolve().parents[2],
    )


def test_gate_closes_for_a_worse_run_and_writes_both_forms(many):
    done = gate(many, many / "worse.trec")
    assert done.returncode == 1, done.stderr
    assert "## worse: worse" in done.stdout
    found = json.loads((many / "comparisons" / "worse.json").read_text())
    assert (many / "comparisons" / "worse.md").read_text() in done.stdout
    (row,) = found["runs"]
    assert row["verdict"] == "worse" and found["n"] == 40
    at = row["measures"]["RR@10"]
    assert at["base"] == pytest.approx((39 + 1 / 10) / 40)
    assert at["run"] == pytest.approx((39 / 2 + 1 / 9) / 40)
    assert at["low"] < at["difference"] < at["high"] < 0
    assert (at["wins"], at["ties"], at["losses"]) == (1, 0, 39)
    assert {kind: r["n"] for kind, r in row["by_kind"].items()} == {"even": 20, "odd": 20}
    assert [m["query_id"] for m in row["moved"]][-1] == "q0" and len(row["moved"]) == 6


def test_statuses(many):
    evals = evalset.load(many)
    base = many / "runs" / "fixed.trec"
    assert compare.command(evals, [base]) == 0  # itself
    assert compare.command(evals, [base], base=many / "worse.trec") == 0  # better
    assert compare.command(evals, [many / "worse.trec"], split="test") == compare.CANNOT
    noisy = runs.read_trec(base)
    for i, query_id in enumerate(sorted(noisy)[:8]):  # four up or down by chance
        if i % 2:
            (first, a), (second, b), *rest = noisy[query_id]
            noisy[query_id] = [(second, a), (first, b), *rest]
    runs.write_trec(many / "noisy.trec", noisy, "t")
    assert compare.command(evals, [many / "noisy.trec"], strict=True) in (0, compare.STRICT)
    few = {"runs": [{"verdict": stats.TOO_FEW}, {"verdict": stats.SAME}]}
    assert compare.status(few, strict=False) == 0
    assert compare.status(few, strict=True) == compare.STRICT
    both = {"runs": [{"verdict": stats.TOO_FEW}, {"verdict": stats.WORSE}]}
    assert compare.status(both, strict=True) == 1


def test_holm_over_several_runs(many):
    evals = evalset.load(many)
    base, worse = compare.saved_baseline(evals), runs.read_run(many / "worse.trec", evals)
    found = compare.compare(evals, base, [worse, base._replace(name="itself"), worse])
    ps = [row["measures"]["nDCG@10"]["p"] for row in found["runs"]]
    assert [row["p_holm"] for row in found["runs"]] == pytest.approx(stats.holm(ps))
    assert found["runs"][0]["p_holm"] == pytest.approx(3 * ps[0])
    board = compare.board(found)
    assert list(board.index) == ["baseline", "itself", "worse", "worse"]
    assert list(board.loc["baseline"])[1:] == ["", "", "", "", "", "", "0.10", "the baseline"]


def test_other_corpus_queries_or_labels_are_refused(many, capsys):
    evals = evalset.load(many)
    changed = json.loads((many / "results.json").read_text())
    for part in ("corpus", "queries"):
        broken = {**changed, part: {"sha256": "0" * 64}}
        (many / "results.json").write_text(json.dumps(broken))
        with pytest.raises(compare.CannotCompare, match=f"made on (an)?other {part}"):
            compare.saved_baseline(evals)
    (many / "results.json").unlink()
    assert compare.command(evals, [many / "worse.trec"]) == compare.CANNOT
    assert "no baseline yet" in capsys.readouterr().err
    assert not (many / "comparisons").exists()


def test_a_run_made_elsewhere_is_refused(many):
    evals = evalset.load(many)
    card = {"corpus_sha256": evals.corpus_hash(), "topics_sha256": evals.topics_hash()}
    for change, said in (
        ({}, ""),
        ({"corpus_sha256": "1" * 64}, "another corpus"),
        ({"topics_sha256": "1" * 64}, "another query set"),
    ):
        (many / "worse.json").write_text(json.dumps({**card, **change}))
        if said:
            with pytest.raises(compare.CannotCompare, match=said):
                compare.read_checked(many / "worse.trec", evals)
        else:
            assert compare.read_checked(many / "worse.trec", evals).name == "worse"
    (many / "worse.json").write_text("[]")
    with pytest.raises(evalset.EvalSetError, match=r"worse.json:1: found \[\], wanted"):
        compare.read_checked(many / "worse.trec", evals)
    (many / "worse.json").write_text("{}")
    with pytest.raises(evalset.EvalSetError, match="corpus_sha256 is missing, wanted"):
        compare.read_checked(many / "worse.trec", evals)


def test_bad_run_leaves_no_report(many, capsys):
    (many / "bad.trec").write_text("q1 Q0 d1 1 nan x\n")
    both = [many / "worse.trec", many / "bad.trec"]
    assert compare.command(evalset.load(many), both) == compare.CANNOT
    assert "bad.trec:1: score" in capsys.readouterr().err
    assert not (many / "comparisons").exists()


def test_judged_at_counts_queries_without_results(many):
    evals = evalset.load(many)
    base = compare.saved_baseline(evals)
    half = dict(list(base.rankings.items())[: len(base.rankings) // 2])
    found = compare.compare(evals, base, [runs.Run("half", half, [])], split=None)
    assert found["runs"][0]["judged@10"] == pytest.approx(found["base"]["judged@10"] / 2)


def test_unjudged_results_are_warned_about(many):
    evals = evalset.load(many)
    base = compare.saved_baseline(evals)
    judged = {q: [(d, 1.0)] for q, row in evals.qrels().items() for d in row}
    found = compare.compare(evals, base, [runs.Run("judged", judged, [])])
    assert found["base"]["judged@10"] == pytest.approx(0.1)
    assert "judged@10 differs by 0.90: what baseline found" in found["runs"][0]["warnings"][0]
    assert "Warning (judged)" in compare.comparison_page(found)


def test_reports_of_the_halves_stand_beside_each_other_and_name_their_own_queries(many, capsys):
    evals = evalset.load(many)
    lost = next(q.query_id for q in evals.queries.values() if q.split == "dev")
    rows = (many / "worse.trec").read_text().splitlines(keepends=True)
    (many / "short.trec").write_text("".join(r for r in rows if r.split()[0] != lost))
    for split in ("dev", "all"):
        compare.command(evals, [many / "short.trec"], split=split)
    capsys.readouterr()
    folder = many / "comparisons"
    assert {path.name for path in folder.glob("*.md")} == {"short.md", "short-all.md"}
    assert f"1 queries have no results and count as 0: {lost}" in (folder / "short.md").read_text()
    run = runs.read_run(many / "short.trec", evals)
    for split in ("dev", "all"):
        qrels = evals.qrels(None if split == "all" else split)
        said = compare._described(run, qrels, measures.per_query(qrels, run.rankings))["warnings"]
        assert any(lost in words for words in said)
    others = {q: row for q, row in evals.qrels().items() if q != lost}
    values = measures.per_query(others, run.rankings)
    assert not any(lost in words for words in compare._described(run, others, values)["warnings"])
