"""Documents that count as one, and the queries that share their answers through them."""

from collections.abc import Iterable

from .. import evalset

Pairs = set[tuple[str, str]]


def alike_documents(evals: evalset.EvalSet) -> tuple[dict[tuple[str, str], float], Pairs]:
    """Return near-duplicates that are no versions, and the pairs of near-duplicates or versions."""
    versions = evals.versions()
    near = evals.near_duplicates()
    return {pair: n for pair, n in near.items() if pair not in versions}, versions | {*near}


def _touching_merged(groups: Iterable[set]) -> list[set]:
    """Return the groups with those merged that share a member, directly or through others."""
    merged: list[set] = []
    for group in groups:
        apart = [other for other in merged if not other & group]
        touching = [other for other in merged if other & group]
        merged = [*apart, set().union(group, *touching)]
    return merged


def _families(evals: evalset.EvalSet, links: Pairs | None) -> dict[str, str]:
    """Return {doc_id: first id of the documents that it is linked with}."""
    links = alike_documents(evals)[1] if links is None else links
    family = {doc_id: doc_id for doc_id in evals.documents}
    for group in _touching_merged({*pair} for pair in links):
        family |= dict.fromkeys(group, min(group))
    return family


def components(evals: evalset.EvalSet, links: Pairs | None = None) -> list[set[str]]:
    """Return the connected components of query ids, in the order of their first id.

    Two queries are connected by a relevant document in common, or by relevant documents that
    are near-duplicates or versions (`links`, computed where not given).
    """
    family = _families(evals, links)
    groups = _touching_merged(
        {("query", query.query_id), *(("document", family[d]) for d in query.relevant_doc_ids)}
        for query in evals.queries.values()
    )
    found = [{name for what, name in group if what == "query"} for group in groups]
    return sorted(found, key=min)


def leaking_answers(
    evals: evalset.EvalSet, links: Pairs | None = None
) -> list[tuple[str, str, str, str]]:
    """Return (dev query, test query, document of the first, document of the second).

    The two documents are one, near-duplicates or versions. Empty exactly where no component
    of `components` has queries of both halves.
    """
    family = _families(evals, links)
    sides: dict[str, dict[str, list]] = {}
    for query in evals.queries.values():
        for doc_id in query.relevant_doc_ids:
            side = sides.setdefault(family[doc_id], {"dev": [], "test": []})
            side[query.split].append((query.query_id, doc_id))
    return sorted(
        (dev, test, a, b)
        for side in sides.values()
        for dev, a in side["dev"]
        for test, b in side["test"]
    )
