"""Plots and tables of the notebooks. Beside a figure stand its numbers in words."""

import io
import platform
import re
import textwrap
from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython import get_ipython
from IPython.core.pylabtools import print_figure
from IPython.display import display
from matplotlib.patheffects import withStroke
from PIL import Image

from ..measure import inert, installation, stats
from ..measure.inert import Markup
from ..measure.installation import TEMPLATES

PACKAGES = ("pandas", "rank_bm25", "tiktoken", "ir_measures")
COLOURS = 32  # of a stored picture
DARK, LIGHT, GREEN, GREY, PALE = "#1f4e79", "#c96f1a", "#4a8577", "#6e6e6e", "#9fb6c9"
BAND = "#e3e6ea"
HALO = [withStroke(linewidth=3, foreground="white")]  # letters over a line stay readable
WIDTH = 5  # inches of a figure, whose letters a telephone can show
LETTERS = 11.5  # points
LINE = 50  # letters of a line of its title


def with_sliders(draw: Callable, **controls: tuple[float, float, float, float]) -> None:
    """Call `draw` with the start of each slider, and, live, again for each move of one.

    A slider is (start, low, high, step); whole numbers stay whole.
    """
    if not installation.is_live():
        draw(**{name: start for name, (start, *_) in controls.items()})
        return
    sliders = {}
    for name, (start, *bounds) in controls.items():
        slider = sliders[name] = widgets.interactive.widget_from_tuple(bounds)
        slider.value = start
        slider.description, slider.continuous_update = name, False
    display(widgets.HBox([*sliders.values()], layout={"flex_flow": "row wrap"}))
    display(widgets.interactive_output(draw, sliders))


def open_page(versions: bool = True) -> None:
    """Set the plot style and the table width, and print the versions that run."""
    plt.style.use(Path(__file__).with_name("workbook.mplstyle"))
    pd.set_option("display.max_colwidth", None)
    pd.set_option("display.html.use_mathjax", False)  # a text of a set is no formula
    if shell := get_ipython():
        shell.display_formatter.formatters["text/html"].for_type(pd.DataFrame, left_aligned)
    if versions:
        print("Python", platform.python_version(), *(f"· {p} {version(p)}" for p in PACKAGES))


def axes(height: float) -> plt.Axes:
    """Return the axes of a figure that is so many inches high."""
    with plt.rc_context({"font.size": LETTERS}):
        return plt.subplots(figsize=(WIDTH, height))[1]


def show(ax: plt.Axes, title: str, values: str, x: str = "", y: str = "") -> None:
    """Name a figure and its axes, and display it with `values` for who cannot see it."""
    ax.set_title(textwrap.fill(title, LINE), fontsize=LETTERS + 1)
    ax.set_xlabel(x, fontsize=LETTERS)
    ax.set_ylabel(y, fontsize=LETTERS)
    display_figure(ax.figure, f"{title}. {values}")


def display_figure(figure: plt.Figure, words: str) -> None:
    """Display a figure once. `words` say its finding and its values, for who cannot see it."""
    drawn, small = io.BytesIO(print_figure(figure, dpi=figure.dpi)), io.BytesIO()
    # Few colours make the notebooks a quarter as large. Median cut, the default, would lose one.
    few = Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE)
    few.save(small, "PNG", optimize=True)
    shown = {"image/png": b64encode(small.getvalue()).decode(), "text/plain": repr(figure)}
    display(shown, metadata={"image/png": {"alt": words}}, raw=True)
    plt.close(figure)


# Tables and texts.


def left_aligned(frame: pd.DataFrame) -> str:
    """Return a frame as pandas shows it, texts on the left: a notebook sets all on the right.

    What turns the direction of reading is an escape.
    """
    numbers = frame.select_dtypes("number").columns.get_level_values(-1)
    above = "|".join(re.escape(escape(str(name))) for name in numbers)  # stay as these do
    head, start, body = inert.visible(frame._repr_html_()).partition("<tbody>")
    letters, left = r"(?=[^<]*[^\W\d_])(?!NaN<|-?inf<|[-+.e\d]+<)", r'<\1 style="text-align: left">'
    head = re.sub(rf"<(th)>(?!(?:{above})<){letters}", left, head)
    return head + start + re.sub(rf"<(t[hd])>{letters}", left, body)


def side_by_side(pages: dict[str, Markup]):
    """Return {heading: page} beside each other, or below each other on a narrow screen."""
    column = Markup('<div style="flex:1 1 20em;min-width:0"><p><b>{}</b></p>{}</div>')
    row = Markup('<div style="display:flex;flex-wrap:wrap;gap:1em">{}</div>')
    return inert.html(row.format(Markup("").join(column.format(*pair) for pair in pages.items())))


def captioned_table(frame: pd.DataFrame, caption: str, shape: str = "narrow"):
    """Return `frame` as a table of the page: caption, scopes, numbers with three decimals.

    On a narrow screen the shape "cards" shows each row as a card; the roles keep it a table.
    """
    table = inert.template(TEMPLATES / "table.jinja", text=str)
    rows = frame.itertuples()
    page = table.render(columns=frame.columns, rows=rows, caption=caption, shape=shape)
    return inert.html(Markup(page))


def with_code(body: str) -> Markup:
    """Return `body` as markup in which what stands between two backticks is code."""
    code, parts = Markup("<code>{}</code>"), enumerate(re.split(r"`([^`]+)`", body))
    return Markup("").join(code.format(part) if n % 2 else part for n, part in parts)


# Figures of the write-up. Session C shows some of them, too, on a wider page.

VERDICTS = {  # how every plot draws a system of this verdict; "": the baseline
    "": {"marker": "o", "color": "black"},
    stats.BETTER: {"marker": ">", "color": DARK},
    stats.WORSE: {"marker": "<", "color": LIGHT},
    stats.SAME: {"marker": "o", "color": GREY},
    stats.TOO_FEW: {"marker": "o", "color": PALE, "markerfacecolor": "white"},
}
VERDICTS[stats.SAME_RUN] = VERDICTS[""]
SIDES = {  # and a share, by the side of the bar on which its interval lies
    "good": {"marker": "o", "color": DARK},
    "poor": {"marker": "s", "color": LIGHT},
    "open": {"marker": "o", "color": DARK, "markerfacecolor": "white"},
}
SAID = {"good": "above", "poor": "below", "open": "unclear"}


def verdict_legend(ax: plt.Axes, verdicts: list[str]) -> None:
    """Say below a figure which colour and mark stand for which of the verdicts that it shows."""
    for verdict, look in VERDICTS.items():
        if verdict in verdicts:
            ax.plot([], [], linestyle="none", label=verdict or "the baseline", **look)
    size = LETTERS - 1
    ax.figure.legend(loc="outside lower left", frameon=False, fontsize=size, ncols=2)


def name_rows(ax: plt.Axes, names: list[str]) -> None:
    """Name the rows of a figure, the first at the top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def name_ends(ax: plt.Axes, x: float, ends: pd.Series, apart: float = 0.065) -> None:
    """Name lines at their right ends, `ends` at `x` by name; no two names are nearer than `apart`.

    They lie halfway between names that were only pushed up and names that were only pushed down.
    """
    ends = ends.sort_values(kind="stable")
    steps = apart * np.arange(len(ends))
    pushed = ends - steps
    heights = (pushed.cummax() + pushed[::-1].cummin()[::-1]) / 2 + steps
    place = {
        "va": "center",
        "textcoords": ("offset points", "data"),
        "fontsize": LETTERS,
        "arrowprops": {"arrowstyle": "-", "linewidth": 0.6, "relpos": (0, 0.5), "shrinkA": 0},
    }
    for name, end in ends.items():
        ax.annotate(f" {name}", (x, end), (16, heights[name]), **place)


def equal_apart(rows: np.ndarray, values: pd.Series, height: float, least: int) -> pd.Series:
    """Return how high points stand, by the numbers of their rows, so that equal ones lie apart.

    They take up to `height` of the row, as if they were `least` or more.
    """
    equal = values.groupby([rows, values])
    n = equal.transform("size")
    return rows + (equal.cumcount() - (n - 1) / 2) * (height / n.clip(lower=least))


def in_words(values: dict | pd.Series, form: str = "") -> str:
    """Return {name: number} in words, each number in this form: "faq 0.25, alert 0.50"."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def intervals(
    rows: dict[str, tuple], title: str, below: str, form: str = ".2f", at: float | None = None
) -> None:
    """Plot {name: (value, low, high)} as a point and its interval a row, with a line at `at`."""
    ax, words = axes(1.2 + 0.5 * len(rows)), []
    if at is not None:
        ax.axvline(at, color="black", linewidth=1, linestyle="--")
    for y, (name, (value, low, high)) in enumerate(rows.items()):
        ax.plot([low, high], [y, y], color=DARK, linewidth=2.5)
        ax.plot(value, y, "o", color=DARK, markersize=8)
        place = {"ha": "center", "fontsize": LETTERS, "path_effects": HALO}
        ax.text(value, y - 0.2, f"{value:{form}}", **place)
        words.append(f"{' '.join(name.split())} {value:{form}} ({low:{form}} to {high:{form}})")
    name_rows(ax, [*rows])
    ax.set_ylim(len(rows) - 0.6, -0.8)
    show(ax, title, ", ".join(words), below)


def shares_in_five(shares: Sequence, bar: float, full: Sequence = ()) -> None:
    """Plot shares (`name`, `found`, `n`, `low`, `high`) against a bar; `side` is one of SIDES.

    The first is that of all questions. Those of `full` answers have a panel of their own.
    """
    panels = {"useful page": shares}
    if full:
        panels["full answer"] = full
    heights = [len(panel) + 2 for panel in panels.values()]  # a title takes two rows
    with plt.rc_context({"font.size": LETTERS}):
        size = WIDTH, 0.6 + 0.27 * sum(heights)
        figure, places = plt.subplots(
            len(panels), figsize=size, sharex=True, squeeze=False, height_ratios=heights
        )
    told = []
    for ax, (what, panel) in zip(places[:, 0], panels.items(), strict=True):
        told.append(_draw_shares(ax, panel, bar, what))
    ax.set_xlabel(f"share of questions, 95 % intervals; dashed: {bar:.0%}", size=LETTERS)
    display_figure(figure, " ".join(told))


def _draw_shares(ax: plt.Axes, shares: Sequence, bar: float, what: str) -> str:
    """Draw a panel, each share with its side in words; return its finding and its values."""
    words = []
    for y, share in enumerate(shares):
        look, told = SIDES[share.side], SAID[share.side]
        ax.plot([share.low, share.high], [y, y], color=look["color"], linewidth=2)
        ax.plot(share.mean, y, **look)
        weight = "normal" if share.side == "open" else "bold"
        place = {"va": "center", "size": LETTERS, "weight": weight}
        ax.annotate(f" {share.mean:.0%} {told}", (1.02, y), **place)
        ends = f"{share.low:.2f} to {share.high:.2f}"
        words.append(f"{share.name} {share.found} of {share.n} ({ends}), {told}")
    ax.axvline(bar, color="black", linewidth=1, linestyle="--")
    name_rows(ax, [share.name for share in shares])
    ax.set_xlim(0, 1.02)
    title = f"A {what} in the first five: {_clears(shares, bar)}"
    ax.set_title(textwrap.fill(title, LINE), fontsize=LETTERS + 1)
    return f"{title}. {'; '.join(words)}."


def _clears(shares: Sequence, bar: float) -> str:
    """Return how many kinds clear a bar and which fail it; of one share its own value."""
    kinds = shares[1:]
    if not kinds:
        return f"{shares[0].mean:.0%} of {shares[0].n} questions"
    clear = sum(kind.side == "good" for kind in kinds)
    clears = "clear" if clear > 1 else "clears"
    failing = [kind.name for kind in kinds if kind.side == "poor"]
    fail = "fail" if len(failing) > 1 else "fails"
    finding = f"{clear or 'none'} of {len(kinds)} kinds {clears} {bar:.0%}"
    return f"{finding}, {', '.join(failing) or 'none'} {fail}"


def values_by_kind(values: pd.DataFrame, name: str, where: str) -> None:
    """Plot a point for each query (columns `kind`, `value`), lowest kind first."""
    kinds = values.groupby("kind")["value"].agg(["mean", "size"]).sort_values("mean")
    ax = axes(1.2 + 0.42 * len(kinds))
    rows = kinds.index.get_indexer(values["kind"])
    places = equal_apart(rows, values["value"].round(2), 0.8, 6)
    low = values["value"] < 0.5
    for part, mark, color in ((~low, "o", DARK), (low, "s", LIGHT)):
        ax.plot(values["value"][part], places[part], mark, color=color, markersize=4)
    ax.plot(kinds["mean"], range(len(kinds)), "|", color="black", ms=22, markeredgewidth=2)
    name_rows(ax, [f"{kind} ({n})" for kind, n in kinds["size"].items()])
    ax.set_xlim(-0.03, 1.03)
    title = f"{low.sum()} of {len(values)} {where} queries score below 0.5"
    low_means = kinds["mean"].head(2).round(2)  # two that are equal have no lowest
    if low_means.nunique() == 2:
        title = f"{name} on {where} is lowest for {kinds.index[0]}: {low_means.iloc[0]:.2f}"
    below = f"{name} of each query (line: mean; square: below 0.5)"
    show(ax, title, f"Means of {name}: {in_words(kinds['mean'], '.3f')}.", below)


def first_ranks(ranks: pd.Series, where: str) -> None:
    """Plot how many queries have their first relevant document at each rank (NaN: not found)."""
    labels = ["1", "2", "3", "4-5", "6-10", "11-100", "none"]
    edges = [0, 1, 2, 3, 5, 10, 100, np.inf]
    counts = pd.cut(ranks.fillna(np.inf), edges, labels=labels).value_counts(sort=False)
    ax = axes(2.6)
    bars = ax.bar(labels, counts, color=[DARK] * 5 + [LIGHT, LIGHT])
    ax.bar_label(bars, fontsize=LETTERS)
    ax.margins(y=0.12)  # room for the labels below the title
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="x", visible=False)
    title = f"First result relevant: {counts['1']} of {len(ranks)} {where} queries"
    show(
        ax,
        title,
        f"Queries by rank: {in_words(counts)}.",
        "rank of the first relevant document",
        "queries",
    )


def forest(compared: dict) -> None:
    """Plot each run of compare.compare: its difference, interval and verdict, the first on top."""
    matters, runs, words = compared["matters"], compared["runs"], []
    ax = axes(1.7 + 0.55 * len(runs))
    ax.axvspan(-matters, matters, color=BAND)  # what changes no decision
    ax.axvline(0, color="black", linewidth=1)
    place = {"ha": "center", "fontsize": LETTERS - 1, "path_effects": HALO}
    for y, run in enumerate(runs):
        row, look = run["measures"][run["primary"]], VERDICTS[run["verdict"]]
        told = f"{run['name']} {row['difference']:+.3f}"
        if ends := inert.interval((row["low"], row["high"]), "+.3f"):
            ax.plot([row["low"], row["high"]], [y, y], color=look["color"], linewidth=2.5)
            told += f" ({ends})"
        ax.plot(row["difference"], y, markersize=10, **look)
        ax.text(row["difference"], y - 0.22, run["name"], **place)
        words.append(f"{told}, {run['verdict']}")
    ax.set(yticks=[], ylim=(len(runs) - 0.5, -0.8))
    verdicts = [run["verdict"] for run in runs]
    verdict_legend(ax, verdicts)
    better, worse = verdicts.count(stats.BETTER), verdicts.count(stats.WORSE)
    title = f"Better than the baseline: {better} of {len(runs)} systems; worse: {worse}"
    measure = " or ".join(dict.fromkeys(run["primary"] for run in runs))
    show(ax, title, "; ".join(words), f"difference in {measure}; grey: within ±{matters:g}")


def evidence_by_k(by_k: dict[str, list[float]], n: int) -> None:
    """Plot the shares of `n` queries that evidence.shares_by_k returns."""
    document, quote = by_k["document"], by_k["evidence"]
    cutoffs = range(1, len(document) + 1)
    ax = axes(3.4)
    for name, mark, color in (("document", "o", LIGHT), ("evidence", "s", DARK)):
        ax.plot(cutoffs, by_k[name], f"{mark}-", color=color, markersize=5)
    name_ends(ax, cutoffs[-1], pd.DataFrame(by_k)[["document", "evidence"]].iloc[-1], 0.09)
    ax.fill_between(cutoffs, quote, document, color=BAND)
    ax.set(ylim=(0, 1.1), xlim=(0.5, cutoffs[-1] + 0.5))
    ax.xaxis.get_major_locator().set_params(integer=True)
    k = min(5, len(cutoffs))
    title = f"In {k} chunks: right document {document[k - 1]:.0%}, its evidence {quote[k - 1]:.0%}"
    pairs = zip(cutoffs, document, quote, strict=True)
    words = "; ".join(f"k = {k}: {a:.2f} and {b:.2f}" for k, a, b in pairs)
    show(ax, title, words, "first k chunks", f"share of {n} queries")


def evidence_by_budget(recall: pd.DataFrame, verdicts: dict, budget: int) -> None:
    """Plot evidence recall by tokens of context (columns), a row of marks for each chunk set.

    `verdicts` at `budget`, the large mark, are against the set that has none, the baseline's.
    """
    base = next(name for name in recall.index if name not in verdicts)
    recall = recall.sort_values(budget, ascending=False, kind="stable")
    ax = axes(1.9 + 0.42 * len(recall))
    place = {"xycoords": ("axes fraction", "data"), "va": "center", "size": LETTERS}
    ax.axvline(recall.at[base, budget], color="black", linestyle=":", linewidth=1)
    for y, (name, row) in enumerate(recall.iterrows()):
        ax.plot(row, [y] * len(row), ":", marker="o", color=GREY, linewidth=1, markersize=3)
        ax.plot(row[budget], y, markersize=9, **VERDICTS[verdicts.get(name, "")])
        ax.annotate(short(row[budget]), (1.02, y), **place)
    name_rows(ax, [*recall.index])
    ax.set_xlim(0, 1.05 * recall.to_numpy().max() or 1)
    verdict_legend(ax, [*verdicts.values(), ""])
    better, worse = ([*verdicts.values()].count(word) for word in (stats.BETTER, stats.WORSE))
    title = f"Within {budget:,} tokens {better or 'none'} of {len(verdicts)} ways to cut "
    title += f"{'are' if better > 1 else 'is'} better than {base}, {worse or 'none'} worse"
    columns = [f"{column:,}" for column in recall.columns]
    rows = "; ".join(f"{name}: {' '.join(map(short, row))}" for name, row in recall.iterrows())
    words = f"By tokens {', '.join(columns)}: {rows}. At {budget:,}: {in_words(verdicts)}"
    below = f"evidence recall within {', '.join(columns)}\n"
    below += f"tokens, a mark each; large mark and number: {budget:,}"
    show(ax, title, words, below)


def short(value: float) -> str:
    """Return a share with two decimals and no leading zero, as the lessons write it."""
    return f"{value:.2f}".replace("0.", ".", 1)
