"""Evidence: held against a second version over sets of characters, which knows none of our code."""

import math

import numpy as np
import pytest

from helpers import evidence, text
from helpers.chunks import Chunk
from helpers.evalset import Document

WORDS = "disk full on the log queue slow é 🧯 x.".split()
BODY = "Stop the job. Then stop the job again, and call Storage."
DOCUMENTS = {"a": Document("a", "", BODY), "b": Document("b", "", "Disk full.\n\nRun df -h first.")}


def chunk(doc_id: str, start: int, end: int) -> Chunk:
    body = DOCUMENTS[doc_id].retrieval_text[start:end]
    return Chunk(doc_id, 0, start, end, len(text.token_ids(body)))


def quoted(**quotes: str) -> evidence.Wanted:
    found = {d: evidence.places(q, DOCUMENTS[d].retrieval_text) for d, q in quotes.items()}
    return evidence.Wanted(dict.fromkeys(quotes, 1), found)


def test_every_place_of_a_quote_is_found_overlapping_ones_too():
    assert evidence.places("the job", BODY) == [(5, 12), (24, 31)]
    assert evidence.places("aa", "aaa") == [(0, 2), (1, 3)]
    assert evidence.places("a.c", "abc a.c") == [(4, 7)]


def test_a_quote_counts_whole_in_one_chunk_or_not_at_all():
    query = quoted(a="the job again")
    start, end = query.quotes["a"][0]
    halves = [chunk("a", 0, end - 1), chunk("a", start + 1, len(BODY))]
    assert evidence.ranks_of(query.quotes, halves) == {}
    assert evidence.ranks_of(query.quotes, [*halves, chunk("a", start, end)]) == {"a": 3}


def test_overlapping_chunks_count_a_document_once():
    query = quoted(a="the job", b="Disk full")
    ranking = [chunk("a", 0, 20), chunk("a", 4, 30), chunk("b", 0, 12)]
    assert evidence.ranks_of(query.quotes, ranking) == {"a": 1, "b": 3}
    row = evidence.at_cutoffs(query, ranking, (1, 2, 3))
    assert [row[f"evidence recall@{k}"] for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert row["evidence nDCG@3"] == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))


def test_the_ideal_of_ndcg_brings_the_best_grades_first():
    query = quoted(a="the job", b="Disk full")
    query.grades["b"] = 2
    ranks = evidence.ranks_of(query.quotes, [chunk("a", 0, 20), chunk("b", 0, 12)])
    assert evidence.ndcg(query, ranks, 2) == pytest.approx(
        (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    )
    assert evidence.ndcg(query, ranks, 1) == pytest.approx(1 / 2)


def test_the_last_chunk_is_cut_at_the_budget_and_may_lose_its_quote():
    whole = chunk("a", 0, len(BODY))
    query, tokens = quoted(a="call Storage."), whole.n_tokens
    for budget, delivered in ((tokens, True), (tokens - 1, False)):
        taken = evidence.context([whole], budget, DOCUMENTS)
        assert sum(c.n_tokens for c in taken) == budget
        assert bool(evidence.ranks_of(query.quotes, taken)) is delivered
    assert evidence.context([whole], tokens - 1, DOCUMENTS, cut=False) == []
    assert evidence.context([whole], 0, DOCUMENTS) == []


def test_a_chunk_that_does_not_fit_ends_the_context():
    long, short = chunk("a", 0, len(BODY)), chunk("b", 0, 4)
    budget = long.n_tokens + short.n_tokens
    assert evidence.context([short, long, short], budget, DOCUMENTS) == [short, long]
    assert evidence.context([short, long, short], budget - 1, DOCUMENTS, cut=False) == [short]


def test_shared_text_is_paid_for_twice_and_counts_once():
    once, twice = [chunk("a", 0, 13)], [chunk("a", 0, 13), chunk("a", 0, 13)]
    quotes = {"a": [(5, 12), (8, 12)]}
    bill, own = once[0].n_tokens, len(text.token_ids(BODY[5:12]))
    assert evidence.share(quotes, once, DOCUMENTS) == pytest.approx(own / bill)
    assert evidence.share(quotes, twice, DOCUMENTS) == pytest.approx(own / bill / 2)
    assert evidence.share(quotes, [], DOCUMENTS) == 0.0


def test_a_ranking_fills_a_budget_or_ends_before_it():
    ranking = [chunk("a", 0, 13), chunk("b", 0, 12)]
    tokens = sum(c.n_tokens for c in ranking)
    assert evidence.fills(ranking, tokens) and not evidence.fills(ranking, tokens + 1)


def test_an_answer_counts_as_whole_words_within_one_chunk():
    assert evidence.holds_answer(["df -h"], [chunk("b", 12, 21)], DOCUMENTS) == 1.0
    assert evidence.holds_answer(["ull"], [chunk("b", 0, 12)], DOCUMENTS) == 0.0
    parts = [chunk("b", 0, 14), chunk("b", 14, 30)]
    assert evidence.holds_answer(["Run df"], parts, DOCUMENTS) == 0.0


LONG = len(BODY)


@pytest.mark.parametrize(
    "ranking, n_taken, known, what",
    [
        ([("a", 0, 38)], 1, [], evidence.DELIVERED),
        ([("b", 0, 12)], 1, [("a", 0, 38)], evidence.NOT_FOUND),
        ([("a", 0, 30), ("a", 30, LONG)], 1, [("a", 0, 30), ("a", 30, LONG)], evidence.SEAM),
        ([("a", 38, LONG), ("a", 0, 38)], 1, [("a", 0, 38)], evidence.OTHER_CHUNK),
        ([("b", 0, 12), ("a", 0, 38)], 1, [("a", 0, 38)], evidence.BELOW),
        ([("a", 38, LONG)], 0, [("a", 0, 38)], evidence.BELOW),
    ],
)
def test_where_the_evidence_of_a_query_was_lost(ranking, n_taken, known, what):
    ranking, known = [chunk(*c) for c in ranking], [chunk(*c) for c in known]
    query = quoted(a="the job again")
    assert evidence.loss(query, ranking, ranking[:n_taken], known) == what


def test_a_quote_that_the_budget_cuts_is_below_the_budget():
    whole, query = chunk("a", 0, LONG), quoted(a="call Storage.")
    taken = evidence.context([whole], whole.n_tokens - 1, DOCUMENTS)
    assert evidence.loss(query, [whole], taken, [whole]) == evidence.BELOW


# The second version. A chunk is the set of its characters, a quote too.


def drawn(rng) -> tuple[dict, evidence.Wanted, list[Chunk]]:
    documents = {}
    for doc_id in "abc":
        body = " ".join(rng.choice(WORDS, rng.integers(3, 30)))
        documents[doc_id] = Document(doc_id, "", body)
    grades = {d: int(rng.integers(1, 3)) for d in rng.choice([*"abc"], rng.integers(1, 4), False)}
    quotes = {
        d: [span(rng, documents[d].text, 12) for _ in range(rng.integers(1, 3))] for d in grades
    }
    ranking = []
    for number in range(rng.integers(0, 9)):
        doc_id = str(rng.choice([*"abc"]))
        start, end = span(rng, documents[doc_id].text, 60)
        n = len(text.token_ids(documents[doc_id].text[start:end]))
        ranking.append(Chunk(doc_id, number, start, end, n))
    return documents, evidence.Wanted(grades, quotes), ranking


def span(rng, body: str, longest: int) -> tuple[int, int]:
    start = int(rng.integers(0, len(body)))
    return start, min(len(body), start + int(rng.integers(1, longest)))


def delivered(documents: dict, ranking: list[Chunk], budget: int | None) -> list[tuple[str, set]]:
    """Return (document, characters) of each chunk, the last with the tokens that are left."""
    found, spent = [], 0
    for one in ranking:
        body, tokens = documents[one.doc_id].text[one.start : one.end], one.n_tokens
        characters = set(range(one.start, one.end))
        if budget is not None and spent + tokens > budget:
            encoding = text.encoding()
            _, at = encoding.decode_with_offsets(encoding.encode(body, disallowed_special=()))
            left = at[budget - spent]
            characters = {c for c in characters if c < one.start + left}
            found += [(one.doc_id, characters)] if budget > spent else []
            return found
        spent += tokens
        found.append((one.doc_id, characters))
    return found


def brute(query: evidence.Wanted, got: list[tuple[str, set]], k: int) -> dict:
    """Return hit, recall and nDCG@k of everything that was delivered."""
    seen, dcg = set(), 0.0
    for place, (doc_id, characters) in enumerate(got):
        for start, end in query.quotes.get(doc_id, []):
            if doc_id not in seen and not set(range(start, end)) - characters:
                seen.add(doc_id)
                dcg += query.grades[doc_id] / math.log(place + 2, 2)
    order = sorted(query.grades.values())[::-1][:k]
    best = sum(grade / math.log(place + 2, 2) for place, grade in enumerate(order))
    return {
        "hit": float(bool(seen)),
        "recall": len(seen) / len(query.grades),
        "nDCG": dcg / best,
    }


def test_a_thousand_random_rankings_agree_with_sets_of_characters():
    rng = np.random.default_rng(2026)
    for _ in range(1000):
        documents, query, ranking = drawn(rng)
        for k in (1, 3, 8):
            row = evidence.at_cutoffs(query, ranking, [k])
            wanted = brute(query, delivered(documents, ranking[:k], None), k)
            assert {n: pytest.approx(v) for n, v in wanted.items()} == {
                name: row[f"evidence {name}@{k}"] for name in wanted
            }
        for budget in (1, 5, 20, 60):
            taken = evidence.context(ranking, budget, documents)
            ranks = evidence.ranks_of(query.quotes, taken)
            wanted = brute(query, delivered(documents, ranking, budget), 1)
            assert evidence.recall(query, ranks, len(taken)) == pytest.approx(wanted["recall"])
