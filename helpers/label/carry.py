"""Carry a set to changed documents: what is sure is taken over, the rest a person reads."""

import os
import shutil
from collections import Counter, defaultdict
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..measure import evalset, files, reading, runs
from ..measure.evalset import EvalSet, Judgment
from ..measure.installation import command
from ..measure.text import Pair, how_many
from . import labelling, manifest, readers, write
from .drop import NAMING
from .fates import OUTCOMES, Case, Fate, align, all_fates
from .labelling import JUDGMENTS, PRACTICE, QUERY_TABLE, SKIPPED
from .prompts import PROPOSED

FIRST = 5  # results of the rankers together in which a document of a new text is to be judged
POOLED = 10  # results from which one was offered before
HISTORY, IMPORTED = "history.jsonl", "imported"
FORMER = "former"
OF_DOCUMENTS = (  # what was made from the documents and doesn't hold when they change
    *("runs/**/*", "chunks/**/*", "comparisons/**/*", "systems/*.trec", "systems/*.json*"),
    *("results.json", "coverage.md", "retrieval_eval.html"),
)
Fates, Rows = dict[Pair, Fate], dict[Pair, dict]  # by old pair, by new pair


def carry_command(
    folder: Path, source: str, to: Path | None = None, in_place: bool = False, **more: str
) -> list[str]:
    """Write the set of `folder` into the new folder `to`, its labels on the documents of `source`.

    With `in_place` it is written into `folder` itself. `source` is KIND:PATH of an import, with
    `more` of its options, or a folder with a corpus. Returns what was done, line by line. Raises
    EvalSetError, and writes nothing, for bad input.
    """
    if in_place:
        return _carry_in_place(folder, source, more)
    evals = evalset.load(folder)
    with write.new_set(to) as part:
        lines = _write_carried(evals, source, part, more)
        following = _next_step(evalset.load(part), to)
    return [*lines, f"{to} is an evaluation set; next: {following}"]


def _write_carried(evals: EvalSet, source: str, part: Path, more: dict[str, str]) -> list[str]:
    """Write the set with the documents of `source` into `part`; return what was done."""
    home = _find_corpus(source, part, more)
    case = align(evals, evalset.read_corpus(home))
    if not any(case.heirs[old_id] for old_id in case.heirs.keys() - case.namesakes):
        found = f"none of the {how_many(case.heirs, 'document')} of {evals.folder} is found in"
        raise evalset.EvalSetError(
            f"{found} {source}: is it the source, with the options of its import (--title, --text)?"
        )
    _copy_corpus(home, part)
    shutil.rmtree(part / IMPORTED, ignore_errors=True)
    return write_set(case, part)


def _next_step(new: EvalSet, to: Path) -> str:
    if waits := new.next_step() or new.what_waits():
        return waits
    if reading.waiting(new):
        return f"{command('lab', EVALS=to)} opens what is to be read"
    return command("report", EVALS=to)


# In place: the new set is written beside the old one's files, then a journal says which files move.


def _carry_in_place(folder: Path, source: str, more: dict[str, str]) -> list[str]:
    """Carry a set into its own folder. What a killed carry has begun is done first."""
    part = (folder / evalset.JOURNAL).parent
    done = _move_files(folder)
    evals = evalset.load(folder)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        lines = _write_carried(evals, source, part, more)
        new = evalset.load(part)
        if new.documents == evals.documents:
            shutil.rmtree(part)
            return [*done, f"{folder} has these documents already: nothing is changed"]
        files.write_json(folder / evalset.JOURNAL, _journal(evals, new, lines))
    except BaseException:
        shutil.rmtree(part)
        raise
    done += _move_files(folder)
    return [*done, f"next: {_next_step(evalset.load(folder), folder)}"]


def _journal(evals: EvalSet, new: EvalSet, lines: list[str]) -> dict:
    """Return which files of a set move away, to where, which come, and what is told of it."""
    old, part = evals.folder, new.folder
    coming = _files_in(part, "**/*")
    names = [*coming, *manifest.inputs(old), PROPOSED, PRACTICE, SKIPPED, reading.TO_READ]
    names += labelling.log_files(old)
    if new.corpus_hash() != evals.corpus_hash():
        for pattern in OF_DOCUMENTS:
            names += _files_in(old, pattern)
    going = [name for name in dict.fromkeys(names) if _is_replaced(old / name, part / name)]
    number = max(row["carry"] for _, row in files.read(part / HISTORY))
    former = f"{FORMER}/{number}-{evals.corpus_hash()[:12]}"
    lines.append(f"moved to {former}: {how_many(going, 'file')} replaced or out of date")
    if (old / "manifest.json").exists():
        lines.append(f"manifest.json is of the old documents: {command('freeze', EVALS=old)}")
    return {"former": former, "going": going, "coming": coming, "lines": lines}


def _is_replaced(old: Path, new: Path) -> bool:
    """Return whether there is an old file and no new one of the same bytes."""
    return old.exists() and not (new.exists() and new.read_bytes() == old.read_bytes())


def _files_in(folder: Path, pattern: str) -> list[str]:
    paths = sorted(path for path in folder.glob(pattern) if path.is_file())
    return [path.relative_to(folder).as_posix() for path in paths]


def _move_files(folder: Path) -> list[str]:
    """Move the files that a journal names, as far as they aren't there yet; return its lines."""
    if not (folder / evalset.JOURNAL).exists():
        return []
    journal, part = files.json_page(folder / evalset.JOURNAL), (folder / evalset.JOURNAL).parent
    former = folder / journal["former"]
    for name in journal["going"]:
        if not (former / name).exists():
            (former / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(folder / name, former / name)
    for name in journal["coming"]:
        if (part / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            os.replace(part / name, folder / name)
    for home in {(folder / name).parent for name in journal["going"]}:
        with suppress(OSError):  # it holds other files
            home.rmdir()
    (folder / evalset.JOURNAL).unlink()
    shutil.rmtree(part)
    return journal["lines"]


# The documents.


def _find_corpus(source: str, folder: Path, more: dict[str, str]) -> Path:
    """Return the folder of a corpus: `source`, or what is imported from it, inside `folder`."""
    kind, _, path = source.partition(":")
    home, imported = Path(source), folder / IMPORTED
    if ":" not in source and not any(home.glob("corpus*")):
        fault = "no such folder"
        if home.is_dir():
            fault = f"no corpus/ or corpus.jsonl in it, or did you mean FROM=markdown:{source}?"
        raise evalset.EvalSetError(f"--from: {source}: {fault}")
    if kind not in write.READERS and not more and home.is_dir():
        return home
    options = readers.Options(kind, path, **more)
    files.refuse(write.wrong_options(options))
    imported.mkdir()
    write.write_unchecked(options, imported)
    return imported


def _copy_corpus(home: Path, folder: Path) -> None:
    for name, path in manifest.inputs(home).items():
        if name.startswith("corpus"):
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(path, folder / name)


# The labels.


def write_set(case: Case, folder: Path) -> list[str]:
    """Write all files of a set beside its new documents; return what was done, line by line."""
    evals, first = case.evals, _found_first(case, folder)
    fates = all_fates(case, first)
    judged, to_read = resolve(evals, fates)
    copied = [*evalset.PROSE, "settings.json"]
    now = {doc_id: document.retrieval_text for doc_id, document in case.documents.items()}
    if evals.texts == now:
        copied += [*NAMING, PROPOSED]
    else:
        labelling.refuse_losses(evals)
        _write_moved(case, fates, judged, folder)
    for name in copied:
        if (evals.folder / name).exists():
            shutil.copyfile(evals.folder / name, folder / name)
    if evals.confirmed and NAMING[0] not in copied:
        settings = files.json_page(folder / "settings.json") | {"confirmed": {}}
        files.write_json(folder / "settings.json", settings)
    new = evalset.load(folder)
    listed = _new_results(case, first, folder) | to_read
    reading.write_list(new, sorted(listed.values(), key=partial(reading.place, evals)))
    _write_history(evals, new, fates, to_read)
    return _summary(case, fates, new)


def resolve(evals: EvalSet, fates: Fates) -> tuple[Rows, Rows]:
    """Return the rows of the labels that are taken over, and of those to read, by new pair.

    Of two labels on one document the higher grade counts, of equal ones what is sure.
    """
    claims = defaultdict(list)
    for label in evals.judgments:
        for new_id in fates[label.pair].doc_ids:
            claims[label.query_id, new_id].append(label)

    def higher_then_surer(label: Judgment) -> tuple[int, int]:
        return -label.relevance, len(fates[label.pair].to_read)

    judged, to_read = {}, {}
    for pair, labels in claims.items():
        label = min(labels, key=higher_then_surer)
        fate = fates[label.pair]
        there = label._replace(doc_id=pair[1])
        if offer := fate.to_read.get(pair[1]):
            if offer.parts:
                there = there._replace(evidence=[offer.parts])
            why = {"why": fate.why or fate.outcome, "passages": offer.spans}
            to_read[pair] = evalset.label_row(there) | why
        else:
            judged[pair] = evalset.label_row(there._replace(evidence=fate.evidence))
            judges = [evals.offered.get(claim.pair) for claim in labels]
            if all(judges):  # every old label was an accepted offer
                judged[pair]["offered"] = judges[0]
    return judged, to_read


def _write_moved(case: Case, fates: Fates, judged: Rows, folder: Path) -> None:
    """Write the tables that name documents, with the ids that these have now."""
    old, relevant, queries = case.evals.folder, defaultdict(list), []
    for (query_id, doc_id), label in judged.items():
        if label["relevance"]:
            relevant[query_id].append(doc_id)
    for _, row in files.rows(old / QUERY_TABLE):
        if row.get("relevant_doc_ids"):
            row["relevant_doc_ids"] = relevant[row["query_id"]]
        queries.append(row)
    files.write_jsonl(folder / QUERY_TABLE, queries)
    if (old / JUDGMENTS).exists():
        files.write_jsonl(folder / JUDGMENTS, judged.values())
    for name in ("pool.jsonl", "second_pass.jsonl", PROPOSED):
        if (old / name).exists():
            files.write_jsonl(folder / name, _moved_rows(case, name, fates, judged))


def _moved_rows(case: Case, name: str, fates: Fates, judged: Rows) -> list[dict]:
    """Return the rows of a file of pairs or drafts, each once a round; none of another grade."""
    moved = {}
    for row in evalset.read_extra(case.evals, name):
        old_id, query = row["doc_id"], row.get("query_id") or row["query"]
        fate = fates.get((query, old_id))
        for new_id in fate.doc_ids if fate else case.heirs[old_id]:
            grade = judged.get((query, new_id), {}).get("relevance")
            if row.get("final", grade) == grade:
                moved.setdefault((query, new_id, row.get("round")), {**row, "doc_id": new_id})
    return [*moved.values()]


def _found_first(case: Case, folder: Path) -> dict[str, list[str]]:
    """Return for each query what the rankers together find first, {} where no text is new."""
    if not case.fresh:
        return {}
    new = case.evals._replace(folder=folder, documents=case.documents)
    return _by_fused_rank(new, FIRST)


def _by_fused_rank(evals: EvalSet, depth: int) -> dict[str, list[str]]:
    from . import pooling  # takes two seconds to import, and many carries need no ranking

    if not any(map(evals.words, evals.texts.values())):
        return {}
    fused = pooling.fused(pooling.by_ranker(evals))
    return {query_id: ranking[:depth] for query_id, ranking in fused.items()}


def _new_results(case: Case, first: dict[str, list[str]], folder: Path) -> dict[Pair, dict]:
    """Return by pair a row for each document of a new text that the rankers newly find first.

    What they had among their results before was offered then, whether it was judged or not.
    """
    known = {tuple(case.evals.words(body)) for body in case.evals.texts.values()}
    before, rows = {}, {}
    if first:  # without the saved runs of the old documents
        before = _by_fused_rank(case.evals._replace(folder=folder), POOLED)
    for query_id, doc_ids in first.items():
        offered = set()
        for old_id in before.get(query_id, ()):
            offered.update(case.heirs[old_id])
        for rank, doc_id in enumerate(doc_ids, 1):
            text = case.documents[doc_id].retrieval_text
            is_new = doc_id in case.fresh and tuple(case.evals.words(text)) not in known
            if is_new and doc_id not in offered:
                why = f"new text, rank {rank} of the rankers together"
                rows[query_id, doc_id] = {"query_id": query_id, "doc_id": doc_id, "why": why}
    return rows


def _write_history(evals: EvalSet, new: EvalSet, fates: Fates, to_read: dict[Pair, dict]) -> None:
    """Write what became of each label behind what the history of the set holds."""
    rows = [row for _, row in files.read(evals.folder / HISTORY)]
    number = 1 + max((row["carry"] for row in rows), default=0)
    carry = {"carry": number, "from": evals.corpus_hash(), "to": new.corpus_hash()}
    for (query_id, doc_id), fate in fates.items():
        row = {**carry, "query_id": query_id, "doc_id": doc_id, "outcome": fate.outcome}
        row |= {"doc_ids": [*fate.doc_ids], "decided": "carry"}
        if any((query_id, new_id) in to_read for new_id in fate.doc_ids):
            row["decided"] = "to read"
        rows.append(row)
    files.write_jsonl(new.folder / HISTORY, rows)


def _summary(case: Case, fates: Fates, new: EvalSet) -> list[str]:
    """Return in words what became of documents and labels, what is to read, what stays behind."""
    evals = case.evals
    gone = sum(not case.heirs[old_id] for old_id in case.own)
    counts = f"{len(case.own) - gone} changed or in others, {gone} gone"
    lines = [f"documents: {len(case.heirs)} before, {len(case.documents)} now; {counts}"]
    relevant = [label for label in evals.judgments if label.relevance]
    zeros = [label for label in evals.judgments if not label.relevance]
    for words, labels in (("above 0", relevant), ("of 0", zeros)):
        outcomes = Counter(fates[label.pair].outcome for label in labels)
        counted = [f"{name}: {outcomes[name]}" for name in OUTCOMES if outcomes[name]]
        line = f"labels {words}: {len(labels)}"
        lines.append(f"{line}. {'; '.join(counted)}" if counted else line)
    lost = [" ".join(label.pair) for label in relevant if not fates[label.pair].doc_ids]
    if lost:
        lines.append(f"lost: {runs.first_names(lost)}")
    if no_more := sorted(evals.fully_answered - new.fully_answered):
        lines.append(f"without a full answer now: {runs.first_names(no_more)}")
    lines += reading.in_words(new)
    if evals.confirmed and not new.confirmed:
        lines.append(f"no longer confirmed: {runs.first_names(evals.confirmed)}")
    remedy = f"{command('freeze')}, {command('report')}"
    stays = f"not carried: negatives, manifest, runs, results ({remedy})"
    if (evals.folder / "judge.jsonl").exists() and not (new.folder / "judge.jsonl").exists():
        stays += ", judge.jsonl (its prompts hold the old texts)"
    return [*lines, stays]
