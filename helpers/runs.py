"""Rankings on disk: chunk runs as JSON lines, document runs in TREC format, runs of any engine."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from . import chunks, evalset, files
from .text import how_many, visible

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
    keys = [(-round(score, DECIMALS), found) for found, score in ranking]
    if keys != sorted(keys):
        raise ValueError(
            f"query {query_id}: ranking out of order, wanted score descending, then id ascending"
        )
    if len({found for found, _ in ranking}) < len(ranking):
        raise ValueError(f"query {query_id}: an id is ranked twice, wanted each once")


def write_chunk_run(path: Path, run: dict[str, Ranking]) -> None:
    """Write {query_id: [(chunk_id, score), ...]} as one JSON object a query."""
    files.write(path, _chunk_lines(run))


def _chunk_lines(run: dict[str, Ranking]) -> str:
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
    return files.as_lines(
        {"query_id": q, "results": [[c, round(s, DECIMALS)] for c, s in ranking]}
        for q, ranking in run.items()
    )


def read_chunk_run(path: Path) -> dict[str, Ranking]:
    """Read a chunk run that `write_chunk_run` made. Raises EvalSetError for anything else."""
    run, problems = {}, files.Problems()
    for place, row in files.rows(path, problems.append):
        try:
            run[row["query_id"]] = [(chunk_id, score) for chunk_id, score in row["results"]]
        except (KeyError, TypeError, ValueError):
            problems.append(f"{place}: found {str(row)[:60]}, wanted {JSON_LINE}")
    if problems:
        raise evalset.EvalSetError(problems)
    return run


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
    files.write(path, _trec_lines(run, tag))


def _trec_lines(run: dict[str, Ranking], tag: str) -> str:
    lines = []
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
        for rank, (doc_id, score) in enumerate(strictly_decreasing(ranking), 1):
            lines.append(f"{query_id} Q0 {doc_id} {rank} {score:.{DECIMALS}f} {tag}\n")
    return "".join(lines)


# The card beside a run says how it was made, so that nobody has to guess it later.

CARD = ("corpus_sha256", "topics_sha256")  # what every card holds


def write_card(path: Path, evals: evalset.EvalSet, said: dict) -> None:
    """Write what is `said` of a run, with the hashes of its documents and queries."""
    files.write(path, _card_text(evals, said))


def _card_text(evals: evalset.EvalSet, said: dict) -> str:
    corpus, topics = CARD
    hashes = {corpus: evals.corpus_hash(), topics: evals.topics_hash()}
    return json.dumps(said | hashes, indent=1, ensure_ascii=False) + "\n"


def read_card(path: Path, *more: str) -> dict:
    """Return a card. Raises EvalSetError where it is missing or lacks a hash or one of `more`."""
    problems: list[str] = []
    said = files.object_of(path, problems.append)
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
    """Write both rankings of a chunker and their card into `runs/`: all three or none.

    `said` is what differs from BASELINE; None leaves a parameter out.
    """
    said = {**BASELINE, "chunker": name, **said}
    said = {key: value for key, value in said.items() if value is not None}
    texts = {
        f"{name}.jsonl": _chunk_lines(chunk_run),
        f"{name}.trec": _trec_lines(document_run, tag=f"bm25-{name}"),
        f"{name}.json": _card_text(evals, {**said, "tokenizer": evals.tokenizer}),
    }
    files.write_all(evals.folder / "runs", texts)


def read_trec(path: Path) -> dict[str, Ranking]:
    """Read a TREC run that `write_trec` made, in the order of its scores.

    Raises EvalSetError for anything else.
    """
    run: dict[str, Ranking] = {}
    problems = files.Problems()
    for place, line in files.lines(path, problems.append):
        fields = line.split()
        score = _number(fields[4]) if len(fields) == 6 else None
        if score is None:
            problems.append(f"{place}: found {line[:60]!r}, wanted {TREC_LINE}")
        else:
            run.setdefault(fields[0], []).append((fields[2], score))
    if problems:
        raise evalset.EvalSetError(problems)
    return {query_id: in_order(ranking) for query_id, ranking in run.items()}


def in_order(ranking: Ranking) -> Ranking:
    """Return the ranking by score, rounded, descending; ties by id, ascending."""
    return sorted(ranking, key=lambda pair: (-round(pair[1], DECIMALS), pair[0]))


# Runs of other engines. Nothing is known about them, so everything is checked.


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


TREC_LINE = "query Q0 document rank score tag"
JSON_LINE = '{"query_id": ..., "results": [[id, score], ...]}'
SPAN = '{"doc_id": ..., "start": ..., "end": ..., "score": ...}'
RESULTS = 10_000_000  # of one run: a thousand for each of ten thousand queries
STRANGE = 100_000  # unknown query ids that are counted
FIRST = 10  # results that the verdict's measure sees


class _Reading:
    """What the lines of a file hold, and what is wrong with them."""

    def __init__(self, evals: evalset.EvalSet):
        self.evals = evals
        self.queries, self.documents = _spelled(evals.asked), _spelled(evals.documents)
        self.found: dict[str, dict[str, float]] = {}  # by query, then document or chunk
        self.problems = files.Problems()
        self.strange: dict[str, None] = {}  # unknown query ids, in their order, up to STRANGE
        self.results = 0
        self.unknown: list[str] = []  # a document id for each line that names an unknown one
        self.rising: tuple[int, str] = (0, "")  # lines where a later rank scores higher, the first


def read_run(path: Path, evals: evalset.EvalSet) -> Run:
    """Read a run of documents or chunks, in TREC form or as JSON lines, from any engine.

    Chunks (`doc_id#n`) count as their document, which keeps its best score. Ids may be spelled as
    the source of the set has them (`docs/a` for `docs%2Fa`). Unknown queries are left out. Raises
    EvalSetError with file, line and remedy for every other line that cannot be used.
    """
    read = _Reading(evals)
    lines = files.lines(path, read.problems.append) if _is_file(path, read.problems) else ()
    parse = _json_line if path.suffix == ".jsonl" else _trec_line
    for place, line in lines:
        parse(place, line, read)
    if not read.found and not read.problems:
        read.problems.append(f"{path}:1: {_nothing(read)}")
    if len(read.unknown) > 1:
        many = how_many(len(set(read.unknown)), "unknown document")
        read.problems.insert(0, f"{path}: {len(read.unknown)} results name {many}")
    if read.problems:
        raise evalset.EvalSetError(read.problems)
    rankings = {query_id: _to_documents(scores) for query_id, scores in read.found.items()}
    whole = any("#" not in name for scores in read.found.values() for name in scores)
    parts = {} if whole else {q: in_order(list(scores.items())) for q, scores in read.found.items()}
    warnings = [*_about_lines(read), *_about_ties(rankings)]
    return Run(path.stem, rankings, warnings, parts)


def _spelled(ids: Iterable[str]) -> dict[str, str]:
    """Return {spelling: id}: each id, and what it was before an import escaped its slashes."""
    return {unquote(known): known for known in ids} | {known: known for known in ids}


def _is_file(path: Path, problems: list[str]) -> bool:
    what = "is a folder" if path.is_dir() else "" if path.exists() else "does not exist"
    if what:
        problems.append(f"{path}: {what}, wanted the file of a run (.trec, .txt, .run or .jsonl)")
    return not what


def _nothing(read: _Reading) -> str:
    """Return why a file without a bad line gave nothing."""
    if not read.strange:
        return f"the file holds no results, wanted lines of a run: {TREC_LINE}"
    known = f"one of the {how_many(len(read.evals.queries), 'id')} of retrieval_queries.jsonl"
    return f"no query of the run is in this set ({some(read.strange)}), wanted {known}"


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first names and, where there are more, dots."""
    names = list(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _trec_line(place: str, line: str, read: _Reading) -> None:
    fields = line.split()
    if len(fields) != 6:
        many = how_many(len(fields), "field")
        read.problems.append(f"{place}: found {many}, wanted 6: {TREC_LINE}")
        return
    query_id, _, doc_id, rank, score, _ = fields
    scores = _scores_of(query_id, read)
    if scores is None:
        return
    above = next(reversed(scores.values()), math.inf)
    _add(place, scores, query_id, doc_id, score, read)
    if (_number(score) or 0) > above and rank.isdecimal() and int(rank) > 1:
        many, first = read.rising
        read.rising = many + 1, first or place


def _json_line(place: str, line: str, read: _Reading) -> None:
    try:
        row = files.parsed(line)
        query_id, results = row["query_id"], [chunks.pair(found) for found in row["results"]]
        if type(query_id) not in (str, int):
            raise TypeError("an id is text or a whole number")
    except (ValueError, KeyError, TypeError):
        wanted = f"{JSON_LINE}, or for a span {SPAN}"
        read.problems.append(f"{place}: found {line[:60]!r}, wanted {wanted}")
        return
    if read.queries.get(str(query_id)) in read.found:
        read.problems.append(
            f"{place}: query {query_id} stands already above, wanted one line each"
        )
        return
    scores = _scores_of(query_id, read)
    for ranked_id, score in results if scores is not None else ():
        _add(place, scores, query_id, ranked_id, score, read)


def _scores_of(query_id, read: _Reading) -> dict[str, float] | None:
    """Return what was found so far for a query, None if it is unknown."""
    known = read.queries.get(str(query_id))
    if known is None and len(read.strange) < STRANGE:
        read.strange[visible(str(query_id))] = None
    return None if known is None else read.found.setdefault(known, {})


def _add(place: str, scores: dict, query_id, ranked_id, score, read: _Reading) -> None:
    """Add one result to `scores`, or say what is wrong with it. Ends a run that has no end."""
    read.results += 1
    if read.results > RESULTS:
        read.problems.insert(0, f"{place}: the run goes on, wanted at most {RESULTS:,} results")
        raise evalset.EvalSetError(read.problems)
    value, name = _number(score), _known(str(ranked_id), read.documents)
    if name is None:
        read.unknown.append(str(ranked_id))
        wanted = f"one of the {len(read.evals.documents)} ids of the corpus, or id#n for a chunk"
        read.problems.append(f"{place}: document {ranked_id} is unknown, wanted {wanted}")
    elif fault := chunks.span_fault(name, read.evals.documents):
        read.problems.append(f"{place}: {fault}")
    elif value is None:
        read.problems.append(f"{place}: score {score!r} of {ranked_id}, wanted a finite number")
    elif name in scores:
        twice = f"{ranked_id} is ranked twice for query {query_id}, wanted once"
        read.problems.append(f"{place}: {twice}")
    else:
        scores[name] = value


def _known(ranked_id: str, documents: dict[str, str]) -> str | None:
    """Return a document id, or a document id with # and a chunk, as the set spells it."""
    if ranked_id in documents:
        return documents[ranked_id]
    whole, mark, chunk = ranked_id.rpartition("#")
    return documents[whole] + mark + chunk if whole in documents else None


def _number(score) -> float | None:
    try:
        value = float(score)
    except (TypeError, ValueError, OverflowError):  # JSON has whole numbers without end
        return None
    return value if math.isfinite(value) and not isinstance(score, bool) else None


def _to_documents(scores: dict[str, float]) -> Ranking:
    """Return the documents by the best score among their ids, to the depth of the baseline."""
    best: dict[str, float] = {}
    for name, score in scores.items():
        doc_id = name.partition("#")[0]  # no document id holds a #
        best[doc_id] = max(score, best.get(doc_id, -math.inf))
    return in_order(list(best.items()))[: BASELINE["depth"]]


# What a reader of the comparison has to know about a run.


def _about_lines(read: _Reading) -> list[str]:
    """Return warnings about unknown queries and scores that look like distances."""
    said = []
    if read.strange:
        many = how_many(len(read.strange), "unknown query id")
        many += " or more" * (len(read.strange) == STRANGE)
        said.append(f"{many} left out: {some(read.strange)}")
    if read.rising[0]:
        lines = f"{how_many(read.rising[0], 'line')} (first {read.rising[1]})"
        said.append(
            f"the score rises with the rank on {lines}: scores decide the order, so negate them "
            "if they are distances"
        )
    return said


def _about_ties(rankings: dict[str, Ranking]) -> list[str]:
    """Return warnings about queries in which equal scores leave the order to the ids."""
    rows = [[round(score, DECIMALS) for _, score in ranking] for ranking in rankings.values()]
    flat = [row for row in rows if len(row) > 1 and len(set(row)) == 1]
    tied = [row for row in rows if len(set(row[: FIRST + 1])) < len(row[: FIRST + 1])]
    said = []
    if flat:
        queries = how_many(len(flat), "query")
        said.append(f"all scores are equal in {queries}: ids alone decide the order there")
    if len(tied) > len(flat):
        queries = how_many(len(tied) - len(flat), "query")
        said.append(
            f"equal scores among the first {FIRST} or next to them in {queries}: ids decide their "
            "order, so write more decimals if the scores were rounded"
        )
    return said
