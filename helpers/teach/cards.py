"""Failure cards: what each word of a query gave to the wanted document and to its rival.

Session C reads them. The weights are those of rank_bm25 on the baseline's chunks; that they add up
to the saved scores is asserted there.
"""

import math
from collections import Counter, defaultdict

from rank_bm25 import BM25Okapi

from ..label.markup import document_html
from ..measure import chunks, runs, text
from ..measure.evalset import EvalSet
from ..measure.inert import Markup
from . import figures

COMMON = 1 / 4  # a word is common where more of the chunks than this share hold it
SCORES = {  # of a card, as it names them
    "score": "as it is",
    "best of all chunks": "each word from its best chunk",
    "without length": "ignore length (b = 0)",
}
CARD = Markup(
    "<style>.bar{{background:#5b8db8;height:0.5em}}</style><h4>{}</h4><p>{}, {}, nDCG@10 {:.3f}</p>"
    "<ul>{}</ul>{}<p>Neither scores with: {}.</p>{}"
    "<details><summary>Both texts</summary>{}</details>"
)
HEAD = Markup('<th style="text-align:left;width:{}%">{}</th>')
TABLE = Markup('<table style="width:100%"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>')
SIDE = Markup("<li>{}: <b>{}</b> <code>{}</code> ({}{})</li>")
ROW = Markup('<tr><th style="text-align:left">{}</th>{}</tr>')
BAR = Markup('<td style="text-align:left">{:.2f}<div class="bar" style="width:{:.0f}%"></div></td>')


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


def card_html(card: dict, evals: EvalSet, order: list[str], ndcg: float) -> Markup:
    """Return a card as HTML: the query, both documents, a row for each word and for each score.

    `order` is the ranking of the query, `ndcg` its nDCG@10. Both texts are folded below.
    """
    query = evals.queries[card["query_id"]]
    ranks = {doc_id: f"rank {n}" for n, doc_id in enumerate(order, 1)}
    words = {*text.content_words(evals.words(query.query))}
    sides, texts = Markup(""), {}
    for side in ("wanted", "rival"):
        document = evals.documents[card[side]]
        judged = ", which nobody has judged" if side == "rival" and card["unjudged"] else ""
        rank = ranks.get(document.doc_id, "not found")
        sides += SIDE.format(side.capitalize(), document.title, document.doc_id, rank, judged)
        texts[f"{side}: {document.title}"] = document_html(document, words)
    gave = _given_by_words(card)
    idle = ", ".join(word for word, pair in gave.items() if not any(pair)) or "no word"
    longest = max(abs(value) for pair in gave.values() for value in pair)
    by_word = _table("word", {word: pair for word, pair in gave.items() if any(pair)}, longest)
    scores = _table("score", {shown: card[name] for name, shown in SCORES.items()}, math.inf)
    facts = (query.query, query.query_id, query.kind, ndcg, sides, by_word, idle, scores)
    return CARD.format(*facts, figures.side_by_side(texts).data)


def _given_by_words(card: dict) -> dict[str, tuple[float, float]]:
    """Return {word and its marks: (given to the wanted, to the rival)}, the rival's best first."""
    gave = {}
    for word, _, wanted, rival in sorted(card["words"], key=lambda row: row[2] - row[3]):
        name = word
        if word in card["common"]:
            name += " (common)"
        if word in card["lacks"]:
            name += " (lacked)"
        gave[name] = wanted, rival
    return gave


def _table(head: str, rows: dict[str, tuple[float, float]], longest: float) -> Markup:
    """Return {name: (wanted, rival)} as a table, bars below the numbers; `longest` fills one."""
    body = Markup("")
    for name, pair in rows.items():
        bars = (BAR.format(value, max(0, 100 * value / longest)) for value in pair)
        body += ROW.format(name, Markup("").join(bars))
    heads = map(HEAD.format, (30, 35, 35), (head, "wanted", "rival"))
    return TABLE.format(Markup("").join(heads), body)
