"""The log: a judgment is on disk whole or not at all, and one writer comes after the other."""

import errno
import fnmatch
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import write_rows
from judging import do, entry, grades, logged, opened

from helpers import evalset
from helpers.labels import log

ROOT = Path(__file__).resolve().parents[3]
OUT = "take all its rows out of every file: "


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
    third = do(again, 0)
    assert grades(folder) == {first[:2]: 0, **complete, third[:2]: 0}
    assert len(logged(folder)) == len(grades(folder)) and path.read_bytes().endswith(b"}\n")


def test_torn_inside_a_letter(folder):
    log.append(folder / log.LOG, entry())
    with (folder / log.LOG).open("ab") as file:
        file.write('{"query_id": "é'.encode()[:-1])
    assert len(grades(folder)) == 1
    log.append(folder / log.LOG, entry("q2"))
    assert len(grades(folder)) == 2


def test_a_full_disk_is_a_message_and_leaves_the_log_whole(folder, monkeypatch):
    shown = opened(folder)
    do(shown, 0)
    before, turn, write = (folder / log.LOG).read_bytes(), shown.turn, os.write
    monkeypatch.setattr(log.os, "write", lambda file, line: write(file, line[:-1]))
    shown.buttons["0"].click()
    assert "not written whole" in shown.message.value and shown.turn == turn
    assert (folder / log.LOG).read_bytes() == before


# Several writers.

WRITER = """
import os, sys, time
from pathlib import Path
from helpers.labels import log

def slow(file, line, write=os.write):  # half a line, a pause, the other half
    half = len(line) // 2
    first = write(file, line[:half])
    time.sleep(0.005)
    return first + write(file, line[half:])

path, name = Path(sys.argv[1]), sys.argv[2]
os.write = slow
print("ready", flush=True)
sys.stdin.readline()
for i in range(20):
    log.append(path, {"query_id": name, "doc_id": str(i), "evidence": "é" * 100})
"""


@pytest.mark.proof
def test_two_processes_lose_no_line(tmp_path):
    path = tmp_path / log.LOG
    command = [sys.executable, "-c", WRITER, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writers = [subprocess.Popen([*command, name], **pipes, cwd=ROOT) for name in "abc"]
    for writer in writers:
        assert writer.stdout.readline() == b"ready\n"  # none begins before all can
    for writer in writers:
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 60
    for name in "abc":
        assert [r["doc_id"] for r in rows if r["query_id"] == name] == [str(i) for i in range(20)]


def test_a_line_waits_for_the_one_that_is_being_written(tmp_path, monkeypatch):
    path, begun, go_on, write = tmp_path / log.LOG, threading.Event(), threading.Event(), os.write

    def slow(file, line):
        begun.set()
        half = write(file, line[:9])
        assert go_on.wait(10)
        return half + write(file, line[9:])

    monkeypatch.setattr(log.os, "write", slow)
    one = threading.Thread(target=log.append, args=(path, entry("q1")))
    two = threading.Thread(target=log.append, args=(path, entry("q2")))
    one.start()
    assert begun.wait(10)
    two.start()
    two.join(0.1)
    go_on.set()
    one.join(10)
    two.join(10)
    assert [row["query_id"] for row in logged(tmp_path)] == ["q1", "q2"]


def test_a_line_is_on_disk_before_append_returns(folder, monkeypatch):
    synced, path = [], folder / log.LOG
    monkeypatch.setattr(log.os, "fsync", lambda file: synced.append(path.read_bytes()))
    log.append(path, entry("q1"))
    log.append(path, entry("q2"))
    assert [found.count(b"\n") for found in synced] == [1, 2] and path.read_bytes() == synced[1]


def test_a_killed_holder_leaves_a_lock_file_that_stops_nobody(folder):
    path = folder / log.LOG
    hold = "from helpers.labels import log; log.locked({!r}); print('held', flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold.format(str(path))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.wait(30)
    assert path.with_name(f"{log.LOG}.lock").exists()
    log.append(path, entry())
    assert len(logged(folder)) == 1


def held_by_another(path, monkeypatch):
    monkeypatch.setattr(log, "LOCK_WAIT", 0.05)
    return log.locked(path)


def without_locks(path, monkeypatch):
    def missing(*_):
        raise OSError(errno.ENOSYS, "no locks here")

    path.with_name(f"{log.LOG}.lock").unlink()
    monkeypatch.setattr("fcntl.flock", missing)


def read_only(path, monkeypatch):
    path.with_name(f"{log.LOG}.lock").unlink()
    path.with_name(f"{log.LOG}.lock").mkdir()


def a_file_system_that_has_none(path, monkeypatch):
    def none(*_, **__):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr("filelock.FileLock.acquire", none)


@pytest.mark.parametrize(
    "obstacle", [held_by_another, without_locks, read_only, a_file_system_that_has_none]
)
def test_a_log_is_never_written_unlocked(folder, monkeypatch, obstacle):
    shown = opened(folder)
    do(shown, 0)
    before, turn = (folder / log.LOG).read_bytes(), shown.turn
    held = obstacle(folder / log.LOG, monkeypatch)
    do(shown, 0)
    assert "cannot be locked, so nothing was written" in shown.message.value
    assert (folder / log.LOG).read_bytes() == before and shown.turn == turn
    monkeypatch.undo()
    if held:
        held.lock.release()


def test_git_sees_neither_log_nor_lock():
    ignored = (ROOT / ".gitignore").read_text().split()
    for name in (log.LOG, f"{log.LOG}.lock"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in ignored)


def test_a_line_that_may_not_be_on_disk_is_taken_back(folder, monkeypatch):
    path = folder / log.LOG
    log.append(path, entry())
    before = path.read_bytes()

    def fail(file):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(log.os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        log.append(path, entry("q2"))
    assert path.read_bytes() == before


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
    json.dumps({"undo": {}, "why": 1}): "field why is unknown",
    json.dumps(entry("q1", "", 1)): "document  is not in the corpus",
    json.dumps(entry("q9", "")): "query q9 is not in retrieval_queries.jsonl",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_line_is_named_with_file_and_line(folder, line):
    good = json.dumps(entry("q2"))
    (folder / log.LOG).write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(evalset.EvalSetError) as caught:
        log.judgments(folder)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{folder / log.LOG}:2: ") and BAD_LINES[line] in problem


def test_the_lines_of_a_deleted_query_are_one_problem(folder):
    lines = [entry("q9"), entry("q2"), entry("q9", "queue-full"), entry("q8")]
    write_rows(folder / log.LOG, *lines)
    with pytest.raises(evalset.EvalSetError) as caught:
        log.judgments(folder)
    first, second = caught.value.problems
    assert first.startswith(f"{folder / log.LOG}:1: query q9 is not in retrieval_queries.jsonl")
    assert f"2 lines here: write it there again, or {OUT}make drop QUERY=q9 EVALS={folder}" in first
    assert ":4: query q8 " in second and "in 1 line here" in second


def test_a_log_that_somebody_edited_is_read_as_it_stands(folder):
    lines = [json.dumps(row) for row in (entry("q2"), entry("q1", "queue-full"), entry("q1"))]
    page = f"\ufeff{lines[0]}\n \n{lines[1]}\r\n{lines[2]}\n"
    (folder / log.LOG).write_bytes(page.encode())
    assert [e.place.rpartition(":")[2] for e in log.entries(evalset.load(folder))] == [
        "1",
        "3",
        "4",
    ]
    pairs = [(j.query_id, j.doc_id) for j in log.judgments(folder)]
    assert pairs == [("q1", "disk-full"), ("q1", "queue-full"), ("q2", "disk-full")]


def test_undo_takes_back_the_newest_of_two_alike_and_no_more(folder):
    same = {"time": "2026-11-21T12:00:00+00:00"}
    undo = {"undo": {"query_id": "q1", "doc_id": "disk-full", **same}}
    grade_2 = {**entry(relevance=2, **same), "evidence": "Delete"}
    write_rows(folder / log.LOG, entry(**same), grade_2, undo)
    assert [e.relevance for e in log.entries(evalset.load(folder))] == [0]


@pytest.mark.filterwarnings("error")
def test_the_log_is_readable_in_every_script(folder):
    log.append(folder / log.LOG, {**entry(), "evidence": "é 文"})
    assert "é 文" in (folder / log.LOG).read_text(encoding="utf-8")


# Queries that no document answers.


def test_the_log_remembers_the_kind_before_and_whether_it_was_taken_back(folder):
    mark = entry("q1", "", kind="symptom", time="1")
    undo = {"undo": {"query_id": "q1", "doc_id": "", "repeat": False, "time": "1"}}
    again, other = {**mark, "kind": "none", "time": "2"}, entry("q2", "", kind="list", time="3")
    evals = evalset.load(folder)
    for rows, aside in (
        ([], {}),
        ([entry()], {}),
        ([mark, other], {"q1": (True, "symptom"), "q2": (True, "list")}),
        ([mark, undo], {"q1": (False, "symptom")}),
        ([mark, undo, again], {"q1": (True, "symptom")}),
    ):
        write_rows(folder / log.LOG, *rows)
        assert log.verdicts(evals) == aside
        assert [j.doc_id for j in log.judgments(folder)] == [
            r["doc_id"] for r in rows if r is rows[0] and r["doc_id"]
        ]


# Word for word.


def test_an_entry_has_a_pair_and_empty_fields():
    assert log.Entry("q", "d", 2) == ("q", "d", 2, "", False, "", "", "")
    assert log.Entry("q", "d", 2).pair == ("q", "d")


def test_what_could_not_be_written_is_told_with_the_path(folder, monkeypatch):
    path, write = folder / log.LOG, os.write
    monkeypatch.setattr(log.os, "write", lambda file, line: write(file, line[:-1]))
    with pytest.raises(OSError) as caught:
        log.append(path, entry())
    wanted = f"[Errno {errno.ENOSPC}] the line was not written whole: '{path}'"
    assert str(caught.value) == wanted and path.read_bytes() == b""
    monkeypatch.undo()
    without_locks(path, monkeypatch)
    with pytest.raises(OSError) as caught:
        log.append(path, entry())
    assert str(caught.value).startswith(f"{path} cannot be locked, so nothing was written: ")


def test_every_bad_line_is_named_the_form_before_the_ids(folder):
    lines = [entry("q9"), entry("q1", "nil"), entry(relevance=7), {"undo": 1}, entry("q2")]
    write_rows(folder / log.LOG, *lines)
    with pytest.raises(evalset.EvalSetError) as caught:
        log.judgments(folder)
    assert [
        p.removeprefix(f"{folder / log.LOG}:").split(",")[0] for p in caught.value.problems
    ] == [
        "3: field relevance is 7",
        "4: field undo is 1",
        "1: query q9 is not in retrieval_queries.jsonl and stands in 1 line here: write it there "
        "again",
        "2: document nil is not in the corpus",
    ]


def test_a_line_that_is_no_text_is_named_and_a_torn_end_is_none(folder):
    good = json.dumps(entry("q2")).encode()
    (folder / log.LOG).write_bytes(good + b"\n\xff\n" + good + b'\n{"query_id')
    with pytest.raises(evalset.EvalSetError) as caught:
        log.judgments(folder)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{folder / log.LOG}:2: 'utf-8' codec can't decode byte 0xff")


def test_a_mark_without_a_kind_remembers_unspecified(folder):
    mark = entry("q1", "")
    write_rows(folder / log.LOG, mark, entry("q1"), entry("q2", "queue-full"))
    assert log.verdicts(evalset.load(folder)) == {"q1": (True, "unspecified")}
    write_rows(folder / log.LOG, {**mark, "kind": "none"})
    assert log.verdicts(evalset.load(folder)) == {}


def test_an_undo_of_what_is_gone_takes_nothing_back(folder):
    undo = {"undo": {"query_id": "q1", "doc_id": "disk-full", "repeat": True, "time": ""}}
    other = {"undo": {"query_id": "q1", "doc_id": "queue-full", "time": ""}}
    kept = entry("q1", time="")
    write_rows(folder / log.LOG, kept, undo, other, entry("q2", time="9"))
    assert [e.pair for e in log.entries(evalset.load(folder))] == [
        ("q1", "disk-full"),
        ("q2", "disk-full"),
    ]
    assert log.entries(evalset.load(folder))[0].place == f"{folder / log.LOG}:1"


def test_the_last_word_on_a_pair_counts_and_no_repeat():
    given = [log.Entry("q", "d", 0), log.Entry("q", "d", 2), log.Entry("q", "d", 1, repeat=True)]
    given += [log.Entry("q", "", 0), log.Entry("p", "d", 1)]
    assert log.latest(given) == {("q", "d"): given[1], ("p", "d"): given[4]}


def test_judgments_are_sorted_and_hold_the_evidence(folder):
    rows = [entry("q2"), {**entry("q1", relevance=1), "evidence": "Delete"}]
    write_rows(folder / log.LOG, *rows)
    assert log.judgments(str(folder)) == [
        evalset.Judgment("q1", "disk-full", 1, ("Delete",)),
        evalset.Judgment("q2", "disk-full", 0, ()),
    ]


@pytest.mark.parametrize(
    ("judgment", "fault"),
    [
        (("q1", "disk-full", 1, ()), "grade 1 needs evidence, wanted a passage of disk-full"),
        (("q1", "disk-full", 2, ("Delete",)), ""),
        (("q1", "disk-full", 0, ()), ""),
    ],
)
def test_a_judgment_of_1_or_more_needs_evidence(folder, judgment, fault):
    assert log.judgment_fault(evalset.Judgment(*judgment), evalset.load(folder)) == fault


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs in folders")
@pytest.mark.parametrize("what", ["a FIFO", "a link"])
def test_a_log_that_never_ends_or_is_gone_is_told(folder, what):
    path = folder / log.LOG
    os.mkfifo(path) if what == "a FIFO" else path.symlink_to("gone")
    with pytest.raises(evalset.EvalSetError, match=f"{log.LOG}:1: (is a FIFO|cannot be read)"):
        log.entries(evalset.load(folder))
