"""Read and validate one evaluation-set folder: corpus, queries, graded labels."""

import difflib
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

from . import files, installation
from .files import GRADES, NO_ANSWER, SPLITS, EvalSetError, Rows
from .installation import command
from .text import NEAR, TOKENIZERS, Pair, content_words, how_many, merge_groups, near_duplicates

PROSE = ("README.md", "notes.md", "labeling_guide.md")
DEFAULT = installation.EVALS
FIRST = 10  # labelled dev queries from which a number is told with what it decides
JOURNAL = Path("carry.part", "journal.json")  # of a carry in place that isn't done yet
HINTS = 20  # problems told after which no nearest id is sought: it takes a look at every id
LABEL_NEXT = f"judge what the rankers find, in the panel ({command('lab', EVALS='folder')})"
NO_QUERIES = (
    "no queries yet: write retrieval_queries.jsonl, one line a query, such as "
    '{"query_id": "q1", "query": "...", "relevant_doc_ids": []}; then ' + LABEL_NEXT
)


class Document(NamedTuple):
    """One document; `copy_of` is the id of a document of which it is a copy."""

    doc_id: str
    title: str
    text: str
    kind: str = "unspecified"
    service: str = "unspecified"
    updated: str = ""
    version: str = ""
    copy_of: str = ""

    @property
    def retrieval_text(self) -> str:
        """Title, a blank line, body; the body alone where there is no title."""
        return f"{self.title}\n\n{self.text}" if self.title else self.text


class Query(NamedTuple):
    """One query with the ids of the documents that answer it, wholly or in part.

    `needs` are {id: short text} of the things that it asks for; without any it is one need.
    `translation` says it in the language of the set.
    """

    query_id: str
    query: str
    relevant_doc_ids: tuple[str, ...]
    kind: str = "unspecified"
    popularity: str = ""
    split: str = "dev"
    answers: tuple[str, ...] = ()
    language: str = ""  # the set's own
    round: int = 0  # before round 1
    needs: dict[str, str] = {}
    translation: str = ""


class Quotes(tuple):
    """Quotes that prove a label together, and the ids of the needs that they meet."""

    needs: tuple[str, ...] = ()

    @classmethod
    def of(cls, quotes: Iterable[str], needs: Iterable[str] = ()) -> "Quotes":
        """Return quotes that meet `needs`."""
        alternative = cls(quotes)
        alternative.needs = tuple(needs)
        return alternative


class Judgment(NamedTuple):
    """The grade of one document for one query; each alternative of the evidence proves it."""

    query_id: str
    doc_id: str
    relevance: int
    evidence: tuple[Quotes, ...] = ()

    @property
    def pair(self) -> Pair:
        """The judged pair: query_id, doc_id."""
        return self.query_id, self.doc_id


Documents = dict[str, Document]  # by id
Queries = dict[str, Query]  # by id


class EvalSet(NamedTuple):
    """A valid folder. Documents and queries are keyed by id, in id order.

    `tokenizer` is a name in text.TOKENIZERS, `imported` says whose documents, queries and labels
    they are if other people's. `queries` have a relevant document, `unanswered` are of kind none,
    `waiting` are the rest; measures see the first, and the answerability of a query the second.
    `decides` names the measure on which a comparison's verdict rests, `matters` the difference.
    From `full_grade` on a document answers in full; `confirmed` are systems that were chosen on dev
    and may be looked at on test, with the day. With the `split` strict, halves share no answer.
    `reading` is the order of the labelling panel: find, or blind for sets that publish. `offered`
    are the pairs whose grade another judge offered and a person accepted, with that judge.
    """

    folder: Path
    documents: Documents
    queries: Queries
    judgments: list[Judgment]
    tokenizer: str = "words"
    grades: tuple[int, ...] = GRADES
    unanswered: Queries = {}
    imported: str = ""
    decides: str = "nDCG@10"
    matters: float = 0.05
    full_grade: int = 2
    confirmed: dict[str, str] = {}
    split: str = ""
    waiting: Queries = {}
    reading: str = "find"
    offered: dict[Pair, str] = {}

    def words(self, text: str) -> list[str]:
        """Return the words of `text`, as BM25 counts them in this set."""
        return TOKENIZERS[self.tokenizer](text)

    def word_overlap(self, query: Query) -> float:
        """Return the share (0 to 1) of the query's content words that stand in a relevant document.

        A word counts when any of them has it; a query without content words gives 0.
        """
        words = content_words(self.words(query.query))
        relevant = (self.documents[d].retrieval_text for d in query.relevant_doc_ids)
        known = set().union(*map(self.words, relevant))
        return sum(word in known for word in words) / len(words) if words else 0.0

    def versions(self) -> set[Pair]:
        """Return the pairs of ids of one family: versions (rollback-v1, rollback-v2) and copies."""
        ties = []
        for doc_id, document in self.documents.items():
            stem = re.sub(r"-(v\d+|20\d\d)$", "", doc_id)
            name = ("versions of", stem) if document.version else doc_id
            ties.append({doc_id, document.copy_of or doc_id, name})
        families = [sorted(tie & self.documents.keys()) for tie in merge_groups(ties)]
        return {pair for doc_ids in families for pair in combinations(doc_ids, 2)}

    def near_duplicates(self, threshold: float = NEAR) -> dict[Pair, float]:
        """Return {(doc_id, doc_id): Jaccard} of documents whose bodies share many runs of words."""
        bodies = {doc_id: self.words(doc.text) for doc_id, doc in self.documents.items()}
        return near_duplicates(bodies, threshold)

    def examples(self, kind: str) -> list[Query]:
        """Return dev queries of a kind, else all of dev, else any, to choose an example from.

        Where nothing is labelled, any that wait; where nobody has asked anything yet, the title of
        the first document is the question.
        """
        dev = [query for query in self.queries.values() if query.split == SPLITS[0]]
        of_kind = [query for query in dev if query.kind == kind]
        title = next(iter(self.documents.values())).title
        others = [*self.queries.values()] or [*self.waiting.values()]
        return of_kind or dev or others or [Query("", title, ())]

    def require(self, *names: str) -> "EvalSet":
        """Return the set if it has queries and the files `names`, which a session has written.

        Raises EvalSetError with one line that says what is missing.
        """
        if not self.all_queries:
            raise EvalSetError(self.next_step())
        for name in names:
            if not (self.folder / name).exists():
                raise EvalSetError(
                    f"{self.folder / name}: found nothing; run the session before this one first"
                )
        return self

    def only(self, query_ids: Set[str]) -> "EvalSet":
        """Return the set with some of its settled queries."""
        queries = {q: query for q, query in self.queries.items() if q in query_ids}
        unanswered = {q: query for q, query in self.unanswered.items() if q in query_ids}
        return self._replace(queries=queries, unanswered=unanswered)

    @property
    def settled_queries(self) -> Queries:
        """The queries that no longer wait: with a relevant document, or without an answer."""
        return {**self.queries, **self.unanswered}

    @property
    def all_queries(self) -> Queries:
        """All queries, also those that are set aside or wait."""
        return {**self.settled_queries, **self.waiting}

    @property
    def labels(self) -> dict[Pair, Judgment]:
        """The judgments by (query_id, doc_id)."""
        return {judgment.pair: judgment for judgment in self.judgments}

    @property
    def texts(self) -> dict[str, str]:
        """The retrieval texts of the documents, by id."""
        return {doc_id: document.retrieval_text for doc_id, document in self.documents.items()}

    @property
    def relevant_documents(self) -> set[str]:
        """The documents that are relevant to some query."""
        return {doc_id for query in self.queries.values() for doc_id in query.relevant_doc_ids}

    @property
    def fully_answered(self) -> set[str]:
        """The queries that a document answers in full."""
        return {label.query_id for label in self.judgments if label.relevance >= self.full_grade}

    @property
    def own_documents(self) -> set[str]:
        """The queries that are documents of the set, by id and words; see runs.without_own."""
        asked, own = self.all_queries, self.documents
        texts = {q: (own[q].text, own[q].retrieval_text) for q in asked if q in own}
        return {q for q in texts if self.words(asked[q].query) in map(self.words, texts[q])}

    @property
    def tying_grade(self) -> int:
        """The grade from which an answer that two queries share ties them to one half.

        It is that of a full answer; 1 where no label is one, and where the split is strict.
        """
        full = self.fully_answered
        return self.full_grade if full and not self.split else 1

    def next_step(self) -> str:
        """Return what must be done before anything can be measured, "" where some of it can."""
        if not self.all_queries:
            return NO_QUERIES
        if any(query.split == SPLITS[0] for query in self.queries.values()):
            return ""
        if self.waiting:
            return self.what_waits()
        if not self.queries:
            return f"every query is of kind none: write one that a document answers; {LABEL_NEXT}"
        return "every query has the split test; set some to dev in retrieval_queries.jsonl"

    def what_waits(self) -> str:
        """Return which queries wait for a label and what to do, "" where none does."""
        if not self.waiting:
            return ""
        count, names = how_many(self.waiting, "query"), ", ".join([*self.waiting][:5])
        wait = "waits" if len(self.waiting) == 1 else "wait"
        return f"{count} {wait} for a relevant document: {names}; {LABEL_NEXT}"

    @property
    def name(self) -> str:
        """The first heading of the folder's README.md, else the folder's name."""
        heading = re.search(r"^# (.+)", files.optional_page(self.folder / PROSE[0]), re.MULTILINE)
        return heading[1].strip() if heading else self.folder.name

    def qrels(self, split: str | None = None) -> dict[str, dict[str, int]]:
        """Return {query_id: {doc_id: relevance}}; `split` keeps the queries of one half."""
        qrels = {q.query_id: {} for q in self.queries.values() if split in (None, q.split)}
        for query_id, doc_id, relevance, _ in self.judgments:
            if query_id in qrels:
                qrels[query_id][doc_id] = relevance
        return qrels

    def corpus_hash(self) -> str:
        """Return the SHA-256 of every document's id and retrieval text, in id order."""
        return _digest(self.texts.items())

    def queries_hash(self, known: Collection[str] | None = None) -> str:
        """Return the SHA-256 of the settled queries, their splits and their labels, in id order.

        With `known` only of the queries with these ids.
        """
        qrels = self.qrels()
        rows = []
        for query in _among(self.settled_queries, known):
            grades = sorted(qrels.get(query.query_id, {}).items())
            rows.append([query.query_id, query.query, query.split, grades])
        return _digest(rows)

    def topics_hash(self, known: Collection[str] | None = None) -> str:
        """Return the SHA-256 of the ids and words of all queries, or of the `known` ones.

        That's what a run depends on.
        """
        return _digest([q.query_id, q.query] for q in _among(self.all_queries, known))


def _among(queries: Queries, known: Collection[str] | None) -> list[Query]:
    """Return the queries in id order, only the `known` ones if there are any such ids."""
    return [row for q, row in sorted(queries.items()) if known is None or q in known]


def left_out(waiting: Collection[str], newer: Collection[str] = ()) -> str:
    """Return how many queries no measure sees and why, in words; "" where there are none."""
    reasons = []
    if waiting:
        wait = "waits" if len(waiting) == 1 else "wait"
        reasons.append(f"{len(waiting)} {wait} for a label")
    if newer:
        are = "is" if len(newer) == 1 else "are"
        reasons.append(f"{len(newer)} {are} newer than a run")
    count = how_many(len(waiting) + len(newer), "query")
    return f"{count} left out: {', '.join(reasons)}" if reasons else ""


def _digest(rows: Iterable) -> str:
    return hashlib.sha256(files.as_lines(rows).encode()).hexdigest()


def folder() -> Path:
    """Return the folder that the environment variable EVALS names, else `evals/`."""
    return Path(os.environ.get("EVALS") or DEFAULT).resolve()


def load(path: Path | str | None = None) -> EvalSet:
    """Read the evaluation set in `path` (default: `folder()`). Nothing is written.

    Raises EvalSetError with every problem: `file:line: what is wrong, what is wanted`.
    """
    path = Path(path or folder())
    if (path / JOURNAL).exists():
        raise EvalSetError(
            f"{path / JOURNAL}: a carry in place was stopped halfway, wanted the same "
            "command once more"
        )
    problems = []
    for name in PROSE:
        files.optional_page(path / name, problems)
    settings = files.read_settings(path / "settings.json", problems)
    grades = tuple(range(settings.get("highest_grade", GRADES[-1]) + 1))
    documents = _read_corpus(path, problems)
    queries, judgments, offered = _read_labelled(path, documents, grades, problems)
    files.refuse(problems)
    answered, unanswered, waiting = _by_state(queries)
    rules = {name: settings[name] for name in EvalSet._fields if name in settings}
    words = settings.get("words", "words")
    evals = EvalSet(path, documents, answered, judgments, words, grades, unanswered)
    return evals._replace(waiting=waiting, offered=offered, **rules)


def _read_labelled(
    path: Path, documents: Documents, grades: tuple[int, ...], problems: list[str]
) -> tuple[Queries, list[Judgment], dict[Pair, str]]:
    """Return the queries with all that is relevant to them, their labels, the accepted offers.

    Without judgments.jsonl what the queries list has grade 1.
    """
    table = path / "judgments.jsonl"
    is_judged = os.path.lexists(table)  # not exists(): of a link whose file is gone it says no
    places = {}  # of the row of a query or of a judged pair: where it stands
    rows = files.read(path / "retrieval_queries.jsonl", problems, places=places)
    queries = _queries(rows, documents, is_judged, problems)
    judgments = [Judgment(q, d, 1) for q, row in queries.items() for d in row.relevant_doc_ids]
    offered = {}
    if is_judged:
        rows = files.read(table, problems, grades, places)
        judgments, offered = _judgments(rows, documents, queries, path, problems)
    if not problems:
        queries = _with_relevant(queries, judgments, places, problems)
    return queries, judgments, offered


def _by_state(queries: Queries) -> tuple[Queries, Queries, Queries]:
    """Return the queries with a relevant document, those of kind none, and those that wait."""
    answered, unanswered, waiting = {}, {}, {}
    for query_id, query in queries.items():
        if query.kind == NO_ANSWER:
            unanswered[query_id] = query
        elif query.relevant_doc_ids:
            answered[query_id] = query
        else:
            waiting[query_id] = query
    return answered, unanswered, waiting


def read_extra(evals: EvalSet, name: str) -> list[dict]:
    """Return the rows of a file beside queries and labels, such as pool.jsonl; [] without it.

    Raises EvalSetError with file and line for a broken row or an id that the folder does not know.
    """
    problems = []
    rows = list(files.read(evals.folder / name, problems, evals.grades))
    problems += orphan_faults(rows, evals.all_queries, evals.folder)
    for place, row in rows:
        for doc_id in [*row.get("easy", []), *row.get("hard", []), row.get("doc_id")]:
            if doc_id not in evals.documents and doc_id is not None:
                fault = unknown_document(doc_id, evals.documents, len(problems))
                problems.append(f"{place}: {fault}")
    files.refuse(problems)
    return [row for _, row in rows]


def read_corpus(path: Path) -> Documents:
    """Return the documents of a folder, by id. Raises EvalSetError with every problem."""
    problems = []
    documents = _read_corpus(path, problems)
    files.refuse(problems)
    return documents


def _read_corpus(path: Path, problems: list[str]) -> Documents:
    """Return the documents of the pages corpus/*.md or of corpus.jsonl, in id order."""
    table, pages, before = path / "corpus.jsonl", _pages(path / "corpus", problems), len(problems)
    places = {(page.stem,): f"{page}:1" for page in pages}
    if pages and os.path.lexists(table):
        problems.append(f"{table}:1: there is also a folder corpus/, keep one of the two")
    documents = [_read_page(page, problems) for page in pages]
    if not pages:
        for _, row in files.read(table, problems, places=places):
            documents.append(Document(**{f: row[f] for f in Document._fields if f in row}))
    if not documents and len(problems) == before:
        problems.append(f"{table}:1: no documents found, wanted corpus/*.md or corpus.jsonl")
    by_id = {document.doc_id: document for document in sorted(documents)}
    for doc_id, document in by_id.items():
        original = document.copy_of
        if original and (original == doc_id or original not in by_id):
            problems.append(
                f"{places[doc_id,]}: copy_of is {original!r}, wanted the id of another document"
            )
    return by_id


def _pages(corpus: Path, problems: list[str]) -> list[Path]:
    """Return the pages of a corpus folder; a page elsewhere is a problem, as nobody reads it."""
    pages = sorted(corpus.glob("*.md"))
    for path in sorted({*corpus.rglob("*")} - {*pages}):
        is_hidden = any(name[0] == "." for name in path.relative_to(corpus).parts)  # a tool's own
        if path.suffix.lower() in (".md", ".markdown") and not is_hidden:
            problems.append(f"{path}:1: is read by nobody, wanted {corpus / 'NAME.md'}")
    return pages


def _read_page(path: Path, problems: list[str]) -> Document:
    before = len(problems)
    front = files.front_matter(path, files.page(path, problems) or "", problems)
    if len(problems) == before and front is None:
        problems.append(f"{path}:1: no front matter, wanted a block between two lines of ---")
    if len(problems) == before:
        fields, body = front[0], front[1].strip("\n")
        row = {"doc_id": path.stem, "title": "", "text": body}
        faults = files.schema("corpus").faults(row) + files.schema("page").faults(fields)
        if not faults:
            return Document(path.stem, text=body, **fields)
        problems += [f"{path}:1: {fault}" for fault in faults]
    return Document(path.stem, "", "")  # keeps the id known: its labels are no further problem


def _queries(rows: Rows, documents: dict, is_judged: bool, problems: list[str]) -> Queries:
    """Return the queries in id order, with the relevant_doc_ids that their rows list."""
    queries = {}
    wanted = files.schema("retrieval_queries").wanted("relevant_doc_ids")
    for place, row in rows:
        if not is_judged and "relevant_doc_ids" not in row:
            problems.append(f"{place}: field relevant_doc_ids is missing, wanted {wanted}")
        lists = {name: tuple(row.get(name, ())) for name in ("relevant_doc_ids", "answers")}
        for doc_id in lists["relevant_doc_ids"]:
            if doc_id not in documents:
                problems.append(f"{place}: {unknown_document(doc_id, documents, len(problems))}")
        queries[row["query_id"]] = Query(**row | lists)
    return dict(sorted(queries.items()))


def unknown_document(doc_id: str, documents: dict, told: int) -> str:
    """Return what is wrong with an id of a document that the set lacks; see HINTS."""
    near = difflib.get_close_matches(doc_id[:100], documents) if told < HINTS else []
    hint = f", the nearest is {near[0]}" if near else ""
    return f"document {doc_id} is not in the corpus, wanted one of its {len(documents)} ids{hint}"


def _judgments(
    rows: Rows, documents: dict, queries: dict, folder: Path, problems: list[str]
) -> tuple[list[Judgment], dict[Pair, str]]:
    """Return the labels, and {pair whose grade is an accepted offer: who offered it}."""
    is_sound, judgments, offered, lost = not problems, [], {}, []
    for place, row in rows:
        fields = {**row, "evidence": evidence_quotes(row)}
        judge = fields.pop("offered", "")
        judgment = Judgment(**fields)
        if judge:
            offered[judgment.pair] = judge
        if judgment.query_id not in queries:
            lost.append((place, row))
        elif fault := judgment_fault(judgment, queries, documents, len(problems)):
            problems.append(f"{place}: {fault}")
        else:
            judgments.append(judgment)
    if is_sound:  # else a broken line of a query would be told again for each of its labels
        problems += orphan_faults(lost, queries, folder)
    return judgments, offered


def evidence_quotes(row: dict) -> tuple[Quotes, ...]:
    """Return the alternatives of a row of judgments.jsonl, each with all that it takes."""
    evidence = row.get("evidence") or []
    alternatives = []
    for own in [evidence] if isinstance(evidence, str) else evidence:
        if isinstance(own, dict):
            alternatives.append(Quotes.of(own["quotes"], own["needs"]))
        else:
            alternatives.append(Quotes([own] if isinstance(own, str) else own))
    return tuple(own for own in alternatives if any(map(str.strip, own)))


def evidence_field(alternatives: Iterable[Sequence[str]]) -> str | list:
    """Return alternatives as a row of judgments.jsonl holds them, "" for none."""
    field = []
    for own in alternatives:
        quotes = own[0] if len(own) == 1 else [*own]
        needs = getattr(own, "needs", ())
        field.append({"quotes": [*own], "needs": [*needs]} if needs else quotes)
    is_one = len(field) == 1 and isinstance(field[0], str)
    return field[0] if is_one else field or ""


def label_row(label: Judgment) -> dict:
    """Return a label as a row of judgments.jsonl."""
    row = {"query_id": label.query_id, "doc_id": label.doc_id, "relevance": label.relevance}
    if label.evidence:
        row["evidence"] = evidence_field(label.evidence)
    return row


def judgment_fault(judgment: Judgment, queries: dict, documents: dict, told: int = 0) -> str:
    """Return which of query, document and evidence is not there, "" if all are; see HINTS."""
    query_id, doc_id, _, evidence = judgment
    if query_id not in queries:
        return f"query {query_id} is not in retrieval_queries.jsonl, wanted one of its ids"
    if doc_id not in documents:
        return unknown_document(doc_id, documents, told)
    document = documents[doc_id]
    for quote in chain(*evidence) if document.text else ():
        if quote not in document.retrieval_text:
            fault = f"evidence {quote[:60]!r} is not in {doc_id}"
            return f"{fault}, wanted a verbatim quote, line ends included"
    for need in chain(*(own.needs for own in evidence)):
        if need not in queries[query_id].needs:
            known = ", ".join(queries[query_id].needs) or "none"
            return f"evidence meets need {need}, wanted a need of query {query_id}: {known}"
    return ""


def orphan_faults(rows: Rows, queries: dict, folder: Path) -> list[str]:
    """Return a line for each query that (file:line, row) name and `queries` does not hold."""
    places = defaultdict(list)
    for place, row in rows:
        if "query_id" in row and row["query_id"] not in queries:
            places[row["query_id"]].append(place)
    return [
        f"{there[0]}: query {query_id} is not in retrieval_queries.jsonl and stands in "
        f"{how_many(there, 'line')} here: write it there again, or take all its rows "
        f"out of every file: {command('drop', QUERY=query_id, EVALS=folder)}"
        for query_id, there in places.items()
    ]


def _with_relevant(
    queries: Queries, judgments: list[Judgment], places: dict, problems: list[str]
) -> Queries:
    """Return the queries with all that is judged relevant: as listed, then by id."""
    judged = defaultdict(set)
    for judgment in judgments:
        if judgment.relevance > 0:
            judged[judgment.query_id].add(judgment.doc_id)
    whole = {}
    for query_id, query in queries.items():
        place, relevant = f"{places[query_id,]}: query {query_id}", judged[query_id]
        for doc_id in query.relevant_doc_ids:
            if doc_id not in relevant:
                problems.append(
                    f"{place}: {doc_id} is listed but not judged 1 or more, wanted a "
                    "grade in judgments.jsonl or no mention in relevant_doc_ids"
                )
        if query.kind == NO_ANSWER and relevant:
            problems.append(f"{place}: {min(relevant)} answers it, wanted another kind than none")
        others = sorted(relevant.difference(query.relevant_doc_ids))
        whole[query_id] = query._replace(relevant_doc_ids=(*query.relevant_doc_ids, *others))
    return whole
