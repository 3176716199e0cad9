"""Eight questions before the week and the same after it. They're optional, outside the minutes.

Before the week nothing is told. A learner's copy keeps the answers in its record.
"""

import re
import textwrap
from typing import NamedTuple

from IPython.display import display

from ..measure import text
from . import record
from .check.quick_test import LETTERS
from .check.verdict import WIDTH, Wrong


class Question(NamedTuple):
    """`right` is a letter, `why` says what makes it right, `where` is the part that teaches it."""

    words: str
    options: tuple[str, str, str, str]
    right: str
    why: str
    where: str


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
    noted, now = record.answers("before"), [*record.answers("after"), letters][0]
    before = ["?" * 8, *noted][-1]
    gain = f"{_n_right(before) if noted else 'none answered'} before the week, {_n_right(now)} now"
    if not record.answers("after"):
        record.write_answers("after", now, gain)
    for n, question in enumerate(QUESTIONS):
        right = f"{question.right}) {question.options[LETTERS.index(question.right)]}"
        line = f"{n + 1}  before {before[n]}, now {now[n]}; right is {right}. {question.why}"
        print(textwrap.fill(f"{line} ({question.where})", WIDTH, subsequent_indent="   "))
    print(gain)


def _ask(answers: str) -> str:
    """Show the questions, folded; return `answers` without blanks, "" for none. Raises Wrong."""
    rows = text.Markup("")
    for question in QUESTIONS:
        options = map(text.Markup("<br>{}) {}").format, LETTERS, question.options)
        rows += text.Markup("<li>{}{}</li>").format(question.words, text.Markup("").join(options))
    page = text.Markup("<details><summary>The eight questions</summary><ol>{}</ol></details>")
    display(text.html(page.format(rows)))
    letters = re.sub(r"[\s,]", "", str(answers).lower())
    if not re.fullmatch(r"[abcd?]{8}", letters):
        wanted = 'eight answers, each a letter from a to d or ?, such as "c ? a b ? d a ?"'
        raise Wrong(f"found {answers!r}; wanted {wanted}")
    if letters == "?" * 8:
        print("not answered, and that's fine")
    return letters.strip("?") and letters


def _n_right(letters: str) -> str:
    right = "".join(question.right for question in QUESTIONS)
    return f"{sum(map(str.__eq__, letters, right))} of 8"


QUESTIONS = [
    Question("Two readers label the same 100 pairs without reading them. Each gives 0 to 90 pairs "
             "and 1 to 10, picked by chance. On about how many pairs do they agree?",
             ("10", "50", "82", "90"),
             "c", "Both give 0 to .9 × .9 of the pairs and 1 to .1 × .1 of them. Kappa takes away "
             "what chance alone gives.", "session A, part 2"),
    Question("A label says that a page answers a question. Nobody copied the sentence that proves "
             "it. What can't you do with this label?",
             ("Check it without judging the whole page anew", "Compute a score with it",
              "Compare it with the label of a second reader",
              "Keep it out of the half that you tune on"),
             "a", "A score takes any label. Whether it's right, only its evidence shows quickly.",
             "session A, part 2"),
    Question("A search returns a page that nobody has labelled for this question. How do the usual "
             "scores count it?",
             ("As half right", "Not at all: the next page moves up",
              "As right, because the search found it", "As not relevant"),
             "d", "It may well be the answer. So say beside a score how many of the results were "
             "judged.", "session A, part 2"),
    Question("Texts are cut into pieces of 512 words. Each piece begins with the last 50 words of "
             "the one before. What is that for?",
             ("The search gets faster",
              "A short sentence that a cut splits stands whole in the next piece",
              "There are fewer pieces", "Rare words count for more"),
             "b", "A sentence of up to 50 words that runs over the end of a piece begins in its "
             "last 50.", "session B, part 1"),
    Question("A search ranks pages by the words they share with a question. One of these words "
             "stands in every page. How much should it count?",
             ("Next to nothing", "More than the others: it always matches",
              "As much as any other word", "The more, the longer the word is"),
             "a", "It tells no page from another. The fewer pages hold a word, the more weight IDF "
             "gives it.", "session B, part 2"),
    Question("Search A puts the right page of one question at rank 1 and that of another at rank "
             "10. Search B puts both at rank 3. A question scores 1 / rank, and the mean counts. "
             "Which search scores higher?",
             ("Neither: they're equal", "A, .55 to .33", "B, .33 to .18", "B, .67 to .55"),
             "b", "(1 + 1/10) / 2 is .55, and 1/3 is .33. Rank 1 scores ten times what rank 10 "
             "does.", "session C, part 1"),
    Question("A new search is better by .02, on a scale from 0 to 1. From question to question the "
             "difference varies, with a standard deviation of .25. About how many questions do you "
             "need for a good chance of showing that it's better?",
             ("20", "100", "300", "More than 1,000"),
             "d", "The smallest difference that is likely to show is 2.8 × sd / √n. With 50 "
             "questions that's .10, and .02 takes about 1,200.", "session C, part 3"),
    Question("You try 20 settings of a search on the same 100 questions, keep the best one and "
             "report its score on them. What score will it most likely get on new questions?",
             ("The same", "A higher one", "A lower one", "One that is 20 times lower"),
             "c", "Part of the best score was luck with these questions. So dev chooses, and test "
             "gives the number.", "session C, part 3"),
]  # fmt: skip
