"""A learner's predictions: said before the truth is shown, kept in the learner's set.

`predict` notes a range that holds the truth in four of five cases, or one choice; `truth` shows it
beside what came out; `calibration` draws at the end which ranges held. Without a prediction the
truth is simply shown, and one that comes later in the same kernel isn't noted. The workbook's own
set keeps none.
"""

import json
import math
from collections.abc import Iterable
from numbers import Real
from pathlib import Path

import numpy as np

from ..measure import evalset, files
from ..measure.text import how_many
from . import figures
from .check.verdict import NotStarted
from .kernel import remembered

PREDICTIONS = "predictions.json"  # in the learner's set
SURE = 0.8  # of a range
USUAL = 0.9  # how often a learner with ranges that are right meets the counts that are shown
FEW = 10  # ranges below which a count that chance allows says nothing of a learner
PLAIN = ",.10g"
Prediction = list[float] | str
WORDS = {  # of the week's ranges, as a figure names them
    "a-longer": "over 512 tokens, %", "a-relevant": "relevant documents",
    "a-equal": "equal labels, %", "a-overlap": "word overlap",
    "a-lowest": "overlap, lowest kind", "a-coverage": "coverage, %",
    "b-orphans": "lengths with orphan, %", "b-jump": "weight in 51 of 100",
    "b-shared": "chunks with a word, %", "b-cut-first": "documents in ten chunks",
    "c-ndcg": "nDCG@10", "c-top": "relevant at rank 1", "c-width": "width of interval",
    "c-other": "fusion minus baseline", "c-detectable": "smallest to show",
    "c-evidence": "evidence recall",
}  # fmt: skip
TOLD = "truths told unpredicted"  # of a kernel: {(folder of the set, name)}


class NoPrediction(NotStarted):
    """What was found and what is wanted. A notebook shows these words and goes to the cell."""

    above = False


def predict(name: str, *values, among: Iterable[str] = (), top: float = math.inf) -> None:
    """Note a prediction: `low, high` of a range that you are 80 % sure of, or a choice of `among`.

    The dots of the lesson say nothing yet. What has met its truth stays as it was, and what comes
    after its truth isn't noted. Where the truth lies between 0 and `top`, 1 or 100, a range on the
    other scale is refused. Raises NoPrediction: what a prediction looks like.
    """
    if values and all(value is ... for value in values):
        return
    prediction, folder = _check_prediction(name, values, sorted({*among}), top), evalset.folder()
    line = f"{name}: {_in_words(prediction)}"
    if folder == evalset.DEFAULT:
        print(f"{line}. The workbook's own set keeps no predictions")
        return
    entry = _entries(folder).get(name, {})
    is_changed = "held" in entry and entry["said"] != prediction
    if is_changed or (folder, name) in remembered(TOLD):
        print(f"{line}. That comes after its truth, so it isn't noted")
        return
    _write_entry(folder, name, entry | {"said": prediction})
    print(f"{line}, noted")


def _check_prediction(name: str, values: tuple, choices: list[str], top: float) -> Prediction:
    """Return a prediction as JSON can hold it. Raises NoPrediction."""
    wanted = _choice_wanted(values, choices) if choices else _range_wanted(name, values, top)
    if wanted:
        found = ", ".join(map(repr, values)) or "nothing"
        raise NoPrediction(f"{name}: found {found}; wanted {wanted}")
    return str(values[0]) if choices else [float(value) for value in values]


def _choice_wanted(values: tuple, choices: list[str]) -> str:
    """Return what is wanted in place of `values`, "" where they are one of the choices."""
    known = {choice.casefold() for choice in choices}
    if len(values) == 1 and str(values[0]).strip().casefold() in known:
        return ""
    return f"one of {', '.join(map(repr, choices))}"


def _range_wanted(name: str, values: tuple, top: float) -> str:
    """Return what is wanted in place of `values`, "" where they are a range on its scale."""
    numbers = [value for value in values if isinstance(value, Real) and type(value) is not bool]
    if not len(numbers) == len(values) == 2 or not -math.inf < values[0] <= values[1] < math.inf:
        return f'two numbers, predict("{name}", low, high) with low <= high'
    low, high = values
    if top == 100 and (low < 0 or high > 100 or 0 < low <= high <= 1):
        return "percent, 0 to 100"
    if top == 1 and (low < 0 or high > 1):
        return "a share, 0 to 1"
    return ""


def _in_words(prediction: Prediction) -> str:
    if isinstance(prediction, str):
        return prediction
    return " to ".join(format(end, PLAIN) for end in prediction)


def _entries(folder: Path) -> dict[str, dict]:
    """Return {name: {"said", and with its truth "held" and "truth"}} of a set."""
    path = folder / PREDICTIONS
    return files.json_page(path) if path.exists() else {}


def _write_entry(folder: Path, name: str, entry: dict) -> None:
    files.write(folder / PREDICTIONS, json.dumps(_entries(folder) | {name: entry}, indent=1) + "\n")


def truth(name: str, value: float | str, form: str = PLAIN) -> None:
    """Show what came out beside what was predicted, and note whether it held.

    An end of a range holds a truth that reads like it: 13.3 holds 13.34 shown as 13.3.
    """
    folder = evalset.folder()
    shown = value if isinstance(value, str) else format(value, form)
    entry = _entries(folder).get(name)
    if entry is None:
        remembered(TOLD).add((folder, name))
        print(f"{name}: {shown}")
        return
    prediction = entry["said"]
    if isinstance(value, str):
        held = prediction.strip().casefold() == value.strip().casefold()
    else:
        low, high = prediction
        held = bool(low <= value <= high) or shown in (format(low, form), format(high, form))
    said = f"you said {_in_words(prediction)}: {'held' if held else 'missed'}"
    print(f"{name}: {shown}; {said}")
    _write_entry(folder, name, {"said": prediction, "held": held, "truth": shown})


def calibration() -> None:
    """Draw the ranges that have met their truth, and say what to do with the next ones."""
    ranges, entries = ranges_met(evalset.folder()), _entries(evalset.folder())
    choices = [e["held"] for e in entries.values() if "truth" in e and isinstance(e["said"], str)]
    if ranges:
        draw_ranges(ranges)
        print(count_in_words([*ranges.values()]))
    else:
        print("no range of yours has met its truth yet")
    if choices:
        print(f"choices: {sum(choices)} of {len(choices)} right")


def ranges_met(folder: Path) -> dict[str, dict]:
    """Return the ranges of a set that have met their truth, by name, in the order of sessions."""
    by_session = sorted(_entries(folder).items(), key=lambda entry: entry[0][0])
    return {n: e for n, e in by_session if "truth" in e and not isinstance(e["said"], str)}


def draw_ranges(ranges: dict[str, dict]) -> None:
    """Draw a bar for each range and a dot at its truth: open where it's outside.

    Each row has a scale of its own, from the lowest to the highest of its three numbers.
    """
    ax, rows, numbers = figures.axes(1.1 + 0.29 * len(ranges)), [], []
    for y, (name, entry) in enumerate(ranges.items()):
        points = [*entry["said"], _number(entry)]
        low, high, truth = np.interp(points, [min(points), max(points)], [0, 1])
        look = figures.SIDES["good" if entry["held"] else "open"]
        ax.plot([low, high], [y, y], color=figures.PALE, linewidth=9, solid_capstyle="butt")
        ax.plot(truth, y, markersize=9, **look)
        rows.append(f"{name[0].upper()}: {WORDS.get(name, name[2:])}")
        numbers.append(f"{_in_words(entry['said'])}, was {entry['truth']}")
    figures.name_rows(ax, rows)
    ax.secondary_yaxis("right").set_yticks(range(len(rows)), numbers)
    ax.set(xticks=[], xlim=(-0.05, 1.05))
    held = sum(entry["held"] for entry in ranges.values())
    title = f"{held} of {how_many(len(ranges), 'range')} held"
    words = "; ".join(map(": ".join, zip(rows, numbers, strict=True)))
    figures.show(ax, title, words, "bar: your range; dot: the truth, open where it's outside")


def good_counts(n: int) -> tuple[int, int]:
    """Return the least and the most of `n` ranges that hold where each does with 80 %.

    Fewer happen in at most 5 % of such weeks, and more in at most 5 %.
    """
    from scipy.stats import binom  # takes a second to import

    low, high = binom.interval(USUAL, n, SURE)
    return int(low), int(high)


def count_in_words(ranges: list[dict]) -> str:
    """Return how many ranges held, how many should, and what to do with the next ones."""
    n, right = len(ranges), sum(entry["held"] for entry in ranges)
    (low, high), due = good_counts(n), round(SURE * n)
    count = f"{right} of your {how_many(n, 'range')} held; of 80 % ranges about {due} should"
    if right < low:
        return f"{count}: you were too sure, as most people are. Make the next ones wider"
    if right > high:
        return f"{count}: you know more than you say. Make the next ones narrower"
    if n < FEW:
        return f"{count}: too few to tell"
    return f"{count}: that's within chance. Go on like this"


def _number(entry: dict) -> float:
    return float(entry["truth"].replace(",", ""))
