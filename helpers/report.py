"""What people read of the results: the rendered page, the checklist, the summary, the counts."""

import re
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path
from statistics import median

from . import evalset, evidence, files, results, stats, text
from .evalset import EvalSet, EvalSetError
from .labels import prose
from .text import Markup, inert

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
STYLE = Path(__file__).with_name("page.css")
SAY = Markup("""

Say of yourself, truthfully:

- I can implement nDCG and MRR without looking them up.
- I can defend starting with BM25.
- I have a measured baseline.""")
METRICS = "reciprocal_rank hit recall average_precision dcg ndcg".split()
TICK_BOX = re.compile(r'<input [^<>]*type="checkbox"[^<>]*>')  # of a checklist
SECTION = re.compile(r'<h([23]) id="([^"]*)">(.*?)(?:<a class="anchor-link".*?</a>)?</h\1>', re.S)


def html(notebook) -> str:
    """Return the executed notebook as one page: no code runs in it, and nothing is requested.

    The write-up shows texts inert; the page does not rely on it.
    """
    from nbconvert import HTMLExporter  # takes two seconds to import; the notebooks need none

    exporter = HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    page = exporter.from_notebook_node(notebook)[0]
    page = TICK_BOX.sub(lambda box: "☑ " if "checked" in box[0] else "☐ ", page)
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n'
        f"<head><title>{escape(first.splitlines()[0].lstrip('# '))}</title>"
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head>\n"
        f"<body>\n<main>\n{with_contents(text.clean(page))}\n</main>\n</body>\n</html>\n"
    )


def with_contents(body: str) -> str:
    """Return a cleaned page with links to the parts of its appendix, below the appendix's head."""
    heads = list(SECTION.finditer(body))
    top = next((head for head in heads if head[2] == "Appendix"), None)
    if top is None:
        return body
    parts = [head for head in heads if head[1] == "3" and head.start() > top.start()]
    links = "".join(f'<li><a href="#{head[2]}">{head[3]}</a></li>' for head in parts)
    contents = f'<nav aria-label="Contents of the appendix"><ul>{links}</ul></nav>'
    return body[: top.end()] + contents + body[top.end() :]


def week(evals: EvalSet, passed: set[str]) -> Markup:
    """Return the checklist of the week as Markdown; `passed` are functions that passed checks."""
    queries, reached = len(evals.queries), {j.doc_id for j in evals.judgments if j.relevance}
    share = len(reached) / len(evals.documents)
    saved = [path.stem for path in sorted((evals.folder / "runs").glob("*.trec"))]
    pages = [evals.folder / "README.md", evals.folder / "notes.md"]
    if evals.folder.parent.name != "learn":  # the workbook's own page tells nothing of a learner
        pages.append(evalset.DEFAULT.parent / "README.md")
    texts = [page.read_text(encoding="utf-8") for page in pages if page.exists()]
    is_told = any("nDCG@10" in page and evals.name in page for page in texts)
    read = sum(query_id in evals.queries for query_id in results.notes(evals.folder))
    right = len(passed & {*METRICS})
    try:
        fresh = bool(results.verified(evals))
    except EvalSetError:
        fresh = False
    rows = [
        (bool(evals.documents), f"a corpus: {len(evals.documents)} documents", ""),
        (queries >= 30, f"30 labelled queries or more: {queries}", ""),
        (share >= 0.5, f"coverage of 50 % or more: {100 * share:.0f} %", ""),
        (len(saved) >= 3, "retrievals saved: ", ", ".join(saved) or "none, run session B"),
        (right == len(METRICS), f"metrics pass their checks: {right} of {len(METRICS)}", ""),
        (fresh, "results.json holds the scores of these documents and labels", ""),
        (is_told, "the baseline told in a README or in notes.md: nDCG@10 of ", evals.name),
        (read >= 5, f"failure modes written down in notes.md: {read} of 5 queries", ""),
    ]
    lines = [Markup(f"- [{'x' if done else ' '}] {words}") + name for done, words, name in rows]
    return Markup("\n").join(lines) + SAY


def summary(content: dict, show: Callable[[object], str] = inert) -> str:
    """Return the baseline as a Markdown table with what it was measured on, a row for each half.

    `content` is results.json; `show` writes its texts: `str` for a terminal.
    """
    corpus, queries, method = content["corpus"], content["queries"], content["method"]
    grades = ", ".join(f"{grade:d}" for grade in queries["grades"])
    unanswered = f" and {queries['unanswered']:d} without an answer" * bool(queries["unanswered"])
    names = ["nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100"]
    rows = [["half", "n", *names, "median rank of first relevant"], ["---", *["---:"] * 8]]
    for half, row in content["summary"].items():
        middle = row["median_first_rank"]
        means = [f"{row['measures'][name]:.3f}" for name in names]
        last = f"{middle:g}" if middle else f"none within {method['depth']:d}"
        rows.append([show(half), f"{row['n']:d}", *means, last])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    lines = []
    for half in evalset.SPLITS:
        if half in content["evidence"]:
            row = content["evidence"][half]
            document, quote = (row["by_k"][name][4] for name in ("document", "evidence"))
            within = row["sets"][method["chunker"]]["means"][evidence.DECIDES]
            lines.append(
                f"Evidence, {half} (n = {row['n']:d}): in the first five chunks for {quote:.3f} of "
                f"the queries, the right document for {document:.3f}; {evidence.DECIDES} "
                f"{within:.3f}."
            )
    return (
        f"Corpus: {show(corpus['name'])}, {text.how_many(corpus['documents'], 'document')}, "
        f"{corpus['tokens']:,} tokens. Queries: {queries['n']:d}{unanswered}, labelled with "
        f"{text.how_many(queries['judgments'], 'judgment')} "
        f"(grade{'s' * (len(queries['grades']) > 1)} {grades}).\n"
        f"Method: {show(method['engine'])} (k1 = {method['k1']:g}, b = {method['b']:g}) over "
        f"chunks of {method['chunk_tokens']:d} tokens with {method['overlap_tokens']:d} overlap, "
        f"best chunk of each document. nDCG with linear gain.\n\n"
        + "\n\n".join([table, "\n".join(lines)]).rstrip()
    )


def disclosure(evals: EvalSet) -> Markup:
    """Return the first paragraph of the data card, "" where there is none."""
    page = files.optional_page(evals.folder / evalset.PROSE[0])
    parts = (part for part in page.split("\n\n") if not part.lstrip().startswith(("#", "<!--")))
    return inert(" ".join(re.sub(r"[*`]", "", next(parts, "")).split()))


def sizes(evals: EvalSet) -> dict:
    """Return the tokens of each document, and how many kinds, services and relevant labels.

    `reached` documents have such a label. An imported set may say no kind and no service.
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


def facts(evals: EvalSet) -> Markup:
    """Return the counts of the data card as a Markdown table."""
    size, queries = sizes(evals), evals.queries.values()
    tokens, reached = size["tokens"], size["reached"]
    marks = Counter(mark for query in queries for mark in (query.split, query.popularity) if mark)
    each = [Markup("{:d} {}").format(n, name) for name, n in sorted(marks.items())]
    grades = Counter(judgment.relevance for judgment in evals.judgments)
    by_grade = ", ".join(f"{n:d} of grade {grade:d}" for grade, n in sorted(grades.items()))
    rows = {
        "documents": f"{len(tokens)} of {text.how_many(size['kinds'], 'kind')} about "
        + text.how_many(size["services"], "service"),
        "tokens (cl100k_base)": f"{sum(tokens):,}: "
        f"shortest document {min(tokens):d}, median {median(tokens):.0f}, longest {max(tokens):,}",
        "queries": Markup("{:d}: ").format(len(queries)) + Markup(", ").join(each),
        "queries that no document answers": len(evals.unanswered),
        "judgments": f"{len(evals.judgments)}: {by_grade}",
        "documents reached by a query": f"{reached} ({reached / len(tokens):.0%})",
        "queries with short answers": sum(bool(query.answers) for query in queries),
        **label_facts(evals),
        **{name: Markup(words) for name, words in prose.manner(evals).items()},  # inert there
    }
    lines = [Markup("| {} | {} |").format(name, value) for name, value in rows.items()]
    return Markup("\n").join([Markup("| what | count |\n|---|---|"), *lines])


def label_facts(evals: EvalSet) -> dict[str, Markup | str]:
    """Return what pool and second passes say of the labels, a row for each."""
    rows: dict[str, Markup | str] = {}
    judged = {(j.query_id, j.doc_id): j.relevance for j in evals.judgments}
    pool = evalset.read_extra(evals, "pool.jsonl")
    if pool:
        relevant = [p for p in pool if "first" in p and judged.get((p["query_id"], p["doc_id"]))]
        missed = sum(not pair["first"] for pair in relevant)
        rows["pairs judged in the pool"] = str(len(pool))
        rows["relevant, missed by the first labelling"] = f"{missed} of {len(relevant)}"
    passes: dict[tuple[int, str], list[dict]] = {}
    for pair in evalset.read_extra(evals, "second_pass.jsonl"):
        passes.setdefault((pair["round"], pair.get("reader", "")), []).append(pair)
    for number, reader in sorted(passes):
        name = f"second pass, round {number:d}" + f", by a {reader}" * bool(reader)
        rows[name] = _agreement(passes[number, reader], evals.grades)
    return rows


def _agreement(pairs: list[dict], grades: tuple[int, ...]) -> Markup:
    """Return how well two readings agree, in all and by the first one's grade, and who read."""
    first, second = ([pair[name] for pair in pairs] for name in ("first", "second"))
    equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(pairs)
    kappa = stats.kappa(first, second, grades)
    shown = "undefined (one grade only)" if kappa is None else f"{kappa:.2f}"
    shares = stats.equal_by_grade(first, second).items()
    by_grade = ", ".join(f"{grade:d}: {share:.0%}" for grade, share in shares)
    readers = stats.by_whom(pairs)
    return Markup(
        f"{text.how_many(len(pairs), 'pair')}, {equal:.1%} equal, Cohen's kappa {shown}; "
        f"equal by first grade {by_grade}{'; ' * bool(readers)}{readers}"
    )
