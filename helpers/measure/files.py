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
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import fastjsonschema
import yaml

from . import installation

FORMS = installation.SCHEMAS
MOST = 100  # problems of one kind that are shown; further ones are counted
ID = re.compile(r"[^\s/\\#]{1,1000}")
HALF = re.compile("[\ud800-\udfff]")  # half of a character; dc80 to dcff keep a byte not of UTF-8
GRADES = (0, 1, 2)
GRADED = ("relevance", "first", "second", "final")  # fields that hold a grade
SPLITS = ("dev", "test")
NO_ANSWER = "none"  # the kind of a query that no document answers


class EvalSetError(ValueError):
    """Everything that is wrong with people's files, a line for each problem.

    `problems` shows MOST of each kind, which is what was wanted; `count` counts them all.
    """

    def __init__(self, problems: str | Iterable[str]):
        kinds, self.problems = Counter(), []
        if isinstance(problems, str):
            problems = [problems]
        for problem in problems:
            kind = problem.partition("wanted")[2][:40]
            kinds[kind] += 1
            if kinds[kind] <= MOST:  # with what no terminal can show as an escape
                self.problems.append(problem.encode("utf-8", "backslashreplace").decode())
        self.count = kinds.total()
        if more := self.count - len(self.problems):
            self.problems.append(f"and {more:,} more like these")
        super().__init__("\n".join(self.problems))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook prints in place of a traceback: the problems are in the files."""
        return self.problems


# Reading. What is wrong goes into the list `problems` and reading goes on, so that one run tells
# everything; without a list the first problem is raised as EvalSetError.

Problems = list[str] | None
Row = tuple[str, dict]  # where it stands (file:line), and its fields
Rows = Iterable[Row]


def refuse(problems: list[str]) -> None:
    """Raise EvalSetError where there are problems."""
    if problems:
        raise EvalSetError(problems)


def add_problem(problems: Problems, problem: str) -> None:
    """Add a problem to the list, or raise it where there is none."""
    if problems is None:
        raise EvalSetError(problem)
    problems.append(problem)


def lines(path: Path | str, problems: Problems = None, newline=None) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) of a file, plain or .gz, without empty lines and byte-order mark.

    `newline` is that of open(): None ends a line at every kind of line end.
    """
    for place, line in _whole_lines(path, problems, newline):
        if line.strip():
            yield place, line.rstrip("\r\n")


def page(path: Path, problems: Problems = None) -> str | None:
    """Return a text file with its line ends as \\n, None where it cannot be read."""
    before = len(problems or [])
    text = "".join(line for _, line in _whole_lines(path, problems))
    return None if len(problems or []) > before else text


def _whole_lines(path: Path | str, problems: Problems, newline=None) -> Iterator[tuple[str, str]]:
    place, remedy = f"{path}:1", "save the file as UTF-8"
    opener = partial(gzip.open if str(path).endswith(".gz") else open, path)
    try:
        how = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": newline}
        with opener("rt", **how) as file:
            for number, line in enumerate(file, 1):
                place = f"{path}:{number}"
                if byte := HALF.search(line):
                    code = ord(byte[0]) & 0xFF
                    add_problem(problems, f"{place}: byte 0x{code:02x} is not UTF-8, {remedy}")
                else:
                    yield place, line
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        add_problem(problems, f"{place}: cannot be read ({reason}), wanted a readable file")


def optional_page(path: Path, problems: Problems = None) -> str:
    """Return a page that people may leave out, "" where it is missing or cannot be read."""
    return (page(path, problems) or "") if os.path.lexists(path) else ""


def rows(path: Path | str, problems: Problems = None) -> Rows:
    """Yield (file:line, object) for every line of a JSONL file that holds an object."""
    for place, line in lines(path, problems):
        try:
            yield place, json_object(line)
        except ValueError as error:
            add_problem(problems, f"{place}: {error}")


def plain_rows(path: Path) -> list[dict]:
    """Return the objects of a JSONL file, none where there is none. Raises EvalSetError."""
    return [row for _, row in rows(path)] if os.path.lexists(path) else []


def json_page(path: Path, problems: Problems = None) -> dict:
    """Return the object of a JSON file, {} where it is empty, cannot be read or holds none."""
    text = page(path, problems) or "{}"
    try:
        return json_object(text, "one object")
    except ValueError as error:
        add_problem(problems, f"{path}:1: {error}")
        return {}


def json_object(text: str, what: str = "one object a line") -> dict:
    """Return the object of a JSON text. Raises ValueError: what was found and what is wanted."""
    try:
        row = json.loads(text, object_pairs_hook=object_without_doubles)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"broken JSON ({reason}), wanted {what}") from None
    if not isinstance(row, dict):
        raise ValueError(f"found {text.strip()[:40]}, wanted a JSON object such as {{...}}")
    if "\\u" in text:
        for name, value in row.items():
            if HALF.search(json.dumps([name, value], ensure_ascii=False)):
                raise ValueError(
                    f"field {name} holds half of a surrogate pair, wanted whole characters"
                )
    return row


def object_without_doubles(pairs: list[tuple]) -> dict:
    row = dict(pairs)
    if len(row) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"key {key[:60]} stands twice")
    return row


def front_matter(path: Path, text: str, problems: Problems = None) -> tuple[dict, str] | None:
    """Return the fields of a page's front matter, all as text, and the rest; None without one.

    A block that holds no fields gives {} and is a problem.
    """
    block = re.match(r"---\n(.*?\n)---[ \t]*(?:\n|$)", text, re.DOTALL)
    if not block:
        return None
    try:
        loader = _Fields(block[1])
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise ValueError(f"{node.id if node else 'nothing'} is no field")
        fields = object_without_doubles(loader.construct_pairs(node, deep=True))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 2
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        wanted = "wanted YAML lines such as title: 'Deploys: roll one back'"
        add_problem(problems, f"{path}:{line}: bad front matter ({reason}), {wanted}")
        fields = {}
    return fields, text[block.end() :]


class _Fields(yaml.BaseLoader):
    """Reads 2026-04-08, 2.0 and no as text, and no anchor: aliases of aliases grow without end."""

    def compose_node(self, parent, index):
        event = self.peek_event()
        if anchor := getattr(event, "anchor", None):
            problem = f"found the anchor {anchor}, wanted none"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)


# Rows held against a schema. The form of each file stands in evals/schema, as JSON Schema with the
# words of what is wanted; what JSON Schema cannot say of a value is said here.


def is_id(value: str) -> bool:
    """Return whether a text can be an id: all of it is seen, nothing breaks a file or a line."""
    return bool(ID.fullmatch(value)) and value.isprintable() and value not in (".", "..")


def _is_label(value: str) -> bool:
    """Return whether a text is a label: letters and digits of any script, few other signs."""
    signs = (c for c in value if unicodedata.category(c)[0] not in "LMN")
    return bool(value.strip()) and all(sign in " -_/.&+()" for sign in signs)


FORMATS = {"id": is_id, "label": _is_label, "date": datetime.date.fromisoformat}


class Schema:
    """The form of a row: `faults` says of each field what was found and what is wanted."""

    def __init__(self, schema: dict):
        self.fields, self.required = schema["properties"], schema.get("required", [])
        self.key = tuple(schema.get("uniqueTogether", []))
        self.is_closed = not schema.get("additionalProperties", True)
        self._validate = {
            name: fastjsonschema.compile({"$schema": schema["$schema"], **field}, formats=FORMATS)
            for name, field in self.fields.items()
        }

    def wanted(self, name: str) -> str:
        """Return in words what a field may hold."""
        return self.fields[name]["description"]

    def fits(self, name: str, value: object, grades: tuple[int, ...] = GRADES) -> bool:
        """Return whether the row may have a field `name` with this value, which NaN never is."""
        try:
            self._validate[name](value)
        except (KeyError, ValueError):
            return False
        return value == value and (name not in GRADED or value is None or value <= grades[-1])

    def faults(self, row: dict, grades: tuple[int, ...] = GRADES) -> list[str]:
        """Return a line for every field of `row` that is missing, unknown or does not fit."""
        faults = [
            f"field {name} is missing, wanted {self.wanted(name)}"
            for name in self.required
            if name not in row
        ]
        for name, value in row.items():
            if name in self.fields and not self.fits(name, value, grades):
                wanted = self.wanted(name)
                if self.fits(name, value, (value,)):
                    wanted = too_high(value, grades[-1], "settings.json")
                faults.append(f"field {name} is {short_json(value)}, wanted {wanted}")
            elif name not in self.fields and self.is_closed:
                known = ", ".join(self.fields)
                faults.append(f"field {name} is unknown, wanted one of: {known}")
        return faults


def too_high(grade: int, highest: int, where: str) -> str:
    """Return what is wanted of a grade above the highest one."""
    return f'at most {highest}, unless {where} has "highest_grade": {grade}'


def short_json(value) -> str:
    """Return the first 60 characters of a value as JSON."""
    return json.dumps(value, ensure_ascii=False)[:60]


@cache
def schema(name: str) -> Schema:
    """Return the schema of a file by its stem: judgments, pool; `page` is a front matter."""
    return Schema(json.loads((FORMS / f"{name}.schema.json").read_text(encoding="utf-8")))


def read(
    path: Path, problems: Problems = None, grades=GRADES, places: dict | None = None, name=""
) -> Rows:
    """Yield (file:line, row) of a file that has a schema, where it exists: rows without a fault.

    A link whose file is gone is no missing file: it is a problem. `places` is filled with
    {key of a row: its place}. `name` is that of the schema of a file that must exist and is named
    otherwise.
    """
    form, places = schema(name or path.stem), {} if places is None else places
    if not (name or os.path.lexists(path)):
        return
    for place, row in rows(path, problems):
        faults = form.faults(row, grades)
        key = tuple(row.get(name) for name in form.key)
        if key and not faults and places.setdefault(key, place) != place:
            line = places[key].rpartition(":")[2]
            name = f"{' and '.join(form.key)} {' '.join(map(str, key))}"
            faults = [f"{name} stands already at line {line}, wanted each once"]
        for fault in faults:
            add_problem(problems, f"{place}: {fault}")
        if not faults:
            yield place, row


def read_settings(path: Path, problems: list[str]) -> dict:
    """Return what settings.json says, {} where it is missing or has a fault."""
    settings = json_page(path, problems) if os.path.lexists(path) else {}
    faults = schema("settings").faults(settings)
    full, highest = settings.get("full_grade", 0), settings.get("highest_grade", GRADES[-1])
    if not faults and full > highest:
        faults.append(f"field full_grade is {full}, wanted {too_high(full, highest, 'it')}")
    problems += [f"{path}:1: {fault}" for fault in faults]
    return {} if faults else settings


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

SYSTEM = (Path("/dev"), Path("/proc"))  # their links are no file's: /dev/stdout


def write(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then one rename.

    A pipe or a device is written to where it stands. Raises OSError for a folder.
    """
    content = text.encode("utf-8")
    if _is_special(path):
        sys.stdout.flush()  # it may be the same one
        with path.open("ab") as stream:  # which a folder refuses
            stream.write(content)
        return
    with new_file(path) as part, part.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _is_special(path: Path) -> bool:
    """Return whether a path is no file: a folder, a pipe, a device, or a link like /dev/stdout."""
    if path.is_symlink() and any(home in SYSTEM for home in path.absolute().parents):
        return True
    return path.exists() and not path.is_file()


def as_lines(rows: Iterable[dict]) -> str:
    """Return one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_jsonl(path: Path, rows: Iterable[dict]) -> None:
    """Write one JSON object a line."""
    write(path, as_lines(rows))


def write_json(path: Path, page: object) -> None:
    """Write one JSON page, a line for each value."""
    write(path, json.dumps(page, indent=1, ensure_ascii=False) + "\n")


def half_line(content: bytes) -> bytes:
    """Return the last line of a JSONL file that a killed process left half written, else b"".

    It has no end and holds no object.
    """
    last = content.rpartition(b"\n")[2]
    try:
        if last.strip():
            json.loads(last.decode("utf-8-sig"))
    except ValueError:  # also of half a character
        return last
    return b""


def append_row(path: Path, row: dict) -> None:
    """Write one JSON object behind the lines of a file; when this returns, it is on disk.

    A half-written last line goes, what stands before it stays. Raises OSError, and leaves no part
    of the row, where it cannot be written whole.
    """
    content = path.read_bytes() if path.exists() else b""
    whole = content.removesuffix(half_line(content))
    line = as_lines([row]).encode("utf-8")
    if whole and not whole.endswith(b"\n"):
        line = b"\n" + line
    with path.open("ab", buffering=0) as file:
        file.truncate(len(whole))
        try:
            if file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(len(whole))
            raise


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; it takes the place of `path` when the block ends well."""
    home = next(folder for folder in path.parents if folder.is_dir())
    part = home / f"{path.name}.{secrets.token_hex(4)}.part"
    try:
        yield part
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, path)
    except OSError as error:
        if error.errno and str(error.filename or part).startswith(str(part)):
            error.filename = os.fspath(path)  # a write names no file, or the part
        raise
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """Give a folder to fill; it becomes `to` when the block ends well.

    Raises OSError where `to` is neither missing nor an empty folder by then.
    """
    with new_file(to) as part:
        part.mkdir()
        yield part
        with contextlib.suppress(FileNotFoundError):
            to.rmdir()  # which no full folder lets happen
