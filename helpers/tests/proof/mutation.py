"""Systematic wrong edits: what each operator changes in Python source, and a seeded sample of them.

The runner is our own because no kept tool fits: mutmut and cosmic-ray mutate modules that an
import finds and choose tests in their own process, so neither mutates the cells of a notebook nor
knows which lines a kernel or another subprocess of a test has reached.
"""

import ast
import hashlib
import math
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import nbformat

NEGATED = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
}
MOVED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
}
OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any"}
DROPPED = {"sorted", "set", "frozenset", "abs", "int", "float", "str", "round", "reversed"}
DROPPED_METHODS = {"strip", "rstrip", "lstrip", "lower", "upper", "casefold", "copy", "resolve"}
PROSE = {"help", "description", "epilog", "metavar"}  # arguments of argparse
SYMMETRIC = {"min", "max", "math.isclose"}  # the order of two arguments says nothing


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


class Source:
    """Python text with its tree, its parents and the places of its nodes."""

    def __init__(self, text: str) -> None:
        self.data, self.tree = text.encode(), ast.parse(text)
        self.starts = [0, *(match.end() for match in re.finditer(b"\n", self.data))]
        self.parents = {c: n for n in ast.walk(self.tree) for c in ast.iter_child_nodes(n)}

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node starts and ends, in bytes."""
        first = self.starts[node.lineno - 1] + node.col_offset
        return first, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        return self.data[slice(*self.span(node))].decode(errors="replace")

    def gap(self, left: ast.AST, right: ast.AST, pattern: str) -> tuple[int, int] | None:
        """Return where the one operator between two nodes stands."""
        first, last = self.span(left)[1], self.span(right)[0]
        edge = r"\b" if pattern[0].isalpha() else ""
        found = [
            *re.finditer(
                f"{edge}{pattern if edge else re.escape(pattern)}{edge}".encode(),
                self.data[first:last],
            )
        ]
        return (first + found[0].start(), first + found[0].end()) if len(found) == 1 else None

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield (child, parent) from `node` to the root."""
        while node in self.parents:
            yield node, self.parents[node]
            node = self.parents[node]


def is_left_alone(source: Source, node: ast.AST) -> bool:
    """Return whether a node is an annotation, an import, `__all__`, prose, or the guard of a zip.

    zip(..., strict=True) ends on a bug elsewhere and changes nothing where there is none.
    """
    for child, parent in source.above(node):
        if isinstance(parent, ast.Import | ast.ImportFrom):
            return True
        if child in (getattr(parent, "annotation", None), getattr(parent, "returns", None)):
            return True
        if isinstance(parent, ast.keyword) and parent.arg in PROSE:
            return True
        if isinstance(parent, ast.keyword) and parent.arg == "strict":
            return source.text(source.parents[parent].func) == "zip"
        names = getattr(parent, "targets", [])
        if any(isinstance(name, ast.Name) and name.id == "__all__" for name in names):
            return True
    return False


def places(text: str) -> Iterator[tuple[str, int, int, int, str]]:
    """Yield (class, line, start, end, new text) for every wrong edit of Python source."""
    source = Source(text)
    seen = set()
    for node in ast.walk(source.tree):
        if not hasattr(node, "lineno") or is_left_alone(source, node) or not stands(source, node):
            continue
        for kind, span, new in of_node(source, node):
            if span and (*span, new) not in seen:
                seen.add((*span, new))
                yield kind, source.data[: span[0]].count(b"\n") + 1, *span, new


def stands(source: Source, node: ast.AST) -> bool:
    """Return whether an expression stands where its tree says: in f-strings 3.11 may be wrong."""
    if not isinstance(node, ast.expr):
        return True
    if not any(isinstance(parent, ast.JoinedStr) for _, parent in source.above(node)):
        return True
    try:
        return ast.dump(ast.parse(source.text(node), mode="eval").body) == ast.dump(node)
    except (SyntaxError, ValueError, IndexError):
        return False


def differs(text: str, edit: Edit) -> bool:
    """Return whether changed source is still Python, and other Python."""
    try:
        return ast.dump(ast.parse(apply(text, edit))) != ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return False


def of_node(source: Source, node: ast.AST) -> Iterator[tuple]:
    """Yield (class, span, new text) for the edits of one node."""
    for operator in OPERATORS.get(type(node), ()):
        yield from operator(source, node)


def comparison(source: Source, node: ast.Compare) -> Iterator[tuple]:
    sides = [node.left, *node.comparators]
    for left, right, op in zip(sides, sides[1:], node.ops, strict=False):
        old, new = NEGATED[type(op)]
        yield "comparison", source.gap(left, right, old), new
        if type(op) in MOVED:
            yield "boundary", source.gap(left, right, old), MOVED[type(op)]


def arithmetic(source: Source, node: ast.BinOp) -> Iterator[tuple]:
    texts = (ast.JoinedStr, ast.Constant)
    if any(isinstance(s, texts) and not is_number(s) for s in (node.left, node.right)):
        return  # a text minus a text fails wherever it is reached
    if type(node.op) in ARITHMETIC:
        old, new = ARITHMETIC[type(node.op)]
        yield "arithmetic", source.gap(node.left, node.right, old), new


def added(source: Source, node: ast.AugAssign) -> Iterator[tuple]:
    if isinstance(node.op, ast.Add | ast.Sub):
        old = ARITHMETIC[type(node.op)][0]
        span = source.gap(node.target, node.value, old + "=")
        yield "arithmetic", span, "-=" if old == "+" else "+="


def is_number(node: ast.AST) -> bool:
    """Return whether a node is a number; True and False are none."""
    number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return number and not isinstance(node.value, bool)


def constant(source: Source, node: ast.Constant) -> Iterator[tuple]:
    span, value = source.span(node), node.value
    if isinstance(value, bool):
        yield "flag", span, str(not value)
    elif is_number(node):
        yield "constant", span, str(value + 1 if isinstance(value, int) else value * 2 or 1.0)
        if isinstance(value, int) and in_range(source, node):
            yield "boundary", span, f"({value - 1})"
    elif isinstance(value, str) and not is_prose(source, node):
        yield "constant", span, repr(value + "x")


def in_range(source: Source, node: ast.AST) -> bool:
    """Return whether a number is a bound of a slice, an index or a range."""
    parent = source.parents[node]
    calls = isinstance(parent, ast.Call) and source.text(parent.func) in ("range", "enumerate")
    return calls or isinstance(parent, ast.Slice | ast.Subscript)


def is_prose(source: Source, node: ast.Constant) -> bool:
    """Return whether a text is a docstring, part of an f-string, or holds a space: a sentence."""
    inside = isinstance(source.parents[node], ast.Expr | ast.JoinedStr | ast.FormattedValue)
    return inside or " " in node.value or "\n" in source.text(node)


def slices(source: Source, node: ast.Slice) -> Iterator[tuple]:
    for part in (node.lower, node.upper, node.step):
        if part:
            yield "slice", source.span(part), ""


def calls(source: Source, node: ast.Call) -> Iterator[tuple]:
    span, name = source.span(node), source.text(node.func)
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    if name in OTHER_NAME:
        yield "comparison", source.span(node.func), OTHER_NAME[name]
    if name in DROPPED and len(node.args) == len(plain) == 1:
        yield "removed call", span, f"({source.text(plain[0])})"
    if isinstance(node.func, ast.Attribute) and node.func.attr in DROPPED_METHODS and not node.args:
        yield "removed call", span, source.text(node.func.value)
    if len(node.args) > 1 and node.args[:2] == plain[:2] and name not in SYMMETRIC:
        first, second = map(source.text, plain[:2])
        between = source.data[source.span(plain[0])[1] : source.span(plain[1])[0]].decode()
        ends = source.span(plain[0])[0], source.span(plain[1])[1]
        yield "swapped", ends, second + between + first


def statement(source: Source, node: ast.Expr) -> Iterator[tuple]:
    if isinstance(node.value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom):
        yield "removed call", source.span(node), "pass"


def raised(source: Source, node: ast.Raise) -> Iterator[tuple]:
    yield "removed raise", source.span(node), "pass"


def negation(source: Source, node: ast.UnaryOp) -> Iterator[tuple]:
    if isinstance(node.op, ast.Not):
        yield "flag", source.span(node), f"({source.text(node.operand)})"
    elif isinstance(node.op, ast.USub) and not is_number(node.operand):
        yield "arithmetic", source.span(node), f"({source.text(node.operand)})"


def returned(source: Source, node: ast.Return) -> Iterator[tuple]:
    if node.value is None:
        return
    kinds = {ast.List: "[]", ast.ListComp: "[]", ast.Dict: "{}", ast.DictComp: "{}"}
    kinds |= {ast.JoinedStr: '""', ast.BinOp: "0", ast.Compare: "False", ast.BoolOp: "False"}
    yield "returned default", source.span(node.value), kinds.get(type(node.value), "None")


def condition(source: Source, node: ast.If | ast.IfExp | ast.While) -> Iterator[tuple]:
    yield "condition", source.span(node.test), "False"
    if not isinstance(node, ast.While):
        yield "condition", source.span(node.test), "True"


def filters(source: Source, node: ast.ListComp) -> Iterator[tuple]:
    for generator in node.generators:
        for test in generator.ifs:
            yield "condition", source.span(test), "True"


def joined(source: Source, node: ast.BoolOp) -> Iterator[tuple]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:], strict=False):
        yield "and/or", source.gap(left, right, old), new


OPERATORS = {
    ast.Compare: [comparison],
    ast.BinOp: [arithmetic],
    ast.AugAssign: [added],
    ast.Constant: [constant],
    ast.Slice: [slices],
    ast.Call: [calls],
    ast.Expr: [statement],
    ast.Raise: [raised],
    ast.UnaryOp: [negation],
    ast.Return: [returned],
    ast.BoolOp: [joined],
    **dict.fromkeys((ast.If, ast.IfExp, ast.While), [condition]),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), [filters]),
}


# Where the edits are made, and which are drawn.


def edits_of(file: str, text: str, cell: str = "") -> Iterator[Edit]:
    """Yield the edits of one file or one cell."""
    data = text.encode()
    for kind, line, start, end, new in places(text):
        first = data.rfind(b"\n", 0, start) + 1
        last = data.find(b"\n", end)
        last = len(data) if last < 0 else last
        before, after = data[first:last], data[first:start] + new.encode() + data[end:last]
        shown = (" ".join(part.decode().split()) for part in (before, after))
        yield Edit(file, cell, line, kind, start, end, new, *shown)


def apply(text: str, edit: Edit) -> str:
    """Return the text with the edit made; lines after it keep their numbers."""
    data = text.encode()
    lost = data[edit.start : edit.end].count(b"\n") - edit.new.count("\n")
    after = data[edit.end :].decode()
    head, end, rest = after.partition("\n")
    return data[: edit.start].decode() + edit.new + head + "\n" * lost + end + rest


def cells_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of a lesson's code cells; no check, no setup, no code that was given."""
    for cell in nbformat.read(path, as_version=4).cells:
        check = cell.source.lstrip().startswith("check.") or cell.id.endswith("-setup")
        if cell.cell_type == "code" and not check and "given" not in cell.metadata.get("tags", []):
            yield cell.id, cell.source


def room_of(file: str) -> str:
    """Return the room of a file: a flat module, a wing, check, or sessions."""
    parts = Path(file).parts
    if parts[0] == "notebooks":
        return "sessions" if file.endswith(".ipynb") else "check"
    return parts[1] if len(parts) > 2 else Path(file).stem


def all_edits(root: Path) -> list[Edit]:
    """Return every wrong edit of the helpers, the checks and the sessions."""
    modules = [*(root / "helpers").rglob("*.py"), *(root / "notebooks" / "check").glob("*.py")]
    found = []
    for path in sorted(modules):
        name = path.relative_to(root).as_posix()
        if "/tests/" not in name:
            found += edits_of(name, path.read_text(encoding="utf-8"))
    lessons = [*(root / "notebooks").glob("session_*.ipynb")]
    for path in sorted([*lessons, *(root / "notebooks" / "further").glob("*.ipynb")]):
        for cell, text in cells_of(path):
            if not text.lstrip().startswith(("%", "!")):
                found += edits_of(path.relative_to(root).as_posix(), text, cell)
    return found


def without_equivalents(edits: list[Edit], table: list) -> tuple[list[Edit], list]:
    """Return the edits that the table does not name, and its entries that name no edit."""
    named = {(entry.file, entry.before, entry.after) for entry in table}
    known = {(edit.file, edit.before, edit.after) for edit in edits}
    left = [edit for edit in edits if (edit.file, edit.before, edit.after) not in named]
    return left, [e for e in table if (e.file, e.before, e.after) not in known]


def text_of(root: Path, edit: Edit) -> str:
    """Return the text that an edit is made in: a file's, or a cell's."""
    path = root / edit.file
    return dict(cells_of(path))[edit.cell] if edit.cell else path.read_text(encoding="utf-8")


def sample(root: Path, edits: list[Edit], n: int, seed: int) -> list[Edit]:
    """Return `n` edits, the same for a seed; a change elsewhere in the code leaves most of them.

    Each edit draws the hash of its own text, and the lowest hashes are taken.
    """
    count: dict[tuple, int] = {}

    def drawn(edit: Edit) -> str:
        key = (seed, edit.file, edit.cell, edit.before, edit.after)
        count[key] = count.get(key, 0) + 1
        return hashlib.sha256(repr((key, count[key])).encode()).hexdigest()

    ranked = sorted(edits, key=drawn)
    return list(islice((edit for edit in ranked if differs(text_of(root, edit), edit)), n))


def wilson(caught: int, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, 1927); n is 1 or more."""
    share, scale = caught / n, 1 + z * z / n
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    middle = (share + z * z / (2 * n)) / scale
    return max(0.0, middle - half), min(1.0, middle + half)
