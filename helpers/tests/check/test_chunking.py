# ruff: noqa: E501 -- tables: a wrong solution a line
"""Exercises on windows and chunks, right and wrong."""

import pytest

from notebooks import check
from notebooks.check import chunking, recursive

from .exercises import Exercises, edited, learnt

SOLUTIONS = r"""
import re
import numpy as np
from helpers import text

def windows(n, size, overlap):
    if overlap < 0 or overlap >= size:
        raise ValueError("wanted 0 <= overlap < size")
    def cut(start):
        if start + size >= n:
            return [[start, n]]
        return [[start, start + size]] + cut(start + size - overlap)
    return cut(0)

def chunk_fixed(doc_text, size=512, overlap=50):
    ids = text.token_ids(doc_text)
    starts = np.append(text.encoding().decode_with_offsets(ids)[1], len(doc_text))
    return [(starts[a], starts[b], b - a) for a, b in windows(len(ids), size, overlap)]

def stretches(doc_text):
    spans, start, end, at = [], None, 0, 0
    for line in doc_text.split("\n"):
        body = line.strip()
        if not body and start is not None:
            spans.append((start, end))
            start = None
        if body:
            start = at + line.index(body) if start is None else start
            end = at + line.index(body) + len(body)
        at += len(line) + 1
    return spans if start is None else [*spans, (start, end)]

def chunk_paragraphs(doc_text):
    found, heads, at = [], None, 0
    for block in re.split(r"\n\s*\n", doc_text):
        start = doc_text.index(block, at)
        at = start + len(block)
        body = block.strip()
        if not body:
            continue
        begin = start + block.index(body) if heads is None else heads
        end = start + block.index(body) + len(body)
        heading = body.startswith("#") and "\n" not in body
        if heading and doc_text[at:].strip():
            heads = begin
            continue
        heads = None
        found.append((begin, end, len(text.token_ids(doc_text[begin:end]))))
    return found

SEPARATORS = ("\n\n", "\n", " ", "")

def packed(parts, size, length):
    rows = []
    for part in parts:
        if rows and sum(map(length, rows[-1])) + length(part) <= size:
            rows[-1].append(part)
        else:
            rows.append([part])
    return ["".join(row) for row in rows]

def first_cut(piece, size, length, separators=SEPARATORS):
    mark = [s for s in separators if s in piece][0]
    parts = []
    for n, part in enumerate(piece.split(mark) if mark else piece):
        whole = mark * (n > 0) + part
        if whole:
            parts.append((whole, length(whole) < size or mark is separators[-1]))
    return parts

def split_recursive(piece, size, length, separators=SEPARATORS):
    separator, rest = separators[0], separators[1:]
    parts = [p for p in re.split(f"(?={re.escape(separator)})", piece) if p] if separator else list(piece)
    if len(parts) == 1 and rest:
        return split_recursive(piece, size, length, rest)
    done, waiting = [], []
    for part in parts:
        if rest and length(part) >= size:
            done += packed(waiting, size, length)
            waiting = []
            done += split_recursive(part, size, length, rest)
        else:
            waiting.append(part)
    done += packed(waiting, size, length)
    return done
"""

WRONG = [
    ("windows", "    return cut(0)", "    return [(s, min(s + size, n)) for s in range(0, n, size - overlap)]", "wholly inside the one before"),
    ("windows", "cut(start + size - overlap)", "cut(start + size)", "The overlap is ignored"),
    ("windows", "return [[start, n]]", "return [[start, start + size]]", "past the end of the text"),
    ("windows", "return [[start, n]]", "return [[start, n]] if start + size == n else []", "The last tokens are lost"),
    ("windows", "overlap < 0 or overlap >= size", "overlap >= size", "A negative overlap leaves gaps"),
    ("windows", "    return cut(0)", "    return [(s, e - 1) for s, e in cut(0)]", "the end is one after it"),
    ("windows", 'raise ValueError("wanted 0 <= overlap < size")', "return []", "raise ValueError"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(a, b, b - a)", "The spans count tokens"),
    ("chunk_fixed", "windows(len(ids), size, overlap)]", "windows(len(ids), size, 0 * overlap)]", "The overlap is ignored"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(starts[a], starts[b], size)", "Every chunk says size tokens"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(starts[a], starts[b], starts[b] - starts[a])", "counts characters. It counts tokens"),
    ("chunk_fixed", "(starts[a], starts[b], b - a)", "(len(text.encoding().decode(ids[:a])), len(text.encoding().decode(ids[:b])), b - a)", "replacement marks"),
    ("chunk_fixed", "starts = np.append(text.encoding().decode_with_offsets(ids)[1], len(doc_text))", "starts = text.encoding().decode_with_offsets(ids)[1]\n    starts.append(starts[-1])", "the end of the text is missing"),
    ("chunk_fixed", "windows(len(ids), size, overlap)]", "[(s, min(s + size, len(ids))) for s in range(0, len(ids), size - overlap)]]", "wholly inside the one before"),
    ("chunk_fixed", "ids = text.token_ids(doc_text)", "ids = text.encoding().encode(doc_text)", "looks like a special token"),
    ("stretches", "if not body and start is not None:", "if start is not None:", "Every line is a stretch"),
    ("stretches", "if not body and start is not None:", "if not line and start is not None:", "line of spaces"),
    ("stretches", "spans if start is None else [*spans, (start, end)]", "spans", "The last stretch is lost"),
    ("stretches", "return spans if start is None else [*spans, (start, end)]", "return [(a, b - 1) for a, b in (spans if start is None else [*spans, (start, end)])]", "the end is one after it"),
    ("stretches", "return spans if start is None else [*spans, (start, end)]", "return [(a, b - a) for a, b in (spans if start is None else [*spans, (start, end)])]", "Start and length"),
    ("first_cut", "[s for s in separators if s in piece][0]", "separators[0]", "though it does not occur"),
    ("first_cut", "[s for s in separators if s in piece][0]", "separators[-1]", "The smallest separator"),
    ("first_cut", "mark * (n > 0) + part", "part", "thrown away"),
    ("first_cut", "length(whole) < size or mark is separators[-1]", "True", "Every part waits"),
    ("first_cut", "length(whole) < size or", "length(whole) <= size or", "exactly size waits"),
    ("first_cut", " or mark is separators[-1]", "", "nothing can be cut any smaller"),
    ("first_cut", "length(whole) < size or", "len(whole) < size or", "counted in characters"),
    ("first_cut", "(whole, length(whole) < size or mark is separators[-1])", "(whole, not (length(whole) < size or mark is separators[-1]))", "wrong way round"),
    ("chunk_paragraphs", "if heading and doc_text[at:].strip():", "if False:", "A heading stands alone"),
    ("chunk_paragraphs", "if heading and doc_text[at:].strip():", "if heading:", "very end is lost"),
    ("chunk_paragraphs", 'heading = body.startswith("#") and "\\n" not in body', 'heading = body.startswith("#")', "one line alone"),
    ("chunk_paragraphs", r'r"\n\s*\n"', r'r"\n\n+"', "line of spaces"),
    ("chunk_paragraphs", r'r"\n\s*\n"', r'r"\n"', "Every line is a paragraph"),
    ("chunk_paragraphs", "len(text.token_ids(doc_text[begin:end]))", "len(doc_text[begin:end].split())", "counts words"),
    ("chunk_paragraphs", "len(text.token_ids(doc_text[begin:end]))", "end - begin", "counts characters"),
    ("chunk_paragraphs", "            heads = begin\n            continue", "            continue", "Headings are dropped"),
    ("chunk_paragraphs", "start = doc_text.index(block, at)", "start = doc_text.find(block)", "first place twice"),
    ("split_recursive", "<= size:\n            rows[-1]", "<= 0:\n            rows[-1]", "Neighbours that fit together stay apart"),
    ("split_recursive", "    return done", "    return [part.strip() for part in done if part.strip()]", "thrown away"),
    ("split_recursive", "done += split_recursive(part, size, length, rest)", "done.append(part)", "A piece is still too long"),
    ("split_recursive", "    separator, rest = separators[0]", "    length = len\n    separator, rest = separators[0]", "counted in characters"),
    ("split_recursive", "length(part) >= size", "length(part) > size", "exactly size waits"),
    ("split_recursive", '\nSEPARATORS = ("\\n\\n", "\\n", " ", "")', '\nSEPARATORS = ("",)', "cut at every size-th character"),
    ("split_recursive", '\nSEPARATORS = ("\\n\\n", "\\n", " ", "")', '\nSEPARATORS = (" ", "")', "cut at spaces at once"),
    ("split_recursive", '\nSEPARATORS = ("\\n\\n", "\\n", " ", "")', '\nSEPARATORS = ("\\n\\n", "\\n", " ")', "stays whole"),
]  # fmt: skip


class TestChunking(Exercises):
    modules, solutions, wrong = (chunking, recursive), SOLUTIONS, WRONG


def test_a_stub_beside_the_exercise_is_named():
    source = edited(
        SOLUTIONS,
        "windows",
        "    if overlap < 0",
        "    raise NotImplementedError\n    if overlap < 0",
    )
    with pytest.raises(check.NotStarted, match="it calls windows, which is not started yet"):
        check.chunk_fixed(learnt(source)["chunk_fixed"])
