"""What a plan says: differences that can be seen, queries that they need, ranks that pay, pairs."""

import re

import pytest
from conftest import write_rows

from helpers.label import plan
from helpers.measure import evalset, reading, runs, stats, systems

DOCUMENTS = [f"d{n:02}" for n in range(40)]
JUDGED = 12  # documents of each query: the first is relevant, and the last for every other query


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Return a set of eight queries whose baseline and other run begin at other places."""
    rows = [{"doc_id": d, "title": d, "text": "words"} for d in DOCUMENTS]
    write_rows(tmp_path / "corpus.jsonl", *rows)
    queries = [f"q{n}" for n in range(8)]
    asked = [{"query_id": q, "query": "words"} for q in queries]
    write_rows(tmp_path / "retrieval_queries.jsonl", *asked)
    grades = [
        {"query_id": q, "doc_id": d, "relevance": int(n == 0 or n == JUDGED - 1 and number % 2)}
        for number, q in enumerate(queries)
        for n, d in enumerate(DOCUMENTS[:JUDGED])
    ]
    write_rows(tmp_path / "judgments.jsonl", *grades)
    base = {q: ranked(DOCUMENTS) for q in queries}
    monkeypatch.setattr(systems, "saved_baseline", lambda _: runs.Run("baseline", base, []))
    other = {q: ranked(DOCUMENTS[n % 4 :] + DOCUMENTS[: n % 4]) for n, q in enumerate(queries)}
    runs.write_trec(tmp_path / "systems" / "other.trec", other, "t")
    return evalset.load(tmp_path)


def ranked(documents):
    return [(doc_id, float(-n)) for n, doc_id in enumerate(documents)]


# Where only the first is relevant, nDCG@10 is lost (-1) unless the run begins there; where two are,
# the twelfth rises to rank 12 - n % 4: -.613, -.429, -.613, -.429. With -1, -1, 0 and 0 the mean is
# -.5104, the standard deviation .3845; TTestPower of statsmodels wants 466.1 and 183.2 queries.
DIFFERENCE = {"run": "other", "difference": -0.51, "low": -0.832, "high": -0.189}
DIFFERENCE |= {"detectable": 0.445, "queries for 0.05": 467, "queries for 0.08": 184}


def test_a_plan_says_what_can_be_seen_how_deep_and_what_to_read(planned, capsys):
    assert plan.plan_command(planned) == 0
    shown = capsys.readouterr().out
    (row,) = plan.differences(planned, planned.qrels(), *two_runs(planned))
    assert row == DIFFERENCE
    few, _, first, *_ = shown.split("\n")
    assert few == stats.without_halves(8) and few.startswith("8 answered queries, all dev. A test")
    assert first == f"{planned.name}, nDCG@10, 8 dev queries"
    listed = [*reading.waiting(planned).values()]
    assert f"Next: {len(listed)} unjudged pairs" in shown
    assert "pairs to read: 2, 1 minute at most for whole pages" in shown
    assert listed == [{"query_id": q, "doc_id": "d12"} for q in ("q3", "q7")]  # at rank 10


def two_runs(planned):
    return systems.saved_baseline(planned), plan.other_runs(planned)


def test_a_run_of_short_lists_is_measured_at_their_depth(planned):
    qrels = {query_id: dict.fromkeys(DOCUMENTS[:8], 1) for query_id in planned.queries}
    base = systems.saved_baseline(planned)
    short = runs.Run("short", {q: ranked(DOCUMENTS[30:35]) for q in qrels}, [], depth=5)
    (row,) = plan.differences(planned, qrels, base, [short])
    assert row["difference"] == -1  # five of five, though eight are relevant


def test_bands_hold_a_pair_at_its_best_rank(planned):
    base, others = two_runs(planned)
    rows = plan.pool_bands(planned.qrels(), [base, *others])
    by_ranks = {row["ranks"]: row for row in rows}
    first = by_ranks["1-10"]
    assert first["pairs"] == 8 * 10 + 2 * (1 + 2 + 3)  # q1 to q3 and q5 to q7 bring more
    assert (first["judged"], first["relevant"]) == (8 * 10 + 2 * (1 + 2 + 2), 8 + 2)
    assert by_ranks["11-20"]["per 100"] == first["per 100"] == ""  # fewer than a hundred
    assert by_ranks["51-100"]["pairs"] == 0
    few = plan.pool_bands({"q0": {"d00": 1}}, [base])
    assert {row["per 100"] for row in few} == {""}


POOLS = [  # of each band how many pairs are judged and relevant, the last one's share and low end
    ([(99, 40)], ("", "")),
    ([(100, 5)], (5, 2.2)),
    ([(100, 100)], ("", "")),  # nobody wrote down what is not relevant
    ([(2000, 300), (22, 2)], ("", "")),
    ([(2000, 300), (22, 2), (100, 50)], (15, 13.5)),
    ([(2000, 300), (120, 3)], (2.5, 0.9)),
    ([(2000, 60), (120, 30)], (3, 2.3)),  # no more than above it
    ([(2000, 300), (120, 30)], (15, 13.5)),
]


@pytest.mark.parametrize(("bands", "last"), POOLS)
def test_a_share_takes_a_hundred_judged_and_no_deeper_band_has_more(bands, last):
    queries, firsts = [f"q{n}" for n in range(200)], (0, 10, 20)
    rankings = {q: ranked([f"{q}-{n}" for n in range(50)]) for q in queries}
    grades = {q: {} for q in queries}
    for first, (judged, relevant) in zip(firsts, bands, strict=False):
        pairs = [(q, f"{q}-{n}") for n in range(first, first + 10) for q in queries]
        for number, (query_id, doc_id) in enumerate(pairs[:judged]):
            grades[query_id][doc_id] = int(number < relevant)
    rows = plan.pool_bands(grades, [runs.Run("", rankings, [])])
    row = rows[len(bands) - 1]
    assert (row["per 100"], row["low"]) == last
    shares = [row["per 100"] for row in rows if row["per 100"] != ""]
    assert shares == sorted(shares, reverse=True)


def test_a_set_without_another_run_or_a_label_says_what_is_wanted(planned):
    (planned.folder / "systems" / "other.trec").unlink()
    wanted = "wanted a .trec file of another chunker in runs/ or .* systems/"
    with pytest.raises(evalset.EvalSetError, match=wanted):
        plan.plan_command(planned)


def test_what_is_near_is_not_named_and_a_cell_is_empty_for_one_query(planned, capsys):
    base, others = two_runs(planned)
    runs.write_trec(planned.folder / "systems" / "alike.trec", base.rankings, "t")
    assert plan.plan_command(planned) == 0
    shown = capsys.readouterr().out
    cells = r"other +-0\.510 +-0\.832 +-0\.189 +0\.445 +467 +184\n"
    assert re.search(f"{cells}not shown: 1 run within 0.05 of the baseline, by the", shown)
    assert "alike" not in shown and "these 8 queries find four times\nin five" in shown
    (row,) = plan.differences(planned, {"q1": planned.qrels()["q1"]}, base, others)
    assert [*row.values()][2:] == [""] * 5
