"""The quick tests and the eight questions send people to headings that are there."""

import json
import re
from pathlib import Path

import pytest

from helpers.teach import eight_questions
from helpers.teach.check import quick_test

FOLDER = Path(__file__).resolve().parents[3] / "notebooks"


@pytest.mark.parametrize("session", quick_test.SESSIONS)
def test_what_to_read_again_is_a_heading_of_its_part(session):
    (path,) = FOLDER.glob(f"session_{session.lower()}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    part, places = "", set()
    for level, words in re.findall(
        r"^(##+) (?:Exercise [A-Z]\d+: (?:the )?)?(.+?)\??$", text, re.M
    ):
        found = re.match(r"(\d)\. ", words)
        part = f"Part {found[1]}" if found and level == "##" else part
        words = re.sub(r"^\d\. | \(\d+ minutes\)$", "", words)
        places.add(f"{part}, {words}".lower())
    for question in quick_test.questions_of(session):
        assert question.again.lower().replace(", the ", ", ") in places, question.again


def test_the_eight_questions_name_parts_of_the_sessions_and_each_letter_twice():
    asked = eight_questions.questions()
    assert sorted(q.right for q in asked) == sorted("abcd" * 2)
    for question in asked:
        session, part = re.fullmatch(r"session ([ABC]), part (\d)", question.where).groups()
        (path,) = FOLDER.glob(f"session_{session.lower()}_*.ipynb")
        assert f'"## {part}. ' in path.read_text(encoding="utf-8"), question.where
