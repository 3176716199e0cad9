"""Readers of collections in their published layouts: each gives documents, queries and labels."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .. import files
from ..files import EvalSetError
from . import catalogue
from .readers import (
    Asked,
    Label,
    Log,
    Source,
    choose,
    chosen,
    document_of,
    folder_of,
    id_of,
    lines_of,
    safe,
    side,
    text_of,
)

# Parts that several layouts share.


def documents_of(paths: Iterable[Path], asked: Asked, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield documents of JSONL files under the names that BEIR, TREC tools and MIRACL use."""
    for path in paths:
        for place, row in files.rows(path, log.wrong):
            doc_id = id_of(place, row, ("_id", "doc_id", "docid", "docno", "id"), log)
            title, text = text_of(row, "title"), text_of(row, "text", "contents", "body")
            title, text = chosen(place, row, title, text, asked, log)
            if doc_id:
                yield place, document_of(doc_id, title, text, log)


def tsv_of(path: Path, names: tuple[str, str], log: Log) -> Iterator[tuple[str, dict]]:
    """Yield {id, text} under `names` of lines `id TAB text`."""
    for place, line in lines_of(path, log):
        found, tab, text = line.partition("\t")
        if tab and found.strip():
            yield place, {names[0]: safe(found.strip()), names[1]: text_of({"text": text}, "text")}
        else:
            log.wrong(f"{place}: found {line[:40]!r}, wanted an id, a tab and a text")


def queries_of(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    """Yield queries of a JSONL file, a TSV file or TREC topics (<top>, <num>, <title>)."""
    if ".jsonl" in path.suffixes:
        for place, row in files.rows(path, log.wrong):
            query_id = id_of(place, row, ("_id", "query_id", "qid", "id"), log)
            if query_id:
                yield place, {"query_id": query_id, "query": text_of(row, "text", "query", "title")}
        return
    first = next(lines_of(path, log), ("", ""))[1].lstrip()
    if first.startswith("<"):
        yield from _topics(path, log)
    else:
        yield from tsv_of(path, ("query_id", "query"), log)


def _topics(path: Path, log: Log) -> Iterator[tuple[str, dict]]:
    place, topic, size = "", [], 0
    for where, line in lines_of(path, log):
        if "<top>" in line.lower():
            place, topic, size = where, [], 0
        topic.append(line)
        size += len(line)
        if size > files.LONGEST:
            return log.wrong(f"{place or path}: the topic is too long, {files.most('characters')}")
        if "</top>" in line.lower():
            text = "\n".join(topic)
            number = re.search(r"<num>\s*(?:Number:\s*)?([^\s<]+)", text, re.IGNORECASE)
            query = _topic_part(text, "title") or _topic_part(text, "desc")
            if number:
                yield place, {"query_id": safe(number[1]), "query": query}
            else:
                log.wrong(f"{place}: topic without a number, wanted <num> Number: 301")
            topic = []
    if topic:
        log.wrong(f"{place or path}: topic without an end, wanted </top>")


def _topic_part(text: str, name: str) -> str:
    found = re.search(rf"<{name}>\s*(?:Topic:|Description:)?(.*?)(?=<|\Z)", text, re.I | re.S)
    return " ".join(found[1].split()) if found else ""


def labels_of(path: Path, split: str, log: Log) -> Iterator[Label]:
    """Yield labels of lines `query 0 document grade` (TREC) or `query document grade` (BEIR)."""
    for place, line in lines_of(path, log):
        cells = [_bare(c.strip()) for c in line.split("\t")] if "\t" in line else line.split()
        if place.endswith(":1") and cells[0].lower().replace("_", "-") in ("query-id", "qid"):
            continue
        if len(cells) in (3, 4) and all(cells):
            yield Label(place, split, safe(cells[0]), safe(cells[-2]), cells[-1])
        else:
            log.wrong(
                f"{place}: found {line[:40]!r}, "
                "wanted 3 columns (query, document, grade) or 4 (query, 0, document, grade)"
            )


def _bare(cell: str) -> str:
    """Return a cell without the quotes that CSV writers put around one that holds quotes."""
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if quoted else cell


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
    splits = choose(files, asked.split, folder / "qrels")
    return Source(
        documents_of([corpus], asked, log),
        queries_of(queries, log),
        (label for name, path in splits.items() for label in labels_of(path, name, log)),
        tuple(files),
    )


def _first_file(folder: Path, names: tuple[str, ...], log: Log) -> Path | None:
    found = next((folder / name for name in names if (folder / name).exists()), None)
    if not found:
        log.wrong(f"{folder}:1: no {names[0]} here, wanted {' or '.join(names)}")
    return found


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
    for what, paths, wanted in (
        ("topics", topics, "topics*.txt or topics*.tsv"),
        ("labels", qrels, "qrels*.txt or qrels*.tsv"),
        ("documents", tables, "a JSONL file with docid and contents"),
    ):
        if not paths:
            log.wrong(f"{folder}:1: no {what}, {here}, wanted {wanted}")
    log.stop()
    splits = choose(qrels, asked.split, folder)
    own = [p for p in topics if any(name in p.name for name in splits)] or topics
    return Source(
        documents_of(tables, asked, log),
        (query for path in own for query in queries_of(path, log)),
        (label for name, path in splits.items() for label in labels_of(path, name, log)),
        tuple(qrels),
    )


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


def _where(asked: Asked, languages: Iterable[str]) -> tuple[Path | None, str]:
    """Return (local folder or None, language or "") of a path, PATH@LANGUAGE or a language code."""
    path, _, language = asked.path.rpartition("@")
    if not path or Path(asked.path).is_dir():
        path, language = asked.path, ""
    if Path(path).is_dir():
        return Path(path), language
    if path in languages:
        return None, path
    problem = f"{path}:1: is neither a folder nor a language, wanted one of: {', '.join(languages)}"
    raise EvalSetError([problem])


def _one(found: Iterable[str], asked: str, path: Path, what: str) -> str:
    names = sorted(set(found))
    if asked in names or len(names) == 1:
        return asked if asked in names else names[0]
    problem = f"{path}:1: {what}: found {', '.join(names) or 'none'}, wanted one: {path}@LANGUAGE"
    raise EvalSetError([problem])


def miracl(asked: Asked, log: Log) -> Source:
    """Read MIRACL (Zhang et al. 2023) by language, from the catalogue or a local copy."""
    split = asked.split or "dev"
    if split.lower().startswith("test"):
        problem = f"miracl: the labels of {split} are hidden by its makers"
        raise EvalSetError([f"{problem}, wanted --split dev, train"])
    folder, language = _where(asked, MIRACL)
    if folder is None:
        source = catalogue.download_miracl(language, split, log)
    else:
        language, splits = _miracl_topics(folder, language)
        source = _miracl_copy(folder, language, asked._replace(split=split), splits, log)
    about = f"Language: {language}. Passages judged not relevant are kept as grade 0."
    return source._replace(words=WORDS.get(language, "words"), about=(about,))


def _miracl_topics(folder: Path, language: str) -> tuple[str, tuple[str, ...]]:
    """Return the language of a local copy and the splits that it has."""
    form = re.compile(r"topics\.miracl-v1\.0-([a-z]+)-(.+)\.tsv$")
    found = [form.match(path.name) for path in sorted(folder.rglob("topics.miracl-*.tsv"))]
    language = _one((m[1] for m in found if m), language, folder, "topics by language")
    return language, tuple(m[2] for m in found if m and m[1] == language)


def _miracl_copy(
    folder: Path, language: str, asked: Asked, splits: tuple[str, ...], log: Log
) -> Source:
    name = f"miracl-v1.0-{language}-{asked.split}.tsv"
    topics, qrels = (
        next(iter(folder.rglob(f"{what}.{name}")), None) for what in ("topics", "qrels")
    )
    passages = [
        path
        for path in sorted(folder.rglob("docs*.jsonl*"))
        if path.parent in (folder, folder / "docs") or language in path.parent.name.split("-")
    ]
    corpus = f"miracl-corpus-v1.0-{language}/docs-*.jsonl.gz of miracl/miracl-corpus"
    files = (f"topics.{name}", f"qrels.{name}", corpus)
    found = (("topics", topics), ("labels", qrels), ("passages", passages))
    for (what, there), file in zip(found, files, strict=True):
        if not there:
            offer = ", ".join(splits) or "no split"
            log.wrong(f"{folder}:1: no {what}, found topics of {offer}, wanted {file}")
    log.stop()
    return Source(
        documents_of(passages, asked, log),
        queries_of(topics, log),
        labels_of(qrels, asked.split, log),
        tuple(split for split in splits if side(split) == "dev"),  # no labels of test are public
    )


def mmarco(asked: Asked, log: Log) -> Source:
    """Read mMARCO (Bonifacio et al. 2021): documents of one language, queries of it or another.

    The labels are MS MARCO's, in a file of their own. `dev` means dev.small.
    """
    split = {None: "dev.small", "dev": "dev.small"}.get(asked.split, asked.split)
    folder, language = _where(asked, [*MMARCO, *MMARCO.values()])
    language, tables = MMARCO.get(language, language), {}
    if folder:
        tables = {p.name.partition("_")[0]: p for p in folder.rglob("*_collection.tsv*")}
        language = _one(tables, language, folder, "document languages")
    asks = MMARCO.get(asked.queries_language, asked.queries_language) or language
    names = {name: code for code, name in MMARCO.items()}
    codes = [names.get(name, name) for name in (language, asks)]
    source = (
        _mmarco_copy(folder, tables[language], asks, split, log)
        if folder
        else catalogue.download_mmarco(*codes, split, log)
    )
    needs = [WORDS.get(code) for code in codes]
    words = "bigrams" if "bigrams" in needs else next(filter(None, needs), "words")
    about = f"Documents in {language}, queries in {asks}; the labels are MS MARCO's."
    return source._replace(words=words, about=(about,))


def _mmarco_copy(folder: Path, collection: Path, asks: str, split: str, log: Log) -> Source:
    found = []
    for what, name in (("queries", f"{asks}_queries"), ("labels", "qrels")):
        there = sorted(folder.rglob(f"{name}.{split}.tsv*"))
        found += there[:1]
        if not there:
            log.wrong(f"{folder}:1: no {what}, wanted {name}.{split}.tsv (MS MARCO's split names)")
    log.stop()
    queries, qrels = found
    passages = tsv_of(collection, ("doc_id", "text"), log)
    return Source(
        ((place, {**row, "title": ""}) for place, row in passages),
        queries_of(queries, log),
        labels_of(qrels, split, log),
        (split,),
    )
