"""The widgets of the labelling panel, in the order of Tab, and what is shown in them."""

from collections.abc import Callable, Collection

import ipywidgets as widgets
from IPython.display import display

from ..measure.inert import Markup
from . import markup
from .selection import Page, Selectable

WRAP = {"flex_flow": "row wrap", "align_items": "center"}


class View:
    """The page of a panel: boxes to type in, a button for each action, and pages that change.

    `labels` are {action: what its button says}, `keys` {key: action}.
    """

    def __init__(
        self,
        labels: dict[str, str],
        keys: dict[str, str],
        guide: Markup,
        act: Callable[[str], None],
        has_search: bool,
    ):
        self.captions, self.keys = labels, keys
        self.query, self.document, self.results = Page(), Selectable(), Page()
        self.message, self.count, self.key_line = Page(), Page(), Page()
        self.guide, self.bar = Page(guide), widgets.IntProgress()
        self.key = _labelled(widgets.Text, "Keys", "12em")
        self.key.placeholder = "type keys here"
        self.search = _labelled(widgets.Text, markup.ANOTHER, "24em")
        self.search.continuous_update = False  # Enter looks it up
        self.evidence = _labelled(widgets.Textarea, "Evidence", "99%")
        self.buttons = {}
        for name, label in labels.items():
            self.buttons[name] = widgets.Button(description=label)
            self.buttons[name].on_click(lambda _, name=name: act(name))
        progress = widgets.HBox([self.key, self.bar, self.count], layout=WRAP)  # Tab starts there
        actions = widgets.HBox([*self.buttons.values()], layout=WRAP)
        rows = [progress, self.query]
        if has_search:
            rows += [self.search, self.results]
        rows += [self.document, self.evidence, actions, self.message, self.key_line, self.guide]
        self.box = widgets.VBox(rows, layout={"max_width": "60em"})

    def show(self) -> None:
        """Display the panel."""
        display(self.box)

    def say(self, words: str, wrong: bool = False) -> None:
        """Show a message; what is wrong stands out."""
        self.message.value = markup.message_html(words, wrong)

    def show_page(self, heading: Markup | str, page: Markup, live: Collection[str]) -> None:
        """Show a heading, a page, and the buttons and keys that do something now."""
        self.query.value, self.document.value, self.live = heading, page, {*live}
        for name, button in self.buttons.items():
            shown = {"width": "auto", "min_width": "5em"}
            button.layout = shown if name in self.live else {"display": "none"}
        meanings = {}
        for key, name in self.keys.items():
            if name in self.live:
                meanings[key] = self.captions.get(name, name).removeprefix(f"{key} ")
        self.key_line.value = markup.keys_html(meanings)


def _labelled(kind: type, label: str, width: str) -> widgets.Widget:
    """Return an input; its description is its label."""
    style = {"description_width": "initial"}
    return kind(description=label, style=style, layout={"width": width})
