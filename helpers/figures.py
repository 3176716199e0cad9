"""Plots and marked texts of the notebooks. Every figure stands beside a table with its numbers."""

import io
import os
import platform
import re
import textwrap
from base64 import b64encode
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from IPython.core.pylabtools import print_figure
from IPython.display import HTML, display
from PIL import Image

from . import evidence
from .text import inert

PACKAGES = ("pandas", "rank_bm25", "tiktoken", "ir_measures")
COLOURS = 32  # of a stored picture
DARK, LIGHT, GREEN, GREY = "#1f4e79", "#c96f1a", "#4a8577", "#c5ced8"
LIVE = "WORKBOOK_LIVE"  # make lab sets it; every other run shows what stands still


def is_live() -> bool:
    """Return whether pictures move and the panel opens."""
    return os.environ.get(LIVE, "") not in ("", "0")


def begin(versions: bool = True) -> None:
    """Set the plot style and the table width, and print the versions that run."""
    plt.style.use(Path(__file__).with_name("workbook.mplstyle"))
    pd.set_option("display.max_colwidth", None)
    pd.set_option("display.html.use_mathjax", False)  # a text of a set is no formula
    if versions:
        print(
            "Python", platform.python_version(), *(f"· {name} {version(name)}" for name in PACKAGES)
        )


def _show(ax: plt.Axes, text: str) -> None:
    """Display the figure once, with `text` and its title for readers who cannot see it."""
    title = " ".join(ax.get_title(loc="left").split())  # it may take two lines
    put(ax.figure, f"{title}. {text}")


def put(figure: plt.Figure, words: str) -> None:
    """Display a figure once. `words` say its finding and its values, for who cannot see it.

    Few colours look the same here, and make the notebooks a quarter as large. Median cut, the
    default, would lose a colour that few points have.
    """
    drawn, small = io.BytesIO(print_figure(figure, dpi=figure.dpi)), io.BytesIO()
    few = Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE)
    few.save(small, "PNG", optimize=True)
    shown = {"image/png": b64encode(small.getvalue()).decode(), "text/plain": repr(figure)}
    display(shown, metadata={"image/png": {"alt": words}}, raw=True)
    plt.close(figure)


def table(frame: pd.DataFrame, wide: bool = False) -> HTML:
    """Return `frame` as an HTML table with three decimals.

    `wide` sets its cells left, for tables of words.
    """
    return HTML(
        frame.to_html(float_format="{:.3f}".format, border=0, classes=["text"] if wide else None)
    )


def captioned(frame: pd.DataFrame, caption: str, shape: str = "narrow") -> HTML:
    """Return `frame` as a table of the page: caption, scopes, numbers with three decimals.

    On a narrow screen the shape "cards" shows each row as a card; the roles keep it a table.
    """
    names = [*map(str, frame.columns)]
    head = "".join(f'<th scope="col" role="columnheader">{inert(name)}</th>' for name in names)
    body = "".join(
        _captioned_row(index, dict(zip(names, values, strict=True)))
        for index, values in zip(frame.index, frame.itertuples(index=False), strict=True)
    )
    return HTML(
        f'<table class="{inert(shape)}" role="table"><caption>{inert(caption)}</caption>'
        f'<thead role="rowgroup"><tr role="row"><td role="cell"></td>{head}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table>'
    )


def _captioned_row(index: object, row: dict[str, object]) -> str:
    """Return a row of a table with the name of each cell's column."""
    texts = {inert(n): f"{v:.3f}" if isinstance(v, float) else inert(v) for n, v in row.items()}
    cells = "".join(
        f'<td role="cell" data-label="{name}">{shown}</td>' for name, shown in texts.items()
    )
    return f'<tr role="row"><th scope="row" role="rowheader">{inert(index)}</th>{cells}</tr>'


def marked(text: str, words: set[str]) -> str:
    """Return `text` as markup in which the given lower-case words are marked."""
    parts = re.split(r"(\w+)", text)
    return "".join(f"<mark>{inert(p)}</mark>" if p.lower() in words else inert(p) for p in parts)


def with_code(text: str) -> str:
    """Return `text` as markup in which what stands between two backticks is code."""
    parts = enumerate(re.split(r"`([^`]+)`", text))
    return "".join(f"<code>{inert(p)}</code>" if n % 2 else inert(p) for n, p in parts)


def snippet(text: str, words: set[str], width: int = 240) -> str:
    """Return the stretch of `text`, about `width` characters, with the most different `words`."""
    starts = [m.start() for m in re.finditer(r"\w+", text) if m[0].lower() in words] or [0]
    best = max(
        starts,
        key=lambda s: (len(words & set(re.findall(r"\w+", text[s : s + width].lower()))), -s),
    )
    stretch = (
        text[best : best + width].rsplit(" ", 1)[0] if best + width < len(text) else text[best:]
    )
    return (
        ("… " if best else "")
        + " ".join(stretch.split())
        + (" …" if best + width < len(text) else "")
    )


# Figures of the write-up: narrow with large letters, so that they can be read on a telephone.

LETTER_SIZE = 11.5  # points on a figure of five inches


def _begun(height: float) -> plt.Axes:
    """Return the axes of a figure that is `height` inches high."""
    with plt.rc_context({"font.size": LETTER_SIZE}):
        return plt.subplots(figsize=(5, height))[1]


def _page_title(ax: plt.Axes, words: str) -> None:
    """Set the title over as many lines as the figure's width asks for."""
    ax.set_title(textwrap.fill(words, 50), fontsize=LETTER_SIZE + 0.5)


def _legend_below(ax: plt.Axes) -> None:
    """Set the legend below the figure, a line for each name."""
    handles, names = ax.get_legend_handles_labels()
    entries = dict(zip(names, handles, strict=True))  # lines of one name share an entry
    ax.figure.legend(
        entries.values(), entries, loc="outside lower left", frameon=False, fontsize=LETTER_SIZE
    )


def _name_rows(ax: plt.Axes, names: list[str]) -> None:
    """Name the rows of a figure, the first at the top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def _listed(pairs: Iterable[tuple[str, float | str]]) -> str:
    """Return names and their values as a sentence."""
    texts = (f"{name} {v if isinstance(v, str) else format(v, '.3f')}" for name, v in pairs)
    return ", ".join(texts) + "."


def found_in_five(rows: list[tuple[str, int, int, float, float]], bar: float) -> None:
    """Plot shares with their intervals against a bar; a row is (name, found, n, low, high)."""
    ax = _begun(1.3 + 0.34 * len(rows))
    for y, (_, found, n, low, high) in enumerate(rows):
        above, below = low > bar, high < bar
        color = LIGHT if below else DARK
        ax.plot([low, high], [y, y], color=color, linewidth=2)
        face = color if above or below else "white"
        ax.plot(found / n, y, "s" if below else "o", color=color, markerfacecolor=face)
        ax.annotate(
            f" {found} of {n}", (1.02, y), va="center", annotation_clip=False, size=LETTER_SIZE
        )
    ax.axvline(bar, color="black", linewidth=1, linestyle="--")
    _name_rows(ax, [name for name, *_ in rows])
    ax.set(xlim=(0, 1.02), xlabel=f"share, with 95 % interval (dashed: the bar, {bar:.0%})")
    _page_title(ax, _against_the_bar(rows, bar))
    told = ((name, f"{k} of {n} ({low:.2f} to {high:.2f})") for name, k, n, low, high in rows)
    _show(ax, "Questions with a useful document among the first five: " + _listed(told))


def _against_the_bar(rows: list[tuple], bar: float) -> str:
    kinds = rows[1:] or rows
    above, below = sum(row[3] > bar for row in kinds), sum(row[4] < bar for row in kinds)
    noun = "kinds" if rows[1:] else "shares"
    return f"Clearly above the bar: {above} of {len(kinds)} {noun}; below: {below}"


def values_by_kind(values: pd.DataFrame, name: str, where: str) -> None:
    """Plot a point for each query (columns `kind`, `value`), lowest kind first."""
    means = values.groupby("kind")["value"].mean().sort_values()
    ax = _begun(1.2 + 0.42 * len(means))
    same = values.assign(value=values["value"].round(2)).groupby(["kind", "value"])
    size = same["value"].transform("size").clip(lower=1)
    aside = (same.cumcount() - (size - 1) / 2) * (0.8 / size.clip(lower=6))  # equal points apart
    places = values["kind"].map({kind: y for y, kind in enumerate(means.index)}) + aside
    low = values["value"] < 0.5
    for part, mark, color in ((~low, "o", DARK), (low, "s", LIGHT)):
        ax.plot(values["value"][part], places[part], mark, color=color, markersize=4)
    ax.plot(means, range(len(means)), "|", color="black", markersize=22, markeredgewidth=2)
    count = values.groupby("kind").size()
    _name_rows(ax, [f"{kind} ({count[kind]})" for kind in means.index])
    ax.set(xlim=(-0.03, 1.03), xlabel=f"{name}, a point a query (line: mean)")
    _page_title(ax, f"{low.sum()} of {len(values)} {where} queries score below 0.5")
    _show(ax, f"Means of {name}: " + _listed(means.items()))


def first_ranks(ranks: pd.Series, where: str) -> None:
    """Plot how many queries have their first relevant document at each rank.

    A missing rank means not found.
    """
    labels = ["1", "2", "3", "4-5", "6-10", "11-100", "none"]
    binned = (
        pd.cut(ranks, [0, 1, 2, 3, 5, 10, 100], labels=labels[:-1])
        .cat.add_categories("none")
        .fillna("none")
    )
    counts = binned.value_counts().reindex(labels)
    ax = _begun(2.6)
    bars = ax.bar(labels, counts, color=[DARK] * 5 + [LIGHT, LIGHT])
    ax.bar_label(bars, fontsize=LETTER_SIZE)
    ax.margins(y=0.12)  # room for the labels below the title
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="x", visible=False)
    ax.set(xlabel="rank of the first relevant document", ylabel="queries")
    first = (ranks == 1).sum()
    find = "finds" if first == 1 else "find"
    _page_title(ax, f"{first} of {len(ranks)} {where} queries {find} one at rank 1")
    _show(ax, "Queries by rank: " + _listed((n, str(k)) for n, k in counts.items()))


def forest(rows: list[tuple[str, dict]], n: int) -> None:
    """Plot differences to the baseline with their intervals, the largest first.

    `rows` are (name, {difference, low, high}); `n` is the number of queries.
    """
    rows = sorted(rows, key=lambda row: -row[1]["difference"])
    ax = _begun(1.1 + 0.48 * len(rows))
    for y, (name, at) in enumerate(rows):
        low, high = at["low"], at["high"]
        clear = low is not None and (low > 0 or high < 0)
        color = LIGHT if clear else DARK
        if low is not None:
            ax.plot([low, high], [y, y], color=color, linewidth=2)
        ax.plot(at["difference"], y, "s" if clear else "o", color=color, markersize=7)
        at_left, plain = ("axes fraction", "data"), {"facecolor": "white", "linewidth": 0, "pad": 1}
        where = {"xycoords": at_left, "va": "bottom", "size": LETTER_SIZE, "bbox": plain}
        ax.annotate(name, (0.01, y - 0.2), **where)
    ax.axvline(0, color="black", linewidth=1)
    _name_rows(ax, [""] * len(rows))
    ax.set_ylim(len(rows) - 0.5, -0.8)
    ax.set(xlabel=f"difference in nDCG@10, 95 % interval (n = {n})")
    ends = [(at["low"], at["high"]) for _, at in rows if at["low"] is not None]
    around = sum(low <= 0 <= high for low, high in ends)
    _page_title(ax, f"{around} of {len(ends)} intervals include 0, the baseline")
    _show(ax, "Differences: " + _listed((name, f"{at['difference']:+.3f}") for name, at in rows))


def systems_by_kind(ends: pd.DataFrame, name: str) -> None:
    """Plot the range of all systems (columns `lowest`, `highest`) and the `baseline` by kind.

    `n` are the queries of each kind (index).
    """
    ax = _begun(1.7 + 0.36 * len(ends))
    rows = range(len(ends))
    ax.hlines(rows, ends["lowest"], ends["highest"], GREY, linewidth=7, label="all systems")
    ax.plot(ends["baseline"], rows, "o", color=DARK, label="the baseline")
    _name_rows(ax, [f"{kind} ({n})" for kind, n in ends["n"].items()])
    ax.set(xlim=(0, 1.02), xlabel=f"mean {name} (in brackets: queries)")
    led = int((ends["highest"] > ends["baseline"]).sum())
    _page_title(ax, f"Another system leads on {led} of {len(ends)} kinds")
    _legend_below(ax)
    columns = zip(ends.index, ends["baseline"], ends["lowest"], ends["highest"], strict=True)
    told = ((kind, f"{at:.3f} in {low:.3f} to {high:.3f}") for kind, at, low, high in columns)
    _show(ax, "The baseline in the range of all: " + _listed(told))


def evidence_by_k(shares: dict[str, list[float]], n: int, where: str) -> None:
    """Plot how many queries have the right document, and its evidence, in the first k chunks.

    `shares` holds a list for each, from k = 1 on; `n` is the number of queries.
    """
    ax = _begun(2.9)
    cutoffs = range(1, len(shares["document"]) + 1)
    marks = (("document", "o", LIGHT, 1), ("evidence", "s", DARK, -1))
    for name, mark, color, side in marks:
        ax.plot(cutoffs, shares[name], marker=mark, color=color, markersize=4)
        at, offset = (cutoffs[-1], shares[name][-1]), (0, 9 * side)
        ax.annotate(
            f"the {name}",
            at,
            offset,
            textcoords="offset points",
            ha="right",
            va="bottom" if side > 0 else "top",
            size=LETTER_SIZE,
        )
    ax.fill_between(cutoffs, shares["evidence"], shares["document"], color="#dfe6ee")
    ax.set(xlabel="first k chunks", ylabel=f"share of {n} {where} queries", ylim=(0, 1.12))
    ax.xaxis.get_major_locator().set_params(integer=True)
    five = min(5, len(cutoffs)) - 1
    found = [f"{shares[name][five]:.0%}" for name, *_ in marks]
    _page_title(ax, f"In five chunks: the right document {found[0]}, its evidence {found[1]}")
    pairs = zip(cutoffs, shares["document"], shares["evidence"], strict=True)
    told = ((f"{k}:", f"{a:.2f} and {b:.2f}") for k, a, b in pairs)
    _show(ax, "Document and evidence in the first k chunks: " + _listed(told))


def evidence_by_budget(sets: dict[str, dict], base: str, where: str) -> None:
    """Plot evidence recall of each chunk set against the tokens that its chunks may fill.

    `sets` is {name: {"means", "intervals"}}; the baseline has its 95 % interval as a band, and only
    it and the best set have a name.
    """
    ax = _begun(3.9)
    names = [evidence.recall_name(budget) for budget in evidence.BUDGETS]
    best = max(sets, key=lambda name: sets[name]["means"][evidence.DECIDES])
    looks = {best: ("s-", LIGHT, f"{best}, the best"), base: ("o-", DARK, f"{base}, the baseline")}
    for name in sorted(sets, key=lambda name: (name == base, name == best)):
        look, color, label = looks.get(name, ("-", "#9aa3ad", "other chunks"))
        values = [sets[name]["means"][measure] for measure in names]
        ax.plot(evidence.BUDGETS, values, look, color=color, markersize=5, label=label)
    ends = [sets[base]["intervals"][measure] for measure in names]
    ax.fill_between(evidence.BUDGETS, *zip(*ends, strict=True), color=DARK, alpha=0.12)
    ax.set_xscale("log")
    ax.set_xticks(evidence.BUDGETS, [f"{budget:,}" for budget in evidence.BUDGETS])
    ax.minorticks_off()
    ax.set(xlabel="tokens of context", ylabel=f"evidence recall, {where}", ylim=(0, 1.02))
    _page_title(ax, f"Within {evidence.BUDGET:,} tokens {best} delivers the most evidence")
    _legend_below(ax)
    told = ((name, of["means"][evidence.DECIDES]) for name, of in sets.items())
    _show(ax, f"Evidence recall within {evidence.BUDGET:,} tokens: " + _listed(told))
