"""Read and validate one evaluation-set folder: corpus, queries, graded labels."""

import datetime
import difflib
import hashlib
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import yaml

from . import text as tokens

DEFAULT = Path(__file__).resolve().parent.parent / "evals"
ID = re.compile(r"[^\s/\\#]+")
GRADES = (0, 1, 2)
SPLITS = ("dev", "test")
POPULARITY = ("head", "tail")
LABEL_NEXT = "judge what the rankers find in session A's panel (make lab EVALS=folder)"
NO_QUERIES = (
    "no queries yet: write retrieval_queries.jsonl, one line a query, such as "
    '{"query_id": "q1", "query": "...", "relevant_doc_ids": []}; then ' + LABEL_NEXT
)


class EvalSetError(ValueError):
    """Everything that is wrong with a folder, a line for each problem."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__("\n".join(problems))

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook prints in place of a traceback: the problems are in the files."""
        return self.problems


class Document(NamedTuple):
    """One document. `text` is the body; what is searched is `retrieval_text`.

    In corpus.jsonl the title may be empty: many public passages have none.
    """

    doc_id: str
    title: str
    text: str
    kind: str = "unspecified"
    service: str = "unspecified"
    updated: str = ""
    version: str = ""

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
    """The grade that a reader gave to one document for one query."""

    query_id: str
    doc_id: str
    relevance: int
    evidence: str = ""


class EvalSet(NamedTuple):
    """A valid folder. Documents and queries are keyed by id, in id order.

    A corpus that nobody has labelled yet has no queries. `words` names the tokenizer, `grades`
    lists the grades that a label may have; settings.json says both where they are not the default.
    """

    folder: Path
    documents: dict[str, Document]
    queries: dict[str, Query]
    judgments: list[Judgment]
    words: str = "words"
    grades: tuple[int, ...] = GRADES

    @property
    def waiting(self) -> list[str]:
        """The queries without a relevant document: nothing can be measured on them yet."""
        return [q.query_id for q in self.queries.values() if not q.relevant_doc_ids]

    def next_step(self) -> str:
        """Return what must be labelled before anything can be measured, "" where all is done."""
        if not self.queries:
            return NO_QUERIES
        if self.waiting:
            some = ", ".join(self.waiting[:5]) + (", ..." if len(self.waiting) > 5 else "")
            return f"{len(self.waiting)} queries wait for a relevant document: {some}; {LABEL_NEXT}"
        if all(query.split != SPLITS[0] for query in self.queries.values()):
            return (
                "every query has the split test; set some to dev in retrieval_queries.jsonl: "
                "failures are read and parameters are chosen there"
            )
        return ""

    @property
    def name(self) -> str:
        """The first heading of the folder's README.md, else the folder's name."""
        card = self.folder / "README.md"
        heading = (
            re.search(r"^# (.+)", card.read_text(encoding="utf-8"), re.MULTILINE)
            if card.exists()
            else None
        )
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
        """Return the SHA-256 of the queries, their splits and their labels, in id order."""
        qrels = self.qrels()
        return _digest(
            [q.query_id, q.query, q.split, sorted(qrels[q.query_id].items())]
            for q in self.queries.values()
        )

    def topics_hash(self) -> str:
        """Return the SHA-256 of the queries' ids and words: what a run depends on."""
        return _digest([q.query_id, q.query] for q in self.queries.values())


def _digest(rows) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def folder() -> Path:
    """Return the folder that the environment variable EVALS names, else `evals/`."""
    return Path(os.environ.get("EVALS") or DEFAULT).resolve()


def load(path: Path | str | None = None) -> EvalSet:
    """Read the evaluation set in `path` (default: `folder()`).

    From then on `text.words` follows the tokenizer of this folder.
    Raises EvalSetError with every problem found, each as
    `file:line: what is wrong, what is wanted`.
    """
    path = Path(path) if path else folder()
    problems: list[str] = []
    lines: dict = {}  # where a query or a judged pair stands
    settings = _read_settings(path / "settings.json", problems)
    grades = tuple(range(settings.get("highest_grade", GRADES[-1]) + 1))
    documents = _read_corpus(path, problems)
    queries = _read_queries(path, documents, lines, problems)
    judgments = _read_judgments(path, documents, queries, grades, lines, problems)
    if problems:
        raise EvalSetError(problems)
    by_id = {query_id: queries[query_id] for query_id in sorted(queries)}
    name = settings.get("words", "words")
    tokens.use(name)
    return EvalSet(path, documents, by_id, judgments, name, grades)


def notes(path: Path) -> dict[str, str]:
    """Return what somebody read in the results: {query_id: text}.

    Each text is a section `## query_id` of notes.md.
    """
    file = path / "notes.md"
    found = (
        re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", file.read_text(encoding="utf-8"), re.M | re.S)
        if file.exists()
        else []
    )
    return {query_id: " ".join(body.split()) for query_id, body in found}


def read_extra(evals: EvalSet, name: str) -> list[dict]:
    """Return the rows of pool, second_pass or negatives.jsonl; [] where the file is missing.

    Raises EvalSetError with file and line for a broken row or an id that the folder does not know.
    """
    path, problems, found = evals.folder / name, [], []
    for place, row in _rows(path, problems) if path.exists() else ():
        if _good(place, row, *EXTRA[name], problems):
            ids = [row.get("doc_id", row["query_id"]), *row.get("easy", []), *row.get("hard", [])]
            known = {*evals.documents, *evals.queries}
            problems += [f"{place}: id {i} is not in the folder" for i in ids if i not in known]
            found.append(row)
    if problems:
        raise EvalSetError(problems)
    return found


def write(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then one rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(text.encode("utf-8"))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_jsonl(path: Path, rows) -> None:
    """Write one JSON object a line."""
    write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


# Reading. A reader appends to `problems` and goes on, so that one run reports everything.


def _text(path: Path, problems: list[str]) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(
            f"{path}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8, "
            "save the file as UTF-8"
        )
    except OSError as error:
        problems.append(f"{path}:1: cannot be read ({error.strerror}), wanted a readable file")
    return None


def _rows(path: Path, problems: list[str]):
    """Yield (place, object) for every line of a JSONL file that holds an object."""
    for number, line in enumerate((_text(path, problems) or "").split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            row = json_object(line)
        except ValueError as error:
            problems.append(f"{place}: {error}")
        else:
            yield place, row


def json_object(line: str) -> dict:
    """Return the object of a JSON line. Raises ValueError: what was found and what is wanted."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"broken JSON ({error}), wanted one object a line") from None
    if not isinstance(row, dict):
        raise ValueError(f"found {line.strip()[:40]}, wanted a JSON object such as {{...}}")
    return row


def _kind(value) -> str:
    names = {
        str: "text",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "null" if value is None else type(value).__name__)


def _is_text_list(value) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


CHECKS = {
    "id": (lambda v: isinstance(v, str) and ID.fullmatch(v), "text without spaces, slashes or #"),
    "text": (lambda v: isinstance(v, str) and v.strip(), "text that is not empty"),
    "ids": (
        lambda v: _is_text_list(v) and len(set(v)) == len(v),
        "a list of different document ids",
    ),
    "texts": (_is_text_list, "a list of texts"),
    "grade": (
        lambda v: type(v) is int and v in GRADES,
        "0, 1 or 2 (more with highest_grade in settings.json)",
    ),
    "split": (lambda v: v in SPLITS, "dev or test"),
    "popularity": (lambda v: v in POPULARITY, "head or tail"),
    "round": (lambda v: type(v) is int and v > 0, "a number from 1"),
    "grade or null": (lambda v: v is None or type(v) is int and v in GRADES, "0, 1, 2 or null"),
    "any": (lambda v: isinstance(v, str), "text"),
    "date": (lambda v: _date(v), "a date such as 2026-04-08"),
    "words": (
        lambda v: isinstance(v, str) and v in tokens.TOKENIZERS,
        "one of: " + ", ".join(tokens.TOKENIZERS),
    ),
    "highest": (lambda v: type(v) is int and 0 < v < 1000, "a whole number from 1"),
}
SETTINGS = {"words": "words", "highest_grade": "highest"}
QUERY = {"query_id": "id", "query": "text", "relevant_doc_ids": "ids"}
QUERY_MORE = {"kind": "text", "popularity": "popularity", "split": "split", "answers": "texts"}
JUDGMENT, JUDGMENT_MORE = (
    {"query_id": "id", "doc_id": "id", "relevance": "grade"},
    {"evidence": "any"},
)
DOCUMENT, DOCUMENT_MORE = (
    {"title": "text"},
    {"kind": "text", "service": "text", "updated": "date", "version": "text"},
)


PAIR = {"query_id": "id", "doc_id": "id"}
EXTRA = {
    "pool.jsonl": ({**PAIR, "rankers": "texts"}, {"first": "grade or null"}),
    "second_pass.jsonl": (
        {
            **PAIR,
            "round": "round",
            "first": "grade",
            "second": "grade",
            "final": "grade",
            "reason": "any",
        },
        {},
    ),
    "negatives.jsonl": ({"query_id": "id", "easy": "ids", "hard": "ids"}, {}),
}


def _date(value) -> bool:
    try:
        return isinstance(value, str) and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def _field_problems(row: dict, needed: dict, optional: dict, closed: bool = True) -> list[str]:
    checks = {name: CHECKS.get(check, check) for name, check in {**optional, **needed}.items()}
    found = [
        f"field {name} is missing, wanted {checks[name][1]}" for name in needed if name not in row
    ]
    for name, value in row.items():
        check = checks.get(name)
        if check and not check[0](value):
            shown = json.dumps(value, ensure_ascii=False, default=str)[:60]
            found.append(f"field {name} is {shown}, wanted {check[1]}")
        elif closed and not check:
            found.append(
                f"field {name} is unknown, wanted one of: {', '.join([*needed, *optional])}"
            )
    return found


def _good(
    place: str, row: dict, needed: dict, optional: dict, problems: list[str], closed: bool = True
) -> bool:
    found = _field_problems(row, needed, optional, closed)
    problems += [f"{place}: {what}" for what in found]
    return not found


def _read_settings(path: Path, problems: list[str]) -> dict:
    if not path.exists():
        return {}
    try:
        settings = json.loads(_text(path, problems) or "{}")
    except ValueError as error:
        problems.append(f"{path}:1: broken JSON ({error}), wanted one object")
        return {}
    if not isinstance(settings, dict):
        problems.append(f"{path}:1: found {_kind(settings)}, wanted an object such as {{...}}")
        return {}
    return settings if _good(f"{path}:1", settings, {}, SETTINGS, problems) else {}


def _read_corpus(path: Path, problems: list[str]) -> dict[str, Document]:
    files = sorted((path / "corpus").glob("*.md"))
    table = path / "corpus.jsonl"
    if files and table.exists():
        problems.append(f"{table}:1: there is also a folder corpus/, keep one of the two")
    if not files and not table.exists():
        problems.append(
            f"{path / 'corpus'}:1: no documents found, wanted corpus/*.md or corpus.jsonl"
        )
    before = len(problems)
    found = (
        [_read_markdown(file, problems) for file in files]
        if files
        else _read_table(table, problems)
    )
    if not found and table.exists() and len(problems) == before:
        problems.append(f"{table}:1: the file is empty, wanted a document a line")
    return {document.doc_id: document for document in sorted(found)}


def _read_markdown(path: Path, problems: list[str]) -> Document:
    broken = Document(
        path.stem, "", ""
    )  # keeps the id known, so that its labels raise no second complaint
    text = _text(path, problems)
    if text is None:
        return broken
    if not ID.fullmatch(path.stem):
        problems.append(
            f"{path}:1: the file name gives the id {path.stem!r}, wanted {CHECKS['id'][1]}"
        )
    front = re.match(r"---\n(.*?\n)---(?:\n|$)", text, re.DOTALL)
    if not front:
        problems.append(f"{path}:1: no front matter, wanted a block between two lines of ---")
        return broken
    fields = _front_matter(path, front[1], problems)
    body = text[front.end() :].strip("\n")
    if not body.strip():
        problems.append(
            f"{path}:{front[0].count(chr(10))}: empty document, wanted a body after ---"
        )
    if fields is None or not _good(f"{path}:1", fields, DOCUMENT, DOCUMENT_MORE, problems):
        return broken
    return Document(path.stem, text=body, **fields)


def _front_matter(path: Path, block: str, problems: list[str]) -> dict | None:
    try:
        fields = yaml.load(
            block, yaml.BaseLoader
        )  # BaseLoader keeps 2026-04-08, 2.0 and no as text
    except yaml.YAMLError as error:
        line = error.problem_mark.line + 2 if getattr(error, "problem_mark", None) else 1
        problems.append(
            f"{path}:{line}: bad front matter ({getattr(error, 'problem', error)}), wanted YAML"
        )
        return None
    if isinstance(fields, dict):
        return fields
    problems.append(
        f"{path}:2: bad front matter ({_kind(fields)}), "
        "wanted lines such as title: Roll back a deploy"
    )
    return None


def _read_table(path: Path, problems: list[str]) -> list[Document]:
    needed = {"doc_id": "id", "title": "any", "text": "any"}
    documents, lines = [], {}
    for place, row in _rows(path, problems) if path.exists() else ():
        if not _good(place, row, needed, DOCUMENT_MORE, problems, closed=False):
            continue
        if not row["text"].strip():
            problems.append(f"{place}: document {row['doc_id']} is empty, wanted a text")
        elif _first(place, row["doc_id"], "doc_id", lines, problems):
            documents.append(
                Document(**{name: row[name] for name in Document._fields if name in row})
            )
    return documents


def _first(place: str, key, name: str, lines: dict, problems: list[str]) -> bool:
    if key in lines:
        shown = " ".join(key) if isinstance(key, tuple) else key
        first = lines[key].rpartition(":")[2]
        problems.append(f"{place}: {name} {shown} stands already at line {first}, wanted each once")
        return False
    lines[key] = place
    return True


def _read_queries(
    path: Path, documents: dict, lines: dict, problems: list[str]
) -> dict[str, Query]:
    path = path / "retrieval_queries.jsonl"
    queries = {}
    for place, row in _rows(path, problems) if path.exists() else ():
        if not _good(place, row, QUERY, QUERY_MORE, problems):
            continue
        if not _first(place, row["query_id"], "query_id", lines, problems):
            continue
        problems += [
            f"{place}: {_unknown(doc_id, documents)}"
            for doc_id in row["relevant_doc_ids"]
            if doc_id not in documents
        ]
        lists = {name: tuple(row[name]) for name in ("relevant_doc_ids", "answers") if name in row}
        queries[row["query_id"]] = Query(**{**row, **lists})
    return queries


def _unknown(doc_id: str, documents: dict) -> str:
    near = difflib.get_close_matches(doc_id, documents, 1)
    hint = f", the nearest is {near[0]}" if near else ""
    return f"document {doc_id} is not in the corpus, wanted one of its {len(documents)} ids{hint}"


def _read_judgments(
    path: Path,
    documents: dict,
    queries: dict,
    grades: tuple[int, ...],
    lines: dict,
    problems: list[str],
) -> list[Judgment]:
    path = path / "judgments.jsonl"
    if not path.exists():
        return [
            Judgment(q.query_id, doc_id, 1)
            for q in queries.values()
            for doc_id in q.relevant_doc_ids
        ]
    judgments, before, needed = [], len(problems), {**JUDGMENT, "relevance": _grade(grades)}
    table = path.parent / "retrieval_queries.jsonl"
    asked = table.read_text(encoding="utf-8", errors="replace") if table.exists() else ""
    for place, row in _rows(path, problems):
        if not _good(place, row, needed, JUDGMENT_MORE, problems):
            continue
        judgment = Judgment(**row)
        if judgment.query_id not in queries and f'"{judgment.query_id}"' in asked:
            continue  # the query's own line has been reported
        wrong = _misplaced(judgment, queries, documents)
        if wrong:
            problems.append(f"{place}: {wrong}")
        elif _first(place, (judgment.query_id, judgment.doc_id), "the pair", lines, problems):
            judgments.append(judgment)
    if len(problems) == before:
        problems += _disagreements(queries, judgments, lines)
    return judgments


def _misplaced(judgment: Judgment, queries: dict, documents: dict) -> str:
    """Return which of query, document and evidence of a judgment is not there."""
    query_id, doc_id, _, evidence = judgment
    if query_id not in queries:
        return f"query {query_id} is not in retrieval_queries.jsonl, wanted one of its ids"
    if doc_id not in documents:
        return _unknown(doc_id, documents)
    if documents[doc_id].text and evidence not in documents[doc_id].retrieval_text:
        quote = f"evidence {evidence[:60]!r} is not in {doc_id}"
        return f"{quote}, wanted a verbatim quote, line ends included"
    return ""


def _grade(grades: tuple[int, ...]) -> tuple:
    """Return the check of a grade: 0, 1, 2 for hand labels, wider where settings.json says so."""
    if grades == GRADES:
        return CHECKS["grade"]
    return (lambda v: type(v) is int and v in grades, f"a whole number from 0 to {grades[-1]}")


def _disagreements(queries: dict, judgments: list[Judgment], lines: dict) -> list[str]:
    judged = {(j.query_id, j.doc_id) for j in judgments if j.relevance > 0}
    listed = {(q.query_id, doc_id) for q in queries.values() for doc_id in q.relevant_doc_ids}
    end = "wanted the same in relevant_doc_ids and in judgments.jsonl"
    return [
        *(
            f"{lines[q, d]}: query {q}: {d} is judged 1 or more but not listed, {end}"
            for q, d in sorted(judged - listed)
        ),
        *(
            f"{lines[q]}: query {q}: {d} is listed but not judged 1 or more, {end}"
            for q, d in sorted(listed - judged)
        ),
    ]
