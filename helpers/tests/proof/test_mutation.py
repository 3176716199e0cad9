"""The wrong edits of the mutants: what each operator changes, and which edits are drawn."""

import os
from types import SimpleNamespace

import mutants
import mutation
import nbformat
import pytest
import reach
from equivalent import EQUIVALENT, Equivalent

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


def made(kind):
    """Return (before, after) of the edits of one class."""
    return {(e.before, e.after) for e in mutation.edits_of("a.py", SNIPPET) if e.kind == kind}


KEPT = "kept = [row for row in sorted(rows) if row < most]"
GIVEN = "return len(kept[1:]) / max(len(rows), 1)"
HEAD = "def share(rows: list[int], most: int = 3, strict=True) -> float:"


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("comparison", KEPT, KEPT.replace("<", ">=")),
        ("comparison", GIVEN, GIVEN.replace("max", "min")),
        ("boundary", KEPT, KEPT.replace("<", "<=")),
        ("boundary", GIVEN, GIVEN.replace("1:", "(0):")),
        ("arithmetic", GIVEN, GIVEN.replace("/", "*")),
        ("constant", HEAD, HEAD.replace("3", "4")),
        ("constant", 'log("a sentence", "word")', "log(\"a sentence\", 'wordx')"),
        ("slice", GIVEN, GIVEN.replace("1:", ":")),
        ("removed call", 'log("a sentence", "word")', "pass"),
        ("removed call", KEPT, KEPT.replace("sorted(rows)", "(rows)")),
        ("swapped", 'log("a sentence", "word")', 'log("word", "a sentence")'),
        ("flag", HEAD, HEAD.replace("True", "False")),
        ("flag", "if not rows and strict:", "if (rows) and strict:"),
        ("returned default", GIVEN, "return 0"),
        ("removed raise", "raise ValueError(most)", "pass"),
        ("condition", "if not rows and strict:", "if False:"),
        ("condition", KEPT, KEPT.replace("row < most", "True")),
        ("and/or", "if not rows and strict:", "if not rows or strict:"),
    ],
)
def test_operator(kind, before, after):
    assert (before, after) in made(kind)


def test_prose_annotations_and_imports_stay():
    edits = [*mutation.edits_of("a.py", SNIPPET)]
    assert not [e for e in edits if e.line < 5 or "docstring" in e.before or "sentencex" in e.after]
    assert all("list[int]" in e.after and "-> float" in e.after for e in edits if e.line == 5)


def test_what_changes_nothing_by_its_nature_is_no_edit():
    text = "few = max(a, b)\npairs = zip(a, b, strict=True)\nrun(a, strict=True)\n"
    after = {e.after for e in mutation.edits_of("a.py", text)}
    assert not after & {"few = max(b, a)", "pairs = zip(a, b, strict=False)"}
    assert {"few = min(a, b)", "pairs = zip(b, a, strict=True)", "run(a, strict=False)"} <= after


def test_lines_keep_their_numbers_and_an_edit_without_effect_is_none():
    text = "call(\n    1,\n)\nnext = 'é' + str(2)\n"
    gone, *_ = (e for e in mutation.edits_of("a.py", text) if e.kind == "removed call")
    assert mutation.apply(text, gone) == "pass\n\n\nnext = 'é' + str(2)\n"
    two = next(e for e in mutation.edits_of("a.py", text) if e.after.endswith("str(3)"))
    assert mutation.apply(text, two) == text.replace("2", "3")
    assert mutation.differs(text, two) and not mutation.differs(text, two._replace(new="2"))


@pytest.fixture
def root(tmp_path):
    for name in ("helpers/share.py", "helpers/tests/test_share.py", "notebooks/check/more.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SNIPPET)
    return tmp_path


def test_a_sample_is_the_same_for_a_seed_and_outlives_a_move(root):
    edits = mutation.all_edits(root)
    assert {e.file for e in edits} == {"helpers/share.py", "notebooks/check/more.py"}
    first = mutation.sample(root, edits, 10, 1)
    assert first == mutation.sample(root, edits[::-1], 10, 1) != mutation.sample(root, edits, 10, 2)
    page = root / "helpers/share.py"
    page.write_text(page.read_text().replace("import math\n", "import math\n\n\n"))
    moved = mutation.sample(root, mutation.all_edits(root), 10, 1)
    assert [(e.file, e.before, e.after) for e in moved] == [
        (e.file, e.before, e.after) for e in first
    ]


def test_equivalents_are_left_out_and_stale_ones_named(root):
    named = Equivalent("helpers/share.py", GIVEN, GIVEN.replace("/", "*"), "for this test")
    stale = named._replace(after="gone")
    edits = mutation.all_edits(root)
    left, gone = mutation.without_equivalents(edits, [named, stale])
    assert gone == [stale] and len(left) == len(edits) - 1
    assert len(EQUIVALENT) <= 100 and all(entry.reason for entry in EQUIVALENT)


def test_every_listed_text_stands_in_its_file():
    gone = []
    for mutant in mutants.MUTANTS:
        text = (mutants.ROOT / mutant.file).read_text(encoding="utf-8")
        if mutant.file.endswith(".ipynb"):
            text = "\n".join(cell["source"] for cell in nbformat.reads(text, 4).cells)
        gone += [mutant.name] if mutant.old not in text else []
    assert gone == []


def test_wilson_interval():
    """Newcombe (1998), table I: 81 of 263 and 0 of 20."""
    assert mutation.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert mutation.wilson(0, 20) == pytest.approx((0, 0.1611), abs=1e-4)


def test_a_line_that_no_test_reaches_is_not_covered(monkeypatch, capsys):
    edit = SimpleNamespace(file="helpers/x.py", cell="", line=9, kind="flag", before="a", after="b")
    assert mutants.of_module(None, edit, set(), []) == "NOT COVERED"
    monkeypatch.setattr(mutants, "run_sampled", lambda e: mutants.of_module(None, e, set(), []))
    assert mutants.run_sample(SimpleNamespace(map=map), [edit]) == 0
    said = capsys.readouterr().out
    assert "NOT COVERED  helpers/x.py:9  [flag]" in said and "0/1 caught  0.00 [0.00, 0.79]" in said


def test_a_header_runs_with_its_body_and_a_line_of_the_module_where_its_name_is_used():
    text = "LIMIT = 3\n\n\ndef f(a=1):\n    if a:\n        return (\n            LIMIT\n        )\n"
    assert reach.lines_around(text, 1) == ([], {"LIMIT"})
    assert reach.lines_around(text, 4) == ([5, 6, 7, 8], set())
    assert reach.lines_around(text, 5) == ([5], set())
    assert reach.lines_around(text, 7) == ([6, 7, 8], set())


def test_the_tests_of_the_mirror_come_first_and_the_quickest_next():
    found = reach.Reach([])
    found.seconds = {"a.py::slow": 30.0, "b.py::quick": 1.0, "c.py::own[1]": 5.0}
    order = reach.in_order(found, [*found.seconds], ["c.py"], 20)
    assert order == ["c.py::own[1]", "b.py::quick"]
    keep = reach.Chosen(["b.py::quick", "c.py::own", "d.py"])
    names = ("d.py::any", "c.py::own[1]", "b.py::quick", "b.py::other")
    assert [keep.place(name) for name in names] == [2, 1, 0, None]


@pytest.mark.parametrize(
    ("job", "status"),
    [(lambda: 0, 0), (lambda: 1 / 0, 3), (lambda: os.getcwd() == "" or 5, 5)],
)
def test_a_fork_ends_with_the_status_of_its_job(tmp_path, job, status):
    (tmp_path / "tree").mkdir()
    assert reach.forked(tmp_path / "tree", job, 5).status == status


def test_an_endless_fork_is_ended(tmp_path):
    def endless():
        while True:
            pass

    (tmp_path / "tree").mkdir()
    assert reach.forked(tmp_path / "tree", endless, 0).status != 0
