"""Rankings on disk: chunk runs as JSON lines, document runs in TREC format, runs of any engine."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from . import evalset, files
from .evalset import EvalSet, EvalSetError
from .installation import command
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
LARGE_ENGINE = "helpers.sparse.bm25"  # as cards say it, though sparse stands in measure/ now
DECIMALS = 10  # scores that agree to this many decimals are a tie, and ties go by id
SMALL_SCORE = 1e-3  # a run without a larger one is scaled before its scores are rounded
LARGE_SCORE = 1e38  # 32-bit floats, in which some TREC tools keep scores, end at 3.4e38
JSON_LINE = '{"query_id": ..., "results": [[id, score], ...]}'
SPAN = '{"doc_id": ..., "start": ..., "end": ..., "score": ...}'
ENDING = re.compile(r"\.[A-Za-z]\w{0,7}(?=[/:]|$)")  # of a file in a path; a method may follow
OWN = "queries that are themselves documents: each is left out of its own results, as BEIR does"
OTHERS = "was it made on another corpus?"
REMEDY = (
    "make the run again, with its card, or check out the folder that it was made on; "
    f"{command('carry')} takes labels to changed documents"
)
Ranking = list[tuple[str, float]]  # (id, score), best first
Rankings = dict[str, Ranking]  # by query


class Run(NamedTuple):
    """A run of documents; `warnings` are lines for the reader.

    `parts` ranks passages, if it is a run of them: `doc_id#n` is chunk n of the set
    that `chunker` names, `doc_id#start:end` a span of characters. `depth` is the
    number of results after which the run's card says that lists end, 0 where it
    doesn't. `first` counts the results of the first search for a query, of those
    that were searched for more than once. `one_of` is the name that the cards of
    several runs of one system share. `newer` queries came into the set after the
    run.
    """

    name: str
    rankings: Rankings
    warnings: list[str]
    parts: Rankings = {}
    chunker: str = ""
    depth: int = 0
    first: dict[str, int] = {}
    one_of: str = ""
    newer: frozenset[str] = frozenset()


def in_order(ranking: Ranking) -> Ranking:
    """Return the ranking by score, rounded, descending; ties by id, ascending."""
    return sorted(ranking, key=lambda pair: (-round(pair[1], DECIMALS), pair[0]))


def check_order(query_id: str, ranking: Ranking) -> None:
    """Raise ValueError unless `ranking` is as `in_order` has it and holds each id once."""
    if ranking != in_order(ranking):
        raise ValueError(
            f"query {query_id}: ranking out of order, wanted score descending, then id ascending"
        )
    if len(dict(ranking)) < len(ranking):
        raise ValueError(f"query {query_id}: an id is ranked twice, wanted each once")


def strictly_decreasing(ranking: Ranking) -> Ranking:
    """Return the ranking with tied scores pulled apart downwards: every tool then reads one order.

    TREC tools sort by score and break ties by rules of their own; some keep only
    32-bit floats. A step of one millionth of the score survives that.
    """
    apart = []
    for ranked_id, score in ranking:
        ceiling = apart[-1][1] - 1e-6 * max(1.0, abs(apart[-1][1])) if apart else LARGE_SCORE
        apart.append((ranked_id, min(score, ceiling)))
    return apart


def without_own(evals: EvalSet, rankings: Rankings) -> Rankings:
    """Return rankings without the document that a query itself is, or without its passages.

    BEIR goes by the id alone (Thakur et al. 2021): Cranfield's query 1 would lose
    document 1.
    """
    own = evals.own_documents
    return {
        q: [pair for pair in found if q not in own or pair[0].partition("#")[0] != q]
        for q, found in rankings.items()
    }


# Our own runs, each with a card that says how it was made.


def save(
    evals: EvalSet, name: str, chunk_run: Rankings, document_run: Rankings, differs: dict
) -> None:
    """Write both rankings of a chunker into `runs/`, chunks as a JSON object a query, and a card.

    `differs` is what differs from BASELINE; None leaves a parameter out. Raises
    ValueError for a ranking out of order.
    """
    folder, rows = evals.folder / "runs", []
    for query_id, ranking in chunk_run.items():
        check_order(query_id, ranking)
        results = [[chunk_id, round(score, DECIMALS)] for chunk_id, score in ranking]
        rows.append({"query_id": query_id, "results": results})
    files.write_jsonl(folder / f"{name}.jsonl", rows)
    write_trec(folder / f"{name}.trec", document_run, tag=f"bm25-{name}")
    facts = {**BASELINE, "chunker": name, **differs, "tokenizer": evals.tokenizer}
    facts = {key: value for key, value in facts.items() if value is not None}
    write_card(folder / f"{name}.json", evals, facts, document_run)


def write_trec(path: Path, run: Rankings, tag: str) -> None:
    """Write a TREC run, ties pulled apart. Raises ValueError for a ranking out of order."""
    lines = []
    for query_id, ranking in run.items():
        check_order(query_id, ranking)
        for rank, (doc_id, score) in enumerate(strictly_decreasing(ranking), 1):
            lines.append(f"{query_id} Q0 {doc_id} {rank} {score:.{DECIMALS}f} {tag}\n")
    files.write(path, "".join(lines))


def read_rankings(path: Path) -> Rankings:
    """Read a run that `save` or `write_trec` made. Raises EvalSetError for any other file."""
    run = {}
    for _, query_id, results in _lines(path):
        run.setdefault(query_id, []).extend(results)
    return {query_id: in_order(ranking) for query_id, ranking in run.items()}


def card_path(path: Path) -> Path | None:
    """Return where the card of a run stands; None where the run itself is named so (run.json)."""
    card = unzipped(path).with_suffix(".json")
    return None if card == unzipped(path) else card


def hashes(evals: EvalSet, chunker: object, asked: Collection[str] | None = None) -> dict[str, str]:
    """Return the hashes that a card holds: of documents, queries and the chunk set it names.

    `asked` are the queries, if not all of the set.
    """
    made = {"corpus_sha256": evals.corpus_hash(), "topics_sha256": evals.topics_hash(asked)}
    chunk_set = evals.folder / "chunks" / f"{chunker}.jsonl"
    if chunk_set.is_file():
        made["chunks_sha256"] = files.file_hash(chunk_set)
    return made


def write_card(path: Path, evals: EvalSet, facts: dict, run: Rankings | None = None) -> None:
    """Write the facts about a run, with those of its `hashes` that they lack.

    The queries of these are those of the run, and settled ones that it lacks; those
    without results are listed (`without_results`). Where no `run` is given, they are
    all queries of the set.
    """
    card, asked = dict(facts), None
    if run is not None:
        empty = sorted(q for q in {*run, *evals.settled_queries} if not run.get(q))
        if empty and "topics_sha256" not in card:
            card["without_results"] = empty
        asked = asked_queries(run, card)
    made = hashes(evals, card.get("chunker"), asked)
    files.write_json(path, card | made | facts)


def asked_queries(run: Rankings, card: dict) -> set[str]:
    """Return the queries that a run was made for: with results, or without as its card says."""
    return {*run, *card.get("without_results", [])}


def read_card(path: Path, *wanted: str) -> dict:
    """Return a card. Raises EvalSetError where it is missing or lacks one of `wanted`."""
    card = files.json_page(path)
    missing = [name for name in wanted if name not in card]
    if missing:
        raise EvalSetError(f"{path}:1: field {missing[0]} is missing, wanted {', '.join(wanted)}")
    return card


def card_faults(card: dict, evals: EvalSet) -> list[str]:
    """Return what a card says that is not so of a set, or is no value of its field."""
    depth, empty, faults = card.get("depth", 0), card.get("without_results", []), []
    if type(depth) is not int or depth < 0:
        faults.append(f"field depth is {files.short_json(depth)}, wanted a number of results")
    if not (isinstance(empty, list) and all(isinstance(query_id, str) for query_id in empty)):
        faults.append(
            f"field without_results is {files.short_json(empty)}, wanted a list of query ids"
        )
    for name, wanted in hashes(evals, card.get("chunker")).items():
        if name != "topics_sha256" and card.get(name, wanted) != wanted:
            faults.append(wrong_hash(card, name, wanted))
    return faults


def wrong_hash(card: dict, name: str, wanted: str) -> str:
    """Return that a hash of a card is another than `wanted`, and what to do."""
    return f"{name} is {str(card[name])[:12]}, wanted {wanted[:12]} as the folder has: {REMEDY}"


def newer_queries(run: Rankings, card: dict, evals: EvalSet) -> frozenset[str]:
    """Return the queries that came into a set after a run, as far as its card's hash tells.

    Raises ValueError where it is of other queries or other words.
    """
    asked = asked_queries(run, card)
    hashed = card.get("topics_sha256", evals.topics_hash())
    if hashed == evals.topics_hash():
        return frozenset()
    if hashed != evals.topics_hash(asked):
        raise ValueError(wrong_hash(card, "topics_sha256", evals.topics_hash()))
    return frozenset(evals.all_queries.keys() - asked)


# Runs of any engine. Nothing is known about them, so everything is checked.


def read_run(path: Path, evals: EvalSet) -> Run:
    """Read a run of documents or passages, in TREC form or as JSON lines, from any engine.

    Passages count as their document, which keeps its best score. Ids may be spelled
    as the source of the set has them (`docs/a.md` for `docs:a`); q1#2 is a further
    search for q1, whose results stand behind those of the searches before. Unknown
    queries are left out. Raises EvalSetError with file, line and remedy for every
    other line that cannot be used.
    """
    problems = []
    scores, unknown = _scores_by_query(path, evals, problems)
    if not (scores or problems):
        found = f"found results for {first_names(unknown)}" if unknown else "the run is empty"
        problems.append(
            f"{path}:1: {found}, wanted results for the "
            f"{how_many(evals.all_queries, 'query')} of the set"
        )
    elif scores and problems and not any(scores.values()):
        problems.insert(0, f"{path}:1: nothing in it is of this corpus, {OTHERS}")
    files.refuse(problems)
    scores = _large_enough(scores)
    searches = defaultdict(list)
    for query_id, number in sorted(scores, key=lambda search: search[1]):
        searches[query_id].append(scores[query_id, number])
    first = {query_id: len(found[0]) for query_id, found in searches.items() if len(found) > 1}
    whole = {query_id: _one_after_another(found) for query_id, found in searches.items()}
    parts = without_own(evals, whole)
    rankings = {query_id: best_by_document(ranking) for query_id, ranking in parts.items()}
    of_passages = ["#" in name for found in scores.values() for name in found]
    warnings = _warnings(scores, unknown, rankings, of_passages)
    if parts != whole:
        warnings.append(OWN)
    parts = parts if all(of_passages) else {}
    return Run(unzipped(path).stem, rankings, warnings, parts, first=first)


def unzipped(path: Path) -> Path:
    """Return the name of a run without .gz: its form goes by it, and its card has its stem."""
    return path.with_suffix("") if path.suffix == ".gz" else path


def _large_enough(scores: dict[tuple, dict[str, float]]) -> dict[tuple, dict[str, float]]:
    """Return the scores of a run by search, all times one power of two where all are small.

    That's exact, the largest is then from 1 to 2, and no order is lost when scores
    are rounded.
    """
    largest = max((abs(score) for found in scores.values() for score in found.values()), default=0)
    if largest >= SMALL_SCORE:
        return scores
    _, exponent = math.frexp(largest)
    scaled = {}
    for search, found in scores.items():
        scaled[search] = {name: math.ldexp(score, 1 - exponent) for name, score in found.items()}
    return scaled


def _one_after_another(searches: list[dict[str, float]]) -> Ranking:
    """Return the results of searches for one need; a repeat stands where it was found first."""
    rankings = [in_order([*found.items()]) for found in searches]
    if len(searches) == 1:
        return rankings[0]
    seen: dict[str, float] = {}
    for name, score in chain.from_iterable(rankings):
        seen.setdefault(name, score)
    return strictly_decreasing([*seen.items()])


def _scores_by_query(path: Path, evals: EvalSet, problems: list[str]) -> tuple[dict, dict]:
    """Return {(query_id, number of the search): {document or passage: score}}, and unknown ids."""
    scores, unknown = {}, {}
    (queries, _), documents = _spellings(evals.all_queries), _spellings(evals.documents)
    own_ids: dict[str, str] = {}  # by spelling: most stand in many lists
    for place, query_id, results in _lines(path, problems):
        need, number = _need_and_number(query_id, queries)
        if need is None:
            unknown[query_id] = None
            continue
        of_query = scores.setdefault((need, number), {})
        for ranked_id, score in results:
            try:
                if ranked_id not in own_ids:
                    own_ids[ranked_id] = _own_id(ranked_id, documents, evals, len(problems))
                name = own_ids[ranked_id]
                if name in of_query:
                    raise ValueError(f"{name} is ranked twice for query {query_id}, wanted once")
                of_query[name] = score
            except ValueError as error:
                problems.append(f"{place}: {error}")
    return scores, unknown


def _need_and_number(query_id: str, queries: dict[str, str]) -> tuple[str | None, int]:
    """Return the set's id of a query, None for an unknown one, and the number of the search.

    That is 1, and 2 or more for a further search, q1#2. `queries` are ids by their
    spellings.
    """
    if known := queries.get(query_id):
        return known, 1
    need, _, number = query_id.rpartition("#")
    if re.fullmatch(r"\d{1,9}", number) and int(number) > 1:  # int() takes no 5,000 digits
        return queries.get(need) or None, int(number)
    return None, 1


def _lines(path: Path, problems: files.Problems = None) -> Iterator[tuple[str, str, Ranking]]:
    """Yield (file:line, query id, results) of each line; what is wrong goes into `problems`."""
    parse = _json_line if unzipped(path).suffix in (".jsonl", ".json") else _trec_line
    for place, line in files.lines(path, problems):
        try:
            query_id, results = parse(line)
            yield place, query_id, [(str(name), _number(name, score)) for name, score in results]
        except ValueError as error:
            files.add_problem(problems, f"{place}: {error}")


def _trec_line(line: str) -> tuple[str, list[tuple]]:
    fields = line.split()
    if len(fields) != 6:
        raise ValueError(
            f"found {how_many(fields, 'field')}, wanted 6: query Q0 document rank score tag"
        )
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
        return str(row["query_id"]), results
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"found {line[:60]!r}, wanted {JSON_LINE}, or for a span {SPAN}") from None


def _number(ranked_id: str, score: object) -> float:
    try:
        number = math.nan if isinstance(score, bool) else float(score)
    except (TypeError, ValueError, OverflowError):  # JSON has whole numbers without end
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"score {score!r} of {ranked_id}, wanted a finite number")
    return number


def _spellings(ids: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return {spelling: id} of whole spellings and of paths without their ending.

    Whole are ids, and what they were before an import escaped their signs and wrote
    : for /. A spelling of two ids is of neither (""), unless it is an id.
    """
    paths, short = {}, {}
    for known in ids:
        path = unquote(known.replace(":", "/"))
        for spellings, spelled in ((paths, path), (short, ENDING.sub("", path, count=1))):
            spellings[spelled] = "" if spelled in spellings else known
    return paths | {known: known for known in ids}, short


def _known(name: str, spellings: tuple[dict, dict]) -> str:
    """Return the id of which `name` is a spelling, "" where none or more than one is."""
    whole, short = spellings
    page = re.sub(r"\.(md|txt)$", "", name)  # ids of pages have lost their ending
    for known, given in ((whole, name), (whole, page), (short, name)):
        for spelled in (given, given.replace(":", "/"), given.replace(" ", "_")):
            if spelled in known:
                return known[spelled]
    return ""


def _own_id(ranked_id: str, documents: tuple, evals: EvalSet, told: int) -> str:
    """Return the set's id of a document or passage. Raises ValueError for what it lacks."""
    if doc_id := _known(ranked_id, documents):
        return doc_id
    spelling, _, part = ranked_id.rpartition("#")  # no document id holds a #
    doc_id = _known(spelling, documents)
    if not doc_id:
        fault = evalset.unknown_document(spelling or ranked_id, evals.documents, told)
        raise ValueError(fault)
    if ":" in part:
        _check_span(doc_id, part, len(evals.documents[doc_id].retrieval_text))
    elif not part.isdecimal():
        raise ValueError(f"chunk {part!r} of {doc_id}, wanted {doc_id}#n, n a number from 0")
    return f"{doc_id}#{part}"


def _check_span(doc_id: str, part: str, length: int) -> None:
    """Raise ValueError unless start:end is a span of a document of `length` characters."""
    start, _, end = part.partition(":")
    if not (start.isdecimal() and end.isdecimal() and int(start) < int(end) <= length):
        raise ValueError(
            f"span {start} to {end} of {doc_id}, wanted whole numbers of characters, "
            f"0 <= start < end <= {length}, in title, blank line, text"
        )


def list_depth(run: Run) -> int:
    """Return the number of results after which a run's lists were cut off, 0 where none shows.

    It is what the run's card says, else the length that at least half of its lists
    have: a search that returns all it matched has lists of many lengths. Lists of
    several searches do not count: an agent that asks again stops by itself, and what
    it found is what was read.
    """
    lists = (run.parts or run.rankings).items()
    lengths = Counter(len(found) for q, found in lists if found and q not in run.first)
    same = [length for length, often in lengths.items() if 2 * often >= lengths.total()]
    return run.depth or min(same, default=0)


def first_results(run: Run, depth: int, of_passages: bool) -> Run:
    """Return a run with the first `depth` results of each query.

    Passages are cut before they count as their documents.
    """
    ranked = run.parts if of_passages else run.rankings
    ranked = {query_id: ranking[:depth] for query_id, ranking in ranked.items()}
    parts = ranked if of_passages else run.parts
    rankings = {query_id: best_by_document(ranking) for query_id, ranking in ranked.items()}
    return run._replace(parts=parts, rankings=rankings, depth=depth, first={})


def best_by_document(passages: Ranking) -> Ranking:
    """Return the documents by their best score, to the depth of the baseline."""
    best: dict[str, float] = {}
    for name, score in passages:
        doc_id = name.partition("#")[0]
        best[doc_id] = max(score, best.get(doc_id, -math.inf))
    return in_order([*best.items()])[: BASELINE["depth"]]


def _warnings(scores: dict, unknown: dict, rankings: dict, of_passages: list[bool]) -> list[str]:
    """Return what the reader of a run should know of ids, order, ties and whole documents."""
    given = [[round(score, DECIMALS) for score in found.values()] for found in scores.values()]
    others = sum(row != sorted(row, reverse=True) for row in given)
    tops = [[round(s, DECIMALS) for _, s in ranking[:11]] for ranking in rankings.values()]
    tied = sum(len(set(top)) < len(top) for top in tops)
    whole = of_passages.count(False) if any(of_passages) else 0
    later = {query_id: None for query_id, _ in scores if (query_id, 1) not in scores}
    warnings = []
    if unknown:
        many = how_many(unknown, "unknown query id")
        warnings.append(f"{many} left out: {first_names(unknown)}")
    if later:
        many = how_many(later, "query")
        warnings.append(
            f"results of later searches (q1#2) but not of the first (q1) for {many}: "
            f"{first_names(later)}"
        )
    if others:
        remedy = "negate distances, give a new order new scores"
        warnings.append(
            f"results of {how_many(others, 'query')} don't stand in the order of their scores, "
            f"which decides, the highest first: {remedy}"
        )
    if tied:
        many = how_many(tied, "query")
        warnings.append(f"equal scores at ranks 1 to 11 in {many}: ids decide their order")
    if whole:
        warnings.append(
            f"{whole:,} of {len(of_passages):,} results are whole documents, so passages count "
            "as theirs and no evidence is measured"
        )
    return warnings


def first_names(names: Iterable[str], most: int = 5) -> str:
    """Return the first names and, where there are more, dots."""
    names = list(names)
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
