"""python -m helpers sql: index, search and evaluate where the data lives."""

import json
import time
from pathlib import Path

from .. import evalset, files, measures, runs
from . import bm25
from .engines import Engine, engine

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
    values = None
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
        if evals and evals.queries and not queries:
            values = measures.means(bm25.evaluate_run(opened, evals))
            missing = opened.rows(MISSING)[0][0]
        with files.new_file(to / f"{RUN}.trec") as run, files.new_file(to / f"{RUN}.json") as card:
            runs.write_trec(run, found, RUN)  # both or none
            _write_card(card, opened, None if docs or queries else evals, chunker, settings)
    if values:
        print(", ".join(f"{name} {value:.3f}" for name, value in values.items()), end="")
        print(f" (n = {len(evals.queries)}, all halves)")
        if missing:
            print(f"{missing} relevant documents of {evals.folder} are not among those searched")
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
    if not (0 <= settings.k1 <= 1000 and 0 <= settings.b <= 1):
        wanted = "wanted k1 from 0 to 1000, b from 0 to 1"
        problems.append(f"found k1 {settings.k1}, b {settings.b}, {wanted}")
    for option, given in {"docs": docs, "queries": queries, "chunks": chunker}.items():
        if given == "":
            problems.append(f"found --{option} without a value, wanted one or no --{option}")
    if problems:
        raise evalset.EvalSetError(problems)


def _ask(opened: Engine, evals: evalset.EvalSet | None, queries: str | None) -> None:
    if queries:
        bm25.ask_parquet(opened, queries)
    else:
        bm25.ask_set(opened, evals)


def _write_card(path: Path, opened: Engine, evals, chunker, settings: bm25.Settings) -> None:
    """Write what session B's cards say; without a set the hash of the texts."""
    said = {
        "engine": f"helpers/sql/bm25.sql on {opened.name}",
        **settings._asdict(),
        "depth": runs.BASELINE["depth"],
        "chunker": chunker or "none, whole documents",
        "tokenizer": "words",
    }
    if evals:
        runs.write_card(path, evals, said)
    else:
        said["texts_md5"] = opened.rows("SELECT texts FROM indexed")[0][0]
        files.write(path, json.dumps(said, indent=1) + "\n")
