"""Carry labels to changed documents: by text, then by quote; what is not sure a person reads."""

import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise, product
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
        _copy_corpus(home, part)
        _write_copies(home, part, dict.fromkeys(lost, ""))
        case = align(evals, documents or evalset.read_corpus(part))
        if not any(case.heirs[old_id] for old_id in case.heirs.keys() - case.namesakes):
            found = f"none of the {how_many(len(case.heirs), 'document')} of {folder} is found in"
            wanted = "is it the source, with the options of its import (--title, --text)?"
            raise evalset.EvalSetError([f"{found} {source}: {wanted}"])
        lines = [*write_set(case, part), *_follow_copies(case, lost, home, part)]
        shutil.rmtree(part / IMPORTED, ignore_errors=True)
    new = evalset.load(to)
    following = command("report", EVALS=to)
    if reading.waiting(new):
        following = f"{command('lab', EVALS=to)} opens what is to be read"
    following = new.next_step() or new.what_waits() or following
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def _find_corpus(source: str, folder: Path, more: dict[str, str]) -> Path:
    """Return the folder of a corpus: `source`, or what is imported from it, inside `folder`."""
    kind, _, path = source.partition(":")
    home, imported = Path(source), folder / IMPORTED
    if ":" not in source and not any(home.glob("corpus*")):
        fault = "no such folder"
        if home.is_dir():
            fault = f"no corpus/ or corpus.jsonl in it, or did you mean FROM=markdown:{source}?"
        raise evalset.EvalSetError([f"--from: {source}: {fault}"])
    if kind not in write.READERS and not more and home.is_dir():
        return home
    options = readers.Options(kind, path, **more)
    files.refuse(write.wrong_options(options))
    imported.mkdir()
    write.write_unchecked(options, imported)
    return imported


def _copy_corpus(home: Path, folder: Path) -> None:
    """Copy the files of a corpus, byte by byte."""
    for name, path in manifest.inputs(home).items():
        if name.startswith("corpus"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(path, folder / name)


def _write_copies(home: Path, folder: Path, copies: dict[str, str]) -> None:
    """Write documents of `home` into its copy with another `copy_of`: {doc_id: it}, "" for none."""
    if copies and (folder / "corpus.jsonl").exists():
        rows = [row for _, row in files.rows(home / "corpus.jsonl")]
        for row in rows:
            if name := copies.get(row["doc_id"]):
                row["copy_of"] = name
            elif row["doc_id"] in copies:
                del row["copy_of"]
        files.write_jsonl(folder / "corpus.jsonl", rows)
        return
    for doc_id, name in copies.items():
        page = Path("corpus", f"{doc_id}.md")
        before, after = COPY_OF.split(files.page(home / page), maxsplit=1)
        line = f"copy_of: {json.dumps(name, ensure_ascii=False)}\n" if name else ""
        files.write(folder / page, before + line + after)


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
    lost = {}
    for doc_id, row in fields.items():
        name = row.get("copy_of")
        if isinstance(name, str) and name not in fields:
            lost[doc_id] = name
    return lost


def _follow_copies(case: Case, lost: dict[str, str], home: Path, folder: Path) -> list[str]:
    """Let each lost `copy_of` name the heir of what it named; return what became of it."""
    copies, lines = {}, []
    for doc_id, original in lost.items():
        heirs = [new_id for new_id in case.heirs.get(original, ()) if new_id != doc_id]
        heirs.sort(key=lambda new_id: (case.kin[original][new_id], new_id))
        copies[doc_id] = heirs[-1] if heirs else ""
        became = f"{heirs[-1]} now, and so in its copy_of" if heirs else "gone, its copy_of dropped"
        lines.append(f"{doc_id}: {original}, of which it is a copy, is {became}")
    _write_copies(home, folder, copies)
    return lines


def align(evals: EvalSet, documents: dict[str, Document]) -> Case:
    """Return where each document of a set went: by its text, else by the runs that it alone had.

    A run of words that stood in one old document only tells that what holds it now came from it.
    """
    by_text = defaultdict(list)
    for new_id, document in documents.items():
        by_text[document.retrieval_text].append(new_id)
    kin, heirs, changed, fresh = {}, {}, [], set(documents)
    for old_id, document in evals.documents.items():
        same = by_text.get(document.retrieval_text, [])
        fresh.difference_update(same)
        if old_id in same:
            same = [old_id]
        kin[old_id], heirs[old_id] = dict.fromkeys(same, 1), tuple(same)
        if not same:
            changed.append(old_id)
    own = _own_runs(evals, changed)
    owner = {run: old_id for old_id, runs_of_it in own.items() for run in runs_of_it}
    for new_id in sorted(fresh):
        here = _runs_of(evals, documents[new_id])
        shared = Counter(owner[run] for run in here & owner.keys())
        for old_id, n in shared.items():
            kin[old_id][new_id] = n
            if n >= max(RUNS, HEIR * min(len(own[old_id]), len(here))):
                heirs[old_id] += (new_id,)
    namesakes = set()
    for doc_id in fresh.intersection(changed):
        if not heirs[doc_id]:
            namesakes.add(doc_id)
        kin[doc_id].setdefault(doc_id, 0)
        if doc_id not in heirs[doc_id]:
            heirs[doc_id] += (doc_id,)
    return Case(evals, documents, kin, heirs, own, namesakes, fresh)


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


def fate_of_relevant(case: Case, label: Judgment) -> Fate:
    """Return what becomes of a label above 0. Without quotes every line of its text is a part."""
    old = case.evals.documents[label.doc_id]
    kin, heirs = case.kin[old.doc_id], case.heirs[old.doc_id]
    if old.doc_id not in case.own and len(heirs) == 1:
        return Fate(_outcome(case, old.doc_id, heirs), heirs, label.evidence)
    quotes = label.evidence or [_lines(old)]
    offers = [_offer(case, new_id, parts) for parts, new_id in product(quotes, kin)]
    offers.sort(key=lambda offer: (-offer.likeness, -kin[offer.doc_id]))
    best = offers[0] if offers else Offer("")
    if best.likeness == 1:
        least = RIVAL * kin[best.doc_id]
        whole = [offer for offer in offers if offer.likeness == 1]
        fate = _fate_of_whole(case, old, [offer for offer in whole if kin[offer.doc_id] >= least])
    elif any(_is_divided(case, heirs, parts) for parts in quotes):
        fate = _unsure(AMBIGUOUS, [Offer(new_id) for new_id in heirs])
    elif label.evidence and best.likeness >= LIKENESS:
        fate = _unsure(RE_ANCHORED, [best])
    else:  # the likest document, or that of the same id, may answer the query all the same
        likest = sorted(heirs, key=lambda new_id: (kin[new_id], new_id))[-1:]
        outcome = AGAIN if likest and not label.evidence else LOST
        to_read = [new_id for new_id in heirs if new_id in (*likest, old.doc_id)]
        fate = _unsure(outcome, [Offer(new_id) for new_id in to_read])
    if label.evidence:
        return fate
    to_read = {new_id: Offer(new_id, why=offer.why) for new_id, offer in fate.to_read.items()}
    return fate._replace(evidence=[], to_read=to_read)


def _offer(case: Case, doc_id: str, parts: Sequence[str]) -> Offer:
    found = [nearest(part, case.documents[doc_id].retrieval_text) for part in parts]
    least = min(likeness for likeness, _ in found)
    return Offer(doc_id, parts, least, [span for _, span in found])


def _is_divided(case: Case, doc_ids: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether each part stands in one of the documents: a split separated them."""
    bodies = [case.documents[doc_id].retrieval_text for doc_id in doc_ids]
    homeless = [part for part in parts if not any(part in body for body in bodies)]
    return not homeless


def _unsure(outcome: str, offers: list[Offer]) -> Fate:
    """Return the fate of a label that a person must read, with the first offer of each document."""
    first = {offer.doc_id: offer for offer in reversed(offers)}
    return Fate(outcome, tuple(sorted(first)), [], first)


def _fate_of_whole(case: Case, old: Document, rivals: list[Offer]) -> Fate:
    """Return the fate of a label of which alternatives stand whole, in what offers them."""
    rivals = [offer for offer in rivals if offer.doc_id == old.doc_id] or rivals
    new_id, *others = dict.fromkeys(offer.doc_id for offer in rivals)
    if others:
        return _unsure(AMBIGUOUS, rivals)
    sure = [offer for offer in rivals if _is_sure(case, old, offer)]
    if not sure:
        return _unsure(RE_ANCHORED, rivals)
    if warnings := _warnings(case.documents[new_id]) - _warnings(old):
        why = f"{AGAIN}: its first lines say {', '.join(sorted(warnings))} now"
        return _unsure(AGAIN, [offer._replace(why=why) for offer in sure])
    body, evidence = case.documents[new_id].retrieval_text, []
    for offer in sure:
        evidence.append([body[start:end] for start, end in offer.spans])
    return Fate(_outcome(case, old.doc_id, (new_id,)), (new_id,), evidence)


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
    if not lives_on and offer.doc_id != old.doc_id:
        return False
    near = NEAR if offer.doc_id in heirs else 0
    for start, end in offer.spans:
        around = body[max(0, start - near) : end + near]
        if case.own[old.doc_id].isdisjoint(text.shingles(case.evals.words(around))):
            return False
    return True


def _outcome(case: Case, doc_id: str, doc_ids: tuple[str, ...]) -> str:
    """Return what became of a label that is taken over."""
    if doc_ids != (doc_id,):
        return MOVED
    return CHANGED if doc_id in case.own else KEPT


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
    old_id, heirs, unread = label.doc_id, case.heirs[label.doc_id], {}
    if not heirs:
        return Fate(LOST)
    query = case.evals.all_queries[label.query_id].query
    asked = set(text.content_words(case.evals.words(query)))
    for new_id in heirs:
        gained = []
        for span, here in new[new_id]:
            if asked.isdisjoint(here) or here in known:
                continue
            if not any(here <= old for old in known):
                gained.append(span)
        is_another = not case.kin[old_id][new_id] and bool(case.own[old_id])
        if gained or is_another:
            unread[new_id] = Offer(new_id, spans=gained)
    outcome = AGAIN if unread else _outcome(case, old_id, heirs)
    return Fate(outcome, heirs, [], unread)


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
    old, new = {}, {}
    for doc_id in {label.doc_id for label in zeros}:
        old[doc_id] = {words for _, words in _read(evals, evals.documents[doc_id])}
        for new_id in case.heirs[doc_id]:
            if new_id not in new:
                new[new_id] = _read(evals, case.documents[new_id])
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
    copied, tables = [*evalset.PROSE, "settings.json"], {}
    if hashes["from"] == hashes["to"]:
        copied += NAMING
    else:
        labelling.refuse_losses(evals)
        tables = _tables(case, fates, judged)
    for name in copied:
        if (evals.folder / name).exists():
            shutil.copyfile(evals.folder / name, folder / name)
    for name, rows in tables.items():
        files.write_jsonl(folder / name, rows)
    reading.write_list(new, [*to_read.values(), *_new_results(case)])
    files.write_jsonl(folder / HISTORY, _journal(evals, fates, to_read, hashes))
    return _summary(case, fates, new)


def _journal(evals: EvalSet, fates: dict[Pair, Fate], to_read: dict, hashes: dict) -> list[dict]:
    """Return the rows of the history, those of this carry behind the earlier ones."""
    journal = [row for _, row in files.read(evals.folder / HISTORY)]
    number = 1 + max((row["carry"] for row in journal), default=0)
    for (query_id, doc_id), fate in fates.items():
        is_read = any((query_id, new_id) in to_read for new_id in fate.doc_ids)
        row = {"carry": number, **hashes, "query_id": query_id, "doc_id": doc_id}
        row |= {"outcome": fate.outcome, "doc_ids": [*fate.doc_ids]}
        journal.append(row | {"decided": "to read" if is_read else "carry"})
    return journal


def resolve(evals: EvalSet, fates: dict[Pair, Fate]) -> tuple[dict, dict]:
    """Return {new pair: label} of those taken over, {new pair: row} of those to read.

    Of two labels on one document the higher grade counts, of equal ones what is sure.
    """
    judged, to_read = {}, {}

    def higher_then_surer(label: Judgment) -> tuple[int, int]:
        return -label.relevance, len(fates[label[:2]].to_read)

    for label in sorted(evals.judgments, key=higher_then_surer):
        fate = fates[label[:2]]
        for new_id in fate.doc_ids:
            pair, offer = (label.query_id, new_id), fate.to_read.get(new_id)
            if pair in judged or pair in to_read:
                continue
            there = label._replace(doc_id=new_id)
            if not offer:
                judged[pair] = there._replace(evidence=fate.evidence)
                continue
            if offer.parts:
                there = there._replace(evidence=[offer.parts])
            why = offer.why or fate.outcome
            to_read[pair] = _row(there) | {"why": why, "passages": offer.spans}
    return judged, to_read


def _row(label: Judgment) -> dict:
    """Return the row of a label whose evidence is alternatives of parts."""
    row = {"query_id": label.query_id, "doc_id": label.doc_id, "relevance": label.relevance}
    quotes = [parts[0] if len(parts) == 1 else [*parts] for parts in label.evidence]
    if len(quotes) == 1 and isinstance(quotes[0], str):
        row["evidence"] = quotes[0]
    elif quotes:
        row["evidence"] = quotes
    return row


def _new_results(case: Case) -> list[dict]:
    """Return a row to read for each document of a new text that BM25 finds first for a query."""
    if not case.fresh:
        return []
    words, rows = case.evals.words, []
    known = {tuple(words(old.retrieval_text)) for old in case.evals.documents.values()}
    fresh = set()
    for doc_id in case.fresh:
        if tuple(words(case.documents[doc_id].retrieval_text)) not in known:
            fresh.add(doc_id)
    texts = [document.retrieval_text for document in case.documents.values()]
    if not fresh or not any(map(words, texts)):
        return []
    queries = {query_id: query.query for query_id, query in case.evals.all_queries.items()}
    model, index = sparse.bm25([*case.documents], texts, words=words)
    for query_id, ranking in sparse.rankings(model, index, queries, FIRST):
        for rank, (doc_id, _) in enumerate(ranking, 1):
            if doc_id in fresh:
                why = f"new text, rank {rank} of BM25"
                rows.append({"query_id": query_id, "doc_id": doc_id, "why": why})
    return rows


def _tables(case: Case, fates: dict, judged: dict[Pair, Judgment]) -> dict[str, list[dict]]:
    """Return the rows of the files that name documents, with the ids that these have now."""
    labels = _in_order(fates, judged)
    tables = {
        JUDGMENTS: [_row(label) for label in labels],
        QUERY_TABLE: _query_rows(case.evals, labels),
        "pool.jsonl": _moved_rows(case, "pool.jsonl", fates, judged),
        "second_pass.jsonl": _moved_rows(case, "second_pass.jsonl", fates, judged),
    }
    return {name: rows for name, rows in tables.items() if (case.evals.folder / name).exists()}


def _in_order(fates: dict[Pair, Fate], judged: dict[Pair, Judgment]) -> list[Judgment]:
    """Return the labels that are taken over, in the order of the old ones."""
    labels = {}
    for (query_id, _), fate in fates.items():
        for new_id in fate.doc_ids:
            if label := judged.get((query_id, new_id)):
                labels[query_id, new_id] = label
    return [*labels.values()]


def _query_rows(evals: EvalSet, labels: list[Judgment]) -> list[dict]:
    """Return the rows of the queries; those that list documents list the relevant ones of now."""
    relevant, rows = defaultdict(list), []
    for label in labels:
        if label.relevance:
            relevant[label.query_id].append(label.doc_id)
    for _, row in files.rows(evals.folder / QUERY_TABLE):
        if row.get("relevant_doc_ids"):
            row["relevant_doc_ids"] = relevant[row["query_id"]]
        rows.append(row)
    return rows


def _moved_rows(case: Case, name: str, fates: dict, judged: dict[Pair, Judgment]) -> list[dict]:
    """Return the rows of a file of pairs, each once a round; none whose final grade is another."""
    moved = {}
    for row in evalset.read_extra(case.evals, name):
        query_id, old_id = row["query_id"], row["doc_id"]
        fate = fates.get((query_id, old_id))
        for new_id in fate.doc_ids if fate else case.heirs[old_id]:
            label = judged.get((query_id, new_id))
            grade = label.relevance if label else None
            if row.get("final", grade) == grade:
                key = query_id, new_id, row.get("round")
                moved.setdefault(key, {**row, "doc_id": new_id})
    return [*moved.values()]


def _summary(case: Case, fates: dict[Pair, Fate], new: EvalSet) -> list[str]:
    """Return in words what became of documents and labels, what is to read, what stays behind."""
    evals, gone = case.evals, [old_id for old_id in case.own if not case.heirs[old_id]]
    counts = f"{len(case.own) - len(gone)} changed or in others, {len(gone)} gone"
    lines = [f"documents: {len(case.heirs)} before, {len(case.documents)} now; {counts}"]
    relevant = [label for label in evals.judgments if label.relevance]
    zeros = [label for label in evals.judgments if not label.relevance]
    for words, labels in (("above 0", relevant), ("of 0", zeros)):
        outcomes = Counter(fates[label[:2]].outcome for label in labels)
        told = "; ".join(f"{name}: {outcomes[name]}" for name in OUTCOMES if outcomes[name])
        line = f"labels {words}: {len(labels)}"
        lines.append(f"{line}. {told}" if told else line)
    lost = [" ".join(label[:2]) for label in relevant if not fates[label[:2]].doc_ids]
    if lost:
        lines.append(f"lost: {runs.first_names(lost)}")
    if no_more := sorted(_answered_in_full(evals) - _answered_in_full(new)):
        lines.append(f"without a full answer now: {runs.first_names(no_more)}")
    waiting = reading.waiting(new).values()
    former = [row for row in waiting if "relevance" in row]
    lines.append(f"pairs to read: {len(waiting)}, of which {len(former)} have a former label")
    stays = f"not carried: negatives, manifest, runs, results ({command('freeze')}, "
    stays += f"{command('report')})"
    if (evals.folder / "judge.jsonl").exists() and not (new.folder / "judge.jsonl").exists():
        stays += ", judge.jsonl (its prompts hold the old texts)"
    return [*lines, stays]


def _answered_in_full(evals: EvalSet) -> set[str]:
    """Return the queries that a document answers in full."""
    return {label.query_id for label in evals.judgments if label.relevance >= evals.full_grade}
