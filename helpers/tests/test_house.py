"""The house as its plan says: few flat rooms, arrows that point down, a name for each thing."""

import ast
import functools
import os
import subprocess
import sys
from collections import defaultdict

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
WINGS = ("labels", "sources", "learn", "sql")
REACH = ("__main__", "workbook", "report")  # what may reach into a wing


@functools.cache
def modules():
    """Return {path below the project: its tree} of helpers and lessons, without tests."""
    paths = [*(ROOT / "helpers").rglob("*.py"), *(ROOT / "notebooks").rglob("*.py")]
    found = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted(paths)}
    return {path: ast.parse(page) for path, page in found.items() if "tests" not in path.parts}


def imported(path, tree):
    """Return what a module of helpers imports from helpers, as (wing or "", module)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parent.parts[1:]
            base = base[: len(base) - (node.level - 1)]
            inside = [*base, *(node.module or "").split(".")] if node.module else [*base]
            names = [alias.name for alias in node.names] if not node.module else [None]
            for name in names:
                parts = [*inside, name] if name else inside
                wing = parts[0] if parts[0] in WINGS else ""
                yield wing, parts[-1] if wing and len(parts) > 1 else parts[0]


def test_the_flat_rooms_are_few():
    flat = (path.stem for path in modules() if path.parts[0] == "helpers" and len(path.parts) == 2)
    names = {*flat} - {"__init__"}
    assert names <= {room for floor in FLOORS for room in floor} and len(names) <= 18


def test_arrows_point_down_and_wings_stand_alone():
    level = {room: n for n, floor in enumerate(FLOORS) for room in floor}
    wrong = []
    for path, tree in modules().items():
        if path.parts[0] != "helpers" or path.stem == "__init__":
            continue
        own_wing = path.parts[1] if len(path.parts) > 2 else ""
        for wing, room in imported(path, tree):
            if wing and wing != own_wing and path.stem not in REACH:
                wrong.append(f"{path} reaches into {wing}")
            elif not wing and not own_wing and level[room] > level[path.stem]:
                wrong.append(f"{path} imports {room}, which stands above it")
    assert wrong == []


def defined(tree):
    """Return the names that a module defines at its top level."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in filter(None, targets):
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def test_a_name_stands_for_one_thing():
    rooms = defaultdict(set)
    for path, tree in modules().items():
        for name in defined(tree):
            rooms[name].add(str(path))
    assert {name: sorted(where) for name, where in rooms.items() if len(where) > 1} == {}


@pytest.mark.proof
def test_checks_and_helpers_are_found_with_only_the_project_on_the_path(tmp_path):
    """As in copies for learners and nbgrader's, which run in folders of their own."""
    code = "from notebooks import check; from helpers import evalset; print(check.ndcg.__name__)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
