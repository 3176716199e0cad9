"""What labels mean, which queries they keep, and how queries come into halves."""

from conftest import write_rows
from importing import bring, put, task

from helpers import evalset
from helpers.labels import audit, links
from helpers.sources import qrels, readers

LONG = " ".join(f"word{n}" for n in range(40))


def label(query_id="q", doc_id="d", grade=1, place="f:1", split="test"):
    return readers.Label(place, split, query_id, doc_id, grade)


def test_labels_are_read_by_query_and_doubled_ones_told():
    given = [
        label("q", "a", " 2 "),
        label("q", "b", "-1", "f:2"),
        label("q", "a", "2.0", "f:3"),
        label("q", "a", 1, "f:4"),
        label("q", "c", "x", "f:5"),
        label("q", "c", 1, "f:6", "dev"),
        label("p", "a", "999", "f:7"),
        label("p", "b", 1000, "f:8"),
        label("p", "c", "1.5", "f:9"),
        label("p", "d", "0.00", "f:10"),
    ]
    log = task()
    found = qrels.read_labels(readers.Source([], labels=given), log)
    assert {q: {d: n.grade for d, n in row.items()} for q, row in found.items()} == {
        "q": {"a": 2, "b": 0, "c": 1},
        "p": {"a": 999, "d": 0},
    }
    assert log.problems == [
        "f:4: q a has grade 1 and at f:1 grade 2, wanted one",
        "f:5: grade 'x' is not a grade, wanted a whole number up to 999",
        "f:6: query q is in dev and at f:1 in test, wanted each query in one split",
        "f:8: grade '1000' is not a grade, wanted a whole number up to 999",
        "f:9: grade '1.5' is not a grade, wanted a whole number up to 999",
    ]
    assert log.left == {"pairs judged twice with one grade": (1, "f:3")}
    assert log.changed == {"grades below 0, which became 0": 1}
    assert qrels.read_labels(readers.Source([]), log) == {}


# Halves.


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
    """Return {half: its query ids in order}."""
    queries = evals.queries.values()
    return {
        half: " ".join(q.query_id for q in queries if q.split == half) for half in evalset.SPLITS
    }


BOTH = {"train": {"t1": "a", "t2": "b", "t3": "c"}, "test": {"q1": "a"}}
NONE_IS = "the source's own ({0}); none is {1}, {2}: import with --split {0},{3}, or with --halve "
NONE_IS += "to draw halves from these queries"
READ, FINAL = "where failures are read", "where final numbers come from"
HASH = "drawn by a hash, queries that share an answer in one (test, train)"
OPTIONS = [  # options, dev, test, what is said
    ({}, "t1 t2 t3", "q1", "the source's own (test, train)"),  # uneven, leaking: it is theirs
    ({"split": "test"}, "", "q1", NONE_IS.format("test", "dev", READ, "train")),
    ({"split": "train"}, "t1 t2 t3", "", NONE_IS.format("train", "test", FINAL, "test")),
    ({"halve": True}, "q1 t1", "t2 t3", HASH),  # t1 and q1 share an answer
]


def test_the_splits_of_the_source_stay_unless_halves_are_asked_for(tmp_path):
    folder = collection(tmp_path / "both", BOTH)
    for number, (options, dev, test, said) in enumerate(OPTIONS):
        lines, evals = bring("beir", folder, tmp_path / str(number), **options)
        assert halves(evals) == {"dev": dev, "test": test}, options
        assert [line for line in lines if line.startswith("halves")] == [f"halves: {said}"], options
        card = (tmp_path / str(number) / "README.md").read_text()
        assert card.partition("`.")[0].endswith("--halve") == ("halve" in options)


def halved(splits, rows, halve, folder):
    kept = {q: {"d": label(q, split=split)} for q, split in rows.items()}
    return qrels.assign_halves(kept, readers.Source([], splits=splits), halve, folder)


def test_halves_are_drawn_where_the_names_of_splits_do_not_say_both(tmp_path):
    write_rows(tmp_path / "corpus.jsonl", {"doc_id": "d", "title": "", "text": "t"})
    both = {"a": "train", "b": "test-a"}
    for splits, rows, halve, drawn in (
        ((), both, False, False),
        (("x", "validation", "test"), {"b": "test"}, False, False),
        (("test",), {"b": "test"}, False, True),
        ((), both, True, True),
        (("dev", "test"), {**both, "c": "extra"}, False, True),
    ):
        found, said = halved(splits, rows, halve, tmp_path)
        assert said.startswith("halves: drawn by a hash") == drawn, (splits, rows)
        assert found.keys() == rows.keys()


def test_drawn_halves_pass_the_audit_of_leaks(tmp_path):
    answers = {f"q{n:02}": f"d{n // 3}" for n in range(24)} | {"q24": "copy"}
    folder = collection(tmp_path / "s", {"test": answers}, {"d0": f"{LONG} end", "copy": LONG})
    lines, evals = bring("beir", folder, tmp_path / "to")
    assert "halves: drawn by a hash, queries that share an answer in one (test)" in lines
    sizes = [len(ids.split()) for ids in halves(evals).values()]
    assert sum(sizes) == 25 and min(sizes) >= 12 - 3
    assert evals.queries["q24"].split == evals.queries["q00"].split
    assert links.leaking_answers(evals) == []
    found = {finding.check: finding.status for finding in audit.findings(evals)}
    assert found["leakage"] == "pass" and "fail" not in found.values()


def test_groups_are_torn_where_the_smaller_half_is_below_a_quarter(tmp_path):
    for together, alone, kept in ((9, 2, False), (10, 3, False), (9, 3, True), (1, 0, True)):
        answers = {f"q{n}": "d" for n in range(together)} | {f"x{n}": f"e{n}" for n in range(alone)}
        folder = collection(tmp_path / f"{together} {alone}", {"all": answers})
        lines, evals = bring("beir", folder, tmp_path / f"to{together}{alone}")
        sizes, total = sorted(len(ids.split()) for ids in halves(evals).values()), together + alone
        assert sizes == ([alone, together] if kept else [total // 2, total - total // 2])
        torn = f"halves: drawn by a hash (all); shared answers connect {together} of {total} "
        assert (f"{torn}queries, so the halves share some" in lines) == (not kept), (
            together,
            alone,
        )


def test_the_largest_group_goes_first_and_ties_follow_a_hash():
    one, two = {f"a{n}" for n in range(5)}, {"b1", "b2"}
    found = qrels.deal_halves([two, {"c"}, one, {"d"}])
    assert {found[q] for q in one} == {"dev"}
    assert {found[q] for q in (*two, "c", "d")} == {"test"}
    names = [{f"q{n}"} for n in range(8)]
    assert qrels.deal_halves(names) == qrels.deal_halves(names[::-1])
    found = qrels.deal_halves([*names, {"a", "b", "c"}])  # the same on every machine
    assert "".join(q for q in sorted(found) if found[q] == "dev") == "abcq0q1q6"


def test_neither_a_zero_nor_a_stock_phrase_connects_queries(tmp_path):
    words = LONG.split()
    for a, b, said in (
        (words[:12], words[4:16], "drawn by a hash, queries that share an answer in one (test)"),
        (
            words,
            words[4:],
            "drawn by a hash (test); shared answers connect 2 of 2 queries, so the ",
        ),
    ):
        texts = {"x": " ".join(a), "z": " ".join(b)}
        folder = collection(tmp_path / str(len(a)), {"test": {"qx": "x", "qz": "z"}}, texts)
        with (folder / "qrels" / "test.tsv").open("a") as file:
            file.write("qx\tz\t0\n")
        lines, _ = bring("beir", folder, tmp_path / f"to{len(a)}")
        assert lines[-1].startswith(f"halves: {said}"), lines


def test_answers_are_compared_in_the_words_of_the_set(tmp_path):
    page = "東京都の天気は晴れのち曇りで風が強い"
    texts = {d: f"{d}{page}" for d in "春夏"} | {"秋": "秋", "冬": "冬"}
    folder = collection(tmp_path / "s", {"test": {f"q{d}": d for d in texts}}, texts)
    one = set()
    for language in ("ja", "de"):
        lines, evals = bring("beir", folder, tmp_path / language, language=language)
        if evals.queries["q春"].split == evals.queries["q夏"].split:
            one.add(language)
    assert one == {"ja"}
