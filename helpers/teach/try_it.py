"""The page Try it of the site: a search in the browser, a question that fails, pairs to label."""

import json
from collections import defaultdict
from pathlib import Path

from ..label import markup
from ..measure import baseline, inert, results, runs, text
from ..measure.evalset import EvalSet, Judgment, Query
from . import practice

PAGE = Path(__file__).with_name("sphinx") / "try.md"
FOUND = 5  # results that the page shows
GRADES = {0: "no fact that helps", 1: "a helpful fact, no answer", 2: "answers it"}


def page(evals: EvalSet) -> str:
    """Return the page as Markdown; what a set lacks, a hard question or labels, is left out."""
    pairs = [pair_content(evals, *pair) for pair in practice.first_three(evals)]
    return inert.template(PAGE, mark=inert.mark_words).render(
        documents=len(evals.documents),
        hard=hard_content(evals),
        pairs=pairs if evals.grades == tuple(GRADES) else [],
        grades=GRADES,
    )


def search_script(evals: EvalSet) -> str:
    """Return a script that sets TRY: documents, their chunks as offsets in characters, k1 and b.

    A document is its id, title, body, and [start, end] of each chunk in its retrieval text.
    """
    spans = defaultdict(list)
    for chunk in baseline.cut(evals):
        spans[chunk.doc_id].append((chunk.start, chunk.end))
    documents = []
    for doc_id, document in evals.documents.items():
        documents.append((doc_id, document.title, document.text, spans[doc_id]))
    content = {
        **runs.BASELINE,
        "decimals": runs.DECIMALS,
        "function_words": sorted(text.STOP_WORDS),
        "documents": documents,
    }
    return f"const TRY = {json.dumps(content, ensure_ascii=False)};\n"


def full_answer(evals: EvalSet, query: Query) -> tuple[int, str]:
    """Return rank and id of the first document that answers in full; (0, "") if none is found."""
    grades = evals.qrels().get(query.query_id, {})
    for rank, doc_id in enumerate(baseline.find(query.query, evals.folder), 1):
        if grades.get(doc_id, 0) >= evals.full_grade:
            return rank, doc_id
    return 0, ""


def hardest(evals: EvalSet) -> Query:
    """Return the query that session A shows: of those in other words, the lowest full answer."""
    candidates = evals.examples("mismatch")[:50]
    often = [q for q in candidates if q.popularity == "head" and not q.language]
    return max(often or candidates, key=lambda query: full_answer(evals, query)[0])


def hard_content(evals: EvalSet) -> dict:
    """Return what the page says of the hardest question, {} where its full answer isn't late."""
    query = hardest(evals)
    rank, doc_id = full_answer(evals, query)
    if rank <= FOUND:  # 0 if nothing answers in full
        return {}
    document = evals.documents[doc_id]
    pairs = results.read_word_pairs(evals.folder, query.query_id)
    asked = {*text.content_words(evals.words(query.query))}
    words = asked.union(*(evals.words(said) for _, said in pairs))
    evidence = stored_label(evals, query.query_id, doc_id).evidence or [()]
    return {
        "question": query.query,
        "rank": rank,
        "document": document,
        "words": words,
        "passage": text.snippet(inert.without_markdown(document.text), words),
        "answer": inert.without_markdown(" … ".join(evidence[0])),
        "asked": len(asked),
        "shared": sorted(asked & {*evals.words(document.retrieval_text)}),
        "pairs": pairs,
    }


def stored_label(evals: EvalSet, query_id: str, doc_id: str) -> Judgment:
    """Return the judgment of a pair that is judged."""
    return next(label for label in evals.judgments if label[:2] == (query_id, doc_id))


def pair_content(evals: EvalSet, query_id: str, doc_id: str) -> dict:
    """Return what the page shows of a pair to label."""
    label, document = stored_label(evals, query_id, doc_id), evals.documents[doc_id]
    question = evals.queries[query_id].query
    words = {*text.content_words(evals.words(question))}
    return {
        "question": question,
        "label": label,
        "document": document,
        "words": words,
        "body": markup.markdown_html(document.text, words),
    }
