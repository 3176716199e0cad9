"""Collections in tables: BEIR's and TREC's layouts, and any other with named columns."""

import re
from pathlib import Path

from . import readers, shapes, tables
from .readers import Paths, Source, Task

PARTS = {  # of a collection: the names of their files, of which the first that fits counts
    "labels": r"(?<![a-z])(qrels|labels|judgments)(?![a-z])",
    "queries": r"(?<![a-z])(queries|topics)(?![a-z])",
}
DOCUMENTS = {
    "beir": r"(^|/)corpus\.jsonl(\.gz)?$",
    "trec": r"\.jsonl(\.gz)?$",
    "table": r"\.(jsonl|json|csv|tsv|parquet)(\.gz)?$",
}
MTEB = {"query-id", "corpus-id"}  # columns of its labels, in default/ or data/
WANTED = (
    "wanted queries or topics in the names of queries, qrels, labels or judgments in those of "
    "labels, and beside them documents: corpus.jsonl for beir, .jsonl for trec, any table for table"
)


def read_tables(task: Task) -> Source:
    """Read tables: documents, queries and labels, documents alone, or a file of a known shape.

    The names of the files tell them apart: BEIR's (Thakur et al. 2021), TREC's, or others.
    """
    parts = tables_by_part(task)
    documents, queries = parts["documents"], parts["queries"]
    rows = ((p, tables.document_of(p, row, task)) for p, row in tables.rows_of(documents, task))
    if judged := judged_files(parts, task):
        pages = rows if documents else None
        splits = labels_by_split(judged)
        return shapes.judged(readers.choose_splits(splits, task), splits, pages, task)
    if documents and not queries and not parts["labels"]:
        return Source(rows)
    refuse_missing_parts(parts, task)
    splits = labels_by_split(parts["labels"])
    chosen = readers.choose_splits(splits, task)
    queries = [p for p in queries if any(split in p.name for split in chosen)] or queries
    return Source(
        rows,
        ((p, tables.query_of(p, row, task)) for p, row in tables.rows_of(queries, task)),
        (
            tables.label_of(place, row, split, task)
            for split, paths in chosen.items()
            for place, row in tables.rows_of(paths, task, tables.QRELS)
        ),
        tuple(splits),
    )


def refuse_missing_parts(parts: Paths, task: Task) -> None:
    """Raise EvalSetError where no file holds documents, queries or labels."""
    root = task.options.path
    names = ", ".join(path.name for path in tables.files_of(Path(root))[:9]) or "nothing"
    missing = [part for part, paths in parts.items() if not paths]
    task.problems += [f"{root}:1: no {part}, found {names}, {WANTED}" for part in missing]
    task.stop()


def tables_by_part(task: Task) -> Paths:
    """Return {documents, queries, labels: files} of a folder, --queries and --labels."""
    options, root = task.options, Path(task.options.path)
    patterns = PARTS | {"documents": DOCUMENTS[options.kind]}
    parts = {part: [] for part in patterns}
    for path in tables.files_of(root):
        name = path.relative_to(root).as_posix()
        fitting = [part for part in patterns if re.search(patterns[part], name)]
        if fitting == ["documents"] and shapes.first_row(path, task).keys() >= MTEB:
            fitting = ["labels"]
        if fitting or path == root:
            parts[[*fitting, "documents"][0]].append(path)
    for part, path in (("queries", options.queries), ("labels", options.labels)):
        parts[part] = tables.files_of(Path(path)) if path else parts[part]
    return parts


def judged_files(parts: Paths, task: Task) -> list[Path]:
    """Return the files with labels that hold their queries, too; they are then no documents.

    Raises EvalSetError where the only file is neither that nor a table of documents.
    """
    if task.options.kind != "table" or parts["queries"]:
        return []
    if parts["labels"]:
        return parts["labels"]
    documents = parts["documents"]
    if task.options.text:
        return []
    judged = [path for path in documents if shapes.shape_of(shapes.first_row(path, task))]
    parts["documents"][:] = [path for path in documents if path not in judged]
    if not judged and [Path(task.options.path)] == documents:
        row = shapes.first_row(documents[0], task)
        if row and not row.keys() & {*tables.DOCUMENT["text"]}:
            raise shapes.unknown_shape(documents[0], row)
    return judged


def labels_by_split(paths: list[Path]) -> Paths:
    """Return {split: files of labels} by what their names say beside `qrels`: qrels.dev.tsv.

    For default/test/0000.parquet that is its folder; parts of a split stand together.
    """
    splits = {}
    for path in paths:
        own = path.parent.name if path.stem.isdigit() else path.name
        name = re.sub(r"\.(tsv|txt|qrels|gz|csv|jsonl?|parquet)\b|-\d+-of-\d+", "", own)
        name = re.sub(r"^(qrels|labels|judgments)([._-]|$)", "", name)
        splits.setdefault(name or "all", []).append(path)
    return splits
