"""Rankings keep their order through files and tools; measures count what they should."""

import math

import ir_measures
import numpy as np
import pytest

from helpers import chunks, evalset, figures, measures, runs, text


def test_special_tokens_and_html_pass_unharmed(folder):
    document = evalset.load(folder).documents["disk-full"]
    assert (
        text.encoding().decode(text.token_ids(document.retrieval_text)) == document.retrieval_text
    )
    assert (
        figures.marked("<b>old</b> & new", {"old"})
        == "&lt;b&gt;<mark>old</mark>&lt;/b&gt; &amp; new"
    )


def test_chunk_file_round_trip(tmp_path, folder):
    found = [chunks.Chunk("disk-full", 0, 0, 9, 2), chunks.Chunk("disk-full", 1, 11, 29, 5)]
    chunks.write_chunks(tmp_path / "c.jsonl", found)
    assert chunks.read_chunks(tmp_path / "c.jsonl") == found
    assert found[1].text(evalset.load(folder).documents) == "Delete <old> logs."
    for bad in ([found[0], found[0]], [found[0]._replace(end=0)]):
        with pytest.raises(ValueError, match="wanted"):
            chunks.write_chunks(tmp_path / "d.jsonl", bad)
    assert not (tmp_path / "d.jsonl").exists()


@pytest.mark.parametrize(
    "bad", [[("a", 1.0), ("b", 2.0)], [("b", 1.0), ("a", 1.0)], [("a", 2.0), ("a", 1.0)]]
)
def test_runs_out_of_order_are_refused(tmp_path, bad):
    for write in (
        lambda run: runs.write_trec(tmp_path / "r", run, "t"),
        lambda run: runs.write_chunk_run(tmp_path / "r", run),
    ):
        with pytest.raises(ValueError, match="query q1: .* wanted"):
            write({"q1": bad})
    assert not (tmp_path / "r").exists()


def test_trec_run_keeps_the_order_of_ties(tmp_path):
    ranking = [("c", 30.0), ("a", 3.0), ("b", 3.0), ("d", 3.0), ("e", 0.0), ("f", 0.0), ("g", -1.0)]
    runs.write_trec(tmp_path / "r.trec", {"q1": ranking}, "t")
    reread = runs.read_trec(tmp_path / "r.trec")["q1"]
    assert [doc_id for doc_id, _ in reread] == [doc_id for doc_id, _ in ranking]
    assert all(a > b for (_, a), (_, b) in zip(reread, reread[1:], strict=False))
    assert all(
        math.isclose(a, b, abs_tol=1e-5) for (_, a), (_, b) in zip(reread, ranking, strict=True)
    )
    assert (tmp_path / "r.trec").read_text().splitlines()[0] == "q1 Q0 c 1 30.0000000000 t"


def test_chunk_run_round_trip(tmp_path):
    run = {"q1": [("a#0", 1.5), ("a#1", 1.5)], "q2": []}
    runs.write_chunk_run(tmp_path / "r.jsonl", run)
    assert runs.read_chunk_run(tmp_path / "r.jsonl") == run


def test_query_without_results_counts_as_zero():
    values = measures.per_query({"q1": {"a": 2}, "q2": {"b": 1}}, {"q1": [("a", 1.0)]})
    assert values["q2"] == dict.fromkeys(measures.NAMED, 0.0)
    assert measures.means(values)["MRR@10"] == 0.5
    assert measures.median_first_rank(values) == math.inf


def test_no_results_at_all():
    assert measures.per_query({"q1": {"a": 1}}, {}) == {"q1": dict.fromkeys(measures.NAMED, 0.0)}


def test_ties_go_by_the_order_of_the_list():
    for order in (["a", "b"], ["b", "a"]):
        values = measures.per_query({"q1": {"a": 1}}, {"q1": [(doc_id, 1.0) for doc_id in order]})[
            "q1"
        ]
        assert values["RR@10"] == values["RR"] == 1 / (order.index("a") + 1)


def test_names_of_measures():
    cut = {"recall@100": "recall@50", "AP": "AP@50", "RR": "RR@50", "nDCG@10": "nDCG@10"}
    assert {name: measures.at_depth(name, 50) for name in cut} == cut
    assert [measures.at_depth("hit@5", depth) for depth in (5, 4)] == ["hit@5", "hit@4"]
    named = {"RR@5": "MRR@5", "RR": "MRR", "AP@50": "MAP@50", "AP": "MAP", "P@10": "P@10"}
    assert {name: measures.mean_name(name) for name in named} == named


def test_first_rank_survives_the_division():
    assert [measures.first_rank({"RR": 1 / rank}) for rank in (1, 3, 93, 99)] == [1, 3, 93, 99]
    assert measures.first_rank({"RR": 0.0}) is None
    ranks = {f"q{n}": {"RR": value} for n, value in enumerate((1.0, 1 / 3, 0.0))}
    assert measures.median_first_rank(ranks) == 3


def test_measures_at_a_depth_are_those_of_the_shorter_list():
    qrels = {"q": {"a": 1, "b": 1}}
    names = ["recall@2", "AP@2", "nDCG@2", "RR@2"]
    long = measures.per_query(qrels, {"q": [("x", 3.0), ("a", 2.0), ("b", 1.0)]}, names)["q"]
    assert long == measures.per_query(qrels, {"q": [("x", 3.0), ("a", 2.0)]}, names)["q"]
    assert (long["recall@2"], long["AP@2"], long["RR@2"]) == (0.5, 0.25, 0.5)


def test_linear_gain_and_ideal_from_the_labels():
    values = measures.per_query(
        {"q": {"a": 2, "b": 1, "c": 1}}, {"q": [("x", 3.0), ("b", 2.0), ("a", 1.0)]}
    )["q"]
    assert (round(values["nDCG@10"], 5), round(values["AP"], 5)) == (0.52091, 0.38889)
    assert measures.first_rank(values) == 2


def test_every_value_is_that_of_ir_measures():
    rng = np.random.default_rng(0)
    documents = [f"d{n}" for n in range(40)]
    for _ in range(50):
        found = rng.choice(documents, (6, 25), replace=True)
        run = {
            f"q{n}": list(zip(dict.fromkeys(row.tolist()), [2.0, 2.0, *[1.0] * 25], strict=False))
            for n, row in enumerate(found)
        }
        grades = rng.choice([-1, 0, 1, 2], (6, 40), p=[0.1, 0.8, 0.05, 0.05]).tolist()
        qrels = {
            f"q{n}": dict(zip(documents, row, strict=True)) for n, row in enumerate(grades[:5])
        }
        values = measures.per_query(qrels, run)
        scored = {q: dict(runs.strictly_decreasing(ranking)) for q, ranking in run.items()}
        for metric in ir_measures.iter_calc(list(measures.NAMED.values()), qrels, scored):
            name = next(n for n, measure in measures.NAMED.items() if measure == metric.measure)
            assert values[metric.query_id][name] == metric.value


def test_a_card_that_lacks_a_field_is_named(tmp_path, folder):
    path = tmp_path / "fixed.json"
    runs.write_card(path, evalset.load(folder), {"engine": "mine"})
    assert runs.read_card(path, "engine")["engine"] == "mine"
    with pytest.raises(
        evalset.EvalSetError, match=r"fixed.json:1: field chunks is missing, wanted"
    ):
        runs.read_card(path, "engine", "chunks")
    with pytest.raises(evalset.EvalSetError, match="none.json:1: cannot be read"):
        runs.read_card(tmp_path / "none.json")
