"""Checks of the exercises of session B."""

import math
import re
from collections import Counter
from collections.abc import Callable

import numpy as np
from rank_bm25 import BM25Okapi

from helpers import runs, text

from . import verdict
from .verdict import Case, Mistakes, mean, pick, random_cases, shown


def _reference_windows(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return the spans that LangChain's token splitter cuts."""
    from langchain_text_splitters.base import Tokenizer, split_text_on_tokens

    cutter = Tokenizer(
        chunk_overlap=overlap,
        tokens_per_chunk=size,
        decode=lambda ids: (ids[0], ids[-1] + 1),
        encode=lambda _: list(range(n)),
    )
    return split_text_on_tokens(text="", tokenizer=cutter)


def _stepped(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, n)) for start in range(0, n, size - overlap)]


def _unguarded(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    spans, start = [], 0
    while not spans or spans[-1][1] < n:
        spans.append((start, min(start + size, n)))
        start += size - overlap
    return spans


def _beyond(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return windows that go on where one ends with the text."""
    spans, start = [], 0
    while start < n and not (spans and spans[-1][0] + size > n):
        spans.append((start, min(start + size, n)))
        start += size - overlap
    return spans


def _apart(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    return _unguarded(n, size, 0)


def _fit(n: int, size: int, overlap: int) -> None:
    if not 0 <= overlap < size:
        raise ValueError("overlap")


def _guarded(spans: Callable) -> Callable:
    """Return the function `spans` with the refusal that is wanted."""

    def cut(n: int, size: int, overlap: int) -> list:
        _fit(n, size, overlap)
        return spans(n, size, overlap)

    return cut


def _twice(sentence: str, spans: Callable) -> Mistakes:
    """Return a mistake with and without the refusal of overlaps."""
    return [(sentence, spans), (sentence, _guarded(spans))]


def _accepting(n: int, size: int, overlap: int) -> list:
    """Refuse an overlap that is too large, accept a negative one."""
    if overlap >= size:
        raise ValueError("overlap")
    return _unguarded(n, size, overlap)


def _draw_windows(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(200):
        n, size = int(rng.integers(1, 40)), int(rng.integers(1, 12))
        args = (n, size, int(rng.integers(0, size)))
        cases.append(Case(args, _reference_windows(*args)))
    return cases


def windows(function: Callable) -> None:
    """Check windows(n, size, overlap) against LangChain's token splitter."""
    hand = [
        Case((4, 4, 1), [(0, 4)]),
        Case((5, 4, 1), [(0, 4), (3, 5)]),
        Case((6, 2, 0), [(0, 2), (2, 4), (4, 6)]),
        Case((10, 4, 1), [(0, 4), (3, 7), (6, 10)]),
        Case((463, 512, 50), [(0, 463)]),
        Case((974, 512, 50), [(0, 512), (462, 974)]),
        Case((10, 4, 4), ValueError),
        Case((10, 4, 9), ValueError),
        Case((10, 4, -1), ValueError),
    ]
    mistakes = [
        *_twice("The last window lies wholly inside the one before: stop when the end is reached.",
                _stepped),
        *_twice("A window that ends exactly with the text is followed by another one: stop there.",
                _beyond),
        *_twice("The overlap is ignored: the next window begins size - overlap tokens later.",
                _apart),
        *_twice("The last window ends past the end of the text: its end is at most n.",
                lambda n, size, overlap: [(s, s + size) for s, _ in _unguarded(n, size, overlap)]),
        *_twice("The last tokens are lost: a shorter window stands at the end.",
                lambda n, size, overlap:
                    [(s, s + size) for s in range(0, n - size + 1, size - overlap)]),
        *_twice("The last window is moved back to keep its size. It begins like the others, size "
                "- overlap later, and is shorter.",
                lambda n, size, overlap:
                    [(max(0, min(s, n - size)), e) for s, e in _unguarded(n, size, overlap)]),
        *_twice("The end is the last token. As in a slice, the end is one after it.",
                lambda n, size, overlap: [(s, e - 1) for s, e in _unguarded(n, size, overlap)]),
        ("An overlap as large as the window never moves on, and a negative one leaves gaps: raise"
         " ValueError unless 0 <= overlap < size.",
         _unguarded),
        ("A negative overlap leaves gaps between the windows: raise ValueError for it, too.",
         _accepting),
        ("An overlap that does not fit gives no windows in silence: raise ValueError.",
         lambda n, size, overlap: (_unguarded(n, size, overlap) if 0 <= overlap < size else [])),
    ]  # fmt: skip
    verdict.compare("windows", function, hand, random_cases(_draw_windows), mistakes)


def _reference_fixed(doc_text: str, size: int, overlap: int) -> list[tuple[int, int, int]]:
    """Return the chunks from the bytes of the tokens: a character starts with its first byte."""
    encoding = text.encoding()
    pieces = encoding.decode_tokens_bytes(encoding.encode(doc_text, disallowed_special=()))
    starts = [len(b"".join(pieces[:n]).decode(errors="ignore")) for n in range(len(pieces) + 1)]
    spans = _reference_windows(len(pieces), size, overlap)
    return [(starts[a], starts[b], b - a) for a, b in spans]


def _fixed(
    doc_text: str, size: int, overlap: int, spans: Callable | None = None
) -> list[tuple[int, int, int]]:
    """Return chunks cut by `spans`, at right characters."""
    ids = text.token_ids(doc_text)
    _, starts = text.encoding().decode_with_offsets(ids)
    starts.append(len(doc_text))
    found = (spans or _guarded(_unguarded))(len(ids), size, overlap)
    return [(starts[a], starts[min(b, len(ids))], b - a) for a, b in found]


def _to_last_token(doc_text: str, size: int, overlap: int) -> list[tuple[int, int, int]]:
    last = text.encoding().decode_with_offsets(text.token_ids(doc_text))[1][-1]
    found = _fixed(doc_text, size, overlap)
    return [(a, last if b == len(doc_text) else b, n) for a, b, n in found]


def _by_decoding(doc_text: str, size: int, overlap: int) -> list[tuple[int, int, int]]:
    ids, decode = text.token_ids(doc_text), text.encoding().decode
    found = _guarded(_unguarded)(len(ids), size, overlap)
    return [(len(decode(ids[:a])), len(decode(ids[:b])), b - a) for a, b in found]


def _draw_fixed(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(60):
        doc_text = " ".join(pick(rng, "disk full 🧯🧯 queue é checkout-api 日本語 v2.1", 1, 9))
        size = int(rng.integers(3, 9))
        args = (doc_text, size, int(rng.integers(0, size)))
        cases.append(Case(args, _reference_fixed(*args)))
    return cases


def chunk_fixed(function: Callable) -> None:
    """Check chunk_fixed(doc_text, size, overlap) against LangChain's spans and tiktoken's bytes."""
    five, engine = "one two three four five", "Disk full 🧯🧯🧯 again"
    hand = [
        Case((five, 9, 2), [(0, 23, 5)]),
        Case((five, 2, 0), [(0, 7, 2), (7, 18, 2), (18, 23, 1)]),
        Case((five, 2, 1), [(0, 7, 2), (3, 13, 2), (7, 18, 2), (13, 23, 2)]),
        Case((engine, 4, 0), _reference_fixed(engine, 4, 0)),
        Case(("<|endoftext|>", 99, 0), _reference_fixed("<|endoftext|>", 99, 0)),
        Case((five, 4, 4), ValueError),
    ]
    mistakes = [
        ("The spans count tokens. Start and end count characters of the text.",
         lambda d, size, o:
             [(a, b, b - a) for a, b in _guarded(_unguarded)(len(text.token_ids(d)), size, o)]),
        ("The windows are laid over characters. They are laid over tokens, and each token begins "
         "at a character.",
         lambda d, size, o: [(a, b, b - a) for a, b in _guarded(_unguarded)(len(d), size, o)]),
        ("Positions come from decoded slices. A slice can end inside a character, and then "
         "decodes to replacement marks: take the offsets of decode_with_offsets.",
         _by_decoding),
        ("The overlap is ignored.",
         lambda d, size, o: _fixed(d, size, o, _guarded(_apart))),
        ("The overlap is ignored.", lambda d, size, o: _fixed(d, size, o, _apart)),
        ("The last chunk lies wholly inside the one before: cut with windows, which stops at the "
         "end.",
         lambda d, size, o: _fixed(d, size, o, _stepped)),
        ("The last chunk stops where its last token begins: the end of the text is missing.",
         lambda d, size, o: [(a, len(d[:b]) - (b == len(d)), n) for a, b, n in _fixed(d, size, o)]),
        ("The last chunk stops where its last token begins: the end of the text is missing.",
         _to_last_token),
        ("Every chunk says size tokens. The last one may have fewer.",
         lambda d, size, o: [(a, b, size) for a, b, _ in _fixed(d, size, o)]),
        ("The third number counts characters. It counts tokens.",
         lambda d, size, o: [(a, b, b - a) for a, b, _ in _fixed(d, size, o)]),
        ("Text that looks like a special token stops the encoding: text.token_ids takes it as "
         "plain text.",
         lambda d, size, o: _fixed(d, size, o) if not text.encoding().encode(d) else []),
        ("An overlap as large as the chunk never moves on: windows refuses it.",
         lambda d, size, o: _fixed(d, size, o, _unguarded)),
    ]  # fmt: skip
    verdict.compare("chunk_fixed", function, hand, random_cases(_draw_fixed), mistakes)


def _located(doc_text: str, pieces: list[str], again: bool = False) -> list[tuple[int, int, int]]:
    """Return (start, end, n_tokens) of pieces that follow each other in the text.

    `again` looks for each from the beginning of the text.
    """
    spans, at = [], 0
    for piece in pieces:
        at = doc_text.index(piece, 0 if again else at)
        spans.append((at, at + len(piece), len(text.token_ids(piece))))
        at += len(piece)
    return spans


BLANK = r"\n[^\S\n]*\n\s*"


def _blocks(doc_text: str, blank: str = BLANK) -> list[str]:
    return [block.strip() for block in re.split(blank, doc_text) if block.strip()]


def _is_heading(block: str) -> bool:
    return block.startswith("#") and "\n" not in block


def _joined(
    doc_text: str,
    heading: Callable = _is_heading,
    keep_last: bool = True,
    blank: str = BLANK,
    again: bool = False,
) -> list[tuple[int, int, int]]:
    """Return paragraphs with the headings before them."""
    spans, start = [], None
    for a, b, _ in _located(doc_text, _blocks(doc_text, blank), again):
        start = a if start is None else start
        if not heading(doc_text[a:b]) or (keep_last and not doc_text[b:].strip()):
            spans.append((start, b, len(text.token_ids(doc_text[start:b]))))
            start = None
    return spans


def _headings_behind(doc_text: str) -> list[tuple[int, int, int]]:
    spans = []
    for a, b, _ in _located(doc_text, _blocks(doc_text)):
        if spans and _is_heading(doc_text[a:b]):
            a = spans.pop()[0]
        spans.append((a, b, len(text.token_ids(doc_text[a:b]))))
    return spans


def _with_space(doc_text: str) -> list[tuple[int, int, int]]:
    """Return paragraphs that run on to where the next begins."""
    spans = _joined(doc_text)
    ends = [*(start for start, _, _ in spans[1:]), len(doc_text)]
    return [
        (a, end, len(text.token_ids(doc_text[a:end])))
        for (a, _, _), end in zip(spans, ends, strict=True)
    ]


def _draw_paragraphs(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(100):
        blocks = []
        for _ in range(rng.integers(1, 6)):
            lines = [" ".join(pick(rng, "run df -h then call Storage", 1, 4)) + "." for _ in "ab"]
            blocks.append(
                "## First look" if rng.random() < 0.3 else "\n".join(lines[: rng.integers(1, 3)])
            )
        gaps = [str(gap) for gap in rng.choice(["\n\n", "\n\n\n", "\n \n"], len(blocks))]
        doc_text, pieces, start = "", [], 0
        for n, (block, gap) in enumerate(zip(blocks, gaps, strict=True)):
            doc_text += block
            if not block.startswith("#") or n == len(blocks) - 1:
                pieces.append(doc_text[start:])
                start = len(doc_text) + len(gap)
            doc_text += gap
        cases.append(Case((doc_text,), _located(doc_text, pieces)))
    return cases  # fmt: skip


def chunk_paragraphs(function: Callable) -> None:
    """Check chunk_paragraphs(doc_text) against texts that are built from known pieces."""
    note = "Disk full\n\n## First look\n\nRun df -h.\nRead the log.\n\n\nThen call Storage.\n"
    look = "## First look\n\nRun df -h.\nRead the log."
    pieces = {
        "One.": ["One."],
        "One.\n\nTwo.\n": ["One.", "Two."],
        "Same.\n\nSame.": ["Same.", "Same."],
        "One.\n \nTwo.": ["One.", "Two."],
        "Text.\n\n# End": ["Text.", "# End"],
        "# A\n\n## B\n\nText.": ["# A\n\n## B\n\nText."],
        "# A\nwith text below\n\nNext.": ["# A\nwith text below", "Next."],
        note: ["Disk full", look, "Then call Storage."],
    }
    hand = [Case((doc_text,), _located(doc_text, found)) for doc_text, found in pieces.items()]
    mistakes = [
        ("A heading stands alone: it belongs to the paragraph that follows.",
         lambda d: _located(d, _blocks(d))),
        ("A heading is joined to the paragraph before it. It belongs to the one that follows.",
         _headings_behind),
        ("Headings are dropped: they belong to the paragraph that follows.",
         lambda d: _located(d, [block for block in _blocks(d) if not _is_heading(block)])),
        ("A heading at the very end is lost: with nothing to follow it stands alone.",
         lambda d: _joined(d, keep_last=False)),
        ("A paragraph that occurs twice is found at its first place twice: go on from where the "
         "last one ended.",
         lambda d: _joined(d, again=True)),
        ("The blank lines after a paragraph are part of it: end with its last letter.",
         _with_space),
        ("Every line is a paragraph. Only a blank line ends one.",
         lambda d: _located(d, _blocks(d, r"\n"))),
        ("Every line is a paragraph. Only a blank line ends one.",
         lambda d: _joined(d, blank=r"\n")),
        ("A paragraph whose first line begins with # is taken for a heading: a heading is one "
         "line alone.",
         lambda d: _joined(d, lambda block: block.startswith("#"))),
        ("A line of spaces is a blank line, too.",
         lambda d: _joined(d, blank=r"\n\n\s*")),
        ("The third number counts words. It counts tokens.",
         lambda d: [(a, b, len(d[a:b].split())) for a, b, _ in _joined(d)]),
        ("The third number counts characters. It counts tokens.",
         lambda d: [(a, b, b - a) for a, b, _ in _joined(d)]),
    ]  # fmt: skip
    verdict.compare("chunk_paragraphs", function, hand, random_cases(_draw_paragraphs), mistakes)


def _pieces(found) -> tuple[str, list[str]]:
    """Return what the pieces add up to, and each without white space at its ends."""
    return "".join(found), [piece.strip() for piece in found if piece.strip()]


def _langchain(piece: str, size: int, length: Callable, **options) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=0, length_function=length, **options
    )
    return splitter.split_text(piece)


def _recursive_case(piece: str, size: int, length: Callable) -> Case:
    found = _langchain(piece, size, length)
    return Case((piece, size, length), (piece, [part.strip() for part in found if part.strip()]))


LEVELS = ("\n\n", "\n", " ", "")


def _before(piece: str, separator: str) -> list[str]:
    """Return the piece cut before each separator, into characters by an empty one."""
    if not separator:
        return list(piece)
    first, *rest = piece.split(separator)
    return [part for part in [first, *(separator + part for part in rest)] if part]


def _cut(
    piece: str, size: int, length: Callable, levels=LEVELS, join: bool = True, equal: bool = False
) -> list[str]:
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


def _draw_recursive(rng: np.random.Generator) -> list[Case]:
    cases, words = [], "disk full queue a of deploy restart stop"
    for n in range(60):
        piece = "".join(
            word + str(rng.choice([" ", " ", " ", "\n", "\n\n"]))
            for word in pick(rng, words, 2, 14)
        ).strip()
        if n % 3:
            cases.append(_recursive_case(piece, int(rng.integers(4, 20)), len))
        else:
            cases.append(_recursive_case(piece, int(rng.integers(2, 7)), n_tokens))
    return cases  # fmt: skip


def n_tokens(piece: str) -> int:
    """Return the number of tokens, a length for split_recursive."""
    return len(text.token_ids(piece))


def split_recursive(function: Callable) -> None:
    """Check split_recursive(piece, size, length) against LangChain, white space at ends apart."""
    hand = [
        _recursive_case("one two", 9, len),
        _recursive_case("one two\n\nthree", 9, len),
        _recursive_case("one two three", 9, len),
        _recursive_case("a b\nc d\n\ne f", 20, len),
        _recursive_case("abcdefghij", 4, len),
        _recursive_case("one two three\nfour five\n\nsix", 12, len),
    ]
    mistakes = [
        ("Neighbours that fit together stay apart: join them while they fit into size.",
         lambda p, size, n: _cut(p, size, n, join=False)),
        ("The separators are thrown away, so the pieces no longer add up to the text: cut before "
         "each separator and keep it.",
         lambda p, size, n: [part.strip() for part in _cut(p, size, n) if part.strip()]),
        ("A piece is still too long: cut it again with the next smaller separator.",
         lambda p, size, n: _packed(_before(p, next(s for s in LEVELS if s in p)), size, n)),
        ("A piece is still too long: cut it again with the next smaller separator.",
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
        ("The length is counted in characters. Ask the function length, which may count tokens.",
         lambda p, size, n: _cut(p, size, len)),
        ("A part of exactly size waits in the row. LangChain lets it wait only below size.",
         lambda p, size, n: _cut(p, size, n, equal=True)),
    ]  # fmt: skip
    verdict.compare(
        "split_recursive",
        function,
        hand,
        random_cases(_draw_recursive),
        mistakes,
        view=_pieces,
        say=lambda wanted: shown(wanted[1]) + " apart from white space, adding up to the text",
    )


def _documents(rng: np.random.Generator, low: int = 2, high: int = 7) -> list[list[str]]:
    words = "disk full queue on the log log deploy failed"
    return [pick(rng, words, 1, 6) for _ in range(rng.integers(low, high))]


def _raw_idf(docs: list, log: Callable = math.log, held: Callable = set) -> dict:
    """Return unreplaced weights; `held` says which words of a document are counted."""
    found = Counter(word for doc in docs for word in held(doc))
    return {w: log((len(docs) - df + 0.5) / (df + 0.5)) for w, df in found.items()}


def _okapi(docs: list, epsilon: float, over: Callable = lambda w: True, **how) -> dict:
    """Return weights of which negative ones are replaced by the mean of those that `over` takes."""
    weights = _raw_idf(docs, **how)
    return _floored(weights, epsilon * mean(w for w in weights.values() if over(w)))


def _plain_idf(docs: list) -> dict:
    found = Counter(word for doc in docs for word in set(doc))
    return {word: math.log(len(docs) / df) for word, df in found.items()}


def _floored(weights: dict, floor: float) -> dict:
    return {word: floor if weight < 0 else weight for word, weight in weights.items()}


def _draw_idf(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(200):
        docs, epsilon = _documents(rng), float(rng.choice([0.25, 0.5]))
        index = BM25Okapi(docs, epsilon=epsilon)
        cases.append(Case((docs, epsilon), dict(index.idf)))
    return cases


def okapi_idf(function: Callable) -> None:
    """Check okapi_idf(docs, epsilon) against rank_bm25."""
    rare, common = math.log(2.5 / 1.5), math.log(0.5 / 4.5)
    tiny = [["disk", "full", "disk"], ["queue", "full"], ["log"]]
    weights = {"disk": rare, "full": rare * 2 / 4 / 4, "queue": rare, "log": rare}
    all_common = [["a"], ["a"], ["a", "b"], ["a", "b"]]
    hand = [
        Case(([["a"], ["b"], ["c"]],), {"a": rare, "b": rare, "c": rare}),
        Case(([["a", "a"], ["b"], ["c"]],), {"a": rare, "b": rare, "c": rare}),
        Case((tiny,), weights),
        Case((tiny, 0.5), {**weights, "full": rare * 2 / 4 / 2}),
        Case((all_common,), {"a": common / 2 / 4, "b": 0.0}),
    ]
    mistakes = [
        ("Negative weights stay: rank_bm25 replaces them by epsilon times the mean weight.",
         lambda docs, e=0.25: _raw_idf(docs)),
        ("Negative weights become 0: rank_bm25 takes epsilon times the mean weight.",
         lambda docs, e=0.25: _floored(_raw_idf(docs), 0.0)),
        ("Negative weights become epsilon itself: it is epsilon times the mean weight.",
         lambda docs, e=0.25: _floored(_raw_idf(docs), e)),
        ("This is Lucene's weight, with 1 added inside the logarithm.",
         lambda docs, e=0.25: _raw_idf(docs, log=lambda odds: math.log(1 + odds))),
        ("Occurrences are counted. df is the number of documents that hold the word: one that "
         "repeats it counts once.",
         lambda docs, e=0.25: _okapi(docs, e, held=list)),
        ("Occurrences are counted. df is the number of documents that hold the word: one that "
         "repeats it counts once.",
         lambda docs, e=0.25: _okapi(docs, e, held=list, log=np.log)),
        ("The mean is taken over the positive weights. It is taken over all of them, before any "
         "is replaced.",
         lambda docs, e=0.25: _okapi(docs, e, over=lambda weight: weight >= 0)),
        ("Negative weights count as 0 in the mean. It is taken over all weights, before any is "
         "replaced.",
         lambda docs, e=0.25: _floored(
             _raw_idf(docs), e * mean(max(0, weight) for weight in _raw_idf(docs).values()))),
        ("This logarithm has base 10. The natural one is wanted, math.log or np.log.",
         lambda docs, e=0.25: _okapi(docs, e, log=math.log10)),
        ("This logarithm has base 2. The natural one is wanted, math.log or np.log.",
         lambda docs, e=0.25: _okapi(docs, e, log=math.log2)),
        ("The argument epsilon is ignored.",
         lambda docs, e=0.25: _okapi(docs, 0.25)),
        ("This is ln(N / df). Robertson and Spärck Jones set the documents without the word "
         "against those with it, and add 0.5 to both.",
         lambda docs, e=0.25: _plain_idf(docs)),
    ]  # fmt: skip
    verdict.compare("okapi_idf", function, hand, random_cases(_draw_idf), mistakes)


def _draw_bm25(rng: np.random.Generator) -> list[Case]:
    cases = []
    for n in range(200):
        docs = _documents(rng, 3)
        k1, b = (
            (float(rng.choice([0.9, 1.2, 2])), float(rng.choice([0, 0.4, 1])))
            if n % 2
            else (1.5, 0.75)
        )
        index, query = BM25Okapi(docs, k1=k1, b=b), pick(rng, "disk full log queue nothing", 1, 3)
        which = int(rng.integers(len(docs)))
        args = (
            query,
            docs[which],
            dict(index.idf),
            float(index.avgdl),
            *((k1, b) if n % 2 else ()),
        )
        cases.append(Case(args, float(index.get_scores(query)[which])))
    return cases  # fmt: skip


def _bm25(
    query, doc, weights, average, k1=1.5, b=0.75, *, up=None, norm=None, once=False, most=math.inf
) -> float:
    """Return a BM25 score with one part changed: the factor above, the norm, repeated words."""
    words = dict.fromkeys(query) if once else query
    up = k1 + 1 if up is None else up
    norm = k1 * (1 - b + b * len(doc) / average) if norm is None else norm
    counts = [(weights.get(word, 0), min(doc.count(word), most)) for word in words if word in doc]
    return sum(weight * count * up / (count + norm) for weight, count in counts)


def bm25_score(function: Callable) -> None:
    """Check bm25_score(query, doc, weights, average_length, k1, b) against rank_bm25."""
    one = {"disk": 1.0}
    hand = [
        Case((["disk"], ["disk", "full"], one, 2.0), 1.0),
        Case((["disk"], ["disk", "disk"], one, 2.0), 10 / 7),
        Case((["disk"], ["disk", "a", "b", "c"], one, 2.0), 20 / 29),
        Case((["disk", "disk"], ["disk", "full"], one, 2.0), 2.0),
        Case((["new"], ["disk", "full"], one, 2.0), 0.0),
        Case((["disk"], ["disk", "disk", "a", "b"], one, 2.0, 1.2, 0.0), 11 / 8),
    ]
    mistakes = [
        ("The factor k1 + 1 in the numerator is missing.", lambda *args: _bm25(*args, up=1)),
        ("The length of the document is ignored: b says how much it counts.",
         lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1)),
        ("A word that stands twice in the query counts once. The sum runs over its places.",
         lambda *args: _bm25(*args, once=True)),
        ("k1 and b are exchanged.", lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, b, k1)),
        ("The length is taken the wrong way round: divide it by the average length.",
         lambda q, d, w, a, k1=1.5, b=0.75:
             _bm25(q, d, w, a, k1, b, norm=k1 * (1 - b + b * a / len(d)))),
        ("1 - b is missing, so a document of average length has a norm of k1 times b.",
         lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1 * b * len(d) / a)),
        ("Parentheses are missing: k1 multiplies all of 1 - b + b * length / average.",
         lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=k1 - b + b * len(d) / a)),
        ("Only the first word of the query counts: the sum runs over all of them.",
         lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q[:1], d, w, a, k1, b)),
        ("k1 is missing in the denominator.",
         lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a, k1, b, norm=1 - b + b * len(d) / a)),
        ("Weight times count: BM25 lets further occurrences count less and less.",
         lambda q, d, w, a, k1=1.5, b=0.75: sum(w.get(x, 0) * d.count(x) for x in q)),
        ("Whether the word occurs is all that counts here. How often it occurs counts, too.",
         lambda q, d, w, a, k1=1.5, b=0.75:
             _bm25(q, d, w, a, k1, b, most=1)),
        ("The arguments k1 and b are ignored.",
         lambda q, d, w, a, k1=1.5, b=0.75: _bm25(q, d, w, a)),
        ("A word of the query that no document holds has no weight: weights.get(word, 0).",
         lambda q, d, w, a, k1=1.5, b=0.75: sum(w[x] for x in q) and _bm25(q, d, w, a, k1, b)),
    ]  # fmt: skip
    verdict.compare("bm25_score", function, hand, random_cases(_draw_bm25), mistakes)


def _searchable(docs: list[list[str]], ids: list[str]) -> tuple:
    """Return index, ids and vocabularies, as session B makes them."""
    index = BM25Okapi(docs)
    index.made_from = docs
    return index, np.array(ids), [set(doc) for doc in docs]


def _matches(
    query: str, index, ids, vocabularies, keep: Callable | None = None, cut: Callable = text.words
) -> list[tuple[str, float]]:
    """Return (id, score) in the order of `ids` for the documents that `keep` accepts."""
    words = cut(query)
    keep = keep or (lambda score, vocabulary: not vocabulary.isdisjoint(words))
    hits = zip(ids, index.get_scores(words), vocabularies, strict=True)
    return [(str(i), round(float(s), runs.DECIMALS)) for i, s, known in hits if keep(s, known)]


def _search_case(query: str, docs: list[list[str]], ids: list[str], *k: int) -> Case:
    args = (query, *_searchable(docs, ids))
    return Case((*args, *k), runs.in_order(_matches(*args))[slice(*k) if k else slice(None)])


def _first_k(wrong: Callable) -> Callable:
    """Return a search without `k` as one that keeps the first `k`."""
    return lambda query, index, ids, known, k=None: wrong(query, index, ids, known)[:k]


def _draw_search(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(100):
        docs = _documents(rng, 2, 9)
        docs += [docs[0]] * int(rng.integers(0, 3))
        ids = [str(found) for found in rng.permutation(list("abcdefghijkl")[: len(docs)])]
        query = " ".join(pick(rng, "Disk full log queue nothing", 1, 3))
        k = [int(rng.integers(1, 5))] if len(cases) % 3 == 0 else []
        cases.append(_search_case(query, docs, ids, *k))
    return cases


def _unrounded(query: str, index, ids, vocabularies) -> list:
    words = text.words(query)
    hits = zip(ids, index.get_scores(words), vocabularies, strict=True)
    found = [(str(i), float(s)) for i, s, known in hits if not known.isdisjoint(words)]
    return sorted(found, key=lambda hit: (-hit[1], hit[0]))


def _cut_too_early(query: str, index, ids, vocabularies, k=None) -> list:
    found = runs.in_order(_matches(query, index, ids, vocabularies, keep=lambda *_: True))[:k]
    words = text.words(query)
    known = dict(zip(map(str, ids), vocabularies, strict=True))
    return [hit for hit in found if not known[hit[0]].isdisjoint(words)]


def _numpy_order(query: str, index, ids, vocabularies) -> list:
    found = _matches(query, index, ids, vocabularies)
    return [found[n] for n in np.argsort([score for _, score in found])[::-1]]


def _letters(query: str, index, ids, vocabularies) -> list:
    shared = [not vocabulary.isdisjoint(text.words(query)) for vocabulary in vocabularies]
    scores = zip(ids, index.get_scores(query), shared, strict=True)
    return runs.in_order([(str(i), float(s)) for i, s, kept in scores if kept])


def _search_mistakes() -> Mistakes:
    """Return wrong searches, those about `k` first."""
    without_k = [
        ("Only scores above 0 are kept. Where most documents hold the word, its weight is 0 or "
         "below, and true matches are lost: ask for a shared word.",
         lambda *args: runs.in_order(_matches(*args, keep=lambda score, _: score > 0))),
        ("Only scores other than 0 are kept. A match can score 0: ask for a shared word.",
         lambda *args: runs.in_order(_matches(*args, keep=lambda score, _: score != 0))),
        ("Documents without a word of the query are returned.",
         lambda *args: runs.in_order(_matches(*args, keep=lambda *_: True))),
        ("Equal scores stand in the order of the index. Ties go by id, ascending.",
         lambda *args: sorted(_matches(*args), key=lambda hit: -hit[1])),
        ("Equal scores stand in the order that argsort()[::-1] leaves. Ties go by id, ascending.",
         _numpy_order),
        ("Equal scores go by id from z to a. Ties go by id, ascending.",
         lambda *args: sorted(_matches(*args), key=lambda hit: hit[::-1], reverse=True)),
        ("The worst comes first: the order is by score, descending.",
         lambda *args: sorted(_matches(*args), key=lambda hit: (hit[1], hit[0]))),
        ("The results are in the order of the index: sort them by score.", _matches),
        ("The index is asked with a text, which it reads letter by letter: pass the words.",
         _letters),
        ("The query keeps its capitals, and the documents are in lower case: use text.words.",
         lambda *args: runs.in_order(_matches(*args, cut=str.split))),
        ("Only ten results come back, whatever k is.",
         lambda *args: runs.in_order(_matches(*args))[:10]),
        ("Only ids come back. Pairs of id and score are wanted.",
         lambda *args: [found for found, _ in runs.in_order(_matches(*args))]),
        ("Scores are compared to the last digit, where equal ones differ: round to ten decimals "
         "before you sort.",
         _unrounded),
    ]  # fmt: skip
    return [
        ("The argument k is ignored: it keeps the first ones.",
         lambda *args: runs.in_order(_matches(*args[:4]))),
        ("Cut to k before documents without a shared word are left out: leave them out first.",
         _cut_too_early),
        *((sentence, _first_k(wrong)) for sentence, wrong in without_k),
    ]  # fmt: skip


def search(function: Callable) -> None:
    """Check search(query, index, ids, vocabularies) against rank_bm25 and the fixed order."""
    two, tied = [["disk"], ["full"]], [["disk"], ["queue"], ["disk"], ["disk"], ["x"]]
    many = [["disk", f"w{n}"] for n in range(12)]
    uneven = [  # the same sum in another order, so that the last digit differs
        ["disk"] * n + ["full"] * 3 + ["queue"] * (5 - n) for n in (4, 1)
    ]
    hand = [
        _search_case("disk", [["disk"], ["queue"], ["x"]], ["a", "b", "c"]),
        _search_case("Disk", [["disk"], ["queue"], ["x"]], ["a", "b", "c"]),
        _search_case("nothing", two, ["a", "b"]),
        _search_case("disk", tied, ["c", "x", "a", "b", "d"]),
        _search_case("a", [["a"], ["a"], ["a", "b"]], ["p", "q", "r"]),
        _search_case("disk", many, list("mbcdefghijkl")),
        _search_case("disk", tied, ["c", "x", "a", "b", "d"], 2),
        _search_case("a", [["a"], ["a"], ["a", "b"], ["b"]], ["p", "q", "r", "s"], 1),
        _search_case("disk full queue", [*uneven, *[[x] * 3 for x in "xyzuv"]], list("bacdefg")),
    ]
    verdict.compare("search", function, hand, random_cases(_draw_search), _search_mistakes())


def _doc_of(chunk_id: str) -> str:
    return chunk_id.rpartition("#")[0]


def _collapsed(hits: list, merge: Callable, doc_of: Callable = _doc_of) -> dict:
    grouped = {}
    for chunk_id, score in hits:
        grouped.setdefault(doc_of(chunk_id), []).append(score)
    return {doc_id: merge(scores) for doc_id, scores in grouped.items()}


def _draw_documents(rng: np.random.Generator) -> list[Case]:
    import pandas as pd

    cases = []
    for _ in range(100):
        ids = {
            f"{d}#{n}"
            for d, n in zip(pick(rng, "a b c d e#x f", 8, 8), rng.integers(0, 3, 8), strict=True)
        }
        hits = [(found, float(rng.integers(-3, 4))) for found in sorted(ids)]
        hits = runs.in_order(hits)[: rng.integers(1, 9)]
        frame = pd.DataFrame(hits, columns=["chunk", "score"])
        best = frame.groupby(frame.chunk.str.rsplit("#", n=1).str[0]).score.max()
        cases.append(Case((hits,), runs.in_order(list(best.items()))))
    return cases  # fmt: skip


def to_documents(function: Callable) -> None:
    """Check to_documents(hits) against pandas."""
    hand = [
        Case(([],), []),
        Case(([("a#0", 2.0), ("b#0", 1.0)],), [("a", 2.0), ("b", 1.0)]),
        Case(([("a#3", 9.0), ("b#0", 8.0), ("a#1", 7.0)],), [("a", 9.0), ("b", 8.0)]),
        Case(([("b#0", 1.0), ("b#1", 1.0), ("a#5", 1.0)],), [("a", 1.0), ("b", 1.0)]),
        Case(([("c#x#1", 2.0), ("c#0", 1.0)],), [("c#x", 2.0), ("c", 1.0)]),
        Case(([("a#0", -1.0), ("b#1", -2.0), ("a#2", -3.0)],), [("a", -1.0), ("b", -2.0)]),
    ]
    ordered = runs.in_order
    mistakes = [
        ("A score below 0 became 0: the best of a document's chunks may be below 0.",
         lambda hits: ordered([*_collapsed(hits, lambda scores: max(0.0, *scores)).items()])),
        ("The last chunk of a document decides its score. The best one does.",
         lambda hits: ordered([*_collapsed(hits, lambda scores: scores[-1]).items()])),
        ("The same document is counted once for each of its chunks: keep the best one only.",
         lambda hits: [(_doc_of(found), score) for found, score in hits]),
        ("The scores of a document's chunks are added up, so long documents win. Keep the best "
         "one.",
         lambda hits: ordered([*_collapsed(hits, sum).items()])),
        ("This is the mean over a document's chunks. Keep the best one.",
         lambda hits: ordered([*_collapsed(hits, mean).items()])),
        ("A document id may hold a # itself: cut at the last one.",
         lambda hits: ordered([*_collapsed(hits, max, lambda c: c.split("#")[0]).items()])),
        ("Documents with equal scores stand in the order of their chunks. Ties go by doc_id, "
         "ascending.",
         lambda hits: [*_collapsed(hits, max).items()]),
        ("The documents are in the order of their ids: sort by score first.",
         lambda hits: sorted(_collapsed(hits, max).items())),
        ("The ids are still those of chunks: cut off the # and the number.",
         lambda hits: [*{_doc_of(hit[0]): hit for hit in hits[::-1]}.values()][::-1]),
        ("The ids are still those of chunks: cut off the # and the number.", ordered),
        ("The ids are still those of chunks: cut off the # and the number.", lambda hits: hits),
    ]  # fmt: skip
    verdict.compare("to_documents", function, hand, random_cases(_draw_documents), mistakes)
