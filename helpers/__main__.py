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

SET, FOLDER, NONE = "a set whose labels are done", "a folder, maybe in the making", "no folder"
COMMANDS = {  # name: (what it needs, words for --help)
    "report": (SET, "run everything, render the page"),
    "check": (SET, "execute the notebooks and compare"),
    "refresh": (SET, "execute the notebooks in place"),
    "learn": (FOLDER, "write copies of the sessions with stubs for solutions into learn/"),
    "progress": (FOLDER, "your copies: done, wrong, not started, what comes next"),
    "freeze": (SET, "draw negatives, write the manifest"),
    "audit": (SET, "ask the set what a careful reader would"),
    "export": (SET, "write the labels as CSV, Parquet, BEIR and TREC"),
    "drop": (FOLDER, "move a query and all its rows out of the set's files"),
    "compare": (SET, "hold runs against the baseline: 0 not worse, 1 worse, 2 cannot"),
    "sql": (FOLDER, "BM25 in SQL on DuckDB, Sail or Spark: index, search, evaluate"),
    "import": (NONE, "turn a source into an evaluation set"),
    "site": (NONE, "write sessions, write-up and pages as static pages into site/"),
    "new": (NONE, "start an evaluation set: guide, two documents, three queries"),
}


class BadInput(Exception):
    """What is wrong with what a command was given, in words that end it."""


def main() -> int:
    """Run one command and return its exit status: 0 done, 1 failed or bad input, 130 interrupted.

    Of compare 1 says worse, so there 2 stands for whatever failed. Nothing that is printed acts on
    a terminal.
    """
    with contextlib.ExitStack() as screens:
        try:
            options = parser(next(iter(sys.argv[1:]), None)).parse_args()
            from .text import Screen

            out, err = Screen(sys.stdout, "standard output"), Screen(sys.stderr, "standard error")
            screens.enter_context(contextlib.redirect_stdout(out))
            screens.enter_context(contextlib.redirect_stderr(err))
            status = run_command(options)
            sys.stdout.flush()  # a full disk or a closed pipe shows here at the latest
            return status
        except (Exception, KeyboardInterrupt) as error:
            return failure(error)


def run_command(options: Namespace) -> int:
    """Read the set that a command needs, and call it. Raises BadInput."""
    from . import evalset
    from .learn import LearnError
    from .text import how_many

    needs, _ = COMMANDS[options.command]
    where = getattr(options, "to", None) or "the workbook"
    try:
        if needs != NONE:
            where = options.folder = (options.folder or evalset.folder()).resolve()
        if needs == SET:
            options.evals = evalset.load(where)
            if options.evals.next_step():
                raise evalset.EvalSetError([options.evals.next_step()])
        return call(options)
    except LearnError as error:
        raise BadInput(str(error)) from error
    except evalset.EvalSetError as error:
        where = getattr(options, "source", where)
        raise BadInput(f"{error}\n{how_many(error.count, 'problem')} in {where}") from error


def call(options: Namespace) -> int:
    """Call what a command stands for with its options; return the exit status."""
    match options.command:
        case "report":
            from . import workbook

            return workbook.report_command(options.evals.folder, options.full)
        case "check":
            from . import workbook

            return workbook.check_command(options.evals.folder)
        case "refresh":
            from . import evalset, workbook

            if options.evals.folder != evalset.DEFAULT:
                raise BadInput(
                    "refresh writes into the workbook itself and takes its own evals/ only; "
                    "for another folder use report"
                )
            return workbook.refresh_command(options.evals.folder)
        case "freeze":
            from . import workbook

            return workbook.freeze_command(options.evals)
        case "learn":
            from .learn import copies

            print("\n".join(copies.make(options.fresh)))
        case "progress":
            from . import evalset
            from .learn import copies, progress

            own = copies.LEARN / "evals"
            chosen = options.folder != evalset.DEFAULT or not own.exists()
            evals = options.folder if chosen else own
            print(progress.progress_report(evals, run=options.run))
        case "audit":
            from .labels import audit

            findings = audit.of_folder(options.evals)
            print(audit.as_table(findings))
            return int(any(finding.status == "fail" for finding in findings))
        case "export":
            from .sources import export

            if options.evals.unanswered:
                print(f"left out, without an answer: {', '.join(options.evals.unanswered)}")
            print(*export.write_exports(options.evals, options.to), sep="\n")
        case "drop":
            from .labels import merge

            print("\n".join(merge.drop_query(options.folder, options.query)))
        case "compare":
            from . import compare

            names = ("evals", "runs", "base", "split", "matters", "strict", "to")
            return compare.command(*(getattr(options, name) for name in names))
        case "sql":
            from . import evalset
            from .sql import bm25, command

            docs, queries = options.docs, options.queries
            read = (docs or options.folder, queries or options.folder)
            options.source = " and ".join(map(str, dict.fromkeys(read)))  # what a problem is in
            evals = None if docs and queries else evalset.load(options.folder)
            settings = bm25.Settings(k1=options.k1, b=options.b, idf=options.idf)
            return command.sql_command(
                evals, options.engine, options.to, docs, queries, options.chunks, settings
            )
        case "import":
            from .sources import write

            names = write.Options._fields[2:]
            return write.import_command(
                options.source, options.to, **{name: getattr(options, name) for name in names}
            )
        case "site":
            from .sources import site

            print(site.write_site())
        case "new":
            from .sources import write

            return write.new_command(options.to)
    return 0


def parser(chosen: str | None) -> ArgumentParser:
    """Return the parser, a subparser for each command and the options of the `chosen` one."""
    main_parser = ArgumentParser(
        prog="python -m helpers", description="Commands of the retrieval-baseline workbook."
    )
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (needs, words) in COMMANDS.items():
        sub = commands.add_parser(name, help=words, description=words)
        if name != chosen:
            continue
        add_options(sub, name)
        if needs != NONE:
            text = "evaluation-set folder (default: EVALS or evals/)"
            sub.add_argument("--evals", dest="folder", type=Path, help=text)
        text = "show where in the program an error comes from"
        sub.add_argument("--debug", action="store_true", help=text)
    return main_parser


def add_options(sub: ArgumentParser, name: str) -> None:
    """Add the options that only this command has."""
    add = sub.add_argument
    if name in ("export", "import", "new", "sql"):
        add("--to", type=Path, required=True, help="folder to write into")
    if name == "report":
        add("--full", action="store_true", help="run the further notebooks too")
    elif name == "learn":
        add("--fresh", action="store_true", help="move the old copies aside first")
    elif name == "progress":
        add("--run", action="store_true", help="run the copies first")
    elif name == "drop":
        add("query", help="id of the query")
    elif name == "compare":
        from . import evalset, stats

        add("runs", type=Path, nargs="+", help="TREC or JSONL runs of any engine")
        add("--base", type=Path, help="another run to compare with")
        add("--split", choices=[*evalset.SPLITS, "all"], default="dev")
        matters = "smallest difference in nDCG@10 that matters (default %(default)s)"
        add("--matters", type=difference, default=stats.MATTERS, help=matters)
        add("--strict", action="store_true", help="3 where queries are too few to tell")
        add("--to", type=Path, help="folder for the report (default: comparisons/)")
    elif name == "import":
        from .sources import write

        kinds = "KIND:PATH, a kind of: " + ", ".join(write.READERS)
        add("--from", dest="source", required=True, help=kinds)
        add("--split", help="splits to read, such as test or dev,test")
        add("--max-docs", type=int, help="keep so many documents, all relevant ones first")
        add("--title", help="field of a document that is its title")
        add("--text", help="fields that are its text, such as question,body (Markdown)")
        add("--columns", help="others' names of fields, such as doc_id=pid,query=question")
        add("--queries", help="table: file or folder of queries; ir_datasets: their name")
        add("--labels", help="table: file or folder of labels")
        add("--language", help="of the texts, such as ja: chooses the tokenizer")
        halve = "draw halves for dev and test, whatever splits the source has"
        add("--halve", action="store_true", help=halve)
    elif name == "sql":
        engines = "duckdb (default), sail, or sc://host:port of a cluster that speaks Spark Connect"
        add("--engine", default="duckdb", help=engines)
        add("--docs", help="Parquet with doc_id, text, maybe title; no address on DuckDB")
        add("--queries", help="Parquet with query_id, text")
        add("--chunks", help="a chunker of session B, such as fixed: not whole documents")
        add("--idf", default="okapi", help="okapi, as rank_bm25 (default), or lucene")
        add("--k1", type=float, default=1.5)
        add("--b", type=float, default=0.75)


def difference(text: str) -> float:
    """Return a difference between two means of a measure."""
    if not 0 < float(text) <= 1:
        raise argparse.ArgumentTypeError(f"{text}, wanted a number above 0, up to 1")
    return float(text)


INTERRUPTED, CLOSED = 130, 141  # what a shell says of a program that SIGINT or SIGPIPE ended


def failure(error: BaseException) -> int:
    """Say why a command ended, with --debug its traceback too, and return its exit status."""
    try:
        sys.stdout.flush()
    except OSError as full:
        full.filename = "standard output"  # or Python tries once more, and complains, at its end
        error = full
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return CLOSED  # the reader has seen enough
    if "--debug" in sys.argv:
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    of_compare = sys.argv[1:2] == ["compare"]
    print("cannot compare: " * of_compare + in_words(error), file=sys.stderr)
    return 2 if of_compare else 1


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
        case OSError():
            place = [error.filename] if isinstance(error.filename, str) else []
            return ": ".join([*place, WANTED_THERE.get(type(error), error.strerror or str(error))])
    house = Path(__file__).parents[1]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(house / "helpers")]
    place = f"{Path(ours[-1].filename).relative_to(house).as_posix()}:{ours[-1].lineno}"
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return (
        f"{what} ({place}, {ours[-1].name}): run again with --debug for the traceback, "
        "and report it"
    )


if __name__ == "__main__":
    sys.exit(main())
