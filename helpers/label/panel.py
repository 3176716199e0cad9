"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

import ipywidgets as widgets
from IPython.display import display

from ..measure import evalset, files, installation, reading, runs
from ..measure.evalset import EvalSet
from ..measure.inert import Markup
from ..measure.installation import command
from ..measure.text import Pair, how_many
from . import labelling, markup
from .labelling import Entry, Turn
from .markup import ASIDE, FINISH
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
HALF_TYPED = "Not saved: the passage beside a + is missing: take it or delete +."
SELECT = " Select the words that prove it in the text, then press the grade again."
NO_PASSAGE = "No passage reads like this: select inside the text, or take a line with j and k."
NO_LINES = "There is no line below the title: select in the text."
MERGED_THEN = Markup(
    "<p><b>Finish</b> takes your judgments into the folder; then run this notebook again, or "
    "<code>{}</code>.</p>"
).format(command("report", EVALS="folder"))


class Task(NamedTuple):
    """What judgments are for: the log that takes them, what Finish does, what comes then.

    `finish` returns what it did, in words, for a set; `then` stands under the last document.
    """

    log: str
    finish: Callable[[EvalSet], str]
    then: Markup


def merge_log(evals: EvalSet) -> str:
    """Take the log into the folder, and say what comes next."""
    new = how_many(labelling.merge(evals), "new judgment")
    return f"{new} went from the log into the folder. Run this notebook again to go on with them."


LABELLING = Task(labelling.LOG, merge_log, MERGED_THEN)


class Panel:
    """Shows one document at a time and logs each judgment before the next.

    `pairs` are (query_id, doc_id); EvalSetError names ids that the folder does not know.
    `repeats` is the share (0 to 1) that is shown twice, unannounced; `task` is what for.
    """

    def __init__(
        self,
        evals: EvalSet,
        pairs: list[Pair],
        seed: int = 0,
        repeats: float = 0.1,
        task: Task = LABELLING,
    ):
        faults = [labelling.judgment_fault(Entry(*pair, 0), evals) for pair in sorted(set(pairs))]
        files.refuse([fault for fault in faults if fault])
        self.evals, self.task, self.old = evals, task, reading.waiting(evals)
        self.kept = {pair: reading.marked_evidence(evals, row) for pair, row in self.old.items()}
        self.queue = self._by_effect(labelling.schedule(pairs, seed, repeats))
        documents = [turn for turn in self.queue if turn.doc_id]
        self.shown = set(documents)
        self.queries = list(dict.fromkeys(turn.query_id for turn in documents))
        self.words = markup.telling_words(evals)
        set_aside = {(query_id, "") for query_id in evals.unanswered}
        self.pairs = set_aside.union(pairs)  # what Undo may take back
        self.actions = {str(grade): partial(self._judge, grade) for grade in evals.grades}
        self.actions |= {ASIDE: self._set_aside, SKIP: self._skip, UNDO: self._undo}
        self.actions[NEXT_LINE] = partial(self._take_line, 1)
        self.actions[LINE_BEFORE] = partial(self._take_line, -1)
        self.actions |= {FINISH: self._finish, AND: self._ask_for_more}
        if any(self.kept.get(turn.pair) for turn in documents):
            self.actions[ACCEPT] = self._accept
        self.keys = {str(grade): str(grade) for grade in evals.grades if grade < 10}
        self.keys |= {key: name for key, name in KEYS.items() if name in self.actions}
        self._build()
        self._next("")

    def show(self) -> None:
        """Display the panel."""
        display(self.box)

    def _by_effect(self, turns: list[Turn]) -> list[Turn]:
        """Return the turns by what an old label can change; old evidence is shown only once."""
        places = {}
        for turn in turns:
            row = self.old.get(turn.pair, {})
            if not turn.repeat or "evidence" not in row:  # else the old label stands above
                places[turn] = reading.place(self.evals, row)
        return sorted(places, key=places.get)

    def _build(self) -> None:
        """Make the widgets of the page."""
        self.query, self.document, self.message, self.count = Page(), Selectable(), Page(), Page()
        self.document.observe(self._selected, "selected")
        self.bar = widgets.IntProgress(max=len(self.shown) or 1, layout={"width": "16em"})
        self.evidence = widgets.Textarea(
            placeholder="Evidence for 1 and more: select it in the text above",
            tooltip="evidence by keyboard: j and k in the box of keys go through the lines",
            layout={"width": "99%", "height": "4.5em"},
        )
        self.key = widgets.Text(
            placeholder=" ".join(self.keys), tooltip="keys: see below", layout={"width": "8em"}
        )
        self.key.observe(self._typed, "value")
        grades = self.evals.grades
        labels = {str(grade): f"{grade} helps in part" for grade in grades}  # the guide tells more
        labels |= {"0": "0 does not help", str(grades[-1]): f"{grades[-1]} answers it"}
        self.buttons = {}
        for name, tooltip in (labels | TOOLTIPS).items():
            if name in self.actions:
                button = widgets.Button(description=labels.get(name, name), tooltip=tooltip)
                button.layout = {"width": "auto", "min_width": "5em"}
                button.on_click(partial(self._act, name))
                self.buttons[name] = button
        meanings = {}
        for key, name in self.keys.items():
            meanings[key] = labels.get(name, name).removeprefix(f"{key} ")
        keys = Page(markup.keys_html(meanings))
        folded = "<details><summary>Labelling guide</summary>{}</details>"  # opens by keyboard
        self.guide = Page(Markup(folded).format(markup.guide_html(self.evals.folder)))
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        progress = widgets.HBox([self.bar, self.count], layout=wrap)
        actions = widgets.HBox([*self.buttons.values(), self.key], layout=wrap)
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
        if not words:
            self._say(NO_PASSAGE)
            return
        self._take(words)
        message = f"Evidence taken: {how_many(len(words.split()), 'word')}."
        if places > 1:
            message += f" They stand at {places} places: select more to say which one you mean."
        self._say(message, wrong=False)

    def _take(self, words: str) -> None:
        """Put a passage in the place of the last one."""
        before, plus, _ = self.evidence.value.rpartition(PLUS)
        self.evidence.value = before + plus + words

    def _ask_for_more(self) -> None:
        if not self.evidence.value.rpartition(PLUS)[2].strip():
            raise ValueError("Take a passage first, then the one that is needed, too.")
        self.evidence.value += PLUS
        self._say("Take the passage that is needed, too.", wrong=False)

    def _take_line(self, by: int) -> None:
        """Take the next line as evidence, or the one before; it stops at both ends."""
        if not self.lines:
            raise ValueError(NO_LINES)
        self.line = min(max(self.line + by, 0), len(self.lines) - 1)
        line = self.lines[self.line]
        self._take(line)
        self._say(f"Line {self.line + 1} of {len(self.lines)}: {line}", wrong=False)

    def _judge(self, relevance: int) -> None:
        """Save a grade; above 0 with the passages that are taken, word for word as they stand."""
        if not relevance:
            self._save(0, "")
            return
        quotes = []
        for typed in self.evidence.value.split(PLUS):
            words = typed.strip()
            if words not in self.text:
                words = quote_of(words, self.text)[0] or words
            quotes.append(words)
        if len(quotes) > 1 and not all(quotes):
            raise ValueError(HALF_TYPED)
        evidence = [quotes] if len(quotes) > 1 else quotes[0]
        self._save(relevance, evidence)

    def _accept(self) -> None:
        """Take the old grade, with the passages that are marked."""
        pair = self.turn.pair
        self._save(self.old[pair]["relevance"], self.kept[pair])

    def _save(self, relevance: int, evidence: str | list) -> None:
        row = {**self.turn._asdict(), "relevance": relevance, "evidence": evidence}
        fault = labelling.judgment_fault(Entry(**row), self.evals)
        if not fault:
            self._write(row, f"Saved: {relevance}.")
        elif evidence:
            self._say(f"Not saved: {fault}.")
        else:
            self._say(f"Not saved: {fault}.{SELECT}")

    def _set_aside(self) -> None:
        query = self.evals.all_queries[self.turn.query_id]
        row = {**self.turn._asdict(), "relevance": 0, "kind": query.kind}
        self._write(row, f"Set aside: no document answers {query.query_id}.")

    def _undo(self) -> None:
        """Withdraw the last judgment of these pairs and show it again, also after a restart."""
        last = self.own[-1]
        self.queue = [last.turn, *(turn for turn in self.queue if turn != last.turn)]
        what = last.relevance if last.doc_id else ASIDE
        self._write(labelling.undo_row(last), f"Taken back: {what}.")

    def _write(self, row: dict, words: str) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        labelling.append(self.evals, self.task.log, {**row, "time": now})
        self._next(words)

    def _skip(self) -> None:
        self.queue.remove(self.turn)
        self.queue.append(self.turn)
        self._next("Skipped: it comes again at the end.")

    def _finish(self) -> None:
        """Do what the task does with its judgments, and end this panel: a new one goes on."""
        words = self.task.finish(self.evals)
        if left := len(self.shown) - self.bar.value:
            words += f" {how_many(left, 'document')} left: run this cell again to judge on."
        self.live, self.box.children = set(), [self.message]
        self._say(words, wrong=False)

    # What is shown.

    def _next(self, words: str) -> None:
        """Show what is due, how far the work is, what can be done now, and `words`."""
        entries = labelling.entries(self.evals, self.task.log)
        self.own = [entry for entry in entries if entry.pair in self.pairs]
        self.turn = turn = labelling.next_turn(self.queue, entries)
        done, n = len(self.shown & {entry.turn for entry in entries}), len(self.shown)
        self.bar.value, self.count.value = done, f"{done} of {n} judged"
        if not turn:
            self._offer(None)
            page = markup.end_html(entries, n, self.evals.grades, self.task.then)
            self._show_page("", page, {UNDO, FINISH})
        elif turn.doc_id:
            self._show_document(turn)
        else:
            query = self.evals.all_queries[turn.query_id]
            self._offer(None)
            page = markup.question_html(query)
            self._show_page(markup.HEADING.format(query.query), page, {ASIDE, SKIP, UNDO, FINISH})
        self._say(words + labelling.number_due(self.evals, entries), wrong=False)

    def _show_document(self, turn: Turn) -> None:
        """Show the document of a turn, with its old label if it has one."""
        query, document = self.evals.all_queries[turn.query_id], self.evals.documents[turn.doc_id]
        place = f"query {self.queries.index(turn.query_id) + 1} of {len(self.queries)}"
        self.count.value = f"{self.bar.value + 1} of {len(self.shown)}, {place}"
        self._offer(document)
        row, live = self.old.get(turn.pair, {}), self.actions.keys() - {ASIDE, ACCEPT}
        if self.kept.get(turn.pair):
            live.add(ACCEPT)
            taken = f"{ACCEPT}: grade {row['relevance']} with the marked passage"
            self.buttons[ACCEPT].description = taken
        passages = row.get("passages", [])
        page = markup.document_html(document, self.words[turn.query_id], passages)
        heading = markup.HEADING.format(query.query) + markup.old_label_html(row)
        self._show_page(heading, page, live)

    def _show_page(self, heading: Markup | str, page: Markup, live: set[str]) -> None:
        """Show a heading and a page; of the actions, those in `live` do something now."""
        self.query.value, self.document.value = heading, page
        self.live = live if self.own else live - {UNDO}
        for name, button in self.buttons.items():
            button.disabled = name not in self.live

    def _offer(self, document: evalset.Document | None) -> None:
        """Offer the lines below the title of a document as evidence; none is taken yet."""
        self.text = document.retrieval_text if document else ""
        self.body = document.text if document else ""
        self.lines = [line.strip() for line in self.body.split("\n") if line.strip()]
        self.line = -1
        self.document.selected = self.evidence.value = ""
        self.evidence.layout.display = None if document else "none"

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = markup.message_html(words, wrong)


def require_labels(evals: EvalSet) -> None:
    """Show the panel for what waits: queries without a relevant document, and pairs to read.

    Where nothing can be measured yet, it ends Run All with an EvalSetError, which a notebook shows
    as one line. Else it is shown where pictures move, and the notebook goes on without them.
    """
    missing, listed = evals.next_step(), reading.waiting(evals)
    if missing:
        former = [pair for pair, row in listed.items() if "relevance" in row]
        if pairs := _pairs_of_waiting(evals, former):
            Panel(evals, pairs).show()
            missing = f"Judge in the panel above and click {FINISH}, then run this notebook again."
        raise evalset.EvalSetError([missing])
    print(f"{how_many(len(evals.queries), 'query')}, each with a relevant document")
    if evals.waiting:
        print(f"{evalset.left_out(evals.waiting)}: {runs.first_names(evals.waiting)}")
    if evals.unanswered:
        print(f"set aside, because no document answers: {runs.first_names(evals.unanswered)}")
    if listed:
        print(f"{how_many(len(listed), 'pair')} of {reading.TO_READ} to judge")
    if (listed or evals.waiting) and installation.is_live():
        Panel(evals, _pairs_of_waiting(evals, listed)).show()


def _pairs_of_waiting(evals: EvalSet, listed: Collection[Pair]) -> list[Pair]:
    """Return `listed` pairs, and those to judge of the queries that wait and have none there."""
    waits = evals.waiting.keys() - {query_id for query_id, _ in listed}
    if not waits:
        return [*listed]
    pairs = labelling.pairs_to_judge(evals)
    return [pair for pair in pairs if pair in listed or pair[0] in waits]
