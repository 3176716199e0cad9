"""The sessions as exercises."""

import nbformat

from helpers.learn import exercises

from .small_session import session


def test_quick_tests_have_minutes_and_no_number():
    cells = session()
    cells[2].source = "### Quick test\n\n15 minutes."
    found = exercises.exercises_of("session_c_x.ipynb", nbformat.v4.new_notebook(cells=cells))
    assert [(e.number, e.title, e.minutes, e.further) for e in found] == [
        ("", "Quick test", 15, False),
        ("C1", "scaled", 10, False),
        ("C2", "shout", 10, True),
    ]
