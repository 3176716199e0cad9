"""Lines with places: one reader of files, one schema a file, one writer of whole files."""

import datetime
import gzip
import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from . import text as tokens

ID = re.compile(r"[^\s/\\#]+")
GRADES = (0, 1, 2)
SPLITS = ("dev", "test")
POPULARITY = ("head", "tail")
NO_ANSWER = "none"  # the kind of a query that no document answers
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how Python keeps a byte that it cannot decode
Say = Callable[[str], object]  # takes a problem and goes on


class EvalSetError(ValueError):
    """Everything that is wrong with a folder, a line for each problem."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__("\n".join(problems))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook prints in place of a traceback: the problems are in the files."""
        return self.problems


# Reading. A reader says what is wrong and goes on, so that one run reports everything.


def lines(path: Path | str, say: Say, newline: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) of a file, plain or .gz, without empty lines and byte-order mark.

    `newline` is that of open(): None ends a line at every kind of line end.
    """
    opener, place = gzip.open if Path(path).suffix == ".gz" else open, f"{path}:1"
    try:
        with opener(
            path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=newline
        ) as file:
            for number, line in enumerate(file, 1):
                place, byte = f"{path}:{number}", NOT_UTF8.search(line)
                if byte:
                    found = ord(byte[0]) & 0xFF
                    say(f"{place}: byte 0x{found:02x} is not UTF-8, save the file as UTF-8")
                elif line.strip():
                    yield place, line.rstrip("\r\n")
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        say(f"{place}: cannot be read ({reason}), wanted a readable file")


def rows(path: Path | str, say: Say) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) for every line of a JSONL file that holds an object."""
    for place, line in lines(path, say):
        try:
            row = json_object(line)
        except ValueError as error:
            say(f"{place}: {error}")
        else:
            yield place, row


def page(path: Path, say: Say) -> str | None:
    """Return a text file with its line ends as \\n, None where it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        say(f"{path}:{line}: byte 0x{byte:02x} is not UTF-8, save the file as UTF-8")
    except OSError as error:
        say(f"{path}:1: cannot be read ({error.strerror}), wanted a readable file")
    return None


def prose(path: Path, say: Say) -> str:
    """Return a page that people may leave out, "" where it is missing or cannot be read."""
    return (page(path, say) or "") if os.path.lexists(path) else ""


def front_matter(path: Path, text: str, say: Say) -> tuple[dict, str] | None:
    """Return the fields of a page's front matter, all as text, and the rest; None without one.

    A block that holds no fields gives {} and is said.
    """
    front = re.match(r"---\n(.*?\n)---[ \t]*(?:\n|$)", text, re.DOTALL)
    return (_front_fields(path, front[1], say), text[front.end() :]) if front else None


def _front_fields(path: Path, block: str, say: Say) -> dict:
    try:  # BaseLoader keeps 2026-04-08, 2.0 and no as text
        fields = yaml.load(block, yaml.BaseLoader)
    except yaml.reader.ReaderError as error:
        line, wrong = block.count("\n", 0, error.position), f"character #x{error.character:04x}"
    except yaml.MarkedYAMLError as error:
        line, wrong = error.problem_mark.line, error.problem
    else:
        if isinstance(fields, dict):
            return fields
        what = {str: "text", list: "a list"}.get(type(fields), "no fields")
        say(f"{path}:2: bad front matter ({what}), wanted lines such as title: Roll back a deploy")
        return {}
    say(f"{path}:{line + 2}: bad front matter ({wrong}), wanted YAML")
    return {}


def json_object(line: str) -> dict:
    """Return the object of a JSON text. Raises ValueError: what was found and what is wanted."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"broken JSON ({error}), wanted one object a line") from None
    if not isinstance(row, dict):
        raise ValueError(f"found {line.strip()[:40]}, wanted a JSON object such as {{...}}")
    return row


# Fields. A check is (does the value fit, what is wanted in words).


class Schema(NamedTuple):
    """The fields of a row by the names of their checks, and those that stand once in a file.

    `closed` refuses fields that it does not name.
    """

    needed: dict[str, str]
    optional: dict[str, str] = {}
    key: tuple[str, ...] = ()
    closed: bool = True


def is_text_list(value) -> bool:
    """Return whether a value is a list of texts, none of them empty."""
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def quotes(row: dict) -> tuple[str, ...]:
    """Return the quotes of a row of judgments.jsonl: none, one as text, or a list of them."""
    found = row.get("evidence", "")
    return tuple(quote for quote in ([found] if isinstance(found, str) else found) if quote.strip())


def is_date(value) -> bool:
    """Return whether a value is an ISO date as text."""
    try:
        return isinstance(value, str) and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


CHECKS = {
    "id": (lambda v: isinstance(v, str) and ID.fullmatch(v), "text without spaces, slashes or #"),
    "text": (lambda v: isinstance(v, str) and v.strip(), "text that is not empty"),
    "ids": (
        lambda v: is_text_list(v) and len(set(v)) == len(v),
        "a list of different document ids",
    ),
    "texts": (is_text_list, "a list of texts"),
    "quotes": (lambda v: isinstance(v, str) or is_text_list(v), "a quote or a list of quotes"),
    "split": (lambda v: v in SPLITS, "dev or test"),
    "popularity": (lambda v: v in POPULARITY, "head or tail"),
    "round": (lambda v: type(v) is int and v > 0, "a number from 1"),
    "any": (lambda v: isinstance(v, str), "text"),
    "flag": (lambda v: type(v) is bool, "true or false"),
    "object": (lambda v: isinstance(v, dict), "an object"),
    "date": (is_date, "a date such as 2026-04-08"),
    "words": (
        lambda v: isinstance(v, str) and v in tokens.TOKENIZERS,
        "one of: " + ", ".join(tokens.TOKENIZERS),
    ),
    "highest": (lambda v: type(v) is int and 0 < v < 1000, "a whole number from 1 to 999"),
}


def grade_checks(grades: tuple[int, ...]) -> dict[str, tuple]:
    """Return the checks of a grade and of one that may be null, for the grades of a set."""
    listed = ", ".join(map(str, grades[:-1]))
    more = " (more with highest_grade in settings.json)" if grades == GRADES else ""
    wanted = (
        f"{listed} or {grades[-1]}{more}"
        if len(grades) < 5
        else f"a whole number from 0 to {grades[-1]}"
    )

    def is_grade(value) -> bool:
        return type(value) is int and value in grades

    return {
        "grade": (is_grade, wanted),
        "grade or null": (lambda v: v is None or is_grade(v), f"{wanted}, or null"),
    }


PAIR = {"query_id": "id", "doc_id": "id"}
TURN = {**PAIR, "doc_id": "any"}  # of the panel: "" asks whether no document answers
DOCUMENT = {"kind": "text", "service": "text", "updated": "date", "version": "text"}
SCHEMAS = {
    "settings.json": Schema({}, {"words": "words", "highest_grade": "highest", "imported": "text"}),
    "corpus/*.md": Schema({"title": "text"}, DOCUMENT),
    "corpus.jsonl": Schema(
        {"doc_id": "id", "title": "any", "text": "any"}, DOCUMENT, ("doc_id",), closed=False
    ),
    "retrieval_queries.jsonl": Schema(
        {"query_id": "id", "query": "text", "relevant_doc_ids": "ids"},
        {"kind": "text", "popularity": "popularity", "split": "split", "answers": "texts"},
        ("query_id",),
    ),
    "judgments.jsonl": Schema(
        {**PAIR, "relevance": "grade"}, {"evidence": "quotes"}, ("query_id", "doc_id")
    ),
    "pool.jsonl": Schema({**PAIR, "rankers": "texts"}, {"first": "grade or null"}, tuple(PAIR)),
    "second_pass.jsonl": Schema(
        {
            **PAIR,
            "round": "round",
            "first": "grade",
            "second": "grade",
            "final": "grade",
            "reason": "any",
        },
        key=(*PAIR, "round"),
    ),
    "negatives.jsonl": Schema({"query_id": "id", "easy": "ids", "hard": "ids"}, key=("query_id",)),
    "labelling.jsonl": Schema(
        {**TURN, "relevance": "grade"},
        {"evidence": "any", "repeat": "flag", "time": "any", "kind": "text"},
    ),
    "undo": Schema({"undo": "object"}, {"time": "any"}),
    "undone": Schema({**TURN, "time": "any"}, {"repeat": "flag"}),
}


def complaints(row: dict, schema: Schema, grades: tuple[int, ...] = GRADES) -> list[str]:
    """Return what is wrong with the fields of a row; `grades` are those that the set allows."""
    known = CHECKS | grade_checks(grades)
    checks = {name: known[check] for name, check in {**schema.optional, **schema.needed}.items()}
    found = [
        f"field {name} is missing, wanted {checks[name][1]}"
        for name in schema.needed
        if name not in row
    ]
    for name, value in row.items():
        check = checks.get(name)
        if check and not check[0](value):
            shown = json.dumps(value, ensure_ascii=False)[:60]
            found.append(f"field {name} is {shown}, wanted {check[1]}")
        elif schema.closed and not check:
            names = ", ".join([*schema.needed, *schema.optional])
            found.append(f"field {name} is unknown, wanted one of: {names}")
    return found


def once(place: str, key: tuple[str, ...], name: str, places: dict, say: Say) -> bool:
    """Return whether `key` is new in `places`; one that stands twice is a problem."""
    if key in places:
        first = places[key].rpartition(":")[2]
        shown = " ".join(map(str, key))
        say(f"{place}: {name} {shown} stands already at line {first}, wanted each once")
        return False
    places[key] = place
    return True


def read(
    path: Path, say: Say, grades: tuple[int, ...] = GRADES, places: dict | None = None
) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, row) of a file that SCHEMAS names, where it exists: rows without a fault.

    A link whose file is gone is no missing file: it is said. `places` is filled with where each
    key stands.
    """
    schema, places = SCHEMAS[path.name], {} if places is None else places
    for place, row in rows(path, say) if os.path.lexists(path) else ():
        found = complaints(row, schema, grades)
        for problem in found:
            say(f"{place}: {problem}")
        key = tuple(row.get(name) for name in schema.key)
        name = "the pair" if schema.key == tuple(PAIR) else " ".join(schema.key)
        if not found and (not key or once(place, key, name, places, say)):
            yield place, row


def orphans(rows: Iterable[tuple[str, dict]], queries: Iterable[str], folder: Path) -> list[str]:
    """Return a line for each query that (file:line, row) name and `queries` does not hold."""
    places: dict[str, list[str]] = {}
    for place, row in rows:
        if row["query_id"] not in queries:
            places.setdefault(row["query_id"], []).append(place)
    return [
        f"{there[0]}: query {query_id} is not in retrieval_queries.jsonl and stands in "
        f"{tokens.how_many(len(there), 'line')} here: write it there again, or take all its rows "
        f"out of every file: make drop QUERY={query_id} EVALS={folder}"
        for query_id, there in places.items()
    ]


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, CRLF read as LF: Git may change line ends."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


# Writing.


def write(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then one rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(text.encode("utf-8"))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_jsonl(path: Path, rows) -> None:
    """Write one JSON object a line."""
    write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
