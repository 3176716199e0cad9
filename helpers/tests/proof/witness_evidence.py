"""The second witness of evidence: quotes are looked for in the texts that a reader would get.

No positions are compared. A chunk holds a quote if its text does, and a context is texts. Labels
are {doc_id: (grade, alternatives)}; an alternative is a list of quotes that are needed together.
"""

import math
import re
from collections.abc import Iterable
from itertools import combinations, permutations
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pandas as pd
import witness
from witness import SPLITS, Files, Okapi, bounded, chunk_texts, coding, dcg, rows, token_ids, tokens

SETS = ("fixed-64", "fixed-128", "fixed-256", "fixed", "fixed-1024", "document")
SETS += ("paragraph", "recursive")
BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
NAMED = "evidence recall within 2000 tokens"


class Passage(NamedTuple):
    """A chunk as a reader would get it; `start` is its first character, `n` its tokens."""

    doc_id: str
    text: str
    start: int
    n: int


def evidence(files: Files) -> dict:
    """Return what results.json says of evidence; on test only what was chosen on dev stands.

    What follows from p is left to `witness.decided`.
    """
    found, lists = {}, searched(files)
    chosen = {"fixed", *witness.confirmed(files)}
    for split in SPLITS:
        asked, sets, named = quoted(files, split), {}, {}
        alone = {q: each_alone(labels) for q, labels in asked.items()}
        for name in SETS if split == "dev" else [name for name in SETS if name in chosen]:
            values, loose = (table(files, name, of, lists[name]) for of in (asked, alone))
            named[name] = values[NAMED]
            sets[name] = {
                "chunks": len(chunk_texts(files, name)),
                "means": values.mean().to_dict(),
                "any_quote": loose.filter(regex="hit@5| within ").mean().to_dict(),
            }
        for name in sets.keys() - {"fixed"}:
            sets[name]["against"] = bounded(named["fixed"], named[name])
        found[split] = {"n": len(asked), "by_k": by_k(asked, lists["fixed"]), "sets": sets}
    known, asked = passages(files, "fixed").values(), quoted(files, "dev")
    lost = {q: where(labels, lists["fixed"][q], known) for q, labels in asked.items()}
    return {**found, "lost": lost}


def table(files: Files, name: str, asked: dict, lists: dict) -> pd.DataFrame:
    """Return every measure of each query (row) with a set of chunks."""
    known = [*passages(files, name).values()]
    return pd.DataFrame(scored(files, labels, lists[q], known) for q, labels in asked.items())


def passages(files: Files, name: str) -> dict[str, Passage]:
    """Return the chunks of a set by their id."""
    texts, made = chunk_texts(files, name), rows(files.folder / "chunks" / f"{name}.jsonl")
    cut = {f"{c['doc_id']}#{c['chunk_idx']}": c for c in made}
    return {u: Passage(c["doc_id"], texts[u], c["start"], c["n_tokens"]) for u, c in cut.items()}


def searched(files: Files) -> dict[str, dict[str, list[Passage]]]:
    """Return what each set of chunks has for each query, the best first and deep enough."""
    found = {}
    for name in SETS:
        units = passages(files, name)
        engine, deep = Okapi(chunk_texts(files, name)), depth([at.n for at in units.values()])
        hits = {q: engine.search(row["query"])[:deep] for q, row in files.queries.items()}
        found[name] = {q: [units[unit] for unit, _ in ranked] for q, ranked in hits.items()}
    return found


def quoted(files: Files, split: str) -> dict[str, dict]:
    """Return {query_id: labels} of a half, of the labels with a quote."""
    found = {q: {} for q, query in files.queries.items() if query["split"] == split}
    for row in rows(files.folder / "judgments.jsonl"):
        if row["relevance"] and row.get("evidence") and row["query_id"] in found:
            labels = row["relevance"], witness.alternatives(row)
            found[row["query_id"]][row["doc_id"]] = labels
    return {query_id: row for query_id, row in found.items() if row}


def each_alone(labels: dict) -> dict:
    """Return labels of which any quote is enough."""
    return {d: (grade, [[q] for own in some for q in own]) for d, (grade, some) in labels.items()}


def depth(sizes: list[int]) -> int:
    """Return a hundred, or how many of the shortest chunks it takes to fill 8,000 tokens."""
    filled = np.searchsorted(np.cumsum(np.sort(sizes)), BUDGETS[-1]) + 1
    return max(100, min(len(sizes), int(filled)))


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
    best = 0
    for order in permutations(pairs):
        rank, gain = 0, 0
        for grade, n in order:
            rank += n
            gain += grade / math.log2(rank + 1) if rank <= k else 0
        best = max(best, gain)
    return best


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
    shares = {"document": [], "any quote": [], "evidence": []}
    for k in range(1, 21):
        tops = [(labels, lists[q][:k]) for q, labels in asked.items()]
        shares["document"].append(fmean(any(u.doc_id in at for u in top) for at, top in tops))
        shares["any quote"].append(fmean(bool(seen_at(each_alone(at), top)) for at, top in tops))
        shares["evidence"].append(fmean(bool(seen_at(at, top)) for at, top in tops))
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
