"""The tools that drive a browser say what they lack, and the picture stands in the README."""

import importlib.util

import browser
import picture

from helpers import evalset


def test_browser_tests_that_cannot_run_are_counted_with_the_reason(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    browser.main()
    picture.main()
    assert capsys.readouterr().out == (
        "browser tests skipped: 3, because the package playwright is not installed\n"
        "the picture stays as it is, because the package playwright is not installed\n"
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(browser.browser_lab.shutil, "which", lambda name: None)
    browser.main()
    assert "because no browser found, wanted one of: chromium" in capsys.readouterr().out


def test_the_picture_is_small_and_stands_in_the_readme():
    page = (evalset.DEFAULT.parent / "README.md").read_text(encoding="utf-8")
    path = picture.PICTURE.relative_to(evalset.DEFAULT.parent).as_posix()
    assert f"]({path})](evals/retrieval_eval.ipynb)" in page
    assert picture.PICTURE.stat().st_size < 150_000
