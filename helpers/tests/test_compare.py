"""A comparison is honest and refuses what it must."""

import itertools
import json
import math
import re
import subprocess
import sys

import pytest
from conftest import results_of, write_rows

from helpers import __main__ as commands
from helpers import compare, evalset, evidence, runs, stats
from helpers.text import inert


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """p of the pages from 300 sign patterns: what is tested here is where it stands."""
    monkeypatch.setattr(stats, "DRAWS", 300)


# What two runs can be compared on.


@pytest.fixture
def long(tmp_path):
    """Return a set of 120 documents and six queries."""
    documents = [{"doc_id": f"d{n:03}", "title": "t", "text": "x"} for n in range(120)]
    write_rows(tmp_path / "corpus.jsonl", *documents)
    asked = [{"query_id": f"q{n}", "query": "a", "relevant_doc_ids": ["d000"]} for n in range(6)]
    write_rows(tmp_path / "retrieval_queries.jsonl", *asked)
    return evalset.load(tmp_path)


def test_a_deeper_measure_is_taken_at_the_depth_of_both_and_named_by_it(long):
    evals = long

    def run(name, *depths, at=60):
        """Return a run with the answer at rank `at`, or missing where the list is shorter."""
        order = [*(f"d{n:03}" for n in range(1, at)), "d000", *(f"d{n:03}" for n in range(at, 120))]
        return runs.Run(name, {f"q{q}": [(d, -float(r)) for r, d in enumerate(order[:depth])]
                               for q, depth in enumerate(depths)}, [])  # fmt: skip

    full, fifty = run("full", *[100] * 6), run("fifty", *[50, 50, 50, 50, 50, 20])
    for base, other in ((full, fifty), (fifty, full), (fifty, run("x", *[50] * 6))):
        (row,) = compare.compare(evals, base, [other])["runs"]
        assert list(row["measures"]) == [
            "nDCG@10", "RR@10", "hit@5", "recall@10", "recall@50", "AP@50"]  # fmt: skip
        assert all(at["base"] == at["run"] == 0 for at in row["measures"].values())
        assert row["warnings"][0].endswith("there: recall@50 for recall@100, AP@50 for AP")
        assert row["warnings"][0].startswith("fifty returns at most 50 documents a query, so both")
    found = compare.compare(evals, full, [fifty, run("whole", *[100, 3, 3, 3, 3, 3])])
    assert found["base"]["means"]["recall@100"] == 1 and found["base"]["warnings"] == []
    short, whole = found["runs"]
    assert short["means"]["recall@50"] == 0 and whole["measures"]["recall@100"]["base"] == 1
    assert not any("returns at most" in words for words in whole["warnings"])
    assert compare.compare(evals, fifty, [full])["base"]["means"]["recall@50"] == 0

    shallow = run("shallow", *[4] * 6, at=2)
    found = compare.compare(evals, run("deep", *[100] * 6, at=1), [shallow, full])
    row = found["runs"][0]
    assert list(row["measures"]) == ["nDCG@4", "RR@4", "hit@4", "recall@4", "AP@4"]
    assert row["primary"] == "nDCG@4" and row["by_kind"]["unspecified"]["run"] == pytest.approx(
        1 / math.log2(3)
    )
    assert len(row["moved"]) == compare.MOVED
    at = row["measures"]["nDCG@4"]
    assert at["p"] == 2 / 64 < 0.05 < row["p_holm"] == 4 / 64  # six losses of six, two runs
    assert row["verdict"] == stats.TOO_FEW and "p (Holm) = 0.0625" in row["reason"]
    alone = compare.compare(evals, run("deep", *[100] * 6, at=1), [shallow])["runs"][0]
    assert (alone["verdict"], alone["reason"]) == (stats.WORSE, "p = 0.0312, below 0.05")
    board = compare.board(found)
    assert list(board.index) == ["deep", "shallow (nDCG@4)", "full"]
    page = compare.comparison_page(found)
    assert "By kind" not in page  # there is one
    assert "the verdict rests on nDCG@4" in page and "| MAP@4 " in page and "| MRR@4 " in page
    one = compare.compare(evals, full, [run("one", *[1] * 6)])["runs"][0]
    assert any("of the first 1 of" in words for words in one["warnings"])  # where both reach
    assert one["warnings"][0].startswith("one returns at most 1 document a query")
    assert compare.compare(evals, full, [runs.Run("none", {}, [])])["runs"][0]["primary"] == (
        "nDCG@10"
    )


# The comparison.


@pytest.fixture
def many(tmp_path):
    """Return a folder with ten documents, forty dev queries, a baseline and a worse run."""
    documents = [{"doc_id": f"d{i}", "title": f"t{i}", "text": "x"} for i in range(10)]
    write_rows(tmp_path / "corpus.jsonl", *documents)
    queries = [
        {"query_id": f"q{i}", "query": f"ask {i}", "relevant_doc_ids": [f"d{i % 10}"],
         "kind": "odd" if i % 2 else "even"}
        for i in range(40)
    ]  # fmt: skip
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    evals = evalset.load(tmp_path)
    (tmp_path / "runs").mkdir()
    for name, place in (("runs/fixed.trec", 0), ("worse.trec", 1)):
        rankings = {}
        for i in range(len(evals.queries)):
            others = [f"d{j}" for j in range(10) if j != i % 10]
            order = [*others[:place], f"d{i % 10}", *others[place:]]
            order = order if i else order[::-1]
            rankings[f"q{i}"] = [(d, 10.0 - rank) for rank, d in enumerate(order)]
        runs.write_trec(tmp_path / name, rankings, "t")
    (tmp_path / "results.json").write_text(json.dumps(results_of(evals)))
    return tmp_path


def gate(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "helpers", "compare", "--evals", str(folder), *map(str, words)],
        capture_output=True,
        text=True,
        cwd=compare.Path(__file__).resolve().parents[2],
    )


@pytest.mark.proof
def test_gate_closes_for_a_worse_run_and_writes_both_forms(many):
    done = gate(many, many / "worse.trec")
    assert done.returncode == 1 and "## worse: worse" in done.stdout, done.stderr
    found = json.loads((many / "comparisons" / "worse.json").read_text())
    assert (many / "comparisons" / "worse.md").read_text() in done.stdout
    (row,) = found["runs"]
    assert row["verdict"] == "worse" and found["n"] == 40
    at = row["measures"]["RR@10"]
    assert (at["base"], at["run"]) == pytest.approx(((39 + 1 / 10) / 40, (39 / 2 + 1 / 9) / 40))
    assert at["low"] < at["difference"] < at["high"] < 0
    assert (at["wins"], at["ties"], at["losses"]) == (1, 0, 39)
    assert [m["query_id"] for m in row["moved"]][-1] == "q0" and len(row["moved"]) == 6


def called(monkeypatch, *words):
    """Return the exit status of a command line, run in this process."""
    monkeypatch.setattr(sys, "argv", ["helpers", *map(str, words)])
    return commands.main()


def test_each_option_has_its_effect(many, monkeypatch, capsys):
    base, worse = many / "runs" / "fixed.trec", many / "worse.trec"

    def status(*words):
        done = called(monkeypatch, "compare", "--evals", many, *words)
        return done, capsys.readouterr()

    assert status(base)[0] == 0 and status(worse)[0] == 1
    done, said = status(base, "--base", worse)
    assert done == 0 and "# fixed against worse" in said.out and "## fixed: better" in said.out
    done, said = status(base, worse)
    assert done == 1 and "# fixed, worse against baseline" in said.out
    assert "| baseline | 0.982" in said.out  # the leaderboard
    assert "| baseline |" not in status(worse)[1].out
    assert (many / "comparisons" / "fixed+worse.md").exists()
    assert not (many / "out").exists()
    assert status(base, "--to", many / "out")[0] == 0
    assert {path.name for path in (many / "out").iterdir()} == {"fixed.md", "fixed.json"}
    done, said = status(worse, "--split", "test")
    assert done == 2 and "no test query of" in said.err and said.out == ""
    assert "all queries, n = 40" in status(worse, "--split", "all")[1].out
    assert "dev queries, n = 40" in status(worse)[1].out

    swapped = runs.read_trec(base)  # a query moves by .37, so the mean by .009, its interval by .03
    swapped["q1"][0], swapped["q1"][1] = (swapped["q1"][1][0], 10.0), (swapped["q1"][0][0], 9.0)
    runs.write_trec(many / "near.trec", swapped, "t")
    done, said = status(many / "near.trec", "--strict")
    assert done == 0 and "no difference shown" in said.out and "of 0.05 matters" in said.out
    done, said = status(many / "near.trec", "--matters", "0.02")
    assert done == 0 and "too few queries to tell" in said.out and "of 0.02 matters" in said.out
    assert status(many / "near.trec", "--matters", "0.02", "--strict")[0] == compare.STRICT == 3
    assert status(many / "near.trec", worse, "--matters", "0.02", "--strict")[0] == 1
    for wrong in ("0", "nan", "1.1", "x"):
        with pytest.raises(SystemExit) as stopped:
            called(monkeypatch, "compare", base, "--evals", many, "--matters", wrong)
        assert stopped.value.code == 2
        assert wrong in (said := capsys.readouterr().err)
        assert wrong == "x" or f"{wrong}, wanted a number above 0, up to 1" in said


def test_runs_of_another_world_are_refused(many, capsys):
    evals, base = evalset.load(many), many / "runs" / "fixed.trec"
    rows = [line.split() for line in base.read_text().splitlines()]
    wrong = {  # the judged document is never found; no query is known; another half
        "docs": [[q, i, d, *more] for q, i, d, *more in rows if d != f"d{int(q[1:]) % 10}"],
        "queries": [[f"x{q}", *more] for q, *more in rows],
    }
    for name, lines in wrong.items():
        (many / f"{name}.trec").write_text("".join(" ".join(line) + "\n" for line in lines))
        for paths, against in (([many / f"{name}.trec"], base), ([base], many / f"{name}.trec")):
            assert compare.command(evals, paths, base=against) == compare.CANNOT == 2
            said = capsys.readouterr()
            assert said.out == "" and name in said.err
            assert ("judged for any of the 40 queries (dev)" in said.err) == (name == "docs")
            assert ("no query of the run is in this set" in said.err) == (name == "queries")
    assert not (many / "comparisons").exists()


def tables(page):
    """Return the tables of a Markdown page, each a list of {column: cell}."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", page, re.M)
    cells = [[re.split(r"(?<!\\)\|", line)[1:-1] for line in b.splitlines()] for b in blocks]
    assert all(len({len(line) for line in b.splitlines()}) == 1 for b in blocks)  # aligned
    return [
        [dict(zip(map(str.strip, head), map(str.strip, row), strict=True)) for row in rows]
        for head, _, *rows in cells
    ]


def test_every_number_of_the_page_stands_in_its_column(tmp_path):
    """Two runs of eight queries with an answer each, by formulas of one answer at a rank."""
    ranks = {
        "base": (1, 2, 4, 1, 5, 1, 2, 11),
        "mine": (3, 2, 1, 1, 1, 2, 1, 1),
        "poor": (3, 4, 9, 2, 12, 2, 5, 12),
    }
    documents = [f"d{n:02}" for n in range(12)]
    write_rows(
        tmp_path / "corpus.jsonl", *({"doc_id": d, "title": "t", "text": "x"} for d in documents)
    )
    asked = [{"query_id": f"q{n}", "query": f"a | {n}\nb", "relevant_doc_ids": ["d00"],
              "kind": "odd" if n % 2 else "even"} for n in range(8)]  # fmt: skip
    write_rows(tmp_path / "retrieval_queries.jsonl", *asked)
    evals = evalset.load(tmp_path)

    def ranking(rank):
        order = [*documents[1:rank], "d00", *documents[rank:]]
        return [(d, -float(place)) for place, d in enumerate(order)]

    base, *others = (
        runs.Run(name, {f"q{n}": ranking(rank) for n, rank in enumerate(row)}, [])
        for name, row in ranks.items()
    )
    found = compare.compare(evals, base, others, matters=0.051)
    page = compare.comparison_page(found, str)
    rows, described = found.pop("runs"), found.pop("base")
    assert found == {
        "evaluation_set": evals.name,
        "corpus_sha256": evals.corpus_hash(),
        "queries_sha256": evals.queries_hash(),
        "split": "dev",
        "n": 8,
        "matters": 0.051,
    }
    assert (described["name"], described["primary"]) == ("base", "nDCG@10")
    assert list(rows[0]["measures"]) == list(compare.MEASURES)
    board, mine, mine_kinds, mine_moved, poor, poor_kinds, poor_moved = tables(page)
    formulas = {
        "nDCG@10": lambda rank: 1 / math.log2(rank + 1) if rank <= 10 else 0,
        "MRR@10": lambda rank: 1 / rank if rank <= 10 else 0,
        "hit@5": lambda rank: float(rank <= 5),
        "recall@10": lambda rank: float(rank <= 10),
        "recall@100": lambda rank: 1.0,
        "MAP": lambda rank: 1 / rank,
    }

    def expected(name, measure):
        before, after = ([formulas[measure](r) for r in ranks[n]] for n in ("base", name))
        found = [b - a for a, b in zip(before, after, strict=True)]
        middle = sum(found) / 8
        reach = 2.364624 * math.sqrt(sum((d - middle) ** 2 for d in found) / 7 / 8)
        flipped = [abs(sum(map(math.prod, zip(found, signs, strict=True))))
                   for signs in itertools.product((1, -1), repeat=8)]  # fmt: skip
        p = sum(total >= abs(sum(found)) - 1e-12 for total in flipped) / len(flipped)
        return {
            "base": f"{sum(before) / 8:.3f}",
            "run": f"{sum(after) / 8:.3f}",
            "difference": f"{middle:+.3f}",
            "95 % interval": f"{middle - reach:+.3f} to {middle + reach:+.3f}",
            "p": f"{p:.4f}",
        }

    for name, table in (("mine", mine), ("poor", poor)):
        assert [row["measure"] for row in table] == list(formulas)
        for row in table:
            wanted = expected(name, row["measure"])
            assert {key: row[key] for key in wanted} == wanted
    holm = {"mine": "0.2812", "poor": "0.0312"}  # .2812 and twice .0156
    verdicts = {"mine": "too few queries to tell", "poor": "worse"}
    assert [row.pop("run") for row in board] == ["base", "mine", "poor"]
    assert board[0]["verdict"] == "the baseline" and board[0]["nDCG@10"] == "0.635"
    assert board[0]["judged@10"] == "0.09" and board[0]["difference"] == board[0]["p"] == ""
    for row, name, table in zip(board[1:], holm, (mine, poor), strict=True):
        wanted = expected(name, "nDCG@10")
        wanted["nDCG@10"] = wanted.pop("run")
        del wanted["base"]
        assert {key: row[key] for key in wanted} == wanted
        assert (row["p (Holm)"], row["verdict"]) == (holm[name], verdicts[name])
        assert row["detectable"] == table[0]["detectable"]
        assert f"## {name}: {verdicts[name]}\n" in page
    assert [row["wins/ties/losses"] for row in board[1:]] == ["4/2/2", "0/1/7"]
    assert [row["judged@10"] for row in board[1:]] == ["0.10", "0.07"]
    assert "Wins/ties/losses: 0/1/7. judged@10: base 0.09, run 0.07.\n" in page
    found = [row["p (Holm)"] for row in poor]
    assert found == ["0.0781", "0.0781", "1.0000", "1.0000", "1.0000", "0.0469"]
    assert [row["p (t)"] for row in poor][:4] == ["0.0020", "0.0046", "0.1705", "0.3506"]
    assert [row["p (t)"] for row in mine][4:] == ["", "0.3305"]
    assert (mine[0]["detectable"], poor[0]["detectable"]) == ("0.597", "0.187")
    assert mine_kinds == [
        {"kind": "even", "n": "4", "base": "0.612", "run": "0.875", "difference": "+0.263"},
        {"kind": "odd", "n": "4", "base": "0.658", "run": "0.815", "difference": "+0.158"},
    ]
    assert [row["difference"] for row in poor_kinds] == ["-0.315", "-0.235"]
    assert [row["query_id"] for row in mine_moved] == ["q0", "q5", "q6", "q2", "q4", "q7"]
    assert [row["query_id"] for row in poor_moved] == ["q0", "q4", "q3", "q5", "q6"]
    (back,) = compare.compare(evals, others[1], [base])["runs"]
    assert [row["query_id"] for row in back["moved"]] == ["q6", "q3", "q5", "q4", "q0"]
    first = {"query_id": "q0", "kind": "even", "base": "1.000", "run": "0.500"}
    assert mine_moved[0] == {**first, "query": r"a \| 0 b"}
    assert page.count("few labels: ") == 2 and page.count("Warning") == 2


def test_warnings_of_the_base_stand_once_and_nothing_moved_has_no_table(many):
    evals = evalset.load(many)
    base = compare.saved_baseline(evals)._replace(warnings=["odd"])
    found = compare.compare(evals, base, [base._replace(name="a"), base])
    page = compare.comparison_page(found)
    assert list(found["runs"][0]["measures"]) == list(compare.MEASURES)  # ten documents are all
    assert (
        base.warnings == ["odd"]
        and page.count("- Warning (baseline): odd\n") == 2
        and page.count("(a): odd") == 1
    )
    assert "Moved most" not in page and "By kind, nDCG@10" in page
    gone = {q: row for q, row in base.rankings.items() if q != "q3"}
    found = compare.compare(evals, base, [runs.Run("gone", gone, [])], split=None)
    assert "Moved most" not in compare.comparison_page(found)  # all queries: test is not read
    assert found["runs"][0]["moved"][0]["query_id"] == "q3"
    half = dict(list(base.rankings.items())[:20])
    found = compare.compare(evals, base, [runs.Run("half", half, [])], split=None)
    assert found["runs"][0]["judged@10"] == pytest.approx(found["base"]["judged@10"] / 2)


def test_holm_over_several_runs(many):
    evals = evalset.load(many)
    base, worse = compare.saved_baseline(evals), runs.read_run(many / "worse.trec", evals)
    found = compare.compare(evals, base, [worse, base._replace(name="itself"), worse])
    ps = [row["measures"]["nDCG@10"]["p"] for row in found["runs"]]
    assert [row["p_holm"] for row in found["runs"]] == pytest.approx(stats.holm(ps))
    assert found["runs"][0]["p_holm"] == pytest.approx(3 * ps[0])
    board = compare.board(found)
    assert list(board.index) == ["baseline", "itself", "worse", "worse"]
    assert list(board.loc["baseline"])[1:] == ["", "", "", "", "", "", "0.10", "the baseline"]


def test_runs_and_baselines_of_another_folder_are_refused_with_their_remedy(many):
    evals = evalset.load(many)
    corpus, queries, topics = evals.corpus_hash(), evals.queries_hash(), evals.topics_hash()
    base, zeros, path = compare.saved_baseline(evals), "0" * 12, many / "results.json"
    assert base.name == "baseline" and len(base.rankings) == 40 and base.parts == {}
    runs.write_chunk_run(many / "runs" / "fixed.jsonl", {"q1": [("d1#0", 2.0)]})
    assert compare.saved_baseline(evals)[3:] == ({"q1": [("d1#0", 2.0)]}, "fixed")
    saved = json.loads(path.read_text())
    for part, what, wanted in (
        ("corpus", "another corpus", corpus),
        ("queries", "other queries and labels", queries),
    ):
        path.write_text(json.dumps(saved | {part: saved[part] | {"sha256": "0" * 64}}))
        with pytest.raises(evalset.EvalSetError) as error:
            compare.saved_baseline(evals)
        assert str(error.value) == (
            f"{path}: made on {what} ({zeros}, the folder has {wanted[:12]}): make report "
            f"EVALS={many} measures the baseline anew, or check out the folder that it was made on"
        )
    card, run = many / "worse.json", many / "worse.trec"
    hashes = {"corpus_sha256": corpus, "topics_sha256": topics}
    for part, what in (("corpus_sha256", "another corpus"), ("topics_sha256", "another query set")):
        card.write_text(json.dumps(hashes | {part: "0" * 64}))
        with pytest.raises(compare.CannotCompare) as error:
            compare.read_checked(run, evals)
        assert str(error.value) == (
            f"{card}: made on {what} ({zeros}, the folder has {hashes[part][:12]}): make the "
            "run again, or check out the folder that it was made on"
        )
    card.write_text(json.dumps(hashes | {"chunker": "mine"}))
    assert compare.read_checked(run, evals)[::4] == ("worse", "mine")
    for text, told in (
        ("[]", r"1: found \[\], wanted"),
        ("{}", "corpus_sha256 is missing, wanted"),
    ):
        card.write_text(text)
        with pytest.raises(evalset.EvalSetError, match=f"worse.json:1: .*{told[3:]}"):
            compare.read_checked(run, evals)


def test_queries_without_an_answer_are_left_out_and_told_apart(many):
    asked = {"query_id": "z", "query": "nothing", "relevant_doc_ids": [], "kind": "none"}
    with (many / "retrieval_queries.jsonl").open("a") as file:
        file.write(json.dumps(asked | {"split": "dev"}) + "\n")
    evals = evalset.load(many)
    base = runs.read_run(many / "runs" / "fixed.trec", evals)
    low = base._replace(rankings=base.rankings | {"z": [("d1", -7.0)]})
    high = base._replace(rankings=base.rankings | {"z": [("d1", 1e9)]}, name="high")
    found = compare.compare(evals, low, [high, base])
    apart = [row["told_apart"].get("AUROC") for row in (found["base"], *found["runs"])]
    assert apart == [1, 0, None]
    page = compare.comparison_page(found)
    told = "Told from 1 query without an answer by the first score, AUROC: "
    assert page.count(told) == 1
    assert told + "base 1.00 (1.00 to 1.00), run 0.00 (0.00 to 0.00)." in page
    assert found["n"] == 40 and found["base"]["means"]["recall@10"] == 1
    assert set(found["runs"][0]["by_kind"]) == {"even", "odd"}


def test_systems_are_the_runs_of_the_folder_by_name(many):
    (many / "systems").mkdir()
    for name in ("b.trec", "c.trec", "a.trec", "d.py"):
        (many / "systems" / name).write_text("q1 Q0 d1 1 1 t\n")
    assert [run.name for run in compare.systems(evalset.load(many))] == ["a", "b", "c"]


def test_what_cannot_be_compared_is_told_whole_and_leaves_no_report(many, monkeypatch, capsys):
    """Each run, and each results.json, in place of what the gate wants: its words, no page."""
    results = (many / "results.json").read_text(encoding="utf-8")
    rows = {
        "unknown.trec": ("".join(f"q1 Q0 x{n} {n} 1 t\n" for n in range(25)), "x24 is unknown"),
        "nan.trec": ("q1 Q0 d1 1 nan x\n", "nan.trec:1: score 'nan'"),
        "list.jsonl": ('{"query_id": ["q0"], "results": [["d0", 1]]}', 'wanted {"query_id": ...'),
        "half.jsonl": ('{"query_id": "\\ud800", "results": [["d0", 1]]}', "wanted"),
    }
    for name, (content, told) in rows.items():
        (many / name).write_text(content)
        for paths in ([many / name], [many / "worse.trec", many / name]):
            assert called(monkeypatch, "compare", *paths, "--evals", many) == 2
            said = capsys.readouterr()
            assert said.out == "" and said.err.startswith("cannot compare: ") and told in said.err
            assert "Traceback" not in said.err
    for content in ("{", "[]", "{}", "\ufeff{}", '{"corpus": {}}'):
        (many / "results.json").write_text(content, encoding="utf-8")
        assert called(monkeypatch, "compare", many / "worse.trec", "--evals", many) == 2
        said = capsys.readouterr()
        assert said.err.startswith(f"cannot compare: {many / 'results.json'}:1: ")
        assert said.out == "" and "Traceback" not in said.err
    (many / "results.json").write_text(results, encoding="utf-8")
    (many / "runs" / "fixed.trec").write_bytes((many / "worse.trec").read_bytes())
    assert called(monkeypatch, "compare", many / "worse.trec", "--evals", many) == 2
    said = capsys.readouterr().err  # a baseline that was replaced
    assert said.startswith(f"cannot compare: {many / 'results.json'}: ")
    assert "made on another runs/fixed.trec" in said and "make report EVALS=" in said
    for lost in ("runs/fixed.trec", "results.json"):
        (many / lost).unlink()
        assert called(monkeypatch, "compare", many / "worse.trec", "--evals", many) == 2
        no_baseline = f"{many} has no baseline yet, run make report on it first"
        assert capsys.readouterr().err == f"cannot compare: {no_baseline}\n"
    assert not (many / "comparisons").exists()


def test_files_and_folders_in_each_others_place_are_told(many, monkeypatch, capsys):
    (many / "worse.json").mkdir()
    for name, told in (("worse.trec", "worse.json:1: cannot be read"), ("runs", "runs:1: cannot")):
        assert called(monkeypatch, "compare", many / name, "--evals", many) == 2
        assert told in capsys.readouterr().err
    (many / "worse.json").rmdir()
    for words in (("",), (many / "worse.trec", "--base", "")):
        assert called(monkeypatch, "compare", *words, "--evals", many) == 2
        told = "cannot compare: the run '.' is no file, wanted one such as runs/mine.trec\n"
        assert capsys.readouterr().err == told
    for to in ("worse.trec", "worse.trec/below"):
        words = ("compare", many / "worse.trec", "--evals", many, "--to", many / to)
        assert called(monkeypatch, *words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"cannot compare: {many / 'worse.trec'}") and "a folder" in line


def test_unjudged_results_are_warned_about(many):
    evals = evalset.load(many)
    base = compare.saved_baseline(evals)
    judged = {q: [(d, 1.0)] for q, row in evals.qrels().items() for d in row}
    judged["q1"] = base.rankings["q1"]  # or it were a run of one document a query
    found = compare.compare(evals, base, [runs.Run("judged", judged, [])])
    assert found["base"]["judged@10"] == pytest.approx(0.1)
    (warning,) = found["runs"][0]["warnings"]
    assert warning.startswith("judged@10 differs by 0.88: what baseline found")
    assert "Warning (judged)" in compare.comparison_page(found)


def test_page_and_numbers_are_written_under_the_names_of_runs_and_half(many, capsys):
    evals = evalset.load(many)
    rows = (many / "worse.trec").read_text().splitlines(keepends=True)
    (many / "sh*rt.trec").write_text("".join(r for r in rows if r.split()[0] != "q7"))
    for split, name in (("dev", "sh*rt"), ("all", "sh*rt-all")):
        compare.command(evals, [many / "sh*rt.trec"], split=split)
        written = many / "comparisons" / name
        numbers = written.with_name(f"{name}.json").read_text(encoding="utf-8")
        found = json.loads(numbers)
        assert numbers == json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        page, plain = compare.comparison_page(found), compare.comparison_page(found, str)
        assert written.with_name(f"{name}.md").read_text(encoding="utf-8") == page != plain
        assert capsys.readouterr() == (f"{plain}\nwritten: {written}.md and .json\n", "")
        assert "1 query without results, counted as 0: q7\n" in page
    assert len(list((many / "comparisons").iterdir())) == 4


# What is written, from a comparison made by hand.


def at(base, run, p=0.04321, low=-0.3, **more):
    """Return what is known of one measure."""
    found = {"n": 3, "base": base, "run": run, "difference": run - base, "low": low, "high": 0.1,
             "p": p, "t_p": None, "detectable": 0.25, "wins": 3, "ties": 2,
             "losses": 1}  # fmt: skip
    return found | {"p_holm": 2 * p} | more


def found_of(*rows, split="dev", warnings=()):
    means = {"nDCG@10": 0.5, "nDCG@4": 0.41, "MAP": 0.4}
    base = {"name": "base", "primary": "nDCG@10", "means": means, "judged@10": 0.876,
            "warnings": list(warnings), "told_apart": {}}  # fmt: skip
    return {
        "evaluation_set": "Set é",
        "corpus_sha256": "0123456789abcdef",
        "queries_sha256": "fedcba9876543210",
        "split": split,
        "n": 3,
        "matters": 0.05,
        "base": base,
        "runs": list(rows),
    }


def row_of(name="mine", run=0.625, primary="nDCG@10", **more):
    moved = {"query_id": "q1", "kind": "odd", "query": "a |\n b", "base": 1.0, "run": 0.5}
    kind = {"n": 2, "base": 0.5, "run": 0.625, "difference": 0.125}
    return {
        "name": name,
        "primary": primary,
        "measures": {primary: at(0.5, run, 0.04321), "AP": at(0.4, 0.3, 0.0001, t_p=0.5)},
        "judged@10": 0.5,
        "warnings": [],
        "p_holm": 0.0864,
        "verdict": "better",
        "reason": "p = 0.04, below 0.05",
        "by_kind": {"even": kind, "odd": kind | {"n": 1, "difference": -0.25}},
        "by_popularity": {},
        "told_apart": {},
        "moved": [moved],
        "evidence": {},
    } | more


PAGE = r"""# mine against base

Set é, dev queries, n = 3. Corpus 0123456789ab, queries fedcba987654. Differences are run minus base, with the 95 % t interval; p from the sign-flip test. The verdict rests on nDCG@10, where a difference of 0.05 matters.

- Warning (base): odd

## mine: better

p = 0.04, below 0.05. Wins/ties/losses: 3/2/1. judged@10: base 0.88, run 0.50.

- Warning (mine): one
- Warning (mine): two

| measure | base  | run   | difference | 95 % interval    | p      | p (Holm) | p (t)  | detectable |
|---------|-------|-------|------------|------------------|--------|----------|--------|------------|
| nDCG@10 | 0.500 | 0.625 | +0.125     | -0.300 to +0.100 | 0.0432 | 0.0864   |        | 0.250      |
| MAP     | 0.400 | 0.300 | -0.100     | -0.300 to +0.100 | <.001  | <.001    | 0.5000 | 0.250      |

p (Holm) is adjusted for the measures of this table; the verdict rests on nDCG@10, adjusted for the runs.

By kind, nDCG@10:

| kind | n | base  | run   | difference |
|------|---|-------|-------|------------|
| even | 2 | 0.500 | 0.625 | +0.125     |
| odd  | 1 | 0.500 | 0.625 | -0.250     |

Moved most:

| query_id | kind | base  | run   | query  |
|----------|------|-------|-------|--------|
| q1       | odd  | 1.000 | 0.500 | a \| b |
"""  # noqa: E501


def test_the_page_of_one_run_reads_as_a_whole():
    found = found_of(row_of(warnings=["one", "two"]), warnings=["odd"])
    page = compare.comparison_page(found, str)
    assert page == PAGE


def test_a_page_shows_texts_of_the_set_as_text_and_a_terminal_plainly():
    acts = "![a](https://x.invalid/y.png) <img src=x onerror=ran()> $\\href{https://x}{y}$ **b** |"
    moved = {"query_id": acts, "kind": acts, "query": acts, "base": 1.0, "run": 0.5}
    kind = {"n": 2, "base": 0.5, "run": 0.625, "difference": 0.125}
    kinds = {acts: kind, "odd": kind}
    one = row_of(acts, warnings=[acts], by_kind=kinds, by_popularity=kinds, moved=[moved])
    found = found_of(one, row_of(acts), warnings=[acts]) | {"evaluation_set": acts}
    found["base"]["name"] = acts
    page, plain = compare.comparison_page(found), compare.comparison_page(found, str)
    assert not re.search(r"<(?!/?span>|\.0)|\*\*|!\[|\$", page)
    assert page.count(inert(acts)) == plain.count("<img src=x onerror=ran()>") == 18


def test_a_page_leaves_out_one_kind_moved_queries_of_other_halves_and_warnings():
    one = {"n": 3, "base": 0.5, "run": 0.6, "difference": 0.1}
    row = row_of(by_kind={"even": one}, by_popularity={"head": one})
    whole, other = (compare.comparison_page(found_of(row, split=s)) for s in ("dev", "test"))
    assert "By kind" not in whole and "popularity" not in whole and "Warning" not in whole
    assert "Moved most" in whole and "Moved most" not in other and "\n\n\n" not in whole + other
    assert other.startswith("# mine against base\n\nSet é, test queries, n = 3. ")
    assert "Moved most" not in compare.comparison_page(found_of(row_of(moved=[])))
    page = compare.comparison_page(found_of(row_of(by_popularity={"head": one, "tail": one})))
    assert page.index("By kind, nDCG@10:") < page.index("By popularity, nDCG@10:")
    assert "| popularity | n " in page and "| tail " in page


BOARD = """\
| run        | nDCG@10 | difference | 95 % interval    | p      | p (Holm) | detectable | wins/ties/losses | judged@10 | verdict      |
|------------|---------|------------|------------------|--------|----------|------------|------------------|-----------|--------------|
| base       | 0.500   |            |                  |        |          |            |                  | 0.88      | the baseline |
| a          | 0.750   | +0.250     | -0.300 to +0.100 | 0.0432 | 0.0864   | 0.250      | 3/2/1            | 0.50      | better       |
| b          | 0.625   | +0.125     | -0.300 to +0.100 | 0.0432 | 0.0864   | 0.250      | 3/2/1            | 0.50      | better       |
| c (nDCG@4) | 0.625   | +0.125     | -0.300 to +0.100 | 0.0432 | 0.0864   | 0.250      | 3/2/1            | 0.50      | better       |
"""  # noqa: E501


def test_the_leaderboard_of_several_runs_has_the_best_first_and_names_in_order():
    rows = row_of("c", primary="nDCG@4"), row_of("b"), row_of("a", run=0.75)
    page = compare.comparison_page(found_of(*rows), str)
    assert page.startswith("# c, b, a against base\n") and f"matters.\n\n{BOARD}\n## c: " in page
    board = compare.board(found_of(*rows))
    assert (board.index.name, board.index[0]) == ("run", "base")
    short = found_of(row_of())
    short["base"]["primary"] = "nDCG@4"
    assert compare.board(short)["nDCG@10"]["base"] == "0.410"


def test_the_gate_closes_for_worse_and_where_strict_for_too_few():
    for verdicts, status, strict in (
        ((stats.SAME, stats.BETTER), 0, 0),
        ((stats.SAME, stats.TOO_FEW), 0, 3),
        ((stats.TOO_FEW, stats.WORSE), 1, 1),
        ((stats.BETTER, stats.WORSE), 1, 1),
    ):
        found = {"runs": [{"verdict": verdict} for verdict in verdicts]}
        assert (compare.status(found, False), compare.status(found, True)) == (status, strict)


@pytest.mark.parametrize(("split", "which"), [("test", "test"), ("dev", "dev"), (None, "single")])
def test_without_a_relevant_document_there_is_nothing_to_compare(tmp_path, split, which):
    asked = {"q1": evalset.Query("q1", "a", ())}
    evals = evalset.EvalSet(tmp_path, {}, asked, [evalset.Judgment("q1", "d1", 0)])
    with pytest.raises(compare.CannotCompare) as error:
        compare.compare(evals, runs.Run("base", {}, []), [], split)
    assert str(error.value) == f"no {which} query of {tmp_path.name} has a relevant document"


def test_five_queries_are_shown_on_each_side_and_ties_on_none(tmp_path):
    asked = {f"q{n:02}": evalset.Query(f"q{n:02}", "a", ()) for n in range(16)}
    evals = evalset.EvalSet(tmp_path, {}, asked, [])
    changes = [0.3, -0.3, 1e-9, -1e-9, *(0.1 * n for n in range(4, 10)), *[-0.2] * 6]
    pairs = {q: (0.0, change) for q, change in zip(asked, changes, strict=True)}
    moved = [row["query_id"] for row in compare._largest_changes(evals, pairs)]
    assert moved == ["q01", "q10", "q11", "q12", "q13", "q05", "q06", "q07", "q08", "q09"]
    few = {q: pairs[q] for q in ("q00", "q01", "q02", "q03")}
    assert [row["query_id"] for row in compare._largest_changes(evals, few)] == ["q01", "q00"]


def test_verdicts_on_evidence_are_adjusted_over_the_runs_that_rank_passages(many, monkeypatch):
    evals = evalset.load(many)
    base = compare.saved_baseline(evals)
    pair = {"n": 30, "base": 0.5, "run": 0.6, "difference": 0.1, "low": 0.01, "high": 0.19}
    pair |= {"p": 0.03, "t_p": 0.03, "detectable": 0.1, "wins": 9, "ties": 20, "losses": 1}
    for n, verdict in ((1, "better"), (2, "too few queries to tell")):
        quoted = [{"measures": {evidence.DECIDES: pair}, "verdict": ""} for _ in range(n)]
        rows = iter([*quoted, {}, {"measures": {"evidence hit@5": pair}, "verdict": ""}])
        monkeypatch.setattr(evidence, "compared", lambda *given, rows=rows: next(rows))
        found = compare.compare(evals, base, [base] * (n + 2))["runs"]
        verdicts = [row["evidence"].get("verdict") for row in found]
        assert verdicts == [verdict] * n + [None, ""]


def test_an_empty_run_is_one_that_found_nothing_only_where_its_card_says_how(many):
    evals, path = evalset.load(many), many / "none.trec"
    path.touch()
    with pytest.raises(evalset.EvalSetError, match="the file holds no results"):
        compare.read_checked(path, evals)
    runs.write_card(path.with_suffix(".json"), evals, {})
    assert compare.read_checked(path, evals) == runs.Run("none", {}, [])
    runs.write_card(path.with_suffix(".json"), evals._replace(documents={}), {})
    with pytest.raises(compare.CannotCompare, match="made on another corpus"):
        compare.read_checked(path, evals)
