"""Published numbers: every measure is computed by ir_measures (MacAvaney et al. 2022)."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable
from statistics import mean, median
from typing import NamedTuple

import ir_measures
import numpy as np
from ir_measures import AP, RR, Judged, P, R, Success, nDCG

from . import stats
from .evalset import EvalSet, Queries
from .runs import BASELINE, Rankings, Run, first_results, list_depth, strictly_decreasing
from .text import how_many

# Linear gain and log2(rank + 1), as trec_eval; nDCG-exp gains 2^grade - 1 (Burges et al. 2005).
# RR and AP without a cutoff go down to the depth of the run.
FAMILIES = {"nDCG": nDCG, "RR": RR, "hit": Success, "recall": R, "P": P, "AP": AP}
EXPONENTIAL, HIGHEST = "nDCG-exp", 20  # trec_eval needs memory for each gain up to the highest
FAMILIES |= {EXPONENTIAL: nDCG(gains={grade: 2**grade - 1 for grade in range(1, HIGHEST + 1)})}
LESSON = ("nDCG@10", "RR@10", "hit@5", "recall@10", "recall@100", "AP")  # what results.json has
MEASURES = (*LESSON,)  # of each comparison: a measure that no lesson shows is added here
PRIMARY = LESSON[0]  # the verdict on documents rests on it unless another is named
LITTLE_JUDGED = 0.5  # share of the first ten under which a score says little
UNANSWERABLE = 10  # queries without an answer; an AUROC of fewer says little
JUDGED_GAP = 0.1  # from which difference in judged@10 a comparison is doubtful
BELOW = -sys.float_info.max  # the first score of a query without results
FULL = ("full hit@5", "full RR@10", "full recall@10")  # count documents of the full grade alone
FIELDS = ("kind", "popularity", "language", "round")  # of a query: means are told for each value
UNMARKED = {"language": "own", "round": "earlier"}  # queries without one, where others have one
MEAN_NAMES = {"RR": "MRR", "AP": "MAP", "full RR": "full MRR"}

Qrels = dict[str, dict[str, int]]  # {query_id: {doc_id: grade}}
Values = dict[str, dict[str, float]]  # {query_id: {measure: value}}


def measure(name: str, full_grade: int = 2) -> ir_measures.measures.Measure:
    """Return what ir_measures calls it: R@50 for recall@50, Success(rel=2)@5 for full hit@5."""
    family, _, k = name.removeprefix("full ").partition("@")
    found = FAMILIES[family]
    if name.startswith("full "):
        found = found(rel=full_grade)
    return found @ int(k) if k else found


NAMED = "nDCG@10 RR@10 hit@1 hit@5 hit@10 recall@5 recall@10 recall@100 P@10 AP RR".split()


def at_depth(name: str, depth: float) -> str:
    """Return the measure that lists of `depth` documents allow: recall@50 for recall@100."""
    family, _, k = name.partition("@")
    return name if float(k or math.inf) <= depth else f"{family}@{depth}"


def mean_name(name: str) -> str:
    """Return what the mean of a measure is called: MRR@10 for RR@10, MAP for AP."""
    family, at, k = name.partition("@")
    return MEAN_NAMES.get(family, family) + at + k


def per_query(qrels: Qrels, run: Rankings, names=NAMED, full_grade: int = 2) -> Values:
    """Return {query_id: {measure: value}} for every query of `qrels`; one without results gets 0.

    `run` lists (doc_id, score) best first. The order of the list counts: ties are broken before
    ir_measures sees them, because its providers break ties by different rules. FULL count
    documents of `full_grade` or more.
    """
    values = {query_id: dict.fromkeys(names) for query_id in qrels}  # in their order
    scored = _scored(qrels, run)
    exponential = [name for name in names if name.startswith(EXPONENTIAL)]
    linear = [name for name in names if name not in exponential]
    for alike in filter(None, (linear, exponential)):  # in one call they get mixed up
        name_of = {measure(name, full_grade): name for name in alike}
        for metric in ir_measures.iter_calc(list(name_of), qrels, scored):
            values[metric.query_id][name_of[metric.measure]] = metric.value
    return values


def answered_in_full(qrels: Qrels, full_grade: int) -> Qrels:
    """Return the labels of the queries that a document answers in full."""
    return {q: row for q, row in qrels.items() if max(row.values(), default=0) >= full_grade}


def judged_at(qrels: Qrels, run: Rankings, k: int = 10) -> float:
    """Return the mean share (0 to 1) of the first `k` results that somebody has judged.

    The mean is over the queries of `qrels`; one without results counts as 0.
    """
    first = {query_id: ranking[:k] for query_id, ranking in run.items()}
    return ir_measures.calc_aggregate([Judged @ k], qrels, _scored(qrels, first))[Judged @ k]


def _scored(qrels: Qrels, run: Rankings) -> dict[str, dict[str, float]]:
    """Return {query_id: {doc_id: score}} without ties, for the queries of `qrels` with results."""
    return {q: dict(strictly_decreasing(run[q])) for q in qrels if run.get(q)}


def answerability_auroc(evals: EvalSet, split: str | None, run: Rankings) -> dict:
    """Return how well the first result's score tells answerable queries of a half from others.

    {} where the half has no answerable query, fewer than UNANSWERABLE others, or a run that
    answered none of these. A query without results counts below every other.
    """
    tops = _first_scores(evals.queries, split, run)
    others = _first_scores(evals.unanswered, split, run)
    if not tops or len(others) < UNANSWERABLE or max(others) == BELOW:
        return {}
    area, low, high = stats.auroc(tops, others)
    return {"n": len(tops), "unanswerable": len(others), "AUROC": area, "low": low, "high": high}


def _first_scores(queries: Queries, split: str | None, run: Rankings) -> list[float]:
    """Return the score of the first result for each query of a half, BELOW where there is none."""
    asked = [query_id for query_id, query in queries.items() if split in (None, query.split)]
    return [run[query_id][0][1] if run.get(query_id) else BELOW for query_id in asked]


def ids_by_field(evals: EvalSet, query_ids: Iterable[str], field: str) -> dict[str, list[str]]:
    """Return {value of a field of the query, such as kind: ids}, by value.

    Queries without one stand under its name in UNMARKED or, where it has none there, nowhere.
    """
    values = {query_id: getattr(evals.queries[query_id], field) for query_id in query_ids}
    ids = defaultdict(list)
    for query_id in sorted(values, key=values.get):
        if name := values[query_id] or UNMARKED.get(field):
            ids[str(name)].append(query_id)
    return dict(ids)


def fields_told(evals: EvalSet) -> list[str]:
    """Return the FIELDS of a set's queries; of those in UNMARKED what the queries differ in."""
    told = []
    for field in FIELDS:
        values = {getattr(query, field) for query in evals.queries.values()}
        if field not in UNMARKED or len(values) > 1:
            told.append(field)
    return told


def means(values: Values) -> dict[str, float]:
    """Return the mean over queries for each measure, under the name of the mean (MRR@10, MAP)."""
    names = next(iter(values.values()))
    return {mean_name(name): mean(row[name] for row in values.values()) for name in names}


def first_rank(row: dict[str, float]) -> int | None:
    """Return the rank of the first relevant document, from RR; None if none was found."""
    return round(1 / row["RR"]) if row["RR"] else None


def median_first_rank(values: Values) -> float:
    """Return the median of the first ranks; a query that found none counts as infinite."""
    return median(first_rank(row) or math.inf for row in values.values())


# What two runs can be compared on.


class Alike(NamedTuple):
    """Runs whose lists have the same `depth`, and the run that is `cut` there.

    Depth is inf and cut None where no list ends before the baseline's depth or the corpus does.
    Where lists of passages are cut and others rank documents, each query has as many documents in
    all runs, and measures keep their depth: it is inf.
    """

    runs: list[Run]
    depth: float
    cut: Run | None


def cut_alike(documents: int, *compared: Run) -> Alike:
    """Return the runs with lists of the same depth; the corpus has so many `documents`."""
    full = min(BASELINE["depth"], documents)
    cut = [run for run in compared if 0 < list_depth(run) < full]
    if not cut:
        return Alike([*compared], math.inf, None)
    shortest = min(cut, key=list_depth)
    depth, of_passages = list_depth(shortest), all(run.parts for run in compared)
    if of_passages or not shortest.parts:
        alike = [first_results(run, depth, of_passages) for run in compared]
        return Alike(alike, depth, shortest)
    alike = []
    for run in compared:
        rankings = {q: run.rankings.get(q, [])[: len(own)] for q, own in shortest.rankings.items()}
        alike.append(run._replace(rankings=rankings))
    return Alike(alike, math.inf, shortest)


def cut_warnings(alike: Alike, names: list[str], documents: int) -> list[str]:
    """Return where a run's lists end, what follows and, if no card says so, what to do about it.

    `names` are the measures taken, `documents` is how many the corpus has. [] where none is cut.
    """
    if alike.cut is None:
        return []
    ends, lists = list_depth(alike.cut), (alike.cut.parts or alike.cut.rankings).values()
    longer = sum(len(found) > ends for found in lists)
    words = f"lists of {alike.cut.name} end at {how_many(ends, 'result')}"
    if longer:
        words += f" ({longer} longer)"
    if alike.depth == math.inf:
        words += ", passages, so of each query both have as many documents as these hold"
    else:
        shorter = ", ".join(name for name in names if name not in MEASURES)
        words += f", so both are measured there: {shorter}"
    if not alike.cut.depth:
        full = min(BASELINE["depth"], documents)
        words += f"; give {full} results a query or, where there are no more, say so in its card: "
        words += f'"depth": {full}'
    return [words]


def label_warnings(qrels: Qrels, depth: float, *compared: Run) -> list[str]:
    """Return one warning where two runs have few labels in their first ten, or uneven ones.

    Only places that both fill count: a list shorter than ten, at `depth`, lacks no labels.
    """
    k = min(depth, 10)
    answered = {q: row for q, row in qrels.items() if all(r.rankings.get(q) for r in compared)}
    if not answered:
        return []
    shares = ((judged_at(answered, run.rankings, k), run.name) for run in compared)
    (least, name), (most, _) = sorted(shares)
    if most - least > JUDGED_GAP:
        gap = f"judged@{k} differs by {most - least:.2f}: what {name} found and nobody judged "
        return [gap + "counts as wrong, so judge it before you believe the difference"]
    if least >= LITTLE_JUDGED:
        return []
    share = f"{least * 100:.0f} % of the first {k} of {name} are judged"
    return [f"few labels: {share}, the rest counts as wrong"]


def length_warnings(qrels: Qrels, depth: float, *compared: Run) -> list[str]:
    """Return one warning where a run leaves some of its first ten places empty, and the other not.

    No cut shows in such lists, so they are scored as they stand.
    """
    k = min(depth, 10)
    short = [(sum(0 < len(r.rankings.get(q, [])) < k for q in qrels), r.name) for r in compared]
    (fewest, _), (most, name) = sorted(short)
    if most - fewest <= JUDGED_GAP * len(qrels):
        return []
    lists = f"{most} of {len(qrels)} lists of {name} hold fewer than {k} documents"
    warning = f"{lists}, and a place that is empty counts as wrong"
    if not any(run.depth for run in compared if run.name == name):
        warning += ': if they were cut, say where in its card, as "depth": 5'
    return [warning]


def unjudged_bounds(
    judged: dict[str, int], base: list[str], run: list[str], k: int, highest: int
) -> tuple[float, float]:
    """Return the least and the largest difference in nDCG@k that grades of unjudged results allow.

    `base` and `run` are the doc_ids of one query, best first, `judged` its grades up to `highest`.
    """
    gaps, known = _discount_gaps(base, run, k), [*judged.values()]
    gain = sum(judged.get(doc_id, 0) * gap for doc_id, gap in gaps.items())
    unjudged = np.array([gap for doc_id, gap in gaps.items() if doc_id not in judged])
    least = 0 - _largest_difference(-gain, -unjudged, known, k, highest)  # no minus zero
    return least, _largest_difference(gain, unjudged, known, k, highest)


def _largest_difference(
    gain: float, gaps: np.ndarray, judged: list[int], k: int, highest: int
) -> float:
    """Return the most that (`gain` + grades x `gaps`) / ideal gain is, over all unjudged grades.

    What is to be found is how many unjudged documents reach each level (the judged grades and the
    highest one): between levels it's a quotient of linear functions, largest at an end, and the
    largest gaps gain most. While the quotient is above 0 each level chooses by itself, until
    nothing grows (Dinkelbach 1967), because a lower level, which more judged documents reach, pays
    less for one more and so never chooses fewer; up to 0 all levels choose the same number.
    """
    levels = sorted({0, highest, *judged})
    widths, most = np.diff(levels), len(judged) + len(gaps)
    gains = np.cumsum([0.0, *sorted(gaps, reverse=True)])  # by number of unjudged documents
    discounts = [1 / math.log2(rank + 1) if rank <= k else 0.0 for rank in range(1, most + 1)]
    reached = [sum(grade >= level for grade in judged) for level in levels[1:]]
    ideals = np.array([np.cumsum([0.0, *discounts])[n:][: len(gains)] for n in reached])

    def quotient(numbers: np.ndarray) -> float:
        ideal = widths @ ideals[range(len(widths)), numbers]
        return float((gain + widths @ gains[numbers]) / ideal) if ideal else 0.0

    best = max(quotient(np.full(len(widths), number)) for number in range(len(gains)))
    while best > 0:
        better = quotient(np.argmax(gains - best * ideals, axis=1))  # of each level
        if better <= best:
            break
        best = better
    return best


def weights_of_labels(
    judged: dict[str, int], base: list[str], run: list[str], k: int, highest: int
) -> dict[str, float]:
    """Return {doc_id: what its grade could move} of one query's unjudged results, as above.

    That is the difference of its discounts in the two lists, times the highest grade, over the
    ideal gain of the grades that are known. What moves nothing is left out.
    """
    best = sorted(judged.values(), reverse=True)[:k]
    ideal = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))
    if not ideal:
        return {}
    gaps = _discount_gaps(base, run, k)
    return {d: abs(gap) * highest / ideal for d, gap in gaps.items() if gap and d not in judged}


def _discount_gaps(base: list[str], run: list[str], k: int) -> dict[str, float]:
    """Return {doc_id: its discount in the first `k` of the run, minus that in the base's}."""
    gaps = defaultdict(float)
    for sign, ranking in ((-1, base), (1, run)):
        for rank, doc_id in enumerate(ranking[:k], 1):
            gaps[doc_id] += sign / math.log2(rank + 1)
    return gaps
