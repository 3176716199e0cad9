"""What can be amiss with the quotes that prove labels: long, cut by every chunker, not unique."""

from collections.abc import Iterator

from .. import evidence, text
from ..chunks import Chunk, read_chunks
from ..evalset import EvalSet
from ..runs import BASELINE


def named(evals: EvalSet) -> Iterator[tuple[str, str, str]]:
    """Yield (name of the label, doc_id, quote) of every quote."""
    for label in evals.judgments:
        for quote in label.evidence if label.relevance else ():
            yield f"{label.query_id} {label.doc_id}", label.doc_id, quote


def too_long(evals: EvalSet) -> list[str]:
    """Return the labels with a quote that no chunk of the baseline can hold."""
    most = BASELINE["chunk_tokens"]
    long = (name for name, _, quote in named(evals) if len(text.token_ids(quote)) > most)
    return list(dict.fromkeys(long))


def always_cut(evals: EvalSet) -> list[str]:
    """Return the labels of which no quote is whole in any chunk of any saved set of chunks."""
    sets = [read_chunks(path) for path in sorted((evals.folder / "chunks").glob("*.jsonl"))]
    by_document: dict[str, list[Chunk]] = {}
    for chunk in (chunk for found in sets for chunk in found):
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    whole = {
        name
        for name, doc_id, quote in named(evals)
        for at in [evidence.places(quote, evals.documents[doc_id].retrieval_text)]
        if any(evidence.whole(at, chunk) for chunk in by_document.get(doc_id, ()))
    }
    names = dict.fromkeys(name for name, *_ in named(evals)) if sets else ()
    return [name for name in names if name not in whole]


def elsewhere(evals: EvalSet) -> list[str]:
    """Return the labels with a quote that stands in another document, too.

    A version or a copy may say the same in the same words.
    """
    bodies = {doc_id: doc.retrieval_text for doc_id, doc in evals.documents.items()}
    own: dict[str, set[str]] = {doc_id: {doc_id} for doc_id in bodies}
    for one, other in evals.versions():
        own[one].add(other)
        own[other].add(one)
    return list(
        dict.fromkeys(
            name
            for name, doc_id, quote in named(evals)
            if any(quote in body for other, body in bodies.items() if other not in own[doc_id])
        )
    )
