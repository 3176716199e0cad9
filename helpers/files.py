"""Files: rows and pages read with their places, their fields checked, files written whole."""

import datetime
import gzip
import hashlib
import json
import os
import platform
import re
import secrets
import shutil
import stat
import time
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import yaml

from . import text as tokens

Say = Callable[[str], object]  # takes a problem and goes on
LONGEST = 16_000_000  # characters of a line or bytes of a page; War and Peace has 3.2 million
UNPACKED = 200  # times its size that a .gz may unpack to; text reaches 5 to 20
PIECE = 1_000_000  # characters
SMALL = 4_000_000  # characters after which that is looked at
BOMB = f"more than {UNPACKED} times its size, wanted text (unpack it yourself if it is)"
FRONT = 100_000  # characters of a front matter
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # how Python keeps a byte that it cannot decode
IRREGULAR = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
STAMPED = re.compile(
    r".+\.(?P<stamp>(?P<host>[\da-f]{8})-(?P<pid>\d+)-[\da-f]{8})\.(part|whole)", re.S
)
DAY = 86_400  # seconds after which the leftover of another machine is nobody's


# Reading.


def irregular(path: Path | str) -> str:
    """Return what a path is whose opening or reading may never end, "" for files and folders."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return ""  # opening it says why
    known = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return "" if known else IRREGULAR.get(stat.S_IFMT(mode), "a device")


def lines(path: Path | str, say: Say, newline: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) of a file, plain or .gz, without empty lines and byte-order mark.

    `newline` is that of open(): None ends a line at every kind of line end. Reading ends at a line
    over LONGEST and where a .gz unpacks to more than UNPACKED times its size.
    """
    for place, line in _taken(path, say, "readline", LONGEST + 1, newline):
        if len(line) > LONGEST:
            return say(f"{place}: the line is too long, {most('characters')}")
        if line.strip():
            yield place, line.rstrip("\r\n")


def pieces(path: Path | str, say: Say) -> Iterator[str]:
    """Yield the text of a file, plain or .gz, in pieces of PIECE characters."""
    for _, piece in _taken(path, say, "read", PIECE, "\n"):
        yield piece


def _taken(path, say: Say, how: str, size: int, newline: str | None) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) by calls of a file's `read` or `readline` with `size`."""
    place, line, total, look = f"{path}:1", 1, 0, SMALL
    if irregular(path):
        return say(f"{place}: is {irregular(path)}, wanted a regular file")
    try:
        with open(path, "rb") as raw, _unpacked(raw, path, newline) as file:
            for text in iter(partial(getattr(file, how), size), ""):
                if text == "\n" and total < look:  # a bomb of empty lines ends soon
                    line, total = line + 1, total + 1
                    continue
                place, total = f"{path}:{line}", total + len(text)
                byte = None if text.isascii() else NOT_UTF8.search(text)
                if total > look:
                    if total > SMALL + UNPACKED * raw.tell():
                        return say(f"{place}: the file unpacks to {BOMB}")
                    look = total + SMALL
                if byte:
                    place = f"{path}:{line + text.count(chr(10), 0, byte.start())}"
                    found = ord(byte[0]) & 0xFF
                    say(f"{place}: byte 0x{found:02x} is not UTF-8, save the file as UTF-8")
                else:
                    yield place, text
                line += text.count("\n")
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        say(f"{place}: cannot be read ({reason}), wanted a readable file")


def _unpacked(raw, path: Path | str, newline: str | None) -> TextIOWrapper:
    packed = gzip.GzipFile(fileobj=raw) if Path(path).suffix == ".gz" else raw
    return TextIOWrapper(packed, "utf-8-sig", "surrogateescape", newline)


def most(unit: str) -> str:
    """Return what is wanted of a line or page that is too long."""
    return f"wanted at most {LONGEST:,} {unit}"


def page(path: Path, say: Say) -> str | None:
    """Return a text file with its line ends as \\n, None where it cannot be read."""
    if irregular(path):
        return say(f"{path}:1: is {irregular(path)}, wanted a regular file")
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST + 1)
        if len(content) > LONGEST:
            return say(f"{path}:1: the file is too long, {most('bytes')}")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        say(f"{path}:{line}: byte 0x{byte:02x} is not UTF-8, save the file as UTF-8")
    except OSError as error:
        say(f"{path}:1: cannot be read ({error.strerror}), wanted a readable file")
    return None


def front_matter(path: Path, text: str, say: Say) -> tuple[dict, str] | None:
    """Return the fields of a page's front matter, all as text, and the rest; None without one.

    A block that holds no fields gives {} and is said.
    """
    front = re.match(r"---\n(.*?\n)---[ \t]*(?:\n|$)", text, re.DOTALL)
    return (_front_fields(path, front[1], say), text[front.end() :]) if front else None


def _front_fields(path: Path, block: str, say: Say) -> dict:
    try:
        fields = yaml.load(block, _Plain) if len(block) <= FRONT else len(block)
    except yaml.reader.ReaderError as error:
        line, wrong = block.count("\n", 0, error.position), f"character #x{error.character:04x}"
    except yaml.MarkedYAMLError as error:
        line, wrong = error.problem_mark.line, error.problem
    except RecursionError:
        line, wrong = 0, "nested too deeply"
    else:
        if isinstance(fields, dict):
            return fields
        what = {str: "text", list: "a list", int: f"{len(block):,} characters"}
        what = what.get(type(fields), "no fields")
        say(f"{path}:2: bad front matter ({what}), wanted lines such as title: Roll back a deploy")
        return {}
    say(f"{path}:{line + 2}: bad front matter ({wrong}), wanted YAML")
    return {}


class _Plain(yaml.BaseLoader):
    """YAML that keeps 2026-04-08, 2.0 and no as text, without aliases: a few make billions."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            alias = self.peek_event()
            wrong = f"*{alias.anchor} repeats a part, and aliases are not read"
            raise yaml.composer.ComposerError(None, None, wrong, alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value.__hash__ and key.value in seen:
                wrong = f"key {key.value} stands twice"
                raise yaml.constructor.ConstructorError(None, None, wrong, key.start_mark)
            seen.add(key.value if key.value.__hash__ else None)
        return super().construct_mapping(node, deep)


def database(path: Path | str = ":memory:"):
    """Open DuckDB, here an empty one in memory; it fetches no extension from the network."""
    import duckdb  # needed for tables only

    no = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), False)
    return duckdb.connect(str(path), config=no)


# Writing. What is being written has a name of its own, which says whose it is: NAME.STAMP.part.
# A file all.STAMP.whole says that all parts of a stamp are complete: then they only need their
# names, which anybody can finish.


def write(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then one rename."""
    with new_file(path) as part:
        _put(part, text.encode("utf-8"))


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; it takes the place of `path` when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    settle(path.parent)
    stamp = _stamp()
    part = _part(path, stamp)
    try:
        with _named(path, stamp):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _named(path: Path, stamp: str) -> Iterator[None]:
    """Let an error of the disk name the file that was wanted: a write names none, or a part."""
    try:
        yield
    except OSError as error:
        if error.errno and stamp in str(error.filename or stamp):
            error.filename = os.fspath(path)
        raise


def write_all(folder: Path, texts: dict[str, str]) -> None:
    """Write {name: text} into a folder: all or none, also if this process is killed meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    settle(folder)
    stamp = _stamp()
    parts = {_part(folder / name, stamp): text.encode("utf-8") for name, text in texts.items()}
    try:
        with _named(folder, stamp):
            for part, content in parts.items():
                _put(part, content)
            _put(_whole(folder, stamp), b"")
    except BaseException:
        for left in (_whole(folder, stamp), *parts):  # in this order: half a stamp is never whole
            left.unlink(missing_ok=True)
        raise
    _end(folder, stamp)


@contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """Give a folder to fill; it takes the place of `to` when the block ends well.

    Otherwise nothing is left, neither of it nor of the folders above that were missing.
    """
    made, stamp = [folder for folder in to.parents if not folder.exists()], _stamp()
    part = _part(to, stamp)
    to.parent.mkdir(parents=True, exist_ok=True)
    settle(to.parent)
    try:
        with _named(to, stamp):
            part.mkdir()
            yield part
            _put(_whole(to.parent, stamp), b"")
    except BaseException:
        _whole(to.parent, stamp).unlink(missing_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise
    _end(to.parent, stamp)


def settle(folder: Path) -> None:
    """Finish what killed writers left complete in a folder, and clear what they left half-done."""
    with suppress(FileNotFoundError, NotADirectoryError):
        left = [found for name in os.listdir(folder) if (found := STAMPED.fullmatch(name))]
        for found in left:
            if found[0].endswith(".whole"):
                _finish(folder, found["stamp"])
        for found in left:
            _clear(folder / found[0], found["host"], int(found["pid"]))


def _stamp() -> str:
    return f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _part(path: Path, stamp: str) -> Path:
    return path.with_name(f"{path.name}.{stamp}.part")


def _whole(folder: Path, stamp: str) -> Path:
    return folder / f"all.{stamp}.whole"


def _put(path: Path, content: bytes) -> None:
    with path.open("xb") as file:  # its mode is what the umask says
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _end(folder: Path, stamp: str) -> None:
    """Give all parts of a stamp their names, also those that an interrupt would leave out."""
    try:
        _finish(folder, stamp)
    except KeyboardInterrupt:
        _finish(folder, stamp)
        raise


def _finish(folder: Path, stamp: str) -> None:
    """Give all parts of a stamp their names. Another process may be at the same."""
    for part in sorted(folder.glob(f"*.{stamp}.part")):
        path = part.with_name(part.name.removesuffix(f".{stamp}.part"))
        with suppress(FileNotFoundError):
            if part.is_dir() and path.exists():
                _swap(part, path)
            else:
                os.replace(part, path)
    _whole(folder, stamp).unlink(missing_ok=True)


def _swap(part: Path, path: Path) -> None:
    """Let a folder take the place of another, which is cleared; a killed run clears it later."""
    aside = _part(path, _stamp())
    os.replace(path, aside)
    try:
        os.replace(part, path)
    except OSError:
        os.replace(aside, path)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _clear(path: Path, host: str, pid: int) -> None:
    """Remove a part that nobody writes any more, if that is sure and allowed."""
    with suppress(OSError):
        written = path.lstat().st_mtime
        held = _running(pid, written) if host == _host() else time.time() - written < DAY
        if not held:
            path.unlink() if path.is_symlink() or not path.is_dir() else shutil.rmtree(path)


def _running(pid: int, since: float) -> bool:
    """Return whether a process runs that may have run at a time: numbers are used again."""
    import psutil  # needed for leftovers only

    try:
        return psutil.Process(pid).create_time() < since + 2  # its clock is cut to seconds
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


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
