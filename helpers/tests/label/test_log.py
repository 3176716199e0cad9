"""The log: a judgment is on disk whole or not at all, whoever else writes to it."""

import errno
import io
import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from conftest import write_rows
from judging import entry, grades, logged

from helpers.label import labelling
from helpers.label.labelling import LOG, Entry
from helpers.measure import evalset, files

ROOT = Path(__file__).resolve().parents[3]


def append(folder, *pair, **more):
    labelling.append(evalset.load(folder), LOG, entry(*pair, **more))


def test_a_log_that_somebody_edited_is_read_and_added_to(folder):
    lines = [json.dumps(row) for row in (entry("q2"), entry("q1", "queue-full"), entry("q1"))]
    path = folder / LOG
    path.write_bytes(f"\ufeff{lines[0]}\n \n{lines[1]}\r\n{lines[2]}".encode())  # no end of line
    places = [e.place for e in labelling.entries(evalset.load(folder))]
    assert places == [f"{path}:{n}" for n in (1, 3, 4)]
    append(folder, "q2", "queue-full", time="é 文")
    assert [row["query_id"] for row in logged(folder)] == ["q2", "q1", "q1", "q2"]
    assert "é 文" in path.read_text(encoding="utf-8")  # people can read it


# Obstacles: each returns how the error begins.


def full_disk(path, monkeypatch):
    fault = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(files.os, "fsync", Mock(side_effect=fault))
    return str(fault)


def short_write(path, monkeypatch):
    """Let the system take nine bytes of a line, as a disk does that is nearly full."""
    opened, writes = Path.open, []

    class Short(io.FileIO):
        def write(self, line):
            writes.append(line)
            return super().write(line[:9])

    def short(self, mode="r", *more, **options):
        return Short(self, mode) if "a" in mode else opened(self, mode, *more, **options)

    monkeypatch.setattr(Path, "open", short)
    return "[Errno 28] No space left on device"


def held_by_another(path, monkeypatch):
    monkeypatch.setattr(labelling, "LOCK_WAIT", 0.05)
    lock = labelling.lock_log(path)
    monkeypatch.setattr(labelling, "held", lock, raising=False)  # until this is undone
    return f"{path} cannot be locked, so nothing was written: "


def broken_meanwhile(path, monkeypatch):
    path.write_text("{\n")
    return f"{path}:1: broken JSON"


def test_what_cannot_be_written_is_told_and_the_log_is_as_before(folder, monkeypatch):
    append(folder)
    path, whole = folder / LOG, (folder / LOG).read_bytes()
    for obstacle in (full_disk, short_write, held_by_another, broken_meanwhile):
        with monkeypatch.context() as patch:
            words = obstacle(path, patch)
            before = path.read_bytes()
            with pytest.raises((OSError, evalset.EvalSetError)) as caught:
                append(folder, "q2")
            assert str(caught.value).startswith(words) and path.read_bytes() == before
        path.write_bytes(whole)
    append(folder, "q2")
    assert len(grades(folder)) == 2


def test_a_last_line_that_a_killed_process_wrote_by_half_goes_and_nothing_else(folder):
    append(folder)
    path, first = folder / LOG, (folder / LOG).read_bytes()
    append(folder, "q2", "queue-full", time="é 文")
    whole, file = path.read_bytes(), path.stat().st_ino
    assert whole.startswith(first)
    for cut in range(len(first), len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = 2 if cut >= len(whole) - 1 else 1  # the last byte ends the line
        assert len(grades(folder)) == kept, whole[:cut]
        append(folder, "q1", "queue-full")
        asked = ["q1", "q2"][:kept] + ["q1"]
        assert [row["query_id"] for row in logged(folder)] == asked, whole[:cut]
        assert path.read_bytes().startswith(first) and path.stat().st_ino == file


def test_a_killed_holder_leaves_a_lock_file_that_stops_nobody(folder):
    path = folder / LOG
    hold = "from pathlib import Path; from helpers.label import labelling; "
    hold += f"labelling.lock_log(Path({str(path)!r})); "
    hold += "print('held', flush=True)"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    holder = subprocess.Popen([sys.executable, "-c", f"{hold}; input()"], **pipes, cwd=ROOT)
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.wait(30)
    assert path.with_name(f"{LOG}.lock").exists()
    append(folder)
    assert len(logged(folder)) == 1


BAD_LINES = [  # a line, what is said of it
    ('{"query_id": "q1"', "broken JSON"),
    (entry(relevance=7), "field relevance is 7, wanted at most 2, unless"),
    (entry(repeat="no"), 'field repeat is "no", wanted true or false'),
    (entry("q9"), "query q9 is not in retrieval_queries.jsonl"),
    (entry("q9", ""), "query q9 is not in retrieval_queries.jsonl"),
    (entry("q1", "nil"), "document nil is not in the corpus"),
    (entry("q1", "", 1), "document  is not in the corpus"),
    (entry(relevance=1), "grade 1 needs evidence, wanted the words of disk-full that prove it"),
    (entry(relevance=2) | {"evidence": "Add"}, "evidence 'Add' is not in disk-full"),
    (entry(relevance=2) | {"evidence": [["Delete", "Add"]]}, "evidence 'Add' is not in disk-full"),
    ({"undo": {"query_id": "q1", "time": ""}}, "field doc_id is missing"),
]


def test_a_bad_line_is_named_with_file_and_line(folder):
    good, path = json.dumps(entry("q2")), folder / LOG
    for row, words in BAD_LINES:
        line = row if isinstance(row, str) else json.dumps(row)
        path.write_text(f"{good}\n{line}\n{good}\n")
        with pytest.raises(evalset.EvalSetError) as caught:
            labelling.entries(evalset.load(folder))
        (problem,) = caught.value.problems
        assert problem.startswith(f"{path}:2: ") and words in problem, line


def undo(**fields):
    return {"undo": {"query_id": "q1", "doc_id": "disk-full", **fields}}


SAME = {"time": "2026-11-21T12:00:00+00:00"}
TAKEN_BACK = [  # rows of the log, the grades that are left
    ([entry(**SAME), {**entry(relevance=2, **SAME), "evidence": "Delete"}, undo(**SAME)], [0]),
    ([entry(time=""), undo(repeat=True, time=""), entry("q2", time="9")], [0, 0]),  # none such
    ([entry(time=""), undo(time=""), undo(time="")], []),
    ([{"undo": {"query_id": "q9", "doc_id": "nil"}}, entry()], [0]),  # they are gone
]


def test_undo_takes_back_the_newest_that_it_names_and_no_more(folder):
    for rows, left in TAKEN_BACK:
        write_rows(folder / LOG, *rows)
        assert [e.relevance for e in labelling.entries(evalset.load(folder))] == left, rows


def test_the_last_word_on_a_pair_counts_and_no_repeat():
    given = [Entry("q", "d", 0), Entry("q", "d", 2), Entry("q", "d", 1, repeat=True)]
    given += [Entry("q", "", 0), Entry("p", "d", 1)]
    assert labelling.latest(given) == {("q", "d"): given[1], ("p", "d"): given[4]}
