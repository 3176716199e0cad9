"""Pool, near-duplicates and negatives on hand-sized cases."""

import numpy as np
from conftest import write_rows

from helpers.label import pooling
from helpers.measure import baseline, evalset, runs


def ranked(names):
    return [(name, float(len(names) - n)) for n, name in enumerate(names)]


def test_pool_names_who_brought_a_pair_and_is_ten_deep_where_nothing_else_is_asked():
    found = {"one": {"q1": ranked("ab")}, "two": {"q1": ranked("bca")}}
    brought = {"a": ["one"], "b": ["one", "two"], "c": ["two"]}
    rows = [{"query_id": "q1", "doc_id": d, "rankers": names} for d, names in brought.items()]
    assert pooling.pool(found, depth=2) == rows
    names = [f"d{n:02}" for n in range(12)]
    found = {"one": {"q2": ranked(names[::-1])}, "two": {"q1": ranked(names)}}
    pooled = [(row["query_id"], row["doc_id"]) for row in pooling.pool(found)]
    assert pooled == [("q1", d) for d in names[:10]] + [("q2", d) for d in names[2:]]


def test_fused_ranks_add_one_over_sixty_and_the_rank_and_the_first_id_wins():
    found = {"one": {"q": ranked("abd")}, "two": {"q": ranked("bac"), "p": ranked("z")}}
    # a, b: 1/61 + 1/62; c, d: 1/63
    assert pooling.fused(found) == {"q": [*"abcd"], "p": ["z"]}
    found["three"] = {"q": ranked("d")}  # 1/63 + 1/61
    assert pooling.fused(found)["q"] == [*"abdc"]
    found = {"one": {"q": ranked("xay")}, "two": {"q": ranked("bcy")}}
    assert pooling.fused(found)["q"] == [*"ybxac"]  # 2/63 is more than 1/61


def twelve(folder):
    """Write twelve documents that share a word, and one query for it."""
    rows = [{"doc_id": f"d{n:02}", "title": "all" * (n == 0), "text": "all"} for n in range(12)]
    write_rows(folder / "corpus.jsonl", *rows)
    query = {"query_id": "q", "query": "all", "relevant_doc_ids": ["d00"], "split": "dev"}
    write_rows(folder / "retrieval_queries.jsonl", query)
    return evalset.load(folder)


def test_the_rankers_in_their_order_and_each_as_deep_as_asked(tmp_path):
    for path, lines in (
        (tmp_path / "runs" / "zeta.trec", "q Q0 d01 1 2 x\nq Q0 d00 2 1 x\n"),
        (tmp_path / "runs" / "alpha.trec", "other Q0 d00 1 1 x\n"),
        (tmp_path / "runs" / "notes.txt", "no run"),
        (tmp_path / "systems" / "system.trec", "q Q0 d01 1 1 x\n"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(lines)
    found = pooling.by_ranker(twelve(tmp_path))
    own = ["lucene-stemmed", "character-ngrams", "latent-semantics", "relevance-model", "fixed"]
    assert [*found] == [*own, "alpha", "zeta", "system"]
    assert [len(found[name]["q"]) for name in own] == [10, 10, 0, 10, 10]  # one word, no dimensions
    found = pooling.by_ranker(twelve(tmp_path), depth=1)
    assert found["zeta"] == {"q": [("d01", 2.0)]} and found["alpha"] == {"q": []}
    assert [len(found[name]["q"]) for name in own] == [1, 1, 0, 1, 1]
    assert pooling.by_ranker(twelve(tmp_path)._replace(queries={})) == {}


def made_up(folder):
    """Write sixty documents of random words and ten queries, of which q0 is a document too."""
    rng = np.random.default_rng(0)
    drawn = [" ".join(f"w{n}" for n in rng.zipf(1.3, size=30) if n < 300) for _ in range(70)]
    rows = [{"doc_id": f"d{n:02}", "title": "", "text": body} for n, body in enumerate(drawn[10:])]
    write_rows(folder / "corpus.jsonl", *rows, rows[0] | {"doc_id": "q0", "text": drawn[0]})
    asked = [{"query_id": f"q{n}", "query": body} for n, body in enumerate(drawn[:10])]
    rows = [row | {"relevant_doc_ids": []} for row in asked]
    write_rows(folder / "retrieval_queries.jsonl", *rows)
    return evalset.load(folder)


def test_the_baseline_is_pooled_as_session_b_searches(tmp_path):
    evals = made_up(tmp_path)
    rank = baseline.ranker(evals, baseline.cut(evals))
    found = {q: baseline.search(rank, query.query)[1] for q, query in evals.waiting.items()}
    first = {q: ranking[:10] for q, ranking in runs.without_own(evals, found).items()}
    assert pooling.by_ranker(evals)["fixed"] == first


def test_a_saved_baseline_is_not_pooled_since_it_may_be_of_other_documents(tmp_path):
    evals = made_up(tmp_path)
    runs.save(evals, "fixed", {}, dict.fromkeys(evals.all_queries, [("d01", 2.0)]), {})
    assert len(pooling.by_ranker(evals)["fixed"]["q0"]) > 1


def of_texts(*texts, query):
    """Return a set of documents without titles, and one query without an answer."""
    documents = {f"d{n}": evalset.Document(f"d{n}", "", body) for n, body in enumerate(texts)}
    asked = {"q": evalset.Query("q", query, (), "none")}
    return evalset.EvalSet(evalset.DEFAULT, documents, {}, [], unanswered=asked), [*texts]


def test_latent_semantics_finds_words_that_stand_with_those_of_the_query(monkeypatch):
    monkeypatch.setattr(pooling, "LATENT", 2)
    texts = ("disk full", "disk full volume", "volume grow", "mail bounce", "mail bounce")
    evals, bodies = of_texts(*texts, query="disks")
    counts = pooling.stem_counts(evals, bodies)
    (found,) = pooling.latent_semantics(evals, counts, 10).values()
    order, scores = zip(*found, strict=True)
    assert order[:2] == ("d0", "d1") and "d2" in order and not {"d3", "d4"} & {*order}
    assert all(0 < score <= 1 + 1e-9 for score in scores)
    assert pooling.latent_semantics(evals, counts, 1) == {"q": [found[0]]}
    unknown, _ = of_texts(*texts, query="zebra")
    counts = pooling.stem_counts(unknown, bodies)
    assert pooling.latent_semantics(unknown, counts, 9) == {"q": []}


def judged(*labels, documents=()):
    """Return a set without files: one query, and labels (document, grade)."""
    corpus = {d: evalset.Document(d, d, d) for d in [*dict(labels), *documents]}
    grades = [evalset.Judgment("q", *label) for label in labels]
    return evalset.EvalSet(evalset.DEFAULT, corpus, {"q": evalset.Query("q", "?", ())}, grades)


def test_hard_negatives_are_those_that_most_rankers_brought_highest():
    evals = judged(*((d, 0) for d in "zyabcd"), ("r", 2), documents="u")
    brought = {"one": "rabc", "two": "cbu", "three": "dby"}
    found = {name: {"q": ranked(names)} for name, names in brought.items()}
    (row,) = pooling.negatives(evals, found, seed=0)
    # b: three rankers; c: two; d: first place of one, a: second; y: third; z: easy already
    assert row == {"query_id": "q", "easy": ["z"], "hard": [*"bcday"]}
    assert pooling.negatives(evals, found, seed=0, n=3)[0]["hard"] == [*"bcd"]


def test_easy_negatives_are_ten_that_no_ranker_brought():
    names = {f"d{n:02}" for n in range(40)} | {"zero"}
    evals = judged(("r", 1), ("zero", 0), documents=[*sorted(names - {"zero"}), "found"])
    found = {"one": {"q": ranked(["found"])}}
    rows = [pooling.negatives(evals, found, seed)[0] for seed in (*range(20), 0)]
    assert rows[0] == rows.pop() != rows[1]  # repeats with its seed
    assert set().union(*(row["easy"] for row in rows)) == names
    for row in rows:
        assert row["easy"] == sorted({*row["easy"]}) and len(row["easy"]) == 10
        assert ("zero" in row["easy"]) != ("zero" in row["hard"])
    assert len(pooling.negatives(evals, found, 0, n=99)[0]["easy"]) == 41


def test_rankings_are_built_once_for_a_corpus_a_query_and_a_version_of_the_rankers(
    tmp_path, monkeypatch
):
    built, asked, evals = pooling.built_runs, [], made_up(tmp_path)

    def noting(evals, *rest):
        asked.append([*evals.all_queries])
        return built(evals, *rest)

    def newly_asked(evals):
        asked.clear()
        assert pooling.by_ranker(evals, keep=True) == pooling.by_ranker(evals)
        return asked[0] if len(asked) > 1 else []  # the last is of by_ranker without a cache

    monkeypatch.setattr(pooling, "built_runs", noting)
    every = [*evals.all_queries]
    assert newly_asked(evals) == every and newly_asked(evals) == []
    reworded = evals.waiting | {"q3": evals.waiting["q3"]._replace(query="w1 w2 w5")}
    assert newly_asked(evals._replace(waiting=reworded)) == ["q3"]
    assert newly_asked(evals) == ["q3"]  # other words were kept no longer
    page = evalset.Document("d01", "", "w1 w7")
    edited = evals._replace(documents=evals.documents | {"d01": page})
    assert newly_asked(edited) == every and newly_asked(edited) == []
    monkeypatch.setattr(pooling, "RANKER_ROOMS", pooling.RANKER_ROOMS[:2])
    assert newly_asked(edited) == every
    cache = tmp_path / ".cache"
    assert (cache / ".gitignore").read_text() == "*\n"
    for content in ("{", ""):
        (cache / "rankings.json").write_text(content)
        assert newly_asked(edited) == every
