"""A learner's predictions: said before the truth is shown, kept in the learner's set.

`predict` notes a range that holds the truth in four of five cases, or one choice; `truth` shows it
beside what came out; `calibration` counts at the end how many ranges held. Without a prediction the
truth is simply shown. The workbook's own set keeps none.
"""

import json
from numbers import Real
from pathlib import Path

from scipy.stats import binom

from helpers import evalset, records
from helpers.text import how_many

PREDICTIONS = "predictions.json"  # in the learner's set
SURE = 0.8  # of a range
Said = tuple[float, float] | str


def predict(name: str, *said) -> None:
    """Note a prediction: `low, high` of a range that you are 80 % sure of, or one choice.

    The dots of the lesson say nothing yet. Raises ValueError: what a prediction looks like.
    """
    if ... in said:
        return
    _refuse(name, said)
    noted = said[0] if isinstance(said[0], str) else [float(value) for value in said]
    folder = evalset.folder()
    if folder == evalset.DEFAULT:
        print(f"{name}: {told(noted)}. The workbook's own set keeps no predictions")
        return
    records.write(
        folder / PREDICTIONS, json.dumps(predictions_of(folder) | {name: {"said": noted}}, indent=1)
    )
    print(f"{name}: {told(noted)}, noted")


def _refuse(name: str, said: tuple) -> None:
    numbers = len(said) == 2 and all(isinstance(n, Real) and n == n for n in said)
    if numbers and said[0] <= said[1] or len(said) == 1 and isinstance(said[0], str):
        return
    wanted = f'predict("{name}", low, high) with low <= high, or predict("{name}", "choice")'
    raise ValueError(f"found {said}, wanted {wanted}")


def truth(name: str, value: float | str, form: str = "g") -> None:
    """Show what came out beside what was predicted, and note whether it held."""
    folder = evalset.folder()
    shown = value if isinstance(value, str) else format(value, form)
    guess = predictions_of(folder).get(name) if folder != evalset.DEFAULT else None
    if not guess:
        print(f"{name}: {shown}")
        return
    held = _holds(guess["said"], value)
    print(f"{name}: {shown}; you said {told(guess['said'], form)}: {'held' if held else 'not'}")
    records.write(
        folder / PREDICTIONS,
        json.dumps(predictions_of(folder) | {name: guess | {"held": held}}, indent=1),
    )


def _holds(said: list | str, value: float | str) -> bool:
    return value == said if isinstance(said, str) else said[0] <= value <= said[1]


def told(said: list | str, form: str = "g") -> str:
    """Return a prediction as a learner reads it."""
    return said if isinstance(said, str) else f"{said[0]:{form}} to {said[1]:{form}}"


def predictions_of(folder: Path) -> dict[str, dict]:
    """Return the predictions of a set by name. A file that is no JSON is a clear error."""
    path = folder / PREDICTIONS
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: found no JSON object of predictions; delete it") from error


def calibration() -> None:
    """Print how many ranges held, session by session, and what good calibration would be."""
    folder = evalset.folder()
    seen = {
        n: g
        for n, g in predictions_of(folder).items()
        if "held" in g and not isinstance(g["said"], str)
    }
    if not seen:
        print("no range of yours has met its truth yet, so there is nothing to count")
        return
    for session in sorted({name[0].upper() for name in seen}):
        held = [g["held"] for name, g in seen.items() if name[0].upper() == session]
        print(f"session {session}: {sum(held)} of {how_many(len(held), 'range')} held")
    n, held = len(seen), sum(g["held"] for g in seen.values())
    low, high = binom.interval(0.9, n, SURE)
    print(
        f"all: {held} of {n}; whoever is 80 % sure and right about it has {low:.0f} to {high:.0f}"
    )
