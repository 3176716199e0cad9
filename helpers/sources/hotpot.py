"""HotpotQA: questions with the paragraphs and sentences that support their answers."""

import re
from collections.abc import Iterator
from pathlib import Path

from .. import files
from ..files import EvalSetError
from .readers import Asked, Label, Log, Source, array, choose, id_of, safe, text_of, with_bar


def hotpotqa(asked: Asked, log: Log) -> Source:
    """Read HotpotQA (Yang et al. 2018): the original JSON or Hugging Face's columns.

    Paragraphs are documents, questions are queries, supporting titles are the labels, and their
    supporting sentences the evidence, each by itself.
    """
    path, files = Path(asked.path), {}
    found = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
    for file in found:
        if {".json", ".jsonl", ".parquet"} & set(file.suffixes):
            name = re.search(r"train|dev|validation|test", file.name)
            files.setdefault(name[0] if name else "all", []).append(file)
    if not files:
        raise EvalSetError([f"{path}:1: no questions, wanted a .json, .jsonl or .parquet"])
    splits = choose(files, asked.split, path)
    documents, queries, labels = {}, [], []
    for split, paths in splits.items():
        for number, (place, row) in enumerate(
            (pair for file in paths for pair in with_bar(array(file, log), "questions")), 1
        ):
            _question(place, row, split, f"{split}-{number}", documents, queries, labels, log)
    return Source(
        documents.values(),
        queries,
        labels,
        tuple(files),
        about=("Unlabelled paragraphs of a question are distractors; nobody judged them.",),
    )


def _question(place, row, split, name, documents, queries, labels, log) -> None:
    try:
        paragraphs = _pairs(row["context"], "sentences")
        facts = _pairs(row.get("supporting_facts") or [], "sent_id")
        query = {"query_id": id_of(place, {"": name, **row}, ("_id", "id", ""), log) or name}
        query["query"] = row["question"].strip()
        wrong = [*_unfit(paragraphs, facts)]
    except (KeyError, TypeError, ValueError, AttributeError):
        wrong = [
            "question, context or supporting_facts is missing or of another form, wanted "
            'context [[title, [sentence, ...]], ...] or {"title": [...], "sentences": [...]}'
        ]
    if wrong:
        log.wrong(f"{place}: {wrong[0]}")
        return
    by_title = {title: [s.strip() for s in sentences] for title, sentences in paragraphs}
    for title, sentences in by_title.items():
        document = {"doc_id": _title_id(title), "title": title, "text": " ".join(sentences).strip()}
        former = documents.setdefault(document["doc_id"], (place, document))[1]
        if former["text"] != document["text"]:
            log.leave("paragraphs with another text under a title that was there", place)
    kind = text_of(row, "type")
    if kind and not files.is_label(kind):
        log.leave(f"types that are no label ({files.CHECKS['label'][1]})", place)
        kind = ""
    more = {"kind": kind, "answers": [text_of(row, "answer")]}
    queries.append((place, {**query, **{key: v for key, v in more.items() if v and v != [""]}}))
    for title in dict.fromkeys(title for title, _ in facts):
        numbers = [number for other, number in facts if other == title]
        sentences, body = by_title.get(title, []), documents.get(_title_id(title), ("", {}))[1]
        if sentences and max(numbers) >= len(sentences):
            log.leave("evidence whose sentence number is beyond its paragraph", place)
        found = [sentences[number] for number in numbers if number < len(sentences)]
        evidence = tuple(quote for quote in found if quote and quote in body["text"])
        labels.append(Label(place, split, query["query_id"], _title_id(title), 1, evidence))


def _pairs(found, second: str) -> list:
    if isinstance(found, dict):
        return list(zip(found["title"], found[second], strict=True))
    return [(title, other) for title, other in found]


def _unfit(paragraphs: list[tuple], facts: list[tuple]) -> Iterator[str]:
    for title, found in paragraphs:
        if not isinstance(title, str):
            yield f"context: title {str(title)[:40]} is no text, wanted a title"
        elif not isinstance(found, list) or not all(isinstance(s, str) for s in found):
            yield f"context: {title[:40]!r} has {str(found)[:40]!r}, wanted a list of sentences"
    for title, number in facts:
        if not isinstance(title, str):
            yield f"supporting_facts: title {str(title)[:40]} is no text, wanted a title"
        elif type(number) is not int or number < 0:
            yield f"supporting_facts: sentence {number!r} of {title!r}, wanted a number from 0"


def _title_id(title: str) -> str:
    return safe(title.strip().replace(" ", "_"))
