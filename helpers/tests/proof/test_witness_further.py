"""The second witness of rerankers, refusals, filters and weighted terms in further notebooks."""

import re
from collections import Counter
from functools import partial
from statistics import fmean

import pandas as pd
import pytest
import test_witness
import witness
import witness_sessions
from test_witness import FOLDER
from witness_sessions import IDF

cells, files, base = test_witness.cells, test_witness.files, test_witness.base
FAR = (0.03, 0.04, 5, 0.005)  # one test, bet, queries labelled, seen at the stop
SPLITS, ENDS = witness.SPLITS, ("difference", "low", "high")


def ndcg(files, run, split, kinds=()):
    """Return nDCG@10 of each query of a half, or of its queries of some kinds."""
    own = [q for q, row in files.queries.items() if not kinds or row["kind"] in kinds]
    return witness.scored(files, run, split)["nDCG@10"].filter(own)


def gap(files, before, after, split):
    """Return the mean difference of two runs and its 95 % t interval."""
    pair = witness.paired(*(ndcg(files, run, split) for run in (before, after)))
    return [pair[end] for end in ENDS]


def ids(run):
    return {q: witness.order(run, q) for q in run}


def reordered(files, base):
    """Return {name of the row: orders} of BM25's first fifty in other orders, and whole fusions."""
    orders, fifty = {"BM25": ids(base)}, {q: own[:50] for q, own in ids(base).items()}
    for name, whole in witness.systems(files, base).items():
        if name.startswith("baseline + "):
            system = name.removeprefix("baseline + ")
            kept = {q: [d for d in own if d in fifty[q]] for q, own in ids(whole).items()}
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
    orders, dev = reordered(files, base), dev_of(files)
    hard = {row["query_id"]: set(row["hard"]) for row in witness.rows(FOLDER / "negatives.jsonl")}
    right = {q: {d for d, grade in row.items() if grade > 0} for q, row in files.grades.items()}
    compared, judged, negatives = {}, {}, {}
    for name, order in orders.items():
        ends = dict(zip(ENDS, gap(files, base, order, "dev"), strict=True))
        compared[name] = {"run": fmean(ndcg(files, order, "dev"))} | ends
        judged[name] = {"judged@10": witness.judged(files, order, dev)}
        told = [[d in hard[q] for d in order.get(q, []) if d in right[q] | hard[q]] for q in dev]
        in_ten = fmean(len(hard[q] & {*order.get(q, [])[:10]}) for q in dev)
        negatives[name] = {"in ten": in_ten, "one leads": fmean(of[0] for of in told if of)}
    del compared["BM25"]
    tables = {"c-rerank-compared": compared, "c-rerank-judged": judged}
    test_witness.agree(cells, tables | {"c-rerank-hard": negatives})


def test_what_stopping_early_finds_and_shows(cells, files, base):
    """Other draws of 5,000: four standard errors of both tables are allowed."""
    shown = test_witness.html_table(*cells["c-stop-cost-table"])
    wanted = witness_sessions.stopping(files, base)
    for (true, row), (least, values) in zip(shown.items(), wanted.items(), strict=True):
        assert abs(float(true) - least) < 0.004
        for (name, text), value, far in zip(row.items(), values, FAR, strict=True):
            assert abs(float(text) - value) <= far, (true, name, text, value)


def dev_of(files):
    return [q for q, row in files.queries.items() if row["split"] == "dev"]


def refusals(files, base):
    """Return a row for each query: half, answerable, found in five, and both signals."""
    pages = [set(witness.words(document["text"])) for document in files.documents.values()]
    df, n = Counter(word for page in pages for word in page), len(pages)
    rows = []
    for q, row in files.asked.items():
        hits, own = base.get(q, []), witness.words(row["query"])
        most = sum(IDF["Lucene IDF"](n, df[word]) for word in own)
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
            areas[f"{name} {split}"] = witness.area(yes, no)
            lost, misled = harms(of, name, least)
            shares = [(len(no) - misled, len(no)), (lost, int(of["found"].sum()))]
            shares = [[k, n, *witness.wilson(k, n)] for k, n in shares]
            told[f"{split} {name}"] = [least, *shares]
    shown = test_witness.html_table(*cells["c-refuse-auroc"]).items()
    assert {row: float(of["AUROC"]) for row, of in shown} == pytest.approx(areas, abs=0.0051)
    for row, of in test_witness.html_table(*cells["c-refuse-test"]).items():
        least, *shares = told[row]
        assert float(of["refused below"]) == pytest.approx(least, abs=0.0051)
        for text, values in zip([*of.values()][1:], shares, strict=True):
            right = test_witness.fits("{} of {} ({} to {})", text, *values, rounded=True)
            assert right, (row, text)


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
    compared = {name: {"dev": gap(files, base, of, "dev")} for name, of in orders.items()}
    times = {}
    for kind in kinds:
        own = {q for q, row in files.queries.items() if row["kind"] == kind}
        times[kind] = {"size": len(own), "sum": len(timed & own)}
    tables = {"c-filter-old": shown, "c-filter-table": by_kind, "c-filter-times": times}
    test_witness.agree(cells, tables | {"c-filter-compared": compared})
    best = max(orders, key=lambda name: compared[name]["dev"][0])
    for split in SPLITS:
        phrase = f"{best}, {split}: {{}} ({{}} to {{}})"
        ends = gap(files, base, orders[best], split)
        assert test_witness.fits(phrase, *cells["c-filter-best"], *ends)


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
    for split in SPLITS:
        for name, own in (("temporal", {"temporal"}), ("others", kinds - {"temporal"})):
            values = ndcg(files, orders, split, own)
            row[f"{split} {name} ({len(values)})"] = fmean(values)
    return row


def test_plain_counts_and_what_rarity_mends(cells, files):
    """The dot product of counts, and with ln(1 + (N - df + .5) / (df + .5)) for each word asked."""
    texts = {f"{d}#0": row["text"] for d, row in files.documents.items()}
    engines, rows = {
        "counts": Counts(texts, idf=lambda df, n: dict.fromkeys(df, 1.0)),
        "counts with IDF": Counts(texts, idf=partial(witness_sessions.idf, "Lucene IDF")),
        "BM25, documents": witness.Okapi(texts),
    }, {}  # fmt: skip
    for name, engine in engines.items():
        hits = {q: engine.search(files.queries[q]["query"]) for q in dev_of(files)}
        rows[name] = told(files, ids({q: witness.to_documents(own) for q, own in hits.items()}))
    test_witness.agree(cells, {"f-terms-idf-run": rows})
    low, mended, whole = (row["nDCG@10"] for row in rows.values())
    assert (mended - low) / (whole - low) > 1 / 2  # "more than half of the gap"


class Counts(witness.Okapi):
    def gain(self, f, length):
        return f


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
    dense = witness.trec(FOLDER / "systems" / "dense-minilm-titled.trec")
    baseline, other = (ndcg(files, run, None) for run in (base, dense))
    rows = {"baseline, halves of now": by_half(baseline, now)}
    rows["baseline, halves of version 2"] = by_half(baseline, was)
    rows["dense-minilm-titled minus baseline, halves of version 2"] = by_half(other - baseline, was)
    counts = Counter()
    for q, row in files.grades.items():
        for service in {files.documents[d]["service"] for d, grade in row.items() if grade == 2}:
            counts.update({(service, "version 2", was.get(q)): 1, (service, "now", now.get(q)): 1})
    columns = [(of, half) for of in ("version 2", "now") for half in SPLITS]
    whole = {c: sum(n for key, n in counts.items() if key[1:] == c) for c in columns}
    shares = {
        service: {" ".join(c): f"{counts[(service, *c)] / whole[c]:.0%}" for c in columns}
        for service in {service for service, *_ in counts}
    }
    test_witness.agree(cells, {"c-halves-flipped": rows, "c-halves-services": shares})
    missing = [service for service in shares for c in columns[2:] if not counts[(service, *c)]]
    assert not missing  # "none is missing"
    dev, test, *_, high = rows.popitem()[1].values()
    assert dev > 0 > test and high < 0  # "would have called it a loss"


def by_half(values, halves):
    """Return both means, test minus dev, and its interval."""
    dev, test = (values[[halves.get(q) == half for q in values.index]] for half in SPLITS)
    columns = ("dev", "test", "test minus dev", "low", "high")
    return dict(zip(columns, (dev.mean(), test.mean(), *witness.welch(dev, test)), strict=True))


def test_one_wrong_word_and_another_way_to_say_it(cells):
    shown = re.findall(r"^(\S+)  ", cells["f-answers-blur-run"][0], re.MULTILINE)
    assert [*map(float, shown)] == [2 * 4 / (5 + 5), round(2 * 1 / (6 + 5), 2)]
