"""Collections as others publish them: BEIR's and TREC's layouts, and tables with named columns."""

import re
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from .. import files
from ..files import EvalSetError
from . import questions, readers
from .readers import Label, Log, Options, Source
from .tables import DOCUMENT, ENDINGS, LABEL, QUERY, columns, ending, rows_of, title_and_text

LABELS = re.compile(r"(?<![a-z])(qrels|labels|judgments)(?![a-z])")  # in paths
QUERIES = re.compile(r"(?<![a-z])(queries|topics)(?![a-z])")


# Documents, queries and labels.


def documents_of(paths: list[Path], options: Options, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield the documents of tables under the names that BEIR, TREC tools and others use."""
    names = columns(options, DOCUMENT)
    for path in paths:
        for place, row in rows_of(path, log, names["doc_id"]):
            doc_id = readers.id_of(place, row, names["doc_id"], log)
            if not options.text:
                known = (*names["text"], *names["title"])
                log.expect("text", known, place, row, "--text")
            title, text = title_and_text(place, row, options, log)
            if doc_id:
                yield place, readers.document_of(doc_id, title, text, log)


def queries_of(path: Path, options: Options, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield the queries of a table or of TREC topics (<top>, <num>, <title>)."""
    if ending(path) == ".tsv" or ending(path) not in ENDINGS:
        first = next(files.lines(path, log.problems), ("", ""))[1]
        if first.lstrip().startswith("<"):
            yield from _topics(path, log)
            return
    names = columns(options, QUERY)
    for place, row in rows_of(path, log, names["query_id"]):
        query_id = readers.id_of(place, row, names["query_id"], log)
        log.expect("query", names["query"], place, row, "--columns")
        if query_id:
            yield place, {"query_id": query_id, "query": readers.text_of(row, *names["query"])}


def _topics(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    place, topic = str(path), []
    for where, line in files.lines(path, log.problems, newline="\n"):
        if "<top>" in line.lower():
            place, topic = where, []
        topic.append(line)
        if "</top>" in line.lower():
            text = "\n".join(topic)
            number = re.search(r"<num>\s*(?:Number:\s*)?([^\s<]+)", text, re.IGNORECASE)
            query = _topic_part(text, "title") or _topic_part(text, "desc")
            if number:
                yield place, {"query_id": readers.encoded(number[1]), "query": query}
            else:
                log.problems.append(f"{place}: topic without a number, wanted <num> Number: 301")
            topic = []
    if topic:
        log.problems.append(f"{place}: topic without an end, wanted </top>")


def _topic_part(text: str, name: str) -> str:
    part = re.search(rf"<{name}>\s*(?:Topic:|Description:)?(.*?)(?=<|\Z)", text, re.I | re.S)
    return " ".join(part[1].split()) if part else ""


def labels_of(path: Path, split: str, options: Options, log: Log) -> Iterator[Label]:
    """Yield labels of a table, or of lines `query 0 document grade` or `query document grade`.

    The first are TREC's, the second BEIR's; a first line may name the columns.
    """
    names = columns(options, LABEL)
    query_id, doc_id, relevance = (names[field][0] for field in LABEL)
    forms = {3: (query_id, doc_id, relevance), 4: (query_id, "", doc_id, relevance)}
    for place, row in rows_of(path, log, [*chain(*names.values())], forms):
        ids = [readers.id_of(place, row, names[field], log) for field in ("query_id", "doc_id")]
        grade = next((row[name] for name in names["relevance"] if row.get(name) is not None), None)
        if grade is None:
            problem = readers.missing("grade", names["relevance"], row, "--columns")
            log.problems.append(f"{place}: {problem}")
        elif all(ids):
            yield Label(place, split, *ids, grade)


# Layouts.


def beir(options: Options, log: Log) -> Source:
    """Read corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, plain or .gz (Thakur et al. 2021)."""
    folder, tables = readers.folder_of(options), []
    for name in ("corpus.jsonl", "queries.jsonl"):
        there = [path for path in (folder / name, folder / f"{name}.gz") if path.exists()]
        tables += there[:1]
        if not there:
            log.problems.append(f"{folder}:1: no {name} here, wanted {name} or {name}.gz")
    labels = sorted((folder / "qrels").glob("*.tsv*"))
    if not labels:
        log.problems.append(
            f"{folder / 'qrels'}:1: no labels found, wanted qrels/test.tsv or the like"
        )
    log.stop()
    return _collection(tables[:1], tables[1:], labels, folder / "qrels", options, log)


def trec(options: Options, log: Log) -> Source:
    """Read a folder with topics*, qrels* and documents in JSONL."""
    readers.folder_of(options)
    return table(options, log, endings=(".jsonl",))


def table(options: Options, log: Log, endings: Collection[str] = ENDINGS) -> Source:
    """Read tables with named columns: documents, queries and labels, or rows with passages.

    In a folder, labels are the files that have qrels, labels or judgments in their path below it,
    queries those with queries or topics, documents all others with one of `endings`; --queries and
    --labels name a file or a folder elsewhere.
    """
    root = Path(options.path)
    paths = _files(root)
    below = {path: path.relative_to(root).as_posix() for path in paths}
    labels = [path for path in paths if LABELS.search(below[path])]
    queries = [path for path in paths if QUERIES.search(below[path]) and path not in labels]
    documents = [p for p in paths if p not in (*labels, *queries) and ending(p) in endings]
    labels = _files(Path(options.labels)) if options.labels else labels
    queries = _files(Path(options.queries)) if options.queries else queries
    if documents and not queries and not labels:
        _, row = next(rows_of(documents[0], Log()), ("", {}))
        if row.keys() & questions.PASSAGES.keys():
            return questions.passages(documents, options, log)
        return Source(documents_of(documents, options, log))
    found = f"found {', '.join(path.name for path in paths[:9]) or 'nothing'}"
    for what, there, wanted in (
        ("documents", documents, f"a file of {', '.join(endings)}"),
        ("queries", queries, "a file with queries or topics in its name"),
        ("labels", labels, "a file with qrels or labels in its name"),
    ):
        if not there:
            log.problems.append(f"{root}:1: no {what}, {found}, wanted {wanted}")
    log.stop()
    return _collection(documents, queries, labels, root, options, log)


def _files(path: Path) -> list[Path]:
    """Return a file, or all below a folder. Raises EvalSetError where neither is."""
    if not path.exists():
        raise EvalSetError([f"{path}:1: is not there, wanted a file or a folder of tables"])
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def _collection(
    documents: list[Path],
    queries: list[Path],
    labels: list[Path],
    where: Path,
    options: Options,
    log: Log,
) -> Source:
    """Return what the files hold. Labels are chosen by split, and queries that are named after."""
    splits: dict[str, list[Path]] = {}
    for path in labels:
        name = re.sub(r"\.(tsv|txt|qrels|gz|csv|jsonl?|parquet)\b", "", path.name)
        name = re.sub(r"^(qrels|labels|judgments)([._-]|$)", "", name)
        splits.setdefault(name or "all", []).append(path)
    chosen = readers.choose(splits, options.split, where)
    own = [path for path in queries if any(name in path.name for name in chosen)] or queries
    return Source(
        documents_of(documents, options, log),
        chain.from_iterable(queries_of(path, options, log) for path in own),
        chain.from_iterable(
            labels_of(path, split, options, log)
            for split, paths in chosen.items()
            for path in paths
        ),
        tuple(splits),
    )
