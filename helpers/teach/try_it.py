"""The page Try it of the site: a search in the browser, a question that fails, pairs to label."""

import json
from collections import defaultdict
from pathlib import Path

from ..label import markup
from ..measure import baseline, inert, results, runs, text
from ..measure.evalset import EvalSet, Judgment, Query
from . import LearnError, practice

PAGE = Path(__file__).with_name("sphinx") / "try.md"
FOUND = 5  # results that the page shows
GRADES = {0: "no fact that helps", 1: "a helpful fact, no answer", 2: "answers it"}


def page(evals: EvalSet) -> str:
    """Return the page as Markdown; what a set lacks, a hard question or labels, is left out."""

    def content_words(question: str) -> set[str]:
        return {*text.content_words(evals.words(question))}

    labels = stored_labels(evals)
    filters = {"content_words": content_words, "snippet": text.snippet, "mark": inert.mark_words}
    filters |= {"body": markup.markdown_html, "plain": inert.without_markdown}
    return inert.template(PAGE, **filters).render(
        evals=evals,
        hard=hard_content(evals, labels),
        labels=[labels[pair] for pair in practice.first_three(evals)],
        grades=GRADES if evals.grades == tuple(GRADES) else {},
    )


def stored_labels(evals: EvalSet) -> dict[tuple[str, str], Judgment]:
    """Return {(query_id, doc_id): judgment}."""
    return {label[:2]: label for label in evals.judgments}


def search_script(evals: EvalSet) -> str:
    """Return a script that sets TRY: documents, their chunks as offsets in characters, k1 and b.

    A document is its id, title, body, and [start, end] of each chunk in its retrieval text. Raises
    LearnError where the set counts words in another way than the script does.
    """
    if evals.tokenizer != "words":
        found = f"found words {evals.tokenizer} in settings.json, wanted words"
        raise LearnError(f"the search of Try it: {found}")
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


def hard_content(evals: EvalSet, labels: dict[tuple[str, str], Judgment]) -> dict:
    """Return what the page says of the hardest question, {} where its full answer isn't late.

    Its `question` as text, the `document` at `rank` and its `label`; of words those `asked` for,
    `shared` by both (sets) and `to_mark`, and `pairs` of (asked, said).
    """
    query = hardest(evals)
    rank, doc_id = full_answer(evals, query)
    if rank <= FOUND:  # 0 if nothing answers in full
        return {}
    document = evals.documents[doc_id]
    pairs = results.read_word_pairs(evals.folder, query.query_id)
    asked = {*text.content_words(evals.words(query.query))}
    return {
        "question": query.query,
        "rank": rank,
        "document": document,
        "label": labels[query.query_id, doc_id],
        "asked": asked,
        "shared": asked & {*evals.words(document.retrieval_text)},
        "to_mark": asked.union(*(evals.words(said) for _, said in pairs)),
        "pairs": pairs,
    }
