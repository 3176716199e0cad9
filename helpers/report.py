"""What people read of the results: the summary, the data card's facts, the rendered page."""

import html as escape
from collections import Counter
from statistics import median

import nbformat
from nbconvert import HTMLExporter
from sklearn.metrics import cohen_kappa_score

from . import text
from .evalset import EvalSet, read_extra

STYLE = """
:root { color-scheme: light; }
body { color: #1b1f24; background: #fff; font: 17px/1.55 Georgia, 'Times New Roman', serif;
  margin: 0 auto; max-width: 46rem; padding: 1.5rem 1.1rem 4rem; overflow-wrap: break-word; }
h1, h2, h3, table, figcaption { font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.4rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .2rem; } h3 + p { margin-top: 0; }
table { border-collapse: collapse; font-size: .82rem; margin: 1rem 0; display: block;
  overflow-x: auto; font-variant-numeric: tabular-nums; max-width: 100%; }
th, td { border-bottom: 1px solid #d8dde3; padding: .3rem .7rem .3rem 0; text-align: right;
  vertical-align: top; }
th { font-weight: 600; } tbody th, table.text td, table.text th { text-align: left; }
code { font-size: .88em; } img { max-width: 100%; height: auto; }
blockquote { border-left: 3px solid #e08e45; margin: .8rem 0 0; padding-left: .8rem; }
blockquote p { margin: 0; }
.anchor-link, .prompt, .jp-InputPrompt, .jp-OutputPrompt { display: none; }
@media print { @page { size: A4; margin: 18mm; }
  body { font-size: 10.5pt; max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; } img, tr, p { break-inside: avoid; } table { display: table; } }
"""


def html(notebook: nbformat.NotebookNode) -> str:
    """Return the executed notebook as one page without code or requests to the network."""
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    body, _ = exporter.from_notebook_node(notebook)
    title = (
        next(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        .splitlines()[0]
        .lstrip("# ")
    )
    head = (
        '<meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style>"
    )
    head = f"<head><title>{escape.escape(title)}</title>{head}</head>"
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n<body>\n{body}\n</body>\n</html>\n'


def summary(results: dict) -> str:
    """Return the baseline as a Markdown table with what it was measured on, a row for each half."""
    corpus, queries, method = results["corpus"], results["queries"], results["method"]
    names = ["nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100"]
    rows = [
        ["half", "n", *names, "median rank of first relevant"],
        ["---", *["---:"] * (len(names) + 2)],
    ]
    for split, row in results["summary"].items():
        middle = row["median_first_rank"]
        values = [f"{row['measures'][name]:.3f}" for name in names]
        rows.append(
            [
                split,
                str(row["n"]),
                *values,
                f"{middle:g}" if middle else f"none within {method['depth']}",
            ]
        )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"Corpus: {corpus['name']}, {corpus['documents']} documents, {corpus['tokens']:,} tokens. "
        f"Queries: {queries['n']}, labelled with {queries['judgments']} judgments "
        "(grades 0, 1, 2).\n"
        f"Method: {method['engine']} (k1 = {method['k1']}, b = {method['b']}) "
        f"over chunks of {method['chunk_tokens']} tokens with {method['overlap_tokens']} overlap, "
        f"best chunk of each document. nDCG with linear gain.\n\n{table}"
    )


def facts(evals: EvalSet) -> str:
    """Return the counts of the data card as a Markdown table."""
    tokens = [len(text.token_ids(doc.retrieval_text)) for doc in evals.documents.values()]
    grades = Counter(judgment.relevance for judgment in evals.judgments)
    reached = {judgment.doc_id for judgment in evals.judgments if judgment.relevance}
    splits = Counter(query.split for query in evals.queries.values())
    rows = {
        "documents": f"{len(tokens)} of "
        f"{len({d.kind for d in evals.documents.values()})} kinds about "
        f"{len({d.service for d in evals.documents.values()})} services",
        "tokens (cl100k_base)": f"{sum(tokens):,}: "
        f"shortest document {min(tokens)}, median {median(tokens):.0f}, longest {max(tokens):,}",
        "queries": f"{len(evals.queries)}: "
        + ", ".join(f"{n} {split}" for split, n in sorted(splits.items())),
        "judgments": f"{len(evals.judgments)}: "
        + ", ".join(f"{n} of grade {grade}" for grade, n in sorted(grades.items())),
        "documents reached by a query": f"{len(reached)} ({len(reached) / len(tokens):.0%})",
        "queries with short answers": str(
            sum(bool(query.answers) for query in evals.queries.values())
        ),
        **label_facts(evals),
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
    rows, qrels = {}, evals.qrels()
    pool = read_extra(evals, "pool.jsonl")
    if pool:
        relevant = [p for p in pool if qrels[p["query_id"]].get(p["doc_id"])]
        missed = sum(not pair.get("first") for pair in relevant)
        rows["pairs judged in the pool"] = str(len(pool))
        rows["relevant, missed by the first labelling"] = f"{missed} of {len(relevant)}"
    passes = read_extra(evals, "second_pass.jsonl")
    for number in sorted({pair["round"] for pair in passes}):
        first, second = zip(
            *((p["first"], p["second"]) for p in passes if p["round"] == number), strict=True
        )
        equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
        kappa = cohen_kappa_score(first, second)
        agreement = f"{len(first)} pairs, {equal:.1%} equal, Cohen's kappa {kappa:.2f}"
        rows[f"second pass, round {number}"] = agreement
    return rows
