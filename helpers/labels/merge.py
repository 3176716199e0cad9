"""Pairs to judge out of the folder, judgments of the log into it, a query out of all files."""

import json
import os
from pathlib import Path

from .. import evalset, files, text
from .log import LOG, PRACTICE, Entry, JudgmentLog, latest, locked

JUDGMENTS, QUERY_TABLE = "judgments.jsonl", "retrieval_queries.jsonl"
Stored = dict[tuple[str, str], tuple[str, dict]]  # of each pair its file:line and its row


def pairs_to_judge(
    evals: evalset.EvalSet, pooled: list[dict] | None = None
) -> list[tuple[str, str]]:
    """Return the pooled pairs that judgments.jsonl does not hold yet, sorted.

    The pool is pool.jsonl; without that file `pooled`, or else what the rankers find. A last
    (query_id, "") for each query that waits asks whether no document answers it.
    """
    if os.path.lexists(evals.folder / "pool.jsonl"):
        pooled = evalset.read_extra(evals, "pool.jsonl")
    elif pooled is None:
        from . import pooling  # takes two seconds to import, and only this case needs it

        pooled = pooling.pool(pooling.by_ranker(evals))
    graded = (evals.folder / JUDGMENTS).exists()  # else the labels are lists without a grade
    held = {(label.query_id, label.doc_id) for label in evals.judgments} if graded else set()
    pairs = sorted({(row["query_id"], row["doc_id"]) for row in pooled} - held)
    return pairs + [(query_id, "") for query_id in evals.waiting]


# The judgments of the log into the folder.


def merge(evals: evalset.EvalSet) -> int:
    """Add the log's judgments to judgments.jsonl; return how many were new.

    A query that the log sets aside gets the kind none, one that it takes back its former kind.
    Without judgments.jsonl the relevant_doc_ids count as 1 or more, as evalset.load takes them.
    Kinds are written first and judgments last, each file whole: if the process is killed between
    them, the folder loads, and the next merge does the rest. Raises ValueError, and writes
    nothing, where a pair has another grade already.
    """
    with locked(evals.folder / LOG):
        evals = evalset.load(evals.folder)  # the files may be newer than what is held
        log, table = JudgmentLog(evals), list(files.rows(evals.folder / QUERY_TABLE))
        graded = (evals.folder / JUDGMENTS).exists()
        stored = _stored(evals.folder, table, graded)
        given = dict(sorted(latest(log.entries).items()))
        conflicts = _conflicts(given, stored, graded)
        if conflicts:
            raise ValueError("\n".join(conflicts))
        new = {pair: given[pair] for pair in given if not (graded and pair in stored)}
        judgments = _with_new(stored, new)
        queries = _with_kinds([row for _, row in table], judgments, log)
        turned = sum(row != query for (_, row), query in zip(table, queries, strict=True))
        if turned:
            files.write_jsonl(evals.folder / QUERY_TABLE, queries)
        if new:
            files.write_jsonl(evals.folder / JUDGMENTS, judgments)
    return len(new) + turned


def _stored(folder: Path, table: list[tuple[str, dict]], graded: bool) -> Stored:
    """Return the rows of judgments.jsonl, without that file rows of grade 1 for what is listed."""
    rows = (
        files.rows(folder / JUDGMENTS)
        if graded
        else (
            (place, {"query_id": query["query_id"], "doc_id": doc_id, "relevance": 1})
            for place, query in table
            for doc_id in query["relevant_doc_ids"]
        )
    )
    return {(row["query_id"], row["doc_id"]): (place, row) for place, row in rows}


def _conflicts(given: dict[tuple[str, str], Entry], stored: Stored, graded: bool) -> list[str]:
    """Return a line for each pair with two grades; what is only listed may be 1 or more."""
    conflicts = []
    for (query_id, doc_id), entry in given.items():
        place, row = stored.get((query_id, doc_id), ("", {}))
        says = f"says {row.get('relevance')}" if graded else "lists it as relevant (1 or more)"
        agrees = entry.relevance == row.get("relevance") if graded else entry.relevance > 0
        if row and not agrees:
            conflicts.append(
                f"query {query_id}, document {doc_id}: {entry.place} says {entry.relevance}, "
                f"{place} {says}, wanted one grade for the pair"
            )
    return conflicts


def _with_new(stored: Stored, new: dict[tuple[str, str], Entry]) -> list[dict]:
    """Return the rows of judgments.jsonl with the new ones behind those of the same query."""
    rows = [row for pair, (_, row) in stored.items() if pair not in new]
    for (query_id, doc_id), entry in new.items():
        row = {"query_id": query_id, "doc_id": doc_id, "relevance": entry.relevance}
        rows.append({**row, "evidence": entry.evidence} if entry.evidence else row)
    order = {query_id: n for n, query_id in enumerate(dict.fromkeys(r["query_id"] for r in rows))}
    return sorted(rows, key=lambda row: order[row["query_id"]])


def _with_kinds(queries: list[dict], judgments: list[dict], log: JudgmentLog) -> list[dict]:
    """Return the rows of the queries with the kinds that the log gives; a relevant document wins.

    A kind none that nobody remembers another for, and that is none no more, is unspecified.
    """
    answered = {row["query_id"] for row in judgments if row["relevance"]}
    aside = {entry.query_id for entry in log.entries if not entry.doc_id}
    former = {  # kind before of all that were ever set aside, also of those taken back
        row["query_id"]: row.get("kind", "unspecified")
        for _, row in log.rows
        if row.get("doc_id") == "" and row.get("kind") != files.NO_ANSWER
    }
    rows = []
    for query in queries:
        query_id, is_none = query["query_id"], query.get("kind") == files.NO_ANSWER
        stands = query_id in aside if query_id in former else is_none
        if stands and query_id not in answered:
            query = {**query, "kind": files.NO_ANSWER}
        elif is_none:
            query = {**query, "kind": former.get(query_id, "unspecified")}
        rows.append(query)
    return rows


# A query out of all files.

NAMING = (  # the query table last: until it is written, the same command finds the query again
    JUDGMENTS,
    *("pool.jsonl", "second_pass.jsonl", "negatives.jsonl"),
    *(LOG, PRACTICE, QUERY_TABLE),
)
DROPPED = "dropped.jsonl"


def drop_query(folder: Path, query_id: str) -> list[str]:
    """Move all rows of a query into dropped.jsonl; return a line for each file that had some.

    The set may not load: it is repaired here. Each file is written whole, dropped.jsonl first: if
    the process is killed, the same command does the rest. Raises EvalSetError, and writes nothing,
    where no file names the query or one has a bad line.
    """
    if not folder.is_dir():
        raise evalset.EvalSetError([f"{folder}: is no folder, wanted an evaluation set"])
    problems: list[str] = []
    with locked(folder / LOG):
        rows = {
            name: [row for _, row in files.rows(folder / name, problems)]
            for name in (*NAMING, DROPPED)
            if os.path.lexists(folder / name)
        }
        dropped = rows.pop(DROPPED, [])
        own = {name: [row for row in rows[name] if _query_of(row) == query_id] for name in rows}
        named = [name for name in own if own[name]]
        if not problems and not named:
            wanted = "wanted one of its ids"
            problems.append(f"{folder}: no file has a row of the query {query_id}, {wanted}")
        if problems:
            raise evalset.EvalSetError(problems)
        moved = [{"file": name, **row} for name in named for row in own[name]]
        there = set(map(json.dumps, dropped))  # what a killed run has moved already
        new = [row for row in moved if json.dumps(row) not in there]
        files.write_jsonl(folder / DROPPED, [*dropped, *new])
        for name in named:
            files.write_jsonl(folder / name, (r for r in rows[name] if _query_of(r) != query_id))
    return [f"{name}: {text.how_many(len(own[name]), 'row')} moved to {DROPPED}" for name in named]


def _query_of(row: dict) -> object:
    """Return the query that a row is of; an undo is of the query of what it takes back."""
    undone = row.get("undo")
    return (undone if isinstance(undone, dict) else row).get("query_id")
