"""Rankings keep their order through files and tools; runs of any engine are read or explained."""

import importlib
import json
import math

import ir_measures
import pytest
from conftest import write_rows

from helpers import evalset, runs


def read_lines(folder, *lines, name="r.trec"):
    """Return a run of these lines in the set of `folder`, or the problems without the path."""
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        return runs.read_run(path, evalset.load(folder))
    except evalset.EvalSetError as error:
        return [problem.removeprefix(str(path)) for problem in error.problems]


# Order.


@pytest.mark.parametrize(
    ("ranking", "told"),
    [
        ([("a", 1.0), ("b", 1.0), ("c", -1.0)], ""),
        ([("b", 1.0), ("a", 1.0 - 1e-9)], ""),
        ([("a", 1.0), ("b", 1.0 + 1e-11)], ""),
        ([], ""),
        ([("b", 1.0 + 1e-11), ("a", 1.0)], "ranking out of order"),
        ([("a", 1.0), ("b", 1.0 + 1e-9)], "ranking out of order"),
        ([("a", 1.0), ("a", 1.0)], "an id is ranked twice, wanted each once"),
        ([("a", 2.0), ("b", 1.5), ("a", 1.0)], "an id is ranked twice, wanted each once"),
    ],
)
def test_an_order_is_by_score_to_ten_decimals_then_by_id_and_holds_an_id_once(
    tmp_path, ranking, told
):
    if not told:
        assert runs.check_order("q", ranking) is None and runs.in_order(ranking[::-1]) == ranking
        return
    for refusing in (
        lambda: runs.check_order("q", ranking),
        lambda: runs.write_trec(tmp_path / "r", {"q": ranking}, "t"),
        lambda: runs.write_chunk_run(tmp_path / "r", {"q": ranking}),
    ):
        with pytest.raises(ValueError, match=f"^query q: {told}"):
            refusing()
    assert not (tmp_path / "r").exists()


def test_ties_are_pulled_apart_by_a_millionth_of_the_score_or_of_one():
    tied = [("a", 50.0), ("b", 50.0), ("c", 1.5), ("d", 1.5), ("e", 0.0), ("f", 0.0), ("g", -9.0),
            ("h", -9.0), ("i", -9.5)]  # fmt: skip
    wanted = [50.0, 49.99995, 1.5, 1.4999985, 0.0, -1e-6, -9.0, -9.000009, -9.5]
    apart = runs.strictly_decreasing(tied)
    assert [name for name, _ in apart] == [name for name, _ in tied]
    assert [score for _, score in apart] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert runs.strictly_decreasing([]) == []


# Our own files.


def test_files_of_runs_hold_ten_decimals_and_read_back_in_order(tmp_path):
    run = {"q1": [("a#0", 2 / 3), ("b#1", 0.5)], "q2": []}
    runs.write_chunk_run(tmp_path / "r.jsonl", run)
    assert (tmp_path / "r.jsonl").read_text() == (
        '{"query_id": "q1", "results": [["a#0", 0.6666666667], ["b#1", 0.5]]}\n'
        '{"query_id": "q2", "results": []}\n'
    )
    rounded = [("a#0", 0.6666666667), ("b#1", 0.5)]
    assert runs.read_chunk_run(tmp_path / "r.jsonl") == {"q1": rounded, "q2": []}
    runs.write_trec(tmp_path / "r.trec", run | {"q3": [("é", 1)]}, "mine")
    assert (tmp_path / "r.trec").read_text(encoding="utf-8") == (
        "q1 Q0 a#0 1 0.6666666667 mine\nq1 Q0 b#1 2 0.5000000000 mine\n"
        "q3 Q0 é 1 1.0000000000 mine\n"
    )
    assert runs.read_trec(tmp_path / "r.trec") == {"q1": rounded, "q3": [("é", 1.0)]}
    (tmp_path / "r").write_text("q Q0 a 1 1 x\nq Q0 c 2 2 x\nq Q0 b 3 2 x\n")
    assert runs.read_trec(tmp_path / "r") == {"q": [("b", 2.0), ("c", 2.0), ("a", 1.0)]}


def test_every_tool_reads_the_order_that_was_written(tmp_path):
    """ir_measures and pytrec_eval break ties by other rules than ours."""
    import pytrec_eval

    ranking = [("c", 30.0), ("a", 3.0), ("b", 3.0), ("d", 3.0), ("e", 0.0), ("f", 0.0), ("g", -1.0)]
    path = tmp_path / "r.trec"
    runs.write_trec(path, {"q1": ranking}, "t")
    reread = runs.read_trec(path)["q1"]
    assert [doc_id for doc_id, _ in reread] == [doc_id for doc_id, _ in ranking]
    assert all(a > b for (_, a), (_, b) in zip(reread, reread[1:], strict=False))
    rows = sorted(ir_measures.read_trec_run(str(path)), key=lambda row: -row.score)
    assert [row.doc_id for row in rows] == [doc_id for doc_id, _ in ranking]
    with path.open() as file:
        run = pytrec_eval.parse_run(file)
    for rank, (relevant, _) in enumerate(ranking, 1):
        evaluator = pytrec_eval.RelevanceEvaluator({"q1": {relevant: 1}}, {"recip_rank"})
        assert math.isclose(evaluator.evaluate(run)["q1"]["recip_rank"], 1 / rank)


def test_a_file_that_is_no_run_of_ours_is_told(tmp_path):
    for name, content, told in (
        ("r", "q Q0 d 1\n", "1: found 4 fields, wanted 6: query Q0 document"),
        ("r", "q Q0 d 1 1 t\nq Q0 d 1 nan t\n", "2: score 'nan' of d, wanted a finite"),
        ("r.jsonl", '{"query_id": "q"}\n', '1: found \'{"query_id": "q"}\', wanted {'),
        ("r.jsonl", '{"query_id": [], "results": []}', '1: found \'{"query_id": []'),
        ("r.jsonl", "{\n", "1: broken JSON"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(evalset.EvalSetError) as caught:
            runs.read_own(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name}:{told}")


def test_the_baseline_is_the_one_whose_rankings_are_published():
    card = json.loads((evalset.DEFAULT / "runs" / "fixed.json").read_text(encoding="utf-8"))
    assert {name: card[name] for name in runs.BASELINE} == runs.BASELINE
    module, _, function = runs.LARGE_ENGINE.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function)) and runs.LARGE == 4000


def test_what_is_saved_of_a_chunker_is_two_rankings_and_a_card(folder):
    evals, path = evalset.load(folder), folder / "runs" / "half.json"
    differs = {"engine": "é", "chunk_tokens": 256, "epsilon": None, "chunks": 7}
    runs.save(evals, "half", {"q1": [("a#0", 1.0)]}, {"q1": [("a", 1.0)]}, differs)
    assert {saved.name for saved in path.parent.iterdir()} == {
        "half.jsonl", "half.trec", "half.json"}  # fmt: skip
    assert runs.read_chunk_run(path.with_suffix(".jsonl")) == {"q1": [("a#0", 1.0)]}
    assert path.with_suffix(".trec").read_text() == "q1 Q0 a 1 1.0000000000 bm25-half\n"
    card = runs.BASELINE | {"chunker": "half", "engine": "é", "chunk_tokens": 256, "chunks": 7}
    del card["epsilon"]
    hashes = {"corpus_sha256": evals.corpus_hash(), "topics_sha256": evals.topics_hash()}
    card |= {"tokenizer": "words"} | hashes
    assert path.read_text(encoding="utf-8") == (
        json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    )
    assert runs.read_card(path) == runs.read_card(path, "chunks", "engine") == card
    runs.write_card(path, evals, {"corpus_sha256": "old", "a": 1})
    assert json.loads(path.read_text()) == {"a": 1} | hashes


def test_a_card_that_cannot_be_used_is_one_problem(tmp_path):
    path = tmp_path / "card.json"
    lacks = "field {} is missing, wanted corpus_sha256, topics_sha256, more"
    for content, told in (
        (None, "cannot be read"),
        (b"{", "broken JSON (Expecting property name enclosed in double quotes"),
        (b"[]", "found [], wanted a JSON object such as {...}"),
        (b"\xff", "byte 0xff is not UTF-8, save the file as UTF-8"),
        (b"", lacks.format("corpus_sha256")),
        (b'{"corpus_sha256": 1, "more": 1}', lacks.format("corpus_sha256")),
        (b'{"corpus_sha256": "a", "more": 1}', lacks.format("topics_sha256")),
        (b'{"corpus_sha256": "a", "topics_sha256": "b"}', lacks.format("more")),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(evalset.EvalSetError) as caught:
            runs.read_card(path, "more")
        (problem,) = caught.value.problems
        assert problem.startswith(f"{path}:1: {told}")


# Runs of any engine.


def test_runs_of_chunks_and_documents_in_both_forms(folder):
    lines = ["q1 Q0 disk-full#0 1 2.0 x\r", "", "q1 Q0 queue-full#3 2 1.5 x",
             "q1 Q0 disk-full#1 3 1.0 x"]  # fmt: skip
    row = '{"query_id": "q1", "results": [["queue-full", 1.5], ["disk-full", 2]]}'
    documents = {"q1": [("disk-full", 2.0), ("queue-full", 1.5)]}
    chunks = {"q1": [("disk-full#0", 2.0), ("queue-full#3", 1.5), ("disk-full#1", 1.0)]}
    assert read_lines(folder, "\ufeff" + lines[0], *lines[1:]) == ("r", documents, [], chunks, "")
    assert read_lines(folder, row, name="r.jsonl") == ("r", documents, [], {}, "")
    mixed = read_lines(folder, *lines, "q2 Q0 disk-full 1 1e-3 x")
    assert mixed.parts == {} and mixed.rankings["q2"] == [("disk-full", 0.001)]
    lines = ["q2 Q0 disk-full#0 1 -3 t", "q2 Q0 disk-full#1 2 -2 t", "q2 Q0 queue-full 3 -2.5 t"]
    best = read_lines(folder, *lines).rankings
    assert best == {"q2": [("disk-full", -2.0), ("queue-full", -2.5)]}


LINE = "found {}, wanted 6: query Q0 document rank score tag"
UNKNOWN = "document {} is unknown, wanted one of the 2 ids of the corpus, or id#n for a chunk"
FINITE = "score {} of disk-full, wanted a finite number"
FORM = f"wanted {runs.JSON_LINE}, or for a span {runs.SPAN}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q1 Q0 disk-full 1 2.0", LINE.format("5 fields")),
        ("q1 Q0 disk-full 1 2.0 x y", LINE.format("7 fields")),
        ("q1", LINE.format("1 field")),
        ("q1 Q0 disk-ful 1 2.0 x", UNKNOWN.format("disk-ful")),
        ("q1 Q0 disk-ful#0 1 2.0 x", UNKNOWN.format("disk-ful#0")),
        ("q1 Q0 disk-full 1 nan x", FINITE.format("'nan'")),
        ("q1 Q0 disk-full 1 inf x", FINITE.format("'inf'")),
        ("q1 Q0 disk-full 1 high x", FINITE.format("'high'")),
        ("q1 Q0 queue-full 2 2.0 x", "queue-full is ranked twice for query q1, wanted once"),
        ("{", "broken JSON (Expecting property name"),
        ("[" * 100_000, "broken JSON (nested too deeply), wanted one object a line"),
        ("[1, 2]", "found [1, 2], wanted a JSON object"),
        ('{"query_id": "q1", "query_id": "q2"}', "broken JSON (key query_id stands twice)"),
        ('{"query_id": "q1"}', 'found \'{"query_id": "q1"}\', ' + FORM),
        ('{"query_id": ["q1"], "results": []}', 'found \'{"query_id": ["q1"], "results": []}'),
        ('{"query_id": "q1", "results": [["disk-full"]]}', 'found \'{"query_id": "q1"'),
        ('{"query_id": "q1", "results": [["disk-full", NaN]]}', FINITE.format("nan")),
        ('{"query_id": "q1", "results": [["disk-full", true]]}', FINITE.format("True")),
        ('{"query_id": "q1", "results": [["disk-full", null]]}', FINITE.format("None")),
        ('{"query_id": "q1", "results": [["disk-full", 1e999]]}', FINITE.format("inf")),
        (f'{{"query_id": "q1", "results": [["disk-full", {"9" * 400}]]}}', "score 999"),
        ('{"query_id": "q1", "results": [[["a"], 1]]}', UNKNOWN.format("['a']")),
    ],
)
def test_a_line_that_cannot_be_used_is_told_with_its_place(folder, line, told):
    name = "r.jsonl" if line[0] in "{[" else "r.trec"
    good = "q1 Q0 queue-full 1 3.0 x"
    if name == "r.jsonl":
        good = '{"query_id": "q2", "results": [["queue-full", "1.5"]]}'
    (problem,) = read_lines(folder, good, line, name=name)
    assert problem.startswith(f":2: {told}")


def test_all_problems_are_told_at_once(folder):
    lines = ["q1 Q0 a 1 3 x", "q1 Q0 disk-full 2 high x", "q2 Q0 a 1 2 x", "q2 Q0 b#1 2 1 x", "q1"]
    assert read_lines(folder, *lines) == [
        ":1: " + UNKNOWN.format("a"),
        ":2: " + FINITE.format("'high'"),
        ":3: " + UNKNOWN.format("a"),
        ":4: " + UNKNOWN.format("b#1"),
        ":5: " + LINE.format("1 field"),
    ]


def test_what_gives_no_run_is_told_why(folder):
    wanted = "wanted results for the 2 queries of the set"
    assert read_lines(folder, "") == [f":1: the file holds no results, {wanted}"]
    assert read_lines(folder, *(f"{q} Q0 d 1 1 x" for q in "abcbdef")) == [
        f":1: no query of the run is in this set (a, b, c, d, e, ...), {wanted}"
    ]
    for name in ("missing.trec", "corpus"):
        with pytest.raises(evalset.EvalSetError, match=f"{name}:1: cannot be read"):
            runs.read_run(folder / name, evalset.load(folder))


def test_unknown_queries_are_left_out_and_counted(folder):
    lines = [f"x{n} Q0 nowhere 1 2 y" for n in (1, 1, 2, 3, 4, 5, 6)]
    run = read_lines(folder, *lines, "q1 Q0 disk-full 1 2.0 y")
    assert list(run.rankings) == ["q1"]
    assert run.warnings == ["6 unknown query ids left out: x1, x2, x3, x4, x5, ..."]
    with (folder / "retrieval_queries.jsonl").open("a") as file:  # asked, though none answers it
        aside = {"query_id": "z", "query": "nothing", "relevant_doc_ids": [], "kind": "none"}
        file.write(json.dumps(aside) + "\n")
    run = read_lines(folder, "z Q0 disk-full 1 2.0 y", "x Q0 disk-full 1 2.0 y")
    assert list(run.rankings) == ["z"] and run.warnings == ["1 unknown query id left out: x"]


def test_ids_are_accepted_as_the_source_wrote_them_and_as_numbers(tmp_path):
    documents = ["docs%2Fa.md", "c%23.md", "42", "50%25", "50%", "plain", "12:30"]
    write_rows(
        tmp_path / "corpus.jsonl", *({"doc_id": d, "title": "t", "text": "x"} for d in documents)
    )
    asked = {"query": "a", "relevant_doc_ids": ["plain"]}
    queries = [{"query_id": q, **asked} for q in ("topic%2F1", "7")]
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    spelled = ["docs/a.md", "c#.md#2", "c%23.md#0", 42, "50%", "50%25", "docs%2Fa.md#1", "12:30"]
    results = [[d, 9.0 - n] for n, d in enumerate(spelled)]
    rows = [{"query_id": q, "results": results} for q in ("topic/1", 7)]
    run = read_lines(tmp_path, *map(json.dumps, rows), name="r.jsonl")
    ranking = [("docs%2Fa.md", 9.0), ("c%23.md", 8.0), ("42", 6.0), ("50%", 5.0), ("50%25", 4.0),
               ("12:30", 2.0)]  # fmt: skip
    assert run.rankings == {"topic%2F1": ranking, "7": ranking}
    lines = ["topic/1 Q0 docs/a.md 1 2 x", "topic%2F1 Q0 docs%2Fa.md 2 1 x"]
    (problem,) = read_lines(tmp_path, *lines)
    assert problem.startswith(":2: docs%2Fa.md is ranked twice")


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


def test_equal_scores_near_the_top_are_warned_about(read):
    tenth, eleventh, twelfth = ([20.0 - min(n, most) for n in range(14)] for most in (9, 10, 11))
    for scores, many in (
        ([eleventh, twelfth, [1.0], []], None),
        ([tenth], "1 query"),
        ([tenth, twelfth, [2.0, 1.0, 1.0]], "2 queries"),
        ([[1.0] * 3, [1.0] * 30, tenth], "3 queries"),
        ([[3.0, 3.0 + 1e-12]], "1 query"),
        ([[1.0, 0.5, 1 + 1e-11]], "1 query"),
    ):
        told = (
            f"equal scores among the first 10 or next to them in {many}: ids decide their order, "
            "so write more decimals if the scores were rounded"
        )
        assert read(*scores).warnings == ([told] if many else []), scores


def test_some_names_are_the_first_five():
    assert [runs.some("abcdefg"[:n]) for n in (0, 1, 5, 6)] == [
        "", "a", "a, b, c, d, e", "a, b, c, d, e, ..."]  # fmt: skip
    assert runs.some(iter("abc"), 2) == "a, b, ..."
