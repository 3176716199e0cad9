"""What the tests of the panel and its log have in common."""

import json

from helpers.label import labelling, panel
from helpers.label.labelling import LOG
from helpers.measure import evalset

PROOF = {"disk-full": "Delete <old> logs.", "queue-full": "Add a consumer."}


def opened(folder, pairs=None, **options):
    evals = evalset.load(folder)
    pairs = pairs or [(q, d) for q in evals.queries for d in evals.documents]
    return panel.Panel(evals, pairs, **{"repeats": 0, "order": "blind", **options})


def logged(folder):
    lines = (folder / LOG).read_text("utf-8-sig").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def grades(folder):
    given = labelling.latest(labelling.entries(evalset.load(folder)))
    return {pair: entry.relevance for pair, entry in given.items()}


def live(shown):
    return {name for name, button in shown.buttons.items() if button.layout.display != "none"}


def do(shown, grade):
    """Give the shown document a grade with good evidence, and return the turn it was."""
    turn = shown.turn
    shown.evidence.value = shown.lines[0]
    shown.buttons[str(grade)].click()
    return turn


def entry(query_id="q1", doc_id="disk-full", relevance=0, **more):
    return {"query_id": query_id, "doc_id": doc_id, "relevance": relevance, "evidence": "", **more}
