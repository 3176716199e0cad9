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
        log = JudgmentLog(evals)
        given, table = latest(log.entries), _rows(evals.folder / QUERY_TABLE)
        graded = (evals.folder / JUDGMENTS).exists()
        stored = _stored(evals.folder, table, graded)
        _refuse_conflicts(given, stored, graded)
        new = {pair: given[pair] for pair in sorted(given) if not (graded and pair in stored)}
        judgments = _with_new(stored, new)
        queries = _with_kinds([row for _, row in table], judgments, log)
        turned = sum(row != query for (_, row), query in zip(table, queries, strict=True))
        if turned:
            files.write_jsonl(evals.folder / QUERY_TABLE, queries)
        if new:
            files.write_jsonl(evals.folder / JUDGMENTS, judgments)
    return len(new) + turned


def _rows(path: Path) -> list[tuple[str, dict]]:
    return list(files.rows(path))


def _stored(folder: Path, table: list[tuple[str, dict]], graded: bool) -> Stored:
    """Return the rows of judgments.jsonl, without that file rows of grade 1 for what is listed."""
    if graded:
        rows = _rows(folder / JUDGMENTS)
    else:
        rows = [
            (place, {"query_id": query["query_id"], "doc_id": doc_id, "relevance": 1})
            for place, query in table
            for doc_id in query["relevant_doc_ids"]
        ]
    return {(row["query_id"], row["doc_id"]): (place, row) for place, row in rows}


def _refuse_conflicts(given: dict[tuple[str, str], Entry], stored: Stored, graded: bool) -> None:
    conflicts = []
    for pair in sorted(given.keys() & stored.keys()):
        entry, (place, row) = given[pair], stored[pair]
        agrees = entry.relevance == row["relevance"] if graded else entry.relevance > 0
        known = f"says {row['relevance']}" if graded else "lists it as relevant (1 or more)"
        if not agrees:
            conflicts.append(
                f"query {pair[0]}, document {pair[1]}: {entry.place} says {entry.relevance}, "
                f"{place} {known}, wanted one grade for the pair"
            )
    if conflicts:
        raise ValueError("\n".join(conflicts))


def _with_new(stored: Stored, new: dict[tuple[str, str], Entry]) -> list[dict]:
    """Return the rows of judgments.jsonl with the new ones behind those of the same query."""
    rows = [row for pair, (_, row) in stored.items() if pair not in new]
    for entry in new.values():
        row = {"query_id": entry.query_id, "doc_id": entry.doc_id, "relevance": entry.relevance}
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
    "pool.jsonl",
    "second_pass.jsonl",
    "negatives.jsonl",
    LOG,
    PRACTICE,
    QUERY_TABLE,
)
DROPPED = "dropped.jsonl"


def drop_query(folder: Path, query_id: str) -> list[str]:
    """Move all rows of a query into dropped.jsonl; return a line for each file that had some.

    Each file is written whole, dropped.jsonl first: if the process is killed, the same command
    does the rest. Raises EvalSetError, and writes nothing, where no file names the query or one
    has a bad line.
    """
    if not folder.is_dir():
        raise evalset.EvalSetError([f"{folder}: is no folder, wanted an evaluation set"])
    problems: list[str] = []
    with locked(folder / LOG):
        dropped = _rows_of_people(folder / DROPPED, problems)
        kept, moved = {}, {}
        for name in NAMING:
            rows = _rows_of_people(folder / name, problems)
            moved[name] = [row for row in rows if _query_of(row) == query_id]
            kept[name] = [row for row in rows if _query_of(row) != query_id]
        taken = [name for name in NAMING if moved[name]]
        if not problems and not taken:
            problems.append(
                f"{folder}: no file has a row of the query {query_id}, wanted one of its ids"
            )
        if problems:
            raise evalset.EvalSetError(problems)
        there = set(map(json.dumps, dropped))  # also what a killed run has moved already
        new = [{"file": name, **row} for name in taken for row in moved[name]]
        dropped += [row for row in new if json.dumps(row) not in there]
        files.write_jsonl(folder / DROPPED, dropped)
        for name in taken:
            files.write_jsonl(folder / name, kept[name])
    return [
        f"{name}: {text.how_many(len(moved[name]), 'row')} moved to {DROPPED}" for name in taken
    ]


def _rows_of_people(path: Path, problems: list[str]) -> list[dict]:
    """Return the objects of a file as they stand: a set is repaired here, so it may not load."""
    return [row for _, row in files.rows(path, problems)] if os.path.lexists(path) else []


def _query_of(row: dict) -> object:
    """Return the query that a row is of; an undo is of the query of what it takes back."""
    undone = row.get("undo")
    return (undone if isinstance(undone, dict) else row).get("query_id")
