"""The second witness of rerankers, refusals, filters and weighted terms in further notebooks."""

import math
import re
from collections import Counter
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
import test_witness
import witness
from scipy import stats

FOLDER = Path(__file__).resolve().parents[3] / "evals"
cells = test_witness.cells


@pytest.fixture(scope="module")
def files():
    return witness.read(FOLDER)


@pytest.fixture(scope="module")
def base():
    return witness.trec(FOLDER / "runs" / "fixed.trec")


def ndcg(files, orders, split, kinds=()):
    """Return nDCG@10 of each query of a half; `orders` are {query_id: document ids}."""
    own = [q for q, row in files.queries.items() if row["split"] == split]
    own = [q for q in own if not kinds or files.queries[q]["kind"] in kinds]
    return [witness.measures(orders.get(q, []), files.grades[q])["nDCG@10"] for q in own]


def ids(run):
    return {q: [doc_id for doc_id, _ in hits] for q, hits in run.items()}


def gap(before, after):
    """Return the mean difference and its 95 % t interval."""
    gaps = pd.Series(after) - pd.Series(before)
    reach = stats.t.ppf(0.975, len(gaps) - 1) * gaps.sem()
    return [gaps.mean(), gaps.mean() - reach, gaps.mean() + reach]


def reordered(files, base):
    """Return {name of the row: orders} of BM25's first fifty in other orders, and whole fusions."""
    orders = {"BM25": ids(base)}
    for name, whole in witness.systems(files, base).items():
        if name.startswith("baseline + "):
            system = name.removeprefix("baseline + ")
            fifty = {q: {d for d, _ in hits[:50]} for q, hits in base.items()}
            kept = {q: [d for d, _ in hits if d in fifty[q]] for q, hits in whole.items()}
            orders |= {f"first 50 by {system}": kept, f"BM25 + {system}": ids(whole)}
    return orders


def test_the_ceiling_of_a_reranker(cells, files, base):
    rows = {}
    for n in (0, 10, 20, 50, 100):
        orders = {}
        for q, order in ids(base).items():
            grades = [files.grades[q].get(d, 0) for d in order[:n]]
            best = [order[i] for i in sorted(range(len(grades)), key=lambda i: (-grades[i], i))]
            orders[q] = best + order[n:]
        rows[str(n)] = {"nDCG@10": fmean(ndcg(files, orders, "dev"))}
    test_witness.agree(cells, {"c-rerank-ceiling": rows})


def test_another_order_of_the_first_fifty(cells, files, base):
    orders, dev = reordered(files, base), [q for q in files.queries if is_dev(files, q)]
    hard = {row["query_id"]: set(row["hard"]) for row in witness.rows(FOLDER / "negatives.jsonl")}
    compared, judged, negatives = {}, {}, {}
    for name, order in orders.items():
        values = [ndcg(files, of, "dev") for of in (orders["BM25"], order)]
        columns = ("difference", "low", "high")
        row = {"run": fmean(values[1])} | dict(zip(columns, gap(*values), strict=True))
        compared |= {name: row} if name != "BM25" else {}
        tens = {q: order.get(q, [])[:10] for q in dev}
        shares = [
            sum(d in files.grades[q] for d in ten) / (len(ten) or 1) for q, ten in tens.items()
        ]
        judged[name] = {"judged@10": fmean(shares)}
        told = [[d in hard[q] for d in order.get(q, []) if says(files, hard, q, d)] for q in dev]
        in_ten = fmean(len(hard[q] & {*ten}) for q, ten in tens.items())
        negatives[name] = {"in ten": in_ten, "one leads": fmean(of[0] for of in told if of)}
    tables = {"c-rerank-compared": compared, "c-rerank-judged": judged}
    test_witness.agree(cells, tables | {"c-rerank-hard": negatives})


def is_dev(files, query_id):
    return files.asked[query_id]["split"] == "dev"


def says(files, hard, query_id, doc_id):
    """Return whether a document is a hard negative or relevant."""
    return doc_id in hard[query_id] or files.grades[query_id].get(doc_id, 0) > 0


def refusals(files, base):
    """Return a row for each query: half, answerable, found in five, and both signals."""
    pages = [set(witness.words(document["text"])) for document in files.documents.values()]
    df, n = Counter(word for page in pages for word in page), len(pages)
    rows = []
    for q, row in files.asked.items():
        hits, own = base.get(q, []), witness.words(row["query"])
        most = sum(math.log1p((n - df[word] + 0.5) / (df[word] + 0.5)) for word in own)
        found = any(files.grades[q].get(d, 0) > 0 for d, _ in hits[:5])
        score = hits[0][1] if hits else 0
        rows.append([row["split"], q in files.queries, found, score, score / most])
    return pd.DataFrame(rows, columns=["split", "answerable", "found", "score", "score / IDF"])


def harms(of, name, least):
    refused = (of[name] < least) | (of[name] == 0)
    return int((refused & of["found"]).sum()), int((~refused & ~of["answerable"]).sum())


def test_what_refusing_costs(cells, files, base):
    rows = refusals(files, base)
    dev = rows[rows["split"] == "dev"]
    areas, told = {}, {}
    for name in ("score", "score / IDF"):
        costs = [
            (lost + 5 * misled, at)
            for at in [0, *dev[name]]
            for lost, misled in [harms(dev, name, at)]
        ]
        least = min(costs)[1]
        for split, of in rows.groupby("split"):
            yes, no = of.loc[of["answerable"], name], of.loc[~of["answerable"], name]
            areas[f"{name} {split}"] = stats.mannwhitneyu(yes, no).statistic / len(yes) / len(no)
            lost, misled = harms(of, name, least)
            shares = [(len(no) - misled, len(no)), (lost, int(of["found"].sum()))]
            shares = [[k, n, *witness.wilson(k, n)] for k, n in shares]
            told[f"{split} {name}"] = [least, *shares]
    shown = test_witness.html_table(*cells["c-refuse-auroc"])
    assert {row: float(of["AUROC"]) for row, of in shown.items()} == pytest.approx(
        areas, abs=0.0051
    )
    for row, of in test_witness.html_table(*cells["c-refuse-test"]).items():
        least, *shares = told[row]
        assert float(of["refused below"]) == pytest.approx(least, abs=0.0051)
        for text, values in zip([*of.values()][1:], shares, strict=True):
            assert test_witness.fits("{} of {} ({} to {})", text, *values, rounded=True), (
                row,
                text,
            )


def test_filters_by_version_and_copy(cells, files, base):
    groups, found, labels = marked(files), ids(base), Counter()
    for row in files.grades.values():
        labels.update(d for d, grade in row.items() if grade > 0)
    shown = {
        name: {"pages": len(of), "labels": sum(labels[d] for d in of)}
        for name, of in groups.items()
    }
    timed = {q for q, row in files.asked.items() if speaks_of_a_time(row["query"].lower())}
    orders = {"baseline": found} | {
        f"no {name}": {q: [d for d in own if d not in of] for q, own in found.items()}
        for name, of in groups.items()
    }
    kinds = {row["kind"] for row in files.queries.values()}
    by_kind = {name: columns(files, of, kinds) for name, of in orders.items()}
    orders["reads the question"] = {
        q: orders["baseline" if q in timed else "no old versions"][q] for q in base
    }
    for factor in (0.95, 0.9, 0.8, 0.6):
        orders[f"weight {factor}"] = weighted(base, set.union(*groups.values()), factor)
    del orders["baseline"]
    compared = {name: {"dev": beside(files, base, of, "dev")} for name, of in orders.items()}
    times = {}
    for kind in kinds:
        own = {q for q, row in files.queries.items() if row["kind"] == kind}
        times[kind] = {"size": len(own), "sum": len(timed & own)}
    tables = {"c-filter-old": shown, "c-filter-table": by_kind, "c-filter-times": times}
    test_witness.agree(cells, tables | {"c-filter-compared": compared})
    best = max(orders, key=lambda name: compared[name]["dev"][0])
    for split in ("dev", "test"):
        ends = beside(files, base, orders[best], split)
        assert test_witness.fits(
            f"{best}, {split}: {{}} ({{}} to {{}})", *cells["c-filter-best"], *ends
        )


def beside(files, base, orders, split):
    return gap(ndcg(files, ids(base), split), ndcg(files, orders, split))


def marked(files):
    """Return the pages that another version replaces, and the copies."""
    facts, groups = files.documents, {}
    for doc_id, document in facts.items():
        if document.get("version"):  # ids of versions differ in their last part
            groups.setdefault(re.sub(r"-v?\d+$", "", doc_id), []).append(doc_id)
    newest = {name: max(facts[d]["updated"] for d in of) for name, of in groups.items()}
    old = {d for name, of in groups.items() for d in of if facts[d]["updated"] < newest[name]}
    return {"old versions": old, "copies": {d for d, of in facts.items() if of.get("copy_of")}}


MONTHS = "january february march april june july august september october november december"
TIMES = {*MONTHS.split(), "last", "before", "old", "previous", "earlier"}


def speaks_of_a_time(query):
    own = {*re.findall(r"\w+", query)}
    is_year = any(re.fullmatch(r"20\d\d", word) for word in own)
    return bool(TIMES & own) or is_year or "back then" in query or "used to" in query


def weighted(base, pages, factor):
    """Return the orders with the scores of some pages times a factor."""
    orders = {}
    for q, hits in base.items():
        scores = {d: score * (factor if d in pages else 1) for d, score in hits}
        orders[q] = sorted(scores, key=lambda d, of=scores: (-of[d], d))
    return orders


def columns(files, orders, kinds):
    row = {}
    for split in ("dev", "test"):
        for name, own in (("temporal", {"temporal"}), ("others", kinds - {"temporal"})):
            values = ndcg(files, orders, split, own)
            row[f"{split} {name} ({len(values)})"] = fmean(values)
    return row


def test_plain_counts_and_what_rarity_mends(cells, files):
    """The dot product of counts, and with ln(1 + (N - df + .5) / (df + .5)) for each word asked."""
    counts = {d: Counter(witness.words(row["text"])) for d, row in files.documents.items()}
    df = Counter(word for own in counts.values() for word in own)
    idf = {word: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for word, n in df.items()}
    plain, rows = dict.fromkeys(df, 1.0), {}
    for name, weights in {"counts": plain, "counts with IDF": idf}.items():
        orders = {q: best(files.queries[q]["query"], counts, weights) for q in dev_of(files)}
        rows[name] = told(files, orders)
    texts = {f"{d}#0": row["text"] for d, row in files.documents.items()}
    bm25 = witness.Okapi(texts).search
    hits = {q: witness.to_documents(bm25(files.queries[q]["query"])) for q in dev_of(files)}
    rows["BM25, documents"] = told(files, ids(hits))
    test_witness.agree(cells, {"f-terms-idf-run": rows})
    low, mended, whole = (row["nDCG@10"] for row in rows.values())
    assert (mended - low) / (whole - low) > 1 / 2  # "more than half of the gap"


def dev_of(files):
    return [q for q in files.queries if is_dev(files, q)]


def best(query, counts, weights):
    """Return the first hundred documents that share a word with the query."""
    asked, scores = Counter(witness.words(query)), {}
    for doc_id, own in counts.items():
        if shared := asked.keys() & own.keys():
            score = math.fsum(asked[w] * own[w] * weights[w] for w in shared)
            scores[doc_id] = (-round(score, 10), doc_id)
    return sorted(scores, key=scores.get)[:100]


def told(files, orders):
    """Return the means over dev that the notebook shows."""
    rows = pd.DataFrame(witness.measures(of, files.grades[q]) for q, of in orders.items())
    gains = {q: [files.grades[q].get(d, 0) for d in of[:5]] for q, of in orders.items()}
    ideals = {q: sorted(files.grades[q].values(), reverse=True)[:5] for q in orders}
    five = fmean(witness.dcg(gains[q]) / witness.dcg(ideals[q]) for q in orders)
    names = {"AP": "MAP", "RR": "MRR"} | {n: n for n in ("nDCG@10", "recall@100", "recall@5")}
    return {shown: rows[name].mean() for name, shown in names.items()} | {"nDCG@5": five}


def test_moving_one_document_and_a_partial_answer_first(cells):
    rows = {str(n): of_five("acde"[: n - 1] + "b" + "acde"[n - 1 :]) for n in range(1, 6)}
    early = {name: value for name, value in of_five("dace").items() if name != "AP"}
    test_witness.agree(cells, {"c-move-orders": rows, "c-move-early": {"d first": early}})


def of_five(order):
    """Return what session C shows of at most five documents, for which nDCG@5 is nDCG@10."""
    values = witness.measures([*order], {"b": 2, "d": 1, "x": 1})
    return {"RR": values["RR"], "AP": values["AP"], "nDCG@5": values["nDCG@10"]}


def test_the_halves_of_version_2_and_of_now(cells, files, base):
    was = {q: row["split"] for q, row in test_witness.version_2().items()}
    now = {q: row["split"] for q, row in files.queries.items()}
    dense = ids(witness.trec(FOLDER / "systems" / "dense-minilm-titled.trec"))
    baseline, other = (
        {q: witness.measures(of.get(q, []), files.grades[q])["nDCG@10"] for q in files.queries}
        for of in (ids(base), dense)
    )
    gains = {q: other[q] - value for q, value in baseline.items()}
    rows = {"baseline, halves of now": welch(baseline, now)}
    rows["baseline, halves of version 2"] = welch(baseline, was)
    rows["dense-minilm-titled minus baseline, halves of version 2"] = welch(gains, was)
    counts = Counter()
    for q, row in files.grades.items():
        for service in {files.documents[d]["service"] for d, grade in row.items() if grade == 2}:
            counts.update({(service, "version 2", was.get(q)): 1, (service, "now", now.get(q)): 1})
    columns = [(of, half) for of in ("version 2", "now") for half in ("dev", "test")]
    whole = {c: sum(n for key, n in counts.items() if key[1:] == c) for c in columns}
    shares = {
        service: {" ".join(c): f"{counts[(service, *c)] / whole[c]:.0%}" for c in columns}
        for service in {service for service, *_ in counts}
    }
    test_witness.agree(cells, {"c-halves-flipped": rows, "c-halves-services": shares})
    assert min(
        counts[(service, *c)] for service in shares for c in columns[2:]
    )  # "none is missing"
    dev, test, *_, high = rows.popitem()[1].values()
    assert dev > 0 > test and high < 0  # "would have called it a loss"


def welch(values, halves):
    """Return both means, test minus dev, and its interval (Welch 1947)."""
    dev, test = (
        pd.Series([value for q, value in values.items() if halves.get(q) == half])
        for half in ("dev", "test")
    )
    parts = [of.var() / len(of) for of in (dev, test)]
    df = sum(parts) ** 2 / sum(
        v**2 / (len(of) - 1) for v, of in zip(parts, (dev, test), strict=True)
    )
    reach, between = stats.t.ppf(0.975, df) * math.sqrt(sum(parts)), test.mean() - dev.mean()
    names, ends = (
        ("dev", "test", "test minus dev", "low", "high"),
        (between - reach, between + reach),
    )
    return dict(zip(names, (dev.mean(), test.mean(), between, *ends), strict=True))


def test_one_wrong_word_and_another_way_to_say_it(cells):
    shown = re.findall(r"^(\S+)  ", cells["f-answers-blur-run"][0], re.MULTILINE)
    assert [*map(float, shown)] == [2 * 4 / (5 + 5), round(2 * 1 / (6 + 5), 2)]
