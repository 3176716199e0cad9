"""What people read of the results: the rendered page, the checklist, the summary, the counts."""

import re
from collections import Counter
from html import escape
from statistics import median

from . import evalset, evidence, files, results, stats, text
from .evalset import EvalSet, EvalSetError
from .installation import TEMPLATES
from .text import Markup, inert

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
SUMMARY = TEMPLATES / "summary.jinja"
SHOWN = ("nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100")
STYLE = TEMPLATES / "page.css"
SAY = """

Say of yourself, truthfully:

- I can implement nDCG and MRR without looking them up.
- I can defend starting with BM25.
- I have a measured baseline."""
METRICS = "reciprocal_rank hit recall average_precision dcg ndcg".split()
TICK_BOX = re.compile(r'<input [^<>]*type="checkbox"[^<>]*>')  # of a checklist
SECTION = re.compile(r'<h3 id="([^"]*)">(.*?)(?:<a class="anchor-link".*?</a>)?</h3>', re.S)
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><title>{title}</title><meta charset="utf-8">\
<meta http-equiv="Content-Security-Policy" content="{policy}">\
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def html(notebook) -> str:
    """Return the executed notebook as one page: no code runs in it, and nothing is requested."""
    from nbconvert import HTMLExporter  # takes two seconds to import; the notebooks need none

    hidden = dict.fromkeys(("exclude_input", "exclude_input_prompt", "exclude_output_prompt"), True)
    page = HTMLExporter(template_name="basic", **hidden).from_notebook_node(notebook)[0]
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    title, style = first.splitlines()[0].lstrip("# "), STYLE.read_text(encoding="utf-8")
    body = with_contents(text.clean(with_ticks(page)))
    return PAGE.format(title=escape(title), policy=POLICY, style=style, body=body)


def with_ticks(page: str) -> str:
    """Return HTML with signs in place of a checklist's boxes."""
    return TICK_BOX.sub(lambda box: "☑ " if "checked" in box[0] else "☐ ", page)


def with_contents(body: str) -> str:
    """Return a cleaned page with links to the parts of its appendix, below the appendix's head."""
    before, head, appendix = body.partition('<h2 id="Appendix">')
    heading, end, parts = appendix.partition("</h2>")
    links = (f'<li><a href="#{part[1]}">{part[2]}</a></li>' for part in SECTION.finditer(parts))
    contents = f'<nav aria-label="Contents of the appendix"><ul>{"".join(links)}</ul></nav>'
    return before + head + heading + end + contents * bool(head) + parts


def week_checklist(evals: EvalSet, passed: set[str]) -> Markup:
    """Return the checklist of the week as Markdown; `passed` are functions that passed checks."""
    queries, documents = len(evals.queries), len(evals.documents)
    share = len({label.doc_id for label in evals.judgments if label.relevance}) / documents
    saved = [path.stem for path in sorted((evals.folder / "runs").glob("*.trec"))]
    ours = [evalset.DEFAULT / "README.md", evalset.DEFAULT.parent / "README.md"]
    pages = [evals.folder / "README.md", evals.folder / "notes.md", ours[1]]
    texts = [*map(files.optional_page, pages)]
    if evals.folder.parent.name == "learn":  # the workbook's own pages tell nothing of a learner
        texts = [page for page in texts if page not in map(files.optional_page, ours)]
    is_told = any("nDCG@10" in page and evals.name in page for page in texts)
    read = sum(query_id in evals.queries for query_id in results.read_notes(evals.folder))
    right = len(passed & {*METRICS})
    try:
        fresh = bool(results.read_current_results(evals))
    except EvalSetError:
        fresh = False
    rows = [
        (True, f"a corpus: {documents} documents"),
        (queries >= 30, f"30 labelled queries or more: {queries}"),
        (share >= 0.5, f"coverage of 50 % or more: {100 * share:.0f} %"),
        (len(saved) >= 3, f"retrievals saved: {inert(', '.join(saved) or 'none, run session B')}"),
        (right == len(METRICS), f"metrics pass their checks: {right} of {len(METRICS)}"),
        (fresh, "results.json holds the scores of these documents and labels"),
        (is_told, f"the baseline told in a README or in notes.md: nDCG@10 of {inert(evals.name)}"),
        (read >= 5, f"failure modes written down in notes.md: {min(read, 5)} of 5 queries"),
    ]
    return Markup("\n".join(f"- [{'x' if done else ' '}] {words}" for done, words in rows) + SAY)


def summary(content: dict) -> Markup:
    """Return the baseline as Markdown: what it was measured on, a table with a row for each half.

    `content` is results.json.
    """
    page = text.template(SUMMARY).render(content, measures=SHOWN, decides=evidence.DECIDES)
    return text.paragraphs(page)


def disclosure(evals: EvalSet) -> Markup:
    """Return the first paragraph of the data card, "" where there is none."""
    page = files.optional_page(evals.folder / evalset.PROSE[0])
    parts = (part for part in page.split("\n\n") if not part.lstrip().startswith(("#", "<!--")))
    return inert(" ".join(re.sub(r"[*`]", "", next(parts, "")).split()))


def kinds_in_words(evals: EvalSet) -> str:
    """Return the data card's line on what the kinds of question are, "" where there is none."""
    page = files.optional_page(evals.folder / evalset.PROSE[0])
    return "".join(re.findall(r"^- \*\*Kinds\.\*\* (.+)", page, re.MULTILINE)[:1])


def sizes(evals: EvalSet) -> dict:
    """Return the tokens of each document, and how many kinds, services and relevant labels.

    `reached` documents have such a label.
    """
    documents = evals.documents.values()
    relevant = [judgment.doc_id for judgment in evals.judgments if judgment.relevance]
    return {
        "tokens": [len(text.token_ids(document.retrieval_text)) for document in documents],
        "kinds": len({document.kind for document in documents} - {"unspecified"}),
        "services": len({document.service for document in documents} - {"unspecified"}),
        "relevant": len(relevant),
        "reached": len({*relevant}),
    }


def data_card_table(evals: EvalSet) -> Markup:
    """Return the counts of the data card as a Markdown table."""
    size, queries = sizes(evals), evals.queries.values()
    tokens, reached = size["tokens"], size["reached"]
    marks = Counter(mark for query in queries for mark in (query.split, query.popularity) if mark)
    each = ", ".join(f"{n:d} {name}" for name, n in sorted(marks.items()))
    grades = Counter(judgment.relevance for judgment in evals.judgments)
    by_grade = ", ".join(f"{n:d} of grade {grade:d}" for grade, n in sorted(grades.items()))
    rows = {
        "documents": f"{len(tokens)} of {text.how_many(size['kinds'], 'kind')} about "
        + text.how_many(size["services"], "service"),
        "tokens (cl100k_base)": f"{sum(tokens):,}: "
        f"shortest document {min(tokens):d}, median {median(tokens):.0f}, longest {max(tokens):,}",
        "queries": f"{len(queries):d}: {each}",
        "queries that no document answers": len(evals.unanswered),
        "judgments": f"{len(evals.judgments)}: {by_grade}",
        "documents reached by a query": f"{reached} ({reached / len(tokens):.0%})",
        "queries with short answers": sum(bool(query.answers) for query in queries),
        **label_facts(evals),
    }
    lines = (f"| {name} | {count} |" for name, count in rows.items())
    return Markup("\n".join(["| what | count |", "|---|---|", *lines]))


def label_facts(evals: EvalSet) -> dict[str, str]:
    """Return what pool and second passes say of the labels, a row for each."""
    rows = {}
    judged = {(j.query_id, j.doc_id): j.relevance for j in evals.judgments}
    pool = evalset.read_extra(evals, "pool.jsonl")
    if pool:
        relevant = [p for p in pool if "first" in p and judged.get((p["query_id"], p["doc_id"]))]
        missed = sum(not pair["first"] for pair in relevant)
        rows["pairs judged in the pool"] = str(len(pool))
        rows["relevant, missed by the first labelling"] = f"{missed} of {len(relevant)}"
    passes: dict[tuple[int, str], list[dict]] = {}
    pairs = evalset.read_extra(evals, "second_pass.jsonl")
    for pair in pairs:
        reader = pair.get("reader", "").partition(":")[0]  # without a handle
        passes.setdefault((pair["round"], reader), []).append(pair)
    for number, reader in sorted(passes):
        name = f"second pass, round {number:d}" + f", by a {reader}" * bool(reader)
        rows[name] = _agreement(passes[number, reader], evals.grades)
    grades = [*stats.majorities(pairs).values()]
    if grades:
        split, many = grades.count(None), text.how_many(len(grades), "pair")
        told = f"{many}, {len(grades) - split} with one most frequent grade, {split} tied"
        rows["disputed, read three times or more"] = told
    return rows


def _agreement(pairs: list[dict], grades: tuple[int, ...]) -> Markup:
    """Return how well two readings agree, in all and by the first one's grade, and who read."""
    first, second = ([pair[name] for pair in pairs] for name in ("first", "second"))
    equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(pairs)
    kappa = stats.kappa(first, second, grades)
    shown = "undefined (one grade only)" if kappa is None else f"{kappa:.2f}"
    if interval := stats.kappa_interval(first, second, grades):
        shown += f" ({interval[0]:.2f} to {interval[1]:.2f})"
    shares = stats.equal_by_grade(first, second).items()
    by_grade = ", ".join(f"{grade:d}: {share:.0%}" for grade, share in shares)
    readers = stats.readers_text(pairs)
    return Markup(
        f"{text.how_many(len(pairs), 'pair')}, {equal:.1%} equal, Cohen's kappa {shown}; "
        f"equal by first grade {by_grade}{'; ' * bool(readers)}{readers}"
    )
