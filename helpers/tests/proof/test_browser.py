"""The README's picture, and the write-up on paper."""

import re

import browser_lab
import nbformat
import picture
import pytest

from helpers.measure import evalset, files, report
from helpers.teach import try_it, workbook


def test_the_picture_is_small_and_stands_in_the_readme():
    page = (evalset.DEFAULT.parent / "README.md").read_text(encoding="utf-8")
    path = picture.PICTURE.relative_to(evalset.DEFAULT.parent).as_posix()
    asked = re.search('id="try-question".* value="(.*)"', files.page(try_it.PAGE))[1]
    words = re.search(rf"\n\[!\[(.*)\]\({path}\)\]\(notebooks/session_a\w*\.ipynb\)\n", page)[1]
    assert f'The page Try it asks "{asked}"' in words
    assert picture.PICTURE.stat().st_size < 150_000


@pytest.mark.skipif(bool(browser_lab.missing()), reason=browser_lab.missing())
def test_the_write_up_takes_six_sheets_of_paper_and_the_decision_one(tmp_path):
    path, notebook = tmp_path / "page.html", nbformat.read(workbook.WRITE_UP, as_version=4)
    decision = [cell.id for cell in notebook.cells].index("r-appendix")
    with browser_lab.window() as opened:
        page = opened.new_page()
        for end, most in ((None, 6), (decision, 1)):
            notebook.cells = notebook.cells[:end]
            path.write_text(report.html(notebook), encoding="utf-8")
            page.goto(path.as_uri())
            printed = page.pdf(prefer_css_page_size=True)
            assert 0 < len(re.findall(rb"/Type /Page\b", printed)) <= most
