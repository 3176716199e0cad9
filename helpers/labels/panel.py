"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
from collections.abc import Callable
from typing import NamedTuple

import ipywidgets as widgets
from IPython.display import display

from .. import evalset, runs
from ..text import how_many
from . import log, markup, merge
from .markup import ACTIONS, ASIDE, FINISH
from .schedule import Turn, following, schedule, turn_of
from .selection import Selectable, quote_of, selection_text


class Task(NamedTuple):
    """What judgments are for: the log that takes them, what Finish does, what comes then.

    `finish` returns what it did, in words, for a set; `then` is HTML.
    """

    log: str
    finish: Callable[[evalset.EvalSet], str]
    then: str


def merged_in_words(evals: evalset.EvalSet) -> str:
    """Take the log into the folder, and say what comes next."""
    new = how_many(merge.merge(evals), "new judgment")
    return f"{new} went from the log into the folder. Run this notebook again to go on with them."


LINES = "List of lines"  # JupyterLab takes the arrow keys, so two letters go through it
LINES_HELP = "evidence by keyboard: j and k in the box of keys go through the lines"
LINE_KEYS = {"j": "the next line", "k": "the line before"}
LABELLING = Task(log.LOG, merged_in_words, markup.MERGED_THEN)


SELECT = " Select the words that prove it in the text, then press the grade again."


class Panel:
    """Shows one document at a time and logs each judgment before the next.

    `pairs` are (query_id, doc_id); ValueError names ids that the folder does not know.
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
        pairs = {tuple(pair) for pair in pairs}
        _refuse_unknown_ids(evals, pairs)
        if not 0 <= repeats <= 1:
            raise ValueError(f"repeats is {repeats}, wanted a share from 0 to 1")
        self.evals, self.task = evals, task
        self.path = evals.folder / task.log
        self.queue = schedule(pairs, seed, repeats)
        self.shown = {turn for turn in self.queue if turn.doc_id}
        self.queries = list(dict.fromkeys(t.query_id for t in self.queue if t.doc_id))
        self.words = markup.telling_words(evals)
        mine = pairs | {(query_id, "") for query_id in evals.unanswered}  # what Undo may take
        self.mine = [entry for entry in self._given() if entry.pair in mine]
        self.turn: Turn | None = None
        self._build()
        self._next("")

    def _given(self) -> list[log.Entry]:
        """Return what the log says now: other panels may write into it, too."""
        return log.entries(self.evals, self.task.log)

    def _build(self) -> None:
        self.query, self.message, self.count = (widgets.HTML() for _ in range(3))
        self.document = Selectable()
        self.document.observe(self._selected, "selected")
        self.bar = widgets.IntProgress(max=len(self.shown) or 1, layout={"width": "16em"})
        self.buttons = self._made_buttons()
        named = [name for name in self.buttons if len(name) == 1 or name in ACTIONS]
        self.keys = {name[0].lower(): name for name in named if name != FINISH} | LINE_KEYS
        self.key = widgets.Text(
            placeholder=" ".join(self.keys), tooltip=self._told_keys(), layout={"width": "8em"}
        )
        self.key.observe(self._typed, "value")
        self.choice = widgets.Select(rows=8, layout={"width": "99%"})
        self.choice.observe(self._chosen, "value")
        self.evidence = widgets.Textarea(
            placeholder="Evidence for 1 and more: select it in the text above",
            layout={"width": "99%", "height": "4.5em"},
        )
        self.lines = widgets.ToggleButton(
            description=LINES, tooltip=LINES_HELP, layout={"width": "max-content"}
        )
        self.lines.observe(lambda _: self._show_lines(), "value")
        self.guide = widgets.Accordion(
            [widgets.HTML(markup.guide_html(self.evals.folder))],
            titles=("Labelling guide",),
            selected_index=None,
        )
        self.box = widgets.VBox(self._rows(), layout={"max_width": "60em"})

    def _made_buttons(self) -> dict[str, widgets.Button]:
        """Return {name: button}: a grade's name is its number, its button says what it means."""
        means = {str(g): words for g, words in markup.grade_words(self.evals.grades).items()}
        made = {}
        for name, tooltip in markup.help_of(self.evals.grades).items():
            shown = f"{name} {means.get(name, '')}".strip()
            made[name] = widgets.Button(
                description=shown, tooltip=tooltip, layout={"width": "auto", "min_width": "5em"}
            )
            made[name].on_click(lambda _, name=name: self._act(name))
        return made

    def _rows(self) -> list[widgets.Widget]:
        progress = widgets.HBox(
            [self.bar, self.count], layout={"align_items": "center", "flex_flow": "row wrap"}
        )
        actions = widgets.HBox([*self.buttons.values(), self.key], layout={"flex_flow": "row wrap"})
        judging = [self.lines, self.choice, self.evidence, actions, self.message]
        return [progress, self.query, self.document, *judging, self.guide]

    def show(self) -> None:
        """Display the panel."""
        display(self.box)

    def judge(self, relevance: int) -> None:
        """Log the grade of the shown document and show the next; without evidence say so."""
        if self.turn is None:
            return self._say("There is no document left to judge. Undo takes the last one back.")
        if not self.turn.doc_id:
            return self._say(f"There is no document to grade: {ASIDE}, Skip or Undo.")
        evidence = self._evidence_given() if relevance else ""
        entry = log.Entry(self.turn.query_id, self.turn.doc_id, relevance, evidence)
        judgment = evalset.Judgment(*entry.pair, relevance, entry.quotes)
        fault = log.judgment_fault(judgment, self.evals)
        if fault:
            return self._say(f"Not saved: {fault}.{SELECT * (not evidence)}")
        other = {turn_of(entry): entry for entry in self._given()}.get(self.turn)
        self._log(relevance, evidence)
        note = f" Another panel gave {other.relevance}: yours, the later, counts." if other else ""
        return self._next(f"Saved: {relevance}.{note}")

    def _evidence_given(self) -> str:
        """Return the evidence, word for word where it was typed or copied as it is shown."""
        typed = self.evidence.value.strip()
        text = self.evals.documents[self.turn.doc_id].retrieval_text
        return typed if typed in text else quote_of(typed, text).words or typed

    def set_aside(self) -> None:
        """Log that no document answers the query, once its documents are judged."""
        if self.turn is None or self.turn.doc_id:
            return self._say(f"{ASIDE} is for the end: judge the documents of the query first.")
        query = self.evals.asked[self.turn.query_id]
        self._log(0, "", kind=query.kind)
        return self._next(f"Set aside: no document answers {query.query_id}.")

    def _log(self, relevance: int, evidence: str, **more: str) -> None:
        row = {
            "query_id": self.turn.query_id,
            "doc_id": self.turn.doc_id,
            "relevance": relevance,
            "evidence": evidence,
            "repeat": self.turn.repeat,
            "time": _now(),
            **more,
        }
        log.append(self.path, row)
        self.mine.append(log.Entry(**row))

    def skip(self) -> None:
        """Move the shown document to the end. Nothing is written."""
        if self.turn is None:
            return self._say("There is no document left to skip.")
        skipped = self.turn
        self._move(skipped, len(self.queue))
        self._next("Skipped: it comes again at the end.")
        if self.turn == skipped:
            self._say(f"This is the last {'document' if skipped.doc_id else 'question'} left.")
        return None

    def undo(self) -> None:
        """Withdraw the last judgment of this panel, or of the log it resumed, and show it again.

        What another panel has judged meanwhile is never withdrawn.
        """
        standing = {entry._replace(place="") for entry in self._given()}
        while self.mine and self.mine[-1]._replace(place="") not in standing:
            self.mine.pop()  # taken back, here or in another panel
        if not self.mine:
            return self._say("There is nothing to undo.")
        last = self.mine[-1]
        named = {name: getattr(last, name) for name in ("query_id", "doc_id", "repeat", "time")}
        log.append(self.path, {"undo": named, "time": _now()})
        self._move(turn_of(last), 0)
        return self._next(f"Taken back: {last.relevance if last.doc_id else ASIDE}.")

    def finish(self) -> None:
        """Do what the task does with its judgments, and end this panel: a new one goes on."""
        done = self.task.finish(self.evals)
        left = len(self.shown.difference(map(turn_of, self._given())))
        self._clear()
        for widget in (*self.buttons.values(), self.key):
            widget.disabled = True
        rest = (
            f" {how_many(left, 'document')} left: run this cell again to judge on." if left else ""
        )
        self._say(f"{done}{rest}", wrong=False)

    def _move(self, turn: Turn, place: int) -> None:
        self.queue = [other for other in self.queue if other != turn]
        self.queue.insert(place, turn)

    def _act(self, name: str) -> None:
        """Do what a button says. A bad log or a full disk is a message, and nothing moves."""
        try:
            actions = {ASIDE: self.set_aside, "Skip": self.skip, "Undo": self.undo}
            actions |= {FINISH: self.finish, LINE_KEYS["j"]: lambda: self._go(1)}
            actions |= {LINE_KEYS["k"]: lambda: self._go(-1)}
            actions[name]() if name in actions else self.judge(int(name))
        except (ValueError, OSError) as error:  # an EvalSetError is a ValueError
            self._say(str(error))

    def _typed(self, change: dict) -> None:
        typed = change["new"].strip()[-1:].lower()  # the last: the box may not be empty yet
        if change["new"]:
            self.key.value = ""
        if typed in self.keys:
            self._act(self.keys[typed])
        elif typed:
            self._say(f"Key {typed} does nothing. {self._told_keys()}")

    def _told_keys(self) -> str:
        named = (key if key == name else f"{key} for {name}" for key, name in self.keys.items())
        return f"Keys: {', '.join(named)}."

    def _chosen(self, change: dict) -> None:
        if change["new"]:
            self.evidence.value = change["new"]

    def _selected(self, change: dict) -> None:
        """Take what is selected in the document as evidence, where it is a passage of it."""
        if not change["new"].strip() or not (self.turn and self.turn.doc_id):
            return
        document = self.evals.documents[self.turn.doc_id]
        quote = quote_of(change["new"], document.retrieval_text)
        if quote.words:
            self.evidence.value = quote.words
        self._say(selection_text(quote), wrong=not quote.words)

    def _clear(self) -> None:
        """Take document and evidence off the panel."""
        self.turn = None
        self.query.value = self.document.value = ""
        self._offer(None)

    def _offer(self, document: evalset.Document | None) -> None:
        """Offer a document's lines as evidence, of which none is taken yet."""
        self.document.selected = ""
        self.choice.options = markup.passages(document) if document else ()
        self.choice.index = None
        self.evidence.value = ""  # last: new options choose their first line by themselves
        for widget in (self.lines, self.evidence):
            widget.layout.display = None if document else "none"
        self._show_lines()

    def _go(self, by: int) -> None:
        """Take the next line as evidence, or the one before; it stops at both ends."""
        lines = self.choice.options
        if not lines:
            return self._say("There is no line to choose.")
        self.lines.value = True
        at = -1 if self.choice.index is None else self.choice.index
        self.choice.index = min(max(at + by, 0), len(lines) - 1)
        where = f"Line {self.choice.index + 1} of {len(lines)}"
        return self._say(f"{where}: {self.choice.label}", wrong=False)

    def _show_lines(self) -> None:
        """Show the list of lines where it is wanted."""
        wanted = self.lines.value and self.choice.options
        self.choice.layout.display = None if wanted else "none"

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = markup.message_html(words, wrong)

    def _next(self, words: str) -> None:
        """Read the log, in which other panels may have written, and show what is due."""
        given = self._given()
        self.turn = following(self.queue, given)
        self._progress(given)
        query = self.evals.asked[self.turn.query_id] if self.turn else None
        document = self.evals.documents.get(self.turn.doc_id) if self.turn else None
        self.query.value = markup.query_html(query) if query else ""
        self.document.value = self._page(query, document, given)
        self._offer(document)
        live = {"Undo": True, FINISH: True, "Skip": query, ASIDE: query and not document}
        for name, button in self.buttons.items():
            button.disabled = not live.get(name, document)
        self._say(words, wrong=False)

    def _progress(self, given: list[log.Entry]) -> None:
        done = self.bar.value = len(self.shown.intersection(map(turn_of, given)))
        self.count.value = f"{done:d} of {len(self.shown)} judged"
        if self.turn in self.shown:
            number = self.queries.index(self.turn.query_id) + 1
            self.count.value = (
                f"{done + 1:d} of {len(self.shown)}, query {number:d} of {len(self.queries)}"
            )

    def _page(
        self, query: evalset.Query | None, document: evalset.Document | None, given: list[log.Entry]
    ) -> str:
        if document:
            return markup.document_html(document, self.words[query.query_id])
        if query:
            return markup.question_html(query)
        return markup.end_html(given, len(self.shown), self.evals.grades, self.task.then)


class Unlabelled(Exception):
    """Ends Run All where labels are missing, with one line instead of a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows."""
        return [str(self)]


def require_labels(evals: evalset.EvalSet) -> None:
    """Show the panel for queries without a relevant document and raise Unlabelled, if any are."""
    wanted = evals.next_step()
    if not wanted:
        print(f"{how_many(len(evals.queries), 'query')}, each with a relevant document")
        if evals.unanswered:
            print(f"set aside, because no document answers: {runs.some(evals.unanswered)}")
        return
    pairs = [pair for pair in merge.pairs_to_judge(evals) if pair[0] in evals.waiting]
    if pairs:
        Panel(evals, pairs).show()
        wanted = f"Judge in the panel above and click {FINISH}, then run this notebook again."
    raise Unlabelled(wanted)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat()


def _refuse_unknown_ids(evals: evalset.EvalSet, pairs: set[tuple[str, str]]) -> None:
    queries = sorted({q for q, _ in pairs} - {*evals.asked})
    documents = sorted({d for _, d in pairs} - {*evals.documents, ""})
    problems = [f"query {q} is not in retrieval_queries.jsonl" for q in queries]
    problems += [f"document {d} is not in the corpus" for d in documents]
    if problems:
        raise ValueError("\n".join(f"{p}, wanted one of the folder's ids" for p in problems))
