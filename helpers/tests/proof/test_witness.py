"""Published numbers against the second witness, by name: results.json and every page.

Prose is tested only for showing named values: a number that is none of them fails, and so does a
phrase that belongs to one value and shows another.
"""

import copy
import html
import json
import math
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import witness
import witness_evidence
import witness_sessions
from conftest import write_rows

from helpers import compare, evalset, runs, stats
from notebooks import write_up

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "evals"


@pytest.fixture(scope="module")
def files():
    return witness.read(FOLDER)


@pytest.fixture(scope="module")
def published():
    return json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lists(files):
    """Return what each set of chunks has for each query, as a reader would get it."""
    return witness_evidence.searched(files)


@pytest.fixture(scope="module")
def found(files, lists):
    return witness.results(files) | {"evidence": witness_evidence.evidence(files, lists)}


# results.json, key by key.


def flat(value, name: str = "") -> dict:
    """Return {name/of/parts: value} of everything in nested dictionaries and lists."""
    if not isinstance(value, dict | list | tuple):
        return {name: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return {f"{name} length": len(value)} | {
        key: part for n, v in parts for key, part in flat(v, f"{name}/{n}").items()
    }


def same(a, b, most: float = 1e-9) -> bool:
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    return math.isclose(a, b, rel_tol=0, abs_tol=most) if numbers else a == b


def test_results_json_is_what_a_second_witness_finds(found, published):
    own = copy.deepcopy(found)
    for mine, theirs in zip(
        own["compared_dev"]["runs"], published["compared_dev"]["runs"], strict=True
    ):
        for name, at in mine["measures"].items():
            at["p"] = theirs["measures"][name]["p"]  # compared in the next test
        mine["reason"] = theirs["reason"]  # prose, below
        mine["evidence"] = {}  # these are runs of documents
    witness.decided(own["compared_dev"])
    for card in own["cards"]:
        card["lost"] = own["evidence"]["lost"][card["query_id"]]
    own["evidence"]["best"] |= {n: published["evidence"]["best"][n] for n in ("p", "reason")}
    for split in witness.SPLITS:
        lay_ends(own["evidence"][split]["sets"], published["evidence"][split]["sets"])
    own, theirs = flat(own), flat(published)
    assert set(own) ^ set(theirs) == set()
    loose = {"intervals": 0.01, "detectable": 1e-6}  # drawn; found by iteration
    most = {n: next((loose[word] for word in loose if word in n), 1e-9) for n in own}
    ends = (n for n in own if "told_apart" in n and n.endswith(("low", "high")))
    most |= dict.fromkeys(ends, 0.05)  # the witness has another interval
    assert not {n: (v, own[n]) for n, v in theirs.items() if not same(v, own[n], most[n])}


def lay_ends(mine, theirs):
    """Put the published ends in place of the quantiles, within which each must lie.

    These means move in steps of a query, so two draws of one end can be a step apart.
    """
    for name, of in mine.items():
        for measure, (a, b, c, d) in of["intervals"].items():
            low, high = theirs[name]["intervals"][measure]
            assert a - 1e-9 <= low <= b + 1e-9 and c - 1e-9 <= high <= d + 1e-9, (name, measure)
            of["intervals"][measure] = (low, high)


def test_p_values_are_those_of_other_random_numbers(found, published):
    """Where all sign patterns fit into ten thousand p is exact. Else it is drawn.

    SciPy doubles the smaller side, so that two draws differ by .008 (sd) at p = .4.
    """
    pairs = zip(found["compared_dev"]["runs"], published["compared_dev"]["runs"], strict=True)
    for own, theirs in pairs:
        for name, at in own["measures"].items():
            exact = 2 ** (at["wins"] + at["losses"]) <= 10_000
            p = theirs["measures"][name]["p"]
            assert same(p, at["p"], 1e-9 if exact else 0.02), (own["name"], name, p, at["p"])


def test_reasons_show_the_values_of_their_comparison(published):
    for run in published["compared_dev"]["runs"]:
        at = run["measures"]["nDCG@10"]
        ends = [at["low"], at["high"]]
        tells(
            run["reason"], {"p (Holm) = {}": run["p_holm"], "interval, {} to {}": ends, "±{}": 0.05}
        )


# Runs, cards and chunks: what results.json is measured on.


@pytest.mark.parametrize("chunker", witness.CHUNKERS)
def test_runs_are_the_search_of_another_engine(files, chunker):
    engine = witness.Okapi(witness.chunk_texts(files, chunker))
    chunk_run = {
        r["query_id"]: r["results"] for r in witness.rows(FOLDER / f"runs/{chunker}.jsonl")
    }
    run = witness.trec(FOLDER / "runs" / f"{chunker}.trec")
    assert [*run] == [*chunk_run] and {*run} == {*files.asked}
    for query_id, row in files.asked.items():
        hits = engine.search(row["query"])
        assert chunk_run[query_id] == [[u, pytest.approx(s, abs=1e-9)] for u, s in hits[:100]]
        documents = witness.to_documents(hits)
        assert [d for d, _ in run[query_id]] == [d for d, _ in documents], query_id
        near = [pytest.approx(s, abs=1e-4 * max(1, s)) for _, s in documents]  # ties pulled apart
        assert [s for _, s in run[query_id]] == near


@pytest.mark.parametrize("chunker", witness.CHUNKERS)
def test_card_of_a_run_says_how_it_was_made(files, chunker):
    said = json.loads((FOLDER / "runs" / f"{chunker}.json").read_text(encoding="utf-8"))
    assert said == witness.card(files, chunker)


def test_card_of_another_system_names_this_corpus_and_these_queries(files):
    for path in (FOLDER / "systems").glob("*.json"):
        said = json.loads(path.read_text(encoding="utf-8"))
        assert said["corpus_sha256"] == witness.corpus_hash(files)
        assert said["topics_sha256"] == witness.topics_hash(files)


@pytest.mark.parametrize("name", witness_evidence.SETS)
def test_chunks_are_cut_as_another_chunker_cuts(files, name):
    """The places of a cut are the same, and what just fits stays whole."""
    documents = files.documents.items()
    spans = {d: witness_sessions.chunks(document["text"], name) for d, document in documents}
    wanted = [[d, n, *span] for d, own in spans.items() for n, span in enumerate(own)]
    assert [list(c.values()) for c in witness.rows(FOLDER / f"chunks/{name}.jsonl")] == wanted


# Pages: tables cell by cell, prose number by number.

NUMBER = r"(?<![\w@])(?<![\w.]-)[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?(?![\w-])"  # not @10, k1, q01


def shows(text: str, value: float) -> bool:
    """Return whether a text such as `121,246`, `+0.040` or `66%` is `value`, rounded as it is.

    With fewer than two decimals nothing may be lost: 0.9 shows .900, never .938.
    """
    digits = text.replace(",", "").rstrip(" %")
    places = len(digits.partition(".")[2])
    most = 0.5 * 10**-places if places > 1 or text.endswith("%") else 0
    value = 100 * value if text.endswith("%") else value
    return math.isclose(float(digits), value, rel_tol=0, abs_tol=most + 1e-9)


def agree(cells: dict, wanted: dict) -> None:
    """Compare a table's cells: a text as it is, a list of numbers as the cell shows them."""
    assert set(cells) == set(wanted)
    for name, value in wanted.items():
        value = value if isinstance(value, str | list) else [value]
        numbers = re.findall(NUMBER, cells[name])
        right = (
            cells[name] == value
            if isinstance(value, str)
            else len(numbers) == len(value) and all(map(shows, numbers, value))
        )
        assert right, (name, cells[name], value)


def tells(text: str, named: dict[str, float | list[float]]) -> None:
    """Check prose: where a phrase such as `{} documents` stands, it shows its value.

    Every other number must show one of the values. The longest phrase that fits counts.
    """
    text = text.replace("95 %", "").replace("**", "")
    values = {phrase: v if isinstance(v, list) else [v] for phrase, v in named.items()}

    def told(hit: re.Match) -> str:
        assert all(map(shows, hit.groups(), wanted)), (hit[0], wanted)
        return "_"

    for phrase in sorted(values, key=len, reverse=True):
        wanted = values[phrase]
        text = re.sub(re.escape(phrase).replace(r"\{\}", f"({NUMBER})"), told, text)
    for number in re.findall(NUMBER, text):
        assert any(shows(number, v) for some in values.values() for v in some), (number, text)


def markdown_tables(page: str) -> list[dict]:
    """Return {(row, column): text} of each table of a Markdown page."""
    tables = []
    for lines in re.findall(r"(?:^\|.*\n?)+", page, re.MULTILINE):
        cells = [[c.strip() for c in line[1:-1].split("|")] for line in lines.splitlines()]
        head, _, *body = cells
        tables.append({(r[0], head[n]): r[n] for r in body for n in range(1, len(head))})
    return tables


def html_table(page: str) -> dict:
    """Return {(row, column): text}; the names of a head of two lines stand one after the other."""
    root = ElementTree.fromstring(re.search("<table.*?</table>", page, re.DOTALL)[0])
    head = []
    for line in root.findall("thead/tr"):
        spread = [[c.text or ""] * int(c.get("colspan", 1)) for c in line]
        head.append([text for cell in spread for text in cell])
    head = [" ".join(filter(None, column)) for column in zip(*head, strict=True)][1:]
    found, names = {}, []
    for line in root.findall("tbody/tr"):
        own = ["".join(cell.itertext()) for cell in line.findall("th")]
        names = names[: len(names) - len(own)] + own  # one that spans rows stands in the first
        cells = ["".join(cell.itertext()) for cell in line.findall("td")]
        columns = head[len(names) - 1 :]
        found |= {(" ".join(names), c): cell for c, cell in zip(columns, cells, strict=True)}
    return found


def block(page: Path) -> str:
    """Return the generated block of a README."""
    text = page.read_text(encoding="utf-8")
    return re.search(r"<!-- generated.*?-->\n(.*?)<!-- end -->", text, re.DOTALL)[1]


BASELINE = ("nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100")


def test_readme_shows_the_baseline(published):
    page = block(ROOT / "README.md")
    table = {}
    for split, half in published["summary"].items():
        table |= {(split, name): half["measures"][name] for name in BASELINE}
        table[split, "n"] = half["n"]
        table[split, "median rank of first relevant"] = half["median_first_rank"]
    agree(markdown_tables(page)[0], table)
    corpus, asked, method = published["corpus"], published["queries"], published["method"]
    named = {"{} documents": corpus["documents"], "{} tokens": corpus["tokens"]}
    named |= {"Queries: {}": asked["n"], "{} judgments": asked["judgments"]}
    named |= {"{} without an answer": asked["unanswered"]}
    named |= {"(grades {}, {}, {})": asked["grades"]}
    named |= {"k1 = {}": method["k1"], "b = {}": method["b"]}
    named |= {"of {} tokens": method["chunk_tokens"], "{} overlap": method["overlap_tokens"]}
    tells(page.partition("\n\n")[0], named)
    assert corpus["name"] in page and method["engine"] in page


def test_data_card_shows_the_facts(files):
    agree(
        markdown_tables(block(FOLDER / "README.md"))[0],
        {(name, "count"): values for name, values in witness.facts(files).items()},
    )


COUNTS = "zero one two three four five six seven eight nine ten".split() + [""] * 39 + ["fifty"]


def test_data_card_tells_the_truth_about_the_labels(files):
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    kinds = Counter(row["kind"] for row in files.queries.values())
    pool = witness.rows(FOLDER / "pool.jsonl")
    rankers = {ranker for pair in pool for ranker in pair["rankers"]}
    second = witness.rows(FOLDER / "second_pass.jsonl")
    assert all(f"`{kind}`" in page for kind in [*kinds, "none"]) and "`dev`" in page
    earlier = {"first-pool"}
    further = {"paragraph", "recursive", "dense-minilm"}
    assert len(rankers - earlier - further) == 7 and len(further) == 3
    assert "seven rankers of different kinds" in page and "three further runs" in page
    rounds = {row["round"] for row in second}
    assert rounds == {1, 2, 3, 4, 5} and {row["reader"] for row in second} == {"model"}
    again = [row for row in second if row["round"] == 3]
    assert f"{len(again)} older labels were judged again" in page
    brought = Counter((pair["query_id"], ranker) for pair in pool for ranker in pair["rankers"])
    assert max(n for (_, ranker), n in brought.items() if ranker not in earlier) == 10
    assert f"first {COUNTS[10]} documents of" in page


def test_data_card_tells_the_truth_about_negatives(files):
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    brought = {
        (row["query_id"], row["doc_id"])
        for row in witness.rows(FOLDER / "pool.jsonl")
        if row["rankers"] != ["first-pool"]
    }
    rows = witness.rows(FOLDER / "negatives.jsonl")
    assert [row["query_id"] for row in rows] == list(files.queries)
    (easy,), (hard,) = ({len(set(row[name])) for row in rows} for name in ("easy", "hard"))
    assert f"{COUNTS[easy]} easy (drawn at random" in page and f"{COUNTS[hard]} hard (" in page
    for row in rows:
        grades = files.grades[row["query_id"]]
        assert not brought & {(row["query_id"], doc_id) for doc_id in row["easy"]}
        assert not any(grades.get(doc_id) for doc_id in row["easy"])
        assert all(grades[doc_id] == 0 for doc_id in row["hard"])


def test_data_card_tells_the_truth_about_the_halves(files):
    reached = {"dev": set(), "test": set()}
    for query_id, row in files.queries.items():
        relevant = {d for d, grade in files.grades[query_id].items() if grade}
        whole = {files.documents[d].get("copy_of", d) for d in relevant}
        reached[row["split"]] |= {re.sub(r"-(v\d|20\d\d)$", "", d) for d in whole}
        assert relevant == set(row["relevant_doc_ids"])
        texts = " ".join(files.documents[d]["text"] for d in relevant)
        assert all(answer in texts for answer in row.get("answers", []))
    assert not reached["dev"] & reached["test"]
    halves = Counter((row["kind"], row["split"]) for row in files.queries.values())
    assert all(n >= {"dev": 8, "test": 16}[split] for (_, split), n in halves.items())
    for row in witness.rows(FOLDER / "judgments.jsonl"):
        quotes = row["evidence"] if row["relevance"] else []
        quotes = quotes if isinstance(quotes, list) else [quotes]
        assert all(q and q in files.documents[row["doc_id"]]["text"] for q in quotes)


def test_manifest_holds_the_hash_of_every_file(files):
    said = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    assert said["files"] == witness.manifest(FOLDER)
    grades = Counter(grade for judged in files.grades.values() for grade in judged.values())
    assert said["counts"]["judgments"] == {str(grade): n for grade, n in grades.items()}
    assert said["counts"]["documents"] == len(files.documents)
    assert said["counts"]["queries"] == len(files.queries)


def test_coverage_shows_what_the_queries_reach(files):
    page = (FOLDER / "coverage.md").read_text(encoding="utf-8")
    reached = witness.reached(files)
    for table, field in zip(markdown_tables(page), ("service", "kind"), strict=True):
        wanted = {}
        for value, numbers in witness.coverage(files, field).items():
            wanted |= {(value, column): n for column, n in numbers.items()}
        agree(table, wanted)
        shares = [float(cell[:-1]) for name, cell in table.items() if name[1] == "share"]
        assert shares == sorted(shares)
    n = len(files.documents)
    named = {"{} of {} documents ({})": [len(reached), n, len(reached) / n]}
    tells(page.partition("##")[0], named | {"Queries: {}": len(files.queries)})
    left = [d for d in files.documents if d not in reached]
    by_service = sorted(left, key=lambda d: (files.documents[d]["service"], d))
    assert re.findall(r"^- (\S+)$", page, re.MULTILINE) == by_service


# Stored outputs of the write-up and of session C.


def outputs(notebook: Path) -> dict[str, list[str]]:
    """Return {cell id: texts of its outputs}: Markdown, else HTML, else plain."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    found = {}
    for cell in cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            shown = data.get("text/markdown") or data.get("text/html") or output.get("text", "")
            found.setdefault(cell["id"], []).append("".join(shown))
    return found


@pytest.fixture(scope="module")
def page():
    return outputs(FOLDER / "retrieval_eval.ipynb")


@pytest.fixture(scope="module")
def session():
    return outputs(ROOT / "notebooks" / "session_c_metrics_and_writeup.ipynb")


@pytest.fixture(scope="module")
def named(files, published):
    """Return the values that sentences of the write-up show, by the phrase that names them."""
    at, facts = published["summary"], witness.facts(files)
    dev = [row for row in published["per_query"] if row["split"] == "dev"]
    sizes = facts["tokens (cl100k_base)"]
    relevant = sum(grade > 0 for row in files.grades.values() for grade in row.values())
    long = sum(witness.tokens(d["text"]) > 512 for d in files.documents.values())
    halves = {half: at[half]["measures"] for half in ("dev", "test")}
    return {
        "{} documents": len(files.documents),
        "reach {} documents ({})": facts["documents reached by a query"],
        "of {} kinds about {} services": facts["documents"][1:],
        "{} tokens": sizes[0],
        "median document has {} tokens, the longest {}": sizes[2:],
        "{} are longer than one chunk": long,
        "chunks of {} tokens": 512,
        "{} questions": len(files.queries),
        "Asked: {} queries": len(files.queries),
        "labelled {} queries": len(files.queries),
        "answers {} queries": len(files.asked) - len(files.queries),
        "{} judgments, {} of them relevant: {} a query": [
            facts["judgments"][0],
            relevant,
            round(relevant / len(files.queries), 1),
        ],
        "the {} test questions": at["test"]["n"],
        "the {} of dev": at["dev"]["n"],
        "{} of {} queries have a relevant document at rank {}": [
            sum(row["first_rank"] == 1 for row in dev),
            len(dev),
            1,
        ],
        "for {} none stands": sum(not row["measures"]["hit@10"] for row in dev),
        "differ by {} in nDCG@10": abs(halves["dev"]["nDCG@10"] - halves["test"]["nDCG@10"]),
        "among the first hundred, is {}": halves["dev"]["recall@100"],
        "recall@100 is {}": halves["dev"]["recall@100"],
        "Same {} dev queries": len(dev),
        "{} comparisons": len(published["compared_dev"]["runs"]),
    } | {
        f"{name.removeprefix('second pass, ')}: {{}} pairs, {{}} equal, Cohen's kappa {{}}; "
        + "equal by first grade "
        + ", ".join("{}: {}" for _ in values[3::2]): values
        for name, values in facts.items()
        if name.startswith("second pass")
    }


def half_named(half: dict) -> dict:
    """Return the values of one half as the sentences about it name them."""
    at, ends = half["measures"], half["intervals"]
    return {
        "nDCG@10 {} ( interval {} to {})": [at["nDCG@10"], *ends["nDCG@10"]],
        "from 0 to 1) is {},  interval {} to {}": [at["nDCG@10"], *ends["nDCG@10"]],
        "is {}, interval {} to {}": [at["MRR@10"], *ends["MRR@10"]],
        "nDCG@10 {}, interval {} to {}": [at["nDCG@10"], *ends["nDCG@10"]],
        "MRR@10 {} ({} to {})": [at["MRR@10"], *ends["MRR@10"]],
    }


def test_write_up_tells_named_values(page, named):
    for cell in ("r-corpus", "r-baseline-text", "r-compared-text", "r-limits", "r-agreement"):
        tells(page[cell][0], named)
    tells(page["r-lead"][1], named)


# The decision.

BAR = 0.7


def in_five(published: dict) -> dict[str, tuple[int, int, float, float]]:
    """Return of each kind of test query how many find something, of how many, and the interval."""
    hits: dict[str, list[float]] = {}
    for row in published["per_query"]:
        if row["split"] == "test":
            for name in ("all questions", row["kind"]):
                hits.setdefault(name, []).append(row["measures"]["hit@5"])
    counts = {name: (round(sum(of)), len(of)) for name, of in hits.items()}
    return {name: (*at, *witness.wilson(*at)) for name, at in counts.items()}


def test_the_verdict_is_that_of_the_intervals(page, published):
    said = re.sub(r"[*]", "", html.unescape(page["r-lead"][0]))
    kinds = {name: at for name, at in in_five(published).items() if name != "all questions"}
    sides = {
        "good": {name for name, (*_, low, _) in kinds.items() if low > BAR},
        "poor": {name for name, (*_, high) in kinds.items() if high < BAR},
    }
    sides["open"] = kinds.keys() - sides["good"] - sides["poor"]
    first = said.partition(". ")[0]
    told = {"good": first.partition(", but not")[0], "open": first.partition(";")[2]}
    told["poor"] = first.partition(", but not")[2].partition(";")[0]
    for side, names in sides.items():
        assert {name for name in kinds if re.search(rf"\b{name}\b", told[side])} == names, side
    runs = {row["name"]: row["verdict"] for row in published["compared_dev"]["runs"]}
    counts = Counter(runs.values())
    for verdict, words in (("better", "ranks better"), ("worse", "ranks worse")):
        names = [name for name in runs if runs[name] == verdict]
        told_any = words in said or words.replace("ranks", "rank") in said
        assert told_any == bool(names) and all(name in said for name in names)
    wanted = {"Of {} other runs": len(runs)}
    wanted["{} make no difference"] = counts["no difference shown"]
    wanted["for {} there are too few questions"] = counts["too few queries to tell"]
    tells(said.partition(". ")[2], wanted)


def test_three_numbers_count_questions(page, published):
    test = [row for row in published["per_query"] if row["split"] == "test"]
    n = len(test)
    quoted = published["evidence"]["test"]
    found, _, low, high = in_five(published)["all questions"]
    wanted = {
        "{} of {} test questions": [found, n],
        "might have been {} to {} of them": [low, high],
        "{} of {} had one in first place": [sum(row["first_rank"] == 1 for row in test), n],
        "{} of {} had a passage": [round(quoted["by_k"]["evidence"][4] * quoted["n"]), quoted["n"]],
    }
    said = page["r-numbers"][0].replace("1 for a useful", "for a useful")
    said = said.replace("1/2 in second, 1/3 in third", "").replace("from 0 to 1", "from 0 to 1")
    tells(said, wanted | half_named(published["summary"]["test"]) | {"from {} to {})": [0, 1]})


def test_what_to_do_next_follows_from_the_comparison(page, published):
    compared = published["compared_dev"]
    rows = {row["name"]: row["measures"]["nDCG@10"] for row in compared["runs"]}
    of = {row["name"]: row for row in compared["runs"]}
    gains = sorted(rows, key=lambda name: -rows[name]["difference"])
    better = [name for name in gains if of[name]["verdict"] == "better"]
    open_ones = [name for name in gains if of[name]["verdict"].startswith("too few")]
    said = html.unescape(page["r-next"][0]).replace("**", "")
    assert f"Try *{better[0]}*." in said if better else "Stay with BM25" in said
    for name in (name for name in gains if of[name]["verdict"] == "worse"):
        assert re.search(rf"Don't switch to .*\*{re.escape(name)}\*", said)
    causes = Counter(card["cause"] for card in published["cards"])
    apart = causes["no shared word"] + causes["missing word"]
    wanted = {
        "{} comparisons": len(rows),
        "In {} of {} dev questions": [apart, len(published["cards"])],
    }
    if better:
        at = rows[better[0]]
        ends = [at["n"], at["difference"], at["low"], at["high"]]
        wanted["On {} dev questions it gains {} in nDCG@10 ( interval {} to {};"] = ends
        wanted["p = {}, adjusted"] = of[better[0]]["p_holm"]
    at = rows[open_ones[0]]
    assert f"*{open_ones[0]}* gains most" in said and at["difference"] > witness.MATTERS
    needed = witness.enough(at["difference"], at)
    pairs = len(witness.rows(FOLDER / "judgments.jsonl"))
    pairs /= len(witness.rows(FOLDER / "retrieval_queries.jsonl"))
    more = needed - at["n"]
    wanted |= {
        "gains most, {}. {} questions would": [at["difference"], needed],
        "dev has {}, so label about {} more": [at["n"], more],
        "A gain of {} would take {}.": [witness.MATTERS, witness.enough(witness.MATTERS, at)],
        "At {} judged pairs a question, {} questions are about {} pairs": [
            round(pairs),
            more,
            more * round(pairs),
        ],
    }
    tells(said, wanted)


# The appendix.

MOST = 20  # queries named in a sentence


def test_write_up_names_the_queries_that_could_be_repaired(page, published):
    run = witness.trec(FOLDER / "runs" / "fixed.trec")
    size = len(list((FOLDER / "corpus").glob("*.md")))
    depth = size // 20
    dev = [row for row in published["per_query"] if row["split"] == "dev"]
    below = [row for row in dev if row["measures"]["nDCG@10"] < 1]
    first = {row["query_id"]: {d for d, _ in run[row["query_id"]][:depth]} for row in below}
    order = [row["query_id"] for row in below if row["relevant"].keys() <= first[row["query_id"]]]
    fetch = [row["query_id"] for row in below if row["query_id"] not in order]
    said = page["r-repairs"][0]
    named = [re.findall(r"q\d+", line) for line in re.findall(r"\((q[^)]*)", said)]
    assert named == [order[:MOST], fetch[:MOST]]
    wanted = {
        "{} of {} dev queries are below nDCG@10 {}": [len(below), len(dev), 1],
        "among the first {}, {} of the corpus": [depth, depth / size],
        "wrong: {} queries": len(order),
        "among them: {} queries": len(fetch),
    }
    rest = [len(names) - MOST for names in (order, fetch)]
    assert re.findall(r"and (\d+) more", said) == [str(n) for n in rest if n > 0]
    tells(re.sub(r" and \d+ more", "", said), wanted)


def test_write_up_shows_the_queries_and_their_kinds(page, files):
    counts = Counter((row["kind"], row["split"]) for row in files.queries.values())
    wanted = {name: [n] for name, n in counts.items()}
    for row in reversed(files.queries.values()):
        if row["split"] == "dev":
            wanted[row["kind"], "a dev query"] = row["query"]
    agree(html_table(page["r-queries"][0]), wanted)


def test_write_up_shows_the_method(page, published):
    cells, at = html_table(page["r-method"][0]), published["method"]
    named = {f"{name} = {{}}": at[name] for name in ("k1", "b", "epsilon")}
    named |= {"depth {}": at["depth"], "to {} decimals": 10, "{} overlap": at["overlap_tokens"]}
    named |= {"fixed: {}": at["chunk_tokens"]}
    named["{} chunks"] = len(witness.rows(FOLDER / "chunks" / "fixed.jsonl"))
    for row in ("engine", "documents", "chunks", "order"):
        tells(cells[row, "choice"], named)
    assert at["engine"] in cells["engine", "choice"] and at["words"] in cells["words", "choice"]
    assert cells["IDF", "choice"] == f"{at['idf']}, epsilon = {at['epsilon']}"


def test_write_up_shows_the_baseline(page, published):
    wanted = {}
    for split, half in published["summary"].items():
        column = f"{split} (n = {half['n']})"
        for name in (*BASELINE, "recall@5", "P@10", "MAP"):
            wanted[name, column] = [half["measures"][name], *half["intervals"].get(name, [])]
        wanted["median first rank", column] = half["median_first_rank"]
    agree(html_table(page["r-baseline"][0]), wanted)


def test_write_up_shows_the_kinds(page, published):
    wanted = {}
    for split in witness.SPLITS:
        parts = published["by_kind"][split] | published["by_popularity"][split]
        for kind, row in parts.items():
            wanted[kind, f"{split} nDCG@10"] = row["measures"]["nDCG@10"]
            found = round(row["measures"]["hit@5"] * row["n"])
            wanted[kind, f"{split} in five"] = f"{found} of {row['n']}"
    agree(html_table(page["r-kinds"][0]), wanted)
    counts = {k: f"{at[0]} of {at[1]}" for k, at in in_five(published).items()}
    del counts["all questions"]
    assert counts.items() <= {k: v for (k, c), v in wanted.items() if c == "test in five"}.items()


def board(published: dict) -> dict:
    """Return the leaderboard's cells, base first."""
    found = published["compared_dev"]
    base = found["base"]["means"]["nDCG@10"]
    columns = ("difference", "95 % interval", "p (Holm)", "detectable", "wins/ties/losses")
    cells = {("baseline", column): "" for column in columns}
    cells |= {("baseline", "nDCG@10"): base, ("baseline", "verdict"): "the baseline"}
    for row in found["runs"]:
        at, name = row["measures"]["nDCG@10"], row["name"]
        cells |= {(name, "nDCG@10"): at["run"], (name, "difference"): at["difference"]}
        cells |= {
            (name, "95 % interval"): [at["low"], at["high"]],
            (name, "p (Holm)"): row["p_holm"],
        }
        cells |= {(name, "detectable"): at["detectable"], (name, "verdict"): row["verdict"]}
        cells[name, "wins/ties/losses"] = [at["wins"], at["ties"], at["losses"]]
    return cells


def test_write_up_and_session_c_show_the_comparison(page, session, published):
    wanted = board(published)
    agree(html_table(session["c-compare-run"][0]), wanted)
    short = {name: v for name, v in wanted.items() if name[1] != "wins/ties/losses"}
    agree(html_table(page["r-compared"][0]), short)


def test_the_kinds_of_each_system_are_shown(page, cells, published):
    wanted = {}
    for row in published["compared_dev"]["runs"]:
        for kind, at in (row["by_kind"] | row["by_popularity"]).items():
            wanted |= {(kind, "n"): at["n"], (kind, "baseline"): at["base"]}
            wanted[kind, row["name"]] = at["run"]
    agree(html_table(cells["c-compare-kinds"][0]), wanted)
    ends = {}
    for kind in published["by_kind"]["dev"]:
        means = {name: v for (k, name), v in wanted.items() if k == kind and name != "n"}
        ends[kind, "n"], ends[kind, "baseline"] = wanted[kind, "n"], means["baseline"]
        ends |= {(kind, "lowest"): min(means.values()), (kind, "highest"): max(means.values())}
        ends[kind, "led by"] = max(means, key=means.get)
    agree(html_table(page["r-compared-kinds"][0]), ends)


def counts_of_kinds(pairs: list[tuple[str, str]]) -> dict:
    """Return the cells of a table that counts names, and the kinds of query of each."""
    cells = {}
    for name, n in Counter(name for name, _ in pairs).items():
        kinds = Counter(kind for other, kind in pairs if other == name)
        by_kind = sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))
        cells[name, "queries"] = n
        cells[name, "by kind"] = ", ".join(f"{kind} {count}" for kind, count in by_kind)
    return cells


def test_write_up_counts_the_causes_and_the_places(page, published, files):
    kind_of = {query_id: row["kind"] for query_id, row in files.queries.items()}
    causes = [(card["cause"], kind_of[card["query_id"]]) for card in published["cards"]]
    agree(html_table(page["r-causes"][0] + page["r-causes"][1]), counts_of_kinds(causes))
    lost = [(place, kind_of[q]) for q, place in published["evidence"]["lost"].items()]
    cells = html_table(page["r-evidence-lost"][0])
    wanted = counts_of_kinds(lost)
    empty = {name: {"queries": 0, "by kind": ""}[name[1]] for name in cells.keys() - wanted.keys()}
    agree(cells, wanted | empty)


def test_write_up_shows_evidence_recall(page, published):
    wanted = {
        (name, f"{budget:,}"): at["means"][f"evidence recall within {budget} tokens"]
        for name, at in published["evidence"]["dev"]["sets"].items()
        for budget in (500, 1000, 2000, 4000, 8000)
    }
    agree(html_table(page["r-evidence-budgets"][0]), wanted)


def test_write_up_shows_the_five_lowest_failures(page, published):
    ranked = {row["query_id"]: [d for d, _ in row["retrieved"]] for row in published["per_query"]}
    at = {row["query_id"]: row for row in published["per_query"]}
    for text, card in zip(page["r-cards"], published["cards"][:5], strict=False):
        said, row = html.unescape(text), at[card["query_id"]]
        order = ranked[card["query_id"]]
        assert said.startswith(f"#### {card['query_id']}: {row['query']}\n")
        for who in ("wanted", "rival"):
            rank = order.index(card[who]) + 1 if card[who] in order else None
            place = f"rank {rank}" if rank else "after rank 10"
            assert f"{who} <code>{card[who]}</code> ({place})" in said.replace("Wanted", "wanted")
        assert f"lacks: {', '.join(card['lacks']) or 'no word'}." in said
        head = re.search(r"\n(\w+); (nDCG@10 [\d.]+); cause: \*\*(.*?)\*\*", said)
        assert (head[1], head[3]) == (row["kind"], card["cause"])
        tells(head[2], {"nDCG@10 {}": row["measures"]["nDCG@10"]})


def test_session_c_shows_the_five_lowest_cards(session, published):
    rows = {row["query_id"]: row for row in published["per_query"]}
    told = "".join(session["c-failures"] + session["c-failures-more"]).strip().split("\nq")
    for lines, card in zip(told, published["cards"][:5], strict=True):
        row = rows[card["query_id"]]
        head, *rest = lines.split("\n")
        assert head.removeprefix("q").startswith(f"{row['query_id'][1:]} ({row['kind']}, nDCG@10 ")
        order = [doc_id for doc_id, _ in row["retrieved"]]
        for who, line in zip(("wanted", "rival"), rest, strict=False):
            assert line.startswith(f"  {who}: {card[who]} (")
            if card[who] in order:
                assert f"(rank {order.index(card[who]) + 1}" in line
        points = {word: points for word, _, _, points in card["words"]}
        for line, gained in zip(rest[2:4], (True, False), strict=True):
            words = [word for word in card["lacks"] if (points[word] > 0) == gained]
            assert line.partition(": ")[2] == (", ".join(words) or "no word")
        names = ("score", "best of all chunks", "without length")
        tells(rest[4], {f"{name} {{}} against {{}}": card[name] for name in names})


def test_session_c_shows_both_halves(session, published, files):
    wanted = {}
    for split, half in published["summary"].items():
        row = f"{split} (n={half['n']})"
        wanted |= {(row, n): v for n, v in half["measures"].items() if n != "MRR"}
    said, table = session["c-summary"]
    tells(said, {"not in n: {} queries": len(files.asked) - len(files.queries)})
    agree(html_table(table), wanted)
    dev = published["summary"]["dev"]
    low, high = dev["intervals"]["nDCG@10"]
    wanted = {"nDCG@10 {},": dev["measures"]["nDCG@10"], "interval {} to {}": [low, high]}
    tells(session["c-interval-then"][0].partition("by hand")[0], wanted)


LOWEST = 20  # rows of a table that a reader reads


def test_session_c_shows_the_lowest_dev_queries(session, published):
    wanted, dev = {}, [row for row in published["per_query"] if row["split"] == "dev"]
    for row in sorted(dev, key=lambda row: row["measures"]["nDCG@10"])[:LOWEST]:
        if row["measures"]["nDCG@10"] < 1:
            cells = {"kind": row["kind"], "first rank": row["first_rank"] or "<NA>"}
            for name in ("nDCG@10", "RR@10", "hit@5", "recall@10", "AP"):
                cells[name] = row["measures"][name]
            wanted |= {(row["query_id"], column): value for column, value in cells.items()}
    said, table = session["c-per-query"]
    agree(html_table(table), wanted)
    perfect = sum(row["measures"]["nDCG@10"] == 1 for row in dev)
    lowest = min(LOWEST, len(dev) - perfect)
    tells(said, {"{} of {} are perfect": [perfect, len(dev)], "the {} lowest": lowest})
    cards = {"{} queries": len(dev) - perfect, "{} with a card": len(published["cards"])}
    tells(session["c-card-run"][0], cards)


def test_session_c_shows_the_kinds_and_their_overlap(session, published, files):
    wanted = {}
    parts = [
        (field, *pair)
        for field in ("kind", "popularity")
        for pair in published[f"by_{field}"]["dev"].items()
    ]
    for field, kind, row in parts:
        asked = [q for q, r in files.queries.items() if (r[field], r["split"]) == (kind, "dev")]
        shared = sum(witness.overlap(files, q) for q in asked) / len(asked)
        cells = {"n": row["n"], "overlap": shared}
        cells |= {n: row["measures"][n] for n in ("nDCG@10", "MRR@10", "hit@5", "recall@10")}
        wanted |= {(kind, column): value for column, value in cells.items()}
    agree(html_table(session["c-kinds-run"][0]), wanted)


def test_session_c_says_how_far_another_system_is(session, published):
    row = next(r for r in published["compared_dev"]["runs"] if r["name"].startswith("dense"))
    at = row["measures"]["nDCG@10"]
    named = {"{} ({} to {})": [at["difference"], at["low"], at["high"]]}
    named |= {"better {}, equal {}, worse {}": [at["wins"], at["ties"], at["losses"]]}
    tells(session["c-other"][0], named)
    wide = witness.stats.t.ppf(0.975, at["n"] - 1)
    sd = (at["high"] - at["low"]) / 2 / wide * at["n"] ** 0.5
    named = {"flip p = {}": at["p"], "test: p = {}": at["t_p"], "{} queries,": at["n"]}
    named |= {"spread {}": sd, "from {} up": at["detectable"], "of {}:": 0.05}
    tells(session["c-flip-real"][0], named)
    said = "".join(session["c-detectable"])
    told, _, needed = said.partition("\nc-detectable")[0].rpartition(" difference of .05: ")
    told, rule, shown = told.partition(" = ")
    tells(told.rpartition("\n")[0], named)
    assert rule and shows(shown.split()[0], 2.8 * sd / at["n"] ** 0.5)
    n = int(needed.split()[0])  # so many find .05, one fewer do not
    assert witness.detectable(n, sd) <= 0.05 < witness.detectable(n - 1, sd)


def test_causes_are_decided_in_the_order_of_session_c():
    path = ROOT / "notebooks" / "session_c_metrics_and_writeup.ipynb"
    cells = {c["id"]: "".join(c["source"]) for c in json.loads(path.read_text("utf-8"))["cells"]}
    order = [row for row, _ in markdown_tables(cells["c-cause"])[0]]
    assert order == list(witness.CAUSES)


def test_one_coverage_number_in_every_place(page, cells, files):
    """What the queries reach stands on five pages; each is made by code of its own."""
    found, n = len(witness.reached(files)), len(files.documents)
    card = markdown_tables(block(FOLDER / "README.md"))[0]
    written = (FOLDER / "coverage.md").read_text(encoding="utf-8")
    places = (
        (written, "{} of {} documents ({})", [found, n, found / n]),
        (card["documents reached by a query", "count"], "{} ({})", [found, found / n]),
        (page["r-corpus"][0], "reach {} documents ({})", [found, found / n]),
        (cells["a-coverage-all"][0], "{} of {} documents", [found / n, n]),
        (cells["a-audit-run"][0], "{} of {} documents reached ({})", [found, n, found / n]),
    )
    for text, phrase, wanted in places:
        (hit,) = re.findall(re.escape(phrase).replace(r"\{\}", f"({NUMBER})"), text)
        assert all(map(shows, hit, wanted)), (phrase, hit)


# What the sessions show beside results.json.


@pytest.fixture(scope="module")
def cells():
    """Return the outputs of every notebook's cells, whichever notebook they stand in."""
    paths = [*(ROOT / "notebooks").rglob("*.ipynb"), *FOLDER.glob("*.ipynb")]
    return {cell: told for path in paths for cell, told in outputs(path).items()}


def near(text: str, value: float) -> bool:
    """Return whether a text is `value` with the decimals that it has; -0.000 is 0."""
    most = 0.5 * 10 ** -len(text.partition(".")[2])
    return math.isclose(float(text), value, rel_tol=0, abs_tol=most + 1e-9)


def test_every_truth_of_a_prediction(cells, files, published):
    text = "\n".join(line for told in cells.values() for line in told)
    said = dict(re.findall(r"^([abc]-[a-z-]+): (\S+)$", text, re.MULTILINE))
    wanted = witness_sessions.truths(files, published)
    assert said.keys() == wanted.keys()
    for name, value in wanted.items():
        same_text = isinstance(value, str) and said[name] == value
        assert same_text or near(said[name], value), (name, said[name], value)


def test_session_a_shows_the_pool_and_its_bias(cells, files):
    """Three rankers have no run to read: their difference is that of the two columns beside it."""
    alone, known = witness_sessions.found_alone(files), witness_sessions.pool_bias(files)
    pairs = len(witness_sessions.pooled(files))
    assert f"{len(alone)} rankers, {pairs} pairs in the pool" in cells["a-pool"][0]
    table = html_table(cells["a-judged-table"][0])
    wanted = {(name, "relevant found alone"): len(own) for name, own in alone.items()}
    agree(table, wanted | {(name, "judged@10"): 1 for name in alone})
    bias = html_table(cells["a-bias-table"][0])
    assert {name for name, _ in bias} == {*alone} and known
    for name in alone:
        told = [bias[name, of] for of in ("nDCG@10", "left out of the pool", "difference")]
        whole, left, apart = map(float, told)
        assert math.isclose(apart, left - whole, abs_tol=0.0011), (name, told)
        if name in known:
            values = [*known[name], known[name][1] - known[name][0]]
            assert all(map(near, told, values)), (name, told, values)


def test_session_b_shows_the_chunks_and_the_quotes_they_cut(cells, files):
    wanted, about = {}, {}
    for name in witness_evidence.SETS:
        sizes = [c["n_tokens"] for c in witness.rows(FOLDER / f"chunks/{name}.jsonl")]
        wanted[name, "chunks"] = about["count", name] = len(sizes)
        wanted[name, "quotes cut"] = witness_sessions.cut_quotes(files, name)
        shown = {"mean": np.mean(sizes), "std": np.std(sizes, ddof=1)}
        shown |= {f"{q}%": np.percentile(sizes, q) for q in (25, 50, 75)}
        shown |= {"min": min(sizes), "max": max(sizes)}
        about |= {(row, name): float(np.round(value)) for row, value in shown.items()}
    agree(html_table(cells["b-save-run"][0]), about)
    agree(html_table(cells["b-sizes-run"][1]), wanted)
    quotes = witness_sessions.quotes_of(files)
    n = sum(map(len, quotes.values()))
    assert f"{n} quotes in {len(quotes)} documents" in cells["b-sizes-run"][0]


def test_session_b_shows_first_ranks(cells, files):
    """The five queries stand at quarters of their order by the first relevant rank."""
    run, ranks = witness.trec(FOLDER / "runs" / "fixed.trec"), {}
    for query_id, row in files.queries.items():
        if row["split"] == "dev":
            rank = witness.first_rank([d for d, _ in run[query_id]], files.grades[query_id])
            ranks[query_id] = rank or math.inf
    order = sorted(ranks, key=lambda query_id: (ranks[query_id], query_id))
    wanted = {}
    for query_id in (order[round(n * (len(order) - 1) / 4)] for n in range(5)):
        row, rank = files.queries[query_id], ranks[query_id]
        shown = row["kind"], row["query"], "> 100" if math.isinf(rank) else str(rank)
        columns = ("kind", "query", "rank of first relevant")
        wanted |= {(query_id, column): text for column, text in zip(columns, shown, strict=True)}
    agree(html_table(cells["b-choose"][0]), wanted)
    counts = re.findall(r"^ *(\d+) ", cells["b-published-run"][0], re.MULTILINE)
    assert counts == [str(n) for n in witness_sessions.first_places(files)]


BUDGETS = {budget: f"{budget:,} tokens" for budget in witness_evidence.BUDGETS}


def test_session_c_shows_budgets_that_chunks_must_fit_whole(cells, files, lists):
    asked, wanted = witness_evidence.quoted(files, "dev"), {}
    for name in ("fixed-256", "fixed", "fixed-1024"):
        for rule, cut in (("cut", True), ("whole or not at all", False)):
            for budget, column in BUDGETS.items():
                got = ((q, witness_evidence.delivered(lists[name][q], budget, cut)) for q in asked)
                shares = [
                    len(witness_evidence.seen_at(asked[q], t)) / len(asked[q]) for q, t in got
                ]
                wanted[f"{name} {rule}", column] = float(np.mean(shares))
    agree(html_table(cells["c-evidence-rule-run"][0]), wanted)


def test_session_c_shows_answers(cells, files, lists):
    run = witness.trec(FOLDER / "runs" / "fixed.trec")
    n = len(witness_sessions.answered(files))
    for cell in ("c-evidence-answers-run", "c-answers-em"):
        assert cells[cell][0].startswith(f"{n} dev queries ")
    wanted = {
        (name, column): witness_sessions.answers_within(files, lists[name], budget)
        for name in witness_evidence.SETS
        for budget, column in BUDGETS.items()
    }
    agree(html_table(cells["c-evidence-answers-run"][1]), wanted)
    rules = (("strict", True), ("SQuAD", False))
    wanted = {
        (f"EM@{k}", rule): witness_sessions.exact_match(files, run, k, strict)
        for k in (1, 5, 10)
        for rule, strict in rules
    }
    agree(html_table(cells["c-answers-em"][1]), wanted)
    wanted = {
        (outcome, column): value
        for outcome, values in witness_sessions.reading(files, run).items()
        for column, value in zip(("queries", "F1", "best"), values, strict=True)
    }
    agree(html_table(cells["c-reader-run"][0]), wanted)


def test_session_c_shows_variants_and_the_luck_of_the_best(cells, files, published):
    base = {
        split: [r["measures"]["nDCG@10"] for r in published["per_query"] if r["split"] == split]
        for split in witness.SPLITS
    }
    engines = witness_sessions.variants(files)
    values = {name: witness_sessions.ndcg_of(files, of, "dev") for name, of in engines.items()}
    of_dev = {name: witness.paired(base["dev"], v) for name, v in values.items()}
    table = html_table(cells["c-variants-board"][0])
    ps = [float(table[name, "p"].replace("<", "0")) for name in of_dev]
    assert {name for name, _ in table} == {"baseline", *of_dev}
    for (name, at), p, adjusted in zip(of_dev.items(), ps, witness.holm(ps), strict=True):
        told = [table[name, column] for column in ("nDCG@10", "difference", "detectable")]
        assert all(map(near, told, (at["run"], at["difference"], at["detectable"]))), (name, told)
        assert abs(p - at["p"]) < 0.02, (name, p, at["p"])
        assert table[name, "verdict"] == witness.verdict(at, adjusted)
    best = max(of_dev, key=lambda name: of_dev[name]["run"])
    said = cells["c-confirm"][0]
    assert f"chosen on dev among {len(engines)}: {best}\n" in said
    after = witness.paired(base["test"], witness_sessions.ndcg_of(files, engines[best], "test"))
    for half, at in (("dev", of_dev[best]), ("test", after)):
        told = re.search(rf"{half}: (\S+) \((\S+) to (\S+)\)", said).groups()
        assert all(map(near, told, (at["difference"], at["low"], at["high"]))), (half, told)
    gaps = np.array([np.subtract(v, base["dev"]) for v in values.values()])
    lucky = [of_dev[best]["difference"], *witness_sessions.luck(gaps)]
    told = re.findall(r"[+-]\.?\d\S*", cells["c-luck"][0])
    assert len(told) == 3 and near(told[0], lucky[0])
    for text, value in zip(told, lucky, strict=True):
        assert abs(float(text) - value) < 0.0015, (told, lucky)  # drawn


def test_session_c_shows_the_range_of_unjudged_documents(cells, files):
    names = ("runs/fixed.trec", "systems/dense-minilm-titled.trec")
    found = witness_sessions.unjudged(files, *(witness.trec(FOLDER / name) for name in names))
    said = {"judged@10 {}": found["judged"], "{} (as 0)": found["as 0"]}
    said |= {"{} (left out)": found["left out"], "{} (all relevant)": found["hopeful"]}
    tells(cells["c-unjudged-run"][0], said | {"with every label: {}": found["true"]})


# Rules on cases that were made for them.


@pytest.fixture
def six(tmp_path):
    """Return a set of six queries, with a base that is second on each and a run that is first."""
    (tmp_path / "corpus").mkdir()
    for doc_id in ("a", "b"):
        page = f"---\ntitle: {doc_id}\nkind: faq\nservice: s\nupdated: 2026-01-01\n---\nText.\n"
        (tmp_path / "corpus" / f"{doc_id}.md").write_text(page, encoding="utf-8")
    ids = [f"q{n}" for n in range(6)]
    rows = [{"query_id": q, "query": q, "relevant_doc_ids": ["a"]} for q in ids]
    write_rows(tmp_path / "retrieval_queries.jsonl", *rows)
    base = runs.Run("base", {q: [("b", 2.0), ("a", 1.0)] for q in ids}, [])
    return evalset.load(tmp_path), base, {q: [("a", 2.0), ("b", 1.0)] for q in ids}


def test_a_verdict_rests_on_p_adjusted_for_the_runs(six):
    """Six wins of six give p = 2/64 = .031 alone; with a second run it is .0625, and no verdict."""
    evals, base, better = six
    alone = compare.compare(evals, base, [runs.Run("new", better, [])])["runs"][0]
    assert (alone["p_holm"], alone["verdict"]) == (1 / 32, stats.BETTER)
    both = [runs.Run("new", better, []), base._replace(name="same")]
    first, second = compare.compare(evals, base, both)["runs"]
    assert first["measures"]["nDCG@10"]["p"] == 1 / 32
    assert (first["p_holm"], first["verdict"]) == (1 / 16, stats.TOO_FEW)
    assert (second["p_holm"], second["verdict"]) == (1.0, stats.SAME)


CHANGES = {  # (file, old, new): which hashes change
    ("retrieval_queries.jsonl", '"split": "dev"', '"split": "test"'): {"queries"},
    ("retrieval_queries.jsonl", "disk is full", "the disk is full"): {"queries", "topics"},
    ("judgments.jsonl", '"relevance": 2', '"relevance": 1'): {"queries"},
    ("judgments.jsonl", '"evidence": "Add a consumer."', '"evidence": "Add a"'): set(),
    ("corpus/queue-full.md", "Add a consumer.", "Add a consumer. Now."): {"corpus"},
    ("corpus/queue-full.md", "title: queue-full", "title: full queue"): {"corpus"},
    ("corpus/queue-full.md", "kind: runbook", "kind: faq"): set(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_hash_changes_with_what_it_stands_for(folder, change):
    def hashes() -> dict[str, str]:
        evals, files = evalset.load(folder), witness.read(folder)
        own = {name: getattr(evals, f"{name}_hash")() for name in ("corpus", "queries", "topics")}
        assert own == {name: getattr(witness, f"{name}_hash")(files) for name in own}
        return own

    before, (name, old, new) = hashes(), change
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    after = hashes()
    assert {name for name in before if before[name] != after[name]} == CHANGES[change]


def test_hashes_know_which_document_and_query_they_hold(folder):
    """The same texts under other ids are another corpus and other queries."""
    before = evalset.load(folder)
    for path in [folder / "retrieval_queries.jsonl", folder / "judgments.jsonl"]:
        text = path.read_text(encoding="utf-8").replace('"q2"', '"q3"')
        path.write_text(text.replace("queue-full", "full-queue"), encoding="utf-8")
    (folder / "corpus" / "queue-full.md").rename(folder / "corpus" / "full-queue.md")
    after = evalset.load(folder)
    for name in ("corpus_hash", "queries_hash", "topics_hash"):
        assert getattr(after, name)() != getattr(before, name)()


def test_a_repair_is_known_for_every_cause():
    assert sorted(sum(write_up.REPAIRS.values(), ())) == sorted(witness.CAUSES)
