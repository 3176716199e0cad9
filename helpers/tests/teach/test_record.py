"""What a check writes down, where, and what is read of it."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from helpers.teach import check, record
from helpers.teach.check.passed import place_of_exercise

DCG = """from math import log2

def dcg(gains):
    return sum(g / log2(n) for n, g in enumerate(gains, 2))"""
WRONG = DCG.replace("enumerate(gains, 2)", "enumerate(gains, 1)")
STUB = 'def dcg(gains):\n    raise NotImplementedError("not started yet")'
QUIZ = 'def quick_test_c():\n    return {1: "x"}'


@pytest.fixture
def copies(tmp_path, monkeypatch):
    """Return a folder with an empty record, and work in its folder of further copies."""
    (tmp_path / record.RECORD).touch()
    (tmp_path / "further").mkdir()
    monkeypatch.chdir(tmp_path / "further")
    return tmp_path


@pytest.fixture
def shell(tmp_path):
    config = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(ipython_dir=str(tmp_path / "ipython"), config=config)
    shell.run_cell("from helpers.teach import check")
    return shell


CALLED = [  # (cell, call, check, result, words)
    (DCG, "check.dcg(dcg)", "dcg", "passed", ""),
    (f"%env\n{DCG}\n\n", "check.dcg(dcg)", "dcg", "passed", ""),
    (WRONG, "check.dcg(dcg)", "dcg", "wrong", "At rank 1 this divides by log2(1), which is 0"),
    (STUB, "check.dcg(dcg)", "dcg", "not started", "C3 DCG is not started yet: fill in "),
    (QUIZ, 'check.quiz("C", quick_test_c)', "quiz C", "wrong", "question 1 wants a number"),
]


def test_a_check_in_a_copy_writes_what_it_found_of_which_cell(copies, shell):
    for cell, call, name, result, words in CALLED:
        (copies / record.RECORD).write_text("")
        for source in (cell, "1 + 1", call):
            shell.run_cell(source)
        [(noted, [run])] = record.check_runs(copies).items()
        assert (noted, run.cell, run.result) == (name, record.cell_hash(cell), result)
        assert run.words.startswith(words)


def test_a_check_says_the_same_where_nothing_can_be_written_down(tmp_path, shell, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell.run_cell(DCG)
    assert shell.run_cell("check.dcg(dcg)").success
    assert not (tmp_path / record.RECORD).exists()  # no learner's copy
    (tmp_path / record.RECORD).mkdir()  # cannot be written
    assert shell.run_cell("check.dcg(dcg)").success
    with pytest.raises(check.Wrong):
        check.dcg(0.5)  # no function, so no cell


def test_cells_are_the_same_but_for_blank_ends():
    assert record.cell_hash("%time 1\nx = 2") == record.cell_hash("\n%time 1\nx = 2 \n\n")
    assert record.cell_hash("x = 2") != record.cell_hash("x = 3")
    assert len(record.cell_hash("x = (")) == len(record.cell_hash("%%bogus\n'")) == 16


def test_two_wrong_answers_open_a_way_on(copies, shell, capsys):
    def said(cell):
        shell.run_cell(cell)
        capsys.readouterr()
        shell.run_cell("check.dcg(dcg)")
        return " ".join(capsys.readouterr().out.split())

    others = [WRONG.replace("log2(n)", f"log2(n + {n})") for n in (5, 6, 7)]
    hints = [f"Hint {n}: {hint}" for n, hint in enumerate(place_of_exercise("dcg").hints, 1)]
    assert [" ".join(hint.split()) for hint in hints] == hints and len(hints) == 2
    assert "Hint" not in said(WRONG) + said(WRONG) + said(STUB)  # the same answer, and none
    told = [*hints, "You've now had every hint."]
    for cell, words in zip(others, told, strict=True):
        wanted = f'differ; the simplest is shown. {words} check.solution("dcg") shows a solution'
        assert wanted in said(cell)
    shell.run_cell('check.solution("dcg"); check.solution("it")')
    assert "def dcg(gains: list[float])" in capsys.readouterr().out
    assert [run.result for run in record.check_runs(copies)[f"{record.TAKEN}dcg"]] == ["taken"]
    assert "right on" in said(DCG) and f"{record.TAKEN}it" not in record.check_runs(copies)
    shell.run_cell('check.solution("dcg")')
    assert len(record.check_runs(copies)[f"{record.TAKEN}dcg"]) == 1
    (copies / record.RECORD).unlink()
    assert "Hint" not in "".join(map(said, others))


def test_lines_that_cannot_be_read_are_left_out(tmp_path):
    good = {"check": "dcg", "cell": "0f", "result": "passed", "words": "", "more": 1}
    bad = ("", "{", "[]", "3", '{"check": "dcg"}', "null", "\ud800")
    text = "\n".join([*bad, json.dumps(good), json.dumps(good)[:-9]])
    (tmp_path / record.RECORD).write_text(text, encoding="utf-8", errors="surrogatepass")
    assert record.check_runs(tmp_path) == {"dcg": [("0f", "passed", "")]}
    assert record.check_runs(tmp_path / "none") == {}
