"""How sure a number is: intervals, paired tests and power, from SciPy and statsmodels."""

import functools
import gc
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from statistics import fmean, multimode
from typing import NamedTuple

import numpy as np
import scipy  # its stats take a second to import, so they wait until they are used

from . import inert, text

SEED, DRAWS = 2026, 10_000
ALPHA, POWER = 0.05, 0.8
MATTERS = 0.05  # a difference in nDCG@10 that would change a decision
USUAL_SD = 0.25  # of nDCG differences between two systems, by query
DEV = 1 / 3  # of the queries, where halves are drawn
HALVES_FROM = 60  # queries: halves of fewer are too small for either use
FEWEST = 6  # fewer queries that differ, and no sign-flip test can reach .05
WEIGHTINGS, BATCH = 100_000, 2_000  # random weights of worst_case_bounds, and how many at a time
TIE = 1e-9  # values of one query that are closer than this are a tie

BETTER, WORSE = "better", "worse"
SAME, TOO_FEW = "no difference shown", "too few queries to tell"
SAME_RUN = "the same run"  # its lists are those of the base
Grades = Sequence[int]  # of the same pairs in the same order
Ends = tuple[float, float]  # of an interval
CONFIRMED, NOT_CONFIRMED, CONTRADICTED = "confirmed", "not confirmed", "contradicted"


class Paired(NamedTuple):
    """Two systems on the same `n` queries. `difference` is run minus base.

    `low` and `high` bound it (95 % t interval, None where n is 1), `p` is the sign-flip test's,
    `t_p` the t test's. `detectable` is the smallest mean difference that these queries, with the
    spread they show, would find in four of five samples. Both are None where nothing varies.
    """

    n: int
    base: float
    run: float
    difference: float
    low: float | None
    high: float | None
    p: float
    t_p: float | None
    detectable: float | None
    wins: int
    ties: int
    losses: int


def compare_paired(base: Sequence[float], run: Sequence[float]) -> Paired:
    """Compare two lists of per-query values in the same query order. Raises ValueError if empty."""
    if len(base) != len(run) or not len(base):
        raise ValueError(f"{len(base)} and {len(run)} values, wanted as many, at least one")
    differences = np.asarray(run, dtype=float) - np.asarray(base, dtype=float)
    n = len(differences)
    low, high = t_interval(differences) or (None, None)
    least = None
    if np.ptp(differences) >= TIE:  # else no spread says how far the next query could be off
        least = detectable(n, float(np.std(differences, ddof=1)))
    return Paired(
        n=n,
        base=float(np.mean(base)),
        run=float(np.mean(run)),
        difference=float(np.mean(differences)),
        low=low,
        high=high,
        p=sign_flip_p(differences),
        t_p=t_test_p(differences),
        detectable=least,
        wins=int((differences > TIE).sum()),
        ties=int((abs(differences) <= TIE).sum()),
        losses=int((differences < -TIE).sum()),
    )


def by_measure(names: Iterable[str], base: dict, *tables: dict) -> dict[str, dict]:
    """Compare {query_id: {measure: value}} of two systems on the queries of `base`.

    The second is the mean of `tables`, one for each of its runs. Returns {measure: the fields of
    Paired and `p_holm`, adjusted over the measures}, {} without queries.
    """
    if not base:
        return {}
    run, rows = averaged(tables), {}
    for name in names:
        before = [row[name] for row in base.values()]
        after = [run[query_id][name] for query_id in base]
        rows[name] = compare_paired(before, after)._asdict()
    adjusted = holm([row["p"] for row in rows.values()])
    for row, p in zip(rows.values(), adjusted, strict=True):
        row["p_holm"] = p
    return rows


def averaged(tables: Sequence[dict]) -> dict[str, dict[str, float]]:
    """Return the mean of {query_id: {measure: value}} of several runs of a system, by query."""
    return {
        query_id: {name: fmean(table[query_id][name] for table in tables) for name in row}
        for query_id, row in tables[0].items()
    }


def bounds_of(name: str, base: dict, *tables: dict) -> Ends:
    """Return `worst_case_bounds` of one measure of two systems, given as in `by_measure`."""
    run = averaged(tables)
    return worst_case_bounds([run[query_id][name] - base[query_id][name] for query_id in base])


def bootstrap_interval(values: Sequence[float]) -> Ends:
    """Return the 95 % percentile bootstrap interval of the mean (Efron 1979).

    Of a single value both ends are that value.
    """
    if len(values) < 2:
        return float(values[0]), float(values[0])
    found = scipy.stats.bootstrap(
        [np.asarray(values, dtype=float)],
        np.mean,
        n_resamples=DRAWS,
        batch=500,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    low, high = found.confidence_interval
    return float(low), float(high)


def t_interval(values: Sequence[float]) -> Ends | None:
    """Return the 95 % t interval of the mean (Student 1908), None for a single value."""
    if len(values) < 2:
        return None
    middle, error = float(np.mean(values)), float(scipy.stats.sem(values))
    reach = float(scipy.stats.t.ppf(1 - ALPHA / 2, len(values) - 1)) * error
    return middle - reach, middle + reach


def share_interval(found: int, n: int) -> Ends:
    """Return the 95 % interval of a share, `found` of `n`; it holds for few, too (Wilson 1927)."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(found, n, ALPHA, method="wilson")
    return float(low), float(high)


def worst_case_bounds(differences: Sequence[float]) -> Ends:
    """Return how low and how high the mean difference of all queries may be, not just of these.

    Differences lie between -1 and 1. A t interval can't see a loss that isn't in the sample, so
    one imagined query that loses all (-1) is added, all are weighed at random (Dirichlet with
    ones), and the 2.5 % point of the weighted means is the lower end (Rubin 1981; Gaffke 2005;
    Learned-Miller and Thomas 2019). With an imagined gain (+1), the 97.5 % point is the upper one.
    For differences of 0 and -1 that's the interval of Clopper and Pearson (1934). Elsewhere it's a
    conjecture that each end holds in 97.5 % of samples; no counterexample is known.
    """
    values, counts = np.unique(np.round(differences, 12), return_counts=True)
    if len(values) == 1:  # then the weight of the imagined query is Beta(1, n), in closed form
        value, reach = float(values[0]), float(1 - (ALPHA / 2) ** (1 / counts[0]))
        return value - (value + 1) * reach, value + (1 - value) * reach
    rng = np.random.default_rng(SEED)
    drawn = [_weighted_means(rng, values, counts) for _ in range(WEIGHTINGS // BATCH)]
    lowest, highest = np.concatenate(drawn, axis=1)
    low, high = np.quantile(lowest, ALPHA / 2), np.quantile(highest, 1 - ALPHA / 2)
    return float(low), float(high)


def _weighted_means(rng: np.random.Generator, values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return BATCH means with an imagined -1 and as many with a +1; equal values share a weight."""
    often, single = counts > 1, values[counts == 1]
    shared = rng.standard_gamma(counts[often], (BATCH, often.sum()))
    alone = rng.standard_exponential((BATCH, len(single) + 1))  # the last one is imagined
    imagined, total = alone[:, -1], alone.sum(axis=1) + shared.sum(axis=1)
    known = alone[:, :-1] @ single + shared @ values[often]
    return np.array([known - imagined, known + imagined]) / total


def queries_for_absence(matters: float) -> int:
    """Return from how many queries on a difference can be shown to be within plus and minus it.

    Fewer leave room for more, even where no query differs; see `worst_case_bounds`.
    """
    if matters >= 1:
        return 1
    return math.floor(math.log(ALPHA / 2) / math.log1p(-matters)) + 1


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return the two-sided p of the paired randomisation test on the mean (Fisher 1935).

    Exact where all sign patterns fit into DRAWS, else (b + 1) / (B + 1) from random ones.
    Zeros keep their value whatever the sign and are left out; no difference at all gives 1.
    """
    nonzero = np.array([d for d in differences if abs(d) > TIE])
    if len(nonzero) < 2:  # SciPy wants two; both signs of one are as extreme as the one seen
        return 1.0
    flipped = scipy.stats.permutation_test(
        [nonzero],
        np.mean,
        permutation_type="samples",
        n_resamples=DRAWS,
        batch=1000,
        rng=np.random.default_rng(SEED),
    )
    return float(flipped.pvalue)


def t_test_p(differences: Sequence[float]) -> float | None:
    """Return the two-sided p of the paired t test, None where nothing varies."""
    if len(differences) < 2 or np.ptp(differences) < TIE:
        return None
    return float(scipy.stats.ttest_1samp(differences, 0).pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values adjusted for several comparisons (Holm 1979), in the given order."""
    from statsmodels.stats.multitest import multipletests  # takes a second to import

    gc.freeze()  # statsmodels collects garbage in each call, which takes long in a full notebook
    try:
        return multipletests(ps, method="holm")[1].tolist()
    finally:
        gc.unfreeze()


def detectable(n: int, sd: float) -> float:
    """Return the smallest mean difference that a paired t test on `n` >= 2 queries finds.

    `sd` is the standard deviation of the differences; two-sided .05, power .8 (Cohen 1988).
    """
    return sd * _solved_power(nobs=n)


def queries_needed(difference: float, sd: float) -> int:
    """Return how many queries find a mean `difference` > 0 in four of five samples.

    They are FEWEST or more, so an effect that asks for fewer is not solved for.
    """
    effect = min(difference / sd, 2)
    return max(FEWEST, math.ceil(_solved_power(effect_size=effect)))


def without_halves(answered: int) -> str:
    """Return why so many answered queries have no test half, "" where they can have one."""
    if answered >= HALVES_FROM:
        return ""
    n = round(HALVES_FROM * (1 - DEV))
    return (
        f"{text.how_many(answered, 'answered query')}, all dev. A test half pays from "
        f"{HALVES_FROM} on: its {n} find a difference in nDCG@10 of {detectable(n, USUAL_SD):.2f} "
        f"in four of five samples (paired t test, standard deviation {USUAL_SD:g})."
    )


@functools.cache
def _solved_power(**known: float) -> float:
    """Return the number of queries or the effect size, whichever is not `known`."""
    from statsmodels.stats.power import TTestPower

    solved = TTestPower().solve_power(**known, alpha=ALPHA, power=POWER)
    return abs(float(np.squeeze(solved)))  # an effect and its negative have the same power


def verdict(pair: Paired, p: float, bounds: Ends, matters: float = MATTERS) -> tuple[str, str]:
    """Return the verdict on a comparison and its reason; `p` may be adjusted for several.

    Not significant means "no difference shown" only where `bounds`, those of the worst case, lie
    within plus and minus `matters` (equivalence: Schuirmann 1987); otherwise there are too few
    queries to tell.
    """
    p_is = f"{'p' if p == pair.p else 'p (Holm)'} = {p_text(p)}".replace("= <", "< ")
    small, reach = is_within(bounds, matters), _reach_in_words(pair, bounds, matters)
    if p < ALPHA:
        reason = f"{p_is}, below {ALPHA}"
        if small:
            reason += f"; but {reach}"
        return BETTER if pair.difference > 0 else WORSE, reason
    if small:
        return SAME, f"{p_is}; {reach}"
    never = f"no sign-flip test can reach {ALPHA}"
    differing = pair.wins + pair.losses
    if pair.n < FEWEST:
        return TOO_FEW, f"only {text.how_many(pair.n, 'query')}: {never}"
    if differing < FEWEST:
        return TOO_FEW, f"only {differing} of {pair.n} queries differ: {never}; {reach}"
    return TOO_FEW, f"{p_is}; {reach}"


def is_within(bounds: Ends, matters: float) -> bool:
    """Return whether a difference is shown to be smaller than `matters`, up or down."""
    low, high = bounds
    return -matters < low and high < matters


def _reach_in_words(pair: Paired, bounds: Ends, matters: float) -> str:
    """Return what the worst case says: whether the bounds hold, and how many queries that takes."""
    ends, needed = inert.interval(bounds, "+.3f"), queries_for_absence(matters)
    if is_within(bounds, matters):
        return f"the worst case, {ends}, is within ±{matters:g}"
    words = f"the worst case, {ends}, goes beyond ±{matters:g}"
    if pair.n < needed:
        words += f", and to show less needs {needed} queries"
    return words


def confirmation(dev: dict, test: dict) -> dict:
    """Return test's difference minus dev's, its interval, and whether test confirms dev (verdict).

    Both have Paired's fields and a verdict. They contradict each other where the signs differ and
    one of them is shown. The 95 % t interval is that of independent means (Welch 1947), with
    SciPy's t.
    """
    is_shown = not {BETTER, WORSE}.isdisjoint((dev["verdict"], test["verdict"]))
    if is_shown and dev["difference"] * test["difference"] < 0:
        verdict = CONTRADICTED
    elif dev["verdict"] == test["verdict"] != TOO_FEW:
        verdict = CONFIRMED
    else:
        verdict = NOT_CONFIRMED
    between, low, high = test["difference"] - dev["difference"], None, None
    if dev["detectable"] and test["detectable"]:  # both vary
        n = np.array([half["n"] - 1 for half in (dev, test)])
        reach = np.array([half["high"] - half["difference"] for half in (dev, test)])
        squares = (reach / scipy.stats.t.ppf(1 - ALPHA / 2, n)) ** 2  # of both standard errors
        joint = squares.sum() ** 2 / (squares**2 / n).sum()
        t = scipy.stats.t(joint, between, squares.sum() ** 0.5)
        low, high = map(float, t.interval(1 - ALPHA))
    return {"difference": between, "low": low, "high": high, "verdict": verdict}


def verdicts(pairs: Sequence[dict], matters: float = MATTERS) -> list[dict]:
    """Return verdict and reason of several comparisons, with p adjusted over them (`p_holm`).

    Each has the fields of Paired and `bounds`, those of the worst case. `alone` is the verdict that
    it has without the others.
    """
    told = []
    for pair, p in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        paired = Paired(*(pair[field] for field in Paired._fields))
        word, reason = verdict(paired, p, pair["bounds"], matters)
        alone, _ = verdict(paired, paired.p, pair["bounds"], matters)
        told.append({"p_holm": p, "verdict": word, "reason": inert.Markup(reason), "alone": alone})
    return told


def p_text(p: float) -> inert.Markup:
    """Return p with four decimals, below .001 as "<.001"."""
    return inert.Markup("<.001") if p < 0.001 else inert.number(p, ".4f")


# Two readings, two groups.


def kappa(first: Grades, second: Grades, grades: Iterable[int], weights=None) -> float | None:
    """Return Cohen's kappa of two readings of the same pairs (Cohen 1960), from scikit-learn.

    `weights` "linear" or "quadratic" counts how far apart two grades are (Cohen 1968); `grades`
    are all that the set allows, lowest first. None where only one grade was given: chance is 1.
    """
    if len({*first, *second}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score  # takes a second to import

    return float(cohen_kappa_score(first, second, labels=list(grades), weights=weights))


def kappa_interval(first: Grades, second: Grades, grades: Iterable[int]) -> Ends | None:
    """Return the 95 % interval of kappa (Fleiss, Cohen and Everitt 1969), from statsmodels.

    None where no pair differs: its width would be 0, however few there are.
    """
    from sklearn.metrics import confusion_matrix
    from statsmodels.stats.inter_rater import cohens_kappa  # each takes a second to import

    if [*first] == [*second]:
        return None
    found = cohens_kappa(confusion_matrix(first, second, labels=list(grades)))
    return float(found.kappa_low), min(1.0, float(found.kappa_upp))


def equal_by_grade(first: Grades, second: Grades) -> dict[int, float]:
    """Return {grade of the first reading: share of its pairs to which the second gave the same}."""
    pairs, counts = Counter(zip(first, second, strict=True)), Counter(first)
    return {int(grade): pairs[grade, grade] / counts[grade] for grade in sorted(counts)}


def majorities(rows: Iterable[dict]) -> dict[text.Pair, int | None]:
    """Return {(query_id, doc_id): the grade that most readings gave}, None where several lead.

    Of rows of second_pass.jsonl: pairs read three times or more on which readers differed. The
    readings are the first grade of a pair's first round and the second ones of all its rounds.
    """
    readings = {}
    for row in sorted(rows, key=itemgetter("round")):
        readings.setdefault(text.pair_of(row), [row["first"]]).append(row["second"])
    decided = {}
    for pair, own in readings.items():
        if len(own) > 2 and len({*own}) > 1:
            grade, *others = multimode(own)
            decided[pair] = None if others else grade
    return decided


def readers_text(rows: Iterable[dict]) -> str:
    """Return who the readers of a second pass were, "" where no row says it."""
    readers = {str(row.get("reader")).partition(":")[0] for row in rows}
    words = {"model": "language models of one family", "person": "people"}
    named = " and ".join(words[reader] for reader in words if reader in readers)
    return f"readers: {named}" if named else ""


def auroc(scores: Sequence[float], others: Sequence[float], seed=SEED) -> tuple[float, ...]:
    """Return how well a score tells two groups apart (0 to 1, .5 is chance), with 95 % interval.

    The area under the ROC curve: the share of pairs in which one of `scores` is above one of
    `others`, ties half (Hanley and McNeil 1982). It's SciPy's Mann-Whitney U, divided by the number
    of pairs. The bootstrap draws from both groups.
    """
    groups = [np.asarray(group, dtype=float) for group in (scores, others)]
    wins = scipy.stats.mannwhitneyu(*groups, method="asymptotic").statistic
    area = wins / (len(scores) * len(others))
    above = np.sign(np.subtract.outer(*groups)) / 2 + 0.5
    drawn, drawn_others = _drawn_shares(*map(len, groups), seed)
    low, high = np.percentile(((drawn @ above) * drawn_others).sum(axis=1), [2.5, 97.5])
    return float(area), float(low), float(high)


@functools.lru_cache(maxsize=1)  # runs that are compared answer the same queries
def _drawn_shares(n: int, n_others: int, seed: int) -> list[np.ndarray]:
    """Return the shares of each group's members in DRAWS samples, a row for each sample."""
    rng = np.random.default_rng(seed)
    return [rng.multinomial(size, np.full(size, 1 / size), DRAWS) / size for size in (n, n_others)]
