"""Queries that a model drafts elsewhere from pages of a set, and that a person accepts."""

import hashlib
import json
from pathlib import Path
from string import Template

import numpy as np

from ..measure import evalset, files, stats
from ..measure.evalset import EvalSet, Query
from ..measure.text import how_many
from .labelling import LOG, QUERY_TABLE, lock_log

TEMPLATE = Path(__file__).with_name("draft_prompt.txt")
PROMPTS, PROPOSED = "prompts.jsonl", "proposed.jsonl"
DRAFTED = "drafted"  # kind of such a query, so that its means stand apart


def prompts_command(folder: Path, sample: int = 20, take: bool = False) -> list[str]:
    """Write prompts for a sample of pages or, with `take`, take over what a person accepted."""
    if take:
        with lock_log(folder / LOG):
            return take_accepted(evalset.load(folder))
    return [write_prompts(evalset.load(folder), sample)]


def write_prompts(evals: EvalSet, sample: int) -> str:
    """Write prompts.jsonl: a prompt for each of `sample` pages that answer no query yet."""
    answers = evals.relevant_documents
    others = [doc_id for doc_id in evals.documents if doc_id not in answers]
    template, rows = Template(TEMPLATE.read_text(encoding="utf-8")), []
    for n in np.random.default_rng(stats.SEED).permutation(len(others))[:sample]:
        body = evals.documents[others[n]].retrieval_text
        prompt = template.substitute(doc_id=json.dumps(others[n]), document=body)
        rows.append({"doc_id": others[n], "prompt": prompt})
    files.write_jsonl(evals.folder / PROMPTS, rows)
    return f"{evals.folder / PROMPTS}: {how_many(rows, 'prompt')}; answers go to {PROPOSED}"


def take_accepted(evals: EvalSet) -> list[str]:
    """Add the accepted queries of proposed.jsonl to the set, where they wait for labels.

    Each row there gets its `word_overlap` with its page. What the set asks already isn't added
    again. Raises EvalSetError with file and line, and writes nothing then.
    """
    path, table, rows = evals.folder / PROPOSED, evals.folder / QUERY_TABLE, []
    for row in evalset.read_extra(evals, PROPOSED):
        overlap = evals.word_overlap(Query("", row["query"], (row["doc_id"],)))
        rows.append(row | {"word_overlap": round(overlap, 2)})
    if not rows:
        wanted = 'wanted lines such as {"doc_id": "refunds", "query": "money back"}'
        raise evalset.EvalSetError(f"{path}: found no queries, {wanted}")
    asked = {query.query for query in evals.all_queries.values()}
    new = {row["query"] for row in rows if row.get("accepted")} - asked
    queries = [row for _, row in files.read(table)]
    for query in sorted(new):
        query_id = f"{DRAFTED}-{hashlib.sha256(query.encode()).hexdigest()[:8]}"
        row = {"query_id": query_id, "query": query, "relevant_doc_ids": []}
        queries.append(row | {"kind": DRAFTED, "split": "dev"})
    if new:
        files.write_jsonl(table, queries)
    files.write_jsonl(path, rows)
    mean = sum(row["word_overlap"] for row in rows) / len(rows)
    told = f"{how_many(rows, 'query')}, word_overlap with their pages {mean:.2f} on average"
    return [f"{path}: {told}", f"{table}: {len(new)} more"]
