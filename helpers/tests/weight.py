"""How heavy the workbook is, in lines: `make check` prints it, and nothing fails on it.

Texts, schemas and code cells stand beside the Python, so that moving a line there saves nothing.
"""

import ast
from collections.abc import Iterable
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
HELPERS, NOTEBOOKS, TESTS = ROOT / "helpers", ROOT / "notebooks", ROOT / "helpers" / "tests"


def main() -> None:
    """Print the sums."""
    helpers = {path for path in HELPERS.rglob("*.py") if TESTS not in path.parents}
    flat, lessons = {*HELPERS.glob("*.py")}, {*NOTEBOOKS.rglob("*.py")}
    checks = (NOTEBOOKS / "check").glob("*.py")
    tables = {path for path in checks if "\ndef check_" in path.read_text(encoding="utf-8")}
    tests, proof = {*TESTS.rglob("*.py")}, {*(TESTS / "proof").rglob("*.py")}
    others = {*HELPERS.rglob("*.*"), *NOTEBOOKS.rglob("*.*"), *ROOT.glob("evals/*schema*/*.json")}
    others = {path for path in others if path.is_file() and TESTS not in path.parents}
    texts = {path for path in others if path.suffix in (".jinja", ".html", ".css", ".js", ".sql")}
    data = {path for path in others if path.suffix in (".json", ".yml", ".yaml")}
    for what, paths in {
        "lines of Python:": None,
        "product without tables of mistakes": (helpers | lessons) - tables,
        "flat rooms of helpers/": flat,
        "wings of helpers/": helpers - flat,
        "notebooks/ without tables": lessons - tables,
        "tables of mistakes": tables,
        "tests of make check": tests - proof,
        "tests of make proof": proof,
        "beside it:": None,
        "templates, styles, SQL": texts | {*HELPERS.glob("*.md")},
        "schemas and tables in JSON, YAML": data,
    }.items():
        print(what if paths is None else f"  {what:<36}{lines(paths):>7,} in {len(paths)}")
    for session in sorted(NOTEBOOKS.glob("session_*.ipynb")):
        cells = nbformat.read(session, as_version=4).cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        direct = imported(code, session)
        further = loaded(direct)
        print(
            f"  {session.stem[:9]}: {len(code.splitlines())} lines in code cells, "
            f"which import {lines(direct & helpers):,} of helpers/ "
            f"and load {lines(further & helpers):,}, {lines(further):,} with those of notebooks/"
        )


def lines(paths: Iterable[Path]) -> int:
    """Return how many lines the files have together."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


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
    main()
