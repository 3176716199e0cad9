"""Files of other tools that hold queries with their labels: one table says which column is what."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import NamedTuple

from ..measure.files import EvalSetError, Row, short_json
from . import readers, tables
from .readers import Label, Paths, Source, Task

OWN, UNREAD = None, -1  # the grade stands beside the document; nobody judged it


class Shape(NamedTuple):
    """Where the rows of a tool keep a query and its documents."""

    query: str  # names of a text, or of a search request that holds one
    documents: dict[str, int | None]  # field: grade of all that it holds; a row needs the first
    levels: tuple[str, ...] = ()  # lists in which the rows stand, the outermost first

    def lacking(self, row: dict) -> list[str]:
        """Return which of the columns that tell the shape a row doesn't have."""
        wanted = self.levels[:1] or (self.query, next(iter(self.documents)))
        return [names for names in wanted if not row.keys() & {*names.split(" or ")}]

    def columns(self) -> set[str]:
        """Return the columns that its rows may have."""
        columns = {*self.query.split(" or "), *self.documents}
        if OWN in self.documents.values():
            columns.update(tables.LABEL["relevance"])
        return columns


SHAPES = {
    "_rank_eval": Shape("request or params", {"ratings": OWN}, ("requests",)),
    "OpenSearch": Shape("query", {"ratings": OWN}, ("judgmentRatings",)),
    "OpenSearch, as fetched": Shape(
        "query", {"ratings": OWN}, ("hits", "hits", "_source", "judgmentRatings")
    ),
    "SQuAD": Shape("question", {"context": 1}, ("data", "paragraphs", "qas")),
    "SQuAD in rows": Shape("question", {"context": 1}),
    "LlamaIndex": Shape("queries", {"relevant_docs": 1, "corpus": UNREAD}),
    "Ragas": Shape("user_input", {"reference_contexts": 1}),
    "Ragas before 0.2": Shape("question", {"contexts": 1}),
    "MIRACL": Shape("query", {"positive_passages": 1, "negative_passages": 0}),
    "pairs": Shape("anchor or query", {"positive": 1, "negative": UNREAD}),
    "--columns": Shape("query", {"passage": 1}),
    "Quepid": Shape("query", {"docid": OWN}),
    "Quepid, detailed": Shape("Query Text", {"Doc ID": OWN}),
    "judgments": Shape("query", {"doc_id": OWN}),
    "eval_queries": Shape("query or question", {"relevant_docs": 1}),
}
NAMED = (
    "--columns query=NAME,doc_id=NAME,relevance=NAME or query=NAME,passage=NAME names those of "
    "labels, --text those of documents"
)
AROUND = ("title", "context")  # what a row takes from those in whose lists it stands
PAGES, CORPUS = "relevant_docs", "corpus"  # paths of pages, below the folder or its `corpus`
TYPED = re.compile(  # in a search request, the text that somebody typed
    r'"(?:query|query_text|query_string|match\w*": \{"[^"]+)": ("(?:[^"\\]|\\.)*")'
)
HOP = re.compile(r"<\d+-hop>\s*")  # Ragas: before the passages of a question that needs several
SIGN = re.compile(r"[^\W_]")  # letters and digits; a passage may lack the markup of its page
QUOTED = 100  # words; a longer passage is no quote
NOWHERE = "passages that stand in no document"
MOST = 3  # documents that hold a passage; in more it is boilerplate, which answers nothing
BOILERPLATE = f"passages that stand in more than {MOST} documents"
MISSHAPEN = (AttributeError, KeyError, TypeError)  # of a value where another one stands


class Found(NamedTuple):
    """What was read so far, and which ids queries and passages without one were given."""

    queries: dict
    documents: dict
    labels: list[Label]
    asked: dict[str, str]  # {text: id}
    passages: dict[str, str]  # {text: id}


def shape_of(row: dict) -> Shape | None:
    """Return the shape of a row, None for one that isn't known."""
    return next((shape for shape in SHAPES.values() if not shape.lacking(row)), None)


def unknown_shape(path: Path, row: dict) -> EvalSetError:
    """Return the problem of a file without a known shape: its columns, and what is nearest."""
    found = f"{path}:1: found columns {', '.join(map(str, row)) or 'none'}"
    flat = {tool: shape for tool, shape in SHAPES.items() if not shape.levels}
    in_common = {tool: len(shape.columns() & row.keys()) for tool, shape in flat.items()}
    tool = max(flat, key=in_common.get)
    if not in_common[tool]:
        return EvalSetError(f"{found}; wanted one of: {', '.join(SHAPES)}; {NAMED}")
    lacking = " and ".join(SHAPES[tool].lacking(row))
    return EvalSetError(f"{found}; nearest is {tool}, which has {lacking}, too; {NAMED}")


def first_row(path: Path, task: Task) -> dict:
    """Return the first row of a file, {} where none can be read; nothing is told."""
    rows = tables.rows_of([path], Task(task.options), tables.QRELS)
    return next((row for _, row in rows), {})


def judged(splits: Paths, offered: Iterable[str], pages: Iterable | None, task: Task) -> Source:
    """Read queries with their labels. Raises EvalSetError: an unknown shape.

    `pages` are the documents; passages without an id are found in them by their text. Without
    pages the passages are the documents.
    """
    found = Found({}, {}, [], {}, {})
    for split, paths in splits.items():
        for path in paths:
            read_file(path, split, found, task)
    labels = found.labels
    if pages is None:
        pages = found.documents.values()
        if labels and not pages:
            task.problems.append(
                f"{labels[0].place}: names documents without their text, wanted it as "
                "--labels, and the documents in --from"
            )
    elif found.passages:
        pages = [*pages]
        labels = labels_of_pages(labels, found.passages, pages, task)
    return Source(pages, found.queries.values(), labels, tuple(offered))


def read_file(path: Path, split: str, found: Found, task: Task) -> None:
    """Add what a file holds. Raises EvalSetError: its shape isn't known."""
    first = first_row(path, task)
    shape = shape_of(first)
    if not shape:
        raise unknown_shape(path, first)
    for place, row in tables.rows_of([path], task, tables.QRELS):
        try:
            for inner in inner_rows(row, shape):
                add_row(place, split, inner, shape, found, task)
        except MISSHAPEN:
            task.problems.append(
                f"{place}: found {short_json(row)}, wanted lists and objects as the "
                "tool writes them"
            )
        except ValueError as error:
            task.problems.append(f"{place}: {error}")


def inner_rows(row: dict, shape: Shape) -> Iterator[dict]:
    """Yield the rows of single queries. Raises ValueError where one lacks a column."""
    if shape.query == "queries":
        yield from _by_query(row)
        return
    for inner in _unnested(row, shape.levels):
        if lacking := shape._replace(levels=()).lacking(inner):
            raise ValueError(f"no {' and '.join(lacking)}, found {', '.join(map(str, inner))}")
        yield inner


def _unnested(row: dict, levels: tuple[str, ...]) -> Iterator[dict]:
    """Yield the rows that stand in lists of lists."""
    if not levels:
        yield row
        return
    items = row.get(levels[0])
    if not isinstance(items, (list, dict)):
        raise ValueError(f"no {levels[0]}, found {', '.join(map(str, row))}, wanted a list")
    around = {name: row[name] for name in AROUND if name in row}
    for item in [items] if isinstance(items, dict) else items:
        yield from _unnested(around | item, levels[1:])


def _by_query(row: dict) -> Iterator[dict]:
    """Yield a row a query of LlamaIndex's EmbeddingQAFinetuneDataset, which has objects by id."""
    every = [{"doc_id": name, "text": text} for name, text in row.get("corpus", {}).items()]
    for name, text in row["queries"].items():
        relevant = [{"doc_id": doc_id} for doc_id in row[PAGES].get(name, [])]
        yield {"query_id": name, "queries": text, PAGES: relevant, CORPUS: every}
        every = []


def add_row(place: str, split: str, row: dict, shape: Shape, found: Found, task: Task) -> None:
    """Add the query of a row, its labels and the documents whose text it has."""
    query = query_of(place, row, shape, found.asked, task)
    found.queries.setdefault((query["query_id"], query["query"]), (place, query))
    for item, grade in documents_of(place, row, shape, found.passages, task):
        label = tables.label_of(place, item | {"query_id": query["query_id"]}, split, task)
        text = readers.text_of(item, *tables.DOCUMENT["text"])
        if text:
            title = readers.text_of(item, "title")
            document = {"doc_id": label.doc_id, "title": title, "text": text}
            found.documents.setdefault(label.doc_id, (place, document))
        if grade != UNREAD:
            found.labels.append(label)


def query_of(place: str, row: dict, shape: Shape, ids: dict[str, str], task: Task) -> dict:
    """Return the query of a row; one without an id gets one by its text, kept in `ids`."""
    value = next(row[name] for name in shape.query.split(" or ") if name in row)
    if not isinstance(value, str):
        typed = TYPED.search(json.dumps(value, default=str))
        value = json.loads(typed[1]) if typed else ""
    names = ("query_id", "qid")
    if shape.levels or OWN not in shape.documents.values():
        names += ("_id", "id")  # else that of a judgment
    own = ids.setdefault(value.strip(), f"q{len(ids) + 1}")
    query = {"query_id": readers.id_of(place, row, names, task, own), "query": value.strip()}
    if answers := answers_of(row):
        query["answers"] = answers
    return query


def answers_of(row: dict) -> list[str] | None:
    """Return the answers of SQuAD's rows, each once; none where their passage has none."""
    answers = row.get("answers") if "context" in row else None
    if isinstance(answers, dict):  # in columns
        return list(dict.fromkeys(answers["text"]))
    return answers and list(dict.fromkeys(answer["text"] for answer in answers))


def documents_of(
    place: str, row: dict, shape: Shape, passages: dict[str, str], task: Task
) -> Iterator[tuple[dict, int | None]]:
    """Yield (document with its relevance, grade) of a row; passages without an id get one."""
    unanswered = answers_of(row) == []
    for field, grade in shape.documents.items():
        for item in items_of(row, field, grade):
            if not isinstance(item, dict):
                item = named(item, field, row, passages)
            if grade is OWN and "" in (item.get("rating"), item.get("Rating")):
                task.leave_out("documents without a rating", place)
            elif grade is OWN:
                yield item, grade
            elif unanswered and grade:
                task.leave_out("questions that their passage does not answer", place)
                yield item | {"relevance": UNREAD}, UNREAD
            else:
                yield item | {"relevance": grade}, grade


def named(item: str | int, field: str, row: dict, passages: dict[str, str]) -> dict:
    """Return the document of a page's path, or of a passage, whose id is kept in `passages`."""
    if field == PAGES:
        path = PurePath(str(item)).as_posix().removeprefix(f"{CORPUS}/")
        return {"doc_id": readers.page_name(PurePath(path))}
    text = HOP.sub("", item, count=1).strip()
    doc_id = passages.setdefault(text, f"p{len(passages) + 1}")
    return {"doc_id": doc_id, "title": row.get("title"), "text": text}


def items_of(row: dict, field: str, grade: int | None) -> list[str | dict]:
    """Return the documents in a field: texts, objects, or the row itself where it names one."""
    value = row.get(field)
    if grade is OWN and isinstance(value, (str, int)):
        return [row]
    if isinstance(value, str) and value.startswith("["):  # a list in a cell of CSV
        with suppress(ValueError, SyntaxError):
            value = ast.literal_eval(value)
    items = value if isinstance(value, list) else [value]
    return [item for item in items if item]


def labels_of_pages(
    labels: list[Label], passages: dict[str, str], pages: list[Row], task: Task
) -> list[Label]:
    """Return the labels with the pages that hold their passages; a short one is evidence there."""
    quotes = quotes_of(passages, pages)
    found = []
    for label in labels:
        places = quotes.get(label.doc_id, {label.doc_id: ""})
        if not 1 <= len(places) <= MOST:
            task.leave_out(BOILERPLATE if places else NOWHERE, label.place)
            continue
        for doc_id, quote in places.items():
            evidence = ((quote,),) if quote and len(quote.split()) <= QUOTED else label.evidence
            found.append(label._replace(doc_id=doc_id, evidence=evidence))
    return found


def quotes_of(passages: dict[str, str], pages: list[Row]) -> dict[str, dict[str, str]]:
    """Return {passage: {page: what stands there}}. Only letters and digits are compared."""
    quotes = {name: {} for name in passages.values()}
    signs = {name: "".join(SIGN.findall(text)) for text, name in passages.items()}
    for _, row in pages:
        text = f"{row['title']}\n\n{row['text']}"
        page = "".join(SIGN.findall(text))
        for name, wanted in signs.items():
            if wanted and wanted in page:
                quotes[name][row["doc_id"]] = re.search(r"[\W_]*".join(wanted), text)[0]
    return quotes
