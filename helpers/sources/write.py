"""Write an evaluation-set folder from a source (import) or from nothing (new)."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import evalset, files
from ..files import EvalSetError
from . import catalogue, collections, questions, trees
from .qrels import Labels, ids_in_common, keep, read_labels, split
from .readers import WORDS, Log, Options, Source, with_bar

READERS = {  # KIND of KIND:PATH
    "markdown": trees.markdown_tree,
    "text": trees.text_tree,
    "code": trees.code_tree,
    "hotpotqa": questions.hotpotqa,
    "beir": collections.beir,
    "trec": collections.trec,
    "table": collections.table,
    "ir_datasets": catalogue.by_name,
}
FORMER = {  # kinds that others have taken over
    "miracl": "ir_datasets:miracl/yo/dev, or of files table:FOLDER --language yo",
    "mmarco": "ir_datasets:mmarco/v2/de/dev/small, or of files table:COLLECTION.tsv "
    "--queries FILE --labels FILE",
}
TREES = ("markdown", "text", "code")  # they have no labels, and an id is a path
BELONGS = {  # option: the kinds that it is for; the others are for all
    "split": tuple(kind for kind in READERS if kind not in TREES),
    "title": ("markdown", "beir", "trec", "table"),
    "text": ("markdown", "beir", "trec", "table"),
    "columns": ("beir", "trec", "table"),
    "queries": ("table", "ir_datasets"),
    "labels": ("table",),
}
NEW = Path(__file__).parent / "new"  # a set to start from
TRUNCATED = (
    "truncated: --max-docs kept every relevant document and part of the others, "
    "so scores are too high to compare with published ones"
)


def import_command(source: str, to: Path, **more) -> int:
    """Import KIND:PATH into the folder `to` and print what was found.

    `more` are the other fields of Options. Raises EvalSetError.
    """
    kind, _, path = source.partition(":")
    if not path:
        kinds = ", ".join(READERS)
        raise EvalSetError([f"--from is {source}, wanted KIND:PATH with a kind of: {kinds}"])
    print("\n".join(import_into(Options(kind, path, **more), to)))
    following = evalset.load(to).next_step() or f"make report EVALS={to}"
    print(f"{to} is an evaluation set; next: {following}")
    return 0


def new_command(to: Path) -> int:
    """Copy the example set into the folder `to` and print the next steps."""
    pages = sorted(path for path in NEW.rglob("*") if path.is_file())
    with new_set(to) as folder:
        for path in pages:
            files.write(folder / path.relative_to(NEW), path.read_text(encoding="utf-8"))
    names = ", ".join(path.relative_to(NEW).as_posix() for path in pages)
    print(f"{to} holds {names}\nnext steps: {to / 'README.md'}")
    return 0


@contextmanager
def new_set(to: Path) -> Iterator[Path]:
    """Give a folder to fill, which is loaded as a check before it becomes `to`: all or nothing.

    Raises EvalSetError where `to` is not a new or empty folder.
    """
    to = to.resolve()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise EvalSetError([f"{to}: is not empty, wanted a new or an empty folder"])
    with files.new_folder(to) as folder:
        yield folder
        evalset.load(folder)


def import_into(options: Options, to: Path) -> list[str]:
    """Import a source into the new folder `to` and return what was found, line by line.

    Raises EvalSetError with every problem; nothing is written then.
    """
    if problems := wrong_options(options):
        raise EvalSetError(problems)
    with new_set(to) as folder:
        log = Log()
        source = READERS[options.kind](options, log)
        if options.language:
            source = source._replace(words=WORDS.get(options.language, "words"))
        return write_source(source, options, folder, log)


def wrong_options(options: Options) -> list[str]:
    """Return what is wrong with a kind and its options."""
    kind = options.kind
    if kind in FORMER:
        return [f"--from {kind}: is no kind any more, wanted {FORMER[kind]}"]
    if kind not in READERS:
        return [f"--from {kind}: is unknown, wanted KIND:PATH of {', '.join(READERS)}"]
    problems = [
        f"--{option} belongs to {', '.join(kinds)}, not to {kind}"
        for option, kinds in BELONGS.items()
        if getattr(options, option) and kind not in kinds
    ]
    if options.max_docs is not None and options.max_docs < 1:
        problems.append(f"--max-docs is {options.max_docs}, wanted a number from 1")
    if options.language and not re.fullmatch("[a-z]{2,3}", options.language):
        problems.append(f"--language is {options.language}, wanted a code of ISO 639, such as ja")
    return problems


def write_source(source: Source, options: Options, folder: Path, log: Log) -> list[str]:
    """Write what a source holds into `folder` and return what was found, line by line.

    Raises EvalSetError with every problem.
    """
    where = f"{options.kind}:{options.path}"
    queries, places = {}, {}
    for place, row in source.queries:
        if not row["query"]:
            log.leave("queries without text", place)
        elif is_new(place, row["query_id"], "query_id", places, log):
            queries[row["query_id"]] = row
    qrels = read_labels(source, log)
    log.stop()
    in_common = [ids_in_common("query", qrels, queries, source)] if qrels else []
    held, seen, truncated = write_corpus(folder, source, qrels, options.max_docs, log)
    log.stop()
    if not held:
        raise EvalSetError([f"{where}: no documents with a text found"])
    if qrels:
        judged = {doc_id: None for row in qrels.values() for doc_id in row}
        in_common.append(ids_in_common("document", judged, seen, source))
    kept = keep(queries, qrels, held, log)
    if source.labels is not None and not kept:
        reasons = "; ".join([*in_common, *log.lines()])
        raise EvalSetError([f"{where}: no query has a relevant document in the corpus: {reasons}"])
    halves, drawn = split(kept, source, options.halve, folder) if kept else ({}, "")
    lines = [*counts(held, kept, halves), *in_common, *log.lines()]
    lines += [TRUNCATED] if truncated else []
    lines += [drawn] if drawn else []
    lines += [*write_settings(folder, options, source, kept), *source.about]
    write_labels(folder, queries, kept, halves)
    files.write(folder / "README.md", data_card(options, lines))
    return lines


def is_new(place: str, key: str, name: str, places: dict, log: Log) -> bool:
    """Return whether `key` is new; one that stands twice is a problem with both places."""
    if key in places:
        log.problems.append(
            f"{place}: {name} {key} stands already at {places[key]}, wanted each once"
        )
        return False
    places[key] = place
    return True


def write_corpus(
    folder: Path, source: Source, qrels: Labels, most: int | None, log: Log
) -> tuple[set[str], dict[str, str], bool]:
    """Write corpus.jsonl; return the ids in it, {id: place} of those read, and if it was cut.

    `most` limits the documents: the relevant ones always stay, then the ones judged 0, then the
    first of the others. Reading stops when nothing more can come.
    """
    labels = [label for row in qrels.values() for label in row.values()]
    relevant = {label.doc_id for label in labels if label.grade}
    zeros = {label.doc_id for label in labels} - relevant
    room = math.inf if most is None else max(0, most - len(relevant))
    rooms = {"zeros": min(room, len(zeros)), "others": max(0, room - len(zeros))}
    held, seen, truncated = set(), {}, False
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for place, row in with_bar(source.documents, "documents"):
            if not relevant and not any(rooms.values()):
                truncated = True
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
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                truncated = True
    return held, seen, truncated


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


def write_settings(folder: Path, options: Options, source: Source, kept: Labels) -> list[str]:
    """Write settings.json where it must say something: tokenizer, grades above 2, an import."""
    highest = max((label.grade for row in kept.values() for label in row.values()), default=0)
    settings = {} if source.words == "words" else {"words": source.words}
    settings |= {"highest_grade": highest} if highest > files.GRADES[-1] else {}
    lines = [f"{name}: {value}, in settings.json" for name, value in settings.items()]
    settings |= {"imported": options.kind} if kept else {}  # with labels, not only documents
    if settings:
        files.write(folder / "settings.json", json.dumps(settings) + "\n")
    return lines


def counts(held: set[str], kept: Labels, halves: dict[str, str]) -> list[str]:
    """Return the counts of documents, queries by half and judgments by grade."""
    sides = Counter(halves.values())
    grades = Counter(label.grade for row in kept.values() for label in row.values())
    by_half = ", ".join(f"{n} {half}" for half, n in sorted(sides.items()))
    by_grade = ", ".join(f"{n} of grade {grade}" for grade, n in sorted(grades.items()))
    return [
        f"documents: {len(held)}",
        f"queries: {len(kept)}" + f" ({by_half})" * bool(kept),
        f"judgments: {grades.total()}" + f" ({by_grade})" * bool(kept),
    ]


def data_card(options: Options, lines: list[str]) -> str:
    """Return the data card: the source without the paths of this machine, and what was found."""
    found, given = "\n".join(f"- {line}" for line in lines), options._asdict()
    for option in ("path", "queries", "labels") if options.kind != "ir_datasets" else ():
        path = Path(given[option] or "")
        given[option] = path.resolve().name if given[option] else None
        found = found.replace(str(path), path.name) if path.is_absolute() else found
    source = f"{given.pop('kind')}:{given.pop('path')}"
    name, halve = source.partition(":")[2], " --halve" * given.pop("halve")
    command = "".join(
        f" --{option.replace('_', '-')} {value}" for option, value in given.items() if value
    )
    ids = (
        "An id is the path in the source, with : for each / and without the ending."
        if options.kind in TREES
        else "Ids are the source's, with spaces, slashes, # and % percent-encoded."
    )
    return (
        f"# {name} ({options.kind})\n\nImported with `--from {source}{command}{halve}`. The "
        "heading is the name under which results are shown: change it to your own. Where "
        "documents, queries and labels are other people's, see the source for authors and licence "
        f"before you pass them on.\n\n{ids}\n\n## What was found\n\n{found}\n"
    )
