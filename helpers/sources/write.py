"""Write an evaluation-set folder from a source (import) or from nothing (new)."""

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from .. import evalset, records
from ..records import EvalSetError
from . import catalogue, collections, trees
from .files import Asked, Label, Log, Source, side, with_bar

READERS = {  # KIND of KIND:PATH
    "markdown": trees.markdown_tree,
    "text": trees.text_tree,
    "code": trees.code_tree,
    "hotpotqa": collections.hotpotqa,
    "beir": collections.beir,
    "trec": collections.trec,
    "miracl": collections.miracl,
    "mmarco": collections.mmarco,
    "ir_datasets": catalogue.by_name,
}
TREES = ("markdown", "text", "code")  # they have no labels, and an id is a path
NEW = Path(__file__).parent / "new"  # a set to start from
Labels = dict[str, dict[str, Label]]  # {query_id: {doc_id: label}}
PLACES = {"query": "queries", "document": "corpus"}
TRUNCATED = (
    "truncated: --max-docs kept every relevant document and part of the others, "
    "so scores are too high to compare with published ones"
)


def import_into(asked: Asked, to: Path) -> list[str]:
    """Import a source into the new folder `to` and return what was found, line by line.

    Raises EvalSetError with every problem; nothing is written then.
    """
    if asked.kind not in READERS:
        kinds = ", ".join(READERS)
        raise EvalSetError([f"--from {asked.kind}: is unknown, wanted KIND:PATH of {kinds}"])
    if asked.queries_language and asked.kind != "mmarco":
        raise EvalSetError([f"--queries-language belongs to mmarco, not to {asked.kind}"])
    if asked.split and asked.kind in (*TREES, "ir_datasets"):
        raise EvalSetError([f"--split: {asked.kind} has no splits to choose from"])
    if asked.max_docs is not None and asked.max_docs < 1:
        raise EvalSetError([f"--max-docs is {asked.max_docs}, wanted a number from 1"])
    found: list[str] = []

    def fill(folder: Path) -> None:
        log = Log()
        source = READERS[asked.kind](asked, log)
        found.extend(import_source(source, asked, folder, log))

    publish(to, fill)
    return found


def publish(to: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write a folder beside `to`, load it as a check, then rename it: all or nothing.

    Raises EvalSetError where `to` is not a new or empty folder.
    """
    to = to.resolve()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise EvalSetError([f"{to}: is not empty, wanted a new or an empty folder"])
    part = to.with_name(f"{to.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        fill(part)
        evalset.load(part)
        if to.exists():
            to.rmdir()
        os.replace(part, to)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def import_source(source: Source, asked: Asked, folder: Path, log: Log) -> list[str]:
    """Write what a source holds into `folder` and return what was found, line by line.

    Raises EvalSetError with every problem.
    """
    queries = read_queries(source, log)
    qrels = read_labels(source, log)
    log.stop()
    found = ids_in_common("query", qrels, queries, source) if qrels else []
    held, seen, limited = write_corpus(folder, source, qrels, asked.max_docs, log)
    log.stop()
    if not held:
        raise EvalSetError([f"{asked.kind}:{asked.path}: no documents with a text found"])
    if qrels:
        judged = {doc_id: None for row in qrels.values() for doc_id in row}
        found += ids_in_common("document", judged, seen, source)[: 1 if limited else None]
    kept = keep(queries, qrels, held, log)
    if source.labels is not None and not kept:
        problem = f"{asked.kind}:{asked.path}: no query has a relevant document in the corpus"
        raise EvalSetError([f"{problem}: {'; '.join([*found, *log.lines()])}"])
    halves, drawn = split(kept)
    lines = [*counts(held, kept, halves), *found, *log.lines()]
    lines += [TRUNCATED] if limited else []
    lines += [drawn] if drawn else []
    lines += [*write_settings(folder, source, kept), *source.about]
    write_labels(folder, queries, kept, halves)
    records.write(folder / "README.md", data_card(asked, lines))
    return lines


def read_queries(source: Source, log: Log) -> dict[str, dict]:
    """Return {query_id: row}. An id that stands twice is a problem, an empty query is left out."""
    queries, places = {}, {}
    for place, row in source.queries:
        if not row["query"]:
            log.leave("queries without text", place)
        elif is_new(place, row["query_id"], "query_id", places, log):
            queries[row["query_id"]] = row
    return queries


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
    if int(number[1]) < 0:
        log.changed["grades below 0, which became 0"] += 1
    return max(0, int(number[1]))


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
                f"the same way; splits found: {offer}"
            ]
        )
    return [found, *_shifted(what, judged, held)]


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


def write_corpus(
    folder: Path, source: Source, qrels: Labels, most: int | None, log: Log
) -> tuple[set[str], dict[str, str], bool]:
    """Write corpus.jsonl; return the ids in it, the ids seen with their places, and if it was cut.

    `most` limits the documents: the relevant ones always stay, then the ones judged 0, then the
    first of the others. Reading stops when nothing more can come.
    """
    grades = [(label.doc_id, label.grade) for row in qrels.values() for label in row.values()]
    relevant = {doc_id for doc_id, grade in grades if grade}
    zeros = {doc_id for doc_id, _ in grades} - relevant
    room = float("inf") if most is None else max(0, most - len(relevant))
    rooms = {"zeros": min(room, len(zeros)) if most else room, "others": max(0, room - len(zeros))}
    held: set[str] = set()
    seen: dict[str, str] = {}
    cut = False
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for place, row in with_bar(source.documents, "documents"):
            if not relevant and not any(rooms.values()):
                return held, seen, True
            doc_id = row["doc_id"]
            if not is_new(place, doc_id, "doc_id", seen, log):
                continue
            tier = "relevant" if doc_id in relevant else "zeros" if doc_id in zeros else "others"
            relevant.discard(doc_id)
            if not row["text"].strip():
                log.leave("documents without text", place)
            elif tier == "relevant" or rooms[tier]:
                if tier != "relevant":
                    rooms[tier] -= 1
                held.add(doc_id)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                cut = True
    return held, seen, cut


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


def split(kept: Labels) -> tuple[dict[str, str], str]:
    """Return {query_id: dev or test} and a sentence that says where the halves come from.

    The source's own splits count if it offers both sides. Else the queries are ordered by a hash
    of their ids and cut in the middle: the same on every machine, and no order of the file matters.
    """
    halves = {q: side(next(iter(row.values())).split) for q, row in kept.items()}
    names = ", ".join(sorted({label.split for row in kept.values() for label in row.values()}))
    if not kept or set(halves.values()) == {"dev", "test"}:
        return halves, f"halves: the source's own ({names})" if kept else ""
    order = sorted(kept, key=lambda q: hashlib.sha256(q.encode()).hexdigest())
    halves = {q: "dev" if place < len(order) / 2 else "test" for place, q in enumerate(order)}
    return halves, f"halves: drawn by a hash of the query id, the source tells none apart ({names})"


def write_labels(folder: Path, queries: dict, kept: Labels, halves: dict[str, str]) -> None:
    """Write retrieval_queries.jsonl and judgments.jsonl; without labels the guide to make them."""
    if not kept:
        shutil.copyfile(NEW / "labeling_guide.md", folder / "labeling_guide.md")
        return
    rows, judgments = [], []
    for query_id, row in kept.items():
        relevant = [doc_id for doc_id, label in row.items() if label.grade]
        more = {"relevant_doc_ids": relevant, "split": halves[query_id]}
        rows.append({**queries[query_id], **more})
        for doc_id, label in row.items():
            pair = {"query_id": query_id, "doc_id": doc_id, "relevance": label.grade}
            judgments.append({**pair, "evidence": label.evidence} if label.evidence else pair)
    records.write_jsonl(folder / "retrieval_queries.jsonl", rows)
    records.write_jsonl(folder / "judgments.jsonl", judgments)


def write_settings(folder: Path, source: Source, kept: Labels) -> list[str]:
    """Write settings.json where it must say something: another tokenizer, grades above 2."""
    highest = max((label.grade for row in kept.values() for label in row.values()), default=0)
    settings = {} if source.words == "words" else {"words": source.words}
    settings |= {"highest_grade": highest} if highest > records.GRADES[-1] else {}
    if settings:
        records.write(folder / "settings.json", json.dumps(settings) + "\n")
    return [f"{name}: {value}, in settings.json" for name, value in settings.items()]


def counts(held: set[str], kept: Labels, halves: dict[str, str]) -> list[str]:
    """Return the counts of documents, queries and judgments."""
    grades = Counter(label.grade for row in kept.values() for label in row.values())
    sides = Counter(halves.values())
    return [
        f"documents: {len(held)}",
        f"queries: {len(kept)}" + _each(f"{sides[name]} {name}" for name in sorted(sides)),
        f"judgments: {sum(grades.values())}"
        + _each(f"{grades[grade]} of grade {grade}" for grade in sorted(grades)),
    ]


def _each(parts) -> str:
    text = ", ".join(parts)
    return f" ({text})" if text else ""


def data_card(asked: Asked, lines: list[str]) -> str:
    """Return the data card: the source without the path of this machine, and what was found."""
    name = asked.path if asked.kind == "ir_datasets" else Path(asked.path).resolve().name
    root = Path(asked.path if Path(asked.path).exists() else asked.path.rpartition("@")[0])
    options = {"split": asked.split, "max-docs": asked.max_docs}
    options["queries-language"] = asked.queries_language
    said = "".join(f" --{key} {value}" for key, value in options.items() if value)
    found = "\n".join(f"- {line}" for line in lines)
    found = found.replace(str(root), root.name) if root.is_absolute() else found
    own = asked.kind in TREES
    ids = (
        "An id is the path in the source, with : for each / and without the ending."
        if own
        else "Ids are the source's, with spaces, slashes, # and % percent-encoded."
    )
    return (
        f"# {name} ({asked.kind})\n\nImported with `--from {asked.kind}:{name}{said}`. The heading "
        "is the name under which results are shown: change it to your own. Where documents, "
        "queries and labels are other people's, see the source for authors and licence before you "
        f"pass them on.\n\n{ids}\n\n"
        f"## What was found\n\n{found}\n"
    )


def import_command(source: str, to: Path, **more) -> int:
    """Import KIND:PATH into the folder `to` and print what was found.

    `more` are the other fields of Asked. Raises EvalSetError.
    """
    kind, _, path = source.partition(":")
    if not path:
        raise EvalSetError(
            [f"--from is {source}, wanted KIND:PATH with a kind of: {', '.join(READERS)}"]
        )
    print("\n".join(import_into(Asked(kind, path, **more), to)))
    following = evalset.load(to).next_step() or f"make report EVALS={to}"
    print(f"{to} is an evaluation set; next: {following}")
    return 0


def new_command(to: Path) -> int:
    """Copy the example set into the folder `to` and print the next steps."""
    publish(to, lambda folder: shutil.copytree(NEW, folder, dirs_exist_ok=True))
    held = sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())
    print(f"{to} holds {', '.join(held)}\nnext steps: {to / 'README.md'}")
    return 0
