"""What all pictures share: one display, words for who cannot see it, and sliders."""

from collections.abc import Callable

import ipywidgets as widgets
from IPython.display import display

from helpers.figures import is_live


def moved(draw: Callable, **controls: tuple[float, float, float, float] | list) -> None:
    """Call `draw` with the first value of each control, and, live, again for each move of one.

    A control is (start, low, high, step) for a slider, or a list of choices, the first one chosen.
    """
    if not is_live():
        draw(**{n: c[0] for n, c in controls.items()})
        return
    made = {name: _control(name, of) for name, of in controls.items()}
    display(widgets.HBox([*made.values()], layout={"flex_flow": "row wrap"}))
    display(widgets.interactive_output(draw, made))


def _control(name: str, of: tuple | list) -> widgets.Widget:
    """Return a slider, or a list to choose from."""
    if isinstance(of, list):
        return widgets.Dropdown(options=of, value=of[0], description=name)
    start, low, high, step = of
    whole = all(isinstance(number, int) for number in of)
    slider = widgets.IntSlider if whole else widgets.FloatSlider
    return slider(start, min=low, max=high, step=step, description=name, continuous_update=False)
