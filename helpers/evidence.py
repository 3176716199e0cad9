"""What the reader gets: the quotes that prove a label, found whole in ranked chunks or not.

No library measures this. Every value is a lower bound where another passage answers too.
"""

import functools
import math
import re
from collections.abc import Iterable
from itertools import accumulate
from statistics import mean
from typing import NamedTuple

from . import runs, stats, text
from .chunks import Chunk, read_chunks
from .evalset import Document, EvalSet, EvalSetError

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)  # tokens of context
BUDGET = 2_000  # named before any ranking was measured
CUTOFFS = (1, 5, 10)

DELIVERED, NOT_FOUND = "delivered", "document not found"
SEAM, OTHER_CHUNK = "evidence cut by a seam", "document found, evidence in another chunk"
BELOW = "evidence below the budget"
LOSSES = (NOT_FOUND, SEAM, OTHER_CHUNK, BELOW, DELIVERED)  # in this order they are shown


def recall_name(budget: int) -> str:
    """Return what recall under a budget is called."""
    return f"evidence recall within {budget} tokens"


DECIDES = recall_name(BUDGET)  # what the verdict rests on

Spans = list[tuple[int, int]]  # characters of a document's retrieval text, the end excluded
Rankings = dict[str, list[Chunk]]  # by query, best first


class Wanted(NamedTuple):
    """What one query asks for, by document: grades (1 or more) and where its quotes stand."""

    grades: dict[str, int]
    quotes: dict[str, Spans]


def wanted(evals: EvalSet, split: str | None = None) -> dict[str, Wanted]:
    """Return {query_id: Wanted} of the queries with evidence; `split` keeps one half.

    Documents whose label has no quote are left out: nothing could show that they were delivered.
    """
    queries = {q: Wanted({}, {}) for q in evals.queries if split in (None, evals.queries[q].split)}
    for label in evals.judgments:
        if label.relevance and label.evidence and label.query_id in queries:
            body = evals.documents[label.doc_id].retrieval_text
            spans = [span for quote in label.evidence for span in places(quote, body)]
            queries[label.query_id].grades[label.doc_id] = label.relevance
            queries[label.query_id].quotes[label.doc_id] = spans
    return {query_id: query for query_id, query in queries.items() if query.grades}


def places(quote: str, body: str) -> Spans:
    """Return every (start, end) at which `quote` stands in `body`, overlapping ones too."""
    spans, start = [], body.find(quote)
    while start >= 0:
        spans.append((start, start + len(quote)))
        start = body.find(quote, start + 1)
    return spans


def whole(quotes: Spans, chunk: Chunk) -> bool:
    """Return whether a chunk of the same document holds one of the quotes from end to end."""
    return any(chunk.start <= start and end <= chunk.end for start, end in quotes)


def ranks_of(quotes: dict[str, Spans], ranking: Iterable[Chunk]) -> dict[str, int]:
    """Return {doc_id: rank} of the first chunk that holds evidence of a document whole.

    Each document counts once, however many chunks overlap there.
    """
    ranks: dict[str, int] = {}
    for rank, chunk in enumerate(ranking, 1):
        sought = quotes.get(chunk.doc_id)
        if sought and chunk.doc_id not in ranks and whole(sought, chunk):
            ranks[chunk.doc_id] = rank
    return ranks


# By the first k chunks.


def hit(ranks: dict[str, int], k: int) -> float:
    """Return 1.0 if evidence of any document stands in the first `k` chunks, else 0.0."""
    return float(any(rank <= k for rank in ranks.values()))


def recall(query: Wanted, ranks: dict[str, int], k: int) -> float:
    """Return the share of the relevant documents whose evidence stands in the first `k` chunks."""
    return sum(rank <= k for rank in ranks.values()) / len(query.grades)


def ndcg(query: Wanted, ranks: dict[str, int], k: int) -> float:
    """Return nDCG@k with linear gain (Järvelin and Kekäläinen 2002).

    A rank gains a document's grade where the document's evidence is whole for the first time; the
    ideal ranking brings one document's evidence a chunk, best grades first.
    """
    gain = sum(query.grades[d] / math.log2(r + 1) for d, r in ranks.items() if r <= k)
    best = sorted(query.grades.values(), reverse=True)[:k]
    return gain / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))


# By a budget of tokens.


def context(
    ranking: Iterable[Chunk], budget: int, documents: dict[str, Document], cut: bool = True
) -> list[Chunk]:
    """Return what `budget` tokens hold of a ranking: its first chunks, the last cut to fit.

    Without `cut`, a chunk that does not fit ends the context. Text that stands in two chunks is
    paid for twice.
    """
    taken, room = [], budget
    for chunk in ranking:
        if chunk.n_tokens > room:
            return [*taken, cut_to(chunk, room, documents)] if cut and room else taken
        taken.append(chunk)
        room -= chunk.n_tokens
    return taken


def cut_to(chunk: Chunk, n_tokens: int, documents: dict[str, Document]) -> Chunk:
    """Return the first `n_tokens` tokens of a chunk, which has more."""
    ids = _token_ids(chunk.text(documents))
    n_tokens = min(n_tokens, len(ids))  # tokens were counted in the document, not in the chunk
    return chunk._replace(
        end=chunk.start + text.starts(ids, {n_tokens})[n_tokens], n_tokens=n_tokens
    )


# Queries and budgets meet the same chunks and quotes.
_token_ids = functools.lru_cache(maxsize=2_000)(text.token_ids)


def share(quotes: dict[str, Spans], taken: list[Chunk], documents: dict[str, Document]) -> float:
    """Return the share of the tokens of a context that are evidence, each stretch counted once."""
    held = {
        (chunk.doc_id, *span)
        for chunk in taken
        for span in quotes.get(chunk.doc_id, ())
        if whole([span], chunk)
    }
    stretches: list[tuple[str, int, int]] = []  # those that overlap or touch, as one
    for doc_id, start, end in sorted(held):
        if stretches and stretches[-1][0] == doc_id and start <= stretches[-1][2]:
            stretches[-1] = (doc_id, stretches[-1][1], max(end, stretches[-1][2]))
        else:
            stretches.append((doc_id, start, end))
    bodies = (documents[d].retrieval_text[start:end] for d, start, end in stretches)
    tokens = sum(chunk.n_tokens for chunk in taken)
    return sum(len(_token_ids(body)) for body in bodies) / tokens if tokens else 0.0


# All of it.


def by_query(
    evals: EvalSet, asked: dict[str, Wanted], rankings: Rankings
) -> dict[str, dict[str, float]]:
    """Return {query_id: {measure: value}} for the queries `asked`; no results give 0."""
    values = {}
    for query_id, query in asked.items():
        ranking = rankings.get(query_id, [])
        values[query_id] = at_cutoffs(query, ranking) | within(evals, query, ranking)
    return values


def at_cutoffs(
    query: Wanted, ranking: list[Chunk], cutoffs: Iterable[int] = CUTOFFS
) -> dict[str, float]:
    """Return hit, recall and nDCG of one query by their names: `evidence hit@5`."""
    ranks, row = ranks_of(query.quotes, ranking), {}
    for k in cutoffs:
        row[f"evidence hit@{k}"] = hit(ranks, k)
        row[f"evidence recall@{k}"] = recall(query, ranks, k)
        row[f"evidence nDCG@{k}"] = ndcg(query, ranks, k)
    return row


def within(
    evals: EvalSet, query: Wanted, ranking: list[Chunk], cut: bool = True
) -> dict[str, float]:
    """Return recall and share of evidence of one query by their names, for each of BUDGETS."""
    row = {}
    for budget in BUDGETS:
        taken = context(ranking, budget, evals.documents, cut)
        ranks = ranks_of(query.quotes, taken)
        row[recall_name(budget)] = recall(query, ranks, len(taken))
        row[f"evidence share of {budget} tokens"] = share(query.quotes, taken, evals.documents)
    return row


def answers_by_query(
    evals: EvalSet, rankings: Rankings, split: str | None = None
) -> dict[str, dict[str, float]]:
    """Return {query_id: {measure: value}} for the queries with short answers: is one delivered?"""
    values = {}
    for query in evals.queries.values():
        if query.answers and split in (None, query.split):
            ranking = rankings.get(query.query_id, [])
            taken = {b: context(ranking, b, evals.documents) for b in BUDGETS}
            values[query.query_id] = {
                f"answer within {b} tokens": holds_answer(query.answers, taken[b], evals.documents)
                for b in BUDGETS
            }
    return values


def holds_answer(
    answers: Iterable[str], taken: list[Chunk], documents: dict[str, Document]
) -> float:
    """Return 1.0 if a chunk holds one of the short answers, letter by letter, as whole words."""
    bodies = [chunk.text(documents) for chunk in taken]
    forms = [re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)") for answer in answers]
    return float(any(form.search(body) for form in forms for body in bodies))


def deep_enough(known: list[Chunk]) -> int:
    """Return of how many chunks any choice fills the largest budget; all, where none does."""
    totals = accumulate(sorted(chunk.n_tokens for chunk in known))
    return next((n for n, total in enumerate(totals, 1) if total >= BUDGETS[-1]), len(known))


def document_ranks(query: Wanted, ranking: Iterable[Chunk]) -> dict[str, int]:
    """Return {doc_id: rank} of the first chunk of each relevant document, whatever it holds."""
    ranks: dict[str, int] = {}
    for rank, chunk in enumerate(ranking, 1):
        if chunk.doc_id in query.grades:
            ranks.setdefault(chunk.doc_id, rank)
    return ranks


def by_k(asked: dict[str, Wanted], rankings: Rankings, most: int = 20) -> dict[str, list[float]]:
    """Return the shares of queries with a relevant document, and with its evidence, in k chunks.

    One value for each k from 1 to `most`.
    """
    pairs = [(query, rankings.get(query_id, [])) for query_id, query in asked.items()]
    ranks = {
        "document": [document_ranks(query, ranking) for query, ranking in pairs],
        "evidence": [ranks_of(query.quotes, ranking) for query, ranking in pairs],
    }
    cutoffs = range(1, most + 1)
    return {
        name: [mean(hit(row, k) for row in rows) for k in cutoffs] for name, rows in ranks.items()
    }


# Where evidence is lost.


def loss(query: Wanted, ranking: list[Chunk], taken: list[Chunk], known: Iterable[Chunk]) -> str:
    """Return where the evidence of a query was lost, or that it was delivered; one of LOSSES.

    `taken` is the context, `known` the chunks there are (of an unknown chunker, those ranked).
    """
    ranked = document_ranks(query, ranking)
    if ranks_of(query.quotes, taken):
        return DELIVERED
    if not ranked:
        return NOT_FOUND
    found = [chunk for chunk in known if chunk.doc_id in ranked]
    spans = [(chunk, span) for chunk in found for span in query.quotes[chunk.doc_id]]
    touched = any(start < chunk.end and chunk.start < end for chunk, (start, end) in spans)
    if touched and not ranks_of(query.quotes, found):
        return SEAM
    if document_ranks(query, taken) and not ranks_of(query.quotes, ranking[: len(taken)]):
        return OTHER_CHUNK
    return BELOW


def losses(
    evals: EvalSet, asked: dict[str, Wanted], rankings: Rankings, known: list[Chunk] | None = None
) -> dict[str, str]:
    """Return {query_id: where its evidence was lost} under BUDGET; one of LOSSES.

    Without `known` the chunks that were ranked are all that is known.
    """
    places = {}
    for query_id, query in asked.items():
        ranking = rankings.get(query_id, [])
        taken = context(ranking, BUDGET, evals.documents)
        places[query_id] = loss(query, ranking, taken, ranking if known is None else known)
    return places


# Two runs of passages.

COMPARED = ("evidence hit@5", "evidence recall@5", "evidence nDCG@10")  # and by budget


def ranked_passages(evals: EvalSet, run: runs.Run) -> Rankings:
    """Return the passages that a run ranks, {} where it ranks documents.

    Numbers of chunks are those of the saved set that its card names (`chunker`); where there is
    none they count as documents. Raises EvalSetError for a number that the set lacks.
    """
    names = {name for ranking in run.parts.values() for name, _ in ranking}
    passages = {name: _passage(evals, name) for name in names if ":" in name.partition("#")[2]}
    numbered = names - passages.keys()
    path = evals.folder / "chunks" / f"{run.chunker}.jsonl"
    if numbered and not path.is_file():
        return {}
    if numbered:
        passages |= {chunk.chunk_id: chunk for chunk in read_chunks(path)}
    unknown = sorted(numbered - passages.keys())
    if unknown:
        many = text.how_many(len(unknown), "chunk id")
        raise EvalSetError([f"{many} of {run.name} not in {path}, the first is {unknown[0]}"])
    return {q: [passages[name] for name, _ in ranking] for q, ranking in run.parts.items()}


def _passage(evals: EvalSet, name: str) -> Chunk:
    """Return the passage that `doc_id#start:end` names."""
    doc_id, _, span = name.partition("#")
    start, end = map(int, span.split(":"))
    body = evals.documents[doc_id].retrieval_text[start:end]
    return Chunk(doc_id, 0, start, end, len(text.token_ids(body)))


def compared(evals: EvalSet, asked: Iterable[str], base: runs.Run, run: runs.Run) -> dict:
    """Return what is known of a run's evidence against the base's; {} unless both rank passages.

    `asked` are the queries. A budget that a list cut off does not fill has no comparison. The
    verdict is empty: it depends on how many runs are compared.
    """
    queries = {q: query for q, query in wanted(evals).items() if q in set(asked)}
    before, after = ranked_passages(evals, base), ranked_passages(evals, run)
    if not (queries and before and after):
        return {}
    short = [b for b in BUDGETS if any(ends_before(r, queries, b) for r in (before, after))]
    names = [*COMPARED, *(recall_name(budget) for budget in BUDGETS if budget not in short)]
    values = [by_query(evals, queries, rankings) for rankings in (before, after)]
    return {
        "n": len(queries),
        "measures": stats.by_measure(*values, names),
        "short": short,
        "verdict": "",
        "reason": "",
        "lost": {"base": losses(evals, queries, before), "run": losses(evals, queries, after)},
    }


def ends_before(rankings: Rankings, queries: Iterable[str], budget: int) -> int:
    """Return for how many queries a ranking that was cut off does not fill a budget.

    One that is shorter than the longest returned all that it found.
    """
    longest = max(map(len, rankings.values()), default=0)
    cut_off = [r for r in (rankings.get(q, []) for q in queries) if len(r) == longest]
    return sum(sum(chunk.n_tokens for chunk in ranking) < budget for ranking in cut_off)
