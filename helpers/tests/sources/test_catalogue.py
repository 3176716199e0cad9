"""The catalogue through a stand-in with the attributes of the real one, and its names in both."""

import inspect
import sys
import types
from typing import NamedTuple

import pytest
from importing import bring, mmarco_folder, problems

from helpers import evalset
from helpers.sources import catalogue, collections, readers


class Dataset:
    """One dataset: like the library's, it has no docs_iter where it has no documents."""

    def __init__(self, **parts):
        for part, entries in parts.items():
            setattr(self, f"{part}_iter", lambda entries=entries: iter(entries))

    def has_docs(self):
        return hasattr(self, "docs_iter")

    def has_queries(self):
        return hasattr(self, "queries_iter")

    def has_qrels(self):
        return hasattr(self, "qrels_iter")


class MiraclDoc(NamedTuple):
    doc_id: str
    title: str
    text: str

    def default_text(self):
        return f"{self.title} {self.text}"


class GenericDoc(NamedTuple):
    doc_id: str
    text: str

    def default_text(self):
        return self.text


class GenericQuery(NamedTuple):
    query_id: str
    text: str

    def default_text(self):
        return self.text


class TrecQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Page(NamedTuple):
    doc_id: str
    title: str
    url: str

    def default_text(self):
        return f"{self.title} {self.url}"


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str


def stand_in(monkeypatch, sets):
    """Put a module ir_datasets with these datasets in place; return the names asked of it."""
    asked = []

    def load(name):
        asked.append(name)
        return sets[name]

    monkeypatch.setitem(sys.modules, "ir_datasets", types.SimpleNamespace(load=load))
    return asked


def small(docs):
    """Return a dataset with two queries and three labels."""
    return Dataset(
        docs=docs,
        queries=[Topic("1", "wind", "long"), Topic("2", "", "rain")],
        qrels=[
            TrecQrel("1", "a b", 1, "0"),
            TrecQrel("2", "c", -2, "0"),
            TrecQrel("2", "a b", 1, "0"),
        ],
    )


DOCS = [GenericDoc("a b", "wind"), Page("c", "Rain", "x")]


def test_ir_datasets(tmp_path, monkeypatch):
    stand_in(monkeypatch, {"small/test": small(DOCS)})
    lines, evals = bring("ir_datasets", "small/test", tmp_path / "to")
    assert evals.qrels() == {"1": {"a%20b": 1}, "2": {"c": 0, "a%20b": 1}}
    assert {q.query for q in evals.queries.values()} == {"wind", "rain"}
    assert evals.documents["c"].title == "Rain" and evals.documents["c"].text == "Rain x"
    assert "changed: grades below 0, which became 0: 1" in lines
    assert "wanted a name of its catalogue" in problems("ir_datasets", "no", tmp_path / "no")[0]


def test_ir_datasets_without_labels_or_with_a_document_twice(tmp_path, monkeypatch):
    unlabelled = Dataset(docs=DOCS, queries=[Topic("1", "wind", "")])
    stand_in(monkeypatch, {"bare": unlabelled, "twice": small([DOCS[0], DOCS[0]])})
    assert problems("ir_datasets", "bare", tmp_path / "no") == [
        "ir_datasets:bare: no qrels, wanted a name with docs, queries, qrels"
    ]
    assert problems("ir_datasets", "twice", tmp_path / "no")[0].startswith(
        "ir_datasets:twice:2: doc_id a%20b stands already at ir_datasets:twice:1"
    )


def test_a_download_that_fails_is_named(tmp_path, monkeypatch):
    broken = small(DOCS)
    broken.docs_iter = lambda: (_ for _ in [1 / 0])
    stand_in(monkeypatch, {"small/test": broken})
    found = problems("ir_datasets", "small/test", tmp_path / "no")
    assert "cannot be read (ZeroDivisionError: division by zero), wanted a network" in found[0]


def test_miracl_downloads(tmp_path, monkeypatch):
    dev = Dataset(
        docs=[MiraclDoc("2#0", "t", "東京都"), MiraclDoc("2#1", "題", "")],
        queries=[GenericQuery("1#0", "東京")],
        qrels=[TrecQrel("1#0", "2#0", 1, "Q0"), TrecQrel("1#0", "2#1", 0, "Q0")],
    )
    asked = stand_in(monkeypatch, {"miracl/ja/dev": dev})
    lines, evals = bring("miracl", "ja", tmp_path / "ja")
    assert set(asked) == {"miracl/ja/dev"}
    assert evals.qrels() == {"1%230": {"2%230": 1, "2%231": 0}} and evals.tokenizer == "bigrams"
    assert evals.documents["2%230"].retrieval_text == "t\n\n東京都"
    assert evals.documents["2%231"].retrieval_text == "題"  # a title alone, once
    assert "Language: ja. Passages judged not relevant are kept as grade 0." in lines
    found = problems("miracl", "ja", tmp_path / "no", split="train")
    assert "KeyError" in found[0] and "wanted a name of its catalogue" in found[0]
    found = problems("miracl", "ja", tmp_path / "no", split="test-b")
    assert "the labels of test-b are hidden by its makers" in found[0]


def passages(text, query):
    """Return one language of mMARCO with one query."""
    return Dataset(
        docs=[GenericDoc("5", text)],
        queries=[GenericQuery("1", query)],
        qrels=[TrecQrel("1", "5", 1, "0")],
    )


@pytest.mark.parametrize(
    ("language", "options", "names", "told"),
    [
        ("german", {}, ("v2/de/dev/small", "v2/de/dev/small"), "german, queries in german"),
        ("nl", {"split": "train"}, ("v2/dt/train", "v2/dt/train"), "dutch, queries in dutch"),
        (
            "de",
            {"queries_language": "japanese", "split": "dev"},
            ("v2/de/dev/small", "v2/ja/dev/small"),
            "german, queries in japanese",
        ),
    ],
)
def test_mmarco_downloads(tmp_path, monkeypatch, language, options, names, told):
    docs, queries = (f"mmarco/{name}" for name in names)
    sets = {queries: passages("other", "question"), docs: passages("Wind", "own question")}
    asked = stand_in(monkeypatch, sets)
    lines, evals = bring("mmarco", language, tmp_path / "to", **options)
    assert asked == [docs, queries, docs]  # labels come with the documents
    query = "question" if queries != docs else "own question"
    assert evals.documents["5"].retrieval_text == "Wind" and evals.queries["1"].query == query
    assert f"Documents in {told}; the labels are MS MARCO's." in lines
    assert evals.tokenizer == ("bigrams" if "ja" in queries else "words")


def test_english_of_mmarco_is_ms_marco(tmp_path, monkeypatch):
    sets = {
        "mmarco/v2/de/dev/small": passages("Wind", "Wind?"),
        "msmarco-passage/dev/small": passages("wind", "wind?"),
    }
    asked = stand_in(monkeypatch, sets)
    evals = bring("mmarco", "de", tmp_path / "de", queries_language="en")[1]
    assert evals.documents["5"].text == "Wind" and evals.queries["1"].query == "wind?"
    assert bring("mmarco", "english", tmp_path / "en")[1].documents["5"].text == "wind"
    assert set(asked) == set(sets)
    found = problems("mmarco", "de", tmp_path / "no", queries_language="xx")
    assert "ir_datasets:mmarco/v2/xx/dev/small: KeyError" in found[0]


@pytest.mark.parametrize(
    ("kind", "path"), [("miracl", "sw"), ("mmarco", "german"), ("ir_datasets", "vaswani")]
)
def test_missing_package_is_named(tmp_path, monkeypatch, kind, path):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert problems(kind, path, tmp_path / "to") == [
        "the package ir_datasets is missing, wanted: python -m pip install ir_datasets"
    ]


def test_a_local_copy_needs_no_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    folder = mmarco_folder(tmp_path / "mmarco")
    assert len(bring("mmarco", f"{folder}@en", tmp_path / "to")[1].documents) == 6


@pytest.fixture
def library(monkeypatch, tmp_path):
    """Return the real package, where it is installed, with an empty folder for its files."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    return pytest.importorskip("ir_datasets")


def test_the_real_catalogue_has_every_name(library, tmp_path):
    log = readers.Log()
    for language in collections.MIRACL:  # a name that is not there raises; nothing is downloaded
        catalogue.download_miracl(language, "dev", log)
    for language in collections.MMARCO:
        for split in ("dev.small", "train"):
            catalogue.download_mmarco(language, "en", split, log)
            catalogue.download_mmarco("de", language, split, log)
    with pytest.raises(evalset.EvalSetError, match="KeyError 'miracl/yo/train'"):
        catalogue.download_miracl("yo", "train", log)
    with pytest.raises(evalset.EvalSetError, match="miracl/yo/test-b: no qrels"):
        catalogue.download_miracl("yo", "test-b", log)
    assert not list((tmp_path / "irds").rglob("*.tsv*"))


def test_the_stand_in_is_like_the_real_catalogue(library):
    for name, document in (("miracl/yo/dev", MiraclDoc), ("mmarco/v2/de/dev/small", GenericDoc)):
        data = library.load(name)
        for real, own in (
            (data.docs_cls(), document),
            (data.queries_cls(), GenericQuery),
            (data.qrels_cls(), TrecQrel),
        ):
            assert (real.__name__, real._fields) == (own.__name__, own._fields)
            assert hasattr(real, "default_text") == hasattr(own, "default_text")
    bare = library.load("mmarco/v2/de")
    assert not hasattr(bare, "qrels_iter") and not bare.has_qrels() and bare.has_docs()
    methods = {name for name, _ in inspect.getmembers(Dataset, inspect.isfunction)}
    assert all(hasattr(bare, name) for name in methods)


def labelled(*pairs):
    """Return a dataset with the labels of (query, document) pairs."""
    queries = [Topic(q, f"about {q}", "") for q, _ in pairs]
    return Dataset(docs=DOCS, queries=queries, qrels=[TrecQrel(q, d, 1, "0") for q, d in pairs])


@pytest.fixture
def with_splits(monkeypatch):
    sets = {"c": Dataset(docs=DOCS, queries=[]), "c/train": labelled(("1", "a b"))}
    sets |= {"c/test": labelled(("2", "c")), "c/dev": Dataset(docs=DOCS)}
    sets["c/train"].docs_iter = lambda: iter([])  # documents are those of the name asked for
    stand_in(monkeypatch, sets)


def test_names_below_one_are_its_splits(with_splits, tmp_path):
    lines, evals = bring("ir_datasets", "c", tmp_path / "to")
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "dev", "2": "test"}
    assert "halves: the source's own (test, train)" in lines and len(evals.documents) == 2
    lines, evals = bring("ir_datasets", "c", tmp_path / "test", split="test")
    assert {q.split for q in evals.queries.values()} == {"test"} and len(evals.queries) == 1
    assert any("import with --split test,train, or with --halve" in line for line in lines)
    assert problems("ir_datasets", "c", tmp_path / "no", split="dev") == [
        "ir_datasets:c: no split dev, found test, train"
    ]


def test_a_split_named_in_full_stays_what_it_is(with_splits, tmp_path):
    lines, evals = bring("ir_datasets", "c/test", tmp_path / "to")
    assert {q.split for q in evals.queries.values()} == {"test"}
    assert any("none is dev" in line and "--split test,train" in line for line in lines)
    assert problems("ir_datasets", "c/test", tmp_path / "no", split="test") == [
        "--split: c/test has its own labels, wanted the name above it or no --split"
    ]


# Word for word.


def test_an_entry_becomes_a_row():
    class Body(NamedTuple):
        doc_id: str
        title: str
        body: str

    class Bare(NamedTuple):
        doc_id: str
        title: str

    class Other(NamedTuple):
        query_id: str
        title: str
        description: str

    log = readers.Log()
    row = catalogue._document_row
    assert row(Body("a b", " T ", " x "), log) == {"doc_id": "a%20b", "title": "T", "text": "x"}
    assert row(MiraclDoc("d", "T", ""), log) == {"doc_id": "d", "title": "", "text": "T"}
    assert row(Page("d", "T", "u"), log) == {"doc_id": "d", "title": "T", "text": "T u"}
    assert row(Bare("d", "T"), log) == {"doc_id": "d", "title": "", "text": "T"}
    assert log.changed == {"documents with a title only, which became their text": 2}
    asked = catalogue._query_row
    assert asked(Other("q/1", "t", "d")) == {"query_id": "q%2F1", "query": "t"}
    assert asked(Other("q", "", "d")) == {"query_id": "q", "query": "d"}
    assert asked(GenericQuery("q", "x")) == {"query_id": "q", "query": "x"}


def test_a_source_has_places_splits_and_grades(monkeypatch):
    stand_in(monkeypatch, {"small/test": small(DOCS)})
    found = catalogue._source(catalogue.Names(*["small/test"] * 3), "test", readers.Log())
    assert found.splits == ("test",) and found.words == "words"
    assert list(found.labels) == [
        ("ir_datasets:small/test:1", "test", "1", "a%20b", 1, ()),
        ("ir_datasets:small/test:2", "test", "2", "c", -2, ()),
        ("ir_datasets:small/test:3", "test", "2", "a%20b", 1, ()),
    ]
    assert [place for place, _ in found.documents] == [
        f"ir_datasets:small/test:{n}" for n in (1, 2)
    ]
    assert [place for place, _ in found.queries] == [f"ir_datasets:small/test:{n}" for n in (1, 2)]
    names = catalogue.Names(*["small/test"] * 3)
    assert catalogue._source(names, "test", readers.Log(), ("a", "b")).splits == ("a", "b")


def test_names_and_failures_of_the_catalogue_are_told(monkeypatch):
    broken = small(DOCS)
    broken.queries_iter = lambda: (_ for _ in [int("x" * 300)])
    bare = Dataset(docs=DOCS)
    stand_in(monkeypatch, {"x": broken, "bare": bare})
    for names, problem in (
        (
            ("bare", "x", "bare"),
            "ir_datasets:bare: no qrels, wanted a name with docs, queries, qrels",
        ),
        (
            ("x", "bare", "bare"),
            "ir_datasets:bare: no queries, qrels, wanted a name with docs, queries, qrels",
        ),
        (
            ("no", "x", "x"),
            "ir_datasets:no: KeyError 'no', wanted a name of its catalogue, "
            "https://ir-datasets.com",
        ),
    ):
        with pytest.raises(evalset.EvalSetError) as caught:
            catalogue._source(catalogue.Names(*names), "test", readers.Log())
        assert caught.value.problems == [problem]
    source = catalogue._source(catalogue.Names("x", "x", "x"), "test", readers.Log())
    with pytest.raises(evalset.EvalSetError) as caught:
        list(source.queries)
    said = f"invalid literal for int() with base 10: '{'x' * 300}"[:200]
    assert caught.value.problems == [
        f"ir_datasets:x: cannot be read (ValueError: {said}), wanted a network connection or the "
        "files it asks for"
    ]


@pytest.mark.parametrize(
    ("name", "split", "splits"),
    [
        ("c/test", "test", ("test", "train", "test")),
        ("c/train/small", "train", ("train", "train", "test")),
        ("c/test/train", "train", ("train", "train")),
        ("test/own", "all", ("all",)),
        ("plain", "all", ("all",)),
    ],
)
def test_a_name_with_labels_says_its_split_and_those_beside_it(monkeypatch, name, split, splits):
    sets = {
        "c": Dataset(docs=DOCS),
        "c/train": labelled(("1", "c")),
        "c/test": labelled(("2", "c")),
    }
    stand_in(monkeypatch, {**sets, name: labelled(("3", "c"))})
    found = catalogue.by_name(readers.Asked("ir_datasets", name), readers.Log())
    assert found.splits == splits and [n.split for n in found.labels] == [split]


def test_a_name_without_splits_is_read_as_a_whole(monkeypatch):
    stand_in(monkeypatch, {"bare": Dataset(docs=DOCS)})
    with pytest.raises(evalset.EvalSetError) as caught:
        catalogue.by_name(readers.Asked("ir_datasets", "bare"), readers.Log())
    assert caught.value.problems == [
        "ir_datasets:bare: no queries, qrels, wanted a name with docs, queries, qrels"
    ]


def test_the_splits_below_a_name_are_read_together(with_splits):
    found = catalogue.by_name(readers.Asked("ir_datasets", "c", split="test,train"), readers.Log())
    assert found.splits == ("train", "test") and len(list(found.documents)) == 2
    assert [row["query_id"] for _, row in found.queries] == ["2", "1"]
    assert [(n.split, n.query_id) for n in found.labels] == [("test", "2"), ("train", "1")]


@pytest.mark.parametrize(
    ("code", "split", "name"),
    [
        ("en", "dev.small", "msmarco-passage/dev/small"),
        ("nl", "train", "mmarco/v2/dt/train"),
        ("ja", "a.b.c", "mmarco/v2/ja/a/b/c"),
    ],
)
def test_names_of_mmarco(code, split, name):
    assert catalogue._mmarco_name(code, split) == name
