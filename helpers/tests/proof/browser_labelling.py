"""The labelling panel in a real browser; make proof ONLY=browser calls it.

Runs a notebook with the panel, judges three documents, takes evidence from a table, from code and
from a line, goes on after a reload, sets a query aside, finishes, and reads the log and the folder.
"""

import tempfile
from pathlib import Path

import browser_lab

from helpers import files

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
SELECTED = {  # document: (from, to) as they are shown, and the evidence
    "disk-full": ("or", "Storage,", "or **$10** | Storage,"),
    "disk-slow": ("iostat", "sync", "iostat -x 5 | grep disk\nsync"),
    "queue-full": ("consumer", "Look", "consumer.\n2. Look"),
}
GUIDE = "# Guide\n\n| grade | meaning |\n|---|---|\n| 2 | answers |\n| 0 | does <not> help |\n"


def main() -> None:
    """Raise where the panel does not work in the browser."""
    scratch = Path(tempfile.mkdtemp(prefix="labelling-"))
    folder = write_folder(scratch)
    with browser_lab.lab(scratch, scratch) as address, browser_lab.window() as window:
        page = window.new_page(viewport={"width": 1250, "height": 1150})
        try:
            judge(page, address("panel.ipynb"), folder / "labelling.jsonl", scratch)
        finally:
            page.screenshot(path=scratch / "last.png")
    print(f"passed: the log holds what was typed and clicked; screenshots in {scratch}")


def write_folder(scratch: Path) -> Path:
    """Write a small evaluation set and a notebook that shows its panel; return the set."""
    folder = scratch / "evals"
    (folder / "corpus").mkdir(parents=True)
    for doc_id, body in DOCUMENTS.items():
        page = f"---\ntitle: {doc_id}\nkind: runbook\nupdated: 2026-04-08\n---\n{body}"
        (folder / "corpus" / f"{doc_id}.md").write_text(page, encoding="utf-8")
    query = {"query_id": "q1", "query": "disk is full", "relevant_doc_ids": ["disk-full"]}
    pool = [{"query_id": "q1", "doc_id": d, "rankers": ["by-hand"]} for d in DOCUMENTS]
    waits = {"query_id": "q2", "query": "bread", "relevant_doc_ids": []}
    files.write_jsonl(folder / "retrieval_queries.jsonl", [query, waits])
    files.write_jsonl(folder / "pool.jsonl", pool)
    (folder / "labeling_guide.md").write_text(GUIDE, encoding="utf-8")
    browser_lab.write_panel(scratch / "panel.ipynb", folder, "merge.pairs_to_judge(evals)")
    return folder

    return folder


def judge(page, address: str, log: Path, shots: Path) -> None:
    """Run the notebook, judge its three documents in three ways and check the log after each."""
    opened(page, address)
    says, button, key = area(page), buttons(page), keys(page)
    key.press_sequentially("0")
    says.get_by_text("Saved: 0").wait_for()
    assert grades(log) == [0] and key.input_value() == "", "a key acts at once, the box is empty"
    button["2 answers it"].click()
    says.get_by_text("grade 2 needs evidence").wait_for()
    assert grades(log) == [0], "without evidence nothing is written"
    page.screenshot(path=shots / "refused.png")
    evidence = select(page, log)
    page.screenshot(path=shots / "selected.png")
    button["2 answers it"].click()
    says.get_by_text("Saved: 2").wait_for()
    assert rows(log)[-1]["evidence"] == evidence
    look_at_widths(page, shots)
    key.press_sequentially("u")
    says.get_by_text("Taken back: 2").wait_for()
    opened(page, address)
    says.get_by_text("2 of 3, query 1 of 1").wait_for()
    select(page, log)
    button["2 answers it"].click()
    says.get_by_text("Saved: 2").wait_for()
    page.get_by_text("Labelling guide").click()
    says.get_by_text("does <not> help").wait_for()
    page.screenshot(path=shots / "guide.png")
    choose_line(page)
    assert button["No answer"].is_disabled(), "a query is set aside when its documents are judged"
    button["1 helps in part"].click()
    says.get_by_text("No document judged for this query answers it").wait_for()
    assert [row["relevance"] for row in rows(log)[-2:]] == [2, 1]
    page.locator(".widget-button:disabled:text-is('1 helps in part')").wait_for()
    page.screenshot(path=shots / "question.png")
    button["No answer"].click()
    says.get_by_text("all are judged").wait_for()
    says.get_by_text("Set aside, because no document answers: q2").wait_for()
    assert rows(log)[-1]["query_id"] == "q2" and rows(log)[-1]["doc_id"] == ""
    key.press_sequentially("u")
    says.get_by_text("Taken back: No answer").wait_for()
    assert "undo" in rows(log)[-1]
    button["No answer"].click()
    says.get_by_text("all are judged").wait_for()
    page.screenshot(path=shots / "end.png")
    button["Finish"].click()
    says.get_by_text("4 new judgments went from the log into the folder").wait_for()
    page.screenshot(path=shots / "finished.png")
    assert not button["Undo"].count() and not key.count(), "nothing is left to press"
    assert sorted(grades(log.with_name("judgments.jsonl"))) == [0, 1, 2]


def opened(page, address: str) -> None:
    """Open the notebook, or open it anew, and run it."""
    browser_lab.open_notebook(page, address)
    browser_lab.run_all_cells(page)
    buttons(page)["Skip"].wait_for(timeout=30_000)


def area(page):
    """Return where the panel stands."""
    return page.locator(".jp-OutputArea")


def buttons(page) -> dict:
    """Return the panel's buttons by what stands on them."""
    names = ("1 helps in part", "2 answers it", "No answer", "Skip", "Undo", "Finish")
    return {name: page.locator(f".widget-button:text-is('{name}')") for name in names}


def keys(page):
    """Return the box that takes keys."""
    return page.get_by_placeholder("0 1 2 n s u j k")


def look_at_widths(page, shots: Path) -> None:
    """Take pictures at two narrow widths; nothing of the panel may be cut off there."""
    wide = page.viewport_size
    page.keyboard.press("Control+B")  # the list of files goes
    for width in (700, 390):
        page.set_viewport_size({"width": width, "height": 1150})
        page.wait_for_timeout(1500)
        buttons(page)["Undo"].scroll_into_view_if_needed()
        page.screenshot(path=shots / f"{width}.png")
        over = page.evaluate(
            """() => [...document.querySelectorAll('.jp-OutputArea-output .widget-button')]
            .filter(b => b.scrollWidth > b.clientWidth + 1).map(b => b.innerText)"""
        )
        assert not over, f"at {width} px the words of {over} are cut"
    page.set_viewport_size(wide)
    page.keyboard.press("Control+B")


def shown_document(page) -> str:
    """Return the id of the shown document, which is its title."""
    return page.locator("[aria-label=Document] b").first.inner_text()


def select(page, log: Path) -> str:
    """Select a passage of the shown document with the mouse; return the evidence that it gives."""
    first, last, evidence = SELECTED[shown_document(page)]
    box = page.get_by_placeholder("Evidence")
    assert box.input_value() == "", "a document starts without evidence"
    page.mouse.move(*place(page, first, "left"))
    page.mouse.down()
    page.mouse.move(*place(page, last, "right"), steps=8)
    page.mouse.up()
    area(page).get_by_text("Evidence taken:").wait_for()
    assert box.input_value() == evidence, box.input_value()
    return evidence


def place(page, words: str, side: str) -> tuple[float, float]:
    """Return where some words of the document begin or end on the screen."""
    found = page.evaluate(
        """([words, side]) => {
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
        }""",
        [words, side],
    )
    return found[0] + (0.5 if side == "left" else -0.5), found[1]


def choose_line(page) -> None:
    """Choose a line as evidence, by keyboard alone."""
    keys(page).press_sequentially("jj")
    area(page).get_by_text("Line 2 of").wait_for()
    assert page.get_by_placeholder("Evidence").input_value() == "Look at the queue depth first."


def rows(log: Path) -> list[dict]:
    """Return the objects of the log."""
    return [row for _, row in files.rows(log)]


def grades(log: Path) -> list[int]:
    """Return the grades in the log, in the order of its lines."""
    return [row["relevance"] for row in rows(log) if "relevance" in row]
