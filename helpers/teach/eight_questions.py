"""Eight questions before the week and the same after it. They're optional, outside the minutes.

Before the week nothing is told. A learner's copy keeps the answers in its record.
"""

import re
import textwrap
from typing import NamedTuple

from IPython.display import display

from ..measure.inert import Markup, html
from . import record
from .check.quick_test import LETTERS, read_questions
from .check.verdict import WIDTH, Wrong

UNANSWERED = "????????"


class Question(NamedTuple):
    """`right` is a letter, `why` says what makes it right, `where` is the part that teaches it."""

    words: str
    options: list[str]
    right: str
    why: str
    where: str


def questions() -> list[Question]:
    """Return the questions of `notebooks/exercises/eight_questions.yaml`."""
    return read_questions("eight_questions", Question)


def before_the_week(answers: str) -> None:
    """Show the questions and note `answers`, a letter or ? for each. Raises Wrong."""
    letters = _ask(answers)
    if letters and not record.answers("after"):  # the right ones aren't told yet
        record.write_answers("before", letters)
    if letters:
        print(f"{8 - letters.count('?')} of 8 answered; session C ends with the right answers")


def after_the_week(answers: str) -> None:
    """Print the right answers beside `answers` and those of before the week, and their counts.

    The first `answers` stay: after them the right ones are known. Raises Wrong.
    """
    letters = _ask(answers)
    if not letters:
        return
    noted, earlier = record.answers("before"), record.answers("after")
    before = noted[-1] if noted else UNANSWERED
    now = earlier[0] if earlier else letters
    was = f"{n_right(before)} of 8" if noted else "none answered"
    gain = f"{was} before the week, {n_right(now)} of 8 now"
    if not earlier:
        record.write_answers("after", now, gain)
    for n, question in enumerate(questions()):
        right = f"{question.right}) {question.options[LETTERS.index(question.right)]}"
        line = f"{n + 1}  before {before[n]}, now {now[n]}; right is {right}. {question.why}"
        print(textwrap.fill(f"{line} ({question.where})", WIDTH, subsequent_indent="   "))
    print(gain)


def _ask(answers: str) -> str:
    """Show the questions, folded; return `answers` without blanks, "" for none. Raises Wrong."""
    rows = Markup("")
    for question in questions():
        options = map(Markup("<br>{}) {}").format, LETTERS, question.options)
        rows += Markup("<li>{}{}</li>").format(question.words, Markup("").join(options))
    page = Markup("<details><summary>The eight questions</summary><ol>{}</ol></details>")
    display(html(page.format(rows)))
    letters = re.sub(r"[\s,]", "", str(answers).lower())
    if not re.fullmatch(r"[abcd?]{8}", letters):
        wanted = 'eight answers, each a letter from a to d or ?, such as "c ? a b ? d a ?"'
        raise Wrong(f"found {answers!r}; wanted {wanted}")
    if letters == UNANSWERED:
        print("not answered, and that's fine")
        return ""
    return letters


def n_right(letters: str) -> int:
    """Return how many of eight letters are right."""
    pairs = zip(letters, questions(), strict=False)
    return sum(letter == question.right for letter, question in pairs)


def counts() -> dict[str, int]:
    """Return how many were right `before` and `after` the week, of a time that was answered."""
    noted = {"before": record.answers("before")[-1:], "after": record.answers("after")[:1]}
    return {when: n_right(letters) for when, found in noted.items() for letters in found}
