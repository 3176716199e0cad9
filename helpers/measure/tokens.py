"""Tokens of cl100k_base, in which chunk sizes are counted."""

import functools
import hashlib
import os
from pathlib import Path
from unittest.mock import patch

import tiktoken

VOCABULARY = Path(__file__).with_name("vocabulary")  # a cache of tiktoken, which names its files
CACHED = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # by the SHA-1 of their address
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"


@functools.cache
def encoding() -> tiktoken.Encoding:
    """Return the token encoding, read once from `vocabulary/`.

    Raises OSError for another file than tiktoken wants: it would delete it and go to the network.
    """
    path = VOCABULARY / CACHED
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
    if sha256 != SHA256:
        raise OSError(
            f"{path}: SHA-256 is {sha256}, wanted {SHA256}: take the file from the "
            "workbook's repository again"
        )
    with patch.dict(os.environ, TIKTOKEN_CACHE_DIR=str(VOCABULARY)):
        return tiktoken.get_encoding("cl100k_base")


def token_ids(text: str) -> list[int]:
    """Return the token ids of `text`. Text that looks like a special token is plain text."""
    return encoding().encode(text, disallowed_special=())


def token_starts(ids: list[int], numbers: set[int]) -> dict[int, int]:
    """Return {n: character at which token n begins}, for some tokens of one text.

    A token that begins inside a character is given that character; one past the last gives the
    text's length.
    """
    starts, done, characters, begun = {}, 0, 0, b""
    for number in sorted(numbers):
        read = begun + encoding().decode_bytes(ids[done:number])
        whole = read.decode(errors="ignore")  # without the character that the last token begins
        begun = read[len(whole.encode()) :]
        characters += len(whole)
        starts[number], done = characters, number
    return starts
