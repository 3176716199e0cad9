"""Hold runs of any engine against the saved baseline: values, certainty, a verdict, a gate."""

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from . import evalset, evidence, files, measures, results, runs, stats
from .text import how_many, inert

MEASURES = measures.MEASURES
PRIMARY = MEASURES[0]  # the verdict rests on it; the others are described
MOVED = 5  # queries shown on each side
FIELDS = ("kind", "popularity")  # of a query: means are told for each of their values
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

    `split` None takes all queries. Two runs are measured to the depth that both have, and each
    measure is named by it (recall@50). p values of the primary measure are adjusted over the runs
    (`p_holm`), those of the other measures over the measures of a run. Raises CannotCompare where
    no query is left.
    """
    qrels = {q: row for q, row in evals.qrels(split).items() if any(row.values())}
    if not qrels:
        raise CannotCompare(f"no {split or 'single'} query of {evals.name} has a relevant document")
    base_values = functools.cache(functools.partial(measures.per_query, qrels, base.rankings))
    names = _names(measures.shortest(len(evals.documents), base))
    described = _described(base, qrels, names, base_values(names))
    rows = [_row(evals, qrels, base, base_values, other) for other in others]
    verdicts = _verdicts([row["measures"][row["primary"]] for row in rows], matters)
    for row, (p, verdict, reason) in zip(rows, verdicts, strict=True):
        row.update(p_holm=p, verdict=verdict, reason=reason)
    passages = [row["evidence"] for row in rows]
    passages = [row for row in passages if evidence.DECIDES in row.get("measures", {})]
    verdicts = _verdicts([row["measures"][evidence.DECIDES] for row in passages], matters)
    for row, (_, verdict, reason) in zip(passages, verdicts, strict=True):
        row.update(verdict=verdict, reason=reason)
    for row, run in zip([described, *rows], [base, *others], strict=True):
        row["told_apart"] = measures.told_apart(evals, split, run.rankings)
    return {
        "evaluation_set": evals.name,
        "corpus_sha256": evals.corpus_hash(),
        "queries_sha256": evals.queries_hash(),
        "split": split or "all",
        "n": len(qrels),
        "matters": matters,
        "base": described,
        "runs": rows,
    }


def _verdicts(pairs: list[dict], matters: float) -> list[tuple[float, str, str]]:
    """Return (p adjusted over the runs, verdict, reason) of one measure, for each run."""
    adjusted = stats.holm([pair["p"] for pair in pairs]) if pairs else []
    paired = [stats.Paired(*(pair[name] for name in stats.Paired._fields)) for pair in pairs]
    return [(p, *stats.verdict(pair, p, matters)) for pair, p in zip(paired, adjusted, strict=True)]


def _names(cut: tuple[int, str] | None) -> tuple[str, ...]:
    """Return MEASURES, those that are deeper than a cut to its depth; PRIMARY's comes first."""
    names = (measures.at_depth(name, cut[0]) if cut else name for name in MEASURES)
    return tuple(dict.fromkeys(names))  # of five documents, recall@10 and recall@100 are one


def _described(run: runs.Run, qrels: measures.Qrels, names: tuple[str, ...], values: dict) -> dict:
    """Return name, means, judged@10 and the warnings of one run."""
    missing, warnings = [q for q in qrels if not run.rankings.get(q)], list(run.warnings)
    if missing:
        without = f"{how_many(len(missing), 'query')} without results"
        warnings.append(f"{without}, counted as 0: {runs.some(missing)}")
    return {
        "name": run.name,
        "primary": names[0],
        "means": measures.means(values),
        "judged@10": measures.judged_at(qrels, run.rankings),
        "warnings": warnings,
    }


def _row(evals, qrels, base: runs.Run, base_values: Callable, run: runs.Run) -> dict:
    """Return everything about one run against the base, whose values depend on the measures."""
    cut = measures.shortest(len(evals.documents), base, run)
    names = _names(cut)
    values, primary = (base_values(names), measures.per_query(qrels, run.rankings, names)), names[0]
    row = _described(run, qrels, names, values[1])
    row["measures"] = stats.by_measure(*values, names)
    pairs = {q: tuple(of_run[q][primary] for of_run in values) for q in qrels}
    for field in FIELDS:
        groups = measures.groups(evals, qrels, field)
        row[f"by_{field}"] = {
            name: _of_group([pairs[q] for q in ids]) for name, ids in groups.items()
        }
    row["moved"] = _largest_changes(evals, pairs)
    row["evidence"] = evidence.compared(evals, qrels, base, run)
    if cut:
        shorter = [f"{new} for {name}" for name in MEASURES
                   if (new := measures.at_depth(name, cut[0])) != name]  # fmt: skip
        most = f"{cut[1]} returns at most {how_many(cut[0], 'document')} a query"
        row["warnings"].append(f"{most}, so both are measured there: {', '.join(shorter)}")
    row["warnings"] += measures.few_labels(qrels, cut[0] if cut else 10, base, run)
    return row


def _of_group(pairs: list[tuple[float, float]]) -> dict:
    """Return n and both means of a group of queries, without p: n is small."""
    base, run = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    return {"n": len(pairs), "base": base, "run": run, "difference": run - base}


def _largest_changes(evals: evalset.EvalSet, pairs: dict[str, tuple[float, float]]) -> list[dict]:
    """Return the queries that lost and won most, losses first."""
    changes = sorted((run - base, q) for q, (base, run) in pairs.items())
    lost = [q for change, q in changes if change < -stats.TIE][:MOVED]
    won = [q for change, q in changes if change > stats.TIE][-MOVED:]
    return [
        {
            "query_id": q,
            "kind": evals.queries[q].kind,
            "query": evals.queries[q].query,
            "base": pairs[q][0],
            "run": pairs[q][1],
        }
        for q in lost + won
    ]


# Reading: the saved baseline, and what a run says about itself.


def saved_baseline(evals: evalset.EvalSet) -> runs.Run:
    """Return the baseline run of the folder.

    Raises CannotCompare where it is missing, EvalSetError where it is not the run that results.json
    measured, or was made on other documents, queries or labels.
    """
    path = evals.folder / results.RUN
    if not (os.path.lexists(evals.folder / "results.json") and path.exists()):
        raise CannotCompare(f"{evals.folder} has no baseline yet, run make report on it first")
    results.verified(evals)  # a run that is not the one of results.json is no baseline
    run, chunk_run = runs.read_run(path, evals), path.with_suffix(".jsonl")
    if chunk_run.exists():
        parts = runs.read_run(chunk_run, evals).parts
        run = run._replace(parts=parts, chunker=runs.BASELINE["chunker"])
    return run._replace(name="baseline")


def read_checked(path: Path, evals: evalset.EvalSet) -> runs.Run:
    """Read a run; a JSON file of the same name beside it says on which corpus it was made.

    With that card an empty file is a run that found nothing. Raises EvalSetError for bad lines or a
    bad card, CannotCompare where corpus or queries differ.
    """
    if not path.name:  # given as "", which is the folder one stands in
        raise CannotCompare(f"the run {str(path)!r} is no file, wanted one such as runs/mine.trec")
    card_path = path.with_suffix(".json")
    if not os.path.lexists(card_path):
        return runs.read_run(path, evals)
    card = runs.read_card(card_path)
    hashes = evals.corpus_hash(), evals.topics_hash()
    for what, name, wanted in zip(("corpus", "query set"), runs.CARD, hashes, strict=True):
        if card[name] != wanted:
            raise CannotCompare(
                f"{card_path}: made on another {what} ({card[name][:12]}, the folder has "
                f"{wanted[:12]}): make the run again, or check out the folder that it was made on"
            )
    nothing = path.is_file() and not path.stat().st_size
    run = runs.Run(path.stem, {}, []) if nothing else runs.read_run(path, evals)
    return run._replace(chunker=str(card.get("chunker", "")))


def systems(evals: evalset.EvalSet) -> list[runs.Run]:
    """Return the runs in the folder's `systems/`, by name: what other engines found."""
    paths = sorted((evals.folder / "systems").glob("*.trec"))
    return [read_checked(path, evals) for path in paths]


# Writing: one dictionary, two forms.


def board(comparison: dict) -> pd.DataFrame:
    """Return the leaderboard as text, a row for each run; the base has no difference.

    A run too short for the primary measure says beside its name what it is measured by.
    """
    base = comparison["base"]
    mean = base["means"][measures.mean_name(base["primary"])]
    first = {"run": base["name"], PRIMARY: mean, "judged@10": base["judged@10"]}
    rows = [first | {"verdict": "the baseline"}]
    primaries = [(row["measures"][row["primary"]], row) for row in comparison["runs"]]
    for pair, row in sorted(primaries, key=lambda pair: (-pair[0]["run"], pair[1]["name"])):
        shorter = "" if row["primary"] == PRIMARY else f" ({row['primary']})"
        line = {"run": row["name"] + shorter, PRIMARY: pair["run"]} | _certainty(pair)
        line |= {"p (Holm)": row["p_holm"], "detectable": pair["detectable"]}
        line["wins/ties/losses"] = _counts(pair)
        rows.append(line | {"judged@10": row["judged@10"], "verdict": row["verdict"]})
    return pd.DataFrame(_as_text(rows)).set_index("run")


def comparison_page(comparison: dict, show: Callable[[str], str] = inert) -> str:
    """Return the comparison as Markdown; `show` writes the set's texts, `str` for a terminal."""
    base, rows, split = comparison["base"], comparison["runs"], comparison["split"]
    corpus, queries = (comparison[f"{part}_sha256"][:12] for part in ("corpus", "queries"))
    parts = [
        f"# {', '.join(show(row['name']) for row in rows)} against {show(base['name'])}",
        f"{show(comparison['evaluation_set'])}, {split} queries, n = {comparison['n']}. "
        f"Corpus {corpus}, queries {queries}. "
        "Differences are run minus base, with the 95 % t interval; p from the sign-flip test. "
        f"The verdict rests on {PRIMARY}, where a difference of {comparison['matters']:g} matters.",
        _warnings(base, show),
    ]
    if len(rows) > 1:
        lines = board(comparison).rename(index=show).reset_index()
        parts.append(_table(lines.to_dict("records")))
    for row in rows:
        parts += _run_parts(row, comparison, show)
    return "\n\n".join(part for part in parts if part) + "\n"


def _warnings(run: dict, show: Callable[[str], str]) -> str:
    name = show(run["name"])
    return "\n".join(f"- Warning ({name}): {show(words)}" for words in run["warnings"])


def _run_parts(row: dict, comparison: dict, show: Callable[[str], str]) -> list[str]:
    """Return what is known about one run, paragraphs and tables; empty ones are left out."""
    base, primary = comparison["base"], row["primary"]
    parts = [
        f"## {show(row['name'])}: {row['verdict']}",
        f"{row['reason']}. Wins/ties/losses: {_counts(row['measures'][primary])}. "
        f"judged@10: base {base['judged@10']:.2f}, run {row['judged@10']:.2f}.",
        _warnings(row, show),
        _measures_table(row["measures"]),
        f"p (Holm) is adjusted for the measures of this table; the verdict rests on {primary}, "
        "adjusted for the runs.",
    ]
    for field in FIELDS:
        groups = [{field: show(name)} | group for name, group in row[f"by_{field}"].items()]
        parts += [f"By {field}, {primary}:", _table(groups)] if len(groups) > 1 else []
    parts.append(measures.apart_text(base["told_apart"], row["told_apart"]))
    parts += _evidence_parts(row["evidence"]) if row["evidence"] else []
    if comparison["split"] == "dev" and row["moved"]:
        columns = ("query_id", "kind", "base", "run", "query")
        shown = [{name: query[name] for name in columns} for query in row["moved"]]
        for query in shown:
            query |= {name: show(query[name]) for name in ("query_id", "kind", "query")}
        parts += ["Moved most:", _table(shown)]
    return parts


def _evidence_parts(row: dict) -> list[str]:
    """Return what is known about the evidence that two runs of passages deliver."""
    short = ", ".join(f"{budget:,}" for budget in row["short"])
    verdict = f"{row['verdict']} on {evidence.DECIDES}: {row['reason']}"
    lost = {name: [*places.values()] for name, places in row["lost"].items()}
    losses = [
        {"where": place} | {name: str(places.count(place)) for name, places in lost.items()}
        for place in evidence.LOSSES
    ]
    return [
        f"Evidence ({how_many(row['n'], 'query')} with quotes; lower bounds where another passage "
        f"also answers): {verdict if row['verdict'] else 'no verdict'}.",
        _measures_table(row["measures"]),
        f"A list ends before {short} tokens, so these are left out." if short else "",
        f"Where it is lost within {evidence.BUDGET:,} tokens, in queries:",
        _table(losses),
    ]


def _measures_table(pairs: dict[str, dict]) -> str:
    return _table(
        {"measure": measures.mean_name(name), "base": pair["base"], "run": pair["run"]}
        | _certainty(pair)
        | {"p (Holm)": pair["p_holm"], "p (t)": pair["t_p"], "detectable": pair["detectable"]}
        for name, pair in pairs.items()
    )


def _certainty(pair: dict) -> dict:
    interval = stats.interval_text(pair["low"], pair["high"])
    return {"difference": pair["difference"], "95 % interval": interval, "p": pair["p"]}


def _counts(pair: dict) -> str:
    return f"{pair['wins']}/{pair['ties']}/{pair['losses']}"


FORMATS = {"difference": "{:+.3f}".format, "judged@10": "{:.2f}".format, "n": str}
FORMATS |= dict.fromkeys(("p", "p (Holm)", "p (t)"), stats.p_text)


def _as_text(rows: list[dict]) -> list[dict[str, str]]:
    """Return rows with the columns of the last one; numbers by FORMATS, else three decimals."""

    def as_text(name: str, value: str | float | None) -> str:
        value = "" if value is None else value
        return value if isinstance(value, str) else FORMATS.get(name, "{:.3f}".format)(value)

    return [{name: as_text(name, row.get(name)) for name in rows[-1]} for row in rows]


def _table(rows: Iterable[dict]) -> str:
    """Return rows as a Markdown table with aligned columns; bars and line ends break none."""
    texts = _as_text([*rows])
    cells = [[" ".join(t.split()).replace("|", "\\|") for t in row.values()] for row in texts]
    widths = [max(map(len, column)) for column in zip(texts[0], *cells, strict=True)]
    head, *body = (
        f"| {' | '.join(map(str.ljust, row, widths))} |" for row in ([*texts[0]], *cells)
    )
    return "\n".join([head, "|" + "|".join("-" * (w + 2) for w in widths) + "|", *body])


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
        comparison = compare(evals, against, others, None if split == "all" else split, matters)
        for run in (comparison["base"], *comparison["runs"]):
            if not run["judged@10"]:
                raise CannotCompare(
                    f"{run['name']}: not one of its first ten documents is judged for any of the "
                    f"{how_many(comparison['n'], 'query')} ({comparison['split']}): "
                    "was it made on another corpus or for other queries?"
                )
    except (CannotCompare, evalset.EvalSetError) as error:
        print(f"cannot compare: {error}", file=sys.stderr)
        return CANNOT
    name = "+".join(run.name for run in others)
    name += "" if split == "dev" else f"-{split}"  # beside the report on dev, not over it
    folder = to or evals.folder / "comparisons"
    files.write(folder / f"{name}.md", comparison_page(comparison))
    files.write(
        folder / f"{name}.json", json.dumps(comparison, indent=1, ensure_ascii=False) + "\n"
    )
    print(f"{comparison_page(comparison, str)}\nwritten: {folder / name}.md and .json")
    return status(comparison, strict)


def status(comparison: dict, strict: bool) -> int:
    """Return the exit status for the verdicts: the gate closes where a run is shown worse."""
    verdicts = {row["verdict"] for row in comparison["runs"]}
    if stats.WORSE in verdicts:
        return 1
    return STRICT if strict and stats.TOO_FEW in verdicts else 0
