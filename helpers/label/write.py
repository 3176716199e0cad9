"""Write an evaluation-set folder from a source (import) or from nothing (new)."""

import json
import math
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from ..measure import evalset, files
from ..measure.files import EvalSetError
from ..measure.installation import command
from . import catalogue, collections, questions, trees
from .qrels import Labels, assign_halves, count_common_ids, keep_answered, read_labels
from .readers import WORDS, Options, Source, Task

READERS = {  # KIND of KIND:PATH: its reader and those of SOME that it takes
    "markdown": (trees.markdown_tree, "title text"),
    "text": (trees.text_tree, ""),
    "code": (trees.code_tree, ""),
    "hotpotqa": (questions.hotpotqa, "split"),
    "beir": (collections.read_tables, "split title text columns"),
    "trec": (collections.read_tables, "split title text columns"),
    "table": (collections.read_tables, "split title text columns queries labels"),
    "ir_datasets": (catalogue.read_dataset, "split queries"),
}
SOME = ("split", "title", "text", "columns", "queries", "labels")  # options that not all kinds have
NEW = Path(__file__).parent / "new"  # a set to start from
TRUNCATED = (
    "truncated: --max-docs kept every relevant document and part of the others, "
    "so scores are too high to compare with published ones"
)
OWN = "queries that are documents, by id and text: {}, each left out of its own results"
CARD = """# {name} ({kind})

Imported with `--from {kind}:{name}{options}`. The heading is the name under which results are \
shown: change it to your own. Where documents, queries and labels are other people's, see the \
source for authors and licence before you pass them on.

{ids}

## What was found

{found}
"""
IDS = "Ids are the source's, with spaces, slashes, # and % percent-encoded."
PATHS = "An id is the path in the source, with : for each / and without the ending."


def import_command(source: str, to: Path, **more) -> list[str]:
    """Import KIND:PATH, with `more` Options, into a new folder and return what was found."""
    kind, _, path = source.partition(":")
    lines = import_into(Options(kind, path, **more), to)
    following = evalset.load(to).next_step() or command("report", EVALS=to)
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def new_command(to: Path) -> str:
    """Copy the example set into the folder `to` and return the next steps."""
    with new_set(to) as folder:
        shutil.copytree(NEW, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
    names = sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())
    return f"{to} holds {', '.join(names)}\nnext steps: {to / 'README.md'}"


@contextmanager
def new_set(to: Path) -> Iterator[Path]:
    """Give a folder to fill, which is loaded as a check before it becomes `to`: all or nothing."""
    with files.new_folder(empty_folder(to)) as folder:
        yield folder
        evalset.load(folder)


def empty_folder(to: Path) -> Path:
    """Return the whole path of a new or an empty folder. Raises EvalSetError for any other."""
    to = to.resolve()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise EvalSetError([f"{to}: is not empty, wanted a new or an empty folder"])
    return to


def import_into(options: Options, to: Path) -> list[str]:
    """Import a source into the new folder `to` and return what was found, line by line.

    Raises EvalSetError with every problem; nothing is written then.
    """
    files.refuse(wrong_options(options))
    with new_set(to) as folder:
        lines = write_unchecked(options, folder)
        files.write(folder / "README.md", data_card(options, lines))
    return lines


def write_unchecked(options: Options, folder: Path) -> list[str]:
    """Write what a source holds, whether it makes a set or not; return what was found."""
    task = Task(options)
    source = READERS[options.kind][0](task)
    if options.language:
        source = source._replace(words=WORDS.get(options.language, "words"))
    return write_source(source, folder, task)


def wrong_options(options: Options) -> list[str]:
    """Return what is wrong with a kind and its options."""
    kind, language = options.kind, options.language
    if kind not in READERS or not options.path:
        found = f"found {kind}:{options.path}"
        return [f"--from: {found}, wanted KIND:PATH with a kind of: {', '.join(READERS)}"]
    taken = READERS[kind][1].split()
    problems = [
        f"--{name} is not for {kind}, wanted of such options only: {', '.join(taken) or 'none'}"
        for name in SOME
        if getattr(options, name) and name not in taken
    ]
    if options.max_docs is not None and options.max_docs < 1:
        problems.append(f"--max-docs is {options.max_docs}, wanted a number from 1")
    if language and not re.fullmatch("[a-z]{2,3}", language):
        problems.append(f"--language is {language}, wanted a code of ISO 639, such as ja")
    return problems


def write_source(source: Source, folder: Path, task: Task) -> list[str]:
    """Write what a source holds into `folder` and return what was found, line by line."""
    queries = _queries_by_id(source, task)
    qrels = read_labels(source, task)
    task.stop()
    in_common = [count_common_ids("query", qrels, queries, source, task)] if qrels else []
    written, document_places, truncated = write_corpus(folder, source, qrels, task)
    task.stop()
    if not written:
        raise EvalSetError([f"{task.source}: found no documents, wanted some with a text"])
    if qrels:
        judged = {doc_id: None for row in qrels.values() for doc_id in row}
        in_common.append(count_common_ids("document", judged, document_places, source, task))
    kept = keep_answered(queries, qrels, written, task)
    if source.labels is not None and not kept:
        problem = f"{task.source}: no query has a relevant document in the corpus: "
        raise EvalSetError([problem + "; ".join([*in_common, *task.lines()])])
    halve = task.options.halve
    halves, drawn = assign_halves(queries, kept, source, halve, folder) if kept else ({}, "")
    write_labels(folder, queries, kept, halves)
    grades = Counter(label.grade for row in kept.values() for label in row.values())
    settings = write_settings(folder, task.options.kind, source.words, grades)
    lines = [
        f"documents: {len(written)}",
        f"queries: {len(kept)}" + _breakdown(Counter(halves.values()), ""),
        f"judgments: {grades.total()}" + _breakdown(grades, "of grade "),
    ]
    lines += [*in_common, *task.lines(), *([TRUNCATED] if truncated else [])]
    own = evalset.load(folder).own_documents if kept.keys() & written else ()
    themselves = OWN.format(len(own)) if own else ""
    return lines + [line for line in (drawn, *settings, themselves, *source.about) if line]


def _breakdown(counts: Counter, words: str) -> str:
    parts = ", ".join(f"{number} {words}{name}" for name, number in sorted(counts.items()))
    return f" ({parts})" if parts else ""


def _queries_by_id(source: Source, task: Task) -> dict[str, dict]:
    queries, places = {}, {}
    for place, row in source.queries:
        if not row["query"]:
            task.leave_out("queries without text", place)
        elif _is_new(place, row, "query_id", places, task):
            queries[row["query_id"]] = row
    return queries


def _is_new(place: str, row: dict, name: str, places: dict[str, str], task: Task) -> bool:
    first = places.setdefault(row[name], place)
    if row[name] and first != place:
        problem = f"{name} {row[name]} stands already at {first}, wanted each once"
        task.problems.append(f"{place}: {problem}")
    return first == place


def write_corpus(
    folder: Path, source: Source, qrels: Labels, task: Task
) -> tuple[set[str], dict[str, str], bool]:
    """Write corpus.jsonl; return the ids in it, {id: place} of those read, and if it was cut.

    --max-docs limits the documents: the relevant ones always stay, then the ones judged 0, then
    the first of the others. Reading stops when nothing more can come.
    """
    labels = [label for row in qrels.values() for label in row.values()]
    relevant = {label.doc_id for label in labels if label.grade}
    zeros = {label.doc_id for label in labels} - relevant
    room = max(0, (task.options.max_docs or math.inf) - len(relevant))
    places_left = {"relevant": len(relevant), "zeros": min(room, len(zeros))}
    places_left["others"] = max(0, room - len(zeros))
    written, places, truncated = set(), {}, False
    stream = getattr(sys.stderr, "stream", sys.stderr)  # a bar moves the cursor: see inert.Screen
    look = {"unit": "", "leave": False, "disable": None}  # None: where nobody looks
    with (folder / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for place, row in tqdm(source.documents, "documents", file=stream, **look):
            if not any(places_left.values()):
                return written, places, True
            doc_id = row["doc_id"]
            tier = "relevant" if doc_id in relevant else "zeros" if doc_id in zeros else "others"
            if not _is_new(place, row, "doc_id", places, task):
                continue
            if not row["text"].strip():
                task.leave_out("documents without text", place)
            elif places_left[tier]:
                places_left[tier] -= 1
                written.add(doc_id)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            else:
                truncated = True
    return written, places, truncated


def write_labels(folder: Path, queries: dict, kept: Labels, halves: dict[str, str]) -> None:
    """Write retrieval_queries.jsonl and judgments.jsonl; without labels the guide to make them."""
    if not kept:
        shutil.copyfile(NEW / "labeling_guide.md", folder / "labeling_guide.md")
        return
    rows, judgments = [], []
    for query_id, row in kept.items():
        relevant = [doc_id for doc_id, label in row.items() if label.grade]
        more = {"relevant_doc_ids": relevant, "split": halves[query_id]}
        rows.append(queries[query_id] | more)
        for doc_id, label in row.items():
            pair = {"query_id": query_id, "doc_id": doc_id, "relevance": label.grade}
            judgments.append(pair | ({"evidence": [*label.evidence]} if label.evidence else {}))
    files.write_jsonl(folder / "retrieval_queries.jsonl", rows)
    files.write_jsonl(folder / "judgments.jsonl", judgments)


def write_settings(folder: Path, kind: str, words: str, grades: Counter) -> list[str]:
    """Write settings.json if it must say something; return a line for tokenizer and grades."""
    settings = {} if words == "words" else {"words": words}
    if max(grades, default=0) > files.GRADES[-1]:
        settings["highest_grade"] = max(grades)
    lines = [f"{name}: {value}, in settings.json" for name, value in settings.items()]
    settings |= {"imported": kind} if grades else {}  # with labels, not only documents
    if settings:
        files.write(folder / "settings.json", json.dumps(settings) + "\n")
    return lines


def data_card(options: Options, lines: list[str]) -> str:
    """Return the data card: the source without the paths of this machine, and what was found."""
    found, values = "\n".join(f"- {line}" for line in lines), options._asdict()
    for option in ("path", "queries", "labels") if options.kind != "ir_datasets" else ():
        path = Path(values[option] or "")
        values[option] = path.resolve().name if values[option] else None
        found = found.replace(str(path), path.name) if path.is_absolute() else found
    kind, name, halve = (values.pop(option) for option in ("kind", "path", "halve"))
    words = [f" --{option.replace('_', '-')} {value}" for option, value in values.items() if value]
    words += [" --halve"] if halve else []
    ids = PATHS if kind in ("markdown", "text", "code") else IDS
    return CARD.format(kind=kind, name=name, options="".join(words), ids=ids, found=found)
