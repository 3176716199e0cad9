"""Rankings keep their order through files and tools; measures count what they should."""

import importlib
import json
import math
import re
import shutil

import ir_measures
import killed
import numpy as np
import pytest
from conftest import write_rows

from helpers import chunks, evalset, figures, files, measures, runs, text


def test_special_tokens_and_html_pass_unharmed(folder):
    document = evalset.load(folder).documents["disk-full"]
    assert (
        text.encoding().decode(text.token_ids(document.retrieval_text)) == document.retrieval_text
    )
    assert (
        figures.marked("<b>old</b> & new", {"old"})
        == "&#60;b&#62;<mark>old</mark>&#60;/b&#62; &#38; new"
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


# Runs of any engine.


def test_trec_and_jsonl_runs_of_chunks_and_documents(folder):
    evals = evalset.load(folder)
    (folder / "r.trec").write_text(
        "q1 Q0 disk-full#0 1 2.0 x\r\nq1 Q0 queue-full#3 2 1.5 x\nq1 Q0 disk-full#1 3 1.0 x\n"
    )
    write_rows(
        folder / "r.jsonl", {"query_id": "q1", "results": [["queue-full", 1], ["disk-full", 2]]}
    )
    for name, score in (("r.trec", 1.5), ("r.jsonl", 1.0)):
        run = runs.read_run(folder / name, evals)
        assert run.rankings == {"q1": [("disk-full", 2.0), ("queue-full", score)]}
        assert run.warnings == []


def test_run_without_line_end_or_with_mark_and_blank_lines(folder):
    (folder / "r.trec").write_bytes(
        b"\xef\xbb\xbfq1 Q0 disk-full 1 2.0 x\n\nq2 Q0 queue-full 1 1e-3 x"
    )
    run = runs.read_run(folder / "r.trec", evalset.load(folder))
    assert set(run.rankings) == {"q1", "q2"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q1 Q0 disk-full 1 2.0", "r.trec:2: found 5 fields, wanted 6: query Q0 document rank"),
        ("q1 Q0 disk-ful 1 2.0 x", "r.trec:2: document disk-ful is unknown, wanted one of the 2"),
        ("q1 Q0 disk-ful#0 1 2.0 x", "r.trec:2: document disk-ful#0 is unknown"),
        ("q1 Q0 disk-full 1 nan x", "r.trec:2: score 'nan' of disk-full, wanted a finite number"),
        ("q1 Q0 disk-full 1 inf x", "r.trec:2: score 'inf' of disk-full"),
        ("q1 Q0 disk-full 1 high x", "r.trec:2: score 'high' of disk-full"),
        ("q1 Q0 queue-full 1 2.0 x", "r.trec:2: queue-full is ranked twice for query q1"),
    ],
)
def test_bad_trec_lines(folder, line, said):
    (folder / "r.trec").write_text(f"q1 Q0 queue-full 1 3.0 x\n{line}\n")
    with pytest.raises(evalset.EvalSetError) as error:
        runs.read_run(folder / "r.trec", evalset.load(folder))
    assert len(error.value.problems) == 1 and said in str(error.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "wanted {"),
        ('{"query_id": "q1"}', "wanted {"),
        ('{"query_id": "q1", "results": [["disk-full"]]}', "wanted {"),
        ("[1, 2]", "wanted {"),
        ('{"query_id": "q1", "results": [["disk-full", NaN]]}', "wanted a finite number"),
        ('{"query_id": "q1", "results": [["disk-full", true]]}', "wanted a finite number"),
        ('{"query_id": "q2", "results": []}', "query q2 stands already above"),
    ],
)
def test_bad_jsonl_lines(folder, line, said):
    first = '{"query_id": "q2", "results": [["queue-full", 1.0]]}'
    (folder / "r.jsonl").write_text(f"{first}\n{line}\n")
    with pytest.raises(evalset.EvalSetError, match="r.jsonl:2: ") as error:
        runs.read_run(folder / "r.jsonl", evalset.load(folder))
    assert said in str(error.value)


def test_no_run_at_all(folder):
    (folder / "empty.trec").write_text("\n")
    evals = evalset.load(folder)
    for name, said in (
        ("empty.trec", "holds no results"),
        ("missing.trec", "does not exist"),
        ("corpus", "is a folder"),
    ):
        with pytest.raises(evalset.EvalSetError, match=said):
            runs.read_run(folder / name, evals)


def test_distances_are_noticed(folder):
    (folder / "r.trec").write_text("q1 Q0 disk-full 1 0.1 x\nq1 Q0 queue-full 2 0.7 x\n")
    run = runs.read_run(folder / "r.trec", evalset.load(folder))
    assert run.warnings[0].startswith(
        f"the score rises with the rank on 1 line (first {folder}/r.trec:2): scores decide"
    )
    (folder / "r.trec").write_text("q1 Q0 disk-full 1 0.1 x\nq1 Q0 queue-full 1 0.7 x\n")
    assert runs.read_run(folder / "r.trec", evalset.load(folder)).warnings == []  # no ranks


def test_unknown_queries_are_left_out_and_counted(folder):
    evals = evalset.load(folder)
    rows = "".join(f"x{n} Q0 nowhere 1 high y\n" for n in (1, 1, 2))
    (folder / "r.trec").write_text(f"{rows}q1 Q0 disk-full 1 2.0 y\n")
    run = runs.read_run(folder / "r.trec", evals)
    assert list(run.rankings) == ["q1"]
    assert run.warnings == ["2 unknown query ids left out: x1, x2"]
    many = [{"query_id": n, "results": [["disk-full", 1.0]]} for n in range(6)]
    write_rows(folder / "r.jsonl", *many, {"query_id": "q1", "results": [["disk-full", 1.0]]})
    run = runs.read_run(folder / "r.jsonl", evals)
    assert run.warnings == ["6 unknown query ids left out: 0, 1, 2, 3, 4, ..."]
    for name, content in (("r.trec", rows), ("r.jsonl", json.dumps(many[0]))):
        (folder / name).write_text(content)
        with pytest.raises(evalset.EvalSetError, match="1: no query of the run is in this set"):
            runs.read_run(folder / name, evals)


def test_queries_without_an_answer_are_no_strangers(folder):
    aside = {"query_id": "z", "query": "nothing", "relevant_doc_ids": [], "kind": "none"}
    with (folder / "retrieval_queries.jsonl").open("a") as file:
        file.write(json.dumps(aside) + "\n")
    (folder / "r.trec").write_text("z Q0 disk-full 1 2.0 y\nq1 Q0 disk-full 1 2.0 y\n")
    run = runs.read_run(folder / "r.trec", evalset.load(folder))
    assert ({*run.rankings}, [w for w in run.warnings if "unknown" in w]) == ({"q1", "z"}, [])


def apart_set(*splits):
    """Return a set with an answerable query for each split, and one without answer for each."""
    asked = {f"a{n}": evalset.Query(f"a{n}", "x", ("d",), "k", "", s) for n, s in enumerate(splits)}
    none = {f"z{n}": evalset.Query(f"z{n}", "x", (), "none", "", s) for n, s in enumerate(splits)}
    return evalset.EvalSet(evalset.DEFAULT, {}, asked, [], unanswered=none)


def test_the_first_score_tells_answerable_queries_from_others():
    evals = apart_set("dev", "dev", "test")
    run = {
        "a0": [("d", 3.0), ("e", 9.0)],
        "a1": [("d", 1.0)],
        "z0": [("d", 2.0)],
        "a2": [("d", 0.5)],
    }
    found = measures.told_apart(evals, "dev", run)  # z1 has no result: below every other
    assert (found["n"], found["unanswerable"], found["AUROC"]) == (2, 2, 3 / 4)
    assert found["low"] < 0.75 < found["high"]
    assert measures.told_apart(evals, None, run)["AUROC"] == pytest.approx((3 + 2 + 2) / 9)
    assert measures.told_apart(evals, "test", run) == {}  # it was not asked z2
    assert measures.told_apart(evals._replace(unanswered={}), "dev", run) == {}
    assert measures.told_apart(evals._replace(queries={}), "dev", run) == {}
    equal = {q: [("d", 1.0)] for q in ("a0", "z0", "a1", "z1")}
    assert measures.told_apart(evals, "dev", equal)["AUROC"] == 0.5


def test_two_runs_are_told_apart_in_one_sentence():
    one = {"n": 5, "unanswerable": 2, "AUROC": 0.715, "low": 0.5, "high": 0.925}
    assert measures.apart_text(one, {}) == measures.apart_text({}, one) == ""
    assert measures.apart_text(one, one | {"AUROC": 0.5}) == (
        "Told from 2 queries without an answer by the first score, AUROC: "
        "base 0.71 (0.50 to 0.93), run 0.50 (0.50 to 0.93)."
    )


def test_groups_are_in_order_and_unmarked_queries_in_none():
    evals = apart_set("dev", "test", "dev")
    assert measures.groups(evals, ["a1", "a0", "a2"], "split") == {
        "dev": ["a0", "a2"],
        "test": ["a1"],
    }
    assert measures.groups(evals, ["a0"], "popularity") == {}


def test_ids_are_accepted_as_the_source_wrote_them(tmp_path):
    documents = ["docs%2Fa.md", "c%23.md", "42", "50%25", "50%", "plain"]
    write_rows(
        tmp_path / "corpus.jsonl", *({"doc_id": d, "title": "t", "text": "x"} for d in documents)
    )
    asked = {"query_id": "topic%2F1", "query": "a", "relevant_doc_ids": ["plain"]}
    write_rows(tmp_path / "retrieval_queries.jsonl", asked)
    spelled = ["docs/a.md", "c#.md#2", "c%23.md#0", 42, "50%", "50%25", "docs%2Fa.md#1"]
    results = [[d, 9.0 - n] for n, d in enumerate(spelled)]
    write_rows(tmp_path / "r.jsonl", {"query_id": "topic/1", "results": results})
    run = runs.read_run(tmp_path / "r.jsonl", evalset.load(tmp_path))
    assert run.rankings == {
        "topic%2F1": [("docs%2Fa.md", 9.0), ("c%23.md", 8.0), ("42", 6.0), ("50%", 5.0),
                      ("50%25", 4.0)]
    }  # fmt: skip
    (tmp_path / "r.trec").write_text("topic/1 Q0 docs/a.md 1 2 x\ntopic%2F1 Q0 docs%2Fa.md 2 1 x")
    with pytest.raises(evalset.EvalSetError, match="r.trec:2: docs%2Fa.md is ranked twice"):
        runs.read_run(tmp_path / "r.trec", evalset.load(tmp_path))


def test_unknown_documents_are_counted(folder):
    lines = ["q1 Q0 a 1 3 x", "q1 Q0 disk-full 2 2 x", "q2 Q0 a 1 2 x", "q2 Q0 b#1 2 1 x"]
    (folder / "r.trec").write_text("\n".join(lines))
    with pytest.raises(evalset.EvalSetError) as error:
        runs.read_run(folder / "r.trec", evalset.load(folder))
    first, *others = error.value.problems
    assert first.endswith("r.trec: 3 results name 2 unknown documents")
    assert [re.search(r"trec:(\d): document (\S+)", line).groups() for line in others] == [
        ("1", "a"), ("3", "a"), ("4", "b#1")]  # fmt: skip


@pytest.fixture
def read(tmp_path):
    """Return what writes a run of scores a query, d000 first, and reads it."""
    documents = {f"d{n:03}": None for n in range(120)}
    evals = evalset.EvalSet(tmp_path, documents, {f"q{n}": None for n in range(6)}, [])

    def read(*scores):
        rows = [
            {"query_id": f"q{q}", "results": [[f"d{n:03}", s] for n, s in enumerate(row)]}
            for q, row in enumerate(scores)
        ]
        write_rows(tmp_path / "r.jsonl", *rows)
        return runs.read_run(tmp_path / "r.jsonl", evals)

    return read


def test_runs_are_cut_at_a_hundred_and_scores_that_agree_to_ten_decimals_are_ties(read):
    (ranking,) = read(list(range(120))).rankings.values()
    assert [d for d, _ in ranking] == [f"d{n:03}" for n in range(119, 19, -1)]
    (ranking,) = read([0.5, 0.5 + 1e-9, 0.5 + 1e-11]).rankings.values()
    assert [d for d, _ in ranking] == ["d001", "d000", "d002"]
    assert runs.in_order([("b", 0.5 + 1e-11), ("a", 0.5)])[0][0] == "a"


def test_equal_scores_near_the_top_are_warned_about(read):
    falling = [20.0 - n for n in range(20)]
    tenth = [*falling[:9], 5.0, 5.0, 1.0]
    eleventh = [*falling[:10], 5.0, 5.0, 1.0]
    assert read(falling, eleventh, [1.0], []).warnings == []
    said = "equal scores among the first 10 or next to them in {}: ids decide their order"
    for scores, many in (([tenth], "1 query"), ([tenth, falling, [2.0, 1.0, 1.0]], "2 queries")):
        (warning,) = read(*scores).warnings
        assert warning.startswith(said.format(many))
    flat, tied = read([1.0] * 3, [1.0] * 30, tenth).warnings
    assert flat == "all scores are equal in 2 queries: ids alone decide the order there"
    assert tied.startswith(said.format("1 query"))
    assert len(read([3.0, 3.0 + 1e-12]).warnings) == 1  # constant, and said once


def test_the_baseline_is_the_one_whose_rankings_are_published():
    card = json.loads((evalset.DEFAULT / "runs" / "fixed.json").read_text(encoding="utf-8"))
    assert {name: card[name] for name in runs.BASELINE} == runs.BASELINE
    module, _, function = runs.LARGE_ENGINE.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function)) and runs.LARGE == 4000


@pytest.mark.parametrize(
    ("ranking", "told"),
    [
        ([("a", 1.0), ("b", 1.0), ("c", -1.0)], ""),
        ([("b", 1.0), ("a", 1.0 - 1e-9)], ""),
        ([("a", 1.0), ("b", 1.0 + 1e-11)], ""),
        ([("b", 1.0 + 1e-11), ("a", 1.0)], "ranking out of order"),
        ([("a", 1.0), ("b", 1.0 + 1e-9)], "ranking out of order"),
        ([("a", 1.0), ("a", 1.0)], "an id is ranked twice, wanted each once"),
        ([("a", 2.0), ("b", 1.5), ("a", 1.0)], "an id is ranked twice, wanted each once"),
        ([], ""),
    ],
)
def test_an_order_is_by_score_to_ten_decimals_then_by_id_and_holds_an_id_once(ranking, told):
    if not told:
        assert runs.check_order("q", ranking) is None and runs.in_order(ranking[::-1]) == ranking
        return
    order = ", wanted score descending, then id ascending" if "order" in told else ""
    with pytest.raises(ValueError, match=f"^query q: {told}{order}$"):
        runs.check_order("q", ranking)


def test_ties_are_pulled_apart_by_a_millionth_of_the_score_or_of_one():
    tied = [("a", 50.0), ("b", 50.0), ("c", 1.5), ("d", 1.5), ("e", 0.0), ("f", 0.0), ("g", -9.0),
            ("h", -9.0), ("i", -9.5)]  # fmt: skip
    wanted = [50.0, 49.99995, 1.5, 1.4999985, 0.0, -1e-6, -9.0, -9.000009, -9.5]
    found = runs.strictly_decreasing(tied)
    assert [name for name, _ in found] == [name for name, _ in tied]
    assert [score for _, score in found] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert runs.strictly_decreasing([]) == []


def test_files_of_runs_hold_ten_decimals(tmp_path):
    run = {"q1": [("a#0", 2 / 3), ("b#1", 0.5)], "q2": []}
    runs.write_chunk_run(tmp_path / "r.jsonl", run)
    assert (tmp_path / "r.jsonl").read_text() == (
        '{"query_id": "q1", "results": [["a#0", 0.6666666667], ["b#1", 0.5]]}\n'
        '{"query_id": "q2", "results": []}\n'
    )
    runs.write_trec(tmp_path / "r.trec", run | {"q3": [("é", 1)]}, "mine")
    assert (tmp_path / "r.trec").read_text(encoding="utf-8") == (
        "q1 Q0 a#0 1 0.6666666667 mine\nq1 Q0 b#1 2 0.5000000000 mine\n"
        "q3 Q0 é 1 1.0000000000 mine\n"
    )
    assert runs.read_trec(tmp_path / "r.trec") == {
        "q1": [("a#0", 0.6666666667), ("b#1", 0.5)],
        "q3": [("é", 1.0)],
    }


def test_a_run_file_is_read_in_the_order_of_its_scores(tmp_path):
    (tmp_path / "r").write_text("q Q0 a 1 1 x\nq Q0 c 2 2 x\nq Q0 b 3 2 x\n")
    assert runs.read_trec(tmp_path / "r") == {"q": [("b", 2.0), ("c", 2.0), ("a", 1.0)]}


def test_what_is_saved_of_a_chunker_is_two_rankings_and_a_card(folder):
    evals = evalset.load(folder)
    said = {"engine": "é", "chunk_tokens": 256, "epsilon": None, "chunks": 7}
    runs.save(evals, "half", {"q1": [("a#0", 1.0)]}, {"q1": [("a", 1.0)]}, said)
    assert {path.name for path in (folder / "runs").iterdir()} == {
        "half.jsonl",
        "half.trec",
        "half.json",
    }
    assert runs.read_chunk_run(folder / "runs" / "half.jsonl") == {"q1": [("a#0", 1.0)]}
    assert (folder / "runs" / "half.trec").read_text() == "q1 Q0 a 1 1.0000000000 bm25-half\n"
    card = runs.BASELINE | {"chunker": "half", "engine": "é", "chunk_tokens": 256, "chunks": 7}
    del card["epsilon"]
    hashes = {"corpus_sha256": evals.corpus_hash(), "topics_sha256": evals.topics_hash()}
    card |= {"tokenizer": "words"} | hashes
    path = folder / "runs" / "half.json"
    assert path.read_text(encoding="utf-8") == (
        json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    )
    assert runs.read_card(path) == runs.read_card(path, "chunks", "engine") == card
    runs.write_card(path, evals, {"corpus_sha256": "old", "a": 1})
    assert json.loads(path.read_text()) == {"a": 1} | hashes


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "broken JSON (Expecting property name enclosed in double quotes"),
        (b"[]", "found [], wanted a JSON object such as {...}"),
        (b"\xff", "byte 0xff is not UTF-8, save the file as UTF-8"),
        (b"", "field corpus_sha256 is missing, wanted corpus_sha256, topics_sha256, more"),
        (b'{"corpus_sha256": 1, "more": 1}', "field corpus_sha256 is missing, wanted corpus"),
        (b'{"corpus_sha256": "a", "more": 1}', "field topics_sha256 is missing, wanted corpus_sha"),
        (b'{"corpus_sha256": "a", "topics_sha256": "b"}', "field more is missing, wanted corpus_"),
    ],
)  # fmt: skip
def test_a_card_that_cannot_be_used_is_one_problem(tmp_path, content, told):
    path = tmp_path / "card.json"
    path.write_bytes(content)
    with pytest.raises(evalset.EvalSetError) as caught:
        runs.read_card(path, "more")
    (problem,) = caught.value.problems
    assert problem.startswith(f"{path}:1: {told}")


def read_lines(folder, *lines, name="r.trec"):
    """Return a run of these lines in the set of `folder`, or the problems without the path."""
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        return runs.read_run(path, evalset.load(folder))
    except evalset.EvalSetError as error:
        return [problem.removeprefix(str(path)) for problem in error.problems]


def test_what_is_wrong_with_a_line_of_a_run_is_told_whole(folder):
    form = runs.JSON_LINE + ", or for a span " + runs.SPAN
    wanted = "wanted one of the 2 ids of the corpus, or id#n for a chunk"
    assert read_lines(folder, "q1 Q0 disk-full 1 2.0 x y", "q1 Q0 x#2 1 high t", "q1") == [
        ":1: found 7 fields, wanted 6: query Q0 document rank score tag",
        f":2: document x#2 is unknown, {wanted}",
        ":3: found 1 field, wanted 6: query Q0 document rank score tag",
    ]
    twice = ["q1 Q0 disk-full#0 1 2 x", "q2 Q0 disk-full#0 1 2 x", "q1 Q0 disk-full#0 2 1 x"]
    said = ":3: disk-full#0 is ranked twice for query q1, wanted once"
    assert read_lines(folder, *twice) == [said]
    assert read_lines(folder, "7" * 70, name="r.jsonl") == [
        f":1: found '{'7' * 60}', wanted {form}"
    ]
    rows = ['{"query_id": "q1", "results": []}'] * 2
    said = ":2: query q1 stands already above, wanted one line each"
    assert read_lines(folder, *rows, name="r.jsonl") == [said]
    row = '{"query_id": "q1", "results": [[["a"], 1], [{"b": 1}, 2], ["disk-full", null]]}'
    assert read_lines(folder, row, name="r.jsonl") == [
        ": 2 results name 2 unknown documents",
        f":1: document ['a'] is unknown, {wanted}",
        f":1: document {{'b': 1}} is unknown, {wanted}",
        ":1: score None of disk-full, wanted a finite number",
    ]


@pytest.mark.parametrize(
    ("score", "value"),
    [("1", 1.0), ('"1.5"', 1.5), ("-2e3", -2000.0), ("0", 0.0), ("true", None), ("NaN", None),
     ("-Infinity", None), ("1e999", None), ("1" + "0" * 400, None), ("null", None), ("[1]", None)],
)  # fmt: skip
def test_a_score_is_a_finite_number(folder, score, value):
    row = f'{{"query_id": "q1", "results": [["disk-full", {score}]]}}'
    found = read_lines(folder, row, name="r.jsonl")
    if value is None:
        (told,) = found
        assert told.startswith(":1: score ") and told.endswith("disk-full, wanted a finite number")
    else:
        assert found[:3] == ("r", {"q1": [("disk-full", value)]}, [])


def test_a_file_that_gives_no_run_is_told_why(folder):
    wanted = "wanted the file of a run (.trec, .txt, .run or .jsonl)"
    for name, why in (("none.trec", "does not exist"), ("corpus", "is a folder")):
        with pytest.raises(evalset.EvalSetError) as caught:
            runs.read_run(folder / name, evalset.load(folder))
        assert caught.value.problems == [f"{folder / name}: {why}, {wanted}"]
    form = "wanted lines of a run: query Q0 document rank score tag"
    assert read_lines(folder, "") == [f":1: the file holds no results, {form}"]
    known = "wanted one of the 2 ids of retrieval_queries.jsonl"
    assert read_lines(folder, *(f"{q} Q0 d 1 1 x" for q in "abcbde")) == [
        f":1: no query of the run is in this set (a, b, c, d, e), {known}"
    ]
    assert read_lines(folder, "7", name="r.txt")[0].startswith(":1: found 1 field, wanted 6")


def test_results_of_the_known_queries_count_and_chunks_are_their_best(folder):
    lines = ["x Q0 disk-full 1 9 t", "q2 Q0 disk-full#0 1 -3 t", "q2 Q0 disk-full#1 2 -2 t",
             "q2 Q0 queue-full#x 3 -2.5 t", "q1 Q0 disk-full 1 0 t"]  # fmt: skip
    found = read_lines(folder, *lines)
    q2 = [("disk-full", -2.0), ("queue-full", -2.5)]
    assert found.name == "r" and [*found.rankings.items()] == [
        ("q2", q2),
        ("q1", [("disk-full", 0.0)]),
    ]
    assert found.warnings[0] == "1 unknown query id left out: x"
    assert found.warnings[1].startswith("the score rises with the rank on 1 line (first ")


@pytest.mark.parametrize(
    ("ranks", "scores", "rising"),
    [
        ("12", "12", 1),
        ("12", "21", 0),
        ("12", "11", 0),
        ("11", "12", 0),
        ("01", "12", 0),
        ("02", "12", 1),
        ("-²", "12", 0),
        ("123", "123", 2),
        ("123", "132", 1),
    ],
)
def test_a_score_that_rises_with_a_rank_from_two_on_is_noticed(folder, ranks, scores, rising):
    lines = [
        f"q1 Q0 disk-full#{n} {r} {s} x" for n, (r, s) in enumerate(zip(ranks, scores, strict=True))
    ]
    lines.insert(0, "q2 Q0 disk-full 1 0 x")
    warnings = read_lines(folder, *lines).warnings
    many = {0: "", 1: "1 line", 2: "2 lines"}[rising]
    tied = [line for line in warnings if "rises" not in line]
    told = [
        f"the score rises with the rank on {many} (first {folder / 'r.trec'}:3): scores decide the "
        "order, so negate them if they are distances"
    ]
    assert warnings == (told if rising else []) + tied and not tied


def test_a_query_or_document_may_be_a_number_in_json(folder):
    (folder / "judgments.jsonl").unlink()
    write_rows(folder / "corpus.jsonl", {"doc_id": "42", "title": "", "text": "x"})
    shutil.rmtree(folder / "corpus")
    row = {"query_id": "7", "query": "x", "relevant_doc_ids": ["42"]}
    write_rows(folder / "retrieval_queries.jsonl", row)
    found = read_lines(folder, '{"query_id": 7, "results": [[42, 1]]}', name="r.jsonl")
    assert found.rankings == {"7": [("42", 1.0)]}
    found = read_lines(folder, *['{"query_id": 7, "results": []}'] * 2, name="r.jsonl")
    assert found == [":2: query 7 stands already above, wanted one line each"]


def test_some_names_are_the_first_five():
    assert [runs.some("abcdefg"[:n]) for n in (0, 1, 5, 6)] == [
        "",
        "a",
        "a, b, c, d, e",
        "a, b, c, d, e, ...",
    ]
    assert runs.some(iter("abc"), 2) == "a, b, ..."


def test_equal_scores_are_told_in_the_words_of_their_number(read):
    flat = "all scores are equal in {}: ids alone decide the order there"
    tied = (
        "equal scores among the first 10 or next to them in {}: ids decide their order, so write "
        "more decimals if the scores were rounded"
    )
    assert read([2.0, 1.0, 1.0], [3.0]).warnings == [tied.format("1 query")]
    assert read([1.0, 1.0], [2.0, 2.0], [3.0, 1.0]).warnings == [flat.format("2 queries")]
    assert read([1.0, 1.0], [2.0, 2.0, 1.0]).warnings == [
        flat.format("1 query"),
        tied.format("1 query"),
    ]
    ten, eleven, twelve = ([20.0 - min(n, most) for n in range(14)] for most in (9, 10, 11))
    assert read(ten, eleven, twelve).warnings == [tied.format("1 query")]
    assert read([1.0, 0.5, 1 + 1e-11]).warnings == [tied.format("1 query")]


# Runs without end, and what is no run.


@pytest.mark.parametrize(
    ("reader", "content", "told"),
    [
        (runs.read_trec, "q Q0 d 1\n", "1: found 'q Q0 d 1', wanted query Q0 document"),
        (runs.read_trec, "q Q0 d 1 nan t\n", "1: found 'q Q0 d 1 nan t', wanted"),
        (runs.read_chunk_run, '{"query_id": "q"}\n', "1: found {'query_id': 'q'}, wanted {"),
        (runs.read_chunk_run, '{"query_id": [], "results": []}', "1: found {'query_id': []"),
        (runs.read_chunk_run, "{\n", "1: broken JSON"),
        (chunks.read_chunks, '{"doc_id": "d"}\n', "1: found the fields doc_id, wanted doc_id, "),
    ],
)
def test_a_file_that_is_something_else_is_told(tmp_path, reader, content, told):
    path = tmp_path / "r"
    path.write_text(content)
    with pytest.raises(evalset.EvalSetError) as caught:
        reader(path)
    assert str(caught.value).startswith(f"{path}:{told}")


def test_a_run_has_an_end_and_strange_queries_are_counted(folder, tmp_path, monkeypatch):
    evals, path = evalset.load(folder), tmp_path / "r.trec"
    path.write_text(
        "".join(f"x{n} Q0 disk-full 1 1 t\n" for n in range(9)) + "q1 Q0 disk-full 1 1 t"
    )
    monkeypatch.setattr(runs, "STRANGE", 4)
    (told,) = runs.read_run(path, evals).warnings
    assert told == "4 unknown query ids or more left out: x0, x1, x2, x3"
    monkeypatch.setattr(runs, "RESULTS", 3)
    path.write_text("".join(f"q1 Q0 disk-full#{n} 1 1 t\n" for n in range(9)))
    with pytest.raises(evalset.EvalSetError, match=r"r.trec:4: the run goes on, wanted at most 3 "):
        runs.read_run(path, evals)


def test_a_json_run_nested_without_end_or_with_a_key_twice_is_told(folder, tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("[" * 100_000 + '\n{"query_id": "q1", "query_id": "q2", "results": []}\n')
    with pytest.raises(evalset.EvalSetError) as caught:
        runs.read_run(path, evalset.load(folder))
    assert len(caught.value.problems) == 2


def test_three_files_of_a_run_are_written_together_or_not(folder, tmp_path):
    code = (
        "from helpers import evalset, runs\n"
        "evals = evalset.load(Path(sys.argv[2]))\n"
        "runs.save(evals, 'a', {'q1': [('d#0', 1)]}, {'q1': [('d', 1)]}, {'k1': 9})"
    )
    evals, sets = evalset.load(folder), []
    for step in (0, 3, 5, 6):
        runs.save(evals, "a", {}, {}, {})
        killed.at(step, code, folder)
        files.settle(folder / "runs")
        sets.append({p.name: len(p.read_bytes()) for p in (folder / "runs").iterdir()})
    old, new = sets[0], sets[-1]
    assert sets == [old, new, new, new] and old["a.trec"] == 0 < new["a.trec"]


def test_an_unknown_query_is_told_as_text_that_can_be_written(folder):
    write_rows(
        folder / "r.jsonl",
        {"query_id": "q1", "results": [["disk-full", 2]]},
        {"query_id": "\ud800\x1b", "results": [["disk-full", 2]]},
    )
    run = runs.read_run(folder / "r.jsonl", evalset.load(folder))
    assert run.warnings == [r"1 unknown query id left out: \ud800\x1b"]
