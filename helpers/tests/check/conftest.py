"""Each test of `Exercises` runs on each exercise of its module."""

from .exercises import BODIES, checks_of


def pytest_generate_tests(metafunc):
    """Give the tests of an `Exercises` class the names, wrong solutions and stubs they run on."""
    lesson, wanted = metafunc.cls, set(metafunc.fixturenames)
    if not hasattr(lesson, "solutions"):
        return
    if "sentence" in wanted:
        metafunc.parametrize(("name", "old", "new", "sentence"), lesson.wrong)
    elif "name" in wanted:
        metafunc.parametrize("name", checks_of(*lesson.modules))
    if "body" in wanted:
        metafunc.parametrize("body", BODIES[:2])
