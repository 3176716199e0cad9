"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
import re
from collections.abc import Callable
from functools import partial
from itertools import islice, takewhile
from typing import NamedTuple

from ..measure import baseline, evalset, files, installation, reading, runs
from ..measure.evalset import EvalSet
from ..measure.inert import Markup
from ..measure.installation import command
from ..measure.text import Pair, how_many
from . import labellers, labelling, markup, offers
from .labelling import JUDGMENTS, Entry, Turn
from .markup import ASIDE, FINISH
from .selection import SIGN, quote_of
from .view import View

SKIP, UNDO, NEXT_LINE, LINE_BEFORE = "Skip", "Undo", "next line", "line before"
STOP = "Next query"  # the rest of this one stays unread
AND, PLUS = "And this too", "\n+\n"  # between passages that prove a grade only together
OR, EITHER = "Or this", "\nor\n"  # between passages of which each proves it
BETWEEN = re.compile(r"\n(?:\+|or)\n")
ACCEPT = "Accept"  # an old label or an offer, with the passage that is shown
BLIND = "Blind"  # hides offers, or shows them again
EACH, BATCH = "One by one", 5  # offers of grade 0 that one key accepts together
KEYS = {"n": ASIDE, "s": SKIP, "u": UNDO, "q": STOP, "+": AND, "o": OR, "j": NEXT_LINE}
KEYS |= {"k": LINE_BEFORE, "a": ACCEPT, "b": BLIND, "e": EACH, "f": FINISH}
BUTTONS = (AND, OR, SKIP, UNDO, FINISH, ASIDE, STOP, ACCEPT, EACH, BLIND)
RESULTS = 5  # pages that the search box lists
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
    parts = [words, labellers.stop_cost(evals), offers.offers_page(evals)]
    parts.append(labellers.labellers_page(evals))
    return "\n".join(filter(None, parts))


LABELLING = Task(labelling.LOG, merge_log, MERGED_THEN)


class Panel(View):
    """Shows one document at a time and logs each judgment before the next.

    `pairs` are (query_id, doc_id); EvalSetError names ids that the folder does not know.
    `order` is find or blind, else that of the set. `repeats` is the share (0 to 1) that is shown
    twice in the blind order, unannounced; `task` says what judgments are for. A `labeller`, by
    default the one that the environment variable LABELLER names, has a log of their own.
    """

    def __init__(
        self,
        evals: EvalSet,
        pairs: list[Pair],
        repeats: float = 0.1,
        task: Task = LABELLING,
        order: str = "",
        labeller: str = "",
    ):
        _refuse_unknown_ids(evals, pairs)
        self.evals, self.task, self.log = evals, task, task.log
        self.is_finding = (order or evals.reading) == "find"
        self.to_read = reading.waiting(evals)  # rows by pair, some with an old label
        self.queue = self._turns(pairs, repeats)
        self.document_turns = [turn for turn in self.queue if turn.doc_id]  # as it began
        self.words_to_mark = markup.telling_words(evals)
        self.labels, self.differing, self.offers = {}, set(), {}
        if task == LABELLING:  # else nothing is known of the pairs
            self.log = labelling.log_of(labeller)
            self.labels = evals.labels
            self.differing = {*labelling.to_settle(evals)}.intersection(pairs)
            self.offers = offers.to_show(evals, {*pairs} - self.differing - self.to_read.keys())
        self.ahead = [Turn(*pair) for pair in sorted(self.differing)]  # of the queue, judged or not
        self.single: set[Turn] = set()  # shown alone, whatever is offered
        self.shows_offers = True
        self._build()
        self._next("")

    def _turns(self, pairs: list[Pair], repeats: float) -> list[Turn]:
        """Return the turns by what an old label can change; no such label is judged twice."""
        if self.is_finding:
            turns = find_turns(self.evals, pairs)
        else:
            turns = labelling.schedule(pairs, 0 if self.to_read else repeats)

        def place(turn: Turn) -> int:
            return reading.place(self.evals, self.to_read.get(turn.pair, {}))

        return sorted(turns, key=place)

    def _build(self) -> None:
        """Make the page, with a button for each action."""
        grades = [str(grade) for grade in self.evals.grades]
        captions = {grade: f"{grade} helps in part" for grade in grades}  # the guide tells more
        captions |= {"0": "0 does not help", grades[-1]: f"{grades[-1]} answers it"}
        captions |= {name: name for name in BUTTONS}
        keys = {grade: grade for grade in grades if len(grade) == 1} | KEYS
        guide = markup.guide_html(self.evals.folder)
        super().__init__(captions, keys, guide, self._act, self.task == LABELLING)
        self.actions = self._actions()
        self.document.observe(self._selected, "selected")
        self.key.observe(self._typed, "value")
        self.search.observe(self._searched, "value")

    def _actions(self) -> dict[str, Callable]:
        """Return what each button or key does, by its name."""
        grades = {str(grade): partial(self._judge, grade) for grade in self.evals.grades}
        return grades | {
            AND: partial(self._ask_for_more, PLUS),
            OR: partial(self._ask_for_more, EITHER),
            NEXT_LINE: partial(self._take_line, 1),
            LINE_BEFORE: partial(self._take_line, -1),
            SKIP: self._skip,
            UNDO: self._undo,
            FINISH: self._finish,
            ASIDE: self._set_aside,
            STOP: self._stop,
            ACCEPT: self._accept,
            EACH: self._open_each,
            BLIND: self._show_or_hide_offers,
        }

    # What a person does.

    def _act(self, name: str) -> None:
        """Do what a button or a key says."""
        if name in self.live:
            self._try(self.actions[name])
        else:
            self.say(f"{name} does nothing now.", wrong=True)

    def _try(self, action: Callable, *values: str) -> None:
        """Do something. A bad log or a full disk is a message, and nothing moves."""
        try:
            action(*values)
        except (ValueError, OSError) as error:  # an EvalSetError is a ValueError
            self.say(str(error), wrong=True)

    def _typed(self, change: dict) -> None:
        typed = change["new"].strip()[-1:].lower()  # the last: the box may not be empty yet
        self.key.value = ""
        if typed:
            self._act(self.keys.get(typed, f"Key {typed}"))

    def _selected(self, change: dict) -> None:
        """Take what is selected in the document as evidence, where it is a passage of it."""
        if not change["new"].strip() or not self.text:
            return
        passage = quote_of(change["new"], self.text)
        if passage:
            self._take(passage)
            self.say(f"Evidence taken: {how_many(passage.split(), 'word')}.")
        else:
            self.say(NO_PASSAGE, wrong=True)

    def _take(self, passage: str) -> None:
        """Put a passage in the place of the last one."""
        before = self.evidence.value.removesuffix(self._last_passage())
        self.evidence.value = before + passage

    def _last_passage(self) -> str:
        return BETWEEN.split(self.evidence.value)[-1]

    def _ask_for_more(self, sign: str) -> None:
        """Keep the last passage and wait for the next; `sign` says how the two belong together."""
        if not self._last_passage().strip():
            raise ValueError("Take a passage first, then the next one.")
        self.evidence.value += sign
        needed = "that is needed, too" if sign == PLUS else "that proves it by itself, too"
        self.say(f"Take the passage {needed}.")

    def _take_line(self, by: int) -> None:
        """Take the next line as evidence, or the one before; it stops at both ends."""
        if not self.lines:
            raise ValueError(NO_LINES)
        self.line = min(max(self.line + by, 0), len(self.lines) - 1)
        line = self.lines[self.line]
        self._take(line)
        self.say(f"Line {self.line + 1} of {len(self.lines)}: {line}")

    def _judge(self, relevance: int) -> None:
        evidence = self._evidence_taken() if relevance else ""
        self._save({"relevance": relevance, "evidence": evidence})

    def _evidence_taken(self) -> str | list:
        """Return the passages that are taken, word for word as they stand in the document."""
        alternatives = []
        for typed in self.evidence.value.split(EITHER):
            parts = [part.strip() for part in typed.split(PLUS)]
            quotes = [self._as_written(part) for part in parts if part]
            if quotes:
                alternatives.append(quotes)
        return evalset.evidence_field(alternatives)

    def _as_written(self, words: str) -> str:
        """Return a passage as it stands in the document, or the words where none reads like it."""
        if words in self.text:
            return words
        return quote_of(words, self.text) or words

    def _accept(self) -> None:
        """Take the old label or the offer; of a batch all, each as a judgment of its own."""
        if not self.batch:
            self._save(self.proposed)
            return
        for turn in self.batch:
            judge = self.offers[turn.pair]["model"]
            self._append_to_log({**turn._asdict(), "relevance": 0, "offered": judge})
        self._next(f"Saved: 0 for {len(self.batch)} pages.")

    def _open_each(self) -> None:
        self.single.update(self.batch)
        self._next("")

    def _show_or_hide_offers(self) -> None:
        self.shows_offers = not self.shows_offers
        self._next("")

    def _save(self, fields: dict) -> None:
        """Save a judgment with what it replaces, settles or was offered; or say why it can't be."""
        pair, offer = self.turn.pair, self._offer(self.turn)
        row = {**self.turn._asdict(), **fields}
        message = f"Saved: {fields['relevance']}."
        if offer and "offered" not in row:
            row["offered_grade"] = offer["relevance"]
        if self.turn in self.ahead and pair in self.labels:
            row["was"] = self.labels[pair].relevance
        if pair in self.differing:
            row["settles"] = True
            message += f" It settles what was given: {labellers.grades_given(self.evals, pair)}."
        fault = labelling.judgment_fault(Entry(**row), self.evals)
        if fault:
            raise ValueError(f"Not saved: {fault}.")
        self._end_turn(row, message)

    def _append_to_log(self, row: dict) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        labelling.append(self.evals, self.log, {**row, "time": now})

    def _end_turn(self, row: dict, message: str) -> None:
        """Log what was done with the turn, and show the next."""
        self._append_to_log(row)
        self.ahead = [turn for turn in self.ahead if turn != self.turn]
        self._next(message)

    def _set_aside(self) -> None:
        query = self.evals.all_queries[self.turn.query_id]
        row = {**self.turn._asdict(), "relevance": 0, "kind": query.kind}
        self._end_turn(row, f"Set aside: no document answers {query.query_id}.")

    def _undo(self) -> None:
        """Take the last judgment or stop back and show it again, also after a restart."""
        last = self.acts[-1]
        turns = [Turn(last.query_id, doc_id) for doc_id in last.skipped] or [last.turn]
        self._append_to_log(labelling.undo_row(last))
        self.queue = [*turns, *(turn for turn in self.queue if turn not in turns)]
        self.single.update(turns)
        if last.pair in self.labels or last.settles:
            self.ahead.insert(0, last.turn)
        self._next("Taken back.")

    def _skip(self) -> None:
        if self.turn in self.ahead:
            self.ahead.remove(self.turn)
            self._next("Left as it was.")
            return
        self.queue.remove(self.turn)
        self.queue.append(self.turn)
        self._next("Skipped: it comes again at the end.")

    def _stop(self) -> None:
        """Leave the rest of a query unread; a tenth of it comes later, among other queries."""
        rest = [turn.doc_id for turn in self._unread()]
        row = labelling.stop_row(self.turn.query_id, rest)
        self._end_turn(row, f"{how_many(rest, 'document')} skipped.")

    def _searched(self, change: dict) -> None:
        words = change["new"].strip()
        self.search.value = ""
        if words and self.turn:
            self._try(self._look_up, words)

    def _look_up(self, words: str) -> None:
        """Look up words, or the id or number of a document to judge for the query."""
        numbered = {str(number): doc_id for number, doc_id in enumerate(self.looked_up, 1)}
        doc_id = numbered.get(words, words)
        if doc_id in self.evals.documents:
            self.ahead.insert(0, Turn(self.turn.query_id, doc_id))
            self._next("")
            return
        folder = self.evals.folder
        self.looked_up = [*islice(baseline.find(words, folder), RESULTS)]
        self.results.value = baseline.ask(words, RESULTS, folder).data
        self.say("Type the number of a page there to judge it for this query.")

    def _finish(self) -> None:
        """Do what the task does with its judgments, and end this panel: a new one goes on."""
        message = self.task.finish(self.evals)
        left = self.bar.max - self.bar.value
        if left:
            message += f" {how_many(left, 'document')} left: run this cell again to judge on."
        self.live, self.box.children = set(), [self.message]
        self.say(message)

    # What is due.

    def _unread(self) -> list[Turn]:
        """Return the documents that are still to be read for the query that is shown."""
        own = [turn for turn in self.due if turn.query_id == self.turn.query_id]
        return [turn for turn in own if turn.doc_id and turn.pair not in self.skipped]

    def _may_stop(self) -> bool:
        """Return whether the rest of the query may be left unread."""
        turn = self.turn
        if not self.is_finding or not turn.doc_id:
            return False
        if turn in self.ahead or turn.pair in self.skipped:
            return False
        return labelling.zeros_in_a_row(self.entries, turn.query_id) >= labelling.ENOUGH_ZEROS

    def _zeros_offered(self) -> list[Turn]:
        """Return the next pages of a query that are offered as 0, up to five; [] for a single."""
        if not self.turn or self.turn in self.ahead:
            return []
        zeros = [*islice(takewhile(self._is_offered_zero, self._unread()), BATCH)]
        return zeros if len(zeros) > 1 else []

    def _is_offered_zero(self, turn: Turn) -> bool:
        return turn not in self.single and self._offer(turn).get("relevance") == 0

    def _offer(self, turn: Turn) -> dict:
        """Return the offer that is shown for a turn, {} where it's to be judged blind."""
        is_blind = turn.repeat or turn in self.ahead or turn.pair in self.skipped
        if is_blind or not self.shows_offers:
            return {}
        return self.offers.get(turn.pair, {})

    def _acceptable(self) -> dict:
        """Return what Accept saves: an old grade with its marked passages, or the offer, or {}."""
        row = self.to_read.get(self.turn.pair)
        marked = reading.marked_evidence(self.evals, row) if row else ""
        if marked:
            return {"relevance": row["relevance"], "evidence": marked}
        return self._acceptable_offer()

    def _acceptable_offer(self) -> dict:
        """Return the offer as Accept saves it, {} where there is none or its evidence is wrong."""
        offer = self._offer(self.turn)
        if not offer:
            return {}
        grade, quote = offer["relevance"], offer.get("evidence", "").strip()
        evidence = self._as_written(quote) if grade else ""
        if labelling.judgment_fault(Entry(*self.turn.pair, grade, evidence), self.evals):
            return {}
        return {"relevance": grade, "evidence": evidence, "offered": offer["model"]}

    def _label_so_far(self) -> dict:
        """Return the grade and evidence of a pair that is shown ahead of the queue, else {}.

        {} also where it has none yet or is to be settled blind.
        """
        if self.turn not in self.ahead or self.turn.pair in self.differing:
            return {}
        pair = self.turn.pair
        if pair in self.labels:
            label = self.labels[pair]
            return {"relevance": label.relevance, "evidence": [[*q] for q in label.evidence]}
        entry = labelling.latest(self.entries).get(pair)
        return entry._asdict() if entry else {}

    # What is shown.

    def _next(self, message: str) -> None:
        """Show what is due, how far the work is, what can be done now, and a message."""
        self._read_log()
        self.turn = next(iter([*self.ahead, *self.due]), None)
        self.looked_up, self.results.value, self.search.disabled = [], "", not self.turn
        self._count()
        self._show_turn()
        label = self._label_so_far()
        if label:
            message += f" Its grade so far: {label['relevance']}."
        if STOP in self.live:
            left = how_many(self._unread(), "document")
            message += f" {labelling.ENOUGH_ZEROS} zeros in a row: {STOP} (q) leaves {left} unread."
        self.say(message + labelling.number_due(self.evals, self.entries))

    def _read_log(self) -> None:
        """Read what was done, and what follows from it: the documents skipped, the turns due."""
        log = labelling.read(self.evals, self.log)
        self.acts = labelling.kept_acts(log)
        self.entries = [act for act in self.acts if not act.skipped]
        self.skipped = labelling.skipped(self.evals, log) if self.is_finding else {}
        turns = labelling.without_skipped(self.queue, self.skipped)
        self.due = labelling.due(turns, self.entries)

    def _count(self) -> None:
        """Show how far the work is and how much of it was relevant."""
        left = [turn for turn in self.due if turn.doc_id]
        queries = {turn.query_id for turn in self.document_turns}
        unread = {turn.query_id for turn in left if turn.pair not in self.skipped}
        judged = labelling.latest(self.entries).values()
        relevant = [entry for entry in judged if entry.relevance and entry.query_id in queries]
        done = f"{len(queries - unread)} of {how_many(queries, 'query')}"
        n = len(self.document_turns)
        self.bar.max, self.bar.value = n or 1, n - len(left)
        self.count.value = f"{done}, {len(relevant)} relevant found"

    def _show_turn(self) -> None:
        """Show the turn, or pages that may be confirmed together, or the end."""
        self.batch, self.proposed = self._zeros_offered(), {}
        self._empty_evidence()
        live = {FINISH, UNDO} if self.acts else {FINISH}
        if not self.turn:
            n = len([turn for turn in self.document_turns if turn.pair not in self.skipped])
            page = markup.end_html(self.entries, n, self.evals.grades, self.task.then)
            self.show_page("", page, live)
            return
        if self._may_stop():
            live.add(STOP)
        heading = markup.HEADING.format(self.evals.all_queries[self.turn.query_id].query)
        if not self.turn.doc_id:
            self.show_page(heading, markup.question_html(), live | {ASIDE, SKIP})
        elif self.batch:
            self._show_batch(heading, live)
        else:
            self._show_document(heading, live)

    def _best_passages(self, turn: Turn) -> list[str]:
        text = self.evals.documents[turn.doc_id].text
        return markup.best_passages(text, self.words_to_mark[turn.query_id], self.evals.words)

    def _show_batch(self, heading: Markup, live: set[str]) -> None:
        """Show pages that are offered as 0 together, each by its best passages."""
        pages, judges = [], set()
        for turn in self.batch:
            pages.append((self.evals.documents[turn.doc_id].title, self._best_passages(turn)))
            judges.add(self.offers[turn.pair]["model"])
        self.buttons[ACCEPT].description = f"{ACCEPT}: grade 0 for all {len(pages)}"
        heading += markup.label_html(f"{', '.join(sorted(judges))} offers", {"relevance": 0})
        page = markup.batch_html(pages, self.words_to_mark[self.turn.query_id])
        self.show_page(heading, page, live | {ACCEPT, EACH, BLIND})

    def _show_document(self, heading: Markup, live: set[str]) -> None:
        """Show a document, with its old label or an offer if it has one."""
        turn, document = self.turn, self.evals.documents[self.turn.doc_id]
        best = []
        if self.is_finding and turn.pair not in self.skipped:
            best = self._best_passages(turn)
        self._prepare_evidence(document, best)
        self.proposed = self._acceptable()
        live = live | {*map(str, self.evals.grades), AND, OR, SKIP, NEXT_LINE, LINE_BEFORE}
        if self.offers:
            live.add(BLIND)
        if self.proposed:
            live.add(ACCEPT)
            self.buttons[ACCEPT].description = f"{ACCEPT}: grade {self.proposed['relevance']}"
        page = markup.document_html(document, self.words_to_mark[turn.query_id], best)
        self.show_page(heading + self._labels_html(), page, live)

    def _labels_html(self) -> Markup:
        """Return the label of the page so far and what may be accepted; "" to judge blind."""
        row = self._label_so_far() or self.to_read.get(self.turn.pair, {})
        offer, page = self._offer(self.turn), Markup("")
        if row.get("evidence"):
            why = f" ({row['why']})" if "why" in row else ""
            page += markup.label_html(f"before{why}:", row)
        if offer:
            page += markup.label_html(f"{offer['model']} offers", offer)
        elif self.proposed:
            page += markup.label_html("now:", self.proposed)
        return page

    def _empty_evidence(self) -> None:
        """Take no evidence, and hide its box: there is no document to take it from."""
        self.text, self.lines, self.line = "", [], -1
        self.document.selected = self.evidence.value = ""
        self.evidence.layout.display = "none"

    def _prepare_evidence(self, document: evalset.Document, best: list[str]) -> None:
        """Hold the lines below the title ready as evidence, the best passages' first."""
        self.text = document.retrieval_text
        lines = "\n".join([*best, document.text]).split("\n")
        self.lines = [*dict.fromkeys(line.strip() for line in lines if re.search(SIGN, line))]
        self.evidence.layout.display = None


def _refuse_unknown_ids(evals: EvalSet, pairs: list[Pair]) -> None:
    faults = [labelling.judgment_fault(Entry(*pair, 0), evals) for pair in sorted(set(pairs))]
    files.refuse([fault for fault in faults if fault])


def find_turns(evals: EvalSet, pairs: list[Pair]) -> list[Turn]:
    """Return the turns of the order that finds: in each query the likeliest documents first."""
    from . import pooling  # takes two seconds to import

    fused = pooling.fused(pooling.by_ranker(evals, keep=True))
    return labelling.find_order(pairs, fused)


def reopen(evals: EvalSet, query_id: str) -> None:
    """Show the judged documents of a query again, with their grades: a new one takes its place."""
    pairs = [label.pair for label in evals.judgments if label.query_id == query_id]
    if not pairs:
        raise evalset.EvalSetError(f"{JUDGMENTS}: no label of query {query_id}, wanted its id")
    shown = Panel(evals, pairs, repeats=0, order="blind")
    shown.ahead = [*shown.queue]
    shown._next("")
    shown.show()


def require_labels(evals: EvalSet) -> None:
    """Show the panel for what waits: queries without a relevant document, and pairs to read.

    Where nothing can be measured yet, it ends Run All with an EvalSetError, which a notebook shows
    as one line. Else it is shown where pictures move, and the notebook goes on without them.
    """
    missing, listed = evals.next_step(), _listed(evals)
    if missing:
        pairs = _pairs_due(evals, listed)
        if pairs:
            Panel(evals, pairs).show()
            missing = f"Judge in the panel above and click {FINISH}, then run this notebook again."
        raise evalset.EvalSetError(missing)
    print(f"{how_many(evals.queries, 'query')}, each with a relevant document")
    if evals.waiting:
        print(f"{evalset.left_out(evals.waiting)}: {runs.first_names(evals.waiting)}")
    if evals.unanswered:
        print(f"set aside, because no document answers: {runs.first_names(evals.unanswered)}")
    for words, pairs in listed.items():
        if pairs:
            print(f"{how_many(pairs, 'pair')} {words}")
    if installation.is_live() and (pairs := _pairs_due(evals, listed)):
        Panel(evals, pairs).show()


def _listed(evals: EvalSet) -> dict[str, list[Pair]]:
    """Return {what is said of them: pairs} of those that wait because somebody listed them."""
    return {
        "graded differently, to settle": labelling.to_settle(evals),
        "that others judged and you didn't": labelling.read_by_others(evals, labelling.log_of()),
        f"of {reading.TO_READ} to judge": [*reading.waiting(evals)],
        "skipped and drawn to be read blind": labelling.unread_drawn(evals),
    }


def _pairs_due(evals: EvalSet, listed: dict[str, list[Pair]]) -> list[Pair]:
    """Return what is listed, and the pool of the queries that wait and have nothing to read."""
    pairs = [pair for own in listed.values() for pair in own]
    waits = evals.waiting.keys() - {query_id for query_id, _ in reading.waiting(evals)}
    if waits:
        pairs += [pair for pair in labelling.pairs_to_judge(evals) if pair[0] in waits]
    return [*dict.fromkeys(pairs)]
