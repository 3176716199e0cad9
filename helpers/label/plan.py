"""What more labels would tell: what can be seen now, how many queries more, how deep, which pairs.

From the dev queries, the baseline and the other runs of a set's folder.
"""

import pandas as pd

from ..measure import compare, evalset, measures, reading, runs, stats, systems
from ..measure.evalset import EvalSet
from ..measure.text import Pair, how_many

AIMS = (0.05, 0.08)  # differences of the primary measure that one may want to see
BANDS = ((1, 10), (11, 20), (21, 50), (51, 100))  # ranks
FEW = 100  # judged pairs of a band; fewer tell no share
PAIRS = 20
HEAD = """
low, high: the 95 % interval of what stands before them
detectable: the smallest difference that these {} queries find four times
in five; queries for .05: how many find .05 as often"""
BELOW = """
per 100: relevant ones of 100 that are read; empty where fewer than {} are
judged. Below 5 reading hardly pays: recall at such ranks stays a guess."""


def plan_command(evals: EvalSet) -> int:
    """Print the plan, and add the pairs to read next to to_read.jsonl; return 0.

    Raises EvalSetError where there is no baseline, no other run or nothing labelled.
    """
    base, others = systems.saved_baseline(evals), other_runs(evals)
    whole, evals = evals, systems.known_to_all(evals, base, *others)
    newer = whole.settled_queries.keys() - evals.settled_queries.keys()
    qrels = evals.qrels(evalset.SPLITS[0])
    if not (others and qrels):
        wanted = "a .trec file of another chunker in runs/ or of another system in systems/"
        if others:
            wanted = "a dev query with a relevant document"
        raise evalset.EvalSetError(f"{evals.folder}: nothing can be planned, wanted {wanted}")
    seen, bands = differences(evals, qrels, base, others), pool_bands(qrels, [base, *others])
    few = stats.without_halves(len(whole.queries))
    if few and not whole.qrels(evalset.SPLITS[1]):
        print(f"{few}\n")
    print(f"{evals.name}, {measures.PRIMARY}, {how_many(qrels, 'dev query')}")
    if newer:
        print(evalset.left_out((), newer))
    if seen:
        print(HEAD.format(len(qrels)))
    _print_differences(seen, len(others))
    print(f"\nPairs by their best rank in these {len(others) + 1} runs:")
    print(pd.DataFrame(bands).to_string(index=False))
    print(BELOW.format(FEW), end="\n\n")
    rows = compare.pairs_to_read(evals, base, others, evalset.SPLITS[0], PAIRS)
    reading.write_list(evals, rows)
    unjudged = how_many(rows, "unjudged pair")
    print(f"Next: {unjudged}, by how far a grade could move a difference")
    print(f"The panel opens {reading.TO_READ}; {reading.in_words(evals)[0]}")
    return 0


def _print_differences(seen: list[dict], runs_in_all: int) -> None:
    if seen:
        print(pd.DataFrame(seen).to_string(index=False, float_format="{:.3f}".format))
    if near := runs_in_all - len(seen):
        count = how_many(near, "run")
        print(f"not shown: {count} within {AIMS[0]} of the baseline, by the interval")


def other_runs(evals: EvalSet) -> list[runs.Run]:
    """Return the runs of other chunkers and of other systems that the folder holds."""
    saved = sorted((evals.folder / "runs").glob("*.trec"))
    chunkers = [path for path in saved if path.stem != runs.BASELINE["chunker"]]
    return [systems.read_checked(path, evals) for path in chunkers] + systems.read_systems(evals)


def differences(
    evals: EvalSet, qrels: measures.Qrels, base: runs.Run, others: list[runs.Run]
) -> list[dict]:
    """Return for each run its difference, the detectable one, queries for each aim; "" if none.

    Left out is what the 95 % t interval shows to be less than the smallest aim from the baseline.
    """
    rows = []
    for run in others:
        alike = measures.cut_alike(len(evals.documents), base, run)
        name = measures.at_depth(measures.PRIMARY, alike.depth)
        values = []
        for cut in alike.runs:
            found = measures.per_query(qrels, cut.rankings, [name])
            values.append([row[name] for row in found.values()])
        paired = stats.compare_paired(*values)
        row = {"run": run.name, "difference": round(paired.difference, 3)}
        row |= {"low": "", "high": "", "detectable": ""}
        if paired.low is not None:
            if stats.is_within((paired.low, paired.high), AIMS[0]):
                continue
            row |= {"low": round(paired.low, 3), "high": round(paired.high, 3)}
        row |= {f"queries for {aim:.2f}": "" for aim in AIMS}
        if least := round(paired.detectable or 0, 3):
            row["detectable"] = least
            sd = paired.detectable / stats.detectable(paired.n, 1)
            for aim in AIMS:
                row[f"queries for {aim:.2f}"] = stats.queries_needed(aim, sd)
        rows.append(row)
    return rows


def pool_bands(qrels: measures.Qrels, pooled: list[runs.Run]) -> list[dict]:
    """Return a row for each band of ranks: its pairs, how many are judged and how many relevant.

    A pair is in the band of its best rank in any run. `per 100` is how many of 100 judged ones
    are relevant, with its interval (`low`, `high`); "" where few are judged or none got a 0. What
    is judged below the pool's depth was brought by other rankers, so it's rather too high for the
    rest. It never exceeds that of a shallower band, where more is judged.
    """
    best: dict[Pair, int] = {}
    for run in pooled:
        for query_id in qrels:
            for rank, (doc_id, _) in enumerate(run.rankings.get(query_id, []), 1):
                best[query_id, doc_id] = min(rank, best.get((query_id, doc_id), rank))
    rows, shallower = [], {"per 100": 100.0}
    for low, high in BANDS:
        pairs = [(q, d) for (q, d), rank in best.items() if low <= rank <= high]
        grades = [qrels[q][d] for q, d in pairs if d in qrels[q]]
        row = {"ranks": f"{low}-{high}", "pairs": len(pairs), "judged": len(grades)}
        row |= {"relevant": sum(map(bool, grades)), "per 100": "", "low": "", "high": ""}
        if len(grades) >= FEW and not all(grades):
            own = _per_100(row["relevant"], len(grades))
            if own["per 100"] <= shallower["per 100"]:
                shallower = own
            row |= shallower
        rows.append(row)
    return rows


def _per_100(relevant: int, judged: int) -> dict[str, float]:
    shares = (relevant / judged, *stats.share_interval(relevant, judged))
    values = [round(100 * share, 1) for share in shares]
    return dict(zip(("per 100", "low", "high"), values, strict=True))
