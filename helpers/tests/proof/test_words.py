"""The words of the week: what the glossary says is right, used, and found where links point to."""

import re
from pathlib import Path

import ir_measures
import nbformat
import numpy as np
import pytest
from sklearn import metrics

from helpers.measure import evalset
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
    assert heads == sorted(heads, key=str.lower)
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
