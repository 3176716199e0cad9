"""Predictions: what is noted, what is shown beside the truth, what is counted at the end."""

import json
import math
import re
import shutil
from pathlib import Path

import nbval_alt
import numpy as np
import pytest
from drawing import points, rows, title

from helpers.label import audit, manifest
from helpers.measure import evalset
from helpers.teach import figures, predictions, workbook
from helpers.teach.predictions import NoPrediction, calibration, predict, truth


@pytest.fixture
def own(tmp_path, memory, monkeypatch):
    """Return a learner's set, which EVALS names in a kernel that has told nothing."""
    monkeypatch.setenv("EVALS", str(tmp_path))
    return tmp_path


CHOICES = ("up", "down")


def kept(folder):
    return json.loads((folder / "predictions.json").read_text(encoding="utf-8"))


def printed(capsys, call, *args):
    capsys.readouterr()
    call(*args)
    return capsys.readouterr().out


def test_without_a_prediction_the_truth_is_simply_shown(own, capsys):
    predict("a-x", ..., ..., top=100)  # the dots of the lesson say nothing
    predict("a-x", ..., among=CHOICES)
    assert capsys.readouterr().out == ""
    for value, form, shown in ((13.34, ".1f", "13.3"), ("low", "", "low"), (12345, ",d", "12,345")):
        assert printed(capsys, truth, "a-x", value, form) == f"a-x: {shown}\n"
    assert not [*own.iterdir()]


def test_a_range_stands_beside_the_truth_and_is_kept_until_it_may_not_change(own, capsys):
    predict("a-y", 10, 20)
    assert printed(capsys, predict, "a-x", 5, 12) == "a-x: 5 to 12, noted\n"
    assert printed(capsys, predict, "a-x", 5, 12.5) == "a-x: 5 to 12.5, noted\n"
    assert kept(own) == {"a-y": {"said": [10, 20]}, "a-x": {"said": [5, 12.5]}}
    shown = printed(capsys, truth, "a-x", 13.34, ".1f")
    assert shown == "a-x: 13.3; you said 5 to 12.5: missed\n"
    assert printed(capsys, truth, "a-y", 20, ",d").endswith("20; you said 10 to 20: held\n")
    stays = "a-x: 5 to 14. That comes after its truth, so it isn't noted\n"
    assert printed(capsys, predict, "a-x", 5, 14) == stays
    assert printed(capsys, predict, "a-x", 5, 12.5) == "a-x: 5 to 12.5, noted\n"  # Run All again
    predict("a-x", ..., ...)
    first = {"said": [5, 12.5], "held": False, "truth": "13.3"}
    both = {"a-x": first, "a-y": {"said": [10, 20], "held": True, "truth": "20"}}
    assert kept(own) == both
    truth("a-z", 6)  # its truth was seen before anything was said
    assert "That comes after its truth" in printed(capsys, predict, "a-z", 5, 7)
    assert printed(capsys, truth, "a-z", 6) == "a-z: 6\n" and kept(own) == both


HELD = [  # (what is said, truth, form, whether it held)
    ((1, 2), 1, "g", True),
    ((1, 2), 2.01, ".2f", False),
    ((1, 2), 2.01, ".1f", True),  # it reads like the end of the range
    ((1, 2), 0.9, ".1f", False),
    ((1.5, 2.5), 2, ",d", True),
    (("Up ",), "up", "g", True),
    (("down",), "up", "g", False),
    ((np.float32(0.5), np.int64(2)), np.float64(1), "g", True),
    ((1, 2), math.nan, "g", False),
]


def test_what_holds(own, capsys):
    for n, (said, value, form, held) in enumerate(HELD):
        predict(f"a-{n}", *said, among=np.array(CHOICES) if len(said) == 1 else ())
        end = ": held\n" if held else ": missed\n"
        assert printed(capsys, truth, f"a-{n}", value, form).endswith(end), (said, value)
        assert kept(own)[f"a-{n}"]["held"] is held


TWO, PERCENT, SHARE = "two numbers, ", "percent, 0 to 100", "a share, 0 to 1"
BOTH = {"among": ("runbook", "faq")}
REFUSED = [  # (what is said, settings, what is wanted)
    *((said, {}, TWO) for said in [(), (5,), (..., 60), (3, ...), ("0.5",), (9, 3), (1, 2, 3)]),
    *((said, {}, TWO) for said in [("a", "b"), (False, True), (math.nan, 2), (0, math.inf)]),
    *((said, BOTH, "one of 'faq', 'runbook'") for said in [("faqs",), ("",), (3, 5), (), (None,)]),
    (("faq", "runbook"), BOTH, "one of 'faq', 'runbook'"),
    *((said, {"top": 100}, PERCENT) for said in [(0.6, 0.9), (0.01, 1), (-1, 20), (20, 101)]),
    *((said, {"top": 1}, SHARE) for said in [(40, 60), (0.5, 1.01), (-0.1, 0.5)]),
    ((0.9, 0.6), {"top": 100}, TWO),
]
ON_SCALE = [((0, 1), 100), ((0, 100), 100), ((0.5, 1.5), 100), ((0, 1), 1), ((1, 1), 1)]


def test_what_is_no_prediction_is_refused_with_what_is_wanted(own):
    for said, settings, wanted in REFUSED:
        found = ", ".join(map(repr, said)) or "nothing"
        with pytest.raises(NoPrediction) as caught:
            predict("a-x", *said, **settings)
        assert str(caught.value).startswith(f"a-x: found {found}; wanted {wanted}")
    assert not [*own.iterdir()]
    for said, top in ON_SCALE:
        predict("a-x", *said, top=top)
        assert kept(own)["a-x"]["said"] == [*said]


def test_no_prediction_is_kept_for_our_own_set(monkeypatch, capsys):
    monkeypatch.delenv("EVALS", raising=False)
    assert "own set keeps no predictions" in printed(capsys, predict, "a-x", 1, 2)
    assert printed(capsys, truth, "a-x", 1.5) == "a-x: 1.5\n"
    assert "no range of yours" in printed(capsys, calibration)
    assert not (evalset.DEFAULT / "predictions.json").exists()


def test_a_broken_file_is_named_and_stays_as_it_is(own):
    file = own / "predictions.json"
    file.write_bytes(b"[]")
    for call in (lambda: predict("a-y", 1, 2), lambda: truth("a-x", 1), calibration):
        with pytest.raises(evalset.EvalSetError, match="predictions.json:1: "):
            call()
    assert file.read_bytes() == b"[]"


def write(folder, *entries):
    """Note predictions (name, said, held, truth)."""
    rows = {name: {"said": said, "held": held, "truth": t} for name, said, held, t in entries}
    (folder / "predictions.json").write_text(json.dumps(rows))


def test_each_range_is_a_bar_with_its_truth_on_a_scale_of_its_own(own, drawn, capsys):
    nothing = "no range of yours has met its truth yet\n"
    assert printed(capsys, calibration) == nothing
    choice = ("a-least", "up", True, "up")
    write(own, choice)
    assert printed(capsys, calibration) == f"{nothing}choices: 1 of 1 right\n" and not drawn
    outside = ("c-ndcg", [0.2, 0.6], False, "0.700"), ("b-new", [2000, 4000], False, "1,500")
    write(own, *outside, ("a-x", [3, 3], True, "3"), choice, ("a-longer", [10, 50], True, "40"))
    assert printed(capsys, calibration).endswith("\nchoices: 1 of 1 right\n")
    [(ax, told)] = drawn
    names = ["A: x", "A: over 512 tokens, %", "B: new", "C: nDCG@10"]
    assert rows(ax) == names and title(ax) == "2 of 4 ranges held"
    assert np.allclose(points(ax)["o"], [(1, 0), (0.75, 1), (0, 2), (1, 3)])
    ends = np.reshape(points(ax)["None"], (4, 2, 2))[..., 0]
    assert np.allclose(ends, [(1, 1), (0, 1), (0.2, 1), (0, 0.8)])
    faces = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "o"]
    assert faces == [figures.DARK, figures.DARK, "white", "white"]  # readable in grey
    beside = ["3 to 3, was 3", "10 to 50, was 40", "2,000 to 4,000, was 1,500"]
    assert rows(ax.child_axes[0]) == [*beside, "0.2 to 0.6, was 0.700"]
    assert "A: x: 3 to 3, was 3; A: over 512 tokens, %: 10 to 50, was 40; B: new: 2,0" in told


def test_a_figure_has_words_for_each_range_of_the_week():
    source = "".join(path.read_text(encoding="utf-8") for path in workbook.SESSIONS)
    assert {*predictions.WORDS} == {*re.findall(r'predict\(\\"([a-z-]+)\\", \.\.\., \.', source)}


SURE = "you were too sure, as most people are. "
VERDICTS = [  # (ranges that held, ranges, how many should, what that says)
    (20, 20, 16, "you know more than you say. Make the next ones narrower"),
    (19, 20, 16, "that's within chance. Go on like this"),
    (13, 20, 16, "that's within chance. Go on like this"),
    (12, 20, 16, f"{SURE}Make the next ones wider"),
    (1, 5, 4, f"{SURE}Make the next ones wider"),
    (2, 5, 4, "too few to tell"),
    (4, 5, 4, "too few to tell"),
    (9, 9, 7, "too few to tell"),
    (10, 10, 8, "that's within chance. Go on like this"),
]


def test_what_a_count_says_of_the_ranges():
    for held, n, due, words in VERDICTS:
        count = f"{held} of your {n} ranges held; of 80 % ranges about {due} should: "
        ranges = [{"held": True}] * held + [{"held": False}] * (n - held)
        assert predictions.count_in_words(ranges) == count + words


def test_no_command_trips_over_the_file(tmp_path, monkeypatch):
    copy = Path(shutil.copytree(workbook.ROOT / "notebooks" / "bad_set", tmp_path / "evals"))
    monkeypatch.setenv("EVALS", str(copy))
    before = evalset.load(copy)
    said = audit.as_table(audit.findings(before))
    predict("a-x", 1, 2)
    evals = evalset.load(copy)
    assert audit.as_table(audit.findings(evals)) == said
    assert evals.queries_hash() == before.queries_hash()
    assert "predictions.json" not in manifest.differences(copy)
    manifest.write_manifest(evals, {})
    assert "predictions" not in (copy / "manifest.json").read_text(encoding="utf-8")
    assert kept(nbval_alt.copy_of_set(copy, tmp_path / "checked")) == kept(copy)
