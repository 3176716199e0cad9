"""The ir_datasets catalogue, which downloads what it names (MacAvaney et al. 2021)."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain

from ..measure.files import EvalSetError, Rows
from . import readers, tables
from .readers import SIDES, WORDS, Source, Task

TEXTS = {  # fields of which the first that holds something is the text
    "docs": ("text", "body", "default"),
    "queries": ("text", "title", "description", "default"),
}
WANTED = (
    "wanted the package (python -m pip install ir_datasets), a name with docs, queries and qrels "
    "of https://ir-datasets.com, and a network connection or the files that it asks for"
)


def read_dataset(task: Task) -> Source:
    """Read a collection by its name in the catalogue; names below it, as /test, are its splits.

    --queries names where the queries come from: mMARCO's are the same in every language.
    """
    options, name = task.options, task.options.path
    splits, offered = _splits(name, task)
    queries = [options.queries] if options.queries else splits.values()
    asked = chain.from_iterable(_entries(part, "queries") for part in queries)
    codes = f"{name}/{options.queries or ''}".split("/")
    return Source(
        ((p, tables.document_of(p, row, task)) for p, row in _entries(name, "docs")),
        ((p, tables.query_of(p, row, task)) for p, row in asked),
        (
            tables.label_of(place, row, split, task)
            for split, part in splits.items()
            for place, row in _entries(part, "qrels")
        ),
        offered,
        words=next((WORDS[code] for code in codes if code in WORDS), "words"),
    )


def _splits(name: str, task: Task) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return {split: its name} of those to read, and all splits that are offered."""
    if not _load(name).has_qrels():
        below = _splits_below(name)
        return readers.choose_splits(below or {"all": name}, task), tuple(below)
    parent, _, last = name.rpartition("/")
    if not readers.half_of(last):
        return readers.choose_splits({"all": name}, task), ("all",)
    return readers.choose_splits({last: name}, task), tuple(_splits_below(parent) | {last: name})


def _splits_below(name: str) -> dict[str, str]:
    """Return {split: name} of the names right below `name` that have labels."""
    splits = {}
    for split in SIDES:
        with suppress(EvalSetError):
            if _load(f"{name}/{split}").has_qrels():
                splits[split] = f"{name}/{split}"
    return splits


def _load(name: str):
    with _errors_in_words(name):
        import ir_datasets

        return ir_datasets.load(name)


def _entries(name: str, part: str) -> Rows:
    """Yield (place, row); the catalogue downloads when an entry is first read.

    One without a text takes the catalogue's default, unless that is its title.
    """
    dataset = _load(name)
    with _errors_in_words(name):
        for number, entry in enumerate(getattr(dataset, f"{part}_iter")(), 1):
            row = entry._asdict()
            row["default"] = entry.default_text() if hasattr(entry, "default_text") else ""
            text = readers.text_of(row, *TEXTS.get(part, ()))
            row["text"] = text if text != row.get("title") else ""
            yield f"ir_datasets:{name}:{number}", row


@contextmanager
def _errors_in_words(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # the catalogue's own errors have no common class
        what = f"{type(error).__name__}: {error}"[:200]
        raise EvalSetError(f"ir_datasets:{name}: found {what}, {WANTED}") from error
