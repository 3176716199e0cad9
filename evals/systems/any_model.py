# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "sentence-transformers",
#   "fastjsonschema", "ir-measures", "markupsafe", "pyyaml", "regex", "tiktoken"
# ]
# ///
"""A run of any model of sentence-transformers, with its card, in an environment of its own.

    uv run evals/systems/any_model.py MODEL [--cross] [--query TEXT] [--passage TEXT] [--evals F]

MODEL is a name on the Hugging Face hub or a folder. A bi-encoder gives each document the cosine of
its best window. With --cross it is a cross-encoder, which reads the query together with each window
of BM25's first fifty documents (runs/fixed.trec) and orders these anew; the others stay behind
them. Some bi-encoders want a text before queries and passages, such as "query: " and "passage: ":
their card on the hub says which. NAME.trec and NAME.json stand in systems/, called after the model.
"""

import argparse
import re
import sys
import time
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from joblib import Memory  # comes with sentence-transformers
from sentence_transformers import CrossEncoder, SentenceTransformer

from helpers.measure import evalset, runs

WORDS, STEP = 150, 120  # of one window, and from one window to the next
FIRST = 50  # documents that a cross-encoder reads
KEPT = Memory(Path(__file__).resolve().parents[2] / ".cache", verbose=0)
PACKAGES = ("sentence-transformers", "torch", "transformers")


def windows(document: evalset.Document, titled: bool = True) -> list[str]:
    """Return overlapping windows of words, of the body alone where each has the title before it."""
    words = (document.text if titled else document.retrieval_text).split(" ")
    parts = [" ".join(words[i : i + WORDS]) for i in range(0, len(words), STEP)]
    return [f"{document.title}\n\n{part}" for part in parts] if titled else parts


@KEPT.cache(ignore=["model"])  # encoding is what takes time
def encoded(model: SentenceTransformer, about: dict, texts: list[str]) -> np.ndarray:
    """Return the vectors of texts; `about` names what they depend on, besides the texts."""
    return model.encode(texts, normalize_embeddings=True)


def by_cosine(
    evals: evalset.EvalSet,
    model: SentenceTransformer,
    about: dict,
    titled: bool = True,
    query: str = "",
    passage: str = "",
) -> dict[str, runs.Ranking]:
    """Return the documents of each query by the cosine of their best window; see `encoded`."""
    cut = {doc.doc_id: windows(doc, titled) for doc in evals.documents.values()}
    starts = np.cumsum([0, *map(len, cut.values())])[:-1]
    passages = [passage + part for parts in cut.values() for part in parts]
    vectors = encoded(model, about, passages)
    queries = encoded(model, about, [query + of.query for of in evals.all_queries.values()])
    best = np.maximum.reduceat(queries @ vectors.T, starts, axis=1)
    depth = runs.BASELINE["depth"]
    return {
        query_id: runs.in_order([(d, float(s)) for d, s in zip(cut, row, strict=True)])[:depth]
        for query_id, row in zip(evals.all_queries, best, strict=True)
    }


def read_together(
    evals: evalset.EvalSet, model: CrossEncoder, base: dict[str, runs.Ranking]
) -> dict[str, runs.Ranking]:
    """Return BM25's ranking with its first documents by what a cross-encoder gives their windows.

    Those it did not read stand behind them in their old order.
    """
    run = {}
    for query_id, ranking in base.items():
        ids = [doc_id for doc_id, _ in ranking[:FIRST]]
        cut = [windows(evals.documents[doc_id]) for doc_id in ids]
        query = evals.all_queries[query_id].query
        given = model.predict([(query, part) for parts in cut for part in parts])
        ends = np.cumsum([0, *map(len, cut)])
        read = [(d, float(max(given[a:b]))) for d, (a, b) in zip(ids, pairwise(ends), strict=True)]
        lowest = min(score for _, score in read)
        rest = [(d, lowest - n) for n, (d, _) in enumerate(ranking[FIRST:], 1)]
        run[query_id] = runs.in_order(read) + rest
    return run


def main() -> None:
    """Write the run and its card."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", help="a name on the Hugging Face hub, or a folder")
    parser.add_argument("--cross", action="store_true", help="a cross-encoder")
    parser.add_argument("--query", default="", help="what stands before a query")
    parser.add_argument("--passage", default="", help="what stands before a passage")
    parser.add_argument("--evals", help="the set; without it the workbook's own")
    asked = parser.parse_args()
    evals = evalset.load(asked.evals)
    packages = {package: version(package) for package in PACKAGES}
    about = {"model": asked.model, "packages": packages}
    began = time.monotonic()
    if asked.cross:
        base = runs.read_run(evals.folder / "runs" / "fixed.trec", evals).rankings
        run, way = (
            read_together(evals, CrossEncoder(asked.model), base),
            f"BM25's first {FIRST} anew",
        )
    else:
        model, way = SentenceTransformer(asked.model), "cosine of the best window of a document"
        run = by_cosine(evals, model, about, query=asked.query, passage=asked.passage)
    name = re.sub(r"[^\w.-]+", "-", asked.model.rstrip("/").rpartition("/")[2]).lower()
    card = {
        "system": f"{asked.model}, {way}",
        "windows": f"title, blank line, then of the body: {WORDS} words, a new one every {STEP}",
        "before queries and passages": [asked.query, asked.passage],
        "seconds, encoding included": round(time.monotonic() - began),
        "packages": packages,
        "command": " ".join(["uv run evals/systems/any_model.py", *sys.argv[1:]]),
    }
    runs.write_trec(evals.folder / "systems" / f"{name}.trec", run, name)
    runs.write_card(evals.folder / "systems" / f"{name}.json", evals, card, run)


if __name__ == "__main__":
    main()
