"""The catalogue through a stand-in with the attributes of the real one, and its names in both."""

import inspect
import sys
import types
from typing import NamedTuple

import pytest
from importing import bring, options, problems

from helpers import evalset
from helpers.sources import catalogue, readers


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


DOCS = [GenericDoc("a b", "wind"), Page("c", "Rain", "x")]
SMALL = Dataset(
    docs=DOCS,
    queries=[Topic("1", "wind", "long"), Topic("2", "", "rain")],
    qrels=[TrecQrel("1", "a b", 1, "0"), TrecQrel("2", "c", -2, "0"), TrecQrel("2", "a b", 1, "0")],
)


def labelled(*pairs, **parts):
    """Return a dataset with the labels of (query, document) pairs."""
    queries = [Topic(q, f"about {q}", "") for q, _ in pairs]
    qrels = [TrecQrel(q, d, 1, "0") for q, d in pairs]
    return Dataset(**{"docs": DOCS, "queries": queries, "qrels": qrels, **parts})


def stand_in(monkeypatch, **sets):
    """Put a module ir_datasets with these datasets in place; _ in a name stands for /."""
    sets = {name.replace("__", "/"): data for name, data in sets.items()}
    module = types.SimpleNamespace(load=lambda name: sets[name])
    monkeypatch.setitem(sys.modules, "ir_datasets", module)


def test_a_name_with_labels(tmp_path, monkeypatch):
    stand_in(monkeypatch, small__test=SMALL)
    lines, evals = bring("ir_datasets", "small/test", tmp_path / "to")
    assert evals.qrels() == {"1": {"a%20b": 1}, "2": {"c": 0, "a%20b": 1}}
    assert {q.query for q in evals.queries.values()} == {"wind", "rain"}
    assert evals.documents["c"].title == "Rain" and evals.documents["c"].text == "Rain x"
    assert "changed: grades below 0, which became 0: 1" in lines
    source = catalogue.by_name(options("ir_datasets", "small/test"), readers.Log())
    for part in (source.documents, source.queries):
        assert [place for place, _ in part] == [f"ir_datasets:small/test:{n}" for n in (1, 2)]
    assert next(iter(source.labels)) == ("ir_datasets:small/test:1", "test", "1", "a%20b", 1, ())


def test_miracl_and_its_tokenizer(tmp_path, monkeypatch):
    docs = [MiraclDoc("2#0", "t", "東京都"), MiraclDoc("2#1", "題", "")]
    queries = [GenericQuery("1#0", "東京")]
    qrels = [TrecQrel("1#0", "2#0", 1, "Q0"), TrecQrel("1#0", "2#1", 0, "Q0")]
    dev = labelled(docs=docs, queries=queries, qrels=qrels)
    stand_in(monkeypatch, miracl__ja__dev=dev, miracl__sw__dev=dev, **{"mr-tydi/sw/dev": dev})
    _, evals = bring("ir_datasets", "miracl/ja/dev", tmp_path / "ja")
    assert evals.qrels() == {"1%230": {"2%230": 1, "2%231": 0}} and evals.tokenizer == "bigrams"
    assert evals.documents["2%230"].retrieval_text == "t\n\n東京都"
    assert evals.documents["2%231"].retrieval_text == "題"  # a title alone, once
    for name in ("miracl/sw/dev", "mr-tydi/sw/dev"):
        assert bring("ir_datasets", name, tmp_path / name)[1].tokenizer == "words", name
    _, evals = bring("ir_datasets", "miracl/sw/dev", tmp_path / "as", language="te")
    assert evals.tokenizer == "unicode-words"


def test_queries_of_another_language(tmp_path, monkeypatch):
    def passages(text, query):
        docs, queries = [GenericDoc("5", text)], [GenericQuery("1", query)]
        return labelled(docs=docs, queries=queries, qrels=[TrecQrel("1", "5", 1, "0")])

    german, english = passages("Wind", "Wind?"), passages("wind", "wind?")
    sets = {"mmarco__v2__de__dev__small": german, "msmarco-passage__dev__small": english}
    stand_in(monkeypatch, **sets, mmarco__v2__ja__dev__small=passages("風", "風?"))
    for queries, text, words in (
        (None, "Wind?", "words"),
        ("msmarco-passage/dev/small", "wind?", "words"),
        ("mmarco/v2/ja/dev/small", "風?", "bigrams"),
    ):
        to = tmp_path / text
        _, evals = bring("ir_datasets", "mmarco/v2/de/dev/small", to, queries=queries)
        assert evals.documents["5"].text == "Wind" and evals.queries["1"].query == text
        assert evals.tokenizer == words, queries
    assert f"--queries {queries}`" in (tmp_path / text / "README.md").read_text()


@pytest.fixture
def with_splits(monkeypatch):
    train = labelled(("1", "a b"), docs=[])  # documents are those of the name asked for
    sets = {"c": Dataset(docs=DOCS, queries=[]), "c__train": train}
    stand_in(monkeypatch, **sets, c__test=labelled(("2", "c")), c__dev=Dataset(docs=DOCS))


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


NAMES = [  # a name with labels, its split, all that are offered
    ("c/test", "test", ("test", "train", "test")),
    ("c/train/small", "train", ("train", "train", "test")),
    ("c/test/train", "train", ("train", "train")),
    ("test/own", "all", ("all",)),
    ("plain", "all", ("all",)),
]


def test_a_name_with_labels_says_its_split_and_those_beside_it(monkeypatch):
    for name, split, offered in NAMES:
        sets = {"c": Dataset(docs=DOCS), "c/train": labelled(("1", "c"))}
        sets |= {"c/test": labelled(("2", "c")), name: labelled(("3", "c"))}
        stand_in(monkeypatch, **sets)
        found = catalogue.by_name(options("ir_datasets", name), readers.Log())
        assert found.splits == offered and [n.split for n in found.labels] == [split], name


def test_names_and_failures_of_the_catalogue_are_told(tmp_path, monkeypatch):
    broken = labelled(("1", "c"))
    broken.docs_iter = lambda: (_ for _ in [int("x" * 300)])
    twice = labelled(("1", "a b"), docs=[DOCS[0], DOCS[0]])
    no_docs = Dataset(queries=[], qrels=[])
    stand_in(monkeypatch, bare=Dataset(docs=DOCS), broken=broken, twice=twice, none=no_docs)
    said = f"invalid literal for int() with base 10: '{'x' * 300}"[:200]
    for name, problem in {
        "no": "KeyError 'no', wanted a name of its catalogue, https://ir-datasets.com",
        "bare": "no queries, wanted a name with docs, queries, qrels",
        "broken": f"cannot be read (ValueError: {said}), wanted a network connection or the files "
        "it asks for",
        "none": "no docs, wanted a name with docs, queries, qrels",
    }.items():
        told = problems("ir_datasets", name, tmp_path / "no")
        assert told == [f"ir_datasets:{name}: {problem}"], name
    assert problems("ir_datasets", "twice", tmp_path / "no") == [
        "ir_datasets:twice:2: doc_id a%20b stands already at ir_datasets:twice:1, wanted each once"
    ]
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert problems("ir_datasets", "vaswani", tmp_path / "to") == [
        "the package ir_datasets is missing, wanted: python -m pip install ir_datasets"
    ]


def test_an_entry_becomes_a_row():
    class Body(NamedTuple):
        doc_id: str
        title: str
        body: str = ""

    log = readers.Log()
    for entry, row in (
        (Body("a b", " T ", " x "), ("a%20b", "T", "x")),
        (MiraclDoc("d", "T", ""), ("d", "", "T")),
        (Page("d", "T", "u"), ("d", "T", "T u")),
        (Body("d", "T"), ("d", "", "T")),
    ):
        assert tuple(catalogue._document(entry, log).values()) == row, entry
    assert log.changed == {"documents with a title only, which became their text": 2}
    for entry, row in (
        (Topic("q/1", "t", "d"), ("q%2F1", "t")),
        (Topic("q", "", "d"), ("q", "d")),
        (GenericQuery("q", "x"), ("q", "x")),
    ):
        assert tuple(catalogue._query(entry).values()) == row, entry


@pytest.fixture
def library(monkeypatch, tmp_path):
    """Return the real package, where it is installed, with an empty folder for its files."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    return pytest.importorskip("ir_datasets")


def test_the_real_catalogue_has_the_names_of_the_page(library):
    for name in ("miracl/yo/dev", "mmarco/v2/de/dev/small", "mmarco/v2/ja/dev/small"):
        source = catalogue.by_name(options("ir_datasets", name), readers.Log())
        assert source.splits  # a name that is not there raises; nothing is downloaded
    with pytest.raises(evalset.EvalSetError, match="KeyError 'miracl/yo/no'"):
        catalogue.by_name(options("ir_datasets", "miracl/yo/no"), readers.Log())


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
