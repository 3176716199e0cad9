"""Texts of a set as they are shown: no character of theirs acts."""

import numbers
import re
import string
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import TextIO

import markupsafe

from .text import how_many

ACTING = (  # controls but tab and line end, marks that turn the direction, half characters
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
)
ACTIVE = re.compile(  # what HTML or Markdown gives a meaning to, anywhere or at the start
    r"""[&<>"'`*~|@^{}\[\]$\\\n\t]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|"""
    r"\A[-+=:.#]|\A\d(?=\d*[.)])|\A (?=[-+=# \d])",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """Return `text` with what acts on a terminal or a reading direction as escapes: \\x1b."""
    return re.sub(f"[{ACTING}]", lambda m: m[0].encode("unicode_escape").decode(), text)


class Markup(markupsafe.Markup):
    """Text that is HTML or Markdown. Plain text that is put into it becomes inert.

    `Markup("<p>{}</p>").format(text)`, `+`, `%` and `join` all do that, so nothing
    but a literal of ours, passed to Markup, becomes markup.
    """

    __slots__ = ()

    @classmethod
    def escape(cls, text: object) -> "Markup":
        """Return markup as it is, and any other text as markup that shows it and does nothing.

        A character with a meaning in HTML or Markdown becomes a numeric reference;
        `$` and a backslash, which JupyterLab takes for formulas, stand in an element
        each.
        """
        if hasattr(text, "__html__"):
            return cls(text.__html__())
        return cls(ACTIVE.sub(_reference, visible(str(text))))

    def format(self, *values: object, **named: object) -> "Markup":
        """Fill the places as str.format does; numbers stand as they are formatted."""
        return Markup(_Inert().vformat(self, values, named))


inert = Markup.escape


class _Inert(string.Formatter):
    def format_field(self, value: object, spec: str) -> str:
        shown = format(value, spec)
        return shown if isinstance(value, numbers.Number | Markup) else inert(shown)


def _reference(match: re.Match) -> str:
    reference = f"&#{ord(match[0])};"
    return f"<span>{reference}</span>" if match[0] in "$\\" else reference


def html(page: str):
    """Return what a cell shows as HTML; all but Markup is inert."""
    from IPython.display import HTML  # needed in cells only

    return HTML(inert(page))


def markdown(page: str):
    """Return what a cell shows as Markdown; all but Markup is inert."""
    from IPython.display import Markdown

    return Markdown(inert(page))


def template(path: Path, **filters: Callable):
    """Return a Jinja template with further filters: all it is given becomes inert unless Markup."""
    import jinja2  # needed for pages only

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        finalize=inert,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": number, "interval": interval, "many": how_many}
    environment.filters |= {"measure_name": measure_name} | filters
    return environment.get_template(path.name)


def number(value: float | None, form: str = ".3f") -> Markup:
    """Return a number as it is formatted, "" for None."""
    return Markup("") if value is None else Markup(f"{{:{form}}}").format(value)


def interval(ends: tuple[float | None, float | None], form: str = ".3f") -> Markup:
    """Return both ends of an interval, "" where there is none."""
    low, high = ends
    if low is None or high is None:
        return Markup("")
    return number(low, form) + " to " + number(high, form)


def measure_name(name: str) -> Markup:
    """Return the name of a measure as it is written, full hit@5; any other text is inert."""
    return Markup(name) if re.fullmatch(r"[A-Za-z][A-Za-z -]*@\d+", name) else inert(name)


def paragraphs(page: str) -> Markup:
    """Return a filled template with a line for each paragraph, item, heading and row of a table."""
    lines = re.sub(r"(?<![ \n])\n *(?![ \n#>|]|- )", " ", page.strip())
    return Markup(re.sub(r"\n{3,}", "\n\n", lines))


def mark_words(body: str, words: set[str]) -> Markup:
    """Return `body` as markup in which the given lower-case words are marked."""
    mark, page = Markup("<mark>{}</mark>"), []
    for part in re.split(r"(\w+)", body):
        page.append(mark.format(part) if part.lower() in words else part)
    return Markup("").join(page)


def without_markdown(page: str) -> str:
    """Return the words that a Markdown page shows, on one line; HTML in it is shown as text."""
    import mistune  # a search alone doesn't need it

    render = mistune.create_markdown(plugins=["table", "strikethrough", "task_lists"])
    return Markup(render(page)).striptags()


def plain(page: str) -> str:
    """Return a Markdown page as a terminal shows it: each reference as the sign it stands for."""
    return unescape(re.sub("</?span>", "", page))


KEPT = "alt aria-label class colspan data-label id role rowspan scope start style tabindex"
SAFE = {
    "href": re.compile(r"#|https://|[A-Za-z]\w*\.(md|jsonl?)\Z"),  # or a file beside the page
    "src": re.compile("data:image/png;base64,"),
    "tabindex": re.compile(r"0\Z"),  # a box that scrolls by keys, in the order of the page
}


def clean(page: str) -> str:
    """Return HTML with the tags of a text, tables and drawings inside the page, and no others.

    Of every other tag the words stay, of a script or a style nothing. Images come
    from nowhere but the page, links lead into it, to a file beside it and to https.
    """
    import nh3  # compiled: where there is no wheel, only pages and the panel lack it

    def keep(tag: str, name: str, value: str) -> str | None:
        return value if name not in SAFE or SAFE[name].match(value) else None

    return nh3.clean(
        page,
        attributes={"*": {*KEPT.split()}, "a": {"href"}, "img": {"src"}},
        attribute_filter=keep,
        filter_style_properties={"text-align", "width"},
        url_schemes={"https", "data"},
        link_rel=None,
    )


class Screen:
    """A stream on which no text acts and none fails: controls and the like become escapes."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        stream.reconfigure(errors="backslashreplace")  # what its encoding lacks

    def write(self, text: str) -> int:
        """Write what is visible of `text`."""
        return self.stream.write(visible(text))

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)
