"""Rankings keep their order through files and tools; runs of any engine are read or explained."""

import json
import shutil

import ir_measures
import pytest
from conftest import write_rows

from helpers.measure import evalset, measures, runs


def problems(read, *given):
    """Return why a file cannot be read."""
    with pytest.raises(evalset.EvalSetError) as caught:
        read(*given)
    return caught.value.problems


def read_lines(folder, *lines, name="r.trec"):
    """Return a run of these lines in the set of `folder`, or the problems without the path."""
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        return runs.read_run(path, evalset.load(folder))
    except evalset.EvalSetError as error:
        return [problem.removeprefix(str(path)) for problem in error.problems]


# Order.

IN_ORDER = (
    [],
    [("a", 1.0), ("b", 1.0), ("c", -1.0)],
    [("b", 1.0), ("a", 1.0 - 1e-9)],
    [("a", 1.0), ("b", 1.0 + 1e-11)],
)
REFUSED = (
    ([("b", 1.0 + 1e-11), ("a", 1.0)], "out of order"),
    ([("a", 1.0), ("b", 1.0 + 1e-9)], "out of order"),
    ([("a", 2.0), ("b", 1.5), ("a", 1.0)], "ranked twice"),
)


def test_an_order_is_by_score_to_ten_decimals_then_by_id_and_holds_an_id_once(folder):
    for ranking in IN_ORDER:
        runs.check_order("q", ranking)
        assert runs.in_order(ranking[::-1]) == ranking
    for ranking, words in REFUSED:
        for write in (
            lambda ranking: runs.write_trec(folder / "r", {"q": ranking}, "t"),
            lambda ranking: runs.save(evalset.load(folder), "r", {"q": ranking}, {}, {}),
        ):
            with pytest.raises(ValueError, match=f"^query q: .*{words}"):
                write(ranking)
    assert not (folder / "r").exists() and not (folder / "runs").exists()


def test_every_tool_reads_the_order_that_was_written(tmp_path):
    """ir_measures and pytrec_eval break ties by other rules than ours."""
    import pytrec_eval

    scores = {"a": 50.0, "c": 50.0, "b": 3.0, "d": 3.0, "e": 0.0, "f": 0.0, "g": -9.0, "h": -9.0}
    ranking, order = [*scores.items(), ("i", -9.5)], [*scores, "i"]
    wanted = [50.0, 49.99995, 3.0, 2.999997, 0.0, -1e-6, -9.0, -9.000009, -9.5]
    apart = [score for _, score in runs.strictly_decreasing(ranking)]
    assert apart == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    path = tmp_path / "r.trec"
    runs.write_trec(path, {"q1": ranking}, "t")
    rows = sorted(ir_measures.read_trec_run(str(path)), key=lambda row: -row.score)
    assert [row.doc_id for row in rows] == order
    path.write_text("".join(path.read_text().splitlines(keepends=True)[::-1]))
    assert [doc_id for doc_id, _ in runs.read_rankings(path)["q1"]] == order
    with path.open() as file:
        run = pytrec_eval.parse_run(file)
    for rank, relevant in enumerate(order, 1):
        evaluator = pytrec_eval.RelevanceEvaluator({"q1": {relevant: 1}}, {"recip_rank"})
        assert evaluator.evaluate(run)["q1"]["recip_rank"] == pytest.approx(1 / rank)


# Our own files.


def test_the_baseline_is_the_one_whose_rankings_are_published():
    card = json.loads((evalset.DEFAULT / "runs" / "fixed.json").read_text(encoding="utf-8"))
    assert {name: card[name] for name in runs.BASELINE} == runs.BASELINE
    assert runs.LARGE == 4000


def test_a_card_that_cannot_be_used_is_one_problem(tmp_path):
    path = tmp_path / "card.json"
    for content, words in (
        ("{", "broken JSON"),
        ("", "field k1 is missing, wanted k1, b"),
        ('{"k1": 1}', "field b is missing, wanted k1, b"),
    ):
        path.write_text(content)
        (problem,) = problems(runs.read_card, path, "k1", "b")
        assert problem.startswith(f"{path}:1: {words}")


# Runs of any engine.


def test_runs_of_chunks_and_documents_in_both_forms(folder):
    lines = ["q1 Q0 disk-full#0 1 2.0 x\r", "", "q1 Q0 queue-full#3 2 1.5 x",
             "q1 Q0 disk-full#1 3 1.0 x"]  # fmt: skip
    documents = {"q1": [("disk-full", 2.0), ("queue-full", 1.5)]}
    chunks = {"q1": [("disk-full#0", 2.0), ("queue-full#3", 1.5), ("disk-full#1", 1.0)]}
    whole = runs.Run("r", documents, [], chunks)
    assert read_lines(folder, "\ufeff" + lines[0], *lines[1:]) == whole
    turned = results('["queue-full", "1.5"], ["disk-full", 2]')
    short = read_lines(folder, turned, name="r.jsonl")
    assert (short.rankings, short.parts) == (documents, {})
    (warning,) = short.warnings
    assert warning.startswith("results of 1 query don't stand in the order of their scores")
    mixed = read_lines(folder, *lines, "q2 Q0 disk-full 1 1e-3 x")
    assert mixed.parts == {} and mixed.rankings["q2"] == [("disk-full", 0.001)]
    told = "1 of 4 results are whole documents, so passages count as theirs and no evidence is "
    assert mixed.warnings == [f"{told}measured"]
    span = '{"doc_id": "disk-full", "start": 0, "end": 63, "score": 1}'  # to the last character
    spans = read_lines(folder, results(span), name="r.jsonl")
    assert spans.parts == {"q1": [("disk-full#0:63", 1.0)]}
    lines = ["q2 Q0 disk-full#0 1 -3 t", "q2 Q0 disk-full#1 2 -2 t", "q2 Q0 queue-full 3 -2.5 t",
             "q2 Q0 disk-full#2 1 -9 t"]  # fmt: skip
    best = read_lines(folder, *lines).rankings
    assert best == {"q2": [("disk-full", -2.0), ("queue-full", -2.5)]}


def results(text):
    return f'{{"query_id": "q1", "results": [{text}]}}'


BROKEN = (  # (line, the problem)
    ("q1 Q0 disk-full 1 2.0", "found 5 fields, wanted 6: query Q0 document rank score tag"),
    ("q1 Q0 disk-ful 1 2 x", "document disk-ful is not in the corpus, wanted one of its 2 ids, "),
    ("q1 Q0 disk-ful#0 1 2 x", "document disk-ful is not in the corpus, wanted one of its 2 ids, "),
    ("q1 Q0 disk-full#zzz 1 2 x", "chunk 'zzz' of disk-full, wanted disk-full#n, n a number from"),
    ("q1 Q0 disk-full#-1 1 2 x", "chunk '-1' of disk-full, wanted disk-full#n, n a number from 0"),
    ("q1 Q0 disk-full 1 nan x", "score 'nan' of disk-full, wanted a finite number"),
    ("q1 Q0 disk-full 1 high x", "score 'high' of disk-full, wanted a finite number"),
    ("q1 Q0 queue-full 2 2.0 x", "queue-full is ranked twice for query q1, wanted once"),
    ("{", "broken JSON (Expecting property name"),
    ('{"query_id": "q1"}', """found '{"query_id": "q1"}', wanted {"query_id": ..., "results": """),
    (results('["disk-full"]'), "found "),
    (results('["disk-full", NaN]'), "score nan of disk-full, wanted a finite number"),
    (results('["disk-full", true]'), "score True of disk-full, wanted a finite number"),
    ('{"query_id": ["q1"], "results": []}', """found '{"query_id": ["q1"], "results": []}', wan"""),
)


@pytest.mark.parametrize(("line", "words"), BROKEN)
def test_a_line_that_cannot_be_used_is_told_with_its_place(folder, line, words):
    name = "r.jsonl" if line[0] in "{[" else "r.trec"
    good = "q1 Q0 queue-full 1 3.0 x" if name == "r.trec" else results('["queue-full", 1]')
    (problem,) = read_lines(folder, good, line, name=name)
    assert problem.startswith(f":2: {words}")
    if not words.startswith(("document", "chunk")) and "twice" not in words:
        (problem,) = problems(runs.read_rankings, folder / name)  # the reader of our own files
        assert f":2: {words}" in problem


def test_unknown_queries_are_left_out_and_counted(folder):
    with (folder / "retrieval_queries.jsonl").open("a") as file:  # asked, though none answers it
        aside = {"query_id": "z", "query": "nothing", "relevant_doc_ids": [], "kind": "none"}
        file.write(json.dumps(aside) + "\n")
    lines = [f"x{n} Q0 nowhere 1 2 y" for n in (1, 1, 2, 3, 4, 5)]
    for more, words in (([], "5 {}1, x2, x3, x4, x5"), ([6], "6 {}1, x2, x3, x4, x5, ...")):
        others = [f"x{n} Q0 nowhere 1 2 y" for n in more]
        run = read_lines(folder, *lines, *others, "z Q0 disk-full 1 2.0 y")
        assert list(run.rankings) == ["z"]
        assert run.warnings == [words.format("unknown query ids left out: x")]


def test_ids_are_accepted_as_the_source_wrote_them_and_as_numbers(tmp_path):
    documents = ["docs%2Fa.md", "c%23.md", "42", "50%25", "50%", "plain", "12:30"]
    pages = ({"doc_id": d, "title": "t", "text": "x"} for d in documents)
    write_rows(tmp_path / "corpus.jsonl", *pages)
    asked = {"query": "a", "relevant_doc_ids": ["plain"]}
    queries = [{"query_id": q, **asked} for q in ("topic%2F1", "7")]
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    spelled = ["docs/a.md", "c#.md#2", "c%23.md#0", 42, "50%", "50%25", "docs%2Fa.md#1", "12:30"]
    ranked = [[d, 9.0 - n] for n, d in enumerate(spelled)]
    rows = (json.dumps({"query_id": q, "results": ranked}) for q in ("topic/1", 7))
    run = read_lines(tmp_path, *rows, name="r.jsonl")
    order = ["docs%2Fa.md", "c%23.md", "42", "50%", "50%25", "12:30"]
    assert {q: [*dict(of)] for q, of in run.rankings.items()} == {"topic%2F1": order, "7": order}
    lines = ["topic/1 Q0 docs/a.md 1 2 x", "topic%2F1 Q0 docs%2Fa.md 2 1 x"]
    (problem,) = read_lines(tmp_path, *lines)
    assert problem.startswith(":2: docs%2Fa.md is ranked twice")


SPELLED = (  # an id of the set, the spellings of it that a run may have, others that are refused
    ("docs:a", "docs/a.md docs/a docs:a.md docs/a.txt#3", "docs/a.rst docs/b"),  # markdown, text
    ("log.rst", "log log.rst", "log.log"),
    ("10%3A30", "10:30 10:30.md", ""),
    ("src:app.py:Foo.bar", "src/app.py:Foo.bar src/app:Foo.bar src:app:Foo.bar#0", "src/app:Foo"),
    ("src:app.py", "src/app.py src/app", "src/app.ts src/app.md#0"),
    ("two.h", "two.h two.h#1", "two"),  # of two files
    ("two.c", "two.c", ""),
    ("guide%2Fdisk.md", "guide/disk.md guide/disk guide:disk.md#2", ""),  # beir, trec, table
    ("plain", "plain plain.txt", "plain.rst"),
    ("Weird_Al", "Weird_Al", ""),  # hotpotqa
)


def test_paths_are_spelled_with_their_ending_or_without(folder):
    shutil.rmtree(folder / "corpus")
    rows = ({"doc_id": known, "title": "", "text": "x"} for known, *_ in SPELLED)
    write_rows(folder / "corpus.jsonl", *rows)
    asked = {"query_id": "q1", "query": "a", "relevant_doc_ids": ["plain"]}
    write_rows(folder / "retrieval_queries.jsonl", asked)
    (folder / "judgments.jsonl").unlink()
    for known, spelled, refused in SPELLED:
        for name in spelled.split():
            run = read_lines(folder, f"q1 Q0 {name} 1 2 x")
            assert isinstance(run, runs.Run) and [*dict(run.rankings["q1"])] == [known], name
        for name in refused.split():
            *_, problem = read_lines(folder, f"q1 Q0 {name} 1 2 x")
            assert f"document {name.partition('#')[0]} is not in the corpus, wanted" in problem
    run = read_lines(folder, results('["Weird Al", 1]'), name="r.jsonl")
    assert run.rankings == {"q1": [("Weird_Al", 1.0)]}
    assert "nearest is docs:a" in read_lines(folder, "q1 Q0 docs:aa 1 2 x")[1]


AGAIN = (  # (query, passage, score) of each line; what is read for q1, in its first search
    ([("q1", "disk-full#0", 2), ("q1#2", "queue-full#0", 9)], "disk-full#0 queue-full#0", 1),
    (
        [("q1#10", "disk-full#3", 9), ("q1#2", "disk-full#2", 8), ("q1", "disk-full#0", 1),
         ("q1#2", "disk-full#0", 9), ("q1#2", "queue-full#1", 8), ("q1", "queue-full#0", -3)],
        "disk-full#0 queue-full#0 disk-full#2 queue-full#1 disk-full#3", 2,
    ),
    ([("q1#2", "disk-full#0", 1), ("q1#2", "disk-full#1", 1)], "disk-full#0 disk-full#1", 0),
    ([("q1", "disk-full#1", 1), ("q1#1", "disk-full#2", 1)], "disk-full#1", 0),
    ([("q1", "disk-full#1", 1), ("q1#x", "disk-full#2", 1)], "disk-full#1", 0),
)  # fmt: skip


def test_further_searches_stand_behind_those_before_and_a_repeat_is_paid_once(folder):
    for lines, passages, first in AGAIN:
        run = read_lines(folder, *(f"{q} Q0 {name} 1 {score} x" for q, name, score in lines))
        assert " ".join(name for name, _ in run.parts["q1"]) == passages
        assert run.parts["q1"] == runs.in_order(run.parts["q1"])
        assert run.first == ({"q1": first} if first else {})
        alone = "results of later searches (q1#2) but not of the first (q1) for 1 query: q1"
        assert (alone in " ".join(run.warnings)) == all("#" in query_id for query_id, *_ in lines)
        documents = [name.partition("#")[0] for name in passages.split()]
        assert [doc_id for doc_id, _ in run.rankings["q1"]] == list(dict.fromkeys(documents))


def test_an_id_that_exists_as_written_is_no_further_search(folder):
    rows = [{"query_id": q, "query": q, "relevant_doc_ids": ["disk-full"]}
            for q in ("q1", "q1%232")]  # fmt: skip
    write_rows(folder / "retrieval_queries.jsonl", *rows)
    (folder / "judgments.jsonl").unlink()
    lines = ["q1 Q0 disk-full 1 1 x", "q1#2 Q0 queue-full 1 9 x", "q9#2 Q0 queue-full 1 9 x"]
    endless = f"q1#{'9' * 5000}"  # more digits than int() takes
    run = read_lines(folder, *lines, "q1#3 Q0 queue-full 1 9 x", f"{endless} Q0 queue-full 1 9 x")
    assert run.rankings["q1%232"] == [("queue-full", 9.0)] and run.first == {"q1": 1}
    assert run.warnings == [f"2 unknown query ids left out: q9#2, {endless}"]


def test_lists_of_further_searches_do_not_tell_where_a_run_is_cut():
    rankings = {f"q{n}": [(f"d{m}", -m) for m in range(5 if n else 9)] for n in range(2)}
    run = runs.Run("r", rankings, [])
    both = {"q0": 3, "q1": 2}
    for first, card, wanted in (({}, 0, 5), ({"q0": 3}, 0, 5), ({"q1": 3}, 0, 9),
                                (both, 0, 0), (both, 7, 7)):  # fmt: skip
        again = run._replace(first=first, depth=card)
        assert runs.list_depth(again) == wanted, (first, card)
        assert runs.list_depth(runs.first_results(again, 2, False)) == 2


@pytest.fixture
def read(tmp_path):
    """Return what writes a run of scores a query, d000 first, and reads it."""
    names = [f"d{n:03}" for n in range(120)]
    evals = evalset.EvalSet(tmp_path, dict.fromkeys(names), dict.fromkeys("012345"), [])

    def read(*scores):
        results = ([*zip(names, row, strict=False)] for row in scores)
        rows = ({"query_id": q, "results": row} for q, row in enumerate(results))
        write_rows(tmp_path / "r.jsonl", *rows)
        return runs.read_run(tmp_path / "r.jsonl", evals)

    return read


def test_runs_are_cut_at_a_hundred_and_scores_that_agree_to_ten_decimals_are_ties(read):
    (ranking,) = read(list(range(120))).rankings.values()
    assert [d for d, _ in ranking] == [f"d{n:03}" for n in range(119, 19, -1)]
    (ranking,) = read([0.5, 0.5 + 1e-9, 0.5 + 1e-11]).rankings.values()
    assert [d for d, _ in ranking] == ["d001", "d000", "d002"]


def test_scores_of_any_size_keep_their_order(read):
    places = [n * 7 % 12 for n in range(12)]  # neither in the order of ids nor against it
    order = [f"d{places.index(place):03}" for place in range(12)]
    rows = [[-size * (n + 1) for n in places] for size in (5e-324, 1e-12, 1, 1e9)]
    for size in (5e-324, 1e-200, 1e-12, 9e-4, 1e-3, 1e9, 1e39, 1e300):
        rows.append([size * (12 - n) for n in places])
    rows.append([20.0 - n if n else 1.7014122e38 for n in places])  # Elasticsearch's pinned query
    for row in rows:
        run = read(row)
        assert [*dict(run.rankings["0"])] == order
        assert all("equal scores" not in words for words in run.warnings)
        for rank, doc_id in ((1, order[0]), (12, order[-1])):
            values = measures.per_query({"0": {doc_id: 1}}, run.rankings, ["RR"])
            assert values["0"]["RR"] == 1 / rank, row


def test_a_run_of_small_scores_is_scaled_as_a_whole_and_its_ties_stay(read):
    size = 2.0**-10  # becomes 1
    run = read([size, size * (1 - 1e-11), -size / 4], [size / 2, 0])
    assert [s for ranking in run.rankings.values() for _, s in ranking] == [
        *(1.0, 1 - 1e-11, -0.25), *(0.5, 0)]  # fmt: skip
    assert len(run.warnings) == 1  # the first two are a tie
    (ranking,) = read([2.0**-9, 2.0**-10]).rankings.values()
    assert dict(ranking)["d000"] == 2.0**-9
    assert [*dict(read([0, 0.0]).rankings["0"])] == ["d000", "d001"]


def test_equal_scores_near_the_top_are_warned_about(read):
    tenth, eleventh, twelfth = ([20.0 - min(n, most) for n in range(14)] for most in (9, 10, 11))
    assert read(eleventh, twelfth, [1.0], []).warnings == []
    for scores, many in (
        ([tenth, twelfth], "1 query"),
        ([[1.0] * 3, [3.0, 3.0 + 1e-12], tenth], "3 queries"),
    ):
        (warning,) = read(*scores).warnings
        assert warning.startswith(f"equal scores at ranks 1 to 11 in {many}: ids decide")
