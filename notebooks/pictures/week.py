"""The week as two rows of boxes, to be read like text; each session lights its own."""

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from helpers import figures
from helpers.figures import DARK

STEPS = ("documents", "questions\nand labels", "chunks", "index", "ranking", "measures", "decision")
SESSIONS = "AABBBCC"  # that make them
A_ROW = 4


def map_of_week(lit: str) -> None:
    """Draw the steps from documents to a decision; those of session `lit` stand out."""
    figure, ax = plt.subplots(figsize=(7, 2.6))
    places = [(n % A_ROW, -(n // A_ROW)) for n in range(len(STEPS))]
    for (x, y), step, session in zip(places, STEPS, SESSIONS, strict=True):
        fill, ink = (DARK, "white") if session == lit else ("white", "black")
        look = {"boxstyle": "round,pad=0,rounding_size=0.08", "fc": fill, "ec": DARK, "lw": 1.5}
        ax.add_patch(FancyBboxPatch((x, y + 0.1), 0.8, 0.8, **look))
        centred = {"ha": "center", "va": "center", "fontsize": 13}
        ax.text(x + 0.4, y + 0.5, f"{step}\n{session}", color=ink, **centred)
    for (x, y), (to, below) in pairwise(places):
        ends = (to, y + 0.5), (x + 0.8, y + 0.5)
        if y != below:  # on to the next row
            ends = (to + 0.4, below + 0.9), (x + 0.4, y + 0.1)
        ax.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": "black", "lw": 1.5})
    ax.set(xlim=(-0.05, A_ROW - 0.15), ylim=(-1, 1))
    ax.axis("off")
    steps = [step.replace("\n", " ") for step in STEPS]
    own = ", ".join(s for s, session in zip(steps, SESSIONS, strict=True) if session == lit)
    words = f"The week in {len(steps)} steps: {' → '.join(steps)}. This session makes {own}."
    figures.display_figure(figure, words)
