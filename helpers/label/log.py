"""The panel's log of judgments: one JSON object a line, to which every judgment adds one."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from ..measure import evalset, files

LOG = "labelling.jsonl"
PRACTICE = "practice.jsonl"  # of the same form; nothing takes it into the labels
LOCK_WAIT = 10  # seconds; another process holds the lock for one line


class Entry(NamedTuple):
    """One judgment in the log. `time` is ISO 8601 in UTC, `place` its file:line.

    Without a document it says that none answers the query, whose kind was `kind`.
    """

    query_id: str
    doc_id: str
    relevance: int
    evidence: str | list = ""  # as in judgments.jsonl
    repeat: bool = False
    time: str = ""
    place: str = ""
    kind: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The judged pair: query_id, doc_id."""
        return self.query_id, self.doc_id


def read(evals: evalset.EvalSet, name: str = LOG) -> list[tuple[str, dict]]:
    """Return the lines of a log as (file:line, object), [] where it is missing.

    Raises EvalSetError with file and line for every bad line.
    """
    path, form = evals.folder / name, files.schema("labelling")
    problems, judgments = [], []
    rows = list(files.rows(path, problems)) if os.path.lexists(path) else []
    for place, row in rows:
        undone = row.get("undo")
        is_undo = isinstance(undone, dict)  # it may name a query or document that is gone
        faults = form.faults({"relevance": 0, **undone} if is_undo else row, evals.grades)
        if not faults and not is_undo:
            judgments.append((place, row))
            if row["query_id"] in evals.all_queries:
                faults = judgment_faults(Entry(**row), evals)
        problems += [f"{place}: {fault}" for fault in faults]
    problems += evalset.orphan_faults(judgments, evals.all_queries, evals.folder)
    files.refuse(problems)
    return rows


def judgment_faults(entry: Entry, evals: evalset.EvalSet) -> list[str]:
    """Return why a judgment cannot stand, [] if it can: its ids, or the evidence of 1 and more."""
    if not entry.doc_id and not entry.relevance and entry.query_id in evals.all_queries:
        return []  # it sets the query aside
    quotes = evalset.evidence_quotes({"evidence": entry.evidence})
    judgment = evalset.Judgment(*entry.pair, entry.relevance, quotes)
    fault = evalset.judgment_fault(judgment, evals.all_queries, evals.documents)
    if not fault and entry.relevance and not quotes:
        fault = f"grade {entry.relevance} needs evidence, wanted a passage of {entry.doc_id}"
    return [fault] if fault else []


def append(evals: evalset.EvalSet, name: str, row: dict) -> None:
    """Write `row` behind all that is in a log; when this returns, it is on disk.

    Raises OSError or EvalSetError, and leaves the log as it was, if it cannot be locked, read or
    written whole.
    """
    path = evals.folder / name
    with lock_log(path):  # another panel may judge meanwhile
        files.write_jsonl(path, [row for _, row in read(evals, name)] + [row])


def lock_log(path: Path) -> AbstractContextManager:
    """Return the held lock of a log, a context. The system frees it when its holder is killed.

    It is a file of its own: Windows lets nobody read what is locked.
    """
    from filelock import FileLock  # only who judges or drops needs it

    lock = FileLock(f"{path}.lock", LOCK_WAIT, poll_interval=0.01, fallback_to_soft=False)
    try:
        return lock.acquire()
    except (OSError, NotImplementedError) as error:  # the second: a file system without locks
        raise OSError(f"{path} cannot be locked, so nothing was written: {error}") from error


def kept_entries(rows: list[tuple[str, dict]]) -> list[Entry]:
    """Return the judgments of a log's rows that nobody took back, in the order they were given."""
    entries: list[Entry] = []
    for place, row in rows:
        if "undo" not in row:
            entries.append(Entry(**row, place=place))
            continue
        named = [entry for entry in entries if row["undo"].items() <= entry._asdict().items()]
        for entry in named[-1:]:  # the newest; what is gone already may stay gone
            entries.remove(entry)
    return entries


def entries(evals: evalset.EvalSet, name: str = LOG) -> list[Entry]:
    """Return the judgments of a log that nobody took back, in the order they were given."""
    return kept_entries(read(evals, name))


def latest(judgments: list[Entry]) -> dict[tuple[str, str], Entry]:
    """Return {(query_id, doc_id): judgment}, the last word on each pair; repeats do not count."""
    return {entry.pair: entry for entry in judgments if entry.doc_id and not entry.repeat}
