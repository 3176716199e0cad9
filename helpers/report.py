"""What people read of the results: the summary, the data card's facts, the rendered page."""

import functools
import re
import string
from collections import Counter
from collections.abc import Callable
from html import escape
from numbers import Real
from pathlib import Path
from statistics import median

from . import baseline, evalset, evidence, files, results, stats, text
from .evalset import EvalSet
from .labels import prose
from .text import clean, inert

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
STYLE = Path(__file__).with_name("page.css")
SENTENCES = Path(__file__).with_name("page.md")
SAY = (
    "I can implement nDCG and MRR without looking them up.",
    "I can defend starting with BM25.",
    "I have a measured baseline.",
)
METRICS = "reciprocal_rank hit recall average_precision dcg ndcg".split()


class Sentences(string.Formatter):
    """Fills a sentence of `page.md`: all but numbers is inert, `{n:many query}` is "2 queries"."""

    def format_field(self, value: object, spec: str) -> str:
        """Return a value as markup: names of a list in italics, with "and" before the last."""
        if isinstance(value, list | tuple):
            *most, last = [f"*{inert(name)}*" for name in value]
            return f"{', '.join(most)} and {last}" if most else last
        if spec.startswith("many "):
            return text.how_many(value, spec.removeprefix("many "))
        number = isinstance(value, Real) and not isinstance(value, bool)
        return format(value, spec) if number else inert(format(value, spec))


@functools.cache
def _sentences() -> dict[str, str]:
    """Return {name: sentence} of the template."""
    page = SENTENCES.read_text(encoding="utf-8")
    found = re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return {name: body.strip("\n") for name, body in found}


def worded(name: str, /, **values: object) -> str:
    """Return a sentence of the write-up with its values, as Markdown."""
    return Sentences().format(_sentences()[name], **values)


TICK_BOX = re.compile(r'<input [^<>]*type="checkbox"[^<>]*>')  # of a checklist


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
    made = exporter.from_notebook_node(notebook)[0]
    made = TICK_BOX.sub(lambda box: "☑ " if "checked" in box[0] else "☐ ", made)
    body = with_contents(clean(made))
    title = (
        next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        .splitlines()[0]
        .lstrip("# ")
    )
    style = STYLE.read_text(encoding="utf-8")
    head = (
        f"<head><title>{escape(title)}</title>"
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head>"
    )
    main = f"<body>\n<main>\n{body}\n</main>\n</body>"
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{main}\n</html>\n'


SECTION = re.compile(r'<h([23]) id="([^"]*)">(.*?)(?:<a class="anchor-link".*?</a>)?</h\1>', re.S)


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


def week(evals: EvalSet, passed: set[str]) -> str:
    """Return the checklist of the week as Markdown; `passed` are functions that passed checks."""
    queries, reached = len(evals.queries), {j.doc_id for j in evals.judgments if j.relevance}
    share = len(reached) / len(evals.documents)
    saved = [inert(path.stem) for path in sorted((evals.folder / "runs").glob("*.trec"))]
    fresh = baseline.faults(evals) == []
    right = [name for name in METRICS if name in passed]
    pages = [evals.folder / "README.md", evals.folder / "notes.md"]
    if evals.folder.parent.name != "learn":  # the workbook's own page tells nothing of a learner
        pages.append(evalset.DEFAULT.parent / "README.md")
    texts = [page.read_text(encoding="utf-8") for page in pages if page.exists()]
    told = any("nDCG@10" in page and evals.name in page for page in texts)
    read = [q for q in results.notes(evals.folder) if q in evals.queries]
    rows = [
        (bool(evals.documents), f"a corpus: {len(evals.documents)} documents"),
        (queries >= 30, f"30 labelled queries or more: {queries:d}"),
        (share >= 0.5, f"coverage of 50 % or more: {100 * share:.0f} %"),
        (
            len(saved) >= 3,
            f"retrievals saved: {', '.join(saved) or 'none, run session B'}",
        ),
        (right == METRICS, f"metrics pass their checks: {len(right)} of {len(METRICS)}"),
        (fresh, "results.json holds the scores of these documents and labels"),
        (told, f"the baseline told in a README or in notes.md: nDCG@10 of {inert(evals.name)}"),
        (len(read) >= 5, f"failure modes written down in notes.md: {len(read)} of 5 queries"),
    ]
    lines = [f"- {'[x]' if done else '[ ]'} {words}" for done, words in rows]
    return "\n".join([*lines, "\nSay of yourself, truthfully:\n", *(f"- {say}" for say in SAY)])


def summary(found: dict, show: Callable[[object], str] = inert) -> str:
    """Return the baseline as a Markdown table with what it was measured on, a row for each half.

    `show` writes the texts: `str` for a terminal.
    """
    corpus, queries, method = found["corpus"], found["queries"], found["method"]
    grades = [f"{grade:d}" for grade in queries["grades"]]
    names = ["nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100"]
    rows = [
        ["half", "n", *names, "median rank of first relevant"],
        ["---", *["---:"] * (len(names) + 2)],
    ]
    for split, row in found["summary"].items():
        middle = row["median_first_rank"]
        values = [f"{row['measures'][name]:.3f}" for name in names]
        last = f"{middle:g}" if middle else f"none within {method['depth']:d}"
        rows.append([show(split), f"{row['n']:d}", *values, last])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"Corpus: {show(corpus['name'])}, {text.how_many(corpus['documents'], 'document')}, "
        f"{corpus['tokens']:,} tokens. Queries: {queries['n']:d}"
        + (f" and {queries['unanswered']:d} without an answer" if queries["unanswered"] else "")
        + ", labelled with "
        f"{text.how_many(queries['judgments'], 'judgment')} "
        f"(grade{'s' * (len(grades) > 1)} {', '.join(grades)}).\n"
        f"Method: {show(method['engine'])} (k1 = {method['k1']:g}, b = {method['b']:g}) over "
        f"chunks of {method['chunk_tokens']:d} tokens with {method['overlap_tokens']:d} overlap, "
        f"best chunk of each document. nDCG with linear gain.\n\n{table}{_quoted(found)}"
    )


def _quoted(found: dict) -> str:
    """Return a line for each half on what the reader gets of evidence, "" where none is quoted."""
    lines = []
    for split in evalset.SPLITS:
        if split in found["evidence"]:
            of = found["evidence"][split]
            document, quote = (of["by_k"][name][4] for name in ("document", "evidence"))
            within = of["sets"][found["method"]["chunker"]]["means"][evidence.DECIDES]
            lines.append(
                f"Evidence, {inert(split)} (n = {of['n']:d}): in the first five chunks for "
                f"{quote:.3f} of the queries, the right document for {document:.3f}; "
                f"{inert(evidence.DECIDES)} {within:.3f}."
            )
    return "\n\n" + "\n".join(lines) if lines else ""


def disclosure(evals: EvalSet) -> str:
    """Return the first paragraph of the data card as inert text, "" where there is none."""
    page = files.prose(evals.folder / evalset.PROSE[0], evalset.stop)
    parts = (part for part in page.split("\n\n") if not part.lstrip().startswith(("#", "<!--")))
    return inert(" ".join(re.sub(r"[*`]", "", next(parts, "")).split()))


def facts(evals: EvalSet) -> str:
    """Return the counts of the data card as a Markdown table."""
    tokens = [len(text.token_ids(doc.retrieval_text)) for doc in evals.documents.values()]
    grades = Counter(judgment.relevance for judgment in evals.judgments)
    reached = {judgment.doc_id for judgment in evals.judgments if judgment.relevance}
    kinds = {document.kind for document in evals.documents.values()}
    services = {document.service for document in evals.documents.values()}
    marks = ("split", "popularity")
    splits = Counter(getattr(q, mark) for mark in marks for q in evals.queries.values())
    del splits[""]
    rows = {
        "documents": f"{len(tokens)} of {text.how_many(len(kinds), 'kind')} about "
        + text.how_many(len(services), "service"),
        "tokens (cl100k_base)": f"{sum(tokens):,}: "
        f"shortest document {min(tokens):d}, median {median(tokens):.0f}, longest {max(tokens):,}",
        "queries": f"{len(evals.queries)}: "
        + ", ".join(f"{n:d} {inert(name)}" for name, n in sorted(splits.items())),
        "queries that no document answers": len(evals.unanswered),
        "judgments": f"{len(evals.judgments)}: "
        + ", ".join(f"{n:d} of grade {grade:d}" for grade, n in sorted(grades.items())),
        "documents reached by a query": f"{len(reached)} ({len(reached) / len(tokens):.0%})",
        "queries with short answers": sum(bool(query.answers) for query in evals.queries.values()),
        **label_facts(evals),
        **prose.manner(evals),
    }
    return "\n".join(
        [
            "| what | count |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in rows.items()),
        ]
    )


def label_facts(evals: EvalSet) -> dict[str, str]:
    """Return what pool and second passes say of the labels, a row for each."""
    rows: dict[str, str] = {}
    judged = {(j.query_id, j.doc_id): j.relevance for j in evals.judgments}
    pool = evalset.read_extra(evals, "pool.jsonl")
    if pool:
        relevant = [p for p in pool if "first" in p and judged.get((p["query_id"], p["doc_id"]))]
        missed = sum(not pair.get("first") for pair in relevant)
        rows["pairs judged in the pool"] = str(len(pool))
        rows["relevant, missed by the first labelling"] = f"{missed} of {len(relevant)}"
    passes = evalset.read_extra(evals, "second_pass.jsonl")
    for number, reader in sorted({(pair["round"], pair.get("reader", "")) for pair in passes}):
        pairs = [p for p in passes if (p["round"], p.get("reader", "")) == (number, reader)]
        name = f"second pass, round {number:d}" + f", by a {inert(reader)}" * bool(reader)
        rows[name] = readings_agree(pairs, evals.grades)
    return rows


def readings_agree(pairs: list[dict], grades: tuple[int, ...]) -> str:
    """Return how well two readings agree, in all and by the first one's grade, and who read."""
    first, second = ([pair[name] for pair in pairs] for name in ("first", "second"))
    equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(pairs)
    kappa = stats.kappa(first, second, grades)
    shown = "undefined (one grade only)" if kappa is None else f"{kappa:.2f}"
    by_grade = (f"{g:d}: {n:.0%}" for g, n in stats.equal_by_grade(first, second).items())
    told = f"{text.how_many(len(pairs), 'pair')}, {equal:.1%} equal, Cohen's kappa {shown}; "
    told += "equal by first grade "
    told += ", ".join(by_grade)
    return told + "; " * bool(stats.by_whom(pairs)) + inert(stats.by_whom(pairs))
