"""Learner copies and progress, on small sessions with a stand-in for notebooks.check."""

import datetime
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from helpers import evalset, records, report
from helpers.learn import copies as learn
from helpers.learn import progress

STAND_IN = """class NotStarted(Exception): ...
class Wrong(Exception): ...
def same(function, argument, expected):
    try:
        got = function(argument)
    except NotImplementedError:
        raise NotStarted("not started yet") from None
    if got != expected:
        raise Wrong(f"expected {expected},\\n got {got}")
"""
SETUP = 'import sys\n\nsys.path.insert(0, "..")\nimport stand_in as check'
BODIES = {  # three exercises: a plain one, one that uses it and a setup cell, one further on
    "longest": "found = sorted(words, key=len)\n    return found[-1]",
    "scaled": "return scale * len(longest(words))",
    "shout": "return LOUD + longest(words).upper()",
}
EXPECTED = {"longest": "ccc", "scaled": 6, "shout": "!CCC"}
WORDS = ["a", "ccc", "bb"]


def markdown(cell_id, source):
    return nbformat.v4.new_markdown_cell(source, id=cell_id)


def code(cell_id, source, tags=(), **grading):
    cell = nbformat.v4.new_code_cell(source, id=cell_id, execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", text="stored\n")]
    if tags:
        cell.metadata["tags"] = list(tags)
    if grading:
        usual = dict.fromkeys(("grade", "locked", "solution", "task"), False)
        ids = {"grade_id": cell_id, "schema_version": 3}
        cell.metadata["nbgrader"] = {**usual, **ids, **grading}
    return cell


def solution(name, body=None, before=learn.BEGIN, after=learn.END):
    lines = (f"def {name}(words):", f'"""Return {name}."""', before, body or BODIES[name], after)
    return "\n    ".join(line for line in lines if line)


def exercise(name):
    """Return the cells of one exercise."""
    head = f"### Exercise: {name}\n\nDifficulty 1 of 3 · 10 minutes · to know it."
    return [
        markdown(f"{name}-head", head),
        code(f"{name}-code", solution(name), solution=True),
        code(
            f"{name}-check",
            f"check.same({name}, {WORDS}, {EXPECTED[name]!r})",
            grade=True,
            points=1,
        ),
        code(f"{name}-use", f"print({name}({WORDS}))"),
    ]


def session():
    links = "[next](session_b_more.ipynb) [set](../evals/a.md) [far](https://a.b/c) [part](#part)"
    return [
        markdown("title", f"# Session A: words\n\n{links} [page](extra/page.md)"),
        code("setup", SETUP),
        *exercise("longest"),
        code("scale", "import os\n\nscale = len(os.environ['EVALS'][:2])", tags=["setup"]),
        *exercise("scaled"),
        markdown("further", "# Going further"),
        code("loud", "LOUD = str('!')\ndef low(by=unknown): ...\nprint(low())"),
        *exercise("shout"),
    ]


@pytest.fixture
def house(tmp_path):
    """Return a folder like the project's, with one session and a second that is nearly empty."""
    for name in ("evals/a.md", "notebooks/extra/page.md"):
        records.write(tmp_path / name, "page\n")
    records.write(tmp_path / "stand_in.py", STAND_IN)
    write(tmp_path, session())
    write(tmp_path, [markdown("b", "# Session B: more")], "session_b_more.ipynb")
    return tmp_path


def write(house, cells, name="session_a_words.ipynb", folder="notebooks"):
    notebook = nbformat.v4.new_notebook(cells=cells)
    records.write(house / folder / name, nbformat.writes(notebook) + "\n")


def make(house, fresh=False):
    return learn.make(fresh, house / "notebooks", house / "learn")


def copied(house):
    return learn.read(house / "learn" / "session_a_words.ipynb")


def solve(house, **sources):
    """Write sources into the learner's cells, by cell id."""
    notebook = copied(house)
    for cell in notebook.cells:
        cell.source = sources.get(cell.id.replace("-", "_"), cell.source)
    write(house, notebook.cells, folder="learn")


def statuses(house, limit=10):
    source = learn.sources(house / "notebooks")["session_a_words.ipynb"]
    name = "session_a_words.ipynb"
    rows = progress.rows(name, source, house / "learn", house / "evals", limit)
    return {row.exercise.title: (row.status, row.words) for row in rows}


def refused(house, cells):
    """Return what make says of a session."""
    write(house, cells)
    with pytest.raises(learn.LearnError) as caught:
        make(house)
    assert not (house / "learn").exists()
    return str(caught.value)


def changed(cell_id, **changes):
    cells = session()
    next(cell for cell in cells if cell.id == cell_id).update(**changes)
    return cells


def test_copies_hold_stubs_numbers_and_links_that_work(house):
    make(house)
    cells = {cell.id: cell for cell in copied(house).cells}
    stub = 'def scaled(words):\n    """Return scaled."""\n    # YOUR CODE HERE\n'
    assert cells["scaled-code"].source == (
        stub + '    raise NotImplementedError("not started yet")'
    )
    assert cells["shout-head"].source.startswith("### Exercise A3: shout\n")
    assert (
        "(session_b_more.ipynb) [set](../evals/a.md) [far](https://a.b/c)" in cells["title"].source
    )
    assert cells["title"].source.endswith("[part](#part) [page](../notebooks/extra/page.md)")
    assert cells["longest-check"].metadata["editable"] is False
    assert cells["longest-code"].metadata["nbgrader"]["grade_id"] == "longest-code"
    assert cells["scale"].metadata["tags"] == ["setup"]


def test_quick_tests_have_minutes_and_no_number():
    cells = session()
    cells[2].source = "### Quick test\n\n15 minutes."
    found = learn.exercises("session_c_x.ipynb", nbformat.v4.new_notebook(cells=cells))
    assert [(e.number, e.title, e.minutes, e.further) for e in found] == [
        ("", "Quick test", 15, False),
        ("C1", "scaled", 10, False),
        ("C2", "shout", 10, True),
    ]


def test_two_regions_in_a_cell_become_two_stubs():
    both = solution("longest") + "\n\n\n" + solution("scaled")
    made = learn.stubbed(code("both", both, solution=True))
    assert made.count("YOUR CODE") == 2 and "sorted" not in made and "def scaled" in made


def test_work_is_never_overwritten_and_fresh_moves_it_aside(house):
    make(house)
    (house / "learn" / "session_a_words.ipynb").write_text("mine")
    (house / "learn" / "session_b_more.ipynb").unlink()
    said = make(house)
    assert (house / "learn" / "session_a_words.ipynb").read_text() == "mine"
    assert said[0].endswith("session_b_more.ipynb written") and "left as they are" in said[1]
    today = datetime.date.today().isoformat()
    for name in (f"learn-{today}", f"learn-{today}-2"):
        assert name in make(house, fresh=True)[0]
    assert (house / f"learn-{today}" / "session_a_words.ipynb").read_text() == "mine"
    assert "YOUR CODE" in copied(house).cells[3].source


def test_all_copies_are_written_or_none(house, monkeypatch):
    def full(path, text, whole=records.write):
        if "session_b" in path.name:
            raise OSError("disk full")
        whole(path, text)

    monkeypatch.setattr(records, "write", full)
    with pytest.raises(OSError, match="disk full"):
        make(house)
    assert not list((house / "learn").iterdir())


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (solution("scaled", after=""), 3, "never ends"),
        (solution("scaled", before=""), 4, "never began"),
        (solution("scaled", body=f"{learn.BEGIN}\n    return 1"), 4, "inside the one of line 3"),
        (solution("scaled", before="# BEGIN SOLUTION"), 3, "is no marker"),
        (f"{learn.BEGIN}\nscaled = 1\n{learn.END}", 1, "function body"),
        ("def scaled(words):\n    return 1", 1, "without markers"),
    ],
)
def test_markers_are_refused_with_notebook_cell_and_line(house, source, line, words):
    said = refused(house, changed("scaled-code", source=source))
    assert f"session_a_words.ipynb: cell scaled-code, line {line}: " in said and words in said


def test_metadata_and_order_are_refused(house):
    cells = session()
    assert "without nbgrader's solution metadata" in refused(
        house, changed("scaled-use", source=solution("scaled"))
    )
    assert "not code" in refused(house, changed("further", source=solution("scaled")))
    twice = code("scaled-code", solution("scaled"), solution=True, grade_id="longest-code")
    assert "cell scaled-code, line 3: grade_id 'longest-code' is taken by cell longest-code" in (
        refused(house, changed("scaled-code", metadata=twice.metadata))
    )
    no_check = [cell for cell in cells if cell.id != "scaled-check"]
    assert "cell scaled-code, line 1: the next code cell is no check" in refused(house, no_check)
    no_head = [cell for cell in cells if cell.id != "scaled-head"]
    assert "no heading" in refused(house, no_head)
    no_code = [cell for cell in cells if cell.id != "shout-code"]
    assert "heading without a solution cell" in refused(house, no_code)
    assert "lacks the line 'difficulty" in refused(
        house, changed("scaled-head", source="### Exercise: scaled")
    )
    del twice.metadata["nbgrader"]["task"]
    points = code("scaled-check", "", grade=True)
    assert "lacks points" in refused(house, changed("scaled-check", metadata=points.metadata))
    assert "lacks task" in refused(house, changed("scaled-code", metadata=twice.metadata))


def test_solutions_told_elsewhere_and_dead_links_are_refused(house):
    def said(cell_id, source):
        write(house, changed(cell_id, source=source))
        return learn.static_problems(house / "notebooks", house / "learn")[0]

    hint = "<details>`return scale  * len(longest(words))`</details>"
    assert said("further", hint) == [
        "session_a_words.ipynb: cell further: tells scaled-code's solution: "
        "return scale * len(longest(words))"
    ]
    assert "cell loud: tells" in said("loud", "LOUD = '!'\nfound=sorted(words, key = len)")[0]
    assert said("loud", "LOUD = '!'\nprint(found[-1])") == []
    assert said("further", "[gone](gone.md)") == [
        "session_a_words.ipynb: cell further: link to ../notebooks/gone.md: no such file"
    ]


def test_sound_sessions_have_no_problems(house):
    assert progress.problems(house / "notebooks", house / "evals") == []
    assert not list(house.glob("learn*"))


def test_rehearsal_finds_what_learners_would_stumble_over(house):
    cells = changed("scale", metadata={})  # the second exercise needs it
    cells[1].source += "\nprint(longest(['a']))"  # stops before the first exercise
    check = next(cell for cell in cells if cell.id == "shout-check")
    check.source = "print('all is well')"
    write(house, cells)
    said = progress.problems(house / "notebooks", house / "evals")
    assert [line.partition(":")[2] for line in said] == [
        " cell setup, line 5: NameError: name 'longest' is not defined: "
        "the copy stops before its exercises",
        " cell scaled-code, line 1: NameError: name 'scale' is not defined: "
        "the solution fails where only setup cells and definitions ran",
        " shout-code: the check does not say of the stub that it is not started",
    ]


def test_progress_of_a_new_copy_then_of_every_solution(house):
    make(house)
    assert {status for status, _ in statuses(house).values()} == {"not started"}
    solve(house, **{f"{name}_code": solution(name) for name in BODIES})
    before = (house / "learn" / "session_a_words.ipynb").read_bytes()
    report = progress.progress(house / "evals", house / "notebooks", house / "learn")
    assert "Session A: words: 2 of 2 done, 20 of 20 minutes" in report
    assert " +A3  shout     10 min  done" in report and report.endswith("\neverything is done")
    assert (house / "learn" / "session_a_words.ipynb").read_bytes() == before
    assert len(list((house / "learn").glob("*.ipynb"))) == 2


def test_progress_half_way_through(house):
    make(house)
    endless = solution(
        "scaled",
        body="while True:\n        try:\n            pass\n        except:\n            pass",
    )
    solve(house, longest_code=solution("longest", body="return words[0]"), scaled_code=endless)
    report = progress.progress(house / "evals", house / "notebooks", house / "learn", limit=1)
    assert "  A1  longest   10 min  wrong        expected ccc, got a\n" in report
    assert "  A2  scaled    10 min  wrong        still running after 1 s\n" in report
    assert " +A3  shout     10 min  not started\n" in report
    assert report.endswith("next: A1 longest (10 minutes) in session_a_words.ipynb")


def test_progress_where_cells_are_broken_gone_or_end_python(house):
    make(house)
    solve(
        house,
        longest_code="import os\n\nos._exit(3)",
        scale="import os\n\nscale = 1 +",
        scaled_code=solution("scaled"),
        shout_code="def shout(words):\n    return 1 1",
        shout_check="print('changed by the learner')",
    )
    said = statuses(house)
    assert said["longest"] == ("wrong", "the cell ended Python")
    assert said["scaled"] == ("broken", "cell scale, line 3: SyntaxError: invalid syntax")
    assert said["shout"][0] == "broken"
    cells = [cell for cell in copied(house).cells if cell.id not in ("scale", "longest-code")]
    write(house, cells, folder="learn")
    said = statuses(house)
    assert said["longest"][0] == "missing" and said["scaled"][0] == "wrong"
    assert said["shout"][0] == "wrong" and said["shout"][1].startswith("line 2: SyntaxError")


def test_copy_that_uses_an_open_exercise_says_so(house):
    make(house)
    solve(house, scaled_code=solution("scaled"))
    assert statuses(house)["scaled"] == ("wrong", "it uses an exercise that is not started")


@pytest.mark.skipif(os.name == "nt", reason="asks for a process by its id")
def test_endless_cell_ends_with_the_program_that_runs_it(tmp_path):
    cell = f"import os\nopen({str(tmp_path / 'id')!r}, 'w').write(f'{{os.getpid()}} ')\nwhile 1: 1"
    asked = f"cells.run([cells.Step('exercise', 'x', {cell!r})], '.', '.', 60)"
    program = subprocess.Popen([sys.executable, "-c", f"from helpers.learn import cells\n{asked}"])
    until(lambda: (tmp_path / "id").exists() and " " in (tmp_path / "id").read_text())
    child = int((tmp_path / "id").read_text())
    try:
        program.kill()
        program.wait()
        until(lambda: gone(child))
    finally:
        if not gone(child):
            os.kill(child, 9)


def gone(process_id):
    """Return whether no process has this id."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{process_id}/stat")
    return state.exists() and ") Z " in state.read_text()


def until(holds, seconds=10):
    """Wait until something holds."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_progress_without_copies(house):
    with pytest.raises(learn.LearnError, match="make learn"):
        progress.progress(house / "evals", house / "notebooks", house / "learn")
    (house / "learn").mkdir()
    (house / "learn" / "session_a_words.ipynb").write_text("{")
    assert set(statuses(house).values()) == {
        ("broken", "session_a_words.ipynb: cannot be read as a notebook")
    }


def test_copies_work_on_their_own_evaluation_set(house):
    make(house)
    assert (house / "learn" / "evals" / "corpus" / "rollback-v2.md").exists()
    assert not list((house / "learn" / "evals").glob("*.ipynb"))
    made = learn.read(house / "learn" / "session_a_words.ipynb")
    code = next(cell.source for cell in made.cells if cell.cell_type == "code")
    assert 'os.environ.setdefault("EVALS", "evals")' in code
    (house / "learn" / "evals" / "results.json").write_text("mine")
    make(house)
    assert (house / "learn" / "evals" / "results.json").read_text() == "mine"


def test_a_session_in_a_browser():
    script = [sys.executable, str(Path(__file__).parents[1] / "browser_learning.py"), "a"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr


def test_the_checklist_of_the_week_says_what_is_missing(tmp_path):
    full = report.week(evalset.load(evalset.DEFAULT), set(report.METRICS))
    assert full.count("- [x]") == 8 and "[ ]" not in full and "I have a measured baseline" in full
    folder = tmp_path / "learn" / "evals"
    learn.copy_set(folder)
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
