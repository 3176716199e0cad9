"""The baseline without notebooks: fixed windows, BM25, the best chunk of each document.

Session B builds the same by hand.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from . import chunks, evalset, inert, runs, sparse, text, tokens
from .chunks import Chunk
from .evalset import EvalSet, EvalSetError
from .inert import Markup
from .runs import BASELINE, Ranking

NAME = BASELINE["chunker"]
Ranker = Callable[[str, int], Ranking]  # (query, k) -> its first k chunks


def cut(evals: EvalSet) -> list[Chunk]:
    """Return the chunks of all documents, numbered from 0 in each document."""
    return [
        Chunk(doc_id, number, *span)
        for doc_id, document in evals.documents.items()
        for number, span in enumerate(windows(document.retrieval_text))
    ]


def windows(body: str) -> list[tuple[int, int, int]]:
    """Return (start, end, tokens) of windows over a text, start and end in characters.

    The last one ends with the text, so none lies inside another.
    """
    size, overlap = BASELINE["chunk_tokens"], BASELINE["overlap_tokens"]
    ids = tokens.token_ids(body)
    firsts = range(0, max(1, len(ids) - overlap), size - overlap)
    spans = [(first, min(first + size, len(ids))) for first in firsts]
    at = tokens.token_starts(ids, {edge for span in spans for edge in span})
    return [(at[first], at[end], end - first) for first, end in spans]


def ranker(evals: EvalSet, units: list[Chunk]) -> Ranker:
    """Return what ranks chunks, indexed once, with the scores of rank_bm25."""
    bodies = (chunk.text(evals.documents) for chunk in units)
    pair = sparse.bm25([chunk.chunk_id for chunk in units], bodies, words=evals.words)
    return lambda query, k: next(sparse.rankings(*pair, {"": query}, k))[1]


def search(rank: Ranker, query: str) -> tuple[Ranking, Ranking]:
    """Return the first chunks and the first documents, [] for a query without a known word."""
    return sparse.over_fetch(partial(rank, query), runs.best_by_document, BASELINE["depth"])


@cache
def open_box(folder: Path) -> tuple[EvalSet, Ranker, dict[str, Chunk]]:
    """Return a set, what ranks its chunks, and these by id: read and indexed once a kernel."""
    evals = evalset.load(folder)
    units = cut(evals)
    return evals, ranker(evals, units), {unit.chunk_id: unit for unit in units}


def find(question: str) -> dict[str, Chunk]:
    """Return {doc_id: its best chunk}, best first: all that share a word, of the set in EVALS."""
    _, rank, by_id = open_box(evalset.folder())
    best: dict[str, Chunk] = {}
    for chunk_id, _ in rank(question, len(by_id)):
        best.setdefault(by_id[chunk_id].doc_id, by_id[chunk_id])
    return best


def ask(question: str, top: int = 5):
    """Return the first documents, each with title and best passage, the question's words marked.

    What stands in the set or in the question is shown as text and does nothing.
    """
    evals, items = open_box(evalset.folder())[0], Markup("")
    words = {*text.content_words(evals.words(question))} or {*evals.words(question)}
    for doc_id, chunk in [*find(question).items()][:top]:
        document = evals.documents[doc_id]
        whole, head = document.retrieval_text, len(document.retrieval_text) - len(document.text)
        body = inert.without_markdown(whole[max(chunk.start, head) : chunk.end])
        passage = text.snippet(body, words)
        shown = (inert.mark_words(part, words) for part in (document.title or doc_id, passage))
        items += Markup("<li><b>{}</b><br>{}</li>").format(*shown)
    none = Markup("<p>No document shares a word with this question.</p>")
    return inert.html(Markup("<ol>{}</ol>").format(items) if items else none)


def baseline_command(evals: EvalSet) -> int:
    """Write the baseline's chunks, run, card and results.json, and print the summary.

    A results.json that measured the same stays: one of session C holds more. Queries that wait for
    a label are left out.
    """
    from . import report, results  # measuring is more than a search needs

    units = cut(evals)
    rank, made = ranker(evals, units), {"engine": runs.LARGE_ENGINE, "chunks": len(units)}
    chunks.write_chunks(evals.folder / "chunks" / f"{NAME}.jsonl", units)
    found = {q: search(rank, query.query) for q, query in evals.settled_queries.items()}
    ranked_chunks = runs.without_own(evals, {q: first for q, (first, _) in found.items()})
    ranked_documents = runs.without_own(evals, {q: best for q, (_, best) in found.items()})
    runs.save(evals, NAME, ranked_chunks, ranked_documents, made)
    if not _is_measured(evals):
        results.write_results(evals.folder, measured(evals, rank, units))
    print(inert.plain(report.summary(results.read_results(evals.folder))))
    print(f"\nbaseline: {evals.folder / 'results.json'}\n{results.what_next(evals.folder)}")
    return 0


def _is_measured(evals: EvalSet) -> bool:
    """Return whether results.json is of this set, all its settled queries and these chunks."""
    from . import results

    try:
        content = results.read_current_results(evals)
    except EvalSetError:  # missing, broken or of something else
        return False
    is_whole = results.measured_queries(evals, content) == evals.settled_queries.keys()
    return is_whole and "chunks_sha256" in content["run"]


def measured(evals: EvalSet, rank: Ranker, units: list[Chunk]) -> dict:
    """Return what results.json says of the baseline alone: no other chunkers, no failure cards."""
    from . import compare, evidence, measures, results, systems

    base = systems.read_checked(evals.folder / results.RUN, evals)._replace(name="baseline")
    compared = compare.compare(evals, base, systems.read_systems(evals))
    by_id = {chunk.chunk_id: chunk for chunk in units}
    depth = max(evidence.depth_needed(units), BASELINE["depth"])
    asked = {q: evals.queries[q].query for q in evidence.quoted_queries(evals)}
    ranked = {q: [by_id[chunk_id] for chunk_id, _ in rank(asked[q], depth)] for q in asked}
    quoted = results.evidence_content(evals, {NAME: units}, {NAME: ranked}, NAME)
    values = measures.per_query(evals.qrels(), base.rankings)
    return results.results_content(evals, base.rankings, values, compared, [], quoted)
