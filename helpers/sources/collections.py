"""Collections in tables: BEIR's and TREC's layouts, and any other with named columns."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from .. import files
from ..files import EvalSetError
from . import questions, readers
from .readers import Label, Source, Task
from .tables import DOCUMENT, LABEL, QRELS, QUERY, column_names, document_of, ending, rows_of

LABELS = re.compile(r"(?<![a-z])(qrels|labels|judgments)(?![a-z])")  # in paths
QUERIES = re.compile(r"(?<![a-z])(queries|topics)(?![a-z])")
DOCUMENTS = {  # in paths, by the kind of source: a pattern, and what it finds
    "beir": (r"(^|/)corpus\.jsonl(\.gz)?$", "corpus.jsonl or corpus.jsonl.gz"),
    "trec": (r"\.jsonl(\.gz)?$", "a file of .jsonl"),
    "table": (
        r"\.(jsonl|json|csv|tsv|parquet)(\.gz)?$",
        "a file of .jsonl, .json, .csv, .tsv, .parquet",
    ),
}


def read_tables(task: Task) -> Source:
    """Read tables: documents, queries and labels, or rows with passages.

    In a folder, labels are the files that have qrels, labels or judgments in their path below it,
    queries those with queries or topics, documents all others of the kind's layout: BEIR's
    (Thakur et al. 2021), TREC's, or any table. --queries and --labels name a file or a folder
    elsewhere.
    """
    options, root = task.options, Path(task.options.path)
    pattern, form = DOCUMENTS[options.kind]
    below = {path: path.relative_to(root).as_posix() for path in files_of(root)}
    labels = [path for path, name in below.items() if LABELS.search(name)]
    queries = [p for p, name in below.items() if QUERIES.search(name) and p not in labels]
    rest = [path for path in below if path not in {*labels, *queries}]
    documents = [path for path in rest if re.search(pattern, path.as_posix())]
    labels = files_of(Path(options.labels)) if options.labels else labels
    queries = files_of(Path(options.queries)) if options.queries else queries
    if documents and not queries and not labels:
        _, row = next(rows_of(documents[0], Task(options)), ("", {}))
        if row.keys() & questions.PASSAGES.keys():
            return questions.passages(documents, task)
        return Source(documents_of(documents, task))
    names = ", ".join(path.name for path in list(below)[:9]) or "nothing"
    for what, paths, wanted in (
        ("documents", documents, form),
        ("queries", queries, "a file with queries or topics in its name"),
        ("labels", labels, "a file with qrels or labels in its name"),
    ):
        if not paths:
            task.problems.append(f"{root}:1: no {what}, found {names}, wanted {wanted}")
    task.stop()
    splits: dict[str, list[Path]] = {}
    for path in labels:
        name = re.sub(r"\.(tsv|txt|qrels|gz|csv|jsonl?|parquet)\b", "", path.name)
        name = re.sub(r"^(qrels|labels|judgments)([._-]|$)", "", name)
        splits.setdefault(name or "all", []).append(path)
    chosen = readers.choose_splits(splits, task)
    own = [path for path in queries if any(split in path.name for split in chosen)] or queries
    labelled = [(path, split) for split, paths in chosen.items() for path in paths]
    return Source(
        documents_of(documents, task),
        chain.from_iterable(queries_of(path, task) for path in own),
        chain.from_iterable(labels_of(path, split, task) for path, split in labelled),
        tuple(splits),
    )


def files_of(path: Path) -> list[Path]:
    """Return a file, or all below a folder. Raises EvalSetError where neither is."""
    if not path.exists():
        raise EvalSetError([f"{path}:1: is not there, wanted a file or a folder of tables"])
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def documents_of(paths: list[Path], task: Task) -> Iterator[tuple[str, dict]]:
    """Yield the documents of tables under the names that BEIR, TREC tools and others use."""
    names = column_names(task, DOCUMENT)
    for path in paths:
        for place, row in rows_of(path, task, names["doc_id"]):
            if not task.options.text:
                task.expect("text", (*names["text"], *names["title"]), place, row, "--text")
            if doc_id := readers.id_of(place, row, names["doc_id"], task):
                yield place, document_of(place, doc_id, row, task)


def queries_of(path: Path, task: Task) -> Iterator[tuple[str, dict]]:
    """Yield the queries of a table or of TREC topics (<top>, <num>, <title>)."""
    if ending(path) not in (".jsonl", ".json", ".csv", ".parquet"):
        _, line = next(files.lines(path, task.problems), ("", ""))
        if line.lstrip().startswith("<"):
            yield from _topics(path, task)
            return
    names = column_names(task, QUERY)
    for place, row in rows_of(path, task, names["query_id"]):
        task.expect("query", names["query"], place, row, "--columns")
        if query_id := readers.id_of(place, row, names["query_id"], task):
            yield place, {"query_id": query_id, "query": readers.text_of(row, *names["query"])}


def _topics(path: Path, task: Task) -> Iterator[tuple[str, dict]]:
    page = files.page(path, task.problems) or ""
    for topic in re.finditer(r"<top>(.*?)(</top>|(?=<top>)|\Z)", page, re.I | re.S):
        place, (text, end) = f"{path}:{page.count(chr(10), 0, topic.start()) + 1}", topic.groups()
        number = re.search(r"<num>\s*(?:Number:\s*)?([^\s<]+)", text, re.IGNORECASE)
        if not end:
            task.problems.append(f"{place}: topic without an end, wanted </top>")
        elif not number:
            task.problems.append(f"{place}: topic without a number, wanted <num> Number: 301")
        else:
            query = _topic_part(text, "title") or _topic_part(text, "desc")
            yield place, {"query_id": readers.encode_id(number[1]), "query": query}


def _topic_part(text: str, name: str) -> str:
    part = re.search(rf"<{name}>\s*(?:Topic:|Description:)?(.*?)(?=<|\Z)", text, re.I | re.S)
    return " ".join(part[1].split()) if part else ""


def labels_of(path: Path, split: str, task: Task) -> Iterator[Label]:
    """Yield labels of a table, or of lines `query 0 document grade` or `query document grade`.

    The first are TREC's, the second BEIR's; a first line may name the columns.
    """
    names = column_names(task, LABEL)
    for place, row in rows_of(path, task, [*chain(*names.values())], QRELS):
        ids = [readers.id_of(place, row, names[field], task) for field in ("query_id", "doc_id")]
        grades = [row[name] for name in names["relevance"] if row.get(name) is not None]
        if not grades:
            problem = readers.missing_field("grade", names["relevance"], row, "--columns")
            task.problems.append(f"{place}: {problem}")
        elif all(ids):
            yield Label(place, split, *ids, grades[0])
