"""The panel's log of judgments: one JSON object a line, only ever appended to."""

import errno
import json
import os
from collections.abc import Iterator
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
    """A log that is read once, checked, and from then on appended to.

    `rows` are its lines as (file:line, object). Raises EvalSetError with file and line for every
    bad line.
    """

    def __init__(self, evals: evalset.EvalSet, name: str = LOG):
        self.path = evals.folder / name
        content = _content(self.path)
        self.size = len(content)  # when it was read: whoever appends next must find it so
        content = content.removesuffix(_torn_end(content))
        self.whole = len(content)
        self.gap = b"" if content.endswith(b"\n") or not content else b"\n"
        problems: list[str] = []
        self.rows = list(_objects(self.path, content, problems))
        problems += _faults(self.rows, evals)
        if problems:
            raise evalset.EvalSetError(problems)

    @property
    def entries(self) -> list[Entry]:
        """The judgments that nobody took back, in the order they were given."""
        kept: list[Entry] = []
        for place, row in self.rows:
            if "undo" in row:
                _withdraw(kept, row["undo"])
            else:
                kept.append(Entry(**row, place=place))
        return kept

    def append(self, row: dict) -> None:
        """Append `row` as one line; when this returns, the line is on disk.

        Raises OSError, and leaves the log as it was, if it cannot be locked or written whole, or
        if another panel has written to it since it was read: one judges at a time.
        """
        line = self.gap + (json.dumps(row, ensure_ascii=False) + "\n").encode()
        with locked(self.path), self.path.open("ab", buffering=0) as file:
            if file.tell() != self.size:
                raise OSError(
                    f"{self.path} was changed by another panel or program, so nothing was "
                    "written: run this cell again to go on from there"
                )
            file.truncate(self.whole)  # a torn line was never confirmed to anybody
            try:
                if os.write(file.fileno(), line) < len(line):
                    raise OSError(errno.ENOSPC, "the line was not written whole", str(self.path))
                os.fsync(file.fileno())
            except OSError:
                file.truncate(self.whole)
                self.size = self.whole
                raise
        self.size = self.whole = self.whole + len(line)
        self.gap = b""
        self.rows.append((str(self.path), row))


def locked(path: Path) -> AcquireReturnProxy:
    """Return the held lock of a log, a context. The system frees it when its holder is killed.

    It is a file of its own: Windows lets nobody read what is locked.
    """
    lock = FileLock(f"{path}.lock", LOCK_WAIT, poll_interval=0.01, fallback_to_soft=False)
    try:
        return lock.acquire()
    except (OSError, NotImplementedError) as error:  # the second: a file system without locks
        raise OSError(f"{path} cannot be locked, so nothing was written: {error}") from error


def _content(path: Path) -> bytes:
    """Return the bytes of a log, none where there is none yet."""
    if not os.path.lexists(path):
        return b""
    try:
        if not path.is_file():
            raise OSError(errno.EINVAL, "no regular file")
        return path.read_bytes()
    except OSError as error:
        problem = f"{path}:1: cannot be read ({error.strerror}), wanted a readable file"
        raise evalset.EvalSetError([problem]) from error


def _torn_end(content: bytes) -> bytes:
    """Return what a killed kernel left of a last line; a whole one may lack its line end only."""
    tail = content.rpartition(b"\n")[2]
    try:
        json.loads(tail or b"{}")
    except ValueError:
        return tail
    return b""


def _objects(path: Path, content: bytes, problems: list[str]) -> Iterator[tuple[str, dict]]:
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield f"{path}:{number}", files.json_object(line.decode())
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}")


def _faults(rows: list[tuple[str, dict]], evals: evalset.EvalSet) -> list[str]:
    """Return what is wrong with a log's objects: their fields, then their queries, then the rest.

    An undo may name what is gone.
    """
    problems, sound = [], []
    for place, row in rows:
        misfits = _misfits(row, evals)
        problems += [f"{place}: {misfit}" for misfit in misfits]
        sound += [] if misfits or "undo" in row else [(place, row)]
    problems += evalset.orphans(sound, evals.asked, evals.folder)
    for place, row in sound:
        entry = Entry(**row)
        sets_aside = not entry.doc_id and not entry.relevance
        if entry.query_id in evals.asked and not sets_aside:
            fault = judgment_fault(entry, evals)
            problems += [f"{place}: {fault}"] if fault else []
    return problems


def _misfits(row: dict, evals: evalset.EvalSet) -> list[str]:
    """Return what is wrong with the fields of one object of the log."""
    form = files.schema("labelling")
    if "undo" not in row:
        return form.faults(row, evals.grades)
    if not isinstance(row["undo"], dict):
        return [f"field undo is {files.shown(row['undo'])}, wanted an object"]
    return form.faults({"relevance": 0, **row["undo"]}, evals.grades)  # fields of what goes


def judgment_fault(entry: Entry, evals: evalset.EvalSet) -> str:
    """Return why a judgment cannot stand, "" if it can: its ids, or the evidence of 1 and more."""
    quotes = evalset.quotes({"evidence": entry.evidence})
    judgment = evalset.Judgment(*entry.pair, entry.relevance, quotes)
    fault = evalset.misplaced(judgment, evals.asked, evals.documents)
    if not fault and entry.relevance and not quotes:
        return f"grade {entry.relevance} needs evidence, wanted a passage of {entry.doc_id}"
    return fault


def _withdraw(kept: list[Entry], undo: dict) -> None:
    """Remove the newest judgment that `undo` names; one that is gone already may stay gone."""
    for i in reversed(range(len(kept))):
        if all(getattr(kept[i], name) == value for name, value in undo.items()):
            del kept[i]
            return


def entries(evals: evalset.EvalSet, name: str = LOG) -> list[Entry]:
    """Return the judgments of a log that nobody took back, in the order they were given.

    Raises EvalSetError with file and line for every bad line.
    """
    return JudgmentLog(evals, name).entries


def latest(given: list[Entry]) -> dict[tuple[str, str], Entry]:
    """Return {(query_id, doc_id): judgment}, the last word on each pair; repeats do not count."""
    return {entry.pair: entry for entry in given if entry.doc_id and not entry.repeat}
