"""What the reader gets: the quotes that prove a label, found whole in ranked chunks or not.

No library measures this. Every value is a lower bound where another passage answers
too.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import chain, combinations, product
from statistics import fmean
from typing import NamedTuple

import numpy as np

from . import measures, runs, stats, tokens
from .chunks import Chunk, read_chunks
from .evalset import Documents, EvalSet, EvalSetError

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)  # tokens of context
BUDGET = 2_000  # named before any ranking was measured
CUTOFFS = (1, 5, 10)
POINTS = (1, 3, 5, 10)  # how many passages quality is held against cost
COMPARED = tuple(f"evidence {m}" for m in "hit@5 hit@10 recall@5 recall@10 nDCG@10".split())

DELIVERED, NOT_FOUND = "delivered", "document not found"
SEAM, OTHER_CHUNK = "evidence cut by a seam", "document found, evidence in another chunk"
BELOW, PART = "evidence below the budget", "evidence delivered in part"
LOSSES = (NOT_FOUND, SEAM, OTHER_CHUNK, BELOW, PART, DELIVERED)  # in this order they are shown
recall_name = "evidence recall within {} tokens".format  # of a budget
DECIDES = recall_name(BUDGET)  # what the verdict rests on
OF_EVIDENCE = {name.replace(" ", "-"): name for name in COMPARED}  # as `decides` spells them
OF_EVIDENCE |= {f"evidence-{budget}-tokens": recall_name(budget) for budget in BUDGETS}
OF_NEEDS = (f"need recall within {BUDGET} tokens", f"all needs met within {BUDGET} tokens")
BESIDE = ("evidence hit@5", *map(recall_name, BUDGETS))  # told by any quote, too

Spans = list[tuple[int, int]]  # characters of a document's retrieval text, the end excluded
Alternatives = list[list[Spans]]  # one is enough: all its quotes, each at any of its places
Rankings = dict[str, list[Chunk]]  # by query, best first
Quoted = dict[str, "Wanted"]  # by query


class Wanted(NamedTuple):
    """What one query asks for, by document: grades (1 or more) and where its quotes stand.

    `needs` has for each need of the query that a label proves where the quotes of it stand.
    """

    grades: dict[str, int]
    quotes: dict[str, Alternatives]
    needs: dict[str, dict[str, Alternatives]] = {}


def quoted_queries(
    evals: EvalSet, split: str | None = None, among: Collection[str] | None = None
) -> Quoted:
    """Return {query_id: Wanted} of the queries with evidence; `split` and `among` keep some.

    Documents whose label has no quote are left out: nothing could show that they
    were delivered.
    """
    queries = {}
    for query_id, query in evals.queries.items():
        if split in (None, query.split) and (among is None or query_id in among):
            queries[query_id] = Wanted({}, {}, {})
    for label in evals.judgments:
        if label.relevance and label.evidence and label.query_id in queries:
            body, query = evals.documents[label.doc_id].retrieval_text, queries[label.query_id]
            spans = [[quote_spans(quote, body) for quote in quotes] for quotes in label.evidence]
            query.grades[label.doc_id] = label.relevance
            query.quotes[label.doc_id] = spans
            for alternative, places in zip(label.evidence, spans, strict=True):
                for need in alternative.needs:
                    query.needs.setdefault(need, {}).setdefault(label.doc_id, []).append(places)
    return {query_id: query for query_id, query in queries.items() if query.grades}


def quote_spans(quote: str, body: str) -> Spans:
    """Return every (start, end) at which `quote` stands in `body`, overlapping ones too."""
    spans, start = [], body.find(quote)
    while start >= 0:
        spans.append((start, start + len(quote)))
        start = body.find(quote, start + 1)
    return spans


def holds_quote(places: Spans, chunk: Chunk) -> bool:
    """Return whether a chunk of the same document holds a quote from end to end somewhere."""
    return any(chunk.start <= start and end <= chunk.end for start, end in places)


def all_places(alternatives: Alternatives) -> Spans:
    """Return where the quotes of all alternatives stand."""
    return [span for quotes in alternatives for places in quotes for span in places]


def evidence_ranks(quotes: dict[str, Alternatives], ranking: Iterable[Chunk]) -> dict[str, int]:
    """Return {doc_id: rank} of the chunk with which an alternative of a document is there whole."""
    ranks, missing = {}, dict(quotes)
    for rank, chunk in enumerate(ranking, 1):
        if chunk.doc_id in missing:
            left = [[q for q in own if not holds_quote(q, chunk)] for own in missing[chunk.doc_id]]
            missing[chunk.doc_id] = left
            if not all(left):
                ranks[chunk.doc_id] = rank
                del missing[chunk.doc_id]
    return ranks


def any_quote(queries: Quoted) -> Quoted:
    """Return the queries of which a label takes several quotes together, as if each were enough."""
    alone = {}
    for query_id, query in queries.items():
        quotes = {d: [[quote] for quote in chain(*own)] for d, own in query.quotes.items()}
        if quotes != query.quotes:
            alone[query_id] = query._replace(quotes=quotes)
    return alone


# Needs: the nuggets of TREC question answering (Voorhees 2003), proved by quotes, not by a model.


def unproved_needs(evals: EvalSet) -> list[str]:
    """Return "query_id need" of the needs that no label proves: no measure counts them."""
    proved, asked = set(), []
    for label in evals.judgments:
        for alternative in label.evidence if label.relevance else ():
            proved.update((label.query_id, need) for need in alternative.needs)
    for query_id, query in evals.settled_queries.items():
        asked += [(query_id, need) for need in query.needs]
    return [" ".join(need) for need in asked if need not in proved]


def needs_by_query(documents: Documents, queries: Quoted, rankings: Rankings) -> measures.Values:
    """Return {query_id: {measure: value}} of the queries with needs, 0 for no results.

    Need recall is the share of a query's needs for which quotes that suffice are there: of the
    first k chunks, and within a budget of tokens. A second copy of an answer adds nothing to it.
    Document recall, beside it, is the share of the relevant documents with a chunk there.
    """
    values = {}
    for query_id, query in queries.items():
        if query.needs:
            ranking = rankings.get(query_id, [])
            contexts = {f"@{k}": ranking[:k] for k in CUTOFFS}
            for budget in BUDGETS:
                contexts[f" within {budget} tokens"] = context(ranking, budget, documents)
            values[query_id] = {}
            for where, taken in contexts.items():
                values[query_id] |= _needs_met(query, taken, where)
    return values


def _needs_met(query: Wanted, taken: list[Chunk], where: str) -> dict[str, float]:
    """Return the measures of what a context brings; `where` ends their names."""
    met = [bool(evidence_ranks(quotes, taken)) for quotes in query.needs.values()]
    found = query.grades.keys() & {chunk.doc_id for chunk in taken}
    return {
        f"need recall{where}": float(np.mean(met)),
        f"all needs met{where}": float(all(met)),
        f"document recall{where}": len(found) / len(query.grades),
    }


# By the first k chunks.


def recall(query: Wanted, ranks: dict[str, int], k: int) -> float:
    """Return the share of the relevant documents whose evidence stands in the first `k` chunks."""
    return sum(rank <= k for rank in ranks.values()) / len(query.grades)


def ndcg(query: Wanted, ranks: dict[str, int], k: int, fewest: dict[str, int]) -> float:
    """Return nDCG@k with linear gain (Järvelin and Kekäläinen 2002).

    A rank gains a document's grade where the document's evidence is whole for the
    first time. The ideal ranking brings the `fewest` chunks of one document after
    the other, in the order that gains most. It forgives no cut, see fewest_chunks;
    where k chunks can gain nothing, nDCG is 0.
    """
    gain = sum(query.grades[d] / math.log2(r + 1) for d, r in ranks.items() if r <= k)
    ideal = _ideal_dcg(sorted((fewest[d], grade) for d, grade in query.grades.items()), k)
    return gain / ideal if ideal else 0.0


def _ideal_dcg(left: list[tuple[int, int]], k: int, rank: int = 0, gain: float = 0.0) -> float:
    """Return the most that k ranks gain: `gain` up to `rank`, then from (chunks, grade) `left`."""
    best = gain
    for n, grade in dict(left).items():  # of the sorted ones that take n chunks, the best grade
        if rank + n <= k:
            rest, more = [*left], grade / math.log2(rank + n + 1)
            rest.remove((n, grade))
            best = max(best, _ideal_dcg(rest, k, rank + n, gain + more))
    return best


def fewest_chunks(alternatives: Alternatives, chunks: list[Chunk]) -> int:
    """Return how few of a document's chunks hold an alternative whole, 1 where they cut all."""
    sizes = []
    for quotes in alternatives:
        held = {frozenset(n for n, q in enumerate(quotes) if holds_quote(q, c)) for c in chunks}
        for size in range(1, len(quotes) + 1):
            if any(
                len(frozenset().union(*some)) == len(quotes) for some in combinations(held, size)
            ):
                sizes.append(size)
                break
    return min(sizes, default=1)


def shares_by_k(queries: Quoted, rankings: Rankings, most: int = 20) -> dict[str, list[float]]:
    """Return the share of queries whose first k chunks hold a relevant "document", its "evidence".

    One value for each k from 1 to `most`. "any quote" tells what one quote alone
    would make it, where some prove a label only together.
    """
    ranks = defaultdict(list)
    for query_id, query in queries.items():
        doc_ids = [chunk.doc_id for chunk in rankings.get(query_id, [])]
        found = (rank for rank, doc_id in enumerate(doc_ids, 1) if doc_id in query.grades)
        ranks["document"].append(next(found, math.inf))
    ways, alone = {"evidence": queries}, any_quote(queries)
    if alone:
        ways = {"any quote": queries | alone} | ways
    for name, asked in ways.items():
        for query_id, query in asked.items():
            whole = evidence_ranks(query.quotes, rankings.get(query_id, []))
            ranks[name].append(min(whole.values(), default=math.inf))
    shares = {}
    for name, first in ranks.items():
        shares[name] = [float(np.mean(np.array(first) <= k)) for k in range(1, most + 1)]
    return shares


# By a budget of tokens.


def context(ranking: Iterable[Chunk], budget: int, documents: Documents) -> list[Chunk]:
    """Return what `budget` tokens hold of a ranking: its first chunks, the last cut to fit.

    Text that stands in two chunks is paid for twice.
    """
    taken, room = [], budget
    for chunk in ranking:
        if chunk.n_tokens > room:
            ids = _token_ids(chunk.text(documents))
            room = min(room, len(ids))  # tokens were counted in the document, not in the chunk
            end = chunk.start + tokens.token_starts(ids, {room})[room]
            return [*taken, chunk._replace(end=end, n_tokens=room)] if room else taken
        taken.append(chunk)
        room -= chunk.n_tokens
    return taken


# Queries and budgets meet the same chunks and quotes.
_token_ids = functools.lru_cache(maxsize=2_000)(tokens.token_ids)


def _share(query: Wanted, taken: list[Chunk], documents: Documents) -> float:
    """Return the share of the tokens of a context that are quotes, each stretch counted once."""
    delivered = set()
    for chunk in taken:
        for start, end in all_places(query.quotes.get(chunk.doc_id, [])):
            if holds_quote([(start, end)], chunk):
                delivered.add((chunk.doc_id, start, end))
    stretches: list[tuple[str, int, int]] = []  # quotes that overlap or touch, as one
    for doc_id, start, end in sorted(delivered):
        if stretches and stretches[-1][0] == doc_id and start <= stretches[-1][2]:
            _, start, before = stretches.pop()
            end = max(end, before)
        stretches.append((doc_id, start, end))
    bodies = (documents[d].retrieval_text[start:end] for d, start, end in stretches)
    paid = sum(chunk.n_tokens for chunk in taken)
    return sum(len(_token_ids(body)) for body in bodies) / paid if paid else 0.0


def depth_needed(chunks: list[Chunk]) -> int:
    """Return of how many chunks any choice fills the largest budget; all, where none does."""
    totals = np.cumsum(sorted(chunk.n_tokens for chunk in chunks))
    return min(int(np.searchsorted(totals, BUDGETS[-1])) + 1, len(chunks))


# All measures of each query.


def by_query(
    documents: Documents,
    queries: Quoted,
    rankings: Rankings,
    known: Iterable[Chunk],
    cutoffs: Iterable[int] = CUTOFFS,
) -> measures.Values:
    """Return {query_id: {measure: value}}, 0 for no results; `known` are all chunks there are.

    Measures are hit, recall and nDCG of the first k chunks (`evidence hit@5`) for
    each k of `cutoffs`, recall within each of BUDGETS, and the share of it that is
    evidence.
    """
    chunks, values = defaultdict(list), {}
    for chunk in known:
        chunks[chunk.doc_id].append(chunk)
    for query_id, query in queries.items():
        ranking = rankings.get(query_id, [])
        row = _at_cutoffs(query, ranking, chunks, cutoffs)
        values[query_id] = row | _at_budgets(query, ranking, documents)
    return values


def _at_cutoffs(query: Wanted, ranking: list[Chunk], chunks: dict, cutoffs) -> dict[str, float]:
    """Return the measures of the first k chunks; `chunks` are all of each document."""
    row, ranks = {}, evidence_ranks(query.quotes, ranking)
    fewest = {d: fewest_chunks(own, chunks[d]) for d, own in query.quotes.items()}
    for k in cutoffs:
        row[f"evidence hit@{k}"] = float(min(ranks.values(), default=math.inf) <= k)
        row[f"evidence recall@{k}"] = recall(query, ranks, k)
        row[f"evidence nDCG@{k}"] = ndcg(query, ranks, k, fewest)
    return row


def _at_budgets(query: Wanted, ranking: list[Chunk], documents: Documents) -> dict[str, float]:
    """Return recall within each budget, and the share of its tokens that is evidence."""
    row = {}
    for budget in BUDGETS:
        taken = context(ranking, budget, documents)
        ranks = evidence_ranks(query.quotes, taken)
        row[recall_name(budget)] = recall(query, ranks, len(taken))
        row[f"evidence share of {budget} tokens"] = _share(query, taken, documents)
    return row


# Where evidence is lost.


def losses(
    documents: Documents,
    queries: Quoted,
    rankings: Rankings,
    known: list[Chunk],
    budget: int = BUDGET,
) -> dict[str, str]:
    """Return {query_id: one of LOSSES} within `budget` tokens; `known` are all chunks."""
    places = {}
    for query_id, query in queries.items():
        ranking = rankings.get(query_id, [])
        places[query_id] = _loss(query, ranking, context(ranking, budget, documents), known)
    return places


def _loss(query: Wanted, ranking: list[Chunk], taken: list[Chunk], known: list[Chunk]) -> str:
    ranked = {chunk.doc_id for chunk in ranking} & query.grades.keys()
    if evidence_ranks(query.quotes, taken):
        return DELIVERED
    if any(holds_quote(all_places(query.quotes.get(c.doc_id, [])), c) for c in taken):
        return PART
    if not ranked:
        return NOT_FOUND
    own = [chunk for chunk in known if chunk.doc_id in ranked]
    touched = any(_touches(chunk, all_places(query.quotes[chunk.doc_id])) for chunk in own)
    if touched and not evidence_ranks(query.quotes, own):
        return SEAM
    delivered_document = any(chunk.doc_id in ranked for chunk in taken)
    if delivered_document and not evidence_ranks(query.quotes, ranking[: len(taken)]):
        return OTHER_CHUNK
    return BELOW


def _touches(chunk: Chunk, places: Spans) -> bool:
    """Return whether a chunk holds a part of a quote of its document."""
    return any(start < chunk.end and chunk.start < end for start, end in places)


# Runs of passages against each other.


def cost_points(evals: EvalSet, query_ids: Collection[str], systems: dict) -> list[dict]:
    """Return what the first k passages of each system cost and bring, cheapest first.

    `systems` are lists of runs by name. `tokens`, `recall` of evidence and of full
    answers (`full`, None without any) are means over the queries with quotes.
    """
    queries, points = quoted_queries(evals, among=query_ids), []
    depth = min(runs.list_depth(run) or math.inf for run in chain(*systems.values()))
    for name, group in systems.items():
        ranked = [ranked_passages(evals, run)[0] for run in group]
        ranked = [rankings for rankings in ranked if rankings]  # {} for a run of documents
        for k in sorted({int(min(k, depth)) for k in POINTS} if queries and ranked else ()):
            means = _mean_costs(queries, ranked, k, evals.full_grade)
            points.append({"name": name, "k": k} | means)
    return sorted(points, key=lambda point: point["tokens"])


def _mean_costs(queries: Quoted, ranked: list[Rankings], k: int, full_grade: int) -> dict:
    """Return mean tokens, recall of evidence and of full answers of the first k passages."""
    paid, shares, full = [], [], []
    for rankings, (query_id, query) in product(ranked, queries.items()):
        taken = rankings.get(query_id, [])[:k]
        ranks = evidence_ranks(query.quotes, taken)
        paid.append(sum(chunk.n_tokens for chunk in taken))
        shares.append(recall(query, ranks, len(taken)))
        whole = [doc_id in ranks for doc_id, grade in query.grades.items() if grade >= full_grade]
        if whole:
            full.append(fmean(whole))
    return {"tokens": fmean(paid), "recall": fmean(shares), "full": fmean(full) if full else None}


def compare_evidence(evals: EvalSet, query_ids: Collection, depth: float, *tried: runs.Run) -> dict:
    """Return what is known of evidence against that of the first run, {} unless all rank passages.

    Further runs are of one system; it is lost as in the first of them. Where lists
    are cut to `depth` passages, measures are taken and named there, and budgets that
    they don't fill aren't compared; `within` is how many tokens they fill, up to
    BUDGET. The verdict is empty: it depends on how many are compared.
    """
    queries = quoted_queries(evals, among=query_ids)
    sides = [ranked_passages(evals, run) for run in tried]
    if not queries or not all(rankings for rankings, _ in sides):
        return {}
    filled = math.inf
    for (rankings, _), run in zip(sides, tried, strict=True):
        filled = min(filled, _tokens_of_all(rankings, queries, run))
    names = dict.fromkeys(measures.at_depth(name, depth) for name in COMPARED)
    names = [*names, *(recall_name(budget) for budget in BUDGETS if budget <= filled)]
    cutoffs = sorted({int(min(k, depth)) for k in CUTOFFS})
    values = [by_query(evals.documents, queries, *side, cutoffs) for side in sides]
    within = int(min(filled, BUDGET))
    base, run = (losses(evals.documents, queries, *side, within) for side in sides[:2])
    needs = [needs_by_query(evals.documents, queries, rankings) for rankings, _ in sides]
    return {
        "n": len(queries),
        "needs": stats.by_measure(OF_NEEDS if within == BUDGET else [], *needs),
        "measures": stats.by_measure(names, *values),
        "short": [budget for budget in BUDGETS if budget > filled],
        "within": within,
        "bounds": stats.bounds_of(deciding_measure(names, evals.decides), *values),
        "verdict": "",
        "reason": "",
        "lost": {"base": base, "run": run},
    }


def deciding_measure(names: Iterable[str], decides: str) -> str:
    """Return the measure of the verdict on evidence: a smaller k or budget where a list is cut."""
    wanted, known = OF_EVIDENCE.get(decides, DECIDES), [*names]
    family = wanted.partition("@")[0]
    of_family = [name for name in known if name.partition("@")[0] == family]
    return wanted if wanted in known else (of_family or known)[-1]


def ranked_passages(evals: EvalSet, run: runs.Run) -> tuple[Rankings, list[Chunk]]:
    """Return the passages that a run ranks, {} where it ranks documents, and all that are known.

    Numbers of chunks are those of the saved set that its card names (`chunker`);
    where there is none they count as documents. Of spans those are known that the
    run ranks for any query. Raises EvalSetError for a number that the set lacks.
    """
    names = {name for ranking in run.parts.values() for name, _ in ranking}
    path = evals.folder / "chunks" / f"{run.chunker}.jsonl"
    passages = {c.chunk_id: c for c in read_chunks(path)} if path.is_file() else {}
    for name in names:
        doc_id, _, span = name.partition("#")
        if ":" in span:
            start, end = map(int, span.split(":"))
            body = evals.documents[doc_id].retrieval_text[start:end]
            passages[name] = Chunk(doc_id, 0, start, end, len(tokens.token_ids(body)))
    unknown = sorted(names - passages.keys())
    if unknown and path.is_file():
        raise EvalSetError(f"{run.name}: found chunk {n}, wanted one of {path}" for n in unknown)
    if unknown:
        return {}, []
    return {q: [passages[n] for n, _ in of] for q, of in run.parts.items()}, [*passages.values()]


def _tokens_of_all(rankings: Rankings, queries: Iterable[str], run: runs.Run) -> float:
    """Return how many tokens each ranking that was cut off holds at least.

    One that is shorter than where the run's lists end returned all that it found,
    and so did one of several searches, and each one of a run whose lists are not
    cut.
    """
    depth, fewest = runs.list_depth(run) or math.inf, math.inf
    for query_id in queries:
        ranking = rankings.get(query_id, [])
        if len(ranking) >= depth and query_id not in run.first:
            fewest = min(fewest, sum(chunk.n_tokens for chunk in ranking))
    return fewest
