"""Pairs come out of the pool, judgments go into the folder, and the folder stays valid."""

import shutil

import killed
import labelled_sets
import pytest
from conftest import write_rows
from judging import PROOF, entry

from helpers import evalset
from helpers.labels import log, merge, pooling

IMPORTS = "from helpers import evalset\nfrom helpers.labels import merge"


def test_pairs_come_from_the_pool_and_not_what_is_judged(folder):
    rows = [{"query_id": "q2", "doc_id": d, "rankers": ["hand"]} for d in PROOF]
    write_rows(folder / "pool.jsonl", *rows)
    assert merge.pairs_to_judge(evalset.load(folder)) == [("q2", "disk-full")]


def test_pairs_without_a_pool_come_from_the_rankers(folder, monkeypatch):
    found = {"hand": {"q1": [("disk-full", 1.0)], "q2": [("disk-full", 1.0)]}}
    monkeypatch.setattr(pooling, "by_ranker", lambda evals: found)
    assert merge.pairs_to_judge(evalset.load(folder)) == [("q2", "disk-full")]


def test_merge_adds_and_the_folder_loads(folder):
    log.append(folder / log.LOG, {**entry("q2", relevance=2), "evidence": "call Storage."})
    log.append(folder / log.LOG, entry("q1", "queue-full"))  # as judgments.jsonl says
    evals = evalset.load(folder)
    assert merge.merge(evals) == 1
    after = evalset.load(folder)
    assert after.qrels()["q2"] == {"queue-full": 1, "disk-full": 2}
    assert after.queries["q2"].relevant_doc_ids == ("queue-full", "disk-full")
    assert after.judgments[:2] == evals.judgments[:2] and after.queries["q2"].split == "test"
    before = (folder / "judgments.jsonl").read_bytes()
    assert merge.merge(evals) == 0 and (folder / "judgments.jsonl").read_bytes() == before


def test_merge_into_binary_labels(folder):
    (folder / "judgments.jsonl").unlink()
    rows = [{**entry(relevance=2), "evidence": "Delete"}, entry("q1", "queue-full")]
    write_rows(folder / log.LOG, *rows)
    assert merge.merge(evalset.load(folder)) == 2
    assert evalset.load(folder).qrels() == {
        "q1": {"disk-full": 2, "queue-full": 0},
        "q2": {"queue-full": 1},
    }


@pytest.mark.parametrize("binary", [False, True])
def test_conflict_names_pair_grades_and_places_and_writes_nothing(folder, binary):
    write_rows(folder / log.LOG, entry("q2"), entry("q1", "disk-full"))
    if binary:
        (folder / "judgments.jsonl").unlink()
    before = {path: path.read_bytes() for path in folder.glob("*.jsonl")}
    with pytest.raises(ValueError) as caught:
        merge.merge(evalset.load(folder))
    said = str(caught.value)
    other = "retrieval_queries.jsonl:1 lists it" if binary else "judgments.jsonl:1 says 2"
    assert "query q1, document disk-full: " in said and "labelling.jsonl:2 says 0" in said
    assert other in said and len(said.splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.glob("*.jsonl")} == before


def content(folder):
    """Return {name: bytes} of the label files and of what is beside them, without the lock."""
    return {path.name: path.read_bytes() for path in folder.glob("*[!k]") if path.is_file()}


@pytest.mark.parametrize("graded", [True, False])
def test_a_failed_write_changes_nothing(folder, monkeypatch, graded):
    if not graded:
        (folder / "judgments.jsonl").unlink()
    write_rows(folder / log.LOG, entry("q2"))
    before, calls = content(folder), []

    def fail(file):
        calls.append(file)
        if len(calls) == 2:
            raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        merge.merge(evalset.load(folder))
    assert content(folder) == before


@pytest.mark.proof
@pytest.mark.parametrize(
    "change", ["merge.merge(evalset.load(folder))", "merge.drop_query(folder, 'q1')"]
)
def test_a_kill_at_any_step_leaves_the_set_as_before_or_done(folder, tmp_path_factory, change):
    write_rows(folder / log.LOG, {**entry("q2"), "relevance": 1, "evidence": "Delete"})
    write_rows(folder / "pool.jsonl", {"query_id": "q2", "doc_id": "disk-full", "rankers": []})
    seen = []
    for step in range(12):
        copy = tmp_path_factory.mktemp("copy") / "set"
        shutil.copytree(folder, copy)
        cut = killed.at(step, f"{IMPORTS}\nfolder = Path(sys.argv[2])\n{change}", copy)
        evals = evalset.load(copy)
        evalset.read_extra(evals, "pool.jsonl")
        seen.append(content(copy))
        assert not [name for name in seen[-1] if name.endswith((".part", ".whole"))]
        if not cut:
            break
    assert not cut and seen[0] == content(folder) != seen[-1]
    assert all(found in (seen[0], seen[-1]) for found in seen)


def test_merge_keeps_the_order_of_both_files_and_the_evidence(folder):
    write_rows(folder / "judgments.jsonl", *labelled_sets.rows(folder / "judgments.jsonl")[1:])
    first, second = table(folder)
    write_rows(folder / "retrieval_queries.jsonl", {**first, "relevant_doc_ids": []}, second)
    write_rows(folder / log.LOG, {**entry("q1", relevance=2), "evidence": "Delete"})
    merge.merge(evalset.load(folder))
    assert labelled_sets.rows(folder / "judgments.jsonl") == [
        {"query_id": "q1", "doc_id": "queue-full", "relevance": 0},
        {"query_id": "q1", "doc_id": "disk-full", "relevance": 2, "evidence": "Delete"},
        {
            "query_id": "q2",
            "doc_id": "queue-full",
            "relevance": 1,
            "evidence": "Add a consumer.",
        },
    ]
    listed = {"query_id": "q1", "query": "x", "relevant_doc_ids": ["queue-full", "disk-full"]}
    rows = [{"query_id": "q1", "doc_id": d, "relevance": 1} for d in ("disk-full", "queue-full")]
    assert merge._with_relevant(listed, rows) == listed


def test_merge_reads_the_folder_as_it_is_now(folder):
    held = evalset.load(folder)
    third = {"query_id": "q3", "query": "logs", "relevant_doc_ids": []}
    write_rows(folder / "retrieval_queries.jsonl", *table(folder), third)
    write_rows(folder / log.LOG, entry("q3"))
    assert merge.merge(held) == 1 and evalset.load(folder).qrels()["q3"] == {"disk-full": 0}


# Queries that no document answers.


def unlabelled(folder, **more):
    """Leave q1 without labels, with `more` fields, and the other query as it is."""
    (folder / "judgments.jsonl").unlink()
    first = {"query_id": "q1", "query": "bread", "relevant_doc_ids": [], **more}
    second = {"query_id": "q2", "query": "queue", "relevant_doc_ids": ["queue-full"]}
    write_rows(folder / "retrieval_queries.jsonl", first, second)
    return first, second


def table(folder):
    return labelled_sets.rows(folder / "retrieval_queries.jsonl")


@pytest.mark.parametrize("former", [{}, {"kind": "symptom", "split": "dev"}])
def test_a_query_set_aside_gets_the_kind_none_and_its_own_kind_back(folder, former):
    first, second = unlabelled(folder, **former)
    mark = entry("q1", "", kind=former.get("kind", "unspecified"), time="1")
    write_rows(folder / log.LOG, mark)
    assert merge.merge(evalset.load(folder)) == 1
    assert table(folder) == [{**first, "kind": "none"}, second]
    assert not (folder / "judgments.jsonl").exists()
    evals = evalset.load(folder)
    assert [*evals.queries] == ["q2"] and [*evals.unanswered] == ["q1"] and evals.next_step() == ""
    assert merge.merge(evals) == 0
    undo = {name: mark[name] for name in ("query_id", "doc_id", "time")}
    log.append(folder / log.LOG, {"undo": undo})
    assert merge.merge(evals) == 1 and merge.merge(evals) == 0
    assert table(folder) == [{**first, "kind": mark["kind"]}, second]


def test_a_document_that_answers_wins_over_the_kind_none(folder):
    first, second = unlabelled(folder, kind="symptom")
    found = {**entry("q1", relevance=2), "evidence": "Delete"}
    write_rows(folder / log.LOG, entry("q1", "", kind="symptom"), found)
    assert merge.merge(evalset.load(folder)) == 1
    assert table(folder) == [{**first, "relevant_doc_ids": ["disk-full"]}, second]
    unlabelled(folder, kind="none")  # by hand: nobody knows the kind before
    write_rows(folder / log.LOG, found)
    assert merge.merge(evalset.load(folder)) == 2
    assert table(folder)[0]["kind"] == "unspecified"


def test_a_kind_none_written_by_hand_stays(folder):
    unlabelled(folder, kind="none")
    write_rows(folder / log.LOG, entry("q2", "disk-full"))
    assert merge.merge(evalset.load(folder)) == 1 and table(folder)[0]["kind"] == "none"


def test_a_query_that_waits_is_asked_about_after_its_pairs(folder):
    unlabelled(folder)
    assert merge.pairs_to_judge(evalset.load(folder), []) == [("q1", "")]
    row = {"query_id": "q1", "doc_id": "disk-full", "rankers": ["hand"]}
    assert merge.pairs_to_judge(evalset.load(folder), [row]) == [("q1", "disk-full"), ("q1", "")]


# A query out of all files.


def test_a_dropped_query_leaves_every_file_and_nothing_is_lost(folder):
    labelled_sets.complete(folder)
    undo = {"undo": {"query_id": "q1", "doc_id": "disk-full", "time": ""}}
    write_rows(folder / log.LOG, entry("q1", time=""), undo, entry("q2", "disk-full"))
    write_rows(folder / log.PRACTICE, entry("q1"), entry("q2"))
    pooled = [{"query_id": q, "doc_id": "disk-full", "rankers": ["hand"]} for q in ("q1", "q2")]
    write_rows(folder / "pool.jsonl", *pooled)
    before = {name: labelled_sets.rows(folder / name) for name in merge.NAMING}
    assert merge.drop_query(folder, "q1") == [
        "retrieval_queries.jsonl: 1 row moved to dropped.jsonl",
        "judgments.jsonl: 2 rows moved to dropped.jsonl",
        "pool.jsonl: 1 row moved to dropped.jsonl",
        "second_pass.jsonl: 2 rows moved to dropped.jsonl",
        "negatives.jsonl: 1 row moved to dropped.jsonl",
        "labelling.jsonl: 2 rows moved to dropped.jsonl",
        "practice.jsonl: 1 row moved to dropped.jsonl",
    ]
    merge.drop_query(folder, "q2")
    for name, rows in before.items():
        moved = labelled_sets.rows(folder / merge.DROPPED)
        assert [row for row in moved if row["file"] == name] == [{"file": name, **r} for r in rows]
        assert labelled_sets.rows(folder / name) == []


def test_a_dropped_query_ends_the_complaints_about_it(folder):
    queries = folder / "retrieval_queries.jsonl"
    write_rows(queries, table(folder)[1])
    with pytest.raises(evalset.EvalSetError, match="query q1 is not in .* in 2 lines here"):
        evalset.load(folder)
    merge.drop_query(folder, "q1")
    assert [*evalset.load(folder).queries] == ["q2"]


@pytest.mark.parametrize("broken", ["{", "", r'{"query_id": "q1", "doc_id": "\ud800"}'])
def test_drop_says_what_is_wrong_and_moves_nothing(folder, broken):
    (folder / "pool.jsonl").write_text(broken)
    before = {path: path.read_bytes() for path in folder.glob("*.jsonl")}
    wanted = {
        "{": "pool.jsonl:1: broken JSON",
        "": "no file has a row of the query q9, wanted",
    }.get(broken, "pool.jsonl:1: found half of a character, wanted whole ones")
    with pytest.raises(evalset.EvalSetError, match=wanted) as caught:
        merge.drop_query(folder, "q1" if broken else "q9")
    assert len(caught.value.problems) == 1
    assert {path: path.read_bytes() for path in folder.glob("*.jsonl")} == before


def test_a_query_is_dropped_under_the_lock_of_the_log(folder, monkeypatch):
    monkeypatch.setattr(log, "LOCK_WAIT", 0.05)
    held = log.locked(folder / log.LOG)
    with pytest.raises(OSError, match="cannot be locked"):
        merge.drop_query(folder, "q1")
    held.lock.release()


# What is written, word for word.


def test_the_pool_of_the_folder_comes_before_a_list(folder):
    row = {"query_id": "q2", "doc_id": "disk-full", "rankers": ["hand"]}
    listed = [{"query_id": "q2", "doc_id": d} for d in ("queue-full", "x", "disk-full", "a")]
    evals = evalset.load(folder)
    wanted = [("q2", "a"), ("q2", "disk-full"), ("q2", "x")]
    assert merge.pairs_to_judge(evals, listed) == wanted
    write_rows(folder / "pool.jsonl", row)
    assert merge.pairs_to_judge(evals, listed) == [("q2", "disk-full")]


def test_labels_that_broke_meanwhile_are_named(folder):
    evals = evalset.load(folder)
    write_rows(folder / "judgments.jsonl", entry("q1", relevance=3), entry("q2"))
    with pytest.raises(evalset.EvalSetError, match=r"judgments.jsonl:1: field relevance is 3"):
        merge.pairs_to_judge(evals, [])
    assert merge.pairs_to_judge(evals._replace(grades=(0, 1, 2, 3)), []) == []


def test_conflicts_are_told_word_for_word_and_in_order(folder):
    other = {**entry("q2", "queue-full", 2), "evidence": "Add"}
    write_rows(folder / log.LOG, other, entry("q1", "queue-full"), entry("q1"))
    with pytest.raises(ValueError) as caught:
        merge.merge(evalset.load(folder))
    files = (folder / log.LOG, folder / "judgments.jsonl")
    assert str(caught.value).splitlines() == [
        f"query q1, document disk-full: {files[0]}:3 says 0, {files[1]}:1 says 2, wanted one "
        "grade for the pair",
        f"query q2, document queue-full: {files[0]}:1 says 2, {files[1]}:3 says 1, wanted one "
        "grade for the pair",
    ]
    (folder / "judgments.jsonl").unlink()
    with pytest.raises(ValueError) as caught:
        merge.merge(evalset.load(folder))
    table = folder / "retrieval_queries.jsonl"
    assert str(caught.value) == (
        f"query q1, document disk-full: {files[0]}:3 says 0, {table}:1 lists it as relevant "
        "(1 or more), wanted one grade for the pair"
    )


def test_judgments_are_written_behind_those_of_their_query(folder):
    third = {"query_id": "q3", "query": "logs", "relevant_doc_ids": []}
    write_rows(folder / "retrieval_queries.jsonl", *table(folder), third)
    old = labelled_sets.rows(folder / "judgments.jsonl")
    new = [{**entry("q3", "queue-full", 1), "evidence": "Add"}, entry("q3"), entry("q2")]
    write_rows(folder / log.LOG, *new)
    assert merge.merge(evalset.load(folder)) == 3
    pairs = [{"query_id": q, "doc_id": "disk-full", "relevance": 0} for q in ("q2", "q3")]
    found = {"query_id": "q3", "doc_id": "queue-full", "relevance": 1, "evidence": "Add"}
    assert labelled_sets.rows(folder / "judgments.jsonl") == [*old, *pairs, found]
    assert table(folder)[2] == {**third, "relevant_doc_ids": ["queue-full"]}


def test_labels_without_grades_become_rows_of_grade_1(folder):
    (folder / "judgments.jsonl").unlink()
    first, second = table(folder)
    both = {**first, "relevant_doc_ids": ["queue-full", "disk-full"]}
    write_rows(folder / "retrieval_queries.jsonl", both, second)
    write_rows(folder / log.LOG, {**entry("q1", relevance=2), "evidence": "Delete"}, entry("q2"))
    assert merge.merge(evalset.load(folder)) == 2
    assert labelled_sets.rows(folder / "judgments.jsonl") == [
        {"query_id": "q1", "doc_id": "queue-full", "relevance": 1},
        {"query_id": "q1", "doc_id": "disk-full", "relevance": 2, "evidence": "Delete"},
        {"query_id": "q2", "doc_id": "queue-full", "relevance": 1},
        {"query_id": "q2", "doc_id": "disk-full", "relevance": 0},
    ]
    assert table(folder) == [both, second]


def test_only_what_is_relevant_is_listed_and_behind_what_was():
    query = {"query_id": "q", "query": "x", "relevant_doc_ids": ["z"], "split": "dev"}
    rows = [("q", "b", 2), ("q", "a", 1), ("q", "c", 0), ("p", "d", 2), ("q", "z", 1)]
    names = ("query_id", "doc_id", "relevance")
    found = merge._with_relevant(query, [dict(zip(names, row, strict=True)) for row in rows])
    assert found == {**query, "relevant_doc_ids": ["z", "b", "a"]}


@pytest.mark.parametrize(
    ("query", "aside", "kind"),
    [
        ({"kind": "list"}, {}, "list"),
        ({}, {}, None),
        ({}, {"q": (True, "list")}, "none"),
        ({"kind": "list"}, {"q": (False, "other")}, "list"),
        ({"kind": "none"}, {"q": (False, "list")}, "list"),
        ({"kind": "none"}, {"q": (True, "list")}, "none"),
        ({"kind": "none"}, {}, "none"),
        ({"kind": "none"}, {"p": (False, "list")}, "none"),
        ({"kind": "none", "relevant_doc_ids": ["d"]}, {}, "unspecified"),
        ({"kind": "none", "relevant_doc_ids": ["d"]}, {"q": (True, "list")}, "list"),
        ({"relevant_doc_ids": ["d"]}, {"q": (True, "list")}, None),
    ],
)
def test_the_kind_that_a_query_gets(query, aside, kind):
    row = {"query_id": "q", "relevant_doc_ids": [], **query}
    assert merge._with_kind(row, aside) == {**row, **({"kind": kind} if kind else {})}


def test_nothing_is_written_where_nothing_is_new(folder, monkeypatch):
    write_rows(folder / log.LOG, entry("q1", "queue-full"))
    monkeypatch.setattr("helpers.files.write_all", None)
    assert merge.merge(evalset.load(folder)) == 0


def test_a_file_without_the_query_stays_as_it_is(folder):
    write_rows(folder / "pool.jsonl", {"query_id": "q2", "doc_id": "disk-full", "rankers": []})
    (folder / "pool.jsonl").write_text((folder / "pool.jsonl").read_text() + "\n\n")
    before = (folder / "pool.jsonl").read_bytes()
    merge.drop_query(folder, "q1")
    assert (folder / "pool.jsonl").read_bytes() == before
    assert not (folder / "negatives.jsonl").exists()


def test_the_problem_of_an_unknown_query_names_the_folder(folder):
    with pytest.raises(evalset.EvalSetError) as caught:
        merge.drop_query(folder, "q9")
    assert caught.value.problems == [
        f"{folder}: no file has a row of the query q9, wanted one of its ids"
    ]
    (folder / "dropped.jsonl").write_text("{\n")
    with pytest.raises(evalset.EvalSetError, match="dropped.jsonl:1: broken JSON"):
        merge.drop_query(folder, "q1")


def test_a_broken_undo_belongs_to_no_query(folder):
    row = {"undo": "q1"}
    write_rows(folder / log.LOG, row, entry("q1"))
    assert "labelling.jsonl: 1 row moved to dropped.jsonl" in merge.drop_query(folder, "q1")
    assert labelled_sets.rows(folder / log.LOG) == [row]


def test_drop_makes_no_folder_where_there_is_none(tmp_path):
    with pytest.raises(evalset.EvalSetError, match="gone: is no folder"):
        merge.drop_query(tmp_path / "gone", "q1")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["labelling.jsonl", "pool.jsonl"])
def test_drop_does_not_pass_over_a_link_whose_file_is_gone(folder, name):
    (folder / name).symlink_to("gone")
    with pytest.raises(evalset.EvalSetError, match=f"{name}:1: cannot be read"):
        merge.drop_query(folder, "q1")
