"""Index, search and evaluate by bm25.sql, on any engine."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from .. import chunks, files, runs
from ..evalset import EvalSet
from ..files import EvalSetError
from .engines import Engine, errors_in_words, script

INDEXED = "indexed"  # the last table of an index: of which texts and parameters it is
PATTERN = r"[\p{L}\p{N}_]+"  # what Python's \w+ takes, in the patterns of every engine
ID_PATTERN = r"[^\p{Z}\p{C}/\\#]+"  # as files.is_id has it
ID_FORM = (
    "each once, as text of up to 1,000 characters without spaces, slashes, # or invisible ones"
)
TEXT = ("varchar|string", "text")  # types as DuckDB and Spark call them, and in words
ID = (
    r"varchar|string|uuid|date|u?(tiny|small|big)?int(eger)?|decimal\(\d+, ?0\)",
    "text, whole numbers, UUIDs or dates",
)
COLUMN_NAMES = {"ndcg_10": "nDCG@10", "rr": "RR", "recall_100": "recall@100"}


class Settings(NamedTuple):
    """The parameters of BM25, as rank_bm25 names them."""

    k1: float = runs.BASELINE["k1"]
    b: float = runs.BASELINE["b"]
    epsilon: float = runs.BASELINE["epsilon"]
    idf: str = "okapi"  # or lucene


def run_part(engine: Engine, part: str, **values: str) -> list[tuple]:
    """Run the statements of a part of bm25.sql, each table anew; return the last one's rows.

    `values` and what all parts share stand for `:name`, as literals: an engine would compile a
    pattern that is a column for each row, and sort all rows for a depth that is one.
    """
    rows, current = [], ""
    values |= {"pattern": PATTERN}
    literals = {name: engine.quoted(value) for name, value in values.items()}
    literals["depth"] = str(runs.BASELINE["depth"])
    for statement in script("bm25"):
        if head := re.search(r"^-- (index|search|evaluate|fingerprint)\b", statement, re.M):
            current = head[1]
        if current != part:
            continue
        plain = re.sub(r"--.*", "", statement).strip()
        plain = re.sub(r":(\w+)", lambda name: literals[name[1]], plain)
        if table := re.match(r"CREATE TABLE (\w+) AS", plain):
            engine.rows(f"DROP TABLE IF EXISTS {table[1]}")
        rows = engine.rows(plain)
    return rows


def add_documents(
    engine: Engine, evals: EvalSet | None, path: str | None = None, chunker: str = ""
) -> None:
    """Offer the documents of a set, the spans of one of its chunkers, or what `path` holds.

    That is a Parquet file, folder or address with doc_id, text and, if there, title; an id `doc#n`
    is a chunk of `doc`. Raises EvalSetError for another tokenizer, other columns and bad rows.
    """
    if path:
        source = _parquet_source(engine, path, "doc_id")
        engine.rows(
            "CREATE OR REPLACE TEMP VIEW offered AS SELECT doc_id AS unit, "
            "regexp_replace(doc_id, '#[0-9]+$', '') AS doc_id, "
            "concat(coalesce(title || chr(10) || chr(10), ''), coalesce(text, '')) AS text "
            f"FROM {source}"
        )
        _refuse_bad_rows(engine, path, "offered", "unit", f"^{ID_PATTERN}(#[0-9]+)?$")
    elif evals.tokenizer != "words":
        raise EvalSetError(
            f"{evals.folder}: found words by {evals.tokenizer!r}, wanted 'words', runs "
            "of letters and digits"
        )
    else:
        table = pd.DataFrame(rows_to_rank(evals, chunker), columns=["unit", "doc_id", "text"])
        engine.put("offered", table)


def rows_to_rank(evals: EvalSet, chunker: str) -> list[tuple[str, str, str]]:
    """Return (unit, document, text) of the documents of a set, or of the spans of a chunker."""
    if not chunker:
        return [(doc.doc_id, doc.doc_id, doc.retrieval_text) for doc in evals.documents.values()]
    spans = chunks.read_chunks(evals.folder / "chunks" / f"{chunker}.jsonl", evals.documents)
    return [(span.chunk_id, span.doc_id, span.text(evals.documents)) for span in spans]


def add_queries(engine: Engine, evals: EvalSet | None, path: str | None = None) -> None:
    """Take the queries of a set, those without an answer too, or query_id and text of `path`.

    That is a Parquet file, folder or address. Raises EvalSetError.
    """
    if path:
        source = _parquet_source(engine, path, "query_id")
        engine.rows(f"CREATE OR REPLACE TEMP VIEW queries AS SELECT query_id, text FROM {source}")
        _refuse_bad_rows(engine, path, "queries", "query_id", f"^{ID_PATTERN}$")
    else:
        rows = [(query.query_id, query.query) for query in evals.all_queries.values()]
        engine.put("queries", pd.DataFrame(rows, columns=["query_id", "text"]))


def _parquet_source(engine: Engine, path: str, name: str) -> str:
    """Return what FROM reads of `path`: the id `name` as text, title and text; NULLs are told."""
    if "://" not in path and not Path(path).exists():
        raise EvalSetError(f"{path}: found nothing, wanted a Parquet file or folder")
    source = engine.parquet(path)
    with errors_in_words(f"{path}: cannot be read as Parquet", engine.errors):
        columns = engine.columns(source)
        wanted, title = {name: ID, "text": TEXT}, "CAST(NULL AS STRING) AS title"
        if "title" in columns:
            wanted["title"], title = TEXT, "title"
        problems = []
        for column, (types, form) in wanted.items():
            kind = columns.get(column, "missing")
            if not re.fullmatch(types, kind, re.I):
                problems.append(
                    f"{path}: column {column} is {kind[:60]}, wanted {form}; found "
                    f"columns {', '.join(columns)[:200]}"
                )
        files.refuse(problems)
        source = f"(SELECT CAST({name} AS STRING) AS {name}, {title}, text FROM {source}) AS given"
        whole = f"sum(length(concat({name}, title, text)))"  # reads all that is read later
        rows, texts, _ = engine.rows(f"SELECT count(*), count(text), {whole} FROM {source}")[0]
    if texts < rows:
        print(f"{path}: {rows - texts:,} of {rows:,} texts are NULL, read as empty")
    return source


def _refuse_bad_rows(engine: Engine, path: str, view: str, name: str, pattern: str) -> None:
    """Raise EvalSetError where an id stands twice or is none, or where no text holds a word."""
    pattern, word = engine.quoted(pattern), engine.quoted(PATTERN)
    bad_ids = engine.rows(
        f"SELECT {name}, count(*) FROM {view} GROUP BY {name} HAVING count(*) > 1 "
        f"OR {name} IS NULL OR {name} IN ('', '.', '..') OR length({name}) > 1000 "
        f"OR regexp_replace({name}, {pattern}, '') <> '' ORDER BY {name} LIMIT 5"
    )
    problems = []
    for bad_id, times in bad_ids:
        problems.append(
            f"{path}: found {times} rows with the id {(bad_id or '')[:60]!r}, wanted {ID_FORM}"
        )
    words = f"SELECT 1 FROM {view} WHERE regexp_replace(text, {word}, '') <> text LIMIT 1"
    if not problems and not engine.rows(words):
        problems = [f"{path}: found no row with a word, wanted letters or digits in column text"]
    files.refuse(problems)


def index_documents(engine: Engine, settings: Settings) -> str:
    """Index what is offered, once; return what was done.

    Raises EvalSetError where an index of other texts or parameters stands.
    """
    engine.put("settings", pd.DataFrame([settings], columns=Settings._fields))
    now = (str(run_part(engine, "fingerprint")[0][0]), repr(settings))
    if any(INDEXED in row for row in engine.rows("SHOW TABLES")):  # made last: a whole index
        before = engine.rows(f"SELECT texts, parameters FROM {INDEXED}")[0]
        if before == now:
            return "the index stood there, of the same texts and parameters"
        found = f"parameters {before[1]}" if before[0] == now[0] else "other texts"
        raise EvalSetError(
            f"found an index of {found}, wanted {now[1]} of these texts: name another --to"
        )
    run_part(engine, "index")
    texts, parameters = map(engine.quoted, now)  # last, so that half an index is no index
    engine.rows(f"CREATE TABLE {INDEXED} AS SELECT {texts} AS texts, {parameters} AS parameters")
    return "indexed"


def search_queries(engine: Engine) -> runs.Rankings:
    """Return the rankings that hold something, kept for `evaluate_run`, or raise EvalSetError."""
    ids = [row[0] for row in engine.rows("SELECT query_id FROM queries ORDER BY query_id")]
    rows = []
    for start in range(0, len(ids), engine.batch):
        batch = ids[start : start + engine.batch]
        rows += run_part(engine, "search", first=batch[0], last=batch[-1])
    if not rows:
        raise EvalSetError("no query found anything, wanted words that documents hold")
    kinds = {"query_id": "str", "doc_id": "str", "place": "int64", "score": "float64"}
    engine.put("run", pd.DataFrame(rows, columns=[*kinds]).astype(kinds))
    run = {}
    for query_id, doc_id, _, score in sorted(rows, key=lambda row: (row[0], row[2])):
        run.setdefault(query_id, []).append((doc_id, score))
    return run


def evaluate_run(engine: Engine, evals: EvalSet) -> dict[str, dict[str, float]]:
    """Return {query_id: {measure: value}} of the run for the labelled queries of a set."""
    rows = [(q, d, grade) for q, labels in evals.qrels().items() for d, grade in labels.items()]
    engine.put("qrels", pd.DataFrame(rows, columns=["query_id", "doc_id", "grade"]))
    run_part(engine, "evaluate")
    values = engine.rows(f"SELECT query_id, {', '.join(COLUMN_NAMES)} FROM measures")
    return {row[0]: dict(zip(COLUMN_NAMES.values(), row[1:], strict=True)) for row in values}
