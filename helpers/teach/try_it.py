"""The page Try it of the site: a search in the browser, a question that fails, pairs to label."""

import json
import re
from collections import defaultdict
from pathlib import Path

from ..label import markup
from ..measure import baseline, evalset, files, inert, runs, text
from ..measure.evalset import EvalSet, Judgment, Query
from . import practice

PAGE = Path(__file__).with_name("sphinx") / "try.md"
GRADES = {0: "no fact that helps", 1: "a fact that helps, read on", 2: "answers it"}


def page(evals: EvalSet) -> str:
    """Return the page as Markdown; what a set lacks, a hard question or labels, is left out."""
    pairs = [pair_content(evals, *pair) for pair in practice.first_three(evals)]
    return inert.template(PAGE).render(
        documents=len(evals.documents),
        hard=hard_content(evals),
        pairs=pairs if evals.grades == tuple(GRADES) else [],
        grades=GRADES,
    )


def search_script(evals: EvalSet) -> str:
    """Return a script that sets TRY: documents, their chunks as offsets in characters, BM25's k1.

    A document is its id, title, retrieval text, where its body starts, and [start, end] of chunks.
    """
    spans = defaultdict(list)
    for chunk in baseline.cut(evals):
        spans[chunk.doc_id].append((chunk.start, chunk.end))
    documents = []
    for doc_id, document in evals.documents.items():
        whole = document.retrieval_text
        body = len(whole) - len(document.text)
        documents.append((doc_id, document.title, whole, body, spans[doc_id]))
    content = {name: runs.BASELINE[name] for name in ("k1", "b", "epsilon")}
    content |= {"decimals": runs.DECIMALS, "function_words": sorted(text.STOP_WORDS)}
    content["documents"] = documents
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
    """Return what the page says of the hardest question, {} where nothing answers it in full."""
    query = hardest(evals)
    rank, doc_id = full_answer(evals, query)
    if not rank:
        return {}
    document, pairs = evals.documents[doc_id], word_pairs(evals, query.query_id)
    asked = {*text.content_words(evals.words(query.query))}
    shared = sorted(asked & {*evals.words(document.retrieval_text)})
    marked = asked.union(*(evals.words(said) for _, said in pairs))
    passage = text.snippet(inert.without_markdown(document.text), marked)
    quotes = " … ".join(next(iter(stored_label(evals, query.query_id, doc_id).evidence), ()))
    return {
        "question": query.query,
        "rank": rank,
        "doc_id": doc_id,
        "title": inert.mark_words(document.title or doc_id, marked),
        "passage": inert.mark_words(passage, marked),
        "answer": inert.without_markdown(quotes),
        "asked": text.how_many(len(asked), "word"),
        "shared": shared,
        "pairs": pairs,
    }


def stored_label(evals: EvalSet, query_id: str, doc_id: str) -> Judgment:
    """Return the judgment of a pair that is judged."""
    return next(label for label in evals.judgments if label[:2] == (query_id, doc_id))


def word_pairs(evals: EvalSet, query_id: str) -> list[tuple[str, str]]:
    """Return (word of the question, word of the page), from `Words: a = b, c = d` in notes.md."""
    notes = files.optional_page(evals.folder / evalset.PROSE[1])
    section = re.search(rf"^## {re.escape(query_id)}\n(.*?)(?=^## |\Z)", notes, re.M | re.S)
    line = re.search("^Words: (.*)$", section[1], re.MULTILINE) if section else None
    pairs = re.findall(r"([^,=]+)=([^,=]+)", line[1]) if line else []
    return [(asked.strip(), said.strip()) for asked, said in pairs]


def pair_content(evals: EvalSet, query_id: str, doc_id: str) -> dict:
    """Return what the page shows of a pair to label."""
    label, question = stored_label(evals, query_id, doc_id), evals.queries[query_id].query
    words = {*text.content_words(evals.words(question))}
    return {
        "question": question,
        "grade": label.relevance,
        "document": markup.document_html(evals.documents[doc_id], words),
        "evidence": [" … ".join(quotes) for quotes in label.evidence],
    }
