"""The list of wrong edits: each can be made, and its run says whether a test noticed."""

import mutants
import nbformat


def test_every_listed_text_stands_in_its_file_and_every_target_is_there():
    gone = []
    for mutant in mutants.MUTANTS:
        text = (mutants.ROOT / mutant.file).read_text(encoding="utf-8")
        if mutant.file.endswith(".ipynb"):
            text = "\n".join(cell["source"] for cell in nbformat.reads(text, 4).cells)
        gone += [mutant.name] if mutant.old not in text else []
        gone += [] if (mutants.ROOT / mutant.target).exists() else [mutant.target]
    assert gone == []


def test_an_edit_that_changes_a_value_is_caught_and_one_that_changes_none_survives():
    listed = next(m for m in mutants.MUTANTS if m.name == "better and worse exchanged")
    assert mutants.run(listed) == "caught by check"
    assert mutants.run(listed._replace(new=f"{listed.old} ")) == "SURVIVED"


def test_edits_are_chosen_by_name_or_file_and_a_target_must_pass_unbroken(monkeypatch, capsys):
    ended = {"exchanged": "caught by check", "helpers/measure/stats": "SURVIVED"}
    for wanted, how in ended.items():
        monkeypatch.setattr(mutants, "run", lambda mutant, how=how: how)
        monkeypatch.setattr(mutants, "fails_unbroken", lambda target: "")
        assert mutants.main(wanted) == (how == "SURVIVED")
        assert f"{how:>15}  better and worse exchanged" in capsys.readouterr().out
    monkeypatch.setattr(mutants, "fails_unbroken", lambda target: target)
    assert mutants.main("exchanged") == 1
    assert "unbroken, and yet they fail: helpers/tests/test_stats.py" in capsys.readouterr().out
    assert mutants.main("no such edit") == 1 and "found EDIT=" in capsys.readouterr().out
