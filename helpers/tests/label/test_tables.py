"""Rows of every form of table with their places, and what they say under the names of others."""

import gzip

from importing import put, refused, task

from helpers.label import tables


def rows(path, **more):
    """Return the rows by place and the problems, both without the path."""
    own = task()
    found = {
        place.removeprefix(str(path)): row for place, row in tables.rows_of([path], own, **more)
    }
    return found, [problem.removeprefix(str(path)) for problem in own.problems]


GOOD = {  # file: (content, rows by place)
    "a.jsonl": ('{"a": 1}\n\n{"a": "\\n"}\n', {":1": {"a": 1}, ":3": {"a": "\n"}}),
    "a.json": ('[{"a": 1},\n\n {"a": "1999-01-01"}]', {1: {"a": 1}, 2: {"a": "1999-01-01"}}),
    "lines.json": ('{"a": 1}\n{"a": 2}\n', {1: {"a": 1}, 2: {"a": 2}}),
    "none.json": ("[]", {}),
    "a*[1].json": ('[{"b": {"c": [1, 2.5]}}]', {1: {"b": {"c": [1, 2.5]}}}),
    "a.csv": (
        'id,text\r\n001,"a\n\nb ""c"""\n\n2,\n3,NULL\n',
        {":4": {"id": "001", "text": 'a\n\nb "c"'}, ":6": {"id": "2", "text": ""}}
        | {":7": {"id": "3", "text": "NULL"}},
    ),
    "empty.csv": ("", {}),
    "a.tsv": (
        '7\tone\ttwo \r\n\n8\t"all"\n',
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
        assert rows(put(tmp_path / name, content)) == (wanted, []), name
        mark = b"" if name.endswith(".json") else b"\xef\xbb\xbf"
        packed = put(tmp_path / f"{name}.gz", gzip.compress(mark + content.encode()))
        assert rows(packed) == (wanted, []), packed


UNREAD = ": cannot be read ("
BAD = {  # file: (content, rows that are read, start of each problem)
    "a.json": ('[{"a": 1}, 7,\n["x"], {"a": 1, "a": 2}, {}]', 2)
    + (", row 2: found 7, wanted", ', row 3: found ["x"]', ", row 4: broken JSON (key a"),
    "cut.json": ('[{"a": 1}\n', 0, UNREAD),
    "a.parquet": ("PAR1" * 5, 0, UNREAD),
    "a.csv": ("a,b\n1,2,3\n4\n5,6\n", 1, ":2: found more or fewer", ":3: found more or fewer"),
    "open.csv": ('a,b\n1,2\n3,"4\n', 1, ":3: found no CSV (unexpected end of data)"),
    "byte.csv": (b"a\n1\ncaf\xe9\n", 0, ":3: byte 0xe9 is not UTF-8"),
    "a.csv.gz": ("no gzip", 0, f":1{UNREAD}"),
    "a.tsv": ("1\ta\n" + "x" * 50, 1, f":2: found {'x' * 40!r}, wanted _id text"),
    "topics.txt": ("<top>\n</top>\n", 0)
    + (":1: found '<top>', wanted _id text", ":2: found '</top>', wanted _id text"),
    "head.tsv": ("id\ttext\n1\n", 0, ":2: found '1', wanted 2 cells as in the first line"),
}


def test_what_is_no_table_is_told_with_its_place(tmp_path):
    for name, (content, read, *wanted) in BAD.items():
        found, problems = rows(put(tmp_path / name, content))
        assert len(found) == read and len(problems) == len(wanted), (name, problems)
        for problem, start in zip(problems, wanted, strict=True):
            assert problem.startswith(start) and "\n" not in problem, (name, problem)


LABELS = [  # lines, (query, document, grade) of each label
    ("q 0 d 1\nr Q0 e 2\n", ["q d 1", "r e 2"]),
    ("query-id\tcorpus-id\tscore\nq\td\t1\n", ["q d 1"]),
    ("qid 0 docno grade\nq 0 d 2\n", ["q d 2"]),
    ("score\tnote\tdoc_id\tquery_id\n3\tx y\td\tq\n", ["q d 3"]),
    ('q\ta b\t1\n"r"\t0\t "c""d" \t-1\n', ["q a%20b 1", 'r c"d -1']),
    ("q d 1\nqid d 1\n", ["q d 1", "qid d 1"]),
]


def test_labels_of_three_and_four_cells_and_with_a_head(tmp_path):
    for lines, wanted in LABELS:
        path, own = put(tmp_path / "qrels.tsv", lines), task()
        found = tables.rows_of([path], own, tables.QRELS)
        labels = [tables.label_of(place, row, "dev", own) for place, row in found]
        assert [f"{n.query_id} {n.doc_id} {n.grade}" for n in labels] == wanted, lines
        assert not own.problems and {(n.split, n.evidence) for n in labels} == {("dev", ())}
        assert labels[-1].place == f"{path}:{len(lines.splitlines())}"
    own = task()
    assert tables.label_of("f:1", {"qid": "q", "pid": "d", "rel": 0}, "dev", own).grade == 0
    assert not own.problems
    tables.label_of("f:1", {"qid": "q", "pid": "d"}, "dev", own)
    assert own.problems[0].startswith("f:1: no grade, found pid, qid, wanted one of: relevance")


def test_rows_under_the_names_of_many_tools():
    for name in ("_id", "doc_id", "docid", "docno", "id", "pid", "passage_id"):
        for text in ("text", "contents", "body", "content", "passage"):
            row = {name: " d ", "title": " T ", text: " words "}
            wanted = {"doc_id": "d", "title": "T", "text": "words"}
            assert tables.document_of("f:1", row, task()) == wanted, (name, text)
    for name in ("_id", "query_id", "qid", "id"):
        for text in ("text", "query", "title", "question"):
            found = tables.query_of("f:1", {name: 7, text: " words "}, task())
            assert found == {"query_id": "7", "query": "words"}, (name, text)


def test_names_that_are_given_count_first_and_those_of_another_form_are_told(tmp_path):
    own = task(columns="doc_id=p,relevance=r")
    for name, lines in (("a.csv", "doc_id,p,r\nx,d,2\n"), ("a.tsv", "p\tr\nd\t2\n")):
        ((_, row),) = tables.rows_of([put(tmp_path / name, lines)], own, tables.QRELS)
        label = tables.label_of("f:1", row | {"qid": "q"}, "dev", own)
        assert (label.doc_id, label.grade) == ("d", "2") and not own.problems
    for pair in ("doc=x", "query="):
        (problem,) = refused(tables.columns, task(columns=pair))
        assert problem.startswith(f"--columns: found {pair}, wanted some of doc_id=NAME, query_id=")
