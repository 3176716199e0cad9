"""Made files of other tools' forms, each where its form is documented, become sets."""

import csv
import io
import json
from pathlib import Path

import pytest
from importing import bring, problems, put, read

from helpers.label import shapes
from helpers.measure import files

DOCS = [
    {"_id": "d1", "title": "Disk", "text": "Delete **old logs**,\nthen restart the writer."},
    {"_id": "d2", "title": "", "text": "A consumer drains the queue."},
    {
        "_id": "d3",
        "title": "Disk, copy",
        "text": "Delete old logs, then restart the writer. Twice.",
    },
]
FULL, QUEUE = "disk is full", "queue grows"
P1, P2 = "Delete old logs, then restart the writer.", "A consumer drains the queue."


def table(*rows):
    """Return rows as CSV; the first is the head."""
    page = io.StringIO()
    csv.writer(page).writerows(rows)
    return page.getvalue()


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def match(text):
    return {"query": {"bool": {"must": [{"match": {"body": text}}], "filter": {"term": {"a": 1}}}}}


def rating(doc_id, grade):
    return {"_index": "pages", "_id": doc_id, "rating": grade}


# elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html, and OpenSearch's
# docs.opensearch.org/latest/api-reference/rank-eval
RANK_EVAL = {
    "requests": [
        {"id": "full", "request": match(FULL), "ratings": [rating("d1", 2), rating("d2", 0)]},
        {
            "id": "queue",
            "request": {"query": {"multi_match": {"fields": ["title"], "query": QUEUE}}},
            "ratings": [rating("d2", 1)],
        },
    ],
    "metric": {"dcg": {"k": 10}},
}
TEMPLATES = {
    "templates": [{"id": "t", "template": {"source": match("{{query_string}}")}}],
    "requests": [
        {"id": q, "template_id": "t", "params": {"lang": "en", "query_string": text}, "ratings": r}
        for q, text, r in [
            ("full", FULL, RANK_EVAL["requests"][0]["ratings"]),
            ("queue", QUEUE, RANK_EVAL["requests"][1]["ratings"]),
        ]
    ],
}
# docs.opensearch.org/latest/search-plugins/search-relevance/judgments
JUDGMENTS = {
    "id": "one id for the list",
    "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {
            "query": FULL,
            "ratings": [{"docId": "d1", "rating": "2.000"}, {"docId": "d2", "rating": "0.000"}],
        },
        {"query": QUEUE, "ratings": [{"docId": "d2", "rating": 1}]},
    ],
}
FETCHED = {"took": 3, "hits": {"total": {"value": 1}, "hits": [{"_id": "x", "_source": JUDGMENTS}]}}
# o19s/quepid: app/views/api/v1/export/ratings/show.basic.csv.erb (a query without a rating is a
# line of one cell), and "detailed" of app/assets/javascripts/services/caseCSVSvc.js
QUEPID = f"query,docid,rating\n{FULL},d1,2\n{FULL},d2,0\nnever rated\n{QUEUE},d2,1\n{QUEUE},d1,\n"
DETAILED = table(
    [
        "Team Name",
        "Case Name",
        "Case ID",
        "Query Text",
        "Doc ID",
        "Doc Position",
        "Title",
        "Rating",
    ],
    ["T", "C", 7, FULL, "d1", 1, "Disk", 2],
    ["T", "C", 7, FULL, "d2", 2, "", 0],
    ["T", "C", 7, QUEUE, "d2", 1, "", 1],
    ["T", "C", 7, QUEUE, "d3", 2, "Disk", ""],
)
MINE = table(["Frage", "Seite", "Stars"], [FULL, "d1", 2], [FULL, "d2", 0], [QUEUE, "d2", 1])
LIST = table(
    ["id", "query", "doc_id", "grade"], [7, FULL, "d1", 2], [8, FULL, "d2", 0], [9, QUEUE, "d2", 1]
)
BY_ID = {FULL: {"d1": 2, "d2": 0}, QUEUE: {"d2": 1}}
NAMED = {"columns": "query=Frage,doc_id=Seite,relevance=Stars"}
WITH_IDS = [  # file, content, options
    ("rank_eval.json", json.dumps(RANK_EVAL, indent=2), {}),
    ("rank_eval.json", json.dumps(TEMPLATES), {}),
    ("list.json", json.dumps(JUDGMENTS), {}),
    ("list.json", json.dumps(FETCHED), {}),
    ("case_basic.csv", QUEPID, {}),
    ("case_detailed.csv", DETAILED, {}),
    ("mine.csv", MINE, NAMED),
    ("list.csv", LIST, {}),
]


def grades(evals):
    """Return {text of a query: {doc_id: grade}}."""
    return {evals.queries[q].query: row for q, row in evals.qrels().items()}


@pytest.mark.parametrize(("name", "content", "more"), WITH_IDS)
def test_labels_by_id_with_their_queries_stand_beside_the_documents(name, content, more, tmp_path):
    docs = put(tmp_path / "docs.jsonl", lines(*DOCS))
    labels = put(tmp_path / name, content)
    _, evals = bring("table", docs, tmp_path / "to", labels=str(labels), **more)
    assert grades(evals) == BY_ID and len(evals.documents) == 3
    ids = ["full", "queue"] if "rank" in name else ["q1", "q2"]
    assert [*evals.queries] == ids
    (told,) = problems("table", labels, tmp_path / "no", **more)
    assert "names documents without their text, wanted it as --labels" in told
    put(tmp_path / "both" / "docs.jsonl", lines(*DOCS))
    put(tmp_path / "both" / name, content)
    assert grades(bring("table", tmp_path / "both", tmp_path / "b", **more)[1]) == BY_ID


# run-llama/llama_index: llama-index-core/llama_index/core/evaluation/retrieval or
# llama_index/finetuning/embeddings/common.py, EmbeddingQAFinetuneDataset.save_json
LLAMA = {
    "queries": {"a": FULL, "b": QUEUE},
    "corpus": {"n1": P1, "n2": P2, "n3": "Nobody asked."},
    "relevant_docs": {"a": ["n1"], "b": ["n2", "n1"]},
    "mode": "text",
}
# rajpurkar.github.io/SQuAD-explorer (v2.0), and huggingface.co/datasets/rajpurkar/squad_v2
ANSWER = {"text": "old logs", "answer_start": 7}
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Disk",
            "paragraphs": [
                {
                    "context": P1,
                    "qas": [{"id": "a", "question": FULL, "answers": [ANSWER, ANSWER]}],
                },
                {
                    "context": P2,
                    "qas": [
                        {"id": "b", "question": QUEUE, "answers": [{"text": "A consumer"}]},
                        {"id": "c", "question": "who?", "answers": [], "is_impossible": True},
                    ],
                },
            ],
        }
    ],
}
SQUAD_ROWS = lines(
    {"id": "a", "title": "Disk", "context": P1, "question": FULL}
    | {"answers": {"text": ["old logs", "old logs"], "answer_start": [7, 7]}},
    {"id": "b", "title": "Disk", "context": P2, "question": QUEUE}
    | {"answers": {"text": ["A consumer"], "answer_start": [0]}},
    {"id": "c", "title": "Disk", "context": P2, "question": "who?"}
    | {"answers": {"text": [], "answer_start": []}},
)
# explodinggradients/ragas: src/ragas/testset/synthesizers/testset_schema.py and multi_hop/base.py
# (to_csv writes lists as Python does); before 0.2: question, contexts, ground_truth
RAGAS = table(
    ["user_input", "reference_contexts", "reference", "synthesizer_name"],
    [FULL, str([P1]), "Delete.", "single_hop"],
    [QUEUE, str([f"<1-hop>\n\n{P2}", f"<2-hop>\n\n{P1}"]), "Both.", "multi_hop"],
)
RAGAS_1 = lines(
    {"question": FULL, "contexts": [P1], "ground_truth": "Delete."},
    {"question": QUEUE, "contexts": [P2, P1], "ground_truth": "Both."},
)


def passage(doc_id, text):
    return {"docid": doc_id, "title": "T", "text": text}


# huggingface.co/datasets/miracl/miracl: its rows, which Tevatron's data has, too
MIRACL = lines(
    {"query_id": "a", "query": FULL, "positive_passages": [passage("1#0", P1)]}
    | {"negative_passages": [passage("2#0", P2)]},
    {"query_id": "b", "query": QUEUE, "positive_passages": [passage("2#0", P2)]},
)
# sbert.net/docs/sentence_transformer/dataset_overview.html: pairs and triplets
PAIRS = table(
    ["anchor", "positive", "negative"],
    [FULL, P1, "Else."],
    [QUEUE, P2, P1],
    [QUEUE, P1, "[Else](x)."],
)
QA = table(["Frage", "Antwort"], [FULL, P1], [QUEUE, P2], [QUEUE, P1])
WITH_TEXTS = [  # file, content, grades by text, documents, options
    ("pg_eval.json", json.dumps(LLAMA), {FULL: {P1: 1}, QUEUE: {P2: 1, P1: 1}}, 3, {}),
    ("dev-v2.0.json", json.dumps(SQUAD), {FULL: {P1: 1}, QUEUE: {P2: 1}}, 2, {}),
    ("dev.jsonl", SQUAD_ROWS, {FULL: {P1: 1}, QUEUE: {P2: 1}}, 2, {}),
    ("testset.csv", RAGAS, {FULL: {P1: 1}, QUEUE: {P2: 1, P1: 1}}, 2, {}),
    ("testset.jsonl", RAGAS_1, {FULL: {P1: 1}, QUEUE: {P2: 1, P1: 1}}, 2, {}),
    ("dev.jsonl", MIRACL, {FULL: {P1: 1, P2: 0}, QUEUE: {P2: 1}}, 2, {}),
    ("pairs.csv", PAIRS, {FULL: {P1: 1}, QUEUE: {P2: 1, P1: 1}}, 4, {}),
    ("qa.csv", QA, {FULL: {P1: 1}, QUEUE: {P2: 1, P1: 1}}, 2)
    + ({"columns": "query=Frage,passage=Antwort"},),
]


@pytest.mark.parametrize(("name", "content", "wanted", "n", "more"), WITH_TEXTS)
def test_labels_with_texts_are_sets_by_themselves(name, content, wanted, n, more, tmp_path):
    said, evals = bring("table", put(tmp_path / name, content), tmp_path / "to", **more)
    texts = {d.doc_id: d.text for d in evals.documents.values()}
    found = {q: {texts[d]: grade for d, grade in row.items()} for q, row in grades(evals).items()}
    assert found == wanted and len(texts) == n
    if "who?" in content:
        assert evals.queries["a"].answers == ("old logs",)
        assert evals.documents["p1"].title == "Disk"
        first = "left out: questions that their passage does not answer: 1, first"
        assert any(line.startswith(first) for line in said)


PAGES = {"disk.md": f"# Disk\n\n{DOCS[0]['text']}\n", "q.md": f"# Queue\n\n{P2}\nStop it.\n"}


@pytest.mark.parametrize("content", [RAGAS, RAGAS.replace(P2, "Nobody wrote this.")])
def test_passages_are_matched_to_pages_by_their_text(content, tmp_path):
    for name, text in PAGES.items():
        put(tmp_path / "docs" / name, text)
    labels = put(tmp_path / "testset.csv", content)
    said, evals = bring("markdown", tmp_path / "docs", tmp_path / "to", labels=str(labels))
    nowhere = f"left out: {shapes.NOWHERE}: 1, first {labels}:3"
    assert (nowhere in said) == (content != RAGAS)
    both = {"q": 1, "disk": 1} if content == RAGAS else {"disk": 1}
    assert grades(evals) == {FULL: {"disk": 1}, QUEUE: both}
    quotes = {j.doc_id: j.evidence for j in evals.judgments}
    assert quotes["disk"] == (("Delete **old logs**,\nthen restart the writer",),)
    put(tmp_path / "docs" / "copy.md", PAGES["disk.md"] + "word " * 200)
    _, evals = bring("markdown", tmp_path / "docs", tmp_path / "two", labels=str(labels))
    assert evals.qrels()["q1"] == {"disk": 1, "copy": 1}
    put(tmp_path / "docs" / "third.md", PAGES["disk.md"])
    _, evals = bring("markdown", tmp_path / "docs", tmp_path / "three", labels=str(labels))
    assert evals.qrels()["q1"].keys() == {"disk", "copy", "third"}
    put(tmp_path / "docs" / "fourth.md", PAGES["disk.md"])
    if content == RAGAS:
        said, evals = bring("markdown", tmp_path / "docs", tmp_path / "4", labels=str(labels))
        assert f"left out: {shapes.BOILERPLATE}: 2, first {labels}:2" in said
        assert evals.qrels() == {"q2": {"q": 1}}
    long = put(tmp_path / "long.csv", RAGAS.replace(P1, P1 + " word" * 99))
    _, evals = bring("markdown", tmp_path / "docs", tmp_path / "long", labels=str(long))
    assert {j.doc_id: len(j.evidence) for j in evals.judgments} == {"copy": 0, "q": 1}


def requests(**fields):
    return json.dumps({"requests": [{"id": "a", **fields}]})


def judgments(**fields):
    return json.dumps({"judgmentRatings": [fields]})


ASKED = match("b")
LACKS = [  # file, content, options, words of the problem
    ("r.json", json.dumps({"metric": {}}), {}, ":1: found columns metric; wanted one of: _ra"),
    ("r.json", requests(request=ASKED), {}, ", row 1: no ratings, found id, request"),
    ("r.json", requests(ratings=[]), {}, ", row 1: no request or params, found id, ratings"),
    ("r.json", requests(request=ASKED, ratings=[{"_id": 1}]), {})
    + (", row 1: no grade, found _id, query_id, wanted one of: relevance, rating",),
    ("r.json", requests(request=ASKED, ratings=[{"rating": 1}]), {})
    + (", row 1: no id, found query_id, rating, wanted one of: doc_id",),
    ("o.json", judgments(ratings=[]), {}, ", row 1: no query, found ratings"),
    ("o.json", judgments(query="a"), {}, ", row 1: no ratings, found query"),
    ("o.json", judgments(query="a", ratings=[{"rating": 1}]), {})
    + (", row 1: no id, found query_id, rating, wanted one of: doc_id",),
    ("o.json", json.dumps({"judgmentRatings": "x"}), {}, ", row 1: no judgmentRatings, found"),
    ("q.csv", QUEPID.replace("docid", "document"), {}, "nearest is Quepid, which has docid, too"),
    ("q.csv", QUEPID.replace("rating", "stars"), {}, ":2: no grade, found docid, query, quer"),
    ("d.csv", DETAILED.replace("Query Text", "Q"), {}, "nearest is Quepid, detailed, which h"),
    ("l.json", json.dumps(LLAMA).replace("relevant_docs", "x"), {})
    + (":1: found columns queries, corpus, x, mode; nearest is LlamaIndex, which has rele",),
    ("l.json", json.dumps(LLAMA).replace("corpus", "x"), {}, "names documents without their "),
    ("s.json", json.dumps(SQUAD).replace("paragraphs", "x"), {})
    + (", row 1: no paragraphs, found title, x, wanted a list",),
    ("s.json", json.dumps(SQUAD).replace("context", "x"), {}, ", row 1: no context, found ti"),
    ("s.jsonl", SQUAD_ROWS.replace("context", "x"), {}, "nearest is SQuAD in rows, which has"),
    ("t.csv", RAGAS.replace("user_input", "x"), {}, ":1: found columns x, reference_contexts"),
    ("t.csv", RAGAS.replace("reference_contexts", "x"), {}, "nearest is Ragas, which has ref"),
    ("t.jsonl", RAGAS_1 + lines({"question": "a"}), {}, ":3: no contexts, found question"),
    ("m.jsonl", MIRACL.replace("positive_", "x"), {}, "nearest is MIRACL, which has positive"),
    ("p.csv", PAIRS.replace("anchor", "x"), {}, "nearest is pairs, which has anchor or query"),
    ("l.json", '{"queries": ["x"], "corpus": {}, "relevant_docs": {}}', {})
    + (', row 1: found {"queries": ["x"], ',),
    ("e.json", '{"requests": ["x"]}', {}, ', row 1: found {"requests": ["x"]}, wanted lists'),
    ("m.jsonl", MIRACL.replace('"positive_passages": [', '"positive_passages": [3, '), {})
    + (':1: found {"query_id"',),
    ("c.csv", MINE, {}, ":1: found columns Frage, Seite, Stars; wanted one of: _rank_eval, O"),
    ("c.csv", MINE, {"columns": "query=Frage,doc_id=X"}, ":1: found columns Frage, Seite, St"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "more", "words"), LACKS)
def test_a_missing_column_is_told_with_those_that_are_there(name, content, more, words, tmp_path):
    path = put(tmp_path / name, content)
    told = problems("table", path, tmp_path / "to", **more)
    assert told[0].startswith(f"{path}") and words in told[0], told
    put(tmp_path / "docs" / "a.md", P1)
    if "without" not in words:
        again = problems("markdown", tmp_path / "docs", tmp_path / "to", labels=str(path), **more)
        assert again[0] == told[0]


def test_the_page_names_the_columns_of_every_tool():
    page = Path(__file__).parents[3] / "notebooks" / "your_own_documents.md"
    table = page.read_text(encoding="utf-8").partition("| tool | columns |")[2].partition("\n\n")[0]
    for shape in shapes.SHAPES.values():
        for name in (*shape.query.split(" or "), *shape.documents, *shape.levels[:1]):
            assert f"`{name}`" in table or f"{name}=" in table, name


def test_mteb_has_its_labels_in_default(tmp_path):
    # huggingface.co/datasets/mteb: README of each, configs corpus, queries and default
    root = tmp_path / "nq"
    rows = {
        "corpus/corpus-00000-of-00001": "SELECT 'd1' _id, 'Wind' title, 'It blows.' text",
        "queries/queries-00000-of-00001": "SELECT 'q' || n _id, 'wind?' text FROM range(4) t(n)",
        "default/test-00000-of-00002": "SELECT 'q0' \"query-id\", 'd1' \"corpus-id\", 1 score",
        "default/test-00001-of-00002": "SELECT 'q1' \"query-id\", 'd1' \"corpus-id\", 1 score",
        "default/dev/0000": "SELECT 'q2' \"query-id\", 'd1' \"corpus-id\", 1 score",
    }
    with files.database() as database:
        for name, query in rows.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            database.execute(f"COPY ({query}) TO '{root / name}.parquet'")
    _, evals = bring("table", root, tmp_path / "to")
    halves = {q.query_id: q.split for q in evals.queries.values()}
    assert halves == {"q0": "test", "q1": "test", "q2": "dev"} and len(evals.documents) == 1
    (root / "default/test-00000-of-00002.parquet").unlink()
    with files.database() as database:
        database.execute(f"COPY (SELECT 'q0' \"query-id\") TO '{root}/default/test.parquet'")
    assert any(
        "found query-id, wanted one of" in p for p in problems("table", root, tmp_path / "no")
    )


def test_a_file_of_one_large_object_is_read(tmp_path):
    large = LLAMA | {"corpus": {"n1": P1, "n2": P2, "n3": "word " * 4_000_000}}
    source, log = read("table", put(tmp_path / "large.json", json.dumps(large)))
    assert len([*source.documents]) == 3 and not log.problems
