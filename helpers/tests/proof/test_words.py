"""The words of the week: what the glossary says is right, used, and found where links point to."""

import math
import re
from itertools import permutations
from pathlib import Path

import nbformat
import numpy as np

from helpers import evalset
from helpers.learn import exercises

ROOT = evalset.DEFAULT.parent
SESSIONS = sorted((ROOT / "notebooks").glob("session_*.ipynb"))
FURTHER = sorted((ROOT / "notebooks" / "further").glob("*.ipynb"))
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "notebooks").glob("*.md")),
    ROOT / "notebooks" / "further" / "README.md",
    *sorted(evalset.DEFAULT.glob("*.md")),
    *SESSIONS,
    *FURTHER,
    evalset.DEFAULT / "retrieval_eval.ipynb",
]
TERMS = """
    ac1 ap auroc baseline bm25 bootstrap budget calibration chunk coverage dense detectable
    dev-and-test document evidence evidence-recall failure-card gain grade hard-negative
    head-and-tail hit holm hybrid ideal idf interval inverted-index judged-at-k judgment k1-and-b
    kappa label leak lexical mrr ndcg near-duplicate overlap overlap-of-chunks p-value pool
    precision qrels query rank ranking recall relevance rerank run sign-flip split term-frequency
    tie token word
""".split()
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
    page = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    return {slug(found["head"]): found.groupdict() for found in ENTRY.finditer(page)}


def sources() -> dict[str, str]:
    """Return everything that may link to the glossary, by path: pages, cells, code, templates."""
    rooms = [p for p in (ROOT / "helpers").rglob("*.*") if p.suffix in (".py", ".md", ".html")]
    own = Path(__file__).resolve()
    paths = [*PAGES, *(p for p in rooms if p.resolve() != own)]
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in paths}


# The glossary as a page.


def test_the_glossary_has_each_term_once_in_order():
    page = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert [*glossary()] == [slug(head) for head in heads]  # each has all its parts
    assert heads == sorted(heads, key=str.lower) and sorted({*map(slug, heads)}) == sorted(TERMS)
    named = re.findall(r'^<a id="(.+)"></a>\n\n## (.+)$', page, re.MULTILINE)
    assert named == [(slug(head), head) for head in heads if head != head.lower()]


def test_every_entry_is_short_and_has_a_number():
    for anchor, entry in glossary().items():
        assert len(entry["line"].split()) <= 65, anchor
        assert len(entry["example"].split()) <= 65, anchor
        assert FIGURE.search(entry["example"]), anchor


def test_the_index_names_each_term_in_the_session_of_its_entry():
    page = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:([ABC]), .+?|beyond the week) \| (.+) \|$", page, re.MULTILINE)
    listed = {a: session for session, row in rows for a in re.findall(r"\]\(#(.+?)\)", row)}
    assert listed == {anchor: entry["session"] or "" for anchor, entry in glossary().items()}
    assert len(rows) == 4 and page.split("## ")[0].count("](#") == len(listed)


def test_the_parts_that_entries_name_exist():
    for path in SESSIONS:
        letter = path.stem.split("_")[1].upper()
        text = "\n".join(cells_of(path))
        for anchor, entry in glossary().items():
            if entry["session"] == letter:
                aim = rf"^## {entry['place'].removeprefix('part ')}\. "
                assert re.search(aim, text, re.MULTILINE), f"{anchor}: {path.name} has no {aim}"


def test_the_further_notebooks_that_entries_name_ask_that_and_link_the_term():
    for anchor, entry in glossary().items():
        if entry["further"]:
            text = "\n".join(cells_of(ROOT / "notebooks" / entry["further"]))
            assert text.startswith(f"# {entry['question']}\n"), anchor
            assert f"../glossary.md#{anchor})" in text, anchor


# The page for who teaches.


def parts_of(path: Path) -> list[str]:
    """Return the rows of the table of minutes for a session, from its headings."""
    letter, text = exercises.session_letter(path.name), "\n".join(cells_of(path))
    return [f"| {letter} | {name} | {minutes} |" for name, minutes in PART.findall(text)]


def test_the_minutes_of_the_teaching_page_are_those_of_the_sessions():
    page = (ROOT / "notebooks" / "teaching.md").read_text(encoding="utf-8")
    wanted = [row for path in SESSIONS for row in parts_of(path)]
    assert re.findall(r"^\| [ABC] \| .+$", page, re.MULTILINE) == wanted, "\n".join(wanted)


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
    page = (ROOT / "notebooks" / "teaching.md").read_text(encoding="utf-8")
    table = re.search(r"^\| family .+?\n\n", page, re.MULTILINE | re.DOTALL)[0]
    rows = [row.split("|")[2] for row in table.strip().splitlines()[2:]]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    known = {
        e.grade_id: notebook.cells[e.code].source
        for name, notebook in exercises.lessons().items()
        for e in exercises.exercises_of(name, notebook)
    }
    written = "\n".join(known.values())
    assert len(named) > 15 and sorted(n for n in named if f"def {n}(" not in written) == []


def test_the_figures_of_the_warm_ups_are_right():
    page = (ROOT / "notebooks" / "teaching.md").read_text(encoding="utf-8")
    for order in re.findall(r"\((\d(?:, \d){4}):", page):
        grades = dict(zip("abcde", map(int, order.split(", ")), strict=True))
        assert agrees(measured("nDCG@10", "abcde", grades=grades), ".67"), order
    rows = [(1, 0, 0, 0, 2), (0, 2, 1, 0, 0)]
    first, second = (
        measured("RR", "abcde", grades=dict(zip("abcde", row, strict=True))) for row in rows
    )
    lowest = min(
        measured("nDCG@10", "abcde", grades=dict(zip("abcde", order, strict=True)))
        for order in permutations([2, 1, 0, 0, 0])
        if order[0]
    )
    assert agrees(lowest, ".67") and flipped(0.4, 0.3, 0.2, -0.1) == 4 / 16


# Links to the glossary; test_statements has the others.


def test_every_link_to_the_glossary_names_a_term():
    known, wrong = glossary(), []
    for where, page in sources().items():
        found = re.findall(r"glossary\.md#([\w-]+)", page)
        wrong += [f"{where}: {anchor}" for anchor in found if anchor not in known]
    assert wrong == []


def test_every_term_is_linked_from_a_notebook():
    texts = "\n".join(page for path in [*SESSIONS, *FURTHER, PAGES[-1]] for page in cells_of(path))
    used = set(re.findall(r"glossary\.md#([\w-]+)", texts))
    assert sorted({*glossary()} - used) == []


# Numbers. First the sums that an example writes out, then all its figures, by other code.


def worked(example: str) -> list[tuple[str, float, str]]:
    """Return (sum, its value, the figure beside it) of each equation of an example."""
    found = []
    for left, right in EQUATION.findall(example):
        if re.search(r"[+×/−²(]", left[1:]):
            sums = re.sub("|".join(map(re.escape, SIGNS)), lambda sign: SIGNS[sign[0]], left)
            found.append((left, float(eval(sums, {"math": math})), right))
    return found


def agrees(value: float, figure: str) -> bool:
    """Return whether a value, rounded like the figure, is the figure."""
    plain = figure.replace("−", "-").replace(",", "")
    places = len(plain.partition(".")[2])
    return abs(value - float(plain)) <= 0.5 * 10**-places + 1e-12


def test_sums_are_right():
    total = 0
    for anchor, entry in glossary().items():
        for left, value, figure in worked(entry["example"]):
            assert agrees(value, figure), f"{anchor}: {left} = {figure}, found {value}"
            total += 1
    assert total >= 30


def measured(measure: str, *ranked: str, grades: dict[str, int]) -> float:
    """Return a measure's mean over rankings of single letters, from ir_measures."""
    import ir_measures

    run = {str(n): {d: -float(rank) for rank, d in enumerate(r)} for n, r in enumerate(ranked)}
    aim = ir_measures.parse_measure(measure)
    return ir_measures.calc_aggregate([aim], dict.fromkeys(run, grades), run)[aim]


def okapi(*docs: str):
    from rank_bm25 import BM25Okapi

    return BM25Okapi([doc.split() for doc in docs])


def added(times: int, weight: float = 1.0) -> float:
    """Return what a word adds that occurs so often in a document of average length."""
    index = okapi("w " * times + "x " * (12 - times), "y " * 12, "z " * 12)
    index.idf["w"] = weight
    return float(index.get_scores(["w"])[0])


def counted(*texts: str, **options):
    """Return (words, a row of counts for each text) from scikit-learn."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", **options)
    rows = counter.fit_transform(texts).toarray()
    return counter.get_feature_names_out().tolist(), rows


def of_ac1() -> list[float]:
    from sklearn.metrics import cohen_kappa_score, confusion_matrix

    first, second = [0] * 95 + [1] * 2 + [0] * 3, [0] * 97 + [1] * 3
    table = confusion_matrix(first, second) / 100
    zero, one = (table.sum(0) + table.sum(1)) / 2
    (equal, chance), by_kappa = (np.trace(table), 2 * zero * one), cohen_kappa_score(first, second)
    shares = [1, 5, 200, one, one, zero, zero, one, chance]
    sums = [equal, chance, 1, chance, (equal - chance) / (1 - chance), by_kappa]
    return [100, 0, 95, 1, *shares, *sums]


def of_agreement() -> list[float]:
    from sklearn.metrics import cohen_kappa_score

    first, second = [1] * 5 + [0] * 5, [1] * 4 + [0, 1] + [0] * 4
    equal, half = np.mean(np.equal(first, second)), np.mean(first)
    chance = half * np.mean(second) + (1 - half) * (1 - np.mean(second))
    sums = [half, half, half, half, chance, equal, chance, 1, chance]
    return [1, 0, equal, 1, *sums, cohen_kappa_score(first, second)]


def of_auroc() -> list[float]:
    from sklearn.metrics import roc_auc_score

    found, others = [9, 6, 4], [7, 3]
    area = roc_auc_score([1, 1, 1, 0, 0], found + others)
    return [*found, *others, area * 6, 6, area]


def of_bootstrap() -> list[float]:
    from scipy.stats import bootstrap

    three = [0, 0.5, 1]
    found = bootstrap((three,), np.mean, method="percentile", rng=np.random.default_rng(1))
    return [*three, 0, 0, 0.5, np.mean([0, 0, 0.5]), 95, *found.confidence_interval]


def of_calibration() -> list[float]:
    from scipy.stats import binom

    low, high = binom.interval(0.9, 10, 0.8)
    assert binom.cdf(4, 10, 0.8) < 0.05
    return [10, 10 * 0.8, low, high, 4]


def of_chunk() -> list[float]:
    starts = [n for n in range(0, 1200, 512 - 50) if n == 0 or n + 50 < 1200]
    edges = [edge for start in starts for edge in (start, min(start + 512, 1200))]
    return [1200, 512, 50, *edges]


def of_dense() -> list[float]:
    from sklearn.metrics.pairwise import cosine_similarity

    vectors = [[1, 0], [0.8, 0.6], [0, 1]]
    return [*np.ravel(vectors), *cosine_similarity(vectors[:1], vectors[1:])[0]]


def of_detectable() -> list[float]:
    from statsmodels.stats.power import TTestPower

    effect = TTestPower().solve_power(nobs=36, alpha=0.05, power=0.8)
    return [36, 0.3, 2.8, 0.3, 36**0.5, 2.8 * 0.3 / 6, 0.3 * effect]


def of_holm() -> list[float]:
    from statsmodels.stats.multitest import multipletests

    ps = [0.01, 0.02, 0.04]
    found = multipletests(ps, method="holm")[1]
    return ps + [n for k in range(3) for n in (ps[k], 3 - k, found[k])]


def of_ideal() -> list[float]:
    from sklearn.metrics import dcg_score

    return [1, 2, 2, 1, 1, np.log2(3), dcg_score([[2, 1]], [[2, 1]])]


def of_ndcg() -> list[float]:
    best, value = of_ideal()[-1], measured("nDCG@10", "axb", grades={"a": 1, "b": 2})
    return [1, 0, 2, 1, 1, 0, 2, 2, 2, best, 2, best, value]


def of_idf() -> list[float]:
    ten = okapi("slipway the", *["the"] * 4, *(f"w{n}" for n in range(5)))
    rare, common = ten.idf["slipway"], ten.idf["the"]
    return [10, 1, 9.5, 1.5, rare, sum("the" in d for d in ten.doc_freqs), 10, 5.5, 5.5, common]


def of_interval() -> list[float]:
    from scipy import stats

    of = [0.4, 0.6, 0.6, 0.8]
    return [*of, np.mean(of), *stats.t.interval(0.95, 3, np.mean(of), stats.sem(of))]


def of_lists() -> list[float]:
    words, rows = counted("disk full on the log disk", "queue full", "deploy failed")
    lists = [
        np.flatnonzero(rows[:, words.index(w)]) + 1 for w in "disk full queue deploy failed".split()
    ]
    read = {int(n) for n in np.concatenate(lists[:2])}
    return [*np.concatenate(lists), 2, *({1, 2, 3} - read)]


def of_near() -> list[float]:
    from sklearn.metrics import jaccard_score

    runs, rows = counted("check the red light", "check the green light", ngram_range=(2, 2))
    return [rows.all(axis=0).sum(), len(runs), jaccard_score(*rows)]


def of_overlap() -> list[float]:
    words, rows = counted("restore old backup", "Restore a backup with vault.")
    shared = (rows.min(axis=0) > 0).sum()
    return [shared, rows[0].sum(), shared / rows[0].sum()]


def flipped(*differences: float) -> float:
    from scipy.stats import permutation_test

    return permutation_test((differences,), np.sum, permutation_type="samples").pvalue


def of_groups() -> list[float]:
    from scipy.sparse.csgraph import connected_components

    shared = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    return [connected_components(shared)[0]]


def of_tokens() -> list[float]:
    from helpers import text

    ids = text.encoding().encode("slipway rollback")  # tiktoken's own
    pieces = ", ".join(text.encoding().decode([token]).strip() for token in ids)
    assert pieces in glossary()["token"]["example"]
    return [len(counted("slipway rollback")[0]), len(ids)]


THREE = {"a": 1, "b": 1, "c": 1}
NUMBERS = {  # by anchor: all figures of the example, in order
    "ac1": of_ac1,
    "ap": lambda: [1, 3, 1, 1, 2, 3, 0, 3, measured("AP", "axb", grades=THREE)],
    "auroc": of_auroc,
    "baseline": lambda: [0.6, 0.65, 0.65 - 0.6],
    "bm25": lambda: [1.5, 1.5, 1.5, 2, 2.5, 2, 1.5, added(2, 1.5)],
    "bootstrap": of_bootstrap,
    "budget": lambda: [2000, 512, 2000 - 3 * 512],
    "calibration": of_calibration,
    "chunk": of_chunk,
    "coverage": lambda: [3, 4, len({"runbook", "faq", "ticket"}) / 4],
    "dense": of_dense,
    "detectable": of_detectable,
    "document": lambda: [3],
    "dev-and-test": lambda: [90, 30, 90 - 30, 30, 90 - 30],
    "evidence": lambda: [2, 30, len(counted("Application logs are kept for 30 days.")[0])],
    "evidence-recall": lambda: [2000, 1, 2, 1 / 2],
    "failure-card": lambda: [2.1, 1.8, 0, 2.1, 2.1 + 1.8],
    "gain": lambda: [2, 2, 2, 1, 2**2 - 1, 1, 2**1 - 1],
    "grade": lambda: [2, 1, 0],
    "hard-negative": lambda: [2, 0, 0, 1, 0, [2, 0, 0, 1, 0].count(0), 0],
    "head-and-tail": lambda: [100, 60, 100 - 60, 60, 10, 10 + 40, 100 * 10 / 50],
    "hit": lambda: [3, 4, 3, 4, measured("Success@5", "xa", "xa", "xa", "x", grades={"a": 1})],
    "holm": of_holm,
    "hybrid": lambda: [1, 3, 1, 60 + 1, 1, 60 + 3, 1 / 61 + 1 / 63, 1, 1 / 61],
    "ideal": of_ideal,
    "idf": of_idf,
    "interval": of_interval,
    "inverted-index": of_lists,
    "judged-at-k": lambda: [3, 4, measured("Judged@4", "abcx", grades=THREE)],
    "judgment": lambda: [2],
    "k1-and-b": lambda: [1.5, added(1), 10, 2.5, 11.5, added(10), 1.5 + 1, 0],
    "kappa": of_agreement,
    "label": lambda: [10, 3 * 10, 3 * 10],
    "leak": lambda: [1],
    "lexical": lambda: [(counted("reboot host", "restart the server")[1].min(axis=0) > 0).sum()],
    "mrr": lambda: [1, 2, 1, 1, 2, 0, 3, measured("RR", "a", "xa", "x", grades={"a": 1})],
    "ndcg": of_ndcg,
    "near-duplicate": of_near,
    "overlap": of_overlap,
    "overlap-of-chunks": lambda: [512, 50, 512, 50, of_chunk()[5]],
    "p-value": lambda: [0.2, 16 * flipped(*[0.2] * 4), 2**4, 0, flipped(*[0.2] * 4)],
    "pool": lambda: [1, 2, 2, len({*"abc"[:2], *"bea"[:2]})],
    "precision": lambda: [2, 5, measured("P@5", "axbyz", grades=THREE)],
    "qrels": lambda: [0, 2, 4, 0],
    "query": lambda: [len(counted("roll back checkout after a bad deploy")[0])],
    "rank": lambda: [2, 1, 2, measured("RR", "abc", grades={"b": 1})],
    "ranking": lambda: [4.2, 3.1, 0.4],
    "recall": lambda: [2, 3, measured("R@5", "axbyz", grades=THREE)],
    "relevance": lambda: [2, 2, 0],
    "rerank": lambda: [0.9, 0.9],
    "run": lambda: [3, 100, 3 * 100],
    "sign-flip": lambda: (
        [0.3, 0.2, -0.1, 0.4, 0.4, -0.4]
        + [8 * flipped(0.3, 0.2, -0.1), 2**3, flipped(0.3, 0.2, -0.1)]
    ),
    "split": of_groups,
    "term-frequency": lambda: [okapi("disk full on the log disk").doc_freqs[0]["disk"]],
    "tie": lambda: [4.2, 4.2, 3],
    "token": of_tokens,
    "word": lambda: [len(counted("checkout-api")[0])],
}


def test_figures_are_right():
    wrong = {}
    for anchor in TERMS:
        figures, found = FIGURE.findall(glossary()[anchor]["example"]), NUMBERS[anchor]()
        if len(found) != len(figures) or not all(map(agrees, found, figures)):
            wrong[anchor] = found, figures
    assert wrong == {}
