"""A hostile set in a real browser; make proof ONLY=browser calls it.

Payloads stand in every field that a set has. Its sessions are executed, signed as trusted and
opened in JupyterLab, its page and a page of raw payloads as files. No script may run, no request
leave this machine, no dialog open, no formula be typeset. The panel and other pages: test_inert.py.
"""

import tempfile
import time
from itertools import cycle
from pathlib import Path

import browser_lab
import nbformat
import nbformat.sign

from helpers.measure import files, report
from helpers.teach import workbook

AWAY = "https://evil.invalid"
PAYLOADS = (  # ran() tells Python that it was called, from any frame
    "<script>ran()</script>",
    "<img src=x onerror=ran()>",
    "<iframe srcdoc='<script>parent.ran()</script>'></iframe>",
    f"<iframe src={AWAY}/frame></iframe><object data={AWAY}/object></object>",
    f"<img src={AWAY}/img><video poster={AWAY}/poster src={AWAY}/video></video>",
    f"<style>@import '{AWAY}/import'; body {{ background: url({AWAY}/style) }}</style>",
    f"<p style='background: url({AWAY}/attribute)'>p</p>",
    f"<meta http-equiv=refresh content='0;url={AWAY}/refresh'>",
    "</title></style></script></textarea></table><script>ran()</script>",
    '"\' onmouseover=ran() onload=ran() autofocus onfocus=ran() x="><img src=x onerror=ran()>',
    "<a href=javascript:ran()>a</a> <a href='data:text/html,<script>ran()</script>'>b</a>",
    "[a](javascript:ran()) [b](JaVaScRiPt:ran()) <javascript:ran()> [c]: javascript:ran()",
    f"![a]({AWAY}/markdown) ![b][r] [r]: {AWAY}/reference",
    f"{AWAY}/bare www.evil.invalid ran@evil.invalid <{AWAY}/auto>",
    r"$\href{javascript:ran()}{x}$ \(y^2\) $$\unicode{x41}$$ \begin{align}z\end{align}",
    "`a` `` <img src=x onerror=ran()> `b <img src=x onerror=ran()> ``` <img src=x onerror=ran()>",
    "| a | <img src=x onerror=ran()> | </td></tr><tr><td onclick=ran()> |",
    "<details open ontoggle=ran()><summary>s</summary></details><body onload=ran()>",
    "{{ ran() }} {% raw %} ${ran()} <%= ran() %> \x1b]8;;javascript:ran()\x07x \x1b[2J \u202e",
)
IDS = "<svg><script>ran() [a](javascript:ran()) `x`<i> $x^2$ '\"onfocus=ran() &lt;u&gt; **b** "
IDS += "|a|b| www.evil.invalid ![](data:x) 1. <script>ran()"  # without spaces, slashes and #
LABELS = ("www.evil.invalid", "1. one", "- a _b_", "+ (x) & y", "a&lt", "-")  # what a kind may be
# The write-up links to files of its set, as text: JupyterLab serves them from this machine.
OF_THE_FOLDER = r"http://127\.0\.0\.1:\d+/files/\w+\.(?:md|jsonl?)(?:\?|$)"
FORBIDDEN = "script, iframe, object, embed, form, button, svg, link, meta, base, mjx-container"
CODE = "^(javascript|data:text)"
LINK = rf"^(javascript|data:text|(?!{OF_THE_FOLDER})https?:|//)"
READY = """([where, forbidden, bad]) => [...document.querySelectorAll(where)].flatMap(area => [
    ...area.querySelectorAll(forbidden),
    ...[...area.querySelectorAll('*')].filter(e => e.getAttributeNames().some(a =>
        a.startsWith('on') || (/^(src|href|action)$/.test(a) &&
            RegExp(bad, 'i').test(e.getAttribute(a).slice(0, 99))))),
]).map(e => e.outerHTML.slice(0, 200))"""
OUTPUT = ".jp-OutputArea-output.jp-RenderedHTMLCommon, .jp-OutputArea-output .widget-html"


def main() -> None:
    """Raise where a text of a set does something."""
    began, scratch = time.time(), Path(tempfile.mkdtemp(prefix="hostile-"))
    folder = write_set(scratch / "evals")
    names = write_notebooks(scratch, folder)
    (scratch / "raw.html").write_text(report.html(raw_notebook()), encoding="utf-8")
    with browser_lab.lab(scratch, scratch) as address, browser_lab.window() as window:
        watch = Watch(window.new_context(viewport={"width": 1250, "height": 1150}))
        for name, bad in (("raw.html", CODE), ("write-up.html", LINK)):
            watch.opened((scratch / name).as_uri())
            watch.check(name, "body", bad)
        for name in names:
            look(watch, address(name), name)
            watch.page.screenshot(path=scratch / f"{name}.png")
    print(f"passed: {len(PAYLOADS)} payloads did nothing, {time.time() - began:.0f} s, {scratch}")


class Watch:
    """A tab that notes calls of ran(), dialogs, and requests to other machines, and ends those."""

    def __init__(self, context):
        self.seen = []
        context.expose_binding("ran", lambda source: self.seen.append("a script ran"))
        context.on("request", self.note)
        context.route(f"{AWAY}/**", lambda route: route.abort())
        self.context, self.page = context, None

    def note(self, request) -> None:
        """Note a request that leaves this machine."""
        if not request.url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:", "about:")):
            self.seen.append(f"a request to {request.url}")

    def refuse(self, dialog) -> None:
        self.seen.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def opened(self, address: str) -> None:
        """Open an address in a new tab and give what stands there time to act."""
        if self.page:
            self.page.close()
        self.page = self.context.new_page()
        self.page.on("dialog", self.refuse)
        if address.startswith("file:"):
            self.page.goto(address)
            self.page.wait_for_timeout(500)
        else:
            browser_lab.open_notebook(self.page, address)

    def check(self, name: str, where: str, bad: str = LINK) -> None:
        """Raise where something happened, or stands ready to happen on a click on a `bad` link."""
        ready = self.page.evaluate(READY, [where, FORBIDDEN, bad])
        assert not self.seen and not ready, (name, sorted({*self.seen}), ready[:5])


def look(watch: Watch, address: str, name: str) -> None:
    """Open an executed notebook, wait until all its outputs are drawn, and check them."""
    watch.opened(address)
    watch.page.locator(OUTPUT).last.wait_for(timeout=30_000, state="attached")
    watch.page.wait_for_timeout(2000)  # formulas come late
    shown = watch.page.locator(OUTPUT)
    assert shown.count() > 3, f"{name} shows {shown.count()} outputs"
    text = "".join(shown.all_text_contents())
    assert "ran()" in text, f"{name} shows no payload"
    watch.check(name, OUTPUT)


def write_set(folder: Path) -> Path:
    """Write a set that loads, with payloads in every field."""
    n = len(PAYLOADS)
    ids = [f"{own}{i}" for i, own in zip(range(n), cycle(IDS.split()))]
    names = ("corpus", "retrieval_queries", "judgments", "second_pass", "pool")
    corpus, queries, judgments, second, pool = tables = [[], [], [], [], []]
    for i, payload in enumerate(PAYLOADS):
        query_id, kind, other = f"{ids[-i]}q{i}", LABELS[i % 6], PAYLOADS[(i + 7) % n]
        body = f"word{i} {payload} " + f"word{(i - 1) % n} " * 3 + "\n\nend."
        facts = {"kind": kind, "service": LABELS[-i % 6], "version": "1."}
        corpus.append({"doc_id": ids[i], "title": PAYLOADS[-i], "text": body, **facts})
        facts = {"kind": kind, "split": "test" if i % 4 == 3 else "dev", "answers": [payload]}
        query = {"query_id": query_id, "query": f"word{i} {payload} {other}"}
        queries.append({**query, "relevant_doc_ids": [ids[i]], **facts})
        pair = {"query_id": query_id, "doc_id": ids[i]}
        judgments.append({**pair, "relevance": 2, "evidence": payload})
        judgments.append({**pair, "doc_id": ids[(i + 1) % n], "relevance": 0})
        grades = {"first": i % 3, "second": 2, "final": 2}
        second.append({**pair, "round": 1, **grades, "reason": payload})
        pool.append({**pair, "rankers": [payload], "first": i % 3})
    folder.mkdir()
    for name, rows in zip(names, tables, strict=True):
        files.write_jsonl(folder / f"{name}.jsonl", rows)
    heading = " ".join(PAYLOADS)
    sections = [f"## {q['query_id']}\n{PAYLOADS[-i]}\n" for i, q in enumerate(queries)]
    for name, page in {
        "README.md": f"# {heading}\n\n{heading}\n",
        "labeling_guide.md": "\n\n".join(PAYLOADS),
        "notes.md": f"# {heading}\n\n" + "\n".join(sections),
    }.items():
        (folder / name).write_text(page, encoding="utf-8")
    run = folder / "systems" / "<img src=x onerror=ran()> $x$ [a](javascript:ran()).trec"
    run.parent.mkdir()
    lines = [f"{q['query_id']} Q0 {q['relevant_doc_ids'][0]} 1 1.0 <b>\n" for q in queries]
    run.write_text("".join(lines), encoding="utf-8")
    return folder


def raw_notebook() -> nbformat.NotebookNode:
    """Return a write-up that shows the payloads raw: the page must be clean by itself."""
    new = nbformat.v4
    data = [{kind: text} for text in PAYLOADS for kind in ("text/html", "text/markdown")]
    outputs = [new.new_output("display_data", data=kind) for kind in data]
    title = new.new_markdown_cell("# </title><script>ran()</script>")
    cells = [title, *map(new.new_markdown_cell, PAYLOADS), new.new_code_cell("", outputs=outputs)]
    return new.new_notebook(cells=cells)


def write_notebooks(scratch: Path, folder: Path) -> list[str]:
    data = scratch / "jupyter" / "jupyter_data_dir"
    data.mkdir(parents=True)
    notary = nbformat.sign.NotebookNotary(data_dir=str(data))
    for path, notebook in workbook.run_each(folder, [*workbook.NOTEBOOKS, *workbook.FURTHER]):
        notary.sign(notebook)
        nbformat.write(notebook, scratch / path.name)
        if path == workbook.WRITE_UP:
            (scratch / "write-up.html").write_text(report.html(notebook), encoding="utf-8")
    notary.store.close()
    return [path.name for path in workbook.NOTEBOOKS]


if __name__ == "__main__":
    main()
