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

    `alone` is the verdict that a row has without the others; `decides` and `matters` are those of
    the set.
    """
    pairs = [row["measures"][row["primary"]] | {"bounds": row["bounds"]} for row in rows]
    _add_verdicts(rows, pairs, matters)
    for end in (0, 1):  # of what grades of unjudged results could do, adjusted in the same way
        known = zip(rows, pairs, strict=True)
        ends = [row["unjudged"][end] if row["unjudged"] else pair for row, pair in known]
        for row, told in zip(rows, stats.verdicts(ends, matters), strict=True):
            if row["unjudged"]:
                row["unjudged"][end].update(told)
    quoted = [row["evidence"] for row in rows if row["evidence"]]
    pairs = []
    for of_row in quoted:
        measure = evidence.deciding_measure(of_row["measures"], decides)
        pairs.append(of_row["measures"][measure] | {"bounds": of_row["bounds"]})
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

    Those at k are among them wherever a run has evidence: shorter lists have them at a smaller k.
    """
    known = row["evidence"].get("measures", {})
    able = []
    for decides, measure in evidence.OF_EVIDENCE.items():
        if measure in known or ("@" in decides and known):
            able.append(decides)
    return able


def decided_by(row: dict, decides: str) -> str:
    """Return the measure that decides about a run, of evidence where nDCG@10 would miss searches.

    It sees ten results, those of the first search alone where that found as many. A budget of
    tokens holds what the reader gets; it's BUDGET, or the largest one that the lists of both fill.
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
    if decides in able:
        told = row["evidence"]
        measure = evidence.deciding_measure(told["measures"], decides)
    elif decides in evidence.OF_EVIDENCE:
        lacks = "it or its base ranks no passages"
        why = f"its lists end before that, wanted one of {', '.join(able)}" if able else lacks
        raise EvalSetError([f"{row['name']}: {decides} cannot decide, {why}"])
    else:
        told, measure = row, row["primary"]
    pair = {field: told["measures"][measure][field] for field in stats.Paired._fields}
    return pair | {field: told[field] for field in ("bounds", "verdict", "alone")}


# How a gate ends.


def gate_statuses(
    comparison: dict, gate: str, strict: bool = False, no_new_failures: bool = False
) -> list[int]:
    """Return the gate's exit status for each run by itself.

    The gate "worse": 0 no run is shown to be worse, 1 one is, 3 (strict) there are too few queries
    to tell. The gate "not-worse": 0 every run is shown to be worse by less than `matters`, 1 one is
    worse by more, else 3. With `no_new_failures` it is also 1 where an answerable query that had
    results has none.
    """
    statuses = []
    for row in comparison["runs"]:
        if no_new_failures and row["new_failures"]:
            statuses.append(1)
        elif gate == "not-worse":
            statuses.append(_not_worse(row["decision"], comparison["matters"]))
        else:
            statuses.append(_worse(row["decision"], strict))
    return statuses


def _worse(pair: dict, strict: bool) -> int:
    if pair["alone"] == stats.WORSE:
        return 1
    return STRICT if strict and pair["alone"] == stats.TOO_FEW else 0


def _not_worse(pair: dict, matters: float) -> int:
    """Return the exit status of a test of non-inferiority (ICH E9, 1998).

    That a run is not worse is said by the worst case, that it is worse by the t interval.
    """
    if pair["alone"] == stats.SAME_RUN or pair["bounds"][0] > -matters:
        return 0
    return 1 if pair["n"] >= stats.FEWEST and pair["high"] < -matters else STRICT
