"""Rows of tables with their places (JSON, CSV, TSV, Parquet), and what they say."""

import csv
import glob
import io
import re
from itertools import chain
from pathlib import Path

from ..measure import files
from ..measure.files import EvalSetError, Rows
from . import readers
from .readers import Label, Task

# Lines of cells without a head: `id TAB text`, BEIR's labels of three cells, TREC's of four.
PAIRS = {2: ("_id", "text")}
QRELS = {3: ("query_id", "doc_id", "relevance"), 4: ("query_id", "", "doc_id", "relevance")}

# What the columns of others are called; the first that a row has counts.
DOCUMENT = {
    "doc_id": ("doc_id", "_id", "docid", "docno", "id", "pid", "passage_id"),
    "title": ("title",),
    "text": ("text", "contents", "body", "content", "passage"),
}
QUERY = {
    "query_id": ("query_id", "_id", "qid", "id"),
    "query": ("query", "text", "title", "question"),
}
LABEL = {
    "query_id": ("query_id", "query-id", "qid"),
    "doc_id": (
        *("doc_id", "corpus-id", "corpus_id", "docid", "docno", "pid", "passage_id"),
        *("_id", "docId", "Doc ID"),
    ),
    "relevance": ("relevance", "rating", "Rating", "score", "label", "grade", "rel"),
}
IDS = {*DOCUMENT["doc_id"], *QUERY["query_id"], *LABEL["query_id"], *LABEL["doc_id"]}
COLUMNS = ("doc_id", "query_id", "query", "relevance", "passage", "count")  # of --columns


def columns(task: Task) -> dict[str, str]:
    """Return {our name of a column: theirs}. Raises EvalSetError: --columns is of another form."""
    names = {}
    for pair in task.options.columns.split(",") if task.options.columns else ():
        ours, _, theirs = pair.partition("=")
        if ours not in COLUMNS or not theirs:
            wanted = ", ".join(f"{name}=NAME" for name in COLUMNS)
            raise EvalSetError(f"--columns: found {pair}, wanted some of {wanted}")
        names[ours] = theirs
    return names


def document_of(place: str, row: dict, task: Task) -> dict:
    """Return the document of a row, by the usual names or those of --title and --text."""
    text_names, title_names = DOCUMENT["text"], DOCUMENT["title"]
    if not task.options.text:
        task.expect("text", (*text_names, *title_names), place, row, "--text")
    title, text = readers.title_and_text(place, row, task)
    title = title or readers.text_of(row, *title_names)
    text = text or readers.text_of(row, *text_names)
    if title and not text:
        task.changed["documents with a title only, which became their text"] += 1
        title, text = "", title
    doc_id = readers.id_of(place, row, DOCUMENT["doc_id"], task)
    return {"doc_id": doc_id, "title": title, "text": text}


def query_of(place: str, row: dict, task: Task) -> dict:
    """Return the query of a row, by the usual names."""
    task.expect("query", QUERY["query"], place, row, "--columns")
    query_id = readers.id_of(place, row, QUERY["query_id"], task)
    return {"query_id": query_id, "query": readers.text_of(row, *QUERY["query"])}


def label_of(place: str, row: dict, split: str, task: Task) -> Label:
    """Return the label of a row, by the usual names."""
    ids = [readers.id_of(place, row, LABEL[field], task) for field in ("query_id", "doc_id")]
    grades = [row[name] for name in LABEL["relevance"] if row.get(name) is not None]
    if not grades:
        problem = readers.missing_field("grade", LABEL["relevance"], row, "--columns")
        task.problems.append(f"{place}: {problem}")
    return Label(place, split, *ids, *grades[:1] or [0])


def files_of(path: Path) -> list[Path]:
    """Return a file, or all below a folder. Raises EvalSetError where there is none."""
    if not path.exists():
        raise EvalSetError(f"{path}:1: is not there, wanted a file or a folder of tables")
    if path.suffix == ".zip":
        raise EvalSetError(f"{path}:1: is a .zip, wanted the folder that unpacking it gives")
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def ending(path: Path) -> str:
    """Return what a file's name ends in, without .gz: .jsonl of docs.jsonl.gz."""
    return Path(path.name.removesuffix(".gz")).suffix


def rows_of(paths: list[Path], task: Task, forms: dict[int, tuple] | None = PAIRS) -> Rows:
    """Yield (place, row) of tables, plain or .gz, with our names for the columns of --columns.

    Lines of cells stand under the names of the first line if it names a column of ids, else under
    those that `forms` gives to so many cells. Without `forms` the first line always has the names.
    """
    names = columns(task)
    for path in paths:
        match ending(path):
            case ".jsonl":
                rows = files.rows(path, task.problems)
            case ".json" | ".parquet":
                rows = _database_rows(path, task)
            case other if other == ".csv" or forms is None:
                rows = _csv_rows(path, task)
            case _:
                rows = _line_rows(path, task, forms, IDS.union(names.values()))
        for place, row in rows:
            yield place, row | {ours: row[name] for ours, name in names.items() if name in row}


def _database_rows(path: Path, task: Task) -> Rows:
    """Yield rows that DuckDB reads in pieces: published arrays are one line of 500 MB."""
    import duckdb

    is_json = ending(path) == ".json"  # read as one column, the text of an object
    reader = "read_json_objects($1)" if is_json else "read_parquet($1, hive_partitioning = false)"
    try:
        with files.database() as database:
            database.execute(f"FROM {reader}", [glob.escape(str(path.resolve()))])
            names = [column[0] for column in database.description]
            pieces = iter(lambda: database.fetchmany(1000), [])
            for number, row in enumerate(chain.from_iterable(pieces), 1):
                place = f"{path}, row {number}"
                if not is_json:
                    yield place, dict(zip(names, row, strict=True))
                    continue
                try:
                    yield place, files.json_object(row[0], "objects")
                except ValueError as error:
                    task.problems.append(f"{place}: {' '.join(str(error).split())}")
    except duckdb.Error as error:
        if "maximum_object_size" in str(error):  # one object is the whole file
            yield f"{path}, row 1", files.json_page(path, task.problems)
            return
        reason = str(error).partition("\n")[0].strip()
        task.problems.append(f"{path}: cannot be read ({reason}), wanted {ending(path)[1:]}")


def _csv_rows(path: Path, task: Task) -> Rows:
    csv.field_size_limit(2**31 - 1)  # a cell may hold a whole document
    page = io.StringIO(files.page(path, task.problems) or "")
    between = "\t" if ending(path) == ".tsv" else ","
    reader = csv.DictReader(page, delimiter=between, strict=True)
    try:
        for row in reader:
            place = f"{path}:{reader.line_num}"
            if row.get("docid", "") is None:  # Quepid: of a query without a rating
                task.leave_out("queries without a rating", place)
            elif None in row or None in row.values():
                task.problems.append(
                    f"{place}: found more or fewer cells, wanted "
                    f"{len(reader.fieldnames)} as in the first line"
                )
            else:
                yield place, row
    except csv.Error as error:
        place = f"{path}:{reader.reader.line_num}"
        task.problems.append(f"{place}: found no CSV ({error}), wanted CSV")


def _line_rows(path: Path, task: Task, forms: dict[int, tuple], ids: set[str]) -> Rows:
    wanted = " or ".join(" ".join(cell or "0" for cell in form) for form in forms.values())
    for number, (place, line) in enumerate(files.lines(path, task.problems, newline="\n")):
        between = "\t" if "\t" in line or forms is PAIRS else None
        head = [_unquote(cell) for cell in line.split(between)] if number == 0 else []
        if ids & {*head}:
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
    quoted = re.fullmatch('"(.*)"', cell.strip())
    return quoted[1].replace('""', '"') if quoted else cell.strip()
