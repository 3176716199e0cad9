"""A comparison is honest and refuses what it must."""

import itertools
import json
import math
import re
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import results_of, write_rows

from helpers import __main__ as commands
from helpers.measure import api, baseline, compare, evalset, evidence, files, measures, runs, stats
from helpers.measure.pages import as_junit, comparison_page, leaderboard
from helpers.measure.systems import (
    by_system,
    read_checked,
    read_compared,
    read_systems,
)
from helpers.measure.tokens import token_ids
from helpers.measure.verdicts import decided_by


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """p of the pages from 300 sign patterns: what is tested here is where it stands."""
    monkeypatch.setattr(stats, "DRAWS", 300)


def small_set(folder, n_documents, n_queries):
    """Write a set of documents d000, d001, ... and queries q0, q1, ..., answered by d000."""
    documents = [{"doc_id": f"d{n:03}", "title": "t", "text": "x"} for n in range(n_documents)]
    asked = [
        {"query_id": f"q{n}", "query": f"a | {n}\nb", "relevant_doc_ids": ["d000"],
         "kind": "odd" if n % 2 else "even"} for n in range(n_queries)
    ]  # fmt: skip
    write_rows(folder / "corpus.jsonl", *documents)
    write_rows(folder / "retrieval_queries.jsonl", *asked)
    return evalset.load(folder)


def ranked(rank, depth, n_documents):
    """Return `depth` documents with d000 at a rank, or missing where the list is shorter."""
    others = [f"d{n:03}" for n in range(1, n_documents)]
    order = [*others[: rank - 1], "d000", *others[rank - 1 :]]
    return [(d, -float(place)) for place, d in enumerate(order[:depth])]


def run_of(name, *lists):
    """Return a run that answers q0 with the first list, q1 with the second, ..."""
    return runs.Run(name, {f"q{n}": ranking for n, ranking in enumerate(lists)}, [])


# What two runs can be compared on.


@pytest.fixture
def long(tmp_path):
    """Return a set of 120 documents and what makes a run of it with a depth for each query."""
    evals = small_set(tmp_path, 120, 6)
    return evals, lambda name, *depths, rank=60: run_of(
        name, *(ranked(rank, depth, 120) for depth in depths)
    )


def test_a_run_too_short_for_the_primary_measure_is_decided_by_a_shorter_one(long):
    evals, run = long
    base, shallow = run("deep", *[100] * 6, rank=1), run("shallow", *[4] * 6, rank=2)
    found = compare.compare(evals, base, [shallow, run("full", *[100] * 6)])
    row = found["runs"][0]
    assert list(row["measures"]) == ["nDCG@4", "RR@4", "hit@4", "recall@4", "AP@4"]
    assert row["by_kind"]["odd"]["run"] == pytest.approx(1 / math.log2(3))
    pair = row["measures"]["nDCG@4"]
    assert (pair["p"], row["p_holm"]) == (2 / 64, 4 / 64)  # six losses of six, two runs
    assert (row["verdict"], row["alone"]) == (stats.TOO_FEW, stats.WORSE)
    assert list(leaderboard(found).index) == ["deep", "shallow (nDCG@4)", "full"]
    page = comparison_page(found)
    assert "the verdict on documents rests on nDCG@4" in page and "| MAP@4 " in page


def test_a_run_of_passages_that_is_cut_names_its_remedy_against_documents(long):
    evals, run = long
    parts = {f"q{n}": [(f"d000#0:{k}", -k) for k in range(1, 8 if n else 9)] for n in range(6)}
    cut = runs.Run("cut", {q: [("d000", -1.0)] for q in parts}, [], parts)
    words = "lists of cut end at 7 results (1 longer), passages, so of each query both have as "
    words += "many documents as these hold"
    remedy = "; give 100 results a query or, where there are no more, say so in its card: "
    for depth, told in ((0, f'{words}{remedy}"depth": 100'), (7, words)):
        found = compare.compare(evals, run("deep", *[100] * 6), [cut._replace(depth=depth)])
        assert told in found["runs"][0]["warnings"]


def test_a_full_answer_is_lost_only_where_both_lists_reach_it(long):
    evals, run = long
    graded = [of._replace(relevance=2) for of in evals.judgments]
    evals, base = evals._replace(judgments=graded, grades=(0, 1, 2)), run("b", *[100] * 6, rank=4)
    for depth, lost in ((3, []), (4, [*base.rankings])):
        found = compare.compare(evals, base, [run("cut", *[depth] * 6)])
        assert found["runs"][0]["full_lost"] == lost
    unnamed = comparison_page(found | {"split": "test"})
    assert "lost from the first ten: 6 of 6 queries\n" in unnamed


def test_five_queries_are_shown_on_each_side_and_ties_on_none(tmp_path):
    evals = small_set(tmp_path, 12, 16)
    before = [3, 2, 3, 3, *[9] * 6, *[2] * 6]
    after = [2, 3, 3, 3, *range(3, 9), *[4] * 6]
    base, run = (run_of("x", *(ranked(rank, 12, 12) for rank in row)) for row in (before, after))
    found = compare.compare(evals, base, [run])
    assert "recall@100" in found["base"]["means"]  # no list is cut
    (row,) = found["runs"]
    lost, won = ["q10", "q11", "q12", "q13", "q14"], ["q7", "q6", "q5", "q0", "q4"]
    assert [query["query_id"] for query in row["moved"]] == lost + won
    fields = {"query_id": "q4", "kind": "even", "query": "a | 4\nb", "run": 0.5}
    assert row["moved"][-1] == fields | {"base": pytest.approx(1 / math.log2(10))}


# The comparison.


@pytest.fixture
def many(tmp_path):
    """Return a folder with ten documents, forty dev queries, a baseline and a worse run."""
    evals = small_set(tmp_path, 10, 40)
    for name, rank in (("runs/fixed.trec", 1), ("worse.trec", 2)):
        rankings = {f"q{n}": ranked(rank if n else 11 - rank, 10, 10) for n in range(40)}
        runs.write_trec(tmp_path / name, rankings, "t")
    (tmp_path / "results.json").write_text(json.dumps(results_of(evals)))
    return tmp_path


@pytest.fixture
def typed(monkeypatch, capsys):
    """Return what calls the command with words: its exit status, and what it printed."""

    def typed(*words):
        monkeypatch.setattr(sys, "argv", [*map(str, ["helpers", "compare", "--evals", *words])])
        try:
            done = commands.main()
        except SystemExit as ended:  # by argparse
            done = ended.code
        return done, capsys.readouterr()

    return typed


@pytest.fixture
def status(many, typed):
    return partial(typed, many)


def test_the_gate_closes_for_a_worse_run_and_writes_both_forms(many, status):
    done, printed = status(many / "worse.trec", "--junit", many / "gate.xml")
    assert done == 1 and "## worse: worse" in printed.out and printed.err == ""
    assert "<failure>worse: worse, nDCG@10 0.982 to" in (many / "gate.xml").read_text()
    written = many / "comparisons" / "worse"
    assert printed.out.endswith(f"\n\nwritten: {written}.md and .json\n")
    page, found = Path(f"{written}.md").read_text(), json.loads(Path(f"{written}.json").read_text())
    assert "| q10      | even | 1.000 | 0.631 | a &#124; 10 b |\n" in page
    assert "| q10      | even | 1.000 | 0.631 | a | 10 b |\n" in printed.out
    assert comparison_page(found) == page and found["n"] == 40
    pair = found["runs"][0]["measures"]["RR@10"]
    means = (39 + 1 / 10) / 40, (39 / 2 + 1 / 9) / 40
    assert (pair["base"], pair["run"]) == pytest.approx(means)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (1, 0, 39)


@pytest.fixture
def near(many):
    """Write a run in which a query moves by .37: the mean by .009, its interval by .03."""
    swapped = runs.read_rankings(many / "runs" / "fixed.trec")
    swapped["q1"][0], swapped["q1"][1] = (swapped["q1"][1][0], 10.0), (swapped["q1"][0][0], 9.0)
    runs.write_trec(many / "near.trec", swapped, "t")
    return many / "near.trec"


def test_each_option_has_its_effect(many, status, near):
    base, worse = many / "runs" / "fixed.trec", many / "worse.trec"
    (many / "old").mkdir()
    (old := many / "old" / "fixed.trec").write_bytes(worse.read_bytes())
    not_worse, all_matters = ("--gate", "not-worse"), ("--matters", "1")
    for words, code, *shown in (
        ((worse,), 1, "dev queries, n = 40"),
        ((base, "--base", worse, *all_matters), 0, "## fixed: better, by less than matters"),
        ((base, "--base", old), 0, f"# {base} against {old}"),
        ((base, worse), 1, "# fixed, worse against baseline"),
        ((worse, "--split", "all"), 1, "all queries, n = 40"),
        ((near, "--strict", "--matters", "0.2"), 0, "of 0.2 matters", "no difference shown"),
        ((near, "--strict"), 3, "needs 72 queries"),
        ((near, worse, "--strict"), 1, "## near: too few queries to tell"),
        ((base, "--to", many / "out"), 0, f"written: {many / 'out' / 'fixed'}.md and .json"),
        ((worse, *all_matters), 1, "## worse: worse, by less than matters"),
        ((worse, *all_matters, *not_worse), 0, "## worse: worse, by less than matters"),
        ((worse, near, *not_worse), 1, "## worse: worse\n"),
        ((near, *not_worse, "--matters", "0.02"), 3, "## near: too few queries"),
    ):
        done, printed = status(*words)
        assert (done, printed.err) == (code, ""), words
        assert all(line in printed.out for line in shown), words
        head, _, page = printed.out.partition("\n")
        has_board = re.search(r"^\| baseline +\| 0.982 ", page, re.M)  # where several are named
        assert bool(has_board) == ("," in head)
    assert {path.name for path in (many / "out").iterdir()} == {"fixed.md", "fixed.json"}
    names = "fixed worse worse-all near fixed+worse near+worse worse+near"
    assert {path.stem for path in (many / "comparisons").iterdir()} == {*names.split()}


def test_what_cannot_be_compared_is_told_and_leaves_no_report(many, status):
    path, worse = many / "mine.trec", many / "worse.trec"
    path.write_text("q1 Q0 d001 1 1 t\nq1 Q0 x2 2 1 t\n")

    def refused(*words):
        done, printed = status(*words)
        assert (done, printed.out) == (2, "") and printed.err.startswith("cannot compare: ")
        return printed.err

    for line in ([path], [worse, path], [worse, "--base", path]):
        assert "document x2 is not in the corpus" in refused(*line)
    assert "no test query of" in refused(worse, "--split", "test")
    assert ".:1: cannot be read, wanted a run" in refused("")
    assert not (many / "comparisons").exists()
    told = status(worse, "--junit", worse / "gate.xml")[1].err  # after the report is written
    assert told.startswith(f"cannot compare: {worse}: ") and len(told.splitlines()) == 1


def test_what_cannot_be_compared_is_an_error_of_junit(many, status, monkeypatch):
    xml, broken, worse = many / "gate.xml", many / "mine.trec", many / "worse.trec"
    broken.write_text("q1 Q0 x2 2 1 t\n")
    faults = [  # what is typed, what the file says
        ((broken,), "document x2 is not in the corpus"),
        ((worse, "--decides", "\x1b<&é"), r'field decides is "\u001b<&é"'),
        ((many / "no\x1b",), r"no\x1b:1: cannot be read"),
        ((worse, "--evals", broken), "corpus.jsonl:1: no documents found"),
    ]
    for words, told in faults:
        xml.write_text("<testsuite/>")  # of another day
        assert status(*words, "--junit", xml)[0] == 2
        suite = ElementTree.fromstring(xml.read_text())
        assert [suite.get(n) for n in ("tests", "failures", "errors", "skipped")] == [*"1010"]
        assert suite[0][0].tag == "error" and told in suite[0][0].text, words
    xml.unlink()

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(evalset, "load", interrupted)
    assert status(worse, "--junit", xml)[0] == 130 and not xml.exists()
    former = broken.read_bytes()
    done, printed = status("--junit", broken)  # the run that was meant
    assert done == 2 and "are required: runs" in printed.err and broken.read_bytes() == former


def test_a_folder_is_no_file_of_junit_and_that_is_told_before_the_set_is_read(many, status):
    kept = many / "kept" / "a.txt"
    files.write(kept, "a")
    (many / "retrieval_queries.jsonl").write_text("{}\n")
    for folder in (many / "kept", ".", ""):
        done, printed = status(many / "worse.trec", "--junit", folder)
        told = f"--junit: {Path(folder)} is a folder, wanted a file such as gate.xml"
        assert done == 2 and told in printed.err and not printed.out
        assert kept.read_text() == "a"


def test_a_split_that_is_none_is_told_before_anything_else(many):
    evals = evalset.load(many)
    base = run_of("base", *[ranked(1, 10, 10)] * 40)
    for call in (compare.compare, compare.compare_on, api.compare_runs):
        runs_given = (base,) if call is api.compare_runs else (base, [base])
        for split in ("train", "", "DEV"):
            with pytest.raises(evalset.EvalSetError, match=f"^split is '{split}', wanted dev, tes"):
                call(evals, *runs_given, split=split)
    with pytest.raises(evalset.EvalSetError, match="^split is 'train'"):
        read_compared(evals, many / "no.trec", [], "train")


def test_only_the_queries_of_one_round_count_where_it_is_asked(many, status):
    path = many / "retrieval_queries.jsonl"
    table = [json.loads(line) for line in path.read_text().splitlines()]
    write_rows(path, *(row | {"round": 2 + (n < 12)} for n, row in enumerate(table)))
    done, printed = status(many / "worse.trec", "--round", "3")
    assert done == 1 and " dev queries of round 3, n = 12." in " ".join(printed.out.split())
    assert (many / "comparisons" / "worse-round-3.md").exists()
    done, printed = status(many / "worse.trec", "--round", "1")
    assert done == 2 and "--round is 1, wanted one of those of the queries: 2, 3" in printed.err


def test_a_missing_baseline_and_an_empty_half_are_told(many, status):
    path, saved = many / "worse.trec", many / "results.json"
    (many / "runs" / "fixed.trec").write_bytes(path.read_bytes())  # a baseline that was replaced
    replaced = status(path)[1].err
    assert "made on another runs/fixed.trec" in replaced and "make report EVALS=" in replaced
    saved.write_text("{}")
    assert "results.json:1: " in status(path)[1].err
    saved.unlink()
    words = f"cannot compare: {many} has no baseline yet, make report EVALS={many} makes it\n"
    assert status(path)[1].err.startswith(words)
    unlabelled = evalset.load(many)._replace(judgments=[])
    with pytest.raises(evalset.EvalSetError, match=f"^no single query of {many.name} has"):
        compare.compare(unlabelled, runs.Run("base", {}, []), [], None)


# The numbers of the page.


MEANS = ["nDCG@10", "MRR@10", "hit@5", "recall@10", "recall@100", "MAP"]


def tables(page):
    """Return the tables of a Markdown page, each a list of {column: cell}."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", page, re.M):
        lines = block.splitlines()
        assert len({*map(len, lines)}) == 1  # aligned
        head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


RANKS = {  # of the only answer to each of eight queries, by run
    "base": (1, 2, 4, 1, 5, 1, 2, 11),
    "mine": (3, 2, 1, 1, 1, 2, 1, 1),
    "poor": (3, 4, 9, 2, 12, 2, 5, 12),
}


@pytest.fixture
def eight(tmp_path):
    """Return a comparison of two runs of eight queries."""
    evals = small_set(tmp_path, 12, 8)
    base, *others = (
        run_of(name, *(ranked(rank, 12, 12) for rank in row)) for name, row in RANKS.items()
    )
    found = compare.compare(evals._replace(matters=0.051), base, others)
    facts = {"split": "dev", "n": 8, "matters": 0.051, "evaluation_set": evals.name}
    facts |= {"corpus_sha256": evals.corpus_hash(), "queries_sha256": evals.queries_hash()}
    assert found.items() >= facts.items()
    return found


def test_every_number_of_the_page_stands_in_its_column(eight):
    page = comparison_page(eight)
    board, mine, mine_kinds, mine_moved, poor, poor_kinds, _ = tables(page)
    for found, table in zip(eight["runs"], (mine, poor), strict=True):
        assert [row["measure"] for row in table] == MEANS
        for row, pair in zip(table, found["measures"].values(), strict=True):
            ends = f"{pair['low']:+.3f} to {pair['high']:+.3f}"
            assert row["difference"] == f"{pair['difference']:+.3f}"
            assert (row["95 %, each by itself"], row["p"]) == (ends, f"{pair['p']:.4f}")
    holm = ["0.0781", "0.0781", "1.0000", "1.0000", "1.0000", "0.0469"]
    assert [row["p (Holm)"] for row in poor] == holm
    assert (mine[0]["detectable"], poor[0]["detectable"]) == ("0.597", "0.187")
    assert mine_kinds == [
        {"kind": "even", "n": "4", "base": "0.612", "run": "0.875", "difference": "+0.263"},
        {"kind": "odd", "n": "4", "base": "0.658", "run": "0.815", "difference": "+0.158"},
    ]
    assert [row["query_id"] for row in mine_moved] == ["q0", "q5", "q6", "q2", "q4", "q7"]
    first = {"query_id": "q0", "kind": "even", "base": "1.000", "run": "0.500"}
    assert mine_moved[0] == {**first, "query": "a &#124; 0 b"}
    assert page.count("few labels: ") == 2 and page.count("Warning") == 2


def test_a_leaderboard_has_the_best_first_and_equal_ones_by_name(eight):
    (mine, poor), base = eight["runs"], eight["base"]
    rows = [row | {"name": name} for row, name in ((poor, "c"), (mine, "b"), (mine, "a"))]
    assert list(leaderboard(eight | {"runs": rows}).index) == ["base", "a", "b", "c"]
    short = base | {"primary": "nDCG@4", "means": {"nDCG@4": 0.41}}
    assert leaderboard(eight | {"base": short})["nDCG@10"]["base"] == "0.410"


# Reading.


def test_a_run_is_refused_by_what_its_card_says(many):
    evals = evalset.load(many)
    hashes = {"corpus_sha256": evals.corpus_hash(), "topics_sha256": evals.topics_hash()}
    card, run = many / "worse.json", many / "worse.trec"
    for field, value, words in (
        ("corpus_sha256", "0" * 64, "corpus_sha256 is 000000000000, wanted"),
        ("depth", "all", 'field depth is "all", wanted a number of results'),
        ("without_results", "q1", 'field without_results is "q1", wanted a list of'),
        ("without_results", [1], "field without_results is [1], wanted a list of query"),
        ("topics_sha256", 7, f"topics_sha256 is 7, wanted {evals.topics_hash()[:12]} "),
    ):
        card.write_text(json.dumps(hashes | {field: value}))
        with pytest.raises(evalset.EvalSetError) as caught:
            read_checked(run, evals)
        assert str(caught.value).startswith(f"{card}:1: {words}")
    card.write_text(json.dumps(hashes | {"chunker": "mine", "depth": 7}))
    read = read_checked(run, evals)
    assert (read.chunker, read.depth, read.warnings) == ("mine", 7, [])


def test_chunks_that_were_cut_anew_are_refused_and_older_results_told(quoted, status_of_baseline):
    folder, path = quoted[0], quoted[0] / "chunks" / "fixed.jsonl"
    done, printed = status_of_baseline()
    assert done == 0 and "Warning (baseline)" not in printed.out
    content, cut = json.loads((folder / "results.json").read_text()), path.read_text()
    rows = [row for _, row in files.rows(path)]
    write_rows(path, *(row | {"end": row["end"] // 2} for row in rows))
    done, printed = status_of_baseline()
    assert done == 2 and "results.json: made on another chunks/fixed.jsonl: " in printed.err
    path.write_text(cut)
    content["run"].pop("chunks_sha256")
    (folder / "results.json").write_text(json.dumps(content))
    done, printed = status_of_baseline()
    assert done == 0 and "results.json has no hash of chunks/fixed.jsonl, so its" in printed.out
    baseline.baseline_command(evalset.load(folder))
    content = json.loads((folder / "results.json").read_text())
    assert content["run"]["chunks_sha256"] == files.file_hash(path)


def test_a_run_of_documents_needs_no_hash_of_chunks(quoted, status_of_baseline, typed):
    card = quoted[0] / "runs" / "fixed.json"
    facts = json.loads(card.read_text())
    facts.pop("chunks_sha256")
    card.write_text(json.dumps(facts))
    assert "Warning (fixed): the card has no chunks_sha256, so" in status_of_baseline()[1].out
    assert "the card" not in typed(quoted[0], card.with_suffix(".trec"))[1].out


LACKS = "the card has no corpus_sha256 and no topics_sha256, so the run may be of another set: "
CARDS = [  # a card, the fields of Run that it gives, whether it is told to lack hashes
    ({"one_of": "agent"}, {"one_of": "agent"}, True),
    ({"one_of": None, "chunker": None}, {"one_of": "", "chunker": ""}, True),
    ({"one_of": 7}, {"one_of": ""}, True),
    ({}, {"depth": 0}, True),
    (None, {"depth": 0}, False),
]


@pytest.mark.parametrize(("content", "fields", "told"), CARDS)
def test_a_card_may_hold_a_single_fact_and_the_command_adds_hashes(
    many, monkeypatch, capsys, content, fields, told
):
    evals, run, card = evalset.load(many), many / "worse.trec", many / "worse.json"
    if content is not None:
        card.write_text(json.dumps(content))
    read = read_checked(run, evals)
    assert fields.items() <= read._asdict().items()
    words = [f"{LACKS}make card RUN={run} adds what is missing"] * told
    assert read.warnings == words
    monkeypatch.setattr(sys, "argv", ["helpers", "card", str(run), "--evals", str(many)])
    assert commands.main() == 0 and capsys.readouterr().out == f"card: {card}\n"
    hashes = {"corpus_sha256": evals.corpus_hash(), "topics_sha256": evals.topics_hash()}
    assert json.loads(card.read_text()) == (content or {}) | hashes
    written = card.read_bytes()
    assert commands.main() == 0 and card.read_bytes() == written
    card.write_text(json.dumps(hashes | {"corpus_sha256": "0" * 64}))
    assert commands.main() == 1 and "wanted" in capsys.readouterr().err
    assert json.loads(card.read_text())["corpus_sha256"] == "0" * 64


def test_a_run_named_as_a_card_is_a_run(many, status, monkeypatch, capsys):
    rows = runs.read_rankings(many / "worse.trec").items()
    write_rows(many / "run.json", *({"query_id": q, "results": found} for q, found in rows))
    done, printed = status(many / "run.json")
    assert done == 1 and "## run: worse" in printed.out
    assert "Warning (run): run.json is named as a card, so it has none" in printed.out
    page = (many / "run.json").read_bytes()
    for path, told in ((many / "run.json", "wanted the name run.jsonl"), (".", ".:1: cannot be")):
        monkeypatch.setattr(sys, "argv", ["h", "card", str(path), "--evals", str(many)])
        assert commands.main() == 1 and told in capsys.readouterr().err
    assert (many / "run.json").read_bytes() == page


UNLIKE = [  # the second run of a system, and what is said
    ({"depth": 50}, "b: one_of is 'agent' as of a, with depth 50 and none, wanted runs alike"),
    ({"chunker": "fixed"}, "with chunker fixed and none"),
    ({"parts": {"q0": [("d000#0:9", 1.0)]}}, "with results passages and documents"),
]


@pytest.mark.parametrize(("differs", "said"), UNLIKE)
def test_runs_of_one_system_must_be_alike(differs, said):
    first, second = (runs.Run(name, {"q0": []}, [], one_of="agent") for name in "ab")
    with pytest.raises(evalset.EvalSetError, match=said):
        by_system([first, second._replace(**differs)])


@pytest.fixture
def status_of_baseline(quoted, typed):
    """Measure the baseline of a set with quotes; return what compares its run of chunks with it."""
    baseline.baseline_command(evalset.load(quoted[0]))
    return partial(typed, quoted[0], quoted[0] / "runs" / "fixed.jsonl")


def divide(folder, n_test, answers=()):
    """Make the first queries of a set its test half and say what answers them; return the set."""
    rows = [row for _, row in files.rows(folder / "retrieval_queries.jsonl")]
    for n, row in enumerate(rows):
        row["split"] = "test" if n < n_test else "dev"
        row["relevant_doc_ids"] = answers[n : n + 1] or row["relevant_doc_ids"]
    write_rows(folder / "retrieval_queries.jsonl", *rows)
    evals = evalset.load(folder)
    (folder / "results.json").write_text(json.dumps(results_of(evals)))
    return evals


def test_a_run_of_the_other_half_is_told_by_its_half(many, status):
    divide(many, 9)
    (many / "half.trec").write_text("q1 Q0 d000 1 2 t\nq2 Q0 d000 1 2 t\n")
    done, printed = status(many / "half.trec")
    assert done == 2 and "half: none of its first ten documents is judged: " in printed.err
    lacks = "settings.json: field confirmed lacks half: choose on dev, then name what you chose, "
    for split in ("test", "all"):
        done, printed = status(many / "half.trec", "--split", split)
        assert done == 2 and lacks + 'with the day: "confirmed": {"half": "2' in printed.err
    (many / "settings.json").write_text('{"confirmed": {"half": "2026-11-23"}}')
    assert status(many / "half.trec", "--split", "test")[0] != 2
    done, printed = status(many / "half.trec", many / "worse.trec", "--split", "all")
    assert done == 2 and "lacks worse: " in printed.err
    assert '"half": "2026-11-23", "w' in printed.err


def test_a_report_on_test_says_beside_it_what_dev_said(many, status):
    (many / "settings.json").write_text('{"confirmed": {"worse": "2026-11-23"}}')
    divide(many, 15)
    done, printed = status(many / "worse.trec", "--split", "test")
    (row,) = json.loads((many / "comparisons" / "worse-test.json").read_text())["runs"]
    dev, test, between = (row["halves"][name] for name in ("dev", "test", "test minus dev"))
    assert (dev["n"], test["n"], done) == (25, 15, 1) and len(row["halves"]) == 3
    assert between["difference"] == test["difference"] - dev["difference"]
    assert test["means"] == row["means"] != dev["means"]
    for line in ("- Test minus dev: +0.0", ", confirmed\n", "- Dev (n = 25): -0.369 (-"):
        assert line in printed.out
    assert "- Dev:" not in status(many / "worse.trec")[1].out  # choosing needs no test


def test_queries_apart_from_dev_are_told_where_others_share_an_answer(many, status):
    pages = [row for _, row in files.rows(many / "corpus.jsonl")]
    pages[1]["text"] = "another"
    write_rows(many / "corpus.jsonl", *pages)
    (many / "settings.json").write_text('{"confirmed": {"worse": "2026-11-23"}}')
    divide(many, 15, ["d000"] * 5 + ["d001"] * 10)  # five share their answer with dev
    _, printed = status(many / "worse.trec", "--split", "test")
    (row,) = json.loads((many / "comparisons" / "worse-test.json").read_text())["runs"]
    apart = row["halves"][compare.APART]  # d001 goes from rank 2 to 1
    assert (apart["n"], apart["difference"]) == (10, pytest.approx(1 - 1 / math.log2(3)))
    assert "- Test apart from dev (n = 10): +0.369 (" in printed.out
    divide(many, 15, ["d001"] * 15)  # none does: what they say is what test says
    _, printed = status(many / "worse.trec", "--split", "test")
    told = [line for line in printed.out.split("\n") if line.startswith("- Test")]
    assert [line.split(":")[0] for line in told] == ["- Test (n = 15)", "- Test minus dev"]


def test_the_newest_round_is_told_by_itself(many, status):
    (many / "settings.json").write_text('{"confirmed": {"worse": "2026-11-23"}}')
    divide(many, 15)
    path = many / "retrieval_queries.jsonl"
    rows = [row for _, row in files.rows(path)]
    asked = [row["query_id"] for row in rows if row["split"] == "test"]
    for row in rows:
        row["round"] = 3 if row["query_id"] in asked[:4] else 2
    write_rows(path, *rows)
    _, printed = status(many / "worse.trec", "--split", "test")
    assert "- Test, newest round (n = 4): " in printed.out
    (row,) = json.loads((many / "comparisons" / "worse-test.json").read_text())["runs"]
    status(many / "worse.trec", "--split", "test", "--round", "3")
    (alone,) = json.loads((many / "comparisons" / "worse-test-round-3.json").read_text())["runs"]
    assert row["halves"][compare.NEWEST]["difference"] == alone["measures"]["nDCG@10"]["difference"]


def test_systems_are_the_runs_of_the_folder_by_name(many):
    (many / "systems").mkdir()
    for name in ("b.trec", "c.trec", "a.trec", "d.py"):
        (many / "systems" / name).write_text("q1 Q0 d001 1 1 t\n")
    assert [run.name for run in read_systems(evalset.load(many))] == ["a", "b", "c"]


# Halves, queries without an answer, evidence.


def test_queries_without_an_answer_are_left_out_and_told_apart(many, monkeypatch):
    monkeypatch.setattr(measures, "UNANSWERABLE", 1)
    aside = {"query_id": "z", "query": "nothing", "relevant_doc_ids": [], "kind": "none"}
    with (many / "retrieval_queries.jsonl").open("a") as file:
        file.write(json.dumps(aside) + "\n")
    evals = evalset.load(many)
    base = runs.read_run(many / "runs" / "fixed.trec", evals)
    low, high = (
        base._replace(rankings=base.rankings | {"z": [("d001", score)]}, name=name)
        for name, score in (("low", -70.0), ("high", 1e9))
    )
    found = compare.compare(evals, low, [*[high._replace(one_of="s")] * 2, base])
    apart = [row["told_apart"].get("AUROC") for row in (found["base"], *found["runs"])]
    assert apart == [1, 0, None] and found["n"] == 40
    assert found["runs"][1]["same_run"]  # though it wasn't asked what nothing answers
    page = comparison_page(found)
    words = "higher first score than one of the 1 without (AUROC; 0.5 is chance): "
    assert page.count(words) == 1
    assert words + "base 1.00 (1.00 to 1.00), run 0.00 (0.00 to 0.00)." in page


def test_runs_of_one_system_are_one_row_of_means_with_their_spread(tmp_path):
    evals = small_set(tmp_path, 12, 6)
    places = {"first": (1, 2, 1, 2, 1, 2), "second": (2, 1, 2, 1, 2, 2), "other": (1,) * 6}
    base = run_of("base", *[ranked(2, 12, 12)] * 6)
    first, second, other = (
        run_of(name, *(ranked(rank, 12, 12) for rank in row)) for name, row in places.items()
    )
    group = [run._replace(one_of="agent") for run in (first, second)]
    mixed = [group[0], other, first, group[1], first]
    assert by_system(mixed) == [group, [other], [first], [first]]
    found = compare.compare(evals, base, [group[1], other, group[0]])
    agent, alone = found["runs"]
    low, high = ((n + (6 - n) / math.log2(3)) / 6 for n in (2, 3))  # so many of six come first
    assert agent["averaged"] == pytest.approx({"runs": 2, "low": low, "high": high})
    pair = agent["measures"]["nDCG@10"]
    assert pair["run"] == agent["means"]["nDCG@10"] == pytest.approx((low + high) / 2)
    assert (agent["name"], agent["unjudged"]) == ("agent", []) and alone["unjudged"]
    page = comparison_page(found)
    assert "# agent, other against base" in page and "## agent: " in page
    assert "Each value is the mean of 2 runs of this system, query by query; their means " in page
    assert f"of nDCG@10 go from {low:.3f} to {high:.3f}." in page
    short = group[1]._replace(rankings=runs.first_results(second, 1, False).rankings)
    (row,) = compare.compare(evals, base, [group[0], short])["runs"]
    assert row["primary"] == "nDCG@1" and row["averaged"]["low"] == pytest.approx(2 / 6)


def test_the_command_takes_runs_of_one_system_by_their_cards(many, status):
    evals = evalset.load(many)
    for name in ("a", "b"):
        (many / f"{name}.trec").write_text((many / "worse.trec").read_text())
        runs.write_card(many / f"{name}.json", evals, {"one_of": "twice", "system": "sampled"})
    runs.write_card(many / "worse.json", evals, {"system": "sampled"})  # says what it is, no more
    done, printed = status(many / "a.trec", many / "b.trec", many / "worse.trec")
    assert done == 1 and "# twice, worse against baseline" in printed.out
    assert printed.out.count("mean of 2 runs") == 1 and "a+b+worse.md" in printed.out


@pytest.fixture
def quoted(tmp_path):
    """Return a set of twelve quotes, and what writes a run of passages of so many characters."""
    quote, asked, labels = "the answer is here", [], []
    body = f"{'x' * 100}{quote}{'y' * 100}"
    for n in range(12):
        asked.append({"query_id": f"q{n}", "query": f"answer {n}", "relevant_doc_ids": ["a"]})
        label = {"query_id": f"q{n}", "doc_id": "a", "relevance": 2, "evidence": quote}
        labels.append(label)
    documents = [{"doc_id": doc_id, "title": "", "text": body} for doc_id in "ab"]
    write_rows(tmp_path / "corpus.jsonl", *documents)
    write_rows(tmp_path / "retrieval_queries.jsonl", *asked)
    write_rows(tmp_path / "judgments.jsonl", *labels)

    def write(name, start, end, n=2):
        found = [[f"a#{start}:{end}", 9], *([f"b#{k}:{k + 1}", -k] for k in range(1, n))]
        rows = ({"query_id": f"q{k}", "results": found} for k in range(12))
        write_rows(tmp_path / f"{name}.jsonl", *rows)
        return tmp_path / f"{name}.jsonl"

    return tmp_path, write


def test_settings_list_every_measure_that_can_decide():
    able = {*measures.LESSON, *evidence.OF_EVIDENCE, "nDCG-exp@10"}
    field = files.schema("settings").fields["decides"]
    assert able <= {*field["enum"]} <= able | {*measures.MEASURES}
    assert field["description"] == f"one of: {', '.join(field['enum'])}"


@pytest.fixture
def passages(quoted, typed):
    """Return the folder, and what compares a run by name: `base` has all quotes, `bits` none."""
    folder, write = quoted
    base = write("base", 90, 150)
    write("bits", 0, 40)
    return folder, lambda name, *words: typed(folder, "--base", base, folder / name, *words)


HIT = ("--decides", "evidence-hit@5")
DECIDED = [  # run, options, exit status, what is said
    ("bits", ("--matters", ".3"), 0, [
        "rests on nDCG@10", "## bits: no difference shown",
        "- Evidence: worse, evidence nDCG@10 1.000 to 0.000",
        "- They disagree, and nDCG@10 decides."]),
    ("bits", (*HIT, "--matters", ".3"), 1, [
        "rests on evidence-hit@5", "## bits: worse\n",
        "- Documents: no difference shown, nDCG@10 1.000 to 1.000",
        "- Evidence: worse, evidence hit@5 1.000 to 0.000",
        "- They disagree, and evidence-hit@5 decides."]),
    ("base", HIT, 0, ["base.jsonl: the same run\n"]),
    ("bits", (*HIT, "--gate", "not-worse"), 1, ["## bits: worse\n"]),
    ("bits", ("--decides", "recall@10"), 0, ["rests on recall@10", "## bits: too few"]),
    ("bits", ("--decides", "nDCG-exp@10"), 0, ["rests on nDCG-exp@10", "| nDCG-exp@10 "]),
]  # fmt: skip


def test_evidence_decides_where_it_is_named(passages):
    folder, status = passages
    for name, words, code, lines in DECIDED:
        done, printed = status(f"{name}.jsonl", *words)
        assert (done, printed.err) == (code, ""), words
        assert all(line in printed.out for line in lines), (words, printed.out)
    (folder / "settings.json").write_text('{"decides": "evidence-hit@5", "matters": 1}')
    assert "## bits: worse\n" in status("bits.jsonl")[1].out  # all is lost, which is no less


UNDECIDED = [  # run, options, settings, what is said
    ("bits.jsonl", "--decides evidence-8000-tokens", {}, "bits: evidence-8000-tokens cannot decide,"
     " its lists end before that, wanted one of evidence-hit@5, "),
    ("bits.jsonl", "--decides evidence-9-tokens", {},
     'decides is "evidence-9-tokens", wanted one of: nDCG@10, '),
    ("bits.jsonl", "--matters 0", {}, "field matters is 0.0, wanted a number above 0, up to 1"),
    ("bits.jsonl", "--matters nan", {}, "field matters is NaN, wanted a number above 0, up to 1"),
    ("bits.jsonl", "--matters 1.01", {}, "field matters is 1.01, wanted a number above 0, up to 1"),
    ("bits.jsonl", "--pairs 0", {}, "--pairs is 0, wanted a number from 1"),
    ("bits.jsonl", "", {"decides": "nDCG-exp@10", "highest_grade": 21},
     "settings.json: highest_grade is 21, wanted up to 20 for nDCG-exp@10"),
    ("documents.trec", "", {"decides": "evidence-hit@5"},
     "evidence-hit@5 cannot decide, it or its base ranks no"),
]  # fmt: skip


def test_what_cannot_decide_is_refused(passages):
    folder, status = passages
    (folder / "documents.trec").write_text("".join(f"q{n} Q0 a 1 1 t\n" for n in range(12)))
    for name, words, settings, said in UNDECIDED:
        (folder / "settings.json").write_text(json.dumps(settings))
        done, printed = status(name, *words.split())
        assert done == 2 and said in printed.err and printed.out == "", (words, printed.err)
    assert not (folder / "comparisons").exists()
    evals, run = evalset.load(folder), run_of("run", ranked(1, 1, 2))
    evals = evals._replace(grades=tuple(range(22)), decides="nDCG-exp@10")
    with pytest.raises(evalset.EvalSetError, match="highest_grade is 21"):
        compare.compare(evals, run, [run])  # as the baseline's own measuring does


# What passages cost.

SPANS = {"whole": (0, 218), "half": (40, 180), "least": (90, 130)}
COSTS = [{"whole": 0, "least": 0}, {"whole": 1, "half": 12, "least": 2}]  # queries that it misses


def of_passage(span, missed=0, name="", depth=1, **more):
    """Return a run of a passage, for the first `missed` of the wrong document, and one token."""
    start, end = SPANS[span]
    ids = (f"{'b' if n < missed else 'a'}#{start}:{end}" for n in range(12))
    parts = {f"q{n}": [(chunk, 1.0), ("b#0:1", 0.5)] for n, chunk in enumerate(ids)}
    rankings = {q: [(of[0][0][0], 1.0)] for q, of in parts.items()}
    return runs.Run(name or span, rankings, [], parts, depth=depth, **more)


@pytest.fixture
def costed(quoted):
    """Return a set with one answer in part, a run of documents, and the tokens of each passage."""
    evals = evalset.load(quoted[0])
    first, *labels = evals.judgments
    body = evals.documents["a"].retrieval_text
    tokens = {name: len(token_ids(body[start:end])) for name, (start, end) in SPANS.items()}
    evals = evals._replace(judgments=[first._replace(relevance=1), *labels])
    return evals, run_of("documents", *[ranked(1, 1, 2)] * 12), tokens


def test_what_passages_cost_and_bring(costed):
    evals, documents, tokens = costed
    for missed in COSTS:
        others = [of_passage(name, n) for name, n in missed.items()]
        found = compare.compare(evals, documents, others)
        costs, page = {row["name"]: row for row in found["costs"]}, comparison_page(found)
        assert [*costs] == sorted(missed, key=tokens.get)
        for name, n in missed.items():
            values = [costs[name][of] for of in ("k", "tokens", "recall", "full")]
            by_hand = [1, tokens[name], 1 - n / 12, 1 - max(n - 1, 0) / 11]
            assert values == pytest.approx(by_hand), (name, missed)
            assert f"| {name} | 1 | {tokens[name]} | {1 - n / 12:.3f} |" in " ".join(page.split())
    in_part = evals._replace(judgments=[label._replace(relevance=1) for label in evals.judgments])
    found = compare.compare(in_part, documents, others)
    assert {row["full"] for row in found["costs"]} == {None}


def test_costs_are_told_of_several_systems_at_each_depth_that_all_reach(costed):
    evals, documents, tokens = costed
    base, whole, least = (of_passage(name, depth=10) for name in ("half", "whole", "least"))
    twice = [of_passage("least", n, name=f"run {n}", one_of="agent") for n in (0, 3)]
    for alone in ([whole], twice, [whole, documents]):
        found = compare.compare(evals, of_passage("half"), alone)
        assert "costs" not in found and "cost in tokens" not in comparison_page(found)
    found = compare.compare(evals, of_passage("half"), [whole, *twice])["costs"]
    recalls = {(row["name"], row["k"]): row["recall"] for row in found}
    assert recalls == pytest.approx({("half", 1): 1, ("whole", 1): 1, ("agent", 1): 21 / 24})
    numbered = whole._replace(name="numbers", parts={"q0": [("a#0", 1.0)]})  # of no known set
    found = compare.compare(evals, base, [whole, least, documents._replace(depth=10), numbered])
    points = {(row["name"], row["k"]): row for row in found["costs"]}
    assert {*points} == {*itertools.product(("half", "whole", "least"), (1, 3, 5, 10))}
    for (name, k), row in points.items():
        assert row["tokens"] == tokens[name] + (k > 1)


def test_full_answers_are_compared_on_the_queries_that_have_one(tmp_path):
    evals = small_set(tmp_path, 12, 4)
    graded = [evalset.Judgment(f"q{n}", "d000", 2 if n else 1) for n in range(4)]
    evals = evals._replace(judgments=graded, grades=(0, 1, 2))
    base, run = (run_of(n, *(ranked(r, 12, 12) for r in (1, 1, 1, last))) for n, last in
                 (("base", 6), ("run", 2)))  # fmt: skip
    found = compare.compare(evals, base, [run])
    full = found["runs"][0]["full"]
    assert (full["n"], [*full["measures"]]) == (3, [*measures.FULL])
    pair = full["measures"]["full hit@5"]
    assert (pair["base"], pair["run"]) == pytest.approx((2 / 3, 1))
    page = comparison_page(found)
    assert "only in part. 3 of 4 queries have a full answer, and of these:\n\n| measure" in page
    assert "Of all 4, full hit@5 is 0.500 for the base and 0.750 for the run.\n" in page
    (short,) = compare.compare(evals, base._replace(depth=4), [run])["runs"]
    assert list(short["full"]["measures"]) == ["full hit@4", "full RR@4", "full recall@4"]
    (two_grades,) = compare.compare(evals._replace(full_grade=3), base, [run])["runs"]
    assert two_grades["full"] == {}


def test_the_page_says_who_searched_again(quoted):
    folder, write = quoted
    evals = evalset.load(folder)
    rows = [{"query_id": f"q{n}", "results": [["b#0:1", 1]]} for n in range(11)]
    for n in range(8):
        found = "a#90:150" if n < 4 else "b#0:9"
        rows.append({"query_id": f"q{n}#2", "results": [[found, 9]]})
    write_rows(folder / "agent.jsonl", *rows)
    base, agent = (
        read_checked(path, evals) for path in (write("base", 90, 150, 10), folder / "agent.jsonl")
    )
    page = comparison_page(compare.compare(evals, base, [agent]))
    assert "For 8 queries agent searched more than once. Whatever it found was read, so" in page
    cut = ["evidence hit@4", "evidence nDCG@4"]
    assert evidence.deciding_measure(cut, "evidence-hit@10") == "evidence hit@4"
    agent = agent._replace(first=dict.fromkeys(agent.parts, 1))  # no list is cut off
    (row,) = compare.compare(evals, agent, [agent])["runs"]
    assert row["evidence"]["measures"][evidence.recall_name(8000)]["run"] == pytest.approx(4 / 12)
    documents = agent._replace(parts={}, first={"q0": 1, "z": 1})
    (row,) = compare.compare(evals, documents, [documents])["runs"]
    assert row["searches"] == {"name": "agent", "queries": 1}
    aside = agent._replace(first={"z": 1})  # asked again for what is not measured
    assert "searches" not in compare.compare(evals, aside, [base])["runs"][0]


BUDGET = "stand behind those of the first, and nDCG@10 sees ten of them, so evidence-2000-tokens"
TEN = "sees ten of them, but it decides: both would have to rank passages, enough for a budget of"
AGAIN = [  # base, run, `decides`, what decides about the run, its verdict, what the page says
    ("once", "again", "nDCG@10", "evidence-2000-tokens", stats.WORSE, BUDGET),
    ("again", "once", "nDCG@10", "evidence-2000-tokens", stats.BETTER, BUDGET),
    ("short", "again", "nDCG@10", "nDCG@10", stats.TOO_FEW, TEN),
    ("documents", "again", "nDCG@10", "nDCG@10", stats.SAME_RUN, TEN),
    ("once", "again", "recall@10", "recall@10", stats.TOO_FEW, ""),
    ("once", "again", "evidence-hit@5", "evidence-hit@5", stats.WORSE, ""),
    ("once", "twin", "nDCG@10", "nDCG@10", stats.SAME_RUN, ""),
]


def test_one_list_of_several_searches_is_not_decided_by_its_first_ten_results(quoted):
    folder, write = quoted
    evals = evalset.load(folder)
    run = read_checked(write("once", 90, 150, 60), evals)
    once = run._replace(parts={q: of[: 50 + n % 7] for n, (q, of) in enumerate(run.parts.items())})
    lost = {q: of[1:] for q, of in run.parts.items()}  # the evidence, not its document
    again = run._replace(name="again", parts=lost, first=dict.fromkeys(lost, 30))
    systems = {"once": once, "again": again, "twin": once._replace(name="twin"), "short": run}
    systems["documents"] = once._replace(name="documents", parts={})
    for base, name, decides, decided, verdict, words in AGAIN:
        found = compare.compare_on(evals, systems[base], [systems[name]], "dev", decides=decides)
        (row,) = found["runs"]
        assert (decided_by(row, decides), row["decision"]["verdict"]) == (decided, verdict)
        page = comparison_page(found)
        assert words in page and ("sees ten" in page) == bool(words)
        reason = (row["evidence"] if decided.startswith("evidence") else row)["reason"]
        assert f"## {name}: {verdict}\n" in page and f"\n{reason}." in page
        assert f"{name}: {verdict}, {decided} " in as_junit(found, [0])
    both = compare.compare_on(evals, systems["once"], [again, systems["twin"]], "dev")
    assert "| verdict on documents" in comparison_page(both)
    asked = evals.queries.items()
    halves = {q: query._replace(split="test" if q < "q5" else "dev") for q, query in asked}
    evals = evals._replace(queries=halves)
    found = compare.compare(evals, once, [again, systems["twin"]])
    compare.join_halves(found, evals, once, [again])
    row, not_chosen = found["runs"]
    assert [row["halves"][half]["difference"] for half in ("dev", "test")] == [-1, -1]
    assert "halves" not in not_chosen


def test_a_verdict_says_whether_labels_to_come_could_turn_it(tmp_path):
    evals = small_set(tmp_path, 12, 8)
    base, run = run_of("base", *[ranked(1, 2, 12)] * 8), run_of("run", *[ranked(2, 2, 12)] * 8)
    found = compare.compare(evals, base, [run, base])
    page, (row, same) = comparison_page(found), found["runs"]
    words = "nDCG@2 could differ by -0.369 (worse) to +0.140 (better), so the verdict may change"
    assert page.count(words) == page.count("so the verdict may change") == 1
    least, _ = row["unjudged"]  # d001 stands at 2 and 1: it is wrong, or as good as d000
    assert least["difference"] == row["measures"]["nDCG@2"]["difference"]
    assert same["unjudged"] == []  # the same list twice: no grade tells them apart
    zeros = [evalset.Judgment(f"q{n}", "d001", 0) for n in range(8)]
    known = evals._replace(judgments=[*evals.judgments, *zeros])
    for of in (known, evals._replace(decides="RR@10")):
        assert compare.compare(of, base, [run])["runs"][0]["unjudged"] == []


UNSETTLED = [  # lists of eight queries that begin with d001, the second of others, matters
    (1, "d001", 0.05, True),
    (1, "d001", 1, False),  # the verdict stands, and it is no difference
    (5, "d002", 0.05, False),  # too few of them differ, but the rest could
    (8, "d001", 0.05, False),
]


def test_where_no_label_can_settle_it_the_page_says_so(tmp_path):
    evals = small_set(tmp_path, 12, 8)
    base = run_of("base", *[[("d000", 2.0), ("d001", 1.0)]] * 8)
    for swapped, rest, matters, told in UNSETTLED:
        orders = [["d001", "d000"] if n < swapped else ["d000", rest] for n in range(8)]
        run = run_of("run", *([(d, -n) for n, d in enumerate(order)] for order in orders))
        found = compare.compare(evals._replace(matters=matters), base, [run])
        words = "either way. Reading them can't settle it: that takes more queries"
        assert (words in comparison_page(found)) == told, (swapped, rest, matters)


def test_the_pairs_that_move_most_are_listed_without_the_run_that_brought_them(tmp_path):
    evals = small_set(tmp_path, 12, 2)

    def run(name, first, second):
        lists = ([(f"d00{n}", 9.0 - place) for place, n in enumerate(of)] for of in (first, second))
        return run_of(name, *lists)

    base = run("base", "012", "012")
    others = [run("one", "30", "01"), run("two", "01", "04"), run("late", "03", "01")]
    weighed = [("q0", "d003"), ("q0", "d001"), ("q1", "d001"), ("q1", "d004")]
    for n in range(1, 6):  # d002 is cut off: all lists of the others have two
        rows = compare.pairs_to_read(evals, base, others, None, n)
        assert [tuple(row.values()) for row in rows] == sorted(weighed[:n])
    assert compare.pairs_to_read(evals, base, others, "test", 99) == []


def test_the_command_adds_pairs_to_the_list_and_says_who_opens_it(many, status):
    worse, listed = many / "worse.trec", many / "to_read.jsonl"
    for _ in range(2):
        done, printed = status(worse, "--pairs", 3)
        assert done == 1
        assert printed.out.endswith(f"; 3 in {listed}, which the panel opens\n")
    assert [{*row} for _, row in files.rows(listed)] == [{"query_id", "doc_id"}] * 3
    assert "to read" not in status(worse)[1].out


def test_a_verdict_on_offered_labels_alone_is_told():
    changes, qrels = {"q1": (0.5, 1.0), "q2": (1.0, 1.0)}, {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    told = "it rests on offered labels only: all relevant ones of the 1 query that differ"
    bare = evalset.EvalSet(evalset.DEFAULT, {}, {}, [])
    for offered, warnings in (
        ({("q1", "a"), ("q1", "b")}, [told]),
        ({("q1", "b"), ("q2", "c")}, []),
        ((), []),
    ):
        evals = bare._replace(offered=dict.fromkeys(offered, "m-1"))
        assert compare._offered_warnings(evals, qrels, changes) == warnings
    assert compare._offered_warnings(bare, qrels, {}) == []
