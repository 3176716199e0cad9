"""Grades of judge.jsonl as offers in the panel: which ones it shows, and what they change."""

from collections.abc import Collection

from ..measure import evalset
from ..measure.evalset import EvalSet
from ..measure.text import Pair, pair_of
from . import labelling
from .labellers import agreement_text, relevant_share

JUDGE = "judge.jsonl"


def by_pair(evals: EvalSet) -> dict[Pair, dict]:
    """Return {(query_id, doc_id): its last row in judge.jsonl}. Raises as `evalset.read_extra`."""
    rows = evalset.read_extra(evals, JUDGE)
    return {pair_of(row): row for row in rows}


def to_show(evals: EvalSet, pairs: Collection[Pair]) -> dict[Pair, dict]:
    """Return the offers for those of `pairs` that have no label and aren't drawn as blind."""
    found = by_pair(evals).items()
    wanted = {*pairs} - evals.labels.keys()
    return {pair: row for pair, row in found if pair in wanted and not labelling.is_drawn(pair)}


def offers_page(evals: EvalSet) -> str:
    """Return in words what offers changed, and how far the judge agrees with the blind tenth.

    "" before any was shown to somebody who then judged.
    """
    offered, accepted, others, blind = by_pair(evals), [], [], []
    for words in labelling.last_words(labelling.read_all(evals)).values():
        for entry in words.values():
            if entry.offered:
                accepted.append(entry.relevance)
            elif entry.offered_grade is not None:
                others.append(entry.relevance != entry.offered_grade)
            elif entry.pair in offered and labelling.is_drawn(entry.pair) and not entry.settles:
                blind.append((entry.relevance, offered[entry.pair]["relevance"]))
    if not accepted and not others:
        return ""
    n, changed = len(accepted) + len(others), sum(others)
    shown = f"offers shown: {n}; {len(accepted)} accepted, {changed} changed to another grade"
    if changed < len(others):
        shown += f", {len(others) - changed} given the same grade by hand"
    told = "none yet, so what the offers are worth is unknown"
    if blind:
        own, theirs = [grade for grade, _ in blind], [grade for _, grade in blind]
        told = agreement_text(own, theirs, evals.grades)
        told += f"; relevant of these: {relevant_share(own)}"
    lines = [shown, f"offers judged blind: {told}"]
    if accepted:
        lines.append(f"relevant of the accepted offers: {relevant_share(accepted)}")
    return "\n".join(lines)
