"""Seeded ways to break one file of a set, a run or a source, as it happens to people's files.

Each takes (rng, path), breaks the file and returns what was done in words, or None where it does
not fit the file. Plain `random` is enough: a trial is one named edit, nothing is to shrink.
"""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import duckdb
import pandas as pd

JUNK = [b"\0", b"\xef\xbb\xbf", b"\r", b"\xe9", b"\xed\xa0\x80", b"\x1b[2J", "\u202e".encode()]
JUNK += ["\u2028".encode(), b'"', b"}", b"\t", b"\n", b"<img src=x onerror=alert(1)>"]
WHOLE = [b"", b"\n \n\n", b"{", b"[]", b"{}", b"null", b"just text\n", b"[" * 100_000]
ODD_TEXTS = ["..", "a\0b", "a\u200bb", "a\u202eb", "a\x1b[31mb", "a/b", "a b", "", " ", "a\u00a0b"]
ODD_TEXTS += ["a\ud800b", "x" * 5_000, "<script>alert(1)</script>", "[a](javascript:alert(1))"]
ODD_TEXTS += ["a,b", "a\"b'c", "a\nb", "a|b", "a#1", "=1+1", "zz-9"]
VALUES = [None, True, 5, -1, 1.5, "", "text", [], {}, [1], [""], [["a"]], {"a": 1}, 10**400, 1e300]
NUMBERS = ("9" * 5_000, "-9", "1e999", "NaN", "-Infinity", "1.0", "true")
SCORES = ["nan", "inf", "-inf", "1e999", "text", "0x10", "1_000", "-0", "1,5", "9" * 400]
NUMBER = re.compile(r"(: |, )-?\d+(\.\d+)?(?=[],}])")
IDS = ("query_id", "doc_id", "_id", "docid", "docno", "id")


# Bytes and lines of any file.


def cut(rng: Random, path: Path) -> str:
    data = path.read_bytes()
    end = rng.randrange(len(data))
    path.write_bytes(data[:end])
    return f"after byte {end} of {len(data)}"


def bytes_(rng: Random, path: Path) -> str:
    """A bit is turned, bytes are missing, or junk stands between them."""
    data = path.read_bytes()
    place, junk = rng.choice((0, rng.randrange(len(data)), len(data) - 1)), rng.choice(JUNK)
    changes = {
        "flipped": bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :],
        "left out": data[place + rng.choice((1, 2, 30)) :],
        f"{junk!r} put in": junk + data[place:],
    }
    what = rng.choice(list(changes))
    path.write_bytes(data[:place] + changes[what])
    return f"{what} at {place}"


def whole(rng: Random, path: Path) -> str:
    data = path.read_bytes()
    others = [rng.randbytes(300), data + data, data.replace(b"\n", b"\r\n"), b"# Caf\xe9\n" + data]
    new = rng.choice([*WHOLE, *others, data.decode("utf-8", "replace").encode("utf-16")])
    path.write_bytes(new)
    return f"{new[:20]!r}, {len(new)} bytes"


def lines(rng: Random, path: Path) -> str | None:
    """One stands twice, a thousand times or not at all, two swap, or thousands follow."""
    rows = path.read_bytes().splitlines(keepends=True)
    if len(rows) < 2:
        return None
    a, b = rng.sample(range(len(rows)), 2)
    what = rng.choice(("removed", "twice", "thousandfold", "swapped", "bad", "unknown"))
    if what == "swapped":
        rows[a], rows[b] = rows[b], rows[a]
    elif what == "bad":
        rows += [b"{\n"] * 5_000
    elif what == "unknown":  # ids; each new query asks five rankers
        most = 500 if path.name == "retrieval_queries.jsonl" else 5_000
        rows += [re.sub(rb"[\w-]+-full|q\d", b"zz%d" % n, rows[-1]) for n in range(most)]
    else:
        rows[a : a + 1] = [rows[a]] * {"removed": 0, "twice": 2, "thousandfold": 1000}[what]
    path.write_bytes(b"".join(rows))
    return f"{a + 1} {what}"


# Rows of JSON lines, JSON as a whole.


def row(rng: Random, path: Path) -> str | None:
    """A field of a line has another value or name, is missing, stands twice, or looks like one."""
    if path.suffix != ".jsonl":
        return None
    rows = path.read_text(encoding="utf-8").splitlines()
    number = rng.randrange(len(rows))
    old, number_value = json.loads(rows[number]), rng.choice(NUMBERS)
    name, odd = rng.choice(list(old)), rng.choice([*ODD_TEXTS, *VALUES])
    left = {key: value for key, value in old.items() if key != name}
    as_odd = f"as {str(odd)[:20]!r}"
    changes = {
        as_odd: json.dumps(old | {name: odd}),
        "missing": json.dumps(left),
        "renamed": json.dumps(left | {name.upper(): old[name]}),
        "beside another": json.dumps(old | {"colour": "red"}),
        "twice": json.dumps(old)[:-1] + f', "{name}": "other"}}',
        f"beside {number_value[:9]}": NUMBER.sub(lambda m: m[1] + number_value, rows[number], 1),
    }
    for key in [key for key in IDS if isinstance(old.get(key), str)][:1]:
        twin = rng.choice([old[key].upper(), old[key] + "\u200d", old[key] + "e\u0301"])
        changes["has a twin"] = rows[number] + "\n" + json.dumps(old | {key: twin})
    what = rng.choice([*changes, as_odd, as_odd])
    rows[number] = changes[what]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"{name} of line {number + 1} {what}"


def node(rng: Random, path: Path) -> str | None:
    """A value somewhere in JSON is another, or missing."""
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
    what = "removed"
    if rng.random() < 0.3:
        del place[key]
    else:
        place[key] = rng.choice(VALUES)
        what = f"as {str(place[key])[:20]}"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return f"{'/'.join(trail)} {what}"


# TREC runs and tables with tabs, Parquet, pages with front matter.


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
    odd = rng.choice([text for text in ODD_TEXTS if "\ud800" not in text])
    new = rng.choice(SCORES) if what == "score" else odd
    middle = {"removed": [], "added": [cells[place], "more"], "separator": [cells[place]]}
    cells[place : place + 1] = middle.get(what, [new])
    rows[number] = (rng.choice(",;\u00a0") if what == "separator" else tab).join(cells)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return f"{place + 1} of line {number + 1} {what} {new[:12]!r}"


def parquet(rng: Random, path: Path) -> str | None:
    """A column has another type or name, or is missing."""
    if path.suffix != ".parquet":
        return None
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path)).df()
        name, n = rng.choice(list(rows)), len(rows)
        odd = {"null": [None] * n, "numbers": [*range(n)], "truths": [k % 2 == 0 for k in range(n)]}
        odd |= {"lists": [["a"]] * n, "the same": ["a"] * n}
        changes = {what: rows.assign(**{name: pd.Series(odd[what], dtype=object)}) for what in odd}
        changes["removed"] = rows.drop(columns=name)
        changes["renamed"] = rows.rename(columns={name: name.upper()})
        what = rng.choice(list(changes))
        connection.from_df(changes[what]).write_parquet(str(path))
    return f"{name} {what}"


FRONTS = ["kind: " + "[" * 3_000, "title: One more", "\tkind: x", "? [a, b]\n: c", "5: c"]
FRONTS += ["updated: 2026-13-45", "title: [a]", "colour: red", 'service: "\\e[2J"', "...\n--- more"]
FRONTS += ["kind: !!python/object/apply:os.system [touch owned]", 'service: "\\0"']
FRONTS += ['service: "\\ud800"', 'kind: "<img src=x onerror=alert(1)>"']


def front_matter(rng: Random, path: Path) -> str | None:
    text = path.read_text(encoding="utf-8") if path.suffix == ".md" else ""
    if not text.startswith("---\n"):
        return None
    line, twice = rng.choice(FRONTS), rng.random() < 0.2
    for name in re.findall(r"(?m)^([a-z]+): ", line) if not twice else ():
        text = re.sub(rf"(?m)^{name}: .*\n", "", text, count=1)
    path.write_text(text.replace("---\n", f"---\n{line}\n", 1), encoding="utf-8")
    return line[:40] + " beside its own" * twice


# Files.


def replaced(rng: Random, path: Path) -> str:
    path.unlink()
    what = rng.choice(("a folder", "a dangling link", "nothing"))
    if what == "a folder":
        path.mkdir()
    elif what == "a dangling link":
        path.symlink_to("gone")
    return f"by {what}"


def more_files(rng: Random, path: Path) -> str | None:
    """A copy stands beside the file, under a name that may happen."""
    stem, suffix = path.stem, path.suffix
    names = [f"{stem}2{suffix.upper()}", f"{stem}3.markdown", os.fsdecode(b"caf\xe9") + suffix]
    names += [path.name.upper(), f".{path.name}", f"sub/{path.name}", f"{path.name}.part"]
    extra = path.parent / rng.choice([*names, f"{path.name}~", f"a\x1b[31mb{suffix}"])
    if extra.exists():
        return None
    extra.parent.mkdir(exist_ok=True)
    shutil.copyfile(path, extra)
    return ascii(extra.name)


OPERATORS: dict[str, Callable[[Random, Path], str | None]] = {
    operator.__name__.replace("_", " ").strip(): operator
    for operator in (cut, bytes_, whole, lines, row, node, column, parquet, front_matter)
    + (replaced, more_files)
}
