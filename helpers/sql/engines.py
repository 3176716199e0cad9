"""Where the SQL runs: DuckDB in this process, Sail, or a cluster that speaks Spark Connect."""

import contextlib
import glob
import importlib.util
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from .. import evalset, files

HERE = Path(__file__).parent
INDEXED = "indexed"  # the last table of an index: of which texts and parameters it is
EMPTY = 12_288  # bytes of a database of DuckDB without a table
KINDS = "duckdb, sail or sc://host:port"


class Engine(NamedTuple):
    """What one engine needs of its own; all else is one SQL text."""

    name: str
    rows: Callable[[str], list[tuple]]  # of a statement
    put: Callable[[str, pd.DataFrame], None]  # a view of a table in memory
    quoted: Callable[[str], str]  # a text as a literal
    parquet: Callable[[str], str]  # what FROM takes, of a path or address
    columns: Callable[[str], dict[str, str]]  # {name: type} of what FROM takes
    errors: type[Exception]  # that it raises
    batch: int  # queries searched at once


def script(name: str) -> list[str]:
    """Return the statements of a file of this folder."""
    text = (HERE / f"{name}.sql").read_text(encoding="utf-8")
    return [part.strip() for part in text.split(";\n") if part.strip()]


@contextlib.contextmanager
def tell_errors(place: str, errors: type[Exception], remedy: str = "") -> Iterator[None]:
    """Tell the errors of an engine in one line. Raises EvalSetError."""
    try:
        yield
    except errors as error:
        said = str(error).partition("\n")[0][:300]
        if "Could not set lock" in said:
            remedy = "another process uses it: wait until it ends, or name another --to"
        raise evalset.EvalSetError([f"{place}: {said}{remedy and f' ({remedy})'}"]) from error
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from error
        raise


@contextlib.contextmanager
def engine(kind: str, folder: Path) -> Iterator[Engine]:
    """Yield the engine `kind`; DuckDB keeps its tables in `folder`, the others where they run.

    Raises EvalSetError for an unknown kind, a missing package and what the engine raises.
    """
    if kind == "duckdb":
        opened = _duckdb(folder)
    elif kind == "sail" or kind.startswith("sc://"):
        if not importlib.util.find_spec("pyspark"):
            told = "make proof ONLY=sail installs it, make sql uses it from there"
            raise evalset.EvalSetError([f"found no package pyspark, wanted for {kind!r}: {told}"])
        opened = _spark(kind)
    else:
        raise evalset.EvalSetError([f"found engine {kind!r}, wanted {KINDS}"])
    with opened as made:
        tables = (folder / "sail").resolve()
        place = f" LOCATION {made.quoted(str(tables))}" if kind == "sail" else ""
        for statement in script("duckdb" if kind == "duckdb" else "spark"):
            made.rows(statement.replace(":place", place))
        if kind == "sail":
            _find_tables(made, tables)
        yield made


def _find_tables(made: Engine, tables: Path) -> None:
    """Name the tables that an earlier server left, for Sail forgets them; half an index goes."""
    if not any((tables / INDEXED).glob("*.parquet")):
        shutil.rmtree(tables, ignore_errors=True)
        return
    for table in sorted(tables.iterdir()):
        made.rows(f"CREATE TABLE {table.name} USING parquet LOCATION {made.quoted(str(table))}")


@contextlib.contextmanager
def _without_a_trace(file: Path) -> Iterator[None]:
    """Leave no new file behind where nothing was indexed."""
    new = not file.exists()
    try:
        yield
    except BaseException:
        if new and file.is_file() and file.stat().st_size <= EMPTY:
            file.unlink()
        raise


@contextlib.contextmanager
def _duckdb(folder: Path) -> Iterator[Engine]:
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "bm25.duckdb"
    remedy = "if it is damaged or no index of this command, delete it, or name another --to"
    with (
        _without_a_trace(file),
        tell_errors(str(file), duckdb.Error, remedy),
        files.database(file) as connection,
    ):

        def rows(statement: str) -> list[tuple]:
            return connection.execute(statement).fetchall()

        def quoted(text: str) -> str:
            return "'" + text.replace("'", "''") + "'"

        def parquet(path: str) -> str:
            name = glob.escape(path)  # a * in it is no pattern
            files = f"{name}/**/*.parquet" if Path(path).is_dir() else name
            return f"read_parquet({quoted(files)}, hive_partitioning = true)"

        def columns(source: str) -> dict[str, str]:
            table = connection.sql(f"SELECT * FROM {source}")
            return dict(zip(table.columns, map(str, table.types), strict=True))

        put = connection.register
        yield Engine("duckdb", rows, put, quoted, parquet, columns, duckdb.Error, 50)


@contextlib.contextmanager
def _spark(kind: str) -> Iterator[Engine]:
    warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)  # of pandas 3
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    server = _sail() if kind == "sail" else contextlib.nullcontext(kind)
    with tell_errors(kind, PySparkException), server as address:
        session = SparkSession.builder.remote(address).getOrCreate()

        def rows(statement: str) -> list[tuple]:
            answer = session.sql(statement)  # a command runs at once, a question when collected
            asks = statement.lstrip().startswith(("SELECT", "SHOW"))
            return [tuple(row) for row in answer.collect()] if asks else []

        def put(name: str, table: pd.DataFrame) -> None:
            session.createDataFrame(table).createOrReplaceTempView(name)

        def quoted(text: str) -> str:
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

        def parquet(path: str) -> str:
            return f"parquet.`{path}`"

        def columns(source: str) -> dict[str, str]:
            return dict(session.sql(f"SELECT * FROM {source}").dtypes)

        batch = 50 if kind == "sail" else 10_000
        try:
            yield Engine(kind, rows, put, quoted, parquet, columns, PySparkException, batch)
        finally:
            session.stop()


@contextlib.contextmanager
def _sail() -> Iterator[str]:
    """Yield the address of a Sail server in this process."""
    os.environ.setdefault("RUST_LOG", "error")  # it tells of each task otherwise
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    try:
        yield "sc://{}:{}".format(*server.listening_address)
    finally:
        server.stop()
