"""What people read of the results: the write-up as one page, and the summary."""

import re
from html import escape

from . import evidence, inert, stats
from .inert import Markup
from .installation import TEMPLATES

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
SUMMARY = TEMPLATES / "summary.jinja"
SHOWN = ("nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100")
STYLE = TEMPLATES / "page.css"
TICK_BOX = re.compile(r'<input [^<>]*type="checkbox"[^<>]*>')  # of a checklist
SECTION = re.compile(r'<h3 id="([^"]*)">(.*?)(?:<a class="anchor-link".*?</a>)?</h3>', re.S)
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><title>{title}</title><meta charset="utf-8">\
<meta http-equiv="Content-Security-Policy" content="{policy}">\
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def html(notebook) -> str:
    """Return the executed notebook as one page: no code runs in it, and nothing is requested."""
    from nbconvert import HTMLExporter  # takes two seconds to import; the notebooks need none

    hidden = dict.fromkeys(("exclude_input", "exclude_input_prompt", "exclude_output_prompt"), True)
    page = HTMLExporter(template_name="basic", **hidden).from_notebook_node(notebook)[0]
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    title = first.splitlines()[0].lstrip("# ")
    return page_of(title, with_contents(inert.clean(with_ticks(page))))


def page_of(title: str, body: str) -> str:
    """Return a whole page around cleaned HTML."""
    style = STYLE.read_text(encoding="utf-8")
    return PAGE.format(title=escape(title), policy=POLICY, style=style, body=body)


def with_ticks(page: str) -> str:
    """Return HTML with signs in place of a checklist's boxes."""
    return TICK_BOX.sub(lambda box: "☑ " if "checked" in box[0] else "☐ ", page)


def with_contents(body: str) -> str:
    """Return a cleaned page with links to the parts of its appendix, below the appendix's head."""
    before, head, appendix = body.partition('<h2 id="Appendix">')
    if not head:
        return body
    heading, end, parts = appendix.partition("</h2>")
    links = (f'<li><a href="#{part[1]}">{part[2]}</a></li>' for part in SECTION.finditer(parts))
    contents = f'<nav aria-label="Contents of the appendix"><ul>{"".join(links)}</ul></nav>'
    return before + head + heading + end + contents + parts


def without_halves(content: dict) -> str:
    """Return why all queries of results.json are dev, "" where some are test or they are many."""
    return "" if "test" in content["summary"] else stats.without_halves(content["queries"]["n"])


def summary(content: dict) -> Markup:
    """Return the baseline as Markdown: what it was measured on, a table with a row for each half.

    `content` is results.json. Where all queries are dev, because they are few, that comes first.
    """
    words = {"measures": SHOWN, "decides": evidence.DECIDES, "few": without_halves(content)}
    page = inert.template(SUMMARY).render(content, **words)
    return inert.paragraphs(page)
