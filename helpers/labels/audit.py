"""Ask of an evaluation-set folder what a careful reader would ask: pass, warn or fail, and why."""

import textwrap
from collections import Counter
from itertools import zip_longest

from .. import evalset
from . import checks, links

WIDTHS = (6, 16, 38, 34)  # columns of the table: status, check, found, remedy


def findings(evals: evalset.EvalSet) -> list[checks.Finding]:
    """Run every check on a set, in a fixed order.

    Raises evalset.EvalSetError where one of its optional files cannot be read.
    """
    extra, problems = [], []
    for name in ("negatives.jsonl", "second_pass.jsonl"):
        try:
            extra.append(evalset.read_extra(evals, name))
        except evalset.EvalSetError as error:
            problems += error.problems
    if problems:
        raise evalset.EvalSetError(problems)
    case = checks.AuditCase(evals, *extra, *links.alike_documents(evals))
    return [check(case) for check in checks.AUDIT_CHECKS]


def as_table(found: list[checks.Finding]) -> str:
    """Return the findings as a plain-text table of at most 100 columns, counts in its last line."""
    rows = [("status", "check", "found", "remedy"), tuple("-" * width for width in WIDTHS)]
    rows += [(f.status, f.check, f.found, f.remedy) for f in found]
    counts = Counter(finding.status for finding in found)
    warned = checks.how_many(counts["warn"], "warning")
    total = f"{counts['pass']} passed, {warned}, {counts['fail']} failed"
    return "\n".join([*(line for row in rows for line in _wrapped_row(row)), "", total])


def _wrapped_row(row: tuple[str, ...]) -> list[str]:
    cells = [
        textwrap.wrap(cell, width, break_on_hyphens=False)
        for cell, width in zip(row, WIDTHS, strict=True)
    ]
    return [
        "  ".join(f"{part:{width}}" for part, width in zip(parts, WIDTHS, strict=True)).rstrip()
        for parts in zip_longest(*cells, fillvalue="")
    ]
