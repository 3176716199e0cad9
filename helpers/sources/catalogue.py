"""Readers of the ir_datasets catalogue, which downloads what it names (MacAvaney et al. 2021)."""

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ..files import EvalSetError
from .readers import (
    SIDES,
    Asked,
    Label,
    Log,
    Source,
    choose,
    document_of,
    optional,
    safe,
    side,
    text_of,
)

# The catalogue's codes where they are not ISO 639-1. Its mMARCO has no English: that is MS MARCO.
DUTCH, ENGLISH = "dt", "msmarco-passage"


class Names(NamedTuple):
    """The names in the catalogue from which documents, queries and labels are taken."""

    docs: str
    queries: str
    qrels: str


def by_name(asked: Asked, log: Log) -> Source:
    """Read a collection by its name in the catalogue; names below it, as /test, are its splits."""
    name, parts = asked.path, asked.path.split("/")
    library = optional("ir_datasets")
    if _load(library, name).has_qrels():
        if asked.split:
            problem = f"--split: {name} has its own labels, wanted the name above it or no --split"
            raise EvalSetError([problem])
        last = next((n for n in reversed(range(len(parts))) if side(parts[n])), None)
        above = _splits(library, "/".join(parts[:last])) if last else {}
        split = parts[last] if last else "all"
        return _source(Names(name, name, name), split, log, (split, *above))
    found = _splits(library, name)
    wanted = choose(found, asked.split, f"ir_datasets:{name}") if found else {"all": name}
    read = [_source(Names(name, n, n), split, log) for split, n in wanted.items()]
    return Source(
        read[0].documents,
        chain.from_iterable(source.queries for source in read),
        chain.from_iterable(source.labels for source in read),
        tuple(found),
    )


def _splits(library, name: str) -> dict[str, str]:
    """Return {split: name} of the names right below `name` that have labels."""
    found = {}
    for split in SIDES:
        try:
            labelled = library.load(f"{name}/{split}").has_qrels()
        except Exception:  # no such name; the catalogue's own errors have no common class
            continue
        found |= {split: f"{name}/{split}"} if labelled else {}
    return found


def download_miracl(language: str, split: str, log: Log) -> Source:
    """Read MIRACL in a language, such as yo."""
    name = f"miracl/{language}/{split}"
    return _source(Names(name, name, name), split, log)


def download_mmarco(language: str, asks: str, split: str, log: Log) -> Source:
    """Read mMARCO: documents in one language, queries in it or another, by code, such as de.

    `split` is MS MARCO's: dev.small or train. Both languages have the same labels.
    """
    docs, queries = (_mmarco_name(code, split) for code in (language, asks))
    return _source(Names(docs, queries, docs), split, log)


def _mmarco_name(code: str, split: str) -> str:
    base = ENGLISH if code == "en" else f"mmarco/v2/{DUTCH if code == 'nl' else code}"
    return f"{base}/{split.replace('.', '/')}"


def _source(names: Names, split: str, log: Log, splits: tuple[str, ...] = ()) -> Source:
    library = optional("ir_datasets")
    found = {part: _load(library, name) for part, name in names._asdict().items()}
    missing = [part for part, data in found.items() if not getattr(data, f"has_{part}")()]
    if missing:
        problem = f"ir_datasets:{getattr(names, missing[0])}: no {', '.join(missing)}"
        raise EvalSetError([f"{problem}, wanted a name with docs, queries, qrels"])
    docs, queries, qrels = (
        _entries(data, getattr(names, part), part) for part, data in found.items()
    )
    return Source(
        ((place, _document_row(entry, log)) for place, entry in docs),
        ((place, _query_row(entry)) for place, entry in queries),
        (
            Label(place, split, safe(entry.query_id), safe(entry.doc_id), entry.relevance)
            for place, entry in qrels
        ),
        splits or (split,),
    )


def _load(library, name: str):
    try:
        return library.load(name)
    except Exception as error:  # the catalogue's own errors have no common class
        problem = f"ir_datasets:{name}: {type(error).__name__} {error}, wanted a name of its "
        raise EvalSetError([problem + "catalogue, https://ir-datasets.com"]) from error


def _entries(data, name: str, part: str) -> Iterator[tuple[str, NamedTuple]]:
    """Yield (place, entry); the catalogue downloads when an entry is first read."""
    try:
        for number, entry in enumerate(getattr(data, f"{part}_iter")(), 1):
            yield f"ir_datasets:{name}:{number}", entry
    except Exception as error:
        problem = f"ir_datasets:{name}: cannot be read ({type(error).__name__}: "
        problem += f"{str(error)[:200]}), wanted a network connection or the files it asks for"
        raise EvalSetError([problem]) from error


def _document_row(entry, log: Log) -> dict:
    title = _text(entry, "title")
    text, whole = _text(entry, "text", "body"), _default(entry)
    return document_of(safe(entry.doc_id), title, text or ("" if whole == title else whole), log)


def _query_row(entry) -> dict:
    text = _text(entry, "text", "title", "description") or _default(entry)
    return {"query_id": safe(entry.query_id), "query": text}


def _text(entry, *names: str) -> str:
    return text_of({name: getattr(entry, name, None) for name in names}, *names)


def _default(entry) -> str:
    found = entry.default_text() if hasattr(entry, "default_text") else ""
    return text_of({"text": found}, "text")
