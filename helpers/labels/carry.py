"""Carry labels to changed documents: by text, then by quote; what is not sure a person reads."""

import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from .. import evalset, files, runs, sparse, text
from ..evalset import Document, EvalSet, Judgment
from ..evidence import Spans
from ..installation import command
from ..sources import readers, write
from ..text import how_many
from . import manifest, reading
from .merge import JUDGMENTS, NAMING, QUERY_TABLE, refuse_losses

KEPT, CHANGED, MOVED = "kept", "kept, document changed", "moved"  # taken over unasked
RE_ANCHORED, AMBIGUOUS, LOST, AGAIN = "re-anchored", "ambiguous", "lost", "read again"
OUTCOMES = (KEPT, CHANGED, MOVED, RE_ANCHORED, AMBIGUOUS, LOST, AGAIN)
HEIR, RUNS = 0.2, 3  # share and number of a document's own runs with which another is its heir
RIVAL = 0.5  # share of the first heir's runs with which another that holds the quote is its rival
NEAR = 30  # characters beside a quote whose words tell from which document it is
LIKENESS = 0.6  # from which a passage is offered in place of a quote
FIRST = 10  # results in which documents of a new text are to be judged
HISTORY = "history.jsonl"
SIGN = re.compile(rf"[{text.UNSPACED}]|[^\W{text.UNSPACED}]+|[^\w\s]")  # a word or a mark
Pair, Quotes = text.Pair, Sequence[Sequence[str]]  # alternatives, each of parts


class Offer(NamedTuple):
    """The passages of a document that are likest to the parts of one alternative."""

    doc_id: str
    parts: Sequence[str] = ()
    likeness: float = 0.0  # 0 to 1, of the part that is least like
    spans: Spans = []  # a passage for each part


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

    By old id, `kin` are the new documents of the same text, else {new id: how many it has of the
    runs of words that no other document had}, the `own` of a changed one. `heirs` are those of them
    that share so much that the old one lives on in them. `fresh` are the documents of a new text.
    """

    evals: EvalSet
    documents: dict[str, Document]
    kin: dict[str, dict[str, int]]
    heirs: dict[str, tuple[str, ...]]
    own: dict[str, set[str]]
    fresh: set[str]


def carry_command(folder: Path, source: str, to: Path, **more: str) -> list[str]:
    """Write the set of `folder` into the new folder `to`, its labels on the documents of `source`.

    `source` is KIND:PATH of an import, with `more` of its options, or a folder with a corpus.
    Returns what was done, line by line. Raises EvalSetError, and writes nothing, for bad input.
    """
    evals = evalset.load(folder)
    with write.new_set(to) as part:
        case = align(evals, _bring_documents(source, part, more))
        if not any(case.heirs.values()):
            found = f"none of the {how_many(len(case.heirs), 'document')} of {folder} is found in"
            wanted = "is it the source, with the options of its import (--title, --text)?"
            raise evalset.EvalSetError([f"{found} {source}: {wanted}"])
        lines = write_set(case, part)
    new = evalset.load(to)
    opens = f"{command('lab', EVALS=to)} opens what is to be read" * bool(reading.waiting(new))
    following = new.next_step() or new.what_waits() or opens or command("report", EVALS=to)
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def _bring_documents(source: str, folder: Path, more: dict[str, str]) -> dict[str, Document]:
    """Write the documents of `source` into `folder`, byte by byte where they are a set's."""
    kind, _, path = source.partition(":")
    home, imported = Path(source), folder / "imported"
    if ":" not in source and not any(home.glob("corpus*")):
        fault = f"no corpus/ or corpus.jsonl in it, or did you mean FROM=markdown:{source}?"
        fault = fault if home.is_dir() else "no such folder"
        raise evalset.EvalSetError([f"--from: {source}: {fault}"])
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
    runs_of = lambda document: text.shingles(evals.words(document.retrieval_text))  # noqa: E731
    old, by_text = evals.documents, defaultdict(list)
    for n, new in documents.items():
        by_text[new.retrieval_text].append(n)
    same = {d: by_text.get(old[d].retrieval_text, []) for d in old}
    kin = {d: dict.fromkeys([d] if d in same[d] else same[d], 1) for d in old}
    heirs = {d: (*kin[d],) for d in old}
    fresh = documents.keys() - {*chain.from_iterable(same.values())}
    changed = {d: runs_of(old[d]) for d in old if not kin[d]}
    wanted = set().union(*changed.values())
    often = Counter(chain.from_iterable(runs_of(document) & wanted for document in old.values()))
    own = {d: {run for run in changed[d] if often[run] == 1} for d in changed}
    owner = {run: d for d in own for run in own[d]}
    for n in sorted(fresh):
        here = runs_of(documents[n])
        for d, shared in Counter(owner[run] for run in here & owner.keys()).items():
            kin[d][n] = shared
            if shared >= max(RUNS, HEIR * min(len(own[d]), len(here))):
                heirs[d] += (n,)
    return Case(evals, documents, kin, heirs, own, fresh)


# What becomes of a label.


def fate_of_relevant(case: Case, label: Judgment) -> Fate:
    """Return what becomes of a label above 0. Without quotes every line of its text is a part."""
    d, old = label.doc_id, case.evals.documents[label.doc_id]
    kin, heirs = case.kin[d], case.heirs[d]
    if d not in case.own and len(heirs) == 1:
        return Fate(_outcome(case, d, heirs), heirs, label.evidence)
    quotes = label.evidence or [[line for _, line in _lines(old)]]
    homes = kin or dict.fromkeys({d} & case.fresh, 0)
    offers = [_offer(case, n, parts) for parts, n in product(quotes, homes)]
    offers.sort(key=lambda offer: (-offer.likeness, -homes[offer.doc_id]))
    bodies = [case.documents[n].retrieval_text for n in heirs]
    if offers and offers[0].likeness == 1:
        least = RIVAL * homes[offers[0].doc_id]
        rivals = [o for o in offers if o.likeness == 1 and homes[o.doc_id] >= least]
        fate = _fate_of_whole(case, old, rivals)
    elif any(all(any(part in body for body in bodies) for part in parts) for parts in quotes):
        fate = _unsure(AMBIGUOUS, [Offer(n) for n in heirs])  # a split separated them
    elif label.evidence and offers and offers[0].likeness >= LIKENESS:
        fate = _unsure(RE_ANCHORED, offers[:1])
    else:  # the likest document may answer the query all the same
        likest = sorted(heirs, key=lambda n: (kin[n], n))[-1:]
        outcome = AGAIN if likest and not label.evidence else LOST
        fate = _unsure(outcome, [Offer(n) for n in likest])
    return fate if label.evidence else fate._replace(evidence=[])


def _offer(case: Case, doc_id: str, parts: Sequence[str]) -> Offer:
    found = [nearest(part, case.documents[doc_id].retrieval_text) for part in parts]
    return Offer(doc_id, parts, min(found)[0], [span for _, span in found])


def _unsure(outcome: str, offers: list[Offer]) -> Fate:
    first = {offer.doc_id: offer for offer in reversed(offers)}
    return Fate(outcome, tuple(sorted(first)), [], first)


def _fate_of_whole(case: Case, old: Document, rivals: list[Offer]) -> Fate:
    """Return the fate of a label of which alternatives stand whole, in what offers them."""
    rivals = [offer for offer in rivals if offer.doc_id == old.doc_id] or rivals
    n, *more = dict.fromkeys(offer.doc_id for offer in rivals)
    sure = [offer.spans for offer in rivals if not more and _is_sure(case, old, offer)]
    if not sure:
        return _unsure(AMBIGUOUS if more else RE_ANCHORED, rivals)
    body = case.documents[n].retrieval_text
    evidence = [[body[start:end] for start, end in spans] for spans in sure]
    return Fate(_outcome(case, old.doc_id, (n,)), (n,), evidence)


def _is_sure(case: Case, old: Document, offer: Offer) -> bool:
    """Return whether what stands in a document came from `old`, which lives on, for sure.

    It did where the words of each part, with those beside it, hold a run that only `old` had.
    """
    heirs, body = case.heirs[old.doc_id], case.documents[offer.doc_id].retrieval_text
    if (old.doc_id,) == heirs == (offer.doc_id,):
        return True
    near = NEAR if offer.doc_id in heirs else 0
    around = (body[max(0, start - near) : end + near] for start, end in offer.spans)
    tells = (case.own[old.doc_id] & text.shingles(case.evals.words(part)) for part in around)
    return all(tells) and bool(heirs or offer.doc_id == old.doc_id)


def _outcome(case: Case, doc_id: str, doc_ids: tuple[str, ...]) -> str:
    """Return what became of a label that is taken over."""
    return MOVED if doc_ids != (doc_id,) else CHANGED if doc_id in case.own else KEPT


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


def fate_of_zero(case: Case, label: Judgment, known: set[str]) -> Fate:
    """Return what becomes of a label of 0; `known` are the lines that are judged 0 for its query.

    A changed document is read again where another line of it has a content word of the query.
    """
    words, heirs, unread = case.evals.words, case.heirs[label.doc_id], {}
    asked = {*text.content_words(words(case.evals.all_queries[label.query_id].query))}
    for n in heirs:
        lines = [line for line in _lines(case.documents[n]) if line[1] not in known]
        if spans := [span for span, line in lines if asked.intersection(words(line))]:
            unread[n] = Offer(n, spans=spans)
    outcome = AGAIN if unread else _outcome(case, label.doc_id, heirs)
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
    new = evals._replace(folder=folder, documents=case.documents, judgments=[*judged.values()])
    hashes = {"from": evals.corpus_hash(), "to": new.corpus_hash()}
    if not (is_same := hashes["from"] == hashes["to"]):
        refuse_losses(evals)
    for name in (*evalset.PROSE, "settings.json", *NAMING * is_same):
        if (evals.folder / name).exists():
            shutil.copyfile(evals.folder / name, folder / name)
    for name, rows in ({} if is_same else _tables(case, fates, judged)).items():
        files.write_jsonl(folder / name, rows)
    reading.write_list(new, [*to_read.values(), *_new_results(case)])
    journal = [row for _, row in files.read(evals.folder / HISTORY)]
    number = {"carry": 1 + max((row["carry"] for row in journal), default=0)}
    for (q, d), fate in fates.items():
        row = number | hashes | {"query_id": q, "doc_id": d, "outcome": fate.outcome}
        decided = "to read" if any((q, n) in to_read for n in fate.doc_ids) else "carry"
        journal.append(row | {"doc_ids": [*fate.doc_ids], "decided": decided})
    files.write_jsonl(folder / HISTORY, journal)
    return _summary(case, fates, new)


def resolve(evals: EvalSet, fates: dict[Pair, Fate]) -> tuple[dict, dict]:
    """Return {new pair: label} of those taken over, {new pair: row} of those to read.

    Of two labels on one document the higher grade counts, of equal ones what is sure.
    """
    judged, to_read = {}, {}
    for label in sorted(evals.judgments, key=lambda j: (-j.relevance, len(fates[j[:2]].to_read))):
        fate = fates[label[:2]]
        for n in fate.doc_ids:
            pair, offer = (label.query_id, n), fate.to_read.get(n)
            evidence = [offer.parts] if offer and offer.parts else label.evidence
            if pair in judged or pair in to_read:
                continue
            if offer:
                row = _row(label._replace(doc_id=n, evidence=evidence))
                to_read[pair] = row | {"why": fate.outcome, "passages": offer.spans}
            else:
                judged[pair] = label._replace(doc_id=n, evidence=fate.evidence)
    return judged, to_read


def _row(label: Judgment) -> dict:
    """Return the row of a label whose evidence is alternatives of parts."""
    quotes = [parts[0] if len(parts) == 1 else [*parts] for parts in label.evidence]
    is_lone = len(quotes) == 1 == len(label.evidence[0])
    evidence = {"evidence": quotes[0] if is_lone else quotes} if quotes else {}
    return dict(zip(label._fields, label[:3], strict=False)) | evidence


def _new_results(case: Case) -> list[dict]:
    """Return a row to read for each document of a new text that BM25 finds first for a query."""
    texts, rows = [document.retrieval_text for document in case.documents.values()], []
    if case.fresh and any(map(case.evals.words, texts)):
        queries = {q: query.query for q, query in case.evals.all_queries.items()}
        model, index = sparse.bm25([*case.documents], texts, words=case.evals.words)
        for query_id, ranking in sparse.rankings(model, index, queries, FIRST):
            for rank, (n, _) in enumerate(ranking, 1):
                row = {"query_id": query_id, "doc_id": n, "why": f"new text, rank {rank} of BM25"}
                rows += [row] * (n in case.fresh)
    return rows


def _tables(case: Case, fates: dict, judged: dict[Pair, Judgment]) -> dict[str, list[dict]]:
    """Return the rows of the files that name documents, with the ids that these have now."""
    evals, relevant, tables = case.evals, defaultdict(list), {JUDGMENTS: [], QUERY_TABLE: []}
    for q, n in dict.fromkeys((q, n) for (q, _), fate in fates.items() for n in fate.doc_ids):
        if label := judged.get((q, n)):
            tables[JUDGMENTS].append(_row(label))
            relevant[q] += [n] * bool(label.relevance)
    for _, row in files.rows(evals.folder / QUERY_TABLE):
        listed = {"relevant_doc_ids": relevant[row["query_id"]]}
        tables[QUERY_TABLE].append(row | (listed if row.get("relevant_doc_ids") else {}))
    for name in ("pool.jsonl", "second_pass.jsonl"):
        moved = {}
        for row in evalset.read_extra(evals, name):
            q, d = row["query_id"], row["doc_id"]
            for n in fates[q, d].doc_ids if (q, d) in fates else case.heirs[d]:
                grade = judged[q, n].relevance if (q, n) in judged else None
                if row.get("final", grade) == grade:
                    moved.setdefault((q, n, row.get("round")), {**row, "doc_id": n})
        tables[name] = [*moved.values()]
    return {name: rows for name, rows in tables.items() if (evals.folder / name).exists()}


def _summary(case: Case, fates: dict[Pair, Fate], new: EvalSet) -> list[str]:
    """Return in words what became of documents and labels, what is to read, what stays behind."""
    evals, gone = case.evals, [d for d in case.own if not case.heirs[d]]
    counts = f"{len(case.own) - len(gone)} changed or in others, {len(gone)} gone"
    lines = [f"documents: {len(case.heirs)} before, {len(case.documents)} now; {counts}"]
    for words, is_zero in (("above 0", False), ("of 0", True)):
        own = [fates[row[:2]].outcome for row in evals.judgments if is_zero != bool(row.relevance)]
        told = (f"{outcome}: {own.count(outcome)}" for outcome in OUTCOMES if outcome in own)
        lines.append(f"labels {words}: {len(own)}. {'; '.join(told)}".rstrip(". "))
    lost = [" ".join(row[:2]) for row in evals.judgments if row[2] and not fates[row[:2]].doc_ids]
    full = [{row[0] for row in of.judgments if row[2] >= of.full_grade} for of in (evals, new)]
    for words, names in (("lost", lost), ("without a full answer now", sorted(full[0] - full[1]))):
        lines += [f"{words}: {runs.first_names(names)}"] * bool(names)
    former = ["relevance" in row for row in reading.waiting(new).values()]
    lines.append(f"pairs to read: {len(former)}, of which {sum(former)} have a former label")
    anew = f"{command('freeze')}, {command('report')}"
    stays = f"not carried: negatives, manifest, runs, results ({anew})"
    had, has = ((of.folder / "judge.jsonl").exists() for of in (evals, new))
    return [*lines, stays + ", judge.jsonl (its prompts hold the old texts)" * (had and not has)]
