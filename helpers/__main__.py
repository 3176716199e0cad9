"""python -m helpers COMMAND, or retrieval-baseline COMMAND: the Makefile's, for any environment.

Imports stand in the functions, so that a command pays for what it uses and --help for nothing.
"""

import argparse
import html
import importlib
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from .measure import installation


def file_to_write(word: str) -> Path:
    """Return the path of a file. Raises ArgumentTypeError for a folder, before anything is done."""
    path = Path(word)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder, wanted a file such as gate.xml")
    return path


KINDS = "markdown, html, rst, text, code, hotpotqa, beir, trec, table, ir_datasets"


# The options of each command, as far as it has some. What was not typed is not passed on, so a
# default stands in the function that is called.


def option(name: str, words: str, **how: object) -> tuple[str, dict]:
    """Return the name of an option and what argparse is told of it, `words` for --help."""
    return name, {"help": words, **how}


def flag(name: str, words: str) -> tuple[str, dict]:
    """Return an option without a value."""
    return option(name, words, action="store_true")


TO = option("--to", "folder to write into", type=Path, required=True)
ONLY = option("--only", "notebooks to execute, such as 'session_b retrieval_eval'")
LEARN = [
    flag("--fresh", "move the old copies aside first"),
    flag("--short", "one notebook of two hours"),
]
COMPARE = [
    option("paths", "TREC or JSONL runs of any engine", type=Path, nargs="+", metavar="runs"),
    option("--base", "another run to compare with", type=Path),
    option("--split", "queries that count", choices=["dev", "test", "all"]),
    option("--round", "of these only the queries of one round", type=int, dest="of_round"),
    option("--decides", "measure of the verdict, such as evidence-1000-tokens"),
    option("--matters", "smallest difference that matters", type=float),
    option("--gate", "what ends with 1", choices=["worse", "not-worse"]),
    flag("--strict", "3 where queries are too few to tell"),
    flag("--no-new-failures", "1 where a query that had results has none"),
    option("--pairs", "list so many unjudged results to be read", type=int),
    option(
        "--junit", "JUnit file to write: how the gate ended, a test case a run", type=file_to_write
    ),
    option("--to", "folder for the report (default: comparisons/)", type=Path),
]
SOURCE = [  # of import and carry: how documents are read
    option("--split", "splits to read, such as test or dev,test"),
    option("--title", "field of a document that is its title"),
    option("--text", "fields that are its text, such as question,body (Markdown)"),
    option("--columns", "others' names of fields, such as doc_id=pid,query=question"),
]
WHERE = [  # one of the two
    option("--to", "folder to write into", type=Path),
    flag("--in-place", "move the labels in the set's own folder, old files to former/"),
]
CARRY = [
    option(
        "--from", "KIND:PATH as in import, or a folder with a corpus", dest="source", required=True
    ),
    WHERE,
    *SOURCE,
]
IMPORT = [
    option("--from", f"KIND:PATH, a kind of: {KINDS}", dest="source", required=True),
    TO,
    *SOURCE,
    option("--max-docs", "keep so many documents, and every judged one", type=int),
    option(
        "--queries",
        "pages: a search log; table: file or folder of queries; ir_datasets: their name",
    ),
    option("--sample", "pages: queries to draw from the log (default 40)", type=int),
    option("--labels", "table, pages: file or folder of labels"),
    option("--language", "of the texts, such as ja: chooses the tokenizer"),
    flag("--halve", "draw halves, whatever splits it has and however few queries"),
]
PROMPTS = [
    option("--sample", "pages to write prompts for (default 20)", type=int),
    flag("--take", "add the accepted queries of proposed.jsonl to the set"),
]
SQL = [
    TO,
    option("--engine", "duckdb (default), sail, or sc://host:port of Spark Connect"),
    option("--docs", "Parquet with doc_id, text, maybe title; no address on DuckDB"),
    option("--queries", "Parquet with query_id, text"),
    option("--chunks", "a chunker of session B, such as fixed: not whole documents"),
    option("--idf", "okapi, as rank_bm25, is the default", choices=["okapi", "lucene"]),
    option("--k1", "how soon a word's count saturates", type=float),
    option("--b", "how much length counts", type=float),
]
LEARNERS = "folder with a folder of copies for each learner: who is where"


class Command(NamedTuple):
    """What a command needs, its function as room:name, words for --help, and its options."""

    needs: str
    function: str
    words: str
    options: list = []


SET, FOLDER, NONE = "a set whose labels are done", "a folder, maybe in the making", "no folder"
COMMANDS = {
    "report": Command(
        SET,
        "teach.workbook:report_command",
        "run everything, render the page",
        [flag("--full", "run the further notebooks too")],
    ),
    "baseline": Command(
        SET, "measure.baseline:baseline_command", "search with BM25, measure it, say how sure"
    ),
    "check": Command(
        SET, "teach.workbook:check_command", "execute the notebooks and compare", [ONLY]
    ),
    "refresh": Command(
        SET, "teach.workbook:refresh_command", "execute the notebooks in place", [ONLY]
    ),
    "learn": Command(
        NONE,
        "teach.copies:learn_command",
        "write copies of the sessions, solutions left out",
        LEARN,
    ),
    "progress": Command(
        NONE,
        "teach.progress:progress_report",
        "your copies: what is done, and next",
        [option("--class", LEARNERS, type=Path, dest="of_class")],
    ),
    "answers": Command(NONE, "teach.answers:write_answers", "write the answers, a page a session"),
    "freeze": Command(SET, "label.manifest:freeze_command", "draw negatives, write the manifest"),
    "audit": Command(SET, "label.audit:audit_command", "ask the set what a careful reader would"),
    "export": Command(
        SET,
        "label.export:write_exports",
        "write the labels as other tools read them",
        [TO],
    ),
    "drop": Command(
        FOLDER,
        "label.drop:drop_query",
        "move a query and its rows out of the set",
        [option("query_id", "id of the query", metavar="query")],
    ),
    "label": Command(
        FOLDER, "label.server:label_command", "open the labelling panel on this machine only"
    ),
    "plan": Command(
        SET, "label.plan:plan_command", "what more labels would tell, pairs to read next"
    ),
    "carry": Command(
        FOLDER, "label.carry:carry_command", "take labels over to changed documents", CARRY
    ),
    "compare": Command(
        SET, "measure.compare:compare_command", "hold runs against a baseline", COMPARE
    ),
    "card": Command(
        SET,
        "measure.systems:card_command",
        "write the card of a run: of which set it is",
        [option("path", "a run, TREC or JSONL", type=Path, metavar="run")],
    ),
    "sql": Command(
        FOLDER,
        "measure.sql.command:sql_command",
        "BM25 in SQL on DuckDB, Sail or Spark",
        SQL,
    ),
    "import": Command(
        NONE, "label.write:import_command", "turn a source into an evaluation set", IMPORT
    ),
    "prompts": Command(
        FOLDER,
        "label.prompts:prompts_command",
        "ask a model elsewhere for queries, take those that you accept",
        PROMPTS,
    ),
    "site": Command(NONE, "teach.site:write_site", "build the course as pages into site/"),
    "new": Command(
        NONE,
        "label.write:new_command",
        "start a set: guide, two documents, three queries",
        [TO],
    ),
}


def main() -> int:
    """Run one command and return its exit status: 0 done, 1 failed or bad input, 130 interrupted.

    Of compare 1 says worse, so there 2 stands for whatever failed. Nothing that is printed acts on
    a terminal.
    """
    chosen = sys.argv[1] if sys.argv[1:] else None
    options = vars(parser(chosen).parse_args())
    junit = options.get("junit")
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is half done is cleared
        from .measure.inert import Screen

        sys.stdout, sys.stderr = Screen(sys.stdout), Screen(sys.stderr)
        status = run_command(options)
        sys.stdout.flush()  # a full disk or a closed pipe shows here at the latest
        return status
    except (Exception, KeyboardInterrupt) as error:
        status = failure(error)
        if status == CANNOT and junit:
            _write_junit_error(junit, in_words(error))
        return status


def run_command(options: dict) -> int:
    """Call a command's function, print what it returns if no exit status, and return the status.

    Raises EvalSetError where a set is broken, or its labels are not done for what wants them.
    """
    name = options.pop("command")
    needs, function, *_ = COMMANDS[name]
    if needs != NONE:
        from .measure import evalset

        options["folder"] = options.get("folder", evalset.folder()).resolve()
    if needs == SET:
        evals = options["evals"] = evalset.load(options.pop("folder"))
        if step := evals.next_step():
            raise evalset.EvalSetError([f"{evals.folder}: {step}"])
        if evals.waiting and name != "compare":  # whose page says it
            print(evalset.left_out(evals.waiting))
    room, called = function.split(":")
    result = getattr(importlib.import_module(f".{room}", __package__), called)(**options)
    if isinstance(result, int):
        return result
    lines = result if isinstance(result, list) else [result]
    print(*lines, sep="\n")
    return 0


def parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the parser: all commands, and the options of the `chosen` one."""
    words = "Commands of the retrieval-baseline workbook."
    main_parser = argparse.ArgumentParser(prog=installation.PROGRAM, description=words)
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        if name in installation.COURSE and not installation.IN_CHECKOUT:
            continue
        sub = commands.add_parser(
            name,
            help=command.words,
            description=command.words,
            argument_default=argparse.SUPPRESS,
        )
        if name == chosen:
            add_options(sub, command.options)
        if command.needs != NONE:
            words = "evaluation-set folder (default: EVALS or evals/)"
            sub.add_argument("--evals", dest="folder", help=words, type=Path)
    return main_parser


def add_options(to: argparse.ArgumentParser, options: list) -> None:
    """Add options to a parser; of a list among them exactly one must be typed."""
    for given in options:
        if isinstance(given, list):
            add_options(to.add_mutually_exclusive_group(required=True), given)
        else:
            name, how = given
            to.add_argument(name, **how)


# What ends a command.

CANNOT = 2  # of compare: nothing was measured
INTERRUPTED, CLOSED = 130, 141  # what a shell says of a program that SIGINT or SIGPIPE ended
JUNIT_ERROR = (
    '<testsuite name="retrieval-baseline" tests="1" failures="0" errors="1" skipped="0">'
    '<testcase classname="compare" name="compare"><error>{}</error></testcase></testsuite>\n'
)


def failure(error: BaseException) -> int:
    """Say why a command ended, and return its exit status."""
    try:
        sys.stdout.flush()
    except OSError as full:
        error = full  # or Python tries once more, and complains, at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return CLOSED  # the reader has seen enough
    if isinstance(error, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    if sys.argv[1:2] == ["compare"]:
        print(f"cannot compare: {in_words(error)}", file=sys.stderr)
        return CANNOT
    print(in_words(error), file=sys.stderr)
    return 1


def _write_junit_error(path: Path, words: str) -> None:
    """Write that nothing could be compared, for tools that read nothing else; the file may fail.

    This wants no package: one may be what is missing.
    """
    shown = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in words)
    page = JUNIT_ERROR.format(html.escape("".join(shown)))
    try:
        try:
            from .measure import files

            files.write(path, page)
        except ImportError:
            path.write_bytes(page.encode())
    except OSError as error:
        if in_words(error) != words:  # else that is told already
            print(in_words(error), file=sys.stderr)


def in_words(error: Exception) -> str:
    """Return what is wrong with input or machine and what to do, or a traceback of our bug."""
    if isinstance(error, ModuleNotFoundError) and error.name.partition(".")[0] != __package__:
        missing = f"the package {error.name} is missing in {sys.executable}"
        return f"{missing}: {installation.remedy(error.name)}"
    if isinstance(error, OSError):
        words = [str(part) for part in (error.filename, error.strerror) if part]
        return ": ".join(words) or str(error)
    from .measure.files import EvalSetError
    from .measure.text import how_many

    if type(error).__name__ == "LearnError":  # of a room that an installation lacks
        return str(error)
    if isinstance(error, EvalSetError):
        return f"{error}\n{how_many(error.count, 'problem')}"
    lines = "".join(traceback.format_exception(error))
    whose = "the workbook" if installation.IN_CHECKOUT else installation.PROGRAM
    return f"{lines}This is a mistake of {whose}: report it with the lines above"


if __name__ == "__main__":
    sys.exit(main())
