"""Seeded ways to break one file of a set, a run or a source, as it happens to people's files.

Each takes (rng, path), breaks the file and returns what was done in words, or None where it does
not fit the file. Plain `random` is enough: a trial is one named edit, nothing is to shrink.
"""

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random

import duckdb
import pandas as pd

OPERATORS: dict[str, Callable[[Random, Path], str | None]] = {}
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
    "pipe": "a|b",
    "hash": "a#1",
    "formula": "=1+1",
    "unknown": "zz-9",
}
VALUES = [None, True, 5, -1, 1.5, "", "text", [], {}, [1], [""], [["a"]], {"a": 1}, 10**400, 1e300]
SCORES = ["nan", "inf", "-inf", "1e999", "text", "0x10", "1_000", "-0", "1,5", "9" * 400]
IDS = ("query_id", "doc_id", "_id", "docid", "docno", "id")


def operator(change: Callable[[Random, Path], str | None]) -> Callable:
    """Enter a function into OPERATORS under its name in words."""
    OPERATORS[change.__name__.replace("_", " ")] = change
    return change


# Bytes and lines of any file.


@operator
def cut(rng: Random, path: Path) -> str:
    data = path.read_bytes()
    end = rng.randrange(len(data))
    path.write_bytes(data[:end])
    return f"after byte {end} of {len(data)}"


@operator
def flip(rng: Random, path: Path) -> str:
    data = bytearray(path.read_bytes())
    place = rng.randrange(len(data))
    data[place] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    return f"a bit at {place}"


@operator
def insert(rng: Random, path: Path) -> str:
    data, name = path.read_bytes(), rng.choice(list(JUNK))
    place = rng.choice((0, rng.randrange(len(data)), len(data)))
    path.write_bytes(data[:place] + JUNK[name] + data[place:])
    return f"{name} at byte {place}"


@operator
def leave_out(rng: Random, path: Path) -> str:
    data = path.read_bytes()
    place, many = rng.randrange(len(data)), rng.choice((1, 2, 30))
    path.write_bytes(data[:place] + data[place + many :])
    return f"{many} bytes at {place}"


@operator
def whole(rng: Random, path: Path) -> str:
    data = path.read_bytes()
    texts = {
        "empty": b"",
        "blank lines": b"\n \n\n",
        "noise": rng.randbytes(300),
        "brace": b"{",
        "list": b"[]",
        "object": b"{}",
        "null": b"null",
        "text": b"just text\n",
        "UTF-16": data.decode("utf-8", "replace").encode("utf-16"),
        "Latin-1": b"# Caf\xe9\n" + data,
        "twice": data + data,
        "Windows line ends": data.replace(b"\n", b"\r\n"),
        "deep list": b"[" * 100_000,
    }
    name = rng.choice(list(texts))
    path.write_bytes(texts[name])
    return name


@operator
def lines(rng: Random, path: Path) -> str | None:
    rows = path.read_bytes().splitlines(keepends=True)
    if len(rows) < 2:
        return None
    a, b = rng.sample(range(len(rows)), 2)
    what = rng.choice(("twice", "removed", "swapped", "thousandfold"))
    if what == "swapped":
        rows[a], rows[b] = rows[b], rows[a]
    else:
        rows[a : a + 1] = [rows[a]] * {"twice": 2, "removed": 0, "thousandfold": 1000}[what]
    path.write_bytes(b"".join(rows))
    return f"{a + 1} {what}"


@operator
def many(rng: Random, path: Path) -> str | None:
    """A file with thousands of lines that are wrong, or about ids that nobody knows."""
    if rng.random() < 0.7 or path.suffix not in (".jsonl", ".trec", ".run", ".tsv"):
        return None
    last = path.read_text(encoding="utf-8").splitlines()[-1]
    old = re.search(r"[\w-]+-full|q\d", last)
    what = rng.choice(("bad lines", "unknown ids"))
    rows = ["{"] * 5_000
    if what == "unknown ids":
        most = 500 if path.name == "retrieval_queries.jsonl" else 5_000  # each asks five rankers
        rows = [last.replace(old[0] if old else last, f"zz{n}") for n in range(most)]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(row + "\n" for row in rows)
    return what


# Rows of JSON lines.


def row_of(rng: Random, path: Path) -> tuple[list[str], int, dict] | None:
    """Return the lines of a JSONL file, a number and the object there; None for other files."""
    if path.suffix != ".jsonl":
        return None
    rows = path.read_text(encoding="utf-8").splitlines()
    number = rng.randrange(len(rows))
    return rows, number, json.loads(rows[number])


def put_row(path: Path, rows: list[str], number: int, row: dict | str) -> None:
    """Write the lines with another object, or another text, at `number`."""
    rows[number] = row if isinstance(row, str) else json.dumps(row)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@operator
def value(rng: Random, path: Path) -> str | None:
    if not (chosen := row_of(rng, path)):
        return None
    rows, number, row = chosen
    name = rng.choice(list(row))
    if isinstance(row[name], str) and rng.random() < 0.6:
        what = rng.choice(list(ODD_TEXTS))
        new = ODD_TEXTS[what]
    else:
        new = rng.choice(VALUES)
        what = str(new)[:20]
    put_row(path, rows, number, row | {name: new})
    return f"{name} of line {number + 1} as {what}"


@operator
def field(rng: Random, path: Path) -> str | None:
    if not (chosen := row_of(rng, path)):
        return None
    rows, number, row = chosen
    name, what = rng.choice(list(row)), rng.choice(("missing", "renamed", "extra", "stands twice"))
    if what == "stands twice":
        put_row(path, rows, number, json.dumps(row)[:-1] + f', "{name}": "other"}}')
        return f"{name} {what}"
    old = row[name]
    if what != "extra":
        del row[name]
    row |= {"missing": {}, "renamed": {name.upper(): old}, "extra": {"colour": "red"}}[what]
    put_row(path, rows, number, row)
    return f"{name} {what}"


@operator
def twin(rng: Random, path: Path) -> str | None:
    chosen = row_of(rng, path)
    names = [name for name in IDS if chosen and isinstance(chosen[2].get(name), str)]
    if not names:
        return None
    rows, number, row = chosen
    own = row[names[0]]
    twins = {"upper case": own.upper(), "zero width": own + "\u200d"}
    twins["decomposed"] = unicodedata.normalize("NFD", own + "é")
    what = rng.choice(list(twins))
    first = row | {names[0]: own + "é"} if what == "decomposed" else row
    rows.append(json.dumps(row | {names[0]: twins[what]}))
    put_row(path, rows, number, first)
    return f"{names[0]} {what}"


@operator
def number(rng: Random, path: Path) -> str | None:
    if not (chosen := row_of(rng, path)):
        return None
    rows, place, row = chosen
    new = rng.choice(("9" * 5_000, "-9", "1e999", "NaN", "-Infinity", "1.0", "true"))
    old = json.dumps(row)
    line = re.sub(r"(: |, )-?\d+(\.\d+)?(?=[],}])", lambda m: m[1] + new, old, count=1)
    if line == old:
        return None
    put_row(path, rows, place, line)
    return f"{new[:9]} at line {place + 1}"


# JSON as a whole, TREC runs and tables with tabs, Parquet, pages with front matter.


@operator
def node(rng: Random, path: Path) -> str | None:
    if path.suffix not in (".json", ".ipynb"):
        return None
    tree = json.loads(path.read_text(encoding="utf-8"))
    place, trail = tree, []
    while True:
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        trail.append(str(key))
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.3:
            break
        place = place[key]
    if rng.random() < 0.3:
        del place[key]
        what = "removed"
    else:
        place[key] = rng.choice(VALUES)
        what = f"as {str(place[key])[:20]}"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return f"{'/'.join(trail)} {what}"


@operator
def column(rng: Random, path: Path) -> str | None:
    if path.suffix not in (".trec", ".run", ".tsv") and not path.name.startswith("qrels"):
        return None
    rows = path.read_text(encoding="utf-8").splitlines()
    number = rng.randrange(len(rows))
    tab = "\t" if "\t" in rows[number] else " "
    cells = rows[number].split(tab)
    what = rng.choice(("removed", "added", "separator", "value", "score"))
    is_score = what == "score" and path.suffix in (".trec", ".run")
    place = 4 if is_score else rng.randrange(len(cells))
    odd = [text for text in ODD_TEXTS.values() if "\ud800" not in text]
    new = rng.choice(SCORES if what == "score" else odd)
    if what in ("removed", "added"):
        cells[place : place + 1] = [] if what == "removed" else [cells[place], "more"]
    elif what != "separator":
        cells[place] = new
    rows[number] = (rng.choice(",;\u00a0") if what == "separator" else tab).join(cells)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    shown = f" as {new[:12]!r}" if what in ("value", "score") else ""
    return f"{place + 1} of line {number + 1} {what}{shown}"


ODD_COLUMNS = {  # what stands in row n
    "null": lambda n: None,
    "numbers": lambda n: n,
    "truths": lambda n: n % 2 == 0,
    "lists": lambda n: [f"a{n}"],
    "the same": lambda n: "a",
    "markup": lambda n: ODD_TEXTS["markup"],
}


@operator
def parquet(rng: Random, path: Path) -> str | None:
    """Change a column of a Parquet file: its type, its name, or that it is there."""
    if path.suffix != ".parquet":
        return None
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path)).df()
        name, what = rng.choice(list(rows)), rng.choice(("removed", "renamed", *ODD_COLUMNS))
        if what == "removed":
            del rows[name]
        elif what == "renamed":
            rows = rows.rename(columns={name: name.upper()})
        else:
            rows[name] = pd.Series([ODD_COLUMNS[what](n) for n in range(len(rows))], dtype=object)
        connection.from_df(rows).write_parquet(str(path))
    return f"{name} {what}"


FRONTS = {
    "deep": "kind: " + "[" * 3_000 + "\n",
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
    "second document": "...\n--- more\n",
}


@operator
def front_matter(rng: Random, path: Path) -> str | None:
    text = path.read_text(encoding="utf-8") if path.suffix == ".md" else ""
    if not text.startswith("---\n"):
        return None
    what = rng.choice(list(FRONTS))
    for name in re.findall(r"(?m)^([a-z]+): ", FRONTS[what]) if what != "key twice" else ():
        text = re.sub(rf"(?m)^{name}: .*\n", "", text, count=1)
    path.write_text(text.replace("---\n", "---\n" + FRONTS[what], 1), encoding="utf-8")
    return what


# Files.


@operator
def replaced(rng: Random, path: Path) -> str:
    path.unlink()
    what = rng.choice(("a folder", "a dangling link", "nothing", "nothing, nor its folder"))
    if what == "a folder":
        path.mkdir()
    elif what == "a dangling link":
        path.symlink_to("gone")
    elif what.endswith("folder") and path.parent.name != "trial":
        shutil.move(path.parent, path.parent.with_name("moved"))
    return f"by {what}"


@operator
def more_files(rng: Random, path: Path) -> str | None:
    names = {
        "ending in capitals": f"{path.stem}2{path.suffix.upper()}",
        "other ending": f"{path.stem}3.markdown",
        "not UTF-8": os.fsdecode(b"caf\xe9" + path.suffix.encode()),
        "twin": path.name.upper(),
        "hidden": f".{path.name}",
        "a copy in a folder": f"sub/{path.name}",
        "part": f"{path.name}.part",
        "backup": f"{path.name}~",
        "ANSI": f"a\x1b[31mb{path.suffix}",
        "bidi": f"a\u202eb{path.suffix}",
    }
    what = rng.choice(list(names))
    extra = path.parent / names[what]
    if extra.exists():
        return None
    extra.parent.mkdir(exist_ok=True)
    shutil.copyfile(path, extra)
    return what
