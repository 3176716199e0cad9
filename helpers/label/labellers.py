"""What Finish tells in words: how far labellers are, how far they agree, what stops cost."""

from collections import Counter, defaultdict
from itertools import combinations

from ..measure import stats
from ..measure.evalset import EvalSet
from ..measure.text import Pair, counted, how_many
from . import labelling
from .labelling import Entry, labeller_of

Words = dict[Pair, Entry]


def labellers_page(evals: EvalSet) -> str:
    """Return progress and agreement by labeller and kind of query, "" for a single log.

    What settled a disagreement was not judged blind and counts for neither.
    """
    logs = labelling.read_all(evals)
    if len(logs) < 2:
        return ""
    own = {}
    for name, rows in logs.items():
        blind = [entry for entry in labelling.kept_entries(rows) if not entry.settles]
        own[labeller_of(name)] = labelling.latest(blind)
    all_pairs = set().union(*own.values())
    lines = []
    for name, words in own.items():
        lines.append(f"{name}: {_progress(evals, words, len(all_pairs))}")
    for (name, words), (other, others) in combinations(own.items(), 2):
        lines += _agreement(evals, f"{name} and {other}", words, others)
    differing = labelling.to_settle(evals)
    if differing:
        n = how_many(differing, "pair")
        lines.append(f"{n} graded differently: the panel opens them first, without the grades.")
    return "\n".join(lines)


def _progress(evals: EvalSet, words: Words, n: int) -> str:
    kinds = Counter(evals.all_queries[query_id].kind for query_id, _ in words)
    relevant = sum(entry.relevance > 0 for entry in words.values())
    return f"{len(words)} of {how_many(n, 'pair')} judged, {relevant} relevant ({counted(kinds)})"


def _agreement(evals: EvalSet, who: str, first: Words, second: Words) -> list[str]:
    """Return a line for what two labellers both judged, and one for each kind of query."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in sorted(first.keys() & second.keys()):
        groups[who].append(pair)
        groups[f"{who}, {evals.all_queries[pair[0]].kind}"].append(pair)
    if not groups:
        return [f"{who}: no pair was judged by both"]
    lines = []
    for title, pairs in sorted(groups.items()):
        grades = [[words[pair].relevance for pair in pairs] for words in (first, second)]
        lines.append(f"{title}: {agreement_text(*grades, evals.grades)}")
    return lines


def agreement_text(first: list[int], second: list[int], grades: tuple[int, ...]) -> str:
    """Return n, the share of equal grades and linearly weighted kappa (Cohen 1968) in words."""
    equal = sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
    kappa = stats.kappa(first, second, grades, weights="linear")
    value = "not defined (one grade only)" if kappa is None else f"{kappa:.2f}"
    return f"n = {len(first)}, {equal:.0%} equal, weighted kappa (linear) {value}"


def own_agreement(judgments: list[Entry], grades: tuple[int, ...]) -> str:
    """Return in words how far the repeats agree with the standing grades of their pairs."""
    standing = labelling.latest(judgments)
    again = {entry.pair: entry.relevance for entry in judgments if entry.repeat}
    both = sorted(again.keys() & standing.keys())
    if not both:
        return "No document was shown twice, so how far you agree with yourself isn't known."
    first = [standing[pair].relevance for pair in both]
    told = agreement_text(first, [again[pair] for pair in both], grades)
    return f"Some documents were shown twice. Agreement with yourself: {told}."


def grades_given(evals: EvalSet, pair: Pair) -> str:
    """Return what each labeller said of a pair, in words."""
    own = labelling.last_words(labelling.read_all(evals)).get(pair, {}).items()
    return ", ".join(f"{labeller_of(log)} {entry.relevance}" for log, entry in own)


def stop_cost(evals: EvalSet) -> str:
    """Return in words what was skipped, and how much of it is relevant by those drawn of it.

    "" where nothing was skipped.
    """
    left = labelling.skipped(evals, *labelling.read_all(evals).values())
    if not left:
        return ""
    judged = evals.labels
    drawn = [pair for pair, is_drawn in left.items() if is_drawn]
    grades = [judged[pair].relevance for pair in drawn if pair in judged]
    n = how_many(left, "document")
    words = f"{n} skipped ({labelling.SKIPPED}), {len(drawn)} of them drawn to be read blind"
    if not grades:
        return f"{words}: none is judged yet, so what the stops cost is unknown."
    return f"{words}; relevant of those judged: {relevant_share(grades)}"


def relevant_share(grades: list[int]) -> str:
    """Return how many of some grades are 1 or more, with the interval of that share."""
    found, n = sum(grade > 0 for grade in grades), len(grades)
    low, high = stats.share_interval(found, n)
    return f"{found} of {n}, {found / n:.0%} (95 % interval {low:.0%} to {high:.0%})"
