"""The tests in a real browser: make proof ONLY=browser SESSIONS=abc.

They take minutes, need the package playwright and a Chromium, and say so where one is missing.
"""

import functools
import os

import browser_hostile
import browser_lab
import browser_labelling
import browser_learning


def main(sessions: str = "a") -> None:
    """Run the tests, or say how many are skipped and why."""
    learning = functools.partial(browser_learning.main, sessions)
    tests = (browser_labelling.main, learning, browser_hostile.main)
    missing = browser_lab.missing()
    if missing:
        print(f"browser tests skipped: {len(tests)}, because {missing}")
        return
    for test in tests:
        test()


if __name__ == "__main__":
    main(os.environ.get("SESSIONS") or "a")
