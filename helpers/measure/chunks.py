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

    def text(self, documents: evalset.Documents) -> str:
        """Return the slice of the document's retrieval text."""
        return documents[self.doc_id].retrieval_text[self.start : self.end]


def write_chunks(path: Path, chunks: list[Chunk]) -> None:
    """Write chunks as JSON lines; `read_chunks` says what is wrong with them."""
    files.write_jsonl(path, (chunk._asdict() for chunk in chunks))


def read_chunks(path: Path, documents: evalset.Documents | None = None) -> list[Chunk]:
    """Read a chunk file that `write_chunks` made; with `documents`, see that it is of them.

    Raises EvalSetError with file and line for every other row.
    """
    chunks, problems = [], []
    lengths = documents and {d: len(doc.retrieval_text) for d, doc in documents.items()}
    for place, row in files.read(path, problems, name="chunks"):
        chunk = Chunk(**row)
        chunks.append(chunk)
        length = lengths.get(chunk.doc_id, 0) if lengths else chunk.end
        if not chunk.start < chunk.end <= length:
            problems.append(
                f"{place}: chunk {chunk.start}:{chunk.end} is not in {chunk.doc_id}, "
                "wanted a span of a document of the corpus"
            )
    files.refuse(problems)
    return chunks
