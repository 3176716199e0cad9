"""The panel's log of judgments: one JSON object a line, to which every judgment adds one."""

import os
from pathlib import Path
from typing import NamedTuple

from filelock import AcquireReturnProxy, FileLock

from .. import evalset, files

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
    evidence: str = ""
    repeat: bool = False
    time: str = ""
    place: str = ""
    kind: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The judged pair: query_id, doc_id."""
        return self.query_id, self.doc_id


class JudgmentLog:
    """A log of judgments; each judgment writes it whole, behind those of other panels.

    `rows` are its lines as (file:line, object). Raises EvalSetError with file and line for every
    bad line.
    """

    def __init__(self, evals: evalset.EvalSet, name: str = LOG):
        self.evals, self.path = evals, evals.folder / name
        self.rows = self._read()

    def _read(self) -> list[tuple[str, dict]]:
        problems: list[str] = []
        rows = list(files.rows(self.path, problems)) if os.path.lexists(self.path) else []
        problems += _faults(rows, self.evals)
        if problems:
            raise evalset.EvalSetError(problems)
        return rows

    @property
    def entries(self) -> list[Entry]:
        """The judgments that nobody took back, in the order they were given."""
        kept: list[Entry] = []
        for place, row in self.rows:
            if "undo" in row:  # the newest it names; what is gone already may stay gone
                named = [e for e in kept if row["undo"].items() <= e._asdict().items()]
                kept = [e for e in kept if e not in named[-1:]]
            else:
                kept.append(Entry(**row, place=place))
        return kept

    def append(self, row: dict) -> None:
        """Write `row` behind all that is in the log; when this returns, it is on disk.

        Raises OSError or EvalSetError, and leaves the log as it was, if it cannot be locked, read
        or written whole.
        """
        with locked(self.path):
            rows = self._read()  # another panel may have judged meanwhile
            rows.append((f"{self.path}:{len(rows) + 1}", row))
            files.write_jsonl(self.path, (row for _, row in rows))
        self.rows = rows


def locked(path: Path) -> AcquireReturnProxy:
    """Return the held lock of a log, a context. The system frees it when its holder is killed.

    It is a file of its own: Windows lets nobody read what is locked.
    """
    lock = FileLock(f"{path}.lock", LOCK_WAIT, poll_interval=0.01, fallback_to_soft=False)
    try:
        return lock.acquire()
    except (OSError, NotImplementedError) as error:  # the second: a file system without locks
        raise OSError(f"{path} cannot be locked, so nothing was written: {error}") from error


def _faults(rows: list[tuple[str, dict]], evals: evalset.EvalSet) -> list[str]:
    """Return what is wrong with a log's rows; an undo may name a query or document that is gone."""
    form, problems, judgments = files.schema("labelling"), [], []
    for place, row in rows:
        undone = row.get("undo", {})
        if not isinstance(undone, dict):
            faults = [f"field undo is {files.shown(undone)}, wanted an object"]
        else:
            faults = form.faults({"relevance": 0, **undone} if undone else row, evals.grades)
        problems += [f"{place}: {fault}" for fault in faults]
        judgments += [] if faults or undone else [(place, row)]
    problems += evalset.orphans(judgments, evals.asked, evals.folder)
    for place, entry in [(place, Entry(**row)) for place, row in judgments]:
        sets_aside = not entry.doc_id and not entry.relevance
        fault = "" if sets_aside else judgment_fault(entry, evals)
        if fault and entry.query_id in evals.asked:
            problems.append(f"{place}: {fault}")
    return problems


def judgment_fault(entry: Entry, evals: evalset.EvalSet) -> str:
    """Return why a judgment cannot stand, "" if it can: its ids, or the evidence of 1 and more."""
    quotes = evalset.quotes({"evidence": entry.evidence})
    judgment = evalset.Judgment(*entry.pair, entry.relevance, quotes)
    fault = evalset.misplaced(judgment, evals.asked, evals.documents)
    if not fault and entry.relevance and not quotes:
        return f"grade {entry.relevance} needs evidence, wanted a passage of {entry.doc_id}"
    return fault


def entries(evals: evalset.EvalSet, name: str = LOG) -> list[Entry]:
    """Return the judgments of a log that nobody took back, in the order they were given.

    Raises EvalSetError with file and line for every bad line.
    """
    return JudgmentLog(evals, name).entries


def latest(given: list[Entry]) -> dict[tuple[str, str], Entry]:
    """Return {(query_id, doc_id): judgment}, the last word on each pair; repeats do not count."""
    return {entry.pair: entry for entry in given if entry.doc_id and not entry.repeat}
