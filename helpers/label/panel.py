"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

import ipywidgets as widgets
from IPython.display import display

from ..measure import evalset, files, installation, reading, runs
from ..measure.inert import Markup
from ..measure.installation import command
from ..measure.text import Pair, how_many
from . import log, markup, merge
from .markup import ASIDE, FINISH
from .schedule import Turn, next_turn, schedule, turn_of
from .selection import Page, Selectable, quote_of

SKIP, UNDO, NEXT_LINE, LINE_BEFORE = "Skip", "Undo", "the next line", "the line before"
AND, PLUS = "And this too", "\n+\n"  # between passages that prove a grade only together
ACCEPT = "Accept"  # an old label, with the passage that is marked
KEYS = {"n": ASIDE, "s": SKIP, "u": UNDO, "+": AND, "j": NEXT_LINE, "k": LINE_BEFORE, "a": ACCEPT}
TOOLTIPS = {
    AND: "+: what you take next is needed, too; one passage alone does not prove the grade",
    ASIDE: "n: no document answers this query, set it aside",
    SKIP: "s: decide later",
    UNDO: "u: take the last judgment back",
    ACCEPT: "a: the old grade holds, and the marked passage proves it",
    FINISH: "end here: what is judged goes into the folder",
}
NO_PASSAGE = "No passage reads like this: select inside the text, or take a line with j and k."
MERGED_THEN = Markup(
    "<p><b>Finish</b> takes your judgments into the folder; then run this notebook again, or "
    "<code>{}</code>.</p>"
).format(command("report", EVALS="folder"))


class Task(NamedTuple):
    """What judgments are for: the log that takes them, what Finish does, what comes then.

    `finish` returns what it did, in words, for a set; `then` stands under the last document.
    """

    log: str
    finish: Callable[[evalset.EvalSet], str]
    then: Markup


def merge_log(evals: evalset.EvalSet) -> str:
    """Take the log into the folder, and say what comes next."""
    new = how_many(merge.merge(evals), "new judgment")
    return f"{new} went from the log into the folder. Run this notebook again to go on with them."


LABELLING = Task(log.LOG, merge_log, MERGED_THEN)


class Panel:
    """Shows one document at a time and logs each judgment before the next.

    `pairs` are (query_id, doc_id); EvalSetError names ids that the folder does not know.
    `repeats` is the share (0 to 1) that is shown twice, unannounced; `task` is what for.
    """

    def __init__(
        self,
        evals: evalset.EvalSet,
        pairs: list[tuple[str, str]],
        seed: int = 0,
        repeats: float = 0.1,
        task: Task = LABELLING,
    ):
        entries = [log.Entry(*pair, 0) for pair in sorted(set(pairs))]
        files.refuse([fault for entry in entries for fault in log.judgment_faults(entry, evals)])
        self.evals, self.task, self.old = evals, task, reading.waiting(evals)
        self.kept = {pair: reading.marked_evidence(evals, row) for pair, row in self.old.items()}
        turns = schedule(pairs, seed, repeats)  # once, where the old label stands above
        self.queue = [t for t in turns if not (t.repeat and "evidence" in self.old.get(t[:2], {}))]
        self.queue.sort(key=lambda turn: "relevance" not in self.old.get(turn[:2], {}))
        documents = [turn for turn in self.queue if turn.doc_id]
        self.shown, self.queries = {*documents}, list(dict.fromkeys(t.query_id for t in documents))
        self.words = markup.telling_words(evals)
        self.pairs = {*pairs} | {(q, "") for q in evals.unanswered}  # what Undo may take back
        self.actions = {str(grade): partial(self._judge, grade) for grade in evals.grades}
        self.actions |= {ASIDE: self._set_aside, SKIP: self._skip, UNDO: self._undo}
        self.actions |= {NEXT_LINE: partial(self._go, 1), LINE_BEFORE: partial(self._go, -1)}
        self.actions |= {FINISH: self._finish, AND: self._and}
        if any(self.kept.get(turn[:2]) for turn in documents):
            self.actions |= {ACCEPT: self._accept}
        self.keys = {str(grade): str(grade) for grade in evals.grades if grade < 10}
        self.keys |= {key: name for key, name in KEYS.items() if name in self.actions}
        self._build()
        self._next("")

    def show(self) -> None:
        """Display the panel."""
        display(self.box)

    def _build(self) -> None:
        self.query, self.document, self.message, self.count = Page(), Selectable(), Page(), Page()
        self.document.observe(self._selected, "selected")
        self.bar = widgets.IntProgress(max=len(self.shown) or 1, layout={"width": "16em"})
        self.evidence = widgets.Textarea(
            placeholder="Evidence for 1 and more: select it in the text above",
            tooltip="evidence by keyboard: j and k in the box of keys go through the lines",
            layout={"width": "99%", "height": "4.5em"},
        )
        self.key = widgets.Text(placeholder=" ".join(self.keys), tooltip="keys: see below")
        self.key.layout.width = "8em"
        self.key.observe(self._typed, "value")
        grades = self.evals.grades
        labels = {str(grade): f"{grade} helps in part" for grade in grades}  # the guide tells more
        labels |= {"0": "0 does not help", str(grades[-1]): f"{grades[-1]} answers it"}
        tooltips = {n: tip for n, tip in (labels | TOOLTIPS).items() if n in self.actions}
        self.buttons = {}
        for name, tooltip in tooltips.items():
            button = widgets.Button(description=labels.get(name, name), tooltip=tooltip)
            button.layout = {"width": "auto", "min_width": "5em"}
            button.on_click(partial(self._act, name))
            self.buttons[name] = button
        folded = "<details><summary>Labelling guide</summary>{}</details>"  # opens by keyboard
        self.guide = Page(Markup(folded).format(markup.guide_html(self.evals.folder)))
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        progress = widgets.HBox([self.bar, self.count], layout=wrap)
        actions = widgets.HBox([*self.buttons.values(), self.key], layout=wrap)
        told = {k: labels.get(n, n).removeprefix(f"{k} ") for k, n in self.keys.items()}
        keys = Page(markup.keys_html(told))
        rows = [progress, self.query, self.document, self.evidence, actions, self.message, keys]
        self.box = widgets.VBox([*rows, self.guide], layout={"max_width": "60em"})

    # What a person does.

    def _act(self, name: str, _: object = None) -> None:
        """Do what a button says. A bad log or a full disk is a message, and nothing moves."""
        try:
            if name in self.live:
                self.actions[name]()
            else:
                self._say(f"{name} does nothing now.")
        except (ValueError, OSError) as error:  # an EvalSetError is a ValueError
            self._say(str(error))

    def _typed(self, change: dict) -> None:
        typed = change["new"].strip()[-1:].lower()  # the last: the box may not be empty yet
        self.key.value = ""
        if typed in self.keys:
            self._act(self.keys[typed])
        elif typed:
            self._say(f"Key {typed} does nothing: the table below names those that do.")

    def _selected(self, change: dict) -> None:
        """Take what is selected in the document as evidence, where it is a passage of it."""
        if not change["new"].strip() or not self.lines:
            return
        words, places = quote_of(change["new"], self.body)
        if not words:  # then it stands in the title alone, or begins there
            words, places = quote_of(change["new"], self.text)
        self._take(words)
        message = f"Evidence taken: {how_many(len(words.split()), 'word')}."
        if places > 1:
            message += f" They stand at {places} places: select more to say which one you mean."
        self._say(message if words else NO_PASSAGE, wrong=not words)

    def _take(self, words: str) -> None:
        """Put a passage, if it is one, in the place of the last one."""
        before, plus, last = self.evidence.value.rpartition(PLUS)
        self.evidence.value = before + plus + (words or last)

    def _and(self) -> None:
        if not self.evidence.value.rpartition(PLUS)[2].strip():
            raise ValueError("Take a passage first, then the one that is needed, too.")
        self.evidence.value += PLUS
        self._say("Take the passage that is needed, too.", wrong=False)

    def _go(self, by: int) -> None:
        """Take the next line as evidence, or the one before; it stops at both ends."""
        self.line = min(max(self.line + by, 0), len(self.lines) - 1)
        self._take(line := self.lines[self.line])
        self._say(f"Line {self.line + 1} of {len(self.lines)}: {line}", wrong=False)

    def _judge(self, relevance: int) -> None:
        typed = [words.strip() for words in self.evidence.value.split(PLUS) if relevance]
        if len(typed) > 1 and not all(typed):
            raise ValueError("Not saved: the passage beside a + is missing: take it or delete +.")
        quotes = [q if q in self.text else quote_of(q, self.text)[0] or q for q in typed]
        evidence = [quotes] if len(quotes) > 1 else "".join(quotes)
        self._save(relevance, evidence)

    def _accept(self) -> None:
        """Take the old grade, with the passages that are marked."""
        pair = self.turn[:2]
        self._save(self.old[pair]["relevance"], self.kept[pair])

    def _save(self, relevance: int, evidence: str | list) -> None:
        row = {**self.turn._asdict(), "relevance": relevance, "evidence": evidence}
        faults = log.judgment_faults(log.Entry(**row), self.evals)
        if faults:
            select = " Select the words that prove it in the text, then press the grade again."
            self._say(f"Not saved: {faults[0]}.{select * (not evidence)}")
        else:
            self._write(row, f"Saved: {relevance}.")

    def _set_aside(self) -> None:
        query = self.evals.all_queries[self.turn.query_id]
        row = {**self.turn._asdict(), "relevance": 0, "kind": query.kind}
        self._write(row, f"Set aside: no document answers {query.query_id}.")

    def _undo(self) -> None:
        """Withdraw the last judgment of these pairs and show it again, also after a restart."""
        last = self.own[-1]
        names = ("query_id", "doc_id", "repeat", "time")
        turn = turn_of(last)
        self.queue = [turn, *(other for other in self.queue if other != turn)]
        row = {"undo": {name: getattr(last, name) for name in names}}
        self._write(row, f"Taken back: {last.relevance if last.doc_id else ASIDE}.")

    def _write(self, row: dict, words: str) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        log.append(self.evals, self.task.log, {**row, "time": now})
        self._next(words)

    def _skip(self) -> None:
        self.queue.remove(self.turn)
        self.queue.append(self.turn)
        self._next("Skipped: it comes again at the end.")

    def _finish(self) -> None:
        """Do what the task does with its judgments, and end this panel: a new one goes on."""
        words = self.task.finish(self.evals)
        left = len(self.shown) - self.bar.value
        if left:
            words += f" {how_many(left, 'document')} left: run this cell again to judge on."
        self.live, self.box.children = set(), [self.message]
        self._say(words, wrong=False)

    # What is shown.

    def _next(self, words: str) -> None:
        """Show what is due, how far the work is, what can be done now, and `words`."""
        entries, n = log.entries(self.evals, self.task.log), len(self.shown)
        self.own = [entry for entry in entries if entry.pair in self.pairs]
        self.turn = turn = next_turn(self.queue, entries)
        query = self.evals.all_queries[turn.query_id] if turn else None
        self.bar.value = done = len(self.shown.intersection(map(turn_of, entries)))
        self.count.value = f"{done} of {n} judged"
        self.query.value = markup.HEADING.format(query.query) if turn else ""
        self._offer(turn)
        if not turn:
            page = markup.end_html(entries, n, self.evals.grades, self.task.then)
            live = {UNDO, FINISH}
        elif not turn.doc_id:
            page, live = markup.question_html(query), {ASIDE, SKIP, UNDO, FINISH}
        else:
            place = f"query {self.queries.index(query.query_id) + 1} of {len(self.queries)}"
            self.count.value = f"{done + 1} of {n}, {place}"
            document, row = self.evals.documents[turn.doc_id], self.old.get(turn[:2], {})
            passages = row.get("passages", [])
            page = markup.document_html(document, self.words[query.query_id], passages)
            self.query.value += markup.old_label_html(row)
            live = self.actions.keys() - {ASIDE, ACCEPT}
            if self.kept.get(turn[:2]):
                taken = f"{ACCEPT}: grade {row['relevance']} with the marked passage"
                live, self.buttons[ACCEPT].description = live | {ACCEPT}, taken
        self.document.value, self.live = page, live if self.own else live - {UNDO}
        for name, button in self.buttons.items():
            button.disabled = name not in self.live
        self._say(words, wrong=False)

    def _offer(self, turn: Turn | None) -> None:
        """Offer the lines below the title of a turn's document as evidence; none is taken yet."""
        document = self.evals.documents[turn.doc_id] if turn and turn.doc_id else None
        self.text = document.retrieval_text if document else ""
        self.body = document.text if document else ""
        self.lines = [line.strip() for line in self.body.split("\n") if line.strip()]
        self.line = -1
        self.document.selected = self.evidence.value = ""
        self.evidence.layout.display = None if document else "none"

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = markup.message_html(words, wrong)


def require_labels(evals: evalset.EvalSet) -> None:
    """Show the panel for what waits: queries without a relevant document, and pairs to read.

    Where nothing can be measured yet, it ends Run All with an EvalSetError, which a notebook shows
    as one line. Else it is shown where pictures move, and the notebook goes on without them.
    """
    missing, listed = evals.next_step(), reading.waiting(evals)
    if not missing:
        print(f"{how_many(len(evals.queries), 'query')}, each with a relevant document")
        if evals.waiting:
            print(f"{evalset.left_out(evals.waiting)}: {runs.first_names(evals.waiting)}")
        if evals.unanswered:
            print(f"set aside, because no document answers: {runs.first_names(evals.unanswered)}")
        if listed:
            print(f"{how_many(len(listed), 'pair')} of {reading.TO_READ} to judge")
        if (listed or evals.waiting) and installation.is_live():
            Panel(evals, _pairs_of_waiting(evals, listed)).show()
        return
    pairs = _pairs_of_waiting(evals, [pair for pair, row in listed.items() if "relevance" in row])
    if pairs:
        Panel(evals, pairs).show()
        missing = f"Judge in the panel above and click {FINISH}, then run this notebook again."
    raise evalset.EvalSetError([missing])


def _pairs_of_waiting(evals: evalset.EvalSet, listed: Collection[Pair]) -> list[Pair]:
    """Return `listed` pairs, and those to judge of the queries that wait for a label."""
    if not evals.waiting:
        return [*listed]
    return [p for p in merge.pairs_to_judge(evals) if p in listed or p[0] in evals.waiting]
