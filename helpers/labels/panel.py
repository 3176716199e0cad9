"""Judge pooled documents in JupyterLab: a panel, and a log that loses no judgment."""

import datetime
import errno
import html
import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import ipywidgets as widgets
import mistune
import numpy as np
from IPython.display import display

from .. import evalset, figures, records

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
try:
    import msvcrt
except ImportError:  # everywhere else
    msvcrt = None

LOG = "labelling.jsonl"
MANY = 10  # documents; in a small corpus even a word of most documents is worth a mark
GAP = 5  # other documents between a document and its repeat
LOCK_AT = 1 << 30  # Windows locks bytes, and a locked byte cannot be read: take one past the end
ACTIONS = {"Skip": "s: decide later", "Undo": "u: take the last judgment back"}


class Entry(NamedTuple):
    """One judgment in the log. `time` is ISO 8601 in UTC, `line` its line in the file."""

    query_id: str
    doc_id: str
    relevance: int
    evidence: str = ""
    repeat: bool = False
    time: str = ""
    line: int = 0

    @property
    def pair(self) -> tuple[str, str]:
        """The judged pair: query_id, doc_id."""
        return self.query_id, self.doc_id

    @property
    def step(self) -> "Step":
        """The step of the schedule that this judgment did."""
        return Step(self.query_id, self.doc_id, self.repeat)


class Step(NamedTuple):
    """One document to show for one query, for the first time or as a blind repeat."""

    query_id: str
    doc_id: str
    repeat: bool = False


class Agreement(NamedTuple):
    """Agreement with oneself over `n` repeats: share equal (0 to 1), linearly weighted kappa.

    `equal` is None without repeats, `kappa` also where every grade is the same.
    `differ` holds (query_id, doc_id, first grade, second grade).
    """

    n: int
    equal: float | None
    kappa: float | None
    differ: list[tuple[str, str, int, int]]


# The log: one JSON object a line, only ever appended to.


def append(path: Path, row: dict) -> None:
    """Append `row` as one line; when this returns, the line is on disk.

    Raises OSError if it could not be written whole; then the log is as before.
    """
    line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o666)
    try:
        locked = _lock(file)
        line = _fresh_line(file) + line
        before = os.fstat(file).st_size
        if os.write(file, line) < len(line):
            os.ftruncate(file, before)
            raise OSError(errno.ENOSPC, "the line was not written whole", str(path))
        os.fsync(file)
        if locked and msvcrt:
            _unlock_windows(file)
    finally:
        os.close(file)  # this also gives the lock back


def _lock(file: int) -> bool:
    """Wait for the advisory lock of `file`; False where the platform or file system has none."""
    try:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        elif msvcrt:
            os.lseek(file, LOCK_AT, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_LOCK, 1)
    except OSError:
        return False
    return bool(fcntl or msvcrt)


def _unlock_windows(file: int) -> None:
    os.lseek(file, LOCK_AT, os.SEEK_SET)
    msvcrt.locking(file, msvcrt.LK_UNLCK, 1)


def _fresh_line(file: int) -> bytes:
    """Return what must come before a new line; cut off a line that a killed kernel left torn.

    A torn line was never confirmed to anybody, and left in place it would be a broken line.
    """
    size = os.fstat(file).st_size
    os.lseek(file, 0, os.SEEK_SET)
    tail = os.read(file, size).rpartition(b"\n")[2]
    if not tail:
        return b""
    try:
        json.loads(tail)
    except ValueError:
        os.ftruncate(file, size - len(tail))
        return b""
    return b"\n"  # a whole line whose line end is missing


def _lines(path: Path, problems: list[str]) -> list[tuple[int, object]]:
    """Return (line number, value) of every line; a broken last one without line end is torn."""
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n") if path.exists() else []
    found = []
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                found.append((number, json.loads(line)))
        except ValueError as error:
            if number < len(lines):
                problems.append(f"{path}:{number}: broken JSON ({error}), wanted one object a line")
    return found


def entries(evals: evalset.EvalSet) -> list[Entry]:
    """Return the judgments of the log that nobody took back, in the order they were given.

    Raises EvalSetError with file and line for every bad line.
    """
    path, problems, kept = evals.folder / LOG, [], []
    for number, row in _lines(path, problems):
        found = _problems(row, evals)
        problems += [f"{path}:{number}: {problem}" for problem in found]
        if found:
            continue
        if "undo" in row:
            _withdraw(kept, row["undo"])
        else:
            kept.append(Entry(**row, line=number))
    if problems:
        raise evalset.EvalSetError(problems)
    return kept


def _withdraw(kept: list[Entry], undo: dict) -> None:
    """Remove the newest judgment that `undo` names; one that is gone already may stay gone."""
    for i in reversed(range(len(kept))):
        if all(getattr(kept[i], name) == value for name, value in undo.items()):
            del kept[i]
            return


def _problems(row, evals: evalset.EvalSet) -> list[str]:
    """Return what is wrong with one value of the log."""
    if not isinstance(row, dict):
        return [f"found {json.dumps(row)[:60]}, wanted a JSON object such as {{...}}"]
    if "undo" in row:
        found = records.complaints(row, records.SCHEMAS["undo"])
        return found or records.complaints(row["undo"], records.SCHEMAS["undone"])
    found = records.complaints(row, records.SCHEMAS[LOG], evals.grades)
    if found:
        return found
    judgment = evalset.Judgment(row["query_id"], row["doc_id"], row["relevance"])
    wrong = evalset.misplaced(judgment, evals.queries, evals.documents)
    if wrong:
        return [wrong]
    document = evals.documents[row["doc_id"]]
    problem = evidence_problem(row["relevance"], row.get("evidence", ""), document)
    return [f"{row['doc_id']}: {problem}"] if problem else []


def evidence_problem(relevance: int, evidence: str, document: evalset.Document) -> str:
    """Return why `evidence` does not carry the grade, "" if it does. 0 needs none."""
    if relevance and not evidence.strip():
        return f"grade {relevance} needs evidence, wanted a passage of the document"
    if evidence not in document.retrieval_text:
        return f"evidence {evidence[:60]!r} is not in the document, wanted a verbatim quote"
    return ""


def latest(log: list[Entry]) -> dict[tuple[str, str], Entry]:
    """Return {(query_id, doc_id): judgment}, the last word on each pair. Repeats do not count."""
    return {entry.pair: entry for entry in log if not entry.repeat}


def judgments(folder: Path | str) -> list[evalset.Judgment]:
    """Return the judgments in the log of `folder`, by query and document id.

    Raises EvalSetError for a bad folder and for every bad line of the log.
    """
    found = latest(entries(evalset.load(folder)))
    return [
        evalset.Judgment(*pair, found[pair].relevance, found[pair].evidence)
        for pair in sorted(found)
    ]


# The order: blind, query by query, with repeats further on.


def schedule(pairs: list[tuple[str, str]], seed: int = 0, repeats: float = 0.1) -> list[Step]:
    """Return the steps: queries shuffled, documents shuffled in each, a share `repeats` twice."""
    rng = np.random.default_rng(seed)
    by_query: dict[str, list[Step]] = {}
    for pair in sorted(set(pairs)):
        by_query.setdefault(pair[0], []).append(Step(*pair))
    queries = list(by_query)
    steps = [
        by_query[queries[q]][d]
        for q in rng.permutation(len(queries))
        for d in rng.permutation(len(by_query[queries[q]]))
    ]
    for step in _to_repeat(steps, repeats, rng):
        steps.insert(_place(steps, step, rng), step._replace(repeat=True))
    return steps


def _to_repeat(steps: list[Step], repeats: float, rng: np.random.Generator) -> list[Step]:
    """Return the steps to show again; those too near the end are taken last."""
    wanted = round(repeats * len(steps))
    early = max(0, len(steps) - GAP)
    order = [*rng.permutation(early), *range(early, len(steps))]
    return [steps[i] for i in sorted(order[:wanted])]


def _place(steps: list[Step], step: Step, rng: np.random.Generator) -> int:
    """Return where the repeat of `step` goes: later in the same query if there is room."""
    first = steps.index(step)
    end = first + 1
    while end < len(steps) and steps[end].query_id == step.query_id:
        end += 1
    earliest = first + 1 + GAP
    return int(rng.integers(earliest, end + 1)) if earliest <= end else len(steps)


def following(queue: list[Step], log: list[Entry]) -> Step | None:
    """Return the first step of `queue` that is due, None when all are done.

    A repeat is due GAP judgments after the first one, or when nothing else is left.
    """
    done = {entry.step for entry in log}
    since = {entry.pair: len(log) - i - 1 for i, entry in enumerate(log) if not entry.repeat}
    left = [step for step in queue if step not in done and (not step.repeat or step[:2] in since)]
    due = [step for step in left if not step.repeat or since[step[:2]] >= GAP]
    return next(iter(due or left), None)


def agreement(log: list[Entry], grades: tuple[int, ...] = records.GRADES) -> Agreement:
    """Compare each repeat with the standing grade of its pair; the set allows `grades`."""
    first = latest(log)
    second = {entry.pair: entry.relevance for entry in log if entry.repeat}
    both = [(pair, first[pair].relevance, second[pair]) for pair in sorted(second) if pair in first]
    if not both:
        return Agreement(0, None, None, [])
    differ = [(*pair, a, b) for pair, a, b in both if a != b]
    equal = 1 - len(differ) / len(both)
    return Agreement(len(both), equal, _kappa([b[1:] for b in both], grades), differ)


def _kappa(pairs: list[tuple[int, int]], grades: tuple[int, ...]) -> float | None:
    """Return linearly weighted kappa (Cohen 1968); undefined where only one grade was given."""
    if len({grade for both in pairs for grade in both}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score  # takes a second to import

    value = cohen_kappa_score(*zip(*pairs, strict=True), labels=grades, weights="linear")
    return None if math.isnan(value) else float(value)


# In and out of the folder.


def pairs_to_judge(
    evals: evalset.EvalSet, pooled: list[dict] | None = None
) -> list[tuple[str, str]]:
    """Return the pooled pairs that judgments.jsonl does not hold yet, sorted.

    The pool is pool.jsonl; without that file `pooled`, or else what the rankers find.
    """
    if (evals.folder / "pool.jsonl").exists():
        pooled = evalset.read_extra(evals, "pool.jsonl")
    elif pooled is None:
        from . import pooling  # takes two seconds to import, and only this case needs it

        pooled = pooling.pool(pooling.rankings(evals))
    held = {(row["query_id"], row["doc_id"]) for _, row in _stored(evals, "judgments.jsonl")}
    return sorted({(row["query_id"], row["doc_id"]) for row in pooled} - held)


def _stored(evals: evalset.EvalSet, name: str) -> list[tuple[str, dict]]:
    """Return (place, object) of each line of a label file; [] where the file is missing."""
    path, problems = evals.folder / name, []
    found = list(records.rows(path, problems.append)) if path.exists() else []
    if problems:
        raise evalset.EvalSetError(problems)
    return found


def merge(evals: evalset.EvalSet) -> int:
    """Add the log's judgments to judgments.jsonl and relevant_doc_ids; return how many were new.

    Without judgments.jsonl the relevant_doc_ids count as 1 or more, as evalset.load takes them.
    Raises ValueError, and writes nothing, where a pair has another grade already.
    """
    evals = evalset.load(evals.folder)  # the files may be newer than what the caller holds
    log = latest(entries(evals))
    held = _held(evals)
    conflicts = [
        f"query {pair[0]}, document {pair[1]}: {evals.folder / LOG}:{entry.line} says "
        f"{entry.relevance}, {held[pair][1]}, wanted one grade for the pair"
        for pair, entry in sorted(log.items())
        if pair in held and entry.relevance not in held[pair][0]
    ]
    if conflicts:
        raise ValueError("\n".join(conflicts))
    stored = {(row["query_id"], row["doc_id"]) for _, row in _stored(evals, "judgments.jsonl")}
    new = {pair: entry for pair, entry in sorted(log.items()) if pair not in stored}
    if new:
        _write(evals, new)
    return len(new)


def _held(evals: evalset.EvalSet) -> dict[tuple[str, str], tuple[set[int], str]]:
    """Return {pair: (grades that agree with what the folder says, where it says so)}."""
    if (evals.folder / "judgments.jsonl").exists():
        return {
            (row["query_id"], row["doc_id"]): (
                {row["relevance"]},
                f"{place} says {row['relevance']}",
            )
            for place, row in _stored(evals, "judgments.jsonl")
        }
    return {
        (row["query_id"], doc_id): (
            {*evals.grades} - {0},
            f"{place} lists it as relevant (1 or more)",
        )
        for place, row in _stored(evals, "retrieval_queries.jsonl")
        for doc_id in row["relevant_doc_ids"]
    }


def _write(evals: evalset.EvalSet, new: dict[tuple[str, str], Entry]) -> None:
    """Write both label files; if the second fails, the first is put back."""
    path = evals.folder / "judgments.jsonl"
    former = path.read_text(encoding="utf-8") if path.exists() else None
    rows = _with_new(evals, new)
    queries = [row for _, row in _stored(evals, "retrieval_queries.jsonl")]
    records.write_jsonl(path, rows)
    try:
        records.write_jsonl(
            evals.folder / "retrieval_queries.jsonl", [_with_relevant(q, rows) for q in queries]
        )
    except OSError:
        path.unlink() if former is None else records.write(path, former)
        raise


def _with_new(evals: evalset.EvalSet, new: dict[tuple[str, str], Entry]) -> list[dict]:
    """Return the rows of judgments.jsonl with the new ones behind those of the same query."""
    rows = [row for _, row in _stored(evals, "judgments.jsonl")] or [
        {"query_id": q.query_id, "doc_id": doc_id, "relevance": 1}
        for q in evals.queries.values()
        for doc_id in q.relevant_doc_ids
        if (q.query_id, doc_id) not in new
    ]
    for entry in new.values():
        row = {"query_id": entry.query_id, "doc_id": entry.doc_id, "relevance": entry.relevance}
        rows.append({**row, "evidence": entry.evidence} if entry.evidence else row)
    order = list(dict.fromkeys(row["query_id"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row["query_id"]))


def _with_relevant(query: dict, rows: list[dict]) -> dict:
    """Return the row of a query whose relevant_doc_ids also name what is judged 1 or more."""
    judged = [
        row["doc_id"]
        for row in rows
        if row["query_id"] == query["query_id"] and row["relevance"] > 0
    ]
    return {**query, "relevant_doc_ids": list(dict.fromkeys([*query["relevant_doc_ids"], *judged]))}


# What the panel shows, as HTML. Everything from a file or a person is escaped.


def telling_words(evals: evalset.EvalSet) -> dict[str, set[str]]:
    """Return {query_id: words to mark}: not those that stand in most documents, such as "the"."""
    spread = Counter(
        word for d in evals.documents.values() for word in set(evals.words(d.retrieval_text))
    )
    found = {}
    for query in evals.queries.values():
        words = set(evals.words(query.query))
        rare = {word for word in words if spread[word] <= max(MANY, len(evals.documents) / 2)}
        found[query.query_id] = rare or words
    return found


STYLE = (  # JupyterLab resets marks and tables
    "<style>.labelling mark{background:#ffe58f;color:#000}.labelling h1,.labelling h2"
    "{font-size:1.1em;margin:0.8em 0 0.3em}.labelling th,.labelling td{text-align:left;"
    "vertical-align:top;padding:0.2em 1em 0.2em 0}</style>"
)
FRAME = "overflow:auto;padding:0.4em 0.9em;line-height:1.5;border:1px solid #999"
BODY = "white-space:pre-wrap;overflow-wrap:anywhere;margin-top:0.5em"


def query_html(query: evalset.Query) -> str:
    """Return the query as a heading."""
    return f'<div style="font-size:1.25em;font-weight:600">{html.escape(query.query)}</div>'


def document_html(document: evalset.Document, words: set[str]) -> str:
    """Return title, dates and body with the query's words marked, in a frame that scrolls.

    The frame belongs to the document, so that each new one starts at its top.
    """
    facts = [document.kind, document.service, document.updated, document.version]
    shown = " · ".join(html.escape(f) for f in facts if f not in ("", "unspecified"))
    title, body = (figures.marked(part, words) for part in (document.title, document.text))
    return (
        f'{STYLE}<div class="labelling" tabindex="0" style="{FRAME};max-height:26em"><b>{title}</b>'
        f'<div style="opacity:0.75">{shown}</div><div style="{BODY}">{body}</div></div>'
    )


NO_GUIDE = (
    "Write labeling_guide.md in the folder: a test for each grade, and the edge cases you meet."
)


def guide_html(folder: Path) -> str:
    """Return the folder's labeling_guide.md as HTML, or a hint how to get one."""
    path = folder / "labeling_guide.md"
    if not path.exists():
        return f"<p>No guide yet. {html.escape(NO_GUIDE)}</p>"
    render = mistune.create_markdown(escape=True, plugins=["table"])
    page = render(path.read_text(encoding="utf-8-sig"))
    return f'{STYLE}<div class="labelling" style="{FRAME};max-height:24em">{page}</div>'


def message_html(words: str, wrong: bool = False) -> str:
    """Return the message line; what is wrong is red and bold."""
    style = "color:var(--jp-error-color1,#b00020);font-weight:600" if wrong else "opacity:0.8"
    lines = html.escape(words).replace("\n", "<br>")
    return f'<div role="status" style="min-height:1.5em;line-height:1.5;{style}">{lines}</div>'


def end_html(log: list[Entry], n: int, grades: tuple[int, ...] = records.GRADES) -> str:
    """Return what stands in place of a document when all `n` are judged."""
    if not n:
        return "<p>There is nothing to judge.</p>"
    merge_hint = "<p>Next: <code>panel.merge(evals)</code> takes them into the folder.</p>"
    return (
        f"<p><b>All {n} documents are judged.</b></p>"
        f"{agreement_html(agreement(log, grades))}{merge_hint}"
    )


def agreement_html(found: Agreement) -> str:
    """Return agreement with oneself and the pairs that differ."""
    if not found.n:
        return "<p>No document was shown twice, so there is no agreement to report.</p>"
    kappa = "not defined (one grade only)" if found.kappa is None else f"{found.kappa:.2f}"
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in found.differ
    )
    heads = "".join(f"<th>{name}</th>" for name in ("query", "document", "first", "second"))
    table = f"<table class='labelling'><tr>{heads}</tr>{rows}</table>"
    return STYLE + (
        f"<p>Some documents were shown twice. Agreement with yourself: n = {found.n}, "
        f"{found.equal:.0%} equal, weighted kappa (linear) {kappa}.</p>" + (table if rows else "")
    )


def passages(document: evalset.Document) -> list[tuple[str, str]]:
    """Return (shown, evidence) for each line of the document that holds words."""
    lines = [line.strip() for line in document.retrieval_text.split("\n")]
    return [(f"{line[:117]}..." if len(line) > 120 else line, line) for line in lines if line]


def help_of(grades: tuple[int, ...]) -> dict[str, str]:
    """Return {button: its tooltip}: a button for each grade, then Skip and Undo."""
    means = dict.fromkeys(grades, "helps in part, with evidence")
    means |= {grades[-1]: "answers, with evidence", 0: "does not help"}
    return {str(grade): f"{grade}: {words}" for grade, words in means.items()} | ACTIONS


class Panel:
    """Shows one document at a time and logs each judgment before the next.

    `pairs` are (query_id, doc_id); ValueError names ids that the folder does not know.
    `repeats` is the share (0 to 1) that is shown twice, unannounced.
    """

    def __init__(
        self,
        evals: evalset.EvalSet,
        pairs: list[tuple[str, str]],
        seed: int = 0,
        repeats: float = 0.1,
    ):
        pairs = [tuple(pair) for pair in pairs]
        _refuse_unknown(evals, pairs)
        if not 0 <= repeats <= 1:
            raise ValueError(f"repeats is {repeats}, wanted a share from 0 to 1")
        self.evals = evals
        self.path = evals.folder / LOG
        self.queue = schedule(pairs, seed, repeats)
        self.queries = list(dict.fromkeys(step.query_id for step in self.queue))
        self.words = telling_words(evals)
        self.mine = [e for e in entries(evals) if e.pair in set(pairs)]  # what Undo may take
        self.step: Step | None = None
        self._build()
        self._next("")

    def _build(self) -> None:
        self.query, self.document, self.message, self.count = (widgets.HTML() for _ in range(4))
        self.bar = widgets.IntProgress(max=max(1, len(self.queue)), layout={"width": "16em"})
        self.buttons = {
            name: widgets.Button(description=name, tooltip=words, layout={"width": "5em"})
            for name, words in help_of(self.evals.grades).items()
        }
        self.keys = {
            name[0].lower(): name for name in self.buttons if name in ACTIONS or len(name) == 1
        }
        for name, button in self.buttons.items():
            button.on_click(lambda _, name=name: self._act(name))
        self.key = widgets.Text(placeholder=" ".join(self.keys), layout={"width": "7em"})
        self.key.observe(self._typed, "value")
        self.choice = widgets.Select(rows=8, layout={"width": "99%"})
        self.choice.observe(self._chosen, "value")
        self.evidence = widgets.Textarea(
            placeholder="Evidence for 1 and more: choose a line above, or paste the words here",
            layout={"width": "99%", "height": "4.5em"},
        )
        self.guide = widgets.Accordion(
            [widgets.HTML(guide_html(self.evals.folder))],
            titles=("Labelling guide",),
            selected_index=None,
        )
        self.box = widgets.VBox(self._rows(), layout={"max_width": "60em"})

    def _rows(self) -> list[widgets.Widget]:
        progress = widgets.HBox([self.bar, self.count], layout={"align_items": "center"})
        actions = widgets.HBox([*self.buttons.values(), self.key])
        judging = [self.choice, self.evidence, actions, self.message]
        return [progress, self.query, self.document, *judging, self.guide]

    def show(self) -> None:
        """Display the panel."""
        display(self.box)

    def judge(self, relevance: int) -> None:
        """Log the grade of the shown document and show the next; without evidence say so."""
        if self.step is None:
            return self._say("There is no document left to judge. Undo takes the last one back.")
        evidence = self.evidence.value.strip() if relevance else ""
        document = self.evals.documents[self.step.doc_id]
        problem = evidence_problem(relevance, evidence, document)
        if problem:
            return self._say(f"Not saved: {problem}.")
        other = {entry.step: entry for entry in entries(self.evals)}.get(self.step)
        self._log(relevance, evidence)
        note = f" Another panel gave {other.relevance}: yours, the later, counts." if other else ""
        return self._next(f"Saved: {relevance}.{note}")

    def _log(self, relevance: int, evidence: str) -> None:
        row = {
            "query_id": self.step.query_id,
            "doc_id": self.step.doc_id,
            "relevance": relevance,
            "evidence": evidence,
            "repeat": self.step.repeat,
            "time": _now(),
        }
        append(self.path, row)
        self.mine.append(Entry(**row))

    def skip(self) -> None:
        """Move the shown document to the end. Nothing is written."""
        if self.step is None:
            return self._say("There is no document left to skip.")
        skipped = self.step
        self._move(skipped, len(self.queue))
        self._next("Skipped: it comes again at the end.")
        if self.step == skipped:
            self._say("This is the last document left.")
        return None

    def undo(self) -> None:
        """Withdraw the last judgment of this panel, or of the log it resumed, and show it again.

        What another panel has judged meanwhile is never withdrawn.
        """
        standing = {entry._replace(line=0) for entry in entries(self.evals)}
        while self.mine and self.mine[-1]._replace(line=0) not in standing:
            self.mine.pop()  # another panel took it back
        if not self.mine:
            return self._say("There is nothing to undo.")
        last = self.mine[-1]
        named = {name: getattr(last, name) for name in ("query_id", "doc_id", "repeat", "time")}
        append(self.path, {"undo": named, "time": _now()})
        self.mine.pop()
        self._move(last.step, 0)
        return self._next(f"Taken back: {last.relevance}.")

    def _move(self, step: Step, place: int) -> None:
        self.queue = [other for other in self.queue if other != step]
        self.queue.insert(place, step)

    def _act(self, name: str) -> None:
        """Do what a button says. A bad log or a full disk is a message, and nothing moves."""
        try:
            actions = {"Skip": self.skip, "Undo": self.undo}
            actions[name]() if name in actions else self.judge(int(name))
        except (evalset.EvalSetError, OSError) as error:
            self._say(str(error))

    def _typed(self, change: dict) -> None:
        typed = change["new"].strip()[-1:].lower()  # the last: the box may not be empty yet
        if change["new"]:
            self.key.value = ""
        if typed in self.keys:
            self._act(self.keys[typed])
        elif typed:
            grades = ", ".join(key for key in self.keys if key.isdigit())
            self._say(f"Key {typed} does nothing. Keys: {grades}, s for Skip, u for Undo.")

    def _chosen(self, change: dict) -> None:
        if change["new"]:
            self.evidence.value = change["new"]

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = message_html(words, wrong)

    def _next(self, words: str) -> None:
        """Read the log, in which other panels may have written, and show what is due."""
        log = entries(self.evals)
        self.step = following(self.queue, log)
        self._progress(log)
        if self.step is None:
            self._end(log)
        else:
            query, document = self.evals.queries[self.step[0]], self.evals.documents[self.step[1]]
            self.query.value = query_html(query)
            self.document.value = document_html(document, self.words[query.query_id])
            self.choice.options = passages(document)
        self.choice.index = None
        self.evidence.value = ""  # last: new options choose their first line by themselves
        for widget in (self.choice, self.evidence):
            widget.layout.display = "none" if self.step is None else None
        for name, button in self.buttons.items():
            button.disabled = name != "Undo" and self.step is None
        self._say(words, wrong=False)

    def _progress(self, log: list[Entry]) -> None:
        done = len({entry.step for entry in log}.intersection(self.queue))
        self.bar.value = done
        self.count.value = f"{done} of {len(self.queue)} judged"
        if self.step:
            number = self.queries.index(self.step.query_id) + 1
            self.count.value = (
                f"{done + 1} of {len(self.queue)}, query {number} of {len(self.queries)}"
            )

    def _end(self, log: list[Entry]) -> None:
        self.query.value = ""
        self.document.value = end_html(log, len(self.queue), self.evals.grades)
        self.choice.options = ()


class Unlabelled(Exception):
    """Ends Run All where labels are missing, with one line instead of a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows."""
        return [str(self)]


def require_labels(evals: evalset.EvalSet) -> None:
    """Show the panel for queries without a relevant document and raise Unlabelled, if any are."""
    step = evals.next_step()
    if not step:
        print(f"{len(evals.queries)} queries, each with a relevant document")
        return
    pairs = [pair for pair in pairs_to_judge(evals) if pair[0] in evals.waiting]
    if pairs:
        Panel(evals, pairs).show()
        step = "Judge in the panel above, then run panel.merge(evals) and this notebook again."
    raise Unlabelled(step)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat()


def _refuse_unknown(evals: evalset.EvalSet, pairs: list[tuple[str, str]]) -> None:
    queries = sorted({q for q, _ in pairs} - {*evals.queries})
    documents = sorted({d for _, d in pairs} - {*evals.documents})
    problems = [f"query {q} is not in retrieval_queries.jsonl" for q in queries]
    problems += [f"document {d} is not in the corpus" for d in documents]
    if problems:
        raise ValueError("\n".join(f"{p}, wanted one of the folder's ids" for p in problems))
