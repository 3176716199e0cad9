"""The second witness of passages: chunks, the quotes they hold, and evidence as it's measured."""

import numpy as np
import pytest
import test_witness
import witness
import witness_evidence
import witness_sessions
from test_witness import FOLDER, agree, flat, same

from helpers.measure import chunks, evalset, results

cells, files, published = test_witness.cells, test_witness.files, test_witness.published


@pytest.mark.parametrize("name", witness_evidence.SETS)
def test_chunks_are_cut_as_another_chunker_cuts(files, name):
    """The places of a cut are the same, and what just fits stays whole."""
    documents = files.documents.items()
    spans = {d: witness_sessions.chunks(document["text"], name) for d, document in documents}
    wanted = [[d, n, *span] for d, own in spans.items() for n, span in enumerate(own)]
    assert [list(c.values()) for c in witness.rows(FOLDER / f"chunks/{name}.jsonl")] == wanted


def test_each_relevant_label_has_quotes_that_stand_in_its_document(files):
    for row in witness.rows(FOLDER / "judgments.jsonl"):
        quotes = sum(witness.alternatives(row), [])
        assert all(q and q in files.documents[row["doc_id"]]["text"] for q in quotes), row
        assert bool(quotes) == bool(row["relevance"]), row


def test_session_b_shows_the_chunks_and_the_quotes_they_cut(cells, files):
    cut, about = {}, {}
    for name in witness_evidence.SETS:
        sizes = [c["n_tokens"] for c in witness.rows(FOLDER / f"chunks/{name}.jsonl")]
        cut[name] = {"chunks": len(sizes), "quotes cut": witness_sessions.cut_quotes(files, name)}
        shown = {"mean": np.mean(sizes), "std": np.std(sizes, ddof=1)}
        shown |= {f"{q}%": np.percentile(sizes, q) for q in (25, 50, 75)}
        shown |= {"count": len(sizes), "min": min(sizes), "max": max(sizes)}
        for row, value in shown.items():
            about.setdefault(row, {})[name] = float(np.round(value))
    agree(cells, {"b-save-run": about, "b-sizes-run": cut})
    quotes = witness_sessions.quotes_of(files)
    n = sum(map(len, quotes.values()))
    assert f"{n:,} quotes in {len(quotes)} documents" in cells["b-sizes-run"][0]


def test_the_workbook_measures_evidence_as_it_is_published(published):
    """The other sets of chunks go the same way, and a second witness finds all of them."""
    evals, known = evalset.load(FOLDER), chunks.read_chunks(FOLDER / "chunks/fixed.jsonl")
    units = {chunk.chunk_id: chunk for chunk in known}
    saved = witness.rows(FOLDER / "runs/fixed.jsonl")
    rankings = {row["query_id"]: [units[unit] for unit, _ in row["results"]] for row in saved}
    found = results.evidence_content(evals, {"fixed": known}, {"fixed": rankings}, "fixed")
    told = {"lost": published["evidence"]["lost"]}
    for split in witness.SPLITS:
        half = published["evidence"][split]
        told[split] = half | {"sets": {"fixed": half["sets"]["fixed"]}}
    found, told = flat(found), flat(told)
    assert found.keys() == told.keys()
    assert not {name: value for name, value in found.items() if not same(value, told[name])}
