"""The second witness of evidence: quotes are looked for in the texts that a reader would get.

No positions are compared. A chunk holds a quote if its text does, and a context is texts. Labels
are {doc_id: (grade, alternatives)}; an alternative is a list of quotes that are needed together.
"""

import math
import re
from collections.abc import Iterable
from itertools import combinations
from statistics import fmean

import numpy as np
import pandas as pd
import witness
from witness import SPLITS, Files, Okapi, Passage, bounded, coding, dcg, passages, token_ids, tokens

SETS = ("fixed-64", "fixed-128", "fixed-256", "fixed", "fixed-1024", "document")
SETS += ("paragraph", "recursive")
BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
NAMED = "evidence recall within 2000 tokens"


def evidence(files: Files) -> dict:
    """Return what results.json says of evidence; on test only what was chosen on dev stands.

    What follows from p is left to `witness.decided`.
    """
    known = {name: passages(files, name) for name in SETS}
    lists = {name: searched(files, chunks) for name, chunks in known.items()}
    chosen, found = {"fixed", *witness.confirmed(files)}, {}
    for split in SPLITS:
        asked, sets, named = quoted(files, split), {}, {}
        alone = {q: each_alone(labels) for q, labels in asked.items()}
        for name in SETS if split == "dev" else chosen.intersection(SETS):
            chunks = [*known[name].values()]
            values, loose = (table(files, of, lists[name], chunks) for of in (asked, alone))
            named[name] = values[NAMED]
            sets[name] = {
                "chunks": len(chunks),
                "means": values.mean().to_dict(),
                "any_quote": loose.filter(regex="hit@5| within ").mean().to_dict(),
            }
        for name in sets.keys() - {"fixed"}:
            sets[name]["against"] = bounded(named["fixed"], named[name])
        found[split] = {"n": len(asked), "by_k": by_k(asked, lists["fixed"]), "sets": sets}
        found[split]["needs"] = needs(files, split, lists["fixed"])
    chunks, asked = known["fixed"].values(), quoted(files, "dev")
    lost = {q: where(labels, lists["fixed"][q], chunks) for q, labels in asked.items()}
    return {**found, "lost": lost}


def table(files: Files, asked: dict, lists: dict, known: list[Passage]) -> pd.DataFrame:
    """Return every measure of each query (row) with a set of chunks."""
    return pd.DataFrame(scored(files, labels, lists[q], known) for q, labels in asked.items())


def searched(files: Files, chunks: dict[str, Passage]) -> dict[str, list[Passage]]:
    """Return what a set of chunks has for each query, the best first and deep enough.

    Deep enough are a hundred, or as many of the shortest as it takes to fill 8,000 tokens.
    """
    sizes = np.sort([chunk.n for chunk in chunks.values()])
    engine, deep = Okapi(chunks), max(100, np.searchsorted(sizes.cumsum(), BUDGETS[-1]) + 1)
    found = {}
    for q, row in files.queries.items():
        found[q] = [chunks[unit] for unit, _ in engine.search(row["query"])[:deep]]
    return found


def quoted(files: Files, split: str) -> dict[str, dict]:
    """Return {query_id: labels} of a half, of the labels with a quote."""
    found = {}
    for row in witness.rows(files.folder / "judgments.jsonl"):
        query = files.queries.get(row["query_id"], {"split": ""})
        if row["relevance"] and row.get("evidence") and query["split"] == split:
            labels = found.setdefault(row["query_id"], {})
            labels[row["doc_id"]] = row["relevance"], alternatives(row["evidence"])
    return found


def alternatives(given: str | list) -> list[list[str]]:
    """Return lists of quotes that are needed together; one of the lists is enough."""
    some = given if isinstance(given, list) else [given]
    some = [own["quotes"] if isinstance(own, dict) else own for own in some]
    return [own if isinstance(own, list) else [own] for own in some]


def proofs(files: Files, split: str) -> dict[str, dict[str, list]]:
    """Return {query_id: {need: [(doc_id, quotes)]}} of a half, of the needs that a label proves."""
    found = {}
    for row in witness.rows(files.folder / "judgments.jsonl"):
        q, given = row["query_id"], row.get("evidence", [])
        if not row["relevance"] or files.queries.get(q, {"split": ""})["split"] != split:
            continue
        for own in given if isinstance(given, list) else []:
            for need in own["needs"] if isinstance(own, dict) else []:
                at = found.setdefault(q, {}).setdefault(need, [])
                at.append((row["doc_id"], own["quotes"]))
    return found


def needs(files: Files, split: str, lists: dict) -> dict:
    """Return n, means and intervals of what a half's queries with needs are brought."""
    values = []
    for q, proved in proofs(files, split).items():
        units, row = lists[q], {}
        relevant = {d for d, grade in files.grades[q].items() if grade}
        parts = {f"@{k}": units[:k] for k in (1, 5, 10)}
        parts |= {f" within {b} tokens": delivered(units, b) for b in BUDGETS}
        for where, got in parts.items():
            texts = {d: [unit.text for unit in got if unit.doc_id == d] for d in relevant}
            met = []
            for some in proved.values():
                met.append(any(suffices([quotes], texts[d]) for d, quotes in some))
            row[f"need recall{where}"] = fmean(met)
            row[f"all needs met{where}"] = float(all(met))
            row[f"document recall{where}"] = fmean(bool(of) for of in texts.values())
        values.append(row)
    table = pd.DataFrame(values)
    ends = {name: witness.bootstrap(table[name]) for name in table}
    return {"n": len(table), "means": table.mean().to_dict(), "intervals": ends}


def each_alone(labels: dict) -> dict:
    """Return labels of which any quote is enough."""
    return {d: (grade, [[q] for own in some for q in own]) for d, (grade, some) in labels.items()}


def suffices(alternatives: list[list[str]], texts: Iterable[str]) -> bool:
    """Return whether the texts hold all quotes of an alternative, each in one of them."""
    return any(all(any(q in text for text in texts) for q in own) for own in alternatives)


def seen_at(labels: dict, units: Iterable[Passage]) -> dict[str, int]:
    """Return {doc_id: rank} of the text with which those of its document suffice."""
    ranks, texts = {}, {doc_id: [] for doc_id in labels}
    for rank, unit in enumerate(units, 1):
        if unit.doc_id in labels.keys() - ranks.keys():
            texts[unit.doc_id].append(unit.text)
            if suffices(labels[unit.doc_id][1], texts[unit.doc_id]):
                ranks[unit.doc_id] = rank
    return ranks


def price(alternatives: list[list[str]], texts: list[str]) -> int:
    """Return the fewest texts that suffice, one where all of them do not."""
    useful = [text for text in texts if any(q in text for own in alternatives for q in own)]
    for n in range(1, max(map(len, alternatives)) + 1):
        if any(suffices(alternatives, some) for some in combinations(useful, n)):
            return n
    return 1


def best_dcg(labels: dict, known: list[Passage], k: int) -> float:
    """Return the highest DCG@k: of grades in order, or of all orders where some take several."""
    if not any(len(own) > 1 for _, some in labels.values() for own in some):
        return dcg(sorted((grade for grade, _ in labels.values()), reverse=True)[:k])
    texts = {d: [unit.text for unit in known if unit.doc_id == d] for d in labels}
    pairs = [(grade, price(some, texts[d])) for d, (grade, some) in labels.items()]
    best = {frozenset(): 0.0}  # of some labels: the highest sum with these first
    for n in range(1, len(pairs) + 1):
        for some in map(frozenset, combinations(range(len(pairs)), n)):
            rank = sum(pairs[i][1] for i in some)  # where the last of them is complete
            gains = []
            for last in some:
                gain = pairs[last][0] / math.log2(rank + 1) if rank <= k else 0
                gains.append(best[some - {last}] + gain)
            best[some] = max(gains)
    return best[frozenset(range(len(pairs)))]


def delivered(units: list[Passage], budget: int) -> list[Passage]:
    """Return the texts that a budget pays for, the last one shortened."""
    got = []
    for unit in units:
        if unit.n > budget:
            part = coding().decode_bytes(token_ids(unit.text)[:budget]).decode(errors="ignore")
            return [*got, unit._replace(text=part, n=budget)] if budget else got
        got.append(unit)
        budget -= unit.n
    return got


def scored(
    files: Files, labels: dict, units: list[Passage], known: list[Passage]
) -> dict[str, float]:
    """Return every measure of one query; `known` are all chunks."""
    ranks, row = seen_at(labels, units), {}
    for k in (1, 5, 10):
        top = {rank: labels[doc_id][0] for doc_id, rank in ranks.items() if rank <= k}
        gained, ideal = dcg([top.get(r, 0) for r in range(1, k + 1)]), best_dcg(labels, known, k)
        row[f"evidence hit@{k}"] = float(bool(top))
        row[f"evidence recall@{k}"] = len(top) / len(labels)
        row[f"evidence nDCG@{k}"] = gained / ideal if ideal else 0
    for budget in BUDGETS:
        got = delivered(units, budget)
        row[f"evidence recall within {budget} tokens"] = len(seen_at(labels, got)) / len(labels)
        row[f"evidence share of {budget} tokens"] = share(files, labels, got)
    return row


def share(files: Files, labels: dict, got: list[Passage]) -> float:
    """Return the share of the bill that is quotes; each of their characters counts once."""
    relevant = {unit.doc_id for unit in got} & labels.keys()
    marked = {d: bytearray(len(files.documents[d]["text"])) for d in relevant}
    for unit in got:
        for quote in sum(labels.get(unit.doc_id, (0, []))[1], []):
            at = unit.text.find(quote)
            while at >= 0:
                first = unit.start + at
                marked[unit.doc_id][first : first + len(quote)] = b"x" * len(quote)
                at = unit.text.find(quote, at + 1)
    stretches = [
        files.documents[doc_id]["text"][hit.start() : hit.end()]
        for doc_id, marks in marked.items()
        for hit in re.finditer(b"x+", marks)
    ]
    return sum(map(tokens, stretches)) / sum(unit.n for unit in got) if got else 0.0


def by_k(asked: dict, lists: dict) -> dict[str, list[float]]:
    """Return the shares of queries with a right document, and with evidence, in k chunks."""
    firsts = {"document": [], "any quote": [], "evidence": []}
    for q, labels in asked.items():
        named = {d: (1, [[""]]) for d in labels}  # each chunk of a document suffices
        for ranks, of in zip(firsts.values(), (named, each_alone(labels), labels), strict=True):
            ranks.append(min(seen_at(of, lists[q]).values(), default=math.inf))
    shares = {}
    for name, ranks in firsts.items():
        shares[name] = [fmean(rank <= k for rank in ranks) for k in range(1, 21)]
    return shares


def where(labels: dict, units: list[Passage], known: Iterable[Passage]) -> str:
    """Return where the evidence of a query is lost within 2,000 tokens; `known` are all chunks."""
    got = delivered(units, 2_000)
    ranked = {unit.doc_id for unit in units} & labels.keys()
    if seen_at(labels, got):
        return "delivered"
    if seen_at(each_alone(labels), got):
        return "evidence delivered in part"
    if not ranked:
        return "document not found"
    if not seen_at(labels, (unit for unit in known if unit.doc_id in ranked)):
        return "evidence cut by a seam"
    if {unit.doc_id for unit in got} & labels.keys() and not seen_at(labels, units[: len(got)]):
        return "document found, evidence in another chunk"
    return "evidence below the budget"
