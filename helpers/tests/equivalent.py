"""Wrong edits that change nothing anybody could see, each with its reason; at most 100.

`before` and `after` are the edited lines as `make mutants` prints them: spaces made one, several
lines joined. An entry whose text is gone is reported, so the table does not outlive the code.
"""

from typing import NamedTuple


class Equivalent(NamedTuple):
    """In `file` the lines `before` may as well read `after`."""

    file: str
    before: str
    after: str
    reason: str


EQUIVALENT: list[Equivalent] = []  # fmt: skip
