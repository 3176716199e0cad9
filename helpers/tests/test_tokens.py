"""Tokens are those of cl100k_base, read from the repository and never from the network."""

import hashlib
import inspect
import os
import re

import pytest
from tiktoken import load, registry
from tiktoken_ext import openai_public

from helpers.measure import tokens


def test_tokens_of_a_character_begin_where_it_begins():
    body = "a\x7fb\x80À\xbf\u0fff🧯z"  # continuation bytes from 80 to bf, and the byte before
    ids = [tokens.encoding().encode_single_token(bytes([byte])) for byte in body.encode()]
    starts = tokens.token_starts(ids, {*range(len(ids) + 1)})
    wanted = [n for n, character in enumerate(body) for _ in character.encode()]
    assert [starts[n] for n in range(len(ids))] == wanted and starts[len(ids)] == len(body)


def test_text_that_looks_like_a_special_token_is_plain():
    ids = tokens.token_ids("a <|endoftext|>b")
    assert len(ids) > 5 and tokens.encoding().decode(ids) == "a <|endoftext|>b"


def test_vocabulary_is_the_one_that_tiktoken_would_download():
    source = inspect.getsource(openai_public.cl100k_base)
    address = re.search(r'"(https://\S+)"', source)[1]
    assert hashlib.sha1(address.encode()).hexdigest() == tokens.CACHED and tokens.SHA256 in source
    note = (tokens.VOCABULARY / "README.md").read_text(encoding="utf-8")
    assert all(fact in note for fact in (tokens.CACHED, tokens.SHA256, address))


@pytest.fixture
def unread(monkeypatch):
    """Let the encoding be read again, from a machine without a network."""
    tokens.encoding.cache_clear()
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(load, "read_file", lambda _: pytest.fail("went to the network"))
    yield monkeypatch
    tokens.encoding.cache_clear()


@pytest.mark.parametrize("own", ["", "elsewhere"])
def test_encoding_is_read_from_the_repository_whatever_cache_is_set(unread, own):
    unread.setenv("TIKTOKEN_CACHE_DIR", own)
    assert len(tokens.token_ids("disk full")) == 2
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == own


@pytest.mark.parametrize(("content", "found"), [(b"IQ== 0\r\n", "f23f2c"), (None, "missing")])
def test_another_vocabulary_stays_and_nothing_is_downloaded(unread, tmp_path, content, found):
    unread.setattr(tokens, "VOCABULARY", tmp_path)
    unread.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    path = tmp_path / tokens.CACHED
    if content:
        path.write_bytes(content)
    with pytest.raises(OSError, match=rf"{tokens.CACHED}: SHA-256 is {found}\w*, wanted 2239"):
        tokens.token_ids("disk full")
    assert path.exists() == bool(content) and "TIKTOKEN_CACHE_DIR" not in os.environ
