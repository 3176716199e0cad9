"""Rankings on disk: chunk runs as JSON lines, document runs in TREC format, runs of any engine."""

import json
import math
from pathlib import Path
from typing import NamedTuple

from . import evalset, records

# The baseline of the week. Sessions B and C and the write-up read it here and nowhere else.
BASELINE = {
    "engine": "rank_bm25.BM25Okapi",
    "idf": "ln((N - df + 0.5) / (df + 0.5)), negative values become epsilon times the mean",
    "k1": 1.5,
    "b": 0.75,
    "epsilon": 0.25,
    "chunker": "fixed",
    "chunk_tokens": 512,
    "overlap_tokens": 50,
    "encoding": "cl100k_base",
    "to_documents": "best chunk of each document",
    "depth": 100,
}
LARGE = 4_000  # chunks above which rank_bm25 takes long and LARGE_ENGINE ranks instead
LARGE_ENGINE = "helpers.sparse.bm25"
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
    records.write_jsonl(path, rows)


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
    records.write(path, "".join(lines))


# The card beside a run says how it was made, so that nobody has to guess it later.

CARD = ("corpus_sha256", "topics_sha256")  # what every card holds


def write_card(path: Path, evals: evalset.EvalSet, said: dict) -> None:
    """Write what is `said` of a run, with the hashes of its documents and queries."""
    hashes = dict(zip(CARD, (evals.corpus_hash(), evals.topics_hash()), strict=True))
    records.write(path, json.dumps(said | hashes, indent=1, ensure_ascii=False) + "\n")


def read_card(path: Path, *more: str) -> dict:
    """Return a card. Raises EvalSetError where it is missing or lacks a hash or one of `more`."""
    problems: list[str] = []
    try:
        said = records.json_object(records.page(path, problems.append) or "{}")
    except ValueError as error:
        raise evalset.EvalSetError([f"{path}:1: {error}"]) from None
    missing = [name for name in CARD if not isinstance(said.get(name), str)]
    missing += [name for name in more if name not in said]
    if missing and not problems:
        wanted = ", ".join((*CARD, *more))
        problems.append(f"{path}:1: field {missing[0]} is missing, wanted {wanted}")
    if problems:
        raise evalset.EvalSetError(problems)
    return said


def save(
    evals: evalset.EvalSet,
    name: str,
    chunk_run: dict[str, Ranking],
    document_run: dict[str, Ranking],
    said: dict,
) -> None:
    """Write both rankings of a chunker and their card into `runs/`.

    `said` is what differs from BASELINE; None leaves a parameter out.
    """
    folder, said = evals.folder / "runs", {**BASELINE, "chunker": name, **said}
    write_chunk_run(folder / f"{name}.jsonl", chunk_run)
    write_trec(folder / f"{name}.trec", document_run, tag=f"bm25-{name}")
    said = {key: value for key, value in said.items() if value is not None}
    write_card(folder / f"{name}.json", evals, {**said, "tokenizer": evals.tokenizer})


def read_trec(path: Path) -> dict[str, Ranking]:
    """Read a TREC run that `write_trec` made, in the order of its scores."""
    run: dict[str, Ranking] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split()
        run.setdefault(query_id, []).append((doc_id, float(score)))
    return {query_id: in_order(ranking) for query_id, ranking in run.items()}


def in_order(ranking: Ranking) -> Ranking:
    """Return the ranking by score, rounded, descending; ties by id, ascending."""
    return sorted(ranking, key=lambda pair: (-round(pair[1], DECIMALS), pair[0]))


# Runs of other engines. Nothing is known about them, so everything is checked.


class Run(NamedTuple):
    """A run of documents, ready to be measured. `warnings` are lines for the reader."""

    name: str
    rankings: dict[str, Ranking]
    warnings: list[str]


def read_run(path: Path, evals: evalset.EvalSet) -> Run:
    """Read a run of documents or chunks, in TREC form or as JSON lines, from any engine.

    Chunks (`doc_id#n`) count as their document, which keeps its best score. Raises EvalSetError
    with file, line and remedy for every line that cannot be used.
    """
    problems: list[str] = []
    lines = records.lines(path, problems.append) if _is_file(path, problems) else ()
    found, warnings = {}, []
    parse = _json_line if path.suffix == ".jsonl" else _trec_line
    for place, line in lines:
        parse(place, line, evals, found, problems, warnings)
    if not found and not problems:
        problems.append(f"{path}:1: the file holds no results, wanted lines of a run: {TREC_LINE}")
    if problems:
        raise evalset.EvalSetError(problems)
    rankings = {q: _to_documents(rows, evals) for q, rows in found.items()}
    return Run(path.stem, rankings, warnings[:1] + _coverage(rankings, evals))


TREC_LINE = "query Q0 document rank score tag"
JSON_LINE = '{"query_id": ..., "results": [[id, score], ...]}'


def _is_file(path: Path, problems: list[str]) -> bool:
    what = "is a folder" if path.is_dir() else "" if path.exists() else "does not exist"
    if what:
        problems.append(f"{path}: {what}, wanted the file of a run (.trec, .txt, .run or .jsonl)")
    return not what


def _trec_line(place, line, evals, found, problems, warnings) -> None:
    fields = line.split()
    if len(fields) != 6:
        problems.append(f"{place}: found {len(fields)} fields, wanted 6: {TREC_LINE}")
        return
    query_id, _, doc_id, rank, score, _ = fields
    above = next(reversed(found.get(query_id, {}).values()), math.inf)
    _add(place, query_id, doc_id, score, evals, found, problems)
    if (_number(score) or 0) > above and rank.isdigit() and int(rank) > 1:
        warnings.append(
            f"{place}: the score rises although rank {rank} comes later; scores decide, "
            "so negate them if they are distances"
        )


def _json_line(place, line, evals, found, problems, warnings) -> None:
    try:
        row = json.loads(line)
        query_id, results = row["query_id"], [(i, s) for i, s in row["results"]]
    except (ValueError, KeyError, TypeError):
        problems.append(f"{place}: found {line[:60]!r}, wanted {JSON_LINE}")
        return
    if query_id in found:
        problems.append(f"{place}: query {query_id} stands already above, wanted one line each")
        return
    found.setdefault(query_id, {})
    for ranked_id, score in results:
        _add(place, query_id, ranked_id, score, evals, found, problems)


def _add(place, query_id, ranked_id, score, evals, found, problems) -> None:
    """Add one result to `found`, or say what is wrong with it."""
    value = _number(score)
    if query_id not in evals.queries:
        wanted = f"one of the {len(evals.queries)} ids of retrieval_queries.jsonl"
        problems.append(f"{place}: query {query_id} is unknown, wanted {wanted}")
    elif _document(ranked_id, evals) is None:
        wanted = f"one of the {len(evals.documents)} ids of the corpus, or id#n for a chunk"
        problems.append(f"{place}: document {ranked_id} is unknown, wanted {wanted}")
    elif value is None:
        problems.append(f"{place}: score {score!r} of {ranked_id}, wanted a finite number")
    elif ranked_id in found.get(query_id, {}):
        problems.append(f"{place}: {ranked_id} is ranked twice for query {query_id}, wanted once")
    else:
        found.setdefault(query_id, {})[ranked_id] = value


def _number(score) -> float | None:
    try:
        value = float(score)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and not isinstance(score, bool) else None


def _document(ranked_id: str, evals: evalset.EvalSet) -> str | None:
    """Return the document that a document id or chunk id names, None if there is none."""
    whole = ranked_id if ranked_id in evals.documents else str(ranked_id).rpartition("#")[0]
    return whole if whole in evals.documents else None


def _to_documents(scores: dict[str, float], evals: evalset.EvalSet) -> Ranking:
    """Return the documents by the best score among their ids, to the depth of the baseline."""
    best: dict[str, float] = {}
    for ranked_id, score in scores.items():
        doc_id = _document(ranked_id, evals)
        best[doc_id] = max(score, best.get(doc_id, -math.inf))
    return in_order(list(best.items()))[: BASELINE["depth"]]


def _coverage(rankings: dict[str, Ranking], evals: evalset.EvalSet) -> list[str]:
    """Return a warning about short rankings."""
    said = []
    deepest = max(len(ranking) for ranking in rankings.values())
    wanted = min(BASELINE["depth"], len(evals.documents))
    if deepest < wanted:
        said.append(
            f"at most {deepest} documents a query: measures below that depth (recall@100, AP) "
            f"are cut short, wanted {wanted}"
        )
    return said
