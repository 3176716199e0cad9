"""Decide what a comparison says: the verdict on each run, what it rests on, how a gate ends."""

import math

from . import evidence, stats
from .evalset import EvalSetError
from .measures import PRIMARY

STRICT = 3  # the exit status of too few queries
SAME_RUN = {
    "verdict": stats.SAME_RUN,
    "reason": "its lists are those of the base",
    "alone": stats.SAME_RUN,
}


def give_verdicts(rows: list[dict], decides: str, matters: float) -> None:
    """Add p_holm, verdict, reason and `alone` to rows, and to what they say of unjudged, evidence.

    `alone` is the verdict that a row has without the others; `decides` and `matters`
    are those of the set.
    """
    pairs = [row["measures"][row["primary"]] | {"bounds": row["bounds"]} for row in rows]
    _add_verdicts(rows, pairs, matters)
    for end in (0, 1):  # of what grades of unjudged results could do, adjusted in the same way
        ends = []
        for row, pair in zip(rows, pairs, strict=True):
            ends.append(row["unjudged"][end] if row["unjudged"] else {**pair})
        _add_verdicts(ends, ends, matters)
    quoted = [row["evidence"] for row in rows if row["evidence"]]
    pairs = []
    for found in quoted:
        measure = evidence.deciding_measure(found["measures"], decides)
        pairs.append(found["measures"][measure] | {"bounds": found["bounds"]})
    _add_verdicts(quoted, pairs, matters)
    for row in rows:
        if row["same_run"]:
            row.update(SAME_RUN)
            if row["evidence"]:
                row["evidence"].update(SAME_RUN)


def _add_verdicts(rows: list[dict], pairs: list[dict], matters: float) -> None:
    """Add to each row the verdict on its pair of means, p adjusted over the rows."""
    for row, told in zip(rows, stats.verdicts(pairs, matters), strict=True):
        row.update(told)


# Which measure decides.


def of_documents(decides: str) -> str:
    """Return the measure of documents on which their verdict rests."""
    return PRIMARY if decides in evidence.OF_EVIDENCE else decides


def able_to_decide(row: dict) -> list[str]:
    """Return the measures of evidence, spelled as `decides`, that can decide about a run.

    Those at k are among them wherever a run has evidence: shorter lists have them at
    a smaller k.
    """
    known = row["evidence"].get("measures", {})
    able = []
    for decides, measure in evidence.OF_EVIDENCE.items():
        if measure in known or ("@" in decides and known):
            able.append(decides)
    return able


def decided_by(row: dict, decides: str) -> str:
    """Return the measure that decides about a run, of evidence where nDCG@10 would miss searches.

    It sees ten results, those of the first search alone where that found as many. A
    budget of tokens holds what the reader gets; it's BUDGET, or the largest one that
    the lists of both fill.
    """
    if decides != PRIMARY or "searches" not in row:
        return decides
    budgets = {f"evidence-{budget}-tokens": budget for budget in evidence.BUDGETS}
    able = [d for d in able_to_decide(row) if budgets.get(d, math.inf) <= evidence.BUDGET]
    return able[-1] if able else decides


def decision(row: dict, decides: str) -> dict:
    """Return the fields of Paired that decide about a run, with the verdict.

    Raises EvalSetError where it is a measure of evidence that the run does not have.
    """
    able = able_to_decide(row)
    found, measure = row, row["primary"]
    if decides in able:
        found = row["evidence"]
        measure = evidence.deciding_measure(found["measures"], decides)
    elif decides in evidence.OF_EVIDENCE:
        why = "it or its base ranks no passages"
        if able:
            why = f"its lists end before that, wanted one of {', '.join(able)}"
        raise EvalSetError(f"{row['name']}: {decides} cannot decide, {why}")
    pair = found["measures"][measure]
    told = {field: pair[field] for field in stats.Paired._fields}
    return told | {field: found[field] for field in ("bounds", "verdict", "alone")}


# How a gate ends.


def gate_statuses(
    comparison: dict, gate: str, strict: bool = False, no_new_failures: bool = False
) -> list[int]:
    """Return the gate's exit status for each run by itself.

    The gate "worse": 0 no run is shown to be worse, 1 one is, 3 (strict) there are
    too few queries to tell. The gate "not-worse": 0 every run is shown to be worse
    by less than `matters`, 1 one is worse by more, else 3. With `no_new_failures` it
    is also 1 where an answerable query that had results has none.
    """
    statuses = []
    for row in comparison["runs"]:
        verdict = row["decision"]["alone"]
        if no_new_failures and row["new_failures"]:
            statuses.append(1)
        elif gate == "not-worse":
            statuses.append(_not_worse(row["decision"], comparison["matters"]))
        elif strict and verdict == stats.TOO_FEW:
            statuses.append(STRICT)
        else:
            statuses.append(1 if verdict == stats.WORSE else 0)
    return statuses


def _not_worse(pair: dict, matters: float) -> int:
    """Return the exit status of a test of non-inferiority (ICH E9, 1998).

    That a run is not worse is said by the worst case, that it is worse by the t
    interval.
    """
    if pair["alone"] == stats.SAME_RUN or pair["bounds"][0] > -matters:
        return 0
    return 1 if pair["n"] >= stats.FEWEST and pair["high"] < -matters else STRICT
