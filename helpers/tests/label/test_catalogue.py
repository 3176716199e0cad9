"""The catalogue through a stand-in with the attributes of the real one, and its names in both."""

import sys
import types
from collections import namedtuple

import pytest
from importing import bring, problems, read, refused


class Dataset:
    """One dataset: like the library's, it has no docs_iter where it has no documents."""

    def __init__(self, **parts):
        self.has_qrels = lambda: "qrels" in parts
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
Body = namedtuple("Body", "doc_id title body")
DOCS = [GenericDoc("a b", "wind"), Page("c", "Rain", "x")]


def labelled(*pairs, **parts):
    """Return a dataset with the labels of (query, document) pairs."""
    queries = [Topic(q, f"about {q}", "") for q, _ in pairs]
    qrels = [TrecQrel(q, d, 1, "0") for q, d in pairs]
    return Dataset(**{"docs": DOCS, "queries": queries, "qrels": qrels, **parts})


def stand_in(monkeypatch, sets):
    module = types.SimpleNamespace(load=lambda name: sets[name])
    monkeypatch.setitem(sys.modules, "ir_datasets", module)


DOCUMENTS = [  # an entry, its id, title and text
    (Body("a b", " T ", " x "), "a%20b", "T", "x"),
    (MiraclDoc("m", "T", ""), "m", "", "T"),  # a title alone, once
    (Page("c", "T", "u"), "c", "T", "T u"),
    (Body("d", "T", ""), "d", "", "T"),
]
QUERIES = [
    (Topic("q/1", "t", "d"), "q%2F1", "t"),
    (Topic("r", "", "d"), "r", "d"),
    (GenericQuery("s", "x"), "s", "x"),
]


def test_entries_become_rows_and_labels(monkeypatch, tmp_path):
    qrels = [TrecQrel("q/1", "a b", 1, "0"), TrecQrel("r", "c", -2, "0"), TrecQrel("r", "m", 1, "")]
    docs, queries = [entry for entry, *_ in DOCUMENTS], [entry for entry, *_ in QUERIES]
    stand_in(monkeypatch, {"s/test": Dataset(docs=docs, queries=queries, qrels=qrels)})
    source, log = read("ir_datasets", "s/test")
    for part, rows in ((source.documents, DOCUMENTS), (source.queries, QUERIES)):
        places = [f"ir_datasets:s/test:{n}" for n in range(1, len(rows) + 1)]
        wanted = [(place, row[1:]) for place, row in zip(places, rows, strict=True)]
        assert [(place, tuple(row.values())) for place, row in part] == wanted
    assert next(iter(source.labels)) == ("ir_datasets:s/test:1", "test", "q%2F1", "a%20b", 1, ())
    assert log.changed == {"documents with a title only, which became their text": 2}
    _, evals = bring("ir_datasets", "s/test", tmp_path / "to")
    assert evals.qrels() == {"q%2F1": {"a%20b": 1}, "r": {"c": 0, "m": 1}}


LANGUAGES = [  # name, options, the query's text, the tokenizer
    ("miracl/ja/dev", {}, "東京", "bigrams"),
    ("mr-tydi/sw/dev", {"language": "te"}, "東京", "unicode-words"),
    ("miracl/sw/dev", {"queries": "english"}, "wind?", "words"),
    ("miracl/sw/dev", {"queries": "mmarco/v2/ja/dev"}, "wind?", "bigrams"),
]


@pytest.mark.parametrize(("name", "more", "text", "words"), LANGUAGES)
def test_the_language_and_the_queries_of_another(tmp_path, monkeypatch, name, more, text, words):
    parts = {"docs": [MiraclDoc("2#0", "t", "東京都")], "qrels": [TrecQrel("1#0", "2#0", 1, "Q0")]}
    own = Dataset(queries=[GenericQuery("1#0", "東京")], **parts)
    other = Dataset(queries=[GenericQuery("1#0", "wind?")])
    stand_in(monkeypatch, {name: own, "english": other, "mmarco/v2/ja/dev": other})
    _, evals = bring("ir_datasets", name, tmp_path / "to", **more)
    assert evals.qrels() == {"1%230": {"2%230": 1}} and evals.tokenizer == words
    assert evals.queries["1%230"].query == text
    assert evals.documents["2%230"].retrieval_text == "t\n\n東京都"
    card = (tmp_path / "to" / "README.md").read_text()
    assert all(f"--{option} {value}" in card for option, value in more.items())


def test_names_below_one_are_its_splits(monkeypatch, tmp_path):
    train = labelled(("1", "a b"), docs=[])  # documents are those of the name asked for
    sets = {"c": Dataset(docs=DOCS, queries=[]), "c/train": train, "c/dev": Dataset(docs=DOCS)}
    stand_in(monkeypatch, sets | {"c/test": labelled(("2", "c")), "plain": labelled(("3", "c"))})
    assert [label.split for label in read("ir_datasets", "plain")[0].labels] == ["all"]
    lines, evals = bring("ir_datasets", "c", tmp_path / "to")
    assert {q.query_id: q.split for q in evals.queries.values()} == {"1": "dev", "2": "test"}
    assert "halves: the source's own (test, train)" in lines and len(evals.documents) == 2
    for name, more in (("c", {"split": "test"}), ("c/test", {})):
        lines, evals = bring("ir_datasets", name, tmp_path / f"{len(more)}", **more)
        assert [q.split for q in evals.queries.values()] == ["test"]
        assert "halves: the source's own (test)" in lines
    (problem,) = problems("ir_datasets", "c", tmp_path / "no", split="dev")
    assert problem == "ir_datasets:c: no split dev, found test, train"
    (problem,) = problems("ir_datasets", "c/test", tmp_path / "no", split="dev")
    assert problem == "ir_datasets:c/test: no split dev, found test"


def test_names_and_failures_of_the_catalogue_are_told(tmp_path, monkeypatch):
    broken = labelled(("1", "c"))
    broken.docs_iter = lambda: (_ for _ in [int("x" * 300)])
    sets = {"bare": Dataset(docs=DOCS), "broken": broken, "none": Dataset(queries=[], qrels=[])}
    stand_in(monkeypatch, sets | {"twice": labelled(("1", "a b"), docs=[DOCS[0], DOCS[0]])})
    for name, found in {
        "no": "KeyError: 'no'",
        "bare": "AttributeError: 'Dataset' object has no attribute 'queries_iter'",
        "broken": "ValueError: invalid literal for int() with base 10",
        "none": "AttributeError: 'Dataset' object has no attribute 'docs_iter'",
    }.items():
        (problem,) = problems("ir_datasets", name, tmp_path / "no")
        assert problem.startswith(f"ir_datasets:{name}: found {found}") and "wanted" in problem
    (problem,) = problems("ir_datasets", "twice", tmp_path / "no")
    assert problem.startswith("ir_datasets:twice:2: doc_id a%20b stands already at ir_datasets:twi")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    (problem,) = problems("ir_datasets", "vaswani", tmp_path / "to")
    assert "python -m pip install ir_datasets" in problem


def test_the_stand_in_is_like_the_library(monkeypatch, tmp_path):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    library = pytest.importorskip("ir_datasets")
    assert "KeyError: 'miracl/yo/no'" in refused(read, "ir_datasets", "miracl/yo/no")[0]
    for name, document in (("miracl/yo/dev", MiraclDoc), ("mmarco/v2/de/dev/small", GenericDoc)):
        assert read("ir_datasets", name)[0].splits  # nothing is downloaded
        data = library.load(name)
        pairs = ((data.docs_cls(), document), (data.queries_cls(), GenericQuery))
        for real, own in (*pairs, (data.qrels_cls(), TrecQrel)):
            assert (real.__name__, real._fields) == (own.__name__, own._fields)
            assert hasattr(real, "default_text") == hasattr(own, "default_text")
