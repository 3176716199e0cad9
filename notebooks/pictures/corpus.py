"""Pictures of session A: lengths of documents, shared words, and what nobody asks about."""

from math import ceil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm

from helpers import figures
from helpers.figures import DARK, LIGHT, aside

ROWS = 18  # kinds or services a picture holds; those with the fewest documents are one row
SQUARES = 50  # a row of the grid; where a service has more documents, a square stands for several
PALE_BAR, EDGE, BINS = "#cfdbe8", 0.8, 30
REST = "all others"


def frequent(column: pd.Series) -> pd.Series:
    """Return a column of kinds or services: the most frequent by name, the others as one."""
    counts = column.value_counts()
    kept = counts.index if len(counts) <= ROWS else counts.index[: ROWS - 1]
    return column.where(column.isin(kept), REST)


def lengths(corpus: pd.DataFrame, chunk_size: int = 512) -> None:
    """Plot how long documents are, and below it which kinds make each hump, the shortest first.

    `corpus` has the columns `tokens` and `kind`; `chunk_size` is drawn as a line.
    """
    kinds = frequent(corpus.kind)
    medians = corpus.tokens.groupby(kinds).median().sort_values(kind="stable")
    high = 0.26 * len(medians)  # inches of the rows
    figure, (top, below) = plt.subplots(
        2, sharex=True, figsize=(7, 3 + high), height_ratios=[2, 0.3 + high]
    )
    _, edges, _ = top.hist(corpus.tokens, bins=BINS, color=DARK)
    top.set(ylabel="documents")
    top.yaxis.get_major_locator().set_params(integer=True)
    _darker_where_more(below, corpus.tokens, kinds, medians, edges)
    for ax in (top, below):
        ax.axvline(chunk_size, color=LIGHT, linestyle="--", linewidth=2)
    title = f"{(corpus.tokens > chunk_size).mean():.0%} of the documents are longer than "
    title += f"{chunk_size} tokens"
    if len(medians) > 1:
        title += f";\n{medians.index[0]} is the shortest kind, {medians.index[-1]} the longest"
    top.set_title(title)
    values = ", ".join(f"{kind} {median:.0f}" for kind, median in medians.items())
    figures.put(figure, f"{title}. Median tokens by kind: {values}.".replace("\n", " "))


def _darker_where_more(
    ax: plt.Axes, tokens: pd.Series, kinds: pd.Series, medians: pd.Series, edges: np.ndarray
) -> None:
    """Draw a row for each kind: the darker a cell, the more of its documents are so long."""
    counts = [np.histogram(tokens[kinds == kind], edges)[0] for kind in medians.index]
    more = PowerNorm(0.5, vmin=0)  # few documents are seen, too
    ax.pcolormesh(edges, range(len(medians) + 1), counts, cmap="Blues", norm=more)
    middle = np.arange(len(medians)) + 0.5
    ax.plot(medians, middle, "o", color="black", markerfacecolor="white", markersize=6)
    ax.set_yticks(middle, medians.index)
    ax.grid(visible=False)
    ax.set(xlabel="tokens (darker: more documents of the kind; circle: its median)")


def coverage(corpus: pd.DataFrame) -> None:
    """Plot a square for each document in a row for its service: asked for, or not.

    `corpus` has the columns `service` and `reached`; the service that is reached least comes first.
    """
    found = corpus.reached.groupby(frequent(corpus.service)).agg(["count", "sum", "mean"])
    found = found.sort_values(["mean", "count"], ascending=[False, True], kind="stable")
    each = ceil(found["count"].max() / SQUARES)  # documents that a square stands for
    figure, ax = plt.subplots(figsize=(7, 1 + 0.27 * len(found)))
    for row, (n, hits) in enumerate(zip(found["count"], found["sum"], strict=True)):
        asked, squares = round(hits / each), ceil(n / each)
        places = list(range(squares))
        style = {"marker": "s", "linestyle": "none", "markersize": 5, "color": DARK}
        ax.plot(places[:asked], [row] * asked, **style)
        ax.plot(places[asked:], [row] * (squares - asked), markerfacecolor="white", **style)
    of = [f"{row['sum']:.0f} of {row['count']:.0f}" for _, row in found.iterrows()]
    ax.set_yticks(
        range(len(found)), [f"{name}  {n}" for name, n in zip(found.index, of, strict=True)]
    )
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    many = "a document" if each == 1 else f"{each} documents"
    ax.set(xlabel=f"a square is {many}: filled where a query asks for it", xlim=(-1, SQUARES))
    ax.margins(y=0.5 / len(found))
    title = f"Queries ask for {corpus.reached.sum()} of {len(corpus)} documents"
    title += f", least for {found.index[-1]}" if len(found) > 1 else ""
    ax.set_title(title)
    values = ", ".join(f"{name} {n}" for name, n in [*zip(found.index, of, strict=True)][::-1])
    figures.put(figure, f"{title}. {values}.")


def overlap(queries: pd.DataFrame) -> None:
    """Plot each query's word overlap (column `overlap`) as a point in a row for its `kind`.

    A bar shows the mean of the kind, and its end says it.
    """
    kinds = frequent(queries.kind)
    order = queries.overlap.groupby(kinds).mean().sort_values(ascending=False)
    figure, ax = plt.subplots(figsize=(7, 1.3 + 0.5 * len(order)))
    ax.barh(range(len(order)), order, color=PALE_BAR, edgecolor=DARK, linewidth=EDGE)
    places = kinds.map({kind: n for n, kind in enumerate(order.index)})
    places = places + aside(kinds, queries.overlap.round(6), 0.7, 9)
    ax.plot(queries.overlap, places, "o", color=DARK, alpha=0.7, markersize=4)
    ax.set_yticks(range(len(order)), [f"{kind}  {mean:.2f}" for kind, mean in order.items()])
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="share of content words found in a relevant document", xlim=(-0.02, 1.02))
    title = f"Queries share {order.iloc[-1]:.2f} of their content words with an answer, on average"
    if len(order) > 1:
        lowest = order.index[order.round(2) == order.round(2).iloc[-1]]
        title = f"Fewest shared words: {' and '.join(lowest)}, {order.iloc[-1]:.2f} on average"
    ax.set_title(title)
    values = ", ".join(f"{kind} {mean:.2f}" for kind, mean in order.items())
    figures.put(figure, f"{title}. Mean share by kind: {values}. Each point is a query.")
