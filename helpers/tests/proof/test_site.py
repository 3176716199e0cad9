"""The site: every link leads somewhere in it, nothing is asked of the network, no answer shows."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import browser_lab
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from helpers.teach import LearnError, site, workbook
from helpers.teach.exercises import LESSONS

with_sphinx = pytest.mark.skipif(
    not (site.SPHINX / "ready").exists(), reason="Sphinx is missing: make .cache/sphinx/ready"
)
with_browser = pytest.mark.skipif(bool(browser_lab.missing()), reason=browser_lab.missing())
HOSTILE = """<script>x()</script><img src=https://x.test/a onerror=x()><style>b{}</style>
<svg onload=x()><iframe src=https://x.test/b></iframe><a href=javascript:x()>y</a>"""


class Page(HTMLParser):
    """What a browser would follow, fetch or run of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links, self.fetched, self.handlers = set(), set(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name in ("src", "srcset", "data", "poster", "action", "href"):
                self.fetched.append(value)
            elif name.startswith("on"):
                self.handlers.append(value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "former.html").touch()
    assert site.write_site(folder) == folder / "index.html"
    return folder


@pytest.fixture(scope="module")
def pages(folder):
    found = {*folder.rglob("*.html")} - {*folder.glob("_static/*"), folder / "search.html"}
    return {path: path.read_text(encoding="utf-8") for path in found}


def head(page):
    """Return the first heading of a page."""
    return unescape(re.search("<h1>([^<]+)", page)[1])


@with_sphinx
def test_each_part_and_each_page_has_a_page_with_its_title(folder, pages):
    assert folder / "former.html" not in pages
    heads = {path.relative_to(folder).as_posix(): head(page) for path, page in pages.items()}
    for path in workbook.SESSIONS:
        text = "".join(f"\n{cell.source}\n" for cell in nbformat.read(path, 4).cells)
        wanted = re.findall(r"^## (\d+\. .*|Quick test)$", text, re.MULTILINE)
        of_session = sorted(name for name in heads if Path(name).match(f"{path.stem}_*.html"))
        assert [heads[name] for name in of_session] == [w.replace("'", "’") for w in wanted]
        assert len(wanted) > 3
    assert all(heads[f"notebooks/further/{path.stem}.html"][-1] == "?" for path in workbook.FURTHER)
    assert {"evals/retrieval_eval.html", "evals/labeling_guide.html"} < heads.keys()
    assert {f"notebooks/{path.stem}.html" for path in LESSONS.glob("*.md")} < heads.keys()
    drawn = re.search('<img alt="([^"]*)" src="data:image/png', pages[folder / "index.html"])
    assert drawn and drawn[1].startswith("The first cell of session A asks")
    listed = re.sub("<[^>]+>", " ", pages[folder / "index.html"])
    assert "Going further" in listed and "minutes" in listed and "hours" in listed


@with_sphinx
def test_every_link_within_the_site_resolves(pages):
    read, followed = {path: Page(text) for path, text in pages.items()}, 0
    for path, page in read.items():
        for link in page.links + page.fetched:
            to, _, anchor = unquote(link).partition("#")
            to = (path.parent / to.partition("?")[0]).resolve() if to else path
            if re.match("https:|data:image/", link) and link in page.links + page.fetched:
                assert link in page.links or link.startswith("data:"), (path, link)
                continue
            assert to.is_file(), (path, link)
            assert not anchor or to not in read or anchor in read[to].ids, (path, link)
            followed += 1
    assert followed > 2000


@with_sphinx
def test_exercises_are_numbered_and_what_gives_an_answer_away_is_folded(pages):
    lesson = next(text for path, text in pages.items() if path.stem.endswith("and_bm25_2"))
    assert re.search(r"Exercise B\d: ", lesson) and lesson.count("Show a solution") > 1
    assert re.search(r"<details>\s*<summary>Hint 1", lesson) and "YOUR CODE HERE" in lesson
    assert not any("BEGIN SOLUTION" in text or "END SOLUTION" in text for text in pages.values())
    told = [text for text in pages.values() if '"n">predict</span><span class="p">(' in text]
    told += [text for text in pages.values() if 'class="n">quiz<' in text]
    assert len(told) > 8 and all("Show the output" in text for text in told)
    write_up = next(text for path, text in pages.items() if path.stem == "retrieval_eval")
    pictures = re.findall(r'<img alt="([^"]*)" src="data:image/png', "".join(pages.values()))
    assert len(pictures) > 20 and all(" " in words for words in pictures)
    assert "cell_input" in lesson and "cell_input" not in write_up


def test_code_that_a_further_notebook_repeats_of_a_session_is_folded():
    cells = {tag: new_code_cell("x = 1", metadata={"tags": [tag]}) for tag in ("given", "setup")}
    shown = {tag: site.code_cells(cell, "", True)[0].metadata for tag, cell in cells.items()}
    assert shown == {"given": {"tags": ["hide-input"]}, "setup": {"tags": []}}


@with_sphinx
@with_browser
def test_in_a_browser_nothing_is_requested_and_search_finds(folder, pages):
    asked = []
    with browser_lab.window() as browser:
        for width in (1400, 390):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: pytest.fail(str(error)))
            for path in sorted(pages):
                page.goto(path.as_uri(), wait_until="load")
                shown = page.inner_text("body")
                assert not re.search(r"SOLUTION\b|text-align|\.dataframe|@import", shown), path
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, (path.name, width, wide)
            page.goto(f"{(folder / 'search.html').as_uri()}?q=kappa")
            page.wait_for_selector("#search-results li a")
            assert "Glossary" in page.inner_text("#search-results")
    assert asked and not [url for url in asked if not re.match("file:|data:", url)]


@with_sphinx
def test_what_a_text_of_a_set_says_does_nothing(tmp_path, monkeypatch):
    new, path = nbformat.v4, workbook.SESSIONS[0]
    outputs = [
        new.new_output("display_data", {kind: HOSTILE})
        for kind in ("text/html", "text/markdown", "text/plain", "image/svg+xml")
    ]
    outputs += [new.new_output("display_data", {"application/javascript": "x()"})]
    outputs += [new.new_output("stream", name="stdout", text=f"{HOSTILE}\n```{{include}} a")]
    links = "# T\n\n[in](../evals/README.md) [out](../Makefile) [x](gone.md)"
    cells = [new.new_markdown_cell(links), new.new_code_cell(f"'''{HOSTILE}'''", outputs=outputs)]
    notebook = new.new_notebook(cells=cells, metadata=nbformat.read(path, 4).metadata)
    made = site.notebook_pages(notebook, notebook, path, {site.ROOT / "evals" / "README.md"})
    card = {site.ROOT / "evals" / "README.md": "# Card\n"}
    index = "# I\n\n```{toctree}\nnotebooks/" + path.stem + "\nevals/README\n```\n"
    monkeypatch.setattr(site, "site_pages", lambda: made | card | {site.ROOT / "index.md": index})
    site.write_site(tmp_path / "site")
    text = (tmp_path / "site" / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
    article = re.search("<article.*?</article>", text, re.DOTALL)[0]
    shown = Page(article)
    assert not shown.tags & {"script", "style", "svg", "iframe"} and not shown.handlers
    assert all("x.test" not in link and "script" not in link for link in shown.fetched)
    assert [link for link in shown.links if link[0] != "#"][:1] == ["../evals/README.html"]
    assert "Makefile" not in article and "javascript:" not in "".join(shown.links)
    assert "&lt;script&gt;" in article


def test_a_site_without_sphinx_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "SPHINX", tmp_path)
    with pytest.raises(LearnError, match="make site sets it up"):
        site.write_site(tmp_path / "site")
