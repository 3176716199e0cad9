"""Take a query and all its rows out of a set, whether the set loads or not."""

import os
from pathlib import Path

from ..measure import evalset, files, reading
from ..measure.text import how_many
from .labelling import JUDGMENTS, LOG, PRACTICE, QUERY_TABLE, SKIPPED, lock_log, log_files

DROPPED = "dropped.jsonl"
NAMING = (  # files whose rows name a query; its own table last, so that a killed drop goes on
    *(JUDGMENTS, "pool.jsonl", "second_pass.jsonl", "negatives.jsonl", "judge.jsonl"),
    *(reading.TO_READ, SKIPPED, LOG, PRACTICE, QUERY_TABLE),
)


def drop_query(folder: Path, query_id: str) -> list[str]:
    """Move all rows of a query into dropped.jsonl; return a line for each file that had some.

    The set may not load: it is repaired here. Each file is written whole, dropped.jsonl first: if
    the process is killed, the same command does the rest. Raises EvalSetError, and writes nothing,
    where no file names the query or one has a bad line.
    """
    if not folder.is_dir():
        raise evalset.EvalSetError([f"{folder}: is no folder, wanted an evaluation set"])
    _rows_by_file(folder, query_id)  # what is refused leaves no lock
    with lock_log(folder / LOG):
        tables = _rows_by_file(folder, query_id)
        dropped, moved, left, lines = tables.pop(DROPPED, []), [], {}, []
        for name, rows in tables.items():
            own = [row for row in rows if _query_of(row) == query_id]
            if own:
                moved += [{"file": name, **row} for row in own]
                left[name] = [row for row in rows if _query_of(row) != query_id]
                lines.append(f"{name}: {how_many(len(own), 'row')} moved to {DROPPED}")
        moved = [row for row in moved if row not in dropped]  # a killed run may have begun
        files.write_jsonl(folder / DROPPED, dropped + moved)
        for name, rows in left.items():
            files.write_jsonl(folder / name, rows)
    return lines


def _rows_by_file(folder: Path, query_id: str) -> dict[str, list[dict]]:
    """Return {file: its rows}. Raises EvalSetError for bad lines, or if none is of the query."""
    problems, tables, is_named = [], {}, False
    *others, own_table = NAMING
    for name in dict.fromkeys([DROPPED, *others, *log_files(folder), own_table]):
        if os.path.lexists(folder / name):
            tables[name] = [row for _, row in files.rows(folder / name, problems)]
            if name != DROPPED and any(_query_of(row) == query_id for row in tables[name]):
                is_named = True
    if not is_named and not problems:
        problems.append(f"{folder}: no file has a row of the query {query_id}, wanted its id")
    files.refuse(problems)
    return tables


def _query_of(row: dict) -> object:
    """Return the query that a row is of; an undo is of the query of what it takes back."""
    undone = row.get("undo")
    return (undone if isinstance(undone, dict) else row).get("query_id")
