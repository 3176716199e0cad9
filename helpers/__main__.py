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
from typing import NoReturn

from .measure import installation


def file_to_write(word: str) -> Path:
    """Return the path of a file. Raises ArgumentTypeError for a folder, before anything is done."""
    path = Path(word)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder, wanted a file such as gate.xml")
    return path


SET, FOLDER, NONE = "a set whose labels are done", "a folder, maybe in the making", "no folder"
COMMANDS = {  # name: (what it needs, the function as room:name, words for --help)
    "report": (SET, "teach.workbook:report_command", "run everything, render the page"),
    "baseline": (
        SET,
        "measure.baseline:baseline_command",
        "search with BM25 and measure it",
    ),
    "check": (SET, "teach.workbook:check_command", "execute the notebooks and compare"),
    "refresh": (SET, "teach.workbook:refresh_command", "execute the notebooks in place"),
    "learn": (
        NONE,
        "teach.copies:learn_command",
        "write copies of the sessions, solutions left out",
    ),
    "progress": (NONE, "teach.progress:progress_report", "your copies: what is done, and next"),
    "freeze": (SET, "label.manifest:freeze_command", "draw negatives, write the manifest"),
    "audit": (SET, ":audit", "ask the set what a careful reader would"),
    "export": (SET, "label.export:write_exports", "write the labels as other tools read them"),
    "drop": (FOLDER, "label.merge:drop_query", "move a query and its rows out of the set"),
    "plan": (SET, "label.plan:plan_command", "what more labels would tell, pairs to read next"),
    "carry": (FOLDER, "label.carry:carry_command", "take labels over to changed documents"),
    "compare": (
        SET,
        "measure.compare:compare_command",
        "hold runs against a baseline",
    ),
    "card": (SET, "measure.systems:card_command", "write the card of a run: of which set it is"),
    "sql": (FOLDER, "measure.sql.command:sql_command", "BM25 in SQL on DuckDB, Sail or Spark"),
    "import": (NONE, "label.write:import_command", "turn a source into an evaluation set"),
    "site": (NONE, "teach.site:write_site", "build the course as pages into site/"),
    "new": (NONE, "label.write:new_command", "start a set: guide, two documents, three queries"),
}
OFFERED = [n for n in COMMANDS if installation.IN_CHECKOUT or n not in installation.COURSE]
KINDS = "markdown, text, code, hotpotqa, beir, trec, table, ir_datasets"
PATH, FLAG, RUNS = {"type": Path}, {"action": "store_true"}, {"nargs": "+", "metavar": "runs"}
FILE = {"type": file_to_write}
SOURCE = {"dest": "source", "required": True}
OPTIONS = [  # (of which commands, option, help, what argparse is told)
    ("carry export import new sql", "--to", "folder to write into", PATH | {"required": True}),
    ("report", "--full", "run the further notebooks too", FLAG),
    ("refresh", "--only", "notebooks to execute, such as 'session_b retrieval_eval'", {}),
    ("learn", "--fresh", "move the old copies aside first", FLAG),
    ("drop", "query_id", "id of the query", {"metavar": "query"}),
    ("card", "path", "a run, TREC or JSONL", PATH | {"metavar": "run"}),
    ("compare", "paths", "TREC or JSONL runs of any engine", PATH | RUNS),
    ("compare", "--base", "another run to compare with", PATH),
    ("compare", "--split", "queries that count", {"choices": ["dev", "test", "all"]}),
    ("compare", "--decides", "measure of the verdict, such as evidence-1000-tokens", {}),
    ("compare", "--matters", "smallest difference that matters", {"type": float}),
    ("compare", "--gate", "what ends with 1", {"choices": ["worse", "not-worse"]}),
    ("compare", "--strict", "3 where queries are too few to tell", FLAG),
    ("compare", "--no-new-failures", "1 where a query that had results has none", FLAG),
    ("compare", "--pairs", "list so many unjudged results to be read", {"type": int}),
    ("compare", "--junit", "JUnit file to write: how the gate ended, a test case a run", FILE),
    ("compare", "--to", "folder for the report (default: comparisons/)", PATH),
    ("carry", "--from", "KIND:PATH as in import, or a folder with a corpus", SOURCE),
    ("import", "--from", f"KIND:PATH, a kind of: {KINDS}", SOURCE),
    ("carry import", "--split", "splits to read, such as test or dev,test", {}),
    ("import", "--max-docs", "keep so many documents, all relevant ones first", {"type": int}),
    ("carry import", "--title", "field of a document that is its title", {}),
    ("carry import", "--text", "fields that are its text, such as question,body (Markdown)", {}),
    ("carry import", "--columns", "others' names of fields, such as doc_id=pid,query=question", {}),
    ("import", "--queries", "table: file or folder of queries; ir_datasets: their name", {}),
    ("import", "--labels", "table: file or folder of labels", {}),
    ("import", "--language", "of the texts, such as ja: chooses the tokenizer", {}),
    ("import", "--halve", "draw halves for dev and test, whatever splits it has", FLAG),
    ("sql", "--engine", "duckdb (default), sail, or sc://host:port of Spark Connect", {}),
    ("sql", "--docs", "Parquet with doc_id, text, maybe title; no address on DuckDB", {}),
    ("sql", "--queries", "Parquet with query_id, text", {}),
    ("sql", "--chunks", "a chunker of session B, such as fixed: not whole documents", {}),
    ("sql", "--idf", "okapi, as rank_bm25, is the default", {"choices": ["okapi", "lucene"]}),
    ("sql", "--k1", "how soon a word's count saturates", {"type": float}),
    ("sql", "--b", "how much length counts", {"type": float}),
]


def main() -> int:
    """Run one command and return its exit status: 0 done, 1 failed or bad input, 130 interrupted.

    Of compare 1 says worse, so there 2 stands for whatever failed. Nothing that is printed acts on
    a terminal.
    """
    options = vars(parser(next(iter(sys.argv[1:]), None)).parse_args())
    junit = options.get("junit")
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is half done is cleared
        from .measure.text import Screen

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
    needs, function, _ = COMMANDS[name]
    if needs != NONE:
        from .measure import evalset

        options["folder"] = options.get("folder", evalset.folder()).resolve()
    passed = dict(options)
    if needs == SET:
        evals = passed["evals"] = evalset.load(passed.pop("folder"))
        if step := evals.next_step():
            raise evalset.EvalSetError([f"{evals.folder}: {step}"])
        if evals.waiting and name != "compare":  # whose page says it
            print(evalset.left_out(evals.waiting))
    room, called = function.split(":")
    rooms = vars(importlib.import_module(f".{room}", __package__)) if room else globals()
    result = rooms[called](**passed)
    if isinstance(result, int):
        return result
    print(*(result if isinstance(result, list) else [result]), sep="\n")
    return 0


class Parser(argparse.ArgumentParser):
    """Of the command line: what compare cannot read there is an error in its JUnit file, too."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and end with 2."""
        if sys.argv[1:2] == ["compare"]:
            junit_alone = argparse.ArgumentParser(add_help=False)
            junit_alone.add_argument("--junit", type=Path, nargs="?")
            junit = junit_alone.parse_known_args()[0].junit
            if junit and junit.suffix == ".xml":  # another may be a run, its own value forgotten
                _write_junit_error(junit, message)
        super().error(message)


def parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the parser: all commands, and the options of the `chosen` one.

    What was not typed is not passed on: a default stands in the function that is called.
    """
    words = "Commands of the retrieval-baseline workbook."
    main_parser = Parser(prog=installation.PROGRAM, description=words)
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in OFFERED:
        needs, _, words = COMMANDS[name]
        texts = {"help": words, "description": words}
        sub = commands.add_parser(name, **texts, argument_default=argparse.SUPPRESS)
        for names, option, words, settings in OPTIONS if name == chosen else ():
            if name in names.split():
                sub.add_argument(option, help=words, **settings)
        if needs != NONE:
            words = "evaluation-set folder (default: EVALS or evals/)"
            sub.add_argument("--evals", dest="folder", help=words, type=Path)
    return main_parser


def audit(evals) -> int:
    """Print the findings on a set; return 1 where one fails."""
    from .label import audit

    findings = audit.folder_findings(evals)
    print(audit.as_table(findings))
    return int(any(finding.status == "fail" for finding in findings))


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
    of_compare = sys.argv[1:2] == ["compare"]
    print("cannot compare: " * of_compare + in_words(error), file=sys.stderr)
    return CANNOT if of_compare else 1


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
        return ": ".join(map(str, filter(None, (error.filename, error.strerror)))) or str(error)
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
