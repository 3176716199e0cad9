"""The labelling panel in a real browser; make proof ONLY=browser calls it.

Runs a notebook with the panel, judges three documents, takes evidence from a table, from code and
from a line, goes on after a reload, and finishes. Then a second set by keyboard alone: it judges,
looks a page up, sets a query aside and finishes. What each key writes, test_panel.py holds.
"""

import tempfile
from pathlib import Path

import browser_lab

from helpers.measure import files

DOCUMENTS = {
    "disk-full": (
        "Delete <old> logs.\n\n| cost | who |\n|---|---|\n| $5 or **$10** | Storage, `on call` |\n"
    ),
    "disk-slow": (
        "Look at the queue depth first.\n\n```sh\niostat -x 5 | grep disk\nsync\n```\n\n"
        + "- Wait for the disk to *settle*.\n" * 60
    ),
    "queue-full": "# Steps\n\n1. Add a consumer.\n2. Look again.\n",
}
NOTES = {f"note-{n}": f"A note on disk {n}.\n\nIt names shelf {n}.\n" for n in range(8)}
SELECTED = {  # document: (from, to) as they are shown, and the evidence
    "disk-full": ("or", "Storage,", "or **$10** | Storage,"),
    "disk-slow": ("iostat", "sync", "iostat -x 5 | grep disk\nsync"),
    "queue-full": ("consumer", "Look", "consumer.\n2. Look"),
}
CORNERS = """([words, side]) => {
    const page = document.querySelector('[aria-label=Document]');
    const walk = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
    let node = walk.nextNode();
    const passed = n => n.parentElement.closest('style, .facts') || !n.data.includes(words);
    while (node && passed(node)) node = walk.nextNode();
    const range = document.createRange(), start = node.data.indexOf(words);
    range.setStart(node, start);
    range.setEnd(node, start + words.length);
    const box = range.getBoundingClientRect();
    return [box[side], (box.top + box.bottom) / 2];
}"""
CUT_OFF = """() => [...document.querySelectorAll('.jp-OutputArea-output .widget-button')]
    .filter(b => b.scrollWidth > b.clientWidth + 1).map(b => b.innerText)"""


def main() -> None:
    """Raise where the panel does not work in the browser."""
    scratch = Path(tempfile.mkdtemp(prefix="labelling-"))
    folder = write_folder(scratch / "panel", DOCUMENTS, "disk is full")
    notes = write_folder(scratch / "notes", NOTES, "note on a disk")
    with browser_lab.lab(scratch, scratch) as address, browser_lab.window() as window:
        page = window.new_page(viewport={"width": 1250, "height": 1150})
        panel = Panel(page, address("panel.ipynb"), folder)
        try:
            judge_two(panel)
            reload_judge_the_third_and_finish(panel)
            judge_by_keyboard_alone(Panel(page, address("notes.ipynb"), notes))
        finally:
            page.screenshot(path=scratch / "last.png")
    print(f"passed: the log holds what was typed and clicked; the last page in {scratch}")


def write_folder(folder: Path, documents: dict[str, str], query: str) -> Path:
    """Write a small evaluation set, and beside it a notebook that shows its panel; return the set.

    All documents are pooled for the query q1, none for q2.
    """
    (folder / "corpus").mkdir(parents=True)
    for doc_id, body in documents.items():
        page = f"---\ntitle: {doc_id}\nkind: runbook\nupdated: 2026-04-08\n---\n{body}"
        (folder / "corpus" / f"{doc_id}.md").write_text(page, encoding="utf-8")
    first = {"query_id": "q1", "query": query, "relevant_doc_ids": []}
    waits = {"query_id": "q2", "query": "bread", "relevant_doc_ids": []}
    files.write_jsonl(folder / "retrieval_queries.jsonl", [first, waits])
    pool = [{"query_id": "q1", "doc_id": d, "rankers": ["by-hand"]} for d in documents]
    files.write_jsonl(folder / "pool.jsonl", pool)
    browser_lab.write_panel(folder.with_suffix(".ipynb"), folder)
    return folder


class Panel:
    """The panel on a page, and the log that it writes."""

    def __init__(self, page, address: str, folder: Path):
        self.page, self.address, self.folder = page, address, folder
        self.key = page.get_by_label("Keys")
        self.evidence = page.get_by_label("Evidence")
        names = ("1 helps in part", "2 answers it", "No answer", "Skip", "Undo", "Finish")
        self.button = {n: page.locator(f".widget-button:text-is('{n}')") for n in names}

    def open(self) -> None:
        browser_lab.open_notebook(self.page, self.address)
        browser_lab.run_all_cells(self.page)
        self.button["Skip"].wait_for(timeout=30_000)

    def says(self, words: str) -> None:
        self.page.locator(".jp-OutputArea").get_by_text(words).wait_for()

    def rows(self, name: str = "labelling.jsonl") -> list[dict]:
        """Return the objects of the log, or of another file of the set."""
        return [row for _, row in files.rows(self.folder / name)]

    def select(self) -> str:
        """Select a passage of the document with the mouse; return the evidence that it gives."""
        title = self.page.locator("[aria-label=Document] b").first.inner_text()
        first, last, evidence = SELECTED[title]
        assert self.evidence.input_value() == "", "a document starts without evidence"
        x, y = self.page.evaluate(CORNERS, [first, "left"])
        self.page.mouse.move(x + 0.5, y)
        self.page.mouse.down()
        x, y = self.page.evaluate(CORNERS, [last, "right"])
        self.page.mouse.move(x - 0.5, y, steps=8)
        self.page.mouse.up()
        self.says("Evidence taken:")
        assert self.evidence.input_value() == evidence, self.evidence.input_value()
        return evidence


def judge_two(panel: Panel) -> None:
    """Judge one document by key and one by button, and take the second back."""
    panel.open()
    panel.key.press_sequentially("0")
    panel.says("Saved: 0")
    assert [row["relevance"] for row in panel.rows()] == [0]
    assert panel.key.input_value() == "", "a key acts at once, the box is empty"
    panel.button["2 answers it"].click()
    panel.says("grade 2 needs evidence")
    assert len(panel.rows()) == 1, "without evidence nothing is written"
    evidence = panel.select()
    panel.button["2 answers it"].click()
    panel.says("Saved: 2")
    assert panel.rows()[-1]["evidence"] == evidence
    look_at_widths(panel)
    panel.key.press_sequentially("u")
    panel.says("Taken back.")


def look_at_widths(panel: Panel) -> None:
    """Nothing of the panel may be cut off at two narrow widths."""
    page, wide = panel.page, panel.page.viewport_size
    page.keyboard.press("Control+B")  # the list of files goes
    for width in (700, 390):
        page.set_viewport_size({"width": width, "height": 1150})
        page.wait_for_timeout(1500)
        panel.button["Undo"].scroll_into_view_if_needed()
        words = page.evaluate(CUT_OFF)
        assert not words, f"at {width} px the words of {words} are cut"
    page.set_viewport_size(wide)
    page.keyboard.press("Control+B")


def reload_judge_the_third_and_finish(panel: Panel) -> None:
    """Go on after a reload, take a line as evidence by keyboard alone, and finish."""
    panel.open()
    panel.says("0 of 1 query, 0 relevant found")
    panel.select()
    panel.button["2 answers it"].click()
    panel.says("Saved: 2")
    panel.key.press_sequentially("j")
    panel.says("Line 1 of")
    assert panel.evidence.input_value() == "# Steps"
    panel.button["1 helps in part"].click()
    panel.says("No document judged for this query answers it")
    assert [row["relevance"] for row in panel.rows()[-2:]] == [2, 1]
    panel.button["No answer"].click()
    panel.says("all are judged")
    panel.button["Finish"].click()
    panel.says("4 new judgments went from the log into the folder")
    assert not panel.button["Undo"].count() and not panel.key.count(), "nothing is left to press"
    assert sorted(row["relevance"] for row in panel.rows("judgments.jsonl")) == [0, 1, 2]


FOCUSED = """() => {
    const box = document.activeElement;
    if (!box.closest('.jp-OutputArea-output')) return '';
    return box.ariaLabel || box.labels?.[0]?.innerText || box.innerText;
}"""


def judge_by_keyboard_alone(panel: Panel) -> None:
    """Judge, be offered an end after five zeros, look a page up, set a query aside and finish."""
    panel.open()
    keyboard, focused = panel.page.keyboard, lambda: panel.page.evaluate(FOCUSED)
    keyboard.press("Escape")
    for _ in range(40):
        if focused():
            break
        keyboard.press("Tab")
    assert focused() == "Keys", f"the first stop of Tab is {focused()!r}"
    title = panel.page.locator("[aria-label=Document] b")
    for n in range(5):
        title.filter(has_text=f"note-{n}").first.wait_for()
        keyboard.type("0")
    panel.says("5 zeros in a row: Next query (q) leaves 3 documents unread")
    keyboard.press("Tab")
    assert focused() == "Another page", focused()
    keyboard.type("shelf 7")
    keyboard.press("Enter")
    panel.says("Type the number of a page there")
    keyboard.type("1")
    keyboard.press("Enter")
    title.filter(has_text="note-7").first.wait_for()
    keyboard.press("Shift+Tab")
    keyboard.type("j")
    panel.says("Line 1 of 2")
    keyboard.type("o")
    panel.says("proves it by itself, too")
    keyboard.type("j")
    panel.says("Line 2 of 2")
    keyboard.type("2")
    panel.says("Saved: 2")
    assert panel.rows()[-1]["evidence"] == ["A note on disk 7.", "It names shelf 7."]
    assert panel.rows()[-1]["doc_id"] == "note-7"
    for n in (5, 6):
        title.filter(has_text=f"note-{n}").first.wait_for()
        keyboard.type("0")
    panel.says("No document judged for this query answers it")
    keyboard.type("n")
    panel.says("all are judged")
    while focused() != "Finish":
        keyboard.press("Tab")
    keyboard.press("Enter")
    panel.says("9 new judgments went from the log into the folder")
