"""Rows of every form of table, with their places; what is wrong with a file is one problem."""

import gzip
import json
from pathlib import Path

from importing import put, task
from test_readers import refused

from helpers import files
from helpers.sources import tables


def rows(path, **more):
    """Return the rows by place and the problems, both without the path."""
    asked = task()
    found = {
        place.removeprefix(str(path)): row for place, row in tables.rows_of(path, asked, **more)
    }
    return found, [problem.removeprefix(str(path)) for problem in asked.problems]


GOOD = {  # file: (content, rows by place)
    "a.jsonl": ('{"a": 1}\n\n{"a": "\\n"}\n', {":1": {"a": 1}, ":3": {"a": "\n"}}),
    "a.json": ('[{"a": 1},\n\n {"a": "1999-01-01"}]', {1: {"a": 1}, 2: {"a": "1999-01-01"}}),
    "lines.json": ('{"a": 1}\n{"a": 2}\n', {1: {"a": 1}, 2: {"a": 2}}),
    "none.json": ("[]", {}),
    "empty.json": ("", {}),
    "a*[1].json": ('[{"b": {"c": [1, 2.5]}}]', {1: {"b": {"c": [1, 2.5]}}}),
    "a.csv": (
        'id,text\r\n001,"a\n\nb ""c"""\n\n2,\n3,NULL\n',
        {":4": {"id": "001", "text": 'a\n\nb "c"'}, ":6": {"id": "2", "text": ""}}
        | {":7": {"id": "3", "text": "NULL"}},
    ),
    "head.csv": ("id,text\n", {}),
    "empty.csv": ("", {}),
    "a.tsv": (
        '7\tone\ttwo \n\n8\t"all"\n',
        {":1": {"_id": "7", "text": "one\ttwo "}, ":3": {"_id": "8", "text": '"all"'}},
    ),
    "head.tsv": (
        'title\tid\ttext\nT\t"a ""b"""\tx\ty\n',
        {":2": {"title": "T", "id": 'a "b"', "text": "x\ty"}},
    ),
}


def test_tables_are_read_with_their_places(tmp_path):
    for name, (content, wanted) in GOOD.items():
        wanted = {f", row {k}" if isinstance(k, int) else k: row for k, row in wanted.items()}
        path = put(tmp_path / name, content)
        assert rows(path, names=["id"]) == (wanted, []), name
        mark = b"" if name.endswith(".json") else b"\xef\xbb\xbf"
        packed = put(tmp_path / f"{name}.gz", gzip.compress(mark + content.encode()))
        assert rows(packed, names=["id"]) == (wanted, []), packed


BAD = {  # file: (content, rows that are read, start of each problem)
    "a.json": ('[{"a": 1}, 7,\n["x"], {"a": 1, "a": 2}, {}]', 2)
    + (", row 2: found 7, wanted a JSON", ', row 3: found ["x"]', ", row 4: broken JSON (key a"),
    "two.json": (
        "[\n{}]\n[]",
        0,
        ", row 1: found [ {}], wanted a JSON",
        ", row 2: found [], wanted",
    ),
    "cut.json": ('[{"a": 1}\n', 0, ": cannot be read (Invalid Input Error: Malformed JSON in file"),
    "deep.json": ("[" * 100_000, 0, ": cannot be read (Invalid Input Error: Malformed JSON"),
    "byte.json": (b'[{"a": "\xff"}]', 0, ": cannot be read (Invalid Input Error: Malformed JSON"),
    "a.json.gz": ("no gzip", 0, ": cannot be read ("),
    "a.parquet": ("PAR1" * 5, 0, ": cannot be read ("),
    "none.parquet": ("", 0, ": cannot be read ("),
    "a.csv": ("a,b\n1,2,3\n4\n5,6\n", 1)
    + tuple(f":{n}: found more or fewer, wanted 2 cells as in the first line" for n in (2, 3)),
    "open.csv": ('a,b\n1,2\n3,"4\n', 1, ":2: cannot be read on from here (unexpected end of data)"),
    "quote.csv": ('a,b\n1,"2" x\n', 0, ":1: cannot be read on from here ("),
    "byte.csv": (b"a\n1\ncaf\xe9\n", 1, ":2: cannot be read on from here ('utf-8' codec can't"),
    "a.csv.gz": ("no gzip", 0, ":1: cannot be read on from here (Not a gzipped file"),
    "a.tsv": ("1\ta\n" + "x" * 50, 1, f":2: found {'x' * 40!r}, wanted _id text"),
    "head.tsv": ("id\ttext\n1\n", 0, ":2: found '1', wanted 2 cells as in the first line"),
    "a.tsv.gz": ("no gzip", 0, ":1: cannot be read (Not a gzipped file"),
}


def test_what_is_no_table_is_told_with_its_place(tmp_path):
    for name, (content, read, *wanted) in BAD.items():
        found, told = rows(put(tmp_path / name, content), names=["id"])
        assert len(found) == read and len(told) == len(wanted), (name, told)
        for problem, start in zip(told, wanted, strict=True):
            assert problem.startswith(start) and "\n" not in problem, (name, problem)
            assert "wanted" in problem, (name, problem)


def test_lines_of_three_or_four_cells(tmp_path):
    forms = {3: ("q", "d", "r"), 4: ("q", "", "d", "r")}
    path = put(tmp_path / "x.txt", 'a b 1\na 0 c 2\n"a""b"\t0\t c \t-1\nx y\n')
    found, told = rows(path, forms=forms)
    assert [row["q"] + row["d"] + row["r"] for row in found.values()] == ["ab1", "ac2", 'a"bc-1']
    assert told == [":4: found 'x y', wanted q d r or q 0 d r"]


def test_parquet_is_read_row_by_row(tmp_path):
    path = Path(__file__).with_name("table.parquet")  # written by pyarrow 26.0.1
    values = [
        (1, "é", ["a", None], {"title": ["A"], "sent_id": [0]}, 0.5, True),
        (None, "", [], {"title": [], "sent_id": None}, None, False),
        (3, None, None, None, -1.0, None),
    ]
    names = ("id", "text", "list", "pair", "real", "yes")
    found, told = rows(path)
    assert repr([*found.values()]) == repr([dict(zip(names, v, strict=True)) for v in values])
    assert [*found] == [", row 1", ", row 2", ", row 3"] and not told
    folder = tmp_path / "year=2020 it's"  # names neither a column nor a pattern
    folder.mkdir()
    for number, name in enumerate(("a*.parquet", "a[1].parquet", "a1.parquet")):
        with files.database() as database:
            query = f"SELECT {number} AS n FROM range(2500)"
            database.sql(query).write_parquet(str(folder / name))
    for number, name in enumerate(("a*.parquet", "a[1].parquet", "a1.parquet")):
        assert [*rows(folder / name)[0].values()] == [{"n": number}] * 2500


def test_a_long_array_on_one_line_is_read_in_pieces(tmp_path):
    row = {"a": "x" * 10_000}
    path = put(tmp_path / "a.json", json.dumps([row] * 3000))
    found = tables.rows_of(path, task())
    assert next(found) == (f"{path}, row 1", row) and sum(1 for _ in found) == 2999


def test_names_that_are_given_count_first():
    names = tables.column_names(task(columns="doc_id=p,relevance=r"), tables.LABEL)
    for field, name in (("doc_id", "p"), ("relevance", "r")):
        assert names.pop(field) == (name, *tables.LABEL[field])
    assert names == {"query_id": tables.LABEL["query_id"]}
    wanted = "wanted doc_id=NAME, query_id=NAME, query=NAME, relevance=NAME"
    for pair in ("doc=x", "doc_id", "query=", "text=body"):
        (told,) = refused(tables.column_names, task(columns=pair), tables.LABEL)
        assert told.startswith(f"--columns {pair}: {wanted}"), pair
