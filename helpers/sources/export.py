"""Labels in the forms that other tools read: CSV, Parquet, BEIR, TREC qrels."""

import csv
import io
import re
from pathlib import Path

import ir_measures
import pandas as pd

from .. import evalset, files
from ..files import EvalSetError
from .readers import Log, array, database

FORMS = ("labels.csv", "labels.parquet", "qrels.trec", "beir/corpus.jsonl", "beir/queries.jsonl")
QRELS = re.compile(r"beir/qrels/[^/]+\.tsv")
REPLACES = "wanted a new or an empty folder, or one of a former export, which is replaced"
COLUMNS = ["query_id", "query_text", "doc_id", "relevance", "split"]


def labels(evals: evalset.EvalSet) -> pd.DataFrame:
    """Return every judgment as a row: query_id, query_text, doc_id, relevance, split.

    Queries without an answer are left out: tools would count them as 0 in every mean.
    """
    rows = [
        (
            j.query_id,
            evals.queries[j.query_id].query,
            j.doc_id,
            j.relevance,
            evals.queries[j.query_id].split,
        )
        for j in evals.judgments
        if j.query_id in evals.queries
    ]
    return pd.DataFrame(sorted(rows), columns=COLUMNS)


def write_exports(evals: evalset.EvalSet, to: Path) -> list[Path]:
    """Write every form below `to`, a new folder or the whole of a former export; return the paths.

    Raises EvalSetError where `to` holds anything else, and ValueError if a form does not read back
    as it was written; then `to` is as before.
    """
    to, table = to.resolve(), labels(evals)
    _refuse_strange(to)
    with files.new_folder(to) as folder:
        csv_text = table.to_csv(index=False, lineterminator="\n", quoting=_quoting(table))
        files.write(folder / "labels.csv", csv_text)
        with database() as tables:
            tables.from_df(table).write_parquet(str(folder / "labels.parquet"))
        write_beir(evals, table, folder / "beir")
        lines = (f"{row.query_id} 0 {row.doc_id} {row.relevance}\n" for row in table.itertuples())
        files.write(folder / "qrels.trec", "".join(lines))
        for name, found in read_back(folder).items():
            if found != expected(table):
                raise ValueError(f"{to / name}: does not read back as it was written")
    return sorted(path for path in to.rglob("*") if path.is_file())


def _refuse_strange(to: Path) -> None:
    """Raise EvalSetError where a path holds anything but an export: it would be lost."""
    if to.exists() and not to.is_dir():
        raise EvalSetError([f"{to}: is a file, {REPLACES}"])
    held = sorted(path for path in to.rglob("*") if path.is_symlink() or not path.is_dir())
    inside = [path.relative_to(to).as_posix() for path in held]
    strange = [name for name in inside if not (name in FORMS or QRELS.fullmatch(name))]
    missing = [f"no {name}" for name in FORMS if inside and name not in inside]
    if strange or missing:
        raise EvalSetError([f"{to}: found {[*strange, *missing][0]}, {REPLACES}"])


def _quoting(table: pd.DataFrame) -> int:
    """Return how cells are quoted: all where a carriage return, alone, would end a line."""
    lone = table["query_text"].str.contains("\r", regex=False).any()
    return csv.QUOTE_ALL if lone else csv.QUOTE_MINIMAL


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
        tsv = rows[["query_id", "doc_id", "relevance"]].set_axis(
            ["query-id", "corpus-id", "score"], axis=1
        )
        files.write(
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
