"""Hold runs of any engine against the saved baseline: values, certainty, a verdict, a gate."""

import html
import json
import os
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pandas as pd

from . import evalset, evidence, files, measures, results, runs, stats
from .text import how_many, inert

MEASURES = measures.MEASURES
PRIMARY = MEASURES[0]  # the verdict rests on it; the others are described
MOVED = 5  # queries shown on each side
FIELDS = ("kind", "popularity")  # of a query: means are told for each of their values
BOARD = ["run", PRIMARY, "difference", "95 % interval", "p", "p (Holm)", "detectable"]
BOARD += ["wins/ties/losses", "judged@10", "verdict"]
SHOWN = ("query_id", "kind", "query")  # of a query that moved
STRICT = 3  # the exit status of too few queries


def compare(
    evals: evalset.EvalSet,
    base: runs.Run,
    others: list[runs.Run],
    split: str | None = "dev",
    matters: float = stats.MATTERS,
) -> dict:
    """Return what is known about each of `others` against `base`; `split` None takes all queries.

    Measures are taken and named at the depth that two runs both have (recall@50). p of the primary
    one is adjusted over the runs, of others over the measures. Raises EvalSetError without queries.
    """
    qrels = {q: row for q, row in evals.qrels(split).items() if any(row.values())}
    if not qrels:
        wrong = f"no {split or 'single'} query of {evals.name} has a relevant document"
        raise evalset.EvalSetError([wrong])
    rows = [_row(evals, qrels, base, run) for run in others]
    _decide([(row, row["measures"][row["primary"]]) for row in rows], matters)
    quoted = [row["evidence"] for row in rows if row["evidence"]]
    _decide([(row, row["measures"].get(evidence.DECIDES)) for row in quoted], matters)
    names = _names(measures.shortest_run(len(evals.documents), base))
    described = _describe_run(base, qrels, measures.per_query(qrels, base.rankings, names))
    for row, run in zip([described, *rows], [base, *others], strict=True):
        row["told_apart"] = measures.answerability_auroc(evals, split, run.rankings)
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


def _row(evals: evalset.EvalSet, qrels: measures.Qrels, base: runs.Run, run: runs.Run) -> dict:
    """Return everything about one run against the base but its verdict."""
    cut = measures.shortest_run(len(evals.documents), base, run)
    names = _names(cut)
    before, after = (measures.per_query(qrels, of.rankings, names) for of in (base, run))
    row = _describe_run(run, qrels, after)
    row["measures"] = stats.by_measure(before, after, names)
    pairs = {q: (before[q][names[0]], after[q][names[0]]) for q in qrels}
    for field in FIELDS:
        groups = measures.ids_by_field(evals, qrels, field).items()
        row[f"by_{field}"] = {name: _group_means([pairs[q] for q in ids]) for name, ids in groups}
    row["moved"] = _largest_changes(evals, pairs)
    row["evidence"] = evidence.compare_evidence(evals, qrels, base, run)
    if cut:
        shorter = ", ".join(name for name in names if name not in MEASURES)
        most = f"{cut[1]} returns at most {how_many(cut[0], 'document')} a query"
        row["warnings"].append(f"{most}, so both are measured there: {shorter}")
    row["warnings"] += measures.label_warnings(qrels, cut[0] if cut else 10, base, run)
    return row


def _names(cut: tuple[int, str] | None) -> list[str]:
    """Return MEASURES, those that are deeper than a cut to its depth; PRIMARY's comes first."""
    names = (measures.at_depth(name, cut[0]) if cut else name for name in MEASURES)
    return [*dict.fromkeys(names)]  # of five documents, recall@10 and recall@100 are one


def _describe_run(run: runs.Run, qrels: measures.Qrels, values: dict) -> dict:
    """Return name, primary measure (the first), means, judged@10 and warnings of one run."""
    missing, warnings = [q for q in qrels if not run.rankings.get(q)], list(run.warnings)
    if missing:
        without = f"{how_many(len(missing), 'query')} without results"
        warnings.append(f"{without}, counted as 0: {runs.first_names(missing)}")
    return {
        "name": run.name,
        "primary": [*values[min(qrels)]][0],
        "means": measures.means(values),
        "judged@10": measures.judged_at(qrels, run.rankings),
        "warnings": warnings,
    }


def _group_means(pairs: list[tuple[float, float]]) -> dict:
    """Return n and both means of a group of queries, without p: n is small."""
    base, run = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    return {"n": len(pairs), "base": base, "run": run, "difference": run - base}


def _largest_changes(evals: evalset.EvalSet, pairs: dict[str, tuple[float, float]]) -> list[dict]:
    """Return the queries that lost and won most, losses first."""
    changes = sorted((run - base, q) for q, (base, run) in pairs.items())
    lost = [q for change, q in changes if change < -stats.TIE][:MOVED]
    won = [q for change, q in changes if change > stats.TIE][-MOVED:]
    rows = [(q, evals.queries[q].kind, evals.queries[q].query, *pairs[q]) for q in lost + won]
    return [dict(zip((*SHOWN, "base", "run"), row, strict=True)) for row in rows]


def _decide(rows: list[tuple[dict, dict | None]], matters: float) -> None:
    """Add to each row the verdict on its pair of means, if it has one, p adjusted over the rows."""
    pairs = [(row, pair) for row, pair in rows if pair]
    adjusted = stats.holm([pair["p"] for _, pair in pairs]) if pairs else []
    for (row, pair), p in zip(pairs, adjusted, strict=True):
        paired = stats.Paired(*(pair[field] for field in stats.Paired._fields))
        verdict, reason = stats.verdict(paired, p, matters)
        row |= {"p_holm": p, "verdict": verdict, "reason": reason}


# Reading: the saved baseline, and what a run says about itself.


def saved_baseline(evals: evalset.EvalSet) -> runs.Run:
    """Return the baseline run of the folder, with its ranked chunks where they are saved.

    Raises EvalSetError where it is missing, or is not what results.json measured on this set.
    """
    if not (evals.folder / "results.json").exists():
        missing = f"{evals.folder} has no baseline yet, run make report on it first"
        raise evalset.EvalSetError([missing])
    results.read_current_results(evals)
    path = evals.folder / results.RUN
    run = runs.read_run(path, evals)._replace(name="baseline", chunker=runs.BASELINE["chunker"])
    chunk_run = path.with_suffix(".jsonl")
    return run._replace(parts=runs.read_run(chunk_run, evals).parts) if chunk_run.exists() else run


def read_checked(path: Path, evals: evalset.EvalSet) -> runs.Run:
    """Read a run; a JSON file of the same name beside it says on which corpus it was made.

    With it an empty file is a run that found nothing. Raises EvalSetError for what cannot be used.
    """
    if not path.is_file():
        raise evalset.EvalSetError([f"{path}:1: cannot be read, wanted a run: runs/mine.trec"])
    card_path = runs.unzipped(path).with_suffix(".json")
    if not os.path.lexists(card_path):
        return _with_chunk_set(runs.read_run(path, evals), "", card_path, evals)
    card = runs.read_card(card_path)
    hashes = evals.corpus_hash(), evals.topics_hash()
    for name, wanted in zip(runs.CARD, hashes, strict=True):
        if card[name] != wanted:
            fault = f"{name} is {str(card[name])[:12]}, wanted {wanted[:12]} as the folder has"
            remedy = "make the run again, or check out the folder that it was made on"
            raise evalset.EvalSetError([f"{card_path}:1: {fault}: {remedy}"])
    nothing = next(files.lines(path), None) is None
    run = runs.Run(card_path.stem, {}, []) if nothing else runs.read_run(path, evals)
    return _with_chunk_set(run, str(card.get("chunker", "")), card_path, evals)


def _with_chunk_set(run: runs.Run, chunker: str, card: Path, evals: evalset.EvalSet) -> runs.Run:
    """Return a run with the set that its chunk ids are of, or with a warning where none is named.

    Raises EvalSetError where its card names one that the folder lacks.
    """
    passages, folder = chain.from_iterable(run.parts.values()), evals.folder / "chunks"
    numbered = any(":" not in name.rpartition("#")[2] for name, _ in passages)
    if numbered and chunker and not (folder / f"{chunker}.jsonl").is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.jsonl"))) or "none yet"
        wanted = f"wanted the name of a set in {folder}: {known}"
        raise evalset.EvalSetError([f"{card}:1: chunker is {chunker!r}, {wanted}"])
    if numbered and not chunker:
        alone = "chunk ids count as their documents, and their evidence is not measured"
        run.warnings.append(f'{alone}: wanted their set in {card.name}, "chunker": "recursive"')
    return run._replace(chunker=chunker)


def read_systems(evals: evalset.EvalSet) -> list[runs.Run]:
    """Return the runs in the folder's `systems/`, by name: what other engines found."""
    paths = sorted((evals.folder / "systems").glob("*.trec"))
    return [read_checked(path, evals) for path in paths]


# Writing: one dictionary, two forms.


def leaderboard(comparison: dict) -> pd.DataFrame:
    """Return the leaderboard as text, best run first; a short one names its measure beside it."""
    base = comparison["base"]
    first = {"run": base["name"], PRIMARY: base["means"][measures.mean_name(base["primary"])]}
    first |= {"judged@10": base["judged@10"], "verdict": "the baseline"}
    rows = []
    for row in comparison["runs"]:
        primary = row["primary"]
        (figures,) = _figures({primary: row["measures"][primary]})
        name = row["name"] + ("" if primary == PRIMARY else f" ({primary})")
        figures |= {PRIMARY: figures["run"], "run": name, "p (Holm)": row["p_holm"]}
        rows.append(figures | {"judged@10": row["judged@10"], "verdict": row["verdict"]})
    rows.sort(key=lambda row: (-row[PRIMARY], row["run"]))
    return _as_text([first, *rows]).reindex(columns=BOARD, fill_value="").set_index("run")


def comparison_page(comparison: dict) -> str:
    """Return the comparison as Markdown in which no text of the set acts."""
    base, rows, split = comparison["base"], comparison["runs"], comparison["split"]
    corpus, queries = (comparison[f"{part}_sha256"][:12] for part in ("corpus", "queries"))
    parts = [
        f"# {', '.join(inert(row['name']) for row in rows)} against {inert(base['name'])}",
        f"{inert(comparison['evaluation_set'])}, {split} queries, n = {comparison['n']}. "
        f"Corpus {corpus}, queries {queries}. "
        "Differences are run minus base, with the 95 % t interval; p from the sign-flip test. "
        f"The verdict rests on {PRIMARY}, where a difference of {comparison['matters']:g} matters.",
        _warnings(base),
        _table(leaderboard(comparison).rename(index=inert).reset_index()) if len(rows) > 1 else "",
    ]
    for row in rows:
        parts += _run_parts(row, base, split)
    return "\n\n".join(part for part in parts if part) + "\n"


def _run_parts(row: dict, base: dict, split: str) -> list[str]:
    """Return what is known about one run, paragraphs and tables."""
    parts = [
        f"## {inert(row['name'])}: {row['verdict']}",
        f"{row['reason']}. judged@10: base {base['judged@10']:.2f}, run {row['judged@10']:.2f}.",
        _warnings(row),
        _table(_figures(row["measures"])),
        "p (Holm) is adjusted for the measures of this table; the verdict rests on "
        f"{row['primary']}, adjusted for the runs.",
    ]
    for field in FIELDS:
        groups = [{field: inert(name)} | group for name, group in row[f"by_{field}"].items()]
        parts += [f"By {field}, {row['primary']}:", _table(groups)] if len(groups) > 1 else []
    if base["told_apart"] and row["told_apart"]:
        apart = [base["told_apart"], row["told_apart"]]
        areas = ["{AUROC:.2f} ({low:.2f} to {high:.2f})".format(**of_run) for of_run in apart]
        without = f"{how_many(apart[0]['unanswerable'], 'query')} without an answer"
        area = f"AUROC: base {areas[0]}, run {areas[1]}"
        parts.append(f"Told from {without} by the first score, {area}.")
    if row["evidence"]:
        parts += _evidence_parts(row["evidence"])
    if split == "dev" and row["moved"]:
        moved = pd.DataFrame(row["moved"])[["query_id", "kind", "base", "run", "query"]]
        texts = {name: moved[name].str.split().str.join(" ").map(inert) for name in SHOWN}
        parts += ["Moved most:", _table(moved.assign(**texts))]
    return parts


def _warnings(run: dict) -> str:
    name = inert(run["name"])
    return "\n".join(f"- Warning ({name}): {inert(words)}" for words in run["warnings"])


def _evidence_parts(row: dict) -> list[str]:
    """Return what is known about the evidence that two runs of passages deliver."""
    short = ", ".join(f"{budget:,}" for budget in row["short"])
    verdict = f"{row['verdict']} on {evidence.DECIDES}: {row['reason']}"
    places = {name: [*of_query.values()] for name, of_query in row["lost"].items()}
    losses = [
        {"where": place} | {name: str(where.count(place)) for name, where in places.items()}
        for place in evidence.LOSSES
    ]
    return [
        f"Evidence ({how_many(row['n'], 'query')} with quotes; lower bounds where another passage "
        f"also answers): {verdict if row['verdict'] else 'no verdict'}.",
        _table(_figures(row["measures"])),
        f"A list ends before {short} tokens, so these are left out." if short else "",
        f"Where it is lost within {evidence.BUDGET:,} tokens, in queries:",
        _table(losses),
    ]


def _figures(pairs: dict[str, dict]) -> list[dict]:
    """Return what is shown of comparisons of two means, a row for each measure."""
    return [
        {
            "measure": measures.mean_name(name),
            "base": pair["base"],
            "run": pair["run"],
            "difference": pair["difference"],
            "95 % interval": stats.interval_text(pair["low"], pair["high"]),
            "p": pair["p"],
            "p (Holm)": pair["p_holm"],
            "p (t)": pair["t_p"],
            "detectable": pair["detectable"],
            "wins/ties/losses": f"{pair['wins']}/{pair['ties']}/{pair['losses']}",
        }
        for name, pair in pairs.items()
    ]


FORMATS = {"difference": "{:+.3f}".format, "judged@10": "{:.2f}".format, "n": str}
FORMATS |= dict.fromkeys(("p", "p (Holm)", "p (t)"), stats.p_text)


def _as_text(rows: Iterable[dict] | pd.DataFrame) -> pd.DataFrame:
    """Return rows as a table of text: numbers by FORMATS, else with three decimals."""
    table = pd.DataFrame(rows, dtype=object)
    table = table.where(table.notna(), "")
    for name in table:
        number = FORMATS.get(name, "{:.3f}".format)
        table[name] = [cell if isinstance(cell, str) else number(cell) for cell in table[name]]
    return table


def _table(rows: Iterable[dict] | pd.DataFrame) -> str:
    """Return rows as a Markdown table with aligned columns."""
    table = _as_text(rows)
    lines = [[*table], *table.to_numpy().tolist()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


# The command.


def compare_command(
    evals, paths, base=None, split="dev", matters=stats.MATTERS, strict=False, to=None
) -> int:
    """Compare, print and write NAME.md and NAME.json; return the gate's exit status.

    0 no run is shown to be worse, 1 one is, 3 (strict) there are too few queries to tell. Raises
    EvalSetError where they cannot be compared, which ends the program with 2.
    """
    against = read_checked(base, evals) if base else saved_baseline(evals)
    others = [read_checked(path, evals) for path in paths]
    comparison = compare(evals, against, others, None if split == "all" else split, matters)
    for run, row in zip((against, *others), (comparison["base"], *comparison["runs"]), strict=True):
        if not row["judged@10"]:
            raise evalset.EvalSetError([f"{run.name}: {_why_unjudged(evals, run, split)}"])
    name = "+".join(run.name for run in others)
    name += "" if split == "dev" else f"-{split}"  # beside the report on dev, not over it
    _write((to or evals.folder / "comparisons") / name, comparison)
    verdicts = {row["verdict"] for row in comparison["runs"]}
    too_few = strict and stats.TOO_FEW in verdicts
    return 1 if stats.WORSE in verdicts else STRICT * too_few


def _why_unjudged(evals: evalset.EvalSet, run: runs.Run, split: str) -> str:
    """Return why no label is for what a run found: it is empty, of another half, or of others."""
    answered = [q for q, ranking in run.rankings.items() if ranking]
    halves = {evals.all_queries[query_id].split for query_id in answered}
    if not answered:
        return "the run is empty: no query has a result"
    if split not in ("all", *halves):
        (other,) = halves
        return f"all its results are for {other} queries, wanted {split}: take --split {other}"
    return f"none of its first ten documents is judged, {runs.OTHERS}"


def _write(path: Path, comparison: dict) -> None:
    """Write and print a comparison; at no moment a page stands beside the numbers of another."""
    markdown, page, numbers = comparison_page(comparison), Path(f"{path}.md"), Path(f"{path}.json")
    with files.new_file(page) as new_page, files.new_file(numbers) as new_numbers:
        files.write(new_page, markdown)
        files.write(new_numbers, json.dumps(comparison, indent=1, ensure_ascii=False) + "\n")
        page.unlink(missing_ok=True)
    plain = html.unescape(re.sub("</?span>", "", markdown))
    print(f"{plain}\nwritten: {path}.md and .json")
