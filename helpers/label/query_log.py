"""Queries from a search log: a seeded sample of what was asked often, less often and rarely."""

import re
from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np

from ..measure import links, stats, text
from ..measure.files import EvalSetError
from . import readers, tables
from .readers import Task

LOG = {  # what its columns are called
    "query": ("query", "search_term", "keyword", "term", "search", "text", "q", "Top queries"),
    "count": ("count", "searches", "frequency", "n", "event_count", "Impressions"),
}
SIZE = 40  # queries of a sample
MASKS = {  # what is personal and easy to see
    "mail addresses": r"[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+",
    "numbers of seven or more digits":  # but dates such as 2026-04-08
        r"(?<!\d)(?!\d{4}-\d\d-\d\d\b)\+?\d(?:[ ()-]{0,2}\d){6,}",
}  # fmt: skip
MASK = "***"  # no word of a search
DUTY = (
    "read every query before you pass the set on: names, customers, hosts, keys "
    "and whatever else points to somebody aren't masked"
)


def sample_queries(words: text.Tokenizer, task: Task) -> tuple[list[dict], list[str]]:
    """Return rows of retrieval_queries.jsonl from the log --queries, and lines on the draw.

    Raises EvalSetError with every problem of the log.
    """
    counts = read_log(words, task)
    task.stop()
    if not counts:
        raise EvalSetError(f"{task.options.queries}: found no queries, wanted a log with some")
    strata = by_frequency(counts)
    drawn, doubles = draw(strata, task.options.sample or SIZE, words)
    rows = []
    for number, (query, stratum) in enumerate(drawn.items(), 1):
        row = {"query_id": f"q{number}", "query": query, "relevant_doc_ids": []}
        if stratum != "torso":
            row["popularity"] = stratum
        rows.append(row | {"split": "dev"})
    taken = Counter(drawn.values())
    parts = [f"{name} {taken[name]} of {len(own):,}" for name, own in strata.items()]
    if doubles:
        parts.append(f"near-doubles of one in the sample passed over: {doubles}")
    return rows, [f"sample of the log: {', '.join(parts)}", DUTY]


def read_log(words: text.Tokenizer, task: Task) -> Counter[str]:
    """Return how often each query was asked, masked; case, signs and spaces make no other query."""
    paths = tables.files_of(Path(task.options.queries))
    counts = Counter()
    spellings: dict[tuple[str, ...], str] = {}
    for place, row in tables.rows_of(paths, task, forms=None):
        task.expect("query", LOG["query"], place, row, "--columns")
        query = masked(readers.text_of(row, *LOG["query"]), task)
        if key := tuple(words(query)):
            spelling = spellings.setdefault(key, query)
            counts[spelling] += count_of(place, row, task)
        else:
            task.leave_out("lines of the log without a word to search", place)
    return counts


def masked(query: str, task: Task) -> str:
    """Return a query on one line, with MASK for what is personal and easy to see."""
    for what, pattern in MASKS.items():
        query, often = re.subn(pattern, MASK, query)
        if often:
            task.changed[f"{what} in the log, masked as {MASK}"] += often
    return " ".join(query.split())


def count_of(place: str, row: dict, task: Task) -> int:
    """Return how often the query of a line was asked: once where no column says it."""
    count = next((str(row[name]) for name in LOG["count"] if name in row), None)
    if count is None:
        task.changed["lines of the log without a count, each of which counts once"] += 1
        return 1
    number = count.strip().replace(",", "").removesuffix(".0")
    if number.isdecimal():
        return int(number)
    task.problems.append(
        f"{place}: count is {count[:60]!r}, wanted how often it was asked, a whole number"
    )
    return 0


def by_frequency(counts: Counter[str]) -> dict[str, list[str]]:
    """Return the queries of head, torso and tail, each about a third of all searches.

    Queries that were asked equally often stay together, and those asked least are in the tail.
    """
    strata = {"head": [], "torso": [], "tail": []}
    above, least = 0, min(counts.values())  # searches for more frequent queries
    ordered = sorted(counts, key=lambda query: (-counts[query], query))
    for count, equals in groupby(ordered, counts.get):
        queries = [*equals]
        third = "tail" if count == least else [*strata][3 * above // counts.total()]
        strata[third] += queries
        above += count * len(queries)
    return strata


def draw(
    strata: dict[str, list[str]], size: int, words: text.Tokenizer
) -> tuple[dict[str, str], int]:
    """Return up to `size` {query: stratum}, and how many near-doubles of these were passed over.

    Every stratum gives equally many, as long as it has some.
    """
    rng = np.random.default_rng(stats.SEED)
    left = {name: [own[n] for n in rng.permutation(len(own))] for name, own in strata.items()}
    drawn, contents, doubles = {}, [], 0
    while len(drawn) < size and any(left.values()):
        taken = Counter(drawn.values())
        stratum = min(filter(left.get, left), key=lambda name: taken[name])
        query = left[stratum].pop()
        own = {*text.content_words(words(query))} or {*words(query)}
        if any(len(own & other) >= links.DOUBLE * len(own | other) for other in contents):
            doubles += 1
        else:
            drawn[query] = stratum
            contents.append(own)
    return drawn, doubles
