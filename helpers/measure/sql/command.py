"""python -m helpers sql: index, search and evaluate where the data lives."""

import time
from pathlib import Path

from .. import evalset, files, measures, runs
from . import bm25, engines
from .engines import Engine

RUN = "bm25-sql"
MISSING = """SELECT count(DISTINCT doc_id) FROM qrels
             WHERE grade > 0 AND doc_id NOT IN (SELECT doc_id FROM units)"""


def sql_command(
    folder: Path, to: Path, engine="duckdb", docs=None, queries=None, chunks=None, **parameters
) -> str:
    """Write a run and its card into `to`, print what a labelled set says of it, return its path.

    `docs` and `queries` are Parquet and stand in place of the set's; `parameters` are those of
    bm25.Settings. Raises EvalSetError.
    """
    settings = bm25.Settings(**parameters)
    _refuse_unfit(docs, queries, chunks, settings)
    evals = None if docs and queries else evalset.load(folder)
    card = {
        "engine": f"helpers/measure/sql/bm25.sql on {engine}",
        **settings._asdict(),
        "depth": runs.BASELINE["depth"],
        "chunker": chunks or "none, whole documents",
        "tokenizer": "words",
    }
    with engines.engine(engine, to) as opened:
        run = _search(opened, evals, docs, queries, chunks, settings)
        runs.write_trec(to / f"{RUN}.trec", run, RUN)
        if docs or queries:  # no set has these hashes, so the card holds that of the texts
            card["texts_md5"] = opened.rows("SELECT texts FROM indexed")[0][0]
            files.write_json(to / f"{RUN}.json", card)
        else:
            runs.write_card(to / f"{RUN}.json", evals, card, run)
        if evals and evals.queries and not queries:
            _print_measures(opened, evals)
    return f"run: {to / RUN}.trec"


def _refuse_unfit(docs, queries, chunker, settings: bm25.Settings) -> None:
    """Raise EvalSetError for options that do not go together or are out of range."""
    problems = []
    for name, value in (("--docs", docs), ("--queries", queries), ("--chunks", chunker)):
        if value == "":
            problems.append(f"found {name} without a value, wanted one")
    if docs and chunker:
        problems.append("found --docs and --chunks, wanted one: ids doc#n make chunks of --docs")
    if not (0 <= settings.k1 <= 1000 and 0 <= settings.b <= 1):
        problems.append(
            f"found k1 {settings.k1}, b {settings.b}, wanted k1 from 0 to 1000, b from 0 to 1"
        )
    files.refuse(problems)


def _search(opened: Engine, evals, docs, queries, chunker, settings) -> runs.Rankings:
    began = time.monotonic()
    bm25.add_documents(opened, evals, docs, chunker or "")
    done = bm25.index_documents(opened, settings)
    print(f"{done} ({time.monotonic() - began:.1f} s)", flush=True)
    bm25.add_queries(opened, evals, queries)
    began = time.monotonic()
    run = bm25.search_queries(opened)
    print(f"{len(run)} queries found something ({time.monotonic() - began:.1f} s)")
    return run


def _print_measures(opened: Engine, evals: evalset.EvalSet) -> None:
    means = measures.means(bm25.evaluate_run(opened, evals))
    values = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
    print(f"{values} (n = {len(evals.queries)}, all halves)")
    if missing := opened.rows(MISSING)[0][0]:
        print(f"{missing} relevant documents of {evals.folder} are not among those searched")
