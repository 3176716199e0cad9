"""The tools that drive a browser say what they lack, and do what they can."""

import importlib.util

import browser
import picture

from helpers import evalset, report


def test_browser_tests_that_cannot_run_are_counted_with_the_reason(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    browser.main()
    assert capsys.readouterr().out == (
        "browser tests skipped: 3, because the package playwright is not installed\n"
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(browser.browser_lab.shutil, "which", lambda name: None)
    browser.main()
    assert (
        "skipped: 3, because no browser found, wanted one of: chromium" in capsys.readouterr().out
    )


def test_browser_tests_that_can_run_do(monkeypatch):
    ran = []
    monkeypatch.setattr(browser.browser_lab, "missing", lambda: "")
    monkeypatch.setattr(browser.browser_labelling, "main", lambda: ran.append("labelling"))
    monkeypatch.setattr(browser.browser_learning, "main", ran.append)
    monkeypatch.setattr(browser.browser_hostile, "main", lambda: ran.append("hostile"))
    browser.main("ab")
    assert ran == ["labelling", "ab", "hostile"]


def test_the_picture_of_the_readme_is_the_first_screen_of_the_write_up(
    monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(picture, "missing", lambda: "no browser found")
    picture.main()
    assert capsys.readouterr().out == "the picture stays as it is, because no browser found\n"
    screen = picture.Image.new("RGB", (20, 10), (1, 2, 3))
    shot, shown = picture.io.BytesIO(), []
    screen.save(shot, "PNG")
    monkeypatch.setattr(picture, "missing", lambda: "")
    monkeypatch.setattr(picture, "PICTURE", tmp_path / "write_up.png")
    monkeypatch.setattr(report, "html", lambda notebook: notebook.cells[0].source)
    monkeypatch.setattr(
        picture, "first_screen", lambda path: shown.append(path.read_text()) or shot.getvalue()
    )
    picture.main()
    assert shown[0].startswith("# ") and picture.Image.open(tmp_path / "write_up.png").size == (
        20,
        10,
    )


def test_the_picture_is_small_and_stands_in_the_readme():
    page = (evalset.DEFAULT.parent / "README.md").read_text(encoding="utf-8")
    path = picture.PICTURE.relative_to(evalset.DEFAULT.parent).as_posix()
    assert f"]({path})](evals/retrieval_eval.ipynb)" in page
    assert picture.PICTURE.stat().st_size < 150_000
