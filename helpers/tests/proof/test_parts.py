"""make proof runs the parts that are asked for, tells how each ended, and fails with any."""

import sys

import parts
import pytest

TRIED = (sys.executable, "-c", "import os, sys; sys.exit(int(os.environ['ENDS'] == sys.argv[1]))")


@pytest.fixture
def three(monkeypatch):
    made = {name: parts.Part(f"what {name} holds", (*TRIED, name)) for name in ("a", "b")}
    monkeypatch.setattr(parts, "PARTS", made)
    monkeypatch.setattr(parts, "WHEN_NAMED", {"c": parts.Part("nothing", (*TRIED, "c"), "more")})


@pytest.mark.parametrize(
    ("only", "ends", "status", "told"),
    [
        ("", "", 0, ["a passed", "b passed", "2 passed, 0 failed"]),
        ("", "a", 1, ["a failed", "b passed", "1 passed, 1 failed"]),
        ("b", "a", 0, ["b passed", "1 passed, 0 failed"]),
        ("c b", "c", 1, ["c failed", "b passed", "1 passed, 1 failed"]),
    ],
)
def test_parts_run_and_are_counted(three, monkeypatch, capfd, only, ends, status, told):
    monkeypatch.setenv("ENDS", ends)
    assert parts.main(only) == status
    said = capfd.readouterr().out
    lines = [
        " ".join(line.split()[:2])
        for line in said.splitlines()
        if line[:1] in ("a", "b", "c") and line[1] == " "
    ]
    assert [*lines, said.splitlines()[-1]] == told
    assert all(f"== {name}: " in said for name in only.split() or "ab")


def test_an_unknown_part_is_told_and_nothing_runs(three, capfd):
    assert parts.main("a wrong") == 1
    said = capfd.readouterr()
    assert said.err == "found ONLY='wrong', wanted of: a b c\n" and said.out == ""


def test_each_part_names_a_file_that_is_there():
    for name, part in {**parts.PARTS, **parts.WHEN_NAMED}.items():
        paths = [word for word in part.command[1:] if word.endswith(".py")]
        assert all(map(parts.Path.is_file, map(parts.Path, paths))), name
    tests = {word for part in parts.PARTS.values() for word in part.command}
    assert {str(path) for path in parts.HERE.glob("test_*.py")} <= tests
