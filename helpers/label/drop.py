"""Take a query and all its rows out of a set, whether the set loads or not."""

from pathlib import Path

from ..measure import files, reading
from ..measure.files import EvalSetError
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
        raise EvalSetError(f"{folder}: is no folder, wanted an evaluation set")
    with lock_log(folder / LOG):
        *others, own_table = NAMING
        own, left = {}, {}
        for name in dict.fromkeys([*others, *log_files(folder), own_table]):
            rows = files.plain_rows(folder / name)
            own[name] = [row for row in rows if _query_of(row) == query_id]
            left[name] = [row for row in rows if _query_of(row) != query_id]
        named = [name for name, rows in own.items() if rows]
        if not named:
            raise EvalSetError(
                f"{folder}: no file has a row of the query {query_id}, wanted its id"
            )
        dropped = files.plain_rows(folder / DROPPED)
        moved = [{"file": name, **row} for name in named for row in own[name]]
        moved = [row for row in moved if row not in dropped]  # a killed run may have begun
        files.write_jsonl(folder / DROPPED, dropped + moved)
        for name in named:
            files.write_jsonl(folder / name, left[name])
    return [f"{name}: {how_many(own[name], 'row')} moved to {DROPPED}" for name in named]


def _query_of(row: dict) -> object:
    """Return the query that a row is of; an undo is of the query of what it takes back."""
    undone = row.get("undo")
    return (undone if isinstance(undone, dict) else row).get("query_id")
