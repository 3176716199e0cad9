"""Answers to print: every solution and reason, no marker, and the minutes of the parts."""

from helpers.measure import evalset, results
from helpers.teach import answers, exercises
from helpers.teach.check import failures, quick_test


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


def test_the_page_of_session_c_names_the_causes_of_the_three_lowest_cards():
    """Each thing that it names passes the check alone, and none of those cards' is missing."""
    name, session = [*exercises.read_lessons().items()][2]
    texts = [cell.source for cell in answers.answers_of(name, session).cells]
    (page,) = [text for text in texts if "| query | cause |" in text]
    found = results.read_results(evalset.DEFAULT)
    cards = {card["query_id"]: card for card in found["cards"]}
    lowest = sorted(found["per_query"], key=lambda row: row["measures"].get("nDCG@10", 1))
    lowest = [row["query_id"] for row in lowest if row["query_id"] in cards][:3]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| q")]
    shown = {}
    for query_id, cause, told in rows[1:]:
        shown[query_id] = [(cause, proof) for proof in told.rpartition(": ")[2].split(", ")]
    assert [*shown] == lowest
    by_rule = {query_id: cards[query_id]["cause"] for query_id in lowest}
    for query_id, readings in shown.items():
        assert len(readings) == len(failures.CAUSES[by_rule[query_id]].proof(cards[query_id])) > 0
        for reading in readings:
            named = {q: readings[0] for q, readings in shown.items()}
            failures.causes(named | {query_id: reading}, by_rule, cards)
