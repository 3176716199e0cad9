"""make proof runs the parts that are asked for, tells how each ended, and fails with any."""

import sys
from pathlib import Path

import parts
import pytest

ENDS = (sys.executable, "-c", "import os, sys; sys.exit(int(os.environ['ENDS'] == sys.argv[1]))")


@pytest.mark.parametrize(
    ("only", "ends", "status", "told"),
    [
        ("", "", 0, ["a passed", "b passed", "2 passed,"]),
        ("", "a", 1, ["a failed", "b passed", "1 passed,"]),
        ("b", "a", 0, ["b passed", "1 passed,"]),
        ("c b", "c", 1, ["c failed", "b passed", "1 passed,"]),
        ("a wrong", "", 1, []),
    ],
)
def test_parts_run_and_are_counted(monkeypatch, capfd, only, ends, status, told):
    made = {name: parts.Part(f"what {name} holds", (*ENDS, name)) for name in ("a", "b", "c")}
    monkeypatch.setattr(parts, "WHEN_NAMED", {"c": made.pop("c")})
    monkeypatch.setattr(parts, "PARTS", made)
    monkeypatch.setenv("ENDS", ends)
    assert parts.main(only) == status
    out, err = capfd.readouterr()
    table = out.partition("seconds\n")[2].splitlines()
    assert [" ".join(line.split()[:2]) for line in table] == told
    assert ("found ONLY='wrong', wanted of: a b c" in err) == (not told)


def test_each_part_names_a_file_that_is_there():
    words = {word for part in {**parts.PARTS, **parts.WHEN_NAMED}.values() for word in part.command}
    assert all(Path(word).is_file() for word in words if word.endswith(".py"))
    assert {str(path) for path in parts.HERE.glob("test_*.py")} <= words
