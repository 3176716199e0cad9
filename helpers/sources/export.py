"""Labels in the forms that other tools read: CSV, Parquet, BEIR, TREC qrels."""

import csv
import re
from pathlib import Path

import pandas as pd

from .. import evalset, files
from ..files import EvalSetError

FORMS = ("labels.csv", "labels.parquet", "qrels.trec", "beir/corpus.jsonl", "beir/queries.jsonl")
QRELS = re.compile(r"beir/qrels/[^/]+\.tsv")
REPLACES = "wanted a new or an empty folder, or one of a former export, which is replaced"
COLUMNS = ["query_id", "query_text", "doc_id", "relevance", "split"]


def labels(evals: evalset.EvalSet) -> pd.DataFrame:
    """Return every judgment as a row: query_id, query_text, doc_id, relevance, split.

    Queries without an answer are left out: tools would count them as 0 in every mean.
    """
    rows = [
        (j.query_id, query.query, j.doc_id, j.relevance, query.split)
        for j in evals.judgments
        if (query := evals.queries.get(j.query_id))
    ]
    return pd.DataFrame(sorted(rows), columns=COLUMNS)


def write_exports(evals: evalset.EvalSet, to: Path) -> list[Path]:
    """Write every form below `to`, a new folder or the whole of a former export; return the paths.

    Raises EvalSetError where `to` holds anything else: it would be lost.
    """
    to, table = to.resolve(), labels(evals)
    if to.exists() and not to.is_dir():
        raise EvalSetError([f"{to}: is a file, {REPLACES}"])
    held = sorted(path for path in to.rglob("*") if path.is_symlink() or not path.is_dir())
    names = [path.relative_to(to).as_posix() for path in held]
    strange = [name for name in names if not (name in FORMS or QRELS.fullmatch(name))]
    missing = [f"no {name}" for name in FORMS if names and name not in names]
    if strange or missing:
        raise EvalSetError([f"{to}: found {[*strange, *missing][0]}, {REPLACES}"])
    with files.new_folder(to) as folder:
        lone = table["query_text"].str.contains("\r", regex=False).any()  # would end a line
        quoting = csv.QUOTE_ALL if lone else csv.QUOTE_MINIMAL
        text = table.to_csv(index=False, lineterminator="\n", quoting=quoting)
        files.write(folder / "labels.csv", text)
        with files.database() as tables:
            tables.from_df(table).write_parquet(str(folder / "labels.parquet"))
        lines = (f"{row.query_id} 0 {row.doc_id} {row.relevance}\n" for row in table.itertuples())
        files.write(folder / "qrels.trec", "".join(lines))
        write_beir(evals, table, folder / "beir")
    return sorted(path for path in to.rglob("*") if path.is_file())


def write_beir(evals: evalset.EvalSet, table: pd.DataFrame, folder: Path) -> None:
    """Write corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv as BEIR does (Thakur et al. 2021)."""
    documents = evals.documents.values()
    files.write_jsonl(
        folder / "corpus.jsonl",
        ({"_id": d.doc_id, "title": d.title, "text": d.text, "metadata": {}} for d in documents),
    )
    files.write_jsonl(
        folder / "queries.jsonl",
        ({"_id": q.query_id, "text": q.query} for q in evals.queries.values()),
    )
    for split, rows in table.groupby("split"):
        qrels = rows[["query_id", "doc_id", "relevance"]]
        qrels = qrels.set_axis(["query-id", "corpus-id", "score"], axis=1)
        tsv = qrels.to_csv(sep="\t", index=False, lineterminator="\n")
        files.write(folder / "qrels" / f"{split}.tsv", tsv)
