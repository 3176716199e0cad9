"""Files on disk: read within bounds, written whole."""

import gzip
import os
import platform
import re
import secrets
import shutil
import stat
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from pathlib import Path

import yaml

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
