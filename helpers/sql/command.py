"""python -m helpers sql: index, search and evaluate where the data lives."""

import json
import time
from pathlib import Path

from .. import evalset, files, measures, runs
from . import bm25
from .engines import engine

RUN, DEFAULTS = "bm25-sql", bm25.Settings()
MISSING = """SELECT count(DISTINCT doc_id) FROM qrels
             WHERE grade > 0 AND doc_id NOT IN (SELECT doc_id FROM units)"""


def sql_command(
    evals: evalset.EvalSet | None,
    kind: str,
    to: Path,
    docs: str | None = None,
    queries: str | None = None,
    chunker: str | None = None,
    settings: bm25.Settings = DEFAULTS,
) -> int:
    """Write a run and its card into `to`, and print what a labelled set says of it.

    `docs` and `queries` are Parquet and stand in place of the set's. Raises EvalSetError.
    """
    _refuse_unfit(evals, docs, queries, chunker, settings)
    card = {
        "engine": f"helpers/sql/bm25.sql on {kind}",
        **settings._asdict(),
        "depth": runs.BASELINE["depth"],
        "chunker": chunker or "none, whole documents",
        "tokenizer": "words",
    }
    with engine(kind, to) as opened:
        began = time.monotonic()
        if docs:
            bm25.offer_parquet(opened, docs)
        else:
            bm25.offer_set(opened, evals, chunker)
        done = bm25.index_offered(opened, settings)
        print(f"{done} ({time.monotonic() - began:.1f} s)", flush=True)
        if queries:
            bm25.ask_parquet(opened, queries)
        else:
            bm25.ask_set(opened, evals)
        began = time.monotonic()
        run = bm25.search_queries(opened)
        print(f"{len(run)} queries found something ({time.monotonic() - began:.1f} s)")
        runs.write_trec(to / f"{RUN}.trec", run, RUN)
        if docs or queries:  # no set has these hashes, so the card holds that of the texts
            card["texts_md5"] = opened.rows("SELECT texts FROM indexed")[0][0]
            files.write(to / f"{RUN}.json", json.dumps(card, indent=1) + "\n")
        else:
            runs.write_card(to / f"{RUN}.json", evals, card)
        if evals and evals.queries and not queries:
            values = measures.means(bm25.evaluate_run(opened, evals))
            told = ", ".join(f"{name} {value:.3f}" for name, value in values.items())
            print(f"{told} (n = {len(evals.queries)}, all halves)")
            if missing := opened.rows(MISSING)[0][0]:
                searched = "are not among those searched"
                print(f"{missing} relevant documents of {evals.folder} {searched}")
    print(f"run: {to / RUN}.trec")
    return 0


def _refuse_unfit(evals, docs, queries, chunker, settings: bm25.Settings) -> None:
    """Raise EvalSetError for options that do not go together or are out of range."""
    idf, k1, b = settings.idf, settings.k1, settings.b
    faults = {
        "found --docs and --chunks, wanted one: ids doc#n make chunks of --docs": docs and chunker,
        "found no --evals, wanted it or both --docs and --queries": (
            evals is None and not (docs and queries)
        ),
        f"found --idf {idf}, wanted {' or '.join(bm25.IDFS)}": idf not in bm25.IDFS,
        f"found k1 {k1}, b {b}, wanted k1 from 0 to 1000, b from 0 to 1": (
            not (0 <= k1 <= 1000 and 0 <= b <= 1)
        ),
    }
    for name, value in {"--docs": docs, "--queries": queries, "--chunks": chunker}.items():
        faults[f"found {name} without a value, wanted one or no {name}"] = value == ""
    problems = [problem for problem, holds in faults.items() if holds]
    if problems:
        raise evalset.EvalSetError(problems)
