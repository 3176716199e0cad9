"""Checks of the exercises of session A."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from helpers import text

from . import verdict
from .verdict import Case, mean, pick, random_cases, shown


def _share(doc_ids: list, reached: list) -> int:
    return len(set(doc_ids) & set(reached))


def _draw_coverage(rng: np.random.Generator) -> list[Case]:
    import pandas as pd

    cases = []
    for _ in range(200):
        doc_ids = [f"d{n}" for n in range(rng.integers(1, 9))]
        reached = pick(rng, "d0 d1 d2 d3 d4 d5 d6 d7 d8 d9", 0, 9)
        cases.append(Case((doc_ids, reached), float(pd.Series(doc_ids).isin(reached).mean())))
    return cases


def coverage(function: Callable) -> None:
    """Check coverage(doc_ids, reached) against pandas."""
    hand = [
        Case((["a", "b", "c"], ["a", "b"]), 2 / 3),
        Case((["a", "b", "c"], []), 0.0),
        Case((["a", "b"], ["a", "b", "a"]), 1.0),
        Case((["a", "b", "c"], ["a", "b", "a"]), 2 / 3),
        Case((["a", "b", "c"], ["a", "not-in-the-corpus"]), 1 / 3),
    ]
    mistakes = [
        ("A document that several queries reach is counted each time.",
         lambda d, r: len(r) / len(d)),
        ("A document that several queries reach is counted each time.",
         lambda d, r: sum(x in d for x in r) / len(d)),
        ("An id that is no document of the corpus is counted, too.",
         lambda d, r: len(set(r)) / len(d)),
        ("This divides by what is reached. The question is which share of the corpus is.",
         lambda d, r: _share(d, r) / len(set(r))),
        ("This divides by what is reached. The question is which share of the corpus is.",
         lambda d, r: _share(d, r) / len(set(r)) if r else 0),
        ("This is a number of documents, not a share of them.", _share),
        ("This is a percentage. A share lies between 0 and 1.",
         lambda d, r: 100 * _share(d, r) / len(d)),
        ("This is the share that is not reached.", lambda d, r: 1 - _share(d, r) / len(d)),
    ]  # fmt: skip
    verdict.compare("coverage", function, hand, random_cases(_draw_coverage), mistakes, top=1.0)


_FUNCTION = "how do i a the of is".split()


def _asked(query: str) -> list[str]:
    return [word for word in text.words(query) if word not in _FUNCTION]


def _held(answers: list[str]) -> set[str]:
    return {word for answer in answers for word in text.words(answer)}


def _draw_overlap(rng: np.random.Generator) -> list[Case]:
    cases, content = [], "disk full queue deploy roll back error 502"
    for _ in range(200):
        asked, small = pick(rng, content, 1, 5), pick(rng, "how do the a", 0, 3)
        given = [pick(rng, content + " is the", 1, 4) for _ in range(rng.integers(1, 4))]
        query = " ".join(str(word) for word in rng.permutation(asked + small))
        answers = [" ".join(words).capitalize() + "." for words in given]
        cases.append(Case((query, answers), float(np.isin(asked, sum(given, [])).mean())))
    return cases


def word_overlap(function: Callable) -> None:
    """Check word_overlap(query, answers); content_words must stand beside the function."""
    long = "how do I roll back a bad deploy"
    hand = [
        Case(("disk full", ["The disk is full."]), 1.0),
        Case(("disk full", ["disk", "full"]), 1.0),
        Case(("disk full", ["queue", "full disk"]), 1.0),
        Case(("roll back", ["The rollback failed."]), 0.0),
        Case(("disk disk full", ["disk"]), 2 / 3),
        Case(("the of", ["the of"]), 0.0),
        Case((long, ["Roll back with slipway.", "A deploy takes 20 minutes."]), 3 / 4),
    ]
    mistakes = [
        ("Function words such as how, the or a are counted: ask content_words for the words.",
         lambda q, a: mean(word in _held(a) for word in text.words(q))),
        ("Each answer is looked at alone and the best one taken. A word counts when any answer "
         "has it.",
         lambda q, a: max(mean(word in _held([x]) for word in _asked(q)) for x in a)),
        ("This is the mean over the answers. A word counts when any answer has it.",
         lambda q, a: mean(mean(word in _held([x]) for word in _asked(q)) for x in a)),
        ("A word counts here only if all answers have it. One answer is enough.",
         lambda q, a: mean(all(word in _held([x]) for x in a) for word in _asked(q))),
        ("A word is found inside longer ones, as roll in rollback: compare whole words.",
         lambda q, a: mean(word in " ".join(a).lower() for word in _asked(q))),
        ("Repeated words of the query are counted once. Each place of the query counts.",
         lambda q, a: mean(word in _held(a) for word in set(_asked(q)))),
        ("The answers are cut at spaces: 'slipway.' with its full stop and 'Roll' with a capital "
         "are then other words. text.words removes both.",
         lambda q, a: mean(word in " ".join(a).split() for word in _asked(q))),
        ("This divides by the words of the answers. The share is one of the query's words.",
         lambda q, a: len(set(_asked(q)) & _held(a)) / len(_held(a))),
        ("This is 1 as soon as any word is found. The share of the words is wanted.",
         lambda q, a: float(any(word in _held(a) for word in _asked(q)))),
        ("A query of function words alone leaves nothing to divide by: return 0 for it.",
         lambda q, a: sum(word in _held(a) for word in _asked(q)) / len(_asked(q))),
    ]  # fmt: skip
    verdict.compare("word_overlap", function, hand, random_cases(_draw_overlap), mistakes, top=1.0)


def _runs(
    body: str, size: int, cut: Callable = text.words, step: int = 1, lost: int = 0, least: int = 1
) -> list:
    """Return the runs of `size` words; `least` is how many a shorter text has."""
    words = cut(body)
    n_runs = max(least, len(words) - size + 1 - lost)
    return [tuple(words[i : i + size]) for i in range(0, n_runs, step)]


def _multiset(a: Counter, b: Counter) -> float:
    return (a & b).total() / max(1, (a | b).total())


def _alike(a, b, by: Callable = lambda a, b: len(a | b)) -> float:
    a, b = set(a), set(b)
    return len(a & b) / by(a, b) if a | b and by(a, b) else 0.0


def _draw_jaccard(rng: np.random.Generator) -> list[Case]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score

    cases = []
    for _ in range(100):
        size = int(rng.integers(1, 4))
        a, b = (" ".join(pick(rng, "stop the old new job", size, 9)) for _ in range(2))
        counter = CountVectorizer(ngram_range=(size, size), token_pattern=r"\w+", binary=True)
        found = counter.fit_transform([a, b]).toarray()
        cases.append(Case((a, b, size), float(jaccard_score(*found))))
    return cases


def jaccard(function: Callable) -> None:
    """Check jaccard(a, b, size) against scikit-learn; a shorter text is one run."""
    hand = [
        Case(("a b c", "a b c", 2), 1.0),
        Case(("a b c", "x y z", 2), 0.0),
        Case(("stop the old job", "stop the new job", 2), 1 / 5),
        Case(("a b a b a b", "a b a", 2), 1.0),
        Case(("Stop the job", "stop the JOB.", 3), 1.0),
        Case(("a b c", "a", 2), 0.0),
        Case(("a b", "a b", 3), 1.0),
        Case(("a b", "a c", 3), 0.0),
    ]
    mistakes = [
        ("A text shorter than size is left without a run: take all of it as one, or two equal "
         "short texts share nothing.",
         lambda a, b, n: _alike(_runs(a, n, least=0), _runs(b, n, least=0))),
        ("A text shorter than size is left without a run, and there is nothing to divide by: take "
         "all of it as one.",
         lambda a, b, n: len({*_runs(a, n, least=0)} & {*_runs(b, n, least=0)})
         / len({*_runs(a, n, least=0), *_runs(b, n, least=0)})),
        ("Single words are compared. A run is size words in a row.",
         lambda a, b, n: _alike(text.words(a), text.words(b))),
        ("Common runs are in the denominator twice: divide by the runs that either text has.",
         lambda a, b, n: _alike(_runs(a, n), _runs(b, n), lambda a, b: len(a) + len(b))),
        ("This is the Dice coefficient, twice the common over the sum. Jaccard divides the common"
         " by all that either has.",
         lambda a, b, n: 2 * _alike(_runs(a, n), _runs(b, n), lambda a, b: len(a) + len(b))),
        ("This divides by the smaller text. Divide by the runs that either text has.",
         lambda a, b, n: _alike(_runs(a, n), _runs(b, n), lambda a, b: min(len(a), len(b)))),
        ("The last run of each text is lost: there are len(words) - size + 1 of them.",
         lambda a, b, n: _alike(_runs(a, n, lost=1), _runs(b, n, lost=1))),
        ("The last word of each text is lost, and with it the last run of each text.",
         lambda a, b, n: _alike(
             _runs(a, n, lambda t: text.words(t)[:-1]), _runs(b, n, lambda t: text.words(t)[:-1]))),
        ("The runs follow each other without overlap. One begins at every word.",
         lambda a, b, n: _alike(_runs(a, n, step=n), _runs(b, n, step=n))),
        ("A run that occurs often is counted often. Each different run counts once.",
         lambda a, b, n: _multiset(Counter(_runs(a, n)), Counter(_runs(b, n)))),
        ("Upper and lower case, or punctuation, make words differ: use text.words.",
         lambda a, b, n: _alike(_runs(a, n, str.split), _runs(b, n, str.split))),
        ("These are runs of characters. A run is size words in a row.",
         lambda a, b, n: _alike(_runs(a.lower(), n, list), _runs(b.lower(), n, list))),
    ]  # fmt: skip
    verdict.compare("jaccard", function, hand, random_cases(_draw_jaccard), mistakes, top=1.0)


def _groups(found) -> list[list[str]]:
    return sorted(sorted(group) for group in found)


def _sets(groups: list[list[str]]) -> str:
    return shown([set(group) for group in groups])


def _first_fit(relevant: dict) -> list[set]:
    groups, documents = [], []
    for query_id, ids in relevant.items():
        at = next((n for n, known in enumerate(documents) if known & ids), None)
        if at is None:
            groups.append({query_id})
            documents.append(set(ids))
        else:
            groups[at].add(query_id)
            documents[at] |= ids
    return groups


def _to_first_only(relevant: dict) -> list[set]:
    groups = {}
    for query_id, ids in relevant.items():
        first = next((other for other in groups if relevant[other] & ids), query_id)
        groups.setdefault(first, set()).add(query_id)
    return list(groups.values())


def _near(relevant: dict) -> list[set]:
    return [
        {other for other, others in relevant.items() if other == q or ids & others}
        for q, ids in relevant.items()
    ]


def _different(groups: list) -> list:
    return [group for n, group in enumerate(groups) if group not in groups[:n]]


def _by_document(relevant: dict) -> list[set]:
    return [
        {q for q, ids in relevant.items() if d in ids}
        for d in sorted(set().union(*relevant.values()))
    ]


def _linked(relevant: dict) -> list[set]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    links = [[bool(a & b) for b in relevant.values()] for a in relevant.values()]
    _, labels = connected_components(csr_array(np.array(links)), directed=False)
    return [
        {q for q, label in zip(relevant, labels, strict=True) if label == n}
        for n in dict.fromkeys(labels)
    ]


def _draw_groups(rng: np.random.Generator) -> list[Case]:
    cases = []
    for _ in range(200):
        order = rng.permutation(rng.integers(1, 9))
        relevant = {f"q{n}": set(pick(rng, "a b c d e f g h i j", 1, 2)) for n in order}
        cases.append(Case((relevant,), _groups(_linked(relevant))))
    return cases


def query_groups(function: Callable) -> None:
    """Check query_groups(relevant) against scipy; the order of the groups is free."""
    bridge = {"q1": {"a"}, "q2": {"b"}, "q3": {"a", "b"}}
    awkward = {"q1": {"a", "b"}, "q2": {"c", "d"}, "q3": {"a", "e"}, "q4": {"d", "e"}}
    hand = [
        Case(({"q1": {"a"}, "q2": {"b"}},), [["q1"], ["q2"]]),
        Case(({"q1": {"a"}, "q2": {"a"}},), [["q1", "q2"]]),
        Case(({"q1": {"a"}, "q2": {"a", "b"}, "q3": {"b"}},), [["q1", "q2", "q3"]]),
        Case((bridge,), [["q1", "q2", "q3"]]),
        Case((awkward,), [["q1", "q2", "q3", "q4"]]),
        Case(({"q1": {"a"}, "q2": {"b"}, "q3": {"a"}},), [["q1", "q3"], ["q2"]]),
        Case(({"q1": set(), "q2": {"a"}},), [["q1"], ["q2"]]),
    ]
    mistakes = [
        ("A query that links two groups joins the first of them and leaves the second alone: "
         "merge all groups that it touches.",
         _first_fit),
        ("A query is compared with the first of a group only. Chains count: q1 and q3 belong "
         "together when both share something with q2.",
         _to_first_only),
        ("This is each query with those next to it, so a query stands in several groups. Follow "
         "the chains until nothing new comes.",
         _near),
        ("This is each query with those next to it, so a query stands in several groups. Follow "
         "the chains until nothing new comes.",
         lambda r: _different(_near(r))),
        ("This is a group for each document, so a query stands in several groups.", _by_document),
        ("Queries that share nothing are missing: each is a group of its own.",
         lambda r: [group for group in _linked(r) if len(group) > 1]),
        ("These are groups of documents. Groups of query ids are wanted.",
         lambda r: [set().union(*(r[q] for q in group)) for group in _linked(r)]),
        ("Only queries with exactly the same documents are joined. One in common is enough.",
         lambda r: [{p for p in r if r[p] == ids} for ids in {frozenset(v) for v in r.values()}]),
    ]  # fmt: skip
    verdict.compare(
        "query_groups",
        function,
        hand,
        random_cases(_draw_groups),
        mistakes,
        view=_groups,
        say=_sets,
    )


def _equal(first: list, second: list) -> float:
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def _above(observed: float, chance: float, alone: float = math.nan) -> float:
    return (observed - chance) / (1 - chance) if chance < 1 else alone


def _by_habit(first: list, second: list) -> float:
    return sum(first.count(g) * second.count(g) for g in {*first}) / len(first) ** 2


def _pooled(first: list, second: list) -> list[float]:
    both = first + second
    return [both.count(g) / len(both) for g in sorted({*both})]


def _readings(rng: np.random.Generator, n_cases: int) -> list[tuple[list, list]]:
    """Return pairs of readings with grades 0 to 2, of which the second follows the first."""
    pairs = []
    for _ in range(n_cases):
        first = rng.choice(3, rng.integers(4, 20), p=[0.6, 0.2, 0.2])
        second = np.where(rng.random(len(first)) < 0.6, first, rng.choice(3, len(first)))
        pairs.append((first.tolist(), second.tolist()))
    return [(a, b) for a, b in pairs if len({*a, *b}) > 1]


def _draw_kappa(rng: np.random.Generator) -> list[Case]:
    from sklearn.metrics import cohen_kappa_score

    return [Case(pair, float(cohen_kappa_score(*pair))) for pair in _readings(rng, 100)]


def cohen_kappa(function: Callable) -> None:
    """Check cohen_kappa(first, second) against scikit-learn; nan where chance is 1."""
    hand = [
        Case(([0, 1], [0, 1]), 1.0),
        Case(([0, 1], [1, 0]), -1.0),
        Case(([1, 1], [1, 1]), math.nan),
        Case(([1, 1, 0, 0], [1, 0, 0, 0]), 0.5),
        Case(([2, 1, 0, 0], [2, 1, 1, 0]), 7 / 11),
        Case(([0] * 8 + [1, 0], [0] * 8 + [0, 1]), -1 / 9),
    ]
    mistakes = [
        ("This is the observed agreement. Kappa takes chance away.", _equal),
        ("The difference from chance is not divided by 1 - chance, what could be won.",
         lambda a, b: _equal(a, b) - _by_habit(a, b)),
        ("Chance is taken as one over the number of grades. It is the sum over the grades of the "
         "share in one reading times the share in the other.",
         lambda a, b: _above(_equal(a, b), 1 / len({*a, *b}))),
        ("Chance is taken from the mean shares of both readings: that is Scott's pi. Cohen "
         "multiplies the share in one reading by the share in the other.",
         lambda a, b: _above(_equal(a, b), sum(s * s for s in _pooled(a, b)))),
        ("Only the grades 0 and 1 are counted: take every grade that occurs.",
         lambda a, b:
             _above(_equal(a, b), sum(a.count(g) * b.count(g) for g in (0, 1)) / len(a) ** 2)),
        ("Chance is taken from the first reading alone. Multiply its share by the second's.",
         lambda a, b: _above(_equal(a, b), sum((a.count(g) / len(a)) ** 2 for g in {*a}))),
        ("Where both give one grade to everything, chance is 1 and kappa is not defined: return "
         "nan.",
         lambda a, b: (_equal(a, b) - _by_habit(a, b)) / (1 - _by_habit(a, b))),
        ("Where both give one grade to everything, chance is 1 and kappa is not defined: return "
         "nan, not 1.",
         lambda a, b: _above(_equal(a, b), _by_habit(a, b), 1.0)),
        ("Where both give one grade to everything, chance is 1 and kappa is not defined: return "
         "nan, not 0.",
         lambda a, b: _above(_equal(a, b), _by_habit(a, b), 0.0)),
    ]  # fmt: skip
    verdict.compare("cohen_kappa", function, hand, random_cases(_draw_kappa), mistakes, top=1.0)


def _ac1_table(first: list, second: list, grades: tuple) -> float:
    """Return AC1 from the table of both readings (Gwet 2008)."""
    from sklearn.metrics import confusion_matrix

    table = confusion_matrix(first, second, labels=list(grades)) / len(first)
    mean_share = (table.sum(0) + table.sum(1)) / 2
    chance = mean_share @ (1 - mean_share) / (len(grades) - 1)
    return float((np.trace(table) - chance) / (1 - chance))


def _draw_ac1(rng: np.random.Generator) -> list[Case]:
    tried = [(*pair, (0, 1, 2)) for pair in _readings(rng, 100)]
    return [Case(args, _ac1_table(*args)) for args in tried]


def _spread(shares: list[float]) -> float:
    return sum(share * (1 - share) for share in shares)


def gwet_ac1(function: Callable) -> None:
    """Check gwet_ac1(first, second, grades) against the table of Gwet 2008."""
    hand = [
        Case(([0, 0], [0, 0], (0, 1)), 1.0),
        Case(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1)), 9 / 17),
        Case(([1, 1, 0, 0], [1, 0, 0, 0], (0, 1, 2)), 33 / 49),
        Case(([0] * 123 + [1, 1], [0] * 118 + [1] * 5 + [0, 0], (0, 1)), 55598 / 59098),
    ]
    mistakes = [
        ("This is the observed agreement. AC1 takes chance away.", lambda a, b, g: _equal(a, b)),
        ("This is Cohen's kappa. AC1 takes chance from the mean share of each grade.",
         lambda a, b, g: _above(_equal(a, b), _by_habit(a, b))),
        ("Chance adds up share times share: that is Scott's pi. AC1 takes share times (1 - "
         "share).",
         lambda a, b, g: _above(_equal(a, b), sum(s * s for s in _pooled(a, b)))),
        ("Chance is not divided by the number of grades less one.",
         lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, b)))),
        ("The grades that occur are counted. All grades that could have been given count.",
         lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, b)) / (len({*a, *b}) - 1))),
        ("The grades that occur are counted. All grades that could have been given count.",
         lambda a, b, g:
             _above(_equal(a, b), np.divide(_spread(_pooled(a, b)), len({*a, *b}) - 1))),
        ("Chance adds up share times share. AC1 takes share times (1 - share).",
         lambda a, b, g: _above(_equal(a, b), sum(s * s for s in _pooled(a, b)) / (len(g) - 1))),
        ("Chance is divided by the number of grades, not by one less.",
         lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, b)) / len(g))),
        ("The shares come from the first reading alone. Take the mean of both.",
         lambda a, b, g: _above(_equal(a, b), _spread(_pooled(a, [])) / (len(g) - 1))),
    ]  # fmt: skip
    verdict.compare("gwet_ac1", function, hand, random_cases(_draw_ac1), mistakes, top=1.0)
