"""Rows with places: one reader of each form, one schema a file."""

import datetime
import hashlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from . import text as tokens
from .disk import Say, lines, page, write

ID = re.compile(r"[^\s/\\#]{1,1000}")
HIDDEN = {"Cc", "Cf", "Cs"}  # control characters, invisible ones, halves of surrogate pairs
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0f\uffa0]")  # invisible too
HALF = re.compile("[\ud800-\udfff]")
MOST = 100  # problems of a kind that are told; further ones are counted
FLOOD = 100_000  # problems after which reading ends
GRADES = (0, 1, 2)
WHO_READS = ("person", "model")
SPLITS = ("dev", "test")
POPULARITY = ("head", "tail")
NO_ANSWER = "none"  # the kind of a query that no document answers


class EvalSetError(ValueError):
    """Everything that is wrong with a folder, a line for each problem; `count` is how many.

    Bytes and half characters that no terminal can show stand as \\x and \\u.
    """

    def __init__(self, problems: list[str]):
        more = problems.more if isinstance(problems, Problems) else 0
        end = ", then reading stopped" * (len(problems) + more >= FLOOD)
        told = [*problems, *([f"and {more:,} more like these{end}"] if more else [])]
        self.problems = [line.encode("utf-8", "backslashreplace").decode() for line in told]
        self.count = len(problems) + more
        super().__init__("\n".join(self.problems))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook prints in place of a traceback: the problems are in the files."""
        return self.problems


class Problems(list):
    """Problems as they are found: MOST of each kind, which is what was wanted; `more` counts on.

    Raises EvalSetError at FLOOD problems: nobody waits for the rest.
    """

    def __init__(self):
        super().__init__()
        self.more, self.kinds = 0, Counter()

    def append(self, problem: str) -> None:
        """Keep a problem, or count it."""
        kind = problem.partition("wanted")[2][:40]
        self.kinds[kind] += 1
        if self.kinds[kind] <= MOST and len(self) < 10 * MOST:
            super().append(problem)
        else:
            self.more += 1
        if len(self) + self.more >= FLOOD:
            raise EvalSetError(self)

    def extend(self, problems: Iterable[str]) -> None:
        """Keep or count several."""
        for problem in problems:
            self.append(problem)

    def __iadd__(self, problems: Iterable[str]):
        self.extend(problems)
        return self


# Reading. A reader says what is wrong and goes on, so that one run reports everything.


def rows(path: Path | str, say: Say) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) for every line of a JSONL file that holds an object."""
    for place, line in lines(path, say):
        try:
            row = json_object(line)
        except ValueError as error:
            say(f"{place}: {error}")
        else:
            yield place, row


def parsed(line: str):
    """Return the value of a JSON text. Raises ValueError in words, also for a key that is twice."""
    try:
        return json.loads(line, object_pairs_hook=unlike)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"broken JSON ({why}), wanted one object a line") from None


def prose(path: Path, say: Say) -> str:
    """Return a page that people may leave out, "" where it is missing or cannot be read."""
    return (page(path, say) or "") if os.path.lexists(path) else ""


def unlike(pairs: list[tuple]) -> dict:
    """Return the object of (key, value) pairs. Raises ValueError for a key that stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        raise ValueError(f"key {max(counted, key=counted.get)[:60]} stands twice")
    return found


def json_object(line: str) -> dict:
    """Return the object of a JSON text. Raises ValueError: what was found and what is wanted."""
    row = parsed(line)
    if not isinstance(row, dict):
        raise ValueError(f"found {line.strip()[:40]}, wanted a JSON object such as {{...}}")
    return row


def object_of(path: Path, say: Say) -> dict:
    """Return the object of a JSON file, {} where it cannot be read, which is said."""
    content = page(path, say)
    try:
        return {} if content is None else json_object(content or "{}")
    except ValueError as error:
        say(f"{path}:1: {error}".replace("one object a line", "one object"))
        return {}


# Fields. A check is (does the value fit, what is wanted in words).


class Schema(NamedTuple):
    """The fields of a row by the names of their checks, and those that stand once in a file.

    `closed` refuses fields that it does not name.
    """

    needed: dict[str, str]
    optional: dict[str, str] = {}
    key: tuple[str, ...] = ()
    closed: bool = True


def is_id(value) -> bool:
    """Return whether a value can be an id: all of it is seen, nothing breaks a file or a line."""
    if not isinstance(value, str) or not ID.fullmatch(value) or value in (".", ".."):
        return False
    return (
        value.isascii()
        and value.isprintable()
        or not (UNSEEN.search(value) or HIDDEN & {*map(unicodedata.category, value)})
    )


def is_text_list(value) -> bool:
    """Return whether a value is a list of texts, none of them empty."""
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def has_half(value) -> bool:
    """Return whether a text, or one of a list, cannot be written: a lone surrogate, as \\ud800."""
    if isinstance(value, list):
        return any(map(has_half, value))
    return isinstance(value, str) and not value.isascii() and bool(HALF.search(value))


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


def is_label(value) -> bool:
    """Return whether a value is a label: letters and digits of any script, few other signs."""
    fits = isinstance(value, str) and value.strip() and len(value) <= 60
    return bool(fits) and all(
        c in " -_/.&+()" or unicodedata.category(c)[0] in "LMN" for c in value
    )


CHECKS = {
    "id": (is_id, "text of up to 1,000 characters, without spaces, slashes, # or invisible ones"),
    "text": (lambda v: isinstance(v, str) and v.strip(), "text that is not empty"),
    "label": (is_label, "1 to 60 letters, digits, spaces and -_/.&+()"),
    "ids": (
        lambda v: is_text_list(v) and len(set(v)) == len(v),
        "a list of different document ids",
    ),
    "texts": (is_text_list, "a list of texts"),
    "quotes": (lambda v: isinstance(v, str) or is_text_list(v), "a quote or a list of quotes"),
    "split": (lambda v: v in SPLITS, "dev or test"),
    "popularity": (lambda v: v in POPULARITY, "head or tail"),
    "round": (lambda v: type(v) is int and v > 0, "a number from 1"),
    "reader": (lambda v: v in WHO_READS, "person or model"),
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
DOCUMENT = {
    "kind": "label",
    "service": "label",
    "updated": "date",
    "version": "label",
    "copy_of": "id",
}
SCHEMAS = {
    "settings.json": Schema({}, {"words": "words", "highest_grade": "highest", "imported": "text"}),
    "corpus/*.md": Schema({"title": "text"}, DOCUMENT),
    "corpus.jsonl": Schema(
        {"doc_id": "id", "title": "any", "text": "any"}, DOCUMENT, ("doc_id",), closed=False
    ),
    "retrieval_queries.jsonl": Schema(
        {"query_id": "id", "query": "text", "relevant_doc_ids": "ids"},
        {"kind": "label", "popularity": "popularity", "split": "split", "answers": "texts"},
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
        {"reader": "reader"},
        (*PAIR, "round"),
    ),
    "negatives.jsonl": Schema({"query_id": "id", "easy": "ids", "hard": "ids"}, key=("query_id",)),
    "labelling.jsonl": Schema(
        {**TURN, "relevance": "grade"},
        {"evidence": "any", "repeat": "flag", "time": "any", "kind": "label"},
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
        if has_half(value):
            found.append(f"field {name} holds half of a surrogate pair, wanted whole characters")
        elif check and not check[0](value):
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


def pages(corpus: Path, say: Say) -> list[Path]:
    """Return the pages of a corpus folder; say which pages nobody reads, which have like names.

    Hidden folders are tools' own (.git, .ipynb_checkpoints).
    """
    for here, folders, names in os.walk(corpus):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        for file in (Path(here, name) for name in sorted(names)):
            page_like = file.suffix.lower() in (".md", ".markdown")
            if page_like and (file.parent != corpus or file.suffix != ".md"):
                say(f"{file}:1: is read by nobody, wanted {corpus / 'NAME.md'}")
    found = sorted(corpus.glob("*.md"))
    twins({file.stem: f"{file}:1" for file in found}, say, cases=True)
    return found


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


def twins(places: dict[str, str], say: Say, cases: bool) -> None:
    """Say of {id: place} which differ by Unicode form only, or with `cases` also by case only."""
    first: dict[str, str] = {}
    for name, place in places.items():
        shape = name if name.isascii() else unicodedata.normalize("NFC", name)
        shape = shape.casefold() if cases else shape
        other = first.setdefault(shape, name)
        if other != name:
            where = places[other].rpartition(":")[2]
            how = "case or Unicode form" if cases else "Unicode form"
            say(
                f"{place}: id {name} differs from {other} (line {where}) in {how} only, wanted "
                "ids that people can tell apart"
            )


# Writing.


def as_lines(rows: Iterable[dict]) -> str:
    """Return one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_jsonl(path: Path, rows: Iterable[dict]) -> None:
    """Write one JSON object a line."""
    write(path, as_lines(rows))
