"""What a source's labels mean: which queries they keep, and which half each query is in."""

import hashlib
import re
from pathlib import Path

from .. import files, text
from ..files import EvalSetError
from ..labels import links
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


def count_common_ids(what: str, judged: dict, held: dict, source: Source) -> str:
    """Return how many judged ids are there. Raises EvalSetError where none is: a wrong split."""
    number = sum(name in held for name in judged)
    line = f"{what} ids in the qrels: {len(judged)}, of them in the {PLACES[what]}: {number}"
    if held and not number:
        found = f"found {next(iter(judged))} in the qrels and {next(iter(held))} there"
        wanted = "wanted the same split and ids written the same way, leading zeros too"
        splits = f"splits found: {', '.join(source.splits) or 'unknown'}"
        raise EvalSetError([f"{line}; {found}, {wanted}; {splits}"])
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
    kept: Labels, source: Source, halve: bool, folder: Path
) -> tuple[dict[str, str], str]:
    """Return {query_id: dev or test} and a sentence that says where the halves come from.

    The source's own splits count if it has both sides, read or not. Else, or with `halve`,
    halves are drawn.
    """
    splits = {query_id: next(iter(row.values())).split for query_id, row in kept.items()}
    read = sorted({*splits.values()})
    halves = {query_id: half_of(split) for query_id, split in splits.items()}
    sides = {half_of(split) for split in (*source.splits, *read)}
    if halve or not {"dev", "test"} <= sides or None in halves.values():
        return _draw_halves(kept, source, folder, ", ".join(read))
    sentence = f"halves: the source's own ({', '.join(read)})"
    for half in {"dev", "test"} - {*halves.values()}:
        other = next(split for split in source.splits if half_of(split) == half)
        sentence += f"; none is {half}, {USES[half]}: import with --split "
        sentence += f"{','.join([*read, other])}, or with --halve to draw halves from these queries"
    return halves, sentence


def _draw_halves(kept: Labels, source: Source, folder: Path, read: str) -> tuple[dict, str]:
    answers = {q: [d for d, label in row.items() if label.grade] for q, row in kept.items()}
    relevant = {doc_id for doc_ids in answers.values() for doc_id in doc_ids}
    rows = (row for _, row in files.rows(folder / "corpus.jsonl") if row["doc_id"] in relevant)
    words = {row["doc_id"]: text.TOKENIZERS[source.words](row["text"]) for row in rows}
    pairs = text.near_duplicates(words, text.COPY)
    copies = [(a, b) for a, b in pairs if text.count_as_one(words[a], words[b])]
    groups = links.query_groups(answers, copies)
    halves, largest = deal_halves(groups), max(map(len, groups))
    if list(halves.values()).count("test") >= SMALLER * len(kept) or largest == 1:
        return halves, f"halves: drawn by a hash, queries that share an answer in one ({read})"
    shared = f"shared answers connect {largest} of {len(kept)} queries, so the halves share some"
    return deal_halves(
        [{query_id} for query_id in kept]
    ), f"halves: drawn by a hash ({read}); {shared}"


def deal_halves(groups: list[set[str]]) -> dict[str, str]:
    """Return {query_id: dev or test}: each group, the largest first, goes to the smaller half.

    Groups of one size come by a hash of their first id: the same on every machine, and no order
    of the file matters.
    """
    halves: dict[str, set[str]] = {"dev": set(), "test": set()}
    by_hash = sorted(groups, key=lambda group: hashlib.sha256(min(group).encode()).hexdigest())
    for group in sorted(by_hash, key=len, reverse=True):
        min(halves.values(), key=len).update(group)
    return {query_id: half for half, queries in halves.items() for query_id in queries}
