"""Check of evidence in ranked passages, held against sets of tokens."""

from collections.abc import Callable, Iterator

import numpy as np

from . import verdict
from .verdict import Example, drawn, mean

Passages = list[tuple[str, int, int]]  # document, first token, the token after the last


def _cut_at(ranking: Passages, budget: int, empty: bool = False) -> Passages:
    """Return what a budget holds, the last passage cut to fit; `empty` keeps those behind it."""
    held = []
    for doc_id, start, end in ranking:
        end = min(end, start + budget)
        if end > start or empty:
            held.append((doc_id, start, end))
        budget -= end - start
    return held


def _fitting(ranking: Passages, budget: int, go_on: bool = False) -> Passages:
    """Return the passages that fit whole; `go_on` tries those behind one that does not."""
    held = []
    for doc_id, start, end in ranking:
        if end - start <= budget:
            held.append((doc_id, start, end))
            budget -= end - start
        elif not go_on:
            break
    return held


def _overrun(ranking: Passages, budget: int) -> Passages:
    """Return the passages that begin within the budget, the last one whole."""
    held = []
    for doc_id, start, end in ranking:
        if budget > 0:
            held.append((doc_id, start, end))
        budget -= end - start
    return held


def _bill_once(ranking: Passages, budget: int) -> Passages:
    """Return what a budget holds where text that was paid for costs nothing again."""
    held, paid = [], set()
    for doc_id, start, end in ranking:
        at = start
        while at < end and (budget > 0 or (doc_id, at) in paid):
            budget -= (doc_id, at) not in paid
            paid.add((doc_id, at))
            at += 1
        held.append((doc_id, start, at))
    return held


def _is_whole(quote: tuple[int, int], start: int, end: int) -> bool:
    return start <= quote[0] and quote[1] <= end


def _touches(quote: tuple[int, int], start: int, end: int) -> bool:
    return start < quote[1] and quote[0] < end


def _share_found(
    quotes: dict, held: Passages, fits: Callable = _is_whole, needed: Callable = any
) -> float:
    """Return the share of documents of which the `needed` quotes fit into held passages."""

    def found(doc_id: str, quote: tuple[int, int]) -> bool:
        return any(fits(quote, a, b) for other, a, b in held if other == doc_id)

    return mean(needed(found(d, quote) for quote in own) for d, own in quotes.items())


def _by_sets(quotes: dict, ranking: Passages, budget: int) -> float:
    """Return evidence recall from sets of tokens, which share no code with the rest."""
    found, left = set(), budget
    for doc_id, start, end in ranking:
        tokens = set(list(range(start, end))[:left])
        left -= len(tokens)
        found |= {doc_id for a, b in quotes.get(doc_id, []) if set(range(a, b)) <= tokens}
    return len(found) / len(quotes)


def _pieced(quotes: dict, held: Passages) -> float:
    """Return the share with quotes put together from several passages."""
    tokens = {d: {t for o, a, b in held if o == d for t in range(a, b)} for d in quotes}
    return mean(any({*range(*q)} <= tokens[d] for q in own) for d, own in quotes.items())


def _stretch(rng: np.random.Generator, longest: int) -> tuple[int, int]:
    start = int(rng.integers(0, 40))
    return start, start + int(rng.integers(1, longest))


def _draw_recall(rng: np.random.Generator) -> Iterator[Example]:
    for _ in range(200):
        names = "abcd"[: rng.integers(1, 5)]
        quotes = {d: [_stretch(rng, 8) for _ in range(rng.integers(1, 3))] for d in names}
        n_ranked = rng.integers(0, 9)
        ranked = [(str(rng.choice([*"abcdx"])), *_stretch(rng, 30)) for _ in range(n_ranked)]
        budget = int(rng.choice([5, 20, 50, 100]))
        yield Example((quotes, ranked, budget), _by_sets(quotes, ranked, budget))


def _ended_at_what_is_left(ranked: list, budget: int) -> list:
    """Return passages that end at the number of tokens that are left, as if it were a place."""
    left, cut = budget, []
    for doc_id, start, end in ranked:
        cut.append((doc_id, start, min(end, left)))
        left -= cut[-1][2] - start
    return cut


WRONG_RECALL = [
    ("The document is counted, not the quote: another passage of it proves nothing.",
     lambda q, r, n: _share_found(q, _cut_at(r, n), lambda *_: True)),
    ("Part of a quote is enough here. All of it must lie inside one passage.",
     lambda q, r, n: _share_found(q, _cut_at(r, n), _touches),
     lambda q, r, n: _share_found(q, _cut_at(r, n, empty=True), _touches),
     lambda q, r, n: _share_found(
         q, _cut_at(r, n, empty=True), lambda s, a, b: a <= s[1] and s[0] <= b),
     lambda q, r, n: _share_found(q, _cut_at(r, n), lambda s, a, b: a <= s[0] < b),
     lambda q, r, n: _share_found(
         q, _cut_at(r, n), lambda s, a, b: a <= s[0] < b or a < s[1] <= b)),
    ("A quote is put together from two passages. The reader gets them apart.",
     lambda q, r, n: _pieced(q, _cut_at(r, n))),
    ("The same quote counts again in each passage that overlaps. A document counts once.",
     lambda q, r, n: sum(any(_is_whole(s, a, b) for s in q.get(d, []))
                         for d, a, b in _cut_at(r, n)) / len(q),
     lambda q, r, n: sum(_is_whole(s, a, b) for d, a, b in _cut_at(r, n)
                         for s in q.get(d, [])) / len(q)),
    ("The budget counts tokens, but is compared with a place: a passage ends at start + left.",
     lambda q, r, n: _share_found(q, _ended_at_what_is_left(r, n))),
    ("The last passage overruns the budget. Cut it where the budget ends.",
     lambda q, r, n: _share_found(q, _overrun(r, n))),
    ("A passage that does not fit is left out whole. Cut it where the budget ends.",
     lambda q, r, n: _share_found(q, _fitting(r, n)),
     lambda q, r, n: _share_found(q, _fitting(r, n, go_on=True))),
    ("The budget is ignored.", lambda q, r, n: _share_found(q, r)),
    ("Each passage is cut at the whole budget. What the passages before it took is gone.",
     lambda q, r, n: _share_found(q, [(d, a, min(b, a + n)) for d, a, b in r])),
    ("Shared text is paid for once here. It stands in both passages, so it costs twice.",
     lambda q, r, n: _share_found(q, _bill_once(r, n))),
    ("All quotes of a document are asked for. Each is enough by itself.",
     lambda q, r, n: _share_found(q, _cut_at(r, n), needed=all),
     lambda q, r, n: mean(any(all(_is_whole(s, a, b) for s in own)
                              for o, a, b in _cut_at(r, n) if o == d) for d, own in q.items())),
    ("A quote at the very edge of a passage is not counted. It is whole.",
     lambda q, r, n: _share_found(q, _cut_at(r, n), lambda s, a, b: a < s[0] and s[1] < b)),
    ("This is a hit, 1 or 0. Recall is the share of the documents.",
     lambda q, r, n: float(_share_found(q, _cut_at(r, n)) > 0)),
    ("The share is of the quotes. Divide by the number of documents.",
     lambda q, r, n: mean(any(_is_whole(s, a, b) for o, a, b in _cut_at(r, n) if o == d)
                          for d, own in q.items() for s in own)),
]  # fmt: skip


def check_evidence_recall(function: Callable) -> None:
    """Check evidence_recall(quotes, ranking, budget) against sets of tokens.

    Why: It lets you choose a chunk size for a prompt of a given length, since it doesn't care how a
    document was cut.
    """
    one, two = {"a": [(10, 15)]}, {"a": [(10, 15)], "b": [(0, 4), (30, 33)]}
    hand = [
        Example((one, [("a", 0, 20)], 100), 1.0),
        Example((one, [], 100), 0.0),
        Example((one, [("a", 20, 40)], 100), 0.0),
        Example((one, [("x", 0, 20)], 100), 0.0),
        Example((one, [("a", 0, 13), ("a", 13, 20)], 100), 0.0),
        Example((one, [("a", 10, 15)], 100), 1.0),
        Example((one, [("a", 0, 20)], 15), 1.0),
        Example((one, [("a", 0, 20)], 14), 0.0),
        Example((one, [("a", 0, 20), ("a", 5, 25)], 100), 1.0),
        Example((one, [("x", 0, 90), ("a", 0, 20)], 100), 0.0),
        Example((one, [("x", 0, 80), ("a", 8, 18)], 87), 1.0),
        Example((one, [("a", 0, 12), ("a", 5, 25)], 22), 1.0),
        Example((one, [("a", 0, 12), ("a", 5, 25)], 20), 0.0),
        Example((two, [("b", 25, 35), ("a", 0, 20)], 100), 1.0),
        Example((two, [("b", 0, 40)], 100), 0.5),
    ]
    verdict.run_check("evidence_recall", function, hand, drawn(_draw_recall), WRONG_RECALL, top=1.0)
