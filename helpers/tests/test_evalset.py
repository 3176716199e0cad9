"""Bad input gets one clear line for each mistake; good input passes unharmed."""

import hashlib
import json
import os
import shutil

import pytest
from conftest import write_rows

from helpers.label import audit
from helpers.measure import evalset, results

QUERIES, JUDGMENTS = "retrieval_queries.jsonl", "judgments.jsonl"


def problems(folder, name=None):
    """Return the problems of a set, or of another file of it, without the folder's path."""
    with pytest.raises(evalset.EvalSetError) as caught:
        evals = evalset.load(folder)
        if name in audit.EXTRAS:
            evalset.read_extra(evals, name)
    lines = caught.value.problems
    return [line.replace(f"{folder}{os.sep}", "").replace(os.sep, "/") for line in lines]


def begin_with(lines, wanted):
    """Return whether there are as many lines as wanted, each beginning as it should."""
    return [line[: len(w)] for line, w in zip(lines, wanted, strict=True)] == wanted


def change(path, old, new, count=-1):
    page = path.read_text()
    assert old in page
    path.write_text(page.replace(old, new, count))


def set_of(*documents, queries=(), judgments=()):
    """Return a set that no folder holds."""
    keyed = {d.doc_id: d for d in documents}
    asked = {q.query_id: q for q in queries}
    return evalset.EvalSet(evalset.DEFAULT, keyed, asked, list(judgments))


def test_the_rows_of_a_set_become_its_documents_queries_and_labels(folder):
    (folder / "a.0123abcd.part").mkdir()
    evals = evalset.load(folder)
    assert evals.documents["disk-full"].retrieval_text == (
        "disk-full\n\nDelete <old> logs.\n\nThen <|endoftext|> call Storage."
    )
    assert evals.judgments[:2] == [
        ("q1", "disk-full", 2, (("Delete <old> logs.",),)),
        ("q1", "queue-full", 0, ()),
    ]
    dev, test = {"q1": {"disk-full": 2, "queue-full": 0}}, {"q2": {"queue-full": 1}}
    assert [evals.qrels(split) for split in ("dev", "test", None)] == [dev, test, dev | test]


def test_each_field_of_a_row_reaches_its_document_and_query(folder):
    shutil.rmtree(folder / "corpus")
    (folder / JUDGMENTS).unlink()
    document = {"doc_id": "a", "title": "", "text": " b\n", "kind": "runbook", "service": "disk"}
    document |= {"updated": "2026-04-08", "version": "2", "copy_of": "b"}
    bare = {"doc_id": "b", "title": "B", "text": "x", "extra": 1}
    write_rows(folder / "corpus.jsonl", bare, document)
    query = {"query_id": "q0", "query": "ask", "relevant_doc_ids": ["b", "a"], "kind": "how"}
    query |= {"popularity": "tail", "split": "test", "answers": ["b"], "language": "nl", "round": 2}
    query |= {"needs": {"n1": "who", "n2": "when"}, "translation": "vraag"}
    plain = {"query_id": "p", "query": "x", "relevant_doc_ids": []}
    aside = {**plain, "query_id": "n", "kind": "none"}
    write_rows(folder / QUERIES, query, aside, {**plain, "query_id": "r"}, plain)
    evals = evalset.load(str(folder))
    assert evals.documents == {
        "a": tuple(document.values()), "b": ("b", "B", "x", *["unspecified"] * 2, "", "", ""),
    }  # fmt: skip
    assert [evals.documents[d].retrieval_text for d in "ab"] == [" b\n", "B\n\nx"]
    assert [*evals.queries] == ["q0"] and [*evals.unanswered] == ["n"]
    assert [*evals.waiting] == ["p", "r"]
    fields = {
        name: value for name, value in query.items() if name not in ("relevant_doc_ids", "answers")
    }
    assert evals.queries["q0"] == evalset.Query(
        **fields, relevant_doc_ids=("b", "a"), answers=("b",)
    )
    assert evals.waiting["p"] == evalset.Query("p", "x", ())
    assert evals.judgments == [("q0", "b", 1, ()), ("q0", "a", 1, ())]
    assert evals[4:6] == ("words", (0, 1, 2)) and evals.imported == "" and evals.folder == folder
    assert [*evals.documents] == ["a", "b"] and [*evals.all_queries] == ["q0", "n", "p", "r"]


@pytest.mark.parametrize(
    ("listed", "relevant"),
    [
        (["disk-full"], ("disk-full", "a", "b")),
        (["b", "disk-full"], ("b", "disk-full", "a")),
        (None, ("a", "b", "disk-full")),
    ],
)
def test_what_is_judged_relevant_counts_as_listed_then_by_id(folder, listed, relevant):
    rows = [json.loads(line) for line in (folder / JUDGMENTS).read_text().splitlines()]
    for doc_id in ("b", "a"):
        (folder / "corpus" / f"{doc_id}.md").write_text("---\ntitle: A\n---\nText.\n")
        rows.append({"query_id": "q1", "doc_id": doc_id, "relevance": 1})
    write_rows(folder / JUDGMENTS, *rows)
    query = {"query_id": "q1", "query": "disk"} | ({"relevant_doc_ids": listed} if listed else {})
    write_rows(folder / QUERIES, query, {"query_id": "q2", "query": "queue"})
    assert evalset.load(folder).queries["q1"].relevant_doc_ids == relevant
    (folder / JUDGMENTS).unlink()
    missing = "field relevant_doc_ids is missing, wanted a list of different document ids"
    assert problems(folder) == [f"{QUERIES}:{n}: {missing}" for n in ([2] if listed else [1, 2])]


def test_settings_say_how_words_count_which_grades_there_are_and_where_a_set_is_from(folder):
    change(folder / JUDGMENTS, '"relevance": 2', '"relevance": 4')
    settings = {"words": "bigrams", "highest_grade": 4, "imported": "BEIR"}
    settings |= {"decides": "recall@10", "matters": 0.1, "full_grade": 3}
    settings |= {"confirmed": {"mine": "2026-11-23"}, "split": "strict", "reading": "blind"}
    (folder / "settings.json").write_text(json.dumps(settings))
    evals = evalset.load(folder)
    own = ("bigrams", (0, 1, 2, 3, 4), {}, "BEIR", "recall@10", 0.1, 3, {"mine": "2026-11-23"})
    assert evals[4:] == (*own, "strict", {}, "blind", {})
    assert evals.qrels()["q1"]["disk-full"] == 4 and evals.words("東京都") == ["東京", "京都"]
    assert evalset.load().words("東京都") == ["東京都"]
    change(folder / JUDGMENTS, '"relevance": 4', '"relevance": 5')
    wanted = 'wanted at most 4, unless settings.json has "highest_grade": 5'
    assert f"field relevance is 5, {wanted}" in problems(folder)[0]


# What is wrong: an edit of the small set, and what is told of it.
QUERY = '{"query_id": "q1", "query": "disk is full", "relevant_doc_ids": ["disk-full"]'
PAGE = "---\ntitle: Disk\n---\n"
JUDGED = '{"query_id": "q1", "doc_id": "disk-full", "relevance": 2}\n'
SECOND = '{"query_id": "q2", "doc_id": "queue-full", "relevance": 1}\n'
QUOTED = JUDGED.replace("2}", '2, "evidence": "%s"}')
DOC = '{"doc_id": "%s", "title": "", "text": "%s"}\n'
DOCS = DOC % ("disk-full", "x") + DOC % ("queue-full", "x")
BAD = [  # file, content, what is told
    (QUERIES, '{"query_id": "q1", "relevant_doc_ids": []}', [":1: field query is missing"]),
    (QUERIES, QUERY + ', "splitt": "dev"}', [":1: field splitt is unknown, wanted one of: query_"]),
    (QUERIES, QUERY + "}\n" + QUERY + "}", [":2: query_id q1 stands already at line 1"]),
    (QUERIES, QUERY.replace("disk-full", "disk_full") + "}",
     [":1: document disk_full is not in the corpus, wanted one of its 2 ids, the nearest is disk"]),
    (QUERIES, QUERY + ', "kind": "none"}', [":1: query q1: disk-full answers it, wanted an"]),
    (JUDGMENTS, JUDGED.replace("2}", "7}") + SECOND, [":1: field relevance is 7, wanted at"]),
    (JUDGMENTS, QUOTED % "delete logs" + SECOND,
     [":1: evidence 'delete logs' is not in disk-full, wanted a verbatim quote"]),
    (JUDGMENTS, (QUOTED % "x").replace('"x"', '["full", ["full", 5], []]') + SECOND,
     [':1: field evidence is ["full", ["full", 5], []], wanted a quote, or a list of altern']),
    (JUDGMENTS, JUDGED + SECOND + JUDGED.replace("q1", "q9"),
     [":3: query q9 is not in retrieval_queries.jsonl and stands in 1 line here: write it there"]),
    (JUDGMENTS, JUDGED + SECOND + JUDGED,
     [":3: query_id and doc_id q1 disk-full stands already at line 1, wanted"]),
    (JUDGMENTS, SECOND + SECOND.replace("q2", "q1"),
     ["retrieval_queries.jsonl:1: query q1: disk-full is listed but not judged 1 or more, wanted"]),
    ("corpus/a.md", "---\nkind: ''\n---\n", [":1: field text", ":1: field title", ":1: field"]),
    ("corpus/a.md", "body\n", [":1: no front matter, wanted a block between two lines of ---"]),
    ("corpus/a.md", "---\ntitle: [Disk\n---\nDelete.\n", [":3: bad front matter"]),
    ("corpus/disk-full.md", PAGE + "Caf\udce9\n", [":4: byte 0xe9 is not UTF-8"]),
    ("corpus/a b.md", PAGE + "Delete.\n",
     [':1: field doc_id is "a b", wanted text of up to 1,000 characters, without spac']),
    ("corpus/a.md", PAGE.replace("---\n", "---\ncopy_of: a\n", 1) + "Text.",
     [":1: copy_of is 'a', wanted the id of another document"]),
    ("corpus/deep/a.md", "", [":1: is read by nobody, wanted "]),
    ("corpus/b.MD", "", [":1: is read by nobody, wanted "]),
    ("corpus/.git/c.md", "", []),
    ("corpus.jsonl", "", [":1: there is also a folder corpus/, keep one of the two"]),
    ("corpus.jsonl", DOCS + DOC % ("a", " "), [':3: field text is " "']),
    ("corpus.jsonl", DOCS + DOC % ("queue-full", "x"), [":3: doc_id queue-full stands already at"]),
    ("settings.json", '{"words": "x", "highest_grade": 0}',
     [':1: field words is "x", wanted one of: words, unicode-words', ":1: field highest_grade is"]),
    ("settings.json", '{"full_grade": 3}',
     [':1: field full_grade is 3, wanted at most 2, unless it has "highest_grade": 3']),
    ("settings.json", '{"full_grade": "4"}', [':1: field full_grade is "4", wanted a whole']),
    ("settings.json", '{"full_grade": 4, "highest_grade": 4}', []),
    ("settings.json", "", []),
    ("notes.md", "\ncaf\udce9", [":2: byte 0xe9 is not UTF-8, save the file as UTF-8"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "wanted"), BAD)
def test_what_is_wrong_is_told_at_its_line_once(folder, name, content, wanted):
    if name == QUERIES or "doc_id" in content:
        (folder / JUDGMENTS).unlink()
    if "doc_id" in content and name == "corpus.jsonl":
        shutil.rmtree(folder / "corpus")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8", errors="surrogateescape")
    if wanted:
        lines = [name + line if line[0] == ":" else line for line in wanted]
        assert begin_with(problems(folder), lines)
    else:
        assert evalset.load(folder)


def test_all_problems_come_at_once(folder):
    (folder / "corpus" / "disk-full.md").write_text(PAGE)
    change(folder / QUERIES, '"query": ', '"qeury": ', 1)  # told once, not for each of its labels
    for name, lines in ((QUERIES, "{\n[]\n"), (JUDGMENTS, '{"query_id": "q1"}\n')):
        with (folder / name).open("a") as file:
            file.write(lines)
    places = [line.rpartition("/")[2].partition(": ")[0] for line in problems(folder)]
    lines = (("disk-full.md", 1), *((QUERIES, n) for n in (1, 1, 3, 4)), *[(JUDGMENTS, 4)] * 2)
    assert places == [f"{name}:{line}" for name, line in lines]


@pytest.mark.parametrize("content", ["", None])
def test_a_set_may_be_without_queries_and_not_without_documents(folder, content):
    (folder / JUDGMENTS).unlink()
    for name in (QUERIES, "corpus.jsonl"):
        path = folder / name
        path.write_text(content) if content is not None else path.unlink(missing_ok=True)
        if name == QUERIES:
            assert [len(part) for part in evalset.load(folder)[1:4]] == [2, 0, 0]
            shutil.rmtree(folder / "corpus")
    wanted = "corpus.jsonl:1: no documents found, wanted corpus/*.md or corpus.jsonl"
    assert problems(folder) == [wanted]


PAIR = {"query_id": "q1", "doc_id": "disk-full"}
GRADES = {"round": 1, "first": 3, "second": 0, "final": 0, "reason": ""}
LISTS = {"query_id": "q1", "easy": [], "hard": []}
UNKNOWN = "is not in the corpus, wanted one of its 2 ids"
WHAT = ("disk", "queue")
NO_QUERY = "is not in retrieval_queries.jsonl and stands in"
EXTRA = [  # file, rows, what is told of them
    ("pool.jsonl", [], []),
    ("pool.jsonl", [PAIR | {"rankers": ["x"], "first": 2}], []),
    ("second_pass.jsonl", [PAIR | GRADES], [":1: field first is 3, wanted at most 2, unless"]),
    ("negatives.jsonl", [LISTS | {"easy": ["disk-ful"], "hard": ["disk-full", "zzz"]}],
     [f":1: document disk-ful {UNKNOWN}, the nearest is disk-full", f":1: document zzz {UNKNOWN}"]),
    ("negatives.jsonl", [LISTS | {"query_id": q} for q in ("q8", "q1", "q9")],
     [f":1: query q8 {NO_QUERY} 1 line here", f":3: query q9 {NO_QUERY} 1 line here"]),
    ("pool.jsonl", [{"query_id": "q", "doc_id": f"{d}-full", "rankers": []} for d in WHAT],
     [f":1: query q {NO_QUERY} 2 lines here"]),
    ("to_read.jsonl", [PAIR | {"passages": [[0, 9], [10, 60]]}], []),  # its title, then its text
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "wanted"), EXTRA)
def test_the_other_files_give_their_rows_and_tell_each_fault(folder, name, rows, wanted):
    if rows:
        write_rows(folder / name, *rows)
    if wanted:
        assert begin_with(problems(folder, name), [name + line for line in wanted])
    else:
        assert evalset.read_extra(evalset.load(folder), name) == rows


LOST = "evidence 'Body' is not in a, wanted a verbatim quote, line ends included"


EVIDENCE = [  # document, evidence as it stands in a row, its alternatives, what is wrong
    ("a", "Title\n\nbo", (("Title\n\nbo",),), ""),
    ("a", ["bo", ["Title", "o"], ["b"]], (("bo",), ("Title", "o"), ("b",)), ""),
    ("a", ["bo", ["Title", "Body"]], (("bo",), ("Title", "Body")), LOST),
    ("a", " ", (), ""),
    ("a", [], (), ""),
    ("b", "Body", (("Body",),), ""),  # a page that could not be read
    ("c", None, (), f"document c {UNKNOWN}"),
    ("a", [{"quotes": ["bo"], "needs": ["n1"]}], (("bo",),), ""),
    (
        "a",
        ["bo", {"quotes": ["bo", "Title"], "needs": ["n1", "n3"]}],
        (("bo",), ("bo", "Title")),
        "evidence meets need n3, wanted a need of query q: n1, n2",
    ),
]


@pytest.mark.parametrize(("doc_id", "evidence", "alternatives", "wanted"), EVIDENCE)
def test_evidence_is_a_list_of_alternatives_that_stand_in_title_and_text(
    doc_id, evidence, alternatives, wanted
):
    documents = {d: evalset.Document(d, "Title", body) for d, body in (("a", "body"), ("b", ""))}
    judgment = evalset.Judgment("q", doc_id, 1, evalset.evidence_quotes({"evidence": evidence}))
    assert judgment.evidence == alternatives
    asked = evalset.Query("q", "?", (), needs={"n1": "who", "n2": "when"})
    assert evalset.judgment_fault(judgment, {"q": asked}, documents) == wanted
    query = "query q is not in retrieval_queries.jsonl, wanted one of its ids"
    assert evalset.judgment_fault(judgment, {}, documents) == query


def test_a_query_of_kind_none_stays_out_of_what_is_measured(folder):
    change(folder / QUERIES, '["queue-full"]', '[], "kind": "none"')
    wanted = "retrieval_queries.jsonl:2: query q2: queue-full answers it, wanted another kind"
    assert begin_with(problems(folder), [wanted])
    change(folder / JUDGMENTS, '"queue-full", "relevance": 1', '"queue-full", "relevance": 0')
    evals = evalset.load(folder)
    assert [*evals.queries] == [*evals.qrels()] == ["q1"] and [*evals.unanswered] == ["q2"]
    # what was read for it counts: nobody may say "no answer" without having looked
    assert {j.query_id for j in evals.judgments} == {"q1", "q2"}
    write_rows(folder / "pool.jsonl", {**PAIR, "query_id": "q2", "rankers": ["hand"]})
    assert evalset.read_extra(evals, "pool.jsonl")


QUERY_OF = evalset.Query("q", "x", ("d",))
LATER = QUERY_OF._replace(query_id="r", split="test")
WAITING = {f"q{n}": evalset.Query(f"q{n}", "x", ()) for n in "012345"}
ONE, WAITS = {"q0": WAITING["q0"]}, "1 query waits for a relevant document"
STEPS = [  # a set, and how the next step begins
    (set_of(), evalset.NO_QUERIES),
    (set_of()._replace(unanswered={"q": QUERY_OF}), "every query is of kind none: write one"),
    (set_of(queries=[QUERY_OF]), ""),
    (set_of(queries=[QUERY_OF, LATER]), ""),
    (set_of(queries=[LATER]), "every query has the split test; set some to dev in"),
    (set_of(queries=[QUERY_OF])._replace(waiting=WAITING), ""),
    (set_of(queries=[LATER])._replace(waiting=ONE), f"{WAITS}: q0; judge"),
    (set_of()._replace(waiting=WAITING), "6 queries wait for a relevant document: q0, q1, q2, q3,"),
]


@pytest.mark.parametrize(("evals", "wanted"), STEPS)
def test_the_next_step_is_the_first_thing_that_is_missing(evals, wanted):
    step = evals.next_step()
    assert step.startswith(wanted) and bool(step) == bool(wanted)


def test_a_lesson_says_in_a_line_what_it_needs(folder):
    evals = evalset.load(folder)
    assert evals.require(JUDGMENTS) is evals
    with pytest.raises(evalset.EvalSetError, match="fixed.trec: found nothing; run the session be"):
        evals.require(JUDGMENTS, "runs/fixed.trec")
    assert evals._replace(queries={}, unanswered=evals.queries).require()
    with pytest.raises(evalset.EvalSetError, match="^no queries yet: write retrieval_queries"):
        evals._replace(queries={}).require("gone")


def test_an_example_is_of_its_kind_else_of_dev_else_any(folder):
    evals = evalset.load(folder)
    one, two = evals.queries["q1"]._replace(kind="a"), evals.queries["q2"]._replace(kind="b")
    later = two._replace(split="dev")
    for queries, kind, wanted in (
        ([one, two], "b", one), ([one, later], "b", later), ([two], "a", two),
    ):  # fmt: skip
        asked = evals._replace(queries={query.query_id: query for query in queries})
        assert asked.examples(kind) == [wanted]
    assert evals._replace(queries={}, waiting={"q1": one}).examples("a") == [one]
    assert [q.query for q in evals._replace(queries={}).examples("a")] == ["disk-full"]


def test_overlap_counts_content_words_that_stand_in_any_answer(folder):
    evals = evalset.load(folder)
    for query, answers, share in (
        ("Is the disk full of old consumers, full?", ("disk-full", "queue-full"), 4 / 5),
        ("Is the disk full of old consumers, full?", ("queue-full",), 2 / 5),
        ("is it the", ("disk-full",), 0),
        ("disk", (), 0),
    ):
        assert evals.word_overlap(evalset.Query("q", query, answers)) == share


def test_versions_and_copies_are_one_family():
    ids = ("a-v1", "a-v12", "a-2024", "b-v1", "c", "c-v1")
    documents = [evalset.Document(d, "t", "x", version="1") for d in ids]
    documents += [evalset.Document(d, "t", "x") for d in ("e-v1", "e-v2", "q", "versions of a")]
    copies = {"old": "c-v1", "p": "q"}
    documents += [evalset.Document(d, "t", "x", copy_of=copies[d]) for d in copies]
    pairs = {("a-v1", "a-v12"), ("a-2024", "a-v1"), ("a-2024", "a-v12"), ("c", "c-v1")}
    pairs |= {("c", "old"), ("c-v1", "old"), ("p", "q")}
    assert set_of(*documents).versions() == pairs


def test_near_duplicates_are_those_of_the_bodies():
    body = "one two three four five six seven eight"
    documents = [evalset.Document(d, "title", body) for d in "ba"]
    evals = set_of(*documents, evalset.Document("c", body, "other"))
    assert evals.near_duplicates() == {("a", "b"): 1.0} and evals.near_duplicates(1.1) == {}


def test_hashes_are_sha256_of_json_lines_of_the_fields_that_count():
    query = evalset.Query("é", "ask", ("b", "a"), "kind", split="test")
    labels = [evalset.Judgment("é", d, grade, (("x",),)) for d, grade in (("b", 2), ("a", 1))]
    documents = evalset.Document("a", "T", "x", "kind"), evalset.Document("b", "", "y")
    evals = set_of(*documents, queries=[query], judgments=labels)
    for digest, lines in (
        (evals.corpus_hash(), '["a", "T\\n\\nx"]\n["b", "y"]\n'),
        (evals.queries_hash(), '["é", "ask", "test", [["a", 1], ["b", 2]]]\n'),
        (evals.topics_hash(), '["é", "ask"]\n'),
    ):
        assert digest == hashlib.sha256(lines.encode()).hexdigest()


def test_a_set_is_named_by_the_first_heading_of_its_card_else_by_its_folder(folder):
    evals = evalset.load(folder)
    assert evals.name == folder.name
    (folder / "README.md").write_text("no heading\n")
    assert evals.name == folder.name
    (folder / "README.md").write_text("text # no\n## Small\n#Close\n#  The set \n# Other\n")
    assert evals.name == "The set"


def test_notes_are_one_line_a_query(folder):
    assert results.read_notes(folder) == {}
    page = "# Notes\n## q1\n\n a \n### part\nb  c\n## not one\nd\n## q2\n## q-3\ne"
    (folder / "notes.md").write_text(page)
    assert results.read_notes(folder) == {"q1": "a ### part b c", "q2": "", "q-3": "e"}


def test_word_pairs_are_no_part_of_a_note(folder):
    page = "## q1\nWords: owe = refund, en route=in transit\nRead.\n## q2\nWords: x = y\n## q3\nz"
    (folder / "notes.md").write_text(page)
    assert results.read_notes(folder) == {"q1": "Read.", "q2": "", "q3": "z"}
    wanted = {"q1": [("owe", "refund"), ("en route", "in transit")], "q2": [("x", "y")]}
    for query_id in ("q1", "q2", "q3", "q4"):
        assert results.read_word_pairs(folder, query_id) == wanted.get(query_id, [])
    (folder / "notes.md").write_text(f"## q1\nMine.\n{page}")  # a learner's own, above the pairs
    assert results.read_notes(folder)["q1"] == "Mine. Read."
    assert results.read_word_pairs(folder, "q1") == wanted["q1"]


def test_the_folder_is_the_one_of_the_variable(monkeypatch, folder):
    monkeypatch.setenv("EVALS", f"{folder}/corpus/..")
    assert evalset.folder() == folder.resolve() and evalset.load().folder == folder.resolve()
    monkeypatch.setenv("EVALS", "")
    assert evalset.folder() == evalset.DEFAULT
