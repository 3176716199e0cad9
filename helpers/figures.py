"""Plots and marked texts of the notebooks. Every figure stands beside a table with its numbers."""

import platform
import re
from importlib.metadata import version
from itertools import cycle
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import HTML, display

from . import evidence
from .text import inert

PACKAGES = ("pandas", "rank_bm25", "tiktoken", "ir_measures")
DARK, LIGHT, GREEN = "#1f4e79", "#c96f1a", "#4a8577"


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
    display(ax.figure, metadata={"image/png": {"alt": f"{ax.get_title(loc='left')}. {text}"}})
    plt.close(ax.figure)


def table(frame: pd.DataFrame, wide: bool = False) -> HTML:
    """Return `frame` as an HTML table with three decimals.

    `wide` sets its cells left, for tables of words.
    """
    return HTML(
        frame.to_html(float_format="{:.3f}".format, border=0, classes=["text"] if wide else None)
    )


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


def measure_per_query(values: pd.Series, name: str, where: str) -> None:
    """Plot one bar for each query, lowest first. `values` is indexed by query id."""
    values = values.sort_values()
    _, ax = plt.subplots(figsize=(7, 0.5 + 0.19 * len(values)))
    ax.barh(values.index, values, color=[LIGHT if value < 0.5 else DARK for value in values])
    ax.axvline(values.mean(), color="black", linewidth=1, linestyle="--")
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", labelsize=8)
    ax.margins(y=0.01)
    ax.set(xlabel=f"{name} (dashed: mean)", xlim=(0, 1))
    low = (values < 0.5).sum()
    score = "scores" if low == 1 else "score"
    ax.set_title(f"{low} of {len(values)} {where} queries {score} below 0.5")
    _show(ax, "A bar for each query, lowest first.")


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
    _, ax = plt.subplots()
    bars = ax.bar(labels, counts, color=[DARK] * 5 + [LIGHT, LIGHT])
    ax.bar_label(bars)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="x", visible=False)
    ax.set(xlabel="rank of the first relevant document", ylabel="queries")
    first = (ranks == 1).sum()
    find = "finds" if first == 1 else "find"
    ax.set_title(f"{first} of {len(ranks)} {where} queries {find} a relevant document at rank 1")
    _show(ax, "Number of queries by rank of the first relevant document.")


def by_kind(means: pd.DataFrame, name: str) -> None:
    """Plot the mean of a measure for each kind (index) and half (columns), lowest kind first."""
    means = means.loc[means.mean(axis=1).sort_values().index]
    ax = means.plot.barh(color=[DARK, LIGHT], width=0.75)
    ax.grid(axis="y", visible=False)
    ax.set(xlabel=f"mean {name}", ylabel="", xlim=(0, 1), title=f"Lowest: {means.index[0]} queries")
    ax.legend(title="", loc="upper left", bbox_to_anchor=(1, 1))
    _show(ax, "Mean for each kind of query.")


def forest(rows: list[tuple[str, dict]], n: int) -> None:
    """Plot differences to the baseline with their intervals.

    `rows` are (name, {difference, low, high}); `n` is the number of queries.
    """
    rows = sorted(rows, key=lambda row: row[1]["difference"])
    _, ax = plt.subplots(figsize=(7, 1.2 + 0.45 * len(rows)))
    for name, at in rows:
        low, high = at["low"], at["high"]
        clear = low is not None and (low > 0 or high < 0)
        if low is not None:
            ax.plot([low, high], [name, name], color=DARK, linewidth=2)
        ax.plot(at["difference"], name, "o", color=LIGHT if clear else DARK, markersize=8)
    ax.axvline(0, color="black", linewidth=1)
    ax.margins(y=0.2)
    ax.grid(axis="y", visible=False)
    ax.set(xlabel=f"difference from the baseline in nDCG@10, 95 % interval (n = {n})")
    ends = [(at["low"], at["high"]) for _, at in rows if at["low"] is not None]
    around = sum(low <= 0 <= high for low, high in ends)
    ax.set_title(f"{around} of {len(ends)} intervals include 0")
    _show(ax, "A point and an interval for each run, the baseline at 0.")


def systems_by_kind(means: pd.DataFrame, name: str) -> None:
    """Plot a point for each system (columns) and kind of query (index), in the given order."""
    _, ax = plt.subplots(figsize=(7, 1.2 + 0.5 * len(means)))
    for row, kind in enumerate(means.index):
        ax.plot(means.loc[kind].agg(["min", "max"]), [row, row], color="#dfe6ee", linewidth=6)
    colors = cycle([DARK, GREEN, "#8a8a8a", LIGHT, "#b05c7d", "black"])
    for system, mark, color in zip(means.columns, cycle("os^Dvpx*"), colors, strict=False):
        ax.plot(means[system], range(len(means)), mark, color=color, label=system, markersize=7)
    ax.set_yticks(range(len(means)), means.index)
    ax.margins(y=0.12)
    ax.set(xlabel=f"mean {name}", xlim=(0, 1.02))
    widest = (means.max(axis=1) - means.min(axis=1)).idxmax()
    ax.set_title(f"Systems differ most on {widest} queries")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    _show(ax, "A point for each system, a row for each kind of query.")


def evidence_by_k(shares: dict[str, list[float]], n: int, where: str) -> None:
    """Plot how many queries have the right document, and its evidence, in the first k chunks.

    `shares` holds a list for each, from k = 1 on; `n` is the number of queries.
    """
    _, ax = plt.subplots()
    cutoffs = range(1, len(shares["document"]) + 1)
    marks = (("document", "o", LIGHT), ("evidence", "s", DARK))
    for name, mark, color in marks:
        ax.plot(cutoffs, shares[name], marker=mark, color=color, markersize=4)
        ax.annotate(f"  the {name}", (cutoffs[-1], shares[name][-1]), va="center")
    ax.fill_between(cutoffs, shares["evidence"], shares["document"], color="#dfe6ee")
    ax.set(xlabel="first k chunks", ylabel=f"share of {n} {where} queries", ylim=(0, 1.02))
    ax.xaxis.get_major_locator().set_params(integer=True)
    found = [f"{shares[name][min(5, len(cutoffs)) - 1]:.0%}" for name, *_ in marks]
    ax.set_title(f"In five chunks: the right document {found[0]}, its evidence {found[1]}")
    _show(ax, "Two rising lines; the gap between them is the right document's wrong chunk.")


def evidence_by_budget(sets: dict[str, dict], base: str, where: str) -> None:
    """Plot evidence recall of each chunk set against the tokens that its chunks may fill.

    `sets` is {name: {"means", "intervals"}}; the baseline has its 95 % interval as a band.
    """
    _, ax = plt.subplots(figsize=(7, 4))
    names = {budget: evidence.recall_name(budget) for budget in evidence.BUDGETS}
    marks, grey = cycle("os^Dvpx*"), cycle(["#8a8a8a", GREEN, "#b05c7d", LIGHT, "black", "#6a7fb0"])
    for name, found in sets.items():
        values = [found["means"][names[budget]] for budget in evidence.BUDGETS]
        color = DARK if name == base else next(grey)
        ax.plot(evidence.BUDGETS, values, marker=next(marks), color=color, markersize=5, label=name)
    ends = [sets[base]["intervals"][names[budget]] for budget in evidence.BUDGETS]
    ax.fill_between(evidence.BUDGETS, *zip(*ends, strict=True), color=DARK, alpha=0.12)
    ax.set_xscale("log")
    ax.set_xticks(evidence.BUDGETS, [f"{budget:,}" for budget in evidence.BUDGETS])
    ax.minorticks_off()
    ax.set(xlabel="tokens of context", ylabel=f"evidence recall, {where}", ylim=(0, 1.02))
    best = max(sets, key=lambda name: sets[name]["means"][evidence.DECIDES])
    ax.set_title(f"Within {evidence.BUDGET:,} tokens {best} delivers the most evidence")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    _show(ax, f"A line for each way to cut; a band around {base}, its 95 % interval.")


def evidence_by_size(sets: dict[str, dict], sizes: dict[str, str], where: str) -> None:
    """Plot evidence recall against chunk size, a line for each budget.

    `sizes` is {name of a chunk set: label}, smallest first.
    """
    _, ax = plt.subplots()
    marks, best = cycle("os^Dv"), {}
    for budget, color in zip(
        evidence.BUDGETS, ("#8a8a8a", LIGHT, DARK, GREEN, "black"), strict=True
    ):
        values = [sets[name]["means"][evidence.recall_name(budget)] for name in sizes]
        best[budget] = [*sizes.values()][values.index(max(values))]
        ax.plot([*sizes.values()], values, marker=next(marks), color=color, label=f"{budget:,}")
    ax.set(xlabel="tokens in a chunk", ylabel=f"evidence recall, {where}", ylim=(0, 1.02))
    ends = evidence.BUDGETS[0], evidence.BUDGETS[-1]
    ax.set_title("Best size: " + ", ".join(f"{best[b]} for a budget of {b:,}" for b in ends))
    ax.legend(title="budget", loc="upper left", bbox_to_anchor=(1, 1))
    _show(ax, "A line for each budget of tokens, chunk size from left to right.")
