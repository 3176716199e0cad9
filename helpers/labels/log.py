"""The panel's log of judgments: one JSON object a line, only ever appended to."""

import errno
import json
import os
from collections.abc import Callable, Iterator
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

    @property
    def quotes(self) -> tuple[str, ...]:
        """What the evidence is for a judgment: one quote or none."""
        return files.quotes({"evidence": self.evidence})


# Writing.


def append(path: Path, row: dict) -> None:
    """Append `row` as one line; when this returns, the line is on disk.

    Raises OSError if it could not be locked or written whole; then the log is as before.
    """
    line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
    with locked(path), path.open("a+b", buffering=0) as file:
        line = _line_start(file) + line
        before = file.seek(0, os.SEEK_END)
        try:
            if os.write(file.fileno(), line) < len(line):
                raise OSError(errno.ENOSPC, "the line was not written whole", str(path))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(before)
            raise


def locked(path: Path) -> AcquireReturnProxy:
    """Return the held lock of the log, a context. The system frees it when its holder is killed.

    It is a file of its own: Windows lets nobody read what is locked.
    """
    lock = FileLock(f"{path}.lock", LOCK_WAIT, poll_interval=0.01, fallback_to_soft=False)
    try:
        return lock.acquire()
    except (OSError, NotImplementedError) as error:  # the second: a file system without locks
        raise OSError(f"{path} cannot be locked, so nothing was written: {error}") from error


def _line_start(file) -> bytes:
    """Return what must come before a new line; cut off a line that a killed kernel left torn.

    A torn line was never confirmed to anybody, and left in place it would be a broken line.
    """
    file.seek(0)
    text = file.read()
    tail = text.rpartition(b"\n")[2]
    if _torn(tail):
        file.truncate(len(text) - len(tail))
        return b""
    return b"\n" if tail else b""  # a whole line whose line end is missing


def _torn(tail: bytes) -> bool:
    """Return whether what follows the last line end is a part of a line."""
    try:
        json.loads(tail or b"{}")
    except ValueError:
        return True
    return False


# Reading.


def entries(evals: evalset.EvalSet, name: str = LOG) -> list[Entry]:
    """Return the judgments of a log that nobody took back, in the order they were given.

    Raises EvalSetError with file and line for every bad line.
    """
    kept: list[Entry] = []
    for place, row in _sound(evals, name):
        if "undo" in row:
            _withdraw(kept, row["undo"])
        else:
            kept.append(Entry(**row, place=place))
    return kept


def verdicts(evals: evalset.EvalSet) -> dict[str, tuple[bool, str]]:
    """Return {query_id: (set aside by the log, kind before)} of all that were ever set aside."""
    aside = {entry.query_id for entry in entries(evals) if not entry.doc_id}
    return {
        row["query_id"]: (row["query_id"] in aside, row.get("kind", "unspecified"))
        for _, row in _sound(evals)
        if row.get("doc_id") == "" and row.get("kind") != files.NO_ANSWER
    }


def _sound(evals: evalset.EvalSet, name: str = LOG) -> list[tuple[str, dict]]:
    """Return (file:line, object) of the log's lines; EvalSetError names all that are bad."""
    problems = files.Problems()
    found = list(_objects(evals.folder / name, problems.append))
    judged = []
    for place, row in found:
        wrong = _misfits(row, evals)
        problems += [f"{place}: {fault}" for fault in wrong]
        judged += [] if wrong or "undo" in row else [(place, row)]
    problems += files.orphans(judged, evals.asked, evals.folder)
    faults = ((place, _row_fault(row, evals)) for place, row in judged)
    problems += [f"{place}: {fault}" for place, fault in faults if fault]
    if problems:
        raise evalset.EvalSetError(problems)
    return found


def _objects(path: Path, say: Callable[[str], object]) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) without a torn last line, from one look: others may be writing."""
    lines = _content(path, say).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines and _torn(lines[-1]):
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield f"{path}:{number}", files.json_object(line.decode())
        except ValueError as error:
            say(f"{path}:{number}: {error}")


def _content(path: Path, say: Callable[[str], object]) -> bytes:
    """Return the bytes of the log, none where it is missing or, which is said, cannot be read."""
    if not os.path.lexists(path):
        return b""
    if files.irregular(path):
        say(f"{path}:1: is {files.irregular(path)}, wanted a regular file")
        return b""
    try:
        return path.read_bytes()
    except OSError as error:
        say(f"{path}:1: cannot be read ({error.strerror}), wanted a readable file")
        return b""


def _misfits(row: dict, evals: evalset.EvalSet) -> list[str]:
    """Return what is wrong with the fields of one object of the log."""
    if "undo" in row:
        found = files.complaints(row, files.SCHEMAS["undo"])
        return found or files.complaints(row["undo"], files.SCHEMAS["undone"])
    return files.complaints(row, files.SCHEMAS[LOG], evals.grades)


def _row_fault(row: dict, evals: evalset.EvalSet) -> str:
    """Return why a judgment of the log cannot stand; a query unknown is told elsewhere."""
    entry = Entry(**row)
    about_none = not entry.doc_id and not entry.relevance
    if entry.query_id not in evals.asked or about_none:
        return ""
    return judgment_fault(evalset.Judgment(*entry.pair, entry.relevance, entry.quotes), evals)


def judgment_fault(judgment: evalset.Judgment, evals: evalset.EvalSet) -> str:
    """Return why a judgment cannot stand, "" if it can: its ids, or the evidence of 1 and more."""
    wrong = evalset.misplaced(judgment, evals.asked, evals.documents)
    if not wrong and judgment.relevance and not judgment.evidence:
        grade, doc_id = judgment.relevance, judgment.doc_id
        return f"grade {grade} needs evidence, wanted a passage of {doc_id}"
    return wrong


def _withdraw(kept: list[Entry], undo: dict) -> None:
    """Remove the newest judgment that `undo` names; one that is gone already may stay gone."""
    for i in reversed(range(len(kept))):
        if all(getattr(kept[i], name) == value for name, value in undo.items()):
            del kept[i]
            return


def latest(given: list[Entry]) -> dict[tuple[str, str], Entry]:
    """Return {(query_id, doc_id): judgment}, the last word on each pair; repeats do not count."""
    return {entry.pair: entry for entry in given if entry.doc_id and not entry.repeat}


def judgments(folder: Path | str) -> list[evalset.Judgment]:
    """Return the judgments in the log of `folder`, by query and document id.

    Raises EvalSetError for a bad folder and for every bad line of the log.
    """
    found = latest(entries(evalset.load(folder)))
    return [
        evalset.Judgment(*pair, found[pair].relevance, found[pair].quotes) for pair in sorted(found)
    ]
