"""Lines and pages are read with their places, rows held against a schema, files written whole."""

import errno
import gzip
import json
import os
import subprocess
import sys

import pytest

from helpers.measure import evalset, files

ROOT = evalset.DEFAULT.parent


def read_all(read, path, *more, **options):
    """Return what a reader gives for a file, and its problems without the path."""
    problems = []
    content = read(path, *more, problems, **options)
    content = content if isinstance(content, str | dict | None) else [*content]
    return content, [problem.removeprefix(f"{path}:") for problem in problems]


def begin_with(problems, wanted):
    """Return whether there are as many problems as wanted, each beginning as it should."""
    return [p[: len(w)] for p, w in zip(problems, wanted, strict=True)] == wanted


def test_lines_come_with_their_places_and_empty_ones_are_counted_only(tmp_path):
    content = "\ufeffone \n\n \t\r\n two\r\nthree\r.".encode()
    (tmp_path / "a.txt").write_bytes(content)
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    for path in (tmp_path / "a.txt", str(tmp_path / "a.gz")):
        first = [(f"{path}:1", "one "), (f"{path}:4", " two")]
        assert [*files.lines(path)] == [*first, (f"{path}:5", "three"), (f"{path}:6", ".")]
        assert [*files.lines(path, newline="\n")] == [*first, (f"{path}:5", "three\r.")]
    assert files.page(tmp_path / "a.gz") == "one \n\n \t\n two\nthree\n."


NOT_THERE = "1: cannot be read (No such file or directory), wanted a readable"
UNREADABLE = [  # name, content, lines that are read, what is told
    ("a", b"a\n\x80b\xff\nc\n\xff\n", "ac", ["2: byte 0x80 is not", "4: byte 0xff is not"]),
    ("none", None, "", [NOT_THERE]),
    ("none.gz", None, "", [NOT_THERE]),
    ("plain.gz", b"first\n", "", ["1: cannot be read (Not a gzipped file (b'fi'))"]),
    (".", None, "", ["1: cannot be read (Is a directory)"]),
]


@pytest.mark.parametrize(("name", "content", "lines", "wanted"), UNREADABLE)
def test_what_cannot_be_read_is_told_and_the_rest_is_read(tmp_path, name, content, lines, wanted):
    path = tmp_path / name
    if content:
        path.write_bytes(content)
    read, problems = read_all(files.lines, path)
    assert "".join(line for _, line in read) == lines and begin_with(problems, wanted)
    page, problems = read_all(files.page, path)
    assert page is None and begin_with(problems, wanted)
    with pytest.raises(files.EvalSetError) as caught:
        list(files.lines(path))
    assert len(caught.value.problems) == 1 and files.optional_page(tmp_path / "missing") == ""


BAD_FIELDS = "bad front matter ("
BLOCKS = [  # a page, and the fields and the rest of it, or what is told
    ("---\ntitle: A\n---\nbody\n", ({"title": "A"}, "body\n")),
    ("---\na: 2026-04-08\nb: 2.0\nc: no\n--- \t\n\nx",
     ({"a": "2026-04-08", "b": "2.0", "c": "no"}, "\nx")),
    ("---\na: 1\n---", ({"a": "1"}, "")),
    ("---\na: 1\n---- x\n", None),
    ("---\na: 1\n", None),
    ("\n---\na: 1\n---\n", None),
    ("---\na: 1\nb: [2\n---\n", f"4: {BAD_FIELDS}expected ',' or ']'"),
    ("---\na: 1\nb: c: d\n---\n", f"3: {BAD_FIELDS}mapping values are not allowed here), wanted"),
    ("---\na: \x07\n---\n", f"2: {BAD_FIELDS}unacceptable character #x0007: special"),
    ("---\na: 1\nb: 2\na: 3\n---\n", f"2: {BAD_FIELDS}key a stands twice), wanted YAML"),
    ("---\n- a\n---\n", f"2: {BAD_FIELDS}sequence is no field)"),
    ("---\na: 1\nb: &x [c]\nd: *x\n---\n", f"3: {BAD_FIELDS}found the anchor x, wanted none), "),
]  # fmt: skip


@pytest.mark.parametrize(("page", "wanted"), BLOCKS)
def test_front_matter_is_text_and_what_holds_no_fields_is_told_at_its_line(page, wanted):
    problems = []
    front = files.front_matter("p.md", page, problems)
    if isinstance(wanted, str):
        assert front == ({}, "") and begin_with(problems, [f"p.md:{wanted}"])
    else:
        assert front == wanted and not problems


NO_OBJECT = "found [1], wanted a JSON object such as {...}"
LINES = [  # a line of a file, and the object it holds or what is told of it
    ('{"a": 1}', {"a": 1}),
    ("[1]", NO_OBJECT),
    ('{"b":', "broken JSON (Expecting value: line 1 column 6 (char 5)), wanted one object"),
    ('{"a": 1, "b": {"c": 1, "c": 1}}', "broken JSON (key c stands twice), wanted one object"),
    ('{"d": "\\ud800"}', "field d holds half of a surrogate pair, wanted whole characters"),
    ('{"d": "\\ud83d\\ude42"}', {"d": "🙂"}),
    ("{}", {}),
]


def test_rows_and_pages_are_objects_and_what_is_none_is_told(tmp_path):
    path = tmp_path / "a.jsonl"
    assert read_all(files.json_page, path) == ({}, [NOT_THERE + " file"])
    path.write_text("")
    assert read_all(files.json_page, path) == ({}, [])
    told = []
    for number, (line, wanted) in enumerate(LINES, 1):
        path.write_text(line)
        page, problems = read_all(files.json_page, path)
        if isinstance(wanted, str):
            assert page == {} and begin_with(problems, [f"1: {wanted}"])
            told.append(f"{number}: {wanted}")
        else:
            assert (page, problems) == (wanted, [])
    path.write_text("\n".join(line for line, _ in LINES))
    rows, problems = read_all(files.rows, path)
    assert rows == [(f"{path}:{n}", LINES[n - 1][1]) for n in (1, 6, 7)]
    assert begin_with(problems, told) and problems[1].endswith("wanted one object a line")


def test_problems_of_a_kind_are_told_up_to_a_number_and_then_counted():
    problems = [f"a:{n}: found {n}, wanted one" for n in range(500)]
    error = files.EvalSetError([*problems, "a:\udcff.md: é\ud800, wanted another"])
    assert len(error.problems) == files.MOST + 2 and error.count == 501
    assert error.problems[-2:] == [
        "a:\\udcff.md: é\\ud800, wanted another", "and 400 more like these",
    ]  # fmt: skip
    assert str(error) == "\n".join(error.problems) and error.problems[0] == problems[0]
    assert error._render_traceback_() == error.problems


MORE = {"kind": "ops", "service": "a/b", "updated": "2026-04-08", "version": "2", "copy_of": "e"}
ASKED = {"relevant_doc_ids": [], "kind": "how", "popularity": "head", "split": "dev", "answers": []}
ASKED |= {"language": "nl", "round": 1}
PAIR = {"query_id": "q", "doc_id": "d"}
GRADES = {"first": 0, "second": 1, "final": 2}
SPAN = {"doc_id": "d", "chunk_idx": 0, "start": 0, "end": 1, "n_tokens": 1}
KNOWN = {  # stem: (fields that must be there, fields that may, key)
    "settings": ({}, {"words": "bigrams", "highest_grade": 4, "imported": "BEIR"}, ""),
    "page": ({"title": "Disk"}, MORE, ""),
    "corpus": ({"doc_id": "d", "title": "", "text": "x"}, MORE, "doc_id"),
    "retrieval_queries": ({"query_id": "q", "query": "full"}, ASKED, "query_id"),
    "judgments": ({**PAIR, "relevance": 2}, {"evidence": ""}, "query_id doc_id"),
    "pool": ({**PAIR, "rankers": ["hand"]}, {"first": None}, "query_id doc_id"),
    "second_pass": ({**PAIR, "round": 1, **GRADES, "reason": ""},
                    {"reader": "model", "batch": "", "evidence": ["a", ["b", "c"]]},
                    "query_id doc_id round"),
    "followups": ({"followup_id": "f", "follows": "q", "query": "and full?", "standalone": "full",
                   "grades": {"d": 1}, "evidence": {"d": ["a", ["b", "c"]]}},
                  {"popularity": "head"}, "followup_id"),
    "negatives": ({"query_id": "q", "easy": ["d"], "hard": []}, {}, "query_id"),
    "judge": ({**PAIR, "relevance": 2, "model": "m 1", "prompt_sha256": "0f" * 32},
              {"evidence": ""}, "query_id doc_id model prompt_sha256"),
    "proposed": ({"doc_id": "d", "query": "full"},
                 {"model": "m 1", "accepted": True, "word_overlap": 0.5}, "doc_id query"),
    "labelling": ({**PAIR, "doc_id": "", "relevance": 1},
                  {"evidence": "", "repeat": True, "time": "", "kind": "how", "was": 2,
                   "skipped": ["d"], "drawn": []}, ""),
    "skipped": ({**PAIR, "drawn": True}, {}, "query_id doc_id"),
    "to_read": (PAIR, {"why": "", "relevance": 2, "evidence": ["a", ["b", "c"]], "passages": []},
                "query_id doc_id"),
    "history": ({**PAIR, "carry": 1, "from": "0" * 64, "to": "a" * 64, "outcome": "moved",
                 "doc_ids": ["e"], "decided": "carry"}, {}, "carry query_id doc_id"),
    "chunks": (SPAN, {}, "doc_id chunk_idx"),
}  # fmt: skip
ID = "text of up to 1,000 characters, without spaces, slashes, # or invisible ones"
LABEL = "1 to 60 letters, digits, spaces and -_/.&+()"
GRADE = "a grade: 0, 1 or 2, or up to the highest_grade of settings.json"
IDS = ["a", "a.b", "...", "風の音", "🙂", "a" * 1000]
NO_IDS = ["", ".", "..", "a b", "a/b", "a\\b", "a#b", "a\n", "a\0", "\u202ea", "a" * 1001, None, 1]
LABELS = ["Q&A (v1.0)", "a/b_c+d-e", "कैसे", "質問", "a" * 60]
NO_LABELS = ["", " ", "<b>", "a\nb", "a|b", "[a]", "`", "a\u202e", "a" * 61, 1]
NO_NUMBERS = [-1, 1000, True, 1.0, "1"]
FIELDS = [  # field, file, values that fit, values that do not, what is wanted
    ("doc_id", "corpus", IDS, NO_IDS, ID),
    ("kind", "retrieval_queries", LABELS, NO_LABELS, LABEL),
    ("title", "page", ["a", " a "], ["", " \n", 1], "text that is not empty"),
    ("text", "corpus", ["a", " a\n"], ["", " \n", None], "text that is not empty"),
    ("easy", "negatives", [[], ["a", "b"]], [["a", "a"], ["a", " "], [1], "ab"],
     "a list of different document ids"),
    ("rankers", "pool", [[], ["a", "a"]], [["a", ""], [None], "a"], "a list of texts"),
    ("split", "retrieval_queries", ["dev", "test"], ["train", ["dev"]], "dev or test"),
    ("popularity", "retrieval_queries", ["head", "tail"], ["dev", None], "head or tail"),
    *(("round", name, [1, 99], [0, True, 1.0, "1"], "a number from 1")
      for name in ("second_pass", "retrieval_queries")),
    ("language", "retrieval_queries", ["nl"], ["", "NL", "nld", "nl\n", 1],
     "a code of ISO 639-1, such as nl, where it is not the language of the set"),
    ("reader", "second_pass", ["person", "model:m-1.5", "person:ab"],
     ["people", "ab", "person:", "person:a b", "person:" + "a" * 21],
     "person or model, with a handle where several read: person:ab"),
    ("needs", "retrieval_queries", [{"n1": "who", "n2": "when"}],
     [{"n1": "who"}, ["who"], {"n1": 1, "n2": "b"}, {"n1": " ", "n2": "b"}],
     "an object with the id and a short text of each of two or more things that the query asks "
     "for"),
    *(("evidence", name, ["a", "", [], ["b", ["c", "d"]], [{"quotes": ["a"], "needs": ["n1"]}]],
       [1, [""], [["c", ""]], [[["c"]]], [1]],
       "a quote, or a list of alternatives: a quote that is enough by itself, a list of quotes "
       'that are enough together, or {"quotes": [...], "needs": [...]} with the ids of the needs '
       "that they meet") for name in ("judgments", "labelling", "second_pass")),
    ("evidence", "judge", ["a", ""], [["b"]], "a quote"),
    ("model", "judge", ["m"], ["", " "], "the name of a model, with its version"),
    ("prompt_sha256", "judge", ["a" * 64], ["a" * 63, "A" * 64], "64 digits from 0 to f"),
    ("accepted", "proposed", [True, False], ["true", 1], "true or false"),
    ("word_overlap", "proposed", [0, 0.5, 1], [-1, 1.1, "a"], "a number from 0 to 1"),
    ("why", "to_read", ["", "its document changed"], ["a\nb", 1], "one line of text"),
    ("passages", "to_read", [[], [[0, 1], [5, 3]]], [[0, 1], [[0]], [[-1, 2]], [[0, 1, 2]]],
     "a list of [start, end], in characters of title, blank line, text"),
    ("reading", "settings", ["find", "blind"], ["random", 1],
     "find: likeliest documents first, a query may be stopped; or blind: shuffled, all are read"),
    ("drawn", "skipped", [True, False], [0, "true"],
     "true or false: whether it was drawn to be read blind"),
    ("repeat", "labelling", [True, False], [0, "true"], "true or false"),
    ("updated", "corpus", ["2026-04-08"], ["2026-4-8", "2026-02-30", "20260408", 20260408],
     "a date such as 2026-04-08"),
    ("words", "settings", ["words", "unicode-words", "bigrams"], ["bigram", []],
     "one of: words, unicode-words, bigrams"),
    ("highest_grade", "settings", [1, 999], [0, *NO_NUMBERS], "a whole number from 1 to 999"),
    ("full_grade", "settings", [2, 999], [1, *NO_NUMBERS], "a whole number from 2 to 999"),
    ("confirmed", "settings", [{}, {"a": "2026-11-23"}], [{"a": "2026-02-30"}, {"a": 1}, ["a"]],
     'names of systems with their days, such as {"mine": "2026-11-23"}'),
    ("relevance", "judgments", [0, 1, 2], [None, *NO_NUMBERS], GRADE),
    ("relevance", "judgments", [], [3], 'at most 2, unless settings.json has "highest_grade": 3'),
    ("first", "pool", [0, 1, 2, None], NO_NUMBERS, f"{GRADE}, or null"),
    ("first", "pool", [], [999], 'at most 2, unless settings.json has "highest_grade": 999'),
]  # fmt: skip


def test_every_file_has_a_schema_and_a_row_has_its_fields_and_no_others():
    stems = {path.name.partition(".")[0] for path in files.FORMS.glob("*.json")}
    assert stems == {*KNOWN, "results"}
    for name, (needed, optional, key) in KNOWN.items():
        schema, whole = files.schema(name), needed | optional
        assert " ".join(schema.key) == key
        assert schema.faults(whole) == schema.faults(needed) == []
        for field in needed:
            (fault,) = schema.faults({k: v for k, v in whole.items() if k != field})
            assert fault == f"field {field} is missing, wanted {schema.wanted(field)}"
        unknown = f"field more is unknown, wanted one of: {', '.join(schema.fields)}"
        assert schema.faults(whole | {"more": 1}) == ([] if name == "corpus" else [unknown])


@pytest.mark.parametrize(("field", "name", "fit", "others", "wanted"), FIELDS)
def test_what_fits_a_field_and_what_is_wanted(field, name, fit, others, wanted):
    schema = files.schema(name)
    for value in fit:
        assert schema.fits(field, value) and schema.faults({**KNOWN[name][0], field: value}) == []
    for value in others:
        shown = json.dumps(value, ensure_ascii=False)[:60]
        faults = schema.faults({**KNOWN[name][0], field: value})
        assert faults == [f"field {field} is {shown}, wanted {wanted}"]
        assert not schema.fits(field, value) and not schema.fits("author", value)


def test_rows_without_a_fault_are_read_once_with_their_place(tmp_path):
    for name in ("retrieval_queries", "second_pass", "labelling"):
        path, (row, _, key), places = tmp_path / f"{name}.jsonl", KNOWN[name], {}
        assert [*files.read(path)] == []
        files.write_jsonl(path, [{**row, "query_id": "a b", "mood": 1}, row, row])
        rows, problems = read_all(files.read, path, places=places)
        wanted = ['1: field query_id is "a b", wanted ', "1: field mood is unknown, wanted "]
        if key:
            wanted.append(f"3: {' and '.join(key.split())} q")
            assert problems[-1].endswith("stands already at line 2, wanted each once")
            assert places == {tuple(row[field] for field in key.split()): f"{path}:2"}
        assert [place for place, _ in rows] == [f"{path}:{n}" for n in ([2] if key else [2, 3])]
        assert begin_with(problems, wanted), name


def test_line_ends_do_not_change_the_hash_of_a_file(tmp_path):
    for name, content in (("a", b"x\ny\n"), ("b", b"x\r\ny\r\n"), ("c", b"x\ny")):
        (tmp_path / name).write_bytes(content)
    a, b, c = (files.file_hash(tmp_path / name) for name in "abc")
    assert a == b != c


def names_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_file_is_written_as_it_stands_in_folders_that_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    for content in ("é\r\n\n", ""):
        files.write(path, content)
        assert path.read_bytes() == content.encode() and [*path.parent.iterdir()] == [path]
    files.write_jsonl(path, [{"a": "é"}, {}])
    assert path.read_text(encoding="utf-8") == '{"a": "é"}\n{}\n'
    if os.name != "nt":
        before = os.umask(0o027)
        files.write(path, "x")
        os.umask(before)
        assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_former_file_and_nothing_else(tmp_path, monkeypatch, call):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "a.txt"
    files.write(path, "x")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "half \ud800")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError) as caught:
        files.write(path, "y")
    assert caught.value.filename == str(path)
    assert [part.read_text() for part in tmp_path.iterdir()] == ["x"]


@pytest.mark.skipif(os.name == "nt", reason="wants links and pipes")
def test_no_file_takes_the_place_of_a_folder_and_a_device_is_written_through(tmp_path, monkeypatch):
    kept, pipe, system = tmp_path / "kept", tmp_path / "pipe", tmp_path / "dev"
    files.write(kept / "a.txt", "a")
    system.mkdir()
    os.mkfifo(pipe)
    for link, target in (("of_kept", kept), ("null", os.devnull), ("dev/stdout", kept / "a.txt")):
        (tmp_path / link).symlink_to(target)
    before = names_in(tmp_path)
    for folder in (kept, tmp_path / "of_kept"):
        with pytest.raises(OSError) as caught:
            files.write(folder, "x")
        assert caught.value.filename == str(folder)
    monkeypatch.setattr(files, "SYSTEM", (system,))
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, tmp_path / "null", system / "stdout"):
        files.write(path, "é")
    assert os.read(reader, 9) == "é".encode() and (kept / "a.txt").read_text() == "aé"
    os.close(reader)
    links = [path for path in tmp_path.rglob("*") if path.is_symlink()]
    assert names_in(tmp_path) == before and len(links) == 3


@pytest.mark.skipif(os.name == "nt", reason="wants links and pipes")
def test_what_is_written_through_stands_behind_what_was_printed(tmp_path):
    (out := tmp_path / "out").symlink_to("/dev/stdout")
    code = "import pathlib, sys; from helpers.measure import files; "
    code += "print('a'); files.write(pathlib.Path(sys.argv[1]), 'b')"
    command = [sys.executable, "-E", "-c", code, str(out)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).stdout == b"a\nb"


def test_a_folder_takes_an_empty_place_when_it_is_whole_and_never_that_of_another(tmp_path):
    to = tmp_path / "a" / "to"
    to.mkdir(parents=True)
    with files.new_folder(to) as part:
        files.write(part / "old", "")
    with pytest.raises(OSError) as caught, files.new_folder(to) as part:
        files.write(part / "new", "")
    assert caught.value.filename == str(to)
    for path in (to, tmp_path / "b" / "c" / "to"):
        with pytest.raises(KeyError), files.new_folder(path) as part:
            files.write(part / "half", "")
            raise KeyError
    assert names_in(tmp_path) == ["a", "a/to", "a/to/old"]
