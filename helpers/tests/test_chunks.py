"""Chunk files hold spans of documents, each once, and nothing else is written or read."""

import pytest
from conftest import write_rows

from helpers.measure import chunks, evalset
from helpers.measure.evalset import Document

FIRST, SECOND = chunks.Chunk("a", 0, 0, 4, 1), chunks.Chunk("a", 1, 3, 7, 2)


def test_a_chunk_is_a_slice_of_title_blank_line_and_body():
    documents = {"a": Document("a", "Disk", "is full"), "b": Document("b", "", "Queue")}
    assert [chunk.text(documents) for chunk in (FIRST, SECOND)] == ["Disk", "k\n\ni"]
    assert chunks.Chunk("b", 0, 1, 3, 1).text(documents) == "ue" and SECOND.chunk_id == "a#1"


def test_a_chunk_file_has_a_line_for_each_chunk_and_reads_back(tmp_path):
    written = [FIRST, SECOND, SECOND._replace(doc_id="é")]
    chunks.write_chunks(tmp_path / "c.jsonl", written)
    first = '{"doc_id": "a", "chunk_idx": 0, "start": 0, "end": 4, "n_tokens": 1}\n'
    assert (tmp_path / "c.jsonl").read_text(encoding="utf-8").startswith(first)
    assert chunks.read_chunks(tmp_path / "c.jsonl") == written


def test_rows_that_are_no_chunks_are_all_told_with_their_lines(tmp_path):
    good = FIRST._asdict()
    span = "is not in {}, wanted a span of a document of the corpus"
    rows = {  # by what is told of them
        "field more is unknown, wanted one of: doc_id, chunk_idx, start": good | {"more": 1},
        "field chunk_idx is true, wanted a whole number from 0": good | {"chunk_idx": True},
        "field start is -1, wanted a whole number of characters from 0": good | {"start": -1},
        "doc_id and chunk_idx a 0 stands already at line 1, wanted each once": good | {"end": 3},
        "chunk 3:3 " + span.format("a"): good | {"chunk_idx": 1, "start": 3, "end": 3},
        "chunk 0:5 " + span.format("a"): good | {"chunk_idx": 2, "end": 5},
        "chunk 0:1 " + span.format("b"): good | {"doc_id": "b", "end": 1},
    }
    path, documents = tmp_path / "c.jsonl", {"a": evalset.Document("a", "", "text")}
    write_rows(path, good, *rows.values())
    with pytest.raises(evalset.EvalSetError) as caught:
        chunks.read_chunks(path, documents)
    for line, (told, problem) in enumerate(zip(rows, caught.value.problems, strict=True), 2):
        assert problem.startswith(f"{path}:{line}: {told}")
    with pytest.raises(evalset.EvalSetError, match="none.jsonl:1: cannot be read"):
        chunks.read_chunks(tmp_path / "none.jsonl")
    write_rows(path, good)
    assert chunks.read_chunks(path, documents) == [FIRST]
