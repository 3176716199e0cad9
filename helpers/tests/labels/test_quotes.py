"""What the audit says of quotes."""

import pytest

from helpers import chunks, evalset
from helpers.labels import quotes

LONG = "disk " * 600


@pytest.fixture
def made(tmp_path):
    bodies = {"a": f"Stop the job. Then wait. {LONG}end", "b": "Stop the job. Disk full."}
    documents = {d: evalset.Document(d, "", body) for d, body in bodies.items()}
    asked = {"q1": evalset.Query("q1", "stop", ("a", "b"))}
    labels = [("q1", "a", 2, ("Then wait.", f"{LONG}end")), ("q1", "b", 1, ("Disk full.",))]
    return evalset.EvalSet(tmp_path, documents, asked, [evalset.Judgment(*j) for j in labels])


def cut(made, *spans):
    found = [chunks.Chunk(d, n, start, end, 1) for n, (d, start, end) in enumerate(spans)]
    chunks.write_chunks(made.folder / "chunks" / f"{len(spans)}.jsonl", found)


def test_a_quote_longer_than_a_chunk_of_the_baseline_is_named(made):
    assert quotes.too_long(made) == ["q1 a"]


def test_a_label_is_cut_where_no_chunk_of_any_set_holds_one_of_its_quotes(made):
    assert quotes.always_cut(made) == []  # nothing was cut yet
    cut(made, ("a", 0, 20), ("b", 0, 18), ("b", 16, 24))
    assert quotes.always_cut(made) == ["q1 a", "q1 b"]
    cut(made, ("a", 14, 24), ("b", 0, 18))
    assert quotes.always_cut(made) == ["q1 b"]


def test_a_quote_that_stands_in_another_document_is_named_and_zeros_are_not(made):
    assert quotes.elsewhere(made) == []
    shared = evalset.Judgment("q1", "a", 1, ("Stop the job.",))
    assert quotes.elsewhere(made._replace(judgments=[shared])) == ["q1 a"]
    assert quotes.elsewhere(made._replace(judgments=[shared._replace(relevance=0)])) == []
