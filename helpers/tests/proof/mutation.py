"""Wrong edits of Python source, a few of each node of its tree, and a seeded sample of them.

The tools to be had (mutmut, cosmic-ray) mutate modules that an import finds. These edits are made
in files, so that the cells of a notebook are among them.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import nbformat

PAIRS = [(ast.Eq, ast.NotEq), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.In, ast.NotIn)]
PAIRS += [(ast.Is, ast.IsNot)]
OPPOSITE = dict(PAIRS) | {second: first for first, second in PAIRS}
EDGE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
ARITHMETIC |= dict.fromkeys((ast.FloorDiv, ast.Mod, ast.Pow), ast.Mult)
ARITHMETIC |= {ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr}
OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any"}
DROPPED = "sorted set frozenset abs int float str round reversed".split()
DROPPED_METHODS = "strip rstrip lstrip lower upper casefold copy resolve".split()
SYMMETRIC = ("min", "max", "math.isclose")  # the order of two arguments says nothing
DEFAULTS = {ast.List: "[]", ast.ListComp: "[]", ast.Dict: "{}", ast.DictComp: "{}"}
DEFAULTS |= {ast.JoinedStr: '""', ast.BinOp: "0", ast.Compare: "False", ast.BoolOp: "False"}
PROSE = ("help", "description", "epilog", "metavar")  # arguments of argparse
GUARD = "strict"  # zip(..., strict=True) ends on a bug elsewhere: no edit changes what it gives


class Edit(NamedTuple):
    """Bytes `start` to `end` of a file or a cell become `new`; `before` and `after` show it."""

    file: str
    cell: str
    line: int
    kind: str
    start: int
    end: int
    new: str
    before: str
    after: str


def wrong(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield (kind, what to replace, new text) for each wrong edit of a node."""
    match node:
        case ast.Compare():
            for n, op in enumerate(node.ops):
                for other in filter(None, (OPPOSITE[type(op)], EDGE.get(type(op)))):
                    ops = [*node.ops[:n], other(), *node.ops[n + 1 :]]
                    yield "comparison", node, unparsed(node, ops=ops)
        case ast.BoolOp():
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield "condition", node, unparsed(node, op=other())
        case ast.UnaryOp(op=ast.Not()):
            yield "condition", node, ast.unparse(node.operand)
        case ast.If() | ast.IfExp() | ast.While():
            yield "condition", node.test, "False"
            if not isinstance(node, ast.While):
                yield "condition", node.test, "True"
        case ast.comprehension():
            for test in node.ifs:
                yield "condition", test, "True"
        case ast.Constant() | ast.Slice():
            yield from of_constant(node)
        case ast.BinOp(left=left, right=right) if not (is_text(left) or is_text(right)):
            if type(node.op) in ARITHMETIC:
                yield "arithmetic", node, unparsed(node, op=ARITHMETIC[type(node.op)]())
        case ast.AugAssign(op=ast.Add() | ast.Sub()):
            yield "arithmetic", node, unparsed(node, op=ARITHMETIC[type(node.op)]())
        case ast.Return(value=ast.AST() as value):
            yield "return", value, DEFAULTS.get(type(value), "None")
        case ast.Raise() | ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield "removed", node, "pass"
        case ast.Call():
            yield from of_call(node)


def of_constant(node: ast.Constant | ast.Slice) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the edits of a value that stands in the code, or of the ends of a slice."""
    match node:
        case ast.Constant(value=bool() as value):
            yield "constant", node, str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", node, str(value + 1)
        case ast.Constant(value=float() as value):
            yield "constant", node, str(value * 2 or 1.0)
        case ast.Constant(value=str() as value) if not {" ", "\n"} & {*value}:
            yield "constant", node, repr(value + "x")
        case ast.Slice():
            yield from (("constant", part, "") for part in (node.lower, node.upper) if part)


def of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the edits of a call: another function, no call, two arguments in the other order."""
    name, plain = ast.unparse(node.func), not any(isinstance(a, ast.Starred) for a in node.args)
    if name in OTHER_NAME:
        yield "comparison", node.func, OTHER_NAME[name]
    if name in DROPPED and len(node.args) == 1 and plain:
        yield "removed", node, f"({ast.unparse(node.args[0])})"
    if isinstance(node.func, ast.Attribute) and node.func.attr in DROPPED_METHODS and not node.args:
        yield "removed", node, ast.unparse(node.func.value)
    if len(node.args) > 1 and plain and name not in SYMMETRIC:
        first, second, *rest = node.args
        yield "swapped", node, unparsed(node, args=[second, first, *rest])


def unparsed(node: ast.AST, **changed) -> str:
    """Return the source of a node with other fields."""
    return ast.unparse(type(node)(**dict(ast.iter_fields(node)) | changed))


def is_text(node: ast.AST) -> bool:
    """Return whether a node is a text: one minus another fails wherever it is reached."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is below a node, but for imports, annotations, docstrings, `__all__` and prose.

    F-strings are left alone too: until Python 3.12 their parts don't say where they stand.
    """
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            match child:
                case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Expr(ast.Constant()):
                    continue
                case ast.keyword(arg=arg) if arg in PROSE or arg == GUARD:
                    continue
                case ast.Assign(targets=[ast.Name(id="__all__")]):
                    continue
                case ast.AST() if name not in ("annotation", "returns"):
                    yield child
                    yield from nodes(child)


def edits_of(file: str, text: str, cell: str = "") -> Iterator[Edit]:
    """Yield the wrong edits of one file or one cell."""
    data, seen = text.encode(), set()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in nodes(ast.parse(text)):
        for kind, place, new in wrong(node):
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[place.end_lineno - 1] + place.end_col_offset
            first, last = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
            last = len(data) if last < 0 else last
            before, after = data[first:last], data[first:start] + new.encode() + data[end:last]
            shown = [" ".join(part.decode().split()) for part in (before, after)]
            if shown[0] != shown[1] and (start, end, new) not in seen:
                seen.add((start, end, new))
                yield Edit(file, cell, place.lineno, kind, start, end, new, *shown)


def apply(text: str, edit: Edit) -> str:
    """Return the text with the edit made."""
    data = text.encode()
    return (data[: edit.start] + edit.new.encode() + data[edit.end :]).decode()


# Where the edits are made, and which are drawn.


def cells_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of a lesson's code cells; no check, no setup, no code that was given."""
    for cell in nbformat.read(path, as_version=4).cells:
        is_call = cell.source.lstrip().startswith(("check.", "%", "!"))
        is_given = cell.id.endswith("-setup") or "given" in cell.metadata.get("tags", [])
        if cell.cell_type == "code" and not (is_call or is_given):
            yield cell.id, cell.source


def room_of(file: str) -> str:
    """Return the room of a file: a flat module, a wing, check, or sessions."""
    parts = Path(file).parts
    if parts[0] == "notebooks":
        return "sessions" if file.endswith(".ipynb") else "check"
    return parts[1] if len(parts) > 2 else Path(file).stem


def all_edits(root: Path) -> list[Edit]:
    """Return every wrong edit of the helpers, the checks and the lessons."""
    lessons = root / "notebooks"
    paths = [*(root / "helpers").rglob("*.py"), *(lessons / "check").glob("*.py")]
    paths += [*lessons.glob("session_*.ipynb"), *(lessons / "further").glob("*.ipynb")]
    edits = []
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if path.suffix == ".ipynb":
            for cell, text in cells_of(path):
                edits += edits_of(name, text, cell)
        elif not name.startswith("helpers/tests/"):
            edits += edits_of(name, path.read_text(encoding="utf-8"))
    return edits


def text_of(root: Path, edit: Edit) -> str:
    """Return the text that an edit is made in: a file's, or a cell's."""
    path = root / edit.file
    return dict(cells_of(path))[edit.cell] if edit.cell else path.read_text(encoding="utf-8")


def sample(root: Path, edits: list[Edit], n: int, seed: int) -> list[Edit]:
    """Return `n` edits, the same for a seed; a change elsewhere in the code leaves most of them.

    Each edit draws the hash of its own text, and the lowest hashes are taken.
    """
    count = Counter()

    def drawn(edit: Edit) -> str:
        key = (seed, edit.file, edit.cell, edit.before, edit.after)
        count[key] += 1
        return hashlib.sha256(repr((key, count[key])).encode()).hexdigest()

    def is_other_python(edit: Edit) -> bool:
        text = text_of(root, edit)
        try:
            return ast.dump(ast.parse(apply(text, edit))) != ast.dump(ast.parse(text))
        except SyntaxError:
            return False

    return list(islice(filter(is_other_python, sorted(edits, key=drawn)), n))
