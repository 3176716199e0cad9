"""Evidence: held against a second version over sets of characters, which knows none of our code."""

import math

import numpy as np
import pytest
from conftest import write_rows

from helpers import chunks, compare, evalset, evidence, results, runs, stats, text
from helpers.chunks import Chunk
from helpers.evalset import Document

WORDS = "disk full on the log queue slow é 🧯 x.".split()
BODY = "Stop the job. Then stop the job again, and call Storage."
DOCUMENTS = {"a": Document("a", "", BODY), "b": Document("b", "", "Disk full.\n\nRun df -h first.")}
END = len(BODY)


def chunk(doc_id: str, start: int, end: int) -> Chunk:
    body = DOCUMENTS[doc_id].retrieval_text[start:end]
    return Chunk(doc_id, 0, start, end, len(text.token_ids(body)))


def quoted(**quotes: str) -> evidence.Wanted:
    spans = {d: evidence.quote_spans(q, DOCUMENTS[d].retrieval_text) for d, q in quotes.items()}
    return evidence.Wanted(dict.fromkeys(quotes, 1), spans)


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


def test_the_last_chunk_is_cut_at_the_budget_or_ends_the_context():
    long, short = chunk("a", 0, END), chunk("b", 0, 4)
    both = long.n_tokens + short.n_tokens
    for budget, cut, n_taken, n_tokens in (
        (both, True, 2, both),
        (both - 1, True, 2, both - 1),
        (0, True, 0, 0),
        (both, False, 2, both),
        (both - 1, False, 1, short.n_tokens),
    ):
        taken = evidence.context([short, long, short], budget, DOCUMENTS, cut)
        assert (len(taken), sum(c.n_tokens for c in taken)) == (n_taken, n_tokens), (budget, cut)


def test_shared_text_is_paid_for_twice_and_counts_once(two):
    first, quotes = chunk("a", 0, 13), {"a": [(5, 12), (6, 8), (9, 18)]}
    own = len(text.token_ids(BODY[5:12]))
    query = evidence.Wanted({"a": 1}, quotes)
    for ranking, share in (
        ([first], own / first.n_tokens),
        ([first, first], own / first.n_tokens / 2),
        ([chunk("a", 0, 20)], len(text.token_ids(BODY[5:18])) / chunk("a", 0, 20).n_tokens),
        ([], 0.0),
    ):
        row = evidence.at_budgets(two, query, ranking)
        assert row["evidence share of 500 tokens"] == pytest.approx(share), ranking


LOSSES = [  # (ranking, chunks that are known, where the evidence was lost), a chunk fills a budget
    ([("a", 0, 38)], [], evidence.DELIVERED),
    ([], [("a", 0, 38)], evidence.NOT_FOUND),
    ([("b", 0, 12)], [("a", 0, 38)], evidence.NOT_FOUND),
    ([("a", 0, 30), ("a", 30, END)], None, evidence.SEAM),
    ([("a", 0, 30)], [("a", 0, 30), ("a", 30, END)], evidence.SEAM),
    ([("a", 0, 30)], [("a", 0, 38)], evidence.OTHER_CHUNK),
    ([("a", 0, 24)], None, evidence.OTHER_CHUNK),  # ends where the quote begins
    ([("a", 37, END)], None, evidence.OTHER_CHUNK),  # begins where it ends
    ([("a", 38, END), ("a", 0, 38)], [("a", 0, 38)], evidence.OTHER_CHUNK),
    ([("b", 0, 12), ("a", 0, 38)], [("a", 0, 38)], evidence.BELOW),
]


def test_where_the_evidence_of_a_query_was_lost(two, monkeypatch):
    monkeypatch.setattr(evidence, "BUDGET", 50)
    full = lambda spans: [chunk(*span)._replace(n_tokens=50) for span in spans]  # noqa: E731
    asked = {"q": quoted(a="the job again")}
    for ranking, known, place in LOSSES:
        known = known if known is None else full(known)
        assert evidence.losses(two, asked, {"q": full(ranking)}, known) == {"q": place}, ranking
    whole = chunk("a", 0, END)
    monkeypatch.setattr(evidence, "BUDGET", whole.n_tokens - 1)  # cuts the quote
    cut = evidence.losses(two, {"q": quoted(a="call Storage.")}, {"q": [whole]})
    assert cut == {"q": evidence.BELOW}


# The second version. A chunk is the set of its characters, a quote too.


def drawn(rng) -> tuple[dict, evidence.Wanted, list[Chunk]]:
    bodies = {d: " ".join(rng.choice(WORDS, rng.integers(3, 30))) for d in "abc"}
    relevant = rng.choice([*"abc"], rng.integers(1, 4), False)
    grades = {d: int(rng.integers(1, 3)) for d in relevant}
    quotes = {d: [span(rng, bodies[d], 12) for _ in range(rng.integers(1, 3))] for d in relevant}
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
        body = documents[unit.doc_id].text[unit.start : unit.end]
        characters = set(range(unit.start, unit.end))
        if budget is not None and spent + unit.n_tokens > budget:
            encoding = text.encoding()
            _, starts = encoding.decode_with_offsets(encoding.encode(body, disallowed_special=()))
            end = unit.start + starts[budget - spent]
            return parts + [(unit.doc_id, {c for c in characters if c < end})] * (budget > spent)
        spent += unit.n_tokens
        parts.append((unit.doc_id, characters))
    return parts


def brute(query: evidence.Wanted, parts: list[tuple[str, set]], k: int) -> dict:
    """Return hit, recall and nDCG@k of everything that was delivered."""
    seen, dcg = set(), 0.0
    for place, (doc_id, characters) in enumerate(parts):
        for start, end in query.quotes.get(doc_id, []):
            if doc_id not in seen and not set(range(start, end)) - characters:
                seen.add(doc_id)
                dcg += query.grades[doc_id] / math.log(place + 2, 2)
    order = sorted(query.grades.values())[::-1][:k]
    best = sum(grade / math.log(place + 2, 2) for place, grade in enumerate(order))
    return {"hit": float(bool(seen)), "recall": len(seen) / len(query.grades), "nDCG": dcg / best}


def test_a_thousand_random_rankings_agree_with_sets_of_characters(monkeypatch):
    monkeypatch.setattr(evidence, "CUTOFFS", (1, 3, 8))
    rng = np.random.default_rng(2026)
    for _ in range(1000):
        documents, query, ranking = drawn(rng)
        row = evidence.at_cutoffs(query, ranking)
        for k in (1, 3, 8):
            for name, value in brute(query, delivered(documents, ranking[:k], None), k).items():
                assert row[f"evidence {name}@{k}"] == pytest.approx(value)
        for budget in (1, 5, 20, 60):
            taken = evidence.context(ranking, budget, documents)
            ranks = evidence.evidence_ranks(query.quotes, taken)
            wanted = brute(query, delivered(documents, ranking, budget), 1)
            assert evidence.recall(query, ranks, len(taken)) == pytest.approx(wanted["recall"])


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
        "q1": evidence.Wanted({"disk-full": 2}, {"disk-full": [(11, 29)]}),
        "q2": evidence.Wanted({"queue-full": 1}, {"queue-full": [(12, 27)]}),
    }
    assert [*evidence.quoted_queries(evals, "test")] == ["q2"]
    noted = [label._replace(evidence=label.evidence or ("Add",)) for label in evals.judgments]
    assert evidence.quoted_queries(evals._replace(judgments=noted)) == evidence.quoted_queries(
        evals
    )
    bare = [label._replace(evidence=()) for label in evals.judgments]
    assert evidence.quoted_queries(evals._replace(judgments=bare)) == {}


def test_a_run_of_spans_is_one_of_documents_too(evals):
    spans = [("disk-full", 0, 11, 2), ("disk-full", 11, 29, 3.5), ("queue-full", 0, 5, 1)]
    run = run_of(evals, {"q1": [span_of(*row) for row in spans]})
    assert run.rankings["q1"] == [("disk-full", 3.5), ("queue-full", 1.0)]
    units = evidence.ranked_passages(evals, run)["q1"]
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
    assert [c[:3] for c in passages(rows, "mine")["q1"]] == [
        ("disk-full", 1, 11),
        ("queue-full", 0, 0),
    ]
    assert passages(rows) == {}  # nobody knows which
    assert passages({"q1": [["disk-full#1", 2.0], ["queue-full", 1.0]]}, "mine") == {}
    with pytest.raises(evalset.EvalSetError, match="mine: found chunk disk-full#7, wanted .*mine"):
        passages({"q1": [["disk-full#7", 1.0]]}, "mine")


FIRST = {"q1": [["disk-full#0", 1]], "q2": [["queue-full#0", 1]]}
SECOND = {"q1": [["disk-full#1", 1]], "q2": [["queue-full#1", 1]]}


def test_two_runs_of_passages_are_compared_on_their_evidence(evals, monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", (4, 5, 2_000))
    base, run = run_of(evals, FIRST, "mine"), run_of(evals, SECOND, "mine")
    compared = evidence.compare_evidence(evals, ["q1", "q2"], base, run)
    assert compared["n"] == 2 and compared["short"] == [2_000]
    assert compared["measures"].keys() == {
        *("evidence hit@5", "evidence recall@5", "evidence nDCG@10"),
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
        assert evidence.compare_evidence(evals, query_ids, base, other) == {}


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
        assert evidence.compare_evidence(evals, query_ids, base, run)["short"] == short


def test_how_deep_a_ranking_must_be_to_fill_the_largest_budget():
    units = [Chunk("a", n, 0, 1, size) for n, size in enumerate((6_000, 4_000, 1_000, 3_000))]
    depths = [evidence.depth_needed(part) for part in (units, units[:2], [])]
    assert depths == [3, 2, 0]  # the three shortest make 8,000


def test_by_k_counts_documents_and_quotes():
    asked = {"q": quoted(a="the job again"), "r": quoted(b="Disk full")}
    ranked = {"q": [chunk("b", 0, 12), chunk("a", 0, 20), chunk("a", 20, 40)]}
    shares = evidence.shares_by_k(asked, ranked, most=4)
    assert shares == {"document": [0, 0.5, 0.5, 0.5], "evidence": [0, 0, 0.5, 0.5]}


def test_each_set_of_chunks_is_held_against_the_baselines_with_p_adjusted():
    values = {"base": [0.5] * 6, "up": [0.9] * 5 + [0.8], "same": [0.5] * 6}
    rows = {
        name: {str(n): {evidence.DECIDES: value} for n, value in enumerate(of)}
        for name, of in values.items()
    }
    sets = results._chunk_sets(dict.fromkeys(rows, []), rows, "base", 0.05)
    assert "against" not in sets["base"] and list(sets) == list(rows)
    up, same = sets["up"]["against"], sets["same"]["against"]
    assert (up["difference"], up["p"], up["p_holm"]) == pytest.approx((23 / 60, 2 / 64, 4 / 64))
    assert (up["verdict"], same["verdict"]) == (stats.TOO_FEW, stats.SAME)
    del rows["same"]
    alone = results._chunk_sets(dict.fromkeys(rows, []), rows, "base", 0.05)
    assert alone["up"]["against"]["verdict"] == stats.BETTER
    assert results._chunk_sets({"base": []}, {"base": rows["base"]}, "base", 0.05)["base"]["means"]


def test_the_page_of_a_comparison_tells_the_evidence(evals):
    base, run = ({"q1": rows["q1"]} for rows in (FIRST, SECOND))
    base, run = run_of(evals, base, "mine"), run_of(evals, run, "mine")
    page = compare.comparison_page(compare.compare(evals, base, [run]))
    assert "Evidence (1 query with quotes; lower bounds" in page
    assert "A list ends before 500, 1,000, 2,000, 4,000, 8,000 tokens" in page
    assert "| evidence cut by a seam                    | 0    | 0   |" in page
    assert "| delivered                                 | 0    | 1   |" in page


def test_measures_have_their_names_and_nothing_found_gives_0(evals):
    row = evidence.by_query(evals, evidence.quoted_queries(evals), {})["q1"]
    assert [name for name in row if "hit" in name] == [f"evidence hit@{k}" for k in (1, 5, 10)]
    assert [name for name in row if "within" in name] == [
        *map(evidence.recall_name, evidence.BUDGETS)
    ]
    assert set(row.values()) == {0.0}


ANSWERS = [  # (answers, chunks of disk-full with their tokens, answered within 500, 1,000, ...)
    (("old> logs",), [(0, 11, 500), (11, 29, 9)], [0, 1, 1, 1, 1]),
    (("none", "old> logs"), [(11, 29, 9)], [1, 1, 1, 1, 1]),
    (("ogs",), [(11, 29, 9)], [0] * 5),  # a part of a word
    (("Del", "Delete"), [(11, 29, 9)], [1] * 5),
    (("old> logs",), [(0, 20, 9), (20, 29, 9)], [0] * 5),  # in two chunks
    (("old> logs",), [], [0] * 5),
]


def test_answers_are_delivered_as_whole_words_of_one_chunk_within_a_budget(evals):
    for answers, spans, wanted in ANSWERS:
        answered = evals.queries["q1"]._replace(answers=answers)
        asked = evals._replace(queries={"q1": answered, "q2": evals.queries["q2"]})
        ranked = {"q1": [Chunk("disk-full", 0, *span) for span in spans]} if spans else {}
        values = evidence.answers_by_query(asked, ranked)
        names = [f"answer within {budget} tokens" for budget in evidence.BUDGETS]
        assert values == {"q1": dict(zip(names, wanted, strict=True))}, (answers, spans)
        assert evidence.answers_by_query(asked, ranked, "dev") == values
        assert evidence.answers_by_query(asked, ranked, "test") == {}
