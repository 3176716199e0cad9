"""Quick tests: eight questions a session, scored at once. Questions stand in the notebooks.

Answers are kept as salted hashes, so that a look into this file does not give them away; a reason
is shown for a right answer, and for a wrong one only when the test is passed.
"""

import hashlib
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from .verdict import WIDTH, NotStarted, Wrong, value_of

SALT, LETTERS, PASS = "retrieval-baseline", "abcd", 0.7


class Question(NamedTuple):
    """`decimals` of the number that is wanted, None for a letter; `answer` as a hash."""

    decimals: int | None
    answer: str
    again: str
    reason: str


def check_quiz(session: str, answers: dict | Callable) -> None:
    """Score the quick test of a session: print it when passed, raise Wrong with it when not."""
    answers = value_of(f"quick test {session}", answers)
    if session not in QUESTIONS:
        raise Wrong(f"there is no session {session!r}, only {', '.join(QUESTIONS)}")
    questions = dict(enumerate(QUESTIONS[session], 1))
    if not isinstance(answers, dict) or set(answers) - set(questions):
        raise Wrong(f"answers are a dict with keys 1 to {len(questions)}, got {answers!r}")
    given = {n: value for n, value in answers.items() if value is not None and value is not ...}
    if not given:
        how = "put your answers into this cell and run it"
        raise NotStarted(f"quick test {session} is not started yet: {how}")
    forms = {n: in_one_form(questions[n], n, value) for n, value in given.items()}
    right = {n for n, form in forms.items() if digest(session, n, form) == questions[n].answer}
    passed = len(right) >= PASS * len(questions)
    lines = []
    for n, question in questions.items():
        outcome = "right" if n in right else "wrong" if n in given else "not answered"
        reason = question.reason if n in right or passed else ""  # gives no answer away
        line = f"{n}  {outcome}" + f"  {reason}" * (n in given and bool(reason))
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


QUESTIONS = {
    "A": [
        Question(3, "520d40684d83a1bb", "Part 3, coverage",
                 "Labels above 0 reach d1, d2 and d5. d2 counts once, and a 0 reaches nothing: 3 "
                 "of 8."),
        Question(2, "5801fa073520adba", "Part 2, how far queries and answers share words",
                 "disk and alert occur in one answer or the other, full in none: 2 of 3 words."),
        Question(2, "f674b22a4d26f78e", "Part 2, would a second reader give the same label",
                 "Observed 16/20 = .80. Chance .3 x .3 + .7 x .7 = .58. Kappa is (.80 - .58) / "
                 "(1 - .58)."),
        Question(None, "3189906a7dea6333", "Part 2, would a second reader give the same label",
                 "With nearly all labels 0, chance is nearly 1 and kappa says little. More pairs "
                 "above 0 must be read twice; AC1 and an interval show how much is known."),
        Question(None, "fd5748073cb7be2e", "Part 2, two halves that share no full answer",
                 "q1, q2 and q3 hang together by a and b, q4 and q6 by d. Only the last split "
                 "keeps both groups whole."),
        Question(2, "4924861b9d1f01a1", "Part 2, what a good query is",
                 "A mean over queries weighs each kind by its number: (30 x .90 + 10 x .50) / 40."),
        Question(None, "2ea0cff4c3f447cd", "Part 2, what a good query is",
                 "The need came first, and no ranking was seen. The others measure titles, the "
                 "engine's taste, or what is easy to label."),
        Question(2, "1dcc9b12235032bf", "Part 2, what a label is",
                 "The pool of depth 2 holds a, b, d and e. Of the new system's four documents a "
                 "and d are judged."),
    ],
    "B": [
        Question(0, "094a8d93436737ab", "Part 1, fixed-size",
                 "0 to 400, 300 to 700, 600 to 1000: there the end is reached. A fourth would lie "
                 "inside the third."),
        Question(None, "49c2441a098afbbb", "Part 1, fixed-size",
                 "The steps begin at 0 and 80. With 90 tokens the second window, 80 to 90, lies "
                 "inside the first, 0 to 90."),
        Question(2, "4b9db7083fa1da4f", "Part 2, IDF",
                 "ln(4.5 / 6.5) is negative, so rank_bm25 takes a quarter of the mean: .25 x 1.2."),
        Question(2, "42cf9664b1cf5e10", "Part 2, the BM25 score",
                 "At average length the norm is k1: 2 x 3 x 2.5 / (3 + 1.5). Three occurrences do "
                 "not count three times."),
        Question(None, "2888c39f737eb3d3", "Part 2, the BM25 score",
                 "With b = 0 the length is not looked at, so the scores are equal, and ties go by "
                 "id."),
        Question(None, "0f9cc6b851a3868d", "Part 2, search with a fixed order",
                 "The score comes first, from high to low. Equal scores go by id, from low to "
                 "high."),
        Question(0, "5b7e1300dfbcb0ea", "Part 2, from chunks to documents",
                 "The first three chunks are a#2, a#0 and b#1: two documents. Collapse first, and "
                 "there are three."),
        Question(None, "cc6620f4519c3b47", "Part 2, IDF",
                 "disk is in all four documents. Its weight is negative, and so is the mean that "
                 "stands in for it, so every match scores below 0. A shared word is the better "
                 "question."),
    ],
    "C": [
        Question(2, "4e48c6176e2de57c", "Part 1, reciprocal rank",
                 "1, 1/5, and 0 twice: rank 12 lies past the cutoff, and nothing found counts as "
                 "0. The sum 1.2 is divided by 4."),
        Question(2, "1f268e9f3f4e62c0", "Part 1, DCG",
                 "DCG 2/1.585 + 1/2 = 1.762. The ideal comes from the labels, c included: 2 + "
                 "1/1.585 + 1/2 = 3.131."),
        Question(2, "99ab703c2d40daea", "Part 1, average precision",
                 "Precision 1 at rank 1 and 2/3 at rank 3, divided by all four relevant "
                 "documents."),
        Question(None, "7db0d8992fff3990", "Part 1, nDCG",
                 "Taken from what was retrieved, the ideal shrinks with every miss. From the "
                 "labels it is .47 here."),
        Question(2, "f78c07277a65ae97", "Part 3, a paired test",
                 "Of 2 x 2 x 2 sign patterns, only all plus and all minus are at least as far from "
                 "0: 2 of 8."),
        Question(None, "a9239a58753eaa98", "Part 3, compare",
                 "The interval goes beyond ±.05: a gain that matters is possible, and so is none."),
        Question(None, "4129694492e1cef2", "Part 2, score the baseline",
                 "A reranker can mend the order of what it gets, and nothing else: recall@100 "
                 "decides."),
        Question(None, "b376f114663454e0", "Part 5, why it failed",
                 "Without the common words the wanted document leads, 3.33 to 2.86. It holds every "
                 "word, and b changes nothing at average length."),
    ],
}  # fmt: skip
