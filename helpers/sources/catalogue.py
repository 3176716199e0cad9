"""The ir_datasets catalogue, which downloads what it names (MacAvaney et al. 2021)."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ..files import EvalSetError
from . import readers
from .readers import SIDES, WORDS, Label, Log, Options, Source


def by_name(options: Options, log: Log) -> Source:
    """Read a collection by its name in the catalogue; names below it, as /test, are its splits.

    --queries names where the queries come from: mMARCO's are the same in every language.
    """
    name, parts = options.path, options.path.split("/")
    if _load(name).has_qrels():
        if options.split:
            problem = f"--split: {name} has its own labels, wanted the name above it or no --split"
            raise EvalSetError([problem])
        last = next((n for n in reversed(range(len(parts))) if readers.side(parts[n])), None)
        splits = {parts[last] if last else "all": name}
        offered = (*splits, *(_splits_below("/".join(parts[:last])) if last else ()))
    else:
        below = _splits_below(name)
        splits = readers.choose(below or {"all": name}, options.split, f"ir_datasets:{name}")
        offered = tuple(below)
    queries = [options.queries] if options.queries else splits.values()
    codes = [*parts, *(options.queries or "").split("/")]
    return Source(
        ((place, _document(entry, log)) for place, entry in _entries(name, "docs")),
        ((place, _query(entry)) for part in queries for place, entry in _entries(part, "queries")),
        chain.from_iterable(_labels(labelled, split) for split, labelled in splits.items()),
        offered,
        words=next((WORDS[code] for code in codes if code in WORDS), "words"),
    )


def _load(name: str):
    try:
        import ir_datasets
    except ImportError as error:
        problem = "the package ir_datasets is missing, wanted: python -m pip install ir_datasets"
        raise EvalSetError([problem]) from error
    try:
        return ir_datasets.load(name)
    except Exception as error:  # the catalogue's own errors have no common class
        problem = f"ir_datasets:{name}: {type(error).__name__} {error}, wanted a name of its "
        raise EvalSetError([problem + "catalogue, https://ir-datasets.com"]) from error


def _splits_below(name: str) -> dict[str, str]:
    """Return {split: name} of the names right below `name` that have labels."""
    splits = {}
    for split in SIDES:
        try:
            if _load(f"{name}/{split}").has_qrels():
                splits[split] = f"{name}/{split}"
        except EvalSetError:
            continue
    return splits


def _entries(name: str, part: str) -> Iterator[tuple[str, NamedTuple]]:
    """Yield (place, entry); the catalogue downloads when an entry is first read."""
    if not getattr(_load(name), f"has_{part}")():
        problem = f"ir_datasets:{name}: no {part}, wanted a name with docs, queries, qrels"
        raise EvalSetError([problem])
    try:
        for number, entry in enumerate(getattr(_load(name), f"{part}_iter")(), 1):
            yield f"ir_datasets:{name}:{number}", entry
    except Exception as error:
        problem = f"ir_datasets:{name}: cannot be read ({type(error).__name__}: "
        problem += f"{str(error)[:200]}), wanted a network connection or the files it asks for"
        raise EvalSetError([problem]) from error


def _document(entry: NamedTuple, log: Log) -> dict:
    title, text = _text(entry, "title"), _text(entry, "text", "body")
    whole = _default_text(entry)
    return readers.document_of(
        readers.encoded(entry.doc_id), title, text or ("" if whole == title else whole), log
    )


def _query(entry: NamedTuple) -> dict:
    text = _text(entry, "text", "title", "description") or _default_text(entry)
    return {"query_id": readers.encoded(entry.query_id), "query": text}


def _labels(name: str, split: str) -> Iterator[Label]:
    for place, entry in _entries(name, "qrels"):
        ids = readers.encoded(entry.query_id), readers.encoded(entry.doc_id)
        yield Label(place, split, *ids, entry.relevance)


def _text(entry: NamedTuple, *names: str) -> str:
    return readers.text_of({name: getattr(entry, name, None) for name in names}, *names)


def _default_text(entry: NamedTuple) -> str:
    return (
        readers.text_of({"text": entry.default_text()}, "text")
        if hasattr(entry, "default_text")
        else ""
    )
