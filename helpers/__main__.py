"""python -m helpers COMMAND: the Makefile's commands, for any environment."""

import argparse
import sys
from pathlib import Path

from . import audit, compare, evalset, export, importers, learn, progress, stats, workbook


def refresh_command(options: argparse.Namespace) -> int:
    """Refresh the workbook's own folder; another one has no stored numbers."""
    if options.evals != evalset.DEFAULT:
        print(
            "refresh writes into the workbook itself and takes its own evals/ only; "
            "for another folder use report",
            file=sys.stderr,
        )
        return 2
    return workbook.refresh_command(options.evals)


def audit_command(options: argparse.Namespace) -> int:
    """Print what an audit finds; 1 if a check fails."""
    findings = audit.audit(options.evals)
    print(audit.table(findings))
    return int(any(finding.status == "fail" for finding in findings))


def export_command(options: argparse.Namespace) -> int:
    """Write the labels in other tools' forms and list the files."""
    for path in export.write(evalset.load(options.evals), options.to):
        print(path)
    return 0


def compare_command(options: argparse.Namespace) -> int:
    """Compare runs with the baseline or another run; the gate's exit status."""
    return compare.command(
        evalset.load(options.evals),
        options.runs,
        options.base,
        options.split,
        options.matters,
        options.strict,
        options.to,
    )


def import_command(options: argparse.Namespace) -> int:
    """Turn a source into an evaluation-set folder."""
    return importers.import_command(
        options.source,
        options.to,
        split=options.split,
        max_docs=options.max_docs,
        queries_language=options.queries_language,
    )


def learn_command(options: argparse.Namespace) -> int:
    """Write the learner copies that are missing and say what was done."""
    print("\n".join(learn.make(options.fresh)))
    return 0


def progress_command(options: argparse.Namespace) -> int:
    """Run the learner copies and print what is done, wrong and not started."""
    own = learn.LEARN / "evals"
    folder = own if options.evals == evalset.DEFAULT and own.exists() else options.evals
    print(progress.progress(folder))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser, a subparser for each command."""
    main_parser = argparse.ArgumentParser(
        prog="python -m helpers", description="Commands of the retrieval-baseline workbook."
    )
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, run, words: str, takes_set: bool = True) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=words, description=words)
        sub.set_defaults(run=run, evals=None)
        if not takes_set:
            sub.add_argument("--to", type=Path, required=True, help="folder to make")
            return sub
        folder_help = "evaluation-set folder (default: EVALS or evals/)"
        sub.add_argument("--evals", type=Path, default=evalset.folder(), help=folder_help)
        return sub

    add("report", lambda o: workbook.report_command(o.evals), "run everything, render the page")
    add("check", lambda o: workbook.check_command(o.evals), "execute the notebooks and compare")
    add("refresh", refresh_command, "execute the notebooks in place")
    words = "write copies of the sessions with stubs for solutions into learn/"
    sub = add("learn", learn_command, words)
    sub.add_argument("--fresh", action="store_true", help="move the old copies aside first")
    add("progress", progress_command, "run the copies: done, wrong, not started, what comes next")
    add("freeze", lambda o: workbook.freeze_command(o.evals), "draw negatives, write the manifest")
    add("audit", audit_command, "ask the set what a careful reader would")
    sub = add("export", export_command, "write the labels as CSV, Parquet, BEIR and TREC")
    sub.add_argument("--to", type=Path, required=True, help="folder to write into")
    words = "hold runs against the baseline: 0 not shown worse, 1 worse, 2 cannot compare"
    compare_options(add("compare", compare_command, words))
    words = "turn a source into an evaluation set"
    import_options(add("import", import_command, words, takes_set=False))
    new = "start an evaluation set: guide, two documents, three queries"
    add("new", lambda o: importers.new_command(o.to), new, takes_set=False)
    return main_parser


def compare_options(sub: argparse.ArgumentParser) -> None:
    """Add what compare takes."""
    sub.add_argument("runs", type=Path, nargs="+", help="TREC or JSONL runs of any engine")
    sub.add_argument("--base", type=Path, help="another run to compare with")
    sub.add_argument("--split", choices=[*evalset.SPLITS, "all"], default="dev")
    matters = "smallest difference in nDCG@10 that matters (default %(default)s)"
    sub.add_argument("--matters", type=float, default=stats.MATTERS, help=matters)
    sub.add_argument("--strict", action="store_true", help="3 where queries are too few to tell")
    sub.add_argument("--to", type=Path, help="folder for the report (default: comparisons/)")


def import_options(sub: argparse.ArgumentParser) -> None:
    """Add what import takes."""
    kinds = "KIND:PATH, a kind of: " + ", ".join(importers.READERS)
    sub.add_argument("--from", dest="source", required=True, help=kinds)
    sub.add_argument("--split", help="splits to read, such as test or dev,test")
    sub.add_argument("--max-docs", type=int, help="keep so many documents, all relevant ones first")
    sub.add_argument("--queries-language", help="mmarco: another language for the queries")


def main() -> int:
    """Run one command and return its exit status: 0 done, 1 failed or bad input."""
    options = parser().parse_args()
    options.evals = options.evals and options.evals.resolve()
    try:
        free = options.command in ("learn", "progress")  # they also serve a set in the making
        waits = options.evals and not free and evalset.load(options.evals).next_step()
        if waits:
            raise evalset.EvalSetError([waits])
        return options.run(options)
    except learn.LearnError as error:
        print(error, file=sys.stderr)
        return 1
    except evalset.EvalSetError as error:
        where = options.evals or getattr(options, "source", None) or options.to
        print(f"{error}\n{len(error.problems)} problem(s) in {where}", file=sys.stderr)
        return compare.CANNOT if options.command == "compare" else 1


if __name__ == "__main__":
    sys.exit(main())
