"""Seeded ways to break one file of a set, run or source, or the machine below a command.

Each takes (rng, path) and returns (what was done, whether it must be refused), or None where it
does not fit the file. Plain `random` is enough: a trial is one named edit, nothing is to shrink.
"""

import datetime
import gzip
import json
import os
import re
import shutil
import unicodedata
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import duckdb
import pandas as pd

REFUSE, ANY = True, False
Done = tuple[str, bool] | None
OPERATORS: dict[str, Callable[[Random, Path], Done]] = {}

JUNK = {
    "NUL": b"\0",
    "BOM": b"\xef\xbb\xbf",
    "CR": b"\r",
    "Latin-1": b"\xe9",
    "half a surrogate": b"\xed\xa0\x80",
    "ANSI": b"\x1b[2J",
    "bidi": "\u202e".encode(),
    "line separator": "\u2028".encode(),
    "quote": b'"',
    "brace": b"}",
    "tab": b"\t",
    "line end": b"\n",
    "script": b"<img src=x onerror=alert(1)>",
}
ODD_TEXTS = {
    "..": "..",
    ".": ".",
    "NUL": "a\0b",
    "zero width": "a\u200bb",
    "bidi": "a\u202eb",
    "ANSI": "a\x1b[31mb",
    "slash": "a/b",
    "space": "a b",
    "empty": "",
    "blank": " ",
    "no-break space": "a\u00a0b",
    "lone surrogate": "a\ud800b",
    "long": "x" * 5_000,
    "markup": "<script>alert(1)</script>",
    "link": "[a](javascript:alert(1))",
    "comma": "a,b",
    "quote": "a\"b'c",
    "line end": "a\nb",
    "percent": "a%2Fb%",
    "pipe": "a|b",
    "hash": "a#1",
    "formula": "=1+1",
    "con": "con",
}
HIDDEN = {"..", ".", "NUL", "zero width", "bidi", "ANSI", "slash", "space", "empty", "blank"}
HIDDEN |= {"no-break space", "lone surrogate", "line end"}
VALUES = [None, True, 5, -1, 1.5, "", "text", [], {}, [1], [""], [["a"]], {"a": 1}, 10**400, 1e300]
SCORES = "nan NaN inf -inf 1e999 text 0x10 1_000 -0 1e-320 ٣ 1,5".split() + [
    "9" * 400,
    "0." + "1" * 400,
]
BAD_SCORES = {"nan", "NaN", "inf", "-inf", "1e999", "text", "0x10", "1,5", "9" * 400}
IDS = ("query_id", "doc_id", "_id", "docid", "docno", "id")


def operator(change: Callable[[Random, Path], Done]) -> Callable[[Random, Path], Done]:
    """Enter a function into OPERATORS under its name in words."""
    OPERATORS[change.__name__.replace("_", " ")] = change
    return change


def broken(path: Path) -> bool:
    """Return whether no reader of its kind can take the file as it is: an oracle of its own."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return True
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        return not data[:4] == data[-4:] == b"PAR1"
    if name.endswith(".duckdb"):
        return False
    try:
        text = data.decode("utf-8-sig").replace("\r", "\n")  # some readers end lines there
        if name.endswith((".json", ".ipynb")):
            return not isinstance(json.loads(text), list if "hotpot" in name else dict)
        if name.endswith(".jsonl"):
            whole = text if name != "labelling.jsonl" else text[: text.rfind("\n") + 1]  # torn end
            return any(not _is_object(line) for line in whole.split("\n") if line.strip())
    except (ValueError, RecursionError):
        return True
    if name.endswith((".trec", ".run")) and not name.startswith("qrels"):
        return any(len(line.split()) not in (0, 6) for line in text.split("\n"))
    return False


def _is_object(line: str) -> bool:
    doubled = []

    def no_twins(pairs):
        doubled.extend([1] * (len(dict(pairs)) < len(pairs)))
        return dict(pairs)

    return isinstance(json.loads(line, object_pairs_hook=no_twins), dict) and not doubled


def _bytes(path: Path, data: bytes, what: str) -> Done:
    if data == path.read_bytes():
        return None
    path.write_bytes(data)
    return what, broken(path)


# Bytes of any file.


@operator
def cut(rng: Random, path: Path) -> Done:
    data = path.read_bytes()
    end = rng.randrange(len(data))
    return _bytes(path, data[:end], f"after byte {end} of {len(data)}")


@operator
def flip(rng: Random, path: Path) -> Done:
    data, places = bytearray(path.read_bytes()), []
    for _ in range(rng.choice((1, 1, 3))):
        places.append(rng.randrange(len(data)))
        data[places[-1]] ^= 1 << rng.randrange(8)
    return _bytes(path, bytes(data), f"a bit at {places}")


@operator
def insert(rng: Random, path: Path) -> Done:
    data, name = path.read_bytes(), rng.choice(list(JUNK))
    at = rng.choice((0, rng.randrange(len(data)), len(data)))
    return _bytes(path, data[:at] + JUNK[name] + data[at:], f"{name} at byte {at}")


@operator
def leave_out(rng: Random, path: Path) -> Done:
    data = path.read_bytes()
    at, many = rng.randrange(len(data)), rng.choice((1, 2, 30))
    return _bytes(path, data[:at] + data[at + many :], f"{many} bytes at {at}")


@operator
def whole(rng: Random, path: Path) -> Done:
    data = path.read_bytes()
    name, text = rng.choice(
        [
            ("empty", b""),
            ("blank lines", b"\n \n\n"),
            ("noise", rng.randbytes(300)),
            ("brace", b"{"),
            ("list", b"[]"),
            ("object", b"{}"),
            ("null", b"null"),
            ("number", b"7"),
            ("text", b"just text\n"),
            ("UTF-16", data.decode("utf-8", "replace").encode("utf-16")),
            ("Latin-1", b"# Caf\xe9\n" + data),
            ("twice", data + data),
            ("Windows line ends", data.replace(b"\n", b"\r\n")),
            ("old Mac line ends", data.replace(b"\n", b"\r")),
            ("deep list", b"[" * 100_000),
            ("deep object", b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
            ("one long line", b"x" * 3_000_000),
        ]
    )
    return _bytes(path, text, name)


# Lines.


@operator
def lines(rng: Random, path: Path) -> Done:
    rows = path.read_bytes().splitlines(keepends=True)
    if len(rows) < 2 or path.suffix == ".gz":
        return None
    a, b = rng.sample(range(len(rows)), 2)
    what = rng.choice(("twice", "removed", "swapped", "thousandfold"))
    if what == "swapped":
        rows[a], rows[b] = rows[b], rows[a]
    else:
        rows[a : a + 1] = [rows[a]] * {"twice": 2, "removed": 0, "thousandfold": 1000}[what]
    done = _bytes(path, b"".join(rows), f"{a + 1} {what}")
    keyed = path.name in KEYED or path.suffix in (".trec", ".run")
    return done and (done[0], done[1] or (keyed and what in ("twice", "thousandfold")))


KEYED = {f"{name}.jsonl" for name in ("corpus", "retrieval_queries", "judgments", "pool", "run")}
KEYED |= {"second_pass.jsonl", "negatives.jsonl"}


def _row(rng: Random, path: Path) -> tuple[list[str], int, dict] | None:
    """Return the lines of a JSONL file, a number and the object there; None for other files."""
    if path.suffix != ".jsonl":
        return None
    rows = path.read_text(encoding="utf-8").splitlines()
    number = rng.randrange(len(rows))
    return rows, number, json.loads(rows[number])


def _put_row(path: Path, rows: list[str], number: int, row: dict | str) -> None:
    rows[number] = row if isinstance(row, str) else json.dumps(row)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


SET_FILES = KEYED - {"run.jsonl", "corpus.jsonl"} | {"labelling.jsonl"}


def _strict(path: Path, name: str) -> bool:
    """Return whether a value of another type must be refused there, and no reader may skip it."""
    in_set = path.name in SET_FILES or (path.name == "corpus.jsonl" and path.parent.name == "table")
    return in_set or path.name == "run.jsonl" or name in IDS


@operator
def retype(rng: Random, path: Path) -> Done:
    found = _row(rng, path)
    if not found:
        return None
    rows, number, row = found
    name, value = rng.choice(list(row)), rng.choice(VALUES)
    other = type(value) is not type(row[name]) and not (name == "first" and value is None)
    other = other and not (name in IDS and isinstance(value, int) and path.name not in SET_FILES)
    strict = other and _strict(path, name) and name != "metadata"
    _put_row(path, rows, number, row | {name: value})
    return f"{name} of line {number + 1} as {str(value)[:20]}", strict


@operator
def field(rng: Random, path: Path) -> Done:
    found = _row(rng, path)
    if not found:
        return None
    rows, number, row = found
    name, what = rng.choice(list(row)), rng.choice(("missing", "renamed", "extra", "stands twice"))
    if what == "stands twice":
        _put_row(path, rows, number, json.dumps(row)[:-1] + f', "{name}": "other"}}')
        return f"{name} {what}", REFUSE
    value = row[name]
    if what != "extra":
        del row[name]
    row |= {"missing": {}, "renamed": {name.upper(): value}, "extra": {"colour": "red"}}[what]
    _put_row(path, rows, number, row)
    closed = path.name in SET_FILES and what != "missing"
    gone = what in ("missing", "renamed") and name in IDS and path.name != "labelling.jsonl"
    return f"{name} {what}", closed or gone


@operator
def id_changed(rng: Random, path: Path) -> Done:
    found = _row(rng, path)
    names = [name for name in IDS if found and isinstance(found[2].get(name), str)]
    if not names:
        return None
    rows, number, row = found
    name, what = rng.choice(names), rng.choice(("unknown", "upper case", "full width", *ODD_TEXTS))
    forms = {"unknown": "zz-9", "upper case": row[name].upper(), **ODD_TEXTS}
    forms["full width"] = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in row[name])
    _put_row(path, rows, number, row | {name: forms[what]})
    own = path.name in SET_FILES - {"retrieval_queries.jsonl"}
    alien = own and (what in HIDDEN or (what != "upper case" or row[name] != forms[what]))
    return f"{name} of line {number + 1}: {what}", alien or (
        what in HIDDEN and path.name in (*SET_FILES, "corpus.jsonl") and path.parent.name in SETS
    )


SETS = ("graded", "bare", "table")


@operator
def twin(rng: Random, path: Path) -> Done:
    found = _row(rng, path)
    names = [name for name in IDS if found and isinstance(found[2].get(name), str)]
    if not names:
        return None
    rows, number, row = found
    twins = {"upper case": row[names[0]].upper(), "zero width": row[names[0]] + "\u200d"}
    twins["decomposed"] = unicodedata.normalize("NFD", row[names[0]] + "é")
    what = rng.choice(list(twins))
    if twins[what] == row[names[0]]:
        return None
    first = row | {names[0]: row[names[0]] + "é"} if what == "decomposed" else row
    rows.append(json.dumps(row | {names[0]: twins[what]}))
    _put_row(path, rows, number, first)
    table = path.name == "corpus.jsonl" and path.parent.name in SETS and what != "upper case"
    return f"{names[0]} {what}", path.name in SET_FILES or table


@operator
def odd_text(rng: Random, path: Path) -> Done:
    found = _row(rng, path)
    names = [n for n in (found or [0, 0, {}])[2] if n not in IDS and isinstance(found[2][n], str)]
    if not names:
        return None
    rows, number, row = found
    name, what = rng.choice(names), rng.choice(list(ODD_TEXTS))
    _put_row(path, rows, number, row | {name: ODD_TEXTS[what]})
    label = name == "kind" and what in HIDDEN - {"..", ".", "slash", "space"}
    return f"{name} of line {number + 1}: {what}", name == "split" or label


@operator
def number(rng: Random, path: Path) -> Done:
    found = _row(rng, path)
    if not found:
        return None
    rows, number, row = found
    value = rng.choice(("9" * 5_000, "-9", "1e999", "NaN", "-Infinity", "1.0", "[" * 50_000))
    line = re.sub(
        r"(: |, )-?\d+(\.\d+)?(?=[],}])", lambda m: m[1] + value, json.dumps(row), count=1
    )
    if line == json.dumps(row):
        return None
    _put_row(path, rows, number, line)
    strict = path.name in (*SET_FILES, "run.jsonl") and value not in ("-9", "1.0")
    return f"{value[:9]} at line {number + 1}", strict


# JSON as a whole, TREC runs, tables with tabs, pages with front matter.


@operator
def node(rng: Random, path: Path) -> Done:
    if path.suffix not in (".json", ".ipynb"):
        return None
    tree = json.loads(path.read_text(encoding="utf-8"))
    at, trail = tree, []
    while True:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        trail.append(str(key))
        if not isinstance(at[key], dict | list) or not at[key] or rng.random() < 0.3:
            break
        at = at[key]
    if rng.random() < 0.3:
        del at[key]
        what = "removed"
    else:
        at[key], what = (value := rng.choice(VALUES)), f"as {str(value)[:20]}"
    path.write_text(json.dumps(tree), encoding="utf-8")
    hashes = trail[-1].endswith("sha256") or (path.name == "manifest.json" and trail[0] == "files")
    return f"{'/'.join(trail)} {what}", hashes


@operator
def column(rng: Random, path: Path) -> Done:
    if path.suffix not in (".trec", ".run", ".tsv") and not path.name.startswith("qrels"):
        return None
    rows = path.read_text(encoding="utf-8").splitlines()
    number, is_run = rng.randrange(len(rows)), path.suffix in (".trec", ".run")
    tab = "\t" if "\t" in rows[number] else " "
    cells = rows[number].split(tab)
    what = rng.choice(("removed", "added", "separator", "value", "score"))
    at = (4 if is_run else len(cells) - 1) if what == "score" else rng.randrange(len(cells))
    value = rng.choice(SCORES if what == "score" else [*ODD_TEXTS.values(), "zz-9", "Q1"])
    if value.count("\ud800"):
        return None
    if what in ("removed", "added"):
        cells[at : at + 1] = [] if what == "removed" else [cells[at], "more"]
    elif what != "separator":
        cells[at] = value
    rows[number] = (rng.choice(",;\u00a0\x1f\u2003") if what == "separator" else tab).join(cells)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    shown = f" as {value[:12]!r}" if what in ("value", "score") else ""
    refuse = is_run and ((what == "score" and value in BAD_SCORES) or broken(path))
    return f"{at + 1} of line {number + 1} {what}{shown}", refuse


ODD_COLUMNS = {  # what stands in row n
    "null": lambda n: None,
    "numbers": lambda n: n,
    "fractions": lambda n: n + 0.5,
    "truths": lambda n: n % 2 == 0,
    "bytes": lambda n: bytes([255, n]),
    "lists": lambda n: [f"a{n}"],
    "structs": lambda n: {"a": n},
    "days": lambda n: datetime.date(2026, 4, 1 + n),
    "the same": lambda n: "a",
    "one odd text": None,
}


@operator
def parquet(rng: Random, path: Path) -> Done:
    """Change a column of a Parquet file: its type, a value, its name, or that it is there."""
    if path.suffix != ".parquet":
        return None
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path)).df()
        name, what = rng.choice(list(rows)), rng.choice(("removed", "renamed", *ODD_COLUMNS))
        if what == "removed":
            del rows[name]
        elif what == "renamed":
            rows = rows.rename(columns={name: name.upper()})
        elif what == "one odd text":
            odd = rng.choice([text for text in ODD_TEXTS if text not in ("lone surrogate", "NUL")])
            rows.loc[0, name], what = ODD_TEXTS[odd], f"{what}: {odd}"
        else:
            rows[name] = pd.Series([ODD_COLUMNS[what](n) for n in range(len(rows))], dtype=object)
        connection.from_df(rows).write_parquet(str(path))
    unfit = what in ("removed", "null", "the same", "lists", "structs") or what.endswith(": empty")
    return f"{name} {what}", name in IDS and unfit


FRONTS = {
    "alias bomb": "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
    "alias of itself": "kind: &a [*a]\n",
    "deep": "kind: " + "[" * 3_000 + "\n",
    "deep and closed": "kind: " + "[" * 3_000 + "]" * 3_000 + "\n",
    "key twice": "title: One more\n",
    "tag": "kind: !!python/object/apply:os.system [touch owned]\n",
    "tab": "\tkind: x\n",
    "list as key": "? [a, b]\n: c\n",
    "number as key": "5: c\n",
    "other date": "updated: 2026-13-45\n",
    "list as title": "title: [a]\n",
    "unknown field": "colour: red\n",
    "ANSI": 'service: "\\e[2J"\n',
    "NUL": 'service: "\\0"\n',
    "surrogate": 'service: "\\ud800"\n',
    "markup": 'kind: "<img src=x onerror=alert(1)>"\n',
    "merge": "<<: {kind: x}\n",
    "second document": "...\n--- more\n",
    "million fields": "".join(f"f{n}: x\n" for n in range(20_000)),
}
FINE = {"ANSI", "NUL"}


@operator
def front_matter(rng: Random, path: Path) -> Done:
    text = path.read_text(encoding="utf-8") if path.suffix == ".md" else ""
    if not text.startswith("---\n"):
        return None
    what = rng.choice(list(FRONTS))
    lines = FRONTS[what]
    for name in re.findall(r"(?m)^([a-z]+): ", lines) if what != "key twice" else ():
        text = re.sub(rf"(?m)^{name}: .*\n", "", text, count=1)
    path.write_text(text.replace("---\n", "---\n" + lines, 1), encoding="utf-8")
    return what, path.parent.name == "corpus" and what not in FINE


@operator
def many(rng: Random, path: Path) -> Done:
    """A file that is far too long: problems, unknown ids or one long text."""
    if rng.random() < 0.7 or path.suffix not in (".jsonl", ".trec", ".run", ".tsv", ".txt"):
        return None
    first = path.read_text(encoding="utf-8").splitlines()[-1]
    what = rng.choice(("the same line", "bad lines", "unknown ids"))
    old = re.search(r"[\w-]+-full|q\d", first)
    name = old[0] if old else first
    rows = {
        "the same line": lambda n: first,
        "bad lines": lambda n: "{",
        "unknown ids": lambda n: first.replace(name, f"zz{n}"),
    }[what]
    with path.open("a", encoding="utf-8") as file:
        most = 500 if path.name == "retrieval_queries.jsonl" else 60_000  # each asks five rankers
        file.writelines(rows(n) + "\n" for n in range(most))
    return what, ANY if path.name == "labelling.jsonl" or path.suffix == ".txt" else broken(path)


# Files.


@operator
def replaced(rng: Random, path: Path) -> Done:
    data = path.read_bytes()
    path.unlink()
    what = rng.choice(("folder", "dangling link", "loop", "removed"))
    if what == "folder":
        path.mkdir()
    elif what != "removed":
        path.symlink_to("gone" if what == "dangling link" else path.name)
    if what == "removed" and path.parent.name != "trial" and rng.random() < 0.3:
        shutil.move(path.parent, path.parent.with_name("moved"))  # the whole folder is not there
        return "its folder removed", ANY
    optional = what == "removed" or path.parent.name == "corpus"
    tree = path.parents[-2].name in ("markdown", "text", "code") if len(path.parents) > 1 else False
    return f"by {what}" if data else what, not optional and not tree


@operator
def more_files(rng: Random, path: Path) -> Done:
    names = {
        "ending in capitals": f"{path.stem}2{path.suffix.upper()}",
        "other ending": f"{path.stem}3.markdown",
        "not UTF-8": os.fsdecode(b"caf\xe9" + path.suffix.encode()),
        "twin": path.name.upper(),
        "hidden": f".{path.name}",
        "a copy in a folder": f"sub/{path.name}",
        "part": f"{path.name}.part",
        "backup": f"{path.name}~",
        "line end": f"a\nb{path.suffix}",
        "ANSI": f"a\x1b[31mb{path.suffix}",
        "bidi": f"a\u202eb{path.suffix}",
    }
    what = rng.choice(list(names))
    extra = path.parent / names[what]
    if extra.exists():
        return None
    extra.parent.mkdir(exist_ok=True)
    shutil.copyfile(path, extra)
    told = ("ending in capitals", "other ending", "not UTF-8", "twin", "a copy in a folder")
    return what, path.parent.name == "corpus" and what in told
