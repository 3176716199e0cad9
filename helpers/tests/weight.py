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
    tests = {*TESTS.rglob("*.py")}
    proof = {path for path in tests if TESTS / "proof" in path.parents}
    beside = [path for path in (*HELPERS.rglob("*.*"), *NOTEBOOKS.rglob("*.*")) if path.is_file()]
    beside = [path for path in beside if TESTS not in path.parents]
    texts = [path for path in beside if path.suffix in (".j2", ".html", ".css", ".js", ".sql")]
    texts += HELPERS.glob("*.md")
    data = [path for path in beside if path.suffix in (".json", ".yml", ".yaml")]
    data += (ROOT / "evals").glob("*schema*/*.json")
    print("lines of Python:")
    show("product without tables of mistakes", (helpers | lessons) - tables)
    show("flat rooms of helpers/", flat)
    show("wings of helpers/", helpers - flat)
    show("notebooks/ without tables", lessons - tables)
    show("tables of mistakes", tables)
    show("tests of make check", tests - proof)
    show("tests of make proof", proof)
    print("beside it:")
    show("templates, styles, SQL", texts)
    show("schemas and tables in JSON, YAML", data)
    for session in sorted(NOTEBOOKS.glob("session_*.ipynb")):
        cells = nbformat.read(session, as_version=4).cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        direct = imported(code, session)
        found = loaded(direct)
        print(
            f"  {session.stem[:9]}: {len(code.splitlines())} lines in code cells, "
            f"which import {lines(direct & helpers):,} of helpers/ "
            f"and load {lines(found & helpers):,}, {lines(found):,} with those of notebooks/"
        )


def show(what: str, paths: Iterable[Path]) -> None:
    """Print how long some files are, and how many."""
    paths = [*paths]
    print(f"  {what:<36}{lines(paths):>7,} in {len(paths)}")


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
    found, new = set(direct), set(direct)
    while new:
        further = (imported(path.read_text(encoding="utf-8"), path) for path in new)
        new = set().union(*further) - found
        found |= new
    return found


if __name__ == "__main__":
    main()
