"""The static site: every link of a page leads somewhere in it, and no page runs or asks."""

import re
from html.parser import HTMLParser

import nbformat
import pytest

from helpers import report, workbook
from helpers.sources import site

ASKING = ("src", "srcset", "data", "poster", "action", "background", "xlink:href")


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
            elif name in ASKING or name == "href":
                self.fetched.append(value)
            elif name.startswith("on"):
                self.handlers.append(name)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "former.html").touch()
    assert site.write_site(folder) == folder / "index.html"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_the_site_has_the_lessons_the_write_up_and_the_pages(pages):
    wanted = {path.stem for path in workbook.NOTEBOOKS} | {"glossary", "teaching", "index"}
    assert wanted | {"your_own_documents"} <= {name.removesuffix(".html") for name in pages}
    assert "former.html" not in pages
    listed = {link.partition("#")[0] for link in Page(pages["index.html"]).links if link[0] != "#"}
    assert {*pages} - {"index.html"} == {name for name in listed if not name.startswith("https:")}


def test_every_link_within_the_site_resolves(pages):
    read, followed = {name: Page(text) for name, text in pages.items()}, 0
    for name, found in read.items():
        for link in found.links:
            to, _, anchor = link.partition("#")
            if link.startswith("https://"):
                continue
            assert (to or name) in read, (name, link)
            assert not anchor or anchor in read[to or name].ids, (name, link)
            followed += 1
        assert "index.html" in found.links or name == "index.html"
    assert followed > 200


def test_no_page_asks_the_network_or_runs_code(pages):
    assert report.POLICY.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline';")
    for name, text in pages.items():
        found = Page(text)
        assert not found.tags & {"script", "iframe", "object", "embed", "link", "base", "form"}
        assert not found.handlers and "svg" not in found.tags
        assert all(value.startswith("data:image/png;base64,") for value in found.fetched), name
        assert f'http-equiv="Content-Security-Policy" content="{report.POLICY}"' in text
        styles = "".join(re.findall(r"<style>.*?</style>", text, re.DOTALL))
        assert "url(" not in styles and "@import" not in styles


def test_lessons_show_code_and_hints_and_the_write_up_its_sentences_only(pages):
    lesson = pages["session_b_chunking_and_bm25.html"]
    assert "### BEGIN SOLUTION" in lesson and "Hint 1" in lesson and "details" not in lesson
    shown = [re.sub("<[^>]+>", "", page) for page in (lesson, pages["retrieval_eval.html"])]
    assert ["evalset.load()" in words for words in shown] == [True, False]


def test_what_a_text_of_a_set_says_does_nothing(tmp_path):
    new = nbformat.v4
    hostile = '<script>x()</script><img src=https://x.test/a onerror=x()><a href="#to:x.html">y</a>'
    links = "# T <b>\n[in](../evals/README.md#no) [out](../Makefile) [x](gone.md)"
    output = new.new_output("display_data", {"text/html": hostile})
    code = new.new_code_cell("n = '''\n```\n# no head\n'''", outputs=[output])
    notebook = new.new_notebook(cells=[new.new_markdown_cell(links), code])
    page = site.site_page(notebook, workbook.SESSIONS[0], {"a.html": "<b>"})
    shown = Page(page)
    assert shown.fetched == shown.handlers == [] and "script" not in shown.tags
    local = [link for link in shown.links if not link.startswith("#")]
    assert local == ["a.html", "data_card.html#no"] and "<nav" in page and "&lt;b&gt;</a>" in page
    assert "Makefile" not in page and page.count("<h1") == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.ipynb", b"{", r"cannot be read as a notebook \(broken JSON"),
        ("a.ipynb", b'{"cells": [{}], "metadata": {}}', "\\$: .* wanted nbformat 4.5"),
        ("a.md", b"# Caf\xe9", "byte 0xe9 is not UTF-8"),
    ],
)
def test_a_page_that_cannot_be_read_is_named(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}:.*{said}"):
        site.notebook_of(tmp_path / name)
