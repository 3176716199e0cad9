"""Learner copies: stubs, numbers, links, and work that is never overwritten."""

import datetime

import pytest

from helpers import evalset, records, report
from helpers.learn import LearnError, copies, exercises

from .small_session import changed, code, copied, make, session, solution, write


def test_copies_hold_stubs_numbers_and_links_that_work(house):
    make(house)
    cells = {cell.id: cell for cell in copied(house).cells}
    stub = 'def scaled(words):\n    """Return scaled."""\n    # YOUR CODE HERE\n'
    assert cells["scaled-code"].source == (
        stub + '    raise NotImplementedError("not started yet")'
    )
    assert cells["shout-head"].source.startswith("### Exercise A3: shout\n")
    assert (
        "(session_b_more.ipynb) [set](../evals/a.md) [far](https://a.b/c)" in cells["title"].source
    )
    assert cells["title"].source.endswith("[part](#part) [page](../notebooks/extra/page.md)")
    assert cells["longest-check"].metadata["editable"] is False
    assert cells["longest-code"].metadata["nbgrader"]["grade_id"] == "longest-code"
    assert cells["scale"].metadata["tags"] == ["setup"]


def test_two_regions_in_a_cell_become_two_stubs():
    both = solution("longest") + "\n\n\n" + solution("scaled")
    made = copies.stubbed(code("both", both, solution=True))
    assert made.count("YOUR CODE") == 2 and "sorted" not in made and "def scaled" in made


def test_work_is_never_overwritten_and_fresh_moves_it_aside(house):
    make(house)
    (house / "learn" / "session_a_words.ipynb").write_text("mine")
    (house / "learn" / "session_b_more.ipynb").unlink()
    said = make(house)
    assert (house / "learn" / "session_a_words.ipynb").read_text() == "mine"
    assert said[0].endswith("session_b_more.ipynb written") and "left as they are" in said[1]
    today = datetime.date.today().isoformat()
    for name in (f"learn-{today}", f"learn-{today}-2"):
        assert name in make(house, fresh=True)[0]
    assert (house / f"learn-{today}" / "session_a_words.ipynb").read_text() == "mine"
    assert "YOUR CODE" in copied(house).cells[3].source


def test_all_copies_are_written_or_none(house, monkeypatch):
    def full(path, text, whole=records.write):
        if "session_b" in path.name:
            raise OSError("disk full")
        whole(path, text)

    monkeypatch.setattr(records, "write", full)
    with pytest.raises(OSError, match="disk full"):
        make(house)
    assert not list((house / "learn").iterdir())


def test_a_session_whose_exercises_cannot_be_told_writes_nothing(house):
    nested = solution("scaled", body=f"{exercises.BEGIN}\n    return 1")
    no_check = [cell for cell in session() if cell.id != "scaled-check"]
    for cells, words in (
        (changed("scaled-code", source=nested), "line 4: a region begins inside the one of line 3"),
        (no_check, "cell scaled-code, line 1: the next code cell is no check"),
    ):
        write(house, cells)
        with pytest.raises(LearnError, match=words):
            make(house)
        assert not (house / "learn").exists()


def test_copies_work_on_their_own_evaluation_set(house):
    make(house)
    assert (house / "learn" / "evals" / "corpus" / "rollback-v2.md").exists()
    assert not list((house / "learn" / "evals").glob("*.ipynb"))
    made = exercises.read_notebook(house / "learn" / "session_a_words.ipynb")
    code = next(cell.source for cell in made.cells if cell.cell_type == "code")
    assert 'os.environ.setdefault("EVALS", "evals")' in code
    (house / "learn" / "evals" / "results.json").write_text("mine")
    make(house)
    assert (house / "learn" / "evals" / "results.json").read_text() == "mine"


def test_the_checklist_of_the_week_says_what_is_missing(tmp_path):
    full = report.week(evalset.load(evalset.DEFAULT), set(report.METRICS))
    assert full.count("- [x]") == 8 and "[ ]" not in full and "I have a measured baseline" in full
    folder = tmp_path / "learn" / "evals"
    copies.copy_set(folder)
    assert "[ ] metrics pass their checks: 1 of 6" in report.week(evalset.load(folder), {"dcg"})
    (folder / "results.json").write_text("{}")
    for run in (folder / "runs").glob("*.trec"):
        run.unlink()
    missing = report.week(evalset.load(folder), set()).split("\n")
    assert [line[:30] for line in missing if line.startswith("- [ ]")] == [
        "- [ ] retrievals saved: none, ",
        "- [ ] metrics pass their check",
        "- [ ] results.json holds the s",
        "- [ ] the baseline told in a R",
        "- [ ] failure modes written do",
    ]
    notes = "## Baseline\nnDCG@10 of Brindle incident triage\n"
    (folder / "notes.md").write_text(notes + "".join(f"## q0{n}\nread\n" for n in range(1, 6)))
    told = report.week(evalset.load(folder), set())
    assert "- [x] the baseline" in told and "- [x] failure modes" in told
