"""Labels in the forms that other tools read: CSV, Parquet, BEIR, TREC qrels."""

import json
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from ..measure import files
from ..measure.evalset import EvalSet
from ..measure.installation import remedy
from . import write

PARQUET = "labels.parquet"
COLUMNS = ["query_id", "query_text", "doc_id", "relevance", "split", "evidence"]


def labels(evals: EvalSet) -> pd.DataFrame:
    """Return every judgment as a row of COLUMNS; its evidence as JSON, as in judgments.jsonl.

    Queries without an answer, or that wait for one, are left out: tools would count them as 0 in
    every mean.
    """
    rows = []
    for query_id, doc_id, relevance, evidence in evals.judgments:
        if query := evals.queries.get(query_id):
            quotes = json.dumps(evidence)
            rows.append((query_id, query.query, doc_id, relevance, query.split, quotes))
    return pd.DataFrame(sorted(rows), columns=COLUMNS)


def write_exports(evals: EvalSet, to: Path) -> list[Path]:
    """Write every form into the new folder `to` and return the paths.

    Say which queries have no labels there. Raises EvalSetError where `to` holds anything.
    """
    to, table = write.empty_folder(to), labels(evals)
    if evals.unanswered:
        print(f"no document answers, so without labels: {', '.join(evals.unanswered)}")
    if evals.waiting:
        print(f"no label yet: {', '.join(evals.waiting)}")
    with files.new_folder(to) as folder:
        _write_csv(folder / "labels.csv", table)
        if find_spec("duckdb"):
            with files.database() as tables:
                tables.from_df(table).write_parquet(str(folder / PARQUET))
        else:
            print(f"without {PARQUET}: {remedy('duckdb')}")
        lines = (f"{row.query_id} 0 {row.doc_id} {row.relevance}\n" for row in table.itertuples())
        files.write(folder / "qrels.trec", "".join(lines))
        write_beir(evals, table, folder / "beir")
    return sorted(path for path in to.rglob("*") if path.is_file())


def write_beir(evals: EvalSet, table: pd.DataFrame, folder: Path) -> None:
    """Write corpus.jsonl, all queries and qrels/SPLIT.tsv as BEIR does (Thakur et al. 2021)."""
    documents = [
        {"_id": d.doc_id, "title": d.title, "text": d.text, "metadata": {}}
        for d in evals.documents.values()
    ]
    files.write_jsonl(folder / "corpus.jsonl", documents)
    queries = []
    for query in evals.all_queries.values():
        row = {"_id": query.query_id, "text": query.query}
        marks = {"language": query.language, "round": query.round}
        if any(marks.values()):
            row["metadata"] = {name: mark for name, mark in marks.items() if mark}
        queries.append(row)
    files.write_jsonl(folder / "queries.jsonl", queries)
    names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
    for split, rows in table.groupby("split"):
        qrels = rows[[*names]].rename(columns=names)
        _write_csv(folder / "qrels" / f"{split}.tsv", qrels, sep="\t")


def _write_csv(path: Path, table: pd.DataFrame, **form) -> None:
    files.write(path, table.to_csv(index=False, lineterminator="\n", **form))
