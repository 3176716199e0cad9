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
    for name, (start, *bounds) in controls.items():
        slider = sliders[name] = widgets.interactive.widget_from_tuple(bounds)
        slider.value = start
        slider.description, slider.continuous_update = name, False
    display(widgets.HBox([*sliders.values()], layout={"flex_flow": "row wrap"}))
    display(widgets.interactive_output(draw, sliders))
