"""Makes the README's picture again, a question and what the search finds: make proof ONLY=picture.

It's the cell a-ask of session A as it is stored. Needs a Chromium and the package playwright, as
the tests in a browser do.
"""

import io
import tempfile
from pathlib import Path

import nbformat
from browser_lab import missing, window
from nbformat.v4 import new_markdown_cell, new_notebook
from PIL import Image

from helpers.measure import report
from helpers.teach import workbook

PICTURE = workbook.ROOT / ".github" / "ask.png"
SCREEN = {"width": 880, "height": 100}  # GitHub shows a picture about as wide
COLOURS = 48  # letters stay sharp, and the file small


def main() -> None:
    """Write the picture, or say what is missing."""
    if missing():
        print(f"the picture stays as it is, because {missing()}")
        return
    lesson = nbformat.read(workbook.SESSIONS[0], as_version=4)
    asked = next(cell for cell in lesson.cells if cell.id == "a-ask")
    code = new_markdown_cell(f"    {asked.source.partition('  #')[0]}")
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "page.html"
        path.write_text(report.html(new_notebook(cells=[code, asked])), encoding="utf-8")
        shot = whole_page(path)
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1024} KB")


def whole_page(path: Path) -> bytes:
    """Return what a browser shows of a page, as PNG."""
    with window() as browser:
        page = browser.new_page(viewport=SCREEN, color_scheme="light")
        page.goto(path.as_uri())
        page.add_style_tag(content="main { padding: .5rem 1.5rem; }")
        return page.locator("main").screenshot()


if __name__ == "__main__":
    main()
