"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
import re
from collections.abc import Callable, Collection
from functools import partial
from itertools import islice, takewhile
from typing import NamedTuple

import ipywidgets as widgets
from IPython.display import display

from ..measure import baseline, evalset, files, installation, reading, runs
from ..measure.evalset import EvalSet
from ..measure.inert import Markup
from ..measure.installation import command
from ..measure.text import Pair, how_many
from . import labellers, labelling, markup, offers
from .labelling import JUDGMENTS, Entry, Turn
from .markup import ANOTHER, ASIDE, FINISH
from .selection import SIGN, Page, Selectable, quote_of, without_unshown

SKIP, UNDO, NEXT_LINE, LINE_BEFORE = "Skip", "Undo", "next line", "line before"
STOP = "Next query"  # the rest of this one stays unread
AND, PLUS = "And this too", "\n+\n"  # between passages that prove a grade only together
OR, EITHER = "Or this", "\nor\n"  # between passages of which each proves it
BETWEEN = re.compile(r"\n(?:\+|or)\n")
ACCEPT = "Accept"  # an old label or an offer, with the passage that is marked
BLIND = "Blind"
EACH, BATCH = "One by one", 5  # offers of grade 0 that one key accepts together
KEYS = {"n": ASIDE, "s": SKIP, "u": UNDO, "q": STOP, "+": AND, "o": OR}
KEYS |= {"j": NEXT_LINE, "k": LINE_BEFORE, "a": ACCEPT, "b": BLIND, "e": EACH}
TOOLTIPS = {
    AND: "+: what you take next is needed, too; one passage alone does not prove the grade",
    OR: "o: what you take next proves the grade by itself, too",
    STOP: f"q: after {labelling.ENOUGH_ZEROS} zeros in a row, leave the rest of this query unread",
    ASIDE: "n: no document answers this query, set it aside",
    SKIP: "s: decide later",
    UNDO: "u: take the last judgment back",
    ACCEPT: "a: the grade above holds, and the marked passage proves it",
    BLIND: "b: pages without another judge's offers from here on, or with them again",
    EACH: "e: open these pages one after the other",
    FINISH: "end here: what is judged goes into the folder",
}
HALF_TYPED = "Not saved: the passage beside a + or an or is missing: take it or delete the sign."
HALF_WRITTEN = "The last judgment was half written when its process ended: it is asked again."
RESULTS = 5  # pages that the search box lists
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
    """Take the logs into the folder; say what comes next, what stops cost, how labellers agree."""
    new = how_many(labelling.merge(evals), "new judgment")
    words = f"{new} went from the log into the folder. Run this notebook again to go on with them."
    evals = evalset.load(evals.folder)
    parts = [words, labelling.stop_cost(evals), offers.offers_page(evals)]
    parts.append(labellers.labellers_page(evals))
    return "\n".join(filter(None, parts))


LABELLING = Task(labelling.LOG, merge_log, MERGED_THEN)


class Panel:
    """Shows one document at a time and logs each judgment before the next.

    `pairs` are (query_id, doc_id); EvalSetError names ids that the folder does not know.
    `order` is find or blind, else that of the set. `repeats` is the share (0 to 1) that is shown
    twice in the blind order, unannounced; `task` is what for. A `labeller`, by default the one that
    the environment variable LABELLER names, has a log of their own.
    """

    def __init__(
        self,
        evals: EvalSet,
        pairs: list[Pair],
        seed: int = 0,
        repeats: float = 0.1,
        task: Task = LABELLING,
        order: str = "",
        labeller: str = "",
    ):
        faults = [labelling.judgment_fault(Entry(*pair, 0), evals) for pair in sorted(set(pairs))]
        files.refuse([fault for fault in faults if fault])
        self.evals, self.task, self.old = evals, task, reading.waiting(evals)
        self.kept = {pair: reading.marked_evidence(evals, row) for pair, row in self.old.items()}
        self.is_finding, self.seed = (order or evals.reading) == "find", seed
        turns = find_turns(evals, pairs, seed) if self.is_finding else None
        self.queue = self._by_effect(turns or labelling.schedule(pairs, seed, repeats))
        self.found: list[str] = []  # documents that the search box lists
        documents = [turn for turn in self.queue if turn.doc_id]
        self.shown = set(documents)
        self.queries = list(dict.fromkeys(turn.query_id for turn in documents))
        self.words = markup.telling_words(evals)
        self.is_labelling = task.log == labelling.LOG  # labels may be looked up and changed
        self.log = labelling.log_of(labeller) if self.is_labelling else task.log
        self.given = labelling.last_words(labelling.read_all(evals)) if self.is_labelling else {}
        differing = labelling.to_settle(evals) if self.is_labelling else []
        self.differing = {*differing}.intersection(pairs)
        self.asked = [Turn(*pair) for pair in sorted(self.differing)]  # shown now, as looked up
        self.labels = {label[:2]: label for label in evals.judgments if self.is_labelling}
        set_aside = {(query_id, "") for query_id in evals.unanswered}
        own = {(query_id, "") for query_id in self.queries}
        self.pairs = set_aside.union(pairs, own)  # what Undo may take back
        self.actions = {str(grade): partial(self._judge, grade) for grade in evals.grades}
        self.actions |= {ASIDE: self._set_aside, SKIP: self._skip, UNDO: self._undo}
        self.actions[NEXT_LINE] = partial(self._take_line, 1)
        self.actions[LINE_BEFORE] = partial(self._take_line, -1)
        self.actions |= {FINISH: self._finish, AND: partial(self._ask_for_more, PLUS)}
        self.actions[OR] = partial(self._ask_for_more, EITHER)
        if self.is_finding:
            self.actions[STOP] = self._stop
        self.offers, self.shows_offers = {}, True
        if self.is_labelling:
            self.offers = offers.to_show(evals, {*pairs} - self.differing - self.old.keys())
        if self.offers or any(self.kept.get(turn.pair) for turn in documents):
            self.actions[ACCEPT] = self._accept
        if self.offers:
            self.actions |= {BLIND: self._blind, EACH: self._open_each}
        self.batch: list[Turn] = []  # shown together
        self.single: set[Turn] = set()  # not shown together
        self.keys = {str(grade): str(grade) for grade in evals.grades if grade < 10}
        self.keys |= {key: name for key, name in KEYS.items() if name in self.actions}
        self._build()
        self._next(HALF_WRITTEN if labelling.half_line(evals, self.log) else "")

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
        self.units = self.queries if self.is_finding else self.shown
        self.bar = widgets.IntProgress(max=len(self.units) or 1, layout={"width": "16em"})
        label = {"description_width": "initial"}  # a description is the label of its input
        self.evidence = widgets.Textarea(
            description="Evidence",
            style=label,
            placeholder="Evidence for 1 and more: select it in the text above",
            tooltip="evidence by keyboard: j and k in the box of keys go through the lines",
            layout={"width": "99%", "height": "4.5em"},
        )
        self.key = widgets.Text(
            description="Keys",
            style=label,
            placeholder=" ".join(self.keys),
            layout={"width": "12em"},
        )
        self.key.observe(self._typed, "value")
        self.search = widgets.Text(
            description=ANOTHER,
            style=label,
            continuous_update=False,  # Enter looks it up
            placeholder="words or an id",
        )
        self.search.observe(self._searched, "value")
        self.results = Page()
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
        progress = widgets.HBox([self.key, self.bar, self.count], layout=wrap)  # Tab starts there
        actions = widgets.HBox([*self.buttons.values()], layout=wrap)
        rows = [progress, self.query]
        if self.is_labelling:
            rows += [self.search, self.results]
        rows += [self.document, self.evidence, actions, self.message, keys]
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
        last = BETWEEN.split(self.evidence.value)[-1]
        self.evidence.value = self.evidence.value.removesuffix(last) + words

    def _ask_for_more(self, sign: str) -> None:
        if not BETWEEN.split(self.evidence.value)[-1].strip():
            raise ValueError("Take a passage first, then the next one.")
        self.evidence.value += sign
        needed = "that is needed, too" if sign == PLUS else "that proves it by itself, too"
        self._say(f"Take the passage {needed}.", wrong=False)

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
        alternatives = []
        for part in self.evidence.value.split(EITHER):
            quotes = [self._as_written(typed.strip()) for typed in part.split(PLUS)]
            alternatives.append(quotes if len(quotes) > 1 else quotes[0])
            if BETWEEN.search(self.evidence.value) and not all(quotes):
                raise ValueError(HALF_TYPED)
        is_one = len(alternatives) == 1 and isinstance(alternatives[0], str)
        self._save(relevance, alternatives[0] if is_one else alternatives)

    def _as_written(self, words: str) -> str:
        """Return a passage as it stands in the document, or the words where none reads like it."""
        return words if words in self.text else quote_of(words, self.text)[0] or words

    def _accept(self) -> None:
        """Take the old grade or the offered one, with the passages that are marked."""
        if not self.batch:
            self._save(*self.acceptable)
            return
        for turn in self.batch:  # each becomes a row of its own, so Undo takes back one by one
            row = {**turn._asdict(), "relevance": 0, "offered": self.offers[turn.pair]["model"]}
            self._append(row)
        self._next(f"Saved: 0 for {len(self.batch)} pages.")

    def _open_each(self) -> None:
        self.single.update(self.batch)
        self._next("")

    def _blind(self) -> None:
        self.shows_offers = not self.shows_offers
        self._next("")

    def _save(self, relevance: int, evidence: str | list, offered: str = "") -> None:
        pair, words = self.turn.pair, f"Saved: {relevance}."
        row = {**self.turn._asdict(), "relevance": relevance, "evidence": evidence}
        offer = self._shown_offer(self.turn)
        if offered:
            row["offered"] = offered
        elif offer:
            row["offered_grade"] = offer["relevance"]
        if self.turn in self.asked and pair in self.labels:
            row["was"] = self.labels[pair].relevance
        if pair in self.differing or ("was" in row and self._is_shared(pair)):
            row["settles"] = True
            words += f" It settles what was given: {self._grades_given(pair)}."
        fault = labelling.judgment_fault(Entry(**row), self.evals)
        if not fault:
            self._write(row, words)
        elif evidence:
            self._say(f"Not saved: {fault}.")
        else:
            self._say(f"Not saved: {fault}.{SELECT}")

    def _is_shared(self, pair: Pair) -> bool:
        """Return whether another labeller judged a pair."""
        return bool(self.given.get(pair, {}).keys() - {self.log})

    def _grades_given(self, pair: Pair) -> str:
        """Return what each labeller said of a pair, in words."""
        own = self.given.get(pair, {}).items()
        return ", ".join(f"{labelling.labeller_of(log)} {entry.relevance}" for log, entry in own)

    def _set_aside(self) -> None:
        query = self.evals.all_queries[self.turn.query_id]
        row = {**self.turn._asdict(), "relevance": 0, "kind": query.kind}
        self._write(row, f"Set aside: no document answers {query.query_id}.")

    def _undo(self) -> None:
        """Withdraw the last judgment of these pairs and show it again, also after a restart."""
        last = self.own[-1]
        if last.skipped:
            turns, what = [Turn(last.query_id, doc_id) for doc_id in last.skipped], STOP
        else:
            turns, what = [last.turn], last.relevance if last.doc_id else ASIDE
        self._write(labelling.undo_row(last), "")
        self.queue = [*turns, *(turn for turn in self.queue if turn not in turns)]
        self.single.update(turns)
        if last.pair in self.labels or last.settles:
            self.asked.insert(0, last.turn)
        self._next(f"Taken back: {what}.")

    def _append(self, row: dict) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        labelling.append(self.evals, self.log, {**row, "time": now})

    def _write(self, row: dict, words: str) -> None:
        self._append(row)
        self.asked = [turn for turn in self.asked if turn != self.turn]
        self._next(words)

    def _skip(self) -> None:
        if self.turn in self.asked:
            self.asked.remove(self.turn)
            self._next("Left as it was.")
            return
        self.queue.remove(self.turn)
        self.queue.append(self.turn)
        self._next("Skipped: it comes again at the end.")

    def _rest(self) -> list[Turn]:
        """Return the documents that are still to be read for the query that is shown."""
        later = self.due[self.due.index(self.turn) :]
        rest = takewhile(lambda turn: turn.query_id == self.turn.query_id, later)
        return [turn for turn in rest if turn.doc_id and turn not in self.done]

    def _zeros_offered(self) -> list[Turn]:
        """Return the next pages of a query that are offered as 0, up to five; [] for a single."""
        if not self.turn or self.turn in self.asked or not self.turn.doc_id:
            return []
        zeros = [*islice(takewhile(self._is_offered_zero, self._rest()), BATCH)]
        return zeros if len(zeros) > 1 else []

    def _is_offered_zero(self, turn: Turn) -> bool:
        return turn not in self.single and self._shown_offer(turn).get("relevance") == 0

    def _stop(self) -> None:
        """Leave the rest of a query unread; a tenth of it comes later, among other queries."""
        rest = [turn.doc_id for turn in self._rest()]
        row = labelling.stop_row(self.turn.query_id, rest, self.seed)
        self._write(row, f"{how_many(len(rest), 'document')} skipped.")

    def _searched(self, change: dict) -> None:
        """Look up what is typed in the search box: words, or the id or number of a document."""
        words = change["new"].strip()
        self.search.value = ""
        try:
            if words and self.turn:
                self._look_up(words)
        except (ValueError, OSError) as error:
            self._say(str(error))

    def _look_up(self, words: str) -> None:
        numbered = {str(number): doc_id for number, doc_id in enumerate(self.found, 1)}
        doc_id = numbered.get(words, words)
        if doc_id in self.evals.documents:
            self.asked.insert(0, Turn(self.turn.query_id, doc_id))
            self.pairs.add(self.asked[0].pair)
            self._next("")
            return
        folder = self.evals.folder
        self.found = [*islice(baseline.find(words, folder), RESULTS)]
        self.results.value = baseline.ask(words, RESULTS, folder).data
        self._say("Type the number of a page there to judge it for this query.", wrong=False)

    def _finish(self) -> None:
        """Do what the task does with its judgments, and end this panel: a new one goes on."""
        words = self.task.finish(self.evals)
        if left := len(self.units) - self.bar.value:
            what = "query" if self.is_finding else "document"
            words += f" {how_many(left, what)} left: run this cell again to judge on."
        self.live, self.box.children = set(), [self.message]
        self._say(words, wrong=False)

    # What is shown.

    def _next(self, words: str) -> None:
        """Show what is due, how far the work is, what can be done now, and `words`."""
        log = labelling.read(self.evals, self.log)
        acts = labelling.kept_acts(log)
        entries = [act for act in acts if not act.skipped]
        self.own = [act for act in acts if act.pair in self.pairs]
        self.latest = labelling.latest(entries)
        self.done = {entry.turn for entry in entries}
        self.zeros = 0
        self.left = labelling.skipped(self.evals, log) if self.is_finding else {}
        self.due = labelling.without_skipped(self.queue, self.left, self.seed)
        self.turn = turn = next(iter(self.asked), labelling.next_turn(self.due, entries))
        self.found, self.results.value, self.search.disabled = [], "", not turn
        self._count()
        self.batch = self._zeros_offered()
        if self.batch:
            self._show_batch(turn.query_id)
        elif not turn:
            self._offer(None)
            n = len(self.shown - {Turn(*pair) for pair in self.left})
            page = markup.end_html(entries, n, self.evals.grades, self.task.then)
            self._show_page("", page, {UNDO, FINISH})
        elif turn.doc_id:
            self._show_document(turn, entries)
        else:
            query = self.evals.all_queries[turn.query_id]
            self._offer(None)
            page = markup.question_html()
            self._show_page(markup.HEADING.format(query.query), page, {ASIDE, SKIP, UNDO, FINISH})
        if turn in self.asked and (standing := self._standing(turn.pair)):
            words += f" Its grade so far: {standing['relevance']}."
        if STOP in self.live:
            left = how_many(len(self._rest()), "document")
            words += f" {self.zeros} zeros in a row: {STOP} (q) leaves {left} unread."
        self._say(words + labelling.number_due(self.evals, entries), wrong=False)

    def _count(self) -> None:
        """Show how far the work is: documents, or queries and what was found."""
        if not self.is_finding:
            done, n = len(self.shown & self.done), len(self.shown)
            self.bar.value, self.count.value = done, f"{done} of {n} judged"
            if self.turn in self.shown:
                place = f"query {self.queries.index(self.turn.query_id) + 1} of {len(self.queries)}"
                self.count.value = f"{done + 1} of {n}, {place}"
            return
        due = [turn for turn in self.shown - self.done if turn.pair not in self.left]
        found = [e for e in self.latest.values() if e.relevance and e.query_id in self.queries]
        self.bar.value = len(self.queries) - len({turn.query_id for turn in due})
        n = how_many(len(self.queries), "query")
        self.count.value = f"{self.bar.value} of {n}, {len(found)} relevant found"

    def _standing(self, pair: Pair) -> dict:
        """Return the grade and evidence that a pair has by now; {} for none, or to settle blind."""
        if pair in self.differing:
            return {}
        if pair in self.latest and not (pair in self.labels and self._is_shared(pair)):
            return self.latest[pair]._asdict()
        if pair in self.labels:
            label = self.labels[pair]
            return {"relevance": label.relevance, "evidence": [[*q] for q in label.evidence]}
        return {}

    def _show_batch(self, query_id: str) -> None:
        """Show pages that are offered as 0 together, each by its best passages."""
        words, pages = self.words[query_id], []
        for turn in self.batch:
            document = self.evals.documents[turn.doc_id]
            best = markup.best_passages(document.text, words, self.evals.words)
            pages.append((document.title, best))
        self._offer(None)
        self.buttons[ACCEPT].description = f"{ACCEPT}: grade 0 for all {len(pages)}"
        heading = markup.HEADING.format(self.evals.all_queries[query_id].query)
        judges = sorted({self.offers[turn.pair]["model"] for turn in self.batch})
        heading += markup.offer_html({"model": ", ".join(judges), "relevance": 0})
        page = markup.batch_html(pages, words)
        self._show_page(heading, page, {ACCEPT, EACH, BLIND, UNDO, FINISH})

    def _show_document(self, turn: Turn, entries: list[Entry]) -> None:
        """Show the document of a turn, with its old label if it has one."""
        query, document = self.evals.all_queries[turn.query_id], self.evals.documents[turn.doc_id]
        words, best = self.words[turn.query_id], []
        row, live = self.old.get(turn.pair, {}), self.actions.keys() - {ASIDE, ACCEPT, STOP, EACH}
        if turn in self.asked:
            row = self._standing(turn.pair) or row
        elif self.is_finding and turn.pair not in self.left:
            best = markup.best_passages(document.text, words, self.evals.words)
            self.zeros = labelling.zeros_in_a_row(entries, turn.query_id)
            live |= {STOP} if self.zeros >= labelling.ENOUGH_ZEROS else set()
        self._offer(document, best)
        passages, offer = row.get("passages", []), self._shown_offer(turn)
        self.acceptable = ()
        if self.kept.get(turn.pair):
            self.acceptable = (row["relevance"], self.kept[turn.pair])
        elif offer:
            row, quote = {}, self._as_written(offer.get("evidence", "").strip())
            start = self.text.find(quote) if quote and offer["relevance"] else -1
            if start >= 0:
                passages = [(start, start + len(quote))]
            if start >= 0 or not offer["relevance"]:
                evidence = quote if offer["relevance"] else ""
                self.acceptable = (offer["relevance"], evidence, offer["model"])
        if self.acceptable:
            live.add(ACCEPT)
            marked = " with the marked passage" if self.acceptable[1] else ""
            self.buttons[ACCEPT].description = f"{ACCEPT}: grade {self.acceptable[0]}{marked}"
        page = markup.document_html(document, words, passages, best)
        heading = markup.HEADING.format(query.query) + markup.old_label_html(row)
        heading += markup.offer_html(offer)
        self._show_page(heading, page, live)

    def _shown_offer(self, turn: Turn) -> dict:
        """Return the offer for a turn, {} where there's none or it's to be judged blind."""
        is_blind = turn.repeat or turn in self.asked or turn.pair in self.left
        if is_blind or not self.shows_offers:
            return {}
        return self.offers.get(turn.pair, {})

    def _show_page(self, heading: Markup | str, page: Markup, live: set[str]) -> None:
        """Show a heading and a page; of the actions, those in `live` do something now."""
        self.query.value, self.document.value = heading, page
        self.live = live if self.own else live - {UNDO}
        for name, button in self.buttons.items():
            button.disabled = name not in self.live

    def _offer(self, document: evalset.Document | None, best: Collection[str] = ()) -> None:
        """Offer the lines below the title as evidence, the best ones first; none is taken yet."""
        self.text = document.retrieval_text if document else ""
        self.body = document.text if document else ""
        lines = "\n".join([*best, self.body]).split("\n")
        shown = [line.strip() for line in lines if re.search(SIGN, without_unshown(line))]
        self.lines = [*dict.fromkeys(shown)]
        self.line = -1
        self.document.selected = self.evidence.value = ""
        self.evidence.layout.display = None if document else "none"

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = markup.message_html(words, wrong)


def find_turns(evals: EvalSet, pairs: list[Pair], seed: int) -> list[Turn]:
    """Return the turns of the order that finds: in each query the likeliest documents first."""
    from . import pooling  # takes two seconds to import

    fused = pooling.fused(pooling.by_ranker(evals, keep=True))
    return labelling.find_order(pairs, fused, seed)


def reopen(evals: EvalSet, query_id: str) -> None:
    """Show the judged documents of a query again, with their grades: a new one takes its place."""
    pairs = [label[:2] for label in evals.judgments if label.query_id == query_id]
    if not pairs:
        raise evalset.EvalSetError([f"{JUDGMENTS}: no label of query {query_id}, wanted its id"])
    shown = Panel(evals, pairs, repeats=0, order="blind")
    shown.asked = [*shown.queue]
    shown._next("")
    shown.show()


def _pairs_of_labellers(evals: EvalSet) -> list[Pair]:
    """Return the pairs to settle and, for who has a name, those that others judged; say so."""
    differing, shared = (
        labelling.to_settle(evals),
        labelling.read_by_others(evals, labelling.log_of()),
    )
    if differing:
        print(f"{how_many(len(differing), 'pair')} graded differently, to settle")
    if shared:
        print(f"{how_many(len(shared), 'pair')} that others judged and you didn't")
    return [*dict.fromkeys([*differing, *shared])]


def require_labels(evals: EvalSet) -> None:
    """Show the panel for what waits: queries without a relevant document, and pairs to read.

    Where nothing can be measured yet, it ends Run All with an EvalSetError, which a notebook shows
    as one line. Else it is shown where pictures move, and the notebook goes on without them.
    """
    missing, listed = evals.next_step(), reading.waiting(evals)
    shared = _pairs_of_labellers(evals)
    if missing:
        former = [pair for pair, row in listed.items() if "relevance" in row]
        pairs = _pairs_of_waiting(evals, former) + shared
        if pairs:
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
    drawn = labelling.unread_drawn(evals)
    if drawn:
        print(f"{how_many(len(drawn), 'skipped pair')} drawn to be read blind")
    if (listed or drawn or shared or evals.waiting) and installation.is_live():
        Panel(evals, _pairs_of_waiting(evals, [*listed, *drawn]) + shared).show()


def _pairs_of_waiting(evals: EvalSet, listed: Collection[Pair]) -> list[Pair]:
    """Return `listed` pairs, and those to judge of the queries that wait and have none there."""
    waits = evals.waiting.keys() - {query_id for query_id, _ in listed}
    if not waits:
        return [*listed]
    pairs = [pair for pair in labelling.pairs_to_judge(evals) if pair[0] in waits]
    return [*dict.fromkeys([*listed, *pairs])]
