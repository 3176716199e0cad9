"""Evidence: what is delivered, what is lost, and what two runs of passages are compared on."""

import math
import re

import pytest
from conftest import write_rows

from helpers.measure import chunks, compare, evalset, evidence, pages, runs, tokens
from helpers.measure.chunks import Chunk
from helpers.measure.evalset import Document

BODY = "Stop the job. Then stop the job again, and call Storage."
DOCUMENTS = {"a": Document("a", "", BODY), "b": Document("b", "", "Disk full.\n\nRun df -h first.")}
END = len(BODY)


def chunk(doc_id: str, start: int, end: int) -> Chunk:
    body = DOCUMENTS[doc_id].retrieval_text[start:end]
    return Chunk(doc_id, 0, start, end, len(tokens.token_ids(body)))


def quoted(**alternatives: list[tuple]) -> evidence.Wanted:
    spans = {
        d: [[evidence.quote_spans(q, DOCUMENTS[d].retrieval_text) for q in own] for own in some]
        for d, some in alternatives.items()
    }
    return evidence.Wanted(dict.fromkeys(alternatives, 1), spans)


def test_every_place_of_a_quote_is_found_overlapping_ones_too():
    for quote, body, places in (
        ("the job", BODY, [(5, 12), (24, 31)]),
        ("aa", "aaa", [(0, 2), (1, 3)]),
        ("a.c", "abc a.c", [(4, 7)]),
    ):
        assert evidence.quote_spans(quote, body) == places


def test_the_last_chunk_is_cut_at_the_budget():
    long, short = chunk("a", 14, END), chunk("b", 0, 4)
    both = long.n_tokens + short.n_tokens
    for budget, ends in (
        (both, [4, END]),
        (both - 1, [4, END - 1]),
        (short.n_tokens, [4]),
        (0, []),
    ):
        taken = evidence.context([short, long, short], budget, DOCUMENTS)
        assert [c.end for c in taken] == ends and sum(c.n_tokens for c in taken) == budget


def test_shared_text_is_paid_for_twice_and_counts_once():
    first, long = chunk("a", 0, 13), chunk("a", 0, 20)
    own, joined = (len(tokens.token_ids(BODY[5:end])) for end in (12, 18))
    query = evidence.Wanted({"a": 1}, {"a": [[[(5, 12)]], [[(6, 8)], [(9, 18)]]]})
    for ranking, share in (
        ([first], own / first.n_tokens),
        ([first, first], own / first.n_tokens / 2),
        ([long], joined / long.n_tokens),
        ([], 0.0),
    ):
        row = evidence.by_query(DOCUMENTS, {"q": query}, {"q": ranking}, [])["q"]
        assert row["evidence share of 500 tokens"] == pytest.approx(share), ranking


LOSSES = [  # (ranking, chunks that are known, where the evidence was lost), a chunk fills a budget
    ([("a", 0, 38)], [], evidence.DELIVERED),
    ([], [("a", 0, 38)], evidence.NOT_FOUND),
    ([("b", 0, 12)], [("a", 0, 38)], evidence.NOT_FOUND),
    ([("a", 0, 30), ("a", 30, END)], [("a", 0, 30), ("a", 30, END)], evidence.SEAM),
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
    ([STOP], [STOP, ("a", 0, 50), ("a", 50, END)], evidence.PART),  # whatever cut the other one
    ([("a", 14, 24), STOP, CALL], [STOP, CALL], evidence.OTHER_CHUNK),
    ([("b", 0, 12), STOP, CALL], [STOP, CALL], evidence.BELOW),
    ([("b", 0, 12), STOP], [STOP, ("a", 14, 50), ("a", 50, END)], evidence.SEAM),
]


def test_where_the_evidence_of_a_query_was_lost():
    full = lambda spans: [chunk(*span)._replace(n_tokens=50) for span in spans]  # noqa: E731
    for alternatives, rows in (([("the job again",)], LOSSES), (TOGETHER, LOSSES_TOGETHER)):
        asked = {"q": quoted(a=alternatives)}
        for ranking, known, place in rows:
            lost = evidence.losses(DOCUMENTS, asked, {"q": full(ranking)}, full(known), 50)
            assert lost == {"q": place}, ranking
    whole, asked = chunk("a", 0, END), {"q": quoted(a=[("call Storage.",)])}
    budget = whole.n_tokens - 1  # ends in the quote
    cut = evidence.losses(DOCUMENTS, asked, {"q": [whole]}, [whole], budget)
    assert cut == {"q": evidence.BELOW}


# Measures of the first k chunks, by hand.

ONE, TWO, CUT = [[[(2, 6)]]], [[[(2, 6)], [(12, 16)]]], [[[(8, 12)]]]  # TWO are needed together
EITHER = [[[(22, 26)], [(2, 6)]], [[(12, 16)]]]
A0, A1, BOTH, B0, B1 = ("a", 0, 10), ("a", 10, 20), ("a", 0, 20), ("b", 0, 10), ("b", 10, 20)
AT_2, AT_3 = 1 / math.log2(3), 1 / 2  # discounts
GAINS = [  # quotes of a (grade 1) and b, grade of b, ranking, known besides, ranks, ideal gains
    (ONE, ONE, 2, [A0, B0, BOTH], [], {"a": 1, "b": 2}, (2, 2 + AT_2, 2 + AT_2)),
    (TWO, ONE, 2, [A0, B0, A1], [], {"a": 3, "b": 2}, (2, 2, 2 + AT_3)),
    (TWO, ONE, 2, [B0, BOTH, A1], [], {"a": 2, "b": 1}, (2, 2 + AT_2, 2 + AT_2)),
    (CUT, ONE, 2, [A0, A1, B0], [], {"b": 3}, (2, 2 + AT_2, 2 + AT_2)),  # a cut is not forgiven
    (EITHER, ONE, 2, [A0, A1], [B0], {"a": 2}, (2, 2 + AT_2, 2 + AT_2)),
    (ONE, TWO, 2, [B0, A0, B1], [], {"a": 2, "b": 3}, (1, 2 * AT_2, 1 + 2 * AT_3)),
    (ONE, TWO, 5, [B0, A0, B1], [], {"a": 2, "b": 3}, (1, 5 * AT_2, 5 * AT_2 + AT_3)),
    (TWO, TWO, 2, [A0, A1, B0], [B1], {"a": 2}, (0, 2 * AT_2, 2 * AT_2)),
]


def test_a_document_gains_where_an_alternative_is_whole_for_the_first_time(monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", ())
    for of_a, of_b, grade, ranking, more, ranks, ideals in GAINS:
        units = [Chunk(d, 0, *ends, n_tokens=9) for d, *ends in ranking + more]
        query = evidence.Wanted({"a": 1, "b": grade}, {"a": of_a, "b": of_b})
        ranked = {"q": units[: len(ranking)]}
        row = evidence.by_query({}, {"q": query}, ranked, units, (1, 2, 3))["q"]
        for k, ideal in enumerate(ideals, 1):
            found = {d: rank for d, rank in ranks.items() if rank <= k}
            gain = sum(query.grades[d] / math.log2(rank + 1) for d, rank in found.items())
            assert row[f"evidence hit@{k}"] == bool(found)
            assert row[f"evidence recall@{k}"] == len(found) / 2
            assert row[f"evidence nDCG@{k}"] == pytest.approx(gain / ideal if ideal else 0)


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
    wanted = {
        "q1": evidence.Wanted({"disk-full": 2}, {"disk-full": [[[(11, 29)]]]}),
        "q2": evidence.Wanted({"queue-full": 1}, {"queue-full": [[[(12, 27)]]]}),
    }
    added = (evalset.Quotes(["Add"]),)
    noted = [label._replace(evidence=label.evidence or added) for label in evals.judgments]
    assert evidence.quoted_queries(evals._replace(judgments=noted)) == wanted
    assert [*evidence.quoted_queries(evals, "test")] == ["q2"]
    assert [*evidence.quoted_queries(evals, among=["q1", "q9"])] == ["q1"]
    bare = [label._replace(evidence=()) for label in evals.judgments]
    assert evidence.quoted_queries(evals._replace(judgments=bare)) == {}


def test_a_run_of_spans_is_one_of_documents_too(evals):
    spans = [("disk-full", 0, 11, 2), ("disk-full", 11, 29, 3.5), ("queue-full", 0, 5, 1)]
    run = run_of(evals, {"q1": [span_of(*row) for row in spans]})
    assert run.rankings["q1"] == [("disk-full", 3.5), ("queue-full", 1.0)]
    rankings, known = evidence.ranked_passages(evals, run)
    assert sorted(known) == sorted(rankings["q1"])
    best, *others = [(c.doc_id, c.start, c.end, c.n_tokens) for c in rankings["q1"]]
    assert best == ("disk-full", 11, 29, len(tokens.token_ids("Delete <old> logs.")))
    assert [unit[:3] for unit in others] == [spans[0][:3], spans[2][:3]]


def test_spans_that_cannot_be_used_are_refused_with_their_place(evals):
    length = len(evals.documents["disk-full"].retrieval_text)
    wanted = f"whole numbers of characters, 0 <= start < end <= {length}, in title, "
    for start, end in ((-1, 5), (5, 5), (0, length + 1), (None, 5), (0.5, 3), (0, 12.0)):
        told = f"mine.jsonl:1: span {start} to {end} of disk-full, wanted {wanted}"
        with pytest.raises(evalset.EvalSetError, match=re.escape(told)):
            run_of(evals, {"q1": [span_of("disk-full", start, end, 1)]})
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
    assert (compared["n"], compared["short"], compared["verdict"]) == (2, [2_000], "")
    budgets = map(evidence.recall_name, (4, 5))
    assert compared["measures"].keys() == {*evidence.COMPARED, *budgets}
    assert compared["measures"]["evidence hit@5"]["difference"] == 1.0
    places = {"base": evidence.OTHER_CHUNK, "run": evidence.DELIVERED}
    assert compared["lost"] == {side: dict.fromkeys(FIRST, lost) for side, lost in places.items()}
    for query_ids, other in (([], run), (["q1"], run._replace(parts={}))):
        assert evidence.compare_evidence(evals, query_ids, 100, base, other) == {}


def test_a_list_that_is_not_cut_off_returned_all_it_found(evals, monkeypatch):
    monkeypatch.setattr(evidence, "BUDGETS", (10, 11))
    long = {"q1": [["disk-full#0", 2.0], ["disk-full#1", 1.0]], "q2": SECOND["q2"]}
    full, cut_off = run_of(evals, long, "mine"), run_of(evals, SECOND, "mine")
    full = full._replace(depth=2)  # without a card one length of two would be half of them
    for query_ids, base, run, short in (
        (["q1", "q2"], full, full, [11]),  # q2 is shorter than the longest
        (["q2"], full, full, []),
        (["q2"], cut_off, full, [10, 11]),  # one that is short is enough
    ):
        assert evidence.compare_evidence(evals, query_ids, 100, base, run)["short"] == short


def test_how_deep_a_ranking_must_be_to_fill_the_largest_budget():
    units = [Chunk("a", n, 0, 1, size) for n, size in enumerate((6_000, 4_000, 1_000, 3_000))]
    depths = [evidence.depth_needed(part) for part in (units, units[:2], [])]
    assert depths == [3, 2, 0]  # the three shortest make 8,000


def test_by_k_counts_documents_and_quotes():
    asked = {"q": quoted(a=[("Stop the job.", "job again")]), "r": quoted(b=[("Disk full",)])}
    ranked = {"q": [chunk("b", 0, 12), chunk("a", 0, 20), chunk("a", 20, 40)]}
    shares = {"document": [0, 0.5, 0.5, 0.5], "evidence": [0, 0, 0.5, 0.5]}
    found = evidence.shares_by_k(asked, ranked, most=4)
    assert found == shares | {"any quote": [0, 0.5, 0.5, 0.5]}


NEEDS = {  # n1 is told by both documents, n2 takes two quotes of b
    "n1": {"a": [[[(0, 13)]]], "b": [[[(0, 10)]]]},
    "n2": {"b": [[[(0, 10)], [(12, 21)]]]},
}
MET = [  # chunks, share of the needs, all of them, share of the documents
    ([], 0, 0, 0),
    ([("a", 0, 20)], 0.5, 0, 0.5),
    ([("a", 0, 20), ("b", 0, 12)], 0.5, 0, 1),  # n1 once more
    ([("a", 0, 20), ("b", 0, 12), ("b", 12, 28)], 1, 1, 1),
]


def test_needs_are_met_by_what_suffices_and_a_second_copy_adds_nothing():
    query = evidence.Wanted({"a": 2, "b": 1}, {}, NEEDS)
    for spans, *met in MET:
        ranked = {"q": [chunk(*span) for span in spans]}
        (row,) = evidence.needs_by_query(DOCUMENTS, {"q": query, "r": quoted()}, ranked).values()
        names = ("need recall", "all needs met", "document recall")
        for where in ("@5", " within 500 tokens"):
            assert [row[f"{name}{where}"] for name in names] == met, spans
        assert row["need recall@1"] == min(met[0], 0.5)


def test_needs_come_from_the_labels_and_those_that_none_proves_are_named(evals, monkeypatch):
    quotes = {"quotes": ["Delete <old> logs."], "needs": ["n1", "n2"]}
    alternatives = evalset.evidence_quotes({"evidence": ["disk-full", quotes]})
    assert evalset.evidence_field(alternatives) == ["disk-full", quotes]
    asked = {"n1": "what to do", "n2": "what to delete", "n3": "whom to call"}
    queries = {**evals.queries, "q1": evals.queries["q1"]._replace(needs=asked)}
    label = evals.judgments[0]._replace(evidence=alternatives)
    of = evals._replace(queries=queries, judgments=[label, *evals.judgments[1:]])
    wanted = evidence.quoted_queries(of)
    assert wanted["q1"].needs == dict.fromkeys(["n1", "n2"], {"disk-full": [[[(11, 29)]]]})
    assert wanted["q2"].needs == {} and evidence.unproved_needs(of) == ["q1 n3"]
    run = run_of(of, SECOND, "mine")
    monkeypatch.setattr(runs, "list_depth", lambda run: 0)  # it returned all that it found
    page = pages.comparison_page(compare.compare(of, run, [run], None))
    assert "Of the 1 query with several needs" in page
    assert "| need recall within 2000 tokens | 1.000 | 1.000 |" in " ".join(page.split())


def test_what_suffices_counts_where_some_are_needed_together(evals):
    run = run_of(evals, {"q1": [["disk-full#1", 1]], "q2": SECOND["q2"]}, "mine")
    label = evals.judgments[0]._replace(evidence=(evalset.Quotes(["disk-full", "Delete"]),))
    together = evals._replace(judgments=[label, *evals.judgments[1:]])
    for of, times in ((together, 1), (evals, 0)):
        page = pages.comparison_page(compare.compare(of, run, [run], None))
        assert f"| evidence delivered in part | {times} | {times} |" in " ".join(page.split())
