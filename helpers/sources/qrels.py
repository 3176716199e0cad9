"""What a source's labels mean: whose they are, which queries they keep, which half each is in."""

import hashlib
import re
from pathlib import Path

from .. import files, text
from ..files import EvalSetError
from .readers import Label, Log, Source, side

Labels = dict[str, dict[str, Label]]  # {query_id: {doc_id: label}}
PLACES = {"query": "queries", "document": "corpus"}
SMALLER = 0.25  # share of the queries that the smaller half must have, or groups are torn


def is_new(place: str, key: str, name: str, places: dict, log: Log) -> bool:
    """Return whether `key` is new; one that stands twice is a problem with both lines."""
    if key in places:
        log.wrong(f"{place}: {name} {key} stands already at {places[key]}, wanted each once")
        return False
    places[key] = place
    return True


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
            log.wrong(
                f"{label.place}: query {label.query_id} is in {label.split} and at {first.place} "
                f"in {first.split}, wanted each query in one split"
            )
        elif former.grade != grade:
            log.wrong(
                f"{label.place}: {label.query_id} {label.doc_id} has grade {grade} and at "
                f"{former.place} grade {former.grade}, wanted one"
            )
        elif former.place != label.place:
            log.leave("pairs judged twice with one grade", label.place)
    return qrels


def _grade(label: Label, log: Log) -> int | None:
    text = str(label.grade).strip()
    number = re.fullmatch(r"(-?\d{1,3})(\.0+)?", text)
    if not number:
        log.wrong(f"{label.place}: grade {text!r} is not a grade, wanted a whole number up to 999")
        return None
    grade = int(number[1])
    if grade < 0:
        log.changed["grades below 0, which became 0"] += 1
        return 0
    return grade


def ids_in_common(what: str, judged: dict, held: dict, source: Source) -> list[str]:
    """Return how many judged ids are there. Raises EvalSetError where none is: a wrong split."""
    present = [name for name in judged if name in held]
    found = f"{what} ids in the qrels: {len(judged)}, of them in the {PLACES[what]}: {len(present)}"
    if not present and held:
        offer = ", ".join(source.splits) or "unknown"
        raise EvalSetError(
            [
                f"{found}; the qrels have {next(iter(judged))} and the like, the {PLACES[what]} "
                f"{next(iter(held))}, wanted qrels of the same split and ids written "
                f"the same way; splits found: {offer}",
                *_padded(what, judged, held),
            ]
        )
    return [found, *_shifted(what, judged, held), *_padded(what, judged, held)]


def bare(name: str) -> str:
    """Return an id without leading zeros where it is a number: 1 for 001, nothing for 0."""
    return name.lstrip("0") if name.isdecimal() else name


def without_padding(qrels: Labels, queries: dict[str, dict], log: Log) -> Labels:
    """Return the labels under the ids of the queries where they differ by leading zeros only.

    An id that could be two queries, or a query that has labels already, stays as it is.
    """
    written: dict[str, list[str]] = {}
    for query_id in queries:
        written.setdefault(bare(query_id), []).append(query_id)
    named: Labels = {}
    for query_id, row in qrels.items():
        own = written.get(bare(query_id), [])
        free = len(own) == 1 and own[0] not in {*qrels, *named}
        named[own[0] if free else query_id] = row
        if free and not log.said:
            log.said.append(
                f"changed: query ids have leading zeros in one file only, such as {query_id} in "
                f"the qrels and {own[0]} in the queries; they were taken as the same"
            )
    return named


def _padded(what: str, judged: dict, held: dict) -> list[str]:
    """Return a warning where ids that are not there would be without their leading zeros."""
    written = {bare(name): name for name in held}
    wrong = [name for name in judged if name not in held and bare(name) in written]
    if not wrong:
        return []
    return [
        f"warning: {what} ids differ by leading zeros, such as {wrong[0]} in the qrels and "
        f"{written[bare(wrong[0])]} in the {PLACES[what]} ({len(wrong)} of {len(judged)}): "
        "write them alike in both files and import again"
    ]


def _shifted(what: str, judged: dict, held: dict) -> list[str]:
    """Return a warning where one of two numberings starts at 0 and the other at 1."""
    if not all(name.isdecimal() for name in (*judged, *held)) or not held:
        return []
    (low, high), (first, last) = (
        (min(map(int, ids)), max(map(int, ids))) for ids in (judged, held)
    )
    if low == first - 1 or high == last + 1:
        return [
            f"warning: {what} ids run from {low} to {high} in the qrels and from {first} to {last} "
            "in the file: does one count from 0 and the other from 1? Then all labels are wrong"
        ]
    return []


def keep(queries: dict[str, dict], qrels: Labels, held: set[str], log: Log) -> Labels:
    """Return the labels of known queries and documents, for queries with a relevant document."""
    kept = {}
    for query_id, row in qrels.items():
        if query_id not in queries:
            log.leave("judged queries without a text", next(iter(row.values())).place)
            continue
        for label in row.values():
            if label.doc_id not in held:
                what = "relevant" if label.grade else "grade-0"
                log.leave(f"{what} labels of documents that are not there", label.place)
        there = {doc_id: label for doc_id, label in row.items() if doc_id in held}
        if any(label.grade for label in there.values()):
            kept[query_id] = there
        else:
            log.leave("judged queries without a relevant document", next(iter(row.values())).place)
    for query_id in queries:
        if query_id not in qrels:
            log.leave("queries without judgments", f"query {query_id}")
    return kept


def split(
    kept: Labels, source: Source, halve: bool, folder: Path
) -> tuple[dict[str, str], list[str]]:
    """Return {query_id: dev or test} and a sentence that says where the halves come from.

    The source's own splits count if it has both sides, read or not. Else, or with `halve`,
    halves are drawn.
    """
    own = {q: side(next(iter(row.values())).split) for q, row in kept.items()}
    read = sorted({label.split for row in kept.values() for label in row.values()})
    sides = {side(name) for name in (*source.splits, *read)}
    if not kept or halve or not {"dev", "test"} <= sides or None in own.values():
        return _drawn(kept, source, folder, ", ".join(read)) if kept else ({}, [])
    said = f"halves: the source's own ({', '.join(read)})"
    for half in {"dev", "test"} - {*own.values()}:
        other = next(name for name in source.splits if side(name) == half)
        use = {"dev": "where failures are read", "test": "where final numbers come from"}[half]
        said += (
            f"; none is {half}, {use}: import with --split {','.join([*read, other])}, "
            "or with --halve to draw halves from these queries"
        )
    return own, [said]


def _drawn(
    kept: Labels, source: Source, folder: Path, read: str
) -> tuple[dict[str, str], list[str]]:
    groups = connected(kept, _answers(kept, source, folder))
    halves, largest = deal(groups), max(map(len, groups))
    said = f"halves: drawn by a hash, queries that share an answer in one ({read})"
    if list(halves.values()).count("test") < SMALLER * len(kept) and largest > 1:
        halves = deal([{query_id} for query_id in kept])
        said = (
            f"halves: drawn by a hash ({read}); shared answers connect {largest} of "
            f"{len(kept)} queries, so the halves share some"
        )
    return halves, [said]


def _answers(kept: Labels, source: Source, folder: Path) -> dict[str, list[str]]:
    """Return the words of every relevant document, from the corpus that was written."""
    words = text.TOKENIZERS[source.words]
    wanted = {d for row in kept.values() for d, label in row.items() if label.grade}
    rows = files.rows(folder / "corpus.jsonl", None)
    return {row["doc_id"]: words(row["text"]) for _, row in rows if row["doc_id"] in wanted}


def connected(kept: Labels, texts: dict[str, list[str]]) -> list[set[str]]:
    """Return the groups of queries that share relevant documents, or such as count as one."""
    alike = text.near_duplicates(texts, text.COPY)
    one = [pair for pair in alike if text.count_as_one(*(texts[d] for d in pair))]
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
    return {query_id: half for half, held in halves.items() for query_id in held}
