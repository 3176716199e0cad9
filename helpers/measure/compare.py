"""Hold runs of any engine against the saved baseline: values, certainty, a verdict, a gate."""

import json
import math
import os
import re
from collections import Counter
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pandas as pd

from . import evalset, evidence, files, inert, links, measures, reading, results, runs, stats, text
from .evalset import EvalSet, EvalSetError
from .inert import interval, number
from .installation import TEMPLATES, command
from .measures import MEASURES, Qrels
from .runs import Run
from .text import how_many

PAGE = TEMPLATES / "compare.jinja"
PRIMARY = MEASURES[0]  # the verdict on documents rests on it unless another is named
DEPTH = int(PRIMARY.partition("@")[2])
MOVED = 5  # queries shown on each side
BOARD = ["difference", "95 %, each by itself", "p", "p (Holm)", "detectable"]
BOARD += ["wins/ties/losses", "judged@10", "verdict"]
APART = "test apart from dev"
STRICT = 3  # the exit status of too few queries
UNJUDGED = (
    "none of its first ten documents is judged: is it empty, of the other half (--split), turned "
    f"round, or {runs.OTHERS}"
)


def compare(evals: EvalSet, base: Run, others: list[Run], split: str | None = "dev") -> dict:
    """Return what is known about each of `others` against `base`; `split` is dev, test or all.

    Runs of one system, by their cards, are averaged by query and are one row; what is known of a
    single list (warnings, judged@10, lost evidence, AUROC) is that of the first of them.
    Measures are taken and named at the depth that two runs both have (recall@50). p of the primary
    one is adjusted over the runs, of others over the measures. Raises EvalSetError without queries.
    """
    split = _half(split)
    whole, evals = evals, known_to_all(evals, base, *others)
    qrels = _measured(evals, split)
    groups = by_system(others)
    rows = [_row(evals, qrels, base, group) for group in groups]
    _give_verdicts(rows, evals)
    _, (depth, _) = measures.cut_alike(len(evals.documents), base)
    names = _names(depth, _primary(evals.decides))
    described = _describe_run(base, qrels, measures.per_query(qrels, base.rankings, names))
    systems = [*zip([described, *rows], [[base], *groups], strict=True)]
    for row, (run, *_) in systems:
        row["told_apart"] = measures.answerability_auroc(evals, split, run.rankings)
    passages = {row["name"]: group for row, group in systems if group[0].parts}
    several = len(passages) > 1 + bool(base.parts)
    costs = {"costs": evidence.cost_points(evals, qrels, passages)} if several else {}
    comparison = {
        "evaluation_set": evals.name,
        "corpus_sha256": evals.corpus_hash(),
        "queries_sha256": evals.queries_hash(),
        "split": split or "all",
        "n": len(qrels),
        "matters": evals.matters,
        "decides": evals.decides,
        "base": described,
        "runs": rows,
    }
    return comparison | costs | _left_out(whole, evals, split)


def known_to_all(evals: EvalSet, *compared: Run) -> EvalSet:
    """Return a set without the queries that are newer than one of the runs."""
    newer = frozenset().union(*(run.newer for run in compared))
    queries = {q: query for q, query in evals.queries.items() if q not in newer}
    unanswered = {q: query for q, query in evals.unanswered.items() if q not in newer}
    return evals._replace(queries=queries, unanswered=unanswered)


def _left_out(whole: EvalSet, known: EvalSet, split: str | None) -> dict:
    """Return the ids of the queries of a half that are left out, by reason; {} where none is."""
    of_half = {q for q, query in whole.all_queries.items() if split in (None, query.split)}
    waiting = sorted(of_half & whole.waiting.keys())
    newer = sorted(of_half & (whole.settled_queries.keys() - known.settled_queries.keys()))
    return {"left_out": {"waiting": waiting, "newer": newer}} if waiting or newer else {}


def _half(split: str | None) -> str | None:
    """Return the half that a split names, None for all queries. Raises EvalSetError for another."""
    if split in (None, "all"):
        return None
    if split not in files.SPLITS:
        raise EvalSetError([f"split is {split!r}, wanted dev, test or all"])
    return split


def _measured(evals: EvalSet, split: str | None) -> Qrels:
    """Return the queries with a relevant document. Raises EvalSetError where none is measured."""
    qrels = {q: row for q, row in evals.qrels(split).items() if any(row.values())}
    if not qrels:
        fault = f"no {split or 'single'} query of {evals.name} has a relevant document"
        raise EvalSetError([fault])
    if evals.decides.startswith(measures.EXPONENTIAL) and evals.grades[-1] > measures.HIGHEST:
        fault = f"highest_grade is {evals.grades[-1]}, wanted up to {measures.HIGHEST}"
        raise EvalSetError([f"{evals.folder / 'settings.json'}: {fault} for {evals.decides}"])
    return qrels


def _primary(decides: str) -> str:
    """Return the measure of documents on which their verdict rests."""
    return PRIMARY if decides in evidence.OF_EVIDENCE else decides


def by_system(read: list[Run]) -> list[list[Run]]:
    """Return the runs whose cards name the same system together, any other by itself.

    Raises EvalSetError where runs of a system are not alike.
    """
    groups: dict = {}
    for run in read:
        groups.setdefault(run.one_of or len(groups), []).append(run)
    files.refuse([fault for first, *others in groups.values() for fault in _unlike(first, others)])
    return [*groups.values()]


def _unlike(first: Run, others: list[Run]) -> list[str]:
    """Return in what runs differ from the first of their system."""
    faults = []
    for run in others:
        for name, of_first in _made_of(first).items():
            if (of_run := _made_of(run)[name]) != of_first:
                fault = f"{run.name}: one_of is {run.one_of!r} as of {first.name}, with {name} "
                faults.append(f"{fault}{of_run} and {of_first}, wanted runs alike")
    return faults


def _made_of(run: Run) -> dict[str, str | int]:
    """Return what the runs of a system have in common."""
    results = "passages" if run.parts else "documents"
    return {"results": results, "chunker": run.chunker or "none", "depth": run.depth or "none"}


def _able_to_decide(row: dict) -> list[str]:
    """Return the measures of evidence, spelled as `decides`, that can decide about a run."""
    known = row["evidence"].get("measures", {})
    return [
        d for d, measure in evidence.OF_EVIDENCE.items() if measure in known or "@" in d and known
    ]


def decided_by(row: dict, decides: str) -> str:
    """Return the measure that decides about a run, of evidence where nDCG@10 would miss searches.

    It sees ten results, those of the first search alone where that found as many. A budget of
    tokens holds what the reader gets; it's BUDGET, or the largest one that the lists of both fill.
    """
    if decides != PRIMARY or "searches" not in row:
        return decides
    budgets = {f"evidence-{budget}-tokens": budget for budget in evidence.BUDGETS}
    able = [d for d in _able_to_decide(row) if budgets.get(d, math.inf) <= evidence.BUDGET]
    return able[-1] if able else decides


def _row(evals: EvalSet, qrels: Qrels, base: Run, group: list[Run]) -> dict:
    """Return everything about the runs of a system against the base but the verdict."""
    uncut = base
    base, *alike, (depth, cut) = measures.cut_alike(len(evals.documents), base, *group)
    names, run = _names(depth, _primary(evals.decides)), alike[0]
    before, *tables = (measures.per_query(qrels, of.rankings, names) for of in (base, *alike))
    after = stats.averaged(tables)
    row = _describe_run(run, qrels, after)
    if len(group) > 1:
        ends = sorted(fmean(values[names[0]] for values in table.values()) for table in tables)
        row["name"] = run.one_of
        row["averaged"] = {"runs": len(group), "low": ends[0], "high": ends[-1]}
    for of in alike[1:]:
        row["warnings"] += [f"{of.name}: {words}" for words in _run_warnings(of, qrels)]
    row["measures"] = stats.by_measure(names, before, after)
    row["bounds"] = stats.bounds_of(names[0], before, *tables)
    row["same_run"] = all(_is_same_run(evals, uncut, of) for of in group)
    row["new_failures"] = _new_failures(qrels, uncut, group)
    row["full_lost"] = _full_lost(evals, qrels, base, run)
    pairs = {q: (before[q][names[0]], after[q][names[0]]) for q in qrels}
    for field in measures.fields_told(evals):
        groups = measures.ids_by_field(evals, qrels, field).items()
        row[f"by_{field}"] = {name: _group_means([pairs[q] for q in ids]) for name, ids in groups}
    row["moved"] = _largest_changes(evals, pairs)
    row["full"] = _full_answers(evals, qrels, depth, base, *alike)
    row["evidence"] = evidence.compare_evidence(evals, qrels, depth, base, *alike)
    row["unjudged"] = [] if row.get("averaged") else _unjudged(evals, qrels, base, run, names[0])
    if again := [of for of in (*group, uncut) if of.first.keys() & qrels.keys()]:
        row["searches"] = _further_searches(evals, qrels, again[0])
    if cut:
        row["warnings"].append(_cut_in_words(cut, depth, names, len(evals.documents)))
    row["warnings"] += measures.length_warnings(qrels, depth, base, run)
    row["warnings"] += measures.label_warnings(qrels, depth, base, run)
    return row


def _is_same_run(evals: EvalSet, base: Run, run: Run) -> bool:
    """Return whether two runs have the same lists, of passages where both rank them.

    Lists of all queries of each half that the run answers count, whichever half is measured: a rare
    loss may be in the other one.
    """
    of_passages = bool(base.parts and run.parts)
    if of_passages and base.chunker != run.chunker:
        return False
    first, second = (of.parts if of_passages else of.rankings for of in (base, run))
    halves = {query.split for q, query in evals.queries.items() if second.get(q)}
    asked = [q for q, query in evals.queries.items() if query.split in halves]
    return all([*dict(first.get(q, []))] == [*dict(second.get(q, []))] for q in asked)


def _new_failures(qrels: Qrels, base: Run, group: list[Run]) -> list[str]:
    """Return the answerable queries that had results and have none in a run of the system."""
    answered = [query_id for query_id in qrels if base.rankings.get(query_id)]
    return [q for q in answered if not all(run.rankings.get(q) for run in group)]


def _full_lost(evals: EvalSet, qrels: Qrels, base: Run, run: Run) -> list[str]:
    """Return the queries whose full answers were in the first ten and aren't any more."""
    lost = []
    for query_id, grades in measures.answered_in_full(qrels, evals.full_grade).items():
        full = {doc_id for doc_id, grade in grades.items() if grade >= evals.full_grade}
        before, after = (dict(of.rankings.get(query_id, [])[:DEPTH]) for of in (base, run))
        if full & before.keys() and not full & after.keys():
            lost.append(query_id)
    return lost


def _cut_in_words(cut: Run, depth: float, names: list[str], documents: int) -> str:
    """Return where a run's lists end, what follows and, if no card says so, what to do about it.

    `depth` is inf against documents, `documents` is how many the corpus has.
    """
    full = min(runs.BASELINE["depth"], documents)
    ends = runs.list_depth(cut)
    longer = sum(len(ranking) > ends for ranking in (cut.parts or cut.rankings).values())
    words = f"lists of {cut.name} end at {how_many(ends, 'result')}"
    if longer:
        words += f" ({longer} longer)"
    if depth == math.inf:
        words += ", passages, so of each query both have as many documents as these hold"
    else:
        shorter = ", ".join(name for name in names if name not in MEASURES)
        words += f", so both are measured there: {shorter}"
    if not cut.depth:
        words += f"; give {full} results a query or, where there are no more, say so in its card: "
        words += f'"depth": {full}'
    return words


def _further_searches(evals: EvalSet, qrels: Qrels, run: Run) -> dict:
    """Return for how many `queries` a run searched again (`name`), and what that brings the reader.

    `means` are those of first searches alone and of all, over the `n` queries that have quotes; []
    for a run of documents.
    """
    again, (ranked, known) = run.first.keys() & qrels.keys(), evidence.ranked_passages(evals, run)
    quoted = {q: of for q, of in evidence.quoted_queries(evals).items() if ranked and q in again}
    alone = {query_id: ranked[query_id][: run.first[query_id]] for query_id in quoted}
    measure = evidence.OF_EVIDENCE.get(evals.decides, evidence.DECIDES)
    values = (evidence.by_query(evals, quoted, of, known) for of in (alone, ranked))
    means = [fmean(row[measure] for row in of.values()) for of in values] if quoted else []
    told = {"name": run.name, "queries": len(again), "n": len(quoted)}
    return told | {"measure": measure, "means": means}


def _full_answers(evals: EvalSet, qrels: Qrels, depth: float, *compared: Run) -> dict:
    """Return how two systems find full answers, of the queries that have one; {} where none has."""
    full = measures.answered_in_full(qrels, evals.full_grade)
    names = [measures.at_depth(name, depth) for name in measures.FULL]
    values = (measures.per_query(full, of.rankings, names, evals.full_grade) for of in compared)
    return {"n": len(full), "measures": stats.by_measure(names, *values)} if full else {}


def _unjudged(evals: EvalSet, qrels: Qrels, base: Run, run: Run, primary: str) -> list[dict]:
    """Return the least and the largest difference that grades of unjudged results could give.

    Each as the fields of Paired; [] for another measure than nDCG, and where all are judged.
    """
    family, _, k = primary.partition("@")
    if family != "nDCG":
        return []
    bounds = []
    for query_id, judged in qrels.items():
        ids = ([*dict(of.rankings.get(query_id, []))] for of in (base, run))
        bounds.append(measures.unjudged_bounds(judged, *ids, int(k), evals.grades[-1]))
    if all(low == high for low, high in bounds):
        return []
    ends = zip(*bounds, strict=True)
    return [
        stats.compare_paired([0] * len(end), end)._asdict()
        | {"bounds": stats.worst_case_bounds(end)}
        for end in ends
    ]


def _names(depth: float, primary: str) -> list[str]:
    """Return MEASURES, the primary one first, those that are deeper than a cut to its depth."""
    names = (measures.at_depth(name, depth) for name in (primary, *MEASURES))
    return [*dict.fromkeys(names)]  # of five documents, recall@10 and recall@100 are one


def _describe_run(run: Run, qrels: Qrels, values: dict) -> dict:
    """Return name, primary measure (the first), means, judged@10 and warnings of one run."""
    return {
        "name": run.name,
        "primary": [*values[min(qrels)]][0],
        "means": measures.means(values),
        "judged@10": measures.judged_at(qrels, run.rankings),
        "warnings": _run_warnings(run, qrels),
    }


def _run_warnings(run: Run, qrels: Qrels) -> list[str]:
    missing = [q for q in qrels if not run.rankings.get(q)]
    without = f"{how_many(len(missing), 'query')} without results, counted as 0: "
    return run.warnings + [without + runs.first_names(missing)] * bool(missing)


def _group_means(pairs: list[tuple[float, float]]) -> dict:
    """Return n and both means of a group of queries, without p: n is small."""
    base, run = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    return {"n": len(pairs), "base": base, "run": run, "difference": run - base}


def _largest_changes(evals: EvalSet, pairs: dict[str, tuple[float, float]]) -> list[dict]:
    """Return the queries that lost and won most, losses first."""
    changes = sorted((run - base, q) for q, (base, run) in pairs.items())
    lost = [q for change, q in changes if change < -stats.TIE][:MOVED]
    won = [q for change, q in changes if change > stats.TIE][-MOVED:]
    names = "query_id", "kind", "query", "base", "run"
    rows = [(q, evals.queries[q].kind, evals.queries[q].query, *pairs[q]) for q in lost + won]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _give_verdicts(rows: list[dict], evals: EvalSet) -> None:
    """Add p_holm, verdict, reason and `alone` to rows, and to what they say of unjudged, evidence.

    `alone` is the verdict that a row has without the others.
    """
    pairs = [row["measures"][row["primary"]] | {"bounds": row["bounds"]} for row in rows]
    _decide(rows, pairs, evals.matters)
    for end in (0, 1):  # of what grades of unjudged results could do, adjusted in the same way
        known = zip(rows, pairs, strict=True)
        ends = [row["unjudged"][end] if row["unjudged"] else {**pair} for row, pair in known]
        _decide(ends, ends, evals.matters)
    quoted = [row["evidence"] for row in rows if row["evidence"]]
    names = [evidence.deciding_measure(of["measures"], evals.decides) for of in quoted]
    pairs = [
        of["measures"][name] | {"bounds": of["bounds"]}
        for of, name in zip(quoted, names, strict=True)
    ]
    _decide(quoted, pairs, evals.matters)
    for row in rows:
        if row["same_run"]:
            same = dict.fromkeys(("verdict", "alone"), stats.SAME_RUN)
            same["reason"] = "its lists are those of the base"
            row |= same
            row["evidence"] |= same if row["evidence"] else {}


def _decide(rows: list[dict], pairs: list[dict], matters: float) -> None:
    """Add to each row the verdict on its pair of means, p adjusted over the rows."""
    for row, told in zip(rows, stats.verdicts(pairs, matters), strict=True):
        row |= told


def join_halves(comparison: dict, evals: EvalSet, base: Run, chosen: list[Run]) -> None:
    """Add to the chosen runs of a comparison of one half what both halves say of them (`halves`).

    And, where others do, what the test queries say that share no relevant document with dev.
    """
    evals = known_to_all(evals, base, *chosen)
    halves, apart = {comparison["split"]: comparison}, links.apart_from_dev(evals)
    for half in {*files.SPLITS} - {*halves}:
        halves[half] = compare(evals, base, chosen, half)
    if 0 < len(apart) < len(evals.qrels("test")):
        alone = evals._replace(queries={q: evals.queries[q] for q in apart})
        halves[APART] = compare(alone, base, chosen, "test")
    rows = {half: {row["name"]: row for row in of["runs"]} for half, of in halves.items()}
    for row in comparison["runs"]:
        told = {half: of[row["name"]] for half, of in rows.items() if row["name"] in of}
        if len(told) == len(halves):
            decides = decided_by(row, comparison["decides"])
            if not all(decides in _able_to_decide(of) for of in told.values()):
                decides = _primary(decides)  # what has no evidence is confirmed by its documents
            told = {half: _deciding(of, decides) for half, of in told.items()}
            dev, test = (told.pop(half) for half in files.SPLITS)
            between = stats.confirmation(dev, test)
            row["halves"] = {"dev": dev, "test": test, "test minus dev": between, **told}


def _refuse_unconfirmed(evals: EvalSet, others: list[Run], split: str) -> None:
    names = dict.fromkeys(run.one_of or run.name for run in others)
    unnamed = [name for name in names if name not in evals.confirmed]
    if unnamed and split != files.SPLITS[0] and evals.qrels("test"):
        days = json.dumps(evals.confirmed | dict.fromkeys(unnamed, date.today().isoformat()))
        fault = f"field confirmed lacks {', '.join(unnamed)}: choose on dev, then name what you "
        fault += f'chose, with the day: "confirmed": {days}'
        raise EvalSetError([f"{evals.folder / 'settings.json'}: {fault}"])


def pairs_to_read(evals: EvalSet, base: Run, others: list[Run], split, n: int) -> list[dict]:
    """Return the `n` unjudged pairs whose grades could move the differences in PRIMARY most.

    By `measures.weights_of_labels`, of several runs the largest. They are sorted by id, so that no
    row says which run brought it; the panel shuffles them.
    """
    weights: dict[text.Pair, float] = {}
    evals = known_to_all(evals, base, *others)
    for run in others:
        pair = measures.cut_alike(len(evals.documents), base, run)[:2]
        for query_id, judged in evals.qrels(split).items():
            ids = ([*dict(of.rankings.get(query_id, []))] for of in pair)
            moved = measures.weights_of_labels(judged, *ids, DEPTH, evals.grades[-1])
            for doc_id, weight in moved.items():
                weights[query_id, doc_id] = max(weight, weights.get((query_id, doc_id), 0))
    heaviest = sorted(weights, key=lambda pair: (-weights[pair], pair))[:n]
    return [{"query_id": query_id, "doc_id": doc_id} for query_id, doc_id in sorted(heaviest)]


# Reading: the saved baseline, and what a run says about itself.


def saved_baseline(evals: EvalSet) -> Run:
    """Return the baseline run of the folder, with its ranked chunks where they are saved.

    Raises EvalSetError where it is missing, or is not what results.json measured on this set.
    """
    if not (evals.folder / "results.json").exists():
        makes = command("report", EVALS=evals.folder)
        raise EvalSetError([f"{evals.folder} has no baseline yet, {makes} makes it"])
    content, path = results.read_current_results(evals), evals.folder / results.RUN
    known = {"chunker": runs.BASELINE["chunker"], "depth": runs.BASELINE["depth"]}
    measured = results.measured_queries(evals, content)
    known["newer"] = frozenset(evals.settled_queries.keys() - measured)
    run = runs.read_run(path, evals)._replace(name="baseline", **known)
    chunk_run = path.with_suffix(".jsonl")
    if not chunk_run.exists():
        return run
    if "chunks_sha256" not in content["run"]:
        run.warnings.append(
            f"results.json has no hash of {results.CHUNKS}, so its evidence may be "
            f"that of other chunks: {results.ANEW.format(evals.folder)}"
        )
    return run._replace(parts=runs.read_run(chunk_run, evals).parts)


def read_compared(evals: EvalSet, base, systems, split: str, read=None) -> list[Run]:
    """Return the base (None: the saved baseline) and the other systems, as `read` gives a run.

    Each has a name of its own: old/run.trec and new/run.trec are both called run. Raises
    EvalSetError, also for a look at test (`split` is not dev) of what nobody chose on dev.
    """
    _half(split)  # before a function is asked every query
    read = read or partial(read_checked, evals=evals)
    found = [read(base) if base else saved_baseline(evals), *map(read, systems)]
    _refuse_unconfirmed(evals, found if base else found[1:], split)
    names = Counter(run.name for run in found)
    for n, system in enumerate([base or "baseline", *systems]):
        if names[name := found[n].name] > 1:
            own = str(system) if isinstance(system, (str, Path)) else f"{name} {n}"
            found[n] = found[n]._replace(name=own)
    return found


def read_checked(path: Path, evals: EvalSet) -> Run:
    """Read a run; a JSON file of the same name beside it says on which corpus it was made.

    With it an empty file is a run that found nothing. Raises EvalSetError for what cannot be used.
    """
    if not path.is_file():
        raise EvalSetError([f"{path}:1: cannot be read, wanted a run: runs/mine.trec"])
    beside = runs.card_path(path)
    has_card = bool(beside and os.path.lexists(beside))
    card = runs.read_card(beside) if has_card else {}
    files.refuse([f"{beside}:1: {fault}" for fault in runs.card_faults(card, evals)])
    is_empty = has_card and next(files.lines(path), None) is None
    run = Run(beside.stem, {}, []) if is_empty else runs.read_run(path, evals)
    names = {name: card[name] for name in ("chunker", "one_of") if isinstance(card.get(name), str)}
    try:
        newer = runs.newer_queries(run.rankings, card, evals)
    except ValueError as error:
        raise EvalSetError([f"{beside}:1: {error}"]) from None
    run = run._replace(depth=card.get("depth", 0), newer=newer, **names)
    if beside is None:
        run.warnings.append(f"{path.name} is named as a card, so it has none: name it run.jsonl")
    run.warnings.extend(_chunk_set_warnings(run, beside or path, evals))
    if has_card:
        run.warnings.extend(_missing_hashes(run, card, path, evals))
    return run


def _missing_hashes(run: Run, card: dict, path: Path, evals: EvalSet) -> list[str]:
    """Return a warning where the card of a run doesn't say on what it was made."""
    wanted = runs.hashes(evals, run.chunker if _has_chunk_ids(run) else "")
    missing = [name for name in wanted if name not in card]
    if not missing:
        return []
    told = f"the card has no {' and no '.join(missing)}, so the run may be of another set"
    return [f"{told}: {command('card', RUN=path)} adds what is missing"]


def _has_chunk_ids(run: Run) -> bool:
    """Return whether a run ranks chunks by number, not only spans and documents."""
    passages = chain.from_iterable(run.parts.values())
    return any(":" not in name.rpartition("#")[2] for name, _ in passages)


def _chunk_set_warnings(run: Run, card: Path, evals: EvalSet) -> list[str]:
    """Return a warning where no set is named that a run's chunk ids are of.

    Raises EvalSetError where its card names one that the folder lacks.
    """
    numbered, folder = _has_chunk_ids(run), evals.folder / "chunks"
    if numbered and run.chunker and not (folder / f"{run.chunker}.jsonl").is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.jsonl"))) or "none yet"
        wanted = f"wanted the name of a set in {folder}: {known}"
        raise EvalSetError([f"{card}:1: chunker is {run.chunker!r}, {wanted}"])
    alone = "chunk ids count as their documents, and their evidence is not measured"
    warning = f'{alone}: wanted their set in {card.name}, "chunker": "recursive"'
    return [warning] if numbered and not run.chunker else []


def read_systems(evals: EvalSet) -> list[Run]:
    """Return the runs in the folder's `systems/`, by name: what other engines found."""
    paths = sorted((evals.folder / "systems").glob("*.trec"))
    return [read_checked(path, evals) for path in paths]


# Writing: one dictionary, two forms.


def leaderboard(comparison: dict) -> pd.DataFrame:
    """Return the leaderboard as text, best run first; a short one names its measure beside it."""
    base, name = comparison["base"], _primary(comparison.get("decides", PRIMARY))
    mean = base["means"][measures.mean_name(base["primary"])]
    rows = []
    for row in comparison["runs"]:
        pair = row["measures"][row["primary"]]
        run = row["name"] + ("" if row["primary"] == name else f" ({row['primary']})")
        figures = [number(pair["run"]), number(pair["difference"], "+.3f")]
        figures += [interval((pair["low"], pair["high"]), "+.3f")]
        figures += [*map(stats.p_text, (pair["p"], row["p_holm"])), number(pair["detectable"])]
        figures += [f"{pair['wins']}/{pair['ties']}/{pair['losses']}"]
        rows.append([-pair["run"], run, *figures, number(row["judged@10"], ".2f"), row["verdict"]])
    first = [base["name"], number(mean), *[""] * 6, number(base["judged@10"], ".2f")]
    table = [[*first, "the baseline"], *(row[1:] for row in sorted(rows))]
    return pd.DataFrame(table, columns=["run", name, *BOARD], dtype=object).set_index("run")


def comparison_page(comparison: dict) -> str:
    """Return the comparison as Markdown in which no text of the set acts."""
    filters = {"mean": measures.mean_name, "p": stats.p_text}
    decide = {decided_by(row, comparison["decides"]) for row in comparison["runs"]}
    verdict = "verdict on documents" if decide & evidence.OF_EVIDENCE.keys() else "verdict"
    page = inert.template(PAGE, **filters).render(
        comparison,
        deciding=_deciding,
        decided_by=decided_by,
        sees_ten=PRIMARY,
        of_documents=_primary(comparison["decides"]),
        left=evalset.left_out(**comparison.get("left_out", {"waiting": []})),
        board=leaderboard(comparison).reset_index().rename(columns={"verdict": verdict}),
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


def _deciding(row: dict, decides: str) -> dict:
    """Return the fields of Paired that decide about a run, with the verdict.

    Raises EvalSetError where it is a measure of evidence that the run does not have.
    """
    measure, of, able = row["primary"], row, _able_to_decide(row)
    if decides in able:
        of = row["evidence"]
        measure = evidence.deciding_measure(of["measures"], decides)
    elif decides in evidence.OF_EVIDENCE:
        lacks = "it or its base ranks no passages"
        why = f"its lists end before that, wanted one of {', '.join(able)}" if able else lacks
        raise EvalSetError([f"{row['name']}: {decides} cannot decide, {why}"])
    pair = {field: of["measures"][measure][field] for field in stats.Paired._fields}
    return pair | {field: of[field] for field in ("bounds", "verdict", "alone")}


# The commands.


def card_command(evals: EvalSet, path: Path) -> list[str]:
    """Write the card beside a run, or what it lacks; return its path and the run's warnings.

    Raises EvalSetError where the run is not of this set, as far as it can tell.
    """
    run, beside = read_checked(path, evals), runs.card_path(path)
    if beside is None:
        raise EvalSetError([f"{path}: stands where its card would, wanted the name run.jsonl"])
    facts = runs.read_card(beside) if os.path.lexists(beside) else {}
    runs.write_card(beside, evals, facts, run.rankings)
    warnings = read_checked(path, evals).warnings
    return [f"card: {beside}", *(f"Warning ({run.name}): {words}" for words in warnings)]


def compare_command(
    evals, paths, base=None, split="dev", gate="worse", strict=False, pairs=None, to=None, **more
) -> int:
    """Compare, print and write NAME.md and NAME.json; return the gate's exit status.

    `more` are `matters` and `decides`, where they are not those of the set, the file `junit`, and
    `no_new_failures`; `pairs` is how many unjudged results go to the pairs to read.

    Each run is judged by itself. The gate "worse": 0 no run is shown to be worse, 1 one is, 3
    (strict) there are too few queries to tell. The gate "not-worse": 0 every run is shown to be
    worse by less than `matters`, 1 one is worse by more, else 3. With `no_new_failures` it is also
    1 where an answerable query that had results has none. Raises EvalSetError where they cannot be
    compared, which ends the program with 2.
    """
    junit = more.pop("junit", None)
    no_new_failures = more.pop("no_new_failures", False)
    if pairs is not None and pairs < 1:
        raise EvalSetError([f"--pairs is {pairs}, wanted a number from 1"])
    against, *others = read_compared(evals, base, paths, split)
    name = "+".join(runs.unzipped(path).stem for path in paths)
    name += "" if split == "dev" else f"-{split}"  # beside the report on dev, not over it
    comparison = compare_on(evals, against, others, split, **more)
    _write((to or evals.folder / "comparisons") / name, comparison)
    if pairs:
        found = pairs_to_read(evals, against, others, _half(split), pairs)
        left = reading.write_list(evals, found)
        place = f"; {left} in {evals.folder / reading.TO_READ}, which session A opens" * bool(left)
        print(f"{how_many(len(found), 'unjudged pair')} that could move a difference{place}")
    statuses = gate_statuses(comparison, gate, strict, no_new_failures)
    if junit:
        files.write(junit, as_junit(comparison, statuses))
    return 1 if 1 in statuses else max(statuses)


def compare_on(evals: EvalSet, base: Run, others: list[Run], split: str, **rules) -> dict:
    """Return what `compare` does on dev, test or all, with both halves where test is asked.

    The `decision` of a run has the verdict and the fields of Paired. `rules` are `matters` and
    `decides`, if not those of the set. Raises EvalSetError where no label is for what a run found.
    """
    files.refuse(files.schema("settings").faults(rules))
    evals = evals._replace(**rules)
    comparison = compare(evals, base, others, split)
    if split == "test" and evals.qrels("dev"):
        join_halves(comparison, evals, base, others)
    read = [base, *(first for first, *_ in by_system(others))]
    for run, row in zip(read, [comparison["base"], *comparison["runs"]], strict=True):
        if not row["judged@10"]:
            raise EvalSetError(f"{run.name}: {why}" for why in (UNJUDGED, *run.warnings))
    for row in comparison["runs"]:
        row["decision"] = _deciding(row, decided_by(row, comparison["decides"]))
    return comparison


def gate_statuses(
    comparison: dict, gate: str, strict: bool = False, no_new_failures: bool = False
) -> list[int]:
    """Return the gate's exit status for each run by itself, as `compare_command` tells it."""
    statuses = []
    for row in comparison["runs"]:
        if no_new_failures and row["new_failures"]:
            statuses.append(1)
        elif gate == "not-worse":
            statuses.append(_not_worse(row["decision"], comparison["matters"]))
        else:
            statuses.append(_worse(row["decision"], strict))
    return statuses


def _worse(pair: dict, strict: bool) -> int:
    if pair["alone"] == stats.WORSE:
        return 1
    return STRICT if strict and pair["alone"] == stats.TOO_FEW else 0


def _not_worse(pair: dict, matters: float) -> int:
    """Return the exit status of a test of non-inferiority (ICH E9, 1998).

    That a run is not worse is said by the worst case, that it is worse by the t interval.
    """
    if pair["alone"] == stats.SAME_RUN or pair["bounds"][0] > -matters:
        return 0
    return 1 if pair["n"] >= stats.FEWEST and pair["high"] < -matters else STRICT


ENDED = {0: "system-out", 1: "failure", STRICT: "skipped"}  # what JUnit calls a status


def as_junit(comparison: dict, statuses: list[int]) -> str:
    """Return JUnit XML with a test case for each run: failed at status 1, skipped at 3."""
    beside = f"against {comparison['base']['name']}, {comparison['evaluation_set']}"
    suite = ElementTree.Element("testsuite", name="retrieval-baseline", tests=str(len(statuses)))
    for counter, status in (("failures", 1), ("errors", 2), ("skipped", STRICT)):
        suite.set(counter, str(statuses.count(status)))
    for row, status in zip(comparison["runs"], statuses, strict=True):
        pair = row["decision"]
        means = f"{decided_by(row, comparison['decides'])} {pair['base']:.3f} to {pair['run']:.3f}"
        words = f"{row['name']}: {pair['alone']}, {means}"
        if row["new_failures"]:
            words += f"; newly without results: {', '.join(row['new_failures'])}"
        case = ElementTree.SubElement(suite, "testcase", classname="compare")
        case.set("name", inert.visible(f"{row['name']} {beside}"))
        ElementTree.SubElement(case, ENDED[status]).text = inert.visible(words)
    return ElementTree.tostring(suite, "utf-8").decode() + "\n"


def _write(path: Path, comparison: dict) -> None:
    """Write and print a comparison; at no moment a page stands beside the numbers of another."""
    markdown, page = comparison_page(comparison), Path(f"{path}.md")
    page.unlink(missing_ok=True)
    numbers = json.dumps(comparison, indent=1, ensure_ascii=False)
    files.write(Path(f"{path}.json"), f"{numbers}\n")
    files.write(page, markdown)
    print(f"{inert.plain(markdown)}\nwritten: {path}.md and .json")
