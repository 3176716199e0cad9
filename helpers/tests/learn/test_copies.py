"""Learner copies: stubs, numbers, links, and work that is never overwritten."""

import datetime
import shutil

import pytest

from helpers import evalset, files, report
from helpers.__main__ import in_words
from helpers.learn import LearnError, copies, exercises
from helpers.learn.record import RECORD

from .small_session import NAME, SETUP, changed, code, copied, make, session, solution, write


def test_a_copy_has_no_outputs_and_only_exercises_are_numbered(house):
    cells = session()
    cells[2].source = "Words.\n\n### Quick test\n\n15 minutes, then Difficulty 1 of 3 · 10 minutes"
    cells[7].source += "\n\n## Another heading"
    write(house, cells)
    notebook = exercises.lessons(house / "notebooks")[NAME]
    made = copies.learner_copies(house / "notebooks", house / "learn")[NAME]
    assert notebook.cells[1].outputs and notebook.cells[3].source == solution("longest")
    code_cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert {(len(cell.outputs), cell.execution_count) for cell in code_cells} == {(0, None)}
    assert made.cells[3].source == copies.stubbed(notebook.cells[3])
    assert made.cells[3].metadata.nbgrader == notebook.cells[3].metadata.nbgrader
    assert made.cells[2].source == cells[2].source
    assert made.cells[7].source == cells[7].source.replace("Exercise:", "Exercise A1:")
    assert made.cells[13].source.startswith("### Exercise A2: shout\n")
    assert code_cells[0].source == (
        "import os\n\n"
        'os.environ.setdefault("EVALS", "evals")  # your copy in learn/evals, unless EVALS names '
        f"another\n\n{SETUP}"
    )
    kept = {
        cell.id: (cell.metadata.get("deletable"), cell.metadata.get("editable"))
        for cell in made.cells
        if {"deletable", "editable"} & {*cell.metadata}
    }
    assert kept == {
        f"{name}-{part}": (False, editable)
        for name in ("longest", "scaled", "shout")
        for part, editable in (("code", None), ("check", False))
    }

    more = copies.learner_copies(house / "notebooks", house / "learn")["session_b_more.ipynb"]
    assert [cell.source for cell in more.cells] == ["# Session B: more"]  # no code


LINKS = [
    ("[a](extra/page.md#part)", "[a](../notebooks/extra/page.md#part)"),
    ("[a](../evals/a.md) [b](c.md)", "[a](../evals/a.md) [b](../notebooks/c.md)"),
    ("![a](a.png)", "![a](../notebooks/a.png)"),
    ("<img src='a.png'>", "<img src='../notebooks/a.png'>"),
    ('<a href="a.md">', '<a href="../notebooks/a.md">'),
    ("[a](session_b_more.ipynb)", "[a](session_b_more.ipynb)"),
    ("[a](session_z.ipynb)", "[a](../notebooks/session_z.ipynb)"),
    ("[a](https://b.c/d)", "[a](https://b.c/d)"),
    ("[a](attachment:b.png)", "[a](attachment:b.png)"),
    ("[a](x-y+z.1:b)", "[a](x-y+z.1:b)"),
    ("[a](/root.md)", "[a](/root.md)"),
    ("[a](#part)", "[a](#part)"),
    ("no (link.md)", "no (link.md)"),
]


def test_links_lead_where_they_led(house):
    write(house, changed("title", source="\n".join(link for link, _ in LINKS)))
    made = copies.learner_copies(house / "notebooks", house / "learn")[NAME]
    assert made.cells[0].source.split("\n") == [moved for _, moved in LINKS]


def test_a_stub_stands_where_its_region_began():
    stub = 'raise NotImplementedError("not started yet")'
    for before in ("", "def f():\n", "class A:\n    def f():\n"):
        for indent in ("", "    ", "\t  "):
            inside = f"{indent}{exercises.BEGIN}\n{indent}    return 1\n{indent}{exercises.END}"
            made = copies.stubbed(code("x", f"{before}{inside}\nend"))
            assert made == f"{before}{indent}# YOUR CODE HERE\n{indent}{stub}\nend"
    both = solution("longest") + "\n\n\n" + solution("scaled")
    parts = copies.stubbed(code("both", both, solution=True)).split("\n\n\n")
    assert parts == [
        f'def {name}(words):\n    """Return {name}."""\n    # YOUR CODE HERE\n    {stub}'
        for name in ("longest", "scaled")
    ]


def test_what_make_says_of_copies_that_are_there(house, monkeypatch):
    monkeypatch.setattr(evalset, "DEFAULT", house / "evals")
    both = ["session_a_words.ipynb", "session_b_more.ipynb"]
    assert make(house, fresh=True) == [f"learn/{name} written" for name in both]
    assert not list(house.glob("learn-*"))
    kept = "left as they are in learn/: {} (make learn FRESH=1 moves them aside)"
    assert make(house) == [kept.format(", ".join(both))]
    (house / "learn" / both[0]).unlink()
    assert make(house) == [f"learn/{both[0]} written", kept.format(both[1])]
    today = datetime.date.today().isoformat()
    old = f"learn-{today}"
    (house / "learn.kept.part" / "learn").mkdir(parents=True)  # of a run that was killed
    said = ["learn/ has new copies; the old ones stand in {}/"]
    assert make(house, fresh=True) == [said[0].format(old)]
    assert sorted(path.name for path in (house / "learn").iterdir()) == [
        "evals",
        "progress.jsonl",
        *both,
    ]
    assert make(house, fresh=True) == [said[0].format(f"{old}-2")]
    assert make(house, fresh=True) == [said[0].format(f"{old}-3")]
    assert [path.name for path in house.glob("*.part")] == ["learn.kept.part"]


def test_a_set_is_copied_whole_without_what_the_learner_makes(tmp_path, monkeypatch):
    kept = ["corpus/a.md", "results.json", "runs/a.trec"]
    left = ["notes.md", "n.ipynb", "p.html", "comparisons/a.md", "x.part", "runs/y.part"]
    for name in kept + left:
        files.write(tmp_path / "evals" / name, name)
    monkeypatch.setattr(evalset, "DEFAULT", tmp_path / "evals")
    to = tmp_path / "copy"
    copies.copy_set(to)
    assert files_of(to) == {name: name for name in kept}


def files_of(folder):
    """Return {name: text} of the files below a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_work_is_never_overwritten(house):
    make(house)
    files.write(house / "learn" / NAME, "mine")
    files.write(house / "learn" / "evals" / "results.json", "mine")
    assert (house / "learn" / "evals" / "corpus" / "rollback-v2.md").exists()
    make(house)
    assert "left as they are" in make(house)[0]
    shutil.rmtree(house / "learn" / "evals" / "corpus")
    before = files_of(house / "learn")
    (house / "learn" / RECORD).unlink()
    make(house)
    assert files_of(house / "learn") == before
    make(house, fresh=True)
    assert files_of(house / f"learn-{datetime.date.today().isoformat()}") == before
    assert "YOUR CODE" in copied(house).cells[3].source


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("limit", [40, 50_000])  # bytes: no notebook fits, or one page does not
def test_a_full_disk_is_told_and_leaves_all_as_it_was(house, monkeypatch, limit, fresh):
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    monkeypatch.setattr(evalset, "DEFAULT", house / "evals")
    if fresh:
        make(house)
    files.write(house / "evals" / "corpus" / "b.md", "page\n" * 20_000)
    before, soft = files_of(house), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, soft[1]))
    try:
        with pytest.raises(OSError) as caught:
            make(house, fresh)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    assert in_words(caught.value) == f"{house / 'learn'}: File too large"
    assert files_of(house) == before and not list(house.glob("*.part"))
    assert (house / "learn").exists() is fresh


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_that_was_faster_loses_nothing(house, monkeypatch, fresh):
    monkeypatch.setattr(evalset, "DEFAULT", house / "evals")

    def slow(to, copy_set=copies.copy_set):
        monkeypatch.setattr(copies, "copy_set", copy_set)
        make(house)
        files.write(house / "learn" / NAME, "mine")
        copy_set(to)

    monkeypatch.setattr(copies, "copy_set", slow)
    old = f"learn-{datetime.date.today().isoformat()}"
    assert make(house, fresh) == [f"learn/ has new copies; the old ones stand in {old}/"]
    assert (house / old / NAME).read_text() == "mine" and not list(house.glob("*.part"))
    assert {*files_of(house / "learn")} == {*files_of(house / old)}


def test_a_session_whose_exercises_cannot_be_told_writes_nothing(house):
    nested = solution("scaled", body=f"{exercises.BEGIN}\n    return 1")
    no_check = [cell for cell in session() if cell.id != "scaled-check"]
    for cells, words in (
        (
            changed("scaled-code", source=nested),
            f"^{NAME}: cell scaled-code, line 4: a region begins inside the one of line 3",
        ),
        (changed("setup", metadata={"tags": "x"}), f"^{NAME}: cell setup, metadata, tags: 'x' is"),
        (no_check, "cell scaled-code, line 1: the next code cell is no check"),
    ):
        write(house, cells)
        with pytest.raises(LearnError, match=words):
            make(house)
        assert not (house / "learn").exists()


@pytest.mark.proof
def test_the_checklist_of_the_week_says_what_is_missing(tmp_path):
    full = report.week(evalset.load(evalset.DEFAULT), set(report.METRICS))
    assert full.count("- [x]") == 8 and "[ ]" not in full and "I have a measured baseline" in full
    folder = tmp_path / "learn" / "evals"
    copies.copy_set(folder)
    assert "[ ] metrics pass their checks: 1 of 6" in report.week(evalset.load(folder), {"dcg"})
    (folder / "results.json").write_text("{}")
    for run in (folder / "runs").glob("*.trec"):
        run.unlink()
    missing = report.week(evalset.load(folder), set()).split("\n")
    assert [line[:30] for line in missing if line.startswith("- [ ]")] == [
        "- [ ] retrievals saved: none, ",
        "- [ ] metrics pass their check",
        "- [ ] results.json holds the s",
        "- [ ] the baseline told in a R",
        "- [ ] failure modes written do",
    ]
    notes = "## Baseline\nnDCG@10 of Brindle incident triage\n"
    (folder / "notes.md").write_text(notes + "".join(f"## q0{n}\nread\n" for n in range(1, 6)))
    told = report.week(evalset.load(folder), set())
    assert "- [x] the baseline" in told and "- [x] failure modes" in told
