"""The ir_datasets catalogue, which downloads what it names (MacAvaney et al. 2021)."""

from collections.abc import Iterator
from itertools import chain

from ..files import EvalSetError
from . import readers
from .readers import SIDES, WORDS, Label, Source, Task


def read_dataset(task: Task) -> Source:
    """Read a collection by its name in the catalogue; names below it, as /test, are its splits.

    --queries names where the queries come from: mMARCO's are the same in every language.
    """
    options, name, parts = task.options, task.options.path, task.options.path.split("/")
    if _load(name).has_qrels():
        if options.split:
            problem = f"--split: {name} has its own labels, wanted the name above it or no --split"
            raise EvalSetError([problem])
        last = next((n for n in reversed(range(len(parts))) if readers.half_of(parts[n])), None)
        splits = {parts[last] if last else "all": name}
        offered = (*splits, *(_splits_below("/".join(parts[:last])) if last else ()))
    else:
        below = _splits_below(name)
        splits, offered = readers.choose_splits(below or {"all": name}, task), tuple(below)
    queries = [options.queries] if options.queries else splits.values()
    codes = [*parts, *(options.queries or "").split("/")]
    return Source(
        ((place, document_row(fields, task)) for place, fields in _entries(name, "docs")),
        (
            (place, query_row(fields))
            for part in queries
            for place, fields in _entries(part, "queries")
        ),
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


def _entries(name: str, part: str) -> Iterator[tuple[str, dict]]:
    """Yield (place, fields); the catalogue downloads when an entry is first read.

    The field default_text is what the catalogue takes for the text of a document or query.
    """
    dataset = _load(name)
    if not getattr(dataset, f"has_{part}")():
        problem = f"ir_datasets:{name}: no {part}, wanted a name with docs, queries, qrels"
        raise EvalSetError([problem])
    try:
        for number, entry in enumerate(getattr(dataset, f"{part}_iter")(), 1):
            default = entry.default_text() if hasattr(entry, "default_text") else ""
            yield f"ir_datasets:{name}:{number}", {**entry._asdict(), "default_text": default}
    except Exception as error:
        problem = f"ir_datasets:{name}: cannot be read ({type(error).__name__}: "
        problem += f"{str(error)[:200]}), wanted a network connection or the files it asks for"
        raise EvalSetError([problem]) from error


def document_row(fields: dict, task: Task) -> dict:
    """Return the document of an entry; one without a text takes the catalogue's default."""
    title, default = readers.text_of(fields, "title"), readers.text_of(fields, "default_text")
    text = readers.text_of(fields, "text", "body") or (default if default != title else "")
    return readers.document(readers.encode_id(fields["doc_id"]), title, text, task)


def query_row(fields: dict) -> dict:
    """Return the query of an entry."""
    text = readers.text_of(fields, "text", "title", "description", "default_text")
    return {"query_id": readers.encode_id(fields["query_id"]), "query": text}


def _labels(name: str, split: str) -> Iterator[Label]:
    for place, fields in _entries(name, "qrels"):
        ids = readers.encode_id(fields["query_id"]), readers.encode_id(fields["doc_id"])
        yield Label(place, split, *ids, fields["relevance"])
