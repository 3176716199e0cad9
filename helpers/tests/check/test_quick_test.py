"""Quick tests: every right answer is computed here from its question."""

import ast
import inspect
import math
import re

import numpy as np
import pytest
from rank_bm25 import BM25Okapi
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score, ndcg_score

from helpers import text
from notebooks import check
from notebooks.check import agreement, chunking
from notebooks.check import quick_test as quiz


def discounted(gains) -> float:
    return sum(gain / math.log2(rank) for rank, gain in enumerate(gains, 2))


def answers_a() -> dict:
    kappa = cohen_kappa_score([1] * 6 + [0] * 14, [1] * 4 + [0] * 2 + [1] * 2 + [0] * 12)
    pool = {d for top in ("abc", "bda", "eab") for d in top[:2]}
    relevant = {"q1": "a", "q2": "bc", "q3": "ab", "q4": "d", "q5": "e", "q6": "d"}
    splits = {"a": "q1 q2 q4", "b": "q1 q3 q5", "c": "q2 q3 q4", "d": "q4 q5 q6"}
    whole = [
        letter
        for letter, half in splits.items()
        if not {d for q in relevant if q in half for d in relevant[q]}
        & {d for q in relevant if q not in half for d in relevant[q]}
    ]
    readings = [0] * 95 + [1] * 2 + [0] * 3, [0] * 97 + [1] * 3
    assert round(cohen_kappa_score(*readings), 2) == -0.02
    assert round(agreement._ac1_table(*readings, (0, 1)), 2) == 0.95
    return {
        1: len({"d1", "d2", "d5"}) / 8,
        2: len({"disk", "full", "alert"} & set(text.words("Alert: the disk is. The disk was"))) / 3,
        3: kappa,
        4: "c",
        5: "".join(whole),
        6: np.average([0.90, 0.50], weights=[30, 10]),
        7: "a",
        8: sum(d in pool for d in "afdg") / 4,
    }


def answers_b() -> dict:
    ends = {"a": 80, "b": 150, "c": 240, "d": 90}
    doubled = [
        letter
        for letter, n in ends.items()
        if len(range(0, n, 80)) > len(chunking._reference_windows(n, 100, 20))
    ]
    assert math.log(4.5 / 6.5) < 0
    hits = ["a#2", "a#0", "b#1"]
    found = {"d": 2.0, "a": 1.5, "c": 2.0, "b": 1.5}
    scores = BM25Okapi([["disk"], ["disk"], ["disk", "full"], ["disk", "full"]]).get_scores(
        ["disk"]
    )
    ordered = " ".join(sorted(found, key=lambda d: (-found[d], d)))
    return {
        1: len(chunking._reference_windows(1000, 400, 100)),
        2: "".join(doubled),
        3: 0.25 * 1.2,
        4: 2 * 3 * 2.5 / (3 + 1.5 * (1 - 0.75 + 0.75)),
        5: "c",
        6: {"c d a b": "a", "d c a b": "b", "d c b a": "c", "b a d c": "d"}[ordered],
        7: len({chunk_id.rpartition("#")[0] for chunk_id in hits}),
        8: "b" if (scores < 0).all() else "?",
    }


def answers_c() -> dict:
    weights = {"refund": (2.0, 3, 2), "the": (0.6, 1, 4), "on": (0.5, 1, 2)}
    gave = {w: [idf * n * 2.5 / (n + 1.5) for n in counts] for w, (idf, *counts) in weights.items()}
    assert [[round(v, 2) for v in row] for row in gave.values()] == [
        [3.33, 2.86],
        [0.6, 1.09],
        [0.5, 0.71],
    ]
    behind = sum(row[0] for row in gave.values()) < sum(row[1] for row in gave.values())
    assert round(1 / discounted([1, 1, 1]), 2) == 0.47
    flips = scipy_stats.permutation_test(([0.2, 0.1, 0.1],), np.sum, permutation_type="samples")
    return {
        1: (1 + 1 / 5) / 4,
        2: ndcg_score([[0, 2, 1, 1]], [[4, 3, 2, 1]], k=3),
        3: (1 / 1 + 2 / 3) / 4,
        4: "d",
        5: float(flips.pvalue),
        6: "c",
        7: max({"a": 0.80, "b": 0.93, "c": 0.84, "d": 0.77}.items(), key=lambda pair: pair[1])[0],
        8: "a" if behind and gave["refund"][0] >= gave["refund"][1] else "?",
    }


RIGHT = {"A": answers_a, "B": answers_b, "C": answers_c}


@pytest.mark.parametrize("session", RIGHT)
def test_the_right_answers_pass(session, capsys):
    check.quiz(session, RIGHT[session]())
    said = capsys.readouterr().out
    assert said.endswith("8 of 8: passed\n") and said.count("  right  ") == 8


@pytest.mark.parametrize("session", RIGHT)
def test_reasons_are_for_right_answers_until_the_test_is_passed(session, capsys):
    right, questions = RIGHT[session](), dict(enumerate(quiz.QUESTIONS[session], 1))
    rubbish = {n: -99 if q.decimals is not None else "abcd"["abcd".find(right[n]) - 1]
               for n, q in questions.items()}  # fmt: skip
    for n in questions:
        with pytest.raises(check.Wrong) as caught:
            check.quiz(session, rubbish | {n: right[n]})
        told = [m for m, q in questions.items() if q.reason[:20] in str(caught.value)]
        assert told == [n], "only the right one has its reason"
        assert str(caught.value).count("  wrong") == 7
    check.quiz(session, right | {2: rubbish[2]})
    said = capsys.readouterr().out
    assert "\n2  wrong  " in said and questions[2].reason[:20] in said, "passed: all reasons"


@pytest.mark.parametrize("session", RIGHT)
def test_six_of_eight_pass_and_five_do_not(session, capsys):
    answers = RIGHT[session]() | {1: 99, 2: None}
    if quiz.QUESTIONS[session][0].decimals is None:
        answers[1] = "a" if answers[1] != "a" else "b"
    check.quiz(session, answers)
    assert "6 of 8: passed" in capsys.readouterr().out
    with pytest.raises(check.Wrong) as caught:
        check.quiz(session, answers | {8: None})
    said = str(caught.value)
    assert "1  wrong\n" in said and "8  not answered\n5 of 8: not passed yet. Read again: " in said
    assert quiz.QUESTIONS[session][7].reason[:30] not in said
    assert quiz.QUESTIONS[session][7].again in said


def test_quiz_forms():
    answers = answers_b()
    assert quiz.score("B", {3: "0.3", 4: np.float64(10 / 3), 5: " C "})[0].count("right") == 3
    assert quiz.score("B", {**answers, 3: 0.3049})[0].count("  right  ") == 8
    assert quiz.score("B", {**answers, 3: 0.31})[0].count("  right  ") == 7
    with pytest.raises(check.NotStarted, match="quick test B is not started yet"):
        check.quiz("B", dict.fromkeys(range(1, 9)))
    for wrong in ({1: "x"}, {2: "e"}, {2: 3}, {9: 1}, [1, 2], {1: True}):
        with pytest.raises(check.Wrong):
            check.quiz("B", wrong)
    with pytest.raises(check.Wrong, match="no session"):
        check.quiz("D", {})


def test_answers_do_not_stand_in_the_module():
    tree = ast.parse(inspect.getsource(quiz))
    kept = [q.answer for questions in quiz.QUESTIONS.values() for q in questions]
    assert all(re.fullmatch("[0-9a-f]{16}", answer) for answer in kept) and len(set(kept)) == 24
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not texts & {"a", "b", "c", "d"}
