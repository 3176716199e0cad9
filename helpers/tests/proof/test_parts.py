"""make proof runs the parts that are asked for, and fails with any."""

import sys
from pathlib import Path

import parts


def test_parts_that_are_asked_for_run_and_one_that_fails_fails_all(monkeypatch, capfd):
    made = {n: parts.Part("x", (sys.executable, "-c", f"exit({n == 'b'})")) for n in ("a", "b")}
    monkeypatch.setattr(parts, "PARTS", made)
    for only, status, told in (("", 1, "1 passed, 1 failed"), ("a", 0, "1 passed, 0 failed")):
        assert parts.main(only) == status and told in capfd.readouterr().out
    assert parts.main("a wrong") == 1 and "found ONLY='wrong'" in capfd.readouterr().err


def test_each_part_names_a_file_that_is_there():
    words = {word for part in {**parts.PARTS, **parts.WHEN_NAMED}.values() for word in part.command}
    assert all(Path(word).is_file() for word in words if word.endswith(".py"))
    assert {str(path) for path in parts.HERE.glob("test_*.py")} <= words
