"""Hold runs of any engine against the saved baseline: values, certainty, a verdict, a gate."""

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from . import evalset, evidence, files, measures, results, runs, stats
from .text import how_many, inert

MEASURES = measures.MEASURES
PRIMARY = MEASURES[0]  # the verdict rests on it; the others are described
MOVED = 5  # queries shown on each side
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
    before, after = base_values(names), measures.per_query(qrels, run.rankings, names)
    row = _described(run, qrels, names, after)
    row["measures"] = stats.by_measure(before, after, names)
    for field in ("kind", "popularity"):
        row[f"by_{field}"] = _by(field, evals, before, after, names[0])
    row["moved"] = _moved(evals, before, after, names[0])
    row["evidence"] = evidence.compared(evals, qrels, base, run)
    row["warnings"] += _about_depth(*cut) if cut else []
    row["warnings"] += measures.few_labels(qrels, cut[0] if cut else 10, base, run)
    return row


def _about_depth(depth: int, name: str) -> list[str]:
    """Return the warning that a run is too short for some measures."""
    named = [(measures.at_depth(measure, depth), measure) for measure in MEASURES]
    cut = ", ".join(f"{new} for {measure}" for new, measure in named if new != measure)
    documents = how_many(depth, "document")
    return [f"{name} returns at most {documents} a query, so both are measured there: {cut}"]


def _by(field: str, evals, before: dict, after: dict, primary: str) -> dict:
    """Return n and both means of the primary measure by a field, without p: n is small."""
    rows = {}
    for name, ids in measures.groups(evals, before, field).items():
        base, run = (sum(of[q][primary] for q in ids) / len(ids) for of in (before, after))
        rows[name] = {"n": len(ids), "base": base, "run": run, "difference": run - base}
    return rows


def _moved(evals, before: dict, after: dict, primary: str) -> list[dict]:
    """Return the queries that lost and won most in the primary measure, losses first."""
    changes = sorted((after[q][primary] - before[q][primary], q) for q in before)
    lost = [q for change, q in changes if change < -stats.TIE][:MOVED]
    won = [q for change, q in changes if change > stats.TIE][-MOVED:]
    return [
        {
            "query_id": q,
            "kind": evals.queries[q].kind,
            "query": evals.queries[q].query,
            "base": before[q][primary],
            "run": after[q][primary],
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
    card_path = path.with_suffix(".json")
    if not os.path.lexists(card_path):
        return runs.read_run(path, evals)
    card = runs.read_card(card_path)
    for made_on, wanted, what in (
        (card["corpus_sha256"], evals.corpus_hash(), "another corpus"),
        (card["topics_sha256"], evals.topics_hash(), "another query set"),
    ):
        if made_on != wanted:
            raise CannotCompare(
                f"{card_path}: made on {what} ({made_on[:12]}, the folder has {wanted[:12]}): "
                "make the run again, or check out the folder that it was made on"
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
    return _as_text(pd.DataFrame(rows, columns=list(rows[-1]))).set_index("run")


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
        parts.append(_table(board(comparison).rename(index=show).reset_index()))
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
    for field in ("kind", "popularity"):
        by = [{field: show(name), **values} for name, values in row[f"by_{field}"].items()]
        parts += [f"By {field}, {primary}:", _table(pd.DataFrame(by))] if len(by) > 1 else []
    parts.append(measures.apart_text(base["told_apart"], row["told_apart"]))
    parts += _evidence_parts(row["evidence"]) if row["evidence"] else []
    if comparison["split"] == "dev" and row["moved"]:
        moved = pd.DataFrame(row["moved"])[["query_id", "kind", "base", "run", "query"]]
        texts = {name: moved[name].map(show) for name in ("query_id", "kind", "query")}
        parts += ["Moved most:", _table(moved.assign(**texts))]
    return parts


def _evidence_parts(row: dict) -> list[str]:
    """Return what is known about the evidence that two runs of passages deliver."""
    short = ", ".join(f"{budget:,}" for budget in row["short"])
    verdict = f"{row['verdict']} on {evidence.DECIDES}: {row['reason']}"
    lost = {name: [*places.values()] for name, places in row["lost"].items()}
    losses = [
        {"where": place, **{name: str(places.count(place)) for name, places in lost.items()}}
        for place in evidence.LOSSES
    ]
    return [
        f"Evidence ({how_many(row['n'], 'query')} with quotes; lower bounds where another passage "
        f"also answers): {verdict if row['verdict'] else 'no verdict'}.",
        _measures_table(row["measures"]),
        f"A list ends before {short} tokens, so these are left out." if short else "",
        f"Where it is lost within {evidence.BUDGET:,} tokens, in queries:",
        _table(pd.DataFrame(losses)),
    ]


def _measures_table(pairs: dict[str, dict]) -> str:
    rows = [
        {"measure": measures.mean_name(name), "base": pair["base"], "run": pair["run"]}
        | _certainty(pair)
        | {"p (Holm)": pair["p_holm"], "p (t)": pair["t_p"], "detectable": pair["detectable"]}
        for name, pair in pairs.items()
    ]
    return _table(pd.DataFrame(rows))


def _certainty(pair: dict) -> dict:
    interval = stats.interval_text(pair["low"], pair["high"])
    return {"difference": pair["difference"], "95 % interval": interval, "p": pair["p"]}


def _counts(pair: dict) -> str:
    return f"{pair['wins']}/{pair['ties']}/{pair['losses']}"


FORMATS = {"difference": "{:+.3f}".format, "judged@10": "{:.2f}".format, "n": "{:.0f}".format}
FORMATS |= dict.fromkeys(("p", "p (Holm)", "p (t)"), stats.p_text)


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its numbers as texts by FORMATS, else with three decimals."""

    def text(value, name: str) -> str:
        if isinstance(value, str):
            return value
        return "" if pd.isna(value) else FORMATS.get(name, "{:.3f}".format)(value)

    return pd.DataFrame({name: [text(v, name) for v in frame[name]] for name in frame.columns})


def _table(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table with aligned columns; bars and line ends break none."""
    texts = _as_text(frame).map(lambda text: " ".join(text.split()).replace("|", "\\|"))
    columns = [[name, *texts[name]] for name in texts]
    widths = [max(map(len, column)) for column in columns]
    padded = ([t.ljust(w) for t in column] for column, w in zip(columns, widths, strict=True))
    head, *body = [f"| {' | '.join(cells)} |" for cells in zip(*padded, strict=True)]
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
        _refuse_unjudged(comparison)
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


def _refuse_unjudged(comparison: dict) -> None:
    """Raise CannotCompare where nothing that a run found is judged: nothing can be said of it."""
    for run in (comparison["base"], *comparison["runs"]):
        if not run["judged@10"]:
            raise CannotCompare(
                f"{run['name']}: not one of its first ten documents is judged for any of the "
                f"{how_many(comparison['n'], 'query')} ({comparison['split']}): "
                "was it made on another corpus or for other queries?"
            )


def status(comparison: dict, strict: bool) -> int:
    """Return the exit status for the verdicts: the gate closes where a run is shown worse."""
    verdicts = {row["verdict"] for row in comparison["runs"]}
    if stats.WORSE in verdicts:
        return 1
    return STRICT if strict and stats.TOO_FEW in verdicts else 0
