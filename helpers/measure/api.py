"""Three of the five calls for other programs; the package's __init__ names all.

A `system` is a run, the path of one, or a function search(query) that returns ids of
documents or passages, or (id, score), best first.
"""

import re
import time
from functools import partial
from pathlib import Path

import numpy as np
from tqdm import tqdm

from . import compare, evidence, files, runs
from .evalset import EvalSet, EvalSetError
from .systems import known_to_all, read_checked, read_compared


def read_run(evals: EvalSet, system) -> runs.Run:
    """Return a system's run. Raises EvalSetError with file, line and remedy where it's unusable."""
    if isinstance(system, runs.Run):
        return system
    path = _ask_each(evals, system) if callable(system) else Path(system)
    return read_checked(path, evals)


def compare_runs(evals: EvalSet, *systems, base=None, split: str = "dev", **rules) -> dict:
    """Return what is known of each system against the saved baseline, or against `base`.

    It is what the comparison's JSON file holds: of each of its `runs`, `decision`
    has the verdict. `split` is dev, test or all; `rules` are `matters` and
    `decides`. Raises EvalSetError.
    """
    read = partial(read_run, evals)
    against, *others = read_compared(evals, base, systems, split, read)
    return compare.compare_on(evals, against, others, split, **rules)


def evidence_by_query(evals: EvalSet, system) -> dict[str, dict[str, float]]:
    """Return {query_id: {measure: value}} of the quotes that passages deliver, 0 to 1.

    Of all queries whose labels have quotes, those with several needs with the measures of needs;
    {} where the system ranks no passages.
    """
    run = read_run(evals, system)
    rankings, known = evidence.ranked_passages(evals, run)
    queries = evidence.quoted_queries(known_to_all(evals, run)) if rankings else {}
    values = evidence.by_query(evals.documents, queries, rankings, known)
    for query_id, needs in evidence.needs_by_query(evals.documents, queries, rankings).items():
        values[query_id] |= needs
    return values


def _ask_each(evals: EvalSet, search) -> Path:
    """Ask a function for each query, with a bar; return the run that was written.

    It is in `comparisons/asked/`, away from the reports; its card has the seconds of
    a query.
    """
    called = getattr(search, "__name__", type(search).__name__)
    name = re.sub(r"\W+", "-", called).strip("-")  # a lambda has signs that no file may have
    path, rows, seconds = evals.folder / "comparisons/asked" / f"{name}.jsonl", [], []
    for query_id, query in tqdm(evals.all_queries.items(), called, disable=None):
        began = time.perf_counter()
        try:
            found = [*search(query.query)]
            seconds.append(time.perf_counter() - began)
            pairs = [(one, -n) if isinstance(one, str) else one for n, one in enumerate(found)]
            results = [(str(ranked_id), float(score)) for ranked_id, score in pairs]
        except Exception as error:  # of a function that somebody else wrote
            raise EvalSetError(
                f"{called} for query {query_id}: {type(error).__name__}: {error}, "
                "wanted ids, best first, or pairs of id and score"
            ) from error
        rows.append({"query_id": query_id, "results": results})
    files.write_jsonl(path, rows)
    latency = dict(zip(("median", "p95"), np.percentile(seconds, [50, 95]).tolist(), strict=True))
    facts = {"engine": called, "seconds": latency}
    run = {row["query_id"]: row["results"] for row in rows}
    runs.write_card(path.with_suffix(".json"), evals, facts, run)
    return path
