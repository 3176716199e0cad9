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


def components(evals: evalset.EvalSet, links: Pairs | None = None) -> list[set[str]]:
    """Return the groups of queries that share answers, in the order of their first id.

    Two share one where both have it, or where theirs count as one (`links`). A link to a document
    that answers nothing connects nobody.
    """
    family = _families(evals, links)
    ties = [
        [("query", query_id), *(("family", family[d]) for d in query.relevant_doc_ids)]
        for query_id, query in evals.queries.items()
    ]
    groups = ({name for what, name in tie if what == "query"} for tie in text.merged(ties))
    return sorted(groups, key=min)


def leaking_answers(
    evals: evalset.EvalSet, links: Pairs | None = None
) -> list[tuple[str, str, str, str]]:
    """Return (dev query, test query, document of the first, document of the second).

    The two documents are one or count as one. Empty exactly where no component
    of `components` has queries of both halves.
    """
    family = _families(evals, links)
    answers = {"dev": {}, "test": {}}  # of a half and family: (query, document)
    for query in evals.queries.values():
        for doc_id in query.relevant_doc_ids:
            of_family = answers[query.split].setdefault(family[doc_id], [])
            of_family.append((query.query_id, doc_id))
    return sorted(
        (dev, test, a, b)
        for n, of_family in answers["dev"].items()
        for dev, a in of_family
        for test, b in answers["test"].get(n, ())
    )


def _families(evals: evalset.EvalSet, links: Pairs | None) -> dict[str, int]:
    """Return {document that answers: number of its family}; `links` are computed where None."""
    links = alike_documents(evals)[1] if links is None else links
    answers = {d for query in evals.queries.values() for d in query.relevant_doc_ids}
    ties = [{d} for d in answers] + [{*pair} for pair in links if answers.issuperset(pair)]
    return {doc_id: n for n, group in enumerate(text.merged(ties)) for doc_id in group}
