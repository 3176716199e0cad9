"""Measures by name, their means, and what two runs can be compared on."""

import ir_measures
import pytest

from helpers import measures, runs


def ranking(*documents):
    return [(d, -float(n)) for n, d in enumerate(documents)]


def run(name, *lists):
    """Return a run that answers query q0 with the first list, q1 with the second, ..."""
    return runs.Run(name, {f"q{n}": ranking(*found) for n, found in enumerate(lists)}, [])


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("nDCG@3", ir_measures.nDCG @ 3),
        ("RR@7", ir_measures.RR @ 7),
        ("hit@2", ir_measures.Success @ 2),
        ("recall@50", ir_measures.R @ 50),
        ("P@10", ir_measures.P @ 10),
        ("AP@9", ir_measures.AP @ 9),
        ("AP", ir_measures.AP),
        ("RR", ir_measures.RR),
    ],
)
def test_each_name_stands_for_its_measure(name, wanted):
    assert measures.measure(name) == wanted


def test_every_measure_of_the_workbook_is_taken_unless_others_are_asked_for():
    names = "nDCG@10 RR@10 hit@1 hit@5 hit@10 recall@5 recall@10 recall@100 P@10 AP RR".split()
    assert {name: measures.measure(name) for name in names} == measures.NAMED
    qrels = {"q0": {"a": 1, "z": 1}, "q1": {"a": 1}}
    found = measures.per_query(qrels, {"q0": ranking("b", "a"), "other": ranking("a")})
    assert list(found) == ["q0", "q1"] and list(found["q0"]) == names
    assert (found["q0"]["RR"], found["q0"]["recall@5"], found["q0"]["hit@1"]) == (0.5, 0.5, 0)
    assert measures.per_query(qrels, {"q1": ranking("a")}, ["AP"]) == {
        "q0": {"AP": 0.0},
        "q1": {"AP": 1.0},
    }


@pytest.mark.parametrize(
    ("name", "depth", "wanted"),
    [
        ("recall@100", 100, "recall@100"),
        ("recall@100", 99, "recall@99"),
        ("hit@5", 6, "hit@5"),
        ("AP", 1000, "AP@1000"),
        ("nDCG@10", 1, "nDCG@1"),
    ],
)
def test_a_measure_keeps_its_name_where_the_lists_reach(name, depth, wanted):
    assert measures.at_depth(name, depth) == wanted


def test_the_mean_is_over_the_queries_under_its_own_name():
    values = {"q0": {"RR@10": 1.0, "AP": 0.0}, "q1": {"RR@10": 0.5, "AP": 0.25}}
    assert measures.means(values) == {"MRR@10": 0.75, "MAP": 0.125}
    names = {"nDCG@10": "nDCG@10", "AP@5": "MAP@5", "RR": "MRR", "hit@1": "hit@1"}
    assert {name: measures.mean_name(name) for name in names} == names


def test_a_query_without_a_first_rank_counts_as_infinite_in_the_median():
    ranks = {f"q{n}": {"RR": value} for n, value in enumerate((1.0, 0.0, 0.5))}
    assert measures.median_first_rank(ranks) == 2
    assert [measures.first_rank(row) for row in ranks.values()] == [1, None, 2]
    assert str(measures.first_rank({"RR": 1 / 93})) == "93"


def test_judged_is_a_share_of_the_first_ten():
    qrels = {"q0": dict.fromkeys("abk", 1), "q1": {"z": 0}}
    found = {"q0": ranking(*"abcdefghijk"), "q9": ranking("z")}
    assert measures.judged_at(qrels, found) == pytest.approx(0.1)  # 2 of 10, and no result
    assert measures.judged_at(qrels, found, 1) == 0.5
    assert measures.judged_at(qrels, found, 2) == 0.5
    assert measures.judged_at(qrels, found, 4) == 0.25


@pytest.mark.parametrize(
    ("documents", "lengths", "wanted"),
    [
        (200, [(100,)], None),
        (200, [(99, 98)], (99, "run 0")),
        (200, [(100, 1)], None),
        (5, [(5,)], None),
        (5, [(4, 1)], (4, "run 0")),
        (2, [(1,)], (1, "run 0")),
        (200, [(7,), (6,), (8,)], (6, "run 1")),
        (200, [(0,), (8,)], (8, "run 1")),
        (200, [(), (100,)], None),
    ],
)
def test_the_shortest_run_is_the_one_whose_longest_list_is_cut_off(documents, lengths, wanted):
    compared = [run(f"run {n}", *map(range, row)) for n, row in enumerate(lengths)]
    assert measures.shortest(documents, *compared) == wanted


def judged(name, n, of=10):
    """Return a run whose first `of` results hold `n` judged documents, those at its end."""
    return run(name, [*(f"x{i}" for i in range(of - n)), *(f"d{i}" for i in range(n))])


DIFFERS = (
    "judged@{} differs by {}: what {} found and nobody judged counts as wrong, so judge it before "
    "you believe the difference"
)
FEW = "few labels: {} % of the first 10 of {} are judged, the rest counts as wrong"


@pytest.mark.parametrize(
    ("two", "depth", "wanted"),
    [
        ((0, 1), 100, FEW.format(0, "a")),  # a tenth is no gap yet
        ((1, 0), 100, FEW.format(0, "b")),
        ((4, 5), 100, FEW.format(40, "a")),
        ((5, 5), 100, ""),
        ((2, 4), 100, DIFFERS.format(10, "0.20", "a")),
        ((9, 7), 10, DIFFERS.format(10, "0.20", "b")),
        ((2, 4), 9, DIFFERS.format(9, "0.22", "a")),
    ],
)
def test_a_line_says_which_run_has_few_or_fewer_labels(two, depth, wanted):
    qrels = {"q0": {f"d{i}": 1 for i in range(10)}, "q1": {"d0": 1}}  # nobody answers q1
    compared = [judged(name, n) for name, n in zip("ab", two, strict=True)]
    assert measures.few_labels(qrels, depth, *compared) == ([wanted] if wanted else [])


def test_labels_of_queries_that_one_run_lacks_say_nothing():
    qrels = {"q0": {"d0": 1}, "q1": {"d0": 1}}
    both, one = run("both", ["d0"], ["x"]), run("one", ["d0"])
    assert measures.few_labels(qrels, 1, both, one) == []
    assert measures.few_labels({"q1": {"d0": 1}}, 1, both, one) == []


def test_the_share_of_labels_is_told_in_whole_per_cent():
    qrels = {f"q{n}": {f"d{i}": 1 for i in range(10)} for n in range(50)}
    most, least = (
        [*(f"x{i}" for i in range(n)), *(f"d{i}" for i in range(10 - n))] for n in (5, 6)
    )
    two = [run(name, *[most] * 47, *[least] * 3) for name in "ab"]
    assert measures.few_labels(qrels, 10, *two) == [FEW.format(49, "a")]  # 49.4
