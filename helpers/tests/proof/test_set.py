"""What must hold for the committed evaluation set: its corpus, its labels, what its card says."""

import re
import zlib
from collections import Counter, defaultdict

import pytest
import witness

from helpers.label import audit, labelling, pooling
from helpers.measure import compare, evalset, systems, text, tokens
from helpers.teach import workbook


@pytest.fixture(scope="module")
def evals():
    return evalset.load(evalset.DEFAULT)


def test_corpus_is_large_varied_and_written_one_by_one(evals):
    documents = evals.documents.values()
    sizes = [len(tokens.token_ids(doc.text)) for doc in documents]
    assert len(sizes) >= 420 and sum(sizes) >= 270_000
    assert sum(size < 150 for size in sizes) >= 75 and sum(size > 800 for size in sizes) >= 140
    assert len({doc.kind for doc in documents}) == 16
    assert len({doc.service for doc in documents}) == 17
    assert sum(pair in evals.versions() for pair in evals.near_duplicates(0.3)) >= 20
    bodies = "\n".join(doc.text for doc in documents).encode()
    assert len(zlib.compress(bodies, 9)) / len(bodies) >= 0.27
    words = [text.words(doc.text) for doc in documents]
    fives = [tuple(w[i : i + 5]) for w in words for i in range(len(w) - 4)]
    assert len(fives) / len(set(fives)) < 1.10


def test_queries_are_balanced_and_labelled(evals):
    counts = Counter((query.kind, query.split) for query in evals.queries.values())
    kinds = "alert entity keyword mismatch misspelling multi temporal".split()
    assert {*counts} == {(kind, split) for kind in kinds for split in ("dev", "test")}
    least = {"dev": 15, "test": 30}
    assert all(n >= least[split] for (_, split), n in counts.items())
    heads = sum(query.popularity == "head" for query in evals.queries.values())
    assert 0.4 <= heads / len(evals.queries) <= 0.6
    none = Counter(query.split for query in evals.unanswered.values())
    assert none["dev"] >= 15 and none.total() >= 60
    several = sum(list(row.values()).count(2) > 1 for row in evals.qrels().values())
    assert several >= len(evals.queries) / 3
    short = sum(len(query.query.split()) <= 5 for query in evals.all_queries.values())
    assert short >= len(evals.all_queries) * 0.4
    assert sum(bool(query.answers) for query in evals.queries.values()) >= 150
    for query in evals.queries.values():
        relevant = [evals.documents[d].retrieval_text for d in query.relevant_doc_ids]
        assert all(answer in "\n".join(relevant) for answer in query.answers), query.query_id


def test_own_set_passes_its_audit(evals):
    """Only versions resemble each other, and the first ten of every ranker are judged."""
    found = {finding.check: finding for finding in audit.findings(evals)}
    assert "fail" not in {finding.status for finding in found.values()}
    assert found["evidence"].found == "1,614 of 1,614 relevant labels quoted"  # needs are unproved
    for check in ("coverage", "judged depth", "leakage", "manifest"):
        assert found[check].status == "pass", found[check]
    assert found["near-duplicates"].found == "none"


def test_follow_ups_have_grades_and_passages_that_stand_in_their_documents(evals):
    rows = evalset.read_extra(evals, "followups.jsonl")
    assert len(rows) == 40
    for row in rows:
        assert row["follows"] in evals.all_queries, row["query_id"]
        relevant = {doc_id for doc_id, grade in row["grades"].items() if grade}
        assert row["evidence"].keys() == relevant, row["query_id"]
        for doc_id, alternatives in row["evidence"].items():
            for quotes in alternatives:
                for quote in [quotes] if isinstance(quotes, str) else quotes:
                    assert quote in evals.documents[doc_id].text, (row["query_id"], quote)


def test_the_page_says_what_the_halves_can_tell(evals):
    base = systems.saved_baseline(evals)
    dense = next(run for run in systems.read_systems(evals) if run.name == "dense-minilm-titled")
    fused = dense._replace(rankings=witness.fused(base.rankings, dense.rankings), parts={})
    shown, kinds = {}, {}
    for half in ("dev", "test"):
        runs = compare.compare(evals, base, [dense, fused], split=half)["runs"]
        found = [row["measures"]["nDCG@10"]["detectable"] for row in runs]
        shown[half] = [f"{value:.2f}"[1:] for value in found]
        own = (query.kind for query in evals.queries.values() if query.split == half)
        kinds[half] = sorted(Counter(own).values())
    page = (workbook.ROOT / "notebooks" / "comparing.md").read_text(encoding="utf-8")
    (dense_dev, fused_dev), (dense_test, fused_test) = shown.values()
    assert f"and a dense retriever {dense_dev} on dev and {dense_test} on test" in page
    assert f"its fusion with one {fused_dev} and {fused_test}." in page
    of_dev, of_test = (f"{sizes[0]} to {sizes[-1]} queries on" for sizes in kinds.values())
    assert f"only {of_dev} dev and {of_test.replace(' queries', '')} test" in page


def test_the_page_shows_what_the_order_that_finds_has_found_after_how_many_readings(evals):
    """By grades of the whole pool, query by query: with a cut, or a stop after five zeros."""
    pairs = [(row["query_id"], row["doc_id"]) for row in evalset.read_extra(evals, "pool.jsonl")]
    fused, relevant = pooling.fused(pooling.by_ranker(evals)), defaultdict(list)
    qrels = evals.qrels()
    for turn in labelling.find_order(pairs, fused):
        grade = qrels.get(turn.query_id, {}).get(turn.doc_id, 0)
        relevant[turn.query_id].append(grade > 0)

    def before_a_stop(own):
        for n in range(labelling.ENOUGH_ZEROS, len(own)):
            if not any(own[n - labelling.ENOUGH_ZEROS : n]):
                return own[:n]
        return own

    cuts = {"the first": 1, "the first five": 5, "the first ten": 10, "the first twenty": 20}
    read = {name: [own[:cut] for own in relevant.values()] for name, cut in cuts.items()}
    read["until five zeros in a row"] = [before_a_stop(own) for own in relevant.values()]
    read["the whole pool"] = [*relevant.values()]
    page = (workbook.ROOT / "notebooks" / "your_own_documents.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| (.*) \| (\d+) \| (\d+) of (\d+) \|$", page, re.MULTILINE)
    total = str(sum(map(sum, read["the whole pool"])))
    wanted = {}
    for name, queries in read.items():
        wanted[name] = (str(sum(map(len, queries))), str(sum(map(sum, queries))), total)
    assert {name: tuple(row) for name, *row in table} == wanted
