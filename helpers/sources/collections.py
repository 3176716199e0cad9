"""Readers of other people's collections: each returns documents, queries and labels.

write.py checks what a reader yields and writes the evaluation-set folder.
"""

import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from .. import evalset, records

SIDES = {
    **dict.fromkeys(("dev", "validation", "valid", "val", "train"), "dev"),
    "test": "test",
}  # in the order in which a side is chosen
MANY = 50  # problems after which an import gives up


class Label(NamedTuple):
    """One line of a qrels file. `place` is file:line."""

    place: str
    split: str
    query_id: str
    doc_id: str
    grade: str | int
    evidence: str = ""


class Source(NamedTuple):
    """What a reader found. Documents and queries are (place, row); they may be read lazily."""

    documents: Iterable[tuple[str, dict]]
    queries: Iterable[tuple[str, dict]] = ()
    labels: Iterable[Label] | None = None  # None: nobody has labelled this corpus
    splits: tuple[str, ...] = ()  # every split that the source offers
    words: str = "words"
    about: tuple[str, ...] = ()  # sentences for the data card


class Asked(NamedTuple):
    """What the command line asks for."""

    kind: str
    path: str
    split: str | None = None
    max_docs: int | None = None
    queries_language: str | None = None


class Log:
    """What is wrong with a source, what is left out of it and what is read differently."""

    def __init__(self):
        self.problems: list[str] = []
        self.left: dict[str, tuple[int, str]] = {}  # reason: how often, first place
        self.changed: Counter[str] = Counter()

    def wrong(self, problem: str) -> None:
        """Note a problem. Raises EvalSetError when there are too many to go on."""
        self.problems.append(problem)
        if len(self.problems) >= MANY:
            raise evalset.EvalSetError([*self.problems, f"stopped after {MANY} problems"])

    def leave(self, reason: str, place: str) -> None:
        """Count something that is left out."""
        count, first = self.left.get(reason, (0, place))
        self.left[reason] = count + 1, first

    def stop(self) -> None:
        """Raise EvalSetError if there were problems."""
        if self.problems:
            raise evalset.EvalSetError(self.problems)

    def lines(self) -> list[str]:
        """Return a line for each reason, with its count and first place."""
        left = [
            f"left out: {reason}: {count}, first {first}"
            for reason, (count, first) in self.left.items()
        ]
        return [*left, *(f"changed: {what}: {n}" for what, n in self.changed.items())]


# Files.


def lines(path: Path | str, log: Log) -> Iterator[tuple[str, str]]:
    """Yield (file:line, text) of a file, plain or .gz, or of an hf:// address; no empty lines."""
    if str(path).startswith("hf://"):
        yield from _remote_lines(str(path))
        return
    yield from records.lines(path, log.wrong, newline="\n")  # a text may hold a carriage return


def _remote_lines(address: str) -> Iterator[tuple[str, str]]:
    datasets = _optional("datasets")
    try:
        rows = datasets.load_dataset("text", data_files=address, split="train", streaming=True)
        for number, row in enumerate(rows, 1):
            if row["text"].strip():
                yield f"{address}:{number}", row["text"].lstrip("\ufeff")
    except Exception as error:  # each release of the library raises other classes
        raise evalset.EvalSetError(
            [
                f"{address}:1: cannot be read ({type(error).__name__}: {str(error)[:200]}), wanted "
                "a network connection, a language and split that exist and, for a gated data set, "
                "a login (hf auth login); or a local folder in the same layout"
            ]
        ) from error


def _optional(name: str):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        problem = f"the package {name} is missing, wanted: python -m pip install {name}"
        raise evalset.EvalSetError([problem]) from error


def rows(path: Path | str, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) for every line of a JSONL file."""
    for place, line in lines(path, log):
        try:
            row = records.json_object(line)
        except ValueError as error:
            log.wrong(f"{place}: {error}")
        else:
            yield place, row


def array(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield (file:line, object) of a JSON array, JSON lines or Parquet file."""
    if path.suffix == ".parquet":
        yield from _parquet(path, log)
    elif next(lines(path, log), ("", ""))[1].lstrip().startswith("["):
        yield from _array(path, log)
    else:
        yield from rows(path, log)


def _parquet(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    number = 0
    try:
        for batch in _optional("pyarrow.parquet").ParquetFile(path).iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield f"{path}:{number}", row
    except (OSError, ValueError) as error:
        log.wrong(f"{path}:{number + 1}: cannot be read ({error}), wanted a Parquet file")


def _array(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    pages, line = [], 0  # with its empty lines, so that the line numbers are right
    for place, text in lines(path, log):
        number = int(place.rpartition(":")[2])
        pages.append("\n" * (number - line) + text)
        line = number
    text, decoder, skip = "".join(pages), json.JSONDecoder(), re.compile(r"[\s,]*")
    at, counted, line = text.index("[") + 1, 0, 0
    while True:
        start = skip.match(text, at).end()
        line, counted = line + text.count("\n", counted, start), start
        place = f"{path}:{line}"
        if text[start : start + 1] == "]":
            return
        try:
            row, at = decoder.raw_decode(text, start)
        except ValueError as error:
            log.wrong(f"{place}: broken JSON ({error}), wanted an array of objects")
            return
        if isinstance(row, dict):
            yield place, row
        else:
            log.wrong(f"{place}: found {str(row)[:40]}, wanted an object")


def safe(name) -> str:
    """Return an id without spaces, slashes and #, which would break files and chunk ids.

    They are percent-encoded: urllib.parse.unquote gives the original.
    """
    return re.sub(r"[\s/\\#%]", lambda match: quote(match[0], safe=""), str(name))


def value(place: str, row: dict, names: tuple[str, ...], log: Log) -> str | None:
    """Return the id under the first of `names` that `row` has, as text; None notes a problem."""
    name = next((name for name in names if row.get(name) is not None), None)
    found = row.get(name)
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if isinstance(found, str) and found.strip():
        return safe(found.strip())
    shown = "missing" if name is None else json.dumps(found, ensure_ascii=False, default=str)[:60]
    log.wrong(f"{place}: field {name or names[0]} is {shown}, wanted an id: text or whole number")
    return None


def text_of(row: dict, *names: str) -> str:
    """Return the first of the named fields that holds text, stripped; "" if none does."""
    found = (row[name] for name in names if isinstance(row.get(name), str))
    text = next((text for text in found if text.strip()), "").strip()
    return text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair becomes "?"


def progress(items: Iterable, what: str) -> Iterable:
    """Return `items` with a bar on stderr, where tqdm is installed and somebody looks."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    return tqdm(items, desc=what, unit="", leave=False, disable=None, file=sys.stderr)


# Parts that several layouts share.


def documents_of(paths: Iterable[Path | str], log: Log) -> Iterator[tuple[str, dict]]:
    """Yield documents of JSONL files under the names that BEIR, TREC tools and MIRACL use."""
    for path in paths:
        for place, row in rows(path, log):
            doc_id = value(place, row, ("_id", "doc_id", "docid", "docno", "id"), log)
            title, text = text_of(row, "title"), text_of(row, "text", "contents", "body")
            if title and not text:
                log.changed["documents with a title only, which became their text"] += 1
                title, text = "", title
            if doc_id:
                yield place, {"doc_id": doc_id, "title": title, "text": text}


def tsv_of(path: Path | str, names: tuple[str, str], log: Log) -> Iterator[tuple[str, dict]]:
    """Yield {id, text} under `names` of lines `id TAB text`."""
    for place, line in lines(path, log):
        found, tab, text = line.partition("\t")
        if tab and found.strip():
            yield place, {names[0]: safe(found.strip()), names[1]: text_of({"text": text}, "text")}
        else:
            log.wrong(f"{place}: found {line[:40]!r}, wanted an id, a tab and a text")


def queries_of(path: Path | str, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield queries of a JSONL file, a TSV file or TREC topics (<top>, <num>, <title>)."""
    if ".jsonl" in Path(path).suffixes:
        for place, row in rows(path, log):
            query_id = value(place, row, ("_id", "query_id", "qid", "id"), log)
            if query_id:
                yield place, {"query_id": query_id, "query": text_of(row, "text", "query", "title")}
        return
    first = next(lines(path, log), ("", ""))[1].lstrip()
    if first.startswith("<"):
        yield from _topics(Path(path), log)
    else:
        yield from tsv_of(path, ("query_id", "query"), log)


def _topics(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    place, topic = "", []
    for where, line in lines(path, log):
        if "<top>" in line.lower():
            place, topic = where, []
        topic.append(line)
        if "</top>" in line.lower():
            text = "\n".join(topic)
            number = re.search(r"<num>\s*(?:Number:)?\s*([^\s<]+)", text, re.IGNORECASE)
            parts = [_topic_part(text, name) for name in ("title", "desc")]
            if number:
                query = next((part for part in parts if part), "")
                yield place, {"query_id": safe(number[1]), "query": query}
            else:
                log.wrong(f"{place}: topic without a number, wanted <num> Number: 301")
            topic = []
    if topic:
        log.wrong(f"{place or path}: topic without an end, wanted </top>")


def _topic_part(text: str, name: str) -> str:
    found = re.search(rf"<{name}>\s*(?:Topic:|Description:)?(.*?)(?=<|\Z)", text, re.I | re.S)
    return " ".join(found[1].split()) if found else ""


def labels_of(path: Path | str, split: str, log: Log) -> Iterator[Label]:
    """Yield labels of lines `query 0 document grade` (TREC) or `query document grade` (BEIR)."""
    for place, line in lines(path, log):
        cells = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.split())]
        if place.endswith(":1") and cells[0].lower().replace("_", "-") in ("query-id", "qid"):
            continue
        if len(cells) in (3, 4) and all(cells):
            yield Label(place, split, safe(cells[0]), safe(cells[-2]), cells[-1])
        else:
            log.wrong(
                f"{place}: found {line[:40]!r}, "
                "wanted 3 columns (query, document, grade) or 4 (query, 0, document, grade)"
            )


def choose(found: dict[str, object], asked: str | None, where: str) -> dict[str, object]:
    """Return the splits to read: those asked for, else one for dev and one for test.

    Raises EvalSetError with every split there is.
    """
    offer = f"found {', '.join(sorted(found)) or 'none'}"
    if asked:
        missing = [name for name in asked.split(",") if name not in found]
        if missing:
            raise evalset.EvalSetError([f"{where}: no split {missing[0]}, {offer}"])
        return {name: found[name] for name in asked.split(",")}
    known = sorted((name for name in found if side(name)), key=_rank)
    picked = {}
    for name in known:
        picked.setdefault(side(name), name)
    names = list(picked.values()) or list(found)
    if not picked and len(found) != 1:
        raise evalset.EvalSetError([f"{where}: {offer}, wanted one of them named by --split"])
    return {name: found[name] for name in names}


def side(split: str) -> str | None:
    """Return dev or test for the name of a split; None for a name that says neither."""
    return SIDES.get(re.split(r"[-_.]", split)[0].lower())


def _rank(split: str) -> tuple[int, str]:
    return list(SIDES).index(re.split(r"[-_.]", split)[0].lower()), split


def folder_of(asked: Asked) -> Path:
    """Return the path as a folder. Raises EvalSetError if it is none."""
    path = Path(asked.path)
    if not path.is_dir():
        raise evalset.EvalSetError([f"{path}:1: is no folder, wanted a folder for {asked.kind}:"])
    return path


def _first_file(folder: Path, names: Iterable[str], log: Log) -> Path:
    found = next((folder / name for name in names if (folder / name).exists()), None)
    if not found:
        log.wrong(f"{folder}:1: no {next(iter(names))} here, wanted {' or '.join(names)}")
    return found or folder / next(iter(names))


# Collections.


def beir(asked: Asked, log: Log) -> Source:
    """Read corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, plain or .gz (Thakur et al. 2021)."""
    folder = folder_of(asked)
    corpus = _first_file(folder, ("corpus.jsonl", "corpus.jsonl.gz"), log)
    queries = _first_file(folder, ("queries.jsonl", "queries.jsonl.gz"), log)
    files = {
        path.name.removesuffix(".gz").removesuffix(".tsv"): path
        for path in sorted((folder / "qrels").glob("*.tsv*"))
    }
    if not files:
        log.wrong(f"{folder / 'qrels'}:1: no labels found, wanted qrels/test.tsv or the like")
    log.stop()
    splits = choose(files, asked.split, str(folder / "qrels"))
    return Source(
        documents_of([corpus], log),
        queries_of(queries, log),
        (label for name, path in splits.items() for label in labels_of(path, name, log)),
        tuple(files),
    )


def trec(asked: Asked, log: Log) -> Source:
    """Read a folder with topics*, qrels* and documents in JSONL."""
    folder = folder_of(asked)
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    topics = [p for p in names if re.match(r"(topics|queries)\b", p.name)]
    qrels = {
        re.sub(r"^qrels[._-]?|\.(tsv|txt|qrels|gz)\b", "", p.name) or "all": p
        for p in names
        if p.name.startswith("qrels")
    }
    tables = [p for p in names if ".jsonl" in p.suffixes and p not in topics]
    here = f"found {', '.join(p.name for p in names[:9]) or 'nothing'}"
    for what, files, wanted in (
        ("topics", topics, "topics*.txt or topics*.tsv"),
        ("labels", qrels, "qrels*.txt or qrels*.tsv"),
        ("documents", tables, "a JSONL file with docid and contents"),
    ):
        if not files:
            log.wrong(f"{folder}:1: no {what}, {here}, wanted {wanted}")
    log.stop()
    splits = choose(qrels, asked.split, str(folder))
    own = [p for p in topics if any(name in p.name for name in splits)] or topics
    return Source(
        documents_of(tables, log),
        (query for path in own for query in queries_of(path, log)),
        (label for name, path in splits.items() for label in labels_of(path, name, log)),
        tuple(qrels),
    )


def hotpotqa(asked: Asked, log: Log) -> Source:
    """Read HotpotQA (Yang et al. 2018): the original JSON or Hugging Face's columns.

    Paragraphs are documents, questions are queries, supporting titles are the labels, and the
    first supporting sentence is the evidence.
    """
    path, files = Path(asked.path), {}
    found = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
    for file in found:
        if {".json", ".jsonl", ".parquet"} & set(file.suffixes):
            name = re.search(r"train|dev|validation|test", file.name)
            files.setdefault(name[0] if name else "all", []).append(file)
    if not files:
        raise evalset.EvalSetError([f"{path}:1: no questions, wanted a .json, .jsonl or .parquet"])
    splits = choose(files, asked.split, str(path))
    documents, queries, labels = {}, [], []
    for split, paths in splits.items():
        for number, (place, row) in enumerate(
            (pair for file in paths for pair in progress(array(file, log), "questions")), 1
        ):
            _question(place, row, split, f"{split}-{number}", documents, queries, labels, log)
    return Source(
        documents.values(),
        queries,
        labels,
        tuple(files),
        about=("Unlabelled paragraphs of a question are distractors; nobody judged them.",),
    )


def _question(place, row, split, name, documents, queries, labels, log) -> None:
    try:
        paragraphs = _pairs(row["context"], "sentences")
        by_title = {title: [s.strip() for s in sentences] for title, sentences in paragraphs}
        facts = _pairs(row.get("supporting_facts") or [], "sent_id")
        first = dict(reversed(facts))
        query = {"query_id": safe(row.get("_id") or row.get("id") or name)}
        query["query"] = row["question"].strip()
    except (KeyError, TypeError, ValueError, AttributeError):
        log.wrong(
            f"{place}: question, context or supporting_facts is missing or of another form, wanted "
            'context [[title, [sentence, ...]], ...] or {"title": [...], "sentences": [...]}'
        )
        return
    for title, sentences in by_title.items():
        document = {"doc_id": _title_id(title), "title": title, "text": " ".join(sentences).strip()}
        former = documents.setdefault(document["doc_id"], (place, document))[1]
        if former["text"] != document["text"]:
            log.leave("paragraphs with another text under a title that was there", place)
    more = {"kind": text_of(row, "type"), "answers": [text_of(row, "answer")]}
    queries.append((place, {**query, **{key: v for key, v in more.items() if v and v != [""]}}))
    for title in dict.fromkeys(title for title, _ in facts):
        sentences, number = by_title.get(title, []), first[title]
        evidence = sentences[number] if 0 <= number < len(sentences) else ""
        labels.append(Label(place, split, query["query_id"], _title_id(title), 1, evidence))


def _pairs(found, second: str) -> list:
    if isinstance(found, dict):
        return list(zip(found["title"], found[second], strict=True))
    return [(title, other) for title, other in found]


def _title_id(title: str) -> str:
    return safe(title.strip().replace(" ", "_"))


# Languages. The tokenizer that text in them needs: see text.py.
WORDS = {
    **dict.fromkeys(("zh", "ja", "th"), "bigrams"),
    **dict.fromkeys(("bn", "hi", "te", "yo"), "unicode-words"),
}
MIRACL = "ar bn de en es fa fi fr hi id ja ko ru sw te th yo zh".split()
MMARCO = {
    "ar": "arabic",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "hi": "hindi",
    "id": "indonesian",
    "it": "italian",
    "ja": "japanese",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
    "vi": "vietnamese",
    "zh": "chinese",
}


def _place(asked: Asked, languages: Iterable[str]) -> tuple[Path | None, str]:
    """Return (local folder or None, language or "") of a path, PATH@LANGUAGE or a language code."""
    path, _, language = asked.path.rpartition("@")
    if not path or Path(asked.path).is_dir():
        path, language = asked.path, ""
    if Path(path).is_dir():
        return Path(path), language
    if path in languages:
        return None, path
    problem = f"{path}:1: is neither a folder nor a language, wanted one of: {', '.join(languages)}"
    raise evalset.EvalSetError([problem])


def _one(found: Iterable[str], asked: str, path: Path, what: str) -> str:
    names = sorted(set(found))
    if asked in names or len(names) == 1:
        return asked if asked in names else names[0]
    problem = f"{path}:1: {what}: found {', '.join(names) or 'none'}, wanted one: {path}@LANGUAGE"
    raise evalset.EvalSetError([problem])


def miracl(asked: Asked, log: Log) -> Source:
    """Read MIRACL (Zhang et al. 2023) by language, from Hugging Face or a local copy."""
    split = asked.split or "dev"
    if split.lower().startswith("test"):
        problem = (
            f"miracl: the labels of {split} are hidden by its makers, wanted --split dev, train"
        )
        raise evalset.EvalSetError([problem])
    folder, language = _place(asked, MIRACL)
    splits: tuple[str, ...] = ()
    if folder is None:
        topics, qrels, passages = _miracl_hub(language, split)
    else:
        language, splits = _miracl_topics(folder, language)
        topics, qrels, passages = _miracl_copy(folder, language, split, splits, log)
    return Source(
        documents_of(passages, log),
        queries_of(topics, log),
        labels_of(qrels, split, log),
        splits,
        WORDS.get(language, "words"),
        (f"Language: {language}. Passages judged not relevant are kept as grade 0.",),
    )


def _miracl_hub(language: str, split: str) -> tuple[str, str, list[str]]:
    """Return topics, qrels and passages of a language on Hugging Face."""
    base = f"hf://datasets/miracl/miracl/miracl-v1.0-{language}"
    name = f"miracl-v1.0-{language}-{split}.tsv"
    passages = f"miracl-corpus-v1.0-{language}/docs-*.jsonl.gz"
    return (
        f"{base}/topics/topics.{name}",
        f"{base}/qrels/qrels.{name}",
        [f"hf://datasets/miracl/miracl-corpus/{passages}"],
    )


def _miracl_topics(folder: Path, language: str) -> tuple[str, tuple[str, ...]]:
    """Return the language of a local copy and the splits that it has."""
    form = re.compile(r"topics\.miracl-v1\.0-([a-z]+)-(.+)\.tsv$")
    found = [form.match(path.name) for path in sorted(folder.rglob("topics.miracl-*.tsv"))]
    language = _one((m[1] for m in found if m), language, folder, "topics by language")
    return language, tuple(m[2] for m in found if m and m[1] == language)


def _miracl_copy(folder: Path, language: str, split: str, splits: tuple[str, ...], log: Log):
    """Return topics, qrels and passages of a local copy. Raises EvalSetError: what is missing."""
    name = f"miracl-v1.0-{language}-{split}.tsv"
    topics, qrels = (
        next(iter(folder.rglob(f"{what}.{name}")), None) for what in ("topics", "qrels")
    )
    passages = [
        path
        for path in sorted(folder.rglob("docs*.jsonl*"))
        if path.parent in (folder, folder / "docs") or language in path.parent.name.split("-")
    ]
    corpus = f"miracl-corpus-v1.0-{language}/docs-*.jsonl.gz of miracl/miracl-corpus"
    wanted = {
        "topics": (topics, f"topics.{name}"),
        "labels": (qrels, f"qrels.{name}"),
        "passages": (passages, corpus),
    }
    for what, (there, file) in wanted.items():
        if not there:
            offer = ", ".join(splits) or "no split"
            log.wrong(f"{folder}:1: no {what}, found topics of {offer}, wanted {file}")
    log.stop()
    return topics, qrels, passages


def mmarco(asked: Asked, log: Log) -> Source:
    """Read mMARCO (Bonifacio et al. 2021): documents of one language, queries of it or another.

    The labels are MS MARCO's, in a file of their own. `dev` means dev.small.
    """
    split = {None: "dev.small", "dev": "dev.small"}.get(asked.split, asked.split)
    folder, language = _place(asked, [*MMARCO, *MMARCO.values()])
    language = MMARCO.get(language, language)
    if folder is None:
        asks = _query_language(asked, language)
        collection, queries, qrels = _mmarco_hub(language, asks, split)
    else:
        tables = {p.name.partition("_")[0]: p for p in folder.rglob("*_collection.tsv*")}
        language = _one(tables, language, folder, "document languages")
        collection, asks = tables[language], _query_language(asked, language)
        queries, qrels = _mmarco_copy(folder, asks, split, log)
    codes = {name: code for code, name in MMARCO.items()}
    needs = [WORDS.get(codes.get(name)) for name in (language, asks)]
    return Source(
        (
            (place, {**row, "title": ""})
            for place, row in tsv_of(collection, ("doc_id", "text"), log)
        ),
        queries_of(queries, log),
        labels_of(qrels, split, log),
        (split,),
        "bigrams" if "bigrams" in needs else next(filter(None, needs), "words"),
        (f"Documents in {language}, queries in {asks}; the labels are MS MARCO's.",),
    )


def _mmarco_hub(language: str, asks: str, split: str) -> tuple[str, str, str]:
    """Return collection, queries and qrels on Hugging Face."""
    base, part = "hf://datasets/unicamp-dl/mmarco/data", split.partition(".")[0]
    return (
        f"{base}/google/collections/{language}_collection.tsv",
        f"{base}/google/queries/{part}/{asks}_queries.{split}.tsv",
        f"{base}/qrels.{split}.tsv",
    )


def _mmarco_copy(folder: Path, asks: str, split: str, log: Log) -> list[Path]:
    """Return queries and qrels of a local copy. Raises EvalSetError: what is missing."""
    found = []
    for what, name in (("queries", f"{asks}_queries"), ("labels", "qrels")):
        there = sorted(folder.rglob(f"{name}.{split}.tsv*"))
        found += there[:1]
        if not there:
            log.wrong(f"{folder}:1: no {what}, wanted {name}.{split}.tsv (MS MARCO's split names)")
    log.stop()
    return found


def _query_language(asked: Asked, language: str) -> str:
    name = asked.queries_language or language
    return MMARCO.get(name, name)


def catalogue(asked: Asked, log: Log) -> Source:
    """Read a collection of ir_datasets (MacAvaney et al. 2021) by its name."""
    library = _optional("ir_datasets")
    try:
        data = library.load(asked.path)
        has = {what: getattr(data, f"has_{what}")() for what in ("docs", "queries", "qrels")}
    except Exception as error:
        problem = f"ir_datasets:{asked.path}: {type(error).__name__} {error}, wanted a name of its "
        raise evalset.EvalSetError([problem + "catalogue, https://ir-datasets.com"]) from error
    missing = ", ".join(what for what, there in has.items() if not there)
    if missing:
        problem = f"ir_datasets:{asked.path}: no {missing}, wanted a name with docs, queries, qrels"
        raise evalset.EvalSetError([problem])
    split = next((part for part in asked.path.split("/")[::-1] if side(part)), "all")
    return Source(
        _catalogue_rows(_fetched(data.docs_iter, asked), "doc_id", "text", asked),
        _catalogue_rows(_fetched(data.queries_iter, asked), "query_id", "query", asked),
        (
            Label(f"{asked.path}:{n}", split, safe(q.query_id), safe(q.doc_id), q.relevance)
            for n, q in enumerate(_fetched(data.qrels_iter, asked), 1)
        ),
        (split,),
    )


def _fetched(entries: Callable, asked: Asked) -> Iterator:
    """Yield the entries; the catalogue downloads when it is first read."""
    try:
        yield from entries()
    except Exception as error:
        problem = f"ir_datasets:{asked.path}: cannot be read ({type(error).__name__}: "
        problem += f"{str(error)[:200]}), wanted a network connection or the files it asks for"
        raise evalset.EvalSetError([problem]) from error


def _catalogue_rows(found, id_name: str, name: str, asked: Asked) -> Iterator[tuple[str, dict]]:
    for number, entry in enumerate(found, 1):
        row = {key: getattr(entry, key, None) for key in ("title", "text", "body", "description")}
        order = ("text", "title", "description") if name == "query" else ("text", "body")
        text = text_of(row, *order) or text_of({"text": _default(entry)}, "text")
        title = {} if name == "query" else {"title": text_of(row, "title")}
        place = f"ir_datasets:{asked.path}:{number}"
        yield place, {id_name: safe(getattr(entry, id_name)), **title, name: text}


def _default(entry) -> str:
    return entry.default_text() if hasattr(entry, "default_text") else ""


READERS = {
    "hotpotqa": hotpotqa,
    "beir": beir,
    "trec": trec,
    "miracl": miracl,
    "mmarco": mmarco,
    "ir_datasets": catalogue,
}
