"""What the labelling panel shows, as HTML: all that comes from a file or a person is inert.

A document is rendered from its Markdown: no markup of its own acts, and nothing is loaded.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import mistune

from ..measure import evalset, files
from ..measure.inert import Markup, clean, mark_words, without_markdown
from ..measure.text import Tokenizer, how_many, snippet
from .labellers import own_agreement
from .labelling import Entry

STILL_RARE = 10  # documents; in a small corpus even a word of most documents is worth a mark
BEST, SHORT = 3, 300  # blocks above a page, characters of each
ASIDE, FINISH, ANOTHER = "No answer", "Finish", "Another page"
HEADING = Markup('<div style="font-size:1.25em;font-weight:600">{}</div>')
STYLE = Markup(  # JupyterLab resets marks and tables
    "<style>.labelling{overflow:auto;padding:0.4em 0.9em;line-height:1.5;border:1px solid #999}"
    ".labelling mark{background:#ffe58f;color:#000}"
    ".labelling table{border-collapse:collapse}"
    ".labelling :is(h1,h2,h3,h4){font-size:1.1em;margin:0.8em 0 0.3em}"
    ".labelling :is(p,ul,ol,table){margin:0.5em 0}.labelling :is(th,td){text-align:left;"
    "vertical-align:top;padding:0.2em 0.6em;border:1px solid #999}"
    ".labelling pre{padding:0.5em;border:1px solid #999;overflow-x:auto}"
    ".labelling .facts{opacity:0.75;user-select:none}"  # they are no evidence
    ".labelling .body{overflow-wrap:anywhere}</style>"
)


def telling_words(evals: evalset.EvalSet) -> dict[str, set[str]]:
    """Return {query_id: words to mark}: not those that stand in most documents, such as "the"."""
    spread = Counter(
        word for d in evals.documents.values() for word in set(evals.words(d.retrieval_text))
    )
    most = max(STILL_RARE, len(evals.documents) / 2)
    asked = {q: set(evals.words(query.query)) for q, query in evals.all_queries.items()}
    return {q: {word for word in asked[q] if spread[word] <= most} or asked[q] for q in asked}


class Plain(mistune.HTMLRenderer):
    """Renders Markdown so that nothing leads away: of links and drawings the address is text."""

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return a block of code, without the name of its language."""
        return super().block_code(code)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link's text, its address and its title."""
        return f"{text} ({mistune.escape(' '.join(filter(None, (url, title))))})"

    image = link  # its text says what the drawing shows


def _renderer() -> mistune.Markdown:
    """Return what renders Markdown in the order of its words, so that a selection is found in it.

    [text][ref] and <address> stay as they are written.
    """
    plugins = ["table", "strikethrough"]
    render = mistune.create_markdown(renderer=Plain(), plugins=plugins, hard_wrap=True)
    block, inline = render.block, render.inline
    for rules in (block.rules, block.list_rules, block.block_quote_rules):
        rules.remove("ref_link")
    for name in ("auto_link", "auto_email"):
        inline.rules.remove(name)
    return render


def markdown_html(text: str, words: set[str]) -> Markup:
    """Return Markdown as HTML that does nothing, with some lower-case words marked."""
    parts = re.split(r'(<(?:[^<>"]|"[^"]*")*>)', clean(_renderer()(text)))  # tags at odd places
    page = Markup("")
    for n, part in enumerate(parts):
        is_text = not n % 2 and not part.isspace()
        page += Markup(mark_words(html.unescape(part), words) if is_text else part)
    return page


def best_passages(text: str, words: set[str], split: Tokenizer) -> list[str]:
    """Return up to three blocks of a Markdown text with the most different `words`, best first.

    `split` returns the words of a text. A block stands between blank lines; of equals the first
    comes first, and one without any of the words doesn't come.
    """
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text)]
    n_words = {block: len(words & {*split(block)}) for block in blocks}
    best = sorted(n_words, key=lambda block: -n_words[block])
    return [block for block in best[:BEST] if n_words[block]]


def document_html(document: evalset.Document, words: set[str], best: Iterable[str] = ()) -> Markup:
    """Return title, facts and body in a frame of its own, so that it starts at its top.

    The `best` blocks of the body stand above it, too, in short.
    """
    facts = (document.doc_id, document.kind, document.service, document.updated, document.version)
    page = Markup(
        '{}<div class="labelling" role="group" tabindex="0" aria-label="Document" '
        'style="max-height:26em"><b>{}</b><div class="facts">{}</div>{}<div class="body">{}'
        "</div></div>"
    )
    title = Markup(mark_words(document.title, words))
    known = " · ".join(fact for fact in facts if fact not in ("", "unspecified"))
    body = markdown_html(document.text, words)
    return page.format(STYLE, title, known, _best_html(best, words), body)


def _best_html(best: Iterable[str], words: set[str]) -> Markup:
    """Return blocks of a page in short."""
    page = Markup("")
    for block in best:
        short = without_markdown(block)
        if len(short) > SHORT:
            short = snippet(short, words, SHORT)
        page += Markup("<blockquote>{}</blockquote>").format(Markup(mark_words(short, words)))
    return page


def batch_html(pages: list[tuple[str, list[str]]], words: set[str]) -> Markup:
    """Return (title, best passages) of pages that are confirmed together."""
    batch = Markup("")
    for title, best in pages:
        shown = _best_html(best, words) or Markup("<p>No passage has a word of the query.</p>")
        batch += Markup("<p><b>{}</b></p>{}").format(Markup(mark_words(title, words)), shown)
    frame = Markup(
        '{}<div class="labelling" role="group" tabindex="0" aria-label="Documents">{}</div>'
    )
    return frame.format(STYLE, batch)


def label_html(who: str, row: dict) -> Markup:
    """Return who gives a grade, the grade, and the quotes that prove it."""
    quoted, alternatives = Markup("<q>{}</q>").format, []
    for own in evalset.evidence_quotes(row):
        alternatives.append(Markup(" and ").join(map(quoted, own)))
    page = Markup("<p>{} grade {} {}</p>")
    return page.format(who, row.get("relevance", "unknown"), Markup(" or ").join(alternatives))


def guide_html(folder: Path) -> Markup:
    """Return the folder's labeling_guide.md as HTML, folded, or a hint."""
    guide = files.optional_page(folder / "labeling_guide.md") or (
        "No guide yet. Write labeling_guide.md in the folder: a test for each grade, and the edge "
        "cases you meet."
    )
    page = Markup(  # it opens by keyboard
        "{}<details><summary>Labelling guide</summary>"
        '<div class="labelling" style="max-height:24em">{}</div></details>'
    )
    return page.format(STYLE, markdown_html(guide, set()))


def keys_html(keys: dict[str, str]) -> Markup:
    """Return {key: what it does} as one line."""
    pairs = (Markup("<kbd>{}</kbd> {}").format(*pair) for pair in keys.items())
    return Markup('<p style="font-size:0.75em">{}</p>').format(Markup(" · ").join(pairs))


def message_html(words: str, wrong: bool = False) -> Markup:
    """Return the message line; what is wrong is red and bold."""
    look = "color:var(--jp-error-color1,#b00020);font-weight:600" if wrong else "opacity:0.8"
    line = '<div role="status" style="min-height:1.5em;line-height:1.5;{}">{}</div>'
    return Markup(line).format(Markup(look), Markup("<br>").join(words.split("\n")))


def question_html() -> Markup:
    """Return what stands in place of a document when none judged so far answers the query."""
    return Markup(
        "<p><b>No document judged for this query answers it.</b></p>"
        "<p><b>{}</b> sets it aside: it stays in the folder with the kind none, and nothing "
        "is measured on it. Is there one that nobody proposed? Look for it under <b>{}</b>.</p>"
    ).format(ASIDE, ANOTHER)


def end_html(judgments: list[Entry], n: int, grades: tuple[int, ...], then: Markup) -> Markup:
    """Return what stands in place of a document when all `n` are judged; `then` comes last."""
    page = Markup("<p>There is nothing to judge.</p>")
    if n:
        page = Markup("<p><b>{} shown, all are judged.</b></p>").format(how_many(n, "document"))
        page += Markup("<p>{}</p>").format(own_agreement(judgments, grades))
    aside = ", ".join(sorted({entry.query_id for entry in judgments if not entry.doc_id}))
    if aside:
        page += Markup("<p>Set aside, because no document answers: {}.</p>").format(aside)
    return page + then
