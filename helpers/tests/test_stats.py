"""Certainty is computed as the textbooks say."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from helpers.measure import inert, stats

FEW = [0.3, -0.1, 0.25, 0.4, 0.05]  # differences; all sign patterns can be written down
SUMS = [np.dot(signs, FEW) for signs in itertools.product((1, -1), repeat=len(FEW))]
NOISY = np.random.default_rng(3).normal(0.05, 0.2, 40)
SIGN_FLIPS = [  # (differences, p)
    ([*FEW[:3], 0.0, *FEW[3:], 0.0], np.mean([abs(s) >= sum(FEW) - 1e-12 for s in SUMS])),
    ([], 1),
    ([0, 0], 1),
    ([0.5, 0], 1),
    ([0.5, 0.5, 1e-10], 0.5),  # two that differ by more than rounding, not three
    ([1e-9] * 6, 1),
    ([1.0] * 13, 2 / 2**13),  # the largest number that is exact
    ([0.5] * 40, 2 / 10_001),
]


def test_sign_flip_is_exact_for_few_queries_and_else_drawn():
    for values, p in SIGN_FLIPS:
        assert stats.sign_flip_p(values) == pytest.approx(p), values
    drawn = stats.sign_flip_p([1.0] * 14) * 10_001  # the first number beyond the exact test
    assert drawn == pytest.approx(round(drawn)) and drawn >= 2
    assert stats.sign_flip_p(NOISY) == pytest.approx(stats.t_test_p(NOISY), abs=0.03)


def test_t_test_of_no_spread_is_none_and_else_scipys():
    for flat in ([0.1] * 3, [0.1], [0.0, 0.5e-9]):
        assert stats.t_test_p(flat) is None
    assert stats.t_test_p([0.0, 1e-9]) is not None
    a, b = [0.2, 0.5, 0.9, 0.4], [0.1, 0.7, 1.0, 0.9]
    wanted = scipy_stats.ttest_rel(b, a).pvalue
    assert stats.t_test_p(np.subtract(b, a)) == pytest.approx(wanted)


def test_the_t_interval_is_scipys():
    values = np.random.default_rng(5).random(30)
    wanted = scipy_stats.ttest_1samp(values, 0).confidence_interval()
    assert stats.t_interval(values) == pytest.approx((wanted.low, wanted.high))
    assert stats.bootstrap_interval(values) == pytest.approx((wanted.low, wanted.high), abs=0.02)
    assert stats.t_interval([1.0]) is None


BOOTSTRAPS = [  # of zeros and ones the sums are binomial: their quantiles are in any table
    ([1.0] * 5 + [0.0] * 5, (0.2, 0.8)),
    ([1.0] + [0.0] * 9, (0.0, 0.3)),
    ([0.25, 0.75], (0.25, 0.75)),
    ([0.25], (0.25, 0.25)),
]


def test_bootstrap_intervals():
    for values, ends in BOOTSTRAPS:
        assert stats.bootstrap_interval(values) == pytest.approx(ends), values


def test_p_and_intervals_as_they_are_written():
    texts = [stats.p_text(p) for p in (1, 0.5, 0.001, 0.00099, 0)]
    assert texts == ["1.0000", "0.5000", "0.0010", "<.001", "<.001"]
    pair = stats.compare_paired([0.5] * 40, [0.4] * 40)._asdict() | {"bounds": (-0.2, 0.0)}
    reason = stats.verdicts([pair])[0]["reason"]
    assert inert.inert(reason) == reason == "p < .001, below 0.05"  # in a page, too


def test_what_is_closer_than_a_billionth_is_a_tie_and_the_queries_are_the_same():
    pair = stats.compare_paired([0.5] * 4, [0.5, 0.5 + 5e-10, 0.5 - 2e-9, 0.5 + 2e-9])
    assert (pair.wins, pair.ties, pair.losses) == (1, 2, 1)
    assert stats.compare_paired([0.0, 0.0], [1e-9, -1e-9])[-3:] == (0, 2, 0)
    for base, run in (([1.0], [1.0, 0.5]), ([1.0, 0.5], [1.0]), ([], [])):
        with pytest.raises(ValueError, match=f"{len(base)} and {len(run)} values, wanted"):
            stats.compare_paired(base, run)


def test_measures_are_compared_query_by_query_and_adjusted_over_the_measures():
    base = {f"q{n}": {"AP": 0.0, "RR": n / 9} for n in range(9)}
    run = {f"q{n}": {"AP": 0.5, "RR": n / 9, "more": 1.0} for n in reversed(range(9))}
    rows = stats.by_measure(("AP", "RR"), base, run)
    assert rows["AP"] == stats.compare_paired([0.0] * 9, [0.5] * 9)._asdict() | {"p_holm": 4 / 2**9}
    assert (rows["RR"]["difference"], rows["RR"]["p_holm"]) == (0, 1)
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([]) == []


def test_what_takes_a_second_to_import_waits_until_it_is_used():
    code = (
        "import sys, helpers.measure.stats as s; print({'scipy.stats', 'sklearn'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_detectable_difference_is_found_in_four_of_five_samples():
    samples = np.random.default_rng(8).normal(stats.detectable(8, 0.25), 0.25, size=(4000, 8))
    shown = scipy_stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05
    assert shown.mean() == pytest.approx(0.8, abs=0.03)
    needed = stats.queries_needed(0.05, 0.25)
    assert stats.detectable(needed, 0.25) <= 0.05 < stats.detectable(needed - 1, 0.25)
    assert [stats.queries_needed(0.05, sd) for sd in (0.03, 0.001)] == [stats.FEWEST] * 2
    power = TTestPower().power(stats.detectable(73, 1.0), 73, 0.05)  # its solver ends below 0 here
    assert type(stats.detectable(73, 1.0)) is float and power == pytest.approx(0.8)


ENDS, NEEDED = "the worst case, ", ", and to show less needs 72 queries"
VERDICTS = [  # (difference, bounds, queries that differ, queries, p, p (Holm), verdict, reason)
    (0.1, 0.02, 0.18, 30, 30, 0.2, 0.0499, stats.BETTER, "p (Holm) = 0.0499, below 0.05"),
    (0.1, 0.02, 0.18, 30, 30, 0.0001, None, stats.BETTER, "p < .001, below 0.05"),
    (-0.1, -0.18, -0.02, 30, 30, 0.01, None, stats.WORSE, "p = 0.0100, below 0.05"),
    (0.02, 0.01, 0.03, 30, 30, 0.01, None, stats.BETTER,
     f"p = 0.0100, below 0.05; but {ENDS}+0.010 to +0.030, is within ±0.05"),
    (0.1, 0.02, 0.18, 30, 72, 0.04, 0.05, stats.TOO_FEW,
     f"p (Holm) = 0.0500; {ENDS}+0.020 to +0.180, goes beyond ±0.05"),
    (0.0, -0.049, 0.049, 30, 90, 0.2, None, stats.SAME,
     f"p = 0.2000; {ENDS}-0.049 to +0.049, is within ±0.05"),
    (0.0, -0.05, 0.01, 30, 90, 0.2, None, stats.TOO_FEW, "goes beyond ±0.05"),
    (0.0, -0.01, 0.05, 30, 71, 0.2, None, stats.TOO_FEW, f"goes beyond ±0.05{NEEDED}"),
    (0.1, -0.1, 0.3, 5, 30, 0.2, None, stats.TOO_FEW,
     f"only 5 of 30 queries differ: no sign-flip test can reach 0.05; {ENDS}"),
    (0.1, -0.1, 0.3, 6, 90, 0.2, None, stats.TOO_FEW, f"p = 0.2000; {ENDS}"),
    (0.0, -0.04, 0.04, 2, 90, 1, None, stats.SAME, "is within ±0.05"),
    (0.0, -0.137, 0.137, 0, 25, 1, None, stats.TOO_FEW, "only 0 of 25 queries differ: no"),
    (0.4, -0.6, 0.9, 1, 1, 1, None, stats.TOO_FEW, "only 1 query: no sign-flip test"),
]  # fmt: skip


def test_verdicts_hold_the_worst_case_against_what_matters():
    for difference, low, high, differing, n, p, adjusted, word, reason in VERDICTS:
        counts = differing // 2, n - differing, differing - differing // 2
        pair = stats.Paired(n, 0.5, 0.5 + difference, difference, 0, 0, p, p, 0.1, *counts)
        verdict, told = stats.verdict(pair, p if adjusted is None else adjusted, (low, high))
        assert (verdict, reason in told) == (word, True), told
        assert ("Holm" in told) == ("Holm" in reason)
        assert ("72" in told) == (word == stats.TOO_FEW and 5 < n < 72)


def test_a_verdict_alone_is_not_that_among_others():
    losses = [-0.1] * 6
    pair = stats.compare_paired([0.5] * 6, np.add(0.5, losses))._asdict()
    pair["bounds"] = stats.worst_case_bounds(losses)
    (alone,) = stats.verdicts([pair])
    assert (alone["verdict"], alone["alone"]) == (stats.WORSE, stats.WORSE)
    for row in stats.verdicts([pair, pair]):
        assert (row["verdict"], row["alone"]) == (stats.TOO_FEW, stats.WORSE)


def test_the_worst_case_is_that_of_clopper_and_pearson_where_all_is_lost_or_nothing():
    for n, lost in ((25, 0), (72, 0), (103, 0), (25, 1), (103, 7), (300, 300), (4, 4)):
        low, high = stats.worst_case_bounds([-1.0] * lost + [0.0] * (n - lost))
        exact = proportion_confint(lost, n, method="beta")[1]
        assert low == pytest.approx(-exact, abs=1e-12 if lost in (0, n) else 0.003), (n, lost)
    flat = stats.worst_case_bounds([0.25] * 30)
    assert flat == pytest.approx((0.25 - 1.25 * 0.1157, 0.25 + 0.75 * 0.1157), abs=1e-4)


def test_the_worst_case_weighs_every_query_and_one_that_is_imagined():
    values = np.array([0.3, 0.3, -0.1, 0.0, 0.0, 0.0, 0.2, -0.4])
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(9), 200_000)
    low = np.quantile(weights @ [*values, -1], 0.025)
    high = np.quantile(weights @ [*values, 1], 0.975)
    found = stats.worst_case_bounds(values)
    assert found == pytest.approx((low, high), abs=0.004)
    assert stats.worst_case_bounds(values) == found  # seeded


def test_from_72_queries_on_a_difference_of_05_can_be_shown_to_be_absent():
    for matters, needed in ((0.05, 72), (0.02, 183), (0.5, 6), (1, 1)):
        assert stats.queries_for_absence(matters) == needed
        for n in range(max(1, needed - 1), needed + 1):
            low, high = stats.worst_case_bounds([0.0] * n)
            assert stats.is_within((low, high), matters) == (n == needed) or n == 1


def test_nothing_is_detectable_where_nothing_varies():
    for flat in ([0.2] * 9, [0.5]):
        assert stats.compare_paired([0.0] * len(flat), flat).detectable is None


def test_kappa_has_an_interval_where_pairs_differ():
    first, second = [0] * 5 + [1] * 5, [0] * 4 + [1] * 5 + [0]
    low, high = stats.kappa_interval(first, second, (0, 1, 2))  # equal .8, chance .5: kappa .6
    reach = 1.96 * (0.8 * 0.2 / 10) ** 0.5 / 0.5  # where both give each grade to half
    assert (low, high) == pytest.approx((0.6 - reach, 1.0), abs=1e-4) and 0.6 + reach > 1
    assert stats.kappa_interval(first, first, (0, 1)) is None


def test_kappa_is_what_it_is_by_hand():
    for first, second, weights, wanted in (  # 1 - seen / expected disagreement
        ([0, 1, 2, 2], [0, 1, 1, 2], None, 1 - (1 / 4) / (11 / 16)),
        ([0, 1, 2, 2], [0, 1, 1, 2], "linear", 1 - (1 / 4) / (14 / 16)),
        ([0, 1, 2, 2], [0, 1, 1, 2], "quadratic", 1 - (1 / 4) / (20 / 16)),
        ([1, 1], [1, 1], None, None),
        ([0, 0], [1, 1], None, 0.0),
        ([], [], None, None),
    ):
        kappa = stats.kappa(first, second, (0, 1, 2), weights)
        assert kappa == (wanted if wanted is None else pytest.approx(wanted)), (first, second)


def test_auroc_is_the_share_of_pairs_in_order_and_its_interval_draws_from_both_groups():
    for scores, others, wanted in (([3, 2], [1], 1), ([2, 2], [2], 0.5), ([3, 1, 2], [2, 0], 0.75)):
        area, low, high = stats.auroc(scores, others)
        assert area == pytest.approx(wanted) and 0 <= low <= area <= high <= 1, scores
    rng = np.random.default_rng(3)
    scores, others = rng.normal(1, 1, 60), rng.normal(0, 1, 20)
    area, low, high = stats.auroc(scores, others)
    own = np.random.default_rng(8)
    areas = [
        np.mean(np.subtract.outer(own.choice(scores, 60), own.choice(others, 20)) > 0)
        for _ in range(4000)
    ]
    assert (low, high) == pytest.approx(tuple(np.percentile(areas, [2.5, 97.5])), abs=0.01)
    assert stats.auroc(scores, others) == (area, low, high) != stats.auroc(scores, others, seed=1)


def test_who_read_and_how_often_the_second_reading_agrees():
    rows = [{"reader": "model"}, {}, {"reader": math.nan}]
    assert stats.readers_text(rows) == "readers: language models of one family"
    both = "readers: language models of one family and people"
    assert stats.readers_text([{"reader": "person"}, *rows]) == both
    assert stats.readers_text([{"reader": f"person:{of}"} for of in ("ab", "cd")] + rows) == both
    assert stats.readers_text([{}]) == stats.readers_text([]) == ""
    assert stats.equal_by_grade([0, 2, 0, 0, 1], [0, 1, 0, 1, 1]) == {0: 2 / 3, 1: 1.0, 2: 0.0}


def test_a_majority_is_of_three_readings_that_differ_and_none_where_several_lead():
    rows = []
    for doc_id, first, *others in (("a", 0, 1, 1), ("b", 0, 1, 2), ("c", 0, 1), ("d", 1, 1, 1)):
        pair = {"query_id": "q", "doc_id": doc_id, "first": first}
        rows += [pair | {"round": n, "second": second} for n, second in enumerate(others)]
    assert stats.majorities(rows) == {("q", "a"): 1, ("q", "b"): None}


# Two halves.

CONFIRMATIONS = [  # (dev, its verdict, test, its verdict, what both say)
    (0.1, stats.BETTER, 0.05, stats.BETTER, stats.CONFIRMED),
    (-0.1, stats.WORSE, -0.2, stats.WORSE, stats.CONFIRMED),
    (0.01, stats.SAME, -0.01, stats.SAME, stats.CONFIRMED),
    (0.1, stats.BETTER, 0.05, stats.TOO_FEW, stats.NOT_CONFIRMED),
    (0.1, stats.TOO_FEW, -0.1, stats.TOO_FEW, stats.NOT_CONFIRMED),
    (0.1, stats.TOO_FEW, 0.1, stats.TOO_FEW, stats.NOT_CONFIRMED),
    (0.1, stats.BETTER, -0.01, stats.SAME, stats.CONTRADICTED),
    (0.02, stats.TOO_FEW, -0.1, stats.WORSE, stats.CONTRADICTED),
]


def test_test_confirms_dev_or_not_or_contradicts_it():
    for dev, said, test, then, verdict in CONFIRMATIONS:
        halves = ({"difference": d, "verdict": v, "detectable": None}
                  for d, v in ((dev, said), (test, then)))  # fmt: skip
        found = stats.confirmation(*halves)
        wanted = {"difference": test - dev, "low": None, "high": None, "verdict": verdict}
        assert found == wanted, (dev, test)


def test_halves_differ_by_the_interval_of_welch():
    rng = np.random.default_rng(3)
    for n, m in ((2, 2), (100, 7)):
        dev, test = rng.normal(0.1, 0.2, n), rng.normal(0, 0.5, m)
        halves = [stats.compare_paired([0] * len(d), d)._asdict() | {"verdict": stats.SAME}
                  for d in (dev, test)]  # fmt: skip
        found = stats.confirmation(*halves)
        ends = scipy_stats.ttest_ind(test, dev, equal_var=False).confidence_interval()
        assert (found["low"], found["high"]) == pytest.approx((ends.low, ends.high))
    still = stats.compare_paired([0] * 9, [0.1] * 9)._asdict() | {"verdict": stats.SAME}
    assert stats.confirmation(halves[0], still | {"detectable": 0.0})["low"] is None


def test_runs_of_a_system_are_averaged_by_query():
    tables = [{"a": {"x": 0.0, "y": 1.0}, "b": {"x": n, "y": 0.5}} for n in (1.0, 0.0, 0.5)]
    assert stats.averaged(tables) == {"a": {"x": 0.0, "y": 1.0}, "b": {"x": 0.5, "y": 0.5}}
