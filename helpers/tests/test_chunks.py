"""Chunk files hold spans of documents, each once, and nothing else is written."""

import pytest
from conftest import write_rows

from helpers import chunks, evalset
from helpers.evalset import Document

FIRST, SECOND = chunks.Chunk("a", 0, 0, 4, 1), chunks.Chunk("a", 1, 3, 7, 2)


def test_a_chunk_is_a_slice_of_the_title_and_the_body():
    documents = {"a": Document("a", "Disk", "is full"), "b": Document("b", "", "Queue")}
    assert [chunk.text(documents) for chunk in (FIRST, SECOND)] == ["Disk", "k\n\ni"]
    assert chunks.Chunk("b", 0, 1, 3, 1).text(documents) == "ue"
    assert [chunk.chunk_id for chunk in (FIRST, SECOND)] == ["a#0", "a#1"]


def test_a_chunk_file_has_a_line_for_each_chunk_and_reads_back(tmp_path):
    found = [FIRST, SECOND, SECOND._replace(doc_id="é")]
    chunks.write_chunks(tmp_path / "c.jsonl", found)
    first = '{"doc_id": "a", "chunk_idx": 0, "start": 0, "end": 4, "n_tokens": 1}'
    lines = (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()
    assert (lines[0], len(lines)) == (first, 3)
    assert chunks.read_chunks(tmp_path / "c.jsonl") == found


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([FIRST, SECOND._replace(end=3)], "chunk a#1: span 3:3, wanted 0 <= start < end"),
        ([FIRST._replace(start=-1)], "chunk a#0: span -1:4, wanted 0 <= start < end"),
        ([FIRST._replace(start=5)], "chunk a#0: span 5:4, wanted 0 <= start < end"),
        (
            [FIRST, SECOND, SECOND._replace(chunk_idx=0)],
            "a chunk id stands twice, wanted each chunk_idx once in a document",
        ),
    ],
)
def test_empty_spans_and_repeated_ids_are_refused(tmp_path, bad, said):
    with pytest.raises(ValueError) as error:
        chunks.write_chunks(tmp_path / "c.jsonl", bad)
    assert str(error.value) == said
    assert not (tmp_path / "c.jsonl").exists()


GOOD = {"doc_id": "a", "chunk_idx": 0, "start": 0, "end": 3, "n_tokens": 1}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"doc_id": "a"}, "found the fields doc_id, wanted doc_id, chunk_idx, start, end, n_to"),
        (GOOD | {"more": 1}, "found the fields doc_id, chunk_idx, start, end, n_tokens, more, "),
        (GOOD | {"doc_id": 1}, "found the fields "),
        (GOOD | {"start": 3}, "found [0, 3, 3, 1], wanted whole numbers, start below end"),
        (GOOD | {"start": -1}, "found [0, -1, 3, 1], wanted"),
        (GOOD | {"n_tokens": 1.5}, "found [0, 0, 3, 1.5], wanted"),
        (GOOD | {"end": 5}, "chunk 0:5 is not in a, wanted a span of a document of the corpus"),
        (GOOD | {"doc_id": "b"}, "chunk 0:3 is not in b, wanted"),
    ],
)
def test_a_row_that_is_no_chunk_is_told_with_its_line(tmp_path, row, said):
    documents = {"a": evalset.Document("a", "", "text")}
    path = tmp_path / "c.jsonl"
    write_rows(path, GOOD | {"end": 4}, row)
    with pytest.raises(evalset.EvalSetError) as caught:
        chunks.read_chunks(path, documents)
    assert str(caught.value).startswith(f"{path}:2: {said}")
    write_rows(path, GOOD | {"end": 4})
    assert chunks.read_chunks(path, documents) == [chunks.Chunk("a", 0, 0, 4, 1)]
