"""HotpotQA, whose rows hold a question with its documents."""

import re
from pathlib import Path

from ..measure import files
from ..measure.files import EvalSetError
from . import readers, tables
from .readers import Label, Source, Task

FORM = (
    "question, context or supporting_facts is missing or of another form, wanted "
    'context [[title, [sentence, ...]], ...] or {"title": [...], "sentences": [...]}, '
    "supporting_facts [[title, number from 0], ...] or the same in columns"
)
ABOUT = (
    "Unlabelled paragraphs of a question are distractors; nobody judged them. Supporting sentences "
    "of a paragraph are evidence together; that both paragraphs are needed cannot be said."
)


def hotpotqa(task: Task) -> Source:
    """Read HotpotQA (Yang et al. 2018): the original JSON or Hugging Face's columns.

    Paragraphs are documents, supporting titles the labels, and all the supporting sentences of one
    paragraph its evidence, which they are together.
    """
    root, forms = Path(task.options.path), (".json", ".jsonl", ".parquet")
    paths = [path for path in tables.files_of(root) if tables.ending(path) in forms]
    if not paths:
        raise EvalSetError(f"{root}:1: no questions, wanted a .json, .jsonl or .parquet")
    splits = {}
    for path in paths:
        name = re.search(rf"(?<![a-z])({'|'.join(readers.SIDES)})(?![a-z])", path.name.lower())
        splits.setdefault(name[0] if name else "all", []).append(path)
    documents, queries, labels = {}, [], []
    for split, chosen in readers.choose_splits(splits, task).items():
        for number, (place, row) in enumerate(tables.rows_of(chosen, task), 1):
            try:
                query, paragraphs, quotes = hotpot_question(place, row, f"{split}-{number}", task)
            except ValueError as error:
                task.problems.append(f"{place}: {error}")
                continue
            queries.append((place, query))
            for document in paragraphs:
                _, former = documents.setdefault(document["doc_id"], (place, document))
                if former["text"] != document["text"]:
                    task.leave_out("documents with another text under an id that was there", place)
            for doc_id, sentences in quotes.items():
                text = documents[doc_id][1]["text"] if doc_id in documents else ""
                own = tuple(quote for quote in sentences if quote and quote in text)
                evidence = (own,) if own else ()
                labels.append(Label(place, split, query["query_id"], doc_id, 1, evidence))
    return Source(documents.values(), queries, labels, tuple(splits), about=(ABOUT,))


def hotpot_question(place: str, row: dict, name: str, task: Task) -> tuple[dict, list, dict]:
    """Return the query, its documents and {doc_id: supporting sentences} of a row.

    A question without an id takes `name`. Raises ValueError: FORM.
    """
    try:
        question = row["question"].strip()
        context = _pairs(row["context"], "sentences", list)
        facts = _pairs(row.get("supporting_facts") or [], "sent_id", int)
        paragraphs = {title: [s.strip() for s in sentences] for title, sentences in context}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(FORM) from None
    query_id = readers.id_of(place, row, ("_id", "id"), task, name)
    query = {"query_id": query_id, "query": question}
    form = files.schema("retrieval_queries")
    if kind := readers.text_of(row, "type"):
        if form.fits("kind", kind):
            query["kind"] = kind
        else:
            task.leave_out(f"types that are no kind ({form.wanted('kind')})", place)
    if answer := readers.text_of(row, "answer"):
        query["answers"] = [answer]
    documents = [
        {"doc_id": _title_id(title), "title": title, "text": " ".join(sentences).strip()}
        for title, sentences in paragraphs.items()
    ]
    quotes = {title: [] for title, _ in facts}
    for title, number in facts:
        sentences = paragraphs.get(title, [])
        if 0 <= number < len(sentences):
            quotes[title].append(sentences[number])
        elif sentences:
            task.leave_out("evidence whose sentence number is beyond its paragraph", place)
    return query, documents, {_title_id(title): quotes[title] for title in quotes}


def _pairs(values: dict | list, second: str, kind: type) -> list[tuple]:
    """Return (title, value of `kind`) of both layouts: a dict of two lists, or a list of pairs."""
    if isinstance(values, dict):
        values = zip(values["title"], values[second], strict=True)
    pairs = [(title, value) for title, value in values]
    if not all(isinstance(title, str) and type(value) is kind for title, value in pairs):
        raise TypeError
    return pairs


def _title_id(title: str) -> str:
    return readers.encode_id(title.strip().replace(" ", "_"))
