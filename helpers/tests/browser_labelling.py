"""The labelling panel in a real browser; make browser calls it.

Starts JupyterLab on a free loopback port, runs a notebook with the panel in headless Chromium,
judges three documents, sets a query aside and reads the log.
"""

import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
LAB = (
    "--no-browser --allow-root --ip=127.0.0.1 --ServerApp.port_retries=0 "
    "--LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
).split()
CELL = """import sys
sys.path.insert(0, {root!r})
from helpers import evalset
from helpers.labels import merge, panel
evals = evalset.load({folder!r})
panel.Panel(evals, merge.pairs_to_judge(evals), repeats=0).show()"""
DOCUMENTS = {
    "disk-full": "Delete <old> logs.\n\nCosts $5 or $10, then <|endoftext|> call Storage.\n",
    "disk-slow": "Look at the queue depth first.\n\n" + "Wait for the disk to settle.\n" * 60,
    "queue-full": "Add a consumer.\n",
}
GUIDE = "# Guide\n\n| grade | meaning |\n|---|---|\n| 2 | answers |\n| 0 | does <not> help |\n"


def main() -> None:
    """Raise where the panel does not work in the browser."""
    from playwright.sync_api import sync_playwright

    scratch = Path(tempfile.mkdtemp(prefix="labelling-"))
    folder = write_folder(scratch)
    with lab(scratch, scratch) as address, sync_playwright() as player:
        window = player.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = window.new_page(viewport={"width": 1250, "height": 1150})
        try:
            judge(page, address("panel.ipynb"), folder / "labelling.jsonl", scratch)
        finally:
            page.screenshot(path=scratch / "last.png")
            window.close()
    print(f"passed: the log holds what was typed and clicked; screenshots in {scratch}")


def missing() -> str:
    """Return what these tests need and do not find, "" where all is there."""
    if not importlib.util.find_spec("playwright"):
        return "the package playwright is not installed"
    return "" if chromium() else f"no browser found, wanted one of: {', '.join(BROWSERS)}"


def chromium() -> str | None:
    """Return the path of the browser to drive."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


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
    write_rows(folder / "retrieval_queries.jsonl", [query, waits])
    write_rows(folder / "pool.jsonl", pool)
    (folder / "labeling_guide.md").write_text(GUIDE, encoding="utf-8")
    code = CELL.format(root=str(ROOT), folder=str(folder))
    cell = {"cell_type": "code", "id": "panel", "source": code, "outputs": [], "metadata": {}}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = {"cells": [{**cell, "execution_count": None}], "metadata": kernel}
    write_rows(scratch / "panel.ipynb", [{**notebook, "nbformat": 4, "nbformat_minor": 5}])
    return folder


def write_rows(path: Path, rows: list[dict]) -> None:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@contextmanager
def lab(folder: Path, scratch: Path):
    """Run JupyterLab in `folder` and yield the address of a notebook by name; end it afterwards.

    All that it writes of its own goes to `scratch`.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    own += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    home = {name: str(scratch / "jupyter" / name.lower()) for name in own}
    shown = Path(home["JUPYTERLAB_SETTINGS_DIR"], *"@jupyterlab/notebook-extension".split("/"))
    shown.mkdir(parents=True)
    (shown / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')  # all cells
    environment = {**os.environ, **home, "JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_TOKEN": token}
    command = [sys.executable, "-m", "jupyterlab", *LAB, f"--ServerApp.port={port}"]
    with (scratch / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/api/status?token={token}", server, scratch / "lab.log")
        yield lambda name: f"{address}/lab/workspaces/{Path(name).stem}/tree/{name}?token={token}"
    finally:
        server.terminate()
        server.wait(30)


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    """Return when `address` answers; raise RuntimeError with the server's words if it ends."""
    for _ in range(240):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.25)
    raise RuntimeError(f"JupyterLab does not answer:\n{log.read_text()[-2000:]}")


def judge(page, address: str, log: Path, shots: Path) -> None:
    """Run the notebook, judge its three documents in three ways and check the log after each."""
    page.goto(address)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(timeout=90_000)
    run_all_cells(page)
    button = {
        n: page.locator(f".widget-button:text-is('{n}')") for n in ("1", "2", "No answer", "Skip")
    }
    button["Skip"].wait_for(timeout=30_000)
    panel = page.locator(".jp-OutputArea")
    key = page.get_by_placeholder("0 1 2 n s u")
    key.press_sequentially("0")
    panel.get_by_text("Saved: 0").wait_for()
    assert grades(log) == [0] and key.input_value() == "", "a key acts at once, the box is empty"
    button["2"].click()
    panel.get_by_text("grade 2 needs evidence").wait_for()
    assert grades(log) == [0], "without evidence nothing is written"
    page.screenshot(path=shots / "refused.png")
    page.locator(".widget-select select").select_option(index=1)
    button["2"].click()
    panel.get_by_text("Saved: 2").wait_for()
    page.get_by_text("Labelling guide").click()
    panel.get_by_text("does <not> help").wait_for()
    page.screenshot(path=shots / "guide.png")
    words = page.get_by_placeholder("Evidence")
    assert words.input_value() == "", "the next document starts without evidence"
    words.fill(first_words(log))
    assert button["No answer"].is_disabled(), "a query is set aside when its documents are judged"
    button["1"].click()
    panel.get_by_text("No document judged for this query answers it").wait_for()
    assert grades(log) == [0, 2, 1] and button["1"].is_disabled(), grades(log)
    page.screenshot(path=shots / "question.png")
    button["No answer"].click()
    panel.get_by_text("all are judged").wait_for()
    panel.get_by_text("Set aside, because no document answers: q2").wait_for()
    page.screenshot(path=shots / "end.png")
    assert rows(log)[-1]["query_id"] == "q2" and rows(log)[-1]["doc_id"] == ""
    key.press_sequentially("u")
    panel.get_by_text("Taken back: No answer").wait_for()
    assert "undo" in rows(log)[-1]


def run_all_cells(page) -> None:
    """Choose Run All Cells until the cell has its number.

    While JupyterLab starts, its menu may be drawn anew under the mouse and the kernel loses runs.
    """
    from playwright.sync_api import Error

    for _ in range(10):
        try:
            page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click(timeout=4000)
            page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click(timeout=4000)
        except Error:
            page.keyboard.press("Escape")
            continue
        for _ in range(10):
            prompt = page.locator(".jp-CodeCell .jp-InputPrompt").first
            if prompt.inner_text().strip(" []:"):
                return
            page.wait_for_timeout(500)
    raise AssertionError("the notebook does not run")


def rows(log: Path) -> list[dict]:
    """Return the objects of the log."""
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def grades(log: Path) -> list[int]:
    """Return the grades in the log, in the order of its lines."""
    return [row["relevance"] for row in rows(log)]


def first_words(log: Path) -> str:
    """Return words of the one document that is not judged yet."""
    (left,) = set(DOCUMENTS) - {row["doc_id"] for row in rows(log)}
    return DOCUMENTS[left].split("\n")[0]
