"""The site: every link leads somewhere in it, nothing is asked of the network, no answer shows.

The page Try it searches in the browser, so its rankings are held equal to the baseline's run.
"""

import functools
import http.server
import importlib.util
import re
import shutil
import threading
from contextlib import contextmanager
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import browser_lab
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from helpers.measure import evalset, runs, text
from helpers.teach import LearnError, practice, site, try_it, workbook
from helpers.teach.exercises import LESSONS

with_sphinx = pytest.mark.skipif(
    not (site.SPHINX / "ready").exists(), reason="Sphinx is missing: make .cache/sphinx/ready"
)
with_browser = pytest.mark.skipif(bool(browser_lab.missing()), reason=browser_lab.missing())
AXE = importlib.util.find_spec("axe_core_python")
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


@pytest.fixture(scope="module")
def evals():
    return evalset.load(evalset.DEFAULT)


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
    assert drawn and drawn[1].startswith("The page Try it asks")
    leads = 'href="try.html"><span class="std std-doc"><img alt="The page Try it'
    assert leads in pages[folder / "index.html"]
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


def test_code_that_a_further_notebook_repeats_or_folds_is_folded():
    cells = {tag: new_code_cell("x = 1", metadata={"tags": [tag]}) for tag in ("given", "setup")}
    shown = {tag: site.code_cells(cell, "", True)[0].metadata for tag, cell in cells.items()}
    assert shown == {"given": {"tags": ["hide-input"]}, "setup": {"tags": []}}
    cell = new_code_cell("x = 1", metadata={"jupyter": {"source_hidden": True}})
    assert site.code_cells(cell, "", True)[0].metadata == {"tags": ["hide-input"]}


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


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and says nothing of it."""

    def log_message(self, *args):
        pass


@contextmanager
def served(folder):
    """Serve a folder on a free port of this machine and yield its address."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def try_page(address, width=1200, scheme="light"):
    """Open the page Try it and yield it; fail where it throws or asks anybody but `address`."""
    with browser_lab.window() as browser:
        screen = {"width": width, "height": 900}
        page = browser.new_page(viewport=screen, color_scheme=scheme)
        asked, errors = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/try.html")
        page.wait_for_selector("#try-results li")
        yield page
        assert not errors
        assert asked and all(url.startswith((f"{address}/", "data:")) for url in asked)


def shown(page, of):
    """Return the documents of a list of results."""
    return page.eval_on_selector_all(f"{of} li", "items => items.map(item => item.dataset.doc)")


SEARCH_ALL = """queries => queries.map(
    query => search(INDEX, query).slice(0, 10).map(hit => [hit.doc, hit.score]))"""


@with_sphinx
@with_browser
def test_the_search_in_the_browser_ranks_as_the_baseline_does(folder, evals):
    stored = runs.read_rankings(evals.folder / "runs" / "fixed.trec")
    asked = evals.settled_queries
    assert stored.keys() == {q for q in asked if stored.get(q)} and len(stored) > 500
    with try_page(folder.as_uri()) as page:
        texts = [query.query for query in asked.values()]
        for query_id, found in zip(asked, page.evaluate(SEARCH_ALL, texts), strict=True):
            ranking = runs.strictly_decreasing([(doc, score) for doc, score in found])
            wanted = stored.get(query_id, [])[:10]
            assert [doc for doc, _ in ranking] == [doc for doc, _ in wanted], query_id
            scores = [score for _, score in wanted]
            assert [score for _, score in ranking] == pytest.approx(scores, rel=0, abs=1e-9)


@with_sphinx
@with_browser
def test_the_search_counts_in_characters_beyond_the_first_65536_too(folder, evals):
    cut = {chunk.chunk_id: chunk.text(evals.documents) for chunk in try_it.baseline.cut(evals)}
    words = {chunk_id: evals.words(body) for chunk_id, body in cut.items()}
    later = [c for c in cut if max(evals.documents[c.partition("#")[0]].text) > "\uffff"]
    assert any(not chunk_id.endswith("#0") for chunk_id in later)
    with try_page(folder.as_uri()) as page:
        read = page.evaluate("INDEX.chunks.map(chunk => [chunk.id, chunk.words])")
        assert dict(map(tuple, read)) == words


@with_sphinx
@with_browser
@pytest.mark.parametrize("by", ["file", "server"])
def test_try_it_answers_by_keyboard_alone_from_a_file_and_from_a_server(folder, evals, by):
    with served(folder) as server, try_page(folder.as_uri() if by == "file" else server) as page:
        first = page.inner_text("#try-results li >> nth=0")
        assert "Do not post, page: on-call app" in first  # the answer, its sentence from the start
        assert page.locator("#try-results li").count() == 5
        assert {*page.locator("#try-results mark").all_inner_texts()} >= {"call", "down"}
        best = page.locator("#try-results li >> nth=0")
        assert "shares: call, payments, down" in best.locator("summary").inner_text()
        best.locator("summary").press("Enter")
        document = evals.documents[best.get_attribute("data-doc")]
        assert best.locator("pre").inner_text() == document.text
        page.focus("#try-question")
        page.keyboard.press("Control+a")
        page.keyboard.type("zzz qqq")
        assert page.inner_text("#try-status").startswith("No page has any of these words")
        page.keyboard.press("Control+a")
        page.keyboard.type("?!")
        assert page.inner_text("#try-status") == "Type a question, in words."
        page.keyboard.press("Control+a")
        page.keyboard.type("<b>refund</b> twice")
        page.keyboard.press("Enter")
        assert shown(page, "#try-results") == [*try_it.baseline.find("b refund b twice")][:5]
        assert page.url.endswith("/try.html") and "Your question" in page.inner_text("label")
        label_by_keyboard(page, evals)


def label_by_keyboard(page, evals):
    """Give each pair the highest grade without a mouse, and see it beside the stored one."""
    pairs = practice.first_three(evals)
    stored = [try_it.stored_labels(evals)[pair] for pair in pairs]
    assert page.locator(".try-pair").count() == len(pairs) == 3
    assert not page.locator(".try-evidence:visible").count()
    focused = "document.activeElement.matches('.try-pair button:last-of-type')"
    for label in stored:
        page.keyboard.press("Tab")
        while not page.evaluate(focused):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        pair = page.locator(".try-pair:focus-within")
        same = "the same" if label.relevance == 2 else "not the same"
        told = pair.locator("[role=status]").inner_text()
        assert told == f"Yours 2, stored {label.relevance}: {same}."
        evidence = pair.locator(".try-evidence")
        assert evidence.is_visible()
        for quotes in label.evidence:
            assert " … ".join(quotes) in evidence.inner_text()
    same = sum(label.relevance == 2 for label in stored)
    assert f"agree on {same} of 3" in page.inner_text("#try-agreement")


def words_of(evals, doc_id):
    return evals.words(evals.documents[doc_id].retrieval_text)


@with_sphinx
@with_browser
def test_the_hard_question_is_that_of_session_a(folder, evals):
    cells = {cell.id: cell.source for cell in nbformat.read(workbook.SESSIONS[0], 4).cells}
    names = {"evals": evals, "evalset": evalset}
    exec(cells["a-open-choose"], names)  # as session A chooses it
    query, rank = names["hardest"], names["first_answer"](names["hardest"])
    assert rank > 5 and try_it.hardest(evals) == query
    with try_page(folder.as_uri(), 390) as page:
        assert page.inner_text("#try-hard-question") == query.query
        found = [doc for doc, _ in page.evaluate(SEARCH_ALL, [query.query])[0]]
        assert shown(page, "#try-hard") == found[:3]
        needed = page.get_attribute("#try-needed", "data-doc")
        asked = {*text.content_words(evals.words(query.query))}
        shared = page.locator("#try-needed mark:not(.instead)").all_text_contents()
        instead = page.locator("#try-needed mark.instead").all_text_contents()
        assert instead and not asked & {*map(str.lower, instead)}
        assert {*map(str.lower, shared)} <= asked
        (told,) = page.locator("#try-needed summary").all_inner_texts()
        assert told.endswith(f"shares: {', '.join(sorted(asked & {*words_of(evals, needed)}))}")
        ranked = "([question, doc]) => search(INDEX, question).findIndex(hit => hit.doc === doc)"
        assert page.evaluate(ranked, [query.query, needed]) == rank - 1
        assert page.evaluate("document.querySelector('#try-needed').parentElement.start") == rank
        for button in page.locator(".try-pair button:last-of-type").all():
            button.click()  # evidence may have long words
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@with_sphinx
@with_browser
@pytest.mark.skipif(not AXE, reason="the package axe-core-python is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_axe_finds_no_fault_with_try_it(folder, width, scheme):
    with try_page(folder.as_uri(), width, scheme) as page:
        for button in page.locator(".try-pair button:last-of-type").all():
            button.click()
        assert not faults_by_axe(page, "axe.run('.bd-article')")


def faults_by_axe(page, run, *given):
    """Return what axe-core finds in a page, by rule, once it has looked at a dozen rules."""
    page.evaluate(Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(run, *given)
    assert len(found["passes"]) > 10
    return [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]]


KINDS = ["index", "notebooks/glossary", "notebooks/teaching", "notebooks/further/judge"]
KINDS += ["evals/retrieval_eval", "notebooks/session_c_metrics_and_writeup_5"]
KINDS += [f"notebooks/session_b_chunking_and_bm25_{part}" for part in (2, 4)]
UNFOLD = """() => {
    document.querySelectorAll('details').forEach(folded => { folded.open = true; });
    document.getAnimations().forEach(moving => moving.finish());  // they are pale at first
}"""


@with_sphinx
@with_browser
@pytest.mark.skipif(not AXE, reason="the package axe-core-python is not installed")
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_axe_finds_no_fault_with_a_page_of_each_kind(folder, width, scheme):
    rules = {"label-content-name-mismatch": {"enabled": True}, "duplicate-id": {"enabled": False}}
    with browser_lab.window() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        for name in KINDS:
            page.goto((folder / f"{name}.html").as_uri(), wait_until="load")
            page.evaluate(UNFOLD)
            assert not faults_by_axe(page, "rules => axe.run({rules})", rules), name


CUT_OFF = """[...document.querySelectorAll('.bd-article *')].filter(e =>
    getComputedStyle(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1
    || e.matches('table, img, pre') && e.getBoundingClientRect().right > innerWidth
).map(e => e.outerHTML.slice(0, 99))"""


@with_sphinx
@with_browser
def test_paper_is_white_and_nothing_on_it_is_cut_off(folder, pages):
    with browser_lab.window() as browser:
        page = browser.new_page(viewport={"width": 718, "height": 1046}, color_scheme="dark")
        for path in sorted(pages):
            page.goto(path.as_uri(), wait_until="load")
            page.emulate_media(media="print")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert page.evaluate("document.documentElement.dataset.theme") == "light"
            assert not page.evaluate(CUT_OFF), path
            page.emulate_media(media="screen")


def test_a_set_without_labels_has_the_search_alone(tmp_path, evals):
    shutil.copytree(evals.folder / "corpus", tmp_path / "corpus")
    bare = evals._replace(folder=tmp_path, judgments=[], queries={}, unanswered={})
    page = try_it.page(bare)
    assert "try-results" in page and "try-hard" not in page and "try-pair" not in page
    whole = try_it.page(evals)
    assert whole.count('try-pair"') == 3 and "try-hard" in whole


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
    monkeypatch.setattr(
        site, "site_pages", lambda evals: made | card | {site.ROOT / "index.md": index}
    )
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


def test_a_set_that_counts_words_in_another_way_is_refused(evals):
    with pytest.raises(LearnError, match=r"found words bigrams in settings\.json, wanted words"):
        try_it.search_script(evals._replace(tokenizer="bigrams"))
