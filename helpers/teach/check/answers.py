"""Check of the measure of an answer's text."""

from collections.abc import Callable, Iterator

import numpy as np

from . import verdict
from .verdict import Example, common, drawn


def _squad(answer: str, articles: bool = True) -> list[str]:
    words = "".join(c for c in answer.lower() if c.isalnum() or c.isspace()).split()
    return [word for word in words if not articles or word not in ("a", "an", "the")]


def _shared(found: str, gold: str) -> int:
    return common(_squad(found), _squad(gold))


def _harmonic(found: list, gold: list, common: Callable = common) -> float:
    same = common(found, gold)
    return 2 * same / (len(found) + len(gold)) if same else 0.0


def _draw_f1(rng: np.random.Generator) -> Iterator[Example]:
    words = "ten minutes wait slipway twice".split()
    for _ in range(200):
        counts = rng.integers(0, 3, (2, len(words)))
        counts[:, 0] += 1
        found, gold = (
            " ".join(str(w) for w in rng.permutation(np.repeat([*words, "the"], [*row, 1])))
            for row in counts
        )
        wanted = 2 * counts.min(axis=0).sum() / counts.sum()
        yield Example((found.capitalize() + ".", gold), float(wanted))


WRONG_F1 = [
    ("Each word counts once, however often it occurs: count them with Counter.",
     lambda a, b: _harmonic([*{*_squad(a)}], [*{*_squad(b)}])),
    ("Each common word counts once in the numerator: count how often both have it.",
     lambda a, b: _harmonic(_squad(a), _squad(b), lambda a, b: len({*a} & {*b}))),
    ("Every word of the found text that occurs in the gold answer counts, as often as it is "
     "repeated: it counts at most as often as the gold answer has it.",
     lambda a, b: _harmonic(_squad(a), _squad(b), lambda a, b: sum(w in b for w in a))),
    ("This is precision, over the words that were found. F1 joins it with recall.",
     lambda a, b: _shared(a, b) / max(1, len(_squad(a)))),
    ("This is recall, over the words of the gold answer. F1 joins it with precision.",
     lambda a, b: _shared(a, b) / len(_squad(b))),
    ("This is the exact match, 1 or 0. F1 counts the words in common.",
     lambda a, b: float(_squad(a) == _squad(b))),
    ("The texts are compared as they stand: normalise both, for case and punctuation.",
     lambda a, b: _harmonic(a.split(), b.split())),
    ("Articles count as words: normalise drops a, an and the.",
     lambda a, b: _harmonic(_squad(a, False), _squad(b, False))),
    ("Precision and recall are joined by their plain mean. F1 is the harmonic one, 2 x common"
     " / (found + gold).",
     lambda a, b: _shared(a, b) * (1 / max(1, len(_squad(a))) + 1 / len(_squad(b))) / 2),
    ("The factor 2 is missing: 2 x common / (found + gold).",
     lambda a, b: _harmonic(_squad(a), _squad(b)) / 2),
    ("An empty text has no words to divide by: return 0 where nothing is in common.",
     lambda a, b: _harmonic(_squad(a), _squad(b)) if a.strip() else 1 / 0),
]  # fmt: skip


def check_f1(function: Callable) -> None:
    """Check f1(found, gold) against counts by construction; normalise must stand beside it.

    Why: A reader returns a sentence and the right answer is a few words. F1 gives part of the
    credit where they overlap in part.
    """
    hand = [
        Example(("ten minutes", "ten minutes"), 1.0),
        Example(("ten", "twenty"), 0.0),
        Example(("ten minutes", "a minute"), 0.0),
        Example(("wait ten minutes", "ten minutes"), 4 / 5),
        Example(("The Slipway, v2.", "slipway v2"), 1.0),
        Example(("10 or 10", "the 10 10"), 4 / 5),
        Example(("10 10 10", "10"), 1 / 2),
        Example(("", "ten"), 0.0),
        Example(("ten", ""), 0.0),
        Example(("Check-out, café.", "checkout CAFÉ"), 1.0),
    ]
    verdict.run_check("f1", function, hand, drawn(_draw_f1), WRONG_F1, top=1.0)
