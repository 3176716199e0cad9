"""python -m helpers COMMAND: the Makefile's commands, for any environment."""

import argparse
import sys
from pathlib import Path

from . import audit, evalset, export, workbook


def audit_command(options: argparse.Namespace) -> int:
    """Print what an audit finds; 1 if a check fails."""
    findings = audit.audit(options.evals)
    print(audit.table(findings))
    return int(any(finding.status == "fail" for finding in findings))


def export_command(options: argparse.Namespace) -> int:
    """Write the labels in other tools' forms and list the files."""
    if not options.to:
        print("export needs a folder to write into: --to FOLDER", file=sys.stderr)
        return 1
    for path in export.write(evalset.load(options.evals), options.to):
        print(path)
    return 0


COMMANDS = {
    "report": lambda options: workbook.report_command(options.evals),
    "check": lambda options: workbook.check_command(options.evals),
    "refresh": lambda options: workbook.refresh_command(options.evals),
    "freeze": lambda options: workbook.freeze_command(options.evals),
    "audit": audit_command,
    "export": export_command,
}


def main() -> int:
    """Run one command and return its exit status: 0 done, 1 failed or bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m helpers", description="Commands of the retrieval-baseline workbook."
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument(
        "--evals",
        type=Path,
        default=evalset.folder(),
        help="evaluation-set folder (default: EVALS or evals/)",
    )
    parser.add_argument("--to", type=Path, help="folder that export writes into")
    options = parser.parse_args()
    options.evals = options.evals.resolve()
    if options.command == "refresh" and options.evals != evalset.DEFAULT:
        parser.error(
            "refresh writes into the workbook itself and takes its own evals/ only; "
            "for another folder use report"
        )
    try:
        evalset.load(options.evals)
        return COMMANDS[options.command](options)
    except evalset.EvalSetError as error:
        print(f"{error}\n{len(error.problems)} problem(s) in {options.evals}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
