"""Documents that count as one, and the queries that share their answers through them."""

from .. import evalset, text

Pairs = set[text.Pair]


def alike_documents(evals: evalset.EvalSet) -> tuple[dict[text.Pair, float], Pairs]:
    """Return {pair: Jaccard} of near-duplicates that are no versions, and the pairs that are one.

    One are versions, and near-duplicates that say the same (text.count_as_one).
    """
    versions, near = evals.versions(), evals.near_duplicates()
    bodies = {d: evals.words(evals.documents[d].text) for pair in near for d in pair}
    one = {pair for pair in near if text.count_as_one(*(bodies[d] for d in pair))}
    return {pair: n for pair, n in near.items() if pair not in versions}, versions | one


def _families(evals: evalset.EvalSet, links: Pairs | None) -> dict[str, str]:
    """Return {doc_id: first id of the documents that it is one with}, for answers."""
    links = alike_documents(evals)[1] if links is None else links
    answers = {d for query in evals.queries.values() for d in query.relevant_doc_ids}
    family = {doc_id: doc_id for doc_id in answers}
    for group in text.merged(pair for pair in links if answers.issuperset(pair)):
        family |= dict.fromkeys(group, min(group))
    return family


def components(evals: evalset.EvalSet, links: Pairs | None = None) -> list[set[str]]:
    """Return the connected components of query ids, in the order of their first id.

    Two queries are connected by a relevant document in common, or by relevant documents that
    count as one (`links`, computed where not given).
    """
    family = _families(evals, links)
    groups = text.merged(
        {("query", query.query_id), *(("document", family[d]) for d in query.relevant_doc_ids)}
        for query in evals.queries.values()
    )
    found = [{name for what, name in group if what == "query"} for group in groups]
    return sorted(found, key=min)


def leaking_answers(
    evals: evalset.EvalSet, links: Pairs | None = None
) -> list[tuple[str, str, str, str]]:
    """Return (dev query, test query, document of the first, document of the second).

    The two documents are one or count as one. Empty exactly where no component
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
