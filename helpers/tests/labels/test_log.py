"""The log: a judgment is on disk whole or not at all, and one panel writes at a time."""

import errno
import fnmatch
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import write_rows
from judging import do, entry, grades, logged, opened

from helpers import evalset
from helpers.labels import log

ROOT = Path(__file__).resolve().parents[3]
OUT = "take all its rows out of every file: "
SAME = {"time": "2026-11-21T12:00:00+00:00"}


def opened_log(folder):
    return log.JudgmentLog(evalset.load(folder))


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_kill_in_the_middle_of_a_line_loses_only_that_line(folder, kept):
    shown = opened(folder)
    first, torn = do(shown, 0), do(shown, 2)
    path = folder / log.LOG
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    path.write_bytes(whole[:start] + whole[start:][:kept])
    complete = {torn[:2]: 2} if kept == -1 else {}  # only the line end is missing
    assert grades(folder) == {first[:2]: 0, **complete}
    again = opened(folder)
    third, fourth = do(again, 0), do(again, 0)
    more = {third[:2]: 0, fourth[:2]: 0}
    assert grades(folder) == {first[:2]: 0, **complete, **more}
    assert len(logged(folder)) == len(grades(folder)) and path.read_bytes().endswith(b"}\n")


def test_torn_inside_a_letter(folder):
    opened_log(folder).append(entry())
    with (folder / log.LOG).open("ab") as file:
        file.write('{"query_id": "é'.encode()[:-1])
    assert len(grades(folder)) == 1
    opened_log(folder).append({**entry("q2"), "time": "é 文"})
    assert len(grades(folder)) == 2
    assert "é 文" in (folder / log.LOG).read_text(encoding="utf-8")  # people can read it


def test_a_line_is_on_disk_before_append_returns(folder, monkeypatch):
    synced, path, given = [], folder / log.LOG, opened_log(folder)
    monkeypatch.setattr(log.os, "fsync", lambda file: synced.append(path.read_bytes()))
    given.append(entry("q1"))
    given.append(entry("q2"))
    assert [content.count(b"\n") for content in synced] == [1, 2]
    assert path.read_bytes() == synced[1]
    assert [e.pair for e in given.entries] == [("q1", "disk-full"), ("q2", "disk-full")]


# What cannot be written is a message, and nothing is.


def half_written(path, monkeypatch):
    write = os.write
    monkeypatch.setattr(log.os, "write", lambda file, line: write(file, line[:-1]))
    return f"[Errno {errno.ENOSPC}] the line was not written whole: '{path}'"


def not_synced(path, monkeypatch):
    def fail(file):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(log.os, "fsync", fail)
    return f"[Errno {errno.EIO}] the disk is gone"


def held_by_another(path, monkeypatch):
    monkeypatch.setattr(log, "LOCK_WAIT", 0.05)
    monkeypatch.setattr(log, "held", log.locked(path), raising=False)  # until this is undone
    return f"{path} cannot be locked, so nothing was written: "


def without_locks(path, monkeypatch):
    def none(*_, **__):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr("filelock.FileLock.acquire", none)
    return f"{path} cannot be locked, so nothing was written: "


def read_only(path, monkeypatch):
    path.with_name(f"{log.LOG}.lock").unlink()
    path.with_name(f"{log.LOG}.lock").mkdir()
    return f"{path} cannot be locked, so nothing was written: "


OBSTACLES = [half_written, not_synced, held_by_another, without_locks, read_only]


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_cannot_be_written_is_told_and_the_log_is_as_before(folder, monkeypatch, obstacle):
    given = opened_log(folder)
    given.append(entry())
    before = (folder / log.LOG).read_bytes()
    with monkeypatch.context() as patch:
        words = obstacle(given.path, patch)
        with pytest.raises(OSError) as caught:
            given.append(entry("q2"))
        assert str(caught.value).startswith(words)
        assert (folder / log.LOG).read_bytes() == before and len(given.entries) == 1
    if obstacle in (half_written, not_synced):
        given.append(entry("q2"))
        assert len(grades(folder)) == 2


def test_who_comes_second_writes_nothing_and_is_told(folder):
    one, two = opened_log(folder), opened_log(folder)
    one.append(entry())
    with pytest.raises(OSError, match="changed by another panel .* run this cell again"):
        two.append(entry("q2"))
    one.append(entry("q2", "queue-full"))
    assert len(logged(folder)) == 2


def test_a_killed_holder_leaves_a_lock_file_that_stops_nobody(folder):
    path = folder / log.LOG
    hold = "from helpers.labels import log; log.locked({!r}); print('held', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-c", hold.format(str(path))]
    holder = subprocess.Popen(command, **pipes, cwd=ROOT)
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.wait(30)
    assert path.with_name(f"{log.LOG}.lock").exists()
    opened_log(folder).append(entry())
    assert len(logged(folder)) == 1


def test_git_sees_neither_log_nor_lock():
    ignored = (ROOT / ".gitignore").read_text().split()
    for name in (log.LOG, f"{log.LOG}.lock"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in ignored)


# Bad lines.

BAD_LINES = {
    '{"query_id": "q1"': "broken JSON",
    "[1]": "found [1], wanted a JSON object",
    json.dumps(entry(relevance=7)): "field relevance is 7, wanted 0, 1 or 2",
    json.dumps(entry(repeat="no")): 'field repeat is "no", wanted true or false',
    json.dumps(entry(grade=1)): "field grade is unknown",
    json.dumps({"query_id": "q1", "relevance": 0}): "field doc_id is missing",
    json.dumps(entry("q9")): "query q9 is not in retrieval_queries.jsonl",
    json.dumps(entry("q1", "nil")): "document nil is not in the corpus",
    json.dumps(entry(relevance=1)): "grade 1 needs evidence, wanted a passage of disk-full",
    json.dumps({**entry(relevance=1), "evidence": " "}): "grade 1 needs evidence",
    json.dumps({**entry(relevance=2), "evidence": "Add"}): "evidence 'Add' is not in disk-full",
    json.dumps({"undo": "q1"}): 'field undo is "q1", wanted an object',
    json.dumps({"undo": {"query_id": "q1", "time": ""}}): "field doc_id is missing",
    json.dumps(entry("q1", "", 1)): "document  is not in the corpus",
    json.dumps(entry("q9", "")): "query q9 is not in retrieval_queries.jsonl",
}


def problems_of(folder):
    with pytest.raises(evalset.EvalSetError) as caught:
        opened_log(folder)
    return [line.removeprefix(f"{folder / log.LOG}:") for line in caught.value.problems]


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_line_is_named_with_file_and_line(folder, line):
    good = json.dumps(entry("q2"))
    (folder / log.LOG).write_text(f"{good}\n{line}\n{good}\n")
    (problem,) = problems_of(folder)
    assert problem.startswith("2: ") and BAD_LINES[line] in problem


def test_every_bad_line_is_named_the_form_before_the_ids(folder):
    lines = [entry("q9"), entry("q1", "nil"), entry(relevance=7), {"undo": 1}, entry("q9", "")]
    write_rows(folder / log.LOG, *lines)
    problems = problems_of(folder)
    assert [p.split(",")[0] for p in problems] == [
        "3: field relevance is 7",
        "4: field undo is 1",
        "1: query q9 is not in retrieval_queries.jsonl and stands in 2 lines here: write it there "
        "again",
        "2: document nil is not in the corpus",
    ]
    assert f"{OUT}make drop QUERY=q9 EVALS={folder}" in problems[2]


def test_a_line_that_is_no_text_is_named_and_a_torn_end_is_none(folder):
    good = json.dumps(entry("q2")).encode()
    (folder / log.LOG).write_bytes(good + b"\n\xff\n" + good + b'\n{"query_id')
    (problem,) = problems_of(folder)
    assert problem.startswith("2: 'utf-8' codec can't decode byte 0xff")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("gone")])
def test_a_log_that_is_no_file_is_told(folder, make):
    make(folder / log.LOG)
    (problem,) = problems_of(folder)
    assert problem.startswith("1: cannot be read (")


# What it says.


def test_a_log_that_somebody_edited_is_read_as_it_stands(folder):
    lines = [json.dumps(row) for row in (entry("q2"), entry("q1", "queue-full"), entry("q1"))]
    page = f"\ufeff{lines[0]}\n \n{lines[1]}\r\n{lines[2]}\n"
    (folder / log.LOG).write_bytes(page.encode())
    given = opened_log(folder).entries
    assert [e.place for e in given] == [f"{folder / log.LOG}:{n}" for n in (1, 3, 4)]
    assert [e.pair for e in given] == [("q2", "disk-full"), ("q1", "queue-full"), given[2].pair]


def undo(**fields):
    return {"undo": {"query_id": "q1", "doc_id": "disk-full", **fields}}


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        ([entry(**SAME), {**entry(relevance=2, **SAME), "evidence": "Delete"}, undo(**SAME)], [0]),
        ([entry(time=""), undo(repeat=True, time=""), entry("q2", time="9")], [0, 0]),  # none such
        ([entry(time=""), undo(time=""), undo(time="")], []),
    ],
)
def test_undo_takes_back_the_newest_that_it_names_and_no_more(folder, rows, left):
    write_rows(folder / log.LOG, *rows)
    assert [e.relevance for e in opened_log(folder).entries] == left


def test_the_last_word_on_a_pair_counts_and_no_repeat():
    given = [log.Entry("q", "d", 0), log.Entry("q", "d", 2), log.Entry("q", "d", 1, repeat=True)]
    given += [log.Entry("q", "", 0), log.Entry("p", "d", 1)]
    assert log.latest(given) == {("q", "d"): given[1], ("p", "d"): given[4]}
    assert given[0] == ("q", "d", 0, "", False, "", "", "")
