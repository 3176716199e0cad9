"""The words of the week: what the glossary says is right, used, and found where links point to."""

import math
import re
from itertools import permutations
from pathlib import Path

import ir_measures
import nbformat
import numpy as np
import pytest
from rank_bm25 import BM25Okapi
from scipy import stats
from scipy.sparse.csgraph import connected_components
from sklearn import metrics
from sklearn.feature_extraction.text import CountVectorizer
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from helpers.measure import evalset, text
from helpers.teach import exercises

ROOT = evalset.DEFAULT.parent
SESSIONS = sorted((ROOT / "notebooks").glob("session_*.ipynb"))
FURTHER = sorted((ROOT / "notebooks" / "further").glob("*.ipynb"))
GLOSSARY = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
GLOSSARY, _, CARD = GLOSSARY.partition("\n## Who means what\n")  # its last section is no term
TEACHING = (ROOT / "notebooks" / "teaching.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "notebooks").glob("*.md"))]
PAGES += [ROOT / "notebooks" / "further" / "README.md", *sorted(evalset.DEFAULT.glob("*.md"))]
PAGES += [*SESSIONS, *FURTHER, evalset.DEFAULT / "retrieval_eval.ipynb"]
ENTRY = re.compile(
    r"^## (?P<head>.+)\n\n(?P<line>.+)\n\n\*Example\.\* (?P<example>.+)\n\n"
    r"\*(?:Session (?P<session>[ABC]), (?P<place>part \d)|"
    r"Further: \[(?P<question>.+)\]\((?P<further>further/\w+\.ipynb)\))\.\*$",
    re.MULTILINE,
)
PART = re.compile(r"^## (\d\. .+) \((\d+) minutes\)$", re.MULTILINE)
EQUATION = re.compile(r"(?<![\w.,@])((?:ln)?[−(]*[.\d][\d.()+×/−²ln ]*?) = (−?[\d,]*\.?\d+)")
FIGURE = re.compile(r"(?<![\w@.])−?[\d,]*\.?\d+")  # not those of q1, k1 or nDCG@10
SIGNS = {"×": "*", "−": "-", "²": "**2", "ln": "math.log"}


def slug(head: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def cells_of(path: Path) -> list[str]:
    """Return the Markdown of a page or of a notebook's cells, without blocks of code."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, 4).cells
        pages = [cell.source for cell in cells if cell.cell_type == "markdown"]
    else:
        pages = [path.read_text(encoding="utf-8")]
    return [re.sub(r"```.*?```", "", page, flags=re.DOTALL) for page in pages]


def glossary() -> dict[str, dict[str, str]]:
    """Return the entries of the glossary by anchor."""
    return {slug(entry["head"]): entry.groupdict() for entry in ENTRY.finditer(GLOSSARY)}


def test_the_glossary_has_each_term_once_in_order():
    heads = re.findall(r"^## (.+)$", GLOSSARY, re.MULTILINE)
    slugs = [slug(head) for head in heads]
    assert [*glossary()] == slugs  # each has all its parts
    assert heads == sorted(heads, key=str.lower) and sorted({*slugs}) == sorted(figures())
    named = re.findall(r'^<a id="(.+)"></a>\n\n## (.+)$', GLOSSARY, re.MULTILINE)
    assert named == [(slug(head), head) for head in heads if head != head.lower()]


def test_the_index_names_each_term_in_the_session_of_its_entry():
    rows = re.findall(r"^\| (?:([ABC]), .+?|beyond the week) \| (.+) \|$", GLOSSARY, re.MULTILINE)
    listed = {a: session for session, row in rows for a in re.findall(r"\]\(#(.+?)\)", row)}
    assert listed == {anchor: entry["session"] or "" for anchor, entry in glossary().items()}
    links = GLOSSARY.split("## ")[0].count("](#")
    assert len(rows) == 4 and links == len(listed) + 1  # and the card


def test_the_places_that_entries_name_exist_and_a_further_notebook_links_the_term():
    sessions = {exercises.session_letter(path.name): path for path in SESSIONS}
    for anchor, entry in glossary().items():
        if entry["session"]:
            text = "\n".join(cells_of(sessions[entry["session"]]))
            part = rf"^## {entry['place'].removeprefix('part ')}\. "
            assert re.search(part, text, re.MULTILINE), f"{anchor}: no heading {part}"
        else:
            text = "\n".join(cells_of(ROOT / "notebooks" / entry["further"]))
            assert text.startswith(f"# {entry['question']}\n"), anchor
            assert f"../glossary.md#{anchor})" in text, anchor


def test_the_minutes_of_the_teaching_page_are_those_of_the_sessions():
    wanted = [
        f"| {exercises.session_letter(path.name)} | {part} | {minutes} |"
        for path in SESSIONS
        for part, minutes in PART.findall("\n".join(cells_of(path)))
    ]
    assert re.findall(r"^\| [ABC] \| .+$", TEACHING, re.MULTILINE) == wanted, "\n".join(wanted)


def test_a_further_notebook_is_linked_by_its_question_and_with_its_minutes():
    texts = {path: "\n".join(cells_of(path)) for path in PAGES}
    for path in FURTHER:
        title, *_, needs = cells_of(path)[0].splitlines()
        links = [re.findall(rf"\[([^]]+)\]\([\w/.]*{path.name}\)", page) for page in texts.values()]
        assert title.removeprefix("# ") in sum(links, []), path.name
        after, minutes = re.search(r"\[(.+?)\].*\| (\d+) minutes", needs).groups()
        row = rf"^\| \[.+\]\({path.name}\) \| \[{after}\].* \| {minutes} \|$"
        assert re.search(row, texts[path.with_name("README.md")], re.MULTILINE), needs


def test_the_exercises_that_the_teaching_page_names_exist():
    table = re.search(r"^\| family .+?\n\n", TEACHING, re.MULTILINE | re.DOTALL)[0]
    cells = [row.split("|")[2] for row in table.strip().splitlines()[2:]]
    named = set(re.findall(r"`(\w+)`", " ".join(cells)))
    written = set()
    for name, notebook in exercises.read_lessons().items():
        for exercise in exercises.exercises_of(name, notebook):
            written |= {*re.findall(r"def (\w+)\(", notebook.cells[exercise.code].source)}
    assert len(named) > 15 and named <= written


def test_the_figures_of_the_warm_ups_are_right():
    """Two orders of five slips: the lowest nDCG with RR 1, the highest with RR 1/2, both .67."""

    def value(measure, order) -> float:
        return measured(measure, "abcde", grades=dict(zip("abcde", order, strict=True)))

    rows = [tuple(map(int, row.split(", "))) for row in re.findall(r"\((\d(?:, \d){4}):", TEACHING)]
    orders = {order: value("nDCG@10", order) for order in permutations([2, 1, 0, 0, 0])}
    assert [value("RR", order) for order in rows] == [1, 1 / 2]
    assert orders[rows[0]] == min(ndcg for order, ndcg in orders.items() if value("RR", order) == 1)
    assert orders[rows[1]] == max(n for order, n in orders.items() if value("RR", order) == 1 / 2)
    assert all(agrees(orders[order], ".67") for order in rows)
    assert flipped(0.4, 0.3, 0.2, -0.1) == 4 / 16


# Links to the glossary; test_statements has the others.


def test_every_link_to_the_glossary_names_a_term_and_each_is_linked_from_a_notebook():
    """Pages, cells, code and templates may link to it."""
    rooms = [p for p in (ROOT / "helpers").rglob("*.*") if p.suffix in (".py", ".md", ".html")]
    links = {}
    for path in {*PAGES, *rooms} - {Path(__file__).resolve()}:
        links[path] = set(re.findall(r"glossary\.md#([\w-]+)", path.read_text(encoding="utf-8")))
    wrong = {path: anchors - {*glossary()} for path, anchors in links.items()}
    assert not any(wrong.values()), wrong
    assert {*glossary()} == set().union(*(links[p] for p in links if p.suffix == ".ipynb"))


# Numbers. First the sums that an example writes out, then all its figures, by other code.


def agrees(value: float, figure: str) -> bool:
    """Return whether a value, rounded like the figure, is the figure."""
    plain = figure.replace("−", "-").replace(",", "")
    places = len(plain.partition(".")[2])
    return abs(value - float(plain)) <= 0.5 * 10**-places + 1e-12


def test_sums_and_figures_are_right():
    n_sums, wrong = 0, {}
    for anchor, values in figures().items():
        example = glossary()[anchor]["example"]
        for left, figure in EQUATION.findall(example):
            if re.search(r"[+×/−²(]", left[1:]):
                code = re.sub("|".join(map(re.escape, SIGNS)), lambda sign: SIGNS[sign[0]], left)
                n_sums += 1
                if not agrees(float(eval(code, {"math": math})), figure):
                    wrong[anchor] = f"{left} = {figure}"
        shown = FIGURE.findall(example)
        if len(values) != len(shown) or not all(map(agrees, values, shown)):
            wrong[anchor] = values, shown
    assert not wrong and n_sums >= 30, wrong


def figures() -> dict[str, list[float]]:
    """Return every figure of each example by anchor, in order: given ones, and others' results."""
    return of_the_set() | of_labels() | of_search() | of_measures() | of_comparisons()


def of_the_set() -> dict[str, list[float]]:
    """Return the figures about documents, queries and chunks."""
    starts = [n for n in range(0, 1200, 512 - 50) if n == 0 or n + 50 < 1200]
    edges = [edge for start in starts for edge in (start, min(start + 512, 1200))]
    shared = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    runs, pair = counted("check the red light", "check the green light", ngram_range=(2, 2))
    ids = text.encoding().encode("slipway rollback")  # tiktoken's own
    pieces = ", ".join(text.encoding().decode([token]).strip() for token in ids)
    assert pieces in glossary()["token"]["example"]
    return {
        "chunk": [1200, 512, 50, *edges],
        "coverage": [3, 4, len({"runbook", "faq", "ticket"}) / 4],
        "dev-and-test": [90, 30, 90 - 30, 30, 90 - 30],
        "document": [3],
        "head-and-tail": [100, 60, 100 - 60, 60, 10, 10 + 40, 100 * 10 / 50],
        "leak": [1],
        "near-duplicate": [pair.all(axis=0).sum(), len(runs), metrics.jaccard_score(*pair)],
        "overlap-of-chunks": [512, 50, 512, 50, starts[1]],
        "query": [len(counted("roll back checkout after a bad deploy")[0])],
        "split": [connected_components(shared)[0]],
        "token": [len(counted("slipway rollback")[0]), len(ids)],
        "word": [len(counted("checkout-api")[0])],
    }


def of_labels() -> dict[str, list[float]]:
    """Return the figures about judgments and how two readers agree."""
    first, second = [0] * 95 + [1] * 2 + [0] * 3, [0] * 97 + [1] * 3
    table = metrics.confusion_matrix(first, second) / 100
    zero, one = (table.sum(0) + table.sum(1)) / 2
    equal, chance = np.trace(table), 2 * zero * one
    ac1 = [equal, chance, 1, chance, (equal - chance) / (1 - chance)]
    few = [1] * 5 + [0] * 5, [1] * 4 + [0, 1] + [0] * 4
    same, half = np.mean(np.equal(*few)), np.mean(few[0])
    by_chance = half * np.mean(few[1]) + (1 - half) * (1 - np.mean(few[1]))
    kappa = [half, half, half, half, by_chance, same, by_chance, 1, by_chance]
    return {
        "ac1": [100, 0, 95, 1, 1, 5, 200, one, one, zero, zero, one, chance]
        + [*ac1, metrics.cohen_kappa_score(first, second)],
        "evidence": [2, 30, len(counted("Application logs are kept for 30 days.")[0])],
        "grade": [2, 1, 0],
        "hard-negative": [2, 0, 0, 1, 0, [2, 0, 0, 1, 0].count(0), 0],
        "judgment": [2],
        "kappa": [1, 0, same, 1, *kappa, metrics.cohen_kappa_score(*few)],
        "label": [10, 3 * 10, 3 * 10],
        "pool": [1, 2, 2, len({*"abc"[:2], *"bea"[:2]})],
        "qrels": [0, 2, 4, 0],
        "relevance": [2, 2, 0],
    }


def of_search() -> dict[str, list[float]]:
    """Return the figures about words, weights, vectors and rankings."""
    ten = okapi("slipway the", *["the"] * 4, *(f"w{n}" for n in range(5)))
    held = sum("the" in counts for counts in ten.doc_freqs)
    vectors = [[1, 0], [0.8, 0.6], [0, 1]]
    names, lines = counted("disk full on the log disk", "queue full", "deploy failed")
    asked = "disk full queue deploy failed".split()
    lists = [np.flatnonzero(lines[:, names.index(word)]) + 1 for word in asked]
    never_read = {1, 2, 3} - {*map(int, np.concatenate(lists[:2]))}
    _, overlap = counted("restore old backup", "Restore a backup with vault.")
    both, n_asked = (overlap.min(axis=0) > 0).sum(), overlap[0].sum()
    return {
        "bm25": [1.5, 1.5, 1.5, 2, 2.5, 2, 1.5, added(2, 1.5)],
        "dense": [*np.ravel(vectors), *metrics.pairwise.cosine_similarity(vectors)[0, 1:]],
        "failure-card": [2.1, 1.8, 0, 2.1, 2.1 + 1.8],
        "hybrid": [1, 3, 1, 60 + 1, 1, 60 + 3, 1 / 61 + 1 / 63, 1, 1 / 61],
        "idf": [10, 1, 9.5, 1.5, ten.idf["slipway"], held, 10, 5.5, 5.5, ten.idf["the"]],
        "inverted-index": [*np.concatenate(lists), 2, *never_read],
        "k1-and-b": [1.5, added(1), 10, 2.5, 11.5, added(10), 1.5 + 1, 0],
        "lexical": [(counted("reboot host", "restart the server")[1].min(axis=0) > 0).sum()],
        "overlap": [both, n_asked, both / n_asked],
        "ranking": [4.2, 3.1, 0.4],
        "rerank": [0.9, 0.9],
        "run": [3, 100, 3 * 100],
        "term-frequency": [okapi("disk full on the log disk").doc_freqs[0]["disk"]],
        "tie": [4.2, 4.2, 3],
    }


def of_measures() -> dict[str, list[float]]:
    """Return the figures about what is measured of one ranking."""
    three, best = {"a": 1, "b": 1, "c": 1}, metrics.dcg_score([[2, 1]], [[2, 1]])
    ndcg = measured("nDCG@10", "axb", grades={"a": 1, "b": 2})
    hits = measured("Success@5", "xa", "xa", "xa", "x", grades={"a": 1})
    scores = [9, 6, 4, 7, 3]
    auroc = metrics.roc_auc_score([1, 1, 1, 0, 0], scores)
    return {
        "ap": [1, 3, 1, 1, 2, 3, 0, 3, measured("AP", "axb", grades=three)],
        "auroc": [*scores, auroc * 6, 6, auroc],
        "budget": [2000, 512, 2000 - 3 * 512],
        "evidence-recall": [2000, 1, 2, 1 / 2],
        "full-answer": [5, 5, 5 / 5, 2, 3, 2 / 3, 2, 5, 2 / 5],
        "gain": [2, 2, 2, 1, 2**2 - 1, 1, 2**1 - 1],
        "hit": [3, 4, 3, 4, hits],
        "ideal": [1, 2, 2, 1, 1, np.log2(3), best],
        "judged-at-k": [3, 4, measured("Judged@4", "abcx", grades=three)],
        "mrr": [1, 2, 1, 1, 2, 0, 3, measured("RR", "a", "xa", "x", grades={"a": 1})],
        "ndcg": [1, 0, 2, 1, 1, 0, 2, 2, 2, best, 2, best, ndcg],
        "precision": [2, 5, measured("P@5", "axbyz", grades=three)],
        "rank": [2, 1, 2, measured("RR", "abc", grades={"b": 1})],
        "recall": [2, 3, measured("R@5", "axbyz", grades=three)],
    }


def of_comparisons() -> dict[str, list[float]]:
    """Return the figures about intervals, tests and what chance allows."""
    three, four, ps = [0, 0.5, 1], [0.4, 0.6, 0.6, 0.8], [0.01, 0.02, 0.04]
    rng = np.random.default_rng(1)
    drawn = stats.bootstrap((three,), np.mean, method="percentile", rng=rng).confidence_interval
    exact = 0.3 * TTestPower().solve_power(nobs=36, alpha=0.05, power=0.8)
    adjusted = multipletests(ps, method="holm")[1]
    assert stats.binom.cdf(4, 10, 0.8) < 0.05  # "with 4 your ranges are too narrow"
    p = flipped(0.3, 0.2, -0.1)
    return {
        "baseline": [0.6, 0.65, 0.65 - 0.6],
        "bootstrap": [*three, 0, 0, 0.5, np.mean([0, 0, 0.5]), 95, *drawn],
        "calibration": [10, 10 * 0.8, *stats.binom.interval(0.9, 10, 0.8), 4],
        "detectable": [36, 0.3, 2.8, 0.3, 36**0.5, 2.8 * 0.3 / 6, exact],
        "holm": ps + [n for k in range(3) for n in (ps[k], 3 - k, adjusted[k])],
        "interval": [*four, np.mean(four), *stats.t.interval(0.95, 3, 0.6, stats.sem(four))],
        "p-value": [0.2, 16 * flipped(*[0.2] * 4), 2**4, 0, flipped(*[0.2] * 4)],
        "sign-flip": [0.3, 0.2, -0.1, 0.4, 0.4, -0.4, 8 * p, 2**3, p],
    }


def test_the_card_names_the_versions_that_are_installed_here():
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w-]+)==([\w.]+)", pins, re.MULTILINE))
    for name in ("ir-measures", "pytrec-eval-terrier", "scikit-learn"):
        assert f" {name} {pins[name]} " in CARD, name


def test_trec_eval_takes_the_grade_cuts_the_ideal_and_turns_ties_round():
    three = dict.fromkeys("abc", 1)
    assert measured("nDCG@1", "a", grades={"a": 1, "b": 2}) == 1 / 2  # 2^grade - 1 would give 1/3
    assert measured("nDCG@2", "ab", grades=three) == 1 > measured("nDCG", "ab", grades=three)
    assert measured("RR", "abcdefghijkl", grades={"l": 1}) == pytest.approx(1 / 12)
    assert measured("R@2", "abc", grades=three) == pytest.approx(2 / 3)
    tied = {"q": {"a": 1.0, "b": 1.0}}
    first = [ir_measures.parse_measure("R@1")]
    assert ir_measures.calc_aggregate(first, {"q": {"b": 1}}, tied) == {first[0]: 1}


def test_scikit_learn_takes_the_grade_and_lets_tied_documents_share_their_gains():
    assert metrics.ndcg_score([[1, 2]], [[2, 1]], k=1) == 1 / 2
    assert metrics.dcg_score([[1, 0]], [[1, 1]]) == pytest.approx((1 + 1 / np.log2(3)) / 2)
    with pytest.raises(ValueError, match="inconsistent|shape"):
        metrics.ndcg_score([[1, 2, 1]], [[2, 1]])


# What the figures come from: the libraries, on words and single letters.


def measured(measure: str, *ranked: str, grades: dict[str, int]) -> float:
    """Return a measure's mean over rankings of single letters, from ir_measures."""
    run = {str(n): {d: -float(rank) for rank, d in enumerate(r)} for n, r in enumerate(ranked)}
    parsed = ir_measures.parse_measure(measure)
    return ir_measures.calc_aggregate([parsed], dict.fromkeys(run, grades), run)[parsed]


def okapi(*docs: str) -> BM25Okapi:
    """Return rank_bm25's index of texts."""
    return BM25Okapi([doc.split() for doc in docs])


def added(times: int, weight: float = 1.0) -> float:
    """Return what a word adds that occurs so often in a document of average length."""
    index = okapi("w " * times + "x " * (12 - times), "y " * 12, "z " * 12)
    index.idf["w"] = weight
    return float(index.get_scores(["w"])[0])


def counted(*texts: str, **options) -> tuple[list[str], np.ndarray]:
    """Return (words, a row of counts for each text) from scikit-learn."""
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", **options)
    rows = counter.fit_transform(texts).toarray()
    return counter.get_feature_names_out().tolist(), rows


def flipped(*differences: float) -> float:
    """Return the exact p of the sign-flip test."""
    return stats.permutation_test((differences,), np.sum, permutation_type="samples").pvalue
