"""The checklist at the end of the week: what a set and its folder show to be done."""

from ..measure import evalset, files, results
from ..measure.evalset import EvalSet, EvalSetError
from ..measure.inert import Markup, inert

METRICS = {"reciprocal_rank", "hit", "recall", "dcg", "ndcg"}
SAY = """

Can you honestly say:

- I can implement nDCG and MRR without looking them up.
- I can defend starting with BM25.
- I have a measured baseline."""


def week_checklist(evals: EvalSet, passed: set[str]) -> Markup:
    """Return the checklist of the week as Markdown; `passed` are functions that passed checks."""
    n_queries, n_documents = len(evals.queries), len(evals.documents)
    reached = {judgment.doc_id for judgment in evals.judgments if judgment.relevance}
    coverage = len(reached) / n_documents
    saved = [path.stem for path in sorted((evals.folder / "runs").glob("*.trec"))]
    retrievals = inert(", ".join(saved) or "none, run session B")
    n_right = len(passed & METRICS)
    notes = results.read_notes(evals.folder)
    n_read = sum(bool(notes.get(query_id)) for query_id in evals.queries)
    rows = [
        (True, f"a corpus: {n_documents} documents"),
        (n_queries >= 30, f"30 labelled queries or more: {n_queries}"),
        (coverage >= 0.5, f"coverage of 50 % or more: {100 * coverage:.0f} %"),
        (len(saved) >= 2, f"retrievals saved: {retrievals}"),
        (n_right == len(METRICS), f"metrics pass their checks: {n_right} of {len(METRICS)}"),
        (is_measured(evals), "results.json holds the scores of these documents and labels"),
        (
            is_told(evals),
            f"the baseline told in a README or in notes.md: nDCG@10 of {inert(evals.name)}",
        ),
        (n_read >= 5, f"failure modes written down in notes.md: {min(n_read, 5)} of 5 queries"),
    ]
    lines = (f"- [{'x' if done else ' '}] {words}" for done, words in rows)
    return Markup("\n".join(lines) + SAY)


def is_told(evals: EvalSet) -> bool:
    """Return whether a page beside the set, or the workbook's README, tells the set's baseline."""
    data_card, readme = evalset.DEFAULT / "README.md", evalset.DEFAULT.parent / "README.md"
    pages = [evals.folder / "README.md", evals.folder / "notes.md", readme]
    texts = [files.optional_page(page) for page in pages]
    if evals.folder.parent.name == "learn":  # the workbook's own pages tell nothing of a learner
        ours = [files.optional_page(page) for page in (data_card, readme)]
        texts = [text for text in texts if text not in ours]
    return any("nDCG@10" in text and evals.name in text for text in texts)


def is_measured(evals: EvalSet) -> bool:
    """Return whether results.json is of this set."""
    try:
        results.read_current_results(evals)
    except EvalSetError:
        return False
    return True
