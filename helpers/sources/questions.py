"""Rows that hold a query with its documents: HotpotQA's questions, MIRACL's passages, triples."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .. import files
from ..files import EvalSetError
from . import readers
from .readers import Label, Log, Options, Source
from .tables import DOCUMENT, QUERY, columns, ending, rows_of, title_and_text

FORM = (
    "question, context or supporting_facts is missing or of another form, wanted "
    'context [[title, [sentence, ...]], ...] or {"title": [...], "sentences": [...]}, '
    "supporting_facts [[title, number from 0], ...] or the same in columns"
)
PASSAGES = {  # fields that hold passages or texts, and the grade that they say
    "positive_passages": 1,
    "positive": 1,
    "negative_passages": 0,
    "negative": None,  # of triples: nobody judged them
}


class Question(NamedTuple):
    """What one row holds. `judged` has (doc_id, grade, quotes), also of documents elsewhere."""

    query: dict
    documents: list[dict]
    judged: list[tuple[str, int, list[str]]]


def hotpotqa(options: Options, log: Log) -> Source:
    """Read HotpotQA (Yang et al. 2018): the original JSON or Hugging Face's columns.

    Paragraphs are documents, questions are queries, supporting titles are the labels, and their
    supporting sentences the evidence, each by itself.
    """
    path = Path(options.path)
    paths = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
    paths = [p for p in paths if ending(p) in (".json", ".jsonl", ".parquet")]
    if not paths:
        raise EvalSetError([f"{path}:1: no questions, wanted a .json, .jsonl or .parquet"])
    about = "Unlabelled paragraphs of a question are distractors; nobody judged them."
    return _source(paths, _hotpot_question, about, options, log)


def passages(paths: list[Path], options: Options, log: Log) -> Source:
    """Read rows of a query and its passages, as MIRACL's (Zhang et al. 2023), or triples of texts.

    A text without an id is known by the start of its SHA-256.
    """
    about = "Documents are the passages of the rows; what else the collection has is not here."
    return _source(paths, _passages_question, about, options, log)


def _source(
    paths: list[Path],
    question_of: Callable[[str, dict, str, Options, Log], Question],
    about: str,
    options: Options,
    log: Log,
) -> Source:
    """Return the questions of the chosen splits; `question_of` raises ValueError in words."""
    documents, queries, labels = {}, {}, []
    splits = readers.by_split(paths)
    for split, chosen in readers.choose(splits, options.split, options.path).items():
        rows = (row for path in chosen for row in readers.with_bar(rows_of(path, log), "questions"))
        for number, (place, row) in enumerate(rows, 1):
            try:
                question = question_of(place, row, f"{split}-{number}", options, log)
            except ValueError as error:
                log.problems.append(f"{place}: {error}")
                continue
            query = question.query
            key = query["query_id"], query["query"]
            if key in queries:
                log.changed["rows of a query that was there, which were joined"] += 1
            queries.setdefault(key, (place, query))
            for document in question.documents:
                former = documents.setdefault(document["doc_id"], (place, document))[1]
                if former["text"] != document["text"]:
                    log.leave("documents with another text under an id that was there", place)
            for doc_id, grade, quotes in question.judged:
                text = documents[doc_id][1]["text"] if doc_id in documents else ""
                evidence = tuple(quote for quote in quotes if quote and quote in text)
                labels.append(Label(place, split, query["query_id"], doc_id, grade, evidence))
    return Source(documents.values(), queries.values(), labels, tuple(splits), about=(about,))


def _own_id(place: str, row: dict, names: tuple[str, ...], other: str, log: Log) -> str:
    """Return a row's id, or another where it has none."""
    if all(row.get(name) is None for name in names):
        return other
    return readers.id_of(place, row, names, log) or other


# HotpotQA.


def _hotpot_question(place: str, row: dict, name: str, options: Options, log: Log) -> Question:
    try:
        question = row["question"].strip()
        context = _pairs(row["context"], "sentences")
        facts = _pairs(row.get("supporting_facts") or [], "sent_id")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(FORM) from None
    lists = all(isinstance(sentences, list) for _, sentences in context)
    texts = [title for title, _ in (*context, *facts)]
    texts += [sentence for _, sentences in context for sentence in sentences] if lists else []
    numbers = all(type(number) is int and number >= 0 for _, number in facts)
    if not lists or not numbers or not all(isinstance(text, str) for text in texts):
        raise ValueError(FORM)
    query = {"query_id": _own_id(place, row, ("_id", "id"), name, log), "query": question}
    kind, answer = readers.text_of(row, "type"), readers.text_of(row, "answer")
    form = files.schema("retrieval_queries")
    if form.fits("kind", kind):
        query["kind"] = kind
    elif kind:
        log.leave(f"types that are no label ({form.wanted('kind')})", place)
    query |= {"answers": [answer]} if answer else {}
    stripped = {title: [s.strip() for s in sentences] for title, sentences in context}
    documents = [
        {"doc_id": _title_id(title), "title": title, "text": " ".join(sentences).strip()}
        for title, sentences in stripped.items()
    ]
    quotes: dict[str, list[str]] = {}
    for title, number in facts:
        sentences = stripped.get(title, [])
        quotes.setdefault(title, []).extend(sentences[number : number + 1])
        if sentences and number >= len(sentences):
            log.leave("evidence whose sentence number is beyond its paragraph", place)
    judged = [(_title_id(title), 1, sentences) for title, sentences in quotes.items()]
    return Question(query, documents, judged)


def _pairs(values: dict | list, second: str) -> list[tuple]:
    """Return (title, other) of both layouts: a dict of two lists, or a list of pairs."""
    if isinstance(values, dict):
        values = zip(values["title"], values[second], strict=True)
    return [(title, other) for title, other in values]


def _title_id(title: str) -> str:
    return readers.encoded(title.strip().replace(" ", "_"))


# Passages.


def _passages_question(place: str, row: dict, _: str, options: Options, log: Log) -> Question:
    names = columns(options, QUERY)
    query = readers.text_of(row, *names["query"])
    if not query:
        raise ValueError(readers.missing("query", names["query"], row, "--columns"))
    query_id = _own_id(place, row, names["query_id"], _hash(query), log)
    question = Question({"query_id": query_id, "query": query}, [], [])
    for field, grade in PASSAGES.items():
        values = row.get(field) or []
        for value in values if isinstance(values, list) else [values]:
            document = _passage(place, field, value, options, log)
            question.documents.append(document)
            if grade is not None:
                question.judged.append((document["doc_id"], grade, []))
    return question


def _passage(place: str, field: str, value: dict | str, options: Options, log: Log) -> dict:
    passage = {"text": value} if isinstance(value, str) else value
    if not isinstance(passage, dict):
        wanted = "wanted a text or an object with docid and text"
        raise ValueError(f"{field} holds {str(value)[:40]}, {wanted}")
    title, text = title_and_text(place, passage, options, log)
    names = columns(options, DOCUMENT)["doc_id"]
    doc_id = _own_id(place, passage, names, _hash(f"{title}\n{text}"), log)
    return readers.document_of(doc_id, title, text, log)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
