"""The small project, written into a temporary folder."""

import pytest

from helpers import records

from . import small_session


@pytest.fixture
def house(tmp_path):
    """Return a folder like the project's, with one session and a second that is nearly empty."""
    for name in ("evals/a.md", "notebooks/extra/page.md"):
        records.write(tmp_path / name, "page\n")
    records.write(tmp_path / "stand_in.py", small_session.STAND_IN)
    small_session.write(tmp_path, small_session.session())
    small_session.write(
        tmp_path, [small_session.markdown("b", "# Session B: more")], "session_b_more.ipynb"
    )
    return tmp_path
