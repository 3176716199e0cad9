"""Makes the README's picture again, a question and what the search finds: make proof ONLY=picture.

It's the page Try it of the site as it opens. Needs Sphinx, a Chromium and the package playwright,
as the tests of the site do.
"""

import io
import tempfile
from pathlib import Path

from browser_lab import missing, window
from PIL import Image

from helpers.teach import site, workbook

PICTURE = workbook.ROOT / ".github" / "ask.png"
SCREEN = {"width": 880, "height": 900}  # GitHub shows a picture about as wide
COLOURS = 48  # letters stay sharp, and the file small
ASKED = ".try:has(> #try-form)"


def main() -> None:
    """Write the picture, or say what is missing."""
    if missing():
        print(f"the picture stays as it is, because {missing()}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        site.write_site(Path(scratch) / "site")
        shot = search_shown(Path(scratch) / "site" / "try.html")
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1024} KB")


def search_shown(path: Path) -> bytes:
    """Return the box with its question, and the results, as PNG."""
    with window() as browser:
        page = browser.new_page(viewport=SCREEN, color_scheme="light")
        page.goto(path.as_uri())
        page.add_style_tag(content=f"{ASKED} {{ padding: 1rem 1.5rem; }}")
        page.wait_for_selector("#try-results li")
        return page.locator(ASKED).screenshot()


if __name__ == "__main__":
    main()
