"""Progress on small copies: what is done, wrong, not started, and cells that end or do not."""

import ast
import inspect
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_core.paths import jupyter_runtime_dir
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import v4

from helpers.learn import LearnError, copies, exercises, progress

from .small_session import (
    BODIES,
    NAME,
    code,
    copied,
    make,
    markdown,
    session,
    solution,
    solve,
    write,
)


def statuses(house, limit=10):
    source = exercises.lessons(house / "notebooks")[NAME]
    rows = progress.rows_of(NAME, source, house / "learn", house / "evals", limit)
    return {row.exercise.title: (row.status, row.words) for row in rows}


@pytest.mark.proof
def test_progress_of_a_new_copy_then_of_every_solution(house):
    make(house)
    assert {status for status, _ in statuses(house).values()} == {"not started"}
    solve(house, **{f"{name}_code": solution(name) for name in BODIES})
    before = (house / "learn" / NAME).read_bytes()
    report = progress.progress_report(house / "evals", house / "notebooks", house / "learn")
    assert "Session A: words: 3 of 3 done, 30 of 30 minutes" in report
    assert "  A3  shout     10 min  done" in report and report.endswith("\neverything is done")
    assert (house / "learn" / NAME).read_bytes() == before
    assert len(list((house / "learn").glob("*.ipynb"))) == 2


@pytest.mark.proof
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
    assert "  A3  shout     10 min  not started\n" in report
    assert report.endswith("next: A1 longest (10 minutes) in session_a_words.ipynb")


@pytest.mark.proof
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


def test_a_further_notebook_runs_where_it_stands_and_an_older_copy_where_that_stands(
    house, monkeypatch
):
    name, cells, ran = "further/more.ipynb", session(), []
    monkeypatch.setattr(
        progress, "run_steps", lambda steps, at, *more: ran.append(at) or [None] * len(steps)
    )
    source = v4.new_notebook(cells=cells)
    for folder in ("learn", "learn/further"):
        write(house, cells, Path(name).name if "further" in folder else NAME, folder)
        progress.rows_of(name, source, house / "learn", house / "evals")
    assert ran == [house / "learn", house / "learn" / "further"]


def test_copy_that_uses_an_open_exercise_says_so(house):
    make(house)
    solve(house, scaled_code=solution("scaled"))
    assert statuses(house)["scaled"] == ("wrong", "it uses an exercise that is not started")


# Without a kernel: what is run, and what is said of how it ended.


def row(title, status, words="", number="A1", minutes=10, further=False):
    exercise = exercises.Exercise(f"{title}-id", 1, 2, 3, number, title, minutes, further)
    return progress.Row(exercise, status, words)


def test_a_report_counts_the_core_path_and_names_what_comes_next():
    long = "word " * 30
    sessions = {
        "session_a.ipynb": (
            "Session A: x",
            [
                row("first", "done", minutes=5),
                row("Quick test", "wrong", "expected 1, got 2", number="", minutes=120),
                row("third one", "not started", number="A12"),
            ],
        ),
        "further/more.ipynb": ("More?", [row("more", "done", number="A13", further=True)]),
        "further/none.ipynb": ("None?", []),
        "session_b.ipynb": ("Session B: y", []),
        "session_c.ipynb": ("Session C: z", [row("last", "broken", long, number="C1")]),
    }
    assert progress.report_on(sessions, {}) == "\n".join(
        [
            "Session A: x: 1 of 3 done, 5 of 135 minutes",
            "  A1  first         5 min  done",
            "      Quick test  120 min  wrong        expected 1, got 2",
            "  A12 third one    10 min  not started",
            "",
            "Session B: y: 0 of 0 done, 0 of 0 minutes",
            "",
            "Session C: z: 0 of 1 done, 0 of 10 minutes",
            "  C1  last   10 min  broken       " + "word " * 19 + "…",
            "",
            "Going further, not in the minutes of the week",
            " +A13 more   10 min  done",
            "",
            "next: Quick test (120 minutes) in session_a.ipynb",
        ]
    )


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        ([row("a", "done")], ["", "everything is done"]),
        ([row("a", "missing")], ["", "next: A1 a (10 minutes) in s.ipynb"]),
        (
            [row("m", "wrong", number="A9", further=True), row("a", "broken")],
            ["", "next: A1 a (10 minutes) in s.ipynb"],
        ),
        (
            [row("m", "wrong", further=True), row("n", "wrong", further=True), row("a", "done")],
            ["", "next: A1 m (10 minutes) in s.ipynb"],
        ),
    ],
)
def test_the_core_path_comes_before_what_is_further_on(rows, last):
    assert progress.report_on({"s.ipynb": ("S", rows)}, {}).split("\n")[-2:] == last


def test_a_cell_beside_the_exercises_that_stopped_with_an_error_is_named(monkeypatch, house):
    make(house)
    cells = copied(house).cells
    outputs = {
        "scale": ("TypeError", "no\n  list " + "word " * 40),
        "longest-code": ("KeyError", "an exercise, told by its row"),
        "longest-check": ("Wrong", "not right"),
    }
    for cell in cells:
        if cell.id in outputs:
            ename, evalue = outputs[cell.id]
            cell.outputs = [v4.new_output("error", ename=ename, evalue=evalue, traceback=[])]
    write(house, cells, folder="learn")
    monkeypatch.setattr(progress, "rows_of", lambda *_: [row("a", "done")])
    places = (house / "set", house / "notebooks", house / "learn")
    report = progress.progress_report(*places)
    stopped, blank = report.split("\n")[4:6]
    assert report.count("stopped with") == 1 and not blank
    words = "      cell scale stopped with an error when it last ran: TypeError: no list word "
    assert stopped.startswith(words) and stopped.endswith("word …")
    assert report.endswith("\nevery exercise is done")
    bare = next(cell for cell in cells if cell.id == "scale").outputs[0]
    bare["ename"], bare["evalue"] = "AssertionError", ""
    assert progress.stopped_cells(v4.new_notebook(cells=cells))[0].endswith(" ran: AssertionError")
    for ename in ("NotStarted", "NotImplementedError", "KeyboardInterrupt"):
        next(c for c in cells if c.id == "scale").outputs[0]["ename"] = ename
        assert progress.stopped_cells(v4.new_notebook(cells=cells)) == []


NOT_STARTED = progress.Failure("NotStarted", "not started yet", 1)
STUB = "raise NotImplementedError"


@pytest.mark.parametrize(
    ("found", "source", "broken", "status"),
    [
        (None, STUB, "cell a", ("done", "")),
        (NOT_STARTED, f"    {STUB}('x')", "cell a", ("not started", "")),
        (progress.Failure("NotImplementedError", "x"), STUB, "", ("not started", "")),
        (NOT_STARTED, "pass", "cell a", ("wrong", "it uses an exercise that is not started")),
        (progress.GONE, STUB, "cell a", ("wrong", "the cell ended Python")),
        (progress.Failure("Endless", "still running"), "", "cell a", ("wrong", "still running")),
        (progress.Failure("Wrong", "1 is due", 2), "", "cell a", ("broken", "cell a")),
        (progress.Failure("Wrong", "1 is due", 2), "", "", ("wrong", "1 is due")),
        (progress.Failure("KeyError", "'x'", 2), "", "", ("wrong", "line 2: KeyError: 'x'")),
        (progress.Failure("KeyError", "'x'"), "", "", ("wrong", "KeyError: 'x'")),
        (progress.Failure("KeyError", "'x'", 1), "", "", ("wrong", "line 1: KeyError: 'x'")),
    ],
)
def test_status_of_an_exercise(found, source, broken, status):
    assert progress._status(found, source, broken) == status


@pytest.mark.parametrize(
    ("content", "failure"),
    [
        ({"ename": "Endless"}, ("Endless", "still running after 2.5 s", 0)),
        ({"ename": "SystemExit"}, ("Ended", "the cell ended Python", 0)),
        (
            {
                "ename": "E",
                "evalue": " a\n  b ",
                "traceback": ["x", "Cell In[12], line 34, in f", "line 5"],
            },
            ("E", "a b", 34),
        ),
        (
            {"ename": "E", "evalue": "", "traceback": ["Cell In[1], line 2", "Cell In[3], line 4"]},
            ("E", "", 2),
        ),
        (
            {"ename": "SyntaxError", "evalue": "bad (a.py, line 3)", "traceback": []},
            ("SyntaxError", "bad", 0),
        ),
        ({"ename": "E", "evalue": "a (b, line 3) c", "traceback": []}, ("E", "a (b, line 3) c", 0)),
    ],
)
def test_a_report_of_a_kernel_becomes_one_line(content, failure):
    assert progress._failure(content, v4.new_code_cell("1", metadata={"limit": 2.5})) == failure


def test_steps_are_the_copys_cells_with_the_checks_of_the_session():
    source, cells = v4.new_notebook(cells=session()), session()
    found = exercises.exercises_of(NAME, source)
    for cell in cells:
        cell.source = f"# mine\n{cell.source}"
    mine = {cell.id: cell.source for cell in cells}
    ours = {cell.id: cell.source for cell in source.cells}
    made = progress.steps_of(source, v4.new_notebook(cells=cells), found)
    assert [(step.kind, step.name) for step in made] == [
        ("whole", "setup"),
        ("answer", "longest-code"),
        ("check", "longest-code"),
        ("part", "longest-use"),
        ("whole", "scale"),
        ("answer", "scaled-code"),
        ("check", "scaled-code"),
        ("part", "scaled-use"),
        ("part", "loud"),
        ("answer", "shout-code"),
        ("check", "shout-code"),
    ]
    checks = [ours[f"{step.name[:-5]}-check"] for step in made if step.kind == "check"]
    assert [step.source for step in made if step.kind == "check"] == checks
    assert all(step.source == mine[step.name] for step in made if step.kind != "check")
    alone = v4.new_notebook(cells=[cells[1], cells[4], cells[5]])
    assert progress.steps_of(source, alone, found) == []  # nothing is checked


def test_whole_cells_are_the_first_with_code_and_those_tagged_setup():
    cells = [markdown("a", "# A"), code("b", "1"), code("c", "1", tags=["x"])]
    assert progress.whole_cells(v4.new_notebook(cells=cells)) == {"b"}
    cells += [code("d", "1", tags=["x", "setup"]), markdown("e", "1")]
    cells[-1].metadata["tags"] = ["setup"]
    assert progress.whole_cells(v4.new_notebook(cells=cells)) == {"b", "d"}
    assert progress.whole_cells(v4.new_notebook(cells=cells[:1])) == set()


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        *((text, True) for text in ("import os", "from os import path", "def f(): ...")),
        *((text, True) for text in ("async def f(): ...", "class A: ...", "A = 1", "A: int = 2")),
        *((text, True) for text in ("A = [x for x in range(3)]", "A = max(sorted({1, 2}))")),
        *(
            (text, True)
            for text in ("A = frozenset(str(float(int('1'))))", "A = sum(tuple(list()))")
        ),
        *((text, True) for text in ("A = min(dict())", "A = len(set())", "A = B = 'x'")),
        *(
            (text, False)
            for text in ("A: int", "A = B", "f()", "A = f()", "A = [y for x in range(3)]")
        ),
        *((text, False) for text in ("A += 1", "print(1)", "A = print", "for n in (1,): B = n")),
    ],
)
def test_definitions_are_what_depends_on_nothing_else(source, kept):
    assert progress._is_definition(ast.parse(source).body[0]) is kept
    assert bool(progress.part_of(source)) is kept


def test_a_cell_that_is_no_python_is_left_to_the_kernel():
    assert progress.part_of("x = 1 1\nimport os") == "x = 1 1\nimport os"
    assert progress.part_of("print(1)\n%time x") == ""


def stubbed(monkeypatch, house, *ended):
    """Let the steps of the small session end so; return what was asked and what rows_of says."""
    asked, endings = [], dict(ended)

    def run_steps(steps, folder, evals, limit):
        asked.append((folder, evals, limit))
        return [endings.get((step.kind, step.name)) for step in steps]

    monkeypatch.setattr(progress, "run_steps", run_steps)
    source = exercises.lessons(house / "notebooks")[NAME]
    rows = progress.rows_of(NAME, source, house / "learn", house / "set", 5)
    return asked, [(found.exercise.title, found.status, found.words) for found in rows]


def lay(house):
    """Write a copy of the small session."""
    made = copies.learner_copies(house / "notebooks", house / "learn")[NAME]
    write(house, made.cells, folder="learn")


WRONG = progress.Failure("Wrong", "1 is due", 2)
BROKEN = progress.Failure("NameError", "x", 3)


@pytest.mark.parametrize(
    ("ended", "rows"),
    [
        ([], [("done", "")] * 3),
        ([(("check", "scaled-code"), WRONG)], [("done", ""), ("wrong", "1 is due"), ("done", "")]),
        (
            [(("answer", "longest-code"), BROKEN), (("check", "longest-code"), WRONG)],
            [("wrong", "line 3: NameError: x"), ("done", ""), ("done", "")],
        ),
        (
            [
                (("check", "longest-code"), WRONG),
                (("whole", "scale"), BROKEN),
                (("part", "loud"), WRONG),
                (("check", "shout-code"), WRONG),
            ],
            [("wrong", "1 is due"), ("done", ""), ("broken", "cell scale, line 3: NameError: x")],
        ),
        (
            [(("part", "loud"), BROKEN), (("check", "shout-code"), WRONG)],
            [("done", ""), ("done", ""), ("broken", "cell loud, line 3: NameError: x")],
        ),
    ],
)
def test_rows_of_steps_that_ended_so(monkeypatch, house, ended, rows):
    lay(house)
    asked, found = stubbed(monkeypatch, house, *ended)
    assert asked == [(house / "learn", house / "set", 5)]
    assert [(status, words) for _, status, words in found] == rows
    assert [title for title, *_ in found] == ["longest", "scaled", "shout"]


def test_rows_where_nothing_can_run(monkeypatch, house):
    asked, found = stubbed(monkeypatch, house)
    assert {row[1:] for row in found} == {("missing", "no copy yet; make learn writes it")}
    (house / "learn").mkdir()
    (house / "learn" / NAME).write_text("{")
    _, found = stubbed(monkeypatch, house)
    words = "session_a_words.ipynb: cannot be read as a notebook (Expecting"
    assert [(row[1], row[2][: len(words)]) for row in found] == [("broken", words)] * 3
    without_ids = v4.new_notebook(cells=session())  # as Colab saves it
    for cell in without_ids.cells:
        del cell["id"]
    (house / "learn" / NAME).write_text(json.dumps(without_ids | {"nbformat_minor": 4}))
    _, found = stubbed(monkeypatch, house)
    words = "session_a_words.ipynb: nbformat_minor: 4 is less than the minimum of 5, wanted"
    assert [(row[1], row[2][: len(words)]) for row in found] == [("broken", words)] * 3
    assert not asked
    lay(house)
    cells = [cell for cell in copied(house).cells if cell.id != "scaled-code"]
    write(house, cells, folder="learn")
    _, found = stubbed(monkeypatch, house)
    assert found[1][1:] == ("missing", "its cell is gone; make learn FRESH=1 writes new copies")
    assert found[0][1] == found[2][1] == "done"


def test_a_report_names_each_session_and_asks_for_copies(monkeypatch, house):
    places, asked = (house / "set", house / "notebooks", house / "learn"), []
    with pytest.raises(LearnError, match="^no copies in learn/ yet; make learn writes them$"):
        progress.progress_report(*places)
    lay(house)

    def rows_of(name, source, *more):
        asked.append((name, *more))
        return [row(name[8:9], "done", minutes=len(source.cells))]

    monkeypatch.setattr(progress, "rows_of", rows_of)
    (house / "learn" / "session_b_more.ipynb").write_text("")
    for day, path in enumerate(sorted((house / "learn").glob("*.ipynb")), 20):
        os.utime(path, (time.mktime((2026, 11, day, 14, 42, 0, 0, 0, -1)),) * 2)
    assert progress.progress_report(*places).split("\n") == [
        "read from the files in learn/, last saved 21 Nov 14:42",
        "",
        "Session A: words: 1 of 1 done, 17 of 17 minutes",
        "  A1  a   17 min  done",
        "",
        "Session B: more: 1 of 1 done, 1 of 1 minutes",
        "  A1  b    1 min  done",
        "",
        "everything is done",
    ]
    assert sorted(asked) == [
        (name, house / "learn", house / "set", 10) for name in (NAME, "session_b_more.ipynb")
    ]
    progress.progress_report(*places, limit=3)
    assert asked[-1][-1] == 3
    found = inspect.signature(progress.progress_report).parameters
    assert found["notebooks"].default == exercises.LESSONS
    assert found["folder"].default == copies.LEARN


def test_steps_run_again_without_what_ended_the_kernel(monkeypatch):
    ran, endless = [], progress.Failure("Endless", "still running")
    rounds = iter(
        [
            (False, {0: WRONG, 1: progress.GONE}),
            (False, {0: WRONG, 2: endless}),
            (True, {3: BROKEN}),
        ]
    )

    def run(cells, found, folder, evals):
        ran.append((dict(found), folder, evals))
        there, more = next(rounds)
        found.update(more)
        return there

    monkeypatch.setattr(progress, "_run_cells", run)
    kinds = ("whole", "part", "answer", "check", "part")
    made = [progress.KernelStep(kind, "x", "print(1)") for kind in kinds]
    ended = progress.run_steps(made, Path("f"), Path("e"), 7)
    assert ended == [None, progress.GONE, endless, BROKEN, None]
    places = (Path("f"), Path("e"))
    kept = ({}, {1: progress.GONE}, {1: progress.GONE, 2: endless})
    assert ran == [(found, *places) for found in kept]


def test_cells_have_the_limits_of_their_kind(monkeypatch):
    seen = []
    monkeypatch.setattr(progress, "_run_cells", lambda cells, *more: seen.extend(cells) or True)
    kinds = ("whole", "part", "answer", "check")
    progress.run_steps([progress.KernelStep(k, "x", "print(1)") for k in kinds], None, None, 7)
    assert [(cell.source, cell.metadata.limit) for cell in seen] == [
        ("print(1)", 60),
        ("", 60),
        ("print(1)", 7),
        ("print(1)", 7),
    ]


def test_a_kernel_runs_what_is_left_until_it_is_gone(monkeypatch, tmp_path):
    asked, ran = [], []

    @contextmanager
    def setup_kernel(**words):
        asked.append(words)
        yield

    def client(cells, found, scratch):
        assert scratch.is_dir() and cells == list("abcde") and found == {1: WRONG}
        return SimpleNamespace(setup_kernel=setup_kernel)

    def run(client, cells, n, found):
        ran.append(n)
        return n != gone_at

    monkeypatch.setattr(progress, "_client", client)
    monkeypatch.setattr(progress, "_run_cell", run)
    monkeypatch.setenv("KEPT", "as it is")
    monkeypatch.setenv("EVALS", "another")
    for gone_at, left in ((3, [0, 2, 3]), (None, [0, 2, 3, 4])):
        ran.clear()
        there = progress._run_cells(list("abcde"), {1: WRONG}, tmp_path, Path("e"))
        assert there is (gone_at is None) and ran == left
    own = {"EVALS": "e", "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
    assert asked[0] == {
        "cwd": str(tmp_path),
        "env": {**os.environ, **own},
        "cleanup_kc": True,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }


class Client:
    """A stand-in for a kernel's client, whose cells end as told."""

    def __init__(self, *endings):
        self.endings, self.ran, self.found = iter(endings), [], {}

    def execute_cell(self, cell, n):
        self.ran.append((cell.source, n))
        ending = next(self.endings)
        if isinstance(ending, Exception):
            raise ending
        if isinstance(ending, progress.Failure):
            self.found[n] = ending
            return None
        return v4.new_code_cell("", outputs=[v4.new_output("execute_result", t) for t in ending])


@pytest.mark.parametrize(
    ("endings", "failure", "there"),
    [
        ([[]], None, True),
        ([BROKEN], BROKEN, True),
        ([WRONG, [{"text/plain": "'2 are due'"}]], ("Wrong", "2 are due", 2), True),
        ([WRONG, [{"text/plain": "None"}]], WRONG, True),
        ([WRONG, []], WRONG, True),
        ([CellTimeoutError("x")], ("Endless", "still running after 7 s", 0), False),
        ([DeadKernelError("x")], progress.GONE, False),
    ],
)
def test_how_one_cell_ends(endings, failure, there):
    client, cell = Client(*endings), v4.new_code_cell("1", metadata={"limit": 7})
    found = client.found
    assert progress._run_cell(client, [None, cell], 1, found) is there
    assert found == ({} if failure is None else {1: failure})
    assert client.ran[0] == ("1", 1) and all(n == -1 for _, n in client.ran[1:])


@pytest.mark.parametrize(("system", "transport"), [("posix", "ipc"), ("nt", "tcp")])
def test_a_client_stops_what_does_not_end_and_keeps_no_kernel(
    tmp_path, monkeypatch, system, transport
):
    monkeypatch.setattr(progress, "os", SimpleNamespace(name=system))
    found, cell = {}, v4.new_code_cell("1", metadata={"limit": 7})
    client = progress._client([cell], found, tmp_path)
    assert (client.km.transport, client.km.kernel_spec_manager.kernel_dirs) == (transport, [])
    assert client.km.connection_file == str(tmp_path / "kernel.json")
    flags = ("allow_errors", "interrupt_on_timeout", "raise_on_iopub_timeout", "record_timing")
    assert [getattr(client, flag) for flag in flags] == [True, True, True, False]
    assert (client.timeout_func(cell), client.timeout_func(v4.new_code_cell("1"))) == (7, 60)
    assert client.shutdown_kernel == "immediate" and client.extra_arguments == progress.OPTIONS
    assert client.error_on_timeout == {"ename": "Endless"} and client.nb.cells == [cell]
    client.on_cell_error(cell, 0, {"content": {"ename": "SystemExit"}})
    assert found == {0: progress.GONE}


# With a kernel.


def steps(*sources):
    return [progress.KernelStep(progress.ANSWER, str(n), text) for n, text in enumerate(sources)]


@pytest.mark.proof
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


@pytest.mark.proof
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
    assert {status for status, _ in statuses(house).values()} == {"broken"}
