"""Read and validate one evaluation-set folder: corpus, queries, graded labels."""

import difflib
import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from . import files
from . import text as tokens
from .files import GRADES, NO_ANSWER, SPLITS, EvalSetError
from .text import how_many

PROSE = ("README.md", "notes.md", "labeling_guide.md")
DEFAULT = Path(__file__).resolve().parent.parent / "evals"
HINTS = 20  # unknown ids for which the nearest is sought: it takes a look at every id
LABEL_NEXT = "judge what the rankers find in session A's panel (make lab EVALS=folder)"
NO_QUERIES = (
    "no queries yet: write retrieval_queries.jsonl, one line a query, such as "
    '{"query_id": "q1", "query": "...", "relevant_doc_ids": []}; then ' + LABEL_NEXT
)
ALL_SET_ASIDE = (
    "every query is of kind none: write others that a document answers; then " + LABEL_NEXT
)


class Document(NamedTuple):
    """One document. `text` is the body; what is searched is `retrieval_text`.

    In corpus.jsonl the title may be empty: many public passages have none. `copy_of` is the id of
    a document of which this one is a copy.
    """

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
    """One query with the ids of the documents that answer it, wholly or in part."""

    query_id: str
    query: str
    relevant_doc_ids: tuple[str, ...]
    kind: str = "unspecified"
    popularity: str = ""
    split: str = "dev"
    answers: tuple[str, ...] = ()


class Judgment(NamedTuple):
    """The grade of one document for one query; each quote of the evidence proves it by itself."""

    query_id: str
    doc_id: str
    relevance: int
    evidence: tuple[str, ...] = ()


class EvalSet(NamedTuple):
    """A valid folder. Documents and queries are keyed by id, in id order.

    A corpus that nobody has labelled yet has no queries. `tokenizer` is a name in text.TOKENIZERS,
    `grades` lists the grades that a label may have, `imported` says where documents, queries and
    labels come from if they are other people's; settings.json holds what is not the default.
    `unanswered` holds the queries of kind none, set aside: no ranking measure sees them.
    """

    folder: Path
    documents: dict[str, Document]
    queries: dict[str, Query]
    judgments: list[Judgment]
    tokenizer: str = "words"
    grades: tuple[int, ...] = GRADES
    unanswered: dict[str, Query] = {}
    imported: str = ""

    def words(self, text: str) -> list[str]:
        """Return the words of `text`, as BM25 counts them in this set."""
        return tokens.TOKENIZERS[self.tokenizer](text)

    def word_overlap(self, query: Query) -> float:
        """Return the share (0 to 1) of the query's content words that stand in a relevant document.

        A word counts when any of them has it; a query without content words gives 0.
        """
        answers = [self.documents[d].retrieval_text for d in query.relevant_doc_ids]
        asked = tokens.content_words(self.words(query.query))
        found = set().union(*map(self.words, answers))
        return sum(word in found for word in asked) / len(asked) if asked else 0.0

    def versions(self) -> set[tuple[str, str]]:
        """Return the pairs of ids of one family: versions (rollback-v1, rollback-v2) and copies."""
        stem = {d: ("of", re.sub(r"-(v\d+|20\d\d)$", "", d)) for d in self.documents}
        own = self.documents.items()
        ties = [{d, doc.copy_of or d, stem[d] if doc.version else d} for d, doc in own]
        families = [sorted(tie & self.documents.keys()) for tie in tokens.merged(ties)]
        return {pair for names in families for pair in combinations(names, 2)}

    def near_duplicates(self, threshold: float = tokens.NEAR) -> dict[tuple[str, str], float]:
        """Return {(doc_id, doc_id): Jaccard} of documents whose bodies share many runs of words."""
        bodies = {doc_id: self.words(doc.text) for doc_id, doc in self.documents.items()}
        return tokens.near_duplicates(bodies, threshold)

    def examples(self, kind: str) -> list[Query]:
        """Return dev queries of a kind, else all of dev, else any, to choose an example from.

        Where nobody has asked anything yet, the title of the first document is the question.
        """
        dev = [query for query in self.queries.values() if query.split == SPLITS[0]]
        title = next(iter(self.documents.values())).title
        return (
            [query for query in dev if query.kind == kind]
            or dev
            or [*self.queries.values()]
            or [Query("", title, ())]
        )

    def require(self, *wanted: str) -> "EvalSet":
        """Return the set if it has queries and the files `wanted`, which a session has written.

        Raises EvalSetError with one line that says what is missing.
        """
        lost = next((name for name in wanted if not (self.folder / name).exists()), "")
        if not self.asked:
            raise EvalSetError([self.next_step()])
        if lost:
            wrong = f"{self.folder / lost}: found nothing; run the session before this one first"
            raise EvalSetError([wrong])
        return self

    @property
    def asked(self) -> dict[str, Query]:
        """All queries, also those that are set aside."""
        return {**self.queries, **self.unanswered}

    @property
    def waiting(self) -> list[str]:
        """The queries without a relevant document: nothing can be measured on them yet."""
        return [q.query_id for q in self.queries.values() if not q.relevant_doc_ids]

    def next_step(self) -> str:
        """Return what must be labelled before anything can be measured, "" where all is done."""
        texts = (document.retrieval_text for document in self.documents.values())
        if self.documents and not any(map(self.words, texts)):
            return "no document holds a word: nothing can be searched, wanted texts"
        if not self.queries:
            return ALL_SET_ASIDE if self.unanswered else NO_QUERIES
        if self.waiting:
            some = ", ".join(self.waiting[:5]) + (", ..." if len(self.waiting) > 5 else "")
            wait = how_many(len(self.waiting), "query") + " wait" + "s" * (len(self.waiting) == 1)
            return f"{wait} for a relevant document: {some}; {LABEL_NEXT}"
        if all(query.split != SPLITS[0] for query in self.queries.values()):
            return (
                "every query has the split test; set some to dev in retrieval_queries.jsonl: "
                "failures are read and parameters are chosen there"
            )
        return ""

    @property
    def name(self) -> str:
        """The first heading of the folder's README.md, else the folder's name."""
        heading = re.search(r"^# (.+)", files.optional_page(self.folder / PROSE[0]), re.MULTILINE)
        return heading[1].strip() if heading else self.folder.name

    def qrels(self, split: str | None = None) -> dict[str, dict[str, int]]:
        """Return {query_id: {doc_id: relevance}}; `split` keeps the queries of one half."""
        wanted = {q.query_id: {} for q in self.queries.values() if split in (None, q.split)}
        for judgment in self.judgments:
            if judgment.query_id in wanted:
                wanted[judgment.query_id][judgment.doc_id] = judgment.relevance
        return wanted

    def corpus_hash(self) -> str:
        """Return the SHA-256 of every document's id and retrieval text, in id order."""
        return _digest([d.doc_id, d.retrieval_text] for d in self.documents.values())

    def queries_hash(self) -> str:
        """Return the SHA-256 of all queries, their splits and their labels, in id order."""
        qrels, rows = self.qrels(), sorted(self.asked.items())
        return _digest([q, r.query, r.split, sorted(qrels.get(q, {}).items())] for q, r in rows)

    def topics_hash(self) -> str:
        """Return the SHA-256 of the queries' ids and words: what a run depends on."""
        return _digest([q, row.query] for q, row in sorted(self.asked.items()))


def _digest(rows) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def folder() -> Path:
    """Return the folder that the environment variable EVALS names, else `evals/`."""
    return Path(os.environ.get("EVALS") or DEFAULT).resolve()


def load(path: Path | str | None = None) -> EvalSet:
    """Read the evaluation set in `path` (default: `folder()`). Nothing is written.

    Raises EvalSetError with every problem found, each as
    `file:line: what is wrong, what is wanted`.
    """
    path = Path(path) if path else folder()
    problems: list[str] = []
    places: dict = {}  # where the row of a query or of a judged pair stands
    for name in PROSE:
        files.optional_page(path / name, problems)
    settings = _read_settings(path / "settings.json", problems)
    imported = settings.get("imported", "")
    grades = tuple(range(settings.get("highest_grade", GRADES[-1]) + 1))
    documents = _read_corpus(path, problems)
    queries = _read_queries(path, documents, places, problems)
    if not imported:  # what others have published is taken as it is
        _refuse_twins({key[0]: place for key, place in places.items()}, problems, cases=True)
    judgments = _read_judgments(path, documents, queries, grades, places, problems)
    queries = _with_relevant(queries, judgments, places, problems)
    if problems:
        raise EvalSetError(problems)
    unanswered = {q: query for q, query in queries.items() if query.kind == NO_ANSWER}
    answered = {q: query for q, query in queries.items() if q not in unanswered}
    words = settings.get("words", "words")
    return EvalSet(path, documents, answered, judgments, words, grades, unanswered, imported)


def read_extra(evals: EvalSet, name: str) -> list[dict]:
    """Return the rows of pool, second_pass or negatives.jsonl; [] where the file is missing.

    Raises EvalSetError with file and line for a broken row or an id that the folder does not know.
    """
    problems: list[str] = []
    rows = list(files.read(evals.folder / name, problems, evals.grades))
    problems += orphans(rows, evals.asked, evals.folder)
    for place, row in rows:
        doc_ids = [*row.get("easy", []), *row.get("hard", [])]
        for doc_id in [*doc_ids, row["doc_id"]] if "doc_id" in row else doc_ids:
            if doc_id not in evals.documents:
                problems.append(f"{place}: {_unknown(doc_id, evals.documents, len(problems))}")
    if problems:
        raise EvalSetError(problems)
    return [row for _, row in rows]


def _read_settings(path: Path, problems: list[str]) -> dict:
    settings = files.json_page(path, problems) if os.path.lexists(path) else {}
    faults = files.schema("settings").faults(settings)
    problems += [f"{path}:1: {fault}" for fault in faults]
    return {} if faults else settings


def _read_corpus(path: Path, problems: list[str]) -> dict[str, Document]:
    pages, table = _pages(path / "corpus", problems), path / "corpus.jsonl"
    before, is_table = len(problems), os.path.lexists(table)
    places = {(page.stem,): f"{page}:1" for page in pages}
    if pages and is_table:
        problems.append(f"{table}:1: there is also a folder corpus/, keep one of the two")
    if pages:
        documents = [_read_page(page, problems) for page in pages]
    elif is_table:
        documents = _read_table(table, places, problems)
    else:
        documents, wanted = [], "wanted corpus/*.md or corpus.jsonl"
        problems.append(f"{path / 'corpus'}:1: no documents found, {wanted}")
    if not documents and len(problems) == before:
        problems.append(f"{table}:1: the file is empty, wanted a document a line")
    by_id = {document.doc_id: document for document in sorted(documents)}
    known = {"", *by_id}
    for doc_id, document in by_id.items():
        if document.copy_of == doc_id or document.copy_of not in known:
            wrong = f"copy_of is {document.copy_of!r}, wanted the id of another document"
            problems.append(f"{places[doc_id,]}: {wrong}")
    return by_id


def _pages(corpus: Path, problems: list[str]) -> list[Path]:
    """Return the pages of a corpus folder; pages that nobody reads are problems, like names too.

    Hidden folders are tools' own (.git, .ipynb_checkpoints).
    """
    for here, folders, names in os.walk(corpus):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        for path in (Path(here, name) for name in sorted(names)):
            is_page = path.suffix.lower() in (".md", ".markdown")
            if is_page and (path.parent != corpus or path.suffix != ".md"):
                problems.append(f"{path}:1: is read by nobody, wanted {corpus / 'NAME.md'}")
    pages = sorted(corpus.glob("*.md"))
    _refuse_twins({page.stem: f"{page}:1" for page in pages}, problems, cases=True)
    return pages


def _read_page(path: Path, problems: list[str]) -> Document:
    broken = Document(path.stem, "", "")  # keeps the id known: no second complaint from its labels
    text = files.page(path, problems)
    if text is None:
        return broken
    if not files.is_id(path.stem):
        wanted = files.schema("corpus").wanted("doc_id")
        problems.append(f"{path}:1: the file name gives the id {path.stem!r}, wanted {wanted}")
    before = len(problems)
    front = files.front_matter(path, text, problems)
    if not front:
        problems.append(f"{path}:1: no front matter, wanted a block between two lines of ---")
        return broken
    fields, body = front[0], front[1].strip("\n")
    faults = files.schema("page").faults(fields) if len(problems) == before else []
    if not body.strip():
        line = text.rstrip().count("\n") + 1
        problems.append(f"{path}:{line}: empty document, wanted a body after ---")
    problems += [f"{path}:1: {fault}" for fault in faults]
    return broken if len(problems) > before else Document(path.stem, text=body, **fields)


def _read_table(path: Path, places: dict, problems: list[str]) -> list[Document]:
    documents = []
    for place, row in files.read(path, problems, places=places):
        if row["text"].strip():
            fields = {name: row[name] for name in Document._fields if name in row}
            documents.append(Document(**fields))
        else:
            problems.append(f"{place}: document {row['doc_id']} is empty, wanted a text")
    _refuse_twins({key[0]: place for key, place in places.items()}, problems, cases=False)
    return documents


def _refuse_twins(places: dict[str, str], problems: list[str], cases: bool) -> None:
    """Name the ids of {id: place} that differ by Unicode form only, or with `cases` by case."""
    first: dict[str, str] = {}
    for name, place in places.items():
        shape = unicodedata.normalize("NFC", name)
        other = first.setdefault(shape.casefold() if cases else shape, name)
        if other != name:
            line = places[other].rpartition(":")[2]
            how = "case or Unicode form" if cases else "Unicode form"
            problems.append(
                f"{place}: id {name} differs from {other} (line {line}) in {how} only, wanted "
                "ids that people can tell apart"
            )


def _read_queries(
    path: Path, documents: dict, places: dict, problems: list[str]
) -> dict[str, Query]:
    """Return the queries in id order, with the relevant_doc_ids that their rows list."""
    table, queries = path / "retrieval_queries.jsonl", {}
    judged = os.path.lexists(path / "judgments.jsonl")
    wanted = files.schema("retrieval_queries").wanted("relevant_doc_ids")
    for place, row in files.read(table, problems, places=places):
        listed = row.setdefault("relevant_doc_ids", [] if judged else None)
        if listed is None:
            problems.append(f"{place}: field relevant_doc_ids is missing, wanted {wanted}")
            listed = []
        for doc_id in listed:
            if doc_id not in documents:
                problems.append(f"{place}: {_unknown(doc_id, documents, len(problems))}")
        lists = {"relevant_doc_ids": tuple(listed), "answers": tuple(row.get("answers", ()))}
        queries[row["query_id"]] = Query(**row | lists)
    return {query_id: queries[query_id] for query_id in sorted(queries)}


def _unknown(doc_id: str, documents: dict, told: int) -> str:
    near = difflib.get_close_matches(doc_id[:100], documents) if told < HINTS else []
    hint = f", the nearest is {near[0]}" if near else ""
    return f"document {doc_id} is not in the corpus, wanted one of its {len(documents)} ids{hint}"


def _read_judgments(
    path: Path,
    documents: dict,
    queries: dict[str, Query],
    grades: tuple[int, ...],
    places: dict,
    problems: list[str],
) -> list[Judgment]:
    """Return the judgments; without judgments.jsonl each listed document counts as 1."""
    path, table_is_sound, judgments, lost = path / "judgments.jsonl", not problems, [], []
    if not os.path.lexists(path):  # not exists(): of a link whose file is gone it says no
        listed = ((query_id, query.relevant_doc_ids) for query_id, query in queries.items())
        return [Judgment(query_id, doc_id, 1) for query_id, ids in listed for doc_id in ids]
    for place, row in files.read(path, problems, grades, places):
        judgment = Judgment(**row | {"evidence": quotes(row)})
        if judgment.query_id not in queries:
            lost.append((place, row))
        elif wrong := misplaced(judgment, queries, documents, len(problems)):
            problems.append(f"{place}: {wrong}")
        else:
            judgments.append(judgment)
    if table_is_sound:  # else a broken line of a query would be told again for each of its labels
        problems += orphans(lost, queries, path.parent)
    return judgments


def quotes(row: dict) -> tuple[str, ...]:
    """Return the quotes of a row of judgments.jsonl: none, one as text, or a list of them."""
    evidence = row.get("evidence", "")
    several = [evidence] if isinstance(evidence, str) else evidence
    return tuple(quote for quote in several if quote.strip())


def misplaced(judgment: Judgment, queries: dict, documents: dict, told: int = 0) -> str:
    """Return which of query, document and evidence of a judgment is not there, "" if all are.

    After HINTS problems `told` no nearest id is sought.
    """
    query_id, doc_id, _, evidence = judgment
    if query_id not in queries:
        return f"query {query_id} is not in retrieval_queries.jsonl, wanted one of its ids"
    if doc_id not in documents:
        return _unknown(doc_id, documents, told)
    body = documents[doc_id].retrieval_text
    lost = [quote for quote in evidence if documents[doc_id].text and quote not in body]
    if lost:
        quote = f"evidence {lost[0][:60]!r} is not in {doc_id}"
        return f"{quote}, wanted a verbatim quote, line ends included"
    return ""


def orphans(rows: Iterable[tuple[str, dict]], queries: Iterable[str], folder: Path) -> list[str]:
    """Return a line for each query that (file:line, row) name and `queries` does not hold."""
    places: dict[str, list[str]] = {}
    for place, row in rows:
        if row["query_id"] not in queries:
            places.setdefault(row["query_id"], []).append(place)
    return [
        f"{there[0]}: query {query_id} is not in retrieval_queries.jsonl and stands in "
        f"{how_many(len(there), 'line')} here: write it there again, or take all its rows "
        f"out of every file: make drop QUERY={query_id} EVALS={folder}"
        for query_id, there in places.items()
    ]


def _with_relevant(
    queries: dict[str, Query], judgments: list[Judgment], places: dict, problems: list[str]
) -> dict[str, Query]:
    """Return the queries with all that is judged relevant: as listed, then by id."""
    judged: dict[str, set[str]] = {query_id: set() for query_id in queries}
    for judgment in judgments:
        if judgment.relevance > 0:
            judged[judgment.query_id].add(judgment.doc_id)
    if not problems:
        problems += _contradictions(queries, judged, places)
    for query_id, query in queries.items():
        relevant = dict.fromkeys([*query.relevant_doc_ids, *sorted(judged[query_id])])
        queries[query_id] = query._replace(relevant_doc_ids=tuple(relevant))
    return queries


def _contradictions(
    queries: dict[str, Query], judged: dict[str, set[str]], places: dict
) -> Iterator[str]:
    for query_id, query in queries.items():
        for doc_id in query.relevant_doc_ids:
            if doc_id not in judged[query_id]:
                yield (
                    f"{places[query_id,]}: query {query_id}: {doc_id} is listed but not judged 1 "
                    "or more, wanted a grade in judgments.jsonl or no mention in relevant_doc_ids"
                )
        if query.kind == NO_ANSWER and judged[query_id]:
            yield (
                f"{places[query_id,]}: kind none says that no document answers, but "
                f"{min(judged[query_id])} does: wanted another kind, or no relevant document"
            )
