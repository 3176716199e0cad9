"""Checks of windows and of chunks: fixed, by paragraph."""

from collections.abc import Callable
from math import ceil

import numpy as np

from ...measure import tokens
from .cases import Example, drawn, pick
from .recorded import random_check, recorded
from .verdict import run_check

Span = tuple[int, int, int]  # start, end, number of tokens


def n_tokens(piece: str) -> int:
    """Return the number of tokens, a length for split_recursive."""
    return len(tokens.token_ids(piece))


def _reference_windows(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return the spans that LangChain's token splitter cuts: its stored ones are equal (tests)."""
    step = size - overlap
    last = max(0, ceil((n - size) / step))
    return [(k * step, min(k * step + size, n)) for k in range(last + 1)]


WINDOWS = [
    Example((4, 4, 1), [(0, 4)]),
    Example((5, 4, 1), [(0, 4), (3, 5)]),
    Example((6, 2, 0), [(0, 2), (2, 4), (4, 6)]),
    Example((10, 4, 1), [(0, 4), (3, 7), (6, 10)]),
    Example((463, 512, 50), [(0, 463)]),
    Example((974, 512, 50), [(0, 512), (462, 974)]),
    *(Example((10, 4, overlap), ValueError) for overlap in (4, 9, -1)),
]


@random_check(200, WINDOWS)
def windows(rng: np.random.Generator) -> Example:
    """Check windows(n, size, overlap) against LangChain's token splitter."""
    n, size = int(rng.integers(1, 40)), int(rng.integers(1, 12))
    args = (n, size, int(rng.integers(0, size)))
    return Example(args, _reference_windows(*args))


def _reference_fixed(doc_text: str, size: int, overlap: int) -> list[Span]:
    """Return the chunks from the bytes of the tokens: a character starts with its first byte."""
    encoding = tokens.encoding()
    pieces = encoding.decode_tokens_bytes(encoding.encode(doc_text, disallowed_special=()))
    starts = [len(b"".join(pieces[:n]).decode(errors="ignore")) for n in range(len(pieces) + 1)]
    spans = _reference_windows(len(pieces), size, overlap)
    return [(starts[a], starts[b], b - a) for a, b in spans]


def _draw_fixed(rng: np.random.Generator) -> Example:
    doc_text = " ".join(pick(rng, "disk full 🧯🧯 queue é checkout-api 日本語 v2.1", 1, 9))
    size = int(rng.integers(3, 9))
    args = (doc_text, size, int(rng.integers(0, size)))
    return Example(args, _reference_fixed(*args))


@recorded
def chunk_fixed(function: Callable) -> None:
    """Check chunk_fixed(doc_text, size, overlap) against LangChain's spans and tiktoken's bytes."""
    five, engine = "one two three four five", "Disk full 🧯🧯🧯 again"
    hand = [
        Example((five, 9, 2), [(0, 23, 5)]),
        Example((five, 2, 0), [(0, 7, 2), (7, 18, 2), (18, 23, 1)]),
        Example((five, 2, 1), [(0, 7, 2), (3, 13, 2), (7, 18, 2), (13, 23, 2)]),
        Example((engine, 4, 0), _reference_fixed(engine, 4, 0)),
        Example(("<|endoftext|>", 99, 0), _reference_fixed("<|endoftext|>", 99, 0)),
        Example((five, 4, 4), ValueError),
    ]
    run_check("chunk_fixed", function, drawn(_draw_fixed, 60), hand)


def _located(doc_text: str, pieces: list[str]) -> list[Span]:
    """Return the spans of pieces that follow each other."""
    spans, at = [], 0
    for piece in pieces:
        at = doc_text.index(piece, at)
        spans.append((at, at + len(piece), n_tokens(piece)))
        at += len(piece)
    return spans


def _block(rng: np.random.Generator) -> str:
    """Return a heading or a paragraph."""
    lines = [" ".join(pick(rng, "run df -h then call Storage", 1, 4)) + "." for _ in "ab"]
    return "## First look" if rng.random() < 0.3 else "\n".join(lines[: rng.integers(1, 3)])


@random_check(100)
def stretches(rng: np.random.Generator) -> Example:
    """Check stretches(doc_text) against texts whose places were counted on paper."""
    doc_text, spans = str(rng.choice(["", "\n\n", " \n"])), []
    for _ in range(rng.integers(1, 5)):
        block = _block(rng)
        spans.append((len(doc_text), len(doc_text) + len(block)))
        doc_text += block + str(rng.choice(["\n\n", "\n\n\n", "\n \n"]))
    return Example((doc_text,), spans)


def _draw_paragraphs(rng: np.random.Generator) -> Example:
    blocks = [_block(rng) for _ in range(rng.integers(1, 6))]
    gaps = [str(gap) for gap in rng.choice(["\n\n", "\n\n\n", "\n \n"], len(blocks))]
    doc_text, pieces, start = "", [], 0
    for n, (block, gap) in enumerate(zip(blocks, gaps, strict=True)):
        doc_text += block
        if not block.startswith("#") or n == len(blocks) - 1:
            pieces.append(doc_text[start:])
            start = len(doc_text) + len(gap)
        doc_text += gap
    return Example((doc_text,), _located(doc_text, pieces))


@recorded
def chunk_paragraphs(function: Callable) -> None:
    """Check chunk_paragraphs(doc_text) against texts that are built from known pieces."""
    note = "Disk full\n\n## First look\n\nRun df -h.\nRead the log.\n\n\nThen call Storage.\n"
    pieces = {
        "One.": ["One."],
        "One.\n\nTwo.\n": ["One.", "Two."],
        "Same.\n\nSame.": ["Same.", "Same."],
        "One.\n \nTwo.": ["One.", "Two."],
        "Text.\n\n# End": ["Text.", "# End"],
        "": [],
        "\n\nOne.\n\t\nTwo.": ["One.", "Two."],
        "Über é 🧯.\n\n日本 Two.": ["Über é 🧯.", "日本 Two."],
        "Text.\n\n# A\n\n## B\n": ["Text.", "# A\n\n## B"],
        "# A\n\n## B\n\nText.": ["# A\n\n## B\n\nText."],
        "# A\nwith text below\n\nNext.": ["# A\nwith text below", "Next."],
        "Ask #ops or the C# team.\n\nNext.": ["Ask #ops or the C# team.", "Next."],
        note: ["Disk full", "## First look\n\nRun df -h.\nRead the log.", "Then call Storage."],
    }
    hand = [Example((doc_text,), _located(doc_text, found)) for doc_text, found in pieces.items()]
    run_check("chunk_paragraphs", function, drawn(_draw_paragraphs, 100), hand)
