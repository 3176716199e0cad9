"""Documents that count as one, and the queries that share their answers through them."""

from collections import Counter, defaultdict
from itertools import chain, product

from . import text
from .evalset import EvalSet

Pairs = set[text.Pair]
TEMPLATE = 5  # documents: a run of words that so many share is their template's
DOUBLE, ALIKE = 0.5, 0.75  # Jaccard of content words, of relevant documents: near-double queries
WORDED = 5000  # queries: among more, chains of words in common would tie most of them


def alike_documents(evals: EvalSet) -> tuple[dict[text.Pair, float], Pairs]:
    """Return {pair: Jaccard} of near-duplicates that are no versions, and the pairs that are one.

    One are versions, and near-duplicates that say the same (text.count_as_one), a
    template aside.
    """
    versions, near = evals.versions(), evals.near_duplicates()
    words = {d: evals.words(evals.documents[d].text) for pair in near for d in pair}
    often = Counter(chain.from_iterable(map(text.shingles, words.values())))
    template = {run for run, n in often.items() if n >= TEMPLATE}
    same = {(a, b) for a, b in near if text.count_as_one(words[a], words[b], template)}
    return {pair: share for pair, share in near.items() if pair not in versions}, versions | same


def alike_answers(evals: EvalSet) -> Pairs:
    """Return the pairs of relevant documents that count as one."""
    relevant = evals.relevant_documents
    documents = {d: document for d, document in evals.documents.items() if d in relevant}
    return alike_documents(evals._replace(documents=documents))[1]


def components(evals: EvalSet, links: Pairs | None = None) -> list[set[str]]:
    """Return the groups of queries that one half must hold, in the order of their first id.

    Two queries are tied where one family, a document with its versions and copies
    (`links`, which are computed where not given), answers both in full, and where
    they are near-doubles. The unanswerable have near-doubles, too.
    """
    links = alike_documents(evals)[1] if links is None else links
    ties = defaultdict(set, {query_id: {query_id} for query_id in evals.settled_queries})
    for query_id, family, _ in answers(evals, links, evals.tying_grade):
        ties[query_id].add(family)
    groups = text.merge_groups([*ties.values(), *near_doubles(evals, links)])
    return sorted(({m for m in group if isinstance(m, str)} for group in groups), key=min)


def near_doubles(evals: EvalSet, links: Pairs) -> Pairs:
    """Return the pairs of queries that share half of their content words, or mostly an answer.

    That is three quarters of the families that are relevant to either, so of queries
    without a full answer those with the same partial ones are tied. Of more than
    WORDED queries no words are compared.
    """
    families = defaultdict(list)
    for query_id, family, _ in answers(evals, links):
        families[query_id].append(str(family))
    pairs = {*text.near_duplicates(families, ALIKE, size=1)}
    if len(evals.settled_queries) <= WORDED:
        words = {}
        for query_id, query in evals.settled_queries.items():
            if own := text.content_words(evals.words(query.query)):
                words[query_id] = own
        pairs |= text.near_duplicates(words, DOUBLE, size=1).keys()
    return pairs


def answers(evals: EvalSet, links: Pairs, least: int = 1) -> list[tuple[str, int, str]]:
    """Return (query, number of a family, document of it) for each label of `least` or more.

    A link to a document that answers nothing connects nobody.
    """
    qrels = evals.qrels()
    relevant = {d for row in qrels.values() for d, grade in row.items() if grade}
    ties = [{doc_id} for doc_id in relevant] + [{*p} for p in links if relevant.issuperset(p)]
    family = {}
    for number, group in enumerate(text.merge_groups(ties)):
        family |= dict.fromkeys(group, number)
    found = []
    for query_id, row in qrels.items():
        for doc_id, grade in row.items():
            if grade >= least:
                found.append((query_id, family[doc_id], doc_id))
    return found


def shared_answers(evals: EvalSet, links: Pairs, least: int = 1) -> list[tuple[str, str, str, str]]:
    """Return (dev query, test query, document of the first, document of the second).

    The two documents are one or count as one, and each is judged `least` or more for
    its query.
    """
    dev, test = defaultdict(list), defaultdict(list)  # of a family: (query, document)
    for query_id, family, doc_id in answers(evals, links, least):
        half = dev if evals.queries[query_id].split == "dev" else test
        half[family].append((query_id, doc_id))
    shared = []
    for family, of_dev in dev.items():
        for (asked, doc_id), (other, other_id) in product(of_dev, test[family]):
            shared.append((asked, other, doc_id, other_id))
    return sorted(shared)


def leaks(evals: EvalSet, links: Pairs) -> list[str]:
    """Return what ties queries of both halves, in words: full answers first, then near-doubles.

    Empty exactly where no component of `components` has queries of both halves.
    """
    told = []
    for query_id, other, doc_id, other_id in shared_answers(evals, links, evals.tying_grade):
        through = doc_id if doc_id == other_id else f"{doc_id} ~ {other_id}"
        told.append(f"{query_id} and {other} through {through}")
    queries = evals.all_queries
    for query_id, other in sorted(near_doubles(evals, links)):
        if queries[query_id].split != queries[other].split:
            told.append(f"{query_id} ~ {other}, near-doubles")
    return told


def apart_from_dev(evals: EvalSet) -> list[str]:
    """Return the test queries that share no relevant document with dev, versions as one."""
    shared = {test for _, test, _, _ in shared_answers(evals, alike_answers(evals))}
    return [q for q in evals.qrels("test") if q not in shared]
