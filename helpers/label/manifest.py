"""The manifest: what the input files of a set were when somebody last vouched for them."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..measure import evalset, files
from ..measure.evalset import EvalSet

LABEL_FILES = (
    *("retrieval_queries.jsonl", "judgments.jsonl", "pool.jsonl", "second_pass.jsonl"),
    *("negatives.jsonl", "judge.jsonl", "labeling_guide.md", "settings.json"),
)
BY_PEOPLE = ("pool.jsonl", "second_pass.jsonl", "judge.jsonl")  # they may be missing, or broken
SEEDS = {"negatives": 2026}
VERSIONED = ("rank_bm25", "bm25s", "scikit-learn", "tiktoken")
NO_MANIFEST = "manifest.json is missing"
CONVERTED_BY = "pages are converted by"  # in the data card: packages with their versions
BROKEN = 'manifest.json cannot be read, wanted {"files": {path: SHA-256}, ...}'


def freeze_command(evals: EvalSet) -> int:
    """Write negatives.jsonl and, last, the manifest with the hash of every input file.

    Raises EvalSetError, and writes nothing, where a file that it vouches for cannot be read.
    """
    from . import pooling  # takes two seconds to import, and others want hashes only

    files.refuse(unreadable(evals, BY_PEOPLE))  # the negatives it writes itself
    rows = pooling.negatives(evals, pooling.by_ranker(evals), SEEDS["negatives"])
    files.write_jsonl(evals.folder / "negatives.jsonl", rows)
    print(f"{write_manifest(evals, SEEDS)} describes the folder as it is now")
    return 0


def unreadable(evals: EvalSet, names: Iterable[str]) -> list[str]:
    """Return what is wrong with the files of `names`, which may stand beside a set's labels."""
    problems = []
    for name in names:
        try:
            evalset.read_extra(evals, name)
        except evalset.EvalSetError as error:
            problems += error.problems
    return problems


def inputs(folder: Path) -> dict[str, Path]:
    """Return {posix path inside the folder: file} of the corpus and the label files."""
    corpus = [*(folder / "corpus").glob("*.md")] or [folder / "corpus.jsonl"]
    paths = [*corpus, *(folder / name for name in LABEL_FILES)]
    return {path.relative_to(folder).as_posix(): path for path in paths if os.path.lexists(path)}


def _hashes(folder: Path) -> dict[str, str]:
    return {name: files.file_hash(path) for name, path in inputs(folder).items()}


def write_manifest(evals: EvalSet, seeds: dict) -> Path:
    """Write manifest.json, hashes, counts, `seeds` and package versions, and return its path.

    The same folder gives the same bytes.
    """
    grades = Counter(judgment.relevance for judgment in evals.judgments)
    counts = {"documents": len(evals.documents), "queries": len(evals.queries)}
    counts["judgments"] = {grade: grades[grade] for grade in evals.grades}
    versions = {}
    for name in VERSIONED:
        with suppress(PackageNotFoundError):  # not all are where the gate alone is installed
            versions[name] = version(name)
    card = files.optional_page(evals.folder / "README.md", problems=[])
    if made := re.search(f"{CONVERTED_BY} (.+)", card):  # when it was imported
        versions |= dict(re.findall(r"(\w+) ([\d.]+)", made[1]))
    facts = {"files": _hashes(evals.folder), "counts": counts, "seeds": seeds, "versions": versions}
    path = evals.folder / "manifest.json"
    files.write(path, json.dumps(facts, indent=2, sort_keys=True) + "\n")
    return path


def differences(folder: Path | str) -> list[str]:
    """Return a line for each file that differs from manifest.json, is missing, or was added."""
    path = Path(folder) / "manifest.json"
    if not path.exists():
        return [NO_MANIFEST]
    listed = files.json_page(path, problems=[]).get("files")
    if not isinstance(listed, dict):
        return [BROKEN]
    present = _hashes(path.parent)
    both = listed.keys() & present.keys()
    lines = [f"{name} differs" for name in both if listed[name] != present[name]]
    lines += [f"{name} is missing" for name in listed.keys() - both]
    lines += [f"{name} is not in the manifest" for name in present.keys() - both]
    return sorted(lines)
