"""Documents that count as one, and the queries that share their answers through them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from .. import evalset, text

Pairs = set[text.Pair]
TEMPLATE = 5  # documents: a run of words that so many share is their template's


def alike_documents(evals: evalset.EvalSet) -> tuple[dict[text.Pair, float], Pairs]:
    """Return {pair: Jaccard} of near-duplicates that are no versions, and the pairs that are one.

    One are versions, and near-duplicates that say the same (text.count_as_one), a template aside.
    """
    versions, near = evals.versions(), evals.near_duplicates()
    words = {d: evals.words(evals.documents[d].text) for pair in near for d in pair}
    often = Counter(chain.from_iterable(map(text.shingles, words.values())))
    template = {run for run, n in often.items() if n >= TEMPLATE}
    same = {(a, b) for a, b in near if text.count_as_one(words[a], words[b], template)}
    return {pair: share for pair, share in near.items() if pair not in versions}, versions | same


def components(evals: evalset.EvalSet, links: Pairs | None = None) -> list[set[str]]:
    """Return the connected groups of a set's queries; `links` are computed where not given."""
    return query_groups(_answers(evals), alike_documents(evals)[1] if links is None else links)


def query_groups(
    answers: Mapping[str, Iterable[str]], links: Iterable[text.Pair]
) -> list[set[str]]:
    """Return the groups of queries of {query_id: relevant doc_ids}, in the order of their first id.

    Two queries are connected by a document in common, or by two that count as one: `links`. A
    link to a document that answers nothing connects nobody.
    """
    family = _families(answers, links)
    ties = [{query_id, *(family[d] for d in doc_ids)} for query_id, doc_ids in answers.items()]
    groups = [{name for name in tie if isinstance(name, str)} for tie in text.merge_groups(ties)]
    return sorted(groups, key=min)


def leaking_answers(
    evals: evalset.EvalSet, links: Pairs | None = None
) -> list[tuple[str, str, str, str]]:
    """Return (dev query, test query, document of the first, document of the second).

    The two documents are one or count as one. Empty exactly where no component
    of `components` has queries of both halves.
    """
    answers = _answers(evals)
    family = _families(answers, alike_documents(evals)[1] if links is None else links)
    dev, test = defaultdict(list), defaultdict(list)  # of a family: (query, document)
    for query_id, doc_ids in answers.items():
        half = dev if evals.queries[query_id].split == "dev" else test
        for doc_id in doc_ids:
            half[family[doc_id]].append((query_id, doc_id))
    return sorted((q, r, a, b) for n in dev for q, a in dev[n] for r, b in test[n])


def _answers(evals: evalset.EvalSet) -> dict[str, tuple[str, ...]]:
    return {query_id: query.relevant_doc_ids for query_id, query in evals.queries.items()}


def _families(answers: Mapping[str, Iterable[str]], links: Iterable[text.Pair]) -> dict[str, int]:
    """Return {document that answers: number of its family}."""
    known = {doc_id for doc_ids in answers.values() for doc_id in doc_ids}
    ties = [{doc_id} for doc_id in known] + [{*pair} for pair in links if known.issuperset(pair)]
    return {doc_id: n for n, group in enumerate(text.merge_groups(ties)) for doc_id in group}
