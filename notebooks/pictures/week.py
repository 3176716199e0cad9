"""The week as one line of boxes; each session lights its own."""

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from helpers.figures import DARK

from .frame import put

BOXES = {  # what a box says, and the sessions that make it
    "documents": "A",
    "questions\nand labels": "A",
    "chunks": "B",
    "index": "B",
    "ranking": "B",
    "measures": "C",
    "decision": "C",
}


def map_of_week(lit: str) -> None:
    """Draw the steps from documents to a decision; those of session `lit` stand out."""
    figure, ax = plt.subplots(figsize=(7, 1.15))
    for n, (step, session) in enumerate(BOXES.items()):
        on = session == lit
        box = FancyBboxPatch(
            (n + 0.06, 0.1),
            0.82,
            0.8,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=DARK if on else "white",
            edgecolor=DARK,
            linewidth=1.2,
        )
        ax.add_patch(box)
        ax.text(
            n + 0.47,
            0.5,
            step,
            color="white" if on else "black",
            ha="center",
            va="center",
            fontsize=8,
        )
        ax.text(n + 0.47, -0.12, session, ha="center", va="center", fontsize=7, color="black")
        if n:
            ax.annotate(
                "",
                (n + 0.06, 0.5),
                (n - 0.12, 0.5),
                arrowprops={"arrowstyle": "->", "color": "black"},
            )
    ax.set(xlim=(0, len(BOXES)), ylim=(-0.25, 1))
    ax.axis("off")
    own = [step.replace("\n", " ") for step, session in BOXES.items() if session == lit]
    path = " → ".join(step.replace("\n", " ") for step in BOXES)
    put(figure, f"The week in {len(BOXES)} steps: {path}. This session makes {', '.join(own)}.")
