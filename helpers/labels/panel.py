"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import ipywidgets as widgets
from IPython.display import display

from .. import evalset, runs
from ..text import Markup, how_many
from . import log, markup, merge
from .markup import ASIDE, FINISH
from .schedule import Turn, following, schedule, turn_of
from .selection import Page, Selectable, quote_of, selection_text

SKIP, UNDO, NEXT_LINE, LINE_BEFORE = "Skip", "Undo", "the next line", "the line before"
TOOLTIPS = {
    ASIDE: "n: no document answers this query, set it aside",
    SKIP: "s: decide later",
    UNDO: "u: take the last judgment back",
    FINISH: "end here: what is judged goes into the folder",
}
KEYS = {"n": ASIDE, "s": SKIP, "u": UNDO, "j": NEXT_LINE, "k": LINE_BEFORE}


class Task(NamedTuple):
    """What judgments are for: the log that takes them, what Finish does, what comes then.

    `finish` returns what it did, in words, for a set; `then` stands under the last document.
    """

    log: str
    finish: Callable[[evalset.EvalSet], str]
    then: Markup


def merged_in_words(evals: evalset.EvalSet) -> str:
    """Take the log into the folder, and say what comes next."""
    new = how_many(merge.merge(evals), "new judgment")
    return f"{new} went from the log into the folder. Run this notebook again to go on with them."


LABELLING = Task(log.LOG, merged_in_words, markup.MERGED_THEN)


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
        unknown = [
            f"query {q} is not in {merge.QUERY_TABLE}"
            for q in {q for q, _ in pairs} - {*evals.asked}
        ]
        unknown += [
            f"document {d} is not in the corpus"
            for d in {d for _, d in pairs} - {*evals.documents, ""}
        ]
        if unknown:
            wanted = (f"{problem}, wanted one of the folder's ids" for problem in sorted(unknown))
            raise ValueError("\n".join(wanted))
        if not 0 <= repeats <= 1:
            raise ValueError(f"repeats is {repeats}, wanted a share from 0 to 1")
        self.evals, self.task = evals, task
        self.log = log.JudgmentLog(evals, task.log)
        self.queue = schedule(pairs, seed, repeats)
        self.shown = {turn for turn in self.queue if turn.doc_id}
        self.queries = list(dict.fromkeys(t.query_id for t in self.queue if t.doc_id))
        self.words = markup.telling_words(evals)
        self.pairs = pairs | {(query_id, "") for query_id in evals.unanswered}  # what Undo may take
        self.turn: Turn | None = None
        self._build()
        self._next("")

    def _build(self) -> None:
        self.query, self.message, self.count = (Page() for _ in range(3))
        self.document = Selectable()
        self.document.observe(self._selected, "selected")
        self.bar = widgets.IntProgress(max=len(self.shown) or 1, layout={"width": "16em"})
        self._make_actions()
        self.key = widgets.Text(
            placeholder=" ".join(self.keys), tooltip=self._keys_in_words(), layout={"width": "8em"}
        )
        self.key.observe(self._typed, "value")
        self.evidence = widgets.Textarea(
            placeholder="Evidence for 1 and more: select it in the text above",
            tooltip="evidence by keyboard: j and k in the box of keys go through the lines",
            layout={"width": "99%", "height": "4.5em"},
        )
        guide = Page(markup.guide_html(self.evals.folder))
        self.guide = widgets.Accordion([guide], titles=("Labelling guide",), selected_index=None)
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        progress = widgets.HBox([self.bar, self.count], layout=wrap)
        actions = widgets.HBox([*self.buttons.values(), self.key], layout=wrap)
        rows = [progress, self.query, self.document, self.evidence, actions]
        rows += [self.message, self.guide]
        self.box = widgets.VBox(rows, layout={"max_width": "60em"})

    def _make_actions(self) -> None:
        """Set what can be done by its name, and the buttons and the keys that do it."""
        means = markup.grade_words(self.evals.grades)
        self.actions = {str(grade): partial(self.judge, grade) for grade in means}
        self.actions |= {ASIDE: self.set_aside, SKIP: self.skip, UNDO: self.undo}
        self.actions |= {FINISH: self.finish}
        self.actions |= {NEXT_LINE: partial(self._go, 1), LINE_BEFORE: partial(self._go, -1)}
        self.keys = {str(grade): str(grade) for grade in means if grade < 10} | KEYS
        graded = {
            str(grade): (f"{grade} {words}", f"{grade}: {words}" + ", with evidence" * (grade > 0))
            for grade, words in means.items()
        }
        self.buttons = {}
        for name, (words, tooltip) in (graded | {n: (n, t) for n, t in TOOLTIPS.items()}).items():
            layout = {"width": "auto", "min_width": "5em"}
            button = widgets.Button(description=words, tooltip=tooltip, layout=layout)
            button.on_click(lambda _, name=name: self._act(name))
            self.buttons[name] = button

    def show(self) -> None:
        """Display the panel."""
        display(self.box)

    def judge(self, relevance: int) -> None:
        """Log the grade of the shown document and show the next; without evidence say so."""
        evidence = self.evidence.value.strip() if relevance else ""
        text = self.evals.documents[self.turn.doc_id].retrieval_text
        if evidence not in text:  # word for word, also where it was copied as it is shown
            evidence = quote_of(evidence, text).words or evidence
        fault = log.judgment_fault(log.Entry(*self.turn.pair, relevance, evidence), self.evals)
        if fault:
            select = " Select the words that prove it in the text, then press the grade again."
            self._say(f"Not saved: {fault}.{select * (not evidence)}")
        else:
            self._log(relevance, evidence)
            self._next(f"Saved: {relevance}.")

    def set_aside(self) -> None:
        """Log that no document answers the query, whose documents are judged."""
        query = self.evals.asked[self.turn.query_id]
        self._log(0, "", kind=query.kind)
        self._next(f"Set aside: no document answers {query.query_id}.")

    def _log(self, relevance: int, evidence: str, **more: str) -> None:
        query_id, doc_id, repeat = self.turn
        row = {"query_id": query_id, "doc_id": doc_id, "relevance": relevance}
        self.log.append({**row, "evidence": evidence, "repeat": repeat, "time": _now(), **more})

    def skip(self) -> None:
        """Move the shown document to the end. Nothing is written."""
        self._move(self.turn, len(self.queue))
        self._next("Skipped: it comes again at the end.")

    def undo(self) -> None:
        """Withdraw the last judgment of these pairs and show it again, also after a restart."""
        last = self._judged()[-1]
        named = {name: getattr(last, name) for name in ("query_id", "doc_id", "repeat", "time")}
        self.log.append({"undo": named, "time": _now()})
        self._move(turn_of(last), 0)
        self._next(f"Taken back: {last.relevance if last.doc_id else ASIDE}.")

    def _judged(self) -> list[log.Entry]:
        """Return the judgments that Undo may take back."""
        return [entry for entry in self.log.entries if entry.pair in self.pairs]

    def finish(self) -> None:
        """Do what the task does with its judgments, and end this panel: a new one goes on."""
        done = self.task.finish(self.evals)
        left = len(self.shown.difference(map(turn_of, self.log.entries)))
        self.turn = None
        self._offer(None)
        self.query.value = self.document.value = ""
        self._allow()
        self.key.disabled = True
        rest = f" {how_many(left, 'document')} left: run this cell again to judge on."
        self._say(done + rest * bool(left), wrong=False)

    def _move(self, turn: Turn, place: int) -> None:
        self.queue = [other for other in self.queue if other != turn]
        self.queue.insert(place, turn)

    def _allow(self, *names: str) -> None:
        """Let no button and no key do anything but `names`."""
        self.live = names
        for name, button in self.buttons.items():
            button.disabled = name not in names

    def _act(self, name: str) -> None:
        """Do what a button says. A bad log or a full disk is a message, and nothing moves."""
        if name not in self.live:
            return self._say(f"{name} does nothing now. Choose one of: {', '.join(self.live)}.")
        try:
            return self.actions[name]()
        except (ValueError, OSError) as error:  # an EvalSetError is a ValueError
            return self._say(str(error))

    def _typed(self, change: dict) -> None:
        typed = change["new"].strip()[-1:].lower()  # the last: the box may not be empty yet
        if change["new"]:
            self.key.value = ""
        if typed in self.keys:
            self._act(self.keys[typed])
        elif typed:
            self._say(f"Key {typed} does nothing. {self._keys_in_words()}")

    def _keys_in_words(self) -> str:
        words = (key if key == name else f"{key} for {name}" for key, name in self.keys.items())
        return f"Keys: {', '.join(words)}."

    def _selected(self, change: dict) -> None:
        """Take what is selected in the document as evidence, where it is a passage of it."""
        if not change["new"].strip() or not (self.turn and self.turn.doc_id):
            return
        document = self.evals.documents[self.turn.doc_id]
        quote = quote_of(change["new"], document.retrieval_text)
        if quote.words:
            self.evidence.value = quote.words
        self._say(selection_text(quote), wrong=not quote.words)

    def _offer(self, document: evalset.Document | None) -> None:
        """Offer a document's lines as evidence, of which none is taken yet."""
        lines = document.retrieval_text.split("\n") if document else []
        self.lines, self.line = [line.strip() for line in lines if line.strip()], -1
        self.document.selected = self.evidence.value = ""
        self.evidence.layout.display = None if document else "none"

    def _go(self, by: int) -> None:
        """Take the next line as evidence, or the one before; it stops at both ends."""
        self.line = min(max(self.line + by, 0), len(self.lines) - 1)
        line = self.evidence.value = self.lines[self.line]
        self._say(f"Line {self.line + 1} of {len(self.lines)}: {line}", wrong=False)

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = markup.message_html(words, wrong)

    def _next(self, words: str) -> None:
        """Show what is due, how far the work is, and what can be done now."""
        given = self.log.entries
        self.turn = following(self.queue, given)
        query = self.evals.asked[self.turn.query_id] if self.turn else None
        document = self.evals.documents.get(self.turn.doc_id) if self.turn else None
        done, n = len(self.shown.intersection(map(turn_of, given))), len(self.shown)
        self.bar.value, self.count.value = done, f"{done} of {n} judged"
        if document:
            place = f"query {self.queries.index(query.query_id) + 1} of {len(self.queries)}"
            self.count.value = f"{done + 1} of {n}, {place}"
            page = markup.document_html(document, self.words[query.query_id])
        elif query:
            page = markup.question_html(query)
        else:
            page = markup.end_html(given, n, self.evals.grades, self.task.then)
        self.document.value = page
        self.query.value = markup.query_html(query) if query else ""
        self._offer(document)
        of_document = [name for name in self.actions if name not in TOOLTIPS]
        live = of_document if document else [ASIDE] if query else []
        self._allow(*live, *[SKIP] * bool(query), *[UNDO] * bool(self._judged()), FINISH)
        self._say(words, wrong=False)


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
