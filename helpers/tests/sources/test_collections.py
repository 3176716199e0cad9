"""Each published layout on a small folder written here; what is wrong with one is named."""

import gzip
import json
import shutil
import time
from pathlib import Path

import pytest
from conftest import write_rows
from importing import beir_folder, bring, mmarco_folder, problems, put, refusal

from helpers import files
from helpers.files import EvalSetError
from helpers.sources import collections, hotpot, readers, write


@pytest.fixture
def beir(tmp_path):
    return beir_folder(tmp_path / "small")


def test_beir_with_both_halves(beir, tmp_path):
    lines, evals = bring("beir", beir, tmp_path / "to")
    assert evals.qrels() == {"1": {"d1": 2, "d2": 0, "a%2Fb%20%234": 1}, "2": {"3": 1}}
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "test", "2": "dev"}
    assert evals.documents["d1"].retrieval_text == "Disk\n\nDelete logs."
    assert evals.documents["d2"].retrieval_text == "Add a consumer."
    assert evals.documents["3"].retrieval_text == "Only a title"
    assert lines == [
        "documents: 4",
        "queries: 2 (1 dev, 1 test)",
        "judgments: 4 (1 of grade 0, 2 of grade 1, 1 of grade 2)",
        "query ids in the qrels: 2, of them in the queries: 2",
        "document ids in the qrels: 4, of them in the corpus: 4",
        "left out: queries without judgments: 1, first query 3",
        "changed: documents with a title only, which became their text: 1",
        "halves: the source's own (dev, test)",
    ]
    card = (tmp_path / "to" / "README.md").read_text()
    assert all(line in card for line in lines) and str(tmp_path) not in card
    assert evals.name == "small (beir)"


def test_gzip_windows_line_ends_and_byte_order_marks_change_nothing(beir, tmp_path):
    plain = bring("beir", beir, tmp_path / "plain")
    for path in [p for p in beir.rglob("*") if p.is_file()]:
        data = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(data))
        path.unlink()
    assert bring("beir", beir, tmp_path / "zipped")[0] == [
        line.replace("dev.tsv", "dev.tsv.gz") for line in plain[0]
    ]
    for name in ("corpus.jsonl", "retrieval_queries.jsonl", "judgments.jsonl"):
        sides = [(tmp_path / side / name).read_bytes() for side in ("plain", "zipped")]
        assert sides[0] == sides[1]


def test_broken_gzip_and_missing_files_are_named(beir, tmp_path):
    (beir / "corpus.jsonl").unlink()
    put(beir / "corpus.jsonl.gz", b"no gzip")
    assert "corpus.jsonl.gz:1: cannot be read (Not a gzipped file" in str(
        problems("beir", beir, tmp_path / "to")
    )
    (beir / "corpus.jsonl.gz").unlink()
    for path in (beir / "qrels").iterdir():
        path.unlink()
    found = problems("beir", beir, tmp_path / "to")
    assert "no corpus.jsonl here, wanted corpus.jsonl or corpus.jsonl.gz" in found[0]
    assert found[1] == "qrels:1: no labels found, wanted qrels/test.tsv or the like"


def test_wrong_columns_are_named(beir, tmp_path):
    wanted = "found '1\\td1', wanted 3 columns (query, document, grade) or 4"
    content = "query-id\tcorpus-id\tscore\n1\td1\n"
    found = refusal(beir, "qrels/test.tsv", content, tmp_path / "to")
    assert found.startswith(f"qrels/test.tsv:2: {wanted}")


TOPICS = """<top>
<num> Number: 301
<title> International crime

<desc> Description:
Who fights it?
</top>
<top><num>302</num><title></title>
<desc>Polio in
the world</desc></top>
"""


@pytest.fixture
def trec(tmp_path):
    """Return a TREC folder with SGML topics."""
    path = tmp_path / "trec"
    put(path / "topics.txt", TOPICS)
    put(path / "qrels.txt", "301 0 A-1 1\n301 0 B 0\n302 Q0 B 2\n")
    put(path / "docs.jsonl", '{"docid": "A-1", "contents": "crime"}\n{"docno": "B", "body": "b"}')
    return path


def test_trec(trec, tmp_path):
    _, evals = bring("trec", trec, tmp_path / "to")
    texts = {q.query_id: q.query for q in evals.queries.values()}
    assert texts == {"301": "International crime", "302": "Polio in the world"}
    assert evals.qrels() == {"301": {"A-1": 1, "B": 0}, "302": {"B": 2}}
    put(trec / "topics.txt", "301\tcrime\n302\tpolio\n")
    put(trec / "qrels.txt", "301\tA-1\t1\n301\tB\t0\n302\tB\t2\n")
    _, again = bring("trec", trec, tmp_path / "tsv")
    assert again.qrels() == evals.qrels() and again.queries["301"].query == "crime"


def test_trec_topics_go_with_the_split(trec, tmp_path):
    for name, number in (("dev", 1), ("test", 2)):
        put(trec / f"topics.{name}.tsv", f"{number}\tcrime\n")
        put(trec / f"qrels.{name}.txt", f"{number} 0 B 1\n")
    lines, evals = bring("trec", trec, tmp_path / "to")
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "dev", "2": "test"}
    assert not [line for line in lines if line.startswith("left out")]


@pytest.mark.parametrize(
    ("file", "content", "wanted"),
    [
        ("topics.txt", "<top>\n<title> a\n</top>\n", "topics.txt:1: topic without a number"),
        ("topics.txt", "<top>\n<num> 301\n", "topics.txt:1: topic without an end, wanted </top>"),
        ("topics.txt", "301 crime\n", "topics.txt:1: found '301 crime', wanted an id, a tab"),
        ("qrels.txt", "301 0 A-1 1 x\n", "qrels.txt:1: found '301 0 A-1 1 x', wanted 3 columns"),
    ],
)
def test_bad_trec(trec, tmp_path, file, content, wanted):
    put(trec / file, content)
    assert problems("trec", trec, tmp_path / "to")[0].startswith(wanted)


def test_trec_says_what_is_missing(trec, tmp_path):
    (trec / "docs.jsonl").unlink()
    (trec / "topics.txt").unlink()
    found = problems("trec", trec, tmp_path / "to")
    assert len(found) == 2
    assert "no topics, found qrels.txt, wanted topics*.txt or topics*.tsv" in found[0]
    assert "no documents, found qrels.txt, wanted a JSONL file with docid and contents" in found[1]


ORIGINAL = {
    "_id": "5a8",
    "question": "Were A and B born in one town?",
    "answer": "yes",
    "type": "comparison",
    "supporting_facts": [["A (film)", 1], ["A (film)", 0], ["B/C", 7]],
    "context": [
        ["A (film)", ["One.", " Two."]],
        ["B/C", ["Three."]],
        ["Empty", []],
    ],
}


COLUMNS = {
    "id": "5a8",
    **{key: ORIGINAL[key] for key in ("question", "answer", "type")},
    "supporting_facts": {"title": ["A (film)", "A (film)", "B/C"], "sent_id": [1, 0, 7]},
    "context": {"title": ["A (film)", "B/C"], "sentences": [["One.", " Two."], ["Three."]]},
}


def hotpot_file(path, form):
    """Write one question in one of the published forms."""
    path.mkdir()
    if form == "parquet":
        written = Path(__file__).with_name("hotpotqa.parquet")  # COLUMNS, by pyarrow
        shutil.copy(written, path / "validation-00000-of-00001.parquet")
    elif form == "jsonl":
        write_rows(path / "validation.jsonl", COLUMNS)
    else:
        put(path / "hotpot_dev_v1.json", json.dumps([ORIGINAL], indent=2))
    return path


@pytest.mark.parametrize("form", ["json", "jsonl", "parquet"])
def test_hotpotqa(tmp_path, form):
    lines, evals = bring("hotpotqa", hotpot_file(tmp_path / form, form), tmp_path / "to")
    assert list(evals.documents) == ["A_(film)", "B%2FC"]
    assert evals.documents["A_(film)"].retrieval_text == "A (film)\n\nOne. Two."
    query = evals.queries["5a8"]
    assert (query.kind, query.answers, query.split) == ("comparison", ("yes",), "dev")
    assert [(j.doc_id, j.relevance, j.evidence) for j in evals.judgments] == [
        ("A_(film)", 1, ("Two.", "One.")),
        ("B%2FC", 1, ()),  # HotpotQA has sentence numbers beyond the paragraph
    ]
    assert bool([line for line in lines if "documents without text: 1" in line]) == (form == "json")


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ('[\n{"question": "a"}]', ":2: question, context or supporting_facts is missing"),
        ('[\n{"question": "a", "context": [["A"]]}\n]', ":2: question, context or supporting"),
        ("[1]", ":1: found 1, wanted an object"),
        ("[\n\n{]", ":3: broken JSON"),
        ('{"question": "a"}', ":1: question, context"),
        (
            '[{"question": "a", "context": [["A", "One. Two."]]}]',
            ":1: context: 'A' has 'One. Two.', wanted a list of sentences",
        ),
        (
            '[{"question": "a", "context": [["A", ["One.", 2]]]}]',
            ":1: context: 'A' has \"['One.', 2]\", wanted a list of sentences",
        ),
        ('[{"question": "a", "context": [[1, []]]}]', ":1: context: title 1 is no text, wanted"),
        *(
            (
                '[\n{"question": "a", "context": [["A", ["B"]]], '
                f'"supporting_facts": [["A", {n}]]}}]',
                f":2: supporting_facts: sentence {shown} of 'A', wanted a number from 0",
            )
            for n, shown in (("-1", "-1"), ('"0"', "'0'"), ("true", "True"), ("null", "None"))
        ),
        (
            '[{"question": "a", "context": [["A", ["B"]]], "supporting_facts": [[7, 0]]}]',
            ":1: supporting_facts: title 7 is no text, wanted a title",
        ),
        ("[]\n[]", ":1: found '[]' after the array, wanted one array and no more"),
        (
            '[{"_id": [""], "question": "q", "context": [["A", ["x"]]]}]',
            ':1: field _id is [""], wanted an id: text or whole number',
        ),
    ],
)
def test_bad_hotpotqa(tmp_path, rows, wanted):
    path = put(tmp_path / "q" / "dev.json", rows)
    found = problems("hotpotqa", path.parent, tmp_path / "to")
    assert found[0].startswith(f"dev.json{wanted}")


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("dev.parquet", b"no table", "dev.parquet:1: cannot be read"),
        ("dev.json", b"[\n{}\xff]", "dev.json:2: byte 0xff is not UTF-8"),
        ("dev.json.gz", b"no gzip", "dev.json.gz:1: cannot be read"),
    ],
)
def test_damaged_hotpotqa(tmp_path, name, content, wanted):
    path = put(tmp_path / "q" / name, content)
    assert problems("hotpotqa", path.parent, tmp_path / "to")[0].startswith(wanted)


def test_hotpotqa_without_files(tmp_path):
    found = problems("hotpotqa", tmp_path / "no", tmp_path / "to")
    assert "no questions, wanted a .json, .jsonl or .parquet" in found[0]


@pytest.mark.parametrize("kind", ["markdown", "text", "code", "beir", "trec"])
def test_a_path_that_is_no_folder(tmp_path, kind):
    assert f":1: is no folder, wanted a folder for {kind}:" in str(
        problems(kind, tmp_path / "no", tmp_path / "to")
    )


@pytest.fixture
def miracl(tmp_path):
    """Return a local copy of MIRACL's layout in two languages."""
    path = tmp_path / "miracl"
    for language, text in (("th", "กรุงเทพ"), ("yo", "ilu")):
        name = f"miracl-v1.0-{language}"
        put(path / name / "topics" / f"topics.{name}-dev.tsv", f"7#0\t{text}\n")
        put(path / name / "topics" / f"topics.{name}-test-a.tsv", f"8\t{text}\n")
        put(path / name / "qrels" / f"qrels.{name}-dev.tsv", "7#0\tQ0\t7#1\t1\n7#0\tQ0\t9#0\t0\n")
        rows = [
            {"docid": d, "title": "t", "text": f"{text} {n}"}
            for n, d in enumerate(("7#1", "9#0", "5#5"))
        ]
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        put(path / f"miracl-corpus-v1.0-{language}" / "docs-0.jsonl.gz", gzip.compress(data))
    return path


def test_miracl_local(miracl, tmp_path):
    lines, evals = bring("miracl", f"{miracl}@th", tmp_path / "to")
    assert evals.qrels() == {"7%230": {"7%231": 1, "9%230": 0}} and len(evals.documents) == 3
    assert evals.tokenizer == "bigrams" and "words: bigrams, in settings.json" in lines
    assert bring("miracl", f"{miracl}@yo", tmp_path / "yo")[1].tokenizer == "unicode-words"
    found = problems("miracl", miracl, tmp_path / "no")
    assert "topics by language: found th, yo, wanted one:" in found[0]


def test_miracl_says_what_is_hidden_and_missing(miracl, tmp_path):
    found = problems("miracl", f"{miracl}@th", tmp_path / "to", split="test-a")
    assert found == [
        "miracl: the labels of test-a are hidden by its makers, wanted --split dev, train"
    ]
    (miracl / "miracl-corpus-v1.0-th" / "docs-0.jsonl.gz").unlink()
    found = problems("miracl", f"{miracl}@th", tmp_path / "to")
    assert (
        "no passages, found topics of dev, test-a, wanted miracl-corpus-v1.0-th/docs-" in found[0]
    )
    found = problems("miracl", "xx", tmp_path / "to")
    assert "xx:1: is neither a folder nor a language, wanted one of: ar, bn" in found[0]


@pytest.fixture
def mmarco(tmp_path):
    return mmarco_folder(tmp_path / "mmarco")


def test_mmarco_across_languages(mmarco, tmp_path):
    lines, evals = bring(
        "mmarco", f"{mmarco}@en", tmp_path / "to", queries_language="ja", max_docs=3
    )
    assert list(evals.documents) == ["0", "1", "4"] and evals.documents["4"].text == "wind 4"
    assert evals.queries["1"].query == "風の音" and evals.tokenizer == "bigrams"
    assert write.TRUNCATED in lines
    assert "Documents in english, queries in japanese; the labels are MS MARCO's." in lines
    same = bring("mmarco", f"{mmarco}@english", tmp_path / "en")[1]
    assert same.queries["1"].query == "wind" and same.tokenizer == "words"


def test_mmarco_says_what_is_missing(mmarco, tmp_path):
    (mmarco / "qrels.dev.small.tsv").unlink()
    found = problems("mmarco", f"{mmarco}@en", tmp_path / "to", queries_language="german")
    assert "no queries, wanted german_queries.dev.small.tsv" in found[0]
    assert "no labels, wanted qrels.dev.small.tsv" in found[1]
    found = problems("mmarco", mmarco, tmp_path / "to")
    assert "document languages: found english, japanese, wanted one:" in found[0]


# Names of fields, forms of lines, and messages, word for word.


def asked(kind="beir", path="p", **options):
    return readers.Asked(kind, str(path), **options)


@pytest.mark.parametrize("name", ["_id", "doc_id", "docid", "docno", "id"])
@pytest.mark.parametrize("text", ["text", "contents", "body"])
def test_documents_under_the_names_of_many_tools(tmp_path, name, text):
    path, log = tmp_path / "d.jsonl", readers.Log()
    write_rows(path, {name: " d ", "title": " T ", text: " words "}, {"x": 1})
    found = list(collections.documents_of([path], asked(), log))
    assert found == [(f"{path}:1", {"doc_id": "d", "title": "T", "text": "words"})]
    assert log.problems == [f"{path}:2: field _id is missing, wanted an id: text or whole number"]


@pytest.mark.parametrize("name", ["_id", "query_id", "qid", "id"])
@pytest.mark.parametrize("text", ["text", "query", "title"])
def test_queries_under_the_names_of_many_tools(tmp_path, name, text):
    path, log = tmp_path / "q.jsonl", readers.Log()
    write_rows(path, {name: 7, text: " words "}, {"x": 1})
    found = list(collections.queries_of(path, log))
    assert found == [(f"{path}:1", {"query_id": "7", "query": "words"})]
    assert log.problems == [f"{path}:2: field _id is missing, wanted an id: text or whole number"]


def test_lines_of_an_id_a_tab_and_a_text(tmp_path):
    long = "x" * 50
    path, log = (
        put(tmp_path / "q.tsv", f" a/b \t one\ttwo \n{long}\n \tno id\nc\t\n"),
        readers.Log(),
    )
    assert list(collections.tsv_of(path, ("query_id", "query"), log)) == [
        (f"{path}:1", {"query_id": "a%2Fb", "query": "one\ttwo"}),
        (f"{path}:4", {"query_id": "c", "query": ""}),
    ]
    assert log.problems == [
        f"{path}:2: found {'x' * 40!r}, wanted an id, a tab and a text",
        f"{path}:3: found ' \\tno id', wanted an id, a tab and a text",
    ]
    assert list(collections.queries_of(put(tmp_path / "none.tsv", ""), log)) == []


TOPICS_OF_ALL_FORMS = """
 <TOP>
<NUM> Number: 1
<TITLE> Topic: International
  crime
</TOP>
<top>
<num>
2/b
<desc> Description: Who
fights
<narr> Long
</top>
<top><num> 3 <narr> nothing</top>
<top>
<title> no number
</top>
<top>
<num> 4
"""


def test_topics_of_all_forms(tmp_path):
    path, log = put(tmp_path / "topics.txt", TOPICS_OF_ALL_FORMS), readers.Log()
    assert list(collections.queries_of(path, log)) == [
        (f"{path}:2", {"query_id": "1", "query": "International crime"}),
        (f"{path}:7", {"query_id": "2%2Fb", "query": "Who fights"}),
        (f"{path}:14", {"query_id": "3", "query": ""}),
    ]
    assert log.problems == [
        f"{path}:15: topic without a number, wanted <num> Number: 301",
        f"{path}:18: topic without an end, wanted </top>",
    ]
    log = readers.Log()
    assert list(collections.queries_of(put(path, "<num> 1\n<title> a\n"), log)) == []
    assert log.problems == [f"{path}: topic without an end, wanted </top>"]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("query-id\tcorpus-id\tscore\nq\td\t1\n", [("q", "d", "1")]),
        ("Query_ID\tcorpus-id\tscore\nq\td\t1\n", [("q", "d", "1")]),
        ("qid 0 docno grade\nq 0 d 2\n", [("q", "d", "2")]),
        ("q\ta b\t1\nr\t0\t c \t-1\n", [("q", "a%20b", "1"), ("r", "c", "-1")]),
        ("q d 1\nqid d 1\n", [("q", "d", "1"), ("qid", "d", "1")]),
    ],
)
def test_labels_of_three_and_four_columns(tmp_path, lines, found):
    path, log = put(tmp_path / "qrels.tsv", lines), readers.Log()
    labels = list(collections.labels_of(path, "dev", log))
    assert [(n.query_id, n.doc_id, n.grade) for n in labels] == found and not log.problems
    assert {(n.split, n.evidence) for n in labels} == {("dev", ())}
    assert labels[-1].place == f"{path}:2"


@pytest.mark.parametrize("line", ["q\t\t1", "q d", "q 0 d 1 x", "x" * 50])
def test_lines_that_are_no_labels(tmp_path, line):
    path, log = put(tmp_path / "qrels.tsv", line), readers.Log()
    assert list(collections.labels_of(path, "dev", log)) == []
    assert log.problems == [
        f"{path}:1: found {line[:40]!r}, wanted 3 columns (query, document, grade) or 4 (query, 0, "
        "document, grade)"
    ]


def test_the_plain_files_of_beir_come_first_and_all_that_lacks_is_named(beir, tmp_path):
    put(beir / "corpus.jsonl.gz", b"no gzip")
    put(beir / "queries.jsonl.gz", b"no gzip")
    found = collections.beir(asked(path=beir), readers.Log())
    assert found.splits == ("dev", "test") and len(list(found.queries)) == 3
    assert len(list(found.documents)) == 4 and [n.split for n in found.labels] == [
        "dev",
        *["test"] * 3,
    ]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert problems("beir", empty, tmp_path / "to") == [
        f"{empty}:1: no corpus.jsonl here, wanted corpus.jsonl or corpus.jsonl.gz",
        f"{empty}:1: no queries.jsonl here, wanted queries.jsonl or queries.jsonl.gz",
        "qrels:1: no labels found, wanted qrels/test.tsv or the like",
    ]
    put(beir / "qrels" / "other.txt", "no labels")
    assert collections.beir(asked(path=beir), readers.Log()).splits == ("dev", "test")
    assert problems("beir", beir, tmp_path / "to", split="x") == [
        "qrels: no split x, found dev, test"
    ]


def test_trec_finds_its_files_by_name(tmp_path):
    folder = tmp_path / "t"
    put(folder / "a" / "queries.test.tsv", "1\tcrime\n")
    put(folder / "topics.train.jsonl", '{"id": 2, "text": "rain"}\n')
    put(folder / "topicsx.tsv", "9\tnone\n")
    put(folder / "qrels.test.txt", "1 0 A 1\n")
    put(folder / "qrels-train.qrels", "2 0 A 1\n")
    put(folder / "docs" / "1.jsonl.gz", gzip.compress(b'{"id": "A", "text": "crime"}\n'))
    put(folder / "docs" / "2.jsonl", '{"id": "B", "text": "rain"}\n')
    found = collections.trec(asked("trec", folder), readers.Log())
    assert found.splits == ("train", "test") and found.words == "words"
    assert [row["query_id"] for _, row in found.queries] == ["1", "2"]
    assert [row["doc_id"] for _, row in found.documents] == ["A", "B"]
    assert [(n.split, n.query_id) for n in found.labels] == [("train", "2"), ("test", "1")]
    found = collections.trec(asked("trec", folder, split="test"), readers.Log())
    assert [row["query_id"] for _, row in found.queries] == ["1"]
    assert [n.split for n in found.labels] == ["test"]


def test_trec_names_all_that_lacks_and_the_first_nine_files(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    wanted = (
        ("topics", "topics*.txt or topics*.tsv"),
        ("labels", "qrels*.txt or qrels*.tsv"),
        ("documents", "a JSONL file with docid and contents"),
    )
    assert problems("trec", folder, tmp_path / "to") == [
        f"{folder}:1: no {what}, found nothing, wanted {form}" for what, form in wanted
    ]
    for n in range(12):
        put(folder / f"f{n:02}.txt", "x")
    names = ", ".join(f"f{n:02}.txt" for n in range(9))
    assert f"no topics, found {names}, wanted" in problems("trec", folder, tmp_path / "to")[0]


def question(**fields):
    row = {"question": " Why? ", "context": [["A", ["One.", "Two."]], ["B", ["Three."]]]}
    return {**row, "supporting_facts": [["A", 0]], **fields}


def test_hotpotqa_from_one_file_without_ids_types_and_answers(tmp_path):
    path = tmp_path / "mine.jsonl"
    other = {"context": [["A", ["Else."]], ["C", []]], "supporting_facts": [["A", 1], ["A", 0]]}
    facts = [["A", 7], ["B", 0], ["Z", 0]]
    rows = [question(), question(id=9, **other), question(answer="", supporting_facts=facts)]
    write_rows(path, *rows, question(_id="x/y", id="z", type=" t ", answer=" a "))
    log = readers.Log()
    found = hotpot.hotpotqa(asked("hotpotqa", path), log)
    assert [(place, row) for place, row in found.queries] == [
        (f"{path}:1", {"query_id": "all-1", "query": "Why?"}),
        (f"{path}:2", {"query_id": "9", "query": "Why?"}),
        (f"{path}:3", {"query_id": "all-3", "query": "Why?"}),
        (f"{path}:4", {"query_id": "x%2Fy", "query": "Why?", "kind": "t", "answers": ["a"]}),
    ]
    assert found.labels == [
        (f"{path}:1", "all", "all-1", "A", 1, ("One.",)),
        (f"{path}:2", "all", "9", "A", 1, ()),  # of another text under this title
        (f"{path}:3", "all", "all-3", "A", 1, ()),
        (f"{path}:3", "all", "all-3", "B", 1, ("Three.",)),
        (f"{path}:3", "all", "all-3", "Z", 1, ()),
        (f"{path}:4", "all", "x%2Fy", "A", 1, ("One.",)),
    ]
    assert list(found.documents) == [
        (f"{path}:1", {"doc_id": "A", "title": "A", "text": "One. Two."}),
        (f"{path}:1", {"doc_id": "B", "title": "B", "text": "Three."}),
        (f"{path}:2", {"doc_id": "C", "title": "C", "text": ""}),
    ]
    said = "left out: paragraphs with another text under a title that was there"
    beyond = "left out: evidence whose sentence number is beyond its paragraph"
    assert log.lines() == [f"{said}: 1, first {path}:2", f"{beyond}: 2, first {path}:2"]
    assert found.splits == ("all",)
    told = "Unlabelled paragraphs of a question are distractors; nobody judged them."
    assert found.about == (told,)


def test_a_type_that_is_no_label_is_left_out_and_told(tmp_path):
    path = tmp_path / "mine.jsonl"
    write_rows(path, question(type="<img src=x onerror=x()>"), question(_id=2, type="bridge (a)"))
    log = readers.Log()
    found = [row.get("kind") for _, row in hotpot.hotpotqa(asked("hotpotqa", path), log).queries]
    assert found == [None, "bridge (a)"]
    wanted = "types that are no label (1 to 60 letters, digits, spaces and -_/.&+())"
    assert log.left == {wanted: (1, f"{path}:1")}


def test_hotpotqa_takes_splits_from_the_names_of_its_files(tmp_path):
    for name in ("train-1.jsonl", "train-2.jsonl", "test.jsonl"):
        put(tmp_path / "q" / name, json.dumps(question()))
    put(tmp_path / "q" / "notes.txt", "no questions")
    found = hotpot.hotpotqa(asked("hotpotqa", tmp_path / "q"), readers.Log())
    assert found.splits == ("test", "train")
    assert sorted(row["query_id"] for _, row in found.queries) == ["test-1", "train-1", "train-2"]
    assert {n.split for n in found.labels} == {"test", "train"}
    missing = tmp_path / "no.json"
    with pytest.raises(EvalSetError) as caught:
        hotpot.hotpotqa(asked("hotpotqa", missing), readers.Log())
    assert caught.value.problems == [
        f"{missing}:1: no questions, wanted a .json, .jsonl or .parquet"
    ]


def test_a_question_of_another_form_is_named(tmp_path):
    uneven = {"title": ["A", "B"], "sentences": [["One."]]}
    path = put(tmp_path / "dev.jsonl", json.dumps(question(context=uneven)))
    log = readers.Log()
    assert hotpot.hotpotqa(asked("hotpotqa", path), log).queries == []
    assert log.problems == [
        f"{path}:1: question, context or supporting_facts is missing or of another form, wanted "
        'context [[title, [sentence, ...]], ...] or {"title": [...], "sentences": [...]}'
    ]


def test_the_languages_and_their_tokenizers():
    assert collections.WORDS == {
        **{"zh": "bigrams", "ja": "bigrams", "th": "bigrams", "bn": "unicode-words"},
        **{"hi": "unicode-words", "te": "unicode-words", "yo": "unicode-words"},
    }
    names = "arabic german english spanish french hindi indonesian italian japanese dutch"
    names += " portuguese russian vietnamese chinese"
    codes = "ar de en es fr hi id it ja nl pt ru vi zh"
    assert dict(zip(codes.split(), names.split(), strict=True)) == collections.MMARCO
    assert " ".join(collections.MIRACL) == "ar bn de en es fa fi fr hi id ja ko ru sw te th yo zh"


def test_where_a_local_copy_or_a_language_is_asked_for(tmp_path):
    odd = tmp_path / "a@th"
    odd.mkdir()
    for path, where in (
        (tmp_path, (tmp_path, "")),
        (f"{tmp_path}@th", (tmp_path, "th")),
        (odd, (odd, "")),
        (f"{odd}@yo", (odd, "yo")),
        ("th", (None, "th")),
    ):
        assert collections._where(asked(path=path), ("th", "yo")) == where
    for path, named in (("xx", "xx"), ("no@th", "no"), ("@th", "@th")):
        with pytest.raises(EvalSetError) as caught:
            collections._where(asked(path=path), ("th", "yo"))
        wanted = f"{named}:1: is neither a folder nor a language, wanted one of: th, yo"
        assert caught.value.problems == [wanted]


def test_one_language_needs_no_name():
    one, path = collections._one, Path("p")
    assert one(["th"], "", path, "topics") == "th" == one(["th", "yo"], "th", path, "topics")
    for found, shown in ((["yo", "th", "th"], "th, yo"), ([], "none")):
        with pytest.raises(EvalSetError) as caught:
            one(found, "", path, "topics")
        wanted = f"p:1: topics: found {shown}, wanted one: p@LANGUAGE"
        assert caught.value.problems == [wanted]


def test_miracl_takes_the_passages_of_its_language_alone(miracl, tmp_path):
    put(miracl / "miracl-corpus-v1.0-th" / "docs-1.jsonl", '{"docid": "8", "text": "x"}\n')
    put(miracl / "docs" / "docs-2.jsonl", '{"docid": "a", "text": "x"}\n')
    put(miracl / "docs-3.jsonl", '{"docid": "b", "text": "x"}\n')
    put(miracl / "topics.miracl-other.tsv", "1\tx\n")
    found = collections.miracl(asked("miracl", f"{miracl}@th"), readers.Log())
    ids = sorted(row["doc_id"] for _, row in found.documents)
    assert ids == sorted(["7%231", "9%230", "5%235", "8", "a", "b"])
    assert found.splits == ("dev",) and {n.split for n in found.labels} == {"dev"}
    told = "Language: th. Passages judged not relevant are kept as grade 0."
    assert found.about == (told,) and [row["query_id"] for _, row in found.queries] == ["7%230"]


def test_miracl_needs_no_language_where_there_is_one(miracl, tmp_path):
    for path in [p for p in sorted(miracl.rglob("*yo*"), reverse=True) if p.is_file()]:
        path.unlink()
    assert "Language: th." in collections.miracl(asked("miracl", miracl), readers.Log()).about[0]
    (found,) = problems("miracl", miracl, tmp_path / "to", split="TEST")
    assert found.startswith("miracl: the labels of TEST are hidden by its makers")
    first, second = problems("miracl", f"{miracl}@th", tmp_path / "to", split="train")
    here = f"{miracl}:1: no"
    name = "miracl-v1.0-th-train.tsv"
    assert first == f"{here} topics, found topics of dev, test-a, wanted topics.{name}"
    assert second == f"{here} labels, found topics of dev, test-a, wanted qrels.{name}"


def test_mmarco_takes_other_splits_and_languages_by_name(mmarco, tmp_path):
    put(mmarco / "english_queries.train.tsv", "2\tstorm\n")
    put(mmarco / "qrels.train.tsv", "2 0 3 1\n")
    found = collections.mmarco(asked("mmarco", f"{mmarco}@english", split="train"), readers.Log())
    assert [row for _, row in found.queries] == [{"query_id": "2", "query": "storm"}]
    assert found.splits == ("train",) and [n.split for n in found.labels] == ["train"]
    assert found.words == "words" and next(iter(found.documents))[1] == {
        "doc_id": "0",
        "text": "wind 0",
        "title": "",
    }
    for split in (None, "dev", "dev.small"):
        found = collections.mmarco(asked("mmarco", f"{mmarco}@ja", split=split), readers.Log())
        assert found.splits == ("dev.small",) and found.words == "bigrams"
    told = "Documents in japanese, queries in japanese; the labels are MS MARCO's."
    assert found.about == (told,)
    found = problems("mmarco", f"{mmarco}@en", tmp_path / "to", split="x")
    assert found == [
        f"{mmarco}:1: no queries, wanted english_queries.x.tsv (MS MARCO's split names)",
        f"{mmarco}:1: no labels, wanted qrels.x.tsv (MS MARCO's split names)",
    ]
    (mmarco / "google" / "collections" / "japanese_collection.tsv").unlink()
    found = collections.mmarco(asked("mmarco", mmarco), readers.Log())
    assert found.about[0].startswith("Documents in english, queries in english;")


def test_hindi_of_mmarco_needs_its_marks_and_japanese_pairs(mmarco):
    put(mmarco / "hindi_collection.tsv", "0\tx\n")
    put(mmarco / "hindi_queries.dev.small.tsv", "1\tx\n")
    put(mmarco / "qrels.dev.small.tsv.gz", b"not read: the plain file comes first")
    for asks, words in (("en", "unicode-words"), ("ja", "bigrams"), (None, "unicode-words")):
        wanted = asked("mmarco", f"{mmarco}@hi", queries_language=asks)
        assert collections.mmarco(wanted, readers.Log()).words == words


def test_spaces_around_titles_and_empty_sentences_are_cut(tmp_path):
    row = question(context=[[" A b ", ["", " One. ", ""]]], supporting_facts=[[" A b ", 1]])
    path = put(tmp_path / "dev.json", json.dumps([row]))
    found = hotpot.hotpotqa(asked("hotpotqa", path), readers.Log())
    document = {"doc_id": "A_b", "title": " A b ", "text": "One."}
    assert list(found.documents) == [(f"{path}:1", document)]
    assert [(n.doc_id, n.evidence) for n in found.labels] == [("A_b", ("One.",))]


def test_a_language_of_letters_is_read_in_words(monkeypatch):
    empty = readers.Source([])
    monkeypatch.setattr(collections.catalogue, "download_miracl", lambda *args: empty)
    monkeypatch.setattr(collections.catalogue, "download_mmarco", lambda *args: empty)
    assert collections.miracl(asked("miracl", "sw"), readers.Log()).words == "words"
    assert collections.miracl(asked("miracl", "bn"), readers.Log()).words == "unicode-words"
    assert collections.mmarco(asked("mmarco", "french"), readers.Log()).words == "words"


def test_topics_without_end_end_at_once(trec, tmp_path, monkeypatch):
    start = time.perf_counter()
    put(trec / "topics.txt", "<top><num>" + " " * 200_000 + "</top>\n")
    found = problems("trec", trec, tmp_path / "to")[0]
    assert found.startswith("topics.txt:1: topic without a number")
    assert time.perf_counter() - start < 2
    monkeypatch.setattr(files, "LONGEST", 30)
    put(trec / "topics.txt", "<top>\n" + "<desc> a\n" * 9)
    assert (
        problems("trec", trec, tmp_path / "to")[0]
        == "topics.txt:1: the topic is too long, wanted at most 30 characters"
    )


def test_quotes_of_a_csv_writer_are_taken_off_cells():
    cells = ['"', '""', '"a"', '"a""b"', 'a"b', '"a', "a"]
    assert [*map(collections._bare, cells)] == ['"', "", "a", 'a"b', 'a"b', '"a', "a"]
