"""Learner copies: stubs, numbers, links, and work that is never overwritten."""

import datetime
import errno
import shutil

import pytest
import yaml

from helpers.__main__ import in_words
from helpers.measure import evalset, files
from helpers.teach import LearnError, copies, exercises
from helpers.teach.record import RECORD
from helpers.tests.teach.small_session import (
    NAME,
    SETUP,
    changed,
    code,
    copied,
    make,
    session,
    solution,
    write,
)

TODAY = f"learn-{datetime.date.today().isoformat()}"


@pytest.fixture
def small(house, monkeypatch):
    """Return the small project, whose own set the copies get."""
    monkeypatch.setattr(evalset, "DEFAULT", house / "evals")
    return house


def files_of(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def test_a_copy_has_no_outputs_and_its_check_cells_are_locked(house):
    cells = session()
    cells[2].source = "Words.\n\n### Quick test\n\n15 minutes, then Difficulty 1 of 3 · 10 minutes"
    cells[7].source += "\n\n## Another heading"
    write(house, cells)
    made, more = copies.copies_of_lessons(house / "notebooks", house / "learn").values()
    code_cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert {(len(cell.outputs), cell.execution_count) for cell in code_cells} == {(0, None)}
    assert made.cells[3].source == copies.with_stubs(cells[3])
    assert made.cells[3].metadata.nbgrader == cells[3].metadata.nbgrader
    assert made.cells[2].source == cells[2].source
    assert made.cells[7].source == cells[7].source
    first, path_set, rest = code_cells[0].source.partition('\n\nsys.path.insert(0, "..")\n')
    assert first == "import os\nimport sys" and path_set  # one group of imports
    own, rest = rest.split("\n", 1)
    assert own.startswith('os.environ.setdefault("EVALS", "evals")  # your copy')
    assert f"import sys{path_set}{rest}" == SETUP
    locked = {cell.id: cell.metadata.get("editable") for cell in made.cells
              if cell.metadata.get("deletable") is False}  # fmt: skip
    names = ("longest", "scaled", "shout")
    assert locked == {f"{n}-code": None for n in names} | {f"{n}-check": False for n in names}
    assert [cell.source for cell in more.cells] == ["# Session B: more"]  # no code
    write(house, session(), "further/x.ipynb")
    beyond = copies.copies_of_lessons(house / "notebooks", house / "learn")["further/x.ipynb"]
    assert '("EVALS", "../evals")' in beyond.cells[1].source


LINKS = {
    "[a](extra/page.md#part)": "[a](../notebooks/extra/page.md#part)",
    "[a](../evals/a.md) [b](c.md)": "[a](../evals/a.md) [b](../notebooks/c.md)",
    "![a](a.png)": "![a](../notebooks/a.png)",
    "<img src='a.png'>": "<img src='../notebooks/a.png'>",
    '<a href="a.md">': '<a href="../notebooks/a.md">',
    "[a](session_b_more.ipynb)": "[a](session_b_more.ipynb)",
    "[a](session_z.ipynb)": "[a](../notebooks/session_z.ipynb)",
    "[a](https://b.c/d) [a](attachment:b.png) [a](x-y+z.1:b)": None,  # as it was
    "[a](/root.md) [a](#part) no (link.md)": None,
}


def test_links_lead_where_they_led(house):
    write(house, changed("title", source="\n".join(LINKS)))
    made = copies.copies_of_lessons(house / "notebooks", house / "learn")[NAME]
    assert made.cells[0].source.split("\n") == [new or old for old, new in LINKS.items()]


def test_a_stub_stands_where_its_region_began():
    stub = 'raise NotImplementedError("not started yet")'
    for before in ("", "def f():\n", "class A:\n    def f():\n"):
        for indent in ("", "    ", "\t  "):
            inside = f"{indent}{exercises.BEGIN}\n{indent}    return 1\n{indent}{exercises.END}"
            made = copies.with_stubs(code("x", f"{before}{inside}\nend"))
            assert made == f"{before}{indent}# YOUR CODE HERE\n{indent}{stub}\nend"
    both = solution("longest") + "\n\n\n" + solution("scaled")
    assert copies.with_stubs(code("both", both, solution=True)).split("\n\n\n") == [
        f'def {name}(words):\n    """Return {name}."""\n    # YOUR CODE HERE\n    {stub}'
        for name in ("longest", "scaled")
    ]


def test_a_session_whose_exercises_cannot_be_told_writes_nothing(house):
    nested = solution("scaled", body=f"{exercises.BEGIN}\n    return 1")
    for cells, words in (
        (changed("scaled-code", source=nested), "cell scaled-code, line 4: found ### BEGIN"),
        (changed("setup", metadata={"tags": "x"}), r"\$.cells\[1\].metadata.tags: 'x'"),
        ([cell for cell in session() if cell.id != "scaled-check"], "cell scaled-code, line 1: "),
    ):
        write(house, cells)
        with pytest.raises(LearnError, match=f"^{NAME}: {words}"):
            make(house)
        assert not (house / "learn").exists()


def test_what_make_says_of_copies_that_are_there(small):
    first, second = "session_a_words.ipynb", "session_b_more.ipynb"
    kept = "left as they are in learn/: {} (make learn FRESH=1 moves them aside)"
    assert make(small, fresh=True) == [f"learn/{first} written", f"learn/{second} written"]
    assert not list(small.glob("learn-*"))
    assert make(small) == [kept.format(f"{first}, {second}")]
    (small / "learn" / first).unlink()
    assert make(small) == [f"learn/{first} written", kept.format(second)]
    (small / "learn.kept.part" / "learn").mkdir(parents=True)  # of a run that was killed
    for old in (TODAY, f"{TODAY}-2", f"{TODAY}-3"):
        words = [f"learn/ has new copies; the old ones stand in {old}/"]
        assert make(small, fresh=True) == words and (small / old).is_dir()
    assert {*files_of(small / "learn")} == {"evals/a.md", "progress.jsonl", first, second}
    assert [path.name for path in small.glob("*.part")] == ["learn.kept.part"]


def test_a_set_is_copied_whole_without_what_the_learner_makes(tmp_path, monkeypatch):
    kept = ["corpus/a.md", "results.json", "runs/a.trec"]
    left = ["notes.md", "n.ipynb", "p.html", "comparisons/a.md", "x.part", "predictions.json"]
    for name in kept + left:
        files.write(tmp_path / "evals" / name, name)
    monkeypatch.setattr(evalset, "DEFAULT", tmp_path / "evals")
    copies.copy_set(tmp_path / "copy")
    assert files_of(tmp_path / "copy") == {name: name for name in kept}
    notes = "# Notes\n\n## q1\nWords: owe = pay\nRead.\n\n## q2\nRead.\n"
    files.write(tmp_path / "evals" / "notes.md", notes)
    copies.copy_set(tmp_path / "copy")
    copied = (tmp_path / "copy" / "notes.md").read_text()
    assert copied == "# Notes on dev results\n\n## q1\nWords: owe = pay\n"


def test_work_is_never_overwritten(small):
    make(small)
    for name in (NAME, "evals/a.md", RECORD):
        files.write(small / "learn" / name, "mine")
    before = files_of(small / "learn")
    make(small)
    assert files_of(small / "learn") == before
    shutil.rmtree(small / "learn" / "evals")
    (small / "learn" / RECORD).unlink()
    make(small)
    assert files_of(small / "learn") == before | {"evals/a.md": "page\n", RECORD: ""}
    make(small, fresh=True)
    assert files_of(small / TODAY)[NAME] == "mine" and "YOUR CODE" in copied(small).cells[3].source


@pytest.mark.parametrize("fresh", [False, True])
def test_a_full_disk_is_told_and_leaves_all_as_it_was(small, monkeypatch, fresh):
    def full(to):
        files.write(to / "half.md", "page")
        raise OSError(errno.ENOSPC, "No space left on device", str(to))

    if fresh:
        make(small)
    before = files_of(small)
    monkeypatch.setattr(copies, "copy_set", full)
    with pytest.raises(OSError) as caught:
        make(small, fresh)
    assert in_words(caught.value) == f"{small / 'learn'}: No space left on device"
    assert files_of(small) == before and not list(small.glob("*.part"))
    assert (small / "learn").exists() is fresh


@pytest.fixture
def two_hours(house, tmp_path):
    """Return a function that makes the short notebook of a small session by a plan's cells."""
    write(house, session())
    lessons = copies.copies_of_lessons(house / "notebooks", house / "learn")

    def made(*entries):
        plan = tmp_path / "two.yaml"
        plan.write_text(yaml.safe_dump({"title": "# Two", "cells": [*entries]}))
        return copies.in_two_hours(lessons, plan).cells

    return made


def test_two_hours_are_cells_of_the_lessons_below_a_title(two_hours):
    title, *cells = two_hours("further scale", "loud")
    assert title.source == "# Two"
    assert [cell.id for cell in cells] == ["further", "scale", "loud"]


def test_two_hours_join_cells_by_words_code_parts_and_given_solutions(two_hours):
    entries = [
        {"text": "So:"},
        {"code": "x = 1"},
        {"given": "dcg"},
        {"from": {"further": "louder"}},
    ]
    _, text, code_cell, given, part = two_hours(*entries)
    assert (text.cell_type, text.source) == ("markdown", "So:")
    assert (code_cell.cell_type, code_cell.source) == ("code", "x = 1")
    assert given.source.startswith("def dcg(") and "SOLUTION" not in given.source
    assert (part.id, part.source) == ("further", "louder.")
    assert len({text.id, code_cell.id, given.id}) == 3


@pytest.mark.parametrize(("entry", "missing"), [
    ("gone", "'gone'"), ({"from": {"gone": "x"}}, "'gone'"), ({"given": "gone"}, "exercise gone"),
    ({"from": {"further": "softer"}}, "'softer' in the cell further"),
])  # fmt: skip
def test_two_hours_name_what_no_lesson_has(two_hours, entry, missing):
    with pytest.raises(LearnError, match=f"two.yaml: no lesson has .*{missing}"):
        two_hours(entry)


def test_short_copies_stand_in_a_folder_of_their_own(tmp_path):
    folder = tmp_path / "learn"
    assert copies.learn_command(short=True, folder=folder)[0] == (
        "learn-short/two_hours.ipynb written"
    )
    assert not folder.exists() and (tmp_path / "learn-short" / "evals").exists()
    made = exercises.read_notebook(tmp_path / "learn-short" / "two_hours.ipynb")
    heads = [cell.source for cell in made.cells if "## Exercise" in cell.source]
    stubs = [cell for cell in made.cells if copies.STUB[0] in cell.source]
    checks = [cell for cell in made.cells if exercises.is_check(cell)]
    assert len(heads) == len(stubs) == len(checks) == 6 and ": name the failure" in heads[-1]
    assert sum(int(exercises.PLAN.search(head)[1]) for head in heads) == 65
