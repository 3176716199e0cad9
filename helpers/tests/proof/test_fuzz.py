"""The fuzzer reports what it is for: mistakes of each kind, planted in a command."""

import time
from pathlib import Path

import fuzz

from helpers import __main__ as commands
from helpers.measure.files import EvalSetError


def refuse(problem):
    raise EvalSetError([problem])


def test_planted_mistakes_are_reported(monkeypatch, capsys):
    deeds = iter([
        lambda: "done",  # with the file as it is
        lambda: monkeypatch.setattr(fuzz, "LIMIT", 1),
        lambda: refuse("run.jsonl:1: broken"),
        lambda: {}["run.jsonl"],
        lambda: refuse("something is broken"),
        lambda: Path("left").touch() or refuse("run.jsonl:1: broken"),
        lambda: time.sleep(9),
        lambda: Path("run.jsonl").unlink() or "done",
    ])  # fmt: skip
    monkeypatch.setenv("EVALS", "")  # which main sets
    monkeypatch.setattr(fuzz, "CASES", [("audit", "run.jsonl")])
    monkeypatch.setitem(commands.COMMANDS, "audit", (commands.NONE, ":audit", ""))
    monkeypatch.setattr(commands, "audit", lambda: next(deeds)())
    assert fuzz.main(0, range(1, 8)) == 1
    *told, counts = [line for line in capsys.readouterr().out.splitlines() if line[0] != " "]
    found = ["crash at 3", "unclear at 4", "left over at 5", "hang at 6", "strayed at 7"]
    assert [line.partition(":")[0] for line in told] == found
    assert counts.endswith(
        "1 harmless, 1 refused, 1 crash, 1 hang, 1 unclear, 1 left over, 1 strayed"
    )
