"""Tables: rows of JSON lines, a JSON array, CSV, TSV or Parquet, each with its place."""

import csv
import glob
import gzip
import zlib
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from .. import files
from ..files import EvalSetError
from . import readers
from .readers import Log, Options

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
PAIRS = {2: ("_id", "text")}  # lines `id TAB text`

# What the columns of others are called; the first that a row has counts.
DOCUMENT = {
    "doc_id": ("_id", "doc_id", "docid", "docno", "id", "pid", "passage_id"),
    "title": ("title",),
    "text": ("text", "contents", "body", "content", "passage"),
}
QUERY = {
    "query_id": ("_id", "query_id", "qid", "id"),
    "query": ("text", "query", "title", "question"),
}
LABEL = {
    "query_id": ("query_id", "query-id", "qid"),
    "doc_id": ("doc_id", "corpus-id", "corpus_id", "docid", "docno", "pid", "passage_id"),
    "relevance": ("relevance", "score", "label", "grade", "rel"),
}
COLUMNS = ("doc_id", "query_id", "query", "relevance")  # of --columns; --title and --text have own


def columns(options: Options, table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return {our field: names of it}, those that --columns gives first.

    Raises EvalSetError: --columns is of another form.
    """
    names = dict(table)
    for pair in options.columns.split(",") if options.columns else ():
        ours, _, theirs = pair.partition("=")
        if ours not in COLUMNS or not theirs:
            wanted = f"wanted {', '.join(f'{name}=NAME' for name in COLUMNS)}"
            raise EvalSetError([f"--columns {pair}: {wanted} (--title and --text name the others)"])
        names |= {ours: (theirs, *table[ours])} if ours in table else {}
    return names


def title_and_text(place: str, row: dict, options: Options, log: Log) -> tuple[str, str]:
    """Return (title, text) of a row, from the usual fields or those of --title and --text."""
    title, text = (readers.text_of(row, *DOCUMENT[field]) for field in ("title", "text"))
    return readers.title_and_text(place, row, title, text, options, log)


def ending(path: Path) -> str:
    """Return what a file's name ends in, without .gz: .jsonl of docs.jsonl.gz."""
    return Path(path.name.removesuffix(".gz")).suffix


def rows_of(
    path: Path, log: Log, names: Collection[str] = (), forms: dict[int, tuple] = PAIRS
) -> Iterator[tuple[str, dict]]:
    """Yield (place, row) of a table; text may be packed as .gz.

    Lines of cells stand under the names of the first line if it has one of `names`, else under
    those that `forms` gives to so many cells.
    """
    match ending(path):
        case ".jsonl":
            return files.rows(path, log.problems)
        case ".json" | ".parquet":
            return _database_rows(path, log)
        case ".csv":
            return _csv_rows(path, log)
    return _line_rows(path, log, names, forms)


def _database_rows(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield rows that DuckDB reads in pieces: published arrays are one line of 500 MB."""
    import duckdb

    kind, number = ending(path)[1:], 0
    json = "read_json_objects($1)"  # one column, the text of an object
    reader = json if kind == "json" else "read_parquet($1, hive_partitioning = false)"
    with files.database() as tables:
        try:
            tables.execute(f"FROM {reader}", [glob.escape(str(path.resolve()))])
            names = [column[0] for column in tables.description]
            for row in chain.from_iterable(iter(lambda: tables.fetchmany(1000), [])):
                number += 1
                place = f"{path}, row {number}"
                fields = dict(zip(names, row, strict=True))
                try:
                    fields = files.json_object(row[0], "objects") if kind == "json" else fields
                except ValueError as error:
                    log.problems.append(f"{place}: {' '.join(str(error).split())}")
                else:
                    yield place, fields
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0].strip()
            log.problems.append(f"{path}: cannot be read ({reason}), wanted a {kind} file")


def _csv_rows(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    csv.field_size_limit(2**31 - 1)  # a cell may hold a whole document
    number = 1
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            reader = csv.DictReader((line.decode("utf-8-sig") for line in file), strict=True)
            for row in reader:
                number = reader.line_num
                if None in row or None in row.values():
                    wanted = f"wanted {len(reader.fieldnames)} cells as in the first line"
                    log.problems.append(f"{path}:{number}: found more or fewer, {wanted}")
                else:
                    yield f"{path}:{number}", row
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        log.problems.append(
            f"{path}:{number}: cannot be read on from here ({reason}), wanted CSV in UTF-8"
        )


def _line_rows(path: Path, log: Log, names, forms) -> Iterator[tuple[str, dict]]:
    wanted = " or ".join(" ".join(cell or "0" for cell in form) for form in forms.values())
    for number, (place, line) in enumerate(files.lines(path, log.problems, newline="\n")):
        between = "\t" if "\t" in line or forms is PAIRS else None
        if not number and {*names} & {*map(unquoted, line.split(between))}:
            header = [*map(unquoted, line.split(between))]
            forms, wanted = {len(header): header}, f"{len(header)} cells as in the first line"
            continue
        cells = line.split(between, max(forms) - 1)
        if len(cells) in forms:
            values = cells if forms is PAIRS else map(unquoted, cells)
            yield place, dict(zip(forms[len(cells)], values, strict=True))
        else:
            log.problems.append(f"{place}: found {line[:40]!r}, wanted {wanted}")


def unquoted(cell: str) -> str:
    """Return a cell, stripped, without the quotes that CSV writers put around one with quotes."""
    cell = cell.strip()
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell
