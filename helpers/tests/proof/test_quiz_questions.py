"""The questions of the quick tests: every answer is computed from the words of its question."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import witness
from statsmodels.stats.power import TTestPower

from helpers.teach import eight_questions
from helpers.teach.check import quick_test

FOLDER = Path(__file__).resolve().parents[3] / "notebooks"


def asked_and_answered(session: str) -> tuple[dict[int, str], dict[int, object]]:
    """Return the questions of a session, by number, and the committed answers."""
    (path,) = FOLDER.glob(f"session_{session}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    by_id = {cell["id"]: "".join(cell["source"]) for cell in cells}
    parts = re.split(r"^\*\*(\d)\.\*\* ", by_id[f"{session}-quiz-questions"], flags=re.MULTILINE)
    questions = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
    return questions, eval(re.search(r"return (\{.+\})", by_id[f"{session}-quiz"])[1], {})


def numbers(text: str) -> list[float]:
    return [float(n.replace(",", "")) for n in re.findall(r"(?<![\w@])-?[\d,]*\.?\d+", text)]


def option(question: str, words: str) -> str:
    """Return the letter of the one option or row that holds `words`."""
    lines = re.findall(r"^(?:- |\| )([a-d])\)(.+)", question, re.MULTILINE)
    (letter,) = [letter for letter, line in lines if words in line]
    return letter


def table(question: str) -> list[list[str]]:
    """Return the body of the question's table, cell by cell."""
    lines = re.findall(r"^\|(.+)\|$", question, re.MULTILINE)[2:]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def unleaking(question: str) -> str:
    """Return the letter of the split whose halves share no document."""
    answers = {q: set(docs.split(", ")) for q, docs in re.findall(r"(q\d): ([a-z, ]+)\.", question)}
    found = []
    for letter, *halves in re.findall(r"([a-d])\) dev: (.+?)\. test: (.+?)\.", question):
        reached = [set().union(*(answers[q] for q in half.split(", "))) for half in halves]
        assert sorted(", ".join(halves).split(", ")) == sorted(answers)
        found += [] if reached[0] & reached[1] else [letter]
    return "".join(found)


def answers_a(asked: dict[int, str]) -> dict:
    relevant = {d for d, grade in re.findall(r"(d\d) = (\d)", asked[1]) if grade != "0"}
    words = set(re.findall(r"`(\w+)`", asked[2]))
    quotes = re.findall(r'"(.+?)"', asked[2])
    parts = re.findall(r"(\w+) `\w+` queries .*?(\.\d+)", asked[6])
    many = {"thirty": 30, "ten": 10}
    (a, b), (c, d) = ([int(cell) for cell in row[1:]] for row in table(asked[3]))
    assert a + b + c + d == 20 and "twenty pairs" in asked[3]
    read = [(1, 1)] * a + [(1, 0)] * b + [(0, 1)] * c + [(0, 0)] * d
    runs = [found.split() for found in re.findall(r"\b((?:[a-g] ){2,}[a-g])\b", asked[8])]
    depth = int(re.search(r"depth (\d)", asked[8])[1])
    pool = {doc_id for run in runs[:3] for doc_id in run[:depth]}
    return {
        1: len(relevant) / int(re.search(r"d1 to d(\d+)", asked[1])[1]),
        2: len(words & set(witness.words(" ".join(quotes)))) / len(words),
        3: witness.agreement(read, (0, 1))["kappa"],
        4: option(asked[4], "have more pairs above 0 read twice"),
        5: unleaking(asked[5]),
        6: sum(many[n] * float(m) for n, m in parts) / sum(many[n] for n, _ in parts),
        7: option(asked[7], "before any ranking was seen"),
        8: sum(doc_id in pool for doc_id in runs[3]) / len(runs[3]),
    }


def answers_b(asked: dict[int, str]) -> dict:
    n, size, overlap = numbers(asked[1])[:3]
    step, window, share = numbers(asked[2])[1:4]
    assert step == window - share
    ends = re.findall(r"([a-d])\) (\d+)", asked[2])
    inside = [c for c, e in ends if 0 < int(e) - step * ((int(e) - 1) // step) <= share]
    df, of, *_, average, epsilon = numbers(asked[3])
    raw = math.log((of - df + 0.5) / (df + 0.5))
    idf, k1, _ = numbers(asked[4])
    (f,) = (n for word, n in {"twice": 2, "three times": 3}.items() if word in asked[4])
    found = re.findall(r"`(\w)` ([\d.]+)", asked[6])
    ordered = " ".join(d for d, _ in sorted(found, key=lambda hit: (-float(hit[1]), hit[0])))
    chunks = re.findall(r"(\w)#\d", asked[7])
    kept = {"two": 2, "three": 3}[re.search(r"to (\w+) chunks", asked[7])[1]]
    engine = witness.Okapi(dict(enumerate(re.findall(r'"(.+?)"', asked[8]))))
    return {
        1: 1 + math.ceil((n - size) / (size - overlap)),
        2: "".join(inside),
        3: raw if raw >= 0 else epsilon * average,
        4: idf * f * (k1 + 1) / (f + k1),
        5: option(asked[5], "The scores are equal, so the id decides"),
        6: option(asked[6], ordered),
        7: len(set(chunks[:kept])),
        8: option(asked[8], "score below 0") if dict(engine.search("disk"))[0] < 0 else None,
    }


def answers_c(asked: dict[int, str]) -> dict:
    ranks = [int(n) for n in re.findall(r"ranks (\d+), (\d+) and (\d+)", asked[1])[0]]
    four = {"Four": 4}[asked[1].split()[0]]
    labels = {d: int(g) for d, g in re.findall(r"([a-z]): (\d)", asked[2])}
    order, third = (re.search(r"returns ([a-z, ]+)\.", asked[n])[1].split(", ") for n in (2, 3))
    relevant = re.search(r"relevant: ([a-z, ]+) and ([a-z])\.", asked[3])
    relevant = [*relevant[1].split(", "), relevant[2]]
    k = int(re.search(r"nDCG@(\d)", asked[2])[1])
    ideal = witness.dcg(sorted(labels.values(), reverse=True)[:k])
    recall = {row[0][0]: float(row[-1]) for row in table(asked[7])}
    matters, difference, low, high, p = map(float, re.findall(r"[-+]?\.\d+", asked[6]))
    assert low < difference < high and p > 0.05 and max(-low, high) > matters
    every = {word: list(map(float, gave)) for word, *gave in table(asked[8])}
    common = re.findall(r"`(\w+)`", asked[8])
    rare = [gave for word, gave in every.items() if word not in common]
    assert len(rare) == len(every) - len(common)
    behind = sum(g[1] for g in every.values()) < sum(g[2] for g in every.values())
    level = sum(g[1] for g in rare) >= sum(g[2] for g in rare)
    return {
        1: sum(1 / r for r in ranks if r <= 10) / four,
        2: witness.dcg([labels.get(d, 0) for d in order][:k]) / ideal,
        3: witness.measures(third, dict.fromkeys(relevant, 1))["AP"],
        4: option(asked[4], "from the documents that were retrieved"),
        5: witness.sign_flip_p(np.array(numbers(asked[5])[:3])),
        6: option(asked[6], "too few queries to tell"),
        7: max(recall, key=recall.get),
        8: option(asked[8], "common word dominates") if behind and level else None,
    }


ANSWERS = {"a": answers_a, "b": answers_b, "c": answers_c}


@pytest.mark.parametrize("session", ANSWERS)
def test_answers_follow_from_the_words_of_their_questions(session):
    asked, given = asked_and_answered(session)
    found = ANSWERS[session](asked)
    for number, question in asked.items():
        wanted = re.search(r"\*\(A (whole number|number|letter)", question)[1]
        places = {"three": 3, "two": 2}.get(re.search(r"(\w+) decimals|$", question)[1], 0)
        own, theirs = found[number], given[number]
        if wanted == "letter":
            assert own == theirs, number
            letters = re.findall(r"^(?:- |\| )([a-d])\)", question, re.MULTILINE)
            assert letters == list("abcd"), number
        else:
            assert round(own, places) == round(theirs, places), number
    assert set(asked) == set(given) == set(range(1, 9))


@pytest.mark.parametrize("session", quick_test.SESSIONS)
def test_what_to_read_again_is_a_heading_of_its_part(session):
    (path,) = FOLDER.glob(f"session_{session.lower()}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    part, places = "", set()
    for level, words in re.findall(r"^(##+) (?:Exercise: (?:the )?)?(.+?)\??$", text, re.M):
        found = re.match(r"(\d)\. ", words)
        part = f"Part {found[1]}" if found and level == "##" else part
        words = re.sub(r"^\d\. | \(\d+ minutes\)$", "", words)
        places.add(f"{part}, {words}".lower())
    for question in quick_test.questions_of(session):
        assert question.again.lower().replace(", the ", ", ") in places, question.again


def test_answers_of_the_eight_questions_follow_from_their_words():
    asked = eight_questions.questions()
    words = {q.right + str(n): (q.words, q.options["abcd".index(q.right)], q.why)
             for n, q in enumerate(asked, 1)}  # fmt: skip
    assert sorted(q.right for q in asked) == sorted("abcd" * 2)
    for question in asked:
        session, part = re.fullmatch(r"session ([ABC]), part (\d)", question.where).groups()
        (path,) = FOLDER.glob(f"session_{session.lower()}_*.ipynb")
        assert f'"## {part}. ' in path.read_text(encoding="utf-8"), question.where
    n, zeros, ones = numbers(words["c1"][0])[0], *numbers(words["c1"][0])[2::2]
    assert zeros + ones == n and float(words["c1"][1]) == (zeros**2 + ones**2) / n
    assert numbers(words["c1"][2])[1:3] == [zeros / n] * 2
    size, shared = numbers(words["b4"][0])
    for length in range(2, int(shared) + 1):  # a sentence that ends a word after the piece
        assert size + 1 - length >= size - shared
    okapi = witness.Okapi({n: f"disk w{n}" for n in range(5)})
    assert len({score for _, score in okapi.search("disk")}) == 1  # it tells no page from another
    first, second = (sum(1 / r for r in ranks) / 2 for ranks in ((1, 10), (3, 3)))
    assert [round(first, 2), round(second, 2)] == numbers(words["b6"][1]) and first > second
    better, *_, sd = [x for x in numbers(words["d7"][0]) if 0 < x < 1]
    needed = TTestPower().solve_power(better / sd, alpha=0.05, power=0.8)
    assert numbers(words["d7"][1]) == [1000] and needed > 1000
    assert round(needed, -2) == numbers(words["d7"][2])[-1]
    assert round(TTestPower().solve_power(nobs=50, alpha=0.05, power=0.8) * sd, 1) == 0.1
    settings, queries = map(int, numbers(words["c8"][0])[:2])
    noise = np.random.default_rng(1).normal(0.6, 0.3, (200, settings, queries)).mean(axis=2)
    assert noise.max(axis=1).mean() > 0.6 + 0.03  # all are equal; the best one only looks better
