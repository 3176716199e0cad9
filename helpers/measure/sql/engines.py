"""Where the SQL runs: DuckDB in this process, Sail, or a cluster that speaks Spark Connect.

An engine runs a statement (`rows`), takes a table of memory (`put`), writes a text as a literal
(`quoted`), names Parquet for FROM (`parquet`) and its types (`columns`), and searches `batch`
queries at once.
"""

import glob
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import duckdb
import pandas as pd

from .. import files
from ..files import EvalSetError
from ..installation import IN_CHECKOUT


class DuckDB:
    """DuckDB in this process."""

    batch, errors = 50, duckdb.Error

    def __init__(self, connection):
        self.connection, self.put = connection, connection.register

    def rows(self, statement: str) -> list[tuple]:
        return self.connection.execute(statement).fetchall()

    def quoted(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def parquet(self, path: str) -> str:
        name = glob.escape(path)  # a * in it is no pattern
        if Path(path).is_dir():
            name += "/**/*.parquet"
        return f"read_parquet({self.quoted(name)}, hive_partitioning = true)"

    def columns(self, source: str) -> dict[str, str]:
        table = self.connection.sql(f"SELECT * FROM {source}")
        return dict(zip(table.columns, map(str, table.types), strict=True))


class Spark:
    """Whatever speaks Spark Connect; Sail does too."""

    def __init__(self, session, errors: type[Exception], batch: int):
        self.session, self.errors, self.batch = session, errors, batch

    def rows(self, statement: str) -> list[tuple]:
        answer = self.session.sql(statement)  # a command runs at once, a question when collected
        asks = statement.lstrip().startswith(("SELECT", "SHOW"))
        return [tuple(row) for row in answer.collect()] if asks else []

    def put(self, name: str, table: pd.DataFrame) -> None:
        self.session.createDataFrame(table).createOrReplaceTempView(name)

    def quoted(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def parquet(self, path: str) -> str:
        return f"parquet.`{path}`"

    def columns(self, source: str) -> dict[str, str]:
        return dict(self.session.sql(f"SELECT * FROM {source}").dtypes)


Engine = DuckDB | Spark


def engine(kind: str, folder: Path) -> AbstractContextManager[Engine]:
    """Open the engine `kind`; DuckDB and Sail have their tables in `folder`.

    Raises EvalSetError for an unknown kind, a missing package and what the engine raises.
    """
    if kind == "duckdb":
        return _duckdb(folder)
    if kind == "sail" or kind.startswith("sc://"):
        return _spark(kind, (folder / "bm25.sail").resolve())
    raise EvalSetError(f"found engine {kind!r}, wanted duckdb, sail or sc://host:port")


def script(name: str) -> list[str]:
    """Return the statements of a file of this folder."""
    text = Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")
    return [part.strip() for part in text.split(";\n") if part.strip()]


@contextmanager
def errors_in_words(place: str, errors: type[Exception], remedy: str = "") -> Iterator[None]:
    """Tell the errors of an engine in one line. Raises EvalSetError."""
    try:
        yield
    except errors as error:
        first_line = str(error).partition("\n")[0][:300]
        raise EvalSetError(f"{place}: {first_line}{remedy}") from error
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from error
        raise


@contextmanager
def _duckdb(folder: Path) -> Iterator[DuckDB]:
    """Yield DuckDB with its tables in a folder."""
    path = folder / "bm25.duckdb"
    remedy = " (wait if another process uses it, else delete it, or name another --to)"
    folder.mkdir(parents=True, exist_ok=True)
    with errors_in_words(str(path), duckdb.Error, remedy), files.database(path) as connection:
        opened = DuckDB(connection)
        for statement in script("duckdb"):
            opened.rows(statement)
        yield opened


@contextmanager
def _spark(kind: str, tables: Path) -> Iterator[Spark]:
    """Yield a session on a cluster, or on a Sail server whose tables are in a folder."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        remedy = "pip install 'pyspark[connect]' pysail"
        if IN_CHECKOUT:
            remedy = "make proof ONLY=sail installs it, make sql uses it from there"
        raise EvalSetError(f"found no package pyspark, wanted for {kind!r}: {remedy}") from None
    warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)  # of pandas 3
    server, batch = nullcontext(kind), 10_000
    if kind == "sail":
        server, batch = _sail_server(tables), 50
    with errors_in_words(kind, PySparkException), server as address:
        session = SparkSession.builder.remote(address).getOrCreate()
        opened, place = Spark(session, PySparkException, batch), ""
        if kind == "sail":
            place = f" LOCATION {opened.quoted(str(tables))}"
        try:
            for statement in script("spark"):
                opened.rows(statement.replace(":place", place))
            yield opened
        finally:
            session.stop()


@contextmanager
def _sail_server(tables: Path) -> Iterator[str]:
    """Yield the address of a server, which ends with the block and then forgets its tables."""
    shutil.rmtree(tables, ignore_errors=True)
    os.environ.setdefault("RUST_LOG", "error")  # it tells of each task otherwise
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    try:
        yield "sc://{}:{}".format(*server.listening_address)
    finally:
        server.stop()
