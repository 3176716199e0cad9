"""Ask of an evaluation-set folder what a careful reader would ask: pass, warn, fail or n/a."""

import textwrap
from collections import Counter
from itertools import zip_longest

from ..measure import evalset, files, links, reading, results, runs
from ..measure.evalset import EvalSet
from ..measure.installation import command
from ..measure.text import how_many
from . import checks, labellers, labelling, manifest, pooling
from .checks import Finding

EXTRAS = (*manifest.BY_PEOPLE, "negatives.jsonl", reading.TO_READ)
LEFT_OUT = {  # check: why an imported set cannot have it
    "kinds": "The source sets the kinds of its queries.",
    "head and tail": "The source does not say which needs are frequent.",
    "coverage": "The source chose its documents and queries.",
    "easy queries": "The source chose its queries.",
    "labels per query": "The source sets its grades and how many answers a query has.",
    "evidence": "The source has no more quotes.",
    "labelling guide": "The rules of the source's makers hold.",
    "second pass": "The source has one reading of its labels.",
    "negatives": f"The source has none; {command('freeze')} draws some.",
}
BROUGHT = {  # check: the file that people may add to such a set
    "labelling guide": "labeling_guide.md",
    "second pass": "second_pass.jsonl",
    "negatives": "negatives.jsonl",
}
THEIRS = ("overlap", "same query", "judged depth", "quotes", "near-duplicates", "leakage")
NOT_YOURS = "It is so in the source; mended, scores compare no longer with published ones."
WIDTHS = (6, 16, 38, 34)  # columns of the table: status, check, found, remedy


def folder_findings(evals: EvalSet) -> list[Finding]:
    """Return the findings of a set, of what waits to be read in it and of its baseline.

    Raises as `findings`.
    """
    found = findings(evals)
    if waiting := reading.waiting(evals):
        told = f"{how_many(waiting, 'pair')} in {reading.TO_READ}"
        found.append(Finding("to read", "warn", told, f"{command('lab')} opens them."))
    return [*found, check_baseline(evals)]


def findings(evals: EvalSet) -> list[Finding]:
    """Run every check on a set, in a fixed order.

    Raises evalset.EvalSetError where a file cannot be read, with what is wrong with all of them.
    """
    files.refuse(manifest.unreadable(evals, EXTRAS))
    negatives = evalset.read_extra(evals, "negatives.jsonl")
    second_pass = evalset.read_extra(evals, "second_pass.jsonl")
    alike, rankers = links.alike_documents(evals), pooling.by_ranker(evals)
    skipped = evalset.read_extra(evals, labelling.SKIPPED)
    case = checks.AuditCase(evals, negatives, second_pass, *alike, rankers, skipped)
    found = [check(case) for check in checks.AUDIT_CHECKS]
    if evals.imported:
        return [_for_import(evals, finding) for finding in found]
    return found


def _for_import(evals: EvalSet, finding: Finding) -> Finding:
    """Return what a finding is on a set that is imported with its labels.

    What the makers left out is not applicable. What they got wrong is a warning and no failure:
    who mends it has another collection.
    """
    reason, file = LEFT_OUT.get(finding.check), BROUGHT.get(finding.check)
    is_brought = file and (evals.folder / file).exists()
    if reason and not is_brought and finding.status != "pass":
        return finding._replace(status="n/a", remedy=reason)
    if finding.status in ("fail", "warn") and finding.check in THEIRS:
        return finding._replace(status="warn", remedy=f"{finding.remedy} {NOT_YOURS}")
    return finding


def check_baseline(evals: EvalSet) -> Finding:
    """Fail where the saved run is not the one of results.json, or is of another set."""
    if not (evals.folder / "results.json").exists():
        reason = f"Nothing is measured yet: {command('report')} measures the baseline."
        return Finding("baseline", "n/a", "no results.json", reason)
    content = results.read_results(evals.folder)
    other = results.changed_inputs(evals, content)
    newer = sorted(evals.settled_queries.keys() - results.measured_queries(evals, content))
    if other:
        remedy = f"Restore what was measured, or measure it anew ({command('report')})."
        return Finding("baseline", "fail", f"measured on {', '.join(other)}", remedy)
    if newer:
        found = f"results.json is older than {how_many(newer, 'query')}"
        remedy = f"Measure the baseline anew ({command('report')}) with {runs.first_names(newer)}."
        return Finding("baseline", "warn", found, remedy)
    return Finding("baseline", "pass", "results.json measured the saved run", "")


def audit_command(evals: evalset.EvalSet) -> int:
    """Print the findings on a set; return 1 where one fails."""
    findings = folder_findings(evals)
    print(as_table(findings))
    if page := labellers.labellers_page(evals):
        print(f"\n{page}")
    return int(any(finding.status == "fail" for finding in findings))


def as_table(findings: list[Finding]) -> str:
    """Return the findings as a plain-text table of at most 100 columns, counts in its last line."""
    rows = [("status", "check", "found", "remedy"), tuple("-" * width for width in WIDTHS)]
    rows += [(finding.status, finding.check, finding.found, finding.remedy) for finding in findings]
    lines = []
    for row in rows:
        cells = zip(row, WIDTHS, strict=True)
        wrapped = [textwrap.wrap(cell, width, break_on_hyphens=False) for cell, width in cells]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = [part.ljust(width) for part, width in zip(parts, WIDTHS, strict=True)]
            lines.append("  ".join(padded).rstrip())
    counts = Counter(finding.status for finding in findings)
    warned = how_many(counts["warn"], "warning")
    total = f"{counts['pass']} passed, {warned}, {counts['fail']} failed"
    if counts["n/a"]:
        total += f", {counts['n/a']} not applicable"
    return "\n".join([*lines, "", total])
