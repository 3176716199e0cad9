"""Checks of coverage, shared words, near-duplicates and groups of queries."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from ...measure import text
from . import verdict
from .values import as_code
from .verdict import Example, common, drawn, mean, pick


def _draw_coverage(rng: np.random.Generator) -> Iterator[Example]:
    import pandas as pd

    for _ in range(200):
        doc_ids = [f"d{n}" for n in range(rng.integers(1, 9))]
        reached = pick(rng, "d0 d1 d2 d3 d4 d5 d6 d7 d8 d9", 0, 9)
        yield Example((doc_ids, reached), float(pd.Series(doc_ids).isin(reached).mean()))


WRONG_COVERAGE = [
    ("A document that several queries reach is counted each time.",
     lambda d, r: len(r) / len(d),
     lambda d, r: sum(x in d for x in r) / len(d)),
    ("An id that is no document of the corpus is counted, too.", lambda d, r: len(set(r)) / len(d)),
    ("This divides by what is reached. The question is which share of the corpus is.",
     lambda d, r: len({*d} & {*r}) / len({*r}) if r else 0),
    ("This is a number of documents, not a share of them.",
     lambda d, r: len({*d} & {*r})),
    ("This is a percentage. A share lies between 0 and 1.",
     lambda d, r: 100 * len({*d} & {*r}) / len(d)),
    ("This is the share that is not reached.", lambda d, r: 1 - len({*d} & {*r}) / len(d)),
]  # fmt: skip


def check_coverage(function: Callable) -> None:
    """Check coverage(doc_ids, reached) against pandas.

    Why: When a score rises, somebody will ask how much of the wiki it speaks for. This is the share
    to name.
    """
    hand = [
        Example((["a", "b", "c"], ["a", "b"]), 2 / 3),
        Example((["a", "b", "c"], []), 0.0),
        Example((["a", "b"], ["a", "b", "a"]), 1.0),
        Example((["a", "b", "c"], ["a", "b", "a"]), 2 / 3),
        Example((["a", "b", "c"], ["a", "not-in-the-corpus"]), 1 / 3),
        Example((["d1", "d10", "D10"], ["d10"]), 1 / 3),
    ]
    verdict.run_check("coverage", function, hand, drawn(_draw_coverage), WRONG_COVERAGE, top=1.0)


_FUNCTION = "how do i a the of is".split()


def _asked(query: str) -> list[str]:
    return [word for word in text.words(query) if word not in _FUNCTION]


def _words_of(answers: list[str]) -> set[str]:
    return {word for answer in answers for word in text.words(answer)}


def _spaced(answers: list[str]) -> list[str]:
    return " ".join(answers).lower().split()


def _without_s(answers: list[str]) -> set[str]:
    return {word.removesuffix("s") for word in _words_of(answers)}


def _joined(rng: np.random.Generator, words: list[str]) -> str:
    """Return words as a text, mostly with spaces between them."""
    gaps = rng.choice([" ", " ", " ", "-", ", ", "\n", "/"], len(words))
    return "".join(word + str(gap) for word, gap in zip(words, gaps, strict=True)).rstrip(" ,-/\n")


def _draw_overlap(rng: np.random.Generator) -> Iterator[Example]:
    content = "disk full queue deploy deploys roll back error 502 50 café snake_case"
    for _ in range(200):
        asked, small = pick(rng, content, 1, 5), pick(rng, "how do the a", 0, 3)
        given = [pick(rng, content + " is the", 1, 4) for _ in range(rng.integers(1, 4))]
        query = _joined(rng, [str(word) for word in rng.permutation(asked + small)])
        answers = [_joined(rng, words).capitalize() + "." for words in given]
        yield Example((query, answers), float(np.isin(asked, sum(given, [])).mean()))


WRONG_OVERLAP = [
    ("Function words such as how, the or a are counted: ask content_words for the words.",
     lambda q, a: mean(word in _words_of(a) for word in text.words(q)),
     lambda q, a: max(mean(word in _words_of([x]) for word in text.words(q)) for x in a)),
    ("Function words are counted, and the texts are cut at spaces: content_words gives the words "
     "of the query, evals.words those of an answer.",
     lambda q, a: mean(word in " ".join(a).split() for word in q.split())),
    ("Each answer is looked at alone and the best one taken. A word counts when any answer has it.",
     lambda q, a: max(mean(word in _words_of([x]) for word in _asked(q)) for x in a)),
    ("This is the mean over the answers. A word counts when any answer has it.",
     lambda q, a: mean(mean(word in _words_of([x]) for word in _asked(q)) for x in a)),
    ("A word counts here only if all answers have it. One answer is enough.",
     lambda q, a: mean(all(word in _words_of([x]) for x in a) for word in _asked(q))),
    ("A word is found inside longer ones, as roll in rollback: compare whole words.",
     lambda q, a: mean(word in " ".join(a).lower() for word in _asked(q)),
     lambda q, a: mean(word in " ".join(a) for word in _asked(q))),
    ("The s at the end of words is cut off, so deploys finds deploy. BM25 takes them for two "
     "words: compare words as they are.",
     lambda q, a: mean(word.removesuffix("s") in _without_s(a) for word in _asked(q)),
     lambda q, a: mean(word in _without_s(a) for word in _asked(q)),
     lambda q, a: mean(word.removesuffix("s") in _words_of(a) for word in _asked(q))),
    ("Repeated words of the query are counted once. Each place of the query counts.",
     lambda q, a: mean(word in _words_of(a) for word in set(_asked(q)))),
    ("The answers are cut at spaces: 'slipway.' with its full stop and 'Roll' with a capital "
     "are then other words. evals.words removes both.",
     lambda q, a: mean(word in " ".join(a).split() for word in _asked(q))),
    ("The answers are cut at spaces: a hyphen, a comma or a slash ends a word, too. "
     "evals.words knows them.",
     lambda q, a: mean(word in _spaced(a) for word in _asked(q)),
     lambda q, a: mean(word in {w.strip(".,?") for w in _spaced(a)} for word in _asked(q)),
     lambda q, a: max(mean(word in _spaced([x]) for word in _asked(q)) for x in a)),
    ("This divides by the words of the answers. The share is one of the query's words.",
     lambda q, a: len(set(_asked(q)) & _words_of(a)) / len(_words_of(a))),
    ("This divides by the words of the query and of the answers together: that is Jaccard. "
     "How much of the query alone was found?",
     lambda q, a: _jaccard_of(_asked(q), _words_of(a)),
     lambda q, a: _jaccard_of(_asked(q), text.content_words(_words_of(a)))),
    ("This is 1 as soon as any word is found. The share of the words is wanted.",
     lambda q, a: float(any(word in _words_of(a) for word in _asked(q)))),
    ("A query of function words alone leaves nothing to divide by: return 0 for it.",
     lambda q, a: sum(word in _words_of(a) for word in _asked(q)) / len(_asked(q))),
    ("A query of function words alone gives 1. It has no word that could be found: return 0.",
     lambda q, a: mean(word in _words_of(a) for word in _asked(q)) if _asked(q) else 1.0),
]  # fmt: skip


def check_word_overlap(function: Callable) -> None:
    """Check word_overlap(query, answers); content_words must stand beside the function.

    Why: Run it on your own queries before you buy anything. Where the overlap is low, BM25 will
    disappoint you, and a vector search could earn its money.
    """
    long = "how do I roll back a bad deploy"
    hand = [
        Example(("disk full", ["The disk is full."]), 1.0),
        Example(("disk full", ["disk", "full"]), 1.0),
        Example(("roll back", ["The rollback failed."]), 0.0),
        Example(("disk disk full", ["disk"]), 2 / 3),
        Example(("the of", ["the of"]), 0.0),
        Example(("Error 50?", ["An ERROR (502)."]), 1 / 2),
        Example(("checkout-api timeout", ["Restart the API of checkout."]), 2 / 3),
        Example(("Café, offline", ["café/offline\nagain"]), 1.0),
        Example(("deploys fail", ["A deploy fails."]), 0.0),
        Example((long, ["Roll back with slipway.", "A deploy takes 20 minutes."]), 3 / 4),
    ]
    verdict.run_check("word_overlap", function, hand, drawn(_draw_overlap), WRONG_OVERLAP, top=1.0)


def _runs(body: str, size: int, cut: Callable = text.words, step=1, lost=0, least=1) -> list:
    """Return the runs of `size` words; `least` is how many a shorter text has."""
    words = cut(body)
    n_runs = max(least, len(words) - size + 1 - lost)
    return [tuple(words[i : i + size]) for i in range(0, n_runs, step)]


def _jaccard_of(a, b, by: Callable = lambda a, b: len(a | b)) -> float:
    a, b = set(a), set(b)
    return len(a & b) / by(a, b) if a | b and by(a, b) else 0.0


def _draw_jaccard(rng: np.random.Generator) -> Iterator[Example]:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import jaccard_score

    for _ in range(100):
        size = int(rng.integers(1, 4))
        words = "stop the old new job v2 10"
        a, b = (_joined(rng, pick(rng, words, size, 12)) for _ in range(2))
        counter = CountVectorizer(ngram_range=(size, size), token_pattern=r"\w+", binary=True)
        found = counter.fit_transform([a, b]).toarray()
        yield Example((a, b, size), float(jaccard_score(*found)))


WRONG_JACCARD = [
    ("A text shorter than size is left without a run: take all of it as one, or two equal "
     "short texts share nothing.",
     lambda a, b, n: _jaccard_of(_runs(a, n, least=0), _runs(b, n, least=0))),
    ("A text shorter than size is left without a run, and there is nothing to divide by: take "
     "all of it as one.",
     lambda a, b, n: len({*_runs(a, n, least=0)} & {*_runs(b, n, least=0)})
     / len({*_runs(a, n, least=0), *_runs(b, n, least=0)})),
    ("Single words are compared. A run is size words in a row.",
     lambda a, b, n: _jaccard_of(text.words(a), text.words(b))),
    ("Common runs are in the denominator twice: divide by the runs that either text has.",
     lambda a, b, n: _jaccard_of(_runs(a, n), _runs(b, n), lambda a, b: len(a) + len(b))),
    ("This is the Dice coefficient, twice the common over the sum. Jaccard divides the common"
     " by all that either has.",
     lambda a, b, n: 2 * _jaccard_of(_runs(a, n), _runs(b, n), lambda a, b: len(a) + len(b))),
    ("This divides by the smaller text. Divide by the runs that either text has.",
     lambda a, b, n: _jaccard_of(_runs(a, n), _runs(b, n), lambda a, b: min(len(a), len(b)))),
    ("The last run of each text is lost: there are len(words) - size + 1 of them.",
     lambda a, b, n: _jaccard_of(_runs(a, n, lost=1), _runs(b, n, lost=1))),
    ("The last word of each text is lost, and with it the last run of each text.",
     lambda a, b, n: _jaccard_of(
         _runs(a, n, lambda t: text.words(t)[:-1]), _runs(b, n, lambda t: text.words(t)[:-1]))),
    ("The runs follow each other without overlap. One begins at every word.",
     lambda a, b, n: _jaccard_of(_runs(a, n, step=n), _runs(b, n, step=n))),
    ("A run that occurs often is counted often. Each different run counts once.",
     lambda a, b, n: common(_runs(a, n), _runs(b, n))
     / max(1, (Counter(_runs(a, n)) | Counter(_runs(b, n))).total())),
    ("Upper and lower case, or punctuation, make words differ: use evals.words.",
     lambda a, b, n: _jaccard_of(_runs(a, n, str.split), _runs(b, n, str.split))),
    ("These are runs of characters. A run is size words in a row.",
     lambda a, b, n: _jaccard_of(_runs(a.lower(), n, list), _runs(b.lower(), n, list))),
]  # fmt: skip


def check_jaccard(function: Callable) -> None:
    """Check jaccard(a, b, size) against scikit-learn; a shorter text is one run.

    Why: Wikis are full of copied pages. Each pair that you find is one page less to label, and
    perhaps one leak less between dev and test.
    """
    hand = [
        Example(("a b c", "a b c", 2), 1.0),
        Example(("a b c", "x y z", 2), 0.0),
        Example(("stop the old job", "stop the new job", 2), 1 / 5),
        Example(("a b a b a b", "a b a", 2), 1.0),
        Example(("Stop the job", "stop the JOB.", 3), 1.0),
        Example(("a b c", "a", 2), 0.0),
        Example(("check-out job", "Check out, job", 2), 1.0),
        Example(("ab c d", "a bc d", 2), 0.0),
        Example(("Café 10", "café 1", 1), 1 / 3),
        Example(("a b", "a b", 3), 1.0),
        Example(("a b", "a c", 3), 0.0),
    ]
    verdict.run_check("jaccard", function, hand, drawn(_draw_jaccard), WRONG_JACCARD, top=1.0)


def _groups(found) -> list[list[str]]:
    return sorted(sorted(group) for group in found)


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


def _draw_groups(rng: np.random.Generator) -> Iterator[Example]:
    documents = " ".join(f"d{n}" for n in range(1, 13))
    for _ in range(200):
        order = rng.permutation(rng.integers(1, 13))
        relevant = {f"q{n}": set(pick(rng, documents, 1, 3 - n % 2)) for n in order}
        yield Example((relevant,), _groups(_linked(relevant)))


WRONG_GROUPS = [
    ("A query that links two groups joins the first of them and leaves the second alone: "
     "merge all groups that it touches.",
     _first_fit),
    ("A query is compared with the first of a group only. Chains count: q1 and q3 belong "
     "together when both share something with q2.",
     _to_first_only),
    ("This is each query with those next to it, so a query stands in several groups. Follow "
     "the chains until nothing new comes.",
     _near,
     lambda r: [group for n, group in enumerate(_near(r)) if group not in _near(r)[:n]]),
    ("This is a group for each document, so a query stands in several groups.", _by_document),
    ("Queries that share nothing are missing: each is a group of its own.",
     lambda r: [group for group in _linked(r) if len(group) > 1]),
    ("These are groups of documents. Groups of query ids are wanted.",
     lambda r: [set().union(*(r[q] for q in group)) for group in _linked(r)]),
    ("Only queries with exactly the same documents are joined. One in common is enough.",
     lambda r: [{p for p in r if r[p] == ids} for ids in {frozenset(v) for v in r.values()}]),
]  # fmt: skip


def check_query_groups(function: Callable) -> None:
    """Check query_groups(relevant) against scipy; the order of the groups is free.

    Why: Numbers tuned on a split that leaks look good in the report and drop in production. These
    few lines find the leak first.
    """
    bridge = {"q1": {"a"}, "q2": {"b"}, "q3": {"a", "b"}}
    awkward = {"q1": {"a", "b"}, "q2": {"c", "d"}, "q3": {"a", "e"}, "q4": {"d", "e"}}
    hand = [
        Example(({"q1": {"a"}, "q2": {"b"}},), [["q1"], ["q2"]]),
        Example(({"q1": {"a"}, "q2": {"a"}},), [["q1", "q2"]]),
        Example(({"q1": {"a"}, "q2": {"a", "b"}, "q3": {"b"}},), [["q1", "q2", "q3"]]),
        Example((bridge,), [["q1", "q2", "q3"]]),
        Example((awkward,), [["q1", "q2", "q3", "q4"]]),
        Example(({"q1": {"a"}, "q2": {"b"}, "q3": {"a"}},), [["q1", "q3"], ["q2"]]),
        Example(({"q1": set(), "q2": {"a"}},), [["q1"], ["q2"]]),
        Example(({"q1": {"d1"}, "q2": {"d10"}, "q12": {"1"}},), [["q1"], ["q12"], ["q2"]]),
    ]
    how = {"view": _groups, "say": lambda groups: as_code([*map(set, groups)])}
    verdict.run_check("query_groups", function, hand, drawn(_draw_groups), WRONG_GROUPS, **how)
