"""Judge pooled documents in JupyterLab, one at a time; each judgment goes to the log at once."""

import datetime
from collections import Counter
from pathlib import Path

import ipywidgets as widgets
import mistune
from IPython.display import display

from .. import evalset, figures, records
from ..text import clean, how_many, inert
from . import log, merge
from .schedule import Agreement, Turn, agreement, following, schedule, turn_of

STILL_RARE = 10  # documents; in a small corpus even a word of most documents is worth a mark
ASIDE = "No answer"
ACTIONS = {
    ASIDE: "n: no document answers this query, set it aside",
    "Skip": "s: decide later",
    "Undo": "u: take the last judgment back",
}
NEXT_CALL = "merge.merge(evals)"  # as session A imports it
NEXT_HTML = (
    f"<p>Next: <code>{NEXT_CALL}</code> in a new cell takes the log into the folder; then "
    "<code>make report EVALS=folder</code> measures on it.</p>"
)


# What the panel shows, as HTML. Everything from a file or a person goes through `inert`.


def telling_words(evals: evalset.EvalSet) -> dict[str, set[str]]:
    """Return {query_id: words to mark}: not those that stand in most documents, such as "the"."""
    spread = Counter(
        word for d in evals.documents.values() for word in set(evals.words(d.retrieval_text))
    )
    found = {}
    for query in evals.asked.values():
        words = set(evals.words(query.query))
        rare = {word for word in words if spread[word] <= max(STILL_RARE, len(evals.documents) / 2)}
        found[query.query_id] = rare or words
    return found


PANEL_STYLE = (  # JupyterLab resets marks and tables
    "<style>.labelling mark{background:#ffe58f;color:#000}.labelling h1,.labelling h2"
    "{font-size:1.1em;margin:0.8em 0 0.3em}.labelling th,.labelling td{text-align:left;"
    "vertical-align:top;padding:0.2em 1em 0.2em 0}</style>"
)
FRAME = "overflow:auto;padding:0.4em 0.9em;line-height:1.5;border:1px solid #999"
BODY = "white-space:pre-wrap;overflow-wrap:anywhere;margin-top:0.5em"


def query_html(query: evalset.Query) -> str:
    """Return the query as a heading."""
    return f'<div style="font-size:1.25em;font-weight:600">{inert(query.query)}</div>'


def document_html(document: evalset.Document, words: set[str]) -> str:
    """Return title, dates and body with the query's words marked, in a frame that scrolls.

    The frame belongs to the document, so that each new one starts at its top.
    """
    facts = [document.kind, document.service, document.updated, document.version]
    shown = " · ".join(inert(f) for f in facts if f not in ("", "unspecified"))
    title, body = (figures.marked(part, words) for part in (document.title, document.text))
    return (
        f'{PANEL_STYLE}<div class="labelling" tabindex="0" style="{FRAME};max-height:26em">'
        f'<b>{title}</b><div style="opacity:0.75">{shown}</div>'
        f'<div style="{BODY}">{body}</div></div>'
    )


NO_GUIDE = (
    "Write labeling_guide.md in the folder: a test for each grade, and the edge cases you meet."
)


def guide_html(folder: Path) -> str:
    """Return the folder's labeling_guide.md as HTML, or a hint how to get one."""
    path = folder / "labeling_guide.md"
    if not path.exists():
        return f"<p>No guide yet. {NO_GUIDE}</p>"
    render = mistune.create_markdown(escape=True, plugins=["table"])
    page = clean(render(path.read_text(encoding="utf-8-sig")))
    return f'{PANEL_STYLE}<div class="labelling" style="{FRAME};max-height:24em">{page}</div>'


def message_html(words: str, wrong: bool = False) -> str:
    """Return the message line; what is wrong is red and bold."""
    style = "color:var(--jp-error-color1,#b00020);font-weight:600" if wrong else "opacity:0.8"
    lines = "<br>".join(map(inert, words.split("\n")))
    return f'<div role="status" style="min-height:1.5em;line-height:1.5;{style}">{lines}</div>'


def end_html(given: list[log.Entry], n: int, grades: tuple[int, ...] = records.GRADES) -> str:
    """Return what stands in place of a document when all `n` are judged."""
    aside = ", ".join(map(inert, sorted({e.query_id for e in given if not e.doc_id})))
    noted = f"<p>Set aside, because no document answers: {aside}.</p>" if aside else ""
    if not n:
        return f"<p>There is nothing to judge.</p>{noted}{NEXT_HTML}"
    judged = f"<p><b>{how_many(n, 'document')} shown, all are judged.</b></p>"
    return f"{judged}{agreement_html(agreement(given, grades))}{noted}{NEXT_HTML}"


def question_html(query: evalset.Query) -> str:
    """Return what stands in place of a document when none judged so far answers the query."""
    call = inert(f"panel.Panel(evals, [({query.query_id!r}, 'ID')]).show()")
    return (
        "<p><b>No document judged for this query answers it.</b></p>"
        f"<p><b>{ASIDE}</b> sets it aside: it stays in the folder with the kind none, and nothing "
        "is measured on it. If you know a document that answers, judge that one by its id: "
        f"<code>{call}</code></p>"
    )


def agreement_html(found: Agreement) -> str:
    """Return agreement with oneself and the pairs that differ."""
    if not found.n:
        return "<p>No document was shown twice, so there is no agreement to report.</p>"
    kappa = "not defined (one grade only)" if found.kappa is None else f"{found.kappa:.2f}"
    rows = "".join(
        "<tr>" + "".join(f"<td>{inert(cell)}</td>" for cell in row) + "</tr>"
        for row in found.differ
    )
    heads = "".join(f"<th>{name}</th>" for name in ("query", "document", "first", "second"))
    table = f"<table class='labelling'><tr>{heads}</tr>{rows}</table>"
    return PANEL_STYLE + (
        f"<p>Some documents were shown twice. Agreement with yourself: n = {found.n:d}, "
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
        pairs = {tuple(pair) for pair in pairs}
        _refuse_unknown_ids(evals, pairs)
        if not 0 <= repeats <= 1:
            raise ValueError(f"repeats is {repeats}, wanted a share from 0 to 1")
        self.evals = evals
        self.path = evals.folder / log.LOG
        self.queue = schedule(pairs, seed, repeats)
        self.shown = {turn for turn in self.queue if turn.doc_id}
        self.queries = list(dict.fromkeys(t.query_id for t in self.queue if t.doc_id))
        self.words = telling_words(evals)
        mine = pairs | {(query_id, "") for query_id in evals.unanswered}  # what Undo may take
        self.mine = [entry for entry in log.entries(evals) if entry.pair in mine]
        self.turn: Turn | None = None
        self._build()
        self._next("")

    def _build(self) -> None:
        self.query, self.document, self.message, self.count = (widgets.HTML() for _ in range(4))
        self.bar = widgets.IntProgress(max=len(self.shown) or 1, layout={"width": "16em"})
        self.buttons = {
            name: widgets.Button(
                description=name, tooltip=words, layout={"width": "auto", "min_width": "5em"}
            )
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
        if self.turn is None:
            return self._say("There is no document left to judge. Undo takes the last one back.")
        if not self.turn.doc_id:
            return self._say(f"There is no document to grade: {ASIDE}, Skip or Undo.")
        evidence = self.evidence.value.strip() if relevance else ""
        entry = log.Entry(self.turn.query_id, self.turn.doc_id, relevance, evidence)
        judgment = evalset.Judgment(*entry.pair, relevance, entry.quotes)
        fault = log.judgment_fault(judgment, self.evals)
        if fault:
            return self._say(f"Not saved: {fault}.")
        other = {turn_of(entry): entry for entry in log.entries(self.evals)}.get(self.turn)
        self._log(relevance, evidence)
        note = f" Another panel gave {other.relevance}: yours, the later, counts." if other else ""
        return self._next(f"Saved: {relevance}.{note}")

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
        standing = {entry._replace(place="") for entry in log.entries(self.evals)}
        while self.mine and self.mine[-1]._replace(place="") not in standing:
            self.mine.pop()  # taken back, here or in another panel
        if not self.mine:
            return self._say("There is nothing to undo.")
        last = self.mine[-1]
        named = {name: getattr(last, name) for name in ("query_id", "doc_id", "repeat", "time")}
        log.append(self.path, {"undo": named, "time": _now()})
        self._move(turn_of(last), 0)
        return self._next(f"Taken back: {last.relevance if last.doc_id else ASIDE}.")

    def _move(self, turn: Turn, place: int) -> None:
        self.queue = [other for other in self.queue if other != turn]
        self.queue.insert(place, turn)

    def _act(self, name: str) -> None:
        """Do what a button says. A bad log or a full disk is a message, and nothing moves."""
        try:
            actions = {ASIDE: self.set_aside, "Skip": self.skip, "Undo": self.undo}
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
            keys = ", ".join(k if k == name else f"{k} for {name}" for k, name in self.keys.items())
            self._say(f"Key {typed} does nothing. Keys: {keys}.")

    def _chosen(self, change: dict) -> None:
        if change["new"]:
            self.evidence.value = change["new"]

    def _say(self, words: str, wrong: bool = True) -> None:
        self.message.value = message_html(words, wrong)

    def _next(self, words: str) -> None:
        """Read the log, in which other panels may have written, and show what is due."""
        given = log.entries(self.evals)
        self.turn = following(self.queue, given)
        self._progress(given)
        query = self.evals.asked[self.turn.query_id] if self.turn else None
        document = self.evals.documents.get(self.turn.doc_id) if self.turn else None
        self.query.value = query_html(query) if query else ""
        self.document.value = self._page(query, document, given)
        self.choice.options = passages(document) if document else ()
        self.choice.index = None
        self.evidence.value = ""  # last: new options choose their first line by themselves
        for widget in (self.choice, self.evidence):
            widget.layout.display = None if document else "none"
        live = {"Undo": True, "Skip": query, ASIDE: query and not document}
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
            return document_html(document, self.words[query.query_id])
        return (
            question_html(query) if query else end_html(given, len(self.shown), self.evals.grades)
        )


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
            print(f"set aside, because no document answers: {', '.join(evals.unanswered)}")
        return
    pairs = [pair for pair in merge.pairs_to_judge(evals) if pair[0] in evals.waiting]
    if pairs:
        Panel(evals, pairs).show()
        wanted = f"Judge in the panel above, then run {NEXT_CALL} and this notebook again."
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
