"""Pool, near-duplicates and negatives on hand-sized cases."""

import bm25s
import ir_measures
import numpy as np
import pytest
from conftest import write_rows
from sklearn.feature_extraction.text import TfidfVectorizer

from helpers import evalset, measures, text
from helpers.labels import pooling


def test_pool_names_who_brought_a_pair():
    found = {
        "one": {"q1": [("a", 2.0), ("b", 1.0)]},
        "two": {"q1": [("b", 5.0), ("c", 4.0), ("a", 3.0)]},
    }
    assert pooling.pool(found, depth=2) == [
        {"query_id": "q1", "doc_id": "a", "rankers": ["one"]},
        {"query_id": "q1", "doc_id": "b", "rankers": ["one", "two"]},
        {"query_id": "q1", "doc_id": "c", "rankers": ["two"]},
    ]


def test_judged_at_is_the_librarys_and_counts_queries_without_results():
    run = {"q1": [("a", 2.0), ("b", 2.0), ("c", 0.5)], "q2": []}
    qrels = {"q1": {"a": 0, "c": 1}, "q2": {"a": 1}}
    assert measures.judged_at(qrels, run, k=2) == 1 / 4
    assert measures.judged_at(qrels, run, k=3) == 1 / 3  # of the three that there are
    assert measures.judged_at(qrels, {}) == 0
    scored = {q: {d: -rank for rank, (d, _) in enumerate(row)} for q, row in run.items() if row}
    reference = ir_measures.calc_aggregate([ir_measures.Judged @ 2], qrels, scored)
    assert list(reference.values()) == [1 / 4]


def test_rankings_leave_out_what_does_not_match(folder):
    found = pooling.by_ranker(evalset.load(folder))
    assert [doc_id for doc_id, _ in found["character-ngrams"]["q2"]] == ["queue-full"]
    assert len(found) == 4


def test_rankers_agree_with_the_libraries_on_the_set_of_the_workbook():
    evals = evalset.load(evalset.DEFAULT)
    ids, bodies = [*evals.documents], [d.retrieval_text for d in evals.documents.values()]
    lucene = bm25s.BM25(method="lucene")
    lucene.index([pooling.stems(evals.words(body)) for body in bodies], show_progress=False)
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    matrix = vectors.fit_transform(bodies)
    stemmed = pooling.lucene_stemmed(evals, bodies, 10)
    grams = pooling.character_ngrams(evals, bodies, 10)
    for query in evals.queries.values():
        scores = lucene.get_scores(pooling.stems(evals.words(query.query)))
        best = np.lexsort((ids, -scores))[:10]
        assert [d for d, _ in stemmed[query.query_id]] == [ids[i] for i in best if scores[i] > 0]
        cosines = (matrix @ vectors.transform([query.query]).T).toarray().ravel()
        best = np.lexsort((ids, -np.round(cosines, 10)))[:10]
        found = grams[query.query_id]
        assert [d for d, _ in found] == [ids[i] for i in best if cosines[i] > 0]
        assert [score for _, score in found] == pytest.approx([cosines[i] for i in best])


def test_saved_runs_join_the_pool_at_its_depth(folder):
    (folder / "runs").mkdir()
    lines = "q1 Q0 queue-full 1 2 x\nq1 Q0 disk-full 2 1 x\n"
    (folder / "runs" / "mine.trec").write_text(lines)
    found = pooling.by_ranker(evalset.load(folder), depth=1)
    assert found["mine"] == {"q1": [("queue-full", 2.0)], "q2": []}
    assert {len(ranking) for run in found.values() for ranking in run.values()} <= {0, 1}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("threshold", [0.05, 0.15, 0.5])
def test_no_near_duplicate_is_missed(seed, threshold):
    rng = np.random.default_rng(seed)
    pieces = [[f"w{rng.integers(9000)}" for _ in range(12)] for _ in range(12)]
    texts = {
        f"t{n:02}": sum((pieces[i] for i in rng.choice(12, rng.integers(1, 5))), [])
        for n in range(40)
    } | {"empty": [], "none": []}
    sets = {name: text.shingles(words) for name, words in texts.items()}
    jaccard = {
        (a, b): len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a in sets for b in sets if a < b
    }
    wanted = {pair: value for pair, value in jaccard.items() if value >= threshold}
    assert text.near_duplicates(texts, threshold) == wanted and len(wanted) > 5


def numbered(start, end):
    return [f"w{n}" for n in range(start, end)]


@pytest.mark.parametrize(
    ("a", "b", "one"),
    [
        ((0, 10), (2, 12), True),  # 4 runs of 8 in common, half
        ((0, 11), (3, 14), False),  # 4 of 10 and no ten
        ((0, 29), (15, 44), True),  # 10 of 40: a quarter and ten
        ((0, 27), (14, 41), False),  # 9 of 37: just below a quarter, and nine
        ((0, 26), (13, 39), False),  # 9 of 35: above a quarter, but nine
        ((0, 60), (36, 96), False),  # 20 of 92: ten, but below a quarter
    ],
)
def test_when_two_texts_count_as_one(a, b, one):
    a, b = numbered(*a), numbered(*b)
    assert text.count_as_one(a, b) == one == text.count_as_one(b, a)


def test_near_duplicates_and_versions(folder):
    body = " ".join(f"word{i}" for i in range(60))
    for doc_id, tail in (("copy-v1", "old"), ("copy-v2", "new")):
        page = f'---\ntitle: {doc_id}\nversion: "{doc_id[-1]}"\n---\n{body} {tail}\n'
        (folder / "corpus" / f"{doc_id}.md").write_text(page)
    evals = evalset.load(folder)
    # 57 shingles each, 56 of them common: 56 / 58
    assert evals.near_duplicates() == {("copy-v1", "copy-v2"): 56 / 58}
    assert evals.versions() == {("copy-v1", "copy-v2")}


def test_negatives_are_never_relevant_and_repeat_with_their_seed(folder):
    evals = evalset.load(folder)
    found = {"one": {"q1": [("queue-full", 2.0), ("disk-full", 1.0)], "q2": []}}
    rows = pooling.negatives(evals, found, seed=1)
    assert rows[0] == {"query_id": "q1", "easy": [], "hard": ["queue-full"]}
    assert rows[1] == {"query_id": "q2", "easy": ["disk-full"], "hard": []}
    assert rows == pooling.negatives(evals, found, seed=1)


@pytest.mark.parametrize(
    ("name", "row", "wanted"),
    [
        (
            "pool.jsonl",
            {"query_id": "q1", "doc_id": "x", "rankers": ["a"]},
            "document x is not in the corpus",
        ),
        ("pool.jsonl", {"query_id": "q1", "doc_id": "disk-full"}, "field rankers is missing"),
        (
            "negatives.jsonl",
            {"query_id": "q1", "easy": ["x"], "hard": []},
            "document x is not in the corpus",
        ),
        ("second_pass.jsonl", {"query_id": "q1", "doc_id": "disk-full"}, "field round is missing"),
    ],
)
def test_bad_rows_are_refused_with_their_line(folder, name, row, wanted):
    write_rows(folder / name, row)
    with pytest.raises(evalset.EvalSetError) as caught:
        evalset.read_extra(evalset.load(folder), name)
    assert f"{name}:1: {wanted}" in str(caught.value)
