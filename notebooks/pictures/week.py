"""The week as two rows of boxes, to be read like text; each session lights its own."""

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from helpers import figures
from helpers.figures import DARK

BOXES = {  # what a box says, and the sessions that make it
    "documents": "A",
    "questions\nand labels": "A",
    "chunks": "B",
    "index": "B",
    "ranking": "B",
    "measures": "C",
    "decision": "C",
}


A_ROW = 4


def map_of_week(lit: str) -> None:
    """Draw the steps from documents to a decision; those of session `lit` stand out."""
    figure, ax = plt.subplots(figsize=(7, 2.6))
    places = [(n % A_ROW, -(n // A_ROW)) for n in range(len(BOXES))]
    for (x, y), (step, session) in zip(places, BOXES.items(), strict=True):
        _draw_box(ax, x, y, f"{step}\n{session}", on=session == lit)
    for (x, y), (to, below) in pairwise(places):
        ends = (to, y + 0.5), (x + 0.8, y + 0.5)
        if y != below:  # on to the next row
            ends = (to + 0.4, below + 0.9), (x + 0.4, y + 0.1)
        ax.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": "black", "lw": 1.5})
    ax.set(xlim=(-0.05, A_ROW - 0.15), ylim=(-1, 1))
    ax.axis("off")
    own = [step.replace("\n", " ") for step, session in BOXES.items() if session == lit]
    path = " → ".join(step.replace("\n", " ") for step in BOXES)
    figures.put(
        figure, f"The week in {len(BOXES)} steps: {path}. This session makes {', '.join(own)}."
    )


def _draw_box(ax: plt.Axes, x: float, y: float, words: str, on: bool) -> None:
    """Draw one step, filled where it belongs to the session."""
    shape = "round,pad=0,rounding_size=0.08"
    fill = DARK if on else "white"
    size = {"width": 0.8, "height": 0.8}
    box = FancyBboxPatch((x, y + 0.1), **size, boxstyle=shape, fc=fill, ec=DARK, lw=1.5)
    ax.add_patch(box)
    centred = {"ha": "center", "va": "center", "fontsize": 13}
    ax.text(x + 0.4, y + 0.5, words, color="white" if on else "black", **centred)
