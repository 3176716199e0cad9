"""LangChain's stored answers are whole, belong to this corpus and tell a wrong splitter."""

import sys
from pathlib import Path

import pytest

from helpers.measure import evalset, runs
from helpers.teach.check import chunking, mistakes, recursive, stored
from helpers.tests.teach.check.exercises import solved

sys.path.append(str(Path(__file__).parents[2]))
import remake_pieces  # noqa: E402

LENGTH = {unit: length for length, unit in recursive.UNITS.items()}


def cut_of(body, size):
    """Return LangChain's pieces of a document, of at most `size` tokens; None if not asked."""
    lengths = stored.answers()["documents"].get(stored.short_hash(body), {}).get(str(size))
    return None if lengths is None else stored.pieces_of(body, lengths)


def told(split, *levels):
    """Return how many of the stored answers differ from those of a splitter."""
    wrong = 0
    for cut in stored.cuts():
        found = split(cut.text, cut.size, LENGTH[cut.unit], *levels)
        wrong += [piece.strip() for piece in found if piece.strip()] != cut.pieces
    return wrong


def test_a_cut_is_kept_as_the_lengths_of_its_pieces():
    body, wanted = "\n one two\n\n\t three\u00a0\r\nfour ", ["one two", "three", "four"]
    assert remake_pieces.lengths(body, wanted) == [7, 5, 4]
    assert stored.pieces_of(body, [7, 5, 4]) == wanted and stored.pieces_of(body, []) == []
    for lost in (["one two", "four"], ["one", "two", "three"], ["one two ", "three", "four"]):
        with pytest.raises(ValueError, match="more than white space is lost"):
            remake_pieces.lengths(body, lost)


def test_answers_are_to_the_questions_that_the_script_asks():
    answers = stored.answers()
    assert answers["package"] == f"{remake_pieces.PACKAGE} {remake_pieces.VERSION}"
    assert [tuple(row[:3]) for row in answers["made"]] == remake_pieces.made()
    assert [tuple(row[:3]) for row in answers["windows"]] == remake_pieces.windows()
    assert answers["date"] >= "2026-11-22"


def test_every_document_was_asked_about():
    size = runs.BASELINE["chunk_tokens"]
    assert (size, size // 8) == remake_pieces.SIZES  # as session B cuts
    for doc in evalset.load(evalset.DEFAULT).documents.values():
        for size in remake_pieces.SIZES:
            found = cut_of(doc.retrieval_text, size)
            assert found, f"{doc.doc_id}: run python helpers/tests/remake_pieces.py"
            assert "".join("".join(found).split()) == "".join(doc.retrieval_text.split())


def differing(split, *levels):
    """Return in how many cuts of the longest documents a splitter differs from LangChain."""
    bodies = [d.retrieval_text for d in evalset.load(evalset.DEFAULT).documents.values()]
    wrong = 0
    for body in sorted(bodies, key=len)[-8:]:  # they meet every separator
        for size in remake_pieces.SIZES:
            found = split(body, size, chunking.n_tokens, *levels)
            assert "".join(found) == body
            wrong += [piece.strip() for piece in found if piece.strip()] != cut_of(body, size)
    return wrong


def test_the_splitter_of_session_b_cuts_documents_as_langchain_does():
    right = solved("split_recursive")
    assert differing(right) == 0 and differing(right, recursive.LEVELS[1:]) > 8


def test_answers_tell_a_wrong_splitter():
    right = solved("split_recursive")
    assert told(right) == 0 and told(right, recursive.LEVELS[1:]) >= 20
    known = ("Neighbours that fit together", "A part of exactly size")
    found = [m for m in mistakes.known_mistakes("split_recursive") if m[0].startswith(known)]
    assert len(found) == len(known)
    for sentence, wrong in found:
        assert told(wrong) >= 20, sentence


def test_windows_of_the_check_are_those_of_the_token_splitter():
    for *asked, spans in stored.answers()["windows"]:
        assert chunking._reference_windows(*asked) == [tuple(span) for span in spans], asked
