"""Labelling by hand: the log of judgments, what to judge next, what Finish takes into the set.

The log holds one JSON object a line. A judgment adds a line, and so does an undo, which names the
judgment that it takes back: no line ever goes, so a killed process loses none. Several people have
a log each, labelling.NAME.jsonl, and Finish takes what they agree on.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain, takewhile
from pathlib import Path
from typing import NamedTuple

from ..measure import evalset, files, reading
from ..measure.evalset import EvalSet
from ..measure.installation import command
from ..measure.text import Pair, how_many, pair_of

LOG = "labelling.jsonl"
LOG_NAME = re.compile(r"labelling(?:\.([\w-]+))?\.jsonl")
LABELLER = "LABELLER"  # the environment variable with the name of who labels
PRACTICE = "practice.jsonl"  # of the same form; nothing takes it into the labels
JUDGMENTS, QUERY_TABLE = "judgments.jsonl", "retrieval_queries.jsonl"
LOCK_WAIT = 10  # seconds; another process holds the lock for one line
SKIPPED = "skipped.jsonl"  # what nobody read, because of a stop
GAP = 5  # other documents between a document and its repeat
ENOUGH_ZEROS = 5  # in a row, after which the rest of a query may be skipped
BLIND_SHARE = 0.1  # of what is skipped, which is read all the same, and of what is offered


Log = list[files.Row]  # its lines


class Turn(NamedTuple):
    """One document to show for one query, for the first time or as a blind repeat.

    Without a document it asks whether none answers the query.
    """

    query_id: str
    doc_id: str
    repeat: bool = False

    @property
    def pair(self) -> Pair:
        """The pair to judge: query_id, doc_id."""
        return self.query_id, self.doc_id


class Entry(NamedTuple):
    """One judgment in the log. `time` is ISO 8601 in UTC, `place` its file:line.

    Without a document it says that none answers the query, whose kind was `kind`, or that its other
    documents were `skipped`, some of them `drawn` to be read blind: their ids.
    """

    query_id: str
    doc_id: str
    relevance: int
    evidence: str | list = ""  # as in judgments.jsonl
    repeat: bool = False
    time: str = ""
    place: str = ""
    kind: str = ""
    skipped: list[str] = []
    drawn: list[str] = []
    was: int | None = None  # the grade in the set that this one takes the place of
    settles: bool = False  # it decides between other people's grades
    offered: str = ""  # the judge whose grade was accepted
    offered_grade: int | None = None  # of an offer that was shown and not accepted

    @property
    def pair(self) -> Pair:
        """The judged pair: query_id, doc_id."""
        return self.query_id, self.doc_id

    @property
    def judgment(self) -> evalset.Judgment:
        """The label that it gives."""
        quotes = evalset.evidence_quotes({"evidence": self.evidence})
        return evalset.Judgment(*self.pair, self.relevance, quotes)

    @property
    def turn(self) -> Turn:
        """The turn that this judgment did."""
        return Turn(*self.pair, self.repeat)


# The log.


def log_of(labeller: str = "") -> str:
    """Return the file of a labeller's log, by default of whom LABELLER names, if anybody.

    Raises EvalSetError for a name with other signs than letters, digits, - and _.
    """
    name = labeller or os.environ.get(LABELLER, "")
    log = f"labelling.{name}.jsonl" if name else LOG
    if not LOG_NAME.fullmatch(log):
        raise evalset.EvalSetError(
            f"{LABELLER} is {name!r}, wanted a name of letters, digits, - and _"
        )
    return log


def labeller_of(log: str) -> str:
    """Return whose log a file is."""
    return LOG_NAME.fullmatch(log)[1] or "no name"


def log_files(folder: Path) -> list[str]:
    """Return the logs of all labellers in a folder, LOG where there is none, sorted."""
    names = [path.name for path in folder.glob("labelling*.jsonl")]
    return sorted(filter(LOG_NAME.fullmatch, names)) or [LOG]


def read_all(evals: EvalSet) -> dict[str, Log]:
    """Return {log: its lines} of all labellers. Raises as `read`."""
    return {name: read(evals, name) for name in log_files(evals.folder)}


def read(evals: EvalSet, name: str = LOG) -> Log:
    """Return the lines of a log as (file:line, object), [] where it is missing.

    Raises EvalSetError with file and line for every bad line.
    """
    path = evals.folder / name
    if not os.path.lexists(path):
        return []
    problems, judgments = [], []
    rows = list(files.rows(path, problems))
    if problems and files.half_line(path.read_bytes()):
        problems.pop()  # nobody was told that it is saved, so its turn comes again
    for place, row in rows:
        faults = _row_faults(row, evals)
        problems += [f"{place}: {fault}" for fault in faults]
        if not faults and "undo" not in row:
            judgments.append((place, row))
    problems += evalset.orphan_faults(judgments, evals.all_queries, evals.folder)
    files.refuse(problems)
    return rows


def _row_faults(row: dict, evals: EvalSet) -> list[str]:
    """Return what is wrong with a row of a log, [] also for one of a query that is gone."""
    form, undone = files.schema("labelling"), row.get("undo")
    if isinstance(undone, dict):  # it may name a query or document that is gone
        return form.faults({"relevance": 0, **undone}, evals.grades)
    faults = form.faults(row, evals.grades)
    if faults or row["query_id"] not in evals.all_queries:
        return faults
    fault = judgment_fault(Entry(**row), evals)
    return [fault] if fault else []


def judgment_fault(entry: Entry, evals: EvalSet) -> str:
    """Return why a judgment cannot stand, "" if it can: its ids, or the evidence of 1 and more."""
    if not entry.doc_id and not entry.relevance and entry.query_id in evals.all_queries:
        return ""  # it sets the query aside
    judgment = entry.judgment
    fault = evalset.judgment_fault(judgment, evals.all_queries, evals.documents)
    if not fault and entry.relevance and not judgment.evidence:
        grade = f"grade {entry.relevance} needs evidence"
        return f"{grade}, wanted the words of {entry.doc_id} that prove it"
    return fault


def append(evals: EvalSet, name: str, row: dict) -> None:
    """Write `row` behind all that is in a log; when this returns, it is on disk.

    Raises OSError or EvalSetError, and leaves the log as it was, if it cannot be locked, read or
    written whole.
    """
    path = evals.folder / name
    with lock_log(path):  # another panel may judge meanwhile
        read(evals, name)  # nothing is written behind a bad line
        files.append_row(path, row)


def lock_log(path: Path) -> AbstractContextManager:
    """Return the held lock of a log, a context. The system frees it when its holder is killed.

    It is a file of its own: Windows lets nobody read what is locked. Labellers share it, so that
    nobody writes while Finish reads all logs.
    """
    from filelock import FileLock  # only who judges or drops needs it

    shared = path.with_name(path.name.partition(".")[0] + ".jsonl.lock")
    lock = FileLock(shared, LOCK_WAIT, poll_interval=0.01, fallback_to_soft=False)
    try:
        return lock.acquire()
    except (OSError, NotImplementedError) as error:  # the second: a file system without locks
        raise OSError(f"{path} cannot be locked, so nothing was written: {error}") from error


def undo_row(entry: Entry) -> dict:
    """Return the row that takes a judgment back."""
    return {"undo": {**entry.turn._asdict(), "time": entry.time}}


def kept_entries(rows: Log) -> list[Entry]:
    """Return the judgments of a log's rows that nobody took back, in the order they were given."""
    return [entry for entry in kept_acts(rows) if not entry.skipped]


def kept_acts(rows: Log) -> list[Entry]:
    """Return the judgments and the stops of a log's rows that nobody took back, in their order."""
    kept = []
    for place, row in rows:
        if "undo" not in row:
            kept.append(Entry(**row, place=place))
            continue
        undone = row["undo"].items()
        named = [entry for entry in kept if undone <= entry._asdict().items()]
        if named:  # what is gone already may stay gone
            kept.remove(named[-1])  # the newest
    return kept


def entries(evals: EvalSet, name: str = LOG) -> list[Entry]:
    """Return the judgments of a log that nobody took back, in the order they were given."""
    return kept_entries(read(evals, name))


def latest(judgments: list[Entry]) -> dict[Pair, Entry]:
    """Return {(query_id, doc_id): judgment}, the last word on each pair; repeats do not count."""
    return {entry.pair: entry for entry in judgments if entry.doc_id and not entry.repeat}


def skipped(evals: EvalSet, *logs: Log) -> dict[Pair, bool]:
    """Return {(query_id, doc_id): whether it was drawn to be read blind} of what stops skipped.

    That is by skipped.jsonl and by the rows of the logs. A document that was judged later stays: if
    it was drawn, it tells what the stops cost.
    """
    rows = evalset.read_extra(evals, SKIPPED)
    pairs = {pair_of(row): row["drawn"] for row in rows}
    for _, row in chain(*logs):  # what they took back doesn't stay
        for doc_id in row.get("skipped", []):
            pairs.pop((row["query_id"], doc_id), None)
    for act in chain(*map(kept_acts, logs)):
        pairs |= {(act.query_id, doc_id): doc_id in act.drawn for doc_id in act.skipped}
    return pairs


# What to judge next, query by query. Blind, with repeats to agree with oneself; or to find what is
# relevant, the likeliest first, where a stop skips the rest of a query.


def pairs_to_judge(evals: EvalSet, pooled: list[dict] | None = None) -> list[Pair]:
    """Return the pooled pairs that judgments.jsonl does not hold yet, and those to read, sorted.

    The pool is pool.jsonl; without that file `pooled`, or else what the rankers find. A last
    (query_id, "") for each query that waits asks whether no document answers it.
    """
    if os.path.lexists(evals.folder / "pool.jsonl"):
        pooled = evalset.read_extra(evals, "pool.jsonl")
    elif pooled is None:
        from . import pooling  # takes two seconds to import, and only this case needs it

        pooled = pooling.pool(pooling.by_ranker(evals, keep=True))
    pairs = {pair_of(row) for row in pooled}
    if _is_graded(evals):
        pairs -= evals.labels.keys()
    pairs |= reading.waiting(evals).keys()
    return sorted(pairs) + [(query_id, "") for query_id in evals.waiting]


def find_order(pairs: Iterable[Pair], fused: dict[str, list[str]]) -> list[Turn]:
    """Return the turns: queries shuffled, in each the documents by their fused ranks.

    `fused` is {query_id: document ids, best first}; others come behind, and the question without
    a document last.
    """
    turns, ranks = schedule(pairs, repeats=0), {}
    queries = [*dict.fromkeys(turn.query_id for turn in turns)]
    for query_id, doc_ids in fused.items():
        for rank, doc_id in enumerate(doc_ids):
            ranks[query_id, doc_id] = rank

    def order(turn: Turn) -> tuple:
        rank = ranks.get(turn.pair, len(ranks))
        return queries.index(turn.query_id), not turn.doc_id, rank

    return sorted(turns, key=order)


def without_skipped(turns: list[Turn], left: dict[Pair, bool]) -> list[Turn]:
    """Return the turns that are left; what was drawn of the skipped ones comes last, mixed."""
    drawn = [turn for turn in turns if left.get(turn.pair)]
    drawn.sort(key=lambda turn: turn.doc_id)  # so queries alternate
    return [turn for turn in turns if turn.pair not in left] + drawn


def is_drawn(pair: Pair) -> bool:
    """Return whether a pair is of the tenth that is read blind, by a fixed seed."""
    import numpy as np  # the commands that read a log do without

    seed = "\n".join(pair).encode()
    return bool(np.random.default_rng([*seed]).random() < BLIND_SHARE)


def unread_drawn(evals: EvalSet) -> list[Pair]:
    """Return the pairs that were drawn of the skipped ones and have no label yet."""
    judged = evals.labels
    left = skipped(evals, *read_all(evals).values())
    return [pair for pair, is_drawn in left.items() if is_drawn and pair not in judged]


def stop_row(query_id: str, doc_ids: list[str]) -> dict:
    """Return the row that skips documents of a query, a tenth of them drawn to be read blind."""
    drawn = [doc_id for doc_id in doc_ids if is_drawn((query_id, doc_id))]
    row = {"query_id": query_id, "doc_id": "", "relevance": 0}
    return {**row, "skipped": doc_ids, "drawn": drawn}


def zeros_in_a_row(judgments: list[Entry], query_id: str) -> int:
    """Return how many documents of a query were judged 0 since one that was not."""
    own = [entry for entry in judgments if entry.query_id == query_id and entry.doc_id]
    zeros = takewhile(lambda entry: not entry.relevance, reversed(own))
    return len([*zeros])


def schedule(pairs: Iterable[Pair], repeats: float = 0.1, seed: int = 0) -> list[Turn]:
    """Return the turns: queries shuffled, documents shuffled in each, a share `repeats` twice.

    The repeats come behind all others, the questions without a document last.
    """
    import numpy as np  # the commands that read a log do without

    rng, documents, questions = np.random.default_rng(seed), defaultdict(list), []
    for pair in sorted(set(pairs)):
        turn = Turn(*pair)
        if turn.doc_id:
            documents[turn.query_id].append(turn)
        else:
            questions.append(turn)
    of_query, turns = list(documents.values()), []
    for n in rng.permutation(len(of_query)):
        turns += [of_query[n][place] for place in rng.permutation(len(of_query[n]))]
    drawn = rng.permutation(len(turns))[: round(repeats * len(turns))]
    again = [turns[place]._replace(repeat=True) for place in drawn]
    return turns + again + questions


def number_due(evals: EvalSet, judgments: list[Entry]) -> str:
    """Return what shows the number, when judgments bring the dev queries with an answer to a ten.

    "" in between.
    """
    relevant = {entry.query_id for entry in latest(judgments).values() if entry.relevance}
    new = relevant - evals.queries.keys()
    asked = evals.all_queries
    answered = [q for q in {*evals.queries, *new} if asked[q].split == "dev"]
    if not new or len(answered) % evalset.FIRST:
        return ""
    typed = command("baseline", EVALS=evals.folder)
    return f" {len(answered)} queries have an answer: click Finish, and {typed} shows the number."


def due(queue: list[Turn], judgments: list[Entry]) -> list[Turn]:
    """Return the turns of `queue` that are left, the next one first.

    A repeat waits for GAP judgments after the first one, unless nothing else is left. Whether no
    document answers is asked as soon as all of a query are read and none has grade 1 or more.
    """
    done, judged = {entry.turn for entry in judgments}, latest(judgments)
    recent = {entry.pair for entry in judgments[-GAP:]}
    answered = {entry.query_id for entry in judged.values() if entry.relevance}
    unread = {turn.query_id for turn in queue if turn.doc_id and turn not in done}
    now, later, questions = [], [], []
    for turn in queue:
        if turn in done or (not turn.doc_id and turn.query_id in answered):
            continue
        if not turn.doc_id and turn.query_id in unread:
            questions.append(turn)
        elif turn.repeat and (turn.pair in recent or turn.pair not in judged):
            later.append(turn)
        else:
            now.append(turn)
    return now + later + questions


# Several labellers, each with a log.


def last_words(logs: dict[str, Log]) -> dict[Pair, dict[str, Entry]]:
    """Return {(query_id, doc_id): {log: the last judgment there}}."""
    words = defaultdict(dict)
    for name, rows in logs.items():
        for pair, entry in latest(kept_entries(rows)).items():
            words[pair][name] = entry
    return words


def joint_word(words: Sequence[Entry]) -> Entry | None:
    """Return what the labellers' last judgments of a pair say together, None where they differ.

    The newest that settles it or changes its label holds. Else all must give one grade, and each
    one's evidence proves it by itself. It's an accepted offer if each of them is.
    """
    deciding = [entry for entry in words if entry.settles or entry.was is not None]
    if deciding:
        return max(deciding, key=lambda entry: entry.time)
    first, *others = words
    if any(entry.relevance != first.relevance for entry in others):
        return None
    quotes = [entry.judgment.evidence for entry in words]
    alternatives = dict.fromkeys(chain(*quotes))
    if len(alternatives) > len(quotes[0]):
        first = first._replace(evidence=evalset.evidence_field(alternatives))
    is_offered = all(entry.offered for entry in words)
    return first._replace(offered=first.offered if is_offered else "")


def to_settle(evals: EvalSet) -> list[Pair]:
    """Return the pairs that labellers, or they and the set, grade differently, sorted.

    A single log is no disagreement: Finish refuses what contradicts the set.
    """
    logs = read_all(evals)
    return [*_new_judgments(evals, logs)[1]] if len(logs) > 1 else []


def read_by_others(evals: EvalSet, log: str) -> list[Pair]:
    """Return the pairs that other labellers have judged and the one with this log hasn't.

    Without a name one reads nothing twice: [].
    """
    words = last_words(read_all(evals)) if log != LOG else {}
    return sorted(pair for pair, own in words.items() if log not in own)


# What Finish does.


def merge(evals: EvalSet) -> int:
    """Add the judgments of all logs to judgments.jsonl; return how many were new.

    What labellers grade differently waits in their logs until one of them settles it. A query that
    a log sets aside gets the kind none, one that it takes back its former kind.
    Kinds are written first and judgments last, each file whole: if the process is killed between
    them, the folder loads, and the next merge does the rest. Raises ValueError, and writes
    nothing, where a pair of the only log has another grade already.
    """
    folder = evals.folder
    with lock_log(folder / LOG):
        evals = evalset.load(folder)  # the files may be newer than what is held
        table, labels = files.plain_rows(folder / QUERY_TABLE), _label_rows(evals)
        logs = read_all(evals)
        new, _ = _new_judgments(evals, logs)
        kept = [*chain(*map(kept_entries, logs.values()))]
        judgments = _with_new(labels, new)
        queries = _with_answers(table, judgments, kept, _kinds_before(chain(*logs.values())))
        left = [
            {"query_id": query_id, "doc_id": doc_id, "drawn": is_drawn}
            for (query_id, doc_id), is_drawn in skipped(evals, *logs.values()).items()
        ]
        kinds = [[row.get("kind") for row in rows] for rows in (table, queries)]
        changed = sum(before != after for before, after in zip(*kinds, strict=True))
        if left != evalset.read_extra(evals, SKIPPED):
            files.write_jsonl(folder / SKIPPED, left)
        if queries != table:
            files.write_jsonl(folder / QUERY_TABLE, queries)
        if new:
            files.write_jsonl(folder / JUDGMENTS, judgments)
    return len(new) + changed


def refuse_losses(evals: EvalSet) -> None:
    """Raise EvalSetError where labels stand only in the list to read or in a log."""
    former = [row for row in reading.waiting(evals).values() if "relevance" in row]
    logs, faults = read_all(evals), []
    given = chain(*map(kept_entries, logs.values()))
    aside = {entry.query_id for entry in given if not entry.doc_id} & evals.waiting.keys()
    new, differing = _new_judgments(evals, logs)
    unmerged = len(new) + len(aside)
    names = ", ".join(logs)
    if former:
        faults.append(f"{reading.TO_READ}: {how_many(former, 'label')} to be read")
    if unmerged:
        faults.append(f"{names}: {how_many(unmerged, 'label')} not in {JUDGMENTS} (click Finish)")
    if differing:
        faults.append(f"{names}: {how_many(differing, 'pair')} to settle in the panel")
    remedy = f"judge them first, or they are lost: {command('lab', EVALS=evals.folder)}"
    files.refuse([f"{evals.folder / fault}; {remedy}" for fault in faults])


def _is_graded(evals: EvalSet) -> bool:
    """Return whether labels have grades; else what is listed is relevant, 1 or more."""
    return (evals.folder / JUDGMENTS).exists()


def _label_rows(evals: EvalSet) -> list[dict]:
    """Return the rows of judgments.jsonl; what is only listed has grade 1."""
    if _is_graded(evals):
        return files.plain_rows(evals.folder / JUDGMENTS)
    return [evalset.label_row(label) for label in evals.judgments]


def _new_judgments(
    evals: EvalSet, logs: dict[str, Log]
) -> tuple[dict[Pair, Entry], dict[Pair, str]]:
    """Return what the labels don't hold with a grade, and the pairs to settle, with the reason.

    Raises ValueError where the only log gives other grades than the labels.
    """
    graded, new, differing = _is_graded(evals), {}, {}
    labels = evals.labels
    for pair, words in sorted(last_words(logs).items()):
        entry, label = joint_word([*words.values()]), labels.get(pair)
        if not entry:
            differing[pair] = "labellers differ"
        elif not label or (entry.relevance and not graded) or _replaces(entry, label):
            new[pair] = entry
        elif entry.relevance != label.relevance:
            says = f"{JUDGMENTS} says {label.relevance}" if graded else f"{QUERY_TABLE} lists it"
            differing[pair] = (
                f"{entry.place}: query {pair[0]}, document {pair[1]}: field relevance is "
                f"{entry.relevance} and {says}, wanted one grade for the pair"
            )
    if len(logs) == 1:
        files.refuse([*differing.values()])
    return new, differing


def _replaces(entry: Entry, label: evalset.Judgment) -> bool:
    """Return whether a judgment was given to change this label, and does."""
    return entry.was == label.relevance and entry.judgment != label


def _with_new(labels: list[dict], new: dict[Pair, Entry]) -> list[dict]:
    """Return the rows of labels with the new ones behind those of the same query."""
    by_query = defaultdict(list)
    for row in labels:
        if pair_of(row) not in new:
            by_query[row["query_id"]].append(row)
    for entry in new.values():
        row = evalset.label_row(entry.judgment)
        if entry.offered:
            row["offered"] = entry.offered
        by_query[entry.query_id].append(row)
    return [row for own in by_query.values() for row in own]


def _kinds_before(log: Iterable[files.Row]) -> dict[str, str]:
    """Return the kind of each query before it was set aside, also of those taken back."""
    kinds = {}
    for _, row in log:
        kind = row.get("kind", "unspecified")
        sets_aside = row.get("doc_id") == "" and "skipped" not in row
        if sets_aside and kind != files.NO_ANSWER:
            kinds[row["query_id"]] = kind
    return kinds


def _with_answers(
    table: list[dict], labels: list[dict], kept: list[Entry], before: dict[str, str]
) -> list[dict]:
    """Return the rows of the queries, listing no zeros, with the kinds that the log gives.

    A relevant document wins. A kind none that nobody remembers another for, and that is none no
    more, is unspecified.
    """
    zeros = {pair_of(row) for row in labels if not row["relevance"]}
    answered = {row["query_id"] for row in labels if row["relevance"]}
    aside = {entry.query_id for entry in kept if not entry.doc_id} - answered
    queries = []
    for row in table:
        query_id, was_none = row["query_id"], row.get("kind") == files.NO_ANSWER
        if listed := row.get("relevant_doc_ids"):
            left = [doc_id for doc_id in listed if (query_id, doc_id) not in zeros]
            row = {**row, "relevant_doc_ids": left}
        is_none = query_id in aside
        if query_id not in before and query_id not in answered:
            is_none = was_none
        if is_none != was_none:
            kind = files.NO_ANSWER if is_none else before.get(query_id, "unspecified")
            row = {**row, "kind": kind}
        queries.append(row)
    return queries
