"""Check of the recursive splitter."""

import functools
import re
from collections.abc import Callable

import numpy as np

from ...measure.stats import SEED
from . import stored
from .cases import Example, pick
from .chunking import n_tokens
from .recorded import random_check, recorded
from .values import as_code, is_sequence
from .verdict import run_check

LEVELS = ("\n\n", "\n", " ", "")
UNITS = {len: "characters", n_tokens: "tokens"}
Asking = tuple[str, int, Callable]  # text, size, length


def _pieces(found) -> tuple[str, list[str]]:
    """Return what the pieces add up to, and each without white space at its ends."""
    if not is_sequence(found):
        raise TypeError("pieces have an order")
    return "".join(found), [piece.strip() for piece in found if piece.strip()]


def _apart_from_spaces(wanted: tuple[str, list[str]]) -> str:
    _, pieces = wanted
    return f"{as_code(pieces)} apart from white space, adding up to the text"


FIRST_CUTS = [
    Example(("one two", 9, len, (" ", "")), [("one", True), (" two", True)]),
    Example(("one\n\nthree", 6, len, LEVELS), [("one", True), ("\n\nthree", False)]),
    Example(("one\ntwo four", 5, len, LEVELS), [("one", True), ("\ntwo four", False)]),
    Example(("abc defg", 4, len, LEVELS), [("abc", True), (" defg", False)]),
    Example(("a bcd", 4, len, LEVELS), [("a", True), (" bcd", False)]),
    Example(("abc", 2, len, LEVELS), [("a", True), ("b", True), ("c", True)]),
    Example(("é🧯", 1, n_tokens, ("",)), [("é", True), ("🧯", True)]),
    Example(("full disk\n\n日本語の", 3, n_tokens, LEVELS),
            [("full disk", True), ("\n\n日本語の", False)]),
]  # fmt: skip


@random_check(60, FIRST_CUTS)
def first_cut(rng: np.random.Generator) -> Example:
    """Check first_cut(piece, size, length, separators) against cuts made on paper."""
    piece, size, length = _asking(rng, len if rng.random() < 2 / 3 else n_tokens)
    levels = LEVELS[int(rng.integers(0, 4)) :]
    level = next(level for level in levels if level in piece)
    parts = re.split(f"(?={re.escape(level)})", piece) if level else [*piece]
    wanted = [(part, not level or length(part) < size) for part in parts if part]
    return Example((piece, size, length, levels), wanted)


HAND = (
    ("one two", 9, len),
    ("one two\n\nthree", 9, len),
    ("one two three", 9, len),
    ("a b\nc d\n\ne f", 20, len),
    ("abcdefghij", 4, len),
    ("a\nb\nlong word", 6, len),
    ("one two three\nfour five\n\nsix", 12, len),
    ("größe straße\n\n\nübergröße x", 7, len),
)


def _asking(rng: np.random.Generator, length: Callable) -> Asking:
    words, gaps = "disk full queue a of deploy restart stop", [" ", " ", " ", "\n", "\n\n"]
    piece = "".join(word + str(rng.choice(gaps)) for word in pick(rng, words, 2, 14)).strip()
    low, high = (4, 20) if length is len else (2, 7)
    return piece, int(rng.integers(low, high)), length


@functools.cache
def questions() -> list[Asking]:
    """Return every text, size and length that the check asks about, for LangChain's answers."""
    rng = np.random.default_rng(SEED)
    lengths = [n_tokens, len, len] * 20
    return [*HAND, *(_asking(rng, length) for length in lengths)]


@recorded
def split_recursive(function: Callable) -> None:
    """Check split_recursive(piece, size, length) against LangChain, white space at ends apart."""
    pieces_of = {(cut.text, cut.size, cut.unit): cut.pieces for cut in stored.cuts()}
    cases = []
    for piece, size, length in questions():
        pieces = pieces_of[piece, size, UNITS[length]]
        cases.append(Example((piece, size, length), (piece, pieces)))
    hand, random = cases[: len(HAND)], cases[len(HAND) :]
    run_check("split_recursive", function, random, hand, view=_pieces, say=_apart_from_spaces)
