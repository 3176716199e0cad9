"""Measures count what they should, and say what two runs can be compared on."""

import itertools
import math

import ir_measures
import numpy as np
import pytest

from helpers.measure import baseline, compare, evalset, measures, pages, runs


def ranking(*documents):
    return [(d, -float(n)) for n, d in enumerate(documents)]


def run(name, *lists):
    """Return a run that answers query q0 with the first list, q1 with the second, ..."""
    return runs.Run(name, {f"q{n}": ranking(*documents) for n, documents in enumerate(lists)}, [])


def test_each_name_stands_for_its_measure_at_any_depth_and_for_its_mean():
    for name, wanted in {
        "nDCG@3": ir_measures.nDCG @ 3,
        "RR@7": ir_measures.RR @ 7,
        "hit@2": ir_measures.Success @ 2,
        "recall@50": ir_measures.R @ 50,
        "P@10": ir_measures.P @ 10,
        "AP@9": ir_measures.AP @ 9,
        "AP": ir_measures.AP,
        "RR": ir_measures.RR,
        "full hit@3": ir_measures.Success(rel=2) @ 3,
        "full RR": ir_measures.RR(rel=2),
    }.items():
        assert measures.measure(name) == wanted
    assert measures.measure("full recall@10", 3) == ir_measures.R(rel=3) @ 10
    for name, depth, wanted in (
        ("recall@100", 99, "recall@99"),
        ("hit@5", 4, "hit@4"),
        ("AP", 1000, "AP@1000"),
        ("full hit@5", 4, "full hit@4"),
    ):
        assert measures.at_depth(name, depth) == wanted
    means = {"RR@5": "MRR@5", "RR": "MRR", "AP@50": "MAP@50", "AP": "MAP", "hit@1": "hit@1"}
    means |= {"full RR@10": "full MRR@10", "full hit@5": "full hit@5"}
    assert {name: measures.mean_name(name) for name in means} == means


def test_every_labelled_query_counts_and_no_other():
    qrels = {"q0": {"a": 1, "z": 1}, "q1": {"a": 1}}
    values = measures.per_query(qrels, {"q0": ranking("b", "a"), "other": ranking("a")})
    assert list(values) == ["q0", "q1"] and list(values["q0"]) == measures.NAMED
    assert (values["q0"]["RR"], values["q0"]["recall@5"], values["q0"]["hit@1"]) == (0.5, 0.5, 0)
    assert values["q1"] == dict.fromkeys(measures.NAMED, 0.0)
    assert measures.means(values)["MRR@10"] == 0.25
    assert measures.median_first_rank(values) == math.inf
    assert measures.per_query(qrels, {}, ["AP"]) == {"q0": {"AP": 0.0}, "q1": {"AP": 0.0}}


def test_a_full_answer_has_the_full_grade_and_what_helps_in_part_is_none():
    values = measures.per_query(
        {"q0": {"a": 1, "b": 2, "c": 3, "z": 2}}, {"q0": ranking("a", "b", "x", "c")}, measures.FULL
    )
    assert values == {"q0": {"full hit@5": 1, "full RR@10": 1 / 2, "full recall@10": 2 / 3}}
    strict = measures.per_query({"q0": {"b": 2, "c": 3}}, {"q0": ranking("b", "c")}, ["full RR"], 3)
    assert strict == {"q0": {"full RR": 1 / 2}}
    qrels = {"q0": {"a": 2, "b": 0}, "q1": {"a": 1}, "q2": {}}
    assert measures.answered_in_full(qrels, 2) == {"q0": {"a": 2, "b": 0}}
    assert measures.answered_in_full(qrels, 3) == {}


def test_exponential_gain_has_a_name_and_stands_beside_linear_gain():
    run = {"q": ranking("x", "b", "a")}
    for grades, at_2, linear, exponential in (  # by hand, discounts 1, .63093, .5, .43068
        ({"a": 2, "b": 1, "c": 1}, 0.63093 / 3.63093, 0.52091, 0.51585),
        ({"a": 4, "b": 1, "c": 3}, 0.63093 / 19.41651, 2.63093 / 6.39279, 8.13093 / 19.91651),
    ):
        # ir_measures mixes both gains up in one call, if one with a gain comes first in its set
        names = [f"nDCG-exp@{k}" for k in range(1, 20)] + ["nDCG@10"]
        values = measures.per_query({"q": grades}, run, names)["q"]
        found = [values[name] for name in ("nDCG@10", "nDCG-exp@10", "nDCG-exp@2")]
        assert found == pytest.approx([linear, exponential, at_2], abs=5e-6)
        assert list(values) == names


def test_equal_scores_count_in_the_order_of_the_list():
    run = {q: [(doc_id, 1.0) for doc_id in order] for q, order in (("q0", "ab"), ("q1", "ba"))}
    values = measures.per_query({"q0": {"b": 1}, "q1": {"a": 1, "c": -1}}, run, ["RR", "AP"])
    assert values == dict.fromkeys(("q0", "q1"), {"RR": 0.5, "AP": 0.5})


def test_means_and_first_ranks_of_queries():
    values = {"q0": {"RR@10": 1.0, "AP": 0.0}, "q1": {"RR@10": 0.5, "AP": 0.25}}
    assert measures.means(values) == {"MRR@10": 0.75, "MAP": 0.125}
    for value, rank in ((1, 1), (1 / 93, 93), (0.0, None)):  # it survives the division
        assert measures.first_rank({"RR": value}) == rank
    for ranks, middle in (((1.0, 1 / 3, 0.0), 3), ((1, 0, 0), math.inf)):
        rows = {f"q{n}": {"RR": value} for n, value in enumerate(ranks)}
        assert measures.median_first_rank(rows) == middle


def test_judged_is_a_share_of_the_first_places():
    qrels = {"q0": dict.fromkeys("abk", 1), "q1": {"z": 0}}
    first = {"q0": ranking(*"abcdefghijk"), "q9": ranking("z")}
    assert measures.judged_at(qrels, first) == pytest.approx(0.1)  # 2 of 10, and no result
    assert [measures.judged_at(qrels, first, k) for k in (1, 2, 4)] == [0.5, 0.5, 0.25]


def test_an_added_measure_stands_in_each_comparison_and_not_in_what_the_lesson_shows(
    folder, monkeypatch
):
    monkeypatch.setattr(measures, "MEASURES", (*measures.LESSON, "P@5"))
    evals = evalset.load(folder)
    lists = {"base": ["disk-full", "queue-full"], "other": ["queue-full", "other"]}
    base, other = (runs.Run(name, {"q1": ranking(*ids)}, []) for name, ids in lists.items())
    found = compare.compare_on(evals, base, [other], "dev")
    told = found["runs"][0]["measures"]["P@5"]
    assert (told["base"], told["run"]) == (1 / 5, 0) and found["base"]["means"]["P@5"] == 1 / 5
    assert "\n| P@5 " in pages.comparison_page(found)
    baseline.baseline_command(evals)
    assert '"P@5"' not in (folder / "results.json").read_text()
    assert "P@5" not in compare.compare(evals, base, [other])["base"]["means"]


# What two runs can be compared on.


def test_lists_are_cut_where_a_card_says_so_or_half_of_them_have_one_length():
    uncut = (math.inf, None)
    for documents, card, lengths, wanted in (
        (200, 0, [(100, 100)], uncut),
        (200, 0, [(99, 98, 97)], uncut),  # each found what it found
        (200, 0, [(50, 50, 49, 100)], (50, "run 0")),  # a longer one changes nothing
        (200, 7, [(100, 100)], (7, "run 0")),
        (200, 100, [(5, 5)], uncut),
        (5, 0, [(5, 5)], uncut),
        (200, 0, [(7,), (6,)], (6, "run 1")),
        (200, 0, [(8,), (0, 100)], (8, "run 0")),
    ):
        base, *others = [
            run(f"run {n}", *(map(str, range(length)) for length in row))
            for n, row in enumerate(lengths)
        ]
        base = base._replace(depth=card)
        both, depth, cut = measures.cut_alike(documents, base, *others or [base])
        assert (depth, cut and cut.name) == wanted, (documents, card, lengths)
        assert all(len(r) <= depth for of in both for r in of.rankings.values())


def test_documents_are_cut_where_the_passages_of_the_other_run_end():
    parts = {"q": [("a#0", 5.0), ("a#1", 4.0), ("b#0", 3.0)]}
    documents = {"q": [("a", 5.0), ("b", 3.0), ("c", 2.0)]}
    ten = runs.Run("ten", {"q": documents["q"][:2]}, [], parts, depth=3)
    whole = runs.Run("whole", documents, [], depth=100)
    for pair in ((whole, ten), (ten, whole)):
        both, *cut = measures.cut_alike(200, *pair)
        assert cut == [math.inf, ten]
        assert all(of.rankings == {"q": documents["q"][:2]} for of in both)


def few(share, name):
    return f"few labels: {share} % of the first 10 of {name} are judged"


FEW = (  # (judged documents among the ten of two runs, the depth, the warning)
    ((1, 0), 100, few(0, "b")),  # a tenth is no gap yet
    ((4, 5), 100, few(40, "a")),
    ((5, 5), 100, ""),
    ((2, 4), 100, "judged@10 differs by 0.20: what a found"),
    ((9, 7), 10, "judged@10 differs by 0.20: what b found"),
    ((2, 4), 9, "judged@9 differs by 0.22: what a found"),
)


def test_one_line_says_which_run_has_few_or_fewer_labels():
    qrels = {"q0": {f"d{i}": 1 for i in range(10)}, "q1": {"d0": 1}}
    for judged, depth, wanted in FEW:
        lists = [[*(f"x{i}" for i in range(10 - n)), *(f"d{i}" for i in range(n))] for n in judged]
        compared = [run("a", lists[0]), run("b", lists[1], ["y"])]  # q1: one of them has results
        warnings = measures.label_warnings(qrels, depth, *compared)
        assert len(warnings) == bool(wanted), (judged, depth)
        assert "".join(warnings).startswith(wanted), (judged, depth)
    assert measures.label_warnings({"q1": {"d0": 1}}, 10, *compared) == []


def test_places_left_empty_are_told_and_how_to_say_that_a_list_was_cut():
    qrels, ten = {"q0": {}, "q1": {}}, [str(n) for n in range(10)]
    full, short = run("full", ten, ten), run("short", ten[:3], ten[:3])
    (words,) = measures.length_warnings(qrels, 100, full, short)
    assert words.startswith("2 of 2 lists of short hold fewer than 10 documents, and a place ")
    assert words.endswith(': if they were cut, say where in its card, as "depth": 5')
    (words,) = measures.length_warnings(qrels, 100, full, short._replace(depth=9))
    assert words.endswith(" that is empty counts as wrong")
    assert measures.length_warnings(qrels, 3, full, short) == []


# Queries without an answer, and groups of queries.


def answerable_and_not(*splits):
    """Return a set with an answerable query for each split, and one without answer for each."""
    asked = {f"a{n}": evalset.Query(f"a{n}", "x", ("d",), "k", "", s) for n, s in enumerate(splits)}
    none = {f"z{n}": evalset.Query(f"z{n}", "x", (), "none", "", s) for n, s in enumerate(splits)}
    return evalset.EvalSet(evalset.DEFAULT, {}, asked, [], unanswered=none)


def test_the_first_score_tells_answerable_queries_from_others(monkeypatch):
    monkeypatch.setattr(measures, "UNANSWERABLE", 1)
    evals = answerable_and_not("dev", "dev", "test")
    tops = {"a0": 3.0, "a1": 1.0, "z0": 2.0, "a2": 0.5}
    run = {q: [("d", score), ("e", 9.0)] for q, score in tops.items()}
    apart = measures.answerability_auroc(evals, "dev", run)  # z1 has no result: below every other
    assert (apart["n"], apart["unanswerable"], apart["AUROC"]) == (2, 2, 3 / 4)
    assert apart["low"] < 0.75 < apart["high"]
    below_zero = {q: [("d", score - 10)] for q, score in tops.items()}
    assert measures.answerability_auroc(evals, "dev", below_zero)["AUROC"] == 3 / 4
    assert measures.answerability_auroc(evals, None, run)["AUROC"] == pytest.approx((3 + 2 + 2) / 9)
    assert measures.answerability_auroc(evals, "test", run) == {}  # it was not asked z2
    assert measures.answerability_auroc(evals._replace(queries={}), "dev", run) == {}


def test_an_auroc_needs_ten_queries_without_an_answer():
    evals = answerable_and_not(*["dev"] * 10)
    run = {query_id: [("d", 1.0)] for query_id in evals.settled_queries}
    assert measures.answerability_auroc(evals, "dev", run)["unanswerable"] == 10
    fewer = dict(list(evals.unanswered.items())[1:])
    assert measures.answerability_auroc(evals._replace(unanswered=fewer), "dev", run) == {}


def test_groups_are_in_order_and_unmarked_queries_in_none():
    evals = answerable_and_not("dev", "test", "dev")
    by_split = {"dev": ["a0", "a2"], "test": ["a1"]}
    assert measures.ids_by_field(evals, ["a1", "a0", "a2"], "split") == by_split
    assert measures.ids_by_field(evals, ["a0"], "popularity") == {}
    assert measures.fields_told(evals) == ["kind", "popularity"]
    marks = {"a0": (0, "nl"), "a1": (10, ""), "a2": (2, "")}
    marked = {q: evals.queries[q]._replace(round=n, language=x) for q, (n, x) in marks.items()}
    evals = evals._replace(queries=marked)
    by_round, by_language = (measures.ids_by_field(evals, marks, f) for f in ("round", "language"))
    assert [*by_round.items()] == [("earlier", ["a0"]), ("2", ["a2"]), ("10", ["a1"])]
    assert [*by_language.items()] == [("own", ["a1", "a2"]), ("nl", ["a0"])]
    assert measures.fields_told(evals) == [*measures.FIELDS]
    same = {q: query._replace(language="nl") for q, query in marked.items()}
    assert measures.fields_told(evals._replace(queries=same))[2:] == ["round"]


def all_differences(judged, base, other, k, highest):
    """Return the differences in nDCG@k that all grades of the unjudged could give."""
    unknown = sorted({*base[:k], *other[:k]} - judged.keys())
    given = itertools.product(range(highest + 1), repeat=len(unknown))
    qrels = {str(n): judged | dict(zip(unknown, row, strict=True)) for n, row in enumerate(given)}
    runs_of = [dict.fromkeys(qrels, ranking(*ids)) for ids in (base, other)]
    before, after = (measures.per_query(qrels, run, [f"nDCG@{k}"]) for run in runs_of)
    return [after[q][f"nDCG@{k}"] - before[q][f"nDCG@{k}"] for q in qrels]


def test_bounds_over_unjudged_results_are_those_of_all_grades_that_could_be_given():
    rng, names = np.random.default_rng(7), [f"d{n}" for n in range(6)]
    for case in range(60):
        highest, k = int(rng.integers(2, 5)), int(rng.integers(2, 6))
        judged = {d: int(rng.integers(0, highest + 1)) for d in names if rng.random() < 0.5}
        base, other = ([*map(str, rng.permutation(names)[: rng.integers(0, 6)])] for _ in range(2))
        differences = all_differences(judged, base, other, k, highest)
        found = measures.unjudged_bounds(judged, base, other, k, highest)
        assert found == pytest.approx((min(differences), max(differences)), abs=1e-12), case


def test_many_unjudged_results_on_a_long_scale_are_bounded_at_once():
    rng, names = np.random.default_rng(8), [f"d{n:02}" for n in range(20)]
    judged = {f"j{n}": n % 11 for n in range(30)}
    least, most = measures.unjudged_bounds(judged, names[:10], names[10:], 10, 10)
    assert 0 < most == pytest.approx(-least)  # either list may be the better one
    for _ in range(200):
        row = judged | dict(zip(names, map(int, rng.integers(0, 11, 20)), strict=True))
        value, again = measures.unjudged_bounds(row, names[:10], names[10:], 10, 10)
        assert least <= value == again <= most


SECOND = 1 / math.log2(3)
WEIGHTS = [  # grades, base, run, k, highest grade, what each unjudged result could move
    ({"a": 2}, "axy", "xa", 2, 2, {"x": 1 - SECOND}),  # y comes too late
    ({"a": 2}, "axy", "xa", 3, 2, {"x": 1 - SECOND, "y": 0.5}),
    ({"a": 2}, "xa", "xb", 2, 2, {"b": SECOND}),  # x stands at the same place
    ({"a": 1, "b": 1}, "x", "", 5, 3, {"x": 3 / (1 + SECOND)}),
    ({"a": 0}, "x", "", 5, 1, {}),
]


def test_an_unjudged_result_weighs_what_its_highest_grade_could_move():
    for judged, base, other, k, highest, wanted in WEIGHTS:
        found = measures.weights_of_labels(judged, [*base], [*other], k, highest)
        assert found == pytest.approx(wanted), (base, other)
