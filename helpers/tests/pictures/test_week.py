"""The map of the week: each session lights its own steps."""

from matplotlib.colors import to_hex

from helpers.figures import DARK
from notebooks.pictures import week

STEPS = {
    "A": ["documents", "questions and labels"],
    "B": ["chunks", "index", "ranking"],
    "C": ["measures", "decision"],
}


def test_a_session_lights_what_it_makes(drawn):
    for session, steps in STEPS.items():
        week.map_of_week(session)
        ax, words = drawn[-1]
        assert words.endswith(f"This session makes {', '.join(steps)}.")
        boxes = zip(ax.patches, (t for t in ax.texts if t.get_text()), strict=True)
        lit = [t.get_text() for box, t in boxes if to_hex(box.get_facecolor()) == DARK]
        assert [" ".join(told.split("\n")[:-1]) for told in lit] == steps
        assert all(told.endswith(f"\n{session}") for told in lit)
