"""What becomes of labels when documents change: by text, then by quote, else a person reads."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

from ..measure import text
from ..measure.evalset import Document, Documents, EvalSet, Judgment, Quotes
from ..measure.evidence import Spans
from ..measure.text import Pair

KEPT, CHANGED, MOVED = "kept", "kept, document changed", "moved"  # taken over unasked
RE_ANCHORED, AMBIGUOUS, LOST, AGAIN = "re-anchored", "ambiguous", "lost", "read again"
OUTCOMES = (KEPT, CHANGED, MOVED, RE_ANCHORED, AMBIGUOUS, LOST, AGAIN)
HEIR, RUNS = 0.2, 3  # share and number of a document's own runs with which another is its heir
RIVAL = 0.5  # share of the first heir's runs with which another that holds the quote is its rival
NEAR = 30  # characters beside a quote whose words tell from which document it is
LIKENESS = 0.6  # from which a passage is offered in place of a quote
HEAD = 5  # sentences, the title among them, in which a page says what became of it
WARNING = re.compile(  # words there that ask whether it answers still
    r"\b(?:deprecat\w+|obsolete|superseded|(?:re)?moved|replaced|retired|no longer|only for)\b",
    re.I,
)
FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1\n?|\Z)", re.MULTILINE | re.DOTALL)
BETWEEN = re.compile(  # sentences: their last sign, an empty line, a heading, an item, a row
    r"""[.!?]["')\]*_`]*\s+|[。！？]|\n[\s>]*\n|^\#+\s.*\n|"""
    r"""\n(?=\s*(?:\#+\s|[-*+]\s|\d+[.)]\s|\|))""",
    re.MULTILINE,
)
NO_WORDS = re.compile(r"\]\([^)]*\)|\b\w+['’](?:t|re|ve|ll|d|m)\b", re.I)  # links' addresses, don't
JOINED = re.compile(  # words that a line end tears apart, where no space stands between words
    rf"(?<=[{text.UNSPACED}])(?<![\u1100-\u11ff\uac00-\ud7a3])\n\s*(?=[{text.UNSPACED}])"
)
LINE, TRIMMED = re.compile(r"\S(?:.*\S)?"), re.compile(r"\S(?:.*\S)?", re.DOTALL)
SIGN = re.compile(rf"[{text.UNSPACED}]|[^\W{text.UNSPACED}]+|[^\w\s]")  # a word or a mark
Words = frozenset[str]  # the content words of a sentence, numbers among them
Sentences = list[tuple[tuple[int, int], Words]]  # of a document, each with its span


class Offer(NamedTuple):
    """The passages of a document that are likest to the parts of one alternative."""

    doc_id: str
    parts: Sequence[str] = ()
    likeness: float = 0.0  # 0 to 1, of the part that is least like
    spans: Spans = []  # a passage for each part


class Fate(NamedTuple):
    """What becomes of a label: its outcome, its new documents and its evidence there.

    `to_read` has those of the documents that a person must read, with what is marked in them, and
    `why` says the reason, where the outcome doesn't.
    """

    outcome: str
    doc_ids: Sequence[str] = ()
    evidence: Sequence[Quotes] = ()
    to_read: dict[str, Offer] = {}
    why: str = ""


class Case(NamedTuple):
    """A set and the documents to which it is carried.

    By old id, `kin` are the new documents of the same text, else {new id: how many it has of the
    runs of words that no other document had}, the `own` of a changed one. `heirs` are those of them
    that share so much that the old one lives on in them, and the new one of its id, whatever its
    text. `namesakes` are the old documents that have no other heir. `fresh` are the documents of a
    new text.
    """

    evals: EvalSet
    documents: Documents
    kin: dict[str, dict[str, int]]
    heirs: dict[str, list[str]]
    own: dict[str, set[str]]
    namesakes: set[str]
    fresh: set[str]


# Where a document went.


def align(evals: EvalSet, documents: Documents) -> Case:
    """Return where each document of a set went: by its text, else by the runs that it alone had.

    A run of words that stood in one old document only tells that what holds it now came from it.
    """
    kin, heirs = {}, _same_texts(evals.documents, documents)
    for old_id, same in heirs.items():
        kin[old_id] = dict.fromkeys(same, 1)
    changed = [old_id for old_id, same in heirs.items() if not same]
    known = {*evals.texts.values()}
    fresh = {d for d, document in documents.items() if document.retrieval_text not in known}
    own = _own_runs(evals, changed)
    owner = {}
    for old_id, own_runs in own.items():
        owner |= dict.fromkeys(own_runs, old_id)
    for new_id in sorted(fresh):
        here = _runs_of(evals, documents[new_id])
        shared = Counter(owner[run] for run in here & owner.keys())
        for old_id, n in shared.items():
            kin[old_id][new_id] = n
            if n >= max(RUNS, HEIR * min(len(own[old_id]), len(here))):
                heirs[old_id].append(new_id)
    namesakes = set()
    for doc_id in fresh.intersection(changed):
        if not heirs[doc_id]:
            namesakes.add(doc_id)
        kin[doc_id].setdefault(doc_id, 0)
        if doc_id not in heirs[doc_id]:
            heirs[doc_id].append(doc_id)
    return Case(evals, documents, kin, heirs, own, namesakes, fresh)


def _same_texts(old: Documents, new: Documents) -> dict[str, list[str]]:
    """Return {old id: new documents of its text}; of several that of its id alone."""
    by_text = defaultdict(list)
    for new_id, document in new.items():
        by_text[document.retrieval_text].append(new_id)
    same = {}
    for old_id, document in old.items():
        same[old_id] = [*by_text[document.retrieval_text]]
        if old_id in same[old_id]:
            same[old_id] = [old_id]
    return same


def _runs_of(evals: EvalSet, document: Document) -> set[str]:
    return text.shingles(evals.words(document.retrieval_text))


def _own_runs(evals: EvalSet, changed: list[str]) -> dict[str, set[str]]:
    """Return {doc_id: the runs of words that no other old document has} of those that changed."""
    runs_of = {doc_id: _runs_of(evals, evals.documents[doc_id]) for doc_id in changed}
    wanted, often = set().union(*runs_of.values()), Counter()
    for document in evals.documents.values():
        often.update(_runs_of(evals, document) & wanted)
    own = {}
    for doc_id, here in runs_of.items():
        own[doc_id] = {run for run in here if often[run] == 1}
    return own


# What becomes of a label.


def all_fates(case: Case, first: dict[str, list[str]]) -> dict[Pair, Fate]:
    """Return what becomes of every label, by its query and its old document.

    `first` are by query the new documents that the rankers find first.
    """
    evals, known = case.evals, defaultdict(set)

    @cache
    def read(document: Document) -> Sentences:
        return _content_by_sentence(evals, document)

    for label in evals.judgments:
        if not label.relevance:
            known[label.query_id].update(words for _, words in read(evals.documents[label.doc_id]))
    fates = {}
    for label in evals.judgments:
        if label.relevance:
            fates[label.pair] = fate_of_relevant(case, label)
            continue
        heirs = case.heirs[label.doc_id]
        new = {new_id: read(case.documents[new_id]) for new_id in heirs}
        found = first.get(label.query_id, [])
        fates[label.pair] = fate_of_zero(case, label, known[label.query_id], new, found)
    return fates


def _sure(case: Case, old_id: str, doc_ids: Sequence[str], evidence: Sequence[Quotes]) -> Fate:
    """Return the fate of a label that is taken over unasked."""
    if [*doc_ids] != [old_id]:
        outcome = MOVED
    elif old_id in case.own:
        outcome = CHANGED
    else:
        outcome = KEPT
    return Fate(outcome, doc_ids, evidence)


def _unsure(outcome: str, offers: Iterable[Offer], why: str = "") -> Fate:
    """Return the fate of a label that a person must read, with the first offer of each document."""
    first = {}
    for offer in offers:
        first.setdefault(offer.doc_id, offer)
    return Fate(outcome, sorted(first), [], first, why)


def fate_of_relevant(case: Case, label: Judgment) -> Fate:
    """Return what becomes of a label above 0. Without quotes every line of its text is a part."""
    old = case.evals.documents[label.doc_id]
    kin, heirs = case.kin[old.doc_id], case.heirs[old.doc_id]
    if old.doc_id not in case.own and len(heirs) == 1:
        return _sure(case, old.doc_id, heirs, label.evidence)
    quotes = label.evidence or [LINE.findall(old.retrieval_text)]
    offers = [_offer(case.documents[new_id], parts) for parts, new_id in product(quotes, kin)]
    offers = [offer for offer in offers if not _stood_before(case, old, offer)]
    offers.sort(key=lambda offer: (-offer.likeness, -kin[offer.doc_id]))
    best = offers[0] if offers else Offer("")
    if best.likeness == 1:
        least = RIVAL * kin[best.doc_id]
        rivals = [o for o in offers if o.likeness == 1 and kin[o.doc_id] >= least]
        fate = _fate_of_whole(case, old, rivals)
    elif label.evidence and best.likeness >= LIKENESS:
        fate = _unsure(RE_ANCHORED, [best])
    else:  # the likest document, or that of the same id, may answer the query all the same
        likest = max(heirs, key=lambda new_id: (kin[new_id], new_id), default=None)
        outcome = AGAIN if heirs and not label.evidence else LOST
        fate = _unsure(outcome, [Offer(d) for d in heirs if d in (likest, old.doc_id)])
    if label.evidence:
        return fate
    return fate._replace(evidence=[], to_read={new_id: Offer(new_id) for new_id in fate.to_read})


def _offer(document: Document, parts: Sequence[str]) -> Offer:
    found = [nearest(part, document.retrieval_text) for part in parts]
    least = min(likeness for likeness, _ in found)
    return Offer(document.doc_id, parts, least, [span for _, span in found])


def _stood_before(case: Case, old: Document, offer: Offer) -> bool:
    """Return whether a passage stood beside the quote in the old document: it's no heir of it."""
    body = case.documents[offer.doc_id].retrieval_text
    for part, (start, end) in zip(offer.parts, offer.spans, strict=True):
        found = body[start:end]
        if found in old.retrieval_text and found not in part and part not in found:
            return True
    return False


def _fate_of_whole(case: Case, old: Document, rivals: list[Offer]) -> Fate:
    """Return the fate of a label of which alternatives stand whole, in what offers them."""
    rivals = [offer for offer in rivals if offer.doc_id == old.doc_id] or rivals
    new_id, *others = dict.fromkeys(offer.doc_id for offer in rivals)
    if others:
        return _unsure(AMBIGUOUS, rivals)
    new = case.documents[new_id]
    sure = [offer for offer in rivals if _came_from(case, old, new, offer.spans)]
    if not sure:
        return _unsure(RE_ANCHORED, rivals)
    if warnings := _warnings(new) - _warnings(old):
        why = f"{AGAIN}: its first lines say {', '.join(sorted(warnings))} now"
        return _unsure(AGAIN, sure, why)
    evidence = []
    for offer in sure:
        quotes = (new.retrieval_text[start:end] for start, end in offer.spans)
        evidence.append(Quotes.of(quotes, getattr(offer.parts, "needs", ())))
    return _sure(case, old.doc_id, [new_id], evidence)


def _warnings(document: Document) -> set[str]:
    """Return the words of the title and the first sentences that say a page may not hold."""
    body = document.retrieval_text
    head = " ".join(body[start:end] for start, end in sentences(body)[:HEAD])
    return {" ".join(word.lower().split()) for word in WARNING.findall(head)}


def _came_from(case: Case, old: Document, new: Document, spans: Spans) -> bool:
    """Return whether passages of `new` came from `old`, which lives on, for sure.

    They did where the words of each, with those beside it, hold a run that only `old` had.
    """
    heirs = case.heirs[old.doc_id]
    lives_on = bool(heirs) and old.doc_id not in case.namesakes
    if lives_on and [old.doc_id] == heirs == [new.doc_id]:
        return True
    if not lives_on and new.doc_id != old.doc_id:
        return False
    near = NEAR if new.doc_id in heirs else 0
    for start, end in spans:
        around = new.retrieval_text[max(0, start - near) : end + near]
        if case.own[old.doc_id].isdisjoint(text.shingles(case.evals.words(around))):
            return False
    return True


def fate_of_zero(
    case: Case, label: Judgment, known: set[Words], new: dict[str, Sentences], first: list[str]
) -> Fate:
    """Return what becomes of a label of 0.

    `known` are the content words of each sentence that is judged 0 for its query, `new` those of
    the heirs. An heir is read again where nothing is left that only the old one had, or where it is
    among the `first` results and a sentence with a word of the query gained a content word or a
    number.
    """
    old_id, unread = label.doc_id, []
    query = case.evals.all_queries[label.query_id].query
    asked = set(text.content_words(case.evals.words(query)))
    for new_id, read in new.items():
        gained = []
        for span, here in read:
            if asked.isdisjoint(here) or here in known:
                continue
            if not any(here <= old for old in known):
                gained.append(span)
        is_another = not case.kin[old_id][new_id] and case.own[old_id]
        if is_another or (gained and new_id in first):
            unread.append(Offer(new_id, spans=gained))
    if not new:
        return Fate(LOST)
    if unread:
        return Fate(AGAIN, [*new], [], {offer.doc_id: offer for offer in unread})
    return _sure(case, old_id, [*new], [])


# Passages.


def nearest(quote: str, body: str) -> tuple[float, tuple[int, int]]:
    """Return the likeness (0 to 1) of the passage of `body` that is most like a quote, its span.

    Likeness is twice the words and marks in common, in order, over those of both (Dice 1945). The
    passage lies around the longest run in common.
    """
    if (found := body.find(quote)) >= 0:
        return 1.0, (found, found + len(quote))
    wanted, spans = SIGN.findall(quote), [match.span() for match in SIGN.finditer(body)]
    signs = [body[start:end] for start, end in spans]
    longest = SequenceMatcher(None, wanted, signs, False).find_longest_match()
    begin, margin = longest.b - longest.a, len(wanted) // 2
    offset = max(0, begin - margin)
    window = signs[offset : begin + len(wanted) + margin]
    *blocks, _ = SequenceMatcher(None, wanted, window, False).get_matching_blocks()
    if not blocks:
        return 0.0, (0, 0)
    start = max(0, offset + blocks[0].b - blocks[0].a)
    end = min(len(signs), offset + blocks[-1].b - blocks[-1].a + len(wanted))
    likeness = 2 * sum(block.size for block in blocks) / (len(wanted) + end - start)
    return likeness, (spans[start][0], spans[end - 1][1])


def sentences(body: str) -> Spans:
    """Return the spans of the sentences of a Markdown text, however its lines are wrapped.

    Items of a list, rows of a table, headings and lines of a fenced block count as one each.
    """
    ends = [match.end() for match in BETWEEN.finditer(body)]
    for fenced in FENCED.finditer(body):
        ends.append(fenced.start())
        ends += [place for place in range(*fenced.span()) if body[place] == "\n"]
    edges = [0, *sorted(ends), len(body)]
    found = (TRIMMED.search(body, *edge) for edge in pairwise(edges))
    return [match.span() for match in found if match]


def _content_by_sentence(evals: EvalSet, document: Document) -> Sentences:
    """Return the span of each sentence of a document and its content words."""
    body, found = document.retrieval_text, []
    for start, end in sentences(body):
        sentence = NO_WORDS.sub(" ", JOINED.sub("", body[start:end]))
        if words := frozenset(text.content_words(evals.words(sentence))):
            found.append(((start, end), words))
    return found
