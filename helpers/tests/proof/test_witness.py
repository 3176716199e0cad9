"""Published numbers against the second witness, by name: results.json, README, write-up."""

import copy
import html
import math
import re
from collections import Counter

import pandas as pd
import pytest
import witness
import witness_evidence
from witness_pages import (
    FOLDER,
    ROOT,
    five,
    html_table,
    markdown_tables,
    notebook_cells,
    page_of,
    read_json,
    same_table,
    says,
    tells,
)


@pytest.fixture(scope="module")
def files():
    return witness.read(FOLDER)


@pytest.fixture(scope="module")
def published():
    return read_json("results.json")


@pytest.fixture(scope="module")
def scores(published):
    """Return what is published of each query: a row by id, also with its measures as columns."""
    rows = pd.DataFrame(published["per_query"]).set_index("query_id")
    return rows.join(pd.DataFrame([*rows["measures"]], rows.index))


@pytest.fixture(scope="module")
def base():
    return witness.trec(FOLDER / "runs" / "fixed.trec")


@pytest.fixture(scope="module")
def cells():
    return notebook_cells()


# results.json, key by key, and what it is measured on.


def flat(value, name: str = "") -> dict:
    """Return {name/of/parts: value} of everything in nested dictionaries and lists."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        return {name: value}
    found = {}
    for key, part in parts:
        found |= flat(part, f"{name}/{key}")
    return found


FOLLOWS = ("p_holm", "verdict", "alone", "reason")  # from p
DRAWN = {  # how far a value may be from the published one
    "/told_apart/.*(low|high)$": 0.05,  # another interval
    "/needs/intervals/": 0.03,  # few queries: a mean goes in steps
    "/intervals/": 0.01,
    "/bounds/": 0.004,
    "/detectable$": 1e-6,  # by iteration
}


def tolerance(name: str, published: dict) -> float:
    """Return how far a value may be from the published one."""
    if name.endswith("/p"):
        around = name.removesuffix("p")
        unlike = published[around + "wins"] + published[around + "losses"]
        return drawn_apart(published[name], unlike)
    return next((far for pattern, far in DRAWN.items() if re.search(pattern, name)), 1e-9)


def drawn_apart(p: float, unlike: int) -> float:
    """Return how far a p of so many differences may be: four standard errors of two such draws.

    Where all sign patterns fit into ten thousand p is exact. Else SciPy draws so many and doubles
    the smaller side, of which p / 2 of the patterns are, and adds one to it.
    """
    theirs, ours = 10_000, witness.DRAWS
    if 2**unlike <= theirs:
        return 1e-9
    variance = p * (2 - p) / theirs + p * (1 - p) / ours
    return 4 * math.sqrt(variance) + 2 / theirs


def differing(own: dict, published: dict) -> dict:
    """Return {name: (published, own)} of what isn't the same within its tolerance."""
    found = {}
    for name, value in own.items():
        wanted, alike = published[name], value == published[name]
        if isinstance(wanted, int | float) and isinstance(value, int | float):
            alike = math.isclose(wanted, value, rel_tol=0, abs_tol=tolerance(name, published))
        if not alike:
            found[name] = wanted, value
    return found


def test_results_json_is_what_a_second_witness_finds(files, published):
    own = witness.results(files) | {"evidence": witness_evidence.evidence(files)}
    for card in own["cards"]:
        card["lost"] = own["evidence"]["lost"][card["query_id"]]
    own, theirs = flat(own), flat(published)
    assert own.keys() == {name for name in theirs if not name.endswith(FOLLOWS)}
    assert not differing(own, theirs)


def test_verdicts_follow_from_the_published_p(published):
    again = copy.deepcopy(published)
    witness.decided(again)
    own, theirs = flat(again), flat(published)
    assert own.keys() == theirs.keys() and not differing(own, theirs)


def test_reasons_show_the_values_of_their_comparison(published):
    for run in published["compared_dev"]["runs"]:
        (low, high), p = run["bounds"], f"p (Holm) = {run['p_holm']:.4f}"
        if run["verdict"] in ("better", "worse"):
            tells(run["reason"], f"{p}, below 0.05")
        else:
            tells(run["reason"], f"{p}; the worst case, {low:+.3f} to {high:+.3f},", "±0.05")


@pytest.mark.parametrize("chunker", witness.CHUNKERS)
def test_runs_are_the_search_of_another_engine(files, chunker):
    """Ties of documents are pulled apart a little in the file."""
    engine = witness.Okapi(witness.passages(files, chunker))
    run = witness.trec(FOLDER / "runs" / f"{chunker}.trec")
    for query_id, row in files.asked.items():
        wanted, found = witness.to_documents(engine.search(row["query"])), run.get(query_id, [])
        assert [doc_id for doc_id, _ in found] == [doc_id for doc_id, _ in wanted], query_id
        assert dict(found) == pytest.approx(dict(wanted), abs=2e-3), query_id


# The README.

BASELINE = ("nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100")


def test_readme_shows_the_baseline(published, scores):
    page = page_of(ROOT / "README.md")
    page = re.search(r"<!-- generated.*?-->\n(.*?)<!-- end -->", page, re.DOTALL)[1]
    corpus, asked, method = published["corpus"], published["queries"], published["method"]
    wanted = {}
    for split, half in published["summary"].items():
        at = five(scores, split)
        wanted[split] = {name: f"{half['measures'][name]:.3f}" for name in BASELINE} | {
            "n": at.n,
            "median rank of first relevant": f"{half['median_first_rank']:.0f}",
            "full hit@5, of those with a full answer": f"{at.full / at.n_full:.3f} "
            f"(n = {at.n_full})",
            "of all": f"{at.full / at.n:.3f}",
        }
    same_table(markdown_tables(page)[0], wanted)
    told = [
        f"Corpus: {corpus['name']}, {corpus['documents']} documents, {corpus['tokens']:,} tokens",
        f"Queries: {asked['n']} and {asked['unanswered']} without an answer",
        f"{asked['judgments']:,} judgments (grades 0, 1, 2)",
        f"{method['engine']} (k1 = {method['k1']}, b = {method['b']})",
        f"{method['chunk_tokens']} tokens with {method['overlap_tokens']} overlap",
    ]
    for split in witness.SPLITS:
        at = published["evidence"][split]
        evidence, document = (at["by_k"][name][4] for name in ("evidence", "document"))
        recall = at["sets"]["fixed"]["means"][witness_evidence.NAMED]
        told.append(
            f"Evidence, {split} (n = {at['n']}): the first five chunks hold it for {evidence:.3f} "
            f"of the queries, and the right document for {document:.3f}. "
            f"The evidence recall within 2000 tokens is {recall:.3f}."
        )
    tells(re.sub(r"(?m)^\|.*", "", page), *told)


# The write-up: tables.


def test_tables_of_the_baseline(cells, files, published, scores):
    queries = pd.crosstab(scores["kind"], scores["split"])
    queries["a dev query"] = scores[scores["split"] == "dev"].groupby("kind")["query"].first()
    same_table(html_table(*cells["r-queries"]), queries.to_dict("index"))
    baseline, kinds = {}, {}
    for split, half in published["summary"].items():
        own, full = {}, half["full"]
        for name in (*BASELINE, "recall@5", "P@10", "MAP"):
            own[name] = f"{half['measures'][name]:.3f}"
        for name, (low, high) in half["intervals"].items():
            own[name] += f" ({low:.3f} to {high:.3f})"
        for name, mean in full["measures"].items():
            own[name] = f"{mean:.3f} (n = {full['n']})"
        own["median first rank"] = f"{half['median_first_rank']:.0f}"
        baseline[f"{split} (n = {half['n']})"] = own
    for split in witness.SPLITS:
        parts = published["by_kind"][split] | published["by_popularity"][split]
        measures = {kind: part["measures"] for kind, part in parts.items()}
        in_five = {kind: round(at["hit@5"] * parts[kind]["n"]) for kind, at in measures.items()}
        kinds[f"{split} nDCG@10"] = {k: f"{at['nDCG@10']:.3f}" for k, at in measures.items()}
        kinds[f"{split} in five"] = {k: f"{n} of {parts[k]['n']}" for k, n in in_five.items()}
    for cell, columns in (("r-baseline", baseline), ("r-kinds", kinds)):
        same_table(html_table(*cells[cell]), pd.DataFrame(columns).to_dict("index"))


def test_table_of_comparisons(cells, published):
    compared = published["compared_dev"]
    rows = {"baseline": dict.fromkeys(("difference", "95 %, each by itself", "p (Holm)"), "")}
    rows["baseline"] |= {"nDCG@10": f"{compared['base']['means']['nDCG@10']:.3f}"}
    rows["baseline"] |= {"verdict": "the baseline", "on test": ""}
    for row in compared["runs"]:
        at, on_test = row["measures"]["nDCG@10"], ""
        if "halves" in row:
            halves = row["halves"]
            apart = halves["test apart from dev"]
            on_test = f"{halves['test']['difference']:+.3f}, {halves['test minus dev']['verdict']}"
            on_test += f"; apart {apart['difference']:+.3f} (n = {apart['n']})"
        elif row["verdict"] in ("better", "worse"):
            on_test = "not chosen"
        rows[row["name"]] = {
            "nDCG@10": f"{at['run']:.3f}",
            "difference": f"{at['difference']:+.3f}",
            "95 %, each by itself": f"{at['low']:+.3f} to {at['high']:+.3f}",
            "p (Holm)": f"{row['p_holm']:.4f}",
            "verdict": row["verdict"],
            "on test": on_test,
        }
    same_table(html_table(*cells["r-compared"]), rows)


def test_tables_of_failures(cells, files, published):
    evidence, budgets = published["evidence"], {}
    for name, at in evidence["dev"]["sets"].items():
        means = {b: at["means"][f"evidence recall within {b} tokens"] for b in BUDGETS}
        budgets[name] = {f"{b:,}": f"{mean:.3f}" for b, mean in means.items()}
        budgets[name]["verdict"] = at.get("against", {}).get("verdict", "the baseline")
    same_table(html_table(*cells["r-evidence-budgets"]), budgets)
    causes = {card["query_id"]: card["cause"] for card in published["cards"]}
    same_table(html_table(*cells["r-causes"]), counts_of_kinds(files, causes))
    shown = html_table(*cells["r-evidence-lost"])
    places = {name: {"queries": 0, "by kind": ""} for name in shown}
    same_table(shown, places | counts_of_kinds(files, evidence["lost"]))


BUDGETS = witness_evidence.BUDGETS


def counts_of_kinds(files, names: dict[str, str]) -> dict:
    """Return a table that counts the names of queries, and the kinds of query of each."""
    kinds, table = {}, {}
    for query_id, name in names.items():
        kinds.setdefault(name, Counter())[files.queries[query_id]["kind"]] += 1
    for name, counts in kinds.items():
        most_first = sorted((-n, kind) for kind, n in counts.items())
        by_kind = ", ".join(f"{kind} {-n}" for n, kind in most_first)
        table[name] = {"queries": counts.total(), "by kind": by_kind}
    return table


# The write-up: sentences.


def test_sentences_about_the_set(cells, files, published, scores):
    documents, grades = pd.DataFrame(files.documents.values()), files.grades.values()
    n, n_documents, reached = len(files.queries), len(documents), len(witness.reached(files))
    sizes = documents["text"].map(witness.tokens)
    relevant = sum(grade > 0 for row in grades for grade in row.values())
    tells(
        cells["r-corpus"][0],
        f"{n_documents} documents of {documents['kind'].nunique()} kinds about "
        f"{documents['service'].nunique()} services, {sizes.sum():,} tokens",
        f"median document has {sizes.median():.0f} tokens, the longest {sizes.max():,}",
        f"{sum(sizes > 512)} are longer than one chunk",
        f"Asked: {n} queries",
        f"{sum(map(len, grades)):,} judgments. {relevant:,} of these are relevant, "
        f"{relevant / n:.1f} for each",
        f"reach {reached} documents ({reached / n_documents:.0%})",
        f"answers {len(files.asked) - n} queries",
    )
    measured = cells["r-lead"][1]
    n_test = published["summary"]["test"]["n"]
    halves = f"{n - n_test} (dev) are for choosing and {n_test} (test)"
    tells(measured, f"{n_documents} documents, {n} questions", halves)
    rounds = pd.Series({q: row.get("round") for q, row in files.queries.items()})
    ndcg = scores.loc[scores["split"] == "test", "nDCG@10"]
    newest = ndcg[rounds == 5]
    tells(
        cells["r-limits"][0],
        f"{n_documents} documents",
        f"On the {len(newest)} test questions of round 5, the newest, nDCG@10 is "
        f"{newest.mean():.3f}; on all {n_test} it's {ndcg.mean():.3f}",
    )
    told = [f"Second pass, {text}" for text in witness.readings(files)]
    tells(cells["r-agreement"][0], *told)


def test_sentences_about_the_baseline(cells, files, published, scores):
    values, test = (published["summary"][split]["measures"] for split in witness.SPLITS)
    dev = scores[scores["split"] == "dev"]
    said, _, rest = cells["r-baseline-text"][0].partition("Some queries are shown apart")
    tells(
        said.partition("First result relevant")[0],
        f"first result is relevant for {sum(dev['first_rank'] == 1)} of {len(dev)} queries",
        f"for {sum(dev['hit@10'] == 0)} there's nothing relevant",
        f"among the first hundred, is {values['recall@100']:.3f}",
        f"differ by {abs(values['nDCG@10'] - test['nDCG@10']):.3f} in nDCG@10",
    )
    asked = pd.DataFrame.from_dict(files.queries, orient="index")
    newest, shown = asked["round"] == 5, []
    for half in witness.SPLITS:
        for name, part in {
            "in another language": asked["language"].notna(),
            "of round 5, the newest": newest,
            "without round 5": ~newest,
        }.items():
            own = scores[part & (scores["split"] == half)]
            full = own["full hit@5"].fillna(0).mean()
            shown.append(f"{half} | {name} | {len(own)} | {own['nDCG@10'].mean():.3f} | {full:.3f}")
    assert re.findall(r"^\| ((?:dev|test) \| .+) \|$", rest, re.MULTILINE) == shown
    said = cells["r-compared-text"][0].partition("\n\n- *")[0]  # then systems, in their own words
    runs = len(published["compared_dev"]["runs"])
    tells(said, f"the same {len(dev)} dev queries", f"{runs} comparisons")


BAR = 0.7


PANELS = {
    "hit@5": "A useful page in the first five: ",
    "full hit@5": " A full answer in the first five: ",
}


def side(found: float, n: int) -> str:
    low, high = witness.wilson(found, n)
    return "above" if low > BAR else "below" if high < BAR else "unclear"


def test_the_sides_in_the_picture_are_those_of_the_intervals(cells, scores):
    test = scores[scores["split"] == "test"].fillna({"full hit@5": 0})
    told = cells["r-plot"][1].removeprefix(PANELS["hit@5"]).split(PANELS["full hit@5"])
    for name, words in zip(PANELS, told, strict=True):
        title, _, rows = words.partition(". ")
        own = {kind: (part.sum(), len(part)) for kind, part in test.groupby("kind")[name]}
        sides = {kind: side(*counts) for kind, counts in own.items()}
        shown = {}
        for row in rows.rstrip(".").split("; "):
            kind, *values = re.fullmatch(r"(.+) (\d+) of (\d+) \(.*\), (\w+)", row).groups()
            shown[kind] = values
        total = test[name].sum(), len(test)
        wanted = {"all questions": [*map(str, map(int, total)), side(*total)]}
        for kind, counts in own.items():
            wanted[kind] = [*map(str, map(int, counts)), sides[kind]]
        assert shown == wanted
        clear = [*sides.values()].count("above") or "none"
        assert title.startswith(f"{clear} of {len(own)} kinds clear")
        (failing,) = (kind for kind, of in sides.items() if of == "below")
        assert title.endswith(f"70%, {failing} fails")


def test_no_ranking_can_show_more_full_answers_than_there_are(cells, scores):
    test = scores[scores["split"] == "test"]
    has_full = test["full hit@5"].notna()
    by_kind = has_full.groupby(test["kind"]).mean()
    told = f"more than {has_full.mean():.0%} of the questions, or for more than {by_kind.min():.0%}"
    chosen = ("judged 2 or more", f"*below* {BAR:.0%}", "its whole 95 % interval")
    tells(html.unescape(cells["r-plot"][0]), f"{told} of kind {by_kind.idxmin()}", *chosen)


def test_the_lead_follows_from_the_run(cells, published, scores):
    at = five(scores, "test")
    runs = [row | row["measures"]["nDCG@10"] for row in published["compared_dev"]["runs"]]
    best = max(runs, key=lambda row: row["difference"])
    test = best["halves"]["test"]
    assert best["verdict"] == test["verdict"] == "better" and "minilm" in best["name"]
    at_least = math.floor(100 * min(best["difference"], test["difference"])) / 100
    lead = cells["r-lead"][0]
    tells(
        lead,
        f"a useful page in the first five for {at.useful / at.n:.0%} of questions, "
        f"a full answer for {at.full / at.n:.0%}. It fails when people use everyday words. "
        f"Merging it with a small embedding model raises the {at.useful / at.n:.0%} to "
        f"{test['means']['hit@5']:.0%}, and gains {at_least:.2f} nDCG@10 or more on both "
        "halves: try that first.",
    )


def test_three_numbers_count_questions(cells, published, scores):
    quoted, half = published["evidence"]["test"], published["summary"]["test"]
    at, ends = five(scores, "test"), half["intervals"]
    ndcg, mrr = (f"{ends[m][0]:.3f} to {ends[m][1]:.3f}" for m in ("nDCG@10", "MRR@10"))
    low, high = witness.wilson(at.useful, at.n)
    full_low, full_high = witness.wilson(at.full, at.n)
    proven = round(quoted["by_k"]["evidence"][4] * quoted["n"])
    tells(
        cells["r-numbers"][0],
        f"{at.useful:.0f} of {at.n} test questions",
        f"might have been {low:.0%} to {high:.0%} of them",
        f"{half['measures']['hit@1'] * at.n:.0f} of {at.n} had one in first place",
        f"{at.full:.0f} of the {at.n_full} that have a full answer",
        f"For {at.n - at.n_full} no document answers in full",
        f"Of all {at.n} that's {at.full / at.n:.0%} ({full_low:.0%} to {full_high:.0%})",
        f"{proven} of {quoted['n']} had, among the first five",
        f"from 0 to 1) is {half['measures']['nDCG@10']:.3f}, 95 % interval {ndcg}",
        "1 for a useful document in first place, 1/2 in second, 1/3 in third",
        f"is {half['measures']['MRR@10']:.3f}, interval {mrr}",
    )


@pytest.fixture(scope="module")
def advice(cells):
    """Return what the write-up says to do first, and what next."""
    said = html.unescape(cells["r-next"][0]).replace("**", "")
    said = re.sub(r"The other system is .*? stronger\.", "", said)  # its card's own words
    first, _, others = said.partition("\n- ")
    return first, others


@pytest.fixture(scope="module")
def by_gain(published):
    """Return the compared runs with their numbers in nDCG@10, by name, the largest gain first."""
    compared = published["compared_dev"]["runs"]
    runs = {row["name"]: row["measures"]["nDCG@10"] | row for row in compared}
    table = pd.DataFrame(runs.values(), [*runs])
    return table.sort_values("difference", ascending=False)


def test_what_to_do_first_is_the_best_run_of_the_comparison(advice, by_gain, published):
    best = by_gain[by_gain["verdict"] == "better"].iloc[0]
    test, apart, between, newest = (
        best["halves"][name]
        for name in ("test", "test apart from dev", "test minus dev", "test, newest round")
    )
    assert between["verdict"] == "confirmed"
    kinds = best["by_kind"]
    gains = {kind: means["run"] - means["base"] for kind, means in kinds.items()}
    lowest, highest = min(gains, key=gains.get), max(gains, key=gains.get)
    tells(
        advice[0],
        f"Try BM25 merged with *{best.name.removeprefix('baseline + ')}*.",
        f"On test {test['means']['hit@5'] * test['n']:.0f} of {test['n']} questions have a useful",
        f"with BM25 alone {published['summary']['test']['measures']['hit@5'] * test['n']:.0f}.",
        f"In nDCG@10 it gains {best['difference']:+.3f} on dev "
        f"(95 % interval {best['low']:+.3f} to {best['high']:+.3f}; "
        f"p = {best['p_holm']:.4f}, adjusted for {len(by_gain)} comparisons) "
        f"and {test['difference']:+.3f} on test ({test['low']:+.3f} to {test['high']:+.3f})",
        f"On the {apart['n']} test questions that share no relevant document with dev it's "
        f"{apart['difference']:+.3f} ({apart['low']:+.3f} to {apart['high']:+.3f})"
        f", on the {newest['n']} of the newest round, which no earlier version had, "
        f"{newest['difference']:+.3f} ({newest['low']:+.3f} to {newest['high']:+.3f}).",
        f"from {gains[highest]:+.3f} (*{highest}*, {kinds[highest]['n']} questions) to "
        f"{gains[lowest]:+.3f} (*{lowest}*, {kinds[lowest]['n']})",
    )


def test_what_to_do_next_follows_from_the_comparison(advice, by_gain, files, published):
    for name in by_gain.index[by_gain["verdict"] == "worse"]:
        assert re.search(rf"Don't switch to .*\*{name}\*", advice[1])
    waiting = by_gain[by_gain["verdict"] == "too few queries to tell"]
    assert waiting["difference"].max() < witness.MATTERS
    widest = waiting.loc[waiting["detectable"].idxmax()]
    needed = witness.enough(witness.MATTERS, widest)
    more = 10 * math.ceil((needed - widest["n"]) / 10)
    pairs = round(sum(map(len, files.grades.values())) / len(files.asked))
    causes = [card["cause"] for card in published["cards"]]
    lacking = causes.count("no shared word") + causes.count("missing word")
    tells(
        advice[1],
        f"In {lacking} of {len(causes)} dev questions with a misplaced document, our rules blame",
        f"too few questions to tell: a difference of {witness.MATTERS}",
        f"as with *{widest.name}*, it takes {needed} questions",
        f"Dev has {widest['n']}, so label about {more} more",
        f"At {pairs} judged pairs a question that's {pairs * more:,} pairs",
    )


def test_write_up_counts_the_queries_that_could_be_repaired(cells, files, base, scores):
    dev, depth = scores[scores["split"] == "dev"], len(files.documents) // 20
    below, order, fetch = dev[dev["nDCG@10"] < 1], [], []
    for query_id, relevant in below["relevant"].items():
        near_the_top = {*witness.order(base, query_id)[:depth]}
        (order if relevant.keys() <= near_the_top else fetch).append(query_id)
    tells(
        cells["r-repairs"][0],
        f"{len(below)} of {len(dev)} dev queries score below 1 in nDCG@10",
        f"among the first {depth}, {depth / len(files.documents):.0%} of the corpus",
        f"can help {len(order)} queries",
        f"is needed for {len(fetch)} queries",
    )


def test_write_up_shows_the_method(cells, published):
    at = published["method"]
    shown = {row: of["choice"] for row, of in html_table(*cells["r-method"]).items()}
    tells(
        "; ".join(shown[row] for row in ("engine", "documents", "chunks", "order")),
        f"{at['engine']}, k1 = {at['k1']}, b = {at['b']}",
        f"depth {at['depth']}",
        "to 10 decimals",
        f"fixed: {at['chunk_tokens']} cl100k_base tokens, {at['overlap_tokens']} overlap",
        f"{len(witness.rows(FOLDER / 'chunks' / 'fixed.jsonl'))} chunks",
    )
    assert at["words"] in shown["words"]
    assert shown["IDF"] == f"{at['idf']}, epsilon = {at['epsilon']}"


def test_the_five_lowest_cards_of_the_write_up(cells, files, published, scores):
    for text, card in zip(cells["r-cards"][:5], published["cards"][:5], strict=True):
        row, said = scores.loc[card["query_id"]], html.unescape(text)
        order = [doc_id for doc_id, _ in row["retrieved"]]
        cause, lacks = card["cause"].capitalize(), ", ".join(card["lacks"]) or "none"
        assert said.startswith(f"#### {card['query_id']}: {row['query']}\n")
        says(said, f"**{cause}** ({row['kind']}, nDCG@10 {row['nDCG@10']:.3f})")
        says(said, f"Words it lacks: {lacks}.")
        for who in ("wanted", "rival"):
            rank = f"rank {order.index(card[who]) + 1}" if card[who] in order else "after rank 10"
            title = re.escape(files.documents[card[who]]["title"])
            place = f"{who.capitalize()}: “{title}” .<code>{card[who]}</code>., "
            assert re.search(place + rank, said)
