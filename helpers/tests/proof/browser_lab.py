"""What the tests in a real browser share: the browser, JupyterLab, a notebook that runs.

JupyterLab answers on a free loopback port, and all that it writes of its own goes to a folder that
is thrown away.
"""

import importlib.util
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
FLAGS += "--disable-component-update --disable-sync"
LAB = "--no-browser --allow-root --ip=127.0.0.1 --ServerApp.port_retries=0 --LabApp.news_url=None "
LAB += "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
KERNEL_IDLE = re.compile(r"Python 3.*\| Idle")
PANEL = """import sys
sys.path.insert(0, {root!r})
from helpers.measure import evalset
from helpers.label import labelling, panel
evals = evalset.load({folder!r})
panel.Panel(evals, labelling.pairs_to_judge(evals), repeats=0).show()"""


def missing() -> str:
    """Return what these tests need and do not find, "" where all is there."""
    if not importlib.util.find_spec("playwright"):
        return "the package playwright is not installed"
    return "" if chromium() else f"no browser found, wanted one of: {', '.join(BROWSERS)}"


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def window():
    """Run the browser without a screen and yield what opens pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium(), args=FLAGS.split())
        yield browser
        browser.close()


@contextmanager
def lab(folder: Path, scratch: Path):
    """Run JupyterLab in `folder` and yield the address of a notebook by name; end it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
    own += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    home = {name: str(scratch / "jupyter" / name.lower()) for name in own}
    settings = Path(home["JUPYTERLAB_SETTINGS_DIR"], "@jupyterlab", "notebook-extension")
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')  # all cells
    environment = {**os.environ, **home, "JUPYTER_PREFER_ENV_PATH": "1", "JUPYTER_TOKEN": token}
    command = [sys.executable, "-m", "jupyterlab", *LAB.split(), f"--ServerApp.port={port}"]
    log = scratch / "lab.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/api/status?token={token}", server, log)
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


def write_panel(path: Path, folder: Path) -> None:
    """Write a notebook that shows the panel of a set."""
    code = PANEL.format(root=str(ROOT), folder=str(folder))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(code)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


def open_notebook(page, address: str) -> None:
    """Open a notebook and wait for its kernel.

    The mark in its toolbar says idle for two seconds before there is a kernel. A run in these two
    seconds is met by the dialog "Select Kernel", which waits for ever; the status bar names both.
    """
    page.goto(address)
    page.locator(".jp-StatusBar-TextItem", has_text=KERNEL_IDLE).first.wait_for(timeout=90_000)


def run_all_cells(page) -> None:
    """Choose Run All Cells until the first cell has its number.

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
