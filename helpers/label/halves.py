"""The draw of the halves: whole groups of queries are dealt so that dev and test are alike."""

from collections import defaultdict

import numpy as np

from ..measure import links, stats
from ..measure.evalset import EvalSet
from ..measure.stats import DEV

STARTS = 200  # random halves, each of which is improved; the best counts
MOST = 500  # groups; of more of them the first random halves are taken, alike by their number
BINS = (2, 3, 5)  # relevant documents: 1, 2, 3 to 4, 5 and more
SHARED = 0.1  # weight of the share of families, of those that could, that both halves reach
Tables = dict[str, np.ndarray]  # of a trait: a row for each group, a column for each value


def draw_halves(
    evals: EvalSet, groups: list[set[str]], linked: links.Pairs
) -> tuple[dict[str, str], dict[str, float]]:
    """Return {query_id: dev or test} and the distances that were made small, by trait.

    It sees labels and no ranking. A distance is that of the halves' shares (total variation: 0
    alike, 1 nothing in common); of the queries that of dev from a third. The largest group goes to
    test where there are others. Of more than MOST groups there are no distances.
    """
    order = sorted(groups, key=lambda group: (-len(group), min(group)))
    starts = np.random.default_rng(stats.SEED).random((STARTS, len(order))) < DEV
    starts[:, :1] = len(order) == 1
    dev, distances = starts[0], {}
    if len(order) <= MOST:
        tables = _tables(evals, order, linked)
        found = [_improve(dev, tables) for dev in starts]
        dev, distances = min(found, key=lambda of: sum(of[1].values()))
    drawn = {}
    for group, is_dev in zip(order, dev, strict=True):
        drawn |= dict.fromkeys(group, "dev" if is_dev else "test")
    return drawn, distances


def _tables(evals: EvalSet, order: list[set[str]], linked: links.Pairs) -> Tables:
    """Return how many queries of a group have each value; one of several values counts in part."""
    home = {query_id: n for n, group in enumerate(order) for query_id in sorted(group)}
    counts = defaultdict(lambda: defaultdict(lambda: np.zeros(len(order))))
    full = evals.fully_answered
    for query_id, n in home.items():
        for trait, values in _traits(evals, query_id, full).items():
            for value in values:
                counts[trait][value][n] += 1 / len(values)
    for query_id, family, _ in links.answers(evals, linked):
        counts["families"][family][home[query_id]] = 1
    tables = {trait: np.stack([*columns.values()], axis=1) for trait, columns in counts.items()}
    if "families" in tables:  # one of a single group cannot be in both halves
        tables["families"] = tables["families"][:, tables["families"].sum(0) > 1]
    return {trait: table for trait, table in tables.items() if table.size}


def _traits(evals: EvalSet, query_id: str, full: set[str]) -> dict[str, list]:
    """Return the values of a query by trait, of those that it has; `full` have a full answer."""
    query = evals.all_queries[query_id]
    traits = {"queries": [""], "kind": [query.kind], "language": [query.language]}
    if query.popularity:
        traits["head and tail"] = [query.popularity]
    if relevant := query.relevant_doc_ids:
        traits["relevant documents"] = [sum(len(relevant) >= least for least in BINS)]
        traits["service"] = [evals.documents[doc_id].service for doc_id in relevant]
        traits["full answer"] = [query_id in full]
    return traits


def _improve(dev: np.ndarray, tables: Tables) -> tuple[np.ndarray, dict[str, float]]:
    """Return the halves at which no group but the largest can change sides for the better."""
    whole = {trait: table.sum(0) for trait, table in tables.items()}
    sums = {trait: table[dev].sum(0) for trait, table in tables.items()}
    now = _distances(sums, whole)
    while len(dev) > 1:
        sign = np.where(dev, -1, 1)[1:, None]
        trials = {trait: sums[trait] + sign * table[1:] for trait, table in tables.items()}
        values = np.round(sum(_distances(trials, whole).values()), 9)  # alike on every machine
        best = values.argmin()
        if values[best] >= np.round(sum(now.values()), 9):
            break
        dev = dev ^ (np.arange(len(dev)) == best + 1)
        sums = {trait: of[best] for trait, of in trials.items()}
        now = _distances(sums, whole)
    return dev, {trait: float(value) for trait, value in now.items()}


def _distances(dev: Tables, whole: Tables) -> Tables:
    """Return the distance by trait for the sums of one dev half, or of several below each other."""
    found = {}
    for trait, own in dev.items():
        rest = whole[trait] - own
        if trait == "queries":
            found[trait] = abs(own[..., 0] / whole[trait][0] - DEV)
        elif trait == "families":
            found[trait] = SHARED * ((own > 0) & (rest > 0)).mean(-1)
        else:  # an empty half has nothing in common with the other
            shares = [of / np.maximum(of.sum(-1, keepdims=True), 1e-9) for of in (own, rest)]
            found[trait] = 1 - np.minimum(*shares).sum(-1)
    return found
