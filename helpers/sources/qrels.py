"""What a source's labels mean: which queries they keep, and which half each query is in."""

import hashlib
import re
from pathlib import Path

from .. import files, text
from ..files import EvalSetError
from .readers import Label, Log, Source, side

Labels = dict[str, dict[str, Label]]  # {query_id: {doc_id: label}}
PLACES = {"query": "queries", "document": "corpus"}
SMALLER = 0.25  # share of the queries that the smaller half must have, or groups are torn


def read_labels(source: Source, log: Log) -> Labels:
    """Return the labels by query; the same pair may stand twice only with the same grade.

    Grades below 0 become 0: trec_eval too gives them no gain.
    """
    qrels: Labels = {}
    for label in source.labels or ():
        grade = _grade(label, log)
        if grade is None:
            continue
        row = qrels.setdefault(label.query_id, {})
        former = row.setdefault(label.doc_id, label._replace(grade=grade))
        first = next(iter(row.values()))
        if first.split != label.split:
            log.problems.append(
                f"{label.place}: query {label.query_id} is in {label.split} and at {first.place} "
                f"in {first.split}, wanted each query in one split"
            )
        elif former.grade != grade:
            log.problems.append(
                f"{label.place}: {label.query_id} {label.doc_id} has grade {grade} and at "
                f"{former.place} grade {former.grade}, wanted one"
            )
        elif former.place != label.place:
            log.leave("pairs judged twice with one grade", label.place)
    return qrels


def _grade(label: Label, log: Log) -> int | None:
    value = str(label.grade).strip()
    number = re.fullmatch(r"(-?\d{1,3})(\.0+)?", value)
    if not number:
        log.problems.append(
            f"{label.place}: grade {value!r} is not a grade, wanted a whole number up to 999"
        )
        return None
    if int(number[1]) < 0:
        log.changed["grades below 0, which became 0"] += 1
    return max(0, int(number[1]))


def ids_in_common(what: str, judged: dict, held: dict, source: Source) -> str:
    """Return how many judged ids are there. Raises EvalSetError where none is: a wrong split."""
    there = sum(name in held for name in judged)
    line = f"{what} ids in the qrels: {len(judged)}, of them in the {PLACES[what]}: {there}"
    if held and not there:
        problem = (
            f"{line}; the qrels have {next(iter(judged))} and the like, the {PLACES[what]} "
            f"{next(iter(held))}, wanted qrels of the same split and ids written the same way, "
            f"with the same leading zeros; splits found: {', '.join(source.splits) or 'unknown'}"
        )
        raise EvalSetError([problem])
    return line


def keep(queries: dict[str, dict], qrels: Labels, held: set[str], log: Log) -> Labels:
    """Return the labels of known queries and documents, for queries with a relevant document."""
    kept = {}
    for query_id, row in qrels.items():
        first = next(iter(row.values())).place
        if query_id not in queries:
            log.leave("judged queries without a text", first)
            continue
        for label in row.values():
            if label.doc_id not in held:
                what = "relevant" if label.grade else "grade-0"
                log.leave(f"{what} labels of documents that are not there", label.place)
        there = {doc_id: label for doc_id, label in row.items() if doc_id in held}
        if any(label.grade for label in there.values()):
            kept[query_id] = there
        else:
            log.leave("judged queries without a relevant document", first)
    for query_id in queries:
        if query_id not in qrels:
            log.leave("queries without judgments", f"query {query_id}")
    return kept


def split(kept: Labels, source: Source, halve: bool, folder: Path) -> tuple[dict[str, str], str]:
    """Return {query_id: dev or test} and a sentence that says where the halves come from.

    The source's own splits count if it has both sides, read or not. Else, or with `halve`,
    halves are drawn.
    """
    own = {q: side(next(iter(row.values())).split) for q, row in kept.items()}
    read = sorted({label.split for row in kept.values() for label in row.values()})
    sides = {side(name) for name in (*source.splits, *read)}
    if halve or not {"dev", "test"} <= sides or None in own.values():
        return _drawn(kept, source, folder, ", ".join(read))
    sentence = f"halves: the source's own ({', '.join(read)})"
    for half in {"dev", "test"} - {*own.values()}:
        other = next(name for name in source.splits if side(name) == half)
        use = {"dev": "where failures are read", "test": "where final numbers come from"}[half]
        sentence += (
            f"; none is {half}, {use}: import with --split {','.join([*read, other])}, "
            "or with --halve to draw halves from these queries"
        )
    return own, sentence


def _drawn(kept: Labels, source: Source, folder: Path, read: str) -> tuple[dict[str, str], str]:
    answers = {d for row in kept.values() for d, label in row.items() if label.grade}
    rows = files.rows(folder / "corpus.jsonl", None)
    words = text.TOKENIZERS[source.words]
    groups = connected(
        kept, {row["doc_id"]: words(row["text"]) for _, row in rows if row["doc_id"] in answers}
    )
    halves, largest = deal(groups), max(map(len, groups))
    if list(halves.values()).count("test") >= SMALLER * len(kept) or largest == 1:
        return halves, f"halves: drawn by a hash, queries that share an answer in one ({read})"
    return deal([{query_id} for query_id in kept]), (
        f"halves: drawn by a hash ({read}); shared answers connect {largest} of "
        f"{len(kept)} queries, so the halves share some"
    )


def connected(kept: Labels, words: dict[str, list[str]]) -> list[set[str]]:
    """Return the groups of queries that share relevant documents, or such as count as one."""
    alike = text.near_duplicates(words, text.COPY)
    one = [pair for pair in alike if text.count_as_one(*(words[d] for d in pair))]
    answers = [
        [("query", q), *(("document", d) for d, label in row.items() if label.grade)]
        for q, row in kept.items()
    ]
    groups = text.merged([*answers, *([("document", d) for d in pair] for pair in one)])
    return [{name for what, name in group if what == "query"} for group in groups]


def deal(groups: list[set[str]]) -> dict[str, str]:
    """Return {query_id: dev or test}: each group, the largest first, goes to the smaller half.

    Groups of one size come by a hash of their first id: the same on every machine, and no order
    of the file matters.
    """
    halves: dict[str, set[str]] = {"dev": set(), "test": set()}
    by_hash = sorted(groups, key=lambda group: hashlib.sha256(min(group).encode()).hexdigest())
    for group in sorted(by_hash, key=len, reverse=True):
        min(halves.values(), key=len).update(group)
    return {query_id: half for half, queries in halves.items() for query_id in queries}
