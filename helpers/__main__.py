"""python -m helpers COMMAND: the Makefile's commands, for any environment.

Imports stand in the functions, so that a command pays for what it uses and --help for nothing.
"""

import argparse
import contextlib
import os
import sys
import traceback
from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_report(sub: ArgumentParser):
    """Run the sessions and the write-up."""
    sub.add_argument("--full", action="store_true", help="run the further notebooks too")

    def run(options: Namespace) -> int:
        from . import workbook

        return workbook.report_command(options.evals.folder, options.full)

    return run


def add_check(sub: ArgumentParser):
    """Execute the notebooks and compare."""

    def run(options: Namespace) -> int:
        from . import workbook

        return workbook.check_command(options.evals.folder)

    return run


def add_refresh(sub: ArgumentParser):
    """Refresh the workbook's own folder; another one has no stored numbers."""

    def run(options: Namespace) -> int:
        from . import evalset, workbook

        if options.evals.folder != evalset.DEFAULT:
            print(
                "refresh writes into the workbook itself and takes its own evals/ only; "
                "for another folder use report",
                file=sys.stderr,
            )
            return 2
        return workbook.refresh_command(options.evals.folder)

    return run


def add_learn(sub: ArgumentParser):
    """Write the learner copies that are missing and say what was done."""
    sub.add_argument("--fresh", action="store_true", help="move the old copies aside first")

    def run(options: Namespace) -> int:
        from .learn import copies

        print("\n".join(copies.make(options.fresh)))
        return 0

    return run


def add_progress(sub: ArgumentParser):
    """Print what is done, wrong and not started in the learner copies."""
    sub.add_argument("--run", dest="run_first", action="store_true", help="run the copies first")

    def run(options: Namespace) -> int:
        from . import evalset
        from .learn import copies, progress

        own = copies.LEARN / "evals"
        chosen = options.folder != evalset.DEFAULT or not own.exists()
        evals = options.folder if chosen else own
        print(progress.progress_report(evals, run=options.run_first))
        return 0

    return run


def add_freeze(sub: ArgumentParser):
    """Draw the negatives, write the manifest."""

    def run(options: Namespace) -> int:
        from . import workbook

        return workbook.freeze_command(options.evals)

    return run


def add_audit(sub: ArgumentParser):
    """Print what an audit finds; 1 if a check fails."""

    def run(options: Namespace) -> int:
        from .labels import audit

        found = audit.of_folder(options.evals)
        print(audit.as_table(found))
        return 1 if any(finding.status == "fail" for finding in found) else 0

    return run


def add_export(sub: ArgumentParser):
    """Write the labels in other tools' forms and list the files."""
    sub.add_argument("--to", type=Path, required=True, help="folder to write into")

    def run(options: Namespace) -> int:
        from .sources import export

        if options.evals.unanswered:
            print(f"left out, without an answer: {', '.join(options.evals.unanswered)}")
        for path in export.write_exports(options.evals, options.to):
            print(path)
        return 0

    return run


def add_drop(sub: ArgumentParser):
    """Move what the files say of a query into dropped.jsonl; say how many rows of each."""
    sub.add_argument("query", help="id of the query")

    def run(options: Namespace) -> int:
        from .labels import merge

        print("\n".join(merge.drop_query(options.folder, options.query)))
        return 0

    return run


def add_compare(sub: ArgumentParser):
    """Compare runs with the baseline or another run; the gate's exit status."""
    from . import compare, evalset, stats

    def difference(text: str) -> float:
        if not 0 < float(text) <= 1:
            raise argparse.ArgumentTypeError(f"{text}, wanted a number above 0, up to 1")
        return float(text)

    sub.add_argument("runs", type=Path, nargs="+", help="TREC or JSONL runs of any engine")
    sub.add_argument("--base", type=Path, help="another run to compare with")
    sub.add_argument("--split", choices=[*evalset.SPLITS, "all"], default="dev")
    matters = "smallest difference in nDCG@10 that matters (default %(default)s)"
    sub.add_argument("--matters", type=difference, default=stats.MATTERS, help=matters)
    sub.add_argument("--strict", action="store_true", help="3 where queries are too few to tell")
    sub.add_argument("--to", type=Path, help="folder for the report (default: comparisons/)")
    return lambda o: compare.command(o.evals, o.runs, o.base, o.split, o.matters, o.strict, o.to)


def add_import(sub: ArgumentParser):
    """Turn a source into an evaluation-set folder."""
    from .sources import write

    kinds = "KIND:PATH, a kind of: " + ", ".join(write.READERS)
    sub.add_argument("--to", type=Path, required=True, help="folder to make")
    sub.add_argument("--from", dest="source", required=True, help=kinds)
    sub.add_argument("--split", help="splits to read, such as test or dev,test")
    sub.add_argument("--max-docs", type=int, help="keep so many documents, all relevant ones first")
    sub.add_argument("--queries-language", help="mmarco: another language for the queries")
    sub.add_argument("--title", help="field of a document that is its title")
    sub.add_argument("--text", help="fields that are its text, such as question,body (Markdown)")
    halve = "draw halves for dev and test, whatever splits the source has"
    sub.add_argument("--halve", action="store_true", help=halve)
    names = ("split", "max_docs", "queries_language", "title", "text", "halve")
    return lambda o: write.import_command(o.source, o.to, **{n: getattr(o, n) for n in names})


def add_new(sub: ArgumentParser):
    """Start an evaluation set."""
    sub.add_argument("--to", type=Path, required=True, help="folder to make")

    def run(options: Namespace) -> int:
        from .sources import write

        return write.new_command(options.to)

    return run


def add_sql(sub: ArgumentParser):
    """Index, search and evaluate with BM25 in SQL, where the data lives."""
    engines = "duckdb (default), sail, or sc://host:port of a cluster that speaks Spark Connect"
    sub.add_argument("--engine", default="duckdb", help=engines)
    sub.add_argument("--to", type=Path, required=True, help="folder for run, card, DuckDB's file")
    sub.add_argument("--docs", help="Parquet with doc_id, text, maybe title; no address on DuckDB")
    sub.add_argument("--queries", help="Parquet with query_id, text")
    sub.add_argument("--chunks", help="a chunker of session B, such as fixed: not whole documents")
    sub.add_argument("--idf", default="okapi", help="okapi, as rank_bm25 (default), or lucene")
    sub.add_argument("--k1", type=float, default=1.5)
    sub.add_argument("--b", type=float, default=0.75)

    def run(options: Namespace) -> int:
        from . import evalset
        from .sql import bm25, command

        evals = None if options.docs and options.queries else evalset.load(options.folder)
        read = (options.docs or options.folder, options.queries or options.folder)
        options.source = " and ".join(map(str, dict.fromkeys(read)))  # what a problem is in
        settings = bm25.Settings(k1=options.k1, b=options.b, idf=options.idf)
        given = (options.docs, options.queries, options.chunks, settings)
        return command.sql_command(evals, options.engine, options.to, *given)

    return run


def add_site(sub: ArgumentParser):
    """Write the pages to read without installing."""

    def run(options: Namespace) -> int:
        from .sources import site

        print(site.write_site())
        return 0

    return run


SET, FOLDER, NONE = "a set whose labels are done", "a folder, maybe in the making", "no folder"
COMMANDS = {  # name: (function that adds options and returns what runs, what it needs, words)
    "report": (add_report, SET, "run everything, render the page"),
    "check": (add_check, SET, "execute the notebooks and compare"),
    "refresh": (add_refresh, SET, "execute the notebooks in place"),
    "learn": (
        add_learn,
        FOLDER,
        "write copies of the sessions with stubs for solutions into learn/",
    ),
    "progress": (add_progress, FOLDER, "your copies: done, wrong, not started, what comes next"),
    "freeze": (add_freeze, SET, "draw negatives, write the manifest"),
    "audit": (add_audit, SET, "ask the set what a careful reader would"),
    "export": (add_export, SET, "write the labels as CSV, Parquet, BEIR and TREC"),
    "drop": (add_drop, FOLDER, "move a query and all its rows out of the set's files"),
    "compare": (add_compare, SET, "hold runs against the baseline: 0 not worse, 1 worse, 2 cannot"),
    "sql": (add_sql, FOLDER, "BM25 in SQL on DuckDB, Sail or Spark: index, search, evaluate"),
    "import": (add_import, NONE, "turn a source into an evaluation set"),
    "site": (add_site, NONE, "write sessions, write-up and pages as static pages into site/"),
    "new": (add_new, NONE, "start an evaluation set: guide, two documents, three queries"),
}


def parser(chosen: str | None) -> ArgumentParser:
    """Return the parser, a subparser for each command and the options of the `chosen` one."""
    main_parser = argparse.ArgumentParser(
        prog="python -m helpers", description="Commands of the retrieval-baseline workbook."
    )
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (add, needs, words) in COMMANDS.items():
        sub = commands.add_parser(name, help=words, description=words)
        if name == chosen:
            sub.set_defaults(run=add(sub))
            if needs != NONE:
                help = "evaluation-set folder (default: EVALS or evals/)"
                sub.add_argument("--evals", dest="folder", type=Path, help=help)
            help = "show where in the program an error comes from"
            sub.add_argument("--debug", action="store_true", help=help)
    return main_parser


class BadInput(Exception):
    """What is wrong with what a command was given, in words that end it."""


INTERRUPTED, CLOSED = 130, 141  # what a shell says of a program that SIGINT or SIGPIPE ended


def main() -> int:
    """Run one command and return its exit status: 0 done, 1 failed or bad input, 130 interrupted.

    Of compare 1 says worse, so there 2 stands for whatever failed.
    """
    failed = 2 if sys.argv[1:2] == ["compare"] else 1
    try:
        for stream in (sys.stdout, sys.stderr):  # whatever a command prints goes through these
            if hasattr(stream, "reconfigure"):  # None where it is closed
                stream.reconfigure(errors="backslashreplace")
        status = run_command()
        print(end="", flush=True)  # a full disk or a closed pipe shows here at the latest
        return status
    except (Exception, KeyboardInterrupt) as error:
        return ended(error, failed)


def run_command() -> int:
    """Run the command that the program was called with; nothing it prints acts on a terminal."""
    options = parser(next(iter(sys.argv[1:]), None)).parse_args()
    from .text import Screen

    screens = Screen(sys.stdout, "standard output"), Screen(sys.stderr, "standard error")
    with contextlib.redirect_stdout(screens[0]), contextlib.redirect_stderr(screens[1]):
        return _run(options)


def _run(options: Namespace) -> int:
    """Run a command on its folder. Raises BadInput."""
    from . import evalset
    from .learn import LearnError
    from .text import how_many

    needs, where = COMMANDS[options.command][1], None
    try:
        if needs != NONE:
            where = options.folder = (options.folder or evalset.folder()).resolve()
        if needs == SET:
            options.evals = evalset.load(where)
            if options.evals.next_step():
                raise evalset.EvalSetError([options.evals.next_step()])
        return options.run(options)
    except LearnError as error:
        raise BadInput(str(error)) from error
    except evalset.EvalSetError as error:
        where = getattr(options, "source", None) or where or getattr(options, "to", "the workbook")
        problems = how_many(error.count, "problem")
        raise BadInput(f"{error}\n{problems} in {where}") from error


def ended(error: BaseException, failed: int) -> int:
    """Say why a command ended, with --debug its traceback too, and return its exit status."""
    if isinstance(error, OSError) and not _stdout_takes_more():
        error.filename = error.filename or "standard output"
    with contextlib.suppress(OSError):  # stderr may be closed too; the status still counts
        if "--debug" in sys.argv:
            traceback.print_exception(error)
        if isinstance(error, BrokenPipeError):
            return CLOSED  # the reader has seen enough
        if isinstance(error, KeyboardInterrupt):
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        print("cannot compare: " * (failed == 2) + _visible(in_words(error)), file=sys.stderr)
    return failed


def _visible(said: str) -> str:
    try:
        from .text import visible
    except ImportError:  # of a package, which is what is said
        return said
    return visible(said)


def _stdout_takes_more() -> bool:
    """Return whether stdout can be written; if not, drop what waits, or Python tries once more."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


WANTED_THERE = {
    FileExistsError: "is a file, wanted a folder",
    NotADirectoryError: "stands below a file, wanted a folder there",
    IsADirectoryError: "is a folder, wanted a file",
}


def in_words(error: Exception) -> str:
    """Return what is wrong with input or machine and what to do, or where we have a bug."""
    match error:
        case BadInput():
            return str(error)
        case ModuleNotFoundError() if error.name.partition(".")[0] != __package__:
            python = Path(".venv", "Scripts" if os.name == "nt" else "bin", "python")
            missing = f"the package {error.name} is missing in {sys.executable}"
            words = " ".join(sys.argv[1:])
            return f"{missing}: run make report once, then {python} -m helpers {words}"
        case MemoryError():
            return "out of memory: take a smaller set or a machine with more"
        case RecursionError():
            return "JSON or YAML of the input is nested too deeply, wanted fields one level deep"
        case UnicodeEncodeError():
            wrong = error.object[error.start]
            return f"the input holds {wrong!r}, half of a character: {error.encoding} has no such"
        case OSError():
            place = [error.filename] if isinstance(error.filename, str) else []
            said = WANTED_THERE.get(type(error), error.strerror or str(error))
            return ": ".join([*place, said])
    return _bug(error)


def _bug(error: Exception) -> str:
    """Return what happened and in which line of ours."""
    house = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(house / "helpers")]
    at = ours[-1]
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    place = f"{Path(at.filename).relative_to(house).as_posix()}:{at.lineno}, {at.name}"
    return f"{what} ({place}): run again with --debug for the traceback, and report it"


if __name__ == "__main__":
    sys.exit(main())
