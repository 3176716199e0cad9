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
from .readers import Task

# Lines of cells without a head: `id TAB text`, BEIR's labels of three cells, TREC's of four.
PAIRS = {2: ("_id", "text")}
QRELS = {
    3: ("query_id", "doc_id", "relevance"),
    4: ("query_id", "", "doc_id", "relevance"),
}

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


def column_names(task: Task, table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return {our field: names of it}, those that --columns gives first.

    Raises EvalSetError: --columns is of another form.
    """
    names = dict(table)
    for pair in task.options.columns.split(",") if task.options.columns else ():
        ours, _, theirs = pair.partition("=")
        if ours not in COLUMNS or not theirs:
            wanted = f"wanted {', '.join(f'{name}=NAME' for name in COLUMNS)}"
            raise EvalSetError([f"--columns {pair}: {wanted} (--title and --text name the others)"])
        if ours in table:
            names[ours] = (theirs, *table[ours])
    return names


def ending(path: Path) -> str:
    """Return what a file's name ends in, without .gz: .jsonl of docs.jsonl.gz."""
    return Path(path.name.removesuffix(".gz")).suffix


def document_of(place: str, doc_id: str, row: dict, task: Task) -> dict:
    """Return the document of a row, from the usual fields or those of --title and --text."""
    title, text = readers.asked_fields(place, row, task)
    title = title or readers.text_of(row, *DOCUMENT["title"])
    return readers.document(doc_id, title, text or readers.text_of(row, *DOCUMENT["text"]), task)


def rows_of(
    path: Path, task: Task, names: Collection[str] = (), forms: dict[int, tuple] = PAIRS
) -> Iterator[tuple[str, dict]]:
    """Yield (place, row) of a table; text may be packed as .gz.

    Lines of cells stand under the names of the first line if it has one of `names`, else under
    those that `forms` gives to so many cells.
    """
    match ending(path):
        case ".jsonl":
            return files.rows(path, task.problems)
        case ".json" | ".parquet":
            return _database_rows(path, task)
        case ".csv":
            return _csv_rows(path, task)
    return _line_rows(path, task, names, forms)


def _database_rows(path: Path, task: Task) -> Iterator[tuple[str, dict]]:
    """Yield rows that DuckDB reads in pieces: published arrays are one line of 500 MB."""
    import duckdb

    is_json = ending(path) == ".json"  # read as one column, the text of an object
    reader = "read_json_objects($1)" if is_json else "read_parquet($1, hive_partitioning = false)"
    with files.database() as database:
        try:
            database.execute(f"FROM {reader}", [glob.escape(str(path.resolve()))])
            names = [column[0] for column in database.description]
            rows = chain.from_iterable(iter(lambda: database.fetchmany(1000), []))
            for number, row in enumerate(rows, 1):
                place = f"{path}, row {number}"
                try:
                    fields = dict(zip(names, row, strict=True))
                    yield place, files.json_object(row[0], "objects") if is_json else fields
                except ValueError as error:
                    task.problems.append(f"{place}: {' '.join(str(error).split())}")
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0].strip()
            wanted = f"wanted a {ending(path)[1:]} file"
            task.problems.append(f"{path}: cannot be read ({reason}), {wanted}")


def _csv_rows(path: Path, task: Task) -> Iterator[tuple[str, dict]]:
    csv.field_size_limit(2**31 - 1)  # a cell may hold a whole document
    number = 1
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            reader = csv.DictReader((line.decode("utf-8-sig") for line in file), strict=True)
            for row in reader:
                number = reader.line_num
                if None in row or None in row.values():
                    wanted = f"wanted {len(reader.fieldnames)} cells as in the first line"
                    task.problems.append(f"{path}:{number}: found more or fewer, {wanted}")
                else:
                    yield f"{path}:{number}", row
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        task.problems.append(
            f"{path}:{number}: cannot be read on from here ({reason}), wanted CSV in UTF-8"
        )


def _line_rows(path: Path, task: Task, names, forms) -> Iterator[tuple[str, dict]]:
    wanted = " or ".join(" ".join(cell or "0" for cell in form) for form in forms.values())
    for number, (place, line) in enumerate(files.lines(path, task.problems, newline="\n")):
        between = "\t" if "\t" in line or forms is PAIRS else None
        head = [_unquote(cell) for cell in line.split(between)] if number == 0 else []
        if {*names} & {*head}:
            forms, wanted = {len(head): head}, f"{len(head)} cells as in the first line"
            continue
        cells = line.split(between, max(forms) - 1)
        if len(cells) in forms:
            values = cells if forms is PAIRS else map(_unquote, cells)
            yield place, dict(zip(forms[len(cells)], values, strict=True))
        else:
            task.problems.append(f"{place}: found {line[:40]!r}, wanted {wanted}")


def _unquote(cell: str) -> str:
    """Return a cell, stripped, without the quotes that CSV writers put around one with quotes."""
    cell = cell.strip()
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell
