"""Read what is compared: the saved baseline, and runs of any engine with their cards."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

from . import files, results, runs
from .evalset import EvalSet, EvalSetError
from .installation import command
from .runs import Run

MERGED = "baseline + "  # begins the name of a run that merges BM25's ranking with another


def read_compared(
    evals: EvalSet, base, systems, split: str, read: Callable[..., Run] | None = None
) -> list[Run]:
    """Return the base (None: the saved baseline) and the other systems, as `read` gives a run.

    Each has a name of its own. Raises EvalSetError, also for a look at test (`split`
    is not dev) of what nobody chose on dev.
    """
    half_of(split)  # before a function is asked every query
    read = read or partial(read_checked, evals=evals)
    against = read(base) if base else saved_baseline(evals)
    others = [read(system) for system in systems]
    _refuse_unconfirmed(evals, [against, *others] if base else others, split)
    return _named_apart([against, *others], [base or "baseline", *systems])


def half_of(split: str | None) -> str | None:
    """Return the half that a split names, None for all queries. Raises EvalSetError for another."""
    if split in (None, "all"):
        return None
    if split not in files.SPLITS:
        raise EvalSetError(f"split is {split!r}, wanted dev, test or all")
    return split


def _refuse_unconfirmed(evals: EvalSet, others: list[Run], split: str) -> None:
    names = dict.fromkeys(run.one_of or run.name for run in others)
    unnamed = [name for name in names if name not in evals.confirmed]
    if unnamed and split != files.SPLITS[0] and evals.qrels("test"):
        days = json.dumps(evals.confirmed | dict.fromkeys(unnamed, date.today().isoformat()))
        fault = f"field confirmed lacks {', '.join(unnamed)}: choose on dev, then name what you "
        fault += f'chose, with the day: "confirmed": {days}'
        raise EvalSetError(f"{evals.folder / 'settings.json'}: {fault}")


def _named_apart(read: list[Run], systems: list) -> list[Run]:
    """Return runs of which no two have one name: old/run.trec and new/run.trec are called run."""
    often, apart = Counter(run.name for run in read), []
    for number, (run, system) in enumerate(zip(read, systems, strict=True)):
        if often[run.name] > 1:
            is_path = isinstance(system, (str, Path))
            run = run._replace(name=str(system) if is_path else f"{run.name} {number}")
        apart.append(run)
    return apart


def saved_baseline(evals: EvalSet) -> Run:
    """Return the baseline run of the folder, with its ranked chunks where they are saved.

    Raises EvalSetError where it is missing, or is not what results.json measured on
    this set.
    """
    if not (evals.folder / "results.json").exists():
        makes = command("report", EVALS=evals.folder)
        raise EvalSetError(f"{evals.folder} has no baseline yet, {makes} makes it")
    content, path = results.read_current_results(evals), evals.folder / results.RUN
    measured = results.measured_queries(evals, content)
    run = runs.read_run(path, evals)._replace(
        name="baseline",
        chunker=runs.BASELINE["chunker"],
        depth=runs.BASELINE["depth"],
        newer=frozenset(evals.settled_queries.keys() - measured),
    )
    chunk_run = path.with_suffix(".jsonl")
    if not chunk_run.exists():
        return run
    if "chunks_sha256" not in content["run"]:
        run.warnings.append(
            f"results.json has no hash of {results.CHUNKS}, so its evidence may be "
            f"that of other chunks: {results.ANEW.format(evals.folder)}"
        )
    return run._replace(parts=runs.read_run(chunk_run, evals).parts)


def read_systems(evals: EvalSet) -> list[Run]:
    """Return the runs in the folder's `systems/`, by name: what other engines found."""
    paths = sorted((evals.folder / "systems").glob("*.trec"))
    return [read_checked(path, evals) for path in paths]


# A run of any engine, and the card beside it.


def read_checked(path: Path, evals: EvalSet) -> Run:
    """Read a run; a JSON file of the same name beside it says on which corpus it was made.

    With it an empty file is a run that found nothing. Raises EvalSetError for what
    cannot be used.
    """
    if not path.is_file():
        raise EvalSetError(f"{path}:1: cannot be read, wanted a run: runs/mine.trec")
    beside = runs.card_path(path)
    has_card = beside is not None and os.path.lexists(beside)
    card = runs.read_card(beside) if has_card else {}
    files.refuse([f"{beside}:1: {fault}" for fault in runs.card_faults(card, evals)])
    found_nothing = has_card and next(files.lines(path), None) is None
    run = Run(beside.stem, {}, []) if found_nothing else runs.read_run(path, evals)
    try:
        newer = runs.newer_queries(run.rankings, card, evals)
    except ValueError as error:
        raise EvalSetError(f"{beside}:1: {error}") from None
    names = {name: card[name] for name in ("chunker", "one_of") if isinstance(card.get(name), str)}
    run = run._replace(depth=card.get("depth", 0), newer=newer, **names)
    if beside is None:
        run.warnings.append(f"{path.name} is named as a card, so it has none: name it run.jsonl")
    numbered = _has_chunk_ids(run)
    if numbered:
        run.warnings.extend(_chunk_set_warnings(run.chunker, beside or path, evals.folder))
    wanted = runs.hashes(evals, run.chunker if numbered else "") if has_card else {}
    missing = [name for name in wanted if name not in card]
    if missing:
        lacks = f"the card has no {' and no '.join(missing)}"
        run.warnings.append(
            f"{lacks}, so the run may be of another set: {command('card', RUN=path)} "
            "adds what is missing"
        )
    return run


def _has_chunk_ids(run: Run) -> bool:
    """Return whether a run ranks chunks by number, not only spans and documents."""
    passages = chain.from_iterable(run.parts.values())
    return any(":" not in name.rpartition("#")[2] for name, _ in passages)


def _chunk_set_warnings(chunker: str, card: Path, folder: Path) -> list[str]:
    """Return a warning where no set is named that chunk ids are of.

    Raises EvalSetError where the card names one that the folder lacks.
    """
    if not chunker:
        alone = "chunk ids count as their documents, and their evidence is not measured"
        return [f'{alone}: wanted their set in {card.name}, "chunker": "recursive"']
    sets = folder / "chunks"
    if not (sets / f"{chunker}.jsonl").is_file():
        known = ", ".join(sorted(path.stem for path in sets.glob("*.jsonl"))) or "none yet"
        raise EvalSetError(
            f"{card}:1: chunker is {chunker!r}, wanted the name of a set in {sets}: {known}"
        )
    return []


def card_command(evals: EvalSet, path: Path) -> list[str]:
    """Write the card beside a run, or what it lacks; return its path and the run's warnings.

    Raises EvalSetError where the run is not of this set, as far as it can tell.
    """
    run, beside = read_checked(path, evals), runs.card_path(path)
    if beside is None:
        raise EvalSetError(f"{path}: stands where its card would, wanted the name run.jsonl")
    facts = runs.read_card(beside) if os.path.lexists(beside) else {}
    runs.write_card(beside, evals, facts, run.rankings)
    warnings = read_checked(path, evals).warnings
    return [f"card: {beside}", *(f"Warning ({run.name}): {words}" for words in warnings)]


def read_cards(evals: EvalSet) -> dict[str, dict]:
    """Return the cards in `systems/` that say what a system is, by its name."""
    paths = sorted((evals.folder / "systems").glob("*.json"))
    cards = {path.stem: files.json_page(path) for path in paths}
    return {name: card for name, card in cards.items() if "system" in card}


# Which runs are of one system.


def by_system(read: Iterable[Run]) -> list[list[Run]]:
    """Return the runs whose cards name the same system together, any other by itself.

    Raises EvalSetError where runs of a system are not alike.
    """
    groups = {}
    for run in read:
        groups.setdefault(run.one_of or len(groups), []).append(run)
    faults = []
    for first, *others in groups.values():
        for run in others:
            for what, wanted in _made_of(first).items():
                found = _made_of(run)[what]
                if found != wanted:
                    alike = f"{run.name}: one_of is {run.one_of!r} as of {first.name}"
                    faults.append(f"{alike}, with {what} {found} and {wanted}, wanted runs alike")
    files.refuse(faults)
    return [*groups.values()]


def _made_of(run: Run) -> dict[str, str | int]:
    """Return what the runs of a system have in common."""
    found = "passages" if run.parts else "documents"
    return {"results": found, "chunker": run.chunker or "none", "depth": run.depth or "none"}


# Which queries are left out.


def known_to_all(evals: EvalSet, *compared: Run) -> EvalSet:
    """Return a set without the queries that are newer than one of the runs."""
    newer = frozenset().union(*(run.newer for run in compared))
    return evals.only(evals.settled_queries.keys() - newer)


def of_round(evals: EvalSet, number: int) -> EvalSet:
    """Return a set with the queries of one round. Raises EvalSetError where there are none."""
    own = [q for q, query in evals.settled_queries.items() if query.round == number]
    if evals.queries.keys().isdisjoint(own):
        rounds = sorted({query.round for query in evals.queries.values()})
        known = ", ".join(map(str, rounds))
        raise EvalSetError(f"--round is {number}, wanted one of those of the queries: {known}")
    return evals.only({*own})


def left_out(whole: EvalSet, known: EvalSet, half: str | None) -> dict:
    """Return the ids of the queries of a half that are left out, by reason; {} where none is.

    `known` is the set of those that every run knows, as `known_to_all` has it.
    """
    of_half = {q for q, query in whole.all_queries.items() if half in (None, query.split)}
    waiting = sorted(of_half & whole.waiting.keys())
    newer = sorted(of_half & (whole.settled_queries.keys() - known.settled_queries.keys()))
    return {"left_out": {"waiting": waiting, "newer": newer}} if waiting or newer else {}
