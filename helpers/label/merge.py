"""Pairs to judge out of the folder, judgments of the log into it, a query out of all files."""

import os
from collections import Counter
from pathlib import Path

from ..measure import evalset, files, reading
from ..measure.installation import command
from ..measure.text import Pair, how_many
from .log import LOG, PRACTICE, Entry, kept_entries, latest, lock_log, read

JUDGMENTS, QUERY_TABLE, DROPPED = "judgments.jsonl", "retrieval_queries.jsonl", "dropped.jsonl"
NAMING = (  # files whose rows name a query; its own table last, so that a killed drop goes on
    *(JUDGMENTS, "pool.jsonl", "second_pass.jsonl", "negatives.jsonl", "judge.jsonl"),
    *(reading.TO_READ, LOG, PRACTICE, QUERY_TABLE),
)


def pairs_to_judge(evals: evalset.EvalSet, pooled: list[dict] | None = None) -> list[Pair]:
    """Return the pooled pairs that judgments.jsonl does not hold yet, and those to read, sorted.

    The pool is pool.jsonl; without that file `pooled`, or else what the rankers find. A last
    (query_id, "") for each query that waits asks whether no document answers it.
    """
    if os.path.lexists(evals.folder / "pool.jsonl"):
        pooled = evalset.read_extra(evals, "pool.jsonl")
    elif pooled is None:
        from . import pooling  # takes two seconds to import, and only this case needs it

        pooled = pooling.pool(pooling.by_ranker(evals))
    labelled = {label[:2] for label in evals.judgments} if _is_graded(evals) else set()
    unlabelled = {(row["query_id"], row["doc_id"]) for row in pooled} - labelled
    pairs = sorted(unlabelled | {*reading.waiting(evals)})
    return pairs + [(query_id, "") for query_id in evals.waiting]


def merge(evals: evalset.EvalSet) -> int:
    """Add the log's judgments to judgments.jsonl; return how many were new.

    A query that the log sets aside gets the kind none, one that it takes back its former kind.
    Kinds are written first and judgments last, each file whole: if the process is killed between
    them, the folder loads, and the next merge does the rest. Raises ValueError, and writes
    nothing, where a pair has another grade already.
    """
    folder = evals.folder
    with lock_log(folder / LOG):
        evals = evalset.load(folder)  # the files may be newer than what is held
        log, table = read(evals), [row for _, row in files.rows(folder / QUERY_TABLE)]
        new = _new_judgments(evals, latest(kept_entries(log)))
        judgments = _with_new(evals, new)
        queries = _with_kinds(table, judgments, log)
        changed = sum(query != row for query, row in zip(queries, table, strict=True))
        if changed:
            files.write_jsonl(folder / QUERY_TABLE, queries)
        if new:
            files.write_jsonl(folder / JUDGMENTS, judgments)
    return len(new) + changed


def refuse_losses(evals: evalset.EvalSet) -> None:
    """Raise EvalSetError where labels stand only in the list to read or in the log."""
    former = ["relevance" in row for row in reading.waiting(evals).values()]
    entries, folder = kept_entries(read(evals)), evals.folder
    left = [*_new_judgments(evals, latest(entries))]
    left += [e for e in entries if not e.doc_id and e.query_id in evals.waiting]
    faults = [f"{reading.TO_READ}: {how_many(sum(former), 'label')} to be read"] * any(former)
    unmerged = f"{LOG}: {how_many(len(left), 'label')} not in {JUDGMENTS} (click Finish)"
    faults += [unmerged] * bool(left)
    remedy = f"judge them first, or they are lost: {command('lab', EVALS=folder)}"
    files.refuse([f"{folder / fault}; {remedy}" for fault in faults])


def _is_graded(evals: evalset.EvalSet) -> bool:
    """Return whether labels have grades; else what is listed is relevant, 1 or more."""
    return (evals.folder / JUDGMENTS).exists()


def _new_judgments(evals: evalset.EvalSet, given: dict[Pair, Entry]) -> dict[Pair, Entry]:
    """Return what the set does not hold with a grade. Raises ValueError for other grades."""
    grades = {label[:2]: label.relevance for label in evals.judgments}
    graded, new, conflicts = _is_graded(evals), {}, []
    for pair, entry in sorted(given.items()):
        if pair not in grades or (entry.relevance and not graded):
            new[pair] = entry
        elif entry.relevance != grades[pair]:
            says = f"{JUDGMENTS} says {grades[pair]}" if graded else f"{QUERY_TABLE} lists it"
            conflicts.append(
                f"{entry.place}: query {pair[0]}, document {pair[1]}: field relevance is "
                f"{entry.relevance} and {says}, wanted one grade for the pair"
            )
    files.refuse(conflicts)
    return new


def _with_new(evals: evalset.EvalSet, new: dict[Pair, Entry]) -> list[dict]:
    """Return the rows of judgments.jsonl with the new ones behind those of the same query."""
    if _is_graded(evals):
        rows = [row for _, row in files.rows(evals.folder / JUDGMENTS)]
    else:
        listed = (label for label in evals.judgments if label[:2] not in new)
        rows = [{"query_id": q, "doc_id": d, "relevance": 1} for q, d, *_ in listed]
    for entry in new.values():
        names = ("query_id", "doc_id", "relevance", "evidence")[: 4 if entry.evidence else 3]
        rows.append({name: getattr(entry, name) for name in names})
    order = {query_id: n for n, query_id in enumerate(dict.fromkeys(r["query_id"] for r in rows))}
    return sorted(rows, key=lambda row: order[row["query_id"]])


def _with_kinds(table: list[dict], judgments: list[dict], log: list[tuple]) -> list[dict]:
    """Return the rows of the queries with the kinds that the log gives; a relevant document wins.

    A kind none that nobody remembers another for, and that is none no more, is unspecified.
    """
    answered = {row["query_id"] for row in judgments if row["relevance"]}
    aside = {entry.query_id for entry in kept_entries(log) if not entry.doc_id}
    former = {  # kind before of all that were ever set aside, also of those taken back
        row["query_id"]: row.get("kind", "unspecified")
        for _, row in log
        if row.get("doc_id") == "" and row.get("kind") != files.NO_ANSWER
    }
    queries = []
    for row in table:
        query_id, was_none = row["query_id"], row.get("kind") == files.NO_ANSWER
        is_none = query_id in aside if query_id in former else was_none
        is_none = is_none and query_id not in answered
        kind = files.NO_ANSWER if is_none else former.get(query_id, "unspecified")
        queries.append(row if is_none == was_none else {**row, "kind": kind})
    return queries


def drop_query(folder: Path, query_id: str) -> list[str]:
    """Move all rows of a query into dropped.jsonl; return a line for each file that had some.

    The set may not load: it is repaired here. Each file is written whole, dropped.jsonl first: if
    the process is killed, the same command does the rest. Raises EvalSetError, and writes nothing,
    where no file names the query or one has a bad line.
    """
    if not folder.is_dir():
        raise evalset.EvalSetError([f"{folder}: is no folder, wanted an evaluation set"])
    _rows_to_drop(folder, query_id)  # what is refused leaves no lock
    with lock_log(folder / LOG):
        rows, own = _rows_to_drop(folder, query_id)
        dropped = rows.pop(DROPPED, [])
        moved = [{"file": name, **row} for name, row in own]
        dropped += [row for row in moved if row not in dropped]  # a killed run may have begun
        files.write_jsonl(folder / DROPPED, dropped)
        counts = Counter(name for name, _ in own)
        for name in counts:
            files.write_jsonl(folder / name, (r for r in rows[name] if _query_of(r) != query_id))
    return [f"{name}: {how_many(counts[name], 'row')} moved to {DROPPED}" for name in counts]


def _rows_to_drop(folder: Path, query_id: str) -> tuple[dict[str, list[dict]], list[tuple]]:
    """Return {file: its rows} and (file, row) of those of a query. Raises EvalSetError."""
    problems: list[str] = []
    rows = {
        name: [row for _, row in files.rows(folder / name, problems)]
        for name in (DROPPED, *NAMING)
        if os.path.lexists(folder / name)
    }
    named = [(name, row) for name in NAMING for row in rows.get(name, [])]
    own = [(name, row) for name, row in named if _query_of(row) == query_id]
    if not own and not problems:
        problems.append(f"{folder}: no file has a row of the query {query_id}, wanted its id")
    files.refuse(problems)
    return rows, own


def _query_of(row: dict) -> object:
    """Return the query that a row is of; an undo is of the query of what it takes back."""
    undone = row.get("undo")
    return (undone if isinstance(undone, dict) else row).get("query_id")
