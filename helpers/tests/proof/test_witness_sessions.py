"""One value of each figure that a session tells, against the second witness.

Of what goes further it's one value of each figure that the prose is about.
"""

import math
from collections import Counter
from statistics import fmean, median

import numpy as np
import pytest
import test_witness
import witness
import witness_sessions
from scipy.sparse.csgraph import connected_components
from witness_labels import content, lucene_idf
from witness_pages import FOLDER, ROOT, five, has_rows, html_table, markdown_tables, page_of, says

cells, files, base = test_witness.cells, test_witness.files, test_witness.base
published, dev = test_witness.published, test_witness.dev


@pytest.fixture(scope="module")
def engine(files):
    return witness.Okapi(witness.chunk_texts(files, "fixed"))


@pytest.fixture(scope="module")
def dense():
    return witness.trec(FOLDER / "systems" / "dense-minilm-titled.trec")


def notebook(name):
    return page_of(ROOT / "notebooks" / f"{name}.ipynb")


def holds(cells, told):
    """Check {cell: what it says}, each by phrases."""
    for cell, named in told.items():
        says("\n".join(cells[cell]), named)


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
                ranks[q] = [found.index(full[0]) + 1, len(found), full[0]]
    hardest = max(ranks, key=ranks.get)
    *rank, best = ranks[hardest]
    assert cells["a-open-shown"][0].startswith(files.queries[hardest]["query"] + "\n")
    holds(cells, {"a-open-shown": {"best answer: rank {} of {} found": rank}})
    shared, alone = witness.overlap(files, hardest), witness.overlap(files, hardest, [best])
    told = {"that failed: {}, with its best answer alone: {}": [shared, alone]}
    holds(cells, {"a-overlap-all": told})
    assert min(shared, fmean(witness.overlap(files, q) for q in mismatch)) > 0.5


def test_session_a_counts_documents_queries_and_labels(cells, files):
    facts, documents = witness.facts(files), files.documents.values()
    total, _, middle, most = facts["tokens (cl100k_base)"]
    longer = 100 * fmean(witness.tokens(d["text"]) > 512 for d in documents)
    chats = [witness.tokens(d["text"]) for d in documents if d["kind"] == "chat"]
    relevant = [sum(g > 0 for g in files.grades[q].values()) for q in files.queries]
    said = {"{} tokens; the longest document has {} times the median": [total, most / middle]}
    said["a-longer: {}"] = longer
    holds(cells, {
        "a-hist": said,
        "a-lengths-plot": {"{}% of documents have over 512": longer, "chat {}": median(chats)},
        "a-require-run": {"{} queries, each with": len(files.queries)},
        "a-labels-table": {
            "{} judgments": facts["judgments"][0], "a-relevant: {}": fmean(relevant),
        },
    })  # fmt: skip
    asked = [(row["kind"], row["split"], row["popularity"]) for row in files.queries.values()]
    tables_have(cells, {
        "a-hist": {"50%": {"tokens": middle, "words": witness.median_words(files)}},
        "a-kinds": {"chat": {"documents": len(chats), "tokens": sum(chats)}},
        "a-balance": {"alert": {"dev head": asked.count(("alert", "dev", "head"))}},
        "a-labels-table": {"queries": {"2": relevant.count(2)}},
    })  # fmt: skip


def test_session_a_draws_the_groups_of_each_half(cells, files):
    """Tied are queries that a document answers in full, and chains of them."""
    full = [{d for d, grade in files.grades[q].items() if grade == 2} for q in files.queries]
    group = connected_components(np.array([[bool(a & b) for b in full] for a in full]))[1]
    halves = [row["split"] for row in files.queries.values()]
    sizes = Counter(zip(group, halves, strict=True))
    drawn = []
    for name in ("dev", "test"):
        own = [n for (_, half), n in sizes.items() if half == name]
        drawn += [len(own), max(own)]
    told = {"Groups of dev: {}, the largest {}; test: {}, the largest {}.": drawn}
    told["groups in one half: {} of {}"] = [len({*group}), len(sizes)]
    holds(cells, {"a-halves-run": told})


def test_session_a_shows_how_readers_agree(cells, files):
    second = witness.second_pass(files)
    newest = second[second["round"] == second["round"].max()]
    ones = newest[newest["first"] == 1]
    same, equal_ones = newest["first"] == newest["second"], ones["second"] == 1
    told = {"a-equal: {}": 100 * same.mean()}
    told["{}% equal where the first reading says 1"] = 100 * equal_ones.mean()
    holds(cells, {"a-agree-equal": told})
    tables_have(cells, {"a-agree-table": {"1": {"1": equal_ones.sum()}}})
    labels = {(q, d) for q, row in files.grades.items() for d, grade in row.items() if grade}
    assert labels <= {*zip(second["query_id"], second["doc_id"], strict=True)}  # "at least twice"


def test_session_a_shows_overlap_and_coverage(cells, files):
    kinds, foreign, rarest = {}, [], []
    df = Counter(w for d in files.documents.values() for w in {*witness.words(d["text"])})
    for q, row in files.queries.items():
        shared = witness.overlap(files, q)
        kinds.setdefault(row["kind"], []).append(shared)
        if row.get("language") == "nl":
            foreign.append(shared)
        texts = " ".join(files.documents[d]["text"] for d in row["relevant_doc_ids"])
        common = content(row["query"]) & {*witness.words(texts)}
        if row["kind"] == "mismatch" and common:
            rarest.append(min(df[word] for word in common))
    reached, n = len(witness.reached(files)), len(files.documents)
    coverage, lowest = witness.coverage(files, "kind"), min(map(fmean, kinds.values()))
    least = min(coverage, key=lambda kind: coverage[kind]["share"])
    asked = [value for own in kinds.values() for value in own]
    holds(cells, {
        "a-overlap-all": {"a-overlap: {}": fmean(asked)},
        "a-overlap-table": {"a-lowest: {}": lowest},
        "a-overlap-plot": {"mismatch, {} on average": lowest},
        "a-coverage-all": {"{} of {} documents": [reached / n, n]},
        "a-coverage-plot": {"Queries ask for {} of {} documents": [reached, n]},
        "a-coverage-kind": {f"a-least: {least}": []},
    })  # fmt: skip
    tables_have(cells, {
        "a-overlap-table": {"nl": {"count": len(foreign), "mean": fmean(foreign)}},
        "a-overlap-rare": {"mismatch": {RAREST: median(rarest)}},
        "a-coverage-kind": {least: coverage[least]},
    })  # fmt: skip
    page = page_of(FOLDER / "coverage.md")
    says(page, {"{} of {} documents ({})": [reached, n, reached / n]})
    has_rows(markdown_tables(page)[1], {least: coverage[least]})


RAREST = "documents that hold the rarest shared word"


# Session B.


def test_session_b_cuts_and_weighs(cells, files):
    n, by_range = witness_sessions.orphan()
    shown = f"example {n} tokens\nrange:   {by_range}\nwindows: {[(0, n)]}"
    assert shown in cells["b-windows-count"][0]
    lengths = range(1, 5000)  # tokens of a document, in windows of 512 that share 50
    wasted = [math.ceil(n / 462) > 1 + max(0, math.ceil((n - 512) / 462)) for n in lengths]
    of = witness.rows(FOLDER / "chunks" / "fixed.jsonl")
    sizes = [row["n_tokens"] for row in of]
    own = [row["n_tokens"] for row in of if row["doc_id"] == "deploys-inc-2306-channel"]
    common = witness.with_floor({str(n): 1 for n in range(100)} | {"common": 51}, 100)["common"]
    holds(cells, {
        "b-windows-count": {"b-orphans: {}": 100 * fmean(wasted)},
        "b-idf-curves-then": {"b-jump: {}": common, "jumps from 0.00 to {}": common},
        "b-both": {"100 documents are {} of the corpus": 100 / len(files.documents)},
    })  # fmt: skip
    lucene = lucene_idf({"common": 51}, 100)["common"]
    row = {"chunks": len(own), "min tokens": min(own), "median": median(own), "max": max(own)}
    tables_have(cells, {
        "b-save-run": {"count": {"fixed": len(sizes)}, "mean": {"fixed": round(fmean(sizes))}},
        "b-compare-run": {"longest deploys-inc-2306-channel fixed": row},
        "b-idf-curves-then": {"51": {"rank_bm25": common, "Lucene": lucene}},
    })  # fmt: skip


def test_session_b_searches(cells, files, base, engine, dev):
    """The five queries stand at quarters of their order by the first relevant rank."""
    found = {row["query_id"]: engine.search(row["query"]) for row in dev}
    (first, hits), *_ = found.items()
    tens = [len({unit.rpartition("#")[0] for unit, _ in own[:10]}) for own in found.values()]
    n, shares = len(engine.units), [len(own) / len(engine.units) for own in found.values()]
    ranks = {row["query_id"]: row["first_rank"] or math.inf for row in dev}
    order = sorted(ranks, key=lambda query_id: (ranks[query_id], query_id))
    third = order[round(3 / 4 * (len(order) - 1))]
    deepest = max((q for q in ranks if ranks[q] < math.inf), key=ranks.get)
    scores = [score for _, score in base[deepest]]
    ahead = scores[0] - scores[ranks[deepest] - 1]
    said = {"b-shared: {}": 100 * fmean(shares), "{} of {} chunks share": [len(hits), n]}
    holds(cells, {
        "b-first-search-run": said,
        "b-collapse-run-then": {"b-cut-first: {}": fmean(tens)},
        "b-parts-run": {f"{deepest}:": [], "ahead, all words {}.": ahead},
    })  # fmt: skip
    tables_have(cells, {
        "b-reread": {"1": {"score": base[first][0][1]}},
        "b-choose": {third: {"rank of first relevant": ranks[third]}},
    })  # fmt: skip


# Session C.


def test_session_c_moves_one_document(cells):
    grades = {"b": 2, "d": 1, "x": 1}  # at most five documents, so nDCG@5 is nDCG@10
    fourth, early = (witness.measures([*order], grades) for order in ("acdbe", "dace"))
    row = {"RR": fourth["RR"], "AP": fourth["AP"], "nDCG@5": fourth["nDCG@10"]}
    tables_have(cells, {"c-move-orders": {"4": row}})
    tables_have(cells, {"c-move-early": {"d first": {"nDCG@5": early["nDCG@10"]}}})
    one = witness.measures(["a"], {"a": 1, "b": 1, "c": 1})["nDCG@10"]
    says("".join(cells["c-ndcg-trap-code"]), {"ideal from the labels:         {}": one})


def test_session_c_scores_the_baseline(cells, files, published, dev):
    summary, kinds = published["summary"], published["by_kind"]["dev"]
    n, useful, full, found = five(published, "dev")
    means, (low, high) = summary["dev"]["measures"], summary["dev"]["intervals"]["nDCG@10"]
    ndcg = {row["query_id"]: row["measures"]["nDCG@10"] for row in dev}
    failing = [q for q in sorted(ndcg, key=ndcg.get) if ndcg[q] < 1]
    lowest = min(kinds, key=lambda kind: kinds[kind]["measures"]["nDCG@10"])
    overlap = fmean(witness.overlap(files, row["query_id"]) for row in dev if row["kind"] == lowest)
    holds(cells, {
        "c-summary": {"not in n: {} queries": len(files.asked) - len(files.queries)},
        "c-summary-truth": {"c-ndcg: {}": means["nDCG@10"], "c-top: {}": means["hit@1"]},
        "c-full": {
            "of {} dev queries {} find a useful document in five": [n, useful],
            "{} find a full answer there, of {} that have one": [found, full],
        },
        "c-interval-then": {
            "dev nDCG@10 {}, 95 % interval {} to {}": [means["nDCG@10"], low, high],
            "c-width: {}": high - low,
        },
        "c-per-query": {"{} of {} are perfect; the 20 lowest": [n - len(failing), n]},
        "c-card-run": {
            "{} queries": len(failing), "{} with a card": len(published["cards"]),
        },
        "c-kinds-truth": {
            f"c-kind: {lowest}": [],
            f"{lowest}: overlap {{}}, nDCG@10 {{}}": [
                overlap, kinds[lowest]["measures"]["nDCG@10"],
            ],
        },
    })  # fmt: skip
    test, twentieth = summary["test"], failing[19]
    names = ("nDCG@10", "hit@1", "hit@10", "recall@5", "P@10", "MAP")
    tables_have(cells, {
        "c-summary": {f"test (n={test['n']})": {m: test["measures"][m] for m in names}},
        "c-per-query": {twentieth: {"nDCG@10": ndcg[twentieth]}},
        "c-kinds-run": {lowest: {"overlap": overlap, "n": kinds[lowest]["n"]}},
    })  # fmt: skip


def test_session_c_compares(cells, published):
    runs = {row["name"]: row for row in published["compared_dev"]["runs"]}
    at = runs["dense-minilm-titled"]["measures"]["nDCG@10"]
    wide = witness.stats.t.ppf(0.975, at["n"] - 1)
    sd = (at["high"] - at["low"]) / 2 / wide * at["n"] ** 0.5
    ends, counts = ([at[name] for name in names] for names in (
        ("difference", "low", "high"), ("wins", "ties", "losses")))  # fmt: skip
    shown = [row for row in runs.values() if row["verdict"] in ("better", "worse")]
    holds(cells, {
        "c-other": {"{} ({} to {})": ends, "better {}, equal {}, worse {}": counts},
        "c-flip-real": {"flip test {}": at["p"], "t test {}": at["t_p"]},
        "c-detectable": {
            "{} queries, spread {}": [at["n"], sd],
            "from {} up": at["detectable"],
            "difference of .05: {}": witness.enough(0.05, at),
        },
        "c-compare-forest": {"{} of {} systems": [len(shown), len(runs)]},
        "c-evidence-k-run": {
            "In 5 chunks: right document {}, its evidence {}": [
                published["evidence"]["dev"]["by_k"][name][4] for name in ("document", "evidence")
            ],
        },
        "c-evidence-budgets-run": {
            "c-evidence: {}": published["evidence"]["dev"]["sets"]["fixed"]["means"][
                "evidence recall within 2000 tokens"
            ],
        },
    })  # fmt: skip
    row = {"wins/ties/losses": counts, "detectable": at["detectable"], "difference": ends[0]}
    tables_have(cells, {"c-compare-run": {"dense-minilm-titled": row}})


def test_session_c_shows_the_halves_of_version_2_and_of_now(cells, files, base, dense):
    was = {row["query_id"]: row["split"] for row in witness.rows(FOLDER / "version2.jsonl")}
    now = {q: row["split"] for q, row in files.queries.items()}
    counts = Counter()
    for q, row in files.grades.items():
        for service in {files.documents[d]["service"] for d, grade in row.items() if grade == 2}:
            counts.update([(service, now.get(q)), (service, f"was {was.get(q)}")])
    services = {service for service, _ in counts}
    assert all(counts[service, half] for service in services for half in witness.SPLITS)
    whole = sum(counts[service, "was dev"] for service in services)
    share = f"{counts['payments', 'was dev'] / whole:.0%}"
    before, after = (witness.scored(files, run)["nDCG@10"] for run in (base, dense))
    gain = after - before
    old_dev, old_test = ([q for q in gain.index if was.get(q) == half] for half in witness.SPLITS)
    between = witness.welch(gain[old_dev], gain[old_test])
    row = {"dev": gain[old_dev].mean(), "test": gain[old_test].mean()}
    row |= dict(zip(("test minus dev", "low", "high"), between, strict=True))
    assert row["dev"] > 0 > row["high"]  # "looks like a gain, on the old test half like a loss"
    tables_have(cells, {
        "c-halves-services": {"payments": {"version 2 dev": share}},
        "c-halves-flipped": {"dense-minilm-titled minus baseline, halves of version 2": row},
    })  # fmt: skip


def test_session_c_shows_the_lowest_card(cells, files, base, published):
    card = published["cards"][0]
    order = witness.order(base, card["query_id"])
    tables = cells["c-failures"][0].partition("<details>")[0].split("<p>")
    told = {f"{card['query_id']}, mismatch, nDCG@10 {{}}": 0.0}
    told[f"<code>{card['wanted']}</code> (rank {{}})"] = order.index(card["wanted"]) + 1
    says(cells["c-failures"][0], told)
    words = {word: pair for word, _, *pair in card["words"] if word == "laptop"}
    shown = {"as it is": card["score"], "ignore length (b = 0)": card["without length"]}
    for table, wanted in zip(tables[-2:], (words, shown), strict=True):
        rows = {name: {"wanted": pair[0], "rival": pair[1]} for name, pair in wanted.items()}
        has_rows(html_table(table), rows)


# Further.


def test_rounds_of_reading_agree_as_the_text_says(files):
    """Round 8 has a low kappa by how its pairs were picked; round 7 a high one."""
    kappas, ones = {}, {}
    for name, (_, _, kappa, _, _, *by_grade) in witness.readings(files).items():
        kappas[name.partition(",")[0]] = kappa
        ones[name.partition(",")[0]] = dict(zip(by_grade[::2], by_grade[1::2], strict=True))[1]
    assert kappas["round 7"] > 0.8 and ones["round 7"] < 0.75
    assert min(kappas, key=kappas.get) == "round 8"


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
    told = witness_sessions.refusals(files, base)
    halves = dict([*told.groupby("split")])
    least = witness_sessions.cheapest(halves["dev"])
    for split, of in halves.items():
        unanswerable = int((~of["answerable"]).sum())
        lost, misled = witness_sessions.harms(of, least)
        shares = {"unanswerable refused": (unanswerable - misled, unanswerable)}
        shares["answers lost"] = (lost, int(of["found"].sum()))
        row = html_table(*cells["c-refuse-test"])[f"{split} score / IDF"]
        says(row["refused below"], {"{}": least})
        for name, (k, n) in shares.items():
            says(row[name], {"{} of {} ({} to {})": [k, n, *witness.wilson(k, n)]})


def test_filters_by_version(cells, files, base):
    old, rows = witness_sessions.old_versions(files), {"baseline": {}, "no old versions": {}}
    labels = [d for row in files.grades.values() for d, grade in row.items() if grade]
    kept = {q: [d for d, _ in hits if d not in old] for q, hits in base.items()}
    for split in witness.SPLITS:
        for name, run in zip(rows, (base, kept), strict=True):
            ndcg = witness.scored(files, run, split)["nDCG@10"]
            own = [q for q in ndcg.index if files.queries[q]["kind"] == "temporal"]
            rows[name][f"{split} temporal ({len(own)})"] = ndcg[own].mean()
            rows[name][f"{split} others ({len(ndcg) - len(own)})"] = ndcg.drop(own).mean()
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
        rows[name] = {"in ten": fmean(in_ten), "one leads": fmean(leads)}
    tables_have(cells, {"c-rerank-hard": rows})


def test_what_rarity_mends_and_what_the_paper_says_of_bm25l(cells, files, base):
    means = witness_sessions.by_documents(files)
    tables_have(cells, {"f-terms-idf-run": {n: {"nDCG@10": mean} for n, mean in means.items()}})
    low, mended, whole = means.values()
    assert (mended - low) / (whole - low) > 1 / 2  # "more than half of the gap"
    before = witness.scored(files, base, "dev")["nDCG@10"]
    at = witness.bounded(before, witness_sessions.published_bm25l(files))
    page = notebook("further/best_of_many")
    says(page, {"on the workbook's own dev half is {}, and": at["difference"]})
    assert f"the verdict is *{witness.verdict(at, at['p'])}*" in page
