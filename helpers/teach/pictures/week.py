"""The week as a row of steps; each session lights its own."""

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from .. import figures
from ..figures import DARK

STEPS = ("collect", "ask", "label", "cut", "search", "measure", "decide")
SESSIONS = "AAABBCC"  # that take them
FLOWS = ("documents", "queries", "evaluation\nset", "chunks", "ranked lists", "scores")  # between


def map_of_week(lit: str) -> None:
    """Draw the steps from documents to a decision; those of session `lit` stand out.

    Session A opens the week, so there the arrows say what one step hands to the next.
    """
    height = 1.1 if lit == "A" else 0.7  # inches, and a step is as wide as one of them
    figure, ax = plt.subplots(figsize=(7, height))
    middle = {"ha": "center", "va": "center", "fontsize": 11.5}
    for x, (step, session) in enumerate(zip(STEPS, SESSIONS, strict=True)):
        fill, ink = (DARK, "white") if session == lit else ("white", "black")
        look = {"boxstyle": "round,pad=0,rounding_size=0.08", "fc": fill, "ec": DARK, "lw": 1.5}
        ax.add_patch(FancyBboxPatch((x - 0.38, 0), 0.76, 0.6, **look))
        ax.text(x, 0.3, f"{step}\n{session}", color=ink, **middle)
    arrow = {"arrowstyle": "->", "color": "black", "lw": 1.5}
    for x, flow in enumerate(FLOWS):
        ax.annotate("", (x + 0.64, 0.3), (x + 0.36, 0.3), arrowprops=arrow)
        if lit == "A":
            ax.text(x + 0.5, 0.82, flow, **middle | {"linespacing": 0.95})
    ax.set(xlim=(-0.45, len(STEPS) - 0.55), ylim=(-0.05, height - 0.05))
    ax.axis("off")
    pairs = zip(STEPS, FLOWS, strict=False)  # nothing follows the last step
    flowing = "".join(f"{step} → {' '.join(flow.split())} → " for step, flow in pairs)
    own = ", ".join(step for step, session in zip(STEPS, SESSIONS, strict=True) if session == lit)
    words = f"The week in {len(STEPS)} steps: {flowing}{STEPS[-1]}. Session {lit}: {own}."
    figures.display_figure(figure, words)
