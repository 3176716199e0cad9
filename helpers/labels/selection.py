"""Evidence by selecting: a page that tells what is selected in it, and where that stands."""

import re
from pathlib import Path
from typing import NamedTuple

import anywidget
import ipywidgets as widgets
import traitlets

from ..text import UNSPACED, how_many, inert

UNSHOWN = re.compile(  # Markdown that a page does not show: a list's numbers, a code's language
    r"^[ \t>]*\d{1,9}(?=[.)][ \t])|^[ \t>]*(?:```|~~~).*$", re.MULTILINE
)
SIGN = re.compile(r"[^\W_]")  # letters and digits; all else may be markup
IN_WORD = re.compile(rf"[^\W_{UNSPACED}]")  # what a word goes on with, in scripts with spaces


class Quote(NamedTuple):
    """A passage of a text, word for word, and at how many places its words stand."""

    words: str
    places: int


class Inert(traitlets.HasTraits):
    """A widget whose `value` is HTML: plain text that is put into it becomes inert."""

    @traitlets.validate("value")
    def _inert(self, proposal: dict) -> str:
        return inert(proposal["value"])


class Page(Inert, widgets.HTML):
    """Shows HTML, `value`."""


class Selectable(Inert, anywidget.AnyWidget):
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
    shown = UNSHOWN.sub(lambda match: " " * len(match[0]), text)
    for page in (text, shown) if wanted else ():
        signs = [match.start() for match in SIGN.finditer(page)]
        letters = "".join(page[n] for n in signs)
        starts = [match.start() for match in re.finditer(f"(?={wanted})", letters)]
        spans = [(signs[n], signs[n + len(wanted) - 1] + 1) for n in starts]
        if spans:
            whole = [span for span in spans if _widened(text, *span) == span]
            spans = whole or sorted({_widened(text, *span) for span in spans})
            return Quote(_with_marks(selected, text, *spans[0]), len(spans))
    return Quote("", 0)


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with the words at its ends whole."""
    while start and IN_WORD.match(text[start - 1]) and IN_WORD.match(text[start]):
        start -= 1
    while end < len(text) and IN_WORD.match(text[end]) and IN_WORD.match(text[end - 1]):
        end += 1
    return start, end


def _with_marks(selected: str, text: str, start: int, end: int) -> str:
    """Return the words of a span with the marks that were selected around them, as a full stop."""
    before, after = re.search(r"\A[\W_]*", selected)[0], re.search(r"[\W_]*\Z", selected)[0]
    while before and start and text[start - 1] == before[-1]:
        start, before = start - 1, before[:-1]
    while after and text[end : end + 1] == after[0]:
        end, after = end + 1, after[1:]
    return text[start:end].strip()


def selection_text(quote: Quote) -> str:
    """Return what the panel says of a selection."""
    if not quote.words:
        return (
            "No passage of the document reads like this selection: begin and end it inside the "
            "text, or go through its lines with j and k."
        )
    n = how_many(len(quote.words.split()), "word")
    several = f"They stand at {quote.places} places, so select more to say which one you mean."
    then = "Choose a grade, or select anew." if quote.places == 1 else several
    return f"Evidence taken: {n}. {then}"
