"""BM25 in SQL against rank_bm25, session B's run and ir_measures; bad input; the kept index."""

import json
import re
import subprocess
import sys

import duckdb
import equality
import numpy as np
import pandas as pd
import pytest
from rank_bm25 import BM25Okapi

from helpers import evalset, runs
from helpers.sql import bm25, command, engines

ROOT = evalset.DEFAULT.parent


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
    assert found.queries > 200 and (found.rankings, found.session_b) == (0, 0)
    assert found.score < equality.SCORE and found.measure < equality.MEASURE


def parquet(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.from_df(pd.DataFrame(columns)).write_parquet(str(path))
    return str(path)


TEXTS = ["the disk is full", "the log is full of the words", "restart the node", "Über naïve_x 12³"]


def tiny(opened, folder, texts=TEXTS, asked="full disk", settings=command.DEFAULTS):
    docs = parquet(folder / "docs.parquet", doc_id=[f"d{n}" for n in range(len(texts))], text=texts)
    bm25.offer_parquet(opened, docs)
    said = bm25.index_offered(opened, settings)
    bm25.ask_parquet(opened, parquet(folder / "q.parquet", query_id=["q"], text=[asked]))
    return said, bm25.search_queries(opened)


def test_a_score_worked_by_hand(duck, tmp_path):
    """Four documents, `disk` in one: idf ln 3.5 - ln 1.5; 4 of 17 / 4 words on average."""
    _, found = tiny(duck, tmp_path, asked="disk")
    weight = np.log(3.5) - np.log(1.5)
    mean = sum(len(re.findall(r"\w+", t)) for t in TEXTS) / 4
    expected = weight * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 4 / mean))
    assert found == {"q": [("d0", pytest.approx(expected, abs=1e-9))]}


def test_words_are_those_of_python(duck):
    texts = ["Ünïcode naïve_x 12³ ½ don't über-café ①② 日本語", "a_b __ 1e5 ñ"]
    for text in texts:
        sql = (
            f"SELECT regexp_extract_all(lower({duck.quoted(text)}), {duck.quoted(bm25.PATTERN)}, 0)"
        )
        assert duck.rows(sql)[0][0] == re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(("text", "found"), [("İs", "is"), ("ΟΔΟΣ", "οδοσ")])
def test_duckdb_lowers_two_letters_otherwise_than_python(duck, text, found):
    assert duck.rows(f"SELECT lower({duck.quoted(text)})") == [(found,)] and text.lower() != found


def test_repeated_words_of_a_query_count_each_time(duck, tmp_path):
    once = tiny(duck, tmp_path, asked="disk")[1]["q"][0][1]
    assert tiny(duck, tmp_path, asked="disk Disk")[1]["q"][0][1] == pytest.approx(2 * once)


def bm25_of_words(texts, n):
    """Return rank_bm25's score of `words` in one of the texts."""
    return float(BM25Okapi([text.split() for text in texts]).get_scores(["words"])[n])


def test_a_document_at_place_100_counts_for_recall_and_one_at_101_does_not(duck, tmp_path):
    texts = ["x y"] * 100 + ["x y z"] * 3 + ["w"] * 120
    found = tiny(duck, tmp_path, texts, asked="x")[1]["q"]
    last = found[99][0]
    beyond = next(f"d{n}" for n in range(103) if f"d{n}" not in dict(found))

    class Made:
        @staticmethod
        def qrels():
            return {"q": {last: 1, beyond: 2}}

    assert bm25.evaluate_run(duck, Made)["q"] == pytest.approx(
        {"nDCG@10": 0, "RR": 1 / 100, "recall@100": 1 / 2}
    )


def test_chunk_ids_count_as_their_document_with_its_best_chunk(duck, tmp_path):
    ids = ["a#0", "a#1", "a#2", "b#0", "c#0"]
    texts = ["disk disk full", "words here", "some more words here", "full of words", "log"]
    bm25.offer_parquet(duck, parquet(tmp_path / "docs.parquet", doc_id=ids, text=texts))
    bm25.index_offered(duck, command.DEFAULTS)
    bm25.ask_parquet(duck, parquet(tmp_path / "q.parquet", query_id=["q"], text=["words"]))
    found = dict(bm25.search_queries(duck)["q"])
    by_chunk = {n: bm25_of_words(texts, n) for n in (1, 3)}
    assert found == pytest.approx({"a": by_chunk[1], "b": by_chunk[3]}, abs=1e-9)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({f"d{n:03}": "x y" for n in range(120)}, "each word weighs less than nothing"),
        (
            {f"d{n:03}#{i}": "x" + " z" * (n > 60) for n in range(120) for i in range(3)}
            | {f"w{n:03}": "w" for n in range(400)},
            "sixty documents have more than a hundred of the best chunks",
        ),
    ],
)
def test_no_result_is_cut_off_too_early(duck, tmp_path, texts, why):
    docs = parquet(tmp_path / "docs.parquet", doc_id=[*texts], text=[*texts.values()])
    bm25.offer_parquet(duck, docs)
    bm25.index_offered(duck, command.DEFAULTS)
    bm25.ask_parquet(duck, parquet(tmp_path / "q.parquet", query_id=["q"], text=["x y"]))
    units = [(name, name.split("#")[0], text) for name, text in texts.items()]
    wanted = equality.by_library(units, {"q": "x y"}, str.split)
    found = bm25.search_queries(duck)
    assert equality.order(found) == equality.order(wanted) and len(found["q"]) == 100, why


def test_queries_in_several_batches_are_all_answered(duck, tmp_path):
    tiny(duck, tmp_path)
    asked = {"query_id": ["b", "a", "c"], "text": ["full", "disk", "none of it"]}
    bm25.ask_parquet(duck, parquet(tmp_path / "many.parquet", **asked))
    found = bm25.search_queries(duck._replace(batch=1))
    assert found == bm25.search_queries(duck) and [*found] == ["a", "b", "c"]


def test_lucene_idf_is_another_index(duck, tmp_path):
    found = tiny(duck, tmp_path, asked="full", settings=bm25.Settings(idf="lucene"))[1]["q"]
    mean = sum(len(re.findall(r"\w+", t)) for t in TEXTS) / 4
    weight = np.log(1 + 2.5 / 2.5)
    assert found[0] == ("d0", pytest.approx(weight * 2.5 / (1 + 1.5 * (0.25 + 3 / mean)), abs=1e-9))
    with pytest.raises(evalset.EvalSetError, match="found an index of parameters .*lucene"):
        bm25.index_offered(duck, command.DEFAULTS)


def test_an_index_is_kept_and_refused_for_other_texts(duck, tmp_path):
    assert tiny(duck, tmp_path)[0] == "indexed"
    assert "stood there" in tiny(duck, tmp_path)[0]
    with pytest.raises(evalset.EvalSetError, match="found an index of other texts"):
        tiny(duck, tmp_path, [*TEXTS[:-1], TEXTS[-1] + "."])


def test_half_an_index_is_none(duck, tmp_path):
    first = tiny(duck, tmp_path)[1]
    duck.rows(f"DROP TABLE {engines.INDEXED}")
    duck.rows("DELETE FROM weights")
    said, again = tiny(duck, tmp_path)
    assert (said, again) == ("indexed", first)


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({"id": ["a"], "text": ["x"]}, "column doc_id is missing: found columns id, text"),
        ({"doc_id": ["a"], "body": ["x"]}, "column text is missing"),
        ({"doc_id": ["a", "a"], "text": ["x", "y"]}, "found 2 rows with the id 'a', wanted one"),
        ({"doc_id": ["", "b"], "text": ["x", "y"]}, "found 1 rows without an id"),
    ],
)
def test_bad_parquet_is_told(duck, tmp_path, columns, wanted):
    with pytest.raises(evalset.EvalSetError, match=re.escape(wanted)):
        bm25.offer_parquet(duck, parquet(tmp_path / "docs.parquet", **columns))


def test_a_file_that_is_no_parquet_and_one_that_is_not_there(duck, tmp_path):
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(evalset.EvalSetError, match="cannot be read as Parquet"):
        bm25.offer_parquet(duck, str(tmp_path / "x.parquet"))
    with pytest.raises(evalset.EvalSetError, match="found nothing, wanted a Parquet"):
        bm25.offer_parquet(duck, str(tmp_path / "y.parquet"))


@pytest.mark.proof
def test_the_command_reads_partitioned_folders_and_writes_run_and_card(tmp_path):
    for n, part in enumerate((TEXTS[:2], TEXTS[2:])):
        ids = [f"d{n}{i}" for i in range(len(part))]
        parquet(tmp_path / "docs" / f"part={n}" / "x.parquet", doc_id=ids, text=part)
    parquet(tmp_path / "q.parquet", query_id=["q"], text=["full"])
    given = ["--docs", tmp_path / "docs", "--queries", tmp_path / "q.parquet", "--to", tmp_path]
    done = subprocess.run(
        [sys.executable, "-m", "helpers", "sql", *map(str, given)], cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert equality.order(runs.read_trec(tmp_path / "bm25-sql.trec")) == {"q": ["d00", "d01"]}
    assert json.loads((tmp_path / "bm25-sql.json").read_text())["texts_md5"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"kind": "sqlite"}, "found engine 'sqlite', wanted duckdb, sail"),
        ({"settings": bm25.Settings(idf="bm25")}, "found --idf bm25, wanted okapi or lucene"),
        ({"settings": bm25.Settings(b=2.0)}, "wanted k1 >= 0, b from 0 to 1"),
        ({"docs": "x", "chunker": "fixed"}, "found --docs and --chunks, wanted one"),
    ],
)
def test_bad_options_are_told_and_nothing_is_written(evals, tmp_path, options, wanted):
    with pytest.raises(evalset.EvalSetError, match=re.escape(wanted)):
        command.sql_command(evals, **{"kind": "duckdb", "to": tmp_path / "out", **options})
    assert not (tmp_path / "out").exists()


def test_a_missing_client_is_told_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(engines.importlib.util, "find_spec", lambda name: None)
    opened = engines.engine("sail", tmp_path)
    with pytest.raises(evalset.EvalSetError, match="no package pyspark.*ONLY=sail installs it"):
        opened.__enter__()
