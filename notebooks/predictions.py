"""A learner's predictions: said before the truth is shown, kept in the learner's set.

`predict` notes a range that holds the truth in four of five cases, or one choice; `truth` shows it
beside what came out; `calibration` counts at the end how many ranges held. Without a prediction the
truth is simply shown, and one that comes later in the same kernel does not count. The workbook's
own set keeps none.
"""

import json
import math
from collections.abc import Iterable
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
    noted, folder = _as_noted(name, said, sorted({*among})), evalset.folder()
    if top < math.inf:
        _refuse_other_scale(name, noted, top)
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
    _keep(folder, before | {name: kept | {"said": noted}})
    late = ", but not counted: its truth was shown before" if kept.get("late") else ""
    print(f"{name}: {told(noted)}, noted{late}")


def _refuse_other_scale(name: str, noted: Said, top: float) -> None:
    """Raise NoPrediction for a range beyond 0 to `top`, or a share where percent are wanted."""
    low, high = noted
    if low < 0 or high > top or (top > 1 and 0 < low <= high <= 1):
        unit = "percent, 0 to 100" if top > 1 else "a share, 0 to 1"
        raise NoPrediction(f"{name}: found {low}, {high}; wanted {unit}")


def _as_noted(name: str, said: tuple, among: list[str]) -> Said:
    """Return a prediction as JSON can hold it. Raises NoPrediction."""
    known = {choice.casefold() for choice in among}
    if among and [str(value).strip().casefold() in known for value in said] == [True]:
        return str(said[0])
    if not among and len(said) == 2 and all(map(_is_number, said)) and said[0] <= said[1]:
        return [int(value) if value == int(value) else float(value) for value in said]
    range_of = f'two numbers, predict("{name}", low, high) with low <= high'
    wanted = f"one of {', '.join(map(repr, among))}" if among else range_of
    raise NoPrediction(f"{name}: found {', '.join(map(repr, said)) or 'nothing'}; wanted {wanted}")


def _is_number(value: object) -> bool:
    """Return whether a value is a number that can be an end of a range: no flag, not infinite."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def truth(name: str, value: float | str, form: str = PLAIN) -> None:
    """Show what came out beside what was predicted, and note whether it held."""
    folder, shown = evalset.folder(), _shown(value, form)
    before = {} if folder == evalset.DEFAULT else predictions_of(folder)
    if name not in before:
        SHOWN.add((folder, name))
        print(f"{name}: {shown}")
        return
    said = before[name]["said"]
    beside = f"{name}: {shown}; you said {told(said)}"
    if before[name].get("late"):
        print(f"{beside}, after you had seen it")
        return
    held = _holds(said, value, form)
    if held is None:
        print(f"{beside}: the two cannot be compared")
        return
    print(f"{beside}: {'held' if held else 'not'}")
    _keep(folder, before | {name: {"said": said, "held": held}})


def _holds(said: Said, value: float | str, form: str) -> bool | None:
    """Return whether a prediction came true, None where it is of another kind than the truth.

    An end of a range holds a truth that reads like it: 13.3 holds 13.34 shown as 13.3.
    """
    if isinstance(said, str) or isinstance(value, str):
        both = isinstance(said, str) and isinstance(value, str)
        return said.strip().casefold() == value.strip().casefold() if both else None
    if math.isnan(value):
        return None
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
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        fit = isinstance(found, dict) and all(map(_is_entry, found.values()))
    except (OSError, ValueError, RecursionError):
        fit = False
    if not fit:
        raise NoPrediction(
            f'{path}: found no predictions, wanted {{"name": {{"said": [low, high]}}}}: delete it'
        )
    return found


def _is_entry(entry: object) -> bool:
    """Return whether an entry of the file is one that `predict` and `truth` write."""
    if not isinstance(entry, dict):
        return False
    if not all(isinstance(entry.get(name, False), bool) for name in ("held", "late")):
        return False
    said = entry.get("said")
    pair = isinstance(said, list) and len(said) == 2 and all(map(_is_number, said))
    return isinstance(said, str) or (pair and said[0] <= said[1])


def _keep(folder: Path, predictions: dict[str, dict]) -> None:
    """Write the file of a set, whole."""
    files.write(folder / PREDICTIONS, json.dumps(predictions, indent=1) + "\n")


def calibration() -> None:
    """Print how many ranges held, session by session, and what good calibration would be."""
    folder = evalset.folder()
    before = {} if folder == evalset.DEFAULT else predictions_of(folder)
    seen = {name: entry for name, entry in before.items() if "held" in entry}
    ranges = {n: e["held"] for n, e in seen.items() if not isinstance(e["said"], str)}
    choices = [entry["held"] for name, entry in seen.items() if name not in ranges]
    if not ranges:
        print("no range of yours has met its truth yet, so there is nothing to count")
    for session in sorted({name[:1].upper() for name in ranges}):
        held = [h for name, h in ranges.items() if name[:1].upper() == session]
        print(f"session {session}: {_count_line(held)}")
    if ranges:
        print(f"all: {_count_line([*ranges.values()])}, and {_verdict([*ranges.values()])}")
    if choices:
        print(f"choices: {sum(choices)} of {len(choices)} right")
    if late := sum(entry.get("late", False) for entry in before.values()):
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
    return "your ranges are too narrow" if sum(held) < low else "your ranges are too wide"
