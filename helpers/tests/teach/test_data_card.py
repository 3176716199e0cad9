"""What the data card says of a set: its counts, its labels, its first paragraph."""

import pytest
from conftest import write_rows

from helpers.measure import stats, tokens
from helpers.measure.evalset import Document, EvalSet, Judgment, Query
from helpers.teach import data_card


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Return a set whose documents are as long as their title says."""
    monkeypatch.setattr(tokens, "token_ids", lambda words: range(int(words.split()[0])))
    held = [(7, "page", "s"), (1200, "page", "s"), (10, "note", "s"), (9, *["unspecified"] * 2)]
    documents = {
        f"d{n}": Document(f"d{n}", str(tokens), "x", kind, service)
        for n, (tokens, kind, service) in enumerate(held)
    }
    queries = [Query("q0", "a", (), split="test"), Query("q1", "b", (), answers=("x", "y"))]
    queries = {query.query_id: query for query in [*queries, Query("q2", "b", ())]}
    judged = [("q0", "d0", 2), ("q0", "d1", 0), ("q1", "d2", 1), ("q2", "d2", 1), ("q2", "d3", 0)]
    return EvalSet(tmp_path, documents, queries, [Judgment(*row) for row in judged])


FACTS = """\
| what | count |
|---|---|
| documents | 4 of 2 kinds about 1 service |
| tokens (cl100k_base) | 1,226: shortest document 7, median 10, longest 1,200 |
| queries | 3: 2 dev, 1 test |
| queries that no document answers | 0 |
| judgments | 5: 2 of grade 0, 2 of grade 1, 1 of grade 2 |
| documents reached by a query | 2 (50%) |
| queries with short answers | 1 |"""


def test_the_data_card_counts_documents_queries_and_labels(counted):
    assert data_card.counts_table(counted) == FACTS
    marked = {q: query._replace(popularity="head") for q, query in [*counted.queries.items()][:2]}
    aside = counted._replace(queries=counted.queries | marked, unanswered={"z": marked})
    row = "| queries | 3: 2 dev, 1 test; 2 head |\n| queries that no document answers | 1 |"
    assert row in data_card.counts_table(aside)
    plain = {"d3": counted.documents["d3"]}  # of no kind, about no service
    assert data_card.counts(counted._replace(documents=plain))["documents"] == "1"


SECOND = [(8, 1, 1), (1, 0, 0), (1, 1, 1), (1, 2, 2), (1, 0, 1), (8, 1, 1), (1, 2, 2)]
ONE = "100.0% equal, Cohen's kappa undefined (one grade only); equal by first grade 1: 100%"
POOL = {
    "pairs judged in the pool": "5",
    "relevant, missed by the first labelling": "2 of 3",
    "second pass, round 1": "5 pairs, 80.0% equal, Cohen's kappa 0.71 (0.23 to 1.00); "
    "equal by first grade 0: 50%, 1: 100%, 2: 100%",
    "second pass, round 8": f"2 pairs, {ONE}",
}
READERS = {
    "second pass, round 1": f"1 pair, {ONE}",
    "second pass, round 1, by a model": f"1 pair, {ONE}; readers: language models of one family",
    "second pass, round 1, by a person": f"2 pairs, {ONE}; readers: people",
}


def test_the_data_card_counts_the_pool_and_each_second_pass(counted, monkeypatch):
    monkeypatch.setattr(stats, "kappa", lambda a, b, grades: 0.7059 if grades and a != b else None)
    pool = [("q0", "d0", 2), ("q0", "d1", None), ("q1", "d2", 0), ("q2", "d2", None)]
    write_rows(counted.folder / "pool.jsonl", *(
        {"query_id": q, "doc_id": d, "rankers": ["a"], "first": first} for q, d, first in pool),
        {"query_id": "q2", "doc_id": "d3", "rankers": ["a"]})  # fmt: skip

    def card(*passes):
        """Return the rows of labels after second passes, which the data card shows."""
        ids = ({"query_id": q, "doc_id": d} for q in counted.queries for d in counted.documents)
        row = {"round": 1, "first": 1, "second": 1, "final": 1, "reason": ""}
        rows = (pair | row | more for pair, more in zip(ids, passes, strict=False))
        write_rows(counted.folder / "second_pass.jsonl", *rows)
        found = data_card.label_facts(counted)
        lines = "".join(f"\n| {name} | {words} |" for name, words in found.items())
        assert data_card.counts_table(counted).startswith(FACTS + lines)  # Cohen's, not Cohen&#39;s
        return [*found.items()]

    names = ("round", "first", "second")
    assert card(*(dict(zip(names, row, strict=True)) for row in SECOND)) == [*POOL.items()]
    (counted.folder / "pool.jsonl").unlink()
    passes = [{}, {"reader": "model"}, {"reader": "person:ab"}, {"reader": "person:cd"}]
    assert card(*passes) == [*READERS.items()]


def test_the_data_card_counts_third_readings_and_large_rounds(counted):
    pairs = [{"query_id": f"q{n % 3}", "doc_id": f"d{n}", "round": 7} for n in range(2400)]
    documents = {p["doc_id"]: Document(p["doc_id"], "7", "x") for p in pairs}
    rows = [p | {"first": n % 3, "second": (n + (n % 10 == 0)) % 3} for n, p in enumerate(pairs)]
    thirds = zip(rows[:31:10] + rows[1:2], (0, 0, 1, 1, 2), strict=True)  # 0 1, 1 2, 2 0, 0 1; 1 1
    rows += [row | {"round": 8, "second": grade} for row, grade in thirds]
    rows += [row | {"round": 6, "second": (row["first"] + 1) % 3} for row in rows[:4]]
    # read four times, two against two: d0, d1; three times: d2, d3
    more = {"final": 1, "reason": "", "batch": "b", "evidence": ["x"]}
    write_rows(counted.folder / "second_pass.jsonl", *(row | more for row in rows))
    found = data_card.label_facts(counted._replace(documents=documents))
    told = "2,400 pairs, 90.0% equal, Cohen's kappa 0.85 ("
    assert found["second pass, round 7"].startswith(told)
    third = "7 pairs, 3 with one most frequent grade, 4 tied"
    assert found["disputed, read three times or more"] == third and len(found) == 4


def test_the_disclosure_is_the_first_paragraph_of_the_data_card(counted):
    card = counted.folder / "README.md"
    card.write_text("\n# A set\n\n<!-- x -->\n\nAll of it\nis **made** `<up>`.\n\nMore.\n")
    assert data_card.disclosure(counted) == "All of it is made &#60;up&#62;."
    card.write_text("# A set\n")
    assert data_card.disclosure(counted) == ""
    card.unlink()
    assert data_card.disclosure(counted) == ""
