"""What LangChain's splitters gave when they were asked; the package itself is not needed.

`helpers/tests/remake_pieces.py` asks them again, in a folder of its own. A cut stands in the
file as the lengths of its pieces: between two of them is white space only.
"""

import functools
import hashlib
import json
from pathlib import Path
from typing import NamedTuple

STORED = Path(__file__).with_name("langchain.json")


class Cut(NamedTuple):
    """A text and its pieces of at most `size` characters or tokens, without spaces at the ends."""

    text: str
    size: int
    unit: str
    pieces: list[str]


@functools.cache
def answers() -> dict:
    """Return the whole file: `package`, `date`, `made`, `documents`, `windows`."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def cuts() -> list[Cut]:
    """Return the texts made for this comparison with LangChain's pieces."""
    rows = answers()["made"]
    return [Cut(body, size, unit, pieces_of(body, own)) for body, size, unit, own in rows]


def short_hash(body: str) -> str:
    """Return 16 digits that stand for a document."""
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def pieces_of(body: str, lengths: list[int]) -> list[str]:
    """Return the pieces of these lengths, one after the other, without the white space between."""
    pieces = []
    for length in lengths:
        body = body.lstrip()
        pieces.append(body[:length])
        body = body[length:]
    return pieces
