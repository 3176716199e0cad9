"""Evidence by selecting: a page that tells what is selected in it, and where that stands."""

import re
from pathlib import Path
from typing import NamedTuple

import anywidget
import traitlets

from ..text import UNSPACED, how_many

UNSHOWN = (
    re.compile(  # Markdown that a page does not show: a list's numbers, the name of a language
        r"^[ \t>]*\d{1,9}(?=[.)][ \t])|^[ \t>]*(?:```|~~~).*$", re.MULTILINE
    )
)
SIGN = re.compile(r"[^\W_]")  # letters and digits; all else may be markup
IN_WORD = re.compile(rf"[^\W_{UNSPACED}]")  # what a word goes on with, in scripts with spaces


class Quote(NamedTuple):
    """A passage of a text, word for word, and at how many places its words stand."""

    words: str
    places: int


class Selectable(anywidget.AnyWidget):
    """Shows HTML, `value`; `selected` is the text that is selected in it, "" for none."""

    _esm = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    value = traitlets.Unicode("").tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)


def quote_of(selected: str, text: str) -> Quote:
    """Return the passage of `text` that a page of it shows as `selected`, the first of several.

    Only letters and digits are compared: bars of tables, stars and line ends are not selected as
    they are written. Half words become whole, and marks at both ends stay where they were selected.
    Quote("", 0) where no passage has these words.
    """
    wanted = "".join(SIGN.findall(selected))
    for hidden in ([], UNSHOWN.finditer(text)) if wanted else ():
        signs = _sign_places(text, {n for match in hidden for n in range(*match.span())})
        spans = _places_of(wanted, text, signs)
        if spans:
            start, end = _with_marks(selected, text, *spans[0])
            return Quote(text[start:end], len(spans))
    return Quote("", 0)


def _sign_places(text: str, left_out: set[int]) -> list[int]:
    """Return the places of the letters and digits of a text."""
    return [match.start() for match in SIGN.finditer(text) if match.start() not in left_out]


def _places_of(wanted: str, text: str, signs: list[int]) -> list[tuple[int, int]]:
    """Return where the letters and digits `wanted` stand; whole words win over parts of words."""
    plain, found, start = "".join(text[n] for n in signs), [], -1
    while (start := plain.find(wanted, start + 1)) >= 0:
        found.append((signs[start], signs[start + len(wanted) - 1] + 1))
    whole = [span for span in found if _widened(text, *span) == span]
    return whole or sorted({_widened(text, *span) for span in found})


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with the words at its ends whole."""
    while start and IN_WORD.match(text[start - 1]) and IN_WORD.match(text[start]):
        start -= 1
    while end < len(text) and IN_WORD.match(text[end]) and IN_WORD.match(text[end - 1]):
        end += 1
    return start, end


def _with_marks(selected: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with the marks that were selected around it, such as a full stop."""
    before, after = (re.search(end, selected)[0] for end in (r"\A[\W_]*", r"[\W_]*\Z"))
    while before and start and text[start - 1] == before[-1]:
        start, before = start - 1, before[:-1]
    while after and text[end : end + 1] == after[0]:
        end, after = end + 1, after[1:]
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), end - len(passage) + len(passage.rstrip())


def selection_text(quote: Quote) -> str:
    """Return what the panel says of a selection."""
    if not quote.words:
        return (
            "No passage of the document reads like this selection: begin and end it inside the "
            "text, or choose a line from the list."
        )
    found = f"Evidence taken: {how_many(len(quote.words.split()), 'word')}."
    if quote.places == 1:
        return f"{found} Choose a grade, or select anew."
    return f"{found} They stand at {quote.places} places, so select more to say which one you mean."
