"""The eight questions: what is told before the week and after it, and what a copy keeps.

That the answers follow from their questions is tried in proof/test_quiz_questions.py.
"""

import re

import pytest

from helpers.teach import eight_questions as eight
from helpers.teach import progress, record
from helpers.teach.check import Wrong
from helpers.teach.eight_questions import after_the_week, before_the_week

QUESTIONS = eight.questions()
RIGHT = "".join(question.right for question in QUESTIONS)
OPEN = "? ? ? ? ? ? ? ?"


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Return what a call prints and shows in a learner's copy."""
    (tmp_path / record.RECORD).touch()
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr(eight, "display", lambda page: shown.append(page.data))

    def call(function, answers):
        shown.clear()
        function(answers)
        return capsys.readouterr().out, "".join(shown)

    return call


def in_progress(tmp_path):
    return progress.eight_questions(record.check_runs(tmp_path))


def test_before_the_week_nothing_is_told(said, tmp_path):
    assert said(before_the_week, OPEN)[0] == "not answered, and that's fine\n"
    assert in_progress(tmp_path) == []
    for answers in ("a" * 8, "B, b ?\nb b b b b"):
        printed, page = said(before_the_week, answers)
        given = 8 - answers.count("?")
        assert printed == f"{given} of 8 answered; session C ends with the right answers\n"
        assert page.startswith("<details><summary>") and page.count("<br>c) ") == 8
        assert not any(question.why[:20] in page for question in QUESTIONS)
    assert record.answers("before") == ["a" * 8, "bb?bbbbb"]
    assert "answered before the week, not yet after it" in in_progress(tmp_path)[0]


def test_after_the_week_both_answers_stand_beside_the_right_one(said, tmp_path):
    before = "?" + RIGHT[1:3] + "".join("b" if x == "a" else "a" for x in RIGHT[3:])
    for answers in ("a" * 8, "c" * 8, before):
        said(before_the_week, answers)
    assert said(after_the_week, OPEN)[0] == "not answered, and that's fine\n"
    now = RIGHT[:-1] + "?"
    printed = said(after_the_week, now)[0]
    assert re.findall(r"(?m)^\d  before (.), now (.); right is (.)\) ", printed) == [
        *zip(before, now, RIGHT, strict=True)
    ]
    flat = " ".join(printed.split())
    for question in QUESTIONS:
        option = question.options["abcd".index(question.right)]
        assert f") {option}. {question.why} ({question.where})" in flat
    gain = "2 of 8 before the week, 7 of 8 now"
    assert printed.endswith(f"\n{gain}\n") and max(map(len, printed.split("\n"))) <= 66
    assert in_progress(tmp_path) == [f"Eight questions: {gain}\n"]
    said(before_the_week, RIGHT)  # the right ones are known by then
    assert said(after_the_week, RIGHT)[0] == printed
    assert record.answers("before") == ["a" * 8, "c" * 8, before]
    assert record.answers("after") == [now]


def test_answers_count_without_those_of_before_and_without_a_record(said, tmp_path):
    gain = "none answered before the week, 8 of 8 now"
    (tmp_path / record.RECORD).unlink()  # as in the lesson itself
    assert said(before_the_week, RIGHT)[0].startswith("8 of 8 answered")
    assert said(after_the_week, RIGHT)[0].endswith(f"\n{gain}\n")
    (tmp_path / record.RECORD).touch()
    assert said(after_the_week, RIGHT)[0].endswith(f"\n{gain}\n")
    assert in_progress(tmp_path) == [f"Eight questions: {gain}\n"]


@pytest.mark.parametrize("function", [before_the_week, after_the_week])
def test_what_is_no_answer_is_refused_with_what_is_wanted(said, tmp_path, function):
    for answers in ("a b c", "a b c d a b c e", "abcdabcda", "", None, ["a"] * 8):
        with pytest.raises(Wrong, match=r"; wanted eight answers, each a letter from a to d or \?"):
            said(function, answers)
    assert (tmp_path / record.RECORD).read_text() == ""
