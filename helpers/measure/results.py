"""results.json: what was measured on what, in total and by query, with the failure cards."""

import json
import math
import re
from collections import defaultdict
from pathlib import Path
from statistics import stdev

import fastjsonschema

from . import evalset, evidence, files, inert, measures, runs, stats, text, tokens
from .chunks import Chunk
from .evalset import EvalSet, EvalSetError
from .installation import command
from .measures import Values

RUN = f"runs/{runs.BASELINE['chunker']}.trec"  # the baseline's, which is measured
CHUNKS = f"chunks/{runs.BASELINE['chunker']}.jsonl"
AIMS = (0.10, 0.05)  # differences that one may want to see
WORDS = re.compile(r"^Words: (.+)\n?", re.MULTILINE)  # of a note: owe = refund, ...
ANEW = f"{command('report', EVALS='{}')} measures the baseline anew"


# What session C measures.


def results_content(
    evals: EvalSet, run: dict, values: dict, compared: dict, cards: list[dict], quoted: dict
) -> dict:
    """Return the content of results.json: what was measured on what, in total and by query.

    `run` and `values` are keyed by query id, `compared` comes from compare.compare, `cards` from
    session C, `quoted` from of_evidence.
    """
    qrels, halves = evals.qrels(), {}
    for split in files.SPLITS:
        if rows := {query_id: values[query_id] for query_id in evals.qrels(split)}:
            halves[split] = rows
    summed = dict(halves)
    if len(halves) > 1:
        summed["all"] = {query_id: values[query_id] for query_id in qrels}
    labels = measures.answered_in_full(qrels, evals.full_grade)
    full = measures.per_query(labels, run, measures.FULL, evals.full_grade)
    by_field = {}
    for field in measures.fields_told(evals):
        means = {split: _means_by(evals, rows, field) for split, rows in halves.items()}
        by_field[f"by_{field}"] = means
    systems = [dict(row) for row in compared["runs"]]
    for row in systems:
        row.pop("unjudged", None)  # bounds over unjudged results are a report's
    per_query = []
    for query_id, grades in qrels.items():
        measured = values[query_id] | full.get(query_id, {})
        query = evals.queries[query_id]
        per_query.append(_per_query(query, grades, run.get(query_id, []), measured))
    return {
        **_inputs(evals),
        "summary": {name: _summary(rows, full) for name, rows in summed.items()},
        **by_field,
        "told_apart": {split: measures.answerability_auroc(evals, split, run) for split in halves},
        "compared_dev": compared | {"runs": systems},
        "evidence": quoted,
        "cards": cards,
        "per_query": per_query,
    }


def _inputs(evals: EvalSet) -> dict:
    """Return what was measured: corpus, queries, the baseline's run and how it was made."""
    run, chunk_file = evals.folder / RUN, evals.folder / CHUNKS
    made = runs.read_card(run.with_suffix(".json"), *runs.BASELINE, "tokenizer")
    method = {name: made[name] for name in runs.BASELINE}
    hashes = {"file": RUN, "sha256": files.file_hash(run)}
    if chunk_file.is_file():
        hashes["chunks_sha256"] = files.file_hash(chunk_file)
    return {
        "corpus": {
            "name": evals.name,
            "documents": len(evals.documents),
            "tokens": sum(len(tokens.token_ids(body)) for body in evals.texts.values()),
            "sha256": evals.corpus_hash(),
        },
        "queries": {
            "n": len(evals.queries),
            "unanswered": len(evals.unanswered),
            "judgments": len(evals.judgments),
            "grades": sorted({judgment.relevance for judgment in evals.judgments}),
            "sha256": evals.queries_hash(),
        },
        "run": hashes,
        "method": {**method, "words": text.TOKENIZER_WORDS[made["tokenizer"]]},
    }


def _summary(rows: Values, full: Values) -> dict:
    """Return n, means, 95 % bootstrap intervals, median first rank (null: most found nothing).

    And n and means of those that a document answers in `full`, if there are any.
    """
    intervals = {}
    for name in measures.LESSON:
        values = [row[name] for row in rows.values()]
        intervals[measures.mean_name(name)] = stats.bootstrap_interval(values)
    middle = measures.median_first_rank(rows)
    summary = {
        "n": len(rows),
        "measures": measures.means(rows),
        "intervals": intervals,
        "median_first_rank": middle if middle < math.inf else None,
    }
    if own := {query_id: full[query_id] for query_id in rows if query_id in full}:
        summary["full"] = {"n": len(own), "measures": measures.means(own)}
    return summary


def _means_by(evals: EvalSet, rows: Values, field: str) -> dict:
    """Return n and means for each value of a field of the queries among `rows`."""
    return {
        name: {"n": len(ids), "measures": measures.means({q: rows[q] for q in ids})}
        for name, ids in measures.ids_by_field(evals, rows, field).items()
    }


def _per_query(
    query: evalset.Query, grades: dict, ranking: runs.Ranking, values: dict[str, float]
) -> dict:
    """Return what is known about one query: labels, first ten documents, measures."""
    return {
        "query_id": query.query_id,
        "query": query.query,
        "kind": query.kind,
        "split": query.split,
        "relevant": {doc_id: grade for doc_id, grade in grades.items() if grade > 0},
        "retrieved": ranking[:10],
        "first_rank": measures.first_rank(values),
        "measures": values,
    }


def evidence_content(
    evals: EvalSet, known: dict[str, list[Chunk]], rankings: dict[str, evidence.Rankings], base: str
) -> dict:
    """Return what results.json says of evidence, {} where no label has a quote.

    `known` and `rankings` are those of each chunk set, `base` names the baseline's. Dev has all of
    them, test those that are `confirmed`. Where some labels take several quotes together, each has
    the means of evidence.BESIDE as if any quote were enough (`any_quote`). `needs` are of the
    queries with several needs, by the baseline's chunks.
    """
    quoted = {}
    for split in files.SPLITS:
        wanted = evidence.quoted_queries(evals, split)
        if not (wanted and rankings):
            continue
        is_dev = split == files.SPLITS[0]
        chosen = [*rankings]
        if not is_dev:
            chosen = [name for name in rankings if name in {base, *evals.confirmed}]
        values = {}
        for name in chosen:
            values[name] = evidence.by_query(evals.documents, wanted, rankings[name], known[name])
        sets = _chunk_sets(known, values, base, evals.matters)
        several = evidence.any_quote(wanted)
        for name in chosen if several else ():  # labels that take several quotes together
            alone = evidence.by_query(evals.documents, several, rankings[name], known[name])
            means = measures.means(values[name] | alone)
            sets[name]["any_quote"] = {measure: means[measure] for measure in evidence.BESIDE}
        by_k = evidence.shares_by_k(wanted, rankings[base])
        quoted[split] = {"n": len(wanted), "by_k": by_k, "sets": sets}
        if met := evidence.needs_by_query(evals.documents, wanted, rankings[base]):
            quoted[split]["needs"] = _needs(met)
        if is_dev:
            quoted["lost"] = evidence.losses(evals.documents, wanted, rankings[base], known[base])
    return quoted


def _needs(values: measures.Values) -> dict:
    """Return n, means and 95 % bootstrap intervals of the measures of needs."""
    means, intervals = measures.means(values), {}
    for name in means:
        intervals[name] = stats.bootstrap_interval([row[name] for row in values.values()])
    return {"n": len(values), "means": means, "intervals": intervals}


def _chunk_sets(known: dict, rows: dict, base: str, matters: float) -> dict[str, dict]:
    """Return the number of chunks and the means of each set, and how each compares with the base.

    That (`against`) rests on evidence.DECIDES, p adjusted for the number of sets.
    """
    measure, sets, pairs = evidence.DECIDES, {}, {}
    for name, values in rows.items():
        sets[name] = {"chunks": len(known[name]), "means": measures.means(values)}
        if name != base:
            pairs[name] = stats.by_measure([measure], rows[base], values)[measure]
            pairs[name]["bounds"] = stats.bounds_of(measure, rows[base], values)
    verdicts = stats.verdicts([*pairs.values()], matters)
    for (name, pair), told in zip(pairs.items(), verdicts, strict=True):
        sets[name]["against"] = pair | told
    return sets


def read_notes(path: Path) -> dict[str, str]:
    """Return what somebody read in the results: {query_id: text of `## query_id` in notes.md}.

    Its word pairs are left out.
    """
    notes = _notes(path).items()
    return {query_id: " ".join(WORDS.sub("", body).split()) for query_id, body in notes}


def read_word_pairs(path: Path, query_id: str) -> list[tuple[str, str]]:
    """Return [(what the query says, what a page says)]: its line `Words:` in notes.md."""
    line = WORDS.search(_notes(path).get(query_id, ""))
    pairs = [part.partition("=") for part in line[1].split(",")] if line else []
    return [(asked.strip(), said.strip()) for asked, _, said in pairs]


def _notes(path: Path) -> dict[str, str]:
    """Return {query id: text} of notes.md; several sections of a query are one."""
    page, notes = files.optional_page(path / evalset.PROSE[1]), defaultdict(str)
    for query_id, body in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.M | re.S):
        notes[query_id] += f"{body}\n"
    return notes


def write_results(folder: Path, content: dict) -> None:
    """Write results.json, numbers rounded to 10 decimals so that every machine writes the same."""
    rounded = json.loads(json.dumps(content), parse_float=lambda number: round(float(number), 10))
    files.write_json(folder / "results.json", rounded)


# Reading it: types by JSON Schema, and whether it is of this set.


def read_results(folder: Path) -> dict:
    """Return results.json of `folder`.

    Raises EvalSetError where it is no file of session C, or a field has another type.
    """
    path = folder / "results.json"
    page, schema = files.page(path), files.page(files.FORMS / "results.schema.json")
    try:
        return fastjsonschema.compile(json.loads(schema))(files.json_object(page, "one object"))
    except ValueError as error:  # a misfit is told by its place: data.queries.n must be integer
        raise EvalSetError(f"{path}:1: {error}; {ANEW.format(folder)}") from None


def changed_inputs(evals: EvalSet, content: dict) -> list[str]:
    """Return what is not as it was measured; `content` comes from `read_results`."""
    changed, measured = [], measured_queries(evals, content)
    if content["corpus"]["sha256"] != evals.corpus_hash():
        changed.append("another corpus")
    if content["queries"]["sha256"] != evals.queries_hash(measured):
        changed.append("other queries and labels")
    hashes = {RUN: content["run"]["sha256"], CHUNKS: content["run"].get("chunks_sha256")}
    for name, sha256 in hashes.items():
        path = evals.folder / name
        if sha256 and not (path.is_file() and files.file_hash(path) == sha256):
            changed.append(f"another {name}")
    return changed


def measured_queries(evals: EvalSet, content: dict) -> set[str]:
    """Return the queries that results.json knows: all, or those it measured if others are newer.

    And of those without an answer the ones that its run was made for.
    """
    if content["queries"]["sha256"] == evals.queries_hash():
        return {*evals.settled_queries}
    measured = {row["query_id"] for row in content["per_query"]}
    run = evals.folder / RUN
    card = runs.card_path(run)
    if not (run.is_file() and card.is_file()):
        return measured
    asked = runs.asked_queries(runs.read_rankings(run), runs.read_card(card))
    return measured | (evals.unanswered.keys() & asked)


def read_current_results(evals: EvalSet) -> dict:
    """Return results.json of the set's folder.

    Raises EvalSetError where it, or the run that it measured, is not of these documents, queries
    and labels.
    """
    content = read_results(evals.folder)
    if others := changed_inputs(evals, content):
        made = f"{evals.folder / 'results.json'}: made on {', '.join(others)}"
        raise EvalSetError(
            f"{made}: {ANEW.format(evals.folder)}, or check out the folder that it was made on"
        )
    return content


# What a report says of it.


def confirmed(compared: dict) -> list[dict]:
    """Return the runs of a comparison that are better on dev and confirmed on test, best first."""
    found = []
    for run in compared["runs"]:
        halves = run.get("halves", {}).get("test minus dev", {})
        if run["verdict"] == stats.BETTER and halves.get("verdict") == stats.CONFIRMED:
            found.append(run)
    return sorted(found, key=lambda run: -run["measures"][run["primary"]]["difference"])


def first_number(content: dict) -> str:
    """Return nDCG@10 and hit@5 on dev with 95 % intervals, and what so many queries can decide.

    `content` is results.json; of fewer than evalset.FIRST queries it only says how many there are.
    A difference of two systems is taken to vary by query as the baseline's nDCG@10 does, which it
    would where the two correlate .5. The interval of hit@5 is that of a share: where all are hits,
    a bootstrap would be certain.
    """
    dev, name = content["summary"]["dev"], measures.PRIMARY
    n, value, hit = dev["n"], dev["measures"][name], dev["measures"]["hit@5"]
    if n < evalset.FIRST:
        return f"The first number comes with {evalset.FIRST} labelled dev queries: {n} so far."
    ends = inert.interval(dev["intervals"][name])
    hit_ends = inert.interval(stats.share_interval(round(hit * n), n))
    told = f"{name} {value:.3f} ({ends}), hit@5 {hit:.3f} ({hit_ends}): n = {n} dev queries, "
    told += "95 % intervals\n"
    sd = stdev(row["measures"][name] for row in content["per_query"] if row["split"] == "dev")
    if sd < stats.TIE:
        return f"{told}All have the same {name}, so no spread says what they can decide."
    told += f"These queries find a difference of {stats.detectable(n, sd):.2f} between two systems "
    told += "in four of five samples, if it varies by query as these scores do (standard "
    told += f"deviation {sd:.2f})."
    for aim in AIMS:
        more = stats.queries_needed(aim, sd) - n
        needed = f"{text.how_many(more, 'query')} more" if more > 0 else "no more queries"
        told += f" To find {aim:.2f} takes {needed}."
    return told


def what_next(folder: Path) -> str:
    """Return where a report leads: other commands, and for our own set the results' digits."""
    if folder != evalset.DEFAULT:
        audit, compare = command("audit", EVALS=folder), command("compare", EVALS=folder)
        return f"next: {audit} asks the set, {compare} measures a run on it"
    return (
        "next: make lab opens the exercises; make compare RUN=path/to/run.trec measures a system; "
        "notebooks/your_own_documents.md says how to take your documents\n"
        "the same digits? add a line to notebooks/installing.md, Reproduced: "
        f"{files.file_hash(folder / 'results.json')[:12]}"
    )
