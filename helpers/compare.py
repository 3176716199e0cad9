"""Hold runs of any engine against the saved baseline: values, certainty, a verdict, a gate."""

import json
import sys
from pathlib import Path

import pandas as pd

from . import evalset, measures, records, runs, stats

MEASURES = ("nDCG@10", "RR@10", "hit@5", "recall@10", "recall@100", "AP")
PRIMARY = MEASURES[0]  # the verdict rests on it; the others are described
MOVED = 5  # queries shown on each side
LITTLE_JUDGED = 0.5  # share of the first ten under which a score says little
JUDGED_GAP = 0.1  # from which difference in judged@10 a comparison is doubtful
CANNOT, STRICT = 2, 3


class CannotCompare(ValueError):
    """The reason why two runs may not be held against each other."""


def compare(
    evals: evalset.EvalSet,
    base: runs.Run,
    others: list[runs.Run],
    split: str | None = "dev",
    matters: float = stats.MATTERS,
) -> dict:
    """Return what is known about each of `others` against `base` on the queries of one half.

    `split` None takes all queries. p values of the primary measure are adjusted over the runs
    (`p_holm`), those of the other measures over the measures of a run. Raises CannotCompare
    where no query is left.
    """
    qrels = {q: row for q, row in evals.qrels(split).items() if any(row.values())}
    if not qrels:
        raise CannotCompare(f"no {split or ''} query of {evals.name} has a relevant document")
    before = measures.per_query(qrels, base.rankings, MEASURES)
    rows = [_row(evals, qrels, base, before, other) for other in others]
    for row, p in zip(rows, stats.holm([r["measures"][PRIMARY]["p"] for r in rows]), strict=True):
        row["p_holm"] = p
        primary = stats.Paired(**{k: row["measures"][PRIMARY][k] for k in stats.Paired._fields})
        row["verdict"], row["reason"] = stats.verdict(primary, p, matters)
    return {
        "evaluation_set": evals.name,
        "corpus_sha256": evals.corpus_hash(),
        "queries_sha256": evals.queries_hash(),
        "split": split or "all",
        "n": len(qrels),
        "matters": matters,
        "base": {"name": base.name, **_described(base, qrels, before)},
        "runs": rows,
    }


def _described(run: runs.Run, qrels: measures.Qrels, values: dict) -> dict:
    """Return the mean of each measure, judged@10 and the warnings of one run."""
    judged, warnings = measures.judged_at(qrels, run.rankings), list(run.warnings)
    missing = [q for q in qrels if not run.rankings.get(q)]
    if missing:
        some = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        warnings.append(f"{len(missing)} queries have no results and count as 0: {some}")
    if judged < LITTLE_JUDGED:
        warnings.append(f"only {judged:.0%} of its first ten are judged; the rest counts as wrong")
    return {"means": measures.means(values), "judged@10": judged, "warnings": warnings}


def _row(evals, qrels, base: runs.Run, before: dict, run: runs.Run) -> dict:
    """Return everything about one run against the base."""
    after = measures.per_query(qrels, run.rankings, MEASURES)
    row = {"name": run.name, **_described(run, qrels, after), "measures": {}}
    for name in MEASURES:
        pairs = ([values[q][name] for q in qrels] for values in (before, after))
        row["measures"][name] = stats.paired(*pairs)._asdict()
    adjusted = stats.holm([row["measures"][name]["p"] for name in MEASURES])
    for name, p in zip(MEASURES, adjusted, strict=True):
        row["measures"][name]["p_holm"] = p
    row["by_kind"] = _by_kind(evals, before, after)
    row["moved"] = _moved(evals, before, after)
    gap = row["judged@10"] - measures.judged_at(qrels, base.rankings)
    if abs(gap) > JUDGED_GAP:
        worse = run.name if gap < 0 else base.name
        row["warnings"].append(
            f"judged@10 differs by {abs(gap):.2f}: what {worse} found and nobody judged counts "
            "as wrong, so judge it before you believe the difference"
        )
    return row


def _by_kind(evals, before: dict, after: dict) -> dict:
    """Return n and both means of the primary measure for each kind, without p: n is small."""
    found = {}
    for kind in sorted({evals.queries[q].kind for q in before}):
        ids = [q for q in before if evals.queries[q].kind == kind]
        base, run = (sum(v[q][PRIMARY] for q in ids) / len(ids) for v in (before, after))
        found[kind] = {"n": len(ids), "base": base, "run": run, "difference": run - base}
    return found


def _moved(evals, before: dict, after: dict) -> list[dict]:
    """Return the queries that lost and won most in the primary measure, losses first."""
    changes = sorted((after[q][PRIMARY] - before[q][PRIMARY], q) for q in before)
    lost = [(d, q) for d, q in changes if d < -stats.TIE][:MOVED]
    won = [(d, q) for d, q in changes if d > stats.TIE][-MOVED:]
    return [
        {
            "query_id": q,
            "kind": evals.queries[q].kind,
            "query": evals.queries[q].query,
            "base": before[q][PRIMARY],
            "run": after[q][PRIMARY],
        }
        for _, q in lost + won
    ]


# Reading: the saved baseline, and what a run says about itself.


def saved_baseline(evals: evalset.EvalSet) -> runs.Run:
    """Return the baseline run of the folder.

    Raises CannotCompare where it is missing or was made on other documents, queries or labels.
    """
    results = evals.folder / "results.json"
    path = evals.folder / "runs" / f"{runs.BASELINE['chunker']}.trec"
    if not (results.exists() and path.exists()):
        raise CannotCompare(f"{evals.folder} has no baseline yet, run make report on it first")
    saved = json.loads(results.read_text(encoding="utf-8"))
    again = f"make report EVALS={evals.folder} measures the baseline anew"
    corpus, asked = saved["corpus"]["sha256"], saved["queries"]["sha256"]
    _same_hash(results, corpus, evals.corpus_hash(), "another corpus", again)
    _same_hash(results, asked, evals.queries_hash(), "other queries and labels", again)
    return runs.read_run(path, evals)._replace(name="baseline")


def _same_hash(
    path: Path, found: str, wanted: str, what: str, remedy: str = "make the run again"
) -> None:
    if found != wanted:
        raise CannotCompare(
            f"{path}: made on {what} ({found[:12]}, the folder has {wanted[:12]}): "
            f"{remedy}, or check out the folder that it was made on"
        )


def read_checked(path: Path, evals: evalset.EvalSet) -> runs.Run:
    """Read a run; a JSON file of the same name beside it says on which corpus it was made.

    Raises EvalSetError for bad lines or a bad card, CannotCompare where corpus or queries differ.
    """
    run, card = runs.read_run(path, evals), path.with_suffix(".json")
    if card.exists():
        said = runs.read_card(card)
        _same_hash(card, said["corpus_sha256"], evals.corpus_hash(), "another corpus")
        _same_hash(card, said["topics_sha256"], evals.topics_hash(), "another query set")
    return run


def systems(evals: evalset.EvalSet) -> list[runs.Run]:
    """Return the runs in the folder's `systems/`, by name: what other engines found."""
    paths = sorted((evals.folder / "systems").glob("*.trec"))
    return [read_checked(path, evals) for path in paths]


# Writing: one dictionary, two forms.


def board(found: dict) -> pd.DataFrame:
    """Return the leaderboard as text, a row for each run; the base has no difference."""
    base = found["base"]
    rows = [
        {
            "run": base["name"],
            PRIMARY: base["means"][PRIMARY],
            "judged@10": base["judged@10"],
            "verdict": "the baseline",
        }
    ]
    for row in sorted(found["runs"], key=lambda r: (-r["measures"][PRIMARY]["run"], r["name"])):
        at = row["measures"][PRIMARY]
        line = {"run": row["name"], PRIMARY: at["run"], "difference": at["difference"]}
        line |= {"95 % interval": _interval(at), "p": at["p"], "p (Holm)": row["p_holm"]}
        line |= {"detectable": at["detectable"], "wins/ties/losses": _counts(at)}
        rows.append(line | {"judged@10": row["judged@10"], "verdict": row["verdict"]})
    names = ["run", PRIMARY, *list(rows[-1])[2:]]
    return _texts(pd.DataFrame(rows, columns=names)).set_index("run")


def comparison_page(found: dict) -> str:
    """Return the comparison as a page of Markdown."""
    parts = [
        f"# {', '.join(row['name'] for row in found['runs'])} against {found['base']['name']}",
        f"{found['evaluation_set']}, {found['split']} queries, n = {found['n']}. "
        f"Corpus {found['corpus_sha256'][:12]}, queries {found['queries_sha256'][:12]}. "
        "Differences are run minus base, with the 95 % t interval; p from the sign-flip test. "
        f"The verdict rests on {PRIMARY}.",
    ]
    if len(found["runs"]) > 1:
        parts.append(_table(board(found).reset_index()))
    parts += [_run_page(row, found) for row in found["runs"]]
    return "\n\n".join(parts) + "\n"


def _run_page(row: dict, found: dict) -> str:
    """Return what is known about one run."""
    base, at = found["base"], row["measures"][PRIMARY]
    warnings = [(base["name"], w) for w in base["warnings"]]
    warnings += [(row["name"], w) for w in row["warnings"]]
    by_kind = [{"kind": kind, **values} for kind, values in row["by_kind"].items()]
    parts = [
        f"## {row['name']}: {row['verdict']}",
        f"{row['reason']}. Wins/ties/losses: {_counts(at)}. "
        f"judged@10: base {base['judged@10']:.2f}, run {row['judged@10']:.2f}.",
        "\n".join(f"- Warning ({name}): {words}" for name, words in warnings),
        _table(pd.DataFrame(map(_measure_row, row["measures"].items()))),
        f"p (Holm) is adjusted for the measures of this table; the verdict rests on {PRIMARY}, "
        "adjusted for the runs.",
        f"By kind, {PRIMARY}:\n\n" + _table(pd.DataFrame(by_kind)),
    ]
    if found["split"] == "dev":
        columns = ["query_id", "kind", "base", "run", "query"]
        moved = pd.DataFrame(row["moved"], columns=columns)
        moved["query"] = [" ".join(q.split()).replace("|", "\\|") for q in moved["query"]]
        parts.append("Moved most:\n\n" + _table(moved))
    return "\n\n".join(part for part in parts if part)


def _measure_row(pair: tuple[str, dict]) -> dict:
    name, at = pair
    row = {"measure": measures.MEAN_NAMES.get(name, name)}
    row |= {key: at[key] for key in ("base", "run", "difference")}
    row |= {"95 % interval": _interval(at), "p": at["p"], "p (Holm)": at["p_holm"]}
    return row | {"p (t)": at["t_p"], "detectable": at["detectable"]}


def _interval(at: dict) -> str:
    return "" if at["low"] is None else f"{at['low']:+.3f} to {at['high']:+.3f}"


def _counts(at: dict) -> str:
    return f"{at['wins']}/{at['ties']}/{at['losses']}"


FORMATS = {"difference": "+.3f", "judged@10": ".2f", "n": ".0f"}
FORMATS |= dict.fromkeys(("p", "p (Holm)", "p (t)"), ".4f")


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its numbers as texts by FORMATS, else with three decimals."""

    def text(value, name: str) -> str:
        if isinstance(value, str):
            return value
        return "" if pd.isna(value) else format(value, FORMATS.get(name, ".3f"))

    return pd.DataFrame({name: [text(v, name) for v in frame[name]] for name in frame.columns})


def _table(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table with aligned columns."""
    rows = [list(frame.columns), *_texts(frame).to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"
        for cells in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


# The command.


def command(
    evals: evalset.EvalSet,
    paths: list[Path],
    base: Path | None = None,
    split: str = "dev",
    matters: float = stats.MATTERS,
    strict: bool = False,
    to: Path | None = None,
) -> int:
    """Compare, print and write NAME.md and NAME.json; return the gate's exit status.

    0 no run is shown to be worse, 1 one is, 2 they cannot be compared, 3 (strict) there are too
    few queries to tell.
    """
    try:
        against = read_checked(base, evals) if base else saved_baseline(evals)
        others = [read_checked(path, evals) for path in paths]
        found = compare(evals, against, others, None if split == "all" else split, matters)
    except (CannotCompare, evalset.EvalSetError) as error:
        print(_first_lines(str(error)), file=sys.stderr)
        return CANNOT
    name = "+".join(run.name for run in others)
    name += "" if split == "dev" else f"-{split}"  # beside the report on dev, not over it
    folder = to or evals.folder / "comparisons"
    page = comparison_page(found)
    records.write(folder / f"{name}.md", page)
    records.write(folder / f"{name}.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print(f"{page}\nwritten: {folder / name}.md and .json")
    return status(found, strict)


def _first_lines(text: str, most: int = 20) -> str:
    """Return the first lines of `text` and how many more there are."""
    lines = text.split("\n")
    more = [f"... and {len(lines) - most} more"] if len(lines) > most else []
    return "\n".join([*lines[:most], *more])


def status(found: dict, strict: bool) -> int:
    """Return the exit status for the verdicts: the gate closes where a run is shown worse."""
    verdicts = {row["verdict"] for row in found["runs"]}
    if stats.WORSE in verdicts:
        return 1
    return STRICT if strict and stats.TOO_FEW in verdicts else 0
