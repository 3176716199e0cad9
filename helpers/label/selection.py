"""Evidence by selecting: a page that tells what is selected in it, and where that stands."""

import os
import re
from pathlib import Path

import anywidget
import ipywidgets as widgets
import traitlets

from ..measure.inert import inert
from ..measure.text import UNSPACED

UNSHOWN = re.compile(  # Markdown that a page does not show: a list's numbers, a code's language
    r"^[ \t>]*\d{1,9}(?=[.)][ \t])|^[ \t>]*(?:```|~~~).*$", re.MULTILINE
)
SIGN = r"[^\W_]"  # letters and digits; all else may be markup
MARKS = r"[\W_]*"
IN_WORD = re.compile(rf"[^\W_{UNSPACED}]")  # what a word goes on with, in scripts with spaces


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


def quote_of(selected: str, text: str) -> str:
    """Return the first passage of `text` that a page of it shows as `selected`, "" for none.

    Only letters and digits are compared: bars of tables, stars and line ends are not selected as
    they are written. Half words become whole, and marks at both ends stay where they were selected.
    """
    words = MARKS.join(re.findall(SIGN, selected))
    if not words:
        return ""
    for page in (text, without_unshown(text)):
        spans = [match.span(1) for match in re.finditer(f"(?=({words}))", page)]
        if spans:
            widened = [_with_whole_words(text, *span) for span in spans]
            whole = [span for span in spans if span in widened]
            return _with_marks(selected, text, *(whole or widened)[0])
    return ""


def without_unshown(text: str) -> str:
    """Return Markdown with blanks where a page shows nothing, so that all else keeps its place."""
    return UNSHOWN.sub(lambda match: " " * len(match[0]), text)


def _with_whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start and IN_WORD.match(text[start - 1]) and IN_WORD.match(text[start]):
        start -= 1
    while end < len(text) and IN_WORD.match(text[end]) and IN_WORD.match(text[end - 1]):
        end += 1
    return start, end


def _with_marks(selected: str, text: str, start: int, end: int) -> str:
    """Return the words of a span with the marks that were selected around them, as a full stop."""
    before = re.match(MARKS, selected)[0]
    after = re.search(rf"{MARKS}\Z", selected)[0]
    start -= len(os.path.commonprefix([text[:start][::-1], before[::-1]]))
    end += len(os.path.commonprefix([text[end:], after]))
    return text[start:end].strip()
