"""A learner's predictions: said before the truth is shown, kept in the learner's set.

`predict` notes a range that holds the truth in four of five cases, or one choice; `truth` shows it
beside what came out; `calibration` counts at the end how many ranges held. Without a prediction the
truth is simply shown, and one that comes later in the same kernel does not count. The workbook's
own set keeps none.
"""

import json
import math
from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path

from helpers import evalset, files
from helpers.text import how_many

from .check.open_exercise import go_to_cell
from .check.verdict import wrapped

PREDICTIONS = "predictions.json"  # in the learner's set
SURE = 0.8  # of a range
USUAL = 0.9  # how often a learner with ranges that are right meets the counts that are shown
FEW = 10  # ranges below which a count says nothing of a learner
PLAIN = ",.10g"
Said = list[float] | str
SHOWN: set[tuple[Path, str]] = set()  # truths that this kernel told before they were predicted


class NoPrediction(ValueError):
    """What was found and what is wanted. A notebook shows these words and goes to the cell."""

    gone_to = False

    def _render_traceback_(self) -> list[str]:
        if not self.gone_to:  # IPython asks twice
            self.gone_to = True
            go_to_cell(above=False)
        return wrapped(str(self))


def predict(name: str, *said, among: Iterable[str] = (), top: float = math.inf) -> None:
    """Note a prediction: `low, high` of a range that you are 80 % sure of, or a choice of `among`.

    The dots of the lesson say nothing yet. A range that has met its truth stays as it was, and one
    that comes after its truth is kept as late. Where the truth lies between 0 and `top`, 1 or 100,
    a range on the other scale is refused. Raises NoPrediction: what a prediction looks like.
    """
    if said and all(value is ... for value in said):
        return
    noted, folder = _as_noted(name, said, sorted({*among}), top), evalset.folder()
    if folder == evalset.DEFAULT:
        print(f"{name}: {told(noted)}. The workbook's own set keeps no predictions")
        return
    before = predictions_of(folder)
    kept = before.get(name, {})
    if "held" in kept and kept["said"] != noted:
        print(f"{name}: {told(kept['said'])} stays, because it has met its truth")
        return
    if (folder, name) in SHOWN:
        kept = kept | {"late": True}
    entries = before | {name: kept | {"said": noted}}
    files.write(folder / PREDICTIONS, json.dumps(entries, indent=1) + "\n")
    late = ", but not counted: its truth was shown before" if kept.get("late") else ""
    print(f"{name}: {told(noted)}, noted{late}")


def _as_noted(name: str, said: tuple, choices: list[str], top: float) -> Said:
    """Return a prediction as JSON can hold it. Raises NoPrediction."""
    wanted = f"{name}: found {', '.join(map(repr, said)) or 'nothing'}; wanted"
    if choices:
        known = {choice.casefold() for choice in choices}
        if [str(value).strip().casefold() in known for value in said] != [True]:
            raise NoPrediction(f"{wanted} one of {', '.join(map(repr, choices))}")
        return str(said[0])
    if not _is_range(said):
        raise NoPrediction(f'{wanted} two numbers, predict("{name}", low, high) with low <= high')
    low, high = (int(value) if value == int(value) else float(value) for value in said)
    share_for_percent = top > 1 and 0 < low <= high <= 1
    if top < math.inf and (low < 0 or high > top or share_for_percent):
        raise NoPrediction(f"{wanted} {'percent, 0 to 100' if top > 1 else 'a share, 0 to 1'}")
    return [low, high]


def _is_range(said: Sequence) -> bool:
    """Return whether values are two finite numbers, no flags, the lower one first."""
    numbers = [v for v in said if isinstance(v, Real) and not isinstance(v, bool)]
    return len(numbers) == len(said) == 2 and -math.inf < numbers[0] <= numbers[1] < math.inf


def truth(name: str, value: float | str, form: str = PLAIN) -> None:
    """Show what came out beside what was predicted, and note whether it held."""
    folder, shown = evalset.folder(), _shown(value, form)
    before = predictions_of(folder)
    if name not in before:
        SHOWN.add((folder, name))
        print(f"{name}: {shown}")
        return
    said = before[name]["said"]
    beside = f"{name}: {shown}; you said {told(said)}"
    held = _holds(said, value, form)
    if before[name].get("late"):
        print(f"{beside}, after you had seen it")
    elif held is None:
        print(f"{beside}: the two cannot be compared")
    else:
        print(f"{beside}: {'held' if held else 'not'}")
        entries = before | {name: {"said": said, "held": held}}
        files.write(folder / PREDICTIONS, json.dumps(entries, indent=1) + "\n")


def _holds(said: Said, value: float | str, form: str) -> bool | None:
    """Return whether a prediction came true, None where it is of another kind than the truth.

    An end of a range holds a truth that reads like it: 13.3 holds 13.34 shown as 13.3.
    """
    if isinstance(said, str) != isinstance(value, str) or value != value:  # NaN
        return None
    if isinstance(said, str):
        return said.strip().casefold() == value.strip().casefold()
    ends = [_shown(end, form) for end in said]
    return bool(said[0] <= value <= said[1]) or _shown(value, form) in ends


def _shown(value: float | str, form: str) -> str:
    """Return a value as a learner reads it; a form for whole numbers takes others, too."""
    if isinstance(value, str):
        return value
    try:
        return format(value, form)
    except ValueError:
        return format(value, PLAIN)


def told(said: Said) -> str:
    """Return a prediction as a learner reads it."""
    return said if isinstance(said, str) else " to ".join(_shown(end, PLAIN) for end in said)


def predictions_of(folder: Path) -> dict[str, dict]:
    """Return the predictions of a set by name. Raises NoPrediction: the file holds others."""
    path = folder / PREDICTIONS
    if folder == evalset.DEFAULT or not path.exists():
        return {}
    try:
        entries = files.json_object(files.page(path))
        said = [entry["said"] for entry in entries.values()]
        fit = all(isinstance(value, str) or _is_range(value) for value in said)
    except (ValueError, TypeError, KeyError):
        fit = False
    if not fit:
        wanted = 'wanted {"name": {"said": [low, high]}}: delete it'
        raise NoPrediction(f"{path}: found no predictions, {wanted}")
    return entries


def calibration() -> None:
    """Print how many ranges held, session by session, and what good calibration would be."""
    entries = predictions_of(evalset.folder())
    ranges: dict[str, list[bool]] = {}  # by session
    choices = []
    for name, entry in entries.items():
        if "held" in entry:
            choice = isinstance(entry["said"], str)
            held = choices if choice else ranges.setdefault(name[:1].upper(), [])
            held.append(bool(entry["held"]))
    for session, held in sorted(ranges.items()):
        print(f"session {session}: {_count_line(held)}")
    if ranges:
        held = sum(ranges.values(), [])
        print(f"all: {_count_line(held)}, and {_verdict(held)}")
    else:
        print("no range of yours has met its truth yet, so there is nothing to count")
    if choices:
        print(f"choices: {sum(choices)} of {len(choices)} right")
    if late := sum("late" in entry for entry in entries.values()):
        print(f"not counted, because the truth was shown before: {late}")


def good_counts(n: int) -> tuple[int, int]:
    """Return the least and the most of `n` ranges that hold where each does with 80 %.

    Fewer happen in at most 5 % of such weeks, and more in at most 5 %.
    """
    from scipy.stats import binom  # takes a second to import

    low, high = binom.interval(USUAL, n, SURE)
    return int(low), int(high)


def _count_line(held: list[bool]) -> str:
    """Return how many ranges held, and how many are usual for someone whose 80 % is right."""
    low, high = good_counts(len(held))
    usual = f"{low}" if low == high else f"{low} to {high}"
    return f"{sum(held)} of {how_many(len(held), 'range')} held, where {usual} would be good"


def _verdict(held: list[bool]) -> str:
    """Return what the count says of a learner's ranges."""
    low, high = good_counts(len(held))
    if len(held) < FEW:
        return "that is too few to tell"
    if low <= sum(held) <= high:
        return "80 % sure is what your ranges were"
    return f"your ranges are too {'narrow' if sum(held) < low else 'wide'}"
