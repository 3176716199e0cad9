"""The labelling panel in a real browser; make proof ONLY=browser calls it.

Runs a notebook with the panel, judges three documents, takes evidence from a table, from code and
from a line, goes on after a reload, and finishes. Then a second set by keyboard alone: it judges,
looks a page up, sets a query aside and finishes. What each key writes, test_panel.py holds.
"""

import tempfile
from collections.abc import Iterable
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

FOCUSED = """() => {
    const box = document.activeElement;
    if (!box.closest('.jp-OutputArea-output')) return '';
    return box.ariaLabel || box.labels?.[0]?.innerText || box.innerText;
}"""


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

    def focused(self) -> str:
        """Return the label of what has the focus in the panel, "" for nothing there."""
        return self.page.evaluate(FOCUSED)

    def waits_for(self, title: str) -> None:
        """Wait until a document is shown."""
        self.page.locator("[aria-label=Document] b").filter(has_text=title).first.wait_for()

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


def judge_by_keyboard_alone(panel: Panel) -> None:
    """Judge, be offered an end after five zeros, look a page up, set a query aside and finish."""
    panel.open()
    go_to_keys(panel)
    give_zeros(panel, range(5))
    panel.says("5 zeros in a row: Next query (q) leaves 3 documents unread")
    look_up_the_last_note(panel)
    judge_by_either_of_two_lines(panel)
    give_zeros(panel, (5, 6))
    set_aside_and_finish(panel)


def go_to_keys(panel: Panel) -> None:
    """Reach the panel by Tab; the first stop is where keys are typed."""
    keyboard = panel.page.keyboard
    keyboard.press("Escape")
    for _ in range(40):
        if panel.focused():
            break
        keyboard.press("Tab")
    assert panel.focused() == "Keys", f"the first stop of Tab is {panel.focused()!r}"


def give_zeros(panel: Panel, numbers: Iterable[int]) -> None:
    """Judge the notes with these numbers 0."""
    for n in numbers:
        panel.waits_for(f"note-{n}")
        panel.page.keyboard.type("0")


def look_up_the_last_note(panel: Panel) -> None:
    """Search for a page, choose it by its number, and go back to the keys."""
    keyboard = panel.page.keyboard
    keyboard.press("Tab")
    assert panel.focused() == "Another page", panel.focused()
    keyboard.type("shelf 7")
    keyboard.press("Enter")
    panel.says("Type the number of a page there")
    keyboard.type("1")
    keyboard.press("Enter")
    panel.waits_for("note-7")
    keyboard.press("Shift+Tab")


def judge_by_either_of_two_lines(panel: Panel) -> None:
    """Take two lines of which each proves the grade, and give it."""
    keyboard = panel.page.keyboard
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


def set_aside_and_finish(panel: Panel) -> None:
    """Say that no document answers the other query, and finish."""
    keyboard = panel.page.keyboard
    panel.says("No document judged for this query answers it")
    keyboard.type("n")
    panel.says("all are judged")
    while panel.focused() != "Finish":
        keyboard.press("Tab")
    keyboard.press("Enter")
    panel.says("9 new judgments went from the log into the folder")
