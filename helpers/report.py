"""What people read of the results: the summary, the data card's facts, the rendered page."""

import html as escape
import json
import math
from collections import Counter
from pathlib import Path
from statistics import median

import nbformat
from nbconvert import HTMLExporter
from sklearn.metrics import cohen_kappa_score

from . import compare, figures, measures, runs, stats, text
from .evalset import DEFAULT, EvalSet, notes, read_extra
from .records import SPLITS, write

ROOT = DEFAULT.parent
SAY = (
    "I can implement nDCG and MRR without looking them up.",
    "I can defend starting with BM25.",
    "I have a measured baseline.",
)
METRICS = "reciprocal_rank hit recall average_precision dcg ndcg".split()

STYLE = """
:root { color-scheme: light; }
body { color: #1b1f24; background: #fff; font: 17px/1.55 Georgia, 'Times New Roman', serif;
  margin: 0 auto; max-width: 46rem; padding: 1.5rem 1.1rem 4rem; overflow-wrap: break-word; }
h1, h2, h3, h4, table { font-family: system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; } h2 { font-size: 1.3rem; margin-top: 2.4rem; }
h3, h4 { font-size: 1rem; margin: 1.6rem 0 .2rem; }
h3 + p, h4 + p { margin-top: 0; }
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
  h2, h3, h4 { break-after: avoid; } img, table, p { break-inside: avoid; }
  table { display: table; } }
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


def results(evals: EvalSet, run: dict, values: dict, compared: dict, cards: list[dict]) -> dict:
    """Return the content of results.json: what was measured on what, in total and by query.

    `run` and `values` are keyed by query id, `compared` comes from compare.compare, `cards` from
    session C.
    """
    made = runs.read_card(evals.folder / "runs" / f"{runs.BASELINE['chunker']}.json")
    method = {name: made[name] for name in runs.BASELINE}
    halves = {split: {q: values[q] for q in evals.qrels(split)} for split in SPLITS}
    halves = {split: rows for split, rows in halves.items() if rows}
    tokens = sum(len(text.token_ids(doc.retrieval_text)) for doc in evals.documents.values())
    return {
        "corpus": {
            "name": evals.name,
            "documents": len(evals.documents),
            "tokens": tokens,
            "sha256": evals.corpus_hash(),
        },
        "queries": {
            "n": len(evals.queries),
            "judgments": len(evals.judgments),
            "grades": evals.grades,
            "sha256": evals.queries_hash(),
        },
        "method": {**method, "words": text.TOLD[made["tokenizer"]]},
        "summary": {split: _half(rows) for split, rows in halves.items()},
        "by_kind": {split: _kinds(evals, rows) for split, rows in halves.items()},
        "compared_dev": compared,
        "cards": cards,
        "per_query": [_query_row(evals, q, run, values) for q in evals.queries],
    }


def _half(rows: dict[str, dict[str, float]]) -> dict:
    """Return n, means, 95 % bootstrap intervals, median first rank (null: most found nothing)."""
    middle = measures.median_first_rank(rows)
    intervals = {
        measures.MEAN_NAMES.get(name, name): stats.bootstrap_interval(
            [row[name] for row in rows.values()]
        )
        for name in compare.MEASURES
    }
    return {
        "n": len(rows),
        "measures": measures.means(rows),
        "intervals": intervals,
        "median_first_rank": middle if middle < math.inf else None,
    }


def _kinds(evals: EvalSet, rows: dict[str, dict[str, float]]) -> dict:
    """Return n and means for each kind of query among `rows`."""
    by_kind: dict[str, dict] = {}
    for query_id, row in rows.items():
        by_kind.setdefault(evals.queries[query_id].kind, {})[query_id] = row
    return {
        kind: {"n": len(found), "measures": measures.means(found)}
        for kind, found in sorted(by_kind.items())
    }


def _query_row(evals: EvalSet, query_id: str, run: dict, values: dict) -> dict:
    """Return what is known about one query: labels, first ten documents, measures."""
    query, grades = evals.queries[query_id], evals.qrels()[query_id]
    return {
        **{name: getattr(query, name) for name in ("query_id", "query", "kind", "split")},
        "relevant": {doc_id: grade for doc_id, grade in grades.items() if grade > 0},
        "retrieved": run.get(query_id, [])[:10],
        "first_rank": measures.first_rank(values[query_id]),
        "measures": values[query_id],
    }


def card(found: dict, evals: EvalSet, row: dict, notes: dict[str, str]) -> str:
    """Return one failure card as Markdown: places, cause where it is named, words, the note.

    `row` holds the measures and the first ten results of the query.
    """
    query, order = evals.queries[found["query_id"]], [doc_id for doc_id, _ in row["retrieved"]]
    place = {doc_id: f"rank {rank}" for rank, doc_id in enumerate(order, 1)}
    cause = f"; cause: **{found['cause']}**" if "cause" in found else ""
    lines = [
        f"#### {query.query_id}: {figures.marked(query.query, set())}\n",
        f"{query.kind}; nDCG@10 {row['measures']['nDCG@10']:.3f}{cause}.  ",
        f"Wanted: `{found['wanted']}` ({place.get(found['wanted'], 'after rank 10')}).  ",
        f"Rival: `{found['rival']}` ({place.get(found['rival'], 'after rank 10')}).  ",
        f"The wanted document lacks: {', '.join(found['lacks']) or 'no word'}.\n",
        *_weights(found),
    ]
    read = [f"\n> {notes[query.query_id]}"] if query.query_id in notes else []
    return "\n".join(lines + read)


def _weights(found: dict) -> list[str]:
    """Return the words and the scores of a card as lines of a table, common words marked."""
    rows = [
        f"| {word}{' (common)' if word in found['common'] else ''} | "
        f"{'unknown' if idf is None else f'{idf:.2f}'} | {wanted:.2f} | {rival:.2f} |"
        for word, idf, wanted, rival in found["words"]
    ]
    for name in ("score", "best of all chunks", "without length"):
        wanted, rival = found[name]
        rows.append(f"| *{name}* | | {wanted:.2f} | {rival:.2f} |")
    return ["| word | IDF | gave wanted | gave rival |\n|:---|---:|---:|---:|", *rows]


def write_results(folder: Path, found: dict) -> None:
    """Write results.json, numbers rounded to 10 decimals so that every machine writes the same."""
    content = json.dumps(_rounded(found), indent=1, ensure_ascii=False)
    write(folder / "results.json", content + "\n")


def _rounded(value):
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return round(value, 10) if isinstance(value, float) else value


def week(evals: EvalSet, passed: set[str]) -> str:
    """Return the checklist of the week as Markdown; `passed` are functions that passed checks."""
    queries, reached = len(evals.queries), {j.doc_id for j in evals.judgments if j.relevance}
    share = len(reached) / len(evals.documents)
    saved = sorted(path.stem for path in (evals.folder / "runs").glob("*.trec"))
    path = evals.folder / "results.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    fresh = found.get("corpus", {}).get("sha256") == evals.corpus_hash()
    fresh = fresh and found["queries"]["sha256"] == evals.queries_hash()
    right = [name for name in METRICS if name in passed]
    pages = [evals.folder / "README.md", evals.folder / "notes.md"]
    if evals.folder.parent.name != "learn":  # the workbook's own page tells nothing of a learner
        pages.append(ROOT / "README.md")
    texts = [page.read_text(encoding="utf-8") for page in pages if page.exists()]
    told = any("nDCG@10" in page and evals.name in page for page in texts)
    read = [q for q in notes(evals.folder) if q in evals.queries]
    rows = [
        (bool(evals.documents), f"a corpus: {len(evals.documents)} documents"),
        (queries >= 30, f"30 labelled queries or more: {queries}"),
        (share >= 0.5, f"coverage of 50 % or more: {100 * share:.0f} %"),
        (len(saved) >= 3, f"retrievals saved: {', '.join(saved) or 'none, run session B'}"),
        (right == METRICS, f"metrics pass their checks: {len(right)} of {len(METRICS)}"),
        (fresh, "results.json holds the scores of these documents and labels"),
        (told, f"the baseline told in a README or in notes.md: nDCG@10 of {evals.name}"),
        (len(read) >= 5, f"failure modes written down in notes.md: {len(read)} queries, wanted 5"),
    ]
    lines = [f"- {'[x]' if done else '[ ]'} {words}" for done, words in rows]
    return "\n".join([*lines, "\nSay of yourself, truthfully:\n", *(f"- {say}" for say in SAY)])


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
        f"(grades {', '.join(map(str, queries['grades']))}).\n"
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
