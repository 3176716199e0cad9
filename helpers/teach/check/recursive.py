"""Check of the recursive splitter."""

import re
from collections.abc import Callable, Iterator

import numpy as np

from . import stored, verdict
from .chunking import n_tokens
from .values import as_code, is_sequence
from .verdict import Example, drawn, pick

LEVELS = ("\n\n", "\n", " ", "")
UNITS = {len: "characters", n_tokens: "tokens"}
Asking = tuple[str, int, Callable]  # text, size, length


def _pieces(found) -> tuple[str, list[str]]:
    """Return what the pieces add up to, and each without white space at its ends."""
    if not is_sequence(found):
        raise TypeError("pieces have an order")
    return "".join(found), [piece.strip() for piece in found if piece.strip()]


def _before(piece: str, separator: str) -> list[str]:
    """Return the piece cut before each separator, into characters by an empty one."""
    if not separator:
        return list(piece)
    first, *rest = piece.split(separator)
    return [part for part in [first, *(separator + part for part in rest)] if part]


def _marked_parts(parts: list[str], size: int, length: Callable, last: bool) -> list[tuple]:
    """Return each part with whether it waits; all do after the last separator."""
    return [(part, last or length(part) < size) for part in parts]


def _one_cut(piece, size, length, levels=LEVELS, before=_before, told=_marked_parts) -> list:
    """Cut once, at the first of the separators that occurs."""
    level = next((level for level in levels if level in piece), "")
    return told(before(piece, level), size, length, level == levels[-1])


def _after(piece: str, separator: str) -> list[str]:
    """Return the piece cut after each separator."""
    if not separator:
        return list(piece)
    *rest, last = piece.split(separator)
    return [part for part in [*(part + separator for part in rest), last] if part]


def _draw_first_cut(rng: np.random.Generator) -> Iterator[Example]:
    for piece, size, length in drawn(_draw_recursive):
        levels = LEVELS[int(rng.integers(0, 4)) :]
        level = next(level for level in levels if level in piece)
        parts = re.split(f"(?={re.escape(level)})", piece) if level else [*piece]
        told = [(part, not level or length(part) < size) for part in parts if part]
        yield Example((piece, size, length, levels), told)


WRONG_FIRST_CUT = [
    ("The separator is thrown away: cut with split_before, which keeps it at the front of "
     "what follows.",
     lambda *case: _one_cut(
         *case, before=lambda p, s: [part for part in p.split(s) if part] if s else list(p))),
    ("The separator stays at the end of what comes before it. Cut before it, with split_before.",
     lambda *case: _one_cut(*case, before=_after)),
    ("The first of the separators is taken, though it does not occur: take the first one that "
     "does.",
     lambda p, size, n, levels: _marked_parts(_before(p, levels[0]), size, n, levels[0] == "")),
    ("The smallest separator is taken. Take the first one that occurs.",
     lambda p, size, n, levels: _marked_parts(list(p), size, n, True)),
    ("Every part waits. One that is not below size must be cut again, unless the separator was"
     " the last.",
     lambda *case: _one_cut(*case, told=lambda parts, *_: [(part, True) for part in parts])),
    ("A part of exactly size waits. LangChain lets it wait only below size.",
     lambda *case: _one_cut(
         *case, told=lambda parts, size, n, last: _marked_parts(parts, size + 1, n, last)),
     lambda *case: _one_cut(
         *case, told=lambda parts, size, n, last: _marked_parts(parts, size + 1, n, False))),
    ("After the last separator nothing can be cut any smaller, so every part waits.",
     lambda *case: _one_cut(
         *case, told=lambda parts, size, n, last: _marked_parts(parts, size, n, False))),
    ("True and False are the wrong way round: True says that a part waits.",
     lambda *case: [(part, not waits) for part, waits in _one_cut(*case)]),
    ("The length is counted in characters. Ask the function length, which may count tokens.",
     lambda p, size, n, levels: _one_cut(p, size, len, levels)),
]  # fmt: skip


def check_first_cut(function: Callable) -> None:
    """Check first_cut(piece, size, length, separators) against cuts made on paper.

    Why: When a chunk of yours ends in an odd place, this is the step to look at: which separator
    occurred first, and which part was too long.
    """
    gap, line = LEVELS[:2]
    hand = [
        Example(("one two", 9, len, (" ", "")), [("one", True), (" two", True)]),
        Example(("one\n\nthree", 6, len, LEVELS), [("one", True), (f"{gap}three", False)]),
        Example(("one\ntwo four", 5, len, LEVELS), [("one", True), (f"{line}two four", False)]),
        Example(("abc defg", 4, len, LEVELS), [("abc", True), (" defg", False)]),
        Example(("a bcd", 4, len, LEVELS), [("a", True), (" bcd", False)]),
        Example(("abc", 2, len, LEVELS), [("a", True), ("b", True), ("c", True)]),
        Example(("é🧯", 1, n_tokens, ("",)), [("é", True), ("🧯", True)]),
        Example(("full disk\n\n日本語の", 3, n_tokens, LEVELS),
                [("full disk", True), (f"{gap}日本語の", False)]),
    ]  # fmt: skip
    verdict.run_check("first_cut", function, hand, drawn(_draw_first_cut), WRONG_FIRST_CUT)


def _cut(piece: str, size: int, length: Callable, levels=LEVELS, join=True, equal=False) -> list:
    """Cut recursively; `join` joins neighbours, `equal` lets parts of exactly `size` wait."""
    at = next((n for n, level in enumerate(levels) if level in piece), len(levels) - 1)
    found, waiting = [], []
    for part in _before(piece, levels[at]):
        if length(part) < size + equal or not levels[at + 1 :]:
            waiting.append(part)
            continue
        found += _packed(waiting, size, length, join)
        found += _cut(part, size, length, levels[at + 1 :], join, equal)
        waiting = []
    return found + _packed(waiting, size, length, join)


def _packed(parts: list[str], size: int, length: Callable, join: bool = True) -> list[str]:
    """Join neighbours while they fit, or leave them as they are."""
    found, room = [], 0
    for part in parts:
        if join and found and length(part) <= room:
            found[-1] += part
            room -= length(part)
        else:
            found.append(part)
            room = size - length(part)
    return found


def _gap_filled(piece, size, length, fill: Callable, left=1, rest=True, levels=LEVELS) -> list:
    """Cut recursively; `fill` returns pieces and row from both, a long part's pieces and a join.

    `left` is the first separator that is passed on, `rest` says whether the last row is joined.
    """
    (found, row), parts = ([], []), _one_cut(piece, size, length, levels)
    if not left and parts == [(piece, False)]:
        raise RecursionError  # as after a thousand more calls
    for part, waits in parts:
        if waits:
            row.append(part)
            continue
        cut = _gap_filled(part, size, length, fill, left, rest, levels[left:])
        found, row = fill(found, row, cut, lambda parts: _packed(parts, size, length))
    return found + _packed(row, size, length) if rest else found


def _right(found: list, row: list, cut: list, join: Callable) -> tuple[list, list]:
    """Fill the gap as it is meant."""
    return [*found, *join(row), *cut], []


def _filled(*fills: Callable, **how) -> list[Callable]:
    """Return a splitter for each way to fill the gap."""
    return [lambda *case, fill=fill: _gap_filled(*case, fill, **how) for fill in fills]


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


def _draw_recursive(rng: np.random.Generator) -> Iterator[Asking]:
    words, gaps = "disk full queue a of deploy restart stop", [" ", " ", " ", "\n", "\n\n"]
    for turn in range(60):
        piece = "".join(word + str(rng.choice(gaps)) for word in pick(rng, words, 2, 14)).strip()
        low, high, length = (4, 20, len) if turn % 3 else (2, 7, n_tokens)
        yield piece, int(rng.integers(low, high)), length


def questions() -> list[Asking]:
    """Return every text, size and length that the check asks about, for LangChain's answers."""
    return [*HAND, *drawn(_draw_recursive)]


WRONG_CUTS = [
    ("Neighbours that fit together stay apart: join them while they fit into size.",
     lambda p, size, n: _cut(p, size, n, join=False)),
    ("The separators are thrown away, so the pieces no longer add up to the text: cut before "
     "each separator and keep it.",
     lambda p, size, n: [part.strip() for part in _cut(p, size, n) if part.strip()]),
    ("A piece is still too long: cut it again with the next smaller separator.",
     lambda p, size, n: _packed(_before(p, next(s for s in LEVELS if s in p)), size, n),
     lambda p, size, n: _packed(_before(p, "\n\n"), size, n)),
    ("A word that is longer than size stays whole: after spaces come single characters.",
     lambda p, size, n: _cut(p, size, n, LEVELS[:3])),
    ("The text is cut at every size-th character. Try blank lines, lines and spaces first.",
     lambda p, size, n: _packed(list(p), size, n)),
    ("The text is cut at spaces at once. Try blank lines and single lines first.",
     lambda p, size, n: _cut(p, size, n, LEVELS[2:])),
    ("Pieces of different levels are joined: what comes out of a part that was too long stays"
     " apart from its neighbours.",
     lambda p, size, n: _packed(_cut(p, size, n), size, n)),
    ("What still waits when the loop ends is forgotten: the row must be joined there, too.",
     *_filled(_right, rest=False)),
    ("A long part is cut while the row still waits, so later pieces come before earlier ones. "
     "What must happen to the row first?",
     *_filled(lambda found, row, cut, join: ([*found, *cut], row),
              lambda found, row, cut, join: ([*found, *cut, *join(row)], []))),
    ("When a long part comes, the row is thrown away: its parts must become pieces first.",
     *_filled(lambda found, row, cut, join: ([*found, *cut], []))),
    ("When a long part comes, the parts of the row go on one by one. Join them first, as at "
     "the end.",
     *_filled(lambda found, row, cut, join: ([*found, *row, *cut], []))),
    ("The row is not emptied when a long part comes, so its parts come twice.",
     *_filled(lambda found, row, cut, join: ([*found, *join(row), *cut], row))),
    ("The long part is lost: add the pieces that it is cut into.",
     *_filled(lambda found, row, cut, join: (found, row),
              lambda found, row, cut, join: ([*found, *join(row)], []))),
    ("The long part's pieces stand in the row and are joined with what follows. They are done: "
     "add them to the pieces.",
     *_filled(lambda found, row, cut, join: (found, [*row, *cut]),
              lambda found, row, cut, join: ([*found, *join(row)], cut))),
    ("The long part is cut with the same separators again, and so on without end: those that "
     "are left are separators[1:].",
     *_filled(_right, left=0)),
    ("Lists stand inside the list: append adds a list as one member, += adds its pieces.",
     *_filled(lambda found, row, cut, join: ([*found, join(row), cut], []),
              lambda found, row, cut, join: ([*found, *join(row), cut], []))),
    ("The length is counted in characters. Ask the function length, which may count tokens.",
     lambda p, size, n: _cut(p, size, len)),
    ("A part of exactly size waits in the row. LangChain lets it wait only below size.",
     lambda p, size, n: _cut(p, size, n, equal=True)),
]  # fmt: skip


def check_split_recursive(function: Callable) -> None:
    """Check split_recursive(piece, size, length) against LangChain, white space at ends apart.

    Why: Most tutorials cut with LangChain's version of this. You now know why its chunks come out
    shorter than the size that you asked for.
    """
    made = {(cut.text, cut.size, cut.unit): cut.pieces for cut in stored.cuts()}
    hand, cases = (
        [Example((p, size, n), (p, made[p, size, UNITS[n]])) for p, size, n in asked]
        for asked in (HAND, drawn(_draw_recursive))
    )
    told = "{} apart from white space, adding up to the text".format
    how = {"view": _pieces, "say": lambda wanted: told(as_code(wanted[1]))}
    verdict.run_check("split_recursive", function, hand, cases, WRONG_CUTS, **how)
