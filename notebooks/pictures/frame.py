"""Sliders and lists above a picture, where `make lab` turns them on."""

from collections.abc import Callable

import ipywidgets as widgets
from IPython.display import display

from helpers.figures import is_live


def with_sliders(draw: Callable, **controls: tuple[float, float, float, float]) -> None:
    """Call `draw` with the start of each slider, and, live, again for each move of one.

    A slider is (start, low, high, step); whole numbers stay whole.
    """
    if not is_live():
        draw(**{name: start for name, (start, *_) in controls.items()})
        return
    sliders = {}
    for name, (start, low, high, step) in controls.items():
        whole = all(isinstance(number, int) for number in (start, low, high, step))
        slider = widgets.IntSlider if whole else widgets.FloatSlider
        look = {"description": name, "continuous_update": False}
        sliders[name] = slider(start, min=low, max=high, step=step, **look)
    display(widgets.HBox([*sliders.values()], layout={"flex_flow": "row wrap"}))
    display(widgets.interactive_output(draw, sliders))
