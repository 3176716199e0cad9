"""Rows are read with the place of every line and held against a schema."""

import json

import pytest

from helpers import files

MORE = {
    "kind": "runbook",
    "service": "disk",
    "updated": "2026-04-08",
    "version": "2.0",
    "copy_of": "e",
}
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
    "second_pass.jsonl": ({**PAIR, "round": 1, **GRADES, "reason": ""}, {"reader": "model"}),
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


@pytest.mark.parametrize("name", files.SCHEMAS)
def test_each_kind_of_row_has_these_fields_and_no_others(name):
    (needed, optional), schema = KNOWN[name], files.SCHEMAS[name]
    whole = needed | optional
    assert files.complaints(whole, schema) == files.complaints(needed, schema) == []
    for field in needed:
        (told,) = files.complaints({k: v for k, v in whole.items() if k != field}, schema)
        assert told.startswith(f"field {field} is missing, wanted ")
    told = files.complaints(whole | {"more": 1}, schema)
    named = f"field more is unknown, wanted one of: {', '.join(whole)}"
    assert told == ([] if name == "corpus.jsonl" else [named])
    assert schema.key == KEYS.get(name, ())


ID = "text of up to 1,000 characters, without spaces, slashes, # or invisible ones"
LABEL = "1 to 60 letters, digits, spaces and -_/.&+()"
LABELS = ["how-to", "Q&A (v1.0)", "a/b_c+d", "कैसे", "質問", "a" * 60]
NO_LABELS = [
    "",
    " ",
    "<b>",
    "a\nb",
    "a|b",
    "*a*",
    "[a]",
    "a:b",
    "`",
    "\x1b",
    "$",
    1,
    None,
]
FIELDS = [  # field, kind of row, values that fit, values that do not, what is wanted
    ("query_id", "undone", ["q", "q-1.b:c_é"], ["", "a b", "a/b", "a\\b", "#", "a\n", 1, None], ID),
    ("kind", "corpus.jsonl", LABELS, NO_LABELS, LABEL),
    ("service", "corpus/*.md", LABELS, NO_LABELS, LABEL),
    ("version", "corpus.jsonl", LABELS, NO_LABELS, LABEL),
    ("kind", "retrieval_queries.jsonl", LABELS, NO_LABELS, LABEL),
    ("kind", "labelling.jsonl", LABELS, NO_LABELS, LABEL),
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
    schema = files.SCHEMAS[name]
    for value in fit:
        assert files.complaints({**KNOWN[name][0], field: value}, schema) == []
    for value in others:
        told = files.complaints({**KNOWN[name][0], field: value}, schema)
        assert told == [f"field {field} is {json.dumps(value)}, wanted {wanted}"]
    if field in schema.needed:
        assert files.complaints({}, schema)[[*schema.needed].index(field)] == (
            f"field {field} is missing, wanted {wanted}"
        )


@pytest.mark.parametrize(
    ("highest", "wanted"),
    [(1, "0 or 1"), (3, "0, 1, 2 or 3"), (4, "a whole number from 0 to 4")],
)
def test_other_grades_are_listed_up_to_four(highest, wanted):
    grades = tuple(range(highest + 1))
    row = {**PAIR, "relevance": highest}
    assert files.complaints(row, files.SCHEMAS["judgments.jsonl"], grades) == []
    row["relevance"] += 1
    (told,) = files.complaints(row, files.SCHEMAS["judgments.jsonl"], grades)
    assert told == f"field relevance is {highest + 1}, wanted {wanted}"


def test_a_label_has_up_to_sixty_characters():
    assert files.is_label("a" * 60) and not files.is_label("a" * 61)
    assert not files.is_label("a\u202e")


def test_a_value_is_shown_as_json_in_its_own_script_and_cut_at_sixty():
    schema = files.SCHEMAS["retrieval_queries.jsonl"]
    row = {**KNOWN["retrieval_queries.jsonl"][0], "split": "é" * 99, "kind": ["é"]}
    assert files.complaints(row, schema) == [
        f'field split is "{"é" * 59}, wanted dev or test',
        'field kind is ["é"], wanted 1 to 60 letters, digits, spaces and -_/.&+()',
    ]


# Lines that hold objects.


def test_rows_are_objects_and_other_lines_are_told(tmp_path):
    path, said = tmp_path / "a.jsonl", []
    path.write_text('{"a": 1}\n[1, 2]\n\n{"b":\n"' + "x" * 50 + '"\n  7\n{}\n')
    assert [*files.rows(path, said.append)] == [(f"{path}:1", {"a": 1}), (f"{path}:7", {})]
    assert said == [
        f"{path}:2: found [1, 2], wanted a JSON object such as {{...}}",
        f"{path}:4: broken JSON (Expecting value: line 1 column 6 (char 5)), wanted one object a "
        "line",
        f'{path}:5: found "{"x" * 39}, wanted a JSON object such as {{...}}',
        f"{path}:6: found 7, wanted a JSON object such as {{...}}",
    ]


def test_problems_are_a_line_each():
    error = files.EvalSetError(["a:1: one", "b:2: two"])
    assert str(error) == "a:1: one\nb:2: two" and error.problems == ["a:1: one", "b:2: two"]


# Rows of a file that has a schema.


def read(path, *rows, **more):
    """Return the rows that are read and what is said, with the numbers of their lines alone."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said, start = [], len(f"{path}:")
    found = [(place[start:], row) for place, row in files.read(path, said.append, **more)]
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
    assert [*files.read(tmp_path / "pool.jsonl", pytest.fail)] == []


def test_queries_that_are_not_there_are_a_line_each_with_the_remedy():
    rows = [(f"p:{n}", {"query_id": q}) for n, q in enumerate("abcba", 1)]
    remedy = "write it there again, or take all its rows out of every file"
    assert files.orphans(rows, {"c": 0}, "sets/x") == [
        f"p:1: query a is not in retrieval_queries.jsonl and stands in 2 lines here: {remedy}: "
        "make drop QUERY=a EVALS=sets/x",
        f"p:2: query b is not in retrieval_queries.jsonl and stands in 2 lines here: {remedy}: "
        "make drop QUERY=b EVALS=sets/x",
    ]
    (told,) = files.orphans(rows, "ab", "x")
    assert told.startswith("p:3: query c is not") and "stands in 1 line here" in told


# What is counted, what is seen, what is alike.


def test_problems_of_a_kind_are_told_up_to_a_number_and_then_counted():
    problems = files.Problems()
    problems += [f"a:{n}: found {n}, wanted one" for n in range(5 * files.MOST)]
    problems.append("b:1: bad, wanted another")
    error = files.EvalSetError(problems)
    assert len(error.problems) == files.MOST + 2 and error.count == 5 * files.MOST + 1
    assert error.problems[-2:] == ["b:1: bad, wanted another", "and 400 more like these"]
    assert error.problems[0] == "a:0: found 0, wanted one"


def test_many_kinds_of_problems_are_counted_too_and_a_flood_ends_reading(monkeypatch):
    problems = files.Problems()
    problems.extend(f"wanted {n}" for n in range(20 * files.MOST))
    assert (len(problems), problems.more) == (10 * files.MOST, 10 * files.MOST)
    monkeypatch.setattr(files, "FLOOD", 20 * files.MOST + 2)
    problems.append("x")
    with pytest.raises(
        files.EvalSetError, match="and 1,002 more like these, then reading stopped$"
    ):
        problems.append("x")


def test_what_no_terminal_can_write_is_told_by_its_number():
    assert str(files.EvalSetError(["corpus/\udcff.md: é\ud800"])) == "corpus/\\udcff.md: é\\ud800"


@pytest.mark.parametrize(
    "name", ["a", "é", "a.b", "...", "風の音", "q-1", "\u0645\u06cc", "🙂", "a" * 1000]
)
def test_ids(name):
    assert files.is_id(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "a b", "a/b", "a\\b", "a#b", "a\tb", "a\nb", "a\0", "a\x1b[1m", "a\x7f"),
        *(
            "a\u200b",
            "\u202ea",
            "\ufeffa",
            "a\u00ad",
            "a\u2060",
            "a\ufe0f",
            "\u3164",
            "a\ud800",
            "a" * 1001,
        ),
        *(None, 1, ["a"]),
    ],
)
def test_no_ids(name):
    assert not files.is_id(name)


def test_half_a_surrogate_pair_is_told_where_it_stands(tmp_path):
    path, said = tmp_path / "corpus.jsonl", []
    rows = [
        '{"doc_id": "d", "title": "a", "text": "\\ud800 x"}',
        '{"doc_id": "e", "title": "", "text": "\\ud83d\\ude42"}',
    ]
    path.write_text("\n".join(rows))
    assert [row["text"] for _, row in files.read(path, said.append)] == ["🙂"]
    assert said == [f"{path}:1: field text holds half of a surrogate pair, wanted whole characters"]
    query = {"query_id": "q", "query": "x", "relevant_doc_ids": [], "answers": ["\udfff"]}
    (told,) = files.complaints(query, files.SCHEMAS["retrieval_queries.jsonl"])
    assert told.startswith("field answers holds half")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 1}}', "key c stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ("9" * 5000, "Exceeds the limit"),
    ],
)
def test_json_that_contradicts_itself_or_never_ends_is_a_line(line, told):
    with pytest.raises(ValueError, match=rf"^broken JSON \({told}.*wanted one object a line$"):
        files.json_object(line)


def test_ids_that_look_alike_are_told():
    names = ["a", "é", "B", "A", "e\u0301", "b", "c", "x²", "x2"]  # the last two look different
    places = {name: f"f:{n}" for n, name in enumerate(names, 1)}
    said = []
    files.twins(places, said.append, cases=False)
    assert said == [
        "f:5: id e\u0301 differs from é (line 2) in Unicode form only, wanted ids that people can "
        "tell apart"
    ]
    files.twins(places, said.append, cases=True)
    assert [line.partition(" (")[0] for line in said[1:]] == [
        "f:4: id A differs from a",
        "f:5: id e\u0301 differs from é",
        "f:6: id b differs from B",
    ]
    assert all("in case or Unicode form only" in line for line in said[1:])


def test_pages_that_nobody_reads_are_told(tmp_path):
    corpus, said = tmp_path / "corpus", []
    for name in ("a.md", "B.MD", "c.markdown", "deep/d.md", ".git/e.md", "f.txt", "deep/g.png"):
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        (corpus / name).write_text("")
    assert files.pages(corpus, said.append) == [corpus / "a.md"]
    wanted = f":1: is read by nobody, wanted {corpus / 'NAME.md'}"
    assert said == [f"{corpus / name}{wanted}" for name in ("B.MD", "c.markdown", "deep/d.md")]
