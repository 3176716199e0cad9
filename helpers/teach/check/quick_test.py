"""Quick tests: eight questions a session, scored at once. Questions stand in the notebooks.

Answers are kept as salted hashes in `notebooks/exercises/quiz_*.yaml`, so that a look there does
not give them away; a reason is shown for a right answer, and for a wrong one only when the test is
passed.
"""

import hashlib
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from .passed import page_of
from .recorded import recorded
from .verdict import WIDTH, NotStarted, Wrong, value_of

SESSIONS = "A", "B", "C"
SALT, LETTERS, PASS = "retrieval-baseline", "abcd", 0.7


class Question(NamedTuple):
    """`decimals` of the number that is wanted, None for a letter; `answer` as a hash."""

    answer: str
    again: str
    reason: str
    decimals: int | None = None


def read_questions(name: str, form: type = Question) -> list:
    """Return the questions of `notebooks/exercises/NAME.yaml`, each in its form."""
    return [form(**question) for question in page_of(name)["questions"]]


def questions_of(session: str) -> list[Question]:
    """Return the questions of a session's quick test."""
    return read_questions(f"quiz_{session.lower()}")


@recorded
def quiz(session: str, answers: dict | Callable) -> None:
    """Score the quick test of a session: print it when passed, raise Wrong with it when not."""
    answers = value_of(f"quick test {session}", answers)
    if session not in SESSIONS:
        raise Wrong(f"there is no session {session!r}, only {', '.join(SESSIONS)}")
    questions = dict(enumerate(questions_of(session), 1))
    if not isinstance(answers, dict) or set(answers) - set(questions):
        raise Wrong(f"answers are a dict with keys 1 to {len(questions)}, got {answers!r}")
    found = {}
    for n, answer in answers.items():
        if answer is not None and answer is not ...:
            hashed = digest(session, n, in_one_form(questions[n], n, answer))
            found[n] = "right" if hashed == questions[n].answer else "wrong"
    if not found:
        how = "put your answers into this cell and run it"
        raise NotStarted(f"quick test {session} is not started yet: {how}")
    right = [n for n, result in found.items() if result == "right"]
    passed = len(right) >= PASS * len(questions)
    lines = []
    for n, question in questions.items():
        reason = question.reason if n in right or passed else ""  # gives no answer away
        line = f"{n}  {found[n]}  {reason}".rstrip() if n in found else f"{n}  not answered"
        lines.append(textwrap.fill(line, WIDTH, subsequent_indent=" " * len("1  right  ")))
    score = f"{len(right)} of {len(questions)}"
    if passed:
        print("\n".join([*lines, f"{score}: passed"]))
        return
    again = dict.fromkeys(question.again for n, question in questions.items() if n not in right)
    lines.append(f"{score}: not passed yet. Read again: {'; '.join(again)}")
    raise Wrong("\n".join(lines))


def digest(session: str, number: int, answer: str) -> str:
    """Return the hash under which an answer is kept."""
    return hashlib.sha256(f"{SALT} {session}{number} {answer}".encode()).hexdigest()[:16]


def in_one_form(question: Question, number: int, answer: object) -> str:
    """Return an answer in the one form that is hashed. Raises Wrong."""
    if question.decimals is None:
        letter = str(answer).strip().lower()
        if letter not in set(LETTERS):
            raise Wrong(f"question {number} wants a letter from a to d, got {answer!r}")
        return letter
    try:
        value = float(str(answer).strip())
    except ValueError:
        raise Wrong(f"question {number} wants a number, got {answer!r}") from None
    return f"{round(value, question.decimals) + 0.0:.{question.decimals}f}"
