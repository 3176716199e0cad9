"""Ask of an evaluation-set folder what a careful reader would ask: pass, warn, fail or n/a."""

import textwrap
from collections import Counter
from itertools import zip_longest

from ..measure import evalset, files, links, reading, results, runs
from ..measure.installation import command
from ..measure.text import how_many
from . import checks, pooling
from .checks import Finding

EXTRAS = ("pool.jsonl", "second_pass.jsonl", "judge.jsonl", "negatives.jsonl", "to_read.jsonl")
LEFT_OUT = {  # check: why an imported set cannot have it, and the file that brings it all the same
    "kinds": ("The source sets the kinds of its queries.", ""),
    "head and tail": ("The source does not say which needs are frequent.", ""),
    "coverage": ("The source chose its documents and queries.", ""),
    "easy queries": ("The source chose its queries.", ""),
    "labels per query": ("The source sets its grades and how many answers a query has.", ""),
    "evidence": ("The source has no more quotes.", ""),
    "labelling guide": ("The rules of the source's makers hold.", "labeling_guide.md"),
    "second pass": ("The source has one reading of its labels.", "second_pass.jsonl"),
    "negatives": (f"The source has none; {command('freeze')} draws some.", "negatives.jsonl"),
}
THEIRS = ("overlap", "same query", "judged depth", "quotes", "near-duplicates", "leakage")
NOT_YOURS = "It is so in the source; mended, scores compare no longer with published ones."
WIDTHS = (6, 16, 38, 34)  # columns of the table: status, check, found, remedy


def folder_findings(evals: evalset.EvalSet) -> list[Finding]:
    """Return the findings of a set, of what waits to be read in it and of its baseline.

    Raises as `findings`.
    """
    found = findings(evals)
    if waiting := reading.waiting(evals):
        told = f"{how_many(len(waiting), 'pair')} in {reading.TO_READ}"
        found.append(Finding("to read", "warn", told, f"{command('lab')} opens them."))
    return [*found, check_baseline(evals)]


def findings(evals: evalset.EvalSet) -> list[Finding]:
    """Run every check on a set, in a fixed order.

    Raises evalset.EvalSetError where a file cannot be read, with what is wrong with all of them.
    """
    files.refuse(unreadable(evals))
    extra = [evalset.read_extra(evals, name) for name in ("negatives.jsonl", "second_pass.jsonl")]
    case = checks.AuditCase(evals, *extra, *links.alike_documents(evals), pooling.by_ranker(evals))
    found = [check(case) for check in checks.AUDIT_CHECKS]
    return [_for_import(evals, finding) for finding in found] if evals.imported else found


def _for_import(evals: evalset.EvalSet, finding: Finding) -> Finding:
    """Return what a finding is on a set that is imported with its labels.

    What the makers left out is not applicable. What they got wrong is a warning and no failure:
    who mends it has another collection.
    """
    reason, file = LEFT_OUT.get(finding.check, ("", ""))
    if reason and finding.status != "pass" and not (file and (evals.folder / file).exists()):
        return finding._replace(status="n/a", remedy=reason)
    if finding.status in ("fail", "warn") and finding.check in THEIRS:
        return finding._replace(status="warn", remedy=f"{finding.remedy} {NOT_YOURS}")
    return finding


def check_baseline(evals: evalset.EvalSet) -> Finding:
    """Fail where the saved run is not the one of results.json, or is of another set."""
    if not (evals.folder / "results.json").exists():
        reason = f"Nothing is measured yet: {command('report')} measures the baseline."
        return Finding("baseline", "n/a", "no results.json", reason)
    content = results.read_results(evals.folder)
    other = results.changed_inputs(evals, content)
    newer = sorted(evals.settled_queries.keys() - results.measured_queries(evals, content))
    if newer and not other:
        found = f"results.json is older than {how_many(len(newer), 'query')}"
        remedy = f"Measure the baseline anew ({command('report')}) with {runs.first_names(newer)}."
        return Finding("baseline", "warn", found, remedy)
    if not other:
        return Finding("baseline", "pass", "results.json measured the saved run", "")
    remedy = f"Restore what was measured, or measure it anew ({command('report')})."
    return Finding("baseline", "fail", f"measured on {', '.join(other)}", remedy)


def unreadable(evals: evalset.EvalSet, names: tuple[str, ...] = EXTRAS) -> list[str]:
    """Return what is wrong with the files of `names`, which people wrote beside a set."""
    problems = []
    for name in names:
        try:
            evalset.read_extra(evals, name)
        except evalset.EvalSetError as error:
            problems += error.problems
    return problems


def as_table(findings: list[Finding]) -> str:
    """Return the findings as a plain-text table of at most 100 columns, counts in its last line."""
    lines, rows = [], [(f.status, f.check, f.found, f.remedy) for f in findings]
    for row in [("status", "check", "found", "remedy"), ["-" * n for n in WIDTHS], *rows]:
        cells = zip(row, WIDTHS, strict=True)
        wrapped = [textwrap.wrap(*cell, break_on_hyphens=False) for cell in cells]
        for parts in zip_longest(*wrapped, fillvalue=""):
            lines.append("  ".join(map("{:{}}".format, parts, WIDTHS)).rstrip())
    counts = Counter(finding.status for finding in findings)
    warned = how_many(counts["warn"], "warning")
    total = f"{counts['pass']} passed, {warned}, {counts['fail']} failed"
    total += f", {counts['n/a']} not applicable" if counts["n/a"] else ""
    return "\n".join([*lines, "", total])
