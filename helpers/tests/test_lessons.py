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

LONGEST, CELLS, MINUTES, HINTS, PREDICTIONS, DAY = 12, 61, 30, 3, 7, 180
LONGEST_SOLUTION = 20
MARKERS = (learn.BEGIN, learn.END)
PART = re.compile(r"^\| *(\d+)\. [^|]+\| *(\d+) *\|$", re.MULTILINE)
PART_HEADING = re.compile(r"^## (\d+)\. .+ \((\d+) minutes\)$", re.MULTILINE)
EXAMPLE = re.compile(  # a call, and its value: code, or the number, list or pair after the last =
    r"`(\w+\([^`]*\)(?:\[[^`]*\])?)`,? (?:is|gives|returns)(?: about)? "
    r"(?:`([^`]+)`|(?:(?:(?!\. )[^`=\n])* = )?"
    r"(\([^()]*\)|\[[^\[\]]*\]|-?(?:\d*\.)?\d+(?:/\d+)?)(?![\w%])|)"
)


@functools.cache
def read(path):
    """Return a notebook; nobody changes it."""
    return nbformat.read(path, as_version=4)


def exercises_in(name, notebook):
    """Return the exercises of the core path and beyond, without quick tests."""
    return [e for e in learn.exercises_of(name, notebook) if e.number]


# The rules.


def long_cells(name, notebook):
    """A code cell of the core path has at most 12 lines of code, one with a solution 20."""
    for cell in filter(learn.is_code, notebook.cells):
        lines = [line.strip() for line in cell.source.splitlines()]
        lines = [line for line in lines if line and line not in MARKERS]
        most = LONGEST_SOLUTION if learn.is_solution(cell) else LONGEST
        if len(lines) > most:
            yield f"{name}: cell {cell.id}: {len(lines)} lines, wanted at most {most}"


def too_many_cells(name, notebook):
    """The core path has at most 61 cells besides headings, solutions and checks of exercises."""
    own = {
        notebook.cells[index].id
        for e in learn.exercises_of(name, notebook)
        for index in (e.heading, e.code, e.check)
    }
    left = [cell for cell in notebook.cells if cell.id not in own]
    if len(left) > CELLS:
        yield f"{name}: {len(left)} cells besides those of exercises, wanted at most {CELLS}"


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
    for e in exercises_in(name, notebook):
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
    for e in exercises_in(name, notebook):
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


def wrong_minutes(name, notebook):
    """The parts of a session take 180 minutes, and each heading says what the table says."""
    table = {n: int(minutes) for n, minutes in PART.findall(notebook.cells[0].source)}
    texts = "\n\n".join(c.source for c in notebook.cells if not learn.is_code(c))
    headings = {n: int(minutes) for n, minutes in PART_HEADING.findall(texts)}
    at = f"{name}: cell {notebook.cells[0].id}"
    if sum(table.values()) != DAY:
        yield f"{at}: the parts take {sum(table.values())} minutes, wanted {DAY}"
    for n in sorted({*table, *headings}):
        if table.get(n) != headings.get(n):
            found = f"{table.get(n)} minutes in the table, {headings.get(n)} in its heading"
            yield f"{at}: part {n} has {found}"


def called_in(cell):
    """Yield (function, first argument, other arguments) of the calls in a cell, by their names."""
    source = "" if cell.source.startswith("%") else cell.source
    for node in ast.walk(ast.parse(source)) if learn.is_code(cell) else ():
        if isinstance(node, ast.Call) and node.args:
            function = ast.unparse(node.func)
            first = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            yield function, first, [ast.unparse(argument) for argument in node.args[1:]]


def wrong_predictions(name, notebook):
    """At most seven predictions, each open, introduced, with its session's letter and a truth."""
    said, shown, letter = {}, {}, learn.session_letter(name).lower()
    for n, cell in enumerate(notebook.cells):
        at = f"{name}: cell {cell.id}"
        for function, first, others in called_in(cell):
            if function == "truth":
                shown.setdefault(first, n)
            if function != "predict":
                continue
            if not re.fullmatch(rf"{letter}-[a-z0-9-]+", first or ""):
                yield f"{at}: prediction {first!r}, wanted a name such as '{letter}-longest'"
            if first in said:
                yield f"{at}: prediction {first!r} is there twice"
            if {*others} - {"..."} or not 1 <= len(others) <= 2:
                yield f"{at}: prediction {first!r} is not left open, wanted dots"
            if learn.is_code(notebook.cells[n - 1]):
                yield f"{at}: nothing says what to predict: wanted Markdown before it"
            said[first] = n
    for first, n in said.items():
        if not shown.get(first, -1) > n:
            at = f"{name}: cell {notebook.cells[n].id}"
            yield f"{at}: no truth({first!r}, ...) in a cell after it"
    for first in {*shown} - {*said}:
        cell = notebook.cells[shown[first]]
        yield f"{name}: cell {cell.id}: truth of {first!r}, which nothing predicts"
    if len(said) > PREDICTIONS:
        yield f"{name}: {len(said)} predictions, wanted at most {PREDICTIONS}"


def lacking_parts(name, notebook):
    """A session shows the week with its steps lit, and counts its predictions at its end."""
    letter, source = learn.session_letter(name), [c.source for c in notebook.cells]
    if not any(f'map_of_week("{letter}")' in cell for cell in source):
        yield f'{name}: no map_of_week("{letter}")'
    if not any("calibration()" in cell for cell in source):
        yield f"{name}: no calibration()"


def silent_pictures(name, notebook):
    """A stored picture has words with at least one number, for who cannot see it."""
    for cell in filter(learn.is_code, notebook.cells):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
                if not re.search(r"\d", alt):
                    words = f"words without a number: {alt!r}" if alt else "no words"
                    yield f"{name}: cell {cell.id}: a picture with {words}"


OF_ALL = (long_cells, silent_pictures)
OF_SESSIONS = (too_many_cells, untold_exercises, wrong_minutes, wrong_predictions, lacking_parts)


def test_the_notebooks_keep_the_rules():
    broken = [
        line
        for path in workbook.NOTEBOOKS
        for rule in OF_ALL
        for line in rule(path.name, read(path))
    ]
    for path in workbook.SESSIONS:
        for rule in OF_SESSIONS:
            broken += rule(path.name, read(path))
    for path in workbook.FURTHER:
        broken += untold_exercises(f"further/{path.name}", read(path))
    assert broken == []


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
        for function, first, _ in called_in(cell)
        if function == "predict"
    ]
    assert sorted(names) == sorted({*names})


# Each rule on made sessions.

HEAD = "# Session A: words\n\n| part | minutes |\n|---|---|\n| 1. Look | 60 |\n| 2. Count | 120 |"
TASK = (
    "### Exercise: share\n\nWrite `share(a, b)`: a of all. `share(1, 3)` is 1/4 and "
    "`share(2, 4)` is about 0.33.\n\ndifficulty 1 of 3 · 10 minutes · core\n"
    + "\n<details>hint</details>\n"
    * 3
)
SOLUTION = (
    f"def share(a, b):\n    {learn.BEGIN}\n    total = a + b\n    return a / total\n    {learn.END}"
)


def good():
    """Return the cells of a session that keeps every rule."""
    return [
        markdown("a-head", HEAD),
        code("a-setup", "import math\n\n\ndef unused():\n    return math.pi"),
        code("a-map", 'pictures.map_of_week("A")'),
        markdown("a-part1", "## 1. Look (60 minutes)\n\nHow many?"),
        code("a-say", 'predict("a-many", ..., ...)  # your range'),
        markdown("a-between", "Now count.\n\n## 2. Count (120 minutes)"),
        code("a-shown", 'truth("a-many", 3)'),
        markdown("a-task", TASK),
        code("a-solution", SOLUTION, solution=True),
        code("a-check", "check.share(share)", grade=True, points=1),
        code("a-end", "calibration()"),
    ]


def broken(rule, cell_id="a-head", old="", new="", more=()):
    """Return what a rule says of the good session with an edit in a cell, and with more cells."""
    cells = good()
    cell = next(cell for cell in cells if cell.id == cell_id)
    assert old in cell.source
    cell.source = cell.source.replace(old, new, 1) if old else cell.source
    cells[10:10] = more
    return [*rule("session_a_words.ipynb", nbformat.v4.new_notebook(cells=cells))]


def test_a_good_session_keeps_every_rule():
    for rule in (*OF_ALL, *OF_SESSIONS, wrong_examples):
        assert broken(rule) == []


TWELVE = "\n".join(f"x = {n}" for n in range(12))
LATE = [code("a-late", 'truth("a-many", 3)')]
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
    (wrong_examples, "a-task", "0.33", "(0, 1)", "`share(2, 4)` is 0.333"),
    (wrong_examples, "a-task", "(2, 4)` is about 0.33", "(2, ...)` gives less", ""),
    (wrong_examples, "a-task", "share(2, 4)", "share(evals_of_mine, 4)", ""),
    (wrong_minutes, "a-head", "| 60 |", "| 70 |", "cell a-head: the parts take 190 minutes"),
    (wrong_minutes, "a-head", "| 60 |", "| 70 |", "part 1 has 70 minutes in the table, 60 in"),
    (wrong_minutes, "a-part1", "(60 minutes)", "", "60 minutes in the table, None in its h"),
    (wrong_minutes, "a-between", "## 2.", "## 3.", "part 3 has None minutes in the table, 120"),
    (wrong_predictions, "a-say", "a-many", "b-many", "cell a-say: prediction 'b-many', wanted"),
    (wrong_predictions, "a-say", "a-many", "a-few", "cell a-say: no truth('a-few', ...) in a"),
    (wrong_predictions, "a-say", "a-many", "a-few", "cell a-shown: truth of 'a-many', which"),
    (wrong_predictions, "a-say", "..., ...", "3, 5", "'a-many' is not left open, wanted dots"),
    (wrong_predictions, "a-say", "..., ...", "...", ""),  # a choice
    (wrong_predictions, "a-say", ", ..., ...", "", "is not left open"),
    (wrong_predictions, "a-map", "pict", 'truth("a-many", 3)\npict', "no truth('a-many', ...)"),
    (wrong_predictions, "a-shown", "tr", 'predict("a-many", ...)\ntr', "is there twice"),
    (wrong_predictions, "a-map", "pict", 'predict("a-x", ...)\npict', "nothing says what to"),
    (lacking_parts, "a-map", '"A"', '"B"', 'no map_of_week("A")'),
    (lacking_parts, "a-end", "calibration", "pass", "no calibration()"),
]  # fmt: skip


def test_what_breaks_a_rule_is_named_with_its_cell():
    for rule, cell, old, new, said in BREAKS:
        lines = broken(rule, cell, old, new)
        assert any(said in line for line in lines) if said else lines == [], (rule, new, lines)
        assert all(line.startswith("session_a_words.ipynb: ") for line in lines)
    more = [markdown(f"a-more{n}", "Words.") for n in range(CELLS - 7)]
    assert broken(too_many_cells, more=more[1:]) == []
    assert "62 cells besides those of exercises" in broken(too_many_cells, more=more)[0]
    told = [
        cell
        for n in range(PREDICTIONS)
        for cell in (
            markdown(f"m{n}", "What?"),
            code(f"p{n}", f'predict("a-x{n}", ...)'),
            code(f"t{n}", f'truth("a-x{n}", 1)'),
        )
    ]
    assert broken(wrong_predictions, more=told[3:]) == []
    assert "8 predictions, wanted at most 7" in broken(wrong_predictions, more=told)[0]
    for alt, said in (("3 of 4", ""), ("Bars", "without a number: 'Bars'"), ("", "no words")):
        drawn = code("a-drawn", "draw()")
        image = {"image/png": "x"}
        metadata = {"image/png": {"alt": alt}}
        drawn.outputs = [nbformat.v4.new_output("display_data", image, metadata=metadata)]
        lines = broken(silent_pictures, more=[drawn])
        assert len(lines) == bool(said) and all(said in line for line in lines)


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
