"""The catalogue through a stand-in with the attributes of the real one, and its names in both."""

import sys
import types
from collections import namedtuple

import pytest
from importing import bring, problems, task

from helpers import evalset
from helpers.sources import catalogue


class Dataset:
    """One dataset: like the library's, it has no docs_iter where it has no documents."""

    def __init__(self, **parts):
        for part in ("docs", "queries", "qrels"):
            setattr(self, f"has_{part}", lambda part=part: part in parts)
        for part, entries in parts.items():
            setattr(self, f"{part}_iter", lambda entries=entries: iter(entries))


def entries_of(name, fields, default):
    """Return a class of entries with a default text, as the library has them."""
    made = namedtuple(name, fields)
    made.default_text = lambda self: default.format(self)
    return made


MiraclDoc = entries_of("MiraclDoc", "doc_id title text", "{0.title} {0.text}")
GenericDoc = entries_of("GenericDoc", "doc_id text", "{0.text}")
GenericQuery = entries_of("GenericQuery", "query_id text", "{0.text}")
Page = entries_of("Page", "doc_id title url", "{0.title} {0.url}")
TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")
Topic = namedtuple("Topic", "query_id title description")
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
    source = catalogue.read_dataset(task("ir_datasets", "small/test"))
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
        found = catalogue.read_dataset(task("ir_datasets", name))
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


def test_an_entry_becomes_a_row(monkeypatch):
    body = namedtuple("Body", "doc_id title body")
    documents = {
        body("a b", " T ", " x "): ("a%20b", "T", "x"),
        MiraclDoc("m", "T", ""): ("m", "", "T"),
        Page("d", "T", "u"): ("d", "T", "T u"),
        body("d", "T", ""): ("d", "", "T"),
    }
    queries = {
        Topic("q/1", "t", "d"): ("q%2F1", "t"),
        Topic("q", "", "d"): ("q", "d"),
        GenericQuery("q", "x"): ("q", "x"),
    }
    stand_in(monkeypatch, s=Dataset(docs=[*documents], queries=[*queries], qrels=[]))
    asked = task("ir_datasets", "s")
    source = catalogue.read_dataset(asked)
    assert [tuple(row.values()) for _, row in source.documents] == [*documents.values()]
    assert [tuple(row.values()) for _, row in source.queries] == [*queries.values()]
    assert asked.changed == {"documents with a title only, which became their text": 2}


@pytest.fixture
def library(monkeypatch, tmp_path):
    """Return the real package, where it is installed, with an empty folder for its files."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    return pytest.importorskip("ir_datasets")


def test_the_real_catalogue_has_the_names_of_the_page_and_the_stand_in_is_like_it(library):
    for name in ("miracl/yo/dev", "mmarco/v2/de/dev/small", "mmarco/v2/ja/dev/small"):
        assert catalogue.read_dataset(task("ir_datasets", name)).splits  # nothing is downloaded
    with pytest.raises(evalset.EvalSetError, match="KeyError 'miracl/yo/no'"):
        catalogue.read_dataset(task("ir_datasets", "miracl/yo/no"))
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
