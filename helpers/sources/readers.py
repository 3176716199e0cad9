"""What all readers share: a source and its labels, what is wrong with it, lines, ids and splits."""

import glob
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .. import files
from ..files import EvalSetError, database, unlike

SIDES = {
    **dict.fromkeys(("dev", "validation", "valid", "val", "train"), "dev"),
    "test": "test",
}  # in the order in which a side is chosen
BETWEEN = re.compile(r"[\s,]*")  # the objects of an array
TOO_MANY = 50  # problems after which an import gives up


class Label(NamedTuple):
    """One line of a qrels file. `place` is file:line."""

    place: str
    split: str
    query_id: str
    doc_id: str
    grade: str | int
    evidence: tuple[str, ...] = ()  # quotes, each enough by itself


class Source(NamedTuple):
    """What a reader found. Documents and queries are (place, row); they may be read lazily."""

    documents: Iterable[tuple[str, dict]]
    queries: Iterable[tuple[str, dict]] = ()
    labels: Iterable[Label] | None = None  # None: nobody has labelled this corpus
    splits: tuple[str, ...] = ()  # every split that the source offers
    words: str = "words"
    about: tuple[str, ...] = ()  # sentences for the data card


class Asked(NamedTuple):
    """What the command line asks for."""

    kind: str
    path: str
    split: str | None = None
    max_docs: int | None = None
    queries_language: str | None = None
    title: str | None = None  # the field of a document that is its title
    text: str | None = None  # the fields that are its text, with commas between them
    halve: bool = False  # draw halves although the source has its own


class Log:
    """What is wrong with a source, what is left out of it and what is read differently."""

    def __init__(self):
        self.problems: list[str] = []
        self.left: dict[str, tuple[int, str]] = {}  # reason: how often, first place
        self.changed: Counter[str] = Counter()
        self.said: list[str] = []
        self.unseen: dict[str, str] = {}  # field asked for: the problem, "" once a document had it

    def wrong(self, problem: str) -> None:
        """Note a problem. Raises EvalSetError when there are too many to go on."""
        self.problems.append(problem)
        if len(self.problems) >= TOO_MANY:
            raise EvalSetError([*self.problems, f"stopped after {TOO_MANY} problems"])

    def leave(self, reason: str, place: str) -> None:
        """Count something that is left out."""
        count, first = self.left.get(reason, (0, place))
        self.left[reason] = count + 1, first

    def stop(self) -> None:
        """Raise EvalSetError if there were problems."""
        found = [*self.problems, *filter(None, self.unseen.values())]
        if found:
            raise EvalSetError(found)

    def lines(self) -> list[str]:
        """Return a line for each reason, with its count and first place."""
        left = [
            f"left out: {reason}: {count}, first {first}"
            for reason, (count, first) in self.left.items()
        ]
        changed = [f"changed: {what}: {n}" for what, n in self.changed.items()]
        return [*left, *changed, *self.said]


# Files. helpers/files.py reads the lines and says what is wrong with them.


def lines_of(path: Path, log: Log) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) of a file, plain or .gz, without empty lines."""
    return files.lines(path, log.wrong, newline="\n")  # a text may hold a carriage return


def array(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) of a JSON array, JSON lines or Parquet file."""
    if path.suffix == ".parquet":
        yield from _parquet(path, log)
        return
    said: list[str] = []
    first = next(files.pieces(path, said.append), "")
    if said:
        log.wrong(said[0])
    elif first.lstrip().startswith("["):
        yield from _array(path, log)
    else:
        yield from files.rows(path, log.wrong)


def _parquet(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    import duckdb

    number, where = 0, glob.escape(str(path.resolve()))  # a * in a name is no pattern
    with database() as tables:
        try:
            tables.execute("FROM read_parquet($1, hive_partitioning = false)", [where])
            names = [column[0] for column in tables.description]
            while rows := tables.fetchmany(1000):
                for row in rows:
                    number += 1
                    yield f"{path}:{number}", dict(zip(names, row, strict=True))
        except duckdb.Error as error:
            said = str(error).partition("\n")[0]
            log.wrong(f"{path}:{number + 1}: cannot be read ({said}), wanted a Parquet file")


def _array(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield the objects of one array, read in pieces: published ones are a line of 500 MB."""
    pieces, decoder = files.pieces(path, log.wrong), json.JSONDecoder(object_pairs_hook=unlike)
    text, line, counted = next(pieces, ""), 1, 0
    at = text.find("[") + 1
    while True:
        at = BETWEEN.match(text, at).end()
        line, counted = line + text.count("\n", counted, at), at
        place, wrong = f"{path}:{line}", "the array has no end"
        if text[at : at + 1] == "]":
            return _end_of(chain([text[at + 1 :]], pieces), place, log)
        try:
            row, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            wrong, end = str(error), len(text)
        except (ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else error
            return log.wrong(f"{place}: broken JSON ({why}), wanted an array of objects")
        if end == len(text):  # cut, or so it may be
            more = next(pieces, None) if end - at <= files.LONGEST else None
            if more is None:
                return log.wrong(f"{place}: broken JSON ({wrong}), wanted an array of objects")
            text, at, counted = text[at:] + more, 0, 0
            continue
        at = end
        if isinstance(row, dict):
            yield place, row
        else:
            log.wrong(f"{place}: found {str(row)[:40]}, wanted an object")


def _end_of(rest: Iterable[str], place: str, log: Log) -> None:
    after = next((text.strip() for text in rest if text.strip()), "")
    if after:
        log.wrong(f"{place}: found {after[:40]!r} after the array, wanted one array and no more")


def optional(name: str):
    """Return a module that is no part of the workbook. Raises EvalSetError: how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        problem = f"the package {name} is missing, wanted: python -m pip install {name}"
        raise EvalSetError([problem]) from error


def with_bar(items: Iterable, what: str) -> Iterable:
    """Return `items` with a bar on stderr, where tqdm is installed and somebody looks."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    below = getattr(sys.stderr, "stream", sys.stderr)  # a bar moves the cursor: see text.Screen
    return tqdm(items, desc=what, unit="", leave=False, disable=None, file=below)


# Values.


def safe(name) -> str:
    """Return an id without spaces, slashes, #, and what nobody sees: they would break files.

    They are percent-encoded: urllib.parse.unquote gives the original.
    """
    encoded = re.sub(r"[\s/\\#%]", _percent, str(name))
    if files.is_id(encoded):
        return encoded
    if encoded in (".", ".."):
        return "%2E" * len(encoded)
    return "".join(c if files.is_id(f"a{c}") else _percent([c]) for c in encoded)


def _percent(match) -> str:
    return quote(match[0], safe="", errors="replace")  # half of a surrogate pair becomes "?"


def id_of(place: str, row: dict, names: tuple[str, ...], log: Log) -> str | None:
    """Return the id under the first of `names` that `row` has, as text; None notes a problem."""
    name = next((name for name in names if row.get(name) is not None), None)
    found = row.get(name)
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if isinstance(found, str) and found.strip():
        return safe(found.strip())
    shown = "missing" if name is None else json.dumps(found, ensure_ascii=False, default=str)[:60]
    log.wrong(f"{place}: field {name or names[0]} is {shown}, wanted an id: text or whole number")
    return None


def text_of(row: dict, *names: str) -> str:
    """Return the first of the named fields that holds text, stripped; "" if none does."""
    found = (row[name] for name in names if isinstance(row.get(name), str))
    text = next((text for text in found if text.strip()), "").strip()
    return text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair becomes "?"


def document_of(doc_id: str, title: str, text: str, log: Log) -> dict:
    """Return a document's row; a title without a text becomes the text."""
    if title and not text:
        log.changed["documents with a title only, which became their text"] += 1
        title, text = "", title
    return {"doc_id": doc_id, "title": title, "text": text}


def chosen(place: str, fields: dict, title: str, text: str, asked: Asked, log: Log):
    """Return (title, text) of a document: from the fields that were asked for, else as given.

    Several fields of the text stand below each other, in the order asked for. A document that has
    none of them keeps what it has; a field that no document has is a problem: see Log.stop.
    """
    for option, names in (("--title", asked.title), ("--text", asked.text)):
        wanted = names.split(",") if names else []
        for name in wanted:
            there = ", ".join(sorted(map(str, fields))) or "none"
            problem = f"{place}: {option} {name}: no such field here or in any other document, "
            _seen(f"{option} {name}", name in fields, problem + f"found {there}", log)
        held = [found for name in wanted if (found := text_of(fields, name))]
        if wanted and not held:
            log.leave(f"{option} where a document has no {' or '.join(wanted)}", place)
        elif option == "--title":
            title = held[0] if held else title
        else:
            text = "\n\n".join(held) if held else text
    return title, text


def _seen(field: str, there: bool, problem: str, log: Log) -> None:
    if there:
        log.unseen[field] = ""
    else:
        log.unseen.setdefault(field, problem)


# Folders and splits.


def folder_of(asked: Asked) -> Path:
    """Return the path as a folder. Raises EvalSetError if it is none."""
    path = Path(asked.path)
    if not path.is_dir():
        raise EvalSetError([f"{path}:1: is no folder, wanted a folder for {asked.kind}:"])
    return path


def choose(found: dict[str, object], asked: str | None, where: str | Path) -> dict[str, object]:
    """Return the splits to read: those asked for, else one for dev and one for test.

    Raises EvalSetError with every split there is.
    """
    offer = f"found {', '.join(sorted(found)) or 'none'}"
    if asked:
        missing = [name for name in asked.split(",") if name not in found]
        if missing:
            raise EvalSetError([f"{where}: no split {missing[0]}, {offer}"])
        return {name: found[name] for name in asked.split(",")}
    picked = {}
    for name in sorted((name for name in found if side(name)), key=_rank):
        picked.setdefault(side(name), name)
    if not picked and len(found) != 1:
        raise EvalSetError([f"{where}: {offer}, wanted one of them named by --split"])
    return {name: found[name] for name in list(picked.values()) or list(found)}


def side(split: str) -> str | None:
    """Return dev or test for the name of a split; None for a name that says neither."""
    return SIDES.get(re.split(r"[-_.]", split)[0].lower())


def _rank(split: str) -> tuple[int, str]:
    return list(SIDES).index(re.split(r"[-_.]", split)[0].lower()), split
