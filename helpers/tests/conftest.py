"""Small evaluation sets that tests write and then break."""

import functools
import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from helpers.measure import evalset, files, results  # noqa: E402

WITH_MAKE = pytest.mark.skipif(
    os.name == "nt" or not shutil.which("make"), reason="wants make and a Unix shell"
)


HEAD = "kind: runbook\nservice: disk\nupdated: 2026-04-08\n---\n"
SET = {
    "corpus/disk-full.md": f"""---
title: disk-full
{HEAD}Delete <old> logs.

Then <|endoftext|> call Storage.
""",
    "corpus/queue-full.md": f"---\ntitle: queue-full\n{HEAD}Add a consumer.\n",
    "retrieval_queries.jsonl": """\
{"query_id": "q1", "query": "disk is full", "relevant_doc_ids": ["disk-full"], "split": "dev"}
{"query_id": "q2", "query": "queue", "relevant_doc_ids": ["queue-full"], "split": "test"}
""",
    "judgments.jsonl": """\
{"query_id": "q1", "doc_id": "disk-full", "relevance": 2, "evidence": "Delete <old> logs."}
{"query_id": "q1", "doc_id": "queue-full", "relevance": 0}
{"query_id": "q2", "doc_id": "queue-full", "relevance": 1, "evidence": "Add a consumer."}
""",
}


@pytest.fixture
def memory(monkeypatch):
    """Return what a kernel remembers of a learner: nothing yet."""
    shell = SimpleNamespace(meta={})
    monkeypatch.setattr("helpers.teach.kernel.get_ipython", lambda: shell)
    return shell.meta


@pytest.fixture
def folder(tmp_path):
    """Return a valid folder with two documents, two queries and graded labels."""
    (tmp_path / "corpus").mkdir()
    for name, page in SET.items():
        (tmp_path / name).write_text(page, encoding="utf-8")
    return tmp_path


@functools.cache
def published():
    """Return results.json of our own set, without its cards and queries."""
    page = (evalset.DEFAULT / "results.json").read_text(encoding="utf-8")
    return json.loads(page) | {"cards": [], "per_query": []}


def results_of(evals):
    """Return results.json as if it were measured on a set that has a saved run."""
    found = published()
    hashes = {"corpus": evals.corpus_hash(), "queries": evals.queries_hash()}
    parts = {part: found[part] | {"sha256": made} for part, made in hashes.items()}
    return found | parts | {"run": {"sha256": files.file_hash(evals.folder / results.RUN)}}


@pytest.fixture
def drawn(monkeypatch):
    """Return the list of (axes, words) of the pictures that are shown; they have the first axes."""
    import matplotlib
    import matplotlib.pyplot as plt
    import pandas as pd

    from helpers.teach import figures

    shown = []
    keep = lambda figure, words: shown.append((figure.axes[0], words))  # noqa: E731
    monkeypatch.setattr(figures, "display_figure", keep)
    with matplotlib.rc_context(), pd.option_context("display.max_colwidth", 50):
        figures.open_page(versions=False)
        yield shown
    plt.close("all")


@pytest.fixture
def house(tmp_path):
    """Return a folder like the project's, with one session and a second that is nearly empty."""
    from teach import small_session

    for name in ("evals/a.md", "notebooks/extra/page.md"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("page\n", encoding="utf-8")
    (tmp_path / "stand_in.py").write_text(small_session.STAND_IN, encoding="utf-8")
    small_session.write(tmp_path, small_session.session())
    small_session.write(
        tmp_path, [small_session.markdown("b", "# Session B: more")], "session_b_more.ipynb"
    )
    return tmp_path


def write_rows(path, *rows):
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
