"""Pairs to judge out of the folder, judgments of the log into it, a query out of all files."""

import operator
import os
from pathlib import Path

from .. import evalset, files, text
from .log import LOG, PRACTICE, Entry, entries, latest, locked, verdicts

JUDGMENTS, QUERY_TABLE = "judgments.jsonl", "retrieval_queries.jsonl"


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
    held = {(row["query_id"], row["doc_id"]) for _, row in _stored(evals, JUDGMENTS)}
    pairs = sorted({(row["query_id"], row["doc_id"]) for row in pooled} - held)
    return pairs + [(query_id, "") for query_id in evals.waiting]


def _stored(evals: evalset.EvalSet, name: str) -> list[tuple[str, dict]]:
    """Return (place, object) of each line of a label file; [] where the file is missing."""
    problems = files.Problems()
    found = list(files.read(evals.folder / name, problems.append, evals.grades))
    if problems:
        raise evalset.EvalSetError(problems)
    return found


def merge(evals: evalset.EvalSet) -> int:
    """Add the log's judgments to judgments.jsonl and relevant_doc_ids; return how many were new.

    A query that the log sets aside gets the kind none, one that it takes back its former kind.
    Without judgments.jsonl the relevant_doc_ids count as 1 or more, as evalset.load takes them.
    Both files change or none, also when the process is killed meanwhile. Raises ValueError, and
    writes nothing, where a pair has another grade already.
    """
    with locked(evals.folder / LOG):
        return _merge(evalset.load(evals.folder))  # the files may be newer than what is held


def _merge(evals: evalset.EvalSet) -> int:
    given, known = latest(entries(evals)), _known_grades(evals)
    conflicts = [
        f"query {pair[0]}, document {pair[1]}: {entry.place} says {entry.relevance}, "
        f"{known[pair][1]}, wanted one grade for the pair"
        for pair, entry in sorted(given.items())
        if pair in known and entry.relevance not in known[pair][0]
    ]
    if conflicts:
        raise ValueError("\n".join(conflicts))
    graded = (evals.folder / JUDGMENTS).exists()
    new = {pair: given[pair] for pair in sorted(given) if not (graded and pair in known)}
    rows, aside = _with_new(evals, new), verdicts(evals)
    table = [row for _, row in _stored(evals, QUERY_TABLE)]
    queries = [_with_kind(_with_relevant(row, rows), aside) for row in table]
    kinds = [[row.get("kind") for row in rows_of] for rows_of in (table, queries)]
    turned = sum(map(operator.ne, *kinds))
    if new or turned:
        tables = {JUDGMENTS: rows} if new else {}
        files.write_all(evals.folder, _table_texts({**tables, QUERY_TABLE: queries}))
    return len(new) + turned


def _known_grades(evals: evalset.EvalSet) -> dict[tuple[str, str], tuple[set[int], str]]:
    """Return {pair: (grades that agree with what the folder says, where it says so)}."""
    if (evals.folder / JUDGMENTS).exists():
        return {
            (row["query_id"], row["doc_id"]): (
                {row["relevance"]},
                f"{place} says {row['relevance']}",
            )
            for place, row in _stored(evals, JUDGMENTS)
        }
    return {
        (row["query_id"], doc_id): (
            {*evals.grades} - {0},
            f"{place} lists it as relevant (1 or more)",
        )
        for place, row in _stored(evals, QUERY_TABLE)
        for doc_id in row["relevant_doc_ids"]
    }


def _table_texts(tables: dict[str, list[dict]]) -> dict[str, str]:
    return {name: files.as_lines(rows) for name, rows in tables.items()}


def _with_new(evals: evalset.EvalSet, new: dict[tuple[str, str], Entry]) -> list[dict]:
    """Return the rows of judgments.jsonl with the new ones behind those of the same query."""
    rows = [row for _, row in _stored(evals, JUDGMENTS)] or [
        {"query_id": q.query_id, "doc_id": doc_id, "relevance": 1}
        for q in evals.queries.values()
        for doc_id in q.relevant_doc_ids
        if (q.query_id, doc_id) not in new
    ]
    for entry in new.values():
        row = {"query_id": entry.query_id, "doc_id": entry.doc_id, "relevance": entry.relevance}
        rows.append({**row, "evidence": entry.evidence} if entry.evidence else row)
    order = {query_id: n for n, query_id in enumerate(dict.fromkeys(r["query_id"] for r in rows))}
    return sorted(rows, key=lambda row: order[row["query_id"]])


def _with_relevant(query: dict, rows: list[dict]) -> dict:
    """Return the row of a query whose relevant_doc_ids also name what is judged 1 or more."""
    judged = [
        row["doc_id"]
        for row in rows
        if row["query_id"] == query["query_id"] and row["relevance"] > 0
    ]
    return {**query, "relevant_doc_ids": list(dict.fromkeys([*query["relevant_doc_ids"], *judged]))}


def _with_kind(query: dict, aside: dict[str, tuple[bool, str]]) -> dict:
    """Return the row of a query with the kind that the log gives it; a relevant document wins."""
    is_none = query.get("kind") == files.NO_ANSWER
    stands, former = aside.get(query["query_id"], (is_none, "unspecified"))
    if stands and not query["relevant_doc_ids"]:
        return {**query, "kind": files.NO_ANSWER}
    return {**query, "kind": former} if is_none else query


# A query out of all files.

NAMING = (
    QUERY_TABLE,
    JUDGMENTS,
    "pool.jsonl",
    "second_pass.jsonl",
    "negatives.jsonl",
    LOG,
    PRACTICE,
)
DROPPED = "dropped.jsonl"


def drop_query(folder: Path, query_id: str) -> list[str]:
    """Move all rows of a query into dropped.jsonl; return a line for each file that had some.

    All files change or none. Raises EvalSetError, and writes nothing, where no file names the
    query or one has a bad line.
    """
    if not folder.is_dir():
        raise evalset.EvalSetError([f"{folder}: is no folder, wanted an evaluation set"])
    problems = files.Problems()
    with locked(folder / LOG):
        files.settle(folder)
        earlier = _rows(folder / DROPPED, problems)
        held = {name: _parted(folder / name, query_id, problems) for name in NAMING}
        taken = {name: rows for name, (rows, _) in held.items() if rows}
        if not problems and not taken:
            problems.append(
                f"{folder}: no file has a row of the query {query_id}, wanted one of its ids"
            )
        if problems:
            raise evalset.EvalSetError(problems)
        moved = [{"file": name, **row} for name, rows in taken.items() for row in rows]
        kept = {name: held[name][1] for name in taken}
        files.write_all(folder, _table_texts({DROPPED: earlier + moved, **kept}))
    return [
        f"{name}: {text.how_many(len(rows), 'row')} moved to {DROPPED}"
        for name, rows in taken.items()
    ]


def _rows(path: Path, problems: list[str]) -> list[dict]:
    found = [*files.rows(path, problems.append)] if os.path.lexists(path) else []
    halves = (place for place, row in found if files.has_half([*row.values()]))
    problems += [f"{place}: found half of a character, wanted whole ones" for place in halves]
    return [row for _, row in found]


def _parted(path: Path, query_id: str, problems: list[str]) -> tuple[list[dict], list[dict]]:
    """Return the rows of a file that are of the query, and the others; an undo is of its query."""
    parts: tuple[list, list] = ([], [])
    for row in _rows(path, problems):
        undone = row.get("undo")
        named = undone if isinstance(undone, dict) else row
        parts[named.get("query_id") != query_id].append(row)
    return parts
