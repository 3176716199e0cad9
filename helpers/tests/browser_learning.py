"""The week in a real browser; make browser calls it with session A.

Opens new learner copies in JupyterLab. Again and again runs all cells, up to the next open
exercise, and answers it wrongly, then rightly.
"""

import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import browser_labelling as browser  # noqa: E402

from helpers.learn import copies  # noqa: E402
from helpers.learn import exercises as learn  # noqa: E402

OPEN = "not started yet"
REFUSED = re.compile("is not right yet|wants a dict")
ACCEPTED = re.compile("right on|as by rule|passed")


def main(letters: str = "a") -> None:
    """Raise where the sessions of these letters cannot be worked in the browser."""
    from playwright.sync_api import sync_playwright

    scratch = Path(tempfile.mkdtemp(prefix="learning-"))
    folder = Path(tempfile.mkdtemp(prefix="learn-visit-", dir=ROOT))
    try:
        copies.make(folder=folder)
        with browser.lab(folder, scratch) as address, sync_playwright() as player:
            window = player.chromium.launch(executable_path=browser.chromium(), args=browser.FLAGS)
            for name, source in learn.sessions().items():
                if learn.session_letter(name).lower() not in letters:
                    continue
                page = window.new_page(viewport={"width": 1200, "height": 1000})
                try:
                    work(page, address(name), source, learn.exercises_of(name, source), scratch)
                finally:
                    page.screenshot(path=scratch / f"{name[:9]}-last.png")
                    page.close()
            window.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"passed: each exercise was refused, then accepted; screenshots in {scratch}")


def work(page, address: str, source, exercises: list, shots: Path) -> None:
    """Work one session from its first cell to its last."""
    began = time.time()
    page.goto(address)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(timeout=90_000)
    for n, e in enumerate(exercises):
        browser.run_all_cells(page)
        said = says(page, e.check, OPEN)
        assert "Traceback" not in said, said
        below = next(i for i, c in enumerate(source.cells) if i > e.check and learn.is_code(c))
        assert number(page, below) == "", f"Run All goes on after {e.grade_id}"
        shoot(page, e.check, shots / f"{e.grade_id}-1-open.png")
        if n:
            says(page, exercises[n - 1].check, ACCEPTED)
        if e.number:
            fill(page, e, wrong(source.cells[e.code]))
            said = says(page, e.check, REFUSED)
            assert "Traceback" not in said, said
            shoot(page, e.check, shots / f"{e.grade_id}-2-wrong.png")
        fill(page, e, right(source.cells[e.code]))
        says(page, e.check, ACCEPTED)
        shoot(page, e.check, shots / f"{e.grade_id}-3-right.png")
    browser.run_all_cells(page)
    last = max(i for i, c in enumerate(source.cells) if learn.is_code(c))
    page.wait_for_function(
        "i => /\\d/.test(document.querySelectorAll('.jp-Notebook > * .jp-Cell, .jp-Cell')[i]"
        ".querySelector('.jp-InputPrompt').innerText)",
        arg=last,
        timeout=120_000,
    )
    errors = page.locator("[data-mime-type='application/vnd.jupyter.error']").count()
    assert errors == 0, f"{errors} cells with errors at the end"
    print(f"{exercises[0].grade_id[0]}: {len(exercises)} exercises, {time.time() - began:.0f} s")


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
    """Return a cell of the page by its place in the notebook."""
    return page.locator(".jp-Cell").nth(index)


def number(page, index: int) -> str:
    """Return the execution count that stands before a cell, empty if it has not run.

    A cell that waits has a star; after an error above it the star goes.
    """
    prompt = cell_at(page, index).locator(".jp-InputPrompt")
    for _ in range(100):
        if "*" not in prompt.inner_text():
            break
        page.wait_for_timeout(100)
    return prompt.inner_text().strip(" []:")


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


def shoot(page, index: int, path: Path) -> None:
    """Take a picture with a cell in its middle."""
    cell_at(page, index).evaluate("cell => cell.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(300)
    page.screenshot(path=path)
