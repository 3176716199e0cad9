"""The second witness of the sessions and what goes further: chunks, bets, refusals, filters."""

import hashlib
import json
import math
import re
from collections import Counter
from itertools import count
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
import witness
from scipy import special, stats
from witness import Files, Okapi, chunk_texts, coding, scored, token_ids, tokens, words
from witness_labels import lucene_idf

# Chunks: [first character, end, tokens], in the order of the document.

SIZES = {
    "fixed-64": (64, 6),
    "fixed-128": (128, 12),
    "fixed-256": (256, 25),
    "fixed": (512, 50),
    "fixed-1024": (1024, 102),
}
LANGCHAIN = Path(__file__).parents[2] / "teach" / "check" / "langchain.json"


def chunks(text: str, name: str) -> list[list[int]]:
    """Return the chunks of a text in the set of that name."""
    if name in SIZES:
        return windows(text, *SIZES[name])
    cut = {"paragraph": paragraphs, "recursive": pieces, "document": whole}[name]
    return [[start, end, tokens(text[start:end])] for start, end in cut(text)]


def windows(text: str, size: int, overlap: int) -> list[list[int]]:
    """Return windows of `size` tokens: as many as it takes to reach the end, none more."""
    ids = token_ids(text)
    _, begins = coding().decode_with_offsets(ids)
    begins.append(len(text))
    n = 1 + max(0, math.ceil((len(ids) - size) / (size - overlap)))
    starts = [(size - overlap) * place for place in range(n)]
    ends = [min(start + size, len(ids)) for start in starts]
    return [[begins[a], begins[b], b - a] for a, b in zip(starts, ends, strict=True)]


def whole(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))]


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Return blocks of lines that are not blank; a heading alone is joined to what follows it."""
    found, first, at = [], None, 0
    for lines in re.split(r"(\n\s*\n)", text.rstrip()):
        at += len(lines)
        if lines.strip():
            first = at - len(lines.lstrip()) if first is None else first
            if "\n" in lines or not lines.startswith("#") or at == len(text.rstrip()):
                found.append((first, at))
                first = None
    return found


def pieces(text: str) -> list[tuple[int, int]]:
    """Return the places of LangChain's own pieces; between two of them is white space."""
    found, end = [], 0
    asked = json.loads(LANGCHAIN.read_text(encoding="utf-8"))["documents"]
    for length in asked[hashlib.sha256(text.encode()).hexdigest()[:16]]["512"]:
        start = end + len(text[end:]) - len(text[end:].lstrip())
        end = start + length
        found.append((start, end))
    return found


def orphan(size: int = 512, overlap: int = 50) -> tuple[int, list[tuple[int, int]]]:
    """Return the first length of which a range cuts a last window inside another, and the cuts."""
    step = size - overlap
    n = next(n for n in count(step + 1) if n % step in range(1, overlap + 1))
    last = n // step * step  # where the last window of a range begins
    return n, [(0, min(size, n)), (last, n)]


# Stopping early.


def stopping(files: Files, base: dict, run: dict) -> dict[float, list[float]]:
    """Return what one test and the bet find, by true difference: shares, the bet's end and mean.

    The mean is that at the end, of the rows in which the bet found a difference.
    """
    before, after = (scored(files, side, "dev")["nDCG@10"] for side in (base, run))
    sizes, table = abs(after - before).to_numpy(), {}
    least = witness.detectable(200, math.sqrt(fmean(sizes**2)))
    for times in (1, 1.5, 2):
        differences = signed(sizes, times * least)
        t_values = differences.mean(axis=1) / stats.sem(differences, axis=1)
        ends, seen = [], []
        for row, logs in zip(differences, log_wealth(differences), strict=True):
            (over,) = np.nonzero(logs >= math.log(20))
            ends.append(int(over[0]) + 1 if over.size else 200)
            if over.size:
                seen.append(row[: ends[-1]].mean())
        tested = np.mean(abs(t_values) > stats.t.ppf(0.975, 199))
        table[times * least] = [tested, len(seen) / len(ends), fmean(ends), fmean(seen)]
    return table


def signed(sizes: np.ndarray, mean: float) -> np.ndarray:
    """Return 200 differences of these sizes in each of 5,000 rows, with that mean."""
    rng = witness.generator()
    up = rng.binomial(1, 0.5 + mean / sizes.mean() / 2, (5000, 200))
    return rng.permuted(np.resize(sizes, (5000, 200)), axis=1) * (2 * up - 1)


def log_wealth(differences: np.ndarray) -> np.ndarray:
    """Return the logarithm of the mean of 18 bets, from -.9 to .9, after each difference."""
    stakes = [sign * tenth / 10 for tenth in range(1, 10) for sign in (-1, 1)]
    logs = [np.log1p(stake * differences).cumsum(axis=1) for stake in stakes]
    return special.logsumexp(logs, axis=0) - math.log(18)


# Other engines.


class Counts(Okapi):
    """The dot product of plain counts."""

    def gain(self, f, length):
        return f


class LongOkapi(Okapi):
    """BM25L as it was published (Lv and Zhai 2011)."""

    def gain(self, f, length):
        return (self.k1 + 1) * (f / length + 0.5) / (self.k1 + f / length + 0.5)


def long_idf(df: dict[str, int], n: int) -> dict[str, float]:
    return {word: math.log((n + 1) / (k + 0.5)) for word, k in df.items()}


def no_idf(df: dict[str, int], n: int) -> dict[str, float]:
    return dict.fromkeys(df, 1.0)


def ndcg_of(files: Files, engine: Okapi) -> pd.Series:
    """Return nDCG@10 of each dev query."""
    half = {q: row["query"] for q, row in files.queries.items() if row["split"] == "dev"}
    run = {q: witness.to_documents(engine.search(text)) for q, text in half.items()}
    return scored(files, run, "dev")["nDCG@10"]


def by_documents(files: Files) -> dict[str, float]:
    """Return mean nDCG@10 on dev of counts, of counts with Lucene's IDF and of BM25."""
    texts = {f"{d}#0": row["text"] for d, row in files.documents.items()}
    engines = {
        "counts": Counts(texts, idf=no_idf),
        "counts with IDF": Counts(texts, idf=lucene_idf),
        "BM25, documents": Okapi(texts),
    }
    return {name: ndcg_of(files, engine).mean() for name, engine in engines.items()}


def published_bm25l(files: Files) -> pd.Series:
    """Return nDCG@10 of each dev query with BM25L by its paper, on the baseline's chunks."""
    return ndcg_of(files, LongOkapi(chunk_texts(files, "fixed"), idf=long_idf))


# Refusals and filters.


def refusals(files: Files, base: dict) -> pd.DataFrame:
    """Return a row for each query: half, answerable, found in five, and its first score by IDF."""
    pages = [set(words(document["text"])) for document in files.documents.values()]
    idf = lucene_idf(Counter(word for page in pages for word in page), len(pages))
    unknown = lucene_idf({"": 0}, len(pages))[""]
    rows = []
    for q, row in files.asked.items():
        hits, most = base.get(q, []), sum(idf.get(w, unknown) for w in words(row["query"]))
        found = any(files.grades[q].get(d, 0) > 0 for d, _ in hits[:5])
        rows.append([row["split"], q in files.queries, found, hits[0][1] / most if hits else 0])
    return pd.DataFrame(rows, columns=["split", "answerable", "found", "score"])


def harms(of: pd.DataFrame, least: float) -> tuple[int, int]:
    """Return lost answers and misled readers if scores below `least` are refused."""
    refused = (of["score"] < least) | (of["score"] == 0)
    return int((refused & of["found"]).sum()), int((~refused & ~of["answerable"]).sum())


def cheapest(of: pd.DataFrame) -> float:
    """Return the lowest threshold of least cost; a misled reader costs as much as five answers."""
    costs = []
    for least in [0, *of["score"]]:
        lost, misled = harms(of, least)
        costs.append((lost + 5 * misled, least))
    return min(costs)[1]


def old_versions(files: Files) -> set[str]:
    """Return the pages that another version replaces; their ids differ in the last part."""
    facts, groups = files.documents, {}
    for doc_id, document in facts.items():
        if document.get("version"):
            groups.setdefault(re.sub(r"-v?\d+$", "", doc_id), []).append(doc_id)
    old = set()
    for own in groups.values():
        newest = max(facts[d]["updated"] for d in own)
        old |= {d for d in own if facts[d]["updated"] < newest}
    return old
