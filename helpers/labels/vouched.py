"""What audit and freeze vouch for is read first, by the readers of the sessions and the gate."""

import os
from collections.abc import Callable
from pathlib import Path

from .. import chunks, compare, evalset, results, runs

EXTRAS = ("pool.jsonl", "second_pass.jsonl", "negatives.jsonl")
DERIVED_ROWS = ("runs/*.trec", "runs/*.jsonl", "chunks/*.jsonl")


def unreadable(evals: evalset.EvalSet, names: tuple[str, ...] = EXTRAS) -> list[str]:
    """Return what is wrong with the files beside a set: those of `names`, and what sessions wrote.

    Chunks and runs of another corpus or other queries wait for make report and are not read.
    """
    folder, hashes = evals.folder, (evals.corpus_hash(), evals.topics_hash())
    labels = [line for name in names for line in _complaints(evalset.read_extra, evals, name)]
    made = [line for path in folder.glob("runs/*.json") for line in _complaints(_made_on, path)]
    for path in (path for glob in DERIVED_ROWS for path in sorted(folder.glob(glob))):
        made += _complaints(_read_fresh, path, evals, hashes)
    if os.path.lexists(folder / "results.json"):
        made += _complaints(results.read_results, folder)
    if made:
        made.append(f"make report EVALS={folder} writes chunks, runs and results.json anew")
    return [*labels, *dict.fromkeys(made)]


def _complaints(read: Callable, *given) -> list[str]:
    try:
        read(*given)
    except evalset.EvalSetError as error:
        return error.problems
    return []


def _made_on(path: Path) -> tuple[str, str]:
    """Return the hashes of the corpus and the queries that a run was made on."""
    said = runs.read_card(path)
    return tuple(said[name] for name in runs.CARD)


def _read_fresh(path: Path, evals: evalset.EvalSet, hashes: tuple[str, str]) -> None:
    """Read a run or chunks, unless their card says that they are of something else."""
    card = evals.folder / "runs" / f"{path.stem}.json"
    if os.path.lexists(card) and _made_on(card) != hashes:
        return
    if path.parent.name == "chunks":
        chunks.read_chunks(path, evals.documents)
    else:
        compare.read_checked(path, evals)
