"""The flat rooms of helpers stand on floors, and arrows point down."""

import ast
import functools
import os
import subprocess
import sys

import pytest

from helpers import evalset

ROOT = evalset.DEFAULT.parent
FLOORS = (  # from the ground up
    ("evalset", "files", "text", "install"),
    ("runs", "chunks", "baseline"),
    ("measures", "evidence", "stats", "sparse"),
    ("report", "compare", "results", "figures"),
    ("workbook", "__main__"),
)


@functools.cache
def modules():
    """Return {path below the project: its tree} of helpers and lessons, without tests."""
    paths = [*(ROOT / "helpers").rglob("*.py"), *(ROOT / "notebooks").rglob("*.py")]
    found = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted(paths)}
    return {path: ast.parse(page) for path, page in found.items() if "tests" not in path.parts}


def test_arrows_between_flat_rooms_point_down():
    level = {room: n for n, floor in enumerate(FLOORS) for room in floor}
    wrong = []
    for path, tree in modules().items():
        if path.parent.name == "helpers" and path.stem in level:
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.level == 1:
                    names = [node.module] if node.module else [alias.name for alias in node.names]
                    above = [n for n in names if level.get(n, 0) > level[path.stem]]
                    wrong += [f"{path} imports {name}, which stands above it" for name in above]
    assert wrong == []


@pytest.mark.proof
def test_checks_and_helpers_are_found_with_only_the_project_on_the_path(tmp_path):
    """As in copies for learners and nbgrader's, which run in folders of their own."""
    code = "from notebooks import check; from helpers import evalset; print(check.ndcg.__name__)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
