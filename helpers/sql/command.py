"""python -m helpers sql: index, search and evaluate where the data lives."""

import json
import time
from pathlib import Path

from .. import evalset, measures, records, runs
from . import bm25
from .engines import Engine, engine

RUN, DEFAULTS = "bm25-sql", bm25.Settings()


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
    with engine(kind, to) as opened:
        began = time.monotonic()
        if docs:
            bm25.offer_parquet(opened, docs)
        else:
            bm25.offer_set(opened, evals, chunker)
        print(
            f"{bm25.index_offered(opened, settings)} ({time.monotonic() - began:.1f} s)", flush=True
        )
        _ask(opened, evals, queries)
        began = time.monotonic()
        found = bm25.search_queries(opened)
        print(f"{len(found)} queries found something ({time.monotonic() - began:.1f} s)")
        runs.write_trec(to / f"{RUN}.trec", found, RUN)
        _write_card(to, opened, None if docs or queries else evals, chunker, settings)
        if evals and evals.queries and not queries:
            values = measures.means(bm25.evaluate_run(opened, evals))
            print(", ".join(f"{name} {value:.3f}" for name, value in values.items()), end="")
            print(f" (n = {len(evals.queries)}, all halves)")
    print(f"run: {to / RUN}.trec")
    return 0


def _refuse_unfit(evals, docs, queries, chunker, settings: bm25.Settings) -> None:
    """Raise EvalSetError for options that do not go together or are out of range."""
    problems = []
    if docs and chunker:
        problems.append("found --docs and --chunks, wanted one: ids doc#n make chunks of --docs")
    if evals is None and not (docs and queries):
        problems.append("found no --evals, wanted it or both --docs and --queries")
    if settings.idf not in bm25.IDFS:
        problems.append(f"found --idf {settings.idf}, wanted {' or '.join(bm25.IDFS)}")
    if not (settings.k1 >= 0 and 0 <= settings.b <= 1):
        problems.append(f"found k1 {settings.k1}, b {settings.b}, wanted k1 >= 0, b from 0 to 1")
    if problems:
        raise evalset.EvalSetError(problems)


def _ask(opened: Engine, evals: evalset.EvalSet | None, queries: str | None) -> None:
    if queries:
        bm25.ask_parquet(opened, queries)
    else:
        bm25.ask_set(opened, evals)


def _write_card(to: Path, opened: Engine, evals, chunker, settings: bm25.Settings) -> None:
    """Write what session B's cards say; without a set the hash of the texts."""
    said = {
        "engine": f"helpers/sql/bm25.sql on {opened.name}",
        **settings._asdict(),
        "depth": runs.BASELINE["depth"],
        "chunker": chunker or "none, whole documents",
        "tokenizer": "words",
    }
    path = to / f"{RUN}.json"
    if evals:
        runs.write_card(path, evals, said)
    else:
        said["texts_md5"] = opened.rows("SELECT texts FROM indexed")[0][0]
        records.write(path, json.dumps(said, indent=1) + "\n")
