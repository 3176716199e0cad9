"""Chunk files: spans of documents.

The text of a chunk is a slice of its document, so it cannot drift.
"""

import math
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
    chunks: list[Chunk] = []
    problems: list[str] = []
    for place, row in files.rows(path, problems):
        if {name: type(value) for name, value in row.items()} != Chunk.__annotations__:
            wanted = "wanted text in doc_id, whole numbers in " + ", ".join(Chunk._fields[1:])
            problems.append(f"{place}: found {str(row)[:100]}, {wanted}")
            continue
        chunk = Chunk(**row)
        length = math.inf
        if documents is not None:
            known = documents.get(chunk.doc_id)
            length = len(known.retrieval_text) if known else 0
        if 0 <= chunk.start < chunk.end <= length:
            chunks.append(chunk)
        else:
            problems.append(
                f"{place}: chunk {chunk.start}:{chunk.end} is not in {chunk.doc_id}, wanted a span "
                "of a document of the corpus"
            )
    if problems:
        raise evalset.EvalSetError(problems)
    return chunks


# Spans of other engines, in a run.


def pair(result) -> tuple:
    """Return (id, score) of a result in a run, where a span is `doc_id#start:end`.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    if isinstance(result, dict):
        return f"{result['doc_id']}#{result['start']}:{result['end']}", result["score"]
    ranked_id, score = result
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
