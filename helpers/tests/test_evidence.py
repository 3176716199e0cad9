"""Evidence: held against a second version over sets of characters, which knows none of our code."""

import math
from itertools import permutations

import numpy as np
import pytest
from conftest import write_rows

from helpers import chunks, compare, evalset, evidence, runs, text
from helpers.chunks import Chunk
from helpers.evalset import Document

WORDS = "disk full on the log queue slow é 🧯 x.".split()
BODY = "Stop the job. Then stop the job again, and call Storage."
DOCUMENTS = {"a": Document("a", "", BODY), "b": Document("b", "", "Disk full.\n\nRun df -h first.")}
END = len(BODY)


def chunk(doc_id: str, start: int, end: int) -> Chunk:
    body = DOCUMENTS[doc_id].retrieval_text[start:end]
    return Chunk(doc_id, 0, start, end, len(text.token_ids(body)))


def quoted(**alternatives: list[tuple]) -> evidence.Wanted:
    spans = {
        d: [[evidence.quote_spans(q, DOCUMENTS[d].retrieval_text) for q in own] for own in some]
        for d, some in alternatives.items()
    }
    return evidence.Wanted(dict.fromkeys(alternatives, 1), spans)


@pytest.fixture
def two(folder):
    """Return a set of the two documents above: only they matter."""
    return evalset.load(folder)._replace(documents=DOCUMENTS)


def test_every_place_of_a_quote_is_found_overlapping_ones_too():
    for quote, body, places in (
        ("the job", BODY, [(5, 12), (24, 31)]),
        ("aa", "aaa", [(0, 2), (1, 3)]),
        ("a.c", "abc a.c", [(4, 7)]),
        ("x", BODY, []),
    ):
        assert evidence.quote_spans(quote, body) == places


def test_the_last_chunk_is_cut_at_the_budget():
    long, short = chunk("a", 0, END), chunk("b", 0, 4)
    both = long.n_tokens + short.n_tokens
    for budget, n_taken in ((both, 2), (both - 1, 2), (short.n_tokens, 1), (0, 0)):
        taken = evidence.context([short, long, short], budget, DOCUMENTS)
        assert (len(taken), sum(c.n_tokens for c in taken)) == (n_taken, budget)


def test_shared_text_is_paid_for_twice_and_counts_once(two):
    first, quotes = chunk("a", 0, 13), {"a": [[[(5, 12)]], [[(6, 8)], [(9, 18)]]]}
    own = len(text.token_ids(BODY[5:12]))
    query = evidence.Wanted({"a": 1}, quotes)
    for ranking, share in (
        ([first], own / first.n_tokens),
        ([first, first], own / first.n_tokens / 2),
        ([chunk("a", 0, 20)], len(text.token_ids(BODY[5:18])) / chunk("a", 0, 20).n_tokens),
        ([], 0.0),
    ):
        row = evidence.by_query(two, {"q": query}, {"q": ranking}, [])["q"]
        assert row["evidence share of 500 tokens"] == pytest.approx(share), ranking


LOSSES = [  # (ranking, chunks that are known, where the evidence was lost), a chunk fills a budget
    ([("a", 0, 38)], [], evidence.DELIVERED),
    ([], [("a", 0, 38)], evidence.NOT_FOUND),
    ([("b", 0, 12)], [("a", 0, 38)], evidence.NOT_FOUND),
    ([("a", 0, 30), ("a", 30, END)], [("a", 0, 30), ("a", 30, END)], evidence.SEAM),
    ([("a", 0, 30)], [("a", 0, 30), ("a", 30, END)], evidence.SEAM),
    ([("a", 0, 30)], [("a", 0, 38)], evidence.OTHER_CHUNK),
    ([("a", 0, 24)], [("a", 0, 24)], evidence.OTHER_CHUNK),  # ends where the quote begins
    ([("a", 37, END)], [("a", 37, END)], evidence.OTHER_CHUNK),  # begins where it ends
    ([("a", 38, END), ("a", 0, 38)], [("a", 0, 38)], evidence.OTHER_CHUNK),
    ([("b", 0, 12), ("a", 0, 38)], [("a", 0, 38)], evidence.BELOW),
]

TOGETHER, STOP, CALL = [("Stop the job.", "call Storage.")], ("a", 0, 14), ("a", 40, END)
LOSSES_TOGETHER = [
    ([("a", 0, END)], [], evidence.DELIVERED),
    ([STOP, CALL], [STOP, CALL], evidence.PART),  # the second one is below the budget
    ([CALL], [STOP, CALL], evidence.PART),
    ([STOP], [STOP, ("a", 0, 50), ("a", 50, END)], evidence.PART),  # whatever cut the other one
    ([("a", 14, 24), STOP, CALL], [STOP, CALL], evidence.OTHER_CHUNK),
    ([("b", 0, 12), STOP, CALL], [STOP, CALL], evidence.BELOW),
    ([("b", 0, 12), STOP], [STOP, ("a", 14, 50), ("a", 50, END)], evidence.SEAM),
]


def test_where_the_evidence_of_a_query_was_lost(two):
    full = lambda spans: [chunk(*span)._replace(n_tokens=50) for span in spans]  # noqa: E731
    for alternatives, rows in (([("the job again",)], LOSSES), (TOGETHER, LOSSES_TOGETHER)):
        asked = {"q": quoted(a=alternatives)}
        for ranking, known, place in rows:
            lost = evidence.losses(two, asked, {"q": full(ranking)}, full(known), 50)
            assert lost == {"q": place}, ranking
    whole = chunk("a", 0, END)
    asked = {"q": quoted(a=[("call Storage.",)])}
    cut = evidence.losses(two, asked, {"q": [whole]}, [whole], whole.n_tokens - 1)  # in the quote
    assert cut == {"q": evidence.BELOW}


# The second version. A chunk is the set of its characters, a quote too.


def drawn(rng) -> tuple[dict, evidence.Wanted, list[Chunk]]:
    bodies = {d: " ".join(rng.choice(WORDS, rng.integers(3, 30))) for d in "abc"}
    relevant = rng.choice([*"abc"], rng.integers(1, 4), False)
    grades = {d: int(rng.integers(1, 3)) for d in relevant}
    quotes = {
        d: [
            [[span(rng, bodies[d], 12) for _ in range(rng.integers(1, 3))] for _ in range(n)]
            for n in rng.choice([1, 1, 2, 3], rng.integers(1, 3))
        ]
        for d in relevant
    }
    ranking = []
    for number, doc_id in enumerate(rng.choice([*"abc"], rng.integers(0, 9))):
        start, end = span(rng, bodies[doc_id], 60)
        n_tokens = len(text.token_ids(bodies[doc_id][start:end]))
        ranking.append(Chunk(doc_id, number, start, end, n_tokens))
    documents = {doc_id: Document(doc_id, "", body) for doc_id, body in bodies.items()}
    return documents, evidence.Wanted(grades, quotes), ranking


def span(rng, body: str, longest: int) -> tuple[int, int]:
    start = int(rng.integers(0, len(body)))
    return start, min(len(body), start + int(rng.integers(1, longest)))


def delivered(documents: dict, ranking: list[Chunk], budget: int | None) -> list[tuple[str, set]]:
    """Return (document, characters) of each chunk, the last with the tokens that are left."""
    parts, spent = [], 0
    for unit in ranking:
        characters = set(range(unit.start, unit.end))
        if budget is not None and spent + unit.n_tokens > budget:
            body = documents[unit.doc_id].text[unit.start : unit.end]
            encoding = text.encoding()
            _, starts = encoding.decode_with_offsets(encoding.encode(body, disallowed_special=()))
            end = unit.start + starts[budget - spent]
            return parts + [(unit.doc_id, {c for c in characters if c < end})] * (budget > spent)
        spent += unit.n_tokens
        parts.append((unit.doc_id, characters))
    return parts


def brute(query: evidence.Wanted, parts: list[tuple[str, set]]) -> tuple[set, float]:
    """Return the documents whose evidence is there, in any chunks, and DCG."""
    seen, dcg = set(), 0.0
    for place in range(len(parts)):
        for doc_id, alternatives in query.quotes.items():
            own = [characters for d, characters in parts[: place + 1] if d == doc_id]
            there = lambda q, own=own: any({*range(a, b)} <= c for a, b in q for c in own)  # noqa: E731
            if doc_id not in seen and any(all(map(there, quotes)) for quotes in alternatives):
                seen.add(doc_id)
                dcg += query.grades[doc_id] / math.log(place + 2, 2)
    return seen, dcg


def best_dcg(query: evidence.Wanted, parts: list[tuple[str, set]], k: int) -> float:
    """Return the most that any order of chunks gains; one that none hold has a chunk of its own."""
    seen, _ = brute(query, parts)
    lacking = [(d, {*range(1_000)}) for d in query.grades if d not in seen]
    units = [*parts, *lacking]
    return max(brute(query, [*order])[1] for order in permutations(units, min(k, len(units))))


def test_a_thousand_random_rankings_agree_with_sets_of_characters(monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", ())
    rng = np.random.default_rng(2026)
    for _ in range(1000):
        documents, query, ranking = drawn(rng)
        row = measured(query, ranking, (1, 3, 8))
        for k in (1, 3, 8):
            seen, _ = brute(query, delivered(documents, ranking[:k], None))
            assert row[f"evidence hit@{k}"] == bool(seen)
            assert row[f"evidence recall@{k}"] == pytest.approx(len(seen) / len(query.grades))
        for budget in (1, 5, 20, 60):
            taken = evidence.context(ranking, budget, documents)
            ranks = evidence.evidence_ranks(query.quotes, taken)
            seen, _ = brute(query, delivered(documents, ranking, budget))
            share = evidence.recall(query, ranks, len(taken))
            assert share == pytest.approx(len(seen) / len(query.grades))


def test_the_ideal_is_that_of_the_best_of_all_orders(monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", ())
    rng, ideals = np.random.default_rng(2026), set()
    pieces = [(0, 10), (10, 20), (20, 30), (5, 25)]  # of each document; characters 30 to 39: none
    for _ in range(100):
        spans = [(d, *pieces[n]) for d in "ab" for n in rng.permutation(4)[:2]]
        ranking = [Chunk(spans[n][0], int(n), *spans[n][1:], 9) for n in rng.permutation(4)]
        drawn = lambda: [[(10 * int(n) + 2, 10 * int(n) + 6)] for n in rng.integers(0, 4, 2)]  # noqa: E731
        grades = {"a": 1, "b": int(rng.choice([2, 5]))}
        query = evidence.Wanted(grades, {d: [drawn(), drawn()] for d in "ab"})
        parts, row = delivered({}, ranking, None), measured(query, ranking, (1, 2, 4))
        for k in (1, 2, 4):
            ideal = best_dcg(query, parts, k)
            ideals.add(round(ideal, 6))
            dcg = brute(query, parts[:k])[1] / ideal if ideal else 0
            assert row[f"evidence nDCG@{k}"] == pytest.approx(dcg)
    first = 1 + 2 / math.log2(4), 5 / math.log2(3) + 1 / math.log2(4)  # what takes one chunk, two
    assert {0, *(round(gain, 6) for gain in first)} < ideals


def measured(query: evidence.Wanted, known: list[Chunk], cutoffs=(1,)) -> dict[str, float]:
    return evidence.by_query(None, {"q": query}, {"q": known}, known, cutoffs)["q"]


# A set, its runs of passages, and what is said of them.


@pytest.fixture
def evals(folder):
    """Return a set of two documents and two queries, each with one quote, cut into four chunks."""
    spans = ("disk-full", 0, 0, 11), ("disk-full", 1, 11, 29)
    spans += ("queue-full", 0, 0, 12), ("queue-full", 1, 12, 27)
    units = [Chunk(*span, n_tokens=5) for span in spans]
    chunks.write_chunks(folder / "chunks" / "mine.jsonl", units)
    return evalset.load(folder)


def run_of(evals, rows, chunker=""):
    path = evals.folder / "mine.jsonl"
    write_rows(path, *({"query_id": q, "results": ranking} for q, ranking in rows.items()))
    return runs.read_run(path, evals)._replace(chunker=chunker)


def span_of(doc_id, start, end, score):
    return {"doc_id": doc_id, "start": start, "end": end, "score": score}


def test_what_is_wanted_are_the_quotes_of_labels_above_0(evals):
    assert evidence.quoted_queries(evals) == {
        "q1": evidence.Wanted({"disk-full": 2}, {"disk-full": [[[(11, 29)]]]}),
        "q2": evidence.Wanted({"queue-full": 1}, {"queue-full": [[[(12, 27)]]]}),
    }
    assert [*evidence.quoted_queries(evals, "test")] == ["q2"]
    noted = [label._replace(evidence=label.evidence or (("Add",),)) for label in evals.judgments]
    assert evidence.quoted_queries(evals._replace(judgments=noted)) == evidence.quoted_queries(
        evals
    )
    bare = [label._replace(evidence=()) for label in evals.judgments]
    assert evidence.quoted_queries(evals._replace(judgments=bare)) == {}


def test_a_run_of_spans_is_one_of_documents_too(evals):
    spans = [("disk-full", 0, 11, 2), ("disk-full", 11, 29, 3.5), ("queue-full", 0, 5, 1)]
    run = run_of(evals, {"q1": [span_of(*row) for row in spans]})
    assert run.rankings["q1"] == [("disk-full", 3.5), ("queue-full", 1.0)]
    rankings, known = evidence.ranked_passages(evals, run)
    units = rankings["q1"]
    assert sorted(known) == sorted(units)
    assert [(c.doc_id, c.start, c.end) for c in units] == [spans[n][:3] for n in (1, 0, 2)]
    assert units[0].n_tokens == len(text.token_ids("Delete <old> logs."))


def test_spans_that_cannot_be_used_are_refused_with_their_place(evals):
    length = len(evals.documents["disk-full"].retrieval_text)
    for start, end in ((-1, 5), (5, 5), (6, 5), (0, length + 1), (0.5, 3), ("a", 3)):
        with pytest.raises(evalset.EvalSetError) as caught:
            run_of(evals, {"q1": [span_of("disk-full", start, end, 1)]})
        told = f"mine.jsonl:1: span {start} to {end} of disk-full, wanted 0 <= start < end <= "
        assert told + str(length) in str(caught.value)
    with pytest.raises(evalset.EvalSetError, match=r'or for a span \{"doc_id"'):
        run_of(evals, {"q1": [{"doc_id": "disk-full", "score": 1}]})


def test_numbers_of_chunks_are_those_of_the_set_that_the_card_names(evals):
    passages = lambda *args: evidence.ranked_passages(evals, run_of(evals, *args))  # noqa: E731
    rows = {"q1": [["disk-full#1", 2.0], ["queue-full#0", 1.0]]}
    rankings, known = passages(rows, "mine")
    assert [c[:3] for c in rankings["q1"]] == [("disk-full", 1, 11), ("queue-full", 0, 0)]
    assert known == chunks.read_chunks(evals.folder / "chunks" / "mine.jsonl")
    assert passages(rows) == ({}, [])  # nobody knows which
    assert passages({"q1": [["disk-full#1", 2.0], ["queue-full", 1.0]]}, "mine")[0] == {}
    with pytest.raises(evalset.EvalSetError, match="mine: found chunk disk-full#7, wanted .*mine"):
        passages({"q1": [["disk-full#7", 1.0]]}, "mine")


FIRST = {"q1": [["disk-full#0", 1]], "q2": [["queue-full#0", 1]]}
SECOND = {"q1": [["disk-full#1", 1]], "q2": [["queue-full#1", 1]]}


def test_two_runs_of_passages_are_compared_on_their_evidence(evals, monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", (4, 5, 2_000))
    base, run = run_of(evals, FIRST, "mine"), run_of(evals, SECOND, "mine")
    compared = evidence.compare_evidence(evals, ["q1", "q2"], 100, base, run)
    assert compared["n"] == 2 and compared["short"] == [2_000]
    assert compared["measures"].keys() == {
        *("evidence hit@5", "evidence recall@5", "evidence nDCG@10"),
        *("evidence hit@10", "evidence recall@10"),
        *map(evidence.recall_name, (4, 5)),
    }
    assert compared["verdict"] == compared["reason"] == ""
    assert compared["measures"]["evidence hit@5"]["difference"] == 1.0
    assert compared["lost"]["base"] == dict.fromkeys(FIRST, evidence.OTHER_CHUNK)
    assert compared["lost"]["run"] == dict.fromkeys(FIRST, evidence.DELIVERED)
    for query_ids, other in (
        ([], run),
        (["q1"], run._replace(parts={})),
        (["q1"], run._replace(chunker="none")),
    ):
        assert evidence.compare_evidence(evals, query_ids, 100, base, other) == {}


def test_a_list_that_is_not_cut_off_returned_all_it_found(evals, monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", (10, 11))
    long = {"q1": [["disk-full#0", 2.0], ["disk-full#1", 1.0]], "q2": SECOND["q2"]}
    full, cut_off = run_of(evals, long, "mine"), run_of(evals, SECOND, "mine")
    full = full._replace(depth=2)  # without a card one length of two would be half of them
    for query_ids, base, run, short in (
        (["q1", "q2"], full, full, [11]),  # q2 is shorter than the longest
        (["q2"], full, full, []),
        (["q2"], full, cut_off, [10, 11]),  # one that is short is enough
        (["q2"], cut_off, full, [10, 11]),
    ):
        assert evidence.compare_evidence(evals, query_ids, 100, base, run)["short"] == short


def test_how_deep_a_ranking_must_be_to_fill_the_largest_budget():
    units = [Chunk("a", n, 0, 1, size) for n, size in enumerate((6_000, 4_000, 1_000, 3_000))]
    depths = [evidence.depth_needed(part) for part in (units, units[:2], [])]
    assert depths == [3, 2, 0]  # the three shortest make 8,000


def test_by_k_counts_documents_and_quotes():
    asked = {"q": quoted(a=[("the job again",)]), "r": quoted(b=[("Disk full",)])}
    ranked = {"q": [chunk("b", 0, 12), chunk("a", 0, 20), chunk("a", 20, 40)]}
    shares = {"document": [0, 0.5, 0.5, 0.5], "evidence": [0, 0, 0.5, 0.5]}
    assert evidence.shares_by_k(asked, ranked, most=4) == shares
    together = asked | {"q": quoted(a=[("Stop the job.", "job again")])}
    any_quote = shares | {"any quote": [0, 0.5, 0.5, 0.5]}
    assert evidence.shares_by_k(together, ranked, most=4) == any_quote


def test_what_suffices_stands_beside_any_quote_where_some_are_needed_together(evals):
    run = run_of(evals, {"q1": [["disk-full#1", 1]], "q2": SECOND["q2"]}, "mine")
    label = evals.judgments[0]._replace(evidence=(("disk-full", "Delete"),))
    together = evals._replace(judgments=[label, *evals.judgments[1:]])
    found = evidence.compare_evidence(together, ["q1", "q2"], 100, run, run)
    for name in ("evidence hit@10", "evidence recall@10"):
        assert [found[counted][name]["run"] for counted in ("measures", "any_quote")] == [0.5, 1]
    assert found["lost"]["run"] == {"q1": evidence.PART, "q2": evidence.DELIVERED}
    for of, times in ((together, 1), (evals, 0)):
        page = compare.comparison_page(compare.compare(of, run, [run]))
        below = page.partition("| evidence hit@1 ")[2].split("\n")[1]  # lists of one are cut there
        assert ("| evidence hit@1, any quote " in below) == times
        assert page.count("| evidence delivered in part") == times
        assert page.count("evidence nDCG@1, any quote") == times
