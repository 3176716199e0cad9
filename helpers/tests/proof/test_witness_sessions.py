"""One value of each figure that a session tells, against the second witness.

Of what goes further it's one value of each figure that the prose is about.
"""

import math
from collections import Counter
from statistics import fmean, median

import numpy as np
import pandas as pd
import pytest
import test_witness
import witness
import witness_sessions
from scipy.sparse.csgraph import connected_components
from witness_labels import lucene_idf
from witness_pages import FOLDER, ROOT, five, has_rows, html_table, markdown_tables, page_of, says

cells, files, base = test_witness.cells, test_witness.files, test_witness.base
published, dev = test_witness.published, test_witness.dev


@pytest.fixture(scope="module")
def engine(files):
    return witness.Okapi(witness.chunk_texts(files, "fixed"))


@pytest.fixture(scope="module")
def dense():
    return witness.trec(FOLDER / "systems" / "dense-minilm-titled.trec")


def holds(cells, told):
    """Check {cell: sentences that stand in its outputs}."""
    for cell, sentences in told.items():
        says("\n".join(cells[cell]), *sentences)


def tables_have(cells, wanted):
    """Check {cell: {row: {column: value}}} in the first table of each cell."""
    for cell, table in wanted.items():
        has_rows(html_table(*cells[cell]), table)


# Session A.


def test_session_a_opens_with_the_query_whose_best_answer_ranks_lowest(cells, files, engine):
    ranks, mismatch = {}, [q for q, row in files.queries.items() if row["kind"] == "mismatch"]
    for q in mismatch:
        if files.queries[q]["split"] == "dev":
            hits = engine.search(files.queries[q]["query"])
            found, grades = [*dict.fromkeys(u.rpartition("#")[0] for u, _ in hits)], files.grades[q]
            full = [d for d in found if grades.get(d) == max(grades.values())]
            if full:
                ranks[q] = found.index(full[0]) + 1, len(found), full[0]
    hardest = max(ranks, key=ranks.get)
    rank, n, best = ranks[hardest]
    shared, alone = witness.overlap(files, hardest), witness.overlap(files, hardest, [best])
    holds(cells, {
        "a-open-shown": [files.queries[hardest]["query"], f"best answer: rank {rank} of {n} found"],
        "a-overlap-all": [f"that failed: {shared:.2f}, with its best answer alone: {alone:.2f}"],
    })  # fmt: skip
    assert min(shared, fmean(witness.overlap(files, q) for q in mismatch)) > 0.5  # says the prose


def test_session_a_counts_documents_queries_and_labels(cells, files):
    documents, asked = pd.DataFrame(files.documents.values()), files.queries.values()
    documents["tokens"] = documents["text"].map(witness.tokens)
    sizes, chats = documents["tokens"], documents.query("kind == 'chat'")["tokens"]
    longer, middle = 100 * np.mean(sizes > 512), sizes.median()
    relevant = [sum(g > 0 for g in files.grades[q].values()) for q in files.queries]
    alerts = [row for row in asked if (row["kind"], row["split"]) == ("alert", "dev")]
    judgments, times = sum(map(len, files.grades.values())), sizes.max() / middle
    holds(cells, {
        "a-hist": [
            f"{sizes.sum():,} tokens; the longest document has {times:.1f} times the median",
            f"a-longer: {longer:.0f}",
        ],
        "a-lengths-plot": [f"{longer:.0f}% of documents", f"chat {chats.median():.0f}"],
        "a-require-run": [f"{len(asked)} queries, each with"],
        "a-labels-table": [f"{judgments} judgments", f"a-relevant: {fmean(relevant):.1f}"],
    })  # fmt: skip
    lengths = [len(witness.words(text)) for text in documents["text"]]
    tables_have(cells, {
        "a-hist": {"50%": {"tokens": f"{middle:.0f}", "words": f"{median(lengths):.0f}"}},
        "a-kinds": {"chat": {"documents": len(chats), "tokens": chats.sum()}},
        "a-balance": {"alert": {"dev head": sum(r["popularity"] == "head" for r in alerts)}},
        "a-labels-table": {"queries": {"2": relevant.count(2)}},
    })  # fmt: skip


def test_session_a_draws_the_groups_of_each_half(cells, files):
    """Tied are queries that a document answers in full, and chains of them."""
    full = [{d for d, grade in files.grades[q].items() if grade == 2} for q in files.queries]
    group = connected_components(np.array([[bool(a & b) for b in full] for a in full]))[1]
    halves = [row["split"] for row in files.queries.values()]
    sizes = Counter(zip(halves, group, strict=True))
    dev, test = ([n for (own, _), n in sizes.items() if own == half] for half in witness.SPLITS)
    holds(cells, {"a-halves-run": [
        f"groups in one half: {len({*group})} of {len(sizes)}",
        f"of dev: {len(dev)}, the largest {max(dev)}; test: {len(test)}, the largest {max(test)}.",
    ]})  # fmt: skip


def test_session_a_shows_how_readers_agree(cells, files):
    second = witness.second_pass(files)
    newest = second[second["round"] == second["round"].max()]
    ones = newest[newest["first"] == 1]
    same = 100 * np.mean(newest["first"] == newest["second"])
    still = 100 * np.mean(ones["second"] == 1)
    told = [f"a-equal: {same:.0f}", f"{still:.0f}% equal where the first reading says 1"]
    holds(cells, {"a-agree-equal": told})
    tables_have(cells, {"a-agree-table": {"1": {"1": sum(ones["second"] == 1)}}})
    labels = {(q, d) for q, row in files.grades.items() for d, grade in row.items() if grade}
    assert labels <= {*zip(second["query_id"], second["doc_id"], strict=True)}  # "at least twice"


def test_session_a_shows_overlap_and_coverage(cells, files):
    asked = pd.DataFrame(files.queries.values())
    asked["shared"] = [witness.overlap(files, q) for q in files.queries]
    dutch, kinds = asked.query("language == 'nl'")["shared"], asked.groupby("kind")["shared"].mean()
    lowest = kinds.idxmin()
    reached, n = len(witness.reached(files)), len(files.documents)
    coverage, share = witness.coverage(files, "kind"), 100 * reached / n
    least = min(coverage, key=lambda kind: coverage[kind]["share"])
    of_least = coverage[least]["share"]
    holds(cells, {
        "a-overlap-all": [f"a-overlap: {asked['shared'].mean():.2f}"],
        "a-overlap-table": [f"a-lowest: {kinds.min():.2f}"],
        "a-overlap-plot": [f"Fewest shared words: {lowest}, {kinds.min():.2f} on average"],
        "a-coverage-all": [f"coverage: {share:.0f}% of {n} documents", f"a-coverage: {share:.0f}"],
        "a-coverage-plot": [f"Queries ask for {reached} of {n} documents"],
        "a-coverage-kind": [f"a-least: {least}"],
    })  # fmt: skip
    tables_have(cells, {
        "a-overlap-table": {"nl": {"count": len(dutch), "mean": f"{dutch.mean():.2f}"}},
        "a-coverage-kind": {least: coverage[least] | {"share": f"{of_least:.2f}"}},
    })  # fmt: skip
    page = page_of(FOLDER / "coverage.md")
    says(page, f"{reached} of {n} documents ({share:.0f}%)")
    has_rows(markdown_tables(page)[1], {least: coverage[least] | {"share": f"{of_least:.0%}"}})


# Session B.


def test_session_b_cuts_and_weighs(cells, files):
    n, by_range = witness_sessions.orphan()
    lengths = range(1, 5000)  # tokens of a document, in windows of 512 that share 50
    wasted = [math.ceil(n / 462) > 1 + max(0, math.ceil((n - 512) / 462)) for n in lengths]
    chunks = pd.DataFrame(witness.rows(FOLDER / "chunks" / "fixed.jsonl"))
    sizes = chunks["n_tokens"]
    own = sizes[chunks["doc_id"] == "deploys-inc-2306-channel"]
    df = {str(n): 1 for n in range(100)} | {"common": 51}
    common, lucene = witness.with_floor(df, 100)["common"], lucene_idf(df, 100)["common"]
    share = 100 * 100 / len(files.documents)
    holds(cells, {
        "b-windows-count": [
            f"example {n} tokens\nrange:   {by_range}\nwindows: {[(0, n)]}",
            f"b-orphans: {100 * fmean(wasted):.1f}",
        ],
        "b-idf-curves-then": [f"b-jump: {common:.2f}", f"jumps from 0.00 to {common:.2f}"],
        "b-both": [f"100 documents are {share:.0f}% of the corpus"],
    })  # fmt: skip
    row = {
        "chunks": len(own),
        "min tokens": min(own),
        "median": f"{median(own):.0f}",
        "max": max(own),
    }
    tables_have(cells, {
        "b-save-run": {"count": {"fixed": len(sizes)}, "mean": {"fixed": round(sizes.mean())}},
        "b-compare-run": {"longest deploys-inc-2306-channel fixed": row},
        "b-idf-curves-then": {"51": {"rank_bm25": f"{common:.3f}", "Lucene": f"{lucene:.3f}"}},
    })  # fmt: skip


def test_session_b_searches(cells, base, engine, dev):
    """The five queries stand at quarters of their order by the first relevant rank."""
    found = {row["query_id"]: engine.search(row["query"]) for row in dev}
    tens = [len({unit.rpartition("#")[0] for unit, _ in own[:10]}) for own in found.values()]
    n, shared = len(engine.units), [len(own) for own in found.values()]
    ranks = {row["query_id"]: row["first_rank"] or math.inf for row in dev}
    order = sorted(ranks, key=lambda query_id: (ranks[query_id], query_id))
    third = order[round(3 / 4 * (len(order) - 1))]
    deepest = max((q for q in ranks if ranks[q] < math.inf), key=ranks.get)
    scores = [score for _, score in base[deepest]]
    ahead, best = scores[0] - scores[ranks[deepest] - 1], base[dev[0]["query_id"]][0][1]
    holds(cells, {
        "b-first-search-run": [
            f"b-shared: {100 * fmean(shared) / n:.0f}",
            f"{shared[0]} of {n} chunks share a word",
        ],
        "b-collapse-run-then": [f"b-cut-first: {fmean(tens):.1f}"],
        "b-parts-run": [f"{deepest}:", f"ahead, all words {ahead:.1f}."],
    })  # fmt: skip
    tables_have(cells, {
        "b-reread": {"1": {"score": f"{best:.3f}"}},
        "b-choose": {third: {"rank of first relevant": ranks[third]}},
    })  # fmt: skip


# Session C.


def test_session_c_moves_one_document(cells):
    grades = {"b": 2, "d": 1, "x": 1}  # at most five documents, so nDCG@5 is nDCG@10
    fourth, early = (witness.measures([*order], grades) for order in ("acdbe", "dace"))
    shown = {"AP": f"{fourth['AP']:.3f}", "nDCG@5": f"{fourth['nDCG@10']:.3f}"}
    tables_have(cells, {
        "c-move-orders": {"4": shown},
        "c-move-early": {"d first": {"nDCG@5": f"{early['nDCG@10']:.3f}"}},
    })  # fmt: skip
    one = witness.measures(["a"], {"a": 1, "b": 1, "c": 1})["nDCG@10"]
    holds(cells, {"c-ndcg-trap-code": [f"ideal from the labels:         {one:.4f}"]})


def test_session_c_scores_the_baseline(cells, files, published, dev):
    test, kinds = published["summary"]["test"], published["by_kind"]["dev"]
    n, useful, full, found = five(published, "dev")
    means = published["summary"]["dev"]["measures"]
    low, high = published["summary"]["dev"]["intervals"]["nDCG@10"]
    ndcg = {row["query_id"]: row["measures"]["nDCG@10"] for row in dev}
    failing = [q for q in sorted(ndcg, key=ndcg.get) if ndcg[q] < 1]
    of_kind = {kind: row["measures"]["nDCG@10"] for kind, row in kinds.items()}
    kind = min(of_kind, key=of_kind.get)
    overlap = fmean(witness.overlap(files, row["query_id"]) for row in dev if row["kind"] == kind)
    holds(cells, {
        "c-summary": [f"not in n: {len(files.asked) - len(files.queries)} queries"],
        "c-summary-truth": [f"c-ndcg: {means['nDCG@10']:.3f}", f"c-top: {means['hit@1']:.2f}"],
        "c-full": [
            f"of {n} dev queries {useful:.0f} find a useful document in five",
            f"{found:.0f} find a full answer there, of {full} that have one",
        ],
        "c-interval-then": [
            f"nDCG@10 {means['nDCG@10']:.3f}, 95 % interval {low:.3f} to {high:.3f}",
            f"c-width: {high - low:.3f}",
        ],
        "c-per-query": [f"{n - len(failing)} of {n} are perfect; the 20 lowest"],
        "c-card-run": [f"{len(failing)} queries", f"{len(published['cards'])} with a card"],
        "c-kinds-truth": [
            f"c-kind: {kind}", f"{kind}: overlap {overlap:.2f}, nDCG@10 {of_kind[kind]:.2f}",
        ],
    })  # fmt: skip
    names = ("nDCG@10", "hit@1", "hit@10", "recall@5", "P@10", "MAP")
    tables_have(cells, {
        "c-summary": {f"test (n={test['n']})": {m: f"{test['measures'][m]:.3f}" for m in names}},
        "c-per-query": {failing[19]: {"nDCG@10": f"{ndcg[failing[19]]:.3f}"}},
        "c-kinds-run": {kind: {"overlap": f"{overlap:.3f}", "n": kinds[kind]["n"]}},
    })  # fmt: skip


def test_session_c_compares(cells, published):
    runs = {row["name"]: row for row in published["compared_dev"]["runs"]}
    at, evidence = runs["dense-minilm-titled"]["measures"]["nDCG@10"], published["evidence"]["dev"]
    sd = at["detectable"] / witness.detectable(at["n"], 1)
    shown = [row for row in runs.values() if row["verdict"] in ("better", "worse")]
    document, proof = (100 * evidence["by_k"][name][4] for name in ("document", "evidence"))
    recall = evidence["sets"]["fixed"]["means"]["evidence recall within 2000 tokens"]
    holds(cells, {
        "c-other": [
            f"{at['difference']:+.3f} ({at['low']:+.3f} to {at['high']:+.3f})",
            f"better {at['wins']}, equal {at['ties']}, worse {at['losses']}",
        ],
        "c-flip-real": [f"flip test {at['p']:.4f}", f"t test {at['t_p']:.4f}"],
        "c-detectable": [
            f"{at['n']} queries, spread {sd:.2f}",
            f"from {at['detectable']:.3f} up",
            f"difference of .05: {witness.enough(0.05, at)}",
        ],
        "c-compare-forest": [f"{len(shown)} of {len(runs)} systems"],
        "c-evidence-k-run": [f"right document {document:.0f}%, its evidence {proof:.0f}%"],
        "c-evidence-budgets-run": [f"c-evidence: {recall:.3f}"],
    })  # fmt: skip
    row = {
        "detectable": f"{at['detectable']:.3f}",
        "difference": f"{at['difference']:+.3f}",
        "wins/ties/losses": f"{at['wins']}/{at['ties']}/{at['losses']}",
    }
    tables_have(cells, {"c-compare-run": {"dense-minilm-titled": row}})


def test_session_c_shows_the_halves_of_version_2_and_of_now(cells, files, base, dense):
    was = {row["query_id"]: row["split"] for row in witness.rows(FOLDER / "version2.jsonl")}
    services = {"then": Counter(), "dev": Counter(), "test": Counter()}
    for q, row in files.grades.items():
        own = {files.documents[d]["service"] for d, grade in row.items() if grade == 2}
        services["then"].update(own if was.get(q) == "dev" else [])
        services[files.asked[q]["split"]].update(own)
    assert services["dev"].keys() == services["test"].keys()  # "no service is missing"
    share = f"{services['then']['payments'] / services['then'].total():.0%}"
    before, after = (witness.scored(files, run)["nDCG@10"] for run in (base, dense))
    gain = after - before
    halves = (gain[[was.get(q) == half for q in gain.index]] for half in witness.SPLITS)
    between, low, high = witness.welch(*halves)
    assert high < 0  # "looks like a gain, on the old test half like a loss"
    row = {"test minus dev": f"{between:.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}
    tables_have(cells, {
        "c-halves-services": {"payments": {"version 2 dev": share}},
        "c-halves-flipped": {"dense-minilm-titled minus baseline, halves of version 2": row},
    })  # fmt: skip


def test_session_c_shows_the_lowest_card(cells, base, published):
    card = published["cards"][0]
    rank = witness.order(base, card["query_id"]).index(card["wanted"]) + 1
    page = cells["c-failures"][0].partition("<details>")[0]
    says(
        page,
        f"{card['query_id']}, mismatch, nDCG@10 0.000",
        f"{card['wanted']}</code> (rank {rank})",
    )
    words = {word: pair for word, _, *pair in card["words"] if word == "laptop"}
    shown = {"as it is": card["score"], "ignore length (b = 0)": card["without length"]}
    for table, wanted in zip(page.split("<p>")[-2:], (words, shown), strict=True):
        rows = {
            name: {"wanted": f"{a:.2f}", "rival": f"{b:.2f}"} for name, (a, b) in wanted.items()
        }
        has_rows(html_table(table), rows)


# Further.


def test_rounds_of_reading_agree_as_the_text_says(files):
    """Round 8 has a low kappa by how its pairs were picked; round 7 a high one."""
    rounds = witness.rounds(files)
    assert rounds[7]["kappa"] > 0.8 and rounds[7]["by grade"][1] < 0.75
    assert min(rounds, key=lambda number: rounds[number]["kappa"]) == 8


def test_what_stopping_early_finds_and_shows(cells, files, base, dense):
    """Other draws of 5,000: four standard errors of both tables are allowed."""
    shown = html_table(*cells["c-stop-cost-table"])
    wanted = witness_sessions.stopping(files, base, dense)
    for (true, row), (least, values) in zip(shown.items(), wanted.items(), strict=True):
        assert abs(float(true) - least) < 0.004
        for (name, text), value, far in zip(row.items(), values, FAR, strict=True):
            assert abs(float(text) - value) <= far, (true, name, text, value)


FAR = (0.03, 0.04, 5, 0.005)  # one test, bet, queries labelled, seen at the stop


def test_what_refusing_costs(cells, files, base):
    told, shown = witness_sessions.refusals(files, base), html_table(*cells["c-refuse-test"])
    least = witness_sessions.cheapest(told[told["split"] == "dev"])
    for split, of in told.groupby("split"):
        lost, misled = witness_sessions.harms(of, least)
        n, row = sum(~of["answerable"]), shown[f"{split} score / IDF"]
        low, high = witness.wilson(n - misled, n)
        assert row["refused below"] == f"{least:.2f}"
        assert row["unanswerable refused"] == f"{n - misled} of {n} ({low:.0%} to {high:.0%})"
        assert row["answers lost"].startswith(f"{lost} of {sum(of['found'])} (")


def test_filters_by_version(cells, files, base):
    old, rows = witness_sessions.old_versions(files), {"baseline": {}, "no old versions": {}}
    labels = [d for row in files.grades.values() for d, grade in row.items() if grade]
    kept = {q: [d for d, _ in hits if d not in old] for q, hits in base.items()}
    for split in witness.SPLITS:
        for name, run in zip(rows, (base, kept), strict=True):
            ndcg = witness.scored(files, run, split)["nDCG@10"]
            own = [q for q in ndcg.index if files.queries[q]["kind"] == "temporal"]
            rows[name][f"{split} temporal ({len(own)})"] = f"{ndcg[own].mean():.3f}"
            rows[name][f"{split} others ({len(ndcg) - len(own)})"] = f"{ndcg.drop(own).mean():.3f}"
    pages = {"pages": len(old), "labels": sum(d in old for d in labels)}
    tables_have(cells, {"c-filter-old": {"old versions": pages}, "c-filter-table": rows})


def test_hard_negatives_of_another_order(cells, files, base, dense, dev):
    fused, rows = witness.fused(base, dense), {}
    fifty = {q: witness.order(base, q)[:50] for q in base}
    kept = {q: [d for d, _ in fused[q] if d in fifty[q]] for q in base}
    hard = {row["query_id"]: {*row["hard"]} for row in witness.rows(FOLDER / "negatives.jsonl")}
    for name, run in {"BM25": base, "first 50 by dense-minilm-titled": kept}.items():
        in_ten, leads = [], []
        for row in dev:
            q = row["query_id"]
            found = witness.order(run, q)
            in_ten.append(len(hard[q] & {*found[:10]}))
            told = [d in hard[q] for d in found if d in hard[q] or d in row["relevant"]]
            leads += told[:1]
        rows[name] = {"in ten": f"{fmean(in_ten):.3f}", "one leads": f"{fmean(leads):.3f}"}
    tables_have(cells, {"c-rerank-hard": rows})


def test_what_rarity_mends_and_what_the_paper_says_of_bm25l(cells, files, base):
    means = witness_sessions.by_documents(files)
    tables_have(
        cells, {"f-terms-idf-run": {n: {"nDCG@10": f"{mean:.3f}"} for n, mean in means.items()}}
    )
    low, mended, whole = means.values()
    assert (mended - low) / (whole - low) > 1 / 2  # "more than half of the gap"
    before = witness.scored(files, base, "dev")["nDCG@10"]
    at = witness.bounded(before, witness_sessions.published_bm25l(files))
    says(
        page_of(ROOT / "notebooks" / "further" / "best_of_many.ipynb"),
        f"on the workbook's own dev half is {at['difference']:.3f}, and",
        f"the verdict is *{witness.verdict(at, at['p'])}*",
    )
