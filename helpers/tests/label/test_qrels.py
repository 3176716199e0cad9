"""What labels mean, which queries they keep, and how queries come into halves."""

import pytest
from conftest import write_rows
from importing import bring, put, task

from helpers.label import audit, readers, write
from helpers.measure import evalset, links
from helpers.measure.text import how_many

LONG = " ".join(f"word{n}" for n in range(40))

GIVEN = [  # query, document, grade, split
    ("q", "a", " 2 ", "test"),
    ("q", "b", "-1", "test"),
    ("q", "a", "2.0", "test"),
    ("q", "a", 1, "test"),
    ("q", "c", "x", "test"),
    ("q", "c", 1, "dev"),
    ("p", "a", "999", "test"),
    ("p", "b", 1000, "test"),
    ("p", "c", "1.5", "test"),
    ("p", "d", "0.00", "test"),
]


def test_labels_are_read_by_query_and_doubled_ones_told():
    labels = [
        readers.Label(f"f:{n}", split, query_id, doc_id, grade)
        for n, (query_id, doc_id, grade, split) in enumerate(GIVEN, 1)
    ]
    log = task()
    found = write.read_labels(labels, log)
    assert {q: {d: n.grade for d, n in row.items()} for q, row in found.items()} == {
        "q": {"a": 2, "b": 0, "c": 1},
        "p": {"a": 999, "d": 0},
    }
    assert log.problems == [
        "f:4: q a has grade 1 and at f:1 grade 2, wanted one",
        "f:5: grade is 'x', wanted a whole number up to 999",
        "f:6: query q is in dev and at f:1 in test, wanted each query in one split",
        "f:8: grade is '1000', wanted a whole number up to 999",
        "f:9: grade is '1.5', wanted a whole number up to 999",
    ]
    assert log.left == {"pairs judged twice with one grade": (1, "f:3")}
    assert log.changed == {"grades below 0, which became 0": 1}
    assert write.read_labels([], log) == {}


def collection(path, answers, texts=None):
    """Write a BEIR folder: `answers` is {split: {query: documents}}; return it."""
    ids = sorted({d for row in answers.values() for found in row.values() for d in found.split()})
    rows = ({"_id": d, "title": "", "text": (texts or {}).get(d, f"text of {d}")} for d in ids)
    path.mkdir()
    write_rows(path / "corpus.jsonl", *rows)
    queries = [q for row in answers.values() for q in row]
    write_rows(path / "queries.jsonl", *({"_id": q, "text": f"about {q}"} for q in queries))
    for split, row in answers.items():
        lines = [f"{q}\t{d}\t1\n" for q, found in row.items() for d in found.split()]
        put(path / "qrels" / f"{split}.tsv", "".join(lines))
    return path


def halves(evals):
    queries = evals.queries.values()
    return [" ".join(q.query_id for q in queries if q.split == half) for half in evalset.SPLITS]


BOTH = {"train": {"t1": "a", "t2": "b", "t3": "c"}, "test": {"q1": "a"}}
DRAWN = "drawn, queries that share a full answer in one (test, train)"
OPTIONS = [  # options, dev, test, what is said
    ({}, "t1 t2 t3", "q1", "the source's own (test, train)"),  # uneven, leaking: it is theirs
    ({"split": "test"}, "", "q1", "the source's own (test)"),
    ({"split": "train"}, "t1 t2 t3", "", "source's own (train)"),
    ({"halve": True}, "t2", "q1 t1 t3", DRAWN),  # t1 and q1 share an answer
]


def test_the_splits_of_the_source_stay_unless_halves_are_asked_for(tmp_path):
    folder = collection(tmp_path / "both", BOTH)
    for number, (options, dev, test, *words) in enumerate(OPTIONS):
        lines, evals = bring("beir", folder, tmp_path / str(number), **options)
        assert halves(evals) == [dev, test], options
        (sentence,) = (line for line in lines if line.startswith("halves: "))
        assert all(some in sentence for some in words), sentence


SIDES = [  # all splits of a source, {query: its split}, whether halves are drawn
    ((), {"a": "train", "b": "test-a"}, False),
    (("x", "validation", "test"), {"b": "test"}, False),
    (("test",), {"b": "test"}, True),
    (("dev", "test"), {"a": "train", "b": "test-a", "c": "extra"}, True),
]


def test_halves_are_drawn_where_the_names_of_splits_do_not_say_both():
    for splits, rows, drawn in SIDES:
        kept = {q: {"d": readers.Label("f:1", split, q, "d", 1)} for q, split in rows.items()}
        found, sentence = write.source_halves(kept, readers.Source([], splits=splits))
        assert found.keys() == rows.keys() and (sentence == "") == drawn, rows


def test_fewer_than_sixty_queries_are_all_dev_and_the_first_line_says_from_when_on(tmp_path):
    for n in (1, 59, 60):
        answers = {"test": {f"q{m:02}": f"d{m:02}" for m in range(n)}}
        lines, evals = bring("beir", collection(tmp_path / f"{n}", answers), tmp_path / f"to{n}")
        assert [len(ids.split()) for ids in halves(evals)] == ([20, 40] if n == 60 else [n, 0])
        few = f"{how_many(n, 'answered query')}, all dev. A test half pays from 60 on: its 40 find "
        few += "a difference in nDCG@10 of 0.11 in"  # TTestPower of statsmodels: .1136 at sd .25
        assert lines[0].startswith("documents: 60" if n == 60 else few)
        assert any(line.startswith("halves: ") for line in lines) == (n == 60)


def test_drawn_halves_pass_the_audit_of_leaks(tmp_path):
    answers = {f"q{n:02}": f"d{n // 3}" for n in range(24)} | {"q24": "copy"}
    folder = collection(tmp_path / "s", {"test": answers}, {"d0": f"{LONG} end", "copy": LONG})
    lines, evals = bring("beir", folder, tmp_path / "to", halve=True)
    assert "halves: drawn, queries that share a full answer in one (test)" in lines
    sizes = [len(ids.split()) for ids in halves(evals)]
    assert sum(sizes) == 25 and sizes[0] in (7, 8, 9)
    assert evals.queries["q24"].split == evals.queries["q00"].split
    assert links.leaks(evals, links.alike_documents(evals)[1]) == []
    found = {finding.check: finding.status for finding in audit.findings(evals)}
    assert found["leakage"] == "pass" and "fail" not in found.values()


@pytest.mark.parametrize(
    ("together", "alone", "kept"), [(9, 2, False), (12, 3, False), (9, 3, True), (1, 0, True)]
)
def test_groups_are_torn_where_the_smaller_half_is_below_a_quarter(tmp_path, together, alone, kept):
    answers = {f"q{n}": "d" for n in range(together)} | {f"x{n}": f"e{n}" for n in range(alone)}
    folder = collection(tmp_path / "s", {"all": answers})
    lines, evals = bring("beir", folder, tmp_path / "to", halve=True)
    sizes, total = sorted(len(ids.split()) for ids in halves(evals)), together + alone
    assert sizes == ([alone, together] if kept else [round(total / 3), total - round(total / 3)])
    torn = f"connect {together} of {total} queries, so the halves share some"
    assert any(torn in line for line in lines) == (not kept)


@pytest.mark.parametrize(("end", "start", "torn"), [(12, 4, False), (40, 4, True)])
def test_neither_a_zero_nor_a_stock_phrase_connects_queries(tmp_path, end, start, torn):
    words = LONG.split()
    texts = {"x": " ".join(words[:end]), "z": " ".join(words[start : end + start])}
    folder = collection(tmp_path / "s", {"test": {"qx": "x", "qz": "z"}}, texts)
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("qx\tz\t0\n")
    lines, _ = bring("beir", folder, tmp_path / "to", halve=True)
    assert ("connect 2 of 2 queries" in lines[-1]) == torn, lines
