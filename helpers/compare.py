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
    values = functools.cache(functools.partial(measures.per_query, qrels, base.rankings))
    names = _names(measures.shortest(len(evals.documents), base))
    described = _described(base, qrels, names, values(names))
    rows = [_row(evals, qrels, base, values, other) for other in others]
    primaries = [row["measures"][row["primary"]] for row in rows]
    adjusted = stats.holm([at["p"] for at in primaries])
    for row, at, p in zip(rows, primaries, adjusted, strict=True):
        row["p_holm"] = p
        found = stats.Paired(**{k: at[k] for k in stats.Paired._fields})
        row["verdict"], row["reason"] = stats.verdict(found, p, matters)
    _decide_evidence([row["evidence"] for row in rows], matters)
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


def _decide_evidence(found: list[dict], matters: float) -> None:
    """Add the verdict on evidence where there is one, p adjusted over the runs that have it."""
    able = [at for at in found if evidence.DECIDES in at.get("measures", {})]
    pairs = [at["measures"][evidence.DECIDES] for at in able]
    adjusted = stats.holm([pair["p"] for pair in pairs]) if able else []
    for at, pair, p in zip(able, pairs, adjusted, strict=True):
        of = stats.Paired(**{name: pair[name] for name in stats.Paired._fields})
        at["verdict"], at["reason"] = stats.verdict(of, p, matters)


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


def _row(evals, qrels, base: runs.Run, values: Callable, run: runs.Run) -> dict:
    """Return everything about one run against the base; `values` gives the base's by measures."""
    cut = measures.shortest(len(evals.documents), base, run)
    names = _names(cut)
    before, after = values(names), measures.per_query(qrels, run.rankings, names)
    row = {**_described(run, qrels, names, after), "measures": {}}
    for name in names:
        pairs = ([of[q][name] for q in qrels] for of in (before, after))
        row["measures"][name] = stats.paired(*pairs)._asdict()
    adjusted = stats.holm([row["measures"][name]["p"] for name in names])
    for name, p in zip(names, adjusted, strict=True):
        row["measures"][name]["p_holm"] = p
    for field in ("kind", "popularity"):
        row[f"by_{field}"] = _by(field, evals, before, after, names[0])
    row["moved"] = _moved(evals, before, after, names[0])
    row["evidence"] = evidence.compared(evals, qrels, base, run)
    row["warnings"] += _about_depth(*cut) if cut else []
    row["warnings"] += measures.few_labels(qrels, cut[0] if cut else 10, base, run)
    return row


def _about_depth(depth: int, name: str) -> list[str]:
    """Return the warning that a run is too short for some measures."""
    cut = [(measures.at_depth(old, depth), old) for old in MEASURES]
    cut = ", ".join(f"{new} for {old}" for new, old in cut if new != old)
    documents = how_many(depth, "document")
    return [f"{name} returns at most {documents} a query, so both are measured there: {cut}"]


def _by(field: str, evals, before: dict, after: dict, primary: str) -> dict:
    """Return n and both means of the primary measure by a field, without p: n is small."""
    found = {}
    for name, ids in measures.groups(evals, before, field).items():
        base, run = (sum(of[q][primary] for q in ids) / len(ids) for of in (before, after))
        found[name] = {"n": len(ids), "base": base, "run": run, "difference": run - base}
    return found


def _moved(evals, before: dict, after: dict, primary: str) -> list[dict]:
    """Return the queries that lost and won most in the primary measure, losses first."""
    changes = sorted((after[q][primary] - before[q][primary], q) for q in before)
    lost = [(d, q) for d, q in changes if d < -stats.TIE][:MOVED]
    won = [(d, q) for d, q in changes if d > stats.TIE][-MOVED:]
    return [
        {
            "query_id": q,
            "kind": evals.queries[q].kind,
            "query": evals.queries[q].query,
            "base": before[q][primary],
            "run": after[q][primary],
        }
        for _, q in lost + won
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
    found, parts = runs.read_run(path, evals), path.with_suffix(".jsonl")
    of_chunks = runs.read_run(parts, evals) if parts.exists() else None
    if of_chunks and all(
        _begins(found.rankings[q], of_chunks.rankings.get(q, [])) for q in found.rankings
    ):
        found = found._replace(parts=of_chunks.parts, chunker=runs.BASELINE["chunker"])
    return found._replace(name="baseline")


def _begins(whole: runs.Ranking, first: runs.Ranking) -> bool:
    """Return whether a ranking of documents begins with those of another one."""
    return [d for d, _ in whole[: len(first)]] == [d for d, _ in first]


def _same_hash(path: Path, found: str, wanted: str, what: str) -> None:
    if found != wanted:
        raise CannotCompare(
            f"{path}: made on {what} ({found[:12]}, the folder has {wanted[:12]}): "
            "make the run again, or check out the folder that it was made on"
        )


def read_checked(path: Path, evals: evalset.EvalSet) -> runs.Run:
    """Read a run; a JSON file of the same name beside it says on which corpus it was made.

    With that card an empty file is a run that found nothing.

    Raises EvalSetError for bad lines or a bad card, CannotCompare where corpus or queries differ.
    """
    card = path.with_suffix(".json")
    nothing = path.is_file() and not path.stat().st_size and card.exists()  # a lost file has none
    run = runs.Run(path.stem, {}, []) if nothing else runs.read_run(path, evals)
    if os.path.lexists(card):
        said = runs.read_card(card)
        _same_hash(card, said["corpus_sha256"], evals.corpus_hash(), "another corpus")
        _same_hash(card, said["topics_sha256"], evals.topics_hash(), "another query set")
        run = run._replace(chunker=str(said.get("chunker", "")))
    return run


def systems(evals: evalset.EvalSet) -> list[runs.Run]:
    """Return the runs in the folder's `systems/`, by name: what other engines found."""
    paths = sorted((evals.folder / "systems").glob("*.trec"))
    return [read_checked(path, evals) for path in paths]


# Writing: one dictionary, two forms.


def board(found: dict) -> pd.DataFrame:
    """Return the leaderboard as text, a row for each run; the base has no difference.

    A run too short for the primary measure says beside its name what it is measured by.
    """
    base = found["base"]
    mean = base["means"][measures.mean_name(base["primary"])]
    first = {"run": base["name"], PRIMARY: mean, "judged@10": base["judged@10"]}
    rows = [{**first, "verdict": "the baseline"}]
    found_at = [(row["measures"][row["primary"]], row) for row in found["runs"]]
    for at, row in sorted(found_at, key=lambda pair: (-pair[0]["run"], pair[1]["name"])):
        shorter = "" if row["primary"] == PRIMARY else f" ({row['primary']})"
        line = {"run": row["name"] + shorter, PRIMARY: at["run"]} | _certainty(at, row["p_holm"])
        line |= {"detectable": at["detectable"], "wins/ties/losses": _counts(at)}
        rows.append(line | {"judged@10": row["judged@10"], "verdict": row["verdict"]})
    return _texts(pd.DataFrame(rows, columns=list(rows[-1]))).set_index("run")


def comparison_page(found: dict, show: Callable[[str], str] = inert) -> str:
    """Return the comparison as Markdown; `show` writes the set's texts, `str` for a terminal."""
    base = found["base"]
    parts = [
        f"# {', '.join(show(row['name']) for row in found['runs'])} against {show(base['name'])}",
        f"{show(found['evaluation_set'])}, {found['split']} queries, n = {found['n']}. "
        f"Corpus {found['corpus_sha256'][:12]}, queries {found['queries_sha256'][:12]}. "
        "Differences are run minus base, with the 95 % t interval; p from the sign-flip test. "
        f"The verdict rests on {PRIMARY}, where a difference of {found['matters']:g} matters.",
        _warnings(base, show),
    ]
    if len(found["runs"]) > 1:
        parts.append(_table(board(found).rename(index=show).reset_index()))
    parts += [_run_page(row, found, show) for row in found["runs"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _warnings(one: dict, show: Callable[[str], str]) -> str:
    name = show(one["name"])
    return "\n".join(f"- Warning ({name}): {show(words)}" for words in one["warnings"])


def _run_page(row: dict, found: dict, show: Callable[[str], str]) -> str:
    """Return what is known about one run."""
    base, primary = found["base"], row["primary"]
    parts = [
        f"## {show(row['name'])}: {row['verdict']}",
        f"{row['reason']}. Wins/ties/losses: {_counts(row['measures'][primary])}. "
        f"judged@10: base {base['judged@10']:.2f}, run {row['judged@10']:.2f}.",
        _warnings(row, show),
        _table(pd.DataFrame(map(_measure_row, row["measures"].items()))),
        f"p (Holm) is adjusted for the measures of this table; the verdict rests on {primary}, "
        "adjusted for the runs.",
    ]
    for field in ("kind", "popularity"):
        by = [{field: show(name), **values} for name, values in row[f"by_{field}"].items()]
        parts += [f"By {field}, {primary}:\n\n" + _table(pd.DataFrame(by))] * (len(by) > 1)
    parts.append(measures.apart_text(base["told_apart"], row["told_apart"]))
    parts.append(_evidence_part(row["evidence"]) if row["evidence"] else "")
    if found["split"] == "dev" and row["moved"]:
        moved = pd.DataFrame(row["moved"])[["query_id", "kind", "base", "run", "query"]]
        texts = {name: moved[name].map(show) for name in ("query_id", "kind", "query")}
        parts.append("Moved most:\n\n" + _table(moved.assign(**texts)))
    return "\n\n".join(part for part in parts if part)


def _evidence_part(at: dict) -> str:
    """Return what is known about the evidence that two runs of passages deliver."""
    short = ", ".join(f"{budget:,}" for budget in at["short"])
    lost = {name: [*places.values()] for name, places in at["lost"].items()}
    losses = [
        {"where": place, **{name: str(found.count(place)) for name, found in lost.items()}}
        for place in evidence.LOSSES
    ]
    parts = [
        f"Evidence ({how_many(at['n'], 'query')} with quotes; lower bounds where another passage "
        f"also answers): {at['verdict'] or 'no verdict'}"
        + (f" on {evidence.DECIDES}: {at['reason']}." if at["verdict"] else "."),
        _table(pd.DataFrame(map(_measure_row, at["measures"].items()))),
        f"A list ends before {short} tokens, so these are left out." if short else "",
        f"Where it is lost within {evidence.BUDGET:,} tokens, in queries:\n\n"
        + _table(pd.DataFrame(losses)),
    ]
    return "\n\n".join(part for part in parts if part)


def _measure_row(pair: tuple[str, dict]) -> dict:
    name, at = pair
    row = {"measure": measures.mean_name(name), "base": at["base"], "run": at["run"]}
    row |= _certainty(at, at["p_holm"])
    return row | {"p (t)": at["t_p"], "detectable": at["detectable"]}


def _certainty(at: dict, p_holm: float) -> dict:
    interval = stats.interval_text(at["low"], at["high"])
    row = {"difference": at["difference"], "95 % interval": interval}
    return row | {"p": at["p"], "p (Holm)": p_holm}


def _counts(at: dict) -> str:
    return f"{at['wins']}/{at['ties']}/{at['losses']}"


FORMATS = {"difference": "{:+.3f}".format, "judged@10": "{:.2f}".format, "n": "{:.0f}".format}
FORMATS |= dict.fromkeys(("p", "p (Holm)", "p (t)"), stats.p_text)


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its numbers as texts by FORMATS, else with three decimals."""

    def text(value, name: str) -> str:
        if isinstance(value, str):
            return value
        return "" if pd.isna(value) else FORMATS.get(name, "{:.3f}".format)(value)

    return pd.DataFrame({name: [text(v, name) for v in frame[name]] for name in frame.columns})


def _table(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table with aligned columns; bars and line ends break none."""
    texts = _texts(frame).map(lambda text: " ".join(text.split()).replace("|", "\\|"))
    widths = {name: max(map(len, [name, *texts[name]])) for name in texts}
    rows = [{name: name for name in texts}, *texts.to_dict("records")]
    lines = [" | ".join(row[name].ljust(w) for name, w in widths.items()) for row in rows]
    head, *body = [f"| {line} |" for line in lines]
    return "\n".join([head, "|" + "|".join("-" * (w + 2) for w in widths.values()) + "|", *body])


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
        _same_world(found)
    except (CannotCompare, evalset.EvalSetError) as error:
        print(_first_lines(f"cannot compare: {error}"), file=sys.stderr)
        return CANNOT
    name = "+".join(run.name for run in others)
    name += "" if split == "dev" else f"-{split}"  # beside the report on dev, not over it
    folder = to or evals.folder / "comparisons"
    content = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    files.write_all(folder, {f"{name}.md": comparison_page(found), f"{name}.json": content})
    print(f"{comparison_page(found, str)}\nwritten: {folder / name}.md and .json")
    return status(found, strict)


def _same_world(found: dict) -> None:
    """Raise CannotCompare where nothing that a run found is judged: nothing can be said of it."""
    for one in (found["base"], *found["runs"]):
        if not one["judged@10"]:
            raise CannotCompare(
                f"{one['name']}: not one of its first ten documents is judged for any of the "
                f"{how_many(found['n'], 'query')} ({found['split']}): "
                "was it made on another corpus or for other queries?"
            )


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
