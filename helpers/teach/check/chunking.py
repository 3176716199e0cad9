"""Checks of windows and of chunks: fixed, by paragraph."""

import re
from collections.abc import Callable, Iterator
from math import ceil

import numpy as np

from ...measure import text
from . import verdict
from .verdict import Example, drawn, pick

BLANK = r"\n[^\S\n]*\n\s*"
Span = tuple[int, int, int]  # start, end, number of tokens


def n_tokens(piece: str) -> int:
    """Return the number of tokens, a length for split_recursive."""
    return len(text.token_ids(piece))


def _reference_windows(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return the spans that LangChain's token splitter cuts: its stored ones are equal (tests)."""
    step = size - overlap
    last = max(0, ceil((n - size) / step))
    return [(k * step, min(k * step + size, n)) for k in range(last + 1)]


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


def _guarded(spans: Callable, least: float = 0) -> Callable:
    """Return the function `spans` with the refusal of overlaps outside of `least` to size."""

    def cut(n: int, size: int, overlap: int) -> list:
        if not least <= overlap < size:
            raise ValueError("overlap")
        return spans(n, size, overlap)

    return cut


_right = _guarded(_unguarded)


def _twice(sentence: str, *spans: Callable) -> tuple:
    """Return a mistake with and without the refusal of overlaps."""
    return sentence, *spans, *map(_guarded, spans)


def _draw_windows(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(200):
        n, size = int(rng.integers(1, 40)), int(rng.integers(1, 12))
        args = (n, size, int(rng.integers(0, size)))
        yield Example(args, _reference_windows(*args))


WRONG_WINDOWS = [
    _twice("The last window lies wholly inside the one before: stop when the end is reached.",
           _stepped),
    _twice("A window that ends exactly with the text is followed by another one: stop there.",
           _beyond),
    _twice("The overlap is ignored: the next window begins size - overlap tokens later.",
           _apart),
    _twice("The overlap makes windows longer than size. Keep them at size, and begin the next one "
           "size - overlap tokens later.",
           lambda n, size, o: [(s, min(s + size + o, n)) for s in range(0, n, size)],
           lambda n, size, o: _unguarded(n, size + o, o),
           lambda n, size, o: [(max(0, s - o), min(s + size, n)) for s in range(0, n, size)]),
    _twice("The last window ends past the end of the text: its end is at most n.",
           lambda n, size, overlap: [(s, s + size) for s, _ in _unguarded(n, size, overlap)]),
    _twice("Windows begin as long as there are tokens, and the last ones end past the text. "
           "Stop when the end is reached, and end there.",
           lambda n, size, o: [(s, s + size) for s in range(0, n, size - o)]),
    _twice("The last tokens are lost: a shorter window stands at the end.",
           lambda n, size, o: [(s, s + size) for s in range(0, n - size + 1, size - o)]),
    _twice("The last window is moved back to keep its size. It begins like the others, size "
           "- overlap later, and is shorter.",
           lambda n, size, o: [(max(0, min(s, n - size)), e) for s, e in _unguarded(n, size, o)]),
    _twice("The end is the last token. As in a slice, the end is one after it.",
           lambda n, size, overlap: [(s, e - 1) for s, e in _unguarded(n, size, overlap)]),
    ("An overlap as large as the window never moves on, and a negative one leaves gaps: raise"
     " ValueError unless 0 <= overlap < size.",
     _unguarded),
    ("A negative overlap leaves gaps between the windows: raise ValueError for it, too.",
     _guarded(_unguarded, least=float("-inf"))),
    ("An overlap that does not fit gives no windows in silence: raise ValueError.",
     lambda n, size, overlap: (_unguarded(n, size, overlap) if 0 <= overlap < size else [])),
]  # fmt: skip


def check_windows(function: Callable) -> None:
    """Check windows(n, size, overlap) against LangChain's token splitter.

    Why: The common recipe, `range(0, n, step)`, adds a window that repeats what the one before it
    holds. A search then pays to store it, and may show the same words twice.
    """
    hand = [
        Example((4, 4, 1), [(0, 4)]),
        Example((5, 4, 1), [(0, 4), (3, 5)]),
        Example((6, 2, 0), [(0, 2), (2, 4), (4, 6)]),
        Example((10, 4, 1), [(0, 4), (3, 7), (6, 10)]),
        Example((463, 512, 50), [(0, 463)]),
        Example((974, 512, 50), [(0, 512), (462, 974)]),
        *(Example((10, 4, overlap), ValueError) for overlap in (4, 9, -1)),
    ]
    verdict.run_check("windows", function, hand, drawn(_draw_windows), WRONG_WINDOWS)


def _reference_fixed(doc_text: str, size: int, overlap: int) -> list[Span]:
    """Return the chunks from the bytes of the tokens: a character starts with its first byte."""
    encoding = text.encoding()
    pieces = encoding.decode_tokens_bytes(encoding.encode(doc_text, disallowed_special=()))
    starts = [len(b"".join(pieces[:n]).decode(errors="ignore")) for n in range(len(pieces) + 1)]
    spans = _reference_windows(len(pieces), size, overlap)
    return [(starts[a], starts[b], b - a) for a, b in spans]


def _fixed(doc_text: str, size: int, overlap: int, spans=_right, whole=True) -> list[Span]:
    """Return chunks cut by `spans`; unless `whole`, they end where the last token begins."""
    ids = text.token_ids(doc_text)
    _, starts = text.encoding().decode_with_offsets(ids)
    starts.append(len(doc_text) if whole else starts[-1])
    return [(starts[a], starts[min(b, len(ids))], b - a) for a, b in spans(len(ids), size, overlap)]


def _starts(doc_text: str) -> list[int]:
    return text.encoding().decode_with_offsets(text.token_ids(doc_text))[1]


def _by_decoding(doc_text: str, size: int, overlap: int) -> list[Span]:
    ids, decode = text.token_ids(doc_text), text.encoding().decode
    found = _right(len(ids), size, overlap)
    return [(len(decode(ids[:a])), len(decode(ids[:b])), b - a) for a, b in found]


def _by_finding(doc_text: str, size: int, overlap: int) -> list[Span]:
    ids, decode = text.token_ids(doc_text), text.encoding().decode
    parts = [(decode(ids[a:b]), b - a) for a, b in _right(len(ids), size, overlap)]
    return [(doc_text.find(p), doc_text.find(p) + len(p), n) for p, n in parts]


def _draw_fixed(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(60):
        doc_text = " ".join(pick(rng, "disk full 🧯🧯 queue é checkout-api 日本語 v2.1", 1, 9))
        size = int(rng.integers(3, 9))
        args = (doc_text, size, int(rng.integers(0, size)))
        yield Example(args, _reference_fixed(*args))


WRONG_FIXED = [
    ("The spans count tokens. Start and end count characters of the text.",
     lambda d, size, o: [(a, b, b - a) for a, b in _right(n_tokens(d), size, o)]),
    ("The windows are laid over characters. They are laid over tokens, and each token begins "
     "at a character.",
     lambda d, size, o: [(a, b, b - a) for a, b in _right(len(d), size, o)]),
    ("Positions come from decoded slices. A slice can end inside a character, and then "
     "decodes to replacement marks: take the offsets of decode_with_offsets.",
     _by_decoding, _by_finding),
    ("The overlap is ignored.",
     lambda d, size, o: _fixed(d, size, o, _guarded(_apart)),
     lambda d, size, o: _fixed(d, size, o, _apart)),
    ("The last chunk lies wholly inside the one before: cut with windows, which stops at the end.",
     lambda d, size, o: _fixed(d, size, o, _stepped)),
    ("The last chunk stops where its last token begins: the end of the text is missing.",
     lambda d, size, o: [(a, len(d[:b]) - (b == len(d)), n) for a, b, n in _fixed(d, size, o)],
     lambda d, size, o: _fixed(d, size, o, whole=False)),
    ("Every chunk stops where its last token begins. It ends where the next one begins.",
     lambda d, size, o: [(a, _starts(d)[at - 1], at - first) for (a, _, _), (first, at) in zip(
         _fixed(d, size, o), _right(n_tokens(d), size, o), strict=True)]),
    ("No token begins after the last one, so no offset stands there. Where does the text end?",
     lambda d, size, o: [
         (_starts(d)[a], _starts(d)[b], b - a) for a, b in _right(n_tokens(d), size, o)]),
    ("Every chunk says size tokens. The last one may have fewer.",
     lambda d, size, o: [(a, b, size) for a, b, _ in _fixed(d, size, o)]),
    ("The third number counts characters. It counts tokens.",
     lambda d, size, o: [(a, b, b - a) for a, b, _ in _fixed(d, size, o)]),
    ("Text that looks like a special token stops the encoding: text.token_ids takes it as "
     "plain text.",
     lambda d, size, o: text.encoding().encode(d) and _fixed(d, size, o)),
    ("An overlap as large as the chunk never moves on: windows refuses it.",
     lambda d, size, o: _fixed(d, size, o, _unguarded)),
]  # fmt: skip


def check_chunk_fixed(function: Callable) -> None:
    """Check chunk_fixed(doc_text, size, overlap) against LangChain's spans and tiktoken's bytes.

    Why: This is how the baseline cuts. A chunker that decodes slices of tokens breaks characters,
    and the quote that a product shows its users no longer matches the document.
    """
    five, engine = "one two three four five", "Disk full 🧯🧯🧯 again"
    hand = [
        Example((five, 9, 2), [(0, 23, 5)]),
        Example((five, 2, 0), [(0, 7, 2), (7, 18, 2), (18, 23, 1)]),
        Example((five, 2, 1), [(0, 7, 2), (3, 13, 2), (7, 18, 2), (13, 23, 2)]),
        Example((engine, 4, 0), _reference_fixed(engine, 4, 0)),
        Example(("<|endoftext|>", 99, 0), _reference_fixed("<|endoftext|>", 99, 0)),
        Example((five, 4, 4), ValueError),
    ]
    verdict.run_check("chunk_fixed", function, hand, drawn(_draw_fixed), WRONG_FIXED)


def _span(doc_text: str, start: int, end: int) -> Span:
    return start, end, n_tokens(doc_text[start:end])


def _located(doc_text: str, pieces: list[str], again: bool = False) -> list[Span]:
    """Return the spans of pieces that follow each other; `again` looks from the beginning."""
    spans, at = [], 0
    for piece in pieces:
        at = doc_text.index(piece, 0 if again else at)
        spans.append(_span(doc_text, at, at + len(piece)))
        at += len(piece)
    return spans


def _blocks(doc_text: str, blank: str = BLANK) -> list[str]:
    return [block.strip() for block in re.split(blank, doc_text) if block.strip()]


def _is_heading(block: str) -> bool:
    return block.startswith("#") and "\n" not in block


def _paragraphs(doc_text, heading=_is_heading, keep_last=True, blank=BLANK, again=False) -> list:
    """Return paragraphs with the headings before them."""
    spans, start = [], None
    for a, b, _ in _located(doc_text, _blocks(doc_text, blank), again):
        start = a if start is None else start
        if not heading(doc_text[a:b]) or (keep_last and not doc_text[b:].strip()):
            spans.append(_span(doc_text, start, b))
            start = None
    return spans


def _alone(doc_text: str) -> list[Span]:
    """Return each block by itself."""
    return _located(doc_text, _blocks(doc_text))


def _headings_behind(doc_text: str) -> list[Span]:
    spans = []
    for a, b, _ in _alone(doc_text):
        if spans and _is_heading(doc_text[a:b]):
            a = spans.pop()[0]
        spans.append(_span(doc_text, a, b))
    return spans


def _nearest_heading(doc_text: str) -> list[Span]:
    """Return paragraphs with the last of the headings before them."""
    blocks, spans = _alone(doc_text), []
    for (start, end, _), (a, b, _) in zip([(0, 0, 0), *blocks], blocks, strict=False):
        if not _is_heading(doc_text[a:b]) or not doc_text[b:].strip():
            spans.append(_span(doc_text, start if _is_heading(doc_text[start:end]) else a, b))
    return spans


def _with_space(doc_text: str) -> list[Span]:
    """Return paragraphs that run on to where the next begins."""
    spans = _paragraphs(doc_text)
    ends = [*(start for start, _, _ in spans[1:]), len(doc_text)]
    return [_span(doc_text, a, end) for (a, _, _), end in zip(spans, ends, strict=True)]


def _last_heading_runs_on(doc_text: str) -> list[Span]:
    """Return paragraphs of which headings at the end go on to the end of the text."""
    kept = _paragraphs(doc_text, keep_last=False)
    last = _paragraphs(doc_text)[len(kept) :]
    return [*kept, *(_span(doc_text, start, len(doc_text)) for start, *_ in last)]


def _block(rng: np.random.Generator) -> str:
    """Return a heading or a paragraph."""
    lines = [" ".join(pick(rng, "run df -h then call Storage", 1, 4)) + "." for _ in "ab"]
    return "## First look" if rng.random() < 0.3 else "\n".join(lines[: rng.integers(1, 3)])


def _draw_paragraphs(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(100):
        blocks = [_block(rng) for _ in range(rng.integers(1, 6))]
        gaps = [str(gap) for gap in rng.choice(["\n\n", "\n\n\n", "\n \n"], len(blocks))]
        doc_text, pieces, start = "", [], 0
        for n, (block, gap) in enumerate(zip(blocks, gaps, strict=True)):
            doc_text += block
            if not block.startswith("#") or n == len(blocks) - 1:
                pieces.append(doc_text[start:])
                start = len(doc_text) + len(gap)
            doc_text += gap
        yield Example((doc_text,), _located(doc_text, pieces))


def _stretches(doc_text: str, blank: str = BLANK, again: bool = False) -> list[tuple[int, int]]:
    """Return the spans of blocks, without their tokens."""
    return [span[:2] for span in _located(doc_text, _blocks(doc_text, blank), again)]


def _matched(doc_text: str, end: str, flags: int = re.DOTALL) -> list[tuple[int, int]]:
    """Return where a pattern finds stretches up to `end`."""
    return [found.span() for found in re.finditer(rf"\S.*?(?={end})", doc_text, flags)]


def _between(doc_text: str, kept: Callable = lambda block: True) -> list[tuple[int, int]]:
    """Return what stands between two line breaks in a row, as it is."""
    ends = [match.start() for match in re.finditer("\n\n", doc_text)] + [len(doc_text)]
    starts = [0, *(end + 2 for end in ends[:-1])]
    return [(a, b) for a, b in zip(starts, ends, strict=True) if kept(doc_text[a:b])]


def _draw_stretches(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(100):
        doc_text, spans = str(rng.choice(["", "\n\n", " \n"])), []
        for _ in range(rng.integers(1, 5)):
            block = _block(rng)
            spans.append((len(doc_text), len(doc_text) + len(block)))
            doc_text += block + str(rng.choice(["\n\n", "\n\n\n", "\n \n"]))
        yield Example((doc_text,), spans)


WRONG_STRETCHES = [
    ("Every line is a stretch. Only a blank line ends one.", lambda d: _stretches(d, r"\n")),
    ("A line of spaces is a blank line, too.", lambda d: _stretches(d, r"\n\n\s*")),
    ("Cut at two line breaks, a piece can begin or end with white space, hold a line of spaces,"
     " or be empty. Where are its first and its last letter?",
     _between,
     lambda d: _between(d, bool),
     lambda d: _between(d, str.strip),
     lambda d: [(at, at + len(block)) for block in d.split("\n\n") for at in [d.find(block)]],
     lambda d: [span[:2] for span in _located(d, d.split("\n\n"))]),
    ("Only two line breaks in a row or the very end of the text end a stretch. A line of spaces"
     " is blank, too, and white space at the end of the text belongs to no stretch.",
     lambda d: _matched(d, r"\n\n|\Z")),
    ("The last stretch keeps the white space at the end of the text: it ends with its last letter.",
     lambda d: _matched(d, r"\n[^\S\n]*\n|\Z")),
    ("A dot stands for no line break, so each stretch is its last line. With re.DOTALL it does.",
     lambda d: _matched(d, r"\n[^\S\n]*\n|\s*\Z", flags=0)),
    ("The blank lines after a stretch are part of it: end with its last letter.",
     lambda d: [(a, end) for (a, _), end in zip(
         _stretches(d), [*(a for a, _ in _stretches(d)[1:]), len(d)], strict=True)]),
    ("A stretch that occurs twice is found at its first place twice: go on from where the last"
     " one ended.",
     lambda d: _stretches(d, again=True)),
    ("The end is the last letter. As in a slice, the end is one after it.",
     lambda d: [(a, b - 1) for a, b in _stretches(d)]),
    ("The last stretch is lost: the end of the text ends one as a blank line does.",
     lambda d: _stretches(d)[:-1],
     lambda d: [(a, b) for a, b in _stretches(d) if re.match(BLANK, d[b:])],
     lambda d: _matched(d, r"\n\n")),
    ("Places in bytes came back. Start and end count characters.",
     lambda d: [(len(d[:a].encode()), len(d[:b].encode())) for a, b in _stretches(d)]),
    ("Start and length came back. The second number is where the stretch ends.",
     lambda d: [(a, b - a) for a, b in _stretches(d)]),
]  # fmt: skip


def check_stretches(function: Callable) -> None:
    """Check stretches(doc_text) against texts whose places were counted on paper.

    Why: Positions beat copies: with them every chunk can be traced back to its place in the
    document, so a product can highlight it.
    """
    hand = [
        Example(("One.",), [(0, 4)]),
        Example(("One.\n\nTwo.",), [(0, 4), (6, 10)]),
        Example(("One.\nMore.\n\nTwo.\n",), [(0, 10), (12, 16)]),
        Example(("One.\n \nTwo.",), [(0, 4), (7, 11)]),
        Example(("Same.\n\nSame.",), [(0, 5), (7, 12)]),
        Example(("\n\nOne.\n\t\nTwo.\n\n",), [(2, 6), (9, 13)]),
        Example(("# A\n\nÜber é 🧯.",), [(0, 3), (5, 14)]),
        Example(("",), []),
    ]
    verdict.run_check("stretches", function, hand, drawn(_draw_stretches), WRONG_STRETCHES)


WRONG_PARAGRAPHS = [
    ("A heading stands alone: it belongs to the paragraph that follows.", _alone),
    ("A heading is joined to the paragraph before it. It belongs to the one that follows.",
     _headings_behind),
    ("Headings are dropped: they belong to the paragraph that follows.",
     lambda d: [span for span in _alone(d) if not _is_heading(d[span[0]:span[1]])],
     lambda d: [span for span in _alone(d)
                if not _is_heading(d[span[0]:span[1]]) or span == _alone(d)[-1]]),
    ("Of several headings in a row only the last is kept: all of them belong to what follows.",
     _nearest_heading),
    ("A heading at the very end is lost: with nothing to follow it stands alone.",
     lambda d: _paragraphs(d, keep_last=False),
     lambda d: _paragraphs(d, lambda block: block.startswith("#"), keep_last=False)),
    ("A paragraph that occurs twice is found at its first place twice: go on from where the "
     "last one ended.",
     lambda d: _paragraphs(d, again=True)),
    ("The blank lines after a paragraph are part of it: end with its last letter.",
     _with_space,
     lambda d: [(a, len(d) if b == len(d.rstrip()) else b, n) for a, b, n in _paragraphs(d)],
     lambda d: [_span(d, a, len(d) if b == len(d.rstrip()) else b) for a, b, _ in _paragraphs(d)],
     _last_heading_runs_on),
    ("Every line is a paragraph. Only a blank line ends one.",
     lambda d: _located(d, _blocks(d, r"\n")),
     lambda d: _paragraphs(d, blank=r"\n")),
    ("A paragraph whose first line begins with # is taken for a heading: a heading is one "
     "line alone.",
     lambda d: _paragraphs(d, lambda block: block.startswith("#"))),
    ("A paragraph with a # somewhere in it is taken for a heading. A heading begins with # and is "
     "one line alone.",
     lambda d: _paragraphs(d, lambda block: "#" in block and "\n" not in block),
     lambda d: _paragraphs(d, lambda block: "# " in block and "\n" not in block),
     lambda d: _paragraphs(d, lambda block: "#" in block)),
    ("A line of spaces is a blank line, too.", lambda d: _paragraphs(d, blank=r"\n\n\s*")),
    ("The third number counts words. It counts tokens.",
     lambda d: [(a, b, len(d[a:b].split())) for a, b, _ in _paragraphs(d)]),
    ("The third number counts characters. It counts tokens.",
     lambda d: [(a, b, b - a) for a, b, _ in _paragraphs(d)]),
]  # fmt: skip


def check_chunk_paragraphs(function: Callable) -> None:
    """Check chunk_paragraphs(doc_text) against texts that are built from known pieces.

    Why: A heading without its text matches queries and answers none of them. Where a search shows
    bare headings on top, this is what went wrong.
    """
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
    verdict.run_check("chunk_paragraphs", function, hand, drawn(_draw_paragraphs), WRONG_PARAGRAPHS)
