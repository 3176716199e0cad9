"""Whose labels they are, and how queries come into halves."""

import json

import pytest
from conftest import write_rows
from importing import beir_folder, bring, problems, put

from helpers import evalset
from helpers.labels import audit, links
from helpers.sources import qrels, readers

LONG = " ".join(f"word{n}" for n in range(40))


def collection(path, answers, texts=None):
    """Write a BEIR folder: `answers` is {split: {query: documents}}; return it."""
    ids = sorted({d for row in answers.values() for found in row.values() for d in found.split()})
    texts = texts or {}
    write_rows(
        path / "corpus.jsonl",
        *({"_id": d, "title": "", "text": texts.get(d, f"text of {d}")} for d in ids),
    )
    asked = [q for row in answers.values() for q in row]
    write_rows(path / "queries.jsonl", *({"_id": q, "text": f"about {q}"} for q in asked))
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


def told(lines):
    return [line for line in lines if line.startswith("halves")]


@pytest.fixture
def both(tmp_path):
    (tmp_path / "both").mkdir()
    return collection(
        tmp_path / "both",
        {"train": {"t1": "a", "t2": "b", "t3": "c"}, "test": {"q1": "a"}},
    )


def test_the_splits_of_the_source_stay(both, tmp_path):
    lines, evals = bring("beir", both, tmp_path / "to")
    assert halves(evals) == {"dev": "t1 t2 t3", "test": "q1"}  # uneven and leaking: it is theirs
    assert told(lines) == ["halves: the source's own (test, train)"]


@pytest.mark.parametrize(
    ("split", "found", "said"),
    [
        (
            "test",
            {"dev": "", "test": "q1"},
            "halves: the source's own (test); none is dev, where failures are read: import with "
            "--split test,train, or with --halve to draw halves from these queries",
        ),
        (
            "train",
            {"dev": "t1 t2 t3", "test": ""},
            "halves: the source's own (train); none is test, where final numbers come from: import "
            "with --split train,test, or with --halve to draw halves from these queries",
        ),
    ],
)
def test_one_of_two_splits_stays_and_the_way_out_is_named(both, tmp_path, split, found, said):
    lines, evals = bring("beir", both, tmp_path / "to", split=split)
    assert halves(evals) == found and told(lines) == [said]


def test_halves_are_drawn_where_it_is_asked_for(both, tmp_path):
    lines, evals = bring("beir", both, tmp_path / "to", halve=True)
    assert {evals.queries[q].split for q in ("t1", "q1")} in ({"dev"}, {"test"})  # both ask for a
    said = "halves: drawn by a hash, queries that share an answer in one (test, train)"
    assert told(lines) == [said]
    card = (tmp_path / "to" / "README.md").read_text()
    assert card.count("--halve") == 1 and "--split" not in card


def test_a_name_that_says_nothing_beside_one_that_does_draws_halves(tmp_path):
    (tmp_path / "s").mkdir()
    rows = {"test": {"q1": "a"}, "train": {"q3": "c"}, "extra": {"q2": "b"}}
    folder = collection(tmp_path / "s", rows)
    lines, evals = bring("beir", folder, tmp_path / "to", split="test,extra,train")
    assert "drawn by a hash" in told(lines)[0] and "" not in halves(evals).values()


def test_drawn_halves_pass_the_audit_of_leaks(tmp_path):
    (tmp_path / "s").mkdir()
    answers = {f"q{n:02}": f"d{n // 3}" for n in range(24)} | {"q24": "copy"}
    texts = {"d0": f"{LONG} end", "copy": LONG}
    folder = collection(tmp_path / "s", {"test": answers}, texts)
    lines, evals = bring("beir", folder, tmp_path / "to")
    assert told(lines) == ["halves: drawn by a hash, queries that share an answer in one (test)"]
    sizes = [len(found.split()) for found in halves(evals).values()]
    assert sum(sizes) == 25 and min(sizes) >= 12 - 3
    assert evals.queries["q24"].split == evals.queries["q00"].split
    assert links.leaking_answers(evals) == []
    found = {finding.check: finding.status for finding in audit.findings(evals)}
    assert found["leakage"] == "pass" and "fail" not in found.values()


@pytest.mark.parametrize(
    ("together", "alone", "kept"), [(9, 2, False), (10, 3, False), (9, 3, True), (9, 4, True)]
)
def test_groups_are_torn_where_the_smaller_half_is_below_a_quarter(tmp_path, together, alone, kept):
    (tmp_path / "s").mkdir()
    answers = {f"q{n}": "d" for n in range(together)} | {f"x{n}": f"e{n}" for n in range(alone)}
    lines, evals = bring("beir", collection(tmp_path / "s", {"test": answers}), tmp_path / "to")
    sizes = sorted(len(found.split()) for found in halves(evals).values())
    total = together + alone
    assert sizes == ([alone, together] if kept else [total // 2, total - total // 2])
    torn = f"shared answers connect {together} of {total} queries, so the halves share some"
    assert (torn in told(lines)[0]) == (not kept)


def test_one_query_is_dev_and_no_group_is_torn(tmp_path):
    (tmp_path / "s").mkdir()
    lines, evals = bring("beir", collection(tmp_path / "s", {"test": {"q": "d"}}), tmp_path / "to")
    assert halves(evals) == {"dev": "q", "test": ""}
    assert told(lines) == ["halves: drawn by a hash, queries that share an answer in one (test)"]


def test_documents_judged_0_are_not_compared(tmp_path):
    (tmp_path / "s").mkdir()
    answers = {"test": {"q1": "a x", "q2": "b y", "q3": "c"}}
    folder = collection(tmp_path / "s", answers, {"x": LONG, "y": LONG})
    labels = folder / "qrels" / "test.tsv"
    put(labels, labels.read_text().replace("\tx\t1", "\tx\t0").replace("\ty\t1", "\ty\t0"))
    lines, evals = bring("beir", folder, tmp_path / "to")
    assert sorted(map(len, halves(evals).values())) == [2, 5]


def test_the_largest_group_goes_first_and_ties_follow_a_hash():
    one, two = {f"a{n}" for n in range(5)}, {"b1", "b2"}
    found = qrels.deal([two, {"c"}, one, {"d"}])
    assert {found[q] for q in one} == {"dev"}
    assert {found[q] for q in (*two, "c", "d")} == {"test"}
    names = [{f"q{n}"} for n in range(8)]
    assert qrels.deal(names) == qrels.deal(names[::-1])
    assert [qrels.deal(names)[f"q{n}"] for n in range(8)] != ["dev", "test"] * 4  # not the file's


def test_documents_judged_0_connect_nobody():
    def label(grade):
        return readers.Label("f:1", "test", "q", "d", grade)

    kept = {"q1": {"a": label(1), "z": label(0)}, "q2": {"b": label(1), "z": label(0)}}
    texts = {"a": ["one"], "b": ["two"]}
    assert qrels.connected(kept, texts) == [{"q1"}, {"q2"}]
    assert qrels.connected(kept, {**texts, "b": ["one"]}) == [{"q1", "q2"}]


def test_a_stock_phrase_connects_nobody():
    label = readers.Label("f:1", "test", "q", "d", 1)
    kept = {"q1": {"a": label}, "q2": {"b": label}}
    words = LONG.split()
    short = {"a": words[:12], "b": words[4:16]}  # 4 of 12 runs: a third, but few
    assert len(qrels.connected(kept, short)) == 2
    assert len(qrels.connected(kept, {"a": words, "b": words[4:]})) == 1


def test_answers_are_compared_in_the_words_of_the_set(tmp_path):
    page = "東京都の天気は晴れのち曇りで風が強い"
    rows = [{"doc_id": d, "title": "", "text": f"{d}{page}"} for d in "春夏"]
    write_rows(tmp_path / "corpus.jsonl", *rows)
    label = readers.Label("f:1", "test", "q", "d", 1)
    kept = {"q1": {"春": label}, "q2": {"夏": label}, "q3": {"秋": label}, "q4": {"冬": label}}
    for words, one in (("bigrams", True), ("words", False)):
        found = qrels._answers(kept, readers.Source([], words=words), tmp_path)
        assert (len(qrels.connected(kept, found)) == 3) == one


def test_ids_without_leading_zeros_are_matched_and_said(tmp_path):
    folder = tmp_path / "trec"
    put(folder / "topics.tsv", "1\tcrime\n02\tpolio\n30\twind\n0\tnought\n")
    put(folder / "qrels.txt", "001 0 A 1\n2 0 A 1\n30 0 A 1\n000 0 A 1\n")
    put(folder / "docs.jsonl", '{"docid": "A", "contents": "crime"}\n')
    lines, evals = bring("trec", folder, tmp_path / "to")
    assert sorted(evals.queries) == ["0", "02", "1", "30"]
    assert (
        "changed: query ids have leading zeros in one file only, such as 001 in the qrels and 1 in "
        "the queries; they were taken as the same" in lines
    )
    assert len([line for line in lines if "leading zeros" in line]) == 1


def test_ids_that_could_be_two_queries_are_not_matched(tmp_path):
    folder = tmp_path / "trec"
    put(folder / "topics.tsv", "1\tcrime\n01\tpolio\n7\twind\n08\train\n")
    put(folder / "qrels.txt", "001 0 A 1\n07 0 A 1\n7 0 A 1\n8 0 A 1\n")
    put(folder / "docs.jsonl", '{"docid": "A", "contents": "crime"}\n')
    lines, evals = bring("trec", folder, tmp_path / "to")
    assert evals.qrels() == {"7": {"A": 1}, "08": {"A": 1}}
    found = [line for line in lines if line.startswith("warning: query")]
    assert found == [
        "warning: query ids differ by leading zeros, such as 001 in the qrels and 01 in the "
        "queries (2 of 4): write them alike in both files and import again"
    ]


def test_two_ids_of_one_query_are_not_both_taken(tmp_path):
    folder = tmp_path / "trec"
    put(folder / "topics.tsv", "1\tcrime\n")
    put(folder / "qrels.txt", "001 0 A 1\n01 0 B 1\n")
    put(folder / "docs.jsonl", '{"docid": "A", "contents": "a"}\n{"docid": "B", "contents": "b"}\n')
    lines, evals = bring("trec", folder, tmp_path / "to")
    assert evals.qrels() == {"1": {"A": 1}}
    assert any("such as 01 in the qrels and 1 in the queries (1 of 2)" in line for line in lines)


def test_document_ids_with_other_padding_are_named(tmp_path):
    folder = tmp_path / "trec"
    put(folder / "topics.tsv", "1\tcrime\n")
    put(folder / "docs.jsonl", '{"docid": "7", "contents": "crime"}\n')
    put(folder / "qrels.txt", "1 0 0007 1\n")
    found = problems("trec", folder, tmp_path / "no")
    assert found[1].startswith("warning: document ids differ by leading zeros, such as 0007 in the")
    assert found[1].endswith(
        "7 in the corpus (1 of 1): write them alike in both files and import again"
    )


def test_an_import_with_labels_says_so_and_one_without_does_not(both, tmp_path):
    bring("beir", both, tmp_path / "to")
    assert json.loads((tmp_path / "to" / "settings.json").read_text()) == {"imported": "beir"}
    put(tmp_path / "tree" / "a.md", "Text.\n")
    assert bring("markdown", tmp_path / "tree", tmp_path / "own")[1].imported == ""
    assert not (tmp_path / "own" / "settings.json").exists()


def test_own_small_set_has_both_halves(tmp_path):
    lines, evals = bring("beir", beir_folder(tmp_path / "small"), tmp_path / "to")
    assert told(lines) == ["halves: the source's own (dev, test)"]


# Word for word.


def label(query_id="q", doc_id="d", grade=1, place="f:1", split="test"):
    return readers.Label(place, split, query_id, doc_id, grade)


def test_labels_are_read_by_query_and_doubled_ones_told():
    found = [
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
    log = readers.Log()
    qrels_found = qrels.read_labels(readers.Source([], labels=found), log)
    assert {q: {d: n.grade for d, n in row.items()} for q, row in qrels_found.items()} == {
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


def test_a_key_is_new_once():
    places, log = {}, readers.Log()
    assert qrels.is_new("f:1", "d", "doc_id", places, log) is True
    assert qrels.is_new("f:2", "d", "doc_id", places, log) is False
    assert places == {"d": "f:1"}
    assert log.problems == ["f:2: doc_id d stands already at f:1, wanted each once"]


def in_common(what, judged, held, splits=()):
    source = readers.Source([], splits=splits)
    return qrels.ids_in_common(
        what, dict.fromkeys(judged.split()), dict.fromkeys(held.split()), source
    )


@pytest.mark.parametrize(
    ("judged", "held", "told"),
    [
        ("a b", "b c", []),
        ("1 2", "1 2 3", []),
        ("0 1 2", "1 2", ["from 0 to 2 in the qrels and from 1 to 2 in the file"]),
        ("2 3", "1 2", ["from 2 to 3 in the qrels and from 1 to 2 in the file"]),
        ("0 1", "2 1", ["from 0 to 1 in the qrels and from 1 to 2 in the file"]),
        ("1 9 4", "3 1 2", []),
        ("3 4", "1 9 4", []),
        ("0 1 a", "1 2", []),
        ("0 1", "1 b", []),
    ],
)
def test_numberings_that_are_one_apart_are_warned_of(judged, held, told):
    present = len({*judged.split()} & {*held.split()})
    first = f"query ids in the qrels: {len(judged.split())}, of them in the queries: {present}"
    warnings = [
        f"warning: query ids run {ends}: does one count from 0 and the other from 1? Then all "
        "labels are wrong"
        for ends in told
    ]
    assert in_common("query", judged, held) == [first, *warnings]


def test_ids_of_which_none_is_there_are_a_problem():
    for splits, offer in ((("dev", "test"), "dev, test"), ((), "unknown")):
        with pytest.raises(evalset.EvalSetError) as caught:
            in_common("document", "x y", "a b", splits)
        assert caught.value.problems == [
            "document ids in the qrels: 2, of them in the corpus: 0; the qrels have x and the "
            "like, the corpus a, wanted qrels of the same split and ids written the same way; "
            f"splits found: {offer}"
        ]
    found = in_common("document", "x y", "")
    assert found == ["document ids in the qrels: 2, of them in the corpus: 0"]


def test_ids_that_differ_by_zeros_are_counted():
    found = in_common("document", "a 01 002 3", "a 1 2 3 x")
    assert found == [
        "document ids in the qrels: 4, of them in the corpus: 2",
        "warning: document ids differ by leading zeros, such as 01 in the qrels and 1 in the "
        "corpus (2 of 4): write them alike in both files and import again",
    ]
    assert [*map(qrels.bare, ("007", "70", "000", "0a"))] == ["7", "70", "", "0a"]


def test_labels_move_to_the_one_query_that_differs_by_zeros():
    queries = dict.fromkeys(("1", "002", "3", "03", "x"))
    given = {q: {"d": label(q)} for q in ("01", "2", "003", "x", "9")}
    log = readers.Log()
    found = qrels.without_padding(given, queries, log)
    assert {q: row["d"].query_id for q, row in found.items()} == {
        "1": "01",
        "002": "2",
        "003": "003",
        "x": "x",
        "9": "9",
    }
    assert log.said == [
        "changed: query ids have leading zeros in one file only, such as 01 in the qrels and 1 in "
        "the queries; they were taken as the same"
    ]
    log = readers.Log()
    assert qrels.without_padding({"x": {}, "1": {}}, queries, log) == {"x": {}, "1": {}}
    assert not log.said


def test_what_is_kept_and_what_is_left_out():
    given = {
        "q": {"a": label("q", "a", 2), "z": label("q", "z", 0), "x": label("q", "x", 1, "f:3")},
        "gone": {"a": label("gone", "a", 1, "f:4")},
        "zeros": {"a": label("zeros", "a", 0, "f:5"), "y": label("zeros", "y", 0, "f:6")},
        "lost": {"z": label("lost", "z", 0, "f:7"), "x": label("lost", "x", 2, "f:8")},
    }
    log = readers.Log()
    kept = qrels.keep(dict.fromkeys(("q", "zeros", "lost", "none")), given, {"a", "z"}, log)
    assert kept == {"q": {d: given["q"][d] for d in "az"}}
    assert log.left == {
        "relevant labels of documents that are not there": (2, "f:3"),
        "judged queries without a text": (1, "f:4"),
        "grade-0 labels of documents that are not there": (1, "f:6"),
        "judged queries without a relevant document": (2, "f:5"),
        "queries without judgments": (1, "query none"),
    }


def halved(splits, rows, halve=False, folder=None):
    kept = {q: {"d": label(q, split=split)} for q, split in rows.items()}
    return qrels.split(kept, readers.Source([], splits=splits), halve, folder)


def test_the_sides_of_the_source_count_if_it_has_both(tmp_path):
    both = {"a": "train", "b": "test-a"}
    sides = {"a": "dev", "b": "test"}
    assert halved((), both) == (sides, ["halves: the source's own (test-a, train)"])
    assert halved(("dev", "test"), {}) == ({}, []) == halved((), {}, halve=True)
    found, (said,) = halved(("x", "validation", "test", "dev"), {"b": "test"})
    assert found == {"b": "test"} and "with --split test,validation, or" in said
    write_rows(tmp_path / "corpus.jsonl", {"doc_id": "d", "title": "", "text": "t"})
    for splits, rows, halve in (
        (("test",), {"b": "test"}, False),
        ((), both, True),
        (("dev", "test"), {**both, "c": "extra"}, False),
    ):
        (said,) = halved(splits, rows, halve, tmp_path)[1]
        assert said.startswith("halves: drawn by a hash")


def test_drawn_halves_say_what_they_share(tmp_path):
    write_rows(tmp_path / "corpus.jsonl", {"doc_id": "d", "title": "", "text": "t"})
    found, said = halved(("all",), dict.fromkeys("abcde", "all"), folder=tmp_path)
    assert sorted(found) == [*"abcde"] and sorted(found.values()) == ["dev"] * 3 + ["test"] * 2
    assert said == [
        "halves: drawn by a hash (all); shared answers connect 5 of 5 queries, so the halves "
        "share some"
    ]
    assert halved(("all",), {"a": "all"}, folder=tmp_path) == (
        {"a": "dev"},
        ["halves: drawn by a hash, queries that share an answer in one (all)"],
    )


def test_halves_of_a_hash_are_the_same_on_every_machine():
    found = qrels.deal([{f"q{n}"} for n in range(8)] + [{"a", "b", "c"}])
    assert "".join(q for q in sorted(found) if found[q] == "dev") == "abcq0q1q6"
