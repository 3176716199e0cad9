"""Which copies have newer work in the browser than in their files."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager

from helpers.learn import progress, unsaved

STUB, ANSWER = "def f():\n    raise NotImplementedError", "def f():\n    return 2"


def saved(*cells):
    """Return a notebook with cells of (execution count, source)."""
    made = [nbformat.v4.new_code_cell(source, execution_count=n) for n, source in cells]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("Words."), *made])


@pytest.mark.parametrize(
    ("cells", "ran", "behind"),
    [
        ([(None, "x"), (None, STUB)], [], False),  # opened
        ([(None, "x"), (None, STUB)], [(1, "x"), (2, STUB + "\n")], False),  # nothing new
        ([(None, "x"), (None, STUB)], [(1, "x"), (2, ANSWER)], True),
        ([(1, "x"), (None, STUB)], [(1, "x"), (2, ANSWER), (3, "x")], True),
        ([(1, "x"), (2, ANSWER)], [(1, "x"), (2, ANSWER)], False),
        ([(3, "x"), (2, ANSWER)], [(1, STUB), (2, ANSWER), (3, "x")], False),  # saved after it
        ([(1, "x"), (2, "other")], [(1, "x"), (2, ANSWER)], False),  # edited and saved
        ([(3, "x"), (2, ANSWER)], [(1, "wrong"), (2, ANSWER), (3, "x"), (4, "x")], False),
        ([(30, "x"), (31, STUB)], [(1, "x"), (2, ANSWER)], True),  # the kernel is a new one
        ([(30, "x"), (31, ANSWER)], [(1, "x"), (2, ANSWER)], False),
    ],
)
def test_a_file_lacks_what_ran_after_it_was_saved(cells, ran, behind):
    assert unsaved.is_behind(saved(*cells), ran) is behind


@contextmanager
def served(answer, status=200):
    """Run a server that answers so, and yield its address and the headers that it was sent."""
    sent = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append((self.path, self.headers["Authorization"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", sent
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    """Return the folder where JupyterLabs of this user say where they are."""
    monkeypatch.setattr(unsaved, "jupyter_runtime_dir", lambda: str(tmp_path / "runtime"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    (tmp_path / "runtime").mkdir()
    (tmp_path / "learn").mkdir()
    return tmp_path / "runtime"


def announce(runtime, address, number=1):
    page = {"url": address, "token": "secret", "root_dir": str(runtime.parent)}
    (runtime / f"jpserver-{number}.json").write_text(json.dumps(page))


@pytest.mark.proof
def test_open_copies_are_asked_for_with_the_token_and_without_a_proxy(runtime, monkeypatch):
    folder = runtime.parent / "learn"
    for name, source in (("a.ipynb", STUB), ("b.ipynb", ANSWER), ("c.ipynb", STUB)):
        (folder / name).write_text(nbformat.writes(saved((None, source))))
    (folder / "broken.ipynb").write_text("{")
    monkeypatch.setattr(unsaved, "_ran_in", lambda kernel_id: [(1, ANSWER)] * (kernel_id != "k3"))
    paths = ("a", "b", "broken", "gone", "../else/a")
    rows = [{"path": f"learn/{p}.ipynb", "kernel": {"id": f"k{n}"}} for n, p in enumerate(paths)]
    rows.append({"path": "learn/c.ipynb", "kernel": {"id": "k3"}})
    with served(json.dumps(rows).encode()) as (address, sent):
        announce(runtime, address)
        assert unsaved.unsaved(folder) == ["a.ipynb"]
    assert sent == [("/api/sessions", "token secret")]


@pytest.mark.proof
@pytest.mark.parametrize("page", ["", "{", "[]", "null", "{}", '{"url": 5, "root_dir": "/"}'])
def test_what_is_no_server_is_passed_over(runtime, page):
    (runtime / "jpserver-1.json").write_text(page)
    announce(runtime, "http://127.0.0.1:9/", 2)  # nobody listens
    for n, (answer, status) in enumerate([(b"no", 200), (b"{}", 403), (b'[{"path": 1}]', 200)], 3):
        with served(answer, status) as (address, _):
            announce(runtime, address, n)
            assert unsaved.unsaved(runtime.parent / "learn") == []


@pytest.mark.proof
def test_a_kernel_tells_what_it_ran_and_a_busy_or_lost_one_nothing(runtime, monkeypatch):
    manager = KernelManager(connection_file=str(runtime / "kernel-k1.json"))
    manager.start_kernel(extra_arguments=["--HistoryManager.enabled=False"])
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        for source in ("x = 1", ANSWER):
            client.execute(source, reply=True, timeout=60)
        monkeypatch.setattr(unsaved, "PATIENCE", 60)
        assert unsaved._ran_in("k1") == [(1, "x = 1"), (2, ANSWER)]
        client.execute(busy := "import time; time.sleep(60)")
        while client.get_iopub_msg(timeout=60)["content"].get("code") != busy:
            pass  # another client's request might come first
        monkeypatch.setattr(unsaved, "PATIENCE", 0.5)
        assert unsaved._ran_in("k1") == []
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert unsaved._ran_in("k2") == []


def test_the_report_ends_with_what_to_save(house, monkeypatch):
    monkeypatch.setattr(unsaved, "unsaved", lambda folder: ["session_a_words.ipynb"])
    monkeypatch.setattr(progress, "rows_of", lambda *_: [])
    (house / "learn").mkdir()
    (house / "learn" / "session_a_words.ipynb").write_text("")
    said = progress.progress_report(house / "evals", house / "notebooks", Path(house / "learn"))
    assert said.endswith(
        "everything is done\nsave first (Ctrl-S in JupyterLab): session_a_words.ipynb "
        "ran cells that its file does not hold yet, then make progress again"
    )
