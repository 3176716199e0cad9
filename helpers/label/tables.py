"""Rows of tables with their places (JSON, CSV, TSV, Parquet), and what they say."""

import csv
import glob
import io
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from ..measure import files
from ..measure.files import EvalSetError
from . import readers
from .readers import Label, Rows, Task

# Lines of cells without a head: `id TAB text`, BEIR's labels of three cells, TREC's of four.
PAIRS = {2: ("_id", "text")}
QRELS = {3: ("query_id", "doc_id", "relevance"), 4: ("query_id", "", "doc_id", "relevance")}

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
    "doc_id": (
        *("doc_id", "corpus-id", "corpus_id", "docid", "docno", "pid", "passage_id"),
        *("_id", "docId", "Doc ID"),
    ),
    "relevance": ("relevance", "rating", "Rating", "score", "label", "grade", "rel"),
}
IDS = ("doc_id", "query_id")
COLUMNS = (
    *IDS,
    "query",
    "relevance",
    "passage",
    "count",
)  # of --columns; --title and --text name the others


def column_names(task: Task, table: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return {our field: names of it}, those that --columns gives first.

    Raises EvalSetError: --columns is of another form.
    """
    names, columns = dict(table), task.options.columns
    for pair in columns.split(",") if columns else ():
        ours, _, theirs = pair.partition("=")
        if ours not in COLUMNS or not theirs:
            wanted = ", ".join(f"{name}=NAME" for name in COLUMNS)
            raise EvalSetError([f"--columns: found {pair}, wanted some of {wanted}"])
        if ours in table:
            names[ours] = (theirs, *table[ours])
    return names


def document_of(place: str, row: dict, task: Task) -> dict:
    """Return the document of a row, by the usual names or those of --title, --text, --columns."""
    names = column_names(task, DOCUMENT)
    if not task.options.text:
        task.expect("text", (*names["text"], *names["title"]), place, row, "--text")
    title, text = readers.title_and_text(place, row, task)
    title = title or readers.text_of(row, *names["title"])
    doc_id = readers.id_of(place, row, names["doc_id"], task)
    return readers.document(doc_id, title, text or readers.text_of(row, *names["text"]), task)


def query_of(place: str, row: dict, task: Task) -> dict:
    """Return the query of a row, by the usual names or those of --columns."""
    names = column_names(task, QUERY)
    task.expect("query", names["query"], place, row, "--columns")
    query_id = readers.id_of(place, row, names["query_id"], task)
    return {"query_id": query_id, "query": readers.text_of(row, *names["query"])}


def label_of(place: str, row: dict, split: str, task: Task) -> Label:
    """Return the label of a row, by the usual names or those of --columns."""
    names = column_names(task, LABEL)
    ids = [readers.id_of(place, row, names[field], task) for field in ("query_id", "doc_id")]
    grades = [row[name] for name in names["relevance"] if row.get(name) is not None]
    if not grades:
        problem = readers.missing_field("grade", names["relevance"], row, "--columns")
        task.problems.append(f"{place}: {problem}")
    return Label(place, split, *ids, *grades[:1] or [0])


def files_of(path: Path) -> list[Path]:
    """Return a file, or all below a folder. Raises EvalSetError where there is none."""
    if not path.exists():
        raise EvalSetError([f"{path}:1: is not there, wanted a file or a folder of tables"])
    if path.suffix == ".zip":
        raise EvalSetError([f"{path}:1: is a .zip, wanted the folder that unpacking it gives"])
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def ending(path: Path) -> str:
    """Return what a file's name ends in, without .gz: .jsonl of docs.jsonl.gz."""
    return Path(path.name.removesuffix(".gz")).suffix


def rows_of(paths: list[Path], task: Task, forms: dict[int, tuple] | None = PAIRS) -> Rows:
    """Yield (place, row) of tables, plain or .gz.

    Lines of cells stand under the names of the first line if it names a column of ids, else under
    those that `forms` gives to so many cells. Without `forms` the first line always has the names.
    """
    for path in paths:
        match ending(path):
            case ".jsonl":
                yield from files.rows(path, task.problems)
            case ".json" | ".parquet":
                yield from _database_rows(path, task)
            case other if other == ".csv" or forms is None:
                yield from _csv_rows(path, task)
            case _:
                yield from _line_rows(path, task, forms)


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
        if _has_doubles(f"{path}:1", reader.fieldnames or [], task):
            return
        for row in reader:
            place = f"{path}:{reader.line_num}"
            if row.get("docid", "") is None:  # Quepid: of a query without a rating
                task.leave_out("queries without a rating", place)
            elif None in row or None in row.values():
                wanted = f"wanted {len(reader.fieldnames)} as in the first line"
                task.problems.append(f"{place}: found more or fewer cells, {wanted}")
            else:
                yield place, row
    except csv.Error as error:
        place = f"{path}:{reader.reader.line_num}"
        task.problems.append(f"{place}: found no CSV ({error}), wanted CSV")


def _line_rows(path: Path, task: Task, forms: dict[int, tuple]) -> Rows:
    tables = [column_names(task, table) for table in (DOCUMENT, QUERY, LABEL)]
    ids = {name for table in tables for field in IDS for name in table.get(field, ())}
    wanted = " or ".join(" ".join(cell or "0" for cell in form) for form in forms.values())
    for number, (place, line) in enumerate(files.lines(path, task.problems, newline="\n")):
        if number == 0 and line.lstrip()[:4].lower() == "<top":
            wanted = "wanted a line for each query: its id, a tab, its text"
            task.problems.append(f"{place}: found topics as SGML, {wanted}")
            return
        between = "\t" if "\t" in line or forms is PAIRS else None
        head = [_unquote(cell) for cell in line.split(between)] if number == 0 else []
        if ids & {*head}:
            if _has_doubles(place, head, task):
                return
            forms, wanted = {len(head): head}, f"{len(head)} cells as in the first line"
            continue
        cells = line.split(between, max(forms) - 1)
        if len(cells) in forms:
            values = cells if forms is PAIRS else map(_unquote, cells)
            yield place, dict(zip(forms[len(cells)], values, strict=True))
        else:
            task.problems.append(f"{place}: found {line[:40]!r}, wanted {wanted}")


def _has_doubles(place: str, names: Iterable[str], task: Task) -> bool:
    """Return whether two columns have one name, which is then a problem; some may have none."""
    doubles = [name for name, often in Counter(names).items() if name and often > 1]
    task.problems += [f"{place}: column {name} stands twice, wanted once" for name in doubles]
    return bool(doubles)


def _unquote(cell: str) -> str:
    """Return a cell, stripped, without the quotes that CSV writers put around one with quotes."""
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell
