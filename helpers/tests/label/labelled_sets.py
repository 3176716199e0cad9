"""Sets that the tests of the audit break, and what they break them with."""

import json

from conftest import write_rows

from helpers.label import audit, manifest
from helpers.measure import evalset

BAD_SET = evalset.DEFAULT.parent / "notebooks" / "bad_set"
GUIDE = "Grade 0 is no help, 1 is a part, 2 is a whole answer. " + "Read it all first. " * 30


def by_check(folder):
    return {finding.check: finding for finding in audit.findings(evalset.load(folder))}


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def change(path, edit):
    """Rewrite a JSONL file: `edit` takes a row and returns it, changed, or None to drop it."""
    write_rows(path, *(row for row in map(edit, rows(path)) if row))


def complete(folder):
    """Return the two documents of conftest with everything that two documents can have."""
    first = {"query_id": "q1", "query": "server refuses to write logs", "kind": "symptom"}
    second = {"query_id": "q2", "query": "worker wanted", "kind": "keyword"}
    first |= {"relevant_doc_ids": ["disk-full"], "split": "dev", "popularity": "head"}
    second |= {"relevant_doc_ids": ["queue-full"], "split": "test", "popularity": "tail"}
    write_rows(folder / "retrieval_queries.jsonl", first, second)
    zero = {"query_id": "q2", "doc_id": "disk-full", "relevance": 0}
    write_rows(folder / "judgments.jsonl", *rows(folder / "judgments.jsonl"), zero)
    (folder / "labeling_guide.md").write_text(GUIDE)
    pairs = [("q1", "disk-full", 2), ("q1", "queue-full", 0), ("q2", "queue-full", 1)]
    names = ("first", "second", "final")
    again = [
        {"query_id": q, "doc_id": d, "round": 1, **dict.fromkeys(names, grade), "reason": ""}
        for q, d, grade in pairs
    ]
    write_rows(folder / "second_pass.jsonl", *again)
    near = {"query_id": "q1", "easy": [], "hard": ["queue-full"]}
    write_rows(folder / "negatives.jsonl", near, near | {"query_id": "q2", "hard": ["disk-full"]})
    manifest.write_manifest(evalset.load(folder), {"pool": 1})
    return folder


def document(folder, doc_id, body, service="disk"):
    page = f"---\ntitle: about {doc_id}\nkind: runbook\nservice: {service}\n---\n{body}\n"
    (folder / "corpus" / f"{doc_id}.md").write_text(page)
