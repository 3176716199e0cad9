"""Certainty is computed as the textbooks say."""

import gc
import itertools
import math
import subprocess
import sys
import weakref

import numpy as np
import pytest
from scipy import stats as scipy_stats

from helpers import stats


def test_sign_flip_is_exact_for_few_queries():
    differences = [0.3, -0.1, 0.25, 0.0, 0.4, 0.05, 0.0]
    nonzero = [d for d in differences if d]
    sums = [sum(s * d for s, d in zip(signs, nonzero, strict=True)) for signs in
            itertools.product((1, -1), repeat=len(nonzero))]  # fmt: skip
    exact = np.mean([abs(total) >= sum(nonzero) - 1e-12 for total in sums])
    for values, p in (
        (differences, exact),
        ([], 1),
        ([0, 0], 1),
        ([0.5], 1),
        ([0.5, 0], 1),
        ([1, 1], 0.5),
        ([1] * 5, 0.0625),
        ([0.5, 0.5, 1e-10], 0.5),  # two that differ by more than rounding, not three
        ([1e-9] * 6, 1),
        ([1.0] * 13, 2 / 2**13),
    ):
        assert stats.sign_flip_p(values) == pytest.approx(p), values


def test_random_sign_flips_never_give_zero_and_repeat():
    assert stats.sign_flip_p([0.5] * 40) == pytest.approx(2 / 10_001)
    drawn = stats.sign_flip_p([1.0] * 14) * 10_001  # the first number beyond the exact test
    assert drawn == pytest.approx(round(drawn)) and drawn >= 2
    noisy = np.random.default_rng(3).normal(0.05, 0.2, 40)
    assert stats.sign_flip_p(noisy) == pytest.approx(stats.t_test_p(noisy), abs=0.03)
    for seeded in (stats.sign_flip_p, stats.bootstrap_interval):
        assert seeded(noisy) == seeded(noisy, 2026) == seeded(noisy, seed=2026)
        assert seeded(noisy) != seeded(noisy, 7)


def test_t_test_of_no_spread_is_none_and_else_scipys():
    for flat in ([0.1] * 3, [0.1], [0.1, 0.1, 0.1 + 1e-12], [0.0, 0.5e-9]):
        assert stats.t_test_p(flat) is None
    assert stats.t_test_p([0.0, 1e-9]) is not None
    a, b = [0.2, 0.5, 0.9, 0.4], [0.1, 0.7, 1.0, 0.9]
    wanted = scipy_stats.ttest_rel(b, a).pvalue
    assert stats.t_test_p(np.subtract(b, a)) == pytest.approx(wanted)


def test_intervals():
    values = np.random.default_rng(5).random(30)
    low, high = stats.t_interval(values)
    wanted = scipy_stats.ttest_1samp(values, 0).confidence_interval()
    assert (low, high) == pytest.approx((wanted.low, wanted.high))
    assert stats.bootstrap_interval(values) == pytest.approx((low, high), abs=0.02)
    assert stats.bootstrap_interval([0.5, 0.5]) == (0.5, 0.5)
    assert stats.bootstrap_interval([0.25, 0.75]) == (0.25, 0.75)
    assert stats.bootstrap_interval([0.25]) == (0.25, 0.25)
    assert stats.t_interval([1.0]) is None


@pytest.mark.parametrize(("ones", "ends"), [(5, (0.2, 0.8)), (1, (0.0, 0.3)), (7, (0.4, 1.0))])
def test_bootstrap_ends_are_the_quantiles_of_the_binomial(ones, ends):
    """Resamples of zeros and ones have binomial sums: 2.5 and 97.5 % of them are in any table."""
    assert stats.bootstrap_interval([1.0] * ones + [0.0] * (10 - ones)) == pytest.approx(ends)


def test_p_and_intervals_as_they_are_written():
    texts = [stats.p_text(p) for p in (1, 0.5, 0.001, 0.00099, 0)]
    assert texts == ["1.0000", "0.5000", "0.0010", "<.001", "<.001"]
    assert stats.interval_text(-0.0125, 0.5) == "-0.013 to +0.500"  # halves go to the even digit
    assert stats.interval_text(None, None) == ""


def test_paired_is_made_of_the_tests_on_the_differences():
    base, run = [0.1, 0.5, 0.9, 0.4, 0.2], [0.2, 0.7, 0.8, 0.4, 0.6]
    differences = np.subtract(run, base)
    pair = stats.paired(base, run)
    assert pair[:4] == pytest.approx((5, 0.42, 0.54, 0.12))
    assert (pair.low, pair.high) == stats.t_interval(differences)
    assert (pair.p, pair.t_p) == (stats.sign_flip_p(differences), stats.t_test_p(differences))
    sd = math.sqrt(sum((d - 0.12) ** 2 for d in differences) / 4)
    assert pair.detectable == pytest.approx(stats.detectable(5, sd))
    assert pair[-3:] == (3, 1, 1)
    one = stats.paired([0.25], [1.0])
    assert one[:4] == (1, 0.25, 1.0, 0.75)
    assert (one.low, one.high, one.p, one.t_p, one.detectable) == (None, None, 1.0, None, None)


def test_measures_are_compared_query_by_query_and_adjusted_over_the_measures():
    base = {f"q{n}": {"AP": 0.0, "RR": n / 9} for n in range(9)}
    run = {f"q{n}": {"AP": 0.5, "RR": n / 9, "more": 1.0} for n in reversed(range(9))}
    found = stats.by_measure(base, run, ("AP", "RR"))
    assert found["AP"] == stats.paired([0.0] * 9, [0.5] * 9)._asdict() | {"p_holm": 4 / 2**9}
    assert (found["RR"]["difference"], found["RR"]["p_holm"]) == (0, 1)


def test_paired_counts_what_is_closer_than_a_billionth_as_a_tie_and_wants_the_same_queries():
    assert stats.paired([0.5] * 4, [0.5, 0.5 + 5e-10, 0.5 - 2e-9, 0.5 + 2e-9])[-3:] == (1, 2, 1)
    assert stats.paired([0.0, 0.0], [1e-9, -1e-9])[-3:] == (0, 2, 0)
    for base, run in (([1.0], [1.0, 0.5]), ([], [])):
        told = f"^{len(base)} and {len(run)} values, wanted one of each for the same"
        with pytest.raises(ValueError, match=told):
            stats.paired(base, run)


@pytest.mark.proof
def test_holm_on_the_worked_example():
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([]) == []


def test_holm_does_not_search_the_memory_for_garbage():
    class Tied:
        def __init__(self):
            self.to = self

    stats.holm([0.5])  # imports leave garbage
    gc.disable()
    try:
        left = weakref.ref(Tied())
        stats.holm([0.01, 0.04])
        assert left() is not None and gc.get_freeze_count() == 0
    finally:
        gc.enable()


def test_what_takes_a_second_to_import_waits_until_it_is_used():
    code = "import sys, helpers.stats as s; print({'scipy.stats', 'sklearn'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


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


def paired_of(difference, low, high, differing=30, n=30, p=0.2):
    wins, rest = differing // 2, n - differing
    return stats.Paired(n, 0.5, 0.5 + difference, difference, low, high, p, p, 0.1,
                        wins, rest, differing - wins)  # fmt: skip


@pytest.mark.parametrize(
    ("found", "p", "word", "reason"),
    [
        (paired_of(0.1, 0.02, 0.18), 0.0499, stats.BETTER, "p (Holm) = 0.0499, below 0.05"),
        (paired_of(0.1, 0.02, 0.18, p=0.0001), 0.0001, stats.BETTER, "p < .001, below 0.05"),
        (paired_of(-0.1, -0.18, -0.02, p=0.01), 0.01, stats.WORSE, "p = 0.0100, below 0.05"),
        (paired_of(0.02, 0.01, 0.03, p=0.01), 0.01, stats.BETTER,
         "p = 0.0100, below 0.05; but the 95 % interval, +0.010 to +0.030, is within ±0.05"),
        (paired_of(0.1, 0.02, 0.18, p=0.04), 0.05, stats.TOO_FEW,
         "p (Holm) = 0.0500; the 95 % interval, +0.020 to +0.180, goes beyond ±0.05"),
        (paired_of(0.0, -0.05, 0.05), 0.2, stats.SAME,
         "p = 0.2000; the 95 % interval, -0.050 to +0.050, is within ±0.05"),
        (paired_of(0.0, -0.051, 0.01), 0.2, stats.TOO_FEW, "goes beyond ±0.05"),
        (paired_of(0.0, -0.01, 0.051), 0.2, stats.TOO_FEW, "goes beyond ±0.05"),
        (paired_of(0.1, -0.1, 0.3, 5), 0.2, stats.TOO_FEW,
         "only 5 of 30 queries differ: no sign-flip test can reach 0.05; the 95 % interval"),
        (paired_of(0.1, -0.1, 0.3, 6), 0.2, stats.TOO_FEW, "p = 0.2000; the 95 % interval"),
        (paired_of(0.0, -0.01, 0.01, 2, p=1), 1, stats.SAME, "is within ±0.05"),
        (paired_of(0.0, 0.0, 0.0, 0), 1, stats.SAME, "every query has the same value"),
        (paired_of(0.0, 0.0, 0.0, 0, 6), 1, stats.SAME, "every query has the same value"),
        (paired_of(0.0, 0.0, 0.0, 0, 5), 1, stats.TOO_FEW, "only 5 queries: no sign-flip test"),
        (paired_of(0.4, None, None, 1, 1), 1, stats.TOO_FEW, "only 1 query: no sign-flip test"),
    ],
)  # fmt: skip
def test_verdicts_hold_the_interval_against_what_matters(found, p, word, reason):
    said = stats.verdict(found, p)
    assert said[0] == word and reason in said[1]
    assert ("Holm" in said[1]) == ("Holm" in reason)


def test_verdicts_of_values():
    assert verdict_of([0.2] * 20 + [-0.05])[0] == stats.BETTER
    assert verdict_of([-0.2] * 20 + [0.05])[0] == stats.WORSE
    assert verdict_of([0.4] * 5)[0] == stats.TOO_FEW
    noise = [0.1, -0.1, 0.05, -0.05] * 8  # its interval reaches .028 from zero
    assert verdict_of(noise)[0] == stats.SAME
    assert verdict_of(noise, matters=0.03)[0] == stats.SAME
    assert verdict_of(noise, matters=0.02)[0] == stats.TOO_FEW


def test_verdicts_are_the_words_of_the_workbook():
    words = (stats.BETTER, stats.WORSE, stats.SAME, stats.TOO_FEW)
    assert words == ("better", "worse", "no difference shown", "too few queries to tell")


def test_every_number_is_a_plain_number_that_json_and_repr_show_as_such():
    values = np.array([0.25, 0.5, 1.0])
    found = [
        *stats.paired(values, values[::-1]),
        *stats.bootstrap_interval(values),
        *stats.bootstrap_interval(values[:1]),
        *stats.t_interval(values),
        *stats.holm(values),
        stats.sign_flip_p(values),
        stats.t_test_p(values),
        stats.detectable(9, 0.25),
        stats.kappa(np.array([0, 1]), np.array([1, 1]), (0, 1)),
    ]
    assert {type(value) for value in found} == {int, float}
    assert type(stats.queries_needed(0.1, 0.25)) is int


def test_kappa_is_what_it_is_by_hand():
    for first, second, weights, wanted in (  # 1 - seen / expected disagreement
        ([0, 1, 2, 2], [0, 1, 1, 2], None, 1 - (1 / 4) / (11 / 16)),
        ([0, 1, 2, 2], [0, 1, 1, 2], "linear", 1 - (1 / 4) / (14 / 16)),
        ([0, 1, 2, 2], [0, 1, 1, 2], "quadratic", 1 - (1 / 4) / (20 / 16)),
        ([0, 2, 2, 2], [2, 2, 0, 0], None, -0.5),
        ([0, 2], [2, 0], None, -1.0),
        ([1, 1], [1, 1], None, None),
        ([0, 0], [1, 1], None, 0.0),
        ([], [], None, None),
    ):
        kappa = stats.kappa(first, second, (0, 1, 2), weights)
        assert kappa == (wanted if wanted is None else pytest.approx(wanted)), (first, second)


@pytest.mark.parametrize(
    ("scores", "others", "wanted"),
    [([3, 2], [1], 1), ([1], [3, 2], 0), ([2, 2], [2], 0.5), ([3, 1, 2], [2, 0], 4.5 / 6)],
)
def test_auroc_is_the_share_of_pairs_in_order(scores, others, wanted):
    area, low, high = stats.auroc(scores, others)
    assert area == pytest.approx(wanted) and 0 <= low <= area <= high <= 1


def test_the_interval_of_auroc_draws_from_both_groups():
    rng = np.random.default_rng(3)
    scores, others = rng.normal(1, 1, 60).tolist(), rng.normal(0, 1, 20).tolist()
    area, low, high = stats.auroc(scores, others)
    own = np.random.default_rng(8)
    drawn = [
        np.subtract.outer(own.choice(scores, 60), own.choice(others, 20)) > 0 for _ in range(4000)
    ]
    ends = np.percentile([np.mean(table) for table in drawn], [2.5, 97.5])
    assert (low, high) == pytest.approx(tuple(ends), abs=0.01)
    assert stats.auroc(scores, others) == (area, low, high)
    assert stats.auroc(scores, others, seed=1) != (area, low, high)


def test_who_read_is_told_in_words():
    rows = [{"reader": "model"}, {}, {"reader": math.nan}]
    assert stats.by_whom(rows) == "readers: language models of one family"
    both = "readers: language models of one family and people"
    assert stats.by_whom([{"reader": "person"}, *rows]) == both
    assert stats.by_whom([{}]) == stats.by_whom([]) == ""


def test_agreement_is_told_by_the_grade_of_the_first_reading():
    assert stats.equal_by_grade([0, 2, 0, 0, 1], [0, 1, 0, 1, 1]) == {0: 2 / 3, 1: 1.0, 2: 0.0}
