"""Each published layout on a small folder written here; what is wrong with one is named."""

import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest
from conftest import write_rows
from importing import beir_folder, bring, mmarco_folder, problems, put, refusal

from helpers.sources import write


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
        table = pyarrow.Table.from_pylist([COLUMNS])
        pyarrow.parquet.write_table(table, path / "validation-00000-of-00001.parquet")
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
        ("A_(film)", 1, "Two."),
        ("B%2FC", 1, ""),  # HotpotQA has sentence numbers beyond the paragraph
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
