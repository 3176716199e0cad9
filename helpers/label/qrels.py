"""What a source's labels mean: which queries they keep, and which half each query is in."""

import re
from collections import Counter
from pathlib import Path

from ..measure import files, links
from ..measure.evalset import Document, EvalSet, Judgment, Query
from ..measure.files import EvalSetError
from . import halves
from .readers import Label, Source, Task, half_of

Labels = dict[str, dict[str, Label]]  # {query_id: {doc_id: label}}
PLACES = {"query": "queries", "document": "corpus"}
SMALLER = 0.25  # share of the queries that the smaller half must have, or groups are torn
USES = {"dev": "where failures are read", "test": "where final numbers come from"}


def read_labels(source: Source, task: Task) -> Labels:
    """Return the labels by query; the same pair may stand twice only with the same grade.

    Grades below 0 become 0: trec_eval too gives them no gain.
    """
    qrels: Labels = {}
    for label in source.labels or ():
        place, split, query_id, doc_id, grade, _ = label
        number = re.fullmatch(r"(-?\d{1,3})(\.0+)?", str(grade).strip())
        if not (number and query_id and doc_id):
            problem = f"grade is {str(grade).strip()!r}, wanted a whole number up to 999"
            task.problems += [] if number else [f"{place}: {problem}"]
            continue
        if int(number[1]) < 0:
            task.changed["grades below 0, which became 0"] += 1
        label = label._replace(grade=max(0, int(number[1])))
        row = qrels.setdefault(query_id, {})
        former, first = row.setdefault(doc_id, label), next(iter(row.values()))
        if first.split != split:
            there = f"query {query_id} is in {split} and at {first.place} in {first.split}"
            task.problems.append(f"{place}: {there}, wanted each query in one split")
        elif former.grade != label.grade:
            there = f"grade {label.grade} and at {former.place} grade {former.grade}"
            task.problems.append(f"{place}: {query_id} {doc_id} has {there}, wanted one")
        elif former.place != place:
            task.leave_out("pairs judged twice with one grade", place)
    return qrels


def count_common_ids(what: str, judged: dict, held: dict, source: Source, task: Task) -> str:
    """Return how many judged ids are there. Raises EvalSetError where none is: a wrong split."""
    number = sum(name in held for name in judged)
    line = f"{what} ids in the qrels: {len(judged)}, of them in the {PLACES[what]}: {number}"
    if held and not number:
        found = f"found {next(iter(judged))} in the qrels and {next(iter(held))} there"
        wanted = "wanted the same split and ids written the same way, leading zeros too"
        splits = f"splits found: {', '.join(source.splits) or 'unknown'}"
        raise EvalSetError([f"{task.source}: {line}; {found}, {wanted}; {splits}"])
    return line


def keep_answered(queries: dict[str, dict], qrels: Labels, held: set[str], task: Task) -> Labels:
    """Return the labels of known queries and documents, for queries with a relevant document."""
    kept = {}
    for query_id, row in qrels.items():
        first = next(iter(row.values())).place
        if query_id not in queries:
            task.leave_out("judged queries without a text", first)
            continue
        for label in row.values():
            if label.doc_id not in held:
                what = "relevant" if label.grade else "grade-0"
                task.leave_out(f"{what} labels of documents that are not there", label.place)
        row = {doc_id: label for doc_id, label in row.items() if doc_id in held}
        if any(label.grade for label in row.values()):
            kept[query_id] = row
        else:
            task.leave_out("judged queries without a relevant document", first)
    for query_id in (query_id for query_id in queries if query_id not in qrels):
        task.leave_out("queries without judgments", f"query {query_id}")
    return kept


def assign_halves(
    queries: dict[str, dict], kept: Labels, source: Source, halve: bool, folder: Path
) -> tuple[dict[str, str], str]:
    """Return {query_id: dev or test} and a sentence that says where the halves come from.

    The source's own splits count if it has both sides, read or not. Else, or with `halve`,
    halves are drawn.
    """
    splits = {query_id: next(iter(row.values())).split for query_id, row in kept.items()}
    read = sorted({*splits.values()})
    own = {query_id: half_of(split) for query_id, split in splits.items()}
    sides = {half_of(split) for split in (*source.splits, *read)}
    if halve or not {"dev", "test"} <= sides or None in own.values():
        drawn, sentence = _draw_halves(queries, kept, source, folder)
        return drawn, f"{sentence} ({', '.join(read)})"
    sentence = f"halves: the source's own ({', '.join(read)})"
    for half in {"dev", "test"} - {*own.values()}:
        other = next(split for split in source.splits if half_of(split) == half)
        sentence += f"; none is {half}, {USES[half]}: import with --split "
        sentence += f"{','.join([*read, other])}, or with --halve to draw halves from these queries"
    return own, sentence


def _draw_halves(queries: dict, kept: Labels, source: Source, folder: Path) -> tuple[dict, str]:
    """Return the halves of what is judged relevant, and how they were drawn, in words."""
    found, labels = {}, []
    for query_id, row in kept.items():
        own = [Judgment(query_id, d, label.grade) for d, label in row.items() if label.grade]
        found[query_id] = Query(query_id, queries[query_id]["query"], tuple(j.doc_id for j in own))
        labels += own
    relevant = {label.doc_id for label in labels}
    rows = (row for _, row in files.rows(folder / "corpus.jsonl") if row["doc_id"] in relevant)
    documents = {row["doc_id"]: Document(row["doc_id"], "", row["text"]) for row in rows}
    evals = EvalSet(folder, documents, found, labels, source.words)
    linked = links.alike_documents(evals)[1]
    groups = links.components(evals, linked)
    drawn, _ = halves.draw_halves(evals, groups, linked)
    largest, n = max(map(len, groups)), len(drawn)
    smaller = min(Counter(drawn.values()).values()) if n > largest else 0
    if smaller >= SMALLER * n or largest == 1:
        return drawn, "halves: drawn, queries that share a full answer in one"
    torn = [{query_id} for query_id in evals.queries]
    shared = f"shared answers connect {largest} of {n} queries, so the halves share some"
    return halves.draw_halves(evals, torn, linked)[0], f"halves: drawn; {shared}"
