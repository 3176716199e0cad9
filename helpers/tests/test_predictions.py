"""Predictions: what is noted, what is shown beside the truth, what is counted at the end."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from helpers import evalset, workbook
from helpers.labels import audit, manifest
from helpers.learn import copies
from notebooks import predictions
from notebooks.predictions import NoPrediction, calibration, predict, truth


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a learner's set, which EVALS names."""
    monkeypatch.setenv("EVALS", str(tmp_path))
    monkeypatch.setattr(predictions, "SHOWN", set())
    return tmp_path


CHOICES = ("up", "down")
OTHER_SCALE = [
    ((0.6, 0.9), 100, "percent, 0 to 100"),
    ((0.01, 1), 100, "percent, 0 to 100"),
    ((-1, 20), 100, "percent, 0 to 100"),
    ((20, 101), 100, "percent, 0 to 100"),
    ((40, 60), 1, "a share, 0 to 1"),
    ((0.5, 1.01), 1, "a share, 0 to 1"),
    ((-0.1, 0.5), 1, "a share, 0 to 1"),
]


def kept(folder):
    return json.loads((folder / "predictions.json").read_text(encoding="utf-8"))


def said_of(capsys, call, *args):
    call(*args)
    return capsys.readouterr().out


def test_the_dots_of_the_lesson_say_nothing_and_the_truth_is_simply_shown(own, capsys):
    for said in ((..., ...), (...,)):
        predict("a-x", *said)
    assert capsys.readouterr().out == "" and not [*own.iterdir()]
    assert said_of(capsys, truth, "a-x", 13.34, ".1f") == "a-x: 13.3\n"
    assert said_of(capsys, truth, "a-x", "too low") == "a-x: too low\n"
    assert said_of(capsys, truth, "a-x", 1234567) == "a-x: 1,234,567\n"
    assert not [*own.iterdir()]


def test_a_range_stands_beside_the_truth_and_is_kept(own, capsys):
    assert said_of(capsys, predict, "a-x", 5, 12.5) == "a-x: 5 to 12.5, noted\n"
    assert kept(own) == {"a-x": {"said": [5, 12.5]}}
    shown = said_of(capsys, truth, "a-x", 13.34, ".1f")
    assert shown == "a-x: 13.3; you said 5 to 12.5: not\n"
    predict("a-y", 10, 20)
    assert said_of(capsys, truth, "a-y", 20, ",d").endswith("20; you said 10 to 20: held\n")
    assert kept(own) == {
        "a-x": {"said": [5, 12.5], "held": False},
        "a-y": {"said": [10, 20], "held": True},
    }


@pytest.mark.parametrize(
    ("said", "value", "form", "held"),
    [
        ((1, 2), 1, "g", True),
        ((1, 2), 2, "g", True),
        ((1, 2), 2.01, ".2f", False),
        ((1, 2), 2.01, ".1f", True),  # it reads like the end of the range
        ((1, 2), 0.99, ".1f", True),
        ((1, 2), 0.9, ".1f", False),
        ((1.5, 2.5), 2, ",d", True),
        ((1, 1), 1, ",d", True),
        (("up",), "up", "g", True),
        (("Up ",), "up", "g", True),
        (("down",), "up", "g", False),
        ((np.float32(0.5), np.int64(2)), np.float64(1), "g", True),
        ((1, 2), np.int64(3), ",d", False),
    ],
)
def test_what_holds(own, capsys, said, value, form, held):
    predict("a-x", *said, among=CHOICES if len(said) == 1 else ())
    truth("a-x", value, form)
    assert capsys.readouterr().out.endswith(": held\n" if held else ": not\n")
    assert kept(own)["a-x"]["held"] is held


@pytest.mark.parametrize(
    ("said", "value"), [(("up",), 3), ((1, 2), "up"), ((1, 2), math.nan), (("up",), math.nan)]
)
def test_what_cannot_be_compared_is_said_and_not_counted(own, capsys, said, value):
    predict("a-x", *said, among=CHOICES if len(said) == 1 else ())
    assert said_of(capsys, truth, "a-x", value).endswith("the two cannot be compared\n")
    assert "held" not in kept(own)["a-x"]


@pytest.mark.parametrize(
    "said",
    [
        (),
        (5,),
        (..., 60),
        (3, ...),
        ("about 0.5",),
        (9, 3),
        (1, 2, 3),
        ("a", "b"),
        ("5", "9"),
        (" ",),
        (None,),
        (False, True),
        (math.nan, 2),
        (0, math.inf),
        ([1, 2],),
        (1, 2j),
    ],
)
def test_what_is_no_prediction_is_refused_with_what_is_wanted(own, said):
    with pytest.raises(NoPrediction) as caught:
        predict("a-x", *said)
    found = ", ".join(map(repr, said)) or "nothing"
    assert str(caught.value) == (
        f'a-x: found {found}; wanted two numbers, predict("a-x", low, high) with low <= high'
    )
    assert isinstance(caught.value, ValueError) and not [*own.iterdir()]


@pytest.mark.parametrize(("said", "top", "unit"), OTHER_SCALE)
def test_a_range_on_the_other_scale_is_refused(own, said, top, unit):
    with pytest.raises(NoPrediction) as caught:
        predict("a-x", *said, top=top)
    assert str(caught.value) == f"a-x: found {said[0]}, {said[1]}; wanted {unit}"
    with pytest.raises(NoPrediction, match="wanted two numbers"):
        predict("a-x", said[1], said[0], top=top)
    predict("a-x", ..., ..., top=top)
    assert not [*own.iterdir()]


@pytest.mark.parametrize(
    ("said", "top"), [((0, 1), 100), ((0, 100), 100), ((0.5, 1.5), 100), ((0, 1), 1), ((1, 1), 1)]
)
def test_a_range_on_its_scale_is_noted(own, said, top):
    predict("a-x", *said, top=top)
    assert kept(own)["a-x"]["said"] == [*said]


def test_a_notebook_shows_the_words_and_no_frames(own, tmp_path, capsys):
    config = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell(ipython_dir=str(tmp_path / "ipython"), config=config)
    shell.run_cell("from notebooks.predictions import predict", silent=True)
    capsys.readouterr()
    shell.run_cell('predict("a-x", 9, 3)', silent=True)
    assert capsys.readouterr().out.startswith("a-x: found 9, 3; wanted two numbers, predict(")


def test_a_range_may_be_changed_until_it_has_met_its_truth(own, capsys):
    predict("a-x", 5, 9)
    predict("a-x", 5, 8)
    assert kept(own)["a-x"]["said"] == [5, 8]
    truth("a-x", 8.5)
    capsys.readouterr()
    assert said_of(capsys, predict, "a-x", 5, 9) == (
        "a-x: 5 to 8 stays, because it has met its truth\n"
    )
    assert kept(own)["a-x"] == {"said": [5, 8], "held": False}
    assert said_of(capsys, predict, "a-x", 5, 8) == "a-x: 5 to 8, noted\n"  # Run All again
    predict("a-x", ..., ...)
    assert kept(own)["a-x"] == {"said": [5, 8], "held": False}


def test_a_range_that_comes_after_its_truth_is_shown_and_not_counted(own, monkeypatch, capsys):
    truth("a-x", 6)
    predict("a-y", 1, 2)
    capsys.readouterr()
    late = "a-x: 5 to 7, noted, but not counted: its truth was shown before\n"
    assert said_of(capsys, predict, "a-x", 5, 7) == late
    assert said_of(capsys, truth, "a-x", 6) == "a-x: 6; you said 5 to 7, after you had seen it\n"
    assert kept(own) == {"a-y": {"said": [1, 2]}, "a-x": {"late": True, "said": [5, 7]}}
    monkeypatch.setattr(predictions, "SHOWN", set())  # another kernel
    assert said_of(capsys, predict, "a-x", 5, 7) == late
    truth("a-x", 6)
    truth("a-y", 6)
    capsys.readouterr()
    assert said_of(capsys, calibration).splitlines() == [
        "session A: 0 of 1 range held, where 0 to 1 would be good",
        "all: 0 of 1 range held, where 0 to 1 would be good, and that is too few to tell",
        "not counted, because the truth was shown before: 1",
    ]


@pytest.mark.parametrize("said", ["faq", " FAQ ", "runbook"])
def test_a_choice_is_one_of_those_that_there_are(own, capsys, said):
    predict("a-x", said, among=np.array(["runbook", "faq", "faq"]))
    truth("a-x", "faq")
    assert kept(own)["a-x"] == {"said": said, "held": said != "runbook"}


@pytest.mark.parametrize("said", [("faqs",), ("",), (3, 5), ("faq", "runbook"), (), (None,)])
def test_another_choice_is_refused_with_those_that_there_are(own, said):
    with pytest.raises(NoPrediction) as caught:
        predict("a-x", *said, among=("runbook", "faq"))
    found = ", ".join(map(repr, said)) or "nothing"
    assert str(caught.value) == f"a-x: found {found}; wanted one of 'faq', 'runbook'"
    predict("a-x", ..., among=("runbook", "faq"))
    assert not [*own.iterdir()]


def test_two_learners_have_two_files(tmp_path, monkeypatch, capsys):
    for name, high in (("one", 4), ("two", 8)):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("EVALS", str(tmp_path / name))
        predict("a-x", 1, high)
        truth("a-x", 6)
    held = [kept(tmp_path / name)["a-x"]["held"] for name in ("one", "two")]
    assert held == [False, True]


def test_the_workbooks_own_set_keeps_none(monkeypatch, capsys):
    monkeypatch.delenv("EVALS", raising=False)
    file = evalset.DEFAULT / "predictions.json"
    assert not file.exists()
    assert "own set keeps no predictions" in said_of(capsys, predict, "a-x", 1, 2)
    assert said_of(capsys, truth, "a-x", 1.5) == "a-x: 1.5\n"
    assert "nothing to count" in said_of(capsys, calibration)
    assert not file.exists()


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    '{"a-x": 5}',
    '{"a-x": {}}',
    '{"a-x": {"said": [1]}}',
    '{"a-x": {"said": [2, 1]}}',
    '{"a-x": {"said": [1, NaN]}}',
    '{"a-x": {"said": [1, 2], "held": "yes"}}',
    '{"a-x": {"said": [1, 2], "late": 1}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("page", BROKEN)
@pytest.mark.parametrize(
    "call", [lambda: predict("a-y", 1, 2), lambda: truth("a-x", 1), calibration]
)
def test_a_broken_file_is_named_and_stays_as_it_is(own, page, call):
    (own / "predictions.json").write_text(page)
    with pytest.raises(NoPrediction, match="predictions.json: found no predictions, wanted"):
        call()
    assert (own / "predictions.json").read_text() == page


def test_a_file_in_another_encoding_and_a_folder_are_named(own):
    (own / "predictions.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(NoPrediction):
        calibration()
    (own / "predictions.json").unlink()
    (own / "predictions.json").mkdir()
    with pytest.raises(NoPrediction):
        calibration()


# Counting.


def write(folder, **held):
    """Note ranges that held or not, by session: a=(3, 4) is 3 of 4."""
    entries = {
        f"{session}-{n}": {"said": [0, 1], "held": n < right}
        for session, (right, of) in held.items()
        for n in range(of)
    }
    (folder / "predictions.json").write_text(json.dumps(entries))
    return entries


def test_ranges_are_counted_session_by_session(own, capsys):
    entries = write(own, a=(4, 5), c=(0, 1), b=(7, 7))
    more = {"a-p": {"said": "up", "held": True}, "b-p": {"said": "up", "held": False}}
    (own / "predictions.json").write_text(json.dumps(entries | more | {"c-9": {"said": [1, 2]}}))
    assert said_of(capsys, calibration).splitlines() == [
        "session A: 4 of 5 ranges held, where 2 to 5 would be good",
        "session B: 7 of 7 ranges held, where 4 to 7 would be good",
        "session C: 0 of 1 range held, where 0 to 1 would be good",
        "all: 11 of 13 ranges held, where 8 to 13 would be good, "
        "and 80 % sure is what your ranges were",
        "choices: 1 of 2 right",
    ]


@pytest.mark.parametrize(
    ("held", "of", "words"),
    [
        (20, 20, "your ranges are too wide"),
        (19, 20, "80 % sure is what your ranges were"),
        (13, 20, "80 % sure is what your ranges were"),
        (12, 20, "your ranges are too narrow"),
        (0, 9, "that is too few to tell"),
        (0, 10, "your ranges are too narrow"),
    ],
)
def test_what_is_said_of_the_count(own, capsys, held, of, words):
    write(own, a=(held, of))
    assert said_of(capsys, calibration).splitlines()[-1].endswith(f"good, and {words}")


def test_only_choices_and_nothing_at_all(own, capsys):
    nothing = "no range of yours has met its truth yet, so there is nothing to count"
    assert said_of(capsys, calibration).splitlines() == [nothing]
    (own / "predictions.json").write_text('{"a-p": {"said": "up", "held": true}}')
    assert said_of(capsys, calibration).splitlines() == [nothing, "choices: 1 of 1 right"]


@pytest.mark.parametrize("n", range(1, 22))
def test_good_counts_leave_at_most_a_twentieth_on_each_side(n):
    """By adding up every way in which n ranges can hold or not, each with its chance."""
    chance = [0.0] * (n + 1)
    for k in range(n + 1):
        chance[k] = math.comb(n, k) * 4**k / 5**n
    assert math.isclose(sum(chance), 1)
    low, high = predictions.good_counts(n)
    assert sum(chance[:low]) <= 0.05 < sum(chance[: low + 1])
    assert sum(chance[high + 1 :]) <= 0.05 < sum(chance[high:])


def test_good_counts_are_those_of_weeks_drawn_at_random():
    rng = np.random.default_rng(7)
    weeks = (rng.random((200_000, 20)) < 0.8).sum(axis=1)
    low, high = predictions.good_counts(20)
    assert (weeks < low).mean() < 0.05 < (weeks < low + 1).mean()
    assert (weeks > high).mean() < 0.05 < (weeks > high - 1).mean()


# In a learner's set, among its other files.


def test_no_command_trips_over_the_file(tmp_path, monkeypatch, capsys):
    copy = Path(shutil.copytree(workbook.ROOT / "notebooks" / "bad_set", tmp_path / "evals"))
    monkeypatch.setenv("EVALS", str(copy))
    before = evalset.load(copy)
    said = audit.as_table(audit.findings(before))
    predict("a-x", 1, 2)
    truth("a-x", 1.5)
    evals = evalset.load(copy)
    assert audit.as_table(audit.findings(evals)) == said
    assert (evals.corpus_hash(), evals.queries_hash()) == (
        before.corpus_hash(),
        before.queries_hash(),
    )
    assert "predictions.json" not in {
        *manifest.differences(copy),
        *workbook.derived(copy, sum(workbook.WRITES.values(), ())),
    }
    manifest.write_manifest(evals, {})
    assert "predictions" not in (copy / "manifest.json").read_text(encoding="utf-8")
    assert kept(workbook.copy_of_set(copy, tmp_path / "checked")) == kept(copy)
    assert kept(copy)["a-x"]["held"] is True


def test_new_copies_start_without_predictions(tmp_path, monkeypatch):
    default = Path(shutil.copytree(workbook.ROOT / "notebooks" / "bad_set", tmp_path / "default"))
    (default / "predictions.json").write_text("{}")
    monkeypatch.setattr(evalset, "DEFAULT", default)
    copies.copy_set(tmp_path / "own")
    assert not (tmp_path / "own" / "predictions.json").exists()
