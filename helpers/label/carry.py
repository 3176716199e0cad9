"""Carry labels to changed documents: by text, then by quote; what is not sure a person reads."""

import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain, pairwise, product
from pathlib import Path
from typing import NamedTuple

from ..measure import evalset, files, reading, runs, sparse, text
from ..measure.evalset import Document, EvalSet, Judgment
from ..measure.evidence import Spans
from ..measure.installation import command
from ..measure.text import how_many
from . import labelling, manifest, readers, write
from .drop import NAMING
from .labelling import JUDGMENTS, QUERY_TABLE

KEPT, CHANGED, MOVED = "kept", "kept, document changed", "moved"  # taken over unasked
RE_ANCHORED, AMBIGUOUS, LOST, AGAIN = "re-anchored", "ambiguous", "lost", "read again"
OUTCOMES = (KEPT, CHANGED, MOVED, RE_ANCHORED, AMBIGUOUS, LOST, AGAIN)
HEIR, RUNS = 0.2, 3  # share and number of a document's own runs with which another is its heir
RIVAL = 0.5  # share of the first heir's runs with which another that holds the quote is its rival
NEAR = 30  # characters beside a quote whose words tell from which document it is
LIKENESS = 0.6  # from which a passage is offered in place of a quote
FIRST = 10  # results in which documents of a new text are to be judged
HISTORY, IMPORTED = "history.jsonl", "imported"
COPY_OF = re.compile(r"^copy_of *:.*\n", re.MULTILINE)  # in a front matter
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
TRIMMED = re.compile(r"\S(?:.*\S)?", re.DOTALL)
SIGN = re.compile(rf"[{text.UNSPACED}]|[^\W{text.UNSPACED}]+|[^\w\s]")  # a word or a mark
Pair, Quotes = text.Pair, Sequence[Sequence[str]]  # alternatives, each of parts
Words = frozenset[str]  # the content words of a sentence, numbers among them
Read = list[tuple[tuple[int, int], Words]]  # the sentences of a document, each with its span


class Offer(NamedTuple):
    """The passages of a document that are likest to the parts of one alternative."""

    doc_id: str
    parts: Sequence[str] = ()
    likeness: float = 0.0  # 0 to 1, of the part that is least like
    spans: Spans = []  # a passage for each part
    why: str = ""  # it is read, where the outcome doesn't say it all


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
    that share so much that the old one lives on in them, and the new one of its id, whatever its
    text. `namesakes` are the old documents that have no other heir. `fresh` are the documents of a
    new text.
    """

    evals: EvalSet
    documents: dict[str, Document]
    kin: dict[str, dict[str, int]]
    heirs: dict[str, tuple[str, ...]]
    own: dict[str, set[str]]
    namesakes: set[str]
    fresh: set[str]


def carry_command(folder: Path, source: str, to: Path, **more: str) -> list[str]:
    """Write the set of `folder` into the new folder `to`, its labels on the documents of `source`.

    `source` is KIND:PATH of an import, with `more` of its options, or a folder with a corpus.
    Returns what was done, line by line. Raises EvalSetError, and writes nothing, for bad input.
    """
    evals = evalset.load(folder)
    with write.new_set(to) as part:
        home = _find_corpus(source, part, more)
        lost = _lost_copies(home)
        documents = {} if lost else evalset.read_corpus(home)
        _copy_corpus(home, part, dict.fromkeys(lost, ""))
        case = align(evals, documents or evalset.read_corpus(part))
        if not any(case.heirs[d] for d in case.heirs.keys() - case.namesakes):
            found = f"none of the {how_many(len(case.heirs), 'document')} of {folder} is found in"
            wanted = "is it the source, with the options of its import (--title, --text)?"
            raise evalset.EvalSetError([f"{found} {source}: {wanted}"])
        lines = [*write_set(case, part), *_follow_copies(case, lost, home, part)]
        shutil.rmtree(part / IMPORTED, ignore_errors=True)
    new = evalset.load(to)
    opens = f"{command('lab', EVALS=to)} opens what is to be read" * bool(reading.waiting(new))
    following = new.next_step() or new.what_waits() or opens or command("report", EVALS=to)
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def _find_corpus(source: str, folder: Path, more: dict[str, str]) -> Path:
    """Return the folder of a corpus: `source`, or what is imported from it, inside `folder`."""
    kind, _, path = source.partition(":")
    home, imported = Path(source), folder / IMPORTED
    if ":" not in source and not any(home.glob("corpus*")):
        fault = f"no corpus/ or corpus.jsonl in it, or did you mean FROM=markdown:{source}?"
        fault = fault if home.is_dir() else "no such folder"
        raise evalset.EvalSetError([f"--from: {source}: {fault}"])
    if kind not in write.READERS and not more and home.is_dir():
        return home
    options = readers.Options(kind, path, **more)
    files.refuse(write.wrong_options(options))
    imported.mkdir()
    write.write_unchecked(options, imported)
    return imported


def _copy_corpus(home: Path, folder: Path, copies: dict[str, str]) -> None:
    """Copy a corpus, byte by byte but for `copies`: {doc_id: its `copy_of`}, "" for none."""
    for name, path in manifest.inputs(home).items():
        if name.startswith("corpus"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(path, folder / name)
    table = folder / "corpus.jsonl"
    if copies and table.exists():
        rows = [row for _, row in files.rows(table)]
        for row in rows:
            if name := copies.get(row["doc_id"]):
                row["copy_of"] = name
            elif row["doc_id"] in copies:
                del row["copy_of"]
        files.write_jsonl(table, rows)
    elif copies:
        for doc_id, name in copies.items():
            page = folder / "corpus" / f"{doc_id}.md"
            before, after = COPY_OF.split(files.page(page), maxsplit=1)
            line = f"copy_of: {json.dumps(name, ensure_ascii=False)}\n" if name else ""
            files.write(page, before + line + after)


def _lost_copies(home: Path) -> dict[str, str]:
    """Return {doc_id: its `copy_of`} where that names no document of a corpus."""
    fields = {}
    for page in (home / "corpus").glob("*.md"):
        body = files.page(page, problems=[]) or ""
        fields[page.stem] = {}
        if COPY_OF.search(body):
            fields[page.stem], _ = files.front_matter(page, body, problems=[]) or ({}, "")
    for _, row in files.read(home / "corpus.jsonl", problems=[]):
        fields[row["doc_id"]] = row
    named = {d: row.get("copy_of") for d, row in fields.items()}
    return {d: name for d, name in named.items() if isinstance(name, str) and name not in fields}


def _follow_copies(case: Case, lost: dict[str, str], home: Path, folder: Path) -> list[str]:
    """Let each lost `copy_of` name the heir of what it named; return what became of it."""
    copies, lines = {}, []
    for doc_id, original in lost.items():
        heirs = [n for n in case.heirs.get(original, ()) if n != doc_id]
        heirs.sort(key=lambda n: (case.kin[original][n], n))
        copies[doc_id] = heirs[-1] if heirs else ""
        became = f"{heirs[-1]} now, and so in its copy_of" if heirs else "gone, its copy_of dropped"
        lines.append(f"{doc_id}: {original}, of which it is a copy, is {became}")
    if lost:
        _copy_corpus(home, folder, copies)
    return lines


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
    namesakes = {d for d in changed.keys() & fresh if not heirs[d]}
    for d in changed.keys() & fresh:
        kin[d].setdefault(d, 0)
        if d not in heirs[d]:
            heirs[d] += (d,)
    return Case(evals, documents, kin, heirs, own, namesakes, fresh)


# What becomes of a label.


def fate_of_relevant(case: Case, label: Judgment) -> Fate:
    """Return what becomes of a label above 0. Without quotes every line of its text is a part."""
    d, old = label.doc_id, case.evals.documents[label.doc_id]
    kin, heirs = case.kin[d], case.heirs[d]
    if d not in case.own and len(heirs) == 1:
        return Fate(_outcome(case, d, heirs), heirs, label.evidence)
    quotes = label.evidence or [_lines(old)]
    offers = [_offer(case, n, parts) for parts, n in product(quotes, kin)]
    offers.sort(key=lambda offer: (-offer.likeness, -kin[offer.doc_id]))
    bodies = [case.documents[n].retrieval_text for n in heirs]
    if offers and offers[0].likeness == 1:
        least = RIVAL * kin[offers[0].doc_id]
        rivals = [o for o in offers if o.likeness == 1 and kin[o.doc_id] >= least]
        fate = _fate_of_whole(case, old, rivals)
    elif any(all(any(part in body for body in bodies) for part in parts) for parts in quotes):
        fate = _unsure(AMBIGUOUS, [Offer(n) for n in heirs])  # a split separated them
    elif label.evidence and offers and offers[0].likeness >= LIKENESS:
        fate = _unsure(RE_ANCHORED, offers[:1])
    else:  # the likest document, or that of the same id, may answer the query all the same
        likest = sorted(heirs, key=lambda n: (kin[n], n))[-1:]
        outcome = AGAIN if likest and not label.evidence else LOST
        fate = _unsure(outcome, [Offer(n) for n in heirs if n in (*likest, d)])
    if label.evidence:
        return fate
    to_read = {n: Offer(n, why=offer.why) for n, offer in fate.to_read.items()}
    return fate._replace(evidence=[], to_read=to_read)


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
    sure = [offer for offer in rivals if not more and _is_sure(case, old, offer)]
    if not sure:
        return _unsure(AMBIGUOUS if more else RE_ANCHORED, rivals)
    if warnings := _warnings(case.documents[n]) - _warnings(old):
        why = f"{AGAIN}: its first lines say {', '.join(sorted(warnings))} now"
        return _unsure(AGAIN, [offer._replace(why=why) for offer in sure])
    body = case.documents[n].retrieval_text
    evidence = [[body[start:end] for start, end in offer.spans] for offer in sure]
    return Fate(_outcome(case, old.doc_id, (n,)), (n,), evidence)


def _warnings(document: Document) -> set[str]:
    """Return the words of the title and the first sentences that say a page may not hold."""
    body = document.retrieval_text
    head = " ".join(body[start:end] for start, end in sentences(body)[:HEAD])
    return {" ".join(word.lower().split()) for word in WARNING.findall(head)}


def _is_sure(case: Case, old: Document, offer: Offer) -> bool:
    """Return whether what stands in a document came from `old`, which lives on, for sure.

    It did where the words of each part, with those beside it, hold a run that only `old` had.
    """
    heirs, body = case.heirs[old.doc_id], case.documents[offer.doc_id].retrieval_text
    lives_on = bool(heirs) and old.doc_id not in case.namesakes
    if lives_on and (old.doc_id,) == heirs == (offer.doc_id,):
        return True
    near = NEAR if offer.doc_id in heirs else 0
    around = (body[max(0, start - near) : end + near] for start, end in offer.spans)
    tells = (case.own[old.doc_id] & text.shingles(case.evals.words(part)) for part in around)
    return all(tells) and (lives_on or offer.doc_id == old.doc_id)


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


def fate_of_zero(case: Case, label: Judgment, known: set[Words], new: dict[str, Read]) -> Fate:
    """Return what becomes of a label of 0.

    `known` are the content words of each sentence that is judged 0 for its query, `new` those of
    the new documents. A document is read again where a sentence with a word of the query gained a
    content word or a number, or where nothing is left that only the old one had.
    """
    d, heirs, unread = label.doc_id, case.heirs[label.doc_id], {}
    words, query = case.evals.words, case.evals.all_queries[label.query_id].query
    asked = {*text.content_words(words(query))}
    for n in heirs:
        unknown = [(span, here) for span, here in new[n] if asked & here and here not in known]
        gained = [span for span, here in unknown if not any(here <= old for old in known)]
        is_another = not case.kin[d][n] and bool(case.own[d])
        if gained or is_another:
            unread[n] = Offer(n, spans=gained)
    outcome = AGAIN if unread else _outcome(case, d, heirs)
    return Fate(outcome if heirs else LOST, heirs, [], unread)


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


def _read(evals: EvalSet, document: Document) -> Read:
    """Return the span of each sentence of a document and its content words."""
    body, read = document.retrieval_text, []
    for start, end in sentences(body):
        sentence = NO_WORDS.sub(" ", JOINED.sub("", body[start:end]))
        if words := frozenset(text.content_words(evals.words(sentence))):
            read.append(((start, end), words))
    return read


def _lines(document: Document) -> list[str]:
    return re.findall(r"\S(?:.*\S)?", document.retrieval_text)


def all_fates(case: Case) -> dict[Pair, Fate]:
    """Return what becomes of every label, by its query and its old document."""
    evals, fates, known = case.evals, {}, defaultdict(set)
    zeros = [label for label in evals.judgments if not label.relevance]
    judged = {label.doc_id for label in zeros}
    old = {d: {words for _, words in _read(evals, evals.documents[d])} for d in judged}
    heirs = chain.from_iterable(case.heirs[d] for d in judged)
    new = {n: _read(evals, case.documents[n]) for n in set(heirs)}
    for label in zeros:
        known[label.query_id] |= old[label.doc_id]
    for label in evals.judgments:
        if label.relevance:
            fates[label[:2]] = fate_of_relevant(case, label)
        else:
            fates[label[:2]] = fate_of_zero(case, label, known[label.query_id], new)
    return fates


# What is written.


def write_set(case: Case, folder: Path) -> list[str]:
    """Write all files of a set but its documents into `folder`; return what was done, by line."""
    evals, fates = case.evals, all_fates(case)
    judged, to_read = resolve(evals, fates)
    new = evals._replace(folder=folder, documents=case.documents, judgments=[*judged.values()])
    hashes = {"from": evals.corpus_hash(), "to": new.corpus_hash()}
    if not (is_same := hashes["from"] == hashes["to"]):
        labelling.refuse_losses(evals)
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
                why = offer.why or fate.outcome
                to_read[pair] = row | {"why": why, "passages": offer.spans}
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
    if not case.fresh:
        return []
    texts, rows = [document.retrieval_text for document in case.documents.values()], []
    words = case.evals.words
    known = {tuple(words(old.retrieval_text)) for old in case.evals.documents.values()}
    fresh = {n for n in case.fresh if tuple(words(case.documents[n].retrieval_text)) not in known}
    if fresh and any(map(words, texts)):
        queries = {q: query.query for q, query in case.evals.all_queries.items()}
        model, index = sparse.bm25([*case.documents], texts, words=words)
        for query_id, ranking in sparse.rankings(model, index, queries, FIRST):
            for rank, (n, _) in enumerate(ranking, 1):
                if n in fresh:
                    why = f"new text, rank {rank} of BM25"
                    rows.append({"query_id": query_id, "doc_id": n, "why": why})
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
