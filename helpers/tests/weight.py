"""How heavy the workbook is, in tokens of Python: `make check` prints it, and nothing fails on it.

Lines aren't counted: longer ones would save some. Texts and schemas stand beside the Python.
"""

import ast
import io
import os
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
HELPERS, NOTEBOOKS, TESTS = ROOT / "helpers", ROOT / "notebooks", ROOT / "helpers" / "tests"
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
F_STRING = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)
WIDE = 85  # columns


def main() -> None:
    """Print the sums."""
    product = {path for path in HELPERS.rglob("*.py") if TESTS not in path.parents}
    tests, proof = {*TESTS.rglob("*.py")}, {*(TESTS / "proof").rglob("*.py")}
    rows = {"product": product}
    for door in ("measure", "label", "teach"):
        rows[f"{door}/"] = {*(HELPERS / door).rglob("*.py")}
    rows |= {"tests of make check": tests - proof, "tests of make proof": proof}
    for what, paths in rows.items():
        print(f"  {what:<20} {tokens_of(paths):>7,} tokens of Python in {len(paths)} files")
    lines = [line for path in product for line in path.read_text("utf-8").splitlines()]
    wide = sum(len(line) > WIDE for line in lines) / len(lines)
    print(f"  {tokens_of(product) / len(lines):.1f} tokens a line, {wide:.0%} over {WIDE} columns")
    exercises = sum(path.stat().st_size for path in (NOTEBOOKS / "exercises").glob("*.yaml"))
    print(f"  exercises and quizzes: {exercises / 1000:.0f} kB of YAML")
    for session in sorted(NOTEBOOKS.glob("session_*.ipynb")):
        opened = tokens_of(rooms_of(session))
        own = tokens(code_of(session))
        print(f"  {session.stem[:9]}: {own:,} tokens in cells, which load {opened:,}")


def tokens_of(paths: Iterable[Path]) -> int:
    """Return how many tokens the files have together."""
    return sum(tokens(path.read_text(encoding="utf-8")) for path in paths)


def tokens(code: str) -> int:
    """Return how many names, signs, numbers and strings code has; an f-string is one string."""
    counted, depth = 0, 0  # of f-strings: from Python 3.12 on their parts are tokens, too
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        starts = token.type == F_STRING[0]
        if depth == 0 and (starts or token.type in COUNTED):
            counted += 1
        depth += starts - (token.type == F_STRING[1])
    return counted


def code_of(notebook: Path) -> str:
    """Return the code of a notebook's cells."""
    cells = nbformat.read(notebook, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")


def rooms_of(notebook: Path) -> set[Path]:
    """Return our files that a notebook loads, directly or through others."""
    return loaded(imported(code_of(notebook), notebook))


def imported(code: str, path: Path) -> set[Path]:
    """Return our files that code standing in `path` imports, not those that a call of it does."""
    places = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.Import):
            places += [ROOT.joinpath(*name.name.split(".")) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else ROOT
            base = base.joinpath(*(node.module or "").split("."))
            places += [base, *(base / name.name for name in node.names)]
    modules = {place.with_suffix(".py") for place in places}
    packages = {place / "__init__.py" for place in places}
    return {path for path in modules | packages if path.is_file()}


def loaded(direct: set[Path]) -> set[Path]:
    """Return the files and all of ours that they import, directly or through others."""
    seen, new = set(), direct
    while new:
        seen |= new
        new = set().union(*(imported(path.read_text("utf-8"), path) for path in new)) - seen
    return seen


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
