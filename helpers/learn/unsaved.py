"""Copies whose newest work stands only in the browser.

A running JupyterLab says which kernel belongs to which notebook, and the kernel what it ran. So a
cell that ran and was not saved is known; what was typed and not run is known in the browser alone.
"""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from jupyter_client import BlockingKernelClient
from jupyter_core.paths import jupyter_runtime_dir

from . import LearnError
from .exercises import is_code, read_notebook

PATIENCE = 2  # seconds for an answer; a kernel that is busy gives none
NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy gets the token
Executed = list[tuple[int, str]]  # execution count and source


def unsaved(folder: Path) -> list[str]:
    """Return the names of the notebooks in `folder` that ran cells which their files lack."""
    found = set()
    for path, kernel_id in _open_notebooks():
        if path.parent == folder.resolve() and path.exists():
            try:
                behind = is_behind(read_notebook(path), _ran_in(kernel_id))
            except LearnError:  # which progress says itself
                continue
            found |= {path.name} if behind else set()
    return sorted(found)


def is_behind(notebook, ran: Executed) -> bool:
    """Return whether cells that ran after the newest saved one are not in the notebook.

    Counts above the last that ran are those of a kernel before it.
    """
    cells = [cell for cell in notebook.cells if is_code(cell)]
    last = max((count for count, _ in ran), default=0)
    saved = max(
        (c.execution_count or 0 for c in cells if (c.execution_count or 0) <= last), default=0
    )
    sources = {cell.source.strip() for cell in cells}
    return any(source.strip() not in sources for count, source in ran if count > saved)


def _open_notebooks() -> Iterator[tuple[Path, str]]:
    """Yield (path, id of its kernel) of the notebooks that are open in this user's JupyterLabs."""
    for page in sorted(Path(jupyter_runtime_dir()).glob("jpserver-*.json")):
        try:
            server = json.loads(page.read_text(encoding="utf-8"))
            root = Path(server["root_dir"])
            for session in _answer_of(f"{server['url']}api/sessions", server["token"]):
                yield (root / session["path"]).resolve(), session["kernel"]["id"]
        except (OSError, ValueError, LookupError, TypeError):
            continue  # a server that is gone, or starting


def _answer_of(address: str, token: str) -> list[dict]:
    """Return what a server of this machine answers."""
    request = urllib.request.Request(address, headers={"Authorization": f"token {token}"})
    with NO_PROXY.open(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def _ran_in(kernel_id: str) -> Executed:
    """Return what a kernel has run, nothing where it does not answer in time."""
    client = BlockingKernelClient()
    try:
        client.load_connection_file(str(Path(jupyter_runtime_dir(), f"kernel-{kernel_id}.json")))
        client.start_channels(iopub=False, stdin=False, hb=False)
        range_of = {"hist_access_type": "range", "session": 0, "start": 1}
        reply = client.history(raw=True, output=False, reply=True, timeout=PATIENCE, **range_of)
        return [(count, source) for _, count, source in reply["content"]["history"]]
    except (OSError, ValueError, LookupError, TimeoutError, RuntimeError):
        return []
    finally:
        client.stop_channels()
