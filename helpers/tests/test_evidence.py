"""Evidence: held against a second version over sets of characters, which knows none of our code."""

import math

import numpy as np
import pytest
from conftest import write_rows

from helpers import chunks, compare, evalset, evidence, results, runs, text
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


def test_a_document_counts_once_and_the_ideal_brings_the_best_grades_first():
    query = quoted(a="the job", b="Disk full")
    ranking = [chunk("a", 0, 20), chunk("a", 4, 30), chunk("b", 0, 12)]
    assert evidence.ranks_of(query.quotes, ranking) == {"a": 1, "b": 3}
    row = evidence.at_cutoffs(query, ranking, (1, 2, 3))
    assert [row[f"evidence recall@{k}"] for k in (1, 2, 3)] == [0.5, 0.5, 1.0]
    assert row["evidence nDCG@3"] == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    query.grades["b"] = 2
    graded = (1 + 2 / math.log2(4)) / (2 + 1 / math.log2(3))
    assert evidence.ndcg(query, {"a": 1, "b": 3}, 3) == pytest.approx(graded)
    assert evidence.ndcg(query, {"a": 1, "b": 3}, 1) == pytest.approx(1 / 2)


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
    ranking, tokens = [short, long, short], long.n_tokens + short.n_tokens
    assert evidence.context(ranking, tokens, DOCUMENTS) == [short, long]
    assert evidence.context(ranking, tokens - 1, DOCUMENTS, cut=False) == [short]


def test_shared_text_is_paid_for_twice_and_counts_once():
    once, twice = [chunk("a", 0, 13)], [chunk("a", 0, 13), chunk("a", 0, 13)]
    quotes = {"a": [(5, 12), (8, 12)]}
    bill, own = once[0].n_tokens, len(text.token_ids(BODY[5:12]))
    assert evidence.share(quotes, once, DOCUMENTS) == pytest.approx(own / bill)
    assert evidence.share(quotes, twice, DOCUMENTS) == pytest.approx(own / bill / 2)
    assert evidence.share(quotes, [], DOCUMENTS) == 0.0


def test_an_answer_counts_as_whole_words_within_one_chunk():
    assert evidence.holds_answer(["df -h"], [chunk("b", 12, 21)], DOCUMENTS) == 1.0
    assert evidence.holds_answer(["ull"], [chunk("b", 0, 12)], DOCUMENTS) == 0.0
    parts = [chunk("b", 0, 14), chunk("b", 14, 30)]
    assert evidence.holds_answer(["Run df"], parts, DOCUMENTS) == 0.0


def test_where_the_evidence_of_a_query_was_lost():
    query, end = quoted(a="the job again"), len(BODY)
    for ranking, n_taken, known, place in (
        ([("a", 0, 38)], 1, [], evidence.DELIVERED),
        ([("b", 0, 12)], 1, [("a", 0, 38)], evidence.NOT_FOUND),
        ([("a", 0, 30), ("a", 30, end)], 1, [("a", 0, 30), ("a", 30, end)], evidence.SEAM),
        ([("a", 38, end), ("a", 0, 38)], 1, [("a", 0, 38)], evidence.OTHER_CHUNK),
        ([("b", 0, 12), ("a", 0, 38)], 1, [("a", 0, 38)], evidence.BELOW),
        ([("a", 38, end)], 0, [("a", 0, 38)], evidence.BELOW),
    ):
        ranked, chunks_known = [chunk(*c) for c in ranking], [chunk(*c) for c in known]
        assert evidence.loss(query, ranked, ranked[:n_taken], chunks_known) == place
    whole, query = chunk("a", 0, end), quoted(a="call Storage.")
    taken = evidence.context([whole], whole.n_tokens - 1, DOCUMENTS)  # cuts the quote
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


# A set, its runs of passages, and what is said of them.


@pytest.fixture
def evals(folder):
    """Return a set of two documents and two queries, each with one quote, cut into four chunks."""
    made = evalset.load(folder)
    cut = [
        ("disk-full", 0, 11),
        ("disk-full", 11, 29),
        ("queue-full", 0, 12),
        ("queue-full", 12, 27),
    ]
    numbers = [0, 1, 0, 1]
    units = [Chunk(d, n, a, b, 5) for (d, a, b), n in zip(cut, numbers, strict=True)]
    chunks.write_chunks(folder / "chunks" / "mine.jsonl", units)
    return made


def run_of(evals, *rows, chunker=""):
    path = evals.folder / "mine.jsonl"
    write_rows(path, *({"query_id": q, "results": found} for q, found in rows))
    return runs.read_run(path, evals)._replace(chunker=chunker)


def span_of(doc_id, start, end, score):
    return {"doc_id": doc_id, "start": start, "end": end, "score": score}


def test_what_is_wanted_are_the_quotes_of_labels_above_0(evals):
    assert evidence.wanted(evals) == {
        "q1": evidence.Wanted({"disk-full": 2}, {"disk-full": [(11, 29)]}),
        "q2": evidence.Wanted({"queue-full": 1}, {"queue-full": [(12, 27)]}),
    }
    assert [*evidence.wanted(evals, "test")] == ["q2"]
    bare = [label._replace(evidence=()) for label in evals.judgments]
    assert evidence.wanted(evals._replace(judgments=bare)) == {}


def test_a_run_of_spans_is_one_of_documents_too(evals):
    found = [span_of("disk-full", 0, 11, 2), span_of("disk-full", 11, 29, 3.5)]
    run = run_of(evals, ("q1", [*found, span_of("queue-full", 0, 5, 1)]))
    assert run.rankings["q1"] == [("disk-full", 3.5), ("queue-full", 1.0)]
    units = evidence.ranked_passages(evals, run)["q1"]
    assert [(c.doc_id, c.start, c.end) for c in units][:2] == [
        ("disk-full", 11, 29),
        ("disk-full", 0, 11),
    ]
    assert units[0].n_tokens == len(text.token_ids("Delete <old> logs."))


def test_spans_that_cannot_be_used_are_refused_with_their_place(evals):
    length = len(evals.documents["disk-full"].retrieval_text)
    for start, end in ((-1, 5), (5, 5), (6, 5), (0, length + 1), (0.5, 3), ("a", 3)):
        with pytest.raises(evalset.EvalSetError) as caught:
            run_of(evals, ("q1", [span_of("disk-full", start, end, 1)]))
        told = f"mine.jsonl:1: span {start} to {end} of disk-full, wanted 0 <= start < end <= "
        assert told + str(length) in str(caught.value)
    with pytest.raises(evalset.EvalSetError, match=r'or for a span \{"doc_id"'):
        run_of(evals, ("q1", [{"doc_id": "disk-full", "score": 1}]))


def test_numbers_of_chunks_are_those_of_the_set_that_the_card_names(evals):
    rows = ("q1", [["disk-full#1", 2.0], ["queue-full#0", 1.0]])
    units = evidence.ranked_passages(evals, run_of(evals, rows, chunker="mine"))["q1"]
    assert [(c.doc_id, c.start) for c in units] == [("disk-full", 11), ("queue-full", 0)]
    assert evidence.ranked_passages(evals, run_of(evals, rows)) == {}  # nobody knows which
    with pytest.raises(evalset.EvalSetError, match="1 chunk id of mine not in .*disk-full#7"):
        evidence.ranked_passages(
            evals, run_of(evals, ("q1", [["disk-full#7", 1.0]]), chunker="mine")
        )
    mixed = run_of(evals, ("q1", [["disk-full#1", 2.0], ["queue-full", 1.0]]), chunker="mine")
    assert evidence.ranked_passages(evals, mixed) == {}


def test_two_runs_of_passages_are_compared_on_their_evidence(evals, monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", (4, 5, 2_000))
    base = run_of(
        evals, ("q1", [["disk-full#0", 1]]), ("q2", [["queue-full#0", 1]]), chunker="mine"
    )
    run = run_of(evals, ("q1", [["disk-full#1", 1]]), ("q2", [["queue-full#1", 1]]), chunker="mine")
    compared = evidence.compared(evals, ["q1", "q2"], base, run)
    assert compared["n"] == 2 and compared["short"] == [2_000]
    assert evidence.DECIDES not in compared["measures"]
    assert compared["verdict"] == compared["reason"] == ""
    assert compared["measures"]["evidence hit@5"]["difference"] == 1.0
    assert compared["lost"]["base"] == dict.fromkeys(("q1", "q2"), evidence.OTHER_CHUNK)
    assert set(compared["lost"]["run"].values()) == {evidence.DELIVERED}
    two = [("disk-full#0", 2.0), ("disk-full#1", 1.0)]
    long = run._replace(parts={**run.parts, "q1": two})
    for pair in ((base, long), (long, base)):  # one that is short is enough
        assert evidence.compared(evals, ["q2"], *pair)["short"] == [2_000]
    for asked, other in (
        ([], run),
        (["q1"], run._replace(parts={})),
        (["q1"], run._replace(chunker="none")),
    ):
        assert evidence.compared(evals, asked, base, other) == {}


def test_a_list_that_is_not_cut_off_returned_all_it_found(evals):
    two = [["disk-full#0", 2.0], ["disk-full#1", 1.0]]
    run = run_of(evals, ("q1", two), ("q2", [["queue-full#1", 2.0]]), chunker="mine")
    units = evidence.ranked_passages(evals, run)
    assert evidence.ends_before(units, ["q1", "q2"], 10) == 0
    assert evidence.ends_before(units, ["q1", "q2"], 11) == 1  # q2 is shorter than the longest
    assert evidence.ends_before(units, ["q2"], 11) == 0


def test_how_deep_a_ranking_must_be_to_fill_the_largest_budget():
    units = [Chunk("a", n, 0, 1, size) for n, size in enumerate((6_000, 4_000, 1_000, 3_000))]
    assert evidence.deep_enough(units) == 3  # the three shortest make 8,000
    assert evidence.deep_enough(units[:2]) == 2


def test_by_k_counts_documents_and_quotes():
    asked = {"q": quoted(a="the job again"), "r": quoted(b="Disk full")}
    ranked = {"q": [chunk("a", 0, 20), chunk("b", 0, 12), chunk("a", 20, 40)]}
    found = evidence.by_k(asked, ranked, most=3)
    assert found == {"document": [0.5, 0.5, 0.5], "evidence": [0, 0, 0.5]}


def test_the_two_best_sets_are_compared_and_of_equal_ones_the_first_counts():
    name = evidence.DECIDES
    rows = {s: {str(n): {name: v} for n, v in enumerate(values)} for s, values in (
        ("low", [0, 0]), ("first", [1, 0]), ("second", [0, 1]))}  # fmt: skip
    found = results.two_best(rows)
    assert (found["best"], found["next"], found["difference"]) == ("first", "second", 0)
    assert results.two_best({"low": rows["low"]}) == {}


def test_the_page_of_a_comparison_tells_the_evidence(evals, monkeypatch):
    base = run_of(evals, ("q1", [["disk-full#0", 1.0]]), chunker="mine")
    run = run_of(evals, ("q1", [["disk-full#1", 1.0]]), chunker="mine")
    page = compare.comparison_page(compare.compare(evals, base, [run]))
    assert "Evidence (1 query with quotes; lower bounds" in page
    assert "A list ends before 500, 1,000, 2,000, 4,000, 8,000 tokens" in page
    assert "| evidence cut by a seam                    | 0    | 0   |" in page
    assert "| delivered                                 | 0    | 1   |" in page


def test_measures_are_taken_at_one_five_and_ten(evals):
    asked = evidence.wanted(evals)
    row = evidence.by_query(evals, asked, {})["q1"]
    assert [name for name in row if "hit" in name] == [f"evidence hit@{k}" for k in (1, 5, 10)]
    assert set(row.values()) == {0.0}


def test_answers_are_delivered_within_a_budget_or_not(evals):
    asked = {"q1": evals.queries["q1"]._replace(answers=("old> logs",)), "q2": evals.queries["q2"]}
    ranked = {"q1": [Chunk("disk-full", 0, 0, 11, 500), Chunk("disk-full", 1, 11, 29, 9)]}
    values = evidence.answers_by_query(evals._replace(queries=asked), ranked)
    assert [*values["q1"].values()] == [0, 1, 1, 1, 1] and [*values] == ["q1"]
    assert evidence.answers_by_query(evals._replace(queries=asked), ranked, "test") == {}
    none = evidence.answers_by_query(evals._replace(queries=asked), {})
    assert none["q1"] == dict.fromkeys((f"answer within {b} tokens" for b in evidence.BUDGETS), 0)


def test_a_seam_is_told_by_all_chunks_that_are_known(evals):
    asked = {"q1": evidence.wanted(evals)["q1"]}
    halves = [Chunk("disk-full", 0, 11, 20, 4), Chunk("disk-full", 1, 20, 29, 4)]
    ranked = {"q1": halves[:1]}
    assert evidence.losses(evals, asked, ranked, halves) == {"q1": evidence.SEAM}
    whole = [Chunk("disk-full", 2, 11, 29, 8)]
    assert evidence.losses(evals, asked, ranked, whole) == {"q1": evidence.OTHER_CHUNK}
    assert evidence.losses(evals, asked, ranked) == {"q1": evidence.SEAM}
    for start, end in ((0, 11), (29, 40)):  # ends where the quote begins, begins where it ends
        beside = {"q1": [Chunk("disk-full", 0, start, end, 4)]}
        assert evidence.losses(evals, asked, beside) == {"q1": evidence.OTHER_CHUNK}
