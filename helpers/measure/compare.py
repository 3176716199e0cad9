"""Hold runs of any engine against the saved baseline: read, measure, decide, show.

`systems` reads the runs and `verdicts` decides; what they say stands in one
dictionary, the content of the comparison's JSON file, which `pages` shows.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from . import evidence, files, links, measures, pages, reading, runs, stats, systems, verdicts
from .evalset import EvalSet, EvalSetError, Queries
from .measures import PRIMARY, Qrels
from .runs import Run
from .text import Pair, how_many

DEPTH = int(PRIMARY.partition("@")[2])
MOVED = 5  # queries shown on each side
APART = "test apart from dev"
NEWEST = "test, newest round"
UNJUDGED = (
    "none of its first ten documents is judged: is it empty, of the other half (--split), turned "
    f"round, or {runs.OTHERS}"
)
Means = tuple[float, float]  # of one query or several: the base's, the run's


def compare_command(
    evals: EvalSet,
    paths: list[Path],
    base: Path | None = None,
    split: str = "dev",
    gate: str = "worse",
    strict: bool = False,
    no_new_failures: bool = False,
    pairs: int | None = None,
    junit: Path | None = None,
    to: Path | None = None,
    of_round: int | None = None,
    **rules,
) -> int:
    """Compare, print and write NAME.md and NAME.json; return the gate's exit status.

    `rules` are `matters` and `decides`, where they are not those of the set; `pairs`
    is how many unjudged results go to the pairs to read, `junit` a file to write,
    `of_round` the round of the queries that count.
    Each run is judged by itself, as `verdicts.gate_statuses` says; 1 of any comes
    before all else. Raises EvalSetError where they cannot be compared, which ends
    the program with 2.
    """
    if pairs is not None and pairs < 1:
        raise EvalSetError(f"--pairs is {pairs}, wanted a number from 1")
    against, *others = systems.read_compared(evals, base, paths, split)
    if of_round is not None:
        evals = systems.of_round(evals, of_round)
    comparison = compare_on(evals, against, others, split, **rules)
    statuses = verdicts.gate_statuses(comparison, gate, strict, no_new_failures)
    if of_round is not None:
        comparison["of_round"] = of_round
    to = to or evals.folder / "comparisons"
    pages.write_comparison(to / _report_name(paths, split, of_round), comparison)
    if pairs:
        half = systems.half_of(split)
        _list_to_read(evals, pairs_to_read(evals, against, others, half, pairs))
    if junit:
        files.write(junit, pages.as_junit(comparison, statuses))
    return 1 if 1 in statuses else max(statuses)


def _report_name(paths: list[Path], split: str, of_round: int | None) -> str:
    """Return the name of a report's files, without a suffix: "bm25+dense-test-round-2"."""
    name = "+".join(runs.unzipped(path).stem for path in paths)
    if split != "dev":
        name += f"-{split}"  # beside the report on dev, not over it
    if of_round is not None:
        name += f"-round-{of_round}"
    return name


def _list_to_read(evals: EvalSet, found: list[dict]) -> None:
    """Add pairs to the list of those to read, and print how many wait there."""
    left = reading.write_list(evals, found)
    words = f"{how_many(found, 'unjudged pair')} that could move a difference"
    if left:
        words += f"; {left} in {evals.folder / reading.TO_READ}, which the panel opens"
    print(words)


def compare_on(evals: EvalSet, base: Run, others: list[Run], split: str, **rules) -> dict:
    """Return what `compare` does on dev, test or all, with both halves where test is asked.

    The `decision` of a run has the verdict and the fields of Paired. `rules` are
    `matters` and `decides`, if not those of the set. Raises EvalSetError where no
    label is for what a run found.
    """
    files.refuse(files.schema("settings").faults(rules))
    evals = evals._replace(**rules)
    comparison = compare(evals, base, others, split, measures.MEASURES)
    if split == "test" and evals.qrels("dev"):
        join_halves(comparison, evals, base, others)
    first = [base, *(run for run, *_ in systems.by_system(others))]
    for run, row in zip(first, [comparison["base"], *comparison["runs"]], strict=True):
        if not row["judged@10"]:
            raise EvalSetError(f"{run.name}: {why}" for why in (UNJUDGED, *run.warnings))
    for row in comparison["runs"]:
        decides = verdicts.decided_by(row, evals.decides)
        row["decision"] = verdicts.decision(row, decides)
    return comparison


def compare(
    evals: EvalSet,
    base: Run,
    others: list[Run],
    split: str | None = "dev",
    names: Sequence[str] = measures.LESSON,
) -> dict:
    """Return what is known about each of `others` against `base`; `split` is dev, test or all.

    `names` are the measures that are taken beside the one that decides. Runs of one
    system, by their cards, are averaged by query and are one row; what is known of a
    single list (warnings, judged@10, lost evidence, AUROC) is that of the first of
    them. Measures are taken and named at the depth that two runs both have
    (recall@50). p of the primary one is adjusted over the runs, of others over the
    measures. Raises EvalSetError without queries.
    """
    half = systems.half_of(split)
    known, groups = systems.known_to_all(evals, base, *others), systems.by_system(others)
    left_out = systems.left_out(evals, known, half)
    qrels = _measured_queries(known, half)
    wanted = [verdicts.of_documents(known.decides), *names]
    described = _base_row(base, qrels, wanted, len(known.documents))
    rows = [_system_row(known, qrels, base, group, wanted) for group in groups]
    verdicts.give_verdicts(rows, known.decides, known.matters)
    for row, group in zip([described, *rows], [[base], *groups], strict=True):
        row["told_apart"] = measures.answerability_auroc(known, half, group[0].rankings)
    comparison = {
        "evaluation_set": known.name,
        "corpus_sha256": known.corpus_hash(),
        "queries_sha256": known.queries_hash(),
        "split": half or "all",
        "n": len(qrels),
        "matters": known.matters,
        "decides": known.decides,
        "base": described,
        "runs": rows,
    }
    return comparison | _costs(known, qrels, base, groups) | left_out


def _costs(evals: EvalSet, qrels: Qrels, base: Run, groups: list[list[Run]]) -> dict:
    """Return what the systems that rank passages cost (`costs`), {} for fewer than two."""
    ranking_passages = [group for group in groups if group[0].parts]
    if len(ranking_passages) < 2:
        return {}
    if base.parts:
        ranking_passages = [[base], *ranking_passages]
    by_name = {_name_of(group): group for group in ranking_passages}
    return {"costs": evidence.cost_points(evals, qrels, by_name)}


def _name_of(group: list[Run]) -> str:
    return group[0].one_of if len(group) > 1 else group[0].name


def _measured_queries(evals: EvalSet, half: str | None) -> Qrels:
    """Return the queries with a relevant document. Raises EvalSetError where none is measured."""
    qrels = {q: row for q, row in evals.qrels(half).items() if any(row.values())}
    if not qrels:
        raise EvalSetError(f"no {half or 'single'} query of {evals.name} has a relevant document")
    if evals.decides.startswith(measures.EXPONENTIAL) and evals.grades[-1] > measures.HIGHEST:
        fault = f"highest_grade is {evals.grades[-1]}, wanted up to {measures.HIGHEST}"
        raise EvalSetError(f"{evals.folder / 'settings.json'}: {fault} for {evals.decides}")
    return qrels


# One run, and a system against the base.


def _base_row(base: Run, qrels: Qrels, wanted: list[str], documents: int) -> dict:
    """Return what is known of the base by itself; the corpus has so many `documents`."""
    names = _at_depth(wanted, measures.cut_alike(documents, base).depth)
    return _run_row(base, qrels, measures.per_query(qrels, base.rankings, names))


def _at_depth(wanted: list[str], depth: float) -> list[str]:
    """Return the measures, each once, those that are deeper than a cut to its depth."""
    names = [measures.at_depth(name, depth) for name in wanted]
    return [*dict.fromkeys(names)]  # of five documents, recall@10 and recall@100 are one


def _run_row(run: Run, qrels: Qrels, values: measures.Values) -> dict:
    """Return name, primary measure (the first), means, judged@10 and warnings of one run."""
    return {
        "name": run.name,
        "primary": next(iter(values[min(qrels)])),
        "means": measures.means(values),
        "judged@10": measures.judged_at(qrels, run.rankings),
        "warnings": _run_warnings(run, qrels),
    }


def _run_warnings(run: Run, qrels: Qrels) -> list[str]:
    missing = [q for q in qrels if not run.rankings.get(q)]
    if not missing:
        return [*run.warnings]
    without = f"{how_many(missing, 'query')} without results, counted as 0: "
    return [*run.warnings, without + runs.first_names(missing)]


def _system_row(
    evals: EvalSet, qrels: Qrels, base: Run, group: list[Run], wanted: list[str]
) -> dict:
    """Return everything about the runs of a system against the base but the verdict.

    `wanted` are the measures of lists that are deep enough, the primary one first.
    """
    alike = measures.cut_alike(len(evals.documents), base, *group)
    names = _at_depth(wanted, alike.depth)
    cut_base, run, *further = alike.runs
    before, *tables = [measures.per_query(qrels, one.rankings, names) for one in alike.runs]
    after = stats.averaged(tables)
    primary = names[0]
    changes = {q: (before[q][primary], after[q][primary]) for q in qrels}
    full = measures.answered_in_full(qrels, evals.full_grade)

    row = _run_row(run, qrels, after) | {"name": _name_of(group)}
    row["warnings"] += _system_warnings(evals, qrels, alike, names)
    row["warnings"] += _offered_warnings(evals, qrels, changes)
    if further:
        means = [fmean(values[primary] for values in table.values()) for table in tables]
        row["averaged"] = {"runs": len(group), "low": min(means), "high": max(means)}
    row |= {
        "measures": stats.by_measure(names, before, after),
        "bounds": stats.bounds_of(primary, before, after),
        "same_run": all(_is_same_run(evals.queries, base, one) for one in group),
        "new_failures": _new_failures(qrels, base, group),
        "full_lost": _full_lost(full, evals.full_grade, cut_base, run),
    }
    for field in measures.fields_told(evals):
        ids = measures.ids_by_field(evals, changes, field)
        row[f"by_{field}"] = _means_by_group(ids, changes)
    row |= {
        "moved": _most_changed(evals.queries, changes),
        "full": _full_answers(full, evals.full_grade, alike),
        "evidence": evidence.compare_evidence(evals, qrels, alike.depth, *alike.runs),
        "unjudged": [] if further else _unjudged(qrels, cut_base, run, primary, evals.grades[-1]),
    }
    return row | _further_searches(qrels, [*group, base])


def _system_warnings(
    evals: EvalSet, qrels: Qrels, alike: measures.Alike, names: list[str]
) -> list[str]:
    """Return what the reader should know of further runs, and of lists and labels of the first."""
    base, run, *further = alike.runs
    lines = []
    for other in further:
        lines += [f"{other.name}: {words}" for words in _run_warnings(other, qrels)]
    lines += measures.cut_warnings(alike, names, len(evals.documents))
    lines += measures.length_warnings(qrels, alike.depth, base, run)
    return lines + measures.label_warnings(qrels, alike.depth, base, run)


def _offered_warnings(evals: EvalSet, qrels: Qrels, changes: dict[str, Means]) -> list[str]:
    """Return a line where all relevant labels of the queries that differ are accepted offers."""
    differing = [q for q, (base, run) in changes.items() if abs(run - base) > stats.TIE]
    relevant = {(q, d) for q in differing for d, grade in qrels[q].items() if grade}
    if not relevant or not relevant <= evals.offered.keys():
        return []
    n = how_many(differing, "query")
    return [f"it rests on offered labels only: all relevant ones of the {n} that differ"]


def _is_same_run(queries: Queries, base: Run, run: Run) -> bool:
    """Return whether two runs have the same lists, of passages where both rank them.

    Lists of all queries of each half that the run answers count, whichever half is
    measured: a rare loss may be in the other one.
    """
    before, after = base.rankings, run.rankings
    if base.parts and run.parts:
        if base.chunker != run.chunker:
            return False
        before, after = base.parts, run.parts
    halves = {query.split for q, query in queries.items() if after.get(q)}
    asked = [q for q, query in queries.items() if query.split in halves]
    return all(_ids(before, q) == _ids(after, q) for q in asked)


def _ids(rankings: runs.Rankings, query_id: str) -> list[str]:
    """Return the ids of what was found for a query, each once, best first."""
    return [*dict(rankings.get(query_id, []))]


def _new_failures(qrels: Qrels, base: Run, group: list[Run]) -> list[str]:
    """Return the answerable queries that had results and have none in a run of the system."""
    answered = [query_id for query_id in qrels if base.rankings.get(query_id)]
    return [q for q in answered if not all(run.rankings.get(q) for run in group)]


def _full_lost(labels: Qrels, full_grade: int, base: Run, run: Run) -> list[str]:
    """Return the queries whose full answers were in the first ten and aren't any more.

    `labels` are those of the queries that have one.
    """
    lost = []
    for query_id, grades in labels.items():
        full = {doc_id for doc_id, grade in grades.items() if grade >= full_grade}
        before, after = (_ids(one.rankings, query_id)[:DEPTH] for one in (base, run))
        if full.intersection(before) and full.isdisjoint(after):
            lost.append(query_id)
    return lost


def _means_by_group(ids: dict[str, list[str]], changes: dict[str, Means]) -> dict[str, dict]:
    """Return n and both means of each group of queries, without p: n is small."""
    groups = {}
    for value, query_ids in ids.items():
        n = len(query_ids)
        base, run = (sum(changes[q][side] for q in query_ids) / n for side in (0, 1))
        groups[value] = {"n": n, "base": base, "run": run, "difference": run - base}
    return groups


def _most_changed(queries: Queries, changes: dict[str, Means]) -> list[dict]:
    """Return the queries that lost and won most, losses first."""
    ordered = sorted((run - base, q) for q, (base, run) in changes.items())
    lost = [q for change, q in ordered if change < -stats.TIE][:MOVED]
    won = [q for change, q in ordered if change > stats.TIE][-MOVED:]
    rows = []
    for query_id in lost + won:
        query, (base, run) = queries[query_id], changes[query_id]
        row = {"query_id": query_id, "kind": query.kind, "query": query.query}
        rows.append(row | {"base": base, "run": run})
    return rows


def _full_answers(labels: Qrels, full_grade: int, alike: measures.Alike) -> dict:
    """Return how two systems find full answers, of the queries that have one; {} where none has."""
    if not labels:
        return {}
    names = [measures.at_depth(name, alike.depth) for name in measures.FULL]
    values = (measures.per_query(labels, of.rankings, names, full_grade) for of in alike.runs)
    return {"n": len(labels), "measures": stats.by_measure(names, *values)}


def _unjudged(qrels: Qrels, base: Run, run: Run, primary: str, highest: int) -> list[dict]:
    """Return the least and the largest difference that grades of unjudged results could give.

    Grades go up to `highest`. Each as the fields of Paired; [] for another measure
    than nDCG, and where all are judged.
    """
    family, _, k = primary.partition("@")
    if family != "nDCG":
        return []
    bounds = []
    for query_id, judged in qrels.items():
        found = _ids(base.rankings, query_id), _ids(run.rankings, query_id)
        bounds.append(measures.unjudged_bounds(judged, *found, int(k), highest))
    if all(low == high for low, high in bounds):
        return []
    ends = []
    for differences in zip(*bounds, strict=True):
        pair = stats.compare_paired([0] * len(differences), differences)._asdict()
        ends.append(pair | {"bounds": stats.worst_case_bounds(differences)})
    return ends


def _further_searches(qrels: Qrels, tried: list[Run]) -> dict:
    """Return the first run that searched again, and for how many queries; {} where none did."""
    for run in tried:
        if again := run.first.keys() & qrels.keys():
            return {"searches": {"name": run.name, "queries": len(again)}}
    return {}


# Both halves.


def join_halves(comparison: dict, evals: EvalSet, base: Run, chosen: list[Run]) -> None:
    """Add to the chosen runs of a comparison of one half what both halves say of them (`halves`).

    And, where there are others, what the test queries say that share no relevant
    document with dev, and those of the newest round.
    """
    evals = systems.known_to_all(evals, base, *chosen)
    halves = {comparison["split"]: comparison}
    for half in files.SPLITS:
        if half not in halves:
            halves[half] = compare(evals, base, chosen, half)
    test = evals.qrels("test")
    last = max((evals.queries[q].round for q in test), default=0)
    newest = [q for q in test if evals.queries[q].round == last]
    for name, part in {APART: links.apart_from_dev(evals), NEWEST: newest}.items():
        if 0 < len(part) < len(test):
            alone = evals.only({*part})
            halves[name] = compare(alone, base, chosen, "test")
    for row in comparison["runs"]:
        own = {}
        for half, found in halves.items():
            for of_half in found["runs"]:
                if of_half["name"] == row["name"]:
                    own[half] = of_half
        if own.keys() == halves.keys():
            row["halves"] = _confirmed(own, verdicts.decided_by(row, comparison["decides"]))


def _confirmed(halves: dict[str, dict], decides: str) -> dict:
    """Return what decides about a run in each half, its means, and whether test confirms dev."""
    if not all(decides in verdicts.able_to_decide(row) for row in halves.values()):
        decides = verdicts.of_documents(decides)  # without evidence its documents confirm it
    decisions = {}
    for half, row in halves.items():
        decisions[half] = verdicts.decision(row, decides) | {"means": row["means"]}
    dev, test = (decisions.pop(half) for half in files.SPLITS)
    return {"dev": dev, "test": test, "test minus dev": stats.confirmation(dev, test)} | decisions


# What to read next.


def pairs_to_read(
    evals: EvalSet, base: Run, others: list[Run], half: str | None, n: int
) -> list[dict]:
    """Return the `n` unjudged pairs whose grades could move the differences in PRIMARY most.

    By `measures.weights_of_labels`, of several runs the largest. They are sorted by
    id, so that no row says which run brought it; the panel shuffles them.
    """
    weights: dict[Pair, float] = {}
    evals = systems.known_to_all(evals, base, *others)
    qrels, highest = evals.qrels(half), evals.grades[-1]
    for run in others:
        pair = measures.cut_alike(len(evals.documents), base, run).runs
        for query_id, judged in qrels.items():
            found = (_ids(of.rankings, query_id) for of in pair)
            moved = measures.weights_of_labels(judged, *found, DEPTH, highest)
            for doc_id, weight in moved.items():
                weights[query_id, doc_id] = max(weight, weights.get((query_id, doc_id), 0))
    heaviest = sorted(weights, key=lambda pair: (-weights[pair], pair))[:n]
    return [{"query_id": query_id, "doc_id": doc_id} for query_id, doc_id in sorted(heaviest)]
