"""Queries are connected through shared and alike documents, and leaks are named."""

import random

import pytest
from labelled_sets import BAD_SET, by_check, change, complete, document

from helpers import evalset
from helpers.labels import links


@pytest.fixture
def small(folder):
    return complete(folder)


def small_set(**queries):
    """Return a set without files: name_of_query=(split, "documents")."""
    found = {q: evalset.Query(q, q, tuple(d.split()), "", "", s) for q, (s, d) in queries.items()}
    ids = sorted({*"abcdef", *(d for q in found.values() for d in q.relevant_doc_ids)})
    documents = {d: evalset.Document(d, d, d) for d in ids}
    return evalset.EvalSet(BAD_SET, documents, found, [])


def test_components_join_through_shared_and_alike_documents():
    four = small_set(q1=("dev", "a"), q2=("dev", "a b"), q3=("test", "c"), q4=("test", "d"))
    by_first_id = small_set(q3=("dev", "c"), q1=("test", "b"), q2=("dev", "a b"), q4=("dev", "b"))
    names = small_set(a=("dev", "b"), b=("test", "a"))  # a query and a document of one name are two
    for evals, alike, joined in (
        (four, set(), ["q1 q2", "q3", "q4"]),
        (four, {("b", "c")}, ["q1 q2 q3", "q4"]),
        (four, {("b", "c"), ("c", "d")}, ["q1 q2 q3 q4"]),
        (four, {("b", "e"), ("d", "e")}, ["q1 q2", "q3", "q4"]),  # e answers nothing
        (by_first_id, set(), ["q1 q2 q4", "q3"]),
        (names, set(), ["a", "b"]),
    ):
        assert links.components(evals, alike) == [{*group.split()} for group in joined]


def test_leaks_name_queries_and_documents_in_order():
    mixed = small_set(q1=("test", "a"), q2=("dev", "a b"), q3=("test", "c"), q4=("dev", "d"))
    three = small_set(q3=("dev", "c"), q1=("test", "b"), q2=("dev", "a b"), q4=("dev", "b"))
    for evals, alike, leaks in (
        (mixed, set(), ["q2 q1 a a"]),
        (mixed, {("b", "c")}, ["q2 q1 a a", "q2 q3 b c"]),
        (mixed, {("c", "d")}, ["q2 q1 a a", "q4 q3 d c"]),
        (mixed, {("c", "e"), ("d", "e")}, ["q2 q1 a a"]),
        (three, {("a", "b")}, ["q2 q1 a b", "q2 q1 b b", "q4 q1 b b"]),
        (small_set(a=("dev", "b"), b=("test", "a")), set(), []),
    ):
        assert links.leaking_answers(evals, alike) == [tuple(leak.split()) for leak in leaks]


def test_versions_and_near_duplicates_are_links(small):
    relabelled = {"q1": ["old-v1"], "q2": ["old-v2"]}
    for name in ("old-v1", "old-v2"):
        document(small, name, f"Call the two people on duty and wait for both. Ask for {name}.")
        path = small / "corpus" / f"{name}.md"
        path.write_text(path.read_text().replace("kind:", f"version: '{name[-1]}'\nkind:"))
    change(
        small / "retrieval_queries.jsonl",
        lambda row: {**row, "relevant_doc_ids": relabelled[row["query_id"]]},
    )
    (small / "judgments.jsonl").unlink()
    evals = evalset.load(small)
    assert links.leaking_answers(evals) == [("q1", "q2", "old-v1", "old-v2")]
    assert links.components(evals) == [{"q1", "q2"}]
    assert by_check(small)["near-duplicates"].status == "pass"


def test_there_are_leaks_exactly_where_a_component_is_in_both_halves():
    rng = random.Random(0)
    draw = lambda: (rng.choice(evalset.SPLITS), " ".join(rng.sample("abcdef", 2)))  # noqa: E731
    for _ in range(200):
        evals = small_set(**{f"q{n}": draw() for n in range(rng.randint(1, 4))})
        alike = {tuple(sorted(rng.sample("abcdef", 2))) for _ in range(rng.randint(0, 2))}
        groups = links.components(evals, alike)
        mixed = [group for group in groups if len({evals.queries[q].split for q in group}) > 1]
        leaking = {q for leak in links.leaking_answers(evals, alike) for q in leak[:2]}
        assert leaking <= set().union(*mixed) and bool(leaking) == bool(mixed)


def test_alike_documents_are_told_apart_from_versions(folder):
    words = [f"w{n}" for n in range(60)]
    bodies = {
        "one": words,
        "same": [*words, "more"],
        "near": words[40:] + [f"x{n}" for n in range(40)],
    }
    for name, body in bodies.items():
        document(folder, name, " ".join(body))
    for name in ("old-v1", "old-v2"):
        document(folder, name, " ".join(f"{word}{name[-1]}" for word in words))
        path = folder / "corpus" / f"{name}.md"
        path.write_text(path.read_text().replace("kind:", f"version: '{name[-1]}'\nkind:"))
    near, one = links.alike_documents(evalset.load(folder))
    assert set(near) == {("one", "same"), ("near", "one"), ("near", "same")}
    assert near["one", "same"] == 56 / 57 and near["near", "one"] == 16 / 96
    assert one == {("one", "same"), ("old-v1", "old-v2")}
