"""Write an evaluation-set folder from a source (import) or from nothing (new)."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from .. import evalset, files
from ..files import EvalSetError
from . import catalogue, collections, hotpot, trees
from .qrels import Labels, ids_in_common, is_new, keep, read_labels, split, without_padding
from .readers import Asked, Log, Source, with_bar

READERS = {  # KIND of KIND:PATH
    "markdown": trees.markdown_tree,
    "text": trees.text_tree,
    "code": trees.code_tree,
    "hotpotqa": hotpot.hotpotqa,
    "beir": collections.beir,
    "trec": collections.trec,
    "miracl": collections.miracl,
    "mmarco": collections.mmarco,
    "ir_datasets": catalogue.by_name,
}
TREES = ("markdown", "text", "code")  # they have no labels, and an id is a path
WITH_FIELDS = ("markdown", "beir", "trec", "miracl")  # documents with fields to choose from
NEW = Path(__file__).parent / "new"  # a set to start from
HEAVY = 0.5  # share of all characters in one document from which a warning is due
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
    if asked.split and asked.kind in TREES:
        raise EvalSetError([f"--split: {asked.kind} has no splits to choose from"])
    if (asked.title or asked.text) and asked.kind not in WITH_FIELDS:
        kinds = ", ".join(WITH_FIELDS)
        raise EvalSetError([f"--title and --text belong to {kinds}, not to {asked.kind}"])
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
    files.settle(to.parent)
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise EvalSetError([f"{to}: is not empty, wanted a new or an empty folder"])
    with files.new_folder(to) as part:
        fill(part)
        evalset.load(part)


def import_source(source: Source, asked: Asked, folder: Path, log: Log) -> list[str]:
    """Write what a source holds into `folder` and return what was found, line by line.

    Raises EvalSetError with every problem.
    """
    queries = read_queries(source, log)
    qrels = without_padding(read_labels(source, log), queries, log)
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
    halves, drawn = split(kept, source, asked.halve, folder)
    lines = [*counts(held, kept, halves), *found, *log.lines()]
    lines += [TRUNCATED] if limited else []
    lines += [*drawn, *write_settings(folder, asked, source, kept), *source.about]
    write_labels(folder, queries, kept, halves)
    files.write(folder / "README.md", data_card(asked, lines))
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
    rooms = {"zeros": min(room, len(zeros)), "others": max(0, room - len(zeros))}
    held: set[str] = set()
    seen: dict[str, str] = {}
    cut, total, largest = False, 0, (0, "")
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for place, row in with_bar(source.documents, "documents"):
            if not relevant and not any(rooms.values()):
                cut = True
                break
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
                size = len(row["title"]) + len(row["text"])
                total, largest = total + size, max([largest, (size, doc_id)])
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                cut = True
    log.said += _about_weight(*largest, total)
    return held, seen, cut


def _about_weight(size: int, doc_id: str, total: int) -> list[str]:
    """Return a warning where the largest document holds most of all characters."""
    if size <= HEAVY * total:
        return []
    return [
        f"warning: {doc_id} holds {size / total:.0%} of all characters; documents are what is "
        "found and measured: split it by chapter or heading into files of their own and import "
        "again"
    ]


def write_labels(folder: Path, queries: dict, kept: Labels, halves: dict[str, str]) -> None:
    """Write retrieval_queries.jsonl and judgments.jsonl; without labels the guide to make them."""
    if not kept:
        guide = (NEW / "labeling_guide.md").read_text(encoding="utf-8")
        files.write(folder / "labeling_guide.md", guide)
        return
    rows, judgments = [], []
    for query_id, row in kept.items():
        relevant = [doc_id for doc_id, label in row.items() if label.grade]
        more = {"relevant_doc_ids": relevant, "split": halves[query_id]}
        rows.append({**queries[query_id], **more})
        for doc_id, label in row.items():
            pair = {"query_id": query_id, "doc_id": doc_id, "relevance": label.grade}
            judgments.append({**pair, "evidence": list(label.evidence)} if label.evidence else pair)
    files.write_jsonl(folder / "retrieval_queries.jsonl", rows)
    files.write_jsonl(folder / "judgments.jsonl", judgments)


def write_settings(folder: Path, asked: Asked, source: Source, kept: Labels) -> list[str]:
    """Write settings.json where it must say something: tokenizer, grades above 2, an import."""
    highest = max((label.grade for row in kept.values() for label in row.values()), default=0)
    settings = {} if source.words == "words" else {"words": source.words}
    settings |= {"highest_grade": highest} if highest > files.GRADES[-1] else {}
    told = [f"{name}: {value}, in settings.json" for name, value in settings.items()]
    settings |= {"imported": asked.kind} if kept else {}  # with labels, not only documents
    if settings:
        files.write(folder / "settings.json", json.dumps(settings) + "\n")
    return told


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
    options |= {"queries-language": asked.queries_language, "title": asked.title}
    options["text"] = asked.text
    said = "".join(f" --{key} {value}" for key, value in options.items() if value)
    said += " --halve" * asked.halve
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

    def fill(folder: Path) -> None:
        for path in sorted(path for path in NEW.rglob("*") if path.is_file()):
            files.write(folder / path.relative_to(NEW), path.read_text(encoding="utf-8"))

    publish(to, fill)
    held = sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())
    print(f"{to} holds {', '.join(held)}\nnext steps: {to / 'README.md'}")
    return 0
