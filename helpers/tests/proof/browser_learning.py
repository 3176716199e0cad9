"""The week in a real browser; make proof ONLY=browser calls it with session A.

Opens new learner copies in JupyterLab. Again and again runs all cells, up to the next open
exercise, where screen and cursor must be, and answers it wrongly, then rightly: a folded solution
appears. Then every slider and list of the page is moved.
"""

import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from unittest import mock

import browser_lab

from helpers.teach import copies
from helpers.teach import exercises as learn

OPEN = "not started yet"
REFUSED = re.compile("is not right yet|wants a dict")
CONTROLS = {"a": 1, "b": 3, "c": 1}  # sliders and lists of a session
ACCEPTED = re.compile("right on|as by rule|passed")


def main(letters: str = "a") -> None:
    """Raise where the sessions of these letters cannot be worked in the browser."""
    scratch = Path(tempfile.mkdtemp(prefix="learning-"))
    folder = Path(tempfile.mkdtemp(prefix="learn-visit-", dir=browser_lab.ROOT))
    as_make_lab = {"WORKBOOK_LIVE": "1", "EVALS": str(folder / "evals")}
    try:
        copies.learn_command(folder=folder)
        with (
            mock.patch.dict(os.environ, as_make_lab),
            browser_lab.lab(folder, scratch) as address,
            browser_lab.window() as window,
        ):
            for name, source in learn.read_lessons().items():
                if learn.session_letter(name).lower() in letters:
                    visit(window, address(name), name, source, scratch)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"passed: each exercise was refused, then accepted; last pages in {scratch}")


def visit(window, address: str, name: str, source, scratch: Path) -> None:
    page = window.new_page(viewport={"width": 1200, "height": 1000})
    try:
        work(page, address, source, learn.exercises_of(name, source))
        n_moved = move_all(page)
        assert n_moved == CONTROLS[learn.session_letter(name).lower()], n_moved
        print(f"{name}: {n_moved} sliders and lists move their pictures")
    finally:
        page.screenshot(path=scratch / f"{name[:9]}-last.png")
        page.close()


def work(page, address: str, source, exercises: list) -> None:
    """Work one session from its first cell to its last."""
    began = time.time()
    last = max(i for i, c in enumerate(source.cells) if learn.is_code(c))
    browser_lab.open_notebook(page, address)
    for n, e in enumerate(exercises):
        browser_lab.run_all_cells(page)
        said = says(page, e.check, OPEN)
        assert "Traceback" not in said, said
        assert e.title in said if e.number else True, f"{said} does not name {e.title}"
        stops = [later for later in exercises[n:] if not later.further]  # an optional one doesn't
        if stops:
            stands_at(page, stops[0].code)
            check = stops[0].check
            below = next(i for i, c in enumerate(source.cells) if i > check and learn.is_code(c))
            assert number(page, below) == "", f"Run All goes on after {stops[0].grade_id}"
        else:
            assert number(page, last, ran=True), f"Run All stops at {e.grade_id}"
        if n:
            says(page, exercises[n - 1].check, ACCEPTED)
        if e.number:
            fill(page, e, wrong(source.cells[e.code]))
            said = says(page, e.check, REFUSED)
            assert "Traceback" not in said, said
        fill(page, e, right(source.cells[e.code]))
        says(page, e.check, ACCEPTED)
        if e.number:
            unfold(page, e)
    browser_lab.run_all_cells(page)
    assert number(page, last, ran=True), "the last cell does not run"
    errors = page.locator("[data-mime-type='application/vnd.jupyter.error']").count()
    assert errors == 0, f"{errors} cells with errors at the end"
    print(f"{exercises[0].grade_id[0]}: {len(exercises)} exercises, {time.time() - began:.0f} s")


def stands_at(page, index: int) -> None:
    """Wait until a cell has the cursor and is on the screen, as Run All must leave it."""
    page.wait_for_function(
        "i => { const cell = document.querySelectorAll('.jp-Cell')[i];"
        " const {top, bottom} = cell.getBoundingClientRect();"
        " return cell.contains(document.activeElement) && bottom > 100 && top < innerHeight }",
        arg=index,
        timeout=30_000,
    )


def unfold(page, e: learn.Exercise) -> None:
    folded = cell_at(page, e.check).locator("details", has_text="A model solution").last
    assert not folded.locator("pre").is_visible(), f"{e.grade_id}: its solution is not folded"
    folded.locator("summary").click()
    words = folded.locator("pre").inner_text()
    assert "def " in words and "SOLUTION" not in words, words


def move_all(page) -> int:
    """Move every slider and choose in every list beside a picture; each must change it.

    Return how many there are.
    """
    n_moved = 0
    for kind in (".widget-slider .noUi-handle", ".widget-dropdown select"):
        for control in page.locator(f".jp-OutputArea-output {kind}").all():
            area = page.locator(".jp-OutputArea").filter(has=control).first
            before = pictures_in(area)
            if not before:
                continue  # the panel's
            control.scroll_into_view_if_needed()
            move(page, control, kind)
            for _ in range(300):
                if pictures_in(area) not in ([], before):
                    break
                page.wait_for_timeout(100)
            else:
                raise AssertionError(f"a control moves nothing: {area.inner_text()[:200]}")
            n_moved += 1
    return n_moved


def move(page, control, kind: str) -> None:
    """Move a slider by keys, or choose another entry of a list."""
    if "select" in kind:
        control.select_option(index=0 if control.evaluate("list => list.selectedIndex") else 1)
        return
    low = control.get_attribute("aria-valuenow") == control.get_attribute("aria-valuemin")
    control.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight" if low else "ArrowLeft")


def pictures_in(area) -> list[str]:
    return [image.get_attribute("src") for image in area.locator("img").all()]


def wrong(cell) -> str:
    """Return a solution cell whose functions give 0.5."""
    lines = cell.source.splitlines()
    for first, last in reversed(learn.regions(cell)):
        lines[first - 1 : last] = ["    return 0.5"]
    return "\n".join(lines)


def right(cell) -> str:
    """Return a solution cell without its markers."""
    lines = cell.source.splitlines()
    return "\n".join(line for line in lines if line.strip() not in (learn.BEGIN, learn.END))


def cell_at(page, index: int):
    return page.locator(".jp-Cell").nth(index)


def number(page, index: int, ran: bool = False) -> str:
    """Return the execution count that stands before a cell, empty if it has not run.

    A cell that waits has a star; after an error above it the star goes. `ran` waits for a number.
    """
    prompt = cell_at(page, index).locator(".jp-InputPrompt")
    for _ in range(1200 if ran else 100):
        count = prompt.inner_text().strip(" []:")
        if count.isdigit() or (not count and not ran):
            return count
        page.wait_for_timeout(100)
    return ""


def says(page, index: int, words: str | re.Pattern) -> str:
    """Return what a cell puts out as soon as it holds `words`."""
    area = cell_at(page, index).locator(".jp-OutputArea-output", has_text=words).first
    area.wait_for(timeout=120_000)
    return area.inner_text()


def fill(page, e: learn.Exercise, text: str) -> None:
    """Type an answer into an exercise, by keyboard alone from there, and run it and its check."""
    cell_at(page, e.code).locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    for _ in range(e.check - e.code + 1):
        page.keyboard.press("Shift+Enter")
