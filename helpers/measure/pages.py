"""Show a comparison: its page and its numbers, a leaderboard, what JUnit reads."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from . import evalset, evidence, files, inert, measures, stats, verdicts
from .inert import interval, number
from .installation import TEMPLATES

PAGE = TEMPLATES / "compare.jinja"
BOARD = ["difference", "95 %, each by itself", "p", "p (Holm)", "detectable"]
BOARD += ["wins/ties/losses", "judged@10", "verdict"]
ENDED = {0: "system-out", 1: "failure", verdicts.STRICT: "skipped"}  # what JUnit calls a status


def write_comparison(path: Path, comparison: dict) -> None:
    """Write and print a comparison; at no moment a page stands beside the numbers of another."""
    markdown, page = comparison_page(comparison), Path(f"{path}.md")
    page.unlink(missing_ok=True)
    files.write_json(Path(f"{path}.json"), comparison)
    files.write(page, markdown)
    print(f"{inert.plain(markdown)}\nwritten: {path}.md and .json")


def comparison_page(comparison: dict) -> str:
    """Return the comparison as Markdown in which no text of the set acts."""
    decides = comparison["decides"]
    deciding = {verdicts.decided_by(row, decides) for row in comparison["runs"]}
    by_evidence = deciding & evidence.OF_EVIDENCE.keys()
    head = {"verdict": "verdict on documents" if by_evidence else "verdict"}
    page = inert.template(PAGE, mean=measures.mean_name, p=stats.p_text).render(
        comparison,
        decision=verdicts.decision,
        decided_by=verdicts.decided_by,
        sees_ten=measures.PRIMARY,
        of_documents=verdicts.of_documents(decides),
        left=evalset.left_out(**comparison.get("left_out", {"waiting": []})),
        board=leaderboard(comparison).reset_index().rename(columns=head),
        stats=stats,
        evidence=evidence,
    )
    return re.sub(r"(?:^\|.*\n)+", _aligned, f"{inert.paragraphs(page)}\n", flags=re.M)


def _aligned(table: re.Match) -> str:
    """Return a Markdown table with aligned columns and the line below its head."""
    rows = [[*map(str.strip, line.split("|")[1:-1])] for line in table[0].splitlines()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "".join(f"| {' | '.join(map(str.ljust, row, widths))} |\n" for row in rows)


def leaderboard(comparison: dict) -> pd.DataFrame:
    """Return the leaderboard as text, best run first; a short one names its measure beside it."""
    base = comparison["base"]
    name = verdicts.of_documents(comparison.get("decides", measures.PRIMARY))
    mean = base["means"][measures.mean_name(base["primary"])]
    first = [base["name"], number(mean), *[""] * 6, number(base["judged@10"], ".2f")]
    ranked = []
    for row in comparison["runs"]:
        mean = row["measures"][row["primary"]]["run"]
        ranked.append((-mean, _board_cells(row, name)))
    table = [[*first, "the baseline"], *(cells for _, cells in sorted(ranked))]
    return pd.DataFrame(table, columns=["run", name, *BOARD], dtype=object).set_index("run")


def _board_cells(row: dict, name: str) -> list[str]:
    """Return the leaderboard's cells of a run, beside the measure `name` of its head."""
    pair = row["measures"][row["primary"]]
    return [
        row["name"] if row["primary"] == name else f"{row['name']} ({row['primary']})",
        number(pair["run"]),
        number(pair["difference"], "+.3f"),
        interval((pair["low"], pair["high"]), "+.3f"),
        stats.p_text(pair["p"]),
        stats.p_text(row["p_holm"]),
        number(pair["detectable"]),
        f"{pair['wins']}/{pair['ties']}/{pair['losses']}",
        number(row["judged@10"], ".2f"),
        row["verdict"],
    ]


def as_junit(comparison: dict, statuses: list[int]) -> str:
    """Return JUnit XML with a test case for each run: failed at status 1, skipped at 3."""
    beside = f"against {comparison['base']['name']}, {comparison['evaluation_set']}"
    suite = ElementTree.Element("testsuite", name="retrieval-baseline", tests=str(len(statuses)))
    for counter, status in (("failures", 1), ("errors", 2), ("skipped", verdicts.STRICT)):
        suite.set(counter, str(statuses.count(status)))
    for row, status in zip(comparison["runs"], statuses, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname="compare")
        case.set("name", inert.visible(f"{row['name']} {beside}"))
        told = _in_one_line(row, comparison["decides"])
        ElementTree.SubElement(case, ENDED[status]).text = inert.visible(told)
    return ElementTree.tostring(suite, "utf-8").decode() + "\n"


def _in_one_line(row: dict, decides: str) -> str:
    """Return the verdict on a run by itself, both means, and queries newly without results."""
    pair, measure = row["decision"], verdicts.decided_by(row, decides)
    words = f"{row['name']}: {pair['alone']}, {measure} {pair['base']:.3f} to {pair['run']:.3f}"
    if row["new_failures"]:
        words += f"; newly without results: {', '.join(row['new_failures'])}"
    return words
