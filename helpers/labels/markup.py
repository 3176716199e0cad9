"""What the labelling panel shows, as HTML. Everything from a file or a person goes through `inert`.

A document is rendered from its Markdown: no markup of its own acts, and nothing is loaded.
"""

from collections import Counter
from pathlib import Path

import mistune

from .. import evalset, figures, files
from ..text import clean, how_many, inert
from . import log
from .schedule import Agreement, agreement

STILL_RARE = 10  # documents; in a small corpus even a word of most documents is worth a mark
ASIDE, FINISH = "No answer", "Finish"
ACTIONS = {
    ASIDE: "n: no document answers this query, set it aside",
    "Skip": "s: decide later",
    "Undo": "u: take the last judgment back",
    FINISH: "end here: what is judged goes into the folder",
}
MERGED_THEN = (
    f"<p><b>{FINISH}</b> takes your judgments into the folder; then run this notebook again, "
    "or <code>make report EVALS=folder</code>.</p>"
)


def telling_words(evals: evalset.EvalSet) -> dict[str, set[str]]:
    """Return {query_id: words to mark}: not those that stand in most documents, such as "the"."""
    spread = Counter(
        word for d in evals.documents.values() for word in set(evals.words(d.retrieval_text))
    )
    found = {}
    for query in evals.asked.values():
        words = set(evals.words(query.query))
        rare = {word for word in words if spread[word] <= max(STILL_RARE, len(evals.documents) / 2)}
        found[query.query_id] = rare or words
    return found


PANEL_STYLE = (  # JupyterLab resets marks and tables
    "<style>.labelling mark{background:#ffe58f;color:#000}.labelling h1,.labelling h2,"
    ".labelling h3,.labelling h4{font-size:1.1em;margin:0.8em 0 0.3em}.labelling table"
    "{border-collapse:collapse;margin:0.5em 0}.labelling th,.labelling td{text-align:left;"
    "vertical-align:top;padding:0.2em 0.6em;border:1px solid #999}.labelling pre{padding:0.5em;"
    "border:1px solid #999;overflow-x:auto}.labelling p,.labelling ul,.labelling ol{margin:0.5em 0}"
    "</style>"
)
FRAME = "overflow:auto;padding:0.4em 0.9em;line-height:1.5;border:1px solid #999"
BODY = "overflow-wrap:anywhere;margin-top:0.5em"
ASIDE_FACTS = "opacity:0.75;user-select:none"  # they are no evidence
OPEN_FRAME = 'class="labelling" role="region" tabindex="0"'


def query_html(query: evalset.Query) -> str:
    """Return the query as a heading."""
    return f'<div style="font-size:1.25em;font-weight:600">{inert(query.query)}</div>'


class Marking(mistune.HTMLRenderer):
    """Renders Markdown with some lower-case words marked. What looks like HTML is text.

    A link is its text and its address, a drawing its words and its address: nothing leads away.
    """

    def __init__(self, words: set[str]):
        super().__init__()
        self.words = words

    def text(self, text: str) -> str:
        """Return plain text."""
        return figures.marked(text, self.words)

    inline_html = text

    def block_html(self, html: str) -> str:
        """Return a block of HTML as the text that it is."""
        return f"<p>{self.text(html.strip())}</p>"

    def codespan(self, text: str) -> str:
        """Return code inside a line."""
        return f"<code>{self.text(text)}</code>"

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return a block of code."""
        return f"<pre><code>{self.text(code)}</code></pre>"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link's text and its address."""
        address = self.text(url)
        return text if text == address else f"{text} ({address})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return what a drawing shows, in words, and its address."""
        return f"{self.text(text)} ({self.text(url)})"


def rendered(text: str, words: set[str]) -> str:
    """Return Markdown as HTML that does nothing, with some lower-case words marked."""
    plugins = ["table", "strikethrough"]
    render = mistune.create_markdown(renderer=Marking(words), plugins=plugins, hard_wrap=True)
    return clean(render(text))


def document_html(document: evalset.Document, words: set[str]) -> str:
    """Return title, dates and body with the query's words marked, in a frame that scrolls.

    The frame belongs to the document, so that each new one starts at its top.
    """
    facts = [document.kind, document.service, document.updated, document.version]
    named = " · ".join(inert(f) for f in facts if f not in ("", "unspecified"))
    title, body = figures.marked(document.title, words), rendered(document.text, words)
    return (
        f'{PANEL_STYLE}<div {OPEN_FRAME} aria-label="Document" style="{FRAME};max-height:26em">'
        f'<b>{title}</b><div class="facts" style="{ASIDE_FACTS}">{named}</div>'
        f'<div style="{BODY}">{body}</div></div>'
    )


NO_GUIDE = (
    "Write labeling_guide.md in the folder: a test for each grade, and the edge cases you meet."
)


def guide_html(folder: Path) -> str:
    """Return the folder's labeling_guide.md as HTML, or a hint how to get one."""
    path = folder / "labeling_guide.md"
    if not path.exists():
        return f"<p>No guide yet. {NO_GUIDE}</p>"
    render = mistune.create_markdown(escape=True, plugins=["table"])
    page = clean(render(path.read_text(encoding="utf-8-sig")))
    return f'{PANEL_STYLE}<div class="labelling" style="{FRAME};max-height:24em">{page}</div>'


def message_html(words: str, wrong: bool = False) -> str:
    """Return the message line; what is wrong is red and bold."""
    style = "color:var(--jp-error-color1,#b00020);font-weight:600" if wrong else "opacity:0.8"
    lines = "<br>".join(map(inert, words.split("\n")))
    return f'<div role="status" style="min-height:1.5em;line-height:1.5;{style}">{lines}</div>'


def end_html(
    given: list[log.Entry],
    n: int,
    grades: tuple[int, ...] = files.GRADES,
    then: str = MERGED_THEN,
) -> str:
    """Return what stands in place of a document when all `n` are judged; `then` comes last."""
    aside = ", ".join(map(inert, sorted({e.query_id for e in given if not e.doc_id})))
    noted = f"<p>Set aside, because no document answers: {aside}.</p>" if aside else ""
    following = clean(then)
    if not n:
        return f"<p>There is nothing to judge.</p>{noted}{following}"
    judged = f"<p><b>{how_many(n, 'document')} shown, all are judged.</b></p>"
    return f"{judged}{agreement_html(agreement(given, grades))}{noted}{following}"


def question_html(query: evalset.Query) -> str:
    """Return what stands in place of a document when none judged so far answers the query."""
    call = inert(f"panel.Panel(evals, [({query.query_id!r}, 'ID')]).show()")
    return (
        "<p><b>No document judged for this query answers it.</b></p>"
        f"<p><b>{ASIDE}</b> sets it aside: it stays in the folder with the kind none, and nothing "
        "is measured on it. If you know a document that answers, judge that one by its id: "
        f"<code>{call}</code></p>"
    )


def agreement_html(found: Agreement) -> str:
    """Return agreement with oneself and the pairs that differ."""
    if not found.n:
        return "<p>No document was shown twice, so your agreement with yourself is unknown.</p>"
    kappa = "not defined (one grade only)" if found.kappa is None else f"{found.kappa:.2f}"
    rows = "".join(
        "<tr>" + "".join(f"<td>{inert(cell)}</td>" for cell in row) + "</tr>"
        for row in found.differ
    )
    heads = "".join(f"<th>{name}</th>" for name in ("query", "document", "first", "second"))
    table = f"<table class='labelling'><tr>{heads}</tr>{rows}</table>"
    return PANEL_STYLE + (
        f"<p>Some documents were shown twice. Agreement with yourself: n = {found.n:d}, "
        f"{found.equal:.0%} equal, weighted kappa (linear) {kappa}.</p>" + (table if rows else "")
    )


def passages(document: evalset.Document) -> list[tuple[str, str]]:
    """Return (shown, evidence) for each line of the document that holds words."""
    lines = [line.strip() for line in document.retrieval_text.split("\n")]
    return [(f"{line[:117]}..." if len(line) > 120 else line, line) for line in lines if line]


def grade_words(grades: tuple[int, ...]) -> dict[int, str]:
    """Return {grade: what it means}; of several grades in the middle the guide tells more."""
    middle = "helps in part" if len(grades) == 3 else ""
    return dict.fromkeys(grades, middle) | {grades[-1]: "answers it", 0: "does not help"}


def help_of(grades: tuple[int, ...]) -> dict[str, str]:
    """Return {button: its tooltip}: a button for each grade, then what else can be done."""
    means = {grade: words or "helps in part" for grade, words in grade_words(grades).items()}
    proven = {grade: f"{words}, with evidence" for grade, words in means.items() if grade}
    return {str(g): f"{g}: {words}" for g, words in (means | proven).items()} | ACTIONS
