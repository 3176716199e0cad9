"""The saved baseline: results.json, the run that it measured, and whether both are of this set."""

from pathlib import Path

from . import evalset, records, runs

FILE = f"runs/{runs.BASELINE['chunker']}.trec"
PARTS = (
    "corpus queries run method summary by_kind by_popularity told_apart compared_dev evidence "
    "cards per_query"
).split()


def measured_run(folder: Path) -> dict[str, str]:
    """Return which run of the folder is measured, with the SHA-256 of its file."""
    return {"file": FILE, "sha256": records.file_hash(folder / FILE)}


def read_results(folder: Path) -> dict:
    """Return results.json of `folder`. Raises EvalSetError where it is no file of session C."""
    path = folder / "results.json"
    try:
        found = records.json_object(records.page(path, evalset.stop))
    except evalset.EvalSetError:
        raise
    except ValueError as error:
        wanted = str(error).replace("one object a line", "one object")
        raise evalset.EvalSetError([f"{path}:1: {wanted}; {again(folder)}"]) from None
    missing = [name for name in PARTS if name not in found]
    missing += [f"sha256 of {name}" for name in PARTS[:3] if not _has_hash(found.get(name))]
    if missing:
        wrong = f"{path}:1: field {missing[0]} is missing or no text; {again(folder)}"
        raise evalset.EvalSetError([wrong])
    return found


def _has_hash(part) -> bool:
    return isinstance(part, dict) and isinstance(part.get("sha256"), str)


def again(folder: Path) -> str:
    """Return what mends a baseline."""
    return f"make report EVALS={folder} measures the baseline anew"


def changed(evals: evalset.EvalSet, found: dict) -> dict[str, tuple[str, str]]:
    """Return {what is not as it was measured: (its hash then, its hash now)}.

    `found` comes from `read_results`. A run that is missing has the hash "nothing".
    """
    run = evals.folder / FILE
    sides = {
        "another corpus": (found["corpus"]["sha256"], evals.corpus_hash()),
        "other queries and labels": (found["queries"]["sha256"], evals.queries_hash()),
        f"another {FILE}": (
            found["run"]["sha256"],
            records.file_hash(run) if run.is_file() else "nothing",
        ),
    }
    return {what: (then, now) for what, (then, now) in sides.items() if then != now}


def faults(evals: evalset.EvalSet) -> list[str]:
    """Return why `verified` would raise an error, [] where it would not."""
    try:
        verified(evals)
    except evalset.EvalSetError as error:
        return error.problems
    return []


def verified(evals: evalset.EvalSet) -> dict:
    """Return results.json of the set's folder.

    Raises EvalSetError where it, or the run that it measured, is not of these documents, queries
    and labels.
    """
    found, path = read_results(evals.folder), evals.folder / "results.json"
    wrong = [
        f"{path}: made on {what} ({then[:12]}, the folder has {now[:12]}): {again(evals.folder)}, "
        "or check out the folder that it was made on"
        for what, (then, now) in changed(evals, found).items()
    ]
    if wrong:
        raise evalset.EvalSetError(wrong)
    return found
