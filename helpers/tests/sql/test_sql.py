"""BM25 in SQL against rank_bm25, session B's run and ir_measures; bad input; the kept index."""

import json
import re
import sys
import unicodedata

import duckdb
import equality
import numpy as np
import pandas as pd
import pytest

from helpers.measure import evalset, files, runs
from helpers.measure.sql import bm25, command, engines


@pytest.fixture(scope="module")
def evals():
    return evalset.load(evalset.DEFAULT)


@pytest.fixture
def duck(tmp_path):
    with engines.engine("duckdb", tmp_path) as opened:
        yield opened


@pytest.mark.proof
@pytest.mark.parametrize("chunker", [None, "fixed"])
def test_rankings_scores_and_measures_are_those_of_the_references(evals, duck, chunker):
    found = equality.gaps(duck, evals, chunker)
    assert found.queries > 200 and equality.are_equal(found), found


DEFAULTS = bm25.Settings()


def parquet(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.from_df(pd.DataFrame(columns)).write_parquet(str(path))
    return str(path)


TEXTS = ["the disk is full", "the log is full of the words", "restart the node", "Über naïve_x 12³"]
MEAN = sum(len(re.findall(r"\w+", text)) for text in TEXTS) / 4


def search(opened, folder, texts=TEXTS, asked="full disk", settings=DEFAULTS, ids=None):
    """Index texts, search for one query; return what was said of the index, and the run."""
    ids = [f"d{n}" for n in range(len(texts))] if ids is None else ids
    bm25.add_documents(opened, None, parquet(folder / "docs.parquet", doc_id=ids, text=texts))
    told = bm25.index_documents(opened, settings)
    bm25.add_queries(opened, None, parquet(folder / "q.parquet", query_id=["q"], text=[asked]))
    return told, bm25.search_queries(opened)


@pytest.mark.parametrize(
    ("asked", "idf", "weight"),
    [
        ("disk", "okapi", np.log(3.5) - np.log(1.5)),
        ("disk Disk", "okapi", 2 * (np.log(3.5) - np.log(1.5))),  # a word counts each time
        ("disk", "lucene", np.log(1 + 3.5 / 1.5)),
    ],
)
def test_a_score_worked_by_hand(duck, tmp_path, asked, idf, weight):
    """Four documents, `disk` in one, which has 4 words."""
    _, found = search(duck, tmp_path, asked=asked, settings=bm25.Settings(idf=idf))
    expected = weight * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 4 / MEAN))
    assert found == {"q": [("d0", pytest.approx(expected, abs=1e-9))]}


def test_words_are_those_of_python_but_for_two_letters(duck):
    for text in ("Ünïcode naïve_x 12³ ½ don't über-café ①② 日本語", "a_b __ 1e5 ñ"):
        words = f"regexp_extract_all(lower({duck.quoted(text)}), {duck.quoted(bm25.PATTERN)}, 0)"
        assert duck.rows(f"SELECT {words}")[0][0] == re.findall(r"\w+", text.lower())
    for text, lower in (("İs", "is"), ("ΟΔΟΣ", "οδοσ")):
        assert duck.rows(f"SELECT lower({duck.quoted(text)})") == [(lower,)] != [(text.lower(),)]


def test_a_document_at_place_100_counts_for_recall_and_one_at_101_does_not(duck, tmp_path):
    texts = ["x y"] * 100 + ["x y z"] * 3 + ["w"] * 120
    found = search(duck, tmp_path, texts, asked="x")[1]["q"]
    last = found[99][0]
    beyond = next(f"d{n}" for n in range(103) if f"d{n}" not in dict(found))

    class Made:
        @staticmethod
        def qrels():
            return {"q": {found[0][0]: 0, last: 1, beyond: 2}}

    measures = {"nDCG@10": 0, "RR": 1 / 100, "recall@100": 1 / 2}
    assert bm25.evaluate_run(duck, Made)["q"] == pytest.approx(measures)


MANY = [
    {f"d{n:03}": "x y" for n in range(120)},  # each word weighs less than nothing
    {f"d{n:03}#{i}": "x" + " z" * (n > 60) for n in range(120) for i in range(3)}
    | {f"w{n:03}": "w" for n in range(400)},  # sixty have more than a hundred of the best chunks
]


@pytest.mark.parametrize("texts", MANY)
def test_no_result_is_cut_off_too_early(duck, tmp_path, texts):
    run = search(duck, tmp_path, [*texts.values()], "x y", ids=[*texts])[1]
    units = [(name, name.split("#")[0], text) for name, text in texts.items()]
    wanted = equality.by_library(units, {"q": "x y"}, str.split)
    assert equality.order(run) == equality.order(wanted) and len(run["q"]) == 100


def test_queries_in_several_batches_are_all_answered(duck, tmp_path):
    search(duck, tmp_path)
    asked = {"query_id": ["b", "a", "c"], "text": ["full", "disk", "none of it"]}
    bm25.add_queries(duck, None, parquet(tmp_path / "many.parquet", **asked))
    whole = bm25.search_queries(duck)
    duck.batch = 1
    assert whole == bm25.search_queries(duck) and [*whole] == ["a", "b", "c"]
    with pytest.raises(evalset.EvalSetError, match="no query found anything, wanted words"):
        search(duck, tmp_path, asked="zebra")


def test_an_index_is_kept_and_refused_for_others_and_half_of_one_is_none(duck, tmp_path):
    told, run = search(duck, tmp_path)
    assert told == "indexed" and "stood there" in search(duck, tmp_path)[0]
    with pytest.raises(evalset.EvalSetError, match="found an index of other texts"):
        search(duck, tmp_path, [*TEXTS[:-1], TEXTS[-1] + "."])
    with pytest.raises(evalset.EvalSetError, match="found an index of parameters .*okapi"):
        search(duck, tmp_path, settings=bm25.Settings(idf="lucene"))
    duck.rows(f"DROP TABLE {bm25.INDEXED}")
    duck.rows("DELETE FROM weights")
    assert search(duck, tmp_path) == ("indexed", run)


BAD = [  # the column of ids and its values, texts or more columns, words of the problem
    ("id", ["a"], {"text": ["x"]}, "column doc_id is missing, wanted text, whole numbers"),
    ("doc_id", ["a"], {"body": ["x"]}, "column text is missing"),
    ("doc_id", ["a", "a"], {}, "found 2 rows with the id 'a', wanted each once"),
    ("doc_id", ["", "b"], {}, "found 1 rows with the id ''"),
    *(("doc_id", [i], {}, f"with the id {i[:60]!r}") for i in ("a b", "a b#0", "#0", "..")),
    ("doc_id", ["x" * 1001], {}, f"with the id {'x' * 60!r}"),
    ("doc_id", [1.0], {}, "column doc_id is DOUBLE"),
    ("doc_id", ["a"], {"text": [1]}, "column text is BIGINT, wanted text"),
    ("doc_id", ["a"], {"text": ["x"], "title": [1]}, "column title is BIGINT"),
    ("doc_id", ["a", "b"], {"text": ["", " -"]}, "found no row with a word, wanted letters"),
    *(("query_id", [i], {}, f"with the id {i!r}") for i in ("a b", "q#1")),
    ("query_id", ["a"], {"text": [1]}, "column text is BIGINT"),
    ("query_id", ["a"], {"text": ["?"]}, "found no row with a word"),
]


def test_bad_parquet_is_told_with_its_file(duck, tmp_path):
    for name, ids, more, wanted in BAD:
        columns = {name: ids, **(more or {"text": ["x"] * len(ids)})}
        path = parquet(tmp_path / "bad.parquet", **columns)
        read = bm25.add_queries if name == "query_id" else bm25.add_documents
        with pytest.raises(evalset.EvalSetError, match=re.escape(wanted)) as caught:
            read(duck, None, path)
        assert all(problem.startswith(f"{path}: ") for problem in caught.value.problems)


def test_a_file_that_cannot_be_read_is_told_with_its_name(duck, tmp_path):
    (tmp_path / "x.parquet").write_text("no")
    for name, told in {"x": "cannot be read as Parquet", "y": "found nothing, wan"}.items():
        with pytest.raises(evalset.EvalSetError, match=f"{name}.parquet: {told}"):
            bm25.add_documents(duck, None, str(tmp_path / f"{name}.parquet"))


def test_ids_are_those_of_the_house(duck):
    """Each known character of the first plane and the tags, between letters; then files.is_id."""
    pattern = duck.quoted(f"^{bm25.ID_PATTERN}$")
    planes = [*range(1, 0x10000), *range(0xE0000, 0xE0200)]
    known = [n for n in planes if unicodedata.category(chr(n)) not in ("Cn", "Co", "Cs")]
    duck.put("known", pd.DataFrame({"n": known}))
    fits = f"regexp_replace('a' || chr(n::INTEGER) || 'b', {pattern}, '') = ''"
    taken = [n for (n,) in duck.rows(f"SELECT n FROM known WHERE {fits} ORDER BY n")]
    assert taken == [n for n in known if files.is_id(f"a{chr(n)}b")]


def test_texts_that_are_null_are_counted(duck, tmp_path, capsys):
    docs = {"doc_id": ["a", "b", "c"], "text": ["x", None, None], "title": [None, "t", None]}
    bm25.add_documents(duck, None, parquet(tmp_path / "docs.parquet", **docs))
    queries = {"query_id": ["q", "r"], "text": [None, "x"]}
    bm25.add_queries(duck, None, parquet(tmp_path / "q.parquet", **queries))
    texts = duck.rows("SELECT text FROM offered ORDER BY unit")
    assert texts == [("x",), ("t\n\n",), ("",)]
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'docs.parquet'}: 2 of 3 texts are NULL, read as empty",
        f"{tmp_path / 'q.parquet'}: 1 of 2 texts are NULL, read as empty",
    ]


def test_the_command_reads_folders_in_parts_and_writes_run_and_card(tmp_path):
    docs = tmp_path / "docs"
    for n, part in enumerate((TEXTS[:2], TEXTS[2:])):
        ids = [f"d{n}{i}" for i in range(len(part))]
        parquet(docs / f"part={n}" / "x.parquet", doc_id=ids, text=part)
    queries = parquet(tmp_path / "q.parquet", query_id=["q"], text=["full"])
    told = command.sql_command(tmp_path, tmp_path, "duckdb", str(docs), queries)
    assert told == f"run: {tmp_path / 'bm25-sql'}.trec"
    run = runs.read_rankings(tmp_path / "bm25-sql.trec")
    assert equality.order(run) == {"q": ["d00", "d01"]}
    assert json.loads((tmp_path / "bm25-sql.json").read_text())["texts_md5"]


def test_queries_of_a_file_on_the_documents_of_a_set_are_not_those_of_the_set(folder, tmp_path):
    queries = parquet(tmp_path / "q.parquet", query_id=["mine"], text=["consumer"])
    command.sql_command(folder, to := tmp_path / "to", queries=queries)
    assert [*runs.read_rankings(to / "bm25-sql.trec")] == ["mine"]
    card = json.loads((to / "bm25-sql.json").read_text())
    assert "texts_md5" in card and not {*runs.hashes(evalset.load(folder), "")} & {*card}


def test_ctrl_c_ends_a_statement_as_an_interrupt(tmp_path):
    with pytest.raises(KeyboardInterrupt), engines.engine("duckdb", tmp_path):
        raise RuntimeError("Query interrupted")  # what DuckDB makes of it


def test_relevant_documents_that_are_not_searched_are_counted(evals, tmp_path, capsys):
    docs = parquet(tmp_path / "docs.parquet", doc_id=[1, 2], text=["the disk is full", "the log"])
    command.sql_command(evals.folder, tmp_path, "duckdb", docs)
    relevant = {d for labels in evals.qrels().values() for d, grade in labels.items() if grade}
    printed = capsys.readouterr().out
    assert f"{len(relevant)} relevant documents of {evals.folder} are not among" in printed
    n = len(evals.qrels())  # all queries, whether they found something or not
    assert f"nDCG@10 0.000, MRR 0.000, recall@100 0.000 (n = {n}, all halves)" in printed
    queries = parquet(tmp_path / "q.parquet", query_id=["q"], text=["disk"])
    command.sql_command(evals.folder, tmp_path, "duckdb", docs, queries)
    assert "nDCG" not in capsys.readouterr().out  # its labels are not of these queries


OPTIONS = [  # options, words of the problem
    ({"engine": "sqlite"}, "found engine 'sqlite', wanted duckdb, sail"),
    ({"b": 2.0}, "wanted k1 from 0 to 1000, b from 0 to 1"),
    ({"k1": float("inf")}, "found k1 inf"),
    ({"docs": ""}, "found --docs without a value"),
    ({"docs": "x", "chunks": "fixed"}, "found --docs and --chunks, wanted one"),
    ({"chunks": "x"}, "chunks/x.jsonl:1: cannot be read"),
    ({"docs": "x"}, "x: found nothing, wanted a Parquet file or folder"),
]


@pytest.mark.parametrize(("options", "wanted"), OPTIONS)
def test_bad_options_are_told(tmp_path, options, wanted):
    with pytest.raises(evalset.EvalSetError, match=re.escape(wanted)):
        command.sql_command(evalset.DEFAULT, tmp_path / "a" / "b", **options)


def test_a_missing_client_is_told_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    wanted = "no package pyspark.*ONLY=sail installs it"
    with pytest.raises(evalset.EvalSetError, match=wanted), engines.engine("sail", tmp_path):
        pass
