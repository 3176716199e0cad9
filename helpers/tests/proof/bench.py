"""Speed and memory in one run: engines, evaluation and evidence.

Run by `make proof ONLY=bench`, with MILLION=1 for the largest corpus too. Seconds
differ from machine to machine and from hour to hour; ratios of one run less so, and no test
asserts either. Memory is read from the operating system, so this command needs Linux or macOS.
"""

import importlib.util
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import bm25s
import duckdb
import ir_measures
import numpy as np
import pandas as pd
from rank_bm25 import BM25Okapi

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from helpers import chunks, evidence, measures, sparse, text, workbook  # noqa: E402
from helpers.sql import bm25  # noqa: E402
from helpers.sql import engines as sql_engines  # noqa: E402

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
    names, texts = (f"d{n:07}" for n in range(n_documents)), lines(path)
    table = pd.DataFrame({"doc_id": list(names), "text": [line[:-1] for line in texts]})
    with duckdb.connect() as connection:
        connection.from_df(table).write_parquet(str(path.with_suffix(".parquet")))


def queries(skip: int, n: int = 2_000) -> list[str]:
    """Return `n` queries of eight words; `skip` leaves out the most common ones."""
    drawn = draw(np.random.default_rng(1), (n, 8), skip)
    return [" ".join(f"w{number}" for number in row) for row in drawn]


def lines(path: Path) -> Iterator[str]:
    """Yield the documents of a corpus file."""
    with path.open() as file:
        yield from file


# Engines: each takes a corpus file and returns a search for the first `K` documents.


def with_rank_bm25(path: Path) -> Search:
    """Return a search by rank_bm25."""
    library = BM25Okapi(map(text.words, lines(path)))

    def search(batch):
        for query in batch:
            scores = library.get_scores(text.words(query))
            best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
            best[np.argsort(-scores[best])]

    return search


def with_sparse(path: Path) -> Search:
    """Return a search by our engine, ties in order."""
    n_documents = sum(1 for _ in lines(path))
    engine = sparse.bm25([f"d{n:07}" for n in range(n_documents)], lines(path))
    return lambda batch: list(sparse.rankings(*engine, dict(enumerate(batch)), K))


def with_bm25s(backend: str, path: Path) -> Search:
    """Return a search by bm25s on one thread, by NumPy or compiled by numba."""
    vocabulary: dict[str, int] = {}
    numbers = [
        [vocabulary.setdefault(word, len(vocabulary)) for word in text.words(line)]
        for line in lines(path)
    ]
    library = bm25s.BM25(method="lucene", backend=backend)
    library.index((numbers, vocabulary), show_progress=False)
    return lambda batch: library.retrieve(
        [text.words(query) for query in batch], k=K, show_progress=False
    )


def with_sql(kind: str, path: Path) -> Search:
    """Return a search by bm25.sql, from the documents' Parquet, on all cores."""
    sys.path.insert(0, str(SAIL))
    opened = KEPT.enter_context(sql_engines.engine(kind, path.with_suffix(f".{kind}")))
    bm25.offer_parquet(opened, str(path.with_suffix(".parquet")))
    bm25.index_offered(opened, bm25.Settings())

    def search(batch):
        names = [f"q{n:04}" for n in range(len(batch))]
        opened.put("queries", pd.DataFrame({"query_id": names, "text": batch}))
        bm25.search_queries(opened)

    return search


ENGINES = {
    "rank_bm25": with_rank_bm25,
    "helpers.sparse": with_sparse,
    "bm25s": partial(with_bm25s, "numpy"),
    "bm25s, numba": partial(with_bm25s, "numba"),
    "DuckDB": partial(with_sql, "duckdb"),
    "Sail": partial(with_sql, "sail"),
}
SQL = ("DuckDB", "Sail")


def timed(action: Callable, *arguments) -> tuple[float, object]:
    """Return the seconds that a call took, and its result."""
    start = time.perf_counter()
    result = action(*arguments)
    return time.perf_counter() - start, result


def per_second(search: Search, asked: list[str], batch: int) -> float:
    """Return queries a second: batches grow while there is time left."""
    search(asked[:1])
    done, spent = 0, 0.0
    while spent < SECONDS / 2 and done < len(asked):
        seconds, _ = timed(search, asked[done : done + batch])
        done, spent = done + len(asked[done : done + batch]), spent + seconds
        batch = max(batch, int(min(2 * batch, done / spent * (SECONDS - spent))))
    return done / spent


def measure(engine: str, path: Path) -> dict[str, float]:
    """Return index seconds, queries a second and peak memory of this process, in a fresh one."""
    batch = 50 if engine in SQL else 3  # a statement costs as much for one query as for many
    with KEPT:
        seconds, search = timed(ENGINES[engine], path)
        row = {"index s": seconds}
        for kind, skip in (("all words", 0), ("content words", STOP)):
            row[f"{kind} q/s"] = per_second(search, queries(skip), batch)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return row | {"peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}


def engines(n_documents: int, folder: Path) -> pd.DataFrame:
    """Return a row for each engine, measured one after the other in processes of their own."""
    path, rows = folder / f"{n_documents}.txt", {}
    write_corpus(path, n_documents)
    left_out = {"rank_bm25"} if n_documents > max(SIZES) else set()
    left_out |= set() if (SAIL / "ready").exists() else {"Sail"}
    left_out |= set() if importlib.util.find_spec("numba") else {"bm25s, numba"}
    for engine in [name for name in ENGINES if name not in left_out]:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            rows[engine] = pool.submit(measure, engine, path).result()
    table = pd.DataFrame(rows).T
    for kind in ("all words", "content words"):
        speed = table[f"{kind} q/s"]
        table[f"{kind}: x rank_bm25"] = speed / speed.get("rank_bm25", np.nan)
        table[f"{kind}: x bm25s"] = speed / speed["bm25s"]
    return table


# The other goals, a line each.


def rankings(n: int) -> Iterator[tuple[np.random.Generator, str, list[str], list[str]]]:
    """Yield a generator, a query, `K` documents in their order, and four that are judged."""
    rng = np.random.default_rng(2)
    for number in range(n):
        found = [f"d{doc}" for doc in rng.choice(100_000, K, replace=False)]
        yield rng, f"q{number}", found, [str(doc) for doc in rng.choice(found, 4)]


def best_of_three(ours: Callable, library: Callable) -> str:
    """Return the seconds of our function and of the library's, and their ratio."""
    own, other = (min(timed(side)[0] for _ in range(3)) for side in (ours, library))
    return f"{own:.2f} s, ir_measures {other:.2f} s, ratio {own / other:.2f}"


def evaluation(n: int = 10_000) -> str:
    """Return the time of our measures against plain ir_measures, `n` queries to depth `K`."""
    run, qrels = {}, {}
    for rng, query_id, found, judged in rankings(n):
        run[query_id] = list(zip(found, np.sort(rng.random(K))[::-1].tolist(), strict=True))
        qrels[query_id] = {doc: int(rng.integers(0, 3)) for doc in judged}
    plain = {query_id: dict(ranking) for query_id, ranking in run.items()}
    wanted = list(measures.NAMED.values())
    ratio = best_of_three(
        lambda: measures.per_query(qrels, run),
        lambda: list(ir_measures.iter_calc(wanted, qrels, plain)),
    )
    return f"evaluation: {n:,} queries to depth {K}, {len(wanted)} measures: {ratio}"


def quotes(n: int = 10_000) -> str:
    """Return the time of evidence nDCG@10 against ir_measures' nDCG@10, on the same rankings."""
    asked, run, qrels, plain = {}, {}, {}, {}
    for rng, query_id, found, judged in rankings(n):
        run[query_id] = [chunks.Chunk(doc, 0, 0, 2_000, 512) for doc in found]
        qrels[query_id] = {doc: int(rng.integers(1, 3)) for doc in judged}
        quoted = {doc: [(1_900, 1_900 + int(rng.integers(50, 150)))] for doc in judged}
        asked[query_id] = evidence.Wanted(qrels[query_id], quoted)
        plain[query_id] = {doc: float(K - rank) for rank, doc in enumerate(found)}

    def ours() -> list[float]:
        ranks = ((query, evidence.ranks_of(query.quotes, run[q])) for q, query in asked.items())
        return [evidence.ndcg(query, found, 10) for query, found in ranks]

    def library() -> list:
        return list(ir_measures.iter_calc([ir_measures.nDCG @ 10], qrels, plain))

    return f"evidence: {n:,} queries of {K} chunks, nDCG@10: {best_of_three(ours, library)}"


def main() -> None:
    """Print every comparison."""
    sizes = (*SIZES, MILLION) if os.environ.get("MILLION") else SIZES
    pd.set_option("display.width", 200, "display.max_columns", 20)
    for n_documents in sizes:
        with tempfile.TemporaryDirectory() as folder:
            table = engines(n_documents, Path(folder))
        title = f"first {K}, one thread (DuckDB and Sail: all cores)"
        print(f"\n{n_documents:,} documents of about {LENGTH} words, {title}")
        print(table.to_string(float_format=plain), flush=True)
    print("\n" + evaluation(), quotes(), sep="\n", flush=True)


def plain(value: float) -> str:
    """Return a number with as many digits as a reader needs."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


if __name__ == "__main__":
    main()
