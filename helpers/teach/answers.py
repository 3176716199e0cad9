"""Answers to print, for who teaches: a page a session, from its solutions and its quick test."""

import re
from pathlib import Path

from nbformat import v4

from ..measure import evalset, files, inert, report, results
from .check import failures, passed, quick_test
from .exercises import LESSONS, is_further, read_lessons, session_letter

ANSWERS = evalset.DEFAULT.parent / "learn-answers"  # ignored by git, as all of learn-*
PART = re.compile(r"^## (.+) \((\d+) minutes\)$", re.MULTILINE)
CAUSES_TABLE = (
    "For the set that comes with the workbook. After the colon, any one is enough.\n\n"
    "| query | cause | what shows it |\n|---|---|---|\n"
)
COLUMNS = '<main style="columns:2 22em;font-size:.75em">'  # of a few sheets of paper one
FORM = (
    "## For your first timed run\n\n| part | planned | began | ended | what stopped you |\n"
    "|---|---|---|---|---|\n"
)


def write_answers(notebooks: Path = LESSONS, folder: Path = ANSWERS) -> list[str]:
    """Write the page of each session, anew, and say where."""
    lines = []
    for name, session in read_lessons(notebooks).items():
        if not is_further(name):
            path = folder / Path(name).with_suffix(".html").name
            page = report.html(answers_of(name, session, notebooks))
            files.write(path, page.replace("<main>", COLUMNS))
            lines.append(f"{path} written: print it")
    return lines


def answers_of(name: str, session, notebooks: Path = LESSONS):
    """Return the page of a session as a notebook: solutions, quick test, a form for its minutes."""
    letter = session_letter(name)
    texts = [f"# Session {letter}: answers"]
    for check, place in passed.places_of_exercises(notebooks).items():
        if place.lesson == name and place.solution:
            texts.append(f"## {place.called}\n\n```python\n{place.solution}\n```")
            if check.startswith("quiz "):
                reasons = [question.reason for question in quick_test.questions_of(letter)]
                texts.append("\n".join(f"{n}. {why}" for n, why in enumerate(reasons, 1)))
            elif check == "causes":
                cards = results.read_results(evalset.DEFAULT)["cards"]
                texts.append(causes_of(cards[: failures.READ_AT_LEAST]))
    parts = PART.findall("\n".join(cell["source"] for cell in session["cells"]))
    rows = [f"| {title} | {minutes} | | | |" for title, minutes in parts]
    texts.append(FORM + "\n".join(rows))
    return v4.new_notebook(cells=[v4.new_markdown_cell(text) for text in texts])


def causes_of(cards: list[dict]) -> str:
    """Return failure cards as a table: the cause of each by rule, and all that shows it."""
    rows = []
    for card in cards:
        told, proof = failures.CAUSES[card["cause"]]
        shown = [
            inert.inert(item) if isinstance(item, str) else f"{item:.2f}" for item in proof(card)
        ]
        rows.append(f"| {card['query_id']} | {card['cause']} | {told}: {', '.join(shown)} |")
    return CAUSES_TABLE + "\n".join(rows)
