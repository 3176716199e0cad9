"""Progress on small copies: what is done, wrong, not started, and cells that end or do not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_runtime_dir

from helpers.learn import LearnError, exercises, progress

from .small_session import BODIES, NAME, copied, make, solution, solve, write


def statuses(house, limit=10):
    source = exercises.sessions(house / "notebooks")[NAME]
    rows = progress.rows_of(NAME, source, house / "learn", house / "evals", limit)
    return {row.exercise.title: (row.status, row.words) for row in rows}


def test_progress_of_a_new_copy_then_of_every_solution(house):
    make(house)
    assert {status for status, _ in statuses(house).values()} == {"not started"}
    solve(house, **{f"{name}_code": solution(name) for name in BODIES})
    before = (house / "learn" / NAME).read_bytes()
    report = progress.progress_report(house / "evals", house / "notebooks", house / "learn")
    assert "Session A: words: 2 of 2 done, 20 of 20 minutes" in report
    assert " +A3  shout     10 min  done" in report and report.endswith("\neverything is done")
    assert (house / "learn" / NAME).read_bytes() == before
    assert len(list((house / "learn").glob("*.ipynb"))) == 2


def test_progress_half_way_through(house):
    make(house)
    loop = "for _ in range(3 * 10**9):\n        try:\n            1\n        except:\n            0"
    endless = solution("scaled", body=loop)
    solve(house, longest_code=solution("longest", body="return words[0]"), scaled_code=endless)
    report = progress.progress_report(
        house / "evals", house / "notebooks", house / "learn", limit=1
    )
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


def steps(*sources):
    return [progress.KernelStep(progress.ANSWER, str(n), text) for n, text in enumerate(sources)]


def test_a_cell_that_ends_python_or_never_ends_stops_no_other(tmp_path):
    cells = steps(
        "kept = 1",
        "while True: pass",  # an interrupt ends it
        "exit()",
        "quit()",
        "import sys; sys.exit()",
        "import os; os.kill(os.getpid(), 9)",
        # hears no interrupt; ends in a minute or so, so that no failed test leaves it running
        "import itertools\nsum(itertools.repeat(0, 15 * 10**9))",
        "kept += 1\nassert kept == 2, kept",
    )
    ended = progress.run_steps(cells, tmp_path, tmp_path, 1)
    endless, gone = "still running after 1 s", "the cell ended Python"
    assert [failed and failed.text for failed in ended] == [
        *(None, endless, gone, gone, gone, gone, endless, None)
    ]


def test_a_failure_is_told_in_one_line(tmp_path):
    wrong = "class Wrong(Exception):\n    summary = 'c is due'\nraise Wrong('a\\nb')"
    cells = steps(wrong, "1\nraise ValueError('a\\n  b')", "def f():\n    1 / 0\n\nf()", "x = 1 1")
    cells.append(progress.KernelStep(progress.PART, "4", "print(x)\n\nimport no_such_package"))
    no_frames = (
        "class Bare(Exception):\n    def _render_traceback_(self): return ['x']\nraise Bare('y')"
    )
    cells.append(progress.KernelStep(progress.WHOLE, "5", no_frames))
    ended = progress.run_steps(cells, tmp_path, tmp_path, 10)
    assert ended == [
        ("Wrong", "c is due", 3),
        ("ValueError", "a b", 2),
        ("ZeroDivisionError", "division by zero", 4),
        ("SyntaxError", "invalid syntax", 1),
        ("ModuleNotFoundError", "No module named 'no_such_package'", 3),
        ("Bare", "y", 0),
    ]
    assert [progress.at_line(failed) for failed in ended[-2:]] == [
        "line 3: ModuleNotFoundError: No module named 'no_such_package'",
        "Bare: y",
    ]


def test_a_part_keeps_imports_definitions_and_constants_on_their_lines():
    names = {}
    part = progress.part_of(
        "from math import pi; TWO = 2\nprint(undefined)\n@undefined\ndef lost(): ...\n"
        'def kept():\n    """One\n    two."""\n    return len(TWO * "a")\n'
        "late = kept()\nROWS = [n for n in range(TWO)]\nONES = [1 for _ in range(2)]\n"
        "%time 1\nimport no_such_package"
    )
    with pytest.raises(ImportError) as caught:
        exec(part, names)
    assert caught.traceback[1].lineno == 13 - 1
    assert {*names} == {"__builtins__", "pi", "TWO", "kept", "ONES"} and names["kept"]() == 2


def test_the_kernel_is_this_python_without_a_trace(tmp_path):
    cell = (
        "import os, sys\nassert os.environ['EVALS'] == 'e' and os.environ['PYTHONHASHSEED'] == '0'"
        f"\nassert sys.executable == {sys.executable!r} and os.getcwd() == {str(tmp_path)!r}"
        "\nassert not get_ipython().history_manager.enabled"
        "\nopen('id', 'w').write(str(os.getpid()))"
    )
    before = {*Path(jupyter_runtime_dir()).glob("*")}
    assert progress.run_steps(steps(cell), tmp_path, Path("e"), 10) == [None]
    assert gone(int((tmp_path / "id").read_text()))
    assert not {*Path(jupyter_runtime_dir()).glob("*")} - before


@pytest.mark.skipif(os.name == "nt", reason="asks for a process by its id")
def test_endless_cell_ends_with_the_program_that_runs_it(tmp_path):
    cell = f"import os\nopen({str(tmp_path / 'id')!r}, 'w').write(f'{{os.getpid()}} ')\nwhile 1: 1"
    asked = f"progress.run_steps([progress.KernelStep('answer', 'x', {cell!r})], '.', '.', 60)"
    code = f"from helpers.learn import progress\n{asked}"
    program = subprocess.Popen([sys.executable, "-c", code])
    until(lambda: (tmp_path / "id").exists() and " " in (tmp_path / "id").read_text())
    child = int((tmp_path / "id").read_text())
    try:
        program.kill()
        program.wait()
        until(lambda: gone(child), 20)  # it looks for its parent once a second
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


def until(holds, seconds=60):
    """Wait until something holds."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_progress_without_copies(house):
    with pytest.raises(LearnError, match="make learn"):
        progress.progress_report(house / "evals", house / "notebooks", house / "learn")
    (house / "learn").mkdir()
    (house / "learn" / NAME).write_text("{")
    assert set(statuses(house).values()) == {
        ("broken", "session_a_words.ipynb: cannot be read as a notebook")
    }
