"""Pairs come out of the pool, judgments go into the folder, and the folder stays valid."""

import contextlib
import shutil

import pytest
from conftest import write_rows
from judging import PROOF, entry
from labelled_sets import complete, rows

from helpers.label import drop, labelling, pooling
from helpers.label.labelling import LOG, PRACTICE, SKIPPED
from helpers.measure import evalset, files

JUDGED, TABLE = "judgments.jsonl", "retrieval_queries.jsonl"


NAMED = {*drop.NAMING} - {"pool.jsonl", "skipped.jsonl"}  # written in the test


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
    assert labelling.pairs_to_judge(evals, listed) == [("q2", d) for d in ("a", "disk-full", "x")]
    ranked = {"hand": {"q1": [("disk-full", 1.0)], "q2": [("disk-full", 1.0)]}}
    monkeypatch.setattr(pooling, "by_ranker", lambda evals, keep: ranked)
    assert labelling.pairs_to_judge(evals) == [("q2", "disk-full")]
    pooled = [{"query_id": "q2", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *pooled)
    assert labelling.pairs_to_judge(evals, listed) == [("q2", "disk-full")]
    (folder / JUDGED).unlink()  # what is only listed has no grade yet
    assert labelling.pairs_to_judge(evalset.load(folder)) == [("q2", d) for d in PROOF]


def test_merge_writes_new_judgments_behind_those_of_their_query_and_nothing_else(folder):
    third = {"query_id": "q3", "query": "logs", "relevant_doc_ids": []}
    write_rows(folder / TABLE, *rows(folder / TABLE), third)
    first, zero, second = rows(folder / JUDGED)
    write_rows(folder / JUDGED, second, first, zero)  # the order of the file stays
    evals, before = evalset.load(folder), contents(folder)
    new = [helps("q3", "queue-full", 1), entry("q3"), helps("q2"), entry("q1", "queue-full")]
    write_rows(folder / LOG, *new)  # the last as judgments.jsonl says
    assert labelling.merge(evals) == 3
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
    assert labelling.merge(evals) == 0 and contents(folder) == before


def test_conflicts_are_all_told_with_their_line_and_write_nothing(folder):
    write_rows(folder / LOG, helps("q2", "queue-full"), entry("q1", "queue-full"), entry("q1"))
    same_pair = f"{folder / LOG}:3: query q1, document disk-full: field relevance is 0 and "
    for faults in (
        [f"{same_pair}{JUDGED} says 2", f"{folder / LOG}:1: query q2, document queue-full: "],
        [f"{same_pair}{TABLE} lists it, wanted one grade for the pair"],
    ):
        before = contents(folder)
        with pytest.raises(evalset.EvalSetError) as caught:
            labelling.merge(evalset.load(folder))
        for problem, words in zip(caught.value.problems, faults, strict=True):
            assert problem.startswith(words)
        assert contents(folder) == before
        (folder / JUDGED).unlink(missing_ok=True)  # what is only listed has no grade


def mark(kind="list", **more):
    return entry("q1", "", kind=kind, time="1", **more)


def stop(*doc_ids):
    return entry("q1", "", skipped=[*(doc_ids or ("queue-full",))], drawn=[], time="1")


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
    ("list", [stop()], "list"),
    ("none", [stop()], "none"),
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
        write_rows(folder / LOG, *lines)
        count = labelling.merge(evalset.load(folder))
        graded = any(line.get("doc_id") == "disk-full" for line in lines)
        assert count == (kind != wanted) + graded, lines
        now = first | ({"kind": wanted} if wanted else {})
        assert rows(folder / TABLE) == [now, second], lines
        assert (folder / JUDGED).exists() == graded
        assert labelling.merge(evalset.load(folder)) == 0


def test_what_was_skipped_is_written_until_the_log_takes_it_back(folder):
    written = lambda: [(row["doc_id"], row["drawn"]) for row in rows(folder / SKIPPED)]  # noqa: E731
    elsewhere = {"query_id": "q2", "doc_id": "disk-full", "drawn": True}
    write_rows(folder / SKIPPED, elsewhere)
    write_rows(folder / LOG, stop("queue-full", "disk-full") | {"drawn": ["queue-full"]})
    assert labelling.merge(evalset.load(folder)) == 0
    assert written() == [("disk-full", True), ("queue-full", True), ("disk-full", False)]
    write_rows(folder / LOG, stop(), TAKEN_BACK, stop("disk-full"))
    labelling.merge(evalset.load(folder))
    assert written() == [("disk-full", True), ("disk-full", False)]


CHANGES = [  # fields of the new judgment of (q1, disk-full), which is 2; the label after the merge
    ({"relevance": 1, "evidence": "Delete", "was": 2}, (1, (("Delete",),))),
    ({"relevance": 2, "evidence": ["Then", "call"], "was": 2}, (2, (("Then",), ("call",)))),
    ({"relevance": 0, "was": 2}, (0, ())),
]


def test_a_grade_is_changed_where_the_judgment_names_the_one_that_it_replaces(folder):
    for new, label in CHANGES:
        copy = shutil.copytree(folder, folder.with_name(f"{folder.name}-{label[0]}"))
        write_rows(copy / LOG, helps(), {**entry(), **new})
        assert labelling.merge(evalset.load(copy)) == 1
        after = evalset.load(copy)  # which loads: a 0 is listed no more
        assert {j[:2]: j[2:] for j in after.judgments}["q1", "disk-full"] == label
        assert "q1" in after.queries or not label[0]
        assert labelling.merge(after) == 0


class Killed(BaseException):
    pass


def killed(folder, monkeypatch, change):
    """Yield a copy of the set for each file that `change` writes, killed before that one."""
    write = files.write
    for step in range(9):
        copy = shutil.copytree(folder, folder.with_name(f"{folder.name}-{step}"))
        left = [*range(step)]

        def dying(path, text, left=left):
            if not left:
                raise Killed
            left.pop()
            write(path, text)

        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            patch.setattr(files, "write", dying)
            change(copy)
            return
        yield copy


@pytest.mark.parametrize("graded", [False, True])
def test_a_merge_killed_anywhere_leaves_a_set_that_loads_and_the_next_ends_it(
    folder, monkeypatch, graded
):
    first, second = unlabelled(folder, kind="none")
    write_rows(folder / TABLE, first, second, {**first, "query_id": "q3", "kind": "list"})
    write_rows(folder / LOG, mark(), helps(), entry("q3", "", kind="list"))
    if graded:
        write_rows(folder / JUDGED, {"query_id": "q2", "doc_id": "queue-full", "relevance": 1})
    merging = lambda copy: labelling.merge(evalset.load(copy))  # noqa: E731
    copies = [*killed(folder, monkeypatch, merging)]
    merging(folder)
    assert [row["kind"] for row in rows(folder / TABLE) if "kind" in row] == ["list", "none"]
    assert any(row["doc_id"] == "disk-full" for row in rows(folder / JUDGED)) and len(copies) == 2
    for copy in copies:
        merging(copy)
        assert contents(copy) == contents(folder)


def test_a_query_dropped_by_a_killed_command_is_dropped_by_the_next(folder, monkeypatch):
    complete(folder)
    write_rows(folder / LOG, entry("q1", time=""), entry("q2"))
    write_rows(folder / drop.DROPPED, {"file": TABLE, "query_id": "q0"})
    copies = [*killed(folder, monkeypatch, lambda copy: drop.drop_query(copy, "q1"))]
    drop.drop_query(folder, "q1")
    assert len(copies) == 6  # files with rows of q1, and dropped.jsonl
    assert rows(folder / drop.DROPPED)[0]["query_id"] == "q0"
    for copy in copies:
        drop.drop_query(copy, "q1")
        assert contents(copy) == contents(folder)


def test_a_dropped_query_leaves_every_file_and_nothing_is_lost(folder):
    complete(folder)
    undo = {"undo": {"query_id": "q1", "doc_id": "disk-full", "time": ""}}
    write_rows(folder / LOG, entry("q1", time=""), undo, {"undo": "q1"}, entry("q2"))
    for name in (PRACTICE, "judge.jsonl", "to_read.jsonl"):
        write_rows(folder / name, entry("q1"), entry("q2"))
    before = {name: rows(folder / name) for name in drop.NAMING if name in NAMED}
    (folder / "pool.jsonl").write_text('{"query_id":"q3"}\n\n')  # as somebody wrote it
    counts = {JUDGED: 2, "second_pass.jsonl": 2, "negatives.jsonl": 1, "judge.jsonl": 1}
    counts |= {"to_read.jsonl": 1, LOG: 2, PRACTICE: 1, TABLE: 1}
    told = [f"{name}: {n} row{'s' * (n > 1)} moved to dropped.jsonl" for name, n in counts.items()]
    assert drop.drop_query(folder, "q1") == told
    assert (folder / "pool.jsonl").read_text() == '{"query_id":"q3"}\n\n'
    drop.drop_query(folder, "q2")
    dropped = rows(folder / drop.DROPPED)
    for name, lines in before.items():
        broken = [row for row in lines if row == {"undo": "q1"}]  # of no query
        moved = [{"file": name, **row} for row in lines if row not in broken]
        assert rows(folder / name) == broken
        assert [row for row in dropped if row["file"] == name] == moved


def test_drop_says_what_is_wrong_and_moves_nothing(folder):
    for name, query_id, words in (
        ("pool.jsonl", "q1", "pool.jsonl:1: broken JSON"),
        ("dropped.jsonl", "q1", "dropped.jsonl:1: broken JSON"),
        ("pool.jsonl", "q9", "no file has a row of the query q9, wanted"),
    ):
        (folder / name).write_text("{" * ("broken" in words))
        before = contents(folder)
        with pytest.raises(evalset.EvalSetError, match=words) as caught:
            drop.drop_query(folder, query_id)
        assert len(caught.value.problems) == 1 and contents(folder) == before
        (folder / name).unlink()
    with pytest.raises(evalset.EvalSetError, match="gone: is no folder"):
        drop.drop_query(folder / "gone", "q1")
    assert not (folder / "gone").exists()


def test_drop_and_merge_want_the_lock_of_the_log(folder, monkeypatch):
    monkeypatch.setattr(labelling, "LOCK_WAIT", 0.05)
    evals, held = evalset.load(folder), labelling.lock_log(folder / LOG)
    for change in (lambda: drop.drop_query(folder, "q1"), lambda: labelling.merge(evals)):
        with pytest.raises(OSError, match="cannot be locked"):
            change()
    held.lock.release()
