"""Carry labels to changed documents: by text, then by quote; what is not sure a person reads."""

import functools
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from .. import evalset, files, sparse, text
from ..evalset import Document, EvalSet, Judgment
from ..evidence import Spans
from ..sources import readers, write
from . import manifest
from .merge import JUDGMENTS, QUERY_TABLE

KEPT, CHANGED, MOVED = "kept", "kept, document changed", "moved"  # taken over unasked
RE_ANCHORED, AMBIGUOUS, LOST, AGAIN = "re-anchored", "ambiguous", "lost", "read again"
OUTCOMES = (KEPT, CHANGED, MOVED, RE_ANCHORED, AMBIGUOUS, LOST, AGAIN)
HEIR, RUNS = 0.2, 3  # share and number of a document's own runs with which another is its heir
RIVAL = 0.5  # share of the first heir's runs with which another that holds the quote is its rival
TELLING = 6  # words from which a quote that no other document held shows by itself where it went
LIKENESS = 0.6  # from which a passage is offered in place of a quote
HISTORY, TO_READ, FIRST = "history.jsonl", "to_read.jsonl", 10
COPIED = ("README.md", "notes.md", "labeling_guide.md", "settings.json")
SIGN = re.compile(rf"[{text.UNSPACED}]|[^\W{text.UNSPACED}]+|[^\w\s]")  # a word or a mark
Evidence = tuple[tuple[str, ...], ...]  # alternatives, each of parts that prove it together
Pair = text.Pair  # query_id, doc_id


class Fate(NamedTuple):
    """What becomes of a label: its outcome, its new documents and its evidence there.

    `to_read` are those of the documents that a person must read, with the passages to mark.
    """

    outcome: str
    doc_ids: tuple[str, ...] = ()
    evidence: Evidence = ()
    to_read: dict[str, Spans] = {}


class Case(NamedTuple):
    """A set and the documents to which it is carried.

    By old id, `same` has the new documents of the same text, `heirs` {new id: shared own runs} of
    a changed one, most first. `fresh` are the new documents whose text is new.
    """

    evals: EvalSet
    documents: dict[str, Document]
    same: dict[str, list[str]]
    heirs: dict[str, dict[str, int]]
    fresh: list[str]


class Offer(NamedTuple):
    """The passages of a document that are most like the parts of an alternative, by part."""

    doc_id: str
    likeness: list[float]
    spans: Spans
    quotes: tuple[str, ...]  # what stands there
    parts: tuple[str, ...]  # what stood in the old document


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
    for page in manifest.corpus_files(home):
        copy = folder / page.relative_to(home)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(page, copy)
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
    fresh = sorted({*documents} - {n for d in old for n in by_text.get(old[d].retrieval_text, [])})
    changed = {d: runs(old[d]) for d in old if not same[d]}
    wanted = set().union(*changed.values())
    often = Counter(chain.from_iterable(runs(document) & wanted for document in old.values()))
    owner = {run: d for d in changed for run in changed[d] if often[run] == 1}
    n_own, heirs = Counter(owner.values()), {d: Counter() for d in changed}
    for n in fresh:
        own = runs(documents[n])
        shared = Counter(owner[run] for run in own & owner.keys())
        for d in shared:
            if shared[d] >= max(RUNS, HEIR * min(n_own[d], len(own))):
                heirs[d][n] = shared[d]
        if n in changed and not shared:  # one of several copies has no run that tells
            is_like = len(own & changed[n]) >= text.COPY_HALF * len(own | changed[n])
            heirs[n] |= {n: 1} if is_like else {}
    return Case(evals, documents, same, {d: dict(heirs[d].most_common()) for d in heirs}, fresh)


# What becomes of a label.


def alternatives(evidence: Iterable[str | Iterable[str]]) -> Evidence:
    """Return evidence as alternatives of parts; a quote alone is an alternative of one part."""
    return tuple((quote,) if isinstance(quote, str) else tuple(quote) for quote in evidence)


def fate_of_relevant(case: Case, label: Judgment) -> Fate:
    """Return what becomes of a label above 0. Without quotes every line of its text is a part."""
    old, evidence = case.evals.documents[label.doc_id], alternatives(label.evidence)
    if same := case.same[old.doc_id]:
        outcome = KEPT if same == [old.doc_id] else MOVED if len(same) == 1 else AMBIGUOUS
        return Fate(outcome, tuple(same), evidence, {n: [] for n in same if len(same) > 1})
    heirs = case.heirs[old.doc_id]
    offers = [*_offers(case, old, evidence or (tuple(line for _, line in _lines(old)),))]
    standing = [offer for offer in offers if min(offer.likeness) == 1]
    if standing:
        fate = _standing(case, old, standing)
    elif apart := _apart(offers, heirs):
        fate = _unsure(AMBIGUOUS, apart)
    elif evidence and offers and min(offers[0].likeness) >= LIKENESS:
        fate = _unsure(RE_ANCHORED, offers[:1])
    else:  # the first heir may answer the query all the same
        first, outcome = [*heirs][:1], AGAIN if heirs and not evidence else LOST
        fate = Fate(outcome, tuple(first), (), {n: [] for n in first})
    return fate if evidence else fate._replace(evidence=())


def _unsure(outcome: str, offers: list[Offer]) -> Fate:
    marks = {}
    for offer in offers:
        marks.setdefault(offer.doc_id, offer.spans)
    return Fate(outcome, tuple(marks), (), marks)


def _offers(case: Case, old: Document, evidence: Evidence) -> list[Offer]:
    """Return the nearest passages of each alternative in heirs and in what shares a quarter of it.

    The likest are first, of equal ones those of the first heirs. Outside of heirs a passage counts
    that no other old document held.
    """
    heirs, offers = case.heirs[old.doc_id], []
    others = [other.retrieval_text for other in case.evals.documents.values() if other is not old]
    for parts in evidence:
        quoted = _short_runs(" ".join(parts))
        for n in dict.fromkeys([*heirs, *case.fresh]):
            body = case.documents[n].retrieval_text
            if n in heirs or n == old.doc_id or 4 * len(quoted & _short_runs(body)) >= len(quoted):
                likeness, spans = zip(*(nearest(part, body) for part in parts), strict=True)
                quotes = tuple(body[slice(*span)] for span in spans)
                if n in heirs or not any(all(q in other for q in quotes) for other in others):
                    offers.append(Offer(n, likeness, [*spans], quotes, parts))
    return sorted(offers, key=lambda o: (-min(o.likeness), -heirs.get(o.doc_id, 0)))


def _standing(case: Case, old: Document, standing: list[Offer]) -> Fate:
    """Return the fate of a label of which alternatives stand whole.

    An heir that holds one has the label. Elsewhere its words must tell, and its old page live on.
    """
    heirs = case.heirs[old.doc_id]
    least = RIVAL * heirs.get(standing[0].doc_id, 0)
    rivals = dict.fromkeys(o.doc_id for o in standing if heirs.get(o.doc_id, 0) >= least)
    first, *more = [old.doc_id] if old.doc_id in rivals else rivals
    held = tuple(offer.quotes for offer in standing if offer.doc_id == first)
    n_words = max(len(case.evals.words(" ".join(quotes))) for quotes in held)
    tells = n_words >= TELLING and (heirs or first == old.doc_id)
    if not more and (first in heirs or tells):
        return Fate(CHANGED if first == old.doc_id else MOVED, (first,), held)
    return _unsure(AMBIGUOUS if more else RE_ANCHORED, [o for o in standing if o.doc_id in rivals])


def _apart(offers: list[Offer], heirs: Iterable[str]) -> list[Offer]:
    """Return the offers of an alternative whose parts a split has separated, [] without any."""
    by_parts = defaultdict(list)
    for offer in offers:
        if offer.doc_id in heirs:
            by_parts[offer.parts].append(offer)
    for own in by_parts.values():
        if all(1 in likeness for likeness in zip(*(offer.likeness for offer in own), strict=True)):
            return [offer for offer in own if 1 in offer.likeness]
    return []


@functools.lru_cache(maxsize=10_000)
def _signs(body: str) -> tuple[list[str], list[tuple[int, int]]]:
    matches = [*SIGN.finditer(body)]
    return [match[0] for match in matches], [match.span() for match in matches]


@functools.lru_cache(maxsize=10_000)
def _short_runs(body: str) -> set[str]:
    return text.shingles(_signs(body)[0], RUNS)


def nearest(quote: str, body: str) -> tuple[float, tuple[int, int]]:
    """Return the likeness (0 to 1) of the passage of `body` that is most like a quote, its span.

    Likeness is twice the words and marks in common, in order, over those of both (Dice 1945). The
    passage lies around the longest run in common.
    """
    (wanted, _), (signs, spans) = _signs(quote), _signs(body)
    longest = SequenceMatcher(None, wanted, signs, False).find_longest_match()
    offset = max(0, longest.b - longest.a - len(wanted) // 2)
    window = signs[offset : longest.b - longest.a + len(wanted) * 3 // 2]
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
            unread[n] = spans
    outcome = AGAIN if unread else CHANGED if heirs == (label.doc_id,) else MOVED
    return Fate(outcome if heirs else LOST, heirs, (), unread)


def _lines(document: Document) -> list[tuple[tuple[int, int], str]]:
    matches = re.finditer(r"\S(?:.*\S)?", document.retrieval_text)
    return [(match.span(), match[0]) for match in matches]


def all_fates(case: Case) -> dict[Pair, Fate]:
    """Return what becomes of every label, by its query and its old document."""
    fates, known = {}, defaultdict(set)
    lines = {d: [line for _, line in _lines(old)] for d, old in case.evals.documents.items()}
    for label in case.evals.judgments:
        known[label.query_id].update(() if label.relevance else lines[label.doc_id])
    for label in case.evals.judgments:
        is_zero = not label.relevance
        fate = (
            fate_of_zero(case, label, known[label.query_id])
            if is_zero
            else fate_of_relevant(case, label)
        )
        fates[label[:2]] = fate
    return fates


# What is written.


def resolve(case: Case, fates: dict[Pair, Fate]) -> tuple[dict[Pair, Judgment], dict[Pair, dict]]:
    """Return the labels that are taken over and the rows of the list to read, by new pair.

    Of two labels on one document the higher grade counts, with the evidence of both where equal. A
    pair is in one of the two: to be read where what is not sure says more than what is.
    """
    judged, unread = {}, {}
    labels = sorted(case.evals.judgments, key=lambda label: -label.relevance)
    for label in labels:
        fate = fates[label[:2]]
        for n in (n for n in fate.doc_ids if n not in fate.to_read):
            carried = label._replace(doc_id=n, evidence=fate.evidence)
            first = judged.setdefault(carried[:2], carried)
            if first.relevance == label.relevance:
                evidence = tuple(dict.fromkeys(first.evidence + fate.evidence))
                judged[carried[:2]] = first._replace(evidence=evidence)
    for label in labels:
        fate = fates[label[:2]]
        for n, spans in fate.to_read.items():
            pair = label.query_id, n
            if pair not in judged or judged[pair].relevance < max(1, label.relevance):
                judged.pop(pair, None)
                row = _row(label._replace(doc_id=n, evidence=alternatives(label.evidence)))
                unread.setdefault(pair, row | {"why": fate.outcome, "passages": spans})
    return judged, unread


def _row(label: Judgment) -> dict:
    """Return the row of a label whose evidence is alternatives of parts."""
    quotes = [parts[0] if len(parts) == 1 else [*parts] for parts in label.evidence]
    evidence = {"evidence": quotes[0] if len(quotes) == 1 else quotes} if quotes else {}
    return dict(zip(label._fields, label[:3], strict=False)) | evidence


def _new_results(case: Case) -> Iterator[tuple[Pair, int]]:
    """Yield ((query_id, doc_id), rank) of the documents of a new text that BM25 finds first."""
    texts = [document.retrieval_text for document in case.documents.values()]
    queries = {q: query.query for q, query in case.evals.all_queries.items()}
    if case.fresh and any(map(case.evals.words, texts)):
        model, index = sparse.bm25([*case.documents], texts, words=case.evals.words)
        for query_id, ranking in sparse.rankings(model, index, queries, FIRST):
            for rank, (doc_id, _) in enumerate(ranking, 1):
                if doc_id in case.fresh:
                    yield (query_id, doc_id), rank


def write_set(case: Case, folder: Path) -> list[str]:
    """Write all files of a set but its documents into `folder`; return what was done, by line."""
    evals, fates = case.evals, all_fates(case)
    judged, unread = resolve(case, fates)
    for pair, rank in _new_results(case):
        if pair not in judged:
            row = dict(zip(("query_id", "doc_id"), pair, strict=True))
            unread.setdefault(pair, row | {"why": f"new text, rank {rank} of BM25"})
    tables = _tables(case, fates, judged)
    unchanged = evals.corpus_hash() == evals._replace(documents=case.documents).corpus_hash()
    for name in (*COPIED, *["negatives.jsonl"] * unchanged):
        if (evals.folder / name).exists():
            shutil.copyfile(evals.folder / name, folder / name)
    for name, rows in tables.items():
        if rows == [row for _, row in files.rows(evals.folder / name)]:
            shutil.copyfile(evals.folder / name, folder / name)
        else:
            files.write_jsonl(folder / name, rows)
    if unread:
        files.write_jsonl(folder / TO_READ, unread.values())
    files.write_jsonl(folder / HISTORY, _history(case, fates, unread))
    return _summary(case, fates, unread, folder)


def _tables(case: Case, fates: dict, judged: dict[Pair, Judgment]) -> dict[str, list[dict]]:
    """Return the rows of the files that name documents, with the ids that these have now."""
    evals, tables = case.evals, {QUERY_TABLE: [], JUDGMENTS: []}
    for _, row in files.rows(evals.folder / QUERY_TABLE):
        listed = [(row["query_id"], d) for d in row.get("relevant_doc_ids", ())]
        found = dict.fromkeys((q, n) for q, d in listed for n in fates[q, d].doc_ids)
        relevant = [pair[1] for pair in found if pair in judged and judged[pair].relevance]
        tables[QUERY_TABLE].append({**row, "relevant_doc_ids": relevant} if listed else row)
    own = {
        label[:2]: label._replace(evidence=alternatives(label.evidence))
        for label in evals.judgments
    }
    rows = {
        (row["query_id"], row["doc_id"]): row for _, row in files.rows(evals.folder / JUDGMENTS)
    }
    for pair in dict.fromkeys((q, n) for q, d in own for n in fates[q, d].doc_ids):
        if pair in judged:
            is_same = judged[pair] == own.get(pair)
            tables[JUDGMENTS].append(rows[pair] if is_same else _row(judged[pair]))
    for name in ("pool.jsonl", "second_pass.jsonl"):
        moved = {}
        for row in evalset.read_extra(evals, name):
            q, d = row["query_id"], row["doc_id"]
            for n in fates[q, d].doc_ids if (q, d) in fates else case.same[d] or case.heirs[d]:
                grade = judged[q, n].relevance if (q, n) in judged else None
                if row.get("final", grade) == grade:
                    moved.setdefault((q, n, row.get("round")), {**row, "doc_id": n})
        tables[name] = [*moved.values()]
    return {name: rows for name, rows in tables.items() if (evals.folder / name).exists()}


def _history(case: Case, fates: dict[Pair, Fate], unread: dict[Pair, dict]) -> list[dict]:
    """Return the rows of the journal: those of former carries, and one for each label."""
    evals = case.evals
    rows = [row for _, row in files.read(evals.folder / HISTORY)]
    number = 1 + max((row["carry"] for row in rows), default=0)
    hashes = evals.corpus_hash(), evals._replace(documents=case.documents).corpus_hash()
    for q, d, grade, _ in evals.judgments:
        outcome, doc_ids, *_ = fates[q, d]
        row = {"carry": number, **dict(zip(("from", "to"), hashes, strict=True))}
        row |= {"query_id": q, "doc_id": d, "relevance": grade, "outcome": outcome}
        is_open = any((q, n) in unread for n in doc_ids)
        rows.append(row | {"doc_ids": [*doc_ids], "decided": "to read" if is_open else "carry"})
    return rows


def _summary(case: Case, fates: dict, unread: dict, folder: Path) -> list[str]:
    """Return in words how many labels had which outcome, what is to read, and what stays behind."""
    lines = []
    for words, is_zero in (("above 0", False), ("of 0", True)):
        grades = [(not label.relevance, fates[label[:2]].outcome) for label in case.evals.judgments]
        counts = Counter(outcome for zero, outcome in grades if zero == is_zero)
        told = "; ".join(f"{outcome}: {counts[outcome]}" for outcome in OUTCOMES if counts[outcome])
        lines.append(f"labels {words}: {counts.total()}. {told}")
    lines.append(f"pairs to read: {len(unread)}" + f", in {TO_READ}" * bool(unread))
    names = {path.name for path in case.evals.folder.iterdir()} - {
        path.name for path in folder.iterdir()
    }
    left = ", ".join(
        sorted(name for name in names if not name.startswith(".") and not name.startswith("corpus"))
    )
    return lines + [f"left out: {left}; make freeze and make report make theirs anew"] * bool(left)
