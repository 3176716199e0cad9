"""Answers to print: every solution and reason, no marker, and the minutes of the parts."""

from helpers.teach import answers, exercises
from helpers.teach.check import quick_test


def test_each_session_has_a_page_with_every_solution_reason_and_part():
    for name, session in exercises.read_lessons().items():
        if exercises.is_further(name):
            continue
        cells = answers.answers_of(name, session).cells
        page = "\n\n".join(cell.source for cell in cells)
        for exercise in exercises.exercises_of(name, session):
            assert f"## {exercise.number} {exercise.title}".replace("  ", " ") in page
            first, last = exercises.regions(session.cells[exercise.code])[0]
            lines = session.cells[exercise.code].source.splitlines()[first : last - 1]
            assert "\n".join(lines) in page
        letter = exercises.session_letter(name)
        questions = quick_test.questions_of(letter)
        assert page.index(f"8. {questions[7].reason}") > page.index(f"1. {questions[0].reason}") > 0
        assert "### BEGIN" not in page and page.startswith(f"# Session {letter}: answers")
        minutes = sum(int(minutes) for _, minutes in answers.PART.findall("\n".join(
            cell.source for cell in session.cells)))  # fmt: skip
        form = page.partition("| what stopped you |")[2].splitlines()[2:]
        assert sum(int(row.split("|")[2]) for row in form) == minutes > 100


def test_pages_are_written_for_sessions_alone(tmp_path):
    lines = answers.write_answers(folder=tmp_path / "answers")
    names = sorted(path.name for path in (tmp_path / "answers").iterdir())
    assert [name[:9] for name in names] == ["session_a", "session_b", "session_c"]
    assert lines[0].endswith(f"{names[0]} written: print it")
    page = (tmp_path / "answers" / names[0]).read_text(encoding="utf-8")
    assert "<h2" in page and "<pre" in page
