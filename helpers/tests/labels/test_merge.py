"""Pairs come out of the pool, judgments go into the folder, and the folder stays valid."""

import shutil

import pytest
from conftest import write_rows
from judging import PROOF, entry
from labelled_sets import complete, rows

from helpers import evalset, files
from helpers.labels import log, merge, pooling

JUDGED, TABLE = "judgments.jsonl", "retrieval_queries.jsonl"


def contents(folder):
    """Return {name: text} of all files but locks."""
    names = (path for path in folder.glob("*") if path.is_file() and path.suffix != ".lock")
    return {path.name: path.read_text() for path in names}


def helps(query_id="q1", doc_id="disk-full", grade=2):
    return {**entry(query_id, doc_id, grade), "evidence": PROOF[doc_id][:7]}


def unlabelled(folder, **more):
    """Leave q1 without labels, with `more` fields."""
    (folder / JUDGED).unlink(missing_ok=True)
    first = {"query_id": "q1", "query": "bread", "relevant_doc_ids": [], **more}
    second = {"query_id": "q2", "query": "queue", "relevant_doc_ids": ["queue-full"]}
    write_rows(folder / TABLE, first, second)
    return first, second


def test_pairs_come_from_the_pool_a_list_or_the_rankers_without_what_is_judged(folder, monkeypatch):
    evals = evalset.load(folder)
    listed = [{"query_id": "q2", "doc_id": d} for d in ("queue-full", "x", "disk-full", "a")]
    assert merge.pairs_to_judge(evals, listed) == [("q2", d) for d in ("a", "disk-full", "x")]
    ranked = {"hand": {"q1": [("disk-full", 1.0)], "q2": [("disk-full", 1.0)]}}
    monkeypatch.setattr(pooling, "by_ranker", lambda evals: ranked)
    assert merge.pairs_to_judge(evals) == [("q2", "disk-full")]
    pooled = [{"query_id": "q2", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *pooled)
    assert merge.pairs_to_judge(evals, listed) == [("q2", "disk-full")]
    (folder / JUDGED).unlink()  # what is only listed has no grade yet
    assert merge.pairs_to_judge(evalset.load(folder)) == [("q2", d) for d in PROOF]


def test_a_query_that_waits_is_asked_about_after_its_pairs(folder):
    unlabelled(folder)
    assert merge.pairs_to_judge(evalset.load(folder), []) == [("q1", "")]
    row = {"query_id": "q1", "doc_id": "disk-full", "rankers": ["hand"]}
    assert merge.pairs_to_judge(evalset.load(folder), [row]) == [("q1", "disk-full"), ("q1", "")]


def test_merge_writes_new_judgments_behind_those_of_their_query_and_nothing_else(folder):
    third = {"query_id": "q3", "query": "logs", "relevant_doc_ids": []}
    write_rows(folder / TABLE, *rows(folder / TABLE), third)
    first, zero, second = rows(folder / JUDGED)
    write_rows(folder / JUDGED, second, first, zero)  # the order of the file stays
    evals, before = evalset.load(folder), contents(folder)
    new = [helps("q3", "queue-full", 1), entry("q3"), helps("q2"), entry("q1", "queue-full")]
    write_rows(folder / log.LOG, *new)  # the last as judgments.jsonl says
    assert merge.merge(evals) == 3
    assert rows(folder / JUDGED) == [
        second,
        {"query_id": "q2", "doc_id": "disk-full", "relevance": 2, "evidence": "Delete "},
        *(first, zero),
        {"query_id": "q3", "doc_id": "disk-full", "relevance": 0},
        {"query_id": "q3", "doc_id": "queue-full", "relevance": 1, "evidence": "Add a c"},
    ]
    assert contents(folder)[TABLE] == before[TABLE]
    after = evalset.load(folder)
    assert after.queries["q2"].relevant_doc_ids == ("queue-full", "disk-full")
    before = contents(folder)
    assert merge.merge(evals) == 0 and contents(folder) == before


CONFLICTS = [  # whether labels have grades, {line of the log: what is said of it}
    (True, {"3": ("q1, document disk-full", "relevance is 0", "says 2"), "1": ("q2", "says 1")}),
    (False, {"3": ("q1, document disk-full", "relevance is 0", f"{TABLE} lists it")}),
]


def test_conflicts_are_all_told_with_their_line_and_write_nothing(folder):
    write_rows(folder / log.LOG, helps("q2", "queue-full"), entry("q1", "queue-full"), entry("q1"))
    for graded, expected in CONFLICTS:
        if not graded:
            (folder / JUDGED).unlink()
        before = contents(folder)
        with pytest.raises(ValueError) as caught:
            merge.merge(evalset.load(folder))
        lines = str(caught.value).splitlines()
        assert len(lines) == len(expected) and contents(folder) == before
        for line, (number, words) in zip(lines, expected.items(), strict=True):
            assert line.startswith(f"{folder / log.LOG}:{number}: query "), line
            assert all(word in line for word in (*words, "wanted one grade")), line


# Queries that no document answers.


def mark(kind="list", **more):
    return entry("q1", "", kind=kind, time="1", **more)


TAKEN_BACK = {"undo": {"query_id": "q1", "doc_id": "", "time": "1"}}
KINDS = [  # kind in the table, lines of the log, kind after the merge
    ("list", [], "list"),
    (None, [], None),
    (None, [mark()], "none"),
    ("list", [mark()], "none"),
    ("list", [mark("other"), TAKEN_BACK], "list"),
    ("none", [mark(), TAKEN_BACK], "list"),
    ("none", [mark(), TAKEN_BACK, mark("none")], "none"),
    ("none", [], "none"),  # by hand
    ("none", [entry("q2", "", kind="list")], "none"),
    ("none", [helps()], "unspecified"),  # nobody knows the kind before
    ("none", [mark(), helps()], "list"),  # a document that answers wins
    (None, [mark(), helps()], None),
    ("none", [{k: v for k, v in mark().items() if k != "kind"}, TAKEN_BACK], "unspecified"),
]


def test_the_kind_that_a_query_gets(folder):
    for kind, lines, wanted in KINDS:
        more = {"language": "nl", "round": 2} | ({"kind": kind} if kind else {})
        first, second = unlabelled(folder, **more)
        write_rows(folder / log.LOG, *lines)
        count = merge.merge(evalset.load(folder))
        graded = any(line.get("doc_id") == "disk-full" for line in lines)
        assert count == (kind != wanted) + graded, lines
        now = first | ({"kind": wanted} if wanted else {})
        assert rows(folder / TABLE) == [now, second], lines
        assert (folder / JUDGED).exists() == graded
        assert merge.merge(evalset.load(folder)) == 0


class Killed(BaseException):
    pass


def killed_everywhere(folder, factory, monkeypatch, change, between=lambda copy: None):
    """Do `change` on copies, killed before its first, second, ... file, then again, to one end.

    Return how many files it writes, and the end.
    """
    write, undisturbed = files.write, shutil.copytree(folder, factory.mktemp("set") / "set")
    change(undisturbed)
    for step in range(9):
        copy, written = shutil.copytree(folder, factory.mktemp("copy") / "set"), []

        def dying(path, text, step=step, written=written):
            if len(written) == step:
                raise Killed
            written.append(path)
            write(path, text)

        with monkeypatch.context() as patch:
            patch.setattr(files, "write", dying)
            try:
                change(copy)
            except Killed:
                between(copy)
            else:
                return step, undisturbed
        change(copy)
        assert contents(copy) == contents(undisturbed)
    raise AssertionError("it writes more files than it has")


def test_a_merge_killed_anywhere_leaves_a_set_that_loads_and_the_next_ends_it(
    folder, tmp_path_factory, monkeypatch
):
    first, second = unlabelled(folder, kind="none")
    write_rows(folder / TABLE, first, second, {**first, "query_id": "q3", "kind": "list"})
    write_rows(folder / log.LOG, mark(), helps(), entry("q3", "", kind="list"))
    merging = lambda copy: merge.merge(evalset.load(copy))  # noqa: E731
    for graded in (False, True):
        if graded:
            write_rows(folder / JUDGED, {"query_id": "q2", "doc_id": "queue-full", "relevance": 1})
        written, end = killed_everywhere(
            folder, tmp_path_factory, monkeypatch, merging, evalset.load
        )
        assert written == 2 and any(row["doc_id"] == "disk-full" for row in rows(end / JUDGED))
        assert [row["kind"] for row in rows(end / TABLE) if "kind" in row] == ["list", "none"]


def test_a_query_dropped_by_a_killed_command_is_dropped_by_the_next(
    folder, tmp_path_factory, monkeypatch
):
    complete(folder)
    write_rows(folder / log.LOG, entry("q1", time=""), entry("q2"))
    write_rows(folder / merge.DROPPED, {"file": TABLE, "query_id": "q0"})
    dropping = lambda copy: merge.drop_query(copy, "q1")  # noqa: E731
    written, end = killed_everywhere(folder, tmp_path_factory, monkeypatch, dropping)
    assert written == 6  # files with rows of q1, and dropped.jsonl
    assert rows(end / merge.DROPPED)[0]["query_id"] == "q0"


def test_a_dropped_query_leaves_every_file_and_nothing_is_lost(folder):
    complete(folder)
    undo = {"undo": {"query_id": "q1", "doc_id": "disk-full", "time": ""}}
    write_rows(folder / log.LOG, entry("q1", time=""), undo, {"undo": "q1"}, entry("q2"))
    for name in (log.PRACTICE, "judge.jsonl", "to_read.jsonl"):
        write_rows(folder / name, entry("q1"), entry("q2"))
    before = {name: rows(folder / name) for name in merge.NAMING if name != "pool.jsonl"}
    (folder / "pool.jsonl").write_text('{"query_id":"q3"}\n\n')  # as somebody wrote it
    counts = {JUDGED: 2, "second_pass.jsonl": 2, "negatives.jsonl": 1, "judge.jsonl": 1}
    counts |= {"to_read.jsonl": 1, log.LOG: 2, log.PRACTICE: 1, TABLE: 1}
    told = [f"{name}: {n} row{'s' * (n > 1)} moved to dropped.jsonl" for name, n in counts.items()]
    assert merge.drop_query(folder, "q1") == told
    assert (folder / "pool.jsonl").read_text() == '{"query_id":"q3"}\n\n'
    merge.drop_query(folder, "q2")
    dropped = rows(folder / merge.DROPPED)
    for name, lines in before.items():
        broken = [row for row in lines if row == {"undo": "q1"}]  # of no query
        assert rows(folder / name) == broken
        assert [row for row in dropped if row["file"] == name] == [
            {"file": name, **row} for row in lines if row not in broken
        ]


REFUSED = [  # file, query, what is said
    ("pool.jsonl", "q1", "pool.jsonl:1: broken JSON"),
    ("dropped.jsonl", "q1", "dropped.jsonl:1: broken JSON"),
    (None, "q9", "no file has a row of the query q9, wanted"),
]


def test_drop_says_what_is_wrong_and_moves_nothing(folder):
    for name, query_id, words in REFUSED:
        if name:
            (folder / name).write_text("{")
        before = contents(folder)
        with pytest.raises(evalset.EvalSetError, match=words) as caught:
            merge.drop_query(folder, query_id)
        assert len(caught.value.problems) == 1 and contents(folder) == before
        if name:
            (folder / name).unlink()
    with pytest.raises(evalset.EvalSetError, match="gone: is no folder"):
        merge.drop_query(folder / "gone", "q1")
    assert not (folder / "gone").exists()


def test_drop_and_merge_want_the_lock_of_the_log(folder, monkeypatch):
    monkeypatch.setattr(log, "LOCK_WAIT", 0.05)
    evals, held = evalset.load(folder), log.lock_log(folder / log.LOG)
    for change in (lambda: merge.drop_query(folder, "q1"), lambda: merge.merge(evals)):
        with pytest.raises(OSError, match="cannot be locked"):
            change()
    held.lock.release()
