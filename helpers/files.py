"""Files: lines and pages with their places, rows held against a schema, writing whole."""

import contextlib
import datetime
import errno
import gzip
import hashlib
import json
import os
import re
import secrets
import shutil
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import fastjsonschema
import yaml

FORMS = Path(__file__).resolve().parent.parent / "evals" / "schema"
MOST = 100  # problems of one kind that are shown; further ones are counted
ID = re.compile(r"[^\s/\\#]{1,1000}")
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how Python keeps a byte that it cannot decode
GRADES = (0, 1, 2)
GRADED = ("relevance", "first", "second", "final")  # fields that hold a grade
SPLITS = ("dev", "test")
NO_ANSWER = "none"  # the kind of a query that no document answers


class EvalSetError(ValueError):
    """Everything that is wrong with people's files, a line for each problem.

    `problems` shows MOST of each kind, which is what was wanted; `count` counts them all. Half
    characters, which no terminal can show, stand as \\u escapes.
    """

    def __init__(self, problems: Iterable[str]):
        told, kinds, self.count = [], Counter(), 0
        for problem in problems:
            kind = problem.partition("wanted")[2][:40]
            kinds[kind] += 1
            self.count += 1
            if kinds[kind] <= MOST and len(told) < 10 * MOST:
                told.append(problem.encode("utf-8", "backslashreplace").decode())
        more = self.count - len(told)
        self.problems = told + ([f"and {more:,} more like these"] if more else [])
        super().__init__("\n".join(self.problems))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook prints in place of a traceback: the problems are in the files."""
        return self.problems


# Reading. What is wrong goes into the list `problems` and reading goes on, so that one run tells
# everything; without a list the first problem is raised as EvalSetError.

Problems = list[str] | None


def tell(problems: Problems, problem: str) -> None:
    """Add a problem to the list, or raise it where there is none."""
    if problems is None:
        raise EvalSetError([problem])
    problems.append(problem)


def lines(
    path: Path | str, problems: Problems = None, newline: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) of a file, plain or .gz, without empty lines and byte-order mark.

    `newline` is that of open(): None ends a line at every kind of line end.
    """
    place = f"{path}:1"
    try:
        with _opened(path, newline) as file:
            for number, line in enumerate(file, 1):
                place = f"{path}:{number}"
                byte = None if line.isascii() else NOT_UTF8.search(line)
                if byte:
                    tell(problems, f"{place}: {_not_utf8(ord(byte[0]) & 0xFF)}")
                elif line.strip():
                    yield place, line.rstrip("\r\n")
    except (OSError, EOFError, zlib.error) as error:
        tell(problems, f"{place}: {_unreadable(error)}")


def _opened(path: Path | str, newline: str | None = None):
    """Open a text file; a pipe or a device, whose reading may never end, is an OSError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    opener = gzip.open if Path(path).suffix == ".gz" else open
    return opener(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def _not_utf8(byte: int) -> str:
    return f"byte 0x{byte:02x} is not UTF-8, save the file as UTF-8"


def _unreadable(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or error
    return f"cannot be read ({reason}), wanted a readable file"


def page(path: Path, problems: Problems = None) -> str | None:
    """Return a text file with its line ends as \\n, None where it cannot be read."""
    try:
        with _opened(path) as file:
            text = file.read()
    except (OSError, EOFError, zlib.error) as error:
        return tell(problems, f"{path}:1: {_unreadable(error)}")
    byte = NOT_UTF8.search(text)
    if byte:
        line = text.count("\n", 0, byte.start()) + 1
        return tell(problems, f"{path}:{line}: {_not_utf8(ord(byte[0]) & 0xFF)}")
    return text


def optional_page(path: Path, problems: Problems = None) -> str:
    """Return a page that people may leave out, "" where it is missing or cannot be read."""
    return (page(path, problems) or "") if os.path.lexists(path) else ""


def rows(path: Path | str, problems: Problems = None) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) for every line of a JSONL file that holds an object."""
    for place, line in lines(path, problems):
        try:
            row = json_object(line)
        except ValueError as error:
            tell(problems, f"{place}: {error}")
        else:
            yield place, row


def json_object(text: str, what: str = "one object a line") -> dict:
    """Return the object of a JSON text. Raises ValueError: what was found and what is wanted."""
    row = parsed(text, what)
    if not isinstance(row, dict):
        raise ValueError(f"found {text.strip()[:40]}, wanted a JSON object such as {{...}}")
    if "\\u" in text and (name := _broken_character(row)):
        raise ValueError(f"field {name} holds half of a surrogate pair, wanted whole characters")
    return row


def parsed(text: str, what: str = "one object a line"):
    """Return the value of a JSON text. Raises ValueError in words, also for a key that is twice."""
    try:
        return json.loads(text, object_pairs_hook=refuse_duplicate_keys)
    except RecursionError:
        raise ValueError(f"broken JSON (nested too deeply), wanted {what}") from None
    except ValueError as error:
        raise ValueError(f"broken JSON ({error}), wanted {what}") from None


def refuse_duplicate_keys(pairs: list[tuple]) -> dict:
    """Return the object of (key, value) pairs. Raises ValueError for a key that stands twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        raise ValueError(f"key {max(counted, key=counted.get)[:60]} stands twice")
    return row


def _broken_character(row: dict) -> str:
    """Return the first field with a lone surrogate, as \\ud800, which no file can hold."""
    for name, value in row.items():
        try:
            json.dumps({name: value}, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return name.encode("utf-8", "backslashreplace").decode()
    return ""


def json_page(path: Path, problems: Problems = None) -> dict:
    """Return the object of a JSON file, {} where it cannot be read or holds none."""
    text = page(path, problems)
    try:
        return {} if text is None else json_object(text or "{}", "one object")
    except ValueError as error:
        tell(problems, f"{path}:1: {error}")
        return {}


def front_matter(path: Path, text: str, problems: Problems = None) -> tuple[dict, str] | None:
    """Return the fields of a page's front matter, all as text, and the rest; None without one.

    A block that holds no fields gives {} and is a problem.
    """
    block = re.match(r"---\n(.*?\n)---[ \t]*(?:\n|$)", text, re.DOTALL)
    return (_yaml_fields(path, block[1], problems), text[block.end() :]) if block else None


def _yaml_fields(path: Path, block: str, problems: Problems) -> dict:
    try:
        fields = yaml.load(block, _TextLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error).partition("\n")[0]
        line = (mark.line if mark else 0) + 2
        tell(problems, f"{path}:{line}: bad front matter ({why}), wanted YAML")
        return {}
    if isinstance(fields, dict):
        return fields
    what = {str: "text", list: "a list"}.get(type(fields), "no fields")
    wanted = "wanted lines such as title: Roll back a deploy"
    tell(problems, f"{path}:2: bad front matter ({what}), {wanted}")
    return {}


class _TextLoader(yaml.BaseLoader):
    """YAML that keeps 2026-04-08, 2.0 and no as text and refuses a key that stands twice."""

    def construct_mapping(self, node, deep=False):
        names = Counter(str(key.value) for key, _ in node.value)
        for key, _ in node.value:
            if names[str(key.value)] > 1:
                problem = f"key {key.value} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        return super().construct_mapping(node, deep)


# Rows held against a schema. The form of each file stands in evals/schema, as JSON Schema with the
# words of what is wanted; what JSON Schema cannot say of a value is said here.


def is_id(value) -> bool:
    """Return whether a value can be an id: all of it is seen, nothing breaks a file or a line."""
    fits = isinstance(value, str) and ID.fullmatch(value) and value not in (".", "..")
    return bool(fits) and value.isprintable()


def is_label(value) -> bool:
    """Return whether a value is a label: letters and digits of any script, few other signs."""
    fits = isinstance(value, str) and value.strip() and len(value) <= 60
    return bool(fits) and all(
        c in " -_/.&+()" or unicodedata.category(c)[0] in "LMN" for c in value
    )


def is_date(value) -> bool:
    """Return whether a value is an ISO date as text."""
    try:
        return isinstance(value, str) and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


FORMATS = {"id": is_id, "label": is_label, "date": is_date}


class Schema:
    """The form of a row: `faults` says of each field what was found and what is wanted."""

    def __init__(self, schema: dict):
        self.fields, self.required = schema["properties"], schema.get("required", [])
        self.key = tuple(schema.get("uniqueTogether", []))
        self.closed = not schema.get("additionalProperties", True)
        self.graded = [name for name in GRADED if name in self.fields]
        self._fits = _validator(schema)
        draft = {"$schema": schema["$schema"]}
        self._field_fits = {name: _validator(field | draft) for name, field in self.fields.items()}

    def wanted(self, name: str, grades: tuple[int, ...] = GRADES) -> str:
        """Return in words what a field may hold, in a set that allows these grades."""
        if name not in self.graded:
            return self.fields[name]["description"]
        return grade_words(grades) + ", or null" * ("null" in self.fields[name]["type"])

    def fits(self, name: str, value: object) -> bool:
        """Return whether the row may have a field `name` with this value."""
        return name in self.fields and self._field_fits[name](value)

    def faults(self, row: dict, grades: tuple[int, ...] = GRADES) -> list[str]:
        """Return a line for every field of `row` that is missing, unknown or does not fit."""
        if self._fits(row) and not any(self._too_high(name, row, grades) for name in self.graded):
            return []
        missing = (name for name in self.required if name not in row)
        faults = [
            f"field {name} is missing, wanted {self.wanted(name, grades)}" for name in missing
        ]
        for name, value in row.items():
            if name not in self.fields:
                known = ", ".join(self.fields)
                faults += [f"field {name} is unknown, wanted one of: {known}"] * self.closed
            elif not self._field_fits[name](value) or self._too_high(name, row, grades):
                faults.append(f"field {name} is {shown(value)}, wanted {self.wanted(name, grades)}")
        return faults

    def _too_high(self, name: str, row: dict, grades: tuple[int, ...]) -> bool:
        grade = row.get(name) if name in self.graded else None
        return isinstance(grade, int) and grade > grades[-1]


def _validator(schema: dict) -> Callable[[object], bool]:
    validate = fastjsonschema.compile(schema, formats=FORMATS)

    def fits(value) -> bool:
        try:
            validate(value)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True

    return fits


def grade_words(grades: tuple[int, ...]) -> str:
    """Return which grades a set allows, in words."""
    if len(grades) >= 5:
        return f"a whole number from 0 to {grades[-1]}"
    more = " (more with highest_grade in settings.json)" if grades == GRADES else ""
    return f"{', '.join(map(str, grades[:-1]))} or {grades[-1]}{more}"


def shown(value) -> str:
    """Return the first 60 characters of a value as JSON."""
    parts = json.JSONEncoder(ensure_ascii=False).iterencode(value)  # an alias of YAML may be huge
    return "".join(islice(parts, 60))[:60]


@cache
def schema(name: str) -> Schema:
    """Return the schema of a file by its stem: judgments, pool; `page` is a front matter."""
    return Schema(json.loads((FORMS / f"{name}.schema.json").read_text(encoding="utf-8")))


def read(
    path: Path,
    problems: Problems = None,
    grades: tuple[int, ...] = GRADES,
    places: dict | None = None,
) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, row) of a file that has a schema, where it exists: rows without a fault.

    A link whose file is gone is no missing file: it is a problem. `places` is filled with
    {key of a row: its place}.
    """
    form, places = schema(path.stem), {} if places is None else places
    for place, row in rows(path, problems) if os.path.lexists(path) else ():
        faults = form.faults(row, grades)
        key = tuple(row.get(name) for name in form.key)
        if not faults and key and key in places:
            name = "the pair" if form.key == ("query_id", "doc_id") else " ".join(form.key)
            first = places[key].rpartition(":")[2]
            stands = f"{name} {' '.join(map(str, key))} stands already at line {first}"
            faults = [f"{stands}, wanted each once"]
        for fault in faults:
            tell(problems, f"{place}: {fault}")
        if not faults:
            if key:
                places[key] = place
            yield place, row


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, CRLF read as LF: Git may change line ends."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def database(path: Path | str = ":memory:"):
    """Open DuckDB, here an empty one in memory; it fetches no extension from the network."""
    import duckdb  # needed for tables only

    no = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), False)
    return duckdb.connect(str(path), config=no)


# Writing: whole or not at all. What is being written has a name of its own beside the file, which
# Git ignores; a killed process may leave it behind, and nobody reads it.


def write(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then one rename."""
    with new_file(path) as part, part.open("xb") as file:
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())


def as_lines(rows: Iterable[dict]) -> str:
    """Return one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_jsonl(path: Path, rows: Iterable[dict]) -> None:
    """Write one JSON object a line."""
    write(path, as_lines(rows))


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; it takes the place of `path` when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part(path)
    try:
        with _naming(path, part):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """Give a folder to fill; it takes the place of `to` when the block ends well.

    Otherwise nothing is left, neither of it nor of the folders above that were missing.
    """
    made = [folder for folder in to.parents if not folder.exists()]
    part, former = _part(to), _part(to)
    try:
        with _naming(to, part):
            part.mkdir(parents=True)
            yield part
            if to.exists():
                os.replace(to, former)
            os.replace(part, to)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        if former.exists() and not to.exists():
            os.replace(former, to)
        with contextlib.suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise
    shutil.rmtree(former, ignore_errors=True)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")


@contextlib.contextmanager
def _naming(path: Path, part: Path) -> Iterator[None]:
    """Let an error of the disk name the file that was wanted: a write names none, or the part."""
    try:
        yield
    except OSError as error:
        if error.errno and str(error.filename or part).startswith(str(part)):
            error.filename = os.fspath(path)
        raise
