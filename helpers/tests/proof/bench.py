"""Speed and memory of the engines in one run.

Run by `make proof ONLY=bench`, with MILLION=1 for the largest corpus too. Seconds
differ from machine to machine and from hour to hour; ratios of one run less so, and no test
asserts either. Memory is read from the operating system, so this command needs Linux or macOS.
"""

import importlib
import multiprocessing
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from rank_bm25 import BM25Okapi

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from helpers.measure import sparse, text
from helpers.measure.sql import bm25  # noqa: E402
from helpers.measure.sql import engines as sql_engines  # noqa: E402
from helpers.teach import workbook  # noqa: E402

SIZES, MILLION = (1_000, 10_000, 100_000), 1_000_000
WORDS, LENGTH, STOP = 200_000, 75, 200  # vocabulary, words a document, words left out as too common
K = 100
SECONDS = 3.0  # for each kind of query; a slow engine answers three of them at least
Search = Callable[[list[str]], object]
SAIL = workbook.ROOT / ".cache" / "sail"  # where make puts it
KEPT = ExitStack()  # what an engine of this process leaves open while it is measured


# Synthetic texts: words drawn by Zipf's law, the same ones in every run.


def draw(rng: np.random.Generator, size: tuple[int, ...] | int, skip: int = 0) -> np.ndarray:
    """Return word numbers; the n-th most common word has a share of 1 / (n + 2.7)."""
    shares = np.cumsum(1 / (np.arange(WORDS) + 2.7) * (np.arange(WORDS) >= skip))
    return np.searchsorted(shares, rng.random(size) * shares[-1])


def write_corpus(path: Path, n_documents: int) -> None:
    """Write one document a line, of about `LENGTH` words."""
    rng, names = np.random.default_rng(0), np.array([f"w{n}" for n in range(WORDS)], dtype=object)
    with path.open("w") as file:
        for start in range(0, n_documents, 10_000):
            lengths = rng.poisson(LENGTH, min(10_000, n_documents - start)) + 1
            words = names[draw(rng, lengths.sum())]
            for document in np.split(words, np.cumsum(lengths)[:-1]):
                file.write(" ".join(document) + "\n")
    ids = [f"d{n:07}" for n in range(n_documents)]
    table = pd.DataFrame({"doc_id": ids, "text": path.read_text().splitlines()})
    with duckdb.connect() as connection:
        connection.from_df(table).write_parquet(str(path.with_suffix(".parquet")))


def queries(skip: int, n: int = 2_000) -> list[str]:
    """Return `n` queries of eight words; `skip` leaves out the most common ones."""
    drawn = draw(np.random.default_rng(1), (n, 8), skip)
    return [" ".join(f"w{number}" for number in row) for row in drawn]


# Engines: each takes a corpus file and returns a search for the first `K` documents.


def with_rank_bm25(path: Path) -> Search:
    """Return a search by rank_bm25."""
    library = BM25Okapi(map(text.words, path.open()))

    def search(batch):
        for query in batch:
            scores = library.get_scores(text.words(query))
            best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
            best[np.argsort(-scores[best])]

    return search


def with_sparse(path: Path) -> Search:
    """Return a search by our engine, ties in order."""
    n_documents = sum(1 for _ in path.open())
    engine = sparse.bm25([f"d{n:07}" for n in range(n_documents)], path.open())
    return lambda batch: list(sparse.rankings(*engine, dict(enumerate(batch)), K))


def with_sql(kind: str, path: Path) -> Search:
    """Return a search by bm25.sql, from the documents' Parquet, on all cores."""
    sys.path.insert(0, str(SAIL))
    opened = KEPT.enter_context(sql_engines.engine(kind, path.with_suffix(f".{kind}")))
    bm25.add_documents(opened, None, str(path.with_suffix(".parquet")))
    bm25.index_documents(opened, bm25.Settings())

    def search(batch):
        names = [f"q{n:04}" for n in range(len(batch))]
        opened.put("queries", pd.DataFrame({"query_id": names, "text": batch}))
        bm25.search_queries(opened)

    return search


ENGINES = {
    "rank_bm25": with_rank_bm25,
    "helpers.measure.sparse": with_sparse,
    "DuckDB": partial(with_sql, "duckdb"),
    "Sail": partial(with_sql, "sail"),
}
SQL = ("DuckDB", "Sail")


def per_second(search: Search, asked: list[str], batch: int) -> float:
    """Return queries a second: batches grow while there is time left."""
    search(asked[:1])
    done, spent, start = 0, 0.0, time.perf_counter()
    while spent < SECONDS / 2 and done < len(asked):
        search(asked[done : done + batch])
        done, spent = min(done + batch, len(asked)), time.perf_counter() - start
        batch = max(batch, int(min(2 * batch, done / spent * (SECONDS - spent))))
    return done / spent


def measure(engine: str, path: Path) -> dict[str, float]:
    """Return index seconds, queries a second and peak memory of this process, in a fresh one."""
    batch = 50 if engine in SQL else 3  # a statement costs as much for one query as for many
    with KEPT:
        start = time.perf_counter()
        search = ENGINES[engine](path)
        row = {"index s": time.perf_counter() - start}
        for kind, skip in (("all words", 0), ("content words", STOP)):
            row[f"{kind} q/s"] = per_second(search, queries(skip), batch)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return row | {"peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}


def engines(n_documents: int, folder: Path) -> pd.DataFrame:
    """Return a row for each engine, measured one after the other in processes of their own."""
    path, rows = folder / f"{n_documents}.txt", {}
    write_corpus(path, n_documents)
    for engine in ENGINES:
        if engine == "rank_bm25" and n_documents > max(SIZES):
            continue
        if engine == "Sail" and not (SAIL / "ready").exists():
            continue
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            rows[engine] = pool.submit(measure, engine, path).result()
    table = pd.DataFrame(rows).T
    for kind in ("all words", "content words"):
        speed = table[f"{kind} q/s"]
        table[f"{kind}: x rank_bm25"] = speed / speed.get("rank_bm25", np.nan)
    return table


# Today's engine beside the one of an earlier commit, whose speed it must not fall below.

EARLIER = "2b85c4d"


def earlier_engine(folder: Path):
    """Return the engine of EARLIER, its package unpacked as `earlier`; None without that commit."""
    archive, package = folder / "earlier.tar", folder / "earlier"
    words = ["git", "archive", f"--output={archive}", EARLIER, "helpers"]
    if subprocess.run(words, cwd=workbook.ROOT, stderr=subprocess.DEVNULL).returncode:
        return None
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (folder / "helpers").rename(package)
    sys.path.insert(0, str(folder))
    return importlib.import_module("earlier.sparse")


def beside_earlier(n_documents: int, folder: Path, earlier) -> pd.DataFrame:
    """Return queries a second of both engines, in turns in this process, the best of five."""
    path, ids = folder / f"{n_documents}.txt", [f"d{n:07}" for n in range(n_documents)]
    write_corpus(path, n_documents)
    engines = {"today": sparse, EARLIER: earlier}
    built = {name: engine.bm25(ids, path.open()) for name, engine in engines.items()}
    rows = {}
    for kind, skip in (("all words", 0), ("content words", STOP)):
        asked = dict(enumerate(queries(skip, 400 if n_documents <= 10_000 else 100)))
        seconds = {name: [] for name in engines}
        for _ in range(5):
            for name, engine in engines.items():
                start = time.process_time()
                list(engine.rankings(*built[name], asked, K))
                seconds[name].append(time.process_time() - start)
        rows[kind] = {name: len(asked) / min(spent) for name, spent in seconds.items()}
    table = pd.DataFrame(rows).T
    table["x"] = (table["today"] / table[EARLIER]).map("{:.2f}".format)
    return table


def main() -> None:
    """Print every comparison."""
    sizes = (*SIZES, MILLION) if os.environ.get("MILLION") else SIZES
    pd.set_option("display.width", 200, "display.max_columns", 20)
    with tempfile.TemporaryDirectory() as folder:
        earlier = earlier_engine(Path(folder))
        if not earlier:
            print(f"no engine beside today's: this checkout has no commit {EARLIER}")
        for n_documents in SIZES if earlier else ():
            table = beside_earlier(n_documents, Path(folder), earlier)
            print(f"\n{n_documents:,} documents, queries a second, in turns in one process")
            print(table.to_string(float_format=rounded), flush=True)
    for n_documents in sizes:
        with tempfile.TemporaryDirectory() as folder:
            table = engines(n_documents, Path(folder))
        print(f"\n{n_documents:,} documents of about {LENGTH} words, first {K}, one thread")
        print("(DuckDB and Sail: all cores)")
        print(table.to_string(float_format=rounded), flush=True)


def rounded(value: float) -> str:
    """Return a number with as many digits as a reader needs."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


if __name__ == "__main__":
    main()
