"""The data card of a set: what its prose says, and the table of its counts."""

import re
from collections import Counter, defaultdict
from operator import itemgetter
from statistics import median

from ..measure import evalset, files, stats, tokens
from ..measure.evalset import EvalSet
from ..measure.inert import Markup, inert
from ..measure.text import how_many


def disclosure(evals: EvalSet) -> Markup:
    """Return the first paragraph of the data card, "" where there is none."""
    for paragraph in _prose(evals).split("\n\n"):
        if not paragraph.lstrip().startswith(("#", "<!--")):
            without_marks = re.sub(r"[*`]", "", paragraph)
            return inert(" ".join(without_marks.split()))
    return Markup("")


def kinds_in_words(evals: EvalSet) -> str:
    """Return the data card's line on what the kinds of question are, "" where there is none."""
    line = re.search(r"^- \*\*Kinds\.\*\* (.+)", _prose(evals), re.MULTILINE)
    return line[1] if line else ""


def _prose(evals: EvalSet) -> str:
    return files.optional_page(evals.folder / evalset.PROSE[0])


def sizes(evals: EvalSet) -> dict:
    """Return the tokens of each document, and how many kinds, services and relevant labels.

    `reached` documents have such a label.
    """
    documents = evals.documents.values()
    relevant = [judgment.doc_id for judgment in evals.judgments if judgment.relevance]
    return {
        "tokens": [len(tokens.token_ids(document.retrieval_text)) for document in documents],
        "kinds": len({document.kind for document in documents} - {"unspecified"}),
        "services": len({document.service for document in documents} - {"unspecified"}),
        "relevant": len(relevant),
        "reached": len({*relevant}),
    }


def counts_table(evals: EvalSet) -> Markup:
    """Return the counts of the data card as a Markdown table."""
    lines = (f"| {name} | {count} |" for name, count in counts(evals).items())
    return Markup("\n".join(["| what | count |", "|---|---|", *lines]))


def counts(evals: EvalSet) -> dict[str, str | int]:
    """Return the counts of the data card, a row for each."""
    size, queries = sizes(evals), evals.queries.values()
    lengths, reached = size["tokens"], size["reached"]
    documents = f"{len(lengths)}"
    if size["kinds"]:
        documents += f" of {how_many(size['kinds'], 'kind')}"
    if size["services"]:
        documents += f" about {how_many(size['services'], 'service')}"
    marks = []  # two ways to divide the queries
    for field in ("split", "popularity"):
        sizes_of = Counter(getattr(query, field) for query in queries if getattr(query, field))
        marks.append(", ".join(f"{n:d} {mark}" for mark, n in sorted(sizes_of.items())))
    grades = Counter(judgment.relevance for judgment in evals.judgments)
    by_grade = ", ".join(f"{n:d} of grade {grade:d}" for grade, n in sorted(grades.items()))
    return {
        "documents": documents,
        "tokens (cl100k_base)": f"{sum(lengths):,}: shortest document {min(lengths):d}, "
        f"median {median(lengths):.0f}, longest {max(lengths):,}",
        "queries": f"{len(queries):d}: {'; '.join(filter(None, marks))}",
        "queries that no document answers": len(evals.unanswered),
        "judgments": f"{len(evals.judgments)}: {by_grade}",
        "documents reached by a query": f"{reached} ({reached / len(lengths):.0%})",
        "queries with short answers": sum(bool(query.answers) for query in queries),
        **label_facts(evals),
    }


def label_facts(evals: EvalSet) -> dict[str, str]:
    """Return what pool and second passes say of the labels, a row for each."""
    of_pool = _pool_facts(evals)
    pairs = evalset.read_extra(evals, "second_pass.jsonl")
    return of_pool | _second_passes(pairs, evals.grades) | _disputed(pairs)


def _pool_facts(evals: EvalSet) -> dict[str, str]:
    """Return how many pairs the pool has, and what the first labelling missed of it."""
    pool = evalset.read_extra(evals, "pool.jsonl")
    if not pool:
        return {}
    grades = {}
    for judgment in evals.judgments:
        grades[judgment.query_id, judgment.doc_id] = judgment.relevance
    read_before = [pair for pair in pool if "first" in pair]
    relevant = [pair for pair in read_before if grades.get((pair["query_id"], pair["doc_id"]))]
    missed = sum(not pair["first"] for pair in relevant)
    return {
        "pairs judged in the pool": str(len(pool)),
        "relevant, missed by the first labelling": f"{missed} of {len(relevant)}",
    }


def _second_passes(pairs: list[dict], grades: tuple[int, ...]) -> dict[str, str]:
    """Return how well each second pass agrees, by its round and the kind of its reader."""
    passes: dict[tuple[int, str], list[dict]] = defaultdict(list)
    for pair in pairs:
        reader = pair.get("reader", "").partition(":")[0]  # without a handle
        passes[pair["round"], reader].append(pair)
    facts = {}
    for (number, reader), own in sorted(passes.items(), key=itemgetter(0)):
        name = f"second pass, round {number:d}"
        if reader:
            name += f", by a {reader}"
        facts[name] = _agreement(own, grades)
    return facts


def _disputed(pairs: list[dict]) -> dict[str, str]:
    """Return how many pairs were read three times or more, and how that ended."""
    grades = [*stats.majorities(pairs).values()]
    if not grades:
        return {}
    tied = grades.count(None)
    words = f"{len(grades) - tied} with one most frequent grade, {tied} tied"
    return {"disputed, read three times or more": f"{how_many(len(grades), 'pair')}, {words}"}


def _agreement(pairs: list[dict], grades: tuple[int, ...]) -> Markup:
    """Return how well two readings agree, in all and by the first one's grade, and who read."""
    first, second = [pair["first"] for pair in pairs], [pair["second"] for pair in pairs]
    equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(pairs)
    kappa = stats.kappa(first, second, grades)
    shown = "undefined (one grade only)" if kappa is None else f"{kappa:.2f}"
    if interval := stats.kappa_interval(first, second, grades):
        shown += f" ({interval[0]:.2f} to {interval[1]:.2f})"
    shares = stats.equal_by_grade(first, second).items()
    by_grade = ", ".join(f"{grade:d}: {share:.0%}" for grade, share in shares)
    words = f"{how_many(len(pairs), 'pair')}, {equal:.1%} equal, Cohen's kappa {shown}; "
    words += f"equal by first grade {by_grade}"
    if readers := stats.readers_text(pairs):
        words += f"; {readers}"
    return Markup(words)
