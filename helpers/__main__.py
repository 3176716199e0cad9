"""python -m helpers report | check | refresh: the Makefile's commands, for any environment."""

import argparse
import sys
from pathlib import Path

from . import evalset, workbook

COMMANDS = {
    "report": workbook.report_command,
    "check": workbook.check_command,
    "refresh": workbook.refresh_command,
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
    options = parser.parse_args()
    folder = options.evals.resolve()
    if options.command == "refresh" and folder != evalset.DEFAULT:
        parser.error(
            "refresh writes into the workbook itself and takes its own evals/ only; "
            "for another folder use report"
        )
    try:
        evalset.load(folder)
    except evalset.EvalSetError as error:
        print(
            f"{error}\n{len(error.problems)} problem(s) in {folder}; nothing was written",
            file=sys.stderr,
        )
        return 1
    return COMMANDS[options.command](folder)


if __name__ == "__main__":
    sys.exit(main())
