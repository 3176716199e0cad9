"""The form of the lessons: short cells, exercises that say what to do, predictions, pictures.

Each rule is a function that yields a line, with notebook and cell, for each place that breaks it.
A made session proves that it finds them.
"""

import ast
import contextlib
import functools
import math
import re

import nbformat
import pytest
from teach.check.exercises import space_of

from helpers.teach import exercises as learn
from helpers.teach import workbook

LONGEST, LONGEST_SOLUTION, MINUTES, HINTS = 12, 20, 30, 3
TABLE = "b-published-table"  # figures of others, a set a line
EXAMPLE = re.compile(  # a call, and its value: code, or the number, list or pair after the last =
    r"`(\w+\([^`]*\)(?:\[[^`]*\])?)`,? (?:is|gives|returns)(?: about)? "
    r"(?:`([^`]+)`|(?:(?:(?!\. )[^`=\n])* = )?"
    r"(\([^()]*\)|\[[^\[\]]*\]|-?(?:\d*\.)?\d+(?:/\d+)?)(?![\w%])|)"
)
LESSONS = [*workbook.SESSIONS, *workbook.FURTHER]


@functools.cache
def read(path):
    """Return a notebook; nobody changes it."""
    return nbformat.read(path, as_version=4)


def name_of(path):
    """Return a lesson's name, such as further/x.ipynb."""
    return path.relative_to(workbook.ROOT / "notebooks").as_posix()


def long_cells(name, notebook):
    """A code cell has at most 12 lines of code, one with a solution 20; a table has its own."""
    for cell in filter(learn.is_code, notebook.cells):
        lines = [line.strip() for line in cell.source.splitlines()]
        lines = [line for line in lines if line not in ("", learn.BEGIN, learn.END)]
        most = LONGEST_SOLUTION if learn.is_solution(cell) else LONGEST
        if len(lines) > most and cell.id != TABLE:
            yield f"{name}: cell {cell.id}: {len(lines)} lines, wanted at most {most}"


def exercises(name, notebook):
    """Yield (exercise, its heading cell, the task in it) of all but the quick tests."""
    for exercise in learn.exercises_of(name, notebook):
        if exercise.number:
            cell = notebook.cells[exercise.heading]
            text = cell.source[learn.HEADING.search(cell.source).end() :]
            yield exercise, cell, text[: learn.PLAN.search(text).start()]


def untold_exercises(name, notebook):
    """An exercise says what to write, by name, with an example, its plan and up to three hints."""
    for exercise, cell, task in exercises(name, notebook):
        problems, hints = [], cell.source.count("<details>")
        for function in functions_to_write(notebook.cells[exercise.code]):
            if not re.search(rf"`{function.name}[(`]", task):
                problems.append(f"no `{function.name}(...)` between heading and plan")
            called = any(call.startswith(f"{function.name}(") for call, *_ in EXAMPLE.findall(task))
            if function.args.args and not called:
                problems.append(f"no example of {function.name}: `{function.name}(...)` is VALUE")
        if hints > HINTS:
            problems.append(f"{hints} hints, wanted at most {HINTS}")
        if exercise.minutes > MINUTES:
            problems.append(f"{exercise.minutes} minutes, wanted at most {MINUTES}")
        yield from (f"{name}: cell {cell.id}: {problem}" for problem in problems)


def functions_to_write(cell):
    """Return the functions of a solution cell that hold a region."""
    firsts = [first for first, _ in learn.regions(cell)]
    functions = [node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if any(f.lineno < n <= f.end_lineno for n in firsts)]


def wrong_examples(name, notebook):
    """An example has the value that the session's own solution gives."""
    for exercise, cell, task in exercises(name, notebook):
        examples = EXAMPLE.findall(task)
        space = space_of(notebook, exercise.code) if examples else {}
        for call, quoted, plain in examples:
            wanted = quoted or plain
            with contextlib.suppress(NameError, AttributeError, SyntaxError):  # needs a whole run
                value = ... if ", ..." in call else eval(call, space)
                if wanted and value is not ... and not is_value(wanted, value, space):
                    yield f"{name}: cell {cell.id}: `{call}` is {value!r}, not {wanted}"


def is_value(text, value, space):
    """Return whether a value is what the text says, to the decimals that it says."""
    try:
        wanted = eval(text, dict(space))
    except (NameError, SyntaxError):
        return True  # words
    if isinstance(wanted, float | int) and isinstance(value, float | int):
        decimals = len(text.partition(".")[2]) if re.fullmatch(r"-?\d*\.\d+", text) else 9
        return math.isclose(wanted, value, rel_tol=0, abs_tol=0.5000001 * 10**-decimals)
    if isinstance(wanted, list | tuple) and hasattr(value, "__len__"):
        pairs = zip(wanted, value, strict=False)
        return len(wanted) == len(value) and all(is_value(repr(w), v, space) for w, v in pairs)
    return wanted == value


def calls_in(cell):
    """Yield (function, first argument, other arguments) of the calls in a cell, by their names."""
    source = "" if cell.source.startswith("%") else cell.source
    for node in ast.walk(ast.parse(source)) if learn.is_code(cell) else ():
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            yield ast.unparse(node.func), first, [ast.unparse(a) for a in node.args[1:]]


def wrong_predictions(name, notebook):
    """A prediction is open, has its session's letter, and a truth follows it, and only then."""
    predicted, shown, letter = set(), set(), learn.session_letter(name).lower()
    for cell in notebook.cells:
        place = f"{name}: cell {cell.id}"
        for function, first, others in calls_in(cell):
            if function == "truth":
                shown.add(first)
                if first not in predicted:
                    yield f"{place}: truth of {first!r}, which nothing predicts before it"
            if function == "predict":
                predicted.add(first)
                if not re.fullmatch(rf"{letter}-[a-z0-9-]+", first or ""):
                    yield f"{place}: prediction {first!r}, wanted a name such as '{letter}-longest'"
                if {*others} - {"..."} or not 1 <= len(others) <= 2:
                    yield f"{place}: prediction {first!r} is not left open, wanted dots"
    for first in sorted(predicted - shown):
        yield f"{name}: no truth({first!r}, ...) after its prediction"


def silent_pictures(name, notebook):
    """A stored picture has words with at least one number, for who cannot see it."""
    for cell in filter(learn.is_code, notebook.cells):
        for output in cell.outputs:
            alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
            if "image/png" in output.get("data", {}) and not re.search(r"\d", alt):
                yield f"{name}: cell {cell.id}: a picture without a number in its words: {alt!r}"


def test_the_notebooks_keep_the_rules():
    rules = dict.fromkeys((long_cells, untold_exercises, silent_pictures), LESSONS)
    rules |= {wrong_predictions: workbook.SESSIONS}
    broken = [s for rule, paths in rules.items() for p in paths for s in rule(name_of(p), read(p))]
    calls = [call for path in LESSONS for cell in read(path).cells for call in calls_in(cell)]
    names = [first for function, first, _ in calls if function == "predict"]
    broken += [f"{name}: predicted twice" for name in {*names} if names.count(name) > 1]
    page = read(workbook.WRITE_UP)
    assert [*broken, *long_cells("write-up", page), *silent_pictures("write-up", page)] == []


def test_exercises_are_numbered_in_the_order_of_a_session_and_no_number_stands_twice():
    numbers = []
    for path in LESSONS:
        found = [e.number for e, *_ in exercises(name_of(path), read(path))]
        if path in workbook.SESSIONS:
            letter = learn.session_letter(path.name)
            assert found == [f"{letter}{n}" for n, _ in enumerate(found, 1)], path.name
        numbers += found
    assert [n for n in {*numbers} if numbers.count(n) > 1] == []


@pytest.mark.proof  # it runs the sessions
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_examples_of_exercises_are_right(path):
    assert [*wrong_examples(name_of(path), read(path))] == []


def functions_in(notebook, given):
    """Return (name, tree) of the functions that the cells tagged `given`, or the others, define."""
    found = set()
    for cell in filter(learn.is_code, notebook.cells):
        if ("given" in cell.metadata.get("tags", [])) == given:
            nodes = ast.parse(cell.source).body
            found |= {(n.name, ast.dump(n)) for n in nodes if isinstance(n, ast.FunctionDef)}
    return found


def test_further_notebooks_open_alone_and_repeat_the_code_of_a_session_as_it_stands_there():
    taught = set().union(*(functions_in(read(session), False) for session in workbook.SESSIONS))
    wanted = r"\| \[session [ABC]\]\(\.\./session_.+\.ipynb\).* \| \d+ minutes \|"
    for path in workbook.FURTHER:
        assert {name for name, _ in functions_in(read(path), True) - taught} == set(), path
        cells = read(path).cells
        title, *_, needs = cells[0].source.strip().splitlines()
        assert title.startswith("# ") and title.endswith("?"), title
        assert re.fullmatch(wanted, needs), needs
        assert cells[1].source.startswith("import "), "nothing runs before it has what it needs"


def test_the_trap_lab_begins_with_its_picture_and_folds_what_that_needs():
    lab = next(path for path in workbook.FURTHER if path.stem == "trap_lab")
    _, *cells = filter(learn.is_code, read(lab).cells)
    shown = next(n for n, cell in enumerate(cells) if "figures.show(" in cell.source)
    folded = [cell.metadata.get("jupyter", {}).get("source_hidden") for cell in cells[: shown + 1]]
    assert folded == [True] * len(folded)
