"""Carry labels to changed documents: by text, then by quote; what is not sure a person reads."""

import functools
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from .. import evalset, files, sparse, text
from ..evalset import Document, EvalSet, Judgment
from ..evidence import Spans
from ..sources import readers, write
from . import manifest, reading
from .merge import JUDGMENTS, QUERY_TABLE

KEPT, CHANGED, MOVED = "kept", "kept, document changed", "moved"  # taken over unasked
RE_ANCHORED, AMBIGUOUS, LOST, AGAIN = "re-anchored", "ambiguous", "lost", "read again"
OUTCOMES = (KEPT, CHANGED, MOVED, RE_ANCHORED, AMBIGUOUS, LOST, AGAIN)
HEIR, RUNS = 0.2, 3  # share and number of a document's own runs with which another is its heir
RIVAL = 0.5  # share of the first heir's runs with which another that holds the quote is its rival
TELLING = 6  # words from which a quote that no other document held shows by itself where it went
NEAR = 100  # characters beside a quote whose words tell from which document it is
LIKENESS = 0.6  # from which a passage is offered in place of a quote
FIRST = 10  # results in which documents of a new text are to be judged
HISTORY = "history.jsonl"
PAGES = ("README.md", "notes.md", "labeling_guide.md", "settings.json")
TABLES = (QUERY_TABLE, JUDGMENTS, "pool.jsonl", "second_pass.jsonl")
SIGN = re.compile(rf"[{text.UNSPACED}]|[^\W{text.UNSPACED}]+|[^\w\s]")  # a word or a mark
Pair, Quotes = text.Pair, Sequence[Sequence[str]]  # alternatives, each of parts


class Offer(NamedTuple):
    """What a document offers for the parts of one alternative: the likest passages, by part."""

    doc_id: str
    parts: Sequence[str] = ()
    likeness: tuple[float, ...] = ()  # 0 to 1
    spans: Spans = []
    quotes: list[str] = []  # what stands there


class Fate(NamedTuple):
    """What becomes of a label: its outcome, its new documents and its evidence there.

    `to_read` has those of the documents that a person must read, with what is marked in them.
    """

    outcome: str
    doc_ids: tuple[str, ...] = ()
    evidence: Quotes = ()
    to_read: dict[str, Offer] = {}


class Case(NamedTuple):
    """A set and the documents to which it is carried.

    By old id, `same` has the new documents of the same text; of a changed one `own` has the runs of
    words that no other had, `heirs` {new id: how many of them it has}. `fresh` are the documents of
    a new text.
    """

    evals: EvalSet
    documents: dict[str, Document]
    same: dict[str, list[str]]
    heirs: dict[str, dict[str, int]]
    own: dict[str, set[str]]
    fresh: list[str]


def carry_command(folder: Path, source: str, to: Path, **more: str) -> list[str]:
    """Write the set of `folder` into the new folder `to`, its labels on the documents of `source`.

    `source` is KIND:PATH of an import, with `more` of its options, or a folder with a corpus.
    Returns what was done, line by line. Raises EvalSetError, and writes nothing, for bad input.
    """
    evals = evalset.load(folder)
    with write.new_set(to) as part:
        case = align(evals, _bring_documents(source, part, more))
        lines = write_set(case, part)
    following = evalset.load(to).next_step() or f"make report EVALS={to}"
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def _bring_documents(source: str, folder: Path, more: dict[str, str]) -> dict[str, Document]:
    """Write the documents of `source` into `folder`, byte by byte where they are a set's."""
    kind, _, path = source.partition(":")
    home, imported = Path(source), folder / "imported"
    if kind in write.READERS or more or not home.is_dir():
        write.import_into(readers.Options(kind, path, **more), imported)
        home = imported
    documents = evalset.read_corpus(home)
    for name in (name for name in manifest.inputs(home) if name.startswith("corpus")):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(home / name, folder / name)
    shutil.rmtree(imported, ignore_errors=True)
    return documents


def align(evals: EvalSet, documents: dict[str, Document]) -> Case:
    """Return where each document of a set went: by its text, else by the runs that it alone had.

    A run of words that stood in one old document only tells that what holds it now came from it.
    """
    runs = lambda document: text.shingles(evals.words(document.retrieval_text))  # noqa: E731
    old, by_text = evals.documents, defaultdict(list)
    for n, new in documents.items():
        by_text[new.retrieval_text].append(n)
    same = {d: by_text.get(old[d].retrieval_text, []) for d in old}
    same = {d: [d] if d in found else found for d, found in same.items()}
    known = {document.retrieval_text for document in old.values()}
    fresh = [n for n, new in documents.items() if new.retrieval_text not in known]
    changed = {d: runs(old[d]) for d in old if not same[d]}
    wanted = set().union(*changed.values())
    often = Counter(chain.from_iterable(runs(document) & wanted for document in old.values()))
    own = {d: {run for run in changed[d] if often[run] == 1} for d in changed}
    owner, heirs = {run: d for d in own for run in own[d]}, {d: {} for d in changed}
    for n in fresh:
        here = runs(documents[n])
        shared = Counter(owner[run] for run in here & owner.keys())
        for d in shared:
            if shared[d] >= max(RUNS, HEIR * min(len(own[d]), len(here))):
                heirs[d][n] = shared[d]
    return Case(evals, documents, same, heirs, own, fresh)


# What becomes of a label.


def fate_of_relevant(case: Case, label: Judgment) -> Fate:
    """Return what becomes of a label above 0. Without quotes every line of its text is a part."""
    old, evidence = case.evals.documents[label.doc_id], label.evidence
    if same := case.same[old.doc_id]:
        outcome = KEPT if same == [old.doc_id] else MOVED if len(same) == 1 else AMBIGUOUS
        parts = next(iter(evidence), ())
        spans = [nearest(part, old.retrieval_text)[1] for part in parts]
        unsure = {n: Offer(n, parts, spans=spans) for n in same if len(same) > 1}
        return Fate(outcome, tuple(same), evidence, unsure)
    heirs = case.heirs[old.doc_id]
    quotes = evidence or [[line for _, line in _lines(old)]]
    offers = _offers(case, old, quotes)
    found = (zip(o.parts, o.likeness, strict=True) for o in offers if o.doc_id in heirs)
    whole = {part for part, likeness in chain.from_iterable(found) if likeness == 1}
    likest = max(heirs, key=lambda n: (heirs[n], n), default="")
    if standing := [offer for offer in offers if min(offer.likeness) == 1]:
        fate = _standing(case, old, standing)
    elif any(whole.issuperset(parts) for parts in quotes):  # a split separated them
        fate = _unsure(AMBIGUOUS, [Offer(n) for n in heirs])
    elif evidence and offers and min(offers[0].likeness) >= LIKENESS:
        fate = _unsure(RE_ANCHORED, offers[:1])
    else:  # the likest document may answer the query all the same
        fate = _unsure(AGAIN if likest and not evidence else LOST, [Offer(likest)][: len(heirs)])
    return fate if evidence else fate._replace(evidence=[])


def _unsure(outcome: str, offers: list[Offer]) -> Fate:
    first = {offer.doc_id: offer for offer in reversed(offers)}
    return Fate(outcome, tuple(sorted(first)), [], first)


def _offers(case: Case, old: Document, evidence: Quotes) -> list[Offer]:
    """Return what heirs offer for each alternative, and what others hold whole: the likest first.

    Outside of heirs a passage counts that no other old document held.
    """
    heirs, offers = case.heirs[old.doc_id], []
    others = [other.retrieval_text for other in case.evals.documents.values() if other is not old]
    for parts, n in product(evidence, case.fresh):
        body = case.documents[n].retrieval_text
        if n in heirs or n == old.doc_id or all(part in body for part in parts):
            likeness, spans = zip(*(nearest(part, body) for part in parts), strict=True)
            quotes = [body[start:end] for start, end in spans]
            if n in heirs or not any(all(q in other for q in quotes) for other in others):
                offers.append(Offer(n, parts, likeness, spans, quotes))
    return sorted(offers, key=lambda o: (-min(o.likeness), -heirs.get(o.doc_id, 0)))


def _standing(case: Case, old: Document, standing: list[Offer]) -> Fate:
    """Return the fate of a label of which alternatives stand whole.

    An heir that holds one has the label. Elsewhere its words must tell, and its old page live on.
    """
    heirs = case.heirs[old.doc_id]
    least = RIVAL * heirs.get(standing[0].doc_id, 0)
    rivals = [offer for offer in standing if heirs.get(offer.doc_id, 0) >= least]
    same_id = [offer for offer in rivals if offer.doc_id == old.doc_id]
    first, *more = dict.fromkeys(offer.doc_id for offer in same_id or rivals)
    sure = [offer for offer in standing if offer.doc_id == first and _is_own(case, old, offer)]
    if sure and not more:
        return Fate(CHANGED if same_id else MOVED, (first,), [offer.quotes for offer in sure])
    return _unsure(AMBIGUOUS if more else RE_ANCHORED, rivals)


def _is_own(case: Case, old: Document, offer: Offer) -> bool:
    """Return whether what stands in a document came from `old`, for sure.

    In an heir it did where no other old document held it, or where the words beside it are those of
    the old one. Elsewhere it must be long, and the old document must live on.
    """
    heirs, body = case.heirs[old.doc_id], case.documents[offer.doc_id].retrieval_text
    if [old.doc_id] == [*heirs] == [offer.doc_id]:
        return True
    others = [other.retrieval_text for other in case.evals.documents.values() if other is not old]
    known = [any(part in other for other in others) for part in offer.parts]
    if offer.doc_id not in heirs:
        n_words = len(case.evals.words(" ".join(offer.parts)))
        return not any(known) and n_words >= TELLING and bool(heirs or offer.doc_id == old.doc_id)
    words, own, beside = case.evals.words, case.own[old.doc_id], text.SHINGLE - 1
    for (start, end), is_known in zip(offer.spans, known, strict=True):
        before, after = words(body[max(0, start - NEAR) : start]), words(body[end : end + NEAR])
        around = [*before[-beside:], *words(body[start:end]), *after[:beside]]
        if is_known and not own & text.shingles(around):
            return False
    return True


@functools.lru_cache(maxsize=10_000)
def _signs(body: str) -> tuple[list[str], list[tuple[int, int]]]:
    matches = [*SIGN.finditer(body)]
    return [match[0] for match in matches], [match.span() for match in matches]


def nearest(quote: str, body: str) -> tuple[float, tuple[int, int]]:
    """Return the likeness (0 to 1) of the passage of `body` that is most like a quote, its span.

    Likeness is twice the words and marks in common, in order, over those of both (Dice 1945). The
    passage lies around the longest run in common.
    """
    if (found := body.find(quote)) >= 0:
        return 1.0, (found, found + len(quote))
    (wanted, _), (signs, spans) = _signs(quote), _signs(body)
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


def fate_of_zero(case: Case, label: Judgment, known: set[str]) -> Fate:
    """Return what becomes of a label of 0; `known` are the lines that are judged 0 for its query.

    A changed document is read again where another line of it has a content word of the query.
    """
    if same := case.same[label.doc_id]:
        return Fate(KEPT if same == [label.doc_id] else MOVED, tuple(same))
    words, heirs, unread = case.evals.words, tuple(case.heirs[label.doc_id]), {}
    asked = {*text.content_words(words(case.evals.all_queries[label.query_id].query))}
    for n in heirs:
        lines = [line for line in _lines(case.documents[n]) if line[1] not in known]
        if spans := [span for span, line in lines if asked.intersection(words(line))]:
            unread[n] = Offer(n, spans=spans)
    outcome = AGAIN if unread else CHANGED if heirs == (label.doc_id,) else MOVED
    return Fate(outcome if heirs else LOST, heirs, [], unread)


def _lines(document: Document) -> list[tuple[tuple[int, int], str]]:
    matches = re.finditer(r"\S(?:.*\S)?", document.retrieval_text)
    return [(match.span(), match[0]) for match in matches]


def all_fates(case: Case) -> dict[Pair, Fate]:
    """Return what becomes of every label, by its query and its old document."""
    fates, zeros = {}, defaultdict(set)
    lines = {d: [line for _, line in _lines(old)] for d, old in case.evals.documents.items()}
    for label in case.evals.judgments:
        zeros[label.query_id].update(() if label.relevance else lines[label.doc_id])
    for label in case.evals.judgments:
        if label.relevance:
            fates[label[:2]] = fate_of_relevant(case, label)
        else:
            fates[label[:2]] = fate_of_zero(case, label, zeros[label.query_id])
    return fates


# What is written.


def write_set(case: Case, folder: Path) -> list[str]:
    """Write all files of a set but its documents into `folder`; return what was done, by line."""
    evals, fates = case.evals, all_fates(case)
    judged, to_read = resolve(evals, fates)
    for row in _new_results(case):
        if (pair := (row["query_id"], row["doc_id"])) not in judged:
            to_read.setdefault(pair, row)
    hashes = evals.corpus_hash(), evals._replace(documents=case.documents).corpus_hash()
    is_same = hashes[0] == hashes[1]
    copied = (*PAGES, *[*TABLES, "negatives.jsonl"] * is_same)
    for name in (name for name in copied if (evals.folder / name).exists()):
        shutil.copyfile(evals.folder / name, folder / name)
    tables = {} if is_same else _tables(case, fates, judged)
    tables |= {reading.TO_READ: [*to_read.values()]} if to_read else {}
    tables[HISTORY] = [row for _, row in files.read(evals.folder / HISTORY)]
    number = 1 + max((row["carry"] for row in tables[HISTORY]), default=0)
    for (q, d), fate in fates.items():
        is_open = any((q, n) in to_read for n in fate.doc_ids)
        row = {"carry": number, "from": hashes[0], "to": hashes[1], "query_id": q, "doc_id": d}
        row |= {"outcome": fate.outcome, "doc_ids": [*fate.doc_ids]}
        tables[HISTORY].append(row | {"decided": "to read" if is_open else "carry"})
    for name, rows in tables.items():
        files.write_jsonl(folder / name, rows)
    return _summary(evals, fates, to_read)


def resolve(evals: EvalSet, fates: dict[Pair, Fate]) -> tuple[dict, dict]:
    """Return {new pair: label} of those taken over, {new pair: row} of those to read.

    Of two labels on one document the higher grade counts. A pair is to be read where what is not
    sure says more than what is.
    """
    judged, to_read = {}, {}
    labels = sorted(evals.judgments, key=lambda label: -label.relevance)
    for label in labels:
        fate = fates[label[:2]]
        for n in (n for n in fate.doc_ids if n not in fate.to_read):
            carried = label._replace(doc_id=n, evidence=fate.evidence)
            judged.setdefault(carried[:2], carried)
    for label in labels:
        fate = fates[label[:2]]
        for n, offer in fate.to_read.items():
            pair = label.query_id, n
            if pair not in judged or judged[pair].relevance < label.relevance:
                judged.pop(pair, None)
                evidence = [offer.parts] if offer.parts else label.evidence
                row = _row(label._replace(doc_id=n, evidence=evidence))
                to_read.setdefault(pair, row | {"why": fate.outcome, "passages": offer.spans})
    return judged, to_read


def _row(label: Judgment) -> dict:
    """Return the row of a label whose evidence is alternatives of parts."""
    quotes = [parts[0] if len(parts) == 1 else [*parts] for parts in label.evidence]
    is_lone = len(quotes) == 1 == len(label.evidence[0])
    evidence = {"evidence": quotes[0] if is_lone else quotes} if quotes else {}
    return dict(zip(label._fields, label[:3], strict=False)) | evidence


def _new_results(case: Case) -> Iterator[dict]:
    """Yield a row of the list to read for each document of a new text that BM25 finds first."""
    texts = [document.retrieval_text for document in case.documents.values()]
    if case.fresh and any(map(case.evals.words, texts)):
        queries = {q: query.query for q, query in case.evals.all_queries.items()}
        model, index = sparse.bm25([*case.documents], texts, words=case.evals.words)
        for query_id, ranking in sparse.rankings(model, index, queries, FIRST):
            for rank, (doc_id, _) in enumerate(ranking, 1):
                if doc_id in case.fresh:
                    why = f"new text, rank {rank} of BM25"
                    yield {"query_id": query_id, "doc_id": doc_id, "why": why}


def _tables(case: Case, fates: dict, judged: dict[Pair, Judgment]) -> dict[str, list[dict]]:
    """Return the rows of the files that name documents, with the ids that these have now."""
    evals, tables = case.evals, {QUERY_TABLE: [], JUDGMENTS: []}
    new_pairs = {(q, d): [(q, n) for n in fate.doc_ids] for (q, d), fate in fates.items()}
    for _, row in files.rows(evals.folder / QUERY_TABLE):
        listed = [(row["query_id"], d) for d in row.get("relevant_doc_ids", ())]
        found = dict.fromkeys(chain.from_iterable(new_pairs[pair] for pair in listed))
        relevant = [pair[1] for pair in found if pair in judged and judged[pair].relevance]
        tables[QUERY_TABLE].append(row | ({"relevant_doc_ids": relevant} if listed else {}))
    in_order = dict.fromkeys(chain.from_iterable(new_pairs.values()))
    tables[JUDGMENTS] = [_row(judged[pair]) for pair in in_order if pair in judged]
    for name in ("pool.jsonl", "second_pass.jsonl"):
        moved = {}
        for row in evalset.read_extra(evals, name):
            q, d = row["query_id"], row["doc_id"]
            for pair in new_pairs.get((q, d), [(q, n) for n in case.same[d] or case.heirs[d]]):
                grade = judged[pair].relevance if pair in judged else None
                if row.get("final", grade) == grade:
                    moved.setdefault((pair, row.get("round")), {**row, "doc_id": pair[1]})
        tables[name] = [*moved.values()]
    return {name: rows for name, rows in tables.items() if (evals.folder / name).exists()}


def _summary(evals: EvalSet, fates: dict[Pair, Fate], to_read: dict) -> list[str]:
    """Return in words how many labels had which outcome, what is to read, and what stays behind."""
    lines = []
    for words, is_zero in (("above 0", False), ("of 0", True)):
        own = [fates[row[:2]].outcome for row in evals.judgments if is_zero != bool(row.relevance)]
        told = (f"{outcome}: {own.count(outcome)}" for outcome in OUTCOMES if outcome in own)
        lines.append(f"labels {words}: {len(own)}. {'; '.join(told)}")
    lines.append(f"pairs to read: {len(to_read)}" + f", in {reading.TO_READ}" * bool(to_read))
    return [*lines, "not carried: negatives, manifest, runs, results (make freeze, make report)"]
