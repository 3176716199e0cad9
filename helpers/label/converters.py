"""HTML and reStructuredText as Markdown. docutils reads the one, markdownify writes the other."""

import re
from importlib.metadata import version

from .manifest import CONVERTED_BY

BESIDE = (  # the text of a page; an aside may be a warning or a footnote
    "nav, footer, script, style, noscript, template, form, "
    "[role=navigation], .nav-panel, .navheader, .navfooter, .header:has([accesskey]), .headerlink"
)
STYLE = {
    "heading_style": "atx",
    "bullets": "-",
    "wrap": True,  # a paragraph is one line, wherever its source breaks
    "wrap_width": None,
    "escape_asterisks": False,
    "escape_underscores": False,
    "escape_misc": False,
}
SETTINGS = {
    "_disable_config": True,  # nobody's docutils.conf
    "file_insertion_enabled": False,
    "report_level": 5,  # what it cannot read stays as text
    "halt_level": 5,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
}
DIRECTIVE = re.compile(  # indent, name, argument; its options, which follow, are no text
    r"^([ \t]*)\.\. ([\w:.+-]+)::[ \t]*(.*)\n(?:[ \t]+:[\w-]+:.*\n)*", re.MULTILINE
)
CODE = ("code", "code-block", "sourcecode", "math")  # Sphinx has more options
UNSEEN = (
    "toctree index highlight currentmodule module py:module py:currentmodule "
    "tabularcolumns sectionauthor moduleauthor literalinclude"
).split()
INCLUDED = re.compile(r"^[ \t]*\.\. (?:literal)?include::", re.MULTILINE)
FOR_SPHINX = re.compile(r"^:(?:orphan|nosearch|nocomments|tocdepth):.*\n", re.MULTILINE)
ROLE = re.compile(r":[\w:.+-]+:`!?(?:~(?:[^`<]*\.)?)?([^`]+?)(?:\s*<[^`<>]*>)?`")


def made_by(tools: tuple[str, ...]) -> str:
    """Return which converters a page goes through, with their versions.

    Raises ModuleNotFoundError where one isn't installed.
    """
    return f"{CONVERTED_BY} {' and '.join(f'{tool} {version(tool)}' for tool in tools)}"


def in_own_encoding(page: bytes) -> str | None:
    """Return an HTML page by the encoding that it names; None where it names none or another."""
    from bs4.dammit import EncodingDetector

    name = EncodingDetector.find_declared_encoding(page, is_html=True)
    try:
        return page.decode(name) if name else None
    except (LookupError, UnicodeDecodeError):
        return None


def html_markdown(text: str) -> tuple[str, str]:
    """Return (title, Markdown) of a page: its main part, without what leads to other pages."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    page = BeautifulSoup(text, "html.parser")
    title = page.title.extract().get_text(" ", strip=True) if page.title else ""
    main = page.select_one("[role=main]") or page.main or page.body or page
    for part in main.select(BESIDE):
        part.decompose()
    for literal in main.select("span.literal"):  # docutils' own HTML
        literal.name = "code"
    for link in main("a"):
        if not link.get("href", "").startswith(("http:", "https:", "mailto:")):
            link.unwrap()
    return title, MarkdownConverter(**STYLE).convert_soup(main)


def rst_markdown(text: str) -> tuple[str, str]:
    """Return ("", Markdown) of a page; what only Sphinx knows is taken as text."""
    from docutils.core import publish_parts

    page = FOR_SPHINX.sub("", DIRECTIVE.sub(_known_to_docutils, ROLE.sub(r"\1", text)))
    parts = publish_parts(page, writer="html5", settings_overrides=SETTINGS)
    return html_markdown(re.sub("</?blockquote>", "", parts["html_body"]))


def _known_to_docutils(directive: re.Match) -> str:
    """Return the start of a directive that docutils has; of another its argument as a paragraph."""
    from docutils.parsers.rst.languages import en

    indent, name, argument = directive.groups()
    if name in UNSEEN:
        return f"{indent}.. {name}\n"  # a comment, with all below it
    if name in CODE:
        return f"{indent}::\n\n"
    if name in en.directives:
        return directive[0]
    if name.startswith(("version", "deprecated")):
        argument = f"{name}: {argument}"
    return f"{indent}{argument}\n\n"
