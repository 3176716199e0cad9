"""Index, search and evaluate by bm25.sql, on any engine."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from .. import chunks, evalset, runs
from .engines import INDEXED, Engine, script

PATTERN = r"[\p{L}\p{N}_]+"  # what Python's \w+ takes, in the patterns of every engine
TABLE = re.compile(r"CREATE TABLE (\w+) AS")
IDFS = ("okapi", "lucene")
COLUMN_NAMES = {"ndcg_10": "nDCG@10", "rr": "RR", "recall_100": "recall@100"}


class Settings(NamedTuple):
    """The parameters of BM25, as rank_bm25 names them."""

    k1: float = runs.BASELINE["k1"]
    b: float = runs.BASELINE["b"]
    epsilon: float = runs.BASELINE["epsilon"]
    idf: str = "okapi"


@cache
def parts() -> dict[str, list[str]]:
    """Return {part: its statements} of bm25.sql; a comment names the first statement of a part."""
    found: dict[str, list[str]] = {"": []}
    for statement in script("bm25"):
        for comment in re.findall(r"^-- (index|search|evaluate|fingerprint)\b", statement, re.M):
            found[comment] = []
        found[[*found][-1]].append(statement)
    return found


def run_part(engine: Engine, part: str, **values: str) -> list[tuple]:
    """Run the statements of a part, each table anew, and return the rows of the last one.

    `values` and what all parts share stand for `:name` in them, as literals: an engine would
    compile a pattern that is a column for each row, and sort all rows for a depth that is one.
    """
    rows: list[tuple] = []
    literals = {name: engine.quoted(value) for name, value in values.items()}
    literals |= {"pattern": engine.quoted(PATTERN), "depth": str(runs.BASELINE["depth"])}
    for statement in parts()[part]:
        plain = re.sub(r"--.*", "", statement).strip()
        plain = re.sub(r":(\w+)", lambda found: literals[found[1]], plain)
        if made := TABLE.match(plain):
            engine.rows(f"DROP TABLE IF EXISTS {made[1]}")
        rows = engine.rows(plain)
    return rows


def offer_set(engine: Engine, evals: evalset.EvalSet, chunker: str | None) -> None:
    """Offer the documents of a set, or the spans of one of its chunkers. Raises EvalSetError."""
    if evals.tokenizer != "words":
        wanted = "wanted 'words', runs of letters and digits"
        raise evalset.EvalSetError(
            [f"{evals.folder}: found words by {evals.tokenizer!r}, {wanted}"]
        )
    engine.put("offered", pd.DataFrame(units(evals, chunker), columns=["unit", "doc_id", "text"]))


def units(evals: evalset.EvalSet, chunker: str | None) -> list[tuple[str, str, str]]:
    """Return (unit, document, text) of the documents of a set, or of the spans of a chunker."""
    if not chunker:
        return [(doc.doc_id, doc.doc_id, doc.retrieval_text) for doc in evals.documents.values()]
    spans = chunks.read_chunks(evals.folder / "chunks" / f"{chunker}.jsonl", evals.documents)
    return [(span.chunk_id, span.doc_id, span.text(evals.documents)) for span in spans]


def offer_parquet(engine: Engine, path: str) -> None:
    """Offer the rows of a Parquet file, folder or address; an id `doc#n` is a chunk of `doc`.

    The columns are doc_id, text and optionally title, which stands before the text. Raises
    EvalSetError where one is missing or an id stands twice or is empty.
    """
    source, found = _parquet_source(engine, path, "doc_id", "text")
    title = "coalesce(concat(title, chr(10), chr(10)), '')" if "title" in found else "''"
    engine.rows(
        "CREATE OR REPLACE TEMP VIEW offered AS SELECT doc_id AS unit, "
        f"regexp_replace(doc_id, '#[0-9]+$', '') AS doc_id, concat({title}, coalesce(text, '')) "
        f"AS text FROM {source}"
    )
    _refuse_bad_ids(engine, path, "offered", "unit")


def ask_parquet(engine: Engine, path: str) -> None:
    """Take queries (query_id, text) of a Parquet file, folder or address. Raises EvalSetError."""
    source, _ = _parquet_source(engine, path, "query_id", "text")
    engine.rows(f"CREATE OR REPLACE TEMP VIEW queries AS SELECT query_id, text FROM {source}")
    _refuse_bad_ids(engine, path, "queries", "query_id")


def ask_set(engine: Engine, evals: evalset.EvalSet) -> None:
    """Take the queries of a set, those without an answer too."""
    rows = [(query.query_id, query.query) for query in evals.asked.values()]
    engine.put("queries", pd.DataFrame(rows, columns=["query_id", "text"]))


def _parquet_source(engine: Engine, path: str, *wanted: str) -> tuple[str, list[str]]:
    """Return what FROM reads of `path`, and its columns. Raises EvalSetError."""
    if "://" not in path and not Path(path).exists():
        raise evalset.EvalSetError([f"{path}: found nothing, wanted a Parquet file or folder"])
    source = engine.parquet(path)
    try:
        found = engine.columns(source)
    except Exception as error:  # each engine has its own
        said = " ".join(str(error).split())[:200]
        raise evalset.EvalSetError([f"{path}: cannot be read as Parquet: {said}"]) from error
    missing = [name for name in wanted if name not in found]
    if missing:
        told = f"found columns {', '.join(found)}, wanted {', '.join(wanted)}"
        raise evalset.EvalSetError([f"{path}: column {missing[0]} is missing: {told}"])
    return source, found


def _refuse_bad_ids(engine: Engine, path: str, view: str, name: str) -> None:
    """Raise EvalSetError where an id is empty or stands more than once."""
    twice = engine.rows(
        f"SELECT {name}, count(*) FROM {view} GROUP BY {name} "
        f"HAVING count(*) > 1 OR {name} IS NULL OR {name} = '' ORDER BY {name} LIMIT 5"
    )
    problems = [
        f"{path}: found {times} rows with the id {name!r}, wanted one"
        if name
        else f"{path}: found {times} rows without an id"
        for name, times in twice
    ]
    if problems:
        raise evalset.EvalSetError(problems)


def index_offered(engine: Engine, settings: Settings) -> str:
    """Index what is offered, once; return what was done.

    Raises EvalSetError where an index of other texts or parameters stands there.
    """
    engine.put("settings", pd.DataFrame([settings], columns=Settings._fields))
    now = (str(run_part(engine, "fingerprint")[0][0]), repr(settings))
    if any(INDEXED in row for row in engine.rows("SHOW TABLES")):
        before = engine.rows(f"SELECT texts, parameters FROM {INDEXED}")[0]
        if before == now:
            return "the index stood there, of the same texts and parameters"
        found = f"parameters {before[1]}" if before[0] == now[0] else "other texts"
        told = f"found an index of {found}, wanted {now[1]} of these texts: name another --to"
        raise evalset.EvalSetError([told])
    run_part(engine, "index")
    texts, parameters = map(engine.quoted, now)  # last, so that half an index is no index
    engine.rows(f"CREATE TABLE {INDEXED} AS SELECT {texts} AS texts, {parameters} AS parameters")
    return "indexed"


def search_queries(engine: Engine) -> dict[str, runs.Ranking]:
    """Return the ranking of each query that found something, and keep them for `evaluate_run`."""
    ids = [row[0] for row in engine.rows("SELECT query_id FROM queries ORDER BY query_id")]
    batches = [ids[start : start + engine.batch] for start in range(0, len(ids), engine.batch)]
    rows = [
        row
        for batch in batches
        for row in run_part(engine, "search", first=batch[0], last=batch[-1])
    ]
    kept = pd.DataFrame(rows, columns=["query_id", "doc_id", "place", "score"])
    kinds = {"query_id": "str", "doc_id": "str", "place": "int64", "score": "float64"}
    engine.put("run", kept.astype(kinds))
    found: dict[str, runs.Ranking] = {}
    for query_id, doc_id, _, score in sorted(rows, key=lambda row: (row[0], row[2])):
        found.setdefault(query_id, []).append((doc_id, score))
    return found


def evaluate_run(engine: Engine, evals: evalset.EvalSet) -> dict[str, dict[str, float]]:
    """Return {query_id: {measure: value}} of the run for the labelled queries of a set."""
    rows = [(q, d, grade) for q, labels in evals.qrels().items() for d, grade in labels.items()]
    engine.put("qrels", pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"]))
    run_part(engine, "evaluate")
    values = engine.rows(f"SELECT query_id, {', '.join(COLUMN_NAMES)} FROM measures")
    return {row[0]: dict(zip(COLUMN_NAMES.values(), row[1:], strict=True)) for row in values}
