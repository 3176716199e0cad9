"""The baseline without notebooks: fixed windows, BM25, the best chunk of each document.

Session B builds the same by hand.
"""

from collections.abc import Callable
from functools import cache, partial
from itertools import chain, islice
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
    units = []
    for doc_id, document in evals.documents.items():
        spans = windows(document.retrieval_text)
        units += [Chunk(doc_id, number, *span) for number, span in enumerate(spans)]
    return units


def windows(body: str) -> list[tuple[int, int, int]]:
    """Return (start, end, tokens) of windows over a text, start and end in characters.

    The last one ends with the text, so none lies inside another.
    """
    size, overlap = BASELINE["chunk_tokens"], BASELINE["overlap_tokens"]
    ids = tokens.token_ids(body)
    firsts = range(0, max(1, len(ids) - overlap), size - overlap)
    spans = [(first, min(first + size, len(ids))) for first in firsts]
    at = tokens.token_starts(ids, {*chain(*spans)})
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


def find(question: str, folder: Path | None = None) -> dict[str, Chunk]:
    """Return {doc_id: its best chunk}, best first: all that share a word; default: set in EVALS."""
    _, rank, by_id = open_box(folder or evalset.folder())
    best = {}
    for chunk_id, _ in rank(question, len(by_id)):
        best.setdefault(by_id[chunk_id].doc_id, by_id[chunk_id])
    return best


def ask(question: str, top: int = 5, folder: Path | None = None):
    """Return the first documents, each with title and best passage, the question's words marked.

    What stands in the set or in the question is shown as text and does nothing.
    """
    evals, _, _ = open_box(folder or evalset.folder())
    words = {*text.content_words(evals.words(question))} or {*evals.words(question)}
    items = Markup("")
    for doc_id, chunk in islice(find(question, folder).items(), top):
        document = evals.documents[doc_id]
        whole = document.retrieval_text
        start = max(chunk.start, len(whole) - len(document.text))  # below the title
        passage = text.snippet(inert.without_markdown(whole[start : chunk.end]), words)
        title = inert.mark_words(document.title or doc_id, words)
        passage = inert.mark_words(passage, words)
        items += Markup("<li><b>{}</b><br>{}</li>").format(title, passage)
    if not items:
        return inert.html(Markup("<p>No document shares a word with this question.</p>"))
    return inert.html(Markup("<ol>{}</ol>").format(items))


def baseline_command(evals: EvalSet) -> int:
    """Print the summary and what so many queries can decide; measure first what is new.

    Where results.json measured the same, all files stay: those of the sessions hold more.
    """
    from . import report, results  # measuring is more than a search needs

    if not _is_measured(evals):
        _measure(evals)
    content = results.read_results(evals.folder)
    print(inert.plain(report.summary(content)))
    print(f"\n{results.first_number(content)}")
    print(f"\nbaseline: {evals.folder / 'results.json'}\n{results.what_next(evals.folder)}")
    return 0


def _measure(evals: EvalSet) -> None:
    """Write the baseline's chunks, run, card and results.json, without queries that wait."""
    from . import results

    units = cut(evals)
    rank = ranker(evals, units)
    chunks.write_chunks(evals.folder / "chunks" / f"{NAME}.jsonl", units)
    ranked_chunks, ranked_documents = {}, {}
    for query_id, query in evals.settled_queries.items():
        ranked_chunks[query_id], ranked_documents[query_id] = search(rank, query.query)
    found = [runs.without_own(evals, ranked) for ranked in (ranked_chunks, ranked_documents)]
    runs.save(evals, NAME, *found, {"engine": runs.LARGE_ENGINE, "chunks": len(units)})
    results.write_results(evals.folder, measured(evals, rank, units))


def _is_measured(evals: EvalSet) -> bool:
    """Return whether results.json is of this set, its words and all its settled queries."""
    from . import results

    try:
        content = results.read_current_results(evals)
    except EvalSetError:  # missing, broken or of something else
        return False
    is_whole = results.measured_queries(evals, content) == evals.settled_queries.keys()
    has_words = content["method"]["words"] == text.TOKENIZER_WORDS[evals.tokenizer]
    return is_whole and has_words and "chunks_sha256" in content["run"]


def measured(evals: EvalSet, rank: Ranker, units: list[Chunk]) -> dict:
    """Return what results.json says of the baseline alone: no other chunkers, no failure cards."""
    from . import compare, evidence, measures, results, systems

    base = systems.read_checked(evals.folder / results.RUN, evals)._replace(name="baseline")
    compared = compare.compare(evals, base, systems.read_systems(evals))
    by_id = {chunk.chunk_id: chunk for chunk in units}
    depth = max(evidence.depth_needed(units), BASELINE["depth"])
    ranked = {}
    for query_id in evidence.quoted_queries(evals):
        first = rank(evals.queries[query_id].query, depth)
        ranked[query_id] = [by_id[chunk_id] for chunk_id, _ in first]
    quoted = results.evidence_content(evals, {NAME: units}, {NAME: ranked}, NAME)
    values = measures.per_query(evals.qrels(), base.rankings)
    return results.results_content(evals, base.rankings, values, compared, [], quoted)
