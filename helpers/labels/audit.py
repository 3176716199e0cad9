"""Ask of an evaluation-set folder what a careful reader would ask: pass, warn, fail or n/a."""

import functools
import textwrap
from collections import Counter
from itertools import zip_longest

from .. import evalset, results
from . import checks, links, vouched

LEFT_OUT = {  # check: why an imported set cannot have it, and the file that brings it all the same
    "kinds": ("The source sets the kinds of its queries.", ""),
    "head and tail": ("The source does not say which needs are frequent.", ""),
    "coverage": ("The source chose its documents and queries.", ""),
    "labels per query": ("The source sets its grades and how many answers a query has.", ""),
    "evidence": ("The source has no more quotes.", ""),
    "labelling guide": ("The rules of the source's makers hold.", "labeling_guide.md"),
    "second pass": ("The source has one reading of its labels.", "second_pass.jsonl"),
    "negatives": ("The source has none; make freeze draws some.", "negatives.jsonl"),
}
NOT_YOURS = "It is so in the source; mended, scores compare no longer with published ones."
THEIRS = dict.fromkeys(("overlap", "same query", "judged depth", "near-duplicates"), NOT_YOURS) | {
    "leakage": "Else the source's own halves leak, or no halves can part these queries."
}
WIDTHS = (6, 16, 38, 34)  # columns of the table: status, check, found, remedy


def findings(evals: evalset.EvalSet) -> list[checks.Finding]:
    """Run every check on a set, in a fixed order.

    Raises evalset.EvalSetError where one of its optional files cannot be read.
    """
    extra, problems = [], []
    for name in ("negatives.jsonl", "second_pass.jsonl", "pool.jsonl"):
        try:
            extra.append(evalset.read_extra(evals, name))
        except evalset.EvalSetError as error:
            problems += error.problems
    if problems:
        raise evalset.EvalSetError(problems)
    case = checks.AuditCase(evals, *extra[:2], *links.alike_documents(evals))
    found = [check(case) for check in checks.AUDIT_CHECKS]
    return [_of_import(evals, finding) for finding in found] if evals.imported else found


def of_folder(evals: evalset.EvalSet) -> list[checks.Finding]:
    """Return the findings of a set and of what the sessions made of it.

    Raises evalset.EvalSetError where one of all these files cannot be read.
    """
    problems = vouched.unreadable(evals)
    if problems:
        raise evalset.EvalSetError(problems)
    return [*findings(evals), check_baseline(evals)]


def check_baseline(evals: evalset.EvalSet) -> checks.Finding:
    """Fail where the saved run is not the one of results.json, or is of another set."""
    if not (evals.folder / "results.json").exists():
        reason = "No report has run: make report measures the baseline."
        return checks.Finding("baseline", "n/a", "no results.json", reason)
    other = results.changed(evals, results.read_results(evals.folder))
    if not other:
        return checks.Finding("baseline", "pass", "results.json measured the saved run", "")
    remedy = "Restore what was measured, or measure it anew (make report)."
    return checks.Finding("baseline", "fail", f"measured on {', '.join(other)}", remedy)


def _of_import(evals: evalset.EvalSet, finding: checks.Finding) -> checks.Finding:
    """Return what a finding is on a set that was imported with its labels.

    What the makers left out is not applicable. What they got wrong is a warning and no failure:
    who mends it has another collection.
    """
    reason, file = LEFT_OUT.get(finding.check, ("", ""))
    if finding.status == "pass" or (file and (evals.folder / file).exists()):
        return finding
    if reason:
        return finding._replace(status="n/a", remedy=reason)
    if finding.status == "fail" and finding.check in THEIRS:
        return finding._replace(status="warn", remedy=f"{finding.remedy} {THEIRS[finding.check]}")
    return finding


def as_table(found: list[checks.Finding]) -> str:
    """Return the findings as a plain-text table of at most 100 columns, counts in its last line."""
    rows = [("status", "check", "found", "remedy"), tuple("-" * width for width in WIDTHS)]
    rows += [(f.status, f.check, f.found, f.remedy) for f in found]
    counts = Counter(finding.status for finding in found)
    warned = checks.how_many(counts["warn"], "warning")
    total = f"{counts['pass']} passed, {warned}, {counts['fail']} failed"
    total += f", {counts['n/a']} not applicable" if counts["n/a"] else ""
    return "\n".join([*(line for row in rows for line in _wrapped_row(row)), "", total])


def _wrapped_row(row: tuple[str, ...]) -> list[str]:
    wrap = functools.partial(textwrap.wrap, break_on_hyphens=False)
    lines = zip_longest(*map(wrap, row, WIDTHS), fillvalue="")
    return ["  ".join(map("{:{}}".format, parts, WIDTHS)).rstrip() for parts in lines]
