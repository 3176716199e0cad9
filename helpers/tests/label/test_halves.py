"""Whole groups of queries are drawn into halves that are alike."""

import itertools

import pytest
from labelled_sets import BAD_SET

from helpers.label import halves
from helpers.measure import evalset


def made(*queries):
    """Return a set of queries: each a dictionary of fields, `answers` are its documents."""
    found = {}
    for n, fields in enumerate(queries):
        ids = tuple(fields.pop("answers", f"d{n}").split())
        found[f"q{n:02}"] = evalset.Query(f"q{n:02}", f"q{n}", ids, **fields)
    ids = sorted({d for query in found.values() for d in query.relevant_doc_ids})
    documents = {d: evalset.Document(d, d, d, service=d.partition("-")[0]) for d in ids}
    labels = [evalset.Judgment(q, d, 1) for q, row in found.items() for d in row.relevant_doc_ids]
    return evalset.EvalSet(BAD_SET, documents, found, labels)


def drawn(evals, groups=None):
    """Return the ids in dev, and the distances."""
    groups = groups or [{query_id} for query_id in evals.all_queries]
    found, distances = halves.draw_halves(evals, groups, set())
    assert found.keys() == set().union(*groups)
    assert all(len({found[q] for q in group}) == 1 for group in groups)
    return sorted(q for q in found if found[q] == "dev"), distances


def test_a_third_is_dev_and_each_trait_is_shared_out():
    for trait, values in (
        ("kind", [{"kind": kind} for kind in "aaaaaaaaabbb"]),
        ("language", [{"language": of} for of in [""] * 9 + ["nl"] * 3]),
        ("head and tail", [{"popularity": of} for of in ["head"] * 9 + ["tail"] * 3]),
        ("relevant documents", [{"answers": f"a{n}"} for n in range(9)]
         + [{"answers": f"a{n} b{n}"} for n in range(9, 12)]),
        ("service", [{"answers": f"{'mail' if n < 9 else 'disk'}-{n}"} for n in range(12)]),
    ):  # fmt: skip
        dev, distances = drawn(made(*values))
        few = sum(q >= "q09" for q in dev)
        assert len(dev) == 4 and few == 1, trait
        assert distances[trait] == pytest.approx(0) == distances["queries"]


def test_queries_with_a_full_answer_are_shared_out():
    evals = made(*({} for _ in range(12)))
    labels = [label._replace(relevance=1 + (n > 8)) for n, label in enumerate(evals.judgments)]
    dev, distances = drawn(evals._replace(judgments=labels))
    assert len(dev) == 4 and sum(q >= "q09" for q in dev) == 1
    assert distances["full answer"] == pytest.approx(0)


def test_distances_are_those_by_hand():
    several = "mail-1 mail-3 mail-4 mail-5 mail-6"
    answers = zip("aba", ("mail-1 x-1", "mail-2 x-2 x-3", several), strict=True)
    evals = made(*({"kind": kind, "answers": ids} for kind, ids in answers))
    dev, distances = drawn(evals, [{"q00"}, {"q01", "q02"}])
    assert dev == ["q00"]  # the larger one is test
    by_hand = {"queries": 0, "kind": 1 / 2, "relevant documents": 1, "families": halves.SHARED}
    by_hand |= {"language": 0, "full answer": 0}
    by_hand["service"] = 1 / 6  # dev: mail 1/2, x 1/2; test: mail 2/3, x 1/3
    assert distances == pytest.approx(by_hand)
    few = made(*({} for _ in range(8)))
    _, distances = drawn(few, [{"q00"}, few.queries.keys() - {"q00"}])
    assert distances["queries"] == pytest.approx(1 / 3 - 1 / 8)


def test_three_relevant_documents_are_as_four_and_no_more_are_alike():
    for few, distance in ((1, 1), (2, 1), (3, 0), (4, 1), (5, 0)):
        answers = [" ".join(f"d{n}" for n in range(many)) for many in (few, few + 1)]
        _, distances = drawn(made(*({"answers": ids} for ids in answers)))
        assert distances["relevant documents"] == pytest.approx(distance), few


def test_no_single_group_could_change_sides_for_the_better():
    ids = ["d1", "d2 d3", "d4 d1 d5", "d6"]
    evals = made(*({"kind": "abcab"[n % 5], "answers": ids[n % 4]} for n in range(14)))
    groups = [{"q00", "q01", "q02"}, {"q03", "q04"}, *({f"q{n:02}"} for n in range(5, 14))]
    dev, distances = drawn(evals, groups)
    assert "q00" not in dev
    tables, sums = halves._tables(evals, groups, set()), []
    whole = {trait: table.sum(0) for trait, table in tables.items()}
    for sides in itertools.product((False, True), repeat=len(groups) - 1):
        part = {trait: table[[False, *sides]].sum(0) for trait, table in tables.items()}
        sums.append(float(sum(halves._distances(part, whole).values())))
    assert sum(distances.values()) == pytest.approx(min(sums))  # of all there are


def test_one_draw_whatever_the_order_of_the_groups():
    evals = made(*({"kind": kind} for kind in "aabbccaabbcc"))
    groups = [{query_id} for query_id in evals.queries]
    assert drawn(evals, groups) == drawn(evals, groups[::-1])
    assert drawn(evals, [{*evals.queries}])[0] == [*evals.queries]  # one group can only be dev


def test_queries_without_an_answer_are_dealt_too():
    answered = made(*({"kind": "a"} for _ in range(6)))
    none = {f"n{n}": evalset.Query(f"n{n}", "?", (), "none") for n in range(6)}
    dev, distances = drawn(answered._replace(unanswered=none))
    assert len(dev) == 4 and sum(q[0] == "n" for q in dev) == 2 and distances["kind"] == 0
