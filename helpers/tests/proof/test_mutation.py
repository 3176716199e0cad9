"""The tools of the mutants part: edits of Python text, a sample of them, and a run in a fork."""

import os

import forks
import mutants
import mutation
import nbformat
from equivalent import EQUIVALENT

SNIPPET = '''"""A docstring."""
import math


def share(rows: list[int], most: int = 3, strict=True) -> float:
    """Return a share."""
    log("a sentence", "word")
    if not rows and strict:
        raise ValueError(most)
    kept = [row for row in sorted(rows) if row < most]
    return len(kept[1:]) / max(len(rows), 1)
'''
KEPT = "kept = [row for row in sorted(rows) if row < most]"
GIVEN = "return len(kept[1:]) / max(len(rows), 1)"


def test_every_kind_of_edit_is_made_and_prose_annotations_and_imports_stay():
    edits = [*mutation.edits_of("a.py", SNIPPET)]
    made = {(edit.kind, edit.before, edit.after) for edit in edits}
    assert made >= {
        ("comparison", KEPT, KEPT.replace("<", ">=")),
        ("comparison", KEPT, KEPT.replace("<", "<=")),
        ("arithmetic", GIVEN, GIVEN.replace("/", "*")),
        ("constant", GIVEN, GIVEN.replace("1:", ":")),
        ("constant", GIVEN, GIVEN.replace(", 1", ", 2")),
        ("removed", 'log("a sentence", "word")', "pass"),
        ("swapped", 'log("a sentence", "word")', "log('word', 'a sentence')"),
        ("condition", "if not rows and strict:", "if rows and strict:"),
        ("return", GIVEN, "return 0"),
        ("removed", "raise ValueError(most)", "pass"),
        ("condition", "if not rows and strict:", "if False:"),
        ("condition", "if not rows and strict:", "if not rows or strict:"),
    }
    assert not [e for e in edits if e.line < 5 or "docstring" in e.before or "sentencex" in e.after]
    assert all("list[int]" in e.after and "-> float" in e.after for e in edits if e.line == 5)
    text = "call(\n    1,\n)\nnext = 'é' + str(2)\n"
    gone = next(e for e in mutation.edits_of("a.py", text) if e.kind == "removed")
    assert mutation.apply(text, gone) == "pass\nnext = 'é' + str(2)\n"


def test_a_sample_is_the_same_for_a_seed_and_outlives_a_move(tmp_path):
    for name in ("helpers/share.py", "helpers/tests/test_share.py", "notebooks/check/more.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SNIPPET)
    edits = mutation.all_edits(tmp_path)
    assert {e.file for e in edits} == {"helpers/share.py", "notebooks/check/more.py"}
    first = mutation.sample(tmp_path, edits, 10, 1)
    assert first == mutation.sample(tmp_path, edits[::-1], 10, 1)
    assert first != mutation.sample(tmp_path, edits, 10, 2)
    page = tmp_path / "helpers/share.py"
    page.write_text(page.read_text().replace("import math\n", "import math\n\n\n"))
    moved = mutation.sample(tmp_path, mutation.all_edits(tmp_path), 10, 1)
    assert [(e.before, e.after) for e in moved] == [(e.before, e.after) for e in first]


def test_every_listed_text_stands_in_its_file_and_every_target_is_there():
    gone = []
    for mutant in mutants.MUTANTS:
        text = (mutants.ROOT / mutant.file).read_text(encoding="utf-8")
        if mutant.file.endswith(".ipynb"):
            text = "\n".join(cell["source"] for cell in nbformat.reads(text, 4).cells)
        gone += [mutant.name] if mutant.old not in text else []
        gone += [] if (mutants.ROOT / mutant.target).exists() else [mutant.target]
    assert gone == []
    assert len(EQUIVALENT) <= 100 and all(entry.reason for entry in EQUIVALENT)


def edit_of(file, before, after):
    """Return the edit of a file that these lines show."""
    text = (mutants.ROOT / file).read_text(encoding="utf-8")
    edits = mutation.edits_of(file, text)
    return next(e for e in edits if before in e.before and after in e.after)


def test_an_edit_runs_what_knows_its_module_and_is_caught():
    edit = edit_of("helpers/stats.py", "MATTERS = 0.05", "0.1")
    plan, books = mutants.plan(edit), mutants.notebooks(edit)
    assert plan[0] == "helpers/tests/test_stats.py" and "helpers/tests/test_compare.py" in plan
    assert "helpers/tests/test_text.py" not in plan and mutants.C in books[:3]
    edit = edit_of("helpers/chunks.py", " <= length", " < length")
    assert mutants.run_sampled(edit) == "caught by tests"
    assert mutants.fails_unbroken(mutants.plan(edit)[0]) == ""


def test_a_fork_ends_with_the_status_of_its_job_and_an_endless_one_is_ended(tmp_path):
    def endless():
        while True:
            pass

    for job, status in (
        (lambda: 0, 0),
        (lambda: 1 / 0, forks.FAILED),
        (lambda: os.getcwd() == str(tmp_path) and 5, 5),
    ):
        assert forks.run(job, tmp_path, 5) == status
    assert forks.run(endless, tmp_path, 0.1) is None
