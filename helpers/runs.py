"""Rankings on disk: chunk runs as JSON lines, document runs in TREC format, runs of any engine."""

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from . import evalset, files
from .text import how_many

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


def documents_to_rank(evals: evalset.EvalSet) -> list[evalset.Document]:
    """Return the documents that a lesson ranks without an index: of a large corpus the first."""
    return [*evals.documents.values()][:LARGE]


def check_order(query_id: str, ranking: Ranking) -> None:
    """Raise ValueError unless `ranking` is in order and holds each id once.

    The order is by score, rounded, descending; ties by id, ascending.
    """
    if ranking != in_order(ranking):
        raise ValueError(
            f"query {query_id}: ranking out of order, wanted score descending, then id ascending"
        )
    if len(dict(ranking)) < len(ranking):
        raise ValueError(f"query {query_id}: an id is ranked twice, wanted each once")


def in_order(ranking: Ranking) -> Ranking:
    """Return the ranking by score, rounded, descending; ties by id, ascending."""
    return sorted(ranking, key=lambda pair: (-round(pair[1], DECIMALS), pair[0]))


def strictly_decreasing(ranking: Ranking) -> Ranking:
    """Return the ranking with tied scores pulled apart downwards: every tool then reads one order.

    TREC tools sort by score and break ties by rules of their own; some keep only 32-bit floats.
    A step of one millionth of the score survives that; n tied documents move the last by
    n millionths.
    """
    apart: Ranking = []
    for ranked_id, score in ranking:
        ceiling = apart[-1][1] - 1e-6 * max(1.0, abs(apart[-1][1])) if apart else score
        apart.append((ranked_id, min(score, ceiling)))
    return apart


# Files of runs. Our own are read for their form alone.


def write_chunk_run(path: Path, run: dict[str, Ranking]) -> None:
    """Write {query_id: [(chunk_id, score), ...]} as one JSON object a query.

    Raises ValueError for a ranking out of order.
    """
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
    rounded = {q: [[c, round(score, DECIMALS)] for c, score in run[q]] for q in run}
    files.write_jsonl(path, ({"query_id": q, "results": rounded[q]} for q in run))


def write_trec(path: Path, run: dict[str, Ranking], tag: str) -> None:
    """Write {query_id: [(doc_id, score), ...]} as lines of a TREC run, ties pulled apart.

    A line is `query Q0 doc rank score tag`. Raises ValueError for a ranking out of order.
    """
    lines = []
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
        for rank, (doc_id, score) in enumerate(strictly_decreasing(ranking), 1):
            lines.append(f"{query_id} Q0 {doc_id} {rank} {score:.{DECIMALS}f} {tag}\n")
    files.write(path, "".join(lines))


def read_own(path: Path) -> dict[str, Ranking]:
    """Read a run that `write_chunk_run` or `write_trec` made, in the order of its scores.

    Raises EvalSetError for anything else.
    """
    run: dict[str, Ranking] = {}
    problems: list[str] = []
    for _, query_id, results in _lines(path, problems):
        run.setdefault(query_id, []).extend(results)
    if problems:
        raise evalset.EvalSetError(problems)
    return {query_id: in_order(ranking) for query_id, ranking in run.items()}


read_chunk_run = read_trec = read_own

TREC_LINE = "query Q0 document rank score tag"
JSON_LINE = '{"query_id": ..., "results": [[id, score], ...]}'
SPAN = '{"doc_id": ..., "start": ..., "end": ..., "score": ...}'


def _lines(path: Path, problems: list[str]) -> Iterator[tuple[str, str, Ranking]]:
    """Yield (file:line, query id, results) of each line; what is wrong goes into `problems`."""
    parse = _json_line if path.suffix == ".jsonl" else _trec_line
    for place, line in files.lines(path, problems):
        try:
            query_id, results = parse(line)
        except ValueError as error:
            problems.append(f"{place}: {error}")
            continue
        ranking: Ranking = []
        for ranked_id, score in results:
            number = _number(score)
            if math.isfinite(number):
                ranking.append((str(ranked_id), number))
            else:
                wanted = "wanted a finite number"
                problems.append(f"{place}: score {score!r} of {ranked_id}, {wanted}")
        yield place, query_id, ranking


def _trec_line(line: str) -> tuple[str, list[tuple]]:
    fields = line.split()
    if len(fields) != 6:
        raise ValueError(f"found {how_many(len(fields), 'field')}, wanted 6: {TREC_LINE}")
    return fields[0], [(fields[2], fields[4])]


def _json_line(line: str) -> tuple[str, list[tuple]]:
    row, results = files.json_object(line), []
    try:
        if type(row["query_id"]) not in (str, int):
            raise TypeError("an id is text or a whole number")
        for result in row["results"]:
            if isinstance(result, dict):
                span = f"{result['doc_id']}#{result['start']}:{result['end']}"
                result = span, result["score"]
            ranked_id, score = result
            results.append((ranked_id, score))
    except (KeyError, TypeError, ValueError):
        wanted = f"wanted {JSON_LINE}, or for a span {SPAN}"
        raise ValueError(f"found {line[:60]!r}, {wanted}") from None
    return str(row["query_id"]), results


def _number(score) -> float:
    """Return a score as a number, NaN for what is none."""
    try:
        return math.nan if isinstance(score, bool) else float(score)
    except (TypeError, ValueError, OverflowError):  # JSON has whole numbers without end
        return math.nan


# The card beside a run says how it was made, so that nobody has to guess it later.

CARD = ("corpus_sha256", "topics_sha256")  # what every card holds


def write_card(path: Path, evals: evalset.EvalSet, facts: dict) -> None:
    """Write the facts about a run, with the hashes of its documents and queries."""
    hashes = dict(zip(CARD, (evals.corpus_hash(), evals.topics_hash()), strict=True))
    files.write(path, json.dumps(facts | hashes, indent=1, ensure_ascii=False) + "\n")


def read_card(path: Path, *more: str) -> dict:
    """Return a card. Raises EvalSetError where it is missing or lacks a hash or one of `more`."""
    card, wanted = files.json_page(path), (*CARD, *more)
    missing = [name for name in CARD if not isinstance(card.get(name), str)]
    missing += [name for name in more if name not in card]
    if missing:
        lacks = f"field {missing[0]} is missing, wanted {', '.join(wanted)}"
        raise evalset.EvalSetError([f"{path}:1: {lacks}"])
    return card


def save(
    evals: evalset.EvalSet,
    name: str,
    chunk_run: dict[str, Ranking],
    document_run: dict[str, Ranking],
    differs: dict,
) -> None:
    """Write both rankings of a chunker into `runs/`, and last their card.

    `differs` is what differs from BASELINE; None leaves a parameter out.
    """
    path = evals.folder / "runs" / name
    write_chunk_run(path.with_name(f"{name}.jsonl"), chunk_run)
    write_trec(path.with_name(f"{name}.trec"), document_run, tag=f"bm25-{name}")
    facts = {**BASELINE, "chunker": name, **differs, "tokenizer": evals.tokenizer}
    facts = {key: value for key, value in facts.items() if value is not None}
    write_card(path.with_name(f"{name}.json"), evals, facts)


# Runs of other engines. Nothing is known about them, so everything is checked.

FIRST = 10  # results that the verdict's measure sees


class Run(NamedTuple):
    """A run of documents, ready to be measured. `warnings` are lines for the reader.

    `parts` ranks the passages that were found, if the run is one of passages: `doc_id#n` for chunk
    n of the set that `chunker` names, `doc_id#start:end` for a span of characters.
    """

    name: str
    rankings: dict[str, Ranking]
    warnings: list[str]
    parts: dict[str, Ranking] = {}
    chunker: str = ""


def read_run(path: Path, evals: evalset.EvalSet) -> Run:
    """Read a run of documents or chunks, in TREC form or as JSON lines, from any engine.

    Chunks (`doc_id#n`) count as their document, which keeps its best score. Ids may be spelled as
    the source of the set has them (`docs/a` for `docs%2Fa`). Unknown queries are left out. Raises
    EvalSetError with file, line and remedy for every other line that cannot be used.
    """
    problems: list[str] = []
    scores, unknown = _scores_by_query(path, evals, problems)
    if not scores and not problems:
        nothing = "the file holds no results"
        if unknown:
            nothing = f"no query of the run is in this set ({some(unknown)})"
        known = how_many(len(evals.asked), "query")
        problems.append(f"{path}:1: {nothing}, wanted results for the {known} of the set")
    if problems:
        raise evalset.EvalSetError(problems)
    rankings = {query_id: _to_documents(of_query) for query_id, of_query in scores.items()}
    parts = {query_id: in_order([*of_query.items()]) for query_id, of_query in scores.items()}
    if any("#" not in name for of_query in scores.values() for name in of_query):
        parts = {}
    warnings = _about_ties(rankings)
    if unknown:
        many = how_many(len(unknown), "unknown query id")
        warnings.insert(0, f"{many} left out: {some(unknown)}")
    return Run(path.stem, rankings, warnings, parts)


def _scores_by_query(
    path: Path, evals: evalset.EvalSet, problems: list[str]
) -> tuple[dict[str, dict[str, float]], dict[str, None]]:
    """Return {query_id: {document or chunk: score}} and the query ids that the set lacks."""
    scores: dict[str, dict[str, float]] = {}
    unknown: dict[str, None] = {}
    queries, documents = _spellings(evals.asked), _spellings(evals.documents)
    for place, query_id, results in _lines(path, problems):
        if query_id not in queries:
            unknown[query_id] = None
            continue
        of_query = scores.setdefault(queries[query_id], {})
        for ranked_id, score in results:
            whole, mark, chunk = ranked_id.rpartition("#")
            name = documents.get(ranked_id) or documents.get(whole, "") + mark + chunk
            doc_id, _, part = name.partition("#")  # no document id holds a #
            if doc_id not in evals.documents:
                wanted = f"one of the {len(evals.documents)} ids of the corpus, or id#n for a chunk"
                problems.append(f"{place}: document {ranked_id} is unknown, wanted {wanted}")
            elif ":" in part and (fault := _span_fault(part, evals.documents[doc_id])):
                problems.append(f"{place}: {fault}")
            elif name in of_query:
                twice = f"{ranked_id} is ranked twice for query {query_id}, wanted once"
                problems.append(f"{place}: {twice}")
            else:
                of_query[name] = score
    return scores, unknown


def _spellings(ids: Iterable[str]) -> dict[str, str]:
    """Return {spelling: id}: each id, and what it was before an import escaped its slashes."""
    return {unquote(known): known for known in ids} | {known: known for known in ids}


def _span_fault(span: str, document: evalset.Document) -> str:
    """Return why `start:end` is no span of a document, "" where it is one."""
    start, _, end = span.partition(":")
    length = len(document.retrieval_text)
    if start.isdecimal() and end.isdecimal() and int(start) < int(end) <= length:
        return ""
    wanted = f"wanted 0 <= start < end <= {length}, in characters of title, blank line and text"
    return f"span {start} to {end} of {document.doc_id}, {wanted}"


def _to_documents(scores: dict[str, float]) -> Ranking:
    """Return the documents by the best score among their ids, to the depth of the baseline."""
    best: dict[str, float] = {}
    for name, score in scores.items():
        doc_id = name.partition("#")[0]
        best[doc_id] = max(score, best.get(doc_id, -math.inf))
    return in_order([*best.items()])[: BASELINE["depth"]]


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first names and, where there are more, dots."""
    names = list(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _about_ties(rankings: dict[str, Ranking]) -> list[str]:
    """Return a warning where equal scores at the top leave the order to the ids."""
    tops = [[round(s, DECIMALS) for _, s in row[: FIRST + 1]] for row in rankings.values()]
    tied = sum(len(set(top)) < len(top) for top in tops)
    if not tied:
        return []
    return [
        f"equal scores among the first {FIRST} or next to them in {how_many(tied, 'query')}: ids "
        "decide their order, so write more decimals if the scores were rounded"
    ]
