"""The two-hour notebook runs once solved, and points at nothing that it left in the sessions."""

import ast
import re
from collections import Counter
from html import unescape
from types import SimpleNamespace

import nbformat
import pytest

from helpers.teach import copies, workbook
from helpers.teach.exercises import PLAN, is_check, is_code, read_lessons, regions

FOLDED = re.compile(r"<details.*?</details>", re.DOTALL)
ROW = re.compile(r"^\| ([^|\n]+) \| (\d+) \|$", re.MULTILINE)
ELSEWHERE = re.compile(r"\b(?:session [ABC]|part \d|last cell|tomorrow)\b", re.IGNORECASE)
ALONE = "my_causes"  # it's an answer, not a tool


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Return the two hours as a learner gets them, and solved and executed."""
    folder = tmp_path_factory.mktemp("short")
    copies.learn_command(short=True, folder=folder / "learn")
    path = folder / "learn-short" / "two_hours.ipynb"
    learner, made = nbformat.read(path, 4), nbformat.read(path, 4)
    solved = {cell.id: cell for lesson in read_lessons().values() for cell in lesson.cells}
    for cell in made.cells:
        if copies.STUB[0] in cell.source:
            cell.source = solved[cell.id].source
    nbformat.write(made, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(workbook.ROOT))
        executed = workbook.execute(path, path.parent / "evals")
    texts = [FOLDED.sub("", cell.source) for cell in learner.cells if not is_code(cell)]
    return SimpleNamespace(cells=learner.cells, executed=executed.cells, texts=texts)


def test_the_solved_two_hours_run(short):
    assert all(cell.execution_count for cell in short.executed if is_code(cell))


def test_what_a_learner_writes_is_used_outside_its_check(short):
    used, written = Counter(), set()
    for cell in short.cells:
        if not is_code(cell) or is_check(cell):
            continue
        nodes = [*ast.walk(ast.parse(cell.source))]
        used.update({node.id for node in nodes if isinstance(node, ast.Name)})
        if copies.STUB[0] in cell.source:
            written |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    assert len(written) == 6
    assert {name for name in written if not used[name]} == {ALONE}


def test_nothing_is_set_up_or_imported_twice(short):
    code = "\n".join(cell.source for cell in short.cells if is_code(cell))
    imports = [n for n in ast.parse(code).body if isinstance(n, ast.Import | ast.ImportFrom)]
    names = Counter(alias.name for node in imports for alias in node.names)
    assert max(names.values()) == 1, names
    assert code.count("evalset.load(") == code.count("figures.open_page(") == 1
    assert "map_of_week" not in code


def test_no_text_tells_of_breaks_or_of_places_that_are_not_there(short):
    *texts, end = short.texts  # where to go next
    for text in texts:
        assert not re.search(r"^\*[^*\n]+\*$", text, re.MULTILINE), text  # a break line
        assert not ELSEWHERE.search(text), text


def test_functions_and_results_that_a_text_names_stand_in_the_cells(short):
    code = "\n".join(cell.source for cell in short.cells if is_code(cell))
    named = set(re.findall(r"`(\w+)\(", "\n".join(short.texts))) - {"ln"}  # a logarithm
    assert named >= {"windows", "ndcg"}
    assert {name for name in named if f"def {name}(" not in code} == set()
    (at,) = [n for n, cell in enumerate(short.executed) if "A DCG of 1.69" in cell.source]
    assert short.executed[at - 1].outputs[0].text == "DCG 1.693\n"


def test_the_parts_of_the_title_are_the_headings_and_take_two_hours(short):
    rows = ROW.findall(short.texts[0])
    heads = re.findall(r"^## (.+)$", "\n".join(short.texts), re.MULTILINE)
    assert heads == [*(name for name, _ in rows), "The end"]
    assert sum(int(minutes) for _, minutes in rows) == 120
    assert 100 < sum(map(minutes_of, short.executed)) <= 120


def minutes_of(cell) -> float:
    """Return what a cell takes by the rule of the teaching page."""
    if not is_code(cell):
        planned = PLAN.search(cell.source) or re.search(r"\((\d+) minutes\)$", cell.source, re.M)
        return words(cell.source) / 180 + (int(planned[1]) if planned else 0)
    lines = [line for line in cell.source.splitlines() if line.strip()]
    solved = sum(last - first + 1 for first, last in regions(cell))
    minutes = (len(lines) - solved) * 4 / 60
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            minutes += 1
        else:
            shown = data.get("text/html") or data.get("text/plain") or output.get("text", "")
            minutes += words(shown) / 180
    return minutes


def words(text: str) -> int:
    """Return how many words of Markdown or HTML are in view."""
    text = re.sub(r"<style.*?</style>", "", FOLDED.sub("", text), flags=re.DOTALL)
    text = re.sub(r"<[^>]+>|\]\([^)]*\)", " ", text)
    return len(re.findall(r"\w[\w'’.,-]*", unescape(text)))
