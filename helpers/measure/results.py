"""results.json: what was measured on what, in total and by query, with the failure cards."""

import json
import math
import re
from pathlib import Path

import fastjsonschema

from . import evalset, evidence, files, measures, runs, stats, text, tokens
from .chunks import Chunk
from .evalset import EvalSet, EvalSetError
from .installation import command
from .measures import Values

RUN = f"runs/{runs.BASELINE['chunker']}.trec"  # the baseline's, which is measured
CHUNKS = f"chunks/{runs.BASELINE['chunker']}.jsonl"
ANEW = f"{command('report', EVALS='{}')} measures the baseline anew"


# What session C measures.


def results_content(
    evals: EvalSet, run: dict, values: dict, compared: dict, cards: list[dict], quoted: dict
) -> dict:
    """Return the content of results.json: what was measured on what, in total and by query.

    `run` and `values` are keyed by query id, `compared` comes from compare.compare, `cards` from
    session C, `quoted` from of_evidence.
    """
    halves = {split: {q: values[q] for q in evals.qrels(split)} for split in files.SPLITS}
    halves = {split: rows for split, rows in halves.items() if rows}
    together = {"all": {q: values[q] for q in evals.qrels()}} if len(halves) > 1 else {}
    labels = measures.answered_in_full(evals.qrels(), evals.full_grade)
    full = measures.per_query(labels, run, measures.FULL, evals.full_grade)
    values = {q: row | full.get(q, {}) for q, row in values.items()}
    rows = compared["runs"]  # bounds over unjudged results are a report's
    told = [{name: row[name] for name in row if name != "unjudged"} for row in rows]
    return {
        **_inputs(evals),
        "summary": {name: _summary(rows, full) for name, rows in (halves | together).items()},
        **{
            f"by_{field}": {split: _means_by(evals, rows, field) for split, rows in halves.items()}
            for field in measures.fields_told(evals)
        },
        "told_apart": {split: measures.answerability_auroc(evals, split, run) for split in halves},
        "compared_dev": compared | {"runs": told},
        "evidence": quoted,
        "cards": cards,
        "per_query": [_per_query(evals, *labels, run, values) for labels in evals.qrels().items()],
    }


def _inputs(evals: EvalSet) -> dict:
    """Return what was measured: corpus, queries, the baseline's run and how it was made."""
    made = runs.read_card((evals.folder / RUN).with_suffix(".json"), *runs.BASELINE, "tokenizer")
    method = {name: made[name] for name in runs.BASELINE}
    chunk_file = evals.folder / CHUNKS
    chunks = {"chunks_sha256": files.file_hash(chunk_file)} if chunk_file.is_file() else {}
    documents = evals.documents.values()
    return {
        "corpus": {
            "name": evals.name,
            "documents": len(documents),
            "tokens": sum(len(tokens.token_ids(document.retrieval_text)) for document in documents),
            "sha256": evals.corpus_hash(),
        },
        "queries": {
            "n": len(evals.queries),
            "unanswered": len(evals.unanswered),
            "judgments": len(evals.judgments),
            "grades": sorted({judgment.relevance for judgment in evals.judgments}),
            "sha256": evals.queries_hash(),
        },
        "run": {"file": RUN, "sha256": files.file_hash(evals.folder / RUN)} | chunks,
        "method": {**method, "words": text.TOKENIZER_WORDS[made["tokenizer"]]},
    }


def _summary(rows: Values, full: Values) -> dict:
    """Return n, means, 95 % bootstrap intervals, median first rank (null: most found nothing).

    And n and means of those that a document answers in `full`, if there are any.
    """
    middle, full = measures.median_first_rank(rows), {q: full[q] for q in rows if q in full}
    return {
        "n": len(rows),
        "measures": measures.means(rows),
        "intervals": {
            measures.mean_name(name): stats.bootstrap_interval([row[name] for row in rows.values()])
            for name in measures.MEASURES
        },
        "median_first_rank": middle if middle < math.inf else None,
        **({"full": {"n": len(full), "measures": measures.means(full)}} if full else {}),
    }


def _means_by(evals: EvalSet, rows: Values, field: str) -> dict:
    """Return n and means for each value of a field of the queries among `rows`."""
    return {
        name: {"n": len(ids), "measures": measures.means({q: rows[q] for q in ids})}
        for name, ids in measures.ids_by_field(evals, rows, field).items()
    }


def _per_query(evals: EvalSet, query_id: str, grades: dict, run: dict, values: dict) -> dict:
    """Return what is known about one query: labels, first ten documents, measures."""
    query = evals.queries[query_id]
    return {
        **{name: getattr(query, name) for name in ("query_id", "query", "kind", "split")},
        "relevant": {doc_id: grade for doc_id, grade in grades.items() if grade > 0},
        "retrieved": run.get(query_id, [])[:10],
        "first_rank": measures.first_rank(values[query_id]),
        "measures": values[query_id],
    }


def evidence_content(
    evals: EvalSet, known: dict[str, list[Chunk]], rankings: dict[str, evidence.Rankings], base: str
) -> dict:
    """Return what results.json says of evidence, {} where no label has a quote.

    `known` and `rankings` are those of each chunk set, `base` names the baseline's. Dev has all of
    them, test those that are `confirmed`. Where some labels take several quotes together, each has
    the means of evidence.BESIDE as if any quote were enough (`any_quote`).
    """
    quoted: dict = {}
    for split in files.SPLITS if rankings else ():
        if not (wanted := evidence.quoted_queries(evals, split)):
            continue
        is_dev = split == files.SPLITS[0]
        chosen = [name for name in rankings if is_dev or name in {base, *evals.confirmed}]
        asked, rows, alone = [wanted, evidence.any_quote(wanted)], {}, {}
        for name in chosen:
            rows[name], alone[name] = evidence.by_query_asked(
                asked, evals, rankings[name], known[name], evidence.CUTOFFS
            )
        sets = _chunk_sets(known, rows, base, evals.matters)
        for name, values in alone.items() if alone[base] else ():
            means = measures.means(values)
            sets[name]["any_quote"] = {measure: means[measure] for measure in evidence.BESIDE}
        by_k = evidence.shares_by_k(wanted, rankings[base])
        quoted[split] = {"n": len(wanted), "by_k": by_k, "sets": sets}
        if is_dev:
            quoted["lost"] = evidence.losses(evals, wanted, rankings[base], known[base])
    return quoted


def _chunk_sets(known: dict, rows: dict, base: str, matters: float) -> dict[str, dict]:
    """Return the number of chunks and the means of each set, and how each compares with the base.

    That (`against`) rests on evidence.DECIDES, p adjusted for the number of sets.
    """
    sets = {
        name: {"chunks": len(known[name]), "means": measures.means(of_set)}
        for name, of_set in rows.items()
    }
    others, measure = [name for name in sets if name != base], evidence.DECIDES
    pairs = [stats.by_measure([measure], rows[base], rows[name])[measure] for name in others]
    for name, pair in zip(others, pairs, strict=True):
        pair["bounds"] = stats.bounds_of(measure, rows[base], rows[name])
    for name, pair, told in zip(others, pairs, stats.verdicts(pairs, matters), strict=True):
        sets[name]["against"] = pair | told
    return sets


def read_notes(path: Path) -> dict[str, str]:
    """Return what somebody read in the results: {query_id: text of `## query_id` in notes.md}."""
    page = files.optional_page(path / evalset.PROSE[1])
    sections = re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return {query_id: " ".join(body.split()) for query_id, body in sections}


def write_results(folder: Path, content: dict) -> None:
    """Write results.json, numbers rounded to 10 decimals so that every machine writes the same."""
    rounded = json.loads(json.dumps(content), parse_float=lambda number: round(float(number), 10))
    files.write(folder / "results.json", json.dumps(rounded, indent=1, ensure_ascii=False) + "\n")


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
        raise EvalSetError([f"{path}:1: {error}; {ANEW.format(folder)}"]) from None


def changed_inputs(evals: EvalSet, content: dict) -> list[str]:
    """Return what is not as it was measured; `content` comes from `read_results`."""
    changed, of_run, measured = [], content["run"], measured_queries(evals, content)
    if content["corpus"]["sha256"] != evals.corpus_hash():
        changed.append("another corpus")
    if content["queries"]["sha256"] != evals.queries_hash(measured):
        changed.append("other queries and labels")
    for name, sha256 in ((RUN, of_run["sha256"]), (CHUNKS, of_run.get("chunks_sha256"))):
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
    run, measured = evals.folder / RUN, {row["query_id"] for row in content["per_query"]}
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
        remedy = "or check out the folder that it was made on"
        raise EvalSetError([f"{made}: {ANEW.format(evals.folder)}, {remedy}"])
    return content


# What a report says of it.


def what_next(folder: Path) -> str:
    """Return where a report leads: other commands, and for our own set the results' digits."""
    if folder != evalset.DEFAULT:
        audit, measure = (command(*of, EVALS=folder) for of in (["audit"], ["compare"]))
        return f"next: {audit} asks the set, {measure} measures a run on it"
    return (
        "next: make lab opens the exercises; make compare RUN=path/to/run.trec measures a system; "
        "notebooks/your_own_documents.md says how to take your documents\n"
        "the same digits? add a line to notebooks/installing.md, Reproduced: "
        f"{files.file_hash(folder / 'results.json')[:12]}"
    )
