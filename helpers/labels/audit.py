"""Ask of an evaluation-set folder what a careful reader would ask: pass, warn, fail or n/a."""

import os
import textwrap
from collections import Counter
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

from .. import chunks, compare, evalset, results, runs
from ..text import how_many
from . import checks, links

EXTRAS = ("pool.jsonl", "second_pass.jsonl", "negatives.jsonl")
DERIVED = ("runs/*.json", "runs/*.trec", "runs/*.jsonl", "chunks/*.jsonl")
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


def of_folder(evals: evalset.EvalSet) -> list[checks.Finding]:
    """Return the findings of a set and of what the sessions made of it; raises as `findings`."""
    return [*findings(evals), check_baseline(evals)]


def findings(evals: evalset.EvalSet) -> list[checks.Finding]:
    """Run every check on a set, in a fixed order.

    Raises evalset.EvalSetError where a file cannot be read, with what is wrong with all of them.
    """
    problems = unreadable(evals)
    if problems:
        raise evalset.EvalSetError(problems)
    extra = [evalset.read_extra(evals, name) for name in ("negatives.jsonl", "second_pass.jsonl")]
    case = checks.AuditCase(evals, *extra, *links.alike_documents(evals))
    return [_of_import(evals, check(case)) for check in checks.AUDIT_CHECKS]


def _of_import(evals: evalset.EvalSet, finding: checks.Finding) -> checks.Finding:
    """Return what a finding is on this set, which may be imported with its labels.

    What the makers left out is not applicable. What they got wrong is a warning and no failure:
    who mends it has another collection.
    """
    reason, file = LEFT_OUT.get(finding.check, ("", ""))
    added = file and (evals.folder / file).exists()
    if not evals.imported or finding.status == "pass" or added:
        return finding
    if reason:
        return finding._replace(status="n/a", remedy=reason)
    if finding.status == "fail" and finding.check in THEIRS:
        return finding._replace(status="warn", remedy=f"{finding.remedy} {THEIRS[finding.check]}")
    return finding


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


# What audit and freeze vouch for is read first, by the readers of the sessions and the gate.


def unreadable(evals: evalset.EvalSet, names: tuple[str, ...] = EXTRAS) -> list[str]:
    """Return what is wrong with the files beside a set: those of `names`, and what sessions wrote.

    Chunks and runs of another corpus or other queries wait for make report and are not read.
    """
    folder, hashes = evals.folder, (evals.corpus_hash(), evals.topics_hash())
    labels = [line for name in names for line in _problems(evalset.read_extra, evals, name)]
    made = []
    for path in (path for pattern in DERIVED for path in sorted(folder.glob(pattern))):
        made += _problems(_read_derived, path, evals, hashes)
    if os.path.lexists(folder / "results.json"):
        made += _problems(results.read_results, folder)
    if made:
        made.append(f"make report EVALS={folder} writes chunks, runs and results.json anew")
    return [*labels, *dict.fromkeys(made)]


def _problems(read: Callable, *given) -> list[str]:
    try:
        read(*given)
    except evalset.EvalSetError as error:
        return error.problems
    return []


def _read_derived(path: Path, evals: evalset.EvalSet, hashes: tuple[str, str]) -> None:
    """Read a card, and run or chunks unless their card says that they are of something else."""
    card = evals.folder / "runs" / f"{path.stem}.json"
    if os.path.lexists(card):
        content = runs.read_card(card)
        if path == card or tuple(content[name] for name in runs.CARD) != hashes:
            return
    if path.parent.name == "chunks":
        chunks.read_chunks(path, evals.documents)
    else:
        compare.read_checked(path, evals)


def as_table(findings: list[checks.Finding]) -> str:
    """Return the findings as a plain-text table of at most 100 columns, counts in its last line."""
    rows = [("status", "check", "found", "remedy"), ["-" * width for width in WIDTHS]]
    rows += [(f.status, f.check, f.found, f.remedy) for f in findings]
    lines = []
    for row in rows:
        cells = zip(row, WIDTHS, strict=True)
        wrapped = [textwrap.wrap(*cell, break_on_hyphens=False) for cell in cells]
        for parts in zip_longest(*wrapped, fillvalue=""):
            lines.append("  ".join(map("{:{}}".format, parts, WIDTHS)).rstrip())
    counts = Counter(finding.status for finding in findings)
    warned = how_many(counts["warn"], "warning")
    total = f"{counts['pass']} passed, {warned}, {counts['fail']} failed"
    total += f", {counts['n/a']} not applicable" if counts["n/a"] else ""
    return "\n".join([*lines, "", total])
