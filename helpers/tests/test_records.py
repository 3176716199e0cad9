"""Files are read with the place of every line, held against a schema, and written whole."""

import gzip
import json

import pytest

from helpers import records

MORE = {"kind": "runbook", "service": "disk", "updated": "2026-04-08", "version": "2.0"}
PAIR = {"query_id": "q", "doc_id": "d"}
NAMED = {**PAIR, "doc_id": ""}
GRADES = {"first": 0, "second": 1, "final": 2}
KNOWN = {  # name: (fields that must be there, fields that may)
    "settings.json": ({}, {"words": "bigrams", "highest_grade": 4, "imported": "BEIR"}),
    "corpus/*.md": ({"title": "Disk"}, MORE),
    "corpus.jsonl": ({"doc_id": "d", "title": "", "text": ""}, MORE),
    "retrieval_queries.jsonl": (
        {"query_id": "q", "query": "full", "relevant_doc_ids": []},
        {"kind": "how", "popularity": "head", "split": "test", "answers": ["yes"]},
    ),
    "judgments.jsonl": ({**PAIR, "relevance": 2}, {"evidence": ""}),
    "pool.jsonl": ({**PAIR, "rankers": ["hand"]}, {"first": None}),
    "second_pass.jsonl": ({**PAIR, "round": 1, **GRADES, "reason": ""}, {}),
    "negatives.jsonl": ({"query_id": "q", "easy": ["d"], "hard": []}, {}),
    "labelling.jsonl": (
        {**NAMED, "relevance": 1},
        {"evidence": "", "repeat": True, "time": "", "kind": "how"},
    ),
    "undo": ({"undo": {}}, {"time": ""}),
    "undone": ({**NAMED, "time": ""}, {"repeat": False}),
}
KEYS = {
    "corpus.jsonl": ("doc_id",),
    "retrieval_queries.jsonl": ("query_id",),
    "judgments.jsonl": ("query_id", "doc_id"),
    "pool.jsonl": ("query_id", "doc_id"),
    "second_pass.jsonl": ("query_id", "doc_id", "round"),
    "negatives.jsonl": ("query_id",),
}


@pytest.mark.parametrize("name", records.SCHEMAS)
def test_each_kind_of_row_has_these_fields_and_no_others(name):
    (needed, optional), schema = KNOWN[name], records.SCHEMAS[name]
    whole = needed | optional
    assert records.complaints(whole, schema) == records.complaints(needed, schema) == []
    for field in needed:
        (told,) = records.complaints({k: v for k, v in whole.items() if k != field}, schema)
        assert told.startswith(f"field {field} is missing, wanted ")
    told = records.complaints(whole | {"more": 1}, schema)
    named = f"field more is unknown, wanted one of: {', '.join(whole)}"
    assert told == ([] if name == "corpus.jsonl" else [named])
    assert schema.key == KEYS.get(name, ())


ID = "text without spaces, slashes or #"
FIELDS = [  # field, kind of row, values that fit, values that do not, what is wanted
    ("query_id", "undone", ["q", "q-1.b:c_é"], ["", "a b", "a/b", "a\\b", "#", "a\n", 1, None], ID),
    ("title", "corpus/*.md", ["a", " a "], ["", " \n", 1, None], "text that is not empty"),
    ("easy", "negatives.jsonl", [[], ["a", "b"]], [["a", "a"], ["a", " "], [1], [[]], "ab", "", {}],
     "a list of different document ids"),
    ("rankers", "pool.jsonl", [[], ["a", "a"]], [["a", ""], [None], "a", None], "a list of texts"),
    ("split", "retrieval_queries.jsonl", ["dev", "test"], ["train", "", None, ["dev"]],
     "dev or test"),
    ("popularity", "retrieval_queries.jsonl", ["head", "tail"], ["dev", "", None], "head or tail"),
    ("round", "second_pass.jsonl", [1, 2, 99], [0, -1, True, 1.0, "1", None], "a number from 1"),
    ("evidence", "judgments.jsonl", ["a", ["a", "b"]], [1, [""]], "a quote or a list of quotes"),
    ("repeat", "undone", [True, False], [0, 1, "true", None], "true or false"),
    ("undo", "undo", [{}, {"a": 1}], [[], "", None], "an object"),
    ("updated", "corpus.jsonl", ["2026-04-08"], ["2026-4-8", "2026-02-30", "", 20260408, None],
     "a date such as 2026-04-08"),
    ("words", "settings.json", ["words", "unicode-words", "bigrams"], ["bigram", "", [], None],
     "one of: words, unicode-words, bigrams"),
    ("highest_grade", "settings.json", [1, 999], [0, -1, 1000, True, 2.0, "2", None],
     "a whole number from 1 to 999"),
    ("relevance", "judgments.jsonl", [0, 1, 2], [-1, 3, True, 1.0, "1", None],
     "0, 1 or 2 (more with highest_grade in settings.json)"),
    ("first", "pool.jsonl", [0, 1, 2, None], [-1, 3, False, 1.0, "1"],
     "0, 1 or 2 (more with highest_grade in settings.json), or null"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "name", "fit", "others", "wanted"), FIELDS)
def test_what_fits_a_field_and_what_is_wanted(field, name, fit, others, wanted):
    schema = records.SCHEMAS[name]
    for value in fit:
        assert records.complaints({**KNOWN[name][0], field: value}, schema) == []
    for value in others:
        told = records.complaints({**KNOWN[name][0], field: value}, schema)
        assert told == [f"field {field} is {json.dumps(value)}, wanted {wanted}"]
    if field in schema.needed:
        assert records.complaints({}, schema)[[*schema.needed].index(field)] == (
            f"field {field} is missing, wanted {wanted}"
        )


@pytest.mark.parametrize(
    ("highest", "wanted"),
    [(1, "0 or 1"), (3, "0, 1, 2 or 3"), (4, "a whole number from 0 to 4")],
)
def test_other_grades_are_listed_up_to_four(highest, wanted):
    grades = tuple(range(highest + 1))
    row = {**PAIR, "relevance": highest}
    assert records.complaints(row, records.SCHEMAS["judgments.jsonl"], grades) == []
    row["relevance"] += 1
    (told,) = records.complaints(row, records.SCHEMAS["judgments.jsonl"], grades)
    assert told == f"field relevance is {highest + 1}, wanted {wanted}"


def test_a_value_is_shown_as_json_in_its_own_script_and_cut_at_sixty():
    schema = records.SCHEMAS["retrieval_queries.jsonl"]
    row = {**KNOWN["retrieval_queries.jsonl"][0], "split": "é" * 99, "kind": ["é"]}
    assert records.complaints(row, schema) == [
        f'field split is "{"é" * 59}, wanted dev or test',
        'field kind is ["é"], wanted text that is not empty',
    ]


# Lines.


def test_lines_come_with_their_places_and_empty_ones_are_counted_only(tmp_path):
    content = "\ufeffone \n\n \t\r\n two\r\nthree".encode()
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    for path in (tmp_path / "a.txt", tmp_path / "a.gz", str(tmp_path / "a.gz")):
        wanted = [(f"{path}:1", "one "), (f"{path}:4", " two"), (f"{path}:5", "three")]
        assert [*records.lines(path, pytest.fail)] == wanted


def test_only_the_line_ends_that_are_asked_for_end_a_line(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x\ry\r\nz\n")
    assert [line for _, line in records.lines(path, pytest.fail)] == ["x", "y", "z"]
    assert [line for _, line in records.lines(path, pytest.fail, newline="\n")] == ["x\ry", "z"]


def test_bytes_that_are_not_utf8_are_told_and_the_next_line_is_read(tmp_path):
    path, said = tmp_path / "a", []
    path.write_bytes(b"a\n\x80b\xff\nc\n\xff\n")
    assert [*records.lines(path, said.append)] == [(f"{path}:1", "a"), (f"{path}:3", "c")]
    assert said == [
        f"{path}:2: byte 0x80 is not UTF-8, save the file as UTF-8",
        f"{path}:4: byte 0xff is not UTF-8, save the file as UTF-8",
    ]


def test_a_file_of_which_nothing_can_be_read_is_told_at_its_first_line(tmp_path):
    whole = gzip.compress(b"first\nsecond\n")
    for name, content, reason in (
        ("none.txt", None, "No such file or directory"),
        ("none.gz", None, "No such file or directory"),
        ("plain.gz", b"first\n", "Not a gzipped file (b'fi')"),
        ("bad.gz", whole[:10] + b"\xff" + whole[11:], "Error -3 while decompressing data"),
    ):
        path, said = tmp_path / name, []
        if content is not None:
            path.write_bytes(content)
        assert [*records.lines(path, said.append)] == []
        (told,) = said
        assert told.startswith(f"{path}:1: cannot be read ({reason}")
        assert told.endswith("), wanted a readable file")


def test_reading_that_ends_midway_is_told_at_the_last_line_read(tmp_path):
    path, said = tmp_path / "a.gz", []
    whole = gzip.compress(b"".join(b"%d\n" % (n * n * n) for n in range(20_000)))
    path.write_bytes(whole[:-20])
    found = [*records.lines(path, said.append)]
    assert len(found) > 1000 and said[0].startswith(f"{found[-1][0]}: cannot be read (Compressed")


def test_rows_are_objects_and_other_lines_are_told(tmp_path):
    path, said = tmp_path / "a.jsonl", []
    path.write_text('{"a": 1}\n[1, 2]\n\n{"b":\n"' + "x" * 50 + '"\n  7\n{}\n')
    assert [*records.rows(path, said.append)] == [(f"{path}:1", {"a": 1}), (f"{path}:7", {})]
    assert said == [
        f"{path}:2: found [1, 2], wanted a JSON object such as {{...}}",
        f"{path}:4: broken JSON (Expecting value: line 1 column 6 (char 5)), wanted one object a "
        "line",
        f'{path}:5: found "{"x" * 39}, wanted a JSON object such as {{...}}',
        f"{path}:6: found 7, wanted a JSON object such as {{...}}",
    ]


def test_problems_are_a_line_each():
    error = records.EvalSetError(["a:1: one", "b:2: two"])
    assert str(error) == "a:1: one\nb:2: two" and error.problems == ["a:1: one", "b:2: two"]


# Pages.


def test_a_page_has_no_mark_and_one_kind_of_line_end(tmp_path):
    path, said = tmp_path / "a.md", []
    path.write_bytes("\ufeffa\r\nb\rc\n\n".encode())
    assert records.page(path, pytest.fail) == "a\nb\nc\n\n"
    path.write_bytes(b"a\nb\n\nc\xe9\n")
    assert records.page(path, said.append) is None
    assert records.page(tmp_path / "none.md", said.append) is None
    assert said == [
        f"{path}:4: byte 0xe9 is not UTF-8, save the file as UTF-8",
        f"{tmp_path / 'none.md'}:1: cannot be read (No such file or directory), "
        "wanted a readable file",
    ]


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("---\ntitle: A\n---\nbody\n", ({"title": "A"}, "body\n")),
        ("---\ntitle: A\n--- \t\n\nbody", ({"title": "A"}, "\nbody")),
        ("---\ntitle: A\n---", ({"title": "A"}, "")),
        ("---\na: no\nb: 2.0\n---\n", ({"a": "no", "b": "2.0"}, "")),
        ("---\na: 2026-04-08\n---\n", ({"a": "2026-04-08"}, "")),
        ("---\na: 1\n---\n---\nb: 2\n---\n", ({"a": "1"}, "---\nb: 2\n---\n")),
        ("---\na: 1\n---- x\n", None),
        ("---\na: 1\n", None),
        ("\n---\na: 1\n---\n", None),
        ("----\na: 1\n---\n", None),
        ("body\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_front_matter_stands_first_between_two_lines_and_is_text(tmp_path, page, wanted):
    assert records.front_matter(tmp_path, page, pytest.fail) == wanted


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (
            "a: 1\nb: [2",
            "4: bad front matter (expected ',' or ']', but got '<stream end>'), wanted",
        ),
        ("a: b: c", "2: bad front matter (mapping values are not allowed here), wanted YAML"),
        ("a: 1\nb: c: d", "3: bad front matter (mapping values are not allowed here), wanted YAML"),
        ("a: 1\nb: \x07", "3: bad front matter (character #x0007), wanted YAML"),
        ("\n\x07", "3: bad front matter (character #x0007), wanted YAML"),
        ("\x07", "2: bad front matter (character #x0007), wanted YAML"),
        ("- a", "2: bad front matter (a list), wanted lines such as title: "),
        ("[]", "2: bad front matter (a list), wanted lines such as title: "),
        ("a", "2: bad front matter (text), wanted lines such as title: "),
        ("# a", "2: bad front matter (no fields), wanted lines such as title: "),
    ],
)
def test_a_block_without_fields_is_told_at_its_line_and_gives_none(block, told):
    said = []
    assert records.front_matter("p.md", f"---\n{block}\n---\nbody", said.append) == ({}, "body")
    assert len(said) == 1 and said[0].startswith(f"p.md:{told}") and "\n" not in said[0]


# Rows of a file that has a schema.


def read(path, *rows, **more):
    """Return the rows that are read and what is said, with the numbers of their lines alone."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said, start = [], len(f"{path}:")
    found = [(place[start:], row) for place, row in records.read(path, said.append, **more)]
    return found, [line[start:] for line in said]


def test_a_row_without_a_fault_is_read_with_its_place_once(tmp_path):
    good = {**PAIR, "relevance": 1}
    rows = good, {**good, "relevance": 7}, good, {**good, "query_id": "r"}
    places = {}
    found, said = read(tmp_path / "judgments.jsonl", *rows, places=places)
    assert found == [("1", good), ("4", rows[3])]
    assert said == [
        "2: field relevance is 7, wanted 0, 1 or 2 (more with highest_grade in settings.json)",
        "3: the pair q d stands already at line 1, wanted each once",
    ]
    assert [*places] == [("q", "d"), ("r", "d")] and places["r", "d"].endswith("judgments.jsonl:4")


def test_a_row_with_two_faults_is_told_twice_and_does_not_take_its_key(tmp_path):
    good = {**PAIR, "relevance": 1}
    found, said = read(tmp_path / "judgments.jsonl", {**PAIR, "grade": 1}, good)
    assert found == [("2", good)] and [line[:12] for line in said] == [
        "1: field rel",
        "1: field gra",
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("corpus.jsonl", "doc_id d"),
        ("retrieval_queries.jsonl", "query_id q"),
        ("pool.jsonl", "the pair q d"),
        ("second_pass.jsonl", "query_id doc_id round q d 1"),
        ("negatives.jsonl", "query_id q"),
        ("labelling.jsonl", ""),
    ],
)
def test_rows_with_a_key_stand_once_in_their_file(tmp_path, name, told):
    row = KNOWN[name][0]
    found, said = read(tmp_path / name, row, row)
    assert len(found) == 1 + (not told)
    assert said == ([f"2: {told} stands already at line 1, wanted each once"] if told else [])


def test_a_set_with_more_grades_reads_them_and_a_missing_file_has_no_rows(tmp_path):
    row = {**PAIR, "relevance": 3}
    assert read(tmp_path / "judgments.jsonl", row, grades=(0, 1, 2, 3)) == ([("1", row)], [])
    assert [*records.read(tmp_path / "pool.jsonl", pytest.fail)] == []


def test_queries_that_are_not_there_are_a_line_each_with_the_remedy():
    rows = [(f"p:{n}", {"query_id": q}) for n, q in enumerate("abcba", 1)]
    remedy = "write it there again, or take all its rows out of every file"
    assert records.orphans(rows, {"c": 0}, "sets/x") == [
        f"p:1: query a is not in retrieval_queries.jsonl and stands in 2 lines here: {remedy}: "
        "make drop QUERY=a EVALS=sets/x",
        f"p:2: query b is not in retrieval_queries.jsonl and stands in 2 lines here: {remedy}: "
        "make drop QUERY=b EVALS=sets/x",
    ]
    (told,) = records.orphans(rows, "ab", "x")
    assert told.startswith("p:3: query c is not") and "stands in 1 line here" in told


# Writing.


def test_a_file_is_written_as_it_stands_in_folders_that_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    for content in ("é\r\n\n", ""):
        records.write(path, content)
        assert path.read_bytes() == content.encode()
    records.write_jsonl(path, iter([{"a": "é"}, [1]]))
    assert path.read_text(encoding="utf-8") == '{"a": "é"}\n[1]\n'
    assert [*path.parent.iterdir()] == [path]
