"""Rankings on disk: chunk runs as JSON lines, document runs in TREC format."""

import json
from pathlib import Path

from . import evalset

# The baseline of the week. Sessions B and C and the write-up read it here and nowhere else.
BASELINE = {
    "engine": "rank_bm25.BM25Okapi",
    "idf": "ln((N - df + 0.5) / (df + 0.5)), negative values become epsilon times the mean",
    "k1": 1.5,
    "b": 0.75,
    "epsilon": 0.25,
    "words": r"re.findall(r'\w+', text.lower())",
    "chunker": "fixed",
    "chunk_tokens": 512,
    "overlap_tokens": 50,
    "encoding": "cl100k_base",
    "to_documents": "best chunk of each document",
    "depth": 100,
}
DECIMALS = 10  # scores that agree to this many decimals are a tie, and ties go by id
Ranking = list[tuple[str, float]]  # (id, score), best first


def check_order(query_id: str, ranking: Ranking) -> None:
    """Raise ValueError unless `ranking` is in order and holds each id once.

    The order is by score, rounded, descending; ties by id, ascending.
    """
    keys = [(-round(score, DECIMALS), found) for found, score in ranking]
    if keys != sorted(keys):
        raise ValueError(
            f"query {query_id}: ranking out of order, wanted score descending, then id ascending"
        )
    if len({found for found, _ in ranking}) < len(ranking):
        raise ValueError(f"query {query_id}: an id is ranked twice, wanted each once")


def write_chunk_run(path: Path, run: dict[str, Ranking]) -> None:
    """Write {query_id: [(chunk_id, score), ...]} as one JSON object a query."""
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
    rows = (
        {"query_id": q, "results": [[c, round(s, DECIMALS)] for c, s in ranking]}
        for q, ranking in run.items()
    )
    evalset.write_jsonl(path, rows)


def read_chunk_run(path: Path) -> dict[str, Ranking]:
    """Read a chunk run that `write_chunk_run` made."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["query_id"]: [tuple(pair) for pair in row["results"]] for row in rows}


def strictly_decreasing(ranking: Ranking) -> Ranking:
    """Return the ranking with tied scores pulled apart downwards: every tool then reads one order.

    TREC tools sort by score and break ties by rules of their own; some keep only 32-bit floats.
    A step of one millionth of the score survives that; n tied documents move the last by
    n millionths.
    """
    apart: Ranking = []
    for found, score in ranking:
        ceiling = apart[-1][1] - 1e-6 * max(1.0, abs(apart[-1][1])) if apart else score
        apart.append((found, min(score, ceiling)))
    return apart


def write_trec(path: Path, run: dict[str, Ranking], tag: str) -> None:
    """Write {query_id: [(doc_id, score), ...]} as lines of a TREC run, ties pulled apart.

    A line is `query Q0 doc rank score tag`.
    """
    lines = []
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
        for rank, (doc_id, score) in enumerate(strictly_decreasing(ranking), 1):
            lines.append(f"{query_id} Q0 {doc_id} {rank} {score:.{DECIMALS}f} {tag}\n")
    evalset.write(path, "".join(lines))


def read_trec(path: Path) -> dict[str, Ranking]:
    """Read a TREC run into {query_id: [(doc_id, score), ...]}, in the order of its scores."""
    run: dict[str, Ranking] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split()
        run.setdefault(query_id, []).append((doc_id, float(score)))
    return {
        query_id: sorted(ranking, key=lambda pair: (-pair[1], pair[0]))
        for query_id, ranking in run.items()
    }
