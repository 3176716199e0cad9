"""HotpotQA in its published forms."""

import json
import shutil
from pathlib import Path

from conftest import write_rows
from importing import bring, problems, put, read

ORIGINAL = {
    "_id": "5a8",
    "question": "Were A and B born in one town?",
    "answer": "yes",
    "type": "comparison",
    "supporting_facts": [["A (film)", 1], ["A (film)", 0], ["B/C", 7]],
    "context": [["A (film)", ["One.", " Two."]], ["B/C", ["Three."]], ["Empty", []]],
}
COLUMNS = {
    "id": "5a8",
    **{key: ORIGINAL[key] for key in ("question", "answer", "type")},
    "supporting_facts": {"title": ["A (film)", "A (film)", "B/C"], "sent_id": [1, 0, 7]},
    "context": {"title": ["A (film)", "B/C"], "sentences": [["One.", " Two."], ["Three."]]},
}


def test_hotpotqa_in_three_forms(tmp_path):
    put(tmp_path / "json" / "hotpot_dev_v1.json", json.dumps([ORIGINAL], indent=2))
    put(tmp_path / "jsonl" / "validation.jsonl", json.dumps(COLUMNS))
    (tmp_path / "parquet").mkdir()
    written = Path(__file__).with_name("hotpotqa.parquet")  # COLUMNS, by pyarrow
    shutil.copy(written, tmp_path / "parquet" / "validation-00000-of-00001.parquet")
    for form in ("json", "jsonl", "parquet"):
        lines, evals = bring("hotpotqa", tmp_path / form, tmp_path / f"to-{form}")
        texts = {d.doc_id: d.retrieval_text for d in evals.documents.values()}
        assert texts == {"A_(film)": "A (film)\n\nOne. Two.", "B%2FC": "B/C\n\nThree."}, form
        query = evals.queries["5a8"]
        assert (query.kind, query.answers, query.split) == ("comparison", ("yes",), "dev"), form
        assert [(j.doc_id, j.relevance, j.evidence) for j in evals.judgments] == [
            ("A_(film)", 1, (("Two.", "One."),)),  # both together
            ("B%2FC", 1, ()),  # HotpotQA has sentence numbers beyond the paragraph
        ], form
        assert any("documents without text: 1" in line for line in lines) == (form == "json")
        card = (tmp_path / f"to-{form}" / "README.md").read_text()
        assert "that both paragraphs are needed cannot be said" in card


def question(**fields):
    row = {"question": " Why? ", "context": [["A", ["One.", "Two."]], ["B", ["Three."]]]}
    return {**row, "supporting_facts": [["A", 0]], **fields}


OTHER = {"context": [["A", ["Else."]], ["C", []]], "supporting_facts": [["A", 1], ["A", 0]]}
FACTS = [["A", 7], ["A", -1], ["B", 0], ["Z", 0]]
ROWS = [  # a question, the rest of its query, its labels: document and quotes
    (question(), {"query_id": "all-1"}, [("A", (("One.",),))]),
    (
        question(id=9, type="a|b", **OTHER),
        {"query_id": "9"},
        [("A", ())],
    ),  # of another text under this title
    (
        question(answer="", supporting_facts=FACTS),
        {"query_id": "all-3"},
        [("A", ()), ("B", (("Three.",),)), ("Z", ())],
    ),
    (
        question(_id="x/y", id="z", type=" t ", answer=" a ", context=[[" A b ", ["", " O. "]]]),
        {"query_id": "x%2Fy", "kind": "t", "answers": ["a"]},
        [("A", ())],
    ),
]


def test_questions_without_ids_types_and_answers(tmp_path):
    path = tmp_path / "mine.jsonl"
    write_rows(path, *(row for row, *_ in ROWS))
    found, log = read("hotpotqa", path)
    places = [f"{path}:{n}" for n in range(1, 5)]
    queries = [{"query": "Why?", **more} for _, more, _ in ROWS]
    assert list(found.queries) == [*zip(places, queries, strict=True)]
    assert found.labels == [
        (place, "all", query["query_id"], doc_id, 1, quotes)
        for place, query, (*_, labels) in zip(places, queries, ROWS, strict=True)
        for doc_id, quotes in labels
    ]
    documents = [("A", "A", "One. Two."), ("B", "B", "Three."), ("C", "C", "")]
    assert [tuple(row.values()) for _, row in found.documents] == [
        *documents,
        ("A_b", " A b ", "O."),
    ]
    assert log.left == {
        "types that are no kind (1 to 60 letters, digits, spaces and -_/.&+())": (1, f"{path}:2"),
        "documents with another text under an id that was there": (1, f"{path}:2"),
        "evidence whose sentence number is beyond its paragraph": (3, f"{path}:2"),
    }
    assert "nobody judged them" in found.about[0] and found.splits == ("all",)


UNFIT = ", row 1: question, context or supporting_facts is missing or of another form, wanted"
BAD = [  # a row, or the text of the file; the problem
    ({"question": "a"}, UNFIT),
    (question(question=7), UNFIT),
    (question(context=[["A", "One. Two."]]), UNFIT),
    (question(context=[["A", ["One.", 2]]]), UNFIT),
    (question(context=[[1, []]]), UNFIT),
    (question(context={"title": ["A", "B"], "sentences": [["One."]]}), UNFIT),
    (question(supporting_facts=[["A", True]]), UNFIT),
    (question(_id=[""]), ', row 1: field _id is [""], wanted an id'),
    ("[\n\n{]", ": cannot be read ("),
]


def test_a_question_of_another_form_is_named(tmp_path):
    path = tmp_path / "q" / "dev.json"
    for row, wanted in BAD:
        put(path, row if isinstance(row, str) else json.dumps([row]))
        told = problems("hotpotqa", path.parent, tmp_path / "to")
        assert told[0].startswith(f"dev.json{wanted}"), (row, told)
    put(tmp_path / "n" / "dev.txt", "")
    (problem,) = problems("hotpotqa", tmp_path / "n", tmp_path / "to")
    assert problem.endswith("n:1: no questions, wanted a .json, .jsonl or .parquet")
