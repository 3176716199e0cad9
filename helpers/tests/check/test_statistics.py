# ruff: noqa: E501 -- tables: a wrong solution a line
"""Exercises on agreement, intervals and tests, right and wrong."""

from notebooks.check import agreement, statistics

from .exercises import Exercises

SOLUTIONS = r"""
import numpy as np

def cohen_kappa(first, second):
    a, b = np.array(first), np.array(second)
    observed = (a == b).mean()
    chance = sum((a == g).mean() * (b == g).mean() for g in np.union1d(a, b))
    if chance == 1:
        return np.nan
    return (observed - chance) / (1 - chance)

def gwet_ac1(first, second, grades=(0, 1, 2)):
    a, b = np.array(first), np.array(second)
    share = np.array([((a == g).mean() + (b == g).mean()) / 2 for g in grades])
    chance = (share * (1 - share)).sum() / (len(grades) - 1)
    return ((a == b).mean() - chance) / (1 - chance)

def bootstrap(values, rng, draws=10_000):
    values = np.asarray(values)
    picks = rng.integers(0, len(values), (draws, len(values)))
    means = sorted(values[picks].mean(axis=1))
    return means[int(0.025 * draws)], means[int(0.975 * draws)]

def sign_flip(differences):
    def sums(rest):
        if not rest:
            return [0.0]
        return [sign * rest[0] + total for sign in (1, -1) for total in sums(rest[1:])]
    seen = abs(sum(differences))
    flips = np.abs(sums(list(differences)))
    return (flips >= seen - 1e-9).mean()

def holm(ps):
    adjusted, last = {}, 0
    for place, n in enumerate(np.argsort(ps, kind="stable")):
        last = max(last, min(1, ps[n] * (len(ps) - place)))
        adjusted[n] = last
    return [adjusted[n] for n in range(len(ps))]
"""

WRONG = [
    ("cohen_kappa", "return (observed - chance) / (1 - chance)", "return observed", "observed agreement"),
    ("cohen_kappa", "return (observed - chance) / (1 - chance)", "return observed - chance", "not divided by 1 - chance"),
    ("cohen_kappa", "        return np.nan", "        return 1", "not 1."),
    ("cohen_kappa", "        return np.nan", "        return 0", "not 0."),
    ("cohen_kappa", "(a == g).mean() * (b == g).mean() for", "(((a == g).mean() + (b == g).mean()) / 2) ** 2 for", "Scott's pi"),
    ("cohen_kappa", "(a == g).mean() * (b == g).mean() for", "(a == g).mean() ** 2 for", "first reading alone"),
    ("cohen_kappa", "chance = sum((a == g).mean() * (b == g).mean() for g in np.union1d(a, b))", "chance = 1 / len(np.union1d(a, b))", "one over the number of grades"),
    ("gwet_ac1", " / (len(grades) - 1)", "", "not divided by the number of grades less one"),
    ("gwet_ac1", " / (len(grades) - 1)", " / len(grades)", "not by one less"),
    ("gwet_ac1", "share * (1 - share)", "share * share", "Chance adds up share times share. AC1"),
    ("gwet_ac1", "    a, b = np", "    grades = {*first, *second}\n    a, b = np", "The grades that occur are counted"),
    ("gwet_ac1", "((a == g).mean() + (b == g).mean()) / 2 for", "(a == g).mean() for", "first reading alone"),
    ("gwet_ac1", "return ((a == b).mean() - chance) / (1 - chance)", "return (a == b).mean()", "observed agreement"),
    ("gwet_ac1", "return ((a == b).mean() - chance) / (1 - chance)", "return cohen_kappa(first, second)", "Cohen's kappa"),
    ("bootstrap", "means[int(0.025 * draws)], means[int(0.975 * draws)]", "means[int(0.05 * draws)], means[int(0.95 * draws)]", "90 % interval"),
    ("bootstrap", "picks = rng.integers(0, len(values), (draws, len(values)))", "picks = rng.permuted(np.tile(np.arange(len(values)), (draws, 1)), axis=1)", "with replacement"),
    ("bootstrap", "sorted(values[picks].mean(axis=1))", "sorted(np.median(values[picks], axis=1))", "median of each draw"),
    ("bootstrap", "means[int(0.025 * draws)], means[int(0.975 * draws)]", "means[int(0.975 * draws)], means[int(0.025 * draws)]", "lower end stands above"),
    ("bootstrap", "sorted(values[picks].mean(axis=1))", "sorted(values[picks[:, 0]])", "percentiles of the drawn values"),
    ("bootstrap", "rng.integers(0", "np.random.default_rng().integers(0", "two intervals"),
    ("bootstrap", "rng.integers(0", "np.random.default_rng(0).integers(0", "Another seed gives the same"),
    ("bootstrap", "draws=10_000", "draws=200", "Without the argument draws there are not 10,000"),
    ("bootstrap", "    values = np", "    draws = min(draws, 200)\n    values = np", "draw as many as draws says"),
    ("bootstrap", "    values = np", "    draws = 10_000\n    values = np", "draws is ignored"),
    ("bootstrap", "means[int(0.025 * draws)], means[int(0.975 * draws)]", "means[0], means[-1]", "The interval is too wide"),
    ("bootstrap", "(draws, len(values)))", "(draws, len(values) - 1))", "one value less"),
    ("sign_flip", "flips = np.abs(sums(list(differences)))", "flips = np.array(sums(list(differences)))", "absolute size"),
    ("sign_flip", "seen = abs(sum(differences))\n    flips = np.abs(sums(list(differences)))", "seen = sum(differences)\n    flips = np.array(sums(list(differences)))", "Only one side"),
    ("sign_flip", "flips >= seen - 1e-9", "flips > seen + 1e-9", "are left out"),
    ("sign_flip", "(flips >= seen - 1e-9).mean()", "(flips >= seen - 1e-9).sum()", "a number of patterns"),
    ("sign_flip", "flips >= seen - 1e-9", "flips <= seen + 1e-9", "nearer to 0"),
    ("sign_flip", "(flips >= seen - 1e-9).mean()", "((flips >= seen - 1e-9).sum() + 1) / (len(flips) + 1)", "random patterns"),
    ("sign_flip", "    def sums", "    differences = [float(np.sign(d)) for d in differences]\n    def sums", "sign test"),
    ("sign_flip", "seen - 1e-9", "seen", "rounding error"),
    ("holm", "(len(ps) - place)", "len(ps)", "Bonferroni"),
    ("holm", "max(last, min(1, ps[n] * (len(ps) - place)))", "min(1, ps[n] * (len(ps) - place))", "larger p can come out below"),
    ("holm", "min(1, ps[n] * (len(ps) - place))", "ps[n] * (len(ps) - place)", "above 1: cut it"),
    ("holm", "[adjusted[n] for n in range(len(ps))]", "list(adjusted.values())", "The results are sorted"),
    ("holm", 'np.argsort(ps, kind="stable")', "range(len(ps))", "start with the smallest p"),
    ("holm", "(len(ps) - place)", "(len(ps) - place - 1)", "one too low"),
]  # fmt: skip


class TestStatistics(Exercises):
    modules, solutions, wrong = (agreement, statistics), SOLUTIONS, WRONG
