"""Makes the README's picture again, the first screen of the write-up: make proof ONLY=picture.

Needs a Chromium and the package playwright, as the tests in a browser do.
"""

import io
import tempfile
from pathlib import Path

import nbformat
from browser_lab import missing, window
from PIL import Image

from helpers import report, workbook

PICTURE = workbook.ROOT / ".github" / "write_up.png"
SCREEN = {"width": 1100, "height": 540}
COLOURS = 48  # letters stay sharp, and the file small


def main() -> None:
    """Write the picture, or say what is missing."""
    if missing():
        print(f"the picture stays as it is, because {missing()}")
        return
    page = report.html(nbformat.read(workbook.WRITE_UP, as_version=4))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "page.html"
        path.write_text(page, encoding="utf-8")
        shot = first_screen(path)
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1024} KB")


def first_screen(path: Path) -> bytes:
    """Return what a browser shows of a page before anybody scrolls, as PNG."""
    with window() as browser:
        page = browser.new_page(viewport=SCREEN, color_scheme="light")
        page.goto(path.as_uri())
        return page.screenshot()


if __name__ == "__main__":
    main()
