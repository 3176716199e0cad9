"""Chunk files: spans of documents.

The text of a chunk is a slice of its document, so it cannot drift.
"""

from pathlib import Path
from typing import NamedTuple

from . import evalset, files


class Chunk(NamedTuple):
    """A span of one document's retrieval text.

    `start` and `end` count characters, `n_tokens` tokens.
    """

    doc_id: str
    chunk_idx: int
    start: int
    end: int
    n_tokens: int

    @property
    def chunk_id(self) -> str:
        """doc_id#chunk_idx, unique in a corpus."""
        return f"{self.doc_id}#{self.chunk_idx}"

    def text(self, documents: dict[str, evalset.Document]) -> str:
        """Return the slice of the document's retrieval text."""
        return documents[self.doc_id].retrieval_text[self.start : self.end]


def write_chunks(path: Path, chunks: list[Chunk]) -> None:
    """Write chunks as JSON lines.

    Raises ValueError for a span that is empty or whose id stands twice.
    """
    for chunk in chunks:
        if not 0 <= chunk.start < chunk.end:
            raise ValueError(
                f"chunk {chunk.chunk_id}: span {chunk.start}:{chunk.end}, wanted 0 <= start < end"
            )
    if len({chunk.chunk_id for chunk in chunks}) < len(chunks):
        raise ValueError("a chunk id stands twice, wanted each chunk_idx once in a document")
    files.write_jsonl(path, (chunk._asdict() for chunk in chunks))


def read_chunks(path: Path, documents: dict[str, evalset.Document] | None = None) -> list[Chunk]:
    """Read a chunk file that `write_chunks` made; with `documents`, see that it is of them.

    Raises EvalSetError with file and line for every other row.
    """
    problems, found = files.Problems(), []
    for place, row in files.rows(path, problems.append):
        wrong = _wrong(row, documents)
        if wrong:
            problems.append(f"{place}: {wrong}")
        else:
            found.append(Chunk(**row))
    if problems:
        raise evalset.EvalSetError(problems)
    return found


def _wrong(row: dict, documents: dict[str, evalset.Document] | None) -> str:
    """Return why a row is no chunk, "" where it is one."""
    doc_id, *numbers = (row.get(name) for name in Chunk._fields)
    if set(row) != {*Chunk._fields} or not isinstance(doc_id, str):
        return f"found the fields {', '.join(row)}, wanted {', '.join(Chunk._fields)}"
    _, start, end, _ = numbers
    if not all(type(number) is int and number >= 0 for number in numbers) or start >= end:
        return f"found {numbers}, wanted whole numbers, start below end"
    if documents is None or end <= len(getattr(documents.get(doc_id), "retrieval_text", "")):
        return ""
    return f"chunk {start}:{end} is not in {doc_id}, wanted a span of a document of the corpus"


# Spans of other engines, in a run.


def pair(found) -> tuple:
    """Return (id, score) of a result in a run, where a span is `doc_id#start:end`.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    if isinstance(found, dict):
        return f"{found['doc_id']}#{found['start']}:{found['end']}", found["score"]
    ranked_id, score = found
    return ranked_id, score


def span_fault(name: str, documents: dict[str, evalset.Document]) -> str:
    """Return why a span cannot be one, "" if it can or if `name` is none."""
    doc_id, _, part = name.partition("#")
    start, colon, end = part.partition(":")
    if not colon:
        return ""
    length = len(documents[doc_id].retrieval_text)
    fits = start.isdecimal() and end.isdecimal() and int(start) < int(end) <= length
    wanted = f"wanted 0 <= start < end <= {length}, in characters of title, blank line and text"
    return "" if fits else f"span {start} to {end} of {doc_id}, {wanted}"
