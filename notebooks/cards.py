"""Failure cards: what each word of a query gave to the wanted document and to its rival.

Session C reads them. The weights are those of rank_bm25 on the baseline's chunks; that they add up
to the saved scores is asserted there.
"""

import math
from collections import Counter, defaultdict

from rank_bm25 import BM25Okapi

from helpers import chunks, runs, text
from helpers.evalset import EvalSet

TOLD_SCORES = ("score", "best of all chunks", "without length")
COMMON = 1 / 4  # a word is common where more of the chunks than this share hold it


def wanted_and_rival(order: list[str], grades: dict[str, int]) -> tuple[str, str] | None:
    """Return (wanted, rival): a relevant document and the first lower-graded one above it.

    The best-graded document that is out of order comes first.
    """
    ranks = {doc_id: rank for rank, doc_id in enumerate(order)}
    relevant = [doc_id for doc_id, grade in grades.items() if grade > 0]
    for wanted in sorted(relevant, key=lambda d: (-grades[d], ranks.get(d, math.inf), d)):
        for doc_id in order[: ranks.get(wanted, len(order))]:
            if grades.get(doc_id, 0) < grades[wanted]:
                return wanted, doc_id
    return None


class Weights:
    """The baseline's chunks of a set, and what each word of a query gives to them."""

    def __init__(self, units: list[chunks.Chunk], bodies: list[list[str]], versions: set) -> None:
        """Index chunks, each given as its words; `versions` are pairs of versions of a document."""
        self.units, self.index, self.versions = units, BM25Okapi(bodies), versions
        self.units_of: dict[str, list[int]] = defaultdict(list)
        for number, chunk in enumerate(units):
            self.units_of[chunk.doc_id].append(number)
        df = Counter(word for counts in self.index.doc_freqs for word in counts)
        self.common = {word for word, n in df.items() if n > len(units) * COMMON}

    def parts(self, words: list[str], unit: int, b: float | None = None) -> dict[str, float]:
        """Return what each word of a query adds to the BM25 score of one chunk."""
        b = self.index.b if b is None else b
        counts, k1 = self.index.doc_freqs[unit], self.index.k1
        norm = k1 * (1 - b + b * self.index.doc_len[unit] / self.index.avgdl)
        parts = {}
        for word, times in Counter(words).items():
            tf = counts.get(word, 0)
            parts[word] = times * self.index.idf.get(word, 0) * tf * (k1 + 1) / (tf + norm)
        return parts

    def best(self, words: list[str], doc_id: str, b: float | None = None) -> dict[str, float]:
        """Return the parts of the document's best chunk."""
        chunks_of = (self.parts(words, unit, b) for unit in self.units_of[doc_id])
        return max(chunks_of, key=lambda parts: sum(parts.values()))

    def score(self, words: list[str], doc_id: str, b: float | None = None) -> float:
        """Return the score of the document's best chunk, rounded as rankings are."""
        return round(sum(self.best(words, doc_id, b).values()), runs.DECIMALS)

    def union(self, words: list[str], doc_id: str) -> float:
        """Return the score if each word counted from the chunk where it gives most."""
        each = [self.parts(words, unit) for unit in self.units_of[doc_id]]
        return round(sum(max(p[word] for p in each) for word in set(words)), runs.DECIMALS)

    def held(self, doc_id: str) -> set[str]:
        """Return the words of a document."""
        return set().union(*(self.index.doc_freqs[unit] for unit in self.units_of[doc_id]))


def weights_of(evals: EvalSet) -> Weights:
    """Return the weights of the baseline's chunks of a set."""
    units = chunks.read_chunks(evals.folder / "chunks" / f"{runs.BASELINE['chunker']}.jsonl")
    bodies = [evals.words(chunk.text(evals.documents)) for chunk in units]
    return Weights(units, bodies, evals.versions())


def failure_card(evals: EvalSet, weights: Weights, query_id: str, order: list[str]) -> dict | None:
    """Return what there is to know about wanted and rival; None if nothing is amiss.

    `order` is the ranking of the query. Scores are pairs, of wanted and of rival: as they are, and
    with one thing changed at a time.
    """
    labels, words = evals.qrels()[query_id], evals.words(evals.queries[query_id].query)
    pair = wanted_and_rival(order, labels)
    if pair is None:
        return None
    wanted, rival = (weights.best(words, doc_id) for doc_id in pair)
    held, idf = weights.held(pair[0]), weights.index.idf
    rare = [word for word in words if word not in weights.common]
    known = [word for word in words if word in held]
    return {
        "query_id": query_id,
        "wanted": pair[0],
        "rival": pair[1],
        "unjudged": pair[1] not in labels,
        "versions": tuple(sorted(pair)) in weights.versions,
        "words": [[word, idf.get(word), wanted[word], rival[word]] for word in wanted],
        "common": [word for word in wanted if word in weights.common],
        "lacks": [word for word in wanted if word not in held],
        "score": [weights.score(words, doc_id) for doc_id in pair],
        "best of all chunks": [weights.union(words, doc_id) for doc_id in pair],
        "without length": [weights.score(words, doc_id, 0) for doc_id in pair],
        "without common words": [weights.score(rare, doc_id) for doc_id in pair],
        "without words it lacks": [weights.score(known, doc_id) for doc_id in pair],
    }


def card_text(card: dict, evals: EvalSet, order: list[str], ndcg: float) -> str:
    """Return the lines of a card that stand above its picture."""
    query, ranks = evals.queries[card["query_id"]], {d: f"rank {n}" for n, d in enumerate(order, 1)}
    wanted_rank, rival_rank = (ranks.get(card[key], "not found") for key in ("wanted", "rival"))
    unjudged = ", which nobody has judged" if card["unjudged"] else ""
    gains = {word: gain for word, _, _, gain in card["words"]}  # of the rival
    gained = ", ".join(word for word in card["lacks"] if gains[word] > 0)
    idle = ", ".join(word for word in card["lacks"] if gains[word] <= 0)
    scores = (f"{name} {card[name][0]:.2f} against {card[name][1]:.2f}" for name in TOLD_SCORES)
    return text.visible(f"""{query.query_id} ({query.kind}, nDCG@10 {ndcg:.3f}): {query.query}
  wanted: {card["wanted"]} ({wanted_rank})
  rival: {card["rival"]} ({rival_rank}{unjudged})
  wanted lacks, the rival scores with: {gained or "no word"}
  wanted lacks, neither scores with: {idle or "no word"}
  wanted against rival: {"; ".join(scores)}""")
