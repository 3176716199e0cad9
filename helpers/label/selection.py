"""Evidence by selecting: a page that tells what is selected in it, and where that stands."""

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
IN_WORD = rf"[^\W_{UNSPACED}]"  # what a word goes on with, in scripts with spaces


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
    they are written. Whole words win, half ones become whole; marks at both ends stay if they
    stand there.
    """
    words = MARKS.join(re.findall(SIGN, selected))
    if not words:
        return ""
    before = re.escape(re.match(MARKS, selected)[0].lstrip())
    after = re.escape(re.search(rf"{MARKS}\Z", selected)[0].rstrip())
    whole = rf"(?:{before})?(?<!{IN_WORD}){words}(?!{IN_WORD})(?:{after})?"
    for page in (text, without_unshown(text)):
        match = re.search(whole, page) or re.search(f"{IN_WORD}*{words}{IN_WORD}*", page)
        if match:
            return text[match.start() : match.end()]
    return ""


def without_unshown(text: str) -> str:
    """Return Markdown with blanks where a page shows nothing, so that all else keeps its place."""
    return UNSHOWN.sub(lambda match: " " * len(match[0]), text)
