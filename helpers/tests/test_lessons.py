"""The form of the lessons: short cells, exercises that say what to do, predictions, pictures.

Each rule is a function that returns a line, with notebook and cell, for each place that breaks it.
Made notebooks prove that it finds them.
"""

import ast
import contextlib
import functools
import io
import math
import re

import nbformat
import pytest
from learn.small_session import code, markdown

from helpers import evalset, workbook
from helpers.learn import exercises as learn

LONGEST, LONGEST_SOLUTION, MINUTES, HINTS = 12, 20, 30, 3
MARKERS = (learn.BEGIN, learn.END)
EXAMPLE = re.compile(  # a call, and its value: code, or the number, list or pair after the last =
    r"`(\w+\([^`]*\)(?:\[[^`]*\])?)`,? (?:is|gives|returns)(?: about)? "
    r"(?:`([^`]+)`|(?:(?:(?!\. )[^`=\n])* = )?"
    r"(\([^()]*\)|\[[^\[\]]*\]|-?(?:\d*\.)?\d+(?:/\d+)?)(?![\w%])|)"
)


@functools.cache
def read(path):
    """Return a notebook; nobody changes it."""
    return nbformat.read(path, as_version=4)


# The rules.


def long_cells(name, notebook):
    """A code cell of the core path has at most 12 lines of code, one with a solution 20."""
    for cell in filter(learn.is_code, notebook.cells):
        lines = [line.strip() for line in cell.source.splitlines()]
        lines = [line for line in lines if line and line not in MARKERS]
        most = LONGEST_SOLUTION if learn.is_solution(cell) else LONGEST
        if len(lines) > most:
            yield f"{name}: cell {cell.id}: {len(lines)} lines, wanted at most {most}"


def is_numbered(exercise):
    """Return whether an exercise is none of the quick tests."""
    return bool(exercise.number)


def functions_of(cell):
    """Return the functions of a solution cell that hold a region, by name."""
    spans = learn.regions(cell)
    return {
        node.name: node
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef)
        and any(node.lineno < first <= node.end_lineno for first, _ in spans)
    }


def untold_exercises(name, notebook):
    """An exercise says what to write, by name, with an example, its plan and up to three hints."""
    for e in filter(is_numbered, learn.exercises_of(name, notebook)):
        cell = notebook.cells[e.heading]
        at, text = f"{name}: cell {cell.id}", cell.source
        text = text[learn.HEADING.search(text).end() :]
        plan = learn.PLAN.search(text)
        task = text[: plan.start()]
        for function, node in functions_of(notebook.cells[e.code]).items():
            if not re.search(rf"`{function}[(`]", task):
                yield f"{at}: no `{function}(...)` between heading and plan"
            calls = [call for call, *_ in EXAMPLE.findall(task) if call.startswith(f"{function}(")]
            if node.args.args and not calls:
                yield f"{at}: no example of {function}: `{function}(...)` is VALUE"
        if text.count("<details>") > HINTS:
            yield f"{at}: {text.count('<details>')} hints, wanted at most {HINTS}"
        if e.minutes > MINUTES:
            yield f"{at}: {e.minutes} minutes, wanted at most {MINUTES}"


def wrong_examples(name, notebook):
    """An example has the value that the session's own solution gives."""
    for e in filter(is_numbered, learn.exercises_of(name, notebook)):
        cell, space = notebook.cells[e.heading], None
        task = cell.source[: learn.PLAN.search(cell.source).start()]
        for call, quoted, plain in EXAMPLE.findall(task):
            space = space or space_of(notebook, e.code)
            said, got = quoted or plain, valued(call, space)
            if said and got is not None and not is_value(said, got, space):
                yield f"{name}: cell {cell.id}: `{call}` is {got!r}, not {said}"


def space_of(notebook, last):
    """Return the names that definitions, constants and setup cells leave behind up to a cell."""
    space = {"__name__": "__main__"}
    with contextlib.suppress(evalset.EvalSetError):
        space["evals"] = evalset.load(evalset.DEFAULT)
    for n, cell in enumerate(filter(learn.is_code, notebook.cells[: last + 1])):
        setup = n == 0 or "setup" in cell.metadata.get("tags", [])
        with contextlib.suppress(SyntaxError):  # a magic
            for node in ast.parse(cell.source).body:
                if setup or is_definition(node):
                    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(ast.Module([node], []), cell.id, "exec"), space)
    return space


def is_definition(node):
    """Return whether a statement imports, defines, or assigns what calls nothing."""
    if isinstance(node, ast.Assign):
        return not any(isinstance(part, ast.Call) for part in ast.walk(node.value))
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def valued(call, space):
    """Return what an example gives, None where it needs what only a run of the session has."""
    with contextlib.suppress(NameError, AttributeError, SyntaxError):
        return None if ", ..." in call else eval(call, space)
    return None


def is_value(said, got, space):
    """Return whether a value is what the text says, to the decimals that it says."""
    try:
        wanted = eval(said, dict(space))
    except (NameError, SyntaxError):
        return True  # words
    if isinstance(wanted, float | int) and isinstance(got, float | int):
        decimals = len(said.partition(".")[2]) if re.fullmatch(r"-?\d*\.\d+", said) else 9
        return math.isclose(wanted, got, rel_tol=0, abs_tol=0.5000001 * 10**-decimals)
    if isinstance(wanted, list | tuple) and hasattr(got, "__len__"):
        pairs = zip(wanted, got, strict=len(wanted) == len(got))
        return len(wanted) == len(got) and all(is_value(repr(w), g, space) for w, g in pairs)
    return wanted == got


def calls_in(cell):
    """Yield (function, first argument, other arguments) of the calls in a cell, by their names."""
    source = "" if cell.source.startswith("%") else cell.source
    for node in ast.walk(ast.parse(source)) if learn.is_code(cell) else ():
        if isinstance(node, ast.Call) and node.args:
            first = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            yield ast.unparse(node.func), first, [ast.unparse(a) for a in node.args[1:]]


def wrong_predictions(name, notebook):
    """A prediction is open, has its session's letter, and a truth follows it, and only then."""
    predicted, letter = set(), learn.session_letter(name).lower()
    told = set()
    for cell in notebook.cells:
        at = f"{name}: cell {cell.id}"
        for function, first, others in calls_in(cell):
            if function == "truth":
                told.add(first)
                if first not in predicted:
                    yield f"{at}: truth of {first!r}, which nothing predicts before it"
            if function == "predict":
                predicted.add(first)
                if not re.fullmatch(rf"{letter}-[a-z0-9-]+", first or ""):
                    yield f"{at}: prediction {first!r}, wanted a name such as '{letter}-longest'"
                if {*others} - {"..."} or not 1 <= len(others) <= 2:
                    yield f"{at}: prediction {first!r} is not left open, wanted dots"
    for first in sorted(predicted - told):
        yield f"{name}: no truth({first!r}, ...) after its prediction"


def silent_pictures(name, notebook):
    """A stored picture has words with at least one number, for who cannot see it."""
    for cell in filter(learn.is_code, notebook.cells):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
                if not re.search(r"\d", alt):
                    words = f"words without a number: {alt!r}" if alt else "no words"
                    yield f"{name}: cell {cell.id}: a picture with {words}"


def test_the_notebooks_keep_the_rules():
    for path in workbook.NOTEBOOKS:
        assert [*long_cells(path.name, read(path)), *silent_pictures(path.name, read(path))] == []
    for path in (*workbook.SESSIONS, *workbook.FURTHER):
        name = path.relative_to(workbook.ROOT / "notebooks").as_posix()
        assert [*untold_exercises(name, read(path))] == []
    for path in workbook.SESSIONS:
        assert [*wrong_predictions(path.name, read(path))] == []


@pytest.mark.proof  # it runs the sessions
@pytest.mark.parametrize(
    "path", [*workbook.SESSIONS, *workbook.FURTHER], ids=lambda path: path.stem
)
def test_the_examples_of_exercises_are_right(path):
    name = path.relative_to(workbook.ROOT / "notebooks").as_posix()
    assert [*wrong_examples(name, read(path))] == []


def functions_in(notebook, given):
    """Return {name: tree} of the functions that the cells tagged `given`, or the others, define."""
    cells = [
        cell
        for cell in notebook.cells
        if learn.is_code(cell) and ("given" in cell.metadata.get("tags", [])) == given
    ]
    nodes = [node for cell in cells for node in ast.parse(cell.source).body]
    return {n.name: ast.dump(n) for n in nodes if isinstance(n, ast.FunctionDef)}


def test_further_notebooks_open_alone_and_repeat_the_code_of_a_session_as_it_stands_there():
    taught = [read(session) for session in workbook.SESSIONS]
    known = {item for notebook in taught for item in functions_in(notebook, False).items()}
    wanted = r"\| \[session [ABC]\]\(\.\./session_.+\.ipynb\).* \| \d+ minutes \|"
    for path in workbook.FURTHER:
        given = functions_in(read(path), True)
        assert [name for name, code in given.items() if (name, code) not in known] == [], path
        cells = read(path).cells
        title, *_, needs = cells[0].source.strip().splitlines()
        assert title.startswith("# ") and title.endswith("?"), title
        assert re.fullmatch(wanted, needs), needs
        assert cells[1].source.startswith("import "), "nothing runs before it has what it needs"
        assert [*silent_pictures(path.name, read(path))] == []


def test_no_two_predictions_of_the_week_share_a_name():
    names = [
        first
        for path in (*workbook.SESSIONS, *workbook.FURTHER)
        for cell in read(path).cells
        for function, first, _ in calls_in(cell)
        if function == "predict"
    ]
    assert sorted(names) == sorted({*names})


# Each rule on a made session.

TASK = (
    "### Exercise: share\n\nWrite `share(a, b)`: a of all. `share(1, 3)` is 1/4 and "
    "`share(2, 4)` is about 0.33.\n\ndifficulty 1 of 3 · 10 minutes · core\n"
    + "\n<details>hint</details>\n"
    * 3
)
SOLUTION = (
    f"def share(a, b):\n    {learn.BEGIN}\n    total = a + b\n    return a / total\n    {learn.END}"
)
GOOD = {
    "a-setup": "import math\n\n\ndef unused():\n    return math.pi",
    "a-say": 'predict("a-many", ..., ...)  # your range',
    "a-shown": 'truth("a-many", 3)',
    "a-task": TASK,
    "a-solution": SOLUTION,
    "a-check": "check.share(share)",
}


def broken(rule, cell_id="a-task", old="", new="", alt="3 of 4"):
    """Return what a rule says of the good session with an edit in a cell, and a picture's words."""
    assert old in GOOD[cell_id]
    sources = GOOD | {cell_id: GOOD[cell_id].replace(old, new, 1) if old else GOOD[cell_id]}
    grading = {"a-solution": {"solution": True}, "a-check": {"grade": True, "points": 1}}
    cells = [markdown("a-head", "# Session A: words\n\n## 1. Look")]
    for name, source in sources.items():
        make = markdown if name == "a-task" else code
        cells.append(make(name, source, **grading.get(name, {})))
    words = {"image/png": {"alt": alt}}
    drawn = nbformat.v4.new_output("display_data", {"image/png": "x"}, metadata=words)
    cells[1].outputs = [drawn]
    return [*rule("session_a_words.ipynb", nbformat.v4.new_notebook(cells=cells))]


TWELVE = "\n".join(f"x = {n}" for n in range(12))
LINES = f"{learn.BEGIN}\n" + "    x = 1\n" * 8
BREAKS = [
    (long_cells, "a-setup", "import math", TWELVE, "lines, wanted at most 12"),
    (long_cells, "a-solution", learn.BEGIN + "\n", LINES, ""),  # 11 lines, markers apart
    (long_cells, "a-solution", learn.BEGIN, 3 * LINES, "lines, wanted at most 20"),
    (untold_exercises, "a-task", "Write `share(a, b)`", "Write it", ""),  # the example says it
    (untold_exercises, "a-task", "`share(1, 3)` is 1/4 and `share(2, 4)` is about 0.33.", "",
     "cell a-task: no example of share: `share(...)` is VALUE"),
    (untold_exercises, "a-task", TASK[:TASK.index("difficulty")], "### Exercise: share\n\n",
     "cell a-task: no `share(...)` between heading and plan"),
    (untold_exercises, "a-task", "10 minutes", "31 minutes", "31 minutes, wanted at most 30"),
    (untold_exercises, "a-task", "<details>", "<details>x</details><details>", "4 hints"),
    (wrong_examples, "a-task", "1/4", "1/3", "cell a-task: `share(1, 3)` is 0.25, not 1/3"),
    (wrong_examples, "a-task", "0.33", "0.34", "`share(2, 4)` is 0.333"),
    (wrong_examples, "a-task", "0.33", "`[1]`", "`share(2, 4)` is 0.333"),
    (wrong_examples, "a-task", "0.33", "2 / (2 + 4) = .34", "`share(2, 4)` is 0.333"),
    (wrong_examples, "a-task", "0.33", "2 / (2 + 4) = .33", ""),
    (wrong_examples, "a-task", "(2, 4)` is about 0.33", "(2, ...)` gives less", ""),
    (wrong_examples, "a-task", "share(2, 4)", "share(evals_of_mine, 4)", ""),
    (wrong_predictions, "a-say", "a-many", "b-many", "cell a-say: prediction 'b-many', wanted"),
    (wrong_predictions, "a-say", "a-many", "a-few", "no truth('a-few', ...) after its pred"),
    (wrong_predictions, "a-say", "a-many", "a-few", "cell a-shown: truth of 'a-many', which"),
    (wrong_predictions, "a-say", "..., ...", "3, 5", "'a-many' is not left open, wanted dots"),
    (wrong_predictions, "a-say", "..., ...", "...", ""),  # a choice
    (wrong_predictions, "a-say", ", ..., ...", "", "is not left open"),
]  # fmt: skip


def test_what_breaks_a_rule_is_named_with_its_cell():
    for rule in (long_cells, untold_exercises, wrong_examples, wrong_predictions, silent_pictures):
        assert broken(rule) == [], rule
    for rule, cell, old, new, said in BREAKS:
        lines = broken(rule, cell, old, new)
        assert any(said in line for line in lines) if said else lines == [], (rule, new, lines)
        assert all(line.startswith("session_a_words.ipynb: ") for line in lines)
    for alt, said in (("Bars", "without a number: 'Bars'"), ("", "no words")):
        (line,) = broken(silent_pictures, alt=alt)
        assert said in line


def test_a_value_is_read_as_it_is_said():
    for said, got, right in [
        ("1/3", 1 / 3, True),
        ("0.33", 1 / 3, True),
        ("0.333", 0.334, False),
        ("2", 2.01, False),
        ("[0.5, 1]", [0.5, 1.0], True),
        ("[0.5, 1]", [0.5], False),
        ('[("a", 2)]', [["a", 2]], True),
        ('"a b"', "a c", False),
        ("the first", 3, True),
    ]:
        assert is_value(said, got, {}) is right, said
