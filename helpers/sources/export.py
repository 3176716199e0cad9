"""Labels in the forms that other tools read: CSV, Parquet, BEIR, TREC qrels."""

import csv
import io
from pathlib import Path

import ir_measures
import pandas as pd

from .. import evalset, records
from .files import Log, array, database

COLUMNS = ["query_id", "query_text", "doc_id", "relevance", "split"]


def labels(evals: evalset.EvalSet) -> pd.DataFrame:
    """Return every judgment as a row: query_id, query_text, doc_id, relevance, split."""
    rows = [
        (
            j.query_id,
            evals.queries[j.query_id].query,
            j.doc_id,
            j.relevance,
            evals.queries[j.query_id].split,
        )
        for j in evals.judgments
    ]
    return pd.DataFrame(sorted(rows), columns=COLUMNS)


def write_exports(evals: evalset.EvalSet, folder: Path) -> list[Path]:
    """Write every form below `folder`, read each back and return the paths.

    Raises ValueError if one does not hold what was written.
    """
    table = labels(evals)
    folder.mkdir(parents=True, exist_ok=True)
    records.write(folder / "labels.csv", table.to_csv(index=False, lineterminator="\n"))
    with database() as tables:
        tables.from_df(table).write_parquet(str(folder / "labels.parquet"))
    write_beir(evals, table, folder / "beir")
    lines = (f"{row.query_id} 0 {row.doc_id} {row.relevance}\n" for row in table.itertuples())
    records.write(folder / "qrels.trec", "".join(lines))
    for name, found in read_back(folder).items():
        if found != expected(table):
            raise ValueError(f"{folder / name}: does not read back as it was written")
    return sorted(path for path in folder.rglob("*") if path.is_file())


def write_beir(evals: evalset.EvalSet, table: pd.DataFrame, folder: Path) -> None:
    """Write corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv as BEIR does (Thakur et al. 2021)."""
    documents = evals.documents.values()
    records.write_jsonl(
        folder / "corpus.jsonl",
        ({"_id": d.doc_id, "title": d.title, "text": d.text, "metadata": {}} for d in documents),
    )
    records.write_jsonl(
        folder / "queries.jsonl",
        ({"_id": q.query_id, "text": q.query} for q in evals.queries.values()),
    )
    for split, rows in table.groupby("split"):
        tsv = rows[["query_id", "doc_id", "relevance"]].set_axis(
            ["query-id", "corpus-id", "score"], axis=1
        )
        records.write(
            folder / "qrels" / f"{split}.tsv",
            tsv.to_csv(sep="\t", index=False, lineterminator="\n"),
        )


def expected(table: pd.DataFrame) -> set[tuple[str, str, int]]:
    """Return the (query_id, doc_id, relevance) triples of a label table."""
    return {*table[["query_id", "doc_id", "relevance"]].itertuples(index=False, name=None)}


def read_back(folder: Path) -> dict[str, set[tuple[str, str, int]]]:
    """Return the triples that each exported form holds, read by the tools that others would use."""
    text = {"query_id": str, "doc_id": str}
    beir = [
        (row["query-id"], row["corpus-id"], int(row["score"]))
        for path in (folder / "beir" / "qrels").glob("*.tsv")
        for row in csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")), delimiter="\t")
    ]
    trec = ir_measures.read_trec_qrels(str(folder / "qrels.trec"))
    return {
        "labels.csv": expected(
            pd.read_csv(folder / "labels.csv", dtype=text, keep_default_na=False)
        ),
        "labels.parquet": {
            (row["query_id"], row["doc_id"], row["relevance"])
            for _, row in array(folder / "labels.parquet", Log())
        },
        "beir": set(beir),
        "qrels.trec": {(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in trec},
    }
